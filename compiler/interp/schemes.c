/* The iteration schemes of types/schemes.def: each has a function for its array's length, and one that writes it. */
#include <math.h>

#include "interp/machine.h"

/* ---- lengths ---- */

static int64_t length_of_array(struct interp *in, struct interp_push *push) { return pull_length(in, push->array); }

static int64_t length_of_total(struct interp *in, struct interp_push *push) {
    (void)in;
    return push->total;
}

static int64_t length_of_pairs(struct interp *in, struct interp_push *push) {
    return pull_length(in, push->update.pairs);
}

static int64_t length_of_inner(struct interp *in, struct interp_push *push) { return push_length(in, push->of); }

static int64_t length_of_both(struct interp *in, struct interp_push *push) {
    int64_t first = push_length(in, push->of), second = push_length(in, push->both.second);
    if (first + second > VALUE_MAX_LENGTH)
        interp_fail_at(in, DIAG_ARRAY_TOO_LARGE, push->span, push->made_at,
                       "an array of %lld and %lld %s: the most is %lld", (long long)first, (long long)second,
                       text_elements(second), (long long)VALUE_MAX_LENGTH);
    return first + second;
}

/* Are there too many, whatever they are? Asked before any is run, as a host asks before it launches. */
static void check_chunks(struct interp *in, const struct interp_push *push) {
    int64_t count = push->array->length, size = push->chunks.size;
    if (count > 0 && size > 0 && count - 1 > VALUE_MAX_LENGTH / size)
        interp_fail_at(in, DIAG_ARRAY_TOO_LARGE, push->span, push->made_at,
                       "an array of %lld chunks of %lld elements: the most is %lld elements", (long long)count,
                       (long long)size, (long long)VALUE_MAX_LENGTH);
}

static int64_t length_of_chunks(struct interp *in, struct interp_push *push) {
    int64_t chunks = pull_length(in, push->array);
    if (chunks <= 0)
        return 0;
    check_chunks(in, push);
    struct region_mark mark = region_here(in->region);
    struct chunks_run *run = in->chunks;
    enum level_value loc = in->loc;
    in->chunks = NULL;
    in->loc = push->chunks.level;
    struct value last = pull_element(in, push->array, chunks - 1, push->span);
    int64_t length = (chunks - 1) * push->chunks.size + push_length(in, last.push);
    in->chunks = run;
    in->loc = loc;
    region_release(in->region, mark);
    return length;
}

/* ---- running a scheme ---- */

/* Sinks that change where or what, on the way to another sink. */
struct mapping_sink {
    struct sink sink;
    struct sink *to;
    const struct interp_push *push;
};
struct chunk_sink {
    struct sink sink;
    struct sink *to;
    const struct interp_push *push;
    int64_t chunk, offset;
};

static void write_mapped(struct interp *in, struct sink *sink, int64_t index, struct value value) {
    struct mapping_sink *self = (struct mapping_sink *)sink;
    const struct interp_push *push = self->push;
    if (!push->map.with_index)
        value = interp_apply(in, push->function, value, push->span); /* (37) */
    else
        value = interp_apply2(in, push->function, int_of(index), value, push->span);
    self->to->write(in, self->to, index, value);
}

static int64_t in_range(struct interp *in, const struct interp_push *push, int64_t index, int64_t length) {
    if (index < 0 || index >= length)
        interp_fail_at(in, DIAG_WRITE_OUT_OF_RANGE, push->span, push->made_at,
                       "the index function gives %lld, and the array has %lld %s", (long long)index, (long long)length,
                       text_elements(length));
    return index;
}

static void write_permuted(struct interp *in, struct sink *sink, int64_t index, struct value value) {
    struct mapping_sink *self = (struct mapping_sink *)sink;
    struct interp_push *push = (struct interp_push *)self->push;
    int64_t to = interp_apply(in, push->function, int_of(index), push->span).scalar.integer;
    self->to->write(in, self->to, in_range(in, push, to, push->length), value);
}

static void write_pair(struct interp *in, struct sink *sink, int64_t index, struct value value) {
    (void)index;
    struct mapping_sink *self = (struct mapping_sink *)sink;
    const struct interp_push *push = self->push;
    const struct value *items = value.tuple->items;
    if (push->into.said) {
        int64_t length = items++->scalar.integer;
        if (length >= 0 && *push->into.said >= 0 && in->options->check)
            interp_fail_at(in, DIAG_WRITTEN_TWICE, push->span, push->made_at,
                           "the length is said twice: it is %lld, and it is %lld", (long long)*push->into.said,
                           (long long)length);
        if (length >= 0)
            *push->into.said = length < push->total ? length : push->total;
    }
    int64_t to = items[0].scalar.integer;
    if (to >= 0 && to < push->total)
        self->to->write(in, self->to, to, items[1]);
}

static void write_shifted(struct interp *in, struct sink *sink, int64_t index, struct value value) {
    struct chunk_sink *self = (struct chunk_sink *)sink;
    self->to->write(in, self->to, self->offset + index, value);
}

static void write_interleaved(struct interp *in, struct sink *sink, int64_t index, struct value value) {
    struct chunk_sink *self = (struct chunk_sink *)sink;
    const struct interp_push *push = self->push;
    struct value place[] = {int_of(self->chunk), int_of(index)};
    int64_t to = interp_apply(in, push->function, tuple_of(in, place, 2), push->span).scalar.integer;
    if (push->kind == PUSH_INTERLEAVE_INTO && (to < 0 || to >= push->total))
        return;
    self->to->write(in, self->to, in_range(in, push, to, push->length), value);
}

static void check_chunk(struct interp *in, const struct interp_push *push, int64_t length) {
    if (length != push->chunks.size)
        interp_fail_at(in, DIAG_CHUNK_SIZE, push->span, push->made_at,
                       "a chunk has %lld element%s, and %lld are wanted", (long long)length, length == 1 ? "" : "s",
                       (long long)push->chunks.size);
}

static int64_t run_pull(struct interp *in, struct interp_push *push, struct sink *to) {
    struct place_in place = {"element", 0, in->place};
    in->place = &place;
    for (int64_t i = 0; i < push->array->length; i++) {
        struct region_mark mark = region_here(in->region);
        place.index = i;
        to->write(in, to, i, pull_element(in, push->array, i, push->span));
        region_release(in->region, mark);
    }
    in->place = place.outer;
    return push->array->length;
}

/* (42): each chunk is run by itself; the elements of a concat's go to its part of the whole, others to where the
   function says. */
static int64_t run_chunks(struct interp *in, struct interp_push *push, struct sink *to) {
    bool is_concat = push->kind == PUSH_CONCAT;
    int64_t count = push->array->length, length = is_concat ? 0 : push_length(in, push);
    if (is_concat)
        check_chunks(in, push);
    struct chunks_run run = {.outer = in->chunks};
    in->chunks = &run;
    struct place_in place = {"chunk", 0, in->place};
    in->place = &place;
    for (int64_t chunk = 0; chunk < count; chunk++) {
        run.next = run.next_counts = 0;
        place.index = chunk;
        struct region_mark mark = region_here(in->region);
        struct value value = pull_element(in, push->array, chunk, push->span);
        struct chunk_sink sink = {{is_concat ? write_shifted : write_interleaved}, to, push, chunk, 0};
        if (is_concat)
            sink.offset = chunk * push->chunks.size;
        else if (push->kind == PUSH_INTERLEAVE)
            check_chunk(in, push, push_length(in, value.push));
        int64_t ran = push_run(in, value.push, &sink.sink);
        if (is_concat && chunk + 1 < count)
            check_chunk(in, push, ran);
        else if (is_concat)
            length = interp_checked_length(in, push, sink.offset + ran);
        region_release(in->region, mark);
    }
    in->chunks = run.outer;
    in->place = place.outer;
    return push->length = length;
}

/* Nobody asks for this length: updates alone have such pairs. */
static int64_t length_of_nobody(struct interp *in, struct interp_push *push) {
    (void)in, (void)push;
    return 0;
}

static int64_t run_joined(struct interp *in, struct interp_push *push, struct sink *to) {
    int64_t length = 0;
    for (int64_t chunk = 0; chunk < push->array->length; chunk++) {
        struct region_mark mark = region_here(in->region);
        struct value value = pull_element(in, push->array, chunk, push->span);
        struct chunk_sink sink = {{write_shifted}, to, push, chunk, length};
        length = interp_checked_length(in, push, length + push_run(in, value.push, &sink.sink));
        region_release(in->region, mark);
    }
    return length;
}

static int64_t run_each(struct interp *in, struct interp_push *push, struct sink *to) {
    int64_t length = push_length(in, push);
    for (int64_t i = 0; i < push->each.count; i++) {
        struct region_mark mark = region_here(in->region);
        const struct interp_pull *pairs = interp_apply(in, push->function, int_of(i), push->span).pull;
        for (int64_t k = 0; k < pairs->length; k++) {
            struct region_mark here = region_here(in->region);
            const struct value *pair = pull_element(in, pairs, k, push->span).tuple->items;
            int64_t index = pair[0].scalar.integer;
            if (index < 0 || index >= length)
                interp_fail_at(in, DIAG_WRITE_OUT_OF_RANGE, push->span, push->made_at,
                               "place %lld is written, and the array has %lld %s", (long long)index, (long long)length,
                               text_elements(length));
            to->write(in, to, index, pair[1]);
            region_release(in->region, here);
        }
        region_release(in->region, mark);
    }
    return length;
}

static int64_t run_scanl(struct interp *in, struct interp_push *push, struct sink *to) {
    struct region_mark mark = region_here(in->region);
    struct value state = push->scanl.initial;
    for (int64_t i = 0; i < push->array->length; i++) {
        struct value element = pull_element(in, push->array, i, push->span);
        state = interp_keep(in, mark, interp_apply2(in, push->function, state, element, push->span));
        to->write(in, to, i, state);
    }
    region_release(in->region, mark);
    return push->array->length;
}

/* Elements that are written are kept in cells, too, which the body reads. The first one tells how wide they are. */
static int64_t run_seqfor(struct interp *in, struct interp_push *push, struct sink *to) {
    struct region_mark start = region_here(in->region);
    struct interp_pull *before = INTERP_NEW(in, struct interp_pull);
    *before = (struct interp_pull){.kind = INTERP_PULL_STORED};
    struct value *cells = NULL;
    for (int64_t i = 0; i < push->total; i++) {
        struct region_mark mark = region_here(in->region);
        before->length = i;
        struct value value = interp_apply2(in, push->function, int_of(i), pull_of(before), push->span);
        if (i == 0) {
            before->width = value_pack_width(value);
            if ((uint64_t)push_length(in, push) > SIZE_MAX / 2 / (before->width * sizeof *cells))
                interp_fail_at(in, DIAG_ARRAY_TOO_LARGE, push->span, push->made_at,
                               "an array of %lld elements is too large for the interpreter", (long long)push->total);
            cells = interp_alloc(in, (size_t)push->total * before->width * sizeof *cells);
            before->cells = cells;
        }
        value_pack(value, cells + (size_t)i * before->width);
        to->write(in, to, i, value);
        if (i > 0)
            region_release(in->region, mark);
    }
    region_release(in->region, start);
    return push->total;
}

/* The buckets are kept in cells; the first one tells how wide they are. */
static int64_t run_scan_by_index(struct interp *in, struct interp_push *push, struct sink *to) {
    struct region_mark start = region_here(in->region);
    int64_t length = push->array->length;
    size_t width = 0;
    struct value *cells = NULL;
    for (int64_t i = 0; i < length; i++) {
        struct value value = pull_element(in, push->array, i, push->span);
        if (i == 0) {
            width = value_pack_width(value);
            cells = interp_alloc(in, (size_t)length * width * sizeof *cells);
        }
        value_pack(value, cells + (size_t)i * width);
    }
    struct interp_pull *held = INTERP_NEW(in, struct interp_pull);
    *held = (struct interp_pull){.kind = INTERP_PULL_STORED, .length = length, .width = width, .cells = cells};
    for (int64_t i = 0; i < push->update.pairs->length; i++) {
        struct region_mark mark = region_here(in->region);
        const struct value *pair = pull_element(in, push->update.pairs, i, push->span).tuple->items;
        int64_t index = pair[0].scalar.integer;
        bool has_bucket = index >= 0 && index < length;
        struct value old = has_bucket ? pull_element(in, held, index, push->span) : pair[1];
        if (has_bucket)
            value_pack(interp_apply2(in, push->function, old, pair[1], push->span), cells + (size_t)index * width);
        to->write(in, to, i, old);
        region_release(in->region, mark);
    }
    region_release(in->region, start);
    return push->update.pairs->length;
}

/* Are the values of two of a scatter's pairs the same, bit for bit? */
static bool same_values(struct interp *in, const struct interp_push *push, const struct interp_pull *pairs, int64_t a,
                        int64_t b) {
    struct region_mark mark = region_here(in->region);
    struct value x = pull_element(in, pairs, a, push->span).tuple->items[1];
    struct value y = pull_element(in, pairs, b, push->span).tuple->items[1];
    size_t width = value_pack_width(x);
    struct value *cells = interp_alloc(in, 2 * width * sizeof *cells);
    value_pack(x, cells);
    value_pack(y, cells + width);
    bool same = true;
    for (size_t i = 0; i < width; i++)
        same = same && cells[i].scalar.natural == cells[width + i].scalar.natural;
    region_release(in->region, mark);
    return same;
}

/* The pairs of an update whose elements make as many as they like are computed first. */
static const struct interp_pull *pairs_of(struct interp *in, const struct interp_push *push) {
    if (!push->update.is_each)
        return push->update.pairs;
    struct interp_push *all = INTERP_NEW(in, struct interp_push);
    *all = (struct interp_push){
        .kind = PUSH_JOINED, .span = push->span, .made_at = push->made_at, .length = -1, .array = push->update.pairs};
    return store_finish(in, store_run(in, all, push->span)).pull;
}

/* Every place is written once, by the last pair that names it: the pairs' indices are looked at
   first. All elements of the array are asked for, as by reduceByIndex: compiled code begins with
   them. */
static int64_t run_scatter(struct interp *in, struct interp_push *push, struct sink *to) {
    struct region_mark start = region_here(in->region);
    int64_t length = push->array->length;
    const struct interp_pull *pairs = pairs_of(in, push);
    int64_t *by = interp_alloc(in, (size_t)length * sizeof *by);
    for (int64_t i = 0; i < length; i++)
        by[i] = -1;
    for (int64_t k = 0; k < pairs->length; k++) {
        struct region_mark mark = region_here(in->region);
        int64_t place = pull_element(in, pairs, k, push->span).tuple->items[0].scalar.integer;
        region_release(in->region, mark);
        if (place >= 0 && place < length) {
            if (in->options->check && by[place] >= 0 && !same_values(in, push, pairs, by[place], k))
                interp_fail_at(in, DIAG_WRITTEN_TWICE, push->span, push->made_at,
                               "place %lld is written twice, with different values", (long long)place);
            by[place] = k;
        }
    }
    for (int64_t i = 0; i < length; i++) {
        struct region_mark mark = region_here(in->region);
        struct value old = pull_element(in, push->array, i, push->span);
        to->write(in, to, i, by[i] < 0 ? old : pull_element(in, pairs, by[i], push->span).tuple->items[1]);
        region_release(in->region, mark);
    }
    region_release(in->region, start);
    return length;
}

/* Does the operator make the value of the neutral element and it? A NaN is as good as another. */
static bool keeps_value(struct interp *in, const struct interp_push *push, struct value value) {
    struct region_mark mark = region_here(in->region);
    size_t width = value_pack_width(value);
    struct value *cells = interp_alloc(in, 2 * width * sizeof *cells);
    value_pack(value, cells);
    value_pack(interp_apply2(in, push->function, push->update.neutral, value, push->span), cells + width);
    bool same = true;
    for (size_t i = 0; i < width; i++) {
        const union scalar x = cells[i].scalar, y = cells[width + i].scalar;
        bool is_floating = base_info[cells[i].base].is_floating;
        same &= is_floating ? x.floating == y.floating || isnan(x.floating) : x.natural == y.natural;
    }
    region_release(in->region, mark);
    return same;
}

/* Paper 002's meaning: the places begin as the array says, and take the pairs' values in order;
   pairs for places that are not there are ignored. */
static int64_t run_reduce_by_index(struct interp *in, struct interp_push *push, struct sink *to) {
    struct region_mark start = region_here(in->region);
    int64_t length = push->array->length;
    const struct interp_pull *pairs = pairs_of(in, push);
    size_t width = value_pack_width(push->update.neutral);
    struct value *cells = interp_alloc(in, (size_t)length * width * sizeof *cells);
    for (int64_t i = 0; i < length; i++) {
        struct region_mark mark = region_here(in->region);
        value_pack(pull_element(in, push->array, i, push->span), cells + (size_t)i * width);
        region_release(in->region, mark);
    }
    for (int64_t k = 0; k < pairs->length; k++) {
        struct region_mark mark = region_here(in->region);
        const struct value *pair = pull_element(in, pairs, k, push->span).tuple->items;
        int64_t place = pair[0].scalar.integer;
        if (place >= 0 && place < length) {
            if (in->options->check && !push->update.needs_none && !keeps_value(in, push, pair[1]))
                interp_fail_at(in, DIAG_NOT_NEUTRAL, push->span, push->made_at,
                               "the neutral element is none: the operator makes another value of it and of a pair's "
                               "for place %lld",
                               (long long)place);
            struct value *cell = cells + (size_t)place * width;
            const struct value *next = cell;
            struct value old = value_unpack(in, &next);
            value_pack(interp_apply2(in, push->function, old, pair[1], push->span), cell);
        }
        region_release(in->region, mark);
    }
    for (int64_t i = 0; i < length; i++) {
        struct region_mark mark = region_here(in->region);
        const struct value *next = cells + (size_t)i * width;
        to->write(in, to, i, value_unpack(in, &next));
        region_release(in->region, mark);
    }
    region_release(in->region, start);
    return length;
}

static int64_t shuffle_source(struct interp *in, const struct interp_push *push, int64_t i) {
    switch (push->shuffle.exchange) {
    case EXCHANGE_BY_FUNCTION: break;
    case EXCHANGE_UP: return i - push->shuffle.count;
    case EXCHANGE_DOWN: return i + push->shuffle.count;
    case EXCHANGE_XOR: return i ^ push->shuffle.count;
    }
    return interp_apply(in, push->function, int_of(i), push->span).scalar.integer;
}

/* Elements that are exchanged become base values first, as on a device: each is computed once. */
static int64_t run_shuffle(struct interp *in, struct interp_push *push, struct sink *to) {
    struct region_mark start = region_here(in->region);
    const struct interp_pull *array = store_finish(in, store_run(in, push->of, push->span)).pull;
    int64_t length = array->length;
    for (int64_t i = 0; i < length; i++) {
        struct region_mark mark = region_here(in->region);
        int64_t from = shuffle_source(in, push, i);
        to->write(in, to, i, pull_element(in, array, from >= 0 && from < length ? from : i, push->span));
        region_release(in->region, mark);
    }
    region_release(in->region, start);
    return length;
}

static struct value wide_at(struct interp *in, const struct interp_push *push, const struct interp_pull *pull,
                            int64_t index) {
    struct value element = pull_element(in, pull, index, push->span);
    return scalar_apply(in, push->mma.widen, &element);
}

/* Each product is exact, and rounded with the sum that it joins. */
static int64_t run_mma(struct interp *in, struct interp_push *push, struct sink *to) {
    for (int64_t i = 0; i < push->total; i++) {
        struct region_mark mark = region_here(in->region);
        int64_t inner = push->mma.inner, row = i / push->mma.columns, column = i % push->mma.columns;
        struct value sum = pull_element(in, push->mma.sums, i, push->span);
        for (int64_t k = 0; k < inner; k++) {
            int64_t below = k * push->mma.columns + column;
            const struct value operands[] = {wide_at(in, push, push->array, row * inner + k),
                                             wide_at(in, push, push->mma.second, below), sum};
            sum = scalar_apply(in, PRIM_FMA, operands);
        }
        to->write(in, to, i, sum);
        region_release(in->region, mark);
    }
    return push->total;
}

/* ---- those that pass on what another runs ---- */

static int64_t run_map(struct interp *in, struct interp_push *push, struct sink *to) {
    struct mapping_sink sink = {{write_mapped}, to, push};
    return push_run(in, push->of, &sink.sink);
}

static int64_t run_permute(struct interp *in, struct interp_push *push, struct sink *to) {
    struct mapping_sink sink = {{write_permuted}, to, push};
    push_length(in, push);
    return push_run(in, push->of, &sink.sink);
}

static int64_t run_permute_into(struct interp *in, struct interp_push *push, struct sink *to) {
    struct mapping_sink sink = {{write_pair}, to, push};
    push_run(in, push->of, &sink.sink);
    const int64_t *said = push->into.said;
    return !said ? push->total : *said > 0 ? *said : 0;
}

static int64_t run_append(struct interp *in, struct interp_push *push, struct sink *to) {
    int64_t first = push_run(in, push->of, to);
    struct chunk_sink sink = {{write_shifted}, to, push, 0, first};
    return interp_checked_length(in, push, first + push_run(in, push->both.second, &sink.sink));
}

const struct interp_scheme interp_schemes[PUSH_KIND_COUNT] = {
#define SCHEME(id, length, run, check, cost)                                                                           \
    [PUSH_##id] = {length_of_##length, run_##run, SCHEME_CHECK_##check, SCHEME_COST_##cost},
#define COMPILED(...)
#include "types/schemes.def"
};
