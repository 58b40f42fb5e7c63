/* Reading test directives from a source's text. */
#include "driver/directive.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char INTRODUCTION[] = "-- test ";

/* The next word: up to a blank outside of brackets and quotes. NULL at the end. */
static const char *next_word(struct arena *arena, const char **at) {
    const char *start = *at;
    while (isspace((unsigned char)*start))
        start++;
    const char *end = start;
    int depth = 0;
    bool quoted = false;
    for (; *end && (depth > 0 || quoted || !isspace((unsigned char)*end)); end++) {
        if (*end == '"')
            quoted = !quoted;
        if (!quoted)
            depth += (*end == '[' || *end == '(') - (*end == ']' || *end == ')');
    }
    *at = end;
    return end == start ? NULL : arena_strndup(arena, start, (size_t)(end - start));
}

static const char *rest_of(struct arena *arena, const char *at) {
    while (isspace((unsigned char)*at))
        at++;
    size_t length = strlen(at);
    while (length > 0 && isspace((unsigned char)at[length - 1]))
        length--;
    return arena_strndup(arena, at, length);
}

/* `==`, `~=`, `~=1e-3` or `error`. */
static bool is_relation(const char *word, struct directive *directive) {
    if (strcmp(word, "==") == 0) {
        directive->expectation = EXPECT_EQUAL;
        return true;
    }
    if (strcmp(word, "error") == 0) {
        directive->expectation = EXPECT_ERROR;
        return true;
    }
    if (strncmp(word, "~=", 2) != 0)
        return false;
    char *end = NULL;
    directive->expectation = EXPECT_CLOSE;
    directive->tolerance = word[2] ? strtod(word + 2, &end) : 0;
    return !word[2] || (*end == '\0' && directive->tolerance > 0);
}

static const char *read_directive(struct arena *arena, const char *text, struct directive *directive) {
    const char *at = text + strlen(INTRODUCTION);
    directive->kernel = next_word(arena, &at);
    if (!directive->kernel)
        return "a kernel's name is missing";
    for (const char *word; (word = next_word(arena, &at));) {
        if (!is_relation(word, directive)) {
            vec_push(arena, &directive->arguments, word);
            continue;
        }
        const char *wanted = rest_of(arena, at);
        size_t length = strlen(wanted);
        if (length == 0)
            return "what is wanted is missing at the end";
        if (directive->expectation == EXPECT_ERROR) {
            if (length < 2 || wanted[0] != '"' || wanted[length - 1] != '"')
                return "`error` wants a part of the message in quotes";
            wanted = arena_strndup(arena, wanted + 1, length - 2);
        }
        directive->wanted = wanted;
        return NULL;
    }
    return "neither `==` nor `~=` nor `error` says what is wanted";
}

/* How many block comments are open at the end of a line where `depth` of them are at its start; as the lexer has it. */
static int open_comments(const char *at, const char *end, int depth) {
    bool is_quoted = false;
    for (; at < end; at++) {
        size_t left = (size_t)(end - at);
        if (depth == 0 && *at == '"')
            is_quoted = !is_quoted;
        if (is_quoted)
            continue;
        if (depth == 0 && left >= 2 && memcmp(at, "--", 2) == 0)
            return 0;
        if (left >= 3 && memcmp(at, "(*)", 3) == 0) {
            at += 2;
        } else if (left >= 2 && memcmp(at, "(*", 2) == 0) {
            depth++;
            at++;
        } else if (depth > 0 && left >= 2 && memcmp(at, "*)", 2) == 0) {
            depth--;
            at++;
        }
    }
    return depth;
}

directives directives_find(struct arena *arena, const struct source *source, struct diagnostics *diagnostics) {
    directives found = {0};
    const char *text = (const char *)source->text;
    unsigned line = 0;
    int comments = 0;
    for (size_t start = 0, end; start < source->length; start = end + 1) {
        const char *newline = memchr(text + start, '\n', source->length - start);
        end = newline ? (size_t)(newline - text) : source->length;
        line++;
        size_t first = start;
        while (first < end && (text[first] == ' ' || text[first] == '\t'))
            first++;
        bool is_comment = comments > 0;
        comments = open_comments(text + start, text + end, comments);
        if (is_comment || end - first < strlen(INTRODUCTION) ||
            memcmp(text + first, INTRODUCTION, strlen(INTRODUCTION)) != 0)
            continue;
        struct directive directive = {.line = line,
                                      .span = {source->base + (uint32_t)first, source->base + (uint32_t)end},
                                      .text = rest_of(arena, arena_strndup(arena, text + first, end - first))};
        const char *wrong = read_directive(arena, directive.text, &directive);
        if (wrong)
            diag_error(diagnostics, DIAG_TEST_DIRECTIVE, directive.span, "%s", wrong);
        else
            vec_push(arena, &found, directive);
    }
    return found;
}
