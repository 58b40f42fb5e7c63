// The length of Sobel's gradient at each element of a row-major matrix, for CPU devices; outside
// there is the nearest element. Parameters: input, output, rows, columns.
//
// Launch: any number of groups of 1 (tuned: 8 per core), which take contiguous rows, 16 elements of
// one at a time.
static float at_border(global const float *above, global const float *here, global const float *below, int columns,
                       int c) {
    int left = max(c - 1, 0), right = min(c + 1, columns - 1);
    float across = above[right] + 2 * here[right] + below[right] - above[left] - 2 * here[left] - below[left];
    float down = below[left] + 2 * below[c] + below[right] - above[left] - 2 * above[c] - above[right];
    return sqrt(across * across + down * down);
}

kernel void sobel(global const float *restrict in, global float *restrict out, int rows, int columns) {
    int items = (int)get_global_size(0), share = (rows + items - 1) / items;
    int r = min((int)get_global_id(0) * share, rows), end = min(r + share, rows);
    for (; r < end; r++) {
        global const float *here = in + (long)r * columns, *above = r > 0 ? here - columns : here,
                           *below = r + 1 < rows ? here + columns : here;
        global float *to = out + (long)r * columns;
        to[0] = at_border(above, here, below, columns, 0);
        int c = 1;
        for (; c + 16 < columns; c += 16) {
            float16 above_left = vload16(0, above + c - 1), above_right = vload16(0, above + c + 1);
            float16 below_left = vload16(0, below + c - 1), below_right = vload16(0, below + c + 1);
            float16 across = above_right - above_left + below_right - below_left +
                             2 * (vload16(0, here + c + 1) - vload16(0, here + c - 1));
            float16 down = below_left - above_left + below_right - above_right +
                           2 * (vload16(0, below + c) - vload16(0, above + c));
            vstore16(sqrt(across * across + down * down), 0, to + c);
        }
        for (; c < columns; c++)
            to[c] = at_border(above, here, below, columns, c);
    }
}
