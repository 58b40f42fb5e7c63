/* Where each buffer is used in a device kernel: the region that must hold its declaration, and for how long it lives
   there. */
#include "map/extents.h"

static const struct ir_region *around_both(const struct ir_region *region, const struct ir_instruction *at) {
    while (!ir_region_inside(at->region, region))
        region = region->parent;
    return region;
}

/* The instruction of the region that it is, or is inside of. */
static const struct ir_instruction *climb(const struct ir_instruction *at, const struct ir_region *region) {
    return region->instructions.at[ir_position(region, at)];
}

static struct extent *extent_of(struct arena *arena, const struct ir_touched *touched) {
    struct extent *extent = ARENA_NEW(arena, struct extent);
    extent->buffer = touched->buffer;
    extent->touched = touched;
    extent->region = (touched->made.count ? touched->made.at[0] : touched->all.at[0])->region;
    for (size_t i = 0; i < touched->made.count; i++)
        extent->region = around_both(extent->region, touched->made.at[i]);
    for (size_t i = 0; i < touched->all.count; i++) {
        extent->region = around_both(extent->region, touched->all.at[i]);
        extent->is_written |= ir_changes_element(touched->all.at[i]);
    }
    return extent;
}

struct extents *extents_of(struct arena *arena, const struct ir_region *region) {
    struct extents *extents = ARENA_NEW(arena, struct extents);
    extents->by_buffer = map_new(arena);
    extents->by_first = map_new(arena);
    extents->places = ir_places(arena, region);
    struct map *numbers = map_new(arena); /* of instructions, in the order of the text */
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        map_set(numbers, walk.at, (void *)(uintptr_t)map_count(numbers));
    for (size_t i = 0; i < extents->places.all.count; i++) {
        struct extent *extent = extent_of(arena, extents->places.all.at[i]);
        map_set(extents->by_buffer, extent->buffer, extent);
        vec_push(arena, &extents->all, extent);
        if (!extent->touched->all.count)
            continue;
        const struct ir_instruction *last = extent->touched->all.at[extent->touched->all.count - 1];
        extent->first = climb(extent->touched->all.at[0], extent->region);
        extent->last = climb(last, extent->region);
        for (struct ir_walk walk = ir_walk_of(extent->last); walk.at; ir_next(&walk))
            last = walk.at;
        extent->begin = (int)(uintptr_t)map_get(numbers, extent->first);
        extent->end = (int)(uintptr_t)map_get(numbers, last) + 1;
        extent->next_here = map_get(extents->by_first, extent->first);
        map_set(extents->by_first, extent->first, extent);
    }
    return extents;
}

/* ---- on the host ---- */

struct liveness {
    struct map *after; /* instruction → dead_buffers */
};

struct liveness *liveness_of(struct arena *arena, const struct ir_kernel *kernel) {
    struct liveness *liveness = ARENA_NEW(arena, struct liveness);
    liveness->after = map_new(arena);
    const struct extents *extents = extents_of(arena, kernel->body);
    for (size_t i = 0; i < extents->all.count; i++) {
        const struct extent *extent = extents->all.at[i];
        struct ir_buffer *buffer = extent->buffer;
        if (buffer->memory != MEMORY_OUTPUT || buffer->is_result || !extent->last)
            continue;
        dead_buffers *dead = map_get(liveness->after, extent->last);
        if (!dead) {
            dead = ARENA_NEW(arena, dead_buffers);
            map_set(liveness->after, extent->last, dead);
        }
        vec_push(arena, dead, buffer);
    }
    return liveness;
}

const dead_buffers *liveness_after(const struct liveness *liveness, const struct ir_instruction *instruction) {
    static const dead_buffers none = {0};
    const dead_buffers *dead = map_get(liveness->after, instruction);
    return dead ? dead : &none;
}
