// A sparse matrix in compressed rows times a vector, for CPU devices. Parameters: where each row
// begins, and the last ends; columns and values; vector; output; rows.
//
// Launch: any number of groups of 1 (tuned: 32 per core), which take contiguous rows. Two sums for
// each row, so that half as many additions wait for each other; neighbouring rows overlap as they
// are short.
kernel void csr(global const int *restrict starts, global const int *restrict columns, global const float *restrict values,
                global const float *restrict vector, global float *restrict out, int rows) {
    int items = (int)get_global_size(0), share = (rows + items - 1) / items;
    int r = min((int)get_global_id(0) * share, rows), end = min(r + share, rows);
    for (int k = starts[r]; r < end; r++) {
        int stop = starts[r + 1];
        float a = 0, b = 0;
        for (; k + 2 <= stop; k += 2) {
            a = fma(values[k], vector[columns[k]], a);
            b = fma(values[k + 1], vector[columns[k + 1]], b);
        }
        if (k < stop)
            a = fma(values[k], vector[columns[k]], a), k++;
        out[r] = a + b;
    }
}
