// Atomics do not race with each other.

// Right: a histogram in shared memory, added to the one in device memory.
extern "C" __global__ void histogram(const int *in, int *out, int n) {
    __shared__ int bins[16];
    if (threadIdx.x < 16)
        bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[in[i] % 16], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

// A plain read beside an atomic.
extern "C" __global__ void mixed(int *data) {
    atomicAdd(&data[0], 1);
    data[1 + threadIdx.x] = data[0];
}

// Right: the last block to finish adds up what all have written.
extern "C" __global__ void last_block(const int *in, int *parts, unsigned *tickets, int *out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = in[blockIdx.x];
#ifndef NO_FENCE
        __threadfence();
#endif
        last = atomicAdd(tickets, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int total = 0;
        for (unsigned i = 0; i < gridDim.x; i++)
            total += parts[i];
        out[0] = total;
    }
}

// Right: the other operations, and a loop of atomicCAS.
extern "C" __global__ void operations(int *out, float *sum) {
    int i = threadIdx.x;
    atomicMin(&out[0], -i);
    atomicMax(&out[1], i);
    atomicOr(&out[2], 1 << i % 8);
    atomicXor((unsigned *)&out[3], 1u << i % 32);
    int seen = out[5], old;
    do {
        old = seen;
        seen = atomicCAS(&out[4], old, old + 2);
    } while (seen != old);
    atomicAdd(sum, 0.5f);
}

// Block 0 stores twice; the others read twice, and with CUDASIM_STALE the first read is late.
extern "C" __global__ void late_words(volatile int *word, int *out) {
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        *word = 1;
        *word = 2;
    } else {
        out[2 * blockIdx.x - 2] = *word;
        out[2 * blockIdx.x - 1] = *word;
    }
}
