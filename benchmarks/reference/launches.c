// The side of the hand-written kernels: which of them are launched for a task, how often and how wide, on any device that the
// runtime knows. What sizes a kernel is right for is said in its file.
#include "../harness/bench.h"
#include "../harness/definitions.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fcl.h"

const char *const side_name = "measure";

enum { MOST_STEPS = 16, MOST_ARGS = 10 };

// One launch, or where there is no kernel, one array to be set to zeros.
struct step {
    struct fcl_kernel *kernel;
    uint64_t blocks;
    uint32_t threads;
    struct fcl_arg args[MOST_ARGS];
    size_t count;
    struct fcl_buffer *zeroed;
};

static struct {
    const struct problem *problem;
    const struct options *options;
    struct fcl_context *context;
    struct fcl_program *program;
    struct fcl_buffer *in[MOST_INPUTS], *out[MOST_RESULTS];
    struct step steps[MOST_STEPS];
    size_t step_count;
    // What the host reads after the last launch, and adds up: a sum's parts, or numbers of results.
    struct fcl_buffer *read;
    size_t read_count;
    int32_t *words;
} side;

static void must(enum fcl_status status) {
    if (status != FCL_OK)
        die(STATUS_DEVICE, "%s: %s", fcl_status_text(status), fcl_error(side.context));
}

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file)
        die(STATUS_USAGE, "%s: %s", path, strerror(errno));
    size_t capacity = 1 << 16, length = 0;
    char *text = allocate(capacity);
    for (size_t got; (got = fread(text + length, 1, capacity - length - 1, file)) > 0; length += got) {
        if (length + got == capacity - 1)
            die(STATUS_USAGE, "%s: too long", path);
    }
    fclose(file);
    text[length] = '\0';
    return text;
}

// ---------------------------------------------------------------- the parts of a plan

static uint64_t divide_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

// A few groups for each core or multiprocessor.
static uint64_t per_unit(uint64_t groups) { return fcl_device(side.context)->compute_units * groups; }

static struct fcl_buffer *new_ints(uint64_t count) {
    struct fcl_buffer *buffer;
    must(fcl_buffer_array(side.context, count, sizeof(int32_t), &buffer));
    return buffer;
}

static struct step *add_step(void) {
    if (side.step_count == MOST_STEPS)
        die(STATUS_USAGE, "too many launches");
    return &side.steps[side.step_count++];
}

static void add_zeros(struct fcl_buffer *buffer) { add_step()->zeroed = buffer; }

static struct step *add_step_of(const char *kernel, uint64_t blocks, uint32_t threads) {
    struct step *step = add_step();
    must(fcl_get_kernel(side.program, kernel, &step->kernel));
    step->blocks = blocks;
    step->threads = threads;
    return step;
}

// A launch; the first of a task may be told by options to be another kernel or of another size.
static struct step *add_launch(const char *kernel, uint64_t blocks, uint32_t threads) {
    const struct options *o = side.options;
    for (size_t s = 0; s < side.step_count; s++)
        if (side.steps[s].kernel)
            return add_step_of(kernel, blocks, threads);
    return add_step_of(o->kernel ? o->kernel : kernel, o->blocks ? (uint64_t)o->blocks : blocks,
                       o->threads ? (uint32_t)o->threads : threads);
}

// Arguments: b a buffer, i an int, f a float (as a double).
static struct step *with(struct step *step, const char *kinds, ...) {
    va_list arguments;
    va_start(arguments, kinds);
    for (; *kinds; kinds++) {
        struct fcl_arg *arg = &step->args[step->count++];
        if (*kinds == 'b') {
            *arg = fcl_arg_buffer(va_arg(arguments, struct fcl_buffer *));
        } else if (*kinds == 'i') {
            int32_t value = va_arg(arguments, int32_t);
            *arg = fcl_arg_scalar(&value, sizeof value);
        } else {
            float value = (float)va_arg(arguments, double);
            *arg = fcl_arg_scalar(&value, sizeof value);
        }
    }
    va_end(arguments);
    return step;
}

static void read_after(struct fcl_buffer *buffer, size_t count) {
    side.read = buffer;
    side.read_count = count;
    side.words = allocate(count * sizeof *side.words);
}

// ---------------------------------------------------------------- plans

enum { CPU_GROUP = 1024, GPU_BLOCK = 256 };

// Tasks in which each element is computed by itself.
static struct step *add_elements(const char *kernel, int32_t n) {
    switch (fcl_device(side.context)->backend) {
    case FCL_BACKEND_CUDA: return add_launch(kernel, divide_up((uint64_t)n, 4 * GPU_BLOCK), GPU_BLOCK);
    case FCL_BACKEND_OPENCL: return add_launch(kernel, divide_up((uint64_t)n, CPU_GROUP), CPU_GROUP);
    case FCL_BACKEND_C:
    case FCL_BACKENDS: break;
    }
    return add_launch(kernel, per_unit(8), 1);
}

static void plan_transpose(int32_t n) {
    bool is_cuda = fcl_device(side.context)->backend == FCL_BACKEND_CUDA;
    uint64_t tile = is_cuda ? 32 : 64;
    uint64_t tiles = divide_up((uint64_t)side.problem->rows, tile) * divide_up((uint64_t)side.problem->columns, tile);
    with(add_launch("transpose", tiles, is_cuda ? GPU_BLOCK : 1), "bbii", side.in[0], side.out[0], n,
         side.problem->columns);
}

// Partial sums, one for each block or group, which the host adds up.
static void plan_reduce(int32_t n) {
    struct step *step =
        add_launch("reduce", per_unit(8), fcl_device(side.context)->backend == FCL_BACKEND_CUDA ? GPU_BLOCK : 1);
    with(step, "bbi", side.in[0], side.out[0], n);
    read_after(side.out[0], step->blocks);
}

static void plan_rows(void) {
    int32_t rows = side.problem->rows, columns = side.problem->columns, pieces = (int32_t)per_unit(8);
    if (columns < 64) {
        with(add_launch("rowsShort", divide_up((uint64_t)rows, CPU_GROUP), CPU_GROUP), "bbii", side.in[0], side.out[0],
             rows, columns);
    } else if (rows >= pieces) {
        with(add_launch("rows", (uint64_t)pieces, 1), "bbii", side.in[0], side.out[0], rows, columns);
    } else {
        struct fcl_buffer *sums = new_ints((uint64_t)rows * (uint64_t)pieces);
        with(add_launch("rowsPieces", (uint64_t)rows * (uint64_t)pieces, 1), "bbiii", side.in[0], sums, rows, columns,
             pieces);
        with(add_launch("rowsJoin", 1, 1), "bbiii", sums, side.out[0], rows, columns, pieces);
    }
}

// Scans in one pass, by tiles that wait for those before them.
static void plan_scan(const char *kernel, int32_t n, bool has_flags) {
    // Larger tiles would not stay in the second-level cache; fewer tiles would leave cores without work.
    int32_t size = 65536;
    while (size > 1024 && (uint64_t)n / (uint64_t)size < per_unit(8))
        size /= 2;
    uint64_t tiles = divide_up((uint64_t)n, (uint64_t)size);
    struct fcl_buffer *state = new_ints(1 + 3 * tiles);
    add_zeros(state);
    struct step *step = add_launch(kernel, tiles, 1);
    with(step, "b", side.in[0]);
    if (has_flags)
        with(step, "b", side.in[1]);
    with(step, "bibi", side.out[0], n, state, size);
}

static void plan_filter(int32_t n) {
    uint64_t groups = side.options->blocks ? (uint64_t)side.options->blocks : per_unit(8);
    struct fcl_buffer *counts = new_ints(groups);
    with(add_launch("filter", groups, 1), "bbi", side.in[0], counts, n);
    with(add_launch("filterPlace", groups, 1), "bbib", side.in[0], side.out[0], n, counts);
    read_after(counts, groups);
}

static void plan_sort(int32_t n) {
    enum { DIGITS = 256 };
    bool is_float = side.problem->task->id == TASK_SORT_FLOAT, has_values = side.problem->task->id == TASK_SORT_PAIRS;
    uint64_t groups = side.options->blocks ? (uint64_t)side.options->blocks : per_unit(8);
    // Another kernel is another way to place the keys.
    const char *place = has_values ? "placePairs" : side.options->kernel ? side.options->kernel : "place";
    struct fcl_buffer *counts = new_ints(DIGITS * groups), *keys = new_ints((uint64_t)n);
    struct fcl_buffer *values = has_values ? new_ints((uint64_t)n) : NULL;
    struct fcl_buffer *from = side.in[0], *from_values = side.in[1];
    for (int32_t pass = 0; pass < 4; pass++) {
        bool back = pass % 2 == 1;
        struct fcl_buffer *to = back ? side.out[0] : keys, *to_values = back ? side.out[1] : values;
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

static void plan_histogram(int32_t n, int32_t buckets) {
    if (buckets <= 256) {
        add_zeros(side.out[0]);
        with(add_launch("histogram", per_unit(8), 1), "bbii", side.in[0], side.out[0], n, buckets);
        return;
    }
    uint64_t groups = side.options->blocks ? (uint64_t)side.options->blocks : per_unit(1);
    struct fcl_buffer *scratch = new_ints(groups * 4 * (uint64_t)buckets);
    with(add_launch("histogramMany", groups, 1), "bbii", side.in[0], scratch, n, buckets);
    with(add_launch("histogramJoin", divide_up((uint64_t)buckets, CPU_GROUP), CPU_GROUP), "bbii", scratch, side.out[0],
         buckets, (int32_t)groups * 4);
}

static void plan_by_index(int32_t n, int32_t buckets) {
    int32_t copies = 4;
    uint64_t groups = side.options->blocks ? (uint64_t)side.options->blocks : per_unit(2);
    struct fcl_buffer *scratch = new_ints(groups * (uint64_t)copies * (uint64_t)buckets);
    with(add_launch("byIndex", groups, 1), "bbbiii", side.in[0], side.in[1], scratch, n, buckets, copies);
    with(add_launch("byIndexJoin", divide_up((uint64_t)buckets, CPU_GROUP), CPU_GROUP), "bbii", scratch, side.out[0],
         buckets, (int32_t)groups * copies);
}

static void plan_sgemm(int32_t n) {
    enum { HIGH = 128, WIDE = 32 };
    with(add_launch("sgemm", (uint64_t)(n / HIGH) * (uint64_t)(n / WIDE), 1), "bbbi", side.in[0], side.in[1],
         side.out[0], n);
}

static void plan_fma(int64_t multiply_adds) {
    bool is_cuda = fcl_device(side.context)->backend == FCL_BACKEND_CUDA;
    uint64_t blocks = per_unit(8), threads = is_cuda ? GPU_BLOCK : 1, each = is_cuda ? 8 : 192;
    struct step *step = add_launch("multiplyAdd", blocks, (uint32_t)threads);
    with(step, "bi", new_ints(blocks * threads), (int32_t)((uint64_t)multiply_adds / (blocks * threads * each)));
}

static void plan(void) {
    const struct problem *p = side.problem;
    struct fcl_buffer **in = side.in, **out = side.out;
    int32_t n = (int32_t)p->size;
    switch (p->task->id) {
    case TASK_COPY: with(add_elements("copy", n), "bbi", in[0], out[0], n); break;
    case TASK_SAXPY: with(add_elements("saxpy", n), "bbbfi", in[0], in[1], out[0], (double)SAXPY_FACTOR, n); break;
    case TASK_REVERSE: with(add_elements("reverse", n), "bbi", in[0], out[0], n); break;
    case TASK_TRANSPOSE: plan_transpose(n); break;
    case TASK_REDUCE: plan_reduce(n); break;
    case TASK_ROWS: plan_rows(); break;
    case TASK_SCAN: plan_scan("scan", n, false); break;
    case TASK_SEG_SCAN: plan_scan("segScan", n, true); break;
    case TASK_FILTER: plan_filter(n); break;
    case TASK_SORT:
    case TASK_SORT_FLOAT:
    case TASK_SORT_PAIRS: plan_sort(n); break;
    case TASK_HISTOGRAM: plan_histogram(n, p->buckets); break;
    case TASK_BY_INDEX: plan_by_index(n, p->buckets); break;
    case TASK_MATVEC:
        with(add_launch("matVec", per_unit(8), 1), "bbbii", in[0], in[1], out[0], p->rows, p->columns);
        break;
    case TASK_SGEMM: plan_sgemm(p->columns); break;
    case TASK_SOBEL: with(add_launch("sobel", per_unit(8), 1), "bbii", in[0], out[0], p->rows, p->columns); break;
    case TASK_CSR:
        with(add_launch("csr", per_unit(32), 1), "bbbbbi", in[0], in[1], in[2], in[3], out[0], p->rows);
        break;
    case TASK_MANDELBROT:
        with(add_launch("mandelbrot", (uint64_t)p->rows, 1), "biiffff", out[0], p->rows, p->columns,
             (double)PICTURE_LEFT, (double)PICTURE_RIGHT, (double)PICTURE_BOTTOM, (double)PICTURE_TOP);
        break;
    case TASK_BLACK_SCHOLES:
        with(add_launch("blackScholes", per_unit(8), 1), "ffbbbbbi", (double)INTEREST, (double)VOLATILITY, in[0], in[1],
             in[2], out[0], out[1], n);
        break;
    case TASK_FMA: plan_fma(p->size); break;
    }
}

// ---------------------------------------------------------------- the side

// Whether a kept kernel is meant for the device: what is written for CPUs with OpenCL runs on GPUs, but is no rival there
// unless each work-item has an element of its own.
static bool is_for_device(enum task_id id) {
    return fcl_device(side.context)->kind != FCL_DEVICE_OPENCL_GPU || id == TASK_COPY || id == TASK_SAXPY ||
           id == TASK_REVERSE;
}

int side_begin(struct problem *problem, const struct options *o) {
    static const char *const endings[FCL_BACKENDS] = {"cu", "cl", "c"};
    side.problem = problem;
    side.options = o;
    struct fcl_options device = FCL_OPTIONS_DEFAULT;
    device.profile = true;
    if (o->device && fcl_parse_device(o->device, &device.kind, &device.index) != FCL_OK)
        die(STATUS_USAGE, "no kind of device `%s`", o->device);
    char error[4096], path[4096];
    if (fcl_open(&side.context, &device, error, sizeof error) != FCL_OK)
        die(STATUS_DEVICE, "%s", error);

    snprintf(path, sizeof path, "%s/%s.%s", o->references, problem->task->reference,
             endings[fcl_device(side.context)->backend]);
    FILE *there = fopen(path, "rb");
    if (there)
        fclose(there);
    if (!o->file && (!there || !is_for_device(problem->task->id)))
        return STATUS_NO_TASK;
    char *source = read_text(o->file ? o->file : path);
    must(fcl_build(side.context, source, NULL, &side.program));
    free(source);

    for (size_t i = 0; i < problem->inputs; i++) {
        uint64_t bytes = array_bytes(&problem->in[i]);
        must(fcl_buffer_new(side.context, bytes, &side.in[i]));
        must(fcl_write(side.in[i], 0, problem->in[i].at, bytes));
    }
    for (size_t i = 0; i < problem->results; i++) {
        uint64_t bytes = problem_most(problem, i) * element_bytes(problem->out[i].element);
        must(fcl_buffer_new(side.context, bytes, &side.out[i]));
        must(fcl_fill(side.out[i], 0, bytes, problem->task->id == TASK_REDUCE ? 0 : 0xee));
    }
    plan();
    must(fcl_finish(side.context));
    return 0;
}

void side_run(void) {
    fcl_clear_timings(side.context);
    for (size_t s = 0; s < side.step_count; s++) {
        const struct step *step = &side.steps[s];
        if (step->zeroed)
            must(fcl_fill(step->zeroed, 0, fcl_buffer_bytes(step->zeroed), 0));
        else
            must(fcl_launch(step->kernel, step->blocks, step->threads, 0, step->args, step->count));
    }
    if (!side.read) {
        must(fcl_finish(side.context));
        return;
    }
    must(fcl_read(side.read, 0, side.words, side.read_count * sizeof *side.words));
    uint32_t sum = 0;
    for (size_t i = 0; i < side.read_count; i++)
        sum += (uint32_t)side.words[i];
    side.words[0] = (int32_t)sum;
}

size_t side_launches(double seconds[MOST_LAUNCHES], const char *names[MOST_LAUNCHES]) {
    const struct fcl_timing *timings;
    size_t count;
    must(fcl_timings(side.context, &timings, &count));
    for (size_t i = 0; i < count; i++) {
        seconds[i] = timings[i].seconds;
        names[i] = timings[i].kernel;
    }
    return count;
}

void side_results(struct array *results) {
    if (side.problem->task->id == TASK_REDUCE) { // the sum is the host's
        results[0].count = 1;
        memcpy(results[0].at, side.words, sizeof(int32_t));
        return;
    }
    for (size_t i = 0; i < side.problem->results; i++) {
        if (side.problem->task->id == TASK_FILTER)
            results[i].count = (size_t)side.words[0];
        must(fcl_read(side.out[i], 0, results[i].at, array_bytes(&results[i])));
    }
}

const char *side_device(void) { return fcl_device(side.context)->name; }
const char *side_driver(void) { return fcl_device(side.context)->driver; }
const char *side_target(void) { return fcl_device_kind_name(fcl_device(side.context)->kind); }
void side_end(void) { fcl_close(side.context); }
