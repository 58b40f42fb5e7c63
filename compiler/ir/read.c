/* Reading the IR from text, by hand: a line is an instruction, `{` begins a region and `}` ends it; see text.h. The first
   mistake ends it. Numbers that the text gives values are kept; names get numbers behind these. */
#include <ctype.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "ir/range.h"
#include "ir/text.h"
#include "support/map.h"

enum { MOST_NUMBERS = 1 << 22, MOST_ELEMENTS = 1 << 20, DEEPEST_REGION = 1000 };

enum token_kind {
    TOKEN_WORD,
    TOKEN_VALUE,
    TOKEN_BUFFER,
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_SIGN,
    TOKEN_LINE,
    TOKEN_END
};
struct token {
    enum token_kind kind;
    const char *text; /* without %, @ and quotes; a sign is a character, or `..` */
    struct span span;
};

typedef VEC(struct ir_value *) value_list;

struct path;
struct where { /* a site is in its program */
    struct path *path;
    unsigned line, column;
    struct ir_kernel *kernel;
    size_t site;
};

struct reader {
    struct arena *arena;
    struct symbols *symbols;
    struct sources *sources;
    const struct source *source;
    struct diagnostics *diagnostics;
    jmp_buf failure;
    size_t at; /* in the source's text */
    struct token token, before;
    int depth;         /* of regions */
    struct map *paths; /* of the places of checks: symbol → struct path */
    VEC(struct where) wheres;

    /* Of a kernel: */
    struct ir_kernel *kernel;
    struct map *values, *buffers, *constants; /* symbol → them */
    struct map *is_numbered;                  /* values whose number the text gives */
    struct map *unknown;                      /* values that nothing makes, and what is computed of them */
    value_list all;                           /* values, constants too */
    uint32_t next_buffer;
    struct {
        VEC(struct ir_buffer *) of;
        VEC(struct token) is;
    } capacities; /* that are values, defined later */
};

/* A file that checks are said to be in: of its text no more is known than how long it is at least. */
struct path {
    const char *path;
    unsigned lines, columns;
    const struct source *source;
};

/* ---- mistakes ---- */

static _Noreturn void fail(struct reader *r, struct span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static _Noreturn void fail(struct reader *r, struct span span, const char *format, ...) {
    va_list arguments;
    struct text text;
    text_init(&text, r->arena);
    va_start(arguments, format);
    text_vprintf(&text, format, arguments);
    va_end(arguments);
    diag_error(r->diagnostics, DIAG_IR_TEXT, span, "%s", text_string(&text));
    longjmp(r->failure, 1);
}

/* ---- tokens ---- */

static bool is_word(int c) { return isalnum(c) || c == '_' || c == '\'' || c == '$'; }

static struct span span_from(const struct reader *r, size_t begin) {
    size_t end = r->at > begin ? r->at : begin + 1;
    return (struct span){r->source->base + (uint32_t)begin, r->source->base + (uint32_t)end};
}

static void read_string(struct reader *r, struct text *text) {
    const char *source = (const char *)r->source->text;
    size_t begin = r->at++;
    for (;; r->at++) {
        char c = source[r->at];
        if (r->at >= r->source->length || c == '\n')
            fail(r, span_from(r, begin), "this string has no end");
        if (c == '"')
            break;
        if (c == '\\' && source[r->at + 1] == 'x' && isxdigit((unsigned char)source[r->at + 2]) &&
            isxdigit((unsigned char)source[r->at + 3])) {
            char digits[3] = {source[r->at + 2], source[r->at + 3], 0};
            c = (char)strtol(digits, NULL, 16);
            r->at += 3;
        } else if (c == '\\' && (source[r->at + 1] == '"' || source[r->at + 1] == '\\')) {
            c = source[++r->at];
        }
        if (c == '\0')
            fail(r, span_from(r, begin), "a string has no zeros in it");
        text_add_n(text, &c, 1);
    }
    r->at++;
}

static void take_while(struct reader *r, bool numbers) {
    const char *text = (const char *)r->source->text;
    size_t begin = r->at;
    for (;; r->at++) {
        char c = text[r->at];
        bool is_exponents = numbers && (c == '+' || c == '-') && r->at > begin && text[r->at - 1] == 'e';
        bool is_point = numbers && c == '.' && text[r->at + 1] != '.';
        bool is_hyphen = !numbers && c == '-' && isalpha((unsigned char)text[r->at + 1]); /* compare-exchange */
        if (!is_word((unsigned char)c) && !is_exponents && !is_point && !is_hyphen)
            return;
    }
}

static void next(struct reader *r) {
    const char *text = (const char *)r->source->text;
    r->before = r->token;
    while (text[r->at] == ' ' || text[r->at] == '\t' || text[r->at] == '\r')
        r->at++;
    if (text[r->at] == ';') /* a comment */
        while (r->at < r->source->length && text[r->at] != '\n')
            r->at++;
    size_t begin = r->at, from = begin;
    char c = text[begin];
    struct text string;
    text_init(&string, r->arena);
    enum token_kind kind = TOKEN_SIGN;
    if (begin >= r->source->length) {
        kind = TOKEN_END;
    } else if (c == '\n') {
        kind = TOKEN_LINE;
        r->at++;
    } else if (c == '"') {
        kind = TOKEN_STRING;
        read_string(r, &string);
    } else if (c == '%' || c == '@') {
        kind = c == '%' ? TOKEN_VALUE : TOKEN_BUFFER;
        from = ++r->at;
        take_while(r, false);
        if (r->at == from)
            fail(r, span_from(r, begin), "`%c` wants a number or a name behind it", c);
    } else if (isdigit((unsigned char)c) || c == '#' || (c == '-' && isdigit((unsigned char)text[begin + 1]))) {
        kind = TOKEN_NUMBER;
        r->at++;
        take_while(r, true);
    } else if (is_word((unsigned char)c)) {
        kind = TOKEN_WORD;
        take_while(r, false);
    } else {
        r->at += 1 + (c == '.' && text[begin + 1] == '.');
    }
    const char *word = kind == TOKEN_STRING ? text_string(&string) : arena_strndup(r->arena, text + from, r->at - from);
    r->token = (struct token){kind, word, span_from(r, begin)};
}

static const char *shown(const struct token *token) {
    return token->kind == TOKEN_END    ? "the end of the file"
           : token->kind == TOKEN_LINE ? "the end of the line"
                                       : token->text;
}

static _Noreturn void expected(struct reader *r, const char *what) {
    bool is_end = r->token.kind == TOKEN_END || r->token.kind == TOKEN_LINE;
    fail(r, r->token.span, is_end ? "%s is expected, and %s comes" : "%s is expected, not `%s`", what,
         shown(&r->token));
}

static bool is(const struct reader *r, const char *text) {
    return (r->token.kind == TOKEN_WORD || r->token.kind == TOKEN_SIGN) && strcmp(r->token.text, text) == 0;
}

static bool accept(struct reader *r, const char *text) {
    bool is_there = is(r, text);
    if (is_there)
        next(r);
    return is_there;
}

static void expect(struct reader *r, const char *text) {
    if (!accept(r, text))
        expected(r, arena_printf(r->arena, "`%s`", text));
}

static const char *take(struct reader *r, enum token_kind kind, const char *what) {
    if (r->token.kind != kind)
        expected(r, what);
    next(r);
    return r->before.text;
}

static void end_line(struct reader *r) {
    if (r->token.kind != TOKEN_LINE && r->token.kind != TOKEN_END)
        expected(r, "the end of the line");
    while (r->token.kind == TOKEN_LINE)
        next(r);
}

static int64_t take_integer(struct reader *r, int64_t least, int64_t most) {
    const char *text = take(r, TOKEN_NUMBER, "a number");
    char *end;
    long long number = strtoll(text, &end, 10);
    if (*end || number < least || number > most)
        fail(r, r->before.span, "a number from %lld to %lld is expected", (long long)least, (long long)most);
    return number;
}

/* ---- constants ---- */

static struct ir_value *constant(struct reader *r, enum base base, union scalar scalar) {
    symbol key =
        symbol_of(r->symbols, arena_printf(r->arena, "#%d:%llx", (int)base, (unsigned long long)scalar.natural));
    struct ir_value *value = map_get(r->constants, key);
    if (value)
        return value;
    value = ARENA_NEW(r->arena, struct ir_value);
    struct range range = range_of_constant(base, scalar);
    *value =
        (struct ir_value){.base = base, .low = range.low, .high = range.high, .is_constant = true, .constant = scalar};
    map_set(r->constants, key, value);
    vec_push(r->arena, &r->all, value);
    return value;
}

/* `3`, `-2i64`, `1.5f32`, `#7ff8000000000000.f64`: as ir_print_constant and write.c have them. */
static union scalar read_number(struct reader *r, const struct token *token, enum base *base) {
    const char *text = token->text;
    size_t digits = *text == '#' ? strcspn(text, ".") : strcspn(text, "iufb");
    const char *suffix = text + digits + (*text == '#' && text[digits] == '.');
    const char *number = arena_strndup(r->arena, text, digits);
    bool has_point = strpbrk(number, ".e") != NULL;
    *base = has_point ? BASE_F64 : BASE_I32;
    if (*suffix && !base_of_name(suffix, base))
        fail(r, token->span, "no type of numbers is called `%s`", suffix);
    union scalar scalar = {0};
    char *end;
    if (*text == '#') {
        scalar.natural = strtoull(number + 1, &end, 16);
        if (!base_info[*base].is_floating || *end || end == number + 1)
            fail(r, token->span,
                 "the bits of a floating number are digits, a point and its type: `#7ff0000000000000.f32`");
        return scalar;
    }
    if (base_info[*base].is_floating) {
        bool is_negative = *number == '-';
        struct floating read = floating_read(number + is_negative, &end);
        scalar.floating = floating_in(base_info[*base].format, is_negative ? floating_negated(read) : read);
    } else if (has_point) {
        fail(r, token->span, "`%s` is no number of type %s", text, base_info[*base].name);
    } else if (*base == BASE_U64) {
        scalar.natural = strtoull(number, &end, 10);
    } else {
        scalar.integer = strtoll(number, &end, 10);
    }
    if (*end)
        fail(r, token->span, "`%s` is no number", text);
    union scalar wrapped = base_wrap(*base, scalar);
    if (!base_info[*base].is_floating &&
        (wrapped.natural != scalar.natural || (*number == '-' && !base_info[*base].is_signed)))
        fail(r, token->span, "`%s` is no number of type %s", text, base_info[*base].name);
    return wrapped;
}

static struct ir_value *read_constant(struct reader *r) {
    enum base base = BASE_BOOL;
    if (is(r, "true") || is(r, "false")) {
        bool truth = is(r, "true");
        next(r);
        return constant(r, base, (union scalar){.integer = truth});
    }
    take(r, TOKEN_NUMBER, "a value");
    union scalar scalar = read_number(r, &r->before, &base);
    return constant(r, base, scalar);
}

/* ---- values ---- */

static struct ir_value *value_named(struct reader *r, const struct token *token) {
    struct ir_value *value = map_get(r->values, symbol_of(r->symbols, token->text));
    if (!value)
        fail(r, token->span, "%%%s has not been defined before", token->text);
    return value;
}

static struct ir_value *read_value(struct reader *r) {
    if (r->token.kind != TOKEN_VALUE)
        return read_constant(r);
    next(r);
    return value_named(r, &r->before);
}

static void read_values(struct reader *r, value_list *list) {
    do
        vec_push(r->arena, list, read_value(r));
    while (accept(r, ","));
}

static bool is_base(const struct reader *r) {
    enum base base;
    return r->token.kind == TOKEN_WORD && base_of_name(r->token.text, &base);
}

static enum base read_base(struct reader *r) {
    enum base base;
    if (!is_base(r))
        expected(r, "a type of numbers");
    base_of_name(r->token.text, &base);
    next(r);
    return base;
}

/* Its number, where the text says one: %12. */
static bool number_of(struct reader *r, const struct token *token, uint32_t *number) {
    if (token->text[strspn(token->text, "0123456789")] || strlen(token->text) > 9)
        return false;
    unsigned long value = strtoul(token->text, NULL, 10);
    if (value >= MOST_NUMBERS)
        fail(r, token->span, "numbers go to %d", MOST_NUMBERS - 1);
    *number = (uint32_t)value;
    return true;
}

static int64_t take_bound(struct reader *r) {
    const char *text = take(r, TOKEN_NUMBER, "a number");
    char *end;
    long long number = strtoll(text, &end, 10);
    if (*end)
        fail(r, r->before.span, "`%s` is no integer", text);
    return number;
}

/* TYPE %12 "name" in 0..5 */
static struct ir_value *read_definition(struct reader *r, struct ir_region *region) {
    struct ir_value *value = ARENA_NEW(r->arena, struct ir_value);
    value->base = read_base(r);
    value->region = region;
    take(r, TOKEN_VALUE, "a value, as in `%12`,");
    struct token token = r->before;
    symbol name = symbol_of(r->symbols, token.text);
    if (map_has(r->values, name))
        fail(r, token.span, "%%%s is defined twice", token.text);
    map_set(r->values, name, value);
    vec_push(r->arena, &r->all, value);
    if (number_of(r, &token, &value->id))
        map_set(r->is_numbered, value, value);
    else
        value->name = token.text;
    if (r->token.kind == TOKEN_STRING) {
        value->name = r->token.text;
        next(r);
    }
    struct range all = range_of_base(value->base);
    value->low = all.low;
    value->high = all.high;
    if (accept(r, "in")) {
        value->low = take_bound(r);
        expect(r, "..");
        value->high = take_bound(r);
        if (base_info[value->base].is_floating || value->low < all.low || value->high > all.high ||
            value->low > value->high)
            fail(r, r->before.span, "no %s lies between these", base_info[value->base].name);
    }
    return value;
}

/* ---- buffers ---- */

static struct ir_buffer *read_buffer_use(struct reader *r) {
    take(r, TOKEN_BUFFER, "a buffer, as in `@3`,");
    struct ir_buffer *buffer = map_get(r->buffers, symbol_of(r->symbols, r->before.text));
    if (!buffer)
        fail(r, r->before.span, "there is no buffer @%s", r->before.text);
    return buffer;
}

static void read_constants(struct reader *r, struct ir_buffer *buffer) {
    int64_t count = buffer->capacity->constant.integer;
    union scalar *constants = ARENA_ARRAY(r->arena, union scalar, count + 1);
    expect(r, "=");
    for (int64_t i = 0; i < count; i++) {
        if (i)
            expect(r, ",");
        const struct ir_value *value = read_constant(r);
        if (value->base != buffer->element)
            fail(r, r->before.span, "a table of %s has no %s in it", base_info[buffer->element].name,
                 base_info[value->base].name);
        constants[i] = value->constant;
    }
    buffer->constants = constants;
}

static void read_capacity(struct reader *r, struct ir_buffer *buffer) {
    expect(r, "[");
    if (r->token.kind == TOKEN_VALUE) { /* it may be defined later */
        vec_push(r->arena, &r->capacities.of, buffer);
        vec_push(r->arena, &r->capacities.is, r->token);
        next(r);
    } else {
        buffer->capacity = read_constant(r);
        bool is_length = base_info[buffer->capacity->base].is_integer && buffer->capacity->constant.integer >= 0;
        bool is_small = buffer->memory == MEMORY_OUTPUT || buffer->capacity->constant.integer <= MOST_ELEMENTS;
        if (!is_length || !is_small)
            fail(r, r->before.span, "this is no length of a buffer");
    }
    expect(r, "]");
}

static enum ir_memory read_memory(struct reader *r) {
    static const char *const names[] = {"input", "table", "output", "shared", "private"};
    for (int i = 0; i < 5; i++)
        if (accept(r, names[i]))
            return (enum ir_memory)i;
    expected(r, "input, table, output, shared or private");
}

/* buffer @3 "name" MEMORY TYPE[CAPACITY] … */
static void read_buffer(struct reader *r) {
    struct ir_buffer *buffer = ARENA_NEW(r->arena, struct ir_buffer);
    take(r, TOKEN_BUFFER, "a buffer, as in `@3`,");
    struct token token = r->before;
    symbol name = symbol_of(r->symbols, token.text);
    if (map_has(r->buffers, name))
        fail(r, token.span, "there are two buffers @%s", token.text);
    map_set(r->buffers, name, buffer);
    vec_push(r->arena, &r->kernel->buffers, buffer);
    buffer->span = token.span;
    if (number_of(r, &token, &buffer->id)) {
        r->next_buffer = buffer->id >= r->next_buffer ? buffer->id + 1 : r->next_buffer;
    } else {
        buffer->id = UINT32_MAX; /* numbered when all are there */
        buffer->name = token.text;
    }
    if (r->token.kind == TOKEN_STRING) {
        buffer->name = r->token.text;
        next(r);
    }
    buffer->memory = read_memory(r);
    bool is_warps = accept(r, "warp");
    buffer->owner = buffer->memory == MEMORY_SHARED    ? (is_warps ? LEVEL_WARP : LEVEL_BLOCK)
                    : buffer->memory == MEMORY_PRIVATE ? LEVEL_THREAD
                                                       : LEVEL_GRID;
    if (is_warps && buffer->memory != MEMORY_SHARED)
        fail(r, r->before.span, "only shared memory is of a warp");
    buffer->element = read_base(r);
    if (buffer->memory != MEMORY_INPUT)
        read_capacity(r, buffer);
    buffer->rewritten = accept(r, "rewritten");
    buffer->is_zeroed = accept(r, "zeroed");
    buffer->is_swapped = accept(r, "swapped");
    buffer->of_host = accept(r, "host");
    if (buffer->memory == MEMORY_TABLE && !buffer->capacity)
        fail(r, token.span, "the length of a table is a constant");
    if (buffer->memory == MEMORY_TABLE)
        read_constants(r, buffer);
    end_line(r);
}

/* ---- instructions ---- */

static void read_region(struct reader *r, struct ir_region *region);

static struct ir_region *new_region(struct reader *r, struct ir_instruction *owner, enum level_value ambient) {
    struct ir_region *region = ARENA_NEW(r->arena, struct ir_region);
    region->id = r->kernel->region_count++;
    region->ambient = ambient;
    region->owner = owner;
    region->parent = owner ? owner->region : NULL;
    return region;
}

static enum level_value read_level(struct reader *r) {
    for (int level = LEVEL_THREAD; level <= LEVEL_GRID; level++)
        if (accept(r, level_names[level]))
            return (enum level_value)level;
    expected(r, "thread, warp, block or grid");
}

static void set_operands(struct ir_instruction *i, const value_list *list) {
    i->operands = list->at;
    i->operand_count = list->count;
}

static void open(struct reader *r) {
    expect(r, "{");
    if (++r->depth > DEEPEST_REGION)
        fail(r, r->before.span, "regions are nested too deeply: more than %d", DEEPEST_REGION);
    end_line(r);
}

static void close(struct reader *r) {
    expect(r, "}");
    r->depth--;
}

static void read_yields(struct reader *r, const char *word, struct ir_region *region) {
    if (!accept(r, word))
        return;
    value_list list = {0};
    read_values(r, &list);
    for (size_t i = 0; i < list.count; i++)
        vec_push(r->arena, &region->yields, list.at[i]);
    end_line(r);
}

/* with TYPE %1 = INITIAL, … */
static void read_carried(struct reader *r, struct ir_instruction *loop, value_list *operands, value_list *parameters) {
    if (!accept(r, "with"))
        return;
    do {
        struct ir_value *parameter = read_definition(r, loop->regions[0]);
        vec_push(r->arena, parameters, parameter);
        expect(r, "=");
        struct ir_value *initial = read_value(r);
        if (initial == parameter)
            fail(r, r->before.span, "what a loop begins with comes from before it");
        vec_push(r->arena, operands, initial);
    } while (accept(r, ","));
}

static void read_loop(struct reader *r, struct ir_instruction *i) {
    value_list operands = {0}, parameters = {0};
    i->regions[0] = new_region(r, i, i->region->ambient);
    if (i->kind != IR_WHILE) {
        vec_push(r->arena, &parameters, read_definition(r, i->regions[0]));
        expect(r, "<");
        vec_push(r->arena, &operands, read_value(r));
    }
    if (i->kind == IR_FORALL) {
        expect(r, "at");
        i->outer = read_level(r);
        expect(r, "/");
        i->inner = read_level(r);
        i->regions[0]->ambient = i->inner;
        if (accept(r, "tickets"))
            i->buffer = read_buffer_use(r);
    }
    i->unroll = accept(r, "unrolled");
    i->is_lock = i->kind == IR_WHILE && accept(r, "lock");
    read_carried(r, i, &operands, &parameters);
    set_operands(i, &operands);
    i->parameters = parameters.at;
    i->parameter_count = parameters.count;
    open(r);
    read_region(r, i->regions[0]);
    if (i->kind == IR_WHILE) {
        expect(r, "do");
        read_yields(r, "if", i->regions[0]);
        i->regions[1] = new_region(r, i, i->region->ambient);
        read_region(r, i->regions[1]);
    }
    read_yields(r, "next", i->regions[i->kind == IR_WHILE]);
    close(r);
}

static void read_branch(struct reader *r, struct ir_instruction *i) {
    value_list condition = {0};
    vec_push(r->arena, &condition, read_value(r));
    set_operands(i, &condition);
    i->is_split = accept(r, "split");
    i->takes_both = accept(r, "both");
    for (int k = 0; k < 2; k++) {
        i->regions[k] = new_region(r, i, i->region->ambient);
        if (k == 1 && !accept(r, "else"))
            return;
        open(r);
        read_region(r, i->regions[k]);
        read_yields(r, "yield", i->regions[k]);
        close(r);
    }
}

/* @3[INDEX] */
static void read_place(struct reader *r, struct ir_instruction *i, value_list *operands) {
    i->buffer = read_buffer_use(r);
    expect(r, "[");
    vec_push(r->arena, operands, read_value(r));
    expect(r, "]");
}

static void read_access(struct reader *r, struct ir_instruction *i) {
    value_list operands = {0};
    read_place(r, i, &operands);
    if (i->kind != IR_LOAD) {
        expect(r, ",");
        read_values(r, &operands);
    }
    set_operands(i, &operands);
    i->is_volatile = i->kind != IR_ATOMIC && accept(r, "volatile");
    bool again = accept(r, "again");
    i->rereads = again && i->kind == IR_LOAD;
    i->overwrites = again && i->kind != IR_LOAD;
    i->is_start = i->kind == IR_STORE && accept(r, "start");
    i->may_meet = i->kind == IR_STORE && accept(r, "meeting");
    if (i->kind == IR_LOAD && accept(r, "site"))
        i->site = (uint32_t)take_integer(r, 0, MOST_NUMBERS);
}

static enum ir_atomic read_atomic(struct reader *r) {
    for (int i = 0; i < ATOMIC_COUNT; i++)
        if (accept(r, ir_atomic_names[i]))
            return (enum ir_atomic)i;
    expected(r, "what the atomic does, as in `add`,");
}

static void read_operation(struct reader *r, struct ir_instruction *i) {
    value_list operands = {0};
    for (int op = 0; op < OP_COUNT; op++)
        if (accept(r, ir_op_info[op].name)) {
            i->kind = IR_OPERATION;
            i->op = (enum ir_op)op;
            read_values(r, &operands);
            set_operands(i, &operands);
            i->no_wrap = accept(r, "nowrap");
            return;
        }
    expected(r, "an instruction");
}

/* What comes behind the results. */
static void read_right(struct reader *r, struct ir_instruction *i) {
    value_list operands = {0};
    static const struct {
        const char *word;
        enum ir_kind kind;
    } words[] = {{"load", IR_LOAD},     {"store", IR_STORE},       {"atomic", IR_ATOMIC},
                 {"fence", IR_FENCE},   {"shuffle", IR_SHUFFLE},   {"ballot", IR_BALLOT},
                 {"check", IR_CHECK},   {"allocate", IR_ALLOCATE}, {"swap", IR_SWAP},
                 {"forall", IR_FORALL}, {"for", IR_FOR},           {"while", IR_WHILE},
                 {"if", IR_IF}};
    size_t which = 0;
    while (which < sizeof words / sizeof *words && !accept(r, words[which].word))
        which++;
    if (which == sizeof words / sizeof *words) {
        read_operation(r, i);
        return;
    }
    i->kind = words[which].kind;
    switch (i->kind) {
    case IR_OPERATION: break;
    case IR_ATOMIC:
        i->atomic = read_atomic(r);
        read_access(r, i);
        break;
    case IR_LOAD:
    case IR_STORE: read_access(r, i); break;
    case IR_FENCE: i->outer = read_level(r); break;
    case IR_CHECK: i->site = (uint32_t)take_integer(r, 0, MOST_NUMBERS); /* fall through */
    case IR_SHUFFLE:
    case IR_BALLOT:
        read_values(r, &operands);
        set_operands(i, &operands);
        break;
    case IR_ALLOCATE: i->buffer = read_buffer_use(r); break;
    case IR_SWAP:
        i->buffer = read_buffer_use(r);
        expect(r, ",");
        i->other = read_buffer_use(r);
        break;
    case IR_FORALL:
    case IR_FOR:
    case IR_WHILE: read_loop(r, i); break;
    case IR_IF: read_branch(r, i); break;
    }
}

static void read_instruction(struct reader *r, struct ir_region *region) {
    struct ir_instruction *i = ARENA_NEW(r->arena, struct ir_instruction);
    i->region = region;
    struct span begin = r->token.span;
    value_list results = {0};
    if (is_base(r)) {
        do
            vec_push(r->arena, &results, read_definition(r, region));
        while (accept(r, ","));
        expect(r, "=");
    }
    /* Not yet defined where the instruction has regions: what these use is looked up while they are read. */
    i->results = results.at;
    i->result_count = results.count;
    read_right(r, i);
    i->span = span_join(begin, begin);
    for (size_t k = 0; k < results.count; k++)
        results.at[k]->definition = i;
    bool has_result = i->kind == IR_OPERATION || i->kind == IR_LOAD || i->kind == IR_ATOMIC || i->kind == IR_SHUFFLE ||
                      i->kind == IR_BALLOT;
    bool may_have = i->kind == IR_FOR || i->kind == IR_WHILE || i->kind == IR_IF;
    if (has_result ? results.count != 1 : results.count != 0 && !may_have)
        fail(r, begin, has_result ? "this instruction has one result" : "this instruction has no result");
    vec_push(r->arena, &region->instructions, i);
    end_line(r);
}

/* Up to what ends it: `}`, or what it yields. */
static void read_region(struct reader *r, struct ir_region *region) {
    while (!is(r, "}") && !is(r, "next") && !is(r, "do") && !is(r, "yield") && !is(r, "return")) {
        if (r->token.kind == TOKEN_END)
            expected(r, "`}`");
        read_instruction(r, region);
    }
}

/* ---- types of parameters and results ---- */

static struct type *read_type(struct reader *r) {
    struct type *type = ARENA_NEW(r->arena, struct type);
    if (++r->depth > DEEPEST_REGION)
        fail(r, r->token.span, "types are nested too deeply");
    if (accept(r, "(")) {
        VEC(struct type *) items = {0};
        do
            vec_push(r->arena, &items, read_type(r));
        while (accept(r, ","));
        expect(r, ")");
        type->kind = TYPE_TUPLE;
        type->tuple.items = items.at;
        type->tuple.count = items.count;
        if (items.count < 2)
            fail(r, r->before.span, "a tuple has two components or more");
    } else if (accept(r, "[")) {
        struct level *level = ARENA_NEW(r->arena, struct level);
        type->kind = TYPE_PULL;
        type->array.element = read_type(r);
        expect(r, "]");
        level->value = LEVEL_PURE;
        if (accept(r, "<")) {
            type->kind = TYPE_PUSH;
            level->value = read_level(r);
            expect(r, ">");
        }
        type->array.level = level;
    } else {
        type->kind = TYPE_BASE;
        type->base = read_base(r);
    }
    r->depth--;
    return type;
}

/* How many scalars and arrays there are in it; `in_array`: it is an element. */
static void check_leaves(struct reader *r, const struct type *type, bool in_array, size_t *next) {
    if (type->kind == TYPE_TUPLE) {
        for (size_t i = 0; i < type->tuple.count; i++)
            check_leaves(r, type->tuple.items[i], in_array, next);
    } else if (type->kind == TYPE_PULL || type->kind == TYPE_PUSH) {
        check_leaves(r, type->array.element, true, next);
    } else {
        const struct ir_kernel *kernel = r->kernel;
        size_t at = (*next)++;
        if (at < kernel->results.count && kernel->results.at[at].is_array == in_array)
            return;
        fail(r, r->kernel->span, "result %zu of `%s` is not what `gives` says", at + 1, kernel->name->text);
    }
}

/* ---- what a kernel begins with ---- */

static struct path *path_named(struct reader *r, const char *text) {
    symbol name = symbol_of(r->symbols, text);
    struct path *path = map_get(r->paths, name);
    if (!path) {
        path = ARENA_NEW(r->arena, struct path);
        path->path = text;
        map_set(r->paths, name, path);
    }
    return path;
}

/* site 3 INDEX at "k.fcl" 3:5 contained */
static void read_site(struct reader *r) {
    static const char *const names[] = {
#define CHECK(id, code, message) #id,
#include "ir/checks.def"
#undef CHECK
    };
    enum { MOST_LINES = 1 << 16, MOST_COLUMNS = 1 << 10 };
    struct ir_check_site site = {0};
    struct where where = {0};
    if (take_integer(r, 0, MOST_NUMBERS) != (int64_t)r->kernel->checks.count)
        fail(r, r->before.span, "sites are numbered from 0 on: this is site %zu", r->kernel->checks.count);
    size_t which = 0;
    while (which < CHECK_COUNT && !accept(r, names[which]))
        which++;
    if (which == CHECK_COUNT)
        expected(r, "a kind of check, as in `INDEX`,");
    site.check = (enum ir_check)which;
    if (accept(r, "at")) {
        where.path = path_named(r, take(r, TOKEN_STRING, "the name of a file"));
        where.line = (unsigned)take_integer(r, 1, MOST_LINES);
        expect(r, ":");
        where.column = (unsigned)take_integer(r, 1, MOST_COLUMNS);
        if (where.line > where.path->lines)
            where.path->lines = where.line;
        if (where.column > where.path->columns)
            where.path->columns = where.column;
    }
    site.is_contained = accept(r, "contained");
    vec_push(r->arena, &r->kernel->checks, site);
    if (where.path) {
        where.kernel = r->kernel;
        where.site = r->kernel->checks.count - 1;
        vec_push(r->arena, &r->wheres, where);
    }
    end_line(r);
}

static void read_parameter(struct reader *r, enum ir_parameter_kind kind) {
    struct ir_parameter parameter = {.kind = kind};
    take(r, TOKEN_NUMBER, "the number of an argument and its part, as in `0.0`,");
    char *end;
    parameter.argument = strtoul(r->before.text, &end, 10);
    if (*end != '.' || !isdigit((unsigned char)end[1]))
        fail(r, r->before.span, "the number of an argument and its part are written as in `0.0`");
    parameter.component = strtoul(end + 1, &end, 10);
    if (*end || parameter.argument >= MOST_NUMBERS || parameter.component >= MOST_NUMBERS)
        fail(r, r->before.span, "the number of an argument and its part are written as in `0.0`");
    parameter.name = take(r, TOKEN_STRING, "the name of the parameter");
    if (kind == IR_PARAMETER_LENGTH) {
        expect(r, "dimension");
        parameter.dimension = (int)take_integer(r, 0, 7);
    }
    expect(r, "=");
    if (kind == IR_PARAMETER_BUFFER)
        parameter.buffer = read_buffer_use(r);
    else
        parameter.value = read_definition(r, NULL);
    size_t count = r->kernel->parameters.count;
    const struct ir_parameter *before = count ? &r->kernel->parameters.at[count - 1] : NULL;
    if (parameter.buffer && (!before || before->kind == IR_PARAMETER_SCALAR || before->argument != parameter.argument))
        fail(r, r->before.span, "the extents of an array stand before it");
    for (size_t i = 0; parameter.buffer && i < count; i++)
        if (r->kernel->parameters.at[i].buffer == parameter.buffer)
            fail(r, r->before.span, "this buffer is a parameter already");
    bool is_length = kind != IR_PARAMETER_LENGTH || parameter.value->base == BASE_I32;
    if ((parameter.buffer && parameter.buffer->memory != MEMORY_INPUT) || !is_length)
        fail(r, r->before.span, is_length ? "a parameter's array is an input" : "an extent is an int");
    vec_push(r->arena, &r->kernel->parameters, parameter);
    end_line(r);
}

/* ---- a kernel ---- */

static void number_values(struct reader *r, uint32_t said) {
    uint32_t count = said;
    for (size_t i = 0; i < r->all.count; i++)
        if (map_has(r->is_numbered, r->all.at[i]) && r->all.at[i]->id >= count)
            count = r->all.at[i]->id + 1;
    bool *taken = ARENA_ARRAY(r->arena, bool, count + 1);
    for (size_t i = 0; i < r->all.count; i++)
        if (map_has(r->is_numbered, r->all.at[i]))
            taken[r->all.at[i]->id] = true;
    uint32_t free = 0;
    for (size_t i = 0; i < r->all.count; i++) {
        struct ir_value *value = r->all.at[i];
        if (map_has(r->is_numbered, value))
            continue;
        while (free < count && taken[free])
            free++;
        value->id = free++;
    }
    r->kernel->value_count = free > count ? free : count;
}

static void number_buffers(struct reader *r) {
    for (size_t i = 0; i < r->kernel->buffers.count; i++)
        if (r->kernel->buffers.at[i]->id == UINT32_MAX)
            r->kernel->buffers.at[i]->id = r->next_buffer++;
    if (r->next_buffer >= MOST_NUMBERS)
        fail(r, r->kernel->span, "numbers go to %d", MOST_NUMBERS - 1);
}

static void resolve_capacities(struct reader *r) {
    for (size_t i = 0; i < r->capacities.of.count; i++) {
        struct ir_value *value = value_named(r, &r->capacities.is.at[i]);
        if (!base_info[value->base].is_integer)
            fail(r, r->capacities.is.at[i].span, "the length of a buffer is an integer");
        if (map_has(r->unknown, value))
            fail(r, r->capacities.is.at[i].span, "this length is unknown");
        r->capacities.of.at[i]->capacity = value;
    }
}

/* Buffers live where they are allocated, and are used there, and once. What ir_verify does not look at. */
struct lives {
    struct reader *r;
    struct map *region; /* buffer → where it was allocated */
};

static bool is_parameter(const struct ir_kernel *kernel, const struct ir_buffer *buffer) {
    for (size_t i = 0; i < kernel->parameters.count; i++)
        if (kernel->parameters.at[i].buffer == buffer)
            return true;
    return false;
}

static void check_alive(struct lives *l, const struct ir_instruction *at, const struct ir_buffer *buffer) {
    if (buffer && buffer->memory == MEMORY_INPUT && !is_parameter(l->r->kernel, buffer))
        fail(l->r, at->span, "this input is no parameter's");
    if (!buffer || ir_is_constant_memory(buffer))
        return;
    const struct ir_region *region = map_get(l->region, buffer);
    if (!region || !ir_region_inside(at->region, region))
        fail(l->r, at->span, "this buffer is not allocated here");
}

/* Only operations that nothing uses may use them. */
static void check_known(struct lives *l, const struct ir_instruction *at) {
    for (size_t i = 0; i < at->operand_count; i++) {
        if (!map_has(l->r->unknown, at->operands[i]))
            continue;
        if (at->kind != IR_OPERATION)
            fail(l->r, at->span, "this goes by a value that is unknown");
        map_set(l->r->unknown, at->results[0], at->results[0]);
    }
}

static void check_yields_known(struct lives *l, const struct ir_region *region) {
    for (size_t i = 0; i < region->yields.count; i++)
        if (map_has(l->r->unknown, region->yields.at[i]))
            fail(l->r, region->owner->span, "what a region of this yields is unknown");
}

/* The host's index is a constant within a buffer of that length, or it says what to report. */
static void check_hosts_load(struct lives *l, const struct ir_instruction *at) {
    const struct ir_value *index = at->operands[0], *capacity = at->buffer->capacity;
    bool is_within = index->is_constant && capacity && capacity->is_constant && index->constant.integer >= 0 &&
                     index->constant.integer < capacity->constant.integer;
    if (!is_within && at->site >= l->r->kernel->checks.count)
        fail(l->r, at->span, "a load by the host wants a site, of the kernel's, for an index that is out of range");
}

static void check_lives(struct lives *l, const struct ir_region *region) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *at = region->instructions.at[i];
        if (at->kind == IR_ALLOCATE) {
            if (map_has(l->region, at->buffer))
                fail(l->r, at->span, "this buffer is allocated twice");
            /* Made in a branch, it may be used in a later one on the same condition. */
            const struct ir_region *there = region;
            while (there->owner && there->owner->kind == IR_IF)
                there = there->parent;
            map_set(l->region, at->buffer, (void *)(uintptr_t)there);
        } else {
            check_alive(l, at, at->buffer);
            check_alive(l, at, at->other);
        }
        check_known(l, at);
        if (at->kind == IR_LOAD && region->ambient == LEVEL_GRID)
            check_hosts_load(l, at);
        if (at->kind == IR_LOAD && at->buffer->of_host && region->ambient != LEVEL_GRID)
            fail(l->r, at->span, "only the host has this table");
        for (int k = 0; k < 2; k++)
            if (at->regions[k])
                check_lives(l, at->regions[k]);
    }
    check_yields_known(l, region);
}

static void check_results(struct reader *r, struct lives *l) {
    struct ir_kernel *kernel = r->kernel;
    size_t next_result = 0;
    check_leaves(r, kernel->result_type, false, &next_result);
    if (next_result != kernel->results.count)
        fail(r, r->kernel->span, "`%s` has more results than `gives` says", kernel->name->text);
    for (size_t i = 0; i < kernel->results.count; i++) {
        struct ir_result *result = &kernel->results.at[i];
        if (map_has(r->unknown, result->value))
            fail(r, r->kernel->span, "a result of `%s` is unknown", kernel->name->text);
        if (!result->is_array)
            continue;
        bool is_there = is_parameter(kernel, result->buffer) ||
                        (result->buffer->memory == MEMORY_OUTPUT && map_get(l->region, result->buffer) == kernel->body);
        if (!is_there || result->value->base != BASE_I32)
            fail(r, r->kernel->span,
                 "result %zu of `%s` must be an input or an output that is there at the end, and its length an int",
                 i + 1, kernel->name->text);
        result->buffer->is_result = true;
    }
}

static void read_result(struct reader *r) {
    struct ir_result result = {0};
    if (r->token.kind == TOKEN_BUFFER) {
        result.is_array = true;
        result.buffer = read_buffer_use(r);
    }
    result.value = read_value(r);
    vec_push(r->arena, &r->kernel->results, result);
    end_line(r);
}

static void read_head(struct reader *r, uint32_t *values) {
    struct ir_kernel *kernel = r->kernel;
    if (r->token.kind != TOKEN_STRING && r->token.kind != TOKEN_WORD)
        expected(r, "the kernel's name");
    kernel->span = r->token.span;
    kernel->name = symbol_of(r->symbols, r->token.text);
    if (!kernel->name->length || !is_word((unsigned char)kernel->name->text[0]) ||
        isdigit((unsigned char)kernel->name->text[0]))
        fail(r, r->token.span, "a kernel's name begins with a letter");
    next(r);
    kernel->block_size = accept(r, "block") ? (int)take_integer(r, 1, 1024) : 256;
    kernel->warp_size = accept(r, "warp") ? (int)take_integer(r, 1, 64) : 32;
    kernel->grid_size = accept(r, "grid") ? (int)take_integer(r, 1, INT32_MAX) : 1024;
    *values = accept(r, "values") ? (uint32_t)take_integer(r, 0, MOST_NUMBERS) : 0;
    kernel->has_warps = accept(r, "warps");
    kernel->is_cpu = accept(r, "cpu");
}

static void read_kernel(struct reader *r, struct ir_file *file) {
    struct ir_kernel *kernel = r->kernel = ARENA_NEW(r->arena, struct ir_kernel);
    kernel->source = r->source;
    r->values = map_new(r->arena);
    r->buffers = map_new(r->arena);
    r->constants = map_new(r->arena);
    r->is_numbered = map_new(r->arena);
    r->unknown = map_new(r->arena);
    r->all.count = r->capacities.of.count = r->capacities.is.count = 0;
    r->next_buffer = 0;
    uint32_t values;
    read_head(r, &values);
    kernel->body = new_region(r, NULL, LEVEL_GRID);
    open(r);
    VEC(struct type *) takes = {0};
    for (;;) {
        if (accept(r, "takes") || accept(r, "gives")) {
            bool takes_it = r->before.text[0] == 't';
            struct type *type = read_type(r);
            if (takes_it)
                vec_push(r->arena, &takes, type);
            else
                kernel->result_type = type;
            end_line(r);
        } else if (accept(r, "site")) {
            read_site(r);
        } else if (accept(r, "buffer")) {
            read_buffer(r);
        } else if (accept(r, "scalar")) {
            read_parameter(r, IR_PARAMETER_SCALAR);
        } else if (accept(r, "extent")) {
            read_parameter(r, IR_PARAMETER_LENGTH);
        } else if (accept(r, "unknown")) {
            struct ir_value *value = read_definition(r, NULL);
            map_set(r->unknown, value, value);
            end_line(r);
        } else if (accept(r, "array")) {
            read_parameter(r, IR_PARAMETER_BUFFER);
        } else {
            break;
        }
    }
    kernel->parameter_types = takes.at;
    kernel->parameter_type_count = takes.count;
    if (!kernel->result_type)
        fail(r, kernel->span, "`gives` is missing: the type of the result");
    read_region(r, kernel->body);
    while (accept(r, "return"))
        read_result(r);
    close(r);
    end_line(r);
    resolve_capacities(r);
    number_values(r, values);
    number_buffers(r);
    struct lives lives = {r, map_new(r->arena)};
    check_lives(&lives, kernel->body);
    check_results(r, &lives);
    struct span where = {0, 0};
    const char *wrong = ir_verify_at(r->arena, kernel, &where);
    if (wrong)
        fail(r, where.end ? where : kernel->span, "%s", wrong);
    vec_push(r->arena, &file->kernels, kernel);
}

/* ---- a file ---- */

/* The places of checks: in stand-ins for the programs' files, which have blanks up to there. */
static void place_sites(struct reader *r) {
    for (size_t i = 0; i < map_count(r->paths); i++) {
        struct path *path = map_entry(r->paths, i).value;
        struct text text;
        text_init(&text, r->arena);
        for (unsigned line = 0; line < path->lines; line++)
            text_printf(&text, "%*s\n", (int)path->columns, "");
        path->source = source_add(r->sources, path->path, text_string(&text), text.length);
    }
    for (size_t i = 0; i < r->wheres.count; i++) {
        const struct where *where = &r->wheres.at[i];
        uint32_t offset = (where->line - 1) * (where->path->columns + 1) + where->column - 1;
        uint32_t begin = where->path->source->base + offset;
        where->kernel->checks.at[where->site].span = (struct span){begin, begin + 1};
    }
}

static void read_file(struct reader *r, struct ir_file *file) {
    next(r);
    while (r->token.kind == TOKEN_LINE)
        next(r);
    if (!is(r, "fclir"))
        expected(r, "`fclir 1`, which a file begins with,");
    next(r);
    if (take_integer(r, 0, INT32_MAX) != IR_TEXT_VERSION)
        fail(r, r->before.span, "this version of fclc reads version %d", IR_TEXT_VERSION);
    if (accept(r, "for"))
        file->target = take(r, TOKEN_WORD, "a target");
    if (accept(r, "from"))
        file->from = take(r, TOKEN_STRING, "the name of a file");
    end_line(r);
    while (r->token.kind != TOKEN_END) {
        expect(r, "kernel");
        read_kernel(r, file);
    }
    place_sites(r);
}

struct ir_file *ir_read(struct arena *arena, struct symbols *symbols, struct sources *sources,
                        const struct source *source, struct diagnostics *diagnostics) {
    struct ir_file *file = ARENA_NEW(arena, struct ir_file);
    struct reader *r = ARENA_NEW(arena, struct reader);
    *r = (struct reader){.arena = arena,
                         .symbols = symbols,
                         .sources = sources,
                         .source = source,
                         .diagnostics = diagnostics,
                         .paths = map_new(arena)};
    if (setjmp(r->failure))
        return NULL;
    read_file(r, file);
    return file;
}

static bool is_bound_in(const struct ir_region *region) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *at = region->instructions.at[i];
        if (at->kind == IR_SHUFFLE || at->kind == IR_BALLOT || at->kind == IR_FENCE || at->is_volatile ||
            (at->kind == IR_FORALL && at->buffer))
            return true;
        for (int r = 0; r < 2; r++)
            if (at->regions[r] && is_bound_in(at->regions[r]))
                return true;
    }
    return false;
}

bool ir_is_bound(const struct ir_kernel *kernel) { return is_bound_in(kernel->body); }
