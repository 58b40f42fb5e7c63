/* Computes an operation on constant operands: the meaning of ops.def, at every base type. */
#ifndef FCL_IR_BUILD_FOLD_H
#define FCL_IR_BUILD_FOLD_H

#include "ir/ir.h"

/* `result`: the base of the result; `operand`: that of the operands (of the last one, for SELECT). */
union scalar fold_operation(enum ir_op op, enum base result, enum base operand, const union scalar *x);
/* The base of an operation's result, given its last operand's; CONVERT and BITS have no answer
   of their own. */
enum base fold_result_base(enum ir_op op, enum base operand);
bool fold_is_comparison(enum ir_op op);

#endif
