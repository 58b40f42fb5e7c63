// Strings, files and driver libraries for the rest of the runtime.
#include "internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// ---------------------------------------------------------------- memory

enum { CACHE_LINE = 64, LARGE_PAGE = 2 << 20, LARGE_ARRAY = 8 << 20 };

void *fclrt_array(uint64_t bytes) {
    uint64_t unit = bytes < LARGE_ARRAY ? CACHE_LINE : LARGE_PAGE;
    if (bytes > SIZE_MAX - unit)
        return NULL;
    size_t rounded = (size_t)((bytes + unit - 1) / unit * unit); // aligned_alloc wants a multiple of the alignment
    void *array = aligned_alloc((size_t)unit, rounded);
#ifdef MADV_HUGEPAGE
    if (array && unit == LARGE_PAGE)
        (void)madvise(array, rounded, MADV_HUGEPAGE);
#endif
    return array;
}

void *fclrt_grown(void *array, size_t count, size_t *capacity, size_t bytes) {
    if (count < *capacity)
        return array;
    void *more = realloc(array, (*capacity * 2 + 16) * bytes);
    *capacity = more ? *capacity * 2 + 16 : *capacity;
    return more;
}

// ---------------------------------------------------------------- strings

char *fclrt_format_list(const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *fclrt_format(const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = fclrt_format_list(format, args);
    va_end(args);
    return text;
}

void fclrt_note(struct fclrt_note note, const char *format, ...) {
    if (!note.text || !note.bytes)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(note.text, note.bytes, format, args);
    va_end(args);
}

char *fclrt_copy_string(const char *text) {
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

void fclrt_copy_name(char *to, size_t bytes, const char *from) {
    if (!bytes)
        return;
    size_t at = 0;
    for (bool gap = false; *from; from++) {
        if (is_space(*from)) {
            gap = at > 0;
            continue;
        }
        if (at + gap + 1 >= bytes)
            break;
        if (gap)
            to[at++] = ' ';
        gap = false;
        to[at++] = *from;
    }
    to[at] = 0;
}

// FNV-1a
uint64_t fclrt_hash(uint64_t seed, const void *data, size_t bytes) {
    const unsigned char *byte = data;
    for (size_t i = 0; i < bytes; i++)
        seed = (seed ^ byte[i]) * UINT64_C(0x100000001b3);
    return seed;
}

bool fclrt_split(struct fclrt_words *words, size_t extra, const char *const *strings, size_t count) {
    size_t bytes = 1, most = extra + 1;
    for (size_t i = 0; i < count; i++) {
        size_t length = strings[i] ? strlen(strings[i]) : 0;
        bytes += length + 1;
        most += (length + 1) / 2;
    }
    *words = (struct fclrt_words){.text = malloc(bytes), .list = calloc(most, sizeof(char *))};
    if (!words->text || !words->list) {
        fclrt_free_words(words);
        return false;
    }
    char *at = words->text;
    for (size_t i = 0; i < count; i++) {
        for (const char *from = strings[i] ? strings[i] : ""; *from;) {
            if (is_space(*from)) {
                from++;
                continue;
            }
            words->list[words->count++] = at;
            while (*from && !is_space(*from))
                *at++ = *from++;
            *at++ = 0;
        }
    }
    return true;
}

void fclrt_free_words(struct fclrt_words *words) {
    free(words->text);
    free(words->list);
    *words = (struct fclrt_words){0};
}

// ---------------------------------------------------------------- driver libraries

bool fclrt_load(const char *variable, const char *const *names, const char *what, const struct fclrt_symbol *symbols,
                size_t count, void *table, struct fclrt_note why) {
    const char *asked = getenv(variable);
    const char *named[] = {asked, NULL};
    if (asked && *asked)
        names = named;
    void *library = names == named ? NULL : dlopen(NULL, RTLD_NOW);
    const char *name = "the process";
    if (library && !dlsym(library, symbols[0].name)) {
        dlclose(library);
        library = NULL;
    }
    for (size_t i = 0; names[i] && !library; i++) {
        name = names[i];
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    }
    if (!library) {
        const char *reason = dlerror();
        if (names == named)
            fclrt_note(why, "%s=%s: %s", variable, asked, reason ? reason : "cannot be loaded");
        else
            fclrt_note(why, "%s could not be loaded: %s", names[0], what);
        return false;
    }
    bool complete = true;
    for (size_t i = 0; i < count && complete; i++) {
        void *symbol = dlsym(library, symbols[i].name);
        if (!symbol && !symbols[i].optional) {
            fclrt_note(why, "%s has no function %s: it is too old, or not the library it should be", name,
                       symbols[i].name);
            complete = false;
        }
        // POSIX makes void * big enough for a function; C has no conversion, so the bytes are copied.
        memcpy((char *)table + symbols[i].offset, &symbol, sizeof symbol);
    }
    dlclose(library); // RTLD_NODELETE: only the count goes down
    return complete;
}

char *fclrt_library_stamp(const char *variable) {
    const char *path = getenv(variable);
    struct stat status;
    if (!path || !*path || stat(path, &status) != 0)
        return fclrt_copy_string("");
    return fclrt_format("%s %lld %lld.%09ld", path, (long long)status.st_size, (long long)status.st_mtim.tv_sec,
                        status.st_mtim.tv_nsec);
}

// ---------------------------------------------------------------- files

char *fclrt_read_file(const char *path, size_t *bytes, struct stat *status) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return NULL;
    struct stat own;
    status = status ? status : &own;
    char *data = NULL;
    size_t capacity = 0, at = 0;
    if (fstat(file, status) == 0 && S_ISREG(status->st_mode)) {
        // Files under /proc report no size and are read until they end.
        capacity = status->st_size > 0 ? (size_t)status->st_size + 1 : 1 << 16;
        data = malloc(capacity);
    }
    while (data && at < capacity - 1) {
        ssize_t got = read(file, data + at, capacity - 1 - at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            free(data);
            data = NULL;
        }
        if (got <= 0)
            break;
        at += (size_t)got;
    }
    close(file);
    if (data)
        data[at] = 0;
    if (data && bytes)
        *bytes = at;
    return data;
}

bool fclrt_write_file(const char *path, const void *data, size_t bytes) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    bool good = true;
    for (size_t at = 0; at < bytes && good;) {
        ssize_t put = write(file, (const char *)data + at, bytes - at);
        if (put < 0 && errno == EINTR)
            continue;
        good = put > 0;
        if (good)
            at += (size_t)put;
    }
    return close(file) == 0 && good;
}

bool fclrt_has_lines(const char *source) { return strstr(source, "\n#line ") != NULL; }
