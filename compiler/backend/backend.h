/* From target IR to source text in CUDA C++, OpenCL C 1.2 or C. */
#ifndef FCL_BACKEND_BACKEND_H
#define FCL_BACKEND_BACKEND_H

#include "map/target.h"
#include "support/text.h"

enum backend_language { BACKEND_CUDA, BACKEND_OPENCL, BACKEND_C };

struct backend_options {
    const char *source;  /* the FCL file's name, for the head comment; NULL: none */
    const char *version; /* fclc's */
    const char *notes;   /* comments to go below the head, whole lines; NULL: none */
    bool is_linked;      /* host functions follow in the same file */
    bool is_unoptimised; /* nothing is known of its numbers, and arithmetic goes by way of unsigned ones */
};

/* One file with all kernels of the programs, helper functions printed once. The programs must have been mapped for that
   language: CUDA with map_options_cuda, OpenCL with map_options_opencl, C with map_options_c. */
void backend_print(struct text *out, enum backend_language language, const struct target_program *const *programs,
                   size_t count, const struct backend_options *options);

/* C for single operations on scalars, for host code. Operands are C expressions that need no parentheses; constants are given by
   value. What helper functions these need is printed by backend_scalars_helpers, to stand before them. */
struct backend_scalars;
struct backend_scalars *backend_scalars_new(struct arena *arena);
struct backend_operand {
    const struct ir_value *value; /* its base, range, and constant */
    const char *text;             /* when it is no constant */
};
const char *backend_scalars_operation(struct backend_scalars *scalars, const struct ir_instruction *operation,
                                      const struct backend_operand *operands);
const char *backend_scalars_constant(struct backend_scalars *scalars, const struct ir_value *constant);
const char *backend_scalars_helpers(struct backend_scalars *scalars);

/* The target IR in a neutral spelling (`--dump=target`). */
void backend_dump(struct text *out, const struct target_program *program);

#endif
