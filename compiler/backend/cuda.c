/* CUDA C++: needs no header, so that NVRTC compiles it as it is. */
#include "backend/cuda_family.h"
#include "ir/machine.h"
#include "map/map.h"

static bool divides(const struct target_expr *expr) {
    if (expr->kind != TARGET_EXPR_OPERATION)
        return false;
    if (expr->op == OP_SHR || expr->op == OP_DIV || expr->op == OP_REM)
        return true;
    for (int i = 0; i < 3 && expr->operands[i]; i++)
        if (divides(expr->operands[i]))
            return true;
    return false;
}

/* Is a place divided in a loop that is unrolled? NVIDIA's compiler does not conclude from the launch
   bounds how many threads a block has: it would compute the row and the column of each result of a
   tile in every thread, ahead of all, until registers spill. FCL_THREADS tells it. */
static bool unrolls_division(const struct target_block *block, bool is_unrolled) {
    for (size_t i = 0; i < block->statements.count; i++) {
        const struct target_statement *statement = block->statements.at[i];
        if (is_unrolled && statement->kind == TARGET_DECLARE && statement->value && divides(statement->value))
            return true;
        bool within = is_unrolled || (statement->kind == TARGET_FOR && statement->unroll);
        if (unrolls_division(&statement->body, within) || unrolls_division(&statement->other, within))
            return true;
    }
    return false;
}

/* A compiler that is not told how many threads there are does not conclude it from the launch bounds. In unrolled loops
   it then computes in each thread what follows from constants, such as the rows and columns of a tile's elements. */
void cuda_kernel_head(struct printer *p, const struct target_kernel *kernel) {
    text_printf(p->out, "extern \"C\" __global__ void __launch_bounds__(%d", kernel->block_threads);
    if (kernel->blocks_together > 1)
        text_printf(p->out, ", %d", kernel->blocks_together);
    text_printf(p->out, ") %s(", kernel->name);
    print_parameters(p, kernel, "");
    text_add(p->out, ") {\n");
    if (p->dialect->where == ON_CUDA && unrolls_division(&kernel->body, false)) {
        p->has_threads = true;
        text_printf(p->out, "    FCL_THREADS(%d);\n", kernel->block_threads);
    }
}

void cuda_pieces(struct text *out) {
    text_add(out, "#if !defined FCL_PIECE /* what simulates a GPU may have its own, of 16 bytes, too */\n"
                  "#define FCL_PIECE uint4\n"
                  "#endif\n");
}

void cuda_copies(struct text *out) {
    text_add(out,
             "/* So many elements, by so many threads: by 16 bytes where both sides begin at a multiple of that. */\n"
             "template <int count, int threads, class T>\n"
             "static __device__ __forceinline__ void fcl_copy(T *__restrict__ to, const T *__restrict__ from, "
             "int thread) {\n"
             "    if ((((unsigned long long)to | (unsigned long long)from) & 15) == 0) {\n"
             "        const int turns = count * (int)sizeof(T) / 16 / threads;\n"
             "        FCL_PIECE held[turns];\n"
             "#pragma unroll\n"
             "        for (int turn = 0; turn < turns; ++turn)\n"
             "            held[turn] = ((const FCL_PIECE *)from)[turn * threads + thread];\n"
             "#pragma unroll\n"
             "        for (int turn = 0; turn < turns; ++turn)\n"
             "            ((FCL_PIECE *)to)[turn * threads + thread] = held[turn];\n"
             "    } else {\n"
             "        T held[count / threads];\n"
             "#pragma unroll\n"
             "        for (int turn = 0; turn < count / threads; ++turn)\n"
             "            held[turn] = from[turn * threads + thread];\n"
             "#pragma unroll\n"
             "        for (int turn = 0; turn < count / threads; ++turn)\n"
             "            to[turn * threads + thread] = held[turn];\n"
             "    }\n"
             "}\n");
}

static void file_head(struct text *out, struct file_needs needs) {
    text_add(out, "/* Compile with --fmad=false: multiplications and additions are not to be contracted. */\n"
                  "#if defined __clang__\n"
                  "#pragma clang diagnostic ignored \"-Wpass-failed\" /* a loop that is not unrolled is no fault */\n"
                  "#endif\n");
    if (needs.threads)
        text_add(out, "#if !defined FCL_THREADS /* what simulates a GPU may have its own */\n"
                      "/* A block has no more threads. */\n"
                      "#if defined __clang__ || __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1102\n"
                      "#define FCL_THREADS(count) __builtin_assume(threadIdx.x < (count))\n"
                      "#else\n"
                      "#define FCL_THREADS(count) ((void)0)\n"
                      "#endif\n"
                      "#endif\n");
    if (needs.matches) /* four instructions, where a compiler makes more of the same in C */
        text_add(out, "#if !defined fcl_match /* what simulates a GPU may have its own */\n"
                      "/* The lanes in which these bits are all 0, or not, as they are here. */\n"
                      "static __device__ __forceinline__ unsigned fcl_match(unsigned x, unsigned bits) {\n"
                      "    unsigned lanes;\n"
                      "    asm volatile(\"{ .reg .pred p; and.b32 %0, %1, %2; setp.ne.u32 p, %0, 0; \"\n"
                      "                 \"vote.sync.ballot.b32 %0, p, 0xffffffff; @!p not.b32 %0, %0; }\"\n"
                      "                 : \"=r\"(lanes) : \"r\"(x), \"r\"(bits));\n"
                      "    return lanes;\n"
                      "}\n"
                      "#endif\n");
    if (needs.equalities) /* QUIRK_CLAMPED_EQUALITIES of map/quirks */
        text_add(out, "#if !defined fcl_equal /* what simulates a GPU may have its own */\n"
                      "static __device__ __forceinline__ bool fcl_equal(int x, int y) { /* ptxas gets some comparisons "
                      "of clamped numbers wrong */\n"
                      "    int bits;\n"
                      "    asm(\"xor.b32 %0, %1, %2;\" : \"=r\"(bits) : \"r\"(x), \"r\"(y));\n"
                      "    return bits == 0;\n"
                      "}\n"
                      "#endif\n");
    if (needs.quirks & quirk_bit(QUIRK_CHOSEN_LOADS)) {
        text_add(
            out,
            "#if !defined fcl_apart /* what simulates a GPU may have its own */\n"
            "/* As it is; but NVVM, which does not know that, makes no one load of two whose places are chosen. */\n"
            "#define FCL_APART(type, held, letter)                                                  \\\n"
            "    static __device__ __forceinline__ __attribute__((unused)) type fcl_apart(type x) { \\\n"
            "        held y = (held)x;                                                              \\\n"
            "        asm(\"\" : \"+\" letter(y));                                                     \\\n"
            "        return (type)y;                                                                \\\n"
            "    }\n"
            "FCL_APART(bool, unsigned short, \"h\")\n"
            "FCL_APART(signed char, short, \"h\")\n"
            "FCL_APART(unsigned char, unsigned short, \"h\")\n"
            "FCL_APART(short, short, \"h\")\n"
            "FCL_APART(unsigned short, unsigned short, \"h\")\n"
            "FCL_APART(int, int, \"r\")\n"
            "FCL_APART(unsigned, unsigned, \"r\")\n"
            "FCL_APART(long long, long long, \"l\")\n"
            "FCL_APART(unsigned long long, unsigned long long, \"l\")\n"
            "FCL_APART(float, float, \"f\")\n"
            "FCL_APART(double, double, \"d\")\n"
            "#endif\n");
    }
    if (needs.fast_roots)
        text_add(out, "#if !defined fcl_fast_sqrt /* what simulates a GPU may have its own */\n"
                      "static __device__ __forceinline__ float fcl_fast_sqrt(float x) {\n"
                      "    float y;\n"
                      "    asm(\"sqrt.approx.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));\n"
                      "    return y;\n"
                      "}\n"
                      "#endif\n");
    if (needs.fast_tangents)
        text_add(out, "#if !defined fcl_fast_tanh /* what simulates a GPU may have its own */\n"
                      "static __device__ __forceinline__ float fcl_fast_tanh(float x) {\n"
                      "#if __CUDA_ARCH__ >= 750\n"
                      "    float y;\n"
                      "    asm(\"tanh.approx.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));\n"
                      "    return y;\n"
                      "#else\n"
                      "    return tanhf(x);\n"
                      "#endif\n"
                      "}\n"
                      "#endif\n");
    if (needs.pauses) /* about as long as it takes to ask the second-level cache; not tuned */
        text_add(out,
                 "#if !defined fcl_pause /* what simulates a GPU may have its own */\n"
                 "/* Who waits for another block leaves the memory to it for so many nanoseconds; 0: does not. */\n"
                 "#if !defined FCL_PAUSE\n"
                 "#define FCL_PAUSE 200\n"
                 "#endif\n"
                 "static __device__ __forceinline__ void fcl_pause() {\n"
                 "#if __CUDA_ARCH__ >= 700 && FCL_PAUSE > 0\n"
                 "    asm volatile(\"nanosleep.u32 %0;\" : : \"n\"(FCL_PAUSE));\n"
                 "#endif\n"
                 "}\n"
                 "#endif\n");
    if (needs.words)
        text_add(
            out,
            "#if !defined fcl_see /* what simulates a GPU may have its own */\n"
            "/* Words that other blocks write and read meanwhile: at the scope of the GPU where it knows that. */\n"
            "#if __CUDA_ARCH__ >= 700\n"
            "#define FCL_SEE(to, from, bits, letter) \\\n"
            "    asm volatile(\"ld.relaxed.gpu.global.b\" bits \" %0, [%1];\" : \"=\" letter(to) : \"l\"(from) : "
            "\"memory\")\n"
            "#define FCL_SHOW(to, x, bits, letter) \\\n"
            "    asm volatile(\"st.relaxed.gpu.global.b\" bits \" [%0], %1;\" : : \"l\"(to), letter(x) : \"memory\")\n"
            "#else\n"
            "#define FCL_SEE(to, from, bits, letter) to = *(const volatile decltype(to) *)from\n"
            "#define FCL_SHOW(to, x, bits, letter) *(volatile decltype(x) *)to = x\n"
            "#endif\n"
            "#define FCL_WORD(type, bits, letter)                                           \\\n"
            "    static __device__ __forceinline__ __attribute__((unused)) type             \\\n"
            "    fcl_see(const type *from) {                                                \\\n"
            "        type seen;                                                             \\\n"
            "        FCL_SEE(seen, from, bits, letter);                                     \\\n"
            "        return seen;                                                           \\\n"
            "    }                                                                          \\\n"
            "    static __device__ __forceinline__ __attribute__((unused)) void             \\\n"
            "    fcl_show(type *to, type x) {                                               \\\n"
            "        FCL_SHOW(to, x, bits, letter);                                         \\\n"
            "    }\n"
            "FCL_WORD(int, \"32\", \"r\")\n"
            "FCL_WORD(unsigned, \"32\", \"r\")\n"
            "FCL_WORD(long long, \"64\", \"l\")\n"
            "FCL_WORD(unsigned long long, \"64\", \"l\")\n"
            "#endif\n");
    if (needs.wide_loads)
        text_add(out,
                 "#if !defined fcl_load_four\n"
                 "/* Elements next to each other, by one load where its bytes are aligned; before the next barrier.\n"
                 "   Else by a loop, which is jumped over, and has no predicates. */\n"
                 "#define FCL_LOAD_FOUR(type, letter)                                                     \\\n"
                 "    __device__ __forceinline__ void fcl_load_four(type *to, const type *from) {         \\\n"
                 "        if (((unsigned long long)from & 15) == 0) {                                     \\\n"
                 "            asm volatile(\"ld.volatile.global.v4.b32 {%0, %1, %2, %3}, [%4];\"            \\\n"
                 "                         : \"=\" letter(to[0]), \"=\" letter(to[1]), \"=\" letter(to[2]),     \\\n"
                 "                           \"=\" letter(to[3])                                            \\\n"
                 "                         : \"l\"(from));                                                  \\\n"
                 "        } else {                                                                        \\\n"
                 "            const type *const end = from + 4;                                           \\\n"
                 "            _Pragma(\"unroll 1\")                                                         \\\n"
                 "            do {                                                                        \\\n"
                 "                to[0] = to[2];                                                          \\\n"
                 "                to[1] = to[3];                                                          \\\n"
                 "                to[2] = from[0];                                                        \\\n"
                 "                to[3] = from[1];                                                        \\\n"
                 "            } while ((from += 2) != end);                                               \\\n"
                 "        }                                                                               \\\n"
                 "    }\n"
                 "FCL_LOAD_FOUR(float, \"f\")\n"
                 "FCL_LOAD_FOUR(int, \"r\")\n"
                 "FCL_LOAD_FOUR(unsigned, \"r\")\n"
                 "#endif\n");
    if (needs.copies || needs.ahead)
        cuda_pieces(out);
    if (needs.copies)
        cuda_copies(out);
    if (needs.ahead)
        text_add(
            out,
            "/* A copy to shared memory for which fcl_end_copies waits; without such an instruction the thread\n"
            "   waits at once. */\n"
            "template <class T> static __device__ __forceinline__ void fcl_copy_ahead(T *to, const T *from) {\n"
            "#if __CUDA_ARCH__ >= 800\n"
            "    asm volatile(\"cp.async.ca.shared.global [%0], [%1], %2;\"\n"
            "                 : : \"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(from), "
            "\"n\"((int)sizeof(T)) : \"memory\");\n"
            "#else\n"
            "    *to = *from;\n"
            "#endif\n"
            "}\n"
            "/* Does it begin at a multiple of 16 bytes? */\n"
            "static __device__ __forceinline__ __attribute__((unused)) bool fcl_is_aligned(const void *at) {\n"
            "    return ((unsigned long long)at & 15) == 0;\n"
            "}\n"
            "/* An element's address in shared memory, of which steps say a part. */\n"
            "template <class T> static __device__ __forceinline__ unsigned fcl_shared_at(const T *all, int step, int "
            "place) {\n"
            "    return ((unsigned)__cvta_generic_to_shared(all) + (unsigned)step * sizeof(T)) + (unsigned)place * "
            "sizeof(T);\n"
            "}\n"
            "/* The same for 16 bytes of elements next to each other, which begin at multiples of 16. */\n"
            "template <int count, class T>\n"
            "static __device__ __forceinline__ void fcl_copy_aligned(T *to, int step, int place, const T *from) {\n"
            "#if __CUDA_ARCH__ >= 800\n"
            "    asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\"\n"
            "                 : : \"r\"(fcl_shared_at(to, step, place)), \"l\"(from) : \"memory\");\n"
            "#else\n"
            "    *(FCL_PIECE *)(to + step + place) = *(const FCL_PIECE *)from;\n"
            "#endif\n"
            "}\n"
            "/* The same for elements one by one. */\n"
            "template <int count, class T> static __device__ __forceinline__ void fcl_copy_apart(T *to, const T *from) "
            "{\n"
            "    T held[count]; /* all loads are under way together */\n"
            "#pragma unroll\n"
            "    for (int i = 0; i < count; ++i)\n"
            "        held[i] = from[i];\n"
            "#pragma unroll\n"
            "    for (int i = 0; i < count; ++i)\n"
            "        to[i] = held[i];\n"
            "}\n"
            "/* The same wherever they begin. */\n"
            "template <int count, class T> static __device__ __forceinline__ void fcl_copy_piece(T *to, const T *from) "
            "{\n"
            "    if (fcl_is_aligned(to) && fcl_is_aligned(from))\n"
            "        fcl_copy_aligned<count>(to, 0, 0, from);\n"
            "    else\n"
            "        fcl_copy_apart<count>(to, from);\n"
            "}\n"
            "/* The same number, but the compiler does not know how it was made: it keeps it. */\n"
            "static __device__ __forceinline__ __attribute__((unused)) int fcl_kept(int x) {\n"
            "#if __CUDA_ARCH__ >= 800\n"
            "    asm(\"mov.b32 %0, %1;\" : \"=r\"(x) : \"r\"(x));\n"
            "#endif\n"
            "    return x;\n"
            "}\n"
            "/* 0, but the compiler does not know that. */\n"
            "static __device__ __forceinline__ __attribute__((unused)) unsigned fcl_now() {\n"
            "    unsigned now = 0;\n"
            "#if __CUDA_ARCH__ >= 800\n"
            "    asm volatile(\"mov.u32 %0, 0;\" : \"=r\"(now) : : \"memory\");\n"
            "#endif\n"
            "    return now;\n"
            "}\n"
            "/* Ends a group of copies, and waits until only the last `groups` groups are under way; -1: no wait. */\n"
            "template <int groups> static __device__ __forceinline__ void fcl_end_copies() {\n"
            "#if __CUDA_ARCH__ >= 800\n"
            "    asm volatile(\"cp.async.commit_group;\" : : : \"memory\");\n"
            "    if (groups >= 0)\n"
            "        asm volatile(\"cp.async.wait_group %0;\" : : \"n\"(groups < 0 ? 0 : groups) : \"memory\");\n"
            "#endif\n"
            "}\n");
    if (needs.pairs)
        text_add(out,
                 "#if !defined fcl_load_four /* what simulates a GPU may have its own of both */\n"
                 "/* Elements of 16 bits next to each other, two in a word: by one load, as fcl_load_four. */\n"
                 "template <int count, class T> __device__ __forceinline__ void fcl_load_halves(unsigned *to, const T "
                 "*from) {\n"
                 "    const int words = count / 2, step = words > 1 ? words / 2 : 1;\n"
                 "    if (((unsigned long long)from & (2 * count - 1)) == 0) {\n"
                 "        if (count == 8)\n"
                 "            asm volatile(\"ld.volatile.global.v4.b32 {%0, %1, %2, %3}, [%4];\"\n"
                 "                         : \"=r\"(to[0]), \"=r\"(to[1]), \"=r\"(to[2]), \"=r\"(to[3])\n"
                 "                         : \"l\"(from));\n"
                 "        else if (count == 4)\n"
                 "            asm volatile(\"ld.volatile.global.v2.b32 {%0, %1}, [%2];\"\n"
                 "                         : \"=r\"(to[0]), \"=r\"(to[1])\n"
                 "                         : \"l\"(from));\n"
                 "        else\n"
                 "            asm volatile(\"ld.volatile.global.b32 %0, [%1];\" : \"=r\"(to[0]) : \"l\"(from));\n"
                 "    } else {\n"
                 "        const T *const end = from + count;\n"
                 "        _Pragma(\"unroll 1\")\n"
                 "        do {\n"
                 "            _Pragma(\"unroll\")\n"
                 "            for (int i = 0; i < words; ++i)\n"
                 "                to[i] = i + step < words ? to[i + step]\n"
                 "                                         : (unsigned short)from[2 * (i + step - words)] |\n"
                 "                                               (unsigned)from[2 * (i + step - words) + 1] << 16;\n"
                 "        } while ((from += 2 * step) != end);\n"
                 "    }\n"
                 "}\n"
                 "#endif\n"
                 "/* Elements of 16 bits, two in a register. */\n"
                 "template <class T, int count> struct fcl_pairs {\n"
                 "    unsigned words[(count + 1) / 2];\n"
                 "    struct place {\n"
                 "        unsigned &word;\n"
                 "        int shift;\n"
                 "        __device__ __forceinline__ operator T() const { return (T)(word >> shift); }\n"
                 "        __device__ __forceinline__ void operator=(T x) const {\n"
                 "            word = (word & 0xffff0000u >> shift) | (unsigned)(unsigned short)x << shift;\n"
                 "        }\n"
                 "    };\n"
                 "    __device__ __forceinline__ place operator[](int i) { return place{words[i / 2], i % 2 * 16}; }\n"
                 "};\n");
    if (needs.pair_stores)
        text_add(
            out,
            "/* Two of them next to each other, at a multiple of 4 bytes, by one store. */\n"
            "template <class T, class P, class Q> __device__ __forceinline__ void fcl_store_pair(T *to, P a, Q b) {\n"
            "    const bool is_word = &a.word == &b.word && a.shift < b.shift;\n"
            "    const unsigned chosen = (a.shift ? 0x32u : 0x10u) | (b.shift ? 0x7600u : 0x5400u);\n"
            "    *(unsigned *)to = is_word ? a.word : __byte_perm(a.word, b.word, chosen);\n"
            "}\n");
}

/* A matrix unit's instruction takes two elements in a register. Elsewhere each lane asks others for
   their registers, the rows and columns of its results, and adds the products in order. */
static void print_mma(struct text *out, unsigned bases, unsigned by_rows, unsigned held) {
    static const char *const names[] = {"f16", "bf16"};
    for (unsigned i = 0; i < 2; i++)
        if (bases >> i & 1)
            text_printf(
                out,
                "/* A warp's product of matrices of 16 x 16 and 16 x 8, added to c: a lane's part of it. */\n"
                "static __device__ __forceinline__ void fcl_mma_%s(\n"
                "    float &d0, float &d1, float &d2, float &d3,\n"
                "    unsigned short a0, unsigned short a1, unsigned short a2, unsigned short a3,\n"
                "    unsigned short a4, unsigned short a5, unsigned short a6, unsigned short a7,\n"
                "    unsigned short b0, unsigned short b1, unsigned short b2, unsigned short b3,\n"
                "    float c0, float c1, float c2, float c3) {\n"
                "    const unsigned a[4] = {a0 | (unsigned)a1 << 16, a2 | (unsigned)a3 << 16,\n"
                "                           a4 | (unsigned)a5 << 16, a6 | (unsigned)a7 << 16};\n"
                "    const unsigned b[2] = {b0 | (unsigned)b1 << 16, b2 | (unsigned)b3 << 16};\n"
                "#if __CUDA_ARCH__ >= 800\n"
                "    asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.%s.%s.f32 \"\n"
                "                 \"{%%0, %%1, %%2, %%3}, {%%4, %%5, %%6, %%7}, {%%8, %%9}, "
                "{%%10, %%11, %%12, %%13};\"\n"
                "                 : \"=f\"(d0), \"=f\"(d1), \"=f\"(d2), \"=f\"(d3)\n"
                "                 : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), "
                "\"r\"(b[1]),\n"
                "                   \"f\"(c0), \"f\"(c1), \"f\"(c2), \"f\"(c3));\n"
                "#else\n"
                "    const unsigned lane = threadIdx.x %% 32;\n"
                "    d0 = c0, d1 = c1, d2 = c2, d3 = c3;\n"
                "    #pragma unroll 1\n"
                "    for (unsigned k = 0; k < 8; ++k) { /* columns 2 k and 2 k + 1 of the one, rows of the "
                "other */\n"
                "        const unsigned upper = __shfl_sync(0xffffffffu, k < 4 ? a[0] : a[2], (lane & 28) + k %% 4);\n"
                "        const unsigned lower = __shfl_sync(0xffffffffu, k < 4 ? a[1] : a[3], (lane & 28) + k %% "
                "4);\n"
                "        const unsigned left = __shfl_sync(0xffffffffu, k < 4 ? b[0] : b[1], lane %% 4 * 8 + k %% 4);\n"
                "        const unsigned right = __shfl_sync(0xffffffffu, k < 4 ? b[0] : b[1], lane %% 4 * 8 + 4 + k %% "
                "4);\n"
                "        #pragma unroll\n"
                "        for (int h = 0; h < 32; h += 16) {\n"
                "            const float u = fcl_float_of_%s((unsigned short)(upper >> h));\n"
                "            const float w = fcl_float_of_%s((unsigned short)(lower >> h));\n"
                "            const float x = fcl_float_of_%s((unsigned short)(left >> h));\n"
                "            const float y = fcl_float_of_%s((unsigned short)(right >> h));\n"
                "            d0 = fmaf(u, x, d0), d1 = fmaf(u, y, d1);\n"
                "            d2 = fmaf(w, x, d2), d3 = fmaf(w, y, d3);\n"
                "        }\n"
                "    }\n"
                "#endif\n"
                "}\n\n",
                names[i], names[i], names[i], names[i], names[i], names[i], names[i]);
    if (held)
        text_add(out, "/* Lanes load rows of matrices together: of four, by the places where they begin. */\n"
                      "static __device__ __forceinline__ void fcl_hold_rows(\n"
                      "    unsigned *to, const unsigned short *all, int step, int place) {\n"
                      "#if __CUDA_ARCH__ >= 800\n"
                      "    asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\"\n"
                      "        : \"=r\"(to[0]), \"=r\"(to[1]), \"=r\"(to[2]), \"=r\"(to[3])\n"
                      "        : \"r\"(fcl_shared_at(all, step, place)) : \"memory\");\n"
                      "#endif\n"
                      "}\n"
                      "/* The same of what the columns are wanted of. */\n"
                      "static __device__ __forceinline__ void fcl_hold_columns(\n"
                      "    unsigned *to, const unsigned short *all, int step, int place) {\n"
                      "#if __CUDA_ARCH__ >= 800\n"
                      "    asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\"\n"
                      "        : \"=r\"(to[0]), \"=r\"(to[1]), \"=r\"(to[2]), \"=r\"(to[3])\n"
                      "        : \"r\"(fcl_shared_at(all, step, place)) : \"memory\");\n"
                      "#endif\n"
                      "}\n\n");
    for (unsigned i = 0; i < 4; i++) {
        bool are_held = i >= 2;
        const char *name = names[i % 2];
        if (!((are_held ? held : by_rows) >> i % 2 & 1))
            continue;
        text_add(out,
                 are_held
                     ? "/* The same of rows that are held. */\n"
                     : "/* The same, but lanes load the elements together, by the places of rows. The compiler does "
                       "not\n   know that this reads memory: `now` keeps it behind the barrier. */\n");
        text_printf(out,
                    "static __device__ __forceinline__ void fcl_mma_%s_%s(\n"
                    "    float &d0, float &d1, float &d2, float &d3,\n"
                    "    unsigned short a0, unsigned short a1, unsigned short a2, unsigned short a3,\n"
                    "    unsigned short a4, unsigned short a5, unsigned short a6, unsigned short a7,\n"
                    "    unsigned short b0, unsigned short b1, unsigned short b2, unsigned short b3,\n"
                    "    float c0, float c1, float c2, float c3,\n"
                    "    %s) {\n"
                    "#if __CUDA_ARCH__ >= 800\n",
                    name, are_held ? "held" : "rows",
                    are_held ? "const unsigned *a, const unsigned *b"
                             : "const unsigned short *rows, int step, int place, const unsigned short *others,\n"
                               "    int other_step, int other_place, unsigned now");
        if (!are_held)
            text_add(out, "    unsigned a[4], b[2];\n"
                          "    asm(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\"\n"
                          "        : \"=r\"(a[0]), \"=r\"(a[1]), \"=r\"(a[2]), \"=r\"(a[3])\n"
                          "        : \"r\"(fcl_shared_at(rows, step, place) + now));\n"
                          "    asm(\"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];\"\n"
                          "        : \"=r\"(b[0]), \"=r\"(b[1])\n"
                          "        : \"r\"(fcl_shared_at(others, other_step, other_place) + now));\n");
        text_printf(out,
                    "    fcl_mma_%s(d0, d1, d2, d3, (unsigned short)a[0], (unsigned short)(a[0] >> 16),\n"
                    "               (unsigned short)a[1], (unsigned short)(a[1] >> 16), (unsigned short)a[2],\n"
                    "               (unsigned short)(a[2] >> 16), (unsigned short)a[3], (unsigned short)(a[3] >> 16),\n"
                    "               (unsigned short)b[0], (unsigned short)(b[0] >> 16), (unsigned short)b[1],\n"
                    "               (unsigned short)(b[1] >> 16), c0, c1, c2, c3);\n"
                    "#else\n"
                    "    fcl_mma_%s(d0, d1, d2, d3, a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, c0, c1, c2, c3);\n"
                    "#endif\n"
                    "}\n\n",
                    name, name);
    }
}

const char *cuda_atomic(enum ir_atomic atomic, enum base base) {
    static const char *const names[ATOMIC_COUNT] = {"atomicAdd", "atomicMin", "atomicMax",  "atomicAnd",
                                                    "atomicOr",  "atomicXor", "atomicExch", "atomicCAS"};
    bool is_own = base == BASE_I32 || base == BASE_U32 || base == BASE_U64;
    if (base == BASE_F32 && atomic == ATOMIC_EXCHANGE)
        is_own = true;
    if (base_info[base].is_floating && atomic == ATOMIC_ADD)
        is_own = true;
    if (base == BASE_I64 && (atomic == ATOMIC_MIN || atomic == ATOMIC_MAX))
        is_own = true;
    return is_own ? names[atomic] : NULL;
}

static const struct dialect dialect_cuda = {
    CUDA_FAMILY("32"),
    .atomic = cuda_atomic,
    .where = ON_CUDA,
    .orders_zeros = true,
    .approximate = {CUDA_APPROXIMATE, [OP_SQRT] = "fcl_fast_sqrt", [OP_TANH] = "fcl_fast_tanh"},
    .float_of_f16 = {"", "    float y;\n"
                         "    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(y) : \"h\"(x));\n"
                         "    return y;\n"},
    .f16_of_float = {"", "    unsigned short y;\n"
                         "    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(y) : \"f\"(x));\n"
                         "    return x != x ? 0x7e00 : y;\n"},
    .half_arithmetic = {[BASE_F16] = "__CUDA_ARCH__ >= 530", [BASE_BF16] = "__CUDA_ARCH__ >= 900"},
    .bf16_of_float = {"__CUDA_ARCH__ >= 800", "    unsigned short y;\n"
                                              "    asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(y) : \"f\"(x));\n"
                                              "    return x != x ? 0x7fc0 : y;\n"},
    .infinity = {"__int_as_float(0x7f800000)", "__longlong_as_double(0x7ff0000000000000ll)"},
    .has_rsqrt = true,
    .warp_barrier = "__syncwarp();",
    .shuffle = {[TARGET_EXCHANGE_AT] = "__shfl_sync(0xffffffffu, ",
                [TARGET_EXCHANGE_UP] = "__shfl_up_sync(0xffffffffu, ",
                [TARGET_EXCHANGE_DOWN] = "__shfl_down_sync(0xffffffffu, ",
                [TARGET_EXCHANGE_XOR] = "__shfl_xor_sync(0xffffffffu, ",
                [TARGET_EXCHANGE_MATCH] = "fcl_match("},
    .loads_wide = true,
    .ballot = "__ballot_sync(0xffffffffu, ",
    .alignment = "__align__(%d) ",
    .alignment_is_before = true,
    .file_head = file_head,
    .print_mma = print_mma,
};

/* ---- the target ---- */

static const struct machine machine_cuda = {.device = "cuda",
                                            .shared_most = GPU_SHARED_MOST,
                                            .has_shuffles = true,
                                            .has_mma = true,
                                            .warp_sizes = 32,
                                            .pauses = true,
                                            .copies_ahead = true,
                                            .bucket_threads = GPU_BUCKET_BLOCK,
                                            .warp_threads = GPU_WARP_BLOCK,
                                            .map = {.mapping = TARGET_SIMT,
                                                    .where = ON_CUDA,
                                                    .has_warps = true,
                                                    .has_exact_blocks = true,
                                                    .threads_together = CUDA_THREADS_TOGETHER,
                                                    .threads_together_few = CUDA_THREADS_TOGETHER_FEW,
                                                    .threads_together_large = CUDA_THREADS_TOGETHER_LARGE,
                                                    .registers = CUDA_REGISTERS,
                                                    .static_shared_limit = CUDA_STATIC_SHARED,
                                                    .loads_ahead = true,
                                                    .copies_by_pieces = true,
                                                    .counts_places = true,
                                                    .computes_halves = true,
                                                    .stack_limit = GPU_THREAD_STACK}};

const struct target target_cuda = {.name = "cuda",
                                   .extension = ".cu",
                                   .language = "CUDA",
                                   .runtime = "FCL_BACKEND_CUDA",
                                   .dialect = &dialect_cuda,
                                   .simt = &machine_cuda,
                                   .linked = LINK_IMAGE,
                                   .has_graphs = true};
