/* Reading the IR from text: files and kernels. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ir/text/reader.h"
#include "ir/walk.h"

/* A file in which checks lie: nothing is known of its text but how long it is at least. */
struct path {
    const char *path;
    unsigned lines, columns;
    const struct source *source;
};

/* ---- types of parameters and results ---- */

static struct type *read_type(struct reader *r);

/* "body" {"mass" : float, …} */
static void read_record(struct reader *r, struct type *type) {
    VEC(struct type *) items = {0};
    VEC(symbol) fields = {0};
    struct record *record = ARENA_NEW(r->arena, struct record);
    record->name = symbol_of(r->symbols, reader_take(r, TOKEN_STRING, "the name of a record"));
    reader_expect(r, "{");
    do {
        vec_push(r->arena, &fields, symbol_of(r->symbols, reader_take(r, TOKEN_STRING, "the name of a field")));
        reader_expect(r, ":");
        vec_push(r->arena, &items, read_type(r));
    } while (reader_accept(r, ","));
    reader_expect(r, "}");
    type->kind = TYPE_TUPLE;
    type->tuple.items = items.at;
    type->tuple.count = record->count = items.count;
    type->tuple.record = record;
    record->fields = fields.at;
    record->declared = type;
}

static struct type *read_type(struct reader *r) {
    struct type *type = ARENA_NEW(r->arena, struct type);
    if (++r->depth > DEEPEST_REGION)
        reader_fail(r, r->token.span, "types are nested too deeply");
    if (r->token.kind == TOKEN_STRING) {
        read_record(r, type);
    } else if (reader_accept(r, "(")) {
        VEC(struct type *) items = {0};
        do
            vec_push(r->arena, &items, read_type(r));
        while (reader_accept(r, ","));
        reader_expect(r, ")");
        type->kind = TYPE_TUPLE;
        type->tuple.items = items.at;
        type->tuple.count = items.count;
        if (items.count < 2)
            reader_fail(r, r->before.span, "a tuple has two components or more");
    } else if (reader_accept(r, "[")) {
        struct level *level = ARENA_NEW(r->arena, struct level);
        type->kind = TYPE_PULL;
        type->array.element = read_type(r);
        reader_expect(r, "]");
        level->value = LEVEL_PURE;
        if (reader_accept(r, "<")) {
            type->kind = TYPE_PUSH;
            level->value = reader_level(r);
            reader_expect(r, ">");
        }
        type->array.level = level;
    } else {
        type->kind = TYPE_BASE;
        type->base = reader_base(r);
    }
    r->depth--;
    return type;
}

/* ---- what a kernel begins with ---- */

static struct path *path_named(struct reader *r, const char *text) {
    symbol name = symbol_of(r->symbols, text);
    struct path *path = map_get(r->paths, name);
    if (!path) {
        path = ARENA_NEW(r->arena, struct path);
        path->path = text;
        map_set(r->paths, name, path);
    }
    return path;
}

/* site 3 INDEX at "k.fcl" 3:5 contained */
static void read_site(struct reader *r) {
    enum { MOST_LINES = 1 << 16, MOST_COLUMNS = 1 << 10 };
    struct ir_check_site site = {0};
    struct where where = {0};
    if (reader_integer(r, 0, MOST_NUMBERS) != (int64_t)r->kernel->checks.count)
        reader_fail(r, r->before.span, "sites are numbered from 0 on: this is site %zu", r->kernel->checks.count);
    size_t which = 0;
    while (which < CHECK_COUNT && !reader_accept(r, ir_check_info[which].name))
        which++;
    if (which == CHECK_COUNT)
        reader_expected(r, "a kind of check, as in `INDEX`,");
    site.check = (enum ir_check)which;
    if (reader_accept(r, "at")) {
        where.path = path_named(r, reader_take(r, TOKEN_STRING, "the name of a file"));
        where.line = (unsigned)reader_integer(r, 1, MOST_LINES);
        reader_expect(r, ":");
        where.column = (unsigned)reader_integer(r, 1, MOST_COLUMNS);
        if (where.line > where.path->lines)
            where.path->lines = where.line;
        if (where.column > where.path->columns)
            where.path->columns = where.column;
    }
    site.is_contained = reader_accept(r, "contained");
    site.is_noted = ir_check_info[which].brief && reader_accept(r, "noted");
    vec_push(r->arena, &r->kernel->checks, site);
    if (where.path) {
        where.kernel = r->kernel;
        where.site = r->kernel->checks.count - 1;
        vec_push(r->arena, &r->wheres, where);
    }
    reader_end_line(r);
}

static void read_parameter(struct reader *r, enum ir_parameter_kind kind) {
    struct ir_parameter parameter = {.kind = kind};
    struct span begin = r->before.span;
    reader_take(r, TOKEN_NUMBER, "the number of an argument and its part, as in `0.0`,");
    char *end;
    parameter.argument = strtoul(r->before.text, &end, 10);
    if (*end != '.' || !isdigit((unsigned char)end[1]))
        reader_fail(r, r->before.span, "the number of an argument and its part are written as in `0.0`");
    parameter.component = strtoul(end + 1, &end, 10);
    if (*end || parameter.argument >= MOST_NUMBERS || parameter.component >= MOST_NUMBERS)
        reader_fail(r, r->before.span, "the number of an argument and its part are written as in `0.0`");
    parameter.name = reader_take(r, TOKEN_STRING, "the name of the parameter");
    if (kind == IR_PARAMETER_LENGTH) {
        reader_expect(r, "dimension");
        parameter.dimension = (int)reader_integer(r, 0, 7);
    }
    reader_expect(r, "=");
    if (kind == IR_PARAMETER_BUFFER)
        parameter.buffer = reader_buffer_use(r);
    else
        parameter.value = reader_definition(r, NULL);
    size_t count = r->kernel->parameters.count;
    const struct ir_parameter *before = count ? &r->kernel->parameters.at[count - 1] : NULL;
    if (parameter.buffer && (!before || before->kind == IR_PARAMETER_SCALAR || before->argument != parameter.argument))
        reader_fail(r, r->before.span, "the extents of an array stand before it");
    for (size_t i = 0; parameter.buffer && i < count; i++)
        if (r->kernel->parameters.at[i].buffer == parameter.buffer)
            reader_fail(r, r->before.span, "this buffer is a parameter already");
    bool is_length = kind != IR_PARAMETER_LENGTH || parameter.value->base == BASE_I32;
    if ((parameter.buffer && parameter.buffer->memory != MEMORY_INPUT) || !is_length)
        reader_fail(r, r->before.span, is_length ? "a parameter's array is an input" : "an extent is an int");
    vec_push(r->arena, &r->kernel->parameters, parameter);
    vec_push(r->arena, &r->parameter_spans, begin);
    reader_end_line(r);
}

/* ---- a kernel ---- */

static void number_values(struct reader *r, uint32_t said) {
    uint32_t count = said;
    for (size_t i = 0; i < r->all.count; i++)
        if (map_has(r->is_numbered, r->all.at[i]) && r->all.at[i]->id >= count)
            count = r->all.at[i]->id + 1;
    bool *taken = ARENA_ARRAY(r->arena, bool, count + 1);
    for (size_t i = 0; i < r->all.count; i++)
        if (map_has(r->is_numbered, r->all.at[i]))
            taken[r->all.at[i]->id] = true;
    uint32_t free = 0;
    for (size_t i = 0; i < r->all.count; i++) {
        struct ir_value *value = r->all.at[i];
        if (map_has(r->is_numbered, value))
            continue;
        while (free < count && taken[free])
            free++;
        value->id = free++;
    }
    r->kernel->value_count = free > count ? free : count;
}

static void number_buffers(struct reader *r) {
    for (size_t i = 0; i < r->kernel->buffers.count; i++)
        if (r->kernel->buffers.at[i]->id == UINT32_MAX)
            r->kernel->buffers.at[i]->id = r->next_buffer++;
    if (r->next_buffer >= MOST_NUMBERS)
        reader_fail(r, r->kernel->span, "numbers go to %d", MOST_NUMBERS - 1);
}

static void resolve_capacities(struct reader *r) {
    for (size_t i = 0; i < r->capacities.of.count; i++) {
        struct ir_value *value = reader_value_named(r, &r->capacities.is.at[i]);
        if (!base_info[value->base].is_integer)
            reader_fail(r, r->capacities.is.at[i].span, "the length of a buffer is an integer");
        if (map_has(r->unknown, value))
            reader_fail(r, r->capacities.is.at[i].span, "this length is unknown");
        r->capacities.of.at[i]->capacity = value;
    }
}

/* A record's words are printed by directives of a letter each: fcl_trace. */
static void read_traced(struct reader *r) {
    const char *format = reader_take(r, TOKEN_STRING, "how a record is printed");
    for (const char *c = format; *c; c++)
        if (*c == '%' && (!*++c || !strchr("%iubflnd", *c)))
            reader_fail(r, r->before.span, "behind `%%` in a record's form comes one of `iubflnd%%`");
    vec_push(r->arena, &r->kernel->traces, format);
    reader_end_line(r);
}

static void read_result(struct reader *r) {
    struct ir_result result = {0};
    struct span begin = r->before.span;
    if (r->token.kind == TOKEN_BUFFER) {
        result.is_array = true;
        result.buffer = reader_buffer_use(r);
    }
    result.value = reader_value(r);
    value_list extents = {0};
    if (result.is_array && reader_accept(r, "extents"))
        reader_values(r, &extents);
    else if (result.is_array)
        vec_push(r->arena, &extents, result.value);
    result.extents = extents.at;
    result.rank = extents.count;
    vec_push(r->arena, &r->kernel->results, result);
    vec_push(r->arena, &r->result_spans, begin);
    reader_end_line(r);
}

static void read_head(struct reader *r, uint32_t *values) {
    struct ir_kernel *kernel = r->kernel;
    if (r->token.kind != TOKEN_STRING && r->token.kind != TOKEN_WORD)
        reader_expected(r, "the kernel's name");
    kernel->span = r->token.span;
    kernel->name = symbol_of(r->symbols, r->token.text);
    if (!kernel->name->length || !reader_is_word((unsigned char)kernel->name->text[0]) ||
        isdigit((unsigned char)kernel->name->text[0]))
        reader_fail(r, r->token.span, "a kernel's name begins with a letter");
    reader_next(r);
    kernel->block_size = reader_accept(r, "block") ? (int)reader_integer(r, 1, 1024) : 256;
    kernel->warp_size = reader_accept(r, "warp") ? (int)reader_integer(r, 1, 64) : 32;
    kernel->grid_size = reader_accept(r, "grid") ? (int)reader_integer(r, 1, INT32_MAX) : 1024;
    *values = reader_accept(r, "values") ? (uint32_t)reader_integer(r, 0, MOST_NUMBERS) : 0;
    kernel->has_warps = reader_accept(r, "warps");
    kernel->is_cpu = reader_accept(r, "cpu");
    kernel->contracts = reader_accept(r, "contract");
    kernel->approximates = reader_accept(r, "approximate");
}

static void read_kernel(struct reader *r, struct ir_file *file) {
    struct ir_kernel *kernel = r->kernel = ARENA_NEW(r->arena, struct ir_kernel);
    kernel->source = r->source;
    r->values = map_new(r->arena);
    r->buffers = map_new(r->arena);
    r->constants = map_new(r->arena);
    r->is_numbered = map_new(r->arena);
    r->unknown = map_new(r->arena);
    r->all.count = r->capacities.of.count = r->capacities.is.count = 0;
    r->takes_spans.count = r->parameter_spans.count = r->result_spans.count = 0;
    r->next_buffer = 0;
    uint32_t values;
    read_head(r, &values);
    kernel->body = reader_new_region(r, NULL, LEVEL_GRID);
    reader_open(r);
    VEC(struct type *) takes = {0};
    for (;;) {
        if (reader_accept(r, "takes") || reader_accept(r, "gives")) {
            bool takes_it = r->before.text[0] == 't';
            struct span span = r->token.span;
            struct type *type = read_type(r);
            if (takes_it) {
                vec_push(r->arena, &takes, type);
                vec_push(r->arena, &r->takes_spans, span);
            } else {
                kernel->result_type = type;
                r->gives_span = span;
            }
            reader_end_line(r);
        } else if (reader_accept(r, "site")) {
            read_site(r);
        } else if (reader_accept(r, "buffer")) {
            reader_buffer(r);
        } else if (reader_accept(r, "scalar")) {
            read_parameter(r, IR_PARAMETER_SCALAR);
        } else if (reader_accept(r, "extent")) {
            read_parameter(r, IR_PARAMETER_LENGTH);
        } else if (reader_accept(r, "trace")) {
            kernel->trace = reader_buffer_use(r);
            reader_end_line(r);
        } else if (reader_accept(r, "traced")) {
            read_traced(r);
        } else if (reader_accept(r, "unknown")) {
            struct ir_value *value = reader_definition(r, NULL);
            map_set(r->unknown, value, value);
            reader_end_line(r);
        } else if (reader_accept(r, "array")) {
            read_parameter(r, IR_PARAMETER_BUFFER);
        } else {
            break;
        }
    }
    kernel->parameter_types = takes.at;
    kernel->parameter_type_count = takes.count;
    if (!kernel->result_type)
        reader_fail(r, kernel->span, "`gives` is missing: the type of the result");
    reader_region(r, kernel->body);
    while (reader_accept(r, "return"))
        read_result(r);
    reader_close(r);
    reader_end_line(r);
    resolve_capacities(r);
    number_values(r, values);
    number_buffers(r);
    reader_check_kernel(r);
    vec_push(r->arena, &file->kernels, kernel);
}

/* ---- a file ---- */

/* The places of checks: in stand-ins for the programs' files, which have blanks up to there. */
static void place_sites(struct reader *r) {
    for (size_t i = 0; i < map_count(r->paths); i++) {
        struct path *path = map_entry(r->paths, i).value;
        struct text text;
        text_init(&text, r->arena);
        for (unsigned line = 0; line < path->lines; line++)
            text_printf(&text, "%*s\n", (int)path->columns, "");
        path->source = source_add(r->sources, path->path, text_string(&text), text.length);
    }
    for (size_t i = 0; i < r->wheres.count; i++) {
        const struct where *where = &r->wheres.at[i];
        uint32_t offset = (where->line - 1) * (where->path->columns + 1) + where->column - 1;
        uint32_t begin = where->path->source->base + offset;
        where->kernel->checks.at[where->site].span = (struct span){begin, begin + 1};
    }
}

static void read_file(struct reader *r, struct ir_file *file) {
    reader_next(r);
    while (r->token.kind == TOKEN_LINE)
        reader_next(r);
    if (!reader_is(r, "fclir"))
        reader_expected(r, "`fclir 1`, which a file begins with,");
    reader_next(r);
    if (reader_integer(r, 0, INT32_MAX) != IR_TEXT_VERSION)
        reader_fail(r, r->before.span, "this version of fclc reads version %d", IR_TEXT_VERSION);
    if (reader_accept(r, "for"))
        file->target = reader_take(r, TOKEN_WORD, "a target");
    if (reader_accept(r, "from"))
        file->from = reader_take(r, TOKEN_STRING, "the name of a file");
    reader_end_line(r);
    while (r->token.kind != TOKEN_END) {
        reader_expect(r, "kernel");
        read_kernel(r, file);
    }
    place_sites(r);
}

struct ir_file *ir_read(struct arena *arena, struct symbols *symbols, struct sources *sources,
                        const struct source *source, struct diagnostics *diagnostics) {
    struct ir_file *file = ARENA_NEW(arena, struct ir_file);
    struct reader *r = ARENA_NEW(arena, struct reader);
    *r = (struct reader){.arena = arena,
                         .symbols = symbols,
                         .sources = sources,
                         .source = source,
                         .diagnostics = diagnostics,
                         .paths = map_new(arena)};
    if (setjmp(r->failure))
        return NULL;
    read_file(r, file);
    return file;
}

bool ir_waits(const struct ir_kernel *kernel) {
    for (struct ir_walk walk = ir_walk(kernel->body); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_FORALL && walk.at->buffer)
            return true;
    return false;
}

bool ir_is_bound(const struct ir_kernel *kernel) {
    for (struct ir_walk walk = ir_walk(kernel->body); walk.at; ir_next(&walk)) {
        const struct ir_instruction *at = walk.at;
        if (at->kind == IR_SHUFFLE || at->kind == IR_BALLOT || at->kind == IR_MATCH || at->kind == IR_MMA ||
            at->kind == IR_FENCE || at->is_volatile)
            return true;
    }
    return ir_waits(kernel);
}
