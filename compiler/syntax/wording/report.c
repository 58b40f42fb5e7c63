/* Wording of syntax errors: what was found, what was expected, where the unclosed construct began, and a hint
   for the slips that people who come from other languages make.

   note [parser depth]: Bison's stack holds 400,000 symbols, enough for any program whose tree is not deeper than
   AST_MAX_DEPTH; a text that needs more (100,000s of open parentheses) is reported here as an error and ends
   the parse of its file. */
#include "syntax/wording/report.h"

#include <string.h>

#include "parser.h"
#include "support/map.h"
#include "support/text.h"

static const struct token *token_at(const struct parser *p, size_t index) { return &p->tokens.at[index]; }

static int kind_before(const struct parser *p, size_t index) { return index > 0 ? token_at(p, index - 1)->kind : 0; }

static int kind_after(const struct parser *p, size_t index) {
    return index + 1 < p->tokens.count ? token_at(p, index + 1)->kind : 0;
}

static const char *quote(struct parser *p, struct span span) { return token_quote(p->arena, p->source, span); }

/* ---- what is still open ---- */

/* An opener seen before the error: '(' '[' '{', LET, IF (waits for `then`) or THEN (waits for `else`). */
struct opener {
    int kind;
    size_t index;
};
struct openers {
    VEC(struct opener) all;
};

static void close_until(struct openers *open, int first, int second) {
    for (size_t i = open->all.count; i-- > 0;) {
        int kind = open->all.at[i].kind;
        if (kind == first || kind == second) {
            open->all.count = i;
            return;
        }
        if (kind == '(' || kind == '[' || kind == '{')
            return; /* a bracket in between is the real culprit */
    }
}

/* The openers of the declaration that holds the token `index` and is not begun by it. */
static struct openers open_before(struct parser *p, size_t index) {
    size_t from = index;
    while (from > 0 && !token_starts_declaration(token_at(p, from - 1)->kind))
        from--;
    struct openers open = {.all = {.at = NULL}};
    for (size_t i = from; i < index; i++) {
        int kind = token_at(p, i)->kind;
        struct opener opener = {kind, i};
        if (kind == '(' || kind == '[' || kind == '{' || kind == TOKEN_LET || kind == TOKEN_IF) {
            vec_push(p->arena, &open.all, opener);
        } else if (kind == ')' || kind == ']' || kind == '}') {
            int wanted = kind == ')' ? '(' : kind == ']' ? '[' : '{';
            while (open.all.count > 0 && open.all.at[--open.all.count].kind != wanted)
                continue;
        } else if (kind == TOKEN_IN) {
            close_until(&open, TOKEN_LET, TOKEN_LET);
        } else if (kind == TOKEN_THEN) {
            size_t before = open.all.count;
            close_until(&open, TOKEN_IF, TOKEN_IF);
            if (open.all.count < before) {
                opener.index = open.all.at[open.all.count].index;
                vec_push(p->arena, &open.all, opener);
            }
        } else if (kind == TOKEN_ELSE) {
            close_until(&open, TOKEN_THEN, TOKEN_THEN);
        }
    }
    return open;
}

/* The token that closes an opener; NULL when that could not come at the error. */
static const char *missing_closer(int opener, const struct expected *expected) {
    switch (opener) {
    case '(': return expected->parenthesis ? ")" : NULL;
    case '[': return expected->bracket ? "]" : NULL;
    case '{': return expected->brace ? "}" : NULL;
    case TOKEN_LET: return expected->in ? "in" : NULL;
    case TOKEN_IF: return expected->then ? "then" : NULL;
    case TOKEN_THEN: return expected->or_else ? "else" : NULL;
    default: return NULL;
    }
}

/* ---- phrases ---- */

static const char *describe(struct parser *p, const struct token *token) {
    if (token->kind == 0)
        return "the end of the file";
    const char *quoted = quote(p, token->span);
    if (token_is_keyword(token->kind))
        return arena_printf(p->arena, "the keyword %s", quoted);
    if (token->kind == TOKEN_NAME)
        return arena_printf(p->arena, "the name %s", quoted);
    if (token->kind == TOKEN_STRING)
        return "a text";
    if (token->kind == TOKEN_LEVEL_OPEN)
        return "the level list `<...>`";
    return quoted;
}

/* `a, b or c`; empty when nothing useful can be said. */
static const char *describe_expected(struct parser *p, const struct expected *e) {
    const char *items[16];
    size_t count = 0;
    bool after_operand = e->operators && e->operands;
    if (e->declarations && !e->operators && !e->types && !e->arrow)
        items[count++] = "a declaration";
    if (e->operands && !after_operand)
        items[count++] = "an expression";
    else if (e->types && !after_operand && !e->arrow)
        items[count++] = "a type";
    else if (e->patterns)
        items[count++] = e->equals || e->double_arrow ? "a parameter" : "a name or `(`";
    else if (e->names && !after_operand && !e->types)
        items[count++] = "a name";
    if (e->string && !e->operands)
        items[count++] = "the file's path in quotes";
    const struct {
        bool can_come;
        const char *item;
    } marks[] = {{e->in, "`in`"},    {e->then, "`then`"},       {e->or_else, "`else`"},
                 {e->comma, "`,`"},  {e->parenthesis, "`)`"},   {e->bracket, "`]`"},
                 {e->brace, "`}`"},  {e->level_close, "`>`"},   {e->colon, "`:`"},
                 {e->equals, "`=`"}, {e->double_arrow, "`=>`"}, {e->arrow && !e->operands, "`->`"}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks && count < 13; i++)
        if (marks[i].can_come && !(e->operands && !after_operand))
            items[count++] = marks[i].item;
    if (after_operand && count == 0)
        items[count++] = "an operator";
    if (e->declarations && (e->operators || e->types || e->arrow))
        items[count++] = "the next declaration";
    struct text text;
    text_init(&text, p->arena);
    for (size_t i = 0; i < count; i++)
        text_printf(&text, "%s%s", i == 0 ? "" : i + 1 == count ? " or " : ", ", items[i]);
    return text_string(&text);
}

/* ---- slips ---- */

/* The word that opens the declaration with the token, or the file's first token. */
static size_t declaration_at(const struct parser *p, size_t index) {
    while (index > 0 && !token_starts_declaration(token_at(p, index)->kind))
        index--;
    return index;
}

/* The same as a kind; what is before the first one has none. */
static int declaration_of(const struct parser *p, size_t index) { return token_at(p, declaration_at(p, index))->kind; }

static bool touches_previous(const struct parser *p, size_t index) {
    return index > 0 && token_at(p, index - 1)->span.end == token_at(p, index)->span.begin;
}

static bool is_name(const struct parser *p, size_t index, const char *name) {
    const struct token *token = token_at(p, index);
    return token->kind == TOKEN_NAME && strcmp(token->name->text, name) == 0;
}

static bool ends_operand(int kind) {
    return kind == TOKEN_NAME || kind == TOKEN_INTEGER || kind == TOKEN_FLOATING || kind == TOKEN_CONFIG ||
           kind == TOKEN_TRUE || kind == TOKEN_FALSE || kind == ')' || kind == ']' || kind == TOKEN_LEVEL_CLOSE;
}

static bool is_comparison(int kind) {
    return kind == '<' || kind == '>' || kind == TOKEN_LESS_EQUAL || kind == TOKEN_GREATER_EQUAL ||
           kind == TOKEN_EQUAL || kind == TOKEN_NOT_EQUAL;
}

/* The `=` that TOKEN_BINDING at `index` was made for. */
static size_t equals_of_binding(const struct parser *p, size_t index) {
    size_t depth = 0;
    for (size_t i = index + 1; i < p->tokens.count; i++) {
        int kind = token_at(p, i)->kind;
        if (kind == '=' && depth == 0)
            return i;
        depth += kind == '(' || kind == '[';
        depth -= depth > 0 && (kind == ')' || kind == ']');
    }
    return index;
}

/* The nearest `kind` before `index` in the same declaration, with only names and parentheses in between. */
static bool follows_parameters_of(const struct parser *p, size_t index, int kind) {
    while (index > 0) {
        int before = token_at(p, --index)->kind;
        if (before == kind)
            return true;
        if (before != TOKEN_NAME && before != '_' && before != '(' && before != ')' && before != ',' &&
            before != TOKEN_BINDING && before != TOKEN_LEVEL_OPEN && before != TOKEN_LEVEL_CLOSE)
            return false;
    }
    return false;
}

/* The names that the declaration binds before the token, as parameters or by `let` and `fn`. */
static struct map *bound_before(const struct parser *p, size_t index) {
    struct map *bound = map_new(p->arena);
    bool is_in_type = false, is_in_body = false;
    size_t depth = 0, of_type = 0;
    for (size_t i = declaration_at(p, index); i < index; i++) {
        const struct token *token = token_at(p, i);
        int before = kind_before(p, i);
        depth += token->kind == '(';
        depth -= token->kind == ')' && depth > 0;
        if (token->kind == ':' && !is_in_type)
            is_in_type = true, of_type = depth;
        is_in_type &= depth >= of_type;
        is_in_body |= token->kind == '=';
        bool binds = !is_in_body || before == TOKEN_LET || before == TOKEN_BINDING || before == TOKEN_FN;
        if (token->kind == TOKEN_NAME && !is_in_type && binds)
            map_set(bound, token->name, (void *)(uintptr_t)token);
    }
    return bound;
}

/* The first token of the line before the `=`, if the line looks like a pattern or a function with its parameters; 0:
   it does not. */
static size_t line_of_binding(const struct parser *p, size_t index) {
    while (index > 0) {
        const struct token *before = token_at(p, --index);
        int kind = before->kind;
        if (before->starts_line && kind != TOKEN_BINDING)
            return kind == TOKEN_NAME || kind == '(' ? index : 0;
        if (kind != TOKEN_NAME && kind != '_' && kind != '(' && kind != ')' && kind != ',' && kind != TOKEN_INTEGER &&
            kind != TOKEN_BINDING)
            return 0;
    }
    return 0;
}

/* The blanks before the token. */
static uint32_t indent(const struct parser *p, size_t index) {
    const struct source *source = p->source;
    uint32_t begin = token_at(p, index)->span.begin - source->base, at = begin;
    while (at > 0 && (source->text[at - 1] == ' ' || source->text[at - 1] == '\t'))
        at--;
    return begin - at;
}

/* The last line of a definition compares what is known: `length xs = 0`. */
static bool is_last_comparison(const struct parser *p, size_t begin, size_t equals) {
    struct map *bound = bound_before(p, begin);
    bool is_known = false;
    for (size_t i = begin; i < equals; i++)
        is_known |= token_at(p, i)->kind == TOKEN_NAME && map_has(bound, token_at(p, i)->name);
    size_t next = equals + 1;
    while (token_at(p, next)->kind != 0 && !token_at(p, next)->starts_line)
        next++;
    return is_known && (token_at(p, next)->kind == 0 || token_starts_declaration(token_at(p, next)->kind));
}

/* Words that begin declarations in other languages. */
static const struct {
    const char *word, *hint;
} foreign_declarations[] = {
    {"entry", "what the host calls is a `kernel`: `kernel f x = e`"},
    {"record", "a record is declared by `type`: `type body = { at : float, mass : float }`"},
    {"struct", "a record is declared by `type`: `type body = { at : float, mass : float }`"},
    {"class", "a record is declared by `type`: `type body = { at : float, mass : float }`"},
    {"enum", "alternatives are declared by `data`: `data shape = Circle float | Empty`"},
    {"union", "alternatives are declared by `data`: `data shape = Circle float | Empty`"},
    {"datatype", "alternatives are declared by `data`: `data shape = Circle float | Empty`"},
};

static const char *declaration_hint(const struct parser *p, size_t index, const char *otherwise) {
    for (size_t i = 0; i < sizeof foreign_declarations / sizeof *foreign_declarations; i++)
        if (is_name(p, index, foreign_declarations[i].word))
            return foreign_declarations[i].hint;
    return otherwise;
}

/* Hints at what was meant by an `=` that does not define, though something at the start of a line stands before it. */
static void hint_equals(struct parser *p, struct diagnostic *error, size_t begin, size_t equals) {
    size_t declaration = declaration_at(p, equals);
    bool is_inside =
        token_starts_declaration(token_at(p, declaration)->kind) && indent(p, begin) > indent(p, declaration);
    struct span span = {token_at(p, begin)->span.begin, token_at(p, equals - 1)->span.end};
    if (begin && !is_inside)
        diag_hint(p->diagnostics, error, "%s", declaration_hint(p, begin, "a definition starts with `fun` or `val`"));
    else if (begin && !is_last_comparison(p, begin, equals))
        diag_hint(p->diagnostics, error, "what is bound in a definition follows `let`: `let %.*s = … in …`",
                  (int)(span.end - span.begin), (const char *)p->source->text + (span.begin - p->source->base));
    else
        diag_hint(p->diagnostics, error, "`==` compares; `=` only defines, after `let`, `fun`, `val` and the like");
}

/* Words of other languages; in the declaration that holds the error they tell what was meant. */
static const struct {
    const char *word, *hint;
} foreign_words[] = {
    {"case", "cases are `match e with p => e1 | q => e2`, or `if … then … else …`"},
    {"match", "a `match` is written `match e with p => e1 | q => e2`"},
    {"switch", "cases are `match e with p => e1 | q => e2`, or `if … then … else …`"},
    {"lambda", "a function is written `fn x => e`"},
    {"for", "there are no statements: `generate`, `map` and `foldl` go through arrays, `loop` repeats a step"},
    {"do", "there are no statements: `generate`, `map` and `foldl` go through arrays, `loop` repeats a step"},
    {"where", "local names are bound before they are used: `let y = … in …`"},
    {"elif", "it is written `else if`"},
    {"elsif", "it is written `else if`"},
    {"def", "a definition starts with `fun` or `val`"},
    {"and", "logical and is `&&`"},
    {"or", "logical or is `||`"},
};

/* Before the `=` of a definition: its name and its parameters. */
static bool is_in_header(const struct parser *p, size_t index) {
    while (index > 0 && token_at(p, index)->kind != '=') {
        int kind = token_at(p, --index)->kind;
        if (token_starts_declaration(kind))
            return kind != TOKEN_IMPORT;
    }
    return false;
}

/* Does the file bind the name anywhere? Then it is no word of another language. */
static bool is_bound(const struct parser *p, symbol name) {
    size_t lets = 0; /* those still open: a binding outside of them is none, as in `where y = 3` */
    for (size_t i = 1; i < p->tokens.count; i++) {
        int before = token_at(p, i - 1)->kind;
        lets = token_starts_declaration(before) ? 0 : lets + (before == TOKEN_LET) - (before == TOKEN_IN && lets > 0);
        if (token_at(p, i)->kind != TOKEN_NAME || token_at(p, i)->name != name)
            continue;
        if (before == TOKEN_LET || (before == TOKEN_BINDING && lets > 0) || is_in_header(p, i) ||
            follows_parameters_of(p, i, TOKEN_FN))
            return true;
    }
    return false;
}

static const char *foreign_word_hint(const struct parser *p, size_t index) {
    while (index > 0 && !token_starts_declaration(token_at(p, index - 1)->kind)) {
        const struct token *token = token_at(p, --index);
        for (size_t i = 0; token->kind == TOKEN_NAME && i < sizeof foreign_words / sizeof *foreign_words; i++)
            if (strcmp(foreign_words[i].word, token->name->text) == 0 && !is_bound(p, token->name))
                return foreign_words[i].hint;
    }
    return NULL;
}

/* An `=` that `with` has led to, if that stands in the declaration before it. */
static const char *with_hint(const struct parser *p, size_t index) {
    size_t declaration = declaration_at(p, index), with = index;
    int declares = token_at(p, declaration)->kind;
    while (with > declaration && !is_name(p, with, "with"))
        with--;
    int after = kind_after(p, with);
    if (with == declaration)
        return NULL;
    if (with > 1 && kind_before(p, with - 1) == '{')
        return "a field of a field is changed in a record within: `{ b with pos = { b.pos with x = 1.0 } }`";
    if (declares == TOKEN_KERNEL && (after == TOKEN_CONFIG || after == TOKEN_NAME))
        return "the threads of a kernel's blocks are said before its `=`: `kernel name x with #BlockSize = 64 = e`";
    return after == '[' ? "an array is not changed: `scatter xs [(0, 5)]` gives one with other elements" : NULL;
}

/* The pattern before the `=` at `index` stands behind `loop`, which has none. */
static bool is_of_loop(const struct parser *p, size_t index) {
    while (index > 0) {
        int kind = token_at(p, --index)->kind;
        if (is_name(p, index, "loop"))
            return true;
        if (kind != TOKEN_NAME && kind != '_' && kind != '(' && kind != ')' && kind != ',' && kind != TOKEN_BINDING)
            return false;
    }
    return false;
}

/* `b` of `{ b | mass = 1.0 }`, whose `=` this is; 0: it is not. */
static size_t changed_by_bar(const struct parser *p, size_t equals) {
    size_t bar = equals > 1 ? equals - 2 : 0;
    bar -= bar > 0 && token_at(p, bar)->kind == TOKEN_BINDING;
    bool is_changed = bar > 1 && token_at(p, bar)->kind == '|' && kind_before(p, equals) == TOKEN_NAME &&
                      kind_before(p, bar) == TOKEN_NAME && kind_before(p, bar - 1) == '{';
    return is_changed ? bar - 1 : 0;
}

/* `=` where an expression goes on: either `==` or `=>` was meant. */
static void report_equals(struct parser *p, size_t index) {
    struct span span = token_at(p, index)->span;
    if (span.end - span.begin > 1)
        return; /* `:=`, of which the lexer has complained */
    const char *with = with_hint(p, index), *foreign = foreign_word_hint(p, index);
    struct diagnostic *error = diag_error(p->diagnostics, DIAG_SYNTAX, span, "`=` cannot stand here");
    if (with || foreign)
        diag_hint(p->diagnostics, error, "%s", with ? with : foreign);
    else if (changed_by_bar(p, index))
        diag_hint(p->diagnostics, error, "a record with other values in some fields is `{ %s with %s = … }`",
                  token_at(p, changed_by_bar(p, index))->name->text, token_at(p, index - 1)->name->text);
    else if (is_of_loop(p, index))
        diag_hint(
            p->diagnostics, error,
            "`loop going step start` repeats a step while `going` says so; through numbers goes `foldl (fn s i => "
            "…) start (iota n)`");
    else if (follows_parameters_of(p, index, TOKEN_FN))
        diag_hint(p->diagnostics, error, "a function is written `fn x => e`");
    else
        hint_equals(p, error, line_of_binding(p, index), index);
}

/* An element in front, as in `x : xs` and `x :: xs`: behind the colons is no type, but an array or a number. */
static bool is_cons(const struct parser *p, size_t index) {
    size_t right = index + 1;
    if (kind_after(p, index) == ':' && touches_previous(p, right))
        right++;
    const struct token *token = token_at(p, right);
    if (token->kind == TOKEN_INTEGER || token->kind == TOKEN_FLOATING ||
        (token->kind == '[' && kind_after(p, right) == ']'))
        return true;
    return token->kind == TOKEN_NAME && map_has(bound_before(p, index), token->name);
}

/* Where a type should go on. */
static const char *type_hint(const struct parser *p, size_t index) {
    int found = token_at(p, index)->kind, before = kind_before(p, index), after = kind_after(p, index);
    bool is_before_type = after == TOKEN_NAME || after == '(' || after == '[' || after == TOKEN_TYPE_VARIABLE;
    bool is_pointer = found == '*' && (!is_before_type || (before != TOKEN_NAME && before != ')' && before != ']'));
    if (is_pointer || (found == ']' && before == '[') ||
        (before == ']' && found == TOKEN_NAME && touches_previous(p, index)))
        return "the type of arrays of `a` is written `[a]`, whatever their length";
    if (found == ':' && before == ':')
        return index > 2 && kind_before(p, index - 2) == '('
                   ? "a type follows a single colon, `(x : int)`; an array is not taken apart by a pattern: its first "
                     "element is `head xs`, the others are `drop 1 xs`"
                   : "a type follows a single colon: `sig f : type`";
    if (found == '*')
        return "the type of pairs is written `(a, b)`";
    if (found == '{')
        return "a record has a name: `type point = { x : float, y : float }`";
    if (found == '(' || found == TOKEN_INTEGER)
        return "types are names, `[a]`, `[a]<level>`, `(a, b)` and `a -> b`";
    return NULL;
}

/* Is the token in the header of a definition that has no `=` at all, or where only an expression can begin? In braces
   stands a body of another language. */
static bool lacks_equals(const struct parser *p, size_t index) {
    size_t first = index > 0 ? declaration_at(p, index - 1) : 0, depth = 0;
    int found = token_at(p, index)->kind, declares = token_at(p, first)->kind;
    if (declares != TOKEN_FUN && declares != TOKEN_KERNEL && declares != TOKEN_VAL)
        return false;
    bool is_expression = found == TOKEN_FN || found == TOKEN_LET || found == TOKEN_IF;
    for (size_t i = first + 1; i < p->tokens.count; i++) {
        int kind = token_at(p, i)->kind;
        if (token_starts_declaration(kind) || kind == 0 || (is_expression && i >= index))
            return true;
        if (kind == '{' || (kind == '=' && depth == 0 && kind_before(p, i) != TOKEN_CONFIG))
            return false;
        depth += kind == '(' || kind == '[';
        depth -= depth > 0 && (kind == ')' || kind == ']');
    }
    return true;
}

static const char *equals_hint(const struct parser *p, size_t index) {
    int declares = token_at(p, declaration_at(p, index > 0 ? index - 1 : 0))->kind;
    return declares == TOKEN_KERNEL ? "the `=` before the body is missing: `kernel f (x : int) = e`"
           : declares == TOKEN_FUN  ? "the `=` before the body is missing: `fun f x = e`"
                                    : "the `=` before the value is missing: `val x = e`";
}

/* The hint for an error among the parameters of a definition: they are not declared as in C. */
static const char *parameter_hint(const struct parser *p, size_t opener, size_t index) {
    size_t first = index;
    while (first > 0 && !token_starts_declaration(token_at(p, first)->kind))
        first--;
    int declares = token_at(p, first)->kind;
    for (size_t i = first; i < opener; i++)
        if (token_at(p, i)->kind == '=')
            return NULL; /* in the body */
    if (declares != TOKEN_FUN && declares != TOKEN_KERNEL)
        return NULL;
    int found = token_at(p, index)->kind;
    if (lacks_equals(p, index))
        return found == '=' ? NULL : equals_hint(p, index);
    if (found == '=')
        return "a parameter has no value of its own, every argument is given: leave `= …` out; what has one for the "
               "whole program is a `param`: `param x : int = 3`";
    if (found == ',')
        return "parameters follow one another, each with its own parentheses: `(x : int) (y : int)`; "
               "one that is a pair is `((x : int), (y : int))`";
    if (found == TOKEN_NAME && kind_before(p, index) == ']' && touches_previous(p, index))
        return type_hint(p, index);
    if (found == '*' && opener + 2 == index)
        return "a parameter with its type is `(x : int)`, and an array `(xs : [int])`";
    return found == TOKEN_NAME ? "a parameter with its type is `(x : int)`" : NULL;
}

static bool is_binary(int kind) {
    return kind == '+' || kind == '*' || kind == '/' || kind == '%' || kind == TOKEN_DIV || kind == TOKEN_MOD ||
           kind == '&' || kind == '|' || kind == '^' || kind == TOKEN_SHIFT_LEFT || kind == TOKEN_SHIFT_RIGHT ||
           kind == TOKEN_AND || kind == TOKEN_OR || is_comparison(kind);
}

/* A hint for a wrong token in braces that hold no record. */
static const char *brace_hint(const struct parser *p, size_t index) {
    size_t brace = index;
    while (brace > 0 && token_at(p, brace)->kind != '{') {
        int kind = token_at(p, --brace)->kind;
        if (kind == '(' || kind == '[' || kind == '=' || token_starts_declaration(kind))
            return NULL;
    }
    if (brace > 1 && kind_before(p, brace) == '=' && token_at(p, brace - 2)->kind == TOKEN_CONFIG)
        return "the default comes before the choices: `with #BlockSize = 128 in {64, 128, 256}`";
    for (size_t i = brace; i > 0 && !token_starts_declaration(token_at(p, i)->kind); i--)
        if (token_at(p, i)->kind == TOKEN_IF)
            return "a condition chooses by `if c then a else b`";
        else if (token_at(p, i)->kind == TOKEN_THEN || token_at(p, i)->kind == '=')
            break;
    return "braces are of records, `{ x = 1.0 }`; parentheses group, and local names are bound by `let … in …`";
}

/* Two operators that touch are one of another language; `!` before its operand is C's. */
static const char *operator_hint(const struct parser *p, size_t index) {
    int found = token_at(p, index)->kind, before = kind_before(p, index);
    if (found == before && touches_previous(p, index)) {
        if (found == '+')
            return "`++` is no operator: `append` joins push arrays, `appendPull` pull arrays; a number goes up by `x "
                   "+ 1`";
        if (found == '*')
            return "the power of floating numbers is `pow x y`";
        if (found == '.')
            return "there are no ranges: `iota n` is 0, 1, … n-1";
    }
    if (found == '=' && is_binary(before) && touches_previous(p, index))
        return "nothing is assigned: a name is bound once, and another is bound to what follows from it, `let y = x + "
               "1 in …`";
    if (found == '|' && before == '<' && touches_previous(p, index))
        return "a function is put before its argument, `f x`, or behind it, `x |> f`";
    if (found == TOKEN_TYPE_VARIABLE)
        return "a character is one, as in `'a'`; a text is in double quotes";
    if (found == '!')
        return "negation is `not x`; `xs ! i` is an element of an array";
    if (found == '{' && before == '=' && index > 1 && token_at(p, index - 2)->kind == TOKEN_CONFIG)
        return "the default comes before the choices: `with #BlockSize = 128 in {64, 128, 256}`";
    if (found == '{')
        return "parentheses group; local names are bound by `let … in …`";
    return NULL;
}

/* Does the declaration's own `=` stand before the token? */
static bool has_equals_before(const struct parser *p, size_t index) {
    for (size_t i = index; i > 0 && !token_starts_declaration(token_at(p, i)->kind); i--)
        if (token_at(p, i)->kind == '=' && kind_before(p, i) != TOKEN_CONFIG)
            return true;
    return false;
}

/* The hint for an error in the shape of a kernel's launches; NULL: there is none. */
static const char *launch_hint(const struct parser *p, size_t index, const struct expected *e, int declares) {
    int found = token_at(p, index)->kind;
    if (found == TOKEN_WITH)
        return "only kernels are launched: `kernel name x with #BlockSize = 64 = e`; what they call runs in their "
               "blocks";
    if (declares == TOKEN_KERNEL && found == TOKEN_CONFIG && e->patterns && e->equals)
        return "the threads of a kernel's blocks are said by `with #BlockSize = 64`";
    return NULL;
}

/* `let y <- e`, `val y -> e` and `let (a, b) => e`. */
static bool names_by_arrow(const struct parser *p, size_t index) {
    int found = token_at(p, index)->kind;
    if (found == '<' && kind_after(p, index) == '-' && touches_previous(p, index + 1))
        return true;
    if ((found != TOKEN_ARROW && found != TOKEN_DOUBLE_ARROW) || index == 0)
        return false;
    size_t begin = index - 1;
    while (begin > 0 && kind_before(p, begin) != TOKEN_LET && kind_before(p, begin) != TOKEN_VAL &&
           token_at(p, index - 1)->kind == ')' && !token_starts_declaration(token_at(p, begin)->kind))
        begin--;
    return (kind_before(p, begin) == TOKEN_LET || kind_before(p, begin) == TOKEN_VAL) &&
           (begin + 1 == index || token_at(p, begin)->kind == '(');
}

/* The hint for a token among the parameters, or in their place; NULL: no hint is known. */
static const char *header_hint(const struct parser *p, size_t index, const struct expected *e) {
    int found = token_at(p, index)->kind, before = kind_before(p, index), declares = declaration_of(p, index);
    if (found == ',' && e->double_arrow)
        return "a function of two arguments is `fn a b => e`, and of a pair `fn (a, b) => e`";
    if (declares == TOKEN_FUN && e->patterns && e->equals && found == '|')
        return "there are no guards: `fun f x = if x > 0 then … else …`";
    if ((declares == TOKEN_FUN || declares == TOKEN_KERNEL) && e->patterns && e->equals && found == '[' &&
        kind_after(p, index) == TOKEN_NAME && kind_after(p, index + 1) == ']')
        return "lengths are no part of types and no parameters: leave `[n]` out; the length of xs is `length xs`";
    if (declares == TOKEN_FUN && e->patterns && !lacks_equals(p, index) &&
        (found == TOKEN_INTEGER || found == TOKEN_FLOATING || found == TOKEN_TRUE || found == TOKEN_FALSE ||
         found == '['))
        return "a function has one definition, for all arguments: `fun f n = if n == 0 then … else …`";
    if (e->equals && names_by_arrow(p, index))
        return "names are bound with `=`";
    if (declares == TOKEN_VAL && (found == ',' ? e->equals : found == '(' && before == TOKEN_VAL))
        return "a `val` binds one name: `val p = (1, 2)`, whose parts are `fst p` and `snd p`";
    if (found == TOKEN_ARROW && e->equals && before == ')')
        return "the type of a result goes to the body, `… = (e : type)`, or into a `sig` before a `fun`";
    if (found == '=' && e->colon && declares == TOKEN_PARAM)
        return "a `param` says its type: `param name : int = 3`";
    if (before == TOKEN_IN && declares == TOKEN_KERNEL && !has_equals_before(p, index))
        return "the choices are in braces: `with #BlockSize = 64 in {64, 128}`";
    if (before == TOKEN_IN && declares == TOKEN_PARAM)
        return "the values that a `param` may have are in braces: `in {16, 32}`";
    return launch_hint(p, index, e, declares);
}

/* The hint for a `let` that stands where definitions do. */
static const char *outside_hint(const struct parser *p, size_t let) {
    size_t name = let + 1;
    while (kind_after(p, name - 1) == TOKEN_BINDING)
        name++;
    int after = kind_after(p, name);
    bool is_function = kind_after(p, name - 1) == TOKEN_NAME && (after == TOKEN_NAME || after == '(' || after == '_');
    return is_function ? "outside of functions it is `fun f x = e`, without `let`"
                       : "outside of functions it is `val y = e`, without `let`";
}

/* The hint for what is missing where a `let` is open; NULL: there is none. */
static const char *let_hint(const struct parser *p, size_t let, size_t index) {
    int found = token_at(p, index)->kind;
    uint32_t begin = token_at(p, let)->span.begin;
    bool is_outside = begin == p->source->base || p->source->text[begin - p->source->base - 1] == '\n';
    if (found == ',')
        return "no comma separates bindings: `let a = 1`, and `b = 2` on the next line";
    if (is_outside)
        return outside_hint(p, let);
    if (found == 0 || token_starts_declaration(found))
        return "a `let` gives what follows its `in`: `let y = … in e`; several bindings share one `let`, each on a "
               "line of its "
               "own";
    return NULL;
}

/* Is the token within braces of the declaration, the innermost of its brackets? */
static bool is_in_braces(struct parser *p, size_t index) {
    struct openers open = open_before(p, index);
    return open.all.count && open.all.at[open.all.count - 1].kind == '{';
}

/* The hint for a wrong token of a record, or of a declaration of one or of alternatives; NULL: there is none. */
static const char *record_hint(struct parser *p, size_t index, const struct expected *e) {
    int found = token_at(p, index)->kind, before = kind_before(p, index), declares = declaration_of(p, index);
    if (declares == TOKEN_DATA && found == '{')
        return "a record is declared by `type`: `type body = { at : float, mass : float }`";
    if (declares == TOKEN_TYPE && found == '|')
        return "alternatives are declared by `data`: `data shape = Circle float | Empty`";
    if (!is_in_braces(p, index) || before != TOKEN_NAME)
        return NULL;
    if (declares == TOKEN_TYPE && found == ':')
        return "the fields of a record are separated by `,`";
    if (e->equals && found == ':')
        return "the value of a field follows `=`, as in `{ x = 1.0 }`; `:` is before its type, where the record is "
               "declared";
    if (e->equals && (found == ',' || found == '}'))
        return "a field alone is a pattern; in an expression it has its value: `{ x = x, y = y }`";
    return NULL;
}

/* Is there a `match` before the token, in its declaration? */
static bool follows_match(const struct parser *p, size_t index) {
    while (index > 0 && !token_starts_declaration(token_at(p, index)->kind))
        if (token_at(p, --index)->kind == TOKEN_MATCH || is_name(p, index, "match"))
            return true;
    return false;
}

/* The hint for a wrong token of an arm of a `match`; NULL: there is none. */
static const char *arm_hint(const struct parser *p, size_t index, const struct expected *e) {
    int found = token_at(p, index)->kind, before = kind_before(p, index);
    if (!follows_match(p, index))
        return NULL;
    if (found == TOKEN_ELSE)
        return "the last arm of a `match`, for all that is left, is `| _ => e`";
    if ((found == TOKEN_STRING || found == '[') && (before == TOKEN_WITH || before == '|'))
        return "patterns are names, `_`, numbers, characters, `true`, `false`, constructors, tuples and records: "
               "arrays and texts are not among them";
    if (found == ':' && kind_after(p, index) == ':' && e->operators)
        return "an array is not taken apart by a pattern: its first element is `head xs`, the others are `drop 1 xs`";
    bool is_applied = index > 1 && before == TOKEN_NAME && kind_before(p, index - 1) == TOKEN_NAME;
    if (e->double_arrow && found == TOKEN_NAME && is_applied && token_at(p, index - 2)->name->text[0] >= 'A' &&
        token_at(p, index - 2)->name->text[0] <= 'Z')
        return "what a constructor is applied to is one pattern, which may be a tuple: `Box (w, h)`";
    if (found != TOKEN_DOUBLE_ARROW || !e->operators)
        return NULL;
    for (size_t i = index; i > 0 && token_at(p, i)->kind != '|' && token_at(p, i)->kind != TOKEN_MATCH; i--)
        if (is_name(p, i, "when"))
            return "patterns have no conditions: `n => if n > 0 then … else …`";
    return NULL;
}

/* Does it begin a line, behind spaces? */
static bool is_indented(const struct parser *p, size_t index) {
    const struct token *token = token_at(p, index);
    uint32_t at = token->span.begin - p->source->base;
    return token->starts_line && at > 0 && p->source->text[at - 1] == ' ';
}

static void add_hints(struct parser *p, struct diagnostic *error, size_t index, const struct expected *e) {
    struct diagnostics *d = p->diagnostics;
    int found = token_at(p, index)->kind, before = kind_before(p, index);
    const char *foreign = foreign_word_hint(p, index);
    const char *of_words = record_hint(p, index, e);
    if (!of_words)
        of_words = arm_hint(p, index, e);
    const char *known = of_words                                               ? of_words
                        : e->types && !e->operands                             ? type_hint(p, index)
                        : before == ']' && found == TOKEN_NAME && !e->operands ? type_hint(p, index)
                        : e->operands && !e->operators                         ? operator_hint(p, index)
                        : e->operators && (found == '}' || found == ',')       ? brace_hint(p, index)
                                                                               : header_hint(p, index, e);
    if (known)
        diag_hint(d, error, "%s", known);
    else if (foreign)
        diag_hint(d, error, "%s", foreign);
    else if (found == ':' && e->operators && is_cons(p, index))
        diag_hint(d, error, "`:` says a type, `(e : type)`; an array gets an element in front by `appendPull [x] xs`");
    else if (found == ':' && e->operators)
        diag_hint(d, error, "a type is put to an expression in parentheses: `(e : type)`");
    else if (found == TOKEN_EQUAL && e->equals)
        diag_hint(d, error, "names are bound with `=`; `==` compares");
    else if (found == '=' && e->double_arrow)
        diag_hint(d, error, "a function is written `fn x => e`");
    else if (found == TOKEN_ARROW && e->double_arrow)
        diag_hint(d, error, "the body of a `fn` follows `=>`; `->` is for types");
    else if ((found == TOKEN_ARROW || (found == TOKEN_DOUBLE_ARROW && !follows_parameters_of(p, index, TOKEN_LET))) &&
             e->equals)
        diag_hint(d, error, "a definition is written `fun f x = e`");
    else if (found == TOKEN_DOUBLE_ARROW && (e->arrow || e->types))
        diag_hint(d, error, "function types are written with `->`");
    else if (found == TOKEN_DOUBLE_ARROW && e->operators)
        diag_hint(d, error, "`=>` belongs to `fn x => e`");
    else if (found == ':' && e->equals && kind_after(p, index) == ':')
        diag_hint(d, error,
                  "the type of a function is said by a `sig` before it, with a single colon: `sig f : int -> int`");
    else if (found == ':' && e->equals && declaration_of(p, index) == TOKEN_VAL)
        diag_hint(d, error, "the type of a `val` goes to its value, `val x = (e : type)`, or into a `sig` before");
    else if (found == ':' && e->equals)
        diag_hint(
            d, error,
            "a type goes in parentheses, `(x : int)`; that of a result to the body, `… = (e : type)`; or both into a "
            "`sig` before");
    else if (e->equals && lacks_equals(p, index))
        diag_hint(d, error, "%s", equals_hint(p, index));
    else if (e->equals && before == TOKEN_NAME && kind_before(p, index - 1) == TOKEN_VAL)
        diag_hint(d, error, "a `val` has no parameters; `fun name x = e` defines a function");
    else if (e->equals && found == ',' && kind_before(p, index - 1) == TOKEN_LET)
        diag_hint(d, error, "a tuple is taken apart in parentheses: `let (a, b) = …`");
    else if (e->equals && e->patterns && found == ',')
        diag_hint(d, error, "parameters follow one another without commas: `f x y = e`");
    else if (e->equals && follows_parameters_of(p, index, TOKEN_LET))
        diag_hint(d, error, "a local function is written `let f x = e`");
    else if ((found == TOKEN_DIV || found == TOKEN_MOD) && e->operands)
        diag_hint(d, error, "%s stands between its operands, as in `a %s b`; as a function it is `(%s)`",
                  quote(p, token_at(p, index)->span), found == TOKEN_DIV ? "div" : "mod",
                  found == TOKEN_DIV ? "div" : "mod");
    else if (before == TOKEN_NOT && found == '.')
        diag_hint(d, error, "as a function it is `(not)`: `(not) . f`");
    else if (found == ')' && before == '!' && e->operands)
        diag_hint(d, error, "a section has its operator first; what has the array first is `fn i => xs ! i`");
    else if (found == ')' && is_binary(before) && e->operands)
        diag_hint(d, error, "a section has its operator first: `(+ 1)`; with the operator last write `fn x => e + x`");
    else if (found == '.' && e->operands && is_binary(before) && touches_previous(p, index))
        diag_hint(d, error, "operators are the same for integers and floating numbers: `x + 1.0`");
    else if (found == '.' && e->operands && kind_after(p, index) == TOKEN_INTEGER)
        diag_hint(d, error, "a number starts with a digit: `0.5`");
    else if ((found == TOKEN_VAL || found == TOKEN_FUN) && before == TOKEN_LET)
        diag_hint(d, error, "a `let` needs no further word: `let x = e in …`, and `let f x = e in …` for a function");
    else if ((found == TOKEN_VAL || found == TOKEN_FUN) && e->operands && !e->operators && is_indented(p, index))
        diag_hint(d, error, "within an expression it is `let %s = … in …`", found == TOKEN_VAL ? "x" : "f x");
    else if (found == TOKEN_LET && e->declarations)
        diag_hint(d, error, "%s", outside_hint(p, index));
    else if (before == TOKEN_IMPORT)
        diag_hint(d, error, "a path is in quotes: `import \"matrix\"`; the prelude is always imported");
    else if (e->declarations && declaration_of(p, index) == TOKEN_DATA)
        diag_hint(d, error,
                  "a constructor stands alone, or is applied to one type, which may be a tuple: `Box (float, "
                  "float)`");
    else if ((found == TOKEN_NAME || found == TOKEN_STRING) && e->declarations)
        diag_hint(d, error, "%s",
                  declaration_hint(p, index,
                                   "a definition starts with `fun`, `val`, `kernel`, `type`, `data`, "
                                   "`param`, `sig` or `import`"));
    else if (found == TOKEN_LEVEL_OPEN && e->operands && !e->operators)
        diag_hint(d, error, "`<...>` reads as a level list; put a comparison in parentheses");
    else if (before == TOKEN_LEVEL_CLOSE && !e->operators && e->operands)
        diag_hint(d, error, "`<...>` before this reads as a level list; put a comparison in parentheses");
}

/* Closers and separators for which nothing is open. */
static const char *stray_closer_hint(int kind) {
    switch (kind) {
    case ')': return "there is no open `(`";
    case ']': return "there is no open `[`";
    case '}': return "there is no open `{`";
    case TOKEN_IN: return "there is no open `let`";
    case TOKEN_THEN:
    case TOKEN_ELSE: return "there is no `if` that waits for it";
    default: return NULL;
    }
}

/* ---- the report ---- */

/* The `in` of `let val x = 1 in x`, and of a `val` within an expression: it was complained about, and then taken for a
   declaration. */
static bool closes_reported_let(const struct parser *p, size_t index) {
    if (token_at(p, index)->kind != TOKEN_IN)
        return false;
    while (index > 0 && !token_starts_declaration(token_at(p, index)->kind))
        index--;
    bool is_reported = is_indented(p, index) && diag_has_error_in(p->diagnostics, token_at(p, index)->span);
    return kind_before(p, index) == TOKEN_LET || is_reported;
}

/* `<l+1>`, whose `>` this is. */
static bool closes_level_sum(const struct parser *p, size_t index) {
    return index >= 4 && token_at(p, index)->kind == '>' && token_at(p, index - 1)->kind == TOKEN_INTEGER &&
           token_at(p, index - 2)->kind == '+' && token_at(p, index - 3)->kind == TOKEN_NAME &&
           token_at(p, index - 4)->kind == '<';
}

/* The lexer has complained about this token, or one before it in the declaration: that it does not
   fit comes of that. */
static bool follows_complaint(const struct parser *p, size_t index) {
    for (size_t i = index;; i--) {
        const struct token *token = token_at(p, i);
        if (token->is_reported || (i == index && token->kind == TOKEN_BAD_LITERAL))
            return true;
        if (i == 0 || (i < index && token_starts_declaration(token->kind)))
            return false;
    }
}

void report_syntax_error(struct parser *p, size_t index, const struct expected *expected) {
    struct diagnostics *d = p->diagnostics;
    const struct token *token = token_at(p, index);
    if (follows_complaint(p, index) || closes_reported_let(p, index))
        return;
    struct openers open = open_before(p, index);
    const struct opener *innermost = open.all.count ? &open.all.at[open.all.count - 1] : NULL;

    if (token->kind == TOKEN_BINDING) {
        /* Either a new binding after something that is not closed, or a comparison written `=`. */
        const struct token *pattern = token_at(p, index + 1);
        bool begins_operand = expected->operands && !expected->operators && innermost && innermost->kind != TOKEN_LET;
        if (!pattern->starts_line || !innermost || begins_operand) {
            report_equals(p, equals_of_binding(p, index));
            return;
        }
        token = pattern;
    }
    if (token->kind == '=' && expected->operators && !expected->equals && ends_operand(kind_before(p, index))) {
        report_equals(p, index);
        return;
    }
    if (is_comparison(token->kind) && ends_operand(kind_before(p, index)) && !expected->equals && !expected->less &&
        !expected->types) {
        struct diagnostic *error =
            diag_error(d, DIAG_CHAINED_COMPARISON, token->span, "comparisons do not chain: %s follows another one",
                       quote(p, token->span));
        const char *foreign = foreign_word_hint(p, index);
        if (closes_level_sum(p, index))
            diag_hint(d, error, "the level above `%s` is written `1+%s`", token_at(p, index - 3)->name->text,
                      token_at(p, index - 3)->name->text);
        else
            diag_hint(d, error, "%s", foreign ? foreign : "write `a < b && b < c`, or use parentheses");
        return;
    }
    const char *found = describe(p, token);
    const char *closer = innermost ? missing_closer(innermost->kind, expected) : NULL;
    if (closer && !(token->kind == ':' && innermost->kind == '(')) {
        const struct token *opener = token_at(p, innermost->index);
        struct diagnostic *error = diag_error(d, DIAG_UNCLOSED, token->span, "expected `%s` before %s", closer, found);
        diag_note(d, error, opener->span, "to close the %s opened here", quote(p, opener->span));
        if (innermost->kind == TOKEN_IF) {
            diag_hint(d, error, "a condition chooses by `if c then a else b`");
            return;
        }
        const char *parameter = innermost->kind == '(' ? parameter_hint(p, innermost->index, index) : NULL;
        if (parameter) {
            diag_hint(d, error, "%s", parameter);
            return;
        }
        const char *of_let =
            innermost->kind == TOKEN_LET && !foreign_word_hint(p, index) ? let_hint(p, innermost->index, index) : NULL;
        if (of_let) {
            diag_hint(d, error, "%s", of_let);
            return;
        }
        if (innermost->kind == '[' && token->kind == ':' && touches_previous(p, innermost->index)) {
            diag_hint(d, error, "a part of an array is `take 2 (drop 1 xs)`");
            return;
        }
        if (innermost->kind == TOKEN_THEN && !(token->kind == ':' && is_cons(p, index)) && !foreign_word_hint(p, index))
            diag_hint(d, error, "an `if` is an expression: it has a value, and so an `else`, in every case");
        add_hints(p, error, index, expected);
        return;
    }
    const char *wanted = describe_expected(p, expected);
    struct diagnostic *error = *wanted ? diag_error(d, DIAG_SYNTAX, token->span, "expected %s, found %s", wanted, found)
                                       : diag_error(d, DIAG_SYNTAX, token->span, "%s cannot stand here", found);
    const char *stray = innermost || foreign_word_hint(p, index) || expected->types ||
                                (token->kind == TOKEN_ELSE && follows_match(p, index))
                            ? NULL
                            : stray_closer_hint(token->kind);
    if (stray)
        diag_hint(d, error, "%s", stray);
    else
        add_hints(p, error, index, expected);
}

void report_stack_exhausted(struct parser *p, struct span span) {
    struct diagnostic *error = diag_error(p->diagnostics, DIAG_NESTING, span, "this is nested too deeply to be read");
    diag_hint(p->diagnostics, error, "give names to parts of it with `let`");
}
