// What every task must give, computed from its definition and not by running any kernel.
#include "measure.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const task_names[TASKS] = {
    [TASK_COPY] = "copy",
    [TASK_REVERSE] = "reverse",
    [TASK_TRANSPOSE] = "transpose",
    [TASK_REDUCE] = "reduce",
};

bool task_by_name(const char *name, enum task *task) {
    for (int i = 0; i < TASKS; i++) {
        if (strcmp(name, task_names[i]) == 0) {
            *task = (enum task)i;
            return true;
        }
    }
    return false;
}

static bool check_sum(const struct problem *problem, const int32_t *results, size_t count) {
    uint64_t n = (uint64_t)problem->size;
    uint32_t expected = (uint32_t)(n * (n - (n > 0)) / 2), total = 0;
    for (size_t i = 0; i < count; i++)
        total += (uint32_t)results[i];
    if (total == expected)
        return true;
    fprintf(stderr, "wrong result: %zu partial sums add up to %" PRIu32 " instead of %" PRIu32 " (modulo 2^32)\n",
            count, total, expected);
    return false;
}

static int32_t expected_at(const struct problem *problem, size_t i) {
    size_t n = (size_t)problem->size, columns = (size_t)problem->columns, rows = n / columns;
    switch (problem->task) {
    case TASK_REVERSE: return (int32_t)(n - 1 - i);
    case TASK_TRANSPOSE: return (int32_t)(i % rows * columns + i / rows);
    case TASK_COPY:
    case TASK_REDUCE:
    case TASKS: break;
    }
    return (int32_t)i;
}

bool check_results(const struct problem *problem, const int32_t *results, size_t count) {
    if (problem->task == TASK_REDUCE)
        return check_sum(problem, results, count);
    if (count != (size_t)problem->size) {
        fprintf(stderr, "wrong result: %zu elements instead of %" PRId32 "\n", count, problem->size);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        int32_t expected = expected_at(problem, i);
        if (results[i] != expected) {
            fprintf(stderr, "wrong result: element %zu is %" PRId32 " instead of %" PRId32 "\n", i, results[i],
                    expected);
            return false;
        }
    }
    return true;
}

// ---------------------------------------------------------------- NumPy files

// Reads the header of a .npy file up to the first element. Format: magic, version, header length (2 bytes in version 1,
// 4 later, little endian), then a Python dictionary as text.
static bool read_npy_header(FILE *file) {
    unsigned char start[8], length[4] = {0};
    if (fread(start, 1, 8, file) != 8 || memcmp(start, "\x93NUMPY", 6) != 0)
        return false;
    if (fread(length, 1, start[6] == 1 ? 2 : 4, file) != (start[6] == 1 ? 2u : 4u))
        return false;
    size_t bytes = length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 | (size_t)length[3] << 24;
    char header[4096];
    if (bytes >= sizeof header || fread(header, 1, bytes, file) != bytes)
        return false;
    header[bytes] = '\0';
    return strstr(header, "'<i4'") && strstr(header, "'fortran_order': False");
}

bool check_file(const struct problem *problem, const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return false;
    }
    // One more than any right result has, so that surplus elements are noticed.
    size_t capacity = (size_t)problem->size + 1;
    int32_t *results = malloc(capacity * sizeof *results);
    bool right = false;
    if (!results)
        fprintf(stderr, "%s: no memory left\n", path);
    else if (!read_npy_header(file))
        fprintf(stderr, "%s: not a .npy file of 32-bit integers\n", path);
    else
        right = check_results(problem, results, fread(results, sizeof *results, capacity, file));
    free(results);
    fclose(file);
    return right;
}
