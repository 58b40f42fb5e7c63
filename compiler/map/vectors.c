/* note [registers]
   A small array of a block on a CPU, of which every loop over threads touches its own stretch of
   each row, is what an expert would keep in vector registers: the accumulators of a product of
   matrices. Compilers that make vectors of loops do so after they have decided what lives in
   registers, and then load and store these arrays in every round of the loops outside. So such an
   array becomes one of vectors, its loops go from vector to vector, and are unrolled: every index
   is then a constant, and each vector a register. For targets whose language has vectors; loops
   that touch no such array are left to their compilers, but for those of note [calls].

   note [calls]
   Compilers do not make vectors of loops that call functions, and the exponential of 16 numbers
   takes hardly longer than that of one; nor of those whose iterations have loops that end when
   each says so, nor across the rounds of a loop that all iterations have alike, as over the taps
   of a filter. So a loop over threads with one of these goes by vectors, then by single iterations
   for what is left over. Its branches become masks, where they only compute, and a loop inside it
   goes on until the last lane has left. Floats that nobody reads after such a loop may change for
   lanes that have left; and where its rounds are short, it asks only after some of them whether
   any lane is left.

   note [abreast]
   Where such a loop inside adds to one number in each round, as the product of a row and a column
   does, each round waits for the one before it, and a processor could do several in that time. So
   several vectors go through the loop at once, as long as there are as many: four, or eight (note
   [width]), of which each number that is added to takes its share. The same of a loop of loops, as
   over the taps of a filter of two dimensions. Two go where each lane leaves a short loop when it
   wants, until the last lane of both has left.

   All iterations of a loop over threads are independent, so that those of a vector may be done at
   once.

   note [width]
   OpenCL's compilers take a vector of 16 apart where registers are smaller. GCC keeps its halves in
   memory: QUIRK_LONG_VECTORS. So the text in C says at its beginning how many lanes a vector has, by
   the processor that it is compiled for, and its loops step by that number. Sums go by eight such
   vectors, then by four: two additions begin in each cycle, and one takes four; but a row may have no
   more than 64 elements. */
#include "map/lower.h"

enum {
    LANES = TARGET_LANES,
    MOST_ELEMENTS = 32 * LANES,                /* in one array: as AVX-512 has in its registers */
    MOST_SHORT_ELEMENTS = 16 * CPU_VECTOR / 4, /* the same where there is only AVX2: 16 registers */
    SHORT = 32,                                /* operations in a round of a loop that asks after SOME_ROUNDS only */
    SOME_ROUNDS = 4,
};

struct target_expr *vectors_iterations(struct lowering *l, enum base base, int vectors) {
    if (l->options->has_vectors)
        return expr_integer(l, base, (int64_t)vectors * LANES);
    struct target_expr *lanes = expr_new(l, TARGET_EXPR_HARDWARE, base);
    lanes->hardware = TARGET_LANE_COUNT;
    lanes->low = 1;
    lanes->high = LANES;
    struct target_expr *iterations = expr_operation(l, OP_MUL, base, expr_integer(l, base, vectors), lanes);
    iterations->low = vectors;
    iterations->high = (int64_t)vectors * LANES;
    return iterations;
}

/* How an expression changes from one iteration of a loop to the next. */
enum shape {
    SHAPE_UNIFORM, /* not at all */
    SHAPE_STEP,    /* it is an index that becomes one more */
    SHAPE_LANES,   /* anyhow: a vector */
    SHAPE_OTHER,   /* no vector of what is supported here */
};

struct finder {
    struct lowering *l;
    struct target_variable *index;   /* of the loop that is looked at */
    struct map *shapes;              /* of the variables declared in it, as integers */
    bool is_branch;                  /* in a branch of it, or in a loop inside of it */
    struct map *declared, *assigned; /* while it is being converted: those so far, and those that have got a value */
    struct map *reads;               /* how often each variable is read in it, as integers */
    struct rounds *rounds;           /* the innermost loop inside of it, or NULL */
};

/* A loop that each lane leaves when it wants. */
struct rounds {
    struct rounds *outer;
    struct target_expr *active; /* the lanes that are in it */
    struct map *own;            /* variables declared in a round of it */
    struct map *dying;          /* variables from around it that nobody reads after it */
    bool asks_later;            /* not in its rounds whether any lane is left, but after SOME_ROUNDS */
};

/* ---- shapes ---- */

static bool has_vectors(enum base base) { return base == BASE_F32 || base == BASE_I32 || base == BASE_U32; }

static bool has_lanes(enum base base) { return has_vectors(base) || base == BASE_BOOL; }

/* A division by 0 stops a processor. A condition of a branch holds only for the lanes that are in the branch. */
static bool is_divisor(const struct finder *f, const struct target_expr *x) {
    return x->kind == TARGET_EXPR_CONSTANT ? x->constant.integer > 0 : x->low > 0 && !f->is_branch;
}

/* Does it give a vector of `expr`'s base, or of truth values, where its operands are vectors of one base? */
static bool is_supported(const struct finder *f, const struct target_expr *expr) {
    enum base base = expr->operands[0]->base;
    switch (ir_op_info[expr->op].lanes) {
    case LANES_NUMBERS: return has_vectors(base) || (base == BASE_BOOL && expr->base == BASE_BOOL);
    case LANES_TRUTH: return true;
    case LANES_BITS: return base == BASE_I32 || base == BASE_U32 || base == BASE_BOOL;
    case LANES_DIVISION: /* of integers only what needs no function of ours */
        return base == BASE_F32 || (has_vectors(base) && is_divisor(f, expr->operands[1]));
    case LANES_FLOATS: return base == BASE_F32;
    case LANES_OURS: return base == BASE_F32;
    case LANES_CALL: return base == BASE_F32 && f->l->options->has_vectors;
    case LANES_NONE:
    case LANES_OWN: return false;
    }
    return false;
}

static enum shape shape_of(const struct finder *f, const struct target_expr *expr);

/* A choice by lanes computes both sides for all lanes: these are branches. */
static enum shape shape_of_side(const struct finder *f, const struct target_expr *side) {
    struct finder inside = *f;
    inside.is_branch = true;
    return expr_reads(side, false) ? SHAPE_OTHER : shape_of(&inside, side);
}

static enum shape shape_of_operation(const struct finder *f, const struct target_expr *expr) {
    enum shape shapes[3] = {SHAPE_UNIFORM, SHAPE_UNIFORM, SHAPE_UNIFORM};
    bool has_step = false, is_lanes = false;
    for (int i = 0; i < 3 && expr->operands[i]; i++) {
        bool is_side = expr->op == OP_SELECT && i > 0 && shapes[0] != SHAPE_UNIFORM;
        shapes[i] = is_side ? shape_of_side(f, expr->operands[i]) : shape_of(f, expr->operands[i]);
        if (shapes[i] == SHAPE_OTHER)
            return SHAPE_OTHER;
        has_step |= shapes[i] == SHAPE_STEP;
        is_lanes |= shapes[i] == SHAPE_LANES;
    }
    if (!has_step && !is_lanes) {
        bool divides = (expr->op == OP_DIV || expr->op == OP_REM) && base_info[expr->base].is_integer;
        return divides && !is_divisor(f, expr->operands[1]) && f->is_branch ? SHAPE_OTHER : SHAPE_UNIFORM;
    }
    if (has_step && !is_lanes) {
        bool is_sum = (expr->op == OP_ADD && (shapes[0] == SHAPE_UNIFORM || shapes[1] == SHAPE_UNIFORM)) ||
                      (expr->op == OP_SUB && shapes[1] == SHAPE_UNIFORM) ||
                      (expr->op == OP_CONVERT && base_info[expr->base].is_integer && base_info[expr->base].bits >= 32);
        if (is_sum)
            return SHAPE_STEP;
    }
    for (int i = 0; i < 3 && expr->operands[i]; i++)
        if (shapes[i] == SHAPE_STEP && expr->operands[i]->base != BASE_I32)
            return SHAPE_OTHER; /* the lanes' indices are ints */
    if (expr->op == OP_CONVERT) {
        enum base from = expr->operands[0]->base;
        bool is_known = (expr->base == BASE_F32 && from == BASE_I32) ||
                        (expr->base == BASE_U8 && (from == BASE_I32 || from == BASE_U32));
        return is_known ? SHAPE_LANES : SHAPE_OTHER;
    }
    if (expr->op == OP_SELECT)
        return has_lanes(expr->base) ? SHAPE_LANES : SHAPE_OTHER;
    if (expr->op == OP_SHR)
        return has_vectors(expr->base) && expr->operands[1]->kind == TARGET_EXPR_CONSTANT &&
                       expr->operands[1]->constant.natural < 32
                   ? SHAPE_LANES
                   : SHAPE_OTHER;
    for (int i = 0; i < 3 && expr->operands[i]; i++)
        if (expr->operands[i]->base != expr->operands[0]->base)
            return SHAPE_OTHER;
    return is_supported(f, expr) ? SHAPE_LANES : SHAPE_OTHER;
}

static enum shape shape_of(const struct finder *f, const struct target_expr *expr) {
    if (expr->lanes)
        return SHAPE_LANES;
    switch (expr->kind) {
    case TARGET_EXPR_CONSTANT:
    case TARGET_EXPR_ALIGNED:
    case TARGET_EXPR_KEPT:
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

static bool is_flat(struct finder *f, const struct target_block *block, bool is_branch);

/* Fills f->shapes. Can the statement be done for the iterations of a vector together? In a branch
   nothing may touch memory: what it computes is computed for all. */
static bool is_flat_statement(struct finder *f, const struct target_statement *statement, bool is_branch) {
    f->is_branch = is_branch;
    enum shape shape = statement->value ? shape_of(f, statement->value) : SHAPE_LANES;
    if (shape == SHAPE_OTHER || (is_branch && statement->value && expr_reads(statement->value, false)))
        return false;
    struct target_variable *variable = statement->variable;
    switch (statement->kind) {
    case TARGET_DECLARE:
        if (variable->is_mutable && (shape == SHAPE_STEP ? variable->base != BASE_I32 : !has_lanes(variable->base)))
            return false;
        map_set(f->shapes, variable, (void *)(uintptr_t)(variable->is_mutable ? SHAPE_LANES : shape));
        return true;
    case TARGET_ASSIGN: return (shape != SHAPE_STEP || variable->base == BASE_I32) && map_has(f->shapes, variable);
    case TARGET_STORE:
        return !is_branch && !statement->is_volatile && (shape != SHAPE_STEP || statement->value->base == BASE_I32) &&
               (has_vectors(statement->array->element) || statement->array->element == BASE_U8) &&
               shape_of(f, statement->index) == SHAPE_STEP;
    case TARGET_IF:
        return shape == SHAPE_LANES && is_flat(f, &statement->body, true) && is_flat(f, &statement->other, true);
    case TARGET_WHILE: return (statement->value ? shape == SHAPE_LANES : true) && is_flat(f, &statement->body, true);
    case TARGET_FOR: /* that all lanes go through together */
        return shape == SHAPE_UNIFORM && shape_of(f, statement->limit) == SHAPE_UNIFORM &&
               shape_of(f, statement->step) == SHAPE_UNIFORM && is_flat(f, &statement->body, is_branch);
    case TARGET_LEAVE_UNLESS: return shape == SHAPE_LANES;
    default: return false;
    }
}

static bool is_flat(struct finder *f, const struct target_block *block, bool is_branch) {
    for (size_t i = 0; i < block->statements.count; i++)
        if (!is_flat_statement(f, block->statements.at[i], is_branch))
            return false;
    return true;
}

static bool is_flat_loop(struct finder *f, const struct target_statement *loop) {
    f->index = loop->variable;
    f->shapes = map_new(f->l->arena);
    bool is_good = is_integer(loop->step, 1) && is_flat(f, &loop->body, false);
    f->is_branch = false;
    return is_good;
}

static bool has_branches(const struct target_block *block) {
    for (size_t i = 0; i < block->statements.count; i++)
        if (block->statements.at[i]->kind == TARGET_IF)
            return true;
    return false;
}

/* The most that an array may have which is to stay in registers. */
static int64_t most_elements(const struct lowering *l) {
    return l->options->has_vectors || l->options->has_wide_vectors ? MOST_ELEMENTS : MOST_SHORT_ELEMENTS;
}

/* Can the whole loop go by vectors, unrolled? (Branches would need names, which nobody knows any more to be free.) */
static bool has_shape(struct finder *f, const struct target_statement *loop) {
    bool is_wanted = loop->vectors == TARGET_VECTORS_WANTED || loop->vectors == TARGET_VECTORS_WANTED_EIGHT;
    return is_wanted && !has_branches(&loop->body) && is_integer(loop->value, 0) &&
           loop->limit->kind == TARGET_EXPR_CONSTANT && loop->limit->constant.integer % LANES == 0 &&
           loop->limit->constant.integer <= most_elements(f->l) && is_flat_loop(f, loop);
}

/* ---- arrays ---- */

static void give_lanes(const struct lowering *l, struct target_block *block) {
    for (size_t i = 0; i < block->statements.count; i++) {
        struct target_statement *statement = block->statements.at[i];
        struct target_array *array = statement->array;
        if (statement->kind == TARGET_DECLARE_ARRAY && array->space == TARGET_SPACE_PRIVATE &&
            has_vectors(array->element) && array->capacity > 0 && array->capacity % LANES == 0 &&
            array->capacity <= most_elements(l))
            array->lanes = LANES;
        give_lanes(l, &statement->body);
        give_lanes(l, &statement->other);
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

/* An access to an array: it stays one of vectors if this is to one of its vectors. `f` is NULL
   outside of loops that could have them. */
static void keep_lanes(const struct finder *f, struct target_array *array, const struct target_expr *place) {
    int64_t offset = f && place ? offset_of(f, place) : -1;
    if (offset < 0 || offset % LANES)
        array->lanes = 0;
}

static void keep_lanes_of_expr(const struct finder *f, const struct target_expr *expr) {
    if (!expr)
        return;
    if (expr->kind == TARGET_EXPR_ELEMENT)
        keep_lanes(f, expr->array, expr->operands[0]);
    for (int i = 0; i < 3; i++)
        keep_lanes_of_expr(f, expr->operands[i]);
}

static void keep_lanes_of_block(struct finder *f, const struct target_block *block, bool is_loop) {
    for (size_t i = 0; i < block->statements.count; i++) {
        const struct target_statement *statement = block->statements.at[i];
        const struct finder *inside = is_loop ? f : NULL;
        keep_lanes_of_expr(inside, statement->value);
        keep_lanes_of_expr(inside, statement->index);
        keep_lanes_of_expr(inside, statement->limit);
        keep_lanes_of_expr(inside, statement->expected);
        if (statement->array && statement->kind != TARGET_DECLARE_ARRAY)
            keep_lanes(inside, statement->array, statement->kind == TARGET_STORE ? statement->index : NULL);
        if (statement->from)
            keep_lanes(NULL, statement->from, NULL);
        keep_lanes_of_block(f, &statement->body, statement->kind == TARGET_FOR && has_shape(f, statement));
        keep_lanes_of_block(f, &statement->other, false);
    }
}

/* ---- loops ---- */

static bool touches(const struct target_block *block) {
    for (size_t i = 0; i < block->statements.count; i++) {
        const struct target_statement *statement = block->statements.at[i];
        if ((statement->kind == TARGET_STORE && statement->array->lanes) ||
            (statement->value && expr_reads(statement->value, true)))
            return true;
    }
    return false;
}

/* Which vector of an array of vectors `place` begins. The index counts from 0 (has_shape), and what is added to it is a
   multiple of LANES that is not negative (keep_lanes). */
static struct target_expr *vector_at(const struct finder *f, const struct target_expr *place) {
    enum base base = f->index->base;
    struct target_expr *index = expr_variable(f->l, f->index, 0, INT32_MAX);
    struct target_expr *lanes = vectors_iterations(f->l, base, 1);
    struct target_expr *first = expr_integer(f->l, base, offset_of(f, place));
    if (f->l->options->has_vectors)
        first = expr_integer(f->l, base, offset_of(f, place) / LANES);
    else if (offset_of(f, place))
        first = expr_operation(f->l, OP_DIV, base, first, lanes);
    return expr_operation(f->l, OP_ADD, base, expr_operation(f->l, OP_DIV, base, index, lanes), first);
}

/* The indices of all lanes. (The index itself is shared with places in memory.) */
static struct target_expr *indices_of_lanes(const struct finder *f, struct target_expr *first) {
    struct target_expr *numbers = expr_new(f->l, TARGET_EXPR_HARDWARE, BASE_I32);
    numbers->hardware = TARGET_LANE_NUMBERS;
    struct target_expr *all = expr_new(f->l, TARGET_EXPR_OPERATION, BASE_I32);
    all->op = OP_ADD;
    all->operands[0] = first;
    all->operands[1] = numbers;
    all->low = first->low;
    all->high = first->high;
    all->wraps = first->wraps;
    numbers->lanes = all->lanes = LANES;
    return all;
}

/* Keeps the lowest byte of x: OpenCL leaves open how it converts a number that is too large for the type. */
static struct target_expr *lowest_byte(const struct finder *f, struct target_expr *x) {
    if (x->low >= 0 && x->high <= UINT8_MAX)
        return x;
    struct target_expr *byte = expr_new(f->l, TARGET_EXPR_OPERATION, x->base);
    byte->op = OP_AND;
    byte->operands[0] = x;
    byte->operands[1] = expr_integer(f->l, x->base, UINT8_MAX);
    byte->high = UINT8_MAX;
    byte->lanes = LANES;
    return byte;
}

static void give_lanes_to_expr(const struct finder *f, struct target_expr *expr) {
    if (expr->lanes || shape_of(f, expr) != SHAPE_LANES)
        return;
    expr->lanes = LANES;
    if (expr->kind == TARGET_EXPR_ELEMENT && expr->array->lanes)
        expr->operands[0] = vector_at(f, expr->operands[0]);
    else if (expr->kind == TARGET_EXPR_OPERATION)
        for (int i = 0; i < 3 && expr->operands[i]; i++) {
            if (shape_of(f, expr->operands[i]) == SHAPE_STEP)
                expr->operands[i] = indices_of_lanes(f, expr->operands[i]);
            give_lanes_to_expr(f, expr->operands[i]);
        }
    if (expr->kind == TARGET_EXPR_OPERATION && expr->op == OP_CONVERT && expr->base == BASE_U8)
        expr->operands[0] = lowest_byte(f, expr->operands[0]);
}

static struct target_statement *new_statement(struct finder *f, enum target_statement_kind kind,
                                              struct target_expr *value, struct target_block *to) {
    struct target_statement *statement = ARENA_NEW(f->l->arena, struct target_statement);
    statement->kind = kind;
    statement->value = value;
    if (to)
        vec_push(f->l->arena, &to->statements, statement);
    return statement;
}

/* `condition && more`, of vectors, by a name. */
static struct target_expr *mask(struct finder *f, struct target_block *to, struct target_expr *more,
                                struct target_expr *all) {
    struct target_expr *value = more;
    if (all) {
        value = expr_new(f->l, TARGET_EXPR_OPERATION, BASE_BOOL);
        value->op = OP_AND;
        value->operands[0] = all;
        value->operands[1] = more;
        value->lanes = LANES;
    }
    struct target_variable *variable = ARENA_NEW(f->l->arena, struct target_variable);
    variable->name = names_fresh(f->l->names, "mask", "mask");
    variable->base = BASE_BOOL;
    variable->lanes = LANES;
    map_set(f->shapes, variable, (void *)(uintptr_t)SHAPE_LANES);
    new_statement(f, TARGET_DECLARE, value, to)->variable = variable;
    struct target_expr *named = expr_variable(f->l, variable, 0, 1);
    named->lanes = LANES;
    return named;
}

static void flatten(struct finder *f, const struct target_block *from, struct target_block *to,
                    struct target_expr *all);

static void count_reads(struct finder *f, struct map *reads, const struct target_expr *expr) {
    if (!expr)
        return;
    if (expr->kind == TARGET_EXPR_VARIABLE) {
        uintptr_t before = map_has(reads, expr->variable) ? (uintptr_t)map_get(reads, expr->variable) : 0;
        map_set(reads, expr->variable, (void *)(before + 1));
    }
    for (int i = 0; i < 3; i++)
        count_reads(f, reads, expr->operands[i]);
}

static void count_reads_in(struct finder *f, struct map *reads, const struct target_block *block) {
    for (size_t i = 0; i < block->statements.count; i++) {
        const struct target_statement *statement = block->statements.at[i];
        count_reads(f, reads, statement->value);
        count_reads(f, reads, statement->index);
        count_reads_in(f, reads, &statement->body);
        count_reads_in(f, reads, &statement->other);
    }
}

/* Those that have been declared just around the loop (so that it finds them new when it is come to
   again), and are read in it only. (Integers may overflow where no lane's condition keeps them
   small, which is undefined.) */
static struct map *find_dying(struct finder *f, const struct target_statement *loop) {
    struct map *dying = map_new(f->l->arena), *reads = map_new(f->l->arena);
    const struct map *around = f->rounds ? f->rounds->own : f->declared;
    count_reads(f, reads, loop->value);
    count_reads_in(f, reads, &loop->body);
    for (size_t i = 0; i < map_count(around); i++) {
        const struct target_variable *variable = map_entry(around, i).key;
        if (variable->base == BASE_F32 && map_has(reads, variable) &&
            map_get(reads, variable) == map_get(f->reads, variable))
            map_set(dying, variable, dying);
    }
    return dying;
}

/* The operations; too many if there are calls. */
static int operations_in(const struct target_expr *expr) {
    if (!expr)
        return 0;
    int own = expr->kind != TARGET_EXPR_OPERATION ? 0 : ir_op_is_call(expr->op) ? SHORT + 1 : 1;
    return own + operations_in(expr->operands[0]) + operations_in(expr->operands[1]) + operations_in(expr->operands[2]);
}

static bool is_short(const struct target_statement *loop) {
    int operations = operations_in(loop->value);
    for (size_t i = 0; i < loop->body.statements.count; i++) {
        const struct target_statement *statement = loop->body.statements.at[i];
        if (statement->body.statements.count)
            return false;
        operations += operations_in(statement->value);
    }
    return operations <= SHORT;
}

static void flatten_while(struct finder *f, struct target_statement *loop, struct target_block *to,
                          struct target_expr *all) {
    struct target_expr *everyone = all;
    if (!everyone) {
        everyone = expr_new(f->l, TARGET_EXPR_CONSTANT, BASE_BOOL);
        everyone->constant.integer = 1;
        everyone->lanes = LANES;
    }
    struct rounds rounds = {.outer = f->rounds,
                            .active = mask(f, to, everyone, NULL),
                            .own = map_new(f->l->arena),
                            .dying = find_dying(f, loop),
                            .asks_later = is_short(loop)};
    rounds.active->variable->is_mutable = true;
    /* A lane that has left keeps the values that it found, in the loop or before it. */
    for (size_t i = 0; i < map_count(f->declared); i++) {
        const void *variable = map_entry(f->declared, i).key;
        map_set(f->assigned, variable, f->declared);
    }
    struct target_statement *round = new_statement(f, TARGET_WHILE, NULL, to);
    struct target_block body = {0};
    if (loop->value) /* asked first */
        new_statement(f, TARGET_LEAVE_UNLESS, loop->value, &body);
    for (size_t i = 0; i < loop->body.statements.count; i++)
        vec_push(f->l->arena, &body.statements, loop->body.statements.at[i]);
    struct target_block *inside = &round->body;
    if (rounds.asks_later) {
        struct target_statement *some = new_statement(f, TARGET_FOR, expr_integer(f->l, BASE_I32, 0), &round->body);
        some->variable = ARENA_NEW(f->l->arena, struct target_variable);
        some->variable->name = names_fresh(f->l->names, "turn", "turn");
        some->variable->base = BASE_I32;
        some->limit = expr_integer(f->l, BASE_I32, SOME_ROUNDS);
        some->step = expr_integer(f->l, BASE_I32, 1);
        some->unroll = true;
        inside = &some->body;
    }
    f->rounds = &rounds;
    flatten(f, &body, inside, rounds.active);
    f->rounds = rounds.outer;
    if (rounds.asks_later)
        new_statement(f, TARGET_LEAVE_UNLESS, rounds.active, &round->body);
}

/* A lane keeps its values from before the loop in the rounds that are not for it. */
static void flatten_for(struct finder *f, struct target_statement *loop, struct target_block *to,
                        struct target_expr *all) {
    struct target_block body = {0};
    for (size_t i = 0; i < map_count(f->declared); i++) {
        const void *variable = map_entry(f->declared, i).key;
        map_set(f->assigned, variable, f->declared);
    }
    flatten(f, &loop->body, &body, all);
    loop->body = body;
    vec_push(f->l->arena, &to->statements, loop);
}

/* `active = active && value`, and out when no lane is left. */
static void flatten_leave(struct finder *f, struct target_statement *leave, struct target_block *to) {
    struct target_expr *active = f->rounds->active, *still = expr_new(f->l, TARGET_EXPR_OPERATION, BASE_BOOL);
    still->op = OP_AND;
    still->operands[0] = active;
    still->operands[1] = leave->value;
    still->lanes = LANES;
    new_statement(f, TARGET_ASSIGN, still, to)->variable = active->variable;
    if (!f->rounds->asks_later)
        new_statement(f, TARGET_LEAVE_UNLESS, active, to);
}

static void flatten_branches(struct finder *f, struct target_statement *branch, struct target_block *to,
                             struct target_expr *all) {
    give_lanes_to_expr(f, branch->value);
    struct target_expr *chosen = mask(f, to, branch->value, NULL);
    flatten(f, &branch->body, to, all ? mask(f, to, chosen, all) : chosen);
    if (!branch->other.statements.count)
        return;
    struct target_expr *others = expr_new(f->l, TARGET_EXPR_OPERATION, BASE_BOOL);
    others->op = OP_NOT;
    others->operands[0] = chosen;
    others->lanes = LANES;
    flatten(f, &branch->other, to, mask(f, to, others, all));
}

/* Is it the variable and one more, which does not wrap? */
static bool is_one_more(const struct target_expr *value, const struct target_variable *variable) {
    const struct target_expr *left = value->operands[0], *right = value->operands[1];
    return value->kind == TARGET_EXPR_OPERATION && value->op == OP_ADD && value->base == BASE_I32 && !value->wraps &&
           left->kind == TARGET_EXPR_VARIABLE && left->variable == variable && right->kind == TARGET_EXPR_CONSTANT &&
           right->constant.integer == 1;
}

static void flatten_assign(struct finder *f, struct target_statement *assign, struct target_expr *all) {
    struct target_variable *variable = assign->variable;
    bool is_first = !map_has(f->assigned, variable);
    map_set(f->assigned, variable, variable);
    if (!all || is_first) /* what lanes of no branch hold matters to nobody */
        return;
    if (f->rounds && all == f->rounds->active && map_has(f->rounds->dying, variable))
        return;
    struct target_expr *before = expr_variable(f->l, variable, 0, 0), *value = assign->value;
    before->base = variable->base;
    before->lanes = LANES;
    assign->value = expr_new(f->l, TARGET_EXPR_OPERATION, variable->base);
    assign->value->lanes = LANES;
    if (is_one_more(value, variable)) { /* a lane of a mask is -1 or 0 */
        assign->value->op = OP_SUB;
        assign->value->operands[0] = before;
        assign->value->operands[1] = all;
        return;
    }
    assign->value->op = OP_SELECT;
    assign->value->operands[0] = all;
    assign->value->operands[1] = value;
    assign->value->operands[2] = before;
}

static struct target_expr *nothing(const struct finder *f, enum base base) {
    struct target_expr *zero = expr_new(f->l, TARGET_EXPR_CONSTANT, base);
    zero->lanes = LANES;
    return zero;
}

/* The block's statements, of vectors, go to the end of `to`; what they assign only to the lanes of
   `all`, where it is given. */
static void flatten(struct finder *f, const struct target_block *from, struct target_block *to,
                    struct target_expr *all) {
    for (size_t i = 0; i < from->statements.count; i++) {
        struct target_statement *statement = from->statements.at[i];
        if (statement->kind == TARGET_IF) {
            flatten_branches(f, statement, to, all);
            continue;
        }
        if (statement->kind == TARGET_WHILE) {
            flatten_while(f, statement, to, all);
            continue;
        }
        if (statement->kind == TARGET_FOR) {
            flatten_for(f, statement, to, all);
            continue;
        }
        bool is_step = statement->value && shape_of(f, statement->value) == SHAPE_STEP;
        if (is_step && (statement->kind == TARGET_ASSIGN || statement->kind == TARGET_STORE ||
                        (statement->kind == TARGET_DECLARE && statement->variable->is_mutable)))
            statement->value = indices_of_lanes(f, statement->value);
        else if (statement->value)
            give_lanes_to_expr(f, statement->value);
        if (statement->kind == TARGET_LEAVE_UNLESS) {
            flatten_leave(f, statement, to);
            continue;
        }
        vec_push(f->l->arena, &to->statements, statement);
        if (statement->kind == TARGET_ASSIGN)
            flatten_assign(f, statement, all);
        if (statement->kind == TARGET_DECLARE) {
            struct target_variable *variable = statement->variable;
            map_set(f->declared, variable, variable);
            if (f->rounds)
                map_set(f->rounds->own, variable, variable);
            if ((enum shape)(uintptr_t)map_get(f->shapes, variable) == SHAPE_LANES)
                variable->lanes = LANES;
            if (statement->value && variable->is_mutable)
                map_set(f->assigned, variable, variable);
            else if (variable->lanes && !statement->value && !f->l->options->has_vectors)
                statement->value = nothing(f, variable->base); /* or compilers warn of lanes without a value */
            if (all)                                           /* its name may be one of the other branch, too */
                variable->name = names_fresh(f->l->names, variable->name, "t");
        }
        if (statement->kind == TARGET_STORE) {
            statement->lanes = LANES;
            if (statement->array->lanes)
                statement->index = vector_at(f, statement->index);
        }
    }
}

static void convert(struct finder *f, struct target_statement *loop) {
    struct target_block body = {0};
    f->declared = map_new(f->l->arena);
    f->assigned = map_new(f->l->arena);
    f->reads = map_new(f->l->arena);
    f->rounds = NULL;
    count_reads_in(f, f->reads, &loop->body);
    loop->step = vectors_iterations(f->l, f->index->base, 1);
    flatten(f, &loop->body, &body, NULL);
    loop->body = body;
}

static void convert_block(struct finder *f, struct target_block *block) {
    for (size_t i = 0; i < block->statements.count; i++) {
        struct target_statement *statement = block->statements.at[i];
        if (statement->kind == TARGET_FOR && has_shape(f, statement) && touches(&statement->body)) {
            statement->unroll = true;
            convert(f, statement);
            pass_changed(f->l->options->passes, PASS_VECTOR_ARRAYS);
            continue;
        }
        convert_block(f, &statement->body);
        convert_block(f, &statement->other);
    }
}

void vectors_make(struct lowering *l) {
    struct finder f = {.l = l};
    give_lanes(l, &l->target->body);
    keep_lanes_of_block(&f, &l->target->body, false);
    convert_block(&f, &l->target->body);
}

/* ---- abreast ---- */

/* One of the vectors that go abreast: after so many others, with variables of its own. */
struct file {
    const struct finder *f;
    int before;
    struct map *variables; /* the first one's → its own */
};

/* `x`, which is an index, so many iterations later. */
static struct target_expr *moved(const struct file *file, struct target_expr *x) {
    struct target_expr *later = expr_new(file->f->l, TARGET_EXPR_OPERATION, x->base);
    later->op = OP_ADD;
    later->operands[0] = x;
    later->operands[1] = vectors_iterations(file->f->l, file->f->index->base, file->before);
    later->low = x->low;
    later->high = x->high;
    return later;
}

static bool reads_own(const struct file *file, const struct target_expr *x) {
    if (!x)
        return false;
    bool is_own = x->kind == TARGET_EXPR_VARIABLE && map_has(file->variables, x->variable);
    return is_own || reads_own(file, x->operands[0]) || reads_own(file, x->operands[1]) ||
           reads_own(file, x->operands[2]);
}

static struct target_expr *in_file(struct file *file, struct target_expr *x);

/* The constant comes last, so that compilers see one address and what lies so far behind it. */
static struct target_expr *place_in_file(struct file *file, struct target_expr *place) {
    bool is_behind = place && file->before && shape_of(file->f, place) == SHAPE_STEP && !reads_own(file, place);
    return is_behind ? moved(file, place) : in_file(file, place);
}

static struct target_expr *in_file(struct file *file, struct target_expr *x) {
    struct lowering *l = file->f->l;
    if (!x || !file->before)
        return x;
    if (x->kind == TARGET_EXPR_VARIABLE && x->variable == file->f->index)
        return moved(file, x);
    struct target_expr *copy = ARENA_NEW(l->arena, struct target_expr);
    *copy = *x;
    if (x->kind == TARGET_EXPR_VARIABLE && map_has(file->variables, x->variable))
        copy->variable = map_get(file->variables, x->variable);
    for (int i = 0; i < 3; i++)
        copy->operands[i] =
            x->kind == TARGET_EXPR_ELEMENT ? place_in_file(file, x->operands[i]) : in_file(file, x->operands[i]);
    return copy;
}

static struct target_statement *statement_in_file(struct file *file, const struct target_statement *statement) {
    struct lowering *l = file->f->l;
    struct target_statement *copy = ARENA_NEW(l->arena, struct target_statement);
    *copy = *statement;
    copy->value = in_file(file, statement->value);
    copy->index = place_in_file(file, statement->index);
    if (file->before && statement->kind == TARGET_DECLARE) {
        struct target_variable *own = ARENA_NEW(l->arena, struct target_variable);
        *own = *statement->variable;
        own->name = names_fresh(l->names, own->name, "t");
        map_set(file->variables, statement->variable, own);
    }
    if (copy->variable && map_has(file->variables, copy->variable))
        copy->variable = map_get(file->variables, copy->variable);
    return copy;
}

/* Out when no lane of any of the vectors is left. */
static struct target_statement *leave_unless_any(struct file *files, int count, struct target_statement *leave) {
    struct lowering *l = files->f->l;
    struct target_expr *any = leave->value;
    for (int k = 1; k < count; k++) {
        struct target_expr *more = expr_new(l, TARGET_EXPR_OPERATION, BASE_BOOL);
        more->op = OP_OR;
        more->operands[0] = any;
        more->operands[1] = in_file(&files[k], leave->value);
        more->lanes = LANES;
        any = more;
    }
    leave->value = any;
    return leave;
}

/* A statement that gives the same in all iterations is done once, for the first vector. */
static struct target_block abreast(struct file *files, int count, const struct target_block *block) {
    const struct finder *f = files->f;
    struct target_block result = {0};
    for (size_t i = 0; i < block->statements.count; i++) {
        struct target_statement *statement = block->statements.at[i];
        if (statement->kind == TARGET_FOR || statement->kind == TARGET_WHILE) {
            statement->body = abreast(files, count, &statement->body);
            vec_push(f->l->arena, &result.statements, statement);
            continue;
        }
        if (statement->kind == TARGET_LEAVE_UNLESS) {
            vec_push(f->l->arena, &result.statements, leave_unless_any(files, count, statement));
            continue;
        }
        bool is_shared = statement->kind != TARGET_STORE &&
                         (enum shape)(uintptr_t)map_get(f->shapes, statement->variable) == SHAPE_UNIFORM;
        for (int k = 0; k < (is_shared ? 1 : count); k++)
            vec_push(f->l->arena, &result.statements, statement_in_file(&files[k], statement));
    }
    return result;
}

static bool may_go_abreast(const struct target_block *block) {
    for (size_t i = 0; i < block->statements.count; i++) {
        const struct target_statement *statement = block->statements.at[i];
        bool is_plain = statement->kind == TARGET_DECLARE || statement->kind == TARGET_ASSIGN ||
                        statement->kind == TARGET_STORE || statement->kind == TARGET_LEAVE_UNLESS;
        bool is_loop = statement->kind == TARGET_FOR || (statement->kind == TARGET_WHILE && is_short(statement));
        if (!is_plain && !(is_loop && may_go_abreast(&statement->body)))
            return false;
    }
    return true;
}

/* Takes the names of what loops inside declare, which were released: copies of these loops declare more beside. */
static void take_names(struct lowering *l, const struct target_block *block) {
    for (size_t i = 0; i < block->statements.count; i++) {
        const struct target_statement *statement = block->statements.at[i];
        if (statement->kind == TARGET_DECLARE)
            names_take(l->names, statement->variable->name);
        take_names(l, &statement->body);
    }
}

static void go_abreast(struct finder *f, struct target_statement *loop, int count) {
    struct file *files = ARENA_ARRAY(f->l->arena, struct file, (size_t)count);
    for (int k = 0; k < count; k++)
        files[k] = (struct file){.f = f, .before = k, .variables = map_new(f->l->arena)};
    take_names(f->l, &loop->body);
    loop->body = abreast(files, count, &loop->body);
    loop->step = vectors_iterations(f->l, f->index->base, count);
}

/* ---- calls ---- */

bool vectors_of_calls(struct lowering *l, struct target_statement *loop, int count) {
    struct finder f = {.l = l};
    if (!is_flat_loop(&f, loop) || (count > 1 && !may_go_abreast(&loop->body)))
        return false;
    convert(&f, loop);
    if (count > 1)
        go_abreast(&f, loop, count);
    loop->vectors = TARGET_VECTORS_ANY;
    return true;
}
