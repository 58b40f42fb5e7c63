/* Where the shared buffers of a kernel lie: greedy first fit over their lifetimes, so that two
   buffers never live together may share their place.

   note [frames]
   A warp's buffers live in its frame, with places of their own in it. To the block, the frames of
   all its warps are one buffer that lives as long as the loop over warps runs. Were a warp's
   buffers placed among the block's, different warps could hold different buffers at one place.

   note [laid over]
   Where a loop over threads reads the last of one array, and writes another, the second may lie
   exactly over the first if whoever reads an element writes the one over it afterwards: each place
   is written once, so nobody else does before it is read. So does a scan with its chunk: where the
   elements were its sums are.

   note [bounded]
   An array whose length only the launch knows has memory of its own, behind the pool of those whose
   lengths are constant. Mostly it holds the last tile, and what holds whole tiles is not in use
   then. So it lies in the pool where its length has a bound, and the pool need not grow for that.

   note [places of a few bytes]
   Before an array's memory is written anew, a barrier must wait until all threads have read the
   array. The bytes of a number, as what a block has before it in a scan, are not worth that:
   nothing lies there afterwards. */
#include "map/lower.h"

#include <limits.h>

enum { FEW_BYTES = 16 }; /* note [places of a few bytes] */

static int64_t round_up(int64_t bytes) { return (bytes + 15) / 16 * 16; }

/* Something to be placed. */
struct item {
    int begin, end;
    int64_t bytes, at;
    const struct extent *extent; /* of a block's buffer; or NULL */
};

static bool meet(const struct item *a, const struct item *b) { return a->begin < b->end && b->begin < a->end; }

/* ---- note [laid over] ---- */

enum { MOST_DEPTH = 4 };

/* Are both computed alike? Paddings are, of each array for itself. */
static bool are_equal(const struct ir_value *a, const struct ir_value *b, int depth) {
    if (a == b)
        return true;
    if (a->is_constant || b->is_constant)
        return a->is_constant && b->is_constant && a->base == b->base && a->constant.natural == b->constant.natural;
    const struct ir_instruction *x = a->definition, *y = b->definition;
    if (!depth || !x || !y || x->kind != IR_OPERATION || y->kind != IR_OPERATION || x->op != y->op ||
        a->base != b->base || x->operand_count != y->operand_count)
        return false;
    for (size_t i = 0; i < x->operand_count; i++)
        if (!are_equal(x->operands[i], y->operands[i], depth - 1))
            return false;
    return true;
}

static bool writes_after(const struct ir_instruction *load, const struct ir_buffer *buffer) {
    bool is_after = false;
    for (size_t i = 0; i < load->region->instructions.count; i++) {
        const struct ir_instruction *at = load->region->instructions.at[i];
        if (is_after && at->kind == IR_STORE && at->buffer == buffer &&
            are_equal(at->operands[0], load->operands[0], MOST_DEPTH))
            return true;
        is_after |= at == load;
    }
    return false;
}

/* Is the other array's last use the loop that this one's elements are written in, each over what was read before? */
static bool lies_over(const struct extent *extent, const struct extent *other) {
    const struct ir_instruction *loop = extent->first;
    const struct ir_buffer *buffer = extent->buffer, *below = other->buffer;
    if (loop != other->last || loop->kind != IR_FORALL || loop->outer != LEVEL_BLOCK || loop->inner != LEVEL_THREAD ||
        buffer->rewritten || below->rewritten ||
        target_element_bytes(buffer->element) != target_element_bytes(below->element))
        return false;
    for (size_t i = 0; i < extent->touched->all.count; i++) {
        const struct ir_instruction *at = extent->touched->all.at[i];
        bool is_simple = at->kind == IR_STORE && ir_is_plain(at);
        if (ir_region_inside(at->region, loop->regions[0]) && !is_simple)
            return false;
    }
    for (size_t i = 0; i < other->touched->all.count; i++) {
        const struct ir_instruction *at = other->touched->all.at[i];
        if (ir_region_inside(at->region, loop->regions[0]) &&
            (at->kind != IR_LOAD || at->is_volatile || !writes_after(at, buffer)))
            return false;
    }
    return true;
}

static bool is_free(const struct item *items, size_t i, int64_t at, const struct item *below) {
    for (size_t k = 0; k < i; k++)
        if (&items[k] != below && meet(&items[i], &items[k]) && at < items[k].at + items[k].bytes &&
            items[k].at < at + items[i].bytes)
            return false;
    return true;
}

/* Where an item lies over one that is placed; or -1. */
static int64_t place_over(const struct item *items, size_t i) {
    for (size_t k = 0; k < i && items[i].extent; k++)
        if (items[k].extent && meet(&items[i], &items[k]) && lies_over(items[i].extent, items[k].extent) &&
            is_free(items, i, items[k].at, &items[k]))
            return items[k].at;
    return -1;
}

/* ---- places ---- */

/* Returns the bytes in all. Items are in order of their begin. */
static int64_t first_fit(struct shared_plan *plan, const struct pass_run *passes, struct item *items, size_t count) {
    int64_t total = 0;
    for (size_t i = 0; i < count && !pass_wanted(passes, PASS_OVERLAP); i++)
        items[i].end = INT_MAX;
    for (size_t i = 0; i < count; i++) {
        int64_t at = 0, over = pass_wanted(passes, PASS_LAY_OVER) ? place_over(items, i) : -1;
        if (over >= 0) {
            plan->laid_over++;
            items[i].at = over;
            total = over + items[i].bytes > total ? over + items[i].bytes : total;
            continue;
        }
        for (bool moved = true; moved;) {
            moved = false;
            for (size_t k = 0; k < i; k++)
                if (meet(&items[i], &items[k]) && at < items[k].at + items[k].bytes &&
                    items[k].at < at + items[i].bytes) {
                    at = items[k].at + items[k].bytes;
                    moved = true;
                }
        }
        items[i].at = at;
        total = at + items[i].bytes > total ? at + items[i].bytes : total;
    }
    return total;
}

/* The loop over warps that a warp's buffer lives in. */
static const struct ir_instruction *warp_loop(const struct extent *extent) {
    const struct ir_instruction *owner = extent->region->owner;
    while (!(owner->kind == IR_FORALL && owner->inner == LEVEL_WARP))
        owner = owner->region->owner;
    return owner;
}

struct warp_frame {
    const struct ir_instruction *loop;
    int begin, end;
    int64_t bytes;
    int number;
    VEC(size_t) members; /* indices of the plan's buffers */
};
typedef VEC(struct warp_frame) frames;

/* See note [frames]. */
static struct warp_frame *frame_of(struct arena *arena, frames *all, const struct extent *extent, int number) {
    const struct ir_instruction *loop = warp_loop(extent);
    for (size_t i = 0; i < all->count; i++)
        if (all->at[i].loop == loop) {
            struct warp_frame *frame = &all->at[i];
            frame->begin = extent->begin < frame->begin ? extent->begin : frame->begin;
            frame->end = extent->end > frame->end ? extent->end : frame->end;
            return frame;
        }
    vec_push(arena, all,
             (struct warp_frame){.loop = loop, .begin = extent->begin, .end = extent->end, .number = number});
    return &all->at[all->count - 1];
}

/* A warp only touches its own frame, and the loop over warps has a warp barrier at its end where
   one is needed; so to the block, two uses of one loop's frames never conflict. Where each warp
   has one iteration at most there is no such barrier. */
static int frame_number(struct map *loops, const struct ir_instruction *loop, int warps) {
    if (loop->operands[0]->high <= warps)
        return 0;
    if (!map_has(loops, loop))
        map_set(loops, loop, (void *)(uintptr_t)(map_count(loops) + 1));
    return (int)(uintptr_t)map_get(loops, loop);
}

static void sort_by_begin(struct item *items, size_t *origin, size_t count) {
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && items[k].begin < items[k - 1].begin; k--) {
            struct item item = items[k];
            items[k] = items[k - 1];
            items[k - 1] = item;
            size_t from = origin[k];
            origin[k] = origin[k - 1];
            origin[k - 1] = from;
        }
}

static void place_frame(struct arena *arena, struct shared_plan *plan, const struct pass_run *passes,
                        struct warp_frame *frame, int space) {
    size_t count = frame->members.count;
    struct item *items = ARENA_ARRAY(arena, struct item, count);
    size_t *origin = ARENA_ARRAY(arena, size_t, count);
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        struct shared_buffer *shared = &plan->buffers.at[frame->members.at[i]];
        items[i] = (struct item){shared->extent->begin, shared->extent->end, shared->place.high, 0, NULL};
        origin[i] = frame->members.at[i];
        sum += items[i].bytes;
    }
    sort_by_begin(items, origin, count);
    frame->bytes = first_fit(plan, passes, items, count);
    if (frame->bytes < sum)
        plan->is_pooled = true;
    for (size_t i = 0; i < count; i++)
        plan->buffers.at[origin[i]].place = (struct stretch){
            .space = space, .low = items[i].at, .high = items[i].at + plan->buffers.at[origin[i]].place.high};
}

/* Buffers of the block and frames of warps, in one pool. */
static void place_pool(struct arena *arena, struct shared_plan *plan, const struct pass_run *passes, frames *frames,
                       int warps) {
    size_t most = plan->buffers.count + frames->count, count = 0;
    struct item *items = ARENA_ARRAY(arena, struct item, most + 1);
    size_t *origin = ARENA_ARRAY(arena, size_t, most + 1);
    int64_t sum = 0;
    for (size_t i = 0; i < plan->buffers.count; i++) {
        struct shared_buffer *shared = &plan->buffers.at[i];
        if (shared->is_dynamic || shared->is_outside || shared->extent->buffer->owner == LEVEL_WARP)
            continue;
        int end = shared->place.high <= FEW_BYTES ? INT_MAX : shared->extent->end;
        items[count] = (struct item){shared->extent->begin, end, shared->place.high, 0, shared->extent};
        origin[count++] = i;
    }
    for (size_t i = 0; i < frames->count; i++) {
        struct warp_frame *frame = &frames->at[i];
        items[count] = (struct item){frame->begin, frame->end, frame->bytes * warps, 0, NULL};
        origin[count++] = plan->buffers.count + i;
    }
    for (size_t i = 0; i < count; i++)
        sum += items[i].bytes;
    sort_by_begin(items, origin, count);
    plan->pool_bytes = first_fit(plan, passes, items, count);
    if (plan->pool_bytes < sum)
        plan->is_pooled = true;
    for (size_t i = 0; i < count; i++) {
        struct stretch place = {.low = items[i].at, .high = items[i].at + items[i].bytes};
        if (origin[i] < plan->buffers.count) {
            plan->buffers.at[origin[i]].place = plan->buffers.at[origin[i]].block_place = place;
            continue;
        }
        struct warp_frame *frame = &frames->at[origin[i] - plan->buffers.count];
        for (size_t k = 0; k < frame->members.count; k++) {
            place.frame = frame->number;
            plan->buffers.at[frame->members.at[k]].block_place = place;
            plan->buffers.at[frame->members.at[k]].frame_bytes = frame->bytes;
        }
    }
}

static bool same_length(const struct ir_value *a, const struct ir_value *b) {
    return a == b || (a->is_constant && b->is_constant && a->constant.integer == b->constant.integer);
}

/* How long a dynamic buffer is only the launch knows, so that there is no fitting. But a buffer
   takes the place of an earlier one of the same length and type that is dead, as the steps of
   `power` and `while` do; so do arrays in global memory. Each warp has its own part of a place of
   warps' arrays, whichever array is there. */
static size_t shared_with(const struct shared_plan *plan, const struct shared_buffer *shared) {
    const struct ir_buffer *buffer = shared->extent->buffer;
    const struct item own = {shared->extent->begin, shared->extent->end, 0, 0, NULL};
    for (size_t i = 0; i < plan->buffers.count; i++) {
        const struct shared_buffer *candidate = &plan->buffers.at[i];
        const struct ir_buffer *first = candidate->extent->buffer;
        bool fits = candidate->is_dynamic == shared->is_dynamic && candidate->is_outside == shared->is_outside &&
                    candidate->shares == i && first->owner == buffer->owner &&
                    same_length(first->capacity, buffer->capacity) && first->element == buffer->element;
        for (size_t k = i; k < plan->buffers.count && fits; k++) {
            const struct extent *extent = plan->buffers.at[k].extent;
            const struct item other = {extent->begin, extent->end, 0, 0, NULL};
            fits = plan->buffers.at[k].shares != i || !meet(&own, &other);
        }
        if (fits)
            return i;
    }
    return plan->buffers.count;
}

static int64_t bytes_of(const struct ir_buffer *buffer) {
    const struct ir_value *capacity = buffer->capacity;
    int64_t elements = capacity->is_constant ? capacity->constant.integer : capacity->high; /* note [bounded] */
    return elements * (int64_t)target_element_bytes(buffer->element);
}

/* A request for a plan. */
struct wishes {
    const struct extents *extents;
    int warps_per_block;
    bool launch_sized_outside;
    struct map *outside; /* buffers in global memory, of constant lengths */
    struct map *bounded; /* buffers → themselves, or NULL: note [bounded] */
    struct pass_run *passes;
};

static struct shared_plan *place(struct arena *arena, const struct wishes *wishes) {
    const struct extents *extents = wishes->extents;
    int warps_per_block = wishes->warps_per_block;
    struct shared_plan *plan = ARENA_NEW(arena, struct shared_plan);
    plan->by_buffer = map_new(arena);
    int next_space = 1;
    frames frames = {0};
    struct map *loops = map_new(arena);
    for (size_t i = 0; i < extents->all.count; i++) {
        struct extent *extent = extents->all.at[i];
        const struct ir_buffer *buffer = extent->buffer;
        bool is_warps = buffer->owner == LEVEL_WARP;
        if (buffer->memory != MEMORY_SHARED || !extent->first || (is_warps && warps_per_block == 0))
            continue;
        struct shared_buffer shared = {.extent = extent,
                                       .is_dynamic =
                                           !buffer->capacity->is_constant && !map_get(wishes->bounded, buffer),
                                       .shares = plan->buffers.count};
        shared.is_outside = shared.is_dynamic ? wishes->launch_sized_outside : map_has(wishes->outside, buffer);
        bool is_alone = shared.is_dynamic || shared.is_outside; /* not in the pool */
        if (is_alone && pass_wanted(wishes->passes, PASS_OVERLAP))
            shared.shares = shared_with(plan, &shared);
        if (shared.shares < plan->buffers.count) {
            shared.place = plan->buffers.at[shared.shares].place;
        } else if (is_alone) {
            shared.place = (struct stretch){.space = next_space++, .high = 1, .is_outside = shared.is_outside};
        } else {
            /* Only the size for now, as `high`. */
            int64_t bytes = bytes_of(buffer);
            shared.place.high = round_up(bytes > 0 ? bytes : 1);
            if (is_warps) {
                struct warp_frame *frame =
                    frame_of(arena, &frames, extent, frame_number(loops, warp_loop(extent), warps_per_block));
                vec_push(arena, &frame->members, plan->buffers.count);
            }
        }
        if (is_alone) {
            shared.block_place = shared.place;
            shared.block_place.frame = is_warps ? frame_number(loops, warp_loop(extent), warps_per_block) : 0;
        }
        vec_push(arena, &plan->buffers, shared);
    }
    for (size_t i = 0; i < frames.count; i++)
        place_frame(arena, plan, wishes->passes, &frames.at[i], next_space++);
    place_pool(arena, plan, wishes->passes, &frames, warps_per_block);
    for (size_t i = 0; i < plan->buffers.count; i++)
        map_set(plan->by_buffer, plan->buffers.at[i].extent->buffer, &plan->buffers.at[i]);
    return plan;
}

/* note [too much]
   Where a block's arrays do not fit into the shared memory of the device, the largest of them lie
   in global memory, where each block of the launch has its own, and each warp. The program means
   the same, and takes longer. */
static const struct ir_buffer *largest(const struct shared_plan *plan, int warps) {
    const struct ir_buffer *found = NULL;
    int64_t most = 0;
    for (size_t i = 0; i < plan->buffers.count; i++) {
        const struct shared_buffer *shared = &plan->buffers.at[i];
        const struct ir_buffer *buffer = shared->extent->buffer;
        if (shared->is_dynamic || shared->is_outside)
            continue;
        int64_t bytes = bytes_of(buffer) * (buffer->owner == LEVEL_WARP ? warps : 1);
        if (bytes > most)
            found = buffer;
        most = bytes > most ? bytes : most;
    }
    return found;
}

/* See note [bounded]. */
static struct shared_plan *with_bounds(struct arena *arena, const struct wishes *wishes, struct shared_plan *plan) {
    for (size_t i = 0; i < plan->buffers.count; i++) {
        const struct ir_buffer *buffer = plan->buffers.at[i].extent->buffer;
        if (!plan->buffers.at[i].is_dynamic || buffer->capacity->high > plan->pool_bytes)
            continue;
        map_set(wishes->bounded, buffer, (void *)buffer);
        struct shared_plan *other = place(arena, wishes);
        if (other->pool_bytes > plan->pool_bytes)
            map_set(wishes->bounded, buffer, NULL);
        else
            plan = other;
    }
    return plan;
}

struct shared_plan *shared_allocate(struct arena *arena, const struct extents *extents, int warps_per_block,
                                    int64_t limit, bool launch_sized_outside, struct pass_run *passes) {
    const struct wishes wishes = {extents,        warps_per_block, launch_sized_outside,
                                  map_new(arena), map_new(arena),  passes};
    const struct ir_buffer *first = NULL, *next;
    struct shared_plan *plan = place(arena, &wishes);
    int64_t wanted = plan->pool_bytes;
    while (limit && plan->pool_bytes > limit && (next = largest(plan, warps_per_block)) != NULL) {
        first = first ? first : next;
        map_set(wishes.outside, next, (void *)next);
        plan = place(arena, &wishes);
    }
    plan = with_bounds(arena, &wishes, plan);
    plan->wanted_bytes = wanted;
    passes->changes[PASS_LAY_OVER] += plan->laid_over;
    passes->changes[PASS_OVERLAP] += plan->is_pooled;
    for (size_t i = 0; i < plan->buffers.count; i++)
        passes->changes[PASS_OVERLAP] += plan->buffers.at[i].shares != i;
    plan->outside = first;
    return plan;
}
