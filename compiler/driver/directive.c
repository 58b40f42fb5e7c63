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

static bool is_inside(const struct span *comment, uint32_t at) { return comment->begin < at && at < comment->end; }

directives directives_find(struct arena *arena, const struct ast_file *file, struct diagnostics *diagnostics) {
    const struct source *source = file->source;
    directives found = {0};
    const char *text = (const char *)source->text;
    unsigned line = 0;
    size_t comment = 0; /* the first that ends behind where we are */
    for (size_t start = 0, end; start < source->length; start = end + 1) {
        const char *newline = memchr(text + start, '\n', source->length - start);
        end = newline ? (size_t)(newline - text) : source->length;
        line++;
        size_t first = start;
        while (first < end && (text[first] == ' ' || text[first] == '\t'))
            first++;
        while (comment < file->comments.count && file->comments.at[comment].end <= source->base + first)
            comment++;
        bool is_comment =
            comment < file->comments.count && is_inside(&file->comments.at[comment], source->base + (uint32_t)first);
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
