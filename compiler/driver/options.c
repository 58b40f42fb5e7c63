/* Parsing the command line, and printing help; both read the tables below. */
#include "driver/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "elaborate/elaborate.h"
#include "ir/machine.h"
#include "ir/passes/passes.h"
#include "map/map.h"
#include "support/edit.h"
#include "support/text.h"

const struct command_info command_info[COMMAND_COUNT] = {
#define COMMAND(id, function, ...) [COMMAND_##id] = {__VA_ARGS__},
#include "driver/commands.def"
#undef COMMAND
};

/* ---- the options ---- */

enum option {
#define OPTION(id, ...) OPTION_##id,
#include "driver/options.def"
#undef OPTION
    OPTION_COUNT
};

#define ON(command) (1u << COMMAND_##command)
enum {
    EVERYWHERE = (1u << COMMAND_COUNT) - 1,
    CHECKING = EVERYWHERE & ~ON(DEVICES) & ~ON(EXPLAIN) & ~ON(NEW) & ~ON(FMT) & ~ON(LSP) & ~ON(REPL),
    GENERATING = ON(COMPILE) | ON(CHECK) | ON(RUN) | ON(TEST) | ON(BENCH) | ON(REPORT) | ON(DUMP),
    MAKING = GENERATING | ON(TUNE) | ON(REPL),
};

static const struct option_info option_info[OPTION_COUNT] = {
#define OPTION(id, name, letter, argument, commands, help, taken)                                                      \
    [OPTION_##id] = {name, letter, argument, commands, help},
#include "driver/options.def"
#undef OPTION
};

static const char *const stages[] = {"tokens", "ast", "types", "core", "ir", "ir-opt", "target"};
enum { STAGES = sizeof stages / sizeof *stages };

const struct option_info *options_info(size_t *count) {
    *count = OPTION_COUNT;
    return option_info;
}

/* `a|b`, of which a word in capitals stands for any. */
static size_t split_choices(struct arena *arena, const char *text, const char ***choices) {
    size_t count = 0;
    *choices = ARENA_ARRAY(arena, const char *, strlen(text));
    for (size_t length; *text; text += length + (text[length] == '|')) {
        length = strcspn(text, "|");
        if (!isupper((unsigned char)*text) &&
            !strpbrk(arena_strndup(arena, text, length), "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
            (*choices)[count++] = arena_strndup(arena, text, length);
    }
    return count;
}

static const char *const *target_names(struct arena *arena, size_t *count) {
    VEC(const char *) names = {0};
    for (size_t i = 0; targets[i]; i++)
        vec_push(arena, &names, targets[i]->name);
    vec_push(arena, &names, "interp");
    *count = names.count;
    return names.at;
}

/* Passes, or with `all` any stage. */
static const char *const *stage_names(struct arena *arena, bool all, size_t *count) {
    const char **names = ARENA_ARRAY(arena, const char *, STAGES + PASS_COUNT);
    memcpy(names, stages, sizeof stages);
    *count = all ? STAGES : 0;
    for (size_t i = 0; i < PASS_COUNT; i++)
        names[(*count)++] = pass_info[i].name;
    return names;
}

const char *const *options_choices(struct arena *arena, const struct option_info *info, size_t *count) {
    *count = 0;
    if (!info->argument)
        return NULL;
    if (info == &option_info[OPTION_TARGET])
        return target_names(arena, count);
    if (info == &option_info[OPTION_DUMP] || info == &option_info[OPTION_SKIP])
        return stage_names(arena, info == &option_info[OPTION_DUMP], count);
    const char **choices;
    *count = split_choices(arena, info->argument, &choices);
    return choices;
}

bool options_takes_file(const struct option_info *info) {
    return info->argument && strncmp(info->argument, "FILE", strlen("FILE")) == 0;
}

bool options_wants_value(const struct option_info *info) { return info->argument && *info->argument != '['; }

/* ---- parsing ---- */

struct option_parser {
    struct arena *arena;
    struct options *options;
    uint64_t given; /* a bit per option */
    const char *why;
};

/* One of the words that its argument may be. */
static bool choice(struct option_parser *p, const struct option_info *info, const char *value) {
    size_t count;
    const char *const *choices = options_choices(p->arena, info, &count);
    struct suggestion suggestion = suggestion_for(value);
    for (size_t i = 0; i < count; i++)
        if (strcmp(value, choices[i]) == 0)
            return true;
        else
            suggestion_offer(&suggestion, choices[i]);
    struct text text;
    text_init(&text, p->arena);
    text_printf(&text, "--%s cannot be `%s`", info->name, value);
    if (suggestion.best)
        text_printf(&text, "; did you mean `%s`?", suggestion.best);
    text_add(&text, " (");
    for (size_t i = 0; i < count; i++)
        text_printf(&text, "%s%s", i ? ", " : "", choices[i]);
    text_add(&text, ")");
    p->why = text_string(&text);
    return false;
}

static bool number(struct option_parser *p, const char *option, const char *value, int64_t least, int64_t most,
                   int64_t *result) {
    char *end;
    errno = 0;
    long long parsed = strtoll(value, &end, 10);
    if (end != value && *end == '\0' && errno == 0 && parsed >= least && parsed <= most) {
        *result = parsed;
        return true;
    }
    p->why = arena_printf(p->arena, "--%s wants a number from %lld to %lld, not `%s`", option, (long long)least,
                          (long long)most, value);
    return false;
}

static bool seconds(struct option_parser *p, const char *option, const char *value, double *result) {
    char *end;
    *result = strtod(value, &end);
    if (end != value && *end == '\0' && *result > 0 && *result <= 1e6)
        return true;
    p->why = arena_printf(p->arena, "--%s wants a number of seconds, as in 2.5, not `%s`", option, value);
    return false;
}

static bool define(struct option_parser *p, const char *value) {
    const char *equals = strchr(value, '=');
    if (!equals || equals == value || !equals[1]) {
        p->why = arena_printf(p->arena, "-D wants NAME=VALUE, not `%s`", value);
        return false;
    }
    struct param_setting setting = {.name = arena_strndup(p->arena, value, (size_t)(equals - value)),
                                    .value = equals + 1};
    vec_push(p->arena, &p->options->settings, setting);
    return true;
}

static bool is_flag(const char *name) {
    for (size_t i = 0; diag_flag(i); i++)
        if (strcmp(diag_flag(i), name) == 0)
            return true;
    return false;
}

/* `error`, or the name of a warning with or without `no-` before it: all are on by themselves. */
static bool warn(struct option_parser *p, const char *value) {
    bool is_off = strncmp(value, "no-", 3) == 0;
    if (strcmp(value, "error") == 0) {
        p->options->warnings_are_errors = true;
        return true;
    }
    if (is_flag(is_off ? value + 3 : value)) {
        if (is_off)
            vec_push(p->arena, &p->options->silenced, value + 3);
        return true;
    }
    struct text text;
    text_init(&text, p->arena);
    text_printf(&text, "-W cannot be `%s`: it wants `error`, or `no-` and the name of a warning (", value);
    for (size_t i = 0; diag_flag(i); i++)
        text_printf(&text, "%s%s", i ? ", " : "", diag_flag(i));
    text_add(&text, ")");
    p->why = text_string(&text);
    return false;
}

static const char *const degree_names[DEGREE_COUNT] = {"none", "memory", "all"};

const char *options_degree_name(enum check_degree degree) { return degree_names[degree]; }

/* `--check=DEGREE` says what is checked; `--check` alone means all. */
static bool check(struct option_parser *p, const char *value) {
    int degree = DEGREE_ALL;
    while (value && degree >= 0 && strcmp(value, degree_names[degree]) != 0)
        degree--;
    if (degree < 0) {
        p->why = arena_printf(p->arena, "--check cannot be `%s` (none, memory, all)", value);
        return false;
    }
    if (p->options->check_given && p->options->check != (enum check_degree)degree) {
        p->why = arena_printf(p->arena, "--check=%s and --check=%s: give one of them", degree_names[p->options->check],
                              degree_names[degree]);
        return false;
    }
    p->options->check_given = true;
    p->options->check = (enum check_degree)degree;
    return true;
}

static bool skip(struct option_parser *p, const char *value) {
    vec_push(p->arena, &p->options->skipped, value);
    return true;
}

#define FLAG(field) (o->field = true)
#define TEXT(field) (o->field = value, true)
#define NUMBER(field, least, most) number(p, name, value, least, most, &o->field)
#define SECONDS(field) seconds(p, name, value, &o->field)
#define CHOICE choice(p, &option_info[option], value)

static bool take_option(struct option_parser *p, enum option option, const char *value) {
    struct options *o = p->options;
    const char *name = option_info[option].name;
    p->given |= (uint64_t)1 << option;
    switch (option) {
#define OPTION(id, name, letter, argument, commands, help, taken)                                                      \
    case OPTION_##id:                                                                                                  \
        return taken;
#include "driver/options.def"
#undef OPTION
    case OPTION_COUNT: break;
    }
    return false;
}

/* The message for a word that is a command of other compilers; NULL: the word is no such command. */
static const char *foreign_command(const char *word) {
    static const char *const compiles[] = {"compile", "build", "cc", "make", "emit"};
    for (size_t i = 0; i < sizeof compiles / sizeof *compiles; i++)
        if (strcmp(word, compiles[i]) == 0)
            return "compiling has no word: `fclc FILE.fcl -o OUT.cu` (.cl, .c)";
    if (strcmp(word, "version") == 0 || strcmp(word, "-V") == 0 || strcmp(word, "-v") == 0)
        return "the version is told by `fclc --version`";
    return NULL;
}

static enum option find_option(struct option_parser *p, const char *shown, const char *name, size_t length,
                               char letter) {
    struct suggestion suggestion = suggestion_for(length ? arena_strndup(p->arena, name, length) : "");
    for (int i = 0; i < OPTION_COUNT; i++) {
        const char *candidate = option_info[i].name;
        if (letter ? option_info[i].letter == letter
                   : strlen(candidate) == length && memcmp(candidate, name, length) == 0)
            return (enum option)i;
        suggestion_offer(&suggestion, candidate);
    }
    const char *foreign = foreign_command(shown);
    p->why = foreign ? arena_printf(p->arena, "unknown option `%s`; %s", shown, foreign)
             : !letter && suggestion.best
                 ? arena_printf(p->arena, "unknown option `%s`; did you mean `--%s`?", shown, suggestion.best)
                 : arena_printf(p->arena, "unknown option `%s`", shown);
    return OPTION_COUNT;
}

/* One option at arguments[*at]; its value may be behind a =, behind the letter, or the next argument. */
static bool read_option(struct option_parser *p, int count, char **arguments, int *at) {
    const char *text = arguments[*at], *value = NULL;
    enum option option;
    if (text[1] == '-') {
        const char *equals = strchr(text, '=');
        size_t length = equals ? (size_t)(equals - text) - 2 : strlen(text) - 2;
        option = find_option(p, arena_strndup(p->arena, text, length + 2), text + 2, length, 0);
        value = equals ? equals + 1 : NULL;
    } else {
        option = find_option(p, arena_strndup(p->arena, text, 2), "", 0, text[1]);
        value = text[2] ? text + 2 : NULL;
    }
    if (option == OPTION_COUNT)
        return false;
    const struct option_info *info = &option_info[option];
    if (!info->argument && value) {
        p->why = arena_printf(p->arena, "--%s takes no value, and `%s` gives one", info->name, text);
        return false;
    }
    if (options_wants_value(info) && !value) {
        if (*at + 1 >= count) {
            p->why = arena_printf(p->arena, "%s needs a value: %s", text, info->argument);
            return false;
        }
        value = arguments[++*at];
    }
    return take_option(p, option, value);
}

/* `-2.5` and `-inf` are kernel arguments, not options. */
static bool looks_like_number(const char *text) {
    return isdigit((unsigned char)text[1]) || text[1] == '.' || strcmp(text, "-inf") == 0 || strcmp(text, "-nan") == 0;
}

static bool is_file_name(const char *text) {
    return strchr(text, '.') || strchr(text, '/') || strcmp(text, "-") == 0; /* -: standard input */
}

const char *options_misfit(const struct options *options, const char *target) {
    const struct target *known = target_named(target);
    const struct machine *machine = !known                             ? NULL
                                    : options->mapping == MAPPING_SIMT ? known->simt
                                    : options->mapping == MAPPING_LOOP ? known->loop
                                                                       : target_machine(known, NULL);
    if (known && !machine)
        return options->mapping == MAPPING_LOOP ? "--map=loop" : "--map=simt";
    if (known && options->sub_groups == SUB_GROUPS_YES && machine == known->simt && known->sub_groups)
        machine = known->sub_groups;
    return !known || machine_has_warps_of(machine, options->warp_size) ? NULL : "--warp-size=64";
}

const char *options_mapping_name(enum mapping mapping) { return mapping == MAPPING_LOOP ? "loop" : "simt"; }

/* Rejects an output file that is named like a program: where the user forgot an option's value, the option took the
   next word, which may be the program. */
static bool writes_over_program(struct option_parser *p) {
    const struct options *o = p->options;
    const struct {
        const char *option, *path;
    } written[] = {{"-o", o->output},
                   {"--junit", o->junit},
                   {"--save", o->save},
                   {"--tuning", o->command == COMMAND_TUNE ? o->tuning : NULL}};
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        if (written[i].path && text_ends_with(written[i].path, ".fcl")) {
            p->why = arena_printf(p->arena, "%s %s would write over the source of a program: another name is due there",
                                  written[i].option, written[i].path);
            return true;
        }
    return false;
}

static bool check_operands(struct option_parser *p) {
    struct options *o = p->options;
    const struct command_info *info = &command_info[o->command];
    for (int i = 0; i < OPTION_COUNT; i++)
        if ((p->given & ((uint64_t)1 << i)) && !(option_info[i].commands & (1u << o->command))) {
            const char *letter = option_info[i].letter ? arena_printf(p->arena, "-%c, ", option_info[i].letter) : "";
            p->why =
                arena_printf(p->arena, "%s--%s is no option of `fclc %s`", letter, option_info[i].name, info->synopsis);
            return false;
        }
    bool has_target = o->command == COMMAND_CHECK || o->command == COMMAND_RUN || o->command == COMMAND_TEST ||
                      o->command == COMMAND_BENCH || o->command == COMMAND_TUNE || o->command == COMMAND_DUMP;
    const char *misfit = has_target && o->target ? options_misfit(o, o->target) : NULL;
    if (misfit) {
        p->why = arena_printf(p->arena, "%s is not for --target=%s", misfit, o->target);
        return false;
    }
    if (writes_over_program(p))
        return false;
    bool takes_none = o->command == COMMAND_DEVICES || o->command == COMMAND_LSP || o->command == COMMAND_REPL;
    if (o->operand_count < info->least || ((info->most || takes_none) && o->operand_count > info->most)) {
        bool forgets_run = o->command == COMMAND_COMPILE && o->operand_count > 1;
        p->why =
            arena_printf(p->arena, "%s: usage is `fclc %s`%s",
                         o->operand_count < info->least ? "something is missing" : "too many files", info->synopsis,
                         forgets_run ? "; a kernel is run by `fclc run FILE.fcl KERNEL ARG…`" : "");
        return false;
    }
    return true;
}

/* The first operand is a command's word (then *used is 1), or the file to compile. */
static bool find_command(struct option_parser *p, const char *word, size_t *used) {
    struct suggestion suggestion = suggestion_for(word);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (!command_info[i].name[0])
            continue;
        suggestion_offer(&suggestion, command_info[i].name);
        if (strcmp(word, command_info[i].name) == 0) {
            p->options->command = (enum command)i;
            *used = 1;
            return true;
        }
    }
    if (is_file_name(word))
        return true;
    const char *foreign = foreign_command(word);
    p->why = foreign ? arena_printf(p->arena, "unknown command `%s`; %s", word, foreign)
             : suggestion.best
                 ? arena_printf(p->arena, "unknown command `%s`; did you mean `%s`?", word, suggestion.best)
                 : arena_printf(p->arena, "unknown command `%s`", word);
    return false;
}

/* True if --diagnostics=json is anywhere among the arguments: an error may come before this option. */
static bool wants_json(int count, char **arguments) {
    for (int i = 1; i < count && strcmp(arguments[i], "--") != 0; i++)
        if (strcmp(arguments[i], "--diagnostics=json") == 0 ||
            (i + 1 < count && strcmp(arguments[i], "--diagnostics") == 0 && strcmp(arguments[i + 1], "json") == 0))
            return true;
    return false;
}

bool options_parse(struct arena *arena, int count, char **arguments, struct options *options, const char **why) {
    struct option_parser p = {.arena = arena, .options = options};
    VEC(const char *) operands = {0};
    *options = (struct options){.block_size = 256,
                                .warp_size = GPU_LANES,
                                .grid_size = 1024,
                                .vector_bytes = CPU_VECTOR,
                                .unroll = -1,
                                .optimise = 1,
                                .limit = 64,
                                .json_diagnostics = wants_json(count, arguments)};
    bool only_operands = false;
    for (int i = 1; i < count; i++) {
        const char *text = arguments[i];
        if (!only_operands && strcmp(text, "--") == 0)
            only_operands = true;
        else if (only_operands || text[0] != '-' || !text[1] || looks_like_number(text))
            vec_push(arena, &operands, text);
        else if (!read_option(&p, count, arguments, &i)) {
            *why = p.why;
            return false;
        }
    }
    size_t first = 0;
    while (operands.count > 0 && strcmp(operands.at[0], "help") == 0) { /* `fclc help run` for `fclc run --help` */
        options->only_help = true;
        operands.at++;
        operands.count--;
    }
    if (options->only_help && operands.count == 1 && strcmp(operands.at[0], "options") == 0) {
        options->lists_options = true;
        return true;
    }
    if (options->command != COMMAND_DUMP && operands.count > 0 && !find_command(&p, operands.at[0], &first)) {
        *why = p.why;
        return false;
    }
    options->operands = operands.at + first;
    options->operand_count = operands.count - first;
    if (options->only_help || options->only_version || options->completion)
        return true;
    if (!options->check_given)
        options->check = options_own_degree(options);
    if (!check_operands(&p)) {
        *why = p.why;
        return false;
    }
    return true;
}

/* The text of IR and a page show a program as it is. */
static bool is_shown(const struct options *o) {
    return (o->output && (text_ends_with(o->output, ".fclir") || text_ends_with(o->output, ".html"))) ||
           (o->operand_count > 0 && text_ends_with(o->operands[0], ".fclir"));
}

enum check_degree options_own_degree(const struct options *options) {
    switch (options->command) {
    case COMMAND_RUN:
    case COMMAND_TEST:
    case COMMAND_REPL: return DEGREE_ALL;
    case COMMAND_COMPILE:
    case COMMAND_BENCH:
    case COMMAND_TUNE: return is_shown(options) ? DEGREE_NONE : DEGREE_MEMORY;
    default: return DEGREE_NONE;
    }
}

bool options_make_code(const struct options *options) {
    return (MAKING & (1u << options->command)) && !options->types_only;
}

/* ---- help ---- */

void options_print_usage(FILE *out) {
    fprintf(out, "usage:\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  fclc %s\n", command_info[i].synopsis);
    fprintf(out, "  fclc --help | --version | COMMAND --help\n");
}

/* printf pads by bytes, and an ellipsis has three. */
static int padding(const char *text, int width) {
    for (; *text; text++)
        width -= ((unsigned char)*text & 0xC0) != 0x80;
    return width > 0 ? width : 0;
}

static void print_option(FILE *out, const struct option_info *info) {
    char left[64];
    const char *equals = options_wants_value(info) ? "=" : info->argument ? "[=" : "";
    const char *argument = !info->argument ? "" : info->argument + !options_wants_value(info);
    if (info->letter)
        snprintf(left, sizeof left, "-%c, --%s%s%s", info->letter, info->name, equals, argument);
    else
        snprintf(left, sizeof left, "    --%s%s%s", info->name, equals, argument);
    fprintf(out, "  %s%*s", left, padding(left, 28), "");
    int at = 30;
    for (const char *word = info->help; *word; word += strspn(word, " ")) {
        int length = (int)strcspn(word, " ");
        if (at + 1 + length > 100)
            fprintf(out, "\n%*s", at = 30, "");
        fprintf(out, " %.*s", length, word);
        at += 1 + length;
        word += length;
    }
    fputc('\n', out);
}

void options_print_help(FILE *out, enum command command) {
    fprintf(out, "usage: fclc [OPTION…] %s\n\n%s.\n", command_info[command].synopsis, command_info[command].summary);
    if (command == COMMAND_RUN || command == COMMAND_BENCH || command == COMMAND_TUNE)
        fprintf(out,
                "\nAn ARGUMENT is a literal (3, [1,2], (1,[2.5]), \"text\"), a file, or made up (iota:N, fill:N:V,\n"
                "random:N:SEED[:LO:HI]; RxC in place of N for a matrix). A file is @x.npy, @x.npz:NAME, a table\n"
                "(@x.csv, .tsv, .txt, .dat; @x.csv:COLUMN), @x.mtx, @x.pgm, @x.ppm, @- or bytes:@FILE.\n");
    fprintf(out, "\noptions:\n");
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_info[i].commands & (1u << command))
            print_option(out, &option_info[i]);
}

void options_print_overview(FILE *out) {
    /* The options that most people use. The whole overview must fit one screen. */
    static const int usual[] = {OPTION_OUTPUT,     OPTION_TARGET, OPTION_DEFINE, OPTION_OPTIMISE,
                                OPTION_BLOCK_SIZE, OPTION_MAP,    OPTION_CHECK,  OPTION_WARN,
                                OPTION_JSON,       OPTION_DUMP,   OPTION_HELP,   OPTION_VERSION};
    fprintf(out, "fclc, the compiler for FCL, a functional language for GPU kernels\n\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  fclc %s%*s %s\n", command_info[i].synopsis, padding(command_info[i].synopsis, 34), "",
                command_info[i].summary);
    fputc('\n', out);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        print_option(out, &option_info[usual[i]]);
    fprintf(out, "\nMore: `fclc help COMMAND` (a command and its options), `fclc help options` (all options).\n"
                 "FILE.fcl may be -, standard input. Exit status: 0 good; 1 the program is wrong or a test failed;\n"
                 "2 the command line is wrong; 3 the device or its driver failed; 4 an internal error.\n");
}

void options_print_all(FILE *out) {
    for (int i = 0; i < OPTION_COUNT; i++)
        print_option(out, &option_info[i]);
}
