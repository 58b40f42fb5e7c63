// How often each number from 0 up to `bins` is there, for CUDA devices. Parameters: input, aligned
// to 16 bytes, all of whose elements are in range; output, zeros before; n; bins, and for
// `histogram` how many copies of them a block has.
//
// Launch: any number of blocks of a multiple of 32 threads (tuned: 4 per multiprocessor, 512).
// Where a warp's 128 elements are all alike, one lane adds them all.
#define MOST 12288 // counters in shared memory

__device__ __forceinline__ void add(int *counters, int4 x) {
    int first = __shfl_sync(ALL_LANES, x.x, 0);
    if (__all_sync(ALL_LANES, x.x == first && x.y == first && x.z == first && x.w == first)) {
        if (LANE == 0)
            atomicAdd(&counters[first], 4 * WARP);
        return;
    }
    atomicAdd(&counters[x.x], 1);
    atomicAdd(&counters[x.y], 1);
    atomicAdd(&counters[x.z], 1);
    atomicAdd(&counters[x.w], 1);
}

__device__ __forceinline__ void add_all(int *counters, const int *__restrict__ in, int n) {
    int threads = (int)(gridDim.x * blockDim.x), thread = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int whole = n / (4 * WARP) * WARP; // vectors that a warp has 32 of
    for (int v = thread; v < whole; v += threads)
        add(counters, reinterpret_cast<const int4 *>(in)[v]);
    for (int i = 4 * whole + thread; i < n; i += threads)
        atomicAdd(&counters[in[i]], 1);
}

// For copies × bins up to MOST: warps count in shared memory, neighbouring ones in copies of their own.
extern "C" __global__ void __launch_bounds__(1024)
    histogram(const int *__restrict__ in, int *__restrict__ out, int n, int bins, int copies) {
    __shared__ int counters[MOST];
    for (int i = (int)threadIdx.x; i < copies * bins; i += (int)blockDim.x)
        counters[i] = 0;
    __syncthreads();
    add_all(counters + (int)threadIdx.x / WARP % copies * bins, in, n);
    __syncthreads();
    for (int b = (int)threadIdx.x; b < bins; b += (int)blockDim.x) {
        int sum = 0;
        for (int c = 0; c < copies; c++)
            sum += counters[c * bins + b];
        if (sum)
            atomicAdd(&out[b], sum);
    }
}

// For more: counters in the second-level cache.
extern "C" __global__ void __launch_bounds__(1024) histogramMany(const int *__restrict__ in, int *__restrict__ out, int n) {
    add_all(out, in, n);
}
