/* The readable form of a kernel (`--dump=ir`): an instruction per line, regions indented. Values go by their hints,
   made unique, or by %number. */
#include "ir/ir.h"

#include "support/map.h"

#include <math.h>
#include <stdio.h>

struct ir_printer {
    struct text *out;
    const char **values; /* by id */
    struct map *buffers; /* struct ir_buffer * → name */
    struct symbols *symbols;
    struct map *used; /* symbol → how often, as a pointer */
    const struct ir_kernel *kernel;
};

/* ---- names ---- */

static const char *unique(struct ir_printer *p, const char *hint) {
    symbol name = symbol_of(p->symbols, hint);
    size_t before = (size_t)(uintptr_t)map_get(p->used, name);
    map_set(p->used, name, (void *)(uintptr_t)(before + 1));
    return before == 0 ? name->text : arena_printf(p->out->arena, "%s.%zu", hint, before + 1);
}

static void name_value(struct ir_printer *p, const struct ir_value *value) {
    if (value && !value->is_constant && !p->values[value->id])
        p->values[value->id] =
            value->name ? unique(p, value->name) : arena_printf(p->out->arena, "%%%u", (unsigned)value->id);
}

static const char *buffer_name(struct ir_printer *p, const struct ir_buffer *buffer) {
    const char *name = map_get(p->buffers, buffer);
    if (!name) {
        name = unique(p, buffer->name ? buffer->name : arena_printf(p->out->arena, "buffer%u", (unsigned)buffer->id));
        map_set(p->buffers, buffer, (void *)(uintptr_t)name);
    }
    return name;
}

/* ---- values ---- */

/* The fewest digits that read back as the same number; always with a point, an exponent or a name. */
static void print_float(struct text *out, enum base base, double value) {
    char digits[40];
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (isnan(value) || floating_in(base_info[base].format, floating_read(digits, NULL)) == value)
            break;
    }
    text_add(out, digits);
    if (isfinite(value) && !strpbrk(digits, ".e"))
        text_add(out, ".0");
}

void ir_print_constant(struct text *out, enum base base, union scalar constant) {
    if (base == BASE_BOOL)
        text_add(out, constant.integer ? "true" : "false");
    else if (base_info[base].is_floating)
        print_float(out, base, constant.floating);
    else if (base_info[base].is_signed)
        text_printf(out, "%lld", (long long)constant.integer);
    else
        text_printf(out, "%llu", (unsigned long long)constant.natural);
    bool has_default = base == BASE_I32 || base == BASE_F64;
    text_add(out, has_default ? "" : base_info[base].suffix);
}

static void print_value(struct ir_printer *p, const struct ir_value *value) {
    if (!value)
        text_add(p->out, "?");
    else if (value->is_constant)
        ir_print_constant(p->out, value->base, value->constant);
    else {
        name_value(p, value);
        text_add(p->out, p->values[value->id]);
    }
}

static void print_values(struct ir_printer *p, struct ir_value *const *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        text_add(p->out, i ? ", " : "");
        print_value(p, values[i]);
    }
}

static void print_results(struct ir_printer *p, const struct ir_instruction *instruction) {
    print_values(p, instruction->results, instruction->result_count);
    if (instruction->result_count > 0)
        text_add(p->out, " = ");
}

/* ---- instructions ---- */

static void print_region(struct ir_printer *p, const struct ir_region *region, int indent);

enum { MOST_INDENT = 100 }; /* deeper nesting is shown by no more blanks, which would be most of the text */

static void start_line(struct ir_printer *p, int indent) {
    text_printf(p->out, "%*s", (indent < MOST_INDENT ? indent : MOST_INDENT) * 2, "");
}

static void print_yields(struct ir_printer *p, const char *word, const struct ir_region *region, int indent) {
    if (region->yields.count == 0)
        return;
    start_line(p, indent);
    text_printf(p->out, "%s ", word);
    print_values(p, region->yields.at, region->yields.count);
    text_add(p->out, "\n");
}

static void print_carried(struct ir_printer *p, const struct ir_instruction *loop, size_t first) {
    for (size_t i = first; i < loop->parameter_count; i++) {
        text_add(p->out, i == first ? " with " : ", ");
        print_value(p, loop->parameters[i]);
        text_add(p->out, " = ");
        print_value(p, loop->operands[i]);
    }
    text_add(p->out, "\n");
}

static void print_operation(struct ir_printer *p, const struct ir_instruction *operation) {
    enum base base = operation->operands[operation->operand_count - 1]->base;
    text_add(p->out, ir_op_info[operation->op].name);
    if (base != BASE_I32 && base != BASE_BOOL)
        text_printf(p->out, ".%s", base_info[base].name);
    text_add(p->out, " ");
    print_values(p, operation->operands, operation->operand_count);
    if (ir_op_info[operation->op].result == RESULT_GIVEN)
        text_printf(p->out, " to %s", base_info[operation->results[0]->base].name);
    text_add(p->out, "\n");
}

static void print_allocate(struct ir_printer *p, const struct ir_buffer *buffer) {
    text_printf(p->out, "%s = allocate %s%s %s[", buffer_name(p, buffer), ir_memory_names[buffer->memory],
                buffer->memory == MEMORY_SHARED && buffer->owner == LEVEL_WARP ? "/warp" : "",
                base_info[buffer->element].name);
    print_value(p, buffer->capacity);
    text_printf(p->out, "]%s%s\n", buffer->rewritten ? " rewritten" : "", buffer->is_zeroed ? " zeroed" : "");
}

static void print_table(struct ir_printer *p, const struct ir_buffer *table) {
    start_line(p, 1);
    text_printf(p->out, "%s = table %s {", buffer_name(p, table), base_info[table->element].name);
    for (int64_t i = 0; i < table->capacity->constant.integer; i++) {
        text_add(p->out, i ? ", " : "");
        ir_print_constant(p->out, table->element, table->constants[i]);
    }
    text_add(p->out, "}\n");
}

static void print_instruction(struct ir_printer *p, const struct ir_instruction *instruction, int indent) {
    struct text *out = p->out;
    start_line(p, indent);
    print_results(p, instruction);
    switch (instruction->kind) {
    case IR_OPERATION: print_operation(p, instruction); return;
    case IR_LOAD:
        text_printf(out, "%s%s %s[", instruction->again ? "reload" : "load",
                    instruction->is_volatile ? " volatile" : "", buffer_name(p, instruction->buffer));
        print_value(p, instruction->operands[0]);
        text_add(out, "]\n");
        return;
    case IR_STORE:
        text_printf(out, "%s%s%s %s[", instruction->again ? "overwrite" : "store",
                    instruction->is_volatile ? " volatile" : "", instruction->store.may_meet ? " meeting" : "",
                    buffer_name(p, instruction->buffer));
        print_value(p, instruction->operands[0]);
        text_add(out, "], ");
        print_value(p, instruction->operands[1]);
        text_add(out, "\n");
        return;
    case IR_ATOMIC:
        text_printf(out, "atomic %s %s[", ir_atomic_names[instruction->store.atomic],
                    buffer_name(p, instruction->buffer));
        print_value(p, instruction->operands[0]);
        text_add(out, "], ");
        print_values(p, instruction->operands + 1, instruction->operand_count - 1);
        text_add(out, "\n");
        return;
    case IR_FENCE: text_printf(out, "fence <%s>\n", level_names[instruction->outer]); return;
    case IR_SHUFFLE:
    case IR_BALLOT:
    case IR_MATCH:
    case IR_MMA:
        text_printf(out, "%s ", ir_kind_names[instruction->kind]);
        print_values(p, instruction->operands, instruction->operand_count);
        text_add(out, "\n");
        return;
    case IR_CHECK:
        text_add(out, "check ");
        print_values(p, instruction->operands, instruction->operand_count);
        text_printf(out, " (%s)\n", ir_check_info[p->kernel->checks.at[instruction->site].check].message);
        return;
    case IR_ALLOCATE: print_allocate(p, instruction->buffer); return;
    case IR_SWAP:
        text_printf(out, "swap %s, %s\n", buffer_name(p, instruction->buffer), buffer_name(p, instruction->swap.other));
        return;
    case IR_FORALL:
    case IR_FOR:
        text_printf(out, "%s ", ir_kind_names[instruction->kind]);
        print_value(p, instruction->parameters[0]);
        text_add(out, " < ");
        print_value(p, instruction->operands[0]);
        if (instruction->kind == IR_FORALL)
            text_printf(out, " at %s/%s", level_names[instruction->outer], level_names[instruction->inner]);
        if (instruction->buffer)
            text_printf(out, " by tickets of %s", buffer_name(p, instruction->buffer));
        text_add(out, instruction->loop.unroll ? " unrolled" : "");
        print_carried(p, instruction, 1);
        print_region(p, instruction->regions[0], indent + 1);
        print_yields(p, "next", instruction->regions[0], indent + 1);
        return;
    case IR_WHILE:
        text_add(out, "while");
        print_carried(p, instruction, 0);
        print_region(p, instruction->regions[0], indent + 1);
        print_yields(p, "do if", instruction->regions[0], indent);
        print_region(p, instruction->regions[1], indent + 1);
        print_yields(p, "next", instruction->regions[1], indent + 1);
        return;
    case IR_IF:
        text_add(out, "if ");
        print_value(p, instruction->operands[0]);
        text_add(out, "\n");
        print_region(p, instruction->regions[0], indent + 1);
        print_yields(p, "yield", instruction->regions[0], indent + 1);
        if (instruction->regions[1]->instructions.count + instruction->regions[1]->yields.count > 0) {
            start_line(p, indent);
            text_add(out, "else\n");
        }
        print_region(p, instruction->regions[1], indent + 1);
        print_yields(p, "yield", instruction->regions[1], indent + 1);
        return;
    }
}

static void print_region(struct ir_printer *p, const struct ir_region *region, int indent) {
    for (size_t i = 0; i < region->instructions.count; i++)
        print_instruction(p, region->instructions.at[i], indent);
}

/* ---- kernels ---- */

/* name: base[extent, …]; extents that no array shows are parameters in their own right. */
static void print_parameters(struct ir_printer *p, const struct ir_kernel *kernel) {
    const char *between = "";
    for (size_t i = 0; i < kernel->parameters.count; i++) {
        const struct ir_parameter *parameter = &kernel->parameters.at[i];
        if (parameter->kind == IR_PARAMETER_LENGTH)
            continue;
        text_add(p->out, between);
        between = ", ";
        if (parameter->kind == IR_PARAMETER_SCALAR) {
            print_value(p, parameter->value);
            text_printf(p->out, ": %s", base_info[parameter->value->base].name);
            continue;
        }
        text_printf(p->out, "%s: %s[", buffer_name(p, parameter->buffer), base_info[parameter->buffer->element].name);
        const char *comma = "";
        for (size_t j = 0; j < kernel->parameters.count; j++) {
            const struct ir_parameter *length = &kernel->parameters.at[j];
            if (length->kind != IR_PARAMETER_LENGTH || length->argument != parameter->argument)
                continue;
            text_add(p->out, comma);
            comma = ", ";
            print_value(p, length->value);
        }
        text_add(p->out, "]");
    }
}

static void print_results_of_kernel(struct ir_printer *p, const struct ir_kernel *kernel) {
    for (size_t i = 0; i < kernel->results.count; i++) {
        const struct ir_result *result = &kernel->results.at[i];
        text_add(p->out, i ? ", " : "  return ");
        if (result->is_array)
            text_add(p->out, result->buffer ? buffer_name(p, result->buffer) : "?");
        else
            print_value(p, result->value);
        for (size_t k = 0; k < result->rank; k++) {
            text_add(p->out, "[");
            print_value(p, result->extents[k]);
            text_add(p->out, "]");
        }
    }
    if (kernel->results.count > 0)
        text_add(p->out, "\n");
}

void ir_print(struct text *out, const struct ir_kernel *kernel) {
    struct arena *arena = out->arena;
    struct ir_printer p = {out,
                           ARENA_ARRAY(arena, const char *, kernel->value_count + 1),
                           map_new(arena),
                           symbols_new(arena),
                           map_new(arena),
                           kernel};
    for (size_t i = 0; i < kernel->parameters.count; i++) /* parameters keep their names as they are */
        name_value(&p, kernel->parameters.at[i].value);
    text_printf(out, "kernel %s(", kernel->name ? kernel->name->text : "?");
    print_parameters(&p, kernel);
    text_add(out, ")");
    for (size_t i = 0; i < kernel->results.count; i++) {
        const struct ir_result *result = &kernel->results.at[i];
        enum base base = result->is_array && result->buffer ? result->buffer->element
                         : result->value                    ? result->value->base
                                                            : BASE_I32;
        text_printf(out, "%s%s", i ? ", " : " -> ", base_info[base].name);
        for (size_t k = 0; k < result->rank; k++)
            text_add(out, "[]");
    }
    text_add(out, "\n");
    for (size_t i = 0; i < kernel->buffers.count; i++)
        if (kernel->buffers.at[i]->memory == MEMORY_TABLE)
            print_table(&p, kernel->buffers.at[i]);
    print_region(&p, kernel->body, 1);
    print_results_of_kernel(&p, kernel);
}
