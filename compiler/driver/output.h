/* Output files, which are there whole or not at all. */
#ifndef FCL_DRIVER_OUTPUT_H
#define FCL_DRIVER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "support/arena.h"

/* Writes a temporary file beside the target and renames it; what is no plain file (a pipe, /dev/stdout) is written
   directly. `-` is standard output. */
bool output_write(struct arena *arena, const char *path, const void *bytes, size_t length, const char **why);

/* All of it, whatever signals come between; false: nobody reads it. */
bool output_pipe(int pipe, const void *bytes, size_t length);

#endif
