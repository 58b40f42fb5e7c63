/* Wording of syntax errors. The parser says where it stopped and what it could have gone on with; everything
   else is read off the tokens. */
#ifndef FCL_SYNTAX_WORDING_REPORT_H
#define FCL_SYNTAX_WORDING_REPORT_H

#include "syntax/ast_build.h"

/* The tokens that could have come, from the parser's tables, in groups that mean something to a programmer. */
struct expected {
    bool names, operands, operators, types, patterns, declarations;   /* whole classes of tokens */
    bool in, then, or_else, parenthesis, bracket, brace, level_close; /* what closes something */
    bool equals, colon, comma, less, arrow, double_arrow, string;
};

/* `index`: of the token that does not fit. */
void report_syntax_error(struct parser *p, size_t index, const struct expected *expected);
void report_stack_exhausted(struct parser *p, struct span span);

#endif
