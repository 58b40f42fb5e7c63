/* Reading files whole. */
#ifndef FCL_SUPPORT_FILE_H
#define FCL_SUPPORT_FILE_H

#include <stddef.h>

/* A file's bytes, for free(), or those of standard input where the path is `-`. It stops beyond `most`. NULL: it cannot
   be read, and *why says why. It refuses a file that may never end, as a named pipe that nobody writes, unless the path
   says that a stream is meant: /dev/stdin, and the paths that the shell makes of <(…). */
char *file_read(const char *path, size_t most, size_t *length, const char **why);

#endif
