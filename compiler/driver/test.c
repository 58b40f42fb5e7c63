/* fclc test: runs the test directives of files on one target or on all, prints a line per test that fails, and ends
   with `N passed, N failed, N skipped`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/arguments.h"
#include "driver/commands.h"
#include "driver/compilation.h"
#include "driver/complaint.h"
#include "driver/device.h"
#include "driver/directive.h"
#include "driver/executor.h"
#include "support/edit.h"

struct tally {
    size_t passed, failed, skipped;
    bool device_failed;
};

struct testing {
    struct compilation *c;
    const struct executor *executor;
    const struct directive *directive;
    struct device_batch *batch;
    struct tally *tally;
};

static void fail(const struct testing *t, const char *why) {
    t->tally->failed++;
    printf("%s:%u: %s: %s\n    %s\n", t->c->file->source->path, t->directive->line, t->executor->name, why,
           t->directive->text + strlen("-- "));
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

static void check_error(const struct testing *t, struct arena *arena, enum exit_status status, const char *messages) {
    if (status == EXIT_GOOD)
        fail(t, "it runs, and an error is wanted");
    else if (!strstr(messages, t->directive->wanted))
        fail(t, arena_printf(arena, "the error is another one:\n%s", messages));
    else
        t->tally->passed++;
}

static void check_result(const struct testing *t, struct arena *arena, struct type *type, const struct host_value *got,
                         const char *directory) {
    struct value_argument wanted_is = {0, "the wanted result", directory};
    const char *why;
    const struct host_value *wanted = value_parse(arena, type, &wanted_is, t->directive->wanted, &why);
    struct value_comparison comparison = {t->directive->expectation == EXPECT_CLOSE, t->directive->tolerance};
    if (!wanted || !value_same(arena, got, wanted, comparison, &why))
        fail(t, why);
    else
        t->tally->passed++;
}

/* NULL when there is none of this name; `suggestion` gets those there are. */
static const struct core_global *kernel_named(const struct compilation *c, const char *name,
                                              struct suggestion *suggestion) {
    for (size_t i = c->program->globals.count; i-- > 0;) {
        const struct core_global *global = c->program->globals.at[i];
        if (global->kind != GLOBAL_KERNEL || global->source != c->file->source)
            continue;
        if (strcmp(global->name->text, name) == 0)
            return global;
        suggestion_offer(suggestion, global->name->text);
    }
    return NULL;
}

/* What is wrong must be found, not happen. */
static bool is_checked(const struct compilation *c, const struct directive *directive) {
    return c->options->check || directive->expectation == EXPECT_ERROR;
}

static void run_test(const struct testing *t, struct arena *arena) {
    const struct directive *directive = t->directive;
    const char *directory = path_directory(arena, t->c->file->source->path), *why = NULL;
    if (!*directory)
        directory = NULL;
    struct suggestion suggestion = suggestion_for(directive->kernel);
    const struct core_global *kernel = kernel_named(t->c, directive->kernel, &suggestion);
    if (!kernel) {
        fail(t, suggestion.best ? arena_printf(arena, "no kernel is named `%s`; did you mean `%s`?", directive->kernel,
                                               suggestion.best)
                                : arena_printf(arena, "no kernel is named `%s`", directive->kernel));
        return;
    }
    struct host_value **arguments =
        parse_arguments(arena, kernel, directive->arguments.at, directive->arguments.count, directory, &why);
    if (!arguments) {
        if (directive->expectation == EXPECT_ERROR)
            check_error(t, arena, EXIT_USAGE, why);
        else
            fail(t, why);
        return;
    }
    struct diagnostics *diagnostics = diagnostics_new(arena, t->c->sources);
    struct options options = *t->c->options;
    options.check = is_checked(t->c, directive);
    struct execution execution = {.arena = arena,
                                  .options = &options,
                                  .program = t->c->program,
                                  .tuning = &t->c->tuning,
                                  .kernel = kernel,
                                  .arguments = arguments,
                                  .argument_count = directive->arguments.count,
                                  .diagnostics = diagnostics,
                                  .batch = t->batch};
    struct host_value *result = NULL;
    enum exit_status status = t->executor->run(&execution, &result);
    t->tally->device_failed |= status == EXIT_DEVICE;
    if (directive->expectation == EXPECT_ERROR)
        check_error(t, arena, status, messages_of(arena, diagnostics));
    else if (status != EXIT_GOOD)
        fail(t, arena_printf(arena, "it does not run:\n%s", messages_of(arena, diagnostics)));
    else
        check_result(t, arena, kernel_interface(arena, kernel).result, result, directory);
}

/* Of all targets those that are not there are left out; one that was asked for is to be there. */
static void skip_tests(const struct compilation *c, const directives *tests, const char *on, const char *why,
                       struct tally *tally) {
    tally->skipped += tests->count;
    tally->device_failed |= tests->count && !c->options->all_targets;
    if (tests->count)
        printf("%s: %zu skipped%s: %s\n", c->file->source->path, tests->count, on, why);
}

/* All the directives of a file on one executor. */
static void run_tests(struct compilation *c, const struct executor *executor, const directives *tests,
                      struct tally *tally) {
    const char *why = NULL;
    if (!executor->available(c->options, c->arena, &why)) {
        skip_tests(c, tests, arena_printf(c->arena, " on %s", executor->name), why, tally);
        return;
    }
    struct device_batch *batch = device_batch_new(diagnostics_new(c->arena, c->sources));
    for (size_t i = 0; i < tests->count; i++) {
        struct suggestion unused = suggestion_for(tests->at[i].kernel);
        const struct core_global *kernel = kernel_named(c, tests->at[i].kernel, &unused);
        if (kernel)
            device_batch_add(batch, kernel, is_checked(c, &tests->at[i]));
    }
    for (size_t i = 0; i < tests->count; i++) {
        struct arena *arena = arena_new();
        struct testing testing = {c, executor, &tests->at[i], batch, tally};
        run_test(&testing, arena);
        fflush(stdout);
        arena_free(arena);
    }
    device_batch_free(batch);
}

static void test_on_chosen(struct compilation *c, const directives *tests, struct tally *tally) {
    if (c->options->all_targets) {
        for (size_t i = 0; executors[i]; i++)
            run_tests(c, executors[i], tests, tally);
        return;
    }
    const char *why = NULL;
    const struct executor *executor = executor_choose(c->options, c->arena, &why);
    if (executor)
        run_tests(c, executor, tests, tally);
    else
        skip_tests(c, tests, "", why, tally);
}

static enum exit_status test_file(struct options *options, const char *path, struct tally *tally) {
    struct compilation *c = compilation_new(options);
    enum exit_status status = compilation_check(c, path);
    if (status == EXIT_GOOD) {
        bool is_good = compilation_is_good(c);
        directives tests = directives_find(c->arena, c->file, c->diagnostics);
        tally->failed += is_good ? diag_error_count(c->diagnostics) : 1; /* directives that cannot be read */
        bool has_none = is_good && !tests.count && !diag_error_count(c->diagnostics);
        status = compilation_finish(c);
        if (has_none)
            driver_complain(options, EXIT_GOOD, "%s has no test directives", path);
        if (is_good)
            test_on_chosen(c, &tests, tally);
    } else {
        compilation_finish(c);
    }
    compilation_free(c);
    return status;
}

enum exit_status command_test(struct options *options) {
    struct tally tally = {0};
    enum exit_status status = EXIT_GOOD;
    for (size_t i = 0; i < options->operand_count; i++) {
        enum exit_status one = test_file(options, options->operands[i], &tally);
        status = one > status ? one : status;
    }
    printf("%zu passed, %zu failed, %zu skipped\n", tally.passed, tally.failed, tally.skipped);
    if (tally.failed && status == EXIT_GOOD)
        status = EXIT_PROGRAM_WRONG;
    return tally.device_failed && status < EXIT_DEVICE ? EXIT_DEVICE : status;
}
