/* Output files, which are there whole or not at all. */
#ifndef FCL_DRIVER_OUTPUT_H
#define FCL_DRIVER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "support/arena.h"

struct output_file {
    const char *path;
    const void *bytes;
    size_t length;
};

/* Writes temporary files beside the targets, and renames them when all are whole: so all are there
   or none. A link stays, and the file that it leads to is written. A target that is no plain
   file (a pipe, /dev/stdout) is written directly. `-` is standard output. */
bool output_write_all(struct arena *arena, const struct output_file *files, size_t count, const char **why);
/* The same, of one. */
bool output_write(struct arena *arena, const char *path, const void *bytes, size_t length, const char **why);

/* All of it, whatever signals come between; false: nobody reads it. */
bool output_pipe(int pipe, const void *bytes, size_t length);

#endif
