// Products of many pairs of row-major matrices of halves, SIDE × SIDE each (16 or 32), with sums of floats, for CUDA
// devices of compute capability 8.0 and more. Parameters: both factors, output, number of products; all aligned to 16
// bytes.
//
// Launch: blocks of 256 threads, a warp for each product. A warp copies both matrices to shared memory at once, by 16
// bytes a lane (cp.async), waits for itself alone, and loads the operands of its matrix units together (ldmatrix). In
// shared memory the eights of a row change places, so that no two lanes meet at a bank.
template <int SIDE> static __device__ __forceinline__ int batched_place(int row, int eight) {
    return row * SIDE + (eight ^ (SIDE == 16 ? row / 4 % 2 : row / 2 % 4)) * 8;
}

template <int SIDE>
static __device__ __forceinline__ void batched_products(const unsigned short *a, const unsigned short *b, float *out,
                                                        int n) {
    __shared__ __align__(16) unsigned short tiles[8][2][SIDE * SIDE];
    int lane = (int)threadIdx.x % 32, product = (int)(blockIdx.x * 8 + threadIdx.x / 32);
    unsigned short *left = tiles[threadIdx.x / 32][0], *right = tiles[threadIdx.x / 32][1];
    if (product >= n)
        return;
    size_t first = (size_t)product * (SIDE * SIDE);
#pragma unroll
    for (int e = 0; e < SIDE * SIDE / 8; e += 32) {
        int row = (e + lane) / (SIDE / 8), eight = (e + lane) % (SIDE / 8);
        int place = batched_place<SIDE>(row, eight);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(left + place)),
                     "l"(a + first + row * SIDE + eight * 8));
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(right + place)),
                     "l"(b + first + row * SIDE + eight * 8));
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncwarp();
    float sums[SIDE / 16][SIDE / 8][4] = {};
#pragma unroll
    for (int k = 0; k < SIDE; k += 16) {
        unsigned y[SIDE / 8][2];
#pragma unroll
        for (int c = 0; c < SIDE; c += 16)
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(y[c / 8][0]), "=r"(y[c / 8][1]), "=r"(y[c / 8 + 1][0]), "=r"(y[c / 8 + 1][1])
                         : "r"((unsigned)__cvta_generic_to_shared(
                             right + batched_place<SIDE>(k + lane % 16, c / 8 + lane / 16)))
                         : "memory");
#pragma unroll
        for (int r = 0; r < SIDE; r += 16) {
            unsigned x[4];
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                         : "r"((unsigned)__cvta_generic_to_shared(
                             left + batched_place<SIDE>(r + lane % 16, k / 8 + lane / 16)))
                         : "memory");
#pragma unroll
            for (int c = 0; c < SIDE / 8; c++) {
                float *s = sums[r / 16][c];
                asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                    "{%0, %1, %2, %3};"
                    : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                    : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[c][0]), "r"(y[c][1]));
            }
        }
    }
    float *to = out + first + lane / 4 * SIDE + lane % 4 * 2;
#pragma unroll
    for (int r = 0; r < SIDE / 8; r++)
#pragma unroll
        for (int c = 0; c < SIDE / 8; c++)
            *reinterpret_cast<float2 *>(to + r * 8 * SIDE + c * 8) =
                make_float2(sums[r / 2][c][r % 2 * 2], sums[r / 2][c][r % 2 * 2 + 1]);
}

extern "C" __global__ void __launch_bounds__(256)
    batched16(const unsigned short *__restrict__ a, const unsigned short *__restrict__ b, float *__restrict__ out, int n) {
    batched_products<16>(a, b, out, n);
}

extern "C" __global__ void __launch_bounds__(256)
    batched32(const unsigned short *__restrict__ a, const unsigned short *__restrict__ b, float *__restrict__ out, int n) {
    batched_products<32>(a, b, out, n);
}
