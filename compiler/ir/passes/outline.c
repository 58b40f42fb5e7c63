/* outline: sequential work that reads arrays (a foldl at grid, say) is done by one device thread,
   not by the host element by element. A FOR, WHILE or IF in a host region that reads memory and
   launches nothing becomes the body of a FORALL with one iteration, which stores the results; the
   host reads those back. */
#include "ir/passes/pass_list.h"

#include "ir/passes/rewrite.h"
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
        case IR_MMA:
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

/* Puts what `instruction` becomes at the end of `to`. */
static void outline(struct outlining *o, struct ir_region *host, struct ir_instruction *instruction,
                    struct ir_region *to) {
    struct rewriter at_host = {o->arena, o->kernel, to, instruction};
    size_t count = instruction->result_count;
    struct ir_buffer **buffers = ARENA_ARRAY(o->arena, struct ir_buffer *, count + 1);
    for (size_t i = 0; i < count; i++) {
        buffers[i] = rewrite_buffer(&at_host, (struct ir_buffer){.memory = MEMORY_OUTPUT,
                                                                 .owner = LEVEL_GRID,
                                                                 .element = instruction->results[i]->base,
                                                                 .capacity = rewrite_constant(&at_host, BASE_I32, 1),
                                                                 .name = "scalar",
                                                                 .span = instruction->span});
        rewrite_instruction(&at_host, IR_ALLOCATE, 0, 0)->buffer = buffers[i];
    }
    struct ir_instruction *forall =
        rewrite_forall(&at_host, LEVEL_GRID, LEVEL_THREAD, rewrite_constant(&at_host, BASE_I32, 1));
    struct ir_value *zero = rewrite_constant(&at_host, BASE_I32, 0);
    for (size_t i = 0; i < count; i++) {
        struct ir_instruction *load = rewrite_instruction(&at_host, IR_LOAD, 1, 1);
        load->buffer = buffers[i];
        load->operands[0] = zero;
        load->results[0] = instruction->results[i];
        load->results[0]->definition = load;
        load->results[0]->region = host;
    }
    struct ir_region *body = forall->regions[0];
    struct rewriter in_body = {o->arena, o->kernel, body, instruction};
    instruction->region = body;
    vec_push(o->arena, &body->instructions, instruction);
    for (size_t i = 0; i < count; i++) {
        const struct ir_value *outer = instruction->results[i];
        struct ir_value *inner = rewrite_value(&in_body, outer->base, body, outer->low, outer->high);
        inner->definition = instruction;
        instruction->results[i] = inner;
        struct ir_instruction *store = rewrite_instruction(&in_body, IR_STORE, 2, 0);
        store->buffer = buffers[i];
        store->operands[0] = zero;
        store->operands[1] = inner;
    }
    for (int k = 0; k < 2 && instruction->regions[k]; k++)
        instruction->regions[k]->parent = body;
    lower_ambient(instruction);
}

static void outline_region(struct outlining *o, struct ir_region *region) {
    struct ir_region fresh = {0};
    for (size_t i = 0; i < region->instructions.count; i++) {
        struct ir_instruction *instruction = region->instructions.at[i];
        if (is_sequential_reader(instruction)) {
            outline(o, region, instruction, &fresh);
            o->kernel->changes++;
            continue;
        }
        if (instruction->kind != IR_FORALL)
            for (int k = 0; k < 2; k++)
                if (instruction->regions[k])
                    outline_region(o, instruction->regions[k]);
        vec_push(o->arena, &fresh.instructions, instruction);
    }
    region->instructions = fresh.instructions;
}

void pass_outline(struct arena *arena, struct ir_kernel *kernel) {
    struct outlining o = {arena, kernel};
    outline_region(&o, kernel->body);
}
