/* The entry point: options, and the command on a thread with a stack large enough for deep programs. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/commands.h"
#include "driver/complaint.h"
#include "support/fatal.h"

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

/* What ends the process in the middle of a command is an element of the array, too. */
static void end_in_json(void *context, const char *message) {
    struct options *options = context;
    fatal_set_handler(NULL, NULL); /* there may be no memory for this */
    driver_complain(options, EXIT_INTERNAL, "%s", message);
    driver_end_complaints(options);
    exit(FATAL_EXIT_STATUS);
}

static enum exit_status invoke(struct arena *arena, const struct invocation *invocation, struct options *options) {
    const char *why;
    if (invocation->count < 2) {
        options_print_usage(stderr);
        return EXIT_USAGE;
    }
    if (!options_parse(arena, invocation->count, invocation->arguments, options, &why))
        return driver_explain(options, EXIT_USAGE, why, "`fclc --help` lists the commands and options");
    options->stack_bytes = bytes_for_evaluation(invocation->stack_bytes);
    if (options->only_version) {
        printf("fclc %s\n", FCLC_VERSION);
        return EXIT_GOOD;
    }
    if (options->only_help) {
        if (options->command == COMMAND_COMPILE && options->operand_count == 0)
            options_print_overview(stdout);
        else
            options_print_help(stdout, options->command);
        return EXIT_GOOD;
    }
    if (options->json_diagnostics)
        fatal_set_handler(end_in_json, options);
    return command_run_any(options);
}

static void *start(void *context) {
    struct invocation *invocation = context;
    struct arena *arena = arena_new();
    struct options options = {0};
    invocation->status = invoke(arena, invocation, &options);
    if (fflush(stdout) != 0 && invocation->status == EXIT_GOOD)
        invocation->status = driver_complain(&options, EXIT_USAGE, "standard output cannot be written");
    driver_end_complaints(&options);
    fatal_set_handler(NULL, NULL);
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
    return (int)invocation.status;
}
