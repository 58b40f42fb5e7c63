// Warp-wide operations.

// Right: the sum of a warp by shuffles.
extern "C" __global__ void shuffle_sum(const int *in, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = in[i];
    for (int by = 16; by > 0; by /= 2)
        value += __shfl_down_sync(0xFFFFFFFFu, value, by);
    if (threadIdx.x % 32 == 0)
        out[i / 32] = value;
}

// Right: an exclusive scan within segments of eight lanes, doubles through the shuffle.
extern "C" __global__ void segments(const int *in, int *out) {
    double value = in[threadIdx.x], sum = value;
    for (int by = 1; by < 8; by *= 2) {
        double before = __shfl_up_sync(0xFFFFFFFFu, sum, by, 8);
        if (threadIdx.x % 8 >= (unsigned)by)
            sum += before;
    }
    out[threadIdx.x] = (int)(sum - value) + 1000 * __shfl_xor_sync(0xFFFFFFFFu, (int)threadIdx.x % 8, 7, 8);
}

// Lanes exchange values through shared memory; right with __syncwarp, a race without (-DNO_SYNCWARP).
extern "C" __global__ void exchange(int *data) {
    __shared__ int tile[64];
    tile[threadIdx.x] = data[threadIdx.x];
#ifndef NO_SYNCWARP
    __syncwarp();
#endif
    data[threadIdx.x] = tile[threadIdx.x ^ 1];
}

// __syncwarp does not order two warps.
extern "C" __global__ void across_warps(int *data) {
    __shared__ int tile[64];
    tile[threadIdx.x] = data[threadIdx.x];
    __syncwarp();
    data[threadIdx.x] = tile[threadIdx.x ^ 32];
}

// Read by all lanes, then written by one: right only because of the second __syncwarp (-DNO_SYNCWARP leaves it out).
extern "C" __global__ void broadcast(int *data) {
    __shared__ int word;
    if (threadIdx.x == 0)
        word = 5;
    __syncwarp();
    int seen = word;
#ifndef NO_SYNCWARP
    __syncwarp();
#endif
    if (threadIdx.x == 31)
        word = 7;
    data[threadIdx.x] = seen;
}

// Right: votes, also with half a warp.
extern "C" __global__ void ballots(int *out) {
    unsigned odd = __ballot_sync(0xFFFFFFFFu, threadIdx.x & 1);
    int any = __any_sync(0xFFFFFFFFu, threadIdx.x == 7), all = __all_sync(0xFFFFFFFFu, threadIdx.x < 31);
    unsigned low = 0;
    if (threadIdx.x < 16)
        low = __ballot_sync(0x0000FFFFu, threadIdx.x < 3);
    out[threadIdx.x] = (odd == 0xAAAAAAAAu) + 2 * any + 4 * all + 8 * (int)low;
}
