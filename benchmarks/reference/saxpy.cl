// a·x + y, for CPU devices. Parameters: both inputs, output, a, and n, the number of elements.
//
// Launch: at least n work-items, in groups of 64 or more (tuned: 1024), as copy.
kernel void saxpy(global const float *restrict x, global const float *restrict y, global float *restrict out, float a,
                  int n) {
    size_t i = get_global_id(0);
    if (i < (size_t)n)
        out[i] = fma(a, x[i], y[i]);
}
