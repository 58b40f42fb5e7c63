/* note [registers]
   A small array of a block on a CPU, of which every loop over threads touches its own stretch of each row, is what an expert
   would keep in vector registers: the accumulators of a product of matrices. Compilers that make vectors of loops do so
   after they have decided what lives in registers, and then load and store these arrays in every round of the loops outside.
   So such an array becomes one of vectors, its loops go from vector to vector, and are unrolled: every index
   is then a constant, and each vector a register. For targets whose language has vectors; loops that touch no such array
   are left to their compilers.

   All iterations of a loop over threads are independent, so that those of a vector may be done at once. */
#include "map/lower.h"

enum {
    LANES = TARGET_LANES,
    MOST_VECTORS = 32, /* in one array: as many as AVX-512 has registers */
};

/* How an expression changes from one iteration of a loop to the next. */
enum shape {
    SHAPE_UNIFORM, /* not at all */
    SHAPE_STEP,    /* it is an index that becomes one more */
    SHAPE_LANES,   /* anyhow: a vector */
    SHAPE_OTHER,   /* no vector of what is supported here */
};

struct finder {
    struct lowering *l;
    struct target_variable *index; /* of the loop that is looked at */
    struct map *shapes;            /* of the variables declared in it, as integers */
};

/* ---- shapes ---- */

static bool has_vectors(enum base base) { return base == BASE_F32 || base == BASE_I32 || base == BASE_U32; }

static bool is_supported(enum ir_op op, enum base base) {
    switch (op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL: return true;
    case OP_NEG:
    case OP_FMA: return base == BASE_F32;
    default: return false;
    }
}

static enum shape shape_of(const struct finder *f, const struct target_expr *expr);

static enum shape shape_of_operation(const struct finder *f, const struct target_expr *expr) {
    enum shape shapes[3] = {SHAPE_UNIFORM, SHAPE_UNIFORM, SHAPE_UNIFORM};
    bool has_step = false, has_lanes = false;
    for (int i = 0; i < 3 && expr->operands[i]; i++) {
        shapes[i] = shape_of(f, expr->operands[i]);
        if (shapes[i] == SHAPE_OTHER)
            return SHAPE_OTHER;
        has_step |= shapes[i] == SHAPE_STEP;
        has_lanes |= shapes[i] == SHAPE_LANES;
    }
    if (!has_step && !has_lanes)
        return SHAPE_UNIFORM;
    if (has_step) {
        bool is_sum = (expr->op == OP_ADD && (shapes[0] == SHAPE_UNIFORM || shapes[1] == SHAPE_UNIFORM)) ||
                      (expr->op == OP_SUB && shapes[1] == SHAPE_UNIFORM) ||
                      (expr->op == OP_CONVERT && base_info[expr->base].is_integer && base_info[expr->base].bits >= 32);
        return is_sum ? SHAPE_STEP : SHAPE_OTHER;
    }
    if (!has_vectors(expr->base) || !is_supported(expr->op, expr->base))
        return SHAPE_OTHER;
    for (int i = 0; i < 3 && expr->operands[i]; i++)
        if (expr->operands[i]->base != expr->base)
            return SHAPE_OTHER;
    return SHAPE_LANES;
}

static enum shape shape_of(const struct finder *f, const struct target_expr *expr) {
    if (expr->lanes)
        return SHAPE_LANES;
    switch (expr->kind) {
    case TARGET_EXPR_CONSTANT:
    case TARGET_EXPR_HARDWARE: return SHAPE_UNIFORM;
    case TARGET_EXPR_VARIABLE:
        if (expr->variable == f->index)
            return SHAPE_STEP;
        return map_has(f->shapes, expr->variable) ? (enum shape)(uintptr_t)map_get(f->shapes, expr->variable)
                                                  : SHAPE_UNIFORM;
    case TARGET_EXPR_OPERATION: return shape_of_operation(f, expr);
    case TARGET_EXPR_ELEMENT:
        if (expr->is_volatile)
            return SHAPE_OTHER;
        switch (shape_of(f, expr->operands[0])) {
        case SHAPE_UNIFORM: return SHAPE_UNIFORM;
        case SHAPE_STEP: return has_vectors(expr->array->element) ? SHAPE_LANES : SHAPE_OTHER;
        case SHAPE_LANES:
        case SHAPE_OTHER: return SHAPE_OTHER;
        }
    }
    return SHAPE_OTHER;
}

static bool is_integer(const struct target_expr *expr, int64_t value) {
    return expr->kind == TARGET_EXPR_CONSTANT && base_info[expr->base].is_integer && expr->constant.integer == value;
}

/* Fills f->shapes. Can the whole loop go by vectors? */
static bool has_shape(struct finder *f, const struct target_statement *loop) {
    if (loop->vectors != TARGET_VECTORS_WANTED || !is_integer(loop->value, 0) || !is_integer(loop->step, 1) ||
        loop->limit->kind != TARGET_EXPR_CONSTANT || loop->limit->constant.integer % LANES ||
        loop->limit->constant.integer > MOST_VECTORS * LANES)
        return false;
    f->index = loop->variable;
    f->shapes = map_new(f->l->arena);
    for (size_t i = 0; i < loop->body.statements.count; i++) {
        const struct target_statement *statement = loop->body.statements.at[i];
        enum shape shape = statement->value ? shape_of(f, statement->value) : SHAPE_OTHER;
        if (shape == SHAPE_OTHER)
            return false;
        if (statement->kind == TARGET_DECLARE && !statement->variable->is_mutable)
            map_set(f->shapes, statement->variable, (void *)(uintptr_t)shape);
        else if (statement->kind != TARGET_STORE || statement->is_volatile || shape == SHAPE_STEP ||
                 !has_vectors(statement->array->element) || shape_of(f, statement->index) != SHAPE_STEP)
            return false;
    }
    return true;
}

/* ---- arrays ---- */

static void offer(struct target_block *block) {
    for (size_t i = 0; i < block->statements.count; i++) {
        struct target_statement *statement = block->statements.at[i];
        struct target_array *array = statement->array;
        if (statement->kind == TARGET_DECLARE_ARRAY && array->space == TARGET_SPACE_PRIVATE &&
            has_vectors(array->element) && array->capacity > 0 && array->capacity % LANES == 0 &&
            array->capacity <= MOST_VECTORS * LANES)
            array->lanes = LANES;
        offer(&statement->body);
        offer(&statement->other);
    }
}

/* The constant in `index + constant`, or -1. */
static int64_t offset_of(const struct finder *f, const struct target_expr *place) {
    if (place->kind == TARGET_EXPR_VARIABLE && place->variable == f->index)
        return 0;
    if (place->kind == TARGET_EXPR_OPERATION && place->op == OP_ADD)
        for (int i = 0; i < 2; i++) {
            const struct target_expr *x = place->operands[i], *y = place->operands[1 - i];
            if (x->kind == TARGET_EXPR_VARIABLE && x->variable == f->index && y->kind == TARGET_EXPR_CONSTANT)
                return y->constant.integer;
        }
    return -1;
}

/* An access to an array: it stays one of vectors if this is to one of its vectors. `f` is NULL outside of loops that could have them. */
static void judge(const struct finder *f, struct target_array *array, const struct target_expr *place) {
    int64_t offset = f && place ? offset_of(f, place) : -1;
    if (offset < 0 || offset % LANES)
        array->lanes = 0;
}

static void judge_expr(const struct finder *f, const struct target_expr *expr) {
    if (!expr)
        return;
    if (expr->kind == TARGET_EXPR_ELEMENT)
        judge(f, expr->array, expr->operands[0]);
    for (int i = 0; i < 3; i++)
        judge_expr(f, expr->operands[i]);
}

static void judge_block(struct finder *f, const struct target_block *block, bool is_loop) {
    for (size_t i = 0; i < block->statements.count; i++) {
        const struct target_statement *statement = block->statements.at[i];
        const struct finder *inside = is_loop ? f : NULL;
        judge_expr(inside, statement->value);
        judge_expr(inside, statement->index);
        judge_expr(inside, statement->limit);
        judge_expr(inside, statement->expected);
        if (statement->array && statement->kind != TARGET_DECLARE_ARRAY)
            judge(inside, statement->array, statement->kind == TARGET_STORE ? statement->index : NULL);
        if (statement->from)
            judge(NULL, statement->from, NULL);
        judge_block(f, &statement->body, statement->kind == TARGET_FOR && has_shape(f, statement));
        judge_block(f, &statement->other, false);
    }
}

/* ---- loops ---- */

static bool touches_expr(const struct target_expr *expr) {
    return expr && ((expr->kind == TARGET_EXPR_ELEMENT && expr->array->lanes) || touches_expr(expr->operands[0]) ||
                    touches_expr(expr->operands[1]) || touches_expr(expr->operands[2]));
}

static bool touches(const struct target_block *block) {
    for (size_t i = 0; i < block->statements.count; i++) {
        const struct target_statement *statement = block->statements.at[i];
        if ((statement->kind == TARGET_STORE && statement->array->lanes) || touches_expr(statement->value))
            return true;
    }
    return false;
}

/* Of an array of vectors, which one `place` begins. */
static struct target_expr *vector_at(const struct finder *f, const struct target_expr *place) {
    enum base base = f->index->base;
    struct target_expr *index = expr_variable(f->l, f->index, 0, INT32_MAX);
    struct target_expr *vector = expr_operation(f->l, OP_DIV, base, index, expr_integer(f->l, base, LANES));
    return expr_operation(f->l, OP_ADD, base, vector, expr_integer(f->l, base, offset_of(f, place) / LANES));
}

static void mark(const struct finder *f, struct target_expr *expr) {
    if (expr->lanes || shape_of(f, expr) != SHAPE_LANES)
        return;
    expr->lanes = LANES;
    if (expr->kind == TARGET_EXPR_ELEMENT && expr->array->lanes)
        expr->operands[0] = vector_at(f, expr->operands[0]);
    else if (expr->kind == TARGET_EXPR_OPERATION)
        for (int i = 0; i < 3 && expr->operands[i]; i++)
            mark(f, expr->operands[i]);
}

static void convert(const struct finder *f, struct target_statement *loop) {
    loop->step = expr_integer(f->l, f->index->base, LANES);
    loop->unroll = true;
    for (size_t i = 0; i < loop->body.statements.count; i++) {
        struct target_statement *statement = loop->body.statements.at[i];
        mark(f, statement->value);
        if (statement->kind == TARGET_DECLARE && shape_of(f, statement->value) == SHAPE_LANES)
            statement->variable->lanes = LANES;
        if (statement->kind == TARGET_STORE) {
            statement->lanes = LANES;
            if (statement->array->lanes)
                statement->index = vector_at(f, statement->index);
        }
    }
}

static void convert_block(struct finder *f, struct target_block *block) {
    for (size_t i = 0; i < block->statements.count; i++) {
        struct target_statement *statement = block->statements.at[i];
        if (statement->kind == TARGET_FOR && has_shape(f, statement) && touches(&statement->body)) {
            convert(f, statement);
            continue;
        }
        convert_block(f, &statement->body);
        convert_block(f, &statement->other);
    }
}

void vectors_make(struct lowering *l) {
    struct finder f = {.l = l};
    offer(&l->target->body);
    judge_block(&f, &l->target->body, false);
    convert_block(&f, &l->target->body);
}
