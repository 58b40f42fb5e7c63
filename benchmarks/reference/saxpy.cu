// a·x + y, for CUDA devices. Parameters: both inputs, output, a, and n, the number of elements. The
// arrays are aligned to 16 bytes.
//
// Launch: at least n / 4 threads, rounded up (tuned: blocks of 256), as copy.
extern "C" __global__ void __launch_bounds__(1024)
    saxpy(const float *__restrict__ x, const float *__restrict__ y, float *__restrict__ out, float a, int n) {
    long long v = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n / 4) {
        float4 p = reinterpret_cast<const float4 *>(x)[v], q = reinterpret_cast<const float4 *>(y)[v];
        reinterpret_cast<float4 *>(out)[v] =
            make_float4(fmaf(a, p.x, q.x), fmaf(a, p.y, q.y), fmaf(a, p.z, q.z), fmaf(a, p.w, q.w));
    } else if (v == n / 4) {
        for (int i = n / 4 * 4; i < n; i++)
            out[i] = fmaf(a, x[i], y[i]);
    }
}
