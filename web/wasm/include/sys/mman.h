/* wasi-libc has none: no pages can be mapped, and who maps some goes without (compiler/support/arena.c). */
