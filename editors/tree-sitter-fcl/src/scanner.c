/* Decides what FCL's lexer decides by what follows; see grammar.js. The same as compiler/syntax/lexer.re and
   layout.c do. */
#include <stdbool.h>
#include <string.h>

#include "tree_sitter/parser.h"

enum token { BINDING_START, LEVEL_OPEN, BLOCK_COMMENT, FIELD_POINT, BAR };

static void advance(TSLexer *lexer) { lexer->advance(lexer, false); }

static bool is_blank(int32_t c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v'; }

static bool is_letter(int32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }

static bool is_rest(int32_t c) { return is_letter(c) || is_digit(c) || c == '_' || c == '\''; }

/* A name; false: a keyword, or none. `is_wildcard`: of `_` alone, which is then no name. */
static bool take_name(TSLexer *lexer, bool *is_wildcard) {
    static const char *const words[] = {"sig", "fun", "val",  "kernel", "param", "type",  "import", "let", "in",
                                        "fn",  "if",  "then", "else",   "true",  "false", "div",    "mod", "not"};
    char word[8] = "";
    size_t length = 0;
    *is_wildcard = false;
    while (is_rest(lexer->lookahead)) {
        if (length < sizeof word - 1)
            word[length] = (char)lexer->lookahead;
        length++;
        advance(lexer);
    }
    *is_wildcard = length == 1 && word[0] == '_';
    if (length == 0 || *is_wildcard || is_digit(word[0]) || word[0] == '\'')
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (length == strlen(words[i]) && strncmp(word, words[i], length) == 0)
            return false;
    return true;
}

/* Behind the `(*`: to behind its `*)`. They nest, and `(*)` is the product. */
static bool take_comment(TSLexer *lexer) {
    unsigned depth = 1;
    while (!lexer->eof(lexer)) {
        if (lexer->lookahead == '(') {
            advance(lexer);
            if (lexer->lookahead != '*')
                continue;
            advance(lexer);
            if (lexer->lookahead == ')')
                advance(lexer);
            else
                depth++;
        } else if (lexer->lookahead == '*') {
            advance(lexer);
            if (lexer->lookahead != ')')
                continue;
            advance(lexer);
            if (--depth == 0)
                return true;
        } else {
            advance(lexer);
        }
    }
    return false;
}

/* Blanks and comments. False: there is a line end among them. */
static bool skip_blanks(TSLexer *lexer) {
    bool is_one_line = true;
    for (;;) {
        while (is_blank(lexer->lookahead)) {
            is_one_line &= lexer->lookahead != '\n';
            advance(lexer);
        }
        if (lexer->lookahead != '-')
            return is_one_line;
        advance(lexer);
        if (lexer->lookahead != '-')
            return false; /* an operator: nothing that is asked for */
        while (lexer->lookahead != '\n' && !lexer->eof(lexer))
            advance(lexer);
    }
}

/* Behind a `(` or `{`: to behind what closes it. */
static bool take_brackets(TSLexer *lexer) {
    for (unsigned depth = 1; depth > 0; advance(lexer)) {
        if (lexer->eof(lexer))
            return false;
        depth += lexer->lookahead == '(' || lexer->lookahead == '{';
        depth -= lexer->lookahead == ')' || lexer->lookahead == '}';
    }
    return true;
}

/* Behind a `|`: does a pattern follow, or several, and `=>`? */
static bool begins_arm(TSLexer *lexer) {
    if (lexer->lookahead == '|' || lexer->lookahead == '>')
        return false;
    for (;;) {
        bool is_wildcard;
        if (is_blank(lexer->lookahead)) {
            advance(lexer);
        } else if (lexer->lookahead == '(' || lexer->lookahead == '{') {
            advance(lexer);
            if (!take_brackets(lexer))
                return false;
        } else if (lexer->lookahead == '\'') {
            do {
                if (lexer->lookahead == '\\')
                    advance(lexer);
                advance(lexer);
            } while (lexer->lookahead != '\'' && !lexer->eof(lexer));
            advance(lexer);
        } else if (is_digit(lexer->lookahead) || lexer->lookahead == '.' || lexer->lookahead == '-' ||
                   lexer->lookahead == '|') {
            while (is_rest(lexer->lookahead))
                advance(lexer);
            if (!is_blank(lexer->lookahead) && lexer->lookahead != '=')
                advance(lexer);
        } else if (is_rest(lexer->lookahead)) {
            char first = (char)lexer->lookahead;
            bool is_truth = first == 't' || first == 'f'; /* `true` and `false` are keywords, which patterns have */
            if (!take_name(lexer, &is_wildcard) && !is_wildcard && !is_truth)
                return false;
        } else {
            break;
        }
    }
    if (lexer->lookahead != '=')
        return false;
    advance(lexer);
    return lexer->lookahead == '>';
}

/* `=`, but neither `==` nor `=>`. */
static bool is_binding_sign(TSLexer *lexer) {
    if (lexer->lookahead != '=')
        return false;
    advance(lexer);
    return lexer->lookahead != '=' && lexer->lookahead != '>';
}

/* A name or `_`, and `=`; or, at the beginning of a line, a name with parameters and `=`. */
static bool is_binding(TSLexer *lexer, bool starts_line) {
    bool is_wildcard = false, is_name = false;
    is_name = take_name(lexer, &is_wildcard);
    if (!is_name && !is_wildcard)
        return false;
    bool is_one_line = skip_blanks(lexer);
    while (is_name && starts_line && is_one_line && lexer->lookahead != '=') {
        if (lexer->lookahead == '(' || lexer->lookahead == '{') {
            advance(lexer);
            if (!take_brackets(lexer))
                return false;
        } else if (lexer->lookahead == '<') {
            while (lexer->lookahead != '>') {
                advance(lexer);
                if (lexer->eof(lexer) || lexer->lookahead == '\n' || lexer->lookahead == '=')
                    return false;
            }
            advance(lexer);
        } else if (!take_name(lexer, &is_wildcard) && !is_wildcard) {
            return false;
        }
        is_one_line = skip_blanks(lexer);
    }
    return is_binding_sign(lexer);
}

static void skip_plain_blanks(TSLexer *lexer) {
    while (is_blank(lexer->lookahead))
        advance(lexer);
}

/* Behind a `<`: levels with commas between them, and a `>` that begins no other operator. */
static bool are_levels(TSLexer *lexer) {
    for (;;) {
        unsigned depth = 0;
        bool is_wildcard;
        skip_plain_blanks(lexer);
        while (lexer->lookahead == '(' || is_digit(lexer->lookahead)) {
            if (lexer->lookahead == '(') {
                depth++;
                advance(lexer);
            } else {
                while (is_digit(lexer->lookahead))
                    advance(lexer);
                skip_plain_blanks(lexer);
                if (lexer->lookahead != '+')
                    return false;
                advance(lexer);
            }
            skip_plain_blanks(lexer);
        }
        if (!take_name(lexer, &is_wildcard))
            return false;
        skip_plain_blanks(lexer);
        while (lexer->lookahead == ')' && depth > 0) {
            depth--;
            advance(lexer);
            skip_plain_blanks(lexer);
        }
        if (depth > 0)
            return false;
        if (lexer->lookahead != ',')
            break;
        advance(lexer);
    }
    if (lexer->lookahead != '>')
        return false;
    advance(lexer);
    return lexer->lookahead != '>' && lexer->lookahead != '=';
}

static bool found(TSLexer *lexer, enum token token) {
    lexer->result_symbol = (TSSymbol)token;
    return true;
}

void *tree_sitter_fcl_external_scanner_create(void) { return NULL; }

void tree_sitter_fcl_external_scanner_destroy(void *payload) { (void)payload; }

unsigned tree_sitter_fcl_external_scanner_serialize(void *payload, char *buffer) {
    (void)payload, (void)buffer;
    return 0;
}

void tree_sitter_fcl_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
    (void)payload, (void)buffer, (void)length;
}

bool tree_sitter_fcl_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid) {
    (void)payload;
    bool starts_line = false, touches = !is_blank(lexer->lookahead);
    bool is_recovery = valid[BINDING_START] && valid[LEVEL_OPEN] && valid[BLOCK_COMMENT];
    while (is_blank(lexer->lookahead)) {
        starts_line |= lexer->lookahead == '\n';
        lexer->advance(lexer, true);
    }
    lexer->mark_end(lexer);
    if (lexer->lookahead == '<' && valid[LEVEL_OPEN]) {
        advance(lexer);
        lexer->mark_end(lexer);
        return are_levels(lexer) && found(lexer, LEVEL_OPEN);
    }
    if (lexer->lookahead == '.' && valid[FIELD_POINT] && !is_recovery) {
        advance(lexer);
        lexer->mark_end(lexer);
        return touches && (is_letter(lexer->lookahead) || lexer->lookahead == '_') && found(lexer, FIELD_POINT);
    }
    if (lexer->lookahead == '|' && valid[BAR] && !is_recovery) {
        advance(lexer);
        lexer->mark_end(lexer);
        return begins_arm(lexer) && found(lexer, BAR);
    }
    if (lexer->lookahead == '{' && valid[BINDING_START] && !is_recovery) {
        advance(lexer);
        if (!take_brackets(lexer))
            return false;
        (void)skip_blanks(lexer);
        return is_binding_sign(lexer) && found(lexer, BINDING_START);
    }
    if (lexer->lookahead == '(') {
        advance(lexer);
        if (lexer->lookahead == '*') {
            advance(lexer);
            if (!valid[BLOCK_COMMENT] || lexer->lookahead == ')' || !take_comment(lexer))
                return false;
            lexer->mark_end(lexer);
            return found(lexer, BLOCK_COMMENT);
        }
        if (!valid[BINDING_START] || is_recovery || !take_brackets(lexer))
            return false;
        (void)skip_blanks(lexer);
        return is_binding_sign(lexer) && found(lexer, BINDING_START);
    }
    return valid[BINDING_START] && !is_recovery && is_binding(lexer, starts_line) && found(lexer, BINDING_START);
}
