/* note [apart]
   Arrays of a program that have as many elements are made in one loop (note [together] in
   elaborate/run.c), which shares what they share. GCC 12 makes no vectors of a loop that goes
   backwards through elements that are larger than others of the same loop, as of
   `ints[i] = xs[n - 1 - i]; bytes[i] = xs[i] > 1`: its vectors have as many lanes as the least
   elements leave room for, and it turns none around that takes more than one register. So the
   stores that need such an element have a loop of their own, if that goes by vectors then.

   Only where iterations do no more than computing, loading and storing, and what both loops do
   is cheap; and where nothing is read that is stored, so that the stores may change places. */
#include "ir/build/linear.h"
#include "map/lower.h"

enum { MOST_INSTRUCTIONS = 64 }; /* of a loop: a bit for each */

/* The stores of elements in order; those that need one from behind; and those that are no better off alone. */
enum group { IN_ORDER, TURNED, STAYS };

struct apart {
    const struct ir_instruction *loop;
    size_t count;
    struct ir_instruction **all;
    uint64_t groups[APART_GROUPS]; /* the instructions of each, a bit for each place */
};

static bool is_backward(const struct ir_instruction *loop, const struct ir_instruction *access) {
    struct linear place;
    if (!linear_expand(access->operands[0], &place))
        return false;
    for (size_t k = 0; k < place.count; k++) {
        const struct ir_value *value = place.term[k].value;
        const struct ir_instruction *definition = value->definition;
        bool is_converted = definition && definition->kind == IR_OPERATION && definition->op == OP_CONVERT &&
                            definition->operands[0] == loop->parameters[0];
        if ((value == loop->parameters[0] || is_converted) && place.term[k].coefficient < 0)
            return true;
    }
    return false;
}

/* The place in it of what gives the value, or that behind the last. */
static size_t giver_of(const struct apart *apart, const struct ir_value *value) {
    size_t i = 0;
    while (i < apart->count && apart->all[i] != value->definition)
        i++;
    return i;
}

/* The instruction and all that it needs of the loop's body. */
static uint64_t slice_of(const struct apart *apart, size_t at) {
    uint64_t slice = UINT64_C(1) << at;
    for (size_t i = at + 1; i-- > 0;)
        if (slice >> i & 1)
            for (size_t k = 0; k < apart->all[i]->operand_count; k++) {
                size_t place = giver_of(apart, apart->all[i]->operands[k]);
                slice |= place < apart->count ? UINT64_C(1) << place : 0;
            }
    return slice;
}

static size_t least_bytes(const struct apart *apart, uint64_t slice) {
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < apart->count; i++)
        if ((slice >> i & 1) && ir_is_access(apart->all[i])) {
            size_t bytes = target_element_bytes(apart->all[i]->buffer->element);
            least = bytes < least ? bytes : least;
        }
    return least;
}

/* Does it go backwards through elements that are larger than `least`? */
static bool turns_large(const struct apart *apart, uint64_t slice, size_t least) {
    for (size_t i = 0; i < apart->count; i++)
        if ((slice >> i & 1) && ir_is_access(apart->all[i]) &&
            target_element_bytes(apart->all[i]->buffer->element) > least && is_backward(apart->loop, apart->all[i]))
            return true;
    return false;
}

static bool is_plain(const struct apart *apart) {
    for (size_t i = 0; i < apart->count; i++) {
        const struct ir_instruction *at = apart->all[i];
        bool is_access = at->kind == IR_LOAD || at->kind == IR_STORE;
        if (at->kind != IR_OPERATION && (!is_access || at->is_volatile))
            return false;
        for (size_t k = 0; k < i && is_access; k++)
            if (ir_is_access(apart->all[k]) && apart->all[k]->buffer == at->buffer &&
                (at->kind == IR_STORE || apart->all[k]->kind == IR_STORE))
                return false;
    }
    return true;
}

/* What more than one of them does is done again. */
static bool share_little(const struct apart *apart) {
    for (size_t i = 0; i < apart->count; i++) {
        int users = 0;
        for (int g = 0; g < APART_GROUPS; g++)
            users += apart->groups[g] >> i & 1;
        if (users > 1 && apart->all[i]->kind == IR_OPERATION && !ir_is_cheap(apart->all[i]))
            return false;
    }
    return true;
}

struct apart *apart_find(struct lowering *l, const struct ir_instruction *loop) {
    const struct ir_region *region = loop->regions[0];
    if (!lower_has_quirk(l, QUIRK_TURNED_VECTORS) || loop->inner != LEVEL_THREAD || !region->instructions.count ||
        region->instructions.count > MOST_INSTRUCTIONS)
        return NULL;
    struct apart *apart = ARENA_NEW(l->arena, struct apart);
    *apart = (struct apart){loop, region->instructions.count, region->instructions.at, {0}};
    uint64_t everything = UINT64_MAX >> (64 - apart->count);
    size_t least = least_bytes(apart, everything);
    if (!is_plain(apart) || !turns_large(apart, everything, least))
        return NULL;
    for (size_t i = 0; i < apart->count; i++)
        if (apart->all[i]->kind == IR_STORE) {
            uint64_t slice = slice_of(apart, i);
            bool is_turned = turns_large(apart, slice, least);
            bool stays = is_turned && turns_large(apart, slice, least_bytes(apart, slice));
            apart->groups[stays ? STAYS : is_turned ? TURNED : IN_ORDER] |= slice;
        }
    int groups = !!apart->groups[IN_ORDER] + !!apart->groups[TURNED] + !!apart->groups[STAYS];
    return groups > 1 && share_little(apart) ? apart : NULL;
}

static void set_body(struct lowering *l, struct apart *apart, struct ir_instruction **body, size_t count) {
    struct ir_region *region = apart->loop->regions[0];
    uses_clear(l->uses, region);
    lower_forget(l, region);
    region->instructions.at = body;
    region->instructions.count = count;
    uses_count(l->uses, l->kernel, apart->loop);
}

bool apart_enter(struct lowering *l, struct apart *apart, int group) {
    if (!apart->groups[group])
        return false;
    struct ir_instruction **body = ARENA_ARRAY(l->arena, struct ir_instruction *, apart->count);
    size_t count = 0;
    for (size_t i = 0; i < apart->count; i++)
        if (apart->groups[group] >> i & 1)
            body[count++] = apart->all[i];
    set_body(l, apart, body, count);
    return true;
}

void apart_leave(struct lowering *l, struct apart *apart) { set_body(l, apart, apart->all, apart->count); }
