/* Products of values in sums: note [products] in linear.h. */
#include "ir/build/linear.h"

enum { MOST_FACTORS = 3, MOST_PRODUCTS = 512, PRODUCT_PLACES = 2 * MOST_PRODUCTS };

static size_t factors_of(struct ir_value *x, struct ir_value **factors) {
    if (!linear_is_product(x)) {
        factors[0] = x;
        return 1;
    }
    memcpy(factors, x->definition->operands, x->definition->operand_count * sizeof *factors);
    return x->definition->operand_count;
}

/* Where it is, or belongs, among the products that were made. */
static size_t product_place(const struct ir_builder *b, struct ir_value *const *factors, size_t count) {
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++)
        hash = builder_mix(hash, factors[i]->id);
    for (size_t at = hash % PRODUCT_PLACES;; at = (at + 1) % PRODUCT_PLACES) {
        const struct ir_instruction *made = b->products[at] ? b->products[at]->definition : NULL;
        if (!made ||
            (made->operand_count == count && memcmp(made->operands, factors, count * sizeof(struct ir_value *)) == 0))
            return at;
    }
}

struct ir_value *linear_product(struct ir_builder *b, struct ir_value *x, struct ir_value *y) {
    struct ir_value *factors[2 * MOST_FACTORS];
    size_t count = factors_of(x, factors);
    count += factors_of(y, factors + count);
    for (size_t i = 0; i < count; i++) {
        if (count > MOST_FACTORS || factors[i]->base != BASE_I32)
            return NULL;
        for (size_t k = i; k > 0 && factors[k - 1]->id > factors[k]->id; k--) {
            struct ir_value *swapped = factors[k];
            factors[k] = factors[k - 1];
            factors[k - 1] = swapped;
        }
    }
    if (!b->products)
        b->products = ARENA_ARRAY(b->scratch, struct ir_value *, PRODUCT_PLACES);
    size_t place = product_place(b, factors, count);
    if (b->products[place] || b->product_count == MOST_PRODUCTS)
        return b->products[place];
    struct ir_instruction *made = ARENA_NEW(b->scratch, struct ir_instruction);
    struct ir_value *product = ARENA_NEW(b->scratch, struct ir_value);
    made->kind = IR_OPERATION;
    made->op = OP_MUL;
    made->operand_count = count;
    made->operands = ARENA_ARRAY(b->scratch, struct ir_value *, count);
    memcpy(made->operands, factors, count * sizeof *factors);
    *product =
        (struct ir_value){.id = UINT32_MAX, .base = BASE_I64, .low = INT64_MIN, .high = INT64_MAX, .definition = made};
    b->product_count++;
    return b->products[place] = product;
}

struct ir_value *linear_other_factors(struct ir_builder *b, const struct ir_value *product, size_t which) {
    struct ir_value *other = NULL;
    for (size_t i = 0; i < product->definition->operand_count; i++)
        if (i != which)
            other =
                other ? linear_product(b, other, product->definition->operands[i]) : product->definition->operands[i];
    return other;
}

bool linear_add_times(struct ir_builder *b, struct linear *sum, const struct linear *other, int64_t factor,
                      struct ir_value *times) {
    if (!times)
        return linear_add(sum, other, factor);
    struct linear part = {.base = sum->base, .exact = true}, one = {.base = sum->base, .exact = true, .count = 1};
    for (size_t i = 0; i <= other->count; i++) {
        bool is_last = i == other->count;
        struct ir_value *value = is_last ? times : linear_product(b, other->term[i].value, times);
        one.term[0].value = value;
        one.term[0].coefficient = 1;
        if (!value || !linear_add(&part, &one, is_last ? other->constant : other->term[i].coefficient))
            return false;
    }
    return linear_add(sum, &part, factor);
}

bool linear_multiply(struct ir_builder *b, const struct linear *x, const struct linear *y, struct linear *product) {
    *product = (struct linear){.base = x->base, .exact = true};
    for (size_t i = 0; i < y->count; i++)
        if (!linear_add_times(b, product, x, y->term[i].coefficient, y->term[i].value))
            return false;
    return linear_add(product, x, y->constant);
}
