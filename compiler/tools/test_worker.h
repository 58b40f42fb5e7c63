/* Test directives run in a process of their own: one that crashes, hangs, or stops its device takes
   down no more than itself. */
#ifndef FCL_TOOLS_TEST_WORKER_H
#define FCL_TOOLS_TEST_WORKER_H

#include "driver/compilation.h"
#include "tools/directive.h"
#include "driver/executor.h"

/* The tests of one file on one target. */
struct test_job {
    struct compilation *c; /* checked, and good */
    const directives *tests;
    const struct executor *executor; /* NULL: the first that is available */
    struct compilation *conditions;  /* of tests with `when`, as property_conditions makes it; or NULL */
};

enum event_kind {
    EVENT_BUILDS,  /* the kernels of the file; `why` is what executor_tell is to tell */
    EVENT_BEGINS,  /* a test */
    EVENT_TRIES,   /* arguments of a property: `why`, in words */
    EVENT_ENDS,    /* a test: `outcome`, `seconds`, and in words `why` */
    EVENT_ABSENT,  /* the target is not there, and `why`: nothing more comes */
    EVENT_DONE,    /* there are no more tests */
    EVENT_TIMEOUT, /* nothing has come for so long: the worker was ended */
    EVENT_CRASHED  /* the worker has ended by itself, before it was through, and `why` */
};

struct test_event {
    enum event_kind kind;
    bool has_failed;    /* the test */
    bool device_failed; /* because of the device: the worker ends, as that may be lost */
    double seconds;
    const char *target; /* that runs the tests; NULL: none was found yet */
    const char *why;    /* NULL: nothing to say */
};

struct test_worker;

/* Begins a process that runs the tests from `first` on. `together`: it builds all their kernels as
   one program first. NULL: *why no process could be begun. */
struct test_worker *test_worker_start(struct arena *arena, const struct test_job *job, size_t first, bool together,
                                      const char **why);
/* Waits for what it has to say, at most for `seconds` (0: for ever). Texts go to the arena. */
struct test_event test_worker_next(struct test_worker *worker, struct arena *arena, double seconds);
/* After the last event, or to end it. */
void test_worker_end(struct test_worker *worker);

#endif
