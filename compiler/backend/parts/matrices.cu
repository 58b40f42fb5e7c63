// Products by matrix units, in CUDA C++; they stand behind the conversions of floats of 16 bits. HALF is f16 or bf16.

//@ PRODUCTS
// A matrix unit's instruction takes two elements in a register. Elsewhere each lane asks others for their
// registers, the rows and columns of its results, and adds the products in order.
/* A warp's product of matrices of 16 x 16 and 16 x 8, added to c: a lane's part of it. */
static __device__ __forceinline__ void fcl_mma_HALF(
    float &d0, float &d1, float &d2, float &d3,
    unsigned short a0, unsigned short a1, unsigned short a2, unsigned short a3,
    unsigned short a4, unsigned short a5, unsigned short a6, unsigned short a7,
    unsigned short b0, unsigned short b1, unsigned short b2, unsigned short b3,
    float c0, float c1, float c2, float c3) {
    const unsigned a[4] = {a0 | (unsigned)a1 << 16, a2 | (unsigned)a3 << 16,
                           a4 | (unsigned)a5 << 16, a6 | (unsigned)a7 << 16};
    const unsigned b[2] = {b0 | (unsigned)b1 << 16, b2 | (unsigned)b3 << 16};
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.HALF.HALF.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
                 : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]),
                   "f"(c0), "f"(c1), "f"(c2), "f"(c3));
#else
    const unsigned lane = threadIdx.x % 32;
    d0 = c0, d1 = c1, d2 = c2, d3 = c3;
    #pragma unroll 1
    for (unsigned k = 0; k < 8; ++k) { /* columns 2 k and 2 k + 1 of the one, rows of the other */
        const unsigned upper = __shfl_sync(0xffffffffu, k < 4 ? a[0] : a[2], (lane & 28) + k % 4);
        const unsigned lower = __shfl_sync(0xffffffffu, k < 4 ? a[1] : a[3], (lane & 28) + k % 4);
        const unsigned left = __shfl_sync(0xffffffffu, k < 4 ? b[0] : b[1], lane % 4 * 8 + k % 4);
        const unsigned right = __shfl_sync(0xffffffffu, k < 4 ? b[0] : b[1], lane % 4 * 8 + 4 + k % 4);
        #pragma unroll
        for (int h = 0; h < 32; h += 16) {
            const float u = fcl_float_of_HALF((unsigned short)(upper >> h));
            const float w = fcl_float_of_HALF((unsigned short)(lower >> h));
            const float x = fcl_float_of_HALF((unsigned short)(left >> h));
            const float y = fcl_float_of_HALF((unsigned short)(right >> h));
            d0 = fmaf(u, x, d0), d1 = fmaf(u, y, d1);
            d2 = fmaf(w, x, d2), d3 = fmaf(w, y, d3);
        }
    }
#endif
}

//@ HELD_ROWS
/* Lanes load rows of matrices together: of four, by the places where they begin. */
static __device__ __forceinline__ void fcl_hold_rows(
    unsigned *to, const unsigned short *all, int step, int place) {
#if __CUDA_ARCH__ >= 800
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
        : "r"(fcl_shared_at(all, step, place)) : "memory");
#endif
}
/* The same of what the columns are wanted of. */
static __device__ __forceinline__ void fcl_hold_columns(
    unsigned *to, const unsigned short *all, int step, int place) {
#if __CUDA_ARCH__ >= 800
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
        : "r"(fcl_shared_at(all, step, place)) : "memory");
#endif
}

//@ PRODUCTS_OF_ROWS
/* The same, but lanes load the elements together, by the places of rows. The compiler does not
   know that this reads memory: `now` keeps it behind the barrier. */
static __device__ __forceinline__ void fcl_mma_HALF_rows(
    float &d0, float &d1, float &d2, float &d3,
    unsigned short a0, unsigned short a1, unsigned short a2, unsigned short a3,
    unsigned short a4, unsigned short a5, unsigned short a6, unsigned short a7,
    unsigned short b0, unsigned short b1, unsigned short b2, unsigned short b3,
    float c0, float c1, float c2, float c3,
    const unsigned short *rows, int step, int place, const unsigned short *others,
    int other_step, int other_place, unsigned now) {
#if __CUDA_ARCH__ >= 800
    unsigned a[4], b[2];
    asm("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
        : "r"(fcl_shared_at(rows, step, place) + now));
    asm("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
        : "=r"(b[0]), "=r"(b[1])
        : "r"(fcl_shared_at(others, other_step, other_place) + now));
    fcl_mma_HALF(d0, d1, d2, d3, (unsigned short)a[0], (unsigned short)(a[0] >> 16),
               (unsigned short)a[1], (unsigned short)(a[1] >> 16), (unsigned short)a[2],
               (unsigned short)(a[2] >> 16), (unsigned short)a[3], (unsigned short)(a[3] >> 16),
               (unsigned short)b[0], (unsigned short)(b[0] >> 16), (unsigned short)b[1],
               (unsigned short)(b[1] >> 16), c0, c1, c2, c3);
#else
    fcl_mma_HALF(d0, d1, d2, d3, a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, c0, c1, c2, c3);
#endif
}

//@ PRODUCTS_OF_SECOND
/* The same of the second matrix alone, by its rows or by its columns. */
template <bool by_columns> static __device__ __forceinline__ void fcl_mma_HALF_second(
    float &d0, float &d1, float &d2, float &d3,
    unsigned short a0, unsigned short a1, unsigned short a2, unsigned short a3,
    unsigned short a4, unsigned short a5, unsigned short a6, unsigned short a7,
    unsigned short b0, unsigned short b1, unsigned short b2, unsigned short b3,
    float c0, float c1, float c2, float c3,
    const unsigned short *others, int step, int place, unsigned now) {
#if __CUDA_ARCH__ >= 800
    unsigned b[2];
    if (by_columns)
        asm("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
            : "=r"(b[0]), "=r"(b[1])
            : "r"(fcl_shared_at(others, step, place) + now));
    else
        asm("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
            : "=r"(b[0]), "=r"(b[1])
            : "r"(fcl_shared_at(others, step, place) + now));
    fcl_mma_HALF(d0, d1, d2, d3, a0, a1, a2, a3, a4, a5, a6, a7, (unsigned short)b[0],
               (unsigned short)(b[0] >> 16), (unsigned short)b[1], (unsigned short)(b[1] >> 16), c0, c1, c2, c3);
#else
    fcl_mma_HALF(d0, d1, d2, d3, a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, c0, c1, c2, c3);
#endif
}

//@ PRODUCTS_OF_HELD
/* The same of rows that are held. */
static __device__ __forceinline__ void fcl_mma_HALF_held(
    float &d0, float &d1, float &d2, float &d3,
    unsigned short a0, unsigned short a1, unsigned short a2, unsigned short a3,
    unsigned short a4, unsigned short a5, unsigned short a6, unsigned short a7,
    unsigned short b0, unsigned short b1, unsigned short b2, unsigned short b3,
    float c0, float c1, float c2, float c3,
    const unsigned *a, const unsigned *b) {
#if __CUDA_ARCH__ >= 800
    fcl_mma_HALF(d0, d1, d2, d3, (unsigned short)a[0], (unsigned short)(a[0] >> 16),
               (unsigned short)a[1], (unsigned short)(a[1] >> 16), (unsigned short)a[2],
               (unsigned short)(a[2] >> 16), (unsigned short)a[3], (unsigned short)(a[3] >> 16),
               (unsigned short)b[0], (unsigned short)(b[0] >> 16), (unsigned short)b[1],
               (unsigned short)(b[1] >> 16), c0, c1, c2, c3);
#else
    fcl_mma_HALF(d0, d1, d2, d3, a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, c0, c1, c2, c3);
#endif
}
