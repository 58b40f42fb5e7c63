/* Runs of kernels for tests; see trial.h. */
#include "tools/trial.h"

#include <stdlib.h>
#include <string.h>

/* Errors and properties are tested with checks: a wrong index must give an error, and touch no memory. */
enum check_degree trial_degree(const struct compilation *c, const struct directive *directive) {
    return directive->expectation == EXPECT_ERROR || directive->forall ? DEGREE_ALL : c->options->check;
}

/* The diagnostics as text, to look for what was expected in them. */
static const char *messages_of(struct arena *arena, const struct diagnostics *diagnostics) {
    char *buffer = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&buffer, &length);
    if (!file)
        return "";
    diag_print_text(diagnostics, file, false, 0);
    fclose(file);
    const char *copy = arena_strndup(arena, buffer, length);
    free(buffer);
    return copy;
}

/* The interpreter's limit for a property: a random number may be a length, and take for ever. */
enum { MOST_STEPS = 3 * 1000 * 1000 };

struct trial_run trial_run(struct test_trial *t, struct arena *arena, const struct core_global *kernel,
                           struct host_value *const *arguments, size_t count) {
    struct diagnostics *diagnostics = diagnostics_new(arena, t->c->sources);
    struct options options = *t->c->options;
    options.check = trial_degree(t->c, t->directive);
    struct execution execution = execution_of(t->c);
    execution.arena = arena;
    execution.options = &options;
    execution.kernel = kernel;
    execution.arguments = arguments;
    execution.argument_count = count;
    execution.diagnostics = diagnostics;
    execution.batch = t->batch;
    execution.fuel = t->directive->forall ? MOST_STEPS : 0;
    struct host_value *result = NULL;
    struct trial_run run = {.status = t->executor->run(&execution, &result)};
    t->device_failed = run.status == EXIT_DEVICE;
    run.result = result;
    run.gave_up = execution.fuel && diag_has(diagnostics, DIAG_OUT_OF_FUEL);
    run.messages = run.status == EXIT_GOOD ? NULL : messages_of(arena, diagnostics);
    return run;
}

const char *trial_judge(const struct test_trial *t, struct arena *arena, const struct trial_run *run,
                        const struct host_value *wanted) {
    bool is_good = run->status == EXIT_GOOD;
    const char *why = NULL;
    if (t->directive->expectation == EXPECT_ERROR)
        return is_good ? "it runs, and an error is wanted"
               : strstr(run->messages, t->directive->wanted)
                   ? NULL
                   : arena_printf(arena, "the error is another one:\n%s", run->messages);
    if (!is_good)
        return arena_printf(arena, "it does not run:\n%s", run->messages);
    struct value_comparison comparison = {t->directive->expectation == EXPECT_CLOSE, t->directive->tolerance};
    return value_same(arena, run->result, wanted, comparison, &why) ? NULL : why;
}
