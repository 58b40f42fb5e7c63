/* The inspecting commands run the stages behind the checker by these functions. */
#ifndef FCL_DRIVER_LATER_STAGES_H
#define FCL_DRIVER_LATER_STAGES_H

#include "driver/compilation.h"
#include "driver/generate.h"

/* --dump of IR, passes and target, and --stats, of a checked program. */
enum exit_status dump_later_stage(struct compilation *c, struct text *out);

/* Adds to the diagnostics what compiling the kernels of a checked program would report. */
void check_later_stages(struct compilation *c);

/* --target, or else what the output's extension says; NULL when neither tells. */
const struct target *chosen_target(const struct options *options);

/* The request to generate for that target as the options say: of the checked program, or of IR
   that was read. */
struct generate_request request_for(struct compilation *c, const struct target *target);
struct generate_request ir_request_for(struct compilation *c, const struct target *target);

/* The kernels, or one of them, as text for "cuda", "opencl", "c" or "hip". NULL: there is no such target, or
   diagnostics tell why. */
const char *text_for_target(struct compilation *c, struct arena *arena, const char *target,
                            const struct core_global *only, struct diagnostics *diagnostics);

#endif
