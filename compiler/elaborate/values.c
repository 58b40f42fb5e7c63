/* Constructors of the elaborator's values, and views of them. */
#include <stdarg.h>

#include "elaborate/elaborator.h"

static struct elab_value *new_value(struct elaborator *e, enum elab_kind kind) {
    struct elab_value *value = ARENA_NEW(e->arena, struct elab_value);
    value->kind = kind;
    return value;
}

struct elab_value *elab_scalar(struct elaborator *e, struct ir_value *scalar) {
    struct elab_value *value = new_value(e, ELAB_SCALAR);
    value->scalar = scalar;
    return value;
}

struct elab_value *elab_unknown(struct elaborator *e) {
    return elab_scalar(e, NULL);
}

struct elab_value *elab_tuple(struct elaborator *e, struct elab_value **items, size_t count) {
    struct elab_value *value = new_value(e, ELAB_TUPLE);
    value->tuple.items = items;
    value->tuple.count = count;
    return value;
}

struct elab_value *elab_plain(struct elaborator *e, struct elab_value *value) {
    if (value->kind == ELAB_SCALAR)
        return value->exact ? elab_scalar(e, value->scalar) : value;
    if (value->kind != ELAB_TUPLE)
        return value;
    struct elab_value **items = ARENA_ARRAY(e->arena, struct elab_value *, value->tuple.count);
    bool is_plain = true;
    for (size_t i = 0; i < value->tuple.count; i++) {
        items[i] = elab_plain(e, value->tuple.items[i]);
        is_plain &= items[i] == value->tuple.items[i];
    }
    return is_plain ? value : elab_tuple(e, items, value->tuple.count);
}

struct elab_value *elab_pair(struct elaborator *e, struct elab_value *a, struct elab_value *b) {
    struct elab_value **items = ARENA_ARRAY(e->arena, struct elab_value *, 2);
    items[0] = a;
    items[1] = b;
    return elab_tuple(e, items, 2);
}

struct elab_value *elab_function(struct elaborator *e, elab_builds *call, const void *context) {
    struct elab_value *value = new_value(e, ELAB_BUILDS);
    value->builds.call = call;
    value->builds.context = context;
    return value;
}

struct elab_value *elab_of_pull(struct elaborator *e, struct pull *pull) {
    struct elab_value *value = new_value(e, ELAB_PULL);
    value->pull = pull;
    return value;
}

struct elab_value *elab_of_push(struct elaborator *e, struct push *push) {
    struct elab_value *value = new_value(e, ELAB_PUSH);
    value->push = push;
    return value;
}

struct ir_value *elab_as_scalar(struct elaborator *e, struct elab_value *value) {
    if (value->kind != ELAB_SCALAR)
        elab_internal(e, "a scalar was expected");
    return value->scalar ? ir_resolve(e->builder, value->scalar) : NULL;
}

struct pull *elab_as_pull(struct elaborator *e, struct elab_value *value) {
    if (value->kind != ELAB_PULL)
        elab_internal(e, "a pull array was expected");
    return value->pull;
}

struct push *elab_as_push(struct elaborator *e, struct elab_value *value) {
    if (value->kind != ELAB_PUSH)
        elab_internal(e, "a push array was expected");
    return value->push;
}

bool elab_is_ground(const struct elab_value *value) {
    if (value->kind == ELAB_SCALAR)
        return true;
    if (value->kind != ELAB_TUPLE)
        return false;
    for (size_t i = 0; i < value->tuple.count; i++)
        if (!elab_is_ground(value->tuple.items[i]))
            return false;
    return true;
}

static void check_width(struct elaborator *e, size_t leaves) {
    if (leaves >= TYPE_MOST_SCALARS)
        elab_fail(e, DIAG_TYPE_SIZE, e->span, "what is computed here is of more than %d scalars", TYPE_MOST_SCALARS);
}

static void flatten(struct elaborator *e, struct elab_value *value, ir_values *leaves) {
    if (value->kind == ELAB_TUPLE) {
        for (size_t i = 0; i < value->tuple.count; i++)
            flatten(e, value->tuple.items[i], leaves);
        return;
    }
    check_width(e, leaves->count);
    vec_push(e->arena, leaves, elab_as_scalar(e, value));
}

ir_values elab_leaves(struct elaborator *e, struct elab_value *value) {
    ir_values leaves = {0};
    flatten(e, value, &leaves);
    return leaves;
}

/* Takes the leaves from `*next` on, or unknown scalars where that is NULL. */
static struct elab_value *unflatten(struct elaborator *e, const struct elab_value *shape,
                                    struct ir_value *const **next) {
    if (shape->kind != ELAB_TUPLE)
        return elab_scalar(e, *next ? *(*next)++ : NULL);
    struct elab_value **items = ARENA_ARRAY(e->arena, struct elab_value *, shape->tuple.count);
    for (size_t i = 0; i < shape->tuple.count; i++)
        items[i] = unflatten(e, shape->tuple.items[i], next);
    return elab_tuple(e, items, shape->tuple.count);
}

struct elab_value *elab_unflatten(struct elaborator *e, const struct elab_value *shape,
                                  struct ir_value *const *leaves) {
    return unflatten(e, shape, &leaves);
}

struct elab_value *elab_unknown_like(struct elaborator *e, const struct elab_value *shape) {
    return elab_unflatten(e, shape, NULL);
}

static void add_bases(struct elaborator *e, struct type *type, base_list *bases) {
    type = type_resolve(type);
    if (type->kind == TYPE_BASE) {
        check_width(e, bases->count);
        vec_push(e->arena, bases, type->base);
    } else if (type->kind == TYPE_TUPLE) {
        for (size_t i = 0; i < type->tuple.count; i++)
            add_bases(e, type->tuple.items[i], bases);
    } else {
        elab_internal(e, "an element in memory is not of a base type");
    }
}

base_list elab_bases_of(struct elaborator *e, struct type *type) {
    base_list bases = {0};
    add_bases(e, type, &bases);
    return bases;
}

static struct elab_value *of_type(struct elaborator *e, struct type *type, struct ir_value *const **next) {
    type = type_resolve(type);
    if (type->kind != TYPE_TUPLE)
        return elab_scalar(e, *next ? *(*next)++ : NULL);
    struct elab_value **items = ARENA_ARRAY(e->arena, struct elab_value *, type->tuple.count);
    for (size_t i = 0; i < type->tuple.count; i++)
        items[i] = of_type(e, type->tuple.items[i], next);
    return elab_tuple(e, items, type->tuple.count);
}

struct elab_value *elab_of_type(struct elaborator *e, struct type *type, struct ir_value *const *leaves) {
    return of_type(e, type, &leaves);
}

const struct elab_call *elab_users_call(const struct elaborator *e, struct span span) {
    if (!diag_is_ours(e->diagnostics, span))
        return NULL;
    const struct elab_call *call = e->calls;
    while (call && diag_is_ours(e->diagnostics, call->span))
        call = call->caller;
    return call;
}

struct span elab_users_span(const struct elaborator *e, struct span span) {
    if (!diag_is_ours(e->diagnostics, span))
        return (struct span){0, 0};
    if (e->made_at.end)
        return e->made_at;
    const struct elab_call *call = elab_users_call(e, span);
    return call ? call->span : (struct span){0, 0};
}

void elab_build_at(struct elaborator *e, struct span span) {
    struct span users = {0, 0};
    if (e->options->are_users_lines)
        users = diag_is_ours(e->diagnostics, span) ? elab_users_span(e, span) : span;
    ir_set_span(e->builder, span, users);
}

/* Adds the hint how the program makes less code, or takes fewer steps. */
static void hint_at_too_much(struct elaborator *e, struct diagnostic *d) {
    switch (e->too_much) {
    case TOO_MUCH_UNKNOWN:
    case TOO_MUCH_RECURSION:
        diag_hint(e->diagnostics, d,
                  "a recursion is unrolled, so literals, params and `-D` have to end it; as often as arguments or "
                  "data say is repeated by `loop`, `while` or `power`");
        return;
    case TOO_MUCH_INLINING:
        diag_hint(e->diagnostics, d,
                  "kernels have no calls: each use of a function is code of its own; name a result that is used twice "
                  "(`let y = f x`), and repeat what is alike by `loop`, `foldl` or `power`, whose step is there once");
        return;
    case TOO_MUCH_UNROLLING:
        diag_hint(e->diagnostics, d,
                  "`--unroll=%d` leaves loops of more steps as they are (it is %d now); a fold over a list, "
                  "or over at most 8 elements, is code for each of them",
                  e->options->unroll / 4, e->options->unroll);
        __attribute__((fallthrough));
    case TOO_MUCH_EVALUATION:
        diag_hint(e->diagnostics, d,
                  "an element of a pull array is computed anew at each use: where steps use elements twice, store "
                  "them in between, by `force (push <grid> …)`, in a chunk by `force (push <block> …)`");
        return;
    }
}

static void tell(struct elaborator *e, enum diag_code code, struct span span, const char *format, va_list arguments) {
    struct text text;
    text_init(&text, e->arena);
    text_vprintf(&text, format, arguments);
    struct span users = elab_users_span(e, span);
    struct diagnostic *d = diag_error(e->diagnostics, code, users.end ? users : span, "%s", text_string(&text));
    if (users.end)
        diag_note(e->diagnostics, d, span, "it is found here");
    enum { MOST_SHOWN = 6 };
    unsigned shown = 0, left = 0;
    struct span last = users;
    const struct elab_call *shown_at = elab_users_call(e, span);
    for (const struct elab_call *call = e->calls; call; call = call->caller) {
        if (call == shown_at && call->span.begin == users.begin && call->span.end == users.end)
            continue;
        bool again = call->span.begin == last.begin && call->span.end == last.end; /* a recursion */
        last = call->span;
        if (again || shown == MOST_SHOWN) {
            left++;
            continue;
        }
        diag_note(e->diagnostics, d, call->span, "in the call of `%s` here", call->global->name->text);
        shown++;
    }
    if (left)
        diag_note(e->diagnostics, d, (struct span){0, 0}, "and in %u more call%s", left, left == 1 ? "" : "s");
    const struct core_global *called = e->calls ? e->calls->global : NULL;
    if (code == DIAG_ENDLESS_RECURSION && called && called->hides_prelude)
        diag_hint(e->diagnostics, d, "`%s` is this function itself here, no longer the prelude's: give it another name",
                  called->name->text);
    else if (code == DIAG_ENDLESS_RECURSION)
        hint_at_too_much(e, d);
}

void elab_fail(struct elaborator *e, enum diag_code code, struct span span, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (!e->tries && !e->rejected.count) /* it may follow from what was put in place of the rejected */
        tell(e, code, span, format, arguments);
    va_end(arguments);
    longjmp(e->failure, 1);
}

void elab_reject(struct elaborator *e, enum diag_code code, struct span span, const char *format, ...) {
    enum { MOST = 20 };
    if (e->tries)
        longjmp(e->failure, 1);
    struct span place = elab_users_span(e, span);
    if (!place.end)
        place = span;
    for (size_t i = 0; i < e->rejected.count; i++)
        if (e->rejected.at[i].begin == place.begin && e->rejected.at[i].end == place.end)
            return; /* other turns of an unrolled loop, and other instances */
    va_list arguments;
    va_start(arguments, format);
    tell(e, code, span, format, arguments);
    va_end(arguments);
    vec_push(e->arena, &e->rejected, place);
    if (e->rejected.count == MOST)
        longjmp(e->failure, 1);
}

void elab_internal(struct elaborator *e, const char *what) {
    diag_error(e->diagnostics, DIAG_INTERNAL, e->span, "internal error in elaboration: %s", what);
    longjmp(e->failure, INTERNAL_ERROR);
}

struct pull *elab_pull_new(struct elaborator *e, enum pull_kind kind, struct ir_value *length) {
    struct pull *pull = ARENA_NEW(e->arena, struct pull);
    pull->kind = kind;
    pull->length = length;
    return pull;
}

struct push *elab_push_new(struct elaborator *e, struct push push) {
    struct push *kept = ARENA_NEW(e->arena, struct push);
    *kept = push;
    kept->span = e->span;
    kept->made_at = elab_users_span(e, e->span);
    return kept;
}

struct push *elab_push_of_pull(struct elaborator *e, enum level_value level, struct pull *pull) {
    return elab_push_new(e, (struct push){.kind = PUSH_PULL, .level = level, .array = pull});
}

/* ---- instances ---- */

struct type *elab_type(struct elaborator *e, const struct instance *instance, size_t index) {
    if (!instance || index >= instance->scheme->type_count)
        elab_internal(e, "a primitive's type variable is missing");
    return instance->types[index];
}

enum level_value elab_level(struct elaborator *e, const struct instance *instance, size_t index) {
    if (!instance || index >= instance->scheme->level_count || instance->levels[index] == LEVEL_PURE)
        elab_internal(e, "a primitive's level variable is missing");
    return instance->levels[index];
}
