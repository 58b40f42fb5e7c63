/* Places of writes that are wrong for certain, found by going through all iterations. */
#ifndef FCL_IR_BUILD_CONFLICT_H
#define FCL_IR_BUILD_CONFLICT_H

#include "ir/build/distinct.h"

struct ir_conflict {
    enum { CONFLICT_NONE, CONFLICT_TWICE, CONFLICT_OUTSIDE, CONFLICT_MISSING } kind;
    int64_t place;
    int64_t first, second; /* TWICE: numbers of the two writes, in order, from 0 on. OUTSIDE: the first is its number */
};

/* The first conflict of the writes within `around`, whose loops take constant numbers of turns, at places that are
   made of the loops' indices and of constants. `drops`: a write outside of the length is left out; `is_over`: a place
   may be written again. */
struct ir_conflict ir_find_conflict(struct arena *scratch, const struct ir_region *around,
                                    const struct ir_write *writes, size_t count, const struct ir_value *length,
                                    bool drops, bool is_over);
/* The index of an element as a sum of indices of loops that run for certain, and all from 0 to the last: the one that
   is furthest outside of the length, and the values of these indices; false: there is none, or it is not known. */
struct ir_outside {
    int64_t index;
    const struct ir_value *of; /* of the loop whose index is in the sum; NULL: several are */
    int64_t at;
};
bool ir_find_outside(struct ir_builder *b, struct ir_value *index, int64_t length, struct ir_outside *found);

#endif
