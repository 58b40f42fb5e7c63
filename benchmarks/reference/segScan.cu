// Sums of all elements from the beginning of the segment up to each, for CUDA devices, in one pass.
// Parameters: flags, which are not 0 where a segment begins, input, output, n, the number of
// elements (up to 2^30), and states: a word for the ticket and one for each tile, all 0. The arrays
// are aligned to 16 bytes.
//
// Launch: as scan's, a block of 256 threads for every 4096 elements. A tile in which a segment
// begins knows at once what it leaves to the next one, so that looking back ends there.
#define BLOCK 256
#define VECTORS 4
#define TILE (BLOCK * VECTORS * 4)

__device__ __forceinline__ uchar4 flags4(const unsigned char *__restrict__ begins, int first, int n) {
    if (first + 4 <= n)
        return *reinterpret_cast<const uchar4 *>(begins + first);
    return make_uchar4(first < n ? begins[first] : 0, first + 1 < n ? begins[first + 1] : 0,
                       first + 2 < n ? begins[first + 2] : 0, 0);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    segScan(const unsigned char *__restrict__ begins, const int *__restrict__ in, int *__restrict__ out, int n,
            word *states) {
    __shared__ int warps[BLOCK / WARP], ticket, all;
    __shared__ bool has[BLOCK / WARP];
    int tile = next_tile((unsigned *)states, &ticket), warp = (int)threadIdx.x / WARP;
    int first = tile * TILE + warp * (VECTORS * WARP * 4) + LANE * 4;
    int4 x[VECTORS];
    uchar4 f[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        x[k] = load4(in, first + k * WARP * 4, n);
        f[k] = flags4(begins, first + k * WARP * 4, n);
    }

    // For each vector what the elements before it come to since a segment has begun in the warp's,
    // and whether none has.
    int base[VECTORS], carry = 0;
    bool is_open[VECTORS], has_begun = false;
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        int tail = x[k].x; // what the vector leaves
        tail = f[k].y ? x[k].y : tail + x[k].y;
        tail = f[k].z ? x[k].z : tail + x[k].z;
        tail = f[k].w ? x[k].w : tail + x[k].w;
        unsigned begun = __ballot_sync(ALL_LANES, f[k].x | f[k].y | f[k].z | f[k].w);
        unsigned up_to = begun & (LANES_BELOW | 1u << LANE);
        int start = up_to ? 31 - __clz((int)up_to) : 0; // the lane in which the last segment up to here begins
#pragma unroll
        for (int step = 1; step < WARP; step *= 2) {
            int before = __shfl_up_sync(ALL_LANES, tail, step);
            if (LANE - step >= start)
                tail += before;
        }
        int before = __shfl_up_sync(ALL_LANES, tail, 1), last = __shfl_sync(ALL_LANES, tail, WARP - 1);
        bool is_first = (begun & LANES_BELOW) == 0; // segment that the warp had here
        base[k] = (LANE > 0 ? before : 0) + (is_first ? carry : 0);
        is_open[k] = is_first && !has_begun;
        carry = begun ? last : carry + last;
        has_begun = has_begun || begun;
    }
    if (LANE == 0) {
        warps[warp] = carry;
        has[warp] = has_begun;
    }
    __syncthreads();

    if (warp == 0) {
        int total = 0;
        bool any = false;
        for (int w = 0; w < BLOCK / WARP; w++) {
            total = has[w] ? warps[w] : total + warps[w];
            any = any || has[w];
        }
        word *own = states + 1 + tile;
        if (LANE == 0)
            publish(own, any || tile == 0 ? UP_TO : SUM, total);
        int before = tile > 0 ? look_back(states + 1, tile) : 0;
        if (LANE == 0) {
            if (!any && tile > 0)
                publish(own, UP_TO, before + total);
            all = before;
        }
    }
    __syncthreads();
    carry = all;
    for (int w = 0; w < warp; w++)
        carry = has[w] ? warps[w] : carry + warps[w];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        int sum = base[k] + (is_open[k] ? carry : 0);
        int4 y;
        y.x = sum = f[k].x ? x[k].x : sum + x[k].x;
        y.y = sum = f[k].y ? x[k].y : sum + x[k].y;
        y.z = sum = f[k].z ? x[k].z : sum + x[k].z;
        y.w = sum = f[k].w ? x[k].w : sum + x[k].w;
        store4(out, first + k * WARP * 4, n, y);
    }
}
