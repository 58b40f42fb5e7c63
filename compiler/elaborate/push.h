/* Iteration schemes: how push arrays run, and the memory in which they are stored. */
#ifndef FCL_ELABORATE_PUSH_H
#define FCL_ELABORATE_PUSH_H

#include "elaborate/elaborator.h"

/* ---- warp.c ---- */
struct ir_value *elab_exchange(struct elaborator *e, struct ir_value *value,
                               struct ir_value *lane); /* as that lane has it */

/* ---- push.c ---- */
struct ir_value *elab_push_length(struct elaborator *e, struct push *push); /* NULL: depends on data */
struct ir_value *elab_length(struct elaborator *e, struct elab_value *array);
struct writer {
    /* `element` NULL: zeros in memory, where it goes to memory. */
    void (*write)(struct elaborator *e, const struct writer *self, struct ir_value *index, struct elab_value *element);
    struct ir_buffer **buffers;
    size_t buffer_count;
    struct ir_value *offset;           /* or NULL */
    const struct element_order *order; /* in the buffers, or in those of the writers behind; or NULL */
    const struct writer *next;
    struct push *push;
    struct ir_value *chunk;
    const struct marking *marking; /* marking.c */
};
void elab_run(struct elaborator *e, struct push *push, const struct writer *writer);
struct running {
    struct push *push;
    const struct writer *writer;
};
typedef VEC(struct running) runnings;
/* Adds one to those that elab_run_together is to run. */
void elab_run_later(struct elaborator *e, runnings *all, struct push *push, struct writer writer);
/* Writes the element, unless its place is outside 0 … total - 1. */
void elab_write_within(struct elaborator *e, const struct writer *next, struct ir_value *place,
                       struct elab_value *element, struct ir_value *total);
/* The index of a loop over that many of the level's threads (one after another at thread; no loop for one), until
   elab_end_threads, which wants it back. */
struct ir_value *elab_begin_threads(struct elaborator *e, enum level_value level, struct ir_value *count);
/* The threads of a block of the launch that is being made; outside of launches, what #BlockSize is. */
int elab_block_threads(const struct elaborator *e);
void elab_end_threads(struct elaborator *e, enum level_value level, const struct ir_value *index);
struct writer elab_store_writer(struct ir_buffer **buffers, size_t count, struct ir_value *offset);
bool elab_writes_plainly(const struct writer *writer); /* elements go to the writer's buffers as they are */
/* Runs it where the condition holds. */
void elab_run_if(struct elaborator *e, struct ir_value *condition, struct push *push, const struct writer *writer);

/* ---- memory.c ---- */
enum ir_memory elab_memory(enum level_value level); /* of what is stored at it */
struct ir_buffer **elab_buffers(struct elaborator *e, struct type *element, enum level_value level,
                                struct ir_value *capacity, const char *name, size_t *count);
/* The array in which code will read the elements that a push array has stored; `offset` may be NULL. */
struct pull *elab_stored(struct elaborator *e, struct type *element, struct ir_buffer **buffers,
                         struct ir_value *offset, struct ir_value *length);
void elab_allocate(struct elaborator *e, struct ir_buffer **buffers, size_t count);
extern struct type elab_int_type, elab_float_type; /* of what primitives make of themselves */
/* An array of which only the length is known (or not even that: NULL): shapes. */
struct pull *elab_unknown_array(struct elaborator *e, struct type *element, struct ir_value *length);
struct pull *elab_force(struct elaborator *e, struct push *push, struct type *element);
/* The array as it will be read, in new memory; it is stored when `all` runs. An array that is stored already
   stays where it is. */
struct pull *elab_force_later(struct elaborator *e, struct push *push, struct type *element,
                              const struct element_order *order, runnings *all);
/* The length that the elements of such a push array have said, once it has run: from 0 to its bound. */
struct ir_value *elab_said_length(struct elaborator *e, const struct push *push);
/* A place for an int of that level. */
struct ir_buffer *elab_one_int(struct elaborator *e, enum level_value level, const char *name);
/* How much memory to set aside for that many elements; fails where no bound is known. */
struct ir_value *elab_capacity(struct elaborator *e, struct ir_value *length, enum level_value level);

/* ---- chunks.c ---- */
/* All of them are so many chunks of one level. */
void elab_run_all_chunks(struct elaborator *e, const struct running *all, size_t count);

/* ---- run.c ---- */
/* Several at one time: note [together]. */
void elab_run_together(struct elaborator *e, const struct running *all, size_t count);

/* ---- updates.c ---- */
bool elab_is_update(const struct push *push);
/* Is there a place for so many pairs? While only shapes matter. */
bool elab_may_hold_pairs(struct elaborator *e, const struct push *push);
/* Notes why an update copies its array, for W003 and the report; not of an input, which is always copied. */
void elab_note_copied(struct elaborator *e, const struct push *push, enum ir_update_kind kind);
/* Pairs of an update that read the array that `other` starts from, an update that may be the same, are stored now. */
void elab_hold_pairs(struct elaborator *e, struct push *push, const struct push *other);
/* A function that handles one pair, a tuple of place and value. */
typedef void elab_take(struct elaborator *e, void *context, struct elab_value *pair);
/* The pairs of an update that its element `which` makes: one, or those of a thread's push array. Are all of them made
   before the first is taken? */
bool elab_take_pairs(struct elaborator *e, const struct push *push, struct ir_value *which, elab_take *take,
                     void *context);
/* Around the loop that copies the array: it is known as such, and as the update's. */
void elab_begin_start(struct elaborator *e, const struct push *push);
void elab_end_start(struct elaborator *e);

/* ---- lookback.c ---- */
/* The launch is built whole: note [cleared words] in lookback.c. */
void elab_end_blocks(struct elaborator *e, const struct blocks_run *blocks);
/* At the end of an elaboration of the body: note [branches] in lookback.c. */
void elab_end_lookbacks(struct elaborator *e, struct blocks_run *blocks);
/* After a pass that has collected what blocks give to a lookback: the launch that combines them. */
void elab_scan_collected(struct elaborator *e, struct blocks_run *blocks);

/* ---- iteration schemes ---- */
/* The columns of types/schemes.def. A check runs the scheme: each place must be written, and once. */
typedef struct ir_value *elab_length_function(struct elaborator *e, struct push *push);
typedef void elab_run_function(struct elaborator *e, struct push *push, const struct writer *writer);
typedef void elab_check_function(struct elaborator *e, struct push *push, const struct writer *writer,
                                 elab_run_function *run);
struct elab_scheme {
    elab_length_function *length;
    elab_run_function *run;
    elab_check_function *check;
};
extern const struct elab_scheme elab_schemes[PUSH_KIND_COUNT];
#define SCHEME(id, length, run, check, cost)                                                                           \
    elab_length_function elab_length_of_##length;                                                                      \
    elab_run_function elab_run_##run;                                                                                  \
    elab_check_function elab_check_##check;
#define INTERPRETED(...)
#include "types/schemes.def"

#endif
