// Copying for CUDA devices: the ceiling that everything which reads and writes each element once is measured against.
//
// Parameters: input, output, and n, the number of elements. Both arrays are aligned to 16 bytes.
// Launch: at least n / 4 threads, rounded up (tuned: blocks of 256); each moves 16 bytes.
extern "C" __global__ void __launch_bounds__(1024)
    copy(const int *__restrict__ in, int *__restrict__ out, int n) {
    long long v = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n / 4)
        reinterpret_cast<int4 *>(out)[v] = reinterpret_cast<const int4 *>(in)[v];
    else if (v == n / 4)
        for (int i = n / 4 * 4; i < n; i++)
            out[i] = in[i];
}
