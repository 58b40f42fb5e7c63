/* Reading directives from a source's text. */
#include "tools/directive.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "support/edit.h"
#include "values/value.h"

static const char TEST[] = "-- test ", COST[] = "-- cost ";

const char *directive_next_word(struct arena *arena, const char **at) {
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
            depth += value_bracket(*end);
    }
    *at = end;
    return end == start ? NULL : arena_strndup(arena, start, (size_t)(end - start));
}

static const char *trimmed(struct arena *arena, const char *at, size_t length) {
    for (; length > 0 && isspace((unsigned char)*at); length--)
        at++;
    while (length > 0 && isspace((unsigned char)at[length - 1]))
        length--;
    return arena_strndup(arena, at, length);
}

static const char *rest_of(struct arena *arena, const char *at) { return trimmed(arena, at, strlen(at)); }

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

/* ---- forall ---- */

/* Where the dot is that ends `forall`: outside of brackets, behind no blank, as composition has, and before one; the
   text's end: there is none. */
static const char *dot_of(const char *at) {
    int depth = 0;
    bool quoted = false;
    for (char before = ' '; *at; before = *at++) {
        quoted ^= *at == '"' && before != '\\';
        depth += quoted ? 0 : value_bracket(*at);
        bool is_end = *at == '.' && (!at[1] || isspace((unsigned char)at[1]));
        if (is_end && depth == 0 && !quoted && !isspace((unsigned char)before))
            break;
    }
    return at;
}

static bool is_name(const char *word) {
    size_t length = 0;
    while (isalnum((unsigned char)word[length]) || word[length] == '_' || word[length] == '\'')
        length++;
    return length > 0 && !word[length] && isalpha((unsigned char)*word);
}

/* Reads `xs n when n > 0.`, and moves *at behind the dot. */
static const char *read_forall(struct arena *arena, const char *text, const char **at, struct directive *directive) {
    struct directive_forall *forall = ARENA_NEW(arena, struct directive_forall);
    const char *end = dot_of(*at);
    directive->forall = forall;
    if (!*end)
        return "a dot behind the names of `forall` is missing, as in `forall xs n. k xs n == xs`";
    while (*at < end) {
        const char *start = *at, *word = directive_next_word(arena, at);
        if (*at > end)
            word = trimmed(arena, start, (size_t)(end - start));
        if (!word || !*word)
            break;
        if (strcmp(word, "when") == 0 && *at < end) {
            while (isspace((unsigned char)**at))
                ++*at;
            forall->condition = trimmed(arena, *at, (size_t)(end - *at));
            forall->column = (unsigned)(*at - text) + 1;
            break;
        }
        if (!is_name(word))
            return "behind `forall` come names, then a dot, or `when` and a condition before it";
        for (size_t i = 0; i < forall->names.count; i++)
            if (strcmp(forall->names.at[i], word) == 0)
                return "`forall` has a name twice";
        vec_push(arena, &forall->names, word);
    }
    *at = end + 1;
    return forall->names.count ? NULL : "`forall` has no names";
}

/* ---- a directive ---- */

static const char *read_test(struct arena *arena, const char *text, struct directive *directive) {
    const char *at = text + strlen(TEST), *behind = at, *wrong = NULL;
    const char *first = directive_next_word(arena, &behind);
    if (first && strcmp(first, "forall") == 0) {
        at = behind;
        if ((wrong = read_forall(arena, text, &at, directive)))
            return wrong;
    }
    directive->kernel = directive_next_word(arena, &at);
    if (!directive->kernel)
        return "a kernel's name is missing";
    for (const char *word; (word = directive_next_word(arena, &at));) {
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

/* `-- cost KERNEL: …`; false: a comment that says something else. */
static bool read_cost(struct arena *arena, const char *text, struct directive *directive) {
    const char *at = text + strlen(COST);
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '\'')
        length++;
    if (length == 0 || at[length] != ':')
        return false;
    directive->kernel = arena_strndup(arena, at, length);
    directive->expectation = EXPECT_COST;
    directive->wanted = rest_of(arena, at + length + 1);
    return strstr(directive->wanted, "==") || strstr(directive->wanted, "<=");
}

static bool begins(const char *line, size_t length, const char *with) {
    return length >= strlen(with) && memcmp(line, with, strlen(with)) == 0;
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
            if (value_bracket(*word) > 0 && strstr(word, " =="))
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
    const char *name = directive_next_word(arena, &text);
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
        struct directive cost = {.line = line,
                                 .span = {source->base + (uint32_t)first, source->base + (uint32_t)end},
                                 .text = rest_of(arena, arena_strndup(arena, text + first, end - first))};
        if (!is_comment && begins(text + first, end - first, COST) && read_cost(arena, cost.text, &cost)) {
            vec_push(arena, &found, cost);
            continue;
        }
        if (is_comment || !begins(text + first, end - first, TEST)) {
            size_t dashes = comment_after(file, comment, first, end);
            struct span span = {source->base + (uint32_t)dashes, source->base + (uint32_t)end};
            if (dashes < end && is_nearly_directive(arena, file, arena_strndup(arena, text + dashes, end - dashes)))
                warn_of_nearly(diagnostics, span, dashes > first);
            continue;
        }
        struct directive directive = {.line = line,
                                      .span = {source->base + (uint32_t)first, source->base + (uint32_t)end},
                                      .text = rest_of(arena, arena_strndup(arena, text + first, end - first))};
        directive.wrong = read_test(arena, directive.text, &directive);
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
static size_t introduction_of(struct arena *arena, const char *line) {
    size_t length = strlen(TEST);
    if (strncmp(line, COST, strlen(COST)) == 0)
        return strlen(COST);
    if (strncmp(line, TEST, length) != 0)
        return 0;
    const char *at = line + length, *word = directive_next_word(arena, &at);
    if (!word || strcmp(word, "forall") != 0)
        return length;
    const char *dot = dot_of(at);
    return *dot ? (size_t)(dot - line) + 1 : length;
}

/* The word that comes next at *at, which is moved behind it. */
static struct span next_span(struct arena *arena, const char *line, const char **at, uint32_t place) {
    const char *word = directive_next_word(arena, at);
    uint32_t end = place + (uint32_t)(*at - line);
    return (struct span){end - (word ? (uint32_t)strlen(word) : 0), end};
}

/* Reads a kernel's name, which a colon may end, its arguments, and what is wanted. Gives false where nothing is. */
static bool read_call(struct arena *arena, const char *line, const char **at, uint32_t place, directive_calls *calls) {
    struct directive_call call = {.kernel = next_span(arena, line, at, place)};
    struct directive unused = {0};
    const char *before = *at;
    bool is_wanted = false;
    call.kernel.end -= (*at)[-1] == ':';
    for (const char *word; !is_wanted && (word = directive_next_word(arena, at)); before = *at) {
        is_wanted = is_relation(word, &unused);
        if (!is_wanted)
            vec_push(arena, &call.arguments, next_span(arena, line, &before, place));
    }
    uint32_t begin = place + (uint32_t)(*at - line);
    is_wanted = is_wanted && unused.expectation != EXPECT_ERROR;
    if (is_wanted)
        call.wanted = (struct span){begin, begin + (uint32_t)strlen(*at)};
    vec_push(arena, calls, call);
    return is_wanted;
}

directive_calls directives_calls(struct arena *arena, const struct ast_file *file) {
    directive_calls found = {0};
    const char *text = (const char *)file->source->text, *all = text + file->source->length;
    size_t comment = 0; /* the first that ends behind where we are */
    for (const char *begin = text, *end; begin < all; begin = end + 1) {
        end = memchr(begin, '\n', (size_t)(all - begin));
        end = end ? end : all;
        while (begin < end && (*begin == ' ' || *begin == '\t'))
            begin++;
        uint32_t place = file->source->base + (uint32_t)(begin - text);
        while (comment < file->comments.count && file->comments.at[comment].end <= place)
            comment++;
        if (end - begin < 3 || memcmp(begin, "-- ", 3) != 0 ||
            (comment < file->comments.count && is_inside(&file->comments.at[comment], place)))
            continue;
        const char *line = arena_strndup(arena, begin, (size_t)(end - begin));
        size_t before = introduction_of(arena, line);
        if (!before)
            continue;
        const char *at = line + before;
        bool is_wanted = read_call(arena, line, &at, place, &found);
        if (strncmp(line, COST, strlen(COST)) == 0) {
            struct directive_call *cost = &found.at[found.count - 1];
            cost->costs = (struct span){cost->kernel.end, place + (uint32_t)(end - begin)};
        } else if (is_wanted && before > strlen(TEST)) { /* of `forall`: another call, perhaps */
            (void)read_call(arena, line, &at, place, &found);
        }
    }
    return found;
}
