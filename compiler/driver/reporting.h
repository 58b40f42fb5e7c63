/* What kernels cost, for the commands and the library. */
#ifndef FCL_DRIVER_REPORTING_H
#define FCL_DRIVER_REPORTING_H

#include "driver/compilation.h"

enum report_form { REPORT_AS_TEXT, REPORT_AS_JSON, REPORT_AS_PAGE };

/* The report on the kernels of a checked program, or on one, for the target, the sizes and the device that its options
   name. NULL: *why says what is wrong with these, or, where that is NULL, the diagnostics tell it. */
const char *report_text(struct compilation *c, struct arena *arena, const struct core_global *only,
                        enum report_form form, struct diagnostics *diagnostics, const char **why);

#endif
