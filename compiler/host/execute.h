/* Executes a compiled kernel: walks the host part of its IR, launching the device kernels through the runtime. */
#ifndef FCL_HOST_EXECUTE_H
#define FCL_HOST_EXECUTE_H

#include "fcl.h"
#include "map/target.h"
#include "values/value.h"

struct execute_job {
    const struct ir_kernel *kernel;
    const struct target_program *target;
    struct fcl_program *program; /* built from the printed target, in an open context */
    struct fcl_context *context;
    const char *const *messages; /* of the kernel's checks, with their places */
    uint64_t shared_bytes;       /* of shared memory that a block can have; 0: not known */
};

/* A kernel that is ready to run, and its arguments in device memory, so that several runs can share them. */
struct device_run;
/* NULL, with *why, when it fails. Everything it holds on the device goes with device_run_free. */
struct device_run *device_run_new(struct arena *arena, const struct execute_job *job, const char **why);

/* A scalar or an array of an argument: one for each component of a tuple. */
struct device_part {
    union scalar scalar;
    const int64_t *shape;      /* array */
    uint64_t elements;         /* of all dimensions together */
    const void *data;          /* in the host's memory; or, if it is not NULL, */
    struct fcl_buffer *buffer; /* in the device's: the run uses it, and device_run_free frees it */
};
/* Hands over the arguments: for each an array of its parts. Those of the kernel's parameter types
   are taken apart by the second one. */
bool device_run_pass(struct device_run *run, struct device_part *const *arguments, const char **why);
bool device_run_pass_values(struct device_run *run, struct host_value *const *arguments, size_t count,
                            const char **why);
/* Runs once; the results stay on the device until the next run. */
bool device_run_once(struct device_run *run, const char **why);
/* The check whose failure was the reason, or NULL. */
const struct ir_check_site *device_run_failed_check(const struct device_run *run);
/* Was the reason that a block wants more shared memory than it can have, for arrays that the
   launch knows the length of? */
bool device_run_lacks_shared(const struct device_run *run);
/* A result has more elements than an int counts, and the kernel was not made for that. */
bool device_run_is_large(const struct device_run *run);
/* Reads the results back. */
struct host_value *device_run_result(struct device_run *run, struct arena *arena, const char **why);
/* One of the results by its number (they are flattened like the parameters): its value; its extents, one
   for each dimension; its memory, which is the caller's from then on: a copy where an argument or another
   result has the same. NULL: no memory for that, with *why. */
union scalar device_run_scalar(const struct device_run *run, size_t result);
void device_run_shape(const struct device_run *run, size_t result, int64_t *shape);
struct fcl_buffer *device_run_take(struct device_run *run, size_t result, const char **why);
/* Forgets the arguments' buffers, which are the caller's again, and frees all others: the run is as it was before
   device_run_pass. */
void device_run_drop(struct device_run *run);
/* Bytes of all arguments and results in global memory, for bandwidth figures; after a run. */
uint64_t device_run_bytes(const struct device_run *run);
/* Bytes of each thread that its registers should hold and do not, at least: of the kernel that
   spills most. 0 where the driver does not tell. */
uint64_t device_run_spilled_bytes(const struct device_run *run);
void device_run_free(struct device_run *run);

#endif
