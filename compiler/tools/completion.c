/* Completion in bash, zsh and fish; see completion.h. */
#include "tools/completion.h"

#include <string.h>

#include "driver/options.h"

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

static void print_choices(FILE *out, struct arena *arena, const struct option_info *option) {
    size_t count;
    const char *const *choices = options_choices(arena, option, &count);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s", i ? " " : "", choices[i]);
}

static bool has_choices(struct arena *arena, const struct option_info *option) {
    size_t count;
    (void)options_choices(arena, option, &count);
    return count > 0;
}

static void print_words(FILE *out, const char *between) {
    const char *before = "";
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (has_word((enum command)i)) {
            fprintf(out, "%s%s", before, name_of((enum command)i));
            before = between;
        }
}

/* Between single quotes; `special` are characters that want a backslash. */
static void print_quoted(FILE *out, const char *text, const char *special) {
    for (const char *c = text; *c; c++) {
        if (*c == '\'')
            fputs("'\\'", out);
        else if (strchr(special, *c))
            fputc('\\', out);
        fputc(*c, out);
    }
}

/* ---- bash ---- */

static void print_bash_options(FILE *out, int command) {
    size_t count;
    const struct option_info *options = options_info(&count);
    for (size_t i = 0; i < count; i++)
        if (command < 0 ? works_alone(&options[i]) : belongs(&options[i], (enum command)command))
            fprintf(out, " --%s%s", options[i].name, options_wants_value(&options[i]) ? "=" : "");
}

/* A value comes as a word of its own: bash makes one of the `=`, too. */
static void print_bash(FILE *out, struct arena *arena) {
    size_t count;
    const struct option_info *options = options_info(&count);
    fputs("_fclc() {\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= options i\n"
          "    COMPREPLY=()\n"
          "    if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
          "    case $before in\n",
          out);
    for (size_t i = 0; i < count; i++) {
        if (!has_choices(arena, &options[i]) && !options_takes_file(&options[i]))
            continue;
        fprintf(out, "    --%s", options[i].name);
        if (options[i].letter)
            fprintf(out, "|-%c", options[i].letter);
        fputs(") COMPREPLY=($(compgen ", out);
        if (options_takes_file(&options[i]))
            fputs("-f ", out);
        fputs("-W '", out);
        print_choices(out, arena, &options[i]);
        fputs("' -- \"$word\")); return ;;\n", out);
    }
    fputs("    esac\n"
          "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
          "        case ${COMP_WORDS[i]} in\n        ",
          out);
    print_words(out, "|");
    fputs(") command=${COMP_WORDS[i]}; break ;;\n        esac\n    done\n    case $command in\n", out);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (!has_word((enum command)i))
            continue;
        fprintf(out, "    %s) options='", name_of((enum command)i));
        print_bash_options(out, i);
        fputs("' ;;\n", out);
    }
    fputs("    *) options='", out);
    print_words(out, " ");
    print_bash_options(out, -1);
    fputs("' ;;\n"
          "    esac\n"
          "    if [[ $word == -* ]]; then\n"
          "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
          "        [[ ${#COMPREPLY[@]} == 1 && $COMPREPLY == *= ]] && compopt -o nospace 2>/dev/null\n"
          "        return\n"
          "    fi\n"
          "    COMPREPLY=($(compgen -f -X '!*.fcl' -- \"$word\") $(compgen -d -- \"$word\"))\n"
          "    [[ $command ]] || COMPREPLY+=($(compgen -W \"$options\" -- \"$word\"))\n"
          "}\n"
          "complete -o filenames -F _fclc fclc\n",
          out);
}

/* ---- zsh ---- */

static void print_zsh_option(FILE *out, struct arena *arena, const struct option_info *option) {
    fprintf(out, "        '--%s%s[", option->name, options_wants_value(option) ? "=" : "");
    print_quoted(out, option->help, "[]:\\");
    fputs("]", out);
    if (options_wants_value(option)) {
        fputs(":", out);
        print_quoted(out, option->argument, ":\\");
        fputs(":", out);
        if (options_takes_file(option)) {
            fputs("_files", out);
        } else if (has_choices(arena, option)) {
            fputs("(", out);
            print_choices(out, arena, option);
            fputs(")", out);
        }
    }
    fputs("'\n", out);
}

static void print_zsh(FILE *out, struct arena *arena) {
    size_t count;
    const struct option_info *options = options_info(&count);
    fputs("#compdef fclc\n\nlocal -a commands options\ncommands=(\n", out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (has_word((enum command)i)) {
            fprintf(out, "    '%s:", name_of((enum command)i));
            print_quoted(out, command_info[i].summary, "\\");
            fputs("'\n", out);
        }
    fputs(")\ncase ${words[(r)(", out);
    print_words(out, "|");
    fputs(")]} in\n", out);
    for (int i = 0; i <= COMMAND_COUNT; i++) {
        bool is_last = i == COMMAND_COUNT;
        if (!is_last && !has_word((enum command)i))
            continue;
        fprintf(out, "%s)\n    options=(\n", is_last ? "*" : name_of((enum command)i));
        for (size_t k = 0; k < count; k++)
            if (is_last ? works_alone(&options[k]) : belongs(&options[k], (enum command)i))
                print_zsh_option(out, arena, &options[k]);
        fputs("    ) ;;\n", out);
    }
    fputs("esac\n"
          "if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then\n"
          "    _describe command commands\n"
          "    _files -g '*.fcl'\n"
          "else\n"
          "    _arguments $options '*:file:_files -g \"*.fcl\"'\n"
          "fi\n",
          out);
}

/* ---- fish ---- */

static void print_fish_condition(FILE *out, const struct option_info *option) {
    fputs(" -n '", out);
    if (works_alone(option)) {
        fputs("not __fish_seen_subcommand_from ", out);
        print_words(out, " ");
        fputs("; or ", out);
    }
    fputs("__fish_seen_subcommand_from", out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (has_word((enum command)i) && belongs(option, (enum command)i))
            fprintf(out, " %s", name_of((enum command)i));
    fputs("'", out);
}

static void print_fish(FILE *out, struct arena *arena) {
    size_t count;
    const struct option_info *options = options_info(&count);
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (has_word((enum command)i)) {
            fprintf(out, "complete -c fclc -n __fish_use_subcommand -a %s -d '", name_of((enum command)i));
            print_quoted(out, command_info[i].summary, "\\");
            fputs("'\n", out);
        }
    for (size_t i = 0; i < count; i++) {
        fputs("complete -c fclc", out);
        print_fish_condition(out, &options[i]);
        fprintf(out, " -l %s", options[i].name);
        if (options[i].letter)
            fprintf(out, " -s %c", options[i].letter);
        if (options_wants_value(&options[i]))
            fputs(options_takes_file(&options[i]) ? " -r -F" : " -x", out);
        if (has_choices(arena, &options[i])) {
            fputs(" -a '", out);
            print_choices(out, arena, &options[i]);
            fputs("'", out);
        }
        fputs(" -d '", out);
        print_quoted(out, options[i].help, "\\");
        fputs("'\n", out);
    }
}

void completion_print(FILE *out, const char *shell) {
    struct arena *arena = arena_new();
    if (strcmp(shell, "bash") == 0)
        print_bash(out, arena);
    else if (strcmp(shell, "zsh") == 0)
        print_zsh(out, arena);
    else
        print_fish(out, arena);
    arena_free(arena);
}
