/* A hash map from pointers (or integers cast to pointers) to pointers. Entries keep the order in which
   their keys were first set, so that iterating is deterministic. */
#ifndef FCL_SUPPORT_MAP_H
#define FCL_SUPPORT_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "support/arena.h"

struct map;

struct map_entry {
    const void *key;
    void *value;
};

struct map *map_new(struct arena *arena);
void *map_get(const struct map *map, const void *key); /* NULL when absent */
bool map_has(const struct map *map, const void *key);
void map_set(struct map *map, const void *key, void *value); /* replaces; a NULL value is kept as an entry */
size_t map_count(const struct map *map);
struct map_entry map_entry(const struct map *map, size_t index); /* in order of first insertion */

#endif
