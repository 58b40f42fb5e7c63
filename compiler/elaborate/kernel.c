/* The kernel: its parameters become scalars, lengths and buffers, its body is evaluated, its results are stored. */
#include "elaborate/check.h"
#include "elaborate/evaluate.h"
#include "elaborate/push.h"
#include "support/stack.h"

const struct elaborate_options elaborate_defaults = {.block_size = 256,
                                                     .warp_size = GPU_LANES,
                                                     .grid_size = GPU_GRID,
                                                     .shared_bytes = GPU_SHARED,
                                                     .vector_bytes = CPU_VECTOR,
                                                     .unroll = ANY_UNROLLED,
                                                     .optimise = 2};

/* ---- parameters ---- */

struct parameter_context {
    size_t argument, component;
    const char *name;
    struct type *type; /* of the whole argument */
};

/* The name of the next component: `bodies_mass` for field `mass` of a record `bodies`. */
static const char *component_name(struct elaborator *e, const struct parameter_context *context) {
    return type_component_name(e->kept, context->type, context->name, context->component);
}

static struct elab_value *scalar_parameter(struct elaborator *e, enum base base, struct parameter_context *context) {
    const struct base_info *info = &base_info[base];
    int64_t low = 0, high = INT64_MAX;
    if (base == BASE_BOOL) {
        high = 1;
    } else if (info->is_integer && info->is_signed) {
        low = info->bits == 64 ? INT64_MIN : -((int64_t)1 << (info->bits - 1));
        high = info->bits == 64 ? INT64_MAX : ((int64_t)1 << (info->bits - 1)) - 1;
    } else if (info->is_integer && info->bits < 64) {
        high = ((int64_t)1 << info->bits) - 1;
    }
    struct ir_parameter parameter = {.kind = IR_PARAMETER_SCALAR,
                                     .argument = context->argument,
                                     .component = context->component,
                                     .name = component_name(e, context)};
    context->component++;
    parameter.value = ir_parameter_value(e->builder, base, low, high, parameter.name);
    vec_push(e->kept, &e->kernel->parameters, parameter);
    return elab_scalar(e, parameter.value);
}

/* [t], [[t]], …: one extent per dimension, then one buffer per scalar leaf of t. */
static struct elab_value *array_parameter(struct elaborator *e, struct type *type, struct parameter_context *context) {
    size_t rank = 0;
    struct type *element = type;
    for (; element->kind == TYPE_PULL; element = type_resolve(element->array.element))
        rank++;
    struct ir_value **extents = ARENA_ARRAY(e->arena, struct ir_value *, rank);
    size_t first = context->component;
    const char *array = type_array_name(e->kept, context->type, context->name, first);
    for (size_t i = 0; i < rank; i++) {
        struct ir_parameter parameter = {
            .kind = IR_PARAMETER_LENGTH, .argument = context->argument, .component = first, .dimension = (int)i};
        const char *what = ir_extent_name(e->arena, rank, i);
        parameter.name = arena_printf(e->kept, "%s_%s", array, what);
        parameter.value = ir_parameter_value(e->builder, BASE_I32, 0, INT32_MAX, parameter.name);
        extents[i] = parameter.value;
        vec_push(e->kept, &e->kernel->parameters, parameter);
    }
    base_list bases = elab_bases_of(e, element);
    struct pull *pull = ARENA_NEW(e->arena, struct pull);
    pull->kind = PULL_MEMORY;
    pull->length = extents[0];
    pull->memory.element = element;
    pull->memory.extents = extents + 1;
    pull->memory.extent_count = rank - 1;
    pull->memory.buffers = ARENA_ARRAY(e->arena, struct ir_buffer *, bases.count);
    for (size_t i = 0; i < bases.count; i++) {
        struct ir_parameter parameter = {
            .kind = IR_PARAMETER_BUFFER, .argument = context->argument, .component = context->component};
        parameter.name = component_name(e, context);
        context->component++;
        parameter.buffer = ir_buffer_new(e->builder, MEMORY_INPUT, LEVEL_GRID, bases.at[i], NULL, parameter.name);
        pull->memory.buffers[i] = parameter.buffer;
        vec_push(e->kept, &e->kernel->parameters, parameter);
    }
    return elab_of_pull(e, pull);
}

static struct elab_value *make_parameter(struct elaborator *e, struct type *type, struct parameter_context *context) {
    type = type_resolve(type);
    switch (type->kind) {
    case TYPE_BASE: return scalar_parameter(e, type->base, context);
    case TYPE_PULL: return array_parameter(e, type, context);
    case TYPE_TUPLE: {
        struct elab_value **items = ARENA_ARRAY(e->arena, struct elab_value *, type->tuple.count);
        for (size_t i = 0; i < type->tuple.count; i++)
            items[i] = make_parameter(e, type->tuple.items[i], context);
        return elab_tuple(e, items, type->tuple.count);
    }
    case TYPE_VARIABLE:
    case TYPE_ARROW:
    case TYPE_LEVEL_ARROW:
    case TYPE_PUSH:
    case TYPE_STORED:
    case TYPE_ERROR: break;
    }
    elab_internal(e, "a kernel's parameter is neither scalar nor array");
}

/* ---- results ---- */

static void add_result(struct elaborator *e, struct ir_value *value) {
    struct ir_result result = {.value = ir_resolve(e->builder, value)};
    vec_push(e->kept, &e->kernel->results, result);
}

/* An array's extents, and how many elements it has. */
struct shape {
    size_t rank;
    struct ir_value **extents, *count;
};

static struct shape new_shape(struct elaborator *e, struct type *type, struct type **element) {
    struct shape shape = {0};
    for (type = type_resolve(type); type->kind == TYPE_PULL || type->kind == TYPE_PUSH; shape.rank++)
        type = type_resolve(type->array.element);
    shape.extents = ARENA_ARRAY(e->kept, struct ir_value *, shape.rank);
    *element = type;
    return shape;
}

static void count_elements(struct elaborator *e, struct shape *shape) {
    if (elab_is_large(e, shape->rank, shape->extents)) {
        shape->count = elab_many_elements(e, shape->rank, shape->extents);
        return;
    }
    shape->count = shape->extents[0];
    if (shape->rank > 1) /* what is too long is the result, and not what was evaluated last */
        e->span = core_result_span(e->global);
    for (size_t i = 1; i < shape->rank; i++)
        shape->count = elab_combined_length(e, OP_MUL, CHECK_RESULT, shape->count, shape->extents[i]);
}

static void add_array(struct elaborator *e, const struct shape *shape, struct ir_buffer *buffer) {
    struct ir_result result = {.is_array = true,
                               .value = ir_resolve(e->builder, shape->count),
                               .buffer = buffer,
                               .extents = shape->extents,
                               .rank = shape->rank};
    for (size_t i = 0; i < shape->rank; i++)
        result.extents[i] = ir_resolve(e->builder, shape->extents[i]);
    buffer->is_result = true;
    vec_push(e->kept, &e->kernel->results, result);
}

/* Allocates the buffers of an array result and records them. */
static struct ir_buffer **result_buffers(struct elaborator *e, struct type *element, const struct shape *shape,
                                         size_t *count) {
    if (!shape->count)
        elab_fail(e, DIAG_UNKNOWN_LENGTH, e->global->span, "the length of the result of `%s` depends on data",
                  e->global->name->text);
    struct ir_buffer **buffers = elab_buffers(e, element, LEVEL_GRID, shape->count, "result", count);
    for (size_t i = 0; i < *count; i++) {
        ir_allocate(e->builder, buffers[i]);
        add_array(e, shape, buffers[i]);
    }
    return buffers;
}

/* A buffer for numbers that the device finds out, of which those that it does not store are 0. */
static struct ir_buffer *measured_buffer(struct elaborator *e, size_t count) {
    struct ir_builder *b = e->builder;
    if (count == 1)
        return elab_one_int(e, LEVEL_GRID, "measured_length");
    struct ir_buffer *buffer =
        ir_buffer_new(b, MEMORY_OUTPUT, LEVEL_GRID, BASE_I32, ir_int(b, (int64_t)count), "measured_extents");
    buffer->rewritten = buffer->is_zeroed = true;
    buffer->span = e->span;
    ir_allocate(b, buffer);
    return buffer;
}

/* Those that are not known. */
static void load_extents(struct elaborator *e, struct shape *shape, struct ir_buffer *measured) {
    struct ir_builder *b = e->builder;
    for (size_t i = 0; i < shape->rank; i++)
        if (!shape->extents[i])
            shape->extents[i] = elab_not_negative(e, ir_load(b, measured, ir_int(b, (int64_t)i)));
}

static void find_columns(struct elaborator *e, struct pull *rows, struct shape *shape) {
    if (elab_columns(e, rows, shape->rank, shape->extents + 1))
        return;
    struct ir_buffer *measured = measured_buffer(e, shape->rank);
    elab_store_columns(e, LEVEL_GRID, rows, shape->rank, measured);
    load_extents(e, shape, measured);
}

static void store_pull(struct elaborator *e, struct type *type, struct pull *pull, runnings *all) {
    struct type *element;
    struct shape shape = new_shape(e, type, &element);
    shape.extents[0] = pull->length;
    if (shape.rank > 1) {
        e->span = core_result_span(e->global);
        find_columns(e, pull, &shape);
        elab_check_rows(e, LEVEL_GRID, pull, shape.rank, shape.extents);
        e->span = core_result_span(e->global);
        pull = elab_elements(e, pull, shape.rank, shape.extents);
    }
    count_elements(e, &shape);
    /* A force at grid level has stored the whole array: its memory is the result, and nothing is copied. */
    if (pull->kind == PULL_MEMORY && !pull->memory.offset && !pull->memory.extent_count &&
        pull->memory.buffers[0]->memory == MEMORY_OUTPUT && !pull->memory.buffers[0]->is_result) {
        base_list bases = elab_bases_of(e, element);
        for (size_t i = 0; i < bases.count; i++)
            add_array(e, &shape, pull->memory.buffers[i]);
        return;
    }
    size_t count;
    struct ir_buffer **buffers = result_buffers(e, element, &shape, &count);
    if (pull->length->base == BASE_I64)
        elab_store_large(e, LEVEL_GRID, pull, shape.rank, shape.extents, buffers, count);
    else
        elab_run_later(e, all, elab_push_of_pull(e, LEVEL_GRID, pull), elab_store_writer(buffers, count, NULL));
}

static void store_push(struct elaborator *e, struct type *type, struct push *push, runnings *all) {
    if (push->kind == PUSH_PULL && push->array->kind == PULL_MEMORY) {
        store_pull(e, type, push->array, all);
        return;
    }
    struct type *element;
    struct shape shape = new_shape(e, type, &element);
    shape.extents[0] = elab_push_length(e, push);
    count_elements(e, &shape);
    size_t count;
    struct ir_buffer **buffers = result_buffers(e, element, &shape, &count);
    elab_run_later(e, all, push, elab_store_writer(buffers, count, NULL));
}

static void store_result(struct elaborator *e, struct type *type, struct elab_value *value, runnings *all) {
    type = type_resolve(type);
    switch (value->kind) {
    case ELAB_SCALAR: add_result(e, value->scalar); return;
    case ELAB_TUPLE:
        for (size_t i = 0; i < value->tuple.count; i++)
            store_result(e, type->tuple.items[i], value->tuple.items[i], all);
        return;
    case ELAB_PULL: store_pull(e, type, value->pull, all); return;
    case ELAB_PUSH: store_push(e, type, value->push, all); return;
    case ELAB_CLOSURE:
    case ELAB_PRIMITIVE:
    case ELAB_BUILDS:
    case ELAB_CHOICE: break;
    }
    elab_internal(e, "a kernel's result is a function");
}

/* ---- results below grid: the whole body runs at their level, in one unit of it ---- */

static struct elab_value *apply_body(struct elaborator *e, struct elab_value **arguments) {
    struct elab_value *value = elab_evaluate(e, e->global->body, NULL, NULL);
    for (size_t i = 0; i < e->global->parameter_count; i++)
        value = elab_apply(e, value, arguments[i]);
    return value;
}

/* The level of the push arrays in a result; they are all at one. */
static enum level_value level_of_result(struct type *type) {
    type = type_resolve(type);
    if (type->kind == TYPE_PUSH)
        return level_resolve(type->array.level)->value;
    for (size_t i = 0; type->kind == TYPE_TUPLE && i < type->tuple.count; i++) {
        enum level_value level = level_of_result(type->tuple.items[i]);
        if (level != LEVEL_GRID)
            return level;
    }
    return LEVEL_GRID;
}

/* A component of the result: an array, or a scalar, which the unit leaves in an array of one element. */
struct component {
    bool is_array;
    struct type *element;
    struct shape shape;
    struct ir_buffer *measured; /* where a launch of its own leaves extents, which depend on data; or NULL */
    struct ir_buffer **buffers;
    size_t count;
};
struct lower_body {
    struct elab_value **arguments;
    enum level_value level;
    VEC(struct component) components;
    bool only_measures;
    size_t next; /* of the components, while they are stored */
};

static void make_component(struct elaborator *e, struct lower_body *body, struct type *type, struct elab_value *shape) {
    type = type_resolve(type);
    if (type->kind == TYPE_TUPLE) {
        for (size_t i = 0; i < type->tuple.count; i++)
            make_component(e, body, type->tuple.items[i], shape->tuple.items[i]);
        return;
    }
    struct component component = {.is_array = type->kind != TYPE_BASE};
    component.shape = new_shape(e, type, &component.element);
    struct shape *own = &component.shape;
    if (component.is_array) {
        e->shape++;
        own->extents[0] = elab_length(e, shape);
        e->shape--;
        bool is_known = own->extents[0] != NULL;
        if (own->rank > 1)
            is_known &= elab_columns(e, shape->pull, own->rank, own->extents + 1);
        if (is_known)
            count_elements(e, own);
    } else {
        own->count = ir_int(e->builder, 1);
    }
    vec_push(e->arena, &body->components, component);
}

/* One element for the unit. */
static void store_scalar(struct elaborator *e, enum level_value level, const struct writer *writer,
                         struct elab_value *value) {
    struct ir_value *one = elab_begin_threads(e, level, ir_int(e->builder, 1));
    writer->write(e, writer, one, value);
    elab_end_threads(e, level, one);
}

static void store_large_if(struct elaborator *e, struct ir_value *condition, enum level_value level,
                           struct pull *elements, const struct component *component) {
    enum ir_truth truth = ir_begin_choice(e->builder, condition);
    if (truth != IR_FALSE)
        elab_store_large(e, level, elements, component->shape.rank, component->shape.extents, component->buffers,
                         component->count);
    ir_end_only_choice(e->builder, truth);
}

static void store_component(struct elaborator *e, struct lower_body *body, struct elab_value *value) {
    if (value->kind == ELAB_TUPLE) {
        for (size_t i = 0; i < value->tuple.count; i++)
            store_component(e, body, value->tuple.items[i]);
        return;
    }
    struct component *component = &body->components.at[body->next++];
    if (body->only_measures) {
        if (!component->measured)
            return;
        struct writer writer = elab_store_writer(&component->measured, 1, NULL);
        store_scalar(e, body->level, &writer, elab_scalar(e, elab_length(e, value)));
        if (component->shape.rank > 1)
            elab_store_columns(e, body->level, value->pull, component->shape.rank, component->measured);
        return;
    }
    struct writer writer = elab_store_writer(component->buffers, component->count, NULL);
    if (value->kind == ELAB_SCALAR) {
        store_scalar(e, body->level, &writer, value);
        return;
    }
    if (component->shape.rank > 1) {
        elab_check_rows(e, body->level, value->pull, component->shape.rank, component->shape.extents);
        value = elab_of_pull(e, elab_elements(e, value->pull, component->shape.rank, component->shape.extents));
    }
    struct ir_value *length = elab_length(e, value), *fits = ir_bool(e->builder, true);
    if (!e->shape && elab_may_be_unfinished(e, length))
        fits = ir_binary(e->builder, OP_LE, length, ir_convert(e->builder, component->shape.count, length->base));
    if (length->base == BASE_I64)
        store_large_if(e, fits, body->level, value->pull, component);
    else
        elab_run_if(e, fits, value->kind == ELAB_PUSH ? value->push : elab_push_of_pull(e, body->level, value->pull),
                    &writer);
}

static void run_lower_body(struct elaborator *e, void *context) {
    struct lower_body *body = context;
    body->next = 0;
    store_component(e, body, apply_body(e, body->arguments));
}

static void launch_unit(struct elaborator *e, struct lower_body *body, bool only_measures) {
    body->only_measures = only_measures;
    ir_begin_forall(e->builder, LEVEL_GRID, body->level, ir_int(e->builder, 1), "unit");
    elab_with_split(e, run_lower_body, body);
    ir_end_forall(e->builder);
}

/* Lengths that depend on data must be known before there is memory for the results: the unit runs
   once for these alone. */
static void measure(struct elaborator *e, struct lower_body *body) {
    bool is_needed = false;
    for (size_t i = 0; i < body->components.count; i++) {
        struct component *component = &body->components.at[i];
        if (component->shape.count)
            continue;
        component->measured = measured_buffer(e, component->shape.rank);
        is_needed = true;
    }
    if (!is_needed)
        return;
    launch_unit(e, body, true);
    for (size_t i = 0; i < body->components.count; i++) {
        struct component *component = &body->components.at[i];
        if (!component->measured)
            continue;
        load_extents(e, &component->shape, component->measured);
        count_elements(e, &component->shape);
    }
}

static void run_below_grid(struct elaborator *e, struct type *type, enum level_value level,
                           struct elab_value **arguments) {
    struct lower_body *body = ARENA_NEW(e->arena, struct lower_body);
    body->arguments = arguments;
    body->level = level;
    e->shape++;
    struct elab_value *shape = apply_body(e, arguments);
    e->shape--;
    make_component(e, body, type, shape);
    measure(e, body);
    for (size_t i = 0; i < body->components.count; i++) {
        struct component *component = &body->components.at[i];
        const char *name = component->is_array ? "result" : "scalar";
        component->buffers =
            elab_buffers(e, component->element, LEVEL_GRID, component->shape.count, name, &component->count);
        for (size_t k = 0; k < component->count; k++)
            ir_allocate(e->builder, component->buffers[k]);
    }
    launch_unit(e, body, false);
    for (size_t i = 0; i < body->components.count; i++) {
        const struct component *component = &body->components.at[i];
        for (size_t k = 0; k < component->count; k++)
            if (component->is_array)
                add_array(e, &component->shape, component->buffers[k]);
            else
                add_result(e, ir_load(e->builder, component->buffers[k], ir_int(e->builder, 0)));
    }
}

static void elaborate(struct elaborator *e) {
    const struct core_global *global = e->global;
    struct ir_kernel *kernel = e->kernel;
    kernel->parameter_type_count = global->parameter_count;
    kernel->parameter_types = ARENA_ARRAY(e->kept, struct type *, global->parameter_count);
    struct elab_value **arguments = ARENA_ARRAY(e->arena, struct elab_value *, global->parameter_count);
    struct type *type = type_resolve(global->scheme->type);
    for (size_t i = 0; i < global->parameter_count; i++) {
        struct parameter_context context = {
            .argument = i, .name = global->parameter_names[i], .type = type->arrow.from};
        kernel->parameter_types[i] = type_resolve(type->arrow.from);
        arguments[i] = make_parameter(e, type->arrow.from, &context);
        type = type_resolve(type->arrow.to);
    }
    kernel->result_type = type;
    enum level_value level = level_of_result(type);
    if (level < LEVEL_GRID) {
        run_below_grid(e, type, level, arguments);
    } else {
        runnings all = {0};
        store_result(e, type, apply_body(e, arguments), &all);
        elab_run_together(e, all.at, all.count);
    }
    if (kernel->trace)
        ir_allocate_first(e->builder, kernel->trace);
}

static struct ir_kernel *elaborate_once(struct arena *arena, const struct core_global *global,
                                        const struct elaborate_options *options, struct diagnostics *diagnostics,
                                        bool may_leave_loops, bool *leaves_loops) {
    struct ir_kernel *kernel = ARENA_NEW(arena, struct ir_kernel);
    kernel->name = global->name;
    kernel->span = global->span;
    kernel->source = global->source;
    kernel->block_size = options->block_size;
    kernel->is_cpu = options->is_cpu;
    kernel->warp_size = options->warp_size;
    kernel->has_warps = options->has_shuffles;
    kernel->grid_size = options->grid_size;
    struct arena *scratch = arena_new();
    struct elaborator e = {.arena = scratch,
                           .kept = arena,
                           .diagnostics = diagnostics,
                           .options = options,
                           .kernel = kernel,
                           .global = global,
                           .span = global->span,
                           .may_leave_loops = may_leave_loops,
                           .guards = may_leave_loops || options->check != DEGREE_NONE,
                           .stack_limit = stack_limit(options->stack_bytes)};
    e.builder = ir_builder_new(arena, scratch, kernel, options->optimise);
    e.bounds = map_new(scratch);
    e.constants = map_new(scratch);
    e.instances = map_new(scratch);
    e.innermost_calls = map_new(scratch);
    e.call_counts = map_new(scratch);
    volatile bool is_done = false;
    if (!setjmp(e.failure)) {
        elaborate(&e);
        is_done = e.rejected.count == 0;
    }
    *leaves_loops = e.leaves_loops;
    arena_free(scratch);
    return is_done ? kernel : NULL;
}

/* Few kernels without --check=all have a check after which loops are left, and all others need no guards against
   that. */
struct ir_kernel *elaborate_kernel(struct arena *arena, const struct core_global *global,
                                   const struct elaborate_options *options, struct diagnostics *diagnostics) {
    bool leaves_loops;
    struct ir_kernel *kernel =
        elaborate_once(arena, global, options, diagnostics, options->check == DEGREE_ALL, &leaves_loops);
    for (size_t i = 0; kernel && i < kernel->checks.count; i++)
        leaves_loops |= !kernel->checks.at[i].is_contained;
    return kernel && leaves_loops && options->check != DEGREE_ALL
               ? elaborate_once(arena, global, options, diagnostics, true, &leaves_loops)
               : kernel;
}
