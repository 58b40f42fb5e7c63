/* The entry point: options, and the command on a thread with a stack large enough for deep programs. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "driver/commands.h"
#include "driver/compilation.h"

enum {
    STACK_LARGE = 512 * 1024 * 1024,
    STACK_SMALL = 64 * 1024 * 1024,
    STACK_KEPT_BACK = 4 * 1024 * 1024, /* for what lies below and above an evaluation */
    STACK_ENOUGH =
        60 * 1024 * 1024, /* tens of thousands of calls; AddressSanitizer follows no longjmp over more than 64 MiB */
};

struct invocation {
    int count;
    char **arguments;
    size_t stack_bytes;
    enum exit_status status;
};

static size_t bytes_for_evaluation(size_t stack_bytes) {
    if (stack_bytes <= STACK_KEPT_BACK)
        return 0;
    return stack_bytes - STACK_KEPT_BACK < STACK_ENOUGH ? stack_bytes - STACK_KEPT_BACK : STACK_ENOUGH;
}

static enum exit_status invoke(struct arena *arena, const struct invocation *invocation) {
    struct options options;
    const char *why;
    if (invocation->count < 2) {
        options_print_usage(stderr);
        return EXIT_USAGE;
    }
    if (!options_parse(arena, invocation->count, invocation->arguments, &options, &why)) {
        driver_complain("%s", why);
        driver_complain("`fclc --help` lists the commands and options");
        return EXIT_USAGE;
    }
    options.stack_bytes = bytes_for_evaluation(invocation->stack_bytes);
    if (options.only_version) {
        printf("fclc %s\n", FCLC_VERSION);
        return EXIT_GOOD;
    }
    if (options.only_help) {
        if (options.command == COMMAND_COMPILE && options.operand_count == 0)
            options_print_overview(stdout);
        else
            options_print_help(stdout, options.command);
        return EXIT_GOOD;
    }
    enum exit_status status = command_run_any(&options);
    if (options.json_diagnostics)
        diag_end_json(stderr, options.json_is_begun);
    return status;
}

static void *start(void *context) {
    struct invocation *invocation = context;
    struct arena *arena = arena_new();
    invocation->status = invoke(arena, invocation);
    arena_free(arena);
    return NULL;
}

static bool run_on_stack(struct invocation *invocation, size_t bytes) {
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    invocation->stack_bytes = bytes;
    bool started = pthread_attr_setstacksize(&attributes, bytes) == 0 &&
                   pthread_create(&thread, &attributes, start, invocation) == 0;
    pthread_attr_destroy(&attributes);
    return started && pthread_join(thread, NULL) == 0;
}

int main(int count, char **arguments) {
    struct invocation invocation = {.count = count, .arguments = arguments, .status = EXIT_INTERNAL};
    if (!run_on_stack(&invocation, STACK_LARGE) && !run_on_stack(&invocation, STACK_SMALL)) {
        invocation.stack_bytes = 0;
        start(&invocation);
    }
    if (fflush(stdout) != 0 && invocation.status == EXIT_GOOD) {
        driver_complain("standard output cannot be written");
        return EXIT_USAGE;
    }
    return (int)invocation.status;
}
