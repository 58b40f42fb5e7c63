/* Pull arrays give an element on demand; push arrays run their iteration scheme into a sink. Here is what each kind of
   both means. */
#include "interp/machine.h"

/* ---- pull arrays ---- */

static struct value host_element(struct interp *in, const struct host_value *host, size_t index) {
    if (host->kind == VALUE_ARRAY)
        return scalar_of(host->array.base, value_get(host->array.base, host->array.data, index));
    size_t count = host->tuple.count;
    struct tuple *tuple = interp_alloc(in, sizeof *tuple + count * sizeof(struct value));
    tuple->count = count;
    for (size_t i = 0; i < count; i++)
        tuple->items[i] = host_element(in, host->tuple.items[i], index);
    struct value result = {.kind = V_TUPLE};
    result.tuple = tuple;
    return result;
}

struct value interp_host_row(struct interp *in, const struct interp_pull *pull, size_t index) {
    size_t place = pull->offset * (size_t)pull->length + index;
    if (pull->depth + 1 == value_rank(pull->host))
        return host_element(in, pull->host, place);
    struct interp_pull *row = INTERP_NEW(in, struct interp_pull);
    *row = (struct interp_pull){.kind = INTERP_PULL_HOST,
                                .length = value_shape(pull->host)[pull->depth + 1],
                                .host = pull->host,
                                .depth = pull->depth + 1,
                                .offset = place};
    return pull_of(row);
}

struct value pull_element(struct interp *in, const struct interp_pull *pull, int64_t index, struct span span) {
    if (in->is_absent)
        return interp_absent_element(in, pull, index, span);
    if (index < 0 || index >= pull->length)
        interp_fail(in, DIAG_INDEX_OUT_OF_RANGE, span, "index %lld is out of range: the array has %lld %s",
                    (long long)index, (long long)pull->length, text_elements(pull->length));
    switch (pull->kind) {
    case INTERP_PULL_FUNCTION: return interp_apply(in, pull->function, int_of(index), span);
    case INTERP_PULL_MAP:
        return interp_apply(in, pull->function, pull_element(in, pull->of, index, span), span); /* (36) */
    case INTERP_PULL_LIST: return interp_eval(in, pull->list->sequence.items[index], pull->environment, pull->instance);
    case INTERP_PULL_VALUES: return pull->values[index];
    case INTERP_PULL_HOST: return interp_host_row(in, pull, (size_t)index);
    case INTERP_PULL_STORED: {
        const struct value *cells = pull->cells + (size_t)index * pull->width;
        return value_unpack(in, &cells);
    }
    }
    interp_fail(in, DIAG_INTERNAL, span, "the interpreter meets an unknown pull array");
}

/* ---- lengths ---- */

static int64_t checked_length(struct interp *in, const struct interp_push *push, int64_t length) {
    if (length > VALUE_MAX_LENGTH)
        interp_fail_at(in, DIAG_ARRAY_TOO_LARGE, push->span, push->made_at,
                       "an array of %lld elements: the most is %lld", (long long)length, (long long)VALUE_MAX_LENGTH);
    return length;
}

int64_t push_length(struct interp *in, struct interp_push *push) {
    if (push->length >= 0)
        return push->length;
    int64_t length = 0, chunks;
    switch (push->kind) {
    case INTERP_PUSH_SCANL:
    case INTERP_PUSH_SCATTER:
    case INTERP_PUSH_REDUCE:
    case INTERP_PUSH_PULL: length = push->pull->length; break;
    case INTERP_PUSH_MAP:
    case INTERP_PUSH_MAP_IX:
    case INTERP_PUSH_SHUFFLE:
    case INTERP_PUSH_PERMUTE: length = push_length(in, push->of); break;
    case INTERP_PUSH_APPEND: length = push_length(in, push->of) + push_length(in, push->second); break;
    case INTERP_PUSH_INTO:
    case INTERP_PUSH_EACH:
    case INTERP_PUSH_SEQFOR:
    case INTERP_PUSH_INTERLEAVE_INTO: length = push->size; break;
    case INTERP_PUSH_BUCKETS: length = push->pairs->length; break;
    case INTERP_PUSH_MMA: length = push->sums->length; break;
    case INTERP_PUSH_JOINED: break; /* nobody asks: updates alone have such pairs */
    case INTERP_PUSH_INTERLEAVE:
    case INTERP_PUSH_CONCAT:
        chunks = push->pull->length;
        if (chunks > 0) {
            struct region_mark mark = region_here(in->region);
            struct chunks_run *run = in->chunks;
            enum level_value loc = in->loc;
            in->chunks = NULL;
            in->loc = push->chunk_level;
            struct value last = pull_element(in, push->pull, chunks - 1, push->span);
            length = (chunks - 1) * push->size + push_length(in, last.push);
            in->chunks = run;
            in->loc = loc;
            region_release(in->region, mark);
        }
        break;
    }
    push->length = checked_length(in, push, length);
    return push->length;
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
    if (push->kind == INTERP_PUSH_MAP)
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
    if (push->said_length) {
        int64_t length = items++->scalar.integer;
        if (length >= 0 && *push->said_length >= 0 && in->options->check)
            interp_fail_at(in, DIAG_WRITTEN_TWICE, push->span, push->made_at,
                           "the length is said twice: it is %lld, and it is %lld", (long long)*push->said_length,
                           (long long)length);
        if (length >= 0)
            *push->said_length = length < push->size ? length : push->size;
    }
    int64_t to = items[0].scalar.integer;
    if (to >= 0 && to < push->size)
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
    if (push->kind == INTERP_PUSH_INTERLEAVE_INTO && (to < 0 || to >= push->size))
        return;
    self->to->write(in, self->to, in_range(in, push, to, push->length), value);
}

static void check_chunk(struct interp *in, const struct interp_push *push, int64_t length) {
    if (length != push->size)
        interp_fail_at(in, DIAG_CHUNK_SIZE, push->span, push->made_at,
                       "a chunk has %lld element%s, and %lld are wanted", (long long)length, length == 1 ? "" : "s",
                       (long long)push->size);
}

static int64_t run_pull(struct interp *in, struct interp_push *push, struct sink *to) {
    struct place_in place = {"element", 0, in->place};
    in->place = &place;
    for (int64_t i = 0; i < push->pull->length; i++) {
        struct region_mark mark = region_here(in->region);
        place.index = i;
        to->write(in, to, i, pull_element(in, push->pull, i, push->span));
        region_release(in->region, mark);
    }
    in->place = place.outer;
    return push->pull->length;
}

/* (42): each chunk is run by itself, and its elements go to its part of the whole. */
static int64_t run_concat(struct interp *in, struct interp_push *push, struct sink *to) {
    int64_t count = push->pull->length, length = 0;
    struct chunks_run run = {.outer = in->chunks};
    in->chunks = &run;
    struct place_in place = {"chunk", 0, in->place};
    in->place = &place;
    for (int64_t chunk = 0; chunk < count; chunk++) {
        run.next = run.next_counts = 0;
        place.index = chunk;
        struct region_mark mark = region_here(in->region);
        struct value value = pull_element(in, push->pull, chunk, push->span);
        struct chunk_sink sink = {{write_shifted}, to, push, chunk, chunk * push->size};
        length = push_run(in, value.push, &sink.sink);
        if (chunk + 1 < count)
            check_chunk(in, push, length);
        region_release(in->region, mark);
    }
    in->chunks = run.outer;
    in->place = place.outer;
    push->length = count == 0 ? 0 : checked_length(in, push, (count - 1) * push->size + length);
    return push->length;
}

static int64_t run_joined(struct interp *in, struct interp_push *push, struct sink *to) {
    int64_t length = 0;
    for (int64_t chunk = 0; chunk < push->pull->length; chunk++) {
        struct region_mark mark = region_here(in->region);
        struct value value = pull_element(in, push->pull, chunk, push->span);
        struct chunk_sink sink = {{write_shifted}, to, push, chunk, length};
        length = checked_length(in, push, length + push_run(in, value.push, &sink.sink));
        region_release(in->region, mark);
    }
    return length;
}

static int64_t run_interleave(struct interp *in, struct interp_push *push, struct sink *to) {
    int64_t length = push_length(in, push);
    struct chunks_run run = {.outer = in->chunks};
    in->chunks = &run;
    struct place_in place = {"chunk", 0, in->place};
    in->place = &place;
    for (int64_t chunk = 0; chunk < push->pull->length; chunk++) {
        run.next = run.next_counts = 0;
        place.index = chunk;
        struct region_mark mark = region_here(in->region);
        struct value value = pull_element(in, push->pull, chunk, push->span);
        struct chunk_sink sink = {{write_interleaved}, to, push, chunk, 0};
        if (push->kind == INTERP_PUSH_INTERLEAVE)
            check_chunk(in, push, push_length(in, value.push));
        push_run(in, value.push, &sink.sink);
        region_release(in->region, mark);
    }
    in->chunks = run.outer;
    in->place = place.outer;
    return length;
}

static int64_t run_each(struct interp *in, struct interp_push *push, struct sink *to) {
    int64_t length = push_length(in, push);
    for (int64_t i = 0; i < push->count; i++) {
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
    struct value state = push->initial;
    for (int64_t i = 0; i < push->pull->length; i++) {
        struct value element = pull_element(in, push->pull, i, push->span);
        state = interp_keep(in, mark, interp_apply2(in, push->function, state, element, push->span));
        to->write(in, to, i, state);
    }
    region_release(in->region, mark);
    return push->pull->length;
}

/* What is written is kept in cells too, for the body to read. The first element tells how wide they are. */
static int64_t run_seqfor(struct interp *in, struct interp_push *push, struct sink *to) {
    struct region_mark start = region_here(in->region);
    struct interp_pull *before = INTERP_NEW(in, struct interp_pull);
    *before = (struct interp_pull){.kind = INTERP_PULL_STORED};
    struct value *cells = NULL;
    for (int64_t i = 0; i < push->size; i++) {
        struct region_mark mark = region_here(in->region);
        before->length = i;
        struct value value = interp_apply2(in, push->function, int_of(i), pull_of(before), push->span);
        if (i == 0) {
            before->width = value_pack_width(value);
            if ((uint64_t)push_length(in, push) > SIZE_MAX / 2 / (before->width * sizeof *cells))
                interp_fail_at(in, DIAG_ARRAY_TOO_LARGE, push->span, push->made_at,
                               "an array of %lld elements is too large for the interpreter", (long long)push->size);
            cells = interp_alloc(in, (size_t)push->size * before->width * sizeof *cells);
            before->cells = cells;
        }
        value_pack(value, cells + (size_t)i * before->width);
        to->write(in, to, i, value);
        if (i > 0)
            region_release(in->region, mark);
    }
    region_release(in->region, start);
    return push->size;
}

/* The buckets are kept in cells; the first one tells how wide they are. */
static int64_t run_buckets(struct interp *in, struct interp_push *push, struct sink *to) {
    struct region_mark start = region_here(in->region);
    int64_t length = push->pull->length;
    size_t width = 0;
    struct value *cells = NULL;
    for (int64_t i = 0; i < length; i++) {
        struct value value = pull_element(in, push->pull, i, push->span);
        if (i == 0) {
            width = value_pack_width(value);
            cells = interp_alloc(in, (size_t)length * width * sizeof *cells);
        }
        value_pack(value, cells + (size_t)i * width);
    }
    struct interp_pull *held = INTERP_NEW(in, struct interp_pull);
    *held = (struct interp_pull){.kind = INTERP_PULL_STORED, .length = length, .width = width, .cells = cells};
    for (int64_t i = 0; i < push->pairs->length; i++) {
        struct region_mark mark = region_here(in->region);
        const struct value *pair = pull_element(in, push->pairs, i, push->span).tuple->items;
        int64_t index = pair[0].scalar.integer;
        bool has_bucket = index >= 0 && index < length;
        struct value old = has_bucket ? pull_element(in, held, index, push->span) : pair[1];
        if (has_bucket)
            value_pack(interp_apply2(in, push->function, old, pair[1], push->span), cells + (size_t)index * width);
        to->write(in, to, i, old);
        region_release(in->region, mark);
    }
    region_release(in->region, start);
    return push->pairs->length;
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
    if (!push->is_each)
        return push->pairs;
    struct interp_push *all = INTERP_NEW(in, struct interp_push);
    *all = (struct interp_push){
        .kind = INTERP_PUSH_JOINED, .span = push->span, .made_at = push->made_at, .length = -1, .pull = push->pairs};
    return store_finish(in, store_run(in, all, push->span)).pull;
}

/* Every place is written once, by the last pair that names it: the pairs' indices are looked at
   first. All elements of the array are asked for, as by reduceByIndex: compiled code begins with
   them. */
static int64_t run_scatter(struct interp *in, struct interp_push *push, struct sink *to) {
    struct region_mark start = region_here(in->region);
    int64_t length = push->pull->length;
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
        struct value old = pull_element(in, push->pull, i, push->span);
        to->write(in, to, i, by[i] < 0 ? old : pull_element(in, pairs, by[i], push->span).tuple->items[1]);
        region_release(in->region, mark);
    }
    region_release(in->region, start);
    return length;
}

/* Paper 002's meaning: the places begin as the array says, and take the pairs' values in order;
   pairs for places that are not there are ignored. */
static int64_t run_reduce(struct interp *in, struct interp_push *push, struct sink *to) {
    struct region_mark start = region_here(in->region);
    int64_t length = push->pull->length;
    const struct interp_pull *pairs = pairs_of(in, push);
    size_t width = value_pack_width(push->initial);
    struct value *cells = interp_alloc(in, (size_t)length * width * sizeof *cells);
    for (int64_t i = 0; i < length; i++) {
        struct region_mark mark = region_here(in->region);
        value_pack(pull_element(in, push->pull, i, push->span), cells + (size_t)i * width);
        region_release(in->region, mark);
    }
    for (int64_t k = 0; k < pairs->length; k++) {
        struct region_mark mark = region_here(in->region);
        const struct value *pair = pull_element(in, pairs, k, push->span).tuple->items;
        int64_t place = pair[0].scalar.integer;
        if (place >= 0 && place < length) {
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
    switch (push->exchange) {
    case EXCHANGE_BY_FUNCTION: break;
    case EXCHANGE_UP: return i - push->size;
    case EXCHANGE_DOWN: return i + push->size;
    case EXCHANGE_XOR: return i ^ push->size;
    }
    return interp_apply(in, push->function, int_of(i), push->span).scalar.integer;
}

/* What is exchanged is brought to base values first, as on a device: each element is computed once. */
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

static struct value float_at(struct interp *in, const struct interp_pull *pull, int64_t index, struct span span) {
    struct value element = pull_element(in, pull, index, span);
    return scalar_apply(in, PRIM_TO_F32, &element);
}

/* Each product is exact, and rounded with the sum that it joins. */
static int64_t run_mma(struct interp *in, const struct interp_push *push, struct sink *to) {
    for (int64_t i = 0; i < MMA_ROWS * MMA_COLUMNS; i++) {
        struct region_mark mark = region_here(in->region);
        struct value sum = pull_element(in, push->sums, i, push->span);
        for (int64_t k = 0; k < MMA_INNER; k++) {
            const struct value operands[] = {float_at(in, push->pull, i / MMA_COLUMNS * MMA_INNER + k, push->span),
                                             float_at(in, push->pairs, k * MMA_COLUMNS + i % MMA_COLUMNS, push->span),
                                             sum};
            sum = scalar_apply(in, PRIM_FMA, operands);
        }
        to->write(in, to, i, sum);
        region_release(in->region, mark);
    }
    return MMA_ROWS * MMA_COLUMNS;
}

static int64_t run_scheme(struct interp *in, struct interp_push *push, struct sink *to) {
    switch (push->kind) {
    case INTERP_PUSH_PULL: return run_pull(in, push, to);
    case INTERP_PUSH_MAP:
    case INTERP_PUSH_MAP_IX: {
        struct mapping_sink sink = {{write_mapped}, to, push};
        return push_run(in, push->of, &sink.sink);
    }
    case INTERP_PUSH_PERMUTE: {
        struct mapping_sink sink = {{write_permuted}, to, push};
        push_length(in, push);
        return push_run(in, push->of, &sink.sink);
    }
    case INTERP_PUSH_INTO: {
        struct mapping_sink sink = {{write_pair}, to, push};
        push_run(in, push->of, &sink.sink);
        if (push->said_length)
            return *push->said_length > 0 ? *push->said_length : 0;
        return push->size;
    }
    case INTERP_PUSH_APPEND: {
        int64_t first = push_run(in, push->of, to);
        struct chunk_sink sink = {{write_shifted}, to, push, 0, first};
        return checked_length(in, push, first + push_run(in, push->second, &sink.sink));
    }
    case INTERP_PUSH_CONCAT: return run_concat(in, push, to);
    case INTERP_PUSH_JOINED: return run_joined(in, push, to);
    case INTERP_PUSH_INTERLEAVE:
    case INTERP_PUSH_INTERLEAVE_INTO: return run_interleave(in, push, to);
    case INTERP_PUSH_EACH: return run_each(in, push, to);
    case INTERP_PUSH_SCANL: return run_scanl(in, push, to);
    case INTERP_PUSH_SEQFOR: return run_seqfor(in, push, to);
    case INTERP_PUSH_BUCKETS: return run_buckets(in, push, to);
    case INTERP_PUSH_SCATTER: return run_scatter(in, push, to);
    case INTERP_PUSH_REDUCE: return run_reduce(in, push, to);
    case INTERP_PUSH_SHUFFLE: return run_shuffle(in, push, to);
    case INTERP_PUSH_MMA: return run_mma(in, push, to);
    }
    interp_fail_at(in, DIAG_INTERNAL, push->span, push->made_at, "the interpreter meets an unknown push array");
}

/* Chunks are computed at their level; elements, pairs, and the places of both are a thread's. */
int64_t push_run(struct interp *in, struct interp_push *push, struct sink *to) {
    enum level_value loc = in->loc;
    in->loc = push->chunk_level == LEVEL_PURE ? LEVEL_THREAD : push->chunk_level;
    int64_t length = run_scheme(in, push, to);
    in->loc = loc;
    return length;
}
