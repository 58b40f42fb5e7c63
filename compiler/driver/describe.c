/* Describes what the kernels of a program take and give; see describe.h. */
#include "driver/describe.h"

#include <string.h>

#include "driver/arguments.h"

static struct fclc_type type_of(struct arena *arena, struct type *type, size_t rank) {
    type = type_resolve(type);
    struct type *element;
    size_t own = value_type_rank(type, &element);
    if (own)
        return type_of(arena, element, own);
    if (type->kind != TYPE_TUPLE)
        return (struct fclc_type){
            .kind = rank ? FCLC_ARRAY : FCLC_SCALAR, .base = (enum fclc_base)type->base, .rank = rank};
    struct fclc_type *items = ARENA_ARRAY(arena, struct fclc_type, type->tuple.count);
    for (size_t i = 0; i < type->tuple.count; i++)
        items[i] = type_of(arena, type->tuple.items[i], rank);
    const struct record *record = type->tuple.record;
    const char **fields = record ? ARENA_ARRAY(arena, const char *, record->count) : NULL;
    for (size_t i = 0; record && i < record->count; i++)
        fields[i] = record->fields[i]->text;
    return (struct fclc_type){
        .kind = FCLC_TUPLE, .rank = rank, .count = type->tuple.count, .items = items, .fields = fields};
}

/* The beginning of the line before, or NULL. */
static const unsigned char *line_before(const struct source *source, const unsigned char *line) {
    if (line == source->text)
        return NULL;
    for (line--; line > source->text && line[-1] != '\n';)
        line--;
    return line;
}

static bool begins_with(const unsigned char *line, const char *word) {
    return strncmp((const char *)line, word, strlen(word)) == 0;
}

/* `cost KERNEL: …` */
static bool is_cost(const char *words, size_t length) {
    const char *colon = memchr(words, ':', length);
    return strncmp(words, "cost ", strlen("cost ")) == 0 && colon &&
           !memchr(words + strlen("cost "), ' ', (size_t)(colon - words) - strlen("cost "));
}

/* The comment on the lines above a declaration, which its sig may come between; no test directives. */
static const char *comment_above(struct arena *arena, const struct source *source, struct span span) {
    const unsigned char *line = source->text + (span.begin - source->base), *first = NULL;
    while (line > source->text && line[-1] != '\n')
        line--;
    for (const unsigned char *at = line_before(source, line); at; at = line_before(source, at)) {
        if (!begins_with(at, "--") && (first || !begins_with(at, "sig ")))
            break;
        if (begins_with(at, "--"))
            first = at;
    }
    struct text text;
    text_init(&text, arena);
    for (; first && first < line; first += strcspn((const char *)first, "\n") + 1) {
        size_t dashes = strspn((const char *)first, "-"), length = strcspn((const char *)first, "\n");
        const char *words = (const char *)first + dashes + strspn((const char *)first + dashes, " ");
        if (!dashes || strncmp(words, "test ", strlen("test ")) == 0 || is_cost(words, length))
            continue;
        text_add(&text, text.length ? "\n" : "");
        text_add_n(&text, words, (size_t)((const char *)first + length - words));
    }
    return text_string(&text);
}

static struct fclc_kernel_info info_of(struct arena *arena, const struct compilation *c,
                                       const struct core_global *global) {
    struct kernel_interface interface = kernel_interface(arena, global);
    struct fclc_parameter *parameters = ARENA_ARRAY(arena, struct fclc_parameter, interface.count);
    for (size_t i = 0; i < interface.count; i++)
        parameters[i] = (struct fclc_parameter){.name = interface.names[i],
                                                .text = type_spelling(arena, interface.parameters[i]),
                                                .type = type_of(arena, interface.parameters[i], 0)};
    struct place place = {0};
    place_of(c->sources, global->span.begin, &place);
    return (struct fclc_kernel_info){
        .name = global->name->text,
        .text = scheme_spelling(arena, global->scheme),
        .comment = comment_above(arena, global->source, global->span),
        .path = global->source->path,
        .line = place.line,
        .parameters = parameters,
        .parameter_count = interface.count,
        .result = {.text = type_spelling(arena, interface.result), .type = type_of(arena, interface.result, 0)},
    };
}

/* A kernel is hidden where its name is defined again later. */
static bool is_hidden(const struct program *program, size_t index) {
    const struct core_global *global = program->globals.at[index];
    for (size_t i = index + 1; i < program->globals.count; i++) {
        const struct core_global *later = program->globals.at[i];
        if (later->kind == GLOBAL_KERNEL && later->source == global->source && later->name == global->name)
            return true;
    }
    return false;
}

struct kernel_list describe_kernels(struct arena *arena, const struct compilation *c) {
    const struct program *program = c->program;
    struct kernel_list list = {0};
    struct fclc_kernel_info *infos = ARENA_ARRAY(arena, struct fclc_kernel_info, program->globals.count);
    const struct core_global **globals = ARENA_ARRAY(arena, const struct core_global *, program->globals.count);
    for (size_t i = 0; i < program->globals.count; i++) {
        const struct core_global *global = program->globals.at[i];
        if (global->kind != GLOBAL_KERNEL || global->source != c->file->source || is_hidden(program, i))
            continue;
        globals[list.count] = global;
        infos[list.count++] = info_of(arena, c, global);
    }
    list.infos = infos;
    list.globals = globals;
    return list;
}
