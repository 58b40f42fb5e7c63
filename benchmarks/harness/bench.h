// The programs that measure have this in common: the tasks, their inputs and right results, and what each program
// adds.
//
// A program is main.c, which times and checks, and one side: the hand-written kernels
// (reference/launches.c) or a library (peers/). Every side is given the same inputs, which are made
// from the task's name and size alone, so that FCL, which reads them from files, works on them too.
#ifndef FCL_BENCHMARKS_BENCH_H
#define FCL_BENCHMARKS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { STATUS_WRONG = 1, STATUS_USAGE = 2, STATUS_DEVICE = 3, STATUS_NO_TASK = 4 };

// ---------------------------------------------------------------- arrays

enum element { ELEMENT_INT, ELEMENT_UINT, ELEMENT_FLOAT, ELEMENT_DOUBLE, ELEMENT_BYTE, ELEMENT_BOOL };

struct array {
    enum element element;
    size_t count;
    size_t columns; // of a matrix, else 0
    void *at;
    char name[40]; // of an input: the same for the same contents
};

size_t element_bytes(enum element element);
size_t array_bytes(const struct array *array);

// Files of NumPy's .npy format.
void npy_write(const char *path, const struct array *array);
// Which field of a structured array, of how many, each as many bytes long; {0, 1}: the array has no fields.
struct npy_field {
    size_t index, of;
};
// At most `most` elements; false, after a message, when the file holds something else.
bool npy_read(const char *path, enum element element, struct npy_field field, size_t most, struct array *array);

// ---------------------------------------------------------------- tasks

enum task_id {
    TASK_COPY,
    TASK_SAXPY,
    TASK_REVERSE,
    TASK_TRANSPOSE,
    TASK_REDUCE,
    TASK_ROWS,
    TASK_SCAN,
    TASK_SEG_SCAN,
    TASK_FILTER,
    TASK_SORT,
    TASK_SORT_FLOAT,
    TASK_SORT_PAIRS,
    TASK_UNIQUE, // each number that occurs, once, in order
    TASK_HISTOGRAM,
    TASK_BY_INDEX,
    TASK_MATVEC,
    TASK_SGEMM,
    TASK_SOBEL,
    TASK_BLUR, // of a picture in three planes of doubles
    TASK_CSR,
    TASK_MANDELBROT,
    TASK_BLACK_SCHOLES,
    TASK_EXP, // this and the next: what a user of NumPy would write; no kernels by hand
    TASK_CONVOLUTION,
    TASK_WORDS,
    TASK_RUN_LENGTHS,
    TASK_BFS,
    TASK_FMA, // no task but the ceiling of what computes: references alone have it
};

enum { MOST_INPUTS = 4, MOST_RESULTS = 3, MOST_LAUNCHES = 64 };

struct problem;

struct task {
    const char *name;
    enum task_id id;
    const char *reference; // the file in reference/, without its ending
    int64_t size;          // where it is always the same; 0: as asked for
    int32_t variant;       // buckets, rows, a window, … as the task takes it
    int32_t sigma;         // how keys are distributed: 0 uniform, -1 all alike, else a bell curve
    void (*inputs)(struct problem *problem);
    void (*define)(struct problem *problem); // makes the right results
    float tolerance;                         // of results, relative and absolute; 0: none
    float may_differ;                        // the share of results that may be different nevertheless
};

struct problem {
    const struct task *task;
    int64_t size;
    int32_t rows, columns, buckets; // where the task has them
    size_t inputs, results;
    struct array in[MOST_INPUTS];
    struct array out[MOST_RESULTS]; // the right ones, once task->define has run
    double operations;              // on floating-point numbers, where that may be the limit
};

extern const struct task tasks[];
extern const size_t task_count;
const struct task *task_named(const char *name); // NULL: none

// The problem with its inputs; `columns` is 0 for a matrix as nearly square as powers of two allow.
void problem_make(struct problem *problem, const struct task *task, int64_t size, int64_t columns);
// Its right results, too.
void problem_solve(struct problem *problem);
// True if results are right, after problem_solve; else says on stderr what differs first.
bool problem_check(const struct problem *problem, const struct array *results);

// How many elements the result can have at most, for buffers that are there before it is known.
size_t problem_most(const struct problem *problem, size_t result);

// ---------------------------------------------------------------- sides

struct options {
    const char *device; // as the runtime of FCL names them: cuda, opencl, opencl-cpu, opencl-gpu, c; with :INDEX
    const char *kernel, *file, *references; // of hand-written kernels; NULL: the task's
    int64_t blocks, threads;                // likewise; 0: tuned ones
};

extern const char *const side_name;
// Prepares all that is not to be measured: puts the inputs on the device and compiles.
// STATUS_NO_TASK where this side does not have the task; other failures end the program.
int side_begin(struct problem *problem, const struct options *options);
// Computes the results once, and waits until they are there.
void side_run(void);
// How long what the device did for the last run took there, one number for each launch; 0: not known.
size_t side_launches(double seconds[MOST_LAUNCHES], const char *names[MOST_LAUNCHES]);
// The results of the last run, into arrays that have room for `problem_most` elements; sets their counts.
void side_results(struct array *results);
// The device, and its driver or the library's version.
const char *side_device(void);
const char *side_driver(void);
const char *side_target(void);
void side_end(void);

// Ends the program with a message.
void die(int status, const char *format, ...);
void *allocate(size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
