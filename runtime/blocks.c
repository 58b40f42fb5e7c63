// The number of blocks of a launch.
#include "fcl.h"

enum { RANGES_PER_CORE = 4 }; // a few even out the noise of a core

uint64_t fcl_blocks(const struct fcl_context *context, uint64_t iterations, uint32_t per_block, uint32_t least) {
    if (per_block)
        return iterations / per_block + (iterations % per_block != 0);
    const struct fcl_device_info *device = fcl_device(context);
    uint64_t most = (uint64_t)(device && device->compute_units ? device->compute_units : 1) * RANGES_PER_CORE;
    uint64_t worth = least ? iterations / least + (iterations % least != 0) : iterations;
    return worth < most ? worth : most;
}
