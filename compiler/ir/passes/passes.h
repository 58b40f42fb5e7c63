/* What happens to the IR after it is built: a list of named passes, each from IR to IR. */
#ifndef FCL_IR_PASSES_PASSES_H
#define FCL_IR_PASSES_PASSES_H

#include "ir/ir.h"

/* What a pass needs of its target, and a target has. */
enum ir_pass_target {
    PASS_ANY = 0,
    PASS_CPU = 1,     /* a block is one loop nest */
    PASS_THREADS = 2, /* a block's threads are threads, and shared memory is theirs */
    PASS_EXACT = 4,   /* and a block has as many of them as the kernel says */
    PASS_FENCES = 8,  /* and other blocks see what one has stored before a fence */
};

struct ir_pass {
    const char *name, *what; /* the name is the only one of its kind: --dump and --skip take it */
    void (*run)(struct arena *arena, struct ir_kernel *kernel);
    int level;       /* the least -O that runs it */
    unsigned target; /* that it is for: enum ir_pass_target */
};
extern const struct ir_pass ir_passes[];
extern const size_t ir_pass_count;

struct ir_pass_options {
    int level;
    unsigned target;
    const char *until;          /* the name of the last one; NULL: all */
    const char *const *skipped; /* names */
    size_t skipped_count;
};

/* Runs those that the options have, in order; an internal error's text, or NULL. The IR is verified
   after the last one; in the tree under sanitisers after each. */
const char *ir_optimise(struct arena *arena, struct ir_kernel *kernel, const struct ir_pass_options *options);

#endif
