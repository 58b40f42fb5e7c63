/* Barriers between phases: one where a parallel loop touches what other threads touched since the last barrier, at
   least one of them writing. Places, not buffers, are compared: buffers that share memory conflict as well.

   note [the data flow]
   The state is what was read and what was written since the last barrier. It is carried through the region in the
   order of execution; the branches of an IF are joined. A loop's body is first gone through once; if starting it again
   in the state it ended in would need a barrier that is not there, the body gets one at its end. */
#include "map/lower.h"

/* Iteration i of every loop over the threads of a block (or the lanes of a warp) is done by the
   same thread. So between loops that touch of a buffer only the element of their own index nothing
   needs to be ordered. */

/* note [global memory]
   A result or an intermediate at grid is written in one kernel and read in a later one, so its
   stores need no barriers; but those of a block's or a warp's scatter, which go over what it has
   just stored there, and the loads that check it. A buffer counts as a whole. So do a block's own
   arrays there, note [too much] in shared.c. On OpenCL a barrier orders only the memories that it
   names: one for shared memory leaves `stored`, and what is outside, as it is. */

/* note [the first warp]
   A loop of a block that has no more iterations than a warp has lanes is done by the first warp, and so is one over
   warps with one iteration. Between two of these a barrier of the warp is enough, which makes no other warp wait. It
   does not order them for the rest of the block: what one of them has touched stays in the state, and the next loop
   that others take part in needs a barrier of the block. A block of one warp has no others. Only where every warp is
   whole, as all lanes come to the barrier. */

typedef VEC(struct stretch) places;

struct state {
    places read, written;
    places stored; /* note [global memory] */
    places met;    /* of one phase, likewise */
};

struct placement {
    struct arena *arena;
    const struct shared_plan *shared;
    struct barrier_plan *plan;
    enum level_value level;
    enum touch all; /* how all threads of the block touch something: as one warp, where they are one */
    int warps;      /* of a block; 0: there are none */
    int warp_size;  /* 0: the first warp is like others */
    const struct map_options *options;
    const struct ir_kernel *kernel;
    bool only_check; /* nothing is placed; `missing` says what ought to be */
    enum barrier missing;
};

enum barrier barrier_of(const struct map *places, const void *place) {
    return map_has(places, place) ? (enum barrier)(uintptr_t)map_get(places, place) : BARRIER_NONE;
}

static void set_barrier(struct map *places, const void *place, enum barrier barrier) {
    map_set(places, place, (void *)(uintptr_t)barrier);
}

static void keep_outside(places *all) {
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++)
        if (all->at[i].is_outside)
            all->at[kept++] = all->at[i];
    all->count = kept;
}

static void order_in_warp(places *all) {
    for (size_t i = 0; i < all->count; i++)
        if (all->at[i].touch_by == TOUCH_WARP)
            all->at[i].touch_by = TOUCH_WARP_ORDERED;
}

/* Keeps the accesses that a barrier does not order. */
static void pass_barrier(struct state *state, enum barrier barrier) {
    if (barrier == BARRIER_WARP) {
        order_in_warp(&state->read);
        order_in_warp(&state->written);
    } else if (barrier == BARRIER_SHARED) {
        keep_outside(&state->read);
        keep_outside(&state->written);
    } else if (barrier == BARRIER_GLOBAL) {
        *state = (struct state){0};
    }
}

static enum barrier stronger(enum barrier a, enum barrier b) { return a > b ? a : b; }

static void add_place(struct arena *arena, places *to, struct stretch place) {
    for (size_t i = 0; i < to->count; i++)
        if (to->at[i].space == place.space && to->at[i].low == place.low && to->at[i].high == place.high) {
            if (to->at[i].own != place.own)
                to->at[i].own = NULL;
            if (place.touch_by < to->at[i].touch_by)
                to->at[i].touch_by = place.touch_by;
            return;
        }
    vec_push(arena, to, place);
}

static void join(struct arena *arena, struct state *to, const struct state *from) {
    places *const all[] = {&to->read, &to->written, &to->stored};
    const places *const other[] = {&from->read, &from->written, &from->stored};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (size_t i = 0; i < other[k]->count; i++)
            add_place(arena, all[k], other[k]->at[i]);
}

static struct state copy_state(struct arena *arena, const struct state *from) {
    struct state state = {0};
    join(arena, &state, from);
    return state;
}

static enum barrier between_places(const struct stretch *a, const struct stretch *b) {
    if (a->touch_by == TOUCH_BLOCK || b->touch_by == TOUCH_BLOCK)
        return a->is_outside ? BARRIER_GLOBAL : BARRIER_SHARED;
    return a->touch_by == TOUCH_WARP ? BARRIER_WARP : BARRIER_NONE;
}

/* The barrier that is due between them: what was touched before, and what is now. */
static enum barrier between(const places *a, const places *b) {
    enum barrier barrier = BARRIER_NONE;
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < b->count; k++)
            if (!(a->at[i].frame && a->at[i].frame == b->at[k].frame) &&
                !(a->at[i].own && a->at[i].own == b->at[k].own) && a->at[i].space == b->at[k].space &&
                a->at[i].low < b->at[k].high && b->at[k].low < a->at[i].high)
                barrier = stronger(barrier, between_places(&a->at[i], &b->at[k]));
    return barrier;
}

bool barriers_in_first_warp(const struct ir_instruction *forall, int warp_size) {
    if (forall->kind != IR_FORALL || forall->outer != LEVEL_BLOCK)
        return false;
    return forall->operands[0]->high <= (forall->inner == LEVEL_WARP ? warp_size > 0 : warp_size);
}

/* Everything that the instruction touches, nested ones included, as the units of `level` see it.
   `index`: that of the loop over their threads that it is in. */
static void collect(struct placement *p, const struct ir_instruction *instruction, const struct ir_value *index,
                    enum touch by, struct state *touched) {
    struct shared_buffer *shared = instruction->buffer ? map_get(p->shared->by_buffer, instruction->buffer) : NULL;
    if (shared && instruction->kind != IR_ALLOCATE) {
        struct stretch place = p->level == LEVEL_BLOCK ? shared->block_place : shared->place;
        if (ir_is_access(instruction) && instruction->operands[0] == index)
            place.own = instruction->buffer;
        if (instruction->buffer->stages) /* their fences order them */
            place.own = instruction->buffer;
        place.touch_by = place.is_outside ? TOUCH_BLOCK : by;
        add_place(p->arena, instruction->kind == IR_LOAD ? &touched->read : &touched->written, place);
    }
    bool is_write = ir_changes_element(instruction);
    if ((is_write || instruction->again) && instruction->buffer->memory == MEMORY_OUTPUT) {
        struct stretch whole = {
            .space = (int)instruction->buffer->id, .high = 1, .is_outside = true, .touch_by = TOUCH_BLOCK};
        if (is_write)
            add_place(p->arena, &touched->stored, whole);
        if (instruction->again)
            add_place(p->arena, &touched->met, whole);
    }
    if (p->level == LEVEL_BLOCK && barriers_in_first_warp(instruction, p->warp_size))
        by = TOUCH_WARP;
    if (instruction->kind == IR_FORALL) {
        int threads = p->level == LEVEL_BLOCK ? ir_block_threads(p->kernel, instruction->region) : p->kernel->warp_size;
        bool is_own = instruction->outer == p->level && instruction->inner == LEVEL_THREAD &&
                      !copies_by_pieces(p->options, threads, instruction);
        index = is_own ? instruction->parameters[0] : NULL;
    }
    for (size_t r = 0; r < 2; r++)
        if (instruction->regions[r])
            for (size_t i = 0; i < instruction->regions[r]->instructions.count; i++)
                collect(p, instruction->regions[r]->instructions.at[i], index, by, touched);
}

static void visit_region(struct placement *p, const struct ir_region *region, struct state *state);

static void visit_phase(struct placement *p, const struct ir_instruction *instruction, struct state *state) {
    struct state touched = {0};
    collect(p, instruction, NULL, p->all, &touched);
    pass_barrier(state, barrier_of(p->plan->before, instruction));
    enum barrier barrier = stronger(between(&state->stored, &touched.met), between(&state->written, &touched.read));
    barrier = stronger(barrier, between(&state->written, &touched.written));
    barrier = stronger(barrier, between(&state->read, &touched.written));
    if (barrier && p->only_check)
        p->missing = stronger(p->missing, barrier);
    else if (barrier)
        set_barrier(p->plan->before, instruction, barrier);
    if (barrier == BARRIER_WARP && p->level == LEVEL_BLOCK && !p->only_check)
        pass_changed(p->options->passes, PASS_FIRST_WARP);
    pass_barrier(state, barrier);
    join(p->arena, state, &touched);
}

/* `condition` is NULL but for WHILE. After it, `state` is the one that the loop is left in. */
static void visit_loop(struct placement *p, const struct ir_region *condition, const struct ir_region *body,
                       bool may_skip, struct state *state) {
    if (condition)
        visit_region(p, condition, state);
    struct state before = copy_state(p->arena, state);
    visit_region(p, body, state);
    pass_barrier(state, barrier_of(p->plan->at_end, body));
    /* Once more, from the end of the body. */
    struct state again = copy_state(p->arena, state);
    bool only_check = p->only_check;
    enum barrier missing = p->missing;
    p->only_check = true;
    p->missing = BARRIER_NONE;
    if (condition)
        visit_region(p, condition, &again);
    struct state left = copy_state(p->arena, &again);
    visit_region(p, body, &again);
    if (p->missing && !only_check) {
        set_barrier(p->plan->at_end, body, p->missing);
        pass_barrier(state, p->missing);
        left = copy_state(p->arena, state);
        if (condition)
            visit_region(p, condition, &left);
        p->missing = BARRIER_NONE;
    }
    p->only_check = only_check;
    p->missing = stronger(p->missing, missing);
    if (condition)
        *state = left;
    if (may_skip)
        join(p->arena, state, &before);
}

/* A loop that only reads is one phase: the barrier it needs is before it, not in each of its iterations. */
static bool only_reads(struct placement *p, const struct ir_instruction *loop) {
    struct state touched = {0};
    collect(p, loop, NULL, p->all, &touched);
    return !touched.written.count && !touched.stored.count;
}

static void visit_branches(struct placement *p, const struct ir_instruction *branch, struct state *state) {
    struct state other = copy_state(p->arena, state);
    visit_region(p, branch->regions[0], state);
    visit_region(p, branch->regions[1], &other);
    join(p->arena, state, &other);
}

/* See note [the data flow]. */
static void visit_region(struct placement *p, const struct ir_region *region, struct state *state) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *instruction = region->instructions.at[i];
        bool is_loop = instruction->kind == IR_FOR || instruction->kind == IR_WHILE;
        if (is_loop && only_reads(p, instruction)) {
            visit_phase(p, instruction, state);
            continue;
        }
        switch (instruction->kind) {
        case IR_FENCE: /* of a block's threads, or a warp's lanes */
            if (region->ambient == LEVEL_THREAD || instruction->outer == LEVEL_THREAD)
                break;
            if (!p->only_check)
                set_barrier(p->plan->before, instruction, BARRIER_GLOBAL);
            pass_barrier(state, BARRIER_GLOBAL);
            break;
        case IR_OPERATION:
        case IR_SHUFFLE:
        case IR_MATCH:
        case IR_MMA:
        case IR_BALLOT:
        case IR_CHECK:
        case IR_ALLOCATE:
        case IR_SWAP: break;
        case IR_LOAD:
        case IR_STORE:
        case IR_ATOMIC:
        case IR_FORALL: visit_phase(p, instruction, state); break;
        case IR_FOR: visit_loop(p, NULL, instruction->regions[0], instruction->operands[0]->low < 1, state); break;
        case IR_WHILE: visit_loop(p, instruction->regions[0], instruction->regions[1], true, state); break;
        case IR_IF: visit_branches(p, instruction, state); break;
        }
    }
}

/* Units of `inner` go through the body, again and again unless there is at most one iteration for each. */
static void place_for(struct placement *p, const struct ir_instruction *forall) {
    p->level = forall->inner;
    p->all = p->level == LEVEL_BLOCK && p->warp_size && p->warps == 1 ? TOUCH_WARP : TOUCH_BLOCK;
    struct state state = {0};
    bool is_once = forall->operands[0]->high <= (p->level == LEVEL_WARP && forall->outer == LEVEL_BLOCK ? p->warps : 1);
    if (is_once)
        visit_region(p, forall->regions[0], &state);
    else
        visit_loop(p, NULL, forall->regions[0], false, &state);
}

static void find_warp_loops(struct placement *p, const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_FORALL && walk.at->inner == LEVEL_WARP)
            place_for(p, walk.at);
}

struct barrier_plan *barriers_place(struct lowering *l, int warps, int warp_size) {
    struct arena *arena = l->arena;
    const struct ir_instruction *forall = l->forall;
    struct barrier_plan *plan = ARENA_NEW(arena, struct barrier_plan);
    plan->before = map_new(arena);
    plan->at_end = map_new(arena);
    struct placement p = {.arena = arena,
                          .shared = l->shared,
                          .plan = plan,
                          .warps = warps,
                          .warp_size = warp_size,
                          .options = l->options,
                          .kernel = l->kernel};
    if (forall->inner == LEVEL_BLOCK)
        place_for(&p, forall);
    if (warps) {
        if (forall->inner == LEVEL_WARP)
            place_for(&p, forall);
        find_warp_loops(&p, forall->regions[0]);
    }
    return plan;
}
