// The launches of each task on CPUs: by OpenCL, and for a few tasks as C.
#include "plans.h"

// Tasks in which each element is computed by itself.
static struct step *add_elements(const char *kernel, int32_t n, bool is_opencl) {
    if (is_opencl)
        return add_launch(kernel, divide_up((uint64_t)n, CPU_GROUP), CPU_GROUP);
    return add_launch(kernel, per_unit(8), 1);
}

static void plan_transpose(const struct task_side *task, int32_t n) {
    const struct problem *p = task->problem;
    uint64_t tile = 64, tiles = divide_up((uint64_t)p->rows, tile) * divide_up((uint64_t)p->columns, tile);
    with(add_launch("transpose", tiles, 1), "bbii", task->in[0], task->out[0], n, p->columns);
}

// Partial sums, one for each group, which the host adds up.
static void plan_reduce(const struct task_side *task, int32_t n) {
    struct step *step = add_launch("reduce", per_unit(8), 1);
    struct fcl_buffer *sums = new_ints(step_blocks(step));
    with(step, "bbi", task->in[0], sums, n);
    read_after(sums, step_blocks(step));
}

static void plan_rows(const struct task_side *task) {
    int32_t rows = task->problem->rows, columns = task->problem->columns, pieces = (int32_t)per_unit(8);
    if (columns < 64) {
        with(add_launch("rowsShort", divide_up((uint64_t)rows, CPU_GROUP), CPU_GROUP), "bbii", task->in[0],
             task->out[0], rows, columns);
    } else if (rows >= pieces) {
        with(add_launch("rows", (uint64_t)pieces, 1), "bbii", task->in[0], task->out[0], rows, columns);
    } else {
        struct fcl_buffer *sums = new_ints((uint64_t)rows * (uint64_t)pieces);
        with(add_launch("rowsPieces", (uint64_t)rows * (uint64_t)pieces, 1), "bbiii", task->in[0], sums, rows, columns,
             pieces);
        with(add_launch("rowsJoin", 1, 1), "bbiii", sums, task->out[0], rows, columns, pieces);
    }
}

// Scans in one pass, by tiles that wait for those before them.
static void plan_scan(const struct task_side *task, const char *kernel, int32_t n, bool has_flags) {
    // Larger tiles would not stay in the second-level cache; fewer tiles would leave cores without work.
    int32_t size = 65536;
    while (size > 1024 && (uint64_t)n / (uint64_t)size < per_unit(8))
        size /= 2;
    uint64_t tiles = divide_up((uint64_t)n, (uint64_t)size);
    struct fcl_buffer *state = new_ints(1 + 3 * tiles);
    add_zeros(state);
    struct step *step = add_launch(kernel, tiles, 1);
    with(step, "b", task->in[0]);
    if (has_flags)
        with(step, "b", task->in[1]);
    with(step, "bibi", task->out[0], n, state, size);
}

static void plan_filter(const struct task_side *task, int32_t n) {
    uint64_t groups = task->options->blocks ? (uint64_t)task->options->blocks : per_unit(8);
    struct fcl_buffer *counts = new_ints(groups);
    with(add_launch("filter", groups, 1), "bbi", task->in[0], counts, n);
    with(add_launch("filterPlace", groups, 1), "bbib", task->in[0], task->out[0], n, counts);
    read_after(counts, groups);
}

static void plan_sort(const struct task_side *task, int32_t n) {
    enum { DIGITS = 256 };
    bool is_float = task->problem->task->id == TASK_SORT_FLOAT, has_values = task->problem->task->id == TASK_SORT_PAIRS;
    uint64_t groups = task->options->blocks ? (uint64_t)task->options->blocks : per_unit(8);
    // Another kernel is another way to place the keys.
    const char *place = has_values ? "placePairs" : task->options->kernel ? task->options->kernel : "place";
    struct fcl_buffer *counts = new_ints(DIGITS * groups), *keys = new_ints((uint64_t)n);
    struct fcl_buffer *values = has_values ? new_ints((uint64_t)n) : NULL;
    struct fcl_buffer *from = task->in[0], *from_values = task->in[1];
    for (int32_t pass = 0; pass < 4; pass++) {
        bool back = pass % 2 == 1;
        struct fcl_buffer *to = back ? task->out[0] : keys, *to_values = back ? task->out[1] : values;
        with(add_step_of("count", groups, 1), "bbiii", from, counts, n, 8 * pass, is_float && pass == 0);
        struct step *step = with(add_step_of(place, groups, 1), "bbbii", from, to, counts, n, 8 * pass);
        if (has_values)
            with(step, "bb", from_values, to_values);
        else
            with(step, "ii", is_float && pass == 0, is_float && pass == 3);
        from = to;
        from_values = to_values;
    }
}

static void plan_histogram(const struct task_side *task, int32_t n, int32_t buckets) {
    if (buckets <= 256) {
        add_zeros(task->out[0]);
        with(add_launch("histogram", per_unit(8), 1), "bbii", task->in[0], task->out[0], n, buckets);
        return;
    }
    uint64_t groups = task->options->blocks ? (uint64_t)task->options->blocks : per_unit(1);
    struct fcl_buffer *scratch = new_ints(groups * 4 * (uint64_t)buckets);
    with(add_launch("histogramMany", groups, 1), "bbii", task->in[0], scratch, n, buckets);
    with(add_launch("histogramJoin", divide_up((uint64_t)buckets, CPU_GROUP), CPU_GROUP), "bbii", scratch, task->out[0],
         buckets, (int32_t)groups * 4);
}

static void plan_by_index(const struct task_side *task, int32_t n, int32_t buckets) {
    int32_t copies = 4;
    uint64_t groups = task->options->blocks ? (uint64_t)task->options->blocks : per_unit(2);
    struct fcl_buffer *scratch = new_ints(groups * (uint64_t)copies * (uint64_t)buckets);
    with(add_launch("byIndex", groups, 1), "bbbiii", task->in[0], task->in[1], scratch, n, buckets, copies);
    with(add_launch("byIndexJoin", divide_up((uint64_t)buckets, CPU_GROUP), CPU_GROUP), "bbii", scratch, task->out[0],
         buckets, (int32_t)groups * copies);
}

static void plan_sgemm(const struct task_side *task, int32_t n) {
    enum { HIGH = 128, WIDE = 32 };
    with(add_launch("sgemm", (uint64_t)(n / HIGH) * (uint64_t)(n / WIDE), 1), "bbbi", task->in[0], task->in[1],
         task->out[0], n);
}

void plan_for_cpus(const struct task_side *task, bool is_opencl) {
    const struct problem *p = task->problem;
    struct fcl_buffer *const *in = task->in, *const *out = task->out;
    int32_t n = (int32_t)p->size;
    struct window w = windows[p->task->id == TASK_MANDELBROT ? p->task->variant : 0];
    switch (p->task->id) {
    case TASK_COPY: with(add_elements("copy", n, is_opencl), "bbi", in[0], out[0], n); break;
    case TASK_SAXPY:
        with(add_elements("saxpy", n, is_opencl), "bbbfi", in[0], in[1], out[0], (double)SAXPY_FACTOR, n);
        break;
    case TASK_REVERSE: with(add_elements("reverse", n, is_opencl), "bbi", in[0], out[0], n); break;
    case TASK_TRANSPOSE: plan_transpose(task, n); break;
    case TASK_REDUCE: plan_reduce(task, n); break;
    case TASK_ROWS: plan_rows(task); break;
    case TASK_SCAN: plan_scan(task, "scan", n, false); break;
    case TASK_SEG_SCAN: plan_scan(task, "segScan", n, true); break;
    case TASK_FILTER: plan_filter(task, n); break;
    case TASK_SORT:
    case TASK_SORT_FLOAT:
    case TASK_SORT_PAIRS: plan_sort(task, n); break;
    case TASK_HISTOGRAM: plan_histogram(task, n, p->buckets); break;
    case TASK_BY_INDEX: plan_by_index(task, n, p->buckets); break;
    case TASK_MATVEC:
        with(add_launch("matVec", per_unit(8), 1), "bbbii", in[0], in[1], out[0], p->rows, p->columns);
        break;
    case TASK_SGEMM: plan_sgemm(task, p->columns); break;
    case TASK_SOBEL: with(add_launch("sobel", per_unit(8), 1), "bbii", in[0], out[0], p->rows, p->columns); break;
    case TASK_BLUR:
        for (int plane = 0; plane < 3; plane++)
            with(add_launch("blur", per_unit(8), 1), "bbiii", in[plane], out[plane], p->rows, p->columns,
                 p->task->variant);
        break;
    case TASK_CSR:
        with(add_launch("csr", per_unit(32), 1), "bbbbbi", in[0], in[1], in[2], in[3], out[0], p->rows);
        break;
    case TASK_MANDELBROT:
        with(add_launch("mandelbrot", (uint64_t)p->rows, 1), "biiffff", out[0], p->rows, p->columns, (double)w.left,
             (double)w.right, (double)w.bottom, (double)w.top);
        break;
    case TASK_BLACK_SCHOLES:
        with(add_launch("blackScholes", per_unit(8), 1), "ffbbbbbi", (double)INTEREST, (double)VOLATILITY, in[0], in[1],
             in[2], out[0], out[1], n);
        break;
    case TASK_UNIQUE:
    case TASK_EXP:
    case TASK_CONVOLUTION:
    case TASK_WORDS:
    case TASK_RUN_LENGTHS:
    case TASK_BFS: break; // nothing by hand
    case TASK_FMA: plan_fma((uint64_t)p->size, 1, 192); break;
    }
}
