// The product of two square row-major matrices, for CPU devices. Parameters: both, output, and n,
// their side, a multiple of 128.
//
// Launch: a group of 1 for every 128 rows and 32 columns of the result. It goes through the inner
// dimension 256 at a time, copies those rows of the second matrix, 32 columns wide, to where they
// are next to each other (they fit into the first-level cache), and adds their products, in tiles
// of 8 × 32 that are kept in 16 vector registers. Groups next to each other share rows of the first
// matrix, which stay in the second-level cache.
#define HIGH 128
#define DEEP 256
#define WIDE 32

#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)

kernel void sgemm(global const float *restrict a, global const float *restrict b, global float *restrict out, int n) {
    int wide = n / WIDE, group = (int)get_group_id(0), top = group / wide * HIGH, left = group % wide * WIDE;
    float16 panel[DEEP * 2];
    for (int k0 = 0; k0 < n; k0 += DEEP) {
        int deep = min(DEEP, n - k0);
        for (int k = 0; k < deep; k++) {
            panel[2 * k] = vload16(0, b + (k0 + k) * n + left);
            panel[2 * k + 1] = vload16(1, b + (k0 + k) * n + left);
        }
        for (int row = top; row < top + HIGH; row += 8) {
            global const float *restrict at = a + row * n + k0;
            global float *restrict to = out + row * n + left;
#define BEGIN(i) float16 x##i = 0, y##i = 0;
            EACH_ROW(BEGIN)
            for (int k = 0; k < deep; k++) {
                float16 u = panel[2 * k], v = panel[2 * k + 1];
#define STEP(i)                                                                                                        \
    {                                                                                                                  \
        float16 s = at[i * n + k];                                                                                     \
        x##i = fma(s, u, x##i);                                                                                        \
        y##i = fma(s, v, y##i);                                                                                        \
    }
                EACH_ROW(STEP)
            }
            if (k0 > 0) {
#define ADD(i)                                                                                                         \
    x##i += vload16(0, to + i * n);                                                                                    \
    y##i += vload16(1, to + i * n);
                EACH_ROW(ADD)
            }
#define END(i)                                                                                                         \
    vstore16(x##i, 0, to + i * n);                                                                                     \
    vstore16(y##i, 1, to + i * n);
            EACH_ROW(END)
        }
    }
}
