/* Evaluation of the typed core: call by value, with IR for what is not known at compile time. */
#include <string.h>

#include "elaborate/evaluate.h"
#include "elaborate/primitive.h"
#include "support/stack.h"

/* More calls of a function within each other are taken for recursion that does not end. */
enum { MAX_CALLS = 3000, MAX_SPLITS = 3 };
enum { MOST_ARGUMENTS = 8 }; /* of a primitive */

const struct environment *elab_bind(struct elaborator *e, const struct environment *environment,
                                    const struct core_local *local, struct elab_value *value) {
    struct environment *entry = ARENA_NEW(e->arena, struct environment);
    entry->local = local;
    entry->value = value;
    entry->next = environment;
    return entry;
}

/* The last instance of a use: the same use by the same user is another copy of the same. */
struct known_instance {
    const struct instance *user, *parent, *instance;
};

/* The types and levels of the scheme's variables at this use, made ground under the instance of the user. */
static const struct instance *instantiate(struct elaborator *e, const struct core_instance *use,
                                          const struct instance *user, const struct instance *parent) {
    if (!use->scheme || (use->scheme->type_count == 0 && use->scheme->level_count == 0))
        return parent;
    struct known_instance *known = map_get(e->instances, use);
    if (known && known->user == user && known->parent == parent)
        return known->instance;
    if (!known)
        map_set(e->instances, use, known = ARENA_NEW(e->arena, struct known_instance));
    struct instance *instance = ARENA_NEW(e->arena, struct instance);
    *known = (struct known_instance){user, parent, instance};
    instance->scheme = use->scheme;
    instance->parent = parent;
    instance->types = ARENA_ARRAY(e->arena, struct type *, use->scheme->type_count);
    for (size_t i = 0; i < use->scheme->type_count; i++)
        instance->types[i] = type_instantiate(e->arena, user, use->types[i]);
    enum level_value *levels = ARENA_ARRAY(e->arena, enum level_value, use->scheme->level_count);
    for (size_t i = 0; i < use->scheme->level_count; i++)
        levels[i] = use->levels ? level_instantiate(user, use->levels[i]) : LEVEL_PURE;
    instance->levels = levels;
    return instance;
}

static struct elab_value *evaluate_literal(struct elaborator *e, const struct core *core,
                                           const struct instance *instance) {
    struct type *type = type_without_levels(type_instantiate(e->arena, instance, core->type));
    if (type->kind != TYPE_BASE)
        elab_internal(e, "a literal without a base type");
    const struct base_info *info = &base_info[type->base];
    union scalar scalar;
    if (info->is_floating)
        scalar.floating = core_floating(core, type->base);
    else
        scalar.natural = core->literal.magnitude;
    return elab_scalar(e, ir_constant(e->builder, type->base, scalar));
}

static struct elab_value *zero_of(struct elaborator *e, struct type *type) {
    type = type_resolve(type);
    if (type->kind == TYPE_BASE)
        return elab_scalar(e, ir_constant(e->builder, type->base, (union scalar){.natural = 0}));
    if (type->kind != TYPE_TUPLE)
        elab_internal(e, "zero of what is no scalar");
    struct elab_value **items = ARENA_ARRAY(e->arena, struct elab_value *, type->tuple.count);
    for (size_t i = 0; i < type->tuple.count; i++)
        items[i] = zero_of(e, type->tuple.items[i]);
    return elab_tuple(e, items, type->tuple.count);
}

static struct elab_value *evaluate_config(struct elaborator *e, enum core_config config) {
    switch (config) {
    case CONFIG_BLOCK_SIZE: return elab_scalar(e, ir_int(e->builder, e->options->block_size));
    case CONFIG_WARP_SIZE: return elab_scalar(e, ir_int(e->builder, e->options->warp_size));
    case CONFIG_GRID_SIZE: return elab_scalar(e, ir_int(e->builder, e->options->grid_size));
    case CONFIG_IS_CPU: return elab_scalar(e, ir_bool(e->builder, e->options->is_cpu));
    case CONFIG_HAS_MMA: return elab_scalar(e, ir_bool(e->builder, e->options->has_mma));
    case CONFIG_HAS_WARPS: return elab_scalar(e, ir_bool(e->builder, e->options->has_shuffles));
    case CONFIG_VECTOR_BYTES: return elab_scalar(e, ir_int(e->builder, e->options->vector_bytes));
    case CONFIG_COUNT: break;
    }
    elab_internal(e, "unknown configuration constant");
}

static struct elab_value *evaluate_local(struct elaborator *e, const struct core *core,
                                         const struct environment *environment, const struct instance *instance) {
    for (; environment; environment = environment->next) {
        if (environment->local != core->local.local)
            continue;
        if (environment->value)
            return environment->value;
        const struct delayed *delayed = environment->delayed;
        const struct instance *own = instantiate(e, &core->local.instance, instance, delayed->instance);
        return elab_evaluate(e, delayed->core, environment->next, own);
    }
    elab_internal(e, "a local name is not bound");
}

static const struct core *value_of_param(struct elaborator *e, const struct core_global *param) {
    if (e->options->asked)
        map_set(e->options->asked, param, e->options->asked);
    for (size_t i = 0; i < e->options->param_count; i++)
        if (e->options->params[i].param == param)
            return e->options->params[i].value;
    return param->body;
}

static bool is_constant(const struct elab_value *value) {
    switch (value->kind) {
    case ELAB_SCALAR: return value->scalar && value->scalar->is_constant;
    case ELAB_TUPLE:
        for (size_t i = 0; i < value->tuple.count; i++)
            if (!is_constant(value->tuple.items[i]))
                return false;
        return true;
    /* Its items are asked for where they stand, and it has no environment that stands anywhere. */
    case ELAB_PULL: return value->pull->kind == PULL_LIST && !value->pull->environment;
    case ELAB_CLOSURE:
    case ELAB_PRIMITIVE:
    case ELAB_BUILDS:
    case ELAB_PUSH:
    case ELAB_CHOICE: break;
    }
    return false;
}

static struct elab_value *evaluate_global(struct elaborator *e, const struct core *core,
                                          const struct instance *instance) {
    struct core_global *global = core->global.global;
    if (!global->body)
        elab_internal(e, "a name without a body");
    struct elab_value *known = map_get(e->constants, global);
    if (known)
        return known;
    const struct instance *own = instantiate(e, &core->global.instance, instance, NULL);
    const struct core *body = global->kind == GLOBAL_PARAM ? value_of_param(e, global) : global->body;
    struct elab_value *value = elab_evaluate(e, body, NULL, own);
    if (value->kind == ELAB_CLOSURE)
        value->closure.global = global;
    /* If they were not kept, vals made of vals would be evaluated once for each way from one to another. */
    if (is_constant(value) && global->scheme->type_count + global->scheme->level_count == 0)
        map_set(e->constants, global, value);
    return value;
}

/* ---- choices ---- */

enum { DEEPEST_LENGTH = 8 };

static bool is_same(struct elaborator *e, struct ir_value *a, struct ir_value *b, bool in_branches, int depth);

static struct ir_value *yield_of(const struct ir_value *result, int region) {
    const struct ir_instruction *branch = result->definition;
    size_t i = 0;
    while (branch->results[i] != result)
        i++;
    return branch->regions[region]->yields.at[i];
}

/* Values that branches yield are not resolved: they would become the results again. */
static bool is_computed_alike(struct elaborator *e, struct ir_value *a, struct ir_value *b, bool in_branches,
                              int depth) {
    if (a == b || (a->is_constant && b->is_constant && a->constant.integer == b->constant.integer))
        return a->base == b->base;
    const struct ir_instruction *x = a->definition, *y = b->definition;
    bool is_branch = in_branches && x && x->kind == IR_IF;
    if (!x || !y || (x->kind != IR_OPERATION && !is_branch) || y->kind != x->kind || (!is_branch && x->op != y->op) ||
        a->base != b->base || x->operand_count != y->operand_count || depth == 0)
        return false;
    for (size_t i = 0; i < x->operand_count; i++)
        if (!is_same(e, x->operands[i], y->operands[i], in_branches, depth - 1))
            return false;
    for (int r = 0; is_branch && r < 2; r++)
        if (!is_computed_alike(e, yield_of(a, r), yield_of(b, r), in_branches, depth - 1))
            return false;
    return true;
}

static bool is_same(struct elaborator *e, struct ir_value *a, struct ir_value *b, bool in_branches, int depth) {
    return is_computed_alike(e, ir_resolve(e->builder, a), ir_resolve(e->builder, b), in_branches, depth);
}

/* At -O0, too, where what is computed twice are two values. */
bool elab_is_same_length(struct elaborator *e, struct ir_value *a, struct ir_value *b) {
    return is_same(e, a, b, false, DEEPEST_LENGTH);
}

bool elab_is_same_in_branches(struct elaborator *e, struct ir_value *a, struct ir_value *b) {
    return is_same(e, a, b, true, DEEPEST_LENGTH);
}

struct ir_value *elab_choose_length(struct elaborator *e, struct ir_value *condition, struct ir_value *a,
                                    struct ir_value *b) {
    if (!a || !b)
        return NULL;
    if (elab_is_same_length(e, a, b))
        return ir_resolve(e->builder, a);
    return condition ? ir_ternary(e->builder, OP_SELECT, condition, a, b) : NULL;
}

/* Without a condition, in a shape that depends on data: only what agrees survives. */
static struct elab_value *merge(struct elaborator *e, struct ir_value *condition, struct elab_value *a,
                                struct elab_value *b) {
    struct ir_builder *builder = e->builder;
    if (a == b)
        return a;
    if (a->kind == ELAB_SCALAR && b->kind == ELAB_SCALAR) {
        struct ir_value *x = elab_as_scalar(e, a), *y = elab_as_scalar(e, b);
        if (x && x == y)
            return a;
        return x && y && condition ? elab_scalar(e, ir_ternary(builder, OP_SELECT, condition, x, y)) : elab_unknown(e);
    }
    if (a->kind == ELAB_TUPLE && b->kind == ELAB_TUPLE) {
        struct elab_value **items = ARENA_ARRAY(e->arena, struct elab_value *, a->tuple.count);
        for (size_t i = 0; i < a->tuple.count; i++)
            items[i] = merge(e, condition, a->tuple.items[i], b->tuple.items[i]);
        return elab_tuple(e, items, a->tuple.count);
    }
    if (a->kind == ELAB_PULL && b->kind == ELAB_PULL) {
        struct ir_value *length = elab_choose_length(e, condition, a->pull->length, b->pull->length);
        struct pull *pull = elab_pull_new(e, PULL_CHOICE, length);
        pull->condition = condition;
        pull->then_array = a->pull;
        pull->else_array = b->pull;
        return elab_of_pull(e, pull);
    }
    if (a->kind == ELAB_PUSH && b->kind == ELAB_PUSH) {
        struct push *push = ARENA_NEW(e->arena, struct push);
        *push =
            (struct push){.kind = PUSH_CHOICE, .level = a->push->level, .of = a->push, .both = {b->push, condition}};
        return elab_of_push(e, push);
    }
    struct elab_value *value = ARENA_NEW(e->arena, struct elab_value);
    value->kind = ELAB_CHOICE;
    value->choice.condition = condition;
    value->choice.then_value = a;
    value->choice.else_value = b;
    return value;
}

static bool any_unknown(const ir_values *values) {
    for (size_t i = 0; i < values->count; i++)
        if (!values->at[i])
            return true;
    return false;
}

struct elab_value *elab_choose(struct elaborator *e, struct ir_value *condition, elab_thunk *then_thunk,
                               void *then_context, elab_thunk *else_thunk, void *else_context) {
    if (!condition) {
        struct elab_value *a = then_thunk(e, then_context), *b = else_thunk(e, else_context);
        return merge(e, NULL, a, b);
    }
    switch (ir_known(e->builder, condition)) {
    case IR_TRUE: return then_thunk(e, then_context);
    case IR_FALSE: return else_thunk(e, else_context);
    case IR_UNKNOWN: break;
    }
    struct split_frame *split = e->split;
    e->split = NULL; /* a split inside would have to repeat this choice too */
    ir_begin_if(e->builder, condition);
    struct elab_value *a = then_thunk(e, then_context);
    ir_values yields = {0};
    bool ground = elab_is_ground(a);
    if (ground)
        yields = elab_leaves(e, a);
    bool unknown = any_unknown(&yields);
    ir_else(e->builder, yields.at, ground && !unknown ? yields.count : 0);
    struct elab_value *b = else_thunk(e, else_context);
    ir_values others = {0};
    if (ground)
        others = elab_leaves(e, b);
    struct elab_value *result;
    if (ground && !unknown && any_unknown(&others)) { /* the then branch already yielded: match it */
        for (size_t i = 0; i < others.count; i++)
            others.at[i] = yields.at[i]->is_constant ? yields.at[i]
                                                     : ir_constant(e->builder, yields.at[i]->base, (union scalar){0});
        unknown = true;
        struct ir_value **dropped = ARENA_ARRAY(e->arena, struct ir_value *, yields.count);
        ir_end_if(e->builder, others.at, dropped, others.count, false);
    } else if (ground && !unknown) {
        struct ir_value **results = ARENA_ARRAY(e->arena, struct ir_value *, yields.count);
        ir_end_if(e->builder, others.at, results, yields.count, false);
        result = elab_unflatten(e, a, results);
        e->split = split;
        return result;
    } else {
        ir_end_if(e->builder, NULL, NULL, 0, true);
    }
    e->split = split;
    return ground ? elab_unknown_like(e, a) : merge(e, condition, a, b);
}

struct branch {
    const struct core *core;
    const struct environment *environment;
    const struct instance *instance;
};

static struct elab_value *branch_thunk(struct elaborator *e, void *context) {
    const struct branch *branch = context;
    return elab_evaluate(e, branch->core, branch->environment, branch->instance);
}

/* Ends the innermost calls up to that one, which goes on; NULL: all. */
static void end_calls(struct elaborator *e, const struct elab_call *caller) {
    for (; e->calls != caller; e->calls = e->calls->caller)
        map_set(e->innermost_calls, e->calls->global, e->calls->same);
}

static bool is_array_type(const struct type *type) { return type->kind == TYPE_PULL || type->kind == TYPE_PUSH; }

void elab_split_on(struct elaborator *e, struct ir_value *condition, struct span span) {
    struct split_frame *frame = e->split;
    if (!frame || e->shape || frame->depth == MAX_SPLITS || ir_current(e->builder) != frame->region ||
        ir_region_has_effects(e->builder))
        return;
    frame->condition = condition;
    frame->is_ours = diag_is_ours(e->diagnostics, span);
    end_calls(e, frame->calls);
    longjmp(frame->jump, 1);
}

static struct elab_value *evaluate_if(struct elaborator *e, const struct core *core,
                                      const struct environment *environment, const struct instance *instance) {
    struct ir_value *condition =
        elab_as_scalar(e, elab_evaluate(e, core->conditional.condition, environment, instance));
    if (condition && is_array_type(type_without_levels(core->type)) && ir_known(e->builder, condition) == IR_UNKNOWN)
        elab_split_on(e, condition, core->span);
    struct elab_value *element = elab_choose_element(e, condition, core, environment, instance);
    if (element)
        return elab_plain(e, element);
    struct branch then_branch = {core->conditional.then_branch, environment, instance};
    struct branch else_branch = {core->conditional.else_branch, environment, instance};
    return elab_plain(e, elab_choose(e, condition, branch_thunk, &then_branch, branch_thunk, &else_branch));
}

static void split_again(struct elaborator *e, void (*body)(struct elaborator *, void *), void *context, int depth) {
    struct split_frame *frame = ARENA_NEW(e->arena, struct split_frame);
    frame->region = ir_current(e->builder);
    frame->outer = e->split;
    frame->depth = depth;
    frame->calls = e->calls;
    struct span made_at = e->made_at;
    const struct ir_region *together = e->together;
    int shape = e->shape;
    e->split = e->options->optimise > 0 ? frame : NULL;
    if (!setjmp(frame->jump)) {
        body(e, context);
        e->split = frame->outer;
        return;
    }
    ir_unwind(e->builder, frame->region);
    e->split = frame->outer;
    e->made_at = made_at;
    e->together = together;
    e->shape = shape;
    ir_begin_if(e->builder, frame->condition);
    IR_PART(ir_current(e->builder)->owner, branch).is_split = frame->is_ours;
    split_again(e, body, context, frame->depth + 1);
    ir_else(e->builder, NULL, 0);
    split_again(e, body, context, frame->depth + 1);
    ir_end_if(e->builder, NULL, NULL, 0, false);
}

void elab_with_split(struct elaborator *e, void (*body)(struct elaborator *, void *), void *context) {
    split_again(e, body, context, 0);
}

bool elab_try(struct elaborator *e, void (*body)(struct elaborator *, void *), void *context) {
    struct ir_builder *b = e->builder;
    struct ir_region *here = ir_current(b);
    struct elaborator before = *e;
    ir_begin_if(b, ir_parameter_value(b, BASE_BOOL, 0, 1, NULL)); /* where what is built stays within */
    e->split = NULL;
    e->tries++;
    volatile int failed = 0;
    switch (setjmp(e->failure)) {
    case 0: body(e, context); break;
    case INTERNAL_ERROR: failed = INTERNAL_ERROR; break;
    default: failed = 1;
    }
    ir_unwind(b, here);
    end_calls(e, before.calls);
    e->split = before.split;
    e->blocks = before.blocks;
    e->together = before.together;
    e->shape = before.shape;
    e->host = before.host;
    e->tries = before.tries;
    e->row_is_there = before.row_is_there;
    e->row_shape = before.row_shape;
    e->row_checks.count = before.row_checks.count;
    e->made_at = before.made_at;
    e->span = before.span;
    memcpy(&e->failure, &before.failure, sizeof e->failure);
    if (failed == INTERNAL_ERROR)
        longjmp(e->failure, failed);
    return !failed;
}

/* ---- application ---- */

/* The function on the way here that calls itself most deeply, or NULL. */
static const struct elab_call *deepest_call(const struct elaborator *e) {
    const struct elab_call *deepest = NULL;
    for (const struct elab_call *call = e->calls; call; call = call->caller)
        if (call->nested > (deepest ? deepest->nested : 1))
            deepest = call;
    return deepest;
}

static uint64_t calls_of(const struct elaborator *e, const struct elab_call *call) {
    const uint64_t *count = map_get(e->call_counts, call->global);
    return *count;
}

/* The function on the way here that is called most often, or NULL. */
static const struct elab_call *most_frequent_call(const struct elaborator *e) {
    const struct elab_call *most = NULL;
    for (const struct elab_call *call = e->calls; call; call = call->caller)
        if (!most || calls_of(e, call) > calls_of(e, most))
            most = call;
    return most;
}

void elab_run_out(struct elaborator *e, struct span span) {
    enum { MANY = 1000 /* calls, or unrolled steps: they are the cause */ };
    bool is_slow = e->steps > ELAB_MOST_STEPS;
    const char *what = arena_printf(e->arena, "this %s more than %d %s", is_slow ? "takes" : "makes code of",
                                    is_slow ? ELAB_MOST_STEPS : ELAB_MOST_INSTRUCTIONS,
                                    is_slow ? "steps at compile time" : "instructions");
    const struct elab_call *deepest = deepest_call(e), *frequent = most_frequent_call(e);
    uint64_t calls = frequent ? calls_of(e, frequent) : 0;
    e->too_much = e->unrolled >= MANY && e->unrolled >= calls ? TOO_MUCH_UNROLLING
                  : deepest                                   ? TOO_MUCH_RECURSION
                  : calls >= MANY                             ? TOO_MUCH_INLINING
                                                              : TOO_MUCH_EVALUATION;
    switch (e->too_much) {
    case TOO_MUCH_RECURSION:
        elab_fail(e, DIAG_ENDLESS_RECURSION, span, "%s: in the recursion of `%s`, %u calls deep", what,
                  deepest->global->name->text, deepest->nested);
    case TOO_MUCH_INLINING:
        elab_fail(e, DIAG_ENDLESS_RECURSION, span, "%s: functions are inlined, `%s` %llu times so far", what,
                  frequent->global->name->text, (unsigned long long)calls);
    case TOO_MUCH_UNROLLING:
        elab_fail(e, DIAG_ENDLESS_RECURSION, span, "%s: loops are unrolled, by %llu steps so far", what,
                  (unsigned long long)e->unrolled);
    case TOO_MUCH_EVALUATION:
    case TOO_MUCH_UNKNOWN: break;
    }
    elab_fail(e, DIAG_ENDLESS_RECURSION, span, "%s: elements are computed anew wherever they are used", what);
}

struct applying {
    struct elab_value *function, *argument;
};

static struct elab_value *apply_thunk(struct elaborator *e, void *context) {
    const struct applying *application = context;
    return elab_apply(e, application->function, application->argument);
}

static void begin_call(struct elaborator *e, struct elab_call *call) {
    const struct core_global *global = call->global;
    call->caller = e->calls;
    call->same = map_get(e->innermost_calls, global);
    call->nested = call->same ? call->same->nested + 1 : 1;
    if (call->nested > MAX_CALLS + 1)
        elab_fail(e, DIAG_ENDLESS_RECURSION, global->span,
                  "the recursion of `%s` does not end at compile time (%u nested calls)", global->name->text,
                  call->nested - 1);
    map_set(e->innermost_calls, global, call);
    e->calls = call;
    uint64_t *count = map_get(e->call_counts, global);
    if (!count) {
        count = ARENA_NEW(e->arena, uint64_t);
        map_set(e->call_counts, global, count);
    }
    ++*count;
}

static struct elab_value *apply_closure(struct elaborator *e, struct elab_value *function,
                                        struct elab_value *argument) {
    const struct core_global *global = function->closure.global;
    const struct core *body = function->closure.lambda->lambda.body;
    const struct environment *environment =
        elab_bind(e, function->closure.environment, function->closure.lambda->lambda.parameter, argument);
    struct span made_at = e->made_at;
    if (!global || body->kind == CORE_LAMBDA) { /* the call of a curried function is the one with the last argument */
        e->made_at = function->closure.made_at;
        struct elab_value *result = elab_evaluate(e, body, environment, function->closure.instance);
        e->made_at = made_at;
        if (global)
            result->closure.global = global;
        return result;
    }
    if (!diag_is_ours(e->diagnostics, e->span))
        e->made_at = (struct span){0, 0};
    struct elab_call call = {.global = global, .span = e->span};
    begin_call(e, &call);
    struct elab_value *result = elab_evaluate(e, body, environment, function->closure.instance);
    end_calls(e, call.caller);
    e->made_at = made_at;
    return result;
}

struct elab_value *elab_apply(struct elaborator *e, struct elab_value *function, struct elab_value *argument) {
    switch (function->kind) {
    case ELAB_CLOSURE: return apply_closure(e, function, argument);
    case ELAB_PRIMITIVE: {
        elab_count_step(e, e->span);
        enum primitive primitive = function->primitive.primitive;
        struct elab_value *arguments[MOST_ARGUMENTS];
        size_t count = (size_t)function->primitive.count;
        if (count) /* else there is no array */
            memcpy(arguments, function->primitive.arguments, count * sizeof *arguments);
        arguments[count++] = argument;
        if ((int)count == primitive_info[primitive].arity)
            return elab_primitives[primitive](e, primitive, function->primitive.instance, arguments);
        struct elab_value *next = ARENA_NEW(e->arena, struct elab_value);
        *next = *function;
        next->primitive.count = (int)count;
        next->primitive.arguments = ARENA_ARRAY(e->arena, struct elab_value *, count);
        memcpy(next->primitive.arguments, arguments, count * sizeof *arguments);
        return next;
    }
    case ELAB_BUILDS: return function->builds.call(e, function->builds.context, argument);
    case ELAB_CHOICE: {
        struct applying a = {function->choice.then_value, argument};
        struct applying b = {function->choice.else_value, argument};
        struct ir_value *condition = function->choice.condition;
        return elab_choose(e, condition ? ir_resolve(e->builder, condition) : NULL, apply_thunk, &a, apply_thunk, &b);
    }
    case ELAB_SCALAR:
    case ELAB_TUPLE:
    case ELAB_PULL:
    case ELAB_PUSH: break;
    }
    elab_internal(e, "what is applied is no function");
}

static const char *const plan_names[] = {
#define PLAN(id, name, use) name,
#include "elaborate/plans.def"
};

struct elab_value *elab_of_prelude(struct elaborator *e, enum elab_plan plan, struct type *type) {
    const char *name = plan_names[plan];
    const struct program *program = e->options->program;
    size_t at = 0;
    while (at < program->globals.count &&
           !(program->globals.at[at]->from_prelude && strcmp(program->globals.at[at]->name->text, name) == 0))
        at++;
    if (at == program->globals.count)
        elab_fail(e, DIAG_UNBOUND_NAME, e->span, "this needs `%s` of the prelude", name);
    const struct core_global *global = program->globals.at[at];
    struct instance *instance = ARENA_NEW(e->arena, struct instance);
    instance->scheme = global->scheme;
    instance->types = ARENA_ARRAY(e->arena, struct type *, global->scheme->type_count);
    for (size_t i = 0; i < global->scheme->type_count; i++)
        instance->types[i] = type;
    instance->levels = ARENA_ARRAY(e->arena, enum level_value, global->scheme->level_count); /* ambients alone */
    return elab_evaluate(e, global->body, NULL, instance);
}

struct elab_value *elab_apply_all(struct elaborator *e, struct elab_value *function,
                                  struct elab_value *const *arguments, size_t count) {
    struct span span = e->span;
    for (size_t k = 0; k < count; k++)
        function = elab_apply(e, function, arguments[k]);
    e->span = span;
    return function;
}

struct ir_value **elab_prelude(struct elaborator *e, enum elab_plan plan, struct ir_value *const *arguments,
                               size_t count) {
    struct elab_value **values = ARENA_ARRAY(e->arena, struct elab_value *, count);
    for (size_t k = 0; k < count; k++)
        values[k] = elab_scalar(e, arguments[k]);
    e->plans = true;
    struct elab_value *value = elab_apply_all(e, elab_of_prelude(e, plan, NULL), values, count);
    e->plans = false;
    return elab_leaves(e, value).at;
}

struct elab_value *elab_apply2(struct elaborator *e, struct elab_value *function, struct elab_value *a,
                               struct elab_value *b) {
    if (function->kind == ELAB_PRIMITIVE && function->primitive.count == 0 &&
        primitive_info[function->primitive.primitive].arity ==
            2) { /* as folds do, often: it keeps nothing half applied */
        elab_count_step(e, e->span);
        elab_count_step(e, e->span);
        struct elab_value *arguments[] = {a, b};
        enum primitive primitive = function->primitive.primitive;
        return elab_primitives[primitive](e, primitive, function->primitive.instance, arguments);
    }
    return elab_apply(e, elab_apply(e, function, a), b);
}

/* A chain of lets is walked, not recursed into: programs made by other programs have long ones.
   Leaves *core at the body. */
static const struct environment *bind_lets(struct elaborator *e, const struct core **core,
                                           const struct environment *environment, const struct instance *instance) {
    for (; (*core)->kind == CORE_LET; *core = (*core)->let.body) {
        struct environment *entry = ARENA_NEW(e->arena, struct environment);
        entry->local = (*core)->let.local;
        entry->next = environment;
        if ((*core)->let.scheme) {
            struct delayed *delayed = ARENA_NEW(e->arena, struct delayed);
            *delayed = (struct delayed){(*core)->let.value, instance};
            entry->delayed = delayed;
        } else {
            entry->value = elab_evaluate(e, (*core)->let.value, environment, instance);
            if (!e->plans && (*core)->let.local->name && entry->value->kind == ELAB_SCALAR && entry->value->scalar)
                ir_name(entry->value->scalar, (*core)->let.local->name->text);
        }
        environment = entry;
    }
    return environment;
}

static struct elab_value *evaluate_let(struct elaborator *e, const struct core *core,
                                       const struct environment *environment, const struct instance *instance) {
    environment = bind_lets(e, &core, environment, instance);
    return elab_evaluate(e, core, environment, instance);
}

/* ---- results that go somewhere ---- */

struct tail {
    const struct core *core;
    const struct environment *environment;
    const struct instance *instance;
    elab_sink *sink;
    void *context;
};

static void evaluate_into(struct elaborator *e, struct tail tail) {
    tail.environment = bind_lets(e, &tail.core, tail.environment, tail.instance);
    if (tail.core->kind != CORE_IF) {
        tail.sink(e, tail.context, elab_evaluate(e, tail.core, tail.environment, tail.instance));
        return;
    }
    struct ir_value *condition =
        elab_as_scalar(e, elab_evaluate(e, tail.core->conditional.condition, tail.environment, tail.instance));
    struct tail branches[2] = {tail, tail};
    branches[0].core = tail.core->conditional.then_branch;
    branches[1].core = tail.core->conditional.else_branch;
    switch (ir_known(e->builder, condition)) {
    case IR_TRUE: evaluate_into(e, branches[0]); return;
    case IR_FALSE: evaluate_into(e, branches[1]); return;
    case IR_UNKNOWN: break;
    }
    ir_begin_if(e->builder, condition);
    evaluate_into(e, branches[0]);
    ir_else(e->builder, NULL, 0);
    evaluate_into(e, branches[1]);
    ir_end_if(e->builder, NULL, NULL, 0, false);
}

void elab_apply_into(struct elaborator *e, struct elab_value *function, struct elab_value *argument, elab_sink *sink,
                     void *context) {
    if (function->kind != ELAB_CLOSURE) {
        sink(e, context, elab_apply(e, function, argument));
        return;
    }
    const struct core *lambda = function->closure.lambda;
    struct tail tail = {.core = lambda->lambda.body,
                        .environment = elab_bind(e, function->closure.environment, lambda->lambda.parameter, argument),
                        .instance = function->closure.instance,
                        .sink = sink,
                        .context = context};
    evaluate_into(e, tail);
}

/* ---- lists ---- */

static struct elab_value *evaluate_list(struct elaborator *e, const struct core *core,
                                        const struct environment *environment, const struct instance *instance) {
    struct pull *pull = elab_pull_new(e, PULL_LIST, ir_int(e->builder, (int64_t)core->sequence.count));
    pull->list = core;
    pull->environment = environment;
    pull->instance = instance;
    pull->constants = ARENA_ARRAY(e->arena, struct elab_value *, core->sequence.count);
    struct type *type = type_without_levels(core->type);
    if (!core->sequence.count && type->kind == TYPE_PULL) /* the items say nothing */
        pull->memory.element = type_resolve(type_instantiate(e->arena, instance, type->array.element));
    return elab_of_pull(e, pull);
}

/* FCL §5.2: an item is evaluated where it is read, as an element of `generate` is. An item that is known at compile
   time is the same everywhere, so it is kept. */
struct elab_value *elab_list_item(struct elaborator *e, struct pull *list, size_t index) {
    if (list->constants[index])
        return list->constants[index];
    struct elab_value *item = elab_evaluate(e, list->list->sequence.items[index], list->environment, list->instance);
    if (is_constant(item))
        list->constants[index] = item;
    return item;
}

static struct elab_value *evaluate(struct elaborator *e, const struct core *core, const struct environment *environment,
                                   const struct instance *instance) {
    switch (core->kind) {
    case CORE_LITERAL: return evaluate_literal(e, core, instance);
    case CORE_LOCAL: return evaluate_local(e, core, environment, instance);
    case CORE_GLOBAL: return evaluate_global(e, core, instance);
    case CORE_CONFIG: return evaluate_config(e, core->config);
    case CORE_PRIMITIVE: {
        struct elab_value *value = ARENA_NEW(e->arena, struct elab_value);
        value->kind = ELAB_PRIMITIVE;
        value->primitive.primitive = core->primitive.primitive;
        value->primitive.instance = instantiate(e, &core->primitive.instance, instance, NULL);
        return value;
    }
    case CORE_LAMBDA: {
        struct elab_value *value = ARENA_NEW(e->arena, struct elab_value);
        value->kind = ELAB_CLOSURE;
        value->closure.lambda = core;
        value->closure.environment = environment;
        value->closure.instance = instance;
        value->closure.made_at = elab_users_span(e, core->span);
        return value;
    }
    case CORE_APPLY: {
        struct elab_value *function = elab_evaluate(e, core->apply.function, environment, instance);
        struct elab_value *argument = elab_evaluate(e, core->apply.argument, environment, instance);
        e->span = core->span;
        elab_build_at(e, core->span);
        return elab_apply(e, function, argument);
    }
    case CORE_LET: return evaluate_let(e, core, environment, instance);
    case CORE_IF: return evaluate_if(e, core, environment, instance);
    case CORE_TUPLE: {
        struct elab_value **items = ARENA_ARRAY(e->arena, struct elab_value *, core->sequence.count);
        for (size_t i = 0; i < core->sequence.count; i++)
            items[i] = elab_evaluate(e, core->sequence.items[i], environment, instance);
        return elab_tuple(e, items, core->sequence.count);
    }
    case CORE_SELECT: {
        struct elab_value *tuple = elab_evaluate(e, core->select.tuple, environment, instance);
        if (tuple->kind == ELAB_SCALAR && !tuple->scalar)
            return tuple;
        if (tuple->kind != ELAB_TUPLE)
            elab_internal(e, "a component of what is no tuple");
        return tuple->tuple.items[core->select.index];
    }
    case CORE_LIST: return evaluate_list(e, core, environment, instance);
    case CORE_ZERO: return zero_of(e, type_instantiate(e->arena, instance, core->type));
    }
    elab_internal(e, "unknown core");
}

struct elab_value *elab_evaluate(struct elaborator *e, const struct core *core, const struct environment *environment,
                                 const struct instance *instance) {
    if (stack_is_full(e->stack_limit))
        elab_fail(e, DIAG_ENDLESS_RECURSION, core->span,
                  "calls and expressions are nested too deep here at compile time");
    elab_count_step(e, core->span);
    return evaluate(e, core, environment, instance);
}
