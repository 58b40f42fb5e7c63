/* Evaluating the typed core: call by value, sharing at every let and argument. */
#include "interp/machine.h"

#include <string.h>

#include "support/stack.h"

enum { SPINE_LONGEST = 16 };

/* ---- literals and instances ---- */

static struct type *variable_in(const struct instance *instance, const struct type_variable *variable) {
    for (; instance; instance = instance->parent)
        for (size_t i = 0; instance->scheme && i < instance->scheme->type_count; i++)
            if (instance->scheme->type_variables[i] == variable)
                return instance->types[i];
    return NULL;
}

/* Only the root matters: a literal's type is a base type, or a variable that stands for one. */
static struct type *ground(const struct instance *instance, struct type *type) {
    type = type_resolve(type);
    if (type->kind == TYPE_VARIABLE) {
        struct type *meaning = variable_in(instance, type->variable);
        return meaning ? meaning : type;
    }
    return type;
}

static enum base base_of(const struct instance *instance, struct type *type) {
    struct type *found = ground(instance, type);
    if (found->kind == TYPE_BASE)
        return found->base;
    bool is_floating = found->kind == TYPE_VARIABLE && (found->variable->classes & CLASS_FLOATING);
    return is_floating ? BASE_F64 : BASE_I32; /* nothing decided: the default */
}

static struct value literal(const struct core *core, const struct instance *instance) {
    if (core->literal.is_bool)
        return bool_of(core->literal.magnitude != 0);
    enum base base = base_of(instance, type_without_levels(core->type));
    union scalar scalar = {0};
    if (!base_info[base].is_floating)
        scalar.natural = core->literal.magnitude;
    else
        scalar.floating = core_floating(core, base);
    return scalar_of(base, base_wrap(base, scalar));
}

/* The same of tuples whole: what is zero of such a type is a tuple (note [alternatives] in type.h). */
static struct type *ground_items(struct interp *in, const struct instance *instance, struct type *type) {
    type = ground(instance, type);
    if (type->kind != TYPE_TUPLE)
        return type;
    struct type *copy = NULL;
    for (size_t i = 0; i < type->tuple.count; i++) {
        struct type *item = ground_items(in, instance, type->tuple.items[i]);
        if (item == type_resolve(type->tuple.items[i]))
            continue;
        if (!copy) {
            copy = INTERP_NEW(in, struct type);
            *copy = *type;
            copy->tuple.items = interp_alloc(in, type->tuple.count * sizeof *copy->tuple.items);
            memcpy(copy->tuple.items, type->tuple.items, type->tuple.count * sizeof *copy->tuple.items);
        }
        copy->tuple.items[i] = item;
    }
    return copy ? copy : type;
}

static const struct instance *instance_of(struct interp *in, const struct core_instance *named,
                                          const struct instance *here, const struct instance *parent) {
    const struct scheme *scheme = named->scheme;
    if (!scheme || scheme->type_count + scheme->level_count == 0 || !(named->types || named->levels))
        return parent;
    struct instance *instance = INTERP_NEW(in, struct instance);
    struct type **types = interp_alloc(in, scheme->type_count * sizeof *types);
    for (size_t i = 0; i < scheme->type_count; i++)
        types[i] = ground_items(in, here, named->types[i]);
    enum level_value *levels = interp_alloc(in, scheme->level_count * sizeof *levels);
    for (size_t i = 0; i < scheme->level_count; i++)
        levels[i] = named->levels ? level_instantiate(here, named->levels[i]) : LEVEL_PURE;
    *instance = (struct instance){.scheme = scheme, .types = types, .levels = levels, .parent = parent};
    return instance;
}

/* note [places]
   `loc` says who runs what is being evaluated: a kernel's body begins at the level of its result,
   the elements of a push array are a thread's, and its chunks are computed by those who run them.
   Types claim that an arrow `a ->{e} b` is only called where e is pure or `loc`. So the claim is
   looked at for each call of every program that is interpreted; docs/semantics.md has the rules. */
static void check_place(struct interp *in, const struct core *call, const struct instance *instance) {
    struct type *function = call->apply.function->type;
    if (!function) /* of a tree that no checker has made */
        return;
    if (function->kind != TYPE_ARROW) /* most are: this is asked for every call */
        function = type_without_levels(function);
    if (function->kind != TYPE_ARROW)
        return;
    struct level *ambient = function->arrow.ambient;
    enum level_value needed = ambient->variable ? level_instantiate(instance, ambient) : ambient->value;
    if (needed != LEVEL_PURE && needed != in->loc)
        interp_fail(in, DIAG_INTERNAL, call->span, "what is called here runs at %s, and the place is at %s",
                    level_names[needed], level_names[in->loc]);
}

static struct settled choose(const struct core *primitive, const struct instance *instance) {
    struct settled settled = {LEVEL_PURE, BASE_I32};
    const struct core_instance *named = &primitive->primitive.instance;
    switch (primitive->primitive.primitive) {
    case PRIM_CONCAT:
    case PRIM_CONCAT_SEQ:
    case PRIM_INTERLEAVE:
    case PRIM_INTERLEAVE_INTO:
    case PRIM_INTERLEAVE_SEQ: /* the first of their levels */
        if (named->levels)
            settled.chunk_level = level_instantiate(instance, named->levels[0]);
        break;
    case PRIM_FROM_ORDER_BITS:
        if (named->types)
            settled.base = base_of(instance, named->types[0]);
        break;
    default: break;
    }
    return settled;
}

/* ---- names ---- */

static struct value local(struct interp *in, const struct core *core, const struct interp_environment *environment,
                          const struct instance *instance) {
    const struct core_local *wanted = core->local.local;
    while (environment && environment->local != wanted)
        environment = environment->next;
    if (!environment)
        interp_fail(in, DIAG_INTERNAL, core->span, "the interpreter does not find `%s`",
                    wanted->name ? wanted->name->text : "a local name");
    if (!environment->polymorphic)
        return environment->value;
    struct core_instance named = core->local.instance;
    if (!named.scheme)
        named.scheme = environment->scheme;
    const struct instance *use = instance_of(in, &named, instance, environment->instance);
    return interp_eval(in, environment->polymorphic, environment->next, use);
}

static struct value closure_of(struct interp *in, const struct core *lambda,
                               const struct interp_environment *environment, const struct instance *instance,
                               struct span made_at) {
    struct closure *closure = INTERP_NEW(in, struct closure);
    *closure = (struct closure){lambda, environment, instance, made_at};
    struct value result = {.kind = V_CLOSURE};
    result.closure = closure;
    return result;
}

/* Nobody made a global function: its call is what is blamed. */
static struct value global_body(struct interp *in, const struct core *body, const struct instance *instance) {
    if (body->kind == CORE_LAMBDA)
        return closure_of(in, body, NULL, instance, (struct span){0, 0});
    return interp_eval(in, body, NULL, instance);
}

/* A global without variables is evaluated once, in memory that stays: that of its depth, as a global
   that is first wanted amid the evaluation of another must outlive what that one gives back on its
   way. */
static struct value global(struct interp *in, const struct core *core, const struct instance *instance) {
    const struct core_global *wanted = core->global.global;
    const struct scheme *scheme = wanted->scheme;
    bool is_polymorphic =
        scheme && (scheme->type_count > 0 || (scheme->level_count > 0 && wanted->body->kind == CORE_LAMBDA));
    if (is_polymorphic)
        return global_body(in, wanted->body, instance_of(in, &core->global.instance, instance, NULL));
    if (!in->globals[wanted->index]) {
        struct region *region = in->region;
        if (!in->global_regions[in->global_depth])
            in->global_regions[in->global_depth] = region_new();
        in->region = in->global_regions[in->global_depth++];
        struct value *kept = INTERP_NEW(in, struct value);
        bool is_absent = in->is_absent, is_lenient = in->is_lenient;
        in->is_absent = in->is_lenient = false;
        *kept = global_body(in, wanted->body, NULL);
        in->is_absent = is_absent;
        in->is_lenient = is_lenient;
        in->region = region;
        in->global_depth--;
        in->globals[wanted->index] = kept;
    }
    return *in->globals[wanted->index];
}

static struct value config(struct interp *in, const struct core *core) {
    switch (core->config) {
    case CONFIG_BLOCK_SIZE: return int_of(in->options->block_size);
    case CONFIG_WARP_SIZE: return int_of(in->options->warp_size);
    case CONFIG_GRID_SIZE: return int_of(in->options->grid_size);
    case CONFIG_VECTOR_BYTES: return int_of(in->options->vector_bytes);
    case CONFIG_IS_CPU:
    case CONFIG_HAS_MMA:
    case CONFIG_HAS_WARPS: return bool_of(false); /* no result may depend on it */
    case CONFIG_COUNT: break;
    }
    return int_of(0);
}

/* ---- application ---- */

static struct value partial_of(struct interp *in, enum primitive primitive, struct settled settled,
                               const struct value *first, size_t count, const struct value *last) {
    size_t total = count + (last != NULL);
    struct partial *partial = interp_alloc(in, sizeof *partial + total * sizeof *first);
    partial->primitive = primitive;
    partial->settled = settled;
    partial->count = total;
    if (count)
        memcpy(partial->arguments, first, count * sizeof *first);
    if (last)
        partial->arguments[count] = *last;
    struct value result = {.kind = V_PRIMITIVE};
    result.partial = partial;
    return result;
}

static struct value call_primitive(struct interp *in, enum primitive primitive, struct settled settled,
                                   const struct value *arguments, struct span span) {
    in->settled = settled;
    if (primitive_info[primitive].is_scalar) {
        for (int i = 0; in->is_absent && i < primitive_info[primitive].arity; i++)
            if (arguments[i].kind == V_UNKNOWN)
                return arguments[i];
        return scalar_apply(in, primitive, arguments);
    }
    return interp_primitives[primitive](in, arguments, span);
}

static const struct interp_environment *bind(struct interp *in, const struct core_local *name, struct value value,
                                             const struct interp_environment *next) {
    struct interp_environment *environment = INTERP_NEW(in, struct interp_environment);
    *environment = (struct interp_environment){.local = name, .next = next, .value = value};
    return environment;
}

struct value interp_apply(struct interp *in, struct value function, struct value argument, struct span span) {
    struct interp_call call = {span, in->call};
    struct span made_at = in->made_at;
    struct value result;
    in->call = &call;
    if (function.kind == V_CLOSURE) {
        const struct closure *closure = function.closure;
        const struct core *lambda = closure->lambda, *body = lambda->lambda.body;
        if (closure->made_at.end)
            in->made_at = closure->made_at;
        else if (made_at.end && !diag_is_ours(in->diagnostics, span))
            in->made_at = (struct span){0, 0};
        const struct interp_environment *environment =
            bind(in, lambda->lambda.parameter, argument, closure->environment);
        if (body->kind == CORE_LAMBDA) /* who calls a curried function is who gives it its last argument */
            result = closure_of(in, body, environment, closure->instance, closure->made_at);
        else
            result = interp_eval(in, body, environment, closure->instance);
    } else if (function.kind == V_PRIMITIVE) {
        const struct partial *partial = function.partial;
        size_t arity = (size_t)primitive_info[partial->primitive].arity;
        if (partial->count + 1 < arity) {
            result =
                partial_of(in, partial->primitive, partial->settled, partial->arguments, partial->count, &argument);
        } else {
            struct value all[8];
            memcpy(all, partial->arguments, partial->count * sizeof *all);
            all[partial->count] = argument;
            result = call_primitive(in, partial->primitive, partial->settled, all, span);
        }
    } else {
        interp_fail(in, DIAG_INTERNAL, span, "the interpreter applies what is no function");
    }
    in->call = call.caller;
    in->made_at = made_at;
    return result;
}

struct value interp_apply2(struct interp *in, struct value function, struct value a, struct value b, struct span span) {
    return interp_apply(in, interp_apply(in, function, a, span), b, span);
}

/* `f a b c` as one: a primitive that gets all it needs is called without partial applications. */
static struct value apply_spine(struct interp *in, const struct core *core,
                                const struct interp_environment *environment, const struct instance *instance) {
    const struct core *spine[SPINE_LONGEST];
    size_t count = 0;
    const struct core *head = core;
    for (; head->kind == CORE_APPLY && count < SPINE_LONGEST; head = head->apply.function)
        spine[count++] = head;
    struct value function;
    size_t done = 0;
    if (head->kind == CORE_PRIMITIVE && (size_t)primitive_info[head->primitive.primitive].arity <= count) {
        enum primitive primitive = head->primitive.primitive;
        size_t arity = (size_t)primitive_info[primitive].arity;
        struct value arguments[8];
        for (; done < arity; done++)
            arguments[done] = interp_eval(in, spine[count - 1 - done]->apply.argument, environment, instance);
        check_place(in, spine[count - arity], instance);
        struct interp_call call = {spine[count - arity]->span, in->call};
        in->call = &call;
        function = call_primitive(in, primitive, choose(head, instance), arguments, call.span);
        in->call = call.caller;
    } else {
        function = interp_eval(in, head, environment, instance);
    }
    for (; done < count; done++) {
        const struct core *node = spine[count - 1 - done];
        struct value argument = interp_eval(in, node->apply.argument, environment, instance);
        check_place(in, node, instance);
        function = interp_apply(in, function, argument, node->span);
    }
    return function;
}

/* ---- expressions ---- */

static struct value items_of(struct interp *in, const struct core *core, const struct interp_environment *environment,
                             const struct instance *instance) {
    size_t count = core->sequence.count;
    struct tuple *tuple = interp_alloc(in, sizeof *tuple + count * sizeof(struct value));
    tuple->count = count;
    for (size_t i = 0; i < count; i++)
        tuple->items[i] = interp_eval(in, core->sequence.items[i], environment, instance);
    struct value result = {.kind = V_TUPLE};
    result.tuple = tuple;
    return result;
}

static struct value list_of(struct interp *in, const struct core *core, const struct interp_environment *environment,
                            const struct instance *instance) {
    struct interp_pull *pull = INTERP_NEW(in, struct interp_pull);
    *pull = (struct interp_pull){.kind = INTERP_PULL_LIST,
                                 .length = (int64_t)core->sequence.count,
                                 .list = core,
                                 .environment = environment,
                                 .instance = instance};
    return pull_of(pull);
}

/* A scalar, or a tuple of these. */
static struct value zero_of(struct interp *in, struct type *type, const struct instance *instance) {
    type = ground(instance, type);
    if (type->kind != TYPE_TUPLE)
        return scalar_of(type->kind == TYPE_BASE ? type->base : BASE_I32, (union scalar){.natural = 0});
    struct tuple *tuple = interp_alloc(in, sizeof *tuple + type->tuple.count * sizeof(struct value));
    tuple->count = type->tuple.count;
    for (size_t i = 0; i < tuple->count; i++)
        tuple->items[i] = zero_of(in, type->tuple.items[i], instance);
    struct value result = {.kind = V_TUPLE};
    result.tuple = tuple;
    return result;
}

static void check_limits(struct interp *in, const struct core *core) {
    if (stack_is_full(in->stack_limit))
        interp_fail(in, DIAG_RECURSION_TOO_DEEP, core->span, "the recursion does not end, or is too deep");
    if (++in->steps == in->options->fuel)
        interp_fail(in, DIAG_OUT_OF_FUEL, core->span, "gave up after %llu steps", (unsigned long long)in->steps);
}

/* `is_chosen`: the value is that of a branch. */
static struct value evaluated(struct interp *in, const struct core *core, const struct interp_environment *environment,
                              const struct instance *instance, bool *is_chosen) {
    check_limits(in, core);
    for (;;) {
        switch (core->kind) {
        case CORE_LITERAL: return literal(core, instance);
        case CORE_LOCAL: return local(in, core, environment, instance);
        case CORE_GLOBAL: return global(in, core, instance);
        case CORE_PRIMITIVE: return partial_of(in, core->primitive.primitive, choose(core, instance), NULL, 0, NULL);
        case CORE_CONFIG: return config(in, core);
        case CORE_LAMBDA: return closure_of(in, core, environment, instance, interp_users_span(in, core->span));
        case CORE_APPLY: return apply_spine(in, core, environment, instance);
        case CORE_LET: {
            struct interp_environment *inner = INTERP_NEW(in, struct interp_environment);
            *inner = (struct interp_environment){.local = core->let.local, .next = environment};
            if (core->let.scheme) {
                inner->polymorphic = core->let.value;
                inner->instance = instance;
                inner->scheme = core->let.scheme;
            } else {
                inner->value = interp_eval(in, core->let.value, environment, instance);
            }
            environment = inner;
            core = core->let.body;
            continue;
        }
        case CORE_IF: {
            struct value condition = interp_eval(in, core->conditional.condition, environment, instance);
            core = interp_known(in, condition, core->span).scalar.natural ? core->conditional.then_branch
                                                                          : core->conditional.else_branch;
            *is_chosen = true;
            continue;
        }
        case CORE_TUPLE: return items_of(in, core, environment, instance);
        case CORE_SELECT: {
            struct value tuple = interp_eval(in, core->select.tuple, environment, instance);
            return tuple.kind == V_UNKNOWN ? tuple : tuple.tuple->items[core->select.index];
        }
        case CORE_LIST: return list_of(in, core, environment, instance);
        case CORE_ZERO: return zero_of(in, core->type, instance);
        }
    }
}

struct value interp_eval(struct interp *in, const struct core *core, const struct interp_environment *environment,
                         const struct instance *instance) {
    bool is_chosen = false;
    struct value value = evaluated(in, core, environment, instance, &is_chosen);
    return is_chosen ? interp_plain(in, value) : value;
}
