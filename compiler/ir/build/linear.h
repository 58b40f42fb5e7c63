/* Integers as sums: coefficients times values plus a constant. */
#ifndef FCL_IR_BUILD_LINEAR_H
#define FCL_IR_BUILD_LINEAR_H

#include "ir/build/builder.h"

enum { LINEAR_MAX_TERMS = 8 };

/* Modulo 2^bits of the base, with coefficients taken as signed numbers; when `exact`, a sum of
   integers: adding fails where a coefficient or the constant grows too large. */
struct linear {
    enum base base;
    bool exact;
    size_t count;
    struct {
        struct ir_value *value;
        int64_t coefficient; /* never 0 */
    } term[LINEAR_MAX_TERMS];
    int64_t constant;
};

/* note [products]
   A product of values is a term, too: as an integer, which does not wrap, of two or three factors of 32 bits, each the
   value that stands for itself. Code has no such value, so none but proofs meet one; it has no region, and it is not
   looked up by its number. The operation of the code is that product where what it comes to fits its type: prove.c asks
   that. */
static inline bool linear_is_product(const struct ir_value *value) { return value->definition && !value->region; }
/* NULL: too many factors, or no ints. */
struct ir_value *linear_product(struct ir_builder *b, struct ir_value *x, struct ir_value *y);
/* The product of all factors but one, or the one that is left. */
struct ir_value *linear_other_factors(struct ir_builder *b, const struct ir_value *product, size_t which);
/* Adds an exact sum so many times, and times the value where it is not NULL; false: it grows too large. */
bool linear_add_times(struct ir_builder *b, struct linear *sum, const struct linear *other, int64_t factor,
                      struct ir_value *times);
/* The product of two exact sums; false: it has too many terms, or terms of too many factors. */
bool linear_multiply(struct ir_builder *b, const struct linear *x, const struct linear *y, struct linear *product);

/* The positive constant by which the quotient x / c or x >> n divides; 0: the value is no such quotient. */
int64_t linear_divisor(const struct ir_value *quotient);
/* False: too many terms. `linear_expand` takes sums and products apart and no more, so it needs no builder. */
bool linear_expand(struct ir_value *value, struct linear *sum);
bool linear_of(struct ir_builder *b, struct ir_value *value, struct linear *sum);
/* `value` as an exact sum; in the worst case the value itself. */
void linear_exact(struct ir_builder *b, struct ir_value *value, struct linear *sum);
bool linear_add(struct linear *sum, const struct linear *other, int64_t factor);
void linear_bounds(struct ir_builder *b, const struct linear *sum, range_wide *low, range_wide *high);
/* The coefficient of a value in the sum; 0: the value is no term. */
int64_t linear_coefficient(const struct linear *sum, const struct ir_value *value);
/* The same, and the term goes. */
int64_t linear_take(struct linear *sum, const struct ir_value *value);
/* How far `to` is behind `from`; false: not always as far. */
bool linear_distance(struct ir_value *from, struct ir_value *to, int64_t *distance);
/* The greatest number that divides both; 0 of 0 and 0. Neither is the least int64_t. */
int64_t linear_common_divisor(int64_t x, int64_t y);
/* The largest power of two that divides the sum whatever its terms are, and even when it wraps; 0 of 0. */
int64_t linear_twos(const struct linear *sum);
void linear_remove(struct linear *sum, size_t term);
/* ADD and SUB: whether the same as a sum is shorter, or lets more move out of loops. */
bool linear_shorter(struct ir_builder *b, enum ir_op op, struct ir_value *x, struct ir_value *y, struct linear *sum);
/* x = c * quotient + remainder with 0 <= remainder < c, x >= 0 and nothing wraps: found by taking the sum apart. */
bool linear_divide(struct ir_builder *b, struct ir_value *x, int64_t c, struct linear *quotient,
                   struct linear *remainder);
/* Likewise, with a rest of whatever size, without a constant, of which the division is then. */
bool linear_separate(struct ir_builder *b, struct ir_value *x, int64_t c, struct linear *multiple, struct linear *rest);

#endif
