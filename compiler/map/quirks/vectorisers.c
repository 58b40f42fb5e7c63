/* Finds whether a kernel meets quirks of quirks.def: mostly places in arrays that loop vectorisers get wrong.

   note [steps that wrap]
   LLVM 15 takes xs[i * 7 & 15] for xs[i * 7], and loads as many elements as lie between the first
   and the last: it finds that i * 7 modulo 16 is a step of 7, which it is as long as it does not
   wrap, and does not test that. So it goes with a step that is not a power of two, cut by a mask
   or to 8 or 16 bits, whatever is done to it afterwards. Such loops are not to be vectorised; of
   what PoCL makes of work-items no loop is there to say so of, and it must not optimise.

   note [restarted indices]
   LLVM 15 goes on with vectors of eight where those of sixteen or more are over, and may begin
   with the loop's first index again, instead of the next: where it counts in 64 bits, for the
   places, and needs the index in 32 bits besides. So a loop that uses its index otherwise than to
   add up a place is to have vectors of eight at once, after which there are no shorter ones.
   Sixteen are what AVX-512 is asked for, and what narrow elements get anywhere.
   The text also says that its iterations are independent: else clang makes none of a step that reads
   one half of an array and writes the other.

   note [short loops]
   Vectors that are larger than the array that a loop goes through never come to run, but where
   they are in the code LLVM 15 takes what was stored in the array to be undefined (GVN). How long
   such a loop is may be known from the array only.

   note [updates in turn]
   In a loop that counts in a small array, as a pass of a sort does, a load may have to wait for the
   store of a round before, or not: that depends on the data, and processors guess it, for each load
   of the code by how it went before. GCC 12 leaves such a loop as it is, with one load that waits
   whenever it once had to. In eight rounds one after another there are eight loads, and a pass takes
   two thirds of the time; LLVM makes eight by itself.

   note [vectors of threads]
   PoCL 3.1 makes loops of work-items, which go by vectors. Where the loops inside them, which a
   thread goes through alone, do so already, it gets what comes after a barrier wrong, and two of
   the notes above hold for them, too. So they do not, in kernels for GPUs
   (tests/run/optimiser/warp_arrays_of_launch.fcl, toolchains/llvm_restarted_index.fcl,
   llvm_short_loops.fcl).

   note [places by truth]
   GCC 12 goes wrong where a place is chosen by what is true: of ys[x == z] it loads others than
   the first two. Kernels with such places, which are 0 or 1 or made of a bool, are not vectorised
   by it.

   note [sums in order]
   Intel's OpenCL (2026.2) makes vectors of loops that add up or multiply floats, one sum for each
   lane, though nothing allows it another order: neither its options nor pragmas forbid it in
   general. So a loop in which a thread goes on with a float from round to round, in a variable or
   an array, is not vectorised there. (The loops over threads are; so are work-items.)
   With AVX-512 it also makes vectors of a loop that updates buckets in turn, such as
   buckets[i & 1] += xs[i], and loses updates of one bucket by several lanes. Nor is such a loop
   vectorised.
   Nor is one whose state hands an old value on, as (a, b) becomes (f i, a): after its vectors, b is
   an old one, or what nobody wrote (tests/run/toolchains/intel_handed_on.fcl).

   note [guarded places]
   Where Intel's OpenCL (2026.2) makes vectors of work-items, it goes around what no lane wants, but
   takes loads from a thread's own array out of that: those may be done in vain, it thinks. Their
   places are computed where it did not come, though, and are what a register happened to hold. So
   such loads are volatile there. Those in a loop that computes the place anew stay in it, and are
   not: of volatile ones it makes no vectors, and of a product's it takes minutes to make none.
   It makes vectors that go on behind a loop's end, and leaves out there only operations that could fail: a division by
   a number that may be 0, but not the load from a place that the division gives. Those loads are volatile, too. */
#include <inttypes.h>

#include "map/lower.h"

enum { LOOKED_AT_MOST = 256 };

static bool is_power_of_two(int64_t c) { return c > 0 && (c & (c - 1)) == 0; }

static bool is_narrow(enum base base) { return base_info[base].is_integer && base_info[base].bits < 32; }

static bool cuts(const struct ir_instruction *definition) {
    const struct ir_value *last = definition->operands[definition->operand_count - 1];
    switch (definition->op) {
    case OP_AND: return definition->operands[0]->is_constant || last->is_constant;
    case OP_REM: return last->is_constant && is_power_of_two(last->constant.integer);
    default: return is_narrow(definition->results[0]->base) || is_narrow(last->base); /* all others */
    }
}

static bool wraps(struct ir_value *value, bool is_cut, int *looked_at) {
    const struct ir_instruction *definition = value->definition;
    struct linear sum;
    if (!definition || definition->kind != IR_OPERATION || ++*looked_at > LOOKED_AT_MOST)
        return false;
    is_cut |= cuts(definition);
    if (is_cut && linear_expand(value, &sum))
        for (size_t i = 0; i < sum.count; i++)
            if (!is_power_of_two(imaxabs(sum.term[i].coefficient)))
                return true;
    for (size_t i = 0; i < definition->operand_count; i++)
        if (wraps(definition->operands[i], is_cut, looked_at))
            return true;
    return false;
}

bool lower_steps_wrap(const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk)) {
        int looked_at = 0;
        if (ir_is_access(walk.at) && wraps(walk.at->operands[0], false, &looked_at))
            return true;
    }
    return false;
}

static bool has_loops(const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        if (ir_is_loop(walk.at))
            return true;
    return false;
}

/* Is the index, or a sum with it, used otherwise than for places? `sums`: ir_value → anything. */
static bool uses_index(const struct ir_region *region, struct map *sums) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *at = region->instructions.at[i];
        bool is_sum = at->kind == IR_OPERATION && (at->op == OP_ADD || at->op == OP_SUB || at->op == OP_MUL ||
                                                   (at->op == OP_CONVERT && at->results[0]->base == BASE_I64));
        for (size_t k = 0; k < at->operand_count; k++) {
            bool is_place = ir_is_access(at) && k == 0;
            if (!map_has(sums, at->operands[k]) || is_place)
                continue;
            if (!is_sum)
                return true;
            map_set(sums, at->results[0], sums);
        }
        for (int r = 0; r < 2; r++)
            if (at->regions[r] && uses_index(at->regions[r], sums))
                return true;
    }
    for (size_t i = 0; i < region->yields.count; i++)
        if (map_has(sums, region->yields.at[i]))
            return true;
    return false;
}

bool lower_restarts_index(struct arena *arena, const struct ir_instruction *loop) {
    enum { WHOLE = 256 }; /* four vectors of 64 bytes: what is a multiple of it leaves nothing to shorter ones */
    const struct ir_value *count = loop->operands[0];
    if ((count->is_constant && count->constant.integer % WHOLE == 0) || has_loops(loop->regions[0]))
        return false;
    struct map *sums = map_new(arena);
    map_set(sums, loop->parameters[0], sums);
    return uses_index(loop->regions[0], sums);
}

static bool counts_with(struct ir_value *place, const struct ir_value *index) {
    struct linear sum;
    return linear_expand(place, &sum) && linear_coefficient(&sum, index) != 0;
}

static bool goes_through_small(const struct ir_region *region, const struct ir_value *index) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk)) {
        const struct ir_instruction *at = walk.at;
        bool is_small = ir_is_access(at) && at->buffer->memory >= MEMORY_SHARED && at->buffer->capacity->is_constant &&
                        at->buffer->capacity->constant.integer < TARGET_LANES;
        if (is_small && counts_with(at->operands[0], index))
            return true;
    }
    return false;
}

bool lower_vectors_lose_stores(const struct ir_instruction *loop) {
    return loop->operands[0]->high < TARGET_LANES || goes_through_small(loop->regions[0], loop->parameters[0]);
}

bool lower_has_narrow(const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        if (ir_is_access(walk.at) && base_info[walk.at->buffer->element].bits < 32)
            return true;
    return false;
}

static bool is_varying(const struct ir_value *value, const struct ir_region *loop) {
    return !value->is_constant && value->region && ir_region_inside(value->region, loop);
}

/* Does a store go where a load was, at a place that is not counted up? */
static bool has_update(const struct ir_region *region, const struct ir_value *index) {
    const struct ir_instruction *load = NULL;
    struct linear place;
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk)) {
        if (walk.at->kind == IR_STORE && load && walk.at->buffer == load->buffer &&
            walk.at->operands[0] == load->operands[0])
            return true;
        if (walk.at->kind != IR_LOAD || !is_varying(walk.at->operands[0], region) ||
            !linear_expand(walk.at->operands[0], &place))
            continue;
        load = linear_coefficient(&place, index) ? load : walk.at;
    }
    return false;
}

bool lower_updates(const struct ir_instruction *loop) {
    return !has_loops(loop->regions[0]) && has_update(loop->regions[0], loop->parameters[0]);
}

bool lower_updates_in_turn(const struct ir_instruction *loop) {
    enum { SHORT = 24 }; /* instructions in a round. Chosen */
    int count = 0;
    for (struct ir_walk walk = ir_walk(loop->regions[0]); walk.at; ir_next(&walk))
        if (++count > SHORT)
            return false;
    return lower_updates(loop);
}

/* note [narrow floats in turn]
   GCC 12 goes through all ways that choices can go: of 15 rounds of a scan of f16, each with the
   choices of three conversions, it makes nothing for a minute, and takes 4 GB. So such loops are
   not unrolled. */
bool lower_computes_narrow(const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_OPERATION && base_info[walk.at->results[0]->base].is_narrow)
            return true;
    return false;
}

/* May it differ from iteration to iteration? An operation on values that do not differ does not. */
static bool may_differ(const struct ir_value *value, const struct ir_region *loop, int depth) {
    const struct ir_instruction *definition = value->definition;
    if (!is_varying(value, loop) || !definition || definition->kind != IR_OPERATION || depth == 0)
        return is_varying(value, loop);
    for (size_t i = 0; i < definition->operand_count; i++)
        if (may_differ(definition->operands[i], loop, depth - 1))
            return true;
    return false;
}

/* Is it one of two values that are the same in all iterations? */
static bool is_choice(const struct ir_value *value, const struct ir_region *loop) {
    const struct ir_instruction *definition = value->definition;
    if (definition->kind == IR_OPERATION)
        return definition->op == OP_SELECT && !is_varying(definition->operands[1], loop) &&
               !is_varying(definition->operands[2], loop);
    if (definition->kind != IR_IF)
        return false;
    size_t result = 0;
    while (definition->results[result] != value)
        result++;
    return !is_varying(definition->regions[0]->yields.at[result], loop) &&
           !is_varying(definition->regions[1]->yields.at[result], loop);
}

/* Is it 0 or 1, but for what is the same in all of the loop's iterations? */
static bool is_by_truth(const struct ir_value *value, const struct ir_region *loop) {
    enum { DEPTH = 4 };
    const struct ir_instruction *definition = value->definition;
    if (!definition || !may_differ(value, loop, DEPTH))
        return false;
    if (is_choice(value, loop))
        return true;
    if (definition->kind != IR_OPERATION)
        return false;
    bool is_quotient = definition->op == OP_DIV && definition->operands[0] == definition->operands[1];
    bool is_of_truth = definition->op != OP_SELECT && definition->operands[0]->base == BASE_BOOL;
    if ((value->low >= 0 && value->high <= 1) || is_of_truth || is_quotient)
        return true;
    const struct ir_value *varying = NULL;
    for (size_t i = 0; i < definition->operand_count; i++)
        if (is_varying(definition->operands[i], loop)) {
            if (varying)
                return false;
            varying = definition->operands[i];
        }
    return varying && is_by_truth(varying, loop);
}

/* In the region, of that loop; only one without others in it is vectorised. */
static bool loads_by_truth(const struct ir_region *region, const struct ir_region *loop, bool is_innermost) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *at = region->instructions.at[i];
        if (at->kind == IR_LOAD && is_innermost && is_by_truth(at->operands[0], loop))
            return true;
        for (int r = 0; r < 2; r++)
            if (at->regions[r] &&
                (at->kind == IR_IF ? loads_by_truth(at->regions[r], loop, is_innermost)
                                   : loads_by_truth(at->regions[r], at->regions[r], !has_loops(at->regions[r]))))
                return true;
    }
    return false;
}

bool lower_loads_by_truth(const struct ir_region *region) { return loads_by_truth(region, region, !has_loops(region)); }

static bool computes_floats(const struct ir_instruction *loop) {
    for (struct ir_walk walk = ir_walk_of(loop); walk.at; ir_next(&walk)) {
        const struct ir_instruction *at = walk.at;
        bool is_sum = at->kind == IR_OPERATION && (at->op == OP_ADD || at->op == OP_SUB || at->op == OP_MUL);
        if (is_sum && base_info[at->results[0]->base].is_floating)
            return true;
    }
    return false;
}

/* Is a float stored to an array that floats are loaded from? */
static bool goes_on_in_array(struct arena *arena, const struct ir_instruction *loop) {
    struct map *loaded = map_new(arena);
    for (struct ir_walk walk = ir_walk_of(loop); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_LOAD && base_info[walk.at->buffer->element].is_floating)
            map_set(loaded, walk.at->buffer, loaded);
    for (struct ir_walk walk = ir_walk_of(loop); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_STORE && map_has(loaded, walk.at->buffer))
            return true;
    return false;
}

bool lower_sums_floats(struct arena *arena, const struct ir_instruction *loop) {
    if (!computes_floats(loop))
        return false;
    for (size_t i = 0; i < loop->result_count; i++)
        if (base_info[loop->results[i]->base].is_floating)
            return true;
    return goes_on_in_array(arena, loop);
}

/* Does an element of an array that is no global one get another one's as it is, round after round? */
static bool hands_elements_on(const struct ir_instruction *loop) {
    for (struct ir_walk walk = ir_walk_of(loop); walk.at; ir_next(&walk)) {
        const struct ir_instruction *at = walk.at, *load = ir_copied(at);
        if (load && at->buffer->memory >= MEMORY_SHARED && load->buffer->memory >= MEMORY_SHARED &&
            !(loop->kind == IR_FOR && counts_with(at->operands[0], loop->parameters[0])))
            return true;
    }
    return false;
}

bool lower_hands_on(const struct ir_instruction *loop) {
    size_t first = loop->kind == IR_FOR;
    const ir_values *next = &loop->regions[loop->kind == IR_WHILE]->yields;
    for (size_t i = 0; i < next->count; i++)
        for (size_t k = 0; k < next->count; k++)
            if (k != i && next->at[i] == loop->parameters[first + k])
                return true;
    return hands_elements_on(loop);
}

/* Is it made by a division by what is no constant? */
static bool comes_of_division(const struct ir_value *value, int *looked_at) {
    const struct ir_instruction *definition = value->definition;
    if (!definition || definition->kind != IR_OPERATION || ++*looked_at > LOOKED_AT_MOST)
        return false;
    if ((definition->op == OP_DIV || definition->op == OP_REM) && !definition->operands[1]->is_constant)
        return true;
    for (size_t i = 0; i < definition->operand_count; i++)
        if (comes_of_division(definition->operands[i], looked_at))
            return true;
    return false;
}

bool lower_is_guarded(const struct lowering *l, const struct ir_instruction *load) {
    const struct ir_value *place = load->operands[0];
    int looked_at = 0;
    if (!lower_has_quirk(l, QUIRK_GUARDED) || place->is_constant)
        return false;
    if (l->target->mapping == TARGET_LOOP)
        return comes_of_division(place, &looked_at);
    for (const struct ir_region *at = load->region; at != l->forall->regions[0]; at = at->parent) {
        const struct ir_instruction *owner = at->owner;
        bool is_loop = owner->kind == IR_FOR || owner->kind == IR_WHILE ||
                       (owner->kind == IR_FORALL && owner->outer == LEVEL_WARP && !l->options->has_warps);
        if (is_loop && is_varying(place, at))
            return false;
        if (!is_loop)
            return true;
    }
    return true;
}
