/* `-- cost`: what a kernel costs, against formulas of its sizes. */
#ifndef FCL_TOOLS_COST_H
#define FCL_TOOLS_COST_H

#include "driver/compilation.h"
#include "tools/directive.h"

/* NULL: it costs what the directive says. Else why not. *tried: at so many sizes, where it was not proved for all; or
   0. No device is needed. */
const char *cost_check(struct compilation *c, struct arena *arena, const struct directive *directive, size_t *tried);

#endif
