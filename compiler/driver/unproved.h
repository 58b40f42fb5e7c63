/* `fclc check --unproved`: the checks that a kernel is left with. */
#ifndef FCL_DRIVER_UNPROVED_H
#define FCL_DRIVER_UNPROVED_H

#include "ir/ir.h"
#include "support/diag.h"

/* A warning for each place of the program at which instructions of the optimised kernel check something. */
void unproved_tell(struct arena *arena, const struct ir_kernel *kernel, struct diagnostics *diagnostics);

#endif
