// A plane of doubles, each the mean of those round it by binomial weights, for CUDA devices; outside there is the nearest
// element. Parameters: input, output, rows, columns, and how many weights there are across and down: 3, 5 or 7.
//
// Launch: a block of 256 threads for every 32 × 8 elements, which it reads with their surroundings into shared memory.
#define WIDTH 32
#define HEIGHT 8

template <int TAPS>
__device__ __forceinline__ void blur_tile(const double *__restrict__ in, double *__restrict__ out, int rows, int columns,
                                          double *tile) {
    const int radius = TAPS / 2, wide = WIDTH + 2 * radius, high = HEIGHT + 2 * radius;
    int across = (columns + WIDTH - 1) / WIDTH, left = (int)blockIdx.x % across * WIDTH;
    int top = (int)blockIdx.x / across * HEIGHT;
    for (int i = (int)threadIdx.x; i < wide * high; i += WIDTH * HEIGHT) {
        int r = min(max(top + i / wide - radius, 0), rows - 1), c = min(max(left + i % wide - radius, 0), columns - 1);
        tile[i] = in[(size_t)r * columns + c];
    }
    __syncthreads();
    double side[TAPS];
    side[0] = 1;
#pragma unroll
    for (int t = 1; t < TAPS; t++)
        side[t] = side[t - 1] * (TAPS - t) / t;
    int x = (int)threadIdx.x % WIDTH, y = (int)threadIdx.x / WIDTH;
    if (top + y >= rows || left + x >= columns)
        return;
    double sum = 0;
#pragma unroll
    for (int j = 0; j < TAPS; j++)
#pragma unroll
        for (int i = 0; i < TAPS; i++)
            sum += side[j] * side[i] / (1 << 2 * (TAPS - 1)) * tile[(y + j) * wide + x + i];
    out[(size_t)(top + y) * columns + left + x] = sum;
}

extern "C" __global__ void __launch_bounds__(WIDTH * HEIGHT)
    blur(const double *__restrict__ in, double *__restrict__ out, int rows, int columns, int taps) {
    __shared__ double tile[(WIDTH + 6) * (HEIGHT + 6)];
    if (taps == 3)
        blur_tile<3>(in, out, rows, columns, tile);
    else if (taps == 5)
        blur_tile<5>(in, out, rows, columns, tile);
    else
        blur_tile<7>(in, out, rows, columns, tile);
}
