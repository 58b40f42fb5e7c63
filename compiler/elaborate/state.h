/* Values that loops carry: taken apart, stored, put together, and compared from step to step. */
#ifndef FCL_ELABORATE_STATE_H
#define FCL_ELABORATE_STATE_H

#include "elaborate/elaborator.h"

/* ---- repeats.c: note [loops that do not end] ---- */
/* Adds what the search carries to what the loop does. */
void elab_repeats_carry(struct elaborator *e, ir_values *carried);
/* At the end of a step: `count` values are the state's; adds what the search hands on. */
void elab_repeats_check(struct elaborator *e, struct ir_value *const *current, size_t count, ir_values *after,
                        struct span span);

/* ---- stored.c ---- */
struct part {
    bool is_array;
    struct type *type; /* of its elements, or of the scalar */
};
/* The condition that a loop asks before each step, as it is before the body begins: the body takes it for true. */
struct loop_condition {
    struct ir_value *value;
    bool always_holds;
};
struct loop_condition elab_loop_condition(struct elaborator *e, struct ir_value *more);
/* Warns of a loop that goes on for ever once it begins (W006), and lets it fail with --check: its step keeps the whole
   state, or its condition is the same for each. `before` and `after`: the `count` values that the loop carries, before
   and after a step. Called where a step ends, after the code that finds a period. */
void elab_find_endless(struct elaborator *e, struct loop_condition condition, struct ir_value *const *before,
                       struct ir_value *const *after, size_t count, bool is_kept, struct span span);
/* The arrays and scalars of a stored type, from left to right; of a value of that type, before it
   is stored or after; and back. */
const struct part *elab_parts_of(struct elaborator *e, struct type *type, size_t *count);
struct elab_value **elab_take_apart(struct elaborator *e, struct type *type, struct elab_value *value);
struct elab_value *elab_put_together(struct elaborator *e, struct type *type, struct elab_value **parts);
/* Stores the arrays among the parts of a value, together, each in its order, if it has one; `orders` may be NULL. */
struct elab_value **elab_force_parts(struct elaborator *e, const struct part *parts, size_t count,
                                     struct elab_value *const *values, const struct element_order *const *orders);
/* The value that `force` makes of this value; `type` is the type of the stored value. */
struct elab_value *elab_force_value(struct elaborator *e, struct type *type, struct elab_value *value);

#endif
