/* Running a kernel: setting the machine up, and applying the kernel to its arguments. */
#include "interp/machine.h"

#include "support/stack.h"

size_t interp_parameter_types(struct arena *arena, const struct core_global *kernel, struct type ***types,
                              struct type **result) {
    VEC(struct type *) found = {0};
    struct type *type = type_resolve(kernel->scheme->type);
    while (type->kind == TYPE_ARROW || type->kind == TYPE_LEVEL_ARROW) {
        if (type->kind == TYPE_ARROW)
            vec_push(arena, &found, type->arrow.from);
        type = type_resolve(type->kind == TYPE_ARROW ? type->arrow.to : type->level_arrow.to);
    }
    *types = found.at;
    *result = type;
    return found.count;
}

/* The level that a kernel's body runs at: the level of the push arrays in its result, or else the grid. */
static enum level_value level_of(struct type *result) {
    result = type_resolve(result);
    if (result->kind == TYPE_PUSH)
        return level_instantiate(NULL, result->array.level);
    enum level_value level = LEVEL_GRID;
    for (size_t i = 0; result->kind == TYPE_TUPLE && i < result->tuple.count && level == LEVEL_GRID; i++)
        level = level_of(result->tuple.items[i]);
    return level;
}

/* Apart from interp_run so that no local of it lives across the setjmp. */
static struct host_value *run(struct interp *in, const struct core_global *kernel, struct host_value *const *arguments,
                              size_t count) {
    struct type **types, *result;
    size_t wanted = interp_parameter_types(in->arena, kernel, &types, &result);
    if (wanted != count)
        interp_fail(in, DIAG_INTERNAL, kernel->span, "`%s` takes %zu argument%s, and the interpreter gets %zu",
                    kernel->name->text, wanted, wanted == 1 ? "" : "s", count);
    in->loc = level_of(result);
    struct value value = interp_eval(in, kernel->body, NULL, NULL);
    for (size_t i = 0; i < count; i++)
        value = interp_apply(in, value, interp_import(in, arguments[i]), (struct span){0});
    return interp_export(in, value, result, core_result_span(kernel));
}

bool interp_run(struct arena *arena, const struct program *program, const struct core_global *kernel,
                struct host_value *const *arguments, size_t argument_count, const struct interp_options *options,
                struct host_value **result, struct diagnostics *diagnostics) {
    struct interp *in = ARENA_NEW(arena, struct interp);
    *in = (struct interp){.arena = arena,
                          .region = region_new(),
                          .global_regions = ARENA_ARRAY(arena, struct region *, program->globals.count),
                          .options = options,
                          .diagnostics = diagnostics,
                          .globals = ARENA_ARRAY(arena, struct value *, program->globals.count),
                          .stack_limit = stack_limit(options->stack_bytes)};
    struct region *const region = in->region;
    *result = NULL;
    if (setjmp(in->failed) == 0)
        *result = run(in, kernel, arguments, argument_count);
    store_drop_since(in, NULL);
    region_free(region);
    for (size_t i = 0; i < program->globals.count && in->global_regions[i]; i++)
        region_free(in->global_regions[i]);
    return *result != NULL;
}
