/* A stack large enough for deep programs: the compiler follows them by recursion. */
#ifndef FCL_DRIVER_STACK_H
#define FCL_DRIVER_STACK_H

#include <stddef.h>

/* Calls the function on a thread with such a stack, or on this one where none can be had, and
   waits for its end. `bytes` of the stack may be used for evaluation; 0: not known. */
void stack_run(void (*function)(void *context, size_t bytes), void *context);

#endif
