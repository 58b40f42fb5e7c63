/* on-device: a number that a launch has found, and that only the next launch wants, is loaded there, and what
   little is computed of it: so the host does not wait for it, and what follows is on its way before it is
   known. Each thread loads and computes it, which is why it is not much. */
#include "ir/pass_list.h"

#include <string.h>

#include "ir/machine.h"
#include "ir/walk.h"
#include "support/map.h"

typedef VEC(struct ir_instruction *) instructions;

/* What becomes of one load of the host. */
struct moving {
    struct arena *arena;
    const struct ir_kernel *kernel;
    struct ir_buffer *buffer;
    struct map *values;          /* what is made of it: ir_value → itself */
    instructions moved;          /* the load, and what makes them, in order */
    struct ir_instruction *user; /* the launch; NULL: none was seen yet */
};

static bool is_cheap(const struct ir_instruction *instruction) {
    return instruction->kind == IR_OPERATION &&
           (instruction->op == OP_DIV || ir_op_info[instruction->op].cost != COST_LONG);
}

static bool uses_any(const struct moving *m, struct ir_value *const *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (map_has(m->values, values[i]))
            return true;
    return false;
}

/* In its regions. */
static bool uses_within(const struct moving *m, const struct ir_instruction *instruction) {
    for (struct ir_walk walk = ir_walk_of(instruction); walk.at; ir_next(&walk))
        for (size_t i = walk.at == instruction ? instruction->operand_count : 0; ir_taken(walk.at, i); i++)
            if (map_has(m->values, *ir_taken(walk.at, i)))
                return true;
    return false;
}

/* Is something else put where the load is from, there or within? */
static bool overwrites(const struct moving *m, const struct ir_instruction *instruction) {
    for (struct ir_walk walk = ir_walk_of(instruction); walk.at; ir_next(&walk)) {
        const struct ir_instruction *at = walk.at;
        bool is_store = at->kind == IR_STORE || at->kind == IR_ATOMIC || at->kind == IR_ALLOCATE;
        if ((is_store && at->buffer == m->buffer) ||
            (at->kind == IR_SWAP && (at->buffer == m->buffer || at->other == m->buffer)))
            return true;
    }
    return false;
}

static bool is_used_elsewhere(const struct moving *m) {
    for (size_t i = 0; i < m->kernel->results.count; i++) {
        const struct ir_result *result = &m->kernel->results.at[i];
        if (map_has(m->values, result->value) || uses_any(m, result->extents, result->rank))
            return true;
    }
    for (size_t i = 0; i < m->kernel->buffers.count; i++)
        if (m->kernel->buffers.at[i]->capacity && map_has(m->values, m->kernel->buffers.at[i]->capacity))
            return true;
    return uses_any(m, m->kernel->body->yields.at, m->kernel->body->yields.count);
}

/* May what comes after the load do without it, but for one launch? */
static bool goes_with(struct moving *m, struct ir_instruction *at) {
    bool within = uses_within(m, at);
    if (uses_any(m, at->operands, at->operand_count)) {
        if (within || !is_cheap(at) || m->moved.count > GPU_ON_DEVICE)
            return false;
        vec_push(m->arena, &m->moved, at);
        map_set(m->values, at->results[0], at->results[0]);
        return true;
    }
    if (overwrites(m, at) && (!m->user || within))
        return false;
    if (!within)
        return true;
    if (m->user || at->kind != IR_FORALL || at->operands[0]->high < 1)
        return false;
    m->user = at;
    return true;
}

static bool is_hosts_load(const struct ir_instruction *at) {
    return at->kind == IR_LOAD && at->buffer->memory == MEMORY_OUTPUT && !at->buffer->is_swapped && !at->is_volatile &&
           !at->rereads;
}

static void move(struct moving *m, struct ir_region *host) {
    size_t kept = 0;
    for (size_t i = 0, next = 0; i < host->instructions.count; i++) {
        if (next < m->moved.count && host->instructions.at[i] == m->moved.at[next])
            next++;
        else
            host->instructions.at[kept++] = host->instructions.at[i];
    }
    host->instructions.count = kept;
    struct ir_region *body = m->user->regions[0];
    for (size_t i = 0; i < m->moved.count; i++) {
        m->moved.at[i]->region = m->moved.at[i]->results[0]->region = body;
    }
    for (size_t i = 0; i < body->instructions.count; i++)
        vec_push(m->arena, &m->moved, body->instructions.at[i]);
    memcpy(&body->instructions, &m->moved, sizeof m->moved);
}

void pass_on_device(struct arena *arena, struct ir_kernel *kernel) {
    struct ir_region *host = kernel->body;
    for (size_t i = host->instructions.count; i-- > 0;) {
        struct ir_instruction *load = host->instructions.at[i];
        if (!is_hosts_load(load))
            continue;
        struct moving m = {.arena = arena, .kernel = kernel, .buffer = load->buffer, .values = map_new(arena)};
        map_set(m.values, load->results[0], load->results[0]);
        vec_push(arena, &m.moved, load);
        bool is_good = true;
        for (size_t k = i + 1; k < host->instructions.count && is_good; k++)
            is_good = goes_with(&m, host->instructions.at[k]);
        if (is_good && m.user && !is_used_elsewhere(&m))
            move(&m, host);
    }
}
