/* The header's text: heading, declarations, and (for the one file that defines
   NAME_IMPLEMENTATION) the kernels' source and the functions. */
#include "host/emit.h"

#include <ctype.h>
#include <string.h>

#include "backend/parts.h"
#include "fcl.h"
#include "host/emit_function.h"
#include "map/map.h"
#include "support/map.h"

static const char *identifier(struct arena *arena, const char *text, bool upper) {
    char *copy = arena_strndup(arena, text, strlen(text));
    for (char *c = copy; *c; c++)
        *c = !isalnum((unsigned char)*c) ? '_' : upper ? (char)toupper((unsigned char)*c) : *c;
    return isdigit((unsigned char)copy[0]) ? arena_printf(arena, "_%s", copy) : copy;
}

static const char parts[] =
#include "compiler/host/parts/header.h.inc"
    ;

static const char before_language[] = "Host functions of its kernels, for";

const struct target *host_header_target(const char *beginning) {
    const char *found = strstr(beginning, before_language);
    if (!found)
        return NULL;
    found += strlen(before_language) + 1;
    size_t length = strcspn(found, ".");
    for (size_t i = 0; targets[i]; i++)
        if (strlen(targets[i]->language) == length && strncmp(found, targets[i]->language, length) == 0)
            return targets[i];
    return NULL;
}

/* The names of the host functions of one kernel that go out. */
static const char *const endings[] = {"", "_into", "_device", "_device_into", "_graph"};

static bool is_free(struct arena *arena, struct symbols *symbols, struct map *used, const char *name) {
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (map_get(used, symbol_of(symbols, arena_printf(arena, "%s%s", name, endings[i]))))
            return false;
    return true;
}

/* A name for each kernel's host function, such that none meets another one: those of kernels `k'`
   and `k_` would, and those of `k` and `k_into`. */
static const char **function_names(struct arena *arena, const struct host_emit_request *request, const char *prefix) {
    struct symbols *symbols = symbols_new(arena);
    struct map *used = map_new(arena);
    symbol text = symbol_of(symbols, arena_printf(arena, "%s_%s", prefix,
                                                  !request->is_linked                         ? "source"
                                                  : request->target->linked == LINK_FUNCTIONS ? "linked"
                                                                                              : "image"));
    map_set(used, text, (void *)text);
    bool has_kernels = request->is_linked && request->target->linked == LINK_FUNCTIONS;
    for (size_t i = 0; has_kernels && i < request->count; i++) /* kernels are in the same file */
        for (size_t k = 0; k < request->programs[i]->kernels.count; k++) {
            symbol kernel = symbol_of(symbols, request->programs[i]->kernels.at[k]->name);
            map_set(used, kernel, (void *)kernel);
        }
    const char **names = ARENA_ARRAY(arena, const char *, request->count);
    for (size_t i = 0; i < request->count; i++) {
        const char *own = identifier(arena, request->programs[i]->kernel->name->text, false);
        names[i] = arena_printf(arena, "%s_%s", prefix, own);
        while (!is_free(arena, symbols, used, names[i]))
            names[i] = arena_printf(arena, "%s_", names[i]);
        for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
            symbol name = symbol_of(symbols, arena_printf(arena, "%s%s", names[i], endings[k]));
            map_set(used, name, (void *)name);
        }
    }
    return names;
}

/* The functions, which want PREFIX_source or PREFIX_linked before them. */
static const char *definitions(struct emit_unit *unit, const struct host_emit_request *request, const char **names) {
    struct text functions, out;
    text_init(&functions, unit->arena);
    text_init(&out, unit->arena);
    for (size_t i = 0; i < request->count; i++)
        emit_definitions(unit, &functions, request->programs[i], names[i]);
    text_add(&out, backend_scalars_helpers(unit->scalars));
    text_add(&out, text_string(&functions));
    return text_string(&out);
}

static const char *declarations(struct emit_unit *unit, const struct host_emit_request *request, const char **names) {
    struct text out;
    text_init(&out, unit->arena);
    for (size_t i = 0; i < request->count; i++)
        emit_declarations(unit, &out, request->programs[i], names[i]);
    return text_string(&out);
}

/* ---- the parts ---- */

/* The words of the parts, and the texts that stand for them. */
struct words {
    struct arena *arena;
    struct text_word at[20];
    size_t count;
};

static void add_word(struct words *words, const char *word, const char *value) {
    words->at[words->count++] = (struct text_word){word, value};
}

static const char *part(const struct words *words, const char *name) {
    struct text out;
    text_init(&out, words->arena);
    part_print(&out, parts, name, words->at);
    return text_string(&out);
}

/* Kernels are static: what is declared so first stays so. */
static void add_linked(struct words *words, const struct host_emit_request *request) {
    struct text prototypes, rows;
    text_init(&prototypes, words->arena);
    text_init(&rows, words->arena);
    for (size_t i = 0; i < request->count; i++)
        for (size_t k = 0; k < request->programs[i]->kernels.count; k++) {
            const struct text_word kernel[] = {{"KERNEL", request->programs[i]->kernels.at[k]->name}, {0}};
            if (request->programs[i]->kernels.at[k]->same)
                continue;
            part_print(&prototypes, parts, "PROTOTYPE", kernel);
            part_print(&rows, parts, "ROW", kernel);
        }
    add_word(words, "PROTOTYPES\n", text_string(&prototypes));
    add_word(words, "ROWS\n", text_string(&rows));
    add_word(words, "C_OPTIONS", FCL_C_OPTIONS);
}

static const char *embedded(struct arena *arena, const char *source) {
    struct text out;
    text_init(&out, arena);
    emit_embed(&out, source);
    return text_string(&out);
}

struct host_emitted host_emit(struct arena *arena, const struct host_emit_request *request) {
    const char *name = text_file_name(request->base_name), *language = request->target->language;
    const char *prefix = identifier(arena, name, false);
    bool is_file = request->is_linked && request->target->linked == LINK_FUNCTIONS;
    const char *how = is_file ? "LINKED" : request->is_linked ? "IMAGE" : "BUILT";
    const char *build = is_file              ? "fcl_link(context, %s_linked, &program)"
                        : request->is_linked ? "fcl_link_image(context, %s_image, &program)"
                                             : "fcl_build(context, %s_source, NULL, &program)";
    struct words words = {.arena = arena};
    add_word(&words, "VERSION", request->version);
    add_word(&words, "SOURCE_NAME", text_in_comment(arena, request->source_name));
    add_word(&words, "BASE_NAME", name);
    add_word(&words, "GUARD", identifier(arena, name, true));
    add_word(&words, "PREFIX", prefix);
    add_word(&words, "FUNCTIONS_FOR", before_language);
    add_word(&words, "LANGUAGE", language);
    add_word(&words, "HOW_TO_LINK\n", part(&words, arena_printf(arena, "%s_HOW", how)));
    struct emit_unit unit = {.arena = arena,
                             .prefix = prefix,
                             .build = arena_printf(arena, build, prefix),
                             .backend = request->target->runtime,
                             .has_graphs = request->target->has_graphs,
                             .scalars = backend_scalars_new(arena),
                             .sources = request->sources};
    const char **names = function_names(arena, request, prefix);
    add_word(&words, "DECLARATIONS\n", declarations(&unit, request, names));
    add_word(&words, "DEFINITIONS\n", definitions(&unit, request, names));
    add_word(&words, "KERNELS\n", request->kernel_source);
    if (is_file)
        add_linked(&words, request);
    else if (!request->is_linked)
        add_word(&words, "KERNELS_IN_STRINGS", embedded(arena, request->kernel_source));
    add_word(&words, "HOW_KERNELS_COME\n", is_file ? "" : part(&words, how));
    add_word(&words, "IMPLEMENTATION\n", is_file ? "" : part(&words, "IMPLEMENTATION"));
    return (struct host_emitted){part(&words, "HEADER"), is_file ? part(&words, "FILE") : NULL};
}
