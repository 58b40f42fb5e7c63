// What hand-written kernels for CUDA devices have in common; launches.c puts it before each of them.

#define WARP 32
#define ALL_LANES 0xffffffffu
#define LANE ((int)threadIdx.x % WARP)
#define LANES_BELOW ((1u << LANE) - 1)

// The sum over a warp, in its first lane.
template <class T> __device__ __forceinline__ T sum_warp(T x) {
#pragma unroll
    for (int step = WARP / 2; step > 0; step /= 2)
        x += __shfl_down_sync(ALL_LANES, x, step);
    return x;
}

// The sum over a block of a multiple of 32 threads, in its first one. `warps` is shared memory for 32 sums.
template <class T> __device__ __forceinline__ T sum_block(T x, T *warps) {
    x = sum_warp(x);
    if (LANE == 0)
        warps[threadIdx.x / WARP] = x;
    __syncthreads();
    if (threadIdx.x < WARP)
        x = sum_warp(threadIdx.x < blockDim.x / WARP ? warps[threadIdx.x] : (T)0);
    return x;
}

// The sum of the warp's lanes up to this one.
__device__ __forceinline__ int scan_warp(int x) {
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) {
        int before = __shfl_up_sync(ALL_LANES, x, step);
        if (LANE >= step)
            x += before;
    }
    return x;
}

// Four elements from `first`, a multiple of 4, of an array of n that is aligned to 16 bytes; beyond
// its end there are zeros.
__device__ __forceinline__ int4 load4(const int *__restrict__ in, int first, int n) {
    if (first + 4 <= n)
        return *reinterpret_cast<const int4 *>(in + first);
    return make_int4(first < n ? in[first] : 0, first + 1 < n ? in[first + 1] : 0, first + 2 < n ? in[first + 2] : 0, 0);
}

__device__ __forceinline__ void store4(int *__restrict__ out, int first, int n, int4 x) {
    if (first + 4 <= n) {
        *reinterpret_cast<int4 *>(out + first) = x;
        return;
    }
    if (first < n)
        out[first] = x.x;
    if (first + 1 < n)
        out[first + 1] = x.y;
    if (first + 2 < n)
        out[first + 2] = x.z;
}

// ---------------------------------------------------------------- tiles that wait for those before them

// A tile's state is one word, so that nothing is to be fenced: what is known in its upper half, and
// the value in its lower. 0 is nothing yet.
typedef unsigned long long word;
enum { SUM = 1, UP_TO = 2 }; // of the tile alone; of all up to it

__device__ __forceinline__ void publish(word *state, int known, int value) {
    *(volatile word *)state = (word)known << 32 | (unsigned)value;
}

// Tiles are numbered as blocks begin, so that all before it are done or running. All threads get the number.
__device__ __forceinline__ int next_tile(unsigned *ticket, int *shared) {
    if (threadIdx.x == 0)
        *shared = (int)atomicAdd(ticket, 1u);
    __syncthreads();
    return *shared;
}

// The sum of all before the tile, in every lane of the warp that calls it; 32 tiles are looked at together.
__device__ __forceinline__ int look_back(const word *states, int tile) {
    int sum = 0;
    unsigned ends = 0;
    for (int t = tile - 1 - LANE; ends == 0; t -= WARP) {
        word state;
        do
            state = t >= 0 ? ((const volatile word *)states)[t] : (word)UP_TO << 32;
        while (__any_sync(ALL_LANES, state >> 32 == 0));
        ends = __ballot_sync(ALL_LANES, state >> 32 == UP_TO);
        if (ends == 0 || LANE < __ffs((int)ends))
            sum += (int)(unsigned)state;
    }
#pragma unroll
    for (int step = WARP / 2; step > 0; step /= 2)
        sum += __shfl_xor_sync(ALL_LANES, sum, step);
    return sum;
}
