/* Asks the scanner of the tree-sitter grammar at places of a file: of each `offset symbols`, where
   the symbols are bits of those that are valid, it prints the symbol, or -1, and where that ends.
   */
#include <stdio.h>
#include <string.h>

#include "tree_sitter/parser.h"

bool tree_sitter_fcl_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid);

static char text[1 << 22];
static size_t length, at, end;

static void look(TSLexer *lexer) { lexer->lookahead = at < length ? (unsigned char)text[at] : 0; }

static void advance(TSLexer *lexer, bool skip) {
    (void)skip;
    at += at < length;
    look(lexer);
}

static void mark_end(TSLexer *lexer) {
    (void)lexer;
    end = at;
}

static bool is_at_end(const TSLexer *lexer) {
    (void)lexer;
    return at >= length;
}

int main(int count, char **arguments) {
    FILE *file = count > 1 ? fopen(arguments[1], "rb") : NULL;
    if (!file)
        return 2;
    length = fread(text, 1, sizeof text, file);
    fclose(file);
    unsigned long offset, symbols;
    while (scanf("%lu %lu", &offset, &symbols) == 2) {
        TSLexer lexer = {.advance = advance, .mark_end = mark_end, .eof = is_at_end};
        bool valid[5] = {symbols & 1, symbols & 2, symbols & 4, symbols & 8, symbols & 16};
        at = end = offset;
        look(&lexer);
        bool is_found = tree_sitter_fcl_external_scanner_scan(NULL, &lexer, valid);
        printf("%d %zu\n", is_found ? (int)lexer.result_symbol : -1, end);
    }
    return 0;
}
