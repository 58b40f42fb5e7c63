/* The functions of each iteration scheme and each primitive. Code that calls them through these tables need not know
   their names. */
#include "elaborate/primitive.h"
#include "elaborate/push.h"

const struct elab_scheme elab_schemes[PUSH_KIND_COUNT] = {
#define SCHEME(id, length, run, check, cost)                                                                           \
    [PUSH_##id] = {elab_length_of_##length, elab_run_##run, elab_check_##check},
#define INTERPRETED(...)
#include "types/schemes.def"
};

elab_primitive *const elab_primitives[PRIM_COUNT] = {
#define PRIM(id, name, arity, type, doc) [PRIM_##id] = elab_##id,
#define SCALAR(id, name, arity, type, doc, commutes, made) [PRIM_##id] = elab_scalar_primitive,
#include "types/primitives.def"
};
