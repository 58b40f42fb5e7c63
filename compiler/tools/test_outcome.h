/* The outcome of a test directive on a target, and the reports of all of them: lines, JSON, JUnit. */
#ifndef FCL_TOOLS_TEST_OUTCOME_H
#define FCL_TOOLS_TEST_OUTCOME_H

#include "tools/directive.h"
#include "driver/options.h"

enum outcome {
    TEST_PASSED,
    TEST_FAILED,
    TEST_SKIPPED,
    RUN_OUTCOMES,               /* of tests that are run */
    TEST_LISTED = RUN_OUTCOMES, /* it is not */
    OUTCOME_COUNT
};

struct test_result {
    const char *path;
    const struct directive *directive; /* NULL: of the file, which has no tests that could be run */
    const char *target;                /* NULL: of none */
    enum outcome outcome;
    double seconds;  /* of running it, without the building of the file's kernels */
    const char *why; /* it failed or was skipped; or NULL */
    bool is_told;    /* what is wrong with it, among the diagnostics */
};

struct test_report {
    struct arena *arena;
    const char *of;                  /* what the counts are of, said before them; or NULL */
    VEC(struct test_result) results; /* in the order in which they were run */
    size_t counts[OUTCOME_COUNT];
};

/* The directive as it is written, without the dashes. */
const char *directive_words(const struct directive *directive);

/* Writes `N passed, N failed, N skipped` to standard output, or with --json the one object; no
   counts with --list. */
void test_report_print(const struct test_report *report, const struct options *options);
/* The report as JUnit XML, which build servers read: a suite for each file on each target. */
const char *test_report_junit(const struct test_report *report);

#endif
