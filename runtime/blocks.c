// The number of blocks of a launch.
#include "fcl.h"

enum {
    RANGES_PER_CORE = 4,    // a few even out the noise of a core,
    RANGES_PER_THREAD = 16, // and more, where a range costs little more than a call, ranges of which some take longer
    BUSY_BLOCKS = 8,        // of 256 threads fill a multiprocessor of NVIDIA's
};

uint64_t fcl_blocks(const struct fcl_context *context, uint64_t iterations, uint32_t per_block, uint32_t least) {
    const struct fcl_device_info *device = fcl_device(context);
    uint64_t units = device && device->compute_units ? device->compute_units : 1;
    if (per_block) {
        uint64_t all = iterations / per_block + (iterations % per_block != 0);
        uint64_t few = least > 1 ? all / least + (all % least != 0) : all, busy = units * BUSY_BLOCKS;
        return few >= busy ? few : all < busy ? all : busy;
    }
    bool is_c = device && device->backend == FCL_BACKEND_C;
    uint64_t most = units * (is_c ? RANGES_PER_THREAD : RANGES_PER_CORE);
    uint64_t worth = least ? iterations / least + (iterations % least != 0) : iterations;
    return worth < most ? worth : most;
}
