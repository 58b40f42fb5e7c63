// Transposing a row-major matrix, for CPU devices. Parameters: input, output, n = rows × columns,
// and columns.
//
// Launch: one group of 1 for every tile of 64 × 64, the last ones of a row or column of tiles being
// smaller. The tile is read row by row and written row by row, both whole cache lines; between the
// two it lies in the first-level cache.
#define TILE 64

kernel void transpose(global const int *restrict in, global int *restrict out, int n, int columns) {
    int rows = n / columns, across = (columns + TILE - 1) / TILE, group = (int)get_group_id(0);
    int row = group / across * TILE, column = group % across * TILE;
    int height = min(TILE, rows - row), width = min(TILE, columns - column);
    int tile[TILE][TILE];
    if (height == TILE && width == TILE) {
        for (int r = 0; r < TILE; r++)
            for (int c = 0; c < TILE; c++)
                tile[r][c] = in[(row + r) * columns + column + c];
        for (int c = 0; c < TILE; c++)
            for (int r = 0; r < TILE; r++)
                out[(column + c) * rows + row + r] = tile[r][c];
    } else {
        for (int c = 0; c < width; c++)
            for (int r = 0; r < height; r++)
                out[(column + c) * rows + row + r] = in[(row + r) * columns + column + c];
    }
}
