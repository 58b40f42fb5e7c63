/* on-device: a number that a launch has found, and that only later launches want, is loaded there, and what
   little is computed of it: so the host does not wait for it, and what follows is on its way before it is
   known. Each thread loads and computes it, which is why it is not much. Where the number is a result, too, the host
   loads it after the last launch.

   The gain (`fclc report`, with the pass and with --skip=on-device, 2026-11-29): in benchmarks/suites/rodinia_srad the
   host waits 0 times in place of twice a turn, with as many launches; in tests/run/optimiser/kept_on_device `centred` 0
   times in place of once. */
#include "ir/passes/pass_list.h"

#include <string.h>

#include "ir/machine.h"
#include "ir/places.h"
#include "ir/passes/rewrite.h"

typedef VEC(struct ir_instruction *) instructions;

/* One load of the host, on its way to the launches that use it. */
struct moving {
    struct arena *arena;
    struct ir_kernel *kernel;
    struct ir_buffer *buffer;
    struct map *values;  /* what is made of it: ir_value → itself */
    instructions moved;  /* the load, and what makes them, in order */
    instructions users;  /* the launches, in order */
    bool is_overwritten; /* something else is there by now */
};

static bool is_cheap(const struct ir_instruction *instruction) {
    return instruction->kind == IR_LOAD || instruction->op == OP_DIV || ir_op_info[instruction->op].cost != COST_LONG;
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

static bool is_result(const struct moving *m) {
    for (size_t i = 0; i < m->kernel->results.count; i++) {
        const struct ir_result *result = &m->kernel->results.at[i];
        if (map_has(m->values, result->value) || uses_any(m, result->extents, result->rank))
            return true;
    }
    return false;
}

static bool is_capacity(const struct moving *m) {
    for (size_t i = 0; i < m->kernel->buffers.count; i++)
        if (m->kernel->buffers.at[i]->capacity && map_has(m->values, m->kernel->buffers.at[i]->capacity))
            return true;
    return false;
}

/* Do only launches want it, of what is one or has some within? */
static bool find_users(struct moving *m, struct ir_instruction *at) {
    if (at->kind == IR_FORALL) {
        vec_push(m->arena, &m->users, at);
        return at->operands[0]->high >= 1;
    }
    for (int r = 0; r < 2; r++) {
        struct ir_region *region = at->regions[r];
        if (region && uses_any(m, region->yields.at, region->yields.count))
            return false;
        for (size_t i = 0; region && i < region->instructions.count; i++) {
            struct ir_instruction *inner = region->instructions.at[i];
            if (uses_any(m, inner->operands, inner->operand_count))
                return false;
            if (uses_within(m, inner) && !find_users(m, inner))
                return false;
        }
    }
    return true;
}

/* May what comes after the load do without it, but for launches? */
static bool goes_with(struct moving *m, struct ir_instruction *at) {
    bool within = uses_within(m, at);
    if (uses_any(m, at->operands, at->operand_count)) {
        if (within || at->kind != IR_OPERATION)
            return false;
        vec_push(m->arena, &m->moved, at);
        map_set(m->values, at->results[0], at->results[0]);
        return true;
    }
    m->is_overwritten |= ir_change_in(at, m->buffer) != NULL;
    return !within || (!m->is_overwritten && find_users(m, at));
}

static bool is_hosts_load(const struct ir_instruction *at) {
    return at->kind == IR_LOAD && at->buffer->memory == MEMORY_OUTPUT && !at->buffer->is_swapped && !at->is_volatile &&
           !at->again;
}

static void take_out(const struct moving *m, struct ir_region *host) {
    size_t kept = 0;
    for (size_t i = 0, next = 0; i < host->instructions.count; i++) {
        if (next < m->moved.count && host->instructions.at[i] == m->moved.at[next])
            next++;
        else
            host->instructions.at[kept++] = host->instructions.at[i];
    }
    host->instructions.count = kept;
}

static void put_first(const struct moving *m, const instructions *first, struct ir_region *body) {
    instructions all = {0};
    for (size_t i = 0; i < first->count; i++) {
        first->at[i]->region = first->at[i]->results[0]->region = body;
        vec_push(m->arena, &all, first->at[i]);
    }
    for (size_t i = 0; i < body->instructions.count; i++)
        vec_push(m->arena, &all, body->instructions.at[i]);
    memcpy(&body->instructions, &all, sizeof all);
}

/* The moved instructions that a launch needs, last first. */
static instructions wanted_by(const struct moving *m, const struct ir_instruction *launch) {
    instructions wanted = {0};
    for (size_t i = m->moved.count; i-- > 0;) {
        struct moving one = {.values = map_new(m->arena)};
        map_set(one.values, m->moved.at[i]->results[0], m->moved.at[i]);
        bool is_wanted = uses_within(&one, launch);
        for (size_t k = 0; k < wanted.count; k++)
            is_wanted |= uses_any(&one, wanted.at[k]->operands, wanted.at[k]->operand_count);
        if (is_wanted)
            vec_push(m->arena, &wanted, m->moved.at[i]);
    }
    return wanted;
}

static bool is_little(const struct moving *m) {
    for (size_t i = 0; i < m->users.count; i++) {
        instructions wanted = wanted_by(m, m->users.at[i]);
        if (wanted.count > 1 + GPU_ON_DEVICE)
            return false;
        for (size_t k = 0; k < wanted.count; k++)
            if (!is_cheap(wanted.at[k]))
                return false;
    }
    return true;
}

static void copy_into(const struct moving *m, struct ir_instruction *launch) {
    struct replacements replacements = rewrite_begin(m->arena, m->kernel);
    instructions wanted = wanted_by(m, launch), copies = {0};
    for (size_t i = wanted.count; i-- > 0;) {
        struct ir_instruction *copy = ir_copy_of(m->arena, m->kernel, wanted.at[i], launch->regions[0]);
        rewrite_set(&replacements, wanted.at[i]->results[0], copy->results[0]);
        vec_push(m->arena, &copies, copy);
    }
    put_first(m, &copies, launch->regions[0]);
    rewrite_replace(launch->regions[0], &replacements);
}

static void move(struct moving *m, struct ir_region *host, bool is_told) {
    m->kernel->changes++;
    for (size_t i = 0; i + !is_told < m->users.count; i++)
        copy_into(m, m->users.at[i]);
    take_out(m, host);
    if (!is_told)
        put_first(m, &m->moved, m->users.at[m->users.count - 1]->regions[0]);
    for (size_t i = 0; is_told && i < m->moved.count; i++)
        vec_push(m->arena, &host->instructions, m->moved.at[i]);
}

static void load_on_device(struct arena *arena, struct ir_kernel *kernel, struct ir_region *host) {
    for (size_t i = host->instructions.count; i-- > 0;) {
        struct ir_instruction *load = host->instructions.at[i];
        for (int r = 0; r < 2; r++)
            if (load->regions[r] && load->regions[r]->ambient == LEVEL_GRID)
                load_on_device(arena, kernel, load->regions[r]);
        if (!is_hosts_load(load))
            continue;
        struct moving m = {.arena = arena, .kernel = kernel, .buffer = load->buffer, .values = map_new(arena)};
        map_set(m.values, load->results[0], load->results[0]);
        vec_push(arena, &m.moved, load);
        bool is_good = true, is_followed = false;
        for (size_t k = i + 1; k < host->instructions.count && is_good; k++) {
            is_good = goes_with(&m, host->instructions.at[k]);
            is_followed |= host->instructions.at[k]->regions[0] != NULL;
        }
        bool is_told = is_good && is_result(&m);
        if (is_good && (m.users.count || is_told) && is_followed && !is_capacity(&m) &&
            !(is_told && m.is_overwritten) && is_little(&m) && !uses_any(&m, host->yields.at, host->yields.count))
            move(&m, host, is_told);
    }
}

void pass_on_device(struct arena *arena, struct ir_kernel *kernel) { load_on_device(arena, kernel, kernel->body); }
