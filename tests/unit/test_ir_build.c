/* IR: where the builder puts things, what leaves branches and loops, abandoning, the verifier and the passes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>
#include <time.h>

#include "ir/build/build.h"
#include "ir/build/rebuild.h"
#include "ir/passes/pass_list.h"
#include "ir/passes/passes.h"

struct fixture {
    struct arena *arena;
    struct ir_kernel kernel;
    struct ir_builder *b;
    struct ir_value *n, *x, *y, *flag;
    struct ir_buffer *in, *out;
};

static struct fixture *new_fixture(void) {
    struct arena *arena = arena_new();
    struct fixture *t = ARENA_NEW(arena, struct fixture);
    t->arena = arena;
    t->b = ir_builder_new(arena, arena, &t->kernel, 1);
    t->n = ir_parameter_value(t->b, BASE_I32, 0, INT32_MAX, "n");
    t->x = ir_parameter_value(t->b, BASE_I32, INT32_MIN, INT32_MAX, "x");
    t->y = ir_parameter_value(t->b, BASE_I32, INT32_MIN, INT32_MAX, "y");
    t->flag = ir_parameter_value(t->b, BASE_BOOL, 0, 1, "flag");
    t->in = ir_buffer_new(t->b, MEMORY_INPUT, LEVEL_GRID, BASE_I32, NULL, "in");
    t->out = ir_buffer_new(t->b, MEMORY_OUTPUT, LEVEL_GRID, BASE_I32, t->n, "out");
    t->out->is_result = true;
    ir_allocate(t->b, t->out);
    return t;
}

#define INT(value) ir_int(t->b, value)
#define DO(op, x, y) ir_binary(t->b, OP_##op, x, y)
#define SUM(x, y) DO(ADD, x, y)

static void assert_ir(struct fixture *t, const char *wanted) {
    const char *wrong = ir_verify(t->arena, &t->kernel);
    if (wrong)
        fail_msg("%s", wrong);
    struct text text;
    text_init(&text, t->arena);
    ir_print(&text, &t->kernel);
    assert_string_equal(text_string(&text), wanted);
}

static void optimise(struct fixture *t) {
    struct pass_run passes = passes_wanted(&(struct pass_options){.level = 1});
    const char *wrong = ir_optimise(t->arena, &t->kernel, &passes);
    if (wrong)
        fail_msg("%s", wrong);
}

static struct ir_value *each(struct fixture *t) { return ir_begin_forall(t->b, LEVEL_GRID, LEVEL_THREAD, t->n, "i"); }

static void sharing_and_hoisting(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    struct ir_value *i = each(t);
    struct ir_value *at = DO(SUB, DO(SUB, t->n, INT(1)), i);
    struct ir_value *value = ir_load(t->b, t->in, at);
    assert_ptr_equal(ir_load(t->b, t->in, DO(SUB, DO(SUB, t->n, INT(1)), i)), value);
    assert_ptr_equal(DO(MUL, t->x, t->y), DO(MUL, t->y, t->x));
    ir_store(t->b, t->out, i, SUM(value, DO(MUL, t->x, t->y)));
    ir_end_forall(t->b);
    assert_ir(t, "kernel ?()\n"
                 "  out = allocate output int[n]\n"
                 "  %6 = sub n, 1\n"
                 "  %9 = mul x, y\n"
                 "  forall i < n at grid/thread\n"
                 "    %7 = sub %6, i\n"
                 "    %8 = load in[%7]\n"
                 "    %10 = add %8, %9\n"
                 "    store out[i], %10\n");
    optimise(t);
    arena_free(t->arena);
}

static void loads_are_not_shared_over_stores(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    struct ir_value *i = each(t);
    struct ir_value *first = ir_load(t->b, t->out, i);
    ir_store(t->b, t->out, i, SUM(first, INT(1)));
    assert_ptr_not_equal(ir_load(t->b, t->out, i), first);
    struct ir_buffer *two = ir_buffer_new(t->b, MEMORY_PRIVATE, LEVEL_THREAD, BASE_I32, INT(4), "two");
    two->rewritten = true;
    ir_allocate(t->b, two);
    assert_ptr_not_equal(ir_load(t->b, two, INT(0)), ir_load(t->b, two, INT(0)));
    ir_end_forall(t->b);
    optimise(t);
    arena_free(t->arena);
}

static void branches_keep_their_operations(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    struct ir_value *i = each(t);
    ir_begin_if(t->b, t->flag);
    struct ir_value *inner = DO(DIV, t->x, t->y); /* does not leave the branch, though it could */
    assert_ptr_equal(inner->region, ir_current(t->b));
    struct ir_value *square = DO(MUL, inner, inner), *yields[] = {square}, *results[1];
    assert_int_equal(ir_known(t->b, t->flag), IR_TRUE);
    ir_else(t->b, yields, 1);
    yields[0] = INT(7);
    ir_end_if(t->b, yields, results, 1, true);
    assert_ptr_not_equal(ir_resolve(t->b, inner), inner);
    assert_ptr_equal(ir_resolve(t->b, inner), ir_resolve(t->b, ir_resolve(t->b, inner)));
    assert_ptr_not_equal(DO(DIV, t->x, t->y), ir_resolve(t->b, inner)); /* undefined on the other side: not shared */
    ir_store(t->b, t->out, i, SUM(results[0], inner));
    ir_end_forall(t->b);
    optimise(t);
    assert_ir(t, "kernel ?()\n"
                 "  out = allocate output int[n]\n"
                 "  forall i < n at grid/thread\n"
                 "    %10, %11 = if flag\n"
                 "      %5 = div x, y\n"
                 "      %6 = mul %5, %5\n"
                 "      yield %6, %5\n"
                 "    else\n"
                 "      yield 7, 0\n"
                 "    %14 = add %10, %11\n"
                 "    store out[i], %14\n");
    arena_free(t->arena);
}

static void trivial_control_goes(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    struct ir_value *carried[] = {t->x, t->y}, *results[2], *next[2];
    size_t before = t->kernel.body->instructions.count;
    ir_begin_forall(t->b, LEVEL_GRID, LEVEL_THREAD, t->n, "i");
    ir_end_forall(t->b);
    ir_begin_for(t->b, INT(0), carried, 2, "k");
    next[0] = SUM(carried[0], INT(1));
    next[1] = SUM(carried[1], carried[0]);
    ir_end_for(t->b, next, results);
    assert_ptr_equal(results[0], t->x);
    assert_ptr_equal(results[1], t->y);
    carried[0] = t->x;
    ir_begin_while(t->b, carried, 1, NULL, NULL);
    ir_while_body(t->b, ir_bool(t->b, false));
    next[0] = SUM(carried[0], INT(1));
    ir_end_while(t->b, next, results);
    assert_ptr_equal(results[0], t->x);
    ir_begin_if(t->b, t->flag);
    next[0] = t->x;
    ir_else(t->b, next, 1);
    next[0] = t->y;
    ir_end_if(t->b, next, results, 1, true);
    assert_int_equal(results[0]->definition->op, OP_SELECT);
    assert_int_equal(t->kernel.body->instructions.count, before + 1);
    arena_free(t->arena);
}

/* The condition of a while tells facts that hold in its body only, so it must not sit in what moves out. */
static void while_conditions_stay_inside(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    struct ir_value *carried[] = {INT(0)}, *results[1];
    ir_begin_while(t->b, carried, 1, (int64_t[]){0}, (int64_t[]){1000});
    ir_while_body(t->b, DO(LT, SUM(carried[0], t->x), INT(5)));
    struct ir_value *same = DO(SUB, SUM(carried[0], t->x), carried[0]);
    assert_ptr_equal(same, t->x);
    struct ir_value *moved = DO(SUB, t->x, INT(7));
    assert_ptr_equal(moved->region, t->kernel.body);
    assert_false(moved->definition->no_wrap);
    assert_int_equal(moved->high, INT32_MAX);
    struct ir_value *next[] = {SUM(carried[0], INT(1))};
    assert_true(next[0]->low == 1 && next[0]->definition->no_wrap);
    ir_end_while(t->b, next, results);
    t->kernel.results.count = 0;
    assert_null(ir_verify(t->arena, &t->kernel));
    arena_free(t->arena);
}

static void unwinding(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    struct ir_value *i = each(t);
    struct ir_region *here = ir_current(t->b);
    struct ir_value *outer = DO(DIV, i, t->y);
    struct ir_value *carried[] = {t->x};
    ir_begin_if(t->b, t->flag);
    ir_begin_for(t->b, t->n, carried, 1, "k");
    struct ir_value *inner = DO(MUL, carried[0], INT(3)), *lost = DO(MUL, t->x, INT(3));
    ir_allocate(t->b, ir_buffer_new(t->b, MEMORY_PRIVATE, LEVEL_THREAD, BASE_I32, INT(8), "lost"));
    ir_begin_while(t->b, carried, 1, NULL, NULL);
    ir_unwind(t->b, here);
    assert_ptr_equal(ir_current(t->b), here);
    assert_int_equal(ir_known(t->b, t->flag), IR_UNKNOWN);
    assert_int_equal(t->kernel.buffers.count, 2);
    assert_false(ir_region_has_effects(t->b));
    assert_ptr_equal(DO(DIV, i, t->y), outer);
    assert_ptr_not_equal(DO(MUL, t->x, INT(3)), lost);
    (void)inner;
    ir_store(t->b, t->out, i, SUM(outer, DO(MUL, t->x, INT(3))));
    assert_true(ir_region_has_effects(t->b));
    ir_end_forall(t->b);
    optimise(t);
    arena_free(t->arena);
}

static void dead_code(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    struct ir_buffer *unused = ir_buffer_new(t->b, MEMORY_OUTPUT, LEVEL_GRID, BASE_I32, t->n, "unused");
    ir_allocate(t->b, unused);
    struct ir_value *i = each(t);
    ir_store(t->b, unused, i, ir_load(t->b, t->in, i));
    ir_end_forall(t->b);
    i = each(t);
    struct ir_value *carried[] = {INT(0), INT(1)}, *results[2];
    struct ir_value *k = ir_begin_for(t->b, INT(10), carried, 2, "k");
    struct ir_value *next[] = {SUM(carried[0], ir_load(t->b, t->in, k)), DO(MUL, carried[1], k)};
    ir_end_for(t->b, next, results);
    ir_store(t->b, t->out, i, results[0]);
    ir_end_forall(t->b);
    optimise(t);
    assert_int_equal(t->kernel.buffers.count, 2);
    assert_ir(t, "kernel ?()\n"
                 "  out = allocate output int[n]\n"
                 "  forall i < n at grid/thread\n"
                 "    %16 = for k < 10 unrolled with %11 = 0\n"
                 "      %13 = load in[k]\n"
                 "      %14 = add %11, %13\n"
                 "      next %14\n"
                 "    store out[i], %16\n");
    arena_free(t->arena);
}

/* A sum that is a place of an element that is touched for certain has not wrapped, if one summand is not negative. */
static void places_do_not_wrap(void **state) {
    (void)state;
    for (int is_checked = 0; is_checked < 2; is_checked++) {
        struct fixture *t = new_fixture();
        struct ir_value *a[6], *i = each(t);
        for (int k = 0; k < 6; k++)
            a[k] = ir_parameter_value(t->b, BASE_I32, INT32_MIN, INT32_MAX, "a");
        if (is_checked)
            ir_check(t->b, (struct ir_check_site){0}, DO(LT, i, t->x), i, t->x);
        struct ir_value *at_once = SUM(a[0], i), *in_loop = SUM(a[1], i), *in_none = SUM(a[2], i),
                        *in_branch = SUM(a[3], i), *negative = SUM(a[4], ir_load(t->b, t->in, i)), *data = SUM(a[5], i);
        ir_store(t->b, t->out, at_once, i);
        ir_store(t->b, t->out, negative, data);
        ir_begin_for(t->b, INT(100), NULL, 0, "k");
        ir_store(t->b, t->out, in_loop, i);
        ir_end_for(t->b, NULL, NULL);
        ir_begin_for(t->b, t->n, NULL, 0, "k");
        ir_store(t->b, t->out, in_none, i);
        ir_end_for(t->b, NULL, NULL);
        ir_begin_if(t->b, t->flag);
        ir_store(t->b, t->out, in_branch, i);
        ir_else(t->b, NULL, 0);
        ir_end_if(t->b, NULL, NULL, 0, false);
        ir_end_forall(t->b);
        pass_no_wrap(t->arena, &t->kernel);
        assert_int_equal(at_once->definition->no_wrap, !is_checked);
        assert_int_equal(in_loop->definition->no_wrap, !is_checked);
        assert_false(in_none->definition->no_wrap);
        assert_false(in_branch->definition->no_wrap);
        assert_false(negative->definition->no_wrap);
        assert_false(data->definition->no_wrap);
        arena_free(t->arena);
    }
}

/* Steps over an array of two halves, 1000 apart, of threads i and rounds r: a thread reads the
   element at i + stride · r + apart, and then writes that at i + stride · r. Does the pass do with one
   half. */
static bool is_in_place(int threads, int rounds, int stride, int apart, int times) {
    struct fixture *t = new_fixture();
    struct ir_value *many = ir_parameter_value(t->b, BASE_I32, 0, 9, "many");
    ir_begin_forall(t->b, LEVEL_GRID, LEVEL_BLOCK, t->n, "block");
    struct ir_buffer *shared = ir_buffer_new(t->b, MEMORY_SHARED, LEVEL_BLOCK, BASE_I32, INT(2000), "halves");
    shared->rewritten = true;
    ir_allocate(t->b, shared);
    struct ir_value *place = INT(0), *result;
    ir_begin_for(t->b, INT(100), &place, 1, "step");
    struct ir_value *i = ir_begin_forall(t->b, LEVEL_BLOCK, LEVEL_THREAD, INT(threads), "i"), *element = i;
    if (rounds > 1)
        element = SUM(i, DO(MUL, ir_begin_for(t->b, INT(rounds), NULL, 0, "r"), INT(stride)));
    struct ir_value *next = DO(SUB, INT(1000), place), *from = SUM(SUM(element, INT(apart)), DO(MUL, many, INT(times)));
    struct ir_value *x = ir_load(t->b, shared, SUM(place, from));
    ir_store(t->b, shared, SUM(next, element), SUM(x, INT(1)));
    if (rounds > 1)
        ir_end_for(t->b, NULL, NULL);
    ir_end_forall(t->b);
    struct ir_instruction *loop = ir_current(t->b)->owner;
    ir_end_for(t->b, &next, &result);
    ir_end_forall(t->b);
    pass_in_place(t->arena, &t->kernel);
    bool is_one_half = loop->regions[0]->yields.at[0] == loop->operands[1];
    arena_free(t->arena);
    return is_one_half;
}

/* With the nearest that are told apart, and those that are one place. */
static void halves_are_saved(void **state) {
    (void)state;
    assert_true(is_in_place(16, 1, 0, 0, 0));
    assert_false(is_in_place(16, 1, 0, 1, 0));
    assert_false(is_in_place(16, 1, 0, -1, 0));
    assert_false(is_in_place(16, 1, 0, 15, 0));
    assert_true(is_in_place(16, 1, 0, 16, 0));
    assert_true(is_in_place(16, 100, 16, 0, 0));
    assert_false(is_in_place(16, 100, 15, 0, 0)); /* thread 15 in a round, and thread 0 in the next */
    assert_true(is_in_place(16, 1, 0, 0, 16));
    assert_false(is_in_place(17, 1, 0, 0, 16)); /* thread 16, and thread 0 that reads 16 further on */
    assert_false(is_in_place(16, 1, 0, 0, 24));
}

/* A fold over an array at grid runs on the device. */
static void host_loops_are_outlined(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    struct ir_value *carried[] = {INT(0)}, *results[1];
    struct ir_value *k = ir_begin_for(t->b, t->n, carried, 1, "k");
    struct ir_value *next[] = {SUM(carried[0], ir_load(t->b, t->in, k))};
    ir_end_for(t->b, next, results);
    vec_push(t->arena, &t->kernel.results, (struct ir_result){.value = results[0]});
    optimise(t);
    bool launched = false;
    for (size_t i = 0; i < t->kernel.body->instructions.count; i++) {
        assert_int_not_equal(t->kernel.body->instructions.at[i]->kind, IR_FOR);
        launched = launched || t->kernel.body->instructions.at[i]->kind == IR_FORALL;
    }
    assert_true(launched);
    arena_free(t->arena);
}

static void merging_and_tidying(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    struct ir_value *i = each(t), *results[1], *yields[1];
    ir_begin_if(t->b, t->flag);
    yields[0] = ir_load(t->b, t->in, i);
    ir_else(t->b, yields, 1);
    yields[0] = INT(0);
    ir_end_if(t->b, yields, results, 1, true);
    struct ir_value *first = results[0];
    ir_begin_if(t->b, t->flag);
    yields[0] = DO(MUL, first, first);
    ir_else(t->b, yields, 1);
    yields[0] = t->x;
    ir_end_if(t->b, yields, results, 1, true);
    struct ir_value *second = results[0];
    ir_begin_if(t->b, DO(LT, second, t->y));
    yields[0] = SUM(second, INT(1));
    ir_else(t->b, yields, 1);
    yields[0] = second;
    ir_end_if(t->b, yields, results, 1, true);
    ir_store(t->b, t->out, i, results[0]);
    ir_end_forall(t->b);
    optimise(t);
    size_t branches = 0, selects = 0;
    const struct ir_instruction *loop = t->kernel.body->instructions.at[t->kernel.body->instructions.count - 1];
    for (size_t at = 0; at < loop->regions[0]->instructions.count; at++) {
        const struct ir_instruction *instruction = loop->regions[0]->instructions.at[at];
        branches += instruction->kind == IR_IF;
        selects += instruction->kind == IR_OPERATION && instruction->op == OP_SELECT;
        if (instruction->kind == IR_OPERATION && instruction->op == OP_ADD)
            assert_false(instruction->no_wrap); /* it did not overflow under the condition only */
    }
    assert_int_equal(branches, 1);
    assert_int_equal(selects, 1);
    arena_free(t->arena);
}

/* Each parallel loop twice: as if its first branch were taken, and as it is. */
static bool as_if_taken(void *context, struct rebuild *r, struct ir_instruction *at) {
    struct fixture *t = context;
    if (at->kind != IR_FORALL)
        return false;
    for (size_t i = 0; i < at->regions[0]->instructions.count; i++) {
        struct ir_instruction *inner = at->regions[0]->instructions.at[i];
        if (inner->kind == IR_IF)
            rebuild_is(r, inner->operands[0], ir_bool(t->b = rebuild_builder(r), true));
    }
    rebuild_copy(r, at);
    rebuild_keep(r, at);
    return true;
}

/* A copy folds what is known in it, shares its values and moves them out of loops; kept code does not change. */
static void rebuilding(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    struct ir_value *before = DO(MUL, t->x, t->y), *i = each(t), *results[1];
    ir_begin_if(t->b, DO(LT, i, t->x));
    struct ir_value *yields[] = {SUM(ir_load(t->b, t->in, i), DO(DIV, before, DO(XOR, t->x, INT(5))))};
    ir_else(t->b, yields, 1);
    yields[0] = ir_load(t->b, t->in, INT(0));
    ir_end_if(t->b, yields, results, 1, false);
    ir_store(t->b, t->out, i, DO(XOR, results[0], before));
    ir_end_forall(t->b);
    rebuild_kernel(t->arena, &t->kernel, as_if_taken, t);
    assert_ir(t, "kernel ?()\n"
                 "  out = allocate output int[n]\n"
                 "  %4 = mul x, y\n"
                 "  %19 = xor x, 5\n"
                 "  %20 = div %4, %19\n"
                 "  forall i < n at grid/thread\n"
                 "    %21 = load in[i]\n"
                 "    %22 = add %20, %21\n"
                 "    %23 = xor %4, %22\n"
                 "    store out[i], %23\n"
                 "  forall i.2 < n at grid/thread\n"
                 "    %6 = lt i.2, x\n"
                 "    %14 = if %6\n"
                 "      %8 = xor x, 5\n"
                 "      %9 = div %4, %8\n"
                 "      %10 = load in[i.2]\n"
                 "      %11 = add %9, %10\n"
                 "      yield %11\n"
                 "    else\n"
                 "      %13 = load in[0]\n"
                 "      yield %13\n"
                 "    %15 = xor %4, %14\n"
                 "    store out[i.2], %15\n");
    arena_free(t->arena);
}

/* A load in a loop of the host whose turns exchange two arrays is none that was made before the loop. */
static void rebuilding_in_loops(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    struct ir_buffer *other = ir_buffer_new(t->b, MEMORY_OUTPUT, LEVEL_GRID, BASE_I32, t->n, "other");
    ir_allocate(t->b, other);
    struct ir_value *first = ir_load(t->b, other, INT(0));
    ir_begin_for(t->b, t->n, NULL, 0, "k");
    ir_renew(t->b, other);
    struct ir_value *i = each(t);
    ir_store(t->b, t->out, i, DO(XOR, first, ir_load(t->b, other, INT(0))));
    ir_end_forall(t->b);
    ir_swap(t->b, t->out, other);
    ir_end_for(t->b, NULL, NULL);
    rebuild_kernel(t->arena, &t->kernel, as_if_taken, t);
    assert_ir(t, "kernel ?()\n"
                 "  out = allocate output int[n]\n"
                 "  other = allocate output int[n]\n"
                 "  %5 = load other[0]\n"
                 "  for k < n\n"
                 "    forall i < n at grid/thread\n"
                 "      %12 = load other[0]\n"
                 "      %13 = xor %5, %12\n"
                 "      store out[i], %13\n"
                 "    forall i.2 < n at grid/thread\n"
                 "      %8 = load other[0]\n"
                 "      %9 = xor %5, %8\n"
                 "      store out[i.2], %9\n"
                 "    swap out, other\n");
    arena_free(t->arena);
}

static void verifier_objects(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    struct ir_value *i = each(t);
    ir_store(t->b, t->out, i, DO(DIV, i, t->y));
    ir_end_forall(t->b);
    assert_null(ir_verify(t->arena, &t->kernel));
    struct ir_instruction *loop = t->kernel.body->instructions.at[t->kernel.body->instructions.count - 1];
    struct ir_region *body = loop->regions[0];
    struct ir_instruction *first = body->instructions.at[0], *store = body->instructions.at[1];
    body->instructions.at[0] = store; /* used before its definition */
    body->instructions.at[1] = first;
    assert_non_null(ir_verify(t->arena, &t->kernel));
    body->instructions.at[0] = first;
    body->instructions.at[1] = store;
    body->ambient = LEVEL_BLOCK; /* a store above thread */
    assert_non_null(ir_verify(t->arena, &t->kernel));
    body->ambient = LEVEL_THREAD;
    struct ir_value *kept = store->operands[1];
    store->operands[1] = t->flag; /* a bool among ints */
    assert_non_null(ir_verify(t->arena, &t->kernel));
    store->operands[1] = kept;
    loop->operands[0] = kept; /* out of its scope */
    assert_non_null(ir_verify(t->arena, &t->kernel));
    loop->operands[0] = t->n;
    loop->outer = LEVEL_BLOCK;
    assert_non_null(ir_verify(t->arena, &t->kernel));
    loop->outer = LEVEL_GRID;
    assert_null(ir_verify(t->arena, &t->kernel));
    arena_free(t->arena);
}

/* 200,000 instructions, with branches, must not take long (a bound that only a quadratic algorithm misses). */
static void large_kernels_are_quick(void **state) {
    (void)state;
    struct fixture *t = new_fixture();
    struct ir_value *i = each(t), *value = i, *results[1];
    clock_t start = clock();
    for (int k = 0; k < 40000; k++) {
        value = DO(XOR, DO(MUL, value, value), INT(k));
        if (k % 8 == 0) {
            ir_begin_if(t->b, DO(LT, value, t->x));
            struct ir_value *yields[] = {DO(DIV, value, t->y)};
            ir_else(t->b, yields, 1);
            yields[0] = value;
            ir_end_if(t->b, yields, results, 1, true);
            value = results[0];
        }
        value = SUM(value, ir_load(t->b, t->in, DO(AND, value, INT(1023))));
    }
    ir_store(t->b, t->out, i, value);
    ir_end_forall(t->b);
    optimise(t);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    assert_true(seconds < 10);
    print_message("%u values in %.2f s\n", (unsigned)t->kernel.value_count, seconds);
    arena_free(t->arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sharing_and_hoisting),
        cmocka_unit_test(loads_are_not_shared_over_stores),
        cmocka_unit_test(branches_keep_their_operations),
        cmocka_unit_test(trivial_control_goes),
        cmocka_unit_test(while_conditions_stay_inside),
        cmocka_unit_test(unwinding),
        cmocka_unit_test(dead_code),
        cmocka_unit_test(merging_and_tidying),
        cmocka_unit_test(places_do_not_wrap),
        cmocka_unit_test(halves_are_saved),
        cmocka_unit_test(host_loops_are_outlined),
        cmocka_unit_test(rebuilding),
        cmocka_unit_test(rebuilding_in_loops),
        cmocka_unit_test(verifier_objects),
        cmocka_unit_test(large_kernels_are_quick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
