/* A growing string in an arena, for everything that prints. */
#ifndef FCL_SUPPORT_TEXT_H
#define FCL_SUPPORT_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/arena.h"

struct text {
    struct arena *arena;
    char *at; /* NUL-terminated once something was added; "" before */
    size_t length, capacity;
};

void text_init(struct text *text, struct arena *arena);
void text_add(struct text *text, const char *string);
void text_add_n(struct text *text, const char *string, size_t length);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *text, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
const char *text_string(const struct text *text);
/* A word that stands for a value in a text. */
struct text_word {
    const char *word, *value;
};
/* Adds the string with the words replaced; the one without a `word` ends the list. */
void text_add_replaced(struct text *text, const char *string, size_t length, const struct text_word *words);
/* Adds text of a page, so that none of it is a mark of HTML or XML. */
void text_add_escaped(struct text *text, const char *string, size_t length);
/* The part of a path behind its last slash. */
const char *text_file_name(const char *path);
/* Behind something else: a name of a file that is nothing but `.fcl` has no such ending. */
bool text_ends_with(const char *string, const char *end);
/* The string such that it neither ends nor begins a comment of C. */
const char *text_in_comment(struct arena *arena, const char *string);
/* A string as it stands between the quotes of a literal in C. */
const char *text_in_string(struct arena *arena, const char *string);
/* The string with U+FFFD for each byte that is no part of UTF-8 text. */
const char *text_as_utf8(struct arena *arena, const char *string);
/* The word after a number of elements: an array that has none is called empty, too. The runtime does the same
   (fcl_check). */
const char *text_elements(int64_t count);

#endif
