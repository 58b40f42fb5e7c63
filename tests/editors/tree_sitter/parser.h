/* The part of tree-sitter's header that a scanner needs, for the test of
   editors/tree-sitter-fcl/src/scanner.c. */
#ifndef TREE_SITTER_PARSER_H_
#define TREE_SITTER_PARSER_H_

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

typedef uint16_t TSSymbol;
typedef struct TSLexer TSLexer;
struct TSLexer {
    int32_t lookahead;
    TSSymbol result_symbol;
    void (*advance)(TSLexer *, bool);
    void (*mark_end)(TSLexer *);
    uint32_t (*get_column)(TSLexer *);
    bool (*is_at_included_range_start)(const TSLexer *);
    bool (*eof)(const TSLexer *);
};

#endif
