/* Arrays in memory: what force, while and a kernel's result write into. Every place must be written exactly once. While
   it is being filled a store lies outside the regions, so that what each element leaves behind can be given back. */
#include "interp/machine.h"

#include <stdlib.h>
#include <string.h>

struct store {
    struct sink sink; /* first: a sink that is a store is cast back */
    struct store *outer;
    struct span span, made_at; /* who decides on the places that are written, as in struct interp_push */
    int64_t length;            /* -1: not known until the scheme has run */
    int64_t capacity;
    size_t width; /* cells per element; 0: none was written yet */
    struct value *cells;
    unsigned char *written; /* a byte per element */
    bool is_over;           /* a place may be written again */
};

static _Noreturn void too_large(struct interp *in, const struct store *store, int64_t length) {
    interp_fail_at(in, DIAG_ARRAY_TOO_LARGE, store->span, store->made_at,
                   "an array of %lld elements is too large for the interpreter", (long long)length);
}

static void grow(struct interp *in, struct store *store, int64_t wanted) {
    if (wanted <= store->capacity)
        return;
    int64_t capacity = store->length >= 0 ? store->length : store->capacity * 2;
    if (capacity < wanted)
        capacity = wanted < 16 ? 16 : wanted;
    size_t row = store->width * sizeof *store->cells;
    if (capacity > VALUE_MAX_LENGTH || (size_t)capacity > SIZE_MAX / 2 / row)
        too_large(in, store, capacity);
    struct value *cells = realloc(store->cells, (size_t)capacity * row);
    if (!cells)
        too_large(in, store, capacity);
    store->cells = cells;
    unsigned char *written = realloc(store->written, (size_t)capacity);
    if (!written)
        too_large(in, store, capacity);
    store->written = written;
    memset(written + store->capacity, 0, (size_t)(capacity - store->capacity));
    store->capacity = capacity;
}

static void write_store(struct interp *in, struct sink *sink, int64_t index, struct value value) {
    struct store *store = (struct store *)sink;
    if (index < 0 || (store->length >= 0 && index >= store->length))
        interp_fail_at(in, DIAG_WRITE_OUT_OF_RANGE, store->span, store->made_at,
                       "place %lld is written, and the array has %lld %s", (long long)index, (long long)store->length,
                       text_elements(store->length));
    if (store->width == 0)
        store->width = value_pack_width(value);
    if (store->width == 0)
        interp_fail_at(in, DIAG_INTERNAL, store->span, store->made_at, "the interpreter stores what is no base value");
    grow(in, store, index + 1);
    if (store->written[index] && !store->is_over)
        interp_fail_at(in, DIAG_WRITTEN_TWICE, store->span, store->made_at, "place %lld is written twice",
                       (long long)index);
    store->written[index] = 1;
    value_pack(value, store->cells + (size_t)index * store->width);
}

/* A concat is not asked for its length, which would run its last chunk a second time. */
static bool length_is_cheap(const struct interp_push *push) {
    switch (interp_schemes[push->kind].cost) {
    case SCHEME_COST_known: return true;
    case SCHEME_COST_run: return push->length >= 0;
    case SCHEME_COST_inner: break;
    }
    return length_is_cheap(push->of) && (push->kind != PUSH_APPEND || length_is_cheap(push->both.second));
}

/* Sets who decides on the places that are written: the scheme that has an index function, else the one that wants the
   array, at that span. */
static void blame(struct interp *in, struct store *store, const struct interp_push *push, struct span span) {
    while (push->kind == PUSH_MAP || push->kind == PUSH_SHUFFLE)
        push = push->of;
    bool is_push = interp_schemes[push->kind].check != SCHEME_CHECK_none && push->span.end;
    store->span = is_push ? push->span : span;
    store->made_at = is_push ? push->made_at : in->made_at;
    store->is_over = push->kind == PUSH_PERMUTE_INTO && push->into.is_over;
}

/* Rules (39) to (42): every element is brought to a base value, and then they are an array. */
struct store *store_run(struct interp *in, struct interp_push *push, struct span span) {
    struct store *store = calloc(1, sizeof *store);
    if (!store)
        interp_fail(in, DIAG_ARRAY_TOO_LARGE, span, "there is no memory left");
    store->sink.write = write_store;
    blame(in, store, push, span);
    store->outer = in->stores;
    in->stores = store;
    bool is_length_enough = in->is_absent;
    store->length = is_length_enough || length_is_cheap(push) ? push_length(in, push) : -1;
    if (is_length_enough)
        return store;
    int64_t length = push_run(in, push, &store->sink);
    for (int64_t i = 0; i < length; i++)
        if (i >= store->capacity || !store->written[i])
            interp_fail_at(in, DIAG_NEVER_WRITTEN, store->span, store->made_at, "place %lld of %lld is never written",
                           (long long)i, (long long)length);
    store->length = length;
    return store;
}

static void drop(struct interp *in, struct store *store) {
    struct store **at = &in->stores;
    while (*at != store)
        at = &(*at)->outer;
    *at = store->outer;
    free(store->cells);
    free(store->written);
    free(store);
}

struct value store_finish(struct interp *in, struct store *store) {
    struct interp_pull *pull = INTERP_NEW(in, struct interp_pull);
    size_t bytes = (size_t)store->length * store->width * sizeof *store->cells;
    struct value *cells = interp_alloc(in, bytes);
    if (bytes)
        memcpy(cells, store->cells, bytes);
    *pull = (struct interp_pull){
        .kind = INTERP_PULL_STORED, .length = store->length, .cells = cells, .width = store->width};
    drop(in, store);
    return pull_of(pull);
}

void store_drop_since(struct interp *in, const struct store *before) {
    while (in->stores != before)
        drop(in, in->stores);
}
