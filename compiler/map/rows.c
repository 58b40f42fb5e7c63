/* note [rows]
   A matrix as a flat array has its index taken apart, i / n and i % n. A compiler divides for each
   element then, and sees no unit stride. So a loop over threads whose body divides its index, or a
   sum with it, by what is the same in all iterations becomes two: over rows, and within the row,
   where the quotient does not change and the remainder counts up. Where rows are a power of two
   long, and all of them whole, both loops have lengths that are known.

   Division is total: by 0 it gives 0 and leaves the whole as remainder, as one row of everything
   would; by a negative number the quotient is negative, and the remainder that of its size.

   The dividend is not negative where the program divides it. That may be in a branch alone, as in `if i < 40 then n
   else f ((i - 40) / 64)`: iterations that do not take the branch have to be in a row, too. So rows begin below 0 and
   end behind the last int there is: a row's number is rounded down, in 64 bits, and the index with which a row begins,
   which is an int again, is computed modulo 2^32. Where all iterations are known to divide a natural number, ints
   do.

   ir/passes/split.c splits loops on IR. This stays in the mapping: rows are those of the range that a core does, and
   where a range begins only the mapping knows. */
#include "ir/build/linear.h"
#include "ir/machine.h"
#include "map/lower.h"

enum { MOST_DIVISIONS = 16 };

/* x / by or x % by, of x = begin + the loop's index that is not negative. */
struct division {
    struct linear begin;
    struct ir_value *by; /* NULL: `width`, a constant */
    int64_t width;
    bool is_rest;
    bool is_natural; /* x is so in all iterations, not only where it is divided */
};

static bool add_term(struct linear *sum, struct ir_value *x, int64_t coefficient) {
    if (x->is_constant) {
        sum->constant += x->constant.integer * coefficient;
        return true;
    }
    if (sum->count == LINEAR_MAX_TERMS)
        return false;
    sum->term[sum->count].value = x;
    sum->term[sum->count++].coefficient = coefficient;
    return true;
}

/* True if x is the loop's index plus a begin, which it adds to *begin. The sum may be one that wraps, because x counts
   up without leaving the natural numbers. */
static bool counts_up(const struct ir_instruction *loop, struct ir_value *x, struct linear *begin) {
    const struct ir_instruction *sum = x->definition;
    if (x == loop->parameters[0])
        return true;
    if (!sum || sum->kind != IR_OPERATION || (sum->op != OP_ADD && sum->op != OP_SUB))
        return false;
    struct ir_value *a = sum->operands[0], *b = sum->operands[1];
    if (!lower_varies(loop, b))
        return add_term(begin, b, sum->op == OP_ADD ? 1 : -1) && counts_up(loop, a, begin);
    return sum->op == OP_ADD && !lower_varies(loop, a) && add_term(begin, a, 1) && counts_up(loop, b, begin);
}

/* The body itself runs in all iterations. But what a check has found out there holds only after it. */
static bool is_natural(const struct ir_instruction *loop, const struct ir_value *x, const struct linear *begin) {
    if (x->region == loop->regions[0] && !ir_has(loop, IR_CHECK))
        return true;
    range_wide low = begin->constant, high = begin->constant;
    for (size_t i = 0; i < begin->count; i++) {
        const struct ir_value *term = begin->term[i].value;
        low += begin->term[i].coefficient > 0 ? term->low : -(range_wide)term->high;
        high += begin->term[i].coefficient > 0 ? term->high : -(range_wide)term->low;
    }
    return low >= 0 && high + loop->operands[0]->high - 1 <= INT32_MAX;
}

static bool is_division(const struct ir_instruction *loop, const struct ir_instruction *at, struct division *division) {
    if (at->kind != IR_OPERATION || at->operand_count != 2)
        return false;
    struct ir_value *by = at->operands[1];
    int64_t constant = by->is_constant ? by->constant.integer : 0;
    *division = (struct division){.is_rest = at->op == OP_REM || at->op == OP_AND};
    switch (at->op) {
    case OP_SHR: division->width = constant > 0 && constant < 31 ? INT64_C(1) << constant : 0; break;
    case OP_AND: division->width = constant < INT32_MAX && !(constant & (constant + 1)) ? constant + 1 : 0; break;
    case OP_DIV:
    case OP_REM:
        division->width = constant;
        division->by = by->is_constant || lower_varies(loop, by) ? NULL : by;
        break;
    default: return false;
    }
    struct ir_value *x = at->operands[0];
    bool may_be = x->base == BASE_I32 && loop->parameters[0]->base == BASE_I32 && x->low >= 0;
    if (!may_be || !(division->by || division->width > 1) || !counts_up(loop, x, &division->begin))
        return false;
    division->is_natural = is_natural(loop, x, &division->begin);
    return true;
}

static bool is_same_sum(const struct linear *x, const struct linear *y) {
    if (x->count != y->count || x->constant != y->constant)
        return false;
    for (size_t i = 0; i < x->count; i++) {
        size_t k = 0;
        while (k < y->count &&
               (y->term[k].value != x->term[i].value || y->term[k].coefficient != x->term[i].coefficient))
            k++;
        if (k == y->count)
            return false;
    }
    return true;
}

static bool is_same(const struct division *x, const struct division *y) {
    return x->by == y->by && x->width == y->width && is_same_sum(&x->begin, &y->begin);
}

/* ---- which ---- */

struct found {
    const struct value_use *uses;
    const struct ir_instruction *loop;
    struct candidate {
        struct division division;
        uint32_t quotients, rests;
    } at[MOST_DIVISIONS];
    size_t count;
};

/* Is it x / by or x % by, of an x that counts with both the loop and one inside of it? */
static bool is_deeper(const struct ir_instruction *loop, const struct ir_value *by, const struct ir_walk *walk) {
    const struct ir_instruction *at = walk->at, *owner = walk->region->owner;
    while (owner != loop && !ir_is_loop(owner))
        owner = owner->region->owner;
    struct linear sum;
    if (owner == loop || at->kind != IR_OPERATION || (at->op != OP_DIV && at->op != OP_REM) || at->operands[1] != by ||
        !linear_expand(at->operands[0], &sum))
        return false;
    bool counts_here = false, counts_inside = false;
    for (size_t i = 0; i < sum.count; i++) {
        counts_here = counts_here || sum.term[i].value == loop->parameters[0];
        counts_inside = counts_inside || sum.term[i].value == owner->parameters[0];
    }
    return counts_here && counts_inside;
}

static void find(struct found *found, const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk)) {
        struct division division;
        if (!is_division(found->loop, walk.at, &division) || !found->uses[walk.at->results[0]->id].count)
            continue;
        size_t k = 0;
        while (k < found->count && !is_same(&found->at[k].division, &division))
            k++;
        if (k < MOST_DIVISIONS) {
            division.is_natural |= k < found->count && found->at[k].division.is_natural;
            found->at[k].division = division;
            found->count += k == found->count;
            division.is_rest ? found->at[k].rests++ : found->at[k].quotients++;
        }
    }
}

/* A multiple of `width`, a power of two? Also when it was computed modulo 2^32 or 2^64. */
static bool is_multiple(struct ir_value *value, int64_t width) {
    const struct ir_instruction *definition = value->definition;
    if (definition && definition->kind == IR_OPERATION && (definition->op == OP_MAX || definition->op == OP_MIN))
        return is_multiple(definition->operands[0], width) && is_multiple(definition->operands[1], width);
    struct linear sum;
    if (!linear_expand(value, &sum) || sum.constant % width)
        return false;
    for (size_t i = 0; i < sum.count; i++)
        if (sum.term[i].coefficient % width)
            return false;
    return true;
}

/* The only division of the index itself by a power of two, if it cuts the loop into whole rows; else NULL. */
static const struct candidate *find_whole(const struct found *found) {
    const struct ir_value *count = found->loop->operands[0];
    const struct candidate *only = NULL;
    for (size_t i = 0; i < found->count; i++) {
        const struct division *at = &found->at[i].division;
        bool is_power = !at->by && !(at->width & (at->width - 1));
        if (!is_power || at->begin.count || at->begin.constant)
            continue;
        if (only)
            return NULL;
        only = &found->at[i];
    }
    bool is_whole = only && found->loop->outer != LEVEL_GRID && only->division.width >= 4 &&
                    count->high > only->division.width && is_multiple(found->loop->operands[0], only->division.width);
    return is_whole ? only : NULL;
}

static struct rows *rows_of(struct lowering *l, const struct ir_instruction *loop, const struct candidate *at) {
    struct rows *rows = ARENA_NEW(l->arena, struct rows);
    rows->loop = loop;
    rows->division = &at->division;
    rows->operations = at->rests + at->quotients;
    rows->has_quotients = at->quotients > 0;
    return rows;
}

/* Rows of rows: of a length that is a product with theirs, as those of a box have. */
static const struct candidate *find_outer(const struct found *found, const struct division *inner) {
    for (size_t i = 0; i < found->count; i++) {
        const struct division *at = &found->at[i].division;
        const struct ir_instruction *product = at->by ? at->by->definition : NULL;
        bool is_product = inner->by && product && product->kind == IR_OPERATION && product->op == OP_MUL &&
                          (product->operands[0] == inner->by || product->operands[1] == inner->by);
        if (is_product && found->at[i].quotients && is_same_sum(&at->begin, &inner->begin))
            return &found->at[i];
    }
    return NULL;
}

/* Not where most divisions, those of an inner loop, would stay: it costs more copies of that loop. */
static bool is_worth_it(const struct ir_instruction *loop, const struct division *division) {
    if (division->by) {
        struct ir_walk walk = ir_walk(loop->regions[0]);
        while (walk.at && !is_deeper(loop, division->by, &walk))
            ir_next(&walk);
        return !walk.at;
    }
    bool is_power = (division->width & (division->width - 1)) == 0;
    return division->width >= (is_power ? CPU_ROWS_WIDTH : CPU_ROWS_DIVIDED);
}

struct rows *rows_find(struct lowering *l, const struct ir_instruction *loop) {
    struct found *found = ARENA_NEW(l->arena, struct found);
    found->uses = l->uses;
    found->loop = loop;
    find(found, loop->regions[0]);
    const struct candidate *best = NULL;
    for (size_t i = 0; i < found->count; i++) {
        const struct candidate *at = &found->at[i];
        if (is_worth_it(loop, &at->division) &&
            (!best || at->rests > best->rests || (at->rests == best->rests && at->quotients > best->quotients)))
            best = at;
    }
    const struct candidate *whole = find_whole(found);
    if (!whole && (!best || loop->operands[0]->high < CPU_ROWS_COUNT))
        return NULL;
    best = whole ? whole : best;
    struct rows *rows = rows_of(l, loop, best);
    const struct candidate *outer = find_outer(found, &best->division);
    rows->outer = outer ? rows_of(l, loop, outer) : NULL;
    rows->are_whole = whole;
    return rows;
}

/* ---- loops ---- */

static struct target_expr *wrapping(struct lowering *l, enum ir_op op, struct target_expr *x, struct target_expr *y) {
    struct target_expr *expr = expr_operation(l, op, BASE_I32, x, y);
    expr->wraps |= expr != x && expr != y;
    return expr;
}

/* An operation on the numbers that count rows. It wraps only where rows begin below 0 or end behind the last int. */
static struct target_expr *in_row(struct lowering *l, const struct rows *rows, enum ir_op op, struct target_expr *x,
                                  struct target_expr *y) {
    return rows->division->is_natural ? expr_operation(l, op, BASE_I32, x, y) : wrapping(l, op, x, y);
}

static struct target_expr *number(struct lowering *l, int64_t value) { return expr_integer(l, BASE_I32, value); }

static struct target_expr *named(struct lowering *l, struct target_expr *value, const char *name) {
    return value->size ? lower_named(l, value, NULL, name) : value;
}

/* The sum that the dividend adds to the index. */
static struct target_expr *lower_begin(struct lowering *l, const struct linear *sum) {
    struct target_expr *begin = number(l, (int32_t)(uint32_t)sum->constant);
    for (size_t i = 0; i < sum->count; i++) {
        struct target_expr *term = lower_value(l, sum->term[i].value);
        term = wrapping(l, OP_MUL, term, number(l, sum->term[i].coefficient));
        begin = wrapping(l, OP_ADD, term, begin);
    }
    return named(l, begin, "begin");
}

/* The width of a row. `by`: the divisor, which may be any number; by 0, and by the least, all is one row: `is_none`. */
static struct target_expr *lower_width(struct lowering *l, const struct division *division, struct target_expr *by,
                                       struct target_expr **is_none) {
    *is_none = NULL;
    if (!division->by || division->by->low >= 1)
        return by;
    struct target_expr *zero = number(l, 0), *width = by;
    if (division->by->low < 0) {
        struct target_expr *is_negative = expr_operation(l, OP_LT, BASE_BOOL, by, zero);
        width = expr_choice(l, is_negative, wrapping(l, OP_SUB, zero, by), by);
        width = lower_named(l, width, NULL, "size");
    }
    *is_none = lower_named(l, expr_operation(l, OP_LT, BASE_BOOL, width, number(l, 1)), NULL, "is_none");
    width = lower_named(l, expr_choice(l, *is_none, number(l, INT32_MAX), width), NULL, "width");
    width->low = 1;
    width->high = INT32_MAX;
    return width;
}

static struct target_expr *enter_loop(struct lowering *l, const char *name, struct target_expr *count, int64_t high) {
    struct target_statement *loop = lower_emit(l, TARGET_FOR);
    loop->value = number(l, 0);
    loop->limit = count;
    loop->step = number(l, 1);
    lower_enter(l, &loop->body);
    loop->variable = lower_variable(l, BASE_I32, name, name);
    return expr_variable(l, loop->variable, 0, high);
}

void rows_begin(struct lowering *l, struct rows *rows) {
    const struct division *division = rows->division;
    if (rows->outer)
        rows_begin(l, rows->outer);
    rows->by = division->by ? lower_simple(l, division->by, "by") : number(l, division->width);
    rows->begin = lower_begin(l, &division->begin);
    rows->width = lower_width(l, division, rows->by, &rows->is_none);
    rows->is_single = division->by ? expr_operation(l, OP_EQ, BASE_BOOL, rows->by, number(l, 1)) : NULL;
}

/* The row of begin + index - before, rounded down. */
static struct target_expr *wide_row_of(struct lowering *l, const struct rows *rows, struct target_expr *index,
                                       int before) {
    struct target_expr *width = expr_convert(l, rows->width, BASE_I64), *one = expr_integer(l, BASE_I64, 1);
    struct target_expr *begin = expr_convert(l, rows->begin, BASE_I64), *zero = expr_integer(l, BASE_I64, 0);
    begin = before ? expr_operation(l, OP_SUB, BASE_I64, begin, one) : begin;
    struct target_expr *x = expr_operation(l, OP_ADD, BASE_I64, expr_convert(l, index, BASE_I64), begin);
    x = named(l, x, "divided");
    struct target_expr *less = expr_operation(l, OP_SUB, BASE_I64, width, one);
    less = expr_operation(l, OP_SUB, BASE_I64, x, less);
    x = expr_choice(l, expr_operation(l, OP_LT, BASE_BOOL, x, zero), less, x);
    return expr_convert(l, expr_operation(l, OP_DIV, BASE_I64, x, width), BASE_I32);
}

/* That of the index, or of `before` = 1 less. All is one row where there is none: the greatest number is as much as a
   row may have, and would be in the next. */
static struct target_expr *row_of(struct lowering *l, const struct rows *rows, struct target_expr *index, int before) {
    struct target_expr *row;
    if (rows->division->is_natural) {
        struct target_expr *x = wrapping(l, OP_ADD, rows->begin, index);
        x = before ? wrapping(l, OP_SUB, x, number(l, 1)) : x;
        row = expr_operation(l, OP_DIV, BASE_I32, x, rows->width);
    } else
        row = wide_row_of(l, rows, index, before);
    return rows->is_none ? expr_choice(l, rows->is_none, number(l, 0), row) : row;
}

static struct lower_scope enter(struct lowering *l, struct rows *rows, struct target_expr **first,
                                struct target_expr **limit) {
    const struct division *division = rows->division;
    struct target_expr *is_none = rows->is_none, *width = rows->width;
    struct target_expr *from = named(l, row_of(l, rows, *first, 0), "first_row");
    struct target_expr *count = row_of(l, rows, *limit, 1);
    count = in_row(l, rows, OP_ADD, in_row(l, rows, OP_SUB, count, from), number(l, 1));
    struct target_expr *has_some = expr_operation(l, OP_LT, BASE_BOOL, *first, *limit);
    bool is_known = (*first)->kind == TARGET_EXPR_CONSTANT && (*limit)->kind == TARGET_EXPR_CONSTANT;
    if (!is_known || (*first)->constant.integer >= (*limit)->constant.integer)
        count = expr_choice(l, has_some, count, number(l, 0));
    count = lower_named(l, count, NULL, "rows");

    struct lower_scope scope = {l->block, names_mark(l->names)};
    struct target_expr *row = enter_loop(l, "k", count, INT32_MAX);
    row = lower_named(l, in_row(l, rows, OP_ADD, from, row), NULL, "row");
    row->low = division->is_natural ? 0 : INT32_MIN;
    rows->start = in_row(l, rows, OP_MUL, row, width);
    if (!expr_is_integer(rows->begin, 0))
        rows->start = in_row(l, rows, OP_SUB, rows->start, rows->begin);
    rows->start = lower_named(l, rows->start, NULL, "start");
    rows->quotient = row;
    if (rows->has_quotients && division->by && division->by->low < 0) {
        struct target_expr *is_negative = expr_operation(l, OP_LT, BASE_BOOL, rows->by, number(l, 0));
        struct target_expr *negative = in_row(l, rows, OP_SUB, number(l, 0), row);
        rows->quotient = lower_named(l, expr_choice(l, is_negative, negative, row), NULL, "quotient");
    }
    struct target_expr *end = expr_operation(l, OP_SUB, BASE_I32, *limit, width);
    end = expr_operation(l, OP_MIN, BASE_I32, rows->start, end);
    struct target_expr *begin = expr_operation(l, OP_MAX, BASE_I32, *first, rows->start);
    if (is_none && !division->is_natural)
        begin = expr_choice(l, is_none, *first, begin);
    *first = lower_named(l, begin, NULL, "from");
    end = expr_operation(l, OP_ADD, BASE_I32, end, width);
    *limit = lower_named(l, is_none ? expr_choice(l, is_none, *limit, end) : end, NULL, "to");
    return scope;
}

struct lower_scope rows_enter_whole(struct lowering *l, struct rows *rows, struct target_expr **width) {
    const struct ir_value *index = rows->loop->parameters[0], *count = rows->loop->operands[0];
    int64_t size = rows->division->width;
    struct target_expr *length = lower_simple(l, count, "count");
    struct target_expr *shift = number(l, __builtin_ctzll((uint64_t)size)); /* a count below 0 gives no rows, too */
    struct target_expr *height = lower_named(l, expr_operation(l, OP_SHR, count->base, length, shift), NULL, "rows");
    struct lower_scope scope = {l->block, names_mark(l->names)};
    rows->quotient = enter_loop(l, "row", height, (count->high - 1) / size);
    rows->begin = number(l, 0);
    rows->start = expr_operation(l, OP_MUL, index->base, rows->quotient, number(l, size));
    *width = number(l, size);
    return scope;
}

/* NULL for what is not known yet. Iterations in rows below 0 have a quotient and a rest that are rounded down, and do
   not use them: they do not divide. */
static void bind(struct lowering *l, const struct rows *rows, struct target_expr *dividend,
                 struct target_expr *quotient, struct target_expr *rest) {
    for (struct ir_walk walk = ir_walk(rows->loop->regions[0]); walk.at; ir_next(&walk)) {
        const struct ir_instruction *at = walk.at;
        struct division division;
        if (!is_division(rows->loop, at, &division) || !is_same(&division, rows->division))
            continue;
        const struct target_expr *known = division.is_rest ? rest : quotient;
        if (known) {
            struct target_expr *expr = ARENA_NEW(l->arena, struct target_expr);
            *expr = *known;
            expr->low = at->results[0]->low;
            expr->high = at->results[0]->high;
            lower_bind(l, at->results[0], expr);
        }
        if (dividend && at->operands[0] != rows->loop->parameters[0])
            lower_bind(l, at->operands[0], dividend);
    }
}

bool rows_gives_rest(const struct rows *rows, const struct ir_instruction *at) {
    struct division division;
    return !rows->are_single && is_division(rows->loop, at, &division) && division.is_rest &&
           is_same(&division, rows->division);
}

void rows_bind(struct lowering *l, const struct rows *rows, struct target_expr *index, struct target_expr *rest) {
    struct target_expr *dividend = wrapping(l, OP_ADD, rows->begin, index);
    if (rows->are_single) {
        bind(l, rows, dividend, dividend, number(l, 0));
        return;
    }
    bind(l, rows, dividend, rows->quotient, rest ? rest : expr_operation(l, OP_SUB, BASE_I32, index, rows->start));
    const struct rows *outer = rows->outer;
    if (outer)
        bind(l, outer, dividend, outer->quotient, expr_operation(l, OP_SUB, BASE_I32, index, outer->start));
    for (size_t i = 0; i < rows->kept.count; i++)
        lower_bind(l, rows->kept.at[i].value, rows->kept.at[i].expr);
}

void rows_bind_quotients(struct lowering *l, const struct rows *rows) {
    l->values[rows->loop->parameters[0]->id] = NULL; /* not what it was in the loop before */
    bind(l, rows, NULL, rows->quotient, NULL);
    if (rows->outer)
        bind(l, rows->outer, NULL, rows->outer->quotient, NULL);
}

struct lower_scope rows_enter(struct lowering *l, struct rows *rows, struct target_expr **first,
                              struct target_expr **limit) {
    if (!rows->outer)
        return enter(l, rows, first, limit);
    struct lower_scope scope = enter(l, rows->outer, first, limit);
    enter(l, rows, first, limit);
    return scope;
}
