/* The table of interned names: a chained hash table that doubles when it is full. */
#include "support/symbol.h"

#include <string.h>

#include "support/hash.h"

struct symbols {
    struct arena *arena;
    struct symbol **buckets;
    size_t bucket_count, count; /* bucket_count is a power of two */
};

enum { SYMBOLS_FIRST_BUCKETS = 512 };

struct symbols *symbols_new(struct arena *arena) {
    struct symbols *symbols = ARENA_NEW(arena, struct symbols);
    symbols->arena = arena;
    symbols->bucket_count = SYMBOLS_FIRST_BUCKETS;
    symbols->buckets = ARENA_ARRAY(arena, struct symbol *, symbols->bucket_count);
    return symbols;
}

static void symbols_grow(struct symbols *symbols) {
    size_t count = symbols->bucket_count * 2;
    struct symbol **buckets = ARENA_ARRAY(symbols->arena, struct symbol *, count);
    for (size_t i = 0; i < symbols->bucket_count; i++) {
        for (struct symbol *one = symbols->buckets[i], *next; one; one = next) {
            next = one->next;
            one->next = buckets[one->hash & (count - 1)];
            buckets[one->hash & (count - 1)] = one;
        }
    }
    symbols->buckets = buckets;
    symbols->bucket_count = count;
}

symbol symbol_intern(struct symbols *symbols, const char *text, size_t length) {
    unsigned hash = (unsigned)hash_bytes(HASH_SEED, text, length);
    for (struct symbol *one = symbols->buckets[hash & (symbols->bucket_count - 1)]; one; one = one->next)
        if (one->hash == hash && one->length == length && memcmp(one->text, text, length) == 0)
            return one;
    if (symbols->count == symbols->bucket_count)
        symbols_grow(symbols);
    struct symbol *fresh = ARENA_NEW(symbols->arena, struct symbol);
    fresh->text = arena_strndup(symbols->arena, text, length);
    fresh->length = length;
    fresh->hash = hash;
    struct symbol **bucket = &symbols->buckets[hash & (symbols->bucket_count - 1)];
    fresh->next = *bucket;
    *bucket = fresh;
    symbols->count++;
    return fresh;
}

symbol symbol_of(struct symbols *symbols, const char *text) { return symbol_intern(symbols, text, strlen(text)); }
