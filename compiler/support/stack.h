/* How deep a recursion over what a program says may go: as far as the thread's stack bears. It
   then ends in an error. */
#ifndef FCL_SUPPORT_STACK_H
#define FCL_SUPPORT_STACK_H

#include <stdbool.h>
#include <stddef.h>

enum {
    STACK_DEFAULT = 4 * 1024 * 1024,
    STACK_RESERVE = 256 * 1024, /* for what runs between two checks */
};

/* The limit for a recursion that begins here and may use so many bytes; 0: that is not known. */
static inline const char *stack_limit(size_t bytes) {
    size_t usable = bytes > 2 * (size_t)STACK_RESERVE ? bytes : STACK_DEFAULT;
    return (const char *)__builtin_frame_address(0) - (usable - STACK_RESERVE);
}

static inline bool stack_is_full(const char *limit) { return (const char *)__builtin_frame_address(0) < limit; }

#endif
