// Accesses whose cost is known: see tests/suites/traffic.py.
extern "C" __global__ void strided(const int *in, int *out) {
    __shared__ int columns[32 * 32];
    columns[threadIdx.x * 32] = in[threadIdx.x * 2];
    __syncthreads();
    out[threadIdx.x] = columns[(31 - threadIdx.x) * 32];
}

extern "C" __global__ void wide(const double *in, double *out) {
    __shared__ double same[32];
    same[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[31 - threadIdx.x] = same[threadIdx.x & 1];
}

// Lanes that meet at a place wait for each other: eight at each of four, and two at each of sixteen.
extern "C" __global__ void meeting(const int *in, int *out) {
    atomicAdd(&out[in[threadIdx.x] & 3], 1);
    atomicAdd(&out[in[threadIdx.x] & 15], 1);
}
