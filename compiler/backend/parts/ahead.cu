// Copies to shared memory that nothing waits for yet: note [copies ahead] in ir/ir.h.

//@ AHEAD: PIECES ALIGNED
/* A copy to shared memory for which fcl_end_copies waits; without such an instruction the thread
   waits at once. */
template <class T> static __device__ __forceinline__ void fcl_copy_ahead(T *to, const T *from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
                 : : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from), "n"((int)sizeof(T)) : "memory");
#else
    *to = *from;
#endif
}
/* An element's address in shared memory, of which steps say a part. */
template <class T> static __device__ __forceinline__ unsigned fcl_shared_at(const T *all, int step, int place) {
    return ((unsigned)__cvta_generic_to_shared(all) + (unsigned)step * sizeof(T)) + (unsigned)place * sizeof(T);
}
/* The same for 16 bytes of elements next to each other, which begin at multiples of 16. */
template <int count, class T>
static __device__ __forceinline__ void fcl_copy_aligned(T *to, int step, int place, const T *from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 : : "r"(fcl_shared_at(to, step, place)), "l"(from) : "memory");
#else
    *(FCL_PIECE *)(to + step + place) = *(const FCL_PIECE *)from;
#endif
}
/* The same for elements one by one. */
template <int count, class T> static __device__ __forceinline__ void fcl_copy_apart(T *to, const T *from) {
    T held[count]; /* all loads are under way together */
#pragma unroll
    for (int i = 0; i < count; ++i)
        held[i] = from[i];
#pragma unroll
    for (int i = 0; i < count; ++i)
        to[i] = held[i];
}
/* The same wherever they begin. */
template <int count, class T> static __device__ __forceinline__ void fcl_copy_piece(T *to, const T *from) {
    if (fcl_is_aligned(to) && fcl_is_aligned(from))
        fcl_copy_aligned<count>(to, 0, 0, from);
    else
        fcl_copy_apart<count>(to, from);
}
/* The same number, but the compiler does not know how it was made: it keeps it. */
static __device__ __forceinline__ __attribute__((unused)) int fcl_kept(int x) {
#if __CUDA_ARCH__ >= 800
    asm("mov.b32 %0, %1;" : "=r"(x) : "r"(x));
#endif
    return x;
}
/* 0, but the compiler does not know that. */
static __device__ __forceinline__ __attribute__((unused)) unsigned fcl_now() {
    unsigned now = 0;
#if __CUDA_ARCH__ >= 800
    asm volatile("mov.u32 %0, 0;" : "=r"(now) : : "memory");
#endif
    return now;
}
/* Ends a group of copies, and waits until only the last `groups` groups are under way; -1: no wait. */
template <int groups> static __device__ __forceinline__ void fcl_end_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" : : : "memory");
    if (groups >= 0)
        asm volatile("cp.async.wait_group %0;" : : "n"(groups < 0 ? 0 : groups) : "memory");
#endif
}
