/* The table of primitives, from primitives.def. */
#include "types/core.h"

#include <string.h>

const struct primitive_info primitive_info[PRIM_COUNT] = {
#define PRIM(id, name, arity, type, doc) [PRIM_##id] = {name, arity, type, doc, false, ORDERED},
#define SCALAR(id, name, arity, type, doc, commutes, made) [PRIM_##id] = {name, arity, type, doc, true, commutes},
#include "types/primitives.def"
};

bool primitive_is_internal(enum primitive primitive) {
    return strncmp(primitive_info[primitive].doc, "Internal:", strlen("Internal:")) == 0;
}
