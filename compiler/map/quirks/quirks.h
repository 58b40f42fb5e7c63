/* The quirks of other compilers, as rows: quirks.def explains the columns. */
#ifndef FCL_MAP_QUIRKS_QUIRKS_H
#define FCL_MAP_QUIRKS_QUIRKS_H

#include <stdbool.h>
#include <stdint.h>

#include "support/text.h"

enum quirk {
#define QUIRK(id, ...) QUIRK_##id,
#include "map/quirks/quirks.def"
#undef QUIRK
    QUIRK_COUNT
};

/* Whose kernels: a language by a mapping. A machine is one of them; a language may be several. */
enum quirk_where {
    ON_CUDA = 1,
    ON_HIP = 2,
    ON_OPENCL_THREADS = 4,
    ON_OPENCL_LOOPS = 8,
    ON_C = 16,
    ON_OPENCL = ON_OPENCL_THREADS | ON_OPENCL_LOOPS,
    ON_LOOPS = ON_OPENCL_LOOPS | ON_C,
    ON_ALL = 31,
};

struct quirk_row {
    unsigned where;
    const char *compiler, *guard, *macro, *there, *elsewhere, *what, *tests, *until;
};
extern const struct quirk_row quirks[QUIRK_COUNT];

/* A set of quirks: those that a kernel's code would meet. */
typedef uint64_t quirk_set;
_Static_assert(QUIRK_COUNT <= 64, "quirk_set has a bit for each");
static inline quirk_set quirk_bit(enum quirk quirk) { return (quirk_set)1 << quirk; }

static inline bool quirk_is_on(enum quirk quirk, unsigned where) { return (quirks[quirk].where & where) != 0; }
/* The macros of those in the set that have one, by which a file for `where` mends them. */
void quirks_print(struct text *out, quirk_set set, unsigned where);

#endif
