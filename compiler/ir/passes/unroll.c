/* unroll: a private array can live in registers only if every access names its element at compile
   time. So where every index into such an array is made of constants and of the indices of short
   counted loops, these loops are marked to be unrolled. An array with any other access stays in
   memory, and unrolling for its sake would only make code. Innermost loops of few and known steps
   are marked too: on GPUs their loads are then under way together, and on CPUs the loop over the
   threads around them becomes one that compilers turn into vectors. */
#include "ir/machine.h"
#include "ir/passes/pass_list.h"
#include "ir/walk.h"
#include "support/map.h"

enum { DEEPEST_INDEX = 16 };

struct unrolling {
    struct arena *arena;
    struct map *in_memory; /* buffers with an access that is not static */
};

/* The counted loop whose index the value is, or NULL. */
static struct ir_instruction *short_loop(const struct ir_value *value) {
    if (value->definition || !value->region || !value->region->owner)
        return NULL;
    struct ir_instruction *loop = value->region->owner;
    if (loop->kind != IR_FOR || loop->parameters[0] != value || !loop->operands[0]->is_constant)
        return NULL;
    return loop->operands[0]->constant.integer <= ANY_UNROLLED ? loop : NULL;
}

/* Is the index static once the loops in it are unrolled? These are marked when `mark` is set. */
static bool is_static(const struct ir_value *value, bool mark, int depth) {
    if (value->is_constant)
        return true;
    struct ir_instruction *loop = short_loop(value);
    if (loop) {
        IR_PART(loop, loop).unroll |= mark;
        return true;
    }
    const struct ir_instruction *definition = value->definition;
    if (!definition || definition->kind != IR_OPERATION || depth == 0)
        return false;
    for (size_t i = 0; i < definition->operand_count; i++)
        if (!is_static(definition->operands[i], mark, depth - 1))
            return false;
    return true;
}

static bool is_candidate(const struct ir_instruction *instruction) {
    bool is_access = ir_is_access(instruction);
    return is_access && instruction->buffer->memory == MEMORY_PRIVATE && instruction->buffer->capacity->is_constant;
}

static void find_dynamic(struct unrolling *u, const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        if (is_candidate(walk.at) && !is_static(walk.at->operands[0], false, DEEPEST_INDEX))
            map_set(u->in_memory, walk.at->buffer, NULL);
}

static void mark_loops(struct unrolling *u, const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        if (is_candidate(walk.at) && !map_has(u->in_memory, walk.at->buffer))
            is_static(walk.at->operands[0], true, DEEPEST_INDEX);
}

/* How many instructions there are; more than any limit where there are loops. */
static int64_t straight_size(const struct ir_region *region) {
    int64_t size = 0;
    for (struct ir_walk walk = ir_walk(region); walk.at && size <= ANY_UNROLLED_SIZE; ir_next(&walk))
        size += ir_is_loop(walk.at) ? ANY_UNROLLED_SIZE + 1 : 1;
    return size;
}

/* A short loop without loops in it, run by a thread. */
static bool is_straight(const struct ir_instruction *loop) {
    if (loop->kind != IR_FOR || !loop->operands[0]->is_constant ||
        loop->operands[0]->constant.integer > ANY_UNROLLED_STRAIGHT)
        return false;
    return straight_size(loop->regions[0]) * loop->operands[0]->constant.integer <= ANY_UNROLLED_SIZE;
}

static void mark_straight(const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        if (walk.region->ambient == LEVEL_THREAD && is_straight(walk.at))
            IR_PART(walk.at, loop).unroll = true;
}

/* Is it whether the index is below a constant, or a sum of it and a constant is? */
static bool asks_for(const struct ir_value *condition, const struct ir_value *index) {
    const struct ir_instruction *asked = condition->definition;
    if (!asked || asked->kind != IR_OPERATION || asked->op != OP_LT || !asked->operands[1]->is_constant)
        return false;
    const struct ir_value *of = asked->operands[0];
    const struct ir_instruction *moved = of->definition;
    if (moved && moved->kind == IR_OPERATION && (moved->op == OP_ADD || moved->op == OP_SUB) &&
        moved->operands[1]->is_constant)
        of = moved->operands[0];
    return of == index;
}

static bool is_choice(const struct ir_instruction *i, const struct ir_value *index) {
    return (i->kind == IR_IF || (i->kind == IR_OPERATION && i->op == OP_SELECT)) && asks_for(i->operands[0], index);
}

/* A loop over the elements of lists, which are chosen by halves: each turn has an expression of its own, so unrolled
   it is little more code, and has no choices. */
static bool is_over_lists(const struct ir_instruction *loop) {
    if (loop->kind != IR_FOR || !loop->operands[0]->is_constant || loop->operands[0]->constant.integer < 2 ||
        loop->operands[0]->constant.integer > ANY_UNROLLED_LIST)
        return false;
    int64_t choices = 0, others = 0;
    for (struct ir_walk walk = ir_walk(loop->regions[0]); walk.at; ir_next(&walk)) {
        if (ir_is_loop(walk.at))
            return false;
        choices += is_choice(walk.at, loop->parameters[0]);
        others += walk.region == loop->regions[0];
    }
    int64_t turns = loop->operands[0]->constant.integer;
    return choices >= turns / 2 && others * turns <= 2 * ANY_UNROLLED_SIZE;
}

static void mark_lists(const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        if (walk.region->ambient == LEVEL_THREAD && is_over_lists(walk.at))
            IR_PART(walk.at, loop).unroll = true;
}

/* Nests that would become too much code are left alone from the loop on where they do. */
static void limit_copies(struct ir_kernel *kernel, const struct ir_region *region, int64_t copies) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        struct ir_instruction *instruction = region->instructions.at[i];
        int64_t inside = copies;
        if (instruction->kind == IR_FOR && IR_PART(instruction, loop).unroll) {
            inside = copies * instruction->operands[0]->constant.integer;
            if (inside > ANY_UNROLLED_COPIES) {
                IR_PART(instruction, loop).unroll = false;
                inside = copies;
            }
            kernel->changes += IR_PART(instruction, loop).unroll;
        }
        for (size_t r = 0; r < 2; r++)
            if (instruction->regions[r])
                limit_copies(kernel, instruction->regions[r], inside);
    }
}

void pass_unroll(struct arena *arena, struct ir_kernel *kernel) {
    struct unrolling u = {arena, map_new(arena)};
    find_dynamic(&u, kernel->body);
    mark_loops(&u, kernel->body);
    mark_straight(kernel->body);
    mark_lists(kernel->body);
    limit_copies(kernel, kernel->body, 1);
}
