/* Elements that a condition chooses.

   note [one array]
   `if c then xs ! i else ys ! j`, where both arrays are views of one, such as its tail and its
   reverse, is that one's element at an index that the condition chooses. Elaborated in both
   branches, what an element is would be there twice, and 2^n times in n such arrays made of each
   other. Arrays in memory stay in their branches: there a load next to its neighbour's is worth
   more than one load less. */
#include "elaborate/evaluate.h"

enum { LONGEST_CHAIN = 32 };

struct view {
    struct pull *pull;
    const struct core *place; /* in a generated array: where in `of` its element is; NULL: it is no view */
    struct pull *of;
    const struct environment *environment;
};

/* `array ! place`, of an array with a name that is bound to one. */
static struct pull *element_of(const struct core *core, const struct environment *environment,
                               const struct core **place) {
    const struct core *partial = core->kind == CORE_APPLY ? core->apply.function : NULL;
    if (!partial || partial->kind != CORE_APPLY || partial->apply.function->kind != CORE_PRIMITIVE ||
        partial->apply.argument->kind != CORE_LOCAL)
        return NULL;
    enum primitive primitive = partial->apply.function->primitive.primitive;
    if (primitive != PRIM_INDEX && primitive != PRIM_INDEX_OPERATOR)
        return NULL;
    for (; environment; environment = environment->next)
        if (environment->local == partial->apply.argument->local.local) {
            *place = core->apply.argument;
            const struct elab_value *value = environment->value;
            return value && value->kind == ELAB_PULL ? value->pull : NULL;
        }
    return NULL;
}

static struct view view_of(struct pull *pull) {
    struct view view = {.pull = pull};
    const struct elab_value *function = pull->kind == PULL_GENERATE ? pull->function : NULL;
    if (!function || function->kind != ELAB_CLOSURE)
        return view;
    const struct core *lambda = function->closure.lambda;
    view.environment = function->closure.environment;
    view.of = element_of(lambda->lambda.body, view.environment, &view.place);
    return view;
}

/* The first array that both are views of, or are. */
static struct pull *common(struct pull *a, struct pull *b) {
    struct pull *chain[LONGEST_CHAIN];
    size_t count = 0;
    for (struct pull *pull = a; pull && count < LONGEST_CHAIN; pull = view_of(pull).of)
        chain[count++] = pull;
    size_t steps = 0;
    for (struct pull *pull = b; pull && steps++ < LONGEST_CHAIN; pull = view_of(pull).of)
        for (size_t i = 0; i < count; i++)
            if (chain[i] == pull)
                return pull;
    return NULL;
}

/* An element: its array, and where it is there, or how that is computed. */
struct element {
    struct pull *array, *root;
    struct ir_value *index; /* or NULL and: */
    const struct core *core, *place;
    const struct environment *environment;
    const struct instance *instance;
};

static struct ir_value *place_in(struct elaborator *e, struct pull *array, const struct core *core,
                                 const struct core *place, const struct environment *environment,
                                 const struct instance *instance) {
    struct ir_value *index = elab_as_scalar(e, elab_evaluate(e, place, environment, instance));
    e->span = core->span;
    elab_build_at(e, core->span);
    return elab_place(e, array, index);
}

/* Where the element is in the root. */
static struct elab_value *trace(struct elaborator *e, void *context) {
    const struct element *element = context;
    struct pull *at = element->array;
    struct ir_value *index = element->index;
    if (!index)
        index = place_in(e, at, element->core, element->place, element->environment, element->instance);
    while (at != element->root && index) {
        struct view view = view_of(at);
        const struct elab_value *function = at->function;
        const struct core *lambda = function->closure.lambda;
        struct span made_at = e->made_at;
        e->made_at = function->closure.made_at;
        index = place_in(e, view.of, lambda->lambda.body, view.place,
                         elab_bind(e, view.environment, lambda->lambda.parameter, elab_scalar(e, index)),
                         function->closure.instance);
        e->made_at = made_at;
        at = view.of;
    }
    return elab_scalar(e, index);
}

static struct elab_value *choose(struct elaborator *e, struct ir_value *condition, struct element *a,
                                 struct element *b) {
    struct pull *root = condition && a->array && b->array ? common(a->array, b->array) : NULL;
    if (!root || (root->kind != PULL_GENERATE && root->kind != PULL_MAP && root->kind != PULL_CHOICE) ||
        ir_known(e->builder, condition) != IR_UNKNOWN)
        return NULL;
    a->root = b->root = root;
    return elab_index(e, root, elab_as_scalar(e, elab_choose(e, condition, trace, a, trace, b)));
}

struct elab_value *elab_choose_element(struct elaborator *e, struct ir_value *condition, const struct core *core,
                                       const struct environment *environment, const struct instance *instance) {
    struct element sides[2];
    for (int i = 0; i < 2; i++) {
        struct element *side = &sides[i];
        *side = (struct element){.core = i ? core->conditional.else_branch : core->conditional.then_branch,
                                 .environment = environment,
                                 .instance = instance};
        side->array = element_of(side->core, environment, &side->place);
    }
    return choose(e, condition, &sides[0], &sides[1]);
}

/* See note [one array]. */
struct elab_value *elab_choose_array(struct elaborator *e, const struct pull *choice, struct ir_value *index) {
    struct element a = {.array = choice->then_array, .index = index}, b = {.array = choice->else_array, .index = index};
    return index && choice->condition ? choose(e, ir_resolve(e->builder, choice->condition), &a, &b) : NULL;
}

static struct pull *cut(struct elaborator *e, const struct pull *pull, struct ir_value *length) {
    struct pull *result = ARENA_NEW(e->arena, struct pull);
    *result = *pull;
    result->length = length;
    if (pull->parts) {
        struct ir_value *elements = ir_binary(e->builder, OP_MUL, length, pull->parts->width);
        struct parts *parts = ARENA_NEW(e->arena, struct parts);
        *parts = *pull->parts;
        parts->whole = cut(e, parts->whole, elements);
        result->parts = parts;
    }
    return result;
}

static bool may_be_cut(const struct pull *pull) {
    bool is_by_index = pull->kind == PULL_MEMORY || pull->kind == PULL_GENERATE || pull->kind == PULL_MAP;
    return is_by_index && (!pull->parts || may_be_cut(pull->parts->whole));
}

struct pull *elab_behind(struct elaborator *e, struct pull *view) {
    struct view seen = view_of(view);
    if (!seen.of || !view->length || (seen.of->kind != PULL_MEMORY && !seen.of->parts) || !may_be_cut(seen.of) ||
        seen.place->kind != CORE_LOCAL || seen.place->local.local != view->function->closure.lambda->lambda.parameter)
        return NULL;
    return cut(e, seen.of, view->length);
}
