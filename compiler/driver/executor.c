/* The table of executors, and the interpreter as one of them. */
#include "driver/executor.h"

#include <string.h>

#include "driver/arguments.h"
#include "driver/complaint.h"
#include "driver/device.h"
#include "driver/evaluate.h"
#include "interp/interp.h"
#include "support/text.h"

static bool interp_available(const struct options *options, struct arena *arena, const char **said) {
    (void)options, (void)arena;
    *said = "the reference interpreter, which is slow";
    return true;
}

static enum exit_status interp_execute(const struct execution *e, struct host_value **result) {
    if (e->program->ir)
        return evaluate_ir(e, result);
    int64_t block_size = e->options->block_size;
    struct interp_options options = {
        .block_size = e->options->block_size_given ? block_size : core_block_size(e->kernel, block_size),
        .warp_size = e->options->warp_size,
        .grid_size = e->options->grid_size,
        .vector_bytes = e->options->vector_bytes,
        .fuel = e->fuel,
        .check = e->options->check == DEGREE_ALL,
        .stack_bytes = e->options->stack_bytes};
    bool good =
        interp_run(e->arena, e->program, e->kernel, e->arguments, e->argument_count, &options, result, e->diagnostics);
    return good ? EXIT_GOOD : diag_has(e->diagnostics, DIAG_INTERNAL) ? EXIT_INTERNAL : EXIT_PROGRAM_WRONG;
}

static const struct executor interp_executor = {"interp", interp_available, NULL, interp_execute, false};

struct execution execution_of(struct compilation *c) {
    return (struct execution){.arena = c->arena,
                              .options = c->options,
                              .program = c->program,
                              .tuning = &c->tuning,
                              .diagnostics = c->diagnostics,
                              .kind = FCL_DEVICE_ANY};
}

enum exit_status execution_read(struct compilation *c, struct execution *execution) {
    const struct options *o = c->options;
    enum exit_status status = compilation_check(c, o->operands[0]);
    *execution = execution_of(c);
    if (status != EXIT_GOOD || !compilation_is_good(c))
        return status;
    const struct core_global *kernel = compilation_kernel(c);
    if (!kernel)
        return EXIT_USAGE;
    const char *why;
    execution->argument_count = o->operand_count - 2;
    execution->arguments = parse_arguments(c->arena, kernel, o->operands + 2, execution->argument_count, NULL, &why);
    if (!execution->arguments)
        return driver_complain(c->options, EXIT_USAGE, "%s", why);
    execution->kernel = kernel;
    return EXIT_GOOD;
}

const struct executor *const executors[] = {
    &executor_cuda, &executor_opencl, &executor_c, &interp_executor, &executor_hip, NULL,
};

const struct executor *executor_named(const char *target) {
    for (size_t i = 0; target && executors[i]; i++)
        if (strcmp(target, executors[i]->name) == 0)
            return executors[i];
    return NULL;
}

/* Adds the note about the device of the chosen executor, if there is one, to the message `said`. Both may be NULL. */
static const char *with_note(const struct options *options, struct arena *arena, const struct executor *executor,
                             const char *said) {
    const char *note = device_mapping_note(options, arena, executor->name);
    return said && note ? arena_printf(arena, "%s; %s", said, note) : note ? note : said;
}

static const struct executor *choose_named(const struct options *options, struct arena *arena, const char **said) {
    const struct executor *executor = executor_named(options->target);
    const char *why = executor ? NULL : "programs are compiled for it, and not run";
    bool is_there = executor && executor->available(options, arena, &why);
    *said = is_there ? with_note(options, arena, executor, NULL)
                     : arena_printf(arena, "target %s is not available: %s", options->target, why);
    return is_there ? executor : NULL;
}

const struct executor *executor_choose(const struct options *options, struct arena *arena, const char **said) {
    if (options->target)
        return choose_named(options, arena, said);
    struct text missing;
    text_init(&missing, arena);
    for (size_t i = 0; executors[i]; i++) {
        const char *heard = NULL;
        bool is_there = executors[i]->available(options, arena, &heard);
        if (is_there) {
            const char *where = NULL;
            if (i > 0) /* what is slow is worth the reasons; `fclc devices` has them for the others */
                where = arena_printf(arena, "it runs on %s%s", heard,
                                     executors[i] == &interp_executor ? text_string(&missing) : "");
            *said = with_note(options, arena, executors[i], where);
            return executors[i];
        }
        text_printf(&missing, "; %s", heard);
    }
    *said = arena_printf(arena, "there is no way to run a program%s", text_string(&missing));
    return NULL;
}

void executor_tell(struct options *options, const struct executor *executor, const char *said) {
    bool is_slow = executor == &interp_executor; /* worth a warning, where the rest is no diagnostic */
    if (said && (is_slow || !options->json_diagnostics))
        driver_complain(options, EXIT_GOOD, "%s", said);
}
