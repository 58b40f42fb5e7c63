/* Where the prelude and the library are: $FCL_PRELUDE, or near the program or library that asks,
   wherever it was put: so an installation can be moved, and installing builds nothing anew. */
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/compilation.h"
#include "support/edit.h"

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

enum { PLACES = 2 };

/* In a source tree, and after an installation. */
static const char *place(struct arena *arena, const char *root, size_t which, const char *name) {
    return path_join(arena, root, which == 0 ? name : arena_printf(arena, "share/fcl/%s", name));
}

/* Its own directory is that of a Python package, the one above that of a program's installation,
   and the next one that of a library where libraries lie by their machine. */
const char *search_root(struct arena *arena, const char *binary) {
    const char *directory = path_directory(arena, binary);
    enum { UP = 3 };
    for (int i = 0; i < UP && *directory; i++, directory = path_directory(arena, directory))
        for (size_t k = 0; k < PLACES; k++)
            if (is_directory(place(arena, directory, k, "prelude")))
                return directory;
    return NULL;
}

const char *search_executable(struct arena *arena) {
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    return length > 0 ? arena_strndup(arena, path, (size_t)length) : "";
}

static const char *if_file(const char *path) { return is_file(path) ? path : NULL; }

const char *search_header(struct arena *arena, const char *root) {
    const char *found = root ? if_file(path_join(arena, root, "runtime/fcl.h")) : NULL;
    return found || !root ? found : if_file(path_join(arena, root, "include/fcl.h"));
}

const char *search_runtime(struct arena *arena, const char *root) {
    const char *beside = path_join(arena, path_directory(arena, search_executable(arena)), "libfcl.a");
    return is_file(beside) || !root ? if_file(beside) : if_file(path_join(arena, root, "lib/libfcl.a"));
}

const char *search_prelude(struct arena *arena, const char *root) {
    const char *said = getenv("FCL_PRELUDE");
    if (said && *said)
        return is_directory(said) ? said : NULL;
    for (size_t i = 0; root && i < PLACES; i++) {
        const char *path = place(arena, root, i, "prelude");
        if (is_directory(path))
            return path;
    }
    return NULL;
}

const char *search_library(struct arena *arena, const char *root, const char *name) {
    for (size_t i = 0; root && i < PLACES; i++) {
        const char *path = path_join(arena, place(arena, root, i, "lib"), name);
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

static file_names library_files(struct arena *arena, const char *root) {
    file_names names = {0};
    for (size_t i = 0; root && i < PLACES; i++)
        add_files(arena, place(arena, root, i, "lib"), &names);
    return names;
}

const char *const *search_library_files(struct arena *arena, const char *root, size_t *count) {
    file_names names = library_files(arena, root);
    *count = names.count;
    return names.at;
}

const char *search_similar(struct arena *arena, const char *root, const char *name, const char *directory) {
    struct suggestion suggestion = suggestion_for(name);
    file_names here = {0}, library = library_files(arena, root);
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
