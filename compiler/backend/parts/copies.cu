// Copies of whole tiles by the threads of a block, in CUDA C++ and HIP: note [copies by 16 bytes] in map/copies.c.

//@ PIECES
#if !defined FCL_PIECE /* what simulates a GPU may have its own, of 16 bytes, too */
#define FCL_PIECE uint4
#endif

//@ COPIES: PIECES
/* A place where after so many elements so many are left out. */
template <int row, int left_out> static __device__ __forceinline__ int fcl_padded(int place) {
    return row ? place + (int)((unsigned)place / (row ? row : 1)) * left_out : place;
}
/* So many elements, by so many threads: by 16 bytes where both sides begin at a multiple of that. */
template <int count, int threads, int row = 0, int left_out = 0, int from_row = 0, int from_left_out = 0, class T>
static __device__ __forceinline__ void fcl_copy(T *__restrict__ to, const T *__restrict__ from, int thread) {
    if ((((unsigned long long)to | (unsigned long long)from) & 15) == 0) {
        const int size = 16 / (int)sizeof(T), turns = count / size / threads;
        FCL_PIECE held[turns];
#pragma unroll
        for (int turn = 0; turn < turns; ++turn)
            held[turn] = ((const FCL_PIECE *)from)[fcl_padded<from_row / size, from_left_out / size>(turn * threads + thread)];
#pragma unroll
        for (int turn = 0; turn < turns; ++turn)
            ((FCL_PIECE *)to)[fcl_padded<row / size, left_out / size>(turn * threads + thread)] = held[turn];
    } else {
        T held[count / threads];
#pragma unroll
        for (int turn = 0; turn < count / threads; ++turn)
            held[turn] = from[fcl_padded<from_row, from_left_out>(turn * threads + thread)];
#pragma unroll
        for (int turn = 0; turn < count / threads; ++turn)
            to[fcl_padded<row, left_out>(turn * threads + thread)] = held[turn];
    }
}
