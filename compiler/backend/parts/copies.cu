// Copies of whole tiles by the threads of a block, and of what is a thread's own, in CUDA C++ and HIP:
// notes [copies by 16 bytes] and [narrow elements] in map/copies.c.

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

//@ ALIGNED
/* Does it begin at a multiple of 16 bytes? */
static __device__ __forceinline__ __attribute__((unused)) bool fcl_is_aligned(const void *at) {
    return ((unsigned long long)at & 15) == 0;
}

//@ OWN_COPIES: ALIGNED
/* Elements next to each other, from or to registers, by one load or store of all their bytes. */
template <int bytes> struct fcl_wide;
#if defined __CUDACC_RTC__ || defined __NVCC__
template <> struct fcl_wide<16> { typedef uint4 type; };
template <> struct fcl_wide<8> { typedef uint2 type; };
template <> struct fcl_wide<4> { typedef unsigned type; };
template <> struct fcl_wide<2> { typedef unsigned short type; };
#else
template <> struct fcl_wide<16> { typedef unsigned type __attribute__((vector_size(16), may_alias)); };
template <> struct fcl_wide<8> { typedef unsigned type __attribute__((vector_size(8), may_alias)); };
template <> struct fcl_wide<4> { typedef unsigned type __attribute__((may_alias)); };
template <> struct fcl_wide<2> { typedef unsigned short type __attribute__((may_alias)); };
#endif
template <int count, class T>
static __device__ __forceinline__ void fcl_copy_own(T *__restrict__ to, const T *__restrict__ from) {
    typedef typename fcl_wide<count * (int)sizeof(T)>::type wide;
    *(wide *)to = *(const wide *)from;
}
