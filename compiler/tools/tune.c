/* fclc tune: looks for the values of params that make a kernel fast, among the choices that they
   declare.

   From the params' own values on, it takes one param after another and tries its other choices,
   with the rest as it is; what is faster is kept, until nothing is. Only params that the kernel
   asks for on that device count, and code that comes out the same as before is not tried again.
   Machines are noisy, so a candidate and the best so far run by turns, their lower quartiles
   count, and what wins must win again. A choice that changes the result (but for the rounding of
   another order) is left out, and said so; and so is one that a device has not the shared memory
   for, or that needs more registers than there are, where the best so far does with them. */
#include <math.h>
#include <string.h>

#include "driver/generate.h"
#include "driver/arguments.h"
#include "driver/commands.h"
#include "driver/complaint.h"
#include "tools/timing.h"
#include "host/execute.h"

enum { MOST_PAIRS = 15, FEW_PAIRS = 3, ENOUGH_PAIRS = 7, MOST_RUNS = 64 };
static const double LEAST_SAMPLE = 0.004; /* seconds: shorter ones are made of several runs */
static const double ENOUGH_SECONDS = 1.0; /* of comparing, when the pairs are enough */
static const double CLEAR = 1.25;         /* a ratio, or one over it, that ends a comparison early */
static const double FASTER = 0.98;        /* a ratio that is worth a change */
static const double CLOSE = 1e-3;         /* of results in floating point: sums in another order */

/* Values for the params, with the code they give. */
struct trial {
    struct arena *arena;
    struct tuned values;
    struct map *asked; /* the params that the code asked for */
    struct device_session session;
    const char *problem; /* why it is no candidate */
};

struct search {
    struct compilation *c;
    struct execution request;
    struct trial *start, *best;
    struct host_value *wanted;
    VEC(const char *) seen; /* the texts that were tried */
};

static void trial_close(struct trial *trial) {
    device_finish(&trial->session);
    arena_free(trial->arena);
}

static bool is_seen(struct search *s, const char *text) {
    for (size_t i = 0; i < s->seen.count; i++)
        if (strcmp(s->seen.at[i], text) == 0)
            return true;
    vec_push(s->c->arena, &s->seen, arena_strndup(s->c->arena, text, strlen(text)));
    return false;
}

/* A run with all checks: without them, a choice that leads outside of arrays ends the search, or
   spoils what comes after. */
static bool passes_checks(const struct execution *request, struct trial *trial) {
    struct options options = *request->options;
    options.check = DEGREE_ALL;
    struct execution checked = *request;
    checked.options = &options;
    struct device_session session = {0};
    bool is_good = device_prepare(&checked, &session) && device_run_once(session.run, &session.why);
    if (!is_good) {
        const char *why = session.why ? session.why : diag_first_error(checked.diagnostics);
        trial->problem = arena_strndup(trial->arena, why, strlen(why)); /* the session's own goes with it */
    }
    device_finish(&session);
    return is_good;
}

enum { WIDTH = 48 };

static void print_heading(const struct search *s) {
    if (!s->c->options->json_diagnostics)
        fprintf(stderr, "  %-*s %13s %13s  ratio, of runs in turns\n", WIDTH, "tried", "time", "best before");
}

/* Prints the values of a trial before it runs: it may run for ever. Where diagnostics are data there are no rows. */
static void begin_row(const struct search *s, const struct trial *trial) {
    if (!s->start || s->c->options->json_diagnostics)
        return;
    fprintf(stderr, "  %-*s ", WIDTH, trial->values.params);
    fflush(stderr);
}

/* Makes, builds and runs the kernel with these values. NULL: its code was tried before. */
static struct trial *trial_open(struct search *s, struct tuned values) {
    struct arena *arena = arena_new();
    struct trial *trial = ARENA_NEW(s->c->arena, struct trial);
    trial->arena = arena;
    trial->values = values;
    trial->asked = map_new(arena);
    struct execution request = s->request;
    request.arena = arena;
    request.trial = &trial->values;
    request.asked = trial->asked;
    request.diagnostics = diagnostics_new(arena, s->c->sources); /* what is wrong with the program was said before */
    bool is_made = device_open(&request, &trial->session);
    if (is_made && is_seen(s, trial->session.text)) {
        trial_close(trial);
        return NULL;
    }
    begin_row(s, trial);
    if (!is_made) {
        trial->problem = trial->session.why ? trial->session.why : diag_first_error(request.diagnostics);
        return trial;
    }
    if (s->best && target_outside(trial->session.generated->targets.at[0]) &&
        !target_outside(s->best->session.generated->targets.at[0])) {
        trial->problem = "wants more shared memory than a block has";
        return trial;
    }
    if (!passes_checks(&request, trial))
        return trial;
    if (!device_build(&request, &trial->session) || !device_pass(&request, &trial->session)) {
        trial->problem = trial->session.why;
        return trial;
    }
    uint64_t spilled = device_run_spilled_bytes(trial->session.run);
    if (s->best && spilled > device_run_spilled_bytes(s->best->session.run))
        trial->problem = arena_printf(arena, "needs %llu bytes more for each thread than there are registers",
                                      (unsigned long long)spilled);
    else if (!device_run_once(trial->session.run, &trial->session.why))
        trial->problem = trial->session.why;
    return trial;
}

static bool has_wanted_result(const struct search *s, struct trial *trial) {
    const char *why = NULL;
    struct host_value *result = device_run_result(trial->session.run, trial->arena, &why);
    if (result && value_same(trial->arena, result, s->wanted, (struct value_comparison){true, CLOSE}, &why))
        return true;
    trial->problem = result ? "changes the result" : why;
    return false;
}

/* The lower quartile: what a run takes when little comes between. */
static double quartile(const double *samples, size_t count) {
    double sorted[MOST_PAIRS];
    memcpy(sorted, samples, count * sizeof *samples);
    timing_sort(sorted, count);
    return sorted[count / 4];
}

struct comparison {
    double first, second; /* seconds of a run */
    double ratio;         /* how long the second takes over how long the first does */
};

/* False: one has failed, and its problem says why. */
static bool compare(struct trial *first, struct trial *second, struct comparison *result) {
    struct trial *sides[2] = {first, second};
    double samples[2][MOST_PAIRS], once, spent = 0;
    if (!timing_run(&second->session, 1, &once))
        return second->problem = second->session.why, false;
    int runs = (int)fmin(MOST_RUNS, ceil(LEAST_SAMPLE / fmax(once, 1e-6)));
    for (size_t pairs = 1; pairs <= MOST_PAIRS; pairs++) {
        for (int i = 0; i < 2; i++) {
            double *sample = &samples[i][pairs - 1];
            if (!timing_run(&sides[i]->session, runs, sample))
                return sides[i]->problem = sides[i]->session.why, false;
            spent += *sample;
        }
        result->first = quartile(samples[0], pairs) / runs;
        result->second = quartile(samples[1], pairs) / runs;
        result->ratio = result->second / result->first;
        bool is_clear = result->ratio > CLEAR || result->ratio < 1 / CLEAR;
        if ((pairs >= FEW_PAIRS && is_clear) || (pairs >= ENOUGH_PAIRS && spent > ENOUGH_SECONDS))
            break;
    }
    return true;
}

/* ---- the search ---- */

/* Those of the best with another value for one param; the param's own value is none. */
static struct tuned with_value(const struct search *s, const struct core_global *param, const struct core *value) {
    struct arena *arena = s->c->arena;
    const struct tuned *from = &s->best->values;
    struct tuned to = {.values = ARENA_ARRAY(arena, struct param_value, from->value_count + 1)};
    for (size_t i = 0; i < from->value_count; i++)
        if (from->values[i].param != param)
            to.values[to.value_count++] = from->values[i];
    struct param_value changed = {param, value}, own = {param, param->body};
    if (strcmp(tuning_params_text(arena, &changed, 1), tuning_params_text(arena, &own, 1)) != 0)
        to.values[to.value_count++] = changed;
    to.params = tuning_params_text(arena, to.values, to.value_count);
    return to;
}

static void end_row(const struct search *s, const struct trial *trial, const struct comparison *c, bool is_better) {
    if (s->c->options->json_diagnostics)
        return;
    if (trial->problem)
        fprintf(stderr, "%s\n", trial->problem);
    else
        fprintf(stderr, "%10.3f ms %10.3f ms %6.2f%s\n", c->second * 1e3, c->first * 1e3, c->ratio,
                is_better ? "  better" : "");
}

/* True when it is the best now. */
static bool try_value(struct search *s, const struct core_global *param, const struct core *value) {
    struct trial *trial = trial_open(s, with_value(s, param, value));
    if (!trial)
        return false;
    struct comparison c = {0};
    bool is_better = !trial->problem && has_wanted_result(s, trial) && compare(s->best, trial, &c) &&
                     c.ratio < FASTER && compare(s->best, trial, &c) && c.ratio < FASTER;
    end_row(s, trial, &c, is_better);
    if (!is_better) {
        trial_close(trial);
        return false;
    }
    if (s->best != s->start)
        trial_close(s->best);
    s->best = trial;
    return true;
}

static bool is_tunable(const struct search *s, const struct core_global *param) {
    if (param->choice_count < 2 || !map_has(s->best->asked, param) ||
        tuning_find_param(s->c, s->request.kernel->name->text, param->name->text) !=
            param) /* hidden: a line cannot say what it is */
        return false;
    for (size_t i = 0; i < s->c->options->settings.count; i++)
        if (strcmp(s->c->options->settings.at[i].name, param->name->text) == 0)
            return false; /* -D says what it is */
    return true;
}

static bool has_tunable(const struct search *s) {
    for (size_t i = 0; i < map_count(s->best->asked); i++)
        if (is_tunable(s, map_entry(s->best->asked, i).key))
            return true;
    return false;
}

static bool try_choices(struct search *s, const struct core_global *param) {
    bool is_better = false;
    if (param->kind == GLOBAL_PARAM && is_tunable(s, param))
        for (size_t i = 0; i < param->choice_count; i++)
            is_better |= try_value(s, param, param->choices[i]);
    return is_better;
}

static void search(struct search *s) {
    print_heading(s);
    bool is_better = true;
    while (is_better) {
        is_better = false;
        for (size_t g = 0; g < s->c->program->globals.count; g++)
            is_better |= try_choices(s, s->c->program->globals.at[g]);
        if (s->request.kernel->block_size)
            is_better |= try_choices(s, s->request.kernel->block_size);
    }
}

/* ---- what comes of it ---- */

static const char *arguments_text(const struct search *s) {
    enum { LONGEST = 60 };
    struct text text;
    text_init(&text, s->c->arena);
    for (size_t i = 2; i < s->c->options->operand_count; i++) {
        const char *argument = s->c->options->operands[i];
        int length = (int)strcspn(argument, "\t\n");
        text_printf(&text, " %.*s%s", length < LONGEST ? length : LONGEST, argument, length < LONGEST ? "" : "…");
    }
    return text_string(&text);
}

static enum exit_status deliver(struct search *s) {
    struct compilation *c = s->c;
    const struct fcl_device_info *device = fcl_device(s->best->session.context);
    struct comparison last = {0};
    if (s->best != s->start && !compare(s->start, s->best, &last))
        return driver_complain(s->c->options, EXIT_DEVICE, "%s",
                               s->best->problem ? s->best->problem : s->start->problem);
    bool is_better = s->best != s->start && last.ratio < FASTER;
    struct tuned line = is_better ? s->best->values : s->start->values;
    line.note = is_better ? arena_printf(c->arena, "%.2f times as fast: %.3f ms, was %.3f", 1 / last.ratio,
                                         last.second * 1e3, last.first * 1e3)
                          : "nothing is faster than the params' own values";
    const char *kernel = s->request.kernel->name->text;
    printf("%s on %s (%s): %s%s%s\n", kernel, device->name, fcl_device_kind_name(device->kind),
           is_better ? line.params : "", is_better ? ", " : "", line.note);
    if (!c->tuning.path)
        return EXIT_GOOD;
    line.kind = fcl_device_kind_name(device->kind);
    line.device = arena_strndup(c->arena, device->name, strlen(device->name));
    line.kernel = kernel;
    line.program = c->tuning.program_here;
    line.note = arena_printf(c->arena, "%s, with%s", line.note, arguments_text(s));
    enum exit_status status = tuning_write(c, &c->tuning, line);
    if (status == EXIT_GOOD)
        printf("written to %s\n", c->tuning.path);
    return status;
}

/* The result of a run with all checks, which reports what is wrong with the program or the arguments. */
static enum exit_status find_wanted(struct search *s) {
    struct options options = *s->request.options;
    struct execution execution = s->request;
    options.check = DEGREE_ALL;
    execution.options = &options;
    const char *why = NULL;
    const struct executor *executor = executor_choose(&options, s->c->arena, &why);
    if (!executor)
        return driver_complain(s->c->options, EXIT_DEVICE, "%s", why);
    return executor->run(&execution, &s->wanted);
}

static enum exit_status tune(struct search *s) {
    enum exit_status status = timing_request(s->c, &s->request);
    if (!s->request.kernel)
        return status;
    s->request.tuning = NULL; /* what was found before is to be found again */
    status = find_wanted(s);
    if (status != EXIT_GOOD)
        return status;
    s->best = s->start = trial_open(s, (struct tuned){.params = "-"});
    if (s->start->problem)
        return driver_complain(s->c->options, s->start->session.status ? s->start->session.status : EXIT_DEVICE, "%s",
                               s->start->problem);
    if (!has_tunable(s))
        return driver_complain(
            s->c->options, EXIT_GOOD,
            "there is nothing to tune: `%s` asks for no param that has choices, as in `param work : int = "
            "16 in {8, 16}`, and says no choice of block sizes, `with #BlockSize = 128 in {64, 128}`",
            s->request.kernel->name->text);
    search(s);
    return deliver(s);
}

enum exit_status command_tune(struct options *options) {
    struct compilation *c = compilation_new(options);
    struct search s = {.c = c};
    enum exit_status status = compilation_finish(c, tune(&s));
    if (s.best && s.best != s.start)
        trial_close(s.best);
    if (s.start)
        trial_close(s.start);
    compilation_free(c);
    return status;
}
