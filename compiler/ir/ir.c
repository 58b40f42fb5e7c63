/* The tables of the IR and the questions about its structure that every stage asks. */
#include "ir/ir.h"

#include <limits.h>

#include "ir/machine.h"
#include "ir/walk.h"

const struct ir_op_info ir_op_info[OP_COUNT] = {
#define OP(id, name, arity, commutes, wraps, result, cost, lanes, ...)                                                 \
    [OP_##id] = {name, arity, commutes, wraps, RESULT_##result, COST_##cost, LANES_##lanes},
#include "ir/ops.def"
#undef OP
};

const char *const ir_memory_names[] = {"input", "table", "output", "shared", "private"};

const char *const ir_kind_names[] = {
    [IR_LOAD] = "load",       [IR_STORE] = "store",       [IR_ATOMIC] = "atomic", [IR_FENCE] = "fence",
    [IR_SHUFFLE] = "shuffle", [IR_BALLOT] = "ballot",     [IR_MATCH] = "match",   [IR_MMA] = "mma",
    [IR_CHECK] = "check",     [IR_ALLOCATE] = "allocate", [IR_SWAP] = "swap",     [IR_FORALL] = "forall",
    [IR_FOR] = "for",         [IR_WHILE] = "while",       [IR_IF] = "if"};

const char *const ir_atomic_names[ATOMIC_COUNT] = {"add", "min", "max",      "and",
                                                   "or",  "xor", "exchange", "compare-exchange"};

const struct ir_check_info ir_check_info[CHECK_COUNT] = {
#define CHECK(id, code, message, brief) [CHECK_##id] = {#id, DIAG_##code, message, brief},
#include "ir/checks.def"
#undef CHECK
};

struct ir_value *ir_new_value(struct arena *arena, struct ir_kernel *kernel, enum base base, struct ir_region *region,
                              int64_t low, int64_t high) {
    struct ir_value *value = ARENA_NEW(arena, struct ir_value);
    *value = (struct ir_value){.id = kernel->value_count++, .base = base, .low = low, .high = high, .region = region};
    return value;
}

struct ir_region *ir_new_region(struct arena *arena, struct ir_kernel *kernel, enum level_value ambient,
                                struct ir_instruction *owner, struct ir_region *parent) {
    struct ir_region *region = ARENA_NEW(arena, struct ir_region);
    *region = (struct ir_region){.id = kernel->region_count++, .ambient = ambient, .owner = owner, .parent = parent};
    return region;
}

struct ir_instruction *ir_new_instruction(struct arena *arena, enum ir_kind kind, size_t operands, size_t results,
                                          size_t parameters) {
    struct ir_instruction *instruction = ARENA_NEW(arena, struct ir_instruction);
    struct ir_value **slots = ARENA_ARRAY(arena, struct ir_value *, operands + results + parameters + 1);
    *instruction = (struct ir_instruction){.kind = kind,
                                           .operands = slots,
                                           .operand_count = operands,
                                           .results = slots + operands,
                                           .result_count = results,
                                           .parameters = slots + operands + results,
                                           .parameter_count = parameters};
    return instruction;
}

struct ir_instruction *ir_copy_of(struct arena *arena, struct ir_kernel *kernel, const struct ir_instruction *from,
                                  struct ir_region *region) {
    struct ir_instruction *copy = ir_new_instruction(arena, from->kind, from->operand_count, 1, 0), made = *copy;
    struct ir_value *result = ir_new_value(arena, kernel, from->results[0]->base, region, 0, 0);
    uint32_t id = result->id;
    *copy = *from;
    copy->region = region;
    copy->operands = memcpy(made.operands, from->operands, from->operand_count * sizeof *from->operands);
    copy->results = made.results;
    copy->results[0] = result;
    *result = *from->results[0];
    result->id = id;
    result->definition = copy;
    result->region = region;
    return copy;
}

bool ir_may_end(const struct ir_kernel *kernel, const struct ir_instruction *instruction) {
    for (struct ir_walk walk = ir_walk_of(instruction); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_CHECK && !kernel->checks.at[walk.at->site].is_noted)
            return true;
    return false;
}

bool ir_has(const struct ir_instruction *instruction, enum ir_kind kind) {
    for (struct ir_walk walk = ir_walk_of(instruction); walk.at; ir_next(&walk))
        if (walk.at->kind == kind && walk.at != instruction)
            return true;
    return false;
}

bool ir_is_slot(const struct ir_kernel *kernel, const struct ir_buffer *buffer) {
    if (!buffer->is_said || buffer->is_result || buffer->is_swapped)
        return false;
    bool is_read = false;
    for (struct ir_walk walk = ir_walk(kernel->body); walk.at; ir_next(&walk)) {
        if (walk.at->buffer != buffer || walk.at->kind == IR_ALLOCATE)
            continue;
        bool is_hosts = walk.at->region->ambient == LEVEL_GRID;
        if (walk.at->kind != (is_hosts ? IR_LOAD : IR_STORE))
            return false;
        is_read |= is_hosts;
    }
    return is_read;
}

size_t ir_result_in(const struct ir_kernel *kernel, const struct ir_buffer *buffer) {
    size_t i = 0;
    while (i < kernel->results.count &&
           (buffer->is_swapped || !kernel->results.at[i].is_array || kernel->results.at[i].buffer != buffer))
        i++;
    return i;
}

int ir_block_threads(const struct ir_kernel *kernel, const struct ir_region *region) {
    while (region->parent && region->parent->ambient != LEVEL_GRID)
        region = region->parent;
    bool is_launch = region->ambient != LEVEL_GRID && region->owner && region->owner->kind == IR_FORALL;
    int threads = is_launch ? IR_PART(region->owner, loop).threads : 0;
    return threads ? threads : kernel->block_size;
}

bool ir_uses(const struct ir_kernel *kernel, enum ir_kind kind) {
    for (struct ir_walk walk = ir_walk(kernel->body); walk.at; ir_next(&walk))
        if (walk.at->kind == kind)
            return true;
    return false;
}

bool mma_has_form(enum base element) {
    return base_info[element].is_narrow || element == BASE_F32 || element == BASE_I8 || element == BASE_U8;
}

struct mma_form mma_form(enum base element) {
    unsigned pack = 32 / (unsigned)base_info[element].bits;
    return (struct mma_form){.pack = pack,
                             .first = 4 * pack,
                             .second = 2 * pack,
                             .operands = 6 * pack + MMA_SUMS,
                             .row = 4 * pack,
                             .inner = 8 * (int)pack,
                             .sum = base_info[element].is_floating ? BASE_F32 : BASE_I32};
}

static bool touches_memory(const struct ir_instruction *instruction) {
    switch (instruction->kind) {
    case IR_OPERATION:
    case IR_SHUFFLE:
    case IR_MATCH:
    case IR_MMA:
    case IR_BALLOT:
    case IR_CHECK:
    case IR_FORALL:
    case IR_FOR:
    case IR_WHILE:
    case IR_IF: return false;
    case IR_LOAD: return instruction->buffer->memory != MEMORY_TABLE;
    case IR_STORE:
    case IR_ATOMIC:
    case IR_FENCE:
    case IR_ALLOCATE:
    case IR_SWAP: return true;
    }
    return false;
}

bool ir_touches_memory(const struct ir_instruction *instruction) {
    for (struct ir_walk walk = ir_walk_of(instruction); walk.at; ir_next(&walk))
        if (touches_memory(walk.at))
            return true;
    return false;
}

bool ir_is_cheap(const struct ir_instruction *instruction) {
    return instruction->kind == IR_OPERATION && ir_op_info[instruction->op].cost != COST_LONG;
}

bool ir_is_same(const struct ir_value *x, const struct ir_value *y) {
    return x == y || (x->is_constant && y->is_constant && x->constant.integer == y->constant.integer);
}

bool ir_region_inside(const struct ir_region *region, const struct ir_region *ancestor) {
    while (region && region != ancestor)
        region = region->parent;
    return region == ancestor;
}

bool ir_in_scope(const struct ir_value *value, const struct ir_region *region) {
    if (!value->region || ir_region_inside(region, value->region))
        return true;
    const struct ir_instruction *owner = value->region->owner;
    return !value->definition && owner && owner->kind == IR_WHILE && ir_region_inside(region, owner->regions[1]);
}

const char *ir_extent_name(struct arena *arena, size_t rank, size_t dimension) {
    static const char *const names[] = {"rows", "columns", "extent"};
    if (rank == 1)
        return "length";
    return dimension < 3 ? names[dimension] : arena_printf(arena, "extent_%zu", dimension);
}

enum base ir_lanes_base(const struct ir_kernel *kernel) { return kernel->warp_size > 32 ? BASE_U64 : BASE_U32; }

int ir_body_size(const struct ir_region *region) {
    int size = 0;
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk), size++)
        if (ir_is_loop(walk.at))
            return INT_MAX;
    return size;
}

int ir_turns(const struct ir_instruction *forall) {
    const struct ir_region *body = forall->regions[0];
    int turns = GPU_TURNS, loaded = 0, widest = 0, size = ir_body_size(body);
    if (size > GPU_TURN || !ir_has(forall, IR_LOAD))
        return 1;
    for (struct ir_walk walk = ir_walk(body); walk.at; ir_next(&walk))
        if (ir_is_access(walk.at)) {
            int bytes = base_info[walk.at->buffer->element].bits / 8;
            loaded += walk.at->kind == IR_LOAD ? bytes : 0;
            widest = bytes > widest ? bytes : widest;
        }
    int least = loaded < widest ? loaded : widest;
    while (turns * least < GPU_TURN_BYTES && 2 * turns * size <= GPU_TURNS * GPU_TURN)
        turns *= 2;
    return turns;
}

void ir_note_update(struct arena *arena, struct ir_kernel *kernel, struct ir_update update) {
    for (size_t i = 0; i < kernel->updated.count; i++) {
        struct ir_update *known = &kernel->updated.at[i];
        if (known->update.begin != update.update.begin || known->update.end != update.update.end)
            continue;
        if (known->kind == UPDATE_IN_PLACE)
            *known = update;
        return;
    }
    vec_push(arena, &kernel->updated, update);
}
