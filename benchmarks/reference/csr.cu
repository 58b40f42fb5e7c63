// A sparse matrix in compressed rows times a vector, for CUDA devices. Parameters: where each row
// begins, and the last ends; columns and values; vector; output; rows.
//
// Launch: at least 8 threads for each row, rounded up to whole blocks (256): eight lanes share a
// row, which suits rows of 8 to 64 elements.
#define SHARE 8

extern "C" __global__ void __launch_bounds__(1024)
    csr(const int *__restrict__ starts, const int *__restrict__ columns, const float *__restrict__ values,
        const float *__restrict__ vector, float *__restrict__ out, int rows) {
    long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int row = (int)(thread / SHARE), lane = (int)(thread % SHARE);
    float sum = 0;
    if (row < rows)
        for (int k = starts[row] + lane, end = starts[row + 1]; k < end; k += SHARE)
            sum = fmaf(values[k], vector[columns[k]], sum);
#pragma unroll
    for (int step = SHARE / 2; step > 0; step /= 2)
        sum += __shfl_down_sync(ALL_LANES, sum, step, SHARE);
    if (row < rows && lane == 0)
        out[row] = sum;
}
