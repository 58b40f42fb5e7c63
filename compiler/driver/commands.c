/* Choosing the command. */
#include "driver/commands.h"

enum exit_status command_run_any(struct options *options) {
    switch (options->command) {
#define COMMAND(id, function, ...)                                                                                     \
    case COMMAND_##id:                                                                                                 \
        return command_##function(options);
#include "driver/commands.def"
#undef COMMAND
    case COMMAND_COUNT: break;
    }
    return EXIT_INTERNAL;
}
