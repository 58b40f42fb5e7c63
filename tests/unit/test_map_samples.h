/* Kernels built by hand, for the tests of the mapping and of the backends. */
#ifndef TEST_MAP_SAMPLES_H
#define TEST_MAP_SAMPLES_H

#include <string.h>

#include "backend/backend.h"
#include "ir/build/build.h"
#include "map/map.h"

struct sample_kernel {
    struct arena *arena;
    struct ir_kernel *kernel;
    struct ir_builder *b;
};

static struct sample_kernel sample_begin(struct arena *arena, const char *name) {
    struct ir_kernel *kernel = ARENA_NEW(arena, struct ir_kernel);
    kernel->name = symbol_of(symbols_new(arena), name);
    kernel->block_size = 256;
    kernel->warp_size = 32;
    kernel->grid_size = 1;
    return (struct sample_kernel){arena, kernel, ir_builder_new(arena, arena, kernel, 2)};
}

static struct ir_value *sample_length(struct sample_kernel *s, const char *name) {
    struct ir_value *value = ir_parameter_value(s->b, BASE_I32, 0, INT32_MAX, name);
    vec_push(s->arena, &s->kernel->parameters,
             (struct ir_parameter){.kind = IR_PARAMETER_SCALAR, .name = name, .value = value});
    return value;
}

static struct ir_buffer *sample_input(struct sample_kernel *s, enum base base, const char *name) {
    struct ir_buffer *buffer = ir_buffer_new(s->b, MEMORY_INPUT, LEVEL_GRID, base, NULL, name);
    vec_push(s->arena, &s->kernel->parameters,
             (struct ir_parameter){.kind = IR_PARAMETER_BUFFER, .name = name, .buffer = buffer});
    return buffer;
}

static struct ir_buffer *sample_output(struct sample_kernel *s, enum base base, struct ir_value *capacity,
                                       const char *name) {
    struct ir_buffer *buffer = ir_buffer_new(s->b, MEMORY_OUTPUT, LEVEL_GRID, base, capacity, name);
    ir_allocate(s->b, buffer);
    return buffer;
}

static struct ir_buffer *sample_shared(struct sample_kernel *s, enum level_value owner, enum base base,
                                       struct ir_value *capacity, const char *name) {
    struct ir_buffer *buffer =
        ir_buffer_new(s->b, owner == LEVEL_THREAD ? MEMORY_PRIVATE : MEMORY_SHARED, owner, base, capacity, name);
    ir_allocate(s->b, buffer);
    return buffer;
}

/* out[n - 1 - i] = in[i] */
static struct ir_kernel *sample_reverse(struct arena *arena) {
    struct sample_kernel s = sample_begin(arena, "reverse");
    struct ir_value *n = sample_length(&s, "n");
    struct ir_buffer *in = sample_input(&s, BASE_I32, "in"), *out = sample_output(&s, BASE_I32, n, "out");
    struct ir_value *i = ir_begin_forall(s.b, LEVEL_GRID, LEVEL_THREAD, n, "i");
    struct ir_value *to = ir_binary(s.b, OP_SUB, ir_binary(s.b, OP_SUB, n, ir_int(s.b, 1)), i);
    ir_store(s.b, out, to, ir_load(s.b, in, i));
    ir_end_forall(s.b);
    return s.kernel;
}

/* The same in one block, after two maps. */
static struct ir_kernel *sample_reverse_block(struct arena *arena) {
    struct sample_kernel s = sample_begin(arena, "reverseBlock");
    struct ir_value *n = sample_length(&s, "n");
    struct ir_buffer *in = sample_input(&s, BASE_I32, "in"), *out = sample_output(&s, BASE_I32, n, "out");
    ir_begin_forall(s.b, LEVEL_GRID, LEVEL_BLOCK, ir_int(s.b, 1), "b");
    struct ir_value *i = ir_begin_forall(s.b, LEVEL_BLOCK, LEVEL_THREAD, n, "i");
    struct ir_value *x = ir_load(s.b, in, ir_binary(s.b, OP_SUB, ir_binary(s.b, OP_SUB, n, ir_int(s.b, 1)), i));
    x = ir_binary(s.b, OP_ADD, ir_binary(s.b, OP_MUL, x, x), x);
    x = ir_binary(s.b, OP_MUL, x, ir_int(s.b, 3));
    ir_store(s.b, out, i, x);
    ir_end_forall(s.b);
    ir_end_forall(s.b);
    return s.kernel;
}

/* Chunks of 1024, each reversed through shared memory: two phases. */
static struct ir_kernel *sample_two_phases(struct arena *arena) {
    struct sample_kernel s = sample_begin(arena, "twoPhases");
    struct ir_value *blocks = sample_length(&s, "blocks"), *size = ir_int(s.b, 1024);
    struct ir_value *n = ir_binary(s.b, OP_MUL, blocks, size);
    struct ir_buffer *in = sample_input(&s, BASE_I32, "in"), *out = sample_output(&s, BASE_I32, n, "out");
    struct ir_value *b = ir_begin_forall(s.b, LEVEL_GRID, LEVEL_BLOCK, blocks, "b");
    struct ir_value *base = ir_binary(s.b, OP_MUL, b, size);
    struct ir_buffer *tile = sample_shared(&s, LEVEL_BLOCK, BASE_I32, size, "tile");
    struct ir_value *i = ir_begin_forall(s.b, LEVEL_BLOCK, LEVEL_THREAD, size, "i");
    ir_store(s.b, tile, i, ir_load(s.b, in, ir_binary(s.b, OP_ADD, base, i)));
    ir_end_forall(s.b);
    i = ir_begin_forall(s.b, LEVEL_BLOCK, LEVEL_THREAD, size, "i");
    struct ir_value *x = ir_load(s.b, tile, ir_binary(s.b, OP_SUB, ir_int(s.b, 1023), i));
    ir_store(s.b, out, ir_binary(s.b, OP_ADD, base, i), x);
    ir_end_forall(s.b);
    ir_end_forall(s.b);
    return s.kernel;
}

/* Sums of 512 elements by an unrolled tree: nine levels. */
static struct ir_kernel *sample_tree(struct arena *arena) {
    struct sample_kernel s = sample_begin(arena, "sum512");
    struct ir_value *blocks = sample_length(&s, "blocks");
    struct ir_buffer *in = sample_input(&s, BASE_I32, "in"), *out = sample_output(&s, BASE_I32, blocks, "out");
    struct ir_value *b = ir_begin_forall(s.b, LEVEL_GRID, LEVEL_BLOCK, blocks, "b");
    struct ir_value *base = ir_binary(s.b, OP_MUL, b, ir_int(s.b, 512));
    struct ir_buffer *from = NULL;
    for (int size = 256; size >= 1; size /= 2) {
        struct ir_buffer *to = size > 1 ? sample_shared(&s, LEVEL_BLOCK, BASE_I32, ir_int(s.b, size), "level") : out;
        struct ir_value *i = ir_begin_forall(s.b, LEVEL_BLOCK, LEVEL_THREAD, ir_int(s.b, size), "i");
        struct ir_value *k = ir_binary(s.b, OP_ADD, i, ir_int(s.b, size));
        struct ir_value *x, *y;
        if (from) {
            x = ir_load(s.b, from, i);
            y = ir_load(s.b, from, k);
        } else {
            x = ir_load(s.b, in, ir_binary(s.b, OP_ADD, base, i));
            y = ir_load(s.b, in, ir_binary(s.b, OP_ADD, base, k));
        }
        ir_store(s.b, to, size > 1 ? i : b, ir_binary(s.b, OP_ADD, x, y));
        ir_end_forall(s.b);
        from = to;
    }
    ir_end_forall(s.b);
    return s.kernel;
}

/* A while whose array shrinks in a rewritten buffer of two halves: a sum of 1024 elements. */
static struct ir_kernel *sample_while(struct arena *arena) {
    struct sample_kernel s = sample_begin(arena, "sumWhile");
    struct ir_value *n = sample_length(&s, "n"), *half = ir_int(s.b, 1024), *zero = ir_int(s.b, 0);
    struct ir_buffer *in = sample_input(&s, BASE_I32, "in"), *out = sample_output(&s, BASE_I32, ir_int(s.b, 1), "out");
    ir_begin_forall(s.b, LEVEL_GRID, LEVEL_BLOCK, ir_int(s.b, 1), "b");
    struct ir_buffer *state = sample_shared(&s, LEVEL_BLOCK, BASE_I32, ir_int(s.b, 2048), "state");
    state->rewritten = true;
    struct ir_value *count = ir_binary(s.b, OP_MIN, n, half);
    struct ir_value *i = ir_begin_forall(s.b, LEVEL_BLOCK, LEVEL_THREAD, count, "i");
    ir_store(s.b, state, i, ir_load(s.b, in, i));
    ir_end_forall(s.b);
    struct ir_value *carried[2] = {count, zero}, *results[2], *next[2];
    ir_begin_while(s.b, carried, 2, (int64_t[]){0, 0}, (int64_t[]){1024, 1024});
    struct ir_value *length = carried[0], *offset = carried[1];
    ir_name(length, "length");
    ir_name(offset, "offset");
    ir_while_body(s.b, ir_binary(s.b, OP_LT, ir_int(s.b, 1), length));
    struct ir_value *to = ir_binary(s.b, OP_SUB, half, offset);
    struct ir_value *upper = ir_binary(s.b, OP_DIV, ir_binary(s.b, OP_ADD, length, ir_int(s.b, 1)), ir_int(s.b, 2));
    i = ir_begin_forall(s.b, LEVEL_BLOCK, LEVEL_THREAD, upper, "i");
    struct ir_value *k = ir_binary(s.b, OP_ADD, i, upper), *x = ir_load(s.b, state, ir_binary(s.b, OP_ADD, offset, i));
    struct ir_value *chosen[1];
    ir_begin_if(s.b, ir_binary(s.b, OP_LT, k, length));
    struct ir_value *sum = ir_binary(s.b, OP_ADD, x, ir_load(s.b, state, ir_binary(s.b, OP_ADD, offset, k)));
    ir_else(s.b, &sum, 1);
    ir_end_if(s.b, &x, chosen, 1, false);
    ir_store(s.b, state, ir_binary(s.b, OP_ADD, to, i), chosen[0]);
    ir_end_forall(s.b);
    next[0] = upper;
    next[1] = to;
    ir_end_while(s.b, next, results);
    ir_begin_forall(s.b, LEVEL_BLOCK, LEVEL_THREAD, ir_int(s.b, 1), "i");
    ir_store(s.b, out, zero, ir_load(s.b, state, results[1]));
    ir_end_forall(s.b);
    ir_end_forall(s.b);
    return s.kernel;
}

/* Warps of a block reverse 32 elements each, through memory of their own. */
static struct ir_kernel *sample_warps(struct arena *arena) {
    struct sample_kernel s = sample_begin(arena, "warps");
    struct ir_value *blocks = sample_length(&s, "blocks");
    struct ir_value *n = ir_binary(s.b, OP_MUL, blocks, ir_int(s.b, 512));
    struct ir_buffer *in = sample_input(&s, BASE_I32, "in"), *out = sample_output(&s, BASE_I32, n, "out");
    struct ir_value *b = ir_begin_forall(s.b, LEVEL_GRID, LEVEL_BLOCK, blocks, "b");
    struct ir_value *w = ir_begin_forall(s.b, LEVEL_BLOCK, LEVEL_WARP, ir_int(s.b, 16), "w");
    struct ir_value *base =
        ir_binary(s.b, OP_ADD, ir_binary(s.b, OP_MUL, b, ir_int(s.b, 512)), ir_binary(s.b, OP_MUL, w, ir_int(s.b, 32)));
    struct ir_buffer *tile = sample_shared(&s, LEVEL_WARP, BASE_I32, ir_int(s.b, 32), "tile");
    struct ir_value *i = ir_begin_forall(s.b, LEVEL_WARP, LEVEL_THREAD, ir_int(s.b, 32), "i");
    ir_store(s.b, tile, i, ir_load(s.b, in, ir_binary(s.b, OP_ADD, base, i)));
    ir_end_forall(s.b);
    i = ir_begin_forall(s.b, LEVEL_WARP, LEVEL_THREAD, ir_int(s.b, 32), "i");
    struct ir_value *x = ir_load(s.b, tile, ir_binary(s.b, OP_SUB, ir_int(s.b, 31), i));
    ir_store(s.b, out, ir_binary(s.b, OP_ADD, base, i), x);
    ir_end_forall(s.b);
    ir_end_forall(s.b);
    ir_end_forall(s.b);
    return s.kernel;
}

/* Rows of a matrix: threads with sequential loops; sums and largest elements, a tuple of results. */
static struct ir_kernel *sample_rows(struct arena *arena) {
    struct sample_kernel s = sample_begin(arena, "rows");
    struct ir_value *rows = sample_length(&s, "rows"), *columns = sample_length(&s, "columns");
    struct ir_buffer *in = sample_input(&s, BASE_F32, "in");
    struct ir_buffer *sums = sample_output(&s, BASE_F32, rows, "sums");
    struct ir_buffer *best = sample_output(&s, BASE_I32, rows, "best");
    struct ir_value *r = ir_begin_forall(s.b, LEVEL_GRID, LEVEL_THREAD, rows, "row");
    union scalar zero = {.floating = 0}, low = {.floating = -1e30};
    struct ir_value *carried[3] = {ir_constant(s.b, BASE_F32, zero), ir_constant(s.b, BASE_F32, low), ir_int(s.b, 0)};
    struct ir_value *next[3], *results[3], *chosen[2];
    struct ir_value *k = ir_begin_for(s.b, columns, carried, 3, "k");
    struct ir_value *x = ir_load(s.b, in, ir_binary(s.b, OP_ADD, ir_binary(s.b, OP_MUL, r, columns), k));
    next[0] = ir_binary(s.b, OP_ADD, carried[0], x);
    ir_begin_if(s.b, ir_binary(s.b, OP_LT, carried[1], x));
    struct ir_value *greater[2] = {x, k}, *same[2] = {carried[1], carried[2]};
    ir_else(s.b, greater, 2);
    ir_end_if(s.b, same, chosen, 2, false);
    next[1] = chosen[0];
    next[2] = chosen[1];
    ir_end_for(s.b, next, results);
    ir_store(s.b, sums, r, results[0]);
    ir_store(s.b, best, r, results[2]);
    ir_end_forall(s.b);
    return s.kernel;
}

/* One block reverses chunks of a size that only the launch knows, and the tail is rotated through private memory. */
static struct ir_kernel *sample_dynamic(struct arena *arena) {
    struct sample_kernel s = sample_begin(arena, "dynamic");
    struct ir_value *blocks = sample_length(&s, "count"), *size = sample_length(&s, "size");
    struct ir_value *n = ir_binary(s.b, OP_MUL, blocks, size);
    struct ir_buffer *in = sample_input(&s, BASE_I32, "in"), *out = sample_output(&s, BASE_I32, n, "out");
    struct ir_value *b = ir_begin_forall(s.b, LEVEL_GRID, LEVEL_BLOCK, blocks, "b");
    struct ir_value *base = ir_binary(s.b, OP_MUL, b, size);
    struct ir_buffer *tile = sample_shared(&s, LEVEL_BLOCK, BASE_I32, size, "tile");
    struct ir_buffer *flags = sample_shared(&s, LEVEL_BLOCK, BASE_BOOL, size, "flags");
    struct ir_value *i = ir_begin_forall(s.b, LEVEL_BLOCK, LEVEL_THREAD, size, "i");
    struct ir_value *x = ir_load(s.b, in, ir_binary(s.b, OP_ADD, base, i));
    ir_store(s.b, tile, i, x);
    ir_store(s.b, flags, i, ir_binary(s.b, OP_LT, x, ir_int(s.b, 0)));
    ir_end_forall(s.b);
    i = ir_begin_forall(s.b, LEVEL_BLOCK, LEVEL_THREAD, size, "i");
    struct ir_value *at = ir_binary(s.b, OP_SUB, ir_binary(s.b, OP_SUB, size, ir_int(s.b, 1)), i);
    x = ir_ternary(s.b, OP_SELECT, ir_load(s.b, flags, at), ir_int(s.b, 0), ir_load(s.b, tile, at));
    ir_store(s.b, out, ir_binary(s.b, OP_ADD, base, i), x);
    ir_end_forall(s.b);
    ir_end_forall(s.b);
    return s.kernel;
}

/* Each thread fills memory of its own and reads it back turned round; constant and dynamic. */
static struct ir_kernel *sample_private(struct arena *arena) {
    struct sample_kernel s = sample_begin(arena, "private'");
    struct ir_value *n = sample_length(&s, "n"), *m = sample_length(&s, "m");
    struct ir_buffer *in = sample_input(&s, BASE_I32, "in"), *out = sample_output(&s, BASE_I32, n, "out");
    struct ir_value *t = ir_begin_forall(s.b, LEVEL_GRID, LEVEL_THREAD, n, "t");
    struct ir_value *sum[1] = {ir_int(s.b, 0)}, *result[1];
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        struct ir_value *capacity = dynamic ? m : ir_int(s.b, 8);
        struct ir_buffer *own = sample_shared(&s, LEVEL_THREAD, BASE_I32, capacity, dynamic ? "many" : "few");
        struct ir_value *k = ir_begin_for(s.b, capacity, NULL, 0, "k");
        ir_store(s.b, own, k, ir_load(s.b, in, ir_binary(s.b, OP_ADD, t, k)));
        ir_end_for(s.b, NULL, NULL);
        k = ir_begin_for(s.b, capacity, sum, 1, "k");
        struct ir_value *at = ir_binary(s.b, OP_SUB, ir_binary(s.b, OP_SUB, capacity, ir_int(s.b, 1)), k);
        struct ir_value *next[1] = {
            ir_binary(s.b, OP_XOR, ir_binary(s.b, OP_MUL, sum[0], ir_int(s.b, 31)), ir_load(s.b, own, at))};
        ir_end_for(s.b, next, result);
        sum[0] = result[0];
    }
    ir_store(s.b, out, t, sum[0]);
    ir_end_forall(s.b);
    return s.kernel;
}

/* Every operation on every base. */
static struct ir_kernel *sample_operations(struct arena *arena) {
    struct sample_kernel s = sample_begin(arena, "operations");
    struct ir_value *n = sample_length(&s, "n");
    struct ir_buffer *in[BASE_COUNT], *out[BASE_COUNT];
    for (int base = 0; base < BASE_COUNT; base++) {
        in[base] = sample_input(&s, base, arena_printf(arena, "in_%s", base_info[base].name));
        out[base] = sample_output(&s, base, n, arena_printf(arena, "out_%s", base_info[base].name));
    }
    struct ir_value *i = ir_begin_forall(s.b, LEVEL_GRID, LEVEL_THREAD, n, "i");
    struct ir_value *next = ir_binary(s.b, OP_ADD, i, ir_int(s.b, 1));
    struct ir_value *any = ir_load(s.b, in[BASE_BOOL], i), *other = ir_load(s.b, in[BASE_BOOL], next);
    struct ir_value *flag = ir_binary(s.b, OP_XOR, any, ir_binary(s.b, OP_OR, ir_unary(s.b, OP_NOT, other), any));
    for (int base = BASE_I8; base < BASE_COUNT; base++) {
        struct ir_value *x = ir_load(s.b, in[base], i), *y = ir_load(s.b, in[base], next), *z = x;
        bool is_floating = base_info[base].is_floating;
        static const enum ir_op both[] = {OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MIN, OP_MAX};
        static const enum ir_op integers[] = {OP_REM, OP_AND, OP_OR, OP_XOR, OP_SHL, OP_SHR};
        static const enum ir_op floats[] = {OP_SQRT, OP_RSQRT, OP_EXP,  OP_LOG, OP_SIN, OP_COS,
                                            OP_TAN,  OP_FLOOR, OP_CEIL, OP_ABS, OP_NEG};
        /* Each operation's result goes into a sum, so that none is simplified away. */
        struct ir_value *three = ir_convert(s.b, ir_int(s.b, 3), base);
        for (size_t k = 0; k < sizeof both / sizeof *both; k++)
            z = ir_binary(s.b, OP_ADD, ir_binary(s.b, OP_MUL, z, three), ir_binary(s.b, both[k], x, y));
        if (is_floating) {
            for (size_t k = 0; k < sizeof floats / sizeof *floats; k++)
                z = ir_binary(s.b, OP_ADD, z, ir_unary(s.b, floats[k], x));
            z = ir_binary(s.b, OP_POW, z, ir_ternary(s.b, OP_FMA, x, y, z));
            union scalar third = {.floating = 1.0 / 3}, huge = {.floating = 1e300 * 1e300};
            if (base == BASE_F32)
                third.floating = (float)third.floating;
            z = ir_binary(s.b, OP_MAX, ir_binary(s.b, OP_MUL, z, ir_constant(s.b, base, third)),
                          ir_unary(s.b, OP_NEG, ir_constant(s.b, base, huge)));
        } else {
            union scalar lowest = {.integer = base_info[base].bits == 64 ? INT64_MIN : INT32_MIN};
            struct ir_value *least = ir_constant(s.b, base, lowest), *minus = ir_convert(s.b, ir_int(s.b, -1), base);
            struct ir_value *divisor = ir_ternary(s.b, OP_SELECT, any, minus, y);
            for (size_t k = 0; k < sizeof integers / sizeof *integers; k++)
                z = ir_binary(s.b, OP_ADD, ir_binary(s.b, OP_MUL, z, three), ir_binary(s.b, integers[k], x, y));
            z = ir_binary(s.b, OP_XOR, z, ir_binary(s.b, OP_DIV, least, divisor));
            z = ir_binary(s.b, OP_XOR, z, ir_binary(s.b, OP_REM, least, divisor));
            z = ir_binary(s.b, OP_ADD, ir_unary(s.b, OP_NEG, z), ir_unary(s.b, OP_ABS, x));
            z = ir_binary(s.b, OP_XOR, z, ir_unary(s.b, OP_BIT_NOT, y));
            struct ir_value *bits = ir_binary(s.b, OP_ADD, ir_unary(s.b, OP_CLZ, z), ir_unary(s.b, OP_POPCOUNT, x));
            z = ir_binary(s.b, OP_XOR, ir_binary(s.b, OP_ADD, z, ir_convert(s.b, bits, base)), least);
        }
        flag = ir_binary(s.b, OP_AND, flag,
                         ir_binary(s.b, OP_OR, ir_binary(s.b, OP_LT, x, y), ir_binary(s.b, OP_EQ, y, z)));
        for (int to = 0; to < BASE_COUNT; to++)
            if (to != base && to != BASE_BOOL)
                z = ir_binary(s.b, OP_ADD, z, ir_convert(s.b, ir_convert(s.b, y, to), base));
        z = ir_ternary(s.b, OP_SELECT, ir_convert(s.b, y, BASE_BOOL), z, ir_convert(s.b, flag, base));
        ir_store(s.b, out[base], i, z);
    }
    ir_store(s.b, out[BASE_BOOL], i, flag);
    ir_end_forall(s.b);
    return s.kernel;
}

/* Two launches, and one in a branch of the host; nothing for the last kernel. */
static struct ir_kernel *sample_launches(struct arena *arena) {
    struct sample_kernel s = sample_begin(arena, "double");
    struct ir_value *n = sample_length(&s, "n");
    struct ir_buffer *in = sample_input(&s, BASE_I64, "in"), *middle = sample_output(&s, BASE_I64, n, "middle");
    struct ir_value *i = ir_begin_forall(s.b, LEVEL_GRID, LEVEL_THREAD, n, "i");
    struct ir_value *x = ir_load(s.b, in, i);
    ir_store(s.b, middle, i, ir_binary(s.b, OP_ADD, x, x));
    ir_end_forall(s.b);
    ir_begin_if(s.b, ir_binary(s.b, OP_LT, ir_int(s.b, 5), n));
    struct ir_buffer *out = sample_output(&s, BASE_I64, n, "out");
    i = ir_begin_forall(s.b, LEVEL_GRID, LEVEL_WARP, ir_binary(s.b, OP_DIV, n, ir_int(s.b, 5)), "w");
    struct ir_value *k = ir_begin_forall(s.b, LEVEL_WARP, LEVEL_THREAD, ir_int(s.b, 5), "k");
    struct ir_value *at = ir_binary(s.b, OP_ADD, ir_binary(s.b, OP_MUL, i, ir_int(s.b, 5)), k);
    ir_store(s.b, out, at, ir_load(s.b, middle, at));
    ir_end_forall(s.b);
    ir_end_forall(s.b);
    ir_else(s.b, NULL, 0);
    ir_end_if(s.b, NULL, NULL, 0, false);
    return s.kernel;
}

/* 64 KiB of shared memory: more than can be declared. */
static struct ir_kernel *sample_large(struct arena *arena) {
    struct sample_kernel s = sample_begin(arena, "large");
    struct ir_value *n = sample_length(&s, "n"), *size = ir_int(s.b, 8192);
    struct ir_buffer *in = sample_input(&s, BASE_F64, "in"), *out = sample_output(&s, BASE_F64, n, "out");
    struct ir_value *b = ir_begin_forall(s.b, LEVEL_GRID, LEVEL_BLOCK, n, "b");
    struct ir_buffer *tile = sample_shared(&s, LEVEL_BLOCK, BASE_F64, size, "tile");
    struct ir_value *i = ir_begin_forall(s.b, LEVEL_BLOCK, LEVEL_THREAD, size, "i");
    ir_store(s.b, tile, i, ir_load(s.b, in, ir_binary(s.b, OP_ADD, i, b)));
    ir_end_forall(s.b);
    struct ir_value *x = ir_load(s.b, tile, ir_binary(s.b, OP_AND, b, ir_int(s.b, 8191)));
    ir_begin_forall(s.b, LEVEL_BLOCK, LEVEL_THREAD, ir_int(s.b, 1), "i");
    ir_store(s.b, out, b, ir_binary(s.b, OP_ADD, x, x));
    ir_end_forall(s.b);
    ir_end_forall(s.b);
    return s.kernel;
}

static const struct sample {
    const char *name;
    struct ir_kernel *(*build)(struct arena *arena);
} samples[] = {
    {"reverse", sample_reverse},
    {"reverse_block", sample_reverse_block},
    {"two_phases", sample_two_phases},
    {"tree", sample_tree},
    {"while", sample_while},
    {"warps", sample_warps},
    {"rows", sample_rows},
    {"dynamic", sample_dynamic},
    {"private", sample_private},
    {"operations", sample_operations},
    {"launches", sample_launches},
    {"large", sample_large},
};
enum { SAMPLE_COUNT = sizeof samples / sizeof *samples };

/* The ways of printing. */
enum sample_target {
    SAMPLE_CUDA,
    SAMPLE_OPENCL_SIMT,
    SAMPLE_OPENCL_SUB_GROUPS,
    SAMPLE_OPENCL_LOOP,
    SAMPLE_C,
    SAMPLE_TARGET_COUNT
};

static inline const char *sample_target_name(enum sample_target target) {
    return target == SAMPLE_CUDA ? "cuda" : target == SAMPLE_C ? "c" : "opencl";
}

static inline struct target_program *sample_map(struct arena *arena, const struct ir_kernel *kernel,
                                                enum sample_target target) {
    const struct target *of = target_named(sample_target_name(target));
    const struct machine *machine = target == SAMPLE_OPENCL_SUB_GROUPS                   ? of->sub_groups
                                    : target == SAMPLE_OPENCL_LOOP || target == SAMPLE_C ? of->loop
                                                                                         : of->simt;
    struct map_options options = machine->map;
    options.passes = ARENA_NEW(arena, struct pass_run);
    *options.passes = passes_wanted(&(struct pass_options){.level = 1, .has = machine_passes(machine)});
    return map_kernel(arena, kernel, &options);
}

static inline const char *sample_print(struct arena *arena, const struct ir_kernel *kernel, enum sample_target target) {
    const struct target_program *program = sample_map(arena, kernel, target);
    struct text text;
    text_init(&text, arena);
    struct backend_options options = {.source = "sample.fcl", .version = "test"};
    backend_print(&text, target_named(sample_target_name(target)), &program, 1, &options);
    return text_string(&text);
}

#endif
