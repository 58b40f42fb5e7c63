// Kernels in CUDA C++ call these functions. No header is included, so that NVRTC compiles them as they are.
// backend/parts.h says what `//@` and `//` are.

//@ HEAD
/* Compile with --fmad=false: multiplications and additions are not to be contracted. */
#if defined __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* a loop that is not unrolled is no fault */
#endif

//@ THREADS
#if !defined FCL_THREADS /* what simulates a GPU may have its own */
/* A block has no more threads. */
#if defined __clang__ || __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1102
#define FCL_THREADS(count) __builtin_assume(threadIdx.x < (count))
#else
#define FCL_THREADS(count) ((void)0)
#endif
#endif

//@ MATCHES
// Four instructions, where a compiler makes more of the same in C.
#if !defined fcl_match /* what simulates a GPU may have its own */
/* The lanes in which these bits are all 0, or not, as they are here. */
static __device__ __forceinline__ unsigned fcl_match(unsigned x, unsigned bits) {
    unsigned lanes;
    asm volatile("{ .reg .pred p; and.b32 %0, %1, %2; setp.ne.u32 p, %0, 0; "
                 "vote.sync.ballot.b32 %0, p, 0xffffffff; @!p not.b32 %0, %0; }"
                 : "=r"(lanes) : "r"(x), "r"(bits));
    return lanes;
}
#endif

//@ EQUALITIES
// QUIRK_CLAMPED_EQUALITIES of map/quirks.
#if !defined fcl_equal /* what simulates a GPU may have its own */
static __device__ __forceinline__ bool fcl_equal(int x, int y) { /* ptxas gets some comparisons of clamped numbers wrong */
    int bits;
    asm("xor.b32 %0, %1, %2;" : "=r"(bits) : "r"(x), "r"(y));
    return bits == 0;
}
#endif

//@ APART
// QUIRK_CHOSEN_LOADS of map/quirks.
#if !defined fcl_apart /* what simulates a GPU may have its own */
/* x itself. NVVM does not know that, so it makes no one load of two whose places are chosen. */
#define FCL_APART(type, held, letter)                                                  \
    static __device__ __forceinline__ __attribute__((unused)) type fcl_apart(type x) { \
        held y = (held)x;                                                              \
        asm("" : "+" letter(y));                                                     \
        return (type)y;                                                                \
    }
FCL_APART(bool, unsigned short, "h")
FCL_APART(signed char, short, "h")
FCL_APART(unsigned char, unsigned short, "h")
FCL_APART(short, short, "h")
FCL_APART(unsigned short, unsigned short, "h")
FCL_APART(int, int, "r")
FCL_APART(unsigned, unsigned, "r")
FCL_APART(long long, long long, "l")
FCL_APART(unsigned long long, unsigned long long, "l")
FCL_APART(float, float, "f")
FCL_APART(double, double, "d")
#endif

//@ FAST_ROOTS
#if !defined fcl_fast_sqrt /* what simulates a GPU may have its own */
static __device__ __forceinline__ float fcl_fast_sqrt(float x) {
    float y;
    asm("sqrt.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#endif

//@ FAST_TANGENTS
#if !defined fcl_fast_tanh /* what simulates a GPU may have its own */
static __device__ __forceinline__ float fcl_fast_tanh(float x) {
#if __CUDA_ARCH__ >= 750
    float y;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return tanhf(x);
#endif
}
#endif

//@ PAUSES
// About as long as it takes to ask the second-level cache; not tuned.
#if !defined fcl_pause /* what simulates a GPU may have its own */
/* A thread that waits for another block leaves the memory to it for so many nanoseconds; 0: it does not. */
#if !defined FCL_PAUSE
#define FCL_PAUSE 200
#endif
static __device__ __forceinline__ void fcl_pause() {
#if __CUDA_ARCH__ >= 700 && FCL_PAUSE > 0
    asm volatile("nanosleep.u32 %0;" : : "n"(FCL_PAUSE));
#endif
}
#endif

//@ WORDS
#if !defined fcl_see /* what simulates a GPU may have its own */
/* Words that other blocks write and read meanwhile: at the scope of the GPU where it knows that. */
#if __CUDA_ARCH__ >= 700
#define FCL_SEE(to, from, bits, letter) \
    asm volatile("ld.relaxed.gpu.global.b" bits " %0, [%1];" : "=" letter(to) : "l"(from) : "memory")
#define FCL_SHOW(to, x, bits, letter) \
    asm volatile("st.relaxed.gpu.global.b" bits " [%0], %1;" : : "l"(to), letter(x) : "memory")
#else
#define FCL_SEE(to, from, bits, letter) to = *(const volatile decltype(to) *)from
#define FCL_SHOW(to, x, bits, letter) *(volatile decltype(x) *)to = x
#endif
#define FCL_WORD(type, bits, letter)                                           \
    static __device__ __forceinline__ __attribute__((unused)) type             \
    fcl_see(const type *from) {                                                \
        type seen;                                                             \
        FCL_SEE(seen, from, bits, letter);                                     \
        return seen;                                                           \
    }                                                                          \
    static __device__ __forceinline__ __attribute__((unused)) void             \
    fcl_show(type *to, type x) {                                               \
        FCL_SHOW(to, x, bits, letter);                                         \
    }
FCL_WORD(int, "32", "r")
FCL_WORD(unsigned, "32", "r")
FCL_WORD(long long, "64", "l")
FCL_WORD(unsigned long long, "64", "l")
#endif

//@ WIDE_LOADS
#if !defined fcl_load_four
/* Elements next to each other, by one load where its bytes are aligned; before the next barrier.
   Else by a loop, which is jumped over, and has no predicates. */
#define FCL_LOAD_FOUR(type, letter)                                                     \
    __device__ __forceinline__ void fcl_load_four(type *to, const type *from) {         \
        if (((unsigned long long)from & 15) == 0) {                                     \
            asm volatile("ld.volatile.global.v4.b32 {%0, %1, %2, %3}, [%4];"            \
                         : "=" letter(to[0]), "=" letter(to[1]), "=" letter(to[2]),     \
                           "=" letter(to[3])                                            \
                         : "l"(from));                                                  \
        } else {                                                                        \
            const type *const end = from + 4;                                           \
            _Pragma("unroll 1")                                                         \
            do {                                                                        \
                to[0] = to[2];                                                          \
                to[1] = to[3];                                                          \
                to[2] = from[0];                                                        \
                to[3] = from[1];                                                        \
            } while ((from += 2) != end);                                               \
        }                                                                               \
    }
FCL_LOAD_FOUR(float, "f")
FCL_LOAD_FOUR(int, "r")
FCL_LOAD_FOUR(unsigned, "r")
#endif
