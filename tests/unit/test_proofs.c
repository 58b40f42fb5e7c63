/* IR: what is proved holds, for random expressions, in all iterations of small loops: orders, also by what was told,
   and that places are written once, and each of them. And what index functions need is proved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "ir/build/conflict.h"
#include "ir/build/fold.h"

static uint64_t draw(uint64_t *seed, uint64_t below) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*seed >> 33) % below;
}

struct fixture {
    struct arena *arena;
    struct ir_kernel kernel;
    struct ir_builder *b;
    struct ir_buffer *out;
    struct ir_value *i, *k; /* the indices */
    struct ir_value *n, *m; /* parameters, or NULL */
    int64_t at_i, at_k, at_n, at_m;
};

static struct fixture *new_fixture(void) {
    struct arena *arena = arena_new();
    struct fixture *t = ARENA_NEW(arena, struct fixture);
    t->arena = arena;
    t->b = ir_builder_new(arena, arena, &t->kernel, 1);
    t->out = ir_buffer_new(t->b, MEMORY_OUTPUT, LEVEL_GRID, BASE_I32, ir_int(t->b, 4096), "out");
    ir_allocate(t->b, t->out);
    return t;
}

static void begin_loops(struct fixture *t, int64_t many, int64_t few) {
    t->i = ir_begin_forall(t->b, LEVEL_GRID, LEVEL_THREAD, ir_int(t->b, many), "i");
    t->k = ir_begin_for(t->b, ir_int(t->b, few), NULL, 0, "k");
}

static void end_loops(struct fixture *t) {
    ir_end_for(t->b, NULL, NULL);
    ir_end_forall(t->b);
}

#define INT(value) ir_int(t->b, value)
#define DO(op, x, y) ir_binary(t->b, OP_##op, x, y)

/* ---- random expressions of the indices ---- */

static struct ir_value *constant_of(const struct fixture *t, enum base base, int64_t integer) {
    return ir_constant(t->b, base, (union scalar){.integer = integer});
}

static struct ir_value *any_constant(struct fixture *t, uint64_t *seed) {
    static const int64_t constants[] = {0,  1,  2,   3,  4,  5,  7,  8,       15,        16,       31,
                                        32, 35, 255, -1, -2, -8, -9, 1 << 30, INT32_MAX, INT32_MIN};
    return INT(constants[draw(seed, sizeof constants / sizeof *constants)]);
}

static struct ir_value *any_value(struct fixture *t, uint64_t *seed, int depth) {
    static const enum ir_op ops[] = {OP_ADD, OP_ADD, OP_SUB, OP_SUB, OP_MUL, OP_DIV, OP_REM, OP_AND,
                                     OP_OR,  OP_XOR, OP_SHL, OP_SHR, OP_MIN, OP_MAX, OP_MUL, OP_ADD};
    uint64_t which = draw(seed, 20);
    if (depth == 0 || which < 4)
        return which % 4 == 3 ? any_constant(t, seed) : which % 2 ? t->k : t->i;
    struct ir_value *x = any_value(t, seed, depth - 1);
    if (which < 6) {
        struct ir_value *y = any_value(t, seed, depth - 1), *c = DO(LT, x, any_value(t, seed, depth - 1));
        return ir_ternary(t->b, OP_SELECT, c, x, y);
    }
    if (which == 6)
        return ir_convert(
            t->b, ir_binary(t->b, OP_ADD, ir_convert(t->b, x, BASE_I64), ir_convert(t->b, t->k, BASE_I64)), BASE_I32);
    struct ir_value *y = draw(seed, 2) ? any_constant(t, seed) : any_value(t, seed, depth - 1);
    return ir_binary(t->b, ops[draw(seed, sizeof ops / sizeof *ops)], x, y);
}

static struct ir_value *any_condition(struct fixture *t, uint64_t *seed) {
    static const enum ir_op ops[] = {OP_LT, OP_LE, OP_EQ, OP_LT};
    static const enum base bases[] = {BASE_U32, BASE_U8, BASE_I64, BASE_U64, BASE_I16};
    struct ir_value *x = any_value(t, seed, 2), *y = draw(seed, 2) ? any_constant(t, seed) : any_value(t, seed, 1);
    bool is_converted = draw(seed, 4) == 0;
    enum base base = is_converted ? bases[draw(seed, 5)] : BASE_I32;
    struct ir_value *c = ir_binary(t->b, ops[draw(seed, 4)], ir_convert(t->b, x, base), ir_convert(t->b, y, base));
    if (is_converted || draw(seed, 3))
        return c;
    struct ir_value *other = DO(LE, any_constant(t, seed), draw(seed, 2) ? x : any_value(t, seed, 1));
    return draw(seed, 2) ? DO(AND, c, other) : DO(OR, c, other);
}

static int64_t evaluate(const struct fixture *t, const struct ir_value *value) {
    if (value->is_constant)
        return value->constant.integer;
    if (value == t->i || value == t->k)
        return value == t->i ? t->at_i : t->at_k;
    if (value == t->n || value == t->m)
        return value == t->n ? t->at_n : t->at_m;
    const struct ir_instruction *made = value->definition;
    for (size_t n = 0; made && made->kind == IR_IF && n < made->result_count; n++)
        if (made->results[n] == value)
            return evaluate(t, made->regions[!evaluate(t, made->operands[0])]->yields.at[n]);
    assert_true(made && made->kind == IR_OPERATION);
    union scalar x[3];
    for (size_t n = 0; n < made->operand_count; n++)
        x[n].integer = evaluate(t, made->operands[n]);
    return fold_operation(made->op, value->base, made->operands[made->operand_count - 1]->base, x).integer;
}

/* ---- orders ---- */

static void proofs_hold(void **state) {
    (void)state;
    uint64_t seed = 1;
    size_t proved = 0, told = 0;
    for (int round = 0; round < 30000; round++) {
        struct fixture *t = new_fixture();
        int64_t many = (int64_t)draw(&seed, 40) + 1, few = (int64_t)draw(&seed, 9) + 1;
        begin_loops(t, many, few);
        bool is_branch = draw(&seed, 2);
        struct ir_value *known = any_condition(t, &seed), *asked;
        if (ir_known(t->b, known) != IR_UNKNOWN) {
            arena_free(t->arena);
            continue;
        }
        if (is_branch)
            ir_begin_if(t->b, known);
        else
            ir_tell(t->b, known);
        asked = any_condition(t, &seed);
        const struct ir_instruction *made = known->definition;
        if (draw(&seed, 2) && made && made->kind == IR_OPERATION && made->operands[0]->base == BASE_I32) {
            struct ir_value *x = DO(ADD, made->operands[0], INT((int64_t)draw(&seed, 3)));
            asked = DO(LE, x, DO(SUB, made->operands[1], any_constant(t, &seed)));
        }
        bool holds = is_branch ? ir_prove(t->b, asked) : ir_prove_told(t->b, asked);
        proved += holds && is_branch;
        told += holds && !is_branch && !ir_prove(t->b, asked);
        for (t->at_i = 0; holds && t->at_i < many; t->at_i++)
            for (t->at_k = 0; t->at_k < few; t->at_k++)
                if (evaluate(t, known) && !evaluate(t, asked))
                    fail_msg("round %d: i is %lld, k is %lld", round, (long long)t->at_i, (long long)t->at_k);
        arena_free(t->arena);
    }
    assert_true(proved > 500 && told > 100);
}

/* ---- places ---- */

enum { MOST_PLACES = 4096 };
struct tally {
    bool is_twice, is_all, is_outside;
};

/* Two writes of each iteration, or one of the two as a condition says. */
static struct tally go_through(struct fixture *t, int64_t many, int64_t few, struct ir_value *const *places,
                               const struct ir_value *condition, int64_t length) {
    VEC(int64_t) seen = {0};
    struct tally tally = {false, true, false};
    bool *written = ARENA_ARRAY(t->arena, bool, length + 1);
    for (t->at_i = 0; t->at_i < many; t->at_i++)
        for (t->at_k = 0; t->at_k < few; t->at_k++)
            for (int which = 0; which < 2; which++) {
                if (!places[which] || (condition && (evaluate(t, condition) != 0) == which))
                    continue;
                int64_t place = evaluate(t, places[which]);
                for (size_t n = 0; n < seen.count; n++)
                    tally.is_twice |= seen.at[n] == place;
                vec_push(t->arena, &seen, place);
                if (place >= 0 && place < length)
                    written[place] = true;
                else
                    tally.is_outside = true;
            }
    for (int64_t n = 0; n < length; n++)
        tally.is_all &= written[n];
    return tally;
}

static void places_are_told_apart(void **state) {
    (void)state;
    uint64_t seed = 7;
    size_t once = 0, all = 0, of_two = 0, found = 0;
    for (int round = 0; round < 20000; round++) {
        struct fixture *t = new_fixture();
        struct ir_region *here = ir_current(t->b);
        int64_t many = (int64_t)draw(&seed, 12) + 1, few = (int64_t)draw(&seed, 5) + 1;
        uint64_t form = draw(&seed, 4);
        begin_loops(t, many, few);
        struct ir_value *base = DO(ADD, DO(MUL, t->k, INT(many)), t->i); /* what is made of this is often right */
        struct ir_write writes[2];
        struct ir_value *places[2] = {NULL, NULL}, *condition = NULL;
        if (form >= 2)
            condition = any_condition(t, &seed);
        if (condition && ir_known(t->b, condition) != IR_UNKNOWN)
            condition = NULL;
        for (int which = 0; which < (form == 0 ? 1 : 2); which++) {
            if (condition && !which)
                ir_begin_if(t->b, condition);
            else if (condition)
                ir_else(t->b, NULL, 0);
            struct ir_value *place = draw(&seed, 2) ? any_value(t, &seed, 3) : base;
            if (draw(&seed, 2))
                place = ir_binary(t->b, draw(&seed, 2) ? OP_XOR : OP_ADD, place, any_constant(t, &seed));
            if (form == 1)
                place = DO(ADD, DO(MUL, place, INT(2)), INT(which));
            places[which] = place;
            writes[which] = (struct ir_write){place, ir_current(t->b)};
            ir_store(t->b, t->out, INT(0), t->i);
        }
        if (condition)
            ir_end_if(t->b, NULL, NULL, 0, false);
        end_loops(t);
        size_t count = form == 0 ? 1 : 2;
        int64_t length = draw(&seed, 3) ? many * few * (form == 1 ? 2 : 1) : (int64_t)draw(&seed, 40);
        struct ir_value *total = INT(length);
        struct tally tally = go_through(t, many, few, places, condition, length);
        bool is_once = ir_writes_once(t->b, here, writes, count);
        bool is_all = is_once && ir_writes_all(t->b, here, writes, count, total, false);
        if ((is_once && tally.is_twice) || (is_all && !tally.is_all))
            fail_msg("round %d: %s", round, tally.is_twice ? "a place is written twice" : "a place is not written");
        struct ir_conflict conflict = ir_find_conflict(t->arena, here, writes, count, total, false, false);
        bool is_true = conflict.kind == CONFLICT_TWICE     ? tally.is_twice
                       : conflict.kind == CONFLICT_OUTSIDE ? tally.is_outside
                                                           : conflict.kind == CONFLICT_NONE || !tally.is_all;
        if (!is_true)
            fail_msg("round %d: what was found wrong is right", round);
        once += is_once;
        all += is_all;
        of_two += is_once && count == 2;
        found += conflict.kind != CONFLICT_NONE;
        arena_free(t->arena);
    }
    assert_true(once > 1500 && all > 300 && of_two > 300 && found > 3000);
}

/* ---- what is to be proved ---- */

struct form {
    const char *what;
    struct ir_value *(*place)(struct fixture *t, struct ir_value *i);
    int64_t count;
    bool is_once, is_all; /* of as many places */
};

static struct ir_value *itself(struct fixture *t, struct ir_value *i) {
    (void)t;
    return i;
}
static struct ir_value *backwards(struct fixture *t, struct ir_value *i) { return DO(SUB, INT(36), i); }
static struct ir_value *turned(struct fixture *t, struct ir_value *i) {
    return DO(ADD, DO(MUL, DO(REM, i, INT(7)), INT(5)), DO(DIV, i, INT(7)));
}
static struct ir_value *of_three_digits(struct fixture *t, struct ir_value *i) {
    struct ir_value *middle = DO(REM, DO(DIV, i, INT(3)), INT(5));
    return DO(ADD, DO(MUL, middle, INT(21)), DO(ADD, DO(MUL, DO(REM, i, INT(3)), INT(7)), DO(DIV, i, INT(15))));
}
static struct ir_value *flipped(struct fixture *t, struct ir_value *i) { return DO(XOR, i, INT(21)); }
static struct ir_value *rotated(struct fixture *t, struct ir_value *i) {
    return DO(OR, DO(SHR, i, INT(3)), DO(SHL, DO(AND, i, INT(7)), INT(5)));
}
static struct ir_value *halves(struct fixture *t, struct ir_value *i) { return DO(DIV, i, INT(2)); }
static struct ir_value *doubled(struct fixture *t, struct ir_value *i) { return DO(MUL, i, INT(2)); }
static struct ir_value *wrapping(struct fixture *t, struct ir_value *i) { return DO(MUL, i, INT(1 << 30)); }
static struct ir_value *towards_zero(struct fixture *t, struct ir_value *i) {
    return DO(DIV, DO(SUB, i, INT(4)), INT(3));
}
static struct ir_value *clamped(struct fixture *t, struct ir_value *i) { return DO(MIN, i, INT(9)); }

static void index_functions(void **state) {
    (void)state;
    const struct form forms[] = {
        {"i", itself, 100, true, true},
        {"36 - i", backwards, 37, true, true},
        {"i % 7 * 5 + i / 7", turned, 35, true, true},
        {"i % 7 * 5 + i / 7, of more", turned, 36, false, false},
        {"three digits", of_three_digits, 105, true, true},
        {"i ^ 21", flipped, 32, true, true},
        {"i ^ 21, of fewer", flipped, 20, true, false},
        {"rotated by 3 bits of 8", rotated, 256, true, true},
        {"i / 2", halves, 2, false, false},
        {"i * 2", doubled, 50, true, false},
        {"i * 2^30", wrapping, 4, true, false},
        {"i * 2^30, where it wraps", wrapping, 5, false, false},
        {"(i - 4) / 3, to both sides of 0", towards_zero, 9, false, false},
        {"min i 9", clamped, 11, false, false},
    };
    for (size_t n = 0; n < sizeof forms / sizeof *forms; n++) {
        struct fixture *t = new_fixture();
        struct ir_region *here = ir_current(t->b);
        begin_loops(t, forms[n].count, 1);
        struct ir_write write = {forms[n].place(t, t->i), ir_current(t->b)};
        ir_store(t->b, t->out, write.place, t->i);
        end_loops(t);
        bool is_once = ir_writes_once(t->b, here, &write, 1);
        bool is_all = is_once && ir_writes_all(t->b, here, &write, 1, INT(forms[n].count), false);
        if (is_once != forms[n].is_once || is_all != forms[n].is_all)
            fail_msg("%s: %d %d", forms[n].what, is_once, is_all);
        arena_free(t->arena);
    }
}

static void remainders_bound(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    begin_loops(t, 512, 1);
    struct ir_value *last = DO(ADD, t->i, INT(1)), *first = DO(SUB, t->i, INT(1));
    assert_false(ir_prove(t->b, DO(LT, last, INT(512))));
    ir_begin_if(t->b, DO(LT, DO(AND, t->i, INT(1)), INT(1)));
    assert_true(ir_prove(t->b, DO(LT, last, INT(512)))); /* i is even */
    assert_false(ir_prove(t->b, DO(LE, INT(0), first)));
    ir_end_only(t->b);
    ir_begin_if(t->b, DO(LE, INT(2), DO(REM, t->i, INT(5))));
    assert_true(ir_prove(t->b, DO(LE, INT(0), first)));
    ir_end_only(t->b);
    end_loops(t);
    arena_free(t->arena);
}

/* ---- products of numbers that are known in a run ---- */

static struct ir_value *any_of_four(struct fixture *t, uint64_t *seed) {
    struct ir_value *all[] = {t->i, t->k, t->n, t->m};
    return all[draw(seed, 4)];
}

/* Sums and products, quotients and remainders, and their bounds. */
static struct ir_value *any_term(struct fixture *t, uint64_t *seed, int depth) {
    static const enum ir_op ops[] = {OP_MUL, OP_MUL, OP_MUL, OP_ADD, OP_ADD, OP_SUB, OP_DIV, OP_REM, OP_MIN, OP_MAX};
    if (depth == 0)
        return any_of_four(t, seed);
    struct ir_value *x = any_term(t, seed, (int)draw(seed, (uint64_t)depth));
    struct ir_value *y =
        draw(seed, 5) ? any_term(t, seed, (int)draw(seed, (uint64_t)depth)) : INT((int64_t)draw(seed, 5) - 1);
    return ir_binary(t->b, ops[draw(seed, sizeof ops / sizeof *ops)], x, y);
}

static struct ir_value *product_fits(struct fixture *t, struct ir_value *x, struct ir_value *y) {
    struct ir_value *wide = ir_binary(t->b, OP_MUL, ir_convert(t->b, x, BASE_I64), ir_convert(t->b, y, BASE_I64));
    return ir_binary(t->b, OP_LE, wide, ir_constant(t->b, BASE_I64, (union scalar){.integer = INT32_MAX}));
}

/* A multiple of x, and perhaps a little more, is below a bound: as it is computed, or as it is exactly. */
static struct ir_value *multiple_fits(struct fixture *t, struct ir_value *x, uint64_t *seed) {
    static const int64_t bounds[] = {0, 5, 127, 1 << 20, INT32_MAX};
    enum base base = draw(seed, 2) ? BASE_I32 : BASE_I64;
    struct ir_value *times = constant_of(t, base, (int64_t)draw(seed, 20) + 1);
    struct ir_value *more = constant_of(t, base, (int64_t)draw(seed, 9) - 4);
    struct ir_value *bound = constant_of(t, base, bounds[draw(seed, 5)]);
    struct ir_value *multiple = DO(ADD, DO(MUL, ir_convert(t->b, x, base), times), more);
    return draw(seed, 3) ? DO(LE, multiple, bound) : DO(LE, DO(SUB, bound, constant_of(t, base, 7)), multiple);
}

/* Indices from 0 to `count` - 1 that are near the ends. */
static int64_t index_at(int64_t count, uint64_t which) {
    int64_t at = which < 3 ? (int64_t)which : count - 1 - (int64_t)(which - 3);
    return at < 0 ? 0 : at;
}

/* The sanitizers look at each step, and take four times as long: an eighth of the programs has all kinds of steps. */
#ifdef __SANITIZE_ADDRESS__
enum { PART = 16 };
#else
enum { PART = 2 };
#endif

static const int64_t extremes[] = {0, 1, 2, 3, 4, 5, 7, 64, 46340, 46341, 65536, INT32_MAX, INT32_MIN, -1, -3, 1 << 30};

/* Each order that is proved is right for all extremes of the parameters for which the loops run and what is known
   holds. Known is that the product fits, or does not matter; loops go up to a parameter, a product or a quotient. */
static void proofs_with_products_hold(void **state) {
    (void)state;
    enum { EXTREMES = sizeof extremes / sizeof *extremes };
    uint64_t seed = 7;
    size_t proved = 0;
    for (int round = 0; round < 60000 / PART; round++) {
        struct fixture *t = new_fixture();
        t->n = ir_parameter_value(t->b, BASE_I32, draw(&seed, 2) ? 0 : INT32_MIN, INT32_MAX, "n");
        t->m = ir_parameter_value(t->b, BASE_I32, draw(&seed, 2) ? 0 : INT32_MIN, INT32_MAX, "m");
        struct ir_value *fits = draw(&seed, 3) ? product_fits(t, t->n, t->m) : ir_bool(t->b, true);
        if (draw(&seed, 3) == 0)
            fits = DO(AND, fits, multiple_fits(t, t->n, &seed));
        ir_assume(t->b, fits);
        struct ir_value *counts[2], *choices[] = {t->n,
                                                  t->m,
                                                  DO(MUL, t->n, t->m),
                                                  DO(DIV, t->n, DO(MAX, t->m, INT(1))),
                                                  DO(MUL, DO(MIN, t->n, INT(1 << 20)), INT(4)),
                                                  DO(SUB, DO(MAX, DO(SUB, t->n, INT(3)), INT(2)), INT(2)),
                                                  DO(ADD, DO(MAX, DO(SUB, t->m, t->n), INT(1)), INT(-3))};
        for (int c = 0; c < 2; c++)
            counts[c] = DO(MAX, choices[draw(&seed, 7)], INT(0));
        t->i = ir_begin_forall(t->b, LEVEL_GRID, LEVEL_THREAD, counts[0], "i");
        t->k = ir_begin_for(t->b, counts[1], NULL, 0, "k");
        struct ir_value *known = DO(LT, any_term(t, &seed, 2), any_term(t, &seed, 2));
        bool is_branch = draw(&seed, 2) && ir_known(t->b, known) == IR_UNKNOWN;
        if (is_branch)
            ir_begin_if(t->b, known);
        struct ir_value *x = any_term(t, &seed, 3), *y = draw(&seed, 4) ? any_term(t, &seed, 3) : INT(0);
        if (draw(&seed, 3)) { /* a place below a product, or not below 0 */
            x = DO(ADD, DO(MUL, any_of_four(t, &seed), any_of_four(t, &seed)), any_of_four(t, &seed));
            y = draw(&seed, 2) ? DO(MUL, any_of_four(t, &seed), any_of_four(t, &seed)) : any_of_four(t, &seed);
            if (draw(&seed, 3) == 0) {
                y = x;
                x = INT((int64_t)draw(&seed, 3) - 1);
            } else if (draw(&seed, 3) == 0) {
                struct ir_value *by = any_of_four(t, &seed);
                x = DO(DIV, any_of_four(t, &seed), draw(&seed, 3) ? by : draw(&seed, 2) ? DO(MAX, by, INT(1)) : INT(4));
                x = draw(&seed, 2) ? x : DO(MUL, any_of_four(t, &seed), x);
            }
        }
        struct ir_value *asked = draw(&seed, 2) ? DO(LT, x, y) : DO(LE, x, y);
        bool holds = ir_known(t->b, asked) == IR_UNKNOWN && ir_prove(t->b, asked);
        proved += holds;
        for (int at = 0; holds && at < EXTREMES * EXTREMES * 36; at++) {
            t->at_n = extremes[at / 36 % EXTREMES];
            t->at_m = extremes[at / 36 / EXTREMES];
            int64_t many = evaluate(t, counts[0]), few = evaluate(t, counts[1]);
            t->at_i = index_at(many, (uint64_t)at % 6);
            t->at_k = index_at(few, (uint64_t)at % 36 / 6);
            bool is_there = t->at_n >= t->n->low && t->at_m >= t->m->low && t->at_i < many && t->at_k < few;
            if (is_there && evaluate(t, fits) && (!is_branch || evaluate(t, known)) && !evaluate(t, asked))
                fail_msg("round %d: n is %lld, m is %lld, i is %lld, k is %lld", round, (long long)t->at_n,
                         (long long)t->at_m, (long long)t->at_i, (long long)t->at_k);
        }
        arena_free(t->arena);
    }
    assert_true(proved > 500 / PART);
}

/* Asked in a branch, as the host does, so that it holds where the condition does; or NULL. */
struct held {
    struct ir_value *condition, *asked;
};

static struct ir_value *any_branch(struct fixture *t, uint64_t *seed, struct held *held) {
    struct ir_value *x = any_of_four(t, seed), *y = any_of_four(t, seed), *results[1];
    struct ir_value *condition = draw(seed, 2) ? DO(LT, INT(0), x) : DO(LE, INT((int64_t)draw(seed, 70)), y);
    struct ir_value *others[] = {INT(0), INT(-1), INT(3), y};
    *held = (struct held){condition, NULL};
    if (ir_known(t->b, condition) != IR_UNKNOWN)
        return x;
    ir_begin_if(t->b, condition);
    if (draw(seed, 2)) {
        held->asked = draw(seed, 2) ? product_fits(t, x, y) : DO(LE, y, x);
        ir_assume(t->b, held->asked);
    }
    struct ir_value *given[] = {x, DO(ADD, DO(SHR, DO(SUB, x, INT(1)), INT(3)), INT(1)), DO(MUL, x, y),
                                DO(DIV, x, INT(16))};
    ir_else(t->b, &given[draw(seed, 4)], 1);
    ir_end_if(t->b, &others[draw(seed, 4)], results, 1, false);
    return results[0];
}

static bool is_held(const struct fixture *t, const struct held *held) {
    return !held->asked || !evaluate(t, held->condition) || evaluate(t, held->asked);
}

/* The rest of a chunk, or so much of it. */
static struct ir_value *any_rest(struct fixture *t, uint64_t *seed) {
    struct ir_value *all = draw(seed, 2) ? t->n : t->m, *size = INT((int64_t)1 << draw(seed, 8));
    struct ir_value *begin = draw(seed, 3) ? DO(MUL, t->i, size) : DO(MIN, t->i, all);
    struct ir_value *rest = DO(SUB, all, begin);
    return draw(seed, 3) ? DO(MIN, rest, draw(seed, 2) ? size : t->m) : rest;
}

static struct ir_value *any_chosen(struct fixture *t, uint64_t *seed, struct ir_value *x) {
    struct ir_value *y = any_term(t, seed, 1), *c = INT((int64_t)1 << draw(seed, 9));
    switch (draw(seed, 9)) {
    case 0: return ir_ternary(t->b, OP_SELECT, DO(LT, any_of_four(t, seed), y), x, draw(seed, 2) ? INT(0) : y);
    case 1: return DO(SHR, x, INT((int64_t)draw(seed, 9)));
    case 2: return DO(DIV, x, c);
    case 3: return DO(MUL, DO(DIV, x, c), c);
    case 4: return DO(MUL, DO(SHR, DO(ADD, x, y), INT(4)), any_of_four(t, seed));
    case 5: return DO(MAX, x, INT((int64_t)draw(seed, 3)));
    case 6: return DO(ADD, DO(MUL, DO(SHR, x, INT(4)), INT(64)), DO(AND, x, INT(15)));
    case 7: return DO(MIN, x, c);
    default: return x;
    }
}

/* Indices of chunks and in them, quotients of these, and what branches give: as above. */
static void proofs_of_chunks_hold(void **state) {
    (void)state;
    enum { EXTREMES = sizeof extremes / sizeof *extremes };
    uint64_t seed = 11;
    size_t proved = 0;
    for (int round = 0; round < 15000 / PART; round++) {
        struct fixture *t = new_fixture();
        struct ir_value *counts[2];
        struct held held[2];
        t->n = t->i = ir_parameter_value(t->b, BASE_I32, draw(&seed, 2) ? 0 : INT32_MIN, INT32_MAX, "n");
        t->m = t->k = ir_parameter_value(t->b, BASE_I32, draw(&seed, 2) ? 0 : INT32_MIN, INT32_MAX, "m");
        struct ir_value *chunks[] = {any_branch(t, &seed, &held[0]), DO(SHR, t->n, INT((int64_t)draw(&seed, 8))), t->n};
        counts[0] = DO(MAX, chunks[draw(&seed, 3)], INT(0));
        t->i = ir_begin_forall(t->b, LEVEL_GRID, LEVEL_THREAD, counts[0], "i");
        struct ir_value *given = any_branch(t, &seed, &held[1]);
        counts[1] = DO(MAX, draw(&seed, 4) ? any_rest(t, &seed) : given, INT(0));
        t->k = ir_begin_for(t->b, counts[1], NULL, 0, "k");
        struct ir_value *known = DO(LT, any_term(t, &seed, 1), any_term(t, &seed, 1));
        bool is_branch = draw(&seed, 2) && ir_known(t->b, known) == IR_UNKNOWN;
        if (is_branch)
            ir_begin_if(t->b, known);
        struct ir_value *size = INT((int64_t)1 << draw(&seed, 8)), *x = DO(ADD, DO(MUL, t->i, size), t->k);
        x = any_chosen(t, &seed, draw(&seed, 2) ? x : draw(&seed, 2) ? DO(ADD, DO(MIN, t->i, t->n), t->k) : given);
        struct ir_value *y = any_chosen(t, &seed, draw(&seed, 3) ? any_of_four(t, &seed) : counts[draw(&seed, 2)]);
        struct ir_value *asked = draw(&seed, 2) ? DO(LT, x, y) : draw(&seed, 2) ? DO(LE, x, y) : DO(LE, INT(0), x);
        bool is_proved = ir_known(t->b, asked) == IR_UNKNOWN && ir_prove(t->b, asked);
        proved += is_proved;
        for (int at = 0; is_proved && at < EXTREMES * EXTREMES * 36; at++) {
            t->at_n = extremes[at / 36 % EXTREMES];
            t->at_m = extremes[at / 36 / EXTREMES];
            int64_t many = evaluate(t, counts[0]);
            t->at_i = index_at(many, (uint64_t)at % 6);
            bool is_there = t->at_n >= t->n->low && t->at_m >= t->m->low && t->at_i < many;
            int64_t few = is_there ? evaluate(t, counts[1]) : 0;
            t->at_k = index_at(few, (uint64_t)at % 36 / 6);
            is_there = is_there && t->at_k < few && is_held(t, &held[0]) && is_held(t, &held[1]);
            if (is_there && (!is_branch || evaluate(t, known)) && !evaluate(t, asked))
                fail_msg("round %d: n is %lld, m is %lld, i is %lld, k is %lld", round, (long long)t->at_n,
                         (long long)t->at_m, (long long)t->at_i, (long long)t->at_k);
        }
        arena_free(t->arena);
    }
    assert_true(proved > 300 / PART);
}

/* Places in a matrix, each beside one that is not proved, as it is wrong for some numbers. */
static void places_in_matrices(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    t->n = ir_parameter_value(t->b, BASE_I32, INT32_MIN, INT32_MAX, "n");
    t->m = ir_parameter_value(t->b, BASE_I32, INT32_MIN, INT32_MAX, "m");
    struct ir_value *rows = DO(MAX, t->n, INT(0)), *columns = DO(MAX, t->m, INT(0)), *all = DO(MUL, rows, columns);
    for (int is_known = 0; is_known < 2; is_known++) {
        if (is_known)
            ir_assume(t->b, product_fits(t, rows, columns));
        struct ir_value *y = ir_begin_forall(t->b, LEVEL_GRID, LEVEL_THREAD, rows, "y");
        struct ir_value *x = ir_begin_for(t->b, columns, NULL, 0, "x");
        struct ir_value *place = DO(ADD, DO(MUL, y, columns), x);
        assert_int_equal(ir_prove(t->b, DO(LT, place, all)), is_known); /* else the place and `all` wrap */
        assert_int_equal(ir_prove(t->b, DO(LE, INT(0), place)), is_known);
        assert_false(ir_prove(t->b, DO(LT, DO(ADD, place, INT(1)), all)));
        assert_false(ir_prove(t->b, DO(LT, DO(ADD, DO(MUL, y, rows), x), all)));
        assert_false(ir_prove(t->b, DO(LT, INT(0), place)));
        end_loops(t);
        struct ir_value *e = ir_begin_forall(t->b, LEVEL_GRID, LEVEL_THREAD, all, "e");
        t->k = ir_begin_for(t->b, INT(2), NULL, 0, "k");
        struct ir_value *row = DO(DIV, e, columns), *column = DO(REM, e, columns);
        assert_true(ir_prove(t->b, DO(LT, column, columns))); /* a product that is not 0 has no factor that is */
        assert_int_equal(ir_prove(t->b, DO(LT, row, rows)), is_known);
        assert_false(ir_prove(t->b, DO(LT, DO(DIV, DO(ADD, e, t->k), columns), rows)));
        assert_false(ir_prove(t->b, DO(LT, row, columns)));
        end_loops(t);
    }
    arena_free(t->arena);
}

/* Chunks of a size that is known in a run: each begins before the end; none is there of a negative length. */
static void chunks_of_any_size(void **state) {
    (void)state;
    for (int is_natural = 0; is_natural < 2; is_natural++) {
        struct fixture *t = new_fixture();
        t->n = ir_parameter_value(t->b, BASE_I32, is_natural ? 0 : INT32_MIN, INT32_MAX, "n");
        t->m = ir_parameter_value(t->b, BASE_I32, INT32_MIN, INT32_MAX, "m");
        struct ir_value *size = DO(MAX, t->m, INT(1)), *count = DO(MAX, DO(DIV, t->n, size), INT(0));
        t->i = ir_begin_forall(t->b, LEVEL_GRID, LEVEL_THREAD, count, "i");
        t->k = ir_begin_for(t->b, size, NULL, 0, "k");
        struct ir_value *first = DO(MUL, t->i, size);
        assert_true(ir_prove(t->b, DO(LT, first, t->n))); /* there is a chunk, so n is natural */
        assert_true(ir_prove(t->b, DO(LT, DO(ADD, first, t->k), t->n)));
        assert_false(ir_prove(t->b, DO(LT, DO(ADD, first, size), t->n)));
        assert_false(ir_prove(t->b, DO(LT, DO(MUL, t->i, DO(ADD, size, INT(1))), t->n)));
        end_loops(t);
        arena_free(t->arena);
    }
}

/* A matrix of m rows, each of n elements: panels of 16 rows, and of 8 of those that are left. A panel may begin in the
   last row, and still its last number is one; only of one row more it is not for certain. */
static void panels_of_rows(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    t->n = ir_parameter_value(t->b, BASE_I32, 0, INT32_MAX, "n");
    t->m = ir_parameter_value(t->b, BASE_I32, 0, INT32_MAX, "m");
    ir_assume(t->b, product_fits(t, t->n, t->m));
    struct ir_value *all = DO(MUL, t->n, t->m), *panels = DO(SHR, t->m, INT(4));
    struct ir_value *done = DO(MUL, panels, INT(16)), *left = DO(SUB, t->m, done);
    t->i = ir_begin_forall(t->b, LEVEL_GRID, LEVEL_THREAD, panels, "i");
    t->k = ir_begin_for(t->b, t->n, NULL, 0, "k");
    struct ir_value *last = DO(ADD, DO(MUL, t->i, INT(16)), INT(15));
    assert_true(ir_prove(t->b, DO(LT, DO(ADD, DO(MUL, last, t->n), t->k), all)));
    assert_false(ir_prove(t->b, DO(LT, DO(ADD, DO(MUL, DO(ADD, last, INT(1)), t->n), t->k), all)));
    end_loops(t);
    struct ir_value *rest = DO(ADD, DO(SHR, DO(SUB, left, INT(1)), INT(3)), INT(1)), *begin;
    t->i = ir_begin_forall(t->b, LEVEL_GRID, LEVEL_THREAD, DO(MAX, rest, INT(0)), "i");
    t->k = ir_begin_for(t->b, INT(4), NULL, 0, "k");
    begin = DO(ADD, DO(ADD, done, DO(MUL, t->i, INT(8))), t->k);
    assert_true(ir_prove(t->b, DO(LE, INT(0), DO(ADD, begin, INT(4)))));
    assert_false(ir_prove(t->b, DO(LE, INT(0), DO(ADD, begin, INT(5)))));
    end_loops(t);
    arena_free(t->arena);
}

/* A condition that a branch gives, as `&&` does of what is no operation: where it is true, both parts hold, and where
   it is false, it is not known which does not; `||` the other way round. */
static void conditions_of_branches(void **state) {
    (void)state;
    for (int is_or = 0; is_or < 2; is_or++)
        for (int is_true = 0; is_true < 2; is_true++) {
            struct fixture *t = new_fixture();
            t->n = ir_parameter_value(t->b, BASE_I32, INT32_MIN, INT32_MAX, "n");
            t->m = ir_parameter_value(t->b, BASE_I32, INT32_MIN, INT32_MAX, "m");
            begin_loops(t, 1, 1);
            struct ir_value *first = DO(LT, t->n, INT(5)), *second, *given = ir_bool(t->b, is_or), *both;
            ir_begin_if(t->b, first);
            second = DO(LT, t->m, INT(7));
            ir_store(t->b, t->out, INT(0), t->n); /* so that it stays a branch */
            ir_else(t->b, is_or ? &given : &second, 1);
            second = DO(LT, t->m, INT(7));
            ir_end_if(t->b, is_or ? &second : &given, &both, 1, false);
            struct ir_value *condition = is_true ? both : ir_unary(t->b, OP_NOT, both);
            ir_begin_if(t->b, condition);
            assert_int_equal(ir_prove(t->b, DO(LT, t->n, INT(5))), is_true && !is_or);
            assert_int_equal(ir_prove(t->b, DO(LT, t->m, INT(7))), is_true && !is_or);
            assert_int_equal(ir_prove(t->b, DO(LE, INT(5), t->n)), !is_true && is_or);
            assert_int_equal(ir_prove(t->b, DO(LE, INT(7), t->m)), !is_true && is_or);
            ir_end_only(t->b);
            end_loops(t);
            arena_free(t->arena);
        }
}

/* c times x / c is so much less than x as is known of the rest. */
static void rests_of_quotients(void **state) {
    (void)state;
    for (int is_natural = 0; is_natural < 2; is_natural++)
        for (int is_shift = 0; is_shift < 2; is_shift++) {
            struct fixture *t = new_fixture();
            t->n = ir_parameter_value(t->b, BASE_I32, is_natural ? 0 : INT32_MIN, INT32_MAX, "n");
            struct ir_value *whole = DO(MUL, is_shift ? DO(SHR, t->n, INT(3)) : DO(DIV, t->n, INT(8)), INT(8));
            struct ir_value *rest = is_shift ? DO(AND, t->n, INT(7)) : DO(REM, t->n, INT(8));
            struct ir_value *end = DO(ADD, whole, INT(3));
            begin_loops(t, 1, 1);
            assert_false(ir_prove(t->b, DO(LE, end, t->n)));
            ir_begin_if(t->b, DO(LT, INT(2), rest));
            assert_int_equal(ir_prove(t->b, DO(LE, end, t->n)), is_natural || is_shift);
            assert_false(ir_prove(t->b, DO(LT, end, t->n)));
            ir_end_only(t->b);
            end_loops(t);
            arena_free(t->arena);
        }
}

/* x is its last bits and what is left of it, or its rest and a multiple, if both are by one number. */
static void rests_and_wholes(void **state) {
    (void)state;
    for (int is_natural = 0; is_natural < 2; is_natural++)
        for (int is_shift = 0; is_shift < 2; is_shift++)
            for (int other = 0; other < 2; other++) {
                struct fixture *t = new_fixture();
                t->n = ir_parameter_value(t->b, BASE_I32, is_natural ? 0 : INT32_MIN, INT32_MAX, "n");
                struct ir_value *whole = DO(MUL, is_shift ? DO(SHR, t->n, INT(3)) : DO(DIV, t->n, INT(8)), INT(8));
                struct ir_value *rest =
                    is_shift ? DO(AND, t->n, INT(other ? 15 : 7)) : DO(REM, t->n, INT(other ? 16 : 8));
                t->i = ir_begin_forall(t->b, LEVEL_GRID, LEVEL_THREAD, rest, "i");
                bool is_below = ir_prove(t->b, DO(LT, DO(ADD, whole, t->i), t->n));
                assert_int_equal(is_below, !other && (is_natural || is_shift));
                assert_false(ir_prove(t->b, DO(LT, DO(ADD, whole, DO(ADD, t->i, INT(1))), t->n)));
                ir_end_forall(t->b);
                arena_free(t->arena);
            }
}

/* d * (i + 1) <= n for i < n / d, of a d that is a sum, too. That there is an i says that n is not negative. */
static void divisors_that_are_sums(void **state) {
    (void)state;
    for (int least = 0; least < 2; least++)
        for (int is_sum = 0; is_sum < 2; is_sum++) {
            struct fixture *t = new_fixture();
            t->n = ir_parameter_value(t->b, BASE_I32, INT32_MIN, INT32_MAX, "n");
            t->m = ir_parameter_value(t->b, BASE_I32, least - is_sum, 1000, "m");
            struct ir_value *d = is_sum ? DO(ADD, t->m, INT(1)) : t->m;
            t->i = ir_begin_forall(t->b, LEVEL_GRID, LEVEL_THREAD, DO(DIV, t->n, d), "i");
            assert_int_equal(ir_prove(t->b, DO(LE, INT(1), t->n)), least);
            assert_int_equal(ir_prove(t->b, DO(LE, DO(MUL, d, DO(ADD, t->i, INT(1))), t->n)), least);
            assert_false(ir_prove(t->b, DO(LT, DO(MUL, d, DO(ADD, t->i, INT(1))), t->n)));
            assert_false(ir_prove(t->b, DO(LE, DO(MUL, d, DO(ADD, t->i, INT(2))), t->n)));
            ir_end_forall(t->b);
            arena_free(t->arena);
        }
}

/* n / d * d * m <= n * m, where neither n nor m is negative. */
static void multiples_of_quotients(void **state) {
    (void)state;
    for (int least_n = -1; least_n < 1; least_n++)
        for (int least_m = -1; least_m < 1; least_m++) {
            struct fixture *t = new_fixture();
            t->n = ir_parameter_value(t->b, BASE_I32, least_n, 1000, "n");
            t->m = ir_parameter_value(t->b, BASE_I32, least_m, 1000, "m");
            struct ir_value *d = ir_parameter_value(t->b, BASE_I32, 1, 1000, "d");
            t->i = ir_begin_forall(t->b, LEVEL_GRID, LEVEL_THREAD, INT(64), "i");
            struct ir_value *whole = DO(MUL, DO(MUL, DO(DIV, t->n, d), d), t->m), *all = DO(MUL, t->n, t->m);
            assert_int_equal(ir_prove(t->b, DO(LE, whole, all)), least_n == 0 && least_m == 0);
            assert_false(ir_prove(t->b, DO(LT, whole, all)));
            ir_end_forall(t->b);
            arena_free(t->arena);
        }
}

/* A number that is not negative, shifted down, is no more than it was. */
static void shifts_lessen(void **state) {
    (void)state;
    for (int least = -2; least < 1; least += 2) {
        struct fixture *t = new_fixture();
        t->n = ir_parameter_value(t->b, BASE_I32, least, INT32_MAX, "n");
        struct ir_value *shifted = DO(SHR, t->n, INT(2));
        t->i = ir_begin_forall(t->b, LEVEL_GRID, LEVEL_THREAD, INT(64), "i");
        assert_int_equal(ir_prove(t->b, DO(LE, shifted, t->n)), least == 0);
        assert_false(ir_prove(t->b, DO(LT, shifted, t->n)));
        ir_end_forall(t->b);
        arena_free(t->arena);
    }
}

/* A loop of m turns, or of none in either branch: that it runs tells which. */
static void branches_of_counts(void **state) {
    (void)state;
    for (int other = 0; other < 2; other++)
        for (int is_then = 0; is_then < 2; is_then++)
            for (int is_branch = 0; is_branch < 2; is_branch++) {
                struct fixture *t = new_fixture();
                t->n = ir_parameter_value(t->b, BASE_I32, 0, INT32_MAX, "n");
                t->m = ir_parameter_value(t->b, BASE_I32, 0, INT32_MAX, "m");
                struct ir_value *condition = DO(LT, t->n, INT(5)), *none = INT(other), *count;
                if (is_branch) {
                    ir_begin_if(t->b, condition);
                    ir_else(t->b, is_then ? &t->m : &none, 1);
                    ir_end_if(t->b, is_then ? &none : &t->m, &count, 1, false);
                } else {
                    count = ir_ternary(t->b, OP_SELECT, condition, is_then ? t->m : none, is_then ? none : t->m);
                }
                begin_loops(t, 1, 1);
                t->i = ir_begin_for(t->b, count, NULL, 0, "i");
                assert_int_equal(ir_prove(t->b, DO(LE, INT(5), t->n)), !is_then && !other);
                assert_int_equal(ir_prove(t->b, DO(LT, t->n, INT(5))), is_then && !other);
                assert_int_equal(ir_prove(t->b, DO(LT, t->i, t->m)), !other);
                assert_false(ir_prove(t->b, DO(LE, INT(6), t->n)));
                ir_end_for(t->b, NULL, NULL);
                end_loops(t);
                arena_free(t->arena);
            }
}

/* A chunk is full where it has as many elements, or more and another follows: in both cases it has these. And a panel
   of a matrix has the rows that are left, but for more than 256 of them. */
static void full_chunks_and_panels(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    t->n = ir_parameter_value(t->b, BASE_I32, 0, INT32_MAX, "n");
    t->m = ir_parameter_value(t->b, BASE_I32, 0, INT32_MAX, "m");
    ir_assume(t->b, product_fits(t, t->n, t->n));
    struct ir_value *left = DO(SUB, t->m, INT(5));
    struct ir_value *more = DO(AND, DO(LT, INT(4096), left), DO(NE, t->n, INT(7)));
    ir_begin_if(t->b, DO(OR, DO(EQ, left, INT(4096)), more));
    assert_true(ir_prove(t->b, DO(LE, INT(4101), t->m)));
    assert_false(ir_prove(t->b, DO(LE, INT(4102), t->m)));
    ir_end_only(t->b);
    assert_false(ir_prove(t->b, DO(LE, INT(4101), t->m)));
    struct ir_value *panels = DO(MAX, DO(SHR, DO(ADD, DO(MIN, t->n, INT(1 << 30)), INT(255)), INT(8)), INT(0));
    t->i = ir_begin_forall(t->b, LEVEL_GRID, LEVEL_THREAD, panels, "i");
    struct ir_value *first = DO(MUL, t->i, INT(256)), *rows = DO(MIN, DO(SUB, t->n, first), INT(256));
    t->k = ir_begin_for(t->b, DO(MAX, DO(MUL, rows, INT(16)), INT(0)), NULL, 0, "k");
    struct ir_value *row = DO(ADD, first, DO(SHR, t->k, INT(4)));
    assert_true(ir_prove(t->b, DO(LT, row, t->n)));
    assert_true(ir_prove(t->b, DO(LE, DO(MUL, t->n, row), DO(MUL, t->n, t->n))));
    assert_false(ir_prove(t->b, DO(LT, DO(ADD, row, INT(1)), t->n)));
    assert_false(ir_prove(t->b, DO(LT, DO(ADD, first, DO(SHR, t->k, INT(3))), t->n)));
    end_loops(t);
    arena_free(t->arena);
}

/* Windows of windows: that one has an element tells that each of what it is made of has more. A length that is at least
   1 whatever it is made of tells nothing, nor does one that may have wrapped. */
static void lengths_of_lengths(void **state) {
    (void)state;
    for (int64_t least = 0; least < 2; least++)
        for (int may_wrap = 0; may_wrap < 2; may_wrap++) {
            struct fixture *t = new_fixture();
            t->n = ir_parameter_value(t->b, BASE_I32, may_wrap ? INT32_MIN : 0, INT32_MAX, "n");
            struct ir_value *length = t->n;
            for (int depth = 0; depth < 20; depth++)
                length = DO(MAX, DO(SUB, length, INT(2)), INT(least));
            t->i = ir_begin_forall(t->b, LEVEL_GRID, LEVEL_THREAD, length, "i");
            assert_int_equal(ir_prove(t->b, DO(LT, DO(ADD, t->i, INT(40)), t->n)), !least && !may_wrap);
            assert_int_equal(ir_prove(t->b, DO(LE, INT(41), t->n)), !least && !may_wrap);
            assert_false(ir_prove(t->b, DO(LT, DO(ADD, t->i, INT(41)), t->n)));
            ir_end_forall(t->b);
            assert_false(ir_prove(t->b, DO(LE, INT(41), t->n)));
            arena_free(t->arena);
        }
}

/* n of that range, converted, lies from `first` to `last`: so does n from `least` to `most`, and no nearer. */
static const struct converted {
    enum base from, to;
    int64_t low, high, first, last, least, most;
} converted[] = {
    {BASE_I32, BASE_U32, INT32_MIN, INT32_MAX, 0, 9, 0, 9},
    {BASE_I32, BASE_U32, INT32_MIN, INT32_MAX, 0, INT32_MAX, 0, INT32_MAX},
    {BASE_I32, BASE_U32, INT32_MIN, INT32_MAX, 0, 1LL << 31, INT32_MIN, INT32_MAX}, /* by one too many */
    {BASE_I32, BASE_U32, INT32_MIN, INT32_MAX, 1LL << 31, UINT32_MAX, INT32_MIN, -1},
    {BASE_I32, BASE_U32, INT32_MIN, INT32_MAX, 4294967290, UINT32_MAX, -6, -1},
    {BASE_I32, BASE_U32, -100, 100, 50, 4294967246, -100, 100}, /* of two parts */
    {BASE_I32, BASE_I64, INT32_MIN, INT32_MAX, -3, 1LL << 40, -3, INT32_MAX},
    {BASE_U32, BASE_I32, 0, UINT32_MAX, -6, -1, 4294967290, UINT32_MAX},
    {BASE_U32, BASE_I32, 0, UINT32_MAX, -1, 0, 0, UINT32_MAX},
    {BASE_U32, BASE_I32, 0, INT32_MAX, -1, 7, 0, 7},
    {BASE_I64, BASE_I32, INT64_MIN, INT64_MAX, 0, 9, INT64_MIN, INT64_MAX},
    {BASE_I64, BASE_I32, INT32_MIN, INT32_MAX, 0, 9, 0, 9},
    {BASE_I64, BASE_I32, 1LL << 32, (1LL << 32) + 99, 3, 9, (1LL << 32) + 3, (1LL << 32) + 9},
    {BASE_I64, BASE_I32, 0, 1LL << 32, 0, 9, 0, 1LL << 32},
    {BASE_I64, BASE_I32, 0, (1LL << 32) - 1, 0, 9, 0, 9},
    {BASE_U64, BASE_I64, 0, INT64_MAX, 0, 9, 0, 9}, /* that is, any number */
    {BASE_I64, BASE_U64, INT64_MIN, INT64_MAX, 0, 9, 0, 9},
    {BASE_I32, BASE_U8, 0, 255, 3, 9, 3, 9},
    {BASE_I32, BASE_U8, 0, 259, 3, 9, 0, 259},
    {BASE_I32, BASE_U8, 0, 258, 3, 9, 3, 9},
};

static void conversions_narrow(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof converted / sizeof *converted; i++)
        for (int by_sum = 0; by_sum < 2; by_sum++) {
            const struct converted *c = &converted[i];
            if (by_sum && (c->from != BASE_I32 || c->to != BASE_I64)) /* the sum may wrap */
                continue;
            struct fixture *t = new_fixture();
            struct ir_value *x = ir_parameter_value(t->b, c->from, c->low, c->high, "n");
            struct ir_value *made = ir_convert(t->b, x, c->to);
            struct ir_value *one = constant_of(t, c->to, by_sum);
            ir_begin_if(t->b, DO(LE, constant_of(t, c->to, c->first + by_sum), DO(ADD, made, one)));
            ir_begin_if(t->b, DO(LE, made, constant_of(t, c->to, c->last)));
            bool ends[2] = {c->least > c->low, c->most < c->high};
            assert_true(ir_prove(t->b, DO(LE, constant_of(t, c->from, c->least), x)));
            assert_true(ir_prove(t->b, DO(LE, x, constant_of(t, c->from, c->most))));
            assert_false(ends[0] && ir_prove(t->b, DO(LT, constant_of(t, c->from, c->least), x)));
            assert_false(ends[1] && ir_prove(t->b, DO(LT, x, constant_of(t, c->from, c->most))));
            ir_end_only(t->b);
            ir_end_only(t->b);
            arena_free(t->arena);
        }
}

/* A sum fits where it is no more than a product that is known to fit. Here that wants n to be 32 or more. */
static void sums_below_products(void **state) {
    (void)state;
    for (int is_known = 0; is_known < 2; is_known++)
        for (int64_t least = 31; least < 33; least++) {
            struct fixture *t = new_fixture();
            t->n = ir_parameter_value(t->b, BASE_I32, least, INT32_MAX, "n");
            struct ir_value *all = DO(MUL, t->n, t->n);
            if (is_known)
                ir_assume(t->b, product_fits(t, t->n, t->n));
            begin_loops(t, 32, 8);
            struct ir_value *place = DO(ADD, DO(MUL, t->n, t->i), DO(ADD, DO(SUB, t->n, INT(8)), t->k));
            assert_int_equal(ir_prove(t->b, DO(LT, place, all)), is_known && least == 32);
            assert_int_equal(ir_prove(t->b, DO(LE, INT(0), place)), is_known && least == 32);
            assert_false(ir_prove(t->b, DO(LT, DO(ADD, place, INT(1)), all)));
            /* n is at most 2147483647 / 32 */
            assert_int_equal(ir_prove(t->b, DO(LE, t->n, DO(MUL, t->n, INT(31)))), is_known);
            end_loops(t);
            arena_free(t->arena);
        }
}

/* A multiple that is known to be at most so much tells how much its factor is at most, rounded down, and at least,
   rounded up; one that may have wrapped tells nothing. */
static void factors_of_multiples(void **state) {
    (void)state;
    for (int is_wide = 0; is_wide < 2; is_wide++) {
        struct fixture *t = new_fixture();
        enum base base = is_wide ? BASE_I64 : BASE_I32;
        t->n = ir_parameter_value(t->b, BASE_I32, INT32_MIN, INT32_MAX, "n");
        struct ir_value *multiple =
            DO(ADD, DO(MUL, ir_convert(t->b, t->n, base), constant_of(t, base, 20)), constant_of(t, base, 3));
        begin_loops(t, 1, 1);
        ir_begin_if(t->b, DO(LE, multiple, constant_of(t, base, 1022)));
        assert_int_equal(ir_prove(t->b, DO(LE, t->n, INT(50))), is_wide);
        assert_false(ir_prove(t->b, DO(LE, t->n, INT(49))));
        ir_end_only(t->b);
        ir_begin_if(t->b, DO(LE, constant_of(t, base, -998), multiple));
        assert_int_equal(ir_prove(t->b, DO(LE, INT(-50), t->n)), is_wide);
        assert_false(ir_prove(t->b, DO(LE, INT(-49), t->n)));
        ir_end_only(t->b);
        end_loops(t);
        arena_free(t->arena);
    }
}

/* x % y lies between -y and y if y is at least 1, and is not negative if x is not; nor is x / y then. Orders say how
   large both are, no ranges. */
static void rests_of_any_number(void **state) {
    (void)state;
    for (int least_x = -1; least_x < 1; least_x++)
        for (int least_y = 0; least_y < 2; least_y++) {
            struct fixture *t = new_fixture();
            t->n = ir_parameter_value(t->b, BASE_I32, 0, 1 << 20, "n");
            t->m = ir_parameter_value(t->b, BASE_I32, 0, 1 << 20, "m");
            struct ir_value *base = ir_parameter_value(t->b, BASE_I32, 0, 1 << 20, "base");
            begin_loops(t, 1, 1);
            ir_begin_if(t->b, DO(LE, DO(ADD, base, INT(least_x)), t->n));
            ir_begin_if(t->b, DO(LE, DO(ADD, base, INT(least_y)), t->m));
            struct ir_value *x = DO(SUB, t->n, base), *y = DO(SUB, t->m, base);
            struct ir_value *rest = DO(REM, x, y), *quotient = DO(DIV, x, y);
            assert_int_equal(ir_prove(t->b, DO(LT, rest, y)), least_y == 1);
            assert_int_equal(ir_prove(t->b, DO(LT, INT(0), DO(ADD, rest, y))), least_y == 1);
            assert_int_equal(ir_prove(t->b, DO(LE, INT(0), rest)), least_x == 0 && least_y == 1);
            assert_int_equal(ir_prove(t->b, DO(LE, INT(0), quotient)), least_x == 0 && least_y == 1);
            assert_false(ir_prove(t->b, DO(LT, DO(ADD, rest, INT(1)), y)));
            assert_false(ir_prove(t->b, DO(LT, INT(0), DO(ADD, rest, DO(SUB, y, INT(1))))));
            assert_false(ir_prove(t->b, DO(LT, INT(0), quotient)));
            ir_end_only(t->b);
            ir_end_only(t->b);
            end_loops(t);
            arena_free(t->arena);
        }
}

/* A loop runs where 0 is less than the least of n and a product: so n and the factors are at least 1. Where 0 may be as
   much, nothing is known; nor of factors that may be negative, whose product may be positive. */
static void conditions_of_counts(void **state) {
    (void)state;
    for (int is_strict = 0; is_strict < 2; is_strict++)
        for (int least = -1; least < 1; least++) {
            struct fixture *t = new_fixture();
            t->n = ir_parameter_value(t->b, BASE_I32, least, INT32_MAX, "n");
            t->m = ir_parameter_value(t->b, BASE_I32, least, INT32_MAX, "m");
            struct ir_value *k = ir_parameter_value(t->b, BASE_I32, least, INT32_MAX, "k");
            struct ir_value *smaller = DO(MIN, t->n, DO(MUL, k, DO(MUL, t->n, t->m)));
            struct ir_value *runs = is_strict ? DO(LT, INT(0), smaller) : DO(LE, INT(0), smaller);
            struct ir_value *count = ir_ternary(t->b, OP_SELECT, runs, DO(ADD, DO(SHR, t->n, INT(3)), INT(1)), INT(0));
            t->i = ir_begin_forall(t->b, LEVEL_GRID, LEVEL_THREAD, count, "i");
            assert_int_equal(ir_prove(t->b, DO(LE, INT(1), t->n)), is_strict);
            assert_int_equal(ir_prove(t->b, DO(LE, INT(1), t->m)), is_strict && least == 0);
            assert_int_equal(ir_prove(t->b, DO(LE, INT(1), k)), is_strict && least == 0);
            assert_false(ir_prove(t->b, DO(LE, INT(2), t->n)));
            ir_end_forall(t->b);
            assert_false(ir_prove(t->b, DO(LE, INT(1), t->n)));
            arena_free(t->arena);
        }
}

/* A branch tells what was asked in it where a flag that it gives has a truth that the other branch does not give; it
   also tells its condition. */
static void flags_of_branches(void **state) {
    (void)state;
    for (int other = 0; other < 2; other++)
        for (int truth = 0; truth < 2; truth++)
            for (int is_count = 0; is_count < 2; is_count++) {
                struct fixture *t = new_fixture();
                t->n = ir_parameter_value(t->b, BASE_I32, 0, 1000, "n");
                t->m = ir_parameter_value(t->b, BASE_I32, 0, INT32_MAX, "m");
                struct ir_value *flag, *none = ir_bool(t->b, truth == other);
                ir_begin_if(t->b, DO(LT, t->n, INT(5)));
                ir_assume(t->b, DO(LE, t->m, DO(ADD, t->n, INT(90))));
                ir_store(t->b, t->out, INT(0), t->n); /* so that it stays a branch */
                struct ir_value *given = DO(LT, INT(7), t->m);
                ir_else(t->b, &given, 1);
                ir_end_if(t->b, &none, &flag, 1, false);
                struct ir_value *condition = truth ? flag : ir_unary(t->b, OP_NOT, flag);
                if (is_count) {
                    struct ir_value *count = ir_ternary(t->b, OP_SELECT, condition, t->n, INT(0));
                    t->i = ir_begin_forall(t->b, LEVEL_GRID, LEVEL_THREAD, count, "i");
                } else {
                    ir_begin_if(t->b, condition);
                }
                struct ir_value *bound = DO(ADD, t->n, INT(90));
                assert_int_equal(ir_prove(t->b, DO(LT, t->n, INT(5))), !other);
                assert_int_equal(ir_prove(t->b, DO(LE, t->m, bound)), !other);
                assert_int_equal(ir_prove(t->b, DO(LT, INT(7), t->m)), !other && truth);
                assert_int_equal(ir_prove(t->b, DO(LE, t->m, INT(7))), !other && !truth);
                assert_false(truth && ir_prove(t->b, DO(LT, t->m, bound)));
                if (is_count)
                    ir_end_forall(t->b);
                else
                    ir_end_only(t->b);
                assert_false(ir_prove(t->b, DO(LE, t->m, bound)));
                arena_free(t->arena);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_chunks_and_panels), cmocka_unit_test(proofs_hold),
        cmocka_unit_test(places_are_told_apart),  cmocka_unit_test(index_functions),
        cmocka_unit_test(remainders_bound),       cmocka_unit_test(proofs_with_products_hold),
        cmocka_unit_test(places_in_matrices),     cmocka_unit_test(chunks_of_any_size),
        cmocka_unit_test(proofs_of_chunks_hold),  cmocka_unit_test(panels_of_rows),
        cmocka_unit_test(branches_of_counts),     cmocka_unit_test(rests_of_quotients),
        cmocka_unit_test(conditions_of_branches), cmocka_unit_test(lengths_of_lengths),
        cmocka_unit_test(conversions_narrow),     cmocka_unit_test(rests_and_wholes),
        cmocka_unit_test(divisors_that_are_sums), cmocka_unit_test(multiples_of_quotients),
        cmocka_unit_test(shifts_lessen),          cmocka_unit_test(sums_below_products),
        cmocka_unit_test(factors_of_multiples),   cmocka_unit_test(rests_of_any_number),
        cmocka_unit_test(conditions_of_counts),   cmocka_unit_test(flags_of_branches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
