/* The builder: operations, their sharing and their place, and memory. */
#include "ir/build/simplify.h"

#include "support/fatal.h"
#include "support/map.h"

/* ---- regions and instructions ---- */

struct ir_region *ir_current(const struct ir_builder *b) {
    return b->frames.at[b->frames.count - 1].region;
}

enum level_value ir_ambient(const struct ir_builder *b) { return ir_current(b)->ambient; }

void ir_set_span(struct ir_builder *b, struct span span, struct span users) {
    b->span = span;
    b->users = users;
}

bool ir_region_has_effects(const struct ir_builder *b) { return b->frames.at[b->frames.count - 1].stores; }

struct ir_builder *ir_builder_new(struct arena *arena, struct arena *scratch, struct ir_kernel *kernel, int optimise) {
    struct ir_builder *b = ARENA_NEW(scratch, struct ir_builder);
    b->arena = arena;
    b->scratch = scratch;
    b->kernel = kernel;
    b->optimise = optimise;
    b->span = kernel->span;
    b->table_size = 256;
    b->table = ARENA_ARRAY(scratch, struct shared *, b->table_size);
    if (!kernel->body)
        kernel->body = ir_new_region(arena, kernel, LEVEL_GRID, NULL, NULL);
    while (b->regions.count < kernel->region_count)
        vec_push(scratch, &b->regions, (struct region_info){0, false});
    for (size_t i = 0; i < kernel->buffers.count; i++)
        while (b->stores.count <= kernel->buffers.at[i]->id)
            vec_push(scratch, &b->stores, 0);
    b->buffer_count = (uint32_t)b->stores.count;
    b->regions.at[kernel->body->id].open = true;
    vec_push(scratch, &b->frames, (struct frame){.kind = FRAME_BODY, .region = kernel->body});
    return b;
}

struct ir_instruction *builder_instruction(struct ir_builder *b, enum ir_kind kind, size_t operands, size_t results,
                                           size_t parameters) {
    struct ir_instruction *instruction = ir_new_instruction(b->arena, kind, operands, results, parameters);
    b->instruction_count++;
    instruction->span = b->span;
    instruction->users = b->users;
    return instruction;
}

void builder_append(struct ir_builder *b, size_t frame, struct ir_instruction *instruction) {
    struct ir_region *region = b->frames.at[frame].region;
    instruction->region = region;
    for (size_t i = 0; i < instruction->result_count; i++) {
        instruction->results[i]->definition = instruction;
        instruction->results[i]->region = region;
    }
    vec_push(b->arena, &region->instructions, instruction);
}

void ir_name(struct ir_value *value, const char *name) {
    if (!value->name && !value->is_constant)
        value->name = name;
}

void ir_bound(struct ir_value *value, int64_t low, int64_t high) {
    struct range range = {value->low, value->high};
    if (!value->is_constant && range_intersect(range, (struct range){low, high}, &range)) {
        value->low = range.low;
        value->high = range.high;
    }
}

/* ---- parameters ---- */

struct ir_value *ir_parameter_value(struct ir_builder *b, enum base base, int64_t low, int64_t high, const char *name) {
    struct ir_value *value = builder_value(b, base, NULL, name);
    struct range range;
    if (!base_info[base].is_floating &&
        range_intersect((struct range){low, high}, (struct range){value->low, value->high}, &range)) {
        value->low = range.low;
        value->high = range.high;
    }
    return value;
}

/* ---- operations ---- */

/* See note [what moves out of loops] in build.h: from the innermost frame outwards while all
   operands stay in scope. The loops passed on the way are not appended to their regions yet, so
   appending here puts the operation before them. */
static size_t home_of(const struct ir_builder *b, struct ir_value **x, size_t count) {
    size_t frame = b->frames.count - 1, needed = 0;
    if (b->optimise == 0)
        return frame;
    for (size_t i = 0; i < count; i++)
        if (builder_depth(b, x[i]) > needed)
            needed = builder_depth(b, x[i]);
    while (frame > needed && b->frames.at[frame].kind != FRAME_THEN && b->frames.at[frame].kind != FRAME_ELSE)
        frame--;
    return frame;
}

static uint64_t hash_of_operation(enum ir_op op, enum base base, struct ir_value *const *x, size_t count) {
    uint64_t hash = builder_mix(builder_mix(1, op), base);
    for (size_t i = 0; i < count; i++)
        hash = builder_mix(hash, x[i]->id);
    return hash;
}

static struct ir_value *find_operation(struct ir_builder *b, uint64_t hash, enum ir_op op, enum base base,
                                       struct ir_value **x, size_t count) {
    struct shared **link = &b->table[hash % b->table_size];
    for (struct shared *node; (node = builder_shared(b, &link, hash));) {
        const struct ir_instruction *definition = node->value->definition;
        if (!definition || definition->kind != IR_OPERATION || definition->op != op || node->value->base != base)
            continue;
        bool same = true;
        for (size_t i = 0; i < count; i++)
            same = same && definition->operands[i] == x[i];
        if (same)
            return node->value;
    }
    return NULL;
}

static struct ir_value *new_operation(struct ir_builder *b, enum ir_op op, enum base base, struct ir_value **x,
                                      size_t count, struct range range, bool no_wrap) {
    struct ir_instruction *instruction = builder_instruction(b, IR_OPERATION, count, 1, 0);
    instruction->op = op;
    instruction->no_wrap = no_wrap;
    memcpy(instruction->operands, x, count * sizeof *x);
    struct ir_value *value = builder_value(b, base, NULL, NULL);
    value->low = range.low;
    value->high = range.high;
    instruction->results[0] = value;
    builder_append(b, home_of(b, x, count), instruction);
    return value;
}

/* Narrows the range of a shared or simplified value: at this place the operands may tell more than the value tells by
   itself. In the body of a WHILE it does not narrow a value from outside: expressions of such values move out of the
   WHILE, to where its condition need not hold. */
void builder_learn(struct ir_builder *b, struct ir_value *value, struct range range) {
    uint32_t depth = builder_depth(b, value);
    for (size_t i = b->frames.count - 1; i > depth; i--) {
        enum frame_kind kind = b->frames.at[i].kind;
        if (kind == FRAME_WHILE_BODY)
            return;
        if (kind == FRAME_THEN || kind == FRAME_ELSE)
            break;
    }
    facts_narrow(b, value, range);
}

/* x - y where y is a part of a natural x, such as x / 2, lies between 0 and x: intervals alone cannot see that. */
static bool takes_a_part(const struct ir_value *x, const struct ir_value *y, struct range of_x, struct range *result) {
    const struct ir_instruction *part = y->definition;
    if (!part || part->kind != IR_OPERATION || part->operands[0] != x || of_x.low < 0 || !base_info[x->base].is_integer)
        return false;
    const struct ir_value *by = part->operand_count > 1 ? part->operands[1] : NULL;
    int64_t high = of_x.high;
    bool is_bounded = x->base != BASE_U64 || high < INT64_MAX;
    switch (part->op) {
    case OP_SHR:
        if (is_bounded && by->is_constant && by->constant.integer >= 0 &&
            by->constant.integer < base_info[x->base].bits)
            high -= high >> by->constant.integer;
        break;
    case OP_DIV:
        if (by->low < 1)
            return false;
        if (is_bounded && by->is_constant && by->constant.integer > 0)
            high -= high / by->constant.integer;
        break;
    case OP_MIN:
        if (by->low < 0) /* it may be less than nothing */
            return false;
        break;
    case OP_REM:
    case OP_AND: break;
    default: return false; /* other operations may give more than their operand */
    }
    return range_intersect(*result, (struct range){0, high}, result);
}

/* ---- what is built in the place of an operation ---- */

static struct ir_value *scaled(struct ir_builder *b, struct ir_value *value, int64_t factor) {
    return factor == 1 ? value : ir_binary(b, OP_MUL, value, builder_integer(b, value->base, factor));
}

static struct ir_value *plus_constant(struct ir_builder *b, struct ir_value *value, int64_t constant) {
    bool down = constant < 0 && constant > INT64_MIN;
    return ir_binary(b, down ? OP_SUB : OP_ADD, value, builder_integer(b, value->base, down ? -constant : constant));
}

/* The index of a loop of so many turns as are known, which is unrolled. */
static bool is_counted(const struct ir_value *value) {
    const struct ir_instruction *owner = value->definition || !value->region ? NULL : value->region->owner;
    return owner && owner->kind == IR_FOR && owner->operands[0]->is_constant && owner->parameters[0] == value;
}

/* The terms of outer loops first, so that as much as can be moves out, and the constant last,
   where it goes into an address; but before the index of an unrolled loop, in what its turns
   share, or LLVM makes no vectors of the loop around (QUIRK_UNROLLED_TERMS of map/quirks). */
static struct ir_value *build_sum(struct ir_builder *b, const struct linear *sum) {
    struct linear rest = *sum;
    struct ir_value *total = NULL;
    b->rebuilding++;
    while (rest.count > 0) {
        size_t best = 0;
        for (size_t i = 1; i < rest.count; i++) {
            uint32_t here = builder_depth(b, rest.term[i].value), there = builder_depth(b, rest.term[best].value);
            bool positive = rest.term[i].coefficient > 0 && rest.term[best].coefficient < 0;
            if (here < there || (here == there && positive))
                best = i;
        }
        struct ir_value *value = rest.term[best].value;
        int64_t factor = rest.term[best].coefficient;
        linear_remove(&rest, best);
        if (total && rest.count == 0 && is_counted(value)) {
            total = plus_constant(b, total, rest.constant);
            rest.constant = 0;
        }
        if (!total && factor < 0) {
            total = builder_integer(b, rest.base, rest.constant);
            rest.constant = 0;
        }
        if (!total)
            total = scaled(b, value, factor);
        else if (factor < 0 && factor != INT64_MIN)
            total = ir_binary(b, OP_SUB, total, scaled(b, value, -factor));
        else
            total = ir_binary(b, OP_ADD, total, scaled(b, value, factor));
    }
    total = total ? plus_constant(b, total, rest.constant) : builder_integer(b, rest.base, rest.constant);
    b->rebuilding--;
    return total;
}

static struct ir_value *make(struct ir_builder *b, enum ir_op op, enum base base, struct ir_value **x, size_t count);

/* Builds what `simplify` has asked for in place of an operation. */
static struct ir_value *make_again(struct ir_builder *b, struct wanted *w) {
    if (w->again == AGAIN_SUM)
        return build_sum(b, &w->sum);
    if (w->again == AGAIN_OPERATION)
        return make(b, w->op, w->base, w->x, w->count);
    struct ir_value *sum = build_sum(b, &w->sum);
    w->x[0] = build_sum(b, &w->rest);
    return ir_binary(b, OP_ADD, make(b, w->op, w->base, w->x, w->count), sum);
}

/* NULL: nothing simpler is known. */
static struct ir_value *simpler(struct ir_builder *b, struct wanted *w) {
    struct ir_value *value = simplify(b, w);
    return value == &simplify_again ? make_again(b, w) : value;
}

struct ir_value *builder_selected(struct ir_builder *b, struct ir_value *condition, struct ir_value *x,
                                  struct ir_value *y) {
    return simpler(b, &(struct wanted){.op = OP_SELECT, .base = x->base, .x = {condition, x, y}, .count = 3});
}

/* The operands are resolved, and not all constant. */
static struct ir_value *make_simplified(struct ir_builder *b, struct wanted *w) {
    struct range ranges[3];
    struct ir_value **x = w->x;
    enum ir_op op = w->op;
    enum base base = w->base, operand = x[w->count - 1]->base;
    size_t count = w->count;
    for (size_t i = 0; i < count; i++)
        ranges[i] = facts_range(b, x[i]);
    struct range range = range_operation(op, base, operand, ranges);
    bool within = op == OP_SUB && takes_a_part(x[0], x[1], ranges[0], &range);
    if (range_is_point(base, range))
        return builder_integer(b, base, range.low);
    struct ir_value *value = simpler(b, w);
    if (!value) {
        for (size_t i = 0; i < count; i++) /* they may have changed places */
            ranges[i] = facts_range(b, x[i]);
        uint64_t hash = hash_of_operation(op, base, x, count);
        value = find_operation(b, hash, op, base, x, count);
        if (!value) {
            bool can_wrap = ir_op_info[op].wraps == WRAPS;
            value = new_operation(b, op, base, x, count, range,
                                  within || (can_wrap && range_never_wraps(op, base, ranges)));
            builder_share(b, hash, value, 0);
            return value;
        }
    }
    if (!value->is_constant && !range_within(facts_range(b, value), range))
        builder_learn(b, value, range);
    return builder_operand(b, value);
}

/* A cache: the value that the builder gave for an operation. An entry serves until the builder knows more. Loops and
   branches contain the same comparisons again and again, and the builder tries many rules on each. */
enum { KNOWN_OPERATIONS = 128 };
struct known_operation {
    uint32_t known, operands[3];
    enum ir_op op;
    enum base base;
    bool is_part; /* of a sum that is rebuilt, which is not simplified */
    struct ir_value *value;
};

static struct known_operation *known_operation(struct ir_builder *b, const struct known_operation *wanted) {
    if (!b->operations)
        b->operations = ARENA_ARRAY(b->scratch, struct known_operation, KNOWN_OPERATIONS);
    uint64_t hash = builder_mix(builder_mix(wanted->op, wanted->base), wanted->operands[0]);
    hash = builder_mix(builder_mix(hash, wanted->operands[1]), wanted->operands[2]);
    return &b->operations[hash % KNOWN_OPERATIONS];
}

static bool is_in_scope(const struct ir_builder *b, const struct ir_value *value) {
    const struct region_info *info = value->region ? &b->regions.at[value->region->id] : NULL;
    return !info || (info->open && info->depth < b->frames.count);
}

static struct ir_value *make(struct ir_builder *b, enum ir_op op, enum base base, struct ir_value **x, size_t count) {
    union scalar constants[3];
    struct range ranges[3];
    bool all_constant = true;
    for (size_t i = 0; i < count; i++) {
        x[i] = builder_operand(b, x[i]);
        all_constant = all_constant && x[i]->is_constant;
        constants[i] = x[i]->constant;
    }
    enum base operand = x[count - 1]->base;
    if (all_constant)
        return ir_constant(b, base, fold_operation(op, base, operand, constants));
    if (b->optimise == 0) {
        if (op == OP_SELECT && x[0]->is_constant) /* known conditions decide statically at every level */
            return x[x[0]->constant.integer ? 1 : 2];
        if ((op == OP_MIN || op == OP_MAX) && x[0] == x[1] && base_info[base].is_integer)
            return x[0]; /* and lengths that are equal are seen to be */
        /* ranges are kept at every level: what memory to set aside is decided by them */
        for (size_t i = 0; i < count; i++)
            ranges[i] = (struct range){x[i]->low, x[i]->high};
        return new_operation(b, op, base, x, count, range_operation(op, base, operand, ranges), false);
    }
    struct known_operation wanted = {
        .known = b->known, .op = op, .base = base, .is_part = b->rebuilding > 0, .value = NULL};
    for (size_t i = 0; i < count; i++)
        wanted.operands[i] = x[i]->id + 1;
    struct known_operation *known = known_operation(b, &wanted);
    bool is_same = known->value && known->known == wanted.known && known->op == op && known->base == base &&
                   known->is_part == wanted.is_part &&
                   memcmp(known->operands, wanted.operands, sizeof wanted.operands) == 0;
    if (is_same && is_in_scope(b, known->value))
        return builder_operand(b, known->value);
    struct wanted operation = {.op = op, .base = base, .count = count};
    memcpy(operation.x, x, count * sizeof *x);
    wanted.value = make_simplified(b, &operation);
    if (b->known == wanted.known)
        *known = wanted;
    return wanted.value;
}

/* note [narrow floats]
   Floats of 16 bits are kept, moved, chosen and converted, and that is all that machines and the
   languages are asked for: what is computed with them is made of operations on floats here. A float
   has more than twice their digits, so that a sum, a product, a quotient or a root of theirs that is
   rounded to a float, and then to them, is what one rounding gives. */

/* a * b + c rounded to odd, which may be rounded once more (Boldo and Melquiond, 2008): what the sum
   lost is known exactly (Knuth's two-sum), and where it lost something, its last bit is made 1. The
   product is exact: of f16 in float, of bf16, whose exponents a float has, in double. */
static struct ir_value *sum_of_product(struct ir_builder *b, struct ir_value *const *x) {
    enum base wide = x[0]->base == BASE_F16 ? BASE_F32 : BASE_F64, word = base_of_bits(wide);
    struct ir_value *c = ir_convert(b, x[2], wide), *zero = ir_constant(b, wide, (union scalar){0});
    struct ir_value *product = ir_binary(b, OP_MUL, ir_convert(b, x[0], wide), ir_convert(b, x[1], wide));
    struct ir_value *sum = ir_binary(b, OP_ADD, product, c), *part = ir_binary(b, OP_SUB, sum, product);
    struct ir_value *lost = ir_binary(b, OP_SUB, product, ir_binary(b, OP_SUB, sum, part));
    lost = ir_binary(b, OP_ADD, lost, ir_binary(b, OP_SUB, c, part));
    struct ir_value *is_above = ir_binary(b, OP_LT, zero, lost), *is_below = ir_binary(b, OP_LT, lost, zero);
    struct ir_value *bits = ir_same_bits(b, sum, word), *one = builder_integer(b, word, 1);
    struct ir_value *is_odd = ir_binary(b, OP_EQ, ir_binary(b, OP_AND, bits, one), one);
    struct ir_value *is_away = ir_binary(b, OP_EQ, is_above, ir_binary(b, OP_LT, zero, sum));
    struct ir_value *other =
        ir_ternary(b, OP_SELECT, is_away, ir_binary(b, OP_ADD, bits, one), ir_binary(b, OP_SUB, bits, one));
    struct ir_value *is_exact = ir_unary(b, OP_NOT, ir_binary(b, OP_OR, is_above, is_below));
    struct ir_value *stays = ir_binary(b, OP_OR, is_exact, is_odd);
    return ir_same_bits(b, ir_ternary(b, OP_SELECT, stays, bits, other), wide);
}

/* The operands' base is narrow. */
static struct ir_value *make_narrow(struct ir_builder *b, enum ir_op op, struct ir_value **x, size_t count) {
    enum base base = x[0]->base;
    if (op == OP_FMA)
        return ir_convert(b, sum_of_product(b, x), base);
    for (size_t i = 0; i < count; i++)
        x[i] = ir_convert(b, x[i], BASE_F32);
    struct ir_value *result = make(b, op, fold_result_base(op, BASE_F32), x, count);
    return result->base == BASE_F32 ? ir_convert(b, result, base) : result;
}

static struct ir_value *make_operation(struct ir_builder *b, enum ir_op op, struct ir_value **x, size_t count) {
    if (base_info[x[count - 1]->base].is_narrow && op != OP_SELECT)
        return make_narrow(b, op, x, count);
    if (op == OP_FMA && base_info[x[0]->base].is_integer)
        return ir_binary(b, OP_ADD, ir_binary(b, OP_MUL, x[0], x[1]), x[2]);
    return make(b, op, fold_result_base(op, x[count - 1]->base), x, count);
}

struct ir_value *ir_unary(struct ir_builder *b, enum ir_op op, struct ir_value *x) {
    struct ir_value *operands[] = {x};
    return make_operation(b, op, operands, 1);
}

struct ir_value *ir_binary(struct ir_builder *b, enum ir_op op, struct ir_value *x, struct ir_value *y) {
    struct ir_value *operands[] = {x, y};
    return make_operation(b, op, operands, 2);
}

struct ir_value *ir_ternary(struct ir_builder *b, enum ir_op op, struct ir_value *x, struct ir_value *y,
                            struct ir_value *z) {
    struct ir_value *operands[] = {x, y, z};
    return make_operation(b, op, operands, 3);
}

struct ir_value *ir_same_bits(struct ir_builder *b, struct ir_value *x, enum base to) {
    struct ir_value *operands[] = {x};
    return make(b, OP_BITS, to, operands, 1);
}

struct ir_value *ir_bits(struct ir_builder *b, struct ir_value *x) {
    return base_info[x->base].is_floating ? ir_same_bits(b, x, base_of_bits(x->base)) : x;
}

/* |x| as n * scale, where n keeps at least 12 bits: from bit `from` on it is shifted right by `by`, and its last bit
   is 1 where a bit that was shifted out was, so that rounding n rounds |x|. */
struct scaled {
    struct ir_value *n, *scale;
};

static struct scaled scaled_down(struct ir_builder *b, struct scaled x, int from, int by) {
    enum base base = x.n->base;
    struct ir_value *count = builder_integer(b, base, by), *low = builder_integer(b, base, (INT64_C(1) << by) - 1);
    struct ir_value *rest = ir_binary(b, OP_AND, x.n, low), *zero = builder_integer(b, base, 0);
    struct ir_value *has_rest = ir_convert(b, ir_binary(b, OP_NE, rest, zero), base);
    struct ir_value *down = ir_binary(b, OP_OR, ir_binary(b, OP_SHR, x.n, count), has_rest);
    struct ir_value *is_large = ir_binary(b, OP_LE, builder_integer(b, base, INT64_C(1) << from), x.n);
    union scalar factor = {.floating = (double)(INT64_C(1) << by)};
    struct ir_value *scale = ir_binary(b, OP_MUL, x.scale, ir_constant(b, BASE_F32, factor));
    return (struct scaled){ir_ternary(b, OP_SELECT, is_large, down, x.n),
                           ir_ternary(b, OP_SELECT, is_large, scale, x.scale)};
}

static struct ir_value *integer_to_odd(struct ir_builder *b, struct ir_value *x) {
    enum base base = base_of_bits(x->base);
    struct ir_value *is_negative = ir_binary(b, OP_LT, x, builder_integer(b, x->base, 0));
    struct ir_value *size = ir_ternary(b, OP_SELECT, is_negative, ir_unary(b, OP_NEG, x), x);
    union scalar one = {.floating = 1};
    struct scaled scaled = {ir_convert(b, size, base), ir_constant(b, BASE_F32, one)};
    if (base == BASE_U64) {
        scaled = scaled_down(b, scaled, 44, 32);
        scaled = scaled_down(b, scaled, 32, 12);
        scaled.n = ir_convert(b, scaled.n, BASE_U32);
    }
    scaled = scaled_down(b, scaled, 24, 8);
    struct ir_value *result = ir_binary(b, OP_MUL, ir_convert(b, scaled.n, BASE_F32), scaled.scale);
    return ir_ternary(b, OP_SELECT, is_negative, ir_unary(b, OP_NEG, result), result);
}

/* 13 bits stay: no fewer than f16 needs, and no more than a float has of what rounds to a bf16 near 0. */
static struct ir_value *double_to_odd(struct ir_builder *b, struct ir_value *x) {
    enum { REST = 40 };
    struct ir_value *count = builder_integer(b, BASE_U64, REST), *bits = ir_bits(b, x);
    struct ir_value *rest = ir_binary(b, OP_AND, bits, builder_integer(b, BASE_U64, (INT64_C(1) << REST) - 1));
    struct ir_value *has_rest = ir_binary(b, OP_NE, rest, builder_integer(b, BASE_U64, 0));
    bits = ir_binary(b, OP_OR, ir_binary(b, OP_SHR, bits, count), ir_convert(b, has_rest, BASE_U64));
    return ir_convert(b, ir_same_bits(b, ir_binary(b, OP_SHL, bits, count), BASE_F64), BASE_F32);
}

/* Limits x to 2^17 in size: a number beyond that is infinite as an f16, and so is 2^17. */
static struct ir_value *kept_small(struct ir_builder *b, struct ir_value *x) {
    enum { MOST = 1 << 17 };
    if (base_info[x->base].is_signed)
        x = ir_binary(b, OP_MAX, x, builder_integer(b, x->base, -MOST));
    return ir_binary(b, OP_MIN, x, builder_integer(b, x->base, MOST));
}

/* The float, or where no float is x, one that rounds to the same number of the narrow base as x. */
static struct ir_value *float_for(struct ir_builder *b, struct ir_value *x, enum base narrow) {
    enum { EXACT = 1 << 24 };
    if (x->base == BASE_F64)
        return double_to_odd(b, x);
    struct range range = facts_range(b, x);
    if (base_info[x->base].is_integer && (range.low < -EXACT || range.high > EXACT)) {
        if (narrow != BASE_F16)
            return integer_to_odd(b, x);
        x = kept_small(b, x);
    }
    return ir_convert(b, x, BASE_F32);
}

struct ir_value *ir_convert(struct ir_builder *b, struct ir_value *x, enum base to) {
    if (x->base == to)
        return builder_operand(b, x);
    if (base_info[to].is_narrow && x->base != BASE_F32)
        x = float_for(b, x, to);
    else if (base_info[x->base].is_narrow && to != BASE_F32)
        x = ir_convert(b, x, BASE_F32);
    struct ir_value *operands[] = {x};
    return make(b, OP_CONVERT, to, operands, 1);
}

struct ir_value *ir_unary_to(struct ir_builder *b, enum ir_op op, struct ir_value *x, enum base to) {
    switch (op) {
    case OP_CONVERT: return ir_convert(b, x, to);
    case OP_BITS: return ir_same_bits(b, x, to);
    default: return ir_unary(b, op, x);
    }
}

/* ---- memory ---- */

static void count_store(struct ir_builder *b) {
    builder_top(b)->effects = builder_top(b)->stores = true;
    b->store_count++;
}

size_t ir_instructions(const struct ir_builder *b) { return b->instruction_count; }

size_t ir_stores(const struct ir_builder *b) { return b->store_count; }

bool ir_is_volatile(const struct ir_builder *b) { return b->is_volatile; }

struct ir_buffer *ir_buffer_new(struct ir_builder *b, enum ir_memory memory, enum level_value owner, enum base element,
                                struct ir_value *capacity, const char *name) {
    struct ir_buffer *buffer = ARENA_NEW(b->arena, struct ir_buffer);
    buffer->id = b->buffer_count++;
    buffer->memory = memory;
    buffer->owner = owner;
    buffer->element = element;
    buffer->capacity = capacity ? builder_operand(b, capacity) : NULL;
    buffer->name = name;
    buffer->span = b->span;
    vec_push(b->scratch, &b->stores, 0);
    if (ir_is_constant_memory(buffer))
        vec_push(b->arena, &b->kernel->buffers, buffer);
    return buffer;
}

static size_t table_bytes(enum base element, size_t count) { return count * (size_t)base_info[element].bits / 8; }

struct ir_buffer *ir_table(struct ir_builder *b, enum base element, const union scalar *constants, size_t count,
                           size_t most_bytes) {
    bool of_host = ir_current(b) == b->kernel->body; /* what is within a loop there may go to the device */
    size_t bytes = of_host ? 0 : table_bytes(element, count);
    for (size_t i = 0; i < b->kernel->buffers.count; i++) {
        struct ir_buffer *buffer = b->kernel->buffers.at[i];
        if (buffer->memory != MEMORY_TABLE || buffer->of_host != of_host)
            continue;
        if (buffer->element == element && (uint64_t)buffer->capacity->constant.integer == count &&
            memcmp(buffer->constants, constants, count * sizeof *constants) == 0)
            return buffer;
        if (!of_host)
            bytes += table_bytes(buffer->element, (size_t)buffer->capacity->constant.integer);
    }
    if (most_bytes && bytes > most_bytes)
        return NULL;
    struct ir_buffer *buffer = ir_buffer_new(b, MEMORY_TABLE, LEVEL_GRID, element, ir_int(b, (int64_t)count), "table");
    buffer->constants = constants;
    buffer->of_host = of_host;
    return buffer;
}

/* The range of an element of a table: from the least constant to the greatest. */
static void set_table_range(const struct ir_buffer *table, struct ir_value *element) {
    if (!base_info[table->element].is_integer || table->element == BASE_U64)
        return;
    element->low = element->high = table->constants[0].integer;
    for (int64_t i = 1; i < table->capacity->constant.integer; i++) {
        int64_t constant = table->constants[i].integer;
        element->low = constant < element->low ? constant : element->low;
        element->high = constant > element->high ? constant : element->high;
    }
}

void ir_allocate(struct ir_builder *b, struct ir_buffer *buffer) {
    struct ir_instruction *instruction = builder_instruction(b, IR_ALLOCATE, 0, 0, 0);
    instruction->buffer = buffer;
    vec_push(b->arena, &b->kernel->buffers, buffer);
    builder_append(b, b->frames.count - 1, instruction);
    count_store(b);
}

void ir_allocate_first(struct ir_builder *b, struct ir_buffer *buffer) {
    ir_allocate(b, buffer);
    struct ir_instruction **at = b->kernel->body->instructions.at;
    size_t last = b->kernel->body->instructions.count - 1;
    struct ir_instruction *allocation = at[last];
    memmove(at + 1, at, last * sizeof *at);
    at[0] = allocation;
}

void ir_renew(struct ir_builder *b, struct ir_buffer *buffer) { b->stores.at[buffer->id]++; }

void ir_swap(struct ir_builder *b, struct ir_buffer *x, struct ir_buffer *y) {
    struct ir_instruction *instruction = builder_instruction(b, IR_SWAP, 0, 0, 0);
    instruction->buffer = x;
    IR_PART(instruction, swap).other = y;
    ir_renew(b, x);
    ir_renew(b, y);
    builder_append(b, b->frames.count - 1, instruction);
    count_store(b);
}

static uint64_t hash_of_load(const struct ir_buffer *buffer, const struct ir_value *index) {
    return builder_mix(builder_mix(2, buffer->id), index->id);
}

bool builder_is_shared(const struct ir_instruction *load) {
    return !load->buffer->rewritten && !load->is_volatile && !load->again;
}

/* Loads of a buffer that is not rewritten are pure once it is filled; the count of stores tells
   whether it was being filled in between. */
struct ir_value *ir_load(struct ir_builder *b, struct ir_buffer *buffer, struct ir_value *index) {
    index = builder_operand(b, index);
    if (buffer->memory == MEMORY_TABLE && index->is_constant && index->constant.integer >= 0 &&
        index->constant.integer < buffer->capacity->constant.integer)
        return ir_constant(b, buffer->element, buffer->constants[index->constant.integer]);
    bool shareable = b->optimise > 0 && !buffer->rewritten && !b->is_volatile;
    uint32_t stores = b->stores.at[buffer->id];
    uint64_t hash = hash_of_load(buffer, index);
    if (shareable) {
        struct shared **link = &b->table[hash % b->table_size];
        for (struct shared *node; (node = builder_shared(b, &link, hash));) {
            const struct ir_instruction *definition = node->value->definition;
            if (definition && definition->kind == IR_LOAD && definition->buffer == buffer &&
                definition->operands[0] == index && node->stores == stores)
                return builder_operand(b, node->value);
        }
    }
    struct ir_instruction *instruction = builder_instruction(b, IR_LOAD, 1, 1, 0);
    instruction->buffer = buffer;
    instruction->operands[0] = index;
    instruction->is_volatile = b->is_volatile;
    struct ir_value *value = instruction->results[0] = builder_value(b, buffer->element, NULL, NULL);
    if (buffer->memory == MEMORY_TABLE)
        set_table_range(buffer, value);
    builder_append(b, b->frames.count - 1, instruction);
    if (shareable)
        builder_share(b, hash, value, stores);
    return value;
}

struct ir_value *ir_load_stored(struct ir_builder *b, struct ir_buffer *buffer, struct ir_value *index) {
    if (!buffer->rewritten)
        fatal_internal("ir", "what others store to %s is not seen", buffer->name ? buffer->name : "?");
    struct ir_value *value = ir_load(b, buffer, index);
    value->definition->again = true;
    return value;
}

void ir_store(struct ir_builder *b, struct ir_buffer *buffer, struct ir_value *index, struct ir_value *value) {
    if (ir_is_constant_memory(buffer))
        fatal_internal("ir", "a store to the constant %s", buffer->name ? buffer->name : "?");
    struct ir_instruction *instruction = builder_instruction(b, IR_STORE, 2, 0, 0);
    instruction->buffer = buffer;
    instruction->operands[0] = builder_operand(b, index);
    instruction->operands[1] = builder_operand(b, value);
    instruction->again = b->overwrites;
    IR_PART(instruction, store).may_meet = b->may_meet;
    IR_PART(instruction, store).is_start = b->start.end != 0;
    if (b->start.end)
        instruction->span = b->start;
    instruction->is_volatile = b->is_volatile;
    b->stores.at[buffer->id]++;
    builder_append(b, b->frames.count - 1, instruction);
    count_store(b);
}

bool ir_set_overwrites(struct ir_builder *b, bool overwrites) {
    bool before = b->overwrites;
    b->overwrites = overwrites;
    return before;
}

void ir_set_start(struct ir_builder *b, struct span start) { b->start = start; }

bool ir_set_may_meet(struct ir_builder *b, bool may_meet) {
    bool before = b->may_meet;
    b->may_meet = may_meet;
    return before;
}

bool ir_set_volatile(struct ir_builder *b, bool is_volatile) {
    bool before = b->is_volatile;
    b->is_volatile = is_volatile;
    return before;
}

static struct ir_value *atomic(struct ir_builder *b, enum ir_atomic atomic, struct ir_buffer *buffer,
                               struct ir_value *const *operands, size_t count) {
    struct ir_instruction *instruction = builder_instruction(b, IR_ATOMIC, count, 1, 0);
    IR_PART(instruction, store).atomic = atomic;
    instruction->again = b->overwrites;
    instruction->buffer = buffer;
    for (size_t i = 0; i < count; i++)
        instruction->operands[i] = builder_operand(b, operands[i]);
    struct ir_value *old = instruction->results[0] = builder_value(b, buffer->element, NULL, NULL);
    b->stores.at[buffer->id]++;
    builder_append(b, b->frames.count - 1, instruction);
    count_store(b);
    return old;
}

struct ir_value *ir_atomic(struct ir_builder *b, enum ir_atomic what, struct ir_buffer *buffer, struct ir_value *index,
                           struct ir_value *value) {
    struct ir_value *operands[] = {index, value};
    return atomic(b, what, buffer, operands, 2);
}

struct ir_value *ir_compare_exchange(struct ir_builder *b, struct ir_buffer *buffer, struct ir_value *index,
                                     struct ir_value *expected, struct ir_value *desired) {
    struct ir_value *operands[] = {index, expected, desired};
    return atomic(b, ATOMIC_COMPARE_EXCHANGE, buffer, operands, 3);
}

void ir_fence(struct ir_builder *b, enum level_value among) { ir_fence_copies(b, among, NULL); }

void ir_fence_copies(struct ir_builder *b, enum level_value among, struct ir_buffer *buffer) {
    struct ir_instruction *fence = builder_instruction(b, IR_FENCE, 0, 0, 0);
    fence->outer = among;
    fence->buffer = buffer;
    builder_append(b, b->frames.count - 1, fence);
    count_store(b);
}

/* A check is no store: a chunk may still be begun again after it (elaborate/elaborator.h, note [splits]). */
static bool is_same_span(struct span a, struct span b) { return a.begin == b.begin && a.end == b.end; }

uint32_t ir_site(struct ir_builder *b, struct ir_check_site site) {
    struct ir_kernel *kernel = b->kernel;
    uint32_t at = 0;
    while (at < kernel->checks.count) {
        struct ir_check_site *known = &kernel->checks.at[at];
        if (known->check == site.check && known->is_noted == site.is_noted && is_same_span(known->span, site.span) &&
            is_same_span(known->found, site.found)) {
            known->is_contained &= site.is_contained;
            return at;
        }
        at++;
    }
    vec_push(b->arena, &kernel->checks, site);
    return at;
}

struct ir_instruction *ir_check(struct ir_builder *b, struct ir_check_site site, struct ir_value *condition,
                                struct ir_value *a, struct ir_value *limit) {
    struct ir_instruction *instruction = builder_instruction(b, IR_CHECK, 3, 0, 0);
    instruction->operands[0] = builder_operand(b, condition);
    instruction->operands[1] = builder_operand(b, a);
    instruction->operands[2] = builder_operand(b, limit);
    instruction->site = ir_site(b, site);
    builder_append(b, b->frames.count - 1, instruction);
    builder_top(b)->effects = true;
    return instruction;
}

void ir_take_back(struct ir_instruction *check) {
    size_t kept = 0, count = check->region->instructions.count;
    struct ir_instruction **at = check->region->instructions.at;
    for (size_t i = 0; i < count; i++)
        if (at[i] != check)
            at[kept++] = at[i];
    check->region->instructions.count = kept;
}

/* Removes the taken instructions from the region and from all regions within. A taken IF leaves its then-branch's
   instructions in its place. */
static void take_back_in(struct ir_builder *b, struct ir_region *region, struct map *taken) {
    VEC(struct ir_instruction *) before = {region->instructions.at, region->instructions.count, 0};
    region->instructions.at = NULL;
    region->instructions.count = region->instructions.capacity = 0;
    for (size_t i = 0; i < before.count; i++) {
        struct ir_instruction *at = before.at[i];
        bool is_taken = map_has(taken, at);
        for (int r = 0; r < 2 && at->regions[r]; r++)
            take_back_in(b, at->regions[r], taken);
        if (!is_taken) {
            vec_push(b->arena, &region->instructions, at);
            continue;
        }
        for (size_t k = 0; at->kind == IR_IF && k < at->regions[0]->instructions.count; k++) {
            struct ir_instruction *within = at->regions[0]->instructions.at[k];
            within->region = region;
            for (size_t result = 0; result < within->result_count; result++)
                within->results[result]->region = region;
            for (int r = 0; r < 2 && within->regions[r]; r++)
                within->regions[r]->parent = region;
            vec_push(b->arena, &region->instructions, within);
        }
    }
}

void ir_take_all_back(struct ir_builder *b, struct map *taken) {
    struct ir_kernel *kernel = b->kernel;
    size_t kept = 0;
    take_back_in(b, ir_current(b), taken);
    for (size_t i = 0; i < kernel->buffers.count; i++)
        if (!map_has(taken, kernel->buffers.at[i]))
            kernel->buffers.at[kept++] = kernel->buffers.at[i];
    kernel->buffers.count = kept;
}

/* The depth from which on values may be narrowed here: what is made of others alone moves out of the loop, which may
   have no turn. Out of a branch nothing moves. */
static uint32_t assumed_from(const struct ir_builder *b) {
    for (size_t i = b->frames.count - 1; i > 0; i--) {
        enum frame_kind kind = b->frames.at[i].kind;
        if (kind == FRAME_THEN || kind == FRAME_ELSE)
            return 0;
        if (kind != FRAME_BODY)
            return (uint32_t)i;
    }
    return 0;
}

bool ir_stays(const struct ir_builder *b, const struct ir_value *value) {
    return builder_depth(b, value) >= assumed_from(b);
}

void ir_assume(struct ir_builder *b, struct ir_value *condition) {
    condition = builder_operand(b, condition);
    if (!condition->is_constant)
        facts_assume(b, condition, true, assumed_from(b));
}

void ir_assume_range(struct ir_builder *b, struct ir_value *value, int64_t low, int64_t high) {
    value = builder_operand(b, value);
    if (ir_stays(b, value))
        facts_narrow(b, value, (struct range){low, high});
}

void builder_keep(struct ir_builder *b, struct ir_instruction *at) {
    builder_append(b, b->frames.count - 1, at);
    switch (at->kind) {
    case IR_OPERATION: {
        struct ir_value *value = at->results[0];
        uint64_t hash = hash_of_operation(at->op, value->base, at->operands, at->operand_count);
        if (!find_operation(b, hash, at->op, value->base, at->operands, at->operand_count))
            builder_share(b, hash, value, 0);
        return;
    }
    case IR_LOAD:
        if (builder_is_shared(at))
            builder_share(b, hash_of_load(at->buffer, at->operands[0]), at->results[0], b->stores.at[at->buffer->id]);
        return;
    case IR_SWAP: ir_renew(b, IR_PART(at, swap).other); /* fall through */
    case IR_STORE:
    case IR_ATOMIC: ir_renew(b, at->buffer); /* fall through */
    default: count_store(b);
    }
}

static struct ir_value *exchange(struct ir_builder *b, enum ir_kind kind, enum base base, struct ir_value *value,
                                 struct ir_value *lane) {
    struct ir_instruction *instruction = builder_instruction(b, kind, lane ? 2 : 1, 1, 0);
    instruction->operands[0] = builder_operand(b, value);
    if (lane)
        instruction->operands[1] = builder_operand(b, lane);
    struct ir_value *result = instruction->results[0] = builder_value(b, base, NULL, NULL);
    builder_append(b, b->frames.count - 1, instruction);
    return result;
}

struct ir_value *ir_shuffle(struct ir_builder *b, struct ir_value *value, struct ir_value *lane) {
    if (value->is_constant)
        return value;
    return exchange(b, IR_SHUFFLE, value->base, value, lane);
}

struct ir_value *ir_ballot(struct ir_builder *b, struct ir_value *vote) {
    return exchange(b, IR_BALLOT, ir_lanes_base(b->kernel), vote, NULL);
}

struct ir_value *ir_match(struct ir_builder *b, struct ir_value *value, struct ir_value *bits) {
    return exchange(b, IR_MATCH, ir_lanes_base(b->kernel), value, bits);
}

void ir_mma(struct ir_builder *b, struct ir_value *const operands[MMA_MOST_OPERANDS],
            struct ir_value *const places[MMA_PLACES], bool by_columns, struct ir_value *results[MMA_SUMS]) {
    const struct mma_form form = mma_form(operands[0]->base);
    size_t count = form.operands + (places[1] ? 1 + (places[0] != NULL) : 0);
    struct ir_instruction *instruction = builder_instruction(b, IR_MMA, count, MMA_SUMS, 0);
    IR_PART(instruction, mma).by_columns = by_columns;
    for (size_t i = form.operands; i < count; i++)
        instruction->operands[i] = builder_operand(b, places[MMA_PLACES - count + i]);
    for (size_t i = 0; i < form.operands; i++)
        instruction->operands[i] = builder_operand(b, operands[i]);
    for (size_t i = 0; i < MMA_SUMS; i++)
        results[i] = instruction->results[i] = builder_value(b, form.sum, NULL, NULL);
    builder_append(b, b->frames.count - 1, instruction);
}
