/* The types of primitives, read from the notation of primitives.def when a program first names
   them.

   Beyond what a sig may say: `->{e}` and `[a]{e}` name ambients, `where e ~ f` lets one fit
   another, `scalar a` makes a variable a base type or a tuple of these (kind BT), `ordered a` one
   of these of class ord, `ord a` a base type of it (kind SCALAR), and `s@l` is what is stored at
   level l as s. An ambient that is not written is pure where the primitive gives it, and any where
   the primitive is given it. */
#include <ctype.h>
#include <string.h>

#include "support/fatal.h"
#include "types/checker.h"

enum { VARIABLE_LIMIT = 16 };

struct type_reader {
    struct checker *c;
    const char *whole, *at;
    struct {
        char name[16];
        struct type *type; /* one of the two */
        struct level *level;
    } names[VARIABLE_LIMIT];
    size_t name_count;
    struct level *unnamed[VARIABLE_LIMIT];
    size_t unnamed_count;
    level_constraints constraints;
};

static _Noreturn void malformed(const struct type_reader *r) {
    fatal_internal("types", "malformed type of a primitive: %s (at: %s)", r->whole, r->at);
}

static bool take(struct type_reader *r, const char *token) {
    while (*r->at == ' ')
        r->at++;
    size_t length = strlen(token);
    if (strncmp(r->at, token, length) != 0)
        return false;
    r->at += length;
    return true;
}

static void expect(struct type_reader *r, const char *token) {
    if (!take(r, token))
        malformed(r);
}

static void read_word(struct type_reader *r, char word[16]) {
    while (*r->at == ' ')
        r->at++;
    size_t length = 0;
    while (isalnum((unsigned char)*r->at) && length < 15)
        word[length++] = *r->at++;
    word[length] = '\0';
    if (length == 0)
        malformed(r);
}

static size_t find(struct type_reader *r, const char *word, bool is_level) {
    for (size_t i = 0; i < r->name_count; i++)
        if (strcmp(r->names[i].name, word) == 0 && is_level == (r->names[i].level != NULL))
            return i;
    if (r->name_count == VARIABLE_LIMIT)
        malformed(r);
    size_t i = r->name_count++;
    strcpy(r->names[i].name, word);
    return i;
}

static struct type *type_variable(struct type_reader *r, const char *word) {
    size_t i = find(r, word, false);
    if (!r->names[i].type) {
        struct type *type = type_fresh(r->c, KIND_TYP, 0, (struct span){0, 0});
        type->variable->rigid = true;
        type->variable->depth = DEPTH_QUANTIFIED;
        r->names[i].type = type;
    }
    return r->names[i].type;
}

static struct level *fresh_level(struct type_reader *r) {
    struct level *level = level_fresh(r->c, DOMAIN_AMBIENT);
    level->variable->depth = DEPTH_QUANTIFIED;
    level->variable->rigid = true;
    return level;
}

static struct level *read_level(struct type_reader *r, bool is_proper) {
    char word[16];
    read_word(r, word);
    for (int value = LEVEL_PURE; value < LEVEL_VALUE_COUNT; value++)
        if (strcmp(word, level_names[value]) == 0)
            return level_constant(r->c, (enum level_value)value);
    size_t i = find(r, word, true);
    if (!r->names[i].level)
        r->names[i].level = fresh_level(r);
    if (is_proper)
        r->names[i].level->variable->domain &= DOMAIN_PROPER;
    return r->names[i].level;
}

static struct level *read_ambient(struct type_reader *r, bool is_given) {
    if (*r->at == '{') {
        r->at++;
        struct level *level = read_level(r, false);
        expect(r, "}");
        return level;
    }
    if (is_given)
        return level_constant(r->c, LEVEL_PURE);
    if (r->unnamed_count == VARIABLE_LIMIT)
        malformed(r);
    return r->unnamed[r->unnamed_count++] = fresh_level(r);
}

static struct type *read_type(struct type_reader *r, bool is_given);

static struct type *read_array(struct type_reader *r, bool is_given) {
    struct type *element = read_type(r, is_given);
    expect(r, "]");
    if (*r->at == '<') {
        r->at++;
        struct level *level = read_level(r, true);
        expect(r, ">");
        type_require(r->c, element, KIND_BT, 0);
        return type_push(r->c, element, level);
    }
    type_require(r->c, element, KIND_GT, 0);
    return type_pull(r->c, element, read_ambient(r, is_given));
}

static struct type *read_atom(struct type_reader *r, bool is_given) {
    if (take(r, "["))
        return read_array(r, is_given);
    if (take(r, "(")) {
        struct type *items[4];
        size_t count = 0;
        do {
            if (count == 4)
                malformed(r);
            items[count++] = read_type(r, is_given);
        } while (take(r, ","));
        expect(r, ")");
        if (count == 1)
            return items[0];
        struct type **kept = ARENA_ARRAY(r->c->arena, struct type *, count);
        memcpy(kept, items, count * sizeof *kept);
        return type_tuple(r->c, kept, count);
    }
    char word[16];
    enum base base;
    read_word(r, word);
    if (base_of_name(word, &base))
        return r->c->base_types[base];
    struct type *type = type_variable(r, word);
    return take(r, "@") ? type_stored(r->c->arena, type, read_level(r, false)) : type;
}

/* The domain of an arrow has the other polarity, which is only known after it was read: so read it twice. */
static struct type *read_type(struct type_reader *r, bool is_given) {
    if (take(r, "<")) {
        struct level *level = read_level(r, true);
        expect(r, ">");
        expect(r, "->");
        return type_level_arrow(r->c, level, read_type(r, is_given));
    }
    const char *start = r->at;
    size_t unnamed = r->unnamed_count;
    struct type *type = read_atom(r, is_given);
    if (!take(r, "->"))
        return type;
    r->at = start;
    r->unnamed_count = unnamed;
    struct type *from = read_atom(r, !is_given);
    expect(r, "->");
    struct level *ambient = read_ambient(r, is_given);
    return type_arrow(r->c, from, read_type(r, is_given), ambient);
}

static void read_classes(struct type_reader *r) {
    if (!strstr(r->at, "=>"))
        return;
    do {
        char class_name[16], variable[16];
        read_word(r, class_name);
        read_word(r, variable);
        struct type *type = type_variable(r, variable);
        unsigned class = strcmp(class_name, "ordered") == 0 ? CLASS_ORD : class_of_name(class_name);
        if (!class && strcmp(class_name, "scalar") != 0)
            malformed(r);
        type->variable->classes |= class;
        type->variable->kind = strcmp(class_name, "ord") == 0 ? KIND_SCALAR : KIND_BT;
    } while (take(r, ","));
    expect(r, "=>");
}

static void read_constraints(struct type_reader *r) {
    if (!take(r, "where"))
        return;
    do {
        struct level *a = read_level(r, false);
        bool fits = take(r, "~");
        if (!fits)
            expect(r, "<");
        struct level *b = read_level(r, false);
        if (!fits) {
            if (a->variable)
                a->variable->domain &= DOMAIN_PROPER;
            if (b->variable)
                b->variable->domain &= DOMAIN_PROPER;
        }
        vec_push(r->c->arena, &r->constraints,
                 (struct level_constraint){fits ? LEVEL_FITS : LEVEL_BELOW, a, b, {0, 0}, NULL});
    } while (take(r, ","));
}

struct scheme *primitive_scheme(struct checker *c, enum primitive primitive) {
    if (c->primitive_schemes[primitive])
        return c->primitive_schemes[primitive];
    struct type_reader r = {.c = c, .whole = primitive_info[primitive].type, .at = primitive_info[primitive].type};
    read_classes(&r);
    struct scheme *scheme = ARENA_NEW(c->arena, struct scheme);
    scheme->type = read_type(&r, true);
    read_constraints(&r);
    if (take(&r, "") && *r.at)
        malformed(&r);
    scheme->constraints = r.constraints;
    scheme->type_variables = ARENA_ARRAY(c->arena, struct type_variable *, r.name_count + 1);
    scheme->level_variables = ARENA_ARRAY(c->arena, struct level_variable *, r.name_count + r.unnamed_count + 1);
    for (size_t i = 0; i < r.name_count; i++)
        if (r.names[i].type)
            scheme->type_variables[scheme->type_count++] = r.names[i].type->variable;
    for (int proper = 1; proper >= 0; proper--)
        for (size_t i = 0; i < r.name_count; i++)
            if (r.names[i].level && (r.names[i].level->variable->domain & DOMAIN_PURE ? 0 : 1) == proper) {
                scheme->level_variables[scheme->level_count++] = r.names[i].level->variable;
                scheme->proper_count += (size_t)proper;
            }
    for (size_t i = 0; i < r.unnamed_count; i++)
        scheme->level_variables[scheme->level_count++] = r.unnamed[i]->variable;
    c->primitive_schemes[primitive] = scheme;
    return scheme;
}
