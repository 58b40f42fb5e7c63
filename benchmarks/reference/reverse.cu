// Reversing an array, for CUDA devices. Parameters: input, output, and n, the number of elements;
// the arrays are aligned to 16 bytes.
//
// Launch: at least n / 4 threads, rounded up (tuned: blocks of 256). Where n is a multiple of 4, a
// thread moves 16 bytes.
extern "C" __global__ void __launch_bounds__(1024)
    reverse(const int *__restrict__ in, int *__restrict__ out, int n) {
    long long v = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (n % 4 == 0) {
        if (v < n / 4) {
            int4 x = reinterpret_cast<const int4 *>(in)[n / 4 - 1 - v];
            reinterpret_cast<int4 *>(out)[v] = make_int4(x.w, x.z, x.y, x.x);
        }
        return;
    }
    long long threads = (long long)gridDim.x * blockDim.x;
    for (long long i = v; i < n; i += threads)
        out[i] = in[n - 1 - i];
}
