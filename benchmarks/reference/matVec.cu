// A row-major matrix times a vector, for CUDA devices. Parameters: matrix, vector, output, rows,
// columns; all aligned to 16 bytes.
//
// Launch: a block of a multiple of 32 threads for each row (256), which reads by 16 bytes where
// rows are aligned to them. The vector stays in the caches.
extern "C" __global__ void __launch_bounds__(1024)
    matVec(const float *__restrict__ matrix, const float *__restrict__ vector, float *__restrict__ out, int rows,
           int columns) {
    __shared__ float warps[WARP];
    int row = (int)blockIdx.x;
    const float *from = matrix + (long long)row * columns;
    float a = 0, b = 0;
    if (columns % 4 == 0) {
        const float4 *x = reinterpret_cast<const float4 *>(from), *y = reinterpret_cast<const float4 *>(vector);
        for (int v = (int)threadIdx.x; v < columns / 4; v += (int)blockDim.x) {
            float4 p = x[v], q = y[v];
            a = fmaf(p.x, q.x, a);
            b = fmaf(p.y, q.y, b);
            a = fmaf(p.z, q.z, a);
            b = fmaf(p.w, q.w, b);
        }
    } else {
        for (int c = (int)threadIdx.x; c < columns; c += (int)blockDim.x)
            a = fmaf(from[c], vector[c], a);
    }
    float sum = sum_block(a + b, warps);
    if (threadIdx.x == 0)
        out[row] = sum;
}
