/* Whether an operator commutes, as far as one can see: `commutes`.

   note [mirrors]
   The operator is applied once to x and y of which nothing is known. Two values mirror each other when the one is the
   other with x and y exchanged; an operator all of whose results mirror themselves commutes. That is looked for in the
   definitions: x and y themselves, the same operation on operands that mirror each other (with an operation that
   commutes, also crosswise), and of two integers the one that a comparison of both chooses. Whatever else there is does
   not commute. Sums of floats do, up to the bits of a NaN. */
#include <string.h>

#include "elaborate/value.h"

enum { MIRRORS_MOST = 4096 }; /* comparisons: a larger operator is not looked at to its end */

struct mirrors {
    struct ir_builder *builder;
    struct ir_value *const *carried; /* the components of x, then those of y */
    size_t count;                    /* of components */
    size_t steps;
};

static bool commutes_by_itself(enum ir_op op) {
    switch (op) {
    case OP_ADD:
    case OP_MUL:
    case OP_EQ:
    case OP_NE:
    case OP_MIN:
    case OP_MAX:
    case OP_AND:
    case OP_OR:
    case OP_XOR: return true;
    default: return false; /* all others */
    }
}

/* `if condition then first else second`, as an operation or as a branch. */
struct choice {
    struct ir_value *condition, *first, *second;
};

static bool find_choice(const struct ir_value *value, struct choice *choice) {
    const struct ir_instruction *definition = value->definition;
    if (definition->kind == IR_OPERATION && definition->op == OP_SELECT) {
        *choice = (struct choice){definition->operands[0], definition->operands[1], definition->operands[2]};
        return true;
    }
    if (definition->kind != IR_IF)
        return false;
    size_t result = 0;
    while (definition->results[result] != value)
        result++;
    *choice = (struct choice){definition->operands[0], definition->regions[0]->yields.at[result],
                              definition->regions[1]->yields.at[result]};
    return true;
}

/* `if a < b then a else b`, or the other one, of integers: the same of a and b as of b and a. */
static bool chooses_of_two(const struct mirrors *m, const struct choice *choice, struct ir_value **a,
                           struct ir_value **b) {
    const struct ir_instruction *comparison = ir_resolve(m->builder, choice->condition)->definition;
    if (!comparison || comparison->kind != IR_OPERATION || (comparison->op != OP_LT && comparison->op != OP_LE))
        return false;
    const struct ir_value *first = ir_resolve(m->builder, choice->first);
    const struct ir_value *second = ir_resolve(m->builder, choice->second);
    *a = ir_resolve(m->builder, comparison->operands[0]);
    *b = ir_resolve(m->builder, comparison->operands[1]);
    return base_info[first->base].is_integer && ((first == *a && second == *b) || (first == *b && second == *a));
}

static bool mirror(struct mirrors *m, struct ir_value *u, struct ir_value *v) {
    u = ir_resolve(m->builder, u);
    v = ir_resolve(m->builder, v);
    if (++m->steps > MIRRORS_MOST)
        return false;
    bool is_older = true;
    for (size_t i = 0; i < 2 * m->count; i++) {
        if (u == m->carried[i])
            return v == m->carried[i < m->count ? i + m->count : i - m->count];
        is_older &= u->id < m->carried[i]->id;
    }
    if (u->is_constant || is_older)
        return u == v ||
               (u->is_constant && v->is_constant && u->base == v->base && u->constant.natural == v->constant.natural);
    const struct ir_instruction *p = u->definition, *q = v->definition;
    if (!p || !q || u->base != v->base)
        return false;
    struct choice of_u, of_v;
    if (find_choice(u, &of_u)) {
        struct ir_value *a, *b;
        if (u == v && chooses_of_two(m, &of_u, &a, &b) && mirror(m, a, b))
            return true;
        return find_choice(v, &of_v) && mirror(m, of_u.condition, of_v.condition) &&
               mirror(m, of_u.first, of_v.first) && mirror(m, of_u.second, of_v.second);
    }
    if (p->kind != IR_OPERATION || q->kind != IR_OPERATION || p->op != q->op || p->operand_count != q->operand_count)
        return false;
    bool are_same = true;
    for (size_t i = 0; i < p->operand_count && are_same; i++)
        are_same = mirror(m, p->operands[i], q->operands[i]);
    return are_same || (commutes_by_itself(p->op) && mirror(m, p->operands[0], q->operands[1]) &&
                        mirror(m, p->operands[1], q->operands[0]));
}

struct elab_value *elab_COMMUTES(struct elaborator *e, enum primitive primitive, const struct instance *instance,
                                 struct elab_value **arguments) {
    (void)primitive;
    struct ir_builder *b = e->builder;
    struct type *type = elab_type(e, instance, 0);
    base_list bases = {0};
    elab_leaf_bases(e, type, &bases);
    size_t n = bases.count;
    struct ir_value **carried = ARENA_ARRAY(e->arena, struct ir_value *, 2 * n);
    for (size_t i = 0; i < 2 * n; i++)
        carried[i] = ir_constant(b, bases.at[i % n], (union scalar){0});
    struct ir_region *here = ir_current(b);
    int shape = e->shape;
    e->shape = 0; /* its result is looked at here, not only how long something is */
    ir_begin_for(b, ir_int(b, 2), carried, 2 * n, "unknown");
    size_t next = 0;
    struct elab_value *x = elab_of_type(e, type, carried, &next), *y = elab_of_type(e, type, carried, &next);
    ir_values results = {0};
    elab_flatten(e, elab_apply2(e, arguments[0], x, y), &results);
    struct mirrors m = {b, carried, n, 0};
    bool commutes = results.count == n;
    for (size_t i = 0; i < n && commutes; i++)
        commutes = mirror(&m, results.at[i], results.at[i]);
    ir_unwind(b, here);
    e->shape = shape;
    return elab_scalar(e, ir_bool(b, commutes));
}
