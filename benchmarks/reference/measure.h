// The tasks that references are written for: what their kernels are given, and what must come out.
//
// All work on n 32-bit integers; the input is 0, 1, 2, …, n − 1.
#ifndef FCL_BENCHMARKS_MEASURE_H
#define FCL_BENCHMARKS_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum task { TASK_COPY, TASK_REVERSE, TASK_TRANSPOSE, TASK_REDUCE, TASKS };

struct problem {
    enum task task;
    int32_t size;    // n
    int32_t columns; // of the matrix; `size` is a multiple of it
};

extern const char *const task_names[TASKS];
bool task_by_name(const char *name, enum task *task);

// Compares `count` results with what the task must give. For TASK_REDUCE any number of partial sums will do, as long as
// they add up, modulo 2^32, to the closed form n (n − 1) / 2. Says on stderr what differs first.
bool check_results(const struct problem *problem, const int32_t *results, size_t count);

// The same for a file of NumPy's .npy format that holds 32-bit integers.
bool check_file(const struct problem *problem, const char *path);

#endif
