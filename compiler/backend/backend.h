/* From target IR to source text in CUDA C++, OpenCL C 1.2 or C. */
#ifndef FCL_BACKEND_BACKEND_H
#define FCL_BACKEND_BACKEND_H

#include "map/target.h"
#include "support/text.h"

/* How kernels that are compiled ahead of time come into a program. */
enum link {
    LINK_NEVER,
    LINK_FUNCTIONS, /* as functions, in one file with the host's */
    LINK_IMAGE,     /* as bytes that the device loads */
};
/* A language to compile to, with all that is known of it: one of backend/target_list.h. */
struct target {
    const char *name;      /* --target=… */
    const char *extension; /* of outputs, with the dot */
    const char *language;  /* in words */
    const char *runtime; /* the runtime's name for what runs it, an enum fcl_backend; NULL: nothing does, so that there
                              are no host functions */
    const struct dialect *dialect;
    const struct machine *simt, *loop; /* for each mapping; NULL: there is none */
    const struct machine *sub_groups;  /* the former, where the device has them; NULL: alike */
    enum link linked;
    bool has_graphs; /* the runtime records what is launched there */
};
extern const struct target *const targets[]; /* and NULL */

/* NULL: there is no such target. */
const struct target *target_named(const char *name);
/* The target of a kind of device, as the runtime calls it: cuda, opencl-cpu, … */
const struct target *target_of_device(const char *kind);
/* The machine that a device of that kind is; with NULL, what the target takes by itself. */
const struct machine *target_machine(const struct target *target, const char *kind);

struct backend_options {
    const char *source;          /* the FCL file's name, for the head comment; NULL: none */
    const char *version;         /* fclc's */
    const char *notes;           /* comments to go below the head, whole lines; NULL: none */
    bool is_linked;              /* host functions follow in the same file */
    const struct sources *lines; /* note [lines] in print.c: of what is compiled; NULL: they are not named */
    bool is_unoptimised;         /* nothing is known of its numbers, and arithmetic goes by way of unsigned ones */
};

/* One file with all kernels of the programs but those that share another's text, helper functions
   printed once. The programs must have been mapped for that target, by one of its machines. */
void backend_print(struct text *out, const struct target *target, const struct target_program *const *programs,
                   size_t count, const struct backend_options *options);

/* The text that backend_print makes of one kernel, its contract included, under a name that is the same
   for all: kernels for which it gives the same text can be one (`same`). */
const char *backend_kernel(struct arena *arena, const struct target *target, const struct target_kernel *kernel);

/* C for single operations on scalars, for host code. Operands are C expressions that need no
   parentheses; constants are given by value. backend_scalars_helpers prints the
   helper functions that these expressions call; they must stand before the expressions. */
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
