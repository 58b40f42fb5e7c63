// The runtime's public functions, on every backend this machine has. Each backend gets the same programs in its own
// language; one that is missing is skipped with its reason.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fcl.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

// Drivers keep memory until the process ends.
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) {
    return "leak:libpocl\nleak:libLLVM\nleak:libOpenCL\nleak:libgomp\nleak:libomp\nleak:libhwloc\nleak:libstdc++\nleak:"
           "dlopen\n";
}

enum { MANY = 1000 };

struct language {
    enum fcl_device_kind kind;
    const char *name;
    const char *copy_and_add; // kernels `copy_int(to, from, n)` and `add_int(to, a, b, n, extra)`
    const char *wrong;
    const char *wrong_word; // that the log of `wrong` must hold
};

// HIP is the same language.
#define CUDA_KERNELS                                                                                                   \
    "extern \"C\" __global__ void copy_int(int *to, const int *from, long long n) {\n"                                 \
    "    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"                                            \
    "    for (; i < n; i += gridDim.x * (long long)blockDim.x) to[i] = from[i];\n"                                     \
    "}\n"                                                                                                              \
    "extern \"C\" __global__ void add_int(int *to, const int *a, const int *b, long long n, int extra) {\n"            \
    "    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;\n"                                            \
    "    for (; i < n; i += gridDim.x * (long long)blockDim.x) to[i] = a[i] + b[i] + extra;\n"                         \
    "}\n"                                                                                                              \
    "extern \"C\" __global__ void reverse_block(int *to, const int *from) {\n"                                         \
    "    extern __shared__ int shared[];\n"                                                                            \
    "    int i = threadIdx.x, n = blockDim.x;\n"                                                                       \
    "    shared[i] = from[i];\n"                                                                                       \
    "    __syncthreads();\n"                                                                                           \
    "    to[i] = shared[n - 1 - i];\n"                                                                                 \
    "}\n"
#define CUDA_WRONG "extern \"C\" __global__ void wrong(int *to) { to[0] = no_such_name; }\n"

static const struct language languages[] = {
    {FCL_DEVICE_OPENCL, "OpenCL",
     "kernel void copy_int(global int *to, global const int *from, long n) {\n"
     "    for (long i = get_global_id(0); i < n; i += get_global_size(0)) to[i] = from[i];\n"
     "}\n"
     "kernel void add_int(global int *to, global const int *a, global const int *b, long n, int extra) {\n"
     "    for (long i = get_global_id(0); i < n; i += get_global_size(0)) to[i] = a[i] + b[i] + extra;\n"
     "}\n"
     "kernel void reverse_block(global int *to, global const int *from, local int *shared) {\n"
     "    int i = get_local_id(0), n = get_local_size(0);\n"
     "    shared[i] = from[i];\n"
     "    barrier(CLK_LOCAL_MEM_FENCE);\n"
     "    to[i] = shared[n - 1 - i];\n"
     "}\n",
     "kernel void wrong(global int *to) { to[0] = no_such_name; }\n", "no_such_name"},
    {FCL_DEVICE_C, "C",
     "#include <stdint.h>\n"
     "void copy_int(void *const *args, int64_t blocks) {\n"
     "    int32_t *to = *(int32_t *const *)args[0];\n"
     "    const int32_t *from = *(const int32_t *const *)args[1];\n"
     "    int64_t n = *(const int64_t *)args[2];\n"
     "#pragma omp parallel for\n"
     "    for (int64_t b = 0; b < blocks; b++)\n"
     "        for (int64_t i = b; i < n; i += blocks) to[i] = from[i];\n"
     "}\n"
     "void add_int(void *const *args, int64_t blocks) {\n"
     "    int32_t *to = *(int32_t *const *)args[0];\n"
     "    const int32_t *a = *(const int32_t *const *)args[1], *b = *(const int32_t *const *)args[2];\n"
     "    int64_t n = *(const int64_t *)args[3];\n"
     "    int32_t extra = *(const int32_t *)args[4];\n"
     "#pragma omp parallel for\n"
     "    for (int64_t k = 0; k < blocks; k++)\n"
     "        for (int64_t i = k; i < n; i += blocks) to[i] = a[i] + b[i] + extra;\n"
     "}\n",
     "void wrong(void *const *args, long blocks) { no_such_name; }\n", "no_such_name"},
    {FCL_DEVICE_CUDA, "CUDA", CUDA_KERNELS, CUDA_WRONG, "no_such_name"},
    {FCL_DEVICE_HIP, "HIP", CUDA_KERNELS, CUDA_WRONG, "no_such_name"},
};

static char cache_home[] = "/tmp/fcl-test-cache-XXXXXX";

static struct fcl_context *open_or_skip(const struct language *language, struct fcl_options options) {
    struct fcl_context *context = NULL;
    char error[1024] = "";
    options.kind = language->kind;
    if (fcl_open(&context, &options, error, sizeof error) != FCL_OK) {
        print_message("skipped: %s: %s\n", language->name, error);
        assert_null(context);
        assert_true(error[0] != 0);
        skip();
    }
    assert_non_null(context);
    assert_string_equal(error, "");
    return context;
}

static struct fcl_context *open_default(const struct language *language) {
    return open_or_skip(language, (struct fcl_options)FCL_OPTIONS_DEFAULT);
}

#define GOOD(context, call)                                                                                            \
    do {                                                                                                               \
        if ((call) != FCL_OK)                                                                                          \
            fail_msg("%s: %s", #call, fcl_error(context));                                                             \
    } while (0)

static struct fcl_kernel *get_kernel(struct fcl_context *context, const struct language *language, const char *name) {
    struct fcl_program *program = NULL;
    struct fcl_kernel *kernel = NULL;
    GOOD(context, fcl_build(context, language->copy_and_add, NULL, &program));
    GOOD(context, fcl_get_kernel(program, name, &kernel));
    assert_string_equal(fcl_kernel_name(kernel), name);
    return kernel;
}

// ---------------------------------------------------------------- without a device

static void devices_are_listed_in_order(void **state) {
    (void)state;
    struct fcl_device_list list;
    assert_int_equal(fcl_devices(&list), FCL_OK);
    assert_true(list.count >= 1); // C is always listed
    bool present[FCL_BACKENDS] = {false};
    for (size_t i = 0; i < list.count; i++) {
        const struct fcl_device_info *info = &list.devices[i];
        assert_true(info->name[0] != 0);
        assert_true(info->memory_bytes > 0 && info->max_buffer_bytes > 0 && info->max_blocks > 0);
        bool is_cpu = info->kind == FCL_DEVICE_OPENCL_CPU || info->kind == FCL_DEVICE_C;
        assert_true(is_cpu ? info->vector_bytes >= sizeof(float) : info->vector_bytes == 0);
        if (info->backend == FCL_BACKEND_OPENCL) // a launch's work-items are counted in 32 bits
            assert_true(info->max_blocks * info->max_threads <= UINT32_MAX);
        present[info->backend] = true;
        if (i == 0)
            continue;
        const struct fcl_device_info *before = info - 1;
        assert_true(before->kind < info->kind || (before->kind == info->kind && before->index + 1 == info->index));
    }
    for (int b = 0; b < FCL_BACKENDS; b++)
        assert_true(present[b] == (list.absent[b][0] == 0));
    fcl_device_list_free(&list);
    assert_int_equal(list.count, 0);
    fcl_device_list_free(&list);
}

static void device_names_are_parsed(void **state) {
    (void)state;
    enum fcl_device_kind kind;
    int index;
    assert_int_equal(fcl_parse_device("opencl-cpu:3", &kind, &index), FCL_OK);
    assert_int_equal(kind, FCL_DEVICE_OPENCL_CPU);
    assert_int_equal(index, 3);
    assert_int_equal(fcl_parse_device("c", &kind, &index), FCL_OK);
    assert_int_equal(kind, FCL_DEVICE_C);
    assert_int_equal(index, 0);
    static const char *const wrong[] = {"", "gpu", "c:", "c:x", "c:-1", "c:99999", "opencl-", NULL};
    for (int i = 0; wrong[i]; i++)
        assert_int_equal(fcl_parse_device(wrong[i], &kind, &index), FCL_INVALID);
    assert_int_equal(fcl_parse_device(NULL, NULL, NULL), FCL_INVALID);
}

static void null_is_tolerated(void **state) {
    (void)state;
    struct fcl_buffer *buffer = NULL;
    struct fcl_program *program = NULL;
    struct fcl_kernel *kernel = NULL;
    const struct fcl_timing *timings;
    size_t count;
    char byte = 0;
    fcl_close(NULL);
    fcl_buffer_free(NULL);
    fcl_trim(NULL);
    fcl_clear_timings(NULL);
    fcl_device_list_free(NULL);
    assert_int_equal(fcl_devices(NULL), FCL_INVALID);
    assert_int_equal(fcl_open(NULL, NULL, NULL, 0), FCL_INVALID);
    assert_string_equal(fcl_error(NULL), "");
    assert_null(fcl_device(NULL));
    assert_int_equal(fcl_finish(NULL), FCL_INVALID);
    assert_int_equal(fcl_finish_queue(NULL, NULL), FCL_INVALID);
    assert_int_equal(fcl_buffer_new(NULL, 1, &buffer), FCL_INVALID);
    assert_int_equal(fcl_buffer_bytes(NULL), 0);
    assert_int_equal(fcl_write(NULL, 0, &byte, 1), FCL_INVALID);
    assert_int_equal(fcl_read(NULL, 0, &byte, 1), FCL_INVALID);
    assert_int_equal(fcl_copy(NULL, 0, NULL, 0, 1), FCL_INVALID);
    assert_int_equal(fcl_fill(NULL, 0, 1, 0), FCL_INVALID);
    assert_int_equal(fcl_build(NULL, "", NULL, &program), FCL_INVALID);
    assert_int_equal(fcl_get_kernel(NULL, "x", &kernel), FCL_INVALID);
    assert_int_equal(fcl_launch(NULL, 1, 1, 0, NULL, 0), FCL_INVALID);
    assert_int_equal(fcl_timings(NULL, &timings, &count), FCL_INVALID);
    assert_string_equal(fcl_kernel_name(NULL), "");
}

static void missing_libraries_are_explained(void **state) {
    (void)state;
    static const struct {
        const char *variable;
        enum fcl_device_kind kind;
    } cases[] = {
        {"FCL_LIBCUDA", FCL_DEVICE_CUDA}, {"FCL_LIBOPENCL", FCL_DEVICE_OPENCL}, {"FCL_LIBHIP", FCL_DEVICE_HIP}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *before = getenv(cases[i].variable);
        char *kept = before ? strdup(before) : NULL;
        setenv(cases[i].variable, "/nowhere/libnothing.so", 1);
        struct fcl_options options = FCL_OPTIONS_DEFAULT;
        options.kind = cases[i].kind;
        struct fcl_context *context = NULL;
        char error[512] = "";
        assert_int_equal(fcl_open(&context, &options, error, sizeof error), FCL_NO_BACKEND);
        assert_null(context);
        assert_non_null(strstr(error, "/nowhere/libnothing.so"));
        // A library that is none of ours: libc has no such functions.
        setenv(cases[i].variable, "libc.so.6", 1);
        assert_int_equal(fcl_open(&context, &options, error, sizeof error), FCL_NO_BACKEND);
        assert_non_null(strstr(error, "has no function"));
        // A message that is longer than its place is cut, not overrun.
        char small[8] = "";
        fcl_open(&context, &options, small, sizeof small);
        assert_int_equal(small[7], 0);
        if (kept)
            setenv(cases[i].variable, kept, 1);
        else
            unsetenv(cases[i].variable);
        free(kept);
    }
}

// The processor's name is what the system calls it, without what stands around it there.
static void the_processor_has_its_name(void **state) {
    (void)state;
    char line[512] = "", *name = NULL;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && !name && fgets(line, sizeof line, file))
        if (strncmp(line, "model name\t: ", 13) == 0)
            name = line + 13;
    if (file)
        fclose(file);
    if (!name) {
        print_message("skipped: /proc/cpuinfo has no name\n");
        skip();
    }
    name[strcspn(name, "\n")] = 0;
    struct fcl_device_list list;
    assert_int_equal(fcl_devices(&list), FCL_OK);
    bool found = false;
    for (size_t i = 0; i < list.count; i++)
        if (list.devices[i].kind == FCL_DEVICE_C) {
            found = true;
            assert_memory_equal(list.devices[i].name, name, strlen(list.devices[i].name));
            assert_true(list.devices[i].name[0] && list.devices[i].name[0] != ' ');
        }
    assert_true(found);
    fcl_device_list_free(&list);
}

static void no_device_is_of_an_unknown_kind(void **state) {
    (void)state;
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    options.kind = (enum fcl_device_kind)99;
    struct fcl_context *context = NULL;
    char error[512] = "";
    assert_int_not_equal(fcl_open(&context, &options, error, sizeof error), FCL_OK);
    assert_null(context);
    assert_true(error[0] != 0);
}

static void absent_cuda_is_explained(void **state) {
    (void)state;
    struct fcl_device_list list;
    assert_int_equal(fcl_devices(&list), FCL_OK);
    char reason[256];
    snprintf(reason, sizeof reason, "%s", list.absent[FCL_BACKEND_CUDA]);
    fcl_device_list_free(&list);
    if (!reason[0]) {
        print_message("skipped: this machine has a CUDA device\n");
        skip();
    }
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    options.kind = FCL_DEVICE_CUDA;
    struct fcl_context *context = NULL;
    char error[512] = "";
    assert_int_not_equal(fcl_open(&context, &options, error, sizeof error), FCL_OK);
    assert_non_null(strstr(error, "NVIDIA driver"));
}

static void missing_compiler_is_explained(void **state) {
    (void)state;
    setenv("FCL_CC", "no-such-compiler -x", 1);
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    options.kind = FCL_DEVICE_C;
    struct fcl_context *context = NULL;
    char error[512] = "";
    assert_int_equal(fcl_open(&context, &options, error, sizeof error), FCL_NO_BACKEND);
    assert_non_null(strstr(error, "no-such-compiler"));
    assert_non_null(strstr(error, "install"));
    setenv("FCL_CC", "   ", 1);
    assert_int_equal(fcl_open(&context, &options, error, sizeof error), FCL_NO_BACKEND);
    unsetenv("FCL_CC");
}

static void more_options_reach_the_compiler(void **state) {
    (void)state;
    static const char source[] = "#if FCL_TOLD != 7\n#error\n#endif\n";
    for (int told = 7; told < 9; told++) {
        char option[32];
        snprintf(option, sizeof option, "-DFCL_TOLD=%d -O1", told);
        setenv("FCL_CC_OPTIONS", option, 1);
        struct fcl_options options = FCL_OPTIONS_DEFAULT;
        options.kind = FCL_DEVICE_C;
        struct fcl_context *context = NULL;
        char error[512] = "";
        assert_int_equal(fcl_open(&context, &options, error, sizeof error), FCL_OK);
        struct fcl_program *program = NULL;
        assert_int_equal(fcl_build(context, source, NULL, &program), told == 7 ? FCL_OK : FCL_BUILD_FAILED);
        fcl_close(context);
    }
    unsetenv("FCL_CC_OPTIONS");
}

static void device_number_out_of_range(void **state) {
    (void)state;
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    options.kind = FCL_DEVICE_C;
    options.index = 7;
    struct fcl_context *context = NULL;
    char error[512] = "";
    assert_int_equal(fcl_open(&context, &options, error, sizeof error), FCL_NO_DEVICE);
    assert_string_equal(error, "no device c:7: there is 1");
    options.index = -1;
    assert_int_equal(fcl_open(&context, &options, error, sizeof error), FCL_INVALID);
}

static void first_that_works(void **state) {
    (void)state;
    struct fcl_context *context = NULL;
    char error[1024] = "";
    if (fcl_open(&context, NULL, error, sizeof error) != FCL_OK) {
        print_message("skipped: %s\n", error);
        skip();
    }
    assert_true(fcl_device(context)->kind <= FCL_DEVICE_C);
    fcl_close(context);
}

// ---------------------------------------------------------------- on each backend

static void kernels_run(void **state) {
    const struct language *language = *state;
    struct fcl_context *context = open_default(language);
    struct fcl_kernel *copy = get_kernel(context, language, "copy_int");
    struct fcl_kernel *add = get_kernel(context, language, "add_int");
    int32_t a[MANY], b[MANY], result[MANY];
    for (int i = 0; i < MANY; i++) {
        a[i] = i * 7 - 100;
        b[i] = i * i;
    }
    struct fcl_buffer *x, *y, *z;
    GOOD(context, fcl_buffer_new(context, sizeof a, &x));
    GOOD(context, fcl_buffer_array(context, MANY, sizeof *b, &y));
    GOOD(context, fcl_buffer_new(context, sizeof result, &z));
    assert_int_equal(fcl_buffer_bytes(y), sizeof b);
    GOOD(context, fcl_write(x, 0, a, sizeof a));
    GOOD(context, fcl_write(y, 0, b, sizeof b));

    int64_t n = MANY;
    int32_t constant = -5;
    struct fcl_arg copy_args[] = {fcl_arg_buffer(z), fcl_arg_buffer(x), fcl_arg_scalar(&n, sizeof n)};
    GOOD(context, fcl_launch(copy, 4, 32, 0, copy_args, 3));
    GOOD(context, fcl_read(z, 0, result, sizeof result));
    assert_memory_equal(result, a, sizeof a);

    // More blocks than there is work, and fewer.
    static const uint64_t blocks[] = {1, 3, 2000};
    for (int k = 0; k < 3; k++) {
        struct fcl_arg add_args[] = {fcl_arg_buffer(z), fcl_arg_buffer(x), fcl_arg_buffer(y),
                                     fcl_arg_scalar(&n, sizeof n), fcl_arg_scalar(&constant, sizeof constant)};
        GOOD(context, fcl_fill(z, 0, sizeof result, 0));
        GOOD(context, fcl_launch(add, blocks[k], 16, 0, add_args, 5));
        GOOD(context, fcl_finish(context));
        GOOD(context, fcl_read(z, 0, result, sizeof result));
        for (int i = 0; i < MANY; i++)
            assert_int_equal(result[i], a[i] + b[i] + constant);
    }

    // No blocks: nothing happens.
    GOOD(context, fcl_fill(z, 0, sizeof result, 0xff));
    GOOD(context, fcl_launch(copy, 0, 32, 0, copy_args, 3));
    GOOD(context, fcl_read(z, 0, result, sizeof result));
    for (int i = 0; i < MANY; i++)
        assert_int_equal(result[i], -1);
    assert_int_equal(fcl_error_status(context), FCL_OK);
    assert_string_equal(fcl_error(context), "");
    fcl_close(context);
}

// Many at a time and one after another, so that memory that was written to comes round again.
static void zeros(void **state) {
    struct fcl_context *context = open_default(*state);
    enum { COUNT = 40, ROUNDS = 30 };
    static const uint64_t sizes[] = {0, 1, 4, 1000, 40000, 300000, 5000000};
    unsigned char *back = malloc(5000000);
    assert_non_null(back);
    struct fcl_buffer *kept[COUNT] = {NULL};
    for (int round = 0; round < ROUNDS * COUNT; round++) {
        struct fcl_buffer **buffer = &kept[round * 7 % COUNT];
        if (round % 3 != 2 || fcl_buffer_bytes(*buffer) > 50000)
            fcl_buffer_free(*buffer); // else it stays until the context is closed
        uint64_t bytes = sizes[round % 50 == 0 ? 6 : round % 6];
        GOOD(context, fcl_buffer_zeros(context, bytes, 1, buffer));
        assert_int_equal(fcl_buffer_bytes(*buffer), bytes);
        GOOD(context, fcl_read(*buffer, 0, back, bytes));
        for (uint64_t i = 0; i < bytes; i++)
            if (back[i])
                fail_msg("byte %d of %d is %d in round %d", (int)i, (int)bytes, back[i], round);
        GOOD(context, fcl_fill(*buffer, 0, bytes, 0xff));
    }
    // The bytes beside it are not touched.
    struct fcl_buffer *a, *b;
    GOOD(context, fcl_buffer_zeros(context, 3, 4, &a));
    GOOD(context, fcl_buffer_zeros(context, 3, 4, &b));
    GOOD(context, fcl_fill(a, 0, 12, 1));
    GOOD(context, fcl_read(b, 0, back, 12));
    for (int i = 0; i < 12; i++)
        assert_int_equal(back[i], 0);
    assert_int_equal(fcl_fill(a, 0, 13, 1), FCL_INVALID);
    assert_int_equal(fcl_buffer_zeros(context, UINT64_C(1) << 62, 8, &a), FCL_TOO_LARGE);
    assert_null(a);
    assert_int_equal(fcl_buffer_zeros(NULL, 1, 1, &a), FCL_INVALID);
    assert_int_equal(fcl_buffer_zeros(context, 1, 1, NULL), FCL_INVALID);
    free(back);
    fcl_close(context);
}

// New memory has the byte of FCL_FILL in it, also where it had another before; zeros stay zeros.
static void filled(void **state) {
    const char *value = getenv("FCL_FILL");
    char *before = value ? strdup(value) : NULL;
    setenv("FCL_FILL", "165", 1);
    struct fcl_context *context = open_default(*state);
    for (int round = 0; round < 6; round++) {
        struct fcl_buffer *fresh = NULL, *zeros = NULL;
        unsigned char back[1001] = {0}, due = round % 2 ? 165 : 0;
        bool is_slot = round > 3;
        uint64_t bytes = is_slot ? 60 : sizeof back;
        GOOD(context, fcl_buffer_zeros(context, sizeof back, 1, &zeros));
        if (is_slot)
            GOOD(context, fcl_buffer_slot(context, bytes, !due, &fresh));
        else
            GOOD(context, due ? fcl_buffer_new(context, bytes, &fresh) : fcl_buffer_zeros(context, bytes, 1, &fresh));
        GOOD(context, fcl_read(fresh, 0, back, bytes));
        for (uint64_t i = 0; i < bytes; i++)
            assert_int_equal(back[i], due);
        GOOD(context, fcl_fill(fresh, 0, bytes, 1));
        fcl_buffer_free(fresh);
        fcl_buffer_free(zeros);
    }
    struct fcl_buffer *none;
    GOOD(context, fcl_buffer_new(context, 0, &none));
    fcl_close(context);
    before ? setenv("FCL_FILL", before, 1) : unsetenv("FCL_FILL");
    free(before);
}

// More of them at a time than a context has, and in turns.
static void slots(void **state) {
    struct fcl_context *context = open_default(*state);
    enum { COUNT = 40 };
    struct fcl_buffer *kept[COUNT] = {NULL};
    for (int round = 0; round < 10 * COUNT; round++) {
        struct fcl_buffer **buffer = &kept[round * 7 % COUNT];
        fcl_buffer_free(*buffer);
        GOOD(context, fcl_buffer_slot(context, 8, round % 3 != 0, buffer));
        assert_int_equal(fcl_buffer_bytes(*buffer), 8);
        uint64_t back = 0;
        if (round % 3 != 0) {
            GOOD(context, fcl_read(*buffer, 0, &back, sizeof back));
            assert_true(back == 0);
        }
        GOOD(context, fcl_fill(*buffer, 0, 8, (uint8_t)round));
        if (round % 5 == 0)
            continue; // it is freed before the device is known to be done
        GOOD(context, fcl_read(*buffer, 4, &back, 4));
        assert_true((uint32_t)back == (uint8_t)round * UINT32_C(0x01010101));
    }
    assert_int_equal(fcl_fill(kept[0], 0, 9, 1), FCL_INVALID);
    struct fcl_buffer *large;
    GOOD(context, fcl_buffer_slot(context, 1000, true, &large));
    assert_int_equal(fcl_buffer_slot(NULL, 4, true, &large), FCL_INVALID);
    assert_int_equal(fcl_buffer_slot(context, 4, true, NULL), FCL_INVALID);
    fcl_close(context);
}

static void buffers(void **state) {
    const struct language *language = *state;
    struct fcl_context *context = open_default(language);
    struct fcl_buffer *x, *y, *none;
    unsigned char data[16], back[16];
    for (int i = 0; i < 16; i++)
        data[i] = (unsigned char)(i + 1);
    GOOD(context, fcl_buffer_new(context, 16, &x));
    GOOD(context, fcl_buffer_new(context, 16, &y));
    GOOD(context, fcl_write(x, 0, data, 16));
    GOOD(context, fcl_fill(y, 0, 16, 9));
    GOOD(context, fcl_copy(y, 4, x, 8, 4));
    GOOD(context, fcl_write(y, 12, data, 4));
    GOOD(context, fcl_fill(y, 1, 2, 7));
    GOOD(context, fcl_read(y, 0, back, 16));
    static const unsigned char expected[16] = {9, 7, 7, 9, 9, 10, 11, 12, 9, 9, 9, 9, 1, 2, 3, 4};
    assert_memory_equal(back, expected, 16);
    GOOD(context, fcl_read(y, 5, back, 3));
    assert_memory_equal(back, expected + 5, 3);

    GOOD(context, fcl_buffer_new(context, 0, &none));
    assert_int_equal(fcl_buffer_bytes(none), 0);
    GOOD(context, fcl_write(none, 0, NULL, 0));
    GOOD(context, fcl_read(none, 0, NULL, 0));
    GOOD(context, fcl_copy(x, 16, none, 0, 0));
    GOOD(context, fcl_fill(none, 0, 0, 1));
    int64_t n = 0;
    struct fcl_arg args[] = {fcl_arg_buffer(none), fcl_arg_buffer(none), fcl_arg_scalar(&n, sizeof n)};
    GOOD(context, fcl_launch(get_kernel(context, language, "copy_int"), 1, 1, 0, args, 3));
    GOOD(context, fcl_finish(context));

    assert_int_equal(fcl_read(x, 10, back, 7), FCL_INVALID);
    assert_non_null(strstr(fcl_error(context), "7 bytes from offset 10"));
    assert_int_equal(fcl_write(x, UINT64_MAX, data, 2), FCL_INVALID);
    assert_int_equal(fcl_fill(none, 0, 1, 0), FCL_INVALID);
    assert_int_equal(fcl_copy(x, 0, x, 2, 4), FCL_INVALID);
    assert_int_equal(fcl_write(x, 0, NULL, 1), FCL_INVALID);

    struct fcl_buffer *huge = x;
    assert_int_equal(fcl_buffer_new(context, UINT64_C(1) << 60, &huge), FCL_TOO_LARGE);
    assert_null(huge);
    assert_non_null(strstr(fcl_error(context), "1152921504606846976"));
    assert_int_equal(fcl_buffer_array(context, UINT64_C(1) << 62, 8, &huge), FCL_TOO_LARGE);
    assert_non_null(strstr(fcl_error(context), "4611686018427387904"));

    // A freed buffer's memory comes back for the next of its size, with the right one of several.
    fcl_buffer_free(x);
    fcl_buffer_free(none);
    GOOD(context, fcl_buffer_new(context, 16, &x));
    assert_int_equal(fcl_buffer_bytes(x), 16);
    fcl_trim(context);
    fcl_buffer_free(y);
    fcl_trim(context);
    fcl_close(context); // releases x
}

// Without a block size the work is cut into ranges: 16 for each thread of a CPU in C, 4 for each core in OpenCL.
static void blocks_of_launches(void **state) {
    struct fcl_context *context = open_default(*state);
    const struct fcl_device_info *device = fcl_device(context);
    uint64_t units = device->compute_units ? device->compute_units : 1;
    assert_int_equal(fcl_blocks(context, 1000000, 0, 1), units * (device->backend == FCL_BACKEND_C ? 16 : 4));
    assert_int_equal(fcl_blocks(context, 3, 0, 2), 2);
    assert_int_equal(fcl_blocks(context, 10, 4, 1), 3);
    fcl_close(context);
}

// Systems promise more memory than they have, so it is the sum that is refused. Nothing is written to it here.
static void memory_is_counted(void **state) {
    struct fcl_context *context = open_default(*state);
    const struct fcl_device_info *device = fcl_device(context);
    uint64_t part =
        device->memory_bytes / 4 < device->max_buffer_bytes ? device->memory_bytes / 4 : device->max_buffer_bytes;
    struct fcl_buffer *parts[64] = {NULL};
    enum fcl_status status = FCL_OK;
    int count = 0;
    while (count < 64 && status == FCL_OK)
        status = fcl_buffer_new(context, part, &parts[count++]);
    assert_int_equal(status, FCL_NO_DEVICE_MEMORY);
    assert_true(count > 1 && !parts[count - 1]);
    assert_non_null(strstr(fcl_error(context), "no memory for a buffer of "));
    fcl_buffer_free(parts[0]); // into the pool, from where it comes again
    GOOD(context, fcl_buffer_new(context, part, &parts[0]));
    fcl_buffer_free(parts[0]);
    GOOD(context, fcl_buffer_new(context, part - 4096, &parts[0])); // the pool is given back for it
    for (int i = 0; i < count; i++)
        fcl_buffer_free(parts[i]);
    fcl_close(context);
}

static void build_errors_have_a_log(void **state) {
    const struct language *language = *state;
    struct fcl_context *context = open_default(language);
    struct fcl_program *program = NULL;
    for (int time = 0; time < 2; time++) { // failures are not cached
        assert_int_equal(fcl_build(context, language->wrong, NULL, &program), FCL_BUILD_FAILED);
        assert_null(program);
        assert_non_null(strstr(fcl_error(context), language->wrong_word));
    }
    assert_int_equal(fcl_error_status(context), FCL_BUILD_FAILED);
    assert_int_equal(fcl_build(context, NULL, NULL, &program), FCL_INVALID);
    fcl_close(context);
}

static void kernel_names(void **state) {
    const struct language *language = *state;
    struct fcl_context *context = open_default(language);
    struct fcl_program *program, *again;
    struct fcl_kernel *kernel = NULL, *same;
    GOOD(context, fcl_build(context, language->copy_and_add, NULL, &program));
    GOOD(context, fcl_build(context, language->copy_and_add, NULL, &again));
    assert_ptr_equal(program, again);
    assert_string_equal(fcl_build_origin(context), "context");
    assert_int_equal(fcl_get_kernel(program, "no_such_kernel", &kernel), FCL_NO_KERNEL);
    assert_null(kernel);
    assert_non_null(strstr(fcl_error(context), "no_such_kernel"));
    assert_int_equal(fcl_get_kernel(program, "", &kernel), FCL_INVALID);
    GOOD(context, fcl_get_kernel(program, "add_int", &kernel));
    GOOD(context, fcl_get_kernel(program, "add_int", &same));
    assert_ptr_equal(kernel, same);
    fcl_close(context);
}

static void linked_fill(void *const *args, int64_t blocks) {
    for (int64_t i = 0; i < blocks; i++)
        (*(int32_t *const *)args[0])[i] = *(const int32_t *)args[1] + (int32_t)i;
}

static void linked_fill_part(void *const *args, int64_t first, int64_t end, int64_t blocks) {
    (void)blocks;
    for (int64_t i = first; i < end; i++)
        (*(int32_t *const *)args[0])[i] = *(const int32_t *)args[1] - (int32_t)i;
}

// Kernels of the program itself: C runs them without a compiler, other backends refuse them.
static void kernels_are_linked(void **state) {
    static const struct fcl_linked_kernel kernels[] = {
        {"whole", linked_fill, NULL}, {"parts", linked_fill, linked_fill_part}, {NULL, NULL, NULL}};
    const struct language *language = *state;
    bool is_c = language->kind == FCL_DEVICE_C;
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    options.kind = language->kind;
    options.only_linked = true;
    if (is_c)
        setenv("FCL_CC", "no-such-compiler", 1);
    struct fcl_context *context;
    char error[1024];
    enum fcl_status opened = fcl_open(&context, &options, error, sizeof error);
    if (opened != FCL_OK && !is_c)
        skip();
    assert_int_equal(opened, FCL_OK);
    struct fcl_program *program, *again;
    assert_int_equal(fcl_link(context, NULL, &program), FCL_INVALID);
    assert_int_equal(fcl_link(NULL, kernels, &program), FCL_INVALID);
    assert_int_equal(fcl_link_image(context, NULL, &program), FCL_INVALID);
    assert_int_equal(fcl_link_image(NULL, kernels, &program), FCL_INVALID);
    if (language->kind != FCL_DEVICE_CUDA)
        assert_int_equal(fcl_link_image(context, kernels, &program), FCL_INVALID);
    else
        assert_int_equal(fcl_link_image(context, "no image", &program), FCL_BUILD_FAILED);
    assert_null(program);
    if (!is_c) {
        assert_int_equal(fcl_link(context, kernels, &program), FCL_INVALID);
        assert_null(program);
        fcl_close(context);
        return;
    }
    assert_int_equal(fcl_build(context, language->copy_and_add, NULL, &program), FCL_NO_BACKEND);
    GOOD(context, fcl_link(context, kernels, &program));
    GOOD(context, fcl_link(context, kernels, &again));
    assert_ptr_equal(program, again);
    struct fcl_kernel *kernel;
    assert_int_equal(fcl_get_kernel(program, "neither", &kernel), FCL_NO_KERNEL);
    struct fcl_buffer *buffer;
    int32_t from = 100, got[64];
    GOOD(context, fcl_buffer_new(context, sizeof got, &buffer));
    struct fcl_arg arguments[] = {fcl_arg_buffer(buffer), fcl_arg_scalar(&from, sizeof from)};
    for (int k = 0; k < 2; k++) {
        GOOD(context, fcl_get_kernel(program, kernels[k].name, &kernel));
        GOOD(context, fcl_launch(kernel, 64, 1, 0, arguments, 2));
        GOOD(context, fcl_finish_queue(context, NULL));
        GOOD(context, fcl_read(buffer, 0, got, sizeof got));
        for (int32_t i = 0; i < 64; i++)
            assert_int_equal(got[i], k == 0 ? 100 + i : 100 - i);
    }
    fcl_close(context);
    unsetenv("FCL_CC");
}

static void wrong_launches_are_refused(void **state) {
    const struct language *language = *state;
    struct fcl_context *context = open_default(language), *other = open_default(language);
    struct fcl_kernel *copy = get_kernel(context, language, "copy_int");
    struct fcl_buffer *x, *foreign;
    GOOD(context, fcl_buffer_new(context, 64, &x));
    GOOD(other, fcl_buffer_new(other, 64, &foreign));
    int64_t n = 4;
    struct fcl_arg args[] = {fcl_arg_buffer(x), fcl_arg_buffer(foreign), fcl_arg_scalar(&n, sizeof n)};
    assert_int_equal(fcl_launch(copy, 1, 1, 0, args, 3), FCL_INVALID);
    assert_non_null(strstr(fcl_error(context), "another context"));
    args[1] = fcl_arg_buffer(NULL);
    assert_int_equal(fcl_launch(copy, 1, 1, 0, args, 3), FCL_INVALID);
    args[1] = fcl_arg_scalar(&n, 3);
    assert_int_equal(fcl_launch(copy, 1, 1, 0, args, 3), FCL_INVALID);
    assert_int_equal(fcl_launch(copy, 1, 1, 0, NULL, 3), FCL_INVALID);
    args[1] = fcl_arg_buffer(x);
    const struct fcl_device_info *device = fcl_device(context);
    if (device->backend == FCL_BACKEND_OPENCL) {
        assert_int_equal(fcl_launch(copy, 1, 1, 0, args, 2), FCL_INVALID);
        assert_non_null(strstr(fcl_error(context), "takes 3 arguments, not 2"));
    }
    if (device->backend != FCL_BACKEND_C) {
        assert_int_equal(fcl_launch(copy, 1, 0, 0, args, 3), FCL_INVALID);
        assert_int_equal(fcl_launch(copy, 1, device->max_threads + 1, 0, args, 3), FCL_TOO_LARGE);
    }
    fcl_close(other);
    fcl_close(context);
}

static void shared_memory(void **state) {
    const struct language *language = *state;
    struct fcl_context *context = open_default(language);
    const struct fcl_device_info *device = fcl_device(context);
    if (device->backend == FCL_BACKEND_C) {
        fcl_close(context);
        print_message("skipped: C kernels have their shared memory themselves\n");
        skip();
    }
    struct fcl_kernel *reverse = get_kernel(context, language, "reverse_block");
    struct fcl_buffer *x, *y;
    int32_t data[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8];
    GOOD(context, fcl_buffer_new(context, sizeof data, &x));
    GOOD(context, fcl_buffer_new(context, sizeof data, &y));
    GOOD(context, fcl_write(x, 0, data, sizeof data));
    size_t count = device->backend == FCL_BACKEND_OPENCL ? 3 : 2;
    // 32 KiB is what every device has; twice that needs leave on CUDA.
    size_t sizes[] = {sizeof data, 32 << 10, 64 << 10};
    for (int i = 0; i < 3; i++) {
        if (sizes[i] > device->shared_bytes)
            continue;
        struct fcl_arg args[] = {fcl_arg_buffer(y), fcl_arg_buffer(x), fcl_arg_local(sizes[i])};
        GOOD(context, fcl_launch(reverse, 1, 8, sizes[i], args, count));
        GOOD(context, fcl_read(y, 0, back, sizeof back));
        for (int k = 0; k < 8; k++)
            assert_int_equal(back[k], data[7 - k]);
    }
    size_t too_large = (size_t)device->shared_bytes + 1;
    struct fcl_arg args[] = {fcl_arg_buffer(y), fcl_arg_buffer(x), fcl_arg_local(too_large)};
    assert_int_equal(fcl_launch(reverse, 1, 8, too_large, args, count), FCL_TOO_LARGE);
    char asked[32], limit[32];
    snprintf(asked, sizeof asked, "%zu bytes", too_large);
    snprintf(limit, sizeof limit, "%zu bytes", (size_t)device->shared_bytes);
    assert_non_null(strstr(fcl_error(context), asked));
    assert_non_null(strstr(fcl_error(context), limit));
    fcl_close(context);
}

static void launches_are_measured(void **state) {
    const struct language *language = *state;
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    options.profile = true;
    struct fcl_context *context = open_or_skip(language, options);
    struct fcl_kernel *copy = get_kernel(context, language, "copy_int");
    struct fcl_buffer *x, *y;
    int64_t n = 1 << 16;
    GOOD(context, fcl_buffer_new(context, (uint64_t)n * 4, &x));
    GOOD(context, fcl_buffer_new(context, (uint64_t)n * 4, &y));
    GOOD(context, fcl_fill(x, 0, (uint64_t)n * 4, 0));
    struct fcl_arg args[] = {fcl_arg_buffer(y), fcl_arg_buffer(x), fcl_arg_scalar(&n, sizeof n)};
    enum { LAUNCHES = 300 }; // more than are kept unread
    for (int i = 0; i < LAUNCHES; i++)
        GOOD(context, fcl_launch(copy, 8, 32, 0, args, 3));
    const struct fcl_timing *timings;
    size_t count;
    GOOD(context, fcl_timings(context, &timings, &count));
    assert_int_equal(count, LAUNCHES);
    double total = 0;
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(timings[i].kernel, "copy_int");
        assert_true(timings[i].seconds >= 0 && timings[i].seconds < 10);
        total += timings[i].seconds;
    }
    assert_true(total > 0);
    fcl_clear_timings(context);
    GOOD(context, fcl_timings(context, &timings, &count));
    assert_int_equal(count, 0);
    GOOD(context, fcl_launch(copy, 8, 32, 0, args, 3)); // left unread
    fcl_close(context);
}

// Calls `visit` on every file of the cache and counts them.
static int each_cached(const char *directory, void (*visit)(const char *path)) {
    int count = 0;
    DIR *open = opendir(directory);
    if (!open)
        return 0;
    for (struct dirent *item; (item = readdir(open));) {
        if (item->d_name[0] == '.')
            continue;
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", directory, item->d_name);
        if (visit)
            visit(path);
        count++;
    }
    closedir(open);
    return count;
}

static void remove_file(const char *path) { assert_int_equal(unlink(path), 0); }

static void cut_file(const char *path) { assert_int_equal(truncate(path, 100), 0); }

// Changes the last byte, which belongs to the built program.
static void spoil_file(const char *path) {
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    fseek(file, -1, SEEK_END);
    int byte = getc(file);
    fseek(file, -1, SEEK_END);
    putc(byte ^ 0x55, file);
    fclose(file);
}

static const char *build_origin(const struct language *language, bool no_disk_cache, const char *source) {
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    options.no_disk_cache = no_disk_cache;
    struct fcl_context *context = open_or_skip(language, options);
    struct fcl_program *program;
    struct fcl_kernel *kernel;
    GOOD(context, fcl_build(context, source, NULL, &program));
    const char *origin = fcl_build_origin(context);
    GOOD(context, fcl_get_kernel(program, "copy_int", &kernel));
    struct fcl_buffer *x, *y;
    int32_t data[4] = {4, 3, 2, 1}, back[4] = {0};
    int64_t n = 4;
    GOOD(context, fcl_buffer_new(context, sizeof data, &x));
    GOOD(context, fcl_buffer_new(context, sizeof data, &y));
    GOOD(context, fcl_write(x, 0, data, sizeof data));
    struct fcl_arg args[] = {fcl_arg_buffer(y), fcl_arg_buffer(x), fcl_arg_scalar(&n, sizeof n)};
    GOOD(context, fcl_launch(kernel, 1, 4, 0, args, 3));
    GOOD(context, fcl_read(y, 0, back, sizeof back));
    assert_memory_equal(back, data, sizeof data);
    fcl_close(context);
    return origin;
}

static void programs_are_kept_on_disk(void **state) {
    const struct language *language = *state;
    char directory[256], changed[4096];
    snprintf(directory, sizeof directory, "%s/fcl", cache_home);
    snprintf(changed, sizeof changed, "%s\n", language->copy_and_add);
    const char *source = language->copy_and_add;
    setenv("FCL_CACHE", "1", 1); /* PoCL's, too */
    each_cached(directory, remove_file);
    assert_string_equal(build_origin(language, false, source), "source");
    assert_int_equal(each_cached(directory, NULL), 1);
    assert_string_equal(build_origin(language, false, source), "disk");
    assert_string_equal(build_origin(language, true, source), "source");
    assert_string_equal(build_origin(language, false, changed), "source");
    assert_int_equal(each_cached(directory, NULL), 2);
    // A damaged file is built again and repaired.
    void (*const damages[])(const char *) = {cut_file, spoil_file};
    for (int i = 0; i < 2; i++) {
        each_cached(directory, damages[i]);
        assert_string_equal(build_origin(language, false, source), "source");
        assert_string_equal(build_origin(language, false, source), "disk");
    }
    setenv("FCL_CACHE", "0", 1);
    assert_string_equal(build_origin(language, false, source), "source");
    unsetenv("FCL_CACHE");
    each_cached(directory, remove_file);
}

static void make_sparse(const char *directory, const char *name, off_t bytes, time_t age) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(truncate(path, bytes), 0);
    struct utimbuf times = {time(NULL) - age, time(NULL) - age};
    assert_int_equal(utime(path, &times), 0);
}

static bool is_there(const char *directory, const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

// The cache keeps 256 MiB of programs: beyond that those go that were not used for longest. Half-written files that are
// an hour old are what a crash has left, and go, too.
static void the_cache_is_kept_small(void **state) {
    const struct language *language = *state;
    char directory[256];
    snprintf(directory, sizeof directory, "%s/fcl", cache_home);
    setenv("FCL_CACHE", "1", 1);
    build_origin(language, false, language->copy_and_add);
    each_cached(directory, remove_file);
    enum { MIB = 1 << 20, HOUR = 3600 };
    make_sparse(directory, "old.fclbin", 120 * MIB, 3 * HOUR);
    make_sparse(directory, "older.fclbin", 120 * MIB, 4 * HOUR);
    make_sparse(directory, "other", 120 * MIB, 5 * HOUR);
    make_sparse(directory, "left.fcltmp", 1, 2 * HOUR);
    make_sparse(directory, "begun.fcltmp", 1, 0);
    assert_string_equal(build_origin(language, false, language->copy_and_add), "source");
    assert_int_equal(each_cached(directory, NULL), 5); // no more than 256 MiB of programs
    assert_false(is_there(directory, "left.fcltmp"));
    make_sparse(directory, "new.fclbin", 60 * MIB, HOUR);
    char changed[4096];
    snprintf(changed, sizeof changed, "%s\n", language->copy_and_add);
    assert_string_equal(build_origin(language, false, changed), "source");
    assert_false(is_there(directory, "older.fclbin"));
    assert_true(is_there(directory, "old.fclbin"));
    assert_true(is_there(directory, "new.fclbin"));
    assert_true(is_there(directory, "other"));
    assert_true(is_there(directory, "begun.fcltmp"));
    assert_string_equal(build_origin(language, false, language->copy_and_add), "disk");
    unsetenv("FCL_CACHE");
    each_cached(directory, remove_file);
}

// Building, loading and forgetting kernels in C leaves nothing on the heap. Drivers keep memory: they are not asked.
static void nothing_stays_on_the_heap(void **state) {
    const struct language *language = *state;
    if (language->kind != FCL_DEVICE_C) {
        print_message("skipped: drivers keep memory\n");
        skip();
    }
    size_t before = 0;
    setenv("FCL_CACHE", "1", 1);
    for (int time = 0; time < 40; time++) {
        assert_string_equal(build_origin(language, false, language->copy_and_add), time ? "disk" : "source");
        if (time == 9) // what is made once is there
            before = mallinfo2().uordblks;
    }
    assert_in_range(mallinfo2().uordblks, 0, before + 29 * 8);
    unsetenv("FCL_CACHE");
}

static void options_without_support_are_left_out(void **state) {
    const struct language *language = *state;
    if (language->kind != FCL_DEVICE_C) {
        print_message("skipped: only the C backend leaves out options\n");
        skip();
    }
    struct fcl_context *context = open_default(language);
    struct fcl_program *program;
    GOOD(context, fcl_build(context, language->copy_and_add, "-O1 -march=no-such-processor", &program));
    assert_int_equal(fcl_build(context, language->copy_and_add, "-O1 --no-such-option", &program), FCL_BUILD_FAILED);
    assert_non_null(strstr(fcl_error(context), "no-such-option"));
    fcl_close(context);
}

// The parent's driver would wait for threads that the child has not. A host that asks for any device gets no other in
// its place.
static void a_fork_is_told_what_it_lost(void **state) {
    const struct language *language = *state;
    struct fcl_context *context = open_default(language);
    bool lives_on = fcl_device(context)->backend == FCL_BACKEND_C;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        struct fcl_options options = FCL_OPTIONS_DEFAULT;
        options.kind = language->kind;
        char why[1024] = "";
        struct fcl_context *own;
        enum fcl_status status = fcl_open(&own, &options, why, sizeof why);
        bool is_good = lives_on ? status == FCL_OK : status == FCL_DEVICE_FAULT && strstr(why, "was forked");
        options.kind = FCL_DEVICE_ANY;
        if (!lives_on && language->kind != FCL_DEVICE_HIP)
            is_good &= fcl_open(&own, &options, why, sizeof why) == FCL_DEVICE_FAULT && strstr(why, "was forked");
        options.kind = FCL_DEVICE_C;
        is_good &= fcl_open(&own, &options, why, sizeof why) == FCL_OK;
        struct fcl_device_list list;
        is_good &= fcl_devices(&list) == FCL_OK && list.count > 0;
        is_good &= lives_on || strstr(list.absent[fcl_device(context)->backend], "was forked");
        _exit(is_good ? 0 : 1);
    }
    int result = 1;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(result, 0);
    struct fcl_context *another = open_default(language); // the parent has lost nothing
    fcl_close(another);
    fcl_close(context);
}

static int make_cache_home(void **state) {
    (void)state;
    if (!mkdtemp(cache_home))
        return -1;
    unsetenv("FCL_CACHE");
    return setenv("XDG_CACHE_HOME", cache_home, 1);
}

static int remove_cache_home(void **state) {
    (void)state;
    char directory[256];
    snprintf(directory, sizeof directory, "%s/fcl", cache_home);
    each_cached(directory, remove_file);
    rmdir(directory);
    // PoCL follows XDG_CACHE_HOME too and leaves directories of its own.
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", cache_home);
    return system(command);
}

#define ON_EACH(test)                                                                                                  \
    {"OpenCL: " #test, test, NULL, NULL, (void *)&languages[0]},                                                       \
        {"C: " #test, test, NULL, NULL, (void *)&languages[1]},                                                        \
        {"CUDA: " #test, test, NULL, NULL, (void *)&languages[2]}, {                                                   \
        "HIP: " #test, test, NULL, NULL, (void *)&languages[3]                                                         \
    }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_listed_in_order),
        cmocka_unit_test(device_names_are_parsed),
        cmocka_unit_test(null_is_tolerated),
        cmocka_unit_test(missing_libraries_are_explained),
        cmocka_unit_test(absent_cuda_is_explained),
        cmocka_unit_test(the_processor_has_its_name),
        cmocka_unit_test(no_device_is_of_an_unknown_kind),
        cmocka_unit_test(missing_compiler_is_explained),
        cmocka_unit_test(more_options_reach_the_compiler),
        cmocka_unit_test(device_number_out_of_range),
        cmocka_unit_test(first_that_works),
        ON_EACH(kernels_run),
        ON_EACH(zeros),
        ON_EACH(filled),
        ON_EACH(slots),
        ON_EACH(buffers),
        ON_EACH(blocks_of_launches),
        ON_EACH(memory_is_counted),
        ON_EACH(build_errors_have_a_log),
        ON_EACH(kernel_names),
        ON_EACH(kernels_are_linked),
        ON_EACH(wrong_launches_are_refused),
        ON_EACH(shared_memory),
        ON_EACH(launches_are_measured),
        ON_EACH(programs_are_kept_on_disk),
        ON_EACH(the_cache_is_kept_small),
        ON_EACH(nothing_stays_on_the_heap),
        ON_EACH(options_without_support_are_left_out),
        ON_EACH(a_fork_is_told_what_it_lost),
    };
    return cmocka_run_group_tests_name("runtime", tests, make_cache_home, remove_cache_home);
}
