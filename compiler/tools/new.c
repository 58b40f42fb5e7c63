/* fclc new: a folder with a program to begin with, its tests, and calls of it from C and Python. The files
   are in tools/new/, and part of fclc; in them NAME is the program's name, NAME_UPPER the same in capitals,
   and FCL_PROGRAM, FCL_INCLUDE and FCL_LIBRARY are where this fclc, fcl.h and libfcl.a lie. */
#include "tools/new_files.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "driver/commands.h"
#include "driver/compilation.h"
#include "driver/complaint.h"
#include "driver/output.h"
#include "support/text.h"

struct word {
    const char *word, *value;
};

static const char *replaced(struct arena *arena, const char *text, const struct word *words) {
    struct text out;
    text_init(&out, arena);
    while (*text) {
        const struct word *w = words;
        while (w->word && strncmp(text, w->word, strlen(w->word)) != 0)
            w++;
        if (w->word)
            text_add(&out, w->value);
        else
            text_add_n(&out, text, 1);
        text += w->word ? strlen(w->word) : 1;
    }
    return text_string(&out);
}

static const char *in_capitals(struct arena *arena, const char *name) {
    char *copy = arena_strndup(arena, name, strlen(name));
    for (char *at = copy; *at; at++)
        *at = (char)toupper((unsigned char)*at);
    return copy;
}

/* Functions of C begin with the name and a module of Python is called so; the names of the other files are taken. */
static const char *why_no_name(struct arena *arena, const char *name) {
    static const char *const taken[] = {"fcl",   "main",     "call",     "test",       "python",
                                        "clean", "Makefile", "makefile", "GNUmakefile"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(name, taken[i]) == 0)
            return arena_printf(arena, "a new program cannot be called `%s`, which names another file or target there",
                                name);
    bool is_good = isalpha((unsigned char)*name);
    for (const char *at = name; *at; at++)
        is_good &= isalnum((unsigned char)*at) || *at == '_';
    return is_good ? NULL
                   : arena_printf(arena,
                                  "a new program cannot be called `%s`: its functions in C and Python begin with that, "
                                  "so it is a letter, then letters, digits and _",
                                  name);
}

enum exit_status command_new(struct options *options) {
    struct arena *arena = arena_new();
    const char *folder = options->operands[0], *name = text_file_name(folder);
    const char *why = why_no_name(arena, name);
    enum exit_status status = EXIT_GOOD;
    if (why)
        status = driver_complain(options, EXIT_USAGE, "%s", why);
    else if (mkdir(folder, 0777) != 0)
        status = driver_complain(options, EXIT_USAGE, "the folder %s cannot be made: %s", folder, strerror(errno));
    const char *program = search_executable(arena), *header = search_header(arena, options->root);
    const char *runtime = search_runtime(arena, options->root);
    const struct word words[] = {{"NAME_UPPER", in_capitals(arena, name)},
                                 {"NAME", name},
                                 {"FCL_PROGRAM", *program ? program : "fclc"},
                                 {"FCL_INCLUDE", header ? path_directory(arena, header) : "/usr/local/include"},
                                 {"FCL_LIBRARY", runtime ? runtime : "-lfcl"},
                                 {0}};
    for (const struct new_file *file = new_files; file->name && status == EXIT_GOOD; file++) {
        const char *path = path_join(arena, folder, replaced(arena, file->name, words));
        const char *text = replaced(arena, file->text, words);
        if (!output_write(arena, path, text, strlen(text), &why))
            status = driver_complain(options, EXIT_USAGE, "%s cannot be written: %s", path, why);
    }
    if (status == EXIT_GOOD)
        printf("%s/ has a program to begin with, %s.fcl, and calls of it from C and Python.\n"
               "Next: cd %s && make test\n",
               folder, name, folder);
    arena_free(arena);
    return status;
}
