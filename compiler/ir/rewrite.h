/* What passes that move instructions share: other values in the place of some, and regions put together. */
#ifndef FCL_IR_REWRITE_H
#define FCL_IR_REWRITE_H

#include "ir/ir.h"

struct replacements {
    struct ir_value **by_id; /* what stands for a value; NULL: itself */
    uint32_t count;          /* values made later stand for themselves */
};
struct replacements rewrite_begin(struct arena *arena, const struct ir_kernel *kernel);
void rewrite_set(struct replacements *replacements, const struct ir_value *value, struct ir_value *by);
/* In all operands and yields of the region. */
void rewrite_replace(struct ir_region *region, const struct replacements *replacements);
/* The instructions and yields of `from` go to the end of `to`. */
void rewrite_move(struct arena *arena, struct ir_region *from, struct ir_region *to);

#endif
