/* Says what a program's kernels give in the interpreter, for many arguments in one process: for
   tests/fuzz/run.py.

   usage: results FCLC OPTION… FILE KERNEL, with OPTIONs of `fclc run`; of each line
   `KERNEL ARGUMENT…` of the standard input it prints a line, the result as a test directive has
   it, or `error: E….` The KERNEL of the command line is not run. FCLC says by its place where the
   prelude is. Exit status: as `fclc run`'s where the program does not check or a line cannot be
   run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/arguments.h"
#include "driver/compilation.h"
#include "driver/complaint.h"
#include "driver/executor.h"
#include "driver/stack.h"

struct invocation {
    int count;
    char **arguments;
    enum exit_status status;
};

/* The result on one line, and a tuple in parentheses: value_print_lines has a line for each component. */
static void print_result(struct arena *arena, const struct host_value *value) {
    struct text lines;
    text_init(&lines, arena);
    value_print_lines(&lines, value, 0);
    const char *text = text_string(&lines);
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '\n')
        length--;
    bool is_tuple = memchr(text, '\n', length) != NULL;
    if (is_tuple)
        putchar('(');
    for (size_t i = 0; i < length; i++)
        putchar(text[i] == '\n' ? ',' : text[i]);
    puts(is_tuple ? ")" : "");
}

static enum exit_status run_line(struct compilation *c, char *line) {
    VEC(const char *) words = {0};
    struct arena *arena = arena_new();
    for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"))
        vec_push(arena, &words, word);
    const char *why = "an empty line";
    enum exit_status status = EXIT_USAGE;
    if (words.count > 0) {
        c->options->operands[1] = words.at[0];
        const struct core_global *kernel = compilation_kernel(c);
        struct host_value **arguments =
                              kernel ? parse_arguments(arena, kernel, words.at + 1, words.count - 1, NULL, &why) : NULL,
                          *result = NULL;
        if (arguments) {
            struct execution execution = {.arena = arena,
                                          .options = c->options,
                                          .program = c->program,
                                          .tuning = &c->tuning,
                                          .kernel = kernel,
                                          .arguments = arguments,
                                          .argument_count = words.count - 1,
                                          .diagnostics = diagnostics_new(arena, c->sources)};
            status = executor_named("interp")->run(&execution, &result);
            if (status == EXIT_GOOD) {
                print_result(arena, result);
            } else {
                const struct diag_view *views;
                if (diag_view_all(execution.diagnostics, &views) > 0) {
                    printf("error: %s\n", views[0].number);
                    status = EXIT_GOOD;
                }
            }
        } else {
            driver_complain(c->options, status, "%s", why);
        }
    }
    arena_free(arena);
    return status;
}

static enum exit_status run_lines(struct options *options) {
    options->check = true;
    struct compilation *c = compilation_new(options);
    enum exit_status status = compilation_check(c, options->operands[0]);
    char *line = NULL;
    size_t room = 0;
    if (status == EXIT_GOOD && compilation_is_good(c))
        while (status == EXIT_GOOD && getline(&line, &room, stdin) >= 0)
            status = run_line(c, line);
    free(line);
    return compilation_end(c, status);
}

static void start(void *context, size_t stack_bytes) {
    struct invocation *invocation = context;
    struct arena *arena = arena_new();
    struct options options = {0};
    const char *why;
    if (options_parse(arena, invocation->count, invocation->arguments, &options, &why)) {
        options.stack_bytes = stack_bytes;
        options.root = search_root(arena, invocation->arguments[0]);
        invocation->status = run_lines(&options);
    } else {
        invocation->status = driver_complain(&options, EXIT_USAGE, "%s", why);
    }
    fflush(stdout);
    arena_free(arena);
}

int main(int count, char **arguments) {
    struct invocation invocation = {.count = count - 1, .arguments = arguments + 1, .status = EXIT_INTERNAL};
    if (count < 2)
        return EXIT_USAGE;
    stack_run(start, &invocation);
    return (int)invocation.status;
}
