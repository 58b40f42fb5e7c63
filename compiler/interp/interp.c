/* Running a kernel: setting the machine up, applying the kernel to its arguments, and the way out when it fails. */
#include "interp/machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "support/stack.h"

enum { CALLS_SHOWN = 4 };

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

/* What is wrong in the prelude or the library is so because of how it is called: the user's last call, or NULL. */
static const struct interp_call *users_call(const struct interp *in, struct span span) {
    if (!diag_is_ours(in->diagnostics, span))
        return NULL;
    const struct interp_call *call = in->call;
    while (call && (!call->span.end || diag_is_ours(in->diagnostics, call->span)))
        call = call->caller;
    return call;
}

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

/* ---- kernels ---- */

size_t interp_parameter_types(struct arena *arena, const struct core_global *kernel, struct type ***types,
                              struct type **result) {
    VEC(struct type *) found = {0};
    struct type *type = type_resolve(kernel->scheme->type);
    while (type->kind == TYPE_ARROW || type->kind == TYPE_LEVEL_ARROW) {
        if (type->kind == TYPE_ARROW)
            vec_push(arena, &found, type->arrow.from);
        type = type_resolve(type->kind == TYPE_ARROW ? type->arrow.to : type->level_arrow.to);
    }
    *types = found.at;
    *result = type;
    return found.count;
}

/* What a kernel's body runs at: the level of the push arrays in its result, or else the grid. */
static enum level_value level_of(struct type *result) {
    result = type_resolve(result);
    if (result->kind == TYPE_PUSH)
        return level_instantiate(NULL, result->array.level);
    enum level_value level = LEVEL_GRID;
    for (size_t i = 0; result->kind == TYPE_TUPLE && i < result->tuple.count && level == LEVEL_GRID; i++)
        level = level_of(result->tuple.items[i]);
    return level;
}

/* Apart from interp_run so that no local of it lives across the setjmp. */
static struct host_value *run(struct interp *in, const struct core_global *kernel, struct host_value *const *arguments,
                              size_t count) {
    struct type **types, *result;
    size_t wanted = interp_parameter_types(in->arena, kernel, &types, &result);
    if (wanted != count)
        interp_fail(in, DIAG_INTERNAL, kernel->span, "`%s` takes %zu argument%s, and the interpreter gets %zu",
                    kernel->name->text, wanted, wanted == 1 ? "" : "s", count);
    in->loc = level_of(result);
    struct value value = interp_eval(in, kernel->body, NULL, NULL);
    for (size_t i = 0; i < count; i++)
        value = interp_apply(in, value, interp_import(in, arguments[i]), (struct span){0});
    return interp_export(in, value, result, core_result_span(kernel));
}

bool interp_run(struct arena *arena, const struct program *program, const struct core_global *kernel,
                struct host_value *const *arguments, size_t argument_count, const struct interp_options *options,
                struct host_value **result, struct diagnostics *diagnostics) {
    struct interp *in = ARENA_NEW(arena, struct interp);
    *in = (struct interp){.arena = arena,
                          .region = region_new(),
                          .global_regions = ARENA_ARRAY(arena, struct region *, program->globals.count),
                          .options = options,
                          .diagnostics = diagnostics,
                          .globals = ARENA_ARRAY(arena, struct value *, program->globals.count),
                          .stack_limit = stack_limit(options->stack_bytes)};
    struct region *const region = in->region;
    *result = NULL;
    if (setjmp(in->failed) == 0)
        *result = run(in, kernel, arguments, argument_count);
    store_drop_since(in, NULL);
    region_free(region);
    for (size_t i = 0; i < program->globals.count && in->global_regions[i]; i++)
        region_free(in->global_regions[i]);
    return *result != NULL;
}
