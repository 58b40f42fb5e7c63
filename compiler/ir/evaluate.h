/* Runs a kernel's IR one step after another, and finds all mistakes that a run can show: evaluate.c. */
#ifndef FCL_IR_EVALUATE_H
#define FCL_IR_EVALUATE_H

#include "ir/ir.h"

/* A scalar leaf of an argument: a scalar, or an array of them. */
struct ir_part {
    union scalar scalar;
    const int64_t *shape;
    uint64_t count;
    const union scalar *elements;
};
/* A result, as the kernel has it. */
struct ir_given {
    union scalar scalar;
    int64_t *shape; /* of as many dimensions as its rank; NULL: a scalar */
    uint64_t count;
    union scalar *elements;
};
struct ir_outcome {
    const char *wrong; /* NULL: all is well */
    enum diag_code code;
    struct span span, found; /* as a check's site has them */
    struct ir_given *given;  /* one for each of the kernel's results */
    uint32_t *traced;        /* the memory that traces have left records in, or NULL: `traced_count` words */
    uint64_t traced_count;
};

/* `arguments` has the parts of each. All that is given is the arena's. */
struct ir_outcome ir_evaluate(struct arena *arena, const struct ir_kernel *kernel,
                              const struct ir_part *const *arguments);

#endif
