/* outline: sequential work that reads arrays (a foldl at grid, say) is done by one device thread, not by the host element by
   element. A FOR, WHILE or IF in a host region that reads memory and launches nothing becomes the body of a FORALL with
   one iteration, which stores the results; the host reads those back. */
#include "ir/pass_list.h"

#include "ir/ir.h"
#include "ir/walk.h"

struct outlining {
    struct arena *arena;
    struct ir_kernel *kernel;
};

static bool only_computes(const struct ir_instruction *instruction) {
    for (struct ir_walk walk = ir_walk_of(instruction); walk.at; ir_next(&walk))
        switch (walk.at->kind) {
        case IR_FORALL:
        case IR_ALLOCATE:
        case IR_SWAP:
        case IR_STORE:
        case IR_ATOMIC:
        case IR_SHUFFLE:
        case IR_MATCH:
        case IR_BALLOT:
        case IR_FENCE: return false;
        case IR_OPERATION:
        case IR_LOAD:
        case IR_CHECK:
        case IR_FOR:
        case IR_WHILE:
        case IR_IF: break;
        }
    return true;
}

static bool is_sequential_reader(const struct ir_instruction *instruction) {
    return instruction->regions[0] && only_computes(instruction) && ir_touches_memory(instruction);
}

static void lower_ambient(const struct ir_instruction *instruction) {
    for (struct ir_walk walk = ir_walk_of(instruction); walk.at; ir_next(&walk))
        for (int r = 0; r < 2 && walk.at->regions[r]; r++)
            walk.at->regions[r]->ambient = LEVEL_THREAD;
}

static struct ir_value *new_value(struct outlining *o, enum base base, struct ir_region *region, int64_t low,
                                  int64_t high) {
    struct ir_value *value = ARENA_NEW(o->arena, struct ir_value);
    value->id = o->kernel->value_count++;
    value->base = base;
    value->region = region;
    value->low = low;
    value->high = high;
    return value;
}

static struct ir_value *new_int(struct outlining *o, int64_t integer) {
    struct ir_value *value = new_value(o, BASE_I32, NULL, integer, integer);
    value->is_constant = true;
    value->constant.integer = integer;
    return value;
}

static struct ir_instruction *new_instruction(struct outlining *o, enum ir_kind kind, const struct ir_instruction *like,
                                              struct ir_region *region, size_t operands) {
    struct ir_instruction *instruction = ARENA_NEW(o->arena, struct ir_instruction);
    instruction->kind = kind;
    instruction->span = like->span;
    instruction->region = region;
    instruction->operand_count = operands;
    instruction->operands = ARENA_ARRAY(o->arena, struct ir_value *, operands);
    return instruction;
}

/* Puts what `instruction` becomes at the end of `to`. */
static void outline(struct outlining *o, struct ir_region *host, struct ir_instruction *instruction,
                    struct ir_region *to) {
    struct ir_instruction *forall = new_instruction(o, IR_FORALL, instruction, host, 1);
    struct ir_region *body = ARENA_NEW(o->arena, struct ir_region);
    body->id = o->kernel->region_count++;
    body->ambient = LEVEL_THREAD;
    body->owner = forall;
    body->parent = host;
    forall->outer = LEVEL_GRID;
    forall->inner = LEVEL_THREAD;
    forall->operands[0] = new_int(o, 1);
    forall->parameters = ARENA_ARRAY(o->arena, struct ir_value *, 1);
    forall->parameters[0] = new_value(o, BASE_I32, body, 0, 0);
    forall->parameter_count = 1;
    forall->regions[0] = body;
    instruction->region = body;
    vec_push(o->arena, &body->instructions, instruction);
    VEC(struct ir_instruction *) loads = {0};
    for (size_t i = 0; i < instruction->result_count; i++) {
        struct ir_value *outer = instruction->results[i];
        struct ir_buffer *buffer = ARENA_NEW(o->arena, struct ir_buffer);
        buffer->id = (uint32_t)o->kernel->buffers.count;
        for (size_t k = 0; k < o->kernel->buffers.count; k++)
            if (o->kernel->buffers.at[k]->id >= buffer->id)
                buffer->id = o->kernel->buffers.at[k]->id + 1;
        buffer->memory = MEMORY_OUTPUT;
        buffer->owner = LEVEL_GRID;
        buffer->element = outer->base;
        buffer->capacity = new_int(o, 1);
        buffer->name = "scalar";
        buffer->span = instruction->span;
        vec_push(o->arena, &o->kernel->buffers, buffer);
        struct ir_instruction *allocate = new_instruction(o, IR_ALLOCATE, instruction, host, 0);
        allocate->buffer = buffer;
        vec_push(o->arena, &to->instructions, allocate);

        struct ir_value *inner = new_value(o, outer->base, body, outer->low, outer->high);
        inner->definition = instruction;
        instruction->results[i] = inner;
        struct ir_instruction *store = new_instruction(o, IR_STORE, instruction, body, 2);
        store->buffer = buffer;
        store->operands[0] = new_int(o, 0);
        store->operands[1] = inner;
        vec_push(o->arena, &body->instructions, store);

        struct ir_instruction *load = new_instruction(o, IR_LOAD, instruction, host, 1);
        load->buffer = buffer;
        load->operands[0] = store->operands[0];
        load->results = ARENA_ARRAY(o->arena, struct ir_value *, 1);
        load->results[0] = outer;
        load->result_count = 1;
        outer->definition = load;
        outer->region = host;
        vec_push(o->arena, &loads, load);
    }
    for (int k = 0; k < 2 && instruction->regions[k]; k++)
        instruction->regions[k]->parent = body;
    lower_ambient(instruction);
    vec_push(o->arena, &to->instructions, forall);
    for (size_t i = 0; i < loads.count; i++)
        vec_push(o->arena, &to->instructions, loads.at[i]);
}

static void outline_region(struct outlining *o, struct ir_region *region) {
    struct ir_region fresh = {0};
    for (size_t i = 0; i < region->instructions.count; i++) {
        struct ir_instruction *instruction = region->instructions.at[i];
        if (is_sequential_reader(instruction)) {
            outline(o, region, instruction, &fresh);
            continue;
        }
        if (instruction->kind != IR_FORALL)
            for (int k = 0; k < 2; k++)
                if (instruction->regions[k])
                    outline_region(o, instruction->regions[k]);
        vec_push(o->arena, &fresh.instructions, instruction);
    }
    region->instructions.at = fresh.instructions.at;
    region->instructions.count = fresh.instructions.count;
    region->instructions.capacity = fresh.instructions.capacity;
}

void pass_outline(struct arena *arena, struct ir_kernel *kernel) {
    struct outlining o = {arena, kernel};
    outline_region(&o, kernel->body);
}
