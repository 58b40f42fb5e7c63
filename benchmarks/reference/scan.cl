// Sums of all elements up to each, for CPU devices, in one pass. Parameters: input, output, n, the number of elements, and the
// state: 1 + 2 ints for each tile, all 0 before the launch; and the size of a tile.
//
// Launch: as many groups of 1 as there are tiles. A group takes the tile whose number it draws, so that those before it
// have begun whatever the order of the groups; adds it up; waits for the sum of all tiles before; and writes its own
// sums, for which it reads the tile again, from the second-level cache.

// Sums up to each of 16 elements: each takes in the one 1, 2, 4, 8 places before it.
static int16 sums(int16 v) {
    v += (int16)(0, v.s0, v.s12, v.s3456, v.s789abcde);
    v += (int16)(0, 0, v.s01, v.s2345, v.s6789abcd);
    v += (int16)((int4)0, v.s0123, v.s456789ab);
    v += (int16)((int8)0, v.s01234567);
    return v;
}

kernel void scan(global const int *restrict in, global int *restrict out, int n, volatile global int *state, int size) {
    int tile = atomic_inc(state), first = tile * size, end = min(n - first, size) + first, i = first;
    volatile global int *is_ready = state + 1 + 2 * tile, *up_to = is_ready + 1; // this tile's

    int16 a = 0, b = 0, c = 0, d = 0;
    for (; i + 64 <= end; i += 64) {
        a += vload16(0, in + i);
        b += vload16(1, in + i);
        c += vload16(2, in + i);
        d += vload16(3, in + i);
    }
    a += b + c + d;
    int8 e = a.lo + a.hi;
    int4 f = e.lo + e.hi;
    int total = f.s0 + f.s1 + f.s2 + f.s3;
    for (; i < end; i++)
        total += in[i];

    int before = 0;
    if (tile > 0) {
        while (is_ready[-2] == 0)
            ;
        before = up_to[-2];
    }
    *up_to = before + total;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    *is_ready = 1;

    int16 carry = before;
    for (i = first; i + 32 <= end; i += 32) {
        int16 v = sums(vload16(0, in + i)), w = sums(vload16(1, in + i));
        w += (int16)v.sf; // does not wait for the carry
        vstore16(v + carry, 0, out + i);
        vstore16(w + carry, 1, out + i);
        carry += (int16)w.sf;
    }
    for (before = carry.s0; i < end; i++)
        out[i] = before += in[i];
}
