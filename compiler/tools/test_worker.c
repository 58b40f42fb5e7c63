/* The process that runs tests, and the pipe by which it says what came of them; see test_worker.h.

   note [processes]
   A kernel that stops its device, crashes or does not end takes the process with it: CUDA, for one,
   gives nothing more to a process whose kernel has read outside of its memory. So tests run in a
   child, which says through a pipe what it begins and how that ends. When it is gone, the parent
   knows at which test, and lets a new child go on behind it. The child is a copy of this process
   (fork), so that the program is checked once. The parent never opens a device, as drivers do not
   survive being copied. */
#include "tools/test_worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "driver/arguments.h"
#include "driver/device.h"
#include "driver/interrupt.h"
#include "driver/output.h"
#include "tools/property.h"
#include "tools/timing.h"
#include "tools/trial.h"

/* ---- the pipe ---- */

/* Both ends are the same program: the bytes of an event, and behind them those of its texts. */
struct message {
    struct test_event event; /* whose texts are only there or not */
    size_t target_length, why_length;
};

static bool read_all(int pipe, void *bytes, size_t length) {
    while (length > 0) {
        ssize_t got = read(pipe, bytes, length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        bytes = (char *)bytes + got;
        length -= (size_t)got;
    }
    return true;
}

static size_t length_of(const char *text) { return text ? strlen(text) : 0; }

/* The child ends where nobody listens any more. */
static void send_event(int pipe, struct test_event event) {
    struct message message = {event, length_of(event.target), length_of(event.why)};
    bool good = output_pipe(pipe, &message, sizeof message) && output_pipe(pipe, event.target, message.target_length) &&
                output_pipe(pipe, event.why, message.why_length);
    if (!good)
        _exit(EXIT_INTERNAL);
}

static const char *receive_text(int pipe, struct arena *arena, const char *was, size_t length, bool *good) {
    if (!was)
        return NULL;
    char *text = arena_alloc(arena, length + 1);
    *good = *good && read_all(pipe, text, length);
    return text;
}

static bool receive_event(int pipe, struct arena *arena, struct test_event *event) {
    struct message message;
    bool good = read_all(pipe, &message, sizeof message);
    if (!good)
        return false;
    *event = message.event;
    event->target = receive_text(pipe, arena, message.event.target, message.target_length, &good);
    event->why = receive_text(pipe, arena, message.event.why, message.why_length, &good);
    return good;
}

/* ---- a test, in the child ---- */

static const struct host_value *wanted_of(const struct test_trial *t, struct type *type, const char **why) {
    struct value_argument wanted_is = {.name = "the wanted result", .directory = t->directory};
    return value_parse(t->arena, type, &wanted_is, t->directive->wanted, why);
}

/* NULL for a test that passes, or why it fails. */
static const char *run_test(struct test_trial *t) {
    const struct directive *directive = t->directive;
    struct suggestion suggestion = suggestion_for(directive->kernel);
    const struct core_global *kernel = kernel_of_file(t->c, directive->kernel, &suggestion);
    const char *why = NULL;
    if (!kernel)
        return no_kernel_of_file(t->arena, directive->kernel, &suggestion);
    struct host_value **arguments =
        parse_arguments(t->arena, kernel, directive->arguments.at, directive->arguments.count, t->directory, &why);
    struct trial_run run = {.status = EXIT_USAGE, .messages = why};
    if (arguments)
        run = trial_run(t, t->arena, kernel, arguments, directive->arguments.count);
    else if (directive->expectation != EXPECT_ERROR)
        return why;
    const struct host_value *wanted = NULL;
    if (run.status == EXIT_GOOD && directive->expectation != EXPECT_ERROR &&
        !(wanted = wanted_of(t, kernel_interface(t->arena, kernel).result, &why)))
        return why;
    return trial_judge(t, t->arena, &run, wanted);
}

/* Tells the parent which call comes next, so that it can name the call if this process dies or hangs. */
static void tell_try(void *pipe, const char *words) {
    send_event(*(int *)pipe, (struct test_event){.kind = EVENT_TRIES, .why = words});
}

static const char *run_any(struct test_trial *t, const struct test_job *job, int pipe) {
    if (!t->directive->forall)
        return run_test(t);
    struct property_tell tell = {tell_try, &pipe};
    return property_run(t, job->conditions, (uint64_t)t->c->options->seed, &tell);
}

/* ---- the child ---- */

/* All kernels that the tests need, built as one program: see device_batch. */
static struct device_batch *build_together(const struct test_job *job, const struct executor *executor, size_t first) {
    struct compilation *c = job->c;
    struct device_batch *batch = device_batch_new(diagnostics_new(c->arena, c->sources));
    for (size_t i = first; i < job->tests->count; i++) {
        const struct directive *directive = &job->tests->at[i];
        const char *names[] = {directive->kernel, property_other(c, directive)};
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            struct suggestion unused = suggestion_for(names[k] ? names[k] : "");
            const struct core_global *kernel = names[k] ? kernel_of_file(c, names[k], &unused) : NULL;
            if (kernel)
                device_batch_add(batch, kernel, trial_degree(c, directive));
        }
    }
    struct execution building = execution_of(c);
    building.batch = batch;
    if (executor->build)
        executor->build(&building);
    return batch;
}

static const char *directory_of(const struct compilation *c) {
    const char *directory = path_directory(c->arena, c->file->source->path);
    return *directory ? directory : NULL;
}

static void run_tests(const struct test_job *job, size_t first, bool together, int pipe) {
    struct compilation *c = job->c;
    const struct executor *executor = job->executor;
    const char *said = NULL;
    struct test_event event = {.target = executor ? executor->name : NULL};
    if (executor ? !executor->available(c->options, c->arena, &said)
                 : !(executor = executor_choose(c->options, c->arena, &said))) {
        event.kind = EVENT_ABSENT;
        event.why = said;
        send_event(pipe, event);
        return;
    }
    event.target = executor->name;
    event.kind = EVENT_BUILDS;
    event.why = said;
    if (job->executor)
        event.why = device_mapping_note(c->options, c->arena, executor->name);
    send_event(pipe, event);
    event.why = NULL;
    struct device_batch *batch = together ? build_together(job, executor, first) : NULL;
    bool device_failed = false;
    for (size_t i = first; i < job->tests->count && !device_failed; i++) {
        event.kind = EVENT_BEGINS;
        send_event(pipe, event);
        struct test_trial trial = {c, executor, &job->tests->at[i], batch, arena_new(), directory_of(c), false};
        struct test_event end = {.kind = EVENT_ENDS, .target = executor->name};
        double begin = timing_now();
        end.why = run_any(&trial, job, pipe);
        end.seconds = timing_now() - begin;
        end.has_failed = end.why != NULL;
        end.device_failed = device_failed = trial.device_failed;
        send_event(pipe, end);
        arena_free(trial.arena);
    }
    if (batch)
        device_batch_free(batch);
    event.kind = EVENT_DONE;
    send_event(pipe, event);
}

/* ---- the parent ---- */

struct test_worker {
    pid_t process;
    int pipe;
};

/* The child and the compilers that it starts are a group, so that they can be ended together; and
   the child does not go on when this process is gone. SIGTERM ends it, as it then removes its files. */
static void become_worker(void) {
    setpgid(0, 0);
    signal(SIGPIPE, SIG_IGN); /* send_event sees it */
    signal(SIGTERM, SIG_DFL);
    interrupt_cleans_up();
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
}

struct test_worker *test_worker_start(struct arena *arena, const struct test_job *job, size_t first, bool together,
                                      const char **why) {
    int ends[2] = {-1, -1};
    fflush(NULL); /* else the child has it, too */
    pid_t process = pipe(ends) == 0 ? fork() : -1;
    if (process < 0) {
        *why = arena_printf(arena, "no process can be started for the tests: %s", strerror(errno));
        close(ends[0]);
        close(ends[1]);
        return NULL;
    }
    if (process == 0) {
        close(ends[0]);
        become_worker();
        run_tests(job, first, together, ends[1]);
        exit(EXIT_GOOD);
    }
    close(ends[1]);
    struct test_worker *worker = ARENA_NEW(arena, struct test_worker);
    *worker = (struct test_worker){process, ends[0]};
    return worker;
}

static int wait_for(struct test_worker *worker) {
    int status = 0;
    while (worker->process > 0 && waitpid(worker->process, &status, 0) < 0 && errno == EINTR)
        continue;
    worker->process = 0;
    return status;
}

static void send_signal(const struct test_worker *worker, int number) {
    if (kill(-worker->process, number) != 0)
        kill(worker->process, number); /* it has not come to make its group */
}

enum { MILLISECONDS_TO_END = 2000 };

/* It is asked to end, so that it removes its files, and killed if it does not. */
static void kill_worker(struct test_worker *worker) {
    siginfo_t end = {0};
    send_signal(worker, SIGTERM);
    for (int i = 0; i < MILLISECONDS_TO_END && end.si_pid == 0; i++) {
        waitid(P_PID, (id_t)worker->process, &end, WEXITED | WNOHANG | WNOWAIT);
        poll(NULL, 0, end.si_pid == 0);
    }
    send_signal(worker, SIGKILL); /* the compilers, too */
    wait_for(worker);
}

static struct test_event crash_of(struct test_worker *worker, struct arena *arena) {
    struct test_event event = {.kind = EVENT_CRASHED, .device_failed = true};
    int status = wait_for(worker);
    if (WIFSIGNALED(status))
        event.why = arena_printf(arena, "it crashes: %s (signal %d)", strsignal(WTERMSIG(status)), WTERMSIG(status));
    else
        event.why = arena_printf(arena, "its process ends, with exit status %d", WEXITSTATUS(status));
    return event;
}

static bool is_readable(int pipe, double seconds) {
    double end = timing_now() + seconds;
    for (;;) {
        double left = end - timing_now();
        struct pollfd wanted = {.fd = pipe, .events = POLLIN};
        int count = poll(&wanted, 1, seconds > 0 ? (left > 0 ? (int)(left * 1e3) + 1 : 0) : -1);
        if (count > 0 || (count == 0 && seconds > 0 && timing_now() >= end) || (count < 0 && errno != EINTR))
            return count != 0;
    }
}

struct test_event test_worker_next(struct test_worker *worker, struct arena *arena, double seconds) {
    struct test_event event = {.kind = EVENT_TIMEOUT};
    if (!is_readable(worker->pipe, seconds)) {
        kill_worker(worker);
        return event;
    }
    return receive_event(worker->pipe, arena, &event) ? event : crash_of(worker, arena);
}

void test_worker_end(struct test_worker *worker) {
    close(worker->pipe);
    wait_for(worker);
}
