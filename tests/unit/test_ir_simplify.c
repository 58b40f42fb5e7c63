/* IR: the simplifier is sound (random expressions, in branches and loops, against their evaluation) and strong enough
   (the identities that index arithmetic needs). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "ir/build/build.h"
#include "ir/build/fold.h"
#include "ir/build/range.h"

static uint64_t draw(uint64_t *seed) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

/* ---- evaluating what was built ---- */

enum { VARIABLES = 4, NODES = 14, TRIALS = 60 };

struct environment {
    struct ir_value *variable[VARIABLES];
    union scalar value[VARIABLES];
};

static union scalar evaluate(const struct environment *e, const struct ir_value *value) {
    if (value->is_constant)
        return value->constant;
    for (int i = 0; i < VARIABLES; i++)
        if (e->variable[i] == value)
            return e->value[i];
    const struct ir_instruction *definition = value->definition;
    assert_non_null(definition);
    assert_int_equal(definition->kind, IR_OPERATION);
    union scalar operands[3], result;
    for (size_t i = 0; i < definition->operand_count; i++)
        operands[i] = evaluate(e, definition->operands[i]);
    enum base operand = definition->operands[definition->operand_count - 1]->base;
    result = fold_operation(definition->op, value->base, operand, operands);
    if (value->base != BASE_U64)
        assert_true(result.integer >= value->low && result.integer <= value->high);
    if (definition->no_wrap) {
        struct range points[3];
        for (size_t i = 0; i < definition->operand_count; i++)
            points[i] = range_of_constant(operand, operands[i]);
        assert_true(range_never_wraps(definition->op, operand, points));
    }
    return result;
}

/* ---- random expressions ---- */

/* The plain meaning, next to what the builder made of it. */
struct node {
    enum ir_op op;
    enum base base;
    int operand[3]; /* earlier nodes */
    int variable;   /* ≥ 0: a variable */
    union scalar constant;
    bool is_leaf;
    struct ir_value *built;
};

static union scalar mean(const struct node *nodes, int at, const struct environment *e) {
    const struct node *node = &nodes[at];
    if (node->is_leaf)
        return node->variable >= 0 ? e->value[node->variable] : node->constant;
    union scalar operands[3];
    int arity = ir_op_info[node->op].arity;
    for (int i = 0; i < arity; i++)
        operands[i] = mean(nodes, node->operand[i], e);
    return fold_operation(node->op, node->base, nodes[node->operand[arity - 1]].base, operands);
}

static int pick(const struct node *nodes, int count, enum base base, uint64_t *seed) {
    for (int tries = 0; tries < 200; tries++) {
        int at = (int)(draw(seed) % (uint64_t)count);
        if (draw(seed) % 2 && count > VARIABLES)
            at = count - 1 - (int)(draw(seed) % (uint64_t)(count < 4 ? count : 4));
        if (nodes[at].base == base)
            return at;
    }
    return -1;
}

static void add_node(struct ir_builder *b, struct node *nodes, int *count, enum base base, uint64_t *seed) {
    static const enum ir_op arithmetic[] = {OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_REM, OP_MIN,    OP_MAX,
                                            OP_AND, OP_OR,  OP_XOR, OP_SHL, OP_SHR, OP_NEG,    OP_ABS,
                                            OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_REM, OP_BIT_NOT};
    static const enum ir_op logic[] = {OP_EQ, OP_NE, OP_LT, OP_LE, OP_LT, OP_LE};
    struct node *node = &nodes[*count];
    *node = (struct node){.variable = -1, .base = base};
    uint64_t kind = draw(seed) % 10;
    enum base operands = base;
    if (kind < 2) {
        node->is_leaf = true;
        static const int64_t likely[] = {0, 1, 2, 3, 4, 8, 16, -1, 7, 100, 127, -128, 15};
        node->constant = base_wrap(base, (union scalar){.integer = likely[draw(seed) % 13]});
        node->built = ir_constant(b, base, node->constant);
        ++*count;
        return;
    }
    if (kind == 2) {
        node->op = logic[draw(seed) % 6];
        node->base = BASE_BOOL;
    } else if (kind == 3) {
        node->op = draw(seed) % 2 ? OP_AND : OP_NOT;
        node->base = operands = BASE_BOOL;
    } else if (kind == 4)
        node->op = OP_SELECT;
    else if (kind == 5) {
        node->op = OP_CONVERT;
        operands = (enum base[]){BASE_I8, BASE_U8, BASE_I32, BASE_I64, BASE_U32}[draw(seed) % 5];
        if (draw(seed) % 2) {
            node->base = operands;
            operands = base;
        }
    } else
        node->op = arithmetic[draw(seed) % 20];
    int arity = ir_op_info[node->op].arity;
    struct ir_value *x[3];
    for (int i = 0; i < arity; i++) {
        node->operand[i] = pick(nodes, *count, node->op == OP_SELECT && i == 0 ? BASE_BOOL : operands, seed);
        if (node->operand[i] < 0)
            return;
        x[i] = nodes[node->operand[i]].built;
    }
    node->built = node->op == OP_CONVERT ? ir_convert(b, x[0], node->base)
                  : arity == 1           ? ir_unary(b, node->op, x[0])
                  : arity == 2           ? ir_binary(b, node->op, x[0], x[1])
                                         : ir_ternary(b, node->op, x[0], x[1], x[2]);
    assert_int_equal(node->built->base, node->base);
    ++*count;
}

static void random_expressions(enum base base, uint64_t first_seed, int rounds) {
    for (int round = 0; round < rounds; round++) {
        uint64_t seed = first_seed + (uint64_t)round * 977;
        struct arena *arena = arena_new();
        struct ir_kernel kernel = {0};
        struct ir_builder *b = ir_builder_new(arena, arena, &kernel, round % 8 == 7 ? 0 : 1);
        struct environment e;
        struct node nodes[VARIABLES + NODES * 3];
        int count = 0;
        int64_t highs[VARIABLES];
        for (int i = 0; i < VARIABLES; i++) {
            int64_t low = (int64_t)range_of_base(base).low, high = (int64_t)range_of_base(base).high;
            if (i < 3) {
                low = 0;
                high = 1 + (int64_t)(draw(&seed) % 30);
            }
            highs[i] = high;
            e.variable[i] = ir_parameter_value(b, base, low, high, NULL);
            if (i == 2) { /* an index below the second variable */
                ir_begin_forall(b, LEVEL_GRID, LEVEL_THREAD, e.variable[1], NULL);
                e.variable[2] = b ? ir_begin_for(b, e.variable[1], NULL, 0, NULL) : NULL;
            }
            nodes[count++] = (struct node){.is_leaf = true, .variable = i, .base = base, .built = e.variable[i]};
        }
        int guards[8], guard_count = 0;
        for (int i = 0; i < NODES * 3 - 2; i++) {
            add_node(b, nodes, &count, base, &seed);
            struct node *last = &nodes[count - 1];
            if (!last->is_leaf && last->base == BASE_BOOL && guard_count < 8 && draw(&seed) % 2 &&
                ir_known(b, last->built) == IR_UNKNOWN) {
                bool positive = draw(&seed) % 2;
                ir_begin_if(b, last->built);
                if (!positive)
                    ir_else(b, NULL, 0);
                guards[guard_count++] = (count - 1) * 2 + positive;
            }
        }
        for (int trial = 0; trial < TRIALS; trial++) {
            for (int i = 0; i < VARIABLES; i++)
                e.value[i] =
                    base_wrap(base, (union scalar){.integer = i < 3 ? (int64_t)(draw(&seed) % (uint64_t)(highs[i] + 1))
                                                                    : (int64_t)(draw(&seed) << 12 ^ draw(&seed))});
            if (trial % 3 == 0)
                e.value[3].integer = (int64_t)(draw(&seed) % 8) - (base_info[base].is_signed ? 4 : 0);
            if (e.value[1].integer == 0)
                continue; /* the loop's body does not run */
            e.value[2].integer = (int64_t)(draw(&seed) % e.value[1].natural);
            int guard = 0;
            for (int i = 0; i < count; i++) {
                union scalar wanted = mean(nodes, i, &e), got = evaluate(&e, nodes[i].built);
                if (wanted.natural != got.natural)
                    fail_msg("seed %llu, node %d (%s.%s): %lld instead of %lld",
                             (unsigned long long)(first_seed + (uint64_t)round * 977), i, ir_op_info[nodes[i].op].name,
                             base_info[nodes[i].base].name, (long long)got.integer, (long long)wanted.integer);
                if (guard < guard_count && guards[guard] / 2 == i && wanted.integer != guards[guard++] % 2)
                    break; /* what follows is in a branch not taken */
            }
        }
        arena_free(arena);
    }
}

static void simplifying_is_sound_i8(void **state) {
    (void)state;
    random_expressions(BASE_I8, 1, 4000);
}
static void simplifying_is_sound_u8(void **state) {
    (void)state;
    random_expressions(BASE_U8, 100, 3000);
}
static void simplifying_is_sound_int(void **state) {
    (void)state;
    random_expressions(BASE_I32, 200, 3000);
}
static void simplifying_is_sound_i64(void **state) {
    (void)state;
    random_expressions(BASE_I64, 300, 2000);
}
static void simplifying_is_sound_u64(void **state) {
    (void)state;
    random_expressions(BASE_U64, 400, 2000);
}

/* ---- identities ---- */

struct fixture {
    struct arena *arena;
    struct ir_kernel kernel;
    struct ir_builder *b;
    struct ir_value *n, *x, *y, *i, *j, *f;
};

/* n, x, y: ints, n a length; i < n at thread, j < 16; f: a float. */
static struct fixture *new_fixture(void) {
    struct arena *arena = arena_new();
    struct fixture *t = ARENA_NEW(arena, struct fixture);
    t->arena = arena;
    t->b = ir_builder_new(arena, arena, &t->kernel, 1);
    t->n = ir_parameter_value(t->b, BASE_I32, 0, INT32_MAX, "n");
    t->x = ir_parameter_value(t->b, BASE_I32, INT32_MIN, INT32_MAX, "x");
    t->y = ir_parameter_value(t->b, BASE_I32, INT32_MIN, INT32_MAX, "y");
    t->f = ir_parameter_value(t->b, BASE_F32, 0, 0, "f");
    t->i = ir_begin_forall(t->b, LEVEL_GRID, LEVEL_THREAD, t->n, "i");
    t->j = ir_begin_for(t->b, ir_int(t->b, 16), NULL, 0, "j");
    return t;
}

#define INT(value) ir_int(t->b, value)
#define DO(op, x, y) ir_binary(t->b, OP_##op, x, y)
#define IS(x, y) assert_ptr_equal(x, y)
#define IS_TRUE(x) assert_ptr_equal(x, ir_bool(t->b, true))
#define IS_FALSE(x) assert_ptr_equal(x, ir_bool(t->b, false))

static void sums_cancel(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    IS(DO(SUB, DO(ADD, t->x, t->y), t->y), t->x);
    IS(DO(SUB, DO(ADD, t->x, t->y), t->x), t->y);
    IS(DO(SUB, t->x, DO(SUB, t->x, t->y)), t->y);
    struct ir_value *last = DO(SUB, t->n, INT(1));
    IS(DO(SUB, last, DO(SUB, last, t->i)), t->i);
    IS(DO(SUB, DO(SUB, t->n, INT(1)), DO(SUB, DO(SUB, t->n, t->i), INT(1))), t->i);
    IS(DO(ADD, DO(SUB, t->x, INT(5)), INT(5)), t->x);
    IS(DO(ADD, DO(ADD, t->x, INT(2)), INT(3)), DO(ADD, t->x, INT(5)));
    IS(DO(SUB, DO(ADD, t->x, INT(1)), INT(3)), DO(SUB, t->x, INT(2)));
    IS(ir_unary(t->b, OP_NEG, ir_unary(t->b, OP_NEG, t->x)), t->x);
    arena_free(t->arena);
}

static void division_takes_indices_apart(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    struct ir_value *m = ir_parameter_value(t->b, BASE_I32, 0, 1000, "m"),
                    *w = ir_parameter_value(t->b, BASE_I32, 1, 1000, "w");
    struct ir_value *row = ir_begin_for(t->b, m, NULL, 0, "row"), *column = ir_begin_for(t->b, w, NULL, 0, "column");
    struct ir_value *flat = DO(ADD, DO(MUL, row, INT(16)), t->j);
    IS(DO(DIV, flat, INT(16)), row);
    IS(DO(REM, flat, INT(16)), t->j);
    IS(DO(DIV, DO(MUL, row, INT(12)), INT(12)), row);
    flat = DO(ADD, DO(MUL, row, w), column);
    IS(DO(DIV, flat, w), row);
    IS(DO(REM, flat, w), column);
    IS(DO(ADD, DO(MUL, DO(DIV, t->i, INT(16)), INT(16)), DO(REM, t->i, INT(16))), t->i);
    IS(DO(ADD, DO(MUL, DO(DIV, t->x, INT(12)), INT(12)), DO(REM, t->x, INT(12))), t->x);
    IS(DO(ADD, DO(MUL, DO(DIV, t->x, t->y), t->y), DO(REM, t->x, t->y)), t->x);
    IS(DO(REM, t->j, INT(16)), t->j);
    IS(DO(DIV, t->j, INT(16)), INT(0));
    IS(DO(REM, t->i, t->n), t->i);
    /* may wrap or be negative: left alone */
    assert_ptr_not_equal(DO(DIV, DO(MUL, t->x, INT(16)), INT(16)), t->x);
    assert_int_equal(DO(MUL, DO(DIV, t->x, t->y), INT(4))->definition->op, OP_MUL);
    arena_free(t->arena);
}

static void comparisons_are_decided(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    IS_TRUE(DO(LT, t->i, t->n));
    IS_FALSE(DO(LE, t->n, t->i));
    IS_TRUE(DO(LE, t->i, t->n));
    IS_TRUE(DO(LT, t->j, INT(16)));
    IS_FALSE(DO(EQ, t->i, t->n));
    IS_TRUE(DO(EQ, DO(ADD, t->x, INT(1)), DO(SUB, t->x, INT(-1))));
    IS(DO(MIN, t->i, t->n), t->i);
    IS(DO(MAX, t->j, INT(20)), INT(20));
    IS_TRUE(DO(LT, DO(SUB, DO(SUB, t->n, INT(1)), t->i), t->n));
    IS_TRUE(DO(LE, INT(0), DO(SUB, DO(SUB, t->n, INT(1)), t->i)));
    /* a ragged tile: j < min(n - row * 16, 16) */
    struct ir_value *rows = DO(DIV, t->n, INT(16)), *row = ir_begin_for(t->b, rows, NULL, 0, "row");
    struct ir_value *left = DO(SUB, t->n, DO(MUL, row, INT(16)));
    struct ir_value *k = ir_begin_for(t->b, DO(MIN, left, INT(16)), NULL, 0, "k");
    IS_TRUE(DO(LT, DO(ADD, DO(MUL, row, INT(16)), k), t->n));
    assert_int_equal(ir_known(t->b, DO(LT, t->x, t->n)), IR_UNKNOWN);
    arena_free(t->arena);
}

static void branches_tell(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    struct ir_value *h = ir_parameter_value(t->b, BASE_I32, 0, 100, "h");
    struct ir_value *sum = DO(ADD, t->j, h), *inside = DO(LT, sum, t->n), *other = DO(LT, t->x, t->y);
    ir_begin_if(t->b, DO(AND, inside, other));
    assert_int_equal(ir_known(t->b, inside), IR_TRUE);
    assert_int_equal(ir_known(t->b, other), IR_TRUE);
    IS_TRUE(DO(LT, sum, t->n));
    IS_FALSE(DO(LE, t->n, sum));
    IS(DO(MIN, sum, t->n), sum);
    IS(DO(REM, sum, t->n), sum);
    IS(DO(MIN, t->x, t->y), t->x);
    ir_else(t->b, NULL, 0);
    assert_int_equal(ir_known(t->b, inside), IR_UNKNOWN);
    ir_end_if(t->b, NULL, NULL, 0, false);
    ir_begin_if(t->b, DO(OR, inside, other));
    ir_else(t->b, NULL, 0);
    assert_int_equal(ir_known(t->b, inside), IR_FALSE);
    IS_TRUE(DO(LE, t->y, t->x));
    ir_begin_if(t->b, DO(EQ, t->y, INT(3)));
    IS(DO(ADD, t->y, INT(1)), INT(4));
    arena_free(t->arena);
}

static void floats_are_left_alone(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    struct ir_value *one = ir_constant(t->b, BASE_F32, (union scalar){.floating = 1});
    struct ir_value *zero = ir_constant(t->b, BASE_F32, (union scalar){.floating = 0});
    IS(DO(MUL, t->f, one), t->f);
    IS(DO(DIV, t->f, one), t->f);
    assert_ptr_not_equal(DO(ADD, t->f, zero), t->f);
    assert_ptr_not_equal(DO(MUL, t->f, zero), zero);
    assert_ptr_not_equal(DO(SUB, t->f, t->f), zero);
    assert_false(DO(EQ, t->f, t->f)->is_constant);
    assert_ptr_not_equal(DO(SUB, DO(ADD, t->f, one), one), t->f);
    assert_int_equal(ir_unary(t->b, OP_NOT, DO(LT, t->f, one))->definition->op, OP_NOT);
    assert_int_equal(ir_unary(t->b, OP_NOT, DO(EQ, t->f, one))->definition->op, OP_NE);
    arena_free(t->arena);
}

static void selects_and_bools(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    struct ir_value *c = DO(LT, t->x, t->y), *yes = ir_bool(t->b, true), *no = ir_bool(t->b, false);
    IS(ir_ternary(t->b, OP_SELECT, c, t->x, t->x), t->x);
    IS(ir_ternary(t->b, OP_SELECT, c, yes, no), c);
    IS(ir_ternary(t->b, OP_SELECT, c, no, yes), DO(LE, t->y, t->x));
    IS(ir_unary(t->b, OP_NOT, ir_unary(t->b, OP_NOT, c)), c);
    IS(DO(AND, c, yes), c);
    IS(DO(OR, c, c), c);
    IS(ir_convert(t->b, ir_convert(t->b, t->x, BASE_I64), BASE_I32), t->x);
    IS(ir_convert(t->b, ir_convert(t->b, t->j, BASE_U8), BASE_I32), t->j);
    assert_ptr_not_equal(ir_convert(t->b, ir_convert(t->b, t->x, BASE_I8), BASE_I32), t->x);
    struct ir_value *wide = ir_convert(t->b, t->j, BASE_I64), *far = ir_convert(t->b, t->x, BASE_I64);
    struct ir_value *one = ir_constant(t->b, BASE_I64, (union scalar){.integer = 1});
    IS(ir_convert(t->b, DO(SUB, wide, one), BASE_I32), DO(SUB, t->j, ir_int(t->b, 1)));
    IS(ir_convert(t->b, DO(MUL, wide, wide), BASE_I32), DO(MUL, t->j, t->j));
    struct ir_value *may_wrap = ir_convert(t->b, DO(ADD, far, one), BASE_I32); /* it tells where it does not */
    assert_int_equal(may_wrap->definition->op, OP_CONVERT);
    arena_free(t->arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simplifying_is_sound_i8),
        cmocka_unit_test(simplifying_is_sound_u8),
        cmocka_unit_test(simplifying_is_sound_int),
        cmocka_unit_test(simplifying_is_sound_i64),
        cmocka_unit_test(simplifying_is_sound_u64),
        cmocka_unit_test(sums_cancel),
        cmocka_unit_test(division_takes_indices_apart),
        cmocka_unit_test(comparisons_are_decided),
        cmocka_unit_test(branches_tell),
        cmocka_unit_test(floats_are_left_alone),
        cmocka_unit_test(selects_and_bools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
