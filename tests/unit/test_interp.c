/* The interpreter on core terms built by hand: what each array operation means, and the errors of each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/interp.h"

struct fixture {
    struct arena *arena;
    struct sources *sources;
    struct diagnostics *diagnostics;
    struct core_local xs, i, j;
};

static int set_up(void **state) {
    struct arena *arena = arena_new();
    struct fixture *f = ARENA_NEW(arena, struct fixture);
    f->arena = arena;
    f->sources = sources_new(arena);
    f->diagnostics = diagnostics_new(arena, f->sources);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    arena_free(((struct fixture *)*state)->arena);
    return 0;
}

/* ---- building terms ---- */

static struct type *ints(struct fixture *f, enum type_kind kind) {
    struct type *base = ARENA_NEW(f->arena, struct type), *type = ARENA_NEW(f->arena, struct type);
    base->kind = TYPE_BASE;
    base->base = BASE_I32;
    type->kind = kind;
    type->array.element = base;
    type->array.level = ARENA_NEW(f->arena, struct level);
    return kind == TYPE_BASE ? base : type;
}

static struct core *node(struct fixture *f, enum core_kind kind) {
    struct core *core = ARENA_NEW(f->arena, struct core);
    core->kind = kind;
    return core;
}

static struct core *number(struct fixture *f, int64_t value) {
    struct core *core = node(f, CORE_LITERAL);
    core->type = ints(f, TYPE_BASE);
    core->literal.magnitude = (uint64_t)value;
    return core;
}

static struct core *local(struct fixture *f, const struct core_local *name) {
    struct core *core = node(f, CORE_LOCAL);
    core->local.local = name;
    return core;
}

static struct core *lambda(struct fixture *f, const struct core_local *name, struct core *body) {
    struct core *core = node(f, CORE_LAMBDA);
    core->lambda.parameter = name;
    core->lambda.body = body;
    return core;
}

static struct core *primitive(struct fixture *f, enum primitive which) {
    struct core *core = node(f, CORE_PRIMITIVE);
    core->primitive.primitive = which;
    return core;
}

static struct core *apply(struct fixture *f, struct core *function, struct core *argument) {
    struct core *core = node(f, CORE_APPLY);
    core->apply.function = function;
    core->apply.argument = argument;
    return core;
}

static struct core *call(struct fixture *f, enum primitive which, struct core *a, struct core *b, struct core *c) {
    struct core *core = apply(f, primitive(f, which), a);
    core = b ? apply(f, core, b) : core;
    return c ? apply(f, core, c) : core;
}

static struct core *select_item(struct fixture *f, struct core *tuple, size_t index) {
    struct core *core = node(f, CORE_SELECT);
    core->select.tuple = tuple;
    core->select.index = index;
    return core;
}

static struct core *list(struct fixture *f, size_t count, struct core **items) {
    struct core *core = node(f, CORE_LIST);
    core->sequence.items = ARENA_ARRAY(f->arena, struct core *, count);
    memcpy(core->sequence.items, items, count * sizeof *items);
    core->sequence.count = count;
    return core;
}

static struct core *pair(struct fixture *f, struct core *a, struct core *b) {
    struct core *items[] = {a, b};
    struct core *core = list(f, 2, items);
    core->kind = CORE_TUPLE;
    return core;
}

#define L(name) local(f, &f->name)
#define N(value) number(f, value)
#define CALL1(id, a) call(f, PRIM_##id, a, NULL, NULL)
#define CALL2(id, a, b) call(f, PRIM_##id, a, b, NULL)
#define CALL3(id, a, b, c) call(f, PRIM_##id, a, b, c)

/* n … n + length - 1 as a push array */
static struct core *counted(struct fixture *f, int64_t first, struct core *length) {
    return CALL1(PUSH, CALL2(GENERATE, length, lambda(f, &f->i, CALL2(ADD, L(i), N(first)))));
}

/* Runs `fn xs => body` on an array; the printed result, or the messages. */
static const char *run(struct fixture *f, struct core *body, enum type_kind result, int64_t length,
                       const struct interp_options *options) {
    struct type *arrow = ARENA_NEW(f->arena, struct type);
    arrow->kind = TYPE_ARROW;
    arrow->arrow.from = ints(f, TYPE_PULL);
    arrow->arrow.to = ints(f, result);
    struct scheme scheme = {.type = arrow};
    struct symbols *symbols = symbols_new(f->arena);
    struct core_global kernel = {.kind = GLOBAL_KERNEL,
                                 .name = symbol_of(symbols, "k"),
                                 .scheme = &scheme,
                                 .body = lambda(f, &f->xs, body),
                                 .parameter_count = 1};
    struct core_global *globals[] = {&kernel};
    struct program program = {.globals = {globals, 1, 1}};
    struct host_value *argument = value_array(f->arena, arrow->arrow.from->array.element, 1, &length), *got;
    value_fill_iota(argument);
    struct interp_options usual = {.block_size = 256, .warp_size = 32, .grid_size = 4};
    if (interp_run(f->arena, &program, &kernel, &argument, 1, options ? options : &usual, &got, f->diagnostics)) {
        struct text text;
        text_init(&text, f->arena);
        value_print(&text, got, 16);
        return text_string(&text);
    }
    char *buffer = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&buffer, &size);
    diag_print_text(f->diagnostics, file, false, 0);
    fclose(file);
    const char *copy = arena_strndup(f->arena, buffer, size);
    free(buffer);
    return copy;
}

#define assert_runs(expected, body, kind, length) assert_string_equal(run(f, body, kind, length, NULL), expected)
#define assert_fails(part, body, kind, length) assert_non_null(strstr(run(f, body, kind, length, NULL), part))

/* ---- tests ---- */

static void test_pull(void **state) {
    struct fixture *f = *state;
    struct core *twice = lambda(f, &f->j, CALL2(MUL, L(j), N(2)));
    assert_runs("[0,2,4]", CALL2(MAP, twice, L(xs)), TYPE_PULL, 3);
    assert_runs("3", CALL1(LENGTH, CALL2(MAP, twice, L(xs))), TYPE_BASE, 3);
    assert_runs("4", CALL2(INDEX, CALL2(MAP, twice, L(xs)), N(2)), TYPE_BASE, 3);
    assert_runs("10", CALL3(FOLDL, primitive(f, PRIM_ADD), N(0), L(xs)), TYPE_BASE, 5);
    assert_runs("[0,2,4]", apply(f, apply(f, primitive(f, PRIM_MAP), twice), CALL1(FORCE, CALL1(PUSH, L(xs)))),
                TYPE_PULL, 3);
    assert_runs("16",
                CALL3(LOOP, lambda(f, &f->i, CALL2(LT, L(i), N(10))), lambda(f, &f->i, CALL2(MUL, L(i), N(2))), N(1)),
                TYPE_BASE, 0);
}

static void test_push(void **state) {
    struct fixture *f = *state;
    struct core *three = counted(f, 10, N(3));
    assert_runs("[10,11,12]", three, TYPE_PUSH, 0);
    assert_runs("[]", CALL1(PUSH, L(xs)), TYPE_PUSH, 0);
    assert_runs("[20,22,24]", CALL2(MAP_PUSH, lambda(f, &f->j, CALL2(MUL, L(j), N(2))), three), TYPE_PUSH, 0);
    assert_runs("[10,12,14]", CALL2(MAP_PUSH_IX, primitive(f, PRIM_ADD), three), TYPE_PUSH, 0);
    assert_runs("[10,11,12,0,1]", CALL2(APPEND, three, CALL1(PUSH, L(xs))), TYPE_PUSH, 2);
    assert_runs("[12,11,10]", CALL2(PERMUTE, lambda(f, &f->j, CALL2(SUB, N(2), L(j))), three), TYPE_PUSH, 0);
    struct core *halve = lambda(f, &f->j, counted(f, 0, CALL2(DIV, CALL1(LENGTH, L(j)), N(2))));
    struct core *more = lambda(f, &f->j, CALL2(GT, CALL1(LENGTH, L(j)), N(2)));
    assert_runs("[0,1]", CALL3(WHILE, more, halve, CALL1(PUSH, L(xs))), TYPE_PULL, 9);
    struct core *add =
        lambda(f, &f->i, lambda(f, &f->j, CALL1(PUSH, CALL2(MAP, apply(f, primitive(f, PRIM_ADD), L(i)), L(j)))));
    assert_runs("[3,4]", CALL3(POWER, N(3), add, CALL1(PUSH, L(xs))), TYPE_PULL, 2);
}

/* Chunk j is 10 * j …, and has as many elements as xs[j]. */
static struct core *chunks(struct fixture *f) {
    struct core *chunk = CALL1(
        PUSH, CALL2(GENERATE, CALL2(INDEX, L(xs), L(j)), lambda(f, &f->i, CALL2(ADD, CALL2(MUL, L(j), N(10)), L(i)))));
    return CALL2(GENERATE, CALL1(LENGTH, L(xs)), lambda(f, &f->j, chunk));
}

static void test_concat(void **state) {
    struct fixture *f = *state;
    struct core *items[] = {counted(f, 1, N(2)), counted(f, 5, N(2)), counted(f, 9, N(1))};
    struct core *ragged = list(f, 3, items), *full = list(f, 2, items);
    assert_runs("[1,2,5,6,9]", CALL2(CONCAT, N(2), ragged), TYPE_PUSH, 0);
    assert_runs("5", CALL1(LENGTH_PUSH, CALL2(CONCAT, N(2), ragged)), TYPE_BASE, 0);
    assert_runs("[]", CALL2(CONCAT, N(8), chunks(f)), TYPE_PUSH, 0);
    assert_runs("[]", CALL2(CONCAT, N(8), chunks(f)), TYPE_PUSH, 1);
    struct core *across =
        lambda(f, &f->j, CALL2(ADD, CALL2(MUL, select_item(f, L(j), 1), N(2)), select_item(f, L(j), 0)));
    assert_runs("[1,5,2,6]", CALL3(INTERLEAVE, N(2), across, full), TYPE_PUSH, 0);
    assert_runs("[1,5,2]", CALL3(INTERLEAVE_INTO, N(3), across, full), TYPE_PUSH, 0);
    assert_fails("a chunk has 2 elements, and 3 are wanted", CALL2(CONCAT, N(3), ragged), TYPE_PUSH, 0);
    assert_fails("a chunk has 1 element, and 2 are wanted", CALL3(INTERLEAVE, N(2), across, ragged), TYPE_PUSH, 0);
}

static void test_schemes(void **state) {
    struct fixture *f = *state;
    struct core *swap[] = {pair(f, L(j), CALL2(ADD, L(j), N(1))), pair(f, CALL2(ADD, L(j), N(1)), L(j))};
    struct core *swaps = lambda(f, &f->j, list(f, 2, swap));
    assert_runs("[1,0]", CALL3(PUSH_EACH, N(2), N(1), swaps), TYPE_PUSH, 0);
    assert_runs("[]", CALL3(PUSH_EACH, N(0), N(0), swaps), TYPE_PUSH, 0);
    assert_fails("place 2 of 3 is never written", CALL3(PUSH_EACH, N(3), N(1), swaps), TYPE_PUSH, 0);
    assert_fails("place 1 is written twice", CALL3(PUSH_EACH, N(3), N(2), swaps), TYPE_PUSH, 0);
    assert_fails("place 1 is written, and the array has 1 element", CALL3(PUSH_EACH, N(1), N(1), swaps), TYPE_PUSH, 0);
    struct core *twice_and = lambda(f, &f->i, lambda(f, &f->j, CALL2(ADD, CALL2(MUL, L(i), N(2)), L(j))));
    struct core *ones = CALL2(GENERATE, N(4), lambda(f, &f->j, N(1)));
    assert_runs("[1,3,7,15]", CALL3(SCANL, twice_and, N(0), ones), TYPE_PUSH, 0);
    struct core *count = lambda(f, &f->i, lambda(f, &f->j, CALL2(ADD, L(i), CALL1(LENGTH, L(j)))));
    assert_runs("[0,2,4]", CALL2(SEQFOR, N(3), count), TYPE_PUSH, 0);
    struct core *ahead = lambda(f, &f->i, lambda(f, &f->j, CALL2(INDEX, L(j), L(i))));
    assert_fails("index 0 is out of range: the array has 0 elements", CALL2(SEQFOR, N(3), ahead), TYPE_PUSH, 0);
    struct core *writes[] = {pair(f, N(2), N(7)), pair(f, N(5), N(8)), pair(f, N(2), N(9))};
    assert_runs("[1,1,9,1]", CALL2(SCATTER, ones, list(f, 3, writes)), TYPE_PUSH, 0);
    assert_runs("[1,1]", CALL2(SHUFFLE_XOR, N(1), CALL1(PUSH, CALL2(GENERATE, N(2), lambda(f, &f->j, N(1))))),
                TYPE_PUSH, 0);
    assert_runs("[0,0,1]", CALL2(SHUFFLE_UP, N(1), counted(f, 0, N(3))), TYPE_PUSH, 0);
    assert_runs("[1,2,2]", CALL2(SHUFFLE_DOWN, N(1), counted(f, 0, N(3))), TYPE_PUSH, 0);
}

static void test_errors(void **state) {
    struct fixture *f = *state;
    assert_fails("index 7 is out of range: the array has 3 elements", CALL2(INDEX, L(xs), N(7)), TYPE_BASE, 3);
    assert_fails("the length is negative: -1", CALL1(PUSH, CALL2(GENERATE, CALL1(NEG, N(1)), primitive(f, PRIM_NEG))),
                 TYPE_PUSH, 3);
    assert_fails("place 1 is written twice", CALL2(PERMUTE, lambda(f, &f->j, N(1)), CALL1(PUSH, L(xs))), TYPE_PUSH, 3);
    assert_fails("the index function gives 3",
                 CALL2(PERMUTE, lambda(f, &f->j, CALL2(ADD, L(j), N(1))), CALL1(PUSH, L(xs))), TYPE_PUSH, 3);
    struct core *none[] = {counted(f, 0, N(1))};
    struct core *to_one = lambda(f, &f->j, N(1));
    assert_fails("place 0 of 2 is never written", CALL3(INTERLEAVE_INTO, N(2), to_one, list(f, 1, none)), TYPE_PUSH, 3);
}

static void test_limits(void **state) {
    struct fixture *f = *state;
    struct interp_options options = {.fuel = 10000};
    struct core *always = lambda(f, &f->j, CALL2(GE, N(1), N(0)));
    struct core *same = lambda(f, &f->j, L(j)), *next = lambda(f, &f->j, CALL2(ADD, L(j), N(1)));
    const char *endless = run(f, CALL3(LOOP, always, next, N(0)), TYPE_BASE, 0, &options);
    assert_non_null(strstr(endless, "gave up after 10000 steps"));
    assert_fails("its state repeats with a period of 1", CALL3(LOOP, always, same, N(0)), TYPE_BASE, 0);
    struct core *omega = lambda(f, &f->j, apply(f, L(j), L(j)));
    assert_fails("the recursion does not end", apply(f, omega, omega), TYPE_BASE, 0);
}

/* Nothing is left behind by an element, or this would need gigabytes. */
static void test_a_million_elements(void **state) {
    struct fixture *f = *state;
    struct core *work = lambda(
        f, &f->j,
        CALL3(FOLDL, primitive(f, PRIM_ADD), L(j), CALL2(GENERATE, N(3), lambda(f, &f->i, CALL2(MUL, L(i), L(j))))));
    const char *got = run(f, CALL1(PUSH, CALL2(MAP, work, L(xs))), TYPE_PUSH, 1000003, NULL);
    assert_non_null(strstr(got, "[0,4,8,12,"));
    assert_non_null(strstr(got, "1000003 elements]"));
}

/* `force` of a push array, with a type that says that it is called at this level. */
static struct core *forced_at(struct fixture *f, enum level_value ambient, struct core *push) {
    struct core *core = CALL1(FORCE, push);
    struct type *arrow = ARENA_NEW(f->arena, struct type);
    arrow->kind = TYPE_ARROW;
    arrow->arrow.from = arrow->arrow.to = ints(f, TYPE_PULL);
    arrow->arrow.ambient = ARENA_NEW(f->arena, struct level);
    arrow->arrow.ambient->value = ambient;
    core->apply.function->type = arrow;
    return core;
}

/* The place of a call is compared with its types' word: a grid's kernel, an element, a chunk of a block. */
static void test_places(void **state) {
    struct fixture *f = *state;
    assert_runs("[0,1]", forced_at(f, LEVEL_GRID, CALL1(PUSH, L(xs))), TYPE_PULL, 2);
    assert_runs("[0,1]", forced_at(f, LEVEL_PURE, CALL1(PUSH, L(xs))), TYPE_PULL, 2);
    assert_fails("error[E0000]: what is called here runs at block, and the place is at grid",
                 forced_at(f, LEVEL_BLOCK, CALL1(PUSH, L(xs))), TYPE_PULL, 2);

    struct core *own = CALL2(INDEX, forced_at(f, LEVEL_THREAD, CALL1(PUSH, L(xs))), L(j));
    assert_runs("[0,1]", forced_at(f, LEVEL_GRID, CALL1(PUSH, CALL2(MAP, lambda(f, &f->j, own), L(xs)))), TYPE_PULL, 2);
    struct core *wrong = CALL2(INDEX, forced_at(f, LEVEL_GRID, CALL1(PUSH, L(xs))), L(j));
    assert_fails("runs at grid, and the place is at thread", CALL1(PUSH, CALL2(MAP, lambda(f, &f->j, wrong), L(xs))),
                 TYPE_PULL, 2);

    for (enum level_value level = LEVEL_WARP; level <= LEVEL_BLOCK; level++) {
        struct core *chunk = CALL1(PUSH, forced_at(f, level, CALL1(PUSH, L(xs))));
        struct core *concat = CALL2(CONCAT, N(2), list(f, 1, &chunk));
        static struct level block = {.value = LEVEL_BLOCK};
        static struct level *levels[] = {&block};
        concat->apply.function->apply.function->primitive.instance.levels = levels;
        if (level == LEVEL_BLOCK)
            assert_runs("[0,1]", concat, TYPE_PUSH, 2);
        else
            assert_fails("runs at warp, and the place is at block", concat, TYPE_PUSH, 2);
    }
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_pull),
        TEST(test_push),
        TEST(test_concat),
        TEST(test_schemes),
        TEST(test_errors),
        TEST(test_limits),
        TEST(test_a_million_elements),
        TEST(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
