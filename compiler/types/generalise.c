/* Schemes: generalisation of what was inferred since a mark, and instantiation.

   note [ambients of a scheme]: only the ambients in the type are quantified. `e fits f fits g` with f in no type says
   `e fits g`; a path through the graph of constraints between two that are kept becomes one constraint, so that
   schemes do not grow with bodies. An ambient that the type only gives away is as small as it can be: pure, or
   equal to the only one that fits it. That loses nothing, because what is given away is never compared for
   equality (unify.c: subsume, lifted). */
#include "types/checker.h"

enum { MARK_GIVEN = 1, MARK_TAKEN = 2, MARK_PROPER = 4, MARK_KEPT = 8, MARK_SEEN = 16 };

struct scheme *scheme_of_type(struct checker *c, struct type *type) {
    struct scheme *scheme = ARENA_NEW(c->arena, struct scheme);
    scheme->type = type;
    return scheme;
}

/* ---- lowering ---- */

static void lower_level(struct checker *c, struct level *level) {
    struct level view = level_view(level);
    if (view.variable && view.variable->depth > c->depth && view.variable->depth != DEPTH_QUANTIFIED)
        view.variable->depth = c->depth;
}

static void lower(struct checker *c, struct type *type, uint32_t walk) {
    type = type_resolve(type);
    if (!type_walk_comes(walk, type, 0))
        return;
    if (type->kind == TYPE_VARIABLE && type->variable->depth > c->depth && type->variable->depth != DEPTH_QUANTIFIED)
        type->variable->depth = c->depth;
    if (type_level(type))
        lower_level(c, *type_level(type));
    for (size_t i = 0; type_part(type, i); i++)
        lower(c, *type_part(type, i), walk);
}

void lower_depth(struct checker *c, struct type *type) { lower(c, type, type_walk_begin(c)); }

/* ---- what a type mentions ---- */

struct mentioned {
    struct checker *c;
    bool with_classes;
    uint32_t walk;
    VEC(struct type_variable *) types;
    VEC(struct level_variable *) levels;
};

static void mention_level(struct mentioned *m, struct level *level, uint8_t mark) {
    struct level view = level_view(level);
    if (!view.variable || view.variable->depth <= m->c->depth || view.variable->depth == DEPTH_QUANTIFIED)
        return;
    if (!(view.variable->mark & MARK_KEPT))
        vec_push(m->c->arena, &m->levels, view.variable);
    view.variable->mark |= mark | MARK_KEPT;
}

static void mention_variable(struct mentioned *m, struct type_variable *variable) {
    if (variable->depth <= m->c->depth || variable->depth == DEPTH_QUANTIFIED)
        return;
    if (variable->classes && !m->with_classes && !variable->rigid) {
        variable->depth = m->c->depth; /* shared by all uses: monomorphic */
        return;
    }
    variable->depth = DEPTH_QUANTIFIED;
    variable->rigid = true;
    vec_push(m->c->arena, &m->types, variable);
}

static void mention(struct mentioned *m, struct type *type, uint8_t mark) {
    uint8_t other = mark == MARK_GIVEN ? MARK_TAKEN : MARK_GIVEN;
    type = type_resolve(type);
    if (!type_walk_comes(m->walk, type, mark == MARK_TAKEN))
        return;
    switch (type->kind) {
    case TYPE_VARIABLE: mention_variable(m, type->variable); break;
    case TYPE_BASE:
    case TYPE_ERROR:
    case TYPE_TUPLE: break;
    case TYPE_ARROW: mention_level(m, type->arrow.ambient, mark); break;
    case TYPE_LEVEL_ARROW: mention_level(m, type->level_arrow.level, MARK_PROPER); break;
    case TYPE_PULL: mention_level(m, type->array.level, mark); break;
    case TYPE_PUSH: mention_level(m, type->array.level, MARK_PROPER); break;
    case TYPE_STORED: /* the level of arrays that are not known yet: it is no ambient only */
        mention_level(m, type->stored.level, MARK_TAKEN | MARK_GIVEN);
        break;
    }
    for (size_t i = 0; type_part(type, i); i++)
        mention(m, *type_part(type, i), type->kind == TYPE_ARROW && i == 0 ? other : mark);
}

/* ---- level variables that are in no type ---- */

static bool is_internal(const struct checker *c, const struct level_variable *variable) {
    return variable->depth > c->depth && !(variable->mark & MARK_KEPT);
}

/* The variables below `variable`, with the term of the last; constants are in its domain already. */
static size_t count_below(struct checker *c, const struct level_variable *variable, struct level **last,
                          bool *is_settled) {
    size_t count = 0;
    for (const struct watcher *watcher = variable->watched; watcher; watcher = watcher->next) {
        const struct level_constraint *k = watcher->who->constraint;
        struct level below = level_view(k->a);
        if (watcher->who->is_settled || !watcher->is_above || k->kind != LEVEL_BELOW || !below.variable)
            continue;
        count++;
        *last = k->a;
        *is_settled &= !is_internal(c, below.variable) || below.variable->rigid;
    }
    return count;
}

static bool choose_level(struct checker *c, const struct level_constraint *k, struct level *term) {
    struct level view = level_view(term);
    if (!view.variable || view.variable->rigid || view.offset || !is_internal(c, view.variable))
        return false;
    struct level *only = NULL, *chosen = NULL;
    bool is_settled = true;
    size_t below = count_below(c, view.variable, &only, &is_settled);
    if (below == 0) {
        int value = LEVEL_THREAD;
        while (!(view.variable->domain & (1u << value)))
            value++;
        chosen = level_constant(c, (enum level_value)value);
    } else if (below == 1 && is_settled) {
        chosen = level_shifted(c, level_view(only), 1);
    }
    return chosen && level_unify(c, term, chosen, k);
}

/* Proper levels: the lowest that the constraints allow, a constant or one above the only one below it. With two of
   them below, there is no term for it, and it stays: chosen where the scheme is used. A choice can make another one
   possible above it: four levels, so few rounds. */
static void choose_internal_levels(struct mentioned *m, size_t mark) {
    struct checker *c = m->c;
    struct propagation p;
    propagation_begin(c, &p, mark);
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < p.count; i++) {
            struct level_constraint *k = p.all[i].constraint;
            if (p.all[i].is_settled || k->kind != LEVEL_BELOW)
                continue;
            if (choose_level(c, k, k->a) || choose_level(c, k, k->b)) {
                propagation_run(c, &p);
                again = true;
            }
        }
    }
    propagation_end(c, &p);
    for (size_t i = mark; i < c->pending.count; i++)
        for (int side = 0; side < 2; side++) {
            struct level_constraint *k = c->pending.at[i];
            struct level view = level_view(side ? k->b : k->a);
            if (view.variable && is_internal(c, view.variable) && !(view.variable->domain & DOMAIN_PURE)) {
                view.variable->mark |= MARK_KEPT | MARK_PROPER;
                vec_push(c->arena, &m->levels, view.variable);
            }
        }
}

typedef VEC(struct level_constraint *) edges;

struct paths {
    struct checker *c;
    struct map *from; /* level_variable → edges * */
    edges found;
    VEC(struct level_variable *) seen;
};

static void follow_paths(struct paths *p, struct level_constraint *first, struct level_variable *at) {
    edges *out = map_get(p->from, at);
    for (size_t i = 0; out && i < out->count; i++) {
        struct level_constraint *edge = out->at[i];
        struct level to = level_view(edge->b);
        struct level_constraint *start = first ? first : edge;
        if (to.variable && to.offset == 0) {
            if (to.variable->mark & MARK_SEEN)
                continue;
            to.variable->mark |= MARK_SEEN;
            vec_push(p->c->arena, &p->seen, to.variable);
            if (is_internal(p->c, to.variable)) {
                follow_paths(p, start, to.variable);
                continue;
            }
        }
        struct level_constraint *path = ARENA_NEW(p->c->arena, struct level_constraint);
        *path = *edge;
        path->a = start->a;
        vec_push(p->c->arena, &p->found, path);
    }
}

/* See note [ambients of a scheme]. */
static void shorten_paths(struct mentioned *m, size_t mark) {
    struct checker *c = m->c;
    struct paths p = {.c = c, .from = map_new(c->arena)};
    edges others = {0};
    for (size_t i = mark; i < c->pending.count; i++) {
        struct level_constraint *k = c->pending.at[i];
        struct level a = level_view(k->a);
        if (k->kind != LEVEL_FITS || !a.variable) {
            vec_push(c->arena, &others, k);
            continue;
        }
        edges *out = map_get(p.from, a.variable);
        if (!out)
            map_set(p.from, a.variable, out = ARENA_NEW(c->arena, edges));
        vec_push(c->arena, out, k);
    }
    for (size_t i = 0; i < map_count(p.from); i++) {
        struct level_variable *start = (struct level_variable *)(uintptr_t)map_entry(p.from, i).key;
        if (is_internal(c, start))
            continue;
        start->mark |= MARK_SEEN;
        vec_push(c->arena, &p.seen, start);
        follow_paths(&p, NULL, start);
        for (size_t j = 0; j < p.seen.count; j++)
            p.seen.at[j]->mark &= (uint8_t)~MARK_SEEN;
        p.seen.count = 0;
    }
    c->pending.count = mark;
    for (size_t i = 0; i < others.count; i++)
        vec_push(c->arena, &c->pending, others.at[i]);
    for (size_t i = 0; i < p.found.count; i++)
        vec_push(c->arena, &c->pending, p.found.at[i]);
}

/* Ambients that are only given away: pure, or the only one that fits them. */
static bool shrink(struct checker *c, struct level_variable *variable) {
    struct level self = {.variable = variable};
    const struct watcher *only = NULL;
    size_t in = 0, out = 0;
    for (const struct watcher *watcher = variable->watched; watcher; watcher = watcher->next) {
        if (watcher->who->is_settled)
            continue;
        in += watcher->is_above;
        out += !watcher->is_above;
        if (watcher->is_above)
            only = watcher;
    }
    if (in == 0)
        return level_unify(c, &self, level_constant(c, LEVEL_PURE), NULL);
    struct level from = level_view(only->who->constraint->a);
    if (in != 1 || out != 0 || !from.variable || from.variable->depth <= c->depth)
        return false;
    uint32_t depth = from.variable->depth;
    if (!level_unify(c, &self, only->who->constraint->a, NULL))
        return false;
    from.variable->depth = depth;
    return true;
}

static void shrink_given(struct mentioned *m, size_t mark) {
    struct checker *c = m->c;
    struct propagation p;
    propagation_begin(c, &p, mark);
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < m->levels.count; i++) {
            struct level_variable *variable = m->levels.at[i];
            if (variable->link || (variable->mark & (MARK_TAKEN | MARK_PROPER)) || !(variable->domain & DOMAIN_PURE))
                continue;
            if (shrink(c, variable)) {
                propagation_run(c, &p);
                again = true;
            }
        }
    }
    propagation_end(c, &p);
}

/* Names for the variables that the user gave none, so that messages and dumps agree: a, b, … and
   l, m, …, with a prime in a scheme within a definition. */
static symbol free_name(struct checker *c, struct map *taken, char first, size_t *next) {
    for (;;) {
        size_t index = (*next)++, letters = (size_t)('z' - first + 1);
        char letter = (char)(first + (char)(index % letters));
        const char *prime = c->depth ? "'" : "";
        const char *text = index < letters ? arena_printf(c->arena, "%c%s", letter, prime)
                                           : arena_printf(c->arena, "%c%zu%s", letter, index / letters, prime);
        symbol name = symbol_of(c->symbols, text);
        if (map_has(taken, name))
            continue;
        map_set(taken, name, NULL);
        return name;
    }
}

static void name_variables(struct checker *c, const struct scheme *scheme) {
    size_t next_type = 0, next_level = 0;
    struct map *taken = map_new(c->arena);
    for (size_t i = 0; i < scheme->type_count; i++)
        if (scheme->type_variables[i]->name)
            map_set(taken, scheme->type_variables[i]->name, NULL);
    for (size_t i = 0; i < scheme->level_count; i++)
        if (scheme->level_variables[i]->name)
            map_set(taken, scheme->level_variables[i]->name, NULL);
    for (size_t i = 0; i < scheme->type_count; i++)
        if (!scheme->type_variables[i]->name)
            scheme->type_variables[i]->name = free_name(c, taken, 'a', &next_type);
    for (size_t i = 0; i < scheme->proper_count; i++)
        if (!scheme->level_variables[i]->name)
            scheme->level_variables[i]->name = free_name(c, taken, 'l', &next_level);
}

struct scheme *generalise(struct checker *c, struct type *type, size_t mark, bool with_classes) {
    struct mentioned m = {.c = c, .with_classes = with_classes};
    check_stored(c);
    level_propagate(c, mark);
    if (!type_is_small(c, type)) {
        diag_error(c->diagnostics, DIAG_TYPE_SIZE, c->at, "the type of this expression is too large");
        type = c->error_type;
    }
    m.walk = type_walk_begin(c);
    mention(&m, type, MARK_GIVEN);
    choose_internal_levels(&m, mark);
    shorten_paths(&m, mark);
    shrink_given(&m, mark);

    struct scheme *scheme = scheme_of_type(c, type);
    scheme->type_variables = m.types.at;
    scheme->type_count = m.types.count;
    scheme->level_variables = ARENA_ARRAY(c->arena, struct level_variable *, m.levels.count + 1);
    for (int proper = 1; proper >= 0; proper--)
        for (size_t i = 0; i < m.levels.count; i++) {
            struct level_variable *variable = m.levels.at[i];
            if (variable->link || (variable->domain & DOMAIN_PURE ? 0 : 1) != proper)
                continue;
            scheme->level_variables[scheme->level_count++] = variable;
            scheme->proper_count += (size_t)proper;
        }
    for (size_t i = 0; i < m.levels.count; i++)
        m.levels.at[i]->mark = 0;
    for (size_t i = 0; i < scheme->level_count; i++) {
        scheme->level_variables[i]->depth = DEPTH_QUANTIFIED;
        scheme->level_variables[i]->rigid = true;
    }
    name_variables(c, scheme);
    size_t kept = mark;
    for (size_t i = mark; i < c->pending.count; i++) {
        struct level_constraint *k = c->pending.at[i];
        struct level a = level_view(k->a), b = level_view(k->b);
        if ((a.variable && a.variable->depth == DEPTH_QUANTIFIED) ||
            (b.variable && b.variable->depth == DEPTH_QUANTIFIED))
            vec_push(c->arena, &scheme->constraints, *k);
        else
            c->pending.at[kept++] = k;
    }
    c->pending.count = kept;
    return scheme;
}

/* ---- instantiation ---- */

static struct level *instantiate_level(struct checker *c, struct level *level) {
    if (!level->variable)
        return level;
    struct level view = level_view(level);
    if (!view.variable || !view.variable->stand_in)
        return level;
    return view.offset ? level_shifted(c, level_view(view.variable->stand_in), view.offset) : view.variable->stand_in;
}

static struct type *instantiate_type(struct checker *c, struct type *type, uint32_t walk);

static struct type *instantiated(struct checker *c, struct type *type, uint32_t walk) {
    switch (type->kind) {
    case TYPE_VARIABLE: return type->variable->stand_in ? type->variable->stand_in : type;
    case TYPE_BASE:
    case TYPE_ERROR: return type;
    case TYPE_TUPLE: {
        struct type **items = ARENA_ARRAY(c->arena, struct type *, type->tuple.count);
        bool same = true;
        for (size_t i = 0; i < type->tuple.count; i++) {
            items[i] = instantiate_type(c, type->tuple.items[i], walk);
            same &= items[i] == type->tuple.items[i];
        }
        return same ? type : type_tuple_like(c, type, items);
    }
    case TYPE_ARROW: {
        struct type *from = instantiate_type(c, type->arrow.from, walk);
        struct type *to = instantiate_type(c, type->arrow.to, walk);
        struct level *ambient = instantiate_level(c, type->arrow.ambient);
        return from == type->arrow.from && to == type->arrow.to && ambient == type->arrow.ambient
                   ? type
                   : type_arrow(c, from, to, ambient);
    }
    case TYPE_LEVEL_ARROW:
        return type_level_arrow(c, instantiate_level(c, type->level_arrow.level),
                                instantiate_type(c, type->level_arrow.to, walk));
    case TYPE_PULL:
    case TYPE_PUSH: {
        struct type *element = instantiate_type(c, type->array.element, walk);
        struct level *level = instantiate_level(c, type->array.level);
        if (element == type->array.element && level == type->array.level)
            return type;
        return type->kind == TYPE_PULL ? type_pull(c, element, level) : type_push(c, element, level);
    }
    case TYPE_STORED:
        return type_store(c, instantiate_type(c, type->stored.of, walk), instantiate_level(c, type->stored.level));
    }
    return type;
}

static struct type *instantiate_type(struct checker *c, struct type *type, uint32_t walk) {
    type = type_resolve(type);
    if (type_walk_comes(walk, type, 0))
        type->copy = instantiated(c, type, walk);
    return type->copy;
}

/* A type whose parts are shared is small by its nodes, but each place of it has levels, and constraints between them:
   these are counted, too. Only schemes of many are looked at, which programs have where each name doubles what the
   last one had (tests/suites/limits.py). */
enum { LARGE_SCHEME = 10000, CONSTRAINTS_LIMIT = 80000 };

/* True if one use more of a large scheme exceeds the limit. It is reported once a program. */
static bool is_too_large(struct checker *c, const struct scheme *scheme, struct span span) {
    size_t count = scheme->constraints.count;
    if (count <= LARGE_SCHEME || (!c->has_too_large && c->pending.count + count <= CONSTRAINTS_LIMIT))
        return false;
    if (!c->has_too_large)
        diag_error(c->diagnostics, DIAG_TYPE_SIZE, span, "the type of this expression is too large");
    c->has_too_large = true;
    return true;
}

struct type *instantiate(struct checker *c, const struct scheme *scheme, struct span span, const struct callee *reason,
                         struct core_instance *instance) {
    *instance = (struct core_instance){.scheme = scheme};
    if (scheme->type_count + scheme->level_count == 0)
        return scheme->type;
    if (is_too_large(c, scheme, span))
        return c->error_type;
    struct span at = c->at;
    c->at = span;
    if (scheme->type_count)
        instance->types = ARENA_ARRAY(c->arena, struct type *, scheme->type_count);
    if (scheme->level_count)
        instance->levels = ARENA_ARRAY(c->arena, struct level *, scheme->level_count);
    for (size_t i = 0; i < scheme->type_count; i++) {
        struct type_variable *variable = scheme->type_variables[i];
        instance->types[i] = type_fresh(c, variable->kind, variable->classes, span);
        variable->stand_in = instance->types[i];
    }
    for (size_t i = 0; i < scheme->level_count; i++) {
        struct level_variable *variable = scheme->level_variables[i];
        instance->levels[i] = level_fresh(c, variable->domain);
        variable->stand_in = instance->levels[i];
    }
    struct type *type = instantiate_type(c, scheme->type, type_walk_begin(c));
    for (size_t i = 0; i < scheme->constraints.count; i++) {
        const struct level_constraint *k = &scheme->constraints.at[i];
        level_require(c, k->kind, instantiate_level(c, k->a), instantiate_level(c, k->b), span, reason);
    }
    for (size_t i = 0; i < scheme->type_count; i++)
        scheme->type_variables[i]->stand_in = NULL;
    for (size_t i = 0; i < scheme->level_count; i++)
        scheme->level_variables[i]->stand_in = NULL;
    c->at = at;
    return type;
}

struct type *instantiate_types(struct checker *c, struct type *type, struct type *const *variables, size_t count,
                               struct type **stand_ins) {
    for (size_t i = 0; i < count; i++) {
        struct type_variable *variable = variables[i]->variable;
        stand_ins[i] = type_fresh(c, variable->kind, variable->classes, variable->span);
        variable->stand_in = stand_ins[i];
    }
    struct type *result = instantiate_type(c, type, type_walk_begin(c));
    for (size_t i = 0; i < count; i++)
        variables[i]->variable->stand_in = NULL;
    return result;
}
