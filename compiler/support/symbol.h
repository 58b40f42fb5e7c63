/* Interned names: equal spellings are the same pointer. */
#ifndef FCL_SUPPORT_SYMBOL_H
#define FCL_SUPPORT_SYMBOL_H

#include <stddef.h>

#include "support/arena.h"

struct symbol {
    const char *text; /* NUL-terminated UTF-8 */
    size_t length;
    unsigned hash;
    struct symbol *next; /* chain in the table */
};
typedef const struct symbol *symbol;

struct symbols;
struct symbols *symbols_new(struct arena *arena);
symbol symbol_intern(struct symbols *symbols, const char *text, size_t length);
symbol symbol_of(struct symbols *symbols, const char *text);

#endif
