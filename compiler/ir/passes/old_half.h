/* Arrays of a step that can lie in the half that the step reads. */
#ifndef FCL_IR_PASSES_OLD_HALF_H
#define FCL_IR_PASSES_OLD_HALF_H

#include "ir/ir.h"

/* `place`: of the half that a step of the loop reads, which the loop carries; `next`: of the other one. */
void ir_lend_halves(struct arena *arena, struct ir_kernel *kernel, const struct ir_instruction *loop,
                    struct ir_value *place, struct ir_value *next);

#endif
