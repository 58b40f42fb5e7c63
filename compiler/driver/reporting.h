/* Reports what kernels cost, for the commands and the library. */
#ifndef FCL_DRIVER_REPORTING_H
#define FCL_DRIVER_REPORTING_H

#include "driver/compilation.h"

enum report_form { REPORT_AS_TEXT, REPORT_AS_JSON, REPORT_AS_PAGE };
struct report_wish {
    const char *target;             /* NULL: cuda */
    const char *sizes, *device;     /* as the options have them; or NULL */
    const struct core_global *only; /* a kernel, or NULL: all */
    enum report_form form;
};

/* The report on kernels of a checked program. NULL: *why says what is wrong with the wish, or, where that is NULL, the
   diagnostics tell it. */
const char *report_text(struct compilation *c, struct arena *arena, const struct report_wish *wish,
                        struct diagnostics *diagnostics, const char **why);

struct target_program;
/* A kernel of it as the report goes by it, for CUDA and without checks. NULL: the diagnostics tell why not. */
const struct target_program *report_program(struct compilation *c, struct arena *arena,
                                            const struct core_global *kernel, struct diagnostics *diagnostics);

#endif
