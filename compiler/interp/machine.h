/* Inside the interpreter: its values, its memory, and what its parts offer each other. Values are typed dynamically (a
   scalar carries its base type); static types are looked at only for literals. */
#ifndef FCL_INTERP_MACHINE_H
#define FCL_INTERP_MACHINE_H

#include <setjmp.h>

#include "interp/interp.h"

/* ---- memory: a stack of regions (region.c) ----
   Evaluating one element, one chunk or one step leaves nothing behind but scalars, so its memory is given back at
   once: mark, evaluate, copy the scalars out, release. */
struct region;
struct region_mark {
    size_t block, used;
};
struct region *region_new(void);
void region_free(struct region *region);
void *region_alloc(struct region *region, size_t bytes); /* not zeroed; NULL: no memory */
struct region_mark region_here(const struct region *region);
void region_release(struct region *region, struct region_mark mark);

/* ---- values ---- */

/* V_UNKNOWN: what elements in memory are, and what is made of them, where only a length is wanted (shape.c). */
enum interp_value_kind { V_SCALAR, V_TUPLE, V_PULL, V_PUSH, V_CLOSURE, V_PRIMITIVE, V_UNKNOWN };

struct value {
    uint8_t kind;    /* enum interp_value_kind */
    uint8_t base;    /* V_SCALAR: enum base */
    int32_t wrapped; /* of an int: the number of a record of what it is without wrapping (exact.c), or 0 */
    union {
        union scalar scalar;
        const struct tuple *tuple;
        const struct interp_pull *pull;
        struct interp_push *push;
        const struct closure *closure;
        const struct partial *partial;
    };
};

struct tuple {
    size_t count;
    struct value items[];
};

/* Environments are lists, innermost first. A polymorphic let is kept unevaluated, with where it was defined. */
struct interp_environment {
    const struct core_local *local;
    const struct interp_environment *next;
    struct value value;
    const struct core *polymorphic;  /* NULL, or what to evaluate at each use in `next` … */
    const struct instance *instance; /* … under an instance whose parent is this */
    const struct scheme *scheme;
};

struct closure {
    const struct core *lambda;
    const struct interp_environment *environment;
    const struct instance *instance;
    struct span made_at; /* of one in the prelude: the user's call that made it; or empty */
};

/* The properties of a primitive that its instance settles. */
struct settled {
    enum level_value chunk_level; /* of a concat and its like: who computes a chunk; else pure */
    enum base base;               /* of the result of fromOrderBits */
};

/* A primitive with fewer arguments than it needs. */
struct partial {
    enum primitive primitive;
    struct settled settled;
    size_t count;
    struct value arguments[];
};

/* Pull arrays: a length and a way to an element. */
enum interp_pull_kind {
    INTERP_PULL_FUNCTION, /* function: generate */
    INTERP_PULL_MAP,      /* function, of */
    INTERP_PULL_STORED,   /* cells: `width` per element, packed (value_pack) */
    INTERP_PULL_LIST,     /* list, environment, instance: each item is evaluated where it is asked for */
    INTERP_PULL_VALUES,   /* values, which were computed before */
    INTERP_PULL_HOST,     /* host: an argument; `offset` elements in, at dimension `depth` */
};
struct interp_pull {
    enum interp_pull_kind kind;
    bool is_unknown; /* the length is, while only lengths are wanted */
    int64_t length;
    struct value function;
    const struct interp_pull *of;
    const struct core *list;
    const struct interp_environment *environment;
    const struct instance *instance;
    const struct value *values;
    const struct value *cells;
    size_t width;
    const struct host_value *host;
    size_t depth, offset;
};

/* Push arrays: a way to produce (index, value) pairs in iteration order; types/schemes.def has a row for each kind. The
   length of a concat is known only when its last chunk was looked at; it is kept then. */
struct interp_push {
    enum push_kind kind;
    struct span span;      /* the operation's, for messages */
    struct span made_at;   /* as of a closure */
    int64_t length;        /* -1: not known yet */
    int64_t total;         /* the length that the program gives; of MMA */
    struct value function; /* of elements, places, or both */
    union {
        const struct interp_pull *array; /* what it is made of */
        struct interp_push *of;          /* of MAP, APPEND, PERMUTE, PERMUTE_INTO, SHUFFLE */
    };
    union { /* what one kind alone has */
        struct {
            bool with_index;
        } map;
        struct { /* CONCAT: the paper's concatDelay, (38); INTERLEAVE, INTERLEAVE_INTO; JOINED has neither */
            int64_t size;
            enum level_value level; /* who computes a chunk */
        } chunks;
        struct { /* APPEND: after `of` */
            struct interp_push *second;
        } both;
        struct {           /* PERMUTE_INTO */
            int64_t *said; /* where elements, (length, place, element), say the length; or NULL */
            bool is_over;  /* a place may be written again */
        } into;
        struct { /* EACH: iterations */
            int64_t count;
        } each;
        struct { /* SCANL */
            struct value initial;
        } scanl;
        struct { /* SCATTER, REDUCE_BY_INDEX, SCAN_BY_INDEX */
            const struct interp_pull *pairs;
            struct value neutral; /* REDUCE_BY_INDEX */
            bool is_each;         /* `pairs` are push arrays of pairs */
            bool needs_none;      /* it is asked for in a way that uses no neutral element */
        } update;
        struct { /* SHUFFLE: by `count` or by the function */
            enum exchange exchange;
            int64_t count;
        } shuffle;
        struct { /* MMA: the array times the second, added to the sums */
            const struct interp_pull *second, *sums;
            int64_t inner, columns;
            enum primitive widen; /* what becomes of the elements that are multiplied */
        } mma;
    };
};

/* ---- the machine ---- */

/* The chunks of a concat or interleave while they are run: what lookback has seen in those before,
   and lookbackCounts. */
typedef VEC(int32_t) interp_counts;
struct seen_chunks {
    uint32_t count;
    VEC(struct value *) totals; /* of as many chunks as each bit of the count says, the greatest first */
};
struct chunks_run {
    struct chunks_run *outer;
    size_t next, next_counts; /* lookbacks of this chunk so far */
    VEC(struct seen_chunks *) seen;
    VEC(interp_counts *) counts;
};

struct interp_call {
    struct span span;
    const struct interp_call *caller;
};

/* The chunk, or the element, that is being computed, for `trace`. */
struct place_in {
    const char *what;
    int64_t index;
    const struct place_in *outer;
};

struct interp {
    struct arena *arena; /* for what outlives the run: results and messages */
    struct region *region;
    struct region **global_regions; /* for the values of `val` globals, by how many others are being evaluated */
    size_t global_depth;
    const struct interp_options *options;
    struct diagnostics *diagnostics;
    struct value **globals;         /* by index: values of monomorphic globals, when they were wanted once */
    const struct interp_call *call; /* innermost */
    struct span made_at;            /* of the closure that is being evaluated */
    enum level_value loc;           /* who runs what is being evaluated; see note [places] in eval.c */
    struct settled settled;         /* of the primitive that is being called */
    struct store *stores;           /* being filled, outermost last */
    struct chunks_run *chunks;      /* innermost that is run; NULL: none, or only lengths are asked for */
    const struct place_in *place;   /* innermost */
    bool is_absent;                 /* only a length is wanted: note [what is measured] in shape.c */
    bool is_lenient;                /* only a length is wanted, and elements have values */
    bool is_below_zero;             /* a length that is wanted so is made of one that is negative */
    bool is_unequal;                /* a length that is wanted so is made of rows that are not equally long */
    int64_t for_negative;           /* while a length is measured: what a negative one counts as */
    const char *stack_limit;        /* deeper than here is an error */
    struct exact_int *exact;        /* exact.c */
    int32_t exact_count;
    uint64_t steps;
    jmp_buf failed, gave_up; /* the second: while is_absent */
};

void *interp_alloc(struct interp *in, size_t bytes);
#define INTERP_NEW(in, type) ((type *)interp_alloc((in), sizeof(type)))
/* Where what is wrong in the prelude or the library is to be seen: the user's call that made the closure that is being
   evaluated, or the last one; empty for a place in the user's file. */
struct span interp_users_span(const struct interp *in, struct span span);
/* Reports a run-time error at the place and gives up. The second with the `made_at` of a push
   array, whoever runs it. */
_Noreturn void interp_fail(struct interp *in, enum diag_code code, struct span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
_Noreturn void interp_fail_at(struct interp *in, enum diag_code code, struct span span, struct span made_at,
                              const char *format, ...) __attribute__((format(printf, 5, 6)));

struct value scalar_of(enum base base, union scalar scalar);
struct value int_of(int64_t number);
struct value unknown_value(void);
/* Gives up where it is unknown. */
struct value interp_known(struct interp *in, struct value value, struct span span);
struct value bool_of(bool truth);
struct value tuple_of(struct interp *in, const struct value *items, size_t count);
struct value pull_of(const struct interp_pull *pull);
struct value push_of(struct interp_push *push);

/* eval.c */
struct value interp_eval(struct interp *in, const struct core *core, const struct interp_environment *environment,
                         const struct instance *instance);
struct value interp_apply(struct interp *in, struct value function, struct value argument, struct span span);
struct value interp_apply2(struct interp *in, struct value function, struct value a, struct value b, struct span span);

/* pack.c: flat values (scalars, and tuples of flat values) as a row of cells, which survives its region. */
size_t value_pack_width(struct value value); /* 0: the value is not flat */
struct value *value_pack(struct value value, struct value *cells);
struct value value_unpack(struct interp *in, const struct value **cells);
/* Gives back what was allocated since the mark, but for the value; one that is not flat keeps everything. */
struct value interp_keep(struct interp *in, struct region_mark mark, struct value value);

/* arrays.c */
struct value pull_element(struct interp *in, const struct interp_pull *pull, int64_t index, struct span span);
/* Its length; gives up where that is unknown. */
int64_t pull_length(struct interp *in, const struct interp_pull *pull);
struct value pull_at(struct interp *in, const struct interp_pull *pull, struct value index, struct span span);
int64_t push_length(struct interp *in, struct interp_push *push);
int64_t interp_checked_length(struct interp *in, const struct interp_push *push,
                              int64_t length); /* no array is longer */
/* Where the writes of a push array go. */
struct sink {
    void (*write)(struct interp *in, struct sink *sink, int64_t index, struct value value);
};
/* Runs the iteration scheme; the answer is its length. */
int64_t push_run(struct interp *in, struct interp_push *push, struct sink *sink);

/* schemes.c: the columns of types/schemes.def */
struct interp_scheme {
    int64_t (*length)(struct interp *in, struct interp_push *push);
    int64_t (*run)(struct interp *in, struct interp_push *push, struct sink *to);
    enum { SCHEME_CHECK_none, SCHEME_CHECK_places, SCHEME_CHECK_each } check;
    enum { SCHEME_COST_known, SCHEME_COST_inner, SCHEME_COST_run } cost;
};
extern const struct interp_scheme interp_schemes[PUSH_KIND_COUNT];

/* shape.c: note [what is measured] */
/* How long a row that is there is, and of it the first row, that many times; negative where its rows, theirs and so
   on differ. */
void interp_lengths(struct interp *in, const struct interp_pull *rows, int64_t row, size_t rank, int64_t *lengths,
                    struct span span);
/* Up to where there are no rows. */
bool interp_are_same(const int64_t *lengths, const int64_t *others, size_t rank);
/* The same of the first row, which need not be there, and where it depends on elements. */
void interp_columns(struct interp *in, const struct interp_pull *rows, size_t rank, int64_t *columns, struct span span);
/* The length of a row; the row must exist. */
int64_t interp_row_length(struct interp *in, const struct interp_pull *rows, int64_t row, struct span span);
/* The length of a push array, found without running it. */
int64_t interp_measured_length(struct interp *in, struct interp_push *push);

/* store.c: arrays in memory, outside the regions while they are being filled */
struct store *store_run(struct interp *in, struct interp_push *push, struct span span);
struct value store_finish(struct interp *in, struct store *store);    /* into the region */
void store_drop_since(struct interp *in, const struct store *before); /* NULL: all */

/* primitives.c: by the rows of types/primitives.def that are not for scalars */
typedef struct value interp_primitive(struct interp *in, const struct value *arguments, struct span span);
extern interp_primitive *const interp_primitives[PRIM_COUNT];

/* scalar.c: pure, total */
struct value interp_order_bits(struct value x);
struct value interp_from_order_bits(struct value bits, enum base base);
struct value scalar_apply(struct interp *in, enum primitive primitive, const struct value *arguments);

/* exact.c: lengths do not wrap. `remember` gives back the result of an operation, with what it is exactly. */
struct value interp_remember(struct interp *in, enum primitive primitive, const struct value *arguments,
                             struct value result);
/* The value without that, as what comes out of a branch, a loop or an array is. */
struct value interp_plain(struct interp *in, struct value value);
/* A value as a length: one that is negative or too large is an error. */
int64_t interp_length(struct interp *in, struct value length, const char *what, struct span span);

/* exchange.c: arguments and results */
struct value interp_import(struct interp *in, const struct host_value *value);
struct host_value *interp_export(struct interp *in, struct value value, struct type *type, struct span span);

#endif
