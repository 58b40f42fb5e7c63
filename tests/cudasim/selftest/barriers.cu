// Barriers that not all threads of the block reach.

// The upper half returns first.
extern "C" __global__ void leaves_early(int *out) {
    if (threadIdx.x >= blockDim.x / 2)
        return;
    __syncthreads();
    out[threadIdx.x] = 1;
}

// The two halves wait at different places.
extern "C" __global__ void two_places(int *out) {
    if (threadIdx.x < blockDim.x / 2) {
        out[threadIdx.x] = 1;
        __syncthreads();
    } else {
        out[threadIdx.x] = 2;
        __syncthreads();
    }
}

// Half a warp goes elsewhere while the other half shuffles with a full mask.
extern "C" __global__ void half_warp(int *out) {
    int value = threadIdx.x;
    if (threadIdx.x % 32 < 16)
        value = __shfl_down_sync(0xFFFFFFFFu, value, 1);
    out[threadIdx.x] = value;
}

// A thread that does not name itself.
extern "C" __global__ void wrong_mask(int *out) {
    __syncwarp(0x0000FFFFu);
    out[threadIdx.x] = 1;
}

// Right: how many threads hold an odd number, agreed on by all.
extern "C" __global__ void votes(const int *in, int *out) {
    int odd = in[threadIdx.x] & 1;
    int count = __syncthreads_count(odd);
    int any = __syncthreads_or(odd);
    int all = __syncthreads_and(odd);
    out[threadIdx.x] = count * 4 + any * 2 + all;
}
