/* The components of an element in one word: bit patterns side by side, the first lowest. */
#include "elaborate/primitive.h"

int elab_leaf_bits(enum base base) { return base == BASE_BOOL ? 8 : base_info[base].bits; }

int elab_bits(const base_list *bases) {
    int bits = 0;
    for (size_t k = 0; k < bases->count; k++)
        bits += elab_leaf_bits(bases->at[k]);
    return bits;
}

static struct ir_value *word_constant(struct elaborator *e, enum base word, size_t value) {
    return ir_constant(e->builder, word, (union scalar){.natural = value});
}

struct ir_value *elab_pack(struct elaborator *e, enum base word, struct ir_value *const *leaves, size_t count) {
    struct ir_builder *b = e->builder;
    struct ir_value *result = NULL;
    for (size_t k = 0, at = 0; k < count; at += (size_t)elab_leaf_bits(leaves[k]->base), k++) {
        struct ir_value *bits = ir_convert(b, ir_bits(e->builder, leaves[k]), base_of_bits(leaves[k]->base));
        struct ir_value *part = ir_binary(b, OP_SHL, ir_convert(b, bits, word), word_constant(e, word, at));
        result = result ? ir_binary(b, OP_OR, result, part) : part;
    }
    return result;
}

struct ir_value **elab_unpack(struct elaborator *e, struct ir_value *word, const base_list *bases) {
    struct ir_builder *b = e->builder;
    struct ir_value **leaves = ARENA_ARRAY(e->arena, struct ir_value *, bases->count);
    for (size_t k = 0, at = 0; k < bases->count; at += (size_t)elab_leaf_bits(bases->at[k]), k++) {
        enum base base = bases->at[k];
        struct ir_value *shifted = ir_binary(b, OP_SHR, word, word_constant(e, word->base, at));
        struct ir_value *bits = ir_convert(b, shifted, base_of_bits(base));
        leaves[k] = base_info[base].is_floating ? ir_same_bits(b, bits, base) : ir_convert(b, bits, base);
    }
    return leaves;
}

/* ---- orderBits ---- */

/* Bits of a number to a word of the same order, or back. The sign comes first, turned round; negative floats have all
   bits turned, for these grow away from zero. `negative` compares the sign's bit with 0: NE in a number, EQ in a
   word. */
static struct ir_value *turned(struct elaborator *e, struct ir_value *bits, enum base base, enum ir_op negative) {
    struct ir_builder *b = e->builder;
    struct ir_value *sign = word_constant(e, bits->base, (size_t)1 << (elab_leaf_bits(base) - 1)), *by = NULL;
    if (base_info[base].is_floating) {
        struct ir_value *zero = word_constant(e, bits->base, 0);
        struct ir_value *is_negative = ir_binary(b, negative, ir_binary(b, OP_AND, bits, sign), zero);
        by = ir_ternary(b, OP_SELECT, is_negative, ir_unary(b, OP_BIT_NOT, zero), sign);
    } else if (base_info[base].is_signed) {
        by = sign;
    }
    return by ? ir_binary(b, OP_XOR, bits, by) : bits;
}

PRIMITIVE(ORDER_BITS) {
    struct ir_builder *b = e->builder;
    struct ir_value *x = elab_as_scalar(e, arguments[0]);
    if (!x)
        return arguments[0]; /* in a shape: depends on data */
    struct ir_value *bits = ir_convert(b, ir_bits(b, x), base_of_bits(x->base));
    return elab_scalar(e, ir_convert(b, turned(e, bits, x->base, OP_NE), BASE_U64));
}

PRIMITIVE(FROM_ORDER_BITS) {
    struct ir_builder *b = e->builder;
    struct ir_value *word = elab_as_scalar(e, arguments[0]);
    if (!word)
        return arguments[0];
    base_list one = elab_bases_of(e, elab_type(e, instance, 0));
    struct ir_value *bits = turned(e, ir_convert(b, word, base_of_bits(one.at[0])), one.at[0], OP_EQ);
    if (one.at[0] == BASE_BOOL)
        bits = ir_binary(b, OP_AND, bits, word_constant(e, bits->base, 1));
    return elab_scalar(e, elab_unpack(e, bits, &one)[0]);
}
