/* The interpreter's operations on scalars at their edges, and its regions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "interp/machine.h"

/* The part of an interpreter that scalars need. */
static struct interp *machine(void) {
    static struct interp in;
    if (!in.arena)
        in.arena = arena_new();
    return &in;
}

static struct value integer(enum base base, int64_t number) {
    return scalar_of(base, (union scalar){.integer = number});
}

static struct value floating(enum base base, double number) {
    return scalar_of(base, (union scalar){.floating = number});
}

static struct value apply(enum primitive primitive, struct value a, struct value b) {
    struct value arguments[] = {a, b};
    return scalar_apply(machine(), primitive, arguments);
}

static int64_t on(enum primitive primitive, enum base base, int64_t a, int64_t b) {
    return apply(primitive, integer(base, a), integer(base, b)).scalar.integer;
}

static double on_floats(enum primitive primitive, enum base base, double a, double b) {
    return apply(primitive, floating(base, a), floating(base, b)).scalar.floating;
}

static void test_integers_wrap(void **state) {
    (void)state;
    assert_int_equal(on(PRIM_ADD, BASE_I8, 127, 1), -128);
    assert_int_equal(on(PRIM_ADD, BASE_U8, 255, 1), 0);
    assert_int_equal(on(PRIM_SUB, BASE_U32, 0, 1), UINT32_MAX);
    assert_int_equal(on(PRIM_MUL, BASE_I32, 1 << 30, 4), 0);
    assert_int_equal(on(PRIM_MUL, BASE_I64, INT64_MAX, 2), -2);
    assert_int_equal(on(PRIM_NEG, BASE_I16, INT16_MIN, 0), INT16_MIN);
    assert_int_equal(on(PRIM_ABS, BASE_I8, -128, 0), -128);
    assert_int_equal(on(PRIM_BIT_NOT, BASE_U16, 0, 0), 65535);
}

static void test_division_is_total(void **state) {
    (void)state;
    assert_int_equal(on(PRIM_DIV, BASE_I32, 7, 0), 0);
    assert_int_equal(on(PRIM_REM, BASE_I32, 7, 0), 7);
    assert_int_equal(on(PRIM_DIV, BASE_I64, INT64_MIN, -1), INT64_MIN);
    assert_int_equal(on(PRIM_DIV, BASE_I32, INT32_MIN, -1), INT32_MIN);
    assert_int_equal(on(PRIM_REM, BASE_I64, INT64_MIN, -1), 0);
    assert_int_equal(on(PRIM_DIV, BASE_I32, -7, 2), -3);
    assert_int_equal(on(PRIM_REM, BASE_I32, -7, 2), -1);
    assert_int_equal(on(PRIM_DIV_WORD, BASE_U64, -1, 2), INT64_MAX);
}

static void test_shifts_and_bits(void **state) {
    (void)state;
    assert_int_equal(on(PRIM_SHL, BASE_I32, 1, 33), 2);
    assert_int_equal(on(PRIM_SHL, BASE_I8, 1, 7), -128);
    assert_int_equal(on(PRIM_SHR, BASE_I8, -128, 7), -1);
    assert_int_equal(on(PRIM_SHR, BASE_U8, 128, 7), 1);
    assert_int_equal(on(PRIM_SHL, BASE_I32, 1, -1), INT32_MIN);
    assert_int_equal(on(PRIM_CLZ, BASE_U8, 1, 0), 7);
    assert_int_equal(on(PRIM_CLZ, BASE_I16, 0, 0), 16);
    assert_int_equal(on(PRIM_CLZ, BASE_I8, -1, 0), 0);
    assert_int_equal(on(PRIM_POPCOUNT, BASE_I8, -1, 0), 8);
    assert_int_equal(on(PRIM_POPCOUNT, BASE_U64, -1, 0), 64);
}

static void test_floats_have_their_precision(void **state) {
    (void)state;
    assert_true(on_floats(PRIM_ADD, BASE_F32, 16777216, 1) == 16777216);
    assert_true(on_floats(PRIM_ADD, BASE_F64, 16777216, 1) == 16777217);
    assert_true(on_floats(PRIM_DIV, BASE_F32, 1, 3) == (double)(1.0f / 3.0f));
    assert_true(isinf(on_floats(PRIM_MUL, BASE_F32, 1e30, 1e30)));
    assert_true(on_floats(PRIM_MIN, BASE_F32, NAN, 1) == 1);
    assert_true(on_floats(PRIM_MAX, BASE_F64, 2, NAN) == 2);
    assert_true(on_floats(PRIM_SQRT, BASE_F32, 2, 0) == (double)sqrtf(2));
    assert_int_equal(apply(PRIM_LT, floating(BASE_F64, NAN), floating(BASE_F64, 1)).scalar.natural, 0);
    assert_int_equal(apply(PRIM_GE, floating(BASE_F64, NAN), floating(BASE_F64, 1)).scalar.natural, 0);
    assert_int_equal(apply(PRIM_NE, floating(BASE_F64, NAN), floating(BASE_F64, NAN)).scalar.natural, 1);
}

static void test_comparisons(void **state) {
    (void)state;
    assert_int_equal(on(PRIM_LT, BASE_I32, -1, 0), 1);
    assert_int_equal(on(PRIM_LT, BASE_U64, -1, 0), 0);
    assert_int_equal(on(PRIM_LT, BASE_BOOL, 0, 1), 1);
    assert_int_equal(on(PRIM_MAX, BASE_U64, -1, 1), -1);
    assert_int_equal(on(PRIM_MIN, BASE_I8, -1, 1), -1);
}

static int64_t to_integer(enum primitive primitive, double number) {
    return apply(primitive, floating(BASE_F64, number), floating(BASE_F64, 0)).scalar.integer;
}

static void test_conversions(void **state) {
    (void)state;
    assert_int_equal(to_integer(PRIM_TO_I32, 3.9), 3);
    assert_int_equal(to_integer(PRIM_TO_I32, -3.9), -3);
    assert_int_equal(to_integer(PRIM_TO_I32, 1e10), INT32_MAX);
    assert_int_equal(to_integer(PRIM_TO_I32, -INFINITY), INT32_MIN);
    assert_int_equal(to_integer(PRIM_TO_I64, 1e30), INT64_MAX);
    assert_int_equal(to_integer(PRIM_TO_U64, 1e30), -1);
    assert_int_equal(to_integer(PRIM_TO_U8, -1), 0);
    assert_int_equal(to_integer(PRIM_TO_U8, 300), 255);
    assert_int_equal(to_integer(PRIM_TO_I8, NAN), 0);
    assert_int_equal(to_integer(PRIM_TO_BOOL, NAN), 1);
    assert_int_equal(on(PRIM_TO_I8, BASE_I32, 200, 0), -56);
    assert_int_equal(on(PRIM_TO_U32, BASE_I8, -1, 0), UINT32_MAX);
    assert_int_equal(on(PRIM_TO_I64, BASE_U32, UINT32_MAX, 0), UINT32_MAX);
    struct value big = integer(BASE_U64, -1);
    assert_true(apply(PRIM_TO_F32, big, big).scalar.floating == 0x1p64);
    struct value tie = integer(BASE_I64, 9007199791611905); /* rounds once to 0x1.000002p53, twice would give 0x1p53 */
    assert_true(apply(PRIM_TO_F32, tie, tie).scalar.floating == (double)(float)INT64_C(9007199791611905));
}

static void test_regions_give_back(void **state) {
    (void)state;
    struct region *region = region_new();
    unsigned char *kept = region_alloc(region, 100);
    memset(kept, 7, 100);
    for (int round = 0; round < 1000; round++) {
        struct region_mark outer = region_here(region);
        for (int i = 0; i < 20; i++)
            memset(region_alloc(region, 4096), round, 4096);
        struct region_mark inner = region_here(region);
        memset(region_alloc(region, 1 << 20), round, 1 << 20);
        memset(region_alloc(region, 16), round, 16);
        region_release(region, inner);
        memset(region_alloc(region, 300000), round, 300000);
        region_release(region, outer);
    }
    assert_int_equal(region_here(region).block, 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(kept[i], 7);
    assert_null(region_alloc(region, SIZE_MAX));
    region_free(region);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integers_wrap),     cmocka_unit_test(test_division_is_total),
        cmocka_unit_test(test_shifts_and_bits),   cmocka_unit_test(test_floats_have_their_precision),
        cmocka_unit_test(test_comparisons),       cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_regions_give_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
