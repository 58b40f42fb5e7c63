/* What happens to the IR after it is built: a list of named passes, each from IR to IR. */
#ifndef FCL_IR_PASSES_H
#define FCL_IR_PASSES_H

#include "ir/ir.h"

struct ir_pass {
    const char *name, *what;
    void (*run)(struct arena *arena, struct ir_kernel *kernel);
    int level; /* the least -O that runs it */
};
extern const struct ir_pass ir_passes[];
extern const size_t ir_pass_count;

/* Runs those of that level in order, verifying after each; an internal error's text, or NULL. */
const char *ir_optimise(struct arena *arena, struct ir_kernel *kernel, int level);

#endif
