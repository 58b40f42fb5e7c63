/* What each iteration scheme does. */
#include "elaborate/value.h"

const struct elab_scheme elab_schemes[PUSH_KIND_COUNT] = {
#define SCHEME(id, length, run, check, cost)                                                                           \
    [PUSH_##id] = {elab_length_of_##length, elab_run_##run, elab_check_##check},
#define INTERPRETED(...)
#include "types/schemes.def"
};
