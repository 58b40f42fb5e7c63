/* FNV-1a: a hash for tables and for telling texts apart, not for secrets. */
#ifndef FCL_SUPPORT_HASH_H
#define FCL_SUPPORT_HASH_H

#include <stddef.h>
#include <stdint.h>

static const uint64_t HASH_SEED = UINT64_C(0xcbf29ce484222325);

/* Goes on from `seed`: HASH_SEED, or what a call before gave. */
static inline uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t length) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < length; i++)
        seed = (seed ^ at[i]) * UINT64_C(0x100000001b3);
    return seed;
}

#endif
