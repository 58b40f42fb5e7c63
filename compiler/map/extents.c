/* Where each buffer is used in a device kernel: the region that must hold its declaration, and for how long it lives
   there. */
#include "map/extents.h"

struct interval {
    int begin, end;
};

struct walk {
    struct arena *arena;
    struct extents *extents;
    struct map *intervals; /* instruction → struct interval, in order of the text */
    int position;
};

static struct extent *extent_of(struct walk *walk, struct ir_buffer *buffer, const struct ir_region *region) {
    struct extent *extent = map_get(walk->extents->by_buffer, buffer);
    if (!extent) {
        extent = ARENA_NEW(walk->arena, struct extent);
        extent->buffer = buffer;
        extent->region = region;
        map_set(walk->extents->by_buffer, buffer, extent);
        vec_push(walk->arena, &walk->extents->all, extent);
    }
    while (!ir_region_inside(region, extent->region))
        extent->region = extent->region->parent;
    return extent;
}

static void walk_region(struct walk *walk, const struct ir_region *region) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *instruction = region->instructions.at[i];
        struct interval *interval = ARENA_NEW(walk->arena, struct interval);
        map_set(walk->intervals, instruction, interval);
        interval->begin = walk->position++;
        if (instruction->buffer) {
            struct extent *extent = extent_of(walk, instruction->buffer, region);
            extent->is_written |= instruction->kind == IR_STORE || instruction->kind == IR_ATOMIC;
            if (instruction->kind != IR_ALLOCATE)
                vec_push(walk->arena, &extent->accesses, instruction);
        }
        if (instruction->kind == IR_SWAP)
            vec_push(walk->arena, &extent_of(walk, IR_PART(instruction, swap).other, region)->accesses, instruction);
        for (size_t r = 0; r < 2; r++)
            if (instruction->regions[r])
                walk_region(walk, instruction->regions[r]);
        interval->end = walk->position++;
    }
}

static const struct ir_instruction *climb(const struct ir_instruction *instruction, const struct ir_region *region) {
    while (instruction->region != region)
        instruction = instruction->region->owner;
    return instruction;
}

struct extents *extents_of(struct arena *arena, const struct ir_region *region) {
    struct extents *extents = ARENA_NEW(arena, struct extents);
    extents->by_buffer = map_new(arena);
    extents->by_first = map_new(arena);
    struct walk walk = {.arena = arena, .extents = extents, .intervals = map_new(arena)};
    walk_region(&walk, region);
    for (size_t i = 0; i < extents->all.count; i++) {
        struct extent *extent = extents->all.at[i];
        if (!extent->accesses.count)
            continue;
        extent->first = climb(extent->accesses.at[0], extent->region);
        extent->last = climb(extent->accesses.at[extent->accesses.count - 1], extent->region);
        extent->begin = ((struct interval *)map_get(walk.intervals, extent->first))->begin;
        extent->end = ((struct interval *)map_get(walk.intervals, extent->last))->end;
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
