/* Memory for the loads that powerAhead does for later steps.

   note [rings]
   The steps of a block that only copy from global memory find what is theirs in one of as many places of shared
   memory as there are stages, in turn: note [copies ahead] in ir.h. A step begins with a barrier, behind which it
   reads its place, and the one of the step before is free for what is loaded now:

       load 0 … stages - 2;  step k:  fence;  load k + stages - 1;  use k

   So there is one barrier a step, and copies are under way for as long as so many steps take. There are no more stages
   than steps, where their number is known: a single step copies, too, by 16 bytes and without registers. With one
   stage, a step loads what it uses itself, behind one barrier and before another. If a loaded value is used
   in a computation, the thread waits for it at once, as it must store the result: such loads are forced in their step,
   unless a product reads them by rows. Those lie by eights then (note [orders] in order.c), and lanes load them
   together, as note [rows of matrices] of ir.h has it for arrays with stages: a panel that is not whole takes 509
   instructions for 64 products so in two stages, 625 in one, and 1,089 where it is forced (`unitProduct_0` of
   benchmarks/fcl/matrices.fcl, machine code for sm_90 by NVRTC 13.0, 2026-11-30). */
#include "elaborate/stepping.h"
#include "elaborate/evaluate.h"
#include "elaborate/push.h"
#include "elaborate/state.h"

struct asking {
    const struct stepping *stepping;
    struct ring *ring;
    bool are_arrays, copies; /* all of constant lengths; and loaded as they are */
};

static bool is_copy(const struct ir_value *value) {
    const struct ir_instruction *load = value->definition;
    return load && load->kind == IR_LOAD && !load->is_volatile && load->buffer->element == value->base &&
           (load->buffer->memory == MEMORY_INPUT || load->buffer->memory == MEMORY_OUTPUT);
}

/* Is each element, in whichever step, loaded from global memory as it is? */
static void ask(struct elaborator *e, void *context) {
    struct asking *a = context;
    struct ring *ring = a->ring;
    bool copies = ring->part_count > 0;
    struct ir_value *k = ir_parameter_value(e->builder, BASE_I32, 0, INT32_MAX, NULL);
    struct elab_value *loaded = elab_apply(e, a->stepping->load, elab_scalar(e, k));
    struct elab_value **values = elab_take_apart(e, a->stepping->loaded, loaded);
    for (size_t i = 0; i < ring->part_count; i++) {
        if (!ring->parts[i].is_array)
            return;
        struct push *push = elab_as_push(e, values[i]);
        struct ir_value *length = push->kind == PUSH_PULL ? elab_push_length(e, push) : NULL;
        length = length ? ir_resolve(e->builder, length) : NULL;
        if (!length || push->level != LEVEL_BLOCK || !length->is_constant || length->constant.integer < 1)
            return;
        ring->lengths[i] = length;
        struct ir_value *at = elab_begin_threads(e, LEVEL_BLOCK, length);
        ir_values leaves = elab_leaves(e, elab_index(e, push->array, at));
        for (size_t j = 0; j < leaves.count; j++)
            copies &= is_copy(leaves.at[j]);
        elab_end_threads(e, LEVEL_BLOCK, at);
    }
    a->are_arrays = ring->part_count > 0;
    a->copies = copies;
}

/* Products read what is loaded by rows of so many elements; 0: they do not, or it cannot be told. */
struct reading {
    const struct stepping *stepping;
    const struct ring *ring;
    struct elab_value **state; /* before a step, as far as it is known */
    int64_t *columns;
};

static void find_rows(struct elaborator *e, void *context) {
    const struct reading *r = context;
    const struct stepping *s = r->stepping;
    e->shape++;
    struct elab_value **loaded = ARENA_ARRAY(e->arena, struct elab_value *, r->ring->part_count + 1);
    for (size_t i = 0; i < r->ring->part_count; i++) {
        struct pull *part = elab_unknown_array(e, r->ring->parts[i].type, r->ring->lengths[i]);
        part->asked_columns = &r->columns[i];
        loaded[i] = elab_of_pull(e, part);
    }
    struct elab_value *step = elab_apply(e, s->step, elab_unknown(e));
    step = elab_apply(e, step, elab_put_together(e, s->loaded, loaded));
    elab_apply(e, step, elab_put_together(e, s->type, r->state));
}

/* Has any part of it an order? */
static bool find_orders(struct elaborator *e, const struct stepping *s, struct ring *ring, struct elab_value **state) {
    ring->orders = ARENA_ARRAY(e->arena, const struct element_order *, ring->part_count + 1);
    int64_t *columns = ARENA_ARRAY(e->arena, int64_t, ring->part_count + 1);
    bool is_any = false;
    if (!e->options->has_mma || !elab_try(e, find_rows, &(struct reading){s, ring, state, columns}))
        return false;
    for (size_t i = 0; i < ring->part_count; i++) {
        base_list bases = elab_bases_of(e, ring->parts[i].type);
        int bits = elab_bits(&bases);
        if (columns[i] && bases.count == 1 && bits <= 32)
            ring->orders[i] =
                order_by_pieces(e, ring->lengths[i]->constant.integer / columns[i], columns[i], 16 * 8 / bits);
        is_any |= ring->orders[i] != NULL;
    }
    return is_any;
}

struct ring *ring_new(struct elaborator *e, const struct stepping *s, struct elab_value **state) {
    struct ir_value *stages = s->stages ? ir_resolve(e->builder, s->stages) : NULL;
    if (!stages || !stages->is_constant || stages->constant.integer < 1 || s->level != LEVEL_BLOCK ||
        !e->options->copies_ahead)
        return NULL;
    struct ring *ring = ARENA_NEW(e->arena, struct ring);
    bool is_ahead = stages->constant.integer > 1;
    ring->stages = stages->constant.integer < MOST_STAGES ? (int)stages->constant.integer : MOST_STAGES;
    struct ir_value *count = ir_resolve(e->builder, s->count);
    if (count->is_constant && count->constant.integer < ring->stages)
        ring->stages = count->constant.integer > 1 ? (int)count->constant.integer : 1;
    ring->parts = elab_parts_of(e, s->loaded, &ring->part_count);
    ring->lengths = ARENA_ARRAY(e->arena, struct ir_value *, ring->part_count + 1);
    ring->buffers = ARENA_ARRAY(e->arena, struct ir_buffer **, ring->part_count + 1);
    ring->buffer_counts = ARENA_ARRAY(e->arena, size_t, ring->part_count + 1);
    struct asking asking = {.stepping = s, .ring = ring};
    if (!elab_try(e, ask, &asking) || !asking.are_arrays)
        return NULL;
    return find_orders(e, s, ring, state) || (asking.copies && is_ahead) ? ring : NULL;
}

static struct ir_value *stage_place(struct elaborator *e, const struct ring *ring, size_t part, struct ir_value *slot) {
    return ir_binary(e->builder, OP_MUL, slot, ring->lengths[part]);
}

/* Loads the arrays for step `k` into that slot, if there is such a step (`is_wanted`). */
static void load_stage(struct elaborator *e, const struct stepping *s, struct ir_value *k, struct ir_value *is_wanted,
                       struct ir_value *slot) {
    const struct ring *ring = s->ring;
    enum ir_truth truth = ir_begin_choice(e->builder, is_wanted);
    if (truth != IR_FALSE) {
        struct elab_value **values = elab_take_apart(e, s->loaded, elab_apply(e, s->load, elab_scalar(e, k)));
        runnings all = {0};
        for (size_t i = 0; i < ring->part_count; i++) {
            struct writer writer =
                elab_store_writer(ring->buffers[i], ring->buffer_counts[i], stage_place(e, ring, i, slot));
            writer.order = ring->orders[i];
            elab_run_later(e, &all, elab_as_push(e, values[i]), writer);
        }
        elab_run_together(e, all.at, all.count);
    }
    ir_end_only_choice(e->builder, truth);
}

void ring_begin(struct elaborator *e, const struct stepping *s) {
    struct ir_builder *b = e->builder;
    struct ring *ring = s->ring;
    for (size_t i = 0; i < ring->part_count; i++) {
        struct ir_value *room = ir_int(b, ring->lengths[i]->constant.integer * ring->stages);
        ring->buffers[i] = elab_buffers(e, ring->parts[i].type, LEVEL_BLOCK, room, "ahead", &ring->buffer_counts[i]);
        for (size_t j = 0; j < ring->buffer_counts[i]; j++) {
            ring->buffers[i][j]->rewritten = true;
            ring->buffers[i][j]->stages = ring->stages;
        }
        elab_allocate(e, ring->buffers[i], ring->buffer_counts[i]);
    }
    ir_fence(b, LEVEL_BLOCK); /* a chunk before may have been read there */
    for (int k = 0; k < ring->stages - 1; k++) {
        struct ir_value *number = ir_int(b, k);
        load_stage(e, s, number, ir_binary(b, OP_LT, number, s->count), number);
        if (k < ring->stages - 2)
            ir_fence_copies(b, LEVEL_THREAD, ring->buffers[0][0]);
    }
    ring->slot = ir_int(b, 0);
}

struct elab_value *ring_step(struct elaborator *e, const struct stepping *s, struct ir_value *done) {
    struct ir_builder *b = e->builder;
    const struct ring *ring = s->ring;
    struct ir_value *last = ir_int(b, ring->stages - 1), *slot = ring->slot;
    bool is_first = done->is_constant && done->constant.integer == 0;
    if (ring->stages > 1 || !is_first)
        ir_fence_copies(b, LEVEL_BLOCK, ring->buffers[0][0]);
    struct ir_value *before = ir_ternary(b, OP_SELECT, ir_binary(b, OP_EQ, slot, ir_int(b, 0)), last,
                                         ir_binary(b, OP_SUB, slot, ir_int(b, 1)));
    ir_bound(before, 0, ring->stages - 1);
    struct ir_value *is_wanted =
        ring->stages == 1 ? ir_bool(b, true) : ir_binary(b, OP_LT, done, ir_binary(b, OP_SUB, s->count, last));
    load_stage(e, s, ir_binary(b, OP_ADD, done, last), is_wanted, before);
    if (ring->stages == 1)
        ir_fence_copies(b, LEVEL_BLOCK, ring->buffers[0][0]);
    struct elab_value **parts = ARENA_ARRAY(e->arena, struct elab_value *, ring->part_count + 1);
    for (size_t i = 0; i < ring->part_count; i++) {
        struct pull *part =
            elab_stored(e, ring->parts[i].type, ring->buffers[i], stage_place(e, ring, i, slot), ring->lengths[i]);
        part->order = ring->orders[i];
        parts[i] = elab_of_pull(e, part);
    }
    return elab_plain(e, elab_put_together(e, s->loaded, parts));
}

void ring_turn(struct elaborator *e, const struct stepping *s) {
    struct ir_builder *b = e->builder;
    struct ir_value *slot = s->ring->slot, *last = ir_int(b, s->ring->stages - 1);
    s->ring->slot = ir_ternary(b, OP_SELECT, ir_binary(b, OP_EQ, slot, last), ir_int(b, 0),
                               ir_binary(b, OP_ADD, slot, ir_int(b, 1)));
    ir_bound(s->ring->slot, 0, s->ring->stages - 1);
}
