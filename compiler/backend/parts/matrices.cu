// Products by matrix units, in CUDA C++; they stand behind the conversions of floats of 16 bits. ELEMENT is the type of
// what is multiplied, PACK of them are in a word, and SUM is the type of what is added; backend/cuda.c has the words.

//@ ROUNDED_FLOATS
#if __CUDA_ARCH__ >= 800
/* A float of 11 significant bits, the nearest, as a matrix unit multiplies it. */
static __device__ __forceinline__ unsigned fcl_tf32(unsigned x) {
    unsigned y;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(y) : "f"(__uint_as_float(x)));
    return y;
}
#endif

//@ PRODUCTS
// A matrix unit's instruction takes words of elements. Elsewhere each lane asks others for their words, the rows and
// columns of its results, and adds the products in order.
/* A word of elements next to each other. */
static __device__ __forceinline__ unsigned fcl_word_ELEMENT(PARAMETERS) { return WORD; }
#if __CUDA_ARCH__ < 800
/* An element of a word, and a sum with a product. */
static __device__ __forceinline__ SUM fcl_part_ELEMENT(unsigned word, int i) { return PART; }
static __device__ __forceinline__ SUM fcl_join_ELEMENT(SUM x, SUM y, SUM sum) { return JOINED; }
#endif
/* A warp's product of two matrices, added to c: a lane's part of it. */
static __device__ __forceinline__ void fcl_mma_ELEMENT(
    SUM &d0, SUM &d1, SUM &d2, SUM &d3, unsigned a0, unsigned a1, unsigned a2, unsigned a3,
    unsigned b0, unsigned b1, SUM c0, SUM c1, SUM c2, SUM c3) {
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.SHAPE "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
                 : "=KIND"(d0), "=KIND"(d1), "=KIND"(d2), "=KIND"(d3)
                 : "r"(TAKEN(a0)), "r"(TAKEN(a1)), "r"(TAKEN(a2)), "r"(TAKEN(a3)), "r"(TAKEN(b0)), "r"(TAKEN(b1)),
                   "KIND"(c0), "KIND"(c1), "KIND"(c2), "KIND"(c3));
#else
    const unsigned lane = threadIdx.x % 32;
    d0 = c0, d1 = c1, d2 = c2, d3 = c3;
    #pragma unroll 1
    for (unsigned k = 0; k < 8; ++k) { /* a word of columns of the one, and of rows of the other */
        const unsigned upper = __shfl_sync(0xffffffffu, k < 4 ? a0 : a2, (lane & 28) + k % 4);
        const unsigned lower = __shfl_sync(0xffffffffu, k < 4 ? a1 : a3, (lane & 28) + k % 4);
        const unsigned left = __shfl_sync(0xffffffffu, k < 4 ? b0 : b1, lane % 4 * 8 + k % 4);
        const unsigned right = __shfl_sync(0xffffffffu, k < 4 ? b0 : b1, lane % 4 * 8 + 4 + k % 4);
        #pragma unroll
        for (int i = 0; i < PACK; ++i) {
            const SUM u = fcl_part_ELEMENT(upper, i), w = fcl_part_ELEMENT(lower, i);
            const SUM x = fcl_part_ELEMENT(left, i), y = fcl_part_ELEMENT(right, i);
            d0 = fcl_join_ELEMENT(u, x, d0), d1 = fcl_join_ELEMENT(u, y, d1);
            d2 = fcl_join_ELEMENT(w, x, d2), d3 = fcl_join_ELEMENT(w, y, d3);
        }
    }
#endif
}

//@ HELD_ROWS
/* Lanes load rows of matrices together: of four, by the places where they begin. */
template <class T> static __device__ __forceinline__ void fcl_hold_rows(
    unsigned *to, const T *all, int step, int place) {
#if __CUDA_ARCH__ >= 800
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
        : "r"(fcl_shared_at(all, step, place)) : "memory");
#endif
}
/* The same of what the columns are wanted of. */
template <class T> static __device__ __forceinline__ void fcl_hold_columns(
    unsigned *to, const T *all, int step, int place) {
#if __CUDA_ARCH__ >= 800
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
        : "r"(fcl_shared_at(all, step, place)) : "memory");
#endif
}

//@ PRODUCTS_OF_SECOND
/* The same, but lanes load the elements of the second matrix together, by the places of its rows or of its columns. The
   compiler does not know that this reads memory: `now` keeps it behind the barrier. */
template <bool by_columns, class T> static __device__ __forceinline__ void fcl_mma_ELEMENT_second(
    SUM &d0, SUM &d1, SUM &d2, SUM &d3, unsigned a0, unsigned a1, unsigned a2, unsigned a3,
    unsigned b0, unsigned b1, SUM c0, SUM c1, SUM c2, SUM c3,
    const T *others, int step, int place, unsigned now) {
#if __CUDA_ARCH__ >= 800
    if (by_columns)
        asm("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
            : "=r"(b0), "=r"(b1)
            : "r"(fcl_shared_at(others, step, place) + now));
    else
        asm("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
            : "=r"(b0), "=r"(b1)
            : "r"(fcl_shared_at(others, step, place) + now));
#endif
    fcl_mma_ELEMENT(d0, d1, d2, d3, a0, a1, a2, a3, b0, b1, c0, c1, c2, c3);
}

//@ PRODUCTS_OF_ROWS: PRODUCTS_OF_SECOND
/* The same of the rows of the first matrix, too. */
template <bool by_columns, class T> static __device__ __forceinline__ void fcl_mma_ELEMENT_rows(
    SUM &d0, SUM &d1, SUM &d2, SUM &d3, unsigned a0, unsigned a1, unsigned a2, unsigned a3,
    unsigned b0, unsigned b1, SUM c0, SUM c1, SUM c2, SUM c3,
    const T *rows, int step, int place, const T *others, int other_step, int other_place, unsigned now) {
#if __CUDA_ARCH__ >= 800
    asm("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(a0), "=r"(a1), "=r"(a2), "=r"(a3)
        : "r"(fcl_shared_at(rows, step, place) + now));
#endif
    fcl_mma_ELEMENT_second<by_columns>(d0, d1, d2, d3, a0, a1, a2, a3, b0, b1, c0, c1, c2, c3,
                                       others, other_step, other_place, now);
}

//@ PRODUCTS_OF_HELD
/* The same of rows that are held. */
static __device__ __forceinline__ void fcl_mma_ELEMENT_held(
    SUM &d0, SUM &d1, SUM &d2, SUM &d3, unsigned a0, unsigned a1, unsigned a2, unsigned a3,
    unsigned b0, unsigned b1, SUM c0, SUM c1, SUM c2, SUM c3,
    const unsigned *a, const unsigned *b) {
#if __CUDA_ARCH__ >= 800
    a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3], b0 = b[0], b1 = b[1];
#endif
    fcl_mma_ELEMENT(d0, d1, d2, d3, a0, a1, a2, a3, b0, b1, c0, c1, c2, c3);
}
