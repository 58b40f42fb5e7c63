// How often each of the numbers below `buckets` occurs, for CPU devices. Parameters: input, output,
// n, the number of elements, all of which are in range, buckets, and scratch memory.
//
// Every group counts a contiguous share in counters of its own: several for each bucket, as one
// cannot be increased twice in a row without waiting, which counts where most elements are alike.

#define SMALL 256

// For 256 buckets at most. Launch: any number of groups of 1 (tuned: 8 per core); the output must be 0 before.
kernel void histogram(global const int *restrict in, global int *restrict out, int n, int buckets) {
    int items = (int)get_global_size(0), share = (n + items - 1) / items;
    int i = min((int)get_global_id(0) * share, n), end = min(i + share, n);
    int c[8][SMALL];
    for (int b = 0; b < SMALL; b++)
        c[0][b] = c[1][b] = c[2][b] = c[3][b] = c[4][b] = c[5][b] = c[6][b] = c[7][b] = 0;
    for (; i + 8 <= end; i += 8) {
        int8 x = vload8(0, in + i);
        c[0][x.s0]++;
        c[1][x.s1]++;
        c[2][x.s2]++;
        c[3][x.s3]++;
        c[4][x.s4]++;
        c[5][x.s5]++;
        c[6][x.s6]++;
        c[7][x.s7]++;
    }
    for (; i < end; i++)
        c[0][in[i]]++;
    for (int b = 0; b < buckets; b++)
        atomic_add(&out[b], c[0][b] + c[1][b] + c[2][b] + c[3][b] + c[4][b] + c[5][b] + c[6][b] + c[7][b]);
}

// For more. Launch: any number of groups of 1 (tuned: 1 per core), each with 4 × buckets ints of scratch memory; then
// `histogramJoin`.
kernel void histogramMany(global const int *restrict in, global int *restrict scratch, int n, int buckets) {
    int items = (int)get_global_size(0), item = (int)get_global_id(0), share = (n + items - 1) / items;
    int i = min(item * share, n), end = min(i + share, n);
    global int *restrict c = scratch + (long)item * 4 * buckets;
    for (int b = 0; b < 4 * buckets; b++)
        c[b] = 0;
    for (; i + 4 <= end; i += 4) {
        int4 x = vload4(0, in + i);
        c[x.s0]++;
        c[x.s1 + buckets]++;
        c[x.s2 + 2 * buckets]++;
        c[x.s3 + 3 * buckets]++;
    }
    for (; i < end; i++)
        c[in[i]]++;
}

// Launch: a work-item for each bucket, in groups of 64 or more; `copies` are all that were counted in.
kernel void histogramJoin(global const int *restrict scratch, global int *restrict out, int buckets, int copies) {
    int b = (int)get_global_id(0), total = 0;
    if (b >= buckets)
        return;
    for (int copy = 0; copy < copies; copy++)
        total += scratch[(long)copy * buckets + b];
    out[b] = total;
}
