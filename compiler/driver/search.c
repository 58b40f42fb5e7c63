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

/* The directory above the one the executable lies in. */
static const char *executable_root(struct arena *arena) {
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return NULL;
    path[length] = '\0';
    return path_directory(arena, path_directory(arena, path));
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

static void offer_files(struct arena *arena, const char *directory, struct suggestion *suggestion) {
    struct dirent **entries = NULL;
    int count = scandir(*directory ? directory : ".", &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name, *dot = strrchr(name, '.');
        if (dot && strcmp(dot, ".fcl") == 0)
            suggestion_offer(suggestion, arena_strndup(arena, name, (size_t)(dot - name)));
        free(entries[i]);
    }
    free(entries);
}

/* A file of the library whose name goes on where this one ends: `mat` for `matrix`. */
static const char *longer_name(struct arena *arena, const char *name) {
    enum { SHORTEST = 3 };
    const char *found = NULL;
    for (size_t i = 0; i < 3 && !found && strlen(name) >= SHORTEST; i++) {
        const char *directory = places(arena, i, "lib");
        struct dirent **entries = NULL;
        int count = scandir(directory, &entries, NULL, alphasort);
        for (int k = 0; k < count; k++) {
            const char *entry = entries[k]->d_name, *dot = strrchr(entry, '.');
            if (!found && dot && strcmp(dot, ".fcl") == 0 && strncmp(entry, name, strlen(name)) == 0)
                found = arena_strndup(arena, entry, (size_t)(dot - entry));
            free(entries[k]);
        }
        free(entries);
    }
    return found;
}

const char *search_similar(struct arena *arena, const char *name, const char *directory) {
    struct suggestion suggestion = suggestion_for(name);
    offer_files(arena, directory, &suggestion);
    for (size_t i = 0; i < 3; i++)
        offer_files(arena, places(arena, i, "lib"), &suggestion);
    return suggestion.best ? suggestion.best : longer_name(arena, name);
}
