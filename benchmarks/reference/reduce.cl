// Sums of an array's parts, for CPU devices. Parameters: input, one result per work-item, and n,
// the number of elements.
//
// Launch: any number of groups of 1 (tuned: 8 per core). Each work-item adds up a contiguous share
// in four vectors, so that the additions of one do not wait for those of the next.
kernel void reduce(global const int *restrict in, global int *restrict out, int n) {
    const int step = 64; // elements per turn
    int turns = n / step, items = (int)get_global_size(0), item = (int)get_global_id(0);
    int share = (turns + items - 1) / items, first = min(item * share, turns), end = min(first + share, turns);
    int16 a = 0, b = 0, c = 0, d = 0;
    for (int t = first; t < end; t++) {
        global const int *at = in + t * step;
        a += vload16(0, at);
        b += vload16(1, at);
        c += vload16(2, at);
        d += vload16(3, at);
    }
    a += b + c + d;
    int8 e = a.lo + a.hi;
    int4 f = e.lo + e.hi;
    int total = f.s0 + f.s1 + f.s2 + f.s3;
    if (item == items - 1)
        for (int i = turns * step; i < n; i++)
            total += in[i];
    out[item] = total;
}
