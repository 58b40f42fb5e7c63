/* Finds a case that is missing, with an example, and cases that are never reached (Maranget:
   Warnings for pattern matching, 2007). A row is a list of patterns for a list of values. */
#include <string.h>

#include "types/checker.h"

enum { CASES_MOST = 1000000 }; /* steps: it is exponential for patterns that nobody writes */

struct case_row {
    struct case_pattern **at;
};
typedef VEC(struct case_row) case_rows;

struct cases {
    struct arena *arena;
    size_t steps;
};

static bool same_head(const struct case_pattern *a, const struct case_pattern *b) {
    if (a->head != b->head)
        return false;
    switch (a->head) {
    case CASE_TUPLE: return true;
    case CASE_CONSTRUCTOR:
    case CASE_BOOL: return a->index == b->index;
    case CASE_INTEGER: return a->magnitude == b->magnitude && (a->is_negative == b->is_negative || a->magnitude == 0);
    case CASE_FLOATING: return !(a->floating < b->floating) && !(a->floating > b->floating);
    }
    return false;
}

static struct case_row row_of(struct cases *k, struct case_pattern *const *first, size_t count,
                              struct case_pattern *const *rest, size_t left) {
    struct case_row row = {ARENA_ARRAY(k->arena, struct case_pattern *, count + left + 1)};
    for (size_t i = 0; i < count; i++)
        row.at[i] = first[i];
    for (size_t i = 0; i < left; i++)
        row.at[count + i] = rest[i];
    return row;
}

static struct case_pattern *any(struct cases *k) { return ARENA_NEW(k->arena, struct case_pattern); }

/* The row where the first value is made by the head, its parts in its place; an `|` gives several rows. */
static void specialise(struct cases *k, case_rows *out, struct case_pattern *const *row, size_t width,
                       const struct case_pattern *head) {
    struct case_pattern *first = row[0];
    if (first->kind == CASE_EITHER) {
        for (size_t i = 0; i < first->count; i++) {
            struct case_row one = row_of(k, &first->parts[i], 1, row + 1, width - 1);
            specialise(k, out, one.at, width, head);
        }
    } else if (first->kind == CASE_ANY) {
        struct case_pattern **anything = ARENA_ARRAY(k->arena, struct case_pattern *, head->count + 1);
        for (size_t i = 0; i < head->count; i++)
            anything[i] = any(k);
        vec_push(k->arena, out, row_of(k, anything, head->count, row + 1, width - 1));
    } else if (same_head(first, head)) {
        vec_push(k->arena, out, row_of(k, first->parts, first->count, row + 1, width - 1));
    }
}

static case_rows specialised(struct cases *k, const case_rows *rows, size_t width, const struct case_pattern *head) {
    case_rows out = {0};
    for (size_t i = 0; i < rows->count; i++)
        specialise(k, &out, rows->at[i].at, width, head);
    return out;
}

/* The rows whose first pattern takes anything, without it. */
static void add_default(struct cases *k, case_rows *out, struct case_pattern *const *row, size_t width) {
    const struct case_pattern *first = row[0];
    if (first->kind == CASE_ANY)
        vec_push(k->arena, out, row_of(k, NULL, 0, row + 1, width - 1));
    for (size_t i = 0; first->kind == CASE_EITHER && i < first->count; i++) {
        struct case_row one = row_of(k, &first->parts[i], 1, row + 1, width - 1);
        add_default(k, out, one.at, width);
    }
}

static case_rows defaults(struct cases *k, const case_rows *rows, size_t width) {
    case_rows out = {0};
    for (size_t i = 0; i < rows->count; i++)
        add_default(k, &out, rows->at[i].at, width);
    return out;
}

typedef VEC(const struct case_pattern *) heads;

static void add_heads(struct cases *k, heads *all, const struct case_pattern *pattern) {
    for (size_t i = 0; pattern->kind == CASE_EITHER && i < pattern->count; i++)
        add_heads(k, all, pattern->parts[i]);
    if (pattern->kind != CASE_OF)
        return;
    for (size_t i = 0; i < all->count; i++)
        if (same_head(all->at[i], pattern))
            return;
    vec_push(k->arena, all, pattern);
}

static bool are_all(const heads *found) {
    if (!found->count)
        return false;
    const struct case_pattern *one = found->at[0];
    return one->head == CASE_TUPLE || (one->head == CASE_BOOL && found->count == 2) ||
           (one->head == CASE_CONSTRUCTOR && found->count == one->record->constructor_count);
}

/* A head that is not among those, of which there is one. */
static struct case_pattern *another(struct cases *k, const heads *found) {
    struct case_pattern *other = any(k);
    if (!found->count)
        return other;
    *other = *found->at[0];
    other->count = 0;
    other->parts = NULL;
    other->is_negative = false;
    for (other->index = 0, other->magnitude = 0, other->floating = 0;; other->index++, other->magnitude++) {
        other->floating = (double)other->magnitude;
        size_t i = 0;
        while (i < found->count && !same_head(found->at[i], other))
            i++;
        if (i == found->count)
            break;
    }
    if (other->head == CASE_CONSTRUCTOR && other->record->constructors[other->index].of) {
        other->count = 1;
        other->parts = ARENA_ARRAY(k->arena, struct case_pattern *, 1);
        other->parts[0] = any(k);
    }
    return other;
}

/* Values that no row takes, one for each column; NULL: there are none. */
static struct case_pattern **missing(struct cases *k, const case_rows *rows, size_t width) {
    if (++k->steps > CASES_MOST)
        return NULL;
    if (width == 0)
        return rows->count ? NULL : ARENA_ARRAY(k->arena, struct case_pattern *, 1);
    heads found = {0};
    for (size_t i = 0; i < rows->count; i++)
        add_heads(k, &found, rows->at[i].at[0]);
    if (!are_all(&found)) {
        case_rows rest = defaults(k, rows, width);
        struct case_pattern **values = missing(k, &rest, width - 1);
        if (!values)
            return NULL;
        struct case_pattern *first = another(k, &found);
        return row_of(k, &first, 1, values, width - 1).at;
    }
    for (size_t i = 0; i < found.count; i++) {
        const struct case_pattern *head = found.at[i];
        case_rows inner = specialised(k, rows, width, head);
        struct case_pattern **values = missing(k, &inner, head->count + width - 1);
        if (!values)
            continue;
        struct case_pattern *made = any(k);
        *made = *head;
        made->parts = values;
        return row_of(k, &made, 1, values + head->count, width - 1).at;
    }
    return NULL;
}

static bool is_useful(struct cases *k, const case_rows *rows, struct case_pattern *const *row, size_t width) {
    if (++k->steps > CASES_MOST)
        return true;
    if (width == 0)
        return rows->count == 0;
    struct case_pattern *first = row[0];
    if (first->kind == CASE_EITHER) {
        bool found = false;
        for (size_t i = 0; i < first->count && !found; i++) {
            struct case_row one = row_of(k, &first->parts[i], 1, row + 1, width - 1);
            found = is_useful(k, rows, one.at, width);
        }
        return found;
    }
    heads found = {0};
    if (first->kind == CASE_OF)
        vec_push(k->arena, &found, first);
    for (size_t i = 0; first->kind == CASE_ANY && i < rows->count; i++)
        add_heads(k, &found, rows->at[i].at[0]);
    if (first->kind == CASE_ANY && !are_all(&found)) {
        case_rows rest = defaults(k, rows, width);
        return is_useful(k, &rest, row + 1, width - 1);
    }
    for (size_t i = 0; i < found.count; i++) {
        case_rows inner = specialised(k, rows, width, found.at[i]), own = {0};
        specialise(k, &own, row, width, found.at[i]);
        if (own.count && is_useful(k, &inner, own.at[0].at, found.at[i]->count + width - 1))
            return true;
    }
    return false;
}

static case_rows rows_of(struct cases *k, struct case_pattern *const *patterns, size_t count) {
    case_rows rows = {0};
    for (size_t i = 0; i < count; i++)
        vec_push(k->arena, &rows, row_of(k, &patterns[i], 1, NULL, 0));
    return rows;
}

static void add_case(struct text *text, const struct case_pattern *pattern, bool is_argument) {
    if (pattern->kind != CASE_OF) {
        text_add(text, "_");
        return;
    }
    const struct record *record = pattern->record;
    switch (pattern->head) {
    case CASE_CONSTRUCTOR: {
        const struct constructor *constructor = &record->constructors[pattern->index];
        text_add(text, is_argument && pattern->count ? "(" : "");
        text_add(text, constructor->name->text);
        if (pattern->count) {
            text_add(text, " ");
            add_case(text, pattern->parts[0], true);
        }
        text_add(text, is_argument && pattern->count ? ")" : "");
        break;
    }
    case CASE_BOOL: text_add(text, pattern->index ? "true" : "false"); break;
    case CASE_TUPLE:
        for (size_t i = 0; i < pattern->count; i++) {
            text_add(text, i ? ", " : record ? "{ " : "(");
            if (record)
                text_printf(text, "%s = ", record->fields[i]->text);
            add_case(text, pattern->parts[i], false);
        }
        text_add(text, record ? " }" : ")");
        break;
    case CASE_INTEGER:
        text_printf(text, "%s%llu", pattern->is_negative ? "-" : "", (unsigned long long)pattern->magnitude);
        break;
    case CASE_FLOATING: text_printf(text, "%g", pattern->floating); break;
    }
}

const char *cases_missing(struct checker *c, struct case_pattern *const *patterns, size_t count, bool *is_too_large) {
    struct cases k = {.arena = c->arena};
    case_rows rows = rows_of(&k, patterns, count);
    struct case_pattern **found = missing(&k, &rows, 1);
    *is_too_large = k.steps > CASES_MOST;
    if (!found || *is_too_large)
        return NULL;
    struct text text;
    text_init(&text, c->arena);
    add_case(&text, found[0], false);
    return text_string(&text);
}

bool cases_is_useful(struct checker *c, struct case_pattern *const *patterns, size_t count,
                     struct case_pattern *pattern) {
    struct cases k = {.arena = c->arena};
    case_rows rows = rows_of(&k, patterns, count);
    return is_useful(&k, &rows, &pattern, 1);
}
