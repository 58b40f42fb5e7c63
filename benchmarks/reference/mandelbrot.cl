// The Mandelbrot set in 16 greys, for CPU devices. Parameters: output, rows, columns (a multiple of
// 32), and the left, right, lower and upper end of the picture.
//
// Launch: a group of 1 for each row, which computes 32 pixels at a time, in two vectors, as each
// step waits for the one before it; and asks after every fourth step only whether all have left.
#define ITERATIONS 512

#define STEP(x, y, cx, cy, count, active)                                                                              \
    {                                                                                                                  \
        float16 square = y * y;                                                                                        \
        active &= fma(x, x, square) < 4.0f;                                                                            \
        count -= active;                                                                                               \
        float16 next = fma(x, x, cx - square);                                                                         \
        y = fma(x + x, y, cy);                                                                                         \
        x = next;                                                                                                      \
    }

kernel void mandelbrot(global uchar *restrict out, int rows, int columns, float left, float right, float bottom,
                       float top) {
    int r = (int)get_global_id(0);
    float dx = (right - left) / columns, dy = (top - bottom) / rows;
    float16 cy = top - r * dy;
    for (int c = 0; c < columns; c += 32) {
        float16 lane = (float16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        float16 cx = left + (lane + c) * dx, cx2 = left + (lane + (c + 16)) * dx;
        float16 x = 0, y = 0, x2 = 0, y2 = 0;
        int16 count = 0, count2 = 0, active = -1, active2 = -1;
        for (int i = 0; i < ITERATIONS && any(active | active2); i += 4) {
            STEP(x, y, cx, cy, count, active)
            STEP(x2, y2, cx2, cy, count2, active2)
            STEP(x, y, cx, cy, count, active)
            STEP(x2, y2, cx2, cy, count2, active2)
            STEP(x, y, cx, cy, count, active)
            STEP(x2, y2, cx2, cy, count2, active2)
            STEP(x, y, cx, cy, count, active)
            STEP(x2, y2, cx2, cy, count2, active2)
        }
        vstore16(convert_uchar16((count & 15) * 17), 0, out + (long)r * columns + c);
        vstore16(convert_uchar16((count2 & 15) * 17), 1, out + (long)r * columns + c);
    }
}
