/* The solver for levels: terms over a domain of five values (pure, thread … grid), equality by binding, and the
   constraints `a < b` and `ambient a fits b` by propagation over domains. A constraint that is decided
   leaves the list; the rest waits for more to be known, and ends in the scheme of the definition. */
#include "types/checker.h"

const char *const level_names[LEVEL_VALUE_COUNT] = {"pure", "thread", "warp", "block", "grid"};

struct level level_view(const struct level *level) {
    struct level view = *level;
    while (view.variable && view.variable->link) {
        struct level *link = view.variable->link;
        /* Chains are shortened, except over a variable whose cause an error message may want. */
        if (link->variable && link->variable->link && !link->offset && !link->variable->cause &&
            !link->variable->link->offset)
            view.variable->link = link->variable->link;
        int offset = view.offset;
        view = *link;
        if (view.variable)
            view.offset += offset;
        else
            view.value = (enum level_value)((int)view.value + offset);
    }
    return view;
}

struct level *level_resolve(struct level *level) {
    if (!level->variable || !level->variable->link)
        return level;
    *level = level_view(level);
    return level;
}

/* Values `by` steps up; those that leave the hierarchy are dropped, and pure has no successor. */
static uint8_t shift_up(uint8_t domain, int by) {
    return by == 0 ? domain : (uint8_t)(((domain & DOMAIN_PROPER) << by) & DOMAIN_PROPER);
}
static uint8_t shift_down(uint8_t domain, int by) {
    return by == 0 ? domain : (uint8_t)(((domain & DOMAIN_PROPER) >> by) & DOMAIN_PROPER);
}

uint8_t level_domain(struct level view) {
    if (!view.variable)
        return view.value < LEVEL_VALUE_COUNT ? (uint8_t)(1u << view.value) : 0;
    return shift_up(view.variable->domain, view.offset);
}

static int lowest(uint8_t domain) {
    int value = 0;
    while (value < LEVEL_VALUE_COUNT && !(domain & (1u << value)))
        value++;
    return value;
}
static int highest(uint8_t domain) {
    int value = LEVEL_VALUE_COUNT - 1;
    while (value >= 0 && !(domain & (1u << value)))
        value--;
    return value;
}

struct level *level_constant(struct checker *c, enum level_value value) {
    return c->constants[value];
}

static struct level *level_of(struct checker *c, struct level view) {
    if (!view.variable)
        return c->constants[view.value];
    struct level *level = ARENA_NEW(c->arena, struct level);
    *level = view;
    return level;
}

struct level *level_fresh(struct checker *c, uint8_t domain) {
    struct level_variable *variable = ARENA_NEW(c->arena, struct level_variable);
    variable->id = c->next_level++;
    variable->domain = domain;
    variable->depth = c->depth;
    variable->span = c->at;
    return level_of(c, (struct level){.variable = variable});
}

struct level *level_rigid(struct checker *c, symbol name, struct span span) {
    struct level *level = level_fresh(c, DOMAIN_PROPER);
    level->variable->rigid = true;
    level->variable->name = name;
    level->variable->span = span;
    return level;
}

/* Remembers a variable that changed, for a propagation that is at work. */
static void touch(struct checker *c, struct level_variable *variable) {
    if (c->propagates)
        vec_push(c->arena, &c->touched, variable);
}

/* `1 + level`, and so on; the variable's domain shrinks so that the sum exists. */
struct level *level_shifted(struct checker *c, struct level level, int by) {
    if (!level.variable) {
        int value = (int)level.value + by;
        return value < LEVEL_VALUE_COUNT ? c->constants[value] : NULL;
    }
    level.offset += by;
    level.variable->domain &= shift_down(DOMAIN_PROPER, level.offset);
    touch(c, level.variable);
    return level.variable->domain ? level_of(c, level) : NULL;
}

/* ---- equality ---- */

static bool fail(struct checker *c, enum unify_failure why, struct level a, struct level b) {
    c->failure = (struct failure){.why = why, .level_a = a, .level_b = b};
    return false;
}

static void bind(struct checker *c, struct level_variable *variable, struct level to,
                 const struct level_constraint *cause) {
    touch(c, variable);
    variable->link = level_of(c, to);
    variable->cause = cause;
}

static bool bind_constant(struct checker *c, struct level term, struct level constant,
                          const struct level_constraint *cause) {
    if (term.variable->rigid)
        return fail(c, FAILED_PROMISE, term, constant);
    int value = (int)constant.value - term.offset;
    if (value < 0 || !(term.variable->domain & (1u << value)) || (term.offset && value == LEVEL_PURE))
        return fail(c, FAILED_LEVEL, term, constant);
    bind(c, term.variable, (struct level){.value = (enum level_value)value}, cause);
    return true;
}

bool level_unify(struct checker *c, struct level *at, struct level *bt, const struct level_constraint *cause) {
    struct level a = level_view(at), b = level_view(bt);
    if (!a.variable && !b.variable)
        return a.value == b.value || fail(c, FAILED_LEVEL, a, b);
    if (!b.variable)
        return bind_constant(c, a, b, cause);
    if (!a.variable)
        return bind_constant(c, b, a, cause) || (c->failure.level_a = a, c->failure.level_b = b, false);
    if (a.variable == b.variable)
        return a.offset == b.offset || fail(c, FAILED_LEVEL, a, b);
    if (a.variable->rigid && b.variable->rigid)
        return fail(c, FAILED_PROMISE, a, b);
    /* The one with less offset is the other plus the difference: both stay above thread. */
    struct level bound = a, kept = b;
    if (bound.offset > kept.offset || (bound.offset == kept.offset && bound.variable->rigid))
        bound = b, kept = a;
    if (bound.variable->rigid)
        return fail(c, FAILED_PROMISE, a, b);
    int difference = kept.offset - bound.offset;
    uint8_t domain = kept.variable->domain & shift_down(bound.variable->domain, difference);
    if (!domain)
        return fail(c, FAILED_LEVEL, a, b);
    if (!kept.variable->rigid && kept.variable->domain != domain) {
        touch(c, kept.variable);
        kept.variable->domain = domain; /* a rigid one keeps its own: the pending constraints will say */
        if (!kept.variable->cause)
            kept.variable->cause = bound.variable->cause;
    }
    if (kept.variable->depth > bound.variable->depth)
        kept.variable->depth = bound.variable->depth;
    bind(c, bound.variable, (struct level){.variable = kept.variable, .offset = difference}, cause);
    if (!kept.variable->rigid && (domain & (domain - 1)) == 0)
        bind(c, kept.variable, (struct level){.value = (enum level_value)lowest(domain)}, kept.variable->cause);
    return true;
}

/* ---- constraints ---- */

/* The term's values are among `allowed`. False: none is left. */
static bool narrow(struct checker *c, struct level term, uint8_t allowed, const struct level_constraint *cause) {
    if (!term.variable)
        return level_domain(term) & allowed;
    struct level_variable *variable = term.variable;
    uint8_t domain = variable->domain & shift_down(allowed, term.offset);
    if (domain == variable->domain)
        return true;
    if (!domain)
        return false;
    variable->domain = domain;
    variable->cause = cause;
    touch(c, variable);
    if ((domain & (domain - 1)) == 0 && !variable->rigid)
        bind(c, variable, (struct level){.value = (enum level_value)lowest(domain)}, cause);
    return true;
}

static enum level_verdict solve_below(struct checker *c, const struct level_constraint *k) {
    struct level a = level_view(k->a), b = level_view(k->b);
    if (a.variable && a.variable == b.variable)
        return a.offset < b.offset ? VERDICT_HOLDS : VERDICT_FAILS;
    uint8_t of_a = level_domain(a) & DOMAIN_PROPER, of_b = level_domain(b) & DOMAIN_PROPER;
    if (!of_a || !of_b)
        return VERDICT_FAILS;
    uint8_t under = (uint8_t)((1u << highest(of_b)) - 1) & DOMAIN_PROPER;
    uint8_t over = (uint8_t)(DOMAIN_PROPER & ~((2u << lowest(of_a)) - 1));
    if (!(of_a & under) || !(of_b & over) || !narrow(c, a, under, k) || !narrow(c, b, over, k))
        return VERDICT_FAILS;
    return !level_view(k->a).variable && !level_view(k->b).variable ? VERDICT_HOLDS : VERDICT_WAITS;
}

static enum level_verdict solve_fits(struct checker *c, const struct level_constraint *k) {
    struct level a = level_view(k->a), b = level_view(k->b);
    if (!a.variable && a.value == LEVEL_PURE)
        return VERDICT_HOLDS;
    if (a.variable && a.variable == b.variable && a.offset == b.offset)
        return VERDICT_HOLDS;
    if (!(level_domain(a) & DOMAIN_PURE)) { /* certainly not pure: then it is b */
        return level_unify(c, k->a, k->b, k) ? VERDICT_HOLDS : VERDICT_FAILS;
    }
    if (!narrow(c, a, level_domain(b) | DOMAIN_PURE, k))
        return VERDICT_FAILS;
    return level_view(k->a).variable ? VERDICT_WAITS : VERDICT_HOLDS;
}

enum level_verdict level_solve(struct checker *c, const struct level_constraint *k) {
    switch (k->kind) {
    case LEVEL_BELOW: return solve_below(c, k);
    case LEVEL_FITS: return solve_fits(c, k);
    }
    return VERDICT_HOLDS;
}
