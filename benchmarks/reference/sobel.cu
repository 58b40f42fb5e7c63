// The length of Sobel's gradient at each element of a row-major matrix, for CUDA devices; outside
// there is the nearest element. Parameters: input, output, rows, columns.
//
// Launch: a block of 128 threads for every 128 columns of 8 rows. A thread goes down a column and
// keeps the last two rows' elements in registers; its neighbours' come from the first-level cache.
#define WIDTH 128
#define HEIGHT 8

extern "C" __global__ void __launch_bounds__(WIDTH)
    sobel(const float *__restrict__ in, float *__restrict__ out, int rows, int columns) {
    int across = (columns + WIDTH - 1) / WIDTH, c = (int)blockIdx.x % across * WIDTH + (int)threadIdx.x;
    int r = (int)blockIdx.x / across * HEIGHT, end = min(r + HEIGHT, rows);
    if (c >= columns)
        return;
    int left = max(c - 1, 0), right = min(c + 1, columns - 1);
    const float *above = in + (size_t)max(r - 1, 0) * columns, *here = in + (size_t)r * columns;
    float a = above[left], b = above[c], d = above[right], e = here[left], f = here[c], g = here[right];
    for (; r < end; r++) {
        const float *below = in + (size_t)min(r + 1, rows - 1) * columns;
        float h = below[left], i = below[c], j = below[right];
        float x = d + 2 * g + j - a - 2 * e - h, y = h + 2 * i + j - a - 2 * b - d;
        out[(size_t)r * columns + c] = sqrtf(x * x + y * y);
        a = e, b = f, d = g;
        e = h, f = i, g = j;
    }
}
