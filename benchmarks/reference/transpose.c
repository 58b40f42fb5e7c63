// Transposing a row-major matrix, for the C backend of the runtime. Arguments: input, output, n = rows × columns, and
// columns.
//
// A block for every tile of 64 × 64, the last ones of a row or column of tiles being smaller. The tile is read row by
// row and written row by row, both whole cache lines; between the two it lies in the first-level cache.
#include <stdint.h>

enum { TILE = 64 };

static void transpose_tile(const int32_t *restrict in, int32_t *restrict out, int64_t rows, int64_t columns,
                           int64_t row, int64_t column) {
    if (row + TILE <= rows && column + TILE <= columns) {
        int32_t tile[TILE][TILE];
        for (int r = 0; r < TILE; r++)
            for (int c = 0; c < TILE; c++)
                tile[r][c] = in[(row + r) * columns + column + c];
        for (int c = 0; c < TILE; c++)
            for (int r = 0; r < TILE; r++)
                out[(column + c) * rows + row + r] = tile[r][c];
        return;
    }
    for (int64_t c = column; c < column + TILE && c < columns; c++)
        for (int64_t r = row; r < row + TILE && r < rows; r++)
            out[c * rows + r] = in[r * columns + c];
}

void fcl_part_transpose(void *const *args, int64_t first, int64_t end, int64_t blocks) {
    const int32_t *in = *(const int32_t *const *)args[0];
    int32_t *out = *(int32_t *const *)args[1];
    int64_t n = *(const int32_t *)args[2], columns = *(const int32_t *)args[3];
    int64_t across = (columns + TILE - 1) / TILE;
    (void)blocks;
    for (int64_t block = first; block < end; block++)
        transpose_tile(in, out, n / columns, columns, block / across * TILE, block % across * TILE);
}

void transpose(void *const *args, int64_t blocks) { fcl_part_transpose(args, 0, blocks, blocks); }
