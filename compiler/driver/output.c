/* Writing files atomically, and to pipes. */
#include "driver/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_all(FILE *file, const void *bytes, size_t length) {
    bool good = fwrite(bytes, 1, length, file) == length;
    return fflush(file) == 0 && good;
}

static bool write_directly(struct arena *arena, const char *path, const void *bytes, size_t length, const char **why) {
    bool is_standard = strcmp(path, "-") == 0;
    FILE *file = is_standard ? stdout : fopen(path, "wb");
    bool good = file && write_all(file, bytes, length);
    if (!good)
        *why = arena_printf(arena, "%s cannot be written: %s", path, strerror(errno));
    if (file && !is_standard && fclose(file) != 0)
        good = false;
    return good;
}

bool output_write(struct arena *arena, const char *path, const void *bytes, size_t length, const char **why) {
    struct stat info;
    bool exists = stat(path, &info) == 0;
    if (strcmp(path, "-") == 0 || (exists && !S_ISREG(info.st_mode)))
        return write_directly(arena, path, bytes, length, why);
    char *temporary = arena_printf(arena, "%s.XXXXXX", path);
    int descriptor = mkstemp(temporary);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (!file) {
        *why = arena_printf(arena, "%s cannot be written: %s", path, strerror(errno));
        return false;
    }
    mode_t mask = umask(0);
    umask(mask);
    bool good = write_all(file, bytes, length);
    good = fchmod(descriptor, exists ? info.st_mode & 0777 : 0666 & ~mask) == 0 && good;
    good = fclose(file) == 0 && good;
    if (good && rename(temporary, path) == 0)
        return true;
    *why = arena_printf(arena, "%s cannot be written: %s", path, strerror(errno));
    unlink(temporary);
    return false;
}

bool output_pipe(int pipe, const void *bytes, size_t length) {
    while (length > 0) {
        ssize_t written = write(pipe, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes = (const char *)bytes + written;
        length -= (size_t)written;
    }
    return true;
}
