/* Facts about the steps of while and power that shapes give. Private to these two. */
#ifndef FCL_ELABORATE_STEPPING_H
#define FCL_ELABORATE_STEPPING_H

#include "elaborate/state.h"

/* `condition` is a function of the state (while), or NULL and `count` steps are taken (power),
   whose step takes its number first, and then what `load` makes of the number, stored, unless
   that is NULL. */
struct stepping {
    struct elab_value *condition, *step, *load;
    struct type *loaded;     /* what `load` makes, once it is stored */
    struct ir_value *stages; /* how many of these there are at a time; or NULL */
    struct ring *ring;       /* where they lie: note [rings]; or NULL */
    struct ir_value *count;
    struct type *type;        /* of the state */
    const struct part *parts; /* its arrays and scalars */
    size_t part_count;
    enum level_value level; /* of the arrays; PURE: there are none */
    struct span span;
};

/* The known part of a state: lengths of arrays, and scalars; NULL: not known. */
typedef struct ir_value **known_state;

/* ---- ring.c ---- */

struct ring {
    const struct part *parts; /* arrays */
    size_t part_count;
    struct ir_value **lengths;           /* constants */
    const struct element_order **orders; /* of the rows that products want; or NULL each */
    struct ir_buffer ***buffers;
    size_t *buffer_counts;
    int stages;
    struct ir_value *slot; /* of the step that comes next */
};
/* NULL: each step loads for itself. `state`: before a step, as far as it is
   known. */
struct ring *ring_new(struct elaborator *e, const struct stepping *s, struct elab_value **state);
/* Before the loop: the first stages. */
void ring_begin(struct elaborator *e, const struct stepping *s);
/* When step `done` begins: what is loaded for it is there, and a later stage on its way. */
struct elab_value *ring_step(struct elaborator *e, const struct stepping *s, struct ir_value *done);
/* And when it ends. */
void ring_turn(struct elaborator *e, const struct stepping *s);

/* ---- stepping.c ---- */

/* Nothing is known. */
known_state step_new_known(struct elaborator *e, const struct stepping *s);
/* The condition that another step comes after `done` steps; NULL: not known. */
struct ir_value *step_goes_on(struct elaborator *e, const struct stepping *s, struct elab_value **state,
                              struct ir_value *done);
/* The parts of what a step makes: push arrays and scalars. */
struct elab_value **step_next_parts(struct elaborator *e, const struct stepping *s, struct elab_value **state,
                                    struct ir_value *done);
known_state step_known_parts(struct elaborator *e, const struct stepping *s, struct elab_value **values);
/* A state of which no more is known. Steps in steps are many, and each has such states: they count
   by the memory they take. */
struct elab_value **step_state_of(struct elaborator *e, const struct stepping *s, struct ir_value *const *known);
/* A static number of steps, whatever the lengths; below grid only where each keeps the lengths,
   and these are short, as arrays whose memory the launch sets aside do not share it. */
int step_counted(struct elaborator *e, const struct stepping *s, known_state initial, int limit);
/* How many steps there are, if shapes alone decide it and there are at most `limit`; otherwise -1. */
int step_static(struct elaborator *e, const struct stepping *s, known_state initial, int limit);
/* Where an array is from after a step: which array of the state it is (-1: a new one), and which it
   is an update of (-1: none). */
struct origin {
    int from, updated;
    const struct element_order *order; /* in which the step makes its elements; or NULL */
    bool may_hold;                     /* an update's pairs can be stored before: note [old values] */
};

/* Leaves in `kept` only the parts that every step keeps. Finds in `origins` from which array each array of the next
   state comes. */
void step_find_kept(struct elaborator *e, const struct stepping *s, known_state kept, struct origin *origins);
/* The state after all steps, as far as it is known. A loop over the lengths alone computes the parts that steps do not
   keep. `most` gets the most elements that each array ever has. */
known_state step_known(struct elaborator *e, const struct stepping *s, known_state initial, known_state kept,
                       known_state most);
/* The state after all steps, of which only lengths matter. */
struct elab_value *step_shape(struct elaborator *e, const struct stepping *s, known_state initial);

#endif
