/* From the checked program to the text of a target: elaboration, IR passes, mapping and printing in order. */
#ifndef FCL_DRIVER_GENERATE_H
#define FCL_DRIVER_GENERATE_H

#include "backend/backend.h"
#include "driver/options.h"
#include "driver/tuning.h"
#include "map/map.h"
#include "support/diag.h"
#include "types/core.h"

struct generated {
    VEC(const struct core_global *) globals;
    VEC(struct ir_kernel *) kernels;            /* theirs, in the same order, */
    VEC(const struct target_program *) targets; /* and likewise, unless `is_ir` is given */
    VEC(const struct tuned *) tuned;            /* the lines that were used */
    struct pass_run passes;                     /* what was done */
};

struct generate_request {
    struct arena *arena;
    const struct options *options;
    const struct program *program;
    const struct core_global *const *only; /* some kernels, or NULL: all of `source` */
    size_t only_count;
    const struct source *source; /* the file that was named: what it imports has kernels of its own, for itself */
    const struct target *target;
    const struct machine *machine; /* one of the target's */
    const struct tuning *tuning;   /* tuned values, */
    const char *kind;              /* for a device of that kind; NULL: for none */
    const char *device;            /* and of that name; NULL: see tuning_find */
    const struct tuned *trial;     /* in their place: values that are being tried */
    struct map *asked;             /* as in elaborate_options */
    uint32_t vector_bytes;         /* of the device's registers; 0: not known */
    uint64_t shared_bytes;         /* that a block has on the device; 0: not known */
    uint32_t most_threads;         /* that a block has on the device; 0: not known */
    bool no_block_waits;           /* for another one, on the device */
    bool launch_sized_outside;     /* as in map_options */
    bool is_large;                 /* as with --large */
    const char *until;             /* the last pass, "": none; NULL: all */
    bool is_ir;                    /* no target is made of the IR */
    struct diagnostics *diagnostics;
};

/* False when diagnostics were given. An internal error (verification) is one of them. The kernels
   without any are in the result all the same. */
bool generate(const struct generate_request *request, struct generated *result);

/* True if `generate` could generate the program's kernels. The requests differ in their targets. The function reports
   for each kernel what `generate` reports, for one request after another, until one of them finds an error. It keeps
   no code. The stages after elaboration take twice as long as elaboration. The function skips them if the only
   error that they could find is a block that needs too much shared memory, and the kernel is far from that. */
bool generate_check(const struct generate_request *requests, size_t count);

struct ir_file;
/* True if the request's machine has all that the kernels of a file rely on; else an error says what it lacks. Makes
   the kernels those of this machine. */
bool generate_fits_machine(const struct generate_request *request, const struct ir_file *file);

/* The same as `generate` for kernels that were read as IR, which the stages change in place; `globals` of the result
   stays empty, as there is no source. */
bool generate_from_ir(const struct generate_request *request, struct ir_kernel *const *kernels, size_t count,
                      struct generated *result);

/* The kernels' text in the request's language; `path` is the source file's name for the heading. */
const char *generate_text(const struct generate_request *request, const struct generated *generated, const char *path);

#endif
