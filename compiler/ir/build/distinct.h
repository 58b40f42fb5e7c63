/* Code that writes: is no place written twice, and is each one written? */
#ifndef FCL_IR_BUILD_DISTINCT_H
#define FCL_IR_BUILD_DISTINCT_H

#include "ir/build/build.h"

/* note [distinct places]
   A write stands in loops, of whose indices its place is made. The same place is known to come from the same indices
   - where the place is a sum whose larger factors exceed what the smaller terms add up to, as digits of a number: then
     each term is the same. The operands of a term are asked about in their turn; a quotient and a remainder together
     tell the number that they come from.
   - where each bit of an index stands in the place, or in such a term: note [bits] in bits.h.
   The places of two writes differ where their difference is never 0: what the terms with the smallest factors and the
   constant come to is no multiple of what divides all others; or by bits.
   Each place below a length is written where that many iterations write places of their own, none of them from that
   number on: writes that are left out where they are not below the length count, too. */
struct ir_write {
    struct ir_value *place;
    const struct ir_region *region; /* that it is in */
};

/* Does the condition ask no more than that the place is from 0 to length - 1? */
bool ir_asks_for_inside(const struct ir_value *condition, const struct ir_value *place, const struct ir_value *length);

/* True if all writes within `around` together are proved to write no place twice. */
bool ir_writes_once(struct ir_builder *b, const struct ir_region *around, const struct ir_write *writes, size_t count);
/* The same are written once. Does each place from 0 to length - 1 get one? `are_inside`: a place that no branch asks
   about is known to be one of these. */
bool ir_writes_all(struct ir_builder *b, const struct ir_region *around, const struct ir_write *writes, size_t count,
                   const struct ir_value *length, bool are_inside);

#endif
