/* The reference interpreter: the dynamic semantics of FCL §5.2 on the typed core, one step after another, with every
   bound checked. It is the definition of what a program means; slow and obvious. */
#ifndef FCL_INTERP_INTERP_H
#define FCL_INTERP_INTERP_H

#include "support/diag.h"
#include "types/core.h"
#include "values/value.h"

struct interp_options {
    int64_t block_size, warp_size, grid_size, vector_bytes; /* #BlockSize … */
    uint64_t fuel;                                          /* evaluation steps before it gives up; 0: no limit */
    bool check;                                             /* colliding writes of a scatter are an error too */
    size_t stack_bytes;                                     /* of the calling thread that may be used; 0: 4 MiB */
};

/* The types of a kernel's parameters in order, and of its result. */
size_t interp_parameter_types(struct arena *arena, const struct core_global *kernel, struct type ***types,
                              struct type **result);

/* Runs a kernel of a program that was checked without errors. A failure at run time (an index out of range,
   a place written twice …) is an error in `diagnostics`, and the answer is false. */
bool interp_run(struct arena *arena, const struct program *program, const struct core_global *kernel,
                struct host_value *const *arguments, size_t argument_count, const struct interp_options *options,
                struct host_value **result, struct diagnostics *diagnostics);

#endif
