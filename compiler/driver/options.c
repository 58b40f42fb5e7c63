/* Parsing the command line, and printing help; both read the tables below. */
#include "driver/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "ir/machine.h"
#include "ir/passes.h"
#include "map/map.h"
#include "support/edit.h"

const struct command_info command_info[COMMAND_COUNT] = {
    [COMMAND_COMPILE] = {"", "FILE.fcl -o OUT.{cu,cl,c,hip,py,html,fclir}",
                         "compile; the target follows the extension of OUT", 1, 1},
    [COMMAND_CHECK] = {"check", "check FILE.fcl…", "find all that is wrong, and say nothing when nothing is", 1, 0},
    [COMMAND_EXPLAIN] = {"explain", "explain [CODE…]", "print what an error is about, and a program mended", 0, 0},
    [COMMAND_TYPES] = {"types", "types FILE.fcl [NAME…]", "print the inferred types", 1, 0},
    [COMMAND_RUN] = {"run", "run FILE.fcl KERNEL [ARGUMENT…]", "compile, run, print the result", 1, 0},
    [COMMAND_TEST] = {"test", "test FILE.fcl…", "run the test directives of the files", 1, 0},
    [COMMAND_BENCH] = {"bench", "bench FILE.fcl KERNEL [ARGUMENT…]", "run it many times and print the time it takes", 1,
                       0},
    [COMMAND_TUNE] = {"tune", "tune FILE.fcl KERNEL [ARGUMENT…]", "look for the values of params that make it fast", 1,
                      0},
    [COMMAND_REPORT] = {"report", "report FILE.fcl [KERNEL]",
                        "say what kernels cost: launches, memory, loads and stores, barriers", 1, 2},
    [COMMAND_NEW] = {"new", "new NAME", "make a folder with a program to begin with, and tests", 1, 1},
    [COMMAND_DEVICES] = {"devices", "devices", "list the devices that programs can run on", 0, 0},
    [COMMAND_FMT] = {"fmt", "fmt FILE.fcl…", "lay the files out as programs should be, in place", 0, 0},
    [COMMAND_LSP] = {"lsp", "lsp", "the language server, for editors, on standard input and output", 0, 0},
    [COMMAND_REPL] = {"repl", "repl", "a prompt for definitions and expressions; `:help` lists its commands", 0, 0},
    [COMMAND_DOC] = {"doc", "doc FILE.fcl… -o DIR", "write pages about the files of a library, in HTML", 1, 0},
    [COMMAND_DUMP] = {"", "--dump=STAGE FILE.fcl", "print what a stage of the compiler makes of the file", 1, 1},
};

/* ---- the options ---- */

enum option {
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_COMPLETION,
    OPTION_OUTPUT,
    OPTION_TARGET,
    OPTION_ALL_TARGETS,
    OPTION_FILTER,
    OPTION_LIST,
    OPTION_VERBOSE,
    OPTION_TIMEOUT,
    OPTION_JUNIT,
    OPTION_RUNS,
    OPTION_TIME,
    OPTION_SAVE,
    OPTION_BASELINE,
    OPTION_SIZES,
    OPTION_DEVICE,
    OPTION_MAP,
    OPTION_SUB_GROUPS,
    OPTION_BLOCK_SIZE,
    OPTION_GRID_SIZE,
    OPTION_WARP_SIZE,
    OPTION_VECTOR_BYTES,
    OPTION_SHARED_BYTES,
    OPTION_CHECK,
    OPTION_NO_CHECK,
    OPTION_TYPES_ONLY,
    OPTION_STDIN,
    OPTION_CONTRACT,
    OPTION_UNROLL,
    OPTION_OPTIMISE,
    OPTION_DEFINE,
    OPTION_LIMIT,
    OPTION_JSON,
    OPTION_DEPENDENCIES,
    OPTION_AHEAD,
    OPTION_TUNING,
    OPTION_DUMP,
    OPTION_SKIP,
    OPTION_DIAGNOSTICS,
    OPTION_NO_PRELUDE,
    OPTION_WARN,
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
    [OPTION_HELP] = {"help", 'h', NULL, EVERYWHERE, "print this, and do nothing else"},
    [OPTION_VERSION] = {"version", 0, NULL, EVERYWHERE,
                        "print the version, with --verbose also where things are, and do nothing else"},
    [OPTION_COMPLETION] = {"completion", 0, "bash|zsh|fish", ON(COMPILE),
                           "print what a shell completes this command by, and do nothing else"},
    [OPTION_OUTPUT] =
        {"output", 'o', "FILE", ON(COMPILE) | ON(RUN) | ON(DOC) | ON(REPORT) | ON(DUMP),
         "where the output goes; for run a .npy file for the result, for doc a folder, for report a page"},
    [OPTION_TARGET] = {"target", 0, "TARGET", MAKING | ON(DEVICES) | ON(DOC),
                       "cuda, opencl, c, hip, or interp (not to compile or time)"},
    [OPTION_ALL_TARGETS] = {"all-targets", 0, NULL, ON(TEST), "on every target that is available"},
    [OPTION_FILTER] = {"filter", 0, "TEXT", ON(TEST), "only the directives that have this text in them"},
    [OPTION_LIST] = {"list", 0, NULL, ON(TEST), "list the directives, and run none"},
    [OPTION_VERBOSE] = {"verbose", 0, NULL, ON(TEST), "a line for each test that passes, too, with its time"},
    [OPTION_TIMEOUT] = {"timeout", 0, "S", ON(TEST), "so many seconds at most for each test"},
    [OPTION_JUNIT] = {"junit", 0, "FILE", ON(TEST), "write a report as JUnit XML, too"},
    [OPTION_RUNS] = {"runs", 0, "N", ON(BENCH), "time so many runs"},
    [OPTION_TIME] = {"time", 0, "S", ON(BENCH), "time runs for so many seconds"},
    [OPTION_SAVE] = {"save", 0, "FILE", ON(BENCH), "write the times to a file, for --baseline"},
    [OPTION_BASELINE] = {"baseline", 0, "FILE", ON(BENCH), "compare with saved times; status 1 when it is slower"},
    [OPTION_SIZES] = {"sizes", 0, "NAME=N,…", ON(REPORT),
                      "sizes of parameters: NAME=RxC for a matrix, n=N for the length of every array"},
    [OPTION_DEVICE] = {"device", 0, "NAME", ON(REPORT),
                       "estimate times and occupancy: v100, t4, a100, rtx3060, rtx4090, h100, or a file"},
    [OPTION_MAP] = {"map", 0, "simt|loop", GENERATING, "how levels become hardware: threads, or vector loops"},
    [OPTION_SUB_GROUPS] = {"sub-groups", 0, "yes|no", MAKING,
                           "whether OpenCL's warps are sub-groups of 32, or threads; else as the device has them"},
    [OPTION_BLOCK_SIZE] = {"block-size", 0, "N", MAKING, "threads of a block, #BlockSize"},
    [OPTION_GRID_SIZE] = {"grid-size", 0, "N", MAKING, "blocks of a grid, #GridSize"},
    [OPTION_WARP_SIZE] = {"warp-size", 0, "32|64", MAKING, "lanes of a warp, #WarpSize; not for CUDA"},
    [OPTION_VECTOR_BYTES] = {"vector-bytes", 0, "16|32|64", MAKING,
                             "what a vector register of a CPU has, #VectorBytes"},
    [OPTION_SHARED_BYTES] = {"shared-bytes", 0, "N", GENERATING,
                             "shared memory that a block of the GPU has; by itself what the device says"},
    [OPTION_CHECK] =
        {"check", 0, NULL, GENERATING | ON(FMT) | ON(DOC),
         "check indices and writes at run time; run does by itself. fmt: change nothing; doc: run the examples"},
    [OPTION_NO_CHECK] = {"no-check", 0, NULL, ON(RUN), "run the code as compile makes it, without checks"},
    [OPTION_TYPES_ONLY] = {"types-only", 0, NULL, ON(CHECK), "no more than the types; kernels are not compiled"},
    [OPTION_STDIN] = {"stdin", 0, NULL, ON(FMT), "lay out standard input, to standard output"},
    [OPTION_CONTRACT] = {"contract", 0, NULL, MAKING,
                         "let products and sums of floats be one operation, rounded once, as `with contract` does"},
    [OPTION_UNROLL] = {"unroll", 0, "N", MAKING, "the most steps of a loop that is unrolled"},
    [OPTION_OPTIMISE] = {"optimise", 'O', "0|1|2", MAKING, "how hard to work on the code; 1 is the default"},
    [OPTION_DEFINE] = {"define", 'D', "NAME=VALUE", CHECKING, "the value of a param"},
    [OPTION_LIMIT] = {"limit", 0, "N", ON(RUN), "print so many elements of a result at most; 0: all; else 64"},
    [OPTION_JSON] = {"json", 0, NULL, ON(BENCH) | ON(TEST) | ON(REPORT) | ON(DEVICES), "print what is found as JSON"},
    [OPTION_DEPENDENCIES] = {"dependencies", 'M', NULL, ON(COMPILE), "write the dependencies for make to OUT.d"},
    [OPTION_AHEAD] = {"ahead", 0, NULL, ON(COMPILE),
                      "kernels are compiled with the program that calls them: OUT.c, or by nvcc OUT.cu"},
    [OPTION_TUNING] = {"tuning", 0, "FILE|none", MAKING, "the file of tuned values; else FILE.tune beside FILE.fcl"},
    [OPTION_DUMP] = {"dump", 0, "STAGE", ON(COMPILE) | ON(DUMP),
                     "tokens, ast, types, core, ir, a pass, ir-opt or target"},
    [OPTION_SKIP] = {"skip", 0, "PASS", MAKING, "leave that pass of the IR out; a wrong name lists them"},
    [OPTION_DIAGNOSTICS] = {"diagnostics", 0, "text|json", CHECKING | ON(FMT), "the form of errors and warnings"},
    [OPTION_WARN] = {"warn", 'W', "no-NAME|error", ON(CHECK) | ON(COMPILE),
                     "without warnings of that name; `error`: all are errors"},
    [OPTION_NO_PRELUDE] = {"no-prelude", 0, NULL, CHECKING, "do not import the prelude"},
};

static const char *const stages[] = {"tokens", "ast", "types", "core", "ir", "ir-opt", "target"};
enum { STAGES = sizeof stages / sizeof *stages };
static const char *const shells[] = {"bash", "zsh", "fish"};

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

/* Passes of the IR, or with `all` any stage. */
static const char *const *stage_names(struct arena *arena, bool all, size_t *count) {
    const char **names = ARENA_ARRAY(arena, const char *, STAGES + ir_pass_count);
    memcpy(names, stages, sizeof stages);
    *count = all ? STAGES : 0;
    for (size_t i = 0; i < ir_pass_count; i++)
        names[(*count)++] = ir_passes[i].name;
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

/* ---- parsing ---- */

struct option_parser {
    struct arena *arena;
    struct options *options;
    uint64_t given; /* a bit per option */
    const char *why;
};

static bool one_of(struct option_parser *p, const char *option, const char *value, const char *const *choices,
                   size_t count) {
    struct suggestion suggestion = suggestion_for(value);
    for (size_t i = 0; i < count; i++)
        if (strcmp(value, choices[i]) == 0)
            return true;
        else
            suggestion_offer(&suggestion, choices[i]);
    struct text text;
    text_init(&text, p->arena);
    text_printf(&text, "--%s cannot be `%s`", option, value);
    if (suggestion.best)
        text_printf(&text, "; did you mean `%s`?", suggestion.best);
    text_add(&text, " (");
    for (size_t i = 0; i < count; i++)
        text_printf(&text, "%s%s", i ? ", " : "", choices[i]);
    text_add(&text, ")");
    p->why = text_string(&text);
    return false;
}

static bool one_of_stages(struct option_parser *p, const char *option, const char *value, bool all) {
    size_t count;
    const char *const *names = stage_names(p->arena, all, &count);
    return one_of(p, option, value, names, count);
}

static bool one_of_targets(struct option_parser *p, const char *option, const char *value) {
    size_t count;
    const char *const *names = target_names(p->arena, &count);
    return one_of(p, option, value, names, count);
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

static bool take_option(struct option_parser *p, enum option option, const char *value) {
    struct options *o = p->options;
    const char *name = option_info[option].name;
    int64_t small = 0;
    p->given |= (uint64_t)1 << option;
    switch (option) {
    case OPTION_HELP: o->only_help = true; return true;
    case OPTION_VERSION: o->only_version = true; return true;
    case OPTION_COMPLETION:
        o->completion = value;
        return one_of(p, name, value, shells, sizeof shells / sizeof *shells);
    case OPTION_OUTPUT: o->output = value; return true;
    case OPTION_TARGET: o->target = value; return one_of_targets(p, name, value);
    case OPTION_ALL_TARGETS: o->all_targets = true; return true;
    case OPTION_FILTER: o->filter = value; return true;
    case OPTION_LIST: o->list = true; return true;
    case OPTION_VERBOSE: o->verbose = true; return true;
    case OPTION_TIMEOUT: return seconds(p, name, value, &o->timeout);
    case OPTION_JUNIT: o->junit = value; return true;
    case OPTION_RUNS: return number(p, name, value, 1, 1000000, &o->runs);
    case OPTION_TIME: return seconds(p, name, value, &o->time);
    case OPTION_SAVE: o->save = value; return true;
    case OPTION_BASELINE: o->baseline = value; return true;
    case OPTION_SIZES: o->sizes = o->sizes ? arena_printf(p->arena, "%s,%s", o->sizes, value) : value; return true;
    case OPTION_DEVICE: o->device = value; return true;
    case OPTION_MAP: {
        static const char *const mappings[] = {"simt", "loop"};
        o->mapping = strcmp(value, "simt") == 0 ? MAPPING_SIMT : MAPPING_LOOP;
        return one_of(p, name, value, mappings, 2);
    }
    case OPTION_SUB_GROUPS: {
        static const char *const answers[] = {"yes", "no"};
        o->sub_groups = strcmp(value, "yes") == 0 ? SUB_GROUPS_YES : SUB_GROUPS_NO;
        return one_of(p, name, value, answers, 2);
    }
    case OPTION_BLOCK_SIZE: o->block_size_given = true; return number(p, name, value, 1, 1024, &o->block_size);
    case OPTION_GRID_SIZE: o->grid_size_given = true; return number(p, name, value, 1, INT32_MAX, &o->grid_size);
    case OPTION_WARP_SIZE: {
        static const char *const sizes[] = {"32", "64"};
        o->warp_size_given = true;
        o->warp_size = strtoll(value, NULL, 10);
        return one_of(p, name, value, sizes, 2);
    }
    case OPTION_VECTOR_BYTES: {
        static const char *const sizes[] = {"16", "32", "64"};
        o->vector_bytes_given = true;
        o->vector_bytes = strtoll(value, NULL, 10);
        return one_of(p, name, value, sizes, 3);
    }
    case OPTION_SHARED_BYTES: return number(p, name, value, 1024, INT32_MAX, &o->shared_bytes);
    case OPTION_CHECK: o->check = true; return true;
    case OPTION_NO_CHECK: o->no_check = true; return true;
    case OPTION_TYPES_ONLY: o->types_only = true; return true;
    case OPTION_STDIN: o->from_stdin = true; return true;
    case OPTION_CONTRACT: o->contract = true; return true;
    case OPTION_UNROLL: return number(p, name, value, 0, 65536, &o->unroll);
    case OPTION_OPTIMISE: {
        bool good = number(p, name, value, 0, 2, &small);
        o->optimise = (int)small;
        return good;
    }
    case OPTION_DEFINE: return define(p, value);
    case OPTION_LIMIT: return number(p, name, value, 0, INT64_MAX, &o->limit);
    case OPTION_JSON: o->json = true; return true;
    case OPTION_DEPENDENCIES: o->make_dependencies = true; return true;
    case OPTION_AHEAD: o->ahead = true; return true;
    case OPTION_TUNING:
        o->tuning = value;
        p->why = "--tuning wants the name of a file, or none";
        return *value;
    case OPTION_DUMP:
        o->dump = value;
        o->command = COMMAND_DUMP;
        return one_of_stages(p, name, value, true);
    case OPTION_SKIP: vec_push(p->arena, &o->skipped, value); return one_of_stages(p, name, value, false);
    case OPTION_DIAGNOSTICS: {
        static const char *const forms[] = {"text", "json"};
        o->json_diagnostics = strcmp(value, "json") == 0;
        return one_of(p, name, value, forms, 2);
    }
    case OPTION_NO_PRELUDE: o->no_prelude = true; return true;
    case OPTION_WARN: return warn(p, value);
    case OPTION_COUNT: break;
    }
    return false;
}

/* What other compilers call it; NULL: nothing that is known. */
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
    if (info->argument && !value) {
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

static bool check_operands(struct option_parser *p) {
    struct options *o = p->options;
    const struct command_info *info = &command_info[o->command];
    for (int i = 0; i < OPTION_COUNT; i++)
        if ((p->given & ((uint64_t)1 << i)) && !(option_info[i].commands & (1u << o->command))) {
            p->why = arena_printf(p->arena, "--%s is no option of `fclc %s`", option_info[i].name, info->synopsis);
            return false;
        }
    bool runs = o->command == COMMAND_CHECK || o->command == COMMAND_RUN || o->command == COMMAND_TEST ||
                o->command == COMMAND_BENCH || o->command == COMMAND_TUNE;
    const char *misfit = runs && o->target ? options_misfit(o, o->target) : NULL;
    if (misfit) {
        p->why = arena_printf(p->arena, "%s is not for --target=%s", misfit, o->target);
        return false;
    }
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

/* What is wrong may be before the option that says in which form it is told. */
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
    if (options->command != COMMAND_DUMP && operands.count > 0 && !find_command(&p, operands.at[0], &first)) {
        *why = p.why;
        return false;
    }
    options->operands = operands.at + first;
    options->operand_count = operands.count - first;
    if (options->only_help || options->only_version || options->completion)
        return true;
    if (!check_operands(&p)) {
        *why = p.why;
        return false;
    }
    return true;
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
    const char *equals = info->argument ? "=" : "", *argument = info->argument ? info->argument : "";
    if (info->letter)
        snprintf(left, sizeof left, "-%c, --%s%s%s", info->letter, info->name, equals, argument);
    else
        snprintf(left, sizeof left, "    --%s%s%s", info->name, equals, argument);
    fprintf(out, "  %s%*s %s\n", left, padding(left, 28), "", info->help);
}

void options_print_help(FILE *out, enum command command) {
    fprintf(out, "usage: fclc [OPTION…] %s\n\n%s.\n", command_info[command].synopsis, command_info[command].summary);
    if (command == COMMAND_RUN || command == COMMAND_BENCH || command == COMMAND_TUNE)
        fprintf(out,
                "\nAn ARGUMENT is a literal (3, [1,2], (1,[2.5]), \"text\"), a file (@x.npy, @x.csv, @-) or made up\n"
                "(iota:N, fill:N:V, random:N:SEED[:LO:HI]; RxC in place of N for a matrix).\n");
    fprintf(out, "\noptions:\n");
    for (int i = 0; i < OPTION_COUNT; i++)
        if (option_info[i].commands & (1u << command))
            print_option(out, &option_info[i]);
}

void options_print_overview(FILE *out) {
    fprintf(out, "fclc, the compiler for FCL, a functional language for GPU kernels\n\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  fclc %s%*s %s\n", command_info[i].synopsis, padding(command_info[i].synopsis, 36), "",
                command_info[i].summary);
    fprintf(out,
            "\nFILE.fcl may be -, standard input. `fclc COMMAND --help` lists a command's options. These are all:\n\n");
    for (int i = 0; i < OPTION_COUNT; i++)
        print_option(out, &option_info[i]);
    fprintf(out, "\nExit status: 0 good; 1 the program is wrong or a test failed; 2 the command line is wrong;\n"
                 "3 the device or its driver failed; 4 an internal error.\n");
}
