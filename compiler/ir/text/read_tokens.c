/* Reading the IR from text: tokens, constants and values. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ir/build/range.h"
#include "ir/text/reader.h"

/* ---- mistakes ---- */

_Noreturn void reader_fail(struct reader *r, struct span span, const char *format, ...) {
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

bool reader_is_word(int c) { return isalnum(c) || c == '_' || c == '\'' || c == '$'; }

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
            reader_fail(r, span_from(r, begin), "this string has no end");
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
            reader_fail(r, span_from(r, begin), "a string has no zeros in it");
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
        if (!reader_is_word((unsigned char)c) && !is_exponents && !is_point && !is_hyphen)
            return;
    }
}

void reader_next(struct reader *r) {
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
            reader_fail(r, span_from(r, begin), "`%c` wants a number or a name behind it", c);
    } else if (isdigit((unsigned char)c) || c == '#' || (c == '-' && isdigit((unsigned char)text[begin + 1]))) {
        kind = TOKEN_NUMBER;
        r->at++;
        take_while(r, true);
    } else if (reader_is_word((unsigned char)c)) {
        kind = TOKEN_WORD;
        take_while(r, false);
    } else {
        r->at += 1 + (c == '.' && text[begin + 1] == '.');
    }
    const char *word = kind == TOKEN_STRING ? text_string(&string) : arena_strndup(r->arena, text + from, r->at - from);
    r->token = (struct ir_token){kind, word, span_from(r, begin)};
}

static const char *shown(const struct ir_token *token) {
    return token->kind == TOKEN_END    ? "the end of the file"
           : token->kind == TOKEN_LINE ? "the end of the line"
                                       : token->text;
}

_Noreturn void reader_expected(struct reader *r, const char *what) {
    bool is_end = r->token.kind == TOKEN_END || r->token.kind == TOKEN_LINE;
    reader_fail(r, r->token.span, is_end ? "%s is expected, and %s comes" : "%s is expected, not `%s`", what,
                shown(&r->token));
}

bool reader_is(const struct reader *r, const char *text) {
    return (r->token.kind == TOKEN_WORD || r->token.kind == TOKEN_SIGN) && strcmp(r->token.text, text) == 0;
}

bool reader_accept(struct reader *r, const char *text) {
    bool is_there = reader_is(r, text);
    if (is_there)
        reader_next(r);
    return is_there;
}

void reader_expect(struct reader *r, const char *text) {
    if (!reader_accept(r, text))
        reader_expected(r, arena_printf(r->arena, "`%s`", text));
}

const char *reader_take(struct reader *r, enum token_kind kind, const char *what) {
    if (r->token.kind != kind)
        reader_expected(r, what);
    reader_next(r);
    return r->before.text;
}

void reader_end_line(struct reader *r) {
    if (r->token.kind != TOKEN_LINE && r->token.kind != TOKEN_END)
        reader_expected(r, "the end of the line");
    while (r->token.kind == TOKEN_LINE)
        reader_next(r);
}

int64_t reader_integer(struct reader *r, int64_t least, int64_t most) {
    const char *text = reader_take(r, TOKEN_NUMBER, "a number");
    char *end;
    long long number = strtoll(text, &end, 10);
    if (*end || number < least || number > most)
        reader_fail(r, r->before.span, "a number from %lld to %lld is expected", (long long)least, (long long)most);
    return number;
}

/* ---- constants ---- */

static struct ir_value *reader_constant(struct reader *r, enum base base, union scalar scalar) {
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

/* `3`, `-2i64`, `1.5f32`, `#7ff8000000000000.f64`: as write.c has them. */
static union scalar read_number(struct reader *r, const struct ir_token *token, enum base *base) {
    const char *text = token->text;
    size_t digits = *text == '#' ? strcspn(text, ".") : strcspn(text, "iufb");
    const char *suffix = text + digits + (*text == '#' && text[digits] == '.');
    const char *number = arena_strndup(r->arena, text, digits);
    bool has_point = strpbrk(number, ".e") != NULL;
    *base = has_point ? BASE_F64 : BASE_I32;
    if (*suffix && !base_of_name(suffix, base))
        reader_fail(r, token->span, "no type of numbers is called `%s`", suffix);
    union scalar scalar = {0};
    char *end;
    if (*text == '#') {
        scalar.natural = strtoull(number + 1, &end, 16);
        if (!base_info[*base].is_floating || *end || end == number + 1)
            reader_fail(r, token->span,
                        "the bits of a floating number are digits, a point and its type: `#7ff0000000000000.f32`");
        return scalar;
    }
    if (base_info[*base].is_floating) {
        bool is_negative = *number == '-';
        struct floating read = floating_read(number + is_negative, &end);
        scalar.floating = floating_in(base_info[*base].format, is_negative ? floating_negated(read) : read);
    } else if (has_point) {
        reader_fail(r, token->span, "`%s` is no number of type %s", text, base_info[*base].name);
    } else if (*base == BASE_U64) {
        scalar.natural = strtoull(number, &end, 10);
    } else {
        scalar.integer = strtoll(number, &end, 10);
    }
    if (*end)
        reader_fail(r, token->span, "`%s` is no number", text);
    union scalar wrapped = base_wrap(*base, scalar);
    if (!base_info[*base].is_floating &&
        (wrapped.natural != scalar.natural || (*number == '-' && !base_info[*base].is_signed)))
        reader_fail(r, token->span, "`%s` is no number of type %s", text, base_info[*base].name);
    return wrapped;
}

struct ir_value *reader_read_constant(struct reader *r) {
    enum base base = BASE_BOOL;
    if (reader_is(r, "true") || reader_is(r, "false")) {
        bool truth = reader_is(r, "true");
        reader_next(r);
        return reader_constant(r, base, (union scalar){.integer = truth});
    }
    reader_take(r, TOKEN_NUMBER, "a value");
    union scalar scalar = read_number(r, &r->before, &base);
    return reader_constant(r, base, scalar);
}

/* ---- values ---- */

struct ir_value *reader_value_named(struct reader *r, const struct ir_token *token) {
    struct ir_value *value = map_get(r->values, symbol_of(r->symbols, token->text));
    if (!value)
        reader_fail(r, token->span, "%%%s has not been defined before", token->text);
    return value;
}

struct ir_value *reader_value(struct reader *r) {
    if (r->token.kind != TOKEN_VALUE)
        return reader_read_constant(r);
    reader_next(r);
    return reader_value_named(r, &r->before);
}

void reader_values(struct reader *r, value_list *list) {
    do
        vec_push(r->arena, list, reader_value(r));
    while (reader_accept(r, ","));
}

bool reader_is_base(const struct reader *r) {
    enum base base;
    return r->token.kind == TOKEN_WORD && base_of_name(r->token.text, &base);
}

enum base reader_base(struct reader *r) {
    enum base base;
    if (!reader_is_base(r))
        reader_expected(r, "a type of numbers");
    base_of_name(r->token.text, &base);
    reader_next(r);
    return base;
}

/* Its number, where the text says one: %12. */
bool reader_number_of(struct reader *r, const struct ir_token *token, uint32_t *number) {
    if (token->text[strspn(token->text, "0123456789")] || strlen(token->text) > 9)
        return false;
    unsigned long value = strtoul(token->text, NULL, 10);
    if (value >= MOST_NUMBERS)
        reader_fail(r, token->span, "numbers go to %d", MOST_NUMBERS - 1);
    *number = (uint32_t)value;
    return true;
}

static int64_t take_bound(struct reader *r) {
    const char *text = reader_take(r, TOKEN_NUMBER, "a number");
    char *end;
    long long number = strtoll(text, &end, 10);
    if (*end)
        reader_fail(r, r->before.span, "`%s` is no integer", text);
    return number;
}

/* TYPE %12 "name" in 0..5 */
struct ir_value *reader_definition(struct reader *r, struct ir_region *region) {
    struct ir_value *value = ARENA_NEW(r->arena, struct ir_value);
    value->base = reader_base(r);
    value->region = region;
    reader_take(r, TOKEN_VALUE, "a value, as in `%12`,");
    struct ir_token token = r->before;
    symbol name = symbol_of(r->symbols, token.text);
    if (map_has(r->values, name))
        reader_fail(r, token.span, "%%%s is defined twice", token.text);
    map_set(r->values, name, value);
    vec_push(r->arena, &r->all, value);
    if (reader_number_of(r, &token, &value->id))
        map_set(r->is_numbered, value, value);
    else
        value->name = token.text;
    if (r->token.kind == TOKEN_STRING) {
        value->name = r->token.text;
        reader_next(r);
    }
    struct range all = range_of_base(value->base);
    value->low = all.low;
    value->high = all.high;
    if (reader_accept(r, "in")) {
        value->low = take_bound(r);
        reader_expect(r, "..");
        value->high = take_bound(r);
        if (base_info[value->base].is_floating || value->low < all.low || value->high > all.high ||
            value->low > value->high)
            reader_fail(r, r->before.span, "no %s lies between these", base_info[value->base].name);
    }
    return value;
}
