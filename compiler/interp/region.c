/* Memory that is given back in the reverse order of its allocation: a stack of blocks. Released blocks of the usual
   size stay for the next allocation; large ones go back at once. */
#include "interp/machine.h"

#include <stdlib.h>

#include "support/fatal.h"

enum { REGION_ALIGNMENT = 16, REGION_BLOCK = 256 * 1024 };

struct block {
    unsigned char *bytes;
    size_t capacity;
};

struct region {
    struct block *blocks;
    size_t count, capacity; /* blocks that exist */
    size_t current;         /* the one being filled; those behind it are empty */
    size_t used;            /* of the current one */
};

struct region *region_new(void) {
    struct region *region = calloc(1, sizeof *region);
    if (!region)
        fatal_out_of_memory(sizeof *region);
    return region;
}

void region_free(struct region *region) {
    for (size_t i = 0; i < region->count; i++)
        free(region->blocks[i].bytes);
    free(region->blocks);
    free(region);
}

/* Puts an empty block of that capacity behind the current one. */
static bool add_block(struct region *region, size_t capacity) {
    if (region->count == region->capacity) {
        size_t wanted = region->capacity ? region->capacity * 2 : 16;
        struct block *larger = realloc(region->blocks, wanted * sizeof *larger);
        if (!larger)
            return false;
        region->blocks = larger;
        region->capacity = wanted;
    }
    unsigned char *bytes = malloc(capacity);
    if (!bytes)
        return false;
    size_t at = region->count ? region->current + 1 : 0;
    for (size_t i = region->count; i > at; i--)
        region->blocks[i] = region->blocks[i - 1];
    region->blocks[at] = (struct block){bytes, capacity};
    region->count++;
    return true;
}

void *region_alloc(struct region *region, size_t bytes) {
    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + REGION_ALIGNMENT - 1) & ~(size_t)(REGION_ALIGNMENT - 1);
    if (region->count == 0 || bytes > region->blocks[region->current].capacity - region->used) {
        bool next_fits = region->current + 1 < region->count && bytes <= region->blocks[region->current + 1].capacity;
        bool is_first = region->count == 0;
        if (!next_fits && !add_block(region, bytes > REGION_BLOCK ? bytes : REGION_BLOCK))
            return NULL;
        region->current += !is_first;
        region->used = 0;
    }
    void *result = region->blocks[region->current].bytes + region->used;
    region->used += bytes;
    return result;
}

struct region_mark region_here(const struct region *region) {
    return (struct region_mark){region->current, region->used};
}

void region_release(struct region *region, struct region_mark mark) {
    if (region->current != mark.block) {
        size_t kept = mark.block + 1;
        for (size_t i = mark.block + 1; i < region->count; i++)
            if (region->blocks[i].capacity > REGION_BLOCK)
                free(region->blocks[i].bytes);
            else
                region->blocks[kept++] = region->blocks[i];
        region->count = kept;
    }
    region->current = mark.block;
    region->used = mark.used;
}
