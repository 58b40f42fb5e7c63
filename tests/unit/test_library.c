/* The compiler as a library: a program from text, and its kernels in the interpreter and on devices. It needs
   no more than fclc.h, and is built with the shared libraries as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <fclc.h>

static const char text[] = "import \"add\"\n"
                           "-- Each number and `k`,\n"
                           "-- together.\n"
                           "-- test plus [1] 2 == [3]\n"
                           "sig plus : [int] -> int -> [int]<grid>\n"
                           "kernel plus xs k = push <grid> (map (add k) xs)\n"
                           "kernel at (xs : [int]) (i : int) = xs ! i\n"
                           "kernel both (m : [[double]]) (ps : [(int, bool)]) =\n"
                           "  (foldl (+) 0.0 (map (foldl (+) 0.0) m), push <grid> (map fst ps), push <grid> ps)\n"
                           "kernel same (xs : [int]) = let ys = force (push <grid> (map ( * 2) xs)) in\n"
                           "  (xs, ys, ys, xs)\n";

static struct fclc_program *load(const char *const *options, size_t count) {
    const struct fclc_file files[] = {{"program.fcl", text, strlen(text)},
                                      {"add.fcl", "fun add x y = x + y\n", strlen("fun add x y = x + y\n")}};
    struct fclc_program *program;
    char *message;
    enum fclc_status status = fclc_load(&program, files, 2, options, count, &message);
    if (status != FCLC_GOOD)
        fprintf(stderr, "%s", message);
    assert_true(status == FCLC_GOOD && program && !message);
    return program;
}

static void look(void **state) {
    (void)state;
    struct fclc_program *program = load(NULL, 0);
    size_t count;
    const struct fclc_kernel_info *kernels = fclc_kernels(program, &count);
    assert_true(count == 4);
    assert_true(strcmp(kernels[0].name, "plus") == 0 && kernels[0].line == 6);
    assert_true(strcmp(kernels[0].text, "[int] -> int -> [int]<grid>") == 0);
    assert_true(strcmp(kernels[0].comment, "Each number and `k`,\ntogether.") == 0);
    assert_true(kernels[0].parameter_count == 2 && strcmp(kernels[0].parameters[1].name, "k") == 0);
    assert_true(kernels[0].parameters[0].type.kind == FCLC_ARRAY && kernels[0].parameters[0].type.rank == 1);
    assert_true(kernels[0].parameters[1].type.kind == FCLC_SCALAR && kernels[0].parameters[1].type.base == FCLC_I32);
    const struct fclc_type *matrix = &kernels[2].parameters[0].type, *pairs = &kernels[2].parameters[1].type;
    assert_true(matrix->kind == FCLC_ARRAY && matrix->rank == 2 && matrix->base == FCLC_F64);
    assert_true(pairs->kind == FCLC_TUPLE && pairs->rank == 1 && pairs->count == 2 &&
                pairs->items[1].base == FCLC_BOOL);
    assert_true(kernels[2].result.type.count == 3 && kernels[2].result.type.rank == 0);
    assert_true(!*kernels[1].comment);
    fclc_unload(program);
}

/* A result has these, wherever it is. */
static void fetch(struct fclc_value *value, void *to, size_t bytes) {
    if (value->buffer) {
        assert_true(fcl_read(value->buffer, 0, to, bytes) == FCL_OK);
        fcl_buffer_free(value->buffer);
    } else {
        memcpy(to, value->data, bytes);
    }
}

static void run_both(struct fclc_program *program, struct fcl_context *context) {
    struct fclc_kernel *plus, *both;
    assert_true(fclc_open(&plus, program, "plus", context, NULL) == FCLC_GOOD);
    assert_true(fclc_open(&both, program, "neither", context, NULL) == FCLC_USAGE && !both);
    assert_true(fclc_open(&both, program, "both", context, NULL) == FCLC_GOOD);
    size_t arguments, results;
    fclc_counts(both, &arguments, &results);
    assert_true(arguments == 3 && results == 4);
    for (int32_t n = 0; n < 4; n++) { /* other lengths, and the same kernel again */
        int32_t xs[] = {5, -7, 9}, got[3] = {0};
        struct fclc_value in[] = {{.data = xs, .shape = {n}}, {.scalar = {.integer = n}}}, out[1];
        assert_true(fclc_run(plus, in, out, NULL) == FCLC_GOOD);
        assert_true(out[0].shape[0] == n);
        fetch(&out[0], got, (size_t)n * sizeof *got);
        for (int32_t i = 0; i < n; i++)
            assert_true(got[i] == xs[i] + n);
    }
    double m[] = {1, 2, 3, 4, 5, 6};
    int32_t firsts[] = {7, 8}, got[2];
    unsigned char seconds[] = {1, 0}, truths[2];
    struct fclc_value in[] = {
        {.data = m, .shape = {3, 2}}, {.data = firsts, .shape = {2}}, {.data = seconds, .shape = {2}}};
    struct fclc_value out[4];
    assert_true(fclc_run(both, in, out, NULL) == FCLC_GOOD);
    assert_true(out[0].scalar.floating == 21);
    fetch(&out[1], got, sizeof got);
    assert_true(got[0] == 7 && got[1] == 8);
    fetch(&out[2], got, sizeof got);
    assert_true(got[0] == 7 && got[1] == 8);
    fetch(&out[3], truths, sizeof truths);
    assert_true(truths[0] == 1 && truths[1] == 0);
    fclc_close(plus);
    fclc_close(both);
}

/* A check fails, and the kernel runs again. */
static void run_checks(struct fclc_program *program, struct fcl_context *context) {
    struct fclc_kernel *at;
    assert_true(fclc_open(&at, program, "at", context, NULL) == FCLC_GOOD);
    int32_t xs[] = {5, 6};
    for (int i = 0; i < 2; i++) {
        struct fclc_value in[] = {{.data = xs, .shape = {2}}, {.scalar = {.integer = 2}}}, out[1];
        char *message;
        assert_true(fclc_run(at, in, out, &message) == FCLC_WRONG);
        assert_true(strstr(message, "program.fcl:7:") && strstr(message, "kernel at"));
        fclc_free(message);
        in[1].scalar.integer = 1;
        assert_true(fclc_run(at, in, out, &message) == FCLC_GOOD && !message);
        assert_true(out[0].scalar.integer == 6);
    }
    fclc_close(at);
}

static void errors(void **state) {
    (void)state;
    struct fclc_program *program;
    char *message;
    const struct fclc_file wrong = {"wrong.fcl", "kernel k (x : int) = y\n", strlen("kernel k (x : int) = y\n")};
    assert_true(fclc_load(&program, &wrong, 1, NULL, 0, &message) == FCLC_WRONG && !program);
    assert_true(strncmp(message, "wrong.fcl:1:22: error[E", strlen("wrong.fcl:1:22: error[E")) == 0);
    fclc_free(message);
    program = load(NULL, 0);
    char *device_code;
    assert_true(fclc_text(program, "plus", "cuda", &device_code, &message) == FCLC_GOOD && !message);
    assert_true(strstr(device_code, "__global__") && strstr(device_code, "plus") && !strstr(device_code, "both"));
    fclc_free(device_code);
    assert_true(fclc_text(program, NULL, "opencl", &device_code, NULL) == FCLC_GOOD);
    assert_true(strstr(device_code, "kernel void") && strstr(device_code, "both"));
    fclc_free(device_code);
    assert_true(fclc_text(program, NULL, "metal", &device_code, &message) == FCLC_USAGE && !device_code);
    assert_true(strstr(message, "not for metal"));
    fclc_free(message);
    assert_true(fclc_text(program, "neither", "c", &device_code, NULL) == FCLC_USAGE);
    char *report;
    assert_true(fclc_report(program, "plus", NULL, "n=100", "t4", FCLC_REPORT_TEXT, &report, &message) == FCLC_GOOD);
    assert_true(strncmp(report, "plus : ", strlen("plus : ")) == 0 && strstr(report, "estimated for NVIDIA T4"));
    fclc_free(report);
    assert_true(fclc_report(program, NULL, "c", NULL, NULL, FCLC_REPORT_JSON, &report, NULL) == FCLC_GOOD);
    assert_true(strstr(report, "\"format\": \"fclc report\""));
    fclc_free(report);
    assert_true(fclc_report(program, NULL, "c", "wrong", NULL, FCLC_REPORT_PAGE, &report, &message) == FCLC_USAGE);
    assert_true(!report && strstr(message, "--sizes wants NAME=N"));
    fclc_free(message);
    assert_true(fclc_report(program, "neither", NULL, NULL, NULL, FCLC_REPORT_TEXT, &report, NULL) == FCLC_USAGE);
    fclc_unload(program);
    const struct fclc_file absent = {"absent.fcl", NULL, 0};
    assert_true(fclc_load(&program, &absent, 1, NULL, 0, &message) == FCLC_USAGE);
    assert_true(strstr(message, "absent.fcl"));
    fclc_free(message);
    const char *option = "--block-size=many";
    assert_true(fclc_load(&program, &wrong, 1, &option, 1, &message) == FCLC_USAGE);
    assert_true(strstr(message, "--block-size wants a number"));
    fclc_free(message);
    static const char steps[] = "fun f n = if n == 0 then 0 else f (n - 1)\nkernel k (x : int) = x + f 100000000\n";
    const struct fclc_file deep = {"deep.fcl", steps, strlen(steps)};
    assert_true(fclc_load(&program, &deep, 1, NULL, 0, NULL) == FCLC_GOOD);
    struct fclc_kernel *kernel;
    assert_true(fclc_open(&kernel, program, "k", NULL, NULL) == FCLC_GOOD);
    struct fclc_value in = {.scalar = {.integer = 1}}, out;
    assert_true(fclc_run(kernel, &in, &out, &message) == FCLC_WRONG && *message);
    fclc_free(message);
    fclc_close(kernel);
    fclc_unload(program);
}

/* Results that share memory, with each other or with an argument, are apart when they are given. */
static void run_same(struct fclc_program *program, struct fcl_context *context) {
    struct fclc_kernel *same;
    assert_true(fclc_open(&same, program, "same", context, NULL) == FCLC_GOOD);
    int32_t xs[] = {5, 6}, got[2];
    for (int again = 0; again < 2; again++) {
        struct fclc_value in = {.data = xs, .shape = {2}}, out[4];
        assert_true(fclc_run(same, &in, out, NULL) == FCLC_GOOD);
        for (int i = 0; i < 4; i++) {
            int scale = i == 1 || i == 2 ? 2 : 1;
            assert_true(out[i].shape[0] == 2);
            fetch(&out[i], got, sizeof got);
            assert_true(got[0] == 5 * scale && got[1] == 6 * scale);
        }
    }
    assert_true(xs[0] == 5 && xs[1] == 6);
    fclc_close(same);
}

/* Results in memory of the caller's: an argument's, one with more room than is wanted, and none. */
static void run_into(struct fclc_program *program, struct fcl_context *context) {
    struct fclc_kernel *same;
    assert_true(fclc_open(&same, program, "same", context, NULL) == FCLC_GOOD);
    int32_t xs[] = {5, 6}, place[3] = {0, 0, 7}, got[2];
    struct fclc_value in = {.data = xs, .shape = {2}}, out[4];
    struct fclc_value into[4] = {{.data = place, .shape = {3}}, {.data = xs, .shape = {2}}};
    assert_true(fclc_run_into(same, &in, into, out, NULL) == FCLC_GOOD);
    for (int i = 0; i < 4; i++)
        assert_true(out[i].shape[0] == 2 && (i > 1) == (out[i].data || out[i].buffer));
    fetch(&out[2], got, sizeof got);
    fetch(&out[3], got, sizeof got);
    assert_true(place[0] == 5 && place[1] == 6 && place[2] == 7);
    assert_true(xs[0] == 10 && xs[1] == 12 && got[0] == 5 && got[1] == 6);
    into[0].shape[0] = 1;
    char *message;
    assert_true(fclc_run_into(same, &in, into, out, &message) == FCLC_USAGE);
    assert_true(strstr(message, "same: result 1 has 2 elements, and there is room for 1"));
    fclc_free(message);
    fclc_close(same);
}

static void run_all(const char *const *options, size_t count, struct fcl_context *context) {
    struct fclc_program *program = load(options, count);
    run_both(program, context);
    run_checks(program, context);
    run_same(program, context);
    run_into(program, context);
    fclc_unload(program);
}

static void interpreter(void **state) {
    (void)state;
    const char *options[] = {"--check", "--target=interp"};
    struct fclc_program *program = load(options, 2);
    bool runs;
    (void)fclc_device_kind(program, &runs);
    assert_false(runs);
    fclc_unload(program);
    run_all(options, 2, NULL);
}

/* Kernels of a program with a target run in any context that fits. */
static void on_device(const char *option, enum fcl_device_kind kind) {
    const char *options[] = {"--check", option};
    struct fclc_program *program = load(options, 2);
    bool runs;
    assert_true(fclc_device_kind(program, &runs) == kind && runs);
    fclc_unload(program);
    struct fcl_options open = FCL_OPTIONS_DEFAULT;
    open.kind = kind;
    struct fcl_context *context;
    if (fcl_open(&context, &open, NULL, 0) != FCL_OK)
        skip();
    run_all(options, 2, context);
    run_all(options, 2, context);
    fcl_close(context);
}

static enum fclc_status say(const char *source, const char *option, const char *kernel, char **message) {
    const struct fclc_file file = {"warned.fcl", source, strlen(source)};
    const char *const options[] = {"--target=c", "-W", option};
    struct fclc_program *program;
    enum fclc_status status = fclc_load(&program, &file, 1, options, option ? 3 : 1, message);
    if (kernel && status == FCLC_GOOD) {
        char *code = NULL;
        fclc_free(*message);
        status = fclc_text(program, kernel, "c", &code, message);
        fclc_free(code);
    }
    fclc_unload(program);
    return status;
}

/* They come with success, of checking a program as of compiling a kernel. */
static void warnings(void **state) {
    (void)state;
    static const char unused[] = "kernel k (x : int) = 0\n";
    static const char copies[] = "kernel k (xs : [int]) (ps : [(int, int)]) =\n"
                                 "  let old = force (push <grid> (map ( + 1) xs))\n"
                                 "      new = force (scatter old ps : [int]<grid>)\n"
                                 "  in (new ! 0 - old ! 0, push <grid> new)\n";
    const struct {
        const char *source, *kernel, *code, *silent;
    } cases[] = {{unused, NULL, "W001", "no-unused"}, {copies, "k", "W003", "no-copy"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *message;
        assert_true(say(cases[i].source, NULL, cases[i].kernel, &message) == FCLC_GOOD && message);
        assert_true(strstr(message, "warning") && strstr(message, cases[i].code));
        fclc_free(message);
        assert_true(say(cases[i].source, cases[i].silent, cases[i].kernel, &message) == FCLC_GOOD && !message);
        assert_true(say(cases[i].source, "error", cases[i].kernel, &message) == FCLC_WRONG && message);
        fclc_free(message);
    }
}

static void on_c(void **state) {
    (void)state;
    on_device("--target=c", FCL_DEVICE_C);
}
static void on_opencl(void **state) {
    (void)state;
    on_device("--target=opencl", FCL_DEVICE_OPENCL);
}
static void on_cuda(void **state) {
    (void)state;
    on_device("--target=cuda", FCL_DEVICE_CUDA);
}

/* Text of IR, by the name that is given to it. */
static void of_ir(void **state) {
    (void)state;
    static const char ir[] = "fclir 1\nkernel \"k\" {\n  takes [int]\n  gives [int]<grid>\n"
                             "  buffer @xs \"xs\" input int\n  buffer @out \"out\" output int[%n]\n"
                             "  extent 0.0 \"n\" dimension 0 = int %n\n  array 0.0 \"xs\" = @xs\n  allocate @out\n"
                             "  forall int %i < %n at grid/thread {\n    int %x = load @xs[%i]\n"
                             "    int %y = add %x, 1\n    store @out[%i], %y\n  }\n  return @out %n\n}\n";
    const struct fclc_file file = {"k.fclir", ir, strlen(ir)}, part = {"k.fclir", ir, strlen(ir) - 2};
    struct fclc_program *program;
    char *message, *device_code;
    assert_true(fclc_load(&program, &part, 1, NULL, 0, &message) == FCLC_WRONG && strstr(message, "k.fclir:16:1: "));
    fclc_free(message);
    const char *option = "--target=interp";
    assert_true(fclc_load(&program, &file, 1, &option, 1, &message) == FCLC_GOOD && !message);
    assert_true(fclc_text(program, "k", "cuda", &device_code, NULL) == FCLC_GOOD && strstr(device_code, "__global__"));
    fclc_free(device_code);
    struct fclc_kernel *kernel;
    assert_true(fclc_open(&kernel, program, "k", NULL, NULL) == FCLC_GOOD);
    int32_t xs[] = {5, -7}, got[2];
    struct fclc_value in = {.data = xs, .shape = {2}}, out;
    assert_true(fclc_run(kernel, &in, &out, NULL) == FCLC_GOOD && out.shape[0] == 2);
    fetch(&out, got, sizeof got);
    assert_true(got[0] == 6 && got[1] == -6);
    fclc_close(kernel);
    fclc_unload(program);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(look), cmocka_unit_test(errors),    cmocka_unit_test(interpreter), cmocka_unit_test(warnings),
        cmocka_unit_test(on_c), cmocka_unit_test(on_opencl), cmocka_unit_test(on_cuda),     cmocka_unit_test(of_ir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
