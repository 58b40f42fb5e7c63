/* The primitives, one function each. */
#ifndef FCL_ELABORATE_PRIMITIVE_H
#define FCL_ELABORATE_PRIMITIVE_H

#include "elaborate/elaborator.h"

/* ---- primitives, one function each, called with all their arguments ---- */
typedef struct elab_value *elab_primitive(struct elaborator *e, enum primitive primitive,
                                          const struct instance *instance, struct elab_value **arguments);
/* The head of such a function. */
#define PRIMITIVE(id)                                                                                                  \
    struct elab_value *elab_##id(__attribute__((unused)) struct elaborator *e,                                         \
                                 __attribute__((unused)) enum primitive primitive,                                     \
                                 __attribute__((unused)) const struct instance *instance,                              \
                                 __attribute__((unused)) struct elab_value **arguments)
#define PRIM(id, name, arity, type, doc) elab_primitive elab_##id;
#define SCALAR(id, name, arity, type, doc, commutes, made)
#include "types/primitives.def"
elab_primitive elab_scalar_primitive;
extern elab_primitive *const elab_primitives[PRIM_COUNT]; /* tables.c */

#endif
