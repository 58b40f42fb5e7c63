/* The interpreter of IR that was read, on the host's values. */
#include "driver/evaluate.h"

#include "ir/evaluate.h"
#include "ir/text/text.h"

static struct ir_kernel *kernel_of(const struct execution *e) {
    const struct program_ir *ir = e->program->ir;
    struct ir_file *file = ir_read(e->arena, ir->symbols, ir->sources, ir->source, e->diagnostics);
    for (size_t i = file ? file->kernels.count : 0; i-- > 0;)
        if (file->kernels.at[i]->name == e->kernel->name)
            return file->kernels.at[i];
    return NULL;
}

typedef VEC(struct ir_part) part_list;

static void add_parts(struct arena *arena, const struct host_value *value, part_list *parts) {
    if (value->kind == VALUE_SCALAR) {
        vec_push(arena, parts, (struct ir_part){.scalar = value->scalar.value});
    } else if (value->kind == VALUE_ARRAY) {
        size_t count = (size_t)value_element_count(value);
        union scalar *elements = ARENA_ARRAY(arena, union scalar, count + 1);
        for (size_t i = 0; i < count; i++)
            elements[i] = value_get(value->array.base, value->array.data, i);
        vec_push(arena, parts, (struct ir_part){.shape = value->array.shape, .count = count, .elements = elements});
    } else {
        for (size_t i = 0; i < value->tuple.count; i++)
            add_parts(arena, value->tuple.items[i], parts);
    }
}

/* The value of that type, of what is given from *next on. */
static struct host_value *value_of(struct arena *arena, struct type *type, const struct ir_given **next) {
    type = type_resolve(type);
    if (type->kind == TYPE_TUPLE) {
        struct host_value **items = ARENA_ARRAY(arena, struct host_value *, type->tuple.count);
        for (size_t i = 0; i < type->tuple.count; i++)
            items[i] = value_of(arena, type->tuple.items[i], next);
        return value_tuple(arena, type, items);
    }
    if (type->kind == TYPE_BASE)
        return value_scalar(arena, type->base, (*next)++->scalar);
    struct type *element;
    size_t rank = value_type_rank(type, &element), count = type_leaf_count(element);
    struct host_value *array = value_array(arena, element, rank, (*next)->shape);
    struct host_value **leaves = ARENA_ARRAY(arena, struct host_value *, count);
    value_leaves(array, leaves);
    for (size_t i = 0; i < count; i++, ++*next)
        for (size_t k = 0; k < (*next)->count; k++)
            value_set(leaves[i]->array.base, leaves[i]->array.data, k, (*next)->elements[k]);
    return array;
}

/* Prints the records of `trace` as a device's context does. */
static void print_traces(const struct ir_kernel *kernel, const struct ir_outcome *outcome) {
    struct fcl_options open = FCL_OPTIONS_DEFAULT;
    struct fcl_context *context;
    struct fcl_buffer *buffer = NULL;
    char error[256];
    uint64_t bytes = outcome->traced_count * sizeof *outcome->traced;
    open.kind = FCL_DEVICE_C;
    if (!outcome->traced || fcl_open(&context, &open, error, sizeof error) != FCL_OK)
        return;
    if (fcl_buffer_new(context, bytes, &buffer) == FCL_OK && fcl_write(buffer, 0, outcome->traced, bytes) == FCL_OK)
        (void)fcl_trace(buffer, kernel->traces.at, kernel->traces.count);
    fcl_buffer_free(buffer);
    fcl_close(context);
}

enum exit_status evaluate_ir(const struct execution *e, struct host_value **result) {
    struct ir_kernel *kernel = kernel_of(e);
    if (!kernel)
        return EXIT_PROGRAM_WRONG;
    const struct ir_part **arguments = ARENA_ARRAY(e->arena, const struct ir_part *, e->argument_count + 1);
    for (size_t i = 0; i < e->argument_count; i++) {
        part_list parts = {0};
        add_parts(e->arena, e->arguments[i], &parts);
        arguments[i] = parts.at;
    }
    struct ir_outcome outcome = ir_evaluate(e->arena, kernel, arguments);
    print_traces(kernel, &outcome);
    if (outcome.wrong) {
        struct diagnostic *error = diag_error(e->diagnostics, outcome.code, outcome.span, "%s", outcome.wrong);
        if (outcome.found.end)
            diag_note(e->diagnostics, error, outcome.found, "it is found here");
        return EXIT_PROGRAM_WRONG;
    }
    const struct ir_given *next = outcome.given;
    *result = value_of(e->arena, kernel->result_type, &next);
    return EXIT_GOOD;
}
