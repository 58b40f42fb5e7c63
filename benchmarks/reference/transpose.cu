// Transposing a row-major matrix, for CUDA devices. Parameters: input, output, n = rows × columns,
// and columns.
//
// Launch: one block of 256 threads for every tile of 32 × 32. The tile lies in shared memory with
// one column to spare, so that reading it by columns meets every bank once.
#define TILE 32
#define LINES 8 // rows of the tile that the block moves at once

extern "C" __global__ void __launch_bounds__(TILE *LINES)
    transpose(const int *__restrict__ in, int *__restrict__ out, int n, int columns) {
    __shared__ int tile[TILE][TILE + 1];
    int rows = n / columns, across = (columns + TILE - 1) / TILE;
    int row = (int)blockIdx.x / across * TILE, column = (int)blockIdx.x % across * TILE;
    int x = (int)threadIdx.x % TILE, y = (int)threadIdx.x / TILE;
    for (int r = y; r < TILE; r += LINES)
        if (row + r < rows && column + x < columns)
            tile[r][x] = in[(long long)(row + r) * columns + column + x];
    __syncthreads();
    for (int c = y; c < TILE; c += LINES)
        if (column + c < columns && row + x < rows)
            out[(long long)(column + c) * rows + row + x] = tile[x][c];
}
