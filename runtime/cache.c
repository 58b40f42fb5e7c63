// The cache of built programs on disk: one file per program, named by a hash of all that the build
// depended on.
//
// A file is a line `fcl-cache 1 KEYBYTES DATABYTES DATAHASH`, then the key, then the data. The key
// holds the device, the driver's version, the options and the source, and is compared in full, so
// that neither a collision nor a new driver gives a wrong program. Files appear by rename, so that
// no reader sees half of one. Whatever does not fit is ignored and overwritten by the next build.
#if !defined _GNU_SOURCE
#define _GNU_SOURCE // F_OFD_SETLKW
#endif
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CACHE_LIMIT_BYTES (UINT64_C(256) << 20)
#define CACHE_SUFFIX ".fclbin"
#define CACHE_TEMPORARY ".fcltmp"

// Makes the directory and those above it, only for their owner: what lies there is loaded as code.
static bool make_directories(char *path) {
    for (char *at = path + 1;; at++) {
        if (*at && *at != '/')
            continue;
        char end = *at;
        *at = 0;
        bool good = mkdir(path, 0700) == 0 || errno == EEXIST;
        *at = end;
        if (!good)
            return false;
        if (!end)
            return true;
    }
}

// Files of the cache are run. True where somebody else could have put one there: `what` is at fault then.
static bool is_others(const struct stat *status, const char *path, const char *what, char **problem) {
    if (status->st_uid == geteuid() && !(status->st_mode & (S_IWGRP | S_IWOTH)))
        return false;
    free(*problem);
    *problem =
        status->st_uid != geteuid()
            ? fclrt_format("the cache of built programs is not used: the %s %s belongs to another user", what, path)
            : fclrt_format("the cache of built programs is not used: others may write the %s %s; `chmod go-w %s`", what,
                           path, path);
    return true;
}

char *fclrt_cache_directory(const char *wanted, char **problem) {
    const char *off = getenv("FCL_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *path = NULL;
    if (off && strcmp(off, "0") == 0)
        return NULL;
    if (wanted && *wanted)
        path = fclrt_copy_string(wanted);
    else if (xdg && *xdg == '/')
        path = fclrt_format("%s/fcl", xdg);
    else if (home && *home == '/')
        path = fclrt_format("%s/.cache/fcl", home);
    struct stat status;
    if (path && make_directories(path) && stat(path, &status) == 0 && S_ISDIR(status.st_mode) &&
        !is_others(&status, path, "directory", problem))
        return path;
    free(path);
    return NULL;
}

static char *make_key(const struct fcl_program *program) {
    return fclrt_format("%s\n%zu %s\n%s", program->context->identity, strlen(program->options), program->options,
                        program->source);
}

static char *make_path(const struct fcl_program *program, const char *key) {
    size_t bytes = strlen(key);
    uint64_t low = fclrt_hash(FCLRT_HASH_SEED, key, bytes);
    uint64_t high = fclrt_hash(low ^ bytes, key, bytes);
    return fclrt_format("%s/%016" PRIx64 "%016" PRIx64 CACHE_SUFFIX, program->context->cache_directory, high, low);
}

void *fclrt_cache_load(const struct fcl_program *program, size_t *bytes) {
    if (!program->context->cache_directory)
        return NULL;
    char *key = make_key(program), *path = key ? make_path(program, key) : NULL;
    size_t file_bytes = 0;
    struct stat status;
    char *file = path ? fclrt_read_file(path, &file_bytes, &status) : NULL;
    if (file && is_others(&status, path, "file", &program->context->cache_problem)) {
        free(file);
        file = NULL;
    }
    void *data = NULL;
    size_t key_bytes, data_bytes;
    uint64_t hash;
    int header = 0;
    if (file && sscanf(file, "fcl-cache 1 %zu %zu %" SCNx64 "%n", &key_bytes, &data_bytes, &hash, &header) == 3 &&
        header > 0 && file[header] == '\n') {
        size_t at = (size_t)header + 1, rest = file_bytes - at;
        if (key_bytes == strlen(key) && key_bytes <= rest && data_bytes == rest - key_bytes && data_bytes > 0 &&
            memcmp(file + at, key, key_bytes) == 0 &&
            fclrt_hash(FCLRT_HASH_SEED, file + at + key_bytes, data_bytes) == hash) {
            // One more byte, so that text (PTX) ends with a 0.
            data = calloc(1, data_bytes + 1);
            if (data)
                memcpy(data, file + at + key_bytes, data_bytes);
            *bytes = data_bytes;
            utimensat(AT_FDCWD, path, NULL, 0); // used now: the oldest are dropped first
        }
    }
    free(file);
    free(path);
    free(key);
    return data;
}

struct entry {
    char *path;
    uint64_t bytes;
    struct timespec used;
};

static int compare_entries(const void *a, const void *b) {
    const struct timespec *x = &((const struct entry *)a)->used, *y = &((const struct entry *)b)->used;
    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

// Drops the files not used for longest until the rest is within the limit, and temporary ones left by a crash.
static void shrink(const char *directory) {
    DIR *open = opendir(directory);
    if (!open)
        return;
    struct entry *entries = NULL;
    size_t count = 0, capacity = 0;
    uint64_t total = 0;
    time_t now = time(NULL);
    for (struct dirent *item; (item = readdir(open));) {
        bool temporary = ends_with(item->d_name, CACHE_TEMPORARY);
        if (!temporary && !ends_with(item->d_name, CACHE_SUFFIX))
            continue;
        char *path = fclrt_format("%s/%s", directory, item->d_name);
        struct stat status;
        if (!path || stat(path, &status) != 0) {
            free(path);
            continue;
        }
        if (temporary) {
            if (now - status.st_mtime > 3600)
                unlink(path);
            free(path);
            continue;
        }
        struct entry *more = fclrt_grown(entries, count, &capacity, sizeof *more);
        if (!more) {
            free(path);
            break;
        }
        entries = more;
        total += (uint64_t)status.st_size;
        entries[count++] = (struct entry){path, (uint64_t)status.st_size, status.st_mtim};
    }
    closedir(open);
    if (total > CACHE_LIMIT_BYTES) {
        qsort(entries, count, sizeof *entries, compare_entries);
        for (size_t i = 0; i < count && total > CACHE_LIMIT_BYTES / 4 * 3; i++) {
            if (unlink(entries[i].path) == 0)
                total -= entries[i].bytes;
        }
    }
    for (size_t i = 0; i < count; i++)
        free(entries[i].path);
    free(entries);
}

void fclrt_cache_store(const struct fcl_program *program, const void *data, size_t bytes) {
    const char *directory = program->context->cache_directory;
    if (!directory || !bytes)
        return;
    char *key = make_key(program), *path = key ? make_path(program, key) : NULL;
    char *temporary = fclrt_format("%s/XXXXXX" CACHE_TEMPORARY, directory);
    int file = path && temporary ? mkstemps(temporary, (int)strlen(CACHE_TEMPORARY)) : -1;
    FILE *stream = file >= 0 ? fdopen(file, "wb") : NULL;
    if (stream) {
        size_t key_bytes = strlen(key);
        bool good = fprintf(stream, "fcl-cache 1 %zu %zu %016" PRIx64 "\n", key_bytes, bytes,
                            fclrt_hash(FCLRT_HASH_SEED, data, bytes)) > 0 &&
                    fwrite(key, 1, key_bytes, stream) == key_bytes && fwrite(data, 1, bytes, stream) == bytes;
        good = fclose(stream) == 0 && good;
        if (!good || rename(temporary, path) != 0)
            unlink(temporary);
        else
            shrink(directory);
    } else if (file >= 0) {
        close(file);
        unlink(temporary);
    }
    free(temporary);
    free(path);
    free(key);
}

void fclrt_cache_drop(const struct fcl_program *program) {
    if (!program->context->cache_directory)
        return;
    char *key = make_key(program), *path = key ? make_path(program, key) : NULL;
    if (path)
        unlink(path);
    free(path);
    free(key);
}

// A hash of the program's code: a cache of the driver's own may take programs that differ in comments for one.
static uint64_t hash_code(const struct fcl_program *program) {
    uint64_t hash = FCLRT_HASH_SEED;
    for (const char *at = program->source, *end; at; at = end) {
        const char *comment = strstr(at, "/*");
        hash = fclrt_hash(hash, at, comment ? (size_t)(comment - at) : strlen(at));
        end = comment ? strstr(comment, "*/") : NULL;
    }
    return hash;
}

// Others are waited for so long: who holds a lock may have been stopped.
enum { PATIENCE_MS = 10000, LONGEST_PAUSE_MS = 50 };

bool fclrt_cache_lock(const struct fcl_program *program, int *file) {
    const char *directory = program->context->cache_directory;
    char *path = directory ? fclrt_format("%s/building.lock", directory) : NULL;
    *file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600) : -1;
    free(path);
    // A program has a byte of the file, by its hash, so that others are built meanwhile. No byte is ever written.
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    if (*file >= 0)
        lock.l_start = (off_t)(hash_code(program) >> 2);
    for (int waited = 0, pause = 1; *file >= 0 && fcntl(*file, F_OFD_SETLK, &lock) != 0; waited += pause) {
        if (errno != EAGAIN && errno != EACCES && errno != EINTR)
            break; // there are no locks here
        if (waited >= PATIENCE_MS)
            return false;
        pause = pause * 2 < LONGEST_PAUSE_MS ? pause * 2 : LONGEST_PAUSE_MS;
        nanosleep(&(struct timespec){.tv_nsec = pause * 1000000L}, NULL);
    }
    return true;
}
