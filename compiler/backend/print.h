/* The printer of C-like languages and the table of what differs between them. Private to backend/. */
#ifndef FCL_BACKEND_PRINT_H
#define FCL_BACKEND_PRINT_H

#include "backend/backend.h"
#include "backend/parts.h"

/* Binding strength, as C's grammar has it. */
enum precedence {
    PRECEDENCE_ANY,
    PRECEDENCE_CHOICE,
    PRECEDENCE_OR,
    PRECEDENCE_AND,
    PRECEDENCE_BIT_OR,
    PRECEDENCE_BIT_XOR,
    PRECEDENCE_BIT_AND,
    PRECEDENCE_EQUAL,
    PRECEDENCE_LESS,
    PRECEDENCE_SHIFT,
    PRECEDENCE_SUM,
    PRECEDENCE_PRODUCT,
    PRECEDENCE_UNARY,
    PRECEDENCE_PRIMARY,
};

struct spelling {
    const char *text;
    enum precedence precedence;
};

/* Functions that are printed before the kernels when something uses them: of the operation (BITS
   gives the base, CONVERT makes integers of floats), or of these. */
enum helper {
    HELPER_REPORT = OP_COUNT, /* a failed check */
    HELPER_MIN_VECTOR,        /* and the next: of floats */
    HELPER_MAX_VECTOR,
    HELPER_ONE_NAN, /* of a narrow base: a number as it is, of NaNs the one */
    HELPER_HALVES,  /* and those after: ADD, SUB and MUL of a narrow base */
    HELPER_HALVES_END = HELPER_HALVES + OP_MUL - OP_ADD,
    HELPER_ATOMIC, /* and the next: by enum ir_atomic, to the base of the element, in the target_space */
    HELPER_COUNT = HELPER_ATOMIC + ATOMIC_COUNT
};

struct printer;

enum language { LANGUAGE_C, LANGUAGE_OPENCL, LANGUAGE_CUDA, LANGUAGE_COUNT };

/* The hardware's conversions of floats of 16 bits, in place of those by their bits: note [conversions] in helpers.c. */
struct conversion {
    const char *guard; /* where the language has it: what #if asks; "": everywhere; NULL: nowhere */
    const char *body;  /* of the function of x */
};

/* note [approximations]
   In a kernel `with approximate`, and with --approximate in all kernels, functions of floats are printed as the
   language's fast functions, where it has them; everything else is printed as without. Here, and not earlier,
   as no other stage computes with them: the folder, the host and the interpreter give what they gave. */

struct dialect {
    enum language language; /* of which the rows of functions have a column */
    unsigned where;         /* enum quirk_where: what its compilers get wrong */
    const char *types[BASE_COUNT];
    const char *byte;                         /* a bool in memory */
    const char *spaces[TARGET_SPACE_COUNT];   /* of a declaration, by enum target_space, with a space after */
    const char *pointees[TARGET_SPACE_COUNT]; /* of what a pointer points to */
    const char *restrict_word;
    const char *suffix_i64, *suffix_u64;
    struct spelling hardware[TARGET_HARDWARE_COUNT];
    bool has_min_max;                  /* min and max of int, uint, i64, u64 */
    bool has_f_suffix;                 /* sqrtf, not sqrt, of a float */
    const char *function_head;         /* before a helper's type */
    const char *approximate[OP_COUNT]; /* note [approximations]: the function of floats; NULL: none */
    struct conversion float_of_f16, f16_of_float, bf16_of_float;
    const char
        *half_arithmetic[BASE_COUNT]; /* of a narrow base: #if asks it; NULL: note [halves] in map/statements.c */
    const char *bits[BASE_COUNT];     /* the function that gives the same bits as that base; NULL: by a union */
    bool orders_zeros;                /* fmin and fmax take -0 to be below 0 */
    const char *infinity[2];          /* float, double */
    bool has_rsqrt;                   /* else 1 / sqrt(x) */
    const char *block_barrier, *global_barrier, *warp_barrier; /* global: of a block, for global memory too */
    const char *shuffle[TARGET_EXCHANGE_COUNT], *ballot;       /* up to their first argument; only where warps are */
    bool loads_wide;                 /* fcl_load_… of the head: note [loads by vectors] in own_places.c */
    const char *fence, *block_fence; /* seen by all blocks; by the threads of this one */
    const char *pause;               /* before a thread looks again for what another block writes; NULL: none */
    /* How words of 32 or 64 bits in global memory are read and written that other blocks write and read meanwhile: note
       [scope] in cuda_family.h. Up to the address; NULL: through a volatile pointer, as what is no word. */
    const char *see, *show;
    /* The language's own function for an atomic, or NULL; `&a[i]`, the expected and the new value are its arguments. */
    const char *(*atomic)(enum ir_atomic atomic, enum base base);
    const char *failed_head;   /* of the function that reports a failed check; NULL: function_head */
    bool has_generic_atomics;  /* GCC's built-in functions instead: they take elements of any type */
    const char *unroll, *roll; /* lines before loops that are to be unrolled, or not; NULL: none */
    const char *vectors[TARGET_VECTORS_COUNT];
    bool has_own_vectors;        /* types and functions of vectors are what the head makes: OpenCL's, after `fcl_` */
    const char *alignment;       /* printf format with the bytes */
    bool alignment_is_before;    /* …before the type, else after the name */
    bool has_scalar_mathematics; /* its library's functions take one number at a time: those of mathematics.h */
    bool is_plain;               /* no helpers and no wrapping spelt out: the dump, comments */
    void (*kernel_head)(struct printer *p, const struct target_kernel *kernel);
    void (*kernel_tail)(struct printer *p, const struct target_kernel *kernel); /* may be NULL */
    const char *head;     /* parts: what stands before helpers and kernels, */
    const char *matrices; /* and behind the helpers; NULL: no matrix unit. In its parts these words are replaced, */
    const struct text_word *products[BASE_COUNT]; /* where elements are of that type */
};
extern const struct dialect dialect_c, dialect_dump;

struct printer {
    struct text *out;
    const struct dialect *dialect;
    int indent;
    const struct sources *lines;                        /* note [lines] in print.c; or NULL */
    struct place place;                                 /* that was named last; no source: none in this kernel */
    bool helpers[HELPER_COUNT][BASE_COUNT][BASE_COUNT]; /* used: [helper][its base][CONVERT: from] */
    bool guarded[OP_COUNT][BASE_COUNT][2]; /* functions used that are guarded, of a scalar and of a vector */
    part_set parts;                        /* that what is printed wants, */
    part_set products[BASE_COUNT];         /* and those of matrix units, by the type of what they multiply */
    quirk_set quirks;                      /* that what is printed would meet */
    int warp_threads;                      /* of the last kernel */
    bool is_approximate;                   /* this kernel has what is fast: note [approximations] */
    bool is_loop;                          /* this kernel is of the loop mapping, */
    bool is_by_vectors;                    /* and what is printed in a loop that may go by vectors: conditions.c */
    bool is_unrolled;                      /* the innermost such loop is unrolled: conditions.c */
    bool are_shared;                       /* helpers: others in the same C file may have defined them, */
    bool are_first;                        /* or will, once more */
    bool points_to_shared;                 /* this kernel's shared arrays have pointers: QUIRK_SHARED_ADDRESSES */
};

static inline void use_part(struct printer *p, bool is_used, enum part part) {
    p->parts |= is_used ? part_bit(part) : 0;
}

/* words.c */
void print_indent(struct printer *p);
const char *memory_type(const struct dialect *dialect, enum base base);
const char *vector_type(struct printer *p, enum base base);
const char *vector_prefix(const struct printer *p); /* of functions of vectors */
/* `helper`: of enum helper, or an operation */
const char *helper_name(struct arena *arena, unsigned helper, enum base base, enum base from);
void use_narrow_conversion(struct printer *p, enum base to, enum base from);
void print_constant(struct printer *p, enum base base, union scalar value, enum precedence least);

/* conditions.c */
/* Prints a condition of several so that vectors can be made of it; false: it is to be as any other. */
bool print_condition(struct printer *p, const struct target_expr *expr, enum precedence least);

/* expression.c */
void print_expr(struct printer *p, const struct target_expr *expr, enum precedence least);
/* `array[index]`, or the same through a volatile pointer */
void print_element(struct printer *p, const struct target_array *array, const struct target_expr *index,
                   bool is_volatile);
/* Are the array's elements words that the language has `see` and `show` for? */
bool has_words(const struct printer *p, const struct target_array *array);
static inline bool is_begin(const struct target_expr *index) {
    return index->kind == TARGET_EXPR_CONSTANT && index->constant.integer == 0;
}
/* `array + index`, or `array` where the index is_begin */
void print_address(struct printer *p, const struct target_array *array, const struct target_expr *index);
/* Prints a scalar or a vector as a vector. */
void print_widened(struct printer *p, const struct target_expr *x);
/* Stores TARGET_LANES elements that follow one another in an array whose elements are scalars. */
void print_vector_store(struct printer *p, const struct target_statement *store);

/* helpers.c */
void print_helpers(struct printer *p);

/* mathematics.c */
bool mathematics_has(enum ir_op op, enum base base, bool is_by_vectors);
void use_mathematics(struct printer *p, enum ir_op op, enum base base, bool is_by_vectors);
void print_mathematics(struct printer *p);

/* atomics.c */
void print_atomic(struct printer *p, const struct target_statement *atomic);
void print_check(struct printer *p, const struct target_statement *check);
void print_report_helper(struct printer *p);
void print_atomic_helper(struct printer *p, enum ir_atomic atomic, enum base base, enum target_space space);

/* print.c */
void print_kernel(struct printer *p, const struct target_kernel *kernel);
/* Prints the parameters of a kernel, `const T *restrict name` or `T name`, and then `more`. A long list has one
   parameter to a line. */
void print_parameters(struct printer *p, const struct target_kernel *kernel, const char *more);

/* contract.c: the comment above a kernel */
void print_contract(struct printer *p, const struct target_kernel *kernel, const char *users);

#endif
