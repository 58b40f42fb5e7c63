// Copying for CPU devices: the ceiling that everything which reads and writes each element once is
// measured against.
//
// Parameters of every kernel here: input, output, and n, the number of elements. PoCL turns the
// work-items of a group into one vectorised loop, so that one element per item is enough; the size
// of the group hardly matters from 256 on.

// Launch: at least n work-items, in groups of 64 or more (tuned: 1024).
kernel void copy(global const int *restrict in, global int *restrict out, int n) {
    size_t i = get_global_id(0);
    if (i < (size_t)n)
        out[i] = in[i];
}

// The same with stores that bypass the caches, for arrays far larger than them: memory need not be read before it is
// overwritten. This is Clang's extension to OpenCL C 1.2, and no rival of the kernel above but what the memory can do.
// Launch: any number of groups of 1 (tuned: 128). The output must be aligned to 64 bytes.
#if defined __has_builtin
#if __has_builtin(__builtin_nontemporal_store)
kernel void copyStreaming(global const int *restrict in, global int *restrict out, int n) {
    int vectors = n / 16, items = (int)get_global_size(0), item = (int)get_global_id(0);
    int share = (vectors + items - 1) / items, first = min(item * share, vectors), end = min(first + share, vectors);
    for (int v = first; v < end; v++)
        __builtin_nontemporal_store(vload16(v, in), (global int16 *)out + v);
    if (item == 0)
        for (int i = vectors * 16; i < n; i++)
            out[i] = in[i];
}
#endif
#endif
