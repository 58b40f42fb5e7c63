// Copying for the C backend of the runtime: the ceiling where there is no OpenCL or CUDA device.
//
// Arguments: input, output, and n, the number of elements. Any number of blocks is right (tuned: 8 per core).
#include <stdint.h>
#include <string.h>

// The runtime shares these out among its threads.
void fcl_part_copy(void *const *args, int64_t first, int64_t end, int64_t blocks) {
    const int32_t *in = *(const int32_t *const *)args[0];
    int32_t *out = *(int32_t *const *)args[1];
    int64_t n = *(const int32_t *)args[2];
    for (int64_t i = n * first / blocks; i < n * end / blocks; i++)
        out[i] = in[i];
}

void copy(void *const *args, int64_t blocks) { fcl_part_copy(args, 0, blocks, blocks); }

// The same with stores that bypass the caches, for arrays far larger than them: memory need not be read before it is
// overwritten. The output must be aligned to 16 bytes.
#ifdef __SSE2__
#include <emmintrin.h>

void fcl_part_copyStreaming(void *const *args, int64_t first, int64_t end, int64_t blocks) {
    const int32_t *in = *(const int32_t *const *)args[0];
    int32_t *out = *(int32_t *const *)args[1];
    int64_t n = *(const int32_t *)args[2], vectors = n / 4;
    for (int64_t v = vectors * first / blocks; v < vectors * end / blocks; v++)
        _mm_stream_si128((__m128i *)out + v, _mm_loadu_si128((const __m128i *)in + v));
    _mm_sfence();
    if (end == blocks)
        for (int64_t i = vectors * 4; i < n; i++)
            out[i] = in[i];
}

void copyStreaming(void *const *args, int64_t blocks) { fcl_part_copyStreaming(args, 0, blocks, blocks); }
#endif
