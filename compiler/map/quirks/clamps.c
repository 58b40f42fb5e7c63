/* note [clamped equalities]
   For Hopper and Blackwell, ptxas (13.0) makes one instruction of max(min(a, b), 0), or of
   max(max(a, b), 0), and takes from it, too, whether the result equals a or b: what the instruction
   says is which of the two is the lesser, which is another matter. On an H200 the last chunk of an
   array, where min(left, 32) is compared with 32, was taken for a whole one. It does so whether
   this is written with min and max, or with comparisons and choices. So a number that may be such a
   result is compared by other means with what it may be made of: where they differ by no bit. The
   code that ptxas makes of that takes no longer. */
#include "map/lower.h"

enum { LOOKED_AT_MOST = 64 };

static bool is_same(const struct ir_value *x, const struct ir_value *y) {
    return x == y || (x->is_constant && y->is_constant && x->constant.integer == y->constant.integer);
}

/* Which result of a branch a value is. */
static const struct ir_value *yielded(const struct ir_instruction *branch, const struct ir_value *value, int region) {
    size_t which = 0;
    while (branch->results[which] != value)
        which++;
    return branch->regions[region]->yields.at[which];
}

/* Is a value one of those that another one is chosen from, by min, max or conditions? `wanted` NULL: is 0? */
static bool is_chosen_from(const struct ir_value *value, const struct ir_value *wanted, int *left) {
    if (wanted ? is_same(value, wanted) : value->is_constant && value->constant.integer == 0)
        return true;
    const struct ir_instruction *choice = value->definition;
    if (!choice || --*left < 0)
        return false;
    if (choice->kind == IR_IF)
        return is_chosen_from(yielded(choice, value, 0), wanted, left) ||
               is_chosen_from(yielded(choice, value, 1), wanted, left);
    if (choice->kind != IR_OPERATION || (choice->op != OP_MIN && choice->op != OP_MAX && choice->op != OP_SELECT))
        return false;
    size_t first = choice->op == OP_SELECT;
    return is_chosen_from(choice->operands[first], wanted, left) ||
           is_chosen_from(choice->operands[first + 1], wanted, left);
}

bool lower_compares_clamped(const struct ir_instruction *comparison) {
    const struct base_info *info = &base_info[comparison->operands[0]->base];
    if ((comparison->op != OP_EQ && comparison->op != OP_NE) || !info->is_integer || !info->is_signed ||
        info->bits > 32)
        return false;
    for (int i = 0; i < 2; i++) {
        const struct ir_value *clamped = comparison->operands[i], *other = comparison->operands[!i];
        int left = LOOKED_AT_MOST;
        bool is_zero = other->is_constant && other->constant.integer == 0;
        if (!is_zero && !is_same(clamped, other) && is_chosen_from(clamped, NULL, &left) &&
            is_chosen_from(clamped, other, &left))
            return true;
    }
    return false;
}
