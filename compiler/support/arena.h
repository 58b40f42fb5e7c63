/* Arenas: memory with one owner and one lifetime. Single nodes are never freed. */
#ifndef FCL_SUPPORT_ARENA_H
#define FCL_SUPPORT_ARENA_H

#include <stddef.h>

enum { ARENA_ALIGNMENT = 16 };

struct arena {
    struct chunk *chunks; /* the first one is being filled */
    unsigned char *free;  /* what is free of it, and how much that is */
    size_t left;
    size_t next_capacity; /* chunks grow up to a limit */
};

struct arena *arena_new(void);
void arena_free(struct arena *arena);

/* Zeroed memory aligned for any type. Never returns NULL: out of memory ends the process through the
   handler installed by the driver (support/fatal.h). */
void *arena_alloc_slowly(struct arena *arena, size_t bytes);

static inline size_t arena_rounded(size_t bytes) {
    return bytes ? (bytes + ARENA_ALIGNMENT - 1) & ~(size_t)(ARENA_ALIGNMENT - 1) : ARENA_ALIGNMENT;
}

static inline void *arena_alloc(struct arena *arena, size_t bytes) {
    if (bytes > arena->left || arena_rounded(bytes) > arena->left)
        return arena_alloc_slowly(arena, bytes);
    arena->left -= arena_rounded(bytes);
    arena->free += arena_rounded(bytes);
    return arena->free - arena_rounded(bytes);
}

char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_printf(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_alloc((arena), sizeof(type) * (size_t)(count)))

#endif
