// Times one side's solution of a task, or writes the task's inputs, or checks results that somebody
// else computed.
//
//   PROGRAM [OPTIONS] TASK             time it
//   PROGRAM --write DIRECTORY TASK     write the inputs as .npy files; print their names, what is moved and computed
//   PROGRAM --verify FILE.npy[,…] TASK check that the files, or the fields of one, hold the right results
//   PROGRAM --list -                   the names of all tasks
//
//   --size N, --columns C    elements, and columns of a matrix (2^24, and the power of two next to √N)
//   --exactly N              elements, even of tasks that always have the same number
//   --runs R, --warm-up W    runs that count (at most), and before them runs that do not (101, 3)
//   --seconds S              no more runs, after 3, than fit into that time (2)
//   --check no               do not check the results of the last run
//   --device NAME            cuda, opencl, opencl-cpu, opencl-gpu, c, … with :INDEX (the first device that works)
//
// and of hand-written kernels:
//
//   --kernel NAME, --file FILE  another kernel, another source (by task and device: .cu, .cl or .c in --references)
//   --references DIRECTORY      where the sources are (benchmarks/reference)
//   --blocks B, --threads T     the launch (tuned ones for the kernels that are kept here)
//
// The JSON has the keys of `fclc bench --json` with the same meaning: "median_s" and "min_s" are of
// the host's clock, from the first launch until the results are there; "launches" has the device's
// time as the driver measures it, where it does.
//
// Exit status: 0 good, 1 wrong results, 2 wrong command line, 3 no device or a failing one, 4 this
// side has no such task.
#include "bench.h"
#include "definitions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_RUNS = 100000, LEAST_RUNS = 3 };

struct command {
    const struct task *task;
    struct options side;
    int64_t size, exactly, columns, runs, warm_up, seconds;
    const char *write, *verify;
    bool check;
};

void die(int status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", side_name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(status);
}

void *allocate(size_t bytes) {
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

static struct command parse_command(int count, char **words) {
    struct command c = {
        .side = {.references = "benchmarks/reference"},
        .size = 1 << 24,
        .runs = 101,
        .warm_up = 3,
        .seconds = 2,
        .check = true,
    };
    const char *name = NULL;
    for (int i = 1; i < count; i++) {
        const char *word = words[i];
        if (word[0] != '-') {
            name = word;
            continue;
        }
        const char *value = i + 1 < count ? words[++i] : NULL;
        if (!value)
            die(STATUS_USAGE, "%s: a value is missing, or no such option", word);
        if (strcmp(word, "--size") == 0)
            c.size = parse_number(word, value, 1, 1 << 30);
        else if (strcmp(word, "--exactly") == 0)
            c.exactly = parse_number(word, value, 1, 1 << 30);
        else if (strcmp(word, "--columns") == 0)
            c.columns = parse_number(word, value, 1, 1 << 30);
        else if (strcmp(word, "--runs") == 0)
            c.runs = parse_number(word, value, 1, MOST_RUNS);
        else if (strcmp(word, "--warm-up") == 0)
            c.warm_up = parse_number(word, value, 0, MOST_RUNS);
        else if (strcmp(word, "--seconds") == 0)
            c.seconds = parse_number(word, value, 0, MOST_RUNS);
        else if (strcmp(word, "--blocks") == 0)
            c.side.blocks = parse_number(word, value, 1, INT32_MAX);
        else if (strcmp(word, "--threads") == 0)
            c.side.threads = parse_number(word, value, 1, INT32_MAX);
        else if (strcmp(word, "--device") == 0)
            c.side.device = value;
        else if (strcmp(word, "--kernel") == 0)
            c.side.kernel = value;
        else if (strcmp(word, "--file") == 0)
            c.side.file = value;
        else if (strcmp(word, "--references") == 0)
            c.side.references = value;
        else if (strcmp(word, "--write") == 0)
            c.write = value;
        else if (strcmp(word, "--verify") == 0)
            c.verify = value;
        else if (strcmp(word, "--check") == 0)
            c.check = strcmp(value, "no") != 0;
        else if (strcmp(word, "--list") == 0) {
            for (size_t t = 0; t < task_count; t++)
                puts(tasks[t].name);
            exit(0);
        } else
            die(STATUS_USAGE, "no option `%s`", word);
    }
    if (!name)
        die(STATUS_USAGE, "which task? `--list -` has their names");
    if (!(c.task = task_named(name)))
        die(STATUS_USAGE, "no task `%s`; `--list -` has their names", name);
    return c;
}

// ---------------------------------------------------------------- JSON

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

static void print_named(const char *name, const char *text) {
    printf("\"%s\": ", name);
    print_string(text);
}

// ---------------------------------------------------------------- inputs and results in files

static void write_inputs(const struct problem *problem, const char *folder) {
    printf("{");
    print_named("task", problem->task->name);
    printf(", \"size\": %" PRId64 ", \"rows\": %" PRId32 ", \"columns\": %" PRId32 ", \"buckets\": %" PRId32 ", ",
           problem->size, problem->rows, problem->columns, problem->buckets);
    if (problem->task->id == TASK_MANDELBROT) {
        struct window w = windows[problem->task->variant];
        printf("\"left\": %.9g, \"right\": %.9g, \"bottom\": %.9g, \"top\": %.9g, ", (double)w.left, (double)w.right,
               (double)w.bottom, (double)w.top);
    }
    print_named("reference", problem->task->reference);
    printf(", \"files\": [");
    size_t bytes = 0;
    for (size_t i = 0; i < problem->inputs; i++) {
        char path[4096];
        const struct array *in = &problem->in[i];
        if (in->columns)
            snprintf(path, sizeof path, "%s/%s-%zux%zu.npy", folder, in->name, in->count / in->columns, in->columns);
        else
            snprintf(path, sizeof path, "%s/%s-%zu.npy", folder, in->name, in->count);
        FILE *there = fopen(path, "rb");
        if (there)
            fclose(there);
        else
            npy_write(path, &problem->in[i]);
        fputs(i ? ", " : "", stdout);
        print_string(path);
        bytes += array_bytes(&problem->in[i]);
    }
    for (size_t i = 0; i < problem->results; i++)
        bytes += array_bytes(&problem->out[i]);
    printf("], \"results\": %zu, \"bytes\": %zu, \"operations\": %.0f}\n", problem->results, bytes,
           problem->operations);
}

// A file for each result, or one structured array of all.
static bool verify_files(const struct problem *problem, const char *paths) {
    struct array results[MOST_RESULTS];
    bool are_fields = problem->results > 1 && !strchr(paths, ',');
    for (size_t i = 0; i < problem->results; i++) {
        size_t length = strcspn(paths, ",");
        char path[4096];
        snprintf(path, sizeof path, "%.*s", (int)length, paths);
        paths += are_fields ? 0 : length + (paths[length] == ',');
        struct npy_field field = {are_fields ? i : 0, are_fields ? problem->results : 1};
        // One more than any right result has, so that surplus elements are noticed.
        if (!npy_read(path, problem->out[i].element, field, problem_most(problem, i) + 1, &results[i]))
            return false;
    }
    return problem_check(problem, results);
}

// ---------------------------------------------------------------- measuring

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, size_t count) {
    qsort(times, count, sizeof *times, by_size);
    return (times[(count - 1) / 2] + times[count / 2]) / 2;
}

static bool results_right(struct problem *problem) {
    struct array results[MOST_RESULTS];
    for (size_t i = 0; i < problem->results; i++) {
        size_t most = problem_most(problem, i);
        results[i] = (struct array){problem->out[i].element, most, 0,
                                    allocate(most * element_bytes(problem->out[i].element)), ""};
    }
    side_results(results);
    problem_solve(problem);
    return problem_check(problem, results);
}

static bool measure(struct problem *problem, const struct command *c) {
    double begin = now();
    for (int64_t i = 0; i < c->warm_up && (i == 0 || now() - begin < (double)c->seconds); i++)
        side_run();
    size_t most = (size_t)c->runs, runs = 0, launches = 0;
    double *wall = allocate(most * sizeof *wall), *device = allocate(most * MOST_LAUNCHES * sizeof *device);
    const char *names[MOST_LAUNCHES];
    for (double start = now(); runs < most && (runs < LEAST_RUNS || now() - start < (double)c->seconds); runs++) {
        double before = now();
        side_run();
        wall[runs] = now() - before;
        double seconds[MOST_LAUNCHES];
        launches = side_launches(seconds, names);
        for (size_t k = 0; k < launches; k++)
            device[k * most + runs] = seconds[k];
    }
    if (c->check && !results_right(problem))
        return false;

    printf("{");
    print_named("task", problem->task->name);
    printf(", ");
    print_named("side", side_name);
    printf(", ");
    print_named("target", side_target());
    printf(", ");
    print_named("device", side_device());
    printf(", ");
    print_named("driver", side_driver());
    double middle = median(wall, runs);
    size_t bytes = 0;
    for (size_t i = 0; i < problem->inputs; i++)
        bytes += array_bytes(&problem->in[i]);
    for (size_t i = 0; i < problem->results; i++)
        bytes += array_bytes(&problem->out[i]);
    printf(", \"size\": %" PRId64
           ", \"runs\": %zu, \"median_s\": %.9f, \"min_s\": %.9f, \"bytes\": %zu, \"launches\": [",
           problem->size, runs, middle, wall[0], bytes);
    for (size_t k = 0; k < launches; k++) {
        fputs(k ? ", {" : "{", stdout);
        print_named("kernel", names[k]);
        printf(", \"median_s\": %.9f}", median(device + k * most, runs));
    }
    printf("]}\n");
    free(wall);
    free(device);
    return true;
}

int main(int count, char **words) {
    struct command c = parse_command(count, words);
    struct problem problem;
    int64_t usual = c.task->size ? c.task->size : c.size;
    problem_make(&problem, c.task, c.exactly ? c.exactly : usual, c.columns);
    if (c.write) {
        // How much is moved or computed depends on data.
        if (c.task->id == TASK_FILTER || c.task->id == TASK_UNIQUE || c.task->id == TASK_MANDELBROT)
            problem_solve(&problem);
        write_inputs(&problem, c.write);
        return 0;
    }
    if (c.verify) {
        problem_solve(&problem);
        return verify_files(&problem, c.verify) ? 0 : STATUS_WRONG;
    }
    int status = side_begin(&problem, &c.side);
    if (status != 0)
        return status;
    bool right = measure(&problem, &c);
    side_end();
    return right ? 0 : STATUS_WRONG;
}
