/* last-block: where one block goes on with what all blocks of a launch have stored, as in the second half
   of a reduction, that is done by the last block of the launch itself, and a launch is saved.

   note [the last block]
   Each block, when it has done an iteration, makes its stores seen and counts it; who counts the last one
   knows that all other stores can be seen. In which order blocks end does not matter: what the last one
   computes depends on what was stored alone, so that results are the same as of two launches.
   That needs a fence after which other blocks see what a block has stored before, as CUDA's; OpenCL 1.2
   has none. What is checked (IR_CHECK) is left alone: after a failure the host ends the run between
   launches. The last block's loads of what was stored are volatile: QUIRK_CHOSEN_LOADS of map/quirks. */
#include "ir/pass_list.h"

#include <string.h>

#include "ir/machine.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "support/map.h"

struct joining {
    struct arena *arena;
    struct ir_kernel *kernel;
};

static size_t size_of(const struct ir_region *region) {
    size_t size = 0;
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        size++;
    return size;
}

/* Marks, by number, the buffers that the region stores to. */
static void find_stored(const struct ir_region *region, struct map *stored) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_STORE || walk.at->kind == IR_ATOMIC)
            map_set(stored, walk.at->buffer, walk.at->buffer);
}

typedef VEC(struct ir_instruction *) instructions;

/* Its loads of these. */
static void find_loads(struct arena *arena, const struct ir_region *region, const struct map *stored,
                       instructions *loads) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_LOAD && map_has(stored, walk.at->buffer))
            vec_push(arena, loads, walk.at);
}

static bool is_of_blocks(const struct ir_instruction *at) {
    return at->kind == IR_FORALL && at->outer == LEVEL_GRID && at->inner == LEVEL_BLOCK && !at->buffer &&
           at->operands[0]->base == BASE_I32 && !ir_has(at, IR_CHECK);
}

/* Does the second of these launches go on where the first has stored? Its loads of that. */
static bool goes_on(const struct joining *j, const struct ir_instruction *first, const struct ir_instruction *second,
                    instructions *loads) {
    const struct ir_value *count = second->operands[0];
    if (!is_of_blocks(second) || !count->is_constant || count->constant.integer != 1 ||
        size_of(second->regions[0]) > GPU_SECOND_LAUNCH * size_of(first->regions[0]))
        return false;
    struct map *stored = map_new(j->arena);
    find_stored(first->regions[0], stored);
    find_loads(j->arena, second->regions[0], stored, loads);
    return loads->count > 0;
}

/* ---- rewriting ---- */

static struct ir_value *new_value(struct joining *j, enum base base, struct ir_region *region, int64_t low,
                                  int64_t high) {
    struct ir_value *value = ARENA_NEW(j->arena, struct ir_value);
    *value =
        (struct ir_value){.id = j->kernel->value_count++, .base = base, .region = region, .low = low, .high = high};
    return value;
}

static struct ir_value *constant(struct joining *j, int64_t integer) {
    return rewrite_constant(&(struct rewriter){j->arena, j->kernel, NULL, NULL}, BASE_I32, integer);
}

/* At the region's end. */
static struct ir_instruction *add(struct joining *j, struct ir_region *region, enum ir_kind kind, struct span span,
                                  size_t operands, size_t results) {
    struct ir_instruction *instruction = ARENA_NEW(j->arena, struct ir_instruction);
    *instruction = (struct ir_instruction){
        .kind = kind, .span = span, .region = region, .operand_count = operands, .result_count = results};
    instruction->operands = ARENA_ARRAY(j->arena, struct ir_value *, operands);
    instruction->results = ARENA_ARRAY(j->arena, struct ir_value *, results);
    vec_push(j->arena, &region->instructions, instruction);
    return instruction;
}

static struct ir_buffer *new_buffer(struct joining *j, enum ir_memory memory, enum level_value owner, const char *name,
                                    struct span span) {
    struct ir_buffer *buffer = ARENA_NEW(j->arena, struct ir_buffer);
    uint32_t id = 0;
    for (size_t k = 0; k < j->kernel->buffers.count; k++)
        id = j->kernel->buffers.at[k]->id >= id ? j->kernel->buffers.at[k]->id + 1 : id;
    *buffer = (struct ir_buffer){.id = id,
                                 .memory = memory,
                                 .owner = owner,
                                 .element = BASE_I32,
                                 .capacity = constant(j, 1),
                                 .rewritten = true,
                                 .is_zeroed = memory == MEMORY_OUTPUT,
                                 .name = name,
                                 .span = span};
    vec_push(j->arena, &j->kernel->buffers, buffer);
    return buffer;
}

/* The branch at the region's end, with nothing in it. */
static struct ir_instruction *add_branch(struct joining *j, struct ir_region *region, struct ir_value *condition,
                                         struct span span) {
    struct ir_instruction *branch = add(j, region, IR_IF, span, 1, 0);
    branch->operands[0] = condition;
    for (int r = 0; r < 2; r++)
        branch->regions[r] = rewrite_region(j->arena, j->kernel, region->ambient, branch, region);
    return branch;
}

/* Is this iteration the last of so many to come so far? The same for all threads of the block. */
static struct ir_value *add_count(struct joining *j, struct ir_region *region, struct ir_buffer *counter,
                                  struct ir_value *count, struct span span) {
    struct ir_buffer *before = new_buffer(j, MEMORY_SHARED, LEVEL_BLOCK, "done_before", span);
    add(j, region, IR_ALLOCATE, span, 0, 0)->buffer = before;
    add(j, region, IR_FENCE, span, 0, 0)->outer = LEVEL_GRID; /* of the block: its threads' stores come first */
    struct ir_instruction *one = add(j, region, IR_FORALL, span, 1, 0);
    one->outer = LEVEL_BLOCK;
    one->inner = LEVEL_THREAD;
    one->operands[0] = constant(j, 1);
    struct ir_region *body = one->regions[0] = rewrite_region(j->arena, j->kernel, LEVEL_THREAD, one, region);
    one->parameters = ARENA_ARRAY(j->arena, struct ir_value *, 1);
    one->parameter_count = 1;
    one->parameters[0] = new_value(j, BASE_I32, body, 0, 0);
    add(j, body, IR_FENCE, span, 0, 0)->outer = LEVEL_GRID;
    struct ir_instruction *ticket = add(j, body, IR_ATOMIC, span, 2, 1);
    ticket->atomic = ATOMIC_ADD;
    ticket->buffer = counter;
    ticket->operands[0] = constant(j, 0);
    ticket->operands[1] = constant(j, 1);
    ticket->results[0] = new_value(j, BASE_I32, body, INT32_MIN, INT32_MAX);
    ticket->results[0]->definition = ticket;
    add(j, body, IR_FENCE, span, 0, 0)->outer = LEVEL_GRID;
    struct ir_instruction *store = add(j, body, IR_STORE, span, 2, 0);
    store->buffer = before;
    store->operands[0] = constant(j, 0);
    store->operands[1] = ticket->results[0];
    struct ir_instruction *load = add(j, region, IR_LOAD, span, 1, 1);
    load->buffer = before;
    load->operands[0] = constant(j, 0);
    load->results[0] = new_value(j, BASE_I32, region, INT32_MIN, INT32_MAX);
    load->results[0]->definition = load;
    struct rewriter here = {j->arena, j->kernel, region, load};
    struct ir_value *last = rewrite_operation(&here, OP_SUB, count, constant(j, 1));
    return rewrite_operation(&here, OP_EQ, load->results[0], last);
}

/* `first`, which is to be put at the end of `host`, does what `second` does, too. */
static void join(struct joining *j, struct ir_region *host, struct ir_instruction *first, struct ir_instruction *second,
                 const instructions *loads) {
    for (size_t i = 0; i < loads->count; i++)
        loads->at[i]->is_volatile = true;
    struct ir_region *body = first->regions[0];
    struct ir_value *count = first->operands[0];
    struct ir_buffer *counter = new_buffer(j, MEMORY_OUTPUT, LEVEL_GRID, "done", first->span);
    struct ir_instruction *allocate = add(j, host, IR_ALLOCATE, first->span, 0, 0);
    allocate->buffer = counter;
    allocate->region = first->region;
    if (count->low < 1) { /* someone must be the last */
        struct rewriter outside = {j->arena, j->kernel, host, first};
        struct ir_value *most = rewrite_operation(&outside, OP_MAX, count, constant(j, 1));
        struct ir_region *fresh = rewrite_region(j->arena, j->kernel, LEVEL_BLOCK, first, body->parent);
        struct rewriter inside = {j->arena, j->kernel, fresh, first};
        struct ir_value *is_there = rewrite_operation(&inside, OP_LT, first->parameters[0], count);
        is_there->region = is_there->definition->region = fresh;
        struct ir_instruction *branch = add_branch(j, fresh, is_there, first->span);
        rewrite_move(j->arena, body, branch->regions[0]);
        first->parameters[0]->region = fresh;
        first->operands[0] = count = most;
        first->regions[0] = body = fresh;
    }
    struct ir_value *is_last = add_count(j, body, counter, count, first->span);
    struct ir_instruction *branch = add_branch(j, body, is_last, second->span);
    struct replacements replacements = rewrite_begin(j->arena, j->kernel);
    rewrite_set(&replacements, second->parameters[0], constant(j, 0));
    rewrite_replace(second->regions[0], &replacements);
    rewrite_move(j->arena, second->regions[0], branch->regions[0]);
}

/* What of the host's may as well be done before the launch that it comes after. */
static bool may_go_before(const struct ir_instruction *instruction) {
    return instruction->kind == IR_OPERATION || instruction->kind == IR_ALLOCATE;
}

static void join_region(struct joining *j, struct ir_region *region) {
    struct ir_region fresh = {.ambient = region->ambient};
    for (size_t i = 0; i < region->instructions.count; i++) {
        struct ir_instruction *first = region->instructions.at[i];
        if (first->kind != IR_FORALL)
            for (int r = 0; r < 2; r++)
                if (first->regions[r])
                    join_region(j, first->regions[r]);
        size_t end = i + 1;
        if (is_of_blocks(first))
            while (end < region->instructions.count && may_go_before(region->instructions.at[end]))
                end++;
        instructions loads = {0};
        if (is_of_blocks(first) && end < region->instructions.count &&
            goes_on(j, first, region->instructions.at[end], &loads)) {
            for (size_t k = i + 1; k < end; k++)
                vec_push(j->arena, &fresh.instructions, region->instructions.at[k]);
            join(j, &fresh, first, region->instructions.at[end], &loads);
            i = end;
        }
        vec_push(j->arena, &fresh.instructions, first);
    }
    memcpy(&region->instructions, &fresh.instructions, sizeof fresh.instructions);
}

void pass_last_block(struct arena *arena, struct ir_kernel *kernel) {
    join_region(&(struct joining){arena, kernel}, kernel->body);
}
