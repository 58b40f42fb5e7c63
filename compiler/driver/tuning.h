/* A param is a name until a kernel is elaborated: kernels of one file may have different values for it, and the tuner
   tries many without checking the program again.

   Tuned values of params: the file FILE.tune beside FILE.fcl, which `fclc tune` writes and every
   command that makes code reads.

   A line for each kernel and device, of six columns with tabs between them: the kind of device (as
   `fclc devices` names it), its name, the kernel, a hash of the program, the params
   (`work=8 onePass=false`, or `-`), and a note for people. A line that begins with # is a comment.
   The hash is of the tokens of the user's files, so that comments and blanks may change, and of
   -D, --block-size and --grid-size where tune had any; a line of another program, or of other such
   options, is not used. */
#ifndef FCL_DRIVER_TUNING_H
#define FCL_DRIVER_TUNING_H

#include "driver/options.h"
#include "elaborate/elaborate.h"

struct tuned {
    const char *kind, *device, *kernel, *program, *params, *note; /* the columns */
    struct param_value *values;                                   /* the params; none of those that -D sets */
    size_t value_count;
    bool is_said; /* why it is not used */
};

struct tuning {
    struct options *options;  /* where complaints go */
    const char *path;         /* NULL: there is no such file, and need not be */
    const char *program;      /* its hash, */
    const char *program_here; /* and with the command line's -D, --block-size and --grid-size, which tune writes */
    VEC(struct tuned) lines;  /* by kind, device and kernel */
};

struct compilation;

/* The tuned values of a checked program. Empty when it has no file and --tuning names none.
   EXIT_USAGE, with a message printed, when the file is wrong. A file that --tuning names must
   exist, unless `may_be_new`. */
enum exit_status tuning_read(struct compilation *c, bool may_be_new, struct tuning *tuning);

/* The line for a kernel; `device` NULL: the first of that kind, with a message when there are
   others. NULL: none, or, with a message, one of another program. */
const struct tuned *tuning_find(const struct tuning *tuning, const char *kind, const char *device, const char *kernel);

/* The param that a line of the kernel means by a name, as -D does: the file's own hides those of
   what it imports. Or the one that the kernel's `with` makes. NULL: none. */
const struct core_global *tuning_find_param(const struct compilation *c, const char *kernel, const char *name);

/* Puts a line in, in place of the one of the same kind, device and kernel, and writes the file. */
enum exit_status tuning_write(struct compilation *c, struct tuning *tuning, struct tuned line);

/* `name=value …` of these. */
const char *tuning_params_text(struct arena *arena, const struct param_value *values, size_t count);

#endif
