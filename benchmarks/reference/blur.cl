// A plane of doubles, each the mean of those round it by binomial weights, for CPU devices; outside there is the nearest
// element. Parameters: input, output, rows, columns, and how many weights there are across and down: 3, 5 or 7.
//
// Launch: any number of groups of 1 (tuned: 8 per core), which take contiguous rows, 8 elements of one at a time.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static double at_border(global const double *in, int rows, int columns, int taps, int r, int c, const double *weights) {
    double sum = 0;
    for (int y = 0; y < taps; y++)
        for (int x = 0; x < taps; x++)
            sum += weights[y * taps + x] *
                   in[(long)clamp(r + y - taps / 2, 0, rows - 1) * columns + clamp(c + x - taps / 2, 0, columns - 1)];
    return sum;
}

kernel void blur(global const double *restrict in, global double *restrict out, int rows, int columns, int taps) {
    double side[8] = {1}, weights[64];
    for (int t = 1; t < taps; t++)
        side[t] = side[t - 1] * (taps - t) / t;
    for (int t = 0; t < taps * taps; t++)
        weights[t] = side[t / taps] * side[t % taps] / (1 << 2 * (taps - 1));
    int items = (int)get_global_size(0), share = (rows + items - 1) / items, radius = taps / 2;
    int r = min((int)get_global_id(0) * share, rows), end = min(r + share, rows);
    for (; r < end; r++) {
        int c = 0;
        global double *to = out + (long)r * columns;
        if (r >= radius && r + radius < rows) {
            for (; c < min(radius, columns); c++)
                to[c] = at_border(in, rows, columns, taps, r, c, weights);
            for (; c + 8 + radius <= columns; c += 8) {
                global const double *first = in + (long)(r - radius) * columns + c - radius;
                double8 sum = 0;
                for (int y = 0; y < taps; y++)
                    for (int x = 0; x < taps; x++)
                        sum += weights[y * taps + x] * vload8(0, first + (long)y * columns + x);
                vstore8(sum, 0, to + c);
            }
        }
        for (; c < columns; c++)
            to[c] = at_border(in, rows, columns, taps, r, c, weights);
    }
}
