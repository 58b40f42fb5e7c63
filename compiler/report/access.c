/* Loads, stores and atomics of a launch: in which memory, and how often. */
#include <math.h>
#include <string.h>

#include "ir/build/linear.h"
#include "ir/walk.h"
#include "report/walker.h"

const char *const report_use_names[] = {"load", "store", "atomic"};
const char *const report_place_names[] = {"global", "table", "shared", "shared of a warp", "registers", "local"};

const char *const report_pattern_names[] = {"coalesced", "same", "strided", "pieces", "scattered", "unknown", "own"};

static bool touches(const struct ir_instruction *instruction) {
    return instruction->kind == IR_LOAD || instruction->kind == IR_STORE || instruction->kind == IR_ATOMIC;
}

static void number(struct walker *w, const struct ir_region *region) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *instruction = region->instructions.at[i];
        if (touches(instruction)) {
            vec_push(w->arena, &w->instructions, instruction);
            map_set(w->numbers, instruction, (void *)(uintptr_t)w->instructions.count);
        }
        for (int r = 0; r < 2; r++)
            if (instruction->regions[r])
                number(w, instruction->regions[r]);
    }
}

/* note [late loads]
   Compilers do a load in the innermost branch that has all its uses, where nothing is stored between. The report counts
   such loads there. A load that a loop uses, or more than one branch, is done before. */

/* The innermost region around both. */
static const struct ir_region *around_both(const struct ir_region *a, const struct ir_region *b) {
    while (!ir_region_inside(b, a))
        a = a->parent;
    return a;
}

static void use(struct walker *w, const struct ir_value *value, const struct ir_region *user) {
    const struct ir_instruction *made = value->definition;
    if (!made || value->is_constant || !ir_region_inside(user, made->region))
        return;
    for (const struct ir_region *at = user; at != made->region; at = at->parent)
        if (at->owner->kind != IR_IF)
            user = at->parent;
    const struct ir_region **home = &w->homes[value->id];
    *home = *home ? around_both(*home, user) : user;
}

static bool stores_in(const struct ir_instruction *at) {
    bool stores = at->kind == IR_STORE || at->kind == IR_ATOMIC || at->kind == IR_FENCE;
    for (int r = 0; r < 2 && at->regions[r] && !stores; r++)
        for (struct ir_walk walk = ir_walk(at->regions[r]); walk.at && !stores; ir_next(&walk))
            stores = walk.at->kind == IR_STORE || walk.at->kind == IR_ATOMIC || walk.at->kind == IR_FENCE;
    return stores;
}

/* Is something stored between the load and its home? */
static bool is_stored_before(const struct ir_instruction *load, const struct ir_region *home) {
    for (; home != load->region; home = home->parent) {
        const struct ir_region *around = home->parent;
        size_t i = 0;
        while (around == load->region && around->instructions.at[i] != load)
            i++;
        for (; around->instructions.at[i] != home->owner; i++)
            if (stores_in(around->instructions.at[i]))
                return true;
    }
    return false;
}

/* Backwards, so that all uses of a value come before it. */
static void find_homes(struct walker *w, const struct ir_region *region) {
    for (size_t i = 0; i < region->yields.count; i++)
        use(w, region->yields.at[i], region);
    for (size_t i = region->instructions.count; i-- > 0;) {
        const struct ir_instruction *instruction = region->instructions.at[i];
        const struct ir_region *user = region;
        for (int r = 0; r < 2; r++)
            if (instruction->regions[r])
                find_homes(w, instruction->regions[r]);
        if (instruction->kind == IR_OPERATION || instruction->kind == IR_LOAD) {
            const struct ir_region **home = &w->homes[instruction->results[0]->id];
            bool is_load = instruction->kind == IR_LOAD;
            bool stays = is_load && (instruction->is_volatile || region->ambient != LEVEL_THREAD);
            if (!*home && !stays)
                continue;
            if (stays || (is_load && is_stored_before(instruction, *home)))
                *home = region;
            user = *home;
            if (is_load && user != region) {
                late_loads *loads = map_get(w->late, user);
                if (!loads)
                    map_set(w->late, user, loads = ARENA_NEW(w->arena, late_loads));
                vec_push(w->arena, loads, instruction);
            }
        }
        for (size_t k = 0; k < instruction->operand_count; k++)
            use(w, instruction->operands[k], user);
    }
}

void accesses_begin(struct walker *w, const struct ir_region *region) {
    w->instructions.count = 0;
    w->numbers = map_new(w->arena);
    w->late = map_new(w->arena);
    number(w, region);
    find_homes(w, region);
}

/* Do all iterations of the launch go to the same places? */
static bool is_of_iteration(const struct ir_value *value, const struct ir_value *index, int depth) {
    if (value == index)
        return true;
    if (value->is_constant || (!value->definition && !value->region))
        return false;
    if (depth == 0)
        return true;
    const struct ir_instruction *made = value->definition;
    if (!made) { /* carried by a loop, or its index */
        const struct ir_instruction *loop = value->region->owner;
        return loop != index->region->owner && loop->kind != IR_FORALL && loop->kind != IR_FOR;
    }
    for (size_t i = 0; i < made->operand_count; i++)
        if (is_of_iteration(made->operands[i], index, depth - 1))
            return true;
    return made->kind != IR_OPERATION;
}

enum { DEEPEST_LOOK = 24 };

/* ---- arrays ---- */

/* Are all its elements named when the code is compiled, so that they can be registers? */
static bool has_constant_places(const struct walker *w, const struct ir_buffer *buffer) {
    for (size_t i = 0; i < w->instructions.count; i++) {
        const struct ir_instruction *instruction = w->instructions.at[i];
        struct linear sum;
        if (instruction->buffer != buffer)
            continue;
        if (!linear_expand(instruction->operands[0], &sum))
            return false;
        for (size_t k = 0; k < sum.count; k++) {
            const struct ir_region *region = sum.term[k].value->region;
            const struct ir_instruction *loop = region ? region->owner : NULL;
            bool is_unrolled = loop && loop->kind == IR_FOR && loop->parameters[0] == sum.term[k].value &&
                               loop->operands[0]->is_constant;
            /* An array that a block's loop carries: each thread has the element of its own index. */
            bool is_own = loop && loop->kind == IR_FORALL && loop->inner == LEVEL_THREAD;
            if (!is_unrolled && !is_own)
                return false;
        }
    }
    return true;
}

static enum report_place place_of_buffer(const struct walker *w, const struct ir_buffer *buffer) {
    switch (buffer->memory) {
    case MEMORY_INPUT:
    case MEMORY_OUTPUT: return REPORT_GLOBAL;
    case MEMORY_TABLE: return REPORT_TABLE;
    case MEMORY_SHARED: return buffer->owner == LEVEL_WARP ? REPORT_SHARED_WARP : REPORT_SHARED;
    case MEMORY_PRIVATE: return has_constant_places(w, buffer) ? REPORT_REGISTERS : REPORT_THREAD;
    }
    return REPORT_GLOBAL;
}

/* An input's elements: the product of its extents, which stand before its leaves. */
static struct amount elements_of(struct walker *w, const struct ir_buffer *buffer) {
    if (buffer->capacity)
        return value_count(w, buffer->capacity);
    const struct ir_parameter *parameters = w->kernel->parameters.at;
    size_t i = 0;
    while (parameters[i].buffer != buffer)
        i++;
    while (parameters[i].kind == IR_PARAMETER_BUFFER)
        i--;
    struct amount elements = value_count(w, parameters[i].value);
    for (; parameters[i].dimension > 0; i--)
        elements = amount_product(w->arena, w->symbols, value_count(w, parameters[i - 1].value), elements);
    return elements;
}

static struct report_array *array_of(struct walker *w, const struct ir_buffer *buffer) {
    for (size_t i = 0; i < w->launch->arrays.count; i++)
        if (w->launch->arrays.at[i]->buffer == buffer)
            return w->launch->arrays.at[i];
    struct report_array *array = ARENA_NEW(w->arena, struct report_array);
    *array = (struct report_array){.name = buffer_name(w, buffer),
                                   .place = place_of_buffer(w, buffer),
                                   .element = buffer->element,
                                   .elements = elements_of(w, buffer),
                                   .buffer = buffer};
    vec_push(w->arena, &w->launch->arrays, array);
    return array;
}

static bool is_alike(const struct report_access *a, const struct report_access *b) {
    return a->array == b->array && a->use == b->use && a->pattern == b->pattern && a->stride == b->stride;
}

/* One row for all that do the same with an array. */
void accesses_finish(struct walker *w, const struct tally *tally) {
    for (size_t i = 0; i < w->instructions.count; i++) {
        const struct ir_instruction *instruction = w->instructions.at[i];
        if (amount_is_zero(tally->accesses[i]))
            continue;
        struct report_access access = {.array = array_of(w, instruction->buffer),
                                       .use = instruction->kind == IR_LOAD    ? REPORT_LOAD
                                              : instruction->kind == IR_STORE ? REPORT_STORE
                                                                              : REPORT_ATOMIC,
                                       .bytes = (unsigned)target_element_bytes(instruction->buffer->element),
                                       .count = tally->accesses[i],
                                       .line = line_of(w, instruction->span)};
        access.pattern = w->seen[i].pattern;
        access.stride = w->seen[i].stride;
        access.lanes = w->seen[i].lanes;
        memcpy(access.at, w->seen[i].at, sizeof access.at);
        access.units = tally->units[i];
        access.sure = access.count.is_most ? amount_number(0) : access.count;
        access.is_again = !is_of_iteration(instruction->operands[0], w->forall->parameters[0], DEEPEST_LOOK);
        struct report_access *same = NULL;
        for (size_t k = 0; k < w->launch->accesses.count && !same; k++)
            if (is_alike(&w->launch->accesses.at[k], &access))
                same = &w->launch->accesses.at[k];
        if (same) {
            same->count = amount_sum(w->arena, same->count, access.count);
            same->sure = amount_sum(w->arena, same->sure, access.sure);
            same->units = amount_sum(w->arena, same->units, access.units);
            same->is_again &= access.is_again;
        } else
            vec_push(w->arena, &w->launch->accesses, access);
        if (same && !same->line)
            same->line = access.line;
    }
}

/* All lanes at one place. */
static void add_same(struct walker *w, const struct report_array *array, enum report_use use, struct amount count,
                     struct amount units) {
    const struct report_access access = {
        .array = array, .use = use, .pattern = REPORT_SAME, .bytes = 4, .count = count, .sure = count, .units = units};
    vec_push(w->arena, &w->launch->accesses, access);
}

void accesses_add_ticket(struct walker *w, const struct ir_buffer *tickets, struct amount draws) {
    struct report_array *told = ARENA_NEW(w->arena, struct report_array), *counter = array_of(w, tickets);
    *told = (struct report_array){
        .name = "ticket_of_block", .place = REPORT_SHARED, .element = BASE_U32, .elements = amount_number(1)};
    vec_push(w->arena, &w->launch->arrays, told);
    struct amount reads = amount_product(w->arena, w->symbols, draws, amount_number(w->target->block_threads));
    double warps = ceil((double)w->target->block_threads / REPORT_LANES);
    add_same(w, counter, REPORT_ATOMIC, draws, draws);
    add_same(w, told, REPORT_STORE, draws, draws);
    add_same(w, told, REPORT_LOAD, reads, amount_product(w->arena, w->symbols, draws, amount_number(warps)));
}
