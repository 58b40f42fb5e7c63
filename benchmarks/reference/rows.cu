// The sum of each row of a row-major matrix, for CUDA devices. Parameters: input, aligned to 16
// bytes, output, rows, columns, and for `rows` into how many pieces a row is cut.

// For rows of many elements. Launch: rows × pieces blocks of a multiple of 32 threads (256). Where
// there is more than one piece, the output is zeros before.
extern "C" __global__ void __launch_bounds__(1024)
    rows(const int *__restrict__ in, int *__restrict__ out, int rows, int columns, int pieces) {
    __shared__ int warps[WARP];
    int row = (int)blockIdx.x / pieces, piece = (int)blockIdx.x % pieces, sum = 0;
    const int *from = in + (long long)row * columns;
    if (columns % 4 == 0) {
        const int4 *vectors = reinterpret_cast<const int4 *>(from);
        int count = columns / 4, share = (count + pieces - 1) / pieces, end = min((piece + 1) * share, count);
        int v = piece * share + (int)threadIdx.x, threads = (int)blockDim.x, other = 0;
        for (; v + threads < end; v += 2 * threads) {
            int4 x = vectors[v], y = vectors[v + threads];
            sum += x.x + x.y + x.z + x.w;
            other += y.x + y.y + y.z + y.w;
        }
        if (v < end) {
            int4 x = vectors[v];
            sum += x.x + x.y + x.z + x.w;
        }
        sum += other;
    } else {
        int share = (columns + pieces - 1) / pieces, end = min((piece + 1) * share, columns);
        for (int i = piece * share + (int)threadIdx.x; i < end; i += (int)blockDim.x)
            sum += from[i];
    }
    sum = sum_block(sum, warps);
    if (threadIdx.x == 0) {
        if (pieces == 1)
            out[row] = sum;
        else
            atomicAdd(&out[row], sum);
    }
}

// For rows of few elements. Launch: at least as many threads as rows, rounded up to whole blocks (256).
extern "C" __global__ void __launch_bounds__(1024)
    rowsShort(const int *__restrict__ in, int *__restrict__ out, int rows, int columns) {
    int row = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (row >= rows)
        return;
    int sum = in[(long long)row * columns];
    for (int c = 1; c < columns; c++)
        sum += in[(long long)row * columns + c];
    out[row] = sum;
}
