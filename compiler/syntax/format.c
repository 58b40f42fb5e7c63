/* The layout of a program.

   note [layout]
   Where a line ends is for the programmer to say, and so is whether an empty line comes after it.
   The rest follows from the tokens: one blank between two of them, or none; and how far a line is
   indented, from the constructs that are open where it begins. These are kept on a stack of frames:

     declaration   its lines are indented by two, parameters lie below the first one
     bracket       lines go on below what follows the bracket, or, where that is the end of a line,
                   two columns to the right of what it hangs from
     let           bindings lie below the first one, `in` below `let`
     if            `then` and `else` lie below `if`, and `else if` is no deeper than the first
     fn            a body on lines of its own is indented by two from what it hangs from
     slot          an expression: operators lie below its first token, arguments two columns further,
                   or, where none is on the line of the function, from what that hangs from

   An expression that hangs is indented by the one that its line begins with: the binding, or what comes behind
   `in`, `then`, `else` or an operator at the line's beginning. So a function of several lines is as
   deep however far to the right it begins.

   The tokens that come out are lexed again and compared: a layout that changed the meaning would be
   an error of this file, and nothing is written then. */
#include "syntax/format.h"

#include <string.h>

#include "parser.h"
#include "support/fatal.h"
#include "support/utf8.h"
#include "syntax/lexer.h"
#include "syntax/syntax.h"

enum { STEP = 2, COMMENTS_APART_MOST = 32 };

enum layout_kind {
    FRAME_DECLARATION,
    FRAME_BRACKET,
    FRAME_LET,
    FRAME_BINDING,
    FRAME_IN, /* the body of a let */
    FRAME_IF,
    FRAME_MATCH,
    FRAME_FN,
    FRAME_SLOT,
};
enum progress { BEFORE, THEN_PART, ELSE_PART }; /* of an if; of a fn BEFORE its body or not */

struct layout_frame {
    enum layout_kind kind;
    enum progress progress;
    unsigned column;    /* of its first token; of an if in `else if`, of the first if */
    unsigned content;   /* LET: of its first binding; BRACKET: of what is in it; SLOT: of arguments;
                         DECLARATION: of its parameters, 0: none yet */
    unsigned hang;      /* what hangs off it is indented from here */
    bool starts_line;   /* IF: the last of `if`, `then` and `else` does; IN: `in` does */
    bool is_padded;     /* BRACKET: of a record: a blank behind the brace and before its end */
    bool is_open_ended; /* BRACKET: the last token of its line; LET: has its first binding */
};

struct line {
    const char *code;    /* "" for an empty line */
    const char *comment; /* from its dashes, behind code; or NULL */
    unsigned width;      /* of the code, in columns */
};

struct formatter {
    struct arena *arena;
    const struct source *source;
    const struct tokens *tokens;
    const spans *blocks; /* comments, `(* … *)` */
    size_t index;        /* of the token */
    size_t comment;      /* the next of the block comments */
    VEC(struct layout_frame) frames;
    VEC(struct line) lines;
    struct text code;    /* of the line that is being made */
    const char *trailer; /* its comment, or NULL */
    unsigned column, indent;
    bool has_line, after_comment;
    bool wants_slot;    /* the next token begins an expression */
    bool wants_binding; /* the next token begins a binding */
    bool in_quantifier; /* after `forall`, up to its point */
    bool in_level;      /* between its brackets */
    bool was_prefix;    /* the last token is a sign before its operand */
    bool ends_operator; /* the last token is an infix operator, */
    bool leads;         /* at the beginning of its line */
};

/* ---- tokens ---- */

static bool is_opener(int kind) { return kind == '(' || kind == '[' || kind == '{' || kind == TOKEN_LEVEL_OPEN; }

static bool is_closer(int kind) { return kind == ')' || kind == ']' || kind == '}' || kind == TOKEN_LEVEL_CLOSE; }

static bool ends_operand(int kind) {
    return kind == TOKEN_NAME || kind == TOKEN_TYPE_VARIABLE || kind == TOKEN_CONFIG || kind == TOKEN_INTEGER ||
           kind == TOKEN_FLOATING || kind == TOKEN_TRUE || kind == TOKEN_FALSE || kind == TOKEN_STRING || kind == '_' ||
           is_closer(kind);
}

static bool is_operator(int kind) {
    switch (kind) {
    case TOKEN_PIPE:
    case TOKEN_OR:
    case TOKEN_AND:
    case TOKEN_EQUAL:
    case TOKEN_NOT_EQUAL:
    case TOKEN_LESS_EQUAL:
    case TOKEN_GREATER_EQUAL:
    case TOKEN_SHIFT_LEFT:
    case TOKEN_SHIFT_RIGHT:
    case TOKEN_DIV:
    case TOKEN_MOD:
    case TOKEN_ARROW:
    case TOKEN_DOUBLE_ARROW:
    case TOKEN_WHERE: return true;
    default: return kind > 0 && kind < 128 && strchr("<>|^&+-*/%.!", kind);
    }
}

static int kind_at(const struct formatter *f, size_t index) { return f->tokens->at[index].kind; }

/* The kind of the token before this one, markers left out; 0: there is none. */
static int kind_before(const struct formatter *f) {
    size_t i = f->index;
    while (i > 0 && kind_at(f, i - 1) == TOKEN_BINDING)
        i--;
    return i > 0 ? kind_at(f, i - 1) : 0;
}

static int kind_after(const struct formatter *f) {
    size_t i = f->index + 1;
    while (i < f->tokens->count && kind_at(f, i) == TOKEN_BINDING)
        i++;
    return i < f->tokens->count ? kind_at(f, i) : 0;
}

/* Is the brace a record's, and not that of the choices of a param, which are literals? */
static bool opens_record(const struct formatter *f) {
    int after = kind_after(f);
    return kind_at(f, f->index) == '{' &&
           !(kind_before(f) == TOKEN_IN && (after == TOKEN_INTEGER || after == TOKEN_FLOATING || after == TOKEN_TRUE ||
                                            after == TOKEN_FALSE || after == '-'));
}

/* A `-` or `~` before its operand. */
static bool is_prefix(const struct formatter *f) {
    int kind = kind_at(f, f->index);
    return kind == '~' || (kind == '-' && !ends_operand(kind_before(f)));
}

static bool needs_blank(const struct formatter *f) {
    int before = kind_before(f), kind = kind_at(f, f->index);
    if (f->was_prefix)
        return kind == '-'; /* two would begin a comment */
    if (before == '(' && kind == '*')
        return kind_after(f) != ')'; /* so would they: one in parentheses, of the other kind */
    if (before == TOKEN_FIELD_POINT || kind == TOKEN_FIELD_POINT)
        return false;
    if (before == '{' || kind == '}')
        return f->frames.count > 0 && f->frames.at[f->frames.count - 1].is_padded;
    if (is_opener(before) || is_closer(kind) || kind == ',')
        return false;
    if (kind == TOKEN_LEVEL_OPEN && before == ']')
        return false; /* of a type */
    if (f->in_level && (kind == '+' || before == '+'))
        return false;
    return !(kind == '.' && f->in_quantifier);
}

/* ---- lines ---- */

static unsigned width_of(const char *text, size_t length) {
    unsigned width = 0;
    for (size_t at = 0, bytes; at < length; at += bytes)
        width += utf8_width(utf8_decode((const unsigned char *)text + at, length - at, &bytes));
    return width;
}

static void end_line(struct formatter *f) {
    if (!f->has_line)
        return;
    struct line line = {text_string(&f->code), f->trailer, f->column};
    vec_push(f->arena, &f->lines, line);
    f->has_line = false;
}

static void begin_line(struct formatter *f, unsigned indent, bool after_empty) {
    end_line(f);
    if (after_empty && f->lines.count)
        vec_push(f->arena, &f->lines, (struct line){.code = ""});
    text_init(&f->code, f->arena);
    for (unsigned i = 0; i < indent; i++)
        text_add(&f->code, " ");
    f->trailer = NULL;
    f->column = f->indent = indent;
    f->has_line = true;
    f->after_comment = false;
}

static void add(struct formatter *f, const char *text, size_t length) {
    text_add_n(&f->code, text, length);
    const char *end = text + length, *from = end;
    while (from > text && from[-1] != '\n')
        from--;
    f->column = (from > text ? 0 : f->column) + width_of(from, (size_t)(end - from));
}

/* The column does not say so behind a comment of several lines. */
static bool is_at_line_start(const struct formatter *f) { return f->code.length == f->indent; }

static void add_blank(struct formatter *f) {
    if (!is_at_line_start(f))
        add(f, " ", 1);
}

/* ---- what is between two tokens ---- */

struct gap {
    const char *at, *end;
    unsigned newlines; /* before `at` */
};

static void skip_blanks(struct gap *gap) {
    gap->newlines = 0;
    for (; gap->at < gap->end && strchr(" \t\r\n\f\v", *gap->at); gap->at++)
        gap->newlines += *gap->at == '\n';
}

/* The comment at the gap's beginning, without blanks at its end; it is then behind it. */
static struct gap next_comment(struct formatter *f, struct gap *gap) {
    struct gap comment = *gap;
    uint32_t place = f->source->base + (uint32_t)(gap->at - (const char *)f->source->text);
    const spans *blocks = f->blocks;
    while (f->comment < blocks->count && blocks->at[f->comment].begin < place)
        f->comment++;
    if (f->comment < blocks->count && blocks->at[f->comment].begin == place) {
        gap->at += blocks->at[f->comment].end - place;
        comment.end = gap->at;
        return comment;
    }
    const char *newline = memchr(gap->at, '\n', (size_t)(gap->end - gap->at));
    gap->at = comment.end = newline ? newline : gap->end;
    while (comment.end > comment.at && strchr(" \t\r\f\v", comment.end[-1]))
        comment.end--;
    return comment;
}

/* Comments go where the next token goes that begins a line, or stay on the line that they are on.
   */
static void add_gap(struct formatter *f, struct gap gap, unsigned indent, bool begins_line) {
    skip_blanks(&gap);
    while (gap.at < gap.end) {
        unsigned newlines = gap.newlines;
        struct gap comment = next_comment(f, &gap);
        size_t length = (size_t)(comment.end - comment.at);
        bool is_line = comment.at[0] == '-';
        if (!f->has_line || newlines)
            begin_line(f, indent, newlines > 1);
        if (is_line && !is_at_line_start(f)) {
            f->trailer = arena_strndup(f->arena, comment.at, length);
        } else {
            add_blank(f);
            add(f, comment.at, length);
            f->after_comment = true;
        }
        skip_blanks(&gap);
    }
    if (!f->has_line || gap.newlines || begins_line)
        begin_line(f, indent, gap.newlines > 1);
}

/* ---- frames ---- */

static struct layout_frame *top(struct formatter *f) { return &f->frames.at[f->frames.count - 1]; }

static struct layout_frame *push(struct formatter *f, struct layout_frame frame) {
    vec_push(f->arena, &f->frames, frame);
    return top(f);
}

/* The innermost frame of that kind and progress, within the innermost bracket; NULL: none. */
static struct layout_frame *find(const struct formatter *f, enum layout_kind kind, enum progress progress) {
    for (size_t i = f->frames.count; i-- > 0;) {
        struct layout_frame *frame = &f->frames.at[i];
        if (frame->kind == kind && frame->progress == progress)
            return frame;
        if (frame->kind == FRAME_BRACKET)
            return NULL;
    }
    return NULL;
}

/* Closes all that is open within the frame. */
static void return_to(struct formatter *f, const struct layout_frame *frame) {
    f->frames.count = (size_t)(frame - f->frames.at) + 1;
}

/* Where the innermost expression hangs what it has on further lines. */
static unsigned hang_of(const struct formatter *f) {
    for (size_t i = f->frames.count; i-- > 0;)
        if (f->frames.at[i].kind == FRAME_SLOT) {
            unsigned hang = f->frames.at[i].hang;
            return hang > f->indent ? hang : f->indent;
        }
    return 0;
}

/* The indentation of a token that begins a line, which may begin an expression. */
static unsigned slot_indent(struct formatter *f) {
    struct layout_frame *owner = top(f);
    switch (owner->kind) {
    case FRAME_BRACKET:
    case FRAME_FN:
    case FRAME_IN:
    case FRAME_MATCH: return owner->content;
    default: return owner->column + STEP;
    }
}

static unsigned continued_indent(struct formatter *f) {
    const struct layout_frame *frame = top(f);
    int kind = kind_at(f, f->index);
    bool is_parameter = frame->content && (is_opener(kind) || ends_operand(kind));
    if (frame->kind != FRAME_SLOT)
        return frame->kind == FRAME_BRACKET || is_parameter ? frame->content : frame->column + STEP;
    bool goes_on = f->ends_operator || (is_operator(kind) && !is_prefix(f));
    return goes_on ? frame->column : frame->content;
}

/* Closes the frames that this token ends; how far it is indented if it begins a line. */
static unsigned arrive(struct formatter *f) {
    int kind = kind_at(f, f->index);
    struct layout_frame *frame = NULL;
    if (kind == 0 || token_starts_declaration(kind)) {
        f->frames.count = 0;
        f->wants_slot = f->wants_binding = false;
        return 0;
    }
    if (kind == TOKEN_IN && (frame = find(f, FRAME_LET, BEFORE))) {
        return_to(f, frame);
        return frame->column;
    }
    if ((kind == TOKEN_THEN && (frame = find(f, FRAME_IF, BEFORE))) ||
        (kind == TOKEN_ELSE && (frame = find(f, FRAME_IF, THEN_PART)))) {
        return_to(f, frame);
        return frame->column;
    }
    if ((kind == TOKEN_WITH && (frame = find(f, FRAME_MATCH, BEFORE))) ||
        (kind == TOKEN_BAR && (frame = find(f, FRAME_MATCH, THEN_PART)))) {
        return_to(f, frame);
        return kind == TOKEN_WITH ? frame->column + STEP : frame->column;
    }
    if (is_closer(kind) || kind == ',' || kind == ':' || kind == TOKEN_WITH) {
        for (size_t i = f->frames.count; !frame && i-- > 0;)
            if (f->frames.at[i].kind == FRAME_BRACKET)
                frame = &f->frames.at[i];
        if (frame) {
            return_to(f, frame);
            f->wants_slot = false;
            if (kind == ':' || kind == TOKEN_WITH)
                return frame->content;
            return frame->is_open_ended ? frame->hang : frame->column;
        }
    }
    if (f->wants_binding)
        return top(f)->is_open_ended ? top(f)->content : top(f)->column + STEP;
    return f->wants_slot ? slot_indent(f) : continued_indent(f);
}

/* A body on lines of its own may lie to the left of what its function is part of: what comes after
   it, too, then. */
static void draw_left(struct formatter *f, unsigned column) {
    for (size_t i = 0; i < f->frames.count; i++) {
        struct layout_frame *frame = &f->frames.at[i];
        if (frame->kind != FRAME_SLOT && frame->kind != FRAME_BRACKET)
            continue;
        frame->column = frame->column < column ? frame->column : column;
        frame->content = frame->content < column ? frame->content : column;
    }
}

/* Where the first token of an expression is now, the frame of that. */
static void open_slot(struct formatter *f, bool starts_line) {
    struct layout_frame *owner = top(f);
    struct layout_frame slot = {.kind = FRAME_SLOT, .column = f->column, .hang = f->column};
    if (!starts_line && !owner->starts_line)
        slot.hang = owner->hang;
    if (!starts_line && owner->kind == FRAME_DECLARATION)
        slot.column = STEP;
    bool is_alone = f->tokens->at[f->index + 1].starts_line;
    slot.content = (is_alone || owner->kind == FRAME_DECLARATION ? slot.hang : slot.column) + STEP;
    if (starts_line && owner->kind == FRAME_FN)
        draw_left(f, f->column);
    if (owner->kind == FRAME_BRACKET && !owner->is_open_ended)
        owner->content = owner->column + 1;
    push(f, slot);
    f->wants_slot = false;
}

static void open_if(struct formatter *f, bool starts_line) {
    unsigned column = f->column;
    if (!starts_line && kind_before(f) == TOKEN_ELSE && f->frames.count >= 2)
        column = f->frames.at[f->frames.count - 2].column; /* below the slot: the if before it */
    push(f, (struct layout_frame){.kind = FRAME_IF, .column = column, .hang = column, .starts_line = starts_line});
    f->wants_slot = true;
}

/* The body of a let, where it begins a line: below an `in` that did, indented; behind one at the
   end of a line, as if there were no let. */
static void open_in(struct formatter *f, bool starts_line) {
    struct layout_frame let = *top(f);
    f->frames.count--;
    unsigned content = let.starts_line ? let.column : hang_of(f) + STEP;
    if (starts_line)
        content = let.column + STEP;
    push(f, (struct layout_frame){.kind = FRAME_IN,
                                  .column = let.column,
                                  .hang = hang_of(f),
                                  .content = content,
                                  .starts_line = starts_line});
    f->wants_slot = true;
}

/* The token opens what follows it, or goes on to the next part of what is open. */
static void open_by(struct formatter *f, int kind, bool starts_line) {
    struct layout_frame *frame;
    switch (kind) {
    case '(':
    case '[':
    case '{':
    case TOKEN_LEVEL_OPEN: {
        unsigned hang = starts_line ? f->column : hang_of(f);
        struct token *next = &f->tokens->at[f->index + 1];
        push(f, (struct layout_frame){.kind = FRAME_BRACKET,
                                      .column = f->column,
                                      .hang = hang,
                                      .content = hang + STEP,
                                      .starts_line = starts_line,
                                      .is_padded = opens_record(f),
                                      .is_open_ended = next->starts_line});
        f->wants_slot = true;
        break;
    }
    case TOKEN_LET:
        push(f, (struct layout_frame){.kind = FRAME_LET, .column = f->column, .starts_line = starts_line});
        f->wants_binding = true;
        break;
    case TOKEN_IN:
        if (top(f)->kind == FRAME_LET)
            open_in(f, starts_line);
        break;
    case TOKEN_IF: open_if(f, starts_line); break;
    case TOKEN_THEN:
    case TOKEN_ELSE:
        top(f)->progress = kind == TOKEN_THEN ? THEN_PART : ELSE_PART;
        top(f)->starts_line = starts_line;
        f->wants_slot = true;
        break;
    case TOKEN_FN: {
        unsigned hang = hang_of(f);
        struct layout_frame fn = {.kind = FRAME_FN, .column = f->column, .hang = hang};
        fn.content = hang + STEP;
        push(f, fn);
        break;
    }
    case TOKEN_MATCH: {
        struct layout_frame match = {.kind = FRAME_MATCH, .column = f->column, .hang = f->column};
        match.content = f->column + 2 * STEP;
        push(f, match);
        f->wants_slot = true;
        break;
    }
    case TOKEN_DOUBLE_ARROW:
        if (!find(f, FRAME_FN, BEFORE) && (frame = find(f, FRAME_MATCH, THEN_PART))) {
            return_to(f, frame);
            f->wants_slot = true;
        } else if ((frame = find(f, FRAME_FN, BEFORE))) {
            return_to(f, frame);
            frame->progress = THEN_PART;
            f->wants_slot = true;
        }
        break;
    case '=':
        for (size_t i = f->frames.count; i-- > 0;) {
            frame = &f->frames.at[i];
            if (frame->kind == FRAME_BRACKET)
                break; /* of a pattern, or a slip */
            if (frame->kind == FRAME_BINDING || frame->kind == FRAME_DECLARATION) {
                return_to(f, frame);
                f->wants_slot = true;
                break;
            }
        }
        break;
    case TOKEN_WITH:
        if (top(f)->kind == FRAME_MATCH) {
            top(f)->progress = THEN_PART;
            break;
        }
        f->wants_slot = top(f)->kind == FRAME_BRACKET;
        break;
    case ':':
    case ',': f->wants_slot = top(f)->kind == FRAME_BRACKET || top(f)->kind == FRAME_DECLARATION; break;
    default: break;
    }
}

/* The token stands at f->column: it closes what ends there, or takes the place that is wanted, and opens others. */
static void leave(struct formatter *f, bool starts_line) {
    int kind = kind_at(f, f->index);
    if (token_starts_declaration(kind)) {
        push(f, (struct layout_frame){.kind = FRAME_DECLARATION});
        return;
    }
    if (is_closer(kind)) {
        if (top(f)->kind == FRAME_BRACKET)
            f->frames.count--;
        return;
    }
    if (f->wants_binding) {
        struct layout_frame *let = top(f);
        if (!let->is_open_ended)
            let->content = f->column;
        let->is_open_ended = true;
        push(f, (struct layout_frame){.kind = FRAME_BINDING, .column = f->column, .hang = f->column});
        f->wants_binding = false;
    } else if (f->wants_slot && top(f)->is_padded && kind_after(f) == '=') {
        struct layout_frame *record = top(f);
        if (!record->is_open_ended && kind_before(f) != ',') /* the first field: others are below it */
            record->content = f->column;
        push(f, (struct layout_frame){.kind = FRAME_BINDING, .column = f->column, .hang = f->column});
        f->wants_slot = false;
    } else if (f->wants_slot) {
        open_slot(f, starts_line);
    } else if (f->leads && top(f)->kind == FRAME_SLOT) {
        top(f)->hang = f->column;
        top(f)->content = f->column + STEP;
    } else if (kind_before(f) == TOKEN_NAME && !top(f)->content) {
        top(f)->content = f->column;
    }
    open_by(f, kind, starts_line);
}

/* ---- all of a source ---- */

static void add_token(struct formatter *f, struct gap gap) {
    const struct token *token = &f->tokens->at[f->index];
    const char *text = (const char *)f->source->text + (token->span.begin - f->source->base);
    unsigned indent = arrive(f);
    add_gap(f, gap, indent, token_starts_declaration(token->kind));
    bool starts_line = is_at_line_start(f), prefix = is_prefix(f);
    if (f->after_comment || needs_blank(f))
        add_blank(f);
    f->after_comment = false;
    leave(f, starts_line);
    add(f, text, token->span.end - token->span.begin);
    f->ends_operator = is_operator(token->kind) && !prefix && kind_before(f) != '(';
    f->leads = f->ends_operator && starts_line;
    f->was_prefix = prefix;
    if (token->kind == TOKEN_LEVEL_OPEN || token->kind == TOKEN_LEVEL_CLOSE)
        f->in_level = token->kind == TOKEN_LEVEL_OPEN;
    if (token->kind == TOKEN_FORALL)
        f->in_quantifier = true;
    else if (token->kind == '.' || token_starts_declaration(token->kind))
        f->in_quantifier = false;
}

static void open_binding(struct formatter *f) {
    struct layout_frame *let = find(f, FRAME_LET, BEFORE);
    if (!let)
        return;
    return_to(f, let);
    f->wants_binding = true;
    f->wants_slot = false;
}

static void add_tokens(struct formatter *f) {
    const char *text = (const char *)f->source->text;
    const char *behind = text;
    if (f->source->length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        behind += 3; /* a byte order mark */
    for (f->index = 0; kind_at(f, f->index) != 0; f->index++) {
        const struct token *token = &f->tokens->at[f->index];
        if (token->kind == TOKEN_BINDING) {
            open_binding(f);
            continue;
        }
        add_token(f, (struct gap){behind, text + (token->span.begin - f->source->base), 0});
        behind = text + (token->span.end - f->source->base);
    }
    struct gap rest = {behind, text + f->source->length, 0};
    add_gap(f, rest, 0, false);
    end_line(f);
    while (f->lines.count && !*f->lines.at[f->lines.count - 1].code)
        f->lines.count--;
}

/* Comments behind the code of lines that follow each other begin at one column, but where these
   lines are too unlike. */
static size_t aligned_from(const struct formatter *f, size_t first, unsigned *column) {
    unsigned least = f->lines.at[first].width, most = least;
    size_t end = first;
    for (; end < f->lines.count && f->lines.at[end].comment; end++) {
        unsigned width = f->lines.at[end].width;
        unsigned low = width < least ? width : least, high = width > most ? width : most;
        if (high - low > COMMENTS_APART_MOST)
            break;
        least = low;
        most = high;
    }
    *column = most + 1;
    return end;
}

static void print_lines(struct text *out, const struct formatter *f) {
    size_t aligned = 0;
    unsigned column = 0;
    for (size_t i = 0; i < f->lines.count; i++) {
        const struct line *line = &f->lines.at[i];
        text_add(out, line->code);
        if (line->comment) {
            if (i >= aligned)
                aligned = aligned_from(f, i, &column);
            for (unsigned at = line->width; at < column; at++)
                text_add(out, " ");
            text_add(out, line->comment);
        }
        text_add(out, "\n");
    }
}

static void read_tokens(struct arena *arena, struct symbols *symbols, const struct source *source,
                        struct tokens *tokens, spans *blocks) {
    struct diagnostics *unread = diagnostics_new(arena, sources_new(arena));
    lex_source(arena, symbols, source, unread, tokens);
    *blocks = tokens->comments;
    mark_layout(arena, symbols, source, unread, tokens);
}

static bool is_same_token(const struct source *a, const struct token *x, const struct source *b,
                          const struct token *y) {
    size_t length = x->span.end - x->span.begin;
    return x->kind == y->kind && length == y->span.end - y->span.begin &&
           memcmp(a->text + (x->span.begin - a->base), b->text + (y->span.begin - b->base), length) == 0;
}

/* The tokens of the layout are those of the source. */
static void verify(struct formatter *f, struct symbols *symbols, const char *text, size_t length) {
    struct sources *sources = sources_new(f->arena);
    const struct source *source = source_add(sources, f->source->path, text, length);
    struct tokens tokens;
    spans blocks;
    read_tokens(f->arena, symbols, source, &tokens, &blocks);
    bool is_same = tokens.count == f->tokens->count && blocks.count == f->blocks->count;
    for (size_t i = 0; is_same && i < tokens.count; i++)
        is_same = is_same_token(f->source, &f->tokens->at[i], source, &tokens.at[i]);
    if (!is_same)
        fatal_internal("the formatter", "the layout of %s has other tokens", f->source->path);
}

bool syntax_format(struct text *out, struct symbols *symbols, const struct source *source,
                   struct diagnostics *diagnostics) {
    size_t errors = diag_error_count(diagnostics);
    syntax_parse(out->arena, symbols, source, diagnostics);
    if (diag_error_count(diagnostics) > errors)
        return false;
    struct tokens tokens;
    spans blocks;
    read_tokens(out->arena, symbols, source, &tokens, &blocks);
    struct formatter f = {.arena = out->arena, .source = source, .tokens = &tokens, .blocks = &blocks};
    add_tokens(&f);
    struct text text;
    text_init(&text, out->arena);
    print_lines(&text, &f);
    verify(&f, symbols, text_string(&text), text.length);
    text_add_n(out, text_string(&text), text.length);
    return true;
}
