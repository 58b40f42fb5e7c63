/* The elaborator's state while it goes through one kernel, and the functions that report an error and stop. */
#ifndef FCL_ELABORATE_ELABORATOR_H
#define FCL_ELABORATE_ELABORATOR_H

#include <setjmp.h>

#include "elaborate/value.h"

/* note [splits]
   "Full chunks are compiled apart from the ragged last one" (LANGUAGE §6): a chunk whose length is
   chosen by a dynamic condition, such as splitUp's `if full`, makes everything after it dynamic.
   So when evaluating a chunk meets a dynamic `if` between arrays before it has stored anything,
   evaluation is abandoned by longjmp to the chunk's frame, which starts the whole chunk again
   under each branch of an IF on that condition. There the condition is known, the lengths are
   static, and loops unroll. Nothing was stored, so what was emitted before is pure and either used
   again (the builder finds it) or dead. */
struct split_frame {
    jmp_buf jump;
    struct ir_region *region;
    struct ir_value *condition;
    bool is_ours; /* the prelude's or the library's condition */
    int depth;    /* of frames that have split, outwards */
    const struct elab_call *calls;
    struct split_frame *outer;
};

/* A loop from grid to block while it is elaborated; lookback.c. */
struct lookback_state;
struct blocks_run {
    struct ir_region *parent, *region; /* that the loop is in; its body */
    struct ir_value *index, *count;
    size_t next, next_pass; /* lookbacks met so far in this elaboration of the body; of these, in passes */
    size_t met_at_end;      /* that number at the end of the first elaboration in this pass, once */
    bool has_ended;
    VEC(struct lookback_state *) states;
    size_t pass; /* as many lookbacks in passes have been scanned by launches of their own */
    const struct lookback_state
        *collected;   /* this pass ends at that lookback: what comes after it is left out; or NULL */
    bool is_measured; /* there is no loop: only the length of the last chunk is wanted */
};

/* Words that a launch of this region clears for a later one: note [cleared words] in lookback.c. */
struct cleared_words {
    const struct ir_region *region;
    struct ir_buffer *buffer;
};

struct elab_call {
    const struct core_global *global;
    struct span span;
    const struct elab_call *caller;
    struct elab_call *same; /* the innermost of that function among its callers, or NULL */
    unsigned nested;        /* calls of that function are these, this one included */
};

/* Is anything read but the elements at this index? Arrays that are stored on the way may be made of others. */
struct touched {
    struct ir_value *own;
    bool others;
};

/* The reason why a kernel takes more steps, or makes more code, than is allowed. */
enum too_much { TOO_MUCH_UNKNOWN, TOO_MUCH_RECURSION, TOO_MUCH_INLINING, TOO_MUCH_UNROLLING, TOO_MUCH_EVALUATION };

/* A check of a length that is made while something is measured, and the length: note [measured] in matrix.c. */
struct row_check {
    struct ir_instruction *check;
    const struct ir_value *length;
};
typedef VEC(struct row_check) row_checks;

/* note [shapes]
   The length of a concatenation needs the length of its last chunk, which may be the result of
   forces and whiles at a lower level. To find it where the concatenation is used (the host,
   mostly), the chunk is evaluated with `shape` set: nothing is stored, a force gives an array
   whose elements are unknown (NULL scalars), and what does not need them is still computed. */
struct elaborator {
    struct arena *arena; /* for what goes when the kernel is elaborated */
    struct arena *kept;  /* for what belongs to the kernel */
    struct diagnostics *diagnostics;
    const struct elaborate_options *options;
    struct ir_kernel *kernel;
    struct ir_builder *builder;
    const struct core_global *global;   /* the kernel */
    struct split_frame *split;          /* NULL: no split here */
    struct blocks_run *blocks;          /* NULL: not in a loop over blocks */
    const struct ir_region *together;   /* note [together] in run.c; NULL: one array is run alone */
    int shape;                          /* > 0: only lengths matter */
    const struct ir_region *host;       /* where bounds are known while a loop's lengths are wanted; NULL: here */
    struct ir_value *row_is_there;      /* while what is measured is checked: note [measured] in matrix.c; or NULL */
    int row_shape;                      /* `shape` while that is so */
    row_checks row_checks;              /* of what is measured */
    bool row_is_compared;               /* what is measured flattens rows that may not be equally long */
    bool plans;                         /* in elab_prelude: names are left out */
    bool may_leave_loops;               /* see note [unfinished lengths] */
    bool guards;                        /* indices and places are made right: then, and by note [degrees] in check.c */
    int tries;                          /* > 0: errors are not told */
    struct map *instances;              /* of each use, the last one */
    struct map *constants;              /* vals that are scalars known at compile time → their values */
    struct touched *touched;            /* gets what is read of arrays of which only lengths are known; or NULL */
    VEC(struct element_order *) orders; /* that were made: note [orders] */
    struct map *bounds;                 /* carried lengths → a host value that they never exceed */
    const char *stack_limit;            /* deeper than here is an error */
    uint64_t steps;                     /* evaluated so far, for a limit */
    uint64_t unrolled;                  /* steps of loops, so far, each of which is code of its own */
    enum too_much too_much;             /* what ran out of steps, or of values */
    const struct elab_call *calls;
    struct map *innermost_calls;       /* of each function, by its core_global: a struct elab_call, or NULL */
    struct map *call_counts;           /* of each function, by its core_global: a uint64_t */
    struct span made_at;               /* of the closure of the prelude that is being evaluated, as above */
    struct span span;                  /* what is being evaluated */
    VEC(struct span) rejected;         /* by elab_reject */
    bool leaves_loops;                 /* so may_leave_loops is wanted */
    VEC(struct cleared_words) cleared; /* that no launch has taken */
    jmp_buf failure;                   /* after a diagnostic */
};

/* ---- failure ---- */
enum { INTERNAL_ERROR = 2 }; /* what a jump to `failure` says of one that was told */
void elab_fail(struct elaborator *e, enum diag_code code, struct span span, const char *format, ...)
    __attribute__((format(printf, 4, 5), noreturn));
/* The same, but elaboration goes on with something else in its place, to find what else is wrong:
   once for each place. */
void elab_reject(struct elaborator *e, enum diag_code code, struct span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void elab_internal(struct elaborator *e, const char *what) __attribute__((noreturn));
/* An error in the prelude or the library is due to a call of the user's: returns the last such call, or NULL. */
const struct elab_call *elab_users_call(const struct elaborator *e, struct span span);
/* The span of that, or of the call that made the array whose element is wanted; empty: none. */
struct span elab_users_span(const struct elaborator *e, struct span span);
void elab_build_at(struct elaborator *e, struct span span); /* what is built from now on is of there */

#endif
