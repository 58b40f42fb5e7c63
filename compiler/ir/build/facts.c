/* The facts that the builder assumes at the current place: conditions of the branches around it, tighter ranges, and
   orders between values. The end of a frame undoes all facts that came with the frame. */
#include "ir/build/linear.h"

static struct value_info *change(struct ir_builder *b, const struct ir_value *value) {
    struct value_info *info = facts_of(b, value);
    b->known++;
    vec_push(b->scratch, &b->undo, (struct undo){value->id, *info});
    return info;
}

enum { MOST_KEPT = 8, MOST_KEPT_OF_ALL = 4096 };

static void keep_orders(struct ir_builder *b, const struct frame *frame) {
    size_t first = b->orders.count > frame->learnt_mark + MOST_KEPT ? b->orders.count - MOST_KEPT : frame->learnt_mark;
    for (size_t i = first; i < b->orders.count && b->kept_orders.count < MOST_KEPT_OF_ALL; i++)
        vec_push(b->scratch, &b->kept_orders, ((struct kept_order){frame->region, b->orders.at[i]}));
}

void facts_undo(struct ir_builder *b, const struct frame *frame) {
    if ((frame->kind == FRAME_THEN || frame->kind == FRAME_ELSE) && b->optimise > 0)
        keep_orders(b, frame);
    if (b->undo.count > frame->undo_mark || b->orders.count > frame->order_mark)
        b->known++;
    while (b->undo.count > frame->undo_mark) {
        struct undo undo = b->undo.at[--b->undo.count];
        undo.before.resolved = b->values.at[undo.id].resolved; /* no fact: stays */
        b->values.at[undo.id] = undo.before;
    }
    b->orders.count = frame->order_mark;
    b->told.count = frame->told_mark;
}

/* A range that contradicts what is known comes from code that never runs: it is not taken over. */
void facts_narrow(struct ir_builder *b, struct ir_value *value, struct range range) {
    struct range known = facts_range(b, value), both;
    if (base_info[value->base].is_floating || value->is_constant || !range_intersect(known, range, &both) ||
        range_within(known, both))
        return;
    struct value_info *info = change(b, value);
    info->narrowed = true;
    info->range = both;
}

/* ---- assuming ---- */

/* value = x % c, or x & (c - 1), of an x that is not negative: its ends are where the remainder may be so. */
static void narrow_divided(struct ir_builder *b, const struct ir_value *value, uint32_t from_depth) {
    const struct ir_instruction *made = value->definition;
    bool is_remainder = made && made->kind == IR_OPERATION && (made->op == OP_REM || made->op == OP_AND) &&
                        made->operands[1]->is_constant;
    int64_t c = is_remainder ? made->operands[1]->constant.integer : 0;
    if (is_remainder && made->op == OP_AND)
        c = c > 0 && c < INT32_MAX && (c & (c + 1)) == 0 ? c + 1 : 0;
    struct ir_value *x = c > 0 ? made->operands[0] : NULL;
    if (!x || builder_depth(b, x) < from_depth || base_info[x->base].bits > 32)
        return;
    struct range rest = facts_range(b, value), range = facts_range(b, x);
    if (range.low < 0)
        return;
    if (range.high % c > rest.high)
        range.high += rest.high - range.high % c;
    if (range.low % c < rest.low)
        range.low += rest.low - range.low % c;
    if (range.low <= range.high)
        facts_narrow(b, x, range);
}

/* value = max(x, c), which is more than c; or min(x, c), which is less: it is x. */
static void narrow_chosen(struct ir_builder *b, const struct ir_value *value, struct range range, uint32_t from_depth) {
    const struct ir_instruction *made = value->definition;
    bool is_chosen = made && made->kind == IR_OPERATION && (made->op == OP_MAX || made->op == OP_MIN) &&
                     made->operands[1]->is_constant && base_info[value->base].is_integer && value->base != BASE_U64;
    int64_t c = is_chosen ? made->operands[1]->constant.integer : 0;
    if (is_chosen && builder_depth(b, made->operands[0]) >= from_depth &&
        (made->op == OP_MAX ? range.low > c : range.high < c))
        facts_narrow(b, made->operands[0], range);
}

static void narrow_through(struct ir_builder *b, struct ir_value *value, struct range range, uint32_t from_depth);

/* value = x converted: the numbers that x can be and that convert to the range lie together, or nothing is known. */
static void narrow_converted(struct ir_builder *b, const struct ir_value *value, struct range range,
                             uint32_t from_depth) {
    const struct ir_instruction *made = value->definition;
    struct ir_value *x = made && made->kind == IR_OPERATION && made->op == OP_CONVERT ? made->operands[0] : NULL;
    const struct base_info *to = &base_info[value->base];
    if (!x || !base_info[x->base].is_integer || !to->is_integer ||
        !range_intersect(facts_range(b, value), range, &range))
        return;
    struct range known = facts_range(b, x), found = {0};
    range_wide low = range.low, high = range_high(value->base, range), most = range_high(x->base, known);
    range_wide period = (range_wide)1 << to->bits, wraps = (known.low - base_low(value->base)) >> to->bits;
    int count = 0;
    for (; base_low(value->base) + wraps * period <= most && count < 2; wraps++) {
        range_wide first = low + wraps * period, last = high + wraps * period;
        first = first > known.low ? first : known.low;
        last = last < most ? last : most;
        if (first <= last && count++ == 0)
            found = (struct range){first > INT64_MAX ? INT64_MAX : (int64_t)first,
                                   last > INT64_MAX ? INT64_MAX : (int64_t)last};
    }
    if (count == 1)
        narrow_through(b, x, found, from_depth);
}

/* x / c, for a c that is not negative. */
static range_wide rounded_down(range_wide x, int64_t c) {
    range_wide quotient = x / c;
    return quotient - (quotient * c > x);
}

/* The same for x when value = c * x + constant, or x converted. */
static void narrow_through(struct ir_builder *b, struct ir_value *value, struct range range, uint32_t from_depth) {
    struct linear sum;
    if (builder_depth(b, value) >= from_depth)
        facts_narrow(b, value, range);
    narrow_divided(b, value, from_depth);
    narrow_chosen(b, value, range, from_depth);
    narrow_converted(b, value, range, from_depth);
    linear_exact(b, value, &sum);
    int64_t c = sum.count == 1 ? sum.term[0].coefficient : 0;
    if (c <= 0 || sum.term[0].value == value || value->base == BASE_U64)
        return;
    range_wide low = -rounded_down(sum.constant - (range_wide)range.low, c);
    range_wide high = rounded_down((range_wide)range.high - sum.constant, c);
    if (low <= high && low > INT64_MIN && high < INT64_MAX)
        narrow_through(b, sum.term[0].value, (struct range){(int64_t)low, (int64_t)high}, from_depth);
}

static void push_order(struct ir_builder *b, struct ir_value *x, struct ir_value *y, bool strict) {
    b->known++;
    vec_push(b->scratch, &b->orders, (struct order){x, y, strict, false});
}

static void push_minor_order(struct ir_builder *b, struct ir_value *x, struct ir_value *y, bool strict) {
    for (size_t i = 0; i < b->orders.count; i++) {
        const struct order *known = &b->orders.at[i];
        if (known->y == y && known->strict >= strict && ir_is_same(known->x, x))
            return;
    }
    push_order(b, x, y, strict);
    b->orders.at[b->orders.count - 1].is_minor = true;
}

static bool is_below(const struct ir_value *value, int64_t least) {
    return value->is_constant && base_info[value->base].is_signed && value->constant.integer < least;
}

/* A region was taken: the orders at its end hold. */
static void learn_taken(struct ir_builder *b, const struct ir_region *region) {
    for (size_t i = 0; i < b->kept_orders.count; i++) {
        const struct kept_order *kept = &b->kept_orders.at[i];
        if (kept->region == region)
            push_minor_order(b, kept->order.x, kept->order.y, kept->order.strict);
    }
}

static void learn_least(struct ir_builder *b, struct ir_value *value, int64_t least, bool is_part);

/* The region of a branch that was taken, as it gives a condition of this truth where the other gives the opposite; else
   NULL. *given: what it gives, for the condition. */
static const struct ir_region *taken_for(const struct ir_instruction *branch, const struct ir_value *condition,
                                         bool truth, struct ir_value **given) {
    for (size_t i = 0; branch && branch->kind == IR_IF && i < branch->result_count; i++)
        for (int r = 0; branch->results[i] == condition && r < 2; r++) {
            const struct ir_value *other = branch->regions[1 - r]->yields.at[i];
            *given = branch->regions[r]->yields.at[i];
            if (other->is_constant && (other->constant.integer != 0) != truth)
                return branch->regions[r];
        }
    return NULL;
}

/* Conditions may share their parts: so deep are they looked at. */
enum { MOST_LEARNT = 8 };

/* The condition has that truth: each order of it, and how large that makes numbers. But the first order alone is a
   condition that short proofs ask for. */
static void learn_truth(struct ir_builder *b, const struct ir_value *condition, bool truth, bool is_minor, int depth) {
    const struct ir_instruction *made = condition->definition;
    struct ir_value *given;
    const struct ir_region *taken = depth > 0 ? taken_for(made, condition, truth, &given) : NULL;
    if (taken) {
        learn_truth(b, made->operands[0], taken == made->regions[0], true, depth - 1);
        learn_taken(b, taken);
        learn_truth(b, given, truth, true, depth - 1);
    }
    if (depth == 0 || !made || made->kind != IR_OPERATION || base_info[made->operands[0]->base].is_floating)
        return;
    if (made->op == OP_NOT)
        learn_truth(b, made->operands[0], !truth, is_minor, depth - 1);
    for (size_t i = 0; made->op == (truth ? OP_AND : OP_OR) && i < 2; i++)
        learn_truth(b, made->operands[i], truth, true, depth - 1);
    if (made->op != OP_LT && made->op != OP_LE)
        return;
    struct ir_value *x = made->operands[!truth], *y = made->operands[truth];
    bool is_strict = (made->op == OP_LT) == truth;
    (is_minor ? push_minor_order : push_order)(b, x, y, is_strict);
    int64_t low = facts_range(b, x).low;
    if (low >= !is_strict && low < INT32_MAX)
        learn_least(b, y, low + is_strict, true);
}

/* A constant that no code has, so that it takes no number. */
static struct ir_value *bound_of(struct ir_builder *b, enum base base, int64_t bound) {
    struct ir_value *value = ARENA_NEW(b->scratch, struct ir_value);
    *value = (struct ir_value){
        .base = base, .is_constant = true, .constant = {.integer = bound}, .low = bound, .high = bound};
    return value;
}

/* Neither of the two is negative, so that their difference is no more than the first. Where the second is a product, a
   proof says it, as a product may wrap for all that ranges know. */
static bool takes_natural(struct ir_builder *b, struct ir_value **x) {
    const struct ir_instruction *made = x[1]->definition;
    if (facts_range(b, x[0]).low < 0 || facts_range(b, x[1]).low >= 0)
        return facts_range(b, x[0]).low >= 0;
    return x[1]->base == BASE_I32 && made && made->kind == IR_OPERATION && made->op == OP_MUL &&
           facts_is_natural(b, x[1]);
}

/* For longer proofs alone, as what is made of outer values may leave the loop. False: as much is known. */
static bool keep_least(struct ir_builder *b, const struct ir_value *value, int64_t least) {
    if (value->is_constant || !base_info[value->base].is_integer || facts_of(b, value)->least >= least)
        return false;
    change(b, value)->least = least;
    return true;
}

/* The number that is at least `least` once so much as that is taken from it. */
static int64_t least_of_both(int64_t least, int64_t taken) {
    return taken > 0 && taken <= INT32_MAX && least <= INT32_MAX ? least + taken : least;
}

/* No factor is 0 where the product is not, also if it wrapped: those that are not negative are at least 1. */
static void learn_not_zero(struct ir_builder *b, struct ir_value **factors, int depth) {
    for (int i = 0; i < 2; i++) {
        const struct ir_instruction *made = factors[i]->definition;
        bool is_product = made && made->kind == IR_OPERATION && made->op == OP_MUL;
        if (facts_range(b, factors[i]).low >= 0)
            learn_least(b, factors[i], 1, true);
        else if (is_product && depth > 0)
            learn_not_zero(b, made->operands, depth - 1);
    }
}

/* The value is at least `least`, which is 1 or more. So are its operands, or a condition holds without which it would
   be less. A product may wrap: if it is not 0, no factor is 0. */
static void learn_least(struct ir_builder *b, struct ir_value *value, int64_t least, bool is_part) {
    const struct ir_instruction *made = value->definition;
    struct ir_value **x = made ? made->operands : NULL;
    if (!keep_least(b, value, least))
        return;
    for (size_t i = 0; made && made->kind == IR_IF && i < made->result_count; i++)
        for (int r = 0; r < 2; r++)
            if (made->results[i] == value && is_below(made->regions[1 - r]->yields.at[i], least)) {
                learn_truth(b, x[0], r == 0, is_part, MOST_LEARNT);
                learn_taken(b, made->regions[r]);
                learn_least(b, made->regions[r]->yields.at[i], least, true);
            }
    bool is_operation = made && made->kind == IR_OPERATION, is_int = value->base == BASE_I32 || value->base == BASE_I64;
    bool is_sum = is_operation && (made->op == OP_ADD || made->op == OP_SUB) && least > 1;
    if (is_int && (!is_operation || made->op == OP_MAX || made->op == OP_SELECT || is_sum) &&
        facts_range(b, value).low < least)
        push_minor_order(b, bound_of(b, value->base, least), value, false);
    if (!is_operation)
        return;
    bool are_natural = made->operand_count == 2 && facts_range(b, x[0]).low >= 0 && facts_range(b, x[1]).low >= 0;
    switch (made->op) {
    case OP_SELECT:
        for (int which = 1; which <= 2; which++)
            if (is_below(x[3 - which], least)) {
                learn_truth(b, x[0], which == 1, is_part, MOST_LEARNT);
                learn_least(b, x[which], least, true);
            }
        break;
    case OP_MAX:
        for (int i = 0; i < 2; i++)
            if (is_below(x[i], least))
                learn_least(b, x[1 - i], least, true);
        break;
    case OP_MIN:
        for (int i = 0; i < 2; i++)
            learn_least(b, x[i], least, true);
        break;
    case OP_MUL: learn_not_zero(b, x, MOST_LEARNT); break;
    case OP_CONVERT: {
        struct range range = facts_range(b, x[0]);
        if (base_info[x[0]->base].is_integer && range.low >= base_low(value->base) &&
            range_high(x[0]->base, range) <= base_high(value->base))
            learn_least(b, x[0], least, true);
        break;
    }
    case OP_ADD: /* of which a sum that wrapped would be negative */
        if (value->base == BASE_I32 && are_natural && x[1]->is_constant && x[1]->low < least)
            learn_least(b, x[0], least - x[1]->low, true);
        break;
    case OP_SUB:
        if (is_int && takes_natural(b, x)) /* else it may have wrapped */
            learn_least(b, x[0], least_of_both(least, facts_range(b, x[1]).low), true);
        break;
    case OP_DIV:
    case OP_SHR: {
        int64_t c = least <= INT32_MAX ? linear_divisor(value) : 0;
        if (c > 0 && c <= INT32_MAX)
            learn_least(b, x[0], least * c, true);
        else if (are_natural || facts_range(b, x[1]).low >= 1)
            learn_least(b, x[0], least, true);
        break;
    }
    default: break;
    }
}

static void assume_order(struct ir_builder *b, struct ir_value *x, struct ir_value *y, bool strict,
                         uint32_t from_depth) {
    struct range below = facts_range(b, x), above = facts_range(b, y);
    bool unbounded = y->base == BASE_U64 && above.high == INT64_MAX;
    int64_t high = above.high, low = below.low;
    if (strict && !unbounded && high > INT64_MIN)
        high--;
    if (strict && low < INT64_MAX)
        low++;
    narrow_through(b, x, (struct range){below.low, high > below.low ? high : below.low}, from_depth);
    narrow_through(b, y, (struct range){low < above.high ? low : above.high, above.high}, from_depth);
    push_order(b, x, y, strict);
    if (low >= 1 && y->definition)
        learn_least(b, y, low, true);
}

void ir_tell(struct ir_builder *b, struct ir_value *condition) {
    condition = builder_operand(b, condition);
    const struct ir_instruction *made = condition->definition;
    if (condition->is_constant || b->optimise == 0)
        return;
    for (size_t i = 0; made && made->kind == IR_OPERATION && made->op == OP_AND && i < 2; i++)
        ir_tell(b, made->operands[i]);
    vec_push(b->scratch, &b->told, condition);
}

/* x != y: an end of x's range that y is known to be goes; and x is more than y where it is not less. */
static void assume_different(struct ir_builder *b, struct ir_value *x, struct ir_value *y, uint32_t from_depth) {
    struct range range = facts_range(b, x), other = facts_range(b, y);
    if (!range_is_point(y->base, other) || builder_depth(b, x) < from_depth || range.low == range.high)
        return;
    if (range.low == other.low)
        range.low++;
    if (range.high == other.low)
        range.high--;
    facts_narrow(b, x, range);
    bool is_end = other.low == INT64_MIN || other.low == INT64_MAX; /* of which no neighbour is a number */
    struct linear apart = {.base = x->base, .exact = true, .constant = is_end ? 0 : -other.low};
    if (!is_end && range.low == other.low + 1 && range.low >= 1 && x->definition)
        learn_least(b, x, range.low, true);
    if (!is_end && range.low < other.low && linear_divisor(x) && facts_add(b, &apart, x, 1) &&
        facts_are_natural(b, &apart))
        assume_order(b, y, x, true, from_depth);
}

static void assume_equal(struct ir_builder *b, struct ir_value *x, struct ir_value *y, uint32_t from_depth) {
    struct range both;
    if (range_intersect(facts_range(b, x), facts_range(b, y), &both)) {
        narrow_through(b, x, both, from_depth);
        narrow_through(b, y, both, from_depth);
    }
    push_order(b, x, y, false);
    push_order(b, y, x, false);
}

static void assume_comparison(struct ir_builder *b, enum ir_op op, struct ir_value *x, struct ir_value *y, bool truth,
                              uint32_t from_depth) {
    if (base_info[x->base].is_floating)
        return;
    if (op == OP_LT || op == OP_LE)
        truth ? assume_order(b, x, y, op == OP_LT, from_depth) : assume_order(b, y, x, op == OP_LE, from_depth);
    else if (truth == (op == OP_EQ))
        assume_equal(b, x, y, from_depth);
    else {
        assume_different(b, x, y, from_depth);
        assume_different(b, y, x, from_depth);
    }
}

/* In the body of a loop of so many iterations there is one, and the index is below their number. Only orders are kept,
   as what is made of outer values alone may leave the loop. */
void facts_runs(struct ir_builder *b, struct ir_value *count, struct ir_value *index) {
    if (b->optimise == 0 || count->is_constant)
        return;
    learn_least(b, count, 1, false);
    if (!index->is_constant)
        push_minor_order(b, index, count, true);
}

/* The least that the value is where the condition holds; false: it says nothing of the kind. */
static bool least_where(const struct ir_value *condition, const struct ir_value *value, int64_t *least) {
    const struct ir_instruction *made = condition->definition;
    int64_t others = 0;
    if (!made || made->kind != IR_OPERATION || made->operand_count != 2)
        return false;
    struct ir_value *x = made->operands[0], *y = made->operands[1];
    if (made->op == OP_AND || made->op == OP_OR) {
        bool is_first = least_where(x, value, least), is_second = least_where(y, value, &others);
        if (is_first && is_second ? (made->op == OP_AND) == (others > *least) : is_second)
            *least = others;
        return made->op == OP_AND ? is_first || is_second : is_first && is_second;
    }
    if (made->op == OP_EQ && x == value && y->is_constant)
        *least = y->constant.integer;
    else if ((made->op == OP_LE || made->op == OP_LT || made->op == OP_EQ) && y == value && x->is_constant)
        *least = x->constant.integer + (made->op == OP_LT && x->constant.integer < INT64_MAX);
    else
        return false;
    return true;
}

/* One of the two holds: what follows from both. */
static void learn_from_either(struct ir_builder *b, const struct ir_value *either, const struct ir_value *part) {
    const struct ir_instruction *made = part->definition;
    int64_t least;
    if (!made || made->kind != IR_OPERATION || made->operand_count != 2 ||
        base_info[made->operands[0]->base].is_floating)
        return;
    for (int i = 0; i < 2; i++) {
        struct ir_value *x = made->operands[i];
        if (x->base == BASE_BOOL)
            learn_from_either(b, either, x);
        else if (!x->is_constant && least_where(either, x, &least) && least >= 1)
            learn_least(b, x, least, true);
    }
}

/* A condition that a branch gives, as `&&` and `||` do where what follows them is no operation: if the one side gives
   the opposite, the other one was taken. */
static void assume_given(struct ir_builder *b, const struct ir_instruction *branch, const struct ir_value *condition,
                         bool truth, uint32_t from_depth) {
    struct ir_value *given;
    const struct ir_region *taken = taken_for(branch, condition, truth, &given);
    if (!taken)
        return;
    facts_assume(b, branch->operands[0], taken == branch->regions[0], from_depth);
    learn_taken(b, taken);
    facts_assume(b, given, truth, from_depth);
}

void facts_assume(struct ir_builder *b, struct ir_value *condition, bool truth, uint32_t from_depth) {
    if (condition->is_constant || facts_of(b, condition)->truth != IR_UNKNOWN)
        return;
    change(b, condition)->truth = truth ? IR_TRUE : IR_FALSE;
    const struct ir_instruction *definition = condition->definition;
    if (b->optimise > 0)
        assume_given(b, definition, condition, truth, from_depth);
    if (!definition || definition->kind != IR_OPERATION)
        return;
    struct ir_value **x = definition->operands;
    if (definition->op == OP_NOT)
        facts_assume(b, x[0], !truth, from_depth);
    else if (definition->op == (truth ? OP_AND : OP_OR)) {
        facts_assume(b, x[0], truth, from_depth);
        facts_assume(b, x[1], truth, from_depth);
    } else if (truth && definition->op == OP_OR && b->optimise > 0) {
        learn_from_either(b, condition, x[0]);
    } else if (fold_is_comparison(definition->op) && b->optimise > 0)
        assume_comparison(b, definition->op, x[0], x[1], truth, from_depth);
}

void facts_branch(struct ir_builder *b, struct ir_value *condition, bool truth) {
    facts_assume(b, condition, truth, 0);
    builder_top(b)->learnt_mark = b->orders.count;
}
