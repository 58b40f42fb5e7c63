/* Where each bit of an integer comes from, and places that are apart because of it. */
#ifndef FCL_IR_BUILD_BITS_H
#define FCL_IR_BUILD_BITS_H

#include "ir/ir.h"

/* note [bits]
   A network finds its places by bits: `(t >> k << (k + 1)) | (t & ((1 << k) - 1))` is t with a zero put in
   at bit k. A sum says nothing of such a place, but its bits say all: each bit is known, or is a bit of a value that is
   not taken apart, perhaps inverted, or may be anything. Two places are apart
   - where one bit differs: it is known in both, or it is inverted in one of them, and is one of a value from outside
     of the loop or stands at another bit of both, where it is the same if the places are;
   - in two different iterations, where each bit of the loop's index stands at some bit of both places: if the
     places were the same, so were the indices. */

/* Are the two places never the same, in the same iteration of a loop with that body or in different ones? */
bool ir_places_differ(struct ir_value *x, struct ir_value *y, const struct ir_region *body);
/* The same of x in one iteration and y in another one. */
bool ir_places_apart(struct ir_value *x, struct ir_value *y, const struct ir_value *index,
                     const struct ir_region *body);

/* Raises `low` and lowers `high` to what the bits of an integer allow. */
void ir_bits_bound(const struct ir_value *value, int64_t *low, int64_t *high);
/* Does each bit of `part` stand in one of these, so that they tell what it is? */
bool ir_bits_tell(struct ir_value *const *values, size_t count, const struct ir_value *part);

/* Does each iteration of this loop, whatever the others have done by then, read of `from` only what is there before
   the loop, although `to` is the same memory? `to` is what it stores to. */
bool ir_reads_old(const struct ir_instruction *loop, const struct ir_buffer *from, const struct ir_buffer *to);

#endif
