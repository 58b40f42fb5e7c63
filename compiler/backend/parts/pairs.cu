// Arrays in registers of elements of 16 bits: notes [loads by vectors] and [stores of pairs].

//@ PAIRS
#if !defined fcl_load_four /* what simulates a GPU may have its own of both */
/* Elements of 16 bits next to each other, two in a word: by one load, as fcl_load_four. */
template <int count, class T> __device__ __forceinline__ void fcl_load_halves(unsigned *to, const T *from) {
    const int words = count / 2, step = words > 1 ? words / 2 : 1;
    if (((unsigned long long)from & (2 * count - 1)) == 0) {
        if (count == 8)
            asm volatile("ld.volatile.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                         : "l"(from));
        else if (count == 4)
            asm volatile("ld.volatile.global.v2.b32 {%0, %1}, [%2];"
                         : "=r"(to[0]), "=r"(to[1])
                         : "l"(from));
        else
            asm volatile("ld.volatile.global.b32 %0, [%1];" : "=r"(to[0]) : "l"(from));
    } else {
        const T *const end = from + count;
        _Pragma("unroll 1")
        do {
            _Pragma("unroll")
            for (int i = 0; i < words; ++i)
                to[i] = i + step < words ? to[i + step]
                                         : (unsigned short)from[2 * (i + step - words)] |
                                               (unsigned)from[2 * (i + step - words) + 1] << 16;
        } while ((from += 2 * step) != end);
    }
}
#endif
/* Elements of 16 bits, two in a register. */
template <class T, int count> struct fcl_pairs {
    unsigned words[(count + 1) / 2];
    struct place {
        unsigned &word;
        int shift;
        __device__ __forceinline__ operator T() const { return (T)(word >> shift); }
        __device__ __forceinline__ void operator=(T x) const {
            word = (word & 0xffff0000u >> shift) | (unsigned)(unsigned short)x << shift;
        }
    };
    __device__ __forceinline__ place operator[](int i) { return place{words[i / 2], i % 2 * 16}; }
};

//@ PAIR_STORES
/* Two of them next to each other, at a multiple of 4 bytes, by one store. */
template <class T, class P, class Q> __device__ __forceinline__ void fcl_store_pair(T *to, P a, Q b) {
    const bool is_word = &a.word == &b.word && a.shift < b.shift;
    const unsigned chosen = (a.shift ? 0x32u : 0x10u) | (b.shift ? 0x7600u : 0x5400u);
    *(unsigned *)to = is_word ? a.word : __byte_perm(a.word, b.word, chosen);
}
