/* Declarations that the files of the builder share. Each file uses those before it: values.c
   (values and what is known of them), linear.c (sums), products.c, facts.c (what is assumed) and prove.c (what
   follows), which use each other, simplify.c (rules: what an operation is equal to), build.c (operations and memory),
   control.c (loops and branches). Nobody else includes this. */
#ifndef FCL_IR_BUILD_BUILDER_H
#define FCL_IR_BUILD_BUILDER_H

#include "ir/build/build.h"
#include "ir/build/fold.h"
#include "ir/build/range.h"

struct linear;

enum frame_kind {
    FRAME_BODY,
    FRAME_FORALL,
    FRAME_FOR,
    FRAME_WHILE_CONDITION,
    FRAME_WHILE_BODY,
    FRAME_THEN,
    FRAME_ELSE
};

/* An open region. Frame 0 is the kernel's body; each next one is inside the one before it. */
struct frame {
    enum frame_kind kind;
    struct ir_instruction *instruction; /* under construction, appended to the frame below when it ends */
    struct ir_region *region;
    bool effects; /* stores or checks */
    bool stores;
    size_t undo_mark, order_mark, told_mark; /* the facts that came with it lie above these */
    size_t learnt_mark;                      /* of a branch: the orders that its condition does not give lie above it */
    size_t buffer_mark;                      /* kernel->buffers when its instruction began */
};

/* The builder's knowledge of a value, besides the value itself. */
struct value_info {
    struct ir_value *resolved; /* what it became when its branch was left, or NULL */
    struct range range;        /* when `narrowed`: tighter than the value's own, here */
    bool narrowed;
    enum ir_truth truth; /* of a condition, here */
    int64_t least;       /* here, for longer proofs alone; 0: nothing is known */
};
struct undo {
    uint32_t id;
    struct value_info before;
};

/* x < y, or x <= y, as integers, here. */
struct order {
    struct ir_value *x, *y;
    bool strict, is_minor; /* it is for longer proofs alone */
};

/* An order that holds at the end of a branch's region, and so wherever that was taken. */
struct kept_order {
    const struct ir_region *region;
    struct order order;
};

/* A condition that a proof supposes. */
struct supposed {
    const struct ir_value *condition;
    bool truth;
};

struct settled_term {
    const struct ir_value *value;
    int64_t coefficient;
};

/* A node of the table of expressions: an operation or a load. */
struct shared {
    uint64_t hash;
    struct ir_value *value;
    uint32_t stores; /* LOAD: stores to its buffer before it */
    struct shared *next;
};

struct region_info {
    uint32_t depth; /* index of its frame */
    bool open;
};

struct ir_builder {
    struct arena *arena, *scratch;
    struct ir_kernel *kernel;
    int optimise;
    struct span span, users;
    struct span start; /* of stores: of the update whose start they copy; end 0: of none */
    bool overwrites;   /* of stores */
    bool may_meet;     /* of stores */
    bool is_volatile;  /* of loads and stores */
    VEC(struct frame) frames;
    VEC(struct region_info) regions; /* by region id */
    VEC(struct value_info) values;   /* by value id */
    VEC(uint32_t) stores;            /* by buffer id: how many so far */
    VEC(struct undo) undo;
    VEC(struct order) orders;
    VEC(struct kept_order) kept_orders;
    VEC(struct ir_value *) told; /* conditions: ir_tell */
    struct shared **table;
    size_t table_size, table_count;
    uint32_t buffer_count;
    uint32_t known;  /* a number that changes with what is known of values here */
    int outside;     /* entered regions further out, where what is known in the branches that were left does not hold */
    int proof_steps; /* left of the proof that is tried */
    int proof_began_with, vain_steps, vain_short_steps; /* steps; of all long and all short proofs that failed */
    int long_steps;                                     /* of all long proofs */
    struct known_sum *sums;
    struct failed_goal *failures; /* of long proofs */
    struct ir_value **products;   /* of values, in proofs alone: note [products] in linear.h */
    size_t product_count;
    struct ir_value *times; /* in a proof: what the bound that is looked for is multiplied by; or NULL */
    struct known_operation *operations;
    bool is_long_proof, goes_by_told;
    int asks;                         /* how deep a proof may still ask whether something wraps */
    VEC(struct settled_term) settled; /* terms that a proof replaces no more */
    size_t settled_from;              /* those of the goal at hand */
    VEC(struct supposed) supposed;    /* what a proof supposes, from this one on; and the orders from that one on */
    size_t supposed_from, orders_supposed_from;
    uint32_t told_proof, told_proofs; /* the number of the proof that goes by what was told, or 0; and of all these */
    struct known_parts *known_parts;
    struct known_order *known_orders;
    size_t store_count, instruction_count; /* all of them */
    int rebuilding;                        /* simplify.c: inside a rebuilt sum, sums are left as they are */
};

/* ---- values.c ---- */
struct frame *builder_top(struct ir_builder *b);
uint32_t builder_depth(const struct ir_builder *b, const struct ir_value *value); /* of the frame it is in scope from */
struct ir_value *builder_value(struct ir_builder *b, enum base base, struct ir_region *region, const char *name);
struct ir_value *builder_integer(struct ir_builder *b, enum base base, int64_t value);
/* An operand as it is used: resolved, and replaced by a constant where it is known to be one. */
struct ir_value *builder_operand(struct ir_builder *b, struct ir_value *value);
void builder_make_room(struct ir_builder *b, uint32_t id);
static inline struct value_info *facts_of(struct ir_builder *b, const struct ir_value *value) {
    if (b->values.count <= value->id)
        builder_make_room(b, value->id);
    return &b->values.at[value->id];
}
static inline struct range facts_range(struct ir_builder *b, const struct ir_value *value) {
    const struct value_info *info = facts_of(b, value);
    struct range range = info->narrowed && !b->outside ? info->range : (struct range){value->low, value->high};
    if (b->is_long_proof && !b->outside && info->least > 0 && info->least > range.low && info->least <= range.high)
        range.low = info->least;
    return range;
}
/* The table of expressions: a hash with one more part, a value to be found by it, and the next that is in scope from
   *link on, or NULL. */
uint64_t builder_mix(uint64_t hash, uint64_t x);
void builder_share(struct ir_builder *b, uint64_t hash, struct ir_value *value, uint32_t stores);
struct shared *builder_shared(struct ir_builder *b, struct shared ***link, uint64_t hash);

/* ---- facts.c ---- */
/* The condition has that truth until the innermost frame ends. In a loop's body (`from_depth` > 0) only what is defined
   at that depth or below is narrowed: expressions of outer values may move out of the loop, where it need not hold. */
void facts_assume(struct ir_builder *b, struct ir_value *condition, bool truth, uint32_t from_depth);
/* The body of such a loop is open. */
void facts_runs(struct ir_builder *b, struct ir_value *count, struct ir_value *index);
void facts_narrow(struct ir_builder *b, struct ir_value *value, struct range range);
/* The condition of the branch whose region is open now. Its last orders are kept when it ends. */
void facts_branch(struct ir_builder *b, struct ir_value *condition, bool truth);
void facts_undo(struct ir_builder *b, const struct frame *frame);

/* ---- prove.c ---- */
/* x < y or x <= y, provably. Integers of one base. */
bool facts_less(struct ir_builder *b, struct ir_value *x, struct ir_value *y, bool strict);
/* Adds the value so many times, as all that is known of it; false: the sum grows too large. Is a sum not negative? */
bool facts_add(struct ir_builder *b, struct linear *sum, struct ir_value *value, int64_t factor);
bool facts_are_natural(struct ir_builder *b, const struct linear *sum);
bool facts_is_natural(struct ir_builder *b, struct ir_value *value);
enum ir_truth facts_comparison(struct ir_builder *b, enum ir_op op, struct ir_value *x, struct ir_value *y);

/* ---- build.c ---- */
struct ir_instruction *builder_instruction(struct ir_builder *b, enum ir_kind kind, size_t operands, size_t results,
                                           size_t parameters);
void builder_append(struct ir_builder *b, size_t frame, struct ir_instruction *instruction);
/* An instruction that is there already, with all its values, goes to the end of the innermost frame's region. */
void builder_keep(struct ir_builder *b, struct ir_instruction *at);
/* Are loads like it one, where nothing is stored between them? */
bool builder_is_shared(const struct ir_instruction *load);
/* The value lies in that range wherever control is here. */
void builder_learn(struct ir_builder *b, struct ir_value *value, struct range range);
/* The selection as something simpler, or NULL. */
struct ir_value *builder_selected(struct ir_builder *b, struct ir_value *condition, struct ir_value *x,
                                  struct ir_value *y);

/* ---- control.c ---- */
/* An empty one of an instruction that goes into the region that is open. */
struct ir_region *builder_region(struct ir_builder *b, enum level_value ambient, struct ir_instruction *owner);
/* A frame for a region that is there already, until builder_close, which gives whether something in it has effects. */
void builder_open(struct ir_builder *b, enum frame_kind kind, struct ir_instruction *instruction,
                  struct ir_region *region);
bool builder_close(struct ir_builder *b);
/* The operation of other operands. */
struct ir_value *builder_again(struct ir_builder *b, const struct ir_instruction *operation, struct ir_value **x);

#endif
