/* Padding of shared buffers (banks.c). */
#ifndef FCL_IR_BANKS_H
#define FCL_IR_BANKS_H

#include "ir/ir.h"

/* For SIMT targets, after the other passes. */
void ir_avoid_bank_conflicts(struct arena *arena, struct ir_kernel *kernel);

#endif
