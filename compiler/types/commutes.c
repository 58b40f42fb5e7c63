/* Finds whether an operator commutes, as far as its definition shows: for `commutes`, which the
   interpreter and the elaborator must answer alike.

   note [mirrors]
   In `fn x y => e`, two expressions in e mirror each other when the one has the value of the other
   with x and y exchanged; the operator commutes when e mirrors itself. That is looked for in their
   form: x and y mirror each other, and the same operation does on operands that do; one that
   commutes, also crosswise. Where a comparison of two integers chooses one of these two, it chooses
   the same one either way. Lets and components of tuples are looked through, calls are not.
   Whatever else there is does not mirror anything. Sums of floats commute, up to the bits of a
   NaN. */
#include "support/map.h"
#include "types/core.h"

enum { MIRRORS_MOST = 4096 }; /* comparisons: a larger operator is not looked at to its end */
enum { OPERANDS_MOST = 8 };

struct mirrors {
    struct arena *arena;
    struct map *values; /* of locals that a let binds → struct core * */
    const struct core_local *x, *y;
    unsigned steps;
};

bool core_commutes_primitive(enum primitive primitive) { return primitive_info[primitive].commutes == COMMUTES; }

static bool commutes(struct arena *arena, unsigned *steps, const struct core *lambda);

/* The expression that this one stands for, without lets, names of lets and selections from tuples that are written
   out. */
static const struct core *resolved(struct mirrors *m, const struct core *core) {
    for (;;) {
        const struct core *next = NULL;
        if (core->kind == CORE_LET) {
            map_set(m->values, core->let.local, core->let.value);
            next = core->let.body;
        } else if (core->kind == CORE_LOCAL) {
            next = map_get(m->values, core->local.local);
        } else if (core->kind == CORE_SELECT) {
            const struct core *tuple = resolved(m, core->select.tuple);
            if (tuple->kind == CORE_TUPLE)
                next = tuple->sequence.items[core->select.index];
        }
        if (!next)
            return core;
        core = next;
    }
}

struct call {
    const struct core *head;
    const struct core *operands[OPERANDS_MOST];
    size_t count;
};

static bool find_call(struct mirrors *m, const struct core *core, struct call *call) {
    *call = (struct call){0};
    for (; core->kind == CORE_APPLY; core = resolved(m, core->apply.function)) {
        if (call->count == OPERANDS_MOST)
            return false;
        call->operands[call->count++] = core->apply.argument; /* the last one first */
    }
    call->head = core;
    return call->count > 0;
}

static bool head_commutes(struct mirrors *m, const struct core *head) {
    if (head->kind == CORE_PRIMITIVE)
        return core_commutes_primitive(head->primitive.primitive);
    return head->kind == CORE_GLOBAL && head->global.global->kind == GLOBAL_FUN &&
           commutes(m->arena, &m->steps, head->global.global->body);
}

static bool mirror(struct mirrors *m, const struct core *u, const struct core *v);

static bool mirror_calls(struct mirrors *m, const struct core *u, const struct core *v) {
    struct call p, q;
    if (!find_call(m, u, &p) || !find_call(m, v, &q) || p.count != q.count || !mirror(m, p.head, q.head))
        return false;
    bool are_same = true;
    for (size_t i = 0; i < p.count && are_same; i++)
        are_same = mirror(m, p.operands[i], q.operands[i]);
    return are_same || (p.count == 2 && mirror(m, p.operands[0], q.operands[1]) &&
                        mirror(m, p.operands[1], q.operands[0]) && head_commutes(m, p.head));
}

static bool is_truth(const struct core *core, bool truth) {
    return core->kind == CORE_LITERAL && core->literal.is_bool && core->literal.magnitude == truth;
}

/* Not of two scalar types: `clz 5` of an i64 is not that of an int. */
static bool are_alike(const struct core *u, const struct core *v) {
    const struct type *a = type_resolve(u->type), *b = type_resolve(v->type);
    return u->kind == v->kind && a->kind == b->kind && (a->kind != TYPE_BASE || a->base == b->base);
}

static bool is_integer(const struct core *core) {
    const struct type *type = type_resolve(core->type);
    return type->kind == TYPE_BASE && base_info[type->base].is_integer;
}

/* `if a < b then a else b` and its like, of integers: which of equal ones is chosen makes no difference. */
static bool chooses_of_two(struct mirrors *m, const struct core *choice) {
    struct call compared;
    if (!is_integer(choice) || !find_call(m, resolved(m, choice->conditional.condition), &compared) ||
        compared.count != 2 || compared.head->kind != CORE_PRIMITIVE)
        return false;
    enum primitive by = compared.head->primitive.primitive;
    const struct core *a = resolved(m, compared.operands[0]), *b = resolved(m, compared.operands[1]);
    const struct core *first = resolved(m, choice->conditional.then_branch);
    const struct core *second = resolved(m, choice->conditional.else_branch);
    bool is_order = by == PRIM_LT || by == PRIM_LE || by == PRIM_GT || by == PRIM_GE;
    bool are_both =
        a->kind == CORE_LOCAL && b->kind == CORE_LOCAL && first->kind == CORE_LOCAL && second->kind == CORE_LOCAL;
    if (!is_order || !are_both || !mirror(m, a, b))
        return false;
    const struct core_local *p = first->local.local, *q = second->local.local;
    return (p == a->local.local && q == b->local.local) || (p == b->local.local && q == a->local.local);
}

static bool mirror_choices(struct mirrors *m, const struct core *u, const struct core *v) {
    if (u == v && chooses_of_two(m, u))
        return true;
    const struct core *first_u = resolved(m, u->conditional.then_branch), *second_u = u->conditional.else_branch;
    const struct core *first_v = resolved(m, v->conditional.then_branch), *second_v = v->conditional.else_branch;
    second_u = resolved(m, second_u);
    second_v = resolved(m, second_v);
    const struct core *if_u = u->conditional.condition, *if_v = v->conditional.condition;
    /* `a || b` and `a && b` */
    if (is_truth(first_u, true) && is_truth(first_v, true) && mirror(m, if_u, second_v) && mirror(m, second_u, if_v))
        return true;
    if (is_truth(second_u, false) && is_truth(second_v, false) && mirror(m, if_u, first_v) && mirror(m, first_u, if_v))
        return true;
    return mirror(m, if_u, if_v) && mirror(m, first_u, first_v) && mirror(m, second_u, second_v);
}

static bool mirror_items(struct mirrors *m, const struct core *u, const struct core *v) {
    bool are_same = u->sequence.count == v->sequence.count;
    for (size_t i = 0; i < u->sequence.count && are_same; i++)
        are_same = mirror(m, u->sequence.items[i], v->sequence.items[i]);
    return are_same;
}

static bool mirror(struct mirrors *m, const struct core *u, const struct core *v) {
    if (++m->steps > MIRRORS_MOST)
        return false;
    u = resolved(m, u);
    v = resolved(m, v);
    if (!are_alike(u, v))
        return false;
    switch (u->kind) {
    case CORE_LITERAL:
        return u->literal.magnitude == v->literal.magnitude &&
               u->literal.floating.as_double == v->literal.floating.as_double &&
               u->literal.floating.as_odd == v->literal.floating.as_odd;
    case CORE_LOCAL: {
        const struct core_local *a = u->local.local, *b = v->local.local;
        return a == m->x ? b == m->y : a == m->y ? b == m->x : a == b;
    }
    case CORE_GLOBAL: return u->global.global == v->global.global;
    case CORE_PRIMITIVE: return u->primitive.primitive == v->primitive.primitive;
    case CORE_CONFIG: return u->config == v->config;
    case CORE_APPLY: return mirror_calls(m, u, v);
    case CORE_IF: return mirror_choices(m, u, v);
    case CORE_TUPLE:
    case CORE_LIST: return mirror_items(m, u, v);
    case CORE_SELECT: return u->select.index == v->select.index && mirror(m, u->select.tuple, v->select.tuple);
    case CORE_ZERO: return true;
    case CORE_LAMBDA:
    case CORE_LET: return false;
    }
    return false;
}

static bool commutes(struct arena *arena, unsigned *steps, const struct core *lambda) {
    struct mirrors m = {.arena = arena, .values = map_new(arena), .steps = *steps};
    const struct core *inner = lambda->kind == CORE_LAMBDA ? resolved(&m, lambda->lambda.body) : lambda;
    bool result = false;
    if (lambda->kind == CORE_LAMBDA && inner->kind == CORE_LAMBDA) {
        m.x = lambda->lambda.parameter;
        m.y = inner->lambda.parameter;
        result = mirror(&m, inner->lambda.body, inner->lambda.body);
    }
    *steps = m.steps;
    return result;
}

bool core_commutes(struct arena *arena, const struct core *lambda) {
    unsigned steps = 0;
    return commutes(arena, &steps, lambda);
}
