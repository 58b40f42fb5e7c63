/* Expressions of records: a field, a record of all its fields, and one with some of them changed. */
#include <string.h>

#include "types/checker.h"

static void report_no_record(struct checker *c, const struct ast_expr *expr, const struct core *of) {
    const char *field = expr->field.name.name->text, *name = head_name(of);
    struct type *type = type_resolve(of->type);
    struct diagnostic *d = name && of->kind != CORE_APPLY
                               ? diag_error(c->diagnostics, DIAG_NO_RECORD, expr->span,
                                            "`%s` has no field `%s`: its type is `%s`", name, field, type_text(c, type))
                               : diag_error(c->diagnostics, DIAG_NO_RECORD, expr->span,
                                            "this has no field `%s`: its type is `%s`", field, type_text(c, type));
    note_local(c, d, of);
    const char *shown = name && of->kind != CORE_APPLY ? name : "xs";
    bool is_array = type->kind == TYPE_PULL || type->kind == TYPE_PUSH;
    if (is_array && (strcmp(field, "length") == 0 || strcmp(field, "size") == 0))
        diag_hint(c->diagnostics, d, "the length of an array is `length %s`", shown);
    else if (is_array)
        diag_hint(c->diagnostics, d, "of all elements it is `map (fn x => x.%s) %s`, of one `(%s ! i).%s`", field,
                  shown, shown, field);
    else if (type->kind == TYPE_ARROW && is_bound_name(c, expr->field.name.name))
        diag_hint(c->diagnostics, d, "composition has blanks around its point: `%s . %s`", name ? name : "f", field);
    else if (type->kind == TYPE_TUPLE && type->tuple.record)
        diag_hint(c->diagnostics, d, "alternatives are taken apart by `match`");
    else if (type->kind == TYPE_TUPLE)
        diag_hint(c->diagnostics, d,
                  "a tuple is taken apart by `let (a, b) = …`; a record has names: `type t = { %s : …, "
                  "… }`",
                  field);
}

/* ---- what is stored ---- */

/* `found` where `declared` stands in a record, or push arrays in place of its pull arrays. */
static bool fits(struct checker *c, struct type *found, struct type *declared) {
    struct type *a = type_resolve(found), *b = type_resolve(declared);
    if (a->kind == TYPE_PUSH && b->kind == TYPE_PULL)
        return unify(c, a->array.element, b->array.element);
    if (a->kind != TYPE_TUPLE || b->kind != TYPE_TUPLE || a->tuple.count != b->tuple.count ||
        a->tuple.record != b->tuple.record)
        return subsume(c, a, b);
    for (size_t i = 0; i < a->tuple.count; i++)
        if (!fits(c, a->tuple.items[i], b->tuple.items[i]))
            return false;
    return true;
}

/* ---- expressions ---- */

static struct core *select_field(struct checker *c, struct core *of, struct type *record, size_t place,
                                 struct span span) {
    struct core *core = core_new(c, CORE_SELECT, span, record->tuple.items[place]);
    core->select.tuple = of;
    core->select.index = place;
    return core;
}

struct core *infer_field(struct checker *c, const struct ast_expr *expr) {
    const struct ast_name *name = &expr->field.name;
    struct core *of = infer_expr(c, expr->field.of);
    if (type_resolve(of->type)->kind == TYPE_ERROR)
        return error_core(c, expr->span);
    struct type *type = record_of_value(c, of->type, name, 1, expr->field.of->span);
    if (!type) {
        struct type *found = type_resolve(of->type);
        if (is_unknown(found) || found->kind == TYPE_STORED)
            record_report_none(c, name);
        else
            report_no_record(c, expr, of);
        return error_core(c, expr->span);
    }
    const struct record *record = type->tuple.record;
    size_t place = record_place(record, name->name);
    if (place == record->count) {
        record_report_unknown(c, record, name);
        return error_core(c, expr->span);
    }
    record_note(c, record, place, name->span, type->tuple.items[place]);
    return select_field(c, of, type, place, expr->span);
}

static void report_missing(struct checker *c, const struct ast_expr *expr, const struct record *record,
                           struct core *const *items) {
    struct text text;
    text_init(&text, c->arena);
    size_t missing = 0, said = 0;
    for (size_t i = 0; i < record->count; i++)
        missing += !items[i];
    for (size_t i = 0; i < record->count; i++)
        if (!items[i])
            said++, text_printf(&text, "%s`%s`",
                                said == 1         ? ""
                                : said == missing ? " and "
                                                  : ", ",
                                record->fields[i]->text);
    struct diagnostic *d =
        diag_error(c->diagnostics, DIAG_FIELDS, expr->span, "the field%s %s of `%s` %s missing",
                   missing == 1 ? "" : "s", text_string(&text), record->name->text, missing == 1 ? "is" : "are");
    diag_note(c->diagnostics, d, record->span, "`%s` is declared here", record->name->text);
    diag_hint(c->diagnostics, d, "`{ r with … }` has the other fields of `r`");
}

static struct core *infer_given(struct checker *c, const struct record *record, size_t place,
                                const struct ast_expr *value, struct type *declared) {
    struct core *core = infer_wanted(c, value, declared);
    c->at = core->span;
    c->reason = NULL;
    if (type_resolve(core->type)->kind == TYPE_ERROR || fits(c, core->type, declared))
        return core;
    struct diagnostic *d = report_value(c, core, declared);
    diag_note(c->diagnostics, d, record->field_spans[place], "the field `%s` of `%s` is declared here",
              record->fields[place]->text, record->name->text);
    core->type = c->error_type;
    return core;
}

/* Values that were not put into a record are looked at all the same, for what is wrong in them. */
static struct core *give_up(struct checker *c, const struct ast_expr *expr, size_t first) {
    for (size_t i = first; i < expr->record.items.count; i++)
        infer_expr(c, expr->record.items.at[i]);
    return error_core(c, expr->span);
}

struct core *infer_record(struct checker *c, const struct ast_expr *expr, struct type *wanted) {
    const struct ast_name *names = expr->record.fields.at;
    size_t given = expr->record.items.count;
    struct core *of = expr->record.of ? infer_wanted(c, expr->record.of, wanted) : NULL;
    struct type *type = NULL, *known = wanted ? type_resolve(wanted) : NULL;
    if (of) {
        if (type_resolve(of->type)->kind == TYPE_ERROR)
            return give_up(c, expr, 0);
        type = record_of_value(c, of->type, names, given, expr->record.of->span);
    } else {
        const struct record *record =
            known && known->kind == TYPE_TUPLE && known->tuple.record && !known->tuple.record->constructor_count
                ? known->tuple.record
                : record_find(c->scope, (struct wanted_fields){names, given, true});
        type = record ? record_fresh(c, record, expr->span) : NULL;
        if (type && type->kind == TYPE_ERROR)
            return give_up(c, expr, 0);
    }
    if (!type && of && !is_unknown(of->type)) {
        struct diagnostic *d =
            diag_error(c->diagnostics, DIAG_NO_RECORD, of->span, "`with` changes fields of a record, but this is `%s`",
                       type_text(c, of->type));
        note_local(c, d, of);
        return give_up(c, expr, 0);
    }
    if (!type) {
        record_report_none(c, &names[0]);
        return give_up(c, expr, 0);
    }
    const struct record *record = type->tuple.record;
    size_t *places = ARENA_ARRAY(c->arena, size_t, given + 1);
    if (!record_places(c, record, names, given, places))
        return give_up(c, expr, 0);
    struct type *result = of ? record_fresh(c, record, expr->span) : type;
    struct core **items = ARENA_ARRAY(c->arena, struct core *, record->count);
    for (size_t i = 0; i < given; i++) {
        items[places[i]] = infer_given(c, record, places[i], expr->record.items.at[i], result->tuple.items[places[i]]);
        record_note(c, record, places[i], names[i].span, result->tuple.items[places[i]]);
    }
    const struct core_local *whole = of ? fresh_local(c, NULL) : NULL;
    for (size_t i = 0; of && i < record->count; i++) {
        if (items[i])
            continue;
        struct core *local = core_new(c, CORE_LOCAL, of->span, of->type);
        local->local.local = whole;
        items[i] = select_field(c, local, type, i, of->span);
        c->at = of->span;
        (void)fits(c, items[i]->type, result->tuple.items[i]); /* what they have in common are the parameters */
    }
    struct type **types = ARENA_ARRAY(c->arena, struct type *, record->count);
    bool failed = false;
    for (size_t i = 0; i < record->count; i++) {
        if (!items[i]) {
            report_missing(c, expr, record, items);
            return error_core(c, expr->span);
        }
        types[i] = items[i]->type;
        failed |= type_resolve(types[i])->kind == TYPE_ERROR;
    }
    struct core *core = core_new(c, CORE_TUPLE, expr->span, failed ? c->error_type : type_tuple_like(c, type, types));
    core->sequence.items = items;
    core->sequence.count = record->count;
    if (!of)
        return core;
    struct core *let = core_new(c, CORE_LET, expr->span, core->type);
    let->let.local = whole;
    let->let.value = of;
    let->let.body = core;
    return let;
}
