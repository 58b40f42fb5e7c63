/* The pass `outline` (outline.c). */
#ifndef FCL_IR_OUTLINE_H
#define FCL_IR_OUTLINE_H

#include "ir/ir.h"

void outline_run(struct arena *arena, struct ir_kernel *kernel);

#endif
