/* fclc explain: the section of docs/errors.md that a code has. The page is part of the program. */
#include <string.h>
#include <strings.h>

#include "driver/commands.h"
#include "driver/complaint.h"
#include "support/edit.h"

static const char page[] =
#include "docs/errors.md.inc"
    ;

static bool is_heading(const char *line) { return strncmp(line, "# ", 2) == 0 || strncmp(line, "## ", 3) == 0; }

/* The code in the heading of its section, `## E0221 title`, and its length; 0: no such line. */
static size_t code_of(const char *line, const char **code) {
    *code = line + strlen("## ");
    if (strncmp(line, "## ", 3) != 0 || (**code != 'E' && **code != 'W'))
        return 0;
    size_t digits = strspn(*code + 1, "0123456789");
    return digits && (*code)[1 + digits] == ' ' ? 1 + digits : 0;
}

static const char *next_line(const char *line) { return line + strcspn(line, "\n") + 1; }

/* The section that begins at a line, up to the next heading. A `#` in a program is none. */
static void print_section(const char *line) {
    bool is_program = false;
    const char *end = line;
    do {
        is_program ^= strncmp(end, "```", 3) == 0;
        end = next_line(end);
    } while (*end && (is_program || !is_heading(end)));
    while (end[-2] == '\n')
        end--;
    fwrite(line, 1, (size_t)(end - line), stdout);
}

static void list_codes(void) {
    const char *code;
    for (const char *line = page; *line; line = next_line(line))
        if (code_of(line, &code))
            fwrite(code, 1, (size_t)(next_line(line) - code), stdout);
}

static enum exit_status explain(struct options *options, const char *wanted) {
    struct suggestion suggestion = suggestion_for(wanted);
    struct arena *arena = arena_new();
    enum exit_status status = EXIT_USAGE;
    const char *code;
    for (const char *line = page; *line && status != EXIT_GOOD; line = next_line(line)) {
        size_t length = code_of(line, &code);
        if (!length)
            continue;
        suggestion_offer(&suggestion, arena_strndup(arena, code, length));
        if (strlen(wanted) == length && strncasecmp(code, wanted, length) == 0) {
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
