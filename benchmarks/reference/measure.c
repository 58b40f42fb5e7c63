// Measures a hand-written kernel, on any device that the runtime knows, or checks an array that somebody else computed.
//
//   measure [OPTIONS] TASK            time the reference for TASK: copy, reverse, transpose or reduce
//   measure --verify FILE.npy TASK    check that the file holds the right results of TASK
//
//   --size N, --columns C   elements, and columns of the matrix (2^24, and the power of two next to √N)
//   --device NAME           cuda, opencl, opencl-cpu, opencl-gpu, c, … with :INDEX (the first device that works)
//   --runs R, --warm-up W   runs that count, and before them runs that do not (101, 3)
//   --kernel NAME           kernel (that of the task's name)
//   --file FILE             its source (the task's file in --references, by device: .cu, .cl or .c)
//   --references DIRECTORY  where the sources are (benchmarks/reference)
//   --blocks B, --threads T the launch (tuned ones for the kernels that are kept here)
//
// The results of the last run are checked. The JSON has the keys of `fclc bench --json` with the same meaning: "median_s" and
// "min_s" are of the host's clock, from the launch to the end of fcl_finish; "launches" has the device's time as the driver
// measures it. Bytes are those of the input and the output, once each.
//
// Exit status: 0 good, 1 wrong results, 2 wrong command line, 3 no device or a failing one.
#include "measure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fcl.h"

enum { STATUS_WRONG = 1, STATUS_USAGE = 2, STATUS_DEVICE = 3, MAX_RUNS = 100000 };

struct options {
    struct problem problem;
    struct fcl_options device;
    int64_t runs, warm_up, blocks, threads; // blocks and threads: 0 for the tuned ones
    const char *kernel, *file, *references, *verify;
};

static void die(int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("measure: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(status);
}

static void *allocate(size_t bytes) {
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory)
        die(STATUS_DEVICE, "no memory left");
    return memory;
}

// ---------------------------------------------------------------- command line

static int64_t parse_number(const char *option, const char *text, int64_t least, int64_t most) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno || end == text || *end || number < least || number > most)
        die(STATUS_USAGE, "%s takes a number from %" PRId64 " to %" PRId64 ", not `%s`", option, least, most, text);
    return number;
}

static int32_t square_side(int32_t size) {
    int32_t side = 1;
    while (side < size / side)
        side *= 2;
    return side;
}

static struct options parse_options(int count, char **words) {
    struct options o = {
        .problem = {TASKS, 1 << 24, 0},
        .device = FCL_OPTIONS_DEFAULT,
        .runs = 101,
        .warm_up = 3,
        .references = "benchmarks/reference",
    };
    for (int i = 1; i < count; i++) {
        const char *word = words[i];
        if (word[0] != '-') {
            if (!task_by_name(word, &o.problem.task))
                die(STATUS_USAGE, "no task `%s`; there are copy, reverse, transpose and reduce", word);
            continue;
        }
        const char *value = i + 1 < count ? words[++i] : NULL;
        if (!value)
            die(STATUS_USAGE, "%s: a value is missing, or no such option", word);
        if (strcmp(word, "--size") == 0)
            o.problem.size = (int32_t)parse_number(word, value, 1, 1 << 30);
        else if (strcmp(word, "--columns") == 0)
            o.problem.columns = (int32_t)parse_number(word, value, 1, 1 << 30);
        else if (strcmp(word, "--runs") == 0)
            o.runs = parse_number(word, value, 1, MAX_RUNS);
        else if (strcmp(word, "--warm-up") == 0)
            o.warm_up = parse_number(word, value, 0, MAX_RUNS);
        else if (strcmp(word, "--blocks") == 0)
            o.blocks = parse_number(word, value, 1, INT32_MAX);
        else if (strcmp(word, "--threads") == 0)
            o.threads = parse_number(word, value, 1, INT32_MAX);
        else if (strcmp(word, "--kernel") == 0)
            o.kernel = value;
        else if (strcmp(word, "--file") == 0)
            o.file = value;
        else if (strcmp(word, "--references") == 0)
            o.references = value;
        else if (strcmp(word, "--verify") == 0)
            o.verify = value;
        else if (strcmp(word, "--device") != 0)
            die(STATUS_USAGE, "no option `%s`", word);
        else if (fcl_parse_device(value, &o.device.kind, &o.device.index) != FCL_OK)
            die(STATUS_USAGE, "no kind of device `%s`", value);
    }
    if (o.problem.task == TASKS)
        die(STATUS_USAGE, "which task? copy, reverse, transpose or reduce");
    if (o.problem.columns == 0)
        o.problem.columns = square_side(o.problem.size);
    if (o.problem.task == TASK_TRANSPOSE && o.problem.size % o.problem.columns != 0)
        die(STATUS_USAGE, "%" PRId32 " elements are no matrix of %" PRId32 " columns", o.problem.size,
            o.problem.columns);
    return o;
}

// ---------------------------------------------------------------- launches

struct launch {
    uint64_t blocks;
    uint32_t threads;
};

static uint64_t divide_up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

// The launch each kept reference was tuned for. The kernels say in their comments which sizes are right for them.
static struct launch tuned_launch(const struct problem *problem, const struct fcl_device_info *device) {
    uint64_t n = (uint64_t)problem->size, columns = (uint64_t)problem->columns, rows = n / columns;
    switch (device->backend) {
    case FCL_BACKEND_CUDA:
        switch (problem->task) {
        case TASK_TRANSPOSE: return (struct launch){divide_up(rows, 32) * divide_up(columns, 32), 256};
        case TASK_REDUCE: return (struct launch){(uint64_t)device->compute_units * 8, 256};
        case TASK_COPY:
        case TASK_REVERSE:
        case TASKS: break;
        }
        return (struct launch){divide_up(n, 4 * 256), 256};
    case FCL_BACKEND_OPENCL:
        switch (problem->task) {
        case TASK_TRANSPOSE: return (struct launch){divide_up(rows, 64) * divide_up(columns, 64), 1};
        case TASK_REDUCE: return (struct launch){(uint64_t)device->compute_units * 8, 1};
        case TASK_COPY:
        case TASK_REVERSE:
        case TASKS: break;
        }
        return (struct launch){divide_up(n, 1024), 1024};
    case FCL_BACKEND_C:
    case FCL_BACKENDS: break;
    }
    return (struct launch){(uint64_t)device->compute_units * 8, 1};
}

// ---------------------------------------------------------------- measuring

struct work {
    struct fcl_context *context;
    struct fcl_kernel *kernel;
    struct fcl_buffer *in, *out;
    struct launch launch;
    uint64_t out_count;    // elements there is room for,
    uint64_t result_count; // and those that the kernel writes
    struct fcl_arg args[4];
    size_t arg_count;
};

static void must(const struct work *work, enum fcl_status status) {
    if (status != FCL_OK)
        die(STATUS_DEVICE, "%s: %s", fcl_status_text(status), fcl_error(work->context));
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

static void build_kernel(struct work *work, const struct options *o) {
    static const char *const endings[FCL_BACKENDS] = {"cu", "cl", "c"};
    const char *task = task_names[o->problem.task];
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s", o->references, task, endings[fcl_device(work->context)->backend]);
    char *source = read_text(o->file ? o->file : path);
    struct fcl_program *program;
    must(work, fcl_build(work->context, source, NULL, &program));
    must(work, fcl_get_kernel(program, o->kernel ? o->kernel : task, &work->kernel));
    free(source);
}

static void fill_input(struct work *work, int32_t size) {
    int32_t *input = allocate((size_t)size * sizeof *input);
    for (int32_t i = 0; i < size; i++)
        input[i] = i;
    must(work, fcl_write(work->in, 0, input, (uint64_t)size * sizeof *input));
    free(input);
}

static void prepare(struct work *work, const struct options *o) {
    char error[4096];
    struct fcl_options device = o->device;
    device.profile = true;
    enum fcl_status status = fcl_open(&work->context, &device, error, sizeof error);
    if (status != FCL_OK)
        die(STATUS_DEVICE, "%s", error);
    build_kernel(work, o);

    const struct problem *problem = &o->problem;
    work->launch = tuned_launch(problem, fcl_device(work->context));
    if (o->blocks)
        work->launch.blocks = (uint64_t)o->blocks;
    if (o->threads)
        work->launch.threads = (uint32_t)o->threads;
    work->out_count = work->result_count = (uint64_t)problem->size;
    if (problem->task == TASK_REDUCE) { // a sum per block or per thread; what is not written stays zero
        work->out_count = work->launch.blocks * work->launch.threads;
        work->result_count = work->launch.blocks;
    }
    must(work, fcl_buffer_array(work->context, (uint64_t)problem->size, sizeof(int32_t), &work->in));
    must(work, fcl_buffer_array(work->context, work->out_count, sizeof(int32_t), &work->out));
    fill_input(work, problem->size);
    must(work, fcl_fill(work->out, 0, work->out_count * sizeof(int32_t), problem->task == TASK_REDUCE ? 0 : 0xee));

    work->args[work->arg_count++] = fcl_arg_buffer(work->in);
    work->args[work->arg_count++] = fcl_arg_buffer(work->out);
    work->args[work->arg_count++] = fcl_arg_scalar(&problem->size, sizeof problem->size);
    if (problem->task == TASK_TRANSPOSE)
        work->args[work->arg_count++] = fcl_arg_scalar(&problem->columns, sizeof problem->columns);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double run_once(struct work *work) {
    double start = now();
    must(work, fcl_launch(work->kernel, work->launch.blocks, work->launch.threads, 0, work->args, work->arg_count));
    must(work, fcl_finish(work->context));
    return now() - start;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, size_t count) {
    qsort(times, count, sizeof *times, by_size);
    return (times[(count - 1) / 2] + times[count / 2]) / 2;
}

static bool results_right(struct work *work, const struct problem *problem) {
    int32_t *results = allocate((size_t)work->out_count * sizeof *results);
    must(work, fcl_read(work->out, 0, results, work->out_count * sizeof *results));
    bool right = check_results(problem, results, (size_t)work->out_count);
    free(results);
    return right;
}

static void print_string(const char *text) {
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        if ((unsigned char)*text >= ' ')
            putchar(*text);
    }
    putchar('"');
}

static void print_json(const struct work *work, const struct options *o, double *seconds, double *wall) {
    const struct fcl_device_info *device = fcl_device(work->context);
    size_t runs = (size_t)o->runs;
    double middle = median(wall, runs);
    uint64_t bytes = ((uint64_t)o->problem.size + work->result_count) * sizeof(int32_t);
    printf("{\"task\": \"%s\", \"kernel\": ", task_names[o->problem.task]);
    print_string(fcl_kernel_name(work->kernel));
    printf(", \"target\": \"%s\", \"device\": ", fcl_device_kind_name(device->kind));
    print_string(device->name);
    printf(", \"driver\": ");
    print_string(device->driver);
    printf(", \"size\": %" PRId32 ", \"blocks\": %" PRIu64 ", \"threads\": %" PRIu32 ", \"runs\": %zu", o->problem.size,
           work->launch.blocks, work->launch.threads, runs);
    printf(", \"median_s\": %.9f, \"min_s\": %.9f, \"bytes\": %" PRIu64 ", \"gb_per_s\": %.3f", middle, wall[0], bytes,
           (double)bytes / middle * 1e-9);
    printf(", \"launches\": [{\"kernel\": ");
    print_string(fcl_kernel_name(work->kernel));
    printf(", \"median_s\": %.9f}]}\n", median(seconds, runs));
}

int main(int count, char **words) {
    struct options o = parse_options(count, words);
    if (o.verify)
        return check_file(&o.problem, o.verify) ? 0 : STATUS_WRONG;

    struct work work = {0};
    prepare(&work, &o);
    for (int64_t i = 0; i < o.warm_up; i++)
        run_once(&work);
    fcl_clear_timings(work.context);

    size_t runs = (size_t)o.runs, timing_count;
    double *wall = allocate(runs * sizeof *wall), *seconds = allocate(runs * sizeof *seconds);
    for (size_t i = 0; i < runs; i++)
        wall[i] = run_once(&work);
    const struct fcl_timing *timings;
    must(&work, fcl_timings(work.context, &timings, &timing_count));
    if (timing_count != runs)
        die(STATUS_DEVICE, "%zu launches were measured instead of %zu", timing_count, runs);
    for (size_t i = 0; i < runs; i++)
        seconds[i] = timings[i].seconds;

    bool right = results_right(&work, &o.problem);
    if (right)
        print_json(&work, &o, seconds, wall);
    free(wall);
    free(seconds);
    fcl_close(work.context);
    return right ? 0 : STATUS_WRONG;
}
