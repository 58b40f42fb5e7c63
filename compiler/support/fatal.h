/* The two ways a run can end outside `main`: no memory left, and a broken invariant of the compiler
   itself. Both print a message and leave with exit status 4, through a handler that the driver may
   replace (to remove half-written output first) and that a test may replace with a longjmp. */
#ifndef FCL_SUPPORT_FATAL_H
#define FCL_SUPPORT_FATAL_H

#include <stddef.h>

enum { FATAL_EXIT_STATUS = 4 };

/* Gets the complete message, without a newline. If it returns, the default handler runs after it. */
typedef void fatal_handler(void *context, const char *message);

/* For this thread; NULL: the default one. */
void fatal_set_handler(fatal_handler *handler, void *context);
_Noreturn void fatal_out_of_memory(size_t bytes);
_Noreturn void fatal_internal(const char *stage, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* x->as.member, where only these kinds of x have it: a bit each. */
#ifdef FCL_VERIFY_EACH_PASS
#define PART(x, member, kinds)                                                                                         \
    (*((kinds) >> (x)->kind & 1                                                                                        \
           ? (void)0                                                                                                   \
           : fatal_internal("kinds", "%s:%d: kind %d has no " #member, __FILE__, __LINE__, (int)(x)->kind),            \
       &(x)->as.member))
#else
#define PART(x, member, kinds) ((x)->as.member)
#endif

#endif
