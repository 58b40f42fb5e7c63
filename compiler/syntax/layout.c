/* The marker pass between lexer and parser (see mark_layout in lexer.h). Bindings of one `let` are separated by
   nothing but the `=` that follows each pattern, which takes unbounded lookahead to see; here it is one walk over
   the tokens. */
#include "syntax/lexer.h"

#include <string.h>

#include "parser.h"

bool token_starts_declaration(int kind) {
    return kind == TOKEN_SIG || kind == TOKEN_FUN || kind == TOKEN_VAL || kind == TOKEN_KERNEL || kind == TOKEN_PARAM ||
           kind == TOKEN_TYPE || kind == TOKEN_DATA || kind == TOKEN_IMPORT;
}

bool token_is_keyword(int kind) {
    return token_starts_declaration(kind) || kind == TOKEN_LET || kind == TOKEN_IN || kind == TOKEN_FN ||
           kind == TOKEN_IF || kind == TOKEN_THEN || kind == TOKEN_ELSE || kind == TOKEN_TRUE || kind == TOKEN_FALSE ||
           kind == TOKEN_DIV || kind == TOKEN_MOD || kind == TOKEN_NOT || kind == TOKEN_FORALL || kind == TOKEN_WHERE ||
           kind == TOKEN_WITH || kind == TOKEN_LEAVE || kind == TOKEN_MATCH;
}

struct marker {
    struct arena *arena;
    struct symbols *symbols;
    const struct source *source;
    struct diagnostics *diagnostics;
    struct tokens *tokens;
    size_t *closer_of; /* for each opener: the index of its `)`, `]` or `}`; 0: none */
    size_t *opener_of; /* for each `)` and `}`: 1 + the index of its opener; 0: none */
    int *within;       /* for each token: the kind of the innermost bracket around it, or 0 */
    bool *is_start;    /* a binding starts at this token */
    size_t start_count;
    int mended[8]; /* keywords of this declaration that were taken for names, and reported */
    size_t mended_count;
};

static bool is_mended(const struct marker *m, int kind) {
    for (size_t i = 0; i < m->mended_count; i++)
        if (m->mended[i] == kind)
            return true;
    return false;
}

static void keyword_to_name(struct marker *m, struct token *token) {
    const char *text = (const char *)m->source->text + (token->span.begin - m->source->base);
    size_t length = token->span.end - token->span.begin;
    if (!token->is_reported && !is_mended(m, token->kind)) {
        struct diagnostic *error =
            diag_error(m->diagnostics, DIAG_KEYWORD_AS_NAME, token->span, "%s is a keyword and cannot be a name",
                       token_quote(m->arena, m->source, token->span));
        diag_hint(m->diagnostics, error, "choose another name, such as `%.*s'`", (int)length, text);
        if (m->mended_count < sizeof m->mended / sizeof *m->mended)
            m->mended[m->mended_count++] = token->kind;
    }
    token->kind = TOKEN_NAME;
    token->name = symbol_intern(m->symbols, text, length);
}

/* `fn x -> e` and `fn x = e`. A lambda that began with a backslash or `fun` has its complaint already, and so has an
   arrow that is another character. */
static void arrow_of_function(struct marker *m, const struct token *fn, struct token *arrow) {
    const unsigned char *text = (const unsigned char *)m->source->text + (fn->span.begin - m->source->base);
    if (text[0] == 'f' && text[1] == 'n' && !arrow->is_reported) {
        struct diagnostic *error = diag_error(m->diagnostics, DIAG_SYNTAX, arrow->span, "expected `=>`, found %s",
                                              token_quote(m->arena, m->source, arrow->span));
        diag_hint(m->diagnostics, error, "a function is written `fn x => e`");
    }
    arrow->kind = TOKEN_DOUBLE_ARROW;
}

/* In the middle of a line `val`, `type` and the like open a declaration only with a name or path behind them. */
static bool is_lost_declaration_word(const struct token *token, const struct token *next) {
    return token_starts_declaration(token->kind) && !token->starts_line &&
           (next->starts_line || (next->kind != TOKEN_NAME && next->kind != TOKEN_STRING));
}

/* Do only parameters stand between the word and an arrow? */
static bool has_arrow(const struct marker *m, size_t index) {
    for (size_t i = index + 1; i < m->tokens->count; i++) {
        int kind = m->tokens->at[i].kind;
        if (kind != TOKEN_NAME && kind != '_' && kind != '(' && kind != ')' && kind != ',')
            return kind == TOKEN_DOUBLE_ARROW || kind == TOKEN_ARROW;
    }
    return false;
}

/* `(fun x => e)`: after a parenthesis, and before an arrow, no definition begins. */
static void fun_to_fn(struct marker *m, struct token *token) {
    struct diagnostic *error =
        diag_error(m->diagnostics, DIAG_SYNTAX, token->span, "expected an expression, found the keyword `fun`");
    diag_hint(m->diagnostics, error, "a function in place is `fn x => e`; `fun` defines one by name");
    token->kind = TOKEN_FN;
}

/* Keywords where only a name can be meant: after the word that opens a definition, in its parameters, in those
   of `fn`, and before the `=` of a `let`. A keyword at the start of a line is taken at its word. */
static void mend_slips(struct marker *m) {
    enum { ELSEWHERE, DEFINITION, FUNCTION } where = ELSEWHERE;
    const struct token *fn = NULL;
    for (size_t i = 0; i + 1 < m->tokens->count; i++) {
        struct token *token = &m->tokens->at[i];
        if (where == FUNCTION && (token->kind == TOKEN_ARROW || token->kind == '='))
            arrow_of_function(m, fn, token);
        int next = m->tokens->at[i + 1].kind;
        if (token->kind == TOKEN_FUN && !token->starts_line && i > 0 &&
            (m->tokens->at[i - 1].kind == '(' || has_arrow(m, i)))
            fun_to_fn(m, token);
        if (token->starts_line && token_starts_declaration(token->kind))
            m->mended_count = 0;
        bool can_be_name = token_is_keyword(token->kind) && !token->starts_line;
        bool after_let = i > 0 && m->tokens->at[i - 1].kind == TOKEN_LET;
        if (can_be_name && (where != ELSEWHERE || (after_let && next == '='))) {
            bool is_start_of_next = token_starts_declaration(token->kind) && next == TOKEN_NAME && where == FUNCTION;
            if (!is_start_of_next) {
                keyword_to_name(m, token);
                continue;
            }
        }
        if (is_lost_declaration_word(token, token + 1)) {
            keyword_to_name(m, token);
            continue;
        }
        if (token->kind == TOKEN_FUN || token->kind == TOKEN_KERNEL || token->kind == TOKEN_VAL ||
            token->kind == TOKEN_TYPE || token->kind == TOKEN_SIG || token->kind == TOKEN_PARAM)
            where = DEFINITION;
        else if (token->kind == TOKEN_FN)
            fn = token, where = FUNCTION;
        else if (token->kind != TOKEN_NAME && token->kind != '_' && token->kind != '(' && token->kind != ')' &&
                 token->kind != ',' && token->kind != TOKEN_LEVEL_OPEN && token->kind != TOKEN_LEVEL_CLOSE)
            where = ELSEWHERE;
    }
}

/* `forall` right after the colon of a `sig` or the point of another one, and `where` anywhere in its type. */
static void mark_signature_words(struct marker *m) {
    symbol forall = symbol_of(m->symbols, "forall"), where = symbol_of(m->symbols, "where");
    bool in_signature = false;
    for (size_t i = 0; i < m->tokens->count; i++) {
        struct token *token = &m->tokens->at[i];
        if (token_starts_declaration(token->kind)) {
            in_signature = token->kind == TOKEN_SIG;
        } else if (in_signature && token->kind == TOKEN_FIELD_POINT) {
            token->kind = '.'; /* `forall a.a -> a` */
        } else if (in_signature && token->kind == TOKEN_NAME && i >= 2) {
            int before = m->tokens->at[i - 1].kind;
            if (token->name == forall && (before == ':' || before == '.'))
                token->kind = TOKEN_FORALL;
            else if (token->name == where && before != TOKEN_SIG)
                token->kind = TOKEN_WHERE;
        }
    }
}

static bool is_leave(const struct token *token) {
    static const char *const words[] = {
#define LEAVE(field, word) word,
#include "syntax/leaves.def"
#undef LEAVE
    };
    bool is_one = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        is_one |= token->kind == TOKEN_NAME && strcmp(token->name->text, words[i]) == 0;
    return is_one;
}

/* `with` before a configuration constant or a word of leaves.def, in the head of a definition: only kernels have
   one, but elsewhere it is a slip that can be told of. Anywhere else both are names. */
static void mark_launch_words(struct marker *m) {
    symbol with = symbol_of(m->symbols, "with");
    bool in_header = false, in_launch = false;
    for (size_t i = 0; i + 1 < m->tokens->count; i++) {
        struct token *token = &m->tokens->at[i], *next = token + 1;
        bool is_left = is_leave(next);
        if (token_starts_declaration(token->kind)) {
            in_header = token->kind == TOKEN_KERNEL || token->kind == TOKEN_FUN || token->kind == TOKEN_VAL;
            in_launch = false;
        } else if (token->kind == '=') {
            in_header = false;
            in_launch &= i > 0 && token[-1].kind == TOKEN_CONFIG;
        } else if (in_header && !in_launch && token->kind == TOKEN_NAME && token->name == with &&
                   (next->kind == TOKEN_CONFIG || is_left)) {
            token->kind = TOKEN_WITH;
            in_launch = true;
        }
        if (in_launch && is_left && (token->kind == TOKEN_WITH || token->kind == ','))
            next->kind = TOKEN_LEAVE;
    }
}

static void match_brackets(struct marker *m) {
    VEC(size_t) open = {.at = NULL};
    for (size_t i = 0; i < m->tokens->count; i++) {
        int kind = m->tokens->at[i].kind;
        if (token_starts_declaration(kind))
            open.count = 0;
        bool closes = kind == ')' || kind == ']' || kind == '}';
        int wanted = kind == ')' ? '(' : kind == ']' ? '[' : '{';
        if (closes && open.count > 0 && m->tokens->at[open.at[open.count - 1]].kind == wanted)
            m->opener_of[i] = open.at[--open.count] + 1, m->closer_of[open.at[open.count]] = i;
        m->within[i] = open.count > 0 ? m->tokens->at[open.at[open.count - 1]].kind : 0;
        if (kind == '(' || kind == '[' || kind == '{')
            vec_push(m->arena, &open, i);
    }
}

/* True if the token can be part of a pattern. */
static bool is_of_pattern(int kind) {
    return kind == TOKEN_NAME || kind == '_' || kind == TOKEN_INTEGER || kind == TOKEN_FLOATING || kind == TOKEN_TRUE ||
           kind == TOKEN_FALSE || kind == TOKEN_BAD_LITERAL || kind == TOKEN_STRING || kind == '-' || kind == '|';
}

/* For each token: the index of the arrow that only a pattern separates it from; 0: none. */
static size_t *arrows_after_patterns(struct marker *m) {
    size_t *arrows = ARENA_ARRAY(m->arena, size_t, m->tokens->count);
    for (size_t i = m->tokens->count; i-- > 0;) {
        int kind = m->tokens->at[i].kind;
        size_t next = m->closer_of[i] ? m->closer_of[i] + 1 : i + 1;
        if (kind == TOKEN_DOUBLE_ARROW || kind == TOKEN_ARROW)
            arrows[i] = i;
        else if ((m->closer_of[i] || is_of_pattern(kind)) && next < m->tokens->count)
            arrows[i] = arrows[next];
    }
    return arrows;
}

static bool begins_subject(int kind) {
    return kind == TOKEN_NAME || kind == TOKEN_INTEGER || kind == TOKEN_FLOATING || kind == TOKEN_CONFIG ||
           kind == TOKEN_TRUE || kind == TOKEN_FALSE || kind == TOKEN_STRING || kind == '(' || kind == '[' ||
           kind == '{' || kind == '-' || kind == '~' || kind == TOKEN_NOT || kind == TOKEN_LET || kind == TOKEN_IF;
}

/* An arm: `->` before its body was meant for `=>`. */
static void begin_arm(struct marker *m, size_t arrow) {
    struct token *token = &m->tokens->at[arrow];
    if (token->kind != TOKEN_ARROW)
        return;
    struct diagnostic *error = diag_error(m->diagnostics, DIAG_SYNTAX, token->span, "expected `=>`, found `->`");
    diag_hint(m->diagnostics, error, "an arm of a `match` is written `pattern => e`");
    token->kind = TOKEN_DOUBLE_ARROW;
}

/* `match e with p => … | q => …`: the words, where an arm follows the `with`, and the bars between arms and between
   their patterns. Elsewhere `match` is a name, and a bar an operator. */
static void mark_matches(struct marker *m) {
    struct bracket {
        VEC(size_t) matches; /* whose `with` has not come */
        bool has_arms;
    };
    VEC(struct bracket) open = {.at = NULL};
    vec_push(m->arena, &open, (struct bracket){.has_arms = false});
    const size_t *arrows = arrows_after_patterns(m);
    symbol match = symbol_of(m->symbols, "match"), with = symbol_of(m->symbols, "with");
    for (size_t i = 1; i + 1 < m->tokens->count; i++) {
        struct token *token = &m->tokens->at[i];
        struct bracket *innermost = &open.at[open.count - 1];
        int before = m->tokens->at[i - 1].kind;
        if (token_starts_declaration(token->kind)) {
            open.count = 1;
            open.at[0] = (struct bracket){.has_arms = false};
        } else if (token->kind == '(' || token->kind == '[' || token->kind == '{') {
            vec_push(m->arena, &open, (struct bracket){.has_arms = false});
        } else if ((token->kind == ')' || token->kind == ']' || token->kind == '}') && open.count > 1) {
            open.count--;
        } else if (token->kind == TOKEN_NAME && token->name == match && !token_starts_declaration(before) &&
                   begins_subject(token[1].kind)) {
            vec_push(m->arena, &innermost->matches, i);
        } else if (token->kind == TOKEN_NAME && token->name == with && arrows[i + 1] && innermost->matches.count) {
            m->tokens->at[innermost->matches.at[--innermost->matches.count]].kind = TOKEN_MATCH;
            token->kind = TOKEN_WITH;
            innermost->has_arms = true;
            begin_arm(m, arrows[i + 1]);
        } else if (token->kind == '|' && innermost->has_arms && arrows[i + 1]) {
            token->kind = TOKEN_BAR;
            begin_arm(m, arrows[i + 1]);
        }
    }
}

/* `{ b with mass = 2.0 }`: elsewhere `with` is a name. */
static void mark_with(struct marker *m) {
    for (size_t i = 1; i + 2 < m->tokens->count; i++) {
        struct token *token = &m->tokens->at[i];
        if (token->kind == TOKEN_NAME && m->within[i] == '{' && strcmp(token->name->text, "with") == 0 &&
            token[1].kind == TOKEN_NAME && token[2].kind == '=' && token[-1].kind != '{' && token[-1].kind != ',')
            token->kind = TOKEN_WITH;
    }
}

/* The `=` of `{ mass = 1.0, pos = p }`, not that of a `let` within. */
static bool is_of_field(const struct marker *m, size_t equals) {
    if (equals < 2 || m->within[equals] != '{' || m->tokens->at[equals - 1].kind != TOKEN_NAME)
        return false;
    int before = m->tokens->at[equals - 2].kind;
    return before == '{' || before == ',' || before == TOKEN_WITH;
}

static bool ends_expression(int kind) {
    return kind == TOKEN_NAME || kind == TOKEN_INTEGER || kind == TOKEN_FLOATING || kind == TOKEN_CONFIG ||
           kind == TOKEN_TRUE || kind == TOKEN_FALSE || kind == ')' || kind == ']' || kind == '}' ||
           kind == TOKEN_STRING || kind == TOKEN_LEVEL_CLOSE;
}

/* `f (x, y) <l> z` before the `=` at `end`, from `let` or from the start of a line where an expression ends before it:
   the index of `f`; 0: there is none. */
static size_t function_before(const struct marker *m, size_t end) {
    for (size_t i = end - 1; i > 0; i--) {
        const struct token *token = &m->tokens->at[i];
        if (token->kind == ')' || token->kind == '}') {
            if (m->opener_of[i] < 2)
                return 0;
            i = m->opener_of[i] - 1;
        } else if (token->kind == TOKEN_LEVEL_CLOSE) {
            while (i > 1 && m->tokens->at[i].kind != TOKEN_LEVEL_OPEN)
                i--;
        } else if (token->kind != TOKEN_NAME && token->kind != '_') {
            return 0;
        }
        int before = m->tokens->at[i - 1].kind;
        bool is_first = before == TOKEN_LET || (m->tokens->at[i].starts_line && ends_expression(before));
        if (is_first || m->tokens->at[i].starts_line)
            return is_first && m->tokens->at[i].kind == TOKEN_NAME ? i : 0;
    }
    return 0;
}

/* The first `=` after the word that opens a definition, and after what its `with` says, is the definition's; those
   among its parameters are slips. Every other one ends the pattern of a binding, which is a name, `_`, or what stands
   in the parentheses before it, or a function with its parameters. */
static void find_bindings(struct marker *m) {
    bool in_header = false;
    size_t depth = 0;
    for (size_t i = 0; i < m->tokens->count; i++) {
        int kind = m->tokens->at[i].kind;
        if (token_starts_declaration(kind)) {
            in_header = kind != TOKEN_IMPORT;
            depth = 0;
        }
        depth += kind == '(' || kind == '{';
        depth -= depth > 0 && (kind == ')' || kind == '}');
        if (kind != '=' || i == 0 || (in_header && depth > 0) || is_of_field(m, i))
            continue;
        if (in_header) {
            in_header = m->tokens->at[i - 1].kind == TOKEN_CONFIG;
            continue;
        }
        size_t start = i - 1, function = function_before(m, i);
        int before = m->tokens->at[start].kind;
        if (function) {
            start = function;
        } else if (before == ')' || before == '}') {
            if (m->opener_of[start] == 0)
                continue;
            start = m->opener_of[start] - 1;
        } else if (before != TOKEN_NAME && before != '_') {
            continue;
        }
        if (start > 0 && m->tokens->at[start - 1].kind == TOKEN_LET)
            continue;
        m->start_count += !m->is_start[start];
        m->is_start[start] = true;
    }
}

static void insert_bindings(struct marker *m) {
    size_t count = m->tokens->count + m->start_count, filled = 0;
    struct token *marked = ARENA_ARRAY(m->arena, struct token, count);
    for (size_t i = 0; i < m->tokens->count; i++) {
        const struct token *token = &m->tokens->at[i];
        if (m->is_start[i])
            marked[filled++] = (struct token){.kind = TOKEN_BINDING,
                                              .starts_line = token->starts_line,
                                              .span = {token->span.begin, token->span.begin}};
        marked[filled++] = *token;
    }
    *m->tokens = (struct tokens){.at = marked, .count = filled, .capacity = count};
}

void mark_layout(struct arena *arena, struct symbols *symbols, const struct source *source,
                 struct diagnostics *diagnostics, struct tokens *tokens) {
    struct marker m = {.arena = arena,
                       .symbols = symbols,
                       .source = source,
                       .diagnostics = diagnostics,
                       .tokens = tokens,
                       .opener_of = ARENA_ARRAY(arena, size_t, tokens->count),
                       .closer_of = ARENA_ARRAY(arena, size_t, tokens->count),
                       .within = ARENA_ARRAY(arena, int, tokens->count),
                       .is_start = ARENA_ARRAY(arena, bool, tokens->count)};
    mend_slips(&m);
    mark_signature_words(&m);
    mark_launch_words(&m);
    match_brackets(&m);
    mark_with(&m);
    mark_matches(&m);
    find_bindings(&m);
    insert_bindings(&m);
}
