/* Takes integers apart into bits: note [bits] in bits.h. */
#include "ir/build/bits.h"

#include "ir/walk.h"

enum { MOST_BITS = 64, DEEPEST = 24, MOST_TAKEN_APART = 512, MOST_FOR_BOUND = 64, MOST_ACCESSES = 16 };

struct bit {
    enum { BIT_ZERO, BIT_ONE, BIT_OF, BIT_ANY } kind;
    const struct ir_value *of; /* OF: its bit `which` */
    int which;
    bool is_inverted;
};
struct bits {
    struct bit at[MOST_BITS];
};
struct taking {
    int steps; /* left: what is taken apart twice may be so 2^n times */
};

static const struct bit bit_zero = {.kind = BIT_ZERO}, bit_one = {.kind = BIT_ONE}, bit_any = {.kind = BIT_ANY};

static struct bit inverse(struct bit x) {
    if (x.kind == BIT_ZERO)
        return bit_one;
    if (x.kind == BIT_ONE)
        return bit_zero;
    x.is_inverted = !x.is_inverted;
    return x;
}

/* Never so of bits that may be anything. */
static bool are_same(struct bit x, struct bit y) {
    if (x.kind != y.kind || x.kind == BIT_ANY)
        return false;
    return x.kind != BIT_OF || (x.of == y.of && x.which == y.which && x.is_inverted == y.is_inverted);
}

static bool are_opposite(struct bit x, struct bit y) { return are_same(x, inverse(y)); }

static struct bit both(struct bit x, struct bit y) {
    if (x.kind == BIT_ZERO || y.kind == BIT_ZERO || are_opposite(x, y))
        return bit_zero;
    if (x.kind == BIT_ONE || are_same(x, y))
        return y;
    return y.kind == BIT_ONE ? x : bit_any;
}

static struct bit either(struct bit x, struct bit y) { return inverse(both(inverse(x), inverse(y))); }

static struct bit one_of(struct bit x, struct bit y) {
    if (x.kind == BIT_ZERO || x.kind == BIT_ONE)
        return x.kind == BIT_ONE ? inverse(y) : y;
    if (y.kind == BIT_ZERO || y.kind == BIT_ONE)
        return y.kind == BIT_ONE ? inverse(x) : x;
    return are_same(x, y) ? bit_zero : are_opposite(x, y) ? bit_one : bit_any;
}

/* The bit that at least two of the three agree on. */
static struct bit majority(struct bit x, struct bit y, struct bit z) {
    if (are_same(x, y) || are_same(x, z))
        return x;
    if (are_same(y, z))
        return y;
    return are_opposite(x, y) ? z : are_opposite(x, z) ? y : are_opposite(y, z) ? x : bit_any;
}

static int width_of(enum base base) { return base == BASE_BOOL ? 1 : base_info[base].bits; }

static struct bits add(const struct bits *x, const struct bits *y, struct bit carry, int width) {
    struct bits sum;
    for (int i = 0; i < width; i++) {
        sum.at[i] = one_of(one_of(x->at[i], y->at[i]), carry);
        carry = majority(x->at[i], y->at[i], carry);
    }
    return sum;
}

static struct bits inverted(const struct bits *x, int width) {
    struct bits result;
    for (int i = 0; i < width; i++)
        result.at[i] = inverse(x->at[i]);
    return result;
}

/* Shifted up by a positive count, down by a negative one; `top` comes in from above. */
static struct bits shifted(const struct bits *x, int count, struct bit top, int width) {
    struct bits result;
    for (int i = 0; i < width; i++)
        result.at[i] = i - count < 0 ? bit_zero : i - count < width ? x->at[i - count] : top;
    return result;
}

/* An odd multiple has the lowest bit that may be set, and the zeros below it. */
static void multiply_by_odd(struct bits *x, int width) {
    int i = 0;
    while (i < width && x->at[i].kind == BIT_ZERO)
        i++;
    while (++i < width)
        x->at[i] = bit_any;
}

static bool is_power_of_two(int64_t x) { return x > 0 && (x & (x - 1)) == 0; }

/* Uses the value's range: the bits above those of its largest value are zero. */
static void use_range(struct bits *x, const struct ir_value *value, int width) {
    if (value->low < 0 || (value->base == BASE_U64 && value->high == INT64_MAX))
        return;
    for (int i = 0; i < width; i++)
        if (i >= 63 || value->high >> i == 0)
            x->at[i] = bit_zero;
}

static struct bits bits_of(struct taking *t, const struct ir_value *value, int depth);

/* False: it is not taken apart. */
static bool bits_of_operation(struct taking *t, const struct ir_instruction *operation, int depth, struct bits *bits) {
    const struct ir_value *const *x = (const struct ir_value *const *)operation->operands, *last;
    enum base base = operation->results[0]->base, from = x[0]->base;
    int width = width_of(base), count;
    struct bits a, b;
    last = x[operation->operand_count - 1];
    for (size_t i = 0; i < operation->operand_count; i++)
        if (base_info[x[i]->base].is_floating || base_info[base].is_floating)
            return false;
    switch (operation->op) {
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_ADD:
    case OP_SUB:
    case OP_MIN:
    case OP_MAX:
        a = bits_of(t, x[0], depth - 1);
        b = bits_of(t, x[1], depth - 1);
        break;
    case OP_SELECT:
        a = bits_of(t, x[1], depth - 1);
        b = bits_of(t, x[2], depth - 1);
        break;
    case OP_BIT_NOT:
    case OP_NEG:
    case OP_CONVERT: a = bits_of(t, x[0], depth - 1); break;
    case OP_SHL:
    case OP_SHR:
    case OP_MUL:
    case OP_DIV:
    case OP_REM:
        if (!last->is_constant)
            return false;
        a = bits_of(t, x[0], depth - 1);
        break;
    default: return false;
    }
    count = last->is_constant ? (int)(last->constant.natural & (uint64_t)(width - 1)) : 0;
    switch (operation->op) {
    case OP_AND:
    case OP_OR:
    case OP_XOR:
        for (int i = 0; i < width; i++)
            bits->at[i] = operation->op == OP_AND  ? both(a.at[i], b.at[i])
                          : operation->op == OP_OR ? either(a.at[i], b.at[i])
                                                   : one_of(a.at[i], b.at[i]);
        return true;
    case OP_MIN:
    case OP_MAX:
    case OP_SELECT:
        for (int i = 0; i < width; i++)
            bits->at[i] = are_same(a.at[i], b.at[i]) ? a.at[i] : bit_any;
        return true;
    case OP_ADD: *bits = add(&a, &b, bit_zero, width); return true;
    case OP_SUB:
        b = inverted(&b, width);
        *bits = add(&a, &b, bit_one, width);
        return true;
    case OP_BIT_NOT: *bits = inverted(&a, width); return true;
    case OP_NEG:
        a = inverted(&a, width);
        for (int i = 0; i < width; i++)
            b.at[i] = bit_zero;
        *bits = add(&a, &b, bit_one, width);
        return true;
    case OP_CONVERT:
        for (int i = 0; i < width; i++)
            bits->at[i] = i < width_of(from)          ? a.at[i]
                          : base_info[from].is_signed ? a.at[width_of(from) - 1]
                                                      : bit_zero;
        return base != BASE_BOOL || from == BASE_BOOL; /* whether any bit is set */
    case OP_SHL: *bits = shifted(&a, count, bit_zero, width); return true;
    case OP_SHR:
        *bits = shifted(&a, -count, base_info[base].is_signed ? a.at[width - 1] : bit_zero, width);
        return true;
    case OP_MUL:
        if (last->constant.integer == 0)
            return false;
        count = __builtin_ctzll(last->constant.natural);
        *bits = shifted(&a, count < width ? count : width, bit_zero, width);
        if (!is_power_of_two(last->constant.integer))
            multiply_by_odd(bits, width);
        return true;
    case OP_DIV:
    case OP_REM:
        if (x[0]->low < 0 || !is_power_of_two(last->constant.integer))
            return false;
        count = __builtin_ctzll(last->constant.natural);
        if (operation->op == OP_DIV)
            *bits = shifted(&a, -count, bit_zero, width);
        for (int i = 0; i < width && operation->op == OP_REM; i++)
            bits->at[i] = i < count ? a.at[i] : bit_zero;
        return true;
    default: return false;
    }
}

static struct bits bits_of(struct taking *t, const struct ir_value *value, int depth) {
    struct bits bits;
    int width = width_of(value->base);
    const struct ir_instruction *made = value->definition;
    if (value->is_constant) {
        for (int i = 0; i < width; i++)
            bits.at[i] = value->constant.natural >> i & 1 ? bit_one : bit_zero;
        return bits;
    }
    bool is_operation = made && made->kind == IR_OPERATION && depth > 0 && t->steps-- > 0;
    if (!is_operation || !bits_of_operation(t, made, depth, &bits))
        for (int i = 0; i < width; i++)
            bits.at[i] = (struct bit){.kind = BIT_OF, .of = value, .which = i};
    use_range(&bits, value, width);
    return bits;
}

/* ---- places ---- */

/* An index into memory: a number that fits 32 bits and is not negative, or it is in no array. */
static bool take_places(const struct ir_value *x, const struct ir_value *y, struct bits *a, struct bits *b) {
    if (!base_info[x->base].is_integer || x->base != y->base)
        return false;
    struct taking t = {MOST_TAKEN_APART};
    *a = bits_of(&t, x, DEEPEST);
    *b = bits_of(&t, y, DEEPEST);
    return true;
}

/* Is the value the same in all iterations of the loop with that body? */
static bool is_fixed(const struct ir_value *value, const struct ir_region *body) {
    return !value->region || !ir_region_inside(value->region, body);
}

/* Does that bit of the index stand at some bit of both? */
static bool stands_in_both(const struct bits *a, const struct bits *b, int width, struct bit of_index) {
    for (int i = 0; i < width; i++)
        if (are_same(a->at[i], b->at[i]) && a->at[i].kind == BIT_OF && a->at[i].of == of_index.of &&
            a->at[i].which == of_index.which)
            return true;
    return false;
}

static bool differ(const struct bits *a, const struct bits *b, int width, const struct ir_region *body) {
    for (int i = 0; i < width; i++)
        if (are_opposite(a->at[i], b->at[i]) &&
            (a->at[i].kind != BIT_OF || is_fixed(a->at[i].of, body) || stands_in_both(a, b, width, a->at[i])))
            return true;
    return false;
}

bool ir_places_differ(struct ir_value *x, struct ir_value *y, const struct ir_region *body) {
    struct bits a, b;
    return take_places(x, y, &a, &b) && differ(&a, &b, width_of(x->base), body);
}

bool ir_places_apart(struct ir_value *x, struct ir_value *y, const struct ir_value *index,
                     const struct ir_region *body) {
    struct bits a, b;
    if (!take_places(x, y, &a, &b))
        return false;
    int width = width_of(x->base);
    if (differ(&a, &b, width, body))
        return true;
    struct taking t = {1};
    struct bits all = bits_of(&t, index, 0);
    for (int i = 0; i < width_of(index->base); i++)
        if (all.at[i].kind == BIT_OF && !stands_in_both(&a, &b, width, all.at[i]))
            return false;
    return true;
}

bool ir_bits_tell(struct ir_value *const *values, size_t count, const struct ir_value *part) {
    struct taking alone = {1};
    struct bits all = bits_of(&alone, part, 0);
    uint64_t missing = 0;
    for (int i = 0; i < width_of(part->base); i++)
        missing |= (uint64_t)(all.at[i].kind == BIT_OF) << i;
    for (size_t k = 0; k < count && missing; k++) {
        struct taking t = {MOST_TAKEN_APART};
        if (!base_info[values[k]->base].is_integer)
            continue;
        struct bits bits = bits_of(&t, values[k], DEEPEST);
        for (int i = 0; i < width_of(values[k]->base); i++)
            if (bits.at[i].kind == BIT_OF && bits.at[i].of == part)
                missing &= ~((uint64_t)1 << bits.at[i].which);
    }
    return missing == 0;
}

void ir_bits_bound(const struct ir_value *value, int64_t *low, int64_t *high) {
    struct taking t = {MOST_FOR_BOUND};
    struct bits bits = bits_of(&t, value, DEEPEST);
    int width = width_of(value->base), count = width > 62 ? 62 : width;
    for (int i = count; i < width; i++)
        if (bits.at[i].kind != BIT_ZERO)
            return;
    if (base_info[value->base].is_signed && bits.at[width - 1].kind != BIT_ZERO)
        return;
    int64_t least = 0, most = 0;
    for (int i = 0; i < count; i++) {
        least |= (int64_t)(bits.at[i].kind == BIT_ONE) << i;
        most |= (int64_t)(bits.at[i].kind != BIT_ZERO) << i;
    }
    *low = least > *low ? least : *low;
    *high = most < *high ? most : *high;
}

/* ---- loops ---- */

typedef struct {
    const struct ir_instruction *at[MOST_ACCESSES];
    size_t count;
} accesses;

static bool add_access(accesses *all, const struct ir_instruction *access) {
    if (access->is_volatile || all->count == MOST_ACCESSES)
        return false;
    all->at[all->count++] = access;
    return true;
}

/* The instruction of the loop's body that it is, or is in. */
static size_t position_in(const struct ir_region *body, const struct ir_instruction *instruction) {
    while (instruction->region != body)
        instruction = instruction->region->owner;
    size_t i = 0;
    while (body->instructions.at[i] != instruction)
        i++;
    return i;
}

bool ir_reads_old(const struct ir_instruction *loop, const struct ir_buffer *from, const struct ir_buffer *to) {
    if (loop->kind != IR_FORALL || loop->inner != LEVEL_THREAD)
        return false;
    struct ir_region *body = loop->regions[0];
    accesses reads = {.count = 0}, writes = {.count = 0};
    for (struct ir_walk walk = ir_walk(body); walk.at; ir_next(&walk)) {
        bool is_read = walk.at->kind == IR_LOAD && walk.at->buffer == from;
        bool is_write = walk.at->kind == IR_STORE && walk.at->buffer == to;
        bool is_touch = walk.at->buffer && (walk.at->buffer == from || walk.at->buffer == to);
        if (is_touch && !(is_read && add_access(&reads, walk.at)) && !(is_write && add_access(&writes, walk.at)))
            return false;
    }
    for (size_t i = 0; i < reads.count; i++)
        for (size_t k = 0; k < writes.count; k++) {
            struct ir_value *x = reads.at[i]->operands[0], *y = writes.at[k]->operands[0];
            bool is_first = position_in(body, reads.at[i]) < position_in(body, writes.at[k]);
            if (is_first ? !ir_places_apart(x, y, loop->parameters[0], body) : !ir_places_differ(x, y, body))
                return false;
        }
    return true;
}
