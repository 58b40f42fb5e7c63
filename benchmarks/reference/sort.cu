// Sorting by four passes of 8 bits, each of which reads and writes the keys once, for CUDA devices.
// Up to 2^28 keys of 32 bits.
//
// Launch: `digits` once, any number of blocks of 256 threads; then `place` or `placePairs` for each
// digit from the lowest, a block of 256 threads for every 4096 keys.
#define BLOCK 256
#define ITEMS 16
#define TILE (BLOCK * ITEMS)
#define WARPS (BLOCK / WARP)
#define DIGITS 256
#define PASSES 4

// Floats as unsigned numbers in the same order, and back.
__device__ __forceinline__ unsigned in_order(unsigned x) { return x >> 31 ? ~x : x | 0x80000000u; }
__device__ __forceinline__ unsigned as_before(unsigned x) { return x >> 31 ? x & 0x7fffffffu : ~x; }

// How often each digit is there, in all four places. Parameters: keys, aligned to 16 bytes; counts,
// zeros before; n; and whether keys are floats.
extern "C" __global__ void __launch_bounds__(BLOCK)
    digits(const unsigned *__restrict__ keys, int *__restrict__ counts, int n, int is_float) {
    __shared__ int own[PASSES * DIGITS];
    for (int i = (int)threadIdx.x; i < PASSES * DIGITS; i += BLOCK)
        own[i] = 0;
    __syncthreads();
    int threads = (int)(gridDim.x * BLOCK), thread = (int)(blockIdx.x * BLOCK + threadIdx.x);
    for (int v = thread; v < (n + 3) / 4; v += threads) {
        int4 x = load4((const int *)keys, 4 * v, n);
        unsigned key[4] = {(unsigned)x.x, (unsigned)x.y, (unsigned)x.z, (unsigned)x.w};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            if (4 * v + j >= n)
                break;
            unsigned k = is_float ? in_order(key[j]) : key[j];
#pragma unroll
            for (int pass = 0; pass < PASSES; pass++)
                atomicAdd(&own[pass * DIGITS + (k >> 8 * pass & 255)], 1);
        }
    }
    __syncthreads();
    for (int i = (int)threadIdx.x; i < PASSES * DIGITS; i += BLOCK)
        if (own[i])
            atomicAdd(&counts[i], own[i]);
}

// A state's word: what is known in its upper four bits, which grows from pass to pass so that
// states need no clearing between them.
#define KNOWN_SHIFT 28
#define VALUE 0x0fffffffu

struct shared {
    int counters[WARPS][DIGITS]; // of each warp's keys, then how many of the tile's come before them
    int begins[DIGITS];          // of each digit's keys in the tile
    int offsets[DIGITS];         // from a key's place in the tile to its place in the output
    int warps[WARPS];
    int ticket;
    unsigned staged[TILE];
};

template <bool has_values>
__device__ __forceinline__ void place_tile(const unsigned *__restrict__ from, unsigned *__restrict__ to,
                                                  const int *__restrict__ counts, unsigned *states, int n, int pass,
                                                  bool flip_in, bool flip_out, const int *__restrict__ values,
                                                  int *__restrict__ values_to, struct shared *s) {
    int thread = (int)threadIdx.x, warp = thread / WARP, shift = 8 * pass;
    for (int i = thread; i < WARPS * DIGITS; i += BLOCK)
        s->counters[0][i] = 0;
    int tile = next_tile(states + pass, &s->ticket), first = tile * TILE + warp * ITEMS * WARP + LANE;

    // The keys' ranks among those of the same digit in the warp, in the order of the input. There
    // are keys beyond the end, too, the greatest, which come last.
    unsigned key[ITEMS];
    int rank[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        int i = first + k * WARP;
        key[k] = i < n ? from[i] : 0xffffffffu;
        if (flip_in && i < n)
            key[k] = in_order(key[k]);
    }
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        unsigned digit = key[k] >> shift & 255, alike = __match_any_sync(ALL_LANES, digit);
        int below = __popc(alike & LANES_BELOW), old = s->counters[warp][digit];
        __syncwarp();
        if (below == 0)
            s->counters[warp][digit] = old + __popc(alike);
        __syncwarp();
        rank[k] = old + below;
    }
    __syncthreads();

    // From here on a thread has a digit.
    int count = 0;
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
        int of_warp = s->counters[w][thread];
        s->counters[w][thread] = count;
        count += of_warp;
    }
    unsigned *own = states + PASSES + (size_t)tile * DIGITS + thread, sum = 2 * (unsigned)pass + 1, up_to = sum + 1;
    if (tile > 0)
        *(volatile unsigned *)own = sum << KNOWN_SHIFT | (unsigned)count;
    // Where the digit's keys begin: in the tile, and for the first tile in the output.
    int all = tile > 0 ? 0 : counts[pass * DIGITS + thread];
    int in_tile = scan_warp(count), in_all = tile > 0 ? 0 : scan_warp(all);
    if (LANE == WARP - 1)
        s->warps[warp] = in_tile;
    __syncthreads();
    int begin = in_tile - count;
    for (int w = 0; w < warp; w++)
        begin += s->warps[w];
    s->begins[thread] = begin;
    int before = 0;
    if (tile == 0) {
        __syncthreads();
        if (LANE == WARP - 1)
            s->warps[warp] = in_all;
        __syncthreads();
        before = in_all - all;
        for (int w = 0; w < warp; w++)
            before += s->warps[w];
    } else {
        for (const volatile unsigned *state = own - DIGITS;; state -= DIGITS) {
            unsigned seen;
            do
                seen = *state;
            while (seen >> KNOWN_SHIFT < sum);
            before += (int)(seen & VALUE);
            if (seen >> KNOWN_SHIFT == up_to)
                break;
        }
    }
    *(volatile unsigned *)own = up_to << KNOWN_SHIFT | (unsigned)(before + count);
    s->offsets[thread] = before - begin;
    __syncthreads();

    // To their places in the tile, and from there to the output, where neighbouring threads mostly
    // write neighbouring keys.
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        unsigned digit = key[k] >> shift & 255;
        rank[k] += s->begins[digit] + s->counters[warp][digit];
        s->staged[rank[k]] = key[k];
    }
    __syncthreads();
    int valid = min(n - tile * TILE, TILE), at[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        int i = k * BLOCK + thread;
        unsigned x = s->staged[i];
        at[k] = s->offsets[x >> shift & 255] + i;
        if (i < valid)
            to[at[k]] = flip_out ? as_before(x) : x;
    }
    if (has_values) {
        __syncthreads();
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            int i = first + k * WARP;
            s->staged[rank[k]] = i < n ? (unsigned)values[i] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            int i = k * BLOCK + thread;
            if (i < valid)
                values_to[at[k]] = (int)s->staged[i];
        }
    }
}

// Parameters: keys; where they go; counts, as `digits` makes them; states, a word for each pass's
// ticket, and for each tile one for each digit, all 0 before the first pass; n; the pass, from 0;
// and whether keys are to become unsigned numbers from floats or floats again.
extern "C" __global__ void __launch_bounds__(BLOCK)
    place(const unsigned *__restrict__ from, unsigned *__restrict__ to, const int *__restrict__ counts,
          unsigned *states, int n, int pass, int flip_in, int flip_out) {
    __shared__ struct shared s;
    place_tile<false>(from, to, counts, states, n, pass, flip_in, flip_out, 0, 0, &s);
}

// The same with a value for each key: values, and where they go, come last.
extern "C" __global__ void __launch_bounds__(BLOCK)
    placePairs(const unsigned *__restrict__ from, unsigned *__restrict__ to, const int *__restrict__ counts,
               unsigned *states, int n, int pass, const int *__restrict__ values, int *__restrict__ values_to) {
    __shared__ struct shared s;
    place_tile<true>(from, to, counts, states, n, pass, false, false, values, values_to, &s);
}
