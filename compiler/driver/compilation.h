/* One user's file with everything it needs, from text to the checked program. */
#ifndef FCL_DRIVER_COMPILATION_H
#define FCL_DRIVER_COMPILATION_H

#include "driver/options.h"
#include "driver/tuning.h"
#include "support/diag.h"
#include "syntax/draft.h"
#include "types/check.h"

/* A file that was loaded, once however often it is imported. */
struct loaded {
    const char *path;     /* as it was opened: messages show files of the prelude and the library by shorter names */
    const char *identity; /* its real path */
    bool is_library;      /* not a file of the user's */
    bool is_complete;     /* false while its imports are being loaded: meeting it then is a cycle */
    struct draft *draft;
    struct module *module;
};

struct compilation {
    struct arena *arena;
    struct options *options;
    struct symbols *symbols;
    struct sources *sources;
    struct diagnostics *diagnostics;
    VEC(struct unsaved) texts; /* files that are not read, as their text is given */
    VEC(struct loaded *) files;
    VEC(const struct module *) modules; /* in dependency order, the prelude first, the user's file last */
    const struct ast_file *file;        /* the user's */
    struct program *program;            /* NULL before compilation_check */
    name_places *names;                 /* where names stand, if the editor asks; or NULL */
    struct tuning tuning;               /* of commands that make code, after compilation_check */
};

struct compilation *compilation_new(struct options *options);
/* For more about it, by what -W says; `shows_flagged` as diag_show_flagged. */
struct diagnostics *compilation_diagnostics(const struct compilation *c, struct arena *arena, bool shows_flagged);
void compilation_free(struct compilation *c);

/* Is the file one of IR, which the command has no use for? Then it says so. */
bool compilation_refuses_ir(struct options *options, const char *path);
/* Reads and parses the file, what it imports, and all of the prelude. EXIT_GOOD also when there are errors among the
   diagnostics; EXIT_USAGE, with a message printed, when the file or the prelude cannot be read at all. */
enum exit_status compilation_load(struct compilation *c, const char *path);
/* Loads and checks; of the prelude what the program uses, where nobody looks at the rest. The
   program is to be used when compilation_is_good. */
enum exit_status compilation_check(struct compilation *c, const char *path);
bool compilation_is_good(const struct compilation *c);
bool compilation_has_meaning(const struct compilation *c); /* it has no errors, but warnings that -W may make errors */
enum exit_status exit_worse(enum exit_status a, enum exit_status b); /* they are ordered that way */
/* Would an output write over a file that was read? Then it says so; `option` is what names it. */
bool compilation_overwrites(const struct compilation *c, const char *option, const char *path);
/* Prints the diagnostics to stderr; the status, or EXIT_PROGRAM_WRONG when there are errors among
   them: the worse. */
enum exit_status compilation_finish(const struct compilation *c, enum exit_status status);
/* The same, and frees it. */
enum exit_status compilation_end(struct compilation *c, enum exit_status status);
void compilation_print_diagnostics(const struct compilation *c, const struct diagnostics *diagnostics);

/* A kernel of the user's file. NULL: a message was printed that says which there are. */
const struct core_global *compilation_kernel(const struct compilation *c);

/* The last kernel of that name in the file. NULL when there is none; `suggestion` gets those there are. */
struct suggestion;
const struct core_global *kernel_of_file(const struct compilation *c, const char *name, struct suggestion *suggestion);
/* The error's text for a kernel that the file lacks. */
const char *no_kernel_of_file(struct arena *arena, const char *name, const struct suggestion *suggestion);

/* search.c. The root that prelude and library are below, of a program or library by its path; NULL: none. */
const char *search_root(struct arena *arena, const char *binary);
const char *search_executable(struct arena *arena); /* this process's; "" if that is not known */
/* $FCL_PRELUDE, or the directory below the root, which may be NULL; NULL: none. */
const char *search_prelude(struct arena *arena, const char *root);
/* A file of the library path, or NULL. */
const char *search_library(struct arena *arena, const char *root, const char *name);
/* The names by which the library's files are imported, in alphabetical order. */
const char *const *search_library_files(struct arena *arena, const char *root, size_t *count);
/* `name` is neither in `directory` nor in the library. Returns the name of an import that is like it; NULL: none is. */
const char *search_similar(struct arena *arena, const char *root, const char *name, const char *directory);
/* fcl.h and libfcl.a, which programs in C need, in the source tree or as installed with this program. Or NULL. */
const char *search_header(struct arena *arena, const char *root);
const char *search_runtime(struct arena *arena, const char *root);
const char *path_directory(struct arena *arena, const char *path);
const char *path_join(struct arena *arena, const char *directory, const char *name);

#endif
