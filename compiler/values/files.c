/* Reading a file, or standard input, whole. */
#include "values/value.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool value_read_file(struct arena *arena, const char *path, struct value_bytes *bytes, const char **why) {
    bool is_standard_input = strcmp(path, "-") == 0;
    FILE *file = is_standard_input ? stdin : fopen(path, "rb");
    if (is_standard_input && feof(stdin)) {
        *why = "standard input was read before: it is the program, or one argument";
        return false;
    }
    if (!file) {
        *why = arena_printf(arena, "cannot read %s: %s", path, strerror(errno));
        return false;
    }
    unsigned char *buffer = NULL;
    size_t length = 0, capacity = 0;
    bool good = true;
    for (;;) {
        if (length == capacity) {
            capacity = capacity ? capacity * 2 : 64 * 1024;
            unsigned char *larger = realloc(buffer, capacity);
            if (!larger) {
                *why = arena_printf(arena, "cannot read %s: not enough memory", path);
                good = false;
                break;
            }
            buffer = larger;
        }
        size_t got = fread(buffer + length, 1, capacity - length, file);
        length += got;
        if (got == 0)
            break;
    }
    if (good && ferror(file)) {
        *why = arena_printf(arena, "cannot read %s: %s", path, strerror(errno));
        good = false;
    }
    if (!is_standard_input)
        fclose(file);
    if (good) {
        bytes->at = (unsigned char *)arena_strndup(arena, (const char *)buffer, length);
        bytes->length = length;
    }
    free(buffer);
    return good;
}
