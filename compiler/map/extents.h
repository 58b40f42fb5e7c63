/* Where buffers are used: for how long they live, in a device kernel and on the host. */
#ifndef FCL_MAP_EXTENTS_H
#define FCL_MAP_EXTENTS_H

#include "ir/places.h"

/* Where a buffer is used in a kernel. `region` encloses its allocation and all accesses; `first` and `last` are the
   instructions of that region that hold the first and the last access. */
struct extent {
    struct ir_buffer *buffer;
    const struct ir_touched *touched;
    bool is_written;
    const struct ir_region *region;
    const struct ir_instruction *first, *last;
    int begin, end;           /* positions of first's begin and last's end */
    struct extent *next_here; /* another with the same `first` */
};
struct extents {
    struct ir_places places;
    VEC(struct extent *) all; /* in order of first mention */
    struct map *by_buffer;
    struct map *by_first; /* instruction → extent, chained by next_here */
};
/* The extents of all that is accessed in a region: a device kernel's body, or the host's. */
struct extents *extents_of(struct arena *arena, const struct ir_region *region);

/* Buffers that nothing uses after an instruction of the host: intermediates, which can be given back there. */
typedef VEC(struct ir_buffer *) dead_buffers;
struct liveness; /* instruction → buffers */
struct liveness *liveness_of(struct arena *arena, const struct ir_kernel *kernel);
const dead_buffers *liveness_after(const struct liveness *liveness, const struct ir_instruction *instruction);

#endif
