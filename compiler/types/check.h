/* Checking: syntax trees to the typed core. The only stage that reports type, kind, level and ambient errors. */
#ifndef FCL_TYPES_CHECK_H
#define FCL_TYPES_CHECK_H

#include "support/diag.h"
#include "syntax/ast.h"
#include "types/core.h"

/* One file with what it may see: its own declarations, those of `imports`, and of the prelude (every module
   with is_prelude that comes before it). Modules come in dependency order. */
struct module {
    const struct ast_file *file;
    bool is_prelude;
    const struct module **imports;
    size_t import_count;
};

/* -D NAME=VALUE, as text. A name that no `param` has is reported by the driver (see `used`). It sets
   the param of that name in the file to compile, the last module; where that has none, those of the library. */
struct param_setting {
    const char *name, *value;
    bool used;                   /* set by types_check, and kept from file to file */
    bool wrong;                  /* set by types_check: said so */
    const struct ast_file *only; /* set by types_check: where the param is meant to be; NULL: anywhere */
};

/* The library that a file could import, for hints: `file_of` gives the name by which the file is imported that defines
   `name`, or NULL. */
struct library {
    const char *(*file_of)(void *context, symbol name);
    /* The same of a type; `use` gets how it is written, with types for its parameters. */
    const char *(*file_of_type)(void *context, symbol name, const char **use);
    void *context;
};

/* Never NULL; when diagnostics has errors the program holds what could be checked and must not be run. `library`: NULL
   where there is none. `places`: gets those of the names of all modules; or NULL. */
struct program *types_check(struct arena *arena, struct symbols *symbols, const struct module *const *modules,
                            size_t count, struct param_setting *settings, size_t setting_count,
                            const struct library *library, name_places *places, struct diagnostics *diagnostics);

/* The type of a primitive, for those who only show it. */
const struct scheme *types_of_primitive(struct arena *arena, struct symbols *symbols, struct diagnostics *diagnostics,
                                        enum primitive primitive);

#endif
