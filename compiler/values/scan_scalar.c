/* Reading one scalar from text: FCL's literals, an optional sign before them, and nan and inf. */
#include "values/value.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TOKEN_LONGEST = 512 };

/* The length of what can be a scalar; a sign stands inside only after an exponent. */
static size_t token_length(const char *text) {
    size_t length = 0;
    bool is_hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (text[0] == '-' || text[0] == '+')
        length++;
    for (;; length++) {
        char c = text[length];
        if (isalnum((unsigned char)c) || c == '_' || c == '.')
            continue;
        bool after_exponent = length > 0 && (text[length - 1] == 'e' || text[length - 1] == 'E') && !is_hexadecimal;
        if ((c == '-' || c == '+') && after_exponent && !isalpha((unsigned char)text[0]))
            continue;
        return length;
    }
}

/* `i16` after a number. Removed from the token; false when it is not the wanted type's. */
static bool cut_suffix(char *token, enum base base) {
    size_t length = strlen(token);
    for (int i = 0; i < BASE_COUNT; i++) {
        const char *suffix = base_info[i].suffix;
        size_t n = strlen(suffix);
        if (n == 0 || length <= n || strcmp(token + length - n, suffix) != 0 ||
            !isdigit((unsigned char)token[length - n - 1]))
            continue;
        if (base_info[i].is_floating && (strncmp(token, "0x", 2) == 0 || strncmp(token, "0X", 2) == 0))
            continue; /* hexadecimal digits */
        token[length - n] = '\0';
        return i == (int)base;
    }
    return true;
}

/* Digits with `_` between them in any of the three bases. False: no integer; *too_large: one of more than 64 bits. */
static bool scan_magnitude(const char *digits, uint64_t *magnitude, bool *too_large) {
    unsigned radix = 10;
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
        radix = 16;
    else if (digits[0] == '0' && (digits[1] == 'b' || digits[1] == 'B'))
        radix = 2;
    if (radix != 10)
        digits += 2;
    *magnitude = 0;
    *too_large = false;
    bool any = false;
    for (; *digits; digits++) {
        if (*digits == '_' && any && digits[1] != '\0')
            continue;
        if (!isxdigit((unsigned char)*digits))
            return false;
        unsigned digit = isdigit((unsigned char)*digits) ? (unsigned)(*digits - '0')
                                                         : (unsigned)(tolower((unsigned char)*digits) - 'a') + 10;
        if (digit >= radix)
            return false;
        if (*magnitude > (UINT64_MAX - digit) / radix)
            *too_large = true;
        *magnitude = *magnitude * radix + digit;
        any = true;
    }
    return any;
}

static bool fits(enum base base, bool negative, uint64_t magnitude) {
    const struct base_info *info = &base_info[base];
    uint64_t top = UINT64_C(1) << (info->bits - 1);
    if (info->is_signed)
        return negative ? magnitude <= top : magnitude < top;
    return negative ? magnitude == 0 : magnitude <= top - 1 + top;
}

static bool scan_integer(struct arena *arena, enum base base, const char *shown, const char *token, union scalar *value,
                         const char **why) {
    bool negative = token[0] == '-', too_large;
    const char *digits = token + (token[0] == '-' || token[0] == '+');
    uint64_t magnitude;
    if (!scan_magnitude(digits, &magnitude, &too_large)) {
        char *end;
        floating_read(token, &end);
        bool is_number = *token && *end == '\0';
        *why = arena_printf(
            arena, is_number ? "%s is not an integer, and %s is wanted" : "`%s` is no number, and %s is wanted", shown,
            base_info[base].name);
        return false;
    }
    if (too_large || !fits(base, negative, magnitude)) {
        *why = arena_printf(arena, "%s does not fit %s", shown, base_info[base].name);
        return false;
    }
    value->natural = negative ? 0 - magnitude : magnitude;
    return true;
}

static bool scan_floating(struct arena *arena, enum base base, const char *shown, char *token, union scalar *value,
                          const char **why) {
    uint64_t magnitude;
    bool too_large;
    const char *digits = token + (token[0] == '-' || token[0] == '+');
    char *end = token;
    if (digits[0] == '0' && (digits[1] == 'b' || digits[1] == 'B')) {
        if (scan_magnitude(digits, &magnitude, &too_large) && !too_large) {
            double rounded = base_of_natural(base, magnitude);
            value->floating = token[0] == '-' ? -rounded : rounded;
            return true;
        }
    } else {
        char *to = token;
        for (const char *from = token; *from; from++)
            if (*from != '_')
                *to++ = *from;
        *to = '\0';
        value->floating = floating_in(base_info[base].format, floating_read(token, &end));
    }
    bool is_word = isalpha((unsigned char)digits[0]);
    if (end == token || *end || (is_word && strcmp(digits, "inf") != 0 && strcmp(digits, "nan") != 0)) {
        *why = arena_printf(arena, "`%s` is no number, and %s is wanted", shown, base_info[base].name);
        return false;
    }
    if (isinf(value->floating) && !is_word) {
        *why = arena_printf(arena, "%s does not fit %s", shown, base_info[base].name);
        return false;
    }
    return true;
}

/* Nothing but decimal digits, a sign before them and what makes a floating-point number: it can have no suffix. */
static bool is_decimal(const char *token) { return token[strspn(token, "+-.0123456789eE")] == '\0'; }

bool value_parse_scalar(struct arena *arena, enum base base, const char **text, union scalar *value, const char **why) {
    size_t length = token_length(*text);
    memset(value, 0, sizeof *value);
    if (length == 0 || length > TOKEN_LONGEST) {
        *why = length ? "a number of more than 512 characters"
                      : arena_printf(arena, "a value of type %s is missing", base_info[base].name);
        return false;
    }
    char token[TOKEN_LONGEST + 1], shown[TOKEN_LONGEST + 1];
    memcpy(token, *text, length);
    token[length] = '\0';
    memcpy(shown, token, length + 1);
    *text += length;
    if (base == BASE_BOOL) {
        value->natural = strcmp(token, "true") == 0;
        if (value->natural || strcmp(token, "false") == 0)
            return true;
        *why = arena_printf(arena, "`%s` is neither true nor false, and bool is wanted", shown);
        return false;
    }
    if (strcmp(token, "true") == 0 || strcmp(token, "false") == 0) {
        *why = arena_printf(arena, "%s is of type bool, and %s is wanted", shown, base_info[base].name);
        return false;
    }
    if (!is_decimal(token) && !cut_suffix(token, base)) {
        *why = arena_printf(arena, "%s is of another type than %s, which is wanted", shown, base_info[base].name);
        return false;
    }
    if (base_info[base].is_floating)
        return scan_floating(arena, base, shown, token, value, why);
    return scan_integer(arena, base, shown, token, value, why);
}
