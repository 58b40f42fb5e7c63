/* Reading test directives from a source's text. */
#include "driver/directive.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "support/edit.h"

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
        if (quoted && *end == '\\' && end[1])
            end++; /* \" is part of it */
        else if (*end == '"')
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
            if (strncmp(word, "~=", 2) == 0)
                return "a tolerance is a positive number, as in `~=1e-3`";
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

/* In a directive without a relation: `f 1==2`, `f 1 = 2`. */
static void hint_relation(struct diagnostics *diagnostics, struct diagnostic *to, const struct directive *directive) {
    static const char *const others[] = {"=", "===", "->", "=>", "is"};
    for (size_t i = 0; i < directive->arguments.count; i++) {
        const char *word = directive->arguments.at[i];
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            if (strcmp(word, others[k]) == 0) {
                diag_hint(diagnostics, to, "it is written `==`");
                return;
            }
        if (strstr(word, "==")) {
            if ((*word == '[' || *word == '(') && strstr(word, " =="))
                diag_hint(diagnostics, to, "`%c` is not closed", *word);
            else
                diag_hint(diagnostics, to, "`==` needs blanks around it");
            return;
        }
    }
}

/* ---- what is nearly one ---- */

static bool defines(const struct ast_file *file, const char *name) {
    for (size_t i = 0; i < file->decls.count; i++)
        if (file->decls.at[i]->name && strcmp(file->decls.at[i]->name->text, name) == 0)
            return true;
    return false;
}

/* `test`, `Tests`, or one slip away from it. */
static bool is_nearly_test(struct arena *arena, const char *word, size_t length) {
    char *lower = arena_strndup(arena, word, length);
    for (char *p = lower; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return edit_distance(lower, "test", 1) <= 1;
}

/* The text of a comment, from its dashes: `--Tests: f [1] == 2`, with a name of the file's and a
   relation. Other comments may speak of tests. */
static bool is_nearly_directive(struct arena *arena, const struct ast_file *file, const char *text) {
    while (*text == '-' || isspace((unsigned char)*text))
        text++;
    size_t length = 0;
    while (isalpha((unsigned char)text[length]))
        length++;
    if (!is_nearly_test(arena, text, length))
        return false;
    text += length;
    if (*text != ':' && !isspace((unsigned char)*text))
        return false;
    text += *text == ':';
    const char *name = next_word(arena, &text);
    return name && defines(file, name) && (strstr(text, "==") || strstr(text, "~=") || strstr(text, " error \""));
}

static void warn_of_nearly(struct diagnostics *diagnostics, struct span span, bool after_code) {
    struct diagnostic *warning = diag_warning(diagnostics, DIAG_TEST_DIRECTIVE, span,
                                              "this looks like a test directive, and is none: nothing runs it");
    diag_hint(diagnostics, warning, "%s",
              after_code ? "a directive stands on a line of its own"
                         : "it begins with `-- test`, a blank and the kernel's name");
}

/* ---- all of a file ---- */

static bool is_inside(const struct span *comment, uint32_t at) { return comment->begin < at && at < comment->end; }

/* Where the dashes of a comment begin after code on the line from `first` to `end`; `end` when they do not. */
static size_t comment_after(const struct ast_file *file, size_t comment, size_t first, size_t end) {
    const char *text = (const char *)file->source->text;
    for (size_t at = first; at + 1 < end; at++) {
        while (comment < file->comments.count && file->comments.at[comment].end <= file->source->base + at)
            comment++;
        bool is_comment =
            comment < file->comments.count && is_inside(&file->comments.at[comment], file->source->base + (uint32_t)at);
        if (!is_comment && text[at] == '-' && text[at + 1] == '-')
            return at;
    }
    return end;
}

directives directives_find(struct arena *arena, const struct ast_file *file, directives *unread,
                           struct diagnostics *diagnostics) {
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
            memcmp(text + first, INTRODUCTION, strlen(INTRODUCTION)) != 0) {
            size_t dashes = comment_after(file, comment, first, end);
            struct span span = {source->base + (uint32_t)dashes, source->base + (uint32_t)end};
            if (dashes < end && is_nearly_directive(arena, file, arena_strndup(arena, text + dashes, end - dashes)))
                warn_of_nearly(diagnostics, span, dashes > first);
            continue;
        }
        struct directive directive = {.line = line,
                                      .span = {source->base + (uint32_t)first, source->base + (uint32_t)end},
                                      .text = rest_of(arena, arena_strndup(arena, text + first, end - first))};
        directive.wrong = read_directive(arena, directive.text, &directive);
        if (directive.wrong)
            hint_relation(diagnostics,
                          diag_error(diagnostics, DIAG_TEST_DIRECTIVE, directive.span, "%s", directive.wrong),
                          &directive);
        vec_push(arena, directive.wrong ? unread : &found, directive);
    }
    return found;
}

/* ---- for editors ---- */

/* How much a line's text begins with that comes before a kernel's name; 0: it is no directive. */
static size_t introduction_of(const char *text, size_t length) {
    static const char *const all[] = {INTRODUCTION, "-- cost "};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (length > strlen(all[i]) && memcmp(text, all[i], strlen(all[i])) == 0)
            return strlen(all[i]);
    return 0;
}

spans directives_kernels(struct arena *arena, const struct ast_file *file) {
    spans found = {0};
    const char *text = (const char *)file->source->text, *all = text + file->source->length;
    size_t comment = 0; /* the first that ends behind where we are */
    for (const char *line = text, *end; line < all; line = end + 1) {
        end = memchr(line, '\n', (size_t)(all - line));
        end = end ? end : all;
        while (line < end && (*line == ' ' || *line == '\t'))
            line++;
        uint32_t place = file->source->base + (uint32_t)(line - text);
        while (comment < file->comments.count && file->comments.at[comment].end <= place)
            comment++;
        size_t before = introduction_of(line, (size_t)(end - line));
        if (!before || (comment < file->comments.count && is_inside(&file->comments.at[comment], place)))
            continue;
        const char *word = line + before;
        while (word < end && isspace((unsigned char)*word))
            word++;
        size_t length = 0;
        while (word + length < end && !isspace((unsigned char)word[length]) && word[length] != ':')
            length++;
        place = file->source->base + (uint32_t)(word - text);
        vec_push(arena, &found, (struct span){place, place + (uint32_t)length});
    }
    return found;
}
