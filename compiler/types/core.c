/* What literals of the core stand for, and the names in it; see core.h. */
#include "types/core.h"

const struct core_config_info core_config_info[CONFIG_COUNT] = {
    [CONFIG_BLOCK_SIZE] = {"#BlockSize", BASE_I32},    [CONFIG_WARP_SIZE] = {"#WarpSize", BASE_I32},
    [CONFIG_GRID_SIZE] = {"#GridSize", BASE_I32},      [CONFIG_IS_CPU] = {"#IsCpu", BASE_BOOL},
    [CONFIG_HAS_WARPS] = {"#HasWarps", BASE_BOOL},     [CONFIG_HAS_MMA] = {"#HasMma", BASE_BOOL},
    [CONFIG_VECTOR_BYTES] = {"#VectorBytes", BASE_I32}};

double core_floating(const struct core *literal, enum base base) {
    if (literal->literal.is_floating)
        return floating_in(base_info[base].format, literal->literal.floating);
    return base_of_natural(base, literal->literal.magnitude);
}

struct span core_result_span(const struct core_global *kernel) {
    const struct core *body = kernel->body;
    for (size_t i = 0; i < kernel->parameter_count && body->kind == CORE_LAMBDA; i++)
        body = body->lambda.body;
    return body->span;
}

void core_visit_names(const struct core *core, core_name_visitor *visit, void *context) {
    switch (core->kind) {
    case CORE_GLOBAL:
    case CORE_PRIMITIVE: visit(context, core); break;
    case CORE_LITERAL:
    case CORE_LOCAL:
    case CORE_CONFIG: break;
    case CORE_LAMBDA: core_visit_names(core->lambda.body, visit, context); break;
    case CORE_APPLY:
        core_visit_names(core->apply.function, visit, context);
        core_visit_names(core->apply.argument, visit, context);
        break;
    case CORE_LET:
        core_visit_names(core->let.value, visit, context);
        core_visit_names(core->let.body, visit, context);
        break;
    case CORE_IF:
        core_visit_names(core->conditional.condition, visit, context);
        core_visit_names(core->conditional.then_branch, visit, context);
        core_visit_names(core->conditional.else_branch, visit, context);
        break;
    case CORE_TUPLE:
    case CORE_LIST:
        for (size_t i = 0; i < core->sequence.count; i++)
            core_visit_names(core->sequence.items[i], visit, context);
        break;
    case CORE_SELECT: core_visit_names(core->select.tuple, visit, context); break;
    }
}
