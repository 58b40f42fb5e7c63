// A row-major matrix times a vector, for CPU devices. Parameters: matrix, vector, output, rows,
// columns.
//
// Launch: any number of groups of 1 (tuned: 8 per core), which take contiguous rows, four at a
// time, so that the vector is read once for four of them.
static float sum(float16 a) {
    float8 b = a.lo + a.hi;
    float4 c = b.lo + b.hi;
    return c.s0 + c.s1 + c.s2 + c.s3;
}

kernel void matVec(global const float *restrict matrix, global const float *restrict vector, global float *restrict out,
                   int rows, int columns) {
    int items = (int)get_global_size(0), share = (rows + items - 1) / items;
    int r = min((int)get_global_id(0) * share, rows), end = min(r + share, rows), whole = columns / 16 * 16;
    for (; r < end; r += 4) {
        global const float *a = matrix + (long)r * columns;
        // Where fewer than four rows are left, the last one stands in.
        global const float *b = a + (r + 1 < end ? columns : 0), *c = b + (r + 2 < end ? columns : 0),
                           *d = c + (r + 3 < end ? columns : 0);
        float16 sa = 0, sb = 0, sc = 0, sd = 0;
        for (int k = 0; k < whole; k += 16) {
            float16 v = vload16(0, vector + k);
            sa = fma(vload16(0, a + k), v, sa);
            sb = fma(vload16(0, b + k), v, sb);
            sc = fma(vload16(0, c + k), v, sc);
            sd = fma(vload16(0, d + k), v, sd);
        }
        float4 total = (float4)(sum(sa), sum(sb), sum(sc), sum(sd));
        for (int k = whole; k < columns; k++)
            total = fma((float4)(a[k], b[k], c[k], d[k]), (float4)vector[k], total);
        out[r] = total.s0;
        if (r + 1 < end)
            out[r + 1] = total.s1;
        if (r + 2 < end)
            out[r + 2] = total.s2;
        if (r + 3 < end)
            out[r + 3] = total.s3;
    }
}
