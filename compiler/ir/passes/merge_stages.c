/* Takes two stages of a tree at a time: where a block's loop reads, of what the loop before it has stored, each element
   once, at its own index and at constant distances from it, a thread computes the elements that it reads. Then they are
   in registers, there is a barrier less, and a thread that loaded two numbers loads four, which are under way together.
   Each number is computed as before, so that sums of floats stay what they are.

   note [stages worth merging]
   Where the second loop has an element for each of the block's threads, nobody is idle for it: the first stages of a
   tree over many elements, up to what registers bear. Where it has fewer, half of those that worked then rest: worth it
   for four loads of a thread from global memory, which hide each other's latency, and for four from shared memory,
   as a barrier takes longer than they do.

   The gain, in machine code for sm_90 by NVRTC 13.0 (examples/reductions, with the pass and with --skip=merge-stages,
   2026-11-29): `sum_0` has 309 instructions for 365, 8 stores to shared memory for 20, 26 loads for 38, as many
   registers; `sums4` 189 for 277, 5 barriers for 7, 22 registers for 32. */
#include "ir/machine.h"
#include "ir/passes/pass_list.h"
#include "ir/places.h"
#include "ir/passes/rewrite.h"

enum { MOST_DISTANCES = 8 };

struct merger {
    struct arena *arena;
    struct ir_kernel *kernel;
    struct ir_places places;
    struct replacements replaced;
};

/* A loop whose body is operations, loads, and stores to its own element. */
struct stage {
    struct ir_instruction *loop;
    VEC(const struct ir_instruction *) stores;
    size_t loads, global_loads;
};

/* The elements of the first loop that the second loop reads. */
struct reading {
    int64_t distances[MOST_DISTANCES];
    size_t count;
    size_t loads; /* instructions */
};

static bool is_stage_store(const struct ir_instruction *store, const struct ir_instruction *loop) {
    const struct ir_buffer *buffer = store->buffer;
    return buffer->memory == MEMORY_SHARED && buffer->owner == LEVEL_BLOCK && !buffer->rewritten &&
           store->operands[0] == loop->parameters[0] && ir_is_plain(store);
}

static bool is_block_loop(const struct ir_instruction *loop) {
    return loop->kind == IR_FORALL && loop->outer == LEVEL_BLOCK && loop->inner == LEVEL_THREAD && !loop->buffer &&
           loop->operands[0]->is_constant;
}

static bool is_stage(struct merger *m, struct ir_instruction *loop, struct stage *stage) {
    *stage = (struct stage){.loop = loop};
    const struct ir_region *body = loop->regions[0];
    if (body->instructions.count > GPU_STAGE)
        return false;
    for (size_t i = 0; i < body->instructions.count; i++) {
        const struct ir_instruction *instruction = body->instructions.at[i];
        if (instruction->kind == IR_STORE && is_stage_store(instruction, loop)) {
            vec_push(m->arena, &stage->stores, instruction);
        } else if (instruction->kind == IR_LOAD && ir_is_plain(instruction)) {
            enum ir_memory memory = instruction->buffer->memory;
            stage->loads += memory != MEMORY_TABLE && memory != MEMORY_PRIVATE;
            stage->global_loads += memory == MEMORY_INPUT || memory == MEMORY_OUTPUT;
        } else if (instruction->kind != IR_OPERATION || ir_op_info[instruction->op].cost == COST_LONG) {
            return false;
        }
    }
    return stage->stores.count > 0;
}

static const struct ir_instruction *store_to(const struct stage *stage, const struct ir_buffer *buffer) {
    for (size_t i = 0; i < stage->stores.count; i++)
        if (stage->stores.at[i]->buffer == buffer)
            return stage->stores.at[i];
    return NULL;
}

/* Does something in the loop write what the stage reads? */
static bool disturbs(const struct stage *stage, const struct ir_instruction *loop) {
    const struct ir_region *body = stage->loop->regions[0];
    for (size_t i = 0; i < body->instructions.count; i++)
        if (body->instructions.at[i]->kind == IR_LOAD && ir_change_in(loop, body->instructions.at[i]->buffer))
            return true;
    return false;
}

/* How far from the loop's own index the place is: false where that is not always the same. */
static bool distance_of(const struct ir_instruction *loop, struct ir_value *place, int64_t *distance) {
    bool is_only = loop->operands[0]->constant.integer == 1 && place->is_constant;
    if (is_only)
        *distance = place->constant.integer;
    return is_only || linear_distance(loop->parameters[0], place, distance);
}

static bool add_distance(struct reading *reading, int64_t distance, int64_t count) {
    for (size_t i = 0; i < reading->count; i++) {
        if (reading->distances[i] == distance)
            return true;
        int64_t apart = distance - reading->distances[i];
        if ((apart < 0 ? -apart : apart) < count)
            return false; /* an element would be computed twice */
    }
    if (reading->count == MOST_DISTANCES)
        return false;
    reading->distances[reading->count++] = distance;
    return true;
}

static bool find_reading(const struct stage *stage, const struct ir_instruction *loop, struct reading *reading) {
    *reading = (struct reading){.count = 0};
    int64_t before = stage->loop->operands[0]->constant.integer, count = loop->operands[0]->constant.integer;
    const struct ir_region *body = loop->regions[0];
    for (size_t i = 0; i < body->instructions.count; i++) {
        const struct ir_instruction *load = body->instructions.at[i];
        int64_t distance;
        if (load->kind != IR_LOAD || !store_to(stage, load->buffer))
            continue;
        if (!ir_is_plain(load) || !distance_of(loop, load->operands[0], &distance) || distance < 0 ||
            distance + count > before || !add_distance(reading, distance, count))
            return false;
        reading->loads++;
    }
    return reading->count > 1;
}

/* Nobody else touches what the stage stores. */
static bool is_all(struct merger *m, const struct stage *stage, const struct reading *reading) {
    size_t found = 0;
    for (size_t i = 0; i < stage->stores.count; i++)
        found += ir_touched(m->arena, &m->places, stage->stores.at[i]->buffer)->all.count;
    return found == stage->stores.count + reading->loads;
}

/* See note [stages worth merging]. */
static bool is_worth_it(const struct merger *m, const struct stage *stage, const struct ir_instruction *loop,
                        const struct reading *reading) {
    size_t size = stage->loop->regions[0]->instructions.count * reading->count + loop->regions[0]->instructions.count;
    if (size > GPU_STAGE)
        return false;
    bool are_busy = loop->operands[0]->constant.integer >= ir_block_threads(m->kernel, loop->region);
    return stage->loads * reading->count <= (are_busy ? GPU_STAGE_LOADS : GPU_STAGE_FEW_LOADS);
}

static bool may_merge(struct merger *m, const struct stage *stage, const struct ir_instruction *loop,
                      struct reading *reading) {
    return is_block_loop(loop) && find_reading(stage, loop, reading) && is_all(m, stage, reading) &&
           !disturbs(stage, loop) && is_worth_it(m, stage, loop, reading);
}

/* ---- merging ---- */

/* The stage's body for the element at that distance goes to the end of `to`; its values are found by `values`. */
static void copy_body(struct merger *m, const struct stage *stage, struct ir_instruction *loop, int64_t distance,
                      struct ir_region *to, struct map *values) {
    struct ir_instruction user = {.span = stage->loop->span, .users = stage->loop->users, .region = to};
    struct rewriter rewriter = {m->arena, m->kernel, to, &user};
    struct ir_value *index = loop->parameters[0];
    if (distance)
        index = rewrite_operation(&rewriter, OP_ADD, index, rewrite_constant(&rewriter, index->base, distance));
    map_set(values, stage->loop->parameters[0], index);
    const struct ir_region *body = stage->loop->regions[0];
    for (size_t i = 0; i < body->instructions.count; i++) {
        const struct ir_instruction *from = body->instructions.at[i];
        if (from->kind == IR_STORE)
            continue;
        struct ir_instruction *copy = ir_copy_of(m->arena, m->kernel, from, to);
        for (size_t k = 0; k < from->operand_count; k++) {
            struct ir_value *other = map_get(values, from->operands[k]);
            copy->operands[k] = other ? other : from->operands[k];
        }
        map_set(values, from->results[0], copy->results[0]);
        vec_push(m->arena, &to->instructions, copy);
    }
}

static void merge(struct merger *m, const struct stage *stage, struct ir_instruction *loop,
                  const struct reading *reading) {
    struct ir_region *body = loop->regions[0];
    struct ir_region first = {.id = body->id, .ambient = body->ambient, .owner = loop, .parent = body->parent};
    struct map *values[MOST_DISTANCES];
    for (size_t i = 0; i < reading->count; i++)
        copy_body(m, stage, loop, reading->distances[i], &first, values[i] = map_new(m->arena));
    for (size_t i = 0; i < first.instructions.count; i++) {
        first.instructions.at[i]->region = body;
        first.instructions.at[i]->results[0]->region = body;
    }
    for (size_t i = 0; i < body->instructions.count; i++) {
        struct ir_instruction *instruction = body->instructions.at[i];
        const struct ir_instruction *store = instruction->kind == IR_LOAD ? store_to(stage, instruction->buffer) : NULL;
        int64_t distance;
        if (!store || !distance_of(loop, instruction->operands[0], &distance)) {
            vec_push(m->arena, &first.instructions, instruction);
            continue;
        }
        size_t k = 0;
        while (reading->distances[k] != distance)
            k++;
        struct ir_value *value = map_get(values[k], store->operands[1]);
        rewrite_set(&m->replaced, instruction->results[0], value ? value : store->operands[1]);
    }
    body->instructions = first.instructions;
    rewrite_replace(body, &m->replaced);
}

static void merge_region(struct merger *m, struct ir_region *region) {
    struct stage stage = {0};
    bool is_open = false; /* the stage may be merged with the next loop */
    size_t at = 0;
    for (size_t i = 0; i < region->instructions.count; i++) {
        struct ir_instruction *instruction = region->instructions.at[i];
        struct reading reading;
        for (int r = 0; r < 2; r++)
            if (instruction->regions[r])
                merge_region(m, instruction->regions[r]);
        if (is_open && may_merge(m, &stage, instruction, &reading)) {
            merge(m, &stage, instruction, &reading);
            m->kernel->changes++;
            region->instructions.at[at] = NULL;
        }
        if (is_block_loop(instruction)) {
            is_open = is_stage(m, instruction, &stage);
            at = i;
        } else if (instruction->kind != IR_OPERATION && instruction->kind != IR_ALLOCATE) {
            is_open = false;
        }
    }
    rewrite_close_gaps(region);
}

void pass_merge_stages(struct arena *arena, struct ir_kernel *kernel) {
    struct merger m = {arena, kernel, ir_places(arena, kernel->body), rewrite_begin(arena, kernel)};
    merge_region(&m, kernel->body);
}
