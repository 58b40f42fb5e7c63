/* The comment above each kernel: what it takes and how it may be launched. */
#include "backend/print.h"

/* Sizes in comments are spelt without helpers and casts. */
static void print_size(struct printer *p, const struct target_expr *size) {
    if (!size) {
        text_add(p->out, "(computed by the host)");
        return;
    }
    struct printer plain = {.out = p->out, .dialect = &dialect_dump};
    print_expr(&plain, size, PRECEDENCE_ANY);
}

static const char *unit_text(enum level_value unit) {
    switch (unit) {
    case LEVEL_BLOCK: return "block";
    case LEVEL_WARP: return "warp";
    case LEVEL_THREAD: return "thread";
    case LEVEL_PURE:
    case LEVEL_GRID:
    case LEVEL_VALUE_COUNT: break;
    }
    return "thread";
}

static void print_parameter_line(struct printer *p, const struct target_kernel *kernel,
                                 const struct target_parameter *parameter) {
    const char *type = memory_type(p->dialect, parameter->base);
    if (base_info[parameter->base].is_narrow && !p->dialect->is_plain)
        type = arena_printf(p->out->arena, "%s (bits of %s)", type, base_info[parameter->base].name);
    text_printf(p->out, "     %-12s ", parameter->name);
    switch (parameter->kind) {
    case TARGET_PARAMETER_SCALAR:
        text_add(p->out, type);
        if (parameter->length && parameter->length->kind == TARGET_EXPR_OPERATION) {
            text_add(p->out, ": ");
            print_size(p, parameter->length);
        }
        break;
    case TARGET_PARAMETER_BUFFER:
        text_printf(p->out, "%s %s, elements: ", parameter->is_const ? "reads" : "writes", type);
        print_size(p, parameter->length);
        break;
    case TARGET_PARAMETER_LOCAL:
        text_printf(p->out, "local memory, %s, elements: ", type);
        print_size(p, parameter->length);
        break;
    case TARGET_PARAMETER_REPORT:
        text_printf(p->out, "report, %s, elements, all 0: %s", type,
                    kernel->only_notes ? "1, for a check that fails" : "3, of the first check that fails");
        break;
    case TARGET_PARAMETER_SCRATCH:
        text_printf(p->out, "scratch, %s, elements for each %s of the launch: ", type, unit_text(parameter->unit));
        print_size(p, parameter->length);
        break;
    }
    text_add(p->out, "\n");
}

static void print_shared(struct printer *p, const struct target_kernel *kernel) {
    if (kernel->static_shared_bytes)
        text_printf(p->out, "   Shared memory: %lld bytes, declared here.\n", (long long)kernel->static_shared_bytes);
    if (!kernel->dynamic_fixed_bytes && !kernel->dynamic.count)
        return;
    text_add(p->out, "   Dynamic shared memory, bytes: ");
    long long fixed = (long long)(kernel->dynamic_fixed_bytes + target_spare_bytes(kernel));
    if (fixed)
        text_printf(p->out, "%lld", fixed);
    for (size_t i = 0; i < kernel->dynamic.count; i++) {
        const struct target_dynamic *dynamic = &kernel->dynamic.at[i];
        text_add(p->out, i || fixed ? " + (" : "(");
        print_size(p, dynamic->length);
        text_printf(p->out, ") * %zu", dynamic->element_bytes * dynamic->copies);
    }
    if (kernel->dynamic.count)
        text_add(p->out, ", each part rounded up to 16");
    text_add(p->out, ".\n");
}

void print_contract(struct printer *p, const struct target_kernel *kernel, const char *users) {
    int most = 31; /* bits of the number of a thread, which counts elements a few at a time */
    for (int turns = kernel->turns; turns > 1; turns /= 2)
        most--;
    text_printf(p->out, "/* %s: %s, iterations: ", kernel->name, users);
    print_size(p, kernel->count_text);
    text_printf(p->out, ", each done by a %s.\n", unit_text(kernel->unit));
    for (size_t i = 0; i < kernel->parameters.count; i++)
        print_parameter_line(p, kernel, &kernel->parameters.at[i]);
    if (kernel->mapping == TARGET_LOOP) {
        text_add(p->out,
                 "   Launch: any number of blocks is right (a few for each core is fast), of one thread each.\n");
    } else {
        text_printf(p->out, "   Launch: any number of blocks is right, of %s %d threads each",
                    kernel->is_exact ? "exactly" : "up to", kernel->block_threads);
        if (!kernel->is_exact && kernel->needs_warps)
            text_printf(p->out, ", a multiple of %d", kernel->warp_threads);
        text_printf(p->out, "; fewer than 2^%d in all.\n", most);
    }
    print_shared(p, kernel);
    text_add(p->out, "*/\n");
}
