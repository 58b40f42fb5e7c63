/* IR: constant folding at the edges of every base type, and interval arithmetic against brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>

#include "ir/build/fold.h"
#include "ir/build/range.h"
#include "ir/walk.h"
#include "support/arena.h"

static union scalar integer(int64_t x) { return (union scalar){.integer = x}; }
static union scalar floating(double x) { return (union scalar){.floating = x}; }

static int64_t fold2(enum ir_op op, enum base base, int64_t x, int64_t y) {
    union scalar operands[] = {integer(x), integer(y)};
    return fold_operation(op, fold_result_base(op, base), base, operands).integer;
}

static int64_t fold1(enum ir_op op, enum base base, int64_t x) { return fold2(op, base, x, 0); }

static double fold_float(enum ir_op op, enum base base, double x, double y) {
    union scalar operands[] = {floating(x), floating(y), floating(0)};
    return fold_operation(op, base, base, operands).floating;
}

static int64_t to_integer(enum base to, enum base from, double x) {
    union scalar operand = floating(x);
    return fold_operation(OP_CONVERT, to, from, &operand).integer;
}

static int64_t least(enum base base) { return (int64_t)base_low(base); }
static int64_t greatest(enum base base) { return base_wrap(base, integer(-1 ^ least(base))).integer; }

static void folding_integers(void **state) {
    (void)state;
    for (enum base base = BASE_I8; base <= BASE_U64; base++) {
        int64_t low = least(base), high = greatest(base);
        bool is_signed = base_info[base].is_signed;
        assert_int_equal(fold2(OP_ADD, base, high, 1), low);
        assert_int_equal(fold2(OP_SUB, base, low, 1), high);
        assert_int_equal(fold2(OP_MUL, base, high, 2), base_wrap(base, integer(-2)).integer);
        assert_int_equal(fold2(OP_DIV, base, high, 0), 0);
        assert_int_equal(fold2(OP_REM, base, high, 0), high);
        assert_int_equal(fold2(OP_DIV, base, 7, 2), 3);
        assert_int_equal(fold1(OP_NEG, base, low), low);
        assert_int_equal(fold1(OP_ABS, base, low), low);
        assert_int_equal(fold2(OP_MIN, base, low, high), low);
        assert_int_equal(fold2(OP_MAX, base, low, high), high);
        assert_int_equal(fold2(OP_LT, base, low, high), 1);
        assert_int_equal(fold2(OP_LE, base, high, low), 0);
        assert_int_equal(fold2(OP_SHL, base, 1, base_info[base].bits), 1);
        assert_int_equal(fold2(OP_SHR, base, low, base_info[base].bits - 1), is_signed ? -1 : 0);
        assert_int_equal(fold1(OP_CLZ, base, 0), base_info[base].bits);
        assert_int_equal(fold1(OP_CLZ, base, 1), base_info[base].bits - 1);
        assert_int_equal(fold1(OP_POPCOUNT, base, base_wrap(base, integer(-1)).integer), base_info[base].bits);
        assert_int_equal(fold1(OP_BIT_NOT, base, 0), base_wrap(base, integer(-1)).integer);
        if (is_signed) {
            assert_int_equal(fold2(OP_DIV, base, low, -1), low);
            assert_int_equal(fold2(OP_REM, base, low, -1), 0);
            assert_int_equal(fold2(OP_DIV, base, -7, 2), -3);
            assert_int_equal(fold2(OP_REM, base, -7, 2), -1);
            assert_int_equal(fold2(OP_SHR, base, -8, 1), -4);
        }
    }
    assert_int_equal(fold1(OP_NOT, BASE_BOOL, 1), 0);
    assert_int_equal(fold2(OP_XOR, BASE_BOOL, 1, 1), 0);
}

static void folding_floats(void **state) {
    (void)state;
    assert_true(fold_float(OP_ADD, BASE_F32, 16777216, 1) == 16777216);
    assert_true(fold_float(OP_ADD, BASE_F64, 16777216, 1) == 16777217);
    assert_true(fold_float(OP_DIV, BASE_F32, 1, 3) == (double)(1.0f / 3.0f));
    assert_true(isinf(fold_float(OP_DIV, BASE_F64, 1, 0)));
    assert_true(fold_float(OP_MIN, BASE_F64, NAN, 2) == 2);
    assert_true(fold_float(OP_MAX, BASE_F32, 3, NAN) == 3);
    assert_true(isnan(fold_float(OP_SQRT, BASE_F32, -1, 0)));
    assert_true(fold_float(OP_RSQRT, BASE_F64, 4, 0) == 0.5);
    assert_true(signbit(fold_float(OP_NEG, BASE_F32, 0, 0)));
    union scalar nan_pair[] = {floating(NAN), floating(NAN)};
    assert_int_equal(fold_operation(OP_EQ, BASE_BOOL, BASE_F64, nan_pair).integer, 0);
    assert_int_equal(fold_operation(OP_NE, BASE_BOOL, BASE_F64, nan_pair).integer, 1);
}

static void folding_conversions(void **state) {
    (void)state;
    for (enum base base = BASE_I8; base <= BASE_U64; base++) {
        assert_int_equal(to_integer(base, BASE_F64, NAN), 0);
        assert_int_equal(to_integer(base, BASE_F64, INFINITY), greatest(base));
        assert_int_equal(to_integer(base, BASE_F32, -INFINITY), least(base));
        assert_int_equal(to_integer(base, BASE_F64, 2.9), 2);
        assert_int_equal(to_integer(base, BASE_F64, -0.5), 0);
    }
    assert_int_equal(to_integer(BASE_I64, BASE_F64, 9223372036854775808.0), INT64_MAX);
    assert_int_equal(to_integer(BASE_U8, BASE_F64, 255.9), 255);
    union scalar big = {.natural = UINT64_MAX};
    assert_true(fold_operation(OP_CONVERT, BASE_F32, BASE_U64, &big).floating == 18446744073709551616.0);
    union scalar rounded_once =
        integer((INT64_C(1) << 60) + (INT64_C(1) << 36) + 1); /* by way of double: the even one below */
    assert_true(fold_operation(OP_CONVERT, BASE_F32, BASE_I64, &rounded_once).floating ==
                (double)((INT64_C(1) << 60) + (INT64_C(1) << 37)));
    union scalar wide = integer(300);
    assert_int_equal(fold_operation(OP_CONVERT, BASE_U8, BASE_I32, &wide).integer, 44);
    assert_int_equal(fold_operation(OP_CONVERT, BASE_I8, BASE_I32, &wide).integer, 44);
    assert_int_equal(fold_operation(OP_CONVERT, BASE_BOOL, BASE_I32, &wide).integer, 1);
}

/* ---- ranges ---- */

static uint64_t draw(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

static struct range draw_range(uint64_t *seed, enum base base) {
    int64_t low = least(base), span = base == BASE_BOOL ? 2 : 256;
    int64_t a = low + (int64_t)draw(seed) % span, b = low + (int64_t)draw(seed) % span;
    if (draw(seed) % 3 == 0)
        b = a + (int64_t)draw(seed) % 4 < low + span ? a + (int64_t)draw(seed) % 2 : a;
    if (b >= low + span)
        b = a;
    return (struct range){a < b ? a : b, a < b ? b : a};
}

static void check_ranges(enum ir_op op, enum base base, enum base to, uint64_t *seed) {
    enum base result = op == OP_CONVERT ? to : fold_result_base(op, base);
    for (int round = 0; round < 40; round++) {
        struct range x[3] = {draw_range(seed, base), draw_range(seed, base), {0, 0}};
        struct range range = range_operation(op, result, base, x);
        bool never = range_never_wraps(op, base, x);
        for (int64_t a = x[0].low; a <= x[0].high; a++)
            for (int64_t c = x[1].low; c <= x[1].high; c++) {
                int64_t y[] = {a, c};
                union scalar operands[] = {integer(y[0]), integer(y[1])};
                int64_t value = fold_operation(op, result, base, operands).integer;
                if (value < range.low || value > range.high)
                    fail_msg("%s.%s %lld %lld = %lld is not in [%lld, %lld]", ir_op_info[op].name, base_info[base].name,
                             (long long)a, (long long)c, (long long)value, (long long)range.low, (long long)range.high);
                int64_t exact = op == OP_ADD   ? a + c
                                : op == OP_SUB ? a - c
                                : op == OP_MUL ? a * c
                                : op == OP_NEG ? -a
                                               : value;
                if (never && exact != value)
                    fail_msg("%s wraps", ir_op_info[op].name);
                if (ir_op_info[op].arity == 1)
                    break;
            }
    }
}

static void ranges_cover_all_results(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (enum ir_op op = 0; op < OP_COUNT; op++) {
        if (ir_op_info[op].arity > 2 || op == OP_BITS)
            continue; /* choices, and what takes floats */
        if (op != OP_NOT) {
            check_ranges(op, BASE_I8, BASE_U8, &seed);
            check_ranges(op, BASE_U8, BASE_I8, &seed);
        }
        if (op == OP_NOT || op == OP_AND || op == OP_OR || op == OP_XOR || op == OP_EQ || op == OP_CONVERT)
            check_ranges(op, BASE_BOOL, BASE_I32, &seed);
    }
    check_ranges(OP_CONVERT, BASE_I8, BASE_BOOL, &seed);
    check_ranges(OP_CONVERT, BASE_I8, BASE_U16, &seed);
}

static void ranges_are_precise_enough(void **state) {
    (void)state;
    struct range index[] = {{0, 1023}, {256, 256}}, length[] = {{0, INT32_MAX}, {1, 1}};
    struct range quotient = range_operation(OP_DIV, BASE_I32, BASE_I32, index);
    assert_true(quotient.low == 0 && quotient.high == 3);
    struct range rest = range_operation(OP_REM, BASE_I32, BASE_I32, index);
    assert_true(rest.low == 0 && rest.high == 255);
    struct range sum = range_operation(OP_ADD, BASE_I32, BASE_I32, length); /* may wrap */
    assert_true(sum.low == INT32_MIN && sum.high == INT32_MAX);
    struct range less = range_operation(OP_LT, BASE_BOOL, BASE_I32, (struct range[]){{0, 9}, {10, 20}});
    assert_true(less.low == 1);
    struct range naturals[] = {{0, INT64_MAX}, {16, 16}}; /* U64: unbounded */
    quotient = range_operation(OP_DIV, BASE_U64, BASE_U64, naturals);
    assert_true(quotient.low == 0 && quotient.high == INT64_MAX / 8);
    less = range_operation(OP_LT, BASE_BOOL, BASE_U64, (struct range[]){{INT64_MAX, INT64_MAX}, {0, INT64_MAX}});
    assert_true(less.low == 0 && less.high == 1);
}

/* ---- the cursor ---- */

enum { DEEP = 2 * IR_WALK_KEPT };

/* A region of three instructions, of which the second has regions, to that depth: a loop's one or a branch's two. */
static struct ir_region *nested(struct arena *arena, struct ir_instruction *owner, struct ir_region *parent, int depth,
                                uint32_t *count) {
    struct ir_region *region = ARENA_NEW(arena, struct ir_region);
    region->owner = owner;
    region->parent = parent;
    for (int i = 0; i < 3; i++) {
        struct ir_instruction *at = ARENA_NEW(arena, struct ir_instruction);
        vec_push(arena, &region->instructions, at);
        at->region = region;
        at->site = (*count)++;
        at->kind = i != 1 ? IR_OPERATION : depth % 3 ? IR_FOR : IR_IF;
        for (int r = 0; r < (at->kind == IR_IF ? 2 : at->kind == IR_FOR); r++)
            if (depth > 0)
                at->regions[r] = nested(arena, at, region, r ? 0 : depth - 1, count);
    }
    return region;
}

static void the_cursor(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    for (int depth = 0; depth <= DEEP; depth++) {
        uint32_t count = 0, next = 0;
        struct ir_region *region = nested(arena, NULL, NULL, depth, &count);
        for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk)) {
            assert_int_equal(walk.at->site, next++);
            assert_ptr_equal(walk.at->region, walk.region);
        }
        assert_int_equal(next, count);

        const struct ir_instruction *second = region->instructions.at[1];
        next = second->site;
        for (struct ir_walk walk = ir_walk_of(second); walk.at; ir_next(&walk))
            assert_int_equal(walk.at->site, next++);
        assert_int_equal(next, region->instructions.at[2]->site);

        next = 0;
        for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk)) {
            walk.goes_around = walk.at == second;
            assert_ptr_equal(walk.at, region->instructions.at[next++]);
        }
        assert_int_equal(next, 3);
    }
    struct ir_region empty = {0};
    assert_null(ir_walk(&empty).at);
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folding_integers),          cmocka_unit_test(folding_floats),
        cmocka_unit_test(folding_conversions),       cmocka_unit_test(ranges_cover_all_results),
        cmocka_unit_test(ranges_are_precise_enough), cmocka_unit_test(the_cursor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
