/* Dead code: what no result depends on. Values are followed backwards from the kernel's results; a
   store counts when its buffer is a result or is loaded from by something that counts, a branch or
   loop when something in it or one of its results does. Then the rest is removed, down to single
   results of branches and single carried values. */
#include "ir/passes/pass_list.h"

#include "ir/places.h"
#include "ir/passes/rewrite.h"

struct dce {
    struct arena *arena;
    struct ir_kernel *kernel;
    bool *values; /* by id: counts */
    struct ir_places places;
    struct map *buffers; /* those that count */
    ir_values pending;   /* counted, not yet followed */
};

/* ---- marking ---- */

static void need(struct dce *d, struct ir_value *value) {
    if (value && !d->values[value->id]) {
        d->values[value->id] = true;
        vec_push(d->arena, &d->pending, value);
    }
}

static void need_buffer(struct dce *d, struct ir_buffer *buffer);
static void keep(struct dce *d, struct ir_instruction *instruction);

/* Where the loop waits, which is worth its branch. */
static void keep_pauses(struct dce *d, const struct ir_region *body) {
    for (size_t i = 0; i < body->instructions.count; i++) {
        struct ir_instruction *branch = body->instructions.at[i];
        for (int r = 0; r < 2 && branch->kind == IR_IF; r++)
            for (size_t k = 0; k < branch->regions[r]->instructions.count; k++) {
                struct ir_instruction *at = branch->regions[r]->instructions.at[k];
                if (at->kind == IR_FENCE && at->outer == LEVEL_THREAD)
                    keep(d, at);
            }
    }
}

/* The instruction stays, and so does all that it is inside of, with what these need to run as often as before. */
static void keep(struct dce *d, struct ir_instruction *instruction) {
    for (; instruction && !instruction->marked; instruction = instruction->region->owner) {
        instruction->marked = true;
        switch (instruction->kind) {
        case IR_OPERATION:
        case IR_LOAD:
        case IR_STORE:
        case IR_ATOMIC:
        case IR_SHUFFLE:
        case IR_MATCH:
        case IR_MMA:
        case IR_BALLOT:
        case IR_CHECK:
            for (size_t i = 0; i < instruction->operand_count; i++)
                need(d, instruction->operands[i]);
            break;
        case IR_ALLOCATE: need(d, instruction->buffer->capacity); break;
        case IR_SWAP:
            need_buffer(d, instruction->buffer);
            need_buffer(d, IR_PART(instruction, swap).other);
            break;
        case IR_FENCE: break;
        case IR_FORALL:
            if (instruction->buffer)
                need_buffer(d, instruction->buffer);
            need(d, instruction->operands[0]);
            break;
        case IR_FOR:
        case IR_IF: need(d, instruction->operands[0]); break;
        case IR_WHILE:
            need(d, instruction->regions[0]->yields.at[0]);
            keep_pauses(d, instruction->regions[1]);
            break;
        }
    }
}

static void need_buffer(struct dce *d, struct ir_buffer *buffer) {
    if (map_has(d->buffers, buffer))
        return;
    map_set(d->buffers, buffer, buffer);
    need(d, buffer->capacity);
    const struct ir_touched *touched = ir_touched(d->arena, &d->places, buffer);
    for (size_t i = 0; i < touched->made.count; i++)
        keep(d, touched->made.at[i]);
    for (size_t i = 0; i < touched->all.count; i++)
        if (ir_changes_element(touched->all.at[i]) || touched->all.at[i]->kind == IR_SWAP)
            keep(d, touched->all.at[i]);
}

static size_t index_in(struct ir_value *const *values, size_t count, const struct ir_value *value) {
    size_t i = 0;
    while (i < count && values[i] != value)
        i++;
    return i;
}

/* The i-th carried value of a loop: from before, from the round before, and afterwards. */
static void need_carried(struct dce *d, struct ir_instruction *loop, size_t i) {
    size_t fixed = loop->kind == IR_FOR;
    keep(d, loop);
    need(d, loop->operands[fixed + i]);
    need(d, loop->parameters[fixed + i]);
    need(d, loop->regions[loop->kind == IR_WHILE]->yields.at[i]);
}

static void follow(struct dce *d, struct ir_value *value) {
    struct ir_instruction *definition = value->definition;
    if (!definition) {
        struct ir_instruction *loop = value->region ? value->region->owner : NULL;
        if (!loop)
            return;
        keep(d, loop);
        size_t fixed = loop->kind != IR_WHILE, i = index_in(loop->parameters, loop->parameter_count, value);
        if (i >= fixed && i < loop->parameter_count)
            need_carried(d, loop, i - fixed);
        return;
    }
    keep(d, definition);
    size_t i = index_in(definition->results, definition->result_count, value);
    switch (definition->kind) {
    case IR_LOAD:
    case IR_ATOMIC: need_buffer(d, definition->buffer); break;
    case IR_FOR:
    case IR_WHILE: need_carried(d, definition, i); break;
    case IR_IF:
        need(d, definition->regions[0]->yields.at[i]);
        need(d, definition->regions[1]->yields.at[i]);
        break;
    case IR_OPERATION:
    case IR_STORE:
    case IR_FENCE:
    case IR_SHUFFLE:
    case IR_MATCH:
    case IR_MMA:
    case IR_BALLOT:
    case IR_CHECK:
    case IR_ALLOCATE:
    case IR_SWAP:
    case IR_FORALL: break;
    }
}

/* ---- sweeping ---- */

/* Keeps values[i] where the i-th of `like` counts, `fixed` first ones always. */
static size_t filter(const struct dce *d, struct ir_value **values, size_t fixed, struct ir_value *const *like,
                     size_t count) {
    size_t kept = fixed;
    for (size_t i = 0; i < count; i++)
        if (d->values[like[i]->id])
            values[kept++] = values[fixed + i];
    return kept;
}

static void sweep_branch(const struct dce *d, struct ir_instruction *branch) {
    size_t count = branch->result_count;
    for (int side = 0; side < 2; side++)
        branch->regions[side]->yields.count = filter(d, branch->regions[side]->yields.at, 0, branch->results, count);
    branch->result_count = filter(d, branch->results, 0, branch->results, count);
}

/* A carried value may count inside the loop only: its result then stays, too. */
static void sweep_loop(struct dce *d, struct ir_instruction *loop) {
    size_t fixed = loop->kind == IR_FOR, count = loop->result_count;
    struct ir_value **like = ARENA_ARRAY(d->arena, struct ir_value *, count + 1);
    if (count > 0)
        memcpy(like, loop->parameters + fixed, count * sizeof *like);
    ir_values *next = &loop->regions[loop->kind == IR_WHILE]->yields;
    next->count = filter(d, next->at, 0, like, count);
    loop->operand_count = filter(d, loop->operands, fixed, like, count);
    loop->parameter_count = filter(d, loop->parameters, fixed, like, count);
    loop->result_count = filter(d, loop->results, 0, like, count);
}

static bool sweep(void *context, struct ir_instruction *instruction) {
    struct dce *d = context;
    if (!instruction->marked && instruction->kind != IR_FENCE) { /* a fence is as good as what it stands between */
        d->kernel->changes++;
        return false;
    }
    if (instruction->kind == IR_IF)
        sweep_branch(d, instruction);
    else if (instruction->kind == IR_FOR || instruction->kind == IR_WHILE)
        sweep_loop(d, instruction);
    return true;
}

void pass_dce(struct arena *arena, struct ir_kernel *kernel) {
    struct dce d = {.arena = arena,
                    .kernel = kernel,
                    .values = ARENA_ARRAY(arena, bool, kernel->value_count + 1),
                    .places = ir_places(arena, kernel->body),
                    .buffers = map_new(arena)};
    for (struct ir_walk walk = ir_walk(kernel->body); walk.at; ir_next(&walk))
        walk.at->marked = false;
    for (size_t i = 0; i < kernel->results.count; i++) {
        need(&d, kernel->results.at[i].value);
        for (size_t k = 0; k < kernel->results.at[i].rank; k++)
            need(&d, kernel->results.at[i].extents[k]);
        if (kernel->results.at[i].buffer)
            need_buffer(&d, kernel->results.at[i].buffer);
    }
    for (size_t i = 0; i < kernel->buffers.count; i++)
        if (kernel->buffers.at[i]->is_result)
            need_buffer(&d, kernel->buffers.at[i]);
    for (struct ir_walk walk = ir_walk(kernel->body); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_CHECK)
            keep(&d, walk.at);
    while (d.pending.count > 0)
        follow(&d, d.pending.at[--d.pending.count]);
    rewrite_keep(kernel->body, sweep, &d);
    size_t kept = 0;
    for (size_t i = 0; i < kernel->buffers.count; i++) {
        struct ir_buffer *buffer = kernel->buffers.at[i];
        if (ir_is_constant_memory(buffer) || map_has(d.buffers, buffer))
            kernel->buffers.at[kept++] = buffer;
    }
    kernel->buffers.count = kept;
}
