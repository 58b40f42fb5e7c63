/* Where the prelude and the library are: $FCL_PRELUDE, beside the executable's directory (in a source tree and after an
   installation with another prefix), or where the installation put them. */
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/compilation.h"
#include "support/edit.h"

#ifndef FCL_DATADIR
#define FCL_DATADIR "/usr/local/share/fcl"
#endif

const char *path_directory(struct arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash)
        return "";
    return slash == path ? "/" : arena_strndup(arena, path, (size_t)(slash - path));
}

const char *path_join(struct arena *arena, const char *directory, const char *name) {
    if (!*directory || name[0] == '/')
        return name;
    return arena_printf(arena, "%s%s%s", directory, directory[strlen(directory) - 1] == '/' ? "" : "/", name);
}

static bool is_directory(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

const char *search_program(struct arena *arena) {
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    return length > 0 ? arena_strndup(arena, path, (size_t)length) : NULL;
}

/* The directory above the one the executable lies in. */
static const char *executable_root(struct arena *arena) {
    const char *path = search_program(arena);
    return path ? path_directory(arena, path_directory(arena, path)) : NULL;
}

static const char *if_file(const char *path) { return is_file(path) ? path : NULL; }

const char *search_header(struct arena *arena) {
    const char *root = executable_root(arena);
    const char *found = root ? if_file(path_join(arena, root, "runtime/fcl.h")) : NULL;
    return found || !root ? found : if_file(path_join(arena, root, "include/fcl.h"));
}

const char *search_runtime(struct arena *arena) {
    const char *program = search_program(arena), *root = executable_root(arena);
    const char *found = program ? if_file(path_join(arena, path_directory(arena, program), "libfcl.a")) : NULL;
    return found || !root ? found : if_file(path_join(arena, root, "lib/libfcl.a"));
}

static const char *places(struct arena *arena, size_t which, const char *name) {
    const char *root = executable_root(arena);
    switch (which) {
    case 0: return root ? path_join(arena, root, name) : "";
    case 1: return root ? path_join(arena, root, arena_printf(arena, "share/fcl/%s", name)) : "";
    default: return arena_printf(arena, "%s/%s", FCL_DATADIR, name);
    }
}

const char *search_prelude(struct arena *arena) {
    const char *said = getenv("FCL_PRELUDE");
    if (said && *said)
        return is_directory(said) ? said : NULL;
    for (size_t i = 0; i < 3; i++) {
        const char *path = places(arena, i, "prelude");
        if (is_directory(path))
            return path;
    }
    return NULL;
}

const char *search_library(struct arena *arena, const char *name) {
    for (size_t i = 0; i < 3; i++) {
        const char *path = path_join(arena, places(arena, i, "lib"), name);
        if (is_file(path))
            return path;
    }
    return NULL;
}

typedef VEC(const char *) file_names;

/* The names by which a directory's files are imported, in alphabetical order. */
static void add_files(struct arena *arena, const char *directory, file_names *names) {
    struct dirent **entries = NULL;
    int count = scandir(*directory ? directory : ".", &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name, *dot = strrchr(name, '.');
        if (dot && strcmp(dot, ".fcl") == 0)
            vec_push(arena, names, arena_strndup(arena, name, (size_t)(dot - name)));
        free(entries[i]);
    }
    free(entries);
}

static file_names library_files(struct arena *arena) {
    file_names names = {0};
    for (size_t i = 0; i < 3; i++)
        add_files(arena, places(arena, i, "lib"), &names);
    return names;
}

const char *const *search_library_files(struct arena *arena, size_t *count) {
    file_names names = library_files(arena);
    *count = names.count;
    return names.at;
}

const char *search_similar(struct arena *arena, const char *name, const char *directory) {
    struct suggestion suggestion = suggestion_for(name);
    file_names here = {0}, library = library_files(arena);
    add_files(arena, directory, &here);
    for (size_t i = 0; i < here.count; i++)
        suggestion_offer(&suggestion, here.at[i]);
    for (size_t i = 0; i < library.count; i++)
        suggestion_offer(&suggestion, library.at[i]);
    if (suggestion.best)
        return suggestion.best;
    enum { SHORTEST = 3 }; /* `mat` for `matrix` */
    size_t length = strlen(name);
    for (size_t i = 0; i < library.count && length >= SHORTEST; i++)
        if (strncmp(library.at[i], name, length) == 0)
            return library.at[i];
    return NULL;
}
