/* The host part of a kernel, walked: scalars are computed with the folder, allocations and
   launches go to the runtime. This walk and that of emit_body.c are apart on purpose: one takes a
   branch and comes to a loop's body as often as it runs, the other goes through all of them once, so
   that they could share no more than the `switch`. */
#include "host/execute.h"

#include <stdlib.h>
#include <string.h>

#include "host/launch_size.h"
#include "ir/build/fold.h"
#include "map/extents.h"

struct device_run {
    struct arena *arena;
    struct execute_job job;
    union scalar *values;        /* by ir_value id */
    struct fcl_buffer **buffers; /* by ir_buffer id */
    bool *is_argument;           /* by ir_buffer id */
    bool *is_given;              /* to the caller, as a result */
    uint32_t buffer_count;
    struct liveness *liveness;
    uint64_t argument_bytes;
    struct fcl_kernel **kernels; /* of job.target->kernels */
    struct fcl_arg *arguments;   /* of a launch: room for those of the kernel with the most, */
    struct fcl_buffer **scratch; /* and for the scratch memory among them */
    struct fcl_buffer *report;   /* of checks, or NULL */
    bool looks;                  /* at it, after each launch; else the runtime does, when it waits */
    const struct ir_check_site *failed_check;
    bool lacks_shared;
    const char *why;
};

static bool check_failed(struct device_run *x, uint32_t site, int64_t a, int64_t b) {
    x->failed_check = &x->job.kernel->checks.at[site];
    if (x->report && x->looks) /* for the next run */
        (void)fcl_fill(x->report, 0, 3 * sizeof(int32_t), 0);
    (void)fcl_check(x->job.context, false, ir_check_text_at_host(x->failed_check), a, b);
    x->why = fcl_error(x->job.context);
    return false;
}

static bool failed(struct device_run *x, const char *what) {
    const char *message = fcl_error(x->job.context);
    bool is_check = fcl_error_status(x->job.context) == FCL_CHECK_FAILED && !x->failed_check;
    for (size_t i = 0; is_check && i < x->job.kernel->checks.count; i++)
        if (strcmp(message, x->job.messages[i]) == 0) {
            x->failed_check = &x->job.kernel->checks.at[i];
            message = ir_check_text(x->failed_check);
        }
    x->why = what && *what ? arena_printf(x->arena, "%s: %s", what, message) : message;
    return false;
}

static int64_t value_of(void *context, const struct ir_value *value) {
    struct device_run *x = context;
    return value->is_constant ? value->constant.integer : x->values[value->id].integer;
}

static union scalar scalar_of(const struct device_run *x, const struct ir_value *value) {
    return value->is_constant ? value->constant : x->values[value->id];
}

/* ---- launches ---- */

/* After each launch: what goes wrong in one must not decide about the next. */
static bool read_report(struct device_run *x, const struct target_kernel *kernel) {
    int32_t found[3];
    if (!x->looks || !target_reports(kernel))
        return true;
    if (fcl_read(x->report, 0, found, sizeof found) != FCL_OK)
        return failed(x, NULL);
    return !found[0] || check_failed(x, (uint32_t)found[0] - 1, found[1], found[2]);
}

static bool launch(struct device_run *x, const struct ir_instruction *forall) {
    const struct target_kernel *kernel = target_kernel_of(x->job.target, forall);
    int64_t count = value_of(x, kernel->count);
    const struct fcl_device_info *device = fcl_device(x->job.context);
    struct launch_size size = launch_size_of(kernel);
    uint64_t blocks = count > 0 ? fcl_blocks(x->job.context, (uint64_t)count, size.per_block, size.least) : 0;
    if (!blocks)
        return true;
    if (kernel->mapping == TARGET_SIMT && device->max_threads &&
        (uint32_t)kernel->block_threads > device->max_threads) {
        x->why = arena_printf(x->arena, "kernel `%s` wants blocks of %d threads, but the device's limit is %u",
                              kernel->name, kernel->block_threads, device->max_threads);
        return false;
    }
    int64_t dynamic = target_dynamic_bytes(kernel, value_of, x);
    uint64_t shared = (uint64_t)kernel->static_shared_bytes + (uint64_t)dynamic;
    size_t n = kernel->parameters.count;
    struct fcl_arg *arguments = x->arguments;
    struct fcl_buffer **scratch = x->scratch;
    size_t scratches = 0;
    bool good = true;
    for (size_t i = 0; i < n && good; i++) {
        const struct target_parameter *parameter = &kernel->parameters.at[i];
        size_t size = target_element_bytes(parameter->base);
        switch (parameter->kind) {
        case TARGET_PARAMETER_SCALAR: {
            unsigned char bytes[8];
            value_set(parameter->base, bytes, 0, scalar_of(x, parameter->value));
            arguments[i] = fcl_arg_scalar(bytes, size);
            break;
        }
        case TARGET_PARAMETER_REPORT: arguments[i] = fcl_arg_buffer(x->report); break;
        case TARGET_PARAMETER_BUFFER: arguments[i] = fcl_arg_optional(x->buffers[parameter->buffer->id]); break;
        case TARGET_PARAMETER_LOCAL: {
            uint64_t bytes = (uint64_t)value_of(x, parameter->capacity) * size;
            shared += bytes;
            arguments[i] = fcl_arg_local(bytes ? (size_t)bytes : size);
            break;
        }
        case TARGET_PARAMETER_SCRATCH: {
            uint64_t units = blocks * (uint64_t)target_units(kernel, parameter->unit);
            good = fcl_buffer_array(x->job.context, units * (uint64_t)value_of(x, parameter->capacity), size,
                                    &scratch[scratches]) == FCL_OK ||
                   failed(x, "scratch memory");
            if (good)
                arguments[i] = fcl_arg_buffer(scratch[scratches++]);
            break;
        }
        }
    }
    if (good && kernel->mapping == TARGET_SIMT && x->job.shared_bytes && shared > x->job.shared_bytes) {
        x->why = arena_printf(x->arena, "a block of `%s` wants %llu bytes of shared memory, and can have %llu",
                              kernel->name, (unsigned long long)shared, (unsigned long long)x->job.shared_bytes);
        x->lacks_shared = true;
        good = false;
    }
    if (good) {
        size_t which = 0;
        while (x->job.target->kernels.at[which] != kernel)
            which++;
        good = fcl_launch(x->kernels[which], blocks, (uint32_t)kernel->block_threads, (uint64_t)dynamic, arguments,
                          n) == FCL_OK ||
               failed(x, NULL);
    }
    while (scratches)
        fcl_buffer_free(scratch[--scratches]);
    return good && read_report(x, kernel);
}

/* ---- the host's instructions ---- */

static bool run_region(struct device_run *x, const struct ir_region *region);

static void assign(struct device_run *x, struct ir_value *const *to, const ir_values *from, size_t first,
                   size_t count) {
    union scalar *temporary = malloc((count ? count : 1) * sizeof *temporary); /* a parallel assignment */
    for (size_t i = 0; i < count; i++)
        temporary[i] = scalar_of(x, from->at[first + i]);
    for (size_t i = 0; i < count; i++)
        x->values[to[i]->id] = temporary[i];
    free(temporary);
}

static bool run_loop(struct device_run *x, const struct ir_instruction *i) {
    bool counted = i->kind == IR_FOR;
    size_t skip = counted ? 1 : 0, carried = i->operand_count - skip;
    ir_values initial = {i->operands, i->operand_count, i->operand_count};
    assign(x, i->parameters + skip, &initial, skip, carried);
    int64_t count = counted ? value_of(x, i->operands[0]) : INT64_MAX;
    for (int64_t k = 0; k < count; k++) {
        if (counted) {
            x->values[i->parameters[0]->id].integer = k;
        } else {
            if (!run_region(x, i->regions[0]))
                return false;
            if (!scalar_of(x, i->regions[0]->yields.at[0]).integer)
                break;
        }
        const struct ir_region *body = i->regions[counted ? 0 : 1];
        if (!run_region(x, body))
            return false;
        assign(x, i->parameters + skip, &body->yields, 0, carried);
    }
    for (size_t k = 0; k < carried; k++)
        x->values[i->results[k]->id] = scalar_of(x, i->parameters[skip + k]);
    return true;
}

/* note [zeros of results]
   The runtime may cut a buffer from memory that it has cleared before. While such a buffer lives, none of that memory
   can be freed. A result may live long, so it has memory of its own. */
static enum fcl_status allocate(struct device_run *x, const struct ir_buffer *like, uint64_t count, uint64_t size,
                                struct fcl_buffer **buffer) {
    if (map_has(x->job.target->slots, like))
        return fcl_buffer_slot(x->job.context, size, like->is_zeroed, buffer);
    if (like->is_zeroed && !like->is_result)
        return fcl_buffer_zeros(x->job.context, count, size, buffer);
    size_t result = ir_result_in(x->job.kernel, like);
    enum fcl_status status = result < x->job.kernel->results.count
                                 ? fcl_buffer_result(x->job.context, result, count, size, buffer)
                                 : fcl_buffer_array(x->job.context, count, size, buffer);
    if (status == FCL_OK && like->is_zeroed)
        status = fcl_fill(*buffer, 0, fcl_buffer_bytes(*buffer), 0);
    return status;
}

static bool run_instruction(struct device_run *x, const struct ir_instruction *i) {
    switch (i->kind) {
    case IR_OPERATION: {
        union scalar operands[3] = {0};
        for (size_t k = 0; k < i->operand_count; k++)
            operands[k] = scalar_of(x, i->operands[k]);
        x->values[i->results[0]->id] =
            fold_operation(i->op, i->results[0]->base, i->operands[i->operand_count - 1]->base, operands);
        return true;
    }
    case IR_LOAD: {
        if (i->buffer->memory == MEMORY_TABLE) {
            int64_t count = i->buffer->capacity->constant.integer, at = value_of(x, i->operands[0]);
            if (at < 0 || at >= count)
                return check_failed(x, i->site, at, count);
            x->values[i->results[0]->id] = i->buffer->constants[at];
            return true;
        }
        struct fcl_buffer *buffer = x->buffers[i->buffer->id];
        uint64_t size = target_element_bytes(i->buffer->element);
        int64_t index = value_of(x, i->operands[0]);
        unsigned char bytes[8];
        if (index < 0 || ((uint64_t)index + 1) * size > fcl_buffer_bytes(buffer))
            return check_failed(x, i->site, index, (int64_t)(fcl_buffer_bytes(buffer) / size));
        if (fcl_read(buffer, (uint64_t)index * size, bytes, size) != FCL_OK)
            return failed(x, NULL);
        x->values[i->results[0]->id] = value_get(i->buffer->element, bytes, 0);
        return true;
    }
    case IR_CHECK:
        return scalar_of(x, i->operands[0]).integer ||
               check_failed(x, i->site, value_of(x, i->operands[1]), value_of(x, i->operands[2]));
    case IR_STORE:
    case IR_ATOMIC:
    case IR_SHUFFLE:
    case IR_MATCH:
    case IR_MMA:
    case IR_BALLOT:
    case IR_FENCE: x->why = "internal error: a store on the host"; return false;
    case IR_ALLOCATE: {
        struct fcl_buffer **buffer = &x->buffers[i->buffer->id];
        uint64_t count = (uint64_t)value_of(x, i->buffer->capacity);
        uint64_t size = target_element_bytes(i->buffer->element);
        bool is_kept = *buffer && !i->buffer->is_zeroed && fcl_buffer_bytes(*buffer) == count * size;
        if (is_kept) /* of an earlier run or iteration */
            return true;
        fcl_buffer_free(*buffer);
        *buffer = NULL;
        return allocate(x, i->buffer, count, size, buffer) == FCL_OK || failed(x, NULL);
    }
    case IR_SWAP: {
        struct fcl_buffer *first = x->buffers[i->buffer->id];
        x->buffers[i->buffer->id] = x->buffers[IR_PART(i, swap).other->id];
        x->buffers[IR_PART(i, swap).other->id] = first;
        return true;
    }
    case IR_FORALL: return launch(x, i);
    case IR_FOR:
    case IR_WHILE: return run_loop(x, i);
    case IR_IF: {
        const struct ir_region *branch = i->regions[scalar_of(x, i->operands[0]).integer ? 0 : 1];
        if (!run_region(x, branch))
            return false;
        assign(x, i->results, &branch->yields, 0, i->result_count);
        return true;
    }
    }
    x->why = "internal error: an unknown instruction on the host";
    return false;
}

/* Frees the buffers that no later instruction uses, for the next allocation. */
static void release(struct device_run *x, const struct ir_instruction *instruction) {
    const dead_buffers *dead = liveness_after(x->liveness, instruction);
    for (size_t i = 0; i < dead->count; i++) {
        fcl_buffer_free(x->buffers[dead->at[i]->id]);
        x->buffers[dead->at[i]->id] = NULL;
    }
}

static bool run_region(struct device_run *x, const struct ir_region *region) {
    for (size_t k = 0; k < region->instructions.count; k++)
        if (!run_instruction(x, region->instructions.at[k]))
            return false;
        else
            release(x, region->instructions.at[k]);
    return true;
}

/* ---- arguments and results ---- */

/* The scalar leaves of an argument, in the order of its parameters' components. */
static void leaves_of(struct arena *arena, struct host_value *value, struct host_value ***leaves, size_t *count) {
    VEC(struct host_value *) found = {0};
    VEC(struct host_value *) pending = {0};
    vec_push(arena, &pending, value);
    while (pending.count) {
        struct host_value *next = pending.at[--pending.count];
        if (next->kind == VALUE_SCALAR || next->kind == VALUE_ARRAY) {
            vec_push(arena, &found, next);
        } else {
            for (size_t i = next->tuple.count; i-- > 0;)
                vec_push(arena, &pending, next->tuple.items[i]);
        }
    }
    *leaves = found.at;
    *count = found.count;
}

static bool pass_parts(struct device_run *x, struct device_part *const *parts) {
    const struct ir_kernel *kernel = x->job.kernel;
    x->argument_bytes = 0;
    for (size_t i = 0; i < kernel->parameters.count; i++) {
        const struct ir_parameter *parameter = &kernel->parameters.at[i];
        struct device_part *part = &parts[parameter->argument][parameter->component];
        switch (parameter->kind) {
        case IR_PARAMETER_SCALAR: x->values[parameter->value->id] = part->scalar; break;
        case IR_PARAMETER_LENGTH: x->values[parameter->value->id].integer = part->shape[parameter->dimension]; break;
        case IR_PARAMETER_BUFFER: {
            uint64_t bytes = part->elements * base_size(parameter->buffer->element);
            struct fcl_buffer **buffer = &x->buffers[parameter->buffer->id];
            x->is_argument[parameter->buffer->id] = true;
            x->argument_bytes += bytes;
            *buffer = part->buffer;
            if (!part->buffer && (fcl_buffer_new(x->job.context, bytes, buffer) != FCL_OK ||
                                  fcl_write(*buffer, 0, part->data, bytes) != FCL_OK))
                return failed(x, parameter->name);
            break;
        }
        }
    }
    return true;
}

bool device_run_pass(struct device_run *x, struct device_part *const *parts, const char **why) {
    if (pass_parts(x, parts))
        return true;
    *why = x->why;
    return false;
}

static struct device_part part_of(const struct host_value *leaf) {
    if (leaf->kind == VALUE_SCALAR)
        return (struct device_part){.scalar = leaf->scalar.value};
    return (struct device_part){
        .shape = leaf->array.shape, .elements = (uint64_t)value_element_count(leaf), .data = leaf->array.data};
}

bool device_run_pass_values(struct device_run *x, struct host_value *const *arguments, size_t count, const char **why) {
    struct device_part **parts = ARENA_ARRAY(x->arena, struct device_part *, count);
    for (size_t i = 0; i < count; i++) {
        struct host_value **leaves;
        size_t leaf_count;
        leaves_of(x->arena, arguments[i], &leaves, &leaf_count);
        parts[i] = ARENA_ARRAY(x->arena, struct device_part, leaf_count);
        for (size_t k = 0; k < leaf_count; k++)
            parts[i][k] = part_of(leaves[k]);
    }
    return device_run_pass(x, parts, why);
}

static size_t most_parameters(const struct target_program *target) {
    size_t most = 0;
    for (size_t i = 0; i < target->kernels.count; i++)
        if (target->kernels.at[i]->parameters.count > most)
            most = target->kernels.at[i]->parameters.count;
    return most;
}

struct device_run *device_run_new(struct arena *arena, const struct execute_job *job, const char **why) {
    struct device_run *x = ARENA_NEW(arena, struct device_run);
    x->arena = arena;
    x->job = *job;
    x->liveness = liveness_of(arena, job->kernel);
    x->values = ARENA_ARRAY(arena, union scalar, job->kernel->value_count);
    for (size_t i = 0; i < job->kernel->buffers.count; i++)
        if (job->kernel->buffers.at[i]->id >= x->buffer_count)
            x->buffer_count = job->kernel->buffers.at[i]->id + 1;
    x->buffers = ARENA_ARRAY(arena, struct fcl_buffer *, x->buffer_count);
    x->is_argument = ARENA_ARRAY(arena, bool, x->buffer_count);
    x->is_given = ARENA_ARRAY(arena, bool, x->buffer_count);
    size_t most = most_parameters(job->target);
    x->arguments = ARENA_ARRAY(arena, struct fcl_arg, most);
    x->scratch = ARENA_ARRAY(arena, struct fcl_buffer *, most);
    x->kernels = ARENA_ARRAY(arena, struct fcl_kernel *, job->target->kernels.count);
    for (size_t i = 0; i < job->target->kernels.count; i++) {
        if (fcl_get_kernel(job->program, job->target->kernels.at[i]->name, &x->kernels[i]) != FCL_OK) {
            *why = fcl_error(job->context);
            return NULL;
        }
    }
    x->looks = target_ends_launches(job->target);
    if (x->looks && (fcl_buffer_new(job->context, 3 * sizeof(int32_t), &x->report) != FCL_OK ||
                     fcl_fill(x->report, 0, 3 * sizeof(int32_t), 0) != FCL_OK)) {
        *why = fcl_error(job->context);
        return NULL;
    }
    return x;
}

bool device_run_once(struct device_run *x, const char **why) {
    x->failed_check = NULL;
    x->lacks_shared = false;
    bool is_watched = target_any_reports(x->job.target) && !x->looks;
    if (is_watched && fcl_watch(x->job.context, x->job.messages, &x->report) != FCL_OK) {
        *why = fcl_error(x->job.context);
        return false;
    }
    bool is_good = run_region(x, x->job.kernel->body);
    const struct ir_kernel *kernel = x->job.kernel;
    struct fcl_buffer *trace = kernel->trace ? x->buffers[kernel->trace->id] : NULL;
    const char *failure = x->why; /* what was traced before it is worth most then */
    if (trace && fcl_trace(trace, kernel->traces.at, kernel->traces.count) != FCL_OK && is_good)
        is_good = failed(x, NULL);
    else
        x->why = failure;
    if (!is_good)
        *why = x->why;
    return is_good;
}

static uint64_t result_count(const struct device_run *x, const struct ir_result *result) {
    return (uint64_t)scalar_of(x, result->value).integer;
}

union scalar device_run_scalar(const struct device_run *x, size_t result) {
    return scalar_of(x, x->job.kernel->results.at[result].value);
}

void device_run_shape(const struct device_run *x, size_t result, int64_t *shape) {
    const struct ir_result *array = &x->job.kernel->results.at[result];
    for (size_t i = 0; i < array->rank; i++)
        shape[i] = scalar_of(x, array->extents[i]).integer;
}

struct fcl_buffer *device_run_take(struct device_run *x, size_t result, const char **why) {
    const struct ir_buffer *from = x->job.kernel->results.at[result].buffer;
    struct fcl_buffer *buffer = x->buffers[from->id];
    if (!x->is_argument[from->id] && !x->is_given[from->id]) {
        x->is_given[from->id] = true;
        return buffer;
    }
    uint64_t bytes = result_count(x, &x->job.kernel->results.at[result]) * base_size(from->element);
    struct fcl_buffer *copy = NULL;
    if (fcl_buffer_new(x->job.context, bytes, &copy) == FCL_OK && fcl_copy(copy, 0, buffer, 0, bytes) == FCL_OK)
        return copy;
    fcl_buffer_free(copy);
    *why = fcl_error(x->job.context);
    return NULL;
}

void device_run_drop(struct device_run *x) {
    for (uint32_t i = 0; i < x->buffer_count; i++) {
        if (!x->is_argument[i] && !x->is_given[i])
            fcl_buffer_free(x->buffers[i]);
        x->buffers[i] = NULL;
        x->is_given[i] = false;
    }
}

/* Builds the value of that type from results *next and on. */
static struct host_value *result_of(struct device_run *x, struct arena *arena, struct type *type, size_t *next) {
    type = type_resolve(type);
    if (type->kind == TYPE_TUPLE) {
        struct host_value **items = ARENA_ARRAY(arena, struct host_value *, type->tuple.count);
        for (size_t i = 0; i < type->tuple.count; i++)
            if (!(items[i] = result_of(x, arena, type->tuple.items[i], next)))
                return NULL;
        return value_tuple(arena, type, items);
    }
    const struct ir_result *results = x->job.kernel->results.at;
    if (type->kind == TYPE_BASE)
        return value_scalar(arena, type->base, scalar_of(x, results[(*next)++].value));
    uint64_t elements = result_count(x, &results[*next]);
    struct type *element;
    int64_t shape[VALUE_MAX_RANK];
    size_t rank = value_type_rank(type, &element);
    device_run_shape(x, *next, shape);
    struct host_value *array = value_array(arena, element, rank, shape);
    struct host_value **leaves;
    size_t count;
    leaves_of(arena, array, &leaves, &count);
    for (size_t i = 0; i < count; i++) {
        const struct ir_result *result = &results[(*next)++];
        uint64_t bytes = elements * base_size(leaves[i]->array.base);
        if (bytes && fcl_read(x->buffers[result->buffer->id], 0, leaves[i]->array.data, bytes) != FCL_OK) {
            failed(x, NULL);
            return NULL;
        }
    }
    return array;
}

struct host_value *device_run_result(struct device_run *x, struct arena *arena, const char **why) {
    size_t next = 0;
    struct host_value *value = fcl_finish(x->job.context) == FCL_OK || failed(x, NULL)
                                   ? result_of(x, arena, x->job.kernel->result_type, &next)
                                   : NULL;
    if (!value)
        *why = x->why;
    return value;
}

bool device_run_lacks_shared(const struct device_run *run) { return run && run->lacks_shared; }

bool device_run_is_large(const struct device_run *run) {
    return run && run->failed_check && run->failed_check->check == CHECK_RESULT;
}

const struct ir_check_site *device_run_failed_check(const struct device_run *x) { return x ? x->failed_check : NULL; }

uint64_t device_run_bytes(const struct device_run *x) {
    uint64_t bytes = x->argument_bytes;
    for (size_t i = 0; i < x->job.kernel->results.count; i++) {
        const struct ir_result *result = &x->job.kernel->results.at[i];
        if (result->is_array) /* the buffer may be larger: see forceUpTo */
            bytes += result_count(x, result) * (uint64_t)base_size(result->buffer->element);
    }
    return bytes;
}

uint64_t device_run_spilled_bytes(const struct device_run *x) {
    uint64_t most = 0;
    for (size_t i = 0; i < x->job.target->kernels.count; i++) {
        uint64_t arrays = (uint64_t)x->job.target->kernels.at[i]->private_bytes;
        uint64_t all = fcl_kernel_thread_bytes(x->kernels[i]);
        if (all > arrays && all - arrays > most)
            most = all - arrays;
    }
    return most;
}

void device_run_free(struct device_run *x) {
    if (!x)
        return;
    if (x->looks)
        fcl_buffer_free(x->report);
    else if (x->report)
        fcl_unwatch(x->job.context, x->job.messages);
    for (uint32_t i = 0; i < x->buffer_count; i++)
        fcl_buffer_free(x->buffers[i]);
}
