/* What an operation gives for constant operands: the meaning of ops.def, at every base type. */
#ifndef FCL_IR_FOLD_H
#define FCL_IR_FOLD_H

#include "ir/ir.h"

/* The value as the base holds it: integers wrap, floats are rounded to its precision. */
union scalar fold_wrap(enum base base, union scalar value);
/* `result`: the base of the result; `operand`: that of the operands (of the last one, for SELECT). */
union scalar fold_operation(enum ir_op op, enum base result, enum base operand, const union scalar *x);
/* The base of an operation's result, given its last operand's; CONVERT has no answer of its own. */
enum base fold_result_base(enum ir_op op, enum base operand);
bool fold_is_comparison(enum ir_op op);

#endif
