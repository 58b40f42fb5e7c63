/* The primitives on arrays and functions: interp_<ID> for every PRIM row of primitives.def. */
#include "interp/machine.h"

/* The head of one: of its arguments, and where it stands. */
#define PRIMITIVE(id)                                                                                                  \
    static struct value interp_##id(__attribute__((unused)) struct interp *in,                                         \
                                    __attribute__((unused)) const struct value *a,                                     \
                                    __attribute__((unused)) struct span span)

/* ---- making arrays ---- */

static struct value new_pull(struct interp *in, struct interp_pull pull) {
    struct interp_pull *made = INTERP_NEW(in, struct interp_pull);
    *made = pull;
    return pull_of(made);
}

static struct value new_push(struct interp *in, struct interp_push push) {
    struct interp_push *made = INTERP_NEW(in, struct interp_push);
    *made = push;
    made->length = -1;
    made->made_at = interp_users_span(in, push.span);
    return push_of(made);
}

#define NEW_PUSH(id, ...) new_push(in, (struct interp_push){.kind = PUSH_##id, .span = span, __VA_ARGS__})

PRIMITIVE(GENERATE) {
    if (a[0].kind == V_UNKNOWN)
        return new_pull(in, (struct interp_pull){.kind = INTERP_PULL_FUNCTION, .is_unknown = true, .function = a[1]});
    return new_pull(in, (struct interp_pull){.kind = INTERP_PULL_FUNCTION,
                                             .length = interp_length(in, a[0], "the length", span),
                                             .function = a[1]});
}

PRIMITIVE(LENGTH) { return a[0].pull->is_unknown ? unknown_value() : int_of(a[0].pull->length); }

PRIMITIVE(LENGTH_PULL) { return interp_LENGTH(in, a, span); }

PRIMITIVE(COLUMNS) {
    int64_t columns;
    interp_columns(in, a[0].pull, 1, &columns, span);
    return int_of(columns);
}

PRIMITIVE(ELEMENT_BYTES) { return int_of(4); }

PRIMITIVE(COMMUTES) {
    const struct value f = a[0];
    return bool_of(f.kind == V_CLOSURE
                       ? core_commutes(in->arena, f.closure->lambda)
                       : f.kind == V_PRIMITIVE && !f.partial->count && core_commutes_primitive(f.partial->primitive));
}

PRIMITIVE(COMPARISON) { return a[0]; }

/* The interpreter uses each start value once. */
PRIMITIVE(MAY_REPEAT) { return bool_of(false); }

/* The interpreter combines by the tree that the language says. */
PRIMITIVE(MAY_REORDER) { return bool_of(false); }

static struct value combined_length(struct interp *in, const struct value *a, int64_t exact, const char *how,
                                    struct span span) {
    if (a[0].kind == V_UNKNOWN || a[1].kind == V_UNKNOWN)
        return unknown_value();
    if (exact > INT32_MAX)
        interp_fail(in, DIAG_ARRAY_TOO_LARGE, span, "an array of %lld %s %lld %s: the most is 2147483647",
                    (long long)a[0].scalar.integer, how, (long long)a[1].scalar.integer,
                    text_elements(a[1].scalar.integer));
    return int_of((int32_t)(uint32_t)exact);
}

PRIMITIVE(LENGTH_PLUS) { return combined_length(in, a, a[0].scalar.integer + a[1].scalar.integer, "and", span); }

PRIMITIVE(LENGTH_TIMES) { return combined_length(in, a, a[0].scalar.integer * a[1].scalar.integer, "times", span); }

/* That rows differ is an error once they are known to be there. */
PRIMITIVE(LAST_LENGTH) {
    const struct interp_pull *rows = a[1].pull;
    int64_t width = interp_known(in, a[0], span).scalar.integer, length = 0;
    for (int64_t i = 0, count = pull_length(in, rows); i < count; i++) {
        length = interp_row_length(in, rows, i, span);
        bool is_unequal = length > width || (length < width && i + 1 < rows->length);
        in->is_unequal = in->is_unequal || is_unequal;
        if (is_unequal && !in->is_absent)
            interp_fail(in, DIAG_UNEQUAL_ROWS, span,
                        "a row has %lld %s, and the first %lld: `flatten` wants rows equally long, but for a shorter "
                        "last one; `flattenRagged` takes any",
                        (long long)length, text_elements(length), (long long)width);
    }
    return int_of(length < width ? length : width);
}

PRIMITIVE(NO_GROUPS) {
    interp_fail(in, DIAG_NEGATIVE_LENGTH, span, "groups of %lld elements: a group has at least 1",
                (long long)a[0].scalar.integer);
}

PRIMITIVE(ALL_OF) {
    int64_t n = interp_known(in, a[0], span).scalar.integer, length = interp_known(in, a[1], span).scalar.integer;
    if (n > length)
        interp_fail(in, DIAG_INDEX_OUT_OF_RANGE, span, "index %lld is out of range: the array has %lld elements",
                    (long long)n - 1, (long long)length);
    return int_of(n);
}

PRIMITIVE(LENGTH_PUSH) { return int_of(interp_measured_length(in, a[0].push)); }

PRIMITIVE(INDEX) { return interp_plain(in, pull_at(in, a[0].pull, a[1], span)); }

PRIMITIVE(INDEX_OPERATOR) { return interp_INDEX(in, a, span); }

PRIMITIVE(PARTS_OF) { return a[2]; }

PRIMITIVE(JOIN_PARTS) { return interp_apply(in, a[2], a[0], span); }

PRIMITIVE(WHOLE_ROWS) {
    int64_t asked = interp_known(in, a[0], span).scalar.integer, width = asked < 1 ? 1 : asked;
    int64_t length = interp_known(in, a[1], span).scalar.integer;
    if (length % width)
        interp_fail(in, DIAG_UNFILLED_ROW, span,
                    "rows of %lld elements do not fill an array of %lld: `rowsPadded` fills the last one",
                    (long long)width, (long long)length);
    return int_of(length / width);
}

PRIMITIVE(FULL_OR) { return interp_known(in, a[0], span).scalar.integer ? a[1] : interp_apply(in, a[2], a[1], span); }

PRIMITIVE(MAP) {
    return new_pull(in, (struct interp_pull){.kind = INTERP_PULL_MAP,
                                             .is_unknown = a[1].pull->is_unknown,
                                             .length = a[1].pull->length,
                                             .function = a[0],
                                             .of = a[1].pull});
}

PRIMITIVE(MAP_PULL) { return interp_MAP(in, a, span); }

PRIMITIVE(MAP_PUSH) { return NEW_PUSH(MAP, .function = a[0], .of = a[1].push); }

PRIMITIVE(MAP_PUSH_IX) { return NEW_PUSH(MAP, .function = a[0], .of = a[1].push, .map.with_index = true); }

PRIMITIVE(PUSH) { return NEW_PUSH(PULL, .array = a[0].pull); }

PRIMITIVE(CONCAT) {
    int64_t size = interp_length(in, a[0], "the chunk size", span);
    return NEW_PUSH(CONCAT, .chunks = {size, in->settled.chunk_level}, .array = a[1].pull);
}

PRIMITIVE(CONCAT_SEQ) { return interp_CONCAT(in, a, span); }

PRIMITIVE(INTERLEAVE) {
    int64_t size = interp_length(in, a[0], "the chunk size", span);
    return NEW_PUSH(INTERLEAVE, .chunks = {size, in->settled.chunk_level}, .function = a[1], .array = a[2].pull);
}

PRIMITIVE(INTERLEAVE_SEQ) { return interp_INTERLEAVE(in, a, span); }

PRIMITIVE(INTERLEAVE_INTO) {
    int64_t size = interp_length(in, a[0], "the length", span);
    return NEW_PUSH(INTERLEAVE_INTO, .chunks.level = in->settled.chunk_level, .total = size, .function = a[1],
                    .array = a[2].pull);
}

PRIMITIVE(APPEND) { return NEW_PUSH(APPEND, .of = a[0].push, .both.second = a[1].push); }

PRIMITIVE(PUSH_EACH) {
    int64_t size = interp_length(in, a[0], "the length", span),
            count = interp_length(in, a[1], "the number of iterations", span);
    return NEW_PUSH(EACH, .total = size, .each.count = count, .function = a[2]);
}

PRIMITIVE(SCANL) { return NEW_PUSH(SCANL, .function = a[0], .scanl.initial = a[1], .array = a[2].pull); }

PRIMITIVE(SEQFOR) {
    int64_t size = interp_length(in, a[0], "the length", span);
    return NEW_PUSH(SEQFOR, .total = size, .function = a[1]);
}

PRIMITIVE(SCAN_BY_INDEX) {
    return NEW_PUSH(SCAN_BY_INDEX, .function = a[0], .array = a[1].pull, .update.pairs = a[2].pull);
}

static struct value new_scatter(struct interp *in, const struct value *a, bool is_each, struct span span) {
    return NEW_PUSH(SCATTER, .array = a[0].pull, .update = {.pairs = a[1].pull, .is_each = is_each});
}

PRIMITIVE(SCATTER) { return new_scatter(in, a, false, span); }

PRIMITIVE(SCATTER_EACH) { return new_scatter(in, a, true, span); }

static struct value new_reduction(struct interp *in, const struct value *a, bool is_each, struct span span) {
    bool needs_none =
        interp_known(in, a[2], span).scalar.integer == 0 && interp_known(in, a[3], span).scalar.integer == 1;
    return NEW_PUSH(REDUCE_BY_INDEX, .function = a[4], .array = a[6].pull,
                    .update = {a[7].pull, a[5], is_each, needs_none});
}

PRIMITIVE(REDUCE_BY_INDEX) { return new_reduction(in, a, false, span); }

PRIMITIVE(REDUCE_BY_INDEX_EACH) { return new_reduction(in, a, true, span); }

static bool add_place(struct text *line, const struct place_in *place) {
    if (!place)
        return false;
    text_printf(line, "%s%s %lld", add_place(line, place->outer) ? ", " : " [", place->what, (long long)place->index);
    return true;
}

static void add_traced(struct text *line, struct value value) {
    if (value.kind != V_TUPLE) {
        value_print_scalar(line, base_info[value.base].is_narrow ? BASE_F32 : value.base, value.scalar);
        return;
    }
    for (size_t i = 0; i < value.tuple->count; i++) {
        text_add(line, i ? "," : "(");
        add_traced(line, value.tuple->items[i]);
    }
    text_add(line, ")");
}

PRIMITIVE(TRACE) {
    if (in->is_absent)
        return a[1];
    struct arena *arena = arena_new();
    struct text line;
    text_init(&line, arena);
    for (int64_t i = 0; i < a[0].pull->length; i++)
        text_printf(&line, "%c", (char)pull_element(in, a[0].pull, i, span).scalar.natural);
    text_add(&line, add_place(&line, in->place) ? "]: " : ": ");
    add_traced(&line, a[1]);
    fprintf(stderr, "%s\n", text_string(&line));
    arena_free(arena);
    return a[1];
}

static struct value unpacked(struct interp *in, const struct value *cells) { return value_unpack(in, &cells); }

/* Chunks before are combined by the tree of the language: blocks of powers of two, as the bits of their number say. */
static struct value look_back(struct interp *in, const struct value *a, struct span span) {
    if (in->is_absent)
        return unknown_value();
    struct chunks_run *run = in->chunks;
    if (!run)
        return a[2];
    size_t which = run->next++;
    if (which == run->seen.count)
        vec_push(in->arena, &run->seen, ARENA_NEW(in->arena, struct seen_chunks));
    struct seen_chunks *seen = run->seen.at[which];
    enum level_value loc = in->loc;
    in->loc = LEVEL_THREAD;
    size_t depth = (size_t)__builtin_popcount(seen->count);
    struct value before = a[2], own = a[3];
    for (size_t i = 0; i < depth; i++)
        before = interp_apply2(in, a[1], before, unpacked(in, seen->totals.at[i]), span);
    for (uint32_t count = seen->count++; count & 1; count >>= 1)
        own = interp_apply2(in, a[1], unpacked(in, seen->totals.at[--depth]), own, span);
    if (depth == seen->totals.count)
        vec_push(in->arena, &seen->totals, ARENA_ARRAY(in->arena, struct value, value_pack_width(own)));
    value_pack(own, seen->totals.at[depth]);
    in->loc = loc;
    return before;
}

/* The same for each place of an array; sums are modulo 2^31. */
static struct value look_back_counts(struct interp *in, const struct value *a, struct span span) {
    struct chunks_run *run = in->chunks;
    const struct interp_pull *counts = a[1].pull;
    interp_counts none = {0}, *seen = &none;
    if (run && run->next_counts == run->counts.count)
        vec_push(in->arena, &run->counts, ARENA_NEW(in->arena, interp_counts));
    if (run)
        seen = run->counts.at[run->next_counts++];
    struct value *before = interp_alloc(in, (size_t)pull_length(in, counts) * sizeof *before);
    enum level_value loc = in->loc;
    in->loc = LEVEL_THREAD;
    for (int64_t i = 0; i < counts->length; i++) {
        if ((size_t)i == seen->count)
            vec_push(in->arena, seen, 0);
        int64_t count = interp_known(in, pull_element(in, counts, i, span), span).scalar.integer;
        before[i] = int_of(seen->at[i]);
        count = count < 0 ? 0 : count < INT32_MAX ? count : INT32_MAX - 1;
        seen->at[i] = (int32_t)((seen->at[i] + count) & INT32_MAX);
    }
    in->loc = loc;
    return new_pull(in, (struct interp_pull){.kind = INTERP_PULL_VALUES, .length = counts->length, .values = before});
}

/* With what a function gives, for which no block here need wait. */
static struct value with_work(struct interp *in, struct value before, struct value function, struct span span) {
    struct value pair[2] = {before, interp_apply(in, function, int_of(0), span)};
    return tuple_of(in, pair, 2);
}

PRIMITIVE(LOOKBACK) { return look_back(in, a, span); }
PRIMITIVE(LOOKBACK_COUNTS) { return look_back_counts(in, a, span); }
PRIMITIVE(LOOKBACK_DURING) { return with_work(in, look_back(in, a, span), a[4], span); }
PRIMITIVE(LOOKBACK_COUNTS_DURING) { return with_work(in, look_back_counts(in, a, span), a[2], span); }

PRIMITIVE(RANK_BY_INDEX) {
    int64_t buckets = interp_length(in, a[0], "the length", span), length = pull_length(in, a[1].pull);
    struct value *counts = interp_alloc(in, (size_t)buckets * sizeof *counts);
    struct value *ranks = interp_alloc(in, (size_t)length * sizeof *ranks);
    for (int64_t i = 0; i < buckets; i++)
        counts[i] = int_of(0);
    enum level_value loc = in->loc;
    in->loc = LEVEL_THREAD;
    for (int64_t i = 0; i < length; i++) {
        int64_t index = interp_known(in, pull_element(in, a[1].pull, i, span), span).scalar.integer;
        bool counts_it = 0 <= index && index < buckets;
        ranks[i] = counts_it ? counts[index] : int_of(0);
        if (counts_it)
            counts[index] = int_of(counts[index].scalar.integer + 1);
    }
    in->loc = loc;
    struct value all =
        new_pull(in, (struct interp_pull){.kind = INTERP_PULL_VALUES, .length = length, .values = ranks});
    struct value pair[] = {
        NEW_PUSH(PULL, .array = all.pull),
        new_pull(in, (struct interp_pull){.kind = INTERP_PULL_VALUES, .length = buckets, .values = counts})};
    return tuple_of(in, pair, 2);
}

PRIMITIVE(ORDER_BITS) { return a[0].kind == V_UNKNOWN ? a[0] : interp_order_bits(a[0]); }

PRIMITIVE(FROM_ORDER_BITS) { return a[0].kind == V_UNKNOWN ? a[0] : interp_from_order_bits(a[0], in->settled.base); }

PRIMITIVE(PERMUTE_INTO) {
    int64_t size = interp_length(in, a[0], "the length", span);
    return NEW_PUSH(PERMUTE_INTO, .total = size, .of = a[1].push);
}

PRIMITIVE(PERMUTE_OVER) {
    int64_t size = interp_length(in, a[0], "the length", span);
    return NEW_PUSH(PERMUTE_INTO, .total = size, .of = a[1].push, .into.is_over = true);
}

PRIMITIVE(COVERS) { return a[0]; }

PRIMITIVE(PERMUTE) { return NEW_PUSH(PERMUTE, .function = a[0], .of = a[1].push); }

/* ---- running ---- */

/* Values that are stored together, as a row: a tuple with its width, then its items. Computed arrays wait outside the
   regions until the last one is computed, as each may be made of values that the region holds. */
struct storing {
    size_t width; /* of a tuple; else 0 */
    struct store *store;
    struct value scalar;
};

static size_t storing_width(struct value value) {
    size_t width = 1;
    for (size_t i = 0; value.kind == V_TUPLE && i < value.tuple->count; i++)
        width += storing_width(value.tuple->items[i]);
    return width;
}

static struct storing *store_begin(struct interp *in, struct value value, struct storing *at, struct span span) {
    *at = (struct storing){.scalar = value};
    at->scalar.wrapped = 0;
    if (value.kind == V_PUSH)
        at->store = store_run(in, value.push, span);
    if (value.kind == V_TUPLE)
        at->width = value.tuple->count;
    struct storing *next = at + 1;
    for (size_t i = 0; i < at->width; i++)
        next = store_begin(in, value.tuple->items[i], next, span);
    return next;
}

static struct value store_end(struct interp *in, const struct storing **at) {
    const struct storing *own = (*at)++;
    if (own->store)
        return store_finish(in, own->store);
    if (!own->width)
        return own->scalar;
    struct tuple *tuple = interp_alloc(in, sizeof *tuple + own->width * sizeof *tuple->items);
    tuple->count = own->width;
    for (size_t i = 0; i < own->width; i++)
        tuple->items[i] = store_end(in, at);
    struct value result = {.kind = V_TUPLE};
    result.tuple = tuple;
    return result;
}

/* Stores a value. Releases what the region got since the mark, the value itself included, before it places the stored
   copy there. Without a mark it releases nothing. */
static struct value store(struct interp *in, struct value value, const struct region_mark *mark, struct span span) {
    struct storing all[storing_width(value)];
    store_begin(in, value, all, span);
    if (mark)
        region_release(in->region, *mark);
    const struct storing *at = all;
    return store_end(in, &at);
}

PRIMITIVE(FORCE) { return store(in, a[0], NULL, span); }

PRIMITIVE(FORCE_UP_TO) {
    int64_t size = interp_length(in, a[0], "the length", span), said_length = -1;
    if (in->is_absent) /* its elements say the length */
        return new_pull(in, (struct interp_pull){.kind = INTERP_PULL_STORED, .is_unknown = true});
    struct value placed = NEW_PUSH(PERMUTE_INTO, .total = size, .of = a[1].push, .into.said = &said_length);
    return interp_FORCE(in, &placed, span);
}

PRIMITIVE(WHILE) {
    struct region_mark mark = region_here(in->region);
    struct value state = interp_FORCE(in, &a[2], span);
    while (interp_known(in, interp_apply(in, a[0], state, span), span).scalar.natural)
        state = store(in, interp_apply(in, a[1], state, span), &mark, span);
    return state;
}

PRIMITIVE(POWER) {
    struct region_mark mark = region_here(in->region);
    struct value state = interp_FORCE(in, &a[2], span);
    int64_t count = interp_known(in, a[0], span).scalar.integer;
    for (int64_t i = 0; i < count; i++)
        state = store(in, interp_apply2(in, a[1], int_of(i), state, span), &mark, span);
    return state;
}

PRIMITIVE(POWER_AHEAD) {
    struct region_mark mark = region_here(in->region);
    struct value state = interp_FORCE(in, &a[4], span);
    int64_t count = interp_known(in, a[1], span).scalar.integer;
    for (int64_t i = 0; i < count; i++) {
        struct value loads = interp_apply(in, a[2], int_of(i), span), loaded = interp_FORCE(in, &loads, span);
        struct value use = interp_apply2(in, a[3], int_of(i), loaded, span);
        state = store(in, interp_apply(in, use, state, span), &mark, span);
    }
    return state;
}

/* The states by which a loop finds that it does not end: see note [loops that do not end] in elaborate/repeats.c. */
struct repeats {
    size_t width;
    struct value *saved, *now;
    uint32_t steps, limit;
};

static void look_for_repeats(struct interp *in, struct repeats *r, struct value state, struct span span) {
    value_pack(state, r->now);
    r->steps++;
    bool is_same = true;
    for (size_t i = 0; i < r->width; i++)
        is_same &= r->now[i].scalar.natural == r->saved[i].scalar.natural;
    if (is_same)
        interp_fail(in, DIAG_LOOP_REPEATS, span, "this loop does not end: its state repeats with a period of %lld",
                    (long long)r->steps);
    if (r->steps != r->limit)
        return;
    memcpy(r->saved, r->now, r->width * sizeof *r->now);
    r->steps = 0;
    r->limit *= 2;
}

PRIMITIVE(LOOP) {
    struct value state = a[2];
    struct repeats repeats = {.width = value_pack_width(state), .limit = 1};
    repeats.saved = interp_alloc(in, 2 * repeats.width * sizeof *repeats.saved);
    repeats.now = repeats.saved + repeats.width;
    value_pack(state, repeats.saved);
    struct region_mark mark = region_here(in->region);
    for (;;) {
        struct region_mark here = region_here(in->region);
        bool more = interp_known(in, interp_apply(in, a[0], state, span), span).scalar.natural;
        region_release(in->region, here);
        if (!more)
            return state;
        state = interp_keep(in, mark, interp_apply(in, a[1], state, span));
        look_for_repeats(in, &repeats, state, span);
    }
}

PRIMITIVE(SPIN) { return interp_LOOP(in, a, span); }

PRIMITIVE(FOLDL) {
    struct region_mark mark = region_here(in->region);
    struct value state = a[1];
    for (int64_t i = 0, count = pull_length(in, a[2].pull); i < count; i++)
        state = interp_keep(in, mark, interp_apply2(in, a[0], state, pull_element(in, a[2].pull, i, span), span));
    return state;
}

PRIMITIVE(EITHER_OF) { return interp_known(in, a[0], span).scalar.natural ? a[1] : a[2]; }

PRIMITIVE(FOLD_LOOP) { return interp_FOLDL(in, a, span); }

/* ---- exchange inside a warp ---- */

PRIMITIVE(SHUFFLE) { return NEW_PUSH(SHUFFLE, .of = a[1].push, .function = a[0]); }

static struct value shuffle_by(struct interp *in, enum exchange exchange, const struct value *a, struct span span) {
    return NEW_PUSH(SHUFFLE, .of = a[1].push, .shuffle = {exchange, interp_known(in, a[0], span).scalar.integer});
}

static struct value product_of(struct interp *in, const struct value *a, struct span span, const char *name,
                               enum primitive widen) {
    struct mma_size size;
    if (!core_mma_size(a[0].pull->length, a[1].pull->length, a[2].pull->length, &size))
        interp_fail(in, DIAG_TILE_LENGTH, span, MMA_SIZE_MESSAGE, name, (long long)a[0].pull->length,
                    (long long)a[1].pull->length, (long long)a[2].pull->length);
    return NEW_PUSH(MMA, .total = size.rows * size.columns, .array = a[0].pull,
                    .mma = {a[1].pull, a[2].pull, size.inner, size.columns, widen});
}

PRIMITIVE(MMA) { return product_of(in, a, span, "mma", PRIM_TO_F32); }
PRIMITIVE(MMA_INT) { return product_of(in, a, span, "mmaInt", PRIM_TO_I32); }

PRIMITIVE(SHUFFLE_UP) { return shuffle_by(in, EXCHANGE_UP, a, span); }
PRIMITIVE(SHUFFLE_DOWN) { return shuffle_by(in, EXCHANGE_DOWN, a, span); }
PRIMITIVE(SHUFFLE_XOR) { return shuffle_by(in, EXCHANGE_XOR, a, span); }

/* How many votes are true of how many, and the first 32 of them as bits. */
struct votes {
    int64_t count, yes;
    uint32_t bits;
};

static struct votes count_votes(struct interp *in, struct value votes, struct span span) {
    struct region_mark mark = region_here(in->region);
    const struct interp_pull *array = interp_FORCE(in, &votes, span).pull;
    struct votes result = {.count = array->length};
    for (int64_t i = 0; i < array->length; i++) {
        bool is_yes = interp_known(in, pull_element(in, array, i, span), span).scalar.natural;
        result.yes += is_yes;
        if (is_yes && i < 32)
            result.bits |= UINT32_C(1) << i;
    }
    region_release(in->region, mark);
    return result;
}

PRIMITIVE(ANY_WARP) { return bool_of(count_votes(in, a[0], span).yes > 0); }

PRIMITIVE(ALL_WARP) {
    struct votes votes = count_votes(in, a[0], span);
    return bool_of(votes.yes == votes.count);
}

PRIMITIVE(BALLOT) { return scalar_of(BASE_U32, (union scalar){.natural = count_votes(in, a[0], span).bits}); }

/* ---- functions and tuples ---- */

PRIMITIVE(PIPE) { return interp_apply(in, a[1], a[0], span); }

PRIMITIVE(COMPOSE) { return interp_apply(in, a[0], interp_apply(in, a[1], a[2], span), span); }

PRIMITIVE(FST) { return a[0].kind == V_UNKNOWN ? a[0] : a[0].tuple->items[0]; }

PRIMITIVE(SND) { return a[0].kind == V_UNKNOWN ? a[0] : a[0].tuple->items[1]; }

interp_primitive *const interp_primitives[PRIM_COUNT] = {
#define PRIM(id, name, arity, type, doc) [PRIM_##id] = interp_##id,
#define SCALAR(id, name, arity, type, doc, commutes, made)
#include "types/primitives.def"
};
