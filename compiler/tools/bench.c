/* fclc bench: a kernel timed on a device, and compared with what was measured before.

   note [what is timed]
   A run is timed by the clock around it, launches and host work included, and nothing else goes on:
   no events are recorded, and on OpenCL the queue has none. The time of each device kernel is measured afterwards, in a
   session of its own that has them, by fewer runs.

   note [noise]
   Times have no normal distribution: now and then one takes long. So a kernel's time is the median,
   and the noise is where the middle half of the runs lies, from the lower quartile to the upper. A
   difference counts when those of two measurements do not overlap. */
#include <math.h>
#include <string.h>

#include "driver/commands.h"
#include "driver/complaint.h"
#include "driver/output.h"
#include "tools/timing.h"
#include "host/execute.h"
#include "support/json.h"
#include "values/value.h"

enum { WARM_UP = 3, LEAST_RUNS = 11, MOST_RUNS = 101, PROFILED_RUNS = 11 };
static const double ENOUGH_SECONDS = 1.0; /* of measuring, when that takes more than the least runs */

typedef VEC(double) samples; /* seconds */

struct distribution {
    double least, lower, median, upper, mean; /* seconds */
};

static double at_share(const samples *sorted, double share) {
    double place = share * (double)(sorted->count - 1);
    size_t below = (size_t)place, above = below + 1 < sorted->count ? below + 1 : below;
    return sorted->at[below] + (place - (double)below) * (sorted->at[above] - sorted->at[below]);
}

static struct distribution distribution_of(samples *measured) {
    timing_sort(measured->at, measured->count);
    double sum = 0;
    for (size_t i = 0; i < measured->count; i++)
        sum += measured->at[i];
    return (struct distribution){measured->at[0], at_share(measured, 0.25), at_share(measured, 0.5),
                                 at_share(measured, 0.75), sum / (double)measured->count};
}

static double noise_of(const struct distribution *d) { return (d->upper - d->lower) / d->median; }

/* ---- measuring ---- */

/* A device kernel: what its launches of a run take together. */
struct kernel_times {
    const char *name;
    size_t launches; /* of the last run */
    samples runs;
};

struct measurement {
    const char *device, *kind, *params;
    size_t runs;
    double bytes;
    struct distribution time;
    VEC(struct kernel_times *) kernels;
};

static bool is_enough(const struct options *o, size_t runs, double spent) {
    if (o->runs)
        return runs >= (size_t)o->runs;
    if (o->time > 0)
        return runs >= LEAST_RUNS && spent >= o->time;
    return runs >= MOST_RUNS || (runs >= LEAST_RUNS && spent >= ENOUGH_SECONDS);
}

static bool warm_up(struct device_session *session) {
    for (int i = 0; i < WARM_UP; i++)
        if (!device_run_once(session->run, &session->why))
            return false;
    return true;
}

/* See note [what is timed]. */
static bool measure_runs(const struct execution *request, struct device_session *session, struct measurement *m) {
    samples measured = {0};
    double spent = 0, seconds;
    if (!warm_up(session))
        return false;
    while (!is_enough(request->options, measured.count, spent)) {
        if (!timing_run(session, 1, &seconds))
            return false;
        spent += seconds;
        vec_push(request->arena, &measured, seconds);
    }
    m->runs = measured.count;
    m->time = distribution_of(&measured);
    return true;
}

static struct kernel_times *times_of(struct arena *arena, struct measurement *m, const char *name) {
    for (size_t i = 0; i < m->kernels.count; i++)
        if (strcmp(m->kernels.at[i]->name, name) == 0)
            return m->kernels.at[i];
    struct kernel_times *times = ARENA_NEW(arena, struct kernel_times);
    times->name = arena_strndup(arena, name, strlen(name)); /* the context's is gone before the report */
    vec_push(arena, &m->kernels, times);
    return times;
}

/* A kernel that was not launched in a run has no time there. */
static bool take_launches(struct arena *arena, struct device_session *session, struct measurement *m) {
    const struct fcl_timing *timings;
    size_t count;
    if (fcl_timings(session->context, &timings, &count) != FCL_OK)
        return session->why = fcl_error(session->context), false;
    for (size_t i = 0; i < m->kernels.count; i++)
        m->kernels.at[i]->launches = 0;
    for (size_t i = 0; i < count; i++) {
        struct kernel_times *times = times_of(arena, m, timings[i].kernel);
        if (times->launches++ == 0)
            vec_push(arena, &times->runs, 0.0);
        times->runs.at[times->runs.count - 1] += timings[i].seconds;
    }
    return true;
}

static bool measure_launches(const struct execution *request, struct device_session *session, struct measurement *m) {
    double seconds;
    if (!warm_up(session))
        return false;
    for (size_t i = 0; i < PROFILED_RUNS && i < m->runs; i++) {
        fcl_clear_timings(session->context);
        if (!timing_run(session, 1, &seconds) || !take_launches(request->arena, session, m))
            return false;
    }
    return true;
}

typedef bool measure(const struct execution *request, struct device_session *session, struct measurement *m);

/* Note [what is timed] says why there are two sessions. */
static enum exit_status in_session(struct compilation *c, struct execution *request, measure *what,
                                   struct measurement *m) {
    struct device_session session = {0};
    bool is_good = device_prepare(request, &session) && what(request, &session, m);
    while (!is_good && (device_lacks_shared(&session, request) || device_is_large(&session, request))) {
        device_finish(&session);
        session = (struct device_session){0};
        is_good = device_prepare(request, &session) && what(request, &session, m);
    }
    enum exit_status status = EXIT_GOOD;
    if (!is_good)
        status = session.status != EXIT_GOOD ? session.status : EXIT_DEVICE;
    if (status != EXIT_GOOD && device_run_failed_check(session.run)) {
        status = device_report_check(&session, c->diagnostics);
    } else if (status != EXIT_GOOD && session.why) {
        driver_complain(c->options, status, "%s", session.why);
    } else if (status == EXIT_GOOD) {
        const struct fcl_device_info *device = fcl_device(session.context);
        m->device = arena_strndup(c->arena, device->name, strlen(device->name));
        m->kind = fcl_device_kind_name(device->kind);
        m->params = session.tuned ? session.tuned->params : "";
        m->bytes = (double)device_run_bytes(session.run);
    }
    device_finish(&session);
    return status;
}

/* ---- the baseline ---- */

enum verdict { VERDICT_SAME, VERDICT_SLOWER, VERDICT_FASTER };
static const char *const verdict_names[] = {
    [VERDICT_SAME] = "same", [VERDICT_SLOWER] = "slower", [VERDICT_FASTER] = "faster"};

struct baseline {
    struct distribution time;
    double ratio; /* how many times as long it takes now */
    enum verdict verdict;
};

static const char *arguments_text(struct compilation *c) {
    struct text text;
    text_init(&text, c->arena);
    for (size_t i = 2; i < c->options->operand_count; i++)
        text_printf(&text, "%s%s", i > 2 ? " " : "", c->options->operands[i]);
    return text_as_utf8(c->arena, text_string(&text));
}

/* Is the member this text? Otherwise *what says of which other one the baseline is. */
static bool is_of(struct arena *arena, yyjson_val *root, const char *member, const char *now, const char **what) {
    const char *then = yyjson_get_str(yyjson_obj_get(root, member));
    if (then && strcmp(then, now) == 0)
        return true;
    *what = arena_printf(arena, "it was measured with %s `%s`, not `%s`", member, then ? then : "", now);
    return false;
}

static bool read_time(yyjson_val *root, const char *member, double *seconds) {
    yyjson_val *value = yyjson_obj_get(root, member);
    *seconds = yyjson_get_num(value);
    return yyjson_is_num(value) && *seconds > 0;
}

/* Reads the times that --save has written, for the same kernel, arguments and device. */
static bool read_baseline(struct compilation *c, const struct measurement *m, struct baseline *baseline) {
    const char *path = c->options->baseline, *why = NULL;
    struct value_bytes bytes;
    yyjson_val *root = NULL;
    if (value_read_file(c->arena, path, &bytes, &why))
        root = json_read(c->arena, (const char *)bytes.at, bytes.length, &why);
    struct distribution *time = &baseline->time;
    if (root && !(read_time(root, "median_s", &time->median) && read_time(root, "lower_s", &time->lower) &&
                  read_time(root, "upper_s", &time->upper)))
        why = "this is not what `fclc bench --save` writes";
    else if (root && is_of(c->arena, root, "kernel", c->options->operands[1], &why) &&
             is_of(c->arena, root, "arguments", arguments_text(c), &why) &&
             is_of(c->arena, root, "target", m->kind, &why) && is_of(c->arena, root, "device", m->device, &why))
        return true;
    driver_complain(c->options, EXIT_USAGE, "%s: %s", path, why);
    return false;
}

/* See note [noise]. */
static void compare(const struct measurement *m, struct baseline *baseline) {
    const struct distribution *then = &baseline->time, *now = &m->time;
    baseline->ratio = now->median / then->median;
    baseline->verdict = now->lower > then->upper   ? VERDICT_SLOWER
                        : now->upper < then->lower ? VERDICT_FASTER
                                                   : VERDICT_SAME;
}

/* ---- the report ---- */

/* In milliseconds, in which what takes less than a tenth of one has three digits more. */
static const char *in_ms(struct arena *arena, double seconds) {
    return arena_printf(arena, "%.*f", seconds < 1e-4 ? 6 : 3, seconds * 1e3);
}

static void print_text(const struct compilation *c, const struct measurement *m, const struct baseline *baseline) {
    const struct distribution *t = &m->time;
    printf("%s on %s (%s), %zu run%s\n", c->options->operands[1], m->device, m->kind, m->runs, m->runs == 1 ? "" : "s");
    if (*m->params)
        printf("  tuned: %s\n", m->params);
    struct arena *arena = c->arena;
    printf("  median %s ms, min %s ms", in_ms(arena, t->median), in_ms(arena, t->least));
    printf(", %.2f GB/s (%.0f bytes of arguments and results)\n", m->bytes / t->median * 1e-9, m->bytes);
    printf("  half of the runs within %s … %s ms, %.1f %% of the median\n", in_ms(arena, t->lower),
           in_ms(arena, t->upper), noise_of(t) * 1e2);
    if (m->kernels.count)
        printf("  each device kernel by itself, median of other runs:\n");
    for (size_t k = 0; k < m->kernels.count; k++) {
        struct kernel_times *times = m->kernels.at[k];
        printf("    %-30s %s ms", times->name, in_ms(arena, distribution_of(&times->runs).median));
        if (times->launches > 1)
            printf(" in %zu launches", times->launches);
        printf("\n");
    }
    if (baseline)
        printf("  %.2f times as long as the %s ms of %s: %s\n", baseline->ratio, in_ms(arena, baseline->time.median),
               c->options->baseline,
               baseline->verdict == VERDICT_SAME ? "no difference beyond the noise" : verdict_names[baseline->verdict]);
}

static const char *report_json(struct compilation *c, const struct measurement *m, const struct baseline *baseline) {
    struct arena *arena = c->arena;
    const struct distribution *t = &m->time;
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    json_add_text(doc, arena, root, "kernel", c->options->operands[1]);
    json_add_text(doc, arena, root, "arguments", arguments_text(c));
    yyjson_mut_obj_add_str(doc, root, "target", m->kind);
    json_add_text(doc, arena, root, "device", m->device);
    json_add_text(doc, arena, root, "params", m->params);
    yyjson_mut_obj_add_uint(doc, root, "runs", m->runs);
    yyjson_mut_obj_add_real(doc, root, "median_s", t->median);
    yyjson_mut_obj_add_real(doc, root, "mean_s", t->mean);
    yyjson_mut_obj_add_real(doc, root, "min_s", t->least);
    yyjson_mut_obj_add_real(doc, root, "lower_s", t->lower);
    yyjson_mut_obj_add_real(doc, root, "upper_s", t->upper);
    yyjson_mut_obj_add_uint(doc, root, "bytes", (uint64_t)m->bytes);
    yyjson_mut_obj_add_real(doc, root, "gb_per_s", m->bytes / t->median * 1e-9);
    yyjson_mut_val *launches = json_add_array(doc, root, "launches");
    for (size_t k = 0; k < m->kernels.count; k++) {
        struct kernel_times *times = m->kernels.at[k];
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(doc, launches);
        json_add_text(doc, arena, one, "kernel", times->name);
        yyjson_mut_obj_add_uint(doc, one, "launches", times->launches);
        yyjson_mut_obj_add_real(doc, one, "median_s", distribution_of(&times->runs).median);
    }
    if (baseline) {
        yyjson_mut_val *object = json_add_object(doc, root, "baseline");
        yyjson_mut_obj_add_real(doc, object, "median_s", baseline->time.median);
        yyjson_mut_obj_add_real(doc, object, "ratio", baseline->ratio);
        yyjson_mut_obj_add_str(doc, object, "verdict", verdict_names[baseline->verdict]);
    }
    return json_write(arena, root);
}

static enum exit_status save(struct compilation *c, const struct measurement *m) {
    const char *text = arena_printf(c->arena, "%s\n", report_json(c, m, NULL)), *why;
    if (output_write(c->arena, c->options->save, text, strlen(text), &why))
        return EXIT_GOOD;
    return driver_complain(c->options, EXIT_USAGE, "%s", why);
}

static void warn_of_noise(struct compilation *c, const struct baseline *baseline) {
    driver_complain(c->options, EXIT_GOOD,
                    "the difference from %s, %.1f %%, is within the noise, as the middle halves of the runs overlap: a "
                    "longer --time may tell",
                    c->options->baseline, fabs(baseline->ratio - 1) * 1e2);
}

/* Where there is a baseline, what is slower by more than the noise is an error of the program. */
static enum exit_status report(struct compilation *c, const struct measurement *m) {
    struct baseline found, *baseline = c->options->baseline ? &found : NULL;
    if (baseline && !read_baseline(c, m, baseline))
        return EXIT_USAGE;
    if (baseline)
        compare(m, baseline);
    if (c->options->json)
        puts(report_json(c, m, baseline));
    else
        print_text(c, m, baseline);
    enum exit_status status = c->options->save ? save(c, m) : EXIT_GOOD;
    if (baseline && baseline->verdict == VERDICT_SAME)
        warn_of_noise(c, baseline);
    if (status == EXIT_GOOD && baseline && baseline->verdict == VERDICT_SLOWER)
        status = EXIT_PROGRAM_WRONG;
    return status;
}

static enum exit_status bench(struct compilation *c) {
    struct execution request;
    enum exit_status status = timing_request(c, &request);
    if (!request.kernel)
        return status;
    if (c->options->save && compilation_overwrites(c, "--save", c->options->save))
        return EXIT_USAGE;
    struct measurement m = {0};
    status = in_session(c, &request, measure_runs, &m);
    request.profile = true;
    if (status == EXIT_GOOD)
        status = in_session(c, &request, measure_launches, &m);
    return status == EXIT_GOOD ? report(c, &m) : status;
}

enum exit_status command_bench(struct options *options) {
    if (options->runs && options->time > 0)
        return driver_complain(options, EXIT_USAGE, "--runs and --time both say when it is enough: give one of them");
    struct compilation *c = compilation_new(options);
    return compilation_end(c, bench(c));
}
