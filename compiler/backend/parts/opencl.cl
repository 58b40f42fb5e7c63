// Declarations and functions that kernels in OpenCL C use.
// backend/parts.h says what `//@` and `//` are.

//@ DOUBLES
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

//@ HALVES
#if defined cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif

//@ ATOMICS64
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

//@ HEAD
#pragma OPENCL FP_CONTRACT OFF

//@ QUIRKS
MACROS_OF_QUIRKS

//@ EQUALITIES
// QUIRK_CLAMPED_EQUALITIES of map/quirks.
#if defined __NV_CL_C_VERSION
static inline bool fcl_equal(int x, int y) { /* ptxas gets some comparisons of clamped numbers wrong */
    int bits;
    asm("xor.b32 %0, %1, %2;" : "=r"(bits) : "r"(x), "r"(y));
    return bits == 0;
}
#else
#define fcl_equal(x, y) ((x) == (y))
#endif

//@ OWN_COPIES
/* Does it begin at a multiple of 16 bytes? */
#define fcl_is_aligned(at) (((size_t)(at) & 15) == 0)
/* Elements next to each other, from or to registers, by one load or store of all their bytes. */
#define FCL_LOAD_OWN(type, count, to, from) vstore##count(*(const __global type##count *)(from), 0, to)
#define FCL_STORE_OWN(type, count, to, from) *(__global type##count *)(to) = vload##count(0, from)

//@ WARPS
// Sub-groups of 32, whose threads follow one another: by the functions of Khronos or Intel, or AMD's instructions,
// whose waves may be two of them. An exchanged value comes from a lane of the same sub-group; for any other lane,
// a thread gets its own value. They are warps where the device has them; elsewhere a warp is a single thread: two
// machines of one target, of which the driver takes what the device says, and --sub-groups another. Intel's OpenCL
// for processors has run them, an AMD GPU has not.
#define FCL_LANE (get_local_id(0) % 32)
#if defined __AMDGCN__
#define FCL_SUB_GROUPS
#define FCL_SUB_GROUP_BARRIER() { mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); __builtin_amdgcn_wave_barrier(); }
#define FCL_HALF (__builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)) & 32) /* of the wave: its first lane */
#define FCL_BALLOT(vote) (uint)(__builtin_amdgcn_uicmp((uint)(vote), 0u, 33) >> FCL_HALF)
#define FCL_OVERLOADED static inline __attribute__((overloadable, unused))
FCL_OVERLOADED int FCL_SHUFFLE(int x, uint lane) {
    return __builtin_amdgcn_ds_bpermute((int)(FCL_HALF + lane) * 4, x);
}
FCL_OVERLOADED uint FCL_SHUFFLE(uint x, uint lane) { return as_uint(FCL_SHUFFLE(as_int(x), lane)); }
FCL_OVERLOADED float FCL_SHUFFLE(float x, uint lane) { return as_float(FCL_SHUFFLE(as_int(x), lane)); }
FCL_OVERLOADED long FCL_SHUFFLE(long x, uint lane) {
    const int2 parts = as_int2(x);
    return as_long((int2)(FCL_SHUFFLE(parts.x, lane), FCL_SHUFFLE(parts.y, lane)));
}
FCL_OVERLOADED ulong FCL_SHUFFLE(ulong x, uint lane) { return as_ulong(FCL_SHUFFLE(as_long(x), lane)); }
#if defined cl_khr_fp64
FCL_OVERLOADED double FCL_SHUFFLE(double x, uint lane) { return as_double(FCL_SHUFFLE(as_long(x), lane)); }
#endif
#elif defined cl_intel_required_subgroup_size
#define FCL_SUB_GROUPS __attribute__((intel_reqd_sub_group_size(32)))
#define FCL_SUB_GROUP_BARRIER() sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#if defined cl_khr_subgroup_shuffle
#define FCL_SHUFFLE(x, lane) sub_group_shuffle(x, lane)
#else
#define FCL_SHUFFLE(x, lane) intel_sub_group_shuffle(x, lane)
#endif
#if defined cl_khr_subgroup_ballot
#define FCL_BALLOT(vote) sub_group_ballot(vote).x
#else
#define FCL_BALLOT(vote) sub_group_reduce_add((uint)(vote) << FCL_LANE)
#endif
#else
#error this device has no sub-groups of 32: compile with --sub-groups=no
#endif
#define FCL_MATCH(x, bits) (FCL_BALLOT(((x) & (bits)) != 0) ^ ((x) & (bits) ? 0u : ~0u))
#define FCL_SHUFFLE_UP(x, n) FCL_SHUFFLE(x, FCL_LANE < n ? FCL_LANE : FCL_LANE - n)
#define FCL_SHUFFLE_DOWN(x, n) FCL_SHUFFLE(x, FCL_LANE + n < 32 ? FCL_LANE + n : FCL_LANE)
#define FCL_SHUFFLE_XOR(x, n) FCL_SHUFFLE(x, FCL_LANE ^ n)

//@ SCALAR_LOOPS
#if defined __clang__
#define FCL_SCALAR _Pragma("clang loop vectorize(disable)")
#else
#define FCL_SCALAR
#endif

//@ LOOPS: SCALAR_LOOPS
// clang would keep to half of AVX-512's width.
#if defined __clang__ && defined __AVX512F__
#pragma clang diagnostic ignored "-Wpass-failed" /* a loop that cannot be vectorised is no fault */
#define FCL_WIDE __attribute__((min_vector_width(512)))
#define FCL_SIMD _Pragma("clang loop vectorize_width(16)")
#else
#define FCL_WIDE
#define FCL_SIMD
#endif
#if defined __clang__ /* vload16 is put together there, and products of two of them are so, too */
typedef float16 float16_unaligned __attribute__((aligned(4)));
typedef int16 int16_unaligned __attribute__((aligned(4)));
typedef uint16 uint16_unaligned __attribute__((aligned(4)));
#define FCL_VECTOR(TYPE, at) (*(const TYPE##16_unaligned *)(at))
/* LLVM 15 begins anew with an index where it goes on with shorter vectors than 16. */
#define FCL_EIGHT _Pragma("clang loop vectorize_width(8)")
#if QUIRK_SAFE_LOOPS
#define FCL_SIMD_EIGHT FCL_EIGHT
#else
#define FCL_SIMD_EIGHT _Pragma("clang loop vectorize(assume_safety) vectorize_width(8)")
#endif
#else
#define FCL_VECTOR(TYPE, at) vload16(0, at)
#define FCL_EIGHT
#define FCL_SIMD_EIGHT
#endif
#define FCL_LANES (int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
