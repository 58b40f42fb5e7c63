/* fclc new: a folder with a program to begin with, its tests, and calls of it from C and Python. The files
   are in tools/new/, and part of fclc; in them NAME is the program's name, NAME_UPPER the same in capitals,
   and FCL_PROGRAM, FCL_INCLUDE and FCL_LIBRARY are where this fclc, fcl.h and libfcl.a lie. */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "driver/commands.h"
#include "driver/compilation.h"
#include "driver/complaint.h"
#include "driver/output.h"
#include "support/text.h"

/* Names and texts, with NAME in them. */
static const struct file {
    const char *name, *text;
} files[] = {
    {
        ".gitignore",
#include "compiler/tools/new/.gitignore.in.inc"
    },
    {
        "Makefile",
#include "compiler/tools/new/Makefile.in.inc"
    },
    {
        "NAME.fcl",
#include "compiler/tools/new/NAME.fcl.in.inc"
    },
    {
        "call.py",
#include "compiler/tools/new/call.py.in.inc"
    },
    {
        "main.c",
#include "compiler/tools/new/main.c.in.inc"
    },
};

static const char *replaced(struct arena *arena, const char *text, const struct text_word *words) {
    struct text out;
    text_init(&out, arena);
    text_add_replaced(&out, text, strlen(text), words);
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
    const struct text_word words[] = {{"NAME_UPPER", in_capitals(arena, name)},
                                      {"NAME", name},
                                      {"FCL_PROGRAM", *program ? program : "fclc"},
                                      {"FCL_INCLUDE", header ? path_directory(arena, header) : "/usr/local/include"},
                                      {"FCL_LIBRARY", runtime ? runtime : "-lfcl"},
                                      {0}};
    for (size_t i = 0; i < sizeof files / sizeof *files && status == EXIT_GOOD; i++) {
        const char *path = path_join(arena, folder, replaced(arena, files[i].name, words));
        const char *text = replaced(arena, files[i].text, words);
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
