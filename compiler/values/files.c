/* Reading a file, or standard input, whole. */
#include "values/value.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/file.h"

bool value_read_file(struct arena *arena, const char *path, struct value_bytes *bytes, const char **why) {
    const char *reason;
    char *text = file_read(path, SIZE_MAX / 2, &bytes->length, &reason);
    if (text)
        bytes->at = (unsigned char *)arena_strndup(arena, text, bytes->length);
    else
        *why = strcmp(path, "-") == 0 ? reason : arena_printf(arena, "cannot read %s: %s", path, reason);
    bool is_read = text != NULL;
    free(text);
    return is_read;
}

bool value_has_file(const char *path) { return access(path, F_OK) == 0; }
