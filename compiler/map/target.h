/* The target IR: device kernels as imperative trees, after levels have become loops over hardware indices and before
   any language's spelling. The backends print it, the host reads the launch contract from it. */
#ifndef FCL_MAP_TARGET_H
#define FCL_MAP_TARGET_H

#include "ir/ir.h"
#include "ir/machine.h"
#include "map/quirks/quirks.h"

/* ---- names ---- */

/* Names are unique where they are visible, and no word of any target language (map/names.c). */
struct target_variable {
    const char *name;
    enum base base;
    bool is_mutable;
    bool is_lock; /* whether a place's lock is taken: note [exclusion] in elaborate/update.c */
    int lanes;    /* 0, or TARGET_LANES: it is a vector */
};

enum target_space {
    TARGET_SPACE_GLOBAL,
    TARGET_SPACE_SHARED, /* OpenCL: local */
    TARGET_SPACE_PRIVATE,
    TARGET_SPACE_TABLE, /* constants in the program; OpenCL: constant */
    TARGET_SPACE_COUNT
};

enum { TARGET_CAPACITY_DYNAMIC = -1 };

enum { TARGET_LANES = CPU_LANES }; /* of a vector, note [registers] */

/* Anything that can be indexed. */
struct target_array {
    const char *name;
    enum base element;
    enum target_space space;
    bool is_const;
    const union scalar *constants; /* TABLE */
    int64_t capacity;              /* 0: not known; TARGET_CAPACITY_DYNAMIC: shared memory sized by the launch */
    int alignment;                 /* bytes; 0: the element's own */
    int lanes;                     /* 0, or TARGET_LANES: its elements are held in vectors, and indices count these */
    struct target_expr *stride;    /* elements from one to the next (ulong); NULL: 1 */
    bool is_packed;                /* PRIVATE: of 16 bits, two in a register where the target can */
    bool is_brief;                 /* PRIVATE: what an expression would hold in registers anyway, note [ahead] */
};

/* ---- expressions ---- */

enum target_hardware { /* uint values, except in the loop mapping, where the two block ones are i64 */
                       TARGET_BLOCK_ID,
                       TARGET_BLOCK_COUNT,
                       TARGET_THREAD_ID, /* in the block */
                       TARGET_THREAD_COUNT,
                       TARGET_GLOBAL_THREAD_ID,
                       TARGET_GLOBAL_THREAD_COUNT,
                       TARGET_WARP_ID, /* in the block */
                       TARGET_WARP_COUNT,
                       TARGET_GLOBAL_WARP_ID,
                       TARGET_GLOBAL_WARP_COUNT,
                       TARGET_LANE_ID,
                       TARGET_LANE_NUMBERS, /* 0, 1, …: a vector of ints, note [calls] in vectors.c */
                       TARGET_LANE_COUNT, /* of these, where it is the printed text that says how many: note [width] */
                       TARGET_HARDWARE_COUNT
};

enum target_expr_kind {
    TARGET_EXPR_CONSTANT,
    TARGET_EXPR_VARIABLE,
    TARGET_EXPR_OPERATION, /* op operands */
    TARGET_EXPR_ELEMENT,   /* array[operands[0]] */
    TARGET_EXPR_HARDWARE,
    TARGET_EXPR_KEPT,    /* operands[0], and the compiler is not to know how it is made: note [kept places] */
    TARGET_EXPR_ALIGNED, /* does array, in global memory, begin at a multiple of 16 bytes? */
};
struct target_expr {
    enum target_expr_kind kind;
    enum base base;
    int64_t low, high; /* as in struct ir_value */
    unsigned size;     /* operations and loads in the tree */
    union scalar constant;
    struct target_variable *variable;
    enum ir_op op;
    bool wraps;   /* OPERATION on integers: may leave the range of its base and must then wrap */
    bool by_bits; /* EQ NE: QUIRK_CLAMPED_EQUALITIES */
    struct target_expr *operands[3];
    struct target_array *array;
    bool is_volatile; /* ELEMENT */
    bool is_early;    /* ELEMENT: before the next barrier, as it stands */
    int nth, of;      /* ELEMENT: early, the n-th, from 1 on, of so many in one load; 0: alone */
    bool is_guarded;  /* ELEMENT: QUIRK_GUARDED */
    bool is_apart;    /* ELEMENT: QUIRK_CHOSEN_LOADS */
    int lanes;        /* 0, or TARGET_LANES: it is a vector, of an ELEMENT with those that follow */
    enum target_hardware hardware;
};

/* ---- statements ---- */

struct target_statement;
struct target_block {
    VEC(struct target_statement *) statements;
};

enum target_statement_kind {
    TARGET_DECLARE, /* variable = value; value NULL: assigned later */
    TARGET_ASSIGN,  /* variable = value */
    TARGET_STORE,   /* array[index] = value */
    TARGET_ATOMIC,  /* variable (or NULL) = array[index] as it was, which becomes what `atomic` says of
                      value (and expected) */
    TARGET_FENCE,
    TARGET_SHUFFLE,         /* variable = value as another lane has it; index NULL: the ballot of the lanes' values */
    TARGET_COPY,            /* array[index …] = value, an element, and those that follow, together by threads whose
                               number `limit` says: note [copies by 16 bytes]; or by this thread: note [copies ahead] */
    TARGET_END_COPIES,      /* a group of them ends, and all but the last `copied` are waited for; -1: none */
    TARGET_NOW,             /* variable = 0, which is known here only: what is computed with it is computed here */
    TARGET_MMA,             /* results = the lane's part of a product of matrices, of `operands` */
    TARGET_HOLD_ROWS,       /* array[index …] = rows from the element `value` on, of matrices */
    TARGET_CHECK,           /* unless `value`: report `site` with the numbers `index` and `limit` to `array`, or
                               leave it in `variable` */
    TARGET_DECLARE_ARRAY,   /* array comes to life in this scope */
    TARGET_DECLARE_POINTER, /* array is the part of `from` that begins at its element `index` */
    TARGET_FOR,             /* for (variable = value; variable < limit; variable += step) body */
    TARGET_WHILE,           /* while (value) body; value NULL: until left */
    TARGET_LEAVE_UNLESS,    /* if (!value) break */
    TARGET_IF,              /* if (value) body else other */
    TARGET_BLOCK_BARRIER,
    TARGET_WARP_BARRIER,
};
/* Which lane a SHUFFLE reads from; where that is not in the warp, its own. */
enum target_exchange {
    TARGET_EXCHANGE_AT,
    TARGET_EXCHANGE_UP,
    TARGET_EXCHANGE_DOWN,
    TARGET_EXCHANGE_XOR,
    TARGET_EXCHANGE_MATCH, /* not one: the lanes alike in the bits that index says */
    TARGET_EXCHANGE_COUNT
};

/* How a thread copies elements next to each other: note [pieces ahead] in copies.c. */
enum target_piece {
    TARGET_PIECE_ASKS,    /* at once, if that may be */
    TARGET_PIECE_ALIGNED, /* at once */
    TARGET_PIECE_APART,   /* one by one */
    TARGET_PIECE_OWN,     /* at once, from or to registers: note [narrow elements] in copies.c */
    TARGET_PIECE_COUNT
};

/* Orders to a compiler that makes vectors of a loop's iterations. */
enum target_vectors {
    TARGET_VECTORS_ANY,
    TARGET_VECTORS_WANTED,       /* iterations are independent and simple */
    TARGET_VECTORS_WANTED_EIGHT, /* the same, eight at a time: note [restarted indices] */
    TARGET_VECTORS_EIGHT,        /* if any, of eight */
    TARGET_VECTORS_NONE,         /* LLVM makes wrong ones: notes [steps that wrap] and [short loops] */
    TARGET_VECTORS_WITHIN,       /* none: each iteration goes through memory of its own, and vectors would gather */
    TARGET_VECTORS_COUNT
};

enum { TARGET_SELECTED = 8 }; /* arrays, at most */

/* The parts of a loop that keeps some elements of arrays, at places before `end` and `length`: note [selections]. */
struct target_selection {
    struct target_variable *next;
    struct target_array *ones, *from[TARGET_SELECTED], *to[TARGET_SELECTED];
    size_t count;
    const struct target_expr *end, *length;
};

/* After so many elements so many are left out; none: 0. */
struct target_padding {
    int64_t row, elements;
};

struct target_statement {
    enum target_statement_kind kind;
    struct span span; /* of the instruction that it was made of or belongs to, in the user's file; or none */
    enum target_exchange exchange; /* SHUFFLE: lane `index`, or that of this lane - index, + index, ^ index */
    struct target_variable *variable;
    struct target_array *array, *from;
    struct target_expr *value, *index, *limit, *step;
    struct target_expr *expected;  /* ATOMIC: to be exchanged for value */
    struct target_expr **operands; /* MMA: operand_count of them */
    size_t operand_count;
    struct target_expr *
        *rows; /* MMA: NULL, or elements, of the first matrix perhaps NULL: note [rows of matrices] in ir.h */
    struct target_expr **held;         /* MMA: NULL, or where its matrices' rows are held: note [rows held] in kept.c */
    struct target_variable **results;  /* MMA: MMA_SUMS */
    int64_t copied;                    /* COPY: elements, a multiple of; END_COPIES: groups */
    int threads;                       /* COPY: these; 0: by this thread */
    struct target_padding paddings[2]; /* COPY: of where to and from */
    enum target_piece piece;           /* COPY: by this thread, of more than one element */
    bool are_columns;                  /* HOLD_ROWS: the matrix's columns are wanted; MMA: rows[1] is of columns */
    enum ir_atomic atomic;
    uint32_t site; /* CHECK: from 1 */
    struct target_block body, other;
    bool unroll;                 /* FOR: to be unrolled completely */
    int unroll_by;               /* FOR: but only by so many; 0: by all */
    bool is_by_vectors;          /* FOR: its conditions are computed whole: note [conditions] in backend/conditions.c */
    bool is_short;               /* FOR: of few iterations, not to be unrolled */
    bool is_ordered;             /* FOR WHILE: QUIRK_ORDERED_LOOPS */
    bool is_update;              /* FOR: QUIRK_ROLLED_UPDATES */
    bool is_strided;             /* FOR: QUIRK_STRIDED_VECTORS */
    enum target_vectors vectors; /* FOR */
    struct target_selection *selection; /* FOR: what it is, or NULL */
    bool is_global;   /* BLOCK_BARRIER: orders global memory too, not only shared; FENCE: for all blocks */
    bool is_used;     /* NOW */
    bool is_pause;    /* FENCE: none, but a moment's wait */
    bool is_volatile; /* STORE */
    bool may_meet;    /* STORE, SIMT: note [meeting stores] in ir.h */
    int of_pair;      /* STORE: the first and the second, or 0: ir/passes/store_pairs.c */
    int lanes;        /* STORE: 0, or TARGET_LANES: of a vector */
};

static inline bool target_is_scalar(const struct target_statement *loop) {
    return loop->vectors >= TARGET_VECTORS_NONE;
}

/* ---- kernels ---- */

enum target_parameter_kind {
    TARGET_PARAMETER_SCALAR,  /* `value`, passed by value (a bool as one byte) */
    TARGET_PARAMETER_BUFFER,  /* `buffer` */
    TARGET_PARAMETER_LOCAL,   /* OpenCL local memory: `capacity` elements */
    TARGET_PARAMETER_REPORT,  /* three zeroed ints of the host's, for the first failed check: its site, two numbers; of
                                 a kernel that `only_notes` one, for the site of a failed check */
    TARGET_PARAMETER_SCRATCH, /* global memory the host provides: `capacity` elements for each `unit` of the launch; see
                                 target_units */
};
struct target_parameter {
    enum target_parameter_kind kind;
    const char *name;
    enum base base; /* of the scalar, or of one element */
    struct ir_value *value;
    struct ir_buffer *buffer;
    bool is_const;             /* BUFFER: only read */
    struct ir_value *capacity; /* LOCAL, SCRATCH: elements: a constant or a host value */
    enum level_value unit;     /* SCRATCH: LEVEL_BLOCK, LEVEL_WARP or LEVEL_THREAD */
    bool is_met;               /* SCRATCH: threads read there what others have written */
    struct target_variable *variable;
    struct target_array *array;
    struct target_expr *length; /* elements, in the names of host values; for comments. NULL: not known */
};

/* A part of dynamic shared memory: `capacity` × `element_bytes` × `copies` bytes, rounded up to 16. */
struct target_dynamic {
    struct ir_value *capacity;
    size_t element_bytes, copies;
    struct target_expr *length; /* for comments */
};

enum target_mapping { TARGET_SIMT, TARGET_LOOP };

struct target_kernel {
    const char *name;
    bool is_part;                        /* its name is the kernel's and more, as it is not its only launch */
    const struct target_kernel *same;    /* one of the same text, which stands for this one and names it; or NULL */
    const struct ir_instruction *forall; /* what it came from */
    enum target_mapping mapping;
    VEC(struct target_parameter) parameters;
    struct ir_value *count;         /* iterations: a constant or a host value; with 0 no launch is needed */
    struct target_expr *count_text; /* for comments */
    enum level_value unit;          /* LEVEL_BLOCK, LEVEL_WARP or LEVEL_THREAD: who does one iteration */
    bool is_exact;                  /* neither more nor fewer threads than block_threads */
    int block_threads;              /* to launch with; also the most that may be (1 in the loop mapping) */
    int blocks_together;            /* that a multiprocessor is to hold at least, which bounds a
                                       thread's registers; 0: the compiler's affair */
    int turns;                      /* of a thread, one after the other, where there are enough: note [turns]; 0: one */
    int worth;                      /* LOOP, LEVEL_THREAD: iterations that are worth a block: note [worth] */
    bool approximates;              /* note [approximations] in backend/print.h */
    bool needs_warps;               /* threads per block must be a multiple of the warp's */
    int warp_threads;
    bool uses_double;
    bool uses_atomic64;
    bool only_notes;        /* note [noted checks] in lower.c: the host need not look before it launches the next */
    quirk_set quirks;       /* that its code would meet */
    bool has_scalar_loops;  /* SIMT: a loop of a thread is TARGET_VECTORS_NONE (the loop mapping need not say so) */
    int64_t private_bytes;  /* SIMT: a thread's arrays, all of them; some may share a place, or be registers */
    int64_t register_bytes; /* SIMT: what they take at a time */
    int64_t largest_bytes;  /* SIMT: of the largest of them */
    int64_t static_shared_bytes;     /* declared in the kernel */
    int64_t wanted_shared_bytes;     /* SIMT: more than there may be, so that arrays lie in global memory; or 0 */
    const struct ir_buffer *outside; /* the largest of these arrays */
    int64_t dynamic_fixed_bytes; /* CUDA: static memory too large to be declared so, at the start of the dynamic one */
    VEC(struct target_dynamic) dynamic;  /* CUDA: follow the fixed part; OpenCL has LOCAL parameters instead */
    const struct barrier_plan *barriers; /* SIMT: see target_barrier_before */
    struct target_block body;
};

/* Where barriers stand among the instructions of the IR, for who counts them. */
enum target_meeting { TARGET_MEETING_NONE, TARGET_MEETING_WARP, TARGET_MEETING_BLOCK };
enum target_meeting target_barrier_before(const struct target_kernel *kernel, const struct ir_instruction *instruction);
enum target_meeting target_barrier_at_end(const struct target_kernel *kernel, const struct ir_region *region);

struct target_program {
    const struct ir_kernel *kernel;
    VEC(struct target_kernel *) kernels; /* in the order of their FORALLs */
    struct map *slots;                   /* the ir_buffers that are, as keys: note [slots] in ir.h */
};

/* Dynamic shared bytes behind all arrays: where one is empty, --check reads a first element that it does not have
   (elaborate/check.c). */
int64_t target_spare_bytes(const struct target_kernel *kernel);
/* All that a launch must ask for; `value_of` gives a host value's value. */
typedef int64_t target_value_of(void *context, const struct ir_value *value);
int64_t target_dynamic_bytes(const struct target_kernel *kernel, target_value_of *value_of, void *context);

/* True if the kernel, or any kernel of the program, has checks to report. */
bool target_reports(const struct target_kernel *kernel);
bool target_any_reports(const struct target_program *program);
/* The host looks after each of the launches that report; else when it next waits. */
bool target_ends_launches(const struct target_program *program);
/* True if each unit of a launch has memory of its own in a parameter; and the number of these units in a block. */
bool target_has_scratch(const struct target_kernel *kernel);
int target_units(const struct target_kernel *kernel, enum level_value unit);
/* The first kernel that has arrays outside of shared memory, or NULL. */
const struct target_kernel *target_outside(const struct target_program *program);
/* The kernel made from that FORALL, or NULL. */
const struct target_kernel *target_kernel_of(const struct target_program *program, const struct ir_instruction *forall);

/* Bytes of one element in memory. */
size_t target_element_bytes(enum base base);

#endif
