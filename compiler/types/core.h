/* The typed core: what checking leaves. Names are resolved, patterns are gone (selections instead), operators are
   primitives, levels are erased to the instances that the names carry, and every node has its type. */
#ifndef FCL_TYPES_CORE_H
#define FCL_TYPES_CORE_H

#include "support/floating.h"
#include "types/type.h"

enum primitive {
#define PRIM(id, ...) PRIM_##id,
#define SCALAR(id, ...) PRIM_##id,
#include "types/primitives.def"
    PRIM_COUNT
};
struct primitive_info {
    const char *name;
    int arity; /* arguments it needs before it does anything */
    const char *type;
    const char *doc;
    bool is_scalar;         /* SCALAR row: works on scalars only, without memory */
    enum commutes commutes; /* of scalars, up to the bits of a NaN */
};
extern const struct primitive_info primitive_info[PRIM_COUNT];
bool primitive_is_internal(enum primitive primitive); /* for the prelude and the library, not for programs */

/* Whose element a lane gets by a shuffle: that of lane f i, i - n, i + n or i ^ n. */
/* How a push array is run, by either executor. */
enum push_kind {
#define SCHEME(id, ...) PUSH_##id,
#include "types/schemes.def"
    PUSH_KIND_COUNT
};
enum exchange { EXCHANGE_BY_FUNCTION, EXCHANGE_UP, EXCHANGE_DOWN, EXCHANGE_XOR };

/* The matrices of mma are of multiples of ROWS × INNER, INNER × COLUMNS and ROWS × COLUMNS. */
enum { MMA_ROWS = 16, MMA_COLUMNS = 8, MMA_INNER = 16 };
struct mma_size {
    int64_t rows, inner, columns;
};
/* The one size at which the three matrices have so many elements; false: there is none. */
bool core_mma_size(int64_t first, int64_t second, int64_t third, struct mma_size *size);
#define MMA_SIZE_MESSAGE                                                                                               \
    "`%s` wants matrices of 16 r rows and 16 n columns, 16 n and 8 c, and 16 r and 8 c, and there are none of %lld, "  \
    "%lld and %lld elements"

enum core_kind {
    CORE_LITERAL,   /* literal, of the node's type: a base type, or a variable of class num or floating */
    CORE_LOCAL,     /* local (+ instance when its binding is a polymorphic let) */
    CORE_GLOBAL,    /* global + instance */
    CORE_PRIMITIVE, /* primitive + instance of its scheme */
    CORE_CONFIG,    /* config */
    CORE_LAMBDA,    /* parameter, body */
    CORE_APPLY,     /* function, argument */
    CORE_LET,       /* binding local, scheme or NULL, value, body */
    CORE_IF,        /* condition, then_branch, else_branch */
    CORE_TUPLE,     /* items */
    CORE_SELECT,    /* tuple, index */
    CORE_ZERO,      /* of a scalar's type, or a tuple's of these: type.h, note [alternatives] */
    CORE_LIST,      /* items */
};
/* Configuration constants, #BlockSize …: what the program may ask about the machine it is compiled for. */
enum core_config {
    CONFIG_BLOCK_SIZE,
    CONFIG_WARP_SIZE,
    CONFIG_GRID_SIZE,
    CONFIG_IS_CPU,
    CONFIG_HAS_WARPS,
    CONFIG_HAS_MMA,
    CONFIG_VECTOR_BYTES,
    CONFIG_COUNT
};
struct core_config_info {
    const char *name;
    enum base base;
};
extern const struct core_config_info core_config_info[CONFIG_COUNT];

struct core_local {
    uint32_t id;              /* unique in the program */
    symbol name;              /* NULL: made by the compiler */
    const struct core *value; /* what a `let` binds it to, for messages; NULL: no `let` does */
};

/* A name's instance: what the scheme's quantified variables stand for here; may mention variables of
   enclosing schemes. NULL arrays when there are none. */
struct core_instance {
    const struct scheme *scheme;
    struct type **types;
    struct level **levels;
};

struct core {
    enum core_kind kind;
    struct span span;
    struct type *type;
    union {
        struct {
            bool is_floating;   /* as written */
            uint64_t magnitude; /* integer as written (negation is an operator; the checker knows -128i8) */
            struct floating floating;
            bool is_bool; /* then magnitude is 0 or 1 */
        } literal;
        struct {
            const struct core_local *local;
            struct core_instance instance;
        } local;
        struct {
            struct core_global *global;
            struct core_instance instance;
        } global;
        struct {
            enum primitive primitive;
            struct core_instance instance;
        } primitive;
        enum core_config config;
        struct {
            const struct core_local *parameter;
            struct core *body;
        } lambda;
        struct {
            struct core *function, *argument;
        } apply;
        struct {
            const struct core_local *local;
            /* Not NULL when type or level variables that matter at run time were generalised: the value is then
               evaluated at each use with that use's instance (it is a function or a constant). NULL: once. */
            const struct scheme *scheme;
            struct core *value, *body;
        } let;
        struct {
            struct core *condition, *then_branch, *else_branch;
        } conditional;
        struct {
            struct core **items;
            size_t count;
        } sequence;
        struct {
            struct core *tuple;
            size_t index;
        } select;
    };
};

/* The value of a number at that floating type. */
double core_floating(const struct core *literal, enum base base);

enum global_kind { GLOBAL_FUN, GLOBAL_VAL, GLOBAL_KERNEL, GLOBAL_PARAM };

struct core_global {
    enum global_kind kind;
    symbol name;
    struct span span; /* of the name */
    const struct source *source;
    bool from_prelude, hides_prelude; /* of the prelude; the prelude has something of this name */
    bool is_internal;                 /* for the prelude, or a file of the library, only */
    struct scheme *scheme;
    struct core *body;            /* a value or nested lambdas; for PARAM: a literal (the default or what -D said) */
    size_t parameter_count;       /* KERNEL: patterns in the declaration; the body is that many lambdas */
    const char **parameter_names; /* KERNEL: for the launch contract; a tuple pattern gets "arg0" and so on */
    struct core **choices;        /* PARAM: the `in {…}` set */
    size_t choice_count;
    /* KERNEL: the PARAM that `with #BlockSize = …` makes, which no expression can name; NULL: none */
    struct core_global *block_size;
#define LEAVE(field, word) bool field; /* KERNEL: `with` that word */
#include "syntax/leaves.def"
#undef LEAVE
    const struct record *alternatives; /* a constructor of these: */
    size_t constructor;
    uint32_t index; /* in program->globals */
};

/* The source of a program that is IR as text (ir/text/text.h). Each kernel is read
   anew whenever it is compiled, since passes change it. */
struct program_ir {
    const struct source *source;
    struct symbols *symbols;
    struct sources *sources;
    const char *target; /* that it was made for; NULL: any */
};

struct program {
    VEC(struct core_global *) globals; /* in definition order, the prelude first */
    const struct program_ir *ir;       /* then the globals are its kernels, without bodies; NULL: a program in FCL */
};

/* How many threads a block of the kernel's launches has by what it says itself, or else `otherwise`. */
int64_t core_block_size(const struct core_global *kernel, int64_t otherwise);

/* A place where a name stands, for editors: `global`, or `primitive`, or else a local one. */
struct name_place {
    symbol name;
    struct span span, definition;     /* the same where it is defined; a primitive has no definition */
    const struct core_global *global; /* NULL: none */
    enum primitive primitive;         /* PRIM_COUNT: none */
    const struct scheme *scheme;      /* of a local name */
    struct type *type;                /* of this use; NULL: a definition */
    bool is_field;                    /* of a record */
};
typedef VEC(struct name_place) name_places;

/* The expressions that it is made of, in order; NULL: no more. */
struct core *core_part(const struct core *core, size_t i);

/* Every use of a name of the whole program, a CORE_GLOBAL or CORE_PRIMITIVE, in an expression. */
typedef void core_name_visitor(void *context, const struct core *name);
void core_visit_names(const struct core *core, core_name_visitor *visit, void *context);

/* Where the expression stands that gives the kernel's result. */
struct span core_result_span(const struct core_global *kernel);

/* commutes.c: whether the definition of an operator, `fn x y => …`, shows that it commutes. False where it does not. */
bool core_commutes(struct arena *arena, const struct core *lambda);
bool core_commutes_primitive(enum primitive primitive);

void core_dump(struct text *out, const struct program *program, bool with_prelude);

#endif
