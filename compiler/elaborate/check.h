/* Lengths, bounds and the checks of what a program promises. */
#ifndef FCL_ELABORATE_CHECK_H
#define FCL_ELABORATE_CHECK_H

#include "elaborate/elaborator.h"

/* ---- length.c ---- */
/* A check of lengths: always at grid, where the host has them, and below it with --check. */
void elab_hold(struct elaborator *e, enum ir_check check, struct ir_value *condition, struct ir_value *a,
               struct ir_value *b, struct span span);
/* Gives the result of an operation on ints what its length would be made of. */
void elab_remember(struct elaborator *e, enum ir_op op, struct elab_value **arguments, int arity,
                   struct elab_value *result);
/* A length, and the size of chunks, as a program gives it: computed without wrapping. NULL: depends on data. */
struct ir_value *elab_given_length(struct elaborator *e, struct elab_value *n);
struct ir_value *elab_chunk_size(struct elaborator *e, struct elab_value *size);
struct ir_value *elab_not_negative(struct elaborator *e, struct ir_value *n); /* 0 instead; NULL stays */
/* The sum or product of two lengths; what no int holds is an error. */
struct ir_value *elab_combined_length(struct elaborator *e, enum ir_op op, enum ir_check check, struct ir_value *x,
                                      struct ir_value *y);

/* ---- check.c ---- */
static inline bool elab_checks_all(const struct elaborator *e) { return e->options->check == DEGREE_ALL; }
/* A length that would lead to writes elsewhere, with and without --check. `is_contained`: as of a site. */
void elab_check_length(struct elaborator *e, enum ir_check check, struct ir_value *condition, struct ir_value *a,
                       struct ir_value *b, struct span span, bool is_contained);
/* The same for what a concat or interleave was promised of its chunks. */
void elab_check_chunk(struct elaborator *e, const struct push *push, struct ir_value *condition,
                      struct ir_value *length, struct ir_value *size);
/* See note [unfinished lengths]. */
bool elab_may_be_unfinished(struct elaborator *e, const struct ir_value *length);
/* Whatever the arguments: in no branch, and in no loop that may have no iterations. */
bool elab_runs_for_certain(struct elaborator *e);
bool elab_runs_for_certain_in(const struct ir_region *region);
/* An element; where the host reads it, the place in the program is kept for an index out of range. */
struct ir_value *elab_load(struct elaborator *e, struct ir_buffer *buffer, struct ir_value *index);
/* On the host, which gives up where it does not hold; so it holds afterwards. */
void elab_require(struct elaborator *e, enum ir_check check, struct ir_value *condition, struct ir_value *a,
                  struct ir_value *b, struct span span);
/* Note [measured] in matrix.c. From the begin to the end, at the present `shape`, the elaborator measures: the end
   keeps only the checks of lengths of which `lengths` are made. Then: does it measure now? A condition that counts only
   if the row is there; and the check of a length. */
struct measuring_before {
    struct ir_value *row_is_there;
    int row_shape;
    size_t check_count;
};
struct measuring_before elab_begin_measured(struct elaborator *e, struct ir_value *is_there);
void elab_end_measured(struct elaborator *e, struct measuring_before before, struct ir_value *const *lengths,
                       size_t count);
bool elab_is_measured(const struct elaborator *e);
struct ir_value *elab_where_there(struct elaborator *e, struct ir_value *condition);
void elab_check_measured(struct elaborator *e, struct ir_value *condition, struct ir_value *n,
                         const struct ir_value *length);
/* The functions from here on check nothing without --check. With --check=memory they make only the checks that have a
   `brief` in checks.def. */
void elab_check(struct elaborator *e, enum ir_check check, struct ir_value *condition, struct ir_value *a,
                struct ir_value *b, struct span span);
/* Says the length of forceUpTo's result, in its complement. */
void elab_check_said(struct elaborator *e, const struct push *push, struct ir_value *length);
/* At the push array's own place: that of who made it, whoever runs it. */
void elab_require_push(struct elaborator *e, const struct push *push, enum ir_check check, struct ir_value *condition,
                       struct ir_value *a, struct ir_value *b);
void elab_check_push(struct elaborator *e, const struct push *push, enum ir_check check, struct ir_value *condition,
                     struct ir_value *a, struct ir_value *b);
/* Is it from 0 to length - 1? */
struct ir_value *elab_is_inside(struct elaborator *e, struct ir_value *index, struct ir_value *length);
/* True if `count` is known to be 0. A loop of 0 turns is not compiled: nothing asks an empty array about its
   elements, and its answer may make no sense. */
bool elab_is_none(struct elaborator *e, struct ir_value *count);
/* The index, which is checked, and 0 instead where it is wrong; but itself where there is no element. */
struct ir_value *elab_checked_index(struct elaborator *e, struct ir_value *index, struct ir_value *length);

/* ---- bound.c ---- */
/* The host computes what it must know before a launch, at the innermost region of ambient grid: what is built until
   ir_leave goes there. */
struct ir_region *elab_enter_host(struct elaborator *e);
/* A value of the host (or a constant) that `value` never exceeds; NULL: none is known. */
struct ir_value *elab_upper_bound(struct elaborator *e, struct ir_value *value);
/* The sum and product of two such, not negative: at most the greatest length, of which there is never memory. */
struct ir_value *elab_sum_of_bounds(struct elaborator *e, struct ir_value *x, struct ir_value *y);
struct ir_value *elab_product_of_bounds(struct elaborator *e, struct ir_value *x, struct ir_value *y);

#endif
