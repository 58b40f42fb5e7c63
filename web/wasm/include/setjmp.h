/* setjmp for WebAssembly, which wasi-libc has none of: the compiler's pass for it makes the code,
   and sjlj.c has the rest. */
#ifndef FCL_WEB_SETJMP_H
#define FCL_WEB_SETJMP_H

typedef struct {
    unsigned long number; /* of the call of setjmp that filled it */
} jmp_buf[1];

int setjmp(jmp_buf) __attribute__((returns_twice));
_Noreturn void longjmp(jmp_buf, int);

#endif
