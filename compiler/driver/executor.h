/* Executors: the ways to run a kernel. A table of them, in the order in which `fclc run` tries them. */
#ifndef FCL_DRIVER_EXECUTOR_H
#define FCL_DRIVER_EXECUTOR_H

#include "driver/compilation.h"
#include "fcl.h"
#include "values/value.h"

struct device_batch;

/* A kernel to run, with its arguments. Errors go to `diagnostics`; `arena` holds the result. */
struct execution {
    struct arena *arena;
    const struct options *options;
    const struct program *program;
    const struct tuning *tuning;
    const struct core_global *kernel;
    struct host_value *const *arguments; /* as the kernel's parameters want them */
    size_t argument_count;
    struct diagnostics *diagnostics;
    uint64_t fuel; /* steps of the interpreter before it gives up; 0: no limit */

    /* For devices alone: */
    struct device_batch *batch; /* that the kernel is one of; or NULL. See driver/device.h */
    enum fcl_device_kind kind;
    struct fcl_context *context; /* of the caller's, which stays open; NULL: one of that kind is opened */
    const struct tuned *trial;   /* as in generate_request */
    struct map *asked;
    bool profile;
    bool launch_sized_outside; /* as in map_options */
    bool is_large;             /* as with --large */
    bool is_kept;              /* it runs often: the time that a C compiler takes is well spent */
};

/* One of that program, but for the kernel and its arguments. */
struct execution execution_of(struct compilation *c);
/* Checks the file and reads the kernel and the arguments that the command line names. Where they
   are not as they should be, the execution has no kernel: a message or the diagnostics say why, and the status is for
   it. */
enum exit_status execution_read(struct compilation *c, struct execution *execution);

struct executor {
    const char *name; /* as --target says it */
    /* True if it can run here and with these options (--map …). *said names the device, or else what is
       missing. */
    bool (*available)(const struct options *options, struct arena *arena, const char **said);
    /* Builds the execution's batch, whose kernels are to be run. NULL: nothing is ever built. */
    void (*build)(const struct execution *execution);
    /* EXIT_GOOD; EXIT_PROGRAM_WRONG for errors of the program; EXIT_DEVICE when a device or its driver failed. */
    enum exit_status (*run)(const struct execution *execution, struct host_value **result);
    bool is_asked_for; /* only where its name is given, --all-targets does not */
};

extern const struct executor *const executors[]; /* ends with NULL */

/* The one of that name; NULL: no name. */
const struct executor *executor_named(const char *target);
/* The one --target names, or else the first that is available. *said, for executor_tell: where that is
   not the first of all, on which device it runs and why not on those before; and device_mapping_note.
   Or NULL. NULL: none is, and *said says why. */
const struct executor *executor_choose(const struct options *options, struct arena *arena, const char **said);
/* Tells the user of a device that is not the first choice, which nobody is to take for another, or
   that is not one for the mapping. */
void executor_tell(struct options *options, const struct executor *executor, const char *said);

#endif
