/* fclc bench: a kernel timed on a device; and fclc devices: what there is to run on. */
#include <string.h>

#include "driver/commands.h"
#include "driver/complaint.h"
#include "driver/timing.h"
#include "host/execute.h"

enum { WARM_UP = 3, LEAST_RUNS = 11, MOST_RUNS = 101 };
static const double ENOUGH_SECONDS = 1.0; /* of measuring, when that takes more than the least runs */

static double median(double *samples, size_t count) {
    timing_sort(samples, count);
    return count % 2 ? samples[count / 2] : (samples[count / 2 - 1] + samples[count / 2]) / 2;
}

/* A device kernel: what its launches of a run take together. */
struct kernel_times {
    const char *name;
    size_t launches; /* of the last run */
    double samples[MOST_RUNS];
};

struct measurement {
    size_t runs;
    double samples[MOST_RUNS]; /* seconds of wall clock, launches and host work included */
    VEC(struct kernel_times *) kernels;
};

static struct kernel_times *times_of(struct arena *arena, struct measurement *m, const char *name) {
    for (size_t i = 0; i < m->kernels.count; i++)
        if (strcmp(m->kernels.at[i]->name, name) == 0)
            return m->kernels.at[i];
    struct kernel_times *times = ARENA_NEW(arena, struct kernel_times);
    times->name = name;
    vec_push(arena, &m->kernels, times);
    return times;
}

static bool measure_launches(struct arena *arena, struct device_session *session, struct measurement *m) {
    const struct fcl_timing *timings;
    size_t count;
    if (fcl_timings(session->context, &timings, &count) != FCL_OK)
        return session->why = fcl_error(session->context), false;
    for (size_t i = 0; i < m->kernels.count; i++)
        m->kernels.at[i]->launches = 0;
    for (size_t i = 0; i < count; i++) {
        struct kernel_times *times = times_of(arena, m, timings[i].kernel);
        times->launches++;
        times->samples[m->runs] += timings[i].seconds;
    }
    return true;
}

static bool measure(struct arena *arena, struct device_session *session, struct measurement *m) {
    for (int i = 0; i < WARM_UP; i++)
        if (!device_run_once(session->run, &session->why))
            return false;
    double spent = 0;
    while (m->runs < MOST_RUNS && (m->runs < LEAST_RUNS || spent < ENOUGH_SECONDS)) {
        fcl_clear_timings(session->context);
        if (!timing_run(session, 1, &m->samples[m->runs]))
            return false;
        spent += m->samples[m->runs];
        if (!measure_launches(arena, session, m))
            return false;
        m->runs++;
    }
    return true;
}

static void print_string(const char *text) { /* of JSON */
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        if ((unsigned char)*text >= ' ')
            putchar(*text);
    }
    putchar('"');
}

static void report(const struct options *options, struct device_session *session, const char *kernel,
                   struct measurement *m) {
    const struct fcl_device_info *device = fcl_device(session->context);
    double middle = median(m->samples, m->runs), bytes = (double)device_run_bytes(session->run);
    if (!options->json) {
        printf("%s on %s (%s), %zu runs\n", kernel, device->name, fcl_device_kind_name(device->kind), m->runs);
        if (session->tuned)
            printf("  tuned: %s\n", session->tuned->params);
        printf("  median %.3f ms, min %.3f ms", middle * 1e3, m->samples[0] * 1e3);
        printf(", %.2f GB/s (%.0f bytes of arguments and results)\n", bytes / middle * 1e-9, bytes);
        for (size_t k = 0; k < m->kernels.count; k++) {
            struct kernel_times *times = m->kernels.at[k];
            printf("  %-32s %.3f ms", times->name, median(times->samples, m->runs) * 1e3);
            if (times->launches > 1)
                printf(" in %zu launches", times->launches);
            printf("\n");
        }
        return;
    }
    printf("{\"kernel\": ");
    print_string(kernel);
    printf(", \"target\": ");
    print_string(fcl_device_kind_name(device->kind));
    printf(", \"device\": ");
    print_string(device->name);
    printf(", \"params\": ");
    print_string(session->tuned ? session->tuned->params : "");
    printf(", \"runs\": %zu, \"median_s\": %.9f, \"min_s\": %.9f, \"bytes\": %.0f, \"gb_per_s\": %.3f, \"launches\": [",
           m->runs, middle, m->samples[0], bytes, bytes / middle * 1e-9);
    for (size_t k = 0; k < m->kernels.count; k++) {
        struct kernel_times *times = m->kernels.at[k];
        printf("%s{\"kernel\": ", k ? ", " : "");
        print_string(times->name);
        printf(", \"launches\": %zu, \"median_s\": %.9f}", times->launches, median(times->samples, m->runs));
    }
    printf("]}\n");
}

static enum exit_status bench(struct compilation *c) {
    struct device_request request;
    bool is_ready = false;
    enum exit_status status = timing_request(c, &request, &is_ready);
    if (!is_ready)
        return status;
    request.tuning = &c->tuning;
    request.profile = true;
    struct device_session session = {0};
    struct measurement *m = ARENA_NEW(c->arena, struct measurement);
    bool is_good = device_prepare(&request, &session) && measure(c->arena, &session, m);
    if (!is_good && device_lacks_shared(&session, &request)) {
        device_finish(&session);
        session = (struct device_session){0};
        is_good = device_prepare(&request, &session) && measure(c->arena, &session, m);
    }
    if (is_good)
        report(c->options, &session, request.kernel->name->text, m);
    else
        status = session.status != EXIT_GOOD ? session.status : EXIT_DEVICE;
    if (status != EXIT_GOOD && device_run_failed_check(session.run))
        status = device_report_check(&session, c->diagnostics);
    else if (status != EXIT_GOOD && session.why)
        driver_complain(c->options, status, "%s", session.why);
    device_finish(&session);
    return status;
}

enum exit_status command_bench(struct options *options) {
    struct compilation *c = compilation_new(options);
    enum exit_status status = bench(c), found = compilation_finish(c);
    compilation_free(c);
    return status > found ? status : found;
}

static bool is_wanted(const struct options *options, const char *target) {
    return !options->target || strcmp(options->target, target) == 0;
}

enum exit_status command_devices(struct options *options) {
    struct fcl_device_list list;
    enum fcl_status status = fcl_devices(&list);
    if (status != FCL_OK)
        return driver_complain(options, EXIT_DEVICE, "the devices cannot be listed: %s", fcl_status_text(status));
    for (size_t i = 0; i < list.count; i++) {
        const struct fcl_device_info *d = &list.devices[i];
        if (!is_wanted(options, fcl_backend_name(d->backend)))
            continue;
        printf("%s:%d  %s\n", fcl_device_kind_name(d->kind), d->index, d->name);
        printf("    %s, driver %s\n", d->platform, d->driver);
        if (d->memory_bytes)
            printf("    %.1f GiB memory, %u units", (double)d->memory_bytes / (1 << 30), d->compute_units);
        if (d->max_threads)
            printf(", %llu KiB shared memory per block, up to %u threads per block",
                   (unsigned long long)(d->shared_bytes / 1024), d->max_threads);
        if (d->memory_bytes)
            printf("\n");
        if (d->problem[0])
            printf("    unusable: %s\n", d->problem);
    }
    for (int b = 0; b < FCL_BACKENDS; b++)
        if (list.absent[b][0] && is_wanted(options, fcl_backend_name((enum fcl_backend)b)))
            printf("%s: none (%s)\n", fcl_backend_name((enum fcl_backend)b), list.absent[b]);
    if (is_wanted(options, "interp"))
        printf("interp:  the reference interpreter\n");
    fcl_device_list_free(&list);
    return EXIT_GOOD;
}
