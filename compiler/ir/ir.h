/* The IR: one FCL kernel after elaboration. Scalars in single assignment, buffers in four
   memories, structured control flow whose parallel loops still say their levels. There are no
   arrays, closures, tuples or barriers here: a barrier is implied where one parallel loop reads
   what another stored, and the mapping places it.

   note [regions and ambients]
   Every region runs at a level, its ambient. The outermost region of a kernel runs at grid: that
   is the host. A FORALL (outer, inner) inside a region at `outer` shares its iterations out over
   the inner-units of one outer-unit and its body runs at `inner`. At an ambient above thread a
   scalar has one value for all threads of the unit (all compute it alike). Stores occur at ambient
   thread only; so all control flow around a barrier is uniform by construction (`ir_verify`
   asserts it).

   note [single assignment of buffers]
   A buffer with `rewritten` false is written by the loops that follow its ALLOCATE and read only
   afterwards, each place at most once written (twice by a scatter, whose second loop has stores
   that say so): loads from it are pure expressions. Inputs are such buffers too. A `rewritten`
   buffer (the two halves of a dynamic while; what atomics change) is written and read in turns.

   note [copies ahead]
   A `rewritten` buffer with `stages` holds what as many steps of a block's loop load, one behind the
   other. A store to it may take effect as late as the fence behind which the element is read: such fences name the
   buffer. The stores since the last such fence are a group. The fence waits for all groups but the last `stages` - 2,
   for all of one or two stages; a fence `among` threads waits for none. A stage is read between two fences behind which
   no store is to it, so that loops need no other barriers for the buffer.

   note [tickets]
   A FORALL from grid to block whose `buffer` is set takes its iterations in the order in which
   blocks come for them: each draws the next number from that counter. So whoever does iteration i
   knows that all before i have been begun by blocks that run or are done, and may wait for them
   (lookback). */
#ifndef FCL_IR_IR_H
#define FCL_IR_IR_H

#include "support/diag.h"
#include "support/fatal.h"
#include "support/source.h"
#include "support/symbol.h"
#include "support/text.h"
#include "support/vec.h"
#include "types/base.h"
#include "types/type.h" /* enum level_value; the type of results */

/* ---- operations on scalars ---- */

enum ir_op {
#define OP(id, ...) OP_##id,
#include "ir/ops.def"
#undef OP
    OP_COUNT
};
enum ir_wraps { FITS, WRAPS };
enum ir_result_base { RESULT_SAME, RESULT_BOOL, RESULT_I32, RESULT_GIVEN };
enum ir_cost { COST_CHEAP, COST_SHORT, COST_LONG };
/* The kinds of lanes, of 32 bits, of which an operation takes vectors. */
enum ir_lanes {
    LANES_NONE,
    LANES_NUMBERS,
    LANES_TRUTH,
    LANES_BITS,     /* integers and truth values */
    LANES_DIVISION, /* numbers, unless the divisor may be 0 */
    LANES_FLOATS,
    LANES_CALL, /* floats; a function of OpenCL's library (not sin, cos and tan: QUIRK_VECTORS_OF_LARGE) */
    LANES_OURS, /* the same, and in C one of ours: note [mathematics] */
    LANES_OWN,  /* map/vectors.c knows */
};
/* A row of ops.def, without what single stages make of it. */
struct ir_op_info {
    const char *name;
    int arity;
    enum commutes commutes;
    enum ir_wraps wraps; /* integers */
    enum ir_result_base result;
    enum ir_cost cost;
    enum ir_lanes lanes;
};
extern const struct ir_op_info ir_op_info[OP_COUNT];
static inline bool ir_op_is_call(enum ir_op op) {
    return ir_op_info[op].lanes == LANES_CALL || ir_op_info[op].lanes == LANES_OURS;
}

/* ---- values ---- */

struct ir_value {
    uint32_t id; /* unique in the kernel */
    enum base base;
    /* The bounds, inclusive, of an integer (or bool) value: the base's whole range when nothing is known. For U64
       values above INT64_MAX are not represented: `high` is then INT64_MAX and means unbounded. */
    int64_t low, high;
    bool is_constant;
    union scalar constant;
    struct ir_instruction *definition; /* NULL: constant, or a parameter of the kernel */
    struct ir_region *region; /* where it is in scope: its definition's region, the body of the loop whose index or
                                          carried value it is; NULL: everywhere (constants, kernel parameters) */
    const char *name;         /* a hint for printing, or NULL */
};
typedef VEC(struct ir_value *) ir_values;

/* ---- memory ---- */

enum { MOST_STAGES = 16 };

enum ir_memory {
    MEMORY_INPUT,   /* global: a parameter's array, never written */
    MEMORY_TABLE,   /* constants in the program's text: `constants` */
    MEMORY_OUTPUT,  /* global: a result, or an intermediate of a grid-level force */
    MEMORY_SHARED,  /* of a block; or of one warp when owner is LEVEL_WARP (each warp has its own) */
    MEMORY_PRIVATE, /* of a thread; allocated at block or warp, each thread's own in all of its loops (own_places.c) */
};
extern const char *const ir_memory_names[MEMORY_PRIVATE + 1];
struct ir_buffer {
    uint32_t id;
    enum ir_memory memory;
    enum level_value owner; /* SHARED: BLOCK or WARP; PRIVATE: THREAD; else GRID */
    enum base element;
    struct ir_value *capacity;     /* elements; a constant, or a value of the host at its launch; NULL for inputs */
    bool rewritten;                /* see note [single assignment of buffers] */
    bool is_zeroed;                /* OUTPUT: all bytes 0 when it comes to life */
    bool is_said;                  /* OUTPUT: one block of a launch stores its only element, once: note [slots] */
    bool is_result;                /* OUTPUT: handed to the caller */
    bool is_swapped;               /* OUTPUT: a SWAP gives it other memory, which `capacity` says nothing of */
    bool is_plain;                 /* by `force`, of what could be read without it */
    bool of_host;                  /* TABLE: in the host's code, which alone reads it */
    bool is_packed;                /* PRIVATE: of 16 bits, two in a register */
    bool has_pairs;                /* SHARED: of which two are stored at a time: note [stores of pairs] */
    int stages;                    /* SHARED: as note [copies ahead] has it; 0: it is none of these */
    const union scalar *constants; /* TABLE: of the base type `element`, as many as the capacity says */
    const char *name;
    struct span span; /* the `force` */
};

static inline bool ir_is_constant_memory(const struct ir_buffer *buffer) {
    return buffer->memory == MEMORY_INPUT || buffer->memory == MEMORY_TABLE;
}

/* ---- instructions ---- */

/* note [meeting stores]
   Where several threads store to one place at a time, as the pairs of a scatter may, one of the
   values stays, and it is whole: a compiler must not split such a store, nor make a wider one of it.
   On GPUs these stores are volatile, which CUDA treats as relaxed ones (PTX ISA, memory consistency
   model), and which is the nearest that OpenCL 1.2 has. On processors they are ordinary ones, so
   that loops go by vectors: processors and their compilers store an element at once. */

/* note [fragments]
   The product of a matrix of 16 × 8 p and one of 8 p × 8, added to one of 16 × 8, where a word of 32 bits has p
   elements of the first two. A lane has four words of the first, two of the second and four elements of the third:
   these elements are the operands. It gets four elements of the result. In lane l, with g = l / 4 and
   t = l % 4, they are
     of the first:  (g, p t) … (g, p t + p - 1), (g + 8, p t) …, and the same at columns p t + 4 p …
     of the second: (p t, g) … (p t + p - 1, g), and the same at rows p t + 4 p …
     of the others: (g, 2 t) (g, 2 t + 1) (g + 8, 2 t) (g + 8, 2 t + 1)
   which is how mma.m16n8k8, k16 and k32 of PTX have them. Floats may be rounded to 11 bits before they are multiplied
   (tf32): who makes this instruction of them must be allowed to.

   note [rows of matrices]
   Where the second matrix is read from a buffer with stages, 16 bytes of elements next to each other at a multiple of
   16 bytes, an operand more is a place there: of lane l, where row l % 16 of the second begins; or, `by_columns`, where
   the 16 bytes number l / 8 % 2 of its column l % 8 begin. Elements of other than 16 bits are read by columns alone.
   Where the first matrix is read so, too, an operand before that is where the 16 bytes number l / 16 of its row l % 16
   begin. From these a GPU's lanes load what they need together (ldmatrix); the operands that stand for elements are the
   same. */
enum { MMA_SUMS = 4, MMA_PLACES = 2, MMA_MOST_PACKED = 4, MMA_MOST_OPERANDS = 6 * MMA_MOST_PACKED + MMA_SUMS };
/* How the elements of a product lie in lanes. */
struct mma_form {
    unsigned pack;          /* in a word */
    unsigned first, second; /* of the first matrix, and of the second: so many operands, which come first */
    unsigned operands;      /* those, and the sums */
    unsigned row;           /* in 16 bytes */
    int inner;              /* columns of the first matrix */
    enum base sum;          /* the type of the third, and of the result */
};
bool mma_has_form(enum base element);
struct mma_form mma_form(enum base element);

enum ir_kind {
    IR_OPERATION, /* results[0] = op operands */
    IR_LOAD,      /* results[0] = buffer[operands[0]] */
    IR_STORE,     /* buffer[operands[0]] = operands[1]; ambient thread */
    IR_ATOMIC,    /* results[0] = buffer[operands[0]] as it was; it becomes what `atomic` says,
                  undivided; ambient thread */
    IR_FENCE,     /* what this thread wrote before is seen by others before what it writes after;
                  ambient thread. Among the lanes of a warp (`outer`) these come here together. At ambient
                  block or warp: what all its threads did before it comes before what any of them does after.
                  With `outer` thread nothing is ordered: the thread waits a moment before it looks again */
    IR_SHUFFLE,   /* results[0] = operands[0] as lane operands[1] has it; all lanes of a warp come here
                   together; ambient thread */
    IR_BALLOT,    /* results[0] (ir_lanes_base): bit i is operands[0] of lane i; as SHUFFLE */
    IR_MATCH,     /* results[0] (the same): bit i says whether operands[0] & operands[1] is 0 in lane i as in
                    this one, or in neither; operands[1] is the same in all lanes; as SHUFFLE */
    IR_MMA,       /* results[0…3] = a lane's part of a product, note [fragments]; as SHUFFLE */
    IR_CHECK,     /* reports a failure unless operands[0]; operands[1] and [2] are the numbers of the message */
    IR_ALLOCATE,  /* buffer comes to life, contents undefined unless it is zeroed */
    IR_SWAP,      /* `buffer` and `other`, both OUTPUT, exchange their memory; ambient grid */
    IR_FORALL,    /* for parameters[0] (the index) < operands[0], shared out over `inner` units of an
                  `outer`; body regions[0]; no results */
    IR_FOR,       /* sequential: index parameters[0] < operands[0]; operands[1…] initial, parameters[1…] current,
                     regions[0]->yields next, results final values of what is carried */
    IR_WHILE, /* operands initial, parameters current; regions[0] yields the condition to go on, regions[1] the next */
    IR_IF,    /* operands[0] condition; regions[0] then, regions[1] else; their yields are the results */
};
extern const char *const ir_kind_names[IR_IF + 1]; /* OPERATION has that of its `op` instead */

/* The operation that an atomic does on the old value, of 32 or 64 bits. Arithmetic is for integers; ADD also for
   floats. */
enum ir_atomic {
    ATOMIC_ADD, /* by operands[1] */
    ATOMIC_MIN,
    ATOMIC_MAX,
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_EXCHANGE,         /* becomes operands[1]; also of floats */
    ATOMIC_COMPARE_EXCHANGE, /* becomes operands[2] if its bits are those of operands[1]; also of floats */
    ATOMIC_COUNT
};
extern const char *const ir_atomic_names[ATOMIC_COUNT];

/* The checks at run time, as rows of checks.def. */
enum ir_check {
#define CHECK(id, code, message, brief) CHECK_##id,
#include "ir/checks.def"
#undef CHECK
    CHECK_COUNT
};
struct ir_check_info {
    const char *name;
    enum diag_code code;
    const char *message; /* printf format of two long longs */
    const char *brief;   /* without numbers, where DEGREE_MEMORY has it; else NULL */
};
extern const struct ir_check_info ir_check_info[CHECK_COUNT];
/* How much is checked when it runs: docs/language.md, Checks. */
enum check_degree { DEGREE_NONE, DEGREE_MEMORY, DEGREE_ALL, DEGREE_COUNT };
/* A place in the program that can fail. */
struct ir_check_site {
    enum ir_check check;
    struct span span;
    struct span found; /* where span is a call of the prelude: the place there; or empty */
    bool is_contained; /* after a failure this launch reads nothing that was left undone: the host ends the run */
    bool is_noted;     /* no launch ends for it: note [noted checks] of map/lower.c */
};
/* The message when the place fails: a format with %lld for the two numbers, or without numbers where they are not
   kept. */
static inline const char *ir_check_text(const struct ir_check_site *site) {
    return site->is_noted ? ir_check_info[site->check].brief : ir_check_info[site->check].message;
}
/* The same where the host checks, which has the numbers in any case. */
static inline const char *ir_check_text_at_host(const struct ir_check_site *site) {
    return ir_check_info[site->check].message;
}

struct ir_region {
    uint32_t id;
    enum level_value ambient;
    VEC(struct ir_instruction *) instructions;
    ir_values yields;
    struct ir_instruction *owner; /* NULL: the kernel's outermost region */
    struct ir_region *parent; /* the region that the owner is in (known while the owner is still under construction) */
};

struct ir_instruction {
    enum ir_kind kind;
    struct span span;
    struct span users; /* with -g: the same, or where the user's file comes to it; or none */
    enum ir_op op;     /* OPERATION */
    bool no_wrap;      /* OPERATION add sub mul neg shl: ranges prove that it does not overflow its base */
    bool again;        /* LOAD STORE ATOMIC: of places that an earlier loop has stored to (scatter, and its check) */
    bool is_volatile;  /* LOAD STORE: of what other threads write or read at the same time; happens as it stands */
    bool marked;       /* scratch of the pass that runs */
    uint32_t site;     /* CHECK; LOAD by the host: index into the kernel's checks */
    struct ir_buffer *buffer;      /* LOAD STORE ATOMIC ALLOCATE SWAP; FORALL: see note [tickets], FENCE: see note
                                      [copies ahead], or NULL */
    enum level_value outer, inner; /* FORALL; inner < outer. FENCE: outer, whose threads */
    struct ir_value **operands;
    size_t operand_count;
    struct ir_value **results;
    size_t result_count;
    struct ir_value **parameters; /* loops: the index and what is carried */
    size_t parameter_count;
    struct ir_region *regions[2];
    struct ir_region *region; /* that it is in */
    union {                   /* what one kind alone has: by IR_PART */
        struct {              /* LOAD */
            bool is_early;    /* into registers, for what is behind barriers: see own_places.c */
            int nth, of;      /* early, the n-th, from 1 on, of so many in one load; 0: alone */
        } load;
        struct {                   /* STORE, ATOMIC */
            bool is_start;         /* STORE: of the array that an update starts from; note [updates] in reuse.c */
            bool may_meet;         /* STORE: as note [meeting stores] has it */
            int of_pair;           /* STORE: the first, before the second, as note [stores of pairs] has it; or 0 */
            enum ir_atomic atomic; /* ATOMIC */
        } store;
        struct {             /* IF */
            bool is_split;   /* the library's own: for a whole chunk, and for what is left */
            bool is_inside;  /* on where a loop's place lies: note [borders] in passes/split.c; its condition is
                                comparisons of places, joined by `and`, and its else-branch is right everywhere */
            bool is_asked;   /* the else-branch is the loop of the first with its checks: passes/ask_before.c */
            bool is_ranges;  /* the condition is whether a block is of the first of two ranges: join_launches.c */
            bool is_last;    /* one iteration of the launch takes the first branch: last_block.c */
            bool takes_both; /* each branch by some turn of a loop: what goes wrong in one goes wrong */
        } branch;
        struct {
            /* FOR (never FORALL): the C compiler should unroll it (private arrays are indexed by its
               index) */
            bool unroll;
            int threads;          /* FORALL from grid to block or warp: of each block; 0: as many as the kernel's */
            struct ir_value *all; /* FORALL: of a tile: elements of all tiles, as join_launches.c makes them; or NULL */
            bool is_lock; /* WHILE: until a place's lock is taken, of which what it carries tells; note [exclusion] in
                             elaborate/update.c */
        } loop;
        struct { /* SWAP */
            struct ir_buffer *other;
        } swap;
        struct { /* MMA */
            bool by_columns;
        } mma;
    } as;
};
/* A member of `as`. Builds under sanitisers stop where the instruction is of another kind. */
#define IR_PART(instruction, part) PART(instruction, part, IR_HAS_##part)
enum {
    IR_HAS_load = 1 << IR_LOAD,
    IR_HAS_store = 1 << IR_STORE | 1 << IR_ATOMIC,
    IR_HAS_branch = 1 << IR_IF,
    IR_HAS_loop = 1 << IR_FORALL | 1 << IR_FOR | 1 << IR_WHILE,
    IR_HAS_swap = 1 << IR_SWAP,
    IR_HAS_mma = 1 << IR_MMA
};

/* ---- kernels ---- */

/* The flat interface: one entry per scalar and per array component. */
enum ir_parameter_kind {
    IR_PARAMETER_SCALAR, /* value */
    IR_PARAMETER_LENGTH, /* value: an int, the extent of dimension `dimension` of array parameter `name` */
    IR_PARAMETER_BUFFER, /* buffer */
};
struct ir_parameter {
    enum ir_parameter_kind kind;
    const char *name;
    size_t argument;  /* which FCL parameter */
    size_t component; /* which scalar leaf of that argument, in order of appearance */
    int dimension;
    struct ir_value *value;
    struct ir_buffer *buffer;
};

/* The name of a dimension of an array of `rank`: length; rows, columns, extent, extent_3, … */
const char *ir_extent_name(struct arena *arena, size_t rank, size_t dimension);

/* A result, flattened like the parameters: one entry per scalar leaf of the result type. */
struct ir_result {
    bool is_array;
    struct ir_value *value;    /* scalar: a value of the outermost region; array: how many elements */
    struct ir_buffer *buffer;  /* array */
    struct ir_value **extents; /* array: of each dimension, outermost first */
    size_t rank;               /* array: how many these are */
};

/* How the compiler does an update of the program: in place, or with a copy for one of these reasons. */
enum ir_update_kind {
    UPDATE_IN_PLACE,
    UPDATE_COPIES_USED,   /* the array that it starts from, which is used afterwards: there */
    UPDATE_COPIES_RESULT, /* it is a result, too */
    UPDATE_COPIES_BRANCH, /* the update is done in one branch only */
    UPDATE_COPIES_APART,  /* below grid it is made within a step, and the old array is in use */
    UPDATE_COPIES_WORDS,  /* the components of its elements change together, packed into words */
    UPDATE_COPIES_NARROW, /* below grid its elements have less than 32 bits, and words of them are changed */
    UPDATE_COPIES_MANY,   /* its pairs are made of the array, and too many to be stored before, as far as is known */
    UPDATE_COPIES_FEW,    /* its places are few, and the pairs many: on a CPU there are several of each */
    UPDATE_COPIES_INPUT,  /* a parameter, which is never written */
    UPDATE_COPIES_ROOM,   /* the array's memory is not the result's, as of another size */
};
struct ir_update {
    enum ir_update_kind kind;
    struct span update;
    const struct ir_instruction *use; /* COPIES_USED */
};

struct ir_kernel {
    symbol name;
    struct span span;
    const struct source *source;
    VEC(struct ir_parameter) parameters;
    struct type **parameter_types; /* FCL's, ground */
    size_t parameter_type_count;
    struct type *result_type; /* FCL's, ground */
    VEC(struct ir_result) results;
    struct ir_region *body;          /* ambient grid: the host */
    VEC(struct ir_buffer *) buffers; /* all of them, parameters included */
    VEC(struct ir_check_site) checks;
    struct ir_buffer *trace;       /* where it leaves records for the host to print; or NULL */
    VEC(const char *) traces;      /* how a record of each kind is printed: fcl_trace says how */
    VEC(struct ir_update) updated; /* found by the elaborator and the passes reuse and in-place */
    VEC(struct span) rereads;      /* where an array is stored for nothing; found by the pass rereads */
    uint32_t value_count, region_count;
    uint32_t changes;                     /* that the pass which runs has made */
    int block_size, warp_size, grid_size; /* as #BlockSize … were evaluated */
    bool has_warps;    /* a warp has as many threads; else it is one, which goes by its elements in turn */
    bool is_cpu;       /* as #IsCpu was */
    bool contracts;    /* products and sums of floats may be rounded once; see contract.c */
    bool approximates; /* note [approximations] in backend/print.h */
};

struct ir_program {
    VEC(struct ir_kernel *) kernels; /* in source order */
};

/* Adds to what is known of the kernel's updates. Where one is there more than once, as in a branch for whole
   chunks and one for the last, and copies in one of these, it does; and the first reason counts. */
void ir_note_update(struct arena *arena, struct ir_kernel *kernel, struct ir_update update);

/* Readable form, held by golden tests (`--dump=ir`). */
void ir_print(struct text *out, const struct ir_kernel *kernel);

/* Checks scopes, types, levels, uniformity; NULL when all is well, else what is wrong (an internal error). */
const char *ir_verify(struct arena *arena, const struct ir_kernel *kernel);
/* The same, and the place of the instruction that it is about; or none. */
const char *ir_verify_at(struct arena *arena, const struct ir_kernel *kernel, struct span *where);

/* A kernel's parts are made here: the builder and the passes make no value, region or instruction otherwise. Values and
   regions get the kernel's next number. An instruction is in no region yet: the caller puts it there. */
struct ir_value *ir_new_value(struct arena *arena, struct ir_kernel *kernel, enum base base, struct ir_region *region,
                              int64_t low, int64_t high);
struct ir_region *ir_new_region(struct arena *arena, struct ir_kernel *kernel, enum level_value ambient,
                                struct ir_instruction *owner, struct ir_region *parent);
/* Operands, results and parameters are the caller's to set. */
struct ir_instruction *ir_new_instruction(struct arena *arena, enum ir_kind kind, size_t operands, size_t results,
                                          size_t parameters);
/* A copy of an instruction with one result and no region, of the same operands, for that region. */
struct ir_instruction *ir_copy_of(struct arena *arena, struct ir_kernel *kernel, const struct ir_instruction *from,
                                  struct ir_region *region);

static inline bool ir_is_access(const struct ir_instruction *instruction) {
    return instruction->kind == IR_LOAD || instruction->kind == IR_STORE;
}
static inline bool ir_is_loop(const struct ir_instruction *instruction) {
    return instruction->kind == IR_FORALL || instruction->kind == IR_FOR || instruction->kind == IR_WHILE;
}
/* Is there an instruction of that kind in its regions? */
bool ir_has(const struct ir_instruction *instruction, enum ir_kind kind);
/* True if the instruction has a check within that ends the run when it fails. A noted check does not end it. */
bool ir_may_end(const struct ir_kernel *kernel, const struct ir_instruction *instruction);
bool ir_uses(const struct ir_kernel *kernel, enum ir_kind kind);
/* Does it read or write memory, tables aside, or hold something that does? */
bool ir_touches_memory(const struct ir_instruction *instruction);
/* An operation of an instruction or two: better done than jumped over. */
bool ir_is_cheap(const struct ir_instruction *instruction);
/* The same value, or constants of the same bits, whatever their bases. */
bool ir_is_same(const struct ir_value *x, const struct ir_value *y);
/* Is `region` the same as or inside `ancestor`? */
bool ir_region_inside(const struct ir_region *region, const struct ir_region *ancestor);
/* True if `region` may use the value. Both regions of a WHILE may use the values that it carries. */
bool ir_in_scope(const struct ir_value *value, const struct ir_region *region);

/* The number of the result that is all that this buffer is for; as many as there are results: it is for none. A buffer
   that SWAPs exchange is for none. */
size_t ir_result_in(const struct ir_kernel *kernel, const struct ir_buffer *buffer);
/* note [slots]
   A length or a sum that a launch leaves for the host, and for nobody else, is stored to memory of the host's where
   the device can do that: then the host waits for the launch and has it, without a copy. Where many blocks store, each
   store would go over the bus, and where launches read, each load: so one block stores, and the host alone reads. */
bool ir_is_slot(const struct ir_kernel *kernel, const struct ir_buffer *buffer);

/* The threads of a block, in the launch that the region belongs to. */
int ir_block_threads(const struct ir_kernel *kernel, const struct ir_region *region);

/* How much there is to print for a body without loops; INT_MAX of others. */
int ir_body_size(const struct ir_region *region);
/* How many turns of a loop over elements a thread takes together: note [turns] in map/simt.c. */
int ir_turns(const struct ir_instruction *forall);

/* The base of a number that has a bit for each lane of a warp: uint, or u64 for 64 lanes. */
enum base ir_lanes_base(const struct ir_kernel *kernel);

#endif
