/* while and power: steps of a state, which is what can be stored: arrays and scalars.

   note [steps]
   Few steps whose number is known are unrolled. Else there is a loop that carries the scalars and
   lengths that change. Its arrays lie
   - at grid in memory of their own: each step writes into new memory, and a SWAP makes that the
     array's. So lengths may grow, and an array that a step hands on, or two that it exchanges, are
     not copied;
   - at thread, where they are few elements, in registers: these cannot be indexed, so which of two
     halves is read must not depend on the step. Each step makes a new array, and is then copied
     over the old one, which costs nothing;
   - elsewhere in two halves of memory, in turn: what a step reads is never what it writes.
   The loop does not carry a part of the state that every step hands on.

   note [taking turns]
   Below grid, arrays that a step exchanges, or hands on to each other, take turns in one piece of
   memory, which has a place for each, and one for each array that a step makes anew: the places
   change hands as numbers that the loop carries. So `(ys, f xs)` has three places, writes one of
   them, and copies nothing. An update of another array takes that one's place and writes there,
   after all else that the step reads (note [together]); what its pairs read of old elements is
   stored before (note [old values]). But where a block's or warp's threads touch only elements of
   their own, arrays of a length that is known are better off in registers (ir/passes/own_places.c), where
   an exchange is one of names. */
#include "elaborate/stepping.h"
#include "elaborate/check.h"
#include "elaborate/evaluate.h"
#include "elaborate/primitive.h"
#include "elaborate/push.h"
#include "elaborate/state.h"
#include "ir/build/range.h"
#include "ir/machine.h"
#include "ir/walk.h"

/* ---- loops ---- */

/* A part of the state, in a loop. */
struct own {
    bool is_kept; /* its length, or the scalar */
    int from;     /* which array it is after a step */
    int updated;  /* which it is an update of */
    int giver;    /* whose place it takes, if it takes turns */
    struct ir_buffer **buffers;
    size_t buffer_count;
    struct ir_value *length;           /* now, or the scalar */
    struct ir_value *capacity;         /* below grid */
    bool may_grow;                     /* it is not known whether a step makes more than that */
    struct ir_value *place;            /* of the half, or in the memory of its turns; or NULL */
    struct turns *turns;               /* or NULL: note [taking turns] */
    const struct element_order *order; /* in which its elements lie: note [orders]; or NULL */
    bool hands_over, is_taken;         /* there: after a step it has its giver's place; its place has another */
};

/* Memory in which arrays take turns. */
struct turns {
    size_t array_count;
    struct ir_value *capacity; /* of each place */
    struct ir_value **vacant;  /* places of no array: one for each that a step makes anew */
    size_t vacant_count, next; /* of these, the next one */
    struct ir_buffer **buffers;
    size_t buffer_count;
};

struct loop {
    const struct stepping *stepping;
    struct own *own;
    bool is_in_registers;
    VEC(struct turns *) turns;
    struct ir_value *done;
    VEC(struct ir_value **) slots; /* where the values stand that it carries */
    VEC(struct range) ranges;
};

static bool has_halves(const struct loop *l, size_t k) {
    return l->stepping->parts[k].is_array && l->stepping->level != LEVEL_GRID && !l->is_in_registers &&
           l->own[k].from != (int)k && !l->own[k].turns;
}

/* The array before it with halves as large, whose place is its own, too; or itself. One that is
   updated may be in place though others are not (note [in place] in ir/passes/in_place.c). */
static size_t shares_place(struct elaborator *e, const struct loop *l, size_t k) {
    for (size_t j = 0; j < k && l->own[k].updated < 0; j++)
        if (has_halves(l, j) && l->own[j].updated < 0 &&
            ir_resolve(e->builder, l->own[j].capacity) == ir_resolve(e->builder, l->own[k].capacity))
            return j;
    return k;
}

static void carry(struct elaborator *e, struct loop *l, struct ir_value **slot, int64_t low, int64_t high) {
    vec_push(e->arena, &l->slots, slot);
    vec_push(e->arena, &l->ranges, ((struct range){low, high}));
}

static int64_t last_place(const struct turns *turns) {
    int64_t last = (int64_t)(turns->array_count + turns->vacant_count - 1) * turns->capacity->high;
    return last < INT32_MAX ? last : INT32_MAX;
}

static void collect_carried(struct elaborator *e, struct loop *l) {
    const struct stepping *s = l->stepping;
    for (size_t k = 0; k < s->part_count; k++)
        if (has_halves(l, k) && shares_place(e, l, k) == k)
            carry(e, l, &l->own[k].place, 0, l->own[k].capacity->high);
    for (size_t k = 0; k < s->part_count; k++)
        if (l->own[k].turns)
            carry(e, l, &l->own[k].place, 0, last_place(l->own[k].turns));
    for (size_t i = 0; i < l->turns.count; i++)
        for (size_t k = 0; k < l->turns.at[i]->vacant_count; k++)
            carry(e, l, &l->turns.at[i]->vacant[k], 0, last_place(l->turns.at[i]));
    if (s->ring)
        carry(e, l, &s->ring->slot, 0, s->ring->stages - 1);
    carry(e, l, &l->done, 0, INT32_MAX);
    for (size_t k = 0; k < s->part_count; k++) {
        const struct own *own = &l->own[k];
        if (!own->is_kept && s->parts[k].is_array)
            carry(e, l, &l->own[k].length, 0, s->level == LEVEL_GRID ? INT32_MAX : own->capacity->high);
        else if (!own->is_kept)
            carry(e, l, &l->own[k].length, INT64_MIN, INT64_MAX);
    }
}

/* Makes these what the slots hold. */
static void put_into_slots(struct elaborator *e, struct loop *l, struct ir_value **values) {
    for (size_t i = 0; i < l->slots.count; i++)
        *l->slots.at[i] = values[i];
    for (size_t k = 0; k < l->stepping->part_count; k++)
        if (has_halves(l, k))
            l->own[k].place = l->own[shares_place(e, l, k)].place;
}

/* The state as it is now. */
static struct elab_value **current(struct elaborator *e, struct loop *l) {
    const struct stepping *s = l->stepping;
    struct elab_value **state = ARENA_ARRAY(e->arena, struct elab_value *, s->part_count + 1);
    for (size_t k = 0; k < s->part_count; k++) {
        struct own *own = &l->own[k];
        if (!s->parts[k].is_array) {
            state[k] = elab_scalar(e, own->length);
            continue;
        }
        struct pull *pull = elab_stored(e, s->parts[k].type, own->buffers, own->place, own->length);
        pull->order = own->order;
        state[k] = elab_of_pull(e, pull);
    }
    return state;
}

/* How many elements so many places have; it must be known before a kernel starts. Twice a length
   that wraps is negative, for which no memory is set aside; three times one may be anything. */
static struct ir_value *places(struct elaborator *e, struct ir_value *capacity, size_t count) {
    struct ir_value *times = ir_int(e->builder, (int64_t)count);
    struct ir_region *here = elab_enter_host(e);
    struct ir_value *all =
        count > 2 ? elab_product_of_bounds(e, capacity, times) : ir_binary(e->builder, OP_MUL, capacity, times);
    ir_leave(e->builder, here);
    return all;
}

/* Into the array's memory, or into other memory for it, from that place on. */
static struct writer writer_to(const struct own *own, struct ir_buffer **buffers, size_t count,
                               struct ir_value *place) {
    struct writer writer = elab_store_writer(buffers, count, place);
    writer.order = own->order;
    return writer;
}

/* Stores the array that the steps begin with. */
static void begin_with(struct elaborator *e, struct loop *l, size_t k, struct push *initial, runnings *all) {
    const struct stepping *s = l->stepping;
    struct own *own = &l->own[k];
    bool is_stepped = own->from != (int)k;
    if (own->turns) {
        elab_run_later(e, all, initial, writer_to(own, own->buffers, own->buffer_count, own->place));
        return;
    }
    struct ir_value *room = has_halves(l, k) ? places(e, own->capacity, 2) : own->capacity;
    own->buffers = elab_buffers(e, s->parts[k].type, s->level, room, NULL, &own->buffer_count);
    for (size_t i = 0; i < own->buffer_count; i++) {
        own->buffers[i]->is_swapped = is_stepped && s->level == LEVEL_GRID;
        own->buffers[i]->rewritten = is_stepped && s->level != LEVEL_GRID;
    }
    elab_allocate(e, own->buffers, own->buffer_count);
    elab_run_later(e, all, initial, writer_to(own, own->buffers, own->buffer_count, NULL));
    if (has_halves(l, k))
        own->place = ir_int(e->builder, 0);
}

/* Sets aside the memory in which arrays take turns, and gives each its first place. */
static void begin_turns(struct elaborator *e, struct loop *l, struct turns *turns) {
    const struct stepping *s = l->stepping;
    size_t count = 0;
    for (size_t k = 0; k < s->part_count; k++) {
        struct own *own = &l->own[k];
        if (own->turns != turns)
            continue;
        if (!turns->buffers) {
            struct ir_value *room = places(e, turns->capacity, turns->array_count + turns->vacant_count);
            turns->buffers = elab_buffers(e, s->parts[k].type, s->level, room, NULL, &turns->buffer_count);
            for (size_t i = 0; i < turns->buffer_count; i++)
                turns->buffers[i]->rewritten = true;
            elab_allocate(e, turns->buffers, turns->buffer_count);
        }
        own->buffers = turns->buffers;
        own->buffer_count = turns->buffer_count;
        own->place = places(e, turns->capacity, count++);
    }
    for (size_t i = 0; i < turns->vacant_count; i++)
        turns->vacant[i] = places(e, turns->capacity, count++);
}

/* The length of what a step makes; what its memory is too small for is an error, and is not stored. */
static struct ir_value *next_length(struct elaborator *e, struct loop *l, size_t k, struct push *next,
                                    struct ir_value **fits) {
    const struct stepping *s = l->stepping;
    struct ir_builder *b = e->builder;
    const struct own *own = &l->own[k];
    *fits = ir_bool(b, true);
    struct ir_value *length = elab_push_length(e, next);
    if (!length)
        elab_fail(e, DIAG_UNKNOWN_LENGTH, e->span, "the length after a step of this loop depends on data");
    if (ir_prove(b, ir_binary(b, OP_EQ, length, own->length)))
        return own->length;
    if (s->level == LEVEL_GRID || !own->may_grow || ir_prove(b, ir_binary(b, OP_LE, length, own->length)))
        return length;
    *fits = ir_binary(b, OP_LE, length, own->capacity);
    elab_check_length(e, CHECK_GROWS, *fits, length, own->capacity, s->span, false);
    return ir_binary(b, OP_MIN, length, own->capacity);
}

/* The array that a step makes. It is in memory that the step does not read: the other half, or memory of its own. */
struct made {
    struct ir_buffer **buffers; /* at grid, and in registers */
    struct ir_value *length, *place;
};

/* `vacant`: where it goes, if it takes turns. */
static struct made make(struct elaborator *e, struct loop *l, size_t k, struct push *next, struct ir_value *vacant,
                        runnings *all) {
    const struct stepping *s = l->stepping;
    struct ir_builder *b = e->builder;
    const struct own *own = &l->own[k];
    struct made made = {0};
    struct ir_value *fits;
    made.length = next_length(e, l, k, next, &fits);
    if (has_halves(l, k) || own->turns) {
        made.place = vacant ? vacant : ir_binary(b, OP_SUB, own->capacity, own->place);
        if (!vacant) /* 0 where this is the capacity, and the capacity where this is 0 */
            ir_bound(made.place, 0, own->capacity->high);
        struct writer writer = writer_to(own, own->buffers, own->buffer_count, made.place);
        if (ir_known(b, fits) == IR_TRUE)
            elab_run_later(e, all, next, writer);
        else
            elab_run_if(e, fits, next, &writer);
        return made;
    }
    size_t count;
    struct ir_value *capacity = s->level == LEVEL_GRID ? made.length : own->capacity;
    made.buffers = elab_buffers(e, s->parts[k].type, s->level, capacity, NULL, &count);
    for (size_t i = 0; i < count; i++)
        made.buffers[i]->is_swapped = s->level == LEVEL_GRID;
    elab_allocate(e, made.buffers, count);
    elab_run_later(e, all, next, writer_to(own, made.buffers, count, NULL));
    return made;
}

static void copy_registers(struct elaborator *e, struct loop *l, size_t k, struct ir_buffer **from) {
    const struct own *own = &l->own[k];
    struct pull *next = elab_stored(e, l->stepping->parts[k].type, from, NULL, own->length);
    struct writer writer = elab_store_writer(own->buffers, own->buffer_count, NULL);
    elab_run(e, elab_push_of_pull(e, LEVEL_THREAD, next), &writer);
}

/* Gives each array the memory that it is in after the step: what was made, or another array's. */
static void exchange(struct elaborator *e, struct loop *l, struct ir_buffer ***wanted) {
    const struct stepping *s = l->stepping;
    /* holds[k]: what array k holds by now, by the buffers that held it when the step began; made
       ones hold what they do. */
    struct ir_buffer ***holds = ARENA_ARRAY(e->arena, struct ir_buffer **, 2 * s->part_count + 1);
    struct ir_buffer ***places = ARENA_ARRAY(e->arena, struct ir_buffer **, 2 * s->part_count + 1);
    size_t count = 0;
    for (size_t k = 0; k < s->part_count; k++)
        if (wanted[k])
            holds[count] = places[count] = l->own[k].buffers, count++;
    for (size_t k = 0; k < s->part_count; k++) {
        bool is_known = !wanted[k];
        for (size_t i = 0; i < count; i++)
            is_known = is_known || places[i] == wanted[k];
        if (!is_known)
            holds[count] = places[count] = wanted[k], count++;
    }
    for (size_t k = 0; k < s->part_count; k++) {
        if (!wanted[k])
            continue;
        size_t here = 0, there = 0;
        while (places[here] != l->own[k].buffers)
            here++;
        while (holds[there] != wanted[k])
            there++;
        for (size_t i = 0; here != there && i < l->own[k].buffer_count; i++)
            ir_swap(e->builder, places[here][i], places[there][i]);
        struct ir_buffer **held = holds[here];
        holds[here] = holds[there];
        holds[there] = held;
    }
}

/* Another array takes this one's memory already: it is copied. */
static bool is_taken(const struct loop *l, int from, struct ir_buffer *const *const *wanted, size_t k) {
    const struct own *other = &l->own[from];
    if (other->from == from)
        return true;
    for (size_t j = 0; j < k; j++)
        if (wanted[j] == (struct ir_buffer *const *)other->buffers)
            return true;
    return false;
}

/* Makes a part of the next state. `made` gets its length, place and new memory; `wanted` gets the memory in which an
   array is after the step. */
static void make_part(struct elaborator *e, struct loop *l, size_t k, struct elab_value *next, struct made *made,
                      struct ir_buffer ***wanted, runnings *all) {
    const struct stepping *s = l->stepping;
    const struct own *own = &l->own[k];
    if (!s->parts[k].is_array) {
        made->length = elab_as_scalar(e, next);
        return;
    }
    if (own->from == (int)k)
        return;
    if (s->level == LEVEL_GRID && own->from >= 0 &&
        !is_taken(l, own->from, (struct ir_buffer *const *const *)wanted, k)) {
        made->length = l->own[own->from].length;
        wanted[k] = l->own[own->from].buffers;
        return;
    }
    if (own->turns && own->hands_over) {
        made->length = l->own[own->giver].length;
        made->place = l->own[own->giver].place;
        if (own->from < 0) {
            struct push *over = ARENA_NEW(e->arena, struct push); /* other parts may be this update, too */
            *over = *elab_as_push(e, next);
            over->update.is_over = true;
            elab_run_later(e, all, over, elab_store_writer(own->buffers, own->buffer_count, made->place));
        }
        return;
    }
    struct ir_value *vacant = own->turns ? own->turns->vacant[own->turns->next++] : NULL;
    *made = make(e, l, k, elab_as_push(e, next), vacant, all);
    wanted[k] = made->buffers;
}

static void take_step(struct elaborator *e, struct loop *l) {
    const struct stepping *s = l->stepping;
    struct ir_builder *b = e->builder;
    struct elab_value **next = step_next_parts(e, s, current(e, l), l->done);
    struct made *made = ARENA_ARRAY(e->arena, struct made, s->part_count + 1);
    struct ir_buffer ***wanted = ARENA_ARRAY(e->arena, struct ir_buffer **, s->part_count + 1);
    runnings all = {0};
    for (size_t k = 0; k < s->part_count; k++)
        make_part(e, l, k, next[k], &made[k], wanted, &all);
    elab_run_together(e, all.at, all.count);
    if (s->level == LEVEL_GRID)
        exchange(e, l, wanted);
    for (size_t k = 0; l->is_in_registers && k < s->part_count; k++)
        if (wanted[k])
            copy_registers(e, l, k, wanted[k]);
    for (size_t i = 0; i < l->turns.count; i++)
        l->turns.at[i]->next = 0;
    for (size_t k = 0; k < s->part_count; k++)
        if (l->own[k].turns && !l->own[k].is_taken)
            l->own[k].turns->vacant[l->own[k].turns->next++] = l->own[k].place;
    for (size_t k = 0; k < s->part_count; k++) {
        if (!l->own[k].is_kept)
            l->own[k].length = made[k].length;
        if (made[k].place)
            l->own[k].place = made[k].place;
    }
    if (s->ring)
        ring_turn(e, s);
    l->done = ir_binary(b, OP_ADD, l->done, ir_int(b, 1));
}

static void set_capacity(struct elaborator *e, struct loop *l, size_t k, struct ir_value *most) {
    const struct stepping *s = l->stepping;
    struct own *own = &l->own[k];
    own->capacity = elab_capacity(e, own->length, s->level);
    if (s->level == LEVEL_GRID || own->is_kept)
        return;
    own->may_grow = !most;
    if (most)
        own->capacity = elab_capacity(e, ir_resolve(e->builder, most), s->level);
}

/* ---- turns ---- */

/* Does what a step makes anew come from elements at its own places? */
struct touching {
    const struct loop *loop;
    known_state kept;
    bool is_own;
};

static void look_at_touches(struct elaborator *e, void *context) {
    struct touching *t = context;
    const struct stepping *s = t->loop->stepping;
    struct ir_builder *b = e->builder;
    e->shape++;
    struct elab_value **state = step_state_of(e, s, t->kept);
    struct touched touched = {.own = ir_parameter_value(b, BASE_I32, 0, INT32_MAX, NULL)};
    e->touched = &touched;
    struct elab_value **next = step_next_parts(e, s, state, NULL);
    for (size_t k = 0; k < s->part_count && !touched.others; k++) {
        if (!s->parts[k].is_array || t->loop->own[k].from >= 0)
            continue;
        struct push *push = elab_as_push(e, next[k]);
        touched.others |= push->kind != PUSH_PULL;
        if (push->kind == PUSH_PULL)
            elab_index(e, push->array, touched.own);
    }
    t->is_own = !touched.others;
}

/* A thread's registers: see MOST_BYTES in ir/passes/own_places.c. */
enum { MOST_BITS_OF_A_THREAD = 2048 };

static bool fits_registers(struct elaborator *e, const struct loop *l, const struct ir_value *const *kept) {
    const struct stepping *s = l->stepping;
    int threads = s->level == LEVEL_WARP ? e->options->warp_size : elab_block_threads(e);
    if (e->options->is_cpu || (s->level != LEVEL_WARP && s->level != LEVEL_BLOCK))
        return false;
    for (size_t k = 0; k < s->part_count; k++) {
        if (!s->parts[k].is_array)
            continue;
        if (!kept[k] || !kept[k]->is_constant || kept[k]->constant.integer % threads != 0)
            return false;
        base_list bases = elab_bases_of(e, s->parts[k].type);
        for (size_t i = 0; i < bases.count; i++)
            if (kept[k]->constant.integer / threads * base_info[bases.at[i]].bits > MOST_BITS_OF_A_THREAD)
                return false;
    }
    return true;
}

static bool stays_in_registers(struct elaborator *e, const struct loop *l, known_state kept) {
    if (!fits_registers(e, l, (const struct ir_value *const *)kept))
        return false;
    struct touching touching = {.loop = l, .kept = kept};
    struct touched *outer = e->touched;
    bool is_seen = elab_try(e, look_at_touches, &touching);
    e->touched = outer;
    return is_seen && touching.is_own;
}

/* Array k hands its place, or takes another's: they are in one group from now on. */
static void join_turns(struct elaborator *e, struct loop *l, size_t k, size_t from) {
    struct turns *mine = l->own[k].turns, *other = l->own[from].turns;
    if (!other)
        l->own[from].turns = other = mine ? mine : ARENA_NEW(e->arena, struct turns);
    if (mine && mine != other)
        for (size_t i = 0; i < l->stepping->part_count; i++)
            if (l->own[i].turns == mine)
                l->own[i].turns = other;
    l->own[k].turns = other;
}

static void find_turns(struct elaborator *e, struct loop *l, known_state kept, const struct origin *origins) {
    const struct stepping *s = l->stepping;
    struct ir_builder *b = e->builder;
    if (s->level == LEVEL_GRID || l->is_in_registers)
        return;
    bool is_any = false;
    for (size_t k = 0; k < s->part_count; k++) {
        struct own *own = &l->own[k];
        own->giver = own->from >= 0 ? own->from : origins[k].may_hold ? own->updated : -1;
        bool has_giver = s->parts[k].is_array && own->giver >= 0 && own->giver != (int)k;
        own->hands_over = has_giver && l->own[own->giver].from != own->giver && !l->own[own->giver].is_taken;
        is_any |= own->hands_over;
        if (own->hands_over)
            l->own[own->giver].is_taken = true;
    }
    if (!is_any)
        return;
    if (stays_in_registers(e, l, kept)) {
        for (size_t k = 0; k < s->part_count; k++)
            l->own[k].hands_over = l->own[k].is_taken = false;
        return;
    }
    for (size_t k = 0; k < s->part_count; k++)
        if (l->own[k].hands_over)
            join_turns(e, l, k, (size_t)l->own[k].giver);
    for (size_t k = 0; k < s->part_count; k++) {
        struct turns *turns = l->own[k].turns;
        if (!turns)
            continue;
        struct ir_region *here = elab_enter_host(e);
        turns->capacity =
            turns->capacity ? ir_binary(b, OP_MAX, turns->capacity, l->own[k].capacity) : l->own[k].capacity;
        ir_leave(b, here);
        if (!turns->array_count++)
            vec_push(e->arena, &l->turns, turns);
        turns->vacant_count += !l->own[k].hands_over;
    }
    for (size_t i = 0; i < l->turns.count; i++)
        l->turns.at[i]->vacant = ARENA_ARRAY(e->arena, struct ir_value *, l->turns.at[i]->vacant_count + 1);
    for (size_t k = 0; k < s->part_count; k++)
        if (l->own[k].turns)
            l->own[k].capacity = l->own[k].turns->capacity;
    for (size_t i = 0; i < l->turns.count; i++)
        begin_turns(e, l, l->turns.at[i]);
}

static void renew(struct elaborator *e, const struct loop *l) {
    for (size_t k = 0; k < l->stepping->part_count; k++)
        for (size_t i = 0; i < l->own[k].buffer_count; i++)
            if (l->own[k].buffers[i]->is_swapped)
                ir_renew(e->builder, l->own[k].buffers[i]);
}

static struct elab_value *step_dynamically(struct elaborator *e, const struct stepping *s, struct elab_value **initial,
                                           known_state known) {
    struct ir_builder *b = e->builder;
    struct loop l = {.stepping = s, .own = ARENA_ARRAY(e->arena, struct own, s->part_count + 1)};
    known_state kept = step_new_known(e, s), most = step_new_known(e, s);
    struct origin *origins = ARENA_ARRAY(e->arena, struct origin, s->part_count + 1);
    memcpy(kept, known, s->part_count * sizeof *kept);
    step_find_kept(e, s, kept, origins);
    bool changes_below = false;
    l.is_in_registers = s->level == LEVEL_THREAD;
    for (size_t k = 0; k < s->part_count; k++) {
        l.own[k] = (struct own){
            .is_kept = kept[k] != NULL, .from = origins[k].from, .updated = origins[k].updated, .length = known[k]};
        bool is_changing = s->parts[k].is_array && !kept[k];
        changes_below |= is_changing && s->level != LEVEL_GRID;
        l.is_in_registers &=
            !s->parts[k].is_array || (kept[k] && kept[k]->is_constant && kept[k]->constant.integer <= GPU_STEPPED);
    }
    if (changes_below)
        step_known(e, s, known, kept, most);
    for (size_t k = 0; k < s->part_count; k++)
        if (s->parts[k].is_array)
            set_capacity(e, &l, k, most[k]);
    find_turns(e, &l, kept, origins);
    for (size_t k = 0; k < s->part_count; k++)
        l.own[k].order = l.own[k].turns || s->level == LEVEL_THREAD ? NULL : origins[k].order;
    if (s->ring)
        ring_begin(e, s);
    runnings all = {0};
    for (size_t k = 0; k < s->part_count; k++)
        if (s->parts[k].is_array)
            begin_with(e, &l, k, elab_as_push(e, initial[k]), &all);
    elab_run_together(e, all.at, all.count);
    l.done = ir_int(b, 0);
    collect_carried(e, &l);
    size_t count = l.slots.count;
    struct ir_value **carried = ARENA_ARRAY(e->arena, struct ir_value *, count);
    int64_t *lows = ARENA_ARRAY(e->arena, int64_t, count), *highs = ARENA_ARRAY(e->arena, int64_t, count);
    for (size_t i = 0; i < count; i++) {
        carried[i] = *l.slots.at[i];
        lows[i] = l.ranges.at[i].low;
        highs[i] = l.ranges.at[i].high;
    }
    ir_begin_while(b, carried, count, lows, highs);
    put_into_slots(e, &l, carried);
    renew(e, &l);
    for (size_t k = 0; k < s->part_count; k++)
        if (s->parts[k].is_array && !l.own[k].is_kept && s->level != LEVEL_GRID)
            map_set(e->bounds, l.own[k].length, l.own[k].capacity);
    struct ir_value *more = step_goes_on(e, s, current(e, &l), l.done);
    bool is_same = true;
    for (size_t k = 0; k < s->part_count; k++)
        is_same &= l.own[k].is_kept && (!s->parts[k].is_array || l.own[k].from == (int)k);
    struct loop_condition condition = {0};
    if (s->condition)
        condition = elab_loop_condition(e, more);
    struct ir_value **before = ARENA_ARRAY(e->arena, struct ir_value *, count);
    memcpy(before, carried, count * sizeof *before);
    ir_while_body(b, more);
    struct split_frame *split = e->split;
    e->split = NULL;
    take_step(e, &l);
    e->split = split;
    for (size_t i = 0; i < count; i++)
        carried[i] = *l.slots.at[i];
    if (s->condition)
        elab_find_endless(e, condition, before, carried, count, is_same, s->span);
    struct ir_value **results = ARENA_ARRAY(e->arena, struct ir_value *, count);
    ir_end_while(b, carried, results);
    put_into_slots(e, &l, results);
    renew(e, &l);
    for (size_t k = 0; k < s->part_count; k++)
        if (s->parts[k].is_array && !l.own[k].is_kept && s->level != LEVEL_GRID)
            map_set(e->bounds, l.own[k].length, l.own[k].capacity);
    return elab_put_together(e, s->type, current(e, &l));
}

/* In which order steps make each array; `orders` has none where that cannot be told. */
struct ordering {
    const struct stepping *stepping;
    known_state known;
    const struct element_order **orders;
};

static void find_orders(struct elaborator *e, void *context) {
    const struct ordering *o = context;
    const struct stepping *s = o->stepping;
    e->shape++;
    struct elab_value **next = step_next_parts(e, s, step_state_of(e, s, o->known), NULL);
    for (size_t k = 0; k < s->part_count; k++)
        if (s->parts[k].is_array)
            o->orders[k] = order_of_push(next[k]->push);
}

static struct elab_value *unroll(struct elaborator *e, const struct stepping *s, struct elab_value **initial,
                                 known_state known, int steps) {
    struct elab_value **state = initial;
    const struct element_order **orders = ARENA_ARRAY(e->arena, const struct element_order *, s->part_count + 1);
    if (steps && e->options->has_mma && !e->shape && (s->level == LEVEL_BLOCK || s->level == LEVEL_WARP))
        elab_try(e, find_orders, &(struct ordering){s, known, orders});
    e->unrolled += (uint64_t)steps;
    if (s->ring)
        ring_begin(e, s);
    for (int i = 0; i <= steps; i++) {
        struct elab_value **next = i ? step_next_parts(e, s, state, ir_int(e->builder, i - 1)) : initial;
        state = elab_force_parts(e, s->parts, s->part_count, next, orders);
        if (s->ring && i)
            ring_turn(e, s);
    }
    return elab_put_together(e, s->type, state);
}

/* note [heavy steps]
   Each step that is unrolled is code of its own. A loop of few instructions is best without its
   branch; of a step of hundreds, such as a panel of a product, copies fill the instruction cache, and
   what compilers load ahead in one after the other takes all registers. So a step of a block's or a
   warp's arrays is made once on trial, as it would be in the loop. */
struct weighing {
    const struct stepping *stepping;
    known_state known;
    int64_t instructions;
    bool keeps_lengths;
};

static void weigh(struct elaborator *e, void *context) {
    struct weighing *w = context;
    const struct stepping *s = w->stepping;
    struct ir_builder *b = e->builder;
    struct elab_value **state = ARENA_ARRAY(e->arena, struct elab_value *, s->part_count + 1);
    for (size_t k = 0; k < s->part_count; k++) {
        if (!s->parts[k].is_array) {
            enum base base = elab_bases_of(e, s->parts[k].type).at[0];
            state[k] = elab_scalar(e, ir_parameter_value(b, base, INT64_MIN, INT64_MAX, NULL));
            continue;
        }
        size_t count;
        struct ir_value *capacity = elab_capacity(e, w->known[k], s->level);
        struct ir_buffer **buffers = elab_buffers(e, s->parts[k].type, s->level, capacity, NULL, &count);
        for (size_t i = 0; i < count; i++)
            buffers[i]->rewritten = true;
        elab_allocate(e, buffers, count);
        state[k] = elab_of_pull(e, elab_stored(e, s->parts[k].type, buffers, NULL, w->known[k]));
    }
    struct ir_value *done = ir_parameter_value(b, BASE_I32, 0, INT32_MAX, NULL);
    struct elab_value **next = step_next_parts(e, s, state, done);
    w->keeps_lengths = true;
    for (size_t k = 0; k < s->part_count; k++)
        if (s->parts[k].is_array)
            w->keeps_lengths &= elab_push_length(e, elab_as_push(e, next[k])) == w->known[k];
    elab_force_parts(e, s->parts, s->part_count, next, NULL);
    for (struct ir_walk walk = ir_walk(ir_current(b)); walk.at; ir_next(&walk))
        w->instructions++;
}

enum { FEW_STEPS = 2 }; /* which no loop is worth */

static bool weighs_too_much(struct elaborator *e, const struct stepping *s, known_state known, int steps) {
    if (e->shape || steps <= FEW_STEPS || (s->level != LEVEL_BLOCK && s->level != LEVEL_WARP))
        return false;
    struct weighing weighing = {.stepping = s, .known = known};
    return elab_try(e, weigh, &weighing) && weighing.keeps_lengths &&
           weighing.instructions * steps > ANY_UNROLLED_STEPS;
}

static struct elab_value *step(struct elaborator *e, struct stepping *s, struct type *type, struct elab_value *start) {
    s->span = e->span;
    s->type = type;
    s->parts = elab_parts_of(e, s->type, &s->part_count);
    struct elab_value **initial = elab_take_apart(e, s->type, start);
    for (size_t k = 0; k < s->part_count && s->level == LEVEL_PURE; k++)
        if (s->parts[k].is_array)
            s->level = elab_as_push(e, initial[k])->level;
    known_state known = step_known_parts(e, s, initial);
    int steps = step_static(e, s, known, e->options->unroll);
    if (steps < 0)
        steps = step_counted(e, s, known, e->options->unroll);
    bool is_unrolled = steps >= 0 && !weighs_too_much(e, s, known, steps);
    if (e->shape && !is_unrolled)
        return step_shape(e, s, known);
    if (s->load && !e->shape && steps != 0)
        s->ring = ring_new(e, s, step_state_of(e, s, known));
    if (is_unrolled)
        return unroll(e, s, initial, known, steps);
    return step_dynamically(e, s, initial, known);
}

PRIMITIVE(WHILE) {
    struct stepping stepping = {.condition = arguments[0], .step = arguments[1]};
    return elab_plain(e, step(e, &stepping, elab_type(e, instance, 0), elab_plain(e, arguments[2])));
}

PRIMITIVE(POWER) {
    /* While only shapes matter, the count may not be known. */
    struct stepping stepping = {.step = arguments[1], .count = elab_as_scalar(e, arguments[0])};
    return elab_plain(e, step(e, &stepping, elab_type(e, instance, 0), elab_plain(e, arguments[2])));
}

PRIMITIVE(POWER_AHEAD) {
    struct stepping stepping = {.step = arguments[3],
                                .load = arguments[2],
                                .loaded = elab_type(e, instance, 0),
                                .stages = elab_as_scalar(e, arguments[0]),
                                .count = elab_as_scalar(e, arguments[1])};
    return elab_plain(e, step(e, &stepping, elab_type(e, instance, 1), elab_plain(e, arguments[4])));
}
