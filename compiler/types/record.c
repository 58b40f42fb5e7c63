/* Records (type.h, note [records]): which one the names of fields mean, and the tuples that they become. */
#include <string.h>

#include "support/edit.h"
#include "types/checker.h"

/* ---- declarations ---- */

void declare_record(struct checker *c, struct synonym *synonym) {
    const struct ast_type *written = synonym->decl->type;
    size_t count = written->items.count;
    struct record *record = ARENA_NEW(c->arena, struct record);
    symbol *fields = ARENA_ARRAY(c->arena, symbol, count);
    struct span *spans = ARENA_ARRAY(c->arena, struct span, count);
    for (size_t i = 0; i < count; i++) {
        fields[i] = written->fields.at[i].name;
        spans[i] = written->fields.at[i].span;
        for (size_t k = 0; k < i; k++)
            if (fields[k] == fields[i]) {
                struct diagnostic *d =
                    diag_error(c->diagnostics, DIAG_FIELDS, spans[i], "the record `%s` has two fields called `%s`",
                               synonym->name->text, fields[i]->text);
                diag_note(c->diagnostics, d, spans[k], "the first one");
                break;
            }
    }
    *record = (struct record){.name = synonym->name,
                              .span = synonym->span,
                              .count = count,
                              .fields = fields,
                              .field_spans = spans,
                              .synonym = synonym};
    synonym->record = record;
}

struct type *record_fresh(struct checker *c, const struct record *record, struct span span) {
    struct synonym *synonym = (struct synonym *)(uintptr_t)record->synonym;
    signature_variables parameters = {0};
    for (size_t i = 0; i < record->parameter_count; i++) {
        symbol name = synonym->decl->type_parameters.at[i];
        vec_push(c->arena, &parameters, ((struct signature_variable){name, type_fresh(c, KIND_TYP, 0, span), NULL}));
    }
    return synonym->is_broken ? c->error_type : type_of_synonym(c, synonym, &parameters);
}

/* ---- messages ---- */

static const char *fields_text(struct checker *c, const struct record *record) {
    struct text text;
    text_init(&text, c->arena);
    for (size_t i = 0; i < record->count; i++)
        text_printf(&text, "%s`%s`", i == 0 ? "" : i + 1 == record->count ? " and " : ", ", record->fields[i]->text);
    return text_string(&text);
}

void record_report_unknown(struct checker *c, const struct record *record, const struct ast_name *name) {
    struct diagnostic *d = diag_error(c->diagnostics, DIAG_UNKNOWN_FIELD, name->span, "`%s` has no field `%s`",
                                      record->name->text, name->name->text);
    struct suggestion suggestion = suggestion_for(name->name->text);
    for (size_t i = 0; i < record->count; i++)
        suggestion_offer(&suggestion, record->fields[i]->text);
    diag_note(c->diagnostics, d, record->span, "`%s` is declared here", record->name->text);
    if (suggestion.best)
        diag_hint(c->diagnostics, d, "did you mean `%s`?", suggestion.best);
    else
        diag_hint(c->diagnostics, d, "its field%s %s", record->count == 1 ? " is" : "s are", fields_text(c, record));
}

static void offer_fields(struct suggestion *suggestion, const struct scope *scope) {
    for (size_t i = 0; i < map_count(scope->synonyms); i++) {
        const struct synonym *synonym = map_entry(scope->synonyms, i).value;
        const struct record *record = synonym->record;
        for (size_t k = 0; record && !record->constructor_count && k < record->count; k++)
            suggestion_offer(suggestion, record->fields[k]->text);
    }
}

void record_report_none(struct checker *c, const struct ast_name *name) {
    struct diagnostic *d =
        diag_error(c->diagnostics, DIAG_UNKNOWN_FIELD, name->span, "no record has a field `%s` here", name->name->text);
    struct suggestion suggestion = suggestion_for(name->name->text);
    offer_fields(&suggestion, c->scope);
    for (size_t i = 0; i < c->scope->import_count; i++)
        offer_fields(&suggestion, c->scope->imports[i]);
    if (suggestion.best)
        diag_hint(c->diagnostics, d, "did you mean `%s`?", suggestion.best);
    else
        diag_hint(c->diagnostics, d, "a record is declared first: `type name = { %s : float, … }`", name->name->text);
}

/* ---- types and places ---- */

struct type *record_of_value(struct checker *c, struct type *of, const struct ast_name *names, size_t count,
                             struct span span) {
    struct type *type = type_resolve(of);
    if (type->kind == TYPE_TUPLE && type->tuple.record)
        return type->tuple.record->constructor_count ? NULL : type;
    if (!is_unknown(type) && type->kind != TYPE_STORED)
        return NULL;
    const struct record *record = record_find(c->scope, (struct wanted_fields){names, count, false});
    if (!record)
        return NULL;
    c->at = span;
    c->reason = NULL;
    struct type *fresh = record_fresh(c, record, span);
    if (fresh->kind == TYPE_ERROR || !unify(c, type, fresh))
        return NULL;
    if (count == 1)
        record_guessed(c, record, span, names[0].name);
    type = type_resolve(of);
    return type->kind == TYPE_TUPLE ? type : NULL;
}

void record_note(struct checker *c, const struct record *record, size_t place, struct span span, struct type *type) {
    note_place(c, (struct name_place){.name = record->fields[place],
                                      .span = span,
                                      .definition = record->field_spans[place],
                                      .is_field = true,
                                      .primitive = PRIM_COUNT,
                                      .scheme = scheme_of_type(c, type),
                                      .type = type});
}

bool record_places(struct checker *c, const struct record *record, const struct ast_name *names, size_t count,
                   size_t *places) {
    bool is_right = true;
    for (size_t i = 0; i < count; i++) {
        places[i] = record_place(record, names[i].name);
        if (places[i] == record->count) {
            record_report_unknown(c, record, &names[i]);
            is_right = false;
        }
        for (size_t k = 0; k < i && places[i] < record->count; k++)
            if (places[k] == places[i]) {
                struct diagnostic *d = diag_error(c->diagnostics, DIAG_FIELDS, names[i].span,
                                                  "the field `%s` is given twice", names[i].name->text);
                diag_note(c->diagnostics, d, names[k].span, "it is given here already");
                is_right = false;
                break;
            }
    }
    return is_right;
}

/* ---- patterns ---- */

struct type *record_of_pattern(struct checker *c, const struct ast_pattern *pattern, struct type *type,
                               size_t *places) {
    const struct ast_name *names = pattern->fields.at;
    size_t count = pattern->items.count;
    for (size_t i = 0; i < count; i++)
        places[i] = SIZE_MAX;
    if (type_resolve(type)->kind == TYPE_ERROR)
        return NULL;
    struct type *found = record_of_value(c, type, names, count, pattern->span);
    if (!found && is_unknown(type_resolve(type))) {
        record_report_none(c, &names[0]);
        return NULL;
    }
    if (!found) {
        struct diagnostic *d = diag_error(c->diagnostics, DIAG_NO_RECORD, pattern->span,
                                          "a record is taken apart here, but this is `%s`", type_text(c, type));
        if (type_resolve(type)->kind == TYPE_TUPLE)
            diag_hint(c->diagnostics, d,
                      type_resolve(type)->tuple.record ? "alternatives are taken apart by `match`"
                                                       : "a tuple is taken apart by `(a, b)`");
        return NULL;
    }
    if (!record_places(c, found->tuple.record, names, count, places))
        return NULL;
    for (size_t i = 0; i < count; i++)
        record_note(c, found->tuple.record, places[i], names[i].span, found->tuple.items[places[i]]);
    return found;
}
