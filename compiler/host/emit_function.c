/* Signatures and frames of the host functions: what goes in, what comes out, and what is released. */
#include "host/emit_function.h"

#include <string.h>

#include "backend/parts.h"
#include "map/map.h"
#include "support/map.h"

static const char pieces[] =
#include "compiler/host/parts/functions.h.inc"
    ;

/* Prints a piece of a function; the words behind its name are pairs of a word and what stands for it. */
#define PIECE(out, name, ...) part_print(out, pieces, name, (const struct text_word[]){__VA_ARGS__, {0}})

static void piece(struct text *out, const char *name) { PIECE(out, name, {0}); }

static const char *number(struct arena *arena, size_t number) { return arena_printf(arena, "%zu", number); }

/* A result: its extents, and a pointer per component; or a scalar. */
struct slot {
    const struct ir_result *result;
    const char *name;
    bool begins_array;    /* has extents of its own */
    const char **extents; /* their names */
};

struct signature {
    const struct ir_kernel *kernel;
    const char *name;
    const char **parameters; /* C names, by position in kernel->parameters */
    VEC(struct slot) slots;
};

static enum base base_of_result(const struct ir_result *result) {
    return result->is_array ? result->buffer->element : result->value->base;
}

static const char **extent_names(struct arena *arena, const char *array, size_t rank) {
    const char **names = ARENA_ARRAY(arena, const char *, rank);
    for (size_t i = 0; i < rank; i++)
        names[i] = arena_printf(arena, "%s_%s", array, ir_extent_name(arena, rank, i));
    return names;
}

/* `extents` of the array that the type is the element of, or NULL; *begins: none of its components has come. */
static void add_slots(struct arena *arena, struct signature *s, struct type *type, const char *name,
                      const char **extents, bool *begins, size_t *next) {
    type = type_resolve(type);
    if (type->kind == TYPE_TUPLE) {
        for (size_t i = 0; i < type->tuple.count; i++)
            add_slots(arena, s, type->tuple.items[i], names_identifier(arena, type_item_name(arena, type, name, i)),
                      extents, begins, next);
        return;
    }
    const struct ir_result *result = &s->kernel->results.at[*next];
    if (type->kind == TYPE_PULL || type->kind == TYPE_PUSH) {
        bool first = true;
        while (type->kind == TYPE_PULL || type->kind == TYPE_PUSH)
            type = type_resolve(type->array.element);
        add_slots(arena, s, type, name, extent_names(arena, name, result->rank), &first, next);
        return;
    }
    ++*next;
    struct slot slot = {result, name, extents && *begins, extents};
    if (extents)
        *begins = false;
    vec_push(arena, &s->slots, slot);
}

/* All extents, multiplied, of pointers to them. */
static const char *slot_count(struct arena *arena, const struct slot *slot) {
    const char *count = "";
    for (size_t i = 0; i < slot->result->rank; i++)
        count = arena_printf(arena, "%s%s(uint64_t)*%s", count, i ? " * " : "", slot->extents[i]);
    return count;
}

/* True for a name that the emitted functions give to a variable: some words, and others with a number behind them. */
static bool is_local(const char *name) {
    static const char *const words[] = {"context", "status", "program", "report", "checks", "traces",
                                        "traced",  "args",   "blocks",  "scalar", "graph",  "entry"};
    static const char *const numbered[] = {"b",    "v",    "s",     "kernel", "in",   "out",
                                           "room", "next", "given", "made",   "bytes"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(name, words[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++) {
        size_t length = strlen(numbered[i]);
        if (strncmp(name, numbered[i], length) == 0 && name[length] &&
            !name[length + strspn(name + length, "0123456789")])
            return true;
    }
    return false;
}

/* Names of one function's parameters. */
struct taken {
    struct symbols *symbols;
    struct map *names; /* by symbol */
};

static bool is_taken(const struct emit_unit *unit, const struct taken *taken, const char *name) {
    size_t prefix = strlen(unit->prefix);
    return is_local(name) || (strncmp(name, unit->prefix, prefix) == 0 && name[prefix] == '_') || /* a function's */
           map_has(taken->names, symbol_of(taken->symbols, name));
}

/* The name, or one with so many letters before it that nothing else has it. */
static const char *name_apart(const struct emit_unit *unit, struct taken *taken, const char *letter, const char *name) {
    while (is_taken(unit, taken, name))
        name = arena_printf(unit->arena, "%s_%s", letter, name);
    map_set(taken->names, symbol_of(taken->symbols, name), taken);
    return name;
}

static struct signature signature_of(struct emit_unit *unit, const struct target_program *program,
                                     const char *function) {
    struct arena *arena = unit->arena;
    struct signature s = {.kernel = program->kernel, .name = function};
    size_t count = program->kernel->parameters.count, next = 0;
    add_slots(arena, &s, program->kernel->result_type, "result", NULL, NULL, &next);
    s.parameters = ARENA_ARRAY(arena, const char *, count);
    struct taken taken = {symbols_new(arena), map_new(arena)};
    const char *other = unit->prefix[0] == 'p' ? "x" : "p"; /* begins no function's name */
    for (size_t i = 0; i < s.slots.count; i++) {
        struct slot *slot = &s.slots.at[i];
        slot->name = name_apart(unit, &taken, other, slot->name);
        bool is_first = i == 0 || slot->extents != s.slots.at[i - 1].extents; /* of its array */
        for (size_t k = 0; is_first && k < slot->result->rank; k++)
            slot->extents[k] = name_apart(unit, &taken, other, slot->extents[k]);
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = names_identifier(arena, program->kernel->parameters.at[i].name);
        s.parameters[i] = name_apart(unit, &taken, other, name);
    }
    return s;
}

/* The host functions of a kernel. */
enum host_function {
    RETURNING,   /* results are allocated */
    INTO,        /* results go to memory of the caller's */
    DEVICE,      /* on buffers */
    DEVICE_INTO, /* on buffers, and results go to buffers of the caller's */
    GRAPH,       /* recorded, on buffers */
};
static bool has_arrays(const struct signature *s) {
    for (size_t i = 0; i < s->slots.count; i++)
        if (s->slots.at[i].result->is_array)
            return true;
    return false;
}

static void add_prototype(struct text *out, const struct signature *s, enum host_function function) {
    static const char *const suffixes[] = {"", "_into", "_device", "_device_into", "_graph"};
    bool device = function == DEVICE || function == DEVICE_INTO || function == GRAPH;
    text_printf(out, "enum fcl_status %s%s(struct fcl_context *context", s->name, suffixes[function]);
    for (size_t i = 0; i < s->kernel->parameters.count; i++) {
        const struct ir_parameter *p = &s->kernel->parameters.at[i];
        const char *name = s->parameters[i];
        switch (p->kind) {
        case IR_PARAMETER_SCALAR: text_printf(out, ", %s %s", base_info[p->value->base].c_type, name); break;
        case IR_PARAMETER_LENGTH: text_printf(out, ", int32_t %s", name); break;
        case IR_PARAMETER_BUFFER:
            if (device)
                text_printf(out, ", struct fcl_buffer *%s", name);
            else
                text_printf(out, ", const %s *%s", base_info[p->buffer->element].c_type, name);
            break;
        }
    }
    for (size_t i = 0; i < s->slots.count; i++) {
        const struct slot *slot = &s->slots.at[i];
        const char *type = base_info[base_of_result(slot->result)].c_type;
        for (size_t k = 0; slot->begins_array && k < slot->result->rank; k++)
            text_printf(out, ", int32_t *%s", slot->extents[k]);
        if (!slot->result->is_array)
            text_printf(out, ", %s *%s", type, slot->name);
        else if (device)
            text_printf(out, ", struct fcl_buffer *%s%s", function == DEVICE_INTO ? "" : "*", slot->name);
        else
            text_printf(out, ", %s *%s%s", type, function == INTO ? "" : "*", slot->name);
    }
    text_add(out, function == GRAPH ? ", struct fcl_graph **graph)" : ")");
}

/* Does the host read what a launch has found? *is_last: it does so after the last launch, or nowhere. */
static bool reads(const struct ir_region *region, bool *is_last) {
    bool any = false;
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *at = region->instructions.at[i];
        if (at->kind == IR_FORALL || at->kind == IR_ALLOCATE) {
            *is_last &= !any;
            continue;
        }
        bool is_read = at->kind == IR_LOAD && at->buffer->memory != MEMORY_TABLE;
        for (int r = 0; r < 2; r++)
            if (at->regions[r] && reads(at->regions[r], is_last))
                is_read = true, *is_last = false;
        any |= is_read;
    }
    return any;
}

/* Is it made of what a launch has found, as far as branches and operations tell? `seen` have been asked. */
static bool is_found(struct map *seen, struct ir_value *value) {
    struct ir_instruction *by = value->is_constant ? NULL : value->definition;
    if (!by || map_has(seen, value))
        return false;
    map_set(seen, value, by);
    if (by->kind == IR_LOAD)
        return by->buffer->memory != MEMORY_TABLE;
    bool found = false;
    for (size_t i = 0; by->kind == IR_OPERATION && i < by->operand_count; i++)
        found |= is_found(seen, by->operands[i]);
    for (size_t i = 0; by->kind == IR_IF && i < by->result_count; i++)
        for (int r = 0; r < 2 && by->results[i] == value; r++)
            found |= is_found(seen, by->regions[r]->yields.at[i]);
    return found;
}

/* Why it cannot be recorded; or NULL. */
static const char *why_no_graph(struct arena *arena, const struct target_program *program) {
    bool is_last = true, any = reads(program->kernel->body, &is_last);
    if (target_ends_launches(program))
        return "the host looks after each launch whether a check has failed; --no-check leaves them out";
    if (program->kernel->trace)
        return "the host prints what it traces";
    if (!any)
        return NULL;
    if (!is_last)
        return "the host waits between launches for a length, or for what decides its way";
    for (size_t i = 0; i < program->kernel->results.count; i++) {
        const struct ir_result *result = &program->kernel->results.at[i];
        for (size_t k = 0; k < result->rank; k++)
            if (is_found(map_new(arena), result->extents[k]))
                return "launches find the length of a result, which the host reads";
    }
    return "the host reads a result that is a number; as an array of one element it stays on the device";
}

void emit_declarations(struct emit_unit *unit, struct text *out, const struct target_program *program,
                       const char *name) {
    struct signature s = signature_of(unit, program, name);
    text_printf(out, "/* kernel %s, on arrays of the host", program->kernel->name->text);
    for (size_t i = 0; i < s.kernel->parameters.count; i++)
        if (s.kernel->parameters.at[i].kind == IR_PARAMETER_LENGTH && s.kernel->parameters.at[i].dimension > 0) {
            text_add(out, "; matrices are dense and row-major");
            break;
        }
    text_add(out, " */\n");
    add_prototype(out, &s, RETURNING);
    if (has_arrays(&s)) {
        bool has_rows = false;
        for (size_t i = 0; i < s.slots.count; i++)
            has_rows |= s.slots.at[i].result->rank > 1;
        text_add(out, ";\n");
        PIECE(out, "SAYS_INTO", {"OF_ROWS", has_rows ? "; of a matrix, the product of its extents counts" : ""});
        add_prototype(out, &s, INTO);
    }
    text_add(out, ";\n");
    piece(out, "SAYS_ON_BUFFERS");
    add_prototype(out, &s, DEVICE);
    text_add(out, ";\n");
    if (has_arrays(&s)) {
        piece(out, "SAYS_INTO_BUFFERS");
        add_prototype(out, &s, DEVICE_INTO);
        text_add(out, ";\n");
    }
    const char *why = unit->has_graphs ? why_no_graph(unit->arena, program) : NULL;
    if (why) {
        PIECE(out, "SAYS_NOT_RECORDED", {"FUNCTION", name}, {"REASON", why});
    } else if (unit->has_graphs) {
        piece(out, "SAYS_RECORDED");
        add_prototype(out, &s, GRAPH);
        text_add(out, ";\n");
    }
    text_add(out, "\n");
}

static void clear_results(struct text *out, const struct signature *s, enum host_function function,
                          const char *indent) {
    for (size_t i = 0; i < s->slots.count; i++) {
        const struct slot *slot = &s->slots.at[i];
        for (size_t k = 0; slot->begins_array && k < slot->result->rank; k++)
            text_printf(out, "%s*%s = 0;\n", indent, slot->extents[k]);
        if ((function != INTO && function != DEVICE_INTO) || !slot->result->is_array)
            text_printf(out, "%s*%s = %s;\n", indent, slot->name, slot->result->is_array ? "NULL" : "0");
    }
}

/* A result without a place is the caller's mistake. `_into` has none for elements where there is no room for any. */
static void check_places(struct text *out, const struct signature *s, enum host_function function) {
    const char *before = "";
    for (size_t i = 0; i < s->slots.count; i++) {
        const struct slot *slot = &s->slots.at[i];
        for (size_t k = 0; slot->begins_array && k < slot->result->rank; k++, before = " || ")
            text_printf(out, "%s!%s", *before ? before : "    if (", slot->extents[k]);
        if (function == INTO && slot->result->is_array)
            continue;
        text_printf(out, "%s!%s", *before ? before : "    if (", slot->name);
        before = " || ";
    }
    if (function == GRAPH)
        text_printf(out, "%s!graph", *before ? before : "    if (");
    if (!*before)
        return;
    text_add(out, ")\n");
    PIECE(out, "NO_PLACE", {"FUNCTION", s->name});
}

/* Declares the messages of the checks, those of the host and those of --check. */
static void declare_checks(struct emit_unit *unit, struct text *out, const struct ir_kernel *kernel) {
    if (!kernel->checks.count)
        return;
    struct text texts;
    text_init(&texts, unit->arena);
    for (size_t i = 0; i < kernel->checks.count; i++) {
        const struct ir_check_site *site = &kernel->checks.at[i];
        text_printf(&texts, "        %s,\n", emit_message(unit, site, ir_check_text(site)));
    }
    PIECE(out, "CHECKS", {"TEXTS\n", text_string(&texts)});
}

static void declare_traces(struct text *out, const struct ir_kernel *kernel) {
    if (!kernel->trace)
        return;
    struct text texts;
    text_init(&texts, out->arena);
    for (size_t i = 0; i < kernel->traces.count; i++)
        text_printf(&texts, "        %s,\n", emit_literal(out->arena, kernel->traces.at[i]));
    PIECE(out, "TRACES", {"TEXTS\n", text_string(&texts)});
}

static void print_traces(struct text *out, const struct ir_kernel *kernel) {
    if (kernel->trace)
        PIECE(out, "TRACED", {"NUMBER", number(out->arena, kernel->trace->id)},
              {"COUNT", number(out->arena, kernel->traces.count)});
}

/* The lengths of a parameter's array, multiplied. */
static const char *element_count(struct arena *arena, const struct signature *s, size_t buffer) {
    const struct ir_parameter *parameters = s->kernel->parameters.at;
    size_t i = buffer;
    while (i > 0 && parameters[i].kind == IR_PARAMETER_BUFFER)
        i--;
    const char *count = "1";
    for (size_t k = i + 1; k-- > 0 && parameters[k].kind == IR_PARAMETER_LENGTH &&
                           parameters[k].argument == parameters[i].argument &&
                           parameters[k].component == parameters[i].component;)
        count = arena_printf(arena, "(uint64_t)%s%s%s", s->parameters[k], k < i ? " * " : "", k < i ? count : "");
    return count;
}

/* Emits the checks of the arguments: the context is of this backend, and no length is negative. */
static void check_arguments(const struct emit_unit *unit, struct text *out, const struct signature *s) {
    PIECE(out, "EXPECTED", {"BACKEND", unit->backend});
    for (size_t i = 0; i < s->kernel->parameters.count; i++)
        if (s->kernel->parameters.at[i].kind == IR_PARAMETER_LENGTH)
            PIECE(out, "LENGTH", {"LENGTH", s->parameters[i]});
}

static void check_buffers(struct arena *arena, struct text *out, const struct signature *s) {
    for (size_t i = 0; i < s->kernel->parameters.count; i++) {
        const struct ir_parameter *p = &s->kernel->parameters.at[i];
        if (p->kind != IR_PARAMETER_BUFFER)
            continue;
        const char *wanted =
            arena_printf(arena, "%s * %zu", element_count(arena, s, i), target_element_bytes(p->buffer->element));
        PIECE(out, "BUFFER", {"BUFFER", s->parameters[i]}, {"WANTED", wanted});
    }
}

static void define_device(struct emit_unit *unit, struct text *out, const struct target_program *program,
                          const struct signature *s) {
    struct arena *arena = unit->arena;
    const struct ir_kernel *kernel = s->kernel;
    struct emit_body body = {.unit = unit, .program = program, .indent = 1};
    text_init(&body.declarations, arena);
    text_init(&body.statements, arena);
    text_init(&body.releases, arena);
    body.names = ARENA_ARRAY(arena, const char *, kernel->value_count);
    body.is_declared = ARENA_ARRAY(arena, bool, kernel->value_count);
    body.tables = map_new(arena);
    for (size_t i = 0; i < kernel->parameters.count; i++) {
        const struct ir_parameter *p = &kernel->parameters.at[i];
        if (p->kind == IR_PARAMETER_BUFFER)
            text_printf(&body.declarations, "    struct fcl_buffer *b%u = %s;\n", p->buffer->id, s->parameters[i]);
        else
            body.names[p->value->id] = s->parameters[i];
        if (p->kind == IR_PARAMETER_BUFFER)
            text_printf(&body.declarations, "    (void)b%u;\n", p->buffer->id);
        else
            text_printf(&body.declarations, "    (void)%s;\n", s->parameters[i]);
    }
    emit_body(&body);
    add_prototype(out, s, DEVICE);
    piece(out, "BEGIN");
    piece(out, "PROGRAM");
    for (size_t i = 0; i < program->kernels.count; i++)
        text_printf(out, "    struct fcl_kernel *kernel%zu = NULL;\n", i);
    declare_checks(unit, out, program->kernel);
    declare_traces(out, program->kernel);
    text_add(out, text_string(&body.declarations));
    if (body.has_floats)
        text_add(out, "    struct fcl_entry entry;\n");
    check_places(out, s, DEVICE);
    if (body.has_floats)
        text_add(out, "    entry = fcl_enter();\n");
    clear_results(out, s, DEVICE, "    ");
    check_arguments(unit, out, s);
    check_buffers(arena, out, s);
    PIECE(out, "BUILT", {"BUILD", unit->build});
    for (size_t i = 0; i < program->kernels.count; i++)
        PIECE(out, "KERNEL", {"KERNEL", program->kernels.at[i]->name}, {"NUMBER", number(arena, i)});
    if (target_any_reports(program) && !target_ends_launches(program))
        piece(out, "WATCH");
    else if (target_any_reports(program))
        piece(out, "REPORT");
    text_add(out, text_string(&body.statements));
    for (size_t i = 0; i < s->slots.count; i++) {
        const struct slot *slot = &s->slots.at[i];
        for (size_t k = 0; slot->begins_array && k < slot->result->rank; k++)
            text_printf(out, "    *%s = %s;\n", slot->extents[k], emit_value(&body, slot->result->extents[k]));
        if (slot->result->is_array)
            text_printf(out, "    *%s = b%u;\n    b%u = NULL;\n", slot->name, slot->result->buffer->id,
                        slot->result->buffer->id);
        else
            text_printf(out, "    *%s = %s;\n", slot->name, emit_value(&body, slot->result->value));
    }
    text_add(out, program->kernel->trace ? "out:;\n" : "out:\n");
    print_traces(out, program->kernel);
    if (target_ends_launches(program))
        text_add(out, "    fcl_buffer_free(report);\n");
    text_add(out, text_string(&body.releases));
    if (body.has_floats)
        text_add(out, "    fcl_leave(&entry);\n");
    piece(out, "END");
    text_add(out, "\n");
}

/* How many elements there is room for, by what the caller has put where the extents go. */
static void declare_room(struct text *out, const struct slot *slot, size_t i) {
    text_printf(out, slot->result->rank == 1 ? "    int32_t room%zu;\n" : "    int64_t room%zu;\n", i);
}

static void set_room(struct text *out, const struct slot *slot, size_t i) {
    const char *room = slot->result->rank == 1 ? arena_printf(out->arena, "*%s", slot->extents[0]) : "1";
    for (size_t k = 0; slot->result->rank > 1 && k < slot->result->rank; k++)
        room = arena_printf(out->arena, "fcl_room(%s, *%s)", room, slot->extents[k]);
    text_printf(out, "    room%zu = %s;\n", i, room);
}

/* Results that the caller has no room for are an error that says how long they are. */
static void copy_into(struct text *out, const struct slot *slot, size_t i, const char *type) {
    const char *count = slot_count(out->arena, slot);
    if (slot->begins_array)
        PIECE(out, "ROOM", {"COUNT", count}, {"NUMBER", number(out->arena, i)});
    PIECE(out, "COPIED_OUT", {"ARRAY", slot->name}, {"COUNT", count}, {"TYPE", type},
          {"NUMBER", number(out->arena, i)});
}

static void copy_allocated(struct text *out, const struct slot *slot, size_t i, const char *type) {
    const char *count = slot_count(out->arena, slot);
    PIECE(out, "ALLOCATED", {"ARRAY", slot->name}, {"COUNT", count}, {"TYPE", type});
    PIECE(out, "COPIED_OUT", {"ARRAY", arena_printf(out->arena, "*%s", slot->name)}, {"COUNT", count}, {"TYPE", type},
          {"NUMBER", number(out->arena, i)});
}

/* The arguments by which `function` calls the one on buffers. */
static const char *device_arguments(struct arena *arena, const struct signature *s, enum host_function function) {
    bool has_buffers = function == GRAPH || function == DEVICE_INTO; /* as arguments */
    struct text arguments, *out = &arguments;
    text_init(out, arena);
    for (size_t i = 0; i < s->kernel->parameters.count; i++) {
        if (!has_buffers && s->kernel->parameters.at[i].kind == IR_PARAMETER_BUFFER)
            text_printf(out, ", in%zu", i);
        else
            text_printf(out, ", %s", s->parameters[i]);
    }
    for (size_t i = 0; i < s->slots.count; i++) {
        const struct slot *slot = &s->slots.at[i];
        for (size_t k = 0; slot->begins_array && k < slot->result->rank; k++)
            text_printf(out, ", %s", slot->extents[k]);
        if (function != GRAPH && slot->result->is_array)
            text_printf(out, function == DEVICE_INTO ? ", &made0[%zu]" : ", &out%zu", i);
        else
            text_printf(out, ", %s", slot->name);
    }
    return text_string(out);
}

static void define_device_into(struct text *out, const struct signature *s) {
    struct arena *arena = out->arena;
    size_t count = 0;
    const char *arguments = "", *results = "", *nothing = "", *sizes = "";
    for (size_t i = 0; i < s->kernel->parameters.count; i++)
        if (s->kernel->parameters.at[i].kind == IR_PARAMETER_BUFFER)
            arguments = arena_printf(arena, "%s%s%s", arguments, count++ ? ", " : "", s->parameters[i]);
    for (size_t i = 0; i < s->slots.count; i++) {
        const struct slot *slot = &s->slots.at[i];
        const char *comma = i ? ", " : "";
        results = arena_printf(arena, "%s%s%s", results, comma, slot->result->is_array ? slot->name : "NULL");
        nothing = arena_printf(arena, "%s%sNULL", nothing, comma);
        if (slot->result->is_array)
            sizes = arena_printf(arena, "%s    bytes0[%zu] = %s * %zu;\n", sizes, i, slot_count(arena, slot),
                                 target_element_bytes(slot->result->buffer->element));
    }
    add_prototype(out, s, DEVICE_INTO);
    piece(out, "BEGIN");
    if (count)
        PIECE(out, "ARGUMENTS", {"ARGUMENTS", arguments});
    PIECE(out, "RESULTS", {"RESULTS", results}, {"NOTHING", nothing}, {"COUNT", number(arena, s->slots.count)});
    check_places(out, s, DEVICE_INTO);
    clear_results(out, s, DEVICE_INTO, "    ");
    PIECE(out, "STORED", {"RESULT_COUNT", number(arena, s->slots.count)}, {"GIVEN", count ? "given0" : "NULL"},
          {"ARGUMENT_COUNT", number(arena, count)}, {"FUNCTION", s->name},
          {"ARGUMENTS", device_arguments(arena, s, DEVICE_INTO)}, {"SIZES\n", sizes});
}

static void define_graph(struct emit_unit *unit, struct text *out, const struct target_program *program,
                         const struct signature *s) {
    add_prototype(out, s, GRAPH);
    piece(out, "BEGIN");
    piece(out, "PROGRAM");
    if (program->kernels.count)
        text_add(out, "    struct fcl_kernel *kernel0 = NULL;\n");
    check_places(out, s, GRAPH);
    clear_results(out, s, GRAPH, "    ");
    PIECE(out, "BUILT_TO_RECORD", {"BACKEND", unit->backend}, {"BUILD", unit->build});
    for (size_t i = 0; i < program->kernels.count; i++)
        PIECE(out, "KERNEL_TO_RECORD", {"KERNEL", program->kernels.at[i]->name});
    PIECE(out, "RECORD", {"FUNCTION", s->name}, {"ARGUMENTS", device_arguments(unit->arena, s, GRAPH)});
    for (size_t i = 0; i < s->slots.count; i++)
        if (s->slots.at[i].result->is_array)
            text_printf(out, "        fcl_buffer_free(*%s);\n", s->slots.at[i].name);
    clear_results(out, s, GRAPH, "        ");
    text_add(out, "    }\n");
    piece(out, "END");
    text_add(out, "\n");
}

static void define_host(struct emit_unit *unit, struct text *out, const struct signature *s,
                        enum host_function function) {
    struct arena *arena = unit->arena;
    const struct ir_kernel *kernel = s->kernel;
    add_prototype(out, s, function);
    piece(out, "BEGIN");
    for (size_t i = 0; i < kernel->parameters.count; i++)
        if (kernel->parameters.at[i].kind == IR_PARAMETER_BUFFER)
            text_printf(out, "    struct fcl_buffer *in%zu = NULL;\n", i);
    for (size_t i = 0; i < s->slots.count; i++) {
        const struct slot *slot = &s->slots.at[i];
        if (slot->result->is_array)
            text_printf(out, "    struct fcl_buffer *out%zu = NULL;\n", i);
        if (function == INTO && slot->begins_array)
            declare_room(out, slot, i);
    }
    check_places(out, s, function);
    for (size_t i = 0; function == INTO && i < s->slots.count; i++)
        if (s->slots.at[i].begins_array)
            set_room(out, &s->slots.at[i], i);
    if (function == RETURNING)
        clear_results(out, s, function, "    ");
    check_arguments(unit, out, s);
    for (size_t i = 0; i < kernel->parameters.count; i++)
        if (kernel->parameters.at[i].kind == IR_PARAMETER_BUFFER)
            PIECE(out, "COPIED_IN", {"ARRAY", s->parameters[i]}, {"COUNT", element_count(arena, s, i)},
                  {"NUMBER", number(arena, i)});
    PIECE(out, "DONE", {"FUNCTION", s->name}, {"ARGUMENTS", device_arguments(arena, s, function)});
    for (size_t i = 0; i < s->slots.count; i++) {
        const struct slot *slot = &s->slots.at[i];
        if (slot->result->is_array)
            (function == INTO ? copy_into : copy_allocated)(out, slot, i,
                                                            base_info[slot->result->buffer->element].c_type);
    }
    text_add(out, "out:\n");
    for (size_t i = 0; i < kernel->parameters.count; i++)
        if (kernel->parameters.at[i].kind == IR_PARAMETER_BUFFER)
            text_printf(out, "    fcl_buffer_free(in%zu);\n", i);
    for (size_t i = 0; i < s->slots.count; i++)
        if (s->slots.at[i].result->is_array)
            text_printf(out, "    fcl_buffer_free(out%zu);\n", i);
    /* `_into` says how long a result is that there is no room for. */
    text_printf(out, "    if (status != FCL_OK%s) {\n", function == INTO ? " && status != FCL_NO_ROOM" : "");
    for (size_t i = 0; function == RETURNING && i < s->slots.count; i++)
        if (s->slots.at[i].result->is_array)
            text_printf(out, "        free(*%s);\n", s->slots.at[i].name);
    clear_results(out, s, function, "        ");
    text_add(out, "    }\n");
    piece(out, "END");
    text_add(out, "\n");
}

void emit_definitions(struct emit_unit *unit, struct text *out, const struct target_program *program,
                      const char *name) {
    struct signature s = signature_of(unit, program, name);
    define_device(unit, out, program, &s);
    define_host(unit, out, &s, RETURNING);
    if (has_arrays(&s)) {
        define_host(unit, out, &s, INTO);
        define_device_into(out, &s);
    }
    if (unit->has_graphs && !why_no_graph(unit->arena, program))
        define_graph(unit, out, program, &s);
}
