/* lookback: a block tells its aggregate and learns the combined one of all blocks before it
   (Merrill and Garland's decoupled look-back).

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
enum { STATE_AT = 62 };   /* of a word's bits: what is below is the value */
enum { ALIKE_DEPTH = 8 }; /* so many operations deep two numbers of blocks are compared */

struct word {
    struct ir_buffer *buffer; /* one for each block: the state above, pieces of the value below */
    size_t first, count;      /* of the pieces */
    int bits;                 /* that they have */
};

struct lookback_state {
    const char *name; /* the primitive's */
    struct span span;
    bool in_passes;
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

static bool are_alike_values(const struct ir_value *x, const struct ir_value *y, int depth);

/* x and y are results of branches on the same condition: does each branch compute them in the same way? */
static bool are_alike_results(const struct ir_value *x, const struct ir_value *y, int depth) {
    const struct ir_instruction *a = x->definition, *b = y->definition;
    size_t k = 0;
    while (k < a->result_count && a->results[k] != x)
        k++;
    if (k >= a->result_count || k >= b->result_count || b->results[k] != y)
        return false;
    for (int r = 0; r < 2; r++)
        if (!are_alike_values(a->regions[r]->yields.at[k], b->regions[r]->yields.at[k], depth))
            return false;
    return true;
}

/* Are they computed in the same way, so that they are the same number? Where it is false, they may still be. */
static bool are_alike_values(const struct ir_value *x, const struct ir_value *y, int depth) {
    if (x->base != y->base || ir_is_same(x, y))
        return x->base == y->base;
    const struct ir_instruction *a = x->definition, *b = y->definition;
    if (depth == 0 || !a || !b || a->kind != b->kind || a->op != b->op || a->operand_count != b->operand_count)
        return false;
    if (a->kind != IR_OPERATION && a->kind != IR_IF)
        return false;
    for (size_t i = 0; i < a->operand_count; i++)
        if (!are_alike_values(a->operands[i], b->operands[i], depth - 1))
            return false;
    return a->kind == IR_OPERATION || are_alike_results(x, y, depth - 1);
}

/* Words of so many counts that are 0 where the present region begins its next launch. */
static struct ir_buffer *zeroed_words(struct elaborator *e, struct ir_value *capacity) {
    const struct ir_region *here = ir_current(e->builder);
    for (size_t i = 0; i < e->cleared.count; i++) {
        const struct cleared_words *words = &e->cleared.at[i];
        if (words->region == here && are_alike_values(words->buffer->capacity, capacity, ALIKE_DEPTH)) {
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

static struct elab_value *combine(struct elaborator *e, const struct lookback_state *state, struct ir_value *const *x,
                                  struct ir_value *const *y) {
    struct elab_value *a = elab_unflatten(e, state->start, x);
    return elab_apply2(e, state->function, a, elab_unflatten(e, state->start, y));
}

/* The leaves of x combined with y, or, where `is_alone` (NULL: never) holds, those of `alone`. */
static ir_values combine_unless(struct elaborator *e, const struct lookback_state *state, struct ir_value *is_alone,
                                struct ir_value *const *alone, struct ir_value *const *x, struct ir_value *const *y) {
    ir_values combined = elab_leaves(e, combine(e, state, x, y));
    for (size_t k = 0; k < combined.count && is_alone; k++)
        combined.at[k] = ir_ternary(e->builder, OP_SELECT, is_alone, alone[k], combined.at[k]);
    return combined;
}

/* Is j the block that is `distance` before this one? NULL where the start value stands for what is not there. */
static struct ir_value *is_before(struct elaborator *e, const struct lookback_state *state,
                                  const struct blocks_run *blocks, struct ir_value *j, int distance) {
    struct ir_builder *b = e->builder;
    if (state->repeats_start)
        return NULL;
    return ir_binary(b, OP_EQ, j, ir_binary(b, OP_SUB, blocks->index, ir_int(b, distance)));
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

/* Before it looks again. */
static void pause(struct elaborator *e) {
    if (e->options->pauses)
        ir_fence(e->builder, LEVEL_THREAD);
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

/* A loop that carries what was found so far, the block to look at next, and whether it was the last. */
static void begin_search(struct elaborator *e, const struct lookback_state *state, const struct blocks_run *blocks,
                         struct ir_value *const *found, struct ir_value **carried) {
    struct ir_builder *b = e->builder;
    size_t n = state->bases.count;
    for (size_t k = 0; k < n; k++)
        carried[k] = found[k];
    carried[n] = ir_binary(b, OP_SUB, blocks->index, ir_int(b, 1));
    carried[n + 1] = ir_binary(b, OP_EQ, blocks->index, ir_int(b, 0));
    ir_begin_while(b, carried, n + 2, NULL, NULL);
    ir_name(carried[n], "before");
    ir_while_body(b, ir_unary(b, OP_NOT, carried[n + 1]));
}

/* In the branch where there is something at that block: what the loop carries next. Otherwise it looks again. */
static void end_search(struct elaborator *e, const ir_values *next, struct ir_value **carried,
                       struct ir_value **found) {
    struct ir_builder *b = e->builder;
    struct ir_value **nexts = ARENA_ARRAY(e->arena, struct ir_value *, next->count);
    struct ir_value **results = ARENA_ARRAY(e->arena, struct ir_value *, next->count);
    ir_else(b, next->at, next->count);
    pause(e);
    ir_end_if(b, carried, nexts, next->count, false);
    ir_end_while(b, nexts, results);
    memcpy(found, results, (next->count - 2) * sizeof *found);
}

/* Combines what the blocks before this one have given: acc[0…count) in and out. */
static void go_back(struct elaborator *e, const struct lookback_state *state, const struct blocks_run *blocks,
                    struct ir_value **acc) {
    struct ir_builder *b = e->builder;
    size_t n = state->bases.count;
    struct ir_value *zero = ir_int(b, 0), *one = ir_int(b, 1);
    struct ir_value **carried = ARENA_ARRAY(e->arena, struct ir_value *, n + 2);
    begin_search(e, state, blocks, acc, carried);
    struct ir_value *j = carried[n];
    struct ir_value **words, *what = look(e, state, j, &words);
    ir_name(what, "state");
    ir_begin_if(b, ir_binary(b, OP_NE, what, ir_int(b, NOTHING)));
    struct ir_value **x = value_in(e, state, words);
    ir_values combined = combine_unless(e, state, is_before(e, state, blocks, j, 1), x, x, carried);
    vec_push(e->arena, &combined, ir_binary(b, OP_SUB, j, one));
    struct ir_value *is_all =
        ir_binary(b, OP_OR, ir_binary(b, OP_EQ, what, ir_int(b, INCLUSIVE)), ir_binary(b, OP_EQ, j, zero));
    vec_push(e->arena, &combined, is_all);
    end_search(e, &combined, carried, acc);
}

/* The blocks that a warp looks at. */
struct window {
    struct ir_value *lane, *last; /* of the warp; the last lane that counts */
};

/* x of lane 0 becomes that of lane `last` combined with those of all lanes below it, down to its
   own: lane i looks at block j - i. */
static void combine_lanes(struct elaborator *e, const struct lookback_state *state, const struct window *window,
                          struct ir_value **x) {
    struct ir_builder *b = e->builder;
    size_t n = state->bases.count;
    int steps = 0;
    while (1 << steps < e->options->warp_size)
        steps++;
    struct ir_value **carried = ARENA_ARRAY(e->arena, struct ir_value *, n);
    struct ir_value **others = ARENA_ARRAY(e->arena, struct ir_value *, n);
    struct ir_value **nexts = ARENA_ARRAY(e->arena, struct ir_value *, n);
    for (size_t k = 0; k < n; k++)
        carried[k] = x[k];
    struct ir_value *step = ir_begin_for(b, ir_int(b, steps), carried, n, "step");
    struct ir_value *from = ir_binary(b, OP_ADD, window->lane, ir_binary(b, OP_SHL, ir_int(b, 1), step));
    struct ir_value *most = ir_int(b, e->options->warp_size - 1);
    struct ir_value *lane = ir_binary(b, OP_MIN, from, most);
    for (size_t k = 0; k < n; k++)
        others[k] = elab_exchange(e, carried[k], lane);
    ir_begin_if(b, ir_binary(b, OP_LE, from, ir_binary(b, OP_MIN, window->last, most)));
    ir_values combined = elab_leaves(e, combine(e, state, others, carried));
    ir_else(b, combined.at, n);
    ir_end_if(b, carried, nexts, n, false);
    ir_end_for(b, nexts, x);
}

/* go_back, done by all lanes of a warp together; each of them gets the result. */
static void go_back_by_warp(struct elaborator *e, const struct lookback_state *state, const struct blocks_run *blocks,
                            struct ir_value *lane, struct ir_value **acc) {
    struct ir_builder *b = e->builder;
    size_t n = state->bases.count;
    struct ir_value *zero = ir_int(b, 0);
    struct ir_value *none = elab_lanes(e, 0);
    struct ir_value **carried = ARENA_ARRAY(e->arena, struct ir_value *, n + 2);
    begin_search(e, state, blocks, acc, carried);
    /* Lanes that would be before block 0 look at it, too: they come after a lane that counts for all. */
    struct ir_value *at = ir_binary(b, OP_MAX, ir_binary(b, OP_SUB, carried[n], lane), zero);
    struct ir_value **words, *what = look(e, state, at, &words);
    ir_name(what, "state");
    struct ir_value *is_there = ir_binary(b, OP_NE, what, ir_int(b, NOTHING));
    struct ir_value *is_all = ir_binary(b, OP_OR, ir_binary(b, OP_EQ, what, ir_int(b, INCLUSIVE)),
                                        ir_binary(b, OP_AND, is_there, ir_binary(b, OP_EQ, at, zero)));
    struct ir_value *ends = ir_ballot(b, is_all);
    struct ir_value *below =
        ir_binary(b, OP_SUB, ir_binary(b, OP_AND, ends, ir_binary(b, OP_SUB, none, ends)), elab_lanes(e, 1));
    /* `below` has a bit for each lane before the first that counts for all; where there is none, for every lane. */
    struct window window = {lane, ir_unary(b, OP_POPCOUNT, below)};
    struct ir_value *counts = ir_binary(b, OP_LE, lane, window.last);
    struct ir_value *missing = ir_ballot(b, ir_binary(b, OP_AND, counts, ir_unary(b, OP_NOT, is_there)));
    ir_begin_if(b, ir_binary(b, OP_EQ, missing, none));
    struct ir_value **x = value_in(e, state, words);
    combine_lanes(e, state, &window, x);
    for (size_t k = 0; k < n; k++)
        x[k] = elab_exchange(e, x[k], zero);
    ir_values combined = combine_unless(e, state, is_before(e, state, blocks, carried[n], 1), x, x, carried);
    vec_push(e->arena, &combined, ir_binary(b, OP_SUB, carried[n], ir_int(b, e->options->warp_size)));
    vec_push(e->arena, &combined, ir_binary(b, OP_NE, ends, none));
    end_search(e, &combined, carried, acc);
}

/* ---- by the tree: note [tree of blocks] ---- */

enum { DIGIT_BITS = 5, DIGITS = 1 << DIGIT_BITS }; /* that a warp goes by */

static struct ir_value *bit(struct elaborator *e, struct ir_value *k) {
    return ir_binary(e->builder, OP_SHL, ir_int(e->builder, 1), k);
}

/* x, becomes what block j has told, as soon as it has; in passes what is there. With lanes each has its own j, and
   all wait for those of which `counts` holds. */
static void await(struct elaborator *e, const struct lookback_state *state, struct ir_value *j, struct ir_value *counts,
                  struct ir_value **x) {
    struct ir_builder *b = e->builder;
    size_t n = state->bases.count;
    if (state->in_passes) {
        for (size_t k = 0; k < n; k++)
            x[k] = ir_load(b, state->values[k], j);
        return;
    }
    struct ir_value **carried = ARENA_ARRAY(e->arena, struct ir_value *, n + 1);
    memcpy(carried, x, n * sizeof *x);
    carried[n] = ir_bool(b, false);
    ir_begin_while(b, carried, n + 1, NULL, NULL);
    ir_while_body(b, ir_unary(b, OP_NOT, carried[n]));
    struct ir_value **words, *what = look(e, state, j, &words);
    ir_name(what, "state");
    struct ir_value *is_there = ir_binary(b, OP_NE, what, ir_int(b, NOTHING));
    if (counts) {
        struct ir_value *is_missing = ir_binary(b, OP_AND, counts, ir_unary(b, OP_NOT, is_there));
        is_there = ir_binary(b, OP_EQ, ir_ballot(b, is_missing), elab_lanes(e, 0));
    }
    ir_begin_if(b, is_there);
    struct ir_value **value = value_in(e, state, words);
    ir_values next = {0};
    for (size_t k = 0; k < n; k++)
        vec_push(e->arena, &next, value[k]);
    vec_push(e->arena, &next, ir_bool(b, true));
    struct ir_value **nexts = ARENA_ARRAY(e->arena, struct ir_value *, n + 1);
    struct ir_value **results = ARENA_ARRAY(e->arena, struct ir_value *, n + 1);
    ir_else(b, next.at, n + 1);
    pause(e);
    ir_end_if(b, carried, nexts, n + 1, false);
    ir_end_while(b, nexts, results);
    memcpy(x, results, n * sizeof *x);
}

/* Lane i has the total of block i of so many; then each lane that of as many as are a greatest power of two that ends
   with it. */
static void combine_ends(struct elaborator *e, const struct lookback_state *state, struct ir_value *lane,
                         struct ir_value *count, struct ir_value **x) {
    struct ir_builder *b = e->builder;
    size_t n = state->bases.count;
    struct ir_value **carried = ARENA_ARRAY(e->arena, struct ir_value *, n);
    struct ir_value **others = ARENA_ARRAY(e->arena, struct ir_value *, n);
    struct ir_value **nexts = ARENA_ARRAY(e->arena, struct ir_value *, n);
    memcpy(carried, x, n * sizeof *x);
    struct ir_value *one = ir_int(b, 1), *zero = ir_int(b, 0);
    struct ir_value *step = ir_begin_for(b, ir_int(b, DIGIT_BITS), carried, n, "step");
    struct ir_value *half = bit(e, step);
    struct ir_value *from = ir_binary(b, OP_MAX, ir_binary(b, OP_SUB, lane, half), zero);
    for (size_t k = 0; k < n; k++)
        others[k] = elab_exchange(e, carried[k], from);
    struct ir_value *within = ir_binary(b, OP_SUB, ir_binary(b, OP_SHL, half, one), one);
    struct ir_value *left = ir_binary(b, OP_AND, ir_binary(b, OP_ADD, lane, one), within);
    ir_begin_if(b, ir_binary(b, OP_AND, ir_binary(b, OP_LT, lane, count), ir_binary(b, OP_EQ, left, zero)));
    ir_values combined = elab_leaves(e, combine(e, state, others, carried));
    ir_else(b, combined.at, n);
    ir_end_if(b, carried, nexts, n, false);
    ir_end_for(b, nexts, x);
}

/* A digit of the block's number, and of each lane the word that it looks at: those before the digit count. */
static struct ir_value *digit_at(struct elaborator *e, const struct blocks_run *blocks, struct ir_value *shift) {
    struct ir_builder *b = e->builder;
    return ir_binary(b, OP_AND, ir_binary(b, OP_SHR, blocks->index, shift), ir_int(b, DIGITS - 1));
}

static void await_digit(struct elaborator *e, const struct lookback_state *state, const struct blocks_run *blocks,
                        struct ir_value *lane, struct ir_value *shift, struct ir_value **x) {
    struct ir_builder *b = e->builder;
    struct ir_value *one = ir_int(b, 1), *digit = digit_at(e, blocks, shift);
    struct ir_value *first = ir_binary(b, OP_SUB, ir_binary(b, OP_SHR, blocks->index, shift), digit);
    struct ir_value *own = ir_binary(b, OP_MIN, lane, ir_binary(b, OP_SUB, digit, one));
    struct ir_value *end = ir_binary(b, OP_ADD, ir_binary(b, OP_ADD, first, own), one);
    struct ir_value *at = ir_binary(b, OP_SUB, ir_binary(b, OP_SHL, end, shift), one);
    await(e, state, at, ir_binary(b, OP_LT, lane, digit), x);
}

/* Does the block's number end so that its word is that of more blocks than itself? */
static struct ir_value *ends_more(struct elaborator *e, const struct blocks_run *blocks, bool by_warp) {
    struct ir_builder *b = e->builder;
    struct ir_value *last = ir_int(b, by_warp ? DIGITS - 1 : 1);
    return ir_binary(b, OP_EQ, ir_binary(b, OP_AND, blocks->index, last), last);
}

/* How many blocks there are from the first on, up to this one. */
static struct ir_value *own_blocks(struct elaborator *e, const struct blocks_run *blocks, struct ir_value *first) {
    struct ir_builder *b = e->builder;
    return ir_binary(b, OP_SUB, ir_binary(b, OP_ADD, blocks->index, ir_int(b, 1)), first);
}

/* own: the block's value, becomes that of its word. */
static void join_ends(struct elaborator *e, const struct lookback_state *state, const struct blocks_run *blocks,
                      struct ir_value *lane, struct ir_value **own) {
    struct ir_builder *b = e->builder;
    size_t n = state->bases.count;
    struct ir_value **carried = ARENA_ARRAY(e->arena, struct ir_value *, n + 1);
    struct ir_value **x = ARENA_ARRAY(e->arena, struct ir_value *, n + 1);
    struct ir_value *one = ir_int(b, 1), *most = ir_int(b, DIGITS - 1);
    memcpy(carried, own, n * sizeof *own);
    carried[n] = lane ? ir_int(b, 0) : blocks->index; /* how far the digit is; or the first block of the own ones */
    ir_begin_while(b, carried, n + 1, NULL, NULL);
    memcpy(x, carried, n * sizeof *x);
    if (lane) {
        ir_while_body(b, ir_binary(b, OP_EQ, digit_at(e, blocks, carried[n]), most));
        await_digit(e, state, blocks, lane, carried[n], x);
        struct ir_value *is_own = ir_binary(b, OP_EQ, lane, most);
        for (size_t k = 0; k < n; k++)
            x[k] = ir_ternary(b, OP_SELECT, is_own, carried[k], x[k]);
        combine_ends(e, state, lane, ir_int(b, DIGITS), x);
        for (size_t k = 0; k < n; k++)
            x[k] = elab_exchange(e, x[k], most);
        x[n] = ir_binary(b, OP_ADD, carried[n], ir_int(b, DIGIT_BITS));
    } else {
        struct ir_value *more = ir_binary(b, OP_AND, blocks->index, own_blocks(e, blocks, carried[n]));
        ir_while_body(b, ir_binary(b, OP_NE, more, ir_int(b, 0)));
        struct ir_value *size = own_blocks(e, blocks, carried[n]); /* what the condition computes stays there */
        await(e, state, ir_binary(b, OP_SUB, carried[n], one), NULL, x);
        memcpy(x, elab_leaves(e, combine(e, state, x, carried)).at, n * sizeof *x);
        x[n] = ir_binary(b, OP_SUB, carried[n], size);
    }
    ir_end_while(b, x, carried);
    memcpy(own, carried, n * sizeof *own);
}

/* acc: the start value, becomes what is before the block. */
static void go_down(struct elaborator *e, const struct lookback_state *state, const struct blocks_run *blocks,
                    struct ir_value **acc) {
    struct ir_builder *b = e->builder;
    size_t n = state->bases.count;
    struct ir_value **carried = ARENA_ARRAY(e->arena, struct ir_value *, n + 1);
    struct ir_value **x = ARENA_ARRAY(e->arena, struct ir_value *, n + 1);
    memcpy(carried, acc, n * sizeof *acc);
    carried[n] = ir_int(b, 0); /* how many blocks are taken */
    ir_begin_while(b, carried, n + 1, NULL, NULL);
    ir_name(carried[n], "taken");
    ir_while_body(b, ir_binary(b, OP_NE, carried[n], blocks->index));
    struct ir_value *left = ir_binary(b, OP_SUB, blocks->index, carried[n]);
    struct ir_value *top = ir_binary(b, OP_SUB, ir_int(b, 31), ir_unary(b, OP_CLZ, left));
    struct ir_value *end = ir_binary(b, OP_ADD, carried[n], bit(e, top));
    memcpy(x, carried, n * sizeof *x);
    await(e, state, ir_binary(b, OP_SUB, end, ir_int(b, 1)), NULL, x);
    memcpy(x, elab_leaves(e, combine(e, state, carried, x)).at, n * sizeof *x);
    x[n] = end;
    ir_end_while(b, x, carried);
    memcpy(acc, carried, n * sizeof *acc);
}

/* The same by a warp, digit after digit; each lane gets the result. */
static void go_down_by_warp(struct elaborator *e, const struct lookback_state *state, const struct blocks_run *blocks,
                            struct ir_value *lane, struct ir_value **acc) {
    struct ir_builder *b = e->builder;
    size_t n = state->bases.count;
    struct ir_value *zero = ir_int(b, 0), *one = ir_int(b, 1), *bits = ir_int(b, DIGIT_BITS);
    struct ir_value **carried = ARENA_ARRAY(e->arena, struct ir_value *, n + 1);
    struct ir_value **x = ARENA_ARRAY(e->arena, struct ir_value *, n + 1);
    struct ir_value **others = ARENA_ARRAY(e->arena, struct ir_value *, n);
    memcpy(carried, acc, n * sizeof *acc);
    struct ir_value *length = ir_binary(b, OP_SUB, ir_int(b, 32), ir_unary(b, OP_CLZ, blocks->index));
    carried[n] = ir_binary(b, OP_DIV, ir_binary(b, OP_ADD, length, ir_int(b, DIGIT_BITS - 1)), bits);
    ir_begin_while(b, carried, n + 1, NULL, NULL);
    ir_name(carried[n], "digits");
    ir_while_body(b, ir_binary(b, OP_LT, zero, carried[n]));
    x[n] = ir_binary(b, OP_SUB, carried[n], one);
    struct ir_value *shift = ir_binary(b, OP_MUL, x[n], bits), *digit = digit_at(e, blocks, shift);
    memcpy(x, carried, n * sizeof *x);
    await_digit(e, state, blocks, lane, shift, x);
    combine_ends(e, state, lane, digit, x);
    struct ir_value **sum = ARENA_ARRAY(e->arena, struct ir_value *, n);
    struct ir_value **nexts = ARENA_ARRAY(e->arena, struct ir_value *, n);
    memcpy(sum, carried, n * sizeof *sum);
    struct ir_value *step = ir_begin_for(b, bits, sum, n, "step");
    struct ir_value *at = ir_binary(b, OP_SUB, ir_int(b, DIGIT_BITS - 1), step);
    struct ir_value *upper = ir_binary(b, OP_SHR, digit, at);
    struct ir_value *from = ir_binary(b, OP_SUB, ir_binary(b, OP_SHL, upper, at), one);
    for (size_t k = 0; k < n; k++)
        others[k] = elab_exchange(e, x[k], ir_binary(b, OP_MAX, from, zero));
    ir_begin_if(b, ir_binary(b, OP_NE, ir_binary(b, OP_AND, upper, one), zero));
    ir_values combined = elab_leaves(e, combine(e, state, sum, others));
    ir_else(b, combined.at, n);
    ir_end_if(b, sum, nexts, n, false);
    ir_end_for(b, nexts, x);
    ir_end_while(b, x, carried);
    memcpy(acc, carried, n * sizeof *acc);
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

/* acc: the start value, becomes what is before the block, in lane 0 at least, when the block has told all. */
static void find_by_tree(struct elaborator *e, const struct lookback_state *state, const struct blocks_run *blocks,
                         const ir_values *aggregate, struct ir_value *lane, struct ir_value **acc) {
    size_t n = state->bases.count;
    struct ir_value **own = ARENA_ARRAY(e->arena, struct ir_value *, n);
    memcpy(own, aggregate->at, n * sizeof *own);
    ir_begin_if(e->builder, ends_more(e, blocks, lane));
    join_ends(e, state, blocks, lane, own);
    begin_only(e, lane);
    publish(e, state, blocks, AGGREGATE, own);
    end_only(e, lane);
    ir_end_only(e->builder);
    if (lane)
        go_down_by_warp(e, state, blocks, lane, acc);
    else
        go_down(e, state, blocks, acc);
    begin_only(e, lane);
}

static void find_by_states(struct elaborator *e, const struct lookback_state *state, const struct blocks_run *blocks,
                           const ir_values *aggregate, struct ir_value *lane, ir_values *acc) {
    if (lane)
        go_back_by_warp(e, state, blocks, lane, acc->at);
    else
        go_back(e, state, blocks, acc->at);
    begin_only(e, lane);
    struct ir_value *is_first = is_before(e, state, blocks, ir_int(e->builder, 0), 0);
    ir_values inclusive = combine_unless(e, state, is_first, aggregate->at, acc->at, aggregate->at);
    publish(e, state, blocks, INCLUSIVE, inclusive.at);
    ir_values start = elab_leaves(e, state->start);
    if (is_first)
        *acc = combine_unless(e, state, is_first, start.at, start.at, acc->at);
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
    bool by_warp = e->options->has_shuffles;
    struct ir_value *lane = NULL;
    ir_begin_forall(b, LEVEL_BLOCK, by_warp ? LEVEL_WARP : LEVEL_THREAD, ir_int(b, 1), "first");
    if (by_warp)
        lane = ir_begin_forall(b, LEVEL_WARP, LEVEL_THREAD, ir_int(b, e->options->warp_size), "lane");
    if (!is_told)
        tell(e, state, blocks, aggregate, lane);
    bool was_volatile = ir_set_volatile(b, true);
    ir_values acc = elab_leaves(e, state->start);
    if (state->is_tree)
        find_by_tree(e, state, blocks, aggregate, lane, acc.at);
    else
        find_by_states(e, state, blocks, aggregate, lane, &acc);
    ir_set_volatile(b, was_volatile);
    for (size_t k = 0; k < n; k++)
        ir_store(b, found[k], ir_int(b, 0), acc.at[k]);
    end_only(e, lane);
    if (by_warp)
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
    size_t n = state->bases.count;
    struct ir_value **own = ARENA_ARRAY(e->arena, struct ir_value *, n);
    struct blocks_run at = *blocks;
    at.index = ir_begin_for(b, blocks->count, NULL, 0, "block");
    for (size_t k = 0; k < n; k++)
        own[k] = ir_load(b, state->values[k], at.index);
    join_ends(e, state, &at, NULL, own);
    ir_values acc = elab_leaves(e, state->start);
    go_down(e, state, &at, acc.at);
    for (size_t k = 0; k < n; k++) {
        ir_store(b, state->values[k], at.index, own[k]);
        ir_store(b, state->before[k], at.index, acc.at[k]);
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
    ir_values nexts = elab_leaves(e, combine(e, state, acc.at, given));
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

static struct ir_value *most_count(struct elaborator *e) { return ir_int(e->builder, INT32_MAX); }

/* The count that the block tells for a place: 0 where the array ends before the place. See note [counts]. */
static struct ir_value *count_at(struct elaborator *e, struct pull *counts, struct ir_value *place) {
    struct ir_builder *b = e->builder;
    struct ir_value *zero = ir_int(b, 0);
    struct ir_value *is_there = ir_binary(b, OP_LT, place, ir_resolve(b, counts->length)), *count;
    if (ir_known(b, is_there) == IR_TRUE) {
        count = elab_as_scalar(e, elab_index(e, counts, place));
    } else {
        ir_begin_if(b, is_there);
        count = elab_as_scalar(e, elab_index(e, counts, place));
        ir_else(b, &count, 1);
        ir_end_if(b, &zero, &count, 1, false);
    }
    return ir_binary(b, OP_MAX, zero, ir_binary(b, OP_MIN, count, ir_int(b, INT32_MAX - 1)));
}

/* go_back for counts: one thread reads the words of one place, on a GPU of some blocks at a time, whose
   loads are under way together. */
static struct ir_value *count_back(struct elaborator *e, const struct lookback_state *state,
                                   const struct blocks_run *blocks, struct ir_value *place) {
    enum { SUM, BEFORE, IS_DONE, CARRIED };
    struct ir_builder *b = e->builder;
    struct ir_value *zero = ir_int(b, 0), *one = ir_int(b, 1), *results[CARRIED];
    struct ir_value *carried[CARRIED] = {zero, ir_binary(b, OP_SUB, blocks->index, one),
                                         ir_binary(b, OP_EQ, blocks->index, zero)};
    const int64_t lows[CARRIED] = {INT32_MIN, -1, 0}, highs[CARRIED] = {INT32_MAX, blocks->index->high - 1, 1};
    ir_begin_while(b, carried, CARRIED, lows, highs);
    ir_name(carried[BEFORE], "before");
    ir_while_body(b, ir_unary(b, OP_NOT, carried[IS_DONE]));
    struct ir_value *at[GPU_COUNTS_TOGETHER], *words[GPU_COUNTS_TOGETHER], *takes = NULL, *ends = NULL;
    int together = e->options->is_cpu ? 1 : GPU_COUNTS_TOGETHER;
    for (int k = 0; k < together; k++) { /* beyond block 0, it again: no thread takes it twice */
        at[k] = k ? ir_binary(b, OP_MAX, ir_binary(b, OP_SUB, carried[BEFORE], ir_int(b, k)), zero) : carried[BEFORE];
        words[k] = see(e, state->words->buffer, word_at(e, state, at[k], place));
        ir_name(words[k], "state");
    }
    struct ir_value *nexts[CARRIED] = {carried[SUM], carried[BEFORE], ir_bool(b, false)};
    for (int k = 0; k < together; k++) {
        struct ir_value *is_there = ir_binary(b, OP_NE, words[k], zero), *is_all = ir_binary(b, OP_LT, words[k], zero);
        struct ir_value *goes_on = takes ? ir_binary(b, OP_AND, takes, ir_unary(b, OP_NOT, ends)) : NULL;
        takes = goes_on ? ir_binary(b, OP_AND, goes_on, is_there) : is_there;
        ends = ir_binary(b, OP_OR, is_all, ir_binary(b, OP_EQ, at[k], zero));
        struct ir_value *count = ir_ternary(b, OP_SELECT, is_all, ir_binary(b, OP_AND, words[k], most_count(e)),
                                            ir_binary(b, OP_SUB, words[k], one));
        nexts[SUM] = ir_binary(b, OP_ADD, nexts[SUM], ir_ternary(b, OP_SELECT, takes, count, zero));
        nexts[BEFORE] = ir_ternary(b, OP_SELECT, takes, ir_binary(b, OP_SUB, at[k], one), nexts[BEFORE]);
        nexts[IS_DONE] = ir_binary(b, OP_OR, nexts[IS_DONE], ir_binary(b, OP_AND, takes, ends));
    }
    ir_end_while(b, nexts, results);
    return ir_binary(b, OP_AND, results[SUM], most_count(e));
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
        sum = count_back(e, state, blocks, place);
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
    sum = ir_binary(b, OP_AND, ir_binary(b, OP_ADD, sum, count), most_count(e));
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
        return with_work(e, in_one_pass(e, state, blocks, &aggregate, meanwhile), done);
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
        before = counts_in_one_pass(e, state, blocks, counts, state->places, meanwhile);
        return with_work(e, elab_of_pull(e, before), done);
    }
    struct ir_value *start = product(e, blocks->index, state->places);
    before = elab_stored(e, &elab_int_type, state->values, start, ir_resolve(e->builder, counts->length));
    return with_work(e, elab_of_pull(e, before), work(e, meanwhile));
}

PRIMITIVE(LOOKBACK_COUNTS) { return look_back_counts(e, arguments, NULL); }

PRIMITIVE(LOOKBACK_COUNTS_DURING) { return look_back_counts(e, arguments, arguments[2]); }
