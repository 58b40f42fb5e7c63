/* last-block: where one block goes on with what all blocks of a launch have stored, as in the second half
   of a reduction, that is done by the last block of the launch itself, and a launch is saved.

   note [the last block]
   Each block, when it has done an iteration, makes its stores seen and counts it; who counts the last one
   knows that all other stores can be seen. In which order blocks end does not matter: what the last one
   computes depends on what was stored alone, so that results are the same as of two launches.
   That needs a fence after which other blocks see what a block has stored before, as CUDA's; OpenCL 1.2
   has none. The pass leaves launches with checks (IR_CHECK) alone: after a failure the host ends the run between
   launches. The last block's loads of what was stored are volatile: QUIRK_CHOSEN_LOADS of map/quirks. */
#include "ir/passes/pass_list.h"

#include "ir/machine.h"
#include "ir/places.h"
#include "ir/passes/rewrite.h"

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

typedef VEC(struct ir_instruction *) instructions;

static bool is_of_blocks(const struct joining *j, const struct ir_instruction *at) {
    return at->kind == IR_FORALL && at->outer == LEVEL_GRID && at->inner == LEVEL_BLOCK && !at->buffer &&
           at->operands[0]->base == BASE_I32 && !ir_may_end(j->kernel, at);
}

/* Does the second of these launches go on where the first has stored? Its loads of that. */
static bool goes_on(const struct joining *j, const struct ir_instruction *first, const struct ir_instruction *second,
                    instructions *loads) {
    if (!is_of_blocks(j, second) || IR_PART(first, loop).threads != IR_PART(second, loop).threads ||
        !second->operands[0]->is_constant || second->operands[0]->constant.integer != 1 ||
        size_of(second->regions[0]) > GPU_SECOND_LAUNCH * size_of(first->regions[0]))
        return false;
    for (struct ir_walk walk = ir_walk(second->regions[0]); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_LOAD && walk.at->buffer->memory == MEMORY_OUTPUT &&
            ir_change_in(first, walk.at->buffer))
            vec_push(j->arena, loads, walk.at);
    return loads->count > 0;
}

/* ---- rewriting ---- */

static struct ir_value *constant(struct joining *j, int64_t integer) {
    return rewrite_constant(&(struct rewriter){j->arena, j->kernel, NULL, NULL}, BASE_I32, integer);
}

static struct ir_buffer *new_counter(const struct rewriter *r, enum ir_memory memory, enum level_value owner,
                                     const char *name) {
    return rewrite_buffer(r, (struct ir_buffer){.memory = memory,
                                                .owner = owner,
                                                .element = BASE_I32,
                                                .capacity = rewrite_constant(r, BASE_I32, 1),
                                                .rewritten = true,
                                                .is_zeroed = memory == MEMORY_OUTPUT,
                                                .name = name,
                                                .span = r->user->span});
}

/* A fence: all blocks see stores before it before any store after it. */
static void add_fence(const struct rewriter *r) { rewrite_instruction(r, IR_FENCE, 0, 0)->outer = LEVEL_GRID; }

/* An access to the only element of a counter. */
static struct ir_instruction *add_access(const struct rewriter *r, enum ir_kind kind, struct ir_buffer *buffer,
                                         struct ir_value *value) {
    struct ir_instruction *access = rewrite_instruction(r, kind, value ? 2 : 1, kind != IR_STORE);
    access->buffer = buffer;
    access->operands[0] = rewrite_constant(r, BASE_I32, 0);
    if (value)
        access->operands[1] = value;
    if (kind == IR_STORE)
        return access;
    access->results[0] = rewrite_value(r, BASE_I32, access->region, INT32_MIN, INT32_MAX);
    access->results[0]->definition = access;
    return access;
}

/* Is this iteration the last of so many to come so far? The same for all threads of the block. */
static struct ir_value *add_count(struct joining *j, struct ir_region *region, struct ir_buffer *counter,
                                  struct ir_value *count, struct span span) {
    struct ir_instruction user = {.span = span, .region = region};
    struct rewriter block = {j->arena, j->kernel, region, &user};
    struct ir_buffer *before = new_counter(&block, MEMORY_SHARED, LEVEL_BLOCK, "done_before");
    rewrite_instruction(&block, IR_ALLOCATE, 0, 0)->buffer = before;
    add_fence(&block); /* of the block: its threads' stores come first */
    struct ir_instruction *one = rewrite_forall(&block, LEVEL_BLOCK, LEVEL_THREAD, constant(j, 1));
    struct ir_instruction inner = {.span = span, .region = one->regions[0]};
    struct rewriter thread = {j->arena, j->kernel, inner.region, &inner};
    add_fence(&thread);
    struct ir_instruction *ticket = add_access(&thread, IR_ATOMIC, counter, constant(j, 1));
    IR_PART(ticket, store).atomic = ATOMIC_ADD;
    add_fence(&thread);
    add_access(&thread, IR_STORE, before, ticket->results[0]);
    struct ir_value *mine = add_access(&block, IR_LOAD, before, NULL)->results[0];
    struct ir_value *last = rewrite_operation(&block, OP_SUB, count, constant(j, 1));
    return rewrite_operation(&block, OP_EQ, mine, last);
}

/* Marks the outputs of one element that this launch stores: only one block stores them, note [slots] in ir.h. */
static void say_stored(const struct ir_instruction *launch) {
    for (struct ir_walk walk = ir_walk(launch->regions[0]); walk.at; ir_next(&walk)) {
        struct ir_buffer *buffer = walk.at->kind == IR_STORE ? walk.at->buffer : NULL;
        if (buffer && buffer->memory == MEMORY_OUTPUT && buffer->capacity->is_constant &&
            buffer->capacity->constant.integer == 1)
            buffer->is_said = true;
    }
}

/* `first`, which is to be put at the end of `host`, does what `second` does, too. */
static void join(struct joining *j, struct ir_region *host, struct ir_instruction *first, struct ir_instruction *second,
                 const instructions *loads) {
    for (size_t i = 0; i < loads->count; i++)
        loads->at[i]->is_volatile = true;
    struct ir_region *body = first->regions[0];
    struct ir_value *count = first->operands[0];
    struct rewriter outside = {j->arena, j->kernel, host, first};
    struct ir_buffer *counter = new_counter(&outside, MEMORY_OUTPUT, LEVEL_GRID, "done");
    rewrite_instruction(&outside, IR_ALLOCATE, 0, 0)->buffer = counter;
    if (count->low < 1) { /* someone must be the last */
        struct ir_value *most = rewrite_operation(&outside, OP_MAX, count, constant(j, 1));
        struct ir_region *fresh = ir_new_region(j->arena, j->kernel, LEVEL_BLOCK, first, body->parent);
        struct ir_instruction user = {.span = first->span, .users = first->users, .region = fresh};
        struct rewriter inside = {j->arena, j->kernel, fresh, &user};
        struct ir_value *is_there = rewrite_operation(&inside, OP_LT, first->parameters[0], count);
        struct ir_instruction *branch = rewrite_branch(&inside, is_there);
        rewrite_move(j->arena, body, branch->regions[0]);
        first->parameters[0]->region = fresh;
        first->operands[0] = count = most;
        first->regions[0] = body = fresh;
    }
    struct ir_value *is_last = add_count(j, body, counter, count, first->span);
    struct ir_instruction user = {.span = second->span, .users = second->users, .region = body};
    struct ir_instruction *branch = rewrite_branch(&(struct rewriter){j->arena, j->kernel, body, &user}, is_last);
    IR_PART(branch, branch).is_last = true;
    say_stored(second);
    struct replacements replacements = rewrite_begin(j->arena, j->kernel);
    rewrite_set(&replacements, second->parameters[0], constant(j, 0));
    rewrite_replace(second->regions[0], &replacements);
    rewrite_move(j->arena, second->regions[0], branch->regions[0]);
}

static void join_region(struct joining *j, struct ir_region *region) {
    struct ir_region fresh = {.ambient = region->ambient};
    for (size_t i = 0; i < region->instructions.count; i++) {
        struct ir_instruction *first = region->instructions.at[i];
        if (first->kind != IR_FORALL)
            for (int r = 0; r < 2; r++)
                if (first->regions[r])
                    join_region(j, first->regions[r]);
        size_t end = is_of_blocks(j, first) ? rewrite_behind_host(region, i + 1) : i + 1;
        instructions loads = {0};
        if (is_of_blocks(j, first) && end < region->instructions.count &&
            goes_on(j, first, region->instructions.at[end], &loads)) {
            for (size_t k = i + 1; k < end; k++)
                vec_push(j->arena, &fresh.instructions, region->instructions.at[k]);
            join(j, &fresh, first, region->instructions.at[end], &loads);
            j->kernel->changes++;
            i = end;
        }
        vec_push(j->arena, &fresh.instructions, first);
    }
    region->instructions = fresh.instructions;
}

void pass_last_block(struct arena *arena, struct ir_kernel *kernel) {
    join_region(&(struct joining){arena, kernel}, kernel->body);
}
