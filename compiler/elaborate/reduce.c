/* reduceByIndex: generalised reduction (Rasmussen et al., paper 002 of the design notes). Every
   pair changes one place of an array by the operator; threads exclude each other per place.

   note [own buckets]
   At grid, threads of the whole device would meet at few places. So where there are enough pairs
   for it, each of some blocks combines a part of the pairs in buckets of its own, in shared
   memory, which begin as the neutral element, and these are then combined with the array. Buckets
   that do not fit are done a range at a time: one pass over the pairs each.

   note [much shared memory]
   Every GPU gives a block 48 KiB. Newer ones give more where a launch asks for it, up to 227 KiB, but
   then a multiprocessor has few blocks, and those of a few hundred threads. So a launch asks for more
   where buckets do not fit otherwise, the device is known, and there are pairs for as many such blocks
   as it has multiprocessors. That saves passes over the pairs.

   note [threads of buckets]
   A block whose buckets take all shared memory is alone on its multiprocessor, of which 256 threads
   leave much idle: 1,024 are 1.7 to 2.5 times as fast (benchmarks/results/LOG.md), and as
   fast where buckets are few. So these launches have blocks of so many, unless #BlockSize is given,
   or what a pair takes needs more registers than such a thread has. #BlockSize stays what it is.

   note [copies]
   Where even that would take too many passes, but there are fewer places than threads, the places
   are copied in global memory: blocks share out the copies, and so meet less often. The first copy
   would be the array itself; but then the rest would need other code, so all copies begin as the
   neutral element, and a last launch combines each place's copies in order.

   note [copies of lanes]
   Lanes of a warp whose pairs go to one of a few buckets wait for each other: of 16 buckets with as
   many pairs in each, for four others mostly. So where a block's own buckets are few, a GPU has as
   many as 32 copies of them, side by side, and each lane updates the copy of its number: with 32,
   no two lanes are at one place, nor at one bank of shared memory. Copies are combined as all are,
   so there must be pairs for them, too. */
#include "elaborate/reduce.h"
#include "elaborate/check.h"
#include "elaborate/evaluate.h"
#include "elaborate/primitive.h"
#include "elaborate/push.h"

/* ---- phases ---- */

/* New buffers for that many places, allocated here. */
static struct places new_places(struct elaborator *e, const struct reducing *r, enum level_value level,
                                struct ir_value *capacity, const char *name) {
    struct ir_builder *b = e->builder;
    struct places places = {.count = r->is_packed ? 1 : r->count};
    places.buffers = ARENA_ARRAY(e->arena, struct ir_buffer *, places.count);
    enum ir_memory memory = elab_memory(level);
    for (size_t k = 0; k < places.count; k++) {
        enum base base = r->is_packed ? r->word : reduce_kept_base(r, k);
        places.buffers[k] = ir_buffer_new(b, memory, level, base, capacity, name);
        places.buffers[k]->rewritten = true;
        places.buffers[k]->span = r->push->span;
        ir_allocate(b, places.buffers[k]);
    }
    return places;
}

static void add_lock(struct elaborator *e, const struct reducing *r, struct places *places, enum level_value level,
                     struct ir_value *capacity) {
    if (!r->is_locked)
        return;
    places->lock = ir_buffer_new(e->builder, elab_memory(level), level, BASE_I32, capacity, "locks");
    places->lock->rewritten = true;
    places->lock->is_zeroed = level == LEVEL_GRID;
    places->lock->span = r->push->span;
    ir_allocate(e->builder, places->lock);
}

static void free_locks(struct elaborator *e, const struct places *places, struct ir_value *place) {
    if (places->lock && !places->lock->is_zeroed)
        ir_store(e->builder, places->lock, place, ir_int(e->builder, 0));
}

/* `count` places from `start` on become the neutral element. */
static void empty_places(struct elaborator *e, const struct reducing *r, const struct places *places,
                         struct ir_value *start, struct ir_value *count) {
    struct ir_value *h = elab_begin_threads(e, LEVEL_BLOCK, count);
    struct ir_value *place = ir_binary(e->builder, OP_ADD, start, h);
    reduce_write(e, r, places, place, r->neutral);
    free_locks(e, places, place);
    elab_end_threads(e, LEVEL_BLOCK, h);
}

/* The places of all copies, from one on. */
static void empty_ways(struct elaborator *e, const struct reducing *r, const struct places *places,
                       struct ir_value *from, struct ir_value *width) {
    struct ir_builder *b = e->builder;
    if (!places->ways) {
        empty_places(e, r, places, ir_int(b, 0), width);
        return;
    }
    struct ir_value *count = ir_binary(b, OP_SUB, places->ways, from);
    if (width == places->stride) { /* there is nothing between them */
        empty_places(e, r, places, ir_binary(b, OP_MUL, from, width), ir_binary(b, OP_MUL, count, width));
        return;
    }
    struct ir_value *way = ir_begin_for(b, count, NULL, 0, "way");
    struct ir_value *start = ir_binary(b, OP_MUL, ir_binary(b, OP_ADD, from, way), places->stride);
    empty_places(e, r, places, start, width);
    ir_end_for(b, NULL, NULL);
}

/* Places begin as the array says. */
static void fill(struct elaborator *e, const struct reducing *r, const struct places *places, enum level_value level) {
    struct pull *array = r->push->array;
    struct ir_value *h = elab_begin_threads(e, level, ir_resolve(e->builder, array->length));
    elab_begin_start(e, r->push);
    reduce_write(e, r, places, h, elab_index(e, array, h));
    elab_end_start(e);
    free_locks(e, places, h);
    elab_end_threads(e, level, h);
}

/* A place's copies: at `first`, `first + step` and so on, of that number. */
struct copies {
    struct ir_value *first, *step, *count;
    struct ir_value *begin; /* the number of the first that is read, where `count` is a power of two; NULL: 0 */
};

/* The element combined with all copies. */
static struct elab_value *fold_places(struct elaborator *e, const struct reducing *r, const struct places *places,
                                      struct elab_value *element, const struct copies *copies) {
    struct ir_builder *b = e->builder;
    ir_values leaves = elab_leaves(e, element);
    struct ir_value **carried = ARENA_ARRAY(e->arena, struct ir_value *, leaves.count);
    struct ir_value **results = ARENA_ARRAY(e->arena, struct ir_value *, leaves.count);
    memcpy(carried, leaves.at, leaves.count * sizeof *carried);
    struct ir_value *copy = ir_begin_for(b, copies->count, carried, leaves.count, "copy");
    struct elab_value *so_far = elab_unflatten(e, r->neutral, carried);
    if (copies->begin)
        copy = ir_binary(b, OP_AND, ir_binary(b, OP_ADD, copy, copies->begin),
                         ir_binary(b, OP_SUB, copies->count, ir_int(b, 1)));
    struct ir_value *at = ir_binary(b, OP_ADD, ir_binary(b, OP_MUL, copy, copies->step), copies->first);
    ir_values combined = elab_leaves(e, elab_apply2(e, r->function, so_far, reduce_read(e, r, places, at)));
    ir_end_for(b, combined.at, results);
    return elab_unflatten(e, r->neutral, results);
}

/* Combines the copies of a place that lie side by side. Threads begin with different copies, so that those of a warp
   read different banks. */
static struct elab_value *read_lane_ways(struct elaborator *e, const struct reducing *r, const struct places *places,
                                         struct ir_value *place) {
    struct ir_builder *b = e->builder;
    struct places all = *places;
    all.lane_ways = NULL;
    struct ir_value *ways = places->lane_ways, *start = ir_binary(b, OP_MUL, place, ways);
    struct ir_value *row = ir_binary(b, OP_DIV, start, ir_int(b, GPU_BANKS));
    return fold_places(e, r, &all, r->neutral,
                       &(struct copies){.first = start, .step = ir_int(b, 1), .count = ways, .begin = row});
}

/* Combines a place with its copies. */
static struct elab_value *read_ways(struct elaborator *e, const struct reducing *r, const struct places *places,
                                    struct ir_value *place) {
    struct ir_builder *b = e->builder;
    if (places->lane_ways)
        return read_lane_ways(e, r, places, place);
    struct elab_value *element = reduce_read(e, r, places, place);
    if (!places->ways)
        return element;
    struct ir_value *others = ir_binary(b, OP_SUB, places->ways, ir_int(b, 1));
    return fold_places(e, r, places, element,
                       &(struct copies){ir_binary(b, OP_ADD, place, places->stride), places->stride, others, NULL});
}

static void hand_on(struct elaborator *e, const struct reducing *r, const struct places *places, enum level_value level,
                    const struct writer *writer) {
    struct ir_value *h = elab_begin_threads(e, level, ir_resolve(e->builder, r->push->array->length));
    writer->write(e, writer, h, read_ways(e, r, places, h));
    elab_end_threads(e, level, h);
}

/* ---- below grid ---- */

static bool are_in(const struct writer *writer, enum ir_memory memory) {
    for (size_t i = 0; i < writer->buffer_count; i++)
        if (writer->buffers[i]->memory != memory)
            return false;
    return true;
}

/* Can the places be updated where the writer wants them? Narrow ones at grid only: a block's words
   may end in memory of others, which these write plainly. */
static bool keeps_plainly(const struct reducing *r, const struct writer *writer) {
    return elab_writes_plainly(writer) && !r->is_packed && (!r->has_narrow || r->push->level == LEVEL_GRID);
}

static struct places places_of(struct writer const *writer) {
    for (size_t k = 0; k < writer->buffer_count; k++)
        writer->buffers[k]->rewritten = true;
    return (struct places){
        .buffers = writer->buffers, .count = writer->buffer_count, .offset = writer->offset, .is_result = true};
}

static int64_t place_bytes(const struct reducing *r) {
    if (r->is_packed)
        return base_info[r->word].bits / 8;
    int64_t bytes = r->is_locked ? 4 : 0;
    for (size_t k = 0; k < r->count; k++)
        bytes += base_info[reduce_kept_base(r, k)].bits / 8;
    return bytes;
}

static int64_t most_in_ways(const struct reducing *r) { return CPU_FIRST_CACHE / CPU_WAYS / place_bytes(r); }

/* For many pairs and few places on a CPU: in copies, as add_ways says, that are combined at the end. */
static void run_in_turns(struct elaborator *e, const struct reducing *r, const struct writer *writer) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = ir_resolve(b, r->push->array->length), *zero = ir_int(b, 0);
    struct ir_value *capacity = ir_int(b, length->high * CPU_WAYS);
    struct places places = new_places(e, r, LEVEL_BLOCK, capacity, "buckets");
    add_lock(e, r, &places, LEVEL_BLOCK, capacity);
    places.ways = ir_int(b, CPU_WAYS);
    places.stride = ir_int(b, length->high);
    elab_note_copied(e, r->push, UPDATE_COPIES_FEW);
    fill(e, r, &places, LEVEL_BLOCK);
    empty_ways(e, r, &places, ir_int(b, 1), length);
    reduce_take_in_turns(e, r, &places, zero, ir_resolve(b, r->push->update.pairs->length), zero, length);
    hand_on(e, r, &places, LEVEL_BLOCK, writer);
}

/* At block and at warp. */
static void run_at_unit(struct elaborator *e, const struct reducing *r, const struct writer *writer) {
    struct ir_builder *b = e->builder;
    enum level_value level = r->push->level;
    struct ir_value *length = ir_resolve(b, r->push->array->length);
    struct ir_value *count = ir_resolve(b, r->push->update.pairs->length), *zero = ir_int(b, 0);
    if (e->options->is_cpu && level == LEVEL_BLOCK && length->high > 0 && length->high <= most_in_ways(r) &&
        count->low >= ANY_PAIRS_PER_BUCKET * CPU_WAYS * length->high) {
        run_in_turns(e, r, writer);
        return;
    }
    bool fits = length->high <= e->options->shared_bytes / place_bytes(r);
    bool is_shared = are_in(writer, MEMORY_SHARED);
    bool in_place = keeps_plainly(r, writer) && (is_shared || !fits);
    if (is_shared && elab_writes_plainly(writer) && !in_place)
        elab_note_copied(e, r->push, r->is_packed ? UPDATE_COPIES_WORDS : UPDATE_COPIES_NARROW);
    struct ir_value *capacity = r->is_locked || !in_place ? elab_capacity(e, length, level) : NULL;
    struct places places = in_place ? places_of(writer) : new_places(e, r, level, capacity, "buckets");
    add_lock(e, r, &places, level, capacity);
    fill(e, r, &places, level);
    bool before = ir_set_overwrites(b, true);
    reduce_take_pairs(e, r, &places, level, zero, count, zero, length);
    ir_set_overwrites(b, before);
    if (!in_place)
        hand_on(e, r, &places, level, writer);
}

/* One thread alone updates its places as they are. */
static void run_at_thread(struct elaborator *e, struct reducing *r, const struct writer *writer) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = ir_resolve(b, r->push->array->length), *zero = ir_int(b, 0);
    r->is_packed = r->is_locked = r->has_narrow = false;
    r->is_alone = true;
    bool in_place = elab_writes_plainly(writer);
    struct places places = in_place ? places_of(writer)
                                    : new_places(e, r, LEVEL_THREAD, elab_capacity(e, length, LEVEL_THREAD), "buckets");
    fill(e, r, &places, LEVEL_THREAD);
    bool before = ir_set_overwrites(b, true);
    reduce_take_pairs(e, r, &places, LEVEL_THREAD, zero, ir_resolve(b, r->push->update.pairs->length), zero, length);
    ir_set_overwrites(b, before);
    if (!in_place)
        hand_on(e, r, &places, LEVEL_THREAD, writer);
}

/* ---- at grid ---- */

struct own_buckets {
    struct ir_value *limit;  /* buckets that fit */
    struct ir_value *width;  /* of them that are used */
    struct ir_value *passes; /* over the pairs */
    struct ir_value *blocks; /* with buckets of their own */
    struct ir_value *worthwhile;
    struct ir_value *copies; /* of all places, where that is not; 1: the array itself is updated */
    int threads;             /* of each block: note [threads of buckets] */
};

/* So many blocks, or what #GridSize says where that is less. */
static struct ir_value *most_blocks(const struct elaborator *e, int blocks) {
    return ir_int(e->builder, blocks < e->options->grid_size ? blocks : e->options->grid_size);
}

/* See note [threads of buckets]. */
static int own_threads(struct elaborator *e, const struct reducing *r) {
    return e->options->bucket_threads && reduce_pairs_are_short(e, r) ? e->options->bucket_threads
                                                                      : e->options->block_size;
}

/* See note [own buckets], note [much shared memory] and note [copies]. */
static struct own_buckets plan_buckets(struct elaborator *e, const struct reducing *r) {
    struct ir_builder *b = e->builder;
    bool is_cpu = e->options->is_cpu;
    struct ir_value *said = r->push->update.bytes, *zero = ir_int(b, 0);
    struct ir_value *length = ir_resolve(b, r->push->array->length),
                    *pairs = ir_resolve(b, r->push->update.pairs->length);
    struct ir_value *size = ir_int(b, place_bytes(r)), *least = ir_int(b, ANY_PAIRS_PER_BUCKET);
    struct ir_value *usual = *ELAB_PRELUDE(e, BUCKET_BYTES, ir_int(b, e->options->shared_bytes),
                                           ir_int(b, e->options->shared_most - GPU_OTHER_SHARED), size,
                                           ir_int(b, GPU_LARGE_BLOCKS), r->push->update.blocks, length, pairs, least);
    struct ir_value *bytes = ir_ternary(b, OP_SELECT, ir_binary(b, OP_LT, zero, said), said, usual);
    struct ir_value *is_large = ir_binary(b, OP_LT, ir_int(b, e->options->shared_bytes), bytes);
    int threads = own_threads(e, r);
    struct ir_value *few = most_blocks(e, GPU_LARGE_BLOCKS),
                    *many = most_blocks(e, (GPU_BUCKET_THREADS + threads - 1) / threads);
    struct ir_value *most = is_cpu ? ir_int(b, CPU_BLOCKS) : ir_ternary(b, OP_SELECT, is_large, few, many);
    struct ir_value *const *plan =
        ELAB_PRELUDE(e, PLAN_BUCKETS, bytes, r->push->update.blocks, r->push->update.passes, r->push->update.copies,
                     size, length, pairs, least, ir_int(b, is_cpu ? CPU_WAYS : 1), most, ir_int(b, ANY_LEAST_BLOCKS));
    return (struct own_buckets){plan[0], plan[1], plan[2], plan[3], plan[4], plan[5], threads};
}

/* A block's buckets are combined with the array; those that nothing came to are left out. */
static void combine(struct elaborator *e, const struct reducing *r, const struct places *own,
                    const struct places *places, struct ir_value *low, struct ir_value *width) {
    struct ir_builder *b = e->builder;
    struct ir_value *h = elab_begin_threads(e, LEVEL_BLOCK, width);
    struct elab_value *element = read_ways(e, r, own, h);
    ir_values leaves = elab_leaves(e, element), neutral = elab_leaves(e, r->neutral);
    struct ir_value *is_used = ir_bool(b, false);
    for (size_t k = 0; k < r->count; k++)
        is_used = ir_binary(b, OP_OR, is_used,
                            ir_binary(b, OP_NE, ir_bits(e->builder, leaves.at[k]), ir_bits(e->builder, neutral.at[k])));
    ir_begin_if(b, is_used);
    reduce_update(e, r, places, ir_binary(b, OP_ADD, low, h), element);
    ir_end_only(b);
    elab_end_threads(e, LEVEL_BLOCK, h);
}

/* The pairs of one block.

   note [shares]
   On GPUs a block begins where a sector of memory does: shares are equal, the last ones maybe less or nothing. On CPUs
   the difference between two is at most 1, by a division for each block: no least of two is
   in places (QUIRK_LEAST_OF_PLACES of map/quirks). */
struct share {
    struct ir_value *blocks; /* how many there are */
    struct ir_value *size;   /* on GPUs, of all, computed before the blocks begin */
    struct ir_value *first, *count;
};

/* See note [shares]. */
static struct share even_shares(struct elaborator *e, struct ir_value *pairs, struct ir_value *blocks) {
    struct ir_value *sector = ir_int(e->builder, GPU_SECTOR);
    return (struct share){.blocks = blocks,
                          .size = e->options->is_cpu ? NULL : *ELAB_PRELUDE(e, EVEN_SHARE, sector, pairs, blocks)};
}

static void begin_share(struct elaborator *e, struct share *share, struct ir_value *pairs, struct ir_value *block) {
    struct ir_builder *b = e->builder;
    if (!e->options->is_cpu) {
        struct ir_value *const *part = ELAB_PRELUDE(e, SHARE_OF, share->size, pairs, block);
        share->first = part[0];
        share->count = part[1];
        return;
    }
    pairs = ir_binary(b, OP_MAX, ir_int(b, 0), pairs);
    share->first = *ELAB_PRELUDE(e, SHARE_START, share->blocks, pairs, block);
    ir_bound(share->first, 0, pairs->high);
    struct ir_value *end =
        *ELAB_PRELUDE(e, SHARE_START, share->blocks, pairs, ir_binary(b, OP_ADD, block, ir_int(b, 1)));
    ir_bound(end, 0, pairs->high);
    share->count = ir_binary(b, OP_SUB, end, share->first);
    ir_bound(share->count, 0, pairs->high);
}

/* A core cannot change one place twice in a row without waiting for the first change: pairs that
   follow one another go to different copies of the block's buckets, where these stay in the
   first-level cache. The copies lie this far apart; 0: none. */
static int64_t stride_of_ways(const struct elaborator *e, const struct reducing *r, const struct ir_value *width) {
    int64_t most = most_in_ways(r);
    if (!e->options->is_cpu || most < 1 || width->low > most)
        return 0;
    return width->high < most ? width->high : most;
}

static void add_ways(struct elaborator *e, const struct reducing *r, struct places *buckets, struct ir_value *width,
                     int64_t stride) {
    struct ir_builder *b = e->builder;
    struct ir_value *are_few = ir_binary(b, OP_LE, width, ir_int(b, most_in_ways(r)));
    buckets->ways = ir_ternary(b, OP_SELECT, are_few, ir_int(b, CPU_WAYS), ir_int(b, 1));
    buckets->stride = ir_int(b, stride);
}

static int64_t places_in_ways(const struct reducing *r) { return GPU_WAYS_BYTES / place_bytes(r); }

/* See note [copies of lanes]; NULL: one, whatever comes. */
static struct ir_value *plan_lane_ways(struct elaborator *e, const struct reducing *r, const struct own_buckets *own) {
    struct ir_builder *b = e->builder;
    if (e->options->is_cpu)
        return NULL;
    struct ir_value *pairs = ir_resolve(b, r->push->update.pairs->length);
    struct ir_value *ways =
        *ELAB_PRELUDE(e, LANE_WAYS, ir_int(b, GPU_LEAST_WAYS), ir_int(b, GPU_LANES), ir_int(b, places_in_ways(r)),
                      own->width, own->blocks, pairs, ir_int(b, ANY_PAIRS_PER_BUCKET));
    ways = ir_resolve(b, ways);
    return ways->high > 1 ? ways : NULL;
}

static void run_pass(struct elaborator *e, const struct reducing *r, const struct own_buckets *own,
                     const struct places *places, struct ir_value *pass) {
    struct ir_builder *b = e->builder;
    struct ir_value *pairs = ir_resolve(b, r->push->update.pairs->length),
                    *length = ir_resolve(b, r->push->array->length);
    struct ir_value *low = ir_binary(b, OP_MUL, pass, own->limit);
    struct ir_value *width = ir_binary(b, OP_MIN, own->width, ir_binary(b, OP_SUB, length, low));
    struct ir_value *lane_ways = plan_lane_ways(e, r, own);
    struct ir_value *capacity = elab_upper_bound(e, own->width); /* the array's length may be what a loop carries */
    if (!capacity)
        elab_fail(e, DIAG_UNKNOWN_LENGTH, e->span,
                  "no bound is known for the number of buckets that a block has for itself here");
    int64_t stride = stride_of_ways(e, r, width);
    struct ir_region *here = elab_enter_host(e);
    if (stride)
        capacity = ir_binary(b, OP_MAX, capacity, ir_int(b, stride * CPU_WAYS));
    if (lane_ways) { /* of many buckets there is one copy, of few as many as fit */
        int64_t fit = places_in_ways(r), most = own->width->high * GPU_LANES;
        capacity = ir_binary(b, OP_MAX, capacity, ir_int(b, fit < most ? fit : most));
    }
    ir_leave(b, here);
    struct share share = even_shares(e, pairs, own->blocks);
    struct ir_value *block = ir_begin_forall(b, LEVEL_GRID, LEVEL_BLOCK, own->blocks, "block");
    if (own->threads != e->options->block_size)
        IR_PART(ir_current(b)->owner, loop).threads = own->threads;
    struct places buckets = new_places(e, r, LEVEL_BLOCK, capacity, "own_buckets");
    add_lock(e, r, &buckets, LEVEL_BLOCK, capacity);
    if (stride)
        add_ways(e, r, &buckets, width, stride);
    empty_ways(e, r, &buckets, ir_int(b, 0), lane_ways ? ir_binary(b, OP_MUL, width, lane_ways) : width);
    buckets.lane_ways = lane_ways;
    begin_share(e, &share, pairs, block);
    if (buckets.ways) {
        enum ir_truth truth = ir_begin_choice(b, ir_binary(b, OP_LT, ir_int(b, 1), buckets.ways));
        if (truth != IR_FALSE)
            reduce_take_in_turns(e, r, &buckets, share.first, share.count, low, width);
        ir_other_choice(b, truth);
        if (truth != IR_TRUE)
            reduce_take_in_order(e, r, &buckets, share.first, share.count, low, width);
        ir_end_choice(b, truth);
    } else {
        reduce_take_in_order(e, r, &buckets, share.first, share.count, low, width);
    }
    combine(e, r, &buckets, places, low, width);
    ir_end_forall(b);
}

static void run_own_buckets(struct elaborator *e, const struct reducing *r, const struct own_buckets *own,
                            const struct places *places) {
    struct ir_builder *b = e->builder;
    struct ir_value *passes = ir_resolve(b, own->passes);
    if (passes->high <= 1) {
        run_pass(e, r, own, places, ir_int(b, 0));
        return;
    }
    struct ir_value *pass = ir_begin_for(b, passes, NULL, 0, "pass");
    run_pass(e, r, own, places, pass);
    ir_end_for(b, NULL, NULL);
}

static struct places new_copies(struct elaborator *e, const struct reducing *r, struct ir_value *copies) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = ir_resolve(b, r->push->array->length), *one = ir_int(b, 1);
    struct ir_value *capacity =
        ir_ternary(b, OP_SELECT, ir_binary(b, OP_LT, one, copies), ir_binary(b, OP_MUL, copies, length), ir_int(b, 0));
    struct places result = new_places(e, r, LEVEL_GRID, capacity, "copies");
    add_lock(e, r, &result, LEVEL_GRID, capacity);
    return result;
}

/* Each block takes a share of the pairs, of a batch at least; they share out the copies of the places (NULL: one). */
static void take_from_blocks(struct elaborator *e, const struct reducing *r, const struct places *copied,
                             struct ir_value *copies) {
    struct ir_builder *b = e->builder;
    struct ir_value *pairs = ir_resolve(b, r->push->update.pairs->length),
                    *length = ir_resolve(b, r->push->array->length);
    struct ir_value *blocks = *ELAB_PRELUDE(e, BATCH_BLOCKS, ir_int(b, GPU_BATCH), pairs);
    struct share share = even_shares(e, pairs, blocks);
    struct ir_value *block = ir_begin_forall(b, LEVEL_GRID, LEVEL_BLOCK, blocks, "block");
    begin_share(e, &share, pairs, block);
    struct places mine = *copied;
    if (copies)
        mine.offset = mine.lock_offset = ir_binary(b, OP_MUL, ir_binary(b, OP_REM, block, copies), length);
    reduce_take_pairs(e, r, &mine, LEVEL_BLOCK, share.first, share.count, ir_int(b, 0), length);
    ir_end_forall(b);
}

static void run_copies(struct elaborator *e, const struct reducing *r, const struct places *copied,
                       struct ir_value *copies, const struct places *places) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = ir_resolve(b, r->push->array->length);
    struct ir_value *h = elab_begin_threads(e, LEVEL_GRID, ir_binary(b, OP_MUL, copies, length));
    reduce_write(e, r, copied, h, r->neutral);
    elab_end_threads(e, LEVEL_GRID, h);

    take_from_blocks(e, r, copied, copies);

    h = elab_begin_threads(e, LEVEL_GRID, length);
    struct copies all = {h, length, copies, NULL};
    reduce_write(e, r, places, h, fold_places(e, r, copied, reduce_read(e, r, places, h), &all));
    elab_end_threads(e, LEVEL_GRID, h);
}

static void run_in_global(struct elaborator *e, const struct reducing *r, const struct places *copied,
                          struct ir_value *copies, struct ir_value *has_copies, const struct places *places) {
    struct ir_builder *b = e->builder;
    struct ir_value *zero = ir_int(b, 0);
    enum ir_truth copy = ir_begin_choice(b, has_copies);
    if (copy != IR_FALSE)
        run_copies(e, r, copied, copies, places);
    ir_other_choice(b, copy);
    if (copy != IR_TRUE) {
        if (!e->options->is_cpu)
            take_from_blocks(e, r, places, NULL);
        else
            reduce_take_pairs(e, r, places, LEVEL_GRID, zero, ir_resolve(b, r->push->update.pairs->length), zero,
                              ir_resolve(b, r->push->array->length));
    }
    ir_end_choice(b, copy);
}

static void run_at_grid(struct elaborator *e, const struct reducing *r, const struct writer *writer) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = ir_resolve(b, r->push->array->length);
    bool in_place = keeps_plainly(r, writer);
    if (r->is_packed)
        elab_note_copied(e, r->push, UPDATE_COPIES_WORDS);
    struct places places = in_place ? places_of(writer) : new_places(e, r, LEVEL_GRID, length, "buckets");
    add_lock(e, r, &places, LEVEL_GRID, length);
    struct own_buckets own = plan_buckets(e, r);
    struct ir_value *copies = own.copies, *has_copies = ir_binary(b, OP_LT, ir_int(b, 1), copies);
    struct places copied = {0};
    if (ir_known(b, has_copies) != IR_FALSE)
        copied = new_copies(e, r, copies);
    fill(e, r, &places, LEVEL_GRID);
    enum ir_truth own_truth = ir_begin_choice(b, own.worthwhile);
    if (own_truth != IR_FALSE)
        run_own_buckets(e, r, &own, &places);
    ir_other_choice(b, own_truth);
    if (own_truth != IR_TRUE)
        run_in_global(e, r, &copied, copies, has_copies, &places);
    ir_end_choice(b, own_truth);
    if (!in_place)
        hand_on(e, r, &places, LEVEL_GRID, writer);
}

static bool is_number(const struct ir_value *value, int64_t number) {
    return value->is_constant && value->constant.integer == number;
}

/* Is the neutral element one? With no own buckets and one copy, as `permute` asks for, it need not be. */
static bool has_neutral(const struct elaborator *e, struct ir_value *passes, struct ir_value *copies) {
    return !is_number(ir_resolve(e->builder, passes), 0) || !is_number(ir_resolve(e->builder, copies), 1);
}

void elab_run_reduce_by_index(struct elaborator *e, struct push *push, const struct writer *writer) {
    struct reducing r = {.push = push, .function = push->function, .neutral = push->update.neutral};
    r.has_neutral = has_neutral(e, push->update.passes, push->update.copies);
    elab_hold_pairs(e, push, push);
    reduce_study(e, &r);
    if (push->level == LEVEL_GRID)
        run_at_grid(e, &r, writer);
    else if (push->level == LEVEL_THREAD)
        run_at_thread(e, &r, writer);
    else
        run_at_unit(e, &r, writer);
}

/* A value like that one with the number in each component. */
static struct elab_value *sample(struct elaborator *e, struct elab_value *like, int64_t number) {
    ir_values leaves = elab_leaves(e, like);
    for (size_t k = 0; k < leaves.count; k++) {
        enum base base = leaves.at[k]->base;
        union scalar scalar = {.integer = base == BASE_BOOL ? number > 0 : number};
        if (base_info[base].is_floating)
            scalar = (union scalar){.floating = (double)number};
        leaves.at[k] = ir_constant(e->builder, base, scalar);
    }
    return elab_unflatten(e, like, leaves.at);
}

/* Does the operator make another value of that and each sample? One is enough: 0 is neutral for `max` where none is
   less. */
static bool changes_samples(struct elaborator *e, struct elab_value *function, struct elab_value *neutral) {
    static const int64_t numbers[] = {1, 2, 3, 5, 100, -1, 0};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct elab_value *any = sample(e, neutral, numbers[i]);
        ir_values old = elab_leaves(e, any), new = elab_leaves(e, elab_apply2(e, function, neutral, any));
        bool is_kept = true;
        for (size_t k = 0; k < old.count; k++) {
            enum ir_truth same = ir_known(e->builder, ir_binary(e->builder, OP_EQ, old.at[k], new.at[k]));
            if (same == IR_UNKNOWN)
                return false;
            is_kept &= same == IR_TRUE;
        }
        if (is_kept)
            return false;
    }
    return true;
}

/* Reports a value that is known to be no neutral element. The error is where the program writes the value, not where
   the array is computed. */
static void check_neutral(struct elaborator *e, struct elab_value *function, struct elab_value *neutral) {
    ir_values leaves = elab_leaves(e, neutral);
    for (size_t k = 0; k < leaves.count; k++)
        if (!ir_resolve(e->builder, leaves.at[k])->is_constant)
            return;
    struct ir_region *here = ir_current(e->builder);
    ir_begin_for(e->builder, ir_int(e->builder, 2), NULL, 0, "unknown");
    struct span span = e->span;
    bool changes = changes_samples(e, function, neutral);
    e->span = span;
    ir_unwind(e->builder, here);
    if (changes)
        elab_fail(e, DIAG_NOT_NEUTRAL, e->span,
                  "the neutral element here is none: of it and x the operator must make x, as (+) does of 0 and x. "
                  "What places begin with is another argument, the array");
}

static struct elab_value *reduction(struct elaborator *e, const struct instance *instance,
                                    struct elab_value **arguments, bool is_each) {
    if (!e->shape && has_neutral(e, elab_as_scalar(e, arguments[2]), elab_as_scalar(e, arguments[3])))
        check_neutral(e, arguments[4], arguments[5]);
    return NEW_PUSH(REDUCE_BY_INDEX, elab_level(e, instance, 0), .function = arguments[4],
                    .array = elab_as_pull(e, arguments[6]),
                    .update = {.pairs = elab_as_pull(e, arguments[7]),
                               .element = elab_type(e, instance, 0),
                               .is_each = is_each,
                               .neutral = arguments[5],
                               .bytes = elab_as_scalar(e, arguments[0]),
                               .blocks = elab_as_scalar(e, arguments[1]),
                               .passes = elab_as_scalar(e, arguments[2]),
                               .copies = elab_as_scalar(e, arguments[3])});
}

PRIMITIVE(REDUCE_BY_INDEX) { return reduction(e, instance, arguments, false); }

PRIMITIVE(REDUCE_BY_INDEX_EACH) { return reduction(e, instance, arguments, true); }
