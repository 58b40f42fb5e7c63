/* Arenas: a list of zeroed chunks, bumped through from the front; freed all at once. */
#include "support/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fatal.h"

enum { ARENA_ALIGNMENT = 16, ARENA_FIRST_CHUNK = 16 * 1024, ARENA_LARGEST_CHUNK = 4 * 1024 * 1024 };

struct chunk {
    struct chunk *next;
    size_t capacity;
    _Alignas(ARENA_ALIGNMENT) unsigned char bytes[];
};

struct arena {
    struct chunk *chunks; /* the first one is being filled */
    size_t used;          /* of the first chunk */
    size_t next_capacity; /* chunks double up to ARENA_LARGEST_CHUNK */
    size_t total;
};

struct arena *arena_new(void) {
    struct arena *arena = calloc(1, sizeof *arena);
    if (!arena)
        fatal_out_of_memory(sizeof *arena);
    arena->next_capacity = ARENA_FIRST_CHUNK;
    return arena;
}

void arena_free(struct arena *arena) {
    if (!arena)
        return;
    for (struct chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(arena);
}

static struct chunk *chunk_new(size_t capacity) {
    struct chunk *chunk = capacity > SIZE_MAX - sizeof *chunk ? NULL : calloc(1, sizeof *chunk + capacity);
    if (!chunk)
        fatal_out_of_memory(capacity);
    chunk->capacity = capacity;
    return chunk;
}

void *arena_alloc(struct arena *arena, size_t bytes) {
    if (bytes > SIZE_MAX / 2)
        fatal_out_of_memory(bytes);
    bytes = (bytes + ARENA_ALIGNMENT - 1) & ~(size_t)(ARENA_ALIGNMENT - 1);
    if (bytes == 0)
        bytes = ARENA_ALIGNMENT;
    arena->total += bytes;
    if (arena->chunks && bytes <= arena->chunks->capacity - arena->used) {
        void *result = arena->chunks->bytes + arena->used;
        arena->used += bytes;
        return result;
    }
    if (arena->chunks && bytes > arena->next_capacity / 4) {
        /* A large object gets a chunk of its own behind the one being filled, which goes on being filled. */
        struct chunk *own = chunk_new(bytes);
        own->next = arena->chunks->next;
        arena->chunks->next = own;
        return own->bytes;
    }
    struct chunk *fresh = chunk_new(bytes > arena->next_capacity ? bytes : arena->next_capacity);
    fresh->next = arena->chunks;
    arena->chunks = fresh;
    arena->used = bytes;
    if (arena->next_capacity < ARENA_LARGEST_CHUNK)
        arena->next_capacity *= 2;
    return fresh->bytes;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length) {
    char *copy = arena_alloc(arena, length + 1);
    if (length)
        memcpy(copy, text, length);
    return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0)
        fatal_internal("arena_printf", "bad format %s", format);
    char *result = arena_alloc(arena, (size_t)length + 1);
    vsnprintf(result, (size_t)length + 1, format, again);
    va_end(again);
    return result;
}

size_t arena_bytes(const struct arena *arena) { return arena->total; }
