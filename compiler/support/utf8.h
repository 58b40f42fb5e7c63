/* Decoding UTF-8: for columns, for printing source lines, for the lexer's complaints. */
#ifndef FCL_SUPPORT_UTF8_H
#define FCL_SUPPORT_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_INVALID UINT32_MAX

/* The code point at `text` and its length in bytes; a malformed sequence gives UTF8_INVALID and length 1.
   `available` must not be 0. */
uint32_t utf8_decode(const unsigned char *text, size_t available, size_t *length);
/* The bytes in front that are ASCII, and not NUL. */
size_t utf8_plain(const unsigned char *text, size_t available);
/* Columns that a code point takes on a terminal: 0, 1 or 2. */
unsigned utf8_width(uint32_t code_point);

#endif
