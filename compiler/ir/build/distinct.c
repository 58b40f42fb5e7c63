/* Proofs that places differ: note [distinct places] in distinct.h. */
#include "ir/build/distinct.h"

#include "ir/build/bits.h"
#include "ir/build/linear.h"

enum { MOST_WRITES = 96, MOST_KNOWN = 24, MOST_LOOPS = 8, MOST_BY_BITS = 400, MOST_TERMS = 2 * LINEAR_MAX_TERMS };
enum { MOST_BITS = 32 }; /* of a sum, so that what it comes to fits 128 */

/* Is it the same in all iterations of the loops there? */
static bool is_fixed(const struct ir_value *value, const struct ir_region *around) {
    return !value->region || ir_region_inside(around, value->region);
}

static bool is_counted(const struct ir_instruction *owner) { return owner->kind == IR_FORALL || owner->kind == IR_FOR; }

struct loops {
    const struct ir_instruction *at[MOST_LOOPS];
    size_t count;
};

/* Those around the write; false: it is done a number of times that is not known. */
static bool loops_of(const struct ir_region *around, const struct ir_write *write, struct loops *loops) {
    loops->count = 0;
    for (const struct ir_region *region = write->region; region != around; region = region->parent) {
        const struct ir_instruction *owner = region->owner;
        if (!owner || loops->count == MOST_LOOPS || !(is_counted(owner) || owner->kind == IR_IF))
            return false;
        if (is_counted(owner))
            loops->at[loops->count++] = owner;
    }
    return true;
}

/* ---- sums of what varies ---- */

struct term {
    struct ir_value *value;
    range_wide factor, width; /* 0 < factor; from 0 to width */
    bool is_taken;            /* what it comes to is width less the value's distance from its least */
};
struct terms {
    range_wide constant, sum; /* the least that it comes to; and the most that the terms add to it */
    struct term at[MOST_TERMS];
    size_t count;
};

static range_wide modulus_of(enum base base) { return base_high(base) - base_low(base) + 1; }

/* From the smallest factor to the largest. */
static void add_term(struct ir_builder *b, struct terms *terms, struct ir_value *value, range_wide factor) {
    struct range range = facts_range(b, value);
    range_wide low = range.low, high = range_high(value->base, range);
    terms->constant += factor * (factor > 0 ? low : high);
    bool is_taken = factor < 0;
    factor = is_taken ? -factor : factor;
    size_t at = terms->count++;
    while (at > 0 && terms->at[at - 1].factor > factor) {
        terms->at[at] = terms->at[at - 1];
        at--;
    }
    terms->at[at] = (struct term){value, factor, high - low, is_taken};
    terms->sum += factor * (high - low);
}

/* ---- one write ---- */

struct knowing {
    struct ir_builder *b;
    const struct ir_region *around;
    struct ir_value *known[MOST_KNOWN]; /* the same wherever the place is */
    size_t count;
};

static bool is_known(const struct knowing *k, const struct ir_value *value) {
    if (is_fixed(value, k->around) || value->low == value->high)
        return true;
    for (size_t i = 0; i < k->count; i++)
        if (k->known[i] == value)
            return true;
    return false;
}

static void learn(struct knowing *k, struct ir_value *value) {
    if (!is_known(k, value) && k->count < MOST_KNOWN)
        k->known[k->count++] = value;
}

/* Its terms as digits. */
static void learn_terms(struct knowing *k, struct ir_value *value) {
    struct linear sum;
    struct terms terms = {.count = 0};
    if (base_info[value->base].bits > MOST_BITS || !linear_of(k->b, value, &sum))
        return;
    for (size_t i = 0; i < sum.count; i++)
        if (!is_known(k, sum.term[i].value))
            add_term(k->b, &terms, sum.term[i].value, sum.term[i].coefficient);
    range_wide below = 0;
    for (size_t i = 0; i < terms.count; i++) {
        if (terms.at[i].factor <= below)
            return;
        below += terms.at[i].factor * terms.at[i].width;
    }
    if (below >= modulus_of(value->base))
        return;
    for (size_t i = 0; i < terms.count; i++)
        learn(k, terms.at[i].value);
}

static const struct ir_instruction *operation_by_constant(const struct ir_value *value, enum ir_op op) {
    const struct ir_instruction *made = value->definition;
    bool is_one = made && made->kind == IR_OPERATION && made->op == op && made->operands[1]->is_constant;
    return is_one ? made : NULL;
}

/* x of x / c and x % c, or of x >> n and x & (2^n - 1). */
static struct ir_value *divided(const struct ir_value *quotient, const struct ir_value *remainder) {
    const struct ir_instruction *q = operation_by_constant(quotient, OP_DIV);
    const struct ir_instruction *r = operation_by_constant(remainder, OP_REM);
    if (q && r)
        return q->operands[0] == r->operands[0] && ir_is_same(q->operands[1], r->operands[1]) ? q->operands[0] : NULL;
    q = operation_by_constant(quotient, OP_SHR);
    r = operation_by_constant(remainder, OP_AND);
    bool is_whole = q && r && q->operands[0] == r->operands[0] && linear_divisor(quotient) > 0 &&
                    r->operands[1]->constant.integer == linear_divisor(quotient) - 1;
    return is_whole ? q->operands[0] : NULL;
}

/* x / c, of x / (c * d) and (x / c) % d. */
static struct ir_value *divided_before(const struct ir_value *quotient, const struct ir_value *remainder) {
    const struct ir_instruction *q = operation_by_constant(quotient, OP_DIV);
    const struct ir_instruction *r = operation_by_constant(remainder, OP_REM);
    const struct ir_instruction *before = r ? operation_by_constant(r->operands[0], OP_DIV) : NULL;
    if (!q || !before || before->operands[0] != q->operands[0])
        return NULL;
    range_wide c = before->operands[1]->constant.integer, d = r->operands[1]->constant.integer;
    return c > 0 && d > 0 && c * d == q->operands[1]->constant.integer ? r->operands[0] : NULL;
}

static void learn_divided(struct knowing *k) {
    for (size_t i = 0; i < k->count; i++)
        for (size_t j = 0; j < k->count; j++) {
            struct ir_value *x = divided(k->known[i], k->known[j]);
            struct ir_value *y = x ? NULL : divided_before(k->known[i], k->known[j]);
            if (x || y)
                learn(k, x ? x : y);
        }
}

static bool are_known(const struct knowing *k, const struct loops *loops) {
    for (size_t i = 0; i < loops->count; i++)
        if (!is_known(k, loops->at[i]->parameters[0]))
            return false;
    return true;
}

/* Has each iteration of the loops a place of its own? */
static bool is_once(struct ir_builder *b, const struct ir_region *around, const struct ir_write *write) {
    struct loops loops;
    if (!loops_of(around, write, &loops))
        return false;
    struct knowing k = {.b = b, .around = around};
    learn(&k, write->place);
    for (size_t done = 0; !are_known(&k, &loops); done = k.count) {
        size_t before = k.count;
        for (size_t i = 0; i < k.count; i++)
            learn_terms(&k, k.known[i]);
        learn_divided(&k);
        for (size_t i = 0; i < loops.count; i++)
            if (ir_bits_tell(k.known, k.count, loops.at[i]->parameters[0]))
                learn(&k, loops.at[i]->parameters[0]);
        if (k.count == before && k.count == done)
            return false;
    }
    return true;
}

/* ---- two writes ---- */

/* True if a multiple of the number is in the interval. The only multiple of 0 is 0. */
static bool has_multiple(range_wide low, range_wide high, range_wide of) {
    if (of == 0)
        return low <= 0 && high >= 0;
    range_wide below = high / of * of;
    return (below > high ? below - of : below) >= low;
}

/* The difference of two places, of which each is in an iteration of its own, so that an index may be another one for
   each. False: it is not known what it comes to. */
static bool difference_of(struct ir_builder *b, const struct ir_region *around, const struct ir_write *x,
                          const struct ir_write *y, struct terms *terms) {
    struct linear sums[2], fixed = {.base = x->place->base};
    *terms = (struct terms){.count = 0};
    if (base_info[fixed.base].bits > MOST_BITS || x->place->base != y->place->base ||
        !linear_of(b, x->place, &sums[0]) || !linear_of(b, y->place, &sums[1]))
        return false;
    for (int side = 0; side < 2; side++) {
        struct linear kept = {.base = fixed.base, .constant = sums[side].constant};
        for (size_t i = 0; i < sums[side].count; i++) {
            struct ir_value *value = sums[side].term[i].value;
            int64_t factor = sums[side].term[i].coefficient;
            if (!is_fixed(value, around)) {
                add_term(b, terms, value, side ? -(range_wide)factor : factor);
            } else {
                kept.term[kept.count].value = value;
                kept.term[kept.count++].coefficient = factor;
            }
        }
        if (!linear_add(&fixed, &kept, side ? -1 : 1))
            return false;
    }
    terms->constant += fixed.constant;
    range_wide modulus = modulus_of(fixed.base);
    return fixed.count == 0 && terms->constant > -modulus && terms->constant + terms->sum < modulus;
}

static bool is_never_zero(const struct terms *terms) {
    range_wide divisors[MOST_TERMS + 1] = {0}, low = terms->constant, high = terms->constant;
    divisors[terms->count] = 0;
    for (size_t i = terms->count; i-- > 0;)
        divisors[i] = linear_common_divisor((int64_t)terms->at[i].factor, (int64_t)divisors[i + 1]);
    for (size_t i = 0; i <= terms->count; i++) {
        if (!has_multiple(-high, -low, divisors[i]))
            return true;
        if (i < terms->count)
            high += terms->at[i].factor * terms->at[i].width;
    }
    return false;
}

/* Learns the values that are the same in both places if the places are the same. The value with the largest factor in
   both is one if its factor outweighs the rest of the difference; then the value with the next factor. */
static void learn_common(struct knowing *k, const struct terms *terms) {
    range_wide low = terms->constant, high = terms->constant + terms->sum;
    for (size_t i = terms->count; i >= 2; i -= 2) {
        const struct term *x = &terms->at[i - 1], *y = &terms->at[i - 2];
        range_wide most = x->factor * x->width; /* one is added, the other one, which began at its most, taken away */
        low += most;
        high -= most;
        bool is_common = x->value == y->value && x->factor == y->factor && x->is_taken != y->is_taken;
        if (!is_common || low <= -x->factor || high >= x->factor)
            return;
        learn(k, x->value);
    }
}

static void learn_what_follows(struct knowing *k, const struct loops *loops) {
    for (size_t before = k->count + 1; before != k->count;) {
        before = k->count;
        learn_divided(k);
        for (size_t i = 0; i < loops->count; i++)
            if (ir_bits_tell(k->known, k->count, loops->at[i]->parameters[0]))
                learn(k, loops->at[i]->parameters[0]);
    }
}

/* The innermost IF of which the one write is in one branch and the other in the other; or NULL. */
static const struct ir_instruction *choice_between(const struct ir_region *around, const struct ir_write *x,
                                                   const struct ir_write *y) {
    for (const struct ir_region *region = x->region; region != around; region = region->parent) {
        const struct ir_instruction *owner = region->owner;
        bool is_choice = owner->kind == IR_IF;
        if (is_choice && ir_region_inside(y->region, owner->regions[region == owner->regions[0]]))
            return owner;
    }
    return NULL;
}

/* Are they the same in one iteration alone of the loops around a branch, which does one of the two? */
static bool differ_by_choice(struct ir_builder *b, const struct ir_region *around, const struct ir_write *x,
                             const struct ir_write *y, const struct terms *terms) {
    const struct ir_instruction *choice = choice_between(around, x, y);
    struct knowing k = {.b = b, .around = around};
    struct loops loops;
    if (!choice || !loops_of(around, &(struct ir_write){NULL, choice->region}, &loops))
        return false;
    learn_common(&k, terms);
    learn_what_follows(&k, &loops);
    return are_known(&k, &loops);
}

static bool differ(struct ir_builder *b, const struct ir_region *around, const struct ir_write *x,
                   const struct ir_write *y, int *by_bits) {
    struct terms terms;
    if (difference_of(b, around, x, y, &terms) && (is_never_zero(&terms) || differ_by_choice(b, around, x, y, &terms)))
        return true;
    return (*by_bits)-- > 0 && ir_places_differ(x->place, y->place, around);
}

bool ir_writes_once(struct ir_builder *b, const struct ir_region *around, const struct ir_write *writes, size_t count) {
    int by_bits = MOST_BY_BITS;
    if (b->optimise == 0 || count > MOST_WRITES)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!is_once(b, around, &writes[i]))
            return false;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (!differ(b, around, &writes[i], &writes[j], &by_bits))
                return false;
    return true;
}

/* ---- all places ---- */

static bool is_constant(const struct ir_value *value, int64_t wanted) {
    return value->is_constant && value->constant.integer == wanted;
}

bool ir_asks_for_inside(const struct ir_value *condition, const struct ir_value *place, const struct ir_value *length) {
    const struct ir_instruction *made = condition->definition;
    if (!made || made->kind != IR_OPERATION || made->operand_count != 2)
        return false;
    const struct ir_value *x = made->operands[0], *y = made->operands[1];
    if (made->op == OP_AND)
        return ir_asks_for_inside(x, place, length) && ir_asks_for_inside(y, place, length);
    if (y == place)
        return (made->op == OP_LE && is_constant(x, 0)) || (made->op == OP_LT && is_constant(x, -1));
    return made->op == OP_LT && x == place && ir_is_same(y, length);
}

/* How often writes are done, as a sum; and each asks for no more than that its place is below the length. */
struct counting {
    struct ir_builder *b;
    const struct ir_write *writes;
    size_t count;
    const struct ir_value *length;
    bool has_guards;
};

static const struct ir_write *write_in(const struct counting *c, const struct ir_region *region) {
    const struct ir_write *found = NULL;
    for (size_t i = 0; i < c->count; i++)
        if (ir_region_inside(c->writes[i].region, region)) {
            if (found)
                return NULL;
            found = &c->writes[i];
        }
    return found;
}

static bool has_writes(const struct counting *c, const struct ir_region *region) {
    for (size_t i = 0; i < c->count; i++)
        if (ir_region_inside(c->writes[i].region, region))
            return true;
    return false;
}

static bool times_in(struct counting *c, const struct ir_region *region, struct linear *times);

static bool times_of_branch(struct counting *c, const struct ir_instruction *branch, struct linear *times) {
    const struct ir_write *only = write_in(c, branch->regions[0]);
    struct linear others;
    if (!times_in(c, branch->regions[0], times))
        return false;
    if (only && only->region == branch->regions[0] && !has_writes(c, branch->regions[1]) &&
        ir_asks_for_inside(branch->operands[0], only->place, c->length)) {
        c->has_guards = true;
        return true;
    }
    return times_in(c, branch->regions[1], &others) && linear_add(&others, times, -1) && others.count == 0 &&
           others.constant == 0;
}

static bool times_of_loop(struct counting *c, const struct ir_instruction *loop, struct linear *times) {
    struct linear body;
    struct ir_value *count = loop->operands[0];
    if (!is_counted(loop) || !times_in(c, loop->regions[0], &body))
        return false;
    if (count->is_constant && count->constant.integer >= 0 && count->constant.integer <= INT32_MAX)
        return linear_add(times, &body, count->constant.integer);
    return body.count == 0 && body.constant >= 0 && body.constant <= INT32_MAX &&
           facts_add(c->b, times, count, body.constant);
}

static bool times_in(struct counting *c, const struct ir_region *region, struct linear *times) {
    *times = (struct linear){.base = c->length->base, .exact = true};
    for (size_t i = 0; i < c->count; i++)
        times->constant += c->writes[i].region == region;
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *at = region->instructions.at[i];
        struct linear within = {.base = times->base, .exact = true};
        bool has_any = (at->regions[0] && has_writes(c, at->regions[0])) ||
                       (at->regions[0] && at->regions[1] && has_writes(c, at->regions[1]));
        if (has_any && (!(at->kind == IR_IF ? times_of_branch(c, at, &within) : times_of_loop(c, at, &within)) ||
                        !linear_add(times, &within, 1)))
            return false;
    }
    return true;
}

bool ir_writes_all(struct ir_builder *b, const struct ir_region *around, const struct ir_write *writes, size_t count,
                   const struct ir_value *length, bool are_inside) {
    struct counting c = {b, writes, count, length, !are_inside};
    struct linear times;
    if (!times_in(&c, around, &times))
        return false;
    struct linear rest = times;
    if (!facts_add(b, &rest, ir_resolve(b, (struct ir_value *)length), -1) || !facts_are_natural(b, &rest))
        return false;
    for (size_t i = 0; c.has_guards && i < count; i++) {
        struct linear above = times, below = {.base = length->base, .exact = true};
        above.constant--;
        if (!facts_add(b, &above, writes[i].place, -1) || !facts_are_natural(b, &above) ||
            !facts_add(b, &below, writes[i].place, 1) || !facts_are_natural(b, &below))
            return false;
    }
    return true;
}
