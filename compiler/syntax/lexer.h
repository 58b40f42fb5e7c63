/* Tokens, and the passes that make them: the lexer proper (lexer.re), then `mark_layout` (layout.c), which
   needs to look ahead further than a parser can. The parser reads the finished vector. */
#ifndef FCL_SYNTAX_LEXER_H
#define FCL_SYNTAX_LEXER_H

#include <stdbool.h>
#include <stdint.h>

#include "support/diag.h"
#include "support/floating.h"
#include "support/symbol.h"
#include "support/vec.h"

struct token {
    int kind; /* as in the generated parser.h: TOKEN_… or a character; 0 at the end of the file; '?', which the
                         grammar does not have, for what can be taken for no token */
    bool starts_line; /* first token of its line */
    bool too_large;   /* the integer does not fit 64 bits */
    bool is_reported; /* the lexer has complained about what this token is taken for; the end: about why it is here */
    struct span span;
    symbol name;   /* TOKEN_NAME, TOKEN_TYPE_VARIABLE (without its quote), TOKEN_CONFIG; the bytes of a TOKEN_STRING */
    symbol suffix; /* of a number; NULL: none */
    union {
        uint64_t integer;         /* TOKEN_INTEGER */
        struct floating floating; /* TOKEN_FLOATING */
    };
};

struct tokens {
    struct token *at;
    size_t count, capacity; /* `count` includes the end token */
    bool is_cut;            /* the last declaration may go on in what was not read */
    spans comments;         /* of blocks, (* … *), the outermost ones, in source order */
};

/* Always ends with an end token whose span is empty and follows the last real token. */
void lex_source(struct arena *arena, struct symbols *symbols, const struct source *source,
                struct diagnostics *diagnostics, struct tokens *tokens);

/* Inserts TOKEN_BINDING before every binding of a `let` but its first, turns `forall` and `where` into
   keywords inside signatures, and keywords into names where only a name can be meant (with an error).
   Linear in the number of tokens. */
void mark_layout(struct arena *arena, struct symbols *symbols, const struct source *source,
                 struct diagnostics *diagnostics, struct tokens *tokens);

bool token_is_keyword(int kind);
const char *token_word(size_t index); /* the keywords; NULL: there are no more */
bool token_starts_declaration(int kind);

/* `text` of the token for a message: quoted, cut when long. */
const char *token_quote(struct arena *arena, const struct source *source, struct span span);

#endif
