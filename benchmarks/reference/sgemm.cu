// The product of two row-major matrices of n × n, where n is a multiple of 64, for CUDA devices,
// without tensor cores. Parameters: both factors, output, n; all aligned to 16 bytes.
//
// Launch: a block of 128 threads for each tile of 64 × 64 of the output, of which a thread has 8 ×
// 4 in registers. Panels of 16 columns and rows lie in shared memory twice: while one is
// multiplied, the next is on its way through registers.
#define SIDE 64
#define DEPTH 16
#define HIGH 8
#define WIDE 4
#define THREADS (SIDE / HIGH * (SIDE / WIDE))
#define LOADS (SIDE * DEPTH / 4 / THREADS) // vectors of each panel that a thread brings

extern "C" __global__ void __launch_bounds__(THREADS)
    sgemm(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ out, int n) {
    // The first factor's panel by columns; with four rows to spare its vectors are aligned, and few
    // threads meet in one bank.
    __shared__ __align__(16) float left[2][DEPTH][SIDE + 4];
    __shared__ __align__(16) float right[2][DEPTH][SIDE];
    int thread = (int)threadIdx.x, across = n / SIDE;
    int row = (int)blockIdx.x / across * SIDE, column = (int)blockIdx.x % across * SIDE;
    int x = thread % (SIDE / WIDE) * WIDE, y = thread / (SIDE / WIDE) * HIGH;
    float sum[HIGH][WIDE] = {};
    float4 p[LOADS], q[LOADS];

#define FETCH(k)                                                                                                       \
    _Pragma("unroll") for (int j = 0; j < LOADS; j++) {                                                                \
        int v = thread + j * THREADS;                                                                                  \
        p[j] = *reinterpret_cast<const float4 *>(a + (size_t)(row + v / (DEPTH / 4)) * n + (k) + v % (DEPTH / 4) * 4);   \
        q[j] = *reinterpret_cast<const float4 *>(b + (size_t)((k) + v / (SIDE / 4)) * n + column + v % (SIDE / 4) * 4);  \
    }
#define KEEP(which)                                                                                                    \
    _Pragma("unroll") for (int j = 0; j < LOADS; j++) {                                                                \
        int v = thread + j * THREADS, r = v / (DEPTH / 4), d = v % (DEPTH / 4) * 4;                                    \
        left[which][d][r] = p[j].x;                                                                                    \
        left[which][d + 1][r] = p[j].y;                                                                                \
        left[which][d + 2][r] = p[j].z;                                                                                \
        left[which][d + 3][r] = p[j].w;                                                                                \
        *reinterpret_cast<float4 *>(&right[which][v / (SIDE / 4)][v % (SIDE / 4) * 4]) = q[j];                         \
    }

    FETCH(0)
    KEEP(0)
    __syncthreads();
    for (int k = 0, now = 0; k < n; k += DEPTH, now = 1 - now) {
        if (k + DEPTH < n)
            FETCH(k + DEPTH)
#pragma unroll
        for (int d = 0; d < DEPTH; d++) {
            float4 u = *reinterpret_cast<const float4 *>(&left[now][d][y]);
            float4 v = *reinterpret_cast<const float4 *>(&left[now][d][y + 4]);
            float4 w = *reinterpret_cast<const float4 *>(&right[now][d][x]);
            float f[HIGH] = {u.x, u.y, u.z, u.w, v.x, v.y, v.z, v.w}, g[WIDE] = {w.x, w.y, w.z, w.w};
#pragma unroll
            for (int r = 0; r < HIGH; r++)
#pragma unroll
                for (int c = 0; c < WIDE; c++)
                    sum[r][c] = fmaf(f[r], g[c], sum[r][c]);
        }
        if (k + DEPTH < n)
            KEEP(1 - now)
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < HIGH; r++)
        *reinterpret_cast<float4 *>(out + (size_t)(row + y + r) * n + column + x) =
            make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
}
