// Reversing an array, for the C backend of the runtime. Arguments: input, output, and n, the number of elements. Any
// number of blocks is right.
#include <stdint.h>

void fcl_part_reverse(void *const *args, int64_t first, int64_t end, int64_t blocks) {
    const int32_t *restrict in = *(const int32_t *const *)args[0];
    int32_t *restrict out = *(int32_t *const *)args[1];
    int64_t n = *(const int32_t *)args[2];
    for (int64_t i = n * first / blocks; i < n * end / blocks; i++)
        out[i] = in[n - 1 - i];
}

void reverse(void *const *args, int64_t blocks) { fcl_part_reverse(args, 0, blocks, blocks); }
