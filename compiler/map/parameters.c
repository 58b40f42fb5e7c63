/* Finds the parameters that a device kernel gets from the host: the buffers it touches and the host values it needs,
   less those that it can cheaply compute from others. */
#include <stdlib.h>

#include "map/lower.h"

/* Computed in the kernel at most this many operations away from a parameter. */
enum { DEEPEST_RECOMPUTATION = 3 };

struct needed_value {
    const struct ir_value *value;
    int depth; /* operations that use it on the way to the kernel's body */
    bool recompute;
    unsigned uses; /* outside the body: by recomputed values, as a capacity or count */
};
struct needed_values {
    VEC(struct needed_value) all;
};

static bool is_host_value(const struct lowering *l, const struct ir_value *value) {
    return !value->is_constant && (!value->region || !ir_region_inside(value->region, l->forall->regions[0]));
}

static struct needed_value *find(struct needed_values *values, const struct ir_value *value) {
    for (size_t i = 0; i < values->all.count; i++)
        if (values->all.at[i].value == value)
            return &values->all.at[i];
    return NULL;
}

static void need(struct lowering *l, struct needed_values *values, const struct ir_value *value, int depth,
                 unsigned uses) {
    if (!is_host_value(l, value))
        return;
    struct needed_value *known = find(values, value);
    if (known)
        known->uses += uses;
    else
        vec_push(l->arena, &values->all, (struct needed_value){value, depth, false, uses});
}

static void need_region(struct lowering *l, struct needed_values *values, const struct ir_region *region) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *instruction = region->instructions.at[i];
        bool is_pure = instruction->kind == IR_OPERATION || instruction->kind == IR_LOAD;
        if (is_pure && !l->uses[instruction->results[0]->id].count)
            continue;
        for (size_t k = 0; k < instruction->operand_count; k++)
            need(l, values, instruction->operands[k], 0, 0);
        for (size_t r = 0; r < 2; r++)
            if (instruction->regions[r])
                need_region(l, values, instruction->regions[r]);
    }
    for (size_t i = 0; i < region->yields.count; i++)
        need(l, values, region->yields.at[i], 0, 0);
}

/* Replaces a value by its operands where that needs no more parameters: integers, of which the
   kernel's compiler then knows more. Floats are data, computed once by the host. */
static bool try_recompute(struct lowering *l, struct needed_values *values, size_t at) {
    struct needed_value host = values->all.at[at];
    const struct ir_instruction *definition = host.value->definition;
    if (host.recompute || host.depth >= DEEPEST_RECOMPUTATION || !definition || definition->kind != IR_OPERATION ||
        ir_op_info[definition->op].cost != COST_CHEAP ||
        (base_info[host.value->base].is_floating && !lower_widens_half(l, definition)))
        return false;
    const struct ir_value *fresh = NULL;
    for (size_t i = 0; i < definition->operand_count; i++) {
        const struct ir_value *operand = definition->operands[i];
        if (!is_host_value(l, operand) || find(values, operand) || operand == fresh)
            continue;
        if (fresh)
            return false;
        fresh = operand;
    }
    values->all.at[at].recompute = true;
    for (size_t i = 0; i < definition->operand_count; i++)
        need(l, values, definition->operands[i], host.depth + 1, 1);
    return true;
}

static int by_id(const void *a, const void *b) {
    uint32_t x = ((const struct needed_value *)a)->value->id, y = ((const struct needed_value *)b)->value->id;
    return (x > y) - (x < y);
}

/* An input's length is the product of its extents, which come before its buffers among the kernel's parameters. */
static struct target_expr *describe_length(struct lowering *l, const struct ir_buffer *buffer) {
    if (buffer->is_swapped)
        return NULL;
    if (buffer->capacity)
        return expr_describe(l, buffer->capacity, 4);
    const struct ir_parameter *parameters = l->kernel->parameters.at;
    size_t i = 0;
    while (i < l->kernel->parameters.count && parameters[i].buffer != buffer)
        i++;
    if (i == l->kernel->parameters.count)
        return NULL;
    while (i > 0 && parameters[i].kind == IR_PARAMETER_BUFFER)
        i--;
    if (parameters[i].kind != IR_PARAMETER_LENGTH)
        return NULL;
    struct target_expr *length = expr_describe(l, parameters[i].value, 4);
    for (;
         i > 0 && parameters[i - 1].kind == IR_PARAMETER_LENGTH &&
         parameters[i - 1].argument == parameters[i].argument && parameters[i - 1].component == parameters[i].component;
         i--)
        length = expr_operation(l, OP_MUL, BASE_I32, expr_describe(l, parameters[i - 1].value, 4), length);
    return length;
}

/* ---- the list ---- */

static void add_buffers(struct lowering *l) {
    for (size_t i = 0; i < l->kernel->buffers.count; i++) {
        struct ir_buffer *buffer = l->kernel->buffers.at[i];
        struct extent *extent = map_get(l->extents->by_buffer, buffer);
        bool is_ticket = buffer == l->forall->buffer;
        if (buffer->memory != MEMORY_INPUT && buffer->memory != MEMORY_OUTPUT)
            continue;
        if (!is_ticket && (!extent || !extent->first))
            continue;
        struct target_array *array = ARENA_NEW(l->arena, struct target_array);
        *array = (struct target_array){
            .name = names_fresh(l->names, buffer->name, buffer->memory == MEMORY_INPUT ? "input" : "result"),
            .element = buffer->element,
            .space = TARGET_SPACE_GLOBAL,
            .is_const = !is_ticket && !extent->is_written};
        map_set(l->arrays, buffer, array);
        l->target->uses_double |= buffer->element == BASE_F64;
        vec_push(l->arena, &l->target->parameters,
                 (struct target_parameter){.kind = TARGET_PARAMETER_BUFFER,
                                           .name = array->name,
                                           .base = buffer->element,
                                           .buffer = buffer,
                                           .is_const = array->is_const,
                                           .array = array,
                                           .length = describe_length(l, buffer)});
    }
}

/* Not parameters, but also there before the body. */
static void add_tables(struct lowering *l) {
    for (size_t i = 0; i < l->kernel->buffers.count; i++) {
        const struct ir_buffer *buffer = l->kernel->buffers.at[i];
        const struct extent *extent = map_get(l->extents->by_buffer, buffer);
        if (buffer->memory != MEMORY_TABLE || !extent || !extent->first)
            continue;
        struct target_array *array = ARENA_NEW(l->arena, struct target_array);
        *array = (struct target_array){.name = names_fresh(l->names, buffer->name, "table"),
                                       .element = buffer->element,
                                       .space = TARGET_SPACE_TABLE,
                                       .is_const = true,
                                       .constants = buffer->constants,
                                       .capacity = buffer->capacity->constant.integer};
        lower_emit(l, TARGET_DECLARE_ARRAY)->array = array;
        l->target->uses_double |= buffer->element == BASE_F64;
        map_set(l->arrays, buffer, array);
    }
}

static void add_report(struct lowering *l) {
    if (!ir_has(l->forall, IR_CHECK))
        return;
    l->target->only_notes = !ir_may_end(l->kernel, l->forall);
    l->report = ARENA_NEW(l->arena, struct target_array);
    *l->report = (struct target_array){
        .name = names_fresh(l->names, "fcl_report", ""), .element = BASE_I32, .space = TARGET_SPACE_GLOBAL};
    vec_push(l->arena, &l->target->parameters,
             (struct target_parameter){
                 .kind = TARGET_PARAMETER_REPORT, .name = l->report->name, .base = BASE_I32, .array = l->report});
}

static void add_scalar(struct lowering *l, const struct ir_value *value) {
    struct target_variable *variable = lower_variable(l, value->base, value->name, "scalar");
    vec_push(l->arena, &l->target->parameters,
             (struct target_parameter){.kind = TARGET_PARAMETER_SCALAR,
                                       .name = variable->name,
                                       .base = value->base,
                                       .value = (struct ir_value *)value,
                                       .variable = variable,
                                       .length = expr_describe(l, value, 4)});
    lower_bind(l, value, expr_variable(l, variable, value->low, value->high));
}

static void recompute(struct lowering *l, struct needed_values *values, const struct needed_value *host) {
    const struct ir_instruction *definition = host->value->definition;
    if (l->values[host->value->id])
        return;
    for (size_t i = 0; i < definition->operand_count; i++) {
        const struct needed_value *operand = find(values, definition->operands[i]);
        if (operand && operand->recompute)
            recompute(l, values, operand);
    }
    struct target_expr *expr = expr_new(l, TARGET_EXPR_OPERATION, host->value->base);
    expr->op = definition->op;
    expr->wraps = !definition->no_wrap;
    expr->size = 1;
    expr->low = host->value->low;
    expr->high = host->value->high;
    for (size_t i = 0; i < definition->operand_count; i++) {
        expr->operands[i] = lower_value(l, definition->operands[i]);
        expr->size += expr->operands[i]->size;
    }
    bool is_inline = l->uses[host->value->id].count + host->uses == 1 || lower_widens_half(l, definition);
    lower_bind(l, host->value, is_inline ? expr : lower_named(l, expr, host->value->name, "t"));
}

/* Shared memory whose size the kernel need not know: a parameter, the last in the one pool, in the place of another, or
   set aside by its bound. */
static bool is_sized_outside(const struct lowering *l, const struct ir_buffer *buffer) {
    const struct shared_plan *plan = l->shared;
    size_t which = 0;
    while (which < plan->buffers.count && plan->buffers.at[which].extent->buffer != buffer)
        which++;
    if (which == plan->buffers.count || plan->buffers.at[which].is_outside)
        return false;
    if (!plan->buffers.at[which].is_dynamic)
        return true;
    if (buffer->owner != LEVEL_BLOCK)
        return false;
    if (plan->buffers.at[which].shares != which)
        return true;
    for (size_t i = which + 1; i < plan->buffers.count && !l->options->dynamic_as_parameters; i++)
        if (plan->buffers.at[i].is_dynamic && !plan->buffers.at[i].is_outside && plan->buffers.at[i].shares == i)
            return false;
    return true;
}

void parameters_make(struct lowering *l) {
    struct needed_values values = {0};
    need_region(l, &values, l->forall->regions[0]);
    need(l, &values, l->forall->operands[0], 0, 1);
    for (size_t i = 0; i < l->extents->all.count; i++) {
        struct extent *extent = l->extents->all.at[i];
        enum ir_memory memory = extent->buffer->memory;
        if (!extent->buffer->capacity || extent->buffer->capacity->is_constant)
            continue;
        bool is_launchs =
            memory == MEMORY_SHARED && l->target->mapping == TARGET_SIMT && is_sized_outside(l, extent->buffer);
        if (extent->first && !is_launchs && (memory == MEMORY_SHARED || memory == MEMORY_PRIVATE))
            need(l, &values, extent->buffer->capacity, 0, 2); /* may be used more than once: named */
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = values.all.count; i-- > 0;)
            changed |= try_recompute(l, &values, i);
    }
    if (values.all.count)
        qsort(values.all.at, values.all.count, sizeof *values.all.at, by_id);
    add_buffers(l);
    add_report(l);
    add_tables(l);
    for (size_t i = 0; i < values.all.count; i++)
        if (!values.all.at[i].recompute)
            add_scalar(l, values.all.at[i].value);
    for (size_t i = 0; i < values.all.count; i++)
        if (values.all.at[i].recompute)
            recompute(l, &values, &values.all.at[i]);
}
