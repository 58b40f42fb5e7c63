/* rankByIndex: of each index, how many before it are equal.

   It is a primitive, as `lookbackCounts` is, because sorts by a digit need both: ranks need counters
   that a warp changes as it goes through its elements, which no pure array is. Written with scans of
   packed counters, a pass was two sorts by four bits.

   note [matching]
   Where lanes exchange registers, each warp has a counter for each bucket and goes through a share
   of the indices, one for each lane at a time, in order. The lanes with the same index find each other by a match
   of each of its bits; the last of them adds how many they are to the bucket's counter and tells
   them what it was before. Then each bucket's counters are summed up over the warps. A lane keeps
   its ranks until they are asked for, in an array of which each thread has places of its own, so
   that registers can take it. Elsewhere one thread goes through all indices, which is what a
   processor does best. */
#include "elaborate/check.h"
#include "elaborate/evaluate.h"
#include "elaborate/primitive.h"
#include "elaborate/push.h"

struct ranks {
    struct pull *indices;
    struct ir_value *buckets;
    struct ir_buffer *kept; /* of each place its rank, or what the place's lane has of it */
    struct ir_buffer
        *counters; /* of each warp, each bucket: how many there are in warps before; NULL: `kept` says it all */
    struct ir_value *warps, *rounds;
};

static struct ir_buffer *shared_ints(struct elaborator *e, struct ir_value *capacity, const char *name) {
    struct ir_buffer *buffer = ir_buffer_new(e->builder, MEMORY_SHARED, LEVEL_BLOCK, BASE_I32, capacity, name);
    buffer->rewritten = true;
    buffer->span = e->span;
    ir_allocate(e->builder, buffer);
    return buffer;
}

static void fill_with_zeros(struct elaborator *e, struct ir_buffer *buffer, struct ir_value *count) {
    struct ir_value *i = elab_begin_threads(e, LEVEL_BLOCK, count);
    ir_store(e->builder, buffer, i, ir_int(e->builder, 0));
    elab_end_threads(e, LEVEL_BLOCK, i);
}

static struct ir_value *is_bucket(struct elaborator *e, const struct ranks *ranks, struct ir_value *index) {
    return elab_is_inside(e, index, ranks->buckets);
}

/* A branch, where the condition is not known to hold. end_where: what it gives, and otherwise. */
static enum ir_truth begin_where(struct elaborator *e, struct ir_value *condition) {
    enum ir_truth truth = ir_known(e->builder, condition);
    if (truth != IR_TRUE)
        ir_begin_if(e->builder, condition);
    return truth;
}

static struct ir_value *end_where(struct elaborator *e, enum ir_truth truth, struct ir_value *given,
                                  struct ir_value *otherwise) {
    if (truth == IR_TRUE)
        return given;
    size_t count = given ? 1 : 0;
    ir_else(e->builder, &given, count);
    ir_end_if(e->builder, &otherwise, &given, count, false);
    return given;
}

/* ---- by warps ---- */

/* The lanes with the same index, this one among them, as bits. */
static struct ir_value *lanes_alike(struct elaborator *e, const struct ranks *ranks, struct ir_value *index,
                                    struct ir_value *counts) {
    struct ir_builder *b = e->builder;
    struct ir_value *one = ir_int(b, 1), *zero = ir_int(b, 0), *result;
    struct ir_value *word = ir_convert(b, index, BASE_U32);
    struct ir_value *all = elab_lanes(e, UINT64_MAX);
    struct ir_value *alike = ir_known(b, counts) == IR_TRUE ? all : ir_ballot(b, counts);
    struct ir_value *most = ir_binary(b, OP_MAX, zero, ir_binary(b, OP_SUB, ranks->buckets, one));
    struct ir_value *bits = ir_binary(b, OP_SUB, ir_int(b, 32), ir_unary(b, OP_CLZ, most));
    struct ir_value *bit = ir_begin_for(b, bits, &alike, 1, "bit");
    struct ir_value *first = ir_constant(b, BASE_U32, (union scalar){.natural = 1});
    struct ir_value *same = ir_match(b, word, ir_binary(b, OP_SHL, first, ir_convert(b, bit, BASE_U32)));
    struct ir_value *next = ir_binary(b, OP_AND, alike, same);
    ir_end_for(b, &next, &result);
    return result;
}

/* The counter's value before these lanes, plus the number of those before this one. The last of the lanes
   adds their number to the counter. */
static struct ir_value *count_alike(struct elaborator *e, const struct ranks *ranks, struct ir_value *lane,
                                    struct ir_value *alike, struct ir_value *counter, struct ir_value *counts) {
    struct ir_builder *b = e->builder;
    struct ir_value *one = elab_lanes(e, 1), *zero = ir_int(b, 0), *most = ir_int(b, e->options->warp_size - 1);
    struct ir_value *below = ir_binary(b, OP_SUB, ir_binary(b, OP_SHL, one, ir_convert(b, lane, one->base)), one);
    struct ir_value *before = ir_unary(b, OP_POPCOUNT, ir_binary(b, OP_AND, alike, below));
    struct ir_value *last = ir_binary(b, OP_AND, ir_binary(b, OP_SUB, most, ir_unary(b, OP_CLZ, alike)),
                                      most); /* the last lane of one that does not count */
    ir_begin_if(b, ir_binary(b, OP_AND, counts, ir_binary(b, OP_EQ, lane, last)));
    struct ir_value *old =
        ir_atomic(b, ATOMIC_ADD, ranks->counters, counter, ir_binary(b, OP_ADD, before, ir_int(b, 1)));
    ir_else(b, &old, 1);
    ir_end_if(b, &zero, &old, 1, false);
    /* An exchange of registers orders no memory, and in the next round other lanes go on counting. */
    ir_fence(b, LEVEL_WARP);
    return ir_binary(b, OP_ADD, ir_shuffle(b, old, last), before);
}

struct turn {
    struct ir_value *warp, *lane, *round;
    struct ir_value *place; /* of the indices */
    struct ir_value *slot;  /* of `kept` */
};

static struct turn begin_turns(struct elaborator *e, const struct ranks *ranks) {
    struct ir_builder *b = e->builder;
    struct ir_value *lanes = ir_int(b, e->options->warp_size);
    struct turn turn;
    turn.warp = ir_begin_forall(b, LEVEL_BLOCK, LEVEL_WARP, ranks->warps, "warp");
    turn.lane = ir_begin_forall(b, LEVEL_WARP, LEVEL_THREAD, lanes, "lane");
    turn.round = ir_begin_for(b, ranks->rounds, NULL, 0, "round");
    struct ir_value *before = ir_binary(b, OP_ADD, ir_binary(b, OP_MUL, turn.warp, ranks->rounds), turn.round);
    turn.place = ir_binary(b, OP_ADD, ir_binary(b, OP_MUL, before, lanes), turn.lane);
    struct ir_value *thread = ir_binary(b, OP_ADD, ir_binary(b, OP_MUL, turn.warp, lanes), turn.lane);
    struct ir_value *threads = ir_binary(b, OP_MUL, ranks->warps, lanes);
    turn.slot = ir_binary(b, OP_ADD, ir_binary(b, OP_MUL, turn.round, threads), thread);
    return turn;
}

static void end_turns(struct elaborator *e) {
    ir_end_for(e->builder, NULL, NULL);
    ir_end_forall(e->builder);
    ir_end_forall(e->builder);
}

static struct ir_value *index_at(struct elaborator *e, const struct ranks *ranks, struct ir_value *place) {
    struct ir_builder *b = e->builder;
    enum ir_truth is_there = begin_where(e, ir_binary(b, OP_LT, place, ir_resolve(b, ranks->indices->length)));
    struct ir_value *index = elab_as_scalar(e, elab_index(e, ranks->indices, place));
    return end_where(e, is_there, index, ir_int(b, -1));
}

static struct ir_value *counter_of(struct elaborator *e, const struct ranks *ranks, struct ir_value *warp,
                                   struct ir_value *index) {
    struct ir_builder *b = e->builder;
    return ir_binary(b, OP_ADD, ir_binary(b, OP_MUL, warp, ranks->buckets), index);
}

/* Each bucket's counters become what is in it before the warp; together they are the count. */
static void sum_up(struct elaborator *e, const struct ranks *ranks, struct ir_buffer *counts) {
    struct ir_builder *b = e->builder;
    struct ir_value *bucket = elab_begin_threads(e, LEVEL_BLOCK, ranks->buckets), *sum = ir_int(b, 0);
    struct ir_value *warp = ir_begin_for(b, ranks->warps, &sum, 1, "warp");
    struct ir_value *at = counter_of(e, ranks, warp, bucket), *count = ir_load(b, ranks->counters, at);
    ir_store(b, ranks->counters, at, sum);
    struct ir_value *next = ir_binary(b, OP_ADD, sum, count);
    ir_end_for(b, &next, &sum);
    ir_store(b, counts, bucket, sum);
    elab_end_threads(e, LEVEL_BLOCK, bucket);
}

static void rank_by_warps(struct elaborator *e, struct ranks *ranks, struct ir_value *room, struct ir_value *most,
                          struct ir_buffer *counts) {
    struct ir_builder *b = e->builder;
    int64_t threads = elab_block_threads(e);
    struct ir_region *here = elab_enter_host(e); /* the host computes capacities */
    struct ir_value *count = ir_int(b, threads);
    ranks->warps = ir_int(b, threads / e->options->warp_size);
    ranks->rounds = ir_binary(b, OP_DIV, elab_sum_of_bounds(e, room, ir_int(b, threads - 1)), count);
    struct ir_value *kept = elab_product_of_bounds(e, ranks->rounds, count);
    struct ir_value *counters = elab_product_of_bounds(e, ranks->warps, most);
    ir_leave(b, here);
    ranks->kept = shared_ints(e, kept, "ranks");
    ranks->counters = shared_ints(e, counters, "counters");
    fill_with_zeros(e, ranks->counters, ir_binary(b, OP_MUL, ranks->warps, ranks->buckets));
    bool before = ir_set_overwrites(b, true);
    struct turn turn = begin_turns(e, ranks);
    struct ir_value *index = index_at(e, ranks, turn.place), *counts_it = is_bucket(e, ranks, index);
    struct ir_value *alike = lanes_alike(e, ranks, index, counts_it);
    struct ir_value *counter = counter_of(e, ranks, turn.warp, index);
    ir_store(b, ranks->kept, turn.slot, count_alike(e, ranks, turn.lane, alike, counter, counts_it));
    end_turns(e);
    sum_up(e, ranks, counts);
    ir_set_overwrites(b, before);
}

/* ---- by one thread ---- */

static void rank_by_one(struct elaborator *e, struct ranks *ranks, struct ir_value *room, struct ir_buffer *counts) {
    struct ir_builder *b = e->builder;
    struct ir_value *zero = ir_int(b, 0), *one = ir_int(b, 1);
    ranks->kept = shared_ints(e, room, "ranks");
    fill_with_zeros(e, counts, ranks->buckets);
    bool before = ir_set_overwrites(b, true);
    ir_begin_forall(b, LEVEL_BLOCK, LEVEL_THREAD, one, "one");
    struct ir_value *place = ir_begin_for(b, ir_resolve(b, ranks->indices->length), NULL, 0, "i");
    struct ir_value *index = elab_as_scalar(e, elab_index(e, ranks->indices, place));
    enum ir_truth counts_it = begin_where(e, is_bucket(e, ranks, index));
    struct ir_value *rank = ir_load(b, counts, index);
    ir_store(b, counts, index, ir_binary(b, OP_ADD, rank, one));
    ir_store(b, ranks->kept, place, end_where(e, counts_it, rank, zero));
    ir_end_for(b, NULL, NULL);
    ir_end_forall(b);
    ir_set_overwrites(b, before);
}

/* ---- the primitive ---- */

/* See note [matching]. */
void elab_run_rank_by_index(struct elaborator *e, struct push *push, const struct writer *writer) {
    struct ir_builder *b = e->builder;
    const struct ranks *ranks = push->ranks;
    if (!ranks->counters) {
        struct ir_value *i = elab_begin_threads(e, LEVEL_BLOCK, ir_resolve(b, ranks->indices->length));
        writer->write(e, writer, i, elab_scalar(e, ir_load(b, ranks->kept, i)));
        elab_end_threads(e, LEVEL_BLOCK, i);
        return;
    }
    struct turn turn = begin_turns(e, ranks);
    enum ir_truth is_there = begin_where(e, ir_binary(b, OP_LT, turn.place, ir_resolve(b, ranks->indices->length)));
    struct ir_value *index = elab_as_scalar(e, elab_index(e, ranks->indices, turn.place));
    enum ir_truth counts_it = begin_where(e, is_bucket(e, ranks, index));
    struct ir_value *in_warp = ir_load(b, ranks->kept, turn.slot);
    struct ir_value *rank =
        ir_binary(b, OP_ADD, in_warp, ir_load(b, ranks->counters, counter_of(e, ranks, turn.warp, index)));
    writer->write(e, writer, turn.place, elab_scalar(e, end_where(e, counts_it, rank, ir_int(b, 0))));
    end_where(e, is_there, NULL, NULL);
    end_turns(e);
}

PRIMITIVE(RANK_BY_INDEX) {
    struct ir_builder *b = e->builder;
    struct ranks *ranks = ARENA_NEW(e->arena, struct ranks);
    ranks->indices = elab_as_pull(e, arguments[1]);
    ranks->buckets = elab_given_length(e, arguments[0]);
    struct elab_value *push = NEW_PUSH(RANK_BY_INDEX, LEVEL_BLOCK, .array = ranks->indices, .ranks = ranks);
    if (e->shape)
        return elab_pair(e, push, elab_of_pull(e, elab_unknown_array(e, &elab_int_type, ranks->buckets)));
    struct ir_value *room = elab_capacity(e, ranks->indices->length, LEVEL_BLOCK);
    struct ir_value *most = elab_capacity(e, ranks->buckets, LEVEL_BLOCK);
    struct ir_buffer **counts = ARENA_ARRAY(e->arena, struct ir_buffer *, 1);
    counts[0] = shared_ints(e, most, "counts");
    if (e->options->has_shuffles && elab_block_threads(e) % e->options->warp_size == 0)
        rank_by_warps(e, ranks, room, most, counts[0]);
    else
        rank_by_one(e, ranks, room, counts[0]);
    return elab_pair(e, push,
                     elab_of_pull(e, elab_stored(e, &elab_int_type, counts, NULL, ir_resolve(b, ranks->buckets))));
}
