/* Entry of the syntax stage, and the dump of its tokens. */
#include "syntax/syntax.h"

#include <string.h>

#include "parser.h"
#include "syntax/draft.h"

struct ast_file *syntax_parse(struct arena *arena, struct symbols *symbols, const struct source *source,
                              struct diagnostics *diagnostics) {
    struct draft *draft = draft_new(arena, symbols, source, diagnostics);
    draft_want_all(draft);
    draft_read(draft);
    return draft->file;
}

/* ---- comments ---- */

static bool begins_with(const struct source *source, size_t at, const char *words) {
    size_t length = strlen(words);
    return source->length - at >= length && memcmp(source->text + at, words, length) == 0;
}

struct span syntax_doc(const struct source *source, const struct ast_decl *decl) {
    size_t end = decl->span.begin - source->base;
    while (end > 0 && source->text[end - 1] != '\n')
        end--;
    size_t begin = end;
    while (begin > 0) {
        size_t line = begin - 1;
        while (line > 0 && source->text[line - 1] != '\n')
            line--;
        if (!begins_with(source, line, "--") || begins_with(source, line, "-- ----") ||
            begins_with(source, line, "-- test "))
            break; /* the latter two are the heading of a section and a test of what comes before */
        begin = line;
    }
    return (struct span){source->base + (uint32_t)begin, source->base + (uint32_t)end};
}

bool syntax_is_internal(const struct source *source, const struct ast_decl *decl) {
    return begins_with(source, syntax_doc(source, decl).begin - source->base, "-- Internal:");
}

/* ---- dump ---- */

static const char *kind_name(int kind) {
    switch (kind) {
    case 0: return "end";
    case TOKEN_NAME: return "name";
    case TOKEN_TYPE_VARIABLE: return "type-variable";
    case TOKEN_CONFIG: return "config";
    case TOKEN_INTEGER: return "integer";
    case TOKEN_FLOATING: return "floating";
    case TOKEN_STRING: return "string";
    case TOKEN_BAD_LITERAL: return "bad-literal";
    case TOKEN_LEVEL_OPEN: return "level-open";
    case TOKEN_LEVEL_CLOSE: return "level-close";
    case TOKEN_BINDING: return "binding";
    case TOKEN_FIELD_POINT: return "field-point";
    case TOKEN_BAR: return "bar";
    default: return token_is_keyword(kind) ? "keyword" : "symbol";
    }
}

void syntax_dump_tokens(struct text *text, struct symbols *symbols, const struct source *source,
                        struct diagnostics *diagnostics) {
    struct tokens tokens;
    lex_source(text->arena, symbols, source, diagnostics, &tokens);
    mark_layout(text->arena, symbols, source, diagnostics, &tokens);
    size_t at = 0;
    unsigned line = 1, column = 1;
    for (size_t i = 0; i < tokens.count; i++) {
        const struct token *token = &tokens.at[i];
        size_t begin = token->span.begin - source->base;
        for (; at < begin; at++) {
            if (source->text[at] == '\n') {
                line++;
                column = 1;
            } else {
                column += (source->text[at] & 0xC0) != 0x80;
            }
        }
        text_printf(text, "%u:%u %s", line, column, kind_name(token->kind));
        if (token->span.end > token->span.begin) {
            text_add(text, " ");
            text_add_n(text, (const char *)source->text + begin, token->span.end - token->span.begin);
        }
        text_add(text, "\n");
    }
}
