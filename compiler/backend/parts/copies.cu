// Copies of whole tiles by the threads of a block, in CUDA C++ and HIP: note [copies by 16 bytes] in map/copies.c.

//@ PIECES
#if !defined FCL_PIECE /* what simulates a GPU may have its own, of 16 bytes, too */
#define FCL_PIECE uint4
#endif

//@ COPIES: PIECES
/* So many elements, by so many threads: by 16 bytes where both sides begin at a multiple of that. */
template <int count, int threads, class T>
static __device__ __forceinline__ void fcl_copy(T *__restrict__ to, const T *__restrict__ from, int thread) {
    if ((((unsigned long long)to | (unsigned long long)from) & 15) == 0) {
        const int turns = count * (int)sizeof(T) / 16 / threads;
        FCL_PIECE held[turns];
#pragma unroll
        for (int turn = 0; turn < turns; ++turn)
            held[turn] = ((const FCL_PIECE *)from)[turn * threads + thread];
#pragma unroll
        for (int turn = 0; turn < turns; ++turn)
            ((FCL_PIECE *)to)[turn * threads + thread] = held[turn];
    } else {
        T held[count / threads];
#pragma unroll
        for (int turn = 0; turn < count / threads; ++turn)
            held[turn] = from[turn * threads + thread];
#pragma unroll
        for (int turn = 0; turn < count / threads; ++turn)
            to[turn * threads + thread] = held[turn];
    }
}
