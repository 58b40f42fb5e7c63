/* Growable arrays in an arena. `VEC(type)` is a struct type; the old storage of a grown vector stays
   in the arena until the arena goes. */
#ifndef FCL_SUPPORT_VEC_H
#define FCL_SUPPORT_VEC_H

#include <stddef.h>
#include <string.h>

#include "support/arena.h"

#define VEC(type)                                                                                                      \
    struct {                                                                                                           \
        type *at;                                                                                                      \
        size_t count, capacity;                                                                                        \
    }

#define vec_push(arena, vec, ...)                                                                                      \
    do {                                                                                                               \
        if ((vec)->count == (vec)->capacity)                                                                           \
            (vec)->at = vec_grow((arena), (vec)->at, sizeof *(vec)->at, (vec)->count, &(vec)->capacity);               \
        (vec)->at[(vec)->count++] = (__VA_ARGS__);                                                                     \
    } while (0)

static inline void *vec_grow(struct arena *arena, void *old, size_t size, size_t count, size_t *capacity) {
    *capacity = *capacity ? *capacity * 2 : 8;
    void *fresh = arena_alloc(arena, size * *capacity);
    if (count)
        memcpy(fresh, old, size * count);
    return fresh;
}

#endif
