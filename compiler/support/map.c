/* Pointer maps: open addressing over indices into a vector of entries in insertion order. */
#include "support/map.h"

#include <stdint.h>

#include "support/vec.h"

struct map {
    struct arena *arena;
    VEC(struct map_entry) entries;
    uint32_t *slots;   /* 1 + index of an entry; 0: free */
    size_t slot_count; /* a power of two, at least twice the number of entries; 0 at first */
};

struct map *map_new(struct arena *arena) {
    struct map *map = ARENA_NEW(arena, struct map);
    map->arena = arena;
    return map;
}

static size_t hash_key(const void *key) {
    uint64_t hash = (uint64_t)(uintptr_t)key;
    hash = (hash ^ (hash >> 32)) * 0x9E3779B97F4A7C15u;
    return (size_t)(hash ^ (hash >> 29));
}

/* The slot that holds `key`, or the free one where it belongs. */
static size_t find_slot(const struct map *map, const void *key) {
    size_t slot = hash_key(key) & (map->slot_count - 1);
    while (map->slots[slot] && map->entries.at[map->slots[slot] - 1].key != key)
        slot = (slot + 1) & (map->slot_count - 1);
    return slot;
}

static struct map_entry *find(const struct map *map, const void *key) {
    if (map->slot_count == 0)
        return NULL;
    uint32_t index = map->slots[find_slot(map, key)];
    return index ? &map->entries.at[index - 1] : NULL;
}

void *map_get(const struct map *map, const void *key) {
    const struct map_entry *entry = find(map, key);
    return entry ? entry->value : NULL;
}

bool map_has(const struct map *map, const void *key) { return find(map, key) != NULL; }

void map_set(struct map *map, const void *key, void *value) {
    struct map_entry *entry = find(map, key);
    if (entry) {
        entry->value = value;
        return;
    }
    vec_push(map->arena, &map->entries, (struct map_entry){key, value});
    if (map->entries.count * 2 > map->slot_count) {
        map->slot_count = map->slot_count ? map->slot_count * 2 : 16;
        map->slots = ARENA_ARRAY(map->arena, uint32_t, map->slot_count);
        for (size_t i = 0; i < map->entries.count; i++)
            map->slots[find_slot(map, map->entries.at[i].key)] = (uint32_t)(i + 1);
    } else {
        map->slots[find_slot(map, key)] = (uint32_t)map->entries.count;
    }
}

size_t map_count(const struct map *map) { return map->entries.count; }

struct map_entry map_entry(const struct map *map, size_t index) {
    return map->entries.at[index];
}
