// The elements above 0, in their order, for CUDA devices, in one pass. Parameters: input, output,
// n, the number of elements (up to 2^30), states: a word for the ticket and one for each tile, all
// 0; and where the number of results goes. The arrays are aligned to 16 bytes.
//
// Launch: a block of 256 threads for every 4096 elements, as scan's. A block puts together what its tile keeps in
// shared memory, so that neighbouring threads write neighbouring elements.
#define BLOCK 256
#define VECTORS 4
#define TILE (BLOCK * VECTORS * 4)

extern "C" __global__ void __launch_bounds__(BLOCK)
    filter(const int *__restrict__ in, int *__restrict__ out, int n, word *states, int *__restrict__ count) {
    __shared__ int kept[TILE], warps[BLOCK / WARP], ticket, before;
    int tile = next_tile((unsigned *)states, &ticket), warp = (int)threadIdx.x / WARP;
    int first = tile * TILE + warp * (VECTORS * WARP * 4) + LANE * 4, sum = 0;
    int4 x[VECTORS];
    int rank[VECTORS]; // of each vector's first element among those that the warp keeps
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        x[k] = load4(in, first + k * WARP * 4, n);
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        unsigned a = __ballot_sync(ALL_LANES, x[k].x > 0), b = __ballot_sync(ALL_LANES, x[k].y > 0);
        unsigned c = __ballot_sync(ALL_LANES, x[k].z > 0), d = __ballot_sync(ALL_LANES, x[k].w > 0);
        unsigned below = LANES_BELOW;
        rank[k] = sum + __popc(a & below) + __popc(b & below) + __popc(c & below) + __popc(d & below);
        sum += __popc(a) + __popc(b) + __popc(c) + __popc(d);
    }
    if (LANE == 0)
        warps[warp] = sum;
    __syncthreads();
    int base = 0, total = 0;
#pragma unroll
    for (int w = 0; w < BLOCK / WARP; w++) {
        base += w < warp ? warps[w] : 0;
        total += warps[w];
    }
    if (warp == 0) {
        word *own = states + 1 + tile;
        if (LANE == 0)
            publish(own, tile == 0 ? UP_TO : SUM, total);
        int all = tile > 0 ? look_back(states + 1, tile) : 0;
        if (LANE == 0) {
            if (tile > 0)
                publish(own, UP_TO, all + total);
            if (tile == (int)gridDim.x - 1)
                *count = all + total;
            before = all;
        }
    }
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        int at = base + rank[k];
        if (x[k].x > 0)
            kept[at++] = x[k].x;
        if (x[k].y > 0)
            kept[at++] = x[k].y;
        if (x[k].z > 0)
            kept[at++] = x[k].z;
        if (x[k].w > 0)
            kept[at] = x[k].w;
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < total; i += BLOCK)
        out[before + i] = kept[i];
}
