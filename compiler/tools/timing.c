/* Runs of a kernel and how long they take. */
#include "tools/timing.h"

#include <stdlib.h>
#include <time.h>

#include "driver/complaint.h"
#include "host/execute.h"

enum exit_status timing_request(struct compilation *c, struct execution *request) {
    struct options *options = c->options;
    enum exit_status status = execution_read(c, request);
    const struct core_global *kernel = request->kernel;
    if (!kernel)
        return status;
    const char *said = NULL;
    const struct executor *executor = executor_choose(options, c->arena, &said);
    request->kernel = NULL;
    if (!executor)
        return driver_complain(options, EXIT_DEVICE, "%s", said);
    if (fcl_parse_device(executor->name, &request->kind, &(int){0}) != FCL_OK)
        return options->target ? driver_complain(options, EXIT_USAGE,
                                                 "target %s cannot be timed; cuda, opencl and c can", options->target)
                               : driver_complain(options, EXIT_DEVICE, "no device can be timed here: %s", said);
    request->kernel = kernel;
    executor_tell(options, executor, said);
    return EXIT_GOOD;
}

double timing_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

bool timing_run(struct device_session *session, int runs, double *seconds) {
    if (fcl_finish(session->context) != FCL_OK)
        return session->why = fcl_error(session->context), false;
    double start = timing_now();
    for (int i = 0; i < runs; i++)
        if (!device_run_once(session->run, &session->why))
            return false;
    if (fcl_finish(session->context) != FCL_OK)
        return session->why = fcl_error(session->context), false;
    *seconds = timing_now() - start;
    return true;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

void timing_sort(double *samples, size_t count) { qsort(samples, count, sizeof *samples, compare); }
