// The Mandelbrot set in 16 greys, for CUDA devices. Parameters: output, rows, columns, and the
// left, right, lower and upper end of the picture.
//
// Launch: a block of 256 threads for every 32 × 8 pixels. A warp has 8 × 4 neighbouring ones, which
// leave at much the same time.
#define ITERATIONS 512

extern "C" __global__ void __launch_bounds__(256)
    mandelbrot(unsigned char *__restrict__ out, int rows, int columns, float left, float right, float bottom, float top) {
    int across = (columns + 31) / 32, warp = (int)threadIdx.x / WARP;
    int c = (int)blockIdx.x % across * 32 + warp % 4 * 8 + LANE % 8;
    int r = (int)blockIdx.x / across * 8 + warp / 4 * 4 + LANE / 8;
    if (c >= columns || r >= rows)
        return;
    float cx = left + (float)c * ((right - left) / (float)columns), cy = top - (float)r * ((top - bottom) / (float)rows);
    float x = 0, y = 0, xx = 0, yy = 0;
    int count = 0;
    for (; count < ITERATIONS && xx + yy < 4; count++) {
        y = fmaf(x + x, y, cy);
        x = xx - yy + cx;
        xx = x * x;
        yy = y * y;
    }
    out[(size_t)r * columns + c] = (unsigned char)((count & 15) * 17);
}
