/* The arguments of a kernel, and reading them from the command line or a test directive. */
#include "driver/arguments.h"

#include "interp/interp.h"

struct kernel_interface kernel_interface(struct arena *arena, const struct core_global *kernel) {
    struct kernel_interface found;
    found.count = interp_parameter_types(arena, kernel, &found.parameters, &found.result);
    found.names = ARENA_ARRAY(arena, const char *, found.count);
    for (size_t i = 0; i < found.count; i++)
        found.names[i] = i < kernel->parameter_count && kernel->parameter_names ? kernel->parameter_names[i]
                                                                                : arena_printf(arena, "arg%zu", i);
    return found;
}

static const char *wrong_count(struct arena *arena, const struct core_global *kernel,
                               const struct kernel_interface *wanted, size_t given) {
    struct text text;
    text_init(&text, arena);
    text_printf(&text, "kernel `%s` takes %zu argument%s", kernel->name->text, wanted->count,
                wanted->count == 1 ? "" : "s");
    for (size_t i = 0; i < wanted->count; i++) {
        text_printf(&text, "%s%s : ", i ? ", " : " (", wanted->names[i]);
        type_print(&text, wanted->parameters[i]);
    }
    text_printf(&text, "%s, and %zu %s given", wanted->count ? ")" : "", given, given == 1 ? "is" : "are");
    return text_string(&text);
}

static int open_brackets(const char *text) {
    int open = 0;
    for (; *text; text++)
        open += value_bracket(*text);
    return open;
}

/* The arguments that the shell has made of one with blanks in it: `[1, 2, 3]`; NULL: it has not. */
static const char *broken_up(struct arena *arena, const char *const *texts, size_t count) {
    for (size_t first = 0; first + 1 < count; first++) {
        if (open_brackets(texts[first]) <= 0)
            continue;
        struct text text;
        text_init(&text, arena);
        int open = 0;
        for (size_t i = first; i < count; i++) {
            text_printf(&text, "%s%s", i > first ? " " : "", texts[i]);
            open += open_brackets(texts[i]);
            if (open == 0)
                return text_string(&text);
        }
    }
    return NULL;
}

/* The first field of a record whose braces the shell has taken for its own, `x=1 y=2`; NULL: it has not. */
static const char *unbraced(const struct kernel_interface *wanted, const char *const *texts, size_t count) {
    for (size_t i = 0; i < count && i < wanted->count; i++) {
        const struct type *type = type_resolve(wanted->parameters[i]);
        const struct record *record = type->kind == TYPE_TUPLE ? type->tuple.record : NULL;
        size_t length = record ? record->fields[0]->length : 0;
        if (record && strncmp(texts[i], record->fields[0]->text, length) == 0 && texts[i][length] == '=')
            return record->fields[0]->text;
    }
    return NULL;
}

struct host_value **parse_arguments(struct arena *arena, const struct core_global *kernel, const char *const *texts,
                                    size_t count, const char *directory, const char **why) {
    struct kernel_interface wanted = kernel_interface(arena, kernel);
    const char *whole = broken_up(arena, texts, count), *field = unbraced(&wanted, texts, count);
    if (whole || field) {
        *why = whole ? arena_printf(arena, "an argument with blanks in it is quoted for the shell: '%s'", whole)
                     : arena_printf(arena, "an argument in braces is quoted for the shell: '{%s=…}'", field);
        return NULL;
    }
    if (wanted.count != count) {
        *why = wrong_count(arena, kernel, &wanted, count);
        return NULL;
    }
    struct host_value **values = ARENA_ARRAY(arena, struct host_value *, count);
    for (size_t i = 0; i < count; i++) {
        struct value_argument argument = {.number = i + 1, .name = wanted.names[i], .directory = directory};
        values[i] = value_parse(arena, wanted.parameters[i], &argument, texts[i], why);
        if (!values[i])
            return NULL;
    }
    return values;
}
