/* The file of tuned values: reading, finding, writing. */
#include "driver/tuning.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver/compilation.h"
#include "driver/complaint.h"
#include "driver/output.h"
#include "support/hash.h"
#include "syntax/lexer.h"
#include "values/value.h"

/* ---- the program ---- */

/* Tokens with their first-on-a-line, which matters to `let`. */
static uint64_t hash_source(struct compilation *c, uint64_t seed, const struct source *source) {
    struct tokens tokens = {0};
    lex_source(c->arena, c->symbols, source, diagnostics_new(c->arena, c->sources), &tokens);
    for (size_t i = 0; i < tokens.count; i++) {
        const struct token *token = &tokens.at[i];
        char begins = token->starts_line ? '\n' : ' ';
        seed = hash_bytes(seed, &begins, 1);
        seed = hash_bytes(seed, source->text + (token->span.begin - source->base), token->span.end - token->span.begin);
    }
    return seed;
}

static const char *hash_text(struct arena *arena, uint64_t hash) { return arena_printf(arena, "%016" PRIx64, hash); }

/* The options that say what the program is: with others, what was found may be slower, or change the result. */
static uint64_t hash_options(struct compilation *c, uint64_t hash) {
    const struct options *o = c->options;
    struct text text;
    text_init(&text, c->arena);
    for (size_t i = 0; i < o->settings.count; i++)
        text_printf(&text, "-D %s=%s ", o->settings.at[i].name, o->settings.at[i].value);
    if (o->block_size_given)
        text_printf(&text, "--block-size=%lld ", (long long)o->block_size);
    if (o->warp_size_given)
        text_printf(&text, "--warp-size=%lld ", (long long)o->warp_size);
    if (o->grid_size_given)
        text_printf(&text, "--grid-size=%lld ", (long long)o->grid_size);
    if (o->vector_bytes_given)
        text_printf(&text, "--vector-bytes=%lld ", (long long)o->vector_bytes);
    return hash_bytes(hash, text_string(&text), text.length);
}

static void hash_program(struct compilation *c, struct tuning *tuning) {
    uint64_t hash = HASH_SEED;
    for (size_t i = 0; i < c->files.count; i++) {
        const struct loaded *loaded = c->files.at[i];
        if (!loaded->module->is_prelude && !loaded->is_library)
            hash = hash_source(c, hash, loaded->module->file->source);
    }
    tuning->program = hash_text(c->arena, hash);
    tuning->program_here = hash_text(c->arena, hash_options(c, hash));
}

static bool is_current(const struct tuning *tuning, const struct tuned *line) {
    return strcmp(line->program, tuning->program) == 0 || strcmp(line->program, tuning->program_here) == 0;
}

/* ---- params ---- */

static const char *value_text(struct arena *arena, const struct param_value *value) {
    const struct core *literal = value->value;
    enum base base = literal->type->base;
    union scalar scalar = {.natural = literal->literal.magnitude};
    if (base_info[base].is_floating)
        scalar.floating = core_floating(literal, base);
    struct text text;
    text_init(&text, arena);
    value_print_scalar(&text, base, base_wrap(base, scalar));
    return text_string(&text);
}

const char *tuning_params_text(struct arena *arena, const struct param_value *values, size_t count) {
    struct text text;
    text_init(&text, arena);
    for (size_t i = 0; i < count; i++)
        text_printf(&text, "%s%s=%s", i ? " " : "", values[i].param->name->text, value_text(arena, &values[i]));
    return count ? text_string(&text) : "-";
}

const struct core_global *tuning_find_param(const struct compilation *c, const char *kernel, const char *name) {
    const struct core_global *found = NULL;
    for (size_t i = 0; i < c->program->globals.count; i++) {
        const struct core_global *global = c->program->globals.at[i];
        bool is_kernel = global->kind == GLOBAL_KERNEL && global->source == c->file->source &&
                         strcmp(global->name->text, kernel) == 0;
        const struct core_global *param = is_kernel ? global->block_size : global->kind == GLOBAL_PARAM ? global : NULL;
        if (param && strcmp(param->name->text, name) == 0)
            found = param;
    }
    return found;
}

static bool is_set(const struct compilation *c, const char *name) {
    for (size_t i = 0; i < c->options->settings.count; i++)
        if (strcmp(c->options->settings.at[i].name, name) == 0)
            return true;
    return false;
}

/* One `name=value`. False, with what is wrong. */
static bool resolve_param(struct compilation *c, char *text, struct tuned *line, const char **why) {
    char *equals = strchr(text, '=');
    if (!equals) {
        *why = arena_printf(c->arena, "`%s` is not NAME=VALUE", text);
        return false;
    }
    *equals = '\0';
    const struct core_global *param = tuning_find_param(c, line->kernel, text);
    if (!param) {
        *why = arena_printf(c->arena, "there is no param `%s`", text);
        return false;
    }
    for (size_t i = 0; i < param->choice_count; i++) {
        struct param_value value = {param, param->choices[i]};
        if (strcmp(value_text(c->arena, &value), equals + 1) != 0)
            continue;
        for (size_t k = 0; k < line->value_count; k++)
            if (line->values[k].param == param) {
                *why = arena_printf(c->arena, "`%s` has two values", text);
                return false;
            }
        if (!is_set(c, text))
            line->values[line->value_count++] = value;
        return true;
    }
    *why = arena_printf(c->arena, "`%s` is not among the choices of `%s`", equals + 1, text);
    return false;
}

static bool resolve(struct compilation *c, struct tuned *line, const char **why) {
    char *params = arena_strndup(c->arena, line->params, strlen(line->params)), *rest = NULL;
    line->values = ARENA_ARRAY(c->arena, struct param_value, strlen(params) / 2 + 1);
    if (strcmp(params, "-") == 0)
        return true;
    for (char *word = strtok_r(params, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        if (!resolve_param(c, word, line, why))
            return false;
    return true;
}

/* ---- the file ---- */

enum { COLUMNS = 6 };

/* False, with what is wrong. */
static bool read_line(struct compilation *c, char *text, struct tuning *tuning, const char **why) {
    const char *columns[COLUMNS];
    size_t count = 0;
    for (char *at = text; at && count < COLUMNS; count++) {
        columns[count] = at;
        at = strchr(at, '\t');
        if (at)
            *at++ = '\0';
    }
    if (count < COLUMNS) {
        *why = arena_printf(c->arena, "%d columns with tabs between them are wanted, and here are %zu", COLUMNS, count);
        return false;
    }
    struct tuned line = {.kind = columns[0],
                         .device = columns[1],
                         .kernel = columns[2],
                         .program = columns[3],
                         .params = columns[4],
                         .note = columns[5]};
    if (is_current(tuning, &line) && !resolve(c, &line, why))
        return false;
    vec_push(c->arena, &tuning->lines, line);
    return true;
}

static const char *path_beside(struct arena *arena, const char *program) {
    size_t ending = text_ends_with(program, ".fcl") ? strlen(".fcl") : 0;
    return arena_printf(arena, "%.*s.tune", (int)(strlen(program) - ending), program);
}

/* `-` for standard input. */
static const char *main_path(const struct compilation *c) {
    for (size_t i = 0; i < c->files.count; i++)
        if (c->files.at[i]->module->file == c->file)
            return c->files.at[i]->path;
    return c->file->source->path;
}

static bool may_create(struct arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    return access(slash ? arena_strndup(arena, path, (size_t)(slash - path) + 1) : ".", W_OK | X_OK) == 0;
}

enum exit_status tuning_read(struct compilation *c, bool may_be_new, struct tuning *tuning) {
    const char *said = c->options->tuning, *program = main_path(c), *why = NULL;
    *tuning = (struct tuning){.options = c->options};
    if ((said && strcmp(said, "none") == 0) || (!said && strcmp(program, "-") == 0))
        return EXIT_GOOD;
    tuning->path = said ? said : path_beside(c->arena, program);
    if ((!said || may_be_new) && access(tuning->path, F_OK) != 0) {
        if (may_be_new && !may_create(c->arena, tuning->path)) { /* said before the search, which may take long */
            return driver_complain(
                c->options, EXIT_USAGE,
                "%s cannot be written: %s; --tuning=FILE writes to another file, --tuning=none to none", tuning->path,
                strerror(errno));
        }
        if (may_be_new)
            hash_program(c, tuning);
        return EXIT_GOOD;
    }
    hash_program(c, tuning);
    struct value_bytes bytes;
    if (!value_read_file(c->arena, tuning->path, &bytes, &why))
        return driver_complain(c->options, EXIT_USAGE, "%s", why);
    char *text = arena_strndup(c->arena, (const char *)bytes.at, bytes.length);
    unsigned number = 1;
    for (char *at = text, *next; *at; at = next, number++) {
        next = at + strcspn(at, "\n");
        if (*next)
            *next++ = '\0';
        if (*at && *at != '#' && !read_line(c, at, tuning, &why))
            return driver_complain(c->options, EXIT_USAGE, "%s:%u: %s; --tuning=none does without the file",
                                   tuning->path, number, why);
    }
    return EXIT_GOOD;
}

const struct tuned *tuning_find(const struct tuning *tuning, const char *kind, const char *device, const char *kernel) {
    const struct tuned *found = NULL;
    for (size_t i = 0; i < tuning->lines.count; i++) {
        struct tuned *line = &tuning->lines.at[i];
        if (strcmp(line->kind, kind) != 0 || (device && strcmp(line->device, device) != 0) ||
            strcmp(line->kernel, kernel) != 0)
            continue;
        bool is_usable = is_current(tuning, line);
        if (is_usable && !found) {
            found = line;
            continue;
        }
        bool says_nothing = !is_usable && strcmp(line->params, "-") == 0; /* to do without it loses nothing */
        if (line->is_said || says_nothing)                                /* is_said: of another test */
            continue;
        line->is_said = true;
        if (is_usable)
            driver_complain(tuning->options, EXIT_GOOD,
                            "%s: `%s` was tuned for %s, too; taken is what was found for %s", tuning->path, kernel,
                            line->device, found->device);
        else
            driver_complain(tuning->options, EXIT_GOOD,
                            "%s: `%s` has changed since it was tuned for %s, or -D was another: not used; `fclc tune` "
                            "does it again",
                            tuning->path, kernel, line->device);
    }
    return found;
}

static int compare_lines(const void *a, const void *b) {
    const struct tuned *x = a, *y = b;
    int order = strcmp(x->kind, y->kind);
    if (order == 0)
        order = strcmp(x->device, y->device);
    return order ? order : strcmp(x->kernel, y->kernel);
}

enum exit_status tuning_write(struct compilation *c, struct tuning *tuning, struct tuned line) {
    size_t at = 0;
    while (at < tuning->lines.count && compare_lines(&tuning->lines.at[at], &line) != 0)
        at++;
    if (at < tuning->lines.count)
        tuning->lines.at[at] = line;
    else
        vec_push(c->arena, &tuning->lines, line);
    qsort(tuning->lines.at, tuning->lines.count, sizeof line, compare_lines);
    struct text text;
    text_init(&text, c->arena);
    text_add(
        &text,
        "# What `fclc tune` found: kind of device, device, kernel, hash of the program, params, what came of them.\n");
    for (size_t i = 0; i < tuning->lines.count; i++) {
        const struct tuned *one = &tuning->lines.at[i];
        text_printf(&text, "%s\t%s\t%s\t%s\t%s\t%s\n", one->kind, one->device, one->kernel, one->program, one->params,
                    one->note);
    }
    const char *why;
    if (output_write(c->arena, tuning->path, text_string(&text), text.length, &why))
        return EXIT_GOOD;
    return driver_complain(c->options, EXIT_USAGE, "%s", why);
}
