// Kernels that have more shared memory together than a block can have.

extern "C" __global__ void first(int *out) {
    __shared__ int all[12288];
    for (int i = threadIdx.x; i < 12288; i += blockDim.x)
        all[i] = i;
    __syncthreads();
    out[threadIdx.x] = all[12287 - threadIdx.x];
}

extern "C" __global__ void second(int *out) {
    __shared__ int all[12288];
    for (int i = threadIdx.x; i < 12288; i += blockDim.x)
        all[i] = i;
    __syncthreads();
    out[threadIdx.x] = all[12287 - threadIdx.x];
}

extern "C" __global__ void third(int *out) {
    __shared__ int all[12288];
    for (int i = threadIdx.x; i < 12288; i += blockDim.x)
        all[i] = i;
    __syncthreads();
    out[threadIdx.x] = all[12287 - threadIdx.x];
}

extern "C" __global__ void fourth(int *out) {
    __shared__ int all[12288];
    for (int i = threadIdx.x; i < 12288; i += blockDim.x)
        all[i] = i;
    __syncthreads();
    out[threadIdx.x] = all[12287 - threadIdx.x];
}

extern "C" __global__ void fifth(int *out) {
    __shared__ int all[12288];
    for (int i = threadIdx.x; i < 12288; i += blockDim.x)
        all[i] = i;
    __syncthreads();
    out[threadIdx.x] = all[12287 - threadIdx.x];
}

extern "C" __global__ void first_early(int *out) {
    __shared__ int all[12288];
    all[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = all[threadIdx.x ^ 32];
}

extern "C" __global__ void fifth_early(int *out) {
    __shared__ int all[12288];
    all[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = all[threadIdx.x ^ 32];
}
