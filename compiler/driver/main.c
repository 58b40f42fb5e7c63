/* The entry point: options, and the command on a thread with a stack large enough for deep programs. */
#include <stdio.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "driver/commands.h"
#include "driver/compilation.h"
#include "driver/complaint.h"
#include "tools/completion.h"
#include "driver/interrupt.h"
#include "driver/stack.h"
#include "fcl.h"
#include "support/fatal.h"

struct invocation {
    int count;
    char **arguments;
    enum exit_status status;
};

/* An error that ends the process in the middle of a command is an element of the array, too. */
static void end_in_json(void *context, const char *message) {
    struct options *options = context;
    fatal_set_handler(NULL, NULL); /* there may be no memory for this */
    driver_complain(options, EXIT_INTERNAL, "%s", message);
    driver_end_complaints(options);
    exit(FATAL_EXIT_STATUS);
}

static const char *or_else(const char *text, const char *otherwise) { return text && *text ? text : otherwise; }

static void print_version(struct arena *arena, const struct options *options) {
    printf("fclc %s\n", FCLC_VERSION);
    if (!options->verbose)
        return;
    const char *program = search_executable(arena), *matrix = search_library(arena, options->root, "matrix.fcl");
    const char *home = getenv("HOME"), *caches = getenv("XDG_CACHE_HOME");
    const char *cache = caches && *caches ? arena_printf(arena, "%s/fcl", caches)
                                          : arena_printf(arena, "%s/.cache/fcl", home ? home : "");
    printf("program:    %s\n", or_else(program, "not known"));
    printf("prelude:    %s\n", or_else(search_prelude(arena, options->root), "not found"));
    printf("library:    %s\n", matrix ? path_directory(arena, matrix) : "not found");
    printf("runtime:    %s\n", FCL_RUNTIME_VERSION);
    printf("cache:      %s\n", cache);
    printf("C compiler: %s\n", or_else(getenv("FCL_CC"), "cc"));
#if defined __clang__
    printf("built by:   %s\n", __VERSION__);
#elif defined __GNUC__
    printf("built by:   GCC %s\n", __VERSION__);
#endif
}

static enum exit_status invoke(struct arena *arena, const struct invocation *invocation, size_t stack_bytes,
                               struct options *options) {
    const char *why;
    if (invocation->count < 2) {
        options_print_usage(stderr);
        return EXIT_USAGE;
    }
    if (!options_parse(arena, invocation->count, invocation->arguments, options, &why))
        return driver_explain(options, EXIT_USAGE, why,
                              "`fclc --help` lists the commands, `fclc help options` the options");
    options->stack_bytes = stack_bytes;
    options->root = search_root(arena, search_executable(arena));
    if (options->only_version) {
        print_version(arena, options);
        return EXIT_GOOD;
    }
    if (options->completion) {
        completion_print(stdout, options->completion);
        return EXIT_GOOD;
    }
    if (options->only_help) {
        if (options->lists_options)
            options_print_all(stdout);
        else if (options->command == COMMAND_COMPILE && options->operand_count == 0)
            options_print_overview(stdout);
        else
            options_print_help(stdout, options->command);
        return EXIT_GOOD;
    }
    if (options->json_diagnostics)
        fatal_set_handler(end_in_json, options);
    return command_run_any(options);
}

static void start(void *context, size_t stack_bytes) {
    struct invocation *invocation = context;
    struct arena *arena = arena_new();
    struct options options = {0};
    invocation->status = invoke(arena, invocation, stack_bytes, &options);
    if (fflush(stdout) != 0 && invocation->status == EXIT_GOOD)
        invocation->status = driver_complain(&options, EXIT_USAGE, "standard output cannot be written");
    driver_end_complaints(&options);
    fatal_set_handler(NULL, NULL);
    arena_free(arena);
}

/* The next kernel takes the memory of the one before. The C library would give it back to the system in between, and
   each page of it that is taken again costs more than most of what is done with it. */
static void keep_freed_memory(void) {
#if defined M_TRIM_THRESHOLD && defined M_MMAP_THRESHOLD
    enum { KEPT = 64 * 1024 * 1024, LARGEST = 16 * 1024 * 1024 };
    mallopt(M_TRIM_THRESHOLD, KEPT);
    mallopt(M_MMAP_THRESHOLD, LARGEST);
#endif
}

int main(int count, char **arguments) {
    keep_freed_memory();
    interrupt_cleans_up();
    struct invocation invocation = {.count = count, .arguments = arguments, .status = EXIT_INTERNAL};
    stack_run(start, &invocation);
    return (int)invocation.status;
}
