// Sums of all elements up to each, for CPU devices, in one pass. Parameters: input, output, n, the
// number of elements, and the state: 1 + 3 ints for each tile, all 0 before the launch; and the
// size of a tile.
//
// Launch: as many groups of 1 as there are tiles. A group takes the tile whose number it draws, so
// that those before it have begun whatever the order of the groups; adds it up; adds what the tiles
// before have added up, back to one that knows the sum of all before it; and writes its own sums,
// for which it reads the tile again, from the second-level cache. A tile whose thread has lost its
// processor is not waited for long but added up once more, as otherwise threads that wait for each
// other in turns would keep the processors of a busy machine.
#define PATIENCE 20000 // looks at a tile's state: about as long as adding it up takes

enum { SUM = 1, UP_TO = 2 }; // what of a tile is known, as its first int says: its sum, or also the sum up to its end

static int total(global const int *restrict in, int i, int end) {
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
    int sum = f.s0 + f.s1 + f.s2 + f.s3;
    for (; i < end; i++)
        sum += in[i];
    return sum;
}

// Sums up to each of 16 elements: each takes in the one 1, 2, 4, 8 places before it.
static int16 sums(int16 v) {
    v += (int16)(0, v.s0, v.s12, v.s3456, v.s789abcde);
    v += (int16)(0, 0, v.s01, v.s2345, v.s6789abcd);
    v += (int16)((int4)0, v.s0123, v.s456789ab);
    v += (int16)((int8)0, v.s01234567);
    return v;
}

kernel void scan(global const int *restrict in, global int *restrict out, int n, volatile global int *state, int size) {
    int tile = atomic_inc(state), first = tile * size, end = min(n - first, size) + first;
    volatile global int *of = state + 1 + 3 * tile;
    int sum = of[SUM] = total(in, first, end), before = 0;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    *of = SUM;
    for (int t = tile - 1; t >= 0; t--) {
        volatile global int *other = state + 1 + 3 * t;
        for (int i = 0; *other == 0 && i < PATIENCE; i++)
            ;
        int known = *other;
        before += known ? other[known] : total(in, t * size, t * size + size);
        if (known == UP_TO)
            break;
    }
    of[UP_TO] = before + sum;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    *of = UP_TO;

    int16 carry = before;
    int i = first;
    for (; i + 32 <= end; i += 32) {
        int16 v = sums(vload16(0, in + i)), w = sums(vload16(1, in + i));
        w += (int16)v.sf; // does not wait for the carry
        vstore16(v + carry, 0, out + i);
        vstore16(w + carry, 1, out + i);
        carry += (int16)w.sf;
    }
    for (before = carry.s0; i < end; i++)
        out[i] = before += in[i];
}
