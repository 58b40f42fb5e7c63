/* reduceByIndex's files: what its operator does, and updates of one place. Private to these. */
#ifndef FCL_ELABORATE_REDUCE_H
#define FCL_ELABORATE_REDUCE_H

#include "elaborate/elaborator.h"

enum update { UPDATE_ATOMIC, UPDATE_REPLACE };

struct reducing {
    struct push *push;
    struct elab_value *function, *neutral;
    base_list bases; /* of the element's components */
    size_t count;
    enum update *updates; /* by component */
    enum ir_atomic *atomics;
    bool is_packed, is_locked;
    bool has_neutral; /* false: it is asked for in a way that uses no neutral element */
    bool is_neutral;  /* that is seen */
    bool is_alone;    /* one thread does all updates */
    enum base word;   /* packed */
    bool has_narrow;  /* components that are kept in a word */
};

/* Where places lie: one buffer for each component, or a packed one; `lock` when they are locked. */
struct places {
    struct ir_buffer **buffers;
    size_t count;
    struct ir_value *offset; /* or NULL */
    bool is_result;          /* where the result will be: components are as it has them, narrow ones too */
    struct ir_buffer *lock;
    struct ir_value *lock_offset;   /* or NULL */
    struct ir_value *ways, *stride; /* copies, one after the other, that pairs take in turns; NULL: one */
    struct ir_value *lane_ways; /* copies that lie side by side, place by place: note [copies of lanes]; NULL: one */
};

/* pairs.c */
/* Pairs first, first + 1, … of that number go to the places low, low + 1, … of that number. */
void reduce_take_pairs(struct elaborator *e, const struct reducing *r, const struct places *places,
                       enum level_value level, struct ir_value *first, struct ir_value *count, struct ir_value *low,
                       struct ir_value *width);
/* The same, as many in a row as there are copies of the places: each goes to a copy of its own. */
void reduce_take_in_turns(struct elaborator *e, const struct reducing *r, const struct places *places,
                          struct ir_value *first, struct ir_value *count, struct ir_value *low, struct ir_value *width);
/* The same, in order, on a CPU several in a round where that is little: its loop takes as long as an update. */
void reduce_take_in_order(struct elaborator *e, const struct reducing *r, const struct places *places,
                          struct ir_value *first, struct ir_value *count, struct ir_value *low, struct ir_value *width);
/* Does a pair take few instructions, and a thread need few registers for those that it takes together? At grid. */
bool reduce_pairs_are_short(struct elaborator *e, const struct reducing *r);

/* update.c */
/* Applies the operator to unknown values, and decides how threads exclude each other: fills in the rest. */
void reduce_study(struct elaborator *e, struct reducing *r);
/* The base type of what is kept in buffer `which` while the array is being updated elsewhere than in the result. */
enum base reduce_kept_base(const struct reducing *r, size_t which);
struct elab_value *reduce_read(struct elaborator *e, const struct reducing *r, const struct places *places,
                               struct ir_value *place);
void reduce_write(struct elaborator *e, const struct reducing *r, const struct places *places, struct ir_value *place,
                  struct elab_value *element);
/* The place's value becomes what the operator makes of it and `new`, whoever else is at it. */
void reduce_update(struct elaborator *e, const struct reducing *r, const struct places *places, struct ir_value *place,
                   struct elab_value *new);

#endif
