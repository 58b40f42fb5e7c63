/* Reading files whole; see file.h. */
#include "support/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/fatal.h"

static bool begins_with(const char *text, const char *beginning) {
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

static bool is_stream(const char *path) {
    return strcmp(path, "/dev/stdin") == 0 || begins_with(path, "/dev/fd/") || begins_with(path, "/proc/");
}

/* To open a named pipe does not wait for who writes it. */
static FILE *open_file(const char *path, const char **why) {
    int file = open(path, O_RDONLY | O_CLOEXEC | (is_stream(path) ? 0 : O_NONBLOCK));
    struct stat status;
    *why = NULL;
    if (file < 0 || fstat(file, &status) != 0)
        *why = strerror(errno);
    else if (!is_stream(path) && S_ISFIFO(status.st_mode))
        *why = "it is a named pipe, and a file is wanted; standard input may be a pipe";
    FILE *stream = *why ? NULL : fdopen(file, "rb");
    if (!*why && !stream)
        *why = strerror(errno);
    if (file >= 0 && !stream)
        close(file);
    return stream;
}

char *file_read(const char *path, size_t most, size_t *length, const char **why) {
    bool is_stdin = strcmp(path, "-") == 0;
    if (is_stdin && feof(stdin)) {
        *why = "standard input was read before: it is the program, or one argument";
        return NULL;
    }
    FILE *file = is_stdin ? stdin : open_file(path, why);
    if (!file)
        return NULL;
    char *buffer = NULL;
    size_t capacity = 0, got = 1;
    *length = 0;
    while (got && *length <= most) {
        if (*length == capacity) {
            char *larger = realloc(buffer, capacity = capacity ? capacity * 2 : 64 * 1024);
            if (!larger)
                break;
            buffer = larger;
        }
        *length += got = fread(buffer + *length, 1, capacity - *length, file);
    }
    bool is_full = got && *length <= most;
    *why = !is_full && ferror(file) ? strerror(errno) : NULL;
    if (!is_stdin)
        fclose(file);
    if (*why || is_full)
        free(buffer);
    if (is_full)
        fatal_out_of_memory(capacity);
    return *why ? NULL : buffer;
}
