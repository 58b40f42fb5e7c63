/* Arenas: a list of zeroed chunks, bumped through from the front; freed all at once.

   note [huge pages]: the first touch of a page costs more than most of what is done with it, above
   all in a virtual machine. Large chunks therefore ask for pages of 2 MiB, of which a compilation
   touches a few where it touched thousands. Where the system has none, they are usual pages. */
#include "support/arena.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "support/fatal.h"

enum {
    ARENA_FIRST_CHUNK = 32 * 1024,
    ARENA_GROWTH = 4,
    ARENA_LARGEST_CHUNK = 4 * 1024 * 1024,
    HUGE_PAGE = 2 * 1024 * 1024,
};

struct chunk {
    struct chunk *next;
    size_t capacity;
    _Alignas(ARENA_ALIGNMENT) unsigned char bytes[];
};

/* ---- chunks ---- */

#ifdef MADV_HUGEPAGE

static bool is_mapped(size_t capacity) { return capacity >= HUGE_PAGE; }

/* Whole huge pages that hold a chunk of that capacity; see note [huge pages]. */
static size_t mapped_bytes(size_t capacity) {
    return (sizeof(struct chunk) + capacity + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
}

static struct chunk *map_chunk(size_t capacity) {
    size_t bytes = mapped_bytes(capacity);
    int access = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS;
    unsigned char *all = mmap(NULL, bytes + HUGE_PAGE, access, kind, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    size_t before = -(uintptr_t)all & (HUGE_PAGE - 1); /* a huge page begins at its multiple */
    unsigned char *chunk = all + before;
    if (before)
        munmap(all, before);
    munmap(chunk + bytes, HUGE_PAGE - before);
    (void)madvise(chunk, bytes, MADV_HUGEPAGE);
    return (struct chunk *)chunk;
}

static void unmap_chunk(struct chunk *chunk) { munmap(chunk, mapped_bytes(chunk->capacity)); }

#else /* there are none */

static bool is_mapped(size_t capacity) { return (void)capacity, false; }
static size_t mapped_bytes(size_t capacity) { return capacity; }
static struct chunk *map_chunk(size_t capacity) { return (void)capacity, NULL; }
static void unmap_chunk(struct chunk *chunk) { (void)chunk; }

#endif

static struct chunk *chunk_new(size_t capacity) {
    bool mapped = is_mapped(capacity);
    struct chunk *chunk = mapped ? map_chunk(capacity) : calloc(1, sizeof *chunk + capacity);
    if (!chunk)
        fatal_out_of_memory(capacity);
    chunk->capacity = mapped ? mapped_bytes(capacity) - sizeof *chunk : capacity;
    return chunk;
}

static void chunk_free(struct chunk *chunk) {
    if (is_mapped(chunk->capacity))
        unmap_chunk(chunk);
    else
        free(chunk);
}

/* ---- arenas ---- */

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
        chunk_free(chunk);
    }
    free(arena);
}

void *arena_alloc_slowly(struct arena *arena, size_t bytes) {
    if (bytes > SIZE_MAX / 2)
        fatal_out_of_memory(bytes);
    bytes = arena_rounded(bytes);
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
    arena->free = fresh->bytes + bytes;
    arena->left = fresh->capacity - bytes;
    if (arena->next_capacity < ARENA_LARGEST_CHUNK)
        arena->next_capacity *= ARENA_GROWTH;
    return fresh->bytes;
}

char *arena_strndup(struct arena *arena, const char *text, size_t length) {
    char *copy = arena_alloc(arena, length + 1);
    if (length)
        memcpy(copy, text, length);
    return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...) {
    char usual[256];
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(usual, sizeof usual, format, arguments);
    va_end(arguments);
    if (length < 0)
        fatal_internal("arena_printf", "bad format %s", format);
    char *result = arena_alloc(arena, (size_t)length + 1);
    if ((size_t)length < sizeof usual)
        memcpy(result, usual, (size_t)length);
    else
        vsnprintf(result, (size_t)length + 1, format, again);
    va_end(again);
    return result;
}
