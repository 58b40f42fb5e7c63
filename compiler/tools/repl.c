/* fclc repl: a prompt for definitions and expressions.

   A session is the text of its definitions. A child process compiles each entry together with them,
   as a file would be, and prints the results: so no entry can end the session, and an interrupt
   ends only the child. Definitions without errors are kept. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver/commands.h"
#include "driver/compilation.h"
#include "driver/complaint.h"
#include "driver/interrupt.h"
#include "tools/directive.h"
#include "tools/line_editor.h"
#include "parser.h"
#include "syntax/lexer.h"
#include "syntax/syntax.h"

static const char session_name[] = "<session>"; /* as errors call it */
static const char value_name[] = "it";          /* of an expression */

struct entry { /* a declaration, with its sig */
    const char *text;
    symbol name; /* of an import: its path */
    enum ast_decl_kind kind;
};
typedef VEC(struct entry) entries;

struct session {
    struct arena *arena;
    struct symbols *symbols;
    const struct options *options;
    const char *target;
    entries defined;
    VEC(const char *) words; /* for completion, those of the session apart */
    char *kept;              /* a line that was read behind what it does not belong to; or NULL */
    bool has_ended;
    bool is_unheard; /* standard output cannot be written */
};

/* ---- text ---- */

struct input {
    const struct source *source;
    const struct ast_file *file;
    struct diagnostics *diagnostics;
    struct tokens tokens;
};

static struct input read_input(struct session *s, const char *text) {
    struct sources *sources = sources_new(s->arena);
    struct input input = {.source = source_add(sources, session_name, text, strlen(text)),
                          .diagnostics = diagnostics_new(s->arena, sources)};
    input.file = syntax_parse(s->arena, s->symbols, input.source, input.diagnostics);
    lex_source(s->arena, s->symbols, input.source, diagnostics_new(s->arena, sources), &input.tokens);
    return input;
}

static bool is_declaration(struct session *s, const char *text) {
    return token_starts_declaration(read_input(s, text).tokens.at[0].kind);
}

/* `let x = e`, `let f x = e` without `in`: the same as `val` or `fun`; else NULL. */
static const char *as_definition(struct session *s, const char *text) {
    if (strncmp(text, "let", 3) != 0 || !strchr(" \t\n", text[3]))
        return NULL;
    for (int i = 0; i < 2; i++) {
        const char *definition = arena_printf(s->arena, "%s%s", i ? "fun" : "val", text + 3);
        struct input input = read_input(s, definition);
        if (!diag_error_count(input.diagnostics) && input.file->decls.count == 1)
            return definition;
    }
    return NULL;
}

static const char *as_kernel(struct session *s, const char *expression) {
    return arena_printf(s->arena, "kernel %s =\n%s\n", value_name, expression);
}

/* An error at the very end, or a sig whose definition is to come: more is expected. */
static bool is_complete(struct session *s, const char *text) {
    struct input input = read_input(s, is_declaration(s, text) ? text : as_kernel(s, text));
    uint32_t end = input.tokens.at[input.tokens.count - 1].span.begin;
    const struct diag_view *views;
    size_t count = diag_view_all(input.diagnostics, &views);
    for (size_t i = 0; i < count; i++)
        if (views[i].span.begin >= end || strcmp(views[i].number, "E0104") == 0)
            return false;
    size_t decls = input.file->decls.count;
    return !decls || input.file->decls.at[decls - 1]->kind != DECL_SIG;
}

/* The declarations of a text one by one, each from its beginning to the next one's. */
static entries split(struct session *s, const char *text) {
    struct input input = read_input(s, text);
    entries all = {0};
    const struct ast_file *file = input.file;
    for (size_t i = 0; i < file->decls.count; i++) {
        size_t begin = all.count ? file->decls.at[i]->span.begin - input.source->base : 0;
        if (file->decls.at[i]->kind == DECL_SIG && i + 1 < file->decls.count)
            i++;
        size_t end =
            i + 1 < file->decls.count ? file->decls.at[i + 1]->span.begin - input.source->base : input.source->length;
        vec_push(s->arena, &all,
                 (struct entry){arena_strndup(s->arena, text + begin, end - begin), file->decls.at[i]->name,
                                file->decls.at[i]->kind});
    }
    return all;
}

/* A kernel that a later one of its name takes the place of; other definitions are hidden by later
   ones, and those before go on using them. */
static bool is_replaced(const struct entry *entry, const entries *by) {
    for (size_t i = 0; i < by->count; i++)
        if (entry->kind == DECL_KERNEL && by->at[i].kind == DECL_KERNEL && by->at[i].name == entry->name)
            return true;
    return false;
}

static bool is_named(const struct entry *entry, const char *name) {
    return entry->kind != DECL_IMPORT && entry->name && strcmp(entry->name->text, name) == 0;
}

/* The session's definitions, of its kernels only that one, and `added`. */
static const char *program_with(struct session *s, const char *kernel, const char *added) {
    entries new = added ? split(s, added) : (entries){0};
    struct text text;
    text_init(&text, s->arena);
    for (size_t i = 0; i < s->defined.count; i++) {
        const struct entry *entry = &s->defined.at[i];
        bool is_left_out = entry->kind == DECL_KERNEL && (!kernel || !is_named(entry, kernel));
        if (!is_left_out && !is_replaced(entry, &new))
            text_printf(&text, "%s\n", entry->text);
    }
    if (added)
        text_printf(&text, "%s\n", added);
    return text_string(&text);
}

static bool has_kernel(const struct session *s, const char *name) {
    for (size_t i = 0; i < s->defined.count; i++)
        if (s->defined.at[i].kind == DECL_KERNEL && is_named(&s->defined.at[i], name))
            return true;
    return false;
}

/* ---- children ---- */

/* Options for a command on a program that is in no file. */
static struct options options_for(struct session *s, enum command command, const char *program) {
    struct options o = *s->options; /* which has no `unsaved` */
    o.command = command;
    o.check = options_own_degree(&o);
    o.target = s->target;
    o.only_shows = command == COMMAND_RUN;
    vec_push(s->arena, &o.unsaved, (struct unsaved){session_name, program, strlen(program)});
    return o;
}

enum { UNHEARD = 100 }; /* a child's status, beside those of commands */

/* Runs it in a child; its exit status, or EXIT_INTERNAL. Where nothing can be printed, the session
   ends. */
static enum exit_status in_child(struct session *s, enum exit_status (*run)(struct session *s, const char *text),
                                 const char *text) {
    fflush(stdout);
    fflush(stderr);
    pid_t id = fork();
    if (id == 0) {
        signal(SIGINT, SIG_DFL);
        interrupt_cleans_up();
        enum exit_status status = run(s, text);
        bool is_unheard = fflush(stdout) != 0 || ferror(stdout);
        if (is_unheard && status == EXIT_GOOD)
            fprintf(stderr, "fclc: standard output cannot be written\n");
        fflush(stderr);
        _exit(is_unheard ? UNHEARD : (int)status);
    }
    int status = 0;
    if (id < 0 || waitpid(id, &status, 0) != id)
        return EXIT_INTERNAL;
    if (WIFEXITED(status) && WEXITSTATUS(status) == UNHEARD) {
        s->has_ended = s->is_unheard = true;
        return EXIT_USAGE;
    }
    if (WIFEXITED(status))
        return (enum exit_status)WEXITSTATUS(status);
    if (WTERMSIG(status) == SIGINT)
        fprintf(stderr, "interrupted\n");
    else
        fprintf(stderr, "fclc: the compiler has crashed (signal %d): this is a bug in it\n", WTERMSIG(status));
    return EXIT_INTERNAL;
}

static enum exit_status run_command(struct session *s, enum command command, const char *program, const char **operands,
                                    size_t count, const char *output) {
    struct options o = options_for(s, command, program);
    o.operands = operands;
    o.operand_count = count;
    o.output = output;
    return command_run_any(&o);
}

/* ---- types ---- */

/* The expression is the body of a function, as that may run at any level: its parameter is not
   shown. */
static const char *without_parameter(struct arena *arena, const char *type) {
    static const char parameter[] = "bool -> ";
    const char *classes = strstr(type, " => "), *begin = classes ? classes + strlen(" => ") : type;
    return arena_printf(arena, "%.*s%s", (int)(begin - type), type, begin + strlen(parameter));
}

/* The type of the expression; NULL: it has errors, which are printed. `type`: as it is printed. */
static struct type *type_of(struct session *s, const char *expression, const char **type) {
    const char *definition = arena_printf(s->arena, "fun %s (_any : bool) =\n%s\n", value_name, expression);
    const char **operand = ARENA_NEW(s->arena, const char *);
    *operand = session_name;
    struct options *o = ARENA_NEW(s->arena, struct options);
    *o = options_for(s, COMMAND_TYPES, program_with(s, NULL, definition));
    o->operands = operand;
    o->operand_count = 1;
    struct compilation *c = compilation_new(o);
    if (compilation_finish(c, compilation_check(c, session_name)) != EXIT_GOOD)
        return NULL;
    const struct core_global *it = c->program->globals.at[c->program->globals.count - 1];
    *type = without_parameter(s->arena, scheme_spelling(s->arena, it->scheme));
    return type_resolve(type_resolve(it->scheme->type)->arrow.to);
}

static enum exit_status print_type(struct session *s, const char *expression) {
    const char *type;
    if (!type_of(s, expression, &type))
        return EXIT_PROGRAM_WRONG;
    printf("%s : %s\n", expression, type);
    return EXIT_GOOD;
}

/* ---- what is entered ---- */

/* The kernel that the expression begins with; NULL: none. */
static const char *kernel_applied(struct session *s, const char *expression) {
    const struct token *first = &read_input(s, expression).tokens.at[0];
    const char *name = first->kind == TOKEN_NAME ? first->name->text : NULL;
    for (size_t i = 0; name && i < s->defined.count; i++)
        if (s->defined.at[i].kind != DECL_KERNEL && is_named(&s->defined.at[i], name))
            return NULL;
    return name && has_kernel(s, name) ? name : NULL;
}

static enum exit_status evaluate(struct session *s, const char *expression) {
    const char *type, *kernel = kernel_applied(s, expression);
    if (kernel) {
        fprintf(stderr, "fclc: `%s` is a kernel, which no expression can use: `:run %s` runs it\n", kernel, expression);
        return EXIT_USAGE;
    }
    const struct type *of = type_of(s, expression, &type);
    if (!of)
        return EXIT_PROGRAM_WRONG;
    if (of->kind == TYPE_ARROW || of->kind == TYPE_LEVEL_ARROW) {
        printf("%s : %s\n", value_name, type);
        return EXIT_GOOD;
    }
    const char *operands[] = {session_name, value_name};
    return run_command(s, COMMAND_RUN, program_with(s, NULL, as_kernel(s, expression)), operands, 2, NULL);
}

/* Checks the definitions and prints the types of what they define. */
static enum exit_status check_definitions(struct session *s, const char *text) {
    struct options o = options_for(s, COMMAND_TYPES, program_with(s, NULL, text));
    const char *operand = session_name;
    o.operands = &operand;
    o.operand_count = 1;
    struct compilation *c = compilation_new(&o);
    if (compilation_finish(c, compilation_check(c, session_name)) != EXIT_GOOD)
        return EXIT_PROGRAM_WRONG;
    size_t own = 0, all = c->program->globals.count;
    entries new = split(s, text);
    for (size_t i = 0; i < new.count; i++)
        own += new.at[i].kind != DECL_IMPORT &&new.at[i].kind != DECL_TYPE &&new.at[i].kind !=
               DECL_DATA &&new.at[i].kind != DECL_SIG;
    for (size_t i = all - own; i < all; i++) {
        const struct core_global *global = c->program->globals.at[i];
        printf("%s : %s\n", global->name->text, scheme_spelling(s->arena, global->scheme));
    }
    return EXIT_GOOD;
}

static void define(struct session *s, const char *text) {
    if (in_child(s, check_definitions, text) != EXIT_GOOD)
        return;
    entries new = split(s, text);
    size_t kept = 0;
    for (size_t i = 0; i < s->defined.count; i++)
        if (!is_replaced(&s->defined.at[i], &new))
            s->defined.at[kept++] = s->defined.at[i];
    s->defined.count = kept;
    for (size_t i = 0; i < new.count; i++)
        vec_push(s->arena, &s->defined, new.at[i]);
}

/* ---- commands ---- */

/* A kernel of the session by its name, or else an expression. */
static const char *program_of(struct session *s, const char *argument) {
    return has_kernel(s, argument) ? program_with(s, argument, NULL) : program_with(s, NULL, as_kernel(s, argument));
}

static enum exit_status print_cuda(struct session *s, const char *argument) {
    const char *operand = session_name;
    s->target = "cuda";
    return run_command(s, COMMAND_COMPILE, program_of(s, argument), &operand, 1, "-");
}

static enum exit_status print_report(struct session *s, const char *argument) {
    const char *operand = session_name;
    s->target = "cuda";
    return run_command(s, COMMAND_REPORT, program_of(s, argument), &operand, 1, NULL);
}

static enum exit_status run_kernel(struct session *s, const char *line) {
    VEC(const char *) operands = {0};
    vec_push(s->arena, &operands, session_name);
    for (const char *word; (word = directive_next_word(s->arena, &line));)
        vec_push(s->arena, &operands, word);
    if (!has_kernel(s, operands.at[1])) {
        fprintf(stderr, "fclc: no kernel of the session is called `%s`\n", operands.at[1]);
        return EXIT_USAGE;
    }
    const char *program = program_with(s, operands.at[1], NULL);
    return run_command(s, COMMAND_RUN, program, operands.at, operands.count, NULL);
}

static void command_run_line(struct session *s, const char *rest) {
    static const char *const targets[] = {"interp", "c", "opencl", "cuda"};
    if (!*rest) {
        printf("runs on %s\n", s->target ? s->target : "the first that works");
        return;
    }
    if (strncmp(rest, "on ", 3) != 0) {
        (void)in_child(s, run_kernel, rest);
        return;
    }
    rest += 3 + strspn(rest + 3, " ");
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (strcmp(rest, targets[i]) == 0) {
            s->target = targets[i];
            return;
        }
    fprintf(stderr, "fclc: `%s` is no target; there are interp, c, opencl and cuda\n", rest);
}

static void command_list(struct session *s, const char *rest) {
    (void)rest;
    for (size_t i = 0; i < s->defined.count; i++)
        printf("%s\n", s->defined.at[i].text);
}

static void command_quit(struct session *s, const char *rest) {
    (void)rest;
    s->has_ended = true;
}

static void command_help(struct session *s, const char *rest);
static void command_type(struct session *s, const char *rest) { (void)in_child(s, print_type, rest); }
static void command_cuda(struct session *s, const char *rest) { (void)in_child(s, print_cuda, rest); }
static void command_report_of(struct session *s, const char *rest) { (void)in_child(s, print_report, rest); }

static const struct {
    const char *name, *argument, *help;
    void (*run)(struct session *s, const char *rest);
    bool wants_argument;
} commands[] = {
    {":type", "EXPRESSION", "its type, without computing it", command_type, true},
    {":run", "KERNEL ARGUMENT…", "run a kernel with arguments as `fclc run` takes them", command_run_line, false},
    {":run", "on TARGET", "run what follows on interp (as at first), c, opencl or cuda", command_run_line, false},
    {":cuda", "EXPRESSION", "the CUDA code of an expression, or of a kernel by its name", command_cuda, true},
    {":report", "EXPRESSION", "what it costs, as `fclc report` says it", command_report_of, true},
    {":list", "", "the session's definitions", command_list, false},
    {":help", "", "this", command_help, false},
    {":quit", "", "the end; so is Ctrl-D", command_quit, false},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void command_help(struct session *s, const char *rest) {
    (void)s, (void)rest;
    printf("An expression is computed and printed; a definition (fun, val, kernel, sig, type, data,\n"
           "param, import) is kept. What is not complete goes on in the next line; an empty line ends it.\n");
    for (size_t i = 0; i < COMMANDS; i++) {
        const char *left = commands[i].argument;
        int dots = strstr(left, "…") ? 2 : 0; /* printf counts bytes */
        printf("  %-8s %-*s %s\n", commands[i].name, 18 + dots, left, commands[i].help);
    }
}

static void take_command(struct session *s, const char *text) {
    size_t length = strcspn(text, " \t\n");
    const char *rest = text + length + strspn(text + length, " \t\n");
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strlen(commands[i].name) != length || strncmp(commands[i].name, text, length) != 0)
            continue;
        if (commands[i].wants_argument && !*rest)
            fprintf(stderr, "fclc: %s wants %s\n", commands[i].name, commands[i].argument);
        else
            commands[i].run(s, rest);
        return;
    }
    fprintf(stderr, "fclc: no command `%.*s`; `:help` lists them\n", (int)length, text);
}

/* ---- the session ---- */

static const char *word_at(const struct session *s, size_t index) {
    if (index < s->words.count)
        return s->words.at[index];
    index -= s->words.count;
    if (index >= s->defined.count)
        return NULL;
    const struct entry *entry = &s->defined.at[index];
    return entry->kind != DECL_IMPORT && entry->name ? entry->name->text : "";
}

static const char *complete(void *context, const char *text, size_t index) {
    const struct session *s = context;
    const char *word;
    for (size_t i = 0; (word = word_at(s, i)); i++)
        if (strncmp(word, text, strlen(text)) == 0 && *word && index-- == 0)
            return word;
    return NULL;
}

static void collect_words(struct session *s) {
    for (size_t i = 0; token_word(i); i++)
        vec_push(s->arena, &s->words, token_word(i));
    for (int i = LEVEL_THREAD; i < LEVEL_VALUE_COUNT; i++)
        vec_push(s->arena, &s->words, level_names[i]);
    for (int i = 0; i < CONFIG_COUNT; i++)
        vec_push(s->arena, &s->words, core_config_info[i].name);
    for (size_t i = 0; i < COMMANDS; i++)
        vec_push(s->arena, &s->words, commands[i].name + 1);
    for (int i = 0; i < PRIM_COUNT; i++)
        if (primitive_info[i].name[0] >= 'a' && !primitive_is_internal((enum primitive)i))
            vec_push(s->arena, &s->words, primitive_info[i].name);
    struct options *o = ARENA_NEW(s->arena, struct options);
    *o = options_for(s, COMMAND_TYPES, "");
    struct compilation *c = compilation_new(o);
    (void)compilation_load(c, session_name);
    for (size_t m = 0; m < c->modules.count; m++) {
        const struct ast_file *file = c->modules.at[m]->file;
        for (size_t i = 0; i < file->decls.count; i++) {
            const struct ast_decl *decl = file->decls.at[i];
            if (decl->kind == DECL_SIG && decl->name && !syntax_is_internal(file->source, decl))
                vec_push(s->arena, &s->words, arena_strndup(s->arena, decl->name->text, decl->name->length));
        }
    }
    compilation_free(c);
}

/* Does a line go on with the `let` before it? Else that one is a definition. */
static bool is_continuation(const char *line) {
    return strchr(" \t", *line) || (strncmp(line, "in", 2) == 0 && strchr(" \t\r(", line[2]));
}

/* All lines of what is entered next; NULL: there is nothing more. */
static const char *read_entry(struct session *s, struct line_editor *editor) {
    struct text text;
    text_init(&text, s->arena);
    for (bool is_first = true;; is_first = false) {
        char *line = s->kept ? s->kept : line_editor_read(editor, is_first ? "fcl> " : "...> ");
        s->kept = NULL;
        if (!line && is_first)
            return NULL;
        if (line && !is_first && !is_continuation(line) && as_definition(s, text_string(&text))) {
            s->kept = line;
            break;
        }
        bool is_empty = !line || line[strspn(line, " \t\r")] == '\0';
        if (!is_empty) {
            text_add(&text, line);
            text_add(&text, "\n");
        }
        free(line);
        const char *entered = text_string(&text);
        entered += strspn(entered, " \t\n");
        if (is_empty || *entered == ':' || is_complete(s, entered))
            break;
    }
    while (text.length && strchr(" \t\r\n", text.at[text.length - 1]))
        text.at[--text.length] = '\0';
    const char *entered = text_string(&text);
    line_editor_remember(editor, entered);
    return entered + strspn(entered, " \t\n");
}

static const char *history_path(struct arena *arena) {
    const char *said = getenv("FCL_HISTORY"), *home = getenv("HOME");
    if (said)
        return *said ? said : NULL;
    return home && *home ? arena_printf(arena, "%s/.fcl_history", home) : NULL;
}

enum exit_status command_repl(struct options *options) {
    struct arena *arena = arena_new();
    struct session s = {.arena = arena, .symbols = symbols_new(arena), .options = options, .target = "interp"};
    if (options->target)
        s.target = options->target;
    collect_words(&s);
    signal(SIGINT, SIG_IGN); /* it is for what runs */
    struct line_editor *editor = line_editor_open(history_path(arena), complete, &s);
    const char *entered;
    while (!s.has_ended && (entered = read_entry(&s, editor))) {
        if (*entered == ':')
            take_command(&s, entered);
        else if (*entered && (is_declaration(&s, entered) || as_definition(&s, entered)))
            define(&s, is_declaration(&s, entered) ? entered : as_definition(&s, entered));
        else if (*entered)
            (void)in_child(&s, evaluate, entered);
    }
    line_editor_close(editor);
    arena_free(arena);
    return s.is_unheard ? EXIT_USAGE : EXIT_GOOD;
}
