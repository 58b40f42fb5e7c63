/* The elaborator's compile-time values: arrays, functions, scalars; how they are made and taken apart. */
#ifndef FCL_ELABORATE_VALUE_H
#define FCL_ELABORATE_VALUE_H

#include "elaborate/elaborate.h"
#include "ir/machine.h"
#include "ir/build/build.h"
#include "support/map.h"

struct elaborator;
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
    const struct element_order
        *order;             /* MEMORY, UNKNOWN: where its elements lie, note [orders]; NULL: one after another */
    int64_t *asked_columns; /* UNKNOWN: gets how long the rows are by which mma reads it; or NULL */
    const struct core *list;
    const struct environment *environment;
    const struct instance *instance;
    struct elab_value **constants; /* items that turned out to be known at compile time, else NULL */
    struct tables *tables[2];      /* LIST: its constant tables, the device's and the host's; NULL until first used */
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
            struct mma_size size;
            const struct element_order *order; /* of the result, by lanes; NULL: each element by whoever gets it */
        } mma;
        const struct ranks *ranks; /* RANK_BY_INDEX: ranks.c */
    };
};

enum elab_kind {
    ELAB_SCALAR,
    ELAB_TUPLE,
    ELAB_CLOSURE,
    ELAB_PRIMITIVE,
    ELAB_BUILDS,
    ELAB_PULL,
    ELAB_PUSH,
    ELAB_CHOICE
};
/* A function that the elaborator hands to one of the prelude. It has one argument, which may be a tuple. */
typedef struct elab_value *elab_builds(struct elaborator *e, const void *context, struct elab_value *argument);
/* How an int came about that may have wrapped: note [exact lengths]. */
struct exact {
    enum ir_op op;
    int arity;
    bool is_users; /* an operand comes from the user's file */
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
        struct {
            elab_builds *call;
            const void *context;
        } builds;
        struct pull *pull;
        struct push *push;
        struct {
            struct ir_value *condition;
            struct elab_value *then_value, *else_value;
        } choice; /* functions that a dynamic condition chooses from */
    };
};

/* ---- values.c: constructors and views ---- */
struct elab_value *elab_scalar(struct elaborator *e, struct ir_value *value);
struct elab_value *elab_unknown(struct elaborator *e);
struct elab_value *elab_unknown_like(struct elaborator *e,
                                     const struct elab_value *shape); /* a scalar, or a tuple of the same form */
struct elab_value *elab_tuple(struct elaborator *e, struct elab_value **items, size_t count);
/* The value without how its ints came about, as what comes out of a branch, a loop or an array is. */
struct elab_value *elab_plain(struct elaborator *e, struct elab_value *value);
struct elab_value *elab_pair(struct elaborator *e, struct elab_value *a, struct elab_value *b);
struct elab_value *elab_function(struct elaborator *e, elab_builds *call, const void *context);
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

/* ---- order.c ---- */
/* The order of the results of a product by so many warps: pairs by lanes. */
const struct element_order *order_by_lanes(struct elaborator *e, struct mma_size size, int warps);
/* The order of rows of so many elements, which lanes load together by pieces of 16 bytes; NULL: as they are. */
const struct element_order *order_by_pieces(struct elaborator *e, int64_t rows, int64_t columns, int64_t piece);
/* How many warps have a part, and products, one after the other; row and column where those of one begin. */
int order_warps(const struct element_order *order);
int order_products(const struct element_order *order);
void order_corner(struct elaborator *e, const struct element_order *order, struct ir_value *warp,
                  struct ir_value *product, struct ir_value **row, struct ir_value **column);
/* Which element a place has, and where an element is. */
struct ir_value *order_index(struct elaborator *e, const struct element_order *order, struct ir_value *place);
struct ir_value *order_place(struct elaborator *e, const struct element_order *order, struct ir_value *index);
/* The element of that row and column, whose place is asked for next. */
struct ir_value *order_element(struct elaborator *e, const struct element_order *order, struct ir_value *row,
                               struct ir_value *column);
/* In which order elements come; NULL: in any. */
const struct element_order *order_of_pull(const struct pull *pull);
const struct element_order *order_of_push(const struct push *push);

/* ---- pack.c: a BT element of at most 32 or 64 bits as a word (U32 or U64) ---- */
int elab_leaf_bits(enum base base); /* in memory */
int elab_bits(const base_list *bases);
/* A constant with a bit for each lane of a warp. */
struct ir_value *elab_lanes(struct elaborator *e, uint64_t lanes);
struct ir_value *elab_pack(struct elaborator *e, enum base word, struct ir_value *const *leaves, size_t count);
struct ir_value **elab_unpack(struct elaborator *e, struct ir_value *word, const base_list *bases); /* leaves */

#endif
