// Sums of an array's parts, for the C backend of the runtime. Arguments: input, one result per block, and n, the number
// of elements. Any number of blocks is right; each adds up a contiguous share.
#include <stdint.h>

void fcl_part_reduce(void *const *args, int64_t first, int64_t end, int64_t blocks) {
    const int32_t *restrict in = *(const int32_t *const *)args[0];
    int32_t *restrict out = *(int32_t *const *)args[1];
    int64_t n = *(const int32_t *)args[2];
    for (int64_t block = first; block < end; block++) {
        uint32_t sum = 0;
        for (int64_t i = n * block / blocks; i < n * (block + 1) / blocks; i++)
            sum += (uint32_t)in[i];
        out[block] = (int32_t)sum;
    }
}

void reduce(void *const *args, int64_t blocks) { fcl_part_reduce(args, 0, blocks, blocks); }
