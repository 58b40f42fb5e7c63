/* How a kernel's iterations are shared out over blocks: the two numbers that fcl_blocks takes. */
#ifndef FCL_HOST_LAUNCH_SIZE_H
#define FCL_HOST_LAUNCH_SIZE_H

#include "map/target.h"

struct launch_size {
    unsigned per_block; /* SIMT: iterations that one block does at once; 0: LOOP, blocks take contiguous ranges */
    /* LOOP: iterations that are worth a block; SIMT: how many times per_block, on a device that is
       busy. Where there is memory of the launch's for each, no more blocks than keep the device
       busy: UINT32_MAX */
    unsigned least;
};

static inline struct launch_size launch_size_of(const struct target_kernel *kernel) {
    unsigned threads = (unsigned)kernel->block_threads;
    if (kernel->mapping == TARGET_LOOP)
        return (struct launch_size){0, kernel->unit == LEVEL_THREAD ? (unsigned)kernel->worth : 1};
    unsigned least = target_has_scratch(kernel) ? UINT32_MAX : 0;
    if (kernel->unit == LEVEL_THREAD)
        return (struct launch_size){threads, least ? least : (unsigned)kernel->turns};
    unsigned warp = kernel->warp_threads > 0 ? (unsigned)kernel->warp_threads : 1;
    unsigned warps = threads / warp;
    return (struct launch_size){kernel->unit == LEVEL_WARP && warps ? warps : 1, least};
}

#endif
