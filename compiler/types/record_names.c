/* Which record a field or a name means, and what messages say of that. */
#include "types/checker.h"

size_t record_place(const struct record *record, symbol field) {
    size_t i = 0;
    while (i < record->count && record->fields[i] != field)
        i++;
    return i;
}

static bool has_fields(const struct record *record, const struct wanted_fields *wanted) {
    for (size_t i = 0; i < wanted->count; i++)
        if (record_place(record, wanted->names[i].name) == record->count)
            return false;
    return !wanted->are_all || wanted->count == record->count;
}

static const struct record *last_with(const struct scope *scope, const struct wanted_fields *wanted) {
    for (size_t i = map_count(scope->synonyms); i-- > 0;) {
        const struct synonym *synonym = map_entry(scope->synonyms, i).value;
        if (synonym->record && !synonym->record->constructor_count && !synonym->is_open &&
            has_fields(synonym->record, wanted))
            return synonym->record;
    }
    return NULL;
}

static const struct record *find_with(const struct scope *scope, const struct wanted_fields *wanted) {
    const struct record *found = last_with(scope, wanted);
    for (size_t i = scope->import_count; !found && i-- > 0;)
        found = last_with(scope->imports[i], wanted);
    return found || !scope->prelude ? found : last_with(scope->prelude, wanted);
}

const struct record *record_find(const struct scope *scope, struct wanted_fields wanted) {
    const struct record *found = find_with(scope, &wanted);
    wanted.are_all = false;
    if (!found)
        found = find_with(scope, &wanted);
    for (size_t i = 0; !found && i < wanted.count; i++) {
        struct wanted_fields one = {&wanted.names[i], 1, false};
        found = find_with(scope, &one);
    }
    return found;
}

static const struct record *record_called(const struct scope *scope, symbol name) {
    const struct synonym *synonym = map_get(scope->synonyms, name);
    return synonym && synonym->record && !synonym->record->constructor_count ? synonym->record : NULL;
}

/* "{ x = …, y = … }" */
const char *record_shape(struct checker *c, const struct record *record) {
    struct text text;
    text_init(&text, c->arena);
    for (size_t i = 0; i < record->count; i++)
        text_printf(&text, "%s%s = …", i ? ", " : "{ ", record->fields[i]->text);
    text_add(&text, " }");
    return text_string(&text);
}

bool hint_record_name(struct checker *c, struct diagnostic *d, symbol name) {
    const struct record *record = record_called(c->scope, name);
    for (size_t i = 0; !record && i < c->scope->import_count; i++)
        record = record_called(c->scope->imports[i], name);
    if (record) {
        diag_hint(c->diagnostics, d, "`%s` is a record, and a value of it `%s`", name->text, record_shape(c, record));
        return true;
    }
    struct ast_name field = {.name = name};
    struct wanted_fields wanted = {&field, 1, false};
    record = find_with(c->scope, &wanted);
    if (record)
        diag_hint(c->diagnostics, d,
                  "`%s` is a field of `%s`: of a value `r` it is `r.%s`, and as a function `fn r => r.%s`", name->text,
                  record->name->text, name->text, name->text);
    return record != NULL;
}

/* Was it the last of several that have such a field, where nothing was known? */
void record_guessed(struct checker *c, const struct record *record, struct span span, symbol field) {
    for (size_t i = 0; i < map_count(c->scope->synonyms); i++) {
        const struct record *other = ((const struct synonym *)map_entry(c->scope->synonyms, i).value)->record;
        if (other && other != record && !other->constructor_count && record_place(other, field) < other->count) {
            vec_push(c->arena, &c->guesses, ((struct guess){record, span, field}));
            return;
        }
    }
}

static const struct record *record_in(struct type *type) {
    type = type_resolve(type);
    while (type->kind == TYPE_PULL || type->kind == TYPE_PUSH)
        type = type_resolve(type->array.element);
    return type->kind == TYPE_TUPLE ? type->tuple.record : NULL;
}

bool hint_guess(struct checker *c, struct diagnostic *d, struct type *found, struct type *expected) {
    const struct record *a = record_in(found), *b = record_in(expected);
    if (!a || !b || a == b)
        return false;
    for (size_t i = c->guesses.count; i-- > 0;) {
        const struct guess *guess = &c->guesses.at[i];
        if (guess->record != a && guess->record != b)
            continue;
        const struct record *other = guess->record == a ? b : a;
        diag_note(c->diagnostics, d, guess->span, "here it is taken for `%s`, the last record with a field `%s`",
                  guess->record->name->text, guess->field->text);
        diag_hint(c->diagnostics, d, "say there what it is, as a parameter `(r : %s)`", other->name->text);
        return true;
    }
    return false;
}
