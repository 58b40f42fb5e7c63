/* Unit tests of compiler/backend: the text of the sample kernels, and what they compute on the
   devices that there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "backend/parts.h"
#include "fcl.h"
#include "test_map_samples.h"

/* ---- text ---- */

static int occurrences(const char *text, const char *word) {
    int count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        count++;
    return count;
}

static void test_cuda_text(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    const char *text = sample_print(arena, sample_reverse(arena), SAMPLE_CUDA);
    assert_non_null(strstr(text, "        out[n - 1 - i] = in[i];\n"));
    assert_non_null(
        strstr(text, "__launch_bounds__(256, 4) reverse(const int *__restrict__ in, int *__restrict__ out, int n) {"));
    assert_int_equal(occurrences(text, "for ("), 3); /* over blocks, four elements of a thread, and what is left */
    text = sample_print(arena, sample_two_phases(arena), SAMPLE_CUDA);
    assert_int_equal(occurrences(text, "__syncthreads();"), 2);
    assert_non_null(strstr(text, "    __shared__ int tile[1024];\n"));
    text = sample_print(arena, sample_tree(arena), SAMPLE_CUDA);
    assert_non_null(strstr(text, "__shared__ __align__(16) unsigned char shared_pool[1536];"));
    assert_int_equal(occurrences(sample_print(arena, sample_warps(arena), SAMPLE_CUDA), "__syncwarp();"), 2);
    arena_free(arena);
}

static void test_opencl_text(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    const char *text = sample_print(arena, sample_two_phases(arena), SAMPLE_OPENCL_LOOP);
    assert_int_equal(occurrences(text, "barrier("), 0);
    assert_non_null(strstr(text, "reqd_work_group_size(1, 1, 1)"));
    assert_null(strstr(text, "cl_khr_fp64"));
    text = sample_print(arena, sample_two_phases(arena), SAMPLE_OPENCL_SIMT);
    assert_int_equal(occurrences(text, "barrier(CLK_LOCAL_MEM_FENCE);"), 2);
    assert_non_null(strstr(text, "reqd_work_group_size(256, 1, 1)"));
    assert_null(strstr(text, "get_local_size"));
    assert_null(strstr(text, "FCL_SUB_GROUPS"));
    text = sample_print(arena, sample_warps(arena), SAMPLE_OPENCL_SUB_GROUPS);
    assert_int_equal(occurrences(text, "    FCL_SUB_GROUP_BARRIER();"), 2);
    assert_non_null(strstr(text, "__kernel FCL_SUB_GROUPS "));
    assert_non_null(strstr(sample_print(arena, sample_large(arena), SAMPLE_OPENCL_LOOP), "cl_khr_fp64 : enable"));
    arena_free(arena);
}

/* Parts come in the order of the text, and with those that they want, which may want others. */
static void test_parts(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    const char *text = "// what is before is not printed\n"
                       "\n//@ WORDS\nx\n"
                       "\n//@ PIECES: WORDS\n// a reason\npiece of TYPES\n\n#if 1 // so\n"
                       "\n//@ PAIRS\npairs\n"
                       "\n//@ QUIRKS\n"
                       "\n//@ COPIES: PIECES\nTYPE\n";
    const struct text_word words[] = {{"TYPES", "ints"}, {"TYPE", "int"}, {0}};
    struct text out;
    text_init(&out, arena);
    parts_print(&out, text, part_bit(PART_COPIES), words, "--\n");
    assert_string_equal(text_string(&out), "x\n--\npiece of ints\n\n#if 1 // so\n--\nint\n--\n");
    text_init(&out, arena);
    parts_print(&out, text, part_bit(PART_QUIRKS) | part_bit(PART_PAIRS) | part_bit(PART_HEAD), words, "");
    assert_string_equal(text_string(&out), "pairs\n");
    arena_free(arena);
}

/* A user's name that is a word of some target gets an underscore in all of them. */
static void test_names(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    assert_non_null(strstr(sample_print(arena, sample_private(arena), SAMPLE_C), "void private_("));
    assert_non_null(strstr(sample_print(arena, sample_two_phases(arena), SAMPLE_C), "int blocks_"));
    arena_free(arena);
}

static void test_dump(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    struct text text;
    text_init(&text, arena);
    backend_dump(&text, sample_map(arena, sample_two_phases(arena), SAMPLE_CUDA));
    assert_int_equal(occurrences(text_string(&text), "barrier block;"), 2);
    assert_null(strstr(text_string(&text), "unsigned"));
    arena_free(arena);
}

/* ---- running ---- */

enum { ELEMENTS = 10000 };

static int64_t scalar_named(const char *name) {
    static const struct {
        const char *name;
        int64_t value;
    } values[] = {{"n", 777}, {"blocks", 5}, {"count", 7}, {"size", 123}, {"m", 13}, {"rows", 100}, {"columns", 50}};
    for (size_t i = 0; name && i < sizeof values / sizeof *values; i++)
        if (!strcmp(values[i].name, name))
            return values[i].value;
    return 150; /* the host value of the sample `launches` */
}

static int64_t scalar_value(void *context, const struct ir_value *value) {
    (void)context;
    return value->is_constant ? value->constant.integer : scalar_named(value->name);
}

/* Inputs of every base with small and large, negative and zero values; bools are 0 or 1. */
static void fill(unsigned char *bytes, enum base base, unsigned seed) {
    for (size_t i = 0; i < ELEMENTS; i++) {
        seed = seed * 1664525u + 1013904223u;
        int64_t integer = i % 3 ? (int64_t)(seed >> 20) - 2048 : (int64_t)((uint64_t)seed * 0x9E3779B97F4A7C15u);
        float single = (float)integer / 16;
        double full = (double)integer / 16;
        uint8_t flag = integer & 1;
        size_t size = target_element_bytes(base);
        const void *from = base == BASE_BOOL  ? (const void *)&flag
                           : base == BASE_F32 ? (const void *)&single
                           : base == BASE_F64 ? (const void *)&full
                                              : (const void *)&integer;
        memcpy(bytes + i * size, from, size); /* the low bytes, on the little-endian machines there are */
    }
}

struct outputs {
    size_t count;
    unsigned char *at[BASE_COUNT];
    enum base base[BASE_COUNT];
};

static void check(struct fcl_context *context, enum fcl_status status, const char *what) {
    if (status != FCL_OK)
        fail_msg("%s: %s", what, fcl_error(context));
}

/* Launches one kernel on buffers of ELEMENTS elements and reads back what it may have written. */
static struct outputs run_kernel(struct arena *arena, struct fcl_context *context, const struct target_kernel *kernel,
                                 struct fcl_program *program, uint64_t blocks, uint32_t threads) {
    struct outputs outputs = {0};
    struct fcl_arg *arguments = ARENA_ARRAY(arena, struct fcl_arg, kernel->parameters.count + 1);
    struct fcl_buffer *written[BASE_COUNT];
    for (size_t i = 0; i < kernel->parameters.count; i++) {
        const struct target_parameter *parameter = &kernel->parameters.at[i];
        size_t size = target_element_bytes(parameter->base);
        if (parameter->kind == TARGET_PARAMETER_SCALAR) {
            int64_t value = scalar_value(NULL, parameter->value);
            arguments[i] = fcl_arg_scalar(&value, size);
        } else if (parameter->kind == TARGET_PARAMETER_LOCAL) {
            arguments[i] = fcl_arg_local((size_t)scalar_value(NULL, parameter->capacity) * size);
        } else {
            struct fcl_buffer *buffer;
            uint64_t count = parameter->kind == TARGET_PARAMETER_BUFFER
                                 ? ELEMENTS
                                 : (uint64_t)scalar_value(NULL, parameter->capacity) * blocks * threads;
            check(context, fcl_buffer_array(context, count, size, &buffer), "buffer");
            arguments[i] = fcl_arg_buffer(buffer);
            if (parameter->kind == TARGET_PARAMETER_BUFFER && parameter->is_const) {
                unsigned char *bytes = arena_alloc(arena, ELEMENTS * size);
                fill(bytes, parameter->base, (unsigned)parameter->base + 1);
                check(context, fcl_write(buffer, 0, bytes, ELEMENTS * size), "write");
            } else if (parameter->kind == TARGET_PARAMETER_BUFFER) {
                check(context, fcl_fill(buffer, 0, ELEMENTS * size, 0), "fill");
                written[outputs.count] = buffer;
                outputs.base[outputs.count++] = parameter->base;
            }
        }
    }
    struct fcl_kernel *handle;
    check(context, fcl_get_kernel(program, kernel->name, &handle), kernel->name);
    uint64_t dynamic = (uint64_t)target_dynamic_bytes(kernel, scalar_value, NULL);
    check(context, fcl_launch(handle, blocks, threads, dynamic, arguments, kernel->parameters.count), kernel->name);
    for (size_t i = 0; i < outputs.count; i++) {
        size_t bytes = ELEMENTS * target_element_bytes(outputs.base[i]);
        outputs.at[i] = arena_alloc(arena, bytes);
        check(context, fcl_read(written[i], 0, outputs.at[i], bytes), "read");
    }
    for (size_t i = 0; i < kernel->parameters.count; i++)
        if (arguments[i].kind == FCL_ARG_BUFFER)
            fcl_buffer_free(arguments[i].as.buffer);
    return outputs;
}

/* The results of the integer samples, written down a second time. False: not given for this sample or element. */
static bool expected(const char *name, const int32_t *in, int i, int32_t *value) {
    int32_t n = 777, sum = 0;
    if (!strcmp(name, "reverse") && i < n) {
        *value = in[n - 1 - i];
    } else if (!strcmp(name, "reverse_block") && i < n) {
        uint32_t x = (uint32_t)in[n - 1 - i];
        *value = (int32_t)((x * x + x) * 3);
    } else if (!strcmp(name, "two_phases") && i < 5 * 1024) {
        *value = in[i / 1024 * 1024 + 1023 - i % 1024];
    } else if (!strcmp(name, "tree") && i < 5) {
        for (int k = 0; k < 512; k++)
            sum = (int32_t)((uint32_t)sum + (uint32_t)in[i * 512 + k]);
        *value = sum;
    } else if (!strcmp(name, "while") && i == 0) {
        for (int k = 0; k < n; k++)
            sum = (int32_t)((uint32_t)sum + (uint32_t)in[k]);
        *value = sum;
    } else if (!strcmp(name, "warps") && i < 5 * 512) {
        *value = in[i / 32 * 32 + 31 - i % 32];
    } else if (!strcmp(name, "dynamic") && i < 7 * 123) {
        int32_t x = in[i / 123 * 123 + 122 - i % 123];
        *value = x < 0 ? 0 : x;
    } else if (!strcmp(name, "private") && i < n) {
        for (int k = 7; k >= 0; k--)
            sum = (int32_t)((uint32_t)sum * 31) ^ in[i + k];
        for (int k = 12; k >= 0; k--)
            sum = (int32_t)((uint32_t)sum * 31) ^ in[i + k];
        *value = sum;
    } else {
        *value = 0;
        return false;
    }
    return true;
}

static void compare(const struct sample *sample, const char *device, const struct outputs *one,
                    const struct outputs *other) {
    for (size_t k = 0; k < one->count; k++) {
        /* Mathematical functions differ between devices in the last bits. */
        if (!strcmp(sample->name, "operations") && base_info[one->base[k]].is_floating)
            continue;
        size_t size = target_element_bytes(one->base[k]);
        for (size_t i = 0; i < ELEMENTS; i++)
            if (memcmp(one->at[k] + i * size, other->at[k] + i * size, size))
                fail_msg("%s on %s: element %zu of result %zu (%s) differs", sample->name, device, i, k,
                         base_info[one->base[k]].name);
    }
}

static struct outputs run_sample(struct arena *arena, struct fcl_context *context, const struct sample *sample,
                                 enum sample_target target, uint64_t blocks, uint32_t threads, size_t which) {
    struct ir_kernel *kernel = sample->build(arena);
    struct target_program *mapped = sample_map(arena, kernel, target);
    struct fcl_program *program;
    check(context, fcl_build(context, sample_print(arena, kernel, target), NULL, &program), sample->name);
    const struct target_kernel *chosen = mapped->kernels.at[which];
    bool is_free = threads && !chosen->is_exact; /* the others want exactly so many threads */
    return run_kernel(arena, context, chosen, program, blocks, is_free ? threads : (uint32_t)chosen->block_threads);
}

static struct fcl_context *open_or_skip(enum fcl_device_kind kind) {
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    options.kind = kind;
    options.no_disk_cache = true;
    struct fcl_context *context = NULL;
    char error[1000];
    if (fcl_open(&context, &options, error, sizeof error) != FCL_OK) {
        print_message("%s\n", error);
        return NULL;
    }
    return context;
}

/* All samples at several launch sizes, against C with one block. */
static void run_all(enum fcl_device_kind kind, enum sample_target target, const uint32_t *threads, size_t sizes) {
    struct fcl_context *c = open_or_skip(FCL_DEVICE_C), *context = open_or_skip(kind);
    if (!c || !context) {
        fcl_close(c);
        fcl_close(context);
        skip();
    }
    for (int s = 0; s < SAMPLE_COUNT; s++) {
        struct arena *arena = arena_new();
        const struct sample *sample = &samples[s];
        size_t kernels = !strcmp(sample->name, "launches") ? 2 : 1;
        for (size_t which = 0; which < kernels; which++) {
            struct outputs reference = run_sample(arena, c, sample, SAMPLE_C, 1, 1, which);
            int32_t *in = arena_alloc(arena, ELEMENTS * sizeof *in), value;
            fill((unsigned char *)in, BASE_I32, BASE_I32 + 1);
            for (int i = 0; reference.base[0] == BASE_I32 && i < ELEMENTS; i++)
                if (expected(sample->name, in, i, &value))
                    assert_int_equal(((int32_t *)reference.at[0])[i], value);
            for (size_t k = 0; k < sizes; k++)
                for (uint64_t blocks = 1; blocks <= 7; blocks += 3) {
                    struct outputs outputs = run_sample(arena, context, sample, target, blocks, threads[k], which);
                    compare(sample, fcl_device_kind_name(kind), &reference, &outputs);
                }
        }
        arena_free(arena);
    }
    fcl_close(c);
    fcl_close(context);
}

static void test_run_c(void **state) {
    (void)state;
    run_all(FCL_DEVICE_C, SAMPLE_C, (uint32_t[]){1}, 1);
}

static void test_run_opencl_loop(void **state) {
    (void)state;
    run_all(FCL_DEVICE_OPENCL, SAMPLE_OPENCL_LOOP, (uint32_t[]){1}, 1);
}

static void test_run_opencl_simt(void **state) {
    (void)state;
    run_all(FCL_DEVICE_OPENCL, SAMPLE_OPENCL_SIMT, (uint32_t[]){256, 64}, 2);
}

static void test_run_cuda(void **state) {
    (void)state;
    run_all(FCL_DEVICE_CUDA, SAMPLE_CUDA, (uint32_t[]){0, 64}, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuda_text),
        cmocka_unit_test(test_opencl_text),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_dump),
        cmocka_unit_test(test_run_c),
        cmocka_unit_test(test_run_opencl_loop),
        cmocka_unit_test(test_run_opencl_simt),
        cmocka_unit_test(test_run_cuda),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
