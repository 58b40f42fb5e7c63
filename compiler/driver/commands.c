/* Choosing the command, and the commands that need the code generator and the devices. */
#include "driver/commands.h"

#include <string.h>

#include "driver/compilation.h"
#include "driver/executor.h"
#include "driver/later_stages.h"

static enum exit_status not_in_this_build(const char *what) {
    driver_complain("%s is not available in this build", what);
    return EXIT_USAGE;
}

enum exit_status command_compile(struct options *options) {
    if (!options->output) {
        driver_complain("where does the output go? usage is `fclc %s`", command_info[COMMAND_COMPILE].synopsis);
        return EXIT_USAGE;
    }
    return not_in_this_build("compiling");
}

enum exit_status dump_later_stage(struct compilation *c, struct text *out) {
    (void)out;
    return not_in_this_build(arena_printf(c->arena, "--dump=%s", c->options->dump));
}

enum exit_status command_bench(struct options *options) {
    (void)options;
    return not_in_this_build("bench");
}

enum exit_status command_devices(struct options *options) {
    struct arena *arena = arena_new();
    for (size_t i = 0; executors[i]; i++) {
        const char *why = NULL;
        bool works = executors[i]->available(options, arena, &why);
        printf("%s: %s\n", executors[i]->name, works ? "available" : why);
    }
    arena_free(arena);
    return EXIT_GOOD;
}

enum exit_status command_run_any(struct options *options) {
    switch (options->command) {
    case COMMAND_COMPILE: return command_compile(options);
    case COMMAND_CHECK: return command_check(options);
    case COMMAND_TYPES: return command_types(options);
    case COMMAND_RUN: return command_run(options);
    case COMMAND_TEST: return command_test(options);
    case COMMAND_BENCH: return command_bench(options);
    case COMMAND_DEVICES: return command_devices(options);
    case COMMAND_DUMP: return command_dump(options);
    case COMMAND_COUNT: break;
    }
    return EXIT_INTERNAL;
}
