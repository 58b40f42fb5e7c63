// Sums of an array's parts, for CUDA devices. Parameters: input, one result per block, and n, the
// number of elements; the input is aligned to 16 bytes.
//
// Launch: any number of blocks of a multiple of 32 threads (tuned: 8 per multiprocessor, 256). A
// thread reads vectors of 16 bytes, two at a time, at the stride of the whole launch; shuffles add
// up a warp, then the warps of the block.
extern "C" __global__ void __launch_bounds__(1024)
    reduce(const int *__restrict__ in, int *__restrict__ out, int n) {
    __shared__ int warps[WARP];
    const int4 *vectors = reinterpret_cast<const int4 *>(in);
    long long threads = (long long)gridDim.x * blockDim.x, thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    long long count = n / 4, v = thread;
    int a = 0, b = 0;
    for (; v + threads < count; v += 2 * threads) {
        int4 x = vectors[v], y = vectors[v + threads];
        a += x.x + x.y + x.z + x.w;
        b += y.x + y.y + y.z + y.w;
    }
    if (v < count) {
        int4 x = vectors[v];
        a += x.x + x.y + x.z + x.w;
    }
    if (thread < n % 4)
        a += in[count * 4 + thread];
    int total = sum_block(a + b, warps);
    if (threadIdx.x == 0)
        out[blockIdx.x] = total;
}
