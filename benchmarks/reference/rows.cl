// The sum of each row of a row-major matrix, for CPU devices. Parameters: input, output, rows,
// columns, and for `pieces` into how many of them a row is cut.

static int sum(global const int *restrict in, int n) {
    int16 a = 0, b = 0, c = 0, d = 0;
    int i = 0;
    for (; i + 64 <= n; i += 64) {
        a += vload16(0, in + i);
        b += vload16(1, in + i);
        c += vload16(2, in + i);
        d += vload16(3, in + i);
    }
    a += b + c + d;
    int8 e = a.lo + a.hi;
    int4 f = e.lo + e.hi;
    int total = f.s0 + f.s1 + f.s2 + f.s3;
    for (; i < n; i++)
        total += in[i];
    return total;
}

// For rows of many elements. Launch: any number of groups of 1 (tuned: 8 per core), which take contiguous rows.
kernel void rows(global const int *restrict in, global int *restrict out, int rows, int columns) {
    int items = (int)get_global_size(0), item = (int)get_global_id(0), share = (rows + items - 1) / items;
    for (int r = item * share, end = min(r + share, rows); r < end; r++)
        out[r] = sum(in + (long)r * columns, columns);
}

// For few rows of very many elements. Launch: rows × pieces groups of 1; `rowsJoin` adds up what they give.
kernel void rowsPieces(global const int *restrict in, global int *restrict sums, int rows, int columns, int pieces) {
    int item = (int)get_global_id(0), r = item / pieces, size = (columns + pieces - 1) / pieces;
    int first = min(item % pieces * size, columns);
    sums[item] = sum(in + (long)r * columns + first, min(size, columns - first));
}

// Launch: any number of groups of 1 (tuned: 1, as there are few rows).
kernel void rowsJoin(global const int *restrict sums, global int *restrict out, int rows, int columns, int pieces) {
    for (int r = (int)get_global_id(0); r < rows; r += (int)get_global_size(0))
        out[r] = sum(sums + r * pieces, pieces);
}

// For rows of few elements. Launch: at least as many work-items as rows, in groups of 64 or more (tuned: 1024).
kernel void rowsShort(global const int *restrict in, global int *restrict out, int rows, int columns) {
    int r = (int)get_global_id(0);
    if (r < rows) {
        int total = in[(long)r * columns];
        for (int c = 1; c < columns; c++)
            total += in[(long)r * columns + c];
        out[r] = total;
    }
}
