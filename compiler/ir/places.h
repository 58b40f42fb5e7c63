/* Accesses to buffers: passes, mappings and the report ask here who touches which place.

   note [who touches what]
   Loads, stores, atomics and swaps touch buffers, and so does a parallel loop that draws tickets.
   The questions, their answers, and who asks:
   1. Which instructions touch a buffer, in the order of the text? `ir_places`, `ir_touched`
      (dce, reuse, rereads, merge_stages, own_places, banks, map/extents).
   2. Does an instruction touch or change a buffer, itself or by what is inside of it?
      `ir_touch_in`, `ir_change_in` (reuse, clear, on_device, fuse_loops, merge_stages).
   3. Which thread does it? Iteration i of `ir_thread_loop` is one thread's (rereads, own_places,
      banks, map/barrier, report/access, reading of IR).
   4. Is it the thread's own element? `ir_is_own` (rereads, fuse_loops).
   5. How do places differ? A place is a sum: `linear_coefficient` of an index says how it moves,
      `linear_distance` how far apart two are (own_places, store_pairs, merge_stages, tidy, in_place).
   6. Which of two comes first, and may they meet at one element? `ir_may_follow` (in_place).
   7. Does a store copy what was loaded? `ir_copied` (reuse, in_place, old_half, own_places,
      store_pairs, map/copies, quirks).
   8. May it be done elsewhere or twice? `ir_is_plain` (merge_stages, store_pairs, map/copies). */
#ifndef FCL_IR_PLACES_H
#define FCL_IR_PLACES_H

#include "ir/build/linear.h"
#include "ir/walk.h"
#include "support/map.h"

/* ---- instructions ---- */

/* A load, a store or an atomic: it touches the element at operands[0]. */
static inline bool ir_touches_element(const struct ir_instruction *at) {
    return ir_is_access(at) || at->kind == IR_ATOMIC;
}
static inline bool ir_changes_element(const struct ir_instruction *at) {
    return at->kind == IR_STORE || at->kind == IR_ATOMIC;
}
/* A load or store that no other thread waits for or gets in the way of. */
bool ir_is_plain(const struct ir_instruction *at);
/* Is it made so that it is a multiple of that power of two? */
bool ir_is_multiple(const struct ir_value *value, int64_t size);
/* The load whose value a store stores; NULL: the instruction is no such store. */
struct ir_instruction *ir_copied(const struct ir_instruction *store);
/* Where `region` has the instruction, or the one that it is inside of. */
size_t ir_position(const struct ir_region *region, const struct ir_instruction *at);

/* ---- buffers ---- */

/* Does the instruction itself touch it? An ALLOCATE does not. */
bool ir_touches(const struct ir_instruction *at, const struct ir_buffer *buffer);
/* The first that touches it, or that does so otherwise than by a load: the instruction itself or one
   inside of it; or NULL. */
const struct ir_instruction *ir_touch_in(const struct ir_instruction *at, const struct ir_buffer *buffer);
const struct ir_instruction *ir_change_in(const struct ir_instruction *at, const struct ir_buffer *buffer);
/* The ALLOCATE of the buffer that stands in the region itself; or NULL. */
const struct ir_instruction *ir_made_in(const struct ir_region *region, const struct ir_buffer *buffer);

struct ir_touched {
    struct ir_buffer *buffer;
    VEC(struct ir_instruction *) made; /* its ALLOCATEs */
    VEC(struct ir_instruction *) all;  /* that touch it, in the order of the text */
};
struct ir_places {
    VEC(struct ir_touched *) all; /* in the order of their first mention */
    struct map *by_buffer;
};
struct ir_places ir_places(struct arena *arena, const struct ir_region *region);
struct ir_touched *ir_touched(struct arena *arena, struct ir_places *places, struct ir_buffer *buffer);

/* ---- threads ---- */

/* The innermost parallel loop around the region; or NULL. */
struct ir_instruction *ir_parallel_loop(const struct ir_region *region);
/* The same where each iteration is a thread's; NULL: threads do alike what is in the region. */
struct ir_instruction *ir_thread_loop(const struct ir_region *region);
/* Is it the element of the loop's own iteration: that of its index, or the only one? */
bool ir_is_own(const struct ir_instruction *loop, const struct ir_value *place);

/* ---- meeting ---- */

struct ir_touch {
    struct ir_instruction *at;
    const struct ir_instruction *loop; /* the parallel loop that it is in, inside of the one around; or NULL */
    struct linear place;
};
/* Both are in a sequential loop. May `read` get what `write` has written in the same step of it? */
bool ir_may_follow(const struct ir_instruction *around, const struct ir_touch *write, const struct ir_touch *read);

#endif
