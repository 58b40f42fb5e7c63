/* The pairs of reduceByIndex: how threads share them out, and in which order they take them.

   note [batches]
   For all that a compiler knows, an update changes what the next pair is read from, and it is in a
   branch; so a GPU's thread would wait for each pair's load before it asks for the next one. Where
   pairs take little to compute a thread computes several and then does their updates: their loads
   are under way together. Where an update is a loop, by compare-and-swap or a lock, a batch has
   fewer pairs: the code of an update is long then, and 16 bytes are under way all the same.

   note [meeting]
   Lanes of a warp that update one place wait for each other, 32 times at worst. So a warp looks
   whether half of its lanes have one place, its first lane's: then these combine what they have by
   exchanging registers, and one of them updates the place for all. Looking takes as many
   instructions as an update of shared memory, so a warp looks at the first pairs of a batch only,
   and takes all of the batch in that way or none: a place that is hot is so for many pairs. Where
   the pairs of a thread are known to be for one place it combines them first, as one pair; and
   where those of all lanes are, nobody looks.

   note [looking first]
   A comparison and a branch for each pair take a CPU as long as the update of a bucket. The least
   and the greatest index of many pairs are found by vectors in a tenth of it: where all are
   inside, as they nearly always are, no pair needs a branch. The indices are computed twice, so
   this is done where that takes little. */
#include "elaborate/reduce.h"
#include "elaborate/check.h"
#include "elaborate/evaluate.h"
#include "elaborate/push.h"

static struct elab_value *pair_at(struct elaborator *e, const struct reducing *r, struct ir_value *which) {
    struct elab_value *pair = elab_index(e, r->push->update.pairs, which);
    if (pair->kind != ELAB_TUPLE)
        elab_internal(e, "a write is no pair");
    return pair;
}

static struct ir_value *is_between(struct elaborator *e, struct ir_value *low, struct ir_value *least,
                                   struct ir_value *greatest, struct ir_value *width) {
    struct ir_builder *b = e->builder;
    /* greatest - low could overflow and come out below width: the bounds are compared before */
    struct ir_value *high = ir_binary(b, OP_ADD, low, width);
    return ir_binary(b, OP_AND, ir_binary(b, OP_LE, low, least), ir_binary(b, OP_LT, greatest, high));
}

/* Puts a pair that is known to be inside. */
static void put_pair(struct elaborator *e, const struct reducing *r, const struct places *places,
                     const struct elab_value *pair, struct ir_value *low) {
    struct ir_value *index = elab_as_scalar(e, pair->tuple.items[0]);
    reduce_update(e, r, places, ir_binary(e->builder, OP_SUB, index, low), pair->tuple.items[1]);
}

/* The same of one index, as one comparison: what is below `low` is a large unsigned number. */
static struct ir_value *is_between_unsigned(struct elaborator *e, struct ir_value *low, struct ir_value *index,
                                            struct ir_value *width) {
    struct ir_builder *b = e->builder;
    struct ir_value *from_low = ir_binary(b, OP_SUB, ir_convert(b, index, BASE_U32), ir_convert(b, low, BASE_U32));
    struct ir_value *natural = ir_binary(b, OP_MAX, width, ir_int(b, 0));
    return ir_binary(b, OP_LT, from_low, ir_convert(b, natural, BASE_U32));
}

/* Checks that the operator makes the value of the neutral element and it. A NaN is as good as another. */
static void check_neutral(struct elaborator *e, const struct reducing *r, struct elab_value *value,
                          struct ir_value *index) {
    struct ir_builder *b = e->builder;
    if (!elab_checks_all(e) || !r->has_neutral || r->is_neutral)
        return;
    ir_values old = elab_leaves(e, value), new = elab_leaves(e, elab_apply2(e, r->function, r->neutral, value));
    struct ir_value *same = ir_bool(b, true);
    for (size_t k = 0; k < r->count; k++) {
        struct ir_value *is_kept = ir_binary(b, OP_EQ, old.at[k], new.at[k]);
        if (base_info[old.at[k]->base].is_floating)
            is_kept = ir_binary(b, OP_OR, is_kept, ir_binary(b, OP_NE, old.at[k], old.at[k]));
        same = ir_binary(b, OP_AND, same, is_kept);
    }
    elab_check_push(e, r->push, CHECK_NEUTRAL, same, index, index);
}

static void take_pair(struct elaborator *e, const struct reducing *r, const struct places *places,
                      const struct elab_value *pair, struct ir_value *low, struct ir_value *width) {
    struct ir_builder *b = e->builder;
    struct ir_value *index = elab_as_scalar(e, pair->tuple.items[0]);
    struct ir_value *inside = is_between(e, low, index, index, width);
    /* A CPU takes longer for two comparisons than for the update. (Where `low` is 0 they are printed as one.) */
    if (e->options->is_cpu && !low->is_constant && ir_known(b, inside) == IR_UNKNOWN)
        inside = is_between_unsigned(e, low, index, width);
    enum ir_truth truth = ir_begin_choice(b, inside);
    if (truth != IR_FALSE) {
        ir_assume(b, is_between(e, low, index, index, width));
        check_neutral(e, r, pair->tuple.items[1], index);
        put_pair(e, r, places, pair, low);
    }
    ir_end_only_choice(b, truth);
}

/* Operations and loads only, and choices without loads, for which no branch is needed: how many
   instructions, or too many. */
static size_t plain_length(const struct ir_region *region, bool may_load) {
    size_t length = 0;
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *instruction = region->instructions.at[i];
        if (instruction->kind == IR_IF)
            length += plain_length(instruction->regions[0], false) + plain_length(instruction->regions[1], false);
        else if (instruction->kind != IR_OPERATION && !(may_load && instruction->kind == IR_LOAD))
            length += GPU_BATCHED_PAIR;
        length++;
    }
    return length;
}

struct pair_taking {
    const struct reducing *r;
    const struct places *places;
    struct ir_value *low, *width;
};

static void take_one(struct elaborator *e, void *context, struct elab_value *pair) {
    const struct pair_taking *taking = context;
    take_pair(e, taking->r, taking->places, pair, taking->low, taking->width);
}

/* All pairs of an element. */
static void take_each(struct elaborator *e, const struct reducing *r, const struct places *places,
                      struct ir_value *which, struct ir_value *low, struct ir_value *width) {
    struct pair_taking taking = {r, places, low, width};
    elab_take_pairs(e, r->push, which, take_one, &taking);
}

/* Pairs of a thread that are under way together: note [batches]. */
static int batch_of(const struct reducing *r) {
    bool is_loop = r->is_packed || r->is_locked;
    for (size_t k = 0; k < r->count; k++)
        is_loop |= r->updates[k] != UPDATE_ATOMIC;
    return is_loop ? GPU_BATCH_OF_LOOPS : GPU_BATCH;
}

struct pair_length {
    const struct reducing *r;
    enum level_value level;
    struct ir_value *first, *count, *low, *width;
    enum ir_truth truth;
    size_t length;
};

static void see_length(struct elaborator *e, void *context) {
    struct pair_length *seen = context;
    struct ir_builder *b = e->builder;
    struct ir_value *i = elab_begin_threads(e, seen->level, seen->count);
    struct ir_value *which = ir_binary(b, OP_ADD, seen->first, i);
    struct ir_value *index = elab_as_scalar(e, pair_at(e, seen->r, which)->tuple.items[0]);
    seen->truth = ir_known(b, is_between(e, seen->low, index, index, seen->width));
    seen->length = plain_length(ir_current(b), true);
    elab_end_threads(e, seen->level, i);
}

/* Builds the code of one pair only to count its instructions. Nothing uses this code, so later stages drop it. Code
   that corrects indices (`guards`) would stay, so then it is built in a trial. *truth: is the pair's index inside? */
static size_t length_of_pair(struct elaborator *e, const struct reducing *r, enum level_value level,
                             struct ir_value *first, struct ir_value *count, struct ir_value *low,
                             struct ir_value *width, enum ir_truth *truth) {
    struct pair_length seen = {r, level, first, count, low, width, IR_UNKNOWN, GPU_BATCHED_PAIR + 1};
    if (e->guards)
        (void)elab_try(e, see_length, &seen);
    else
        see_length(e, &seen);
    *truth = seen.truth;
    return seen.length;
}

bool reduce_pairs_are_short(struct elaborator *e, const struct reducing *r) {
    struct ir_value *zero = ir_int(e->builder, 0), *pairs = ir_resolve(e->builder, r->push->update.pairs->length);
    int64_t bytes = 4; /* the index; the value comes to it */
    for (size_t k = 0; k < r->count; k++)
        bytes += base_info[r->bases.at[k]].bits / 8;
    enum ir_truth truth;
    return !r->push->update.is_each && batch_of(r) * bytes <= GPU_BUCKET_PAIRS &&
           length_of_pair(e, r, LEVEL_GRID, zero, pairs, zero, ir_resolve(e->builder, r->push->array->length),
                          &truth) <= GPU_BATCHED_PAIR;
}

/* See note [batches]. */
static bool is_worth_batching(struct elaborator *e, const struct reducing *r, struct ir_value *first,
                              struct ir_value *count, struct ir_value *low, struct ir_value *width) {
    enum ir_truth truth;
    return !r->push->update.is_each && !e->options->is_cpu && !elab_checks_all(e) && e->options->optimise > 0 &&
           count->high >= (int64_t)batch_of(r) * elab_block_threads(e) &&
           length_of_pair(e, r, LEVEL_BLOCK, first, count, low, width, &truth) <= GPU_BATCHED_PAIR;
}

/* Can the lanes of whole warps exchange registers? */
static bool has_lanes(const struct elaborator *e) {
    return e->options->has_shuffles && elab_block_threads(e) % e->options->warp_size == 0;
}

/* The threads of a block, as lanes of its warps where these are to exchange registers: *lane, or NULL. */
static struct ir_value *begin_batches(struct elaborator *e, bool by_lanes, struct ir_value **lane) {
    struct ir_builder *b = e->builder;
    *lane = NULL;
    if (!by_lanes)
        return elab_begin_threads(e, LEVEL_BLOCK, ir_int(b, elab_block_threads(e)));
    struct ir_value *lanes = ir_int(b, e->options->warp_size);
    struct ir_value *warp =
        ir_begin_forall(b, LEVEL_BLOCK, LEVEL_WARP, ir_int(b, elab_block_threads(e) / e->options->warp_size), "warp");
    *lane = ir_begin_forall(b, LEVEL_WARP, LEVEL_THREAD, lanes, "lane");
    return ir_binary(b, OP_ADD, ir_binary(b, OP_MUL, warp, lanes), *lane);
}

static void end_batches(struct elaborator *e, struct ir_value *thread, const struct ir_value *lane) {
    if (!lane) {
        elab_end_threads(e, LEVEL_BLOCK, thread);
        return;
    }
    ir_end_forall(e->builder);
    ir_end_forall(e->builder);
}

/* The element combined with those of all other lanes. */
static struct elab_value *of_all_lanes(struct elaborator *e, const struct reducing *r, struct elab_value *element,
                                       struct ir_value *lane) {
    struct ir_builder *b = e->builder;
    for (int step = e->options->warp_size / 2; step > 0; step /= 2) {
        ir_values leaves = elab_leaves(e, element);
        for (size_t k = 0; k < leaves.count; k++)
            leaves.at[k] = elab_exchange(e, leaves.at[k], ir_binary(b, OP_XOR, lane, ir_int(b, step)));
        element = elab_apply2(e, r->function, element, elab_unflatten(e, r->neutral, leaves.at));
    }
    return element;
}

/* Is the lane's index that of the first lane? */
static struct ir_value *is_as_first(struct elaborator *e, const struct elab_value *pair) {
    struct ir_value *index = elab_as_scalar(e, pair->tuple.items[0]);
    if (!index->definition && !index->region) /* a constant, or a parameter of the kernel */
        return ir_bool(e->builder, true);
    return ir_binary(e->builder, OP_EQ, index, ir_shuffle(e->builder, index, ir_int(e->builder, 0)));
}

/* How many lanes are at the place of the first one? All lanes of the warp come to it. */
static struct ir_value *number_of(struct elaborator *e, struct ir_value *is_alike) {
    if (ir_known(e->builder, is_alike) == IR_TRUE)
        return ir_int(e->builder, e->options->warp_size);
    return ir_convert(e->builder, ir_unary(e->builder, OP_POPCOUNT, ir_ballot(e->builder, is_alike)), BASE_I32);
}

/* Are there at least so many? */
static struct ir_value *meet(struct elaborator *e, const struct elab_value *pair, int least) {
    return ir_binary(e->builder, OP_LE, ir_int(e->builder, least), number_of(e, is_as_first(e, pair)));
}

/* Where all lanes add the same constants, what comes of those alike is that times their number. NULL: not so. */
static struct elab_value *of_their_number(struct elaborator *e, const struct reducing *r, struct elab_value *own,
                                          struct ir_value *is_alike) {
    struct ir_builder *b = e->builder;
    ir_values leaves = elab_leaves(e, own);
    for (size_t k = 0; k < leaves.count; k++)
        if (r->is_packed || r->is_locked || !leaves.at[k]->is_constant || !base_info[leaves.at[k]->base].is_integer ||
            r->updates[k] != UPDATE_ATOMIC || r->atomics[k] != ATOMIC_ADD)
            return NULL;
    struct ir_value *number = number_of(e, is_alike);
    for (size_t k = 0; k < leaves.count; k++)
        leaves.at[k] = ir_binary(b, OP_MUL, leaves.at[k], ir_convert(b, number, leaves.at[k]->base));
    return elab_unflatten(e, own, leaves.at);
}

/* The first lane updates its place for all that have it, each other lane its own. */
static void take_meeting(struct elaborator *e, const struct reducing *r, const struct places *places,
                         const struct elab_value *pair, struct ir_value *lane, struct ir_value *low,
                         struct ir_value *width) {
    struct ir_builder *b = e->builder;
    struct elab_value *own = pair->tuple.items[1];
    struct ir_value *is_alike = is_as_first(e, pair);
    struct elab_value *all = of_their_number(e, r, own, is_alike);
    if (!all)
        all = of_all_lanes(e, r, elab_select(e, is_alike, own, r->neutral), lane);
    struct ir_value *is_first = ir_binary(b, OP_EQ, lane, ir_int(b, 0));
    ir_begin_if(b, ir_binary(b, OP_OR, is_first, ir_unary(b, OP_NOT, is_alike)));
    take_pair(e, r, places, elab_pair(e, pair->tuple.items[0], elab_select(e, is_alike, all, own)), low, width);
    ir_end_only(b);
}

/* The same without a neutral element for the other lanes: all lanes are at one place, or each takes its own pair. */
static void take_if_all_meet(struct elaborator *e, const struct reducing *r, const struct places *places,
                             const struct elab_value *pair, struct ir_value *lane, struct ir_value *low,
                             struct ir_value *width) {
    struct ir_builder *b = e->builder;
    enum ir_truth truth = ir_begin_choice(b, meet(e, pair, e->options->warp_size));
    if (truth != IR_FALSE) {
        struct elab_value *all = of_all_lanes(e, r, pair->tuple.items[1], lane);
        ir_begin_if(b, ir_binary(b, OP_EQ, lane, ir_int(b, 0)));
        take_pair(e, r, places, elab_pair(e, pair->tuple.items[0], all), low, width);
        ir_end_only(b);
    }
    ir_other_choice(b, truth);
    if (truth != IR_TRUE)
        take_pair(e, r, places, pair, low, width);
    ir_end_choice(b, truth);
}

/* Are they known to be for one place? */
static bool are_for_one(struct elaborator *e, const struct elab_value *const *pairs, int count) {
    const struct ir_value *first = elab_as_scalar(e, pairs[0]->tuple.items[0]);
    for (int k = 1; k < count; k++) {
        const struct ir_value *index = elab_as_scalar(e, pairs[k]->tuple.items[0]);
        bool is_same_constant =
            first->is_constant && index->is_constant && first->constant.integer == index->constant.integer;
        if (index != first && !is_same_constant)
            return false;
    }
    return true;
}

/* See note [meeting]; without a lane nobody meets. */
static void take_batch(struct elaborator *e, const struct reducing *r, const struct places *places,
                       const struct elab_value *const *pairs, int count, struct ir_value *lane, struct ir_value *low,
                       struct ir_value *width) {
    struct ir_builder *b = e->builder;
    const struct elab_value *one;
    if (are_for_one(e, pairs, count)) { /* a thread combines its own first */
        struct elab_value *all = pairs[0]->tuple.items[1];
        for (int k = 1; k < count; k++)
            all = elab_apply2(e, r->function, all, pairs[k]->tuple.items[1]);
        one = elab_pair(e, pairs[0]->tuple.items[0], all);
        pairs = &one;
        count = 1;
    }
    bool may_meet = lane && r->has_neutral;
    struct ir_value *do_meet = may_meet ? meet(e, pairs[0], e->options->warp_size / 2) : ir_bool(b, false);
    enum ir_truth truth = ir_begin_choice(b, do_meet);
    if (truth != IR_FALSE)
        for (int k = 0; k < count; k++)
            take_meeting(e, r, places, pairs[k], lane, low, width);
    ir_other_choice(b, truth);
    for (int k = 0; truth != IR_TRUE && k < count; k++)
        if (lane && !r->has_neutral)
            take_if_all_meet(e, r, places, pairs[k], lane, low, width);
        else
            take_pair(e, r, places, pairs[k], low, width);
    ir_end_choice(b, truth);
}

/* The thread's own copy of the places: note [copies of lanes]. */
static struct places own_copy(struct elaborator *e, const struct places *places, struct ir_value *thread) {
    struct ir_builder *b = e->builder;
    struct places own = *places;
    if (own.lane_ways)
        own.offset = own.lock_offset = ir_binary(b, OP_AND, thread, ir_binary(b, OP_SUB, own.lane_ways, ir_int(b, 1)));
    return own;
}

/* Each thread of a block takes one batch after the other; the pairs that are left come last. */
static void take_in_batches(struct elaborator *e, const struct reducing *r, const struct places *places,
                            struct ir_value *first, struct ir_value *count, struct ir_value *low,
                            struct ir_value *width) {
    struct ir_builder *b = e->builder;
    int64_t block = elab_block_threads(e);
    int of_batch = batch_of(r);
    struct ir_value *threads = ir_int(b, block), *size = ir_int(b, of_batch * block), *lane;
    struct ir_value *batches = ir_binary(b, OP_DIV, count, size);
    struct ir_value *done = ir_binary(b, OP_MUL, batches, size), *left = ir_binary(b, OP_SUB, count, done);
    struct ir_value *thread = begin_batches(e, has_lanes(e), &lane), *own = ir_binary(b, OP_ADD, first, thread);
    struct places mine = own_copy(e, places, thread);
    struct ir_value *batch = ir_begin_for(b, batches, NULL, 0, "batch");
    struct ir_value *start = ir_binary(b, OP_ADD, own, ir_binary(b, OP_MUL, batch, size));
    ir_assume(b, ir_binary(b, OP_LE, start,
                           ir_int(b, INT32_MAX - (of_batch - 1) * block))); /* all of them are below the length */
    const struct elab_value *pairs[GPU_BATCH];
    for (int k = 0; k < of_batch; k++)
        pairs[k] = pair_at(e, r, ir_binary(b, OP_ADD, start, ir_int(b, k * block)));
    take_batch(e, r, &mine, pairs, of_batch, lane, low, width);
    ir_end_for(b, NULL, NULL);
    struct ir_value *up = ir_binary(b, OP_SUB, ir_int(b, block - 1), thread);
    struct ir_value *rounds = ir_binary(b, OP_DIV, ir_binary(b, OP_ADD, left, up), threads);
    struct ir_value *round = ir_begin_for(b, rounds, NULL, 0, "round");
    struct ir_value *at = ir_binary(b, OP_ADD, ir_binary(b, OP_ADD, own, done), ir_binary(b, OP_MUL, round, threads));
    take_pair(e, r, &mine, pair_at(e, r, at), low, width);
    ir_end_for(b, NULL, NULL);
    end_batches(e, thread, lane);
}

void reduce_take_pairs(struct elaborator *e, const struct reducing *r, const struct places *places,
                       enum level_value level, struct ir_value *first, struct ir_value *count, struct ir_value *low,
                       struct ir_value *width) {
    if (level == LEVEL_BLOCK && is_worth_batching(e, r, first, count, low, width)) {
        take_in_batches(e, r, places, first, count, low, width);
        return;
    }
    struct ir_value *i = elab_begin_threads(e, level, count);
    struct places own = own_copy(e, places, i);
    take_each(e, r, &own, ir_binary(e->builder, OP_ADD, first, i), low, width);
    elab_end_threads(e, level, i);
}

/* `count` groups from pair `start` on, of a pair for each copy of the places; a group for each of
   the level's threads. */
static void take_groups(struct elaborator *e, const struct reducing *r, const struct places *places,
                        enum level_value level, struct ir_value *start, struct ir_value *count, struct ir_value *low,
                        struct ir_value *width, bool are_inside) {
    struct ir_builder *b = e->builder;
    struct ir_value *ways = ir_int(b, CPU_WAYS);
    struct ir_value *group = elab_begin_threads(e, level, count);
    struct ir_value *first = ir_binary(b, OP_ADD, start, ir_binary(b, OP_MUL, group, ways));
    struct ir_value *way = ir_begin_for(b, ways, NULL, 0, "way");
    struct places copy = *places;
    copy.offset = copy.lock_offset = ir_binary(b, OP_MUL, way, places->stride);
    struct ir_value *which = ir_binary(b, OP_ADD, first, way);
    if (are_inside) {
        struct elab_value *pair = pair_at(e, r, which);
        struct ir_value *index = elab_as_scalar(e, pair->tuple.items[0]);
        ir_assume(b, is_between(e, low, index, index, width));
        put_pair(e, r, &copy, pair, low);
    } else {
        take_each(e, r, &copy, which, low, width);
    }
    ir_end_for(b, NULL, NULL);
    elab_end_threads(e, level, group);
}

/* True if the indices of `count` pairs from `start` on are all inside. */
static struct ir_value *look(struct elaborator *e, const struct reducing *r, struct ir_value *start, int64_t count,
                             struct ir_value *low, struct ir_value *width) {
    struct ir_builder *b = e->builder;
    struct ir_value *bounds[2] = {ir_int(b, INT32_MAX), ir_int(b, INT32_MIN)};
    struct ir_value *i = ir_begin_for(b, ir_int(b, count), bounds, 2, "look");
    struct ir_value *index = elab_as_scalar(e, pair_at(e, r, ir_binary(b, OP_ADD, start, i))->tuple.items[0]);
    struct ir_value *next[2] = {ir_binary(b, OP_MIN, bounds[0], index), ir_binary(b, OP_MAX, bounds[1], index)};
    ir_end_for(b, next, bounds);
    return is_between(e, low, bounds[0], bounds[1], width);
}

/* Is it little that a pair takes, of so many at least? *truth: is its index inside? */
static bool is_short(struct elaborator *e, const struct reducing *r, struct ir_value *first, struct ir_value *count,
                     struct ir_value *low, struct ir_value *width, enum ir_truth *truth) {
    return !r->push->update.is_each && !elab_checks_all(e) && e->options->optimise > 0 &&
           count->high >= CPU_GROUPS * CPU_WAYS &&
           length_of_pair(e, r, LEVEL_BLOCK, first, count, low, width, truth) <= CPU_LOOKED_AT;
}

/* See note [looking first]. */
static bool is_worth_looking(struct elaborator *e, const struct reducing *r, struct ir_value *first,
                             struct ir_value *count, struct ir_value *low, struct ir_value *width) {
    enum ir_truth truth;
    return is_short(e, r, first, count, low, width, &truth) && truth == IR_UNKNOWN;
}

/* Groups of pairs from `first` on, then those that are left. */
static void take_in_groups(struct elaborator *e, const struct reducing *r, const struct places *places,
                           struct ir_value *first, struct ir_value *count, struct ir_value *low,
                           struct ir_value *width) {
    struct ir_builder *b = e->builder;
    struct ir_value *ways = ir_int(b, CPU_WAYS), *groups = ir_binary(b, OP_DIV, count, ways);
    take_groups(e, r, places, LEVEL_BLOCK, first, groups, low, width, false);
    reduce_take_pairs(e, r, places, LEVEL_BLOCK, ir_binary(b, OP_ADD, first, ir_binary(b, OP_MUL, groups, ways)),
                      ir_binary(b, OP_REM, count, ways), low, width);
}

void reduce_take_in_order(struct elaborator *e, const struct reducing *r, const struct places *places,
                          struct ir_value *first, struct ir_value *count, struct ir_value *low,
                          struct ir_value *width) {
    enum ir_truth truth;
    if (!e->options->is_cpu || !is_short(e, r, first, count, low, width, &truth)) {
        reduce_take_pairs(e, r, places, LEVEL_BLOCK, first, count, low, width);
        return;
    }
    struct places one = *places; /* all go to the same copy */
    one.stride = ir_int(e->builder, 0);
    take_in_groups(e, r, &one, first, count, low, width);
}

void reduce_take_in_turns(struct elaborator *e, const struct reducing *r, const struct places *places,
                          struct ir_value *first, struct ir_value *count, struct ir_value *low,
                          struct ir_value *width) {
    struct ir_builder *b = e->builder;
    if (is_worth_looking(e, r, first, count, low, width)) {
        enum { SIZE = CPU_GROUPS * CPU_WAYS };
        struct ir_value *size = ir_int(b, SIZE), *groups = ir_int(b, CPU_GROUPS);
        struct ir_value *looks = ir_binary(b, OP_DIV, count, size);
        struct ir_value *turn = elab_begin_threads(e, LEVEL_BLOCK, looks);
        struct ir_value *start = ir_binary(b, OP_ADD, first, ir_binary(b, OP_MUL, turn, size));
        ir_assume(b,
                  ir_binary(b, OP_LE, start, ir_int(b, INT32_MAX - SIZE + 1))); /* all of them are below the length */
        ir_begin_if(b, look(e, r, start, SIZE, low, width));
        take_groups(e, r, places, LEVEL_THREAD, start, groups, low, width, true);
        ir_else(b, NULL, 0);
        take_groups(e, r, places, LEVEL_THREAD, start, groups, low, width, false);
        ir_end_if(b, NULL, NULL, 0, false);
        elab_end_threads(e, LEVEL_BLOCK, turn);
        first = ir_binary(b, OP_ADD, first, ir_binary(b, OP_MUL, looks, size));
        count = ir_binary(b, OP_REM, count, size);
    }
    take_in_groups(e, r, places, first, count, low, width);
}
