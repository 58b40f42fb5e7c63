/* Shuffles by a constant distance, for which hardware has instructions of their own. */
#include "map/lower.h"

static const struct ir_instruction *operation(const struct ir_value *value, enum ir_op op) {
    const struct ir_instruction *definition = value->definition;
    return definition && definition->kind == IR_OPERATION && definition->op == op ? definition : NULL;
}

/* The index of the loop over all lanes of a warp that the region is in, or NULL. */
static const struct ir_value *lane_of(const struct ir_kernel *kernel, const struct ir_region *region) {
    const struct ir_instruction *owner = ir_parallel_loop(region);
    bool is_lanes = owner && owner->outer == LEVEL_WARP && owner->operands[0]->is_constant &&
                    owner->operands[0]->constant.integer == kernel->warp_size;
    return is_lanes ? owner->parameters[0] : NULL;
}

enum target_exchange exchange_of(const struct ir_kernel *kernel, const struct ir_instruction *shuffle,
                                 int64_t *distance) {
    const struct ir_value *lane = lane_of(kernel, shuffle->region), *from = shuffle->operands[1];
    const struct ir_instruction *select = operation(from, OP_SELECT), *xor = operation(from, OP_XOR);
    if (lane && xor&&xor->operands[0] == lane && xor->operands[1]->is_constant) {
        *distance = xor->operands[1]->constant.integer;
        return *distance > 0 && *distance < kernel->warp_size ? TARGET_EXCHANGE_XOR : TARGET_EXCHANGE_AT;
    }
    if (!lane || !select || select->operands[2] != lane)
        return TARGET_EXCHANGE_AT;
    const struct ir_value *there = select->operands[1];
    const struct ir_instruction *add = operation(there, OP_ADD), *less = operation(select->operands[0], OP_LT);
    const struct ir_instruction *subtract = operation(there, OP_SUB),
                                *not_negative = operation(select->operands[0], OP_LE);
    if (add && less && add->operands[0] == lane && add->operands[1]->is_constant && less->operands[0] == there &&
        less->operands[1]->is_constant && less->operands[1]->constant.integer == kernel->warp_size) {
        *distance = add->operands[1]->constant.integer;
        return *distance > 0 && *distance < kernel->warp_size ? TARGET_EXCHANGE_DOWN : TARGET_EXCHANGE_AT;
    }
    if (subtract && not_negative && subtract->operands[0] == lane && subtract->operands[1]->is_constant &&
        not_negative->operands[1] == there && not_negative->operands[0]->is_constant &&
        not_negative->operands[0]->constant.integer == 0) {
        *distance = subtract->operands[1]->constant.integer;
        return *distance > 0 && *distance < kernel->warp_size ? TARGET_EXCHANGE_UP : TARGET_EXCHANGE_AT;
    }
    return TARGET_EXCHANGE_AT;
}
