/* Unit tests of compiler/map: what loops, barriers, parameters and memory the sample kernels get. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "map/quirks/quirks.h"
#include "test_map_samples.h"

/* ---- counting ---- */

struct counts {
    int copies, loops, ifs, loads, stores, block_barriers, warp_barriers, arrays, pointers;
};

static int loads_of(const struct target_expr *expr) {
    if (!expr)
        return 0;
    int count = expr->kind == TARGET_EXPR_ELEMENT;
    for (int i = 0; i < 3; i++)
        count += loads_of(expr->operands[i]);
    return count;
}

static void count_block(const struct target_block *block, struct counts *counts) {
    for (size_t i = 0; i < block->statements.count; i++) {
        const struct target_statement *s = block->statements.at[i];
        counts->loops += s->kind == TARGET_FOR || s->kind == TARGET_WHILE;
        counts->ifs += s->kind == TARGET_IF;
        counts->stores += s->kind == TARGET_STORE;
        counts->copies += s->kind == TARGET_COPY;
        counts->block_barriers += s->kind == TARGET_BLOCK_BARRIER;
        counts->warp_barriers += s->kind == TARGET_WARP_BARRIER;
        counts->arrays += s->kind == TARGET_DECLARE_ARRAY;
        counts->pointers += s->kind == TARGET_DECLARE_POINTER;
        counts->loads += loads_of(s->value) + loads_of(s->index) + loads_of(s->limit);
        count_block(&s->body, counts);
        count_block(&s->other, counts);
    }
}

static struct target_program *map_sample(struct arena *arena, struct ir_kernel *(*build)(struct arena *),
                                         enum sample_target target) {
    return sample_map(arena, build(arena), target);
}

static struct counts counts_of(const struct target_program *program, size_t kernel) {
    struct counts counts = {0};
    count_block(&program->kernels.at[kernel]->body, &counts);
    return counts;
}

static struct counts sample_counts(struct ir_kernel *(*build)(struct arena *), enum sample_target target) {
    struct arena *arena = arena_new();
    struct counts counts = counts_of(map_sample(arena, build, target), 0);
    arena_free(arena);
    return counts;
}

static void assert_counts(struct counts counts, int loops, int loads, int stores, int block_barriers) {
    assert_int_equal(counts.loops, loops);
    assert_int_equal(counts.loads, loads);
    assert_int_equal(counts.stores, stores);
    assert_int_equal(counts.block_barriers, block_barriers);
}

/* ---- tests ---- */

static void test_fusion(void **state) {
    (void)state;
    for (int target = 0; target < SAMPLE_TARGET_COUNT; target++) {
        /* And what is left. */
        bool in_fours = target != SAMPLE_C && target != SAMPLE_OPENCL_LOOP;
        assert_counts(sample_counts(sample_reverse, target), in_fours ? 3 : 1, in_fours ? 2 : 1, in_fours ? 2 : 1, 0);
        assert_counts(sample_counts(sample_reverse_block, target), 1, 1, 1, 0);
    }
}

static void test_two_phases(void **state) {
    (void)state;
    /* One barrier between the phases, one before the next round of the loop over blocks. On CUDA the first phase is a
       copy by 16 bytes. */
    assert_counts(sample_counts(sample_two_phases, SAMPLE_CUDA), 2, 2, 1, 2);
    assert_int_equal(sample_counts(sample_two_phases, SAMPLE_CUDA).copies, 1);
    assert_counts(sample_counts(sample_two_phases, SAMPLE_OPENCL_SIMT), 3, 2, 2, 2);
    assert_counts(sample_counts(sample_two_phases, SAMPLE_OPENCL_LOOP), 3, 2, 2, 0);
    assert_counts(sample_counts(sample_two_phases, SAMPLE_C), 3, 2, 2, 0);
    assert_int_equal(sample_counts(sample_two_phases, SAMPLE_CUDA).pointers, 0);
}

static void test_tree(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    struct target_program *program = map_sample(arena, sample_tree, SAMPLE_CUDA);
    struct counts counts = counts_of(program, 0);
    /* One loop, over blocks; barriers: three before levels that are the first warp's alone, five
       among these, and the one around that loop. */
    assert_counts(counts, 1, 18, 9, 4);
    assert_int_equal(counts.warp_barriers, 5);
    struct target_program *opencl = map_sample(arena, sample_tree, SAMPLE_OPENCL_SIMT);
    assert_int_equal(counts_of(opencl, 0).block_barriers, 9); /* no warps */
    assert_int_equal(counts.arrays, 1);
    /* Two levels are alive at a time: 256 and 128 elements. */
    assert_int_equal(program->kernels.at[0]->static_shared_bytes, (256 + 128) * 4);
    arena_free(arena);
}

static void test_while(void **state) {
    (void)state;
    struct counts counts = sample_counts(sample_while, SAMPLE_CUDA);
    assert_int_equal(counts.block_barriers, 2); /* in the while, and before the result is read */
    assert_int_equal(counts.loops, 4);          /* what is loaded is held, and then stored: note [filling] */
    assert_int_equal(sample_counts(sample_while, SAMPLE_OPENCL_LOOP).block_barriers, 0);
}

static void test_warps(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    struct target_program *program = map_sample(arena, sample_warps, SAMPLE_CUDA);
    struct counts counts = counts_of(program, 0);
    assert_counts(counts, 2, 2, 2, 0);
    assert_int_equal(counts.warp_barriers, 2);
    assert_true(program->kernels.at[0]->needs_warps);
    assert_int_equal(program->kernels.at[0]->static_shared_bytes, 8 * 32 * 4);
    counts = sample_counts(sample_warps, SAMPLE_OPENCL_SUB_GROUPS);
    assert_counts(counts, 2, 2, 2, 0);
    assert_int_equal(counts.warp_barriers, 2);
    /* A warp is a thread, which goes through its elements. */
    counts = sample_counts(sample_warps, SAMPLE_OPENCL_SIMT);
    assert_counts(counts, 3, 2, 2, 0);
    assert_int_equal(counts.warp_barriers, 0);
    arena_free(arena);
}

static const struct target_parameter *parameter_of_kind(const struct target_kernel *kernel,
                                                        enum target_parameter_kind kind, size_t skip) {
    for (size_t i = 0; i < kernel->parameters.count; i++)
        if (kernel->parameters.at[i].kind == kind && skip-- == 0)
            return &kernel->parameters.at[i];
    return NULL;
}

static int64_t all_are_7(void *context, const struct ir_value *value) {
    (void)context;
    (void)value;
    return 7;
}

static void test_dynamic(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    const struct target_kernel *kernel = map_sample(arena, sample_dynamic, SAMPLE_CUDA)->kernels.at[0];
    assert_int_equal(kernel->dynamic.count, 2);
    assert_int_equal(target_dynamic_bytes(kernel, all_are_7, NULL), 32 + 16);
    kernel = map_sample(arena, sample_dynamic, SAMPLE_OPENCL_SIMT)->kernels.at[0];
    assert_int_equal(kernel->dynamic.count, 0);
    assert_int_equal(parameter_of_kind(kernel, TARGET_PARAMETER_LOCAL, 1)->base, BASE_BOOL);
    kernel = map_sample(arena, sample_dynamic, SAMPLE_C)->kernels.at[0];
    assert_int_equal(parameter_of_kind(kernel, TARGET_PARAMETER_SCRATCH, 1)->unit, LEVEL_BLOCK);
    kernel = map_sample(arena, sample_private, SAMPLE_CUDA)->kernels.at[0];
    assert_int_equal(parameter_of_kind(kernel, TARGET_PARAMETER_SCRATCH, 0)->unit, LEVEL_THREAD);
    assert_null(parameter_of_kind(kernel, TARGET_PARAMETER_SCRATCH, 1));
    arena_free(arena);
}

static void test_large(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    const struct target_kernel *kernel = map_sample(arena, sample_large, SAMPLE_CUDA)->kernels.at[0];
    assert_int_equal(kernel->dynamic_fixed_bytes, 65536);
    assert_int_equal(kernel->static_shared_bytes, 0);
    assert_true(kernel->uses_double);
    kernel = map_sample(arena, sample_large, SAMPLE_OPENCL_SIMT)->kernels.at[0];
    assert_int_equal(kernel->static_shared_bytes, 65536);
    arena_free(arena);
}

static void test_launches(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    struct target_program *program = map_sample(arena, sample_launches, SAMPLE_CUDA);
    assert_int_equal(program->kernels.count, 2);
    assert_string_equal(program->kernels.at[0]->name, "double_0");
    assert_string_equal(program->kernels.at[1]->name, "double_1");
    assert_ptr_equal(target_kernel_of(program, program->kernels.at[1]->forall), program->kernels.at[1]);
    assert_int_equal(program->kernels.at[1]->unit, LEVEL_WARP);
    const struct target_parameter *first = &program->kernels.at[1]->parameters.at[0];
    assert_true(first->kind == TARGET_PARAMETER_BUFFER && first->is_const);
    arena_free(arena);
}

/* The shared memory that a kernel asks for, for how many warps a block has. */
static void test_shared_bytes(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    struct ir_kernel *kernel = sample_warps(arena);
    assert_int_equal(map_shared_bytes(arena, kernel), kernel->block_size / kernel->warp_size * 32 * 4);
    kernel->block_size = 33;
    assert_int_equal(map_shared_bytes(arena, kernel), 2 * 32 * 4);
    assert_int_equal(map_shared_bytes(arena, sample_tree(arena)), (256 + 128) * 4);
    arena_free(arena);
}

/* A quirk's row is printed where it has something to say, to whom it is of use. */
static void test_quirks(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    struct text text;
    text_init(&text, arena);
    quirks_print(&text, quirk_bit(QUIRK_KNOWN_NANS) | quirk_bit(QUIRK_SHARED_ADDRESSES), ON_ALL);
    quirks_print(&text, quirk_bit(QUIRK_GUARDED), ON_ALL & ~ON_OPENCL);
    quirks_print(&text, 0, ON_ALL);
    assert_int_equal(text.length, 0);
    quirks_print(&text, quirk_bit(QUIRK_GUARDED), ON_OPENCL_LOOPS);
    assert_non_null(strstr(text.at, "#define FCL_GUARDED(x) (*(volatile"));
    assert_non_null(strstr(text.at, "#else\n#define FCL_GUARDED(x) x\n#endif\n"));
    arena_free(arena);
}

/* n - 1 is computed by the kernel: n is a parameter already. */
static void test_recomputation(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    const struct target_kernel *kernel = map_sample(arena, sample_reverse, SAMPLE_CUDA)->kernels.at[0];
    assert_int_equal(kernel->parameters.count, 3);
    assert_string_equal(kernel->parameters.at[2].name, "n");
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fusion),       cmocka_unit_test(test_two_phases), cmocka_unit_test(test_tree),
        cmocka_unit_test(test_while),        cmocka_unit_test(test_warps),      cmocka_unit_test(test_dynamic),
        cmocka_unit_test(test_large),        cmocka_unit_test(test_launches),   cmocka_unit_test(test_recomputation),
        cmocka_unit_test(test_shared_bytes), cmocka_unit_test(test_quirks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
