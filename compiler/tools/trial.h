/* A test directive while it runs: its kernels on an executor, and whether what they give is what is wanted. */
#ifndef FCL_TOOLS_TRIAL_H
#define FCL_TOOLS_TRIAL_H

#include "driver/compilation.h"
#include "tools/directive.h"
#include "driver/executor.h"
#include "support/edit.h"

struct test_trial {
    struct compilation *c;
    const struct executor *executor;
    const struct directive *directive;
    struct device_batch *batch;
    struct arena *arena;   /* of this directive */
    const char *directory; /* that paths are relative to; NULL: the current one */
    bool device_failed;
};

/* The outcome of one call of a kernel. */
struct trial_run {
    enum exit_status status;
    const struct host_value *result; /* EXIT_GOOD */
    const char *messages;            /* else */
    bool gave_up;                    /* it takes too many steps to try it */
};

/* Are its kernels built with checks? */
enum check_degree trial_degree(const struct compilation *c, const struct directive *directive);
/* Runs a kernel. The results lie in `arena`. */
struct trial_run trial_run(struct test_trial *t, struct arena *arena, const struct core_global *kernel,
                           struct host_value *const *arguments, size_t count);
/* NULL: the run gave what the directive wants, of `wanted` or an error. Else why not. */
const char *trial_judge(const struct test_trial *t, struct arena *arena, const struct trial_run *run,
                        const struct host_value *wanted);

#endif
