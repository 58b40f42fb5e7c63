/* The interpreter's common parts: making values, memory, and the way out when a run fails. */
#include "interp/machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- values ---- */

struct value scalar_of(enum base base, union scalar scalar) {
    struct value value = {.kind = V_SCALAR, .base = (uint8_t)base};
    value.scalar = scalar;
    return value;
}

struct value int_of(int64_t number) {
    return scalar_of(BASE_I32, (union scalar){.integer = number});
}

struct value bool_of(bool truth) {
    return scalar_of(BASE_BOOL, (union scalar){.natural = truth});
}

struct value unknown_value(void) {
    return (struct value){.kind = V_UNKNOWN};
}

struct value interp_known(struct interp *in, struct value value, struct span span) {
    if (value.kind == V_UNKNOWN)
        interp_fail(in, DIAG_INDEX_OUT_OF_RANGE, span, "an element that is not there");
    return value;
}

struct value tuple_of(struct interp *in, const struct value *items, size_t count) {
    struct tuple *tuple = interp_alloc(in, sizeof *tuple + count * sizeof *items);
    tuple->count = count;
    memcpy(tuple->items, items, count * sizeof *items);
    struct value value = {.kind = V_TUPLE};
    value.tuple = tuple;
    return value;
}

struct value pull_of(const struct interp_pull *pull) {
    struct value value = {.kind = V_PULL};
    value.pull = pull;
    return value;
}

struct value push_of(struct interp_push *push) {
    struct value value = {.kind = V_PUSH};
    value.push = push;
    return value;
}

/* ---- memory and failure ---- */

void *interp_alloc(struct interp *in, size_t bytes) {
    void *result = region_alloc(in->region, bytes ? bytes : 1);
    if (!result)
        interp_fail(in, DIAG_ARRAY_TOO_LARGE, in->call ? in->call->span : (struct span){0},
                    "there is no memory left (%zu more bytes were wanted)", bytes);
    return result;
}

/* The user's last call, or NULL: an error in the prelude or the library comes from how the user calls it. */
static const struct interp_call *users_call(const struct interp *in, struct span span) {
    if (!diag_is_ours(in->diagnostics, span))
        return NULL;
    const struct interp_call *call = in->call;
    while (call && (!call->span.end || diag_is_ours(in->diagnostics, call->span)))
        call = call->caller;
    return call;
}

enum { CALLS_SHOWN = 4 };

/* The innermost calls that led there, each place once. */
static void note_calls(struct interp *in, struct diagnostic *diagnostic, const struct interp_call *call,
                       struct span span) {
    struct span last = span;
    size_t shown = 0;
    for (; call && shown < CALLS_SHOWN; call = call->caller) {
        bool is_same = call->span.begin == last.begin && call->span.end == last.end;
        if (is_same || call->span.end == 0 || diag_is_ours(in->diagnostics, call->span))
            continue;
        diag_note(in->diagnostics, diagnostic, call->span, "called from here");
        last = call->span;
        shown++;
    }
}

struct span interp_users_span(const struct interp *in, struct span span) {
    if (!diag_is_ours(in->diagnostics, span))
        return (struct span){0, 0};
    if (in->made_at.end)
        return in->made_at;
    const struct interp_call *call = users_call(in, span);
    return call ? call->span : (struct span){0, 0};
}

enum { MESSAGE_LONGEST = 512 };

_Noreturn static void fail(struct interp *in, enum diag_code code, struct span span, struct span made_at,
                           const char *message) {
    if (in->is_absent && code != DIAG_ARRAY_TOO_LARGE && code != DIAG_INTERNAL)
        longjmp(in->gave_up, 1);
    bool is_made = made_at.end && diag_is_ours(in->diagnostics, span);
    const struct interp_call *shown_at = users_call(in, span);
    struct span shown = is_made ? made_at : shown_at ? shown_at->span : span;
    struct diagnostic *d = diag_error(in->diagnostics, code, shown, "%s", message);
    if (is_made || shown_at)
        diag_note(in->diagnostics, d, span, "it is found here");
    note_calls(in, d, shown_at ? shown_at->caller : in->call, shown);
    longjmp(in->failed, 1);
}

void interp_fail(struct interp *in, enum diag_code code, struct span span, const char *format, ...) {
    char message[MESSAGE_LONGEST];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fail(in, code, span, in->made_at, message);
}

void interp_fail_at(struct interp *in, enum diag_code code, struct span span, struct span made_at, const char *format,
                    ...) {
    char message[MESSAGE_LONGEST];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fail(in, code, span, made_at, message);
}
