/* Writing files atomically, and to pipes. */
#include "driver/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool write_all(FILE *file, const void *bytes, size_t length) {
    bool good = fwrite(bytes, 1, length, file) == length;
    return fflush(file) == 0 && good;
}

static bool complain(struct arena *arena, const char *path, const char **why) {
    *why = arena_printf(arena, "%s cannot be written: %s", path,
                        errno == ENXIO ? "it is a named pipe that nobody reads" : strerror(errno));
    return false;
}

/* A device, or a named pipe, which somebody must read: nobody is waited for. */
static FILE *open_directly(const char *path) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file >= 0)
        fcntl(file, F_SETFL, 0); /* what is written may be waited for */
    return file >= 0 ? fdopen(file, "wb") : NULL;
}

static bool write_directly(struct arena *arena, const struct output_file *from, const char **why) {
    bool is_standard = strcmp(from->path, "-") == 0;
    FILE *file = is_standard ? stdout : open_directly(from->path);
    bool good = file && write_all(file, from->bytes, from->length);
    if (!good)
        complain(arena, from->path, why);
    if (file && !is_standard && fclose(file) != 0)
        good = good && complain(arena, from->path, why);
    return good;
}

/* A file on its way. */
struct draft_file {
    const char *temporary; /* NULL: none, and it is written directly */
    const char *target;    /* the file itself, where the path is a link */
};

static bool draft(struct arena *arena, const struct output_file *from, struct draft_file *to, const char **why) {
    struct stat info, itself;
    bool is_standard = strcmp(from->path, "-") == 0;
    bool exists = stat(from->path, &info) == 0, is_link = lstat(from->path, &itself) == 0 && S_ISLNK(itself.st_mode);
    if (exists && S_ISDIR(info.st_mode) && !is_standard)
        return errno = EISDIR, complain(arena, from->path, why);
    if (is_standard || (exists && !S_ISREG(info.st_mode)) || (is_link && !exists))
        return true;
    char *real = is_link ? realpath(from->path, NULL) : NULL;
    to->target = real ? arena_strndup(arena, real, strlen(real)) : from->path;
    free(real);
    char *temporary = arena_printf(arena, "%s.XXXXXX", to->target);
    int descriptor = mkstemp(temporary);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (!file)
        return complain(arena, from->path, why);
    to->temporary = temporary;
    mode_t mask = umask(0);
    umask(mask);
    bool good = write_all(file, from->bytes, from->length);
    good = fchmod(descriptor, exists ? info.st_mode & 0777 : 0666 & ~mask) == 0 && good;
    good = fclose(file) == 0 && good;
    return good || complain(arena, from->path, why);
}

bool output_write_all(struct arena *arena, const struct output_file *files, size_t count, const char **why) {
    struct draft_file *drafts = ARENA_ARRAY(arena, struct draft_file, count);
    bool good = true;
    for (size_t i = 0; i < count && good; i++)
        good = draft(arena, &files[i], &drafts[i], why);
    for (size_t i = 0; i < count && good; i++)
        good = drafts[i].temporary || write_directly(arena, &files[i], why);
    for (size_t i = 0; i < count; i++)
        if (drafts[i].temporary && !(good && rename(drafts[i].temporary, drafts[i].target) == 0)) {
            good = good && complain(arena, files[i].path, why);
            unlink(drafts[i].temporary);
        }
    return good;
}

bool output_write(struct arena *arena, const char *path, const void *bytes, size_t length, const char **why) {
    const struct output_file file = {path, bytes, length};
    return output_write_all(arena, &file, 1, why);
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
