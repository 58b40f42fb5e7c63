/* Turns a branch that only computes a few cheap values into selects: a select costs less than a
   jump, on a GPU and in a vectorised loop. A value that only one side computed is then computed
   always, so the pass finds its range and freedom from overflow anew, without the condition.

   note [neighbours]
   `i == 0 || isBlank (s ! (i - 1))`, where s ! i has been loaded already: on a CPU, whose vectors
   a branch would keep away, the element before can be loaded whatever the condition says, as the
   array has it or is asked for its first one. That is done in loops over a tile's elements, of
   which all tiles but the first then need no such care (split.c). */
#include "ir/passes/pass_list.h"

#include "ir/places.h"
#include "ir/passes/rewrite.h"

enum {
    TIDY_MAX_OPERATIONS = 4,
    TIDY_MAX_RESULTS = 4,
    TIDY_MAX_BESIDE_LOADS = 16, /* operations in a branch that loads a neighbour */
    TIDY_FARTHEST = 4096,       /* elements */
};

/* Is it in a loop over the elements of a tile? */
static bool is_in_tile(const struct ir_region *region) {
    const struct ir_instruction *loop = ir_thread_loop(region);
    return loop && loop->outer < LEVEL_GRID;
}

/* The place that was asked for, where append_load has seen it before. */
static struct ir_value *asked_place(const struct ir_instruction *load) {
    const struct ir_instruction *most = load->operands[0]->definition;
    bool is_clamped = most && most->kind == IR_OPERATION && most->op == OP_MAX && most->operands[1]->is_constant &&
                      most->operands[1]->constant.integer == 0;
    return is_clamped ? most->operands[0] : load->operands[0];
}

/* How far before that of `other` is the element that `load` loads? Negative: that is not known. */
static int64_t elements_before(const struct ir_instruction *load, const struct ir_instruction *other) {
    int64_t before;
    bool is_same = other->kind == IR_LOAD && other->buffer == load->buffer && !other->is_volatile &&
                   load->operands[0]->base == BASE_I32 &&
                   linear_distance(asked_place(load), other->operands[0], &before);
    return is_same ? before : -1;
}

/* Note [neighbours]: has an element at most so far behind it been loaded for certain when its branch is come to?.
   See note [neighbours]. */
static bool is_neighbour(const struct ir_instruction *load) {
    const struct ir_buffer *buffer = load->buffer;
    bool is_global = ir_is_constant_memory(buffer) || (buffer->memory == MEMORY_OUTPUT && !buffer->rewritten);
    if (load->is_volatile || !is_global)
        return false;
    for (const struct ir_region *region = load->region; region->owner && region->owner->kind == IR_IF;
         region = region->owner->region) {
        const struct ir_region *around = region->owner->region;
        for (size_t i = 0; i < around->instructions.count && around->instructions.at[i] != region->owner; i++) {
            int64_t before = elements_before(load, around->instructions.at[i]);
            if (before >= 0 && before <= TIDY_FARTHEST)
                return true;
        }
    }
    return false;
}

static bool is_small(const struct ir_kernel *kernel, const struct ir_instruction *branch) {
    size_t operations = 0, loads = 0;
    if (branch->result_count > TIDY_MAX_RESULTS)
        return false;
    bool may_load = kernel->is_cpu && is_in_tile(branch->region);
    for (int side = 0; side < 2; side++) {
        const struct ir_region *region = branch->regions[side];
        operations += region->instructions.count;
        if (operations > TIDY_MAX_BESIDE_LOADS)
            return false;
        for (size_t i = 0; i < region->instructions.count; i++) {
            const struct ir_instruction *instruction = region->instructions.at[i];
            if (instruction->kind == IR_LOAD && may_load && is_neighbour(instruction))
                loads++;
            else if (!ir_is_cheap(instruction))
                return false;
        }
    }
    return loads || operations <= TIDY_MAX_OPERATIONS;
}

/* The elements before an array's first are that one. */
static void append_load(const struct rewriter *rewriter, struct ir_instruction *load) {
    if (load->operands[0]->low < 0)
        load->operands[0] =
            rewrite_operation(rewriter, OP_MAX, load->operands[0], rewrite_constant(rewriter, BASE_I32, 0));
    load->results[0]->region = rewriter->user->region;
    load->region = rewriter->user->region;
    vec_push(rewriter->arena, &rewriter->region->instructions, load);
}

static void flatten(const struct rewriter *rewriter, const struct ir_instruction *branch) {
    rewriter->kernel->changes++;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < branch->regions[side]->instructions.count; i++) {
            struct ir_instruction *instruction = branch->regions[side]->instructions.at[i];
            if (instruction->kind == IR_LOAD)
                append_load(rewriter, instruction);
            else
                rewrite_again(rewriter, instruction);
        }
    for (size_t i = 0; i < branch->result_count; i++)
        rewrite_select(rewriter, branch->results[i], branch->operands[0], branch->regions[0]->yields.at[i],
                       branch->regions[1]->yields.at[i]);
}

struct tidying {
    struct arena *arena;
    struct ir_kernel *kernel;
};

static void put(void *context, struct ir_region *to, struct ir_instruction *instruction) {
    const struct tidying *t = context;
    if (instruction->kind == IR_IF && is_small(t->kernel, instruction))
        flatten(&(struct rewriter){t->arena, t->kernel, to, instruction}, instruction);
    else
        vec_push(t->arena, &to->instructions, instruction);
}

void pass_tidy(struct arena *arena, struct ir_kernel *kernel) {
    rewrite_each(kernel->body, put, &(struct tidying){arena, kernel});
}
