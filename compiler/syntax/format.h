/* One layout for all programs: `fclc fmt`, and formatting in editors. */
#ifndef FCL_SYNTAX_FORMAT_H
#define FCL_SYNTAX_FORMAT_H

#include "support/diag.h"
#include "support/symbol.h"
#include "support/text.h"

/* Adds the source to `out` with its tokens, comments and line ends as they are, and blanks,
   indentation and empty lines as they should be; see note [layout] in format.c. Adds nothing and
   gives false where the source has an error that the parser finds; `diagnostics` has it then.
   Linear in the size of the source. */
bool syntax_format(struct text *out, struct symbols *symbols, const struct source *source,
                   struct diagnostics *diagnostics);

#endif
