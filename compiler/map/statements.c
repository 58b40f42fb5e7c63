/* Functions with which lowering makes statements, names, arrays and values. */
#include "map/lower.h"

#include "support/fatal.h"

/* ---- scopes and statements ---- */

struct lower_scope lower_enter(struct lowering *l, struct target_block *body) {
    struct lower_scope scope = {l->block, names_mark(l->names)};
    l->block = body;
    return scope;
}

void lower_leave(struct lowering *l, struct lower_scope scope) {
    l->block = scope.block;
    names_release(l->names, scope.names);
}

struct target_statement *lower_emit(struct lowering *l, enum target_statement_kind kind) {
    struct target_statement *statement = ARENA_NEW(l->arena, struct target_statement);
    statement->kind = kind;
    statement->span = l->span;
    vec_push(l->arena, &l->block->statements, statement);
    return statement;
}

struct target_variable *lower_variable(struct lowering *l, enum base base, const char *name, const char *fallback) {
    struct target_variable *variable = ARENA_NEW(l->arena, struct target_variable);
    variable->name = names_fresh(l->names, name, fallback);
    variable->base = base;
    l->target->uses_double |= base == BASE_F64;
    return variable;
}

struct target_expr *lower_named(struct lowering *l, struct target_expr *value, const char *name, const char *fallback) {
    struct target_variable *variable = lower_variable(l, value->base, name, fallback);
    struct target_statement *declare = lower_emit(l, TARGET_DECLARE);
    declare->variable = variable;
    declare->value = value;
    return expr_variable(l, variable, value->low, value->high);
}

/* ---- values ---- */

void lower_bind(struct lowering *l, const struct ir_value *value, struct target_expr *expr) {
    l->values[value->id] = expr;
    vec_push(l->arena, &l->bound, value->id);
}

bool lower_varies(const struct ir_instruction *loop, const struct ir_value *value) {
    return !value->is_constant && value->region && ir_region_inside(value->region, loop->regions[0]);
}

struct target_expr *lower_value(struct lowering *l, const struct ir_value *value) {
    if (l->values[value->id])
        return l->values[value->id];
    if (!value->is_constant)
        fatal_internal("map", "value %u of kernel %s is used before it is known", (unsigned)value->id,
                       l->kernel->name->text);
    struct target_expr *expr = expr_new(l, TARGET_EXPR_CONSTANT, value->base);
    expr->constant = value->constant;
    expr->low = value->low;
    expr->high = value->high;
    lower_bind(l, value, expr);
    return expr;
}

struct target_expr *lower_simple(struct lowering *l, const struct ir_value *value, const char *name) {
    struct target_expr *expr = lower_value(l, value);
    return expr->size > 1 || expr_reads(expr, false) ? lower_named(l, expr, value->name, name) : expr;
}

struct target_array *lower_array(struct lowering *l, const struct ir_buffer *buffer) {
    struct target_array *array = map_get(l->arrays, buffer);
    if (!array)
        fatal_internal("map", "buffer %s (%u) of kernel %s has no place", buffer->name ? buffer->name : "?",
                       (unsigned)buffer->id, l->kernel->name->text);
    return array;
}

bool lower_has_quirk(const struct lowering *l, enum quirk quirk) { return quirk_is_on(quirk, l->options->where); }

/* note [halves]
   A sum, difference or product of floats of 16 bits that is rounded once is what that of the same floats of 32 bits
   gives, rounded to 16 (note [narrow floats] in ir/build/build.c). Where the target has the instructions, its printer
   takes one for the whole expression. So what is named, or handed to a kernel, is the number of 16 bits itself, and not
   the float that is made of it. */
bool lower_widens_half(const struct lowering *l, const struct ir_instruction *operation) {
    return l->options->computes_halves && operation->op == OP_CONVERT && operation->results[0]->base == BASE_F32 &&
           base_info[operation->operands[0]->base].is_narrow;
}

void lower_scalar(struct lowering *l, struct target_statement *loop) {
    loop->vectors = TARGET_VECTORS_NONE;
    l->target->has_scalar_loops = true;
}

struct target_expr *lower_ticket(struct lowering *l, const struct ir_instruction *forall) {
    struct target_variable *variable = lower_variable(l, BASE_U32, "drawn", "drawn");
    struct target_statement *draw = lower_emit(l, TARGET_ATOMIC);
    draw->variable = variable;
    draw->array = lower_array(l, forall->buffer);
    draw->index = expr_integer(l, BASE_I32, 0);
    draw->value = expr_integer(l, BASE_U32, 1);
    draw->atomic = ATOMIC_ADD;
    return expr_variable(l, variable, 0, UINT32_MAX);
}

void lower_forget(struct lowering *l, const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        for (size_t k = 0; k < walk.at->result_count; k++)
            l->values[walk.at->results[k]->id] = NULL;
}

/* ---- arrays that both mappings declare alike ---- */

void lower_private_array(struct lowering *l, const struct ir_buffer *buffer, int alignment) {
    struct target_array *array = ARENA_NEW(l->arena, struct target_array);
    int64_t capacity = buffer->capacity->constant.integer;
    *array = (struct target_array){.name = names_fresh(l->names, buffer->name, "local_array"),
                                   .element = buffer->element,
                                   .space = TARGET_SPACE_PRIVATE,
                                   .capacity = capacity > 0 ? capacity : 1,
                                   .is_packed = buffer->is_packed,
                                   .alignment = alignment};
    lower_emit(l, TARGET_DECLARE_ARRAY)->array = array;
    l->target->uses_double |= buffer->element == BASE_F64;
    map_set(l->arrays, buffer, array);
}

void lower_scratch(struct lowering *l, struct ir_buffer *buffer, enum level_value unit, struct target_expr *unit_id) {
    struct target_array *memory = ARENA_NEW(l->arena, struct target_array);
    struct target_array *slice = ARENA_NEW(l->arena, struct target_array);
    slice->name = names_fresh(l->names, buffer->name, "local_array");
    slice->element = memory->element = buffer->element;
    slice->space = memory->space = TARGET_SPACE_GLOBAL;
    struct target_parameter parameter = {.kind = TARGET_PARAMETER_SCRATCH, .base = buffer->element};
    /* Never released: a parameter is visible everywhere, so its name must not depend on the scope. */
    parameter.name = arena_printf(l->arena, "fcl_scratch%zu", l->target->parameters.count);
    parameter.capacity = buffer->capacity;
    parameter.unit = unit;
    parameter.is_met = l->target->mapping == TARGET_SIMT && unit != LEVEL_THREAD;
    parameter.array = memory;
    parameter.length = expr_describe(l, buffer->capacity, 4);
    memory->name = parameter.name;
    vec_push(l->arena, &l->target->parameters, parameter);
    struct target_statement *pointer = lower_emit(l, TARGET_DECLARE_POINTER);
    pointer->array = slice;
    pointer->from = memory;
    pointer->index = expr_convert(l, unit_id, BASE_U64);
    if (unit == LEVEL_THREAD) /* elements of one place side by side, as neighbours ask for them together */
        slice->stride =
            lower_named(l, expr_convert(l, expr_hardware(l, TARGET_GLOBAL_THREAD_COUNT), BASE_U64), "stride", NULL);
    else
        pointer->index = expr_operation(l, OP_MUL, BASE_U64, pointer->index,
                                        expr_convert(l, lower_value(l, buffer->capacity), BASE_U64));
    l->target->uses_double |= buffer->element == BASE_F64;
    map_set(l->arrays, buffer, slice);
}
