// The elements above 0, in their order, for CPU devices, in one pass. Parameters: input, output, n, the number of elements,
// and the state and the size of a tile, as of scan; the last tile's sum is the number of elements kept.
//
// Launch: as scan's. Every element is stored, at the place of the next that is kept, so that nothing is to be predicted; the
// loop ends with the last one kept, as the place after it is another group's.
kernel void filter(global const int *restrict in, global int *restrict out, int n, volatile global int *state, int size) {
    int tile = atomic_inc(state), first = tile * size, end = min(n - first, size) + first, i = first;
    volatile global int *is_ready = state + 1 + 2 * tile, *up_to = is_ready + 1; // this tile's

    int16 minus = 0;
    for (; i + 16 <= end; i += 16)
        minus += vload16(0, in + i) > 0;
    int8 a = minus.lo + minus.hi;
    int4 b = a.lo + a.hi;
    int total = -(b.s0 + b.s1 + b.s2 + b.s3);
    for (; i < end; i++)
        total += in[i] > 0;

    int before = 0;
    if (tile > 0) {
        while (is_ready[-2] == 0)
            ;
        before = up_to[-2];
    }
    *up_to = before + total;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    *is_ready = 1;

    while (end > first && in[end - 1] <= 0)
        end--;
    int at = before;
    for (i = first; i < end; i++) {
        int x = in[i];
        out[at] = x;
        at += x > 0;
    }
}
