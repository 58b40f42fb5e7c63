/* The process that runs tests, and the pipe by which it says what came of them; see test_worker.h.

   note [processes]
   A kernel that stops its device, crashes or does not end takes the process with it: CUDA, for one,
   gives nothing more to a process whose kernel has read outside of its memory. So tests run in a
   child, which says through a pipe what it begins and how that ends. When it is gone, the parent
   knows at which test, and lets a new child go on behind it. The child is a copy of this process
   (fork), so that the program is checked once. The parent never opens a device, as drivers do not
   survive being copied. */
#include "driver/test_worker.h"

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
#include "driver/timing.h"
#include "support/edit.h"

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

struct testing {
    const struct test_job *job;
    const struct executor *executor;
    const struct directive *directive;
    struct device_batch *batch;
    struct arena *arena; /* of this test */
    bool device_failed;
};

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

/* These give NULL for a test that passes, or why it fails. */

static const char *check_error(const struct testing *t, enum exit_status status, const char *messages) {
    if (status == EXIT_GOOD)
        return "it runs, and an error is wanted";
    if (!strstr(messages, t->directive->wanted))
        return arena_printf(t->arena, "the error is another one:\n%s", messages);
    return NULL;
}

static const char *check_result(const struct testing *t, struct type *type, const struct host_value *got,
                                const char *directory) {
    struct value_argument wanted_is = {0, "the wanted result", directory};
    const char *why = NULL;
    const struct host_value *wanted = value_parse(t->arena, type, &wanted_is, t->directive->wanted, &why);
    struct value_comparison comparison = {t->directive->expectation == EXPECT_CLOSE, t->directive->tolerance};
    return wanted && value_same(t->arena, got, wanted, comparison, &why) ? NULL : why;
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

static const char *run_test(struct testing *t) {
    struct compilation *c = t->job->c;
    const struct directive *directive = t->directive;
    const char *directory = path_directory(t->arena, c->file->source->path), *why = NULL;
    if (!*directory)
        directory = NULL;
    struct suggestion suggestion = suggestion_for(directive->kernel);
    const struct core_global *kernel = kernel_named(c, directive->kernel, &suggestion);
    if (!kernel)
        return suggestion.best ? arena_printf(t->arena, "no kernel is named `%s`; did you mean `%s`?",
                                              directive->kernel, suggestion.best)
                               : arena_printf(t->arena, "no kernel is named `%s`", directive->kernel);
    struct host_value **arguments =
        parse_arguments(t->arena, kernel, directive->arguments.at, directive->arguments.count, directory, &why);
    if (!arguments)
        return directive->expectation == EXPECT_ERROR ? check_error(t, EXIT_USAGE, why) : why;
    struct diagnostics *diagnostics = diagnostics_new(t->arena, c->sources);
    struct options options = *c->options;
    options.check = is_checked(c, directive);
    struct execution execution = execution_of(c);
    execution.arena = t->arena;
    execution.options = &options;
    execution.kernel = kernel;
    execution.arguments = arguments;
    execution.argument_count = directive->arguments.count;
    execution.diagnostics = diagnostics;
    execution.batch = t->batch;
    struct host_value *result = NULL;
    enum exit_status status = t->executor->run(&execution, &result);
    t->device_failed = status == EXIT_DEVICE;
    if (directive->expectation == EXPECT_ERROR)
        return check_error(t, status, messages_of(t->arena, diagnostics));
    if (status != EXIT_GOOD)
        return arena_printf(t->arena, "it does not run:\n%s", messages_of(t->arena, diagnostics));
    return check_result(t, kernel_interface(t->arena, kernel).result, result, directory);
}

/* ---- the child ---- */

/* All kernels that the tests need, built as one program: see device_batch. */
static struct device_batch *build_together(const struct test_job *job, const struct executor *executor, size_t first) {
    struct compilation *c = job->c;
    struct device_batch *batch = device_batch_new(diagnostics_new(c->arena, c->sources));
    for (size_t i = first; i < job->tests->count; i++) {
        struct suggestion unused = suggestion_for(job->tests->at[i].kernel);
        const struct core_global *kernel = kernel_named(c, job->tests->at[i].kernel, &unused);
        if (kernel)
            device_batch_add(batch, kernel, is_checked(c, &job->tests->at[i]));
    }
    struct execution building = execution_of(c);
    building.batch = batch;
    if (executor->build)
        executor->build(&building);
    return batch;
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
        struct testing testing = {job, executor, &job->tests->at[i], batch, arena_new(), false};
        struct test_event end = {.kind = EVENT_ENDS, .target = executor->name};
        double begin = timing_now();
        end.why = run_test(&testing);
        end.seconds = timing_now() - begin;
        end.has_failed = end.why != NULL;
        end.device_failed = device_failed = testing.device_failed;
        send_event(pipe, end);
        arena_free(testing.arena);
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
