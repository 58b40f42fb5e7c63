// The elements above 0, in their order, for CPU devices. Parameters: input, output, n, the number
// of elements, and counts, one for each group.
//
// Launch: `filter` and then `filterPlace`, with the same number of groups of 1 (tuned: 8 per core),
// each of which has a contiguous share. The other way, one pass by tiles that wait for those before
// them, was no faster, as placing elements takes longer than reading them twice.
static int share_of(int n) {
    int items = (int)get_global_size(0);
    return (n + items - 1) / items;
}

kernel void filter(global const int *restrict in, global int *restrict counts, int n) {
    int share = share_of(n), item = (int)get_global_id(0), i = min(item * share, n), end = min(i + share, n);
    int16 a = 0, b = 0;
    for (; i + 32 <= end; i += 32) {
        a += vload16(0, in + i) > 0;
        b += vload16(1, in + i) > 0;
    }
    a += b;
    int8 c = a.lo + a.hi;
    int4 d = c.lo + c.hi;
    int total = -(d.s0 + d.s1 + d.s2 + d.s3);
    for (; i < end; i++)
        total += in[i] > 0;
    counts[item] = total;
}

// Every element is stored, at the place of the next that is kept, so that nothing is to be
// predicted; the loop ends with the last one kept, as the place after it is another group's.
kernel void filterPlace(global const int *restrict in, global int *restrict out, int n, global const int *restrict counts) {
    int share = share_of(n), item = (int)get_global_id(0), i = min(item * share, n), end = min(i + share, n);
    int at = 0;
    for (int g = 0; g < item; g++)
        at += counts[g];
    while (end > i && in[end - 1] <= 0)
        end--;
    for (; i < end; i++) {
        int x = in[i];
        out[at] = x;
        at += x > 0;
    }
}
