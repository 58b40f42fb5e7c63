/* Passes for targets where threads are threads and shared memory is shared memory, after the others; generate.c asks for them. */
#ifndef FCL_IR_SIMT_PASSES_H
#define FCL_IR_SIMT_PASSES_H

#include "ir/ir.h"

/* Keeps in registers what a thread alone touches (own_places.c). Blocks must have exactly as many threads as the kernel says. */
void ir_keep_own_places(struct arena *arena, struct ir_kernel *kernel);
/* Pads shared buffers (banks.c). */
void ir_avoid_bank_conflicts(struct arena *arena, struct ir_kernel *kernel);

#endif
