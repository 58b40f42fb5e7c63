// Copying for the C backend of the runtime: the ceiling where there is no OpenCL or CUDA device.
//
// Arguments: input, output, and n, the number of elements. Any number of blocks is right (tuned: 8 per core).
#include <stdint.h>
#include <string.h>

void copy(void *const *args, int64_t blocks) {
    const int32_t *in = *(const int32_t *const *)args[0];
    int32_t *out = *(int32_t *const *)args[1];
    int64_t n = *(const int32_t *)args[2], share = (n + blocks - 1) / blocks;
#pragma omp parallel for schedule(static)
    for (int64_t block = 0; block < blocks; block++) {
        int64_t first = block * share, end = first + share < n ? first + share : n;
        for (int64_t i = first; i < end; i++)
            out[i] = in[i];
    }
}
