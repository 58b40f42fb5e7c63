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
    uint64_t shared_bytes;               /* of shared memory that a block can have; 0: not known */
    struct host_value *const *arguments; /* of the kernel's parameter types */
    size_t argument_count;
};

/* The arguments in device memory, so that several runs can share them. */
struct device_run;
/* NULL, with *why, when it fails. Everything it holds on the device goes with device_run_free. */
struct device_run *device_run_new(struct arena *arena, const struct execute_job *job, const char **why);
/* Runs once; the results stay on the device until the next run. */
bool device_run_once(struct device_run *run, const char **why);
/* The check whose failure was the reason, or NULL. */
const struct ir_check_site *device_run_failed_check(const struct device_run *run);
/* Was the reason that a block wants more shared memory than it can have, for arrays that the launch knows the length of? */
bool device_run_lacks_shared(const struct device_run *run);
/* Reads the results back. */
struct host_value *device_run_result(struct device_run *run, struct arena *arena, const char **why);
/* Bytes of all arguments and results in global memory, for bandwidth figures; after a run. */
uint64_t device_run_bytes(const struct device_run *run);
/* Bytes of each thread that its registers should hold and do not, at least: of the kernel that spills most. 0 where the driver does not tell. */
uint64_t device_run_spilled_bytes(const struct device_run *run);
void device_run_free(struct device_run *run);

#endif
