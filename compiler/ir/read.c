/* Reading the IR from text: files and kernels, and what the text promises that ir_verify does not look at. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ir/reader.h"
#include "ir/walk.h"

/* A file that checks are said to be in: of its text no more is known than how long it is at least. */
struct path {
    const char *path;
    unsigned lines, columns;
    const struct source *source;
};

/* ---- types of parameters and results ---- */

static struct type *read_type(struct reader *r) {
    struct type *type = ARENA_NEW(r->arena, struct type);
    if (++r->depth > DEEPEST_REGION)
        reader_fail(r, r->token.span, "types are nested too deeply");
    if (reader_accept(r, "(")) {
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

/* How many scalars and arrays there are in it, within `rank` arrays. */
static void check_leaves(struct reader *r, const struct type *type, size_t rank, size_t *next) {
    if (type->kind == TYPE_TUPLE) {
        for (size_t i = 0; i < type->tuple.count; i++)
            check_leaves(r, type->tuple.items[i], rank, next);
    } else if (type->kind == TYPE_PULL || type->kind == TYPE_PUSH) {
        check_leaves(r, type->array.element, rank + 1, next);
    } else {
        const struct ir_kernel *kernel = r->kernel;
        size_t at = (*next)++;
        if (at < kernel->results.count && kernel->results.at[at].rank == rank)
            return;
        reader_fail(r, r->kernel->span, "result %zu of `%s` is not what `gives` says", at + 1, kernel->name->text);
    }
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

/* Buffers live where they are allocated, and are used there, and once. What ir_verify does not look at. */
struct lives {
    struct reader *r;
    struct map *region; /* buffer → where it was allocated */
};

static bool is_parameter(const struct ir_kernel *kernel, const struct ir_buffer *buffer) {
    for (size_t i = 0; i < kernel->parameters.count; i++)
        if (kernel->parameters.at[i].buffer == buffer)
            return true;
    return false;
}

static void check_alive(struct lives *l, const struct ir_instruction *at, const struct ir_buffer *buffer) {
    if (buffer && buffer->memory == MEMORY_INPUT && !is_parameter(l->r->kernel, buffer))
        reader_fail(l->r, at->span, "this input is no parameter's");
    if (!buffer || ir_is_constant_memory(buffer))
        return;
    const struct ir_region *region = map_get(l->region, buffer);
    if (!region || !ir_region_inside(at->region, region))
        reader_fail(l->r, at->span, "this buffer is not allocated here");
}

/* Only operations that nothing uses may use them. */
static void check_known(struct lives *l, const struct ir_instruction *at) {
    for (size_t i = 0; i < at->operand_count; i++) {
        if (!map_has(l->r->unknown, at->operands[i]))
            continue;
        if (at->kind != IR_OPERATION)
            reader_fail(l->r, at->span, "this goes by a value that is unknown");
        map_set(l->r->unknown, at->results[0], at->results[0]);
    }
}

static void check_yields_known(struct lives *l, const struct ir_region *region) {
    for (size_t i = 0; i < region->yields.count; i++)
        if (map_has(l->r->unknown, region->yields.at[i]))
            reader_fail(l->r, region->owner->span, "what a region of this yields is unknown");
}

/* The host's index is a constant within a buffer of that length, or it says what to report. */
static void check_hosts_load(struct lives *l, const struct ir_instruction *at) {
    const struct ir_value *index = at->operands[0], *capacity = at->buffer->capacity;
    bool is_within = index->is_constant && capacity && capacity->is_constant && index->constant.integer >= 0 &&
                     index->constant.integer < capacity->constant.integer;
    if (!is_within && at->site >= l->r->kernel->checks.count)
        reader_fail(l->r, at->span,
                    "a load by the host wants a site, of the kernel's, for an index that is out of range");
}

static void check_lives(struct lives *l, const struct ir_region *region) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *at = region->instructions.at[i];
        if (at->kind == IR_ALLOCATE) {
            if (map_has(l->region, at->buffer))
                reader_fail(l->r, at->span, "this buffer is allocated twice");
            /* Made in a branch, it may be used in a later one on the same condition. */
            const struct ir_region *there = region;
            while (there->owner && there->owner->kind == IR_IF)
                there = there->parent;
            map_set(l->region, at->buffer, (void *)(uintptr_t)there);
        } else {
            check_alive(l, at, at->buffer);
            if (at->kind == IR_SWAP)
                check_alive(l, at, IR_PART(at, swap).other);
        }
        check_known(l, at);
        if (at->kind == IR_LOAD && region->ambient == LEVEL_GRID)
            check_hosts_load(l, at);
        if (at->kind == IR_LOAD && at->buffer->of_host && region->ambient != LEVEL_GRID)
            reader_fail(l->r, at->span, "only the host has this table");
        for (int k = 0; k < 2; k++)
            if (at->regions[k])
                check_lives(l, at->regions[k]);
    }
    check_yields_known(l, region);
}

static void check_results(struct reader *r, struct lives *l) {
    struct ir_kernel *kernel = r->kernel;
    size_t next_result = 0;
    check_leaves(r, kernel->result_type, 0, &next_result);
    if (next_result != kernel->results.count)
        reader_fail(r, r->kernel->span, "`%s` has more results than `gives` says", kernel->name->text);
    for (size_t i = 0; i < kernel->results.count; i++) {
        struct ir_result *result = &kernel->results.at[i];
        if (map_has(r->unknown, result->value))
            reader_fail(r, r->kernel->span, "a result of `%s` is unknown", kernel->name->text);
        if (!result->is_array)
            continue;
        for (size_t k = 0; k < result->rank; k++)
            if (result->extents[k]->base != BASE_I32 || map_has(r->unknown, result->extents[k]))
                reader_fail(r, kernel->span, "an extent of a result of `%s` is no int, or unknown", kernel->name->text);
        bool is_there = is_parameter(kernel, result->buffer) ||
                        (result->buffer->memory == MEMORY_OUTPUT && map_get(l->region, result->buffer) == kernel->body);
        if (!is_there || result->value->base != BASE_I32)
            reader_fail(
                r, r->kernel->span,
                "result %zu of `%s` must be an input or an output that is there at the end, and its length an int",
                i + 1, kernel->name->text);
        result->buffer->is_result = true;
    }
}

/* The memory that it leaves records in is there at the end, like a result. */
static void check_trace(struct reader *r, struct lives *l) {
    struct ir_buffer *trace = r->kernel->trace;
    if (!trace)
        return;
    if (trace->memory != MEMORY_OUTPUT || trace->element != BASE_U32 || map_get(l->region, trace) != r->kernel->body)
        reader_fail(r, trace->span, "records of traces lie in an output of type uint that is there at the end");
    trace->is_result = true;
}

static void read_result(struct reader *r) {
    struct ir_result result = {0};
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
    r->next_buffer = 0;
    uint32_t values;
    read_head(r, &values);
    kernel->body = reader_new_region(r, NULL, LEVEL_GRID);
    reader_open(r);
    VEC(struct type *) takes = {0};
    for (;;) {
        if (reader_accept(r, "takes") || reader_accept(r, "gives")) {
            bool takes_it = r->before.text[0] == 't';
            struct type *type = read_type(r);
            if (takes_it)
                vec_push(r->arena, &takes, type);
            else
                kernel->result_type = type;
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
            vec_push(r->arena, &kernel->traces, reader_take(r, TOKEN_STRING, "how a record is printed"));
            reader_end_line(r);
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
    struct lives lives = {r, map_new(r->arena)};
    check_lives(&lives, kernel->body);
    check_results(r, &lives);
    check_trace(r, &lives);
    struct span where = {0, 0};
    const char *wrong = ir_verify_at(r->arena, kernel, &where);
    if (wrong)
        reader_fail(r, where.end ? where : kernel->span, "%s", wrong);
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

bool ir_is_bound(const struct ir_kernel *kernel) {
    for (struct ir_walk walk = ir_walk(kernel->body); walk.at; ir_next(&walk)) {
        const struct ir_instruction *at = walk.at;
        if (at->kind == IR_SHUFFLE || at->kind == IR_BALLOT || at->kind == IR_MATCH || at->kind == IR_MMA ||
            at->kind == IR_FENCE || at->is_volatile || (at->kind == IR_FORALL && at->buffer))
            return true;
    }
    return false;
}
