/* Looking without running: check, types, and the dumps of the early stages. */
#include <string.h>

#include "driver/commands.h"
#include "driver/compilation.h"
#include "driver/complaint.h"
#include "driver/later_stages.h"
#include "driver/output.h"
#include "support/edit.h"
#include "syntax/syntax.h"

static enum exit_status check_file(struct options *options, const char *path) {
    struct compilation *c = compilation_new(options);
    enum exit_status status = compilation_check(c, path);
    if (status == EXIT_GOOD && compilation_has_meaning(c) && !options->types_only)
        check_later_stages(c);
    return compilation_end(c, status);
}

enum exit_status command_check(struct options *options) {
    if (options->target && strcmp(options->target, "interp") == 0)
        return driver_complain(options, EXIT_USAGE,
                               "--target=interp compiles nothing: with --types-only that is not looked for");
    enum exit_status result = EXIT_GOOD;
    for (size_t i = 0; i < options->operand_count; i++)
        result = exit_worse(result, check_file(options, options->operands[i]));
    return result;
}

/* ---- types ---- */

/* The last definition of that name in a file, or with NULL in the prelude. */
static const struct scheme *scheme_in(const struct compilation *c, const struct source *source, const char *name,
                                      struct suggestion *suggestion) {
    for (size_t i = c->program->globals.count; i-- > 0;) {
        const struct core_global *global = c->program->globals.at[i];
        if (source ? global->source != source : !global->from_prelude)
            continue;
        if (strcmp(global->name->text, name) == 0)
            return global->scheme;
        suggestion_offer(suggestion, global->name->text);
    }
    return NULL;
}

/* The definition of that name which the end of the file sees: the file's own, else an imported one, else the prelude's,
   else a primitive. NULL: there is none, and the function has reported it. */
static const struct scheme *scheme_named(const struct compilation *c, const char *name) {
    struct suggestion suggestion = suggestion_for(name);
    const struct module *own = c->modules.at[c->modules.count - 1];
    const struct scheme *found = scheme_in(c, own->file->source, name, &suggestion);
    for (size_t i = own->import_count; !found && i-- > 0;)
        found = scheme_in(c, own->imports[i]->file->source, name, &suggestion);
    if (!found)
        found = scheme_in(c, NULL, name, &suggestion);
    if (found)
        return found;
    for (int i = 0; i < PRIM_COUNT; i++) {
        if (primitive_is_internal((enum primitive)i))
            continue;
        if (strcmp(primitive_info[i].name, name) == 0)
            return types_of_primitive(c->arena, c->symbols, c->diagnostics, (enum primitive)i);
        suggestion_offer(&suggestion, primitive_info[i].name);
    }
    if (suggestion.best)
        driver_complain(c->options, EXIT_USAGE, "%s: nothing is named `%s`; did you mean `%s`?", c->file->source->path,
                        name, suggestion.best);
    else
        driver_complain(c->options, EXIT_USAGE, "%s: nothing is named `%s`", c->file->source->path, name);
    return NULL;
}

/* An operator may be in parentheses, as in a section. */
static const char *without_parentheses(struct arena *arena, const char *name) {
    size_t length = strlen(name);
    return length > 2 && name[0] == '(' && name[length - 1] == ')' ? arena_strndup(arena, name + 1, length - 2) : name;
}

/* `&&` and `||`, which are written as operators and are `if`s. */
static bool is_logical(const char *name) { return strcmp(name, "&&") == 0 || strcmp(name, "||") == 0; }

static enum exit_status add_types(const struct compilation *c, const char *const *names, size_t count,
                                  struct text *out) {
    enum exit_status status = EXIT_GOOD;
    for (size_t i = 0; i < count; i++) {
        const char *name = without_parentheses(c->arena, names[i]);
        const struct scheme *scheme = is_logical(name) ? NULL : scheme_named(c, name);
        if (is_logical(name))
            text_printf(out, "%s : bool -> bool -> bool\n", names[i]);
        else if (scheme)
            text_printf(out, "%s : %s\n", names[i], scheme_spelling(c->arena, scheme));
        else
            status = EXIT_USAGE;
    }
    for (size_t i = 0; count == 0 && i < c->program->globals.count; i++) {
        const struct core_global *global = c->program->globals.at[i];
        if (global->source == c->file->source)
            text_printf(out, "%s : %s\n", global->name->text, scheme_spelling(c->arena, global->scheme));
    }
    return status;
}

enum exit_status command_types(struct options *options) {
    struct compilation *c = compilation_new(options);
    struct text out;
    text_init(&out, c->arena);
    enum exit_status status = compilation_check(c, options->operands[0]);
    if (status == EXIT_GOOD && compilation_is_good(c))
        status = add_types(c, options->operands + 1, options->operand_count - 1, &out);
    fputs(text_string(&out), stdout);
    return compilation_end(c, status);
}

/* ---- dumps ---- */

static enum exit_status dump(struct compilation *c, struct text *out) {
    const char *stage = c->options->dump, *path = c->options->operands[0], *why = NULL;
    if (compilation_refuses_ir(c->options, path))
        return EXIT_USAGE;
    if (strcmp(stage, "tokens") == 0) {
        const struct source *source = source_load(c->sources, path, &why);
        if (source) {
            syntax_dump_tokens(out, c->symbols, source, c->diagnostics);
            return EXIT_GOOD;
        }
        return driver_complain(c->options, EXIT_USAGE, "%s: %s", path, why);
    }
    if (strcmp(stage, "ast") == 0) {
        enum exit_status status = compilation_load(c, path);
        if (status == EXIT_GOOD)
            syntax_dump_ast(out, c->file);
        return status;
    }
    enum exit_status status = compilation_check(c, path);
    if (status != EXIT_GOOD || !compilation_is_good(c))
        return status;
    if (strcmp(stage, "types") == 0)
        return add_types(c, NULL, 0, out);
    if (strcmp(stage, "core") == 0) {
        core_dump(out, c->program, false);
        return EXIT_GOOD;
    }
    return dump_later_stage(c, out);
}

enum exit_status command_dump(struct options *options) {
    struct compilation *c = compilation_new(options);
    struct text out;
    text_init(&out, c->arena);
    enum exit_status status = dump(c, &out);
    const char *why;
    if (status == EXIT_GOOD && options->output && compilation_overwrites(c, "-o", options->output))
        status = EXIT_USAGE;
    else if (status == EXIT_GOOD &&
             !output_write(c->arena, options->output ? options->output : "-", text_string(&out), out.length, &why))
        status = driver_complain(options, EXIT_USAGE, "%s", why);
    return compilation_end(c, status);
}
