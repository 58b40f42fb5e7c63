// Sums of all elements up to each, for CUDA devices, in one pass. Parameters: input, output, n, the
// number of elements (up to 2^30), and states: a word for the ticket and one for each tile, all 0.
// The arrays are aligned to 16 bytes.
//
// Launch: a block of 256 threads for every 4096 elements. A warp has 512 neighbouring ones, a lane
// four vectors of four, so that elements are read and written by 16 bytes and never exchanged.
#define BLOCK 256
#define VECTORS 4
#define TILE (BLOCK * VECTORS * 4)

extern "C" __global__ void __launch_bounds__(BLOCK)
    scan(const int *__restrict__ in, int *__restrict__ out, int n, word *states) {
    __shared__ int warps[BLOCK / WARP], ticket, before;
    int tile = next_tile((unsigned *)states, &ticket), warp = (int)threadIdx.x / WARP;
    int first = tile * TILE + warp * (VECTORS * WARP * 4) + LANE * 4, carry = 0;
    int4 x[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        x[k] = load4(in, first + k * WARP * 4, n);
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        x[k].y += x[k].x;
        x[k].z += x[k].y;
        x[k].w += x[k].z;
        int up_to = scan_warp(x[k].w), base = carry + up_to - x[k].w;
        x[k].x += base;
        x[k].y += base;
        x[k].z += base;
        x[k].w += base;
        carry += __shfl_sync(ALL_LANES, up_to, WARP - 1);
    }
    if (LANE == 0)
        warps[warp] = carry;
    __syncthreads();
    if (warp == 0) {
        int sum = LANE < BLOCK / WARP ? warps[LANE] : 0, up_to = scan_warp(sum), all = 0;
        int total = __shfl_sync(ALL_LANES, up_to, WARP - 1);
        word *own = states + 1 + tile;
        if (tile > 0) {
            if (LANE == 0)
                publish(own, SUM, total);
            all = look_back(states + 1, tile);
        }
        if (LANE == 0) {
            publish(own, UP_TO, all + total);
            before = all;
        }
        if (LANE < BLOCK / WARP)
            warps[LANE] = up_to - sum;
    }
    __syncthreads();
    int base = before + warps[warp];
#pragma unroll
    for (int k = 0; k < VECTORS; k++)
        store4(out, first + k * WARP * 4, n, make_int4(x[k].x + base, x[k].y + base, x[k].z + base, x[k].w + base));
}
