/* Texts that are printed as they are, or left out. They are parts of the files in backend/parts/, which stand before
   kernels, and of those in host/parts/. The build makes strings of these files. A line `//@ PART: PARTS` begins a part,
   and names the others that it wants. Blank lines before it are no part's. Lines that begin with slashes are not
   printed, nor is what stands before the first part. */
#ifndef FCL_BACKEND_PARTS_H
#define FCL_BACKEND_PARTS_H

#include "support/text.h"

enum part {
#define TEXT_PART(id) PART_##id,
#include "backend/parts.def"
#undef TEXT_PART
    PART_COUNT
};

typedef uint64_t part_set;
_Static_assert(PART_COUNT <= 64, "a part has no bit");

static inline part_set part_bit(enum part part) { return (part_set)1 << part; }

/* Prints these parts of the text, and those that they want, in the text's order: each with the words replaced, and with
   `after` behind it. */
void parts_print(struct text *out, const char *text, part_set wanted, const struct text_word *words, const char *after);
/* Prints that part of a text whose parts have names of their own. */
void part_print(struct text *out, const char *text, const char *name, const struct text_word *words);

#endif
