/* Types, levels and schemes as text: `first : num a => [a] -> a`, `concat : int -> [[a]<l>] -> [a]<m>  where l < m`. */
#include "types/checker.h"

enum { PRINT_NODE_LIMIT = 400 }; /* what is longer ends in an ellipsis: a message must stay readable */

struct shown_stored {
    const struct type_variable *own, *of;
};

struct type_printer {
    struct text *out;
    bool use_names, gives_names; /* with neither: unknowns are _ */
    bool hides_numbers;          /* prints number types that are not known further as _, too */
    VEC(const struct type_variable *) types;
    VEC(const struct level_variable *) levels;
    VEC(int) offsets; /* the greatest of each in `levels` */
    VEC(struct shown_stored) stored;
    size_t nodes;
};

static void print_letters(struct text *out, size_t index, char first) {
    size_t letters = (size_t)('z' - first + 1);
    if (index >= letters)
        text_printf(out, "%c%zu", (char)(first + (char)(index % letters)), index / letters);
    else
        text_printf(out, "%c", (char)(first + (char)index));
}

static const char *without_quote(symbol name) { return name->text[0] == '\'' ? name->text + 1 : name->text; }

static void print_type_variable(struct type_printer *p, const struct type_variable *variable) {
    if (variable->name && p->use_names) {
        text_add(p->out, without_quote(variable->name));
        return;
    }
    if (!p->gives_names && variable->depth != DEPTH_QUANTIFIED && !variable->rigid) {
        /* An undecided number is shown as what it will be when nothing decides. */
        unsigned numbers = CLASS_NUM | CLASS_INTEGRAL | CLASS_FLOATING;
        text_add(p->out, p->hides_numbers || !(variable->classes & numbers) ? "_"
                         : (variable->classes & CLASS_FLOATING)             ? "double"
                                                                            : "int");
        return;
    }
    size_t i = 0;
    while (i < p->types.count && p->types.at[i] != variable)
        i++;
    if (i == p->types.count)
        vec_push(p->out->arena, &p->types, variable);
    print_letters(p->out, i, 'a');
}

static void print_level_view(struct type_printer *p, const struct level *level) {
    struct level view = level_view(level);
    if (!view.variable) {
        text_add(p->out, level_names[view.value]);
        return;
    }
    for (int i = 0; i < view.offset; i++)
        text_add(p->out, "1+");
    if (view.variable->name && p->use_names) {
        text_add(p->out, view.variable->name->text);
        return;
    }
    if (!p->gives_names && view.variable->depth != DEPTH_QUANTIFIED && !view.variable->rigid) {
        text_add(p->out, "_");
        return;
    }
    size_t i = 0;
    while (i < p->levels.count && p->levels.at[i] != view.variable)
        i++;
    if (i == p->levels.count) {
        vec_push(p->out->arena, &p->levels, view.variable);
        vec_push(p->out->arena, &p->offsets, 0);
    }
    if (p->offsets.at[i] < view.offset)
        p->offsets.at[i] = view.offset;
    print_letters(p->out, i, 'l');
}

/* A stored type that is a variable is printed as a variable of its own; print_scheme says which. */
static void print_stored(struct type_printer *p, struct type *type) {
    struct type *of = type_resolve(type->stored.of);
    if (of->kind != TYPE_VARIABLE || !p->gives_names) {
        text_add(p->out, "_");
        return;
    }
    size_t i = 0;
    while (i < p->stored.count && p->stored.at[i].of != of->variable)
        i++;
    if (i == p->stored.count) {
        struct type_variable *own = ARENA_NEW(p->out->arena, struct type_variable);
        own->rigid = true;
        vec_push(p->out->arena, &p->stored, ((struct shown_stored){own, of->variable}));
    }
    print_type_variable(p, p->stored.at[i].own);
}

static void print_type(struct type_printer *p, struct type *type, bool is_operand);

/* The level of the push arrays that stand where the record is declared with pull arrays; NULL: there are none. */
static const struct level *pushed_level(struct type *declared, struct type *type) {
    const struct level *found = NULL;
    declared = type_resolve(declared);
    type = type_resolve(type);
    if (declared->kind == TYPE_PULL && type->kind == TYPE_PUSH)
        return type->array.level;
    for (size_t i = 0; declared->kind == TYPE_TUPLE && type->kind == TYPE_TUPLE && !found && type_part(declared, i) &&
                       type_part(type, i);
         i++)
        found = pushed_level(*type_part(declared, i), *type_part(type, i));
    return found;
}

static bool needs_parentheses(struct type *type) {
    type = type_resolve(type);
    return type->kind == TYPE_ARROW || type->kind == TYPE_LEVEL_ARROW ||
           (type->kind == TYPE_TUPLE && type->tuple.record && type->tuple.record->parameter_count);
}

/* `complex float`; `state<grid>` where it is about to be stored. */
static void print_record(struct type_printer *p, struct type *type) {
    const struct record *record = type->tuple.record;
    text_add(p->out, record->name->text);
    for (size_t i = 0; i < record->parameter_count; i++) {
        struct type *argument = type_record_argument(type, i);
        bool is_wrapped = argument && needs_parentheses(argument);
        text_add(p->out, is_wrapped ? " (" : " ");
        if (argument)
            print_type(p, argument, false);
        else
            text_add(p->out, "_");
        text_add(p->out, is_wrapped ? ")" : "");
    }
    const struct level *level = pushed_level(record->declared, type);
    if (!level)
        return;
    text_add(p->out, "<");
    print_level_view(p, level);
    text_add(p->out, ">");
}

static void print_type(struct type_printer *p, struct type *type, bool is_operand) {
    type = type_resolve(type);
    if (++p->nodes > PRINT_NODE_LIMIT) {
        if (p->nodes == PRINT_NODE_LIMIT + 1)
            text_add(p->out, "…");
        return;
    }
    switch (type->kind) {
    case TYPE_VARIABLE: print_type_variable(p, type->variable); break;
    case TYPE_BASE: text_add(p->out, base_info[type->base].name); break;
    case TYPE_TUPLE:
        if (type->tuple.record) {
            print_record(p, type);
            break;
        }
        for (size_t i = 0; i < type->tuple.count && p->nodes <= PRINT_NODE_LIMIT; i++) {
            text_add(p->out, i ? ", " : "(");
            print_type(p, type->tuple.items[i], false);
        }
        text_add(p->out, ")");
        break;
    case TYPE_ARROW:
        text_add(p->out, is_operand ? "(" : "");
        print_type(p, type->arrow.from, true);
        text_add(p->out, " -> ");
        print_type(p, type->arrow.to, false);
        text_add(p->out, is_operand ? ")" : "");
        break;
    case TYPE_LEVEL_ARROW:
        text_add(p->out, is_operand ? "(<" : "<");
        print_level_view(p, type->level_arrow.level);
        text_add(p->out, "> -> ");
        print_type(p, type->level_arrow.to, false);
        text_add(p->out, is_operand ? ")" : "");
        break;
    case TYPE_PULL:
    case TYPE_PUSH:
        text_add(p->out, "[");
        print_type(p, type->array.element, false);
        text_add(p->out, "]");
        if (type->kind == TYPE_PUSH) {
            text_add(p->out, "<");
            print_level_view(p, type->array.level);
            text_add(p->out, ">");
        }
        break;
    case TYPE_STORED: print_stored(p, type); break;
    case TYPE_ERROR: text_add(p->out, "_"); break;
    }
}

void type_print(struct text *out, struct type *type) {
    struct type_printer p = {.out = out, .use_names = true};
    print_type(&p, type, false);
}

const char *type_spelling(struct arena *arena, struct type *type) {
    struct text text;
    text_init(&text, arena);
    type_print(&text, type);
    return text_string(&text);
}

void type_print_shape(struct text *out, struct type *type) {
    struct type_printer p = {.out = out, .use_names = true, .hides_numbers = true};
    print_type(&p, type, false);
}

void level_print(struct text *out, struct level *level) {
    struct type_printer p = {.out = out, .use_names = true};
    print_level_view(&p, level);
}

/* ---- schemes ---- */

static void print_classes(struct type_printer *p, struct text *out) {
    static const struct {
        unsigned class, hides;
        const char *name;
    } rows[] = {
        {CLASS_INTEGRAL, CLASS_NUM | CLASS_ORD | CLASS_EQ, "integral"},
        {CLASS_FLOATING, CLASS_NUM | CLASS_ORD | CLASS_EQ, "floating"},
        {CLASS_NUM, CLASS_ORD | CLASS_EQ, "num"},
        {CLASS_ORD, CLASS_EQ, "ord"},
        {CLASS_EQ, 0, "eq"},
    };
    struct text *kept = p->out;
    p->out = out;
    bool any = false;
    for (size_t i = 0; i < p->types.count; i++) {
        unsigned hidden = 0;
        for (size_t j = 0; j < sizeof rows / sizeof *rows; j++) {
            if (!(p->types.at[i]->classes & rows[j].class) || (hidden & rows[j].class))
                continue;
            hidden |= rows[j].hides;
            text_printf(out, "%s%s ", any ? ", " : "", rows[j].name);
            print_type_variable(p, p->types.at[i]);
            any = true;
        }
    }
    if (any)
        text_add(out, " => ");
    p->out = kept;
}

static bool is_proper(const struct level *level) { return !(level_domain(level_view(level)) & DOMAIN_PURE); }

/* A level variable of the type, and between which levels the type and the constraints that are shown leave it. */
struct shown_level {
    const struct level_variable *variable;
    int low, high;
};

struct shown_levels {
    struct shown_level *at;
    size_t count;
};

/* NULL for a constant, and where `*is_hidden` becomes true, for a variable that is not in the type. */
static struct shown_level *shown_level(const struct shown_levels *all, struct level view, bool *is_hidden) {
    for (size_t i = 0; view.variable && i < all->count; i++)
        if (all->at[i].variable == view.variable)
            return &all->at[i];
    *is_hidden |= view.variable != NULL;
    return NULL;
}

/* True if both sides are constants or in the type. Then `a < b` bounds them, and `*narrows` says whether it did. */
static bool bound_shown(const struct shown_levels *all, const struct level_constraint *k, bool *narrows) {
    if (k->kind != LEVEL_BELOW || !is_proper(k->a) || !is_proper(k->b))
        return false;
    struct level a = level_view(k->a), b = level_view(k->b);
    bool is_hidden = false;
    struct shown_level *of_a = shown_level(all, a, &is_hidden), *of_b = shown_level(all, b, &is_hidden);
    if (is_hidden)
        return false;
    int low = of_a ? of_a->low + a.offset : (int)a.value, high = of_b ? of_b->high + b.offset : (int)b.value;
    if (of_a && of_a->high + a.offset >= high) {
        of_a->high = high - a.offset - 1;
        *narrows = true;
    }
    if (of_b && of_b->low + b.offset <= low) {
        of_b->low = low - b.offset + 1;
        *narrows = true;
    }
    return true;
}

static bool is_repeated(const struct scheme *scheme, size_t i) {
    struct level a = level_view(scheme->constraints.at[i].a), b = level_view(scheme->constraints.at[i].b);
    for (size_t j = 0; j < i; j++) {
        const struct level_constraint *other = &scheme->constraints.at[j];
        struct level other_a = level_view(other->a), other_b = level_view(other->b);
        if (other->kind == LEVEL_BELOW && a.variable == other_a.variable && b.variable == other_b.variable &&
            a.offset == other_a.offset && b.offset == other_b.offset && (a.variable || a.value == other_a.value) &&
            (b.variable || b.value == other_b.value))
            return true;
    }
    return false;
}

/* The constraints between levels of the type. Where levels of the body only bound a level of the type, a constant says
   so: `l < grid`. */
static const char *print_constraints(struct type_printer *p, const struct scheme *scheme,
                                     const struct type_printer *order) {
    struct shown_levels all = {ARENA_ARRAY(p->out->arena, struct shown_level, order->levels.count + 1),
                               order->levels.count};
    for (size_t i = 0; i < all.count; i++)
        all.at[i] = (struct shown_level){order->levels.at[i], LEVEL_THREAD, LEVEL_GRID - order->offsets.at[i]};
    for (bool narrows = true; narrows;) {
        narrows = false;
        for (size_t i = 0; i < scheme->constraints.count; i++)
            (void)bound_shown(&all, &scheme->constraints.at[i], &narrows);
    }
    const char *before = "  where ";
    for (size_t i = 0; i < scheme->constraints.count; i++) {
        const struct level_constraint *k = &scheme->constraints.at[i];
        bool narrows = false;
        if (!bound_shown(&all, k, &narrows) || is_repeated(scheme, i))
            continue;
        text_add(p->out, before);
        print_level_view(p, k->a);
        text_add(p->out, " < ");
        print_level_view(p, k->b);
        before = ", ";
    }
    for (size_t i = 0; i < all.count; i++) {
        const struct shown_level *level = &all.at[i];
        struct level view = {.variable = (struct level_variable *)(uintptr_t)level->variable};
        int low = LEVEL_THREAD, high = LEVEL_GRID;
        while (low < high && !(level->variable->domain >> low & 1))
            low++;
        while (high > low && !(level->variable->domain >> high & 1))
            high--;
        if ((level->variable->domain & DOMAIN_PURE) || (low <= level->low && high >= level->high))
            continue;
        if (low > level->low) {
            text_printf(p->out, "%s%s < ", before, level_names[low - 1]);
            print_level_view(p, &view);
            before = ", ";
        }
        if (high < level->high) {
            text_add(p->out, before);
            print_level_view(p, &view);
            text_printf(p->out, " < %s", level_names[high + 1]);
            before = ", ";
        }
    }
    return before;
}

static void print_what_is_stored(struct type_printer *p, const char *before) {
    for (size_t i = 0; i < p->stored.count; i++) {
        text_add(p->out, before);
        print_type_variable(p, p->stored.at[i].own);
        text_add(p->out, " stored as ");
        print_type_variable(p, p->stored.at[i].of);
        before = ", ";
    }
}

void scheme_print(struct text *out, const struct scheme *scheme, bool use_names) {
    struct text type;
    text_init(&type, out->arena);
    struct type_printer p = {.out = &type, .use_names = use_names, .gives_names = true};
    print_type(&p, scheme->type, false);
    /* Variables in order of appearance, whether or not they print under their own names. */
    struct text ignored;
    text_init(&ignored, out->arena);
    struct type_printer order = {.out = &ignored, .gives_names = true};
    print_type(&order, scheme->type, false);
    print_what_is_stored(&p, print_constraints(&p, scheme, &order));
    p.types.count = 0;
    p.types.at = order.types.at;
    p.types.count = order.types.count;
    p.types.capacity = order.types.capacity;
    print_classes(&p, out);
    text_add(out, text_string(&type));
}

const char *scheme_spelling(struct arena *arena, const struct scheme *scheme) {
    struct text text;
    text_init(&text, arena);
    scheme_print(&text, scheme, false);
    return text_string(&text);
}

/* ---- for messages ---- */

const char *type_text(struct checker *c, struct type *type) { return type_spelling(c->arena, type); }

const char *level_text(struct checker *c, struct level level) {
    struct text text;
    text_init(&text, c->arena);
    level_print(&text, &level);
    return text_string(&text);
}
