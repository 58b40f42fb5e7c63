/* The lexer: bytes to tokens (LANGUAGE: lexical structure). Every mistake is one diagnostic at its place, after
   which lexing goes on with the token that was probably meant. */
#include "syntax/lexer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "parser.h"
#include "support/map.h"
#include "support/utf8.h"

enum { LEXICAL_ERROR_LIMIT = 500, QUOTE_LONGEST = 40 };

struct lexer {
    struct arena *arena;
    struct symbols *symbols;
    const struct source *source;
    struct diagnostics *diagnostics;
    struct tokens *tokens;
    const unsigned char *cursor, *limit, *start; /* of the current token */
    bool starts_line;
    struct map *bad_names; /* those that were complained about */
    bool in_levels; /* between the `<` and the `>` of a level list */
    bool is_cut; /* a comment that is not closed hides the rest of the file */
    unsigned errors;
};

static struct span span_between(const struct lexer *lexer, const unsigned char *from, const unsigned char *to) {
    return (struct span){lexer->source->base + (uint32_t)(from - lexer->source->text),
                         lexer->source->base + (uint32_t)(to - lexer->source->text)};
}

static struct span span_here(const struct lexer *lexer) { return span_between(lexer, lexer->start, lexer->cursor); }

static struct token *add_token(struct lexer *lexer, int kind) {
    struct token token = {.kind = kind, .starts_line = lexer->starts_line, .span = span_here(lexer)};
    vec_push(lexer->arena, lexer->tokens, token);
    lexer->starts_line = false;
    return &lexer->tokens->at[lexer->tokens->count - 1];
}

struct word {
    const char *text;
    size_t length;
    int kind;
};
#define WORD(text, kind)                                                                                               \
    { text, sizeof text - 1, TOKEN_##kind }
static const struct word words[] = {
    WORD("sig", SIG),       WORD("fun", FUN),   WORD("val", VAL),   WORD("kernel", KERNEL), WORD("param", PARAM),
    WORD("type", TYPE),     WORD("import", IMPORT), WORD("let", LET), WORD("in", IN),       WORD("fn", FN),
    WORD("if", IF),         WORD("then", THEN), WORD("else", ELSE), WORD("true", TRUE),     WORD("false", FALSE),
    WORD("div", DIV),       WORD("mod", MOD),   WORD("not", NOT)};

const char *token_word(size_t index) { return index < sizeof words / sizeof *words ? words[index].text : NULL; }

/* TOKEN_NAME, or a keyword's. */
static int kind_of_word(const unsigned char *start, size_t length) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].length == length && words[i].text[0] == *start && memcmp(words[i].text, start, length) == 0)
            return words[i].kind;
    return TOKEN_NAME;
}

/* The text of the token, without so many bytes at each end. */
static symbol text_of(const struct lexer *lexer, size_t before, size_t after) {
    size_t length = (size_t)(lexer->cursor - lexer->start);
    return symbol_intern(lexer->symbols, (const char *)lexer->start + before, length - before - after);
}

/* `data name … =` at the beginning of a line, and a constructor behind it where that is indented: elsewhere `data` is a
   name. */
static bool is_data(const struct lexer *lexer) {
    const unsigned char *at = lexer->cursor;
    bool is_indented = lexer->start > lexer->source->text && lexer->start[-1] != '\n';
    if (!lexer->starts_line || at - lexer->start != 4 || memcmp(lexer->start, "data", 4) != 0 || at == lexer->limit ||
        *at != ' ')
        return false;
    size_t names = 0;
    while (at < lexer->limit && (*at == ' ' || isalnum(*at) || *at == '_' || *at == '\'')) {
        names += *at != ' ' && at[-1] == ' ';
        at++;
    }
    if (names == 0 || at == lexer->limit || *at++ != '=' || at == lexer->limit || *at == '=')
        return false;
    while (is_indented && at < lexer->limit && isspace(*at))
        at++;
    return !is_indented || (at < lexer->limit && isupper(*at));
}

static void add_name(struct lexer *lexer) {
    size_t length = (size_t)(lexer->cursor - lexer->start);
    int kind = is_data(lexer) ? TOKEN_DATA : kind_of_word(lexer->start, length);
    struct token *token = add_token(lexer, kind);
    if (kind == TOKEN_NAME)
        token->name = symbol_intern(lexer->symbols, (const char *)lexer->start, length);
}

const char *token_quote(struct arena *arena, const struct source *source, struct span span) {
    const char *text = (const char *)source->text + (span.begin - source->base);
    size_t length = span.end - span.begin;
    if (length <= QUOTE_LONGEST)
        return arena_printf(arena, "`%.*s`", (int)length, text);
    return arena_printf(arena, "`%.*s...`", QUOTE_LONGEST, text);
}

static const char *quote_here(struct lexer *lexer) {
    return token_quote(lexer->arena, lexer->source, span_here(lexer));
}

/* ---- numbers ---- */

static unsigned digit_value(unsigned char digit) {
    if (digit <= '9')
        return digit - (unsigned)'0';
    return (digit | 0x20u) - (unsigned)'a' + 10;
}

/* Digits from `from` to `to` in `base`, underscores skipped. */
static void set_integer(struct token *token, const unsigned char *from, const unsigned char *to, unsigned base) {
    uint64_t value = 0;
    for (; from < to; from++) {
        if (*from == '_')
            continue;
        unsigned digit = digit_value(*from);
        if (value > (UINT64_MAX - digit) / base) {
            token->too_large = true;
            value = UINT64_MAX;
            break;
        }
        value = value * base + digit;
    }
    token->integer = value;
}

static void add_integer(struct lexer *lexer, unsigned base) {
    const unsigned char *from = lexer->start + (base == 10 ? 0 : 2), *to = lexer->cursor;
    for (const unsigned char *at = from; at < to; at++) {
        if (*at == 'i' || *at == 'u') { /* no digit of any base */
            to = at;
            break;
        }
    }
    struct token *token = add_token(lexer, TOKEN_INTEGER);
    set_integer(token, from, to, base);
    if (to < lexer->cursor)
        token->suffix = symbol_intern(lexer->symbols, (const char *)to, (size_t)(lexer->cursor - to));
}

static void add_floating(struct lexer *lexer) {
    size_t length = 0, all = (size_t)(lexer->cursor - lexer->start);
    char *digits = arena_alloc(lexer->arena, all + 1);
    const unsigned char *at = lexer->start;
    bool is_hexadecimal = all > 1 && at[1] == 'x', is_behind = !is_hexadecimal; /* digits that are letters */
    for (; at < lexer->cursor && !(is_behind && (*at == 'f' || *at == 'b')); at++) {
        is_behind |= (*at | 0x20) == 'p';
        if (*at != '_')
            digits[length++] = (char)*at;
    }
    struct token *token = add_token(lexer, TOKEN_FLOATING);
    token->floating = floating_read(digits, NULL);
    if (at < lexer->cursor)
        token->suffix = symbol_intern(lexer->symbols, (const char *)at, (size_t)(lexer->cursor - at));
}

static bool contains(const struct lexer *lexer, const char *what) {
    size_t length = strlen(what);
    for (const unsigned char *at = lexer->start; at + length <= lexer->cursor; at++)
        if (memcmp(at, what, length) == 0)
            return true;
    return false;
}

static struct diagnostic *lexical_error(struct lexer *lexer, enum diag_code code, struct span span,
                                        const char *message) {
    lexer->errors++;
    return diag_error(lexer->diagnostics, code, span, "%s", message);
}

/* C's suffixes and ours. */
static const struct {
    const char *theirs, *ours;
} c_suffixes[] = {{"ull", "u64"}, {"llu", "u64"}, {"ul", "u64"}, {"lu", "u64"}, {"ll", "i64"},
                  {"u", "u32"},   {"l", "i64"},   {"f", "f32"}};

/* The number with our suffix, where it is one with a suffix of C; else NULL. */
static const char *with_our_suffix(const struct lexer *lexer) {
    const char *text = (const char *)lexer->start;
    size_t length = (size_t)(lexer->cursor - lexer->start);
    bool is_hexadecimal = length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = is_hexadecimal ? "0123456789abcdefABCDEF_" : "0123456789_.";
    size_t number = is_hexadecimal ? 2 : 0, from = number;
    while (number < length && strchr(digits, text[number]))
        number++;
    if (number == from || length > QUOTE_LONGEST || text[number - 1] == '_' || contains(lexer, "__"))
        return NULL;
    const char *point = memchr(text, '.', number);
    if (point && memchr(point + 1, '.', number - (size_t)(point + 1 - text)))
        return NULL;
    for (size_t i = 0; i < sizeof c_suffixes / sizeof *c_suffixes; i++) {
        const char *theirs = c_suffixes[i].theirs, *ours = c_suffixes[i].ours;
        if (strlen(theirs) == length - number && strncasecmp(theirs, text + number, length - number) == 0 &&
            (!point || ours[0] == 'f'))
            return arena_printf(lexer->arena, "%.*s%s%s", (int)number, text, text[number - 1] == '.' ? "0" : "", ours);
    }
    return NULL;
}

static void bad_number(struct lexer *lexer) {
    const char *quoted = quote_here(lexer);
    struct diagnostic *error = lexical_error(lexer, DIAG_BAD_NUMBER, span_here(lexer),
                                             arena_printf(lexer->arena, "malformed number %s", quoted));
    struct diagnostics *d = lexer->diagnostics;
    const unsigned char *text = lexer->start;
    size_t length = (size_t)(lexer->cursor - text);
    unsigned char last = text[length - 1];
    size_t digits = 0;
    while (digits < length && ((text[digits] >= '0' && text[digits] <= '9') || text[digits] == '_'))
        digits++;
    const char *mended = with_our_suffix(lexer);
    bool is_hexadecimal = text[0] == '0' && length > 1 && (text[1] == 'x' || text[1] == 'X');
    if (is_hexadecimal && (contains(lexer, ".") || contains(lexer, "p") || contains(lexer, "P")))
        diag_hint(d, error,
                  "a hexadecimal number with a point, or with `p`, ends with a power of two: `0x1.8p3` is 1.5 times 8");
    else if (mended)
        diag_hint(d, error, "a suffix names the type: `%s`; without one, a number has the type that its use asks for",
                  mended);
    else if (is_hexadecimal)
        diag_hint(d, error,
                  "a hexadecimal number is `0x` and at least one of 0-9, a-f, with single `_` between digits");
    else if (text[0] == '0' && length > 1 && (text[1] == 'b' || text[1] == 'B'))
        diag_hint(d, error, "a binary number is `0b` and at least one of 0 and 1, with single `_` between digits");
    else if (contains(lexer, "__") || last == '_' || contains(lexer, "_.") || contains(lexer, "._"))
        diag_hint(d, error, "a single `_` may stand between two digits");
    else if (contains(lexer, ".."))
        diag_hint(d, error, "there are no ranges: `iota n` is 0, 1, … n-1");
    else if (last == '.' && digits == length - 1)
        diag_hint(d, error, "digits must follow the point: `%s0`; composition needs a space before its `.`",
                  length < QUOTE_LONGEST ? arena_strndup(lexer->arena, (const char *)text, length) : "1.");
    else if (last == '+' || last == '-' || last == 'e' || last == 'E')
        diag_hint(d, error, "digits must follow the exponent's `e`, as in `1e-3`");
    else
        diag_hint(d, error,
                  "the suffixes are i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64; a name starts with a letter");
    add_token(lexer, TOKEN_BAD_LITERAL);
}

/* ---- comments, strings, stray text ---- */

static void skip_line(struct lexer *lexer) {
    const unsigned char *end = memchr(lexer->cursor, '\n', (size_t)(lexer->limit - lexer->cursor));
    lexer->cursor = end ? end : lexer->limit;
}

static bool skip_block_comment(struct lexer *lexer) {
    size_t depth = 1;
    while (lexer->cursor < lexer->limit) {
        const unsigned char *at = lexer->cursor;
        size_t left = (size_t)(lexer->limit - at);
        if (left >= 3 && at[0] == '(' && at[1] == '*' && at[2] == ')') {
            lexer->cursor += 3; /* the section, as outside of comments: see its rule below */
        } else if (left >= 2 && at[0] == '(' && at[1] == '*') {
            depth++;
            lexer->cursor += 2;
        } else if (left >= 2 && at[0] == '*' && at[1] == ')') {
            lexer->cursor += 2;
            if (--depth == 0) {
                vec_push(lexer->arena, &lexer->tokens->comments, span_between(lexer, lexer->start, lexer->cursor));
                return true;
            }
        } else {
            lexer->starts_line |= *at == '\n';
            lexer->cursor++;
        }
    }
    return false;
}

static void unclosed_comment(struct lexer *lexer) {
    lexer->is_cut = true;
    /* At the start of a line it stands between declarations. */
    lexer->tokens->is_cut = lexer->start > lexer->source->text && lexer->start[-1] != '\n';
    struct diagnostic *error =
        lexical_error(lexer, DIAG_UNCLOSED_COMMENT, span_between(lexer, lexer->start, lexer->start + 2),
                      "this comment is never closed");
    diag_hint(lexer->diagnostics, error,
              "comments nest: every `(*` needs its `*)`; the section of the product is `(*)` or `( * 2)`");
}

/* The byte that the escape stands for, which begins at the backslash; `*at` goes behind it. */
static unsigned char escaped_byte(struct lexer *lexer, const unsigned char **at, const unsigned char *end) {
    static const char names[] = "ntr0\\'\"", bytes[] = "\n\t\r\0\\'\"";
    const unsigned char *from = *at, *name = from + 1;
    const char *known = strchr(names, *name);
    if (known) {
        *at = name + 1;
        return (unsigned char)bytes[known - names];
    }
    if (*name == 'x' && end - name > 2 && isxdigit(name[1]) && isxdigit(name[2])) {
        *at = name + 3;
        return (unsigned char)(digit_value(name[1]) * 16 + digit_value(name[2]));
    }
    do /* to the end of the character */
        *at = ++name;
    while (name < end && (*name & 0xC0) == 0x80);
    struct span span = span_between(lexer, from, *at);
    struct diagnostic *error =
        lexical_error(lexer, DIAG_BAD_STRING, span,
                      arena_printf(lexer->arena, "%s stands for no character",
                                   token_quote(lexer->arena, lexer->source, span)));
    diag_hint(lexer->diagnostics, error,
              "behind a backslash is `n`, `t`, `r`, `0`, a backslash, a quote, or `x` with two hexadecimal digits");
    return '?';
}

/* The bytes between the quotes, with each escape replaced by its byte. */
static symbol quoted_bytes(struct lexer *lexer) {
    const unsigned char *at = lexer->start + 1, *end = lexer->cursor - 1;
    char *bytes = arena_alloc(lexer->arena, (size_t)(end - at) + 1);
    size_t length = 0;
    while (at < end)
        bytes[length++] = (char)(*at == '\\' ? escaped_byte(lexer, &at, end) : *at++);
    return symbol_intern(lexer->symbols, bytes, length);
}

/* `'a'` is a `u8`, a number with its suffix. */
static void add_character(struct lexer *lexer) {
    symbol bytes = quoted_bytes(lexer);
    struct token *token = add_token(lexer, TOKEN_INTEGER);
    token->integer = (unsigned char)bytes->text[0];
    token->suffix = symbol_of(lexer->symbols, "u8");
    if (bytes->length == 1)
        return;
    struct diagnostic *error =
        lexical_error(lexer, DIAG_BAD_STRING, token->span,
                      arena_printf(lexer->arena, "a character is one byte, and this one is %zu in UTF-8",
                                   bytes->length));
    diag_hint(lexer->diagnostics, error, "a text holds it, as so many bytes: `\"…\"` is a list of `u8`");
}

static void bad_string(struct lexer *lexer) {
    struct diagnostic *error =
        lexical_error(lexer, DIAG_BAD_STRING, span_here(lexer), "this text has no closing `\"` on its line");
    diag_hint(lexer->diagnostics, error, "a line's end within a text is written `\\n`");
    size_t count = lexer->tokens->count;
    bool is_path = count > 0 && lexer->tokens->at[count - 1].kind == TOKEN_IMPORT;
    add_token(lexer, is_path ? TOKEN_STRING : TOKEN_BAD_LITERAL); /* a path without a name is not looked for */
}

/* The token that is taken for what was complained about: what does not fit after it is no further mistake. */
static struct token *add_reported(struct lexer *lexer, int kind) {
    struct token *token = add_token(lexer, kind);
    token->is_reported = true;
    return token;
}

static void stray(struct lexer *lexer, const char *hint) {
    const char *quoted = quote_here(lexer);
    if (lexer->start[0] < 0x20 || lexer->start[0] == 0x7F)
        quoted = arena_printf(lexer->arena, "control character 0x%02X", lexer->start[0]);
    struct diagnostic *error = lexical_error(lexer, DIAG_STRAY_CHARACTER, span_here(lexer),
                                             arena_printf(lexer->arena, "%s means nothing in FCL", quoted));
    if (hint)
        diag_hint(lexer->diagnostics, error, "%s", hint);
}

/* `#define` and others of C's, at the start of a line: all of the line is one mistake. */
static bool preprocessor_line(struct lexer *lexer) {
    static const struct {
        const char *word, *hint;
    } known[] = {{"#include", "another file is read by `import \"name.fcl\"`"},
                 {"#define", "a constant is `val n = 3`, or `param n : int = 3`, which can be set when compiling"},
                 {"#pragma", "what is unrolled, and where it runs, follows from the program"},
                 {"#if", "what holds when compiling is a condition like others: `if #IsCpu then … else …`"},
                 {"#ifdef", "what holds when compiling is a condition like others: `if #IsCpu then … else …`"},
                 {"#ifndef", "what holds when compiling is a condition like others: `if #IsCpu then … else …`"},
                 {"#else", NULL},
                 {"#endif", NULL}};
    size_t length = (size_t)(lexer->cursor - lexer->start);
    for (size_t i = 0; lexer->starts_line && i < sizeof known / sizeof *known; i++)
        if (length == strlen(known[i].word) && memcmp(lexer->start, known[i].word, length) == 0) {
            stray(lexer, known[i].hint);
            skip_line(lexer);
            return true;
        }
    return false;
}

/* Nothing can be taken for it: the rest of the declaration is not read. */
static void stray_end(struct lexer *lexer, const char *hint) {
    stray(lexer, hint);
    add_reported(lexer, '?');
}

/* A name that is none is taken for one, and is one mistake however often it is used. */
static void bad_name(struct lexer *lexer, const char *message, const char *hint) {
    symbol name = text_of(lexer, 0, 0);
    if (!map_get(lexer->bad_names, name)) {
        map_set(lexer->bad_names, name, lexer);
        struct diagnostic *error = lexical_error(lexer, DIAG_STRAY_CHARACTER, span_here(lexer), message);
        diag_hint(lexer->diagnostics, error, "%s", hint);
    }
    add_reported(lexer, TOKEN_NAME)->name = name;
}

/* `kind`: of the token that is taken for it; '?': none would do. `closer`: what ends the text that it begins. */
struct look_alike {
    const char *written, *hint;
    int kind;
    const char *closer;
};
static const struct look_alike look_alikes[] = {
    {"\xE2\x86\x92", "write `->`", TOKEN_ARROW, NULL},
    {"\xE2\x87\x92", "write `=>`", TOKEN_DOUBLE_ARROW, NULL},
    {"\xC3\x97", "write `*`", '*', NULL},
    {"\xC3\xB7", "write `/`", '/', NULL},
    {"\xE2\x88\x92", "write `-`", '-', NULL},
    {"\xE2\x80\x93", "write `-`", '-', NULL},
    {"\xE2\x80\x94", "write `-`", '-', NULL},
    {"\xE2\x89\xA4", "write `<=`", TOKEN_LESS_EQUAL, NULL},
    {"\xE2\x89\xA5", "write `>=`", TOKEN_GREATER_EQUAL, NULL},
    {"\xE2\x89\xA0", "write `!=`", TOKEN_NOT_EQUAL, NULL},
    {"\xE2\x88\x98", "write `.`", '.', NULL},
    {"\xE2\x80\x98", "write `'`", '?', NULL},
    {"\xE2\x80\x99", "write `'`", '?', NULL},
    {"\xE2\x80\x9C", "write `\"`", '?', "\xE2\x80\x9D"},
    {"\xE2\x80\x9D", "write `\"`", '?', NULL},
    {"\xC2\xA0", "write a space", 0, NULL},
    {"\xE2\x9F\xA8", "write `<`", '?', NULL},
    {"\xE2\x9F\xA9", "write `>`", '?', NULL},
};

/* Letters outside ASCII, and with them what a name consists of. */
static void foreign_name(struct lexer *lexer) {
    if (lexer->start[0] == 0xCE && lexer->start[1] == 0xBB) { /* a lambda; its parameter may touch it */
        lexer->cursor = lexer->start + 2;
        stray(lexer, "a function is written `fn x => e`");
        add_reported(lexer, TOKEN_FN);
        return;
    }
    bad_name(lexer, arena_printf(lexer->arena, "the name %s has characters that names cannot have", quote_here(lexer)),
             "names consist of the letters a-z and A-Z, digits, `_` and `'`");
}

/* To behind `what`, where the line has it. */
static void skip_past(struct lexer *lexer, const char *what) {
    size_t length = strlen(what);
    for (const unsigned char *at = lexer->cursor; (size_t)(lexer->limit - at) >= length && *at != '\n'; at++)
        if (memcmp(at, what, length) == 0) {
            lexer->cursor = at + length;
            return;
        }
}

/* Any other character outside ASCII. */
static void foreign_symbol(struct lexer *lexer) {
    size_t length = (size_t)(lexer->cursor - lexer->start);
    for (size_t i = 0; i < sizeof look_alikes / sizeof *look_alikes; i++) {
        const struct look_alike *one = &look_alikes[i];
        if (strlen(one->written) != length || memcmp(one->written, lexer->start, length) != 0)
            continue;
        stray(lexer, one->hint);
        if (one->kind)
            add_reported(lexer, one->kind);
        if (one->closer)
            skip_past(lexer, one->closer);
        return;
    }
    stray_end(lexer, NULL);
}

/* Another language's comment up to its end, which may be missing: then only its first line is one. */
static void foreign_comment(struct lexer *lexer, const char *end, const char *hint) {
    stray(lexer, hint);
    size_t length = strlen(end);
    const unsigned char *at = lexer->cursor, *line_end = NULL;
    while ((size_t)(lexer->limit - at) >= length && memcmp(at, end, length) != 0) {
        if (*at == '\n' && !line_end)
            line_end = at;
        at++;
    }
    bool is_found = (size_t)(lexer->limit - at) >= length;
    lexer->cursor = is_found ? at + length : line_end ? line_end : lexer->limit;
    lexer->starts_line |= is_found && (line_end || *at == '\n');
}

/* The kind of the bracket that is open here; 0: none, or braces that are of no record. */
static int bracket_around(const struct lexer *lexer) {
    const struct token *tokens = lexer->tokens->at;
    size_t closed = 0, count = lexer->tokens->count;
    for (size_t i = count; i-- > 0 && !token_starts_declaration(tokens[i].kind);) {
        int kind = tokens[i].kind;
        if (kind == ')' || kind == ']' || kind == '}')
            closed++;
        else if ((kind == '(' || kind == '[' || kind == '{') && closed-- == 0) {
            bool is_record = i + 2 < count && tokens[i + 1].kind == TOKEN_NAME &&
                             (tokens[i + 2].kind == ':' || tokens[i + 2].kind == '=');
            return kind == '{' && !is_record ? 0 : kind;
        }
    }
    return 0;
}

/* True if the text is UTF-16: it has a mark, or a zero byte before or behind each ASCII character. */
static bool is_utf16(const struct source *source) {
    const unsigned char *text = source->text;
    if (source->length < 2)
        return false;
    if (memcmp(text, "\xFF\xFE", 2) == 0 || memcmp(text, "\xFE\xFF", 2) == 0)
        return true;
    return source->length >= 4 && !text[0] != !text[1] && !text[0] == !text[2] && !text[1] == !text[3];
}

/* One error for each run of malformed bytes, and one for each run of NUL bytes, wherever they are. */
static void check_encoding(struct lexer *lexer) {
    const unsigned char *at = lexer->cursor, *limit = lexer->limit;
    while (at < limit && lexer->errors < LEXICAL_ERROR_LIMIT) {
        const unsigned char *from = at += utf8_plain(at, (size_t)(limit - at));
        size_t bytes = 1;
        while (at < limit && *at == 0)
            at++;
        if (at > from) {
            lexical_error(lexer, DIAG_NUL_BYTE, span_between(lexer, from, at),
                          "a source file cannot contain NUL bytes");
            continue;
        }
        while (at < limit && *at >= 0x80 && utf8_decode(at, (size_t)(limit - at), &bytes) == UTF8_INVALID)
            at++;
        if (at > from) {
            struct diagnostic *error =
                lexical_error(lexer, DIAG_BAD_UTF8, span_between(lexer, from, at),
                              arena_printf(lexer->arena, "this is not UTF-8 text (byte 0x%02X)", *from));
            diag_hint(lexer->diagnostics, error, "save the file with the encoding UTF-8");
            continue;
        }
        if (at < limit)
            utf8_decode(at, (size_t)(limit - at), &bytes), at += bytes;
    }
}

/* A match of the level-list rule counts only when its parentheses pair up within each level. */
static bool has_keyword(const unsigned char *from, const unsigned char *to) {
    while (from < to) {
        const unsigned char *start = from;
        while (from < to && (isalnum(*from) || *from == '_' || *from == '\''))
            from++;
        if (from > start && kind_of_word(start, (size_t)(from - start)) != TOKEN_NAME)
            return true;
        from += from == start;
    }
    return false;
}

/* `fun f` was before this. */
static bool names_definition(const struct lexer *lexer) {
    size_t count = lexer->tokens->count;
    const struct token *end = lexer->tokens->at + count;
    return count > 1 && end[-1].kind == TOKEN_NAME && end[-2].kind == TOKEN_FUN;
}

/* `b.mass`: the point touches what it takes a field of, and the field's name. Composition has blanks. */
static bool is_field_point(const struct lexer *lexer) {
    size_t count = lexer->tokens->count;
    const struct token *before = count ? &lexer->tokens->at[count - 1] : NULL;
    bool touches = before && before->span.end == lexer->source->base + (uint32_t)(lexer->start - lexer->source->text);
    bool is_operand = touches && (before->kind == TOKEN_NAME || before->kind == ')' || before->kind == ']' ||
                                  before->kind == '}');
    return is_operand && lexer->cursor < lexer->limit && (isalpha(*lexer->cursor) || *lexer->cursor == '_');
}

static bool is_balanced(const unsigned char *from, const unsigned char *to) {
    size_t open = 0;
    for (; from < to; from++) {
        if (*from == '(')
            open++;
        else if (*from == ')' && open-- == 0)
            return false;
        else if (*from == ',' && open != 0)
            return false;
    }
    return open == 0;
}

/* ---- the rules ---- */

/* Reads one token or stretch of blank; false at the end. */
static bool lex_one(struct lexer *lexer) {
    const unsigned char *YYMARKER;
    lexer->start = lexer->cursor;
    /*!re2c
        re2c:define:YYCTYPE = "unsigned char";
        re2c:define:YYCURSOR = "lexer->cursor";
        re2c:define:YYLIMIT = "lexer->limit";
        re2c:yyfill:enable = 0;
        re2c:eof = 0;
        re2c:indent:string = "    ";

        letter = [A-Za-z];
        rest = [A-Za-z0-9_'];
        cont = [\x80-\xbf];
        // Characters that are no letters: Latin-1 signs, U+2000 to U+2BFF, and pictures.
        sign = "\xc2" cont | "\xc3" [\x97\xb7] | "\xe2" [\x80-\xaf] cont | "\xf0\x9f" cont cont;
        foreign = "\xc3" (cont \ [\x97\xb7]) | [\xc4-\xdf] cont | ([\xe0\xe1] | [\xe3-\xef]) cont cont |
                  "\xe2" [\xb0-\xbf] cont | ("\xf0" (cont \ [\x9f]) | [\xf1-\xf4] cont) cont cont;
        name = "_"* letter rest*; // a `_` in front: it is meant to be unused
        digits = [0-9] ("_"? [0-9])*;
        hexadecimal = "0x" [0-9a-fA-F] ("_"? [0-9a-fA-F])*;
        binary = "0b" [01] ("_"? [01])*;
        integer_suffix = [iu] ("8" | "16" | "32" | "64");
        exponent = [eE] [+-]? digits;
        floating_suffix = "f32" | "f64" | "f16" | "bf16";
        blank = [ \t\r\n\f\v];
        level = "("* blank* ([0-9]+ blank* "+" blank* "("* blank*)* name blank* (")" blank*)*;

        $ { return false; }
        "\n" { lexer->starts_line = true; return true; }
        [ \t\r\f\v\x00]+ { return true; }
        "--" { skip_line(lexer); return true; }

        // Kept although `(*` opens a comment: everyone writes it, and no comment starts so.
        "(*)" { lexer->cursor = lexer->start + 1; add_token(lexer, '('); lexer->start = lexer->cursor++;
                add_token(lexer, '*'); lexer->start = lexer->cursor++; add_token(lexer, ')'); return true; }
        "(*" { if (!skip_block_comment(lexer)) unclosed_comment(lexer); return true; }

        name { add_name(lexer); return true; }
        "_" { add_token(lexer, '_'); return true; }
        "_" rest+ { bad_name(lexer, arena_printf(lexer->arena, "%s means nothing in FCL", quote_here(lexer)),
                             "names start with a letter, or with `_` and a letter");
                    return true; }
        "'" ([^'\\\n\x00\x80-\xff] | [\x80-\xff]+ | "\\" [^\n\x00] | "\\x" [0-9a-fA-F] [0-9a-fA-F]) "'" {
            add_character(lexer);
            return true;
        }
        rest* foreign (rest | foreign)* { foreign_name(lexer); return true; }
        sign { foreign_symbol(lexer); return true; }
        [\x80-\xff] { add_reported(lexer, '?'); return true; } // no UTF-8: check_encoding has said so
        "'" name { add_token(lexer, TOKEN_TYPE_VARIABLE)->name = text_of(lexer, 1, 0); return true; }
        "#" name { if (!preprocessor_line(lexer))
                       add_token(lexer, TOKEN_CONFIG)->name = text_of(lexer, 0, 0);
                   return true; }

        digits integer_suffix? { add_integer(lexer, 10); return true; }
        hexadecimal integer_suffix? { add_integer(lexer, 16); return true; }
        binary integer_suffix? { add_integer(lexer, 2); return true; }
        digits ("." digits exponent? | exponent) floating_suffix? | digits floating_suffix |
        hexadecimal ("." [0-9a-fA-F] ("_"? [0-9a-fA-F])*)? [pP] [+-]? digits floating_suffix? {
            add_floating(lexer);
            return true;
        }
        [0-9] (rest | ".")* | digits ("." digits)? [eE] [+-] | hexadecimal ("." [0-9a-fA-F_]*)? [pP] [+-] {
            bad_number(lexer);
            return true;
        }

        "\"" ([^"\\\n\x00] | "\\" [^\n\x00])* "\"" {
            symbol bytes = quoted_bytes(lexer);
            add_token(lexer, TOKEN_STRING)->name = bytes;
            return true;
        }
        "\"" ([^"\\\n\x00] | "\\" [^\n\x00])* "\\"? { bad_string(lexer); return true; }

        // A level list is decided here, by its look: `<`, levels, `>`, which is no other operator's
        // beginning. See LANGUAGE, lexical structure.
        "<" blank* level ("," blank* level)* ">" {
            bool is_list = is_balanced(lexer->start, lexer->cursor) && !has_keyword(lexer->start, lexer->cursor) &&
                           *lexer->cursor != '>' && (*lexer->cursor != '=' || names_definition(lexer));
            lexer->cursor = lexer->start + 1;
            lexer->in_levels = is_list;
            add_token(lexer, is_list ? TOKEN_LEVEL_OPEN : '<');
            return true;
        }
        ">" { add_token(lexer, lexer->in_levels ? TOKEN_LEVEL_CLOSE : '>'); lexer->in_levels = false; return true; }
        ">=" { if (lexer->in_levels) lexer->cursor = lexer->start + 1; // `fun f <l>=`
               add_token(lexer, lexer->in_levels ? TOKEN_LEVEL_CLOSE : TOKEN_GREATER_EQUAL);
               lexer->in_levels = false;
               return true; }
        ">>" { add_token(lexer, TOKEN_SHIFT_RIGHT); return true; }

        "->" { add_token(lexer, TOKEN_ARROW); return true; }
        "=>" { add_token(lexer, TOKEN_DOUBLE_ARROW); return true; }
        "==" { add_token(lexer, TOKEN_EQUAL); return true; }
        "!=" { add_token(lexer, TOKEN_NOT_EQUAL); return true; }
        "<=" { add_token(lexer, TOKEN_LESS_EQUAL); return true; }
        "<<" { add_token(lexer, TOKEN_SHIFT_LEFT); return true; }
        "&&" { add_token(lexer, TOKEN_AND); return true; }
        "||" { add_token(lexer, TOKEN_OR); return true; }
        "|>" { add_token(lexer, TOKEN_PIPE); return true; }
        "." { add_token(lexer, is_field_point(lexer) ? TOKEN_FIELD_POINT : '.'); return true; }
        [-+*/%!~&|^<=(){},:] | "[" | "]" { add_token(lexer, lexer->start[0]); return true; }

        ":=" { stray(lexer, "names are bound with `=`; there is no assignment");
               add_reported(lexer, '=');
               return true; }
        "/=" | "<>" { stray(lexer, "`!=` compares for being different");
                      add_reported(lexer, TOKEN_NOT_EQUAL);
                      return true; }
        "//" { if (lexer->starts_line) {
                   foreign_comment(lexer, "\n", "a comment starts with `--`");
                   return true;
               }
               foreign_comment(lexer, "\n", "`/` of integers gives an integer; a comment starts with `--`");
               add_reported(lexer, '?');
               return true; }
        "/*" { foreign_comment(lexer, "*/", "a comment is `-- to the end of the line` or `(* between these *)`");
               return true; }
        "===" { stray(lexer, "`==` compares"); add_reported(lexer, TOKEN_EQUAL); return true; }
        "\\" { stray(lexer, "a function is written `fn x => e`"); add_reported(lexer, TOKEN_FN); return true; }
        ";" { int bracket = bracket_around(lexer);
              if (bracket == '[' || bracket == '{') {
                  stray(lexer, bracket == '[' ? "the elements of a list are separated by `,`"
                                              : "the fields of a record are separated by `,`");
                  add_reported(lexer, ',');
                  return true;
              }
              stray(lexer, "nothing separates bindings or declarations: leave it out"); return true; }
        ";;"+ { stray(lexer, "nothing separates bindings or declarations: leave it out"); return true; }
        "#" { if (lexer->starts_line) {
                  foreign_comment(lexer, "\n", "a comment starts with `--`");
                  return true;
              }
              foreign_comment(lexer, "\n",
                              "a configuration constant is written `#BlockSize`; a comment starts with `--`");
              add_reported(lexer, '?');
              return true; }
        "'" { stray_end(lexer, "a character has a quote on both sides, `'a'`; a type variable is `'a`");
              return true; }
        "?" { stray_end(lexer, "a condition chooses by `if c then a else b`"); return true; }
        "$" { stray_end(lexer,
                        "what follows a function is its argument, in parentheses where it needs them; or `x |> f`");
              return true; }
        "`" name "`" { stray_end(lexer,
                                 "a function stands before its arguments, `f x y`; "
                                 "operators are `div`, `mod` and signs");
                       return true; }
        [@`]+ { stray_end(lexer, NULL); return true; }
        * { stray_end(lexer, NULL); return true; }
    */
}

void lex_source(struct arena *arena, struct symbols *symbols, const struct source *source,
                struct diagnostics *diagnostics, struct tokens *tokens) {
    struct lexer lexer = {.arena = arena,
                          .symbols = symbols,
                          .source = source,
                          .diagnostics = diagnostics,
                          .tokens = tokens,
                          .cursor = source->text,
                          .limit = source->text + source->length,
                          .bad_names = map_new(arena),
                          .starts_line = true};
    /* Room for the tokens of usual text, so that they are seldom copied into more. */
    *tokens = (struct tokens){.capacity = source->length / 6 + 8};
    tokens->at = arena_alloc(arena, tokens->capacity * sizeof *tokens->at);
    if (is_utf16(source)) {
        struct diagnostic *error = lexical_error(&lexer, DIAG_BAD_UTF8, (struct span){source->base, source->base},
                                                 "this is UTF-16 text, not UTF-8");
        diag_hint(diagnostics, error, "save the file with the encoding UTF-8");
        lexer.cursor = lexer.limit;
        lexer.is_cut = true;
    }
    check_encoding(&lexer);
    if (lexer.cursor == source->text && source->length >= 3 && memcmp(source->text, "\xEF\xBB\xBF", 3) == 0)
        lexer.cursor += 3; /* a byte order mark */
    while (lexer.errors < LEXICAL_ERROR_LIMIT && lex_one(&lexer))
        continue;
    if (lexer.errors >= LEXICAL_ERROR_LIMIT)
        diag_error(diagnostics, DIAG_TOO_MANY_ERRORS, span_here(&lexer),
                   "too many errors; the rest of the file is not read");
    tokens->is_cut |= lexer.errors >= LEXICAL_ERROR_LIMIT;
    bool is_cut = tokens->is_cut || lexer.is_cut;
    uint32_t end = tokens->count ? tokens->at[tokens->count - 1].span.end : source->base;
    struct token last = {.kind = 0, .starts_line = true, .span = {end, end}, .is_reported = is_cut};
    vec_push(arena, tokens, last);
}
