/* The elaborator's compile-time values and the interface between its files. */
#ifndef FCL_ELABORATE_VALUE_H
#define FCL_ELABORATE_VALUE_H

#include <setjmp.h>

#include "elaborate/elaborate.h"
#include "ir/machine.h"
#include "ir/build/build.h"
#include "support/map.h"

struct elab_value;

/* A name and the value to which it is bound. Environments are shared lists, newest first. */
struct environment {
    const struct core_local *local;
    struct elab_value *value;      /* or, for a polymorphic let, NULL and: */
    const struct delayed *delayed; /* evaluated at each use under the use's instance, in the environment of `next` */
    const struct environment *next;
};
struct delayed {
    const struct core *core;
    const struct instance *instance;
};

enum pull_kind {
    PULL_GENERATE, /* function */
    PULL_MAP,      /* function, of */
    PULL_MEMORY,   /* buffers (one per scalar leaf of the element), offset; strides of inner dimensions when nested */
    PULL_LIST,     /* list, environment, instance: an item is evaluated where it is asked for; constants */
    PULL_JOINED,   /* of: arrays as long as `width`, one after another, from `first` on */
    PULL_CHOICE,   /* condition, then_array, else_array */
    PULL_UNKNOWN,  /* only its length is known: shapes (see note [shapes]) */
};
struct parts { /* note [parts] in parts.c */
    struct pull *whole;
    struct ir_value *width; /* of every chunk but the last, which may have less */
};
struct tables {               /* note [tables] in index.c */
    struct elab_value *first; /* the list's first item, which says the form of all */
    struct ir_buffer **at;
    size_t count;
};
struct pull {
    enum pull_kind kind;
    const struct parts *parts;          /* of an array of chunks: what they are parts of; or NULL */
    bool keeps;                         /* MAP: the function keeps the lengths of chunks, as far as is known */
    const struct ir_region *keeps_in;   /* in that region; NULL: that was not asked yet */
    struct {                            /* GENERATE, MAP: elements that were asked for; note [asked again] */
        const struct ir_region *region; /* where */
        size_t stores;
        int shape;
        struct ir_value *index; /* of the first */
        struct elab_value *element;
        struct map *others; /* index → element; or NULL */
    } asked;
    struct ir_value *length; /* an int, never negative, but for note [large results]; NULL: depends on data (in shapes
                                only) */
    struct elab_value *function;
    struct pull *of;
    struct ir_value *width, *first; /* NULL: 0 */
    struct {
        struct type *element; /* a BT type */
        struct ir_buffer **buffers;
        struct ir_value *offset;   /* NULL: 0 */
        struct ir_value **extents; /* lengths of the inner dimensions of a nested array, outermost first */
        size_t extent_count;
    } memory;
    const struct core *list;
    const struct environment *environment;
    const struct instance *instance;
    struct elab_value **constants; /* items that turned out to be known at compile time, else NULL */
    struct tables *tables[2];      /* of a list: the device's, and the host's; NULL: nobody asked for them yet */
    struct ir_value *condition;
    struct pull *then_array, *else_array;
};

/* types/schemes.def has a row for each kind. */
struct push {
    enum push_kind kind;
    enum level_value level;
    struct span span;     /* of the operation */
    struct span made_at;  /* of one in the prelude: the user's call that made it; or empty */
    bool length_known;    /* `length` was computed (it may be NULL: depends on data) */
    bool length_in_shape; /* and that only in a shape */
    struct ir_value *length;
    struct ir_region *length_region; /* where it was computed */
    struct elab_value *function;     /* of elements, places, or both; or NULL */
    bool is_covered;                 /* each place is written: the prelude says so */
    struct ir_value
        *total; /* where a program gives the length: places outside are dropped, but for SEQFOR; of MMA; or NULL */
    union {
        struct pull *array; /* what it is made of */
        struct push *of;    /* of MAP, APPEND, PERMUTE, PERMUTE_INTO, CHOICE, SHUFFLE */
    };
    union { /* what one kind alone has */
        struct {
            bool with_index;
        } map;
        struct {                    /* CONCAT, INTERLEAVE, INTERLEAVE_INTO: the array is of push arrays */
            struct ir_value *size;  /* NULL: INTERLEAVE_INTO */
            enum level_value level; /* the same as the whole's: one after another */
            bool is_capped;         /* below grid, where the last chunk was measured: it has `size` elements at most */
        } chunks;
        struct { /* APPEND, CHOICE: `of`, and: */
            struct push *second;
            struct ir_value *condition;
        } both;
        struct {                    /* PERMUTE_INTO: of (place, element) */
            struct ir_buffer *said; /* of forceUpTo: where elements, (length, place, x), say the length; or NULL */
            bool is_over;           /* of permuteOver: a thread may write a place again */
        } into;
        struct { /* EACH: the function gives the writes of an iteration */
            struct ir_value *count;
        } each;
        struct { /* SCANL */
            struct elab_value *initial;
        } scanl;
        struct { /* SEQFOR */
            struct type *element;
        } seqfor;
        struct { /* SCATTER, REDUCE_BY_INDEX: pairs go into the array; SCAN_BY_INDEX: through it */
            struct pull *pairs;
            struct type *element;
            bool is_each;               /* `pairs` are a thread's push arrays of pairs */
            bool is_over;               /* it is written over the array, where that is: it runs last */
            bool are_distinct;          /* SCATTER: no two pairs of different elements have one place */
            struct elab_value *neutral; /* REDUCE_BY_INDEX: of the function, and: */
            struct ir_value *bytes, *blocks, *passes, *copies;
        } update;
        struct { /* SHUFFLE: by `count` or by the function */
            enum exchange exchange;
            struct ir_value *count;
            struct type *element;
        } shuffle;
        struct { /* MMA: the array times the second, added to the sums */
            struct pull *second, *sums;
            enum base base; /* of the elements of the two that are multiplied */
        } mma;
        const struct ranks *ranks; /* RANK_BY_INDEX: ranks.c */
    };
};

enum elab_kind { ELAB_SCALAR, ELAB_TUPLE, ELAB_CLOSURE, ELAB_PRIMITIVE, ELAB_PULL, ELAB_PUSH, ELAB_CHOICE };
/* How an int came about that may have wrapped: note [exact lengths]. */
struct exact {
    enum ir_op op;
    int arity;
    bool is_users; /* it, or what it is made of: not the library's alone */
    struct elab_value *operands[2];
};
struct elab_value {
    enum elab_kind kind;
    const struct exact *exact; /* of a scalar, or NULL */
    union {
        struct ir_value *scalar; /* NULL: depends on data (in shapes only) */
        struct {
            struct elab_value **items;
            size_t count;
        } tuple;
        struct {
            const struct core *lambda;
            const struct environment *environment;
            const struct instance *instance;
            const struct core_global *global; /* whose body it is, for the chain of calls; or NULL */
            struct span made_at;              /* of one in the prelude: the user's call that made it; or empty */
        } closure;
        struct {
            enum primitive primitive;
            int count; /* of the arguments that it has */
            const struct instance *instance;
            struct elab_value **arguments;
        } primitive;
        struct pull *pull;
        struct push *push;
        struct {
            struct ir_value *condition;
            struct elab_value *then_value, *else_value;
        } choice; /* functions that a dynamic condition chooses from */
    };
};

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

/* note [shapes]
   The length of a concatenation needs the length of its last chunk, which may be the result of
   forces and whiles at a lower level. To find it where the concatenation is used (the host,
   mostly), the chunk is evaluated with `shape` set: nothing is stored, a force gives an array
   whose elements are unknown (NULL scalars), and what does not need them is still computed. */
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

struct elaborator {
    struct arena *arena; /* for what goes when the kernel is elaborated */
    struct arena *kept;  /* for what belongs to the kernel */
    struct diagnostics *diagnostics;
    const struct elaborate_options *options;
    struct ir_kernel *kernel;
    struct ir_builder *builder;
    const struct core_global *global; /* the kernel */
    struct split_frame *split;        /* NULL: no split here */
    struct blocks_run *blocks;        /* NULL: not in a loop over blocks */
    const struct ir_region *together; /* note [together] in run.c; NULL: one array is run alone */
    int shape;                        /* > 0: only lengths matter */
    const struct ir_region *host;     /* where bounds are known while a loop's lengths are wanted; NULL: here */
    struct ir_value *row_is_there;    /* while what is measured is checked: note [measured] in matrix.c; or NULL */
    int row_shape;                    /* `shape` while that is so */
    row_checks row_checks;            /* of what is measured */
    bool row_is_compared;             /* what is measured flattens rows that may not be equally long */
    bool plans;                       /* in elab_prelude: names are left out */
    bool may_leave_loops;             /* see note [unfinished lengths] */
    bool guards;                      /* indices and places are made right: then, and by note [degrees] in check.c */
    int tries;                        /* > 0: errors are not told */
    struct map *instances;            /* of each use, the last one */
    struct map *constants;            /* vals that are scalars known at compile time → their values */
    struct touched *touched;          /* gets what is read of arrays of which only lengths are known; or NULL */
    struct map *bounds;               /* carried lengths → a host value that they never exceed */
    const char *stack_limit;          /* deeper than here is an error */
    uint64_t steps;                   /* evaluated so far, for a limit */
    uint64_t unrolled;                /* steps of loops, so far, each of which is code of its own */
    enum too_much too_much;           /* what ran out of steps, or of values */
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

/* ---- evaluate.c ---- */
/* More steps than these, or instructions of a kernel before any of them is left out, are taken for a recursion that
   does not end. The largest kernels of the prelude's own take a tenth of either; a second goes as far as this. */
enum { ELAB_MOST_STEPS = 2 * 1000 * 1000, ELAB_MOST_INSTRUCTIONS = 150 * 1000 };
void elab_run_out(struct elaborator *e, struct span span) __attribute__((noreturn));

static inline void elab_count_step(struct elaborator *e, struct span span) {
    if (++e->steps > ELAB_MOST_STEPS || ir_instructions(e->builder) > ELAB_MOST_INSTRUCTIONS)
        elab_run_out(e, span);
}

struct elab_value *elab_evaluate(struct elaborator *e, const struct core *core, const struct environment *environment,
                                 const struct instance *instance);
struct elab_value *elab_list_item(struct elaborator *e, struct pull *list, size_t index);
const struct environment *elab_bind(struct elaborator *e, const struct environment *environment,
                                    const struct core_local *local, struct elab_value *value);
struct elab_value *elab_apply(struct elaborator *e, struct elab_value *function, struct elab_value *argument);
struct elab_value *elab_apply2(struct elaborator *e, struct elab_value *function, struct elab_value *a,
                               struct elab_value *b);
/* An internal function of the prelude, applied to scalars: the scalars of its result. Names in it are left out of the
   code, as they say nothing about the program. */
enum elab_plan {
#define PLAN(id, name) ELAB_PLAN_##id,
#include "elaborate/plans.def"
};
struct ir_value **elab_prelude(struct elaborator *e, enum elab_plan plan, struct ir_value *const *arguments,
                               size_t count);
#define ELAB_PRELUDE(e, plan, ...)                                                                                     \
    elab_prelude(e, ELAB_PLAN_##plan, (struct ir_value *[]){__VA_ARGS__},                                              \
                 sizeof(struct ir_value *[]){__VA_ARGS__} / sizeof(struct ir_value *))
/* The function's result goes to the sink, from within each branch when the function ends in an
   `if`: where a result such as -1 stands for "nowhere", the branch that gives it comes to nothing.
   At ambient thread. */
typedef void elab_sink(struct elaborator *e, void *context, struct elab_value *result);
void elab_apply_into(struct elaborator *e, struct elab_value *function, struct elab_value *argument, elab_sink *sink,
                     void *context);
/* One of two values by a condition; each thunk runs in its branch. */
typedef struct elab_value *elab_thunk(struct elaborator *e, void *context);
struct elab_value *elab_choose(struct elaborator *e, struct ir_value *condition, elab_thunk *then_thunk,
                               void *then_context, elab_thunk *else_thunk, void *else_context);
/* NULL where it is not known: of what is not, and, without a condition, of lengths that differ. */
struct ir_value *elab_choose_length(struct elaborator *e, struct ir_value *condition, struct ir_value *a,
                                    struct ir_value *b);
bool elab_is_same_length(struct elaborator *e, struct ir_value *a, struct ir_value *b);
/* Results of branches, too, that are computed alike on the same condition. */
bool elab_is_same_in_branches(struct elaborator *e, struct ir_value *a, struct ir_value *b);
/* Goes back to begin the chunk anew under each branch of an IF on that condition, where that can be: note [splits]. */
void elab_split_on(struct elaborator *e, struct ir_value *condition, struct span span);
/* Runs a body for what it finds out, and leaves what it builds behind; false where it failed, of
   which nothing is said. */
bool elab_try(struct elaborator *e, void (*body)(struct elaborator *, void *), void *context);
/* Runs a body with a frame for splits: body emits, and gives nothing back. */
void elab_with_split(struct elaborator *e, void (*body)(struct elaborator *, void *), void *context);

/* ---- operators.c ---- */
/* Is `f x y` known to be `same`, to the bit? */
bool elab_gives(struct elaborator *e, struct elab_value *f, struct elab_value *x, struct elab_value *y,
                struct elab_value *same);
/* Is the start value seen to do no more when the operator combines it again, so that copies may begin with it?
   It is neutral, or the operator commutes and it is what it gives with itself, as 0.0 of (+). */
bool elab_may_repeat(struct elaborator *e, struct elab_value *function, struct elab_value *start);

/* ---- values.c: constructors and views ---- */
struct elab_value *elab_scalar(struct elaborator *e, struct ir_value *value);
struct elab_value *elab_unknown(struct elaborator *e);
struct elab_value *elab_unknown_like(struct elaborator *e,
                                     const struct elab_value *shape); /* a scalar, or a tuple of the same form */
struct elab_value *elab_tuple(struct elaborator *e, struct elab_value **items, size_t count);
/* The value without how its ints came about, as what comes out of a branch, a loop or an array is. */
struct elab_value *elab_plain(struct elaborator *e, struct elab_value *value);
struct elab_value *elab_pair(struct elaborator *e, struct elab_value *a, struct elab_value *b);
struct elab_value *elab_of_pull(struct elaborator *e, struct pull *pull);
struct elab_value *elab_of_push(struct elaborator *e, struct push *push);
struct ir_value *elab_as_scalar(struct elaborator *e, struct elab_value *value); /* resolved; NULL: unknown */
struct pull *elab_as_pull(struct elaborator *e, struct elab_value *value);
struct push *elab_as_push(struct elaborator *e, struct elab_value *value);
/* Scalar leaves of a BT value in order of appearance. */
ir_values elab_leaves(struct elaborator *e, struct elab_value *value);
struct elab_value *elab_unflatten(struct elaborator *e, const struct elab_value *shape, struct ir_value *const *leaves);
bool elab_is_ground(const struct elab_value *value); /* scalars and tuples of them */
typedef VEC(enum base) base_list;
base_list elab_bases_of(struct elaborator *e, struct type *type);
struct elab_value *elab_of_type(struct elaborator *e, struct type *type, struct ir_value *const *leaves); /* or NULL */
struct pull *elab_pull_new(struct elaborator *e, enum pull_kind kind, struct ir_value *length);
struct push *elab_push_new(struct elaborator *e, struct push push); /* made where `e` stands in the program */
#define NEW_PUSH(id, at, ...)                                                                                          \
    elab_of_push(e, elab_push_new(e, (struct push){.kind = PUSH_##id, .level = at, __VA_ARGS__}))
struct push *elab_push_of_pull(struct elaborator *e, enum level_value level, struct pull *pull);
/* The type or the level that a variable of a primitive's type stands for here. `index` counts the variables in order of
   appearance in that type; ambients do not count as levels. */
struct type *elab_type(struct elaborator *e, const struct instance *instance, size_t index);
enum level_value elab_level(struct elaborator *e, const struct instance *instance, size_t index);

/* ---- warp.c ---- */
struct ir_value *elab_exchange(struct elaborator *e, struct ir_value *value,
                               struct ir_value *lane); /* as that lane has it */

/* ---- pack.c: a BT element of at most 32 or 64 bits as a word (U32 or U64) ---- */
int elab_leaf_bits(enum base base); /* in memory */
int elab_bits(const base_list *bases);
/* A constant with a bit for each lane of a warp. */
struct ir_value *elab_lanes(struct elaborator *e, uint64_t lanes);
struct ir_value *elab_pack(struct elaborator *e, enum base word, struct ir_value *const *leaves, size_t count);
struct ir_value **elab_unpack(struct elaborator *e, struct ir_value *word, const base_list *bases); /* leaves */

/* ---- index.c ---- */
/* No branch decides about the current place: what goes wrong here goes wrong whenever there is anything to do at all,
   or a whole chunk of it. */
bool elab_runs_if_reached(struct elaborator *e);
struct elab_value *elab_index(struct elaborator *e, struct pull *pull, struct ir_value *index);
/* How many elements of memory, a number of 64 bits, one row of a nested array takes. */
struct ir_value *elab_stride(struct elaborator *e, const struct pull *pull);
/* The index as it is used there: one that is wrong is told, now or when the program runs. */
struct ir_value *elab_place(struct elaborator *e, const struct pull *pull, struct ir_value *index);

/* ---- parts.c ---- */
/* The length of what maps made of some whole part of an array; NULL: unknown. By a try, which takes back what this adds
   to `shape`. */
struct ir_value *elab_mapped_length(struct elaborator *e, struct pull *chunks);
/* The rows of a result one after another, each as long as `width`. The length of a large one may be of 64 bits. */
struct pull *elab_joined(struct elaborator *e, struct pull *rows, struct ir_value *width, bool is_large);
/* The rows from `first` on, a number of 64 bits: `length` elements. */
struct pull *elab_rows_from(struct elaborator *e, struct pull *joined, struct ir_value *first, struct ir_value *width,
                            struct ir_value *length);

/* ---- views.c ---- */
/* The array whose beginning that is, as long as it; NULL: it is none, or has elements of its own. */
struct pull *elab_behind(struct elaborator *e, struct pull *view);

/* ---- matrix.c ---- */
/* How long the rows of an array are, and their rows, `rank` - 1 numbers; false, and NULL: that depends on data. */
bool elab_columns(struct elaborator *e, struct pull *rows, size_t rank, struct ir_value **columns);
/* Stores them, from place 1 on; there is memory for zeros, which stay where there are no rows. */
void elab_store_columns(struct elaborator *e, enum level_value level, struct pull *rows, size_t rank,
                        struct ir_buffer *buffer);
/* Rows that are not as long as that are an error. */
/* How long a row that is there is, by making it. */
struct ir_value *elab_made_length(struct elaborator *e, struct pull *rows, struct ir_value *index);
void elab_check_rows(struct elaborator *e, enum level_value level, struct pull *rows, size_t rank,
                     struct ir_value *const *extents);
/* All elements, row by row. Of a large result their number may be one of 64 bits. */
struct pull *elab_elements(struct elaborator *e, struct pull *rows, size_t rank, struct ir_value *const *extents);

/* note [large results] */
bool elab_is_large(struct elaborator *e, size_t rank, struct ir_value *const *extents);
/* How many elements the first `rank` dimensions have, a number of 64 bits. */
struct ir_value *elab_many_elements(struct elaborator *e, size_t rank, struct ir_value *const *extents);
/* Stores them, part by part. */
void elab_store_large(struct elaborator *e, enum level_value level, struct pull *elements, size_t rank,
                      struct ir_value *const *extents, struct ir_buffer **buffers, size_t count);

/* ---- repeats.c: note [loops that do not end] ---- */
/* Adds what the search carries to what the loop does. */
void elab_repeats_carry(struct elaborator *e, ir_values *carried);
/* At the end of a step: `count` values are the state's; adds what the search hands on. */
void elab_repeats_check(struct elaborator *e, struct ir_value *const *current, size_t count, ir_values *after,
                        struct span span);

/* ---- length.c ---- */
/* A check of lengths: always at grid, where the host has them, and below it with --check. */
void elab_hold(struct elaborator *e, enum ir_check check, struct ir_value *condition, struct ir_value *a,
               struct ir_value *b, struct span span);
/* Gives the result of an operation on ints what its length would be made of. */
void elab_remember(struct elaborator *e, enum ir_op op, struct elab_value **arguments, int arity,
                   struct elab_value *result);
/* A length, and the size of chunks, as a program gives it: computed without wrapping. NULL: depends on data. */
struct ir_value *elab_given_length(struct elaborator *e, struct elab_value *n);
struct ir_value *elab_chunk_size(struct elaborator *e, struct elab_value *size);
struct ir_value *elab_not_negative(struct elaborator *e, struct ir_value *n); /* 0 instead; NULL stays */
/* The sum or product of two lengths; what no int holds is an error. */
struct ir_value *elab_combined_length(struct elaborator *e, enum ir_op op, enum ir_check check, struct ir_value *x,
                                      struct ir_value *y);

/* ---- views.c: NULL where the two have no array in common ---- */
/* An `if` between elements of two arrays. */
struct elab_value *elab_choose_element(struct elaborator *e, struct ir_value *condition, const struct core *core,
                                       const struct environment *environment, const struct instance *instance);
/* An element of PULL_CHOICE. */
struct elab_value *elab_choose_array(struct elaborator *e, const struct pull *choice, struct ir_value *index);

/* ---- parts.c ---- */
/* The length of chunks together, where they are `size` long and known to make an array's; else NULL. */
struct ir_value *elab_parts_length(struct elaborator *e, struct pull *chunks, struct ir_value *size);

/* ---- stored.c ---- */
struct part {
    bool is_array;
    struct type *type; /* of its elements, or of the scalar */
};
/* The condition that a loop asks before each step, as it is before the body begins: the body takes it for true. */
struct loop_condition {
    struct ir_value *value;
    bool always_holds;
};
struct loop_condition elab_loop_condition(struct elaborator *e, struct ir_value *more);
/* Warns of a loop that goes on for ever once it begins (W006), and lets it fail with --check: its step keeps the whole
   state, or its condition is the same for each. `before` and `after`: the `count` values that the loop carries, before
   and after a step. Called where a step ends, after the code that finds a period. */
void elab_find_endless(struct elaborator *e, struct loop_condition condition, struct ir_value *const *before,
                       struct ir_value *const *after, size_t count, bool is_kept, struct span span);
/* The arrays and scalars of a stored type, from left to right; of a value of that type, before it
   is stored or after; and back. */
const struct part *elab_parts_of(struct elaborator *e, struct type *type, size_t *count);
struct elab_value **elab_take_apart(struct elaborator *e, struct type *type, struct elab_value *value);
struct elab_value *elab_put_together(struct elaborator *e, struct type *type, struct elab_value **parts);
/* Stores the arrays among the parts of a value, together. */
struct elab_value **elab_force_parts(struct elaborator *e, const struct part *parts, size_t count,
                                     struct elab_value *const *values);
/* The value that `force` makes of this value; `type` is the type of the stored value. */
struct elab_value *elab_force_value(struct elaborator *e, struct type *type, struct elab_value *value);

/* ---- push.c ---- */
struct ir_value *elab_push_length(struct elaborator *e, struct push *push); /* NULL: depends on data */
struct ir_value *elab_length(struct elaborator *e, struct elab_value *array);
struct writer {
    /* `element` NULL: zeros in memory, where it goes to memory. */
    void (*write)(struct elaborator *e, const struct writer *self, struct ir_value *index, struct elab_value *element);
    struct ir_buffer **buffers;
    size_t buffer_count;
    struct ir_value *offset; /* or NULL */
    const struct writer *next;
    struct push *push;
    struct ir_value *chunk;
    const struct marking *marking; /* marking.c */
};
void elab_run(struct elaborator *e, struct push *push, const struct writer *writer);
struct running {
    struct push *push;
    const struct writer *writer;
};
typedef VEC(struct running) runnings;
/* Adds one to those that elab_run_together is to run. */
void elab_run_later(struct elaborator *e, runnings *all, struct push *push, struct writer writer);
/* Writes the element, unless its place is outside 0 … total - 1. */
void elab_write_within(struct elaborator *e, const struct writer *next, struct ir_value *place,
                       struct elab_value *element, struct ir_value *total);
/* The index of a loop over that many of the level's threads (one after another at thread; no loop for one), until
   elab_end_threads, which wants it back. */
struct ir_value *elab_begin_threads(struct elaborator *e, enum level_value level, struct ir_value *count);
/* The threads of a block of the launch that is being made; outside of launches, what #BlockSize is. */
int elab_block_threads(const struct elaborator *e);
void elab_end_threads(struct elaborator *e, enum level_value level, const struct ir_value *index);
struct writer elab_store_writer(struct ir_buffer **buffers, size_t count, struct ir_value *offset);
bool elab_writes_plainly(const struct writer *writer); /* elements go to the writer's buffers as they are */
/* Runs it where the condition holds. */
void elab_run_if(struct elaborator *e, struct ir_value *condition, struct push *push, const struct writer *writer);

/* ---- memory.c ---- */
enum ir_memory elab_memory(enum level_value level); /* of what is stored at it */
struct ir_buffer **elab_buffers(struct elaborator *e, struct type *element, enum level_value level,
                                struct ir_value *capacity, const char *name, size_t *count);
/* The array in which code will read the elements that a push array has stored; `offset` may be NULL. */
struct pull *elab_stored(struct elaborator *e, struct type *element, struct ir_buffer **buffers,
                         struct ir_value *offset, struct ir_value *length);
void elab_allocate(struct elaborator *e, struct ir_buffer **buffers, size_t count);
extern struct type elab_int_type; /* of what primitives make of themselves */
/* An array of which only the length is known (or not even that: NULL): shapes. */
struct pull *elab_unknown_array(struct elaborator *e, struct type *element, struct ir_value *length);
struct pull *elab_force(struct elaborator *e, struct push *push, struct type *element);
/* The array as it will be read, in new memory; it is stored when `all` runs. An array that is stored already
   stays where it is. */
struct pull *elab_force_later(struct elaborator *e, struct push *push, struct type *element, runnings *all);
/* The length that the elements of such a push array have said, once it has run: from 0 to its bound. */
struct ir_value *elab_said_length(struct elaborator *e, const struct push *push);
/* A place for an int of that level. */
struct ir_buffer *elab_one_int(struct elaborator *e, enum level_value level, const char *name);
/* How much memory to set aside for that many elements; fails where no bound is known. */
struct ir_value *elab_capacity(struct elaborator *e, struct ir_value *length, enum level_value level);

/* ---- chunks.c ---- */
/* All of them are so many chunks of one level. */
void elab_run_all_chunks(struct elaborator *e, const struct running *all, size_t count);

/* ---- run.c ---- */
/* Several at one time: note [together]. */
void elab_run_together(struct elaborator *e, const struct running *all, size_t count);

/* ---- updates.c ---- */
bool elab_is_update(const struct push *push);
/* Is there a place for so many pairs? While only shapes matter. */
bool elab_may_hold_pairs(struct elaborator *e, const struct push *push);
/* Notes why an update copies its array, for W003 and the report; not of an input, which is always copied. */
void elab_note_copied(struct elaborator *e, const struct push *push, enum ir_update_kind kind);
/* Pairs of an update that read the array that `other` starts from, an update that may be the same, are stored now. */
void elab_hold_pairs(struct elaborator *e, struct push *push, const struct push *other);
/* A function that handles one pair, a tuple of place and value. */
typedef void elab_take(struct elaborator *e, void *context, struct elab_value *pair);
/* The pairs of an update that its element `which` makes: one, or those of a thread's push array. Are all of them made
   before the first is taken? */
bool elab_take_pairs(struct elaborator *e, const struct push *push, struct ir_value *which, elab_take *take,
                     void *context);
/* Around the loop that copies the array: it is known as such, and as the update's. */
void elab_begin_start(struct elaborator *e, const struct push *push);
void elab_end_start(struct elaborator *e);

/* ---- check.c ---- */
static inline bool elab_checks_all(const struct elaborator *e) { return e->options->check == DEGREE_ALL; }
/* A length that would lead to writes elsewhere, with and without --check. `is_contained`: as of a site. */
void elab_check_length(struct elaborator *e, enum ir_check check, struct ir_value *condition, struct ir_value *a,
                       struct ir_value *b, struct span span, bool is_contained);
/* The same for what a concat or interleave was promised of its chunks. */
void elab_check_chunk(struct elaborator *e, const struct push *push, struct ir_value *condition,
                      struct ir_value *length, struct ir_value *size);
/* See note [unfinished lengths]. */
bool elab_may_be_unfinished(struct elaborator *e, const struct ir_value *length);
/* Whatever the arguments: in no branch, and in no loop that may have no iterations. */
bool elab_runs_for_certain(struct elaborator *e);
/* An element; where the host reads it, the place in the program is kept for an index out of range. */
struct ir_value *elab_load(struct elaborator *e, struct ir_buffer *buffer, struct ir_value *index);
/* On the host, which gives up where it does not hold; so it holds afterwards. */
void elab_require(struct elaborator *e, enum ir_check check, struct ir_value *condition, struct ir_value *a,
                  struct ir_value *b, struct span span);
/* Note [measured] in matrix.c. From the begin to the end, at the present `shape`, the elaborator measures: the end
   keeps only the checks of lengths of which `lengths` are made. Then: does it measure now? A condition that counts only
   if the row is there; and the check of a length. */
struct measuring_before {
    struct ir_value *row_is_there;
    int row_shape;
    size_t check_count;
};
struct measuring_before elab_begin_measured(struct elaborator *e, struct ir_value *is_there);
void elab_end_measured(struct elaborator *e, struct measuring_before before, struct ir_value *const *lengths,
                       size_t count);
bool elab_is_measured(const struct elaborator *e);
struct ir_value *elab_where_there(struct elaborator *e, struct ir_value *condition);
void elab_check_measured(struct elaborator *e, struct ir_value *condition, struct ir_value *n,
                         const struct ir_value *length);
/* The functions from here on check nothing without --check. With --check=memory they make only the checks that have a
   `brief` in checks.def. */
void elab_check(struct elaborator *e, enum ir_check check, struct ir_value *condition, struct ir_value *a,
                struct ir_value *b, struct span span);
/* Says the length of forceUpTo's result, in its complement. */
void elab_check_said(struct elaborator *e, const struct push *push, struct ir_value *length);
/* At the push array's own place: that of who made it, whoever runs it. */
void elab_require_push(struct elaborator *e, const struct push *push, enum ir_check check, struct ir_value *condition,
                       struct ir_value *a, struct ir_value *b);
void elab_check_push(struct elaborator *e, const struct push *push, enum ir_check check, struct ir_value *condition,
                     struct ir_value *a, struct ir_value *b);
/* Is it from 0 to length - 1? */
struct ir_value *elab_is_inside(struct elaborator *e, struct ir_value *index, struct ir_value *length);
/* True if `count` is known to be 0. A loop of 0 turns is not compiled: nothing asks an empty array about its
   elements, and its answer may make no sense. */
bool elab_is_none(struct elaborator *e, struct ir_value *count);
/* The index, which is checked, and 0 instead where it is wrong; but itself where there is no element. */
struct ir_value *elab_checked_index(struct elaborator *e, struct ir_value *index, struct ir_value *length);

/* ---- lookback.c ---- */
/* The launch is built whole: note [cleared words] in lookback.c. */
void elab_end_blocks(struct elaborator *e, const struct blocks_run *blocks);
/* At the end of an elaboration of the body: note [branches] in lookback.c. */
void elab_end_lookbacks(struct elaborator *e, struct blocks_run *blocks);
/* After a pass that has collected what blocks give to a lookback: the launch that combines them. */
void elab_scan_collected(struct elaborator *e, struct blocks_run *blocks);

/* ---- iteration schemes ---- */
/* The columns of types/schemes.def. A check runs the scheme: each place must be written, and once. */
typedef struct ir_value *elab_length_function(struct elaborator *e, struct push *push);
typedef void elab_run_function(struct elaborator *e, struct push *push, const struct writer *writer);
typedef void elab_check_function(struct elaborator *e, struct push *push, const struct writer *writer,
                                 elab_run_function *run);
struct elab_scheme {
    elab_length_function *length;
    elab_run_function *run;
    elab_check_function *check;
};
extern const struct elab_scheme elab_schemes[PUSH_KIND_COUNT];
#define SCHEME(id, length, run, check, cost)                                                                           \
    elab_length_function elab_length_of_##length;                                                                      \
    elab_run_function elab_run_##run;                                                                                  \
    elab_check_function elab_check_##check;
#define INTERPRETED(...)
#include "types/schemes.def"

/* ---- bound.c ---- */
/* The host computes what it must know before a launch, at the innermost region of ambient grid: what is built until
   ir_leave goes there. */
struct ir_region *elab_enter_host(struct elaborator *e);
/* A value of the host (or a constant) that `value` never exceeds; NULL: none is known. */
struct ir_value *elab_upper_bound(struct elaborator *e, struct ir_value *value);
/* The sum and product of two such, not negative: at most the greatest length, of which there is never memory. */
struct ir_value *elab_sum_of_bounds(struct elaborator *e, struct ir_value *x, struct ir_value *y);
struct ir_value *elab_product_of_bounds(struct elaborator *e, struct ir_value *x, struct ir_value *y);

/* ---- primitives, one function each, called with all their arguments ---- */
typedef struct elab_value *elab_primitive(struct elaborator *e, enum primitive primitive,
                                          const struct instance *instance, struct elab_value **arguments);
/* The head of such a function. */
#define PRIMITIVE(id)                                                                                                  \
    struct elab_value *elab_##id(__attribute__((unused)) struct elaborator *e,                                         \
                                 __attribute__((unused)) enum primitive primitive,                                     \
                                 __attribute__((unused)) const struct instance *instance,                              \
                                 __attribute__((unused)) struct elab_value **arguments)
#define PRIM(id, name, arity, type, doc) elab_primitive elab_##id;
#define SCALAR(id, name, arity, type, doc, commutes, made)
#include "types/primitives.def"
elab_primitive elab_scalar_primitive;
extern elab_primitive *const elab_primitives[PRIM_COUNT]; /* tables.c */

#endif
