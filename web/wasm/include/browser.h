/* Declared for all sources of the compiler when it becomes WebAssembly: what POSIX has and wasi-libc has not. */
#ifndef FCL_WEB_BROWSER_H
#define FCL_WEB_BROWSER_H

#include <sys/types.h>

char *realpath(const char *path, char *resolved);
int mkstemp(char *path);
mode_t umask(mode_t mask);
int fchmod(int file, mode_t mode);

#endif
