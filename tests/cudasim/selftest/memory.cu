// Accesses outside what was allocated, and races on device memory.

extern "C" __global__ void copy(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i];
}

// Far from any allocation.
extern "C" __global__ void wild(int *out) {
    if (threadIdx.x == 3)
        out[1 << 28] = 1;
}

// Words at places that are no multiples of four.
extern "C" __global__ void misaligned(char *out) { *(int *)(out + 2 + 4 * threadIdx.x) = 1; }

extern "C" __global__ void null_pointer(int *out, long long zero) {
    ((int *)zero)[threadIdx.x] = out[threadIdx.x];
}

// A shared array has 32 elements, and thread 32 uses one more.
extern "C" __global__ void shared_overflow(int *out) {
    __shared__ int tile[32];
    tile[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void dynamic_overflow(int *out) {
    extern __shared__ int tile[];
    tile[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void uninitialised(int *out) {
    __shared__ int tile[64];
    if (threadIdx.x < 32)
        tile[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}

// Every block writes the same word.
extern "C" __global__ void all_blocks(int *out) {
    if (threadIdx.x == 0)
        out[0] = blockIdx.x;
}

// All threads store to one word that nobody has written, by relaxed stores.
extern "C" __global__ void all_store(int *out) {
    __shared__ int word;
#ifdef PLAIN
    word = 5;
#else
    *(volatile int *)&word = 5;
#endif
    __syncthreads();
    out[threadIdx.x] = word;
}

// Each thread reads its word by a volatile load, and the next one plainly; or writes that.
extern "C" __global__ void both_read(int *data, int *out) {
    const int mine = *(volatile int *)&data[threadIdx.x];
#ifdef WRITES
    data[(threadIdx.x + 1) % blockDim.x] = mine;
#else
    out[threadIdx.x] = mine + data[(threadIdx.x + 1) % blockDim.x];
#endif
}

// A thread writes, another of its warp loads that in order, and one of another warp reads it in no order with the
// write.
extern "C" __global__ void behind_load(int *data, int *out) {
    if (threadIdx.x == 0)
        data[0] = 7;
    __syncwarp();
    if (threadIdx.x == 1)
        out[0] = *(volatile int *)&data[0];
    if (threadIdx.x == 32)
        out[1] = data[0];
}

// A block reads what another writes.
extern "C" __global__ void neighbour(int *data) {
    if (threadIdx.x == 0)
        data[blockIdx.x] = data[(blockIdx.x + 1) % gridDim.x];
}

// Two threads of a block, no barrier.
extern "C" __global__ void same_block(int *data) {
    data[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0)
        data[1] = data[63];
}

// Right: bytes of one word belong to different threads and blocks.
extern "C" __global__ void bytes(unsigned char *data) {
    __shared__ unsigned char tile[64];
    tile[threadIdx.x] = (unsigned char)(threadIdx.x + blockIdx.x);
    __syncthreads();
    data[blockIdx.x * 30 + threadIdx.x] = tile[29 - threadIdx.x];
}

// Right: two-dimensional, dynamic shared memory, padded.
extern "C" __global__ void transpose(const int *in, int *out, int rows, int columns) {
    extern __shared__ __align__(16) char raw[];
    int *tile = (int *)raw;
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < columns && y < rows)
        tile[threadIdx.y * 17 + threadIdx.x] = in[y * columns + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < rows && y < columns)
        out[y * rows + x] = tile[threadIdx.x * 17 + threadIdx.y];
}

// A place that is not written is read in no branch that is taken: not by what the host's compiler
// takes out of the loop either.
extern "C" __global__ void untaken(const int *in, int *out, int n) {
    __shared__ int tile[64];
    if (threadIdx.x < n)
        tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    const bool is_long = 8 < n;
    for (int i = threadIdx.x; i < n; i += 64) {
        const int fixed = is_long ? tile[8] : tile[i];
        out[i] = fixed + (is_long ? tile[(1 - (int)(tile[i] == tile[n - 1 - i])) * 8] : tile[i]);
    }
}
