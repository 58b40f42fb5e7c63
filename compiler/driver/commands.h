/* The functions that carry out the commands. */
#ifndef FCL_DRIVER_COMMANDS_H
#define FCL_DRIVER_COMMANDS_H

#include "driver/options.h"

enum exit_status command_run_any(struct options *options); /* the one that was asked for */

#define COMMAND(id, function, ...) enum exit_status command_##function(struct options *options);
#include "driver/commands.def"
#undef COMMAND

#endif
