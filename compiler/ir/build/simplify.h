/* Rules that simplify an operation: private to the builder. */
#ifndef FCL_IR_BUILD_SIMPLIFY_H
#define FCL_IR_BUILD_SIMPLIFY_H

#include "ir/build/linear.h"

/* An operation that is to be built. Its operands are resolved, and not all constant. */
struct wanted {
    enum ir_op op;
    enum base base; /* of its result */
    struct ir_value *x[3];
    size_t count;
    enum again { AGAIN_OPERATION, AGAIN_SUM, AGAIN_OF_REST } again; /* after `simplify_again` */
    struct linear sum, rest;
};

/* Puts the operands into their canonical order. Then: an equal value that is already there; NULL, where none is known;
   or &simplify_again, where something simpler is to be built in its place and simplified in its turn. `again`
   says what that is: `wanted` as it has become; or `sum`; or `wanted` with `rest` as its first operand, plus `sum`. */
struct ir_value *simplify(struct ir_builder *b, struct wanted *wanted);
extern struct ir_value simplify_again;

#endif
