/* The IR as text, in two forms: one that is read back (text.h), and one for people (`--dump=ir`), who see names in
   place of numbers and blanks in place of braces, and no more types and ranges than they need. */
#include <math.h>

#include "ir/build/range.h"
#include "ir/text/text.h"
#include "ir/walk.h"
#include "support/map.h"

/* For people. Values go by their hints, made unique, or by %number. */
struct ir_names {
    const char **values; /* by id */
    struct map *buffers; /* struct ir_buffer * → name */
    struct symbols *symbols;
    struct map *used; /* symbol → how often, as a pointer */
};

struct ir_writer {
    struct text *out;
    const struct ir_kernel *kernel;
    const struct sources *sources;
    struct ir_names *names; /* NULL: it is read back */
    int indent;
};

enum { MOST_INDENT = 100 }; /* deeper nesting is shown by no more blanks, which would be most of the text */

static void start(struct ir_writer *w) {
    text_printf(w->out, "%*s", (w->indent < MOST_INDENT ? w->indent : MOST_INDENT) * 2, "");
}

static void add_quoted(struct text *out, const char *text) {
    text_add(out, "\"");
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            text_printf(out, "\\%c", *text);
        else if ((unsigned char)*text < ' ')
            text_printf(out, "\\x%02x", (unsigned char)*text);
        else
            text_add_n(out, text, 1);
    text_add(out, "\"");
}

/* ---- names ---- */

static const char *unique(struct ir_writer *w, const char *hint) {
    symbol name = symbol_of(w->names->symbols, hint);
    size_t before = (size_t)(uintptr_t)map_get(w->names->used, name);
    map_set(w->names->used, name, (void *)(uintptr_t)(before + 1));
    return before == 0 ? name->text : arena_printf(w->out->arena, "%s.%zu", hint, before + 1);
}

static const char *value_name(struct ir_writer *w, const struct ir_value *value) {
    if (!w->names || (!w->names->values[value->id] && !value->name))
        return arena_printf(w->out->arena, "%%%u", value->id);
    const char **name = &w->names->values[value->id];
    if (!*name)
        *name = unique(w, value->name);
    return *name;
}

static const char *buffer_name(struct ir_writer *w, const struct ir_buffer *buffer) {
    if (!w->names)
        return arena_printf(w->out->arena, "@%u", buffer->id);
    const char *name = map_get(w->names->buffers, buffer);
    if (!name) {
        name = unique(w, buffer->name ? buffer->name : arena_printf(w->out->arena, "buffer%u", (unsigned)buffer->id));
        map_set(w->names->buffers, buffer, (void *)(uintptr_t)name);
    }
    return name;
}

/* ---- values and buffers ---- */

/* With the suffix of its type unless it is int or double. An infinity or a NaN is written as its bits where it is read
   back: a NaN has a sign and a payload. */
static void add_constant(struct ir_writer *w, enum base base, union scalar constant) {
    const struct base_info *info = &base_info[base];
    char digits[FLOATING_DIGITS];
    if (!w->names && info->is_floating && !isfinite(constant.floating)) {
        text_printf(w->out, "#%llx.%s", (unsigned long long)constant.natural, info->suffix);
        return;
    }
    if (base == BASE_BOOL)
        text_add(w->out, constant.integer ? "true" : "false");
    else if (info->is_floating)
        text_add(w->out, floating_digits(info->format, constant.floating, digits));
    else if (info->is_signed)
        text_printf(w->out, "%lld", (long long)constant.integer);
    else
        text_printf(w->out, "%llu", (unsigned long long)constant.natural);
    bool has_default = base == BASE_I32 || base == BASE_F64;
    text_add(w->out, has_default ? "" : info->suffix);
}

static void add_value(struct ir_writer *w, const struct ir_value *value) {
    if (value->is_constant)
        add_constant(w, value->base, value->constant);
    else
        text_add(w->out, value_name(w, value));
}

static void add_values(struct ir_writer *w, struct ir_value *const *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        text_add(w->out, i ? ", " : " ");
        add_value(w, values[i]);
    }
}

/* Where it is defined: its type, its number and name, and between what it lies. */
static void add_definition(struct ir_writer *w, const struct ir_value *value) {
    if (w->names) {
        add_value(w, value);
        return;
    }
    text_printf(w->out, "%s %%%u", base_info[value->base].name, value->id);
    if (value->name) {
        text_add(w->out, " ");
        add_quoted(w->out, value->name);
    }
    struct range all = range_of_base(value->base);
    if (value->low != all.low || value->high != all.high)
        text_printf(w->out, " in %lld..%lld", (long long)value->low, (long long)value->high);
}

static void add_place(struct ir_writer *w, const struct ir_instruction *access) {
    text_printf(w->out, " %s[", buffer_name(w, access->buffer));
    add_value(w, access->operands[0]);
    text_add(w->out, "]");
}

/* Writes which memory it is, and how much. */
static void add_memory(struct ir_writer *w, const struct ir_buffer *buffer) {
    text_printf(w->out, "%s%s %s", ir_memory_names[buffer->memory],
                buffer->memory == MEMORY_SHARED && buffer->owner == LEVEL_WARP ? " warp" : "",
                base_info[buffer->element].name);
    if (buffer->capacity) {
        text_add(w->out, "[");
        add_value(w, buffer->capacity);
        text_add(w->out, "]");
    }
    text_add(w->out, buffer->rewritten ? " rewritten" : "");
    text_add(w->out, buffer->is_zeroed ? " zeroed" : "");
    text_add(w->out, buffer->is_said ? " said" : "");
    text_add(w->out, buffer->is_swapped ? " swapped" : "");
    if (buffer->stages)
        text_printf(w->out, " stages %d", buffer->stages);
    text_add(w->out, buffer->is_plain ? " plain" : "");
    text_add(w->out, buffer->of_host ? " host" : "");
    if (buffer->memory == MEMORY_TABLE) {
        text_add(w->out, " =");
        for (int64_t i = 0; i < buffer->capacity->constant.integer; i++) {
            text_add(w->out, i ? ", " : " ");
            add_constant(w, buffer->element, buffer->constants[i]);
        }
    }
    text_add(w->out, "\n");
}

static void write_buffer(struct ir_writer *w, const struct ir_buffer *buffer) {
    start(w);
    text_printf(w->out, "buffer %s ", buffer_name(w, buffer));
    if (buffer->name && !w->names) {
        add_quoted(w->out, buffer->name);
        text_add(w->out, " ");
    }
    add_memory(w, buffer);
}

/* ---- instructions ---- */

static void write_region(struct ir_writer *w, const struct ir_region *region);

static void end_line(struct ir_writer *w) { text_add(w->out, "\n"); }

static void write_yields(struct ir_writer *w, const char *word, const struct ir_region *region) {
    if (region->yields.count == 0)
        return;
    start(w);
    text_add(w->out, word);
    add_values(w, region->yields.at, region->yields.count);
    end_line(w);
}

static void add_carried(struct ir_writer *w, const struct ir_instruction *loop, size_t first) {
    for (size_t i = first; i < loop->parameter_count; i++) {
        text_add(w->out, i == first ? " with " : ", ");
        add_definition(w, loop->parameters[i]);
        text_add(w->out, " = ");
        add_value(w, loop->operands[i]);
    }
}

static void open(struct ir_writer *w) {
    text_add(w->out, w->names ? "\n" : " {\n");
    w->indent++;
}

static void close(struct ir_writer *w) {
    w->indent--;
    if (!w->names) {
        start(w);
        text_add(w->out, "}\n");
    }
}

static void write_operation(struct ir_writer *w, const struct ir_instruction *i) {
    enum base base = i->operands[i->operand_count - 1]->base;
    text_add(w->out, ir_op_info[i->op].name);
    if (w->names && base != BASE_I32 && base != BASE_BOOL)
        text_printf(w->out, ".%s", base_info[base].name);
    add_values(w, i->operands, i->operand_count);
    if (w->names && ir_op_info[i->op].result == RESULT_GIVEN)
        text_printf(w->out, " to %s", base_info[i->results[0]->base].name);
    text_add(w->out, i->no_wrap && !w->names ? " nowrap\n" : "\n");
}

static void write_loop(struct ir_writer *w, const struct ir_instruction *i) {
    struct text *out = w->out;
    text_printf(out, "%s ", ir_kind_names[i->kind]);
    add_definition(w, i->parameters[0]);
    text_add(out, " <");
    add_values(w, i->operands, 1);
    if (i->kind == IR_FORALL)
        text_printf(out, " at %s/%s", level_names[i->outer], level_names[i->inner]);
    if (IR_PART(i, loop).threads)
        text_printf(out, " threads %d", IR_PART(i, loop).threads);
    if (i->buffer)
        text_printf(out, " tickets %s", buffer_name(w, i->buffer));
    text_add(out, IR_PART(i, loop).unroll ? " unrolled" : "");
    add_carried(w, i, 1);
    open(w);
    write_region(w, i->regions[0]);
    write_yields(w, "next", i->regions[0]);
    close(w);
}

static void write_branch(struct ir_writer *w, const struct ir_instruction *i) {
    text_add(w->out, "if");
    add_values(w, i->operands, 1);
    text_add(w->out, IR_PART(i, branch).is_split ? " split" : "");
    text_add(w->out, IR_PART(i, branch).is_inside ? " inside" : "");
    text_add(w->out, IR_PART(i, branch).is_asked ? " asked" : "");
    text_add(w->out, IR_PART(i, branch).takes_both ? " both" : "");
    open(w);
    write_region(w, i->regions[0]);
    write_yields(w, "yield", i->regions[0]);
    w->indent--;
    if (!w->names || i->regions[1]->instructions.count + i->regions[1]->yields.count > 0) {
        start(w);
        text_add(w->out, w->names ? "else\n" : "} else {\n");
    }
    w->indent++;
    write_region(w, i->regions[1]);
    write_yields(w, "yield", i->regions[1]);
    close(w);
}

static void write_instruction(struct ir_writer *w, const struct ir_instruction *i) {
    struct text *out = w->out;
    start(w);
    for (size_t k = 0; k < i->result_count; k++) {
        text_add(out, k ? ", " : "");
        add_definition(w, i->results[k]);
    }
    text_add(out, i->result_count ? " = " : "");
    switch (i->kind) {
    case IR_OPERATION: write_operation(w, i); return;
    case IR_LOAD:
        text_add(out, "load");
        add_place(w, i);
        text_add(out, i->is_volatile ? " volatile" : "");
        text_add(out, i->again ? " again" : "");
        if (i->site && !w->names)
            text_printf(out, " site %u", i->site);
        end_line(w);
        return;
    case IR_STORE:
        text_add(out, "store");
        add_place(w, i);
        text_add(out, ",");
        add_values(w, i->operands + 1, 1);
        text_add(out, i->is_volatile ? " volatile" : "");
        text_add(out, i->again ? " again" : "");
        text_add(out, IR_PART(i, store).is_start ? " start" : "");
        text_add(out, IR_PART(i, store).may_meet ? " meeting" : "");
        end_line(w);
        return;
    case IR_ATOMIC:
        text_printf(out, "atomic %s", ir_atomic_names[IR_PART(i, store).atomic]);
        add_place(w, i);
        text_add(out, ",");
        add_values(w, i->operands + 1, i->operand_count - 1);
        text_add(out, i->again ? " again\n" : "\n");
        return;
    case IR_FENCE:
        text_printf(out, "fence %s", level_names[i->outer]);
        if (i->buffer)
            text_printf(out, " copies %s", buffer_name(w, i->buffer));
        end_line(w);
        return;
    case IR_SHUFFLE:
    case IR_MATCH:
    case IR_BALLOT:
    case IR_MMA:
        text_add(out, ir_kind_names[i->kind]);
        add_values(w, i->operands, i->operand_count);
        if (i->kind == IR_MMA && IR_PART(i, mma).by_columns)
            text_add(out, " columns");
        end_line(w);
        return;
    case IR_CHECK:
        text_add(out, "check");
        if (!w->names)
            text_printf(out, " %u", i->site);
        add_values(w, i->operands, i->operand_count);
        if (w->names)
            text_printf(out, " (%s)", ir_check_text(&w->kernel->checks.at[i->site]));
        end_line(w);
        return;
    case IR_ALLOCATE:
        text_printf(out, w->names ? "%s = allocate " : "allocate %s\n", buffer_name(w, i->buffer));
        if (w->names)
            add_memory(w, i->buffer);
        return;
    case IR_SWAP:
        text_printf(out, "swap %s, %s\n", buffer_name(w, i->buffer), buffer_name(w, IR_PART(i, swap).other));
        return;
    case IR_FORALL:
    case IR_FOR: write_loop(w, i); return;
    case IR_WHILE:
        text_add(out, "while");
        text_add(out, IR_PART(i, loop).is_lock ? " lock" : "");
        add_carried(w, i, 0);
        open(w);
        write_region(w, i->regions[0]);
        w->indent -= w->names != NULL;
        write_yields(w, "do if", i->regions[0]);
        w->indent += w->names != NULL;
        write_region(w, i->regions[1]);
        write_yields(w, "next", i->regions[1]);
        close(w);
        return;
    case IR_IF: write_branch(w, i); return;
    }
}

static void write_region(struct ir_writer *w, const struct ir_region *region) {
    for (size_t i = 0; i < region->instructions.count; i++)
        write_instruction(w, region->instructions.at[i]);
}

/* ---- kernels ---- */

static void write_parameter(struct ir_writer *w, const struct ir_parameter *parameter) {
    start(w);
    static const char *const kinds[] = {
        [IR_PARAMETER_SCALAR] = "scalar", [IR_PARAMETER_LENGTH] = "extent", [IR_PARAMETER_BUFFER] = "array"};
    text_printf(w->out, "%s %zu.%zu ", kinds[parameter->kind], parameter->argument, parameter->component);
    add_quoted(w->out, parameter->name);
    if (parameter->kind == IR_PARAMETER_LENGTH)
        text_printf(w->out, " dimension %d", parameter->dimension);
    text_add(w->out, " = ");
    if (parameter->kind == IR_PARAMETER_BUFFER)
        text_printf(w->out, "@%u", parameter->buffer->id);
    else
        add_definition(w, parameter->value);
    end_line(w);
}

static void add_where(struct ir_writer *w, struct span span) {
    struct place place;
    if (!span.end || !place_of(w->sources, span.begin, &place))
        return;
    text_add(w->out, " at ");
    add_quoted(w->out, place.source->path);
    text_printf(w->out, " %u:%u", place.line, place.column);
}

static void write_site(struct ir_writer *w, const struct ir_check_site *site, size_t number) {
    start(w);
    text_printf(w->out, "site %zu %s", number, ir_check_info[site->check].name);
    add_where(w, site->span);
    text_add(w->out, site->is_contained ? " contained" : "");
    text_add(w->out, site->is_noted ? " noted\n" : "\n");
}

/* ---- unknown values: operations that nothing uses may name what was never made ---- */

static void mark_defined(bool *defined, struct ir_value *const *values, size_t count) {
    for (size_t i = 0; i < count; i++)
        defined[values[i]->id] = true;
}

static void find_defined(bool *defined, const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk)) {
        mark_defined(defined, walk.at->results, walk.at->result_count);
        mark_defined(defined, walk.at->parameters, walk.at->parameter_count);
    }
}

static void write_unknown(struct ir_writer *w, bool *defined, const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        for (size_t k = 0; k < walk.at->operand_count; k++) {
            const struct ir_value *value = walk.at->operands[k];
            if (value->is_constant || defined[value->id])
                continue;
            defined[value->id] = true;
            start(w);
            text_add(w->out, "unknown ");
            add_definition(w, value);
            end_line(w);
        }
}

/* Records are written out: their declarations are not in the text. */
static void add_type(struct text *out, struct type *type) {
    type = type_resolve(type);
    if (type->kind == TYPE_PULL || type->kind == TYPE_PUSH) {
        text_add(out, "[");
        add_type(out, type->array.element);
        text_add(out, "]");
        if (type->kind == TYPE_PUSH)
            text_printf(out, "<%s>", level_names[level_resolve(type->array.level)->value]);
        return;
    }
    if (type->kind != TYPE_TUPLE) {
        type_print(out, type);
        return;
    }
    const struct record *record = type->tuple.record;
    if (record)
        add_quoted(out, record->name->text);
    for (size_t i = 0; i < type->tuple.count; i++) {
        text_add(out, i ? ", " : record ? " {" : "(");
        if (record) {
            add_quoted(out, record->fields[i]->text);
            text_add(out, " : ");
        }
        add_type(out, type->tuple.items[i]);
    }
    text_add(out, record ? "}" : ")");
}

static void write_type(struct ir_writer *w, const char *word, struct type *type) {
    start(w);
    text_printf(w->out, "%s ", word);
    add_type(w->out, type);
    end_line(w);
}

void ir_write_head(struct text *out, const char *target, const char *from) {
    text_printf(out, "fclir %d", IR_TEXT_VERSION);
    if (target)
        text_printf(out, " for %s", target);
    if (from) {
        text_add(out, " from ");
        add_quoted(out, from);
    }
    text_add(out, "\n");
}

void ir_write_text(struct text *out, const struct ir_kernel *kernel, const struct sources *sources) {
    struct ir_writer w = {.out = out, .kernel = kernel, .sources = sources};
    text_add(out, "\nkernel ");
    add_quoted(out, kernel->name->text);
    text_printf(out, " block %d warp %d grid %d values %u%s%s%s%s", kernel->block_size, kernel->warp_size,
                kernel->grid_size, kernel->value_count, kernel->has_warps ? " warps" : "", kernel->is_cpu ? " cpu" : "",
                kernel->contracts ? " contract" : "", kernel->approximates ? " approximate" : "");
    open(&w);
    for (size_t i = 0; i < kernel->parameter_type_count; i++)
        write_type(&w, "takes", kernel->parameter_types[i]);
    write_type(&w, "gives", kernel->result_type);
    for (size_t i = 0; i < kernel->checks.count; i++)
        write_site(&w, &kernel->checks.at[i], i);
    for (size_t i = 0; i < kernel->buffers.count; i++)
        write_buffer(&w, kernel->buffers.at[i]);
    if (kernel->trace) {
        start(&w);
        text_printf(out, "trace @%u\n", kernel->trace->id);
    }
    for (size_t i = 0; i < kernel->traces.count; i++) {
        start(&w);
        text_add(out, "traced ");
        add_quoted(out, kernel->traces.at[i]);
        end_line(&w);
    }
    for (size_t i = 0; i < kernel->parameters.count; i++)
        write_parameter(&w, &kernel->parameters.at[i]);
    bool *defined = ARENA_ARRAY(out->arena, bool, kernel->value_count + 1);
    for (size_t i = 0; i < kernel->parameters.count; i++)
        if (kernel->parameters.at[i].value)
            defined[kernel->parameters.at[i].value->id] = true;
    find_defined(defined, kernel->body);
    write_unknown(&w, defined, kernel->body);
    write_region(&w, kernel->body);
    for (size_t i = 0; i < kernel->results.count; i++) {
        const struct ir_result *result = &kernel->results.at[i];
        start(&w);
        text_add(out, "return");
        if (result->is_array)
            text_printf(out, " @%u", result->buffer->id);
        add_values(&w, (struct ir_value *const *)&result->value, 1);
        if (result->is_array && (result->rank != 1 || result->extents[0] != result->value)) {
            text_add(out, " extents");
            add_values(&w, result->extents, result->rank);
        }
        end_line(&w);
    }
    close(&w);
}

/* ---- kernels, for people ---- */

/* name: base[extent, …]; extents that no array shows are parameters in their own right. */
static void add_parameters(struct ir_writer *w, const struct ir_kernel *kernel) {
    const char *between = "";
    for (size_t i = 0; i < kernel->parameters.count; i++) {
        const struct ir_parameter *parameter = &kernel->parameters.at[i];
        if (parameter->kind == IR_PARAMETER_LENGTH)
            continue;
        text_add(w->out, between);
        between = ", ";
        if (parameter->kind == IR_PARAMETER_SCALAR) {
            add_value(w, parameter->value);
            text_printf(w->out, ": %s", base_info[parameter->value->base].name);
            continue;
        }
        text_printf(w->out, "%s: %s[", buffer_name(w, parameter->buffer), base_info[parameter->buffer->element].name);
        const char *comma = "";
        for (size_t j = 0; j < kernel->parameters.count; j++) {
            const struct ir_parameter *length = &kernel->parameters.at[j];
            if (length->kind != IR_PARAMETER_LENGTH || length->argument != parameter->argument)
                continue;
            text_add(w->out, comma);
            comma = ", ";
            add_value(w, length->value);
        }
        text_add(w->out, "]");
    }
}

static void write_results(struct ir_writer *w, const struct ir_kernel *kernel) {
    for (size_t i = 0; i < kernel->results.count; i++) {
        const struct ir_result *result = &kernel->results.at[i];
        text_add(w->out, i ? ", " : "  return ");
        if (result->is_array)
            text_add(w->out, buffer_name(w, result->buffer));
        else
            add_value(w, result->value);
        for (size_t k = 0; k < result->rank; k++) {
            text_add(w->out, "[");
            add_value(w, result->extents[k]);
            text_add(w->out, "]");
        }
    }
    if (kernel->results.count > 0)
        text_add(w->out, "\n");
}

void ir_print(struct text *out, const struct ir_kernel *kernel) {
    struct arena *arena = out->arena;
    struct ir_names names = {ARENA_ARRAY(arena, const char *, kernel->value_count + 1), map_new(arena),
                             symbols_new(arena), map_new(arena)};
    struct ir_writer w = {.out = out, .kernel = kernel, .names = &names, .indent = 1};
    for (size_t i = 0; i < kernel->parameters.count; i++) /* parameters keep their names as they are */
        if (kernel->parameters.at[i].value)
            (void)value_name(&w, kernel->parameters.at[i].value);
    text_printf(out, "kernel %s(", kernel->name ? kernel->name->text : "?");
    add_parameters(&w, kernel);
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
            write_buffer(&w, kernel->buffers.at[i]);
    write_region(&w, kernel->body);
    write_results(&w, kernel);
}
