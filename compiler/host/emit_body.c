/* The host part of a kernel as C statements: the same walk as execute.c's. */
#include <inttypes.h>
#include <stdarg.h>

#include "host/emit_function.h"
#include "host/launch_size.h"
#include "map/extents.h"
#include "support/map.h"

static void line(struct emit_body *body, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void line(struct emit_body *body, const char *format, ...) {
    for (int i = 0; i < body->indent; i++)
        text_add(&body->statements, "    ");
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&body->statements, format, arguments);
    va_end(arguments);
    text_add(&body->statements, "\n");
}

static void require(struct emit_body *body, const char *call) {
    line(body, "if ((status = %s) != FCL_OK)", call);
    line(body, "    goto out;");
}

const char *emit_value(struct emit_body *body, const struct ir_value *value) {
    if (value->is_constant)
        return backend_scalars_constant(body->unit->scalars, value);
    if (!body->names[value->id])
        body->names[value->id] = arena_printf(body->unit->arena, "v%u", value->id);
    return body->names[value->id];
}

/* All are declared at the head: C++ lets no goto pass an initialisation. */
static const char *declare(struct emit_body *body, const struct ir_value *value) {
    const char *name = emit_value(body, value);
    if (!body->is_declared[value->id]) {
        text_printf(&body->declarations, "    %s %s = 0;\n    (void)%s;\n", base_info[value->base].c_type, name, name);
        body->is_declared[value->id] = true;
    }
    return name;
}

/* The message of a check that the host does: of one that launches note, without numbers, one of its own, with them. */
static const char *told_text(const struct emit_body *body, uint32_t number) {
    const struct ir_check_site *site = &body->program->kernel->checks.at[number];
    return site->is_noted ? emit_message(body->unit, site, ir_check_text_at_host(site))
                          : arena_printf(body->unit->arena, "checks[%u]", number);
}

static void emit_table_load(struct emit_body *body, const struct ir_instruction *load) {
    enum { A_LINE = 16 };
    const struct ir_buffer *table = load->buffer;
    int64_t count = table->capacity->constant.integer;
    const char *index = emit_value(body, load->operands[0]);
    if (!map_has(body->tables, table)) {
        map_set(body->tables, table, NULL);
        text_printf(&body->declarations, "    static const %s t%u[%lld] = {", base_info[table->element].c_type,
                    table->id, (long long)count);
        for (int64_t k = 0; k < count; k++) {
            const struct ir_value constant = {
                .base = table->element, .is_constant = true, .constant = table->constants[k]};
            text_printf(&body->declarations, "%s%s",
                        k == 0       ? ""
                        : k % A_LINE ? ", "
                                     : ",\n        ",
                        backend_scalars_constant(body->unit->scalars, &constant));
        }
        text_add(&body->declarations, "};\n");
    }
    if (load->operands[0]->low < 0 || load->operands[0]->high >= count)
        require(body, arena_printf(body->unit->arena, "fcl_check(context, (uint64_t)%s < %lld, checks[%u], %s, %lld)",
                                   index, (long long)count, (unsigned)load->site, index, (long long)count));
    line(body, "%s = t%u[%s];", declare(body, load->results[0]), table->id, index);
}

/* ---- launches ---- */

static const char *dynamic_bytes(struct emit_body *body, const struct target_kernel *kernel) {
    struct arena *arena = body->unit->arena;
    const char *sum = arena_printf(arena, "%" PRId64, kernel->dynamic_fixed_bytes + target_spare_bytes(kernel));
    for (size_t i = 0; i < kernel->dynamic.count; i++) {
        const struct target_dynamic *part = &kernel->dynamic.at[i];
        sum = arena_printf(arena, "%s + (((uint64_t)%s * %zu + 15) & ~(uint64_t)15)", sum,
                           emit_value(body, part->capacity), part->element_bytes * part->copies);
    }
    return sum;
}

static void launch_arguments(struct emit_body *body, const struct target_kernel *kernel) {
    for (size_t i = 0; i < kernel->parameters.count; i++) {
        const struct target_parameter *p = &kernel->parameters.at[i];
        size_t size = target_element_bytes(p->base);
        switch (p->kind) {
        case TARGET_PARAMETER_SCALAR:
            line(body, "{");
            line(body, "    %s scalar = %s;", base_info[p->base].c_type, emit_value(body, p->value));
            line(body, "    args[%zu] = fcl_arg_scalar(&scalar, sizeof scalar);", i);
            line(body, "}");
            break;
        case TARGET_PARAMETER_REPORT: line(body, "args[%zu] = fcl_arg_buffer(report);", i); break;
        case TARGET_PARAMETER_BUFFER: /* what is stored in another branch only may be absent */
            line(body, "args[%zu] = fcl_arg_%s(b%u);", i, p->buffer->memory == MEMORY_INPUT ? "buffer" : "optional",
                 p->buffer->id);
            break;
        case TARGET_PARAMETER_LOCAL:
            line(body, "args[%zu] = fcl_arg_local((size_t)(%s > 0 ? %s : 1) * %zu);", i, emit_value(body, p->capacity),
                 emit_value(body, p->capacity), size);
            break;
        case TARGET_PARAMETER_SCRATCH: {
            int scratch = body->scratch_count++;
            text_printf(&body->declarations, "    struct fcl_buffer *s%d = NULL;\n", scratch);
            text_printf(&body->releases, "    fcl_buffer_free(s%d);\n", scratch);
            line(body, "fcl_buffer_free(s%d);", scratch);
            line(body, "s%d = NULL;", scratch);
            require(body,
                    arena_printf(body->unit->arena, "fcl_buffer_array(context, blocks * %d * (uint64_t)%s, %zu, &s%d)",
                                 target_units(kernel, p->unit), emit_value(body, p->capacity), size, scratch));
            line(body, "args[%zu] = fcl_arg_buffer(s%d);", i, scratch);
            break;
        }
        }
    }
}

static void emit_launch(struct emit_body *body, const struct ir_instruction *forall) {
    const struct target_kernel *kernel = target_kernel_of(body->program, forall);
    size_t which = 0;
    while (body->program->kernels.at[which] != kernel)
        which++;
    struct launch_size size = launch_size_of(kernel);
    line(body, "if (%s > 0) {", emit_value(body, kernel->count));
    body->indent++;
    line(body, "struct fcl_arg args[%zu];", kernel->parameters.count ? kernel->parameters.count : 1);
    line(body, "uint64_t blocks;");
    line(body, "blocks = fcl_blocks(context, (uint64_t)%s, %u, %u);", emit_value(body, kernel->count), size.per_block,
         size.least);
    launch_arguments(body, kernel);
    require(body, arena_printf(body->unit->arena, "fcl_launch(kernel%zu, blocks, %d, %s, args, %zu)", which,
                               kernel->block_threads, dynamic_bytes(body, kernel), kernel->parameters.count));
    for (size_t i = 0; i < kernel->parameters.count; i++)
        if (kernel->parameters.at[i].kind == TARGET_PARAMETER_REPORT && target_ends_launches(body->program))
            require(body, "fcl_check_report(report, checks)");
    body->indent--;
    line(body, "}");
}

/* ---- the walk ---- */

static void emit_region(struct emit_body *body, const struct ir_region *region);

/* A parallel assignment: through temporaries, as one may be another's source. */
static void assign(struct emit_body *body, struct ir_value *const *to, struct ir_value *const *from, size_t count) {
    if (count == 1) {
        line(body, "%s = %s;", declare(body, to[0]), emit_value(body, from[0]));
        return;
    }
    line(body, "{");
    for (size_t i = 0; i < count; i++)
        line(body, "    %s next%zu = %s;", base_info[to[i]->base].c_type, i, emit_value(body, from[i]));
    for (size_t i = 0; i < count; i++)
        line(body, "    %s = next%zu;", declare(body, to[i]), i);
    line(body, "}");
}

static void emit_loop(struct emit_body *body, const struct ir_instruction *i) {
    bool counted = i->kind == IR_FOR;
    size_t skip = counted ? 1 : 0, carried = i->operand_count - skip;
    if (carried)
        assign(body, i->parameters + skip, i->operands + skip, carried);
    if (counted) {
        const char *index = declare(body, i->parameters[0]);
        line(body, "for (%s = 0; %s < %s; %s++) {", index, index, emit_value(body, i->operands[0]), index);
    } else {
        line(body, "for (;;) {");
    }
    body->indent++;
    if (!counted) {
        emit_region(body, i->regions[0]);
        line(body, "if (!%s)", emit_value(body, i->regions[0]->yields.at[0]));
        line(body, "    break;");
    }
    const struct ir_region *inner = i->regions[counted ? 0 : 1];
    emit_region(body, inner);
    if (carried)
        assign(body, i->parameters + skip, inner->yields.at, carried);
    body->indent--;
    line(body, "}");
    for (size_t k = 0; k < i->result_count; k++)
        line(body, "%s = %s;", declare(body, i->results[k]), emit_value(body, i->parameters[skip + k]));
}

static void emit_instruction(struct emit_body *body, const struct ir_instruction *i) {
    struct arena *arena = body->unit->arena;
    switch (i->kind) {
    case IR_OPERATION: {
        struct backend_operand operands[3];
        body->has_floats |= base_info[i->results[0]->base].is_floating;
        for (size_t k = 0; k < i->operand_count; k++) {
            operands[k] = (struct backend_operand){
                i->operands[k], i->operands[k]->is_constant ? NULL : emit_value(body, i->operands[k])};
            body->has_floats |= base_info[i->operands[k]->base].is_floating;
        }
        line(body, "%s = %s;", declare(body, i->results[0]),
             backend_scalars_operation(body->unit->scalars, i, operands));
        break;
    }
    case IR_LOAD: {
        if (i->buffer->memory == MEMORY_TABLE) {
            emit_table_load(body, i);
            break;
        }
        size_t bytes = target_element_bytes(i->buffer->element);
        const char *index = emit_value(body, i->operands[0]);
        const struct ir_value *capacity = i->buffer->capacity;
        if (i->operands[0]->low < 0 || !capacity || i->buffer->is_swapped || i->operands[0]->high >= capacity->low)
            require(body, arena_printf(arena,
                                       "fcl_check(context, (uint64_t)%s < fcl_buffer_bytes(b%u) / %zu, checks[%u], %s, "
                                       "(int64_t)(fcl_buffer_bytes(b%u) / %zu))",
                                       index, i->buffer->id, bytes, (unsigned)i->site, index, i->buffer->id, bytes));
        require(body, arena_printf(arena, "fcl_read(b%u, (uint64_t)%s * %zu, &%s, %zu)", i->buffer->id, index, bytes,
                                   declare(body, i->results[0]), bytes));
        break;
    }
    case IR_ALLOCATE: {
        uint32_t id = i->buffer->id;
        text_printf(&body->declarations, "    struct fcl_buffer *b%u = NULL;\n", id);
        text_printf(&body->releases, "    fcl_buffer_free(b%u);\n", id);
        line(body, "fcl_buffer_free(b%u);", id); /* of an iteration before */
        line(body, "b%u = NULL;", id);
        size_t bytes = target_element_bytes(i->buffer->element);
        bool is_slot = map_has(body->program->slots, i->buffer);
        bool is_filled =
            i->buffer->is_zeroed && i->buffer->is_result && !is_slot; /* note [zeros of results] in execute.c */
        size_t result = ir_result_in(body->program->kernel, i->buffer);
        if (is_slot)
            require(body, arena_printf(arena, "fcl_buffer_slot(context, %zu, %s, &b%u)", bytes,
                                       i->buffer->is_zeroed ? "true" : "false", id));
        else if (result < body->program->kernel->results.count)
            require(body, arena_printf(arena, "fcl_buffer_result(context, %zu, (uint64_t)%s, %zu, &b%u)", result,
                                       emit_value(body, i->buffer->capacity), bytes, id));
        else
            require(body, arena_printf(arena, "fcl_buffer_%s(context, (uint64_t)%s, %zu, &b%u)",
                                       i->buffer->is_zeroed && !is_filled ? "zeros" : "array",
                                       emit_value(body, i->buffer->capacity), bytes, id));
        if (is_filled)
            require(body, arena_printf(arena, "fcl_fill(b%u, 0, fcl_buffer_bytes(b%u), 0)", id, id));
        break;
    }
    case IR_SWAP: {
        uint32_t x = i->buffer->id, y = IR_PART(i, swap).other->id;
        line(body, "{");
        line(body, "    struct fcl_buffer *swapped = b%u;", x);
        line(body, "    b%u = b%u;", x, y);
        line(body, "    b%u = swapped;", y);
        line(body, "}");
        break;
    }
    case IR_FORALL: emit_launch(body, i); break;
    case IR_FOR:
    case IR_WHILE: emit_loop(body, i); break;
    case IR_IF:
        for (int side = 0; side < 2; side++) {
            if (side == 0)
                line(body, "if (%s) {", emit_value(body, i->operands[0]));
            else
                line(body, "} else {");
            body->indent++;
            emit_region(body, i->regions[side]);
            for (size_t k = 0; k < i->result_count; k++)
                line(body, "%s = %s;", declare(body, i->results[k]), emit_value(body, i->regions[side]->yields.at[k]));
            body->indent--;
        }
        line(body, "}");
        break;
    case IR_CHECK:
        require(body, arena_printf(arena, "fcl_check(context, %s, %s, %s, %s)", emit_value(body, i->operands[0]),
                                   told_text(body, i->site), emit_value(body, i->operands[1]),
                                   emit_value(body, i->operands[2])));
        break;
    case IR_STORE:
    case IR_ATOMIC:
    case IR_SHUFFLE:
    case IR_MATCH:
    case IR_MMA:
    case IR_BALLOT:
    case IR_FENCE: break; /* stores are the device's */
    }
}

static void emit_region(struct emit_body *body, const struct ir_region *region) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        emit_instruction(body, region->instructions.at[i]);
        const dead_buffers *dead = liveness_after(body->liveness, region->instructions.at[i]);
        for (size_t k = 0; k < dead->count; k++) {
            line(body, "fcl_buffer_free(b%u);", dead->at[k]->id);
            line(body, "b%u = NULL;", dead->at[k]->id);
        }
    }
}

void emit_body(struct emit_body *body) {
    body->liveness = liveness_of(body->unit->arena, body->program->kernel);
    emit_region(body, body->program->kernel->body);
}
