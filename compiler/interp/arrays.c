/* Pull arrays give an element on demand; push arrays run their iteration scheme into a sink. */
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

static struct value host_row(struct interp *in, const struct interp_pull *pull, size_t index) {
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

/* See note [what is measured] in shape.c. */
static struct value absent_element(struct interp *in, const struct interp_pull *pull, struct value at,
                                   struct span span) {
    int64_t index = at.kind == V_UNKNOWN ? -1 : at.scalar.integer;
    bool is_there = index >= 0 && index < pull->length;
    bool has_rows = pull->kind == INTERP_PULL_HOST && pull->depth + 1 < value_rank(pull->host);
    switch (pull->kind) {
    case INTERP_PULL_FUNCTION: return interp_apply(in, pull->function, at, span);
    case INTERP_PULL_MAP: return interp_apply(in, pull->function, absent_element(in, pull->of, at, span), span);
    case INTERP_PULL_LIST:
        if (is_there)
            return interp_eval(in, pull->list->sequence.items[index], pull->environment, pull->instance);
        break;
    case INTERP_PULL_VALUES:
        if (is_there)
            return pull->values[index];
        break;
    case INTERP_PULL_HOST: return has_rows ? host_row(in, pull, is_there ? (size_t)index : 0) : unknown_value();
    case INTERP_PULL_STORED: return unknown_value();
    }
    interp_fail(in, DIAG_INDEX_OUT_OF_RANGE, span, "an element that is not there");
}

struct value pull_element(struct interp *in, const struct interp_pull *pull, int64_t index, struct span span) {
    if (in->is_absent)
        return absent_element(in, pull, int_of(index), span);
    if (index < 0 || index >= pull->length)
        interp_fail(in, DIAG_INDEX_OUT_OF_RANGE, span, "index %lld is out of range: the array has %lld %s",
                    (long long)index, (long long)pull->length, text_elements(pull->length));
    switch (pull->kind) {
    case INTERP_PULL_FUNCTION: return interp_apply(in, pull->function, int_of(index), span);
    case INTERP_PULL_MAP:
        return interp_apply(in, pull->function, pull_element(in, pull->of, index, span), span); /* (36) */
    case INTERP_PULL_LIST: return interp_eval(in, pull->list->sequence.items[index], pull->environment, pull->instance);
    case INTERP_PULL_VALUES: return pull->values[index];
    case INTERP_PULL_HOST: return host_row(in, pull, (size_t)index);
    case INTERP_PULL_STORED: {
        const struct value *cells = pull->cells + (size_t)index * pull->width;
        return value_unpack(in, &cells);
    }
    }
    interp_fail(in, DIAG_INTERNAL, span, "the interpreter meets an unknown pull array");
}

int64_t pull_length(struct interp *in, const struct interp_pull *pull) {
    if (pull->is_unknown)
        interp_known(in, unknown_value(), (struct span){0, 0});
    return pull->length;
}

struct value pull_at(struct interp *in, const struct interp_pull *pull, struct value index, struct span span) {
    return in->is_absent ? absent_element(in, pull, index, span) : pull_element(in, pull, index.scalar.integer, span);
}

/* ---- push arrays ---- */

int64_t interp_checked_length(struct interp *in, const struct interp_push *push, int64_t length) {
    if (length > VALUE_MAX_LENGTH)
        interp_fail_at(in, DIAG_ARRAY_TOO_LARGE, push->span, push->made_at,
                       "an array of %lld elements: the most is %lld", (long long)length, (long long)VALUE_MAX_LENGTH);
    return length;
}

int64_t push_length(struct interp *in, struct interp_push *push) {
    if (push->length >= 0)
        return push->length;
    int64_t length = interp_checked_length(in, push, interp_schemes[push->kind].length(in, push));
    if (!in->is_absent)
        push->length = length;
    return length;
}

/* Chunks are computed at their level; elements, pairs, and the places of both are a thread's. */
int64_t push_run(struct interp *in, struct interp_push *push, struct sink *to) {
    enum level_value loc = in->loc;
    bool is_of_chunks =
        push->kind == PUSH_CONCAT || push->kind == PUSH_INTERLEAVE || push->kind == PUSH_INTERLEAVE_INTO;
    in->loc = is_of_chunks && push->chunks.level != LEVEL_PURE ? push->chunks.level : LEVEL_THREAD;
    int64_t length = interp_schemes[push->kind].run(in, push, to);
    in->loc = loc;
    return length;
}
