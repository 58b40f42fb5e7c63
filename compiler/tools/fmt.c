/* fclc fmt: programs in their one layout, in place or from standard input. */
#include "syntax/format.h"

#include <string.h>

#include "driver/commands.h"
#include "driver/compilation.h"
#include "driver/complaint.h"
#include "driver/output.h"

static bool is_same(const struct source *source, const struct text *text) {
    return source->length == text->length && memcmp(source->text, text_string(text), text->length) == 0;
}

static enum exit_status deliver(const struct compilation *c, const char *path, const struct source *source,
                                const struct text *text) {
    const char *why;
    bool is_stdin = strcmp(path, "-") == 0;
    if (c->options->check) {
        if (is_same(source, text))
            return EXIT_GOOD;
        printf("%s\n", source->path);
        return EXIT_PROGRAM_WRONG;
    }
    if (!is_stdin && is_same(source, text))
        return EXIT_GOOD; /* its time of change stays */
    if (output_write(c->arena, path, text_string(text), text->length, &why))
        return EXIT_GOOD;
    return driver_complain(c->options, EXIT_USAGE, "%s", why);
}

static enum exit_status format(struct options *options, const char *path) {
    if (compilation_refuses_ir(options, path))
        return EXIT_USAGE;
    struct compilation *c = compilation_new(options);
    enum exit_status status = EXIT_GOOD;
    const char *why = NULL;
    const struct source *source = source_load(c->sources, path, &why);
    struct text text;
    text_init(&text, c->arena);
    if (!source)
        status = driver_complain(options, EXIT_USAGE, "%s: %s", path, why);
    else if (syntax_format(&text, c->symbols, source, c->diagnostics))
        status = deliver(c, path, source, &text);
    if (!compilation_is_good(c)) /* what is only a warning is for other commands to tell */
        status = compilation_finish(c, EXIT_GOOD);
    compilation_free(c);
    return status;
}

enum exit_status command_fmt(struct options *options) {
    if (options->from_stdin && options->operand_count)
        return driver_complain(options, EXIT_USAGE, "--stdin and files: it is one or the other");
    if (options->from_stdin)
        return format(options, "-");
    if (!options->operand_count)
        return driver_complain(options, EXIT_USAGE, "something is missing: usage is `fclc fmt FILE.fcl…`, or --stdin");
    enum exit_status status = EXIT_GOOD;
    for (size_t i = 0; i < options->operand_count; i++) {
        enum exit_status one = format(options, options->operands[i]);
        status = one > status ? one : status;
    }
    return status;
}
