// Multiply-adds as fast as a CUDA device does them: the ceiling of what computes. Parameters:
// output, one number per thread, and how many turns of 8 multiply-adds each makes.
//
// Launch: any number of blocks of any size (tuned: 8 per multiprocessor, 256 threads).
extern "C" __global__ void __launch_bounds__(1024) multiplyAdd(float *out, int turns) {
    float start = (float)threadIdx.x, f = 0.999f, g = 0.001f, x[8];
#pragma unroll
    for (int i = 0; i < 8; i++)
        x[i] = start + (float)i;
    for (int t = 0; t < turns; t++)
#pragma unroll
        for (int i = 0; i < 8; i++)
            x[i] = fmaf(x[i], f, g);
    float total = 0;
#pragma unroll
    for (int i = 0; i < 8; i++)
        total += x[i];
    out[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = total;
}
