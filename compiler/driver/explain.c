/* fclc explain: the section of docs/errors.md that a code has. The page is part of the program: the
   build makes it a table of lines, gen/errors_page.c. */
#include "driver/errors_page.h"

#include <string.h>
#include <strings.h>

#include "driver/commands.h"
#include "driver/complaint.h"
#include "support/edit.h"

static bool is_heading(const char *line) { return strncmp(line, "# ", 2) == 0 || strncmp(line, "## ", 3) == 0; }

/* Is it the heading of a code's section, `## E0221 title`? Then *code is where the code begins. */
static bool is_section(const char *line, const char **code) {
    *code = line + strlen("## ");
    return strncmp(line, "## ", 3) == 0 && strchr("EW", **code) && strcspn(*code, " ") == 5;
}

static bool is_code(const char *found, const char *wanted) {
    return strlen(wanted) == 5 && strncasecmp(found, wanted, 5) == 0;
}

/* The section that begins at a line, up to the next heading. A `#` in a program is none. */
static void print_section(const char *const *line) {
    bool is_program = false;
    const char *const *end = line;
    do {
        is_program ^= strncmp(*end, "```", 3) == 0;
        end++;
    } while (*end && (is_program || !is_heading(*end)));
    while (end[-1][0] == '\0')
        end--;
    for (; line < end; line++)
        puts(*line);
}

static void list_codes(void) {
    const char *code;
    for (const char *const *line = errors_page; *line; line++)
        if (is_section(*line, &code))
            puts(code);
}

static enum exit_status explain(struct options *options, const char *wanted) {
    struct suggestion suggestion = suggestion_for(wanted);
    struct arena *arena = arena_new();
    enum exit_status status = EXIT_USAGE;
    const char *code;
    for (const char *const *line = errors_page; *line && status != EXIT_GOOD; line++) {
        if (!is_section(*line, &code))
            continue;
        suggestion_offer(&suggestion, arena_strndup(arena, code, 5));
        if (is_code(code, wanted)) {
            print_section(line);
            status = EXIT_GOOD;
        }
    }
    if (status != EXIT_GOOD) {
        const char *what = arena_printf(arena, "no error or warning has the code `%s`", wanted);
        if (suggestion.best)
            what = arena_printf(arena, "%s; did you mean `%s`?", what, suggestion.best);
        driver_explain(options, status, what, "`fclc explain` lists the codes");
    }
    arena_free(arena);
    return status;
}

enum exit_status command_explain(struct options *options) {
    enum exit_status status = EXIT_GOOD;
    if (options->operand_count == 0)
        list_codes();
    for (size_t i = 0; i < options->operand_count; i++) {
        if (i > 0)
            puts("");
        enum exit_status one = explain(options, options->operands[i]);
        status = one > status ? one : status;
    }
    return status;
}
