/* Completion in bash, zsh and fish; see completion.h. tools/completion/ has the text that no table gives. */
#include "tools/completion.h"

#include <string.h>

#include "driver/options.h"
#include "support/text.h"

static const char bash[] =
#include "compiler/tools/completion/bash.in.inc"
    ;
static const char zsh[] =
#include "compiler/tools/completion/zsh.in.inc"
    ;

/* ---- the tables ---- */

static const char *name_of(enum command command) { return command_info[command].name; }

static bool has_word(enum command command) { return *name_of(command) != '\0'; }

static bool belongs(const struct option_info *option, enum command command) {
    return option->commands & (1u << command);
}

/* Before a command's word, an option may be any that works without one. */
static bool works_alone(const struct option_info *option) {
    return belongs(option, COMMAND_COMPILE) || belongs(option, COMMAND_DUMP);
}

static void print_choices(struct text *out, const struct option_info *option) {
    size_t count;
    const char *const *choices = options_choices(out->arena, option, &count);
    for (size_t i = 0; i < count; i++)
        text_printf(out, "%s%s", i ? " " : "", choices[i]);
}

static bool has_choices(struct arena *arena, const struct option_info *option) {
    size_t count;
    (void)options_choices(arena, option, &count);
    return count > 0;
}

static void print_words(struct text *out, const char *between) {
    const char *before = "";
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (has_word((enum command)i)) {
            text_printf(out, "%s%s", before, name_of((enum command)i));
            before = between;
        }
}

/* Between single quotes; `special` are characters that want a backslash. */
static void print_quoted(struct text *out, const char *text, const char *special) {
    for (const char *c = text; *c; c++) {
        if (*c == '\'')
            text_add(out, "'\\'");
        else if (strchr(special, *c))
            text_add(out, "\\");
        text_add_n(out, c, 1);
    }
}

/* ---- bash ---- */

static void print_bash_options(struct text *out, int command) {
    size_t count;
    const struct option_info *options = options_info(&count);
    for (size_t i = 0; i < count; i++)
        if (command < 0 ? works_alone(&options[i]) : belongs(&options[i], (enum command)command))
            text_printf(out, " --%s%s", options[i].name, options_wants_value(&options[i]) ? "=" : "");
}

/* A value comes as a word of its own: bash makes one of the `=`, too. */
static void print_bash_values(struct text *out) {
    size_t count;
    const struct option_info *options = options_info(&count);
    for (size_t i = 0; i < count; i++) {
        if (!has_choices(out->arena, &options[i]) && !options_takes_file(&options[i]))
            continue;
        text_printf(out, "    --%s", options[i].name);
        if (options[i].letter)
            text_printf(out, "|-%c", options[i].letter);
        text_printf(out, ") COMPREPLY=($(compgen %s-W '", options_takes_file(&options[i]) ? "-f " : "");
        print_choices(out, &options[i]);
        text_add(out, "' -- \"$word\")); return ;;\n");
    }
}

static void print_bash(struct text *out) {
    struct text values, options, commands;
    text_init(&values, out->arena);
    text_init(&options, out->arena);
    text_init(&commands, out->arena);
    print_bash_values(&values);
    print_words(&commands, "|");
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (!has_word((enum command)i))
            continue;
        text_printf(&options, "    %s) options='", name_of((enum command)i));
        print_bash_options(&options, i);
        text_add(&options, "' ;;\n");
    }
    text_add(&options, "    *) options='");
    print_words(&options, " ");
    print_bash_options(&options, -1);
    text_add(&options, "' ;;\n");
    text_add_replaced(out, bash, sizeof bash - 1,
                      (const struct text_word[]){{"VALUE_CASES\n", text_string(&values)},
                                                 {"OPTION_CASES\n", text_string(&options)},
                                                 {"COMMANDS", text_string(&commands)},
                                                 {0}});
}

/* ---- zsh ---- */

static void print_zsh_option(struct text *out, const struct option_info *option) {
    text_printf(out, "        '--%s%s[", option->name, options_wants_value(option) ? "=" : "");
    print_quoted(out, option->help, "[]:\\");
    text_add(out, "]");
    if (options_wants_value(option)) {
        text_add(out, ":");
        print_quoted(out, option->argument, ":\\");
        text_add(out, ":");
        if (options_takes_file(option)) {
            text_add(out, "_files");
        } else if (has_choices(out->arena, option)) {
            text_add(out, "(");
            print_choices(out, option);
            text_add(out, ")");
        }
    }
    text_add(out, "'\n");
}

static void print_zsh_options(struct text *out, int command) {
    size_t count;
    const struct option_info *options = options_info(&count);
    text_printf(out, "%s)\n    options=(\n", command < 0 ? "*" : name_of((enum command)command));
    for (size_t i = 0; i < count; i++)
        if (command < 0 ? works_alone(&options[i]) : belongs(&options[i], (enum command)command))
            print_zsh_option(out, &options[i]);
    text_add(out, "    ) ;;\n");
}

static void print_zsh(struct text *out) {
    struct text summaries, options, commands;
    text_init(&summaries, out->arena);
    text_init(&options, out->arena);
    text_init(&commands, out->arena);
    print_words(&commands, "|");
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (has_word((enum command)i)) {
            text_printf(&summaries, "    '%s:", name_of((enum command)i));
            print_quoted(&summaries, command_info[i].summary, "\\");
            text_add(&summaries, "'\n");
            print_zsh_options(&options, i);
        }
    print_zsh_options(&options, -1);
    text_add_replaced(out, zsh, sizeof zsh - 1,
                      (const struct text_word[]){{"SUMMARIES\n", text_string(&summaries)},
                                                 {"OPTION_CASES\n", text_string(&options)},
                                                 {"COMMANDS", text_string(&commands)},
                                                 {0}});
}

/* ---- fish ---- */

static void print_fish_condition(struct text *out, const struct option_info *option) {
    text_add(out, " -n '");
    if (works_alone(option)) {
        text_add(out, "not __fish_seen_subcommand_from ");
        print_words(out, " ");
        text_add(out, "; or ");
    }
    text_add(out, "__fish_seen_subcommand_from");
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (has_word((enum command)i) && belongs(option, (enum command)i))
            text_printf(out, " %s", name_of((enum command)i));
    text_add(out, "'");
}

static void print_fish(struct text *out) {
    size_t count;
    const struct option_info *options = options_info(&count);
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (has_word((enum command)i)) {
            text_printf(out, "complete -c fclc -n __fish_use_subcommand -a %s -d '", name_of((enum command)i));
            print_quoted(out, command_info[i].summary, "\\");
            text_add(out, "'\n");
        }
    for (size_t i = 0; i < count; i++) {
        text_add(out, "complete -c fclc");
        print_fish_condition(out, &options[i]);
        text_printf(out, " -l %s", options[i].name);
        if (options[i].letter)
            text_printf(out, " -s %c", options[i].letter);
        if (options_wants_value(&options[i]))
            text_add(out, options_takes_file(&options[i]) ? " -r -F" : " -x");
        if (has_choices(out->arena, &options[i])) {
            text_add(out, " -a '");
            print_choices(out, &options[i]);
            text_add(out, "'");
        }
        text_add(out, " -d '");
        print_quoted(out, options[i].help, "\\");
        text_add(out, "'\n");
    }
}

void completion_print(FILE *out, const char *shell) {
    struct arena *arena = arena_new();
    struct text text;
    text_init(&text, arena);
    if (strcmp(shell, "bash") == 0)
        print_bash(&text);
    else if (strcmp(shell, "zsh") == 0)
        print_zsh(&text);
    else
        print_fish(&text);
    fputs(text_string(&text), out);
    arena_free(arena);
}
