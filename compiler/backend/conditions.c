/* note [conditions]
   `a && b` asks for b only where a holds: a branch, unless the compiler sees that it may compute both.
   In loops it is to make vectors of, it does not always, and gives the vectors up. So what is cheap
   there is put together by `&` and `|`. But of x < y | x <= y & i < j, unrolled, with places i and j,
   GCC makes none, as of the first i it knows that it is less than j. And one value that is compared
   with three constants or more becomes a shift and a mask of 64 bits in GCC, of which it makes no
   vectors either: the answers are counted. (QUIRK_LOGICAL_BRANCHES of map/quirks.) */
#include "backend/print.h"

static bool is_cheap(const struct target_expr *expr, int *left) {
    if (expr->lanes || --*left < 0)
        return false;
    if (expr->kind != TARGET_EXPR_OPERATION)
        return expr->kind != TARGET_EXPR_ELEMENT;
    switch (expr->op) {
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
    case OP_MIN:
    case OP_MAX:
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_NOT:
    case OP_BIT_NOT:
    case OP_CONVERT: break;
    default: return false;
    }
    for (size_t i = 0; i < 3 && expr->operands[i]; i++)
        if (!is_cheap(expr->operands[i], left))
            return false;
    return true;
}

/* The integer that is compared with a constant, or NULL. */
static const struct target_variable *compared(const struct target_expr *expr, enum ir_op op) {
    bool is_comparison = expr->kind == TARGET_EXPR_OPERATION && expr->op == op;
    if (!is_comparison || expr->operands[1]->kind != TARGET_EXPR_CONSTANT ||
        expr->operands[0]->kind != TARGET_EXPR_VARIABLE || !base_info[expr->operands[0]->base].is_integer)
        return NULL;
    return expr->operands[0]->variable;
}

static bool is_chain(const struct target_expr *expr, enum ir_op op) {
    return expr->kind == TARGET_EXPR_OPERATION && expr->op == op && expr->base == BASE_BOOL;
}

/* How many of the chain's terms compare that value; all of them, where it is NULL. */
static int count_terms(const struct target_expr *expr, enum ir_op op, const struct target_variable *value) {
    if (is_chain(expr, op))
        return count_terms(expr->operands[0], op, value) + count_terms(expr->operands[1], op, value);
    return !value || compared(expr, op == OP_OR ? OP_EQ : OP_NE) == value;
}

/* Does the chain compare one value with three constants or more? `at`: it, or a part of it. */
static bool is_set(const struct target_expr *chain, const struct target_expr *at, enum ir_op op) {
    if (is_chain(at, op))
        return is_set(chain, at->operands[0], op) || is_set(chain, at->operands[1], op);
    const struct target_variable *value = compared(at, op == OP_OR ? OP_EQ : OP_NE);
    return value && count_terms(chain, op, value) >= CPU_COMPARED;
}

static void print_terms(struct printer *p, const struct target_expr *expr, enum ir_op op, const char *sign) {
    if (!is_chain(expr, op)) {
        print_expr(p, expr, PRECEDENCE_PRIMARY);
        return;
    }
    print_terms(p, expr->operands[0], op, sign);
    text_add(p->out, sign);
    print_terms(p, expr->operands[1], op, sign);
}

/* An OR with an AND in it, as of pairs that are compared: `x < y || (x <= y && i < j)`. */
static bool is_by_two(const struct target_expr *expr) {
    return is_chain(expr->operands[0], OP_AND) || is_chain(expr->operands[1], OP_AND);
}

bool print_condition(struct printer *p, const struct target_expr *expr, enum precedence least) {
    enum ir_op op = expr->op;
    int left = CPU_COMPUTED;
    bool is_joined = op == OP_AND || (op == OP_OR && !(p->is_unrolled && is_by_two(expr)));
    if (!p->is_by_vectors || expr->base != BASE_BOOL || !is_joined || !is_cheap(expr, &left))
        return false;
    bool is_counted = is_set(expr, expr, op), is_closed = least > PRECEDENCE_ANY;
    text_add(p->out, is_closed ? "(" : "");
    print_terms(p, expr, op, is_counted ? " + " : op == OP_OR ? " | " : " & ");
    if (is_counted)
        op == OP_OR ? text_add(p->out, " != 0") : text_printf(p->out, " == %d", count_terms(expr, op, NULL));
    text_add(p->out, is_closed ? ")" : "");
    return true;
}
