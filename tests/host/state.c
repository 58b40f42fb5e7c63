// Every public function of both libraries, called as always and where its caller has set another locale, rounding,
// traps, and that small numbers are 0: it gives the same, and leaves all of these as they were. A case may call others,
// too, but it ends with what its function gives: words without numbers in C's notation, which the locale changes.
//
// Usage: state DEVICE LOCALE. The emitted functions of state.fcl are in state.h.
#define _GNU_SOURCE
#include <fclc.h>
#include <fenv.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#define STATE_IMPLEMENTATION
#include "state.h"

struct test {
    const char *name;
    void (*run)(FILE *out);
    struct test *next;
};
static struct test *tests;

#define CASE(function)                                                                                                 \
    static void test_##function(FILE *out);                                                                            \
    __attribute__((constructor)) static void add_##function(void) {                                                    \
        static struct test test = {#function, test_##function, NULL};                                                  \
        test.next = tests;                                                                                             \
        tests = &test;                                                                                                 \
    }                                                                                                                  \
    static void test_##function(FILE *out)

static enum fcl_device_kind kind;
static struct fcl_context *context; // opened as always
static bool fails;

enum { COUNT = 40000 };
static float numbers[COUNT], smaller[COUNT];

#define GOOD(call)                                                                                                     \
    do {                                                                                                               \
        int status_ = (int)(call);                                                                                     \
        if (status_) {                                                                                                 \
            fprintf(stderr, "%s: %d: %s\n", #call, status_, fcl_error(context));                                       \
            fails = true;                                                                                              \
            return;                                                                                                    \
        }                                                                                                              \
    } while (0)

// The bits, as no locale and no rounding changes them.
static void show(FILE *out, const void *floats, size_t count) {
    uint32_t sum = 0, word;
    for (size_t i = 0; i < count; i++) {
        memcpy(&word, (const char *)floats + 4 * i, sizeof word);
        sum = sum * 31 + word;
        if (i < 3)
            fprintf(out, "%08" PRIx32 " ", word);
    }
    fprintf(out, "%08" PRIx32 "\n", sum);
}

static void say(FILE *out, enum fcl_status status) { fprintf(out, "%d %s", (int)status, fcl_error(context)); }

// ---------------------------------------------------------------- the runtime

static const char *source(void) {
    switch (fcl_device(context)->backend) {
    case FCL_BACKEND_CUDA:
        return "extern \"C\" __global__ void scale(const float *in, float *out, int n) {\n"
               "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
               "    out[i] = in[i] * 0.1f + 1e-40f;\n}\n";
    case FCL_BACKEND_OPENCL:
        return "kernel void scale(global const float *in, global float *out, int n) {\n"
               "  for (int i = get_global_id(0); i < n; i += get_global_size(0)) out[i] = in[i] * 0.1f + 1e-40f;\n}\n";
    default:
        return "#include <stdint.h>\n"
               "void fcl_part_scale(void *const *args, int64_t first, int64_t end, int64_t blocks) {\n"
               "  const float *in = *(void *const *)args[0]; float *out = *(void *const *)args[1];\n"
               "  int64_t n = *(const int32_t *)args[2];\n"
               "  for (int64_t i = n * first / blocks; i < n * end / blocks; i++) out[i] = in[i] * 0.1f + 1e-40f;\n}\n"
               "void scale(void *const *args, int64_t blocks) { fcl_part_scale(args, 0, blocks, blocks); }\n";
    }
}

static struct fcl_kernel *kernel_of(struct fcl_context *of) {
    struct fcl_program *program;
    struct fcl_kernel *kernel;
    return fcl_build(of, source(), NULL, &program) == FCL_OK && fcl_get_kernel(program, "scale", &kernel) == FCL_OK
               ? kernel
               : NULL;
}

static enum fcl_status launch(struct fcl_kernel *kernel, struct fcl_buffer *in, struct fcl_buffer *to) {
    const int32_t n = COUNT;
    const struct fcl_arg args[] = {fcl_arg_buffer(in), fcl_arg_buffer(to), fcl_arg_scalar(&n, sizeof n)};
    return fcl_launch(kernel, 64, 64, 0, args, 3);
}

// Writes what a kernel makes of the numbers in that context, which is new: its threads begin here.
static void compute(FILE *out, struct fcl_context *in) {
    static float result[COUNT];
    struct fcl_buffer *from, *to;
    GOOD(fcl_buffer_new(in, sizeof numbers, &from));
    GOOD(fcl_buffer_new(in, sizeof numbers, &to));
    GOOD(fcl_write(from, 0, numbers, sizeof numbers));
    GOOD(launch(kernel_of(in), from, to));
    GOOD(fcl_read(to, 0, result, sizeof result));
    show(out, result, COUNT);
    fcl_buffer_free(from);
    fcl_buffer_free(to);
}

CASE(fcl_enter) {
    volatile float third = 1, small = 1e-30f;
    struct fcl_entry entry = fcl_enter();
    third = third / 3;
    small = small * 1e-10f;
    fprintf(out, "%g %g\n", (double)third, (double)small);
    fcl_leave(&entry);
}
CASE(fcl_leave) { test_fcl_enter(out); }
CASE(fcl_open) {
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    struct fcl_context *other;
    options.kind = kind;
    GOOD(fcl_open(&other, &options, NULL, 0));
    compute(out, other);
    fcl_close(other);
}
CASE(fcl_close) { test_fcl_open(out); }
CASE(fcl_devices) {
    struct fcl_device_list list;
    GOOD(fcl_devices(&list));
    for (size_t i = 0; i < list.count; i++)
        fprintf(out, "%s %s %" PRIu32 " %d\n", list.devices[i].name, list.devices[i].driver, list.devices[i].capability,
                list.devices[i].has_sub_groups);
    for (int b = 0; b < FCL_BACKENDS; b++)
        fprintf(out, "%s\n", list.absent[b]);
    fcl_device_list_free(&list);
}
CASE(fcl_device_list_free) { test_fcl_devices(out); }
CASE(fcl_status_text) { fputs(fcl_status_text(FCL_TOO_LARGE), out); }
CASE(fcl_backend_name) { fputs(fcl_backend_name(FCL_BACKEND_HIP), out); }
CASE(fcl_device_kind_name) { fputs(fcl_device_kind_name(FCL_DEVICE_OPENCL_CPU), out); }
CASE(fcl_parse_device) {
    enum fcl_device_kind got;
    int index, status = (int)fcl_parse_device("opencl-cpu:12", &got, &index);
    fprintf(out, "%d %d %d", status, (int)got, index);
}
CASE(fcl_device) { fputs(fcl_device(context)->name, out); }
CASE(fcl_error) {
    struct fcl_program *program;
    int status = (int)fcl_build(context, "this is 1.5 times wrong", NULL, &program);
    const char *said = fcl_error(context); // a place of this build is not among the first words
    fprintf(out, "%d %.*s", status, (int)strcspn(said, "\n"), said);
}
CASE(fcl_error_status) {
    test_fcl_error(out);
    fprintf(out, "%d", (int)fcl_error_status(context));
}
CASE(fcl_finish) { say(out, fcl_finish(context)); }
CASE(fcl_finish_queue) { fprintf(out, "%d", (int)fcl_finish_queue(kind == FCL_DEVICE_C ? context : NULL, NULL)); }
CASE(fcl_buffer_new) { compute(out, context); }
CASE(fcl_buffer_free) { compute(out, context); }
CASE(fcl_write) { compute(out, context); }
CASE(fcl_read) { compute(out, context); }
CASE(fcl_launch) { compute(out, context); }
CASE(fcl_build) { compute(out, context); }
CASE(fcl_get_kernel) { compute(out, context); }
CASE(fcl_build_options) { fputs(fcl_build_options(context), out); }
CASE(fcl_build_origin) {
    kernel_of(context);
    fputs(fcl_build_origin(context), out);
}
CASE(fcl_remove_temporaries) {
    fcl_remove_temporaries();
    compute(out, context);
}
CASE(fcl_cache_problem) { fputs(fcl_cache_problem(context), out); }
CASE(fcl_kernel_name) { fputs(fcl_kernel_name(kernel_of(context)), out); }
CASE(fcl_kernel_thread_bytes) { fprintf(out, "%" PRIu64, fcl_kernel_thread_bytes(kernel_of(context))); }
CASE(fcl_blocks) { fprintf(out, "%" PRIu64, fcl_blocks(context, 1000000, 256, 3)); }
CASE(fcl_buffer_array) {
    struct fcl_buffer *buffer = NULL;
    fprintf(out, "%d ", (int)fcl_buffer_array(context, UINT64_MAX, 2, &buffer));
    GOOD(fcl_buffer_array(context, 100, 4, &buffer));
    fprintf(out, "%" PRIu64, fcl_buffer_bytes(buffer));
    fcl_buffer_free(buffer);
}
CASE(fcl_buffer_bytes) { test_fcl_buffer_array(out); }
// One of 8 zeros that are filled with ones from the fourth byte, and copied.
static void fill(FILE *out, struct fcl_buffer *buffer) {
    struct fcl_buffer *other;
    unsigned char bytes[8] = {0};
    GOOD(fcl_buffer_new(context, 8, &other));
    GOOD(fcl_fill(buffer, 4, 4, 1));
    GOOD(fcl_copy(other, 0, buffer, 0, 8));
    GOOD(fcl_read(other, 0, bytes, 8));
    show(out, bytes, 2);
    fcl_buffer_free(other);
    fcl_buffer_free(buffer);
}
CASE(fcl_buffer_zeros) {
    struct fcl_buffer *buffer;
    GOOD(fcl_buffer_zeros(context, 2, 4, &buffer));
    fill(out, buffer);
}
CASE(fcl_buffer_slot) {
    struct fcl_buffer *buffer;
    uint64_t got = 1;
    GOOD(fcl_buffer_slot(context, 8, true, &buffer));
    GOOD(fcl_read(buffer, 0, &got, sizeof got));
    fprintf(out, "%" PRIu64, got);
    fcl_buffer_free(buffer);
}
CASE(fcl_buffer_wrap) {
    struct fcl_buffer *own, *wrapped;
    GOOD(fcl_buffer_zeros(context, 2, 4, &own));
    GOOD(fcl_buffer_wrap(context, fcl_buffer_native(own), 8, &wrapped));
    fill(out, wrapped);
    fcl_buffer_free(own);
}
CASE(fcl_into_begin) {
    struct fcl_buffer *made[1] = {NULL}, *given[1];
    const uint64_t bytes[1] = {8};
    GOOD(fcl_buffer_zeros(context, 2, 4, &given[0]));
    GOOD(fcl_into_begin(context, given, 1, NULL, 0));
    GOOD(fcl_buffer_result(context, 0, 2, 4, &made[0]));
    GOOD(fcl_fill(made[0], 0, 8, 1));
    GOOD(fcl_into_end(context, FCL_OK, made, bytes));
    fill(out, given[0]);
}
CASE(fcl_buffer_result) { test_fcl_into_begin(out); }
CASE(fcl_into_end) { test_fcl_into_begin(out); }
CASE(fcl_use_queue) { say(out, fcl_use_queue(context, NULL)); }
CASE(fcl_set_allocator) {
    struct fcl_buffer *buffer; /* there is one, so that it is refused */
    GOOD(fcl_buffer_zeros(context, 2, 4, &buffer));
    fprintf(out, "%d", (int)fcl_set_allocator(context, NULL));
    fcl_buffer_free(buffer);
}
CASE(fcl_buffer_native) { test_fcl_buffer_wrap(out); }
CASE(fcl_copy) { test_fcl_buffer_zeros(out); }
CASE(fcl_fill) { test_fcl_buffer_zeros(out); }
CASE(fcl_trim) {
    fcl_trim(context);
    test_fcl_buffer_zeros(out);
}
static void linked(void *const *args, int64_t blocks) { (void)args, (void)blocks; }
CASE(fcl_link) {
    static const struct fcl_linked_kernel kernels[] = {{"linked", linked, NULL}, {NULL, NULL, NULL}};
    struct fcl_program *program;
    int status = (int)fcl_link(context, kernels, &program);
    fprintf(out, "%d %s", status, status ? fcl_error(context) : "");
}
CASE(fcl_link_image) {
    struct fcl_program *program;
    int status = (int)fcl_link_image(context, "1.5", &program);
    fprintf(out, "%d", status);
}
CASE(fcl_graph_begin) {
    struct fcl_graph *graph;
    int status = (int)fcl_graph_begin(context);
    fprintf(out, "%d ", status);
    if (status)
        return;
    GOOD(fcl_graph_end(context, FCL_OK, &graph));
    GOOD(fcl_graph_launch(graph));
    fcl_graph_free(graph);
}
CASE(fcl_graph_end) { test_fcl_graph_begin(out); }
CASE(fcl_graph_launch) { test_fcl_graph_begin(out); }
CASE(fcl_graph_free) { test_fcl_graph_begin(out); }
CASE(fcl_check) { say(out, fcl_check(context, false, "%lld of %lld elements", 1, 1000000)); }
CASE(fcl_require) { say(out, fcl_require(context, false, FCL_NO_ROOM, "%lld", 1000000, 0)); }
CASE(fcl_check_report) {
    static const char *const messages[] = {"element %lld of %lld"};
    const int32_t found[] = {1, 20000, 10000};
    struct fcl_buffer *report;
    GOOD(fcl_buffer_new(context, sizeof found, &report));
    GOOD(fcl_write(report, 0, found, sizeof found));
    say(out, fcl_check_report(report, messages));
    fcl_buffer_free(report);
}
CASE(fcl_watch) {
    static const char *const messages[] = {"an index is out of range"};
    const int32_t found = 1;
    struct fcl_buffer *report;
    GOOD(fcl_watch(context, messages, &report));
    GOOD(fcl_write(report, 0, &found, sizeof found));
    say(out, fcl_finish(context));
    GOOD(fcl_finish(context));
    fcl_unwatch(context, messages);
}
CASE(fcl_unwatch) { test_fcl_watch(out); }
CASE(fcl_trace) {
    static const char *const formats[] = {"%f and %d"};
    const float tenth = numbers[0];
    const double third = 1.0 / 3;
    uint32_t words[] = {4, 0, 0, 0, 0};
    struct fcl_buffer *buffer;
    memcpy(words + 2, &tenth, 4);
    memcpy(words + 3, &third, 8);
    GOOD(fcl_buffer_new(context, sizeof words, &buffer));
    GOOD(fcl_write(buffer, 0, words, sizeof words));
    char got[100] = "";
    int ends[2], before = dup(2);
    if (pipe(ends) != 0 || dup2(ends[1], 2) < 0)
        return;
    GOOD(fcl_trace(buffer, formats, 1));
    fflush(stderr);
    dup2(before, 2);
    ssize_t length = read(ends[0], got, sizeof got - 1);
    fprintf(out, "%.*s", (int)length, got);
    close(before), close(ends[0]), close(ends[1]);
    fcl_buffer_free(buffer);
}
CASE(fcl_room) { fprintf(out, "%" PRId64, fcl_room(INT64_MAX / 2, 3)); }
CASE(fcl_expect) { say(out, fcl_expect(context, FCL_BACKEND_HIP)); }
CASE(fcl_timings) {
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    struct fcl_context *other;
    const struct fcl_timing *timings;
    size_t count;
    options.kind = kind;
    options.profile = true;
    GOOD(fcl_open(&other, &options, NULL, 0));
    compute(out, other);
    GOOD(fcl_timings(other, &timings, &count));
    fprintf(out, "%zu", count);
    fcl_clear_timings(other);
    fcl_close(other);
}
CASE(fcl_clear_timings) { test_fcl_timings(out); }

// A host function that computes floats itself.
CASE(host_function) {
    float s, *result;
    int32_t length;
    GOOD(state_scaled(context, numbers[0], COUNT, numbers, &s, &length, &result));
    show(out, &s, 1);
    show(out, result, (size_t)length);
    free(result);
}

// ---------------------------------------------------------------- the compiler

static const char program_text[] =
    "val third = (1.0 / 3.0 : float)\n"
    "kernel k (xs : [float]) = push <grid> (map (fn x => trace \"half\" (x * 1.5) * 0.1 + third + 1.0e-40) xs)\n"
    "kernel sum (xs : [float]) (a : double) = (reduce (+) 0.0 xs, a * 0.1 + 1.0e-310)\n";

static enum fclc_status load(struct fclc_program **program, const char *option) {
    const struct fclc_file file = {"state.fcl", program_text, strlen(program_text)};
    char *message;
    enum fclc_status status = fclc_load(program, &file, 1, &option, 1, &message);
    fputs(message ? message : "", stderr);
    fclc_free(message);
    return status;
}

static void run_one(FILE *out, struct fclc_program *program, struct fcl_context *in, const char *name) {
    struct fclc_kernel *kernel;
    struct fclc_value arguments[2] = {{.data = smaller, .shape = {100}}, {.scalar = {.floating = 0.7}}}, results[2];
    static float read[100];
    size_t takes, gives;
    GOOD(fclc_open(&kernel, program, name, in, NULL));
    fclc_counts(kernel, &takes, &gives);
    GOOD(fclc_run(kernel, arguments, results, NULL));
    if (results[0].buffer)
        fcl_read(results[0].buffer, 0, read, sizeof read);
    else if (results[0].data)
        memcpy(read, results[0].data, sizeof read);
    fcl_buffer_free(results[0].buffer);
    show(out, read, results[0].data || results[0].buffer ? 100 : 0);
    uint64_t bits[2] = {0};
    for (size_t i = 0; gives == 2 && i < 2; i++)
        memcpy(&bits[i], &results[i].scalar, 8);
    fprintf(out, "%016" PRIx64 " %016" PRIx64 "\n", bits[0], bits[1]);
    fclc_close(kernel);
}

static void run_all(FILE *out) {
    struct fclc_program *program;
    GOOD(load(&program, "--target=interp"));
    run_one(out, program, NULL, "k");
    run_one(out, program, NULL, "sum");
    fclc_unload(program);
    char target[40];
    snprintf(target, sizeof target, "--target=%s", fcl_backend_name(fcl_device(context)->backend));
    GOOD(load(&program, target));
    run_one(out, program, context, "sum");
    fclc_unload(program);
}

CASE(fclc_load) { run_all(out); }
CASE(fclc_open) { run_all(out); }
CASE(fclc_run) { run_all(out); }
CASE(fclc_run_into) {
    struct fclc_program *program;
    struct fclc_kernel *kernel;
    float place[100] = {0};
    struct fclc_value argument = {.data = smaller, .shape = {100}}, into = {.data = place, .shape = {100}}, result;
    GOOD(load(&program, "--target=interp"));
    GOOD(fclc_open(&kernel, program, "k", NULL, NULL));
    GOOD(fclc_run_into(kernel, &argument, &into, &result, NULL));
    show(out, place, 100);
    fclc_close(kernel);
    fclc_unload(program);
}
CASE(fclc_close) { run_all(out); }
CASE(fclc_unload) { run_all(out); }
CASE(fclc_counts) { run_all(out); }
CASE(fclc_text) {
    struct fclc_program *program;
    char *text;
    GOOD(load(&program, "--target=c"));
    GOOD(fclc_text(program, NULL, "c", &text, NULL));
    fputs(text, out);
    fclc_free(text);
    fclc_unload(program);
}
CASE(fclc_free) { test_fclc_text(out); }
CASE(fclc_report) {
    for (int form = FCLC_REPORT_TEXT; form <= FCLC_REPORT_PAGE; form++) {
        struct fclc_program *program;
        char *text;
        GOOD(load(&program, "--target=c"));
        GOOD(fclc_report(program, "sum", "cuda", "xs=123457", "a100", (enum fclc_report_form)form, &text, NULL));
        fputs(text, out);
        fclc_free(text);
        fclc_unload(program);
    }
}
CASE(fclc_kernels) {
    struct fclc_program *program;
    size_t count;
    GOOD(load(&program, "--target=c"));
    const struct fclc_kernel_info *kernels = fclc_kernels(program, &count);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s %s\n", kernels[i].name, kernels[i].text);
    fclc_unload(program);
}
CASE(fclc_device_kind) {
    struct fclc_program *program;
    bool runs;
    GOOD(load(&program, "--target=c"));
    fprintf(out, "%d %d", (int)fclc_device_kind(program, &runs), runs);
    fclc_unload(program);
}
CASE(fclc_version) { fputs(fclc_version(), out); }
CASE(fclc_base_bytes) { fprintf(out, "%zu", fclc_base_bytes(FCLC_BF16)); }

// ---------------------------------------------------------------- the caller's settings

struct settings {
    int rounding, traps;
    unsigned modes;
    locale_t locale;
    char point;
};

static struct settings settings(void) {
    struct settings s = {fegetround(), fegetexcept(), 0, uselocale((locale_t)0), localeconv()->decimal_point[0]};
#ifdef __SSE__
    s.modes = _mm_getcsr() & 0xFFC0;
#endif
    return s;
}

static char *output_of(const struct test *test) {
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    test->run(out);
    fclose(out);
    return text;
}

static bool passes(const struct test *test, const char *locale) {
    char *usual = output_of(test);
    fenv_t before;
    fegetenv(&before);
    if (!setlocale(LC_ALL, locale))
        exit(77);
    fesetround(FE_UPWARD);
#ifdef __SSE__
    _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
    feenableexcept(FE_DIVBYZERO | FE_INVALID);
    struct settings set = settings();
    char *hostile = output_of(test);
    struct settings left = settings();
    fesetenv(&before);
    setlocale(LC_ALL, "C");
    bool is_same = strcmp(usual, hostile) == 0;
    bool is_kept = set.rounding == left.rounding && set.traps == left.traps && set.modes == left.modes &&
                   set.locale == left.locale && set.point == left.point;
    if (!is_same)
        fprintf(stderr, "%s: not the same\n--- as always\n%s\n--- otherwise\n%s\n", test->name, usual, hostile);
    if (!is_kept)
        fprintf(stderr, "%s: the caller's settings are changed\n", test->name);
    free(usual);
    free(hostile);
    return is_same && is_kept && !fails;
}

int main(int count, char **words) {
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    char error[1000];
    if (count != 3 || fcl_parse_device(words[1], &kind, NULL) != FCL_OK)
        return 2;
    options.kind = kind;
    enum fcl_status status = fcl_open(&context, &options, error, sizeof error);
    if (status != FCL_OK) {
        fprintf(stderr, "%s\n", error);
        return status == FCL_NO_BACKEND || status == FCL_NO_DEVICE ? 77 : 1;
    }
    for (int i = 0; i < COUNT; i++)
        numbers[i] = 0.1f + (float)i * (i % 2 ? 1.0f : 1e-42f);
    for (int i = 0; i < COUNT; i++)
        smaller[i] = i % 2 ? numbers[i] : (float)i * 1e-41f;
    bool good = true;
    for (const struct test *test = tests; test; test = test->next)
        good &= passes(test, words[2]);
    fcl_close(context);
    return good ? 0 : 1;
}
