// Multiply-adds as fast as a CPU device does them: the ceiling of what computes. Parameters: output, one number per
// work-item, and how many turns of 192 multiply-adds each makes.
//
// Launch: any number of groups of 1 (tuned: 8 per core). Twelve vectors, so that none waits for the one before it.
kernel void multiplyAdd(global float *restrict out, int turns) {
    float start = (float)get_global_id(0);
    float16 f = 0.999f, g = 0.001f;
    float16 a = start, b = start + 1, c = start + 2, d = start + 3, e = start + 4, h = start + 5, i = start + 6,
            j = start + 7, k = start + 8, l = start + 9, m = start + 10, o = start + 11;
    for (int t = 0; t < turns; t++) {
        a = fma(a, f, g), b = fma(b, f, g), c = fma(c, f, g), d = fma(d, f, g), e = fma(e, f, g), h = fma(h, f, g);
        i = fma(i, f, g), j = fma(j, f, g), k = fma(k, f, g), l = fma(l, f, g), m = fma(m, f, g), o = fma(o, f, g);
    }
    float16 all = a + b + c + d + e + h + i + j + k + l + m + o;
    float8 p = all.lo + all.hi;
    float4 q = p.lo + p.hi;
    out[get_global_id(0)] = q.s0 + q.s1 + q.s2 + q.s3;
}
