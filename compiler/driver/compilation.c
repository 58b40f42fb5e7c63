/* Loading a file with its imports and the prelude, in the order in which the checker wants them, and checking it. */
#include "driver/compilation.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/complaint.h"
#include "ir/text/text.h"
#include "support/edit.h"
#include "syntax/syntax.h"
#include "values/value.h"

enum { DIAGNOSTICS_SHOWN = 100, IMPORT_DEPTH = 1000 };

struct compilation *compilation_new(struct options *options) {
    struct arena *arena = arena_new();
    struct compilation *c = ARENA_NEW(arena, struct compilation);
    c->arena = arena;
    c->options = options;
    c->symbols = symbols_new(arena);
    c->sources = sources_new(arena);
    c->diagnostics =
        compilation_diagnostics(c, arena, options->command == COMMAND_CHECK || options->command == COMMAND_COMPILE);
    return c;
}

struct diagnostics *compilation_diagnostics(const struct compilation *c, struct arena *arena, bool shows_flagged) {
    struct diagnostics *d = diagnostics_new(arena, c->sources);
    if (shows_flagged)
        diag_show_flagged(d);
    for (size_t i = 0; i < c->options->silenced.count; i++)
        diag_silence(d, c->options->silenced.at[i]);
    if (c->options->warnings_are_errors)
        diag_make_warnings_errors(d);
    return d;
}

void compilation_free(struct compilation *c) { arena_free(c->arena); }

/* ---- loading ---- */

static const char *resolved(struct arena *arena, const char *path) {
    char real[PATH_MAX];
    const char *found = realpath(path, real) ? real : path;
    return arena_strndup(arena, found, strlen(found));
}

/* The text that was given in place of the file, under any of its names; NULL: the file itself is read. */
static const struct unsaved *given_text(const struct compilation *c, const char *path) {
    for (size_t i = 0; i < c->texts.count; i++)
        if (strcmp(c->texts.at[i].path, path) == 0)
            return &c->texts.at[i];
    for (size_t i = 0; i < c->options->unsaved.count; i++)
        if (strcmp(resolved(c->arena, path), resolved(c->arena, c->options->unsaved.at[i].path)) == 0)
            return &c->options->unsaved.at[i];
    return NULL;
}

static bool is_in_memory(const struct compilation *c, const char *path) {
    for (size_t i = 0; i < c->texts.count; i++)
        if (strcmp(c->texts.at[i].path, path) == 0)
            return true;
    return false;
}

/* A text in memory has no file, whatever lies there: it may import the file of its path by
   another name. */
static const char *identity_of(const struct compilation *c, const char *path) {
    return is_in_memory(c, path) ? arena_printf(c->arena, "in memory: %s", path) : resolved(c->arena, path);
}

static struct loaded *find_loaded(struct compilation *c, const char *identity) {
    for (size_t i = 0; i < c->files.count; i++)
        if (strcmp(c->files.at[i]->identity, identity) == 0)
            return c->files.at[i];
    return NULL;
}

static struct loaded *load_file(struct compilation *c, const char *path, const char *shown, bool is_prelude,
                                unsigned depth, const char **why);

static bool is_in_library(const struct compilation *c, const char *path) {
    const char *slash = strrchr(path, '/');
    const char *own = search_library(c->arena, c->options->root, slash ? slash + 1 : path);
    return own && strcmp(identity_of(c, own), identity_of(c, path)) == 0;
}

/* `import "matrix"` is `import "matrix.fcl"`; a name with a dot is taken as it is. */
static const char *with_ending(struct arena *arena, const char *path) {
    return strchr(text_file_name(path), '.') ? path : arena_printf(arena, "%s.fcl", path);
}

/* The module an import names; NULL when it is missing or wrong, which is reported. */
static const struct module *load_import(struct compilation *c, const struct ast_decl *import, const char *directory,
                                        bool is_prelude, unsigned depth) {
    const char *name = with_ending(c->arena, import->path);
    const char *path = path_join(c->arena, directory, name), *why = NULL;
    const char *shown = is_prelude ? arena_printf(c->arena, "prelude/%s", name) : path;
    if (!given_text(c, path) && access(path, F_OK) != 0) {
        const char *in_library = search_library(c->arena, c->options->root, name);
        if (!in_library) {
            struct diagnostic *error = diag_error(c->diagnostics, DIAG_IMPORT_NOT_FOUND, import->name_span,
                                                  "there is no file `%s`", import->path);
            diag_note(c->diagnostics, error, (struct span){0}, "looked for %s and in the library", path);
            const char *similar = search_similar(c->arena, c->options->root, import->path, directory);
            if (similar)
                diag_hint(c->diagnostics, error, "did you mean `%s`?", similar);
            return NULL;
        }
        path = in_library;
        shown = arena_printf(c->arena, "lib/%s", name);
    }
    struct loaded *known = find_loaded(c, identity_of(c, path));
    if (known && !known->is_complete) {
        diag_error(c->diagnostics, DIAG_IMPORT_CYCLE, import->name_span,
                   "`%s` imports this file, by itself or through others", import->path);
        return NULL;
    }
    if (depth >= IMPORT_DEPTH) {
        diag_error(c->diagnostics, DIAG_IMPORT_CYCLE, import->name_span, "imports are nested more than %d deep",
                   (int)IMPORT_DEPTH);
        return NULL;
    }
    struct loaded *loaded = known ? known : load_file(c, path, shown, is_prelude, depth + 1, &why);
    if (loaded)
        loaded->is_library = strcmp(path, shown) != 0;
    if (!loaded) {
        diag_error(c->diagnostics, DIAG_UNREADABLE_FILE, import->name_span, "`%s` cannot be read: %s", import->path,
                   why);
        return NULL;
    }
    return loaded->module;
}

static struct loaded *load_file(struct compilation *c, const char *path, const char *shown, bool is_prelude,
                                unsigned depth, const char **why) {
    const struct unsaved *text = given_text(c, path);
    const struct source *source;
    if (text) {
        source = source_add(c->sources, path, text->text, text->length);
    } else if (strcmp(path, shown) == 0) {
        source = source_load(c->sources, path, why);
    } else {
        struct value_bytes bytes;
        source = value_read_file(c->arena, path, &bytes, why)
                     ? source_add(c->sources, shown, (const char *)bytes.at, bytes.length)
                     : NULL;
    }
    if (!source)
        return NULL;
    bool is_ours = strcmp(path, shown) != 0;
    if (is_ours || is_in_library(c, path))
        source_set_trusted(c->sources, source, is_ours);
    if (c->options->only_shows)
        source_set_shown(c->sources, source);
    struct loaded *loaded = ARENA_NEW(c->arena, struct loaded);
    loaded->path = path;
    loaded->identity = identity_of(c, path);
    loaded->module = ARENA_NEW(c->arena, struct module);
    vec_push(c->arena, &c->files, loaded);

    loaded->draft = draft_new(c->arena, c->symbols, source, c->diagnostics);
    if (is_prelude) /* the rest by prelude_read */
        draft_want_kind(loaded->draft, DECL_IMPORT);
    else
        draft_want_all(loaded->draft);
    draft_read(loaded->draft);
    const struct ast_file *file = loaded->draft->file;
    const char *directory = path_directory(c->arena, path);
    VEC(const struct module *) imports = {0};
    for (size_t i = 0; i < file->decls.count; i++) {
        if (file->decls.at[i]->kind != DECL_IMPORT || !file->decls.at[i]->path)
            continue;
        const struct module *module = load_import(c, file->decls.at[i], directory, is_prelude, depth);
        if (module)
            vec_push(c->arena, &imports, module);
    }
    *loaded->module = (struct module){file, is_prelude, imports.at, imports.count};
    loaded->is_complete = true;
    vec_push(c->arena, &c->modules, loaded->module);
    return loaded;
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* All of the directory's files, by name; what one imports of the others comes before it. */
static enum exit_status load_prelude(struct compilation *c) {
    const char *directory = search_prelude(c->arena, c->options->root);
    DIR *listing = directory ? opendir(directory) : NULL;
    if (!listing) {
        const char *said = getenv("FCL_PRELUDE");
        if (said && *said)
            return driver_complain(
                c->options, EXIT_USAGE,
                "the prelude is not found in `%s`, as FCL_PRELUDE says; give its directory, or --no-prelude", said);
        return driver_complain(c->options, EXIT_USAGE,
                               "the prelude is not found; set FCL_PRELUDE to its directory, or give --no-prelude");
    }
    VEC(const char *) names = {0};
    for (struct dirent *entry; (entry = readdir(listing));) {
        if (entry->d_name[0] != '.' && text_ends_with(entry->d_name, ".fcl"))
            vec_push(c->arena, &names, arena_printf(c->arena, "%s", entry->d_name));
    }
    closedir(listing);
    if (!names.count) {
        return driver_complain(c->options, EXIT_USAGE, "`%s`, where the prelude should be, has no file of FCL",
                               directory);
    }
    qsort(names.at, names.count, sizeof *names.at, by_name);
    for (size_t i = 0; i < names.count; i++) {
        const char *path = path_join(c->arena, directory, names.at[i]), *why = NULL;
        if (find_loaded(c, identity_of(c, path)))
            continue;
        if (!load_file(c, path, arena_printf(c->arena, "prelude/%s", names.at[i]), true, 0, &why)) {
            return driver_complain(c->options, EXIT_USAGE, "%s cannot be read: %s", path, why);
        }
    }
    return EXIT_GOOD;
}

/* Functions of the prelude that the elaborator applies, though no program names them; and the primitives for which it
   applies them. */
static const struct plan {
    const char *use, *name;
    enum primitive primitive;
} plans[] =
    {
#define PLAN(id, name, use) {#use, name, 0},
#include "elaborate/plans.def"
},
  planned[] = {
#define PLANNED(primitive, use) {#use, NULL, PRIM_##primitive},
#include "elaborate/plans.def"
};

/* All of the prelude, or what the program uses of it. A param can be set where nothing uses it. */
static void read_prelude(struct compilation *c, bool all) {
    drafts prelude = {0}, programs = {0};
    for (size_t i = 0; i < c->files.count; i++) {
        struct loaded *file = c->files.at[i];
        bool is_prelude = file->module->is_prelude;
        if (is_prelude && all)
            draft_want_all(file->draft);
        else if (is_prelude)
            draft_want_kind(file->draft, DECL_PARAM);
        if (is_prelude)
            vec_push(c->arena, &prelude, file->draft);
        else
            vec_push(c->arena, &programs, file->draft);
    }
    draft_needs needs = {0};
    for (size_t i = 0; i < sizeof planned / sizeof *planned; i++)
        for (size_t k = 0; k < sizeof plans / sizeof *plans; k++)
            if (strcmp(planned[i].use, plans[k].use) == 0)
                vec_push(c->arena, &needs,
                         (struct draft_need){primitive_info[planned[i].primitive].name, plans[k].name});
    if (!all)
        draft_want_used(&prelude, &programs, &needs);
    for (size_t i = 0; i < prelude.count; i++)
        draft_read(prelude.at[i]);
}

static enum exit_status load(struct compilation *c, const char *path) {
    if (!c->options->no_prelude) {
        enum exit_status status = load_prelude(c);
        if (status != EXIT_GOOD)
            return status;
    }
    const char *why = NULL;
    struct loaded *known = find_loaded(c, identity_of(c, path));
    struct loaded *loaded = known ? known : load_file(c, path, path, false, 0, &why);
    if (!loaded) {
        return driver_complain(c->options, EXIT_USAGE, "%s: %s", path, why ? why : "cannot be read");
    }
    c->file = loaded->module->file;
    return EXIT_GOOD;
}

enum exit_status compilation_load(struct compilation *c, const char *path) {
    enum exit_status status = load(c, path);
    if (status == EXIT_GOOD)
        read_prelude(c, true);
    return status;
}

/* ---- checking ---- */

/* A -D that no param took is a mistake on the command line: of all files, where several are checked or tested. */
static enum exit_status check_settings(const struct compilation *c, const char *path) {
    const struct options *o = c->options;
    bool are_files = o->command == COMMAND_CHECK || o->command == COMMAND_TEST;
    if (are_files && path != o->operands[o->operand_count - 1])
        return EXIT_GOOD;
    for (size_t i = 0; i < c->options->settings.count; i++) {
        const struct param_setting *setting = &c->options->settings.at[i];
        if (setting->used)
            continue;
        struct suggestion suggestion = suggestion_for(setting->name);
        for (size_t g = 0; g < c->program->globals.count; g++)
            if (c->program->globals.at[g]->kind == GLOBAL_PARAM)
                suggestion_offer(&suggestion, c->program->globals.at[g]->name->text);
        if (suggestion.best)
            return driver_complain(c->options, EXIT_USAGE, "-D %s: there is no such param; did you mean `%s`?",
                                   setting->name, suggestion.best);
        return driver_complain(c->options, EXIT_USAGE, "-D %s: there is no such param", setting->name);
    }
    return EXIT_GOOD;
}

struct library_type {
    const char *file;
    const struct ast_decl *decl;
};

/* The names that the library's files define. The files are read when the first name is not found. */
struct library_names {
    struct compilation *compilation;
    struct map *files; /* symbol → name of its file; NULL: not read */
    struct map *types; /* symbol → struct library_type * */
};

static void read_library(struct library_names *l) {
    struct compilation *c = l->compilation;
    l->files = map_new(c->arena);
    l->types = map_new(c->arena);
    size_t count;
    const char *const *names = search_library_files(c->arena, c->options->root, &count);
    for (size_t i = 0; i < count; i++) {
        const char *file_name = arena_printf(c->arena, "%s.fcl", names[i]), *why;
        const char *path = search_library(c->arena, c->options->root, file_name);
        struct value_bytes bytes;
        if (!path || !value_read_file(c->arena, path, &bytes, &why))
            continue;
        struct sources *apart = sources_new(c->arena);
        const struct source *source = source_add(apart, path, (const char *)bytes.at, bytes.length);
        const struct ast_file *file = syntax_parse(c->arena, c->symbols, source, diagnostics_new(c->arena, apart));
        for (size_t k = 0; k < file->decls.count; k++) {
            const struct ast_decl *decl = file->decls.at[k], *before = k ? file->decls.at[k - 1] : decl;
            const struct ast_decl *first = before->kind == DECL_SIG ? before : decl;
            if ((decl->kind == DECL_FUN || decl->kind == DECL_VAL) && !map_has(l->files, decl->name) &&
                !syntax_is_internal(source, first))
                map_set(l->files, decl->name, (void *)names[i]);
            if ((decl->kind == DECL_TYPE || decl->kind == DECL_DATA) && !map_has(l->types, decl->name)) {
                struct library_type *type = ARENA_NEW(c->arena, struct library_type);
                *type = (struct library_type){names[i], decl};
                map_set(l->types, decl->name, type);
            }
        }
    }
}

static const char *library_file_of(void *context, symbol name) {
    struct library_names *l = context;
    if (!l->files)
        read_library(l);
    return map_get(l->files, name);
}

static const char *library_file_of_type(void *context, symbol name, const char **use) {
    struct library_names *l = context;
    if (!l->files)
        read_library(l);
    const struct library_type *type = map_get(l->types, name);
    if (!type)
        return NULL;
    struct text text;
    text_init(&text, l->compilation->arena);
    text_add(&text, name->text);
    for (size_t i = 0; i < type->decl->type_parameters.count; i++)
        text_add(&text, " float");
    *use = text_string(&text);
    return type->file;
}

/* ---- the IR of a program ---- */

/* The names of the kernel's arguments. An argument of several arrays has the name of the first one. */
static const char **parameter_names(struct arena *arena, const struct ir_kernel *kernel) {
    const char **names = ARENA_ARRAY(arena, const char *, kernel->parameter_type_count + 1);
    for (size_t i = 0; i < kernel->parameter_type_count; i++)
        names[i] = arena_printf(arena, "arg%zu", i);
    for (size_t i = kernel->parameters.count; i-- > 0;) {
        const struct ir_parameter *parameter = &kernel->parameters.at[i];
        if (parameter->kind != IR_PARAMETER_LENGTH && parameter->component == 0 && parameter->name)
            names[parameter->argument] = parameter->name;
    }
    return names;
}

static struct core_global *global_of(struct arena *arena, const struct source *source, const struct ir_kernel *kernel,
                                     size_t index) {
    struct type *type = kernel->result_type;
    for (size_t i = kernel->parameter_type_count; i-- > 0;) {
        struct type *arrow = ARENA_NEW(arena, struct type);
        arrow->kind = TYPE_ARROW;
        arrow->arrow.from = kernel->parameter_types[i];
        arrow->arrow.to = type;
        type = arrow;
    }
    struct scheme *scheme = ARENA_NEW(arena, struct scheme);
    scheme->type = type;
    struct core_global *global = ARENA_NEW(arena, struct core_global);
    *global = (struct core_global){.kind = GLOBAL_KERNEL,
                                   .name = kernel->name,
                                   .span = kernel->span,
                                   .source = source,
                                   .scheme = scheme,
                                   .parameter_count = kernel->parameter_type_count,
                                   .parameter_names = parameter_names(arena, kernel),
                                   .index = (uint32_t)index};
    return global;
}

bool compilation_refuses_ir(struct options *options, const char *path) {
    enum command command = options->command;
    if (!text_ends_with(path, ".fclir") || command == COMMAND_CHECK || command == COMMAND_RUN ||
        command == COMMAND_BENCH || command == COMMAND_REPORT || command == COMMAND_TYPES || command == COMMAND_COMPILE)
        return false;
    driver_complain(options, EXIT_USAGE, "`fclc %s` is for programs in FCL, and %s is the IR of one",
                    command == COMMAND_DUMP ? "--dump" : command_info[command].name, path);
    return true;
}

/* The kernels of a file of IR as a program without bodies. */
static enum exit_status read_ir(struct compilation *c, const char *path) {
    if (compilation_refuses_ir(c->options, path))
        return EXIT_USAGE;
    const char *why;
    const struct unsaved *text = given_text(c, path);
    const struct source *source =
        text ? source_add(c->sources, path, text->text, text->length) : source_load(c->sources, path, &why);
    if (!source)
        return driver_complain(c->options, EXIT_USAGE, "%s: %s", path, why);
    struct loaded *loaded = ARENA_NEW(c->arena, struct loaded);
    struct ast_file *file = ARENA_NEW(c->arena, struct ast_file);
    struct program_ir *ir = ARENA_NEW(c->arena, struct program_ir);
    file->source = source;
    *loaded = (struct loaded){.path = path, .identity = identity_of(c, path), .is_complete = true};
    loaded->module = ARENA_NEW(c->arena, struct module);
    *loaded->module = (struct module){file, false, NULL, 0};
    vec_push(c->arena, &c->files, loaded);
    vec_push(c->arena, &c->modules, loaded->module);
    c->file = file;
    c->program = ARENA_NEW(c->arena, struct program);
    struct ir_file *read = ir_read(c->arena, c->symbols, c->sources, source, c->diagnostics);
    if (!read)
        return EXIT_GOOD; /* what is wrong is among the diagnostics */
    *ir = (struct program_ir){source, c->symbols, c->sources, read->target};
    c->program->ir = ir;
    for (size_t i = 0; i < read->kernels.count; i++)
        vec_push(c->arena, &c->program->globals, global_of(c->arena, source, read->kernels.at[i], i));
    return check_settings(c, path);
}

/* ---- checking it ---- */

/* Does more than the program use the prelude? */
static bool looks_at_prelude(const struct compilation *c) {
    enum command command = c->options->command;
    bool is_asked = c->names || command == COMMAND_TYPES || command == COMMAND_DOC || command == COMMAND_DUMP;
    return is_asked || c->modules.at[c->modules.count - 1]->is_prelude;
}

static void check_with_prelude(struct compilation *c, bool all) {
    read_prelude(c, all);
    for (size_t i = 0; i < c->options->settings.count; i++)
        c->options->settings.at[i].wrong = false;
    struct library_names names = {c, NULL, NULL};
    struct library library = {library_file_of, library_file_of_type, &names};
    c->program = types_check(c->arena, c->symbols, c->modules.at, c->modules.count, c->options->settings.at,
                             c->options->settings.count, &library, c->names, c->diagnostics);
}

enum exit_status compilation_check(struct compilation *c, const char *path) {
    if (text_ends_with(path, ".fclir") && (is_in_memory(c, path) || !given_text(c, path)))
        return read_ir(c, path);
    enum exit_status status = load(c, path);
    if (status != EXIT_GOOD)
        return status;
    /* Messages speak of what else there is: where something is wrong, it is found again with all of the prelude. */
    size_t mark = diag_mark(c->diagnostics);
    bool is_whole = looks_at_prelude(c);
    check_with_prelude(c, is_whole);
    if (!is_whole && !compilation_is_good(c)) {
        diag_forget(c->diagnostics, mark);
        check_with_prelude(c, true);
    }
    for (size_t i = 0; i < c->options->settings.count; i++)
        if (c->options->settings.at[i].wrong)
            return EXIT_USAGE;
    if (!compilation_has_meaning(c))
        return EXIT_GOOD;
    status = check_settings(c, path);
    if (status == EXIT_GOOD && options_make_code(c->options))
        status = tuning_read(c, c->options->command == COMMAND_TUNE, &c->tuning);
    return status;
}

bool compilation_has_meaning(const struct compilation *c) { return diag_error_count(c->diagnostics) == 0; }

bool compilation_is_good(const struct compilation *c) { return diag_are_good(c->diagnostics); }

void compilation_print_diagnostics(const struct compilation *c, const struct diagnostics *diagnostics) {
    FILE *out = driver_messages(c->options);
    bool colour = out == stderr && isatty(STDERR_FILENO) && !getenv("NO_COLOR");
    if (c->options->json_diagnostics)
        diag_print_json(diagnostics, out, &c->options->json_is_begun);
    else
        diag_print_text(diagnostics, out, colour, DIAGNOSTICS_SHOWN);
}

enum exit_status exit_worse(enum exit_status a, enum exit_status b) { return a > b ? a : b; }

static bool is_same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool compilation_overwrites(const struct compilation *c, const char *option, const char *path) {
    if (strcmp(path, "-") == 0)
        return false;
    bool is_source = is_same_file(path, c->options->operands[0]); /* --dump=tokens reads it by itself */
    for (size_t i = 0; i < c->files.count && !is_source; i++)
        is_source = is_same_file(path, c->files.at[i]->path);
    if (is_source)
        driver_complain(c->options, EXIT_USAGE, "%s %s would write over the source", option, path);
    return is_source;
}

enum exit_status compilation_finish(const struct compilation *c, enum exit_status status) {
    compilation_print_diagnostics(c, c->diagnostics);
    return compilation_is_good(c) ? status : exit_worse(status, EXIT_PROGRAM_WRONG);
}

enum exit_status compilation_end(struct compilation *c, enum exit_status status) {
    status = compilation_finish(c, status);
    compilation_free(c);
    return status;
}

const struct core_global *compilation_kernel(const struct compilation *c) {
    const char *name = c->options->operand_count > 1 ? c->options->operands[1] : "";
    struct suggestion suggestion = suggestion_for(name);
    const struct core_global *other = NULL;
    for (size_t i = c->program->globals.count; i-- > 0;) { /* of several of that name the last */
        const struct core_global *global = c->program->globals.at[i];
        if (global->source != c->file->source)
            continue;
        bool is_named = strcmp(global->name->text, name) == 0;
        if (global->kind == GLOBAL_KERNEL) {
            if (is_named)
                return global;
            suggestion_offer(&suggestion, global->name->text);
        } else if (is_named) {
            other = global;
        }
    }
    struct text kernels;
    text_init(&kernels, c->arena);
    for (size_t i = 0; i < c->program->globals.count; i++) {
        const struct core_global *global = c->program->globals.at[i];
        if (global->source == c->file->source && global->kind == GLOBAL_KERNEL)
            text_printf(&kernels, "%s%s", kernels.length ? ", " : "", global->name->text);
    }
    const char *path = c->file->source->path, *what;
    if (!*name)
        what = arena_printf(c->arena, "%s: the kernel is missing: usage is `fclc %s`", path,
                            command_info[c->options->command].synopsis);
    else if (other)
        what = arena_printf(c->arena, "%s: `%s` is not declared as a kernel", path, name);
    else if (suggestion.best)
        what = arena_printf(c->arena, "%s: no kernel is named `%s`; did you mean `%s`?", path, name, suggestion.best);
    else
        what = arena_printf(c->arena, "%s: no kernel is named `%s`", path, name);
    const char *hint =
        kernels.length ? arena_printf(c->arena, "its kernels are %s", text_string(&kernels)) : "it declares no kernels";
    if (other && other->kind == GLOBAL_FUN)
        hint = arena_printf(c->arena, "%s; `kernel %s` in place of `fun %s` makes one of it", hint, name, name);
    driver_explain(c->options, EXIT_USAGE, what, hint);
    return NULL;
}

const struct core_global *kernel_of_file(const struct compilation *c, const char *name, struct suggestion *suggestion) {
    for (size_t i = c->program->globals.count; i-- > 0;) {
        const struct core_global *global = c->program->globals.at[i];
        if (global->kind != GLOBAL_KERNEL || global->source != c->file->source)
            continue;
        if (strcmp(global->name->text, name) == 0)
            return global;
        suggestion_offer(suggestion, global->name->text);
    }
    return NULL;
}

const char *no_kernel_of_file(struct arena *arena, const char *name, const struct suggestion *suggestion) {
    return suggestion->best ? arena_printf(arena, "no kernel is named `%s`; did you mean `%s`?", name, suggestion->best)
                            : arena_printf(arena, "no kernel is named `%s`", name);
}
