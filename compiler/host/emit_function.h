/* One kernel's host functions. Private to the emitter. */
#ifndef FCL_HOST_EMIT_FUNCTION_H
#define FCL_HOST_EMIT_FUNCTION_H

#include "backend/backend.h"

struct emit_unit {
    struct arena *arena;
    const char *prefix;  /* of all names */
    const char *build;   /* the call that gives the program with the kernels */
    const char *backend; /* that contexts must be of: an enumerator of the runtime's */
    bool has_graphs;
    struct backend_scalars *scalars;
    const struct sources *sources;
};

/* The text as C string literals, one for each of its lines, or as one. */
void emit_embed(struct text *out, const char *text);
const char *emit_literal(struct arena *arena, const char *text);
/* The message as a literal, with the check's place in the source before it. */
const char *emit_message(const struct emit_unit *unit, const struct ir_check_site *site, const char *message);

/* `name` is the host function's; the same name with `_into`, `_device`, `_device_into` and
   `_graph` behind it is free too. */
void emit_declarations(struct emit_unit *unit, struct text *out, const struct target_program *program,
                       const char *name);
void emit_definitions(struct emit_unit *unit, struct text *out, const struct target_program *program, const char *name);

/* emit_body.c: the walk over the host part as statements, at one indentation; it jumps to `out` when `status` is not
   FCL_OK, and uses b<id> for buffers, v<id> for values and s<n> for scratch memory. */
struct emit_body {
    struct emit_unit *unit;
    const struct target_program *program;
    const struct liveness *liveness;
    struct text declarations, statements, releases;
    int indent;
    int scratch_count;
    const char **names; /* of the kernel's parameters' values, by value id */
    bool *is_declared;  /* by value id */
    bool has_floats;    /* what is computed with, so that the caller's rounding matters */
    struct map *tables; /* that are declared, as keys */
};
void emit_body(struct emit_body *body);
const char *emit_value(struct emit_body *body, const struct ir_value *value);

#endif
