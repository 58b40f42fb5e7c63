/* The table of executors, and the interpreter as one of them. */
#include "driver/executor.h"

#include <string.h>

#include "driver/device.h"
#include "interp/interp.h"

static bool interp_available(const struct options *options, struct arena *arena, const char **why) {
    (void)options, (void)arena, (void)why;
    return true;
}

static enum exit_status interp_execute(const struct execution *e, struct host_value **result) {
    struct interp_options options = {.block_size = e->options->block_size,
                                     .warp_size = e->options->warp_size,
                                     .grid_size = e->options->grid_size,
                                     .vector_bytes = e->options->vector_bytes,
                                     .check = e->options->check,
                                     .stack_bytes = e->options->stack_bytes};
    bool good =
        interp_run(e->arena, e->program, e->kernel, e->arguments, e->argument_count, &options, result, e->diagnostics);
    return good ? EXIT_GOOD : EXIT_PROGRAM_WRONG;
}

static const struct executor interp_executor = {"interp", interp_available, NULL, interp_execute};

const struct executor *const executors[] = {
    &executor_cuda, &executor_opencl, &executor_c, &interp_executor, NULL,
};

const struct executor *executor_named(const char *target) {
    for (size_t i = 0; target && executors[i]; i++)
        if (strcmp(target, executors[i]->name) == 0)
            return executors[i];
    return NULL;
}

const struct executor *executor_choose(const struct options *options, struct arena *arena, const char **why) {
    const char *reason = "";
    *why = "this build has no way to run a program";
    for (size_t i = 0; executors[i]; i++) {
        bool is_wanted = !options->target || strcmp(options->target, executors[i]->name) == 0;
        if (is_wanted && executors[i]->available(options, arena, &reason))
            return executors[i];
        if (is_wanted && options->target) {
            *why = arena_printf(arena, "target %s is not available: %s", options->target, reason);
            return NULL;
        }
    }
    if (options->target)
        *why = arena_printf(arena, "target %s is not available in this build", options->target);
    return NULL;
}
