/* lookback: a block tells its aggregate and learns the combined one of all blocks before it
   (Merrill and Garland's decoupled look-back). The searches for it are functions of prelude/lookback.fcl.

   note [look-back]
   Each block has a state: nothing yet, its aggregate, or the aggregate of all blocks up to it. A
   block writes its own, goes back over the states of those before it, waiting for what is not
   there yet, until it meets one that counts for all before; then it writes its second state, and
   others need not go further. Between telling and looking a block does the work that needs no value of
   the blocks before it (`lookbackDuring`). Blocks take their numbers by tickets (note [tickets] in ir.h), so
   each block that another waits for has begun. The device must guarantee one thing: a block that has
   begun goes on. Where lanes exchange registers a warp looks at as many blocks at a time as it has
   lanes: at the nearest of them that counts for all before, or at all, as soon as those have
   written something; it combines them in log2 steps. A state and 62 bits of a value are one word,
   which no other thread sees half-written. A larger value has several words, each with the state:
   a reader that finds different states in them reads between two writes, and looks again. So no order of
   writes to different places is asked of the device, and no fence. On CUDA and HIP a volatile
   access of a word goes where other multiprocessors see it (note [scope] in
   backend/cuda_family.h). OpenCL's need not (Intel's GPUs read them from a core's own cache), so
   there words are written and read by atomics.

   note [start values]
   The start value, which need not be neutral, comes before what block 0 has given, once. So no word
   has it: a block combines it with what it found, and block 0 finds nothing. The nearest block's
   value is taken as it is, the others' are combined with it. Where the start value may be repeated
   (`elab_may_repeat`), a search begins with it, and both cases are one.

   note [tree of blocks]
   Where the operator rounds, what is before a block must not depend on who was ready. Then block b's word
   has no second state, and is the value of the greatest block of blocks that ends with b: of w^k blocks, where
   (b + 1) is a multiple of w^k and no more. The value before a block is in as many such words as its number has
   digits other than 0 to the base w. They are combined by pairs, pairs of pairs and so on, and what these binary
   blocks give from the left, the start value first. A thread goes by w = 2, and combines a word for each bit; a warp by
   w = 32, so that most blocks tell theirs at once and a few looks are enough: its lanes combine words of a
   digit in pairs. Both give the same. A block waits for words of earlier blocks alone. In passes one thread does
   it, without waiting.

   note [counts]
   `lookbackCounts` does the same for each place of an array of numbers that are not negative, a
   thread for each place, so that blocks can tell hundreds. State and number are one word of 32
   bits: 0, then the block's own number and 1, then the sum up to the block with the sign set.

   note [cleared words]
   Those words must be 0 when a launch begins, and clearing them takes a call of the driver, which
   launches wait for. So a block that has told its counts clears as many words at its end, where its
   registers are free, for a later launch of the same region that has as many blocks and places: of
   the passes of a sort the host clears for the first alone. Where no launch takes them, nothing
   reads them, and pass_dce drops them.

   note [passes]
   The other way needs nothing from the device: the loop over the blocks is run once up to the
   lookback, one thread combines what the blocks have given, and the loop is run again with that as
   the lookback's result. */
#include "elaborate/evaluate.h"
#include "elaborate/primitive.h"
#include "elaborate/push.h"
#include "ir/machine.h"
#include "ir/build/range.h"

enum { NOTHING, AGGREGATE, INCLUSIVE };
enum { STATE_AT = 62 }; /* of a word's bits: what is below is the value */

struct word {
    struct ir_buffer *buffer; /* one for each block: the state above, pieces of the value below */
    size_t first, count;      /* of the pieces */
    int bits;                 /* that they have */
};

struct lookback_state {
    const char *name; /* the primitive's */
    struct span span;
    bool in_passes;
    struct type *type;                   /* of a value */
    struct elab_value *function, *start; /* or, of counts: */
    bool repeats_start;                  /* see note [start values] */
    bool is_tree;                        /* see note [tree of blocks] */
    struct ir_value *places; /* of each block, at most; its words or values are behind those of the block before it */
    base_list bases;
    base_list pieces; /* of the value: components, and both halves of those that have 64 bits */
    struct word *words;
    size_t word_count;
    struct ir_buffer *cleared; /* words of counts for a later launch: note [cleared words] */
    struct ir_buffer **values; /* in passes: by component, one for each block */
    struct ir_buffer **before; /* what comes of them */
};

static struct ir_buffer *new_buffer(struct elaborator *e, enum ir_memory memory, enum base base,
                                    struct ir_value *capacity, const char *name) {
    enum level_value level = memory == MEMORY_OUTPUT ? LEVEL_GRID : LEVEL_BLOCK;
    struct ir_buffer *buffer = ir_buffer_new(e->builder, memory, level, base, capacity, name);
    buffer->rewritten = true;
    buffer->span = e->span;
    return buffer;
}

static struct ir_buffer *allocate_zeroed(struct elaborator *e, enum base base, struct ir_value *capacity,
                                         const char *name) {
    struct ir_buffer *buffer = new_buffer(e, MEMORY_OUTPUT, base, capacity, name);
    buffer->is_zeroed = true;
    ir_allocate(e->builder, buffer);
    return buffer;
}

/* x · y, in 32 bits where that is enough. */
static struct ir_value *product(struct elaborator *e, struct ir_value *x, struct ir_value *y) {
    struct ir_builder *b = e->builder;
    const struct range ranges[2] = {{x->low, x->high}, {y->low, y->high}};
    if (range_never_wraps(OP_MUL, BASE_I32, ranges))
        return ir_binary(b, OP_MUL, x, y);
    return ir_binary(b, OP_MUL, ir_convert(b, x, BASE_I64), ir_convert(b, y, BASE_I64));
}

/* Words of so many counts that are 0 where the present region begins its next launch. */
static struct ir_buffer *zeroed_words(struct elaborator *e, struct ir_value *capacity) {
    const struct ir_region *here = ir_current(e->builder);
    for (size_t i = 0; i < e->cleared.count; i++) {
        const struct cleared_words *words = &e->cleared.at[i];
        if (words->region == here && elab_is_same_in_branches(e, words->buffer->capacity, capacity)) {
            struct ir_buffer *buffer = words->buffer;
            e->cleared.at[i] = e->cleared.at[--e->cleared.count];
            return buffer;
        }
    }
    return allocate_zeroed(e, BASE_I32, capacity, "lookback");
}

void elab_end_blocks(struct elaborator *e, const struct blocks_run *blocks) {
    for (size_t i = 0; i < blocks->states.count; i++)
        if (blocks->states.at[i]->cleared)
            vec_push(e->arena, &e->cleared, ((struct cleared_words){blocks->parent, blocks->states.at[i]->cleared}));
}

static struct ir_buffer *words_to_clear(struct elaborator *e, struct ir_value *capacity) {
    struct ir_buffer *buffer = new_buffer(e, MEMORY_OUTPUT, BASE_I32, capacity, "lookback");
    ir_allocate(e->builder, buffer);
    return buffer;
}

static struct lookback_state *new_counts(struct elaborator *e, const struct blocks_run *blocks, bool in_one_pass,
                                         struct ir_value *places) {
    struct lookback_state *state = ARENA_NEW(e->arena, struct lookback_state);
    state->places = places;
    struct ir_value *capacity = product(e, blocks->count, places);
    if (in_one_pass) {
        state->words = ARENA_NEW(e->arena, struct word);
        state->words->buffer = zeroed_words(e, capacity);
        state->cleared = words_to_clear(e, capacity);
    } else {
        state->values = ARENA_ARRAY(e->arena, struct ir_buffer *, 1);
        state->values[0] = new_buffer(e, MEMORY_OUTPUT, BASE_I32, capacity, "lookback_values");
        ir_allocate(e->builder, state->values[0]);
    }
    return state;
}

/* Puts the state's pieces into words: a word takes pieces as long as they fit below its state. */
static void share_out(struct elaborator *e, struct lookback_state *state, struct ir_value *blocks) {
    for (size_t k = 0; k < state->bases.count; k++) {
        enum base base = state->bases.at[k];
        bool is_halved = elab_leaf_bits(base) == 64;
        vec_push(e->arena, &state->pieces, is_halved ? BASE_U32 : base);
        if (is_halved)
            vec_push(e->arena, &state->pieces, BASE_U32);
    }
    state->words = ARENA_ARRAY(e->arena, struct word, state->pieces.count);
    for (size_t k = 0; k < state->pieces.count; k++) {
        int bits = elab_leaf_bits(state->pieces.at[k]);
        struct word *last = state->word_count ? &state->words[state->word_count - 1] : NULL;
        if (!last || last->bits + bits > STATE_AT) {
            last = &state->words[state->word_count++];
            *last = (struct word){.buffer = allocate_zeroed(e, BASE_U64, blocks, "lookback"), .first = k};
        }
        last->count++;
        last->bits += bits;
    }
}

static struct ir_buffer **value_of_each(struct elaborator *e, const struct lookback_state *state,
                                        struct ir_value *blocks) {
    struct ir_buffer **values = ARENA_ARRAY(e->arena, struct ir_buffer *, state->bases.count);
    for (size_t k = 0; k < state->bases.count; k++) {
        values[k] = new_buffer(e, MEMORY_OUTPUT, state->bases.at[k], blocks, "lookback_values");
        ir_allocate(e->builder, values[k]);
    }
    return values;
}

static struct lookback_state *new_values(struct elaborator *e, const struct blocks_run *blocks, bool in_one_pass,
                                         bool is_tree, struct elab_value *function, struct elab_value *start) {
    struct lookback_state *state = ARENA_NEW(e->arena, struct lookback_state);
    state->is_tree = is_tree;
    state->function = function;
    state->start = start;
    ir_values leaves = elab_leaves(e, start);
    for (size_t k = 0; k < leaves.count; k++)
        vec_push(e->arena, &state->bases, leaves.at[k]->base);
    if (in_one_pass) {
        share_out(e, state, blocks->count);
        return state;
    }
    state->values = value_of_each(e, state, blocks->count);
    state->before = is_tree ? value_of_each(e, state, blocks->count) : state->values;
    return state;
}

/* ---- in one pass ---- */

/* That the pieces are packed into: where 32 bits are enough, processors do with half. */
static enum base base_of(const struct word *word) { return word->bits <= 32 ? BASE_U32 : BASE_U64; }

/* The value's pieces, as share_out tells them; and back. */
static ir_values cut(struct elaborator *e, const struct lookback_state *state, struct ir_value *const *leaves) {
    struct ir_builder *b = e->builder;
    ir_values pieces = {0};
    for (size_t k = 0; k < state->bases.count; k++) {
        if (elab_leaf_bits(state->bases.at[k]) < 64) {
            vec_push(e->arena, &pieces, leaves[k]);
            continue;
        }
        struct ir_value *bits = ir_convert(b, ir_bits(e->builder, leaves[k]), BASE_U64);
        struct ir_value *half = ir_constant(b, BASE_U64, (union scalar){.natural = 32});
        vec_push(e->arena, &pieces, ir_convert(b, bits, BASE_U32));
        vec_push(e->arena, &pieces, ir_convert(b, ir_binary(b, OP_SHR, bits, half), BASE_U32));
    }
    return pieces;
}

static struct ir_value **join(struct elaborator *e, const struct lookback_state *state,
                              struct ir_value *const *pieces) {
    struct ir_value **leaves = ARENA_ARRAY(e->arena, struct ir_value *, state->bases.count);
    for (size_t k = 0; k < state->bases.count; k++) {
        base_list whole = {.at = &state->bases.at[k], .count = 1};
        if (elab_leaf_bits(state->bases.at[k]) < 64) {
            leaves[k] = *pieces++;
            continue;
        }
        leaves[k] = elab_unpack(e, elab_pack(e, BASE_U64, pieces, 2), &whole)[0];
        pieces += 2;
    }
    return leaves;
}

static void show(struct elaborator *e, struct ir_buffer *buffer, struct ir_value *at, struct ir_value *word) {
    if (e->options->polls_by_atomics)
        ir_atomic(e->builder, ATOMIC_EXCHANGE, buffer, at, word);
    else
        ir_store(e->builder, buffer, at, word);
}

static struct ir_value *see(struct elaborator *e, struct ir_buffer *buffer, struct ir_value *at) {
    if (!e->options->polls_by_atomics)
        return ir_load(e->builder, buffer, at);
    return ir_atomic(e->builder, ATOMIC_ADD, buffer, at, ir_constant(e->builder, buffer->element, (union scalar){0}));
}

static void publish(struct elaborator *e, const struct lookback_state *state, const struct blocks_run *blocks, int what,
                    struct ir_value *const *leaves) {
    struct ir_builder *b = e->builder;
    ir_values pieces = cut(e, state, leaves);
    struct ir_value *flag = ir_constant(b, BASE_U64, (union scalar){.natural = (uint64_t)what << STATE_AT});
    for (size_t k = 0; k < state->word_count; k++) {
        const struct word *word = &state->words[k];
        struct ir_value *packed = elab_pack(e, base_of(word), pieces.at + word->first, word->count);
        show(e, word->buffer, blocks->index, ir_binary(b, OP_OR, flag, ir_convert(b, packed, BASE_U64)));
    }
}

/* The state of block j, and its words. */
static struct ir_value *look(struct elaborator *e, const struct lookback_state *state, struct ir_value *j,
                             struct ir_value ***words) {
    struct ir_builder *b = e->builder;
    struct ir_value *at = ir_constant(b, BASE_U64, (union scalar){.natural = STATE_AT}), *all = NULL;
    *words = ARENA_ARRAY(e->arena, struct ir_value *, state->word_count);
    for (size_t k = 0; k < state->word_count; k++)
        (*words)[k] = see(e, state->words[k].buffer, j);
    for (size_t k = 0; k < state->word_count; k++)
        all = all ? ir_binary(b, OP_AND, all, (*words)[k]) : (*words)[k]; /* NOTHING, unless all are the same */
    return ir_convert(b, ir_binary(b, OP_SHR, all, at), BASE_I32);
}

/* The value that is in the words, if their state says that there is one. */
static struct ir_value **value_in(struct elaborator *e, const struct lookback_state *state, struct ir_value **words) {
    ir_values pieces = {0};
    for (size_t k = 0; k < state->word_count; k++) {
        const struct word *word = &state->words[k];
        base_list bases = {.at = state->pieces.at + word->first, .count = word->count};
        struct ir_value **parts = elab_unpack(e, ir_convert(e->builder, words[k], base_of(word)), &bases);
        for (size_t i = 0; i < word->count; i++)
            vec_push(e->arena, &pieces, parts[i]);
    }
    return join(e, state, pieces.at);
}

/* ---- functions that those of prelude/lookback.fcl are handed ---- */

/* A word, or words, that were seen. */
struct seen {
    const struct lookback_state *state;
    struct ir_value **words;
};

static struct elab_value *value_seen(struct elaborator *e, const void *context, struct elab_value *unit) {
    (void)unit;
    const struct seen *seen = context;
    return elab_unflatten(e, seen->state->start, value_in(e, seen->state, seen->words));
}

/* The state of a block, and a function for its value, if there is one. */
static struct elab_value *see_block(struct elaborator *e, const void *context, struct elab_value *block) {
    struct seen *seen = ARENA_NEW(e->arena, struct seen);
    seen->state = context;
    struct ir_value *what = look(e, seen->state, elab_as_scalar(e, block), &seen->words);
    return elab_pair(e, elab_scalar(e, what), elab_function(e, value_seen, seen));
}

/* In passes: the word of a block, which is there. */
static struct elab_value *word_of_block(struct elaborator *e, const void *context, struct elab_value *block) {
    const struct lookback_state *state = context;
    struct ir_value **leaves = ARENA_ARRAY(e->arena, struct ir_value *, state->bases.count);
    for (size_t k = 0; k < state->bases.count; k++)
        leaves[k] = ir_load(e->builder, state->values[k], elab_as_scalar(e, block));
    return elab_unflatten(e, state->start, leaves);
}

/* Before it looks again. */
static struct elab_value *pause(struct elaborator *e, const void *context, struct elab_value *value) {
    (void)context;
    if (e->options->pauses)
        ir_fence(e->builder, LEVEL_THREAD);
    return value;
}

/* The number of lanes before the first that says so; where none does, of all. */
static struct elab_value *lanes_before(struct elaborator *e, const void *context, struct elab_value *says) {
    (void)context;
    struct ir_builder *b = e->builder;
    struct ir_value *all = ir_ballot(b, elab_as_scalar(e, says));
    struct ir_value *first = ir_binary(b, OP_AND, all, ir_binary(b, OP_SUB, elab_lanes(e, 0), all));
    return elab_scalar(e, ir_unary(b, OP_POPCOUNT, ir_binary(b, OP_SUB, first, elab_lanes(e, 1))));
}

static struct elab_value *is_no_lane(struct elaborator *e, const void *context, struct elab_value *says) {
    (void)context;
    struct ir_value *all = ir_ballot(e->builder, elab_as_scalar(e, says));
    return elab_scalar(e, ir_binary(e->builder, OP_EQ, all, elab_lanes(e, 0)));
}

/* The argument is a value and a lane; the result is what that lane has. */
static struct elab_value *of_lane(struct elaborator *e, const void *context, struct elab_value *both) {
    (void)context;
    struct elab_value *value = both->tuple.items[0];
    ir_values leaves = elab_leaves(e, value);
    struct ir_value *lane = elab_as_scalar(e, both->tuple.items[1]);
    for (size_t k = 0; k < leaves.count; k++)
        leaves.at[k] = elab_exchange(e, leaves.at[k], lane);
    return elab_unflatten(e, value, leaves.at);
}

static struct elab_value *warp_of(struct elaborator *e, struct ir_value *lane) {
    struct elab_value *items[] = {elab_scalar(e, lane), elab_function(e, lanes_before, NULL),
                                  elab_function(e, is_no_lane, NULL), elab_function(e, of_lane, NULL)};
    size_t count = sizeof items / sizeof *items;
    struct elab_value **kept = ARENA_ARRAY(e->arena, struct elab_value *, count);
    memcpy(kept, items, sizeof items);
    return elab_tuple(e, kept, count);
}

/* Such a function of the prelude, for the operator's type. */
static struct elab_value *protocol(struct elaborator *e, const struct lookback_state *state, enum elab_plan plan) {
    return elab_of_prelude(e, plan, state->type);
}

static struct elab_value *by_warp(struct elaborator *e, const struct lookback_state *state, enum elab_plan plan,
                                  struct ir_value *lane) {
    return ELAB_APPLY(e, protocol(e, state, plan), warp_of(e, lane), elab_function(e, see_block, state),
                      elab_function(e, pause, NULL), state->function);
}

/* ---- by the tree: note [tree of blocks] ---- */

enum { DIGITS = 32 }; /* to whose base a warp goes by */

/* Does the block's number end so that its word is that of more blocks than itself? */
static struct ir_value *ends_more(struct elaborator *e, const struct blocks_run *blocks, bool has_lanes) {
    struct ir_builder *b = e->builder;
    struct ir_value *last = ir_int(b, has_lanes ? DIGITS - 1 : 1);
    return ir_binary(b, OP_EQ, ir_binary(b, OP_AND, blocks->index, last), last);
}

/* Only lane 0 of a warp, or the one thread (NULL). */
static void begin_only(struct elaborator *e, struct ir_value *lane) {
    if (lane)
        ir_begin_if(e->builder, ir_binary(e->builder, OP_EQ, lane, ir_int(e->builder, 0)));
}

static void end_only(struct elaborator *e, struct ir_value *lane) {
    if (!lane)
        return;
    ir_end_only(e->builder);
}

/* The first thread, or the first lane of the first warp, tells the aggregate. */
static void tell(struct elaborator *e, const struct lookback_state *state, const struct blocks_run *blocks,
                 const ir_values *aggregate, struct ir_value *lane) {
    struct ir_builder *b = e->builder;
    bool was_volatile = ir_set_volatile(b, true);
    begin_only(e, lane);
    if (state->is_tree)
        ir_begin_if(b, ir_unary(b, OP_NOT, ends_more(e, blocks, e->options->has_shuffles)));
    publish(e, state, blocks, AGGREGATE, aggregate->at);
    if (state->is_tree)
        ir_end_only(b);
    end_only(e, lane);
    ir_set_volatile(b, was_volatile);
}

static void tell_alone(struct elaborator *e, const struct lookback_state *state, const struct blocks_run *blocks,
                       const ir_values *aggregate) {
    ir_begin_forall(e->builder, LEVEL_BLOCK, LEVEL_THREAD, ir_int(e->builder, 1), "first");
    tell(e, state, blocks, aggregate, NULL);
    ir_end_forall(e->builder);
}

/* Such a function for one thread, which waits for the words of earlier blocks; in passes they are there. */
static struct elab_value *by_thread(struct elaborator *e, const struct lookback_state *state, enum elab_plan plan) {
    struct elab_value *await =
        state->in_passes
            ? ELAB_APPLY(e, protocol(e, state, ELAB_PLAN_WORD_THERE), elab_function(e, word_of_block, state))
            : ELAB_APPLY(e, protocol(e, state, ELAB_PLAN_AWAIT), elab_function(e, see_block, state),
                         elab_function(e, pause, NULL));
    return ELAB_APPLY(e, protocol(e, state, plan), await, state->function);
}

static struct elab_value *join_ends(struct elaborator *e, const struct lookback_state *state,
                                    const struct blocks_run *blocks, struct ir_value *lane, struct elab_value *own) {
    struct elab_value *join =
        lane ? by_warp(e, state, ELAB_PLAN_JOIN_ENDS_BY_WARP, lane) : by_thread(e, state, ELAB_PLAN_JOIN_ENDS);
    return ELAB_APPLY(e, join, elab_scalar(e, blocks->index), own);
}

static struct elab_value *go_down(struct elaborator *e, const struct lookback_state *state,
                                  const struct blocks_run *blocks, struct ir_value *lane) {
    struct elab_value *down =
        lane ? by_warp(e, state, ELAB_PLAN_GO_DOWN_BY_WARP, lane) : by_thread(e, state, ELAB_PLAN_GO_DOWN);
    return ELAB_APPLY(e, down, elab_scalar(e, blocks->index), elab_plain(e, state->start));
}

/* Tells the rest, and returns what is before the block, in lane 0 at least; only this lane goes on. */
static struct elab_value *find_by_tree(struct elaborator *e, const struct lookback_state *state,
                                       const struct blocks_run *blocks, struct elab_value *aggregate,
                                       struct ir_value *lane) {
    ir_begin_if(e->builder, ends_more(e, blocks, lane));
    struct elab_value *own = join_ends(e, state, blocks, lane, aggregate);
    begin_only(e, lane);
    publish(e, state, blocks, AGGREGATE, elab_leaves(e, own).at);
    end_only(e, lane);
    ir_end_only(e->builder);
    struct elab_value *before = go_down(e, state, blocks, lane);
    begin_only(e, lane);
    return before;
}

static struct elab_value *find_by_states(struct elaborator *e, const struct lookback_state *state,
                                         const struct blocks_run *blocks, struct elab_value *aggregate,
                                         struct ir_value *lane) {
    struct elab_value *look =
        lane ? by_warp(e, state, ELAB_PLAN_LOOK_BACK_BY_WARP, lane)
             : ELAB_APPLY(e, protocol(e, state, ELAB_PLAN_LOOK_BACK), elab_function(e, see_block, state),
                          elab_function(e, pause, NULL), state->function);
    struct elab_value *repeats = elab_scalar(e, ir_bool(e->builder, state->repeats_start));
    struct elab_value *block = elab_scalar(e, blocks->index), *start = elab_plain(e, state->start);
    struct elab_value *found = ELAB_APPLY(e, look, repeats, block, start);
    begin_only(e, lane);
    struct elab_value *both = ELAB_APPLY(e, protocol(e, state, ELAB_PLAN_WITH_START), state->function, repeats, block,
                                         start, found, aggregate);
    publish(e, state, blocks, INCLUSIVE, elab_leaves(e, both->tuple.items[1]).at);
    return both->tuple.items[0];
}

/* The first thread goes back, or the first warp; the others read from shared memory what it found. */
static struct elab_value *in_one_pass(struct elaborator *e, const struct lookback_state *state,
                                      const struct blocks_run *blocks, const ir_values *aggregate, bool is_told) {
    struct ir_builder *b = e->builder;
    size_t n = state->bases.count;
    struct ir_buffer **found = ARENA_ARRAY(e->arena, struct ir_buffer *, n);
    for (size_t k = 0; k < n; k++) {
        found[k] = new_buffer(e, MEMORY_SHARED, state->bases.at[k], ir_int(b, 1), "before_block");
        ir_allocate(b, found[k]);
    }
    bool has_lanes = e->options->has_shuffles;
    struct ir_value *lane = NULL;
    ir_begin_forall(b, LEVEL_BLOCK, has_lanes ? LEVEL_WARP : LEVEL_THREAD, ir_int(b, 1), "first");
    if (has_lanes)
        lane = ir_begin_forall(b, LEVEL_WARP, LEVEL_THREAD, ir_int(b, e->options->warp_size), "lane");
    if (!is_told)
        tell(e, state, blocks, aggregate, lane);
    bool was_volatile = ir_set_volatile(b, true);
    struct elab_value *own = elab_unflatten(e, state->start, aggregate->at);
    ir_values before = elab_leaves(e, state->is_tree ? find_by_tree(e, state, blocks, own, lane)
                                                     : find_by_states(e, state, blocks, own, lane));
    ir_set_volatile(b, was_volatile);
    for (size_t k = 0; k < n; k++)
        ir_store(b, found[k], ir_int(b, 0), before.at[k]);
    end_only(e, lane);
    if (has_lanes)
        ir_end_forall(b);
    ir_end_forall(b);
    struct ir_value **leaves = ARENA_ARRAY(e->arena, struct ir_value *, n);
    for (size_t k = 0; k < n; k++)
        leaves[k] = ir_load(b, found[k], ir_int(b, 0));
    return elab_unflatten(e, state->start, leaves);
}

/* ---- in passes ---- */

static void collect(struct elaborator *e, const struct lookback_state *state, const struct blocks_run *blocks,
                    const ir_values *aggregate) {
    struct ir_builder *b = e->builder;
    ir_begin_forall(b, LEVEL_BLOCK, LEVEL_THREAD, ir_int(b, 1), "first");
    for (size_t k = 0; k < state->bases.count; k++)
        ir_store(b, state->values[k], blocks->index, aggregate->at[k]);
    ir_end_forall(b);
}

/* The words are where the blocks' values have been. */
static void scan_by_tree(struct elaborator *e, const struct lookback_state *state, const struct blocks_run *blocks) {
    struct ir_builder *b = e->builder;
    struct blocks_run at = *blocks;
    at.index = ir_begin_for(b, blocks->count, NULL, 0, "block");
    struct elab_value *own = word_of_block(e, state, elab_scalar(e, at.index));
    ir_values word = elab_leaves(e, join_ends(e, state, &at, NULL, own));
    ir_values before = elab_leaves(e, go_down(e, state, &at, NULL));
    for (size_t k = 0; k < state->bases.count; k++) {
        ir_store(b, state->values[k], at.index, word.at[k]);
        ir_store(b, state->before[k], at.index, before.at[k]);
    }
    ir_end_for(b, NULL, NULL);
}

static void scan_values(struct elaborator *e, const struct lookback_state *state, const struct blocks_run *blocks) {
    struct ir_builder *b = e->builder;
    size_t n = state->bases.count;
    ir_begin_forall(b, LEVEL_GRID, LEVEL_THREAD, ir_int(b, 1), "one");
    if (state->is_tree) {
        scan_by_tree(e, state, blocks);
        ir_end_forall(b);
        return;
    }
    ir_values acc = elab_leaves(e, state->start);
    struct ir_value *i = ir_begin_for(b, blocks->count, acc.at, n, "block");
    struct ir_value **given = ARENA_ARRAY(e->arena, struct ir_value *, n);
    for (size_t k = 0; k < n; k++) {
        given[k] = ir_load(b, state->values[k], i);
        ir_store(b, state->values[k], i, acc.at[k]);
    }
    struct elab_value *before = elab_unflatten(e, state->start, acc.at);
    ir_values nexts = elab_leaves(e, elab_apply2(e, state->function, before, elab_unflatten(e, state->start, given)));
    struct ir_value **results = ARENA_ARRAY(e->arena, struct ir_value *, n);
    ir_end_for(b, nexts.at, results);
    ir_end_forall(b);
}

/* ---- of counts ---- */

/* Where a block's word or value of a place is. */
static struct ir_value *word_at(struct elaborator *e, const struct lookback_state *state, struct ir_value *block,
                                struct ir_value *place) {
    struct ir_builder *b = e->builder;
    struct ir_value *start = product(e, block, state->places);
    return ir_binary(b, OP_ADD, start, ir_convert(b, place, start->base));
}

/* The count that the block tells for a place: 0 where the array ends before the place. See note [counts]. */
static struct ir_value *count_at(struct elaborator *e, struct pull *counts, struct ir_value *place) {
    return elab_as_scalar(
        e, ELAB_APPLY(e, elab_of_prelude(e, ELAB_PLAN_COUNT_AT, NULL), elab_of_pull(e, counts), elab_scalar(e, place)));
}

/* A thread's place in the words that blocks tell. */
struct counted {
    const struct lookback_state *state;
    const struct blocks_run *blocks;
    struct ir_value *place;
};

/* The word of a block, which is one of those before this one. */
static struct elab_value *see_count(struct elaborator *e, const void *context, struct elab_value *block) {
    const struct counted *c = context;
    struct ir_value *at = elab_as_scalar(e, block);
    ir_bound(at, -1, c->blocks->index->high - 1);
    return elab_scalar(e, see(e, c->state->words->buffer, word_at(e, c->state, at, c->place)));
}

/* Returns what it tells. */
static struct ir_value *tell_count(struct elaborator *e, const struct lookback_state *state,
                                   const struct blocks_run *blocks, struct pull *counts, struct ir_value *place) {
    struct ir_value *own = count_at(e, counts, place), *at = word_at(e, state, blocks->index, place);
    bool was_volatile = ir_set_volatile(e->builder, true);
    show(e, state->words->buffer, at, ir_binary(e->builder, OP_ADD, own, ir_int(e->builder, 1)));
    ir_set_volatile(e->builder, was_volatile);
    return own;
}

static void tell_counts(struct elaborator *e, const struct lookback_state *state, const struct blocks_run *blocks,
                        struct pull *counts) {
    struct ir_value *place = elab_begin_threads(e, LEVEL_BLOCK, state->places);
    tell_count(e, state, blocks, counts, place);
    elab_end_threads(e, LEVEL_BLOCK, place);
}

/* Each thread goes back for a place; all get what they found from shared memory. Without blocks
   (NULL) there are none before. */
static struct pull *counts_in_one_pass(struct elaborator *e, const struct lookback_state *state,
                                       const struct blocks_run *blocks, struct pull *counts, struct ir_value *places,
                                       bool is_told) {
    struct ir_builder *b = e->builder;
    struct ir_buffer **found = ARENA_ARRAY(e->arena, struct ir_buffer *, 1);
    found[0] = new_buffer(e, MEMORY_SHARED, BASE_I32, places, "before_block");
    found[0]->rewritten = false;
    ir_allocate(b, found[0]);
    struct ir_value *place = elab_begin_threads(e, LEVEL_BLOCK, places), *sum = ir_int(b, 0);
    if (blocks) {
        struct ir_value *own = is_told ? count_at(e, counts, place) : tell_count(e, state, blocks, counts, place);
        bool was_volatile = ir_set_volatile(b, true);
        const struct counted counted = {state, blocks, place};
        int together = e->options->is_cpu ? 1 : GPU_COUNTS_TOGETHER;
        sum = elab_as_scalar(e, ELAB_APPLY(e, elab_of_prelude(e, ELAB_PLAN_COUNT_BACK, NULL),
                                           elab_function(e, see_count, &counted), elab_scalar(e, ir_int(b, together)),
                                           elab_scalar(e, blocks->index)));
        struct ir_value *sign = ir_constant(b, BASE_I32, (union scalar){.integer = INT32_MIN});
        show(e, state->words->buffer, word_at(e, state, blocks->index, place),
             ir_binary(b, OP_OR, sign, ir_binary(b, OP_ADD, sum, own)));
        ir_set_volatile(b, was_volatile);
    }
    ir_store(b, found[0], place, sum);
    elab_end_threads(e, LEVEL_BLOCK, place);
    return elab_stored(e, &elab_int_type, found, NULL, ir_resolve(b, counts->length));
}

static void collect_counts(struct elaborator *e, const struct lookback_state *state, const struct blocks_run *blocks,
                           struct pull *counts) {
    struct ir_value *place = elab_begin_threads(e, LEVEL_BLOCK, state->places);
    ir_store(e->builder, state->values[0], word_at(e, state, blocks->index, place), count_at(e, counts, place));
    elab_end_threads(e, LEVEL_BLOCK, place);
}

static void scan_counts(struct elaborator *e, const struct lookback_state *state, const struct blocks_run *blocks) {
    struct ir_builder *b = e->builder;
    struct ir_value *place = elab_begin_threads(e, LEVEL_GRID, state->places), *sum = ir_int(b, 0);
    struct ir_value *block = ir_begin_for(b, blocks->count, &sum, 1, "block");
    struct ir_value *at = word_at(e, state, block, place), *count = ir_load(b, state->values[0], at);
    ir_store(b, state->values[0], at, sum);
    sum = ir_binary(b, OP_AND, ir_binary(b, OP_ADD, sum, count), ir_int(b, INT32_MAX));
    ir_end_for(b, &sum, &sum);
    elab_end_threads(e, LEVEL_GRID, place);
}

void elab_scan_collected(struct elaborator *e, struct blocks_run *blocks) {
    const struct lookback_state *state = blocks->collected;
    if (state->places)
        scan_counts(e, state, blocks);
    else
        scan_values(e, state, blocks);
}

/* ---- the primitives ---- */

/* Every block must come here, once: blocks wait for each other. So no loop of theirs is around
   this, and no branch but those under which the chunk has been made again: see note [branches] for
   these. */
static bool all_come_here(const struct elaborator *e) {
    const struct ir_region *here = ir_current(e->builder), *region = here;
    while (region != e->blocks->region) {
        if (!region->owner || region->owner->kind != IR_IF)
            return false;
        region = region->owner->region;
    }
    return here == e->blocks->region || (e->split && e->split->region == here);
}

/* See note [passes]. */
static bool is_in_passes(struct elaborator *e, struct elab_value *one_pass) {
    struct ir_value *value = elab_as_scalar(e, one_pass);
    return value && (e->options->no_block_waits || ir_known(e->builder, value) == IR_FALSE);
}

static void fail_place(struct elaborator *e, struct span span, const char *name) {
    elab_fail(e, DIAG_LOOKBACK_PLACE, span,
              "`%s` is in a branch or a loop here: blocks wait for each other's values, so each must come to it "
              "exactly once",
              name);
}

static void check_place(struct elaborator *e, const struct blocks_run *blocks, const char *name) {
    if (blocks->is_measured)
        elab_fail(e, DIAG_UNKNOWN_LENGTH, e->span,
                  "the length of the last chunk depends on data, and what comes before it on a `%s`", name);
    if (!all_come_here(e))
        fail_place(e, e->span, name);
}

static bool are_alike(const struct elab_value *f, const struct elab_value *g) {
    if (f->kind != g->kind)
        return false;
    if (f->kind == ELAB_PRIMITIVE)
        return f->primitive.primitive == g->primitive.primitive;
    return f->kind != ELAB_CLOSURE || f->closure.lambda == g->closure.lambda;
}

/* note [branches]
   A chunk may have been made again under the branches of a condition (note [splits]), such as that
   of the last one. Each of them comes to the same lookbacks in the same order, or a block would
   wait for what another one does not tell. */
static struct lookback_state *state_here(struct elaborator *e, const struct blocks_run *blocks, bool in_passes,
                                         bool is_counts, const char *name) {
    if (blocks->next == blocks->states.count)
        return NULL;
    struct lookback_state *state = blocks->states.at[blocks->next];
    if (state->in_passes != in_passes || (state->places != NULL) != is_counts)
        fail_place(e, e->span, name);
    return state;
}

/* Buffers of the launch are allocated just before the loop over the blocks. */
static struct ir_region *begin_state(struct elaborator *e, const struct blocks_run *blocks, bool in_passes) {
    struct ir_region *back = ir_enter(e->builder, blocks->parent);
    if (!in_passes && !blocks->region->owner->buffer)
        blocks->region->owner->buffer = allocate_zeroed(e, BASE_U32, ir_int(e->builder, 1), "tickets");
    return back;
}

static void end_state(struct elaborator *e, struct blocks_run *blocks, struct lookback_state *state, bool in_passes,
                      const char *name, struct ir_region *back) {
    ir_leave(e->builder, back);
    state->name = name;
    state->span = elab_users_span(e, e->span);
    state->in_passes = in_passes;
    vec_push(e->arena, &blocks->states, state);
}

/* Does this pass end here? Then what comes after it is left out until the end of the chunk (run_chunk), by `shape`. */
static bool ends_pass(struct blocks_run *blocks, const struct lookback_state *state) {
    blocks->next++;
    if (!state->in_passes || blocks->next_pass++ < blocks->pass)
        return false;
    blocks->collected = state;
    return true;
}

/* The words that this launch clears: a block those of its places. */
static void clear_words(struct elaborator *e, const struct blocks_run *blocks) {
    for (size_t i = 0; i < blocks->next && !e->shape; i++) {
        const struct lookback_state *state = blocks->states.at[i];
        if (!state->cleared)
            continue;
        struct ir_value *place = elab_begin_threads(e, LEVEL_BLOCK, state->places);
        ir_store(e->builder, state->cleared, word_at(e, state, blocks->index, place), ir_int(e->builder, 0));
        elab_end_threads(e, LEVEL_BLOCK, place);
    }
}

void elab_end_lookbacks(struct elaborator *e, struct blocks_run *blocks) {
    clear_words(e, blocks);
    size_t met = blocks->next;
    if (!blocks->has_ended)
        blocks->met_at_end = met;
    blocks->has_ended = true;
    if (met == blocks->met_at_end)
        return;
    const struct lookback_state *state = blocks->states.at[met < blocks->met_at_end ? met : blocks->met_at_end];
    fail_place(e, state->span, state->name);
}

/* The result of a lookback: a pair of `before` and the result of the work that the block has done meanwhile; `before`
   alone if `done` is NULL. */
static struct elab_value *with_work(struct elaborator *e, struct elab_value *before, struct elab_value *done) {
    return done ? elab_pair(e, before, done) : before;
}

static struct elab_value *work(struct elaborator *e, struct elab_value *function) {
    return function ? elab_apply(e, function, elab_scalar(e, ir_int(e->builder, 0))) : NULL;
}

static struct elab_value *look_back(struct elaborator *e, const struct instance *instance,
                                    struct elab_value **arguments, struct elab_value *meanwhile) {
    struct elab_value *start = arguments[2];
    struct blocks_run *blocks = e->blocks;
    if (e->shape)
        return with_work(e, elab_unknown_like(e, start), work(e, meanwhile));
    if (!blocks)
        return with_work(e, start, work(e, meanwhile)); /* there is one block */
    bool in_passes = is_in_passes(e, arguments[0]);
    check_place(e, blocks, "lookback");
    struct lookback_state *state = state_here(e, blocks, in_passes, false, "lookback");
    if (!state) {
        bool is_tree = !elab_may_reorder(e, arguments[1], elab_type(e, instance, 0));
        struct ir_region *back = begin_state(e, blocks, in_passes);
        state = new_values(e, blocks, !in_passes, is_tree, arguments[1], start);
        end_state(e, blocks, state, in_passes, "lookback", back);
    }
    ir_values aggregate = elab_leaves(e, arguments[3]);
    bool is_same = aggregate.count == state->bases.count && are_alike(state->function, arguments[1]);
    for (size_t k = 0; k < aggregate.count && is_same; k++)
        is_same = aggregate.at[k]->base == state->bases.at[k];
    if (!is_same)
        fail_place(e, e->span, "lookback");
    state->type = elab_type(e, instance, 0);
    state->function = arguments[1];
    state->start = start;
    state->repeats_start = elab_may_repeat(e, arguments[1], start);
    if (ends_pass(blocks, state)) {
        collect(e, state, blocks, &aggregate);
        e->shape++;
        return with_work(e, elab_unknown_like(e, start), work(e, meanwhile));
    }
    if (!in_passes) {
        if (meanwhile)
            tell_alone(e, state, blocks, &aggregate);
        struct elab_value *done = work(e, meanwhile);
        struct elab_value *before = e->shape /* the work ended the pass */
                                        ? elab_unknown_like(e, start)
                                        : in_one_pass(e, state, blocks, &aggregate, meanwhile);
        return with_work(e, before, done);
    }
    struct ir_value **leaves = ARENA_ARRAY(e->arena, struct ir_value *, state->bases.count);
    for (size_t k = 0; k < state->bases.count; k++)
        leaves[k] = ir_load(e->builder, state->before[k], blocks->index);
    return with_work(e, elab_unflatten(e, start, leaves), work(e, meanwhile));
}

PRIMITIVE(LOOKBACK) { return look_back(e, instance, arguments, NULL); }

PRIMITIVE(LOOKBACK_DURING) { return look_back(e, instance, arguments, arguments[4]); }

static struct elab_value *look_back_counts(struct elaborator *e, struct elab_value **arguments,
                                           struct elab_value *meanwhile) {
    struct pull *counts = elab_as_pull(e, arguments[1]), *before = NULL;
    struct blocks_run *blocks = e->blocks;
    struct elab_value *done = NULL;
    if (e->shape) {
        before = elab_unknown_array(e, &elab_int_type, counts->length);
        return with_work(e, elab_of_pull(e, before), work(e, meanwhile));
    }
    struct ir_value *places = elab_capacity(e, counts->length, LEVEL_BLOCK);
    if (!blocks) {
        done = work(e, meanwhile);
        return with_work(e, elab_of_pull(e, counts_in_one_pass(e, NULL, NULL, counts, places, false)), done);
    }
    bool in_passes = is_in_passes(e, arguments[0]);
    check_place(e, blocks, "lookbackCounts");
    struct lookback_state *state = state_here(e, blocks, in_passes, true, "lookbackCounts");
    if (!state) {
        struct ir_region *back = begin_state(e, blocks, in_passes);
        state = new_counts(e, blocks, !in_passes, places);
        end_state(e, blocks, state, in_passes, "lookbackCounts", back);
    }
    if (ir_known(e->builder, ir_binary(e->builder, OP_LE, places, state->places)) != IR_TRUE)
        elab_fail(e, DIAG_UNKNOWN_LENGTH, e->span,
                  "the last chunk, or one in another branch, may tell more numbers here than the first ones, by which "
                  "memory is set aside");
    if (ends_pass(blocks, state)) {
        collect_counts(e, state, blocks, counts);
        e->shape++;
        before = elab_unknown_array(e, &elab_int_type, counts->length);
        return with_work(e, elab_of_pull(e, before), work(e, meanwhile));
    }
    if (!in_passes) {
        if (meanwhile)
            tell_counts(e, state, blocks, counts);
        done = work(e, meanwhile);
        before = e->shape ? elab_unknown_array(e, &elab_int_type, counts->length) /* as above */
                          : counts_in_one_pass(e, state, blocks, counts, state->places, meanwhile);
        return with_work(e, elab_of_pull(e, before), done);
    }
    struct ir_value *start = product(e, blocks->index, state->places);
    before = elab_stored(e, &elab_int_type, state->values, start, ir_resolve(e->builder, counts->length));
    return with_work(e, elab_of_pull(e, before), work(e, meanwhile));
}

PRIMITIVE(LOOKBACK_COUNTS) { return look_back_counts(e, arguments, NULL); }

PRIMITIVE(LOOKBACK_COUNTS_DURING) { return look_back_counts(e, arguments, arguments[2]); }
