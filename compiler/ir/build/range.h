/* Interval arithmetic: what an integer operation can give when its operands lie in known intervals. */
#ifndef FCL_IR_BUILD_RANGE_H
#define FCL_IR_BUILD_RANGE_H

#include "ir/ir.h"

/* Inclusive. For U64, `high` == INT64_MAX means unbounded (ir.h), and `low` is at most INT64_MAX. Floats have the
   widest interval, which says nothing. */
struct range {
    int64_t low, high;
};

/* Exact bounds, for those who must add them up; U64's unbounded is 2^64 - 1. */
__extension__ typedef __int128 range_wide;

struct range range_of_base(enum base base);
struct range range_of_constant(enum base base, union scalar value);
struct range range_union(struct range a, struct range b);
/* The part that both have; false when there is none. */
bool range_intersect(struct range a, struct range b, struct range *both);
bool range_within(struct range inner, struct range outer);
bool range_is_point(enum base base, struct range range);
range_wide range_high(enum base base, struct range range);
range_wide base_low(enum base base);
range_wide base_high(enum base base);

/* The range of an operation's result. An operation that may wrap has the base's whole interval. `operand` is the base
   of the operands (of the last, for SELECT). */
struct range range_operation(enum ir_op op, enum base result, enum base operand, const struct range *x);
/* ADD SUB MUL NEG SHL ABS on integers: is the exact result always one of the base? */
bool range_never_wraps(enum ir_op op, enum base base, const struct range *x);

#endif
