/* fclc test: runs the test directives of files on one target or on all, prints a line per test that
   fails, and ends with `N passed, N failed, N skipped`. The tests run in processes of their own: see
   note [processes] in test_worker.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "driver/commands.h"
#include "driver/compilation.h"
#include "driver/complaint.h"
#include "tools/cost.h"
#include "driver/output.h"
#include "tools/property.h"
#include "tools/test.h"
#include "tools/test_outcome.h"
#include "tools/test_worker.h"
#include "tools/timing.h"

struct testing {
    struct options *options;
    struct test_report report;
    bool device_failed;
    bool is_told;                   /* what is to be said of the target */
    size_t left_out;                /* tests that --filter leaves out */
    bool overwrites;                /* --junit names a file that was read: nothing is written there */
    struct compilation *conditions; /* of the file's tests; or NULL */
};

/* ---- results ---- */

/* A line for a test that fails, and with --verbose for all. With --json the report has them. */
static void print_result(const struct options *options, const struct test_result *one) {
    bool is_shown = one->outcome == TEST_FAILED || (one->outcome == TEST_PASSED && options->verbose);
    if (!is_shown || !one->directive || one->is_told || options->json)
        return;
    printf("%s:%u: %s: ", one->path, one->directive->line, one->target);
    if (one->outcome == TEST_FAILED)
        printf("%s\n    ", one->why);
    else
        printf("passed in %.3f s: ", one->seconds);
    printf("%s\n", directive_words(one->directive));
    fflush(stdout);
}

static void add_result(struct testing *t, struct test_result one) {
    vec_push(t->report.arena, &t->report.results, one);
    t->report.counts[one.outcome]++;
    print_result(t->options, &one);
}

/* ---- a file on a target ---- */

struct progress {
    struct testing *testing;
    const struct test_job *job;
    const char *path, *target;
    size_t next;        /* the test that runs, or is to run next */
    bool has_begun;     /* it runs */
    bool together;      /* its kernels are built with those of the others */
    const char *trying; /* the call that a property's test was at; or NULL */
};

static void end_test(struct progress *p, enum outcome outcome, double seconds, const char *why) {
    struct test_result one = {.path = p->path,
                              .directive = &p->job->tests->at[p->next],
                              .target = p->target,
                              .outcome = outcome,
                              .seconds = seconds,
                              .why = why};
    add_result(p->testing, one);
    p->next++;
    p->has_begun = false;
    p->trying = NULL;
}

/* With --all-targets those that are not there are left out; one that was asked for is to be there. */
static void skip_rest(struct progress *p, const char *why) {
    struct testing *t = p->testing;
    size_t count = p->job->tests->count - p->next;
    const char *on = p->job->executor ? p->job->executor->name : NULL;
    t->device_failed |= !t->options->all_targets;
    if (!t->options->json)
        printf("%s: %zu skipped%s%s: %s\n", p->path, count, on ? " on " : "", on ? on : "", why);
    p->target = on;
    while (p->next < p->job->tests->count)
        end_test(p, TEST_SKIPPED, 0, why);
}

static void fail_rest(struct progress *p, const char *why) {
    while (p->next < p->job->tests->count)
        end_test(p, TEST_FAILED, 0, why);
}

/* The same, with the call of a property that it is about. */
static const char *of_try(const struct progress *p, const char *why) {
    return p->trying ? arena_printf(p->testing->report.arena, "%s, with `%s`", why, p->trying) : why;
}

/* A test, or the building of all kernels, that takes longer than --timeout allows. */
static void take_timeout(struct progress *p) {
    struct arena *arena = p->testing->report.arena;
    double limit = p->testing->options->timeout;
    if (p->has_begun)
        end_test(p, TEST_FAILED, limit,
                 of_try(p, arena_printf(arena, "it takes longer than %g s, which --timeout allows", limit)));
    else if (p->together)
        p->together = false; /* each test for itself will show which kernel it is */
    else
        fail_rest(p, arena_printf(arena, "its target is not ready after %g s, which --timeout allows", limit));
}

static void take_crash(struct progress *p, const char *why) {
    p->testing->device_failed = true;
    if (!p->has_begun && p->together)
        p->together = false;
    else if (!p->has_begun)
        fail_rest(p, why);
    else
        end_test(p, TEST_FAILED, 0, of_try(p, why));
}

/* False: it was the worker's last. */
static bool take_event(struct progress *p, const struct test_event *event) {
    if (event->target)
        p->target = event->target;
    switch (event->kind) {
    case EVENT_BUILDS:
        if (event->why && !p->testing->is_told) {
            executor_tell(p->testing->options, executor_named(event->target), event->why);
            p->testing->is_told = true;
        }
        return true;
    case EVENT_BEGINS: p->has_begun = true; return true;
    case EVENT_TRIES: p->trying = event->why; return true;
    case EVENT_ENDS:
        p->testing->device_failed |= event->device_failed;
        end_test(p, event->has_failed ? TEST_FAILED : TEST_PASSED, event->seconds, event->why);
        return true;
    case EVENT_ABSENT: skip_rest(p, event->why); return false;
    case EVENT_DONE: return false;
    case EVENT_TIMEOUT: take_timeout(p); return false;
    case EVENT_CRASHED: take_crash(p, event->why); return false;
    }
    return false;
}

static void run_on(struct testing *t, struct compilation *c, const struct executor *executor, const directives *tests) {
    struct arena *arena = t->report.arena;
    struct test_job job = {c, tests, executor, t->conditions};
    const char *path = c->file->source->path;
    struct progress p = {.testing = t,
                         .job = &job,
                         .path = arena_strndup(arena, path, strlen(path)), /* c is gone before the report */
                         .target = executor ? executor->name : NULL,
                         .together = true};
    while (p.next < tests->count) {
        const char *why = NULL;
        struct test_worker *worker = test_worker_start(arena, &job, p.next, p.together, &why);
        if (!worker) {
            skip_rest(&p, why);
            return;
        }
        double begin = timing_now();
        for (bool goes_on = true; goes_on;) {
            double limit = t->options->timeout, left = limit - (timing_now() - begin);
            struct test_event event = test_worker_next(worker, arena, limit > 0 ? fmax(left, 1e-3) : 0);
            if (event.kind != EVENT_TRIES)
                begin = timing_now();
            goes_on = take_event(&p, &event);
        }
        test_worker_end(worker);
    }
}

/* ---- files ---- */

static directives filtered(struct testing *t, const directives *all) {
    directives chosen = {0};
    for (size_t i = 0; i < all->count; i++)
        if (!t->options->filter || strstr(directive_words(&all->at[i]), t->options->filter))
            vec_push(t->report.arena, &chosen, all->at[i]);
    t->left_out += all->count - chosen.count;
    return chosen;
}

static void list_tests(struct testing *t, const char *path, const directives *tests) {
    path = arena_strndup(t->report.arena, path, strlen(path));
    for (size_t i = 0; i < tests->count; i++) {
        if (!t->options->json)
            printf("%s:%u: %s\n", path, tests->at[i].line, directive_words(&tests->at[i]));
        add_result(t, (struct test_result){.path = path, .directive = &tests->at[i], .outcome = TEST_LISTED});
    }
}

static void run_tests(struct testing *t, struct compilation *c, const directives *tests) {
    if (!t->options->all_targets) {
        const struct executor *asked = executor_named(t->options->target);
        run_on(t, c, asked, tests);
        return;
    }
    for (size_t i = 0; executors[i]; i++)
        if (!executors[i]->is_asked_for)
            run_on(t, c, executors[i], tests);
}

/* An error of the file itself fails like a test; `directive`: with that one. */
static void fail_file(struct testing *t, const char *path, const struct directive *directive, const char *why) {
    struct test_result one = {
        .path = path, .directive = directive, .outcome = TEST_FAILED, .why = why, .is_told = true};
    add_result(t, one);
}

/* Costs need no device, and are the same for all. */
static void check_costs(struct testing *t, struct compilation *c, const char *path, directives *tests) {
    size_t kept = 0, tried = 0;
    for (size_t i = 0; i < tests->count; i++) {
        struct directive *one = &tests->at[i];
        if (one->expectation != EXPECT_COST) {
            tests->at[kept++] = *one;
            continue;
        }
        struct arena *arena = arena_new();
        struct directive *directive = ARENA_NEW(t->report.arena, struct directive);
        size_t sizes;
        double begin = timing_now();
        const char *why = cost_check(c, arena, one, &sizes);
        *directive = *one;
        tried += !why && sizes > 0;
        add_result(t, (struct test_result){
                          .path = arena_strndup(t->report.arena, path, strlen(path)),
                          .directive = directive,
                          .target = "cost",
                          .outcome = why ? TEST_FAILED : TEST_PASSED,
                          .seconds = timing_now() - begin,
                          .why = why     ? arena_printf(t->report.arena, "%s", why)
                                 : sizes ? arena_printf(t->report.arena, "tried at %zu sizes, and not proved", sizes)
                                         : NULL});
        arena_free(arena);
    }
    tests->count = kept;
    if (tried && !t->options->json)
        printf("%s: of the costs %zu %s tried at some sizes, and not proved for all\n", path, tried,
               tried == 1 ? "was" : "were");
}

static enum exit_status run_file(struct testing *t, struct compilation *c, const char *path, directives *tests) {
    directives wrong = {0};
    check_costs(t, c, path, tests);
    t->conditions = property_conditions(c, tests, &wrong);
    for (size_t i = 0; i < wrong.count; i++)
        fail_file(t, path, &wrong.at[i], wrong.at[i].wrong);
    if (tests->count)
        run_tests(t, c, tests);
    if (t->conditions)
        compilation_free(t->conditions);
    t->conditions = NULL;
    return wrong.count ? EXIT_PROGRAM_WRONG : EXIT_GOOD;
}

static enum exit_status test_file(struct testing *t, const char *path) {
    struct compilation *c = compilation_new(t->options);
    enum exit_status status = compilation_check(c, path);
    if (t->options->junit && compilation_overwrites(c, "--junit", t->options->junit)) {
        t->overwrites = true;
        status = EXIT_USAGE;
    }
    bool is_good = status == EXIT_GOOD && compilation_is_good(c);
    directives all = {0}, unread = {0};
    if (status == EXIT_GOOD) {
        all = directives_find(t->report.arena, c->file, &unread, c->diagnostics);
        for (size_t i = 0; i < unread.count && is_good; i++)
            fail_file(t, path, &unread.at[i],
                      arena_printf(t->report.arena, "this test directive cannot be read: %s", unread.at[i].wrong));
        if (!is_good)
            fail_file(t, path, NULL, "the program is wrong");
    }
    status = compilation_finish(c, status);
    if (is_good && status == EXIT_GOOD && !all.count)
        driver_complain(t->options, EXIT_GOOD, "%s has no test directives", path);
    directives tests = filtered(t, &all);
    if (is_good && t->options->list)
        list_tests(t, path, &tests);
    else if (is_good)
        status = exit_worse(status, run_file(t, c, path, &tests));
    compilation_free(c);
    return status;
}

/* ---- the command ---- */

static enum exit_status deliver(struct testing *t) {
    test_report_print(&t->report, t->options);
    const char *junit = t->options->junit, *why = NULL;
    if (!junit || t->overwrites)
        return EXIT_GOOD;
    const char *text = test_report_junit(&t->report);
    if (output_write(t->report.arena, junit, text, strlen(text), &why))
        return EXIT_GOOD;
    return driver_complain(t->options, EXIT_USAGE, "%s", why);
}

/* The reports, and the status that all of it comes to. */
static enum exit_status end(struct testing *t, enum exit_status status) {
    status = exit_worse(status, deliver(t));
    if (t->report.counts[TEST_FAILED] && status == EXIT_GOOD)
        status = EXIT_PROGRAM_WRONG;
    if (t->device_failed && status < EXIT_DEVICE)
        status = EXIT_DEVICE;
    arena_free(t->report.arena);
    return status;
}

enum exit_status test_given(struct options *options, const struct given_tests *given) {
    struct testing t = {.options = options, .report = {.arena = arena_new(), .of = given->path}};
    for (size_t i = 0; i < given->wrong.count; i++)
        fail_file(&t, given->path, &given->wrong.at[i], given->wrong.at[i].wrong);
    if (given->tests.count)
        run_tests(&t, given->c, &given->tests);
    return end(&t, EXIT_GOOD);
}

enum exit_status command_test(struct options *options) {
    if (options->target && options->all_targets)
        return driver_complain(options, EXIT_USAGE, "--target and --all-targets: give one of them");
    if (options->list && options->junit)
        return driver_complain(options, EXIT_USAGE, "--list runs no test, so there is nothing for --junit to report");
    struct testing t = {.options = options, .report = {.arena = arena_new()}};
    enum exit_status status = EXIT_GOOD;
    for (size_t i = 0; i < options->operand_count; i++)
        status = exit_worse(status, test_file(&t, options->operands[i]));
    const size_t *counts = t.report.counts;
    size_t all = counts[TEST_PASSED] + counts[TEST_FAILED] + counts[TEST_SKIPPED] + counts[TEST_LISTED];
    if (status == EXIT_GOOD && t.left_out && all == 0)
        status = driver_complain(options, EXIT_USAGE, "no test directive has `%s` in it", options->filter);
    return end(&t, status);
}
