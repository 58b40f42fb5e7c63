// The sums of the values that go to each bucket, for CPU devices. Parameters: for each element the
// index of a bucket, all of which are in range, and a value; scratch memory; n, the number of
// elements; buckets; and how many copies of the buckets each group has: a power of two.
//
// Launch: any number of groups of 1 (tuned: 2 per core), each of which has a contiguous share of
// the elements, and copies × buckets ints of scratch memory; then `byIndexJoin`. Neighbouring
// elements go to different copies, as one place cannot be added to twice in a row without waiting,
// which counts where most elements go to the same bucket.
kernel void byIndex(global const int *restrict indices, global const int *restrict values, global int *restrict scratch,
                    int n, int buckets, int copies) {
    int items = (int)get_global_size(0), item = (int)get_global_id(0), share = (n + items - 1) / items;
    int i = min(item * share, n), end = min(i + share, n);
    global int *own = scratch + (long)item * copies * buckets;
    for (int b = 0; b < copies * buckets; b++)
        own[b] = 0;
    global int *c0 = own, *c1 = own + (1 & (copies - 1)) * buckets, *c2 = own + (2 & (copies - 1)) * buckets,
               *c3 = own + (3 & (copies - 1)) * buckets;
    for (; i + 4 <= end; i += 4) {
        int4 b = vload4(0, indices + i), x = vload4(0, values + i);
        c0[b.s0] += x.s0;
        c1[b.s1] += x.s1;
        c2[b.s2] += x.s2;
        c3[b.s3] += x.s3;
    }
    for (; i < end; i++)
        own[indices[i]] += values[i];
}

// Launch: a work-item for each bucket, in groups of 64 or more; `copies` are all there are.
kernel void byIndexJoin(global const int *restrict scratch, global int *restrict out, int buckets, int copies) {
    int b = (int)get_global_id(0), total = 0;
    if (b >= buckets)
        return;
    for (int copy = 0; copy < copies; copy++)
        total += scratch[(long)copy * buckets + b];
    out[b] = total;
}
