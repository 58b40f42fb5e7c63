/* The command line as data. One table lists the options, with the commands they belong to; parsing and --help both come
   from it. */
#ifndef FCL_DRIVER_OPTIONS_H
#define FCL_DRIVER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/ir.h"
#include "support/arena.h"
#include "support/vec.h"
#include "types/check.h"

#define FCLC_VERSION "0.2.0"

enum exit_status {
    EXIT_GOOD = 0,
    EXIT_PROGRAM_WRONG = 1, /* or a test failed */
    EXIT_USAGE = 2,
    EXIT_DEVICE = 3,
    EXIT_INTERNAL = 4,
};

enum command {
#define COMMAND(id, ...) COMMAND_##id,
#include "driver/commands.def"
#undef COMMAND
    COMMAND_COUNT
};

struct command_info {
    const char *name, *synopsis, *summary;
    size_t least, most;
};
extern const struct command_info command_info[COMMAND_COUNT];

struct option_info {
    const char *name;     /* without the dashes */
    char letter;          /* 0: none */
    const char *argument; /* NULL: none */
    unsigned commands;    /* a bit each */
    const char *help;
};
const struct option_info *options_info(size_t *count);

enum mapping { MAPPING_DEFAULT, MAPPING_SIMT, MAPPING_LOOP };
enum sub_groups { SUB_GROUPS_DEFAULT, SUB_GROUPS_NO, SUB_GROUPS_YES };

/* The text of a file as an editor shows it, which may differ from the disk; or a text that is in no file. */
struct unsaved {
    const char *path;
    const char *text;
    size_t length;
};

struct options {
    enum command command;
    const char **operands; /* files, kernel, arguments: what is no option */
    size_t operand_count;
    const char *target; /* of backend/targets.c, or interp; NULL: not said */
    const char *output; /* -o */
    const char *dump;   /* the stage */
    const char *tuning; /* the file of tuned values, or none; NULL: the one beside the program */
    enum mapping mapping;
    enum sub_groups sub_groups;
    int64_t block_size, warp_size, grid_size, vector_bytes;
    int64_t shared_bytes; /* 0: not given */
    bool block_size_given, grid_size_given, warp_size_given, vector_bytes_given;
    enum check_degree check; /* fmt, doc: not DEGREE_NONE where it was given */
    bool check_given;
    bool contract, approximate;
    int64_t large;    /* as in elaborate_options */
    bool lines;       /* -g: note [lines] in backend/print.c */
    int64_t unroll;   /* -1: not said */
    int64_t optimise; /* 0 … 2 */
    int64_t limit;    /* elements of a result that are printed; 0: all */
    bool json;        /* bench, test, devices */
    bool json_diagnostics;
    bool json_is_begun;     /* diagnostics were printed: the array is open */
    bool make_dependencies; /* -M */
    bool ahead;             /* host functions in one file with the kernels */
    bool no_prelude;
    bool all_targets;
    bool types_only, unproved;          /* check */
    bool from_stdin;                    /* fmt */
    const char *filter;                 /* test: of the directives those with this in them; NULL: all */
    const char *junit;                  /* test: a file for the report; NULL: none */
    double timeout;                     /* test: seconds; 0: none */
    bool list, verbose;                 /* test */
    int64_t seed;                       /* test: of random arguments */
    int64_t runs;                       /* bench; 0: not said */
    double time;                        /* bench: seconds; 0: not said */
    const char *save, *baseline;        /* bench, report: files; or NULL */
    const char *sizes, *device;         /* report; or NULL */
    VEC(struct param_setting) settings; /* -D */
    VEC(const char *) skipped;          /* --skip: passes */
    VEC(struct unsaved) unsaved;        /* read in place of the files of these paths; by no option */
    bool only_shows;                    /* what kernels give, as the prompt does; by no option */
    VEC(const char *) silenced;         /* -W no-NAME */
    bool warnings_are_errors;           /* -W error */
    size_t stack_bytes;                 /* of this thread that evaluation may use; 0: not known */
    const char *root;                   /* where prelude and library are below; NULL: not known */
    FILE *messages;                     /* where all messages go; NULL: stderr */
    const char *completion;             /* the shell, and nothing else is wanted */
    bool only_help, only_version;
    bool lists_options; /* the help that is wanted is that of all options */
};

/* The words that its argument may be; none where it may be anything. */
const char *const *options_choices(struct arena *arena, const struct option_info *info, size_t *count);
bool options_takes_file(const struct option_info *info);
bool options_wants_value(const struct option_info *info); /* it has one, which may not be left out */

enum check_degree options_own_degree(const struct options *options); /* without --check, by command and files */
const char *options_degree_name(enum check_degree degree);

/* False, with a message of one or more lines in *why, when the command line is wrong. */
bool options_parse(struct arena *arena, int count, char **arguments, struct options *options, const char **why);
bool options_make_code(const struct options *options); /* or only look at the program */
/* The option that is not for that target, or NULL: threads are not for C, nor is one loop nest for CUDA, nor warps
   of 64 lanes. */
const char *options_misfit(const struct options *options, const char *target);
const char *options_mapping_name(enum mapping mapping);
void options_print_usage(FILE *out);                      /* short: the commands */
void options_print_help(FILE *out, enum command command); /* a command's own */
void options_print_overview(FILE *out);                   /* fclc --help */
void options_print_all(FILE *out);                        /* fclc help options */

#endif
