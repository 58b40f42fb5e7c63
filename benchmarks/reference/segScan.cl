// Sums of all elements from the beginning of the segment up to each, for CPU devices, in one pass.
// Parameters: flags, which are not 0 where a segment begins, input, output, n, the number of
// elements, and the state and the size of a tile, as of scan.
//
// Launch: as scan's, with what a tile adds up to being what comes after its last beginning: nothing
// before it counts where there is one.
#define PATIENCE 20000

enum { SUM = 1, UP_TO = 2 };

// The sum of what comes after the last beginning, which it looks for from behind. There may be none.
static int total(global const uchar *restrict begins, global const int *restrict in, int first, int end, int *has_begun) {
    int from = end - 1, sum = 0;
    while (from >= first && !begins[from])
        from--;
    *has_begun = from >= first;
    for (int i = max(from, first); i < end; i++)
        sum += in[i];
    return sum;
}

kernel void segScan(global const uchar *restrict begins, global const int *restrict in, global int *restrict out, int n,
                    volatile global int *state, int size) {
    int tile = atomic_inc(state), first = tile * size, end = min(n - first, size) + first, i, has_begun, before = 0;
    volatile global int *of = state + 1 + 3 * tile;
    int sum = total(begins, in, first, end, &has_begun), known = has_begun ? UP_TO : SUM;
    of[known] = sum;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    *of = known;
    int is_done = false;
    for (int t = tile - 1; t >= 0 && !is_done; t--) {
        volatile global int *other = state + 1 + 3 * t;
        for (i = 0; *other == 0 && i < PATIENCE; i++)
            ;
        int known = *other;
        is_done = known == UP_TO;
        before += known ? other[known] : total(begins, in, t * size, t * size + size, &is_done);
    }
    if (!has_begun) {
        of[UP_TO] = before + sum;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        *of = UP_TO;
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
