/* Running kernels on devices: used by the executors, and by `fclc bench`, which runs one many times. */
#ifndef FCL_DRIVER_DEVICE_H
#define FCL_DRIVER_DEVICE_H

#include "driver/executor.h"

struct device_batch;
struct device_run;
struct generated;

struct device_session {
    struct fcl_context *context;
    bool is_callers; /* the context */
    struct fcl_program *built;
    struct generated *generated;
    const char *text;          /* the kernels' source */
    const struct tuned *tuned; /* the values they were made with; NULL: the params' own */
    struct device_run *run;
    enum exit_status status; /* why preparing failed, */
    const char *why;         /* and in words, unless diagnostics have it */
};

/* Opens the device and compiles the kernel for it; then builds it; then puts the arguments into
   its memory. device_finish is due in any case. */
bool device_open(const struct execution *request, struct device_session *session);
bool device_build(const struct execution *request, struct device_session *session);
bool device_pass(const struct execution *request, struct device_session *session);
bool device_prepare(const struct execution *request, struct device_session *session); /* all three */
void device_finish(struct device_session *session);

/* After a run that failed: was it for want of shared memory, so that another one may do without?
   Then it warns, and changes the request so. */
bool device_lacks_shared(const struct device_session *session, struct execution *request);
/* The same for a result that is large: note [large results] in elaborate/matrix.c. */
bool device_is_large(const struct device_session *session, struct execution *request);

/* After a run that device_run_failed_check knows the reason of: the program is wrong, and where. */
enum exit_status device_report_check(const struct device_session *session, struct diagnostics *diagnostics);
/* After one that failed for another reason: says why, at the kernel. `has_stopped`: a kernel has stopped the device. */
void device_report(const struct execution *execution, const char *why, bool has_stopped);

/* Kernels that are run in turn, such as those of a file of tests: they are compiled together and
   built as one program, which costs a driver little more than one of them; those that --check is
   on for, as another. One that can't be compiled is compiled for each run, to say why; of the
   whole batch that goes to `unread`. After an error of the device that run and all later ones are
   as if there were no batch; but where a kernel has stopped the device, nothing more can be run in
   this process. */
struct device_batch *device_batch_new(struct diagnostics *unread);
void device_batch_add(struct device_batch *batch, const struct core_global *kernel, enum check_degree check);
void device_batch_free(struct device_batch *batch);

/* The note for executor_tell that --map=simt is slow, if the device is a CPU; else NULL. `target`: the executor's name;
   NULL: any device. The function opens the device. */
const char *device_mapping_note(const struct options *options, struct arena *arena, const char *target);

extern const struct executor executor_cuda, executor_opencl, executor_c, executor_hip;

#endif
