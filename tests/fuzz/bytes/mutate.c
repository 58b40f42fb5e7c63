/* Mutations of FCL text that keep it nearly well formed, for libFuzzer: bytes changed at random
   hardly ever get past the parser, and the checker and what is behind it are most of the compiler.
   The unit is a group: a token, or brackets with what is between them. Every fourth time, or when
   there are no tokens, libFuzzer changes bytes as it would without this file. */
#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "types/core.h"

enum { TOKENS_MOST = 4000, DECLS_MOST = 500, TEXT_MOST = 64 * 1024, STEPS_MOST = 4 };

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t most, unsigned seed);

static uint64_t random_state;

static size_t below(size_t limit) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return limit ? (size_t)((random_state >> 33) % limit) : 0;
}

/* ---- tokens ---- */

enum class { NAME, NUMBER, OPERATOR, OPEN, CLOSE, OTHER };

struct piece {
    const char *at;
    size_t length;
};
struct token {
    struct piece text;
    enum class class;
    size_t partner; /* of OPEN and CLOSE; itself when it has none */
};
struct tokens {
    struct token at[TOKENS_MOST];
    size_t count;
};

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '\'' || c == '#'; }

static size_t token_length(const char *at, const char *end, enum class *class) {
    const char *p = at;
    if (is_word(*p)) {
        *class = isdigit((unsigned char)*p) ? NUMBER : NAME;
        while (p < end &&
               (is_word(*p) || (*class == NUMBER && *p == '.' && p + 1 < end && isdigit((unsigned char)p[1]))))
            p++;
        return (size_t)(p - at);
    }
    *class = strchr("([", *p) ? OPEN : strchr(")]", *p) ? CLOSE : OTHER;
    if (!*p || *class != OTHER || !strchr("+-*/%<>=!&|^~.:", *p))
        return 1;
    *class = OPERATOR;
    while (p < end && *p && strchr("+-*/%<>=!&|^~.:", *p))
        p++;
    return (size_t)(p - at);
}

static void tokenise(struct tokens *t, const char *text, size_t length) {
    const char *at = text, *end = text + length;
    size_t open[TOKENS_MOST], depth = 0;
    t->count = 0;
    while (at < end && t->count < TOKENS_MOST) {
        if (isspace((unsigned char)*at)) {
            at++;
        } else if (end - at >= 2 && at[0] == '-' && at[1] == '-') {
            while (at < end && *at != '\n')
                at++;
        } else {
            struct token *token = &t->at[t->count];
            token->text = (struct piece){at, token_length(at, end, &token->class)};
            token->partner = t->count;
            if (token->class == OPEN) {
                open[depth++] = t->count;
            } else if (token->class == CLOSE && depth > 0) {
                token->partner = open[--depth];
                t->at[token->partner].partner = t->count;
            }
            at += token->text.length;
            t->count++;
        }
    }
}

/* From a token to its partner, or the token alone. */
static struct piece group_at(const struct tokens *t, size_t i) {
    size_t j = t->at[i].partner, first = i < j ? i : j, last = i < j ? j : i;
    const char *begin = t->at[first].text.at;
    return (struct piece){begin, (size_t)(t->at[last].text.at + t->at[last].text.length - begin)};
}

static struct piece some_group(const struct tokens *t) { return group_at(t, below(t->count)); }

/* An operand, as far as can be seen: no operator and no lone bracket. */
static struct piece some_operand(const struct tokens *t) {
    struct piece group = some_group(t);
    for (int i = 0; i < 8; i++) {
        size_t k = below(t->count);
        group = group_at(t, k);
        if (t->at[k].class == NAME || t->at[k].class == NUMBER || t->at[k].partner != k)
            break;
    }
    return group;
}

/* A declaration: from a line that begins with a letter to the next one. */
static struct piece some_declaration(const char *text, size_t length) {
    size_t starts[DECLS_MOST], count = 0;
    for (size_t i = 0; i < length && count < DECLS_MOST; i++)
        if ((i == 0 || text[i - 1] == '\n') && isalpha((unsigned char)text[i]))
            starts[count++] = i;
    if (count == 0)
        return (struct piece){text, length};
    size_t i = below(count), end = i + 1 < count ? starts[i + 1] : length;
    return (struct piece){text + starts[i], end - starts[i]};
}

/* ---- changes ---- */

static const char *const numbers[] = {"0",
                                      "1",
                                      "2",
                                      "3",
                                      "7",
                                      "31",
                                      "32",
                                      "33",
                                      "64",
                                      "256",
                                      "257",
                                      "1024",
                                      "(-1)",
                                      "(-5)",
                                      "1.5",
                                      "0.0",
                                      "1e30",
                                      "2147483647",
                                      "65536",
                                      "255u8",
                                      "1u32",
                                      "1i64",
                                      "2f64",
                                      "(-2147483648)",
                                      "4294967295u32",
                                      "#BlockSize",
                                      "#WarpSize",
                                      "#GridSize"};
static const char *const wraps[][2] = {{"(", ")"},
                                       {"(force ", ")"},
                                       {"(push <thread> ", ")"},
                                       {"(push <warp> ", ")"},
                                       {"(push <block> ", ")"},
                                       {"(push <grid> ", ")"},
                                       {"(concat 32 ", ")"},
                                       {"(generate 3 (fn i => ", "))"},
                                       {"(fn x => ", ")"},
                                       {"(map (fn x => x) ", ")"},
                                       {"(length ", ")"},
                                       {"(fst ", ")"},
                                       {"(let z = ", " in z)"},
                                       {"(if true then ", " else 0)"},
                                       {"[", "]"},
                                       {"(", ", 1)"},
                                       {"(", " : int)"}};
#define PICK(table) (table)[below(sizeof(table) / sizeof *(table))]

static struct piece piece_of(const char *text) { return (struct piece){text, strlen(text)}; }

static struct piece some_replacement(const struct tokens *t, size_t i) {
    static const char *const operators[] = {"+",  "-",  "*", "/", "%",  "<",  "<=", "==", "!=", "&&",
                                            "||", "|>", ".", "!", "<<", ">>", "&",  "|",  "^"};
    if (t->at[i].class == NUMBER && below(2))
        return piece_of(PICK(numbers));
    if (t->at[i].class == OPERATOR && below(2))
        return piece_of(PICK(operators));
    if (t->at[i].class == NAME && below(3) == 0)
        return piece_of(primitive_info[below(PRIM_COUNT)].name);
    for (int k = 0; k < 20; k++) {
        size_t j = below(t->count);
        if (t->at[j].class == t->at[i].class)
            return t->at[j].text;
    }
    return some_group(t);
}

static struct {
    char text[TEXT_MOST];
    size_t length;
} made;

static void add(struct piece piece) {
    size_t room = TEXT_MOST - made.length, length = piece.length < room ? piece.length : room;
    memcpy(made.text + made.length, piece.at, length);
    made.length += length;
}

static void add_text(const char *text) { add(piece_of(text)); }

/* `text` with `what` of it replaced by the pieces given. */
static void replace(struct piece text, struct piece what, const char *before, struct piece middle, const char *after) {
    made.length = 0;
    add((struct piece){text.at, (size_t)(what.at - text.at)});
    add_text(before);
    add(middle);
    add_text(after);
    add((struct piece){what.at + what.length, (size_t)(text.at + text.length - what.at - what.length)});
}

static void change(struct piece text, const struct tokens *t) {
    size_t i = below(t->count);
    struct piece none = {"", 0}, group = group_at(t, i), other;
    switch (below(11)) {
    case 0: replace(text, group, "", none, ""); break;
    case 1: replace(text, group, "", some_group(t), ""); break;
    case 2:
    case 3: replace(text, some_operand(t), "", some_operand(t), ""); break;
    case 4: {
        size_t w = below(sizeof wraps / sizeof *wraps);
        group = some_operand(t);
        replace(text, group, wraps[w][0], group, wraps[w][1]);
        break;
    }
    case 5: /* an argument more */
        replace(text, (struct piece){group.at + group.length, 0}, " ", some_operand(t), " ");
        break;
    case 6:
        other = some_declaration(text.at, text.length);
        replace(text, other, "", none, "");
        break;
    case 7:
        other = some_declaration(text.at, text.length);
        replace(text, (struct piece){text.at + text.length, 0}, "\n", other, "\n");
        break;
    case 8: /* without its brackets */
        if (t->at[i].partner != i && group.length >= 2) {
            replace(text, group, " ", (struct piece){group.at + 1, group.length - 2}, " ");
            break;
        } /* fall through */
    default: replace(text, t->at[i].text, "", some_replacement(t, i), ""); break;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
    static char text[TEXT_MOST];
    static struct tokens tokens;
    random_state = seed;
    if (size == 0 || size > TEXT_MOST || below(4) == 0)
        return LLVMFuzzerMutate(data, size, most);
    memcpy(text, data, size);
    size_t length = size;
    for (size_t step = 1 + below(STEPS_MOST); step > 0; step--) {
        tokenise(&tokens, text, length);
        if (tokens.count == 0)
            break;
        change((struct piece){text, length}, &tokens);
        memcpy(text, made.text, made.length);
        length = made.length;
    }
    if (length > most)
        length = most;
    memcpy(data, text, length);
    return length;
}

/* A declaration or an operand of `b` comes into `a`. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t most, unsigned seed) {
    static struct tokens in_a, in_b;
    struct piece text = {(const char *)a, a_size};
    random_state = seed;
    tokenise(&in_a, (const char *)a, a_size);
    tokenise(&in_b, (const char *)b, b_size);
    if (in_a.count == 0 || in_b.count == 0)
        return 0;
    if (below(2))
        replace(text, (struct piece){text.at + (below(2) ? a_size : 0), 0}, "\n",
                some_declaration((const char *)b, b_size), "\n");
    else
        replace(text, some_operand(&in_a), "", some_operand(&in_b), "");
    size_t length = made.length < most ? made.length : most;
    memcpy(out, made.text, length);
    return length;
}
