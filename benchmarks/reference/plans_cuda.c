// The launches of each task on CUDA devices.
#include "plans.h"

// Tasks in which each thread has 16 bytes' elements.
static struct step *add_elements(const char *kernel, int32_t n) {
    return add_launch(kernel, divide_up((uint64_t)n, 4 * GPU_BLOCK), GPU_BLOCK);
}

// Partial sums, one for each block, which the host adds up.
static void plan_reduce(const struct task_side *task, int32_t n) {
    struct step *step = add_launch("reduce", per_unit(8), GPU_BLOCK);
    struct fcl_buffer *sums = new_ints(step_blocks(step));
    with(step, "bbi", task->in[0], sums, n);
    read_after(sums, step_blocks(step));
}

static void plan_rows(const struct task_side *task) {
    int32_t rows = task->problem->rows, columns = task->problem->columns;
    if (columns < 32) {
        with(add_launch("rowsShort", divide_up((uint64_t)rows, GPU_BLOCK), GPU_BLOCK), "bbii", task->in[0],
             task->out[0], rows, columns);
        return;
    }
    // Enough blocks for the device, but no piece shorter than what a block reads at a time.
    uint64_t pieces = divide_up(per_unit(8), (uint64_t)rows), most = divide_up((uint64_t)columns, 8 * GPU_BLOCK);
    pieces = pieces < most ? pieces : most;
    if (pieces > 1)
        add_zeros(task->out[0]);
    with(add_launch("rows", (uint64_t)rows * pieces, GPU_BLOCK), "bbiii", task->in[0], task->out[0], rows, columns,
         (int32_t)pieces);
}

// In one pass, by tiles that wait for those before them; their states are words of 64 bits.
static void plan_tiles(const struct task_side *task, const char *kernel, int32_t n) {
    uint64_t tiles = divide_up((uint64_t)n, 4096);
    struct fcl_buffer *states = new_ints(2 * (1 + tiles)), *count = NULL;
    add_zeros(states);
    struct step *step = add_launch(kernel, tiles, GPU_BLOCK);
    with(step, "b", task->in[0]);
    if (task->problem->task->id == TASK_SEG_SCAN)
        with(step, "b", task->in[1]);
    with(step, "bib", task->out[0], n, states);
    if (task->problem->task->id == TASK_FILTER) {
        with(step, "b", count = new_ints(1));
        read_after(count, 1);
    }
}

static void plan_sort(const struct task_side *task, int32_t n) {
    enum { DIGITS = 256, PASSES = 4, TILE = 4096 };
    enum task_id id = task->problem->task->id;
    bool is_float = id == TASK_SORT_FLOAT, has_values = id == TASK_SORT_PAIRS;
    uint64_t tiles = divide_up((uint64_t)n, TILE);
    struct fcl_buffer *counts = new_ints(PASSES * DIGITS), *states = new_ints(PASSES + tiles * DIGITS);
    struct fcl_buffer *keys = new_ints((uint64_t)n), *values = has_values ? new_ints((uint64_t)n) : NULL;
    struct fcl_buffer *from = task->in[0], *from_values = task->in[1];
    add_zeros(counts);
    add_zeros(states);
    with(add_launch("digits", per_unit(8), GPU_BLOCK), "bbii", from, counts, n, is_float);
    for (int32_t pass = 0; pass < PASSES; pass++) {
        bool back = pass % 2 == 1;
        struct fcl_buffer *to = back ? task->out[0] : keys, *to_values = back ? task->out[1] : values;
        struct step *step = add_step_of(has_values ? "placePairs" : "place", tiles, GPU_BLOCK);
        with(step, "bbbbii", from, to, counts, states, n, pass);
        if (has_values)
            with(step, "bb", from_values, to_values);
        else
            with(step, "ii", is_float && pass == 0, is_float && pass == PASSES - 1);
        from = to;
        from_values = to_values;
    }
}

// Sums or counts by index: in shared memory as long as they fit, in eight copies where few make threads meet.
static void plan_by_index(const struct task_side *task, const char *kernel, const char *many, int32_t n) {
    enum { MOST = 12288, MOST_COPIES = 8, BLOCK = 512 };
    int32_t buckets = task->problem->buckets, copies = MOST / buckets < MOST_COPIES ? MOST / buckets : MOST_COPIES;
    add_zeros(task->out[0]);
    struct step *step = add_launch(copies > 0 ? kernel : many, per_unit(4), BLOCK);
    with(step, "b", task->in[0]);
    if (task->problem->task->id == TASK_BY_INDEX)
        with(step, "b", task->in[1]);
    with(step, "bi", task->out[0], n);
    if (copies > 0)
        with(step, "ii", buckets, copies);
}

// A block for each tile of a matrix.
static struct step *add_matrix_tiles(const char *kernel, const struct problem *p, uint64_t high, uint64_t wide,
                                     uint32_t threads) {
    return add_launch(kernel, divide_up((uint64_t)p->rows, high) * divide_up((uint64_t)p->columns, wide), threads);
}

void plan_for_cuda(const struct task_side *task) {
    const struct problem *p = task->problem;
    struct fcl_buffer *const *in = task->in, *const *out = task->out;
    int32_t n = (int32_t)p->size;
    struct window w = windows[p->task->id == TASK_MANDELBROT ? p->task->variant : 0];
    switch (p->task->id) {
    case TASK_COPY: with(add_elements("copy", n), "bbi", in[0], out[0], n); break;
    case TASK_SAXPY: with(add_elements("saxpy", n), "bbbfi", in[0], in[1], out[0], (double)SAXPY_FACTOR, n); break;
    case TASK_REVERSE: with(add_elements("reverse", n), "bbi", in[0], out[0], n); break;
    case TASK_TRANSPOSE:
        with(add_matrix_tiles("transpose", p, 32, 32, 256), "bbii", in[0], out[0], n, p->columns);
        break;
    case TASK_REDUCE: plan_reduce(task, n); break;
    case TASK_ROWS: plan_rows(task); break;
    case TASK_SCAN: plan_tiles(task, "scan", n); break;
    case TASK_SEG_SCAN: plan_tiles(task, "segScan", n); break;
    case TASK_FILTER: plan_tiles(task, "filter", n); break;
    case TASK_SORT:
    case TASK_SORT_FLOAT:
    case TASK_SORT_PAIRS: plan_sort(task, n); break;
    case TASK_HISTOGRAM: plan_by_index(task, "histogram", "histogramMany", n); break;
    case TASK_BY_INDEX: plan_by_index(task, "byIndex", "byIndexMany", n); break;
    case TASK_MATVEC:
        with(add_launch("matVec", (uint64_t)p->rows, GPU_BLOCK), "bbbii", in[0], in[1], out[0], p->rows, p->columns);
        break;
    case TASK_SGEMM: with(add_matrix_tiles("sgemm", p, 64, 64, 128), "bbbi", in[0], in[1], out[0], p->columns); break;
    case TASK_SOBEL: with(add_matrix_tiles("sobel", p, 8, 128, 128), "bbii", in[0], out[0], p->rows, p->columns); break;
    case TASK_BLUR:
        for (int plane = 0; plane < 3; plane++)
            with(add_matrix_tiles("blur", p, 8, 32, 256), "bbiii", in[plane], out[plane], p->rows, p->columns,
                 p->task->variant);
        break;
    case TASK_CSR:
        with(add_launch("csr", divide_up(8 * (uint64_t)p->rows, GPU_BLOCK), GPU_BLOCK), "bbbbbi", in[0], in[1], in[2],
             in[3], out[0], p->rows);
        break;
    case TASK_MANDELBROT:
        with(add_matrix_tiles("mandelbrot", p, 8, 32, 256), "biiffff", out[0], p->rows, p->columns, (double)w.left,
             (double)w.right, (double)w.bottom, (double)w.top);
        break;
    case TASK_BLACK_SCHOLES:
        with(add_elements("blackScholes", n), "ffbbbbbi", (double)INTEREST, (double)VOLATILITY, in[0], in[1], in[2],
             out[0], out[1], n);
        break;
    case TASK_UNIQUE:
    case TASK_EXP:
    case TASK_CONVOLUTION:
    case TASK_WORDS:
    case TASK_RUN_LENGTHS:
    case TASK_BFS: break; // nothing by hand
    case TASK_FMA: plan_fma((uint64_t)p->size, GPU_BLOCK, 8); break;
    }
}
