// The sums of the values that go to each bucket, for CUDA devices. Parameters: for each element the
// index of a bucket, all of which are in range, and a value, both aligned to 16 bytes; output,
// zeros before; n; buckets, and for `byIndex` how many copies of them a block has.
//
// Launch: any number of blocks of a multiple of 32 threads (tuned: 4 per multiprocessor, 512).
// Where a warp's 128 elements all go to one bucket, it adds them up first.
#define MOST 12288 // sums in shared memory

__device__ __forceinline__ void add(int *sums, int4 b, int4 x) {
    int first = __shfl_sync(ALL_LANES, b.x, 0);
    if (__all_sync(ALL_LANES, b.x == first && b.y == first && b.z == first && b.w == first)) {
        int sum = sum_warp(x.x + x.y + x.z + x.w);
        if (LANE == 0)
            atomicAdd(&sums[first], sum);
        return;
    }
    atomicAdd(&sums[b.x], x.x);
    atomicAdd(&sums[b.y], x.y);
    atomicAdd(&sums[b.z], x.z);
    atomicAdd(&sums[b.w], x.w);
}

__device__ __forceinline__ void add_all(int *sums, const int *__restrict__ indices,
                                               const int *__restrict__ values, int n) {
    int threads = (int)(gridDim.x * blockDim.x), thread = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int whole = n / (4 * WARP) * WARP; // vectors that a warp has 32 of
    for (int v = thread; v < whole; v += threads)
        add(sums, reinterpret_cast<const int4 *>(indices)[v], reinterpret_cast<const int4 *>(values)[v]);
    for (int i = 4 * whole + thread; i < n; i += threads)
        atomicAdd(&sums[indices[i]], values[i]);
}

// For copies × buckets up to MOST: warps add in shared memory, neighbouring ones in copies of their own.
extern "C" __global__ void __launch_bounds__(1024)
    byIndex(const int *__restrict__ indices, const int *__restrict__ values, int *__restrict__ out, int n, int buckets,
            int copies) {
    __shared__ int sums[MOST];
    for (int i = (int)threadIdx.x; i < copies * buckets; i += (int)blockDim.x)
        sums[i] = 0;
    __syncthreads();
    add_all(sums + (int)threadIdx.x / WARP % copies * buckets, indices, values, n);
    __syncthreads();
    for (int b = (int)threadIdx.x; b < buckets; b += (int)blockDim.x) {
        int sum = 0;
        for (int c = 0; c < copies; c++)
            sum += sums[c * buckets + b];
        if (sum)
            atomicAdd(&out[b], sum);
    }
}

// For more: sums in the second-level cache.
extern "C" __global__ void __launch_bounds__(1024) byIndexMany(const int *__restrict__ indices,
                                                               const int *__restrict__ values, int *__restrict__ out, int n) {
    add_all(out, indices, values, n);
}
