/* The checker: levels, unification, schemes as they print, and the types and errors of small programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "syntax/syntax.h"
#include "types/checker.h"

struct fixture {
    struct arena *arena;
    struct checker checker;
};

/* A checker without a program: enough for terms and types. */
static int set_up(void **state) {
    struct arena *arena = arena_new();
    struct fixture *f = ARENA_NEW(arena, struct fixture);
    struct checker *c = &f->checker;
    f->arena = arena;
    c->arena = arena;
    c->symbols = symbols_new(arena);
    c->diagnostics = diagnostics_new(arena, sources_new(arena));
    for (int i = 0; i < BASE_COUNT; i++) {
        c->base_types[i] = ARENA_NEW(arena, struct type);
        *c->base_types[i] = (struct type){.kind = TYPE_BASE, .is_settled = true, .base = (enum base)i};
    }
    for (int i = 0; i < LEVEL_VALUE_COUNT; i++) {
        c->constants[i] = ARENA_NEW(arena, struct level);
        c->constants[i]->value = (enum level_value)i;
    }
    c->locals = map_new(arena);
    c->depth = 1;
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    arena_free(((struct fixture *)*state)->arena);
    return 0;
}

static struct checker *checker_of(void **state) { return &((struct fixture *)*state)->checker; }

static const struct span nowhere = {0, 0};

static size_t errors(const struct checker *c) { return diag_error_count(c->diagnostics); }

static uint8_t domain_of(const struct level *level) { return level_domain(level_view(level)); }

enum { THREAD = 1 << LEVEL_THREAD, WARP = 1 << LEVEL_WARP, BLOCK = 1 << LEVEL_BLOCK, GRID = 1 << LEVEL_GRID };

/* ---- levels ---- */

static void test_level_equality(void **state) {
    struct checker *c = checker_of(state);
    struct level *a = level_fresh(c, DOMAIN_PROPER), *b = level_fresh(c, DOMAIN_PROPER);
    assert_true(level_unify(c, level_shifted(c, level_view(a), 1), b, NULL));
    assert_int_equal(domain_of(b), WARP | BLOCK | GRID);
    assert_true(level_unify(c, b, c->constants[LEVEL_GRID], NULL));
    assert_int_equal(domain_of(a), BLOCK);
    assert_false(level_unify(c, a, c->constants[LEVEL_WARP], NULL));
    assert_int_equal(c->failure.why, FAILED_LEVEL);
}

static void test_level_successor_of_itself(void **state) {
    struct checker *c = checker_of(state);
    struct level *a = level_fresh(c, DOMAIN_PROPER);
    assert_false(level_unify(c, a, level_shifted(c, level_view(a), 1), NULL));
    assert_null(level_shifted(c, level_view(c->constants[LEVEL_GRID]), 1));
}

static void test_rigid_level(void **state) {
    struct checker *c = checker_of(state);
    struct level *l = level_rigid(c, symbol_of(c->symbols, "l"), nowhere);
    struct level *m = level_rigid(c, symbol_of(c->symbols, "m"), nowhere);
    assert_false(level_unify(c, l, c->constants[LEVEL_BLOCK], NULL));
    assert_int_equal(c->failure.why, FAILED_PROMISE);
    assert_false(level_unify(c, l, m, NULL));
    struct level *a = level_fresh(c, DOMAIN_AMBIENT);
    assert_true(level_unify(c, l, a, NULL));
    assert_ptr_equal(level_view(a).variable, l->variable);
    level_require(c, LEVEL_BELOW, l, m, nowhere, NULL);
    assert_int_equal(errors(c), 0);
    assert_int_equal(domain_of(l), THREAD | WARP | BLOCK);
}

static void test_below_is_propagated(void **state) {
    struct checker *c = checker_of(state);
    struct level *l[5];
    for (int i = 0; i < 5; i++)
        l[i] = level_fresh(c, DOMAIN_PROPER);
    for (int i = 0; i + 1 < 4; i++)
        level_require(c, LEVEL_BELOW, l[i], l[i + 1], nowhere, NULL);
    level_propagate(c, 0);
    for (int i = 0; i < 4; i++) /* four in a row leave one choice */
        assert_int_equal(domain_of(l[i]), 1 << (LEVEL_THREAD + i));
    assert_int_equal(c->pending.count, 0);
    assert_int_equal(errors(c), 0);
    level_require(c, LEVEL_BELOW, l[3], l[4], nowhere, NULL);
    assert_int_equal(errors(c), 1);
}

static void test_fits(void **state) {
    struct checker *c = checker_of(state);
    struct level *a = level_fresh(c, DOMAIN_AMBIENT), *b = level_fresh(c, DOMAIN_AMBIENT);
    struct level *d = level_fresh(c, DOMAIN_AMBIENT);
    level_require(c, LEVEL_FITS, a, b, nowhere, NULL);
    level_require(c, LEVEL_FITS, b, d, nowhere, NULL);
    level_require(c, LEVEL_FITS, d, c->constants[LEVEL_THREAD], nowhere, NULL);
    level_propagate(c, 0);
    assert_int_equal(domain_of(a), DOMAIN_PURE | THREAD);
    level_require(c, LEVEL_FITS, c->constants[LEVEL_PURE], a, nowhere, NULL);
    assert_int_equal(domain_of(a), DOMAIN_PURE | THREAD);
    level_require(c, LEVEL_FITS, c->constants[LEVEL_THREAD], a, nowhere, NULL);
    level_propagate(c, 0);
    assert_int_equal(domain_of(d), THREAD); /* a is thread, so are those it must fit */
    assert_int_equal(errors(c), 0);
    level_require(c, LEVEL_FITS, c->constants[LEVEL_BLOCK], d, nowhere, NULL);
    assert_int_equal(errors(c), 1);
}

static void test_pure_passes_down(void **state) {
    struct checker *c = checker_of(state);
    struct level *a = level_fresh(c, DOMAIN_AMBIENT), *b = level_fresh(c, DOMAIN_AMBIENT);
    level_require(c, LEVEL_FITS, a, b, nowhere, NULL);
    assert_true(level_unify(c, b, c->constants[LEVEL_PURE], NULL));
    level_propagate(c, 0);
    assert_int_equal(domain_of(a), DOMAIN_PURE);
}

/* ---- types ---- */

static struct type *fresh(struct checker *c) { return type_fresh(c, KIND_TYP, 0, nowhere); }

static void test_unify_variables(void **state) {
    struct checker *c = checker_of(state);
    struct type *a = fresh(c), *b = fresh(c);
    struct type *f = type_arrow(c, a, b, c->constants[LEVEL_PURE]);
    struct type *g = type_arrow(c, b, c->base_types[BASE_I32], c->constants[LEVEL_PURE]);
    assert_true(unify(c, f, g));
    assert_ptr_equal(type_resolve(a), c->base_types[BASE_I32]);
    assert_string_equal(type_text(c, f), "int -> int");
}

static void test_occurs(void **state) {
    struct checker *c = checker_of(state);
    struct type *a = fresh(c);
    assert_false(unify(c, a, type_pull(c, a, c->constants[LEVEL_PURE])));
    assert_int_equal(c->failure.why, FAILED_OCCURS);
    assert_true(unify(c, a, a));
}

static void test_kinds(void **state) {
    struct checker *c = checker_of(state);
    struct type *element = fresh(c);
    assert_true(type_require(c, element, KIND_BT, 0));
    assert_false(unify(c, element, type_pull(c, c->base_types[BASE_I32], c->constants[LEVEL_PURE])));
    assert_int_equal(c->failure.why, FAILED_KIND);
    struct type *items[2] = {c->base_types[BASE_I32], c->base_types[BASE_BOOL]};
    assert_true(unify(c, element, type_tuple(c, items, 2)));
    struct type *ground = type_fresh(c, KIND_GT, 0, nowhere);
    assert_false(unify(c, ground, type_arrow(c, items[0], items[1], c->constants[LEVEL_PURE])));
}

static void test_classes(void **state) {
    struct checker *c = checker_of(state);
    struct type *number = type_fresh(c, KIND_TYP, CLASS_NUM, nowhere);
    assert_false(unify(c, number, c->base_types[BASE_BOOL]));
    assert_int_equal(c->failure.why, FAILED_CLASS);
    struct type *integral = type_fresh(c, KIND_TYP, CLASS_INTEGRAL, nowhere);
    assert_true(unify(c, number, integral));
    assert_false(unify(c, number, c->base_types[BASE_F32]));
    assert_true(unify(c, number, c->base_types[BASE_U8]));
    struct type *items[2] = {fresh(c), c->base_types[BASE_I32]};
    struct type *pair = type_tuple(c, items, 2);
    assert_true(type_require(c, pair, KIND_TYP, CLASS_EQ));
    assert_int_equal(items[0]->variable->classes, CLASS_EQ);
    assert_true(type_require(c, pair, KIND_TYP, CLASS_ORD));
    assert_int_equal(items[0]->variable->classes, CLASS_EQ | CLASS_ORD);
    assert_false(type_require(c, pair, KIND_SCALAR, CLASS_ORD));
    assert_false(type_require(c, pair, KIND_TYP, CLASS_NUM));
}

static void test_subsume_lets_ambients_fit(void **state) {
    struct checker *c = checker_of(state);
    struct level *thread = c->constants[LEVEL_THREAD], *pure = c->constants[LEVEL_PURE];
    struct type *i = c->base_types[BASE_I32];
    assert_true(subsume(c, type_pull(c, i, pure), type_pull(c, i, thread)));
    assert_int_equal(errors(c), 0);
    assert_true(subsume(c, type_pull(c, i, thread), type_pull(c, i, pure)));
    assert_int_equal(errors(c), 1); /* reported where it is found */
    /* A function that takes pure elements only cannot stand for one that is given others. */
    struct type *takes_pure = type_arrow(c, type_pull(c, i, pure), i, pure);
    struct type *takes_thread = type_arrow(c, type_pull(c, i, thread), i, pure);
    assert_true(subsume(c, takes_thread, takes_pure));
    assert_int_equal(errors(c), 1);
    assert_true(subsume(c, takes_pure, takes_thread));
    assert_int_equal(errors(c), 2);
}

/* ---- schemes ---- */

static const char *primitive_text(struct checker *c, enum primitive primitive) {
    struct text text;
    text_init(&text, c->arena);
    scheme_print(&text, primitive_scheme(c, primitive), false);
    return text_string(&text);
}

static void test_primitive_schemes(void **state) {
    struct checker *c = checker_of(state);
    assert_string_equal(primitive_text(c, PRIM_CONCAT), "int -> [[a]<l>] -> [a]<m>  where l < m");
    assert_string_equal(primitive_text(c, PRIM_PUSH), "<l> -> [a] -> [a]<l>");
    assert_string_equal(primitive_text(c, PRIM_COMPOSE), "(a -> b) -> (c -> a) -> c -> b");
    assert_string_equal(primitive_text(c, PRIM_REM), "integral a => a -> a -> a");
    assert_string_equal(primitive_text(c, PRIM_FST), "(a, b) -> a");
    for (int i = 0; i < PRIM_COUNT; i++) /* every row of the table can be read */
        assert_non_null(primitive_scheme(c, (enum primitive)i)->type);
}

/* ---- programs ---- */

struct checked {
    struct arena *arena;
    struct program *program;
    struct diagnostics *diagnostics;
    struct param_setting settings[1];
};

static struct checked check_with(const char *text, const char *name, const char *value) {
    struct checked k = {.arena = arena_new()};
    struct sources *sources = sources_new(k.arena);
    struct symbols *symbols = symbols_new(k.arena);
    k.diagnostics = diagnostics_new(k.arena, sources);
    const struct source *source = source_add(sources, "test.fcl", text, strlen(text));
    struct module module = {.file = syntax_parse(k.arena, symbols, source, k.diagnostics)};
    const struct module *modules[] = {&module};
    struct param_setting settings[1] = {{.name = name, .value = value}};
    k.program = types_check(k.arena, symbols, modules, 1, settings, name ? 1 : 0, NULL, NULL, k.diagnostics);
    k.settings[0] = settings[0];
    return k;
}

static struct checked check(const char *text) { return check_with(text, NULL, NULL); }

/* The last definition's type. */
static void assert_type(const char *program, const char *expected) {
    struct checked k = check(program);
    if (diag_error_count(k.diagnostics))
        diag_print_text(k.diagnostics, stderr, false, 0);
    assert_int_equal(diag_error_count(k.diagnostics), 0);
    struct text text;
    text_init(&text, k.arena);
    scheme_print(&text, k.program->globals.at[k.program->globals.count - 1]->scheme, false);
    assert_string_equal(text_string(&text), expected);
    arena_free(k.arena);
}

static void assert_errors(const char *program, size_t count) {
    struct checked k = check(program);
    if (diag_error_count(k.diagnostics) != count)
        diag_print_text(k.diagnostics, stderr, false, 0);
    assert_int_equal(diag_error_count(k.diagnostics), count);
    arena_free(k.arena);
}

static void test_principal_types(void **state) {
    (void)state;
    assert_type("fun first arr = arr ! 0 + 0", "num a => [a] -> a");
    assert_type("fun f x y = (x, y)", "a -> b -> (a, b)");
    assert_type("fun f x y = x == y", "eq a => a -> a -> bool");
    assert_type("fun f x y = if x < y then x + y else y", "num a => a -> a -> a");
    assert_type("fun f n xs = concat n (map (push <thread>) xs)", "int -> [[a]] -> [a]<l>  where thread < l");
    assert_type("fun f n xss = (concat n xss : [int]<block>)", "int -> [[int]<l>] -> [int]<block>  where l < block");
    assert_type("sig f : int -> [[a]<l>] -> [a]<1+l>\nfun f n xss = concat n xss", "int -> [[a]<l>] -> [a]<1+l>");
    assert_type("fun f <l> g xs = push <l> (map g xs)", "<l> -> (a -> b) -> [a] -> [b]<l>");
    assert_type("val n = 3", "int");
    assert_type("val x = 0.5", "double");
}

static void test_let_polymorphism(void **state) {
    (void)state;
    assert_type("fun f x = let g = fn y => (y, x) in (g 1, g true)", "num b => a -> ((b, a), (bool, a))");
    assert_type("fun f xs = let p = fn <l> => fn ys => push <l> ys in (p <block> xs, p <grid> xs)",
                "[a] -> ([a]<block>, [a]<grid>)");
    /* Not a function: one type for all its uses. */
    assert_errors("fun f x = let y = x + 1 in (y + 1i8, y + 1i16)", 1);
}

static void test_recursion(void **state) {
    (void)state;
    assert_type("fun f n = if n == 0 then 1 else n * f (n - 1)", "num a => a -> a");
    assert_type("sig f : int -> a -> int\nfun f n x = if n == 0 then 0 else f (n - 1) (x, x)", "int -> a -> int");
    assert_errors("fun f n x = if n == 0 then 0 else f (n - 1) (x, x)", 1);
}

static void test_ambients(void **state) {
    (void)state;
    const char *sum = "fun sum <l> xs = force (push <l> xs) ! 0\n";
    static const struct {
        const char *program;
        size_t errors;
    } rows[] = {
        {"fun f xss = push <grid> (map (sum <thread>) xss)", 0},
        {"fun f xss = push <grid> (map (sum <block>) xss)", 1},
        {"fun f xss = concat 1 (map (fn xs => let s = sum <block> xs in push <block> (generate 1 (fn i => s))) xss)",
         0},
        {"fun f xss = concat 1 (map (fn xs => push <block> (generate 1 (fn i => sum <block> xs))) xss)", 1},
        {"fun g h xs = push <block> (map h xs)\nfun f xss = g (sum <thread>) xss", 0},
        {"fun g h xs = push <block> (map h xs)\nfun f xss = g (sum <warp>) xss", 1},
        {"fun f b xs = push <block> (if b then xs else map (fn x => sum <block> xs) xs)", 1},
        {"fun f xs = let p = (sum <block> xs, xs) in push <block> (map (fn x => fst p) (snd p))", 0},
        {"fun f xss = let ys = map (sum <block>) xss in push <block> ys", 1},
        {"kernel f (xs : [int]) = let s = sum <block> xs in push <block> (map (fn x => x + s) xs)", 0},
        {"kernel f (xs : [int]) = let s = sum <block> xs in push <grid> (map (fn x => x + s) xs)", 1},
        {"kernel f (xs : [int]) = sum <grid> xs", 0},
        {"kernel f (xs : [int]) = sum <block> xs", 1},
        {"kernel f (xss : [[int]]) = map (sum <thread>) xss", 0},
        {"kernel f (xss : [[int]]) = map (sum <warp>) xss", 1},
        {"val v = sum <thread> [1, 2]", 1},
        {"fun f <l> xs = while (fn a => sum <l> a > 1) (fn a => push <l> a) (push <l> xs)", 0},
        {"fun f <l> xs = while (fn a => sum <warp> a > 1) (fn a => push <l> a) (push <l> xs)", 1},
        {"val h = fn xs => sum <block> xs\nfun f xss = push <thread> (map h xss)", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena *arena = arena_new();
        assert_errors(arena_printf(arena, "%s%s", sum, rows[i].program), rows[i].errors);
        arena_free(arena);
    }
}

static void test_literals(void **state) {
    (void)state;
    assert_errors("val a = 255u8\nval b = -128i8\nval c = 18446744073709551615u64\nval d = 2147483647", 0);
    assert_errors("val a = 256u8\nval b = 128i8\nval c = 2147483648\nval d = (40000 : i16)", 4);
    assert_type("fun f x = x + 300", "num a => a -> a");
}

static void test_params(void **state) {
    (void)state;
    struct checked k = check_with("param n : int = 64 in {32, 64}", "n", "32");
    assert_int_equal(diag_error_count(k.diagnostics), 0);
    assert_true(k.settings[0].used);
    const struct core_global *n = k.program->globals.at[0];
    assert_int_equal(n->kind, GLOBAL_PARAM);
    assert_int_equal(n->body->literal.magnitude, 32);
    assert_int_equal(n->choice_count, 2);
    arena_free(k.arena);
    static const char *const wrong[] = {"33", "x", "", "3 2", "99999999999", "32.0", "-"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        k = check_with("param n : int = 64 in {32, 64}", "n", wrong[i]);
        assert_int_equal(diag_error_count(k.diagnostics), 1);
        arena_free(k.arena);
    }
}

/* The core of a polymorphic definition within itself and of its use carries instances; ground types come out. */
static void test_instances(void **state) {
    (void)state;
    struct checked k = check("fun f <l> n xs = if n == 0 then xs else f <l> (n - 1) (force (push <l> xs))\n"
                             "kernel k (xs : [float]) = push <block> (f <block> 3 xs)");
    assert_int_equal(diag_error_count(k.diagnostics), 0);
    const struct core_global *f = k.program->globals.at[0], *kernel = k.program->globals.at[1];
    const struct core *use = kernel->body->lambda.body->apply.argument;
    while (use->kind == CORE_APPLY)
        use = use->apply.function;
    assert_int_equal(use->kind, CORE_GLOBAL);
    assert_ptr_equal(use->global.global, f);
    assert_ptr_equal(use->global.instance.scheme, f->scheme);
    assert_int_equal(f->scheme->proper_count, 1);
    enum level_value *levels = ARENA_ARRAY(k.arena, enum level_value, f->scheme->level_count);
    for (size_t i = 0; i < f->scheme->level_count; i++)
        levels[i] = level_instantiate(NULL, use->global.instance.levels[i]);
    assert_int_equal(levels[0], LEVEL_BLOCK);
    struct instance instance = {f->scheme, use->global.instance.types, levels, NULL};
    struct text text;
    text_init(&text, k.arena);
    type_print(&text, type_instantiate(k.arena, &instance, f->scheme->type));
    assert_string_equal(text_string(&text), "<block> -> int -> [float] -> [float]");
    arena_free(k.arena);
}

static void test_large_types(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    struct text text;
    text_init(&text, arena);
    text_add(&text, "fun f a0 = let ");
    for (int i = 0; i < 40; i++)
        text_printf(&text, "a%d = (a%d, a%d)\n", i + 1, i, i);
    text_add(&text, "in a40");
    struct checked k = check(text_string(&text));
    assert_int_equal(diag_error_count(k.diagnostics), 0); /* 41 nodes, which are 2^40 written out */
    arena_free(k.arena);
    text.length = 0;
    for (int i = 0; i < 20; i++) /* each doubles the nodes */
        text_printf(&text, i ? "fun f%d x = (f%d x, f%d x)\n" : "fun f0 x = (x, x)\n", i, i - 1, i - 1);
    k = check(text_string(&text));
    assert_true(diag_error_count(k.diagnostics) > 0); /* and it ends */
    arena_free(k.arena);
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_level_equality, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_level_successor_of_itself, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_rigid_level, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_below_is_propagated, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_fits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_pure_passes_down, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unify_variables, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_occurs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kinds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_classes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_subsume_lets_ambients_fit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_primitive_schemes, set_up, tear_down),
        cmocka_unit_test(test_principal_types),
        cmocka_unit_test(test_let_polymorphism),
        cmocka_unit_test(test_recursion),
        cmocka_unit_test(test_ambients),
        cmocka_unit_test(test_literals),
        cmocka_unit_test(test_params),
        cmocka_unit_test(test_instances),
        cmocka_unit_test(test_large_types),
    };
    return cmocka_run_group_tests_name("types", tests, NULL, NULL);
}
