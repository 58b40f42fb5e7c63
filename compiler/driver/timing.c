/* Runs of a kernel and how long they take. */
#include "driver/complaint.h"
#include "driver/timing.h"

#include <stdlib.h>
#include <time.h>

#include "driver/arguments.h"
#include "host/execute.h"

enum exit_status timing_request(struct compilation *c, struct device_request *request, bool *is_ready) {
    struct options *options = c->options;
    enum exit_status status = compilation_check(c, options->operands[0]);
    if (status != EXIT_GOOD || !compilation_is_good(c))
        return status;
    const struct core_global *kernel = compilation_kernel(c);
    if (!kernel)
        return EXIT_USAGE;
    const char *why = NULL;
    struct host_value **arguments =
        parse_arguments(c->arena, kernel, options->operands + 2, options->operand_count - 2, NULL, &why);
    enum fcl_device_kind kind = FCL_DEVICE_ANY;
    if (arguments && options->target && (fcl_parse_device(options->target, &kind, &(int){0}) != FCL_OK)) {
        arguments = NULL;
        why = arena_printf(c->arena, "target %s cannot be timed; cuda, opencl and c can", options->target);
    }
    if (!arguments)
        return driver_complain(options, EXIT_USAGE, "%s", why);
    executor_tell(options, NULL, device_mapping_note(options, c->arena, options->target));
    *is_ready = true;
    *request = (struct device_request){.arena = c->arena,
                                       .options = options,
                                       .program = c->program,
                                       .kernel = kernel,
                                       .arguments = arguments,
                                       .argument_count = options->operand_count - 2,
                                       .kind = kind,
                                       .diagnostics = c->diagnostics};
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
