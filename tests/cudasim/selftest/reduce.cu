// A tree reduction in shared memory, right; and the same with a barrier missing (-DNO_BARRIER).
extern "C" __global__ void __launch_bounds__(256) sum_blocks(const int *__restrict__ in, int *__restrict__ out, int n) {
    __shared__ int part[256];
    int total = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        total += in[i];
    part[threadIdx.x] = total;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
#ifndef NO_BARRIER
        __syncthreads();
#endif
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}
