// Sums of all elements from the beginning of the segment up to each, for CPU devices, in one pass. Parameters: flags, which
// are not 0 where a segment begins, input, output, n, the number of elements, and the state and the size of a tile, as of scan.
//
// Launch: as scan's, with what a tile adds up to being what comes after its last beginning. A tile with a beginning need not
// wait before it says so.
kernel void segScan(global const uchar *restrict begins, global const int *restrict in, global int *restrict out, int n,
                    volatile global int *state, int size) {
    int tile = atomic_inc(state), first = tile * size, end = min(n - first, size) + first, i;
    volatile global int *is_ready = state + 1 + 2 * tile, *up_to = is_ready + 1; // this tile's

    // The last beginning, looked for from behind.
    int from = end - 1;
    while (from >= first && !begins[from])
        from--;
    int has_begun = from >= first, total = 0;
    for (i = max(from, first); i < end; i++)
        total += in[i];

    if (has_begun) {
        *up_to = total;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        *is_ready = 1;
    }
    int before = 0;
    if (tile > 0) {
        while (is_ready[-2] == 0)
            ;
        before = up_to[-2];
    }
    if (!has_begun) {
        *up_to = before + total;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        *is_ready = 1;
    }

    int carry = before;
    for (i = first; i + 16 <= end; i += 16) {
        int16 v = vload16(0, in + i);
        int16 f = convert_int16(vload16(0, begins + i)) != 0; // where a segment has begun since the vector did: all bits
        v += (int16)(0, v.s0, v.s12, v.s3456, v.s789abcde) & ~f;
        f |= (int16)(0, f.s0, f.s12, f.s3456, f.s789abcde);
        v += (int16)(0, 0, v.s01, v.s2345, v.s6789abcd) & ~f;
        f |= (int16)(0, 0, f.s01, f.s2345, f.s6789abcd);
        v += (int16)((int4)0, v.s0123, v.s456789ab) & ~f;
        f |= (int16)((int4)0, f.s0123, f.s456789ab);
        v += (int16)((int8)0, v.s01234567) & ~f;
        f |= (int16)((int8)0, f.s01234567);
        v += (int16)carry & ~f;
        vstore16(v, 0, out + i);
        carry = v.sf;
    }
    for (; i < end; i++)
        out[i] = carry = begins[i] ? in[i] : carry + in[i];
}
