/* The values of the core's literals, and the names in it; see core.h. */
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

/* The number whose square it is, if it is a positive multiple of `unit`; else 0. */
static int64_t root(int64_t square, int64_t unit) {
    int64_t found = 0;
    for (int64_t bit = INT64_C(1) << 31; bit; bit >>= 1)
        if ((found + bit) * (found + bit) <= square)
            found += bit;
    return found * found == square && found % unit == 0 ? found : 0;
}

bool core_mma_size(int64_t first, int64_t second, int64_t third, struct mma_size *size) {
    if (first <= 0 || second <= 0 || third <= 0)
        return false;
    /* rows² = first * third / second, and so on */
    if (first * third % second || first * second % third || second * third % first)
        return false;
    *size = (struct mma_size){root(first * third / second, MMA_ROWS), root(first * second / third, MMA_INNER),
                              root(second * third / first, MMA_COLUMNS)};
    return size->rows && size->inner && size->columns && size->rows * size->inner == first &&
           size->inner * size->columns == second && size->rows * size->columns == third;
}

struct span core_result_span(const struct core_global *kernel) {
    const struct core *body = kernel->body;
    for (size_t i = 0; i < kernel->parameter_count && body->kind == CORE_LAMBDA; i++)
        body = body->lambda.body;
    return body->span;
}

struct core *core_part(const struct core *core, size_t i) {
    switch (core->kind) {
    case CORE_GLOBAL:
    case CORE_PRIMITIVE:
    case CORE_LITERAL:
    case CORE_LOCAL:
    case CORE_ZERO:
    case CORE_CONFIG: return NULL;
    case CORE_LAMBDA: return i == 0 ? core->lambda.body : NULL;
    case CORE_APPLY: return i == 0 ? core->apply.function : i == 1 ? core->apply.argument : NULL;
    case CORE_LET: return i == 0 ? core->let.value : i == 1 ? core->let.body : NULL;
    case CORE_IF:
        return i == 0   ? core->conditional.condition
               : i == 1 ? core->conditional.then_branch
               : i == 2 ? core->conditional.else_branch
                        : NULL;
    case CORE_TUPLE:
    case CORE_LIST: return i < core->sequence.count ? core->sequence.items[i] : NULL;
    case CORE_SELECT: return i == 0 ? core->select.tuple : NULL;
    }
    return NULL;
}

void core_visit_names(const struct core *core, core_name_visitor *visit, void *context) {
    if (core->kind == CORE_GLOBAL || core->kind == CORE_PRIMITIVE)
        visit(context, core);
    for (size_t i = 0; core_part(core, i); i++)
        core_visit_names(core_part(core, i), visit, context);
}
