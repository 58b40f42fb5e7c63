// The tasks: how their inputs are made, and how results are compared with the right ones.
#include "bench.h"
#include "definitions.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---------------------------------------------------------------- inputs

// Random words, by number: splitmix64's step and mixing.
static uint64_t random_word(uint64_t i, uint64_t stream) {
    uint64_t x = (i + (stream << 40) + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static float random_unit(uint64_t i, uint64_t stream) { return (float)(random_word(i, stream) >> 40) * 0x1p-24f; }

// The next input, of that many elements: its place in memory. The name says what is in it, with two numbers.
static void *input(struct problem *p, enum element element, size_t count, const char *name, int64_t a, int64_t b) {
    struct array *array = &p->in[p->inputs++];
    *array = (struct array){element, count, 0, allocate(count * element_bytes(element)), ""};
    snprintf(array->name, sizeof array->name, "%s-%" PRId64 "-%" PRId64, name, a, b);
    return array->at;
}

static void random_doubles(struct problem *p, size_t count) {
    uint64_t stream = p->inputs;
    double *at = input(p, ELEMENT_DOUBLE, count, "doubles", (int64_t)stream, 1);
    for (size_t i = 0; i < count; i++)
        at[i] = (double)random_unit(i, stream);
}

static void result(struct problem *p, enum element element, size_t count) {
    p->out[p->results++] = (struct array){element, count, 0, NULL, ""};
}

static void random_floats(struct problem *p, size_t count, float low, float high) {
    uint64_t stream = p->inputs;
    // Hundredths, and which input it is, so that two of the same range differ.
    float *at = input(p, ELEMENT_FLOAT, count, (const char *[]){"floats0", "floats1", "floats2", "floats3"}[stream],
                      (int64_t)(low * 100), (int64_t)(high * 100));
    for (size_t i = 0; i < count; i++)
        at[i] = low + (high - low) * random_unit(i, stream);
}

// A side of a matrix: the power of two next to the square root.
static int32_t square_side(int64_t size) {
    int32_t side = 1;
    while (side < size / side)
        side *= 2;
    return side;
}

static void shape(struct problem *p) {
    if (p->columns == 0)
        p->columns = square_side(p->size);
    if (p->size % p->columns != 0)
        die(STATUS_USAGE, "%" PRId64 " elements are no matrix of %" PRId32 " columns", p->size, p->columns);
    p->rows = (int32_t)(p->size / p->columns);
}

// 0, 1, 2, …, n − 1, as examples/demo gives it to the programs that this checks.
static void inputs_iota(struct problem *p) {
    size_t n = (size_t)p->size;
    int32_t *in = input(p, ELEMENT_INT, n, "iota", 0, 1);
    for (size_t i = 0; i < n; i++)
        in[i] = (int32_t)i;
    result(p, ELEMENT_INT, p->task->id == TASK_REDUCE ? 1 : n);
    if (p->task->id == TASK_TRANSPOSE)
        shape(p);
}

static void inputs_saxpy(struct problem *p) {
    random_floats(p, (size_t)p->size, 0, 1);
    random_floats(p, (size_t)p->size, 0, 1);
    result(p, ELEMENT_FLOAT, (size_t)p->size);
}

static void random_words(struct problem *p, enum element element, size_t n) {
    uint64_t stream = p->inputs;
    int32_t *in = input(p, element, n, element == ELEMENT_INT ? "ints" : "uints", (int64_t)stream, 0);
    for (size_t i = 0; i < n; i++)
        in[i] = (int32_t)(uint32_t)random_word(i, stream);
}

// One row, one column, or as many as there are columns.
static void inputs_rows(struct problem *p) {
    p->columns = p->task->variant > 0 ? 1 : p->task->variant < 0 ? (int32_t)p->size : p->columns;
    shape(p);
    random_words(p, ELEMENT_INT, (size_t)p->size);
    p->in[0].columns = (size_t)p->columns;
    result(p, ELEMENT_INT, (size_t)p->rows);
}

static void inputs_ints(struct problem *p) {
    random_words(p, ELEMENT_INT, (size_t)p->size);
    result(p, ELEMENT_INT, (size_t)p->size);
}

// Segments of 64 elements on average.
static void inputs_segments(struct problem *p) {
    size_t n = (size_t)p->size;
    unsigned char *begins = input(p, ELEMENT_BOOL, n, "begins", 1, 64);
    for (size_t i = 0; i < n; i++)
        begins[i] = random_word(i, 0) % 64 == 0;
    random_words(p, ELEMENT_INT, n);
    result(p, ELEMENT_INT, n);
}

static void inputs_keys(struct problem *p) {
    size_t n = (size_t)p->size;
    if (p->task->id == TASK_SORT_FLOAT) {
        random_floats(p, n, -1000, 1000);
    } else {
        random_words(p, ELEMENT_UINT, n);
    }
    result(p, p->in[0].element, n);
    if (p->task->id == TASK_SORT_PAIRS) {
        random_words(p, ELEMENT_INT, n);
        result(p, ELEMENT_INT, n);
    }
}

// Indices of buckets, as the task says that they are distributed, and values.
static void inputs_buckets(struct problem *p) {
    size_t n = (size_t)p->size;
    int32_t buckets = p->buckets = p->task->variant, sigma = p->task->sigma;
    int32_t *in = input(p, ELEMENT_INT, n, "buckets", buckets, sigma);
    for (size_t i = 0; i < n; i++) {
        if (sigma == 0)
            in[i] = (int32_t)(random_word(i, 0) % (uint64_t)buckets);
        else if (sigma < 0)
            in[i] = buckets / 2;
        else {
            // Box and Muller's; what lies outside is drawn again.
            for (uint64_t stream = 0;; stream += 2) {
                double radius = sqrt(-2 * log(1 - (double)random_unit(i, stream)));
                double x = buckets / 2.0 + sigma * radius * cos(6.283185307179586 * (double)random_unit(i, stream + 1));
                in[i] = (int32_t)x;
                if (x >= 0 && x < buckets)
                    break;
            }
        }
    }
    if (p->task->id == TASK_BY_INDEX)
        random_words(p, ELEMENT_INT, n);
    result(p, ELEMENT_INT, p->task->id == TASK_SORT ? n : (size_t)buckets);
}

static void inputs_matvec(struct problem *p) {
    shape(p);
    random_floats(p, (size_t)p->size, 0, 1);
    random_floats(p, (size_t)p->columns, 0, 1);
    result(p, ELEMENT_FLOAT, (size_t)p->rows);
    p->operations = 2.0 * (double)p->size;
}

static void inputs_sgemm(struct problem *p) {
    p->columns = p->rows = (int32_t)lround(sqrt((double)p->size));
    if ((int64_t)p->rows * p->columns != p->size || p->rows % 64 != 0)
        die(STATUS_USAGE, "%" PRId64 " elements are no square whose sides are multiples of 64", p->size);
    random_floats(p, (size_t)p->size, 0, 1);
    random_floats(p, (size_t)p->size, 0, 1);
    result(p, ELEMENT_FLOAT, (size_t)p->size);
    p->operations = 2.0 * (double)p->size * p->columns;
}

static void inputs_sobel(struct problem *p) {
    shape(p);
    random_floats(p, (size_t)p->size, 0, 1);
    result(p, ELEMENT_FLOAT, (size_t)p->size);
    p->operations = 16.0 * (double)p->size;
}

// Red, green and blue.
static void inputs_blur(struct problem *p) {
    shape(p);
    for (int plane = 0; plane < 3; plane++)
        random_doubles(p, (size_t)p->size);
    for (int plane = 0; plane < 3; plane++)
        result(p, ELEMENT_DOUBLE, (size_t)p->size);
    p->operations = 3 * 2.0 * (double)p->size * p->task->variant * p->task->variant;
}

// Rows of 0 to 32 elements, 16 on average, in columns at random.
static void inputs_csr(struct problem *p) {
    size_t rows = (size_t)p->size < 16 ? 1 : (size_t)p->size / 16;
    int32_t *starts = input(p, ELEMENT_INT, rows + 1, "starts", 0, 32);
    starts[0] = 0;
    for (size_t r = 0; r < rows; r++)
        starts[r + 1] = starts[r] + (int32_t)(random_word(r, 0) % 33);
    size_t n = (size_t)starts[rows];
    int32_t *columns = input(p, ELEMENT_INT, n, "columns", 0, (int64_t)rows);
    for (size_t k = 0; k < n; k++)
        columns[k] = (int32_t)(random_word(k, 1) % rows);
    random_floats(p, n, 0, 1);
    random_floats(p, rows, 0, 1);
    result(p, ELEMENT_FLOAT, rows);
    p->rows = p->columns = (int32_t)rows;
    p->operations = 2.0 * (double)n;
}

static void inputs_picture(struct problem *p) {
    shape(p);
    result(p, ELEMENT_BYTE, (size_t)p->size);
}

static void inputs_options(struct problem *p) {
    size_t n = (size_t)p->size;
    random_floats(p, n, 5, 30);
    random_floats(p, n, 1, 100);
    random_floats(p, n, 0.25f, 10);
    result(p, ELEMENT_FLOAT, n);
    result(p, ELEMENT_FLOAT, n);
    p->operations = 54.0 * (double)n; // of which each exp, log, root and quotient is one
}

static void inputs_exp(struct problem *p) {
    random_floats(p, (size_t)p->size, -10, 10);
    result(p, ELEMENT_FLOAT, (size_t)p->size);
}

static void inputs_convolution(struct problem *p) {
    size_t taps = (size_t)p->task->variant, n = (size_t)p->size;
    random_floats(p, taps, -1, 1);
    random_floats(p, n, -1, 1);
    result(p, ELEMENT_FLOAT, n < taps ? 0 : n - taps + 1);
    p->operations = 2.0 * (double)n * (double)taps;
}

// Letters, with a blank or the end of a line after every sixth or so.
static void inputs_text(struct problem *p) {
    size_t n = (size_t)p->size;
    unsigned char *in = input(p, ELEMENT_BYTE, n, "text", 6, 1);
    for (size_t i = 0; i < n; i++) {
        uint64_t word = random_word(i, 0);
        in[i] = word % 6 ? (unsigned char)('a' + word / 6 % 26) : word % 60 ? ' ' : '\n';
    }
    result(p, ELEMENT_INT, 1);
}

// Runs of equal numbers, four long on average.
static void inputs_runs(struct problem *p) {
    size_t n = (size_t)p->size;
    int32_t *in = input(p, ELEMENT_INT, n, "runs", 4, 1);
    for (size_t i = 0; i < n; i++)
        in[i] = i > 0 && random_word(i, 0) % 4 ? in[i - 1] : (int32_t)(random_word(i, 1) % 1000);
    result(p, ELEMENT_INT, n);
    result(p, ELEMENT_INT, n);
}

// A graph of 0 to 12 edges a node, to nodes at random.
static void inputs_graph(struct problem *p) {
    size_t nodes = (size_t)p->size, n = 0;
    int32_t *starts = input(p, ELEMENT_INT, nodes, "first", 0, 12);
    int32_t *degrees = input(p, ELEMENT_INT, nodes, "degrees", 0, 12);
    for (size_t i = 0; i < nodes; i++) {
        starts[i] = (int32_t)n;
        degrees[i] = (int32_t)(random_word(i, 0) % 13);
        n += (size_t)degrees[i];
    }
    int32_t *edges = input(p, ELEMENT_INT, n, "edges", 0, (int64_t)nodes);
    for (size_t k = 0; k < n; k++)
        edges[k] = (int32_t)(random_word(k, 1) % nodes);
    result(p, ELEMENT_INT, nodes);
}

static void inputs_none(struct problem *p) { p->operations = 2.0 * (double)p->size; }
static void define_none(struct problem *p) { (void)p; }

// ---------------------------------------------------------------- the table

#define OBSIDIAN_RED(name)                                                                                             \
    { "obsidianRed" name, TASK_REDUCE, "reduce", 1 << 24, 0, 0, inputs_iota, define_reduce, 0, 0 }
#define OBSIDIAN_SCAN(name)                                                                                            \
    { "obsidianScan" name, TASK_SCAN, "scan", 1 << 20, 0, 0, inputs_ints, define_scan, 0, 0 }
#define OBSIDIAN_SORT(name)                                                                                            \
    { "obsidianSort" name, TASK_SORT, "sort", 1 << 24, 0, 0, inputs_keys, define_sort, 0, 0 }
#define OBSIDIAN_PICTURE(name, window)                                                                                 \
    {                                                                                                                  \
        "obsidianMandelbrot" name, TASK_MANDELBROT, "mandelbrot", 512 * 512, window, 0, inputs_picture,                \
            define_mandelbrot, 0, 0.02f                                                                                \
    }
#define IN_RANGE(bits)                                                                                                 \
    {"sortT" #bits, TASK_SORT, "sort", 0, 1 << bits, 0, inputs_buckets, define_sort, 0, 0}, {                          \
        "uniqueT" #bits, TASK_UNIQUE, "none", 0, 1 << bits, 0, inputs_buckets, define_unique, 0, 0                     \
    }
#define UPDATES(buckets)                                                                                               \
    { "updates" #buckets, TASK_HISTOGRAM, "histogram", 0, buckets, 0, inputs_buckets, define_histogram, 0, 0 }
#define PRODUCT(side)                                                                                                  \
    { "sgemm" #side, TASK_SGEMM, "sgemm", side *side, 0, 0, inputs_sgemm, define_sgemm, 1e-4f, 0 }
#define SOBEL(side)                                                                                                    \
    { "sobel" #side, TASK_SOBEL, "sobel", side *side, 0, 0, inputs_sobel, define_sobel, 1e-5f, 0 }
#define BLUR(taps)                                                                                                     \
    { "blur" #taps, TASK_BLUR, "blur", 0, taps, 0, inputs_blur, define_blur, 1e-6f, 0 }
#define DATA_SET(name, buckets, sigma)                                                                                 \
    { name, TASK_BY_INDEX, "byIndex", 20000000, buckets, sigma, inputs_buckets, define_by_index, 0, 0 }

const struct task tasks[] = {
    {"copy", TASK_COPY, "copy", 0, 0, 0, inputs_iota, define_copy, 0, 0},
    {"saxpy", TASK_SAXPY, "saxpy", 0, 0, 0, inputs_saxpy, define_saxpy, 1e-6f, 0},
    {"reverse", TASK_REVERSE, "reverse", 0, 0, 0, inputs_iota, define_reverse, 0, 0},
    {"transpose", TASK_TRANSPOSE, "transpose", 0, 0, 0, inputs_iota, define_transpose, 0, 0},
    {"reduce", TASK_REDUCE, "reduce", 0, 0, 0, inputs_iota, define_reduce, 0, 0},
    {"rowsWide", TASK_ROWS, "rows", 0, -1, 0, inputs_rows, define_rows, 0, 0},
    {"rowsSquare", TASK_ROWS, "rows", 0, 0, 0, inputs_rows, define_rows, 0, 0},
    {"rowsTall", TASK_ROWS, "rows", 0, 1, 0, inputs_rows, define_rows, 0, 0},
    {"scan", TASK_SCAN, "scan", 0, 0, 0, inputs_ints, define_scan, 0, 0},
    {"segScan", TASK_SEG_SCAN, "segScan", 0, 0, 0, inputs_segments, define_seg_scan, 0, 0},
    {"filter", TASK_FILTER, "filter", 0, 0, 0, inputs_ints, define_filter, 0, 0},
    {"sort", TASK_SORT, "sort", 0, 0, 0, inputs_keys, define_sort, 0, 0},
    {"sortFloat", TASK_SORT_FLOAT, "sort", 0, 0, 0, inputs_keys, define_sort, 0, 0},
    {"sortPairs", TASK_SORT_PAIRS, "sort", 0, 0, 0, inputs_keys, define_sort, 0, 0},
    {"histogram256", TASK_HISTOGRAM, "histogram", 0, 256, 0, inputs_buckets, define_histogram, 0, 0},
    {"histogram256hot", TASK_HISTOGRAM, "histogram", 0, 256, -1, inputs_buckets, define_histogram, 0, 0},
    {"histogram65536", TASK_HISTOGRAM, "histogram", 0, 65536, 0, inputs_buckets, define_histogram, 0, 0},
    {"histogram65536hot", TASK_HISTOGRAM, "histogram", 0, 65536, -1, inputs_buckets, define_histogram, 0, 0},
    DATA_SET("D1", 16, 0),
    DATA_SET("D2", 256, 0),
    DATA_SET("D3", 4096, 0),
    DATA_SET("D4", 65536, 0),
    DATA_SET("D5", 2048, 64),
    DATA_SET("D6", 2048, 128),
    DATA_SET("D7", 2048, 256),
    DATA_SET("D8", 2048, 512),
    DATA_SET("D9", 16, -1),
    DATA_SET("D10", 256, -1),
    DATA_SET("D11", 4096, -1),
    DATA_SET("D12", 65536, -1),
    {"matVec", TASK_MATVEC, "matVec", 0, 0, 0, inputs_matvec, define_matvec, 1e-4f, 0},
    PRODUCT(256),
    PRODUCT(384),
    PRODUCT(512),
    PRODUCT(640),
    PRODUCT(768),
    PRODUCT(1024),
    {"product64", TASK_SGEMM, "sgemm", 64 * 64, 0, 0, inputs_sgemm, define_sgemm, 1e-4f, 0},
    {"exp", TASK_EXP, "none", 0, 0, 0, inputs_exp, define_exp, 1e-6f, 0},
    {"convolution", TASK_CONVOLUTION, "none", 0, 16, 0, inputs_convolution, define_convolution, 1e-5f, 0},
    {"words", TASK_WORDS, "none", 0, 0, 0, inputs_text, define_words, 0, 0},
    {"runLengths", TASK_RUN_LENGTHS, "none", 0, 0, 0, inputs_runs, define_run_lengths, 0, 0},
    {"bfs", TASK_BFS, "none", 1 << 20, 0, 0, inputs_graph, define_bfs, 0, 0},
    {"sobel", TASK_SOBEL, "sobel", 0, 0, 0, inputs_sobel, define_sobel, 1e-5f, 0},
    SOBEL(256),
    SOBEL(512),
    SOBEL(1024),
    SOBEL(2048),
    SOBEL(4096),
    BLUR(3),
    BLUR(5),
    BLUR(7),
    {"csr", TASK_CSR, "csr", 0, 0, 0, inputs_csr, define_csr, 1e-4f, 0},
    {"mandelbrot", TASK_MANDELBROT, "mandelbrot", 1024 * 1024, 0, 0, inputs_picture, define_mandelbrot, 0, 0.01f},
    {"blackScholes", TASK_BLACK_SCHOLES, "blackScholes", 0, 0, 0, inputs_options, define_black_scholes, 1e-4f, 0},
    /* The sizes of Obsidian's figures. */
    OBSIDIAN_RED("1"),
    OBSIDIAN_RED("2"),
    OBSIDIAN_RED("3"),
    OBSIDIAN_RED("4"),
    OBSIDIAN_RED("5"),
    OBSIDIAN_RED("6"),
    OBSIDIAN_RED("7"),
    OBSIDIAN_SCAN("BySklansky"),
    OBSIDIAN_SCAN("BySklansky1"),
    OBSIDIAN_SCAN("BySklansky2"),
    OBSIDIAN_SCAN("BySklansky3"),
    OBSIDIAN_SCAN("InPlace"),
    OBSIDIAN_SORT("ByT"),
    OBSIDIAN_SORT("ByV"),
    OBSIDIAN_SORT("ByPeriods"),
    OBSIDIAN_SORT("ByOddEven"),
    {"obsidianScan", TASK_SCAN, "scan", 1 << 20, 0, 0, inputs_ints, define_scan, 0, 0},
    {"obsidianReduce", TASK_REDUCE, "reduce", 1 << 24, 0, 0, inputs_iota, define_reduce, 0, 0},
    {"obsidianSort", TASK_SORT, "sort", 1 << 24, 0, 0, inputs_keys, define_sort, 0, 0},
    OBSIDIAN_PICTURE("", 1),
    OBSIDIAN_PICTURE("1", 2),
    OBSIDIAN_PICTURE("2", 3),
    OBSIDIAN_PICTURE("3", 4),
    /* Numbers below 2^10 to 2^20, as figures 3.25 to 3.27 have them. */
    IN_RANGE(10),
    IN_RANGE(14),
    IN_RANGE(17),
    IN_RANGE(20),
    /* The numbers of buckets of Hellfritsch's tables. */
    UPDATES(16),
    UPDATES(64),
    UPDATES(256),
    UPDATES(1024),
    UPDATES(4096),
    UPDATES(16384),
    UPDATES(61440),
    {"fma", TASK_FMA, "fma", 1ll << 33, 0, 0, inputs_none, define_none, 0, 0},
};
const size_t task_count = sizeof tasks / sizeof tasks[0];

const struct task *task_named(const char *name) {
    for (size_t t = 0; t < task_count; t++)
        if (strcmp(name, tasks[t].name) == 0)
            return &tasks[t];
    return NULL;
}

void problem_make(struct problem *problem, const struct task *task, int64_t size, int64_t columns) {
    *problem = (struct problem){.task = task, .size = size, .columns = (int32_t)columns};
    task->inputs(problem);
}

void problem_solve(struct problem *problem) {
    for (size_t r = 0; r < problem->results; r++)
        problem->out[r].at = allocate(array_bytes(&problem->out[r]));
    problem->task->define(problem);
}

size_t problem_most(const struct problem *problem, size_t result) {
    enum task_id id = problem->task->id;
    return id == TASK_FILTER || id == TASK_UNIQUE || id == TASK_REDUCE || id == TASK_RUN_LENGTHS
               ? (size_t)problem->size
               : problem->out[result].count;
}

// ---------------------------------------------------------------- comparing

static double number_at(const struct array *array, size_t i) {
    switch (array->element) {
    case ELEMENT_INT: return ((const int32_t *)array->at)[i];
    case ELEMENT_UINT: return ((const uint32_t *)array->at)[i];
    case ELEMENT_FLOAT: return (double)((const float *)array->at)[i];
    case ELEMENT_DOUBLE: return ((const double *)array->at)[i];
    case ELEMENT_BYTE:
    case ELEMENT_BOOL: break;
    }
    return ((const unsigned char *)array->at)[i];
}

// Any number of partial sums will do, as long as they add up modulo 2^32.
static bool check_sum(const struct array *sums, const struct array *right) {
    uint32_t total = 0, expected = *(const uint32_t *)right->at;
    for (size_t i = 0; i < sums->count; i++)
        total += ((const uint32_t *)sums->at)[i];
    if (total == expected)
        return true;
    fprintf(stderr, "wrong result: %zu partial sums add up to %" PRIu32 " instead of %" PRIu32 " (modulo 2^32)\n",
            sums->count, total, expected);
    return false;
}

static bool check_array(const struct task *task, const struct array *is, const struct array *right) {
    if (is->count != right->count) {
        fprintf(stderr, "wrong result: %zu elements instead of %zu\n", is->count, right->count);
        return false;
    }
    size_t different = 0;
    for (size_t i = 0; i < right->count; i++) {
        double x = number_at(is, i), y = number_at(right, i);
        if (x == y || fabs(x - y) <= (double)task->tolerance * (1 + fabs(y)))
            continue;
        if ((double)++different > (double)task->may_differ * (double)right->count) {
            fprintf(stderr, "wrong result: element %zu is %.9g instead of %.9g\n", i, x, y);
            return false;
        }
    }
    return true;
}

bool problem_check(const struct problem *problem, const struct array *results) {
    if (problem->task->id == TASK_REDUCE)
        return check_sum(&results[0], &problem->out[0]);
    for (size_t r = 0; r < problem->results; r++)
        if (!check_array(problem->task, &results[r], &problem->out[r]))
            return false;
    return true;
}
