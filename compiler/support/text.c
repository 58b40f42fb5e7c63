/* Growing strings; see text.h. */
#include "support/text.h"

#include <stdio.h>
#include <string.h>

#include "support/fatal.h"
#include "support/utf8.h"

void text_init(struct text *text, struct arena *arena) { *text = (struct text){.arena = arena, .at = NULL}; }

/* Makes room for `more` bytes and the NUL after them. */
static void text_reserve(struct text *text, size_t more) {
    size_t wanted = text->length + more + 1;
    if (wanted <= text->capacity)
        return;
    size_t capacity = text->capacity ? text->capacity : 64;
    while (capacity < wanted)
        capacity *= 2;
    char *fresh = arena_alloc(text->arena, capacity);
    if (text->length)
        memcpy(fresh, text->at, text->length);
    text->at = fresh;
    text->capacity = capacity;
}

void text_add_n(struct text *text, const char *string, size_t length) {
    text_reserve(text, length);
    if (length)
        memcpy(text->at + text->length, string, length);
    text->length += length;
    text->at[text->length] = '\0';
}

void text_add(struct text *text, const char *string) { text_add_n(text, string, strlen(string)); }

/* Prints by the format into the room that there is, which is nearly always enough; else once more with more room. */
static void print_rest(struct text *text, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    size_t room = text->capacity - text->length;
    int length = vsnprintf(room ? text->at + text->length : NULL, room, format, arguments);
    if (length < 0)
        fatal_internal("text_vprintf", "bad format %s", format);
    if ((size_t)length >= room) {
        text_reserve(text, (size_t)length);
        vsnprintf(text->at + text->length, (size_t)length + 1, format, again);
    }
    text->length += (size_t)length;
    va_end(again);
}

/* Text and strings are copied here, as vsnprintf takes a tenth of a compilation for them; the rest of a format, from
   the first conversion on that is no `%s`, is for vsnprintf. */
void text_vprintf(struct text *text, const char *format, va_list arguments) {
    va_list left; /* a parameter of that type may be a pointer, which va_arg would not move for print_rest */
    va_copy(left, arguments);
    text_reserve(text, 0);
    for (;;) {
        size_t plain = strcspn(format, "%");
        text_add_n(text, format, plain);
        format += plain;
        if (format[0] != '%' || format[1] != 's')
            break;
        text_add(text, va_arg(left, const char *));
        format += 2;
    }
    if (*format)
        print_rest(text, format, left);
    va_end(left);
}

void text_printf(struct text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(text, format, arguments);
    va_end(arguments);
}

const char *text_string(const struct text *text) { return text->at ? text->at : ""; }

void text_add_replaced(struct text *text, const char *string, size_t length, const struct text_word *words) {
    size_t done = 0;
    for (size_t i = 0; i < length; i++)
        for (const struct text_word *w = words; w->word; w++) {
            size_t n = strlen(w->word);
            if (string[i] != *w->word || n > length - i || strncmp(string + i, w->word, n) != 0)
                continue;
            text_add_n(text, string + done, i - done);
            text_add(text, w->value);
            done = i + n;
            i = done - 1;
            break;
        }
    text_add_n(text, string + done, length - done);
}

void text_add_escaped(struct text *text, const char *string, size_t length) {
    for (size_t i = 0; i < length; i++)
        switch (string[i]) {
        case '<': text_add(text, "&lt;"); break;
        case '>': text_add(text, "&gt;"); break;
        case '&': text_add(text, "&amp;"); break;
        case '"': text_add(text, "&quot;"); break;
        default: text_add_n(text, string + i, 1);
        }
}

const char *text_file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool text_ends_with(const char *string, const char *end) {
    size_t length = strlen(string), n = strlen(end);
    return length > n && strcmp(string + length - n, end) == 0;
}

const char *text_in_comment(struct arena *arena, const char *string) {
    struct text text;
    text_init(&text, arena);
    for (const char *c = string; *c; c++) {
        text_add_n(&text, *c == '\n' ? " " : c, 1);
        if ((c[0] == '*' && c[1] == '/') || (c[0] == '/' && c[1] == '*'))
            text_add(&text, " ");
    }
    return text_string(&text);
}

const char *text_in_string(struct arena *arena, const char *string) {
    struct text text;
    text_init(&text, arena);
    for (const char *c = string; *c; c++)
        if (*c == '"' || *c == '\\')
            text_printf(&text, "\\%c", *c);
        else
            text_add_n(&text, *c == '\n' ? " " : c, 1);
    return text_string(&text);
}

const char *text_elements(int64_t count) {
    return count == 1 ? "element" : count == 0 ? "elements (it is empty)" : "elements";
}

const char *text_as_utf8(struct arena *arena, const char *string) {
    struct text text;
    text_init(&text, arena);
    for (size_t left = strlen(string), bytes; left > 0; string += bytes, left -= bytes)
        if (utf8_decode((const unsigned char *)string, left, &bytes) == UTF8_INVALID)
            text_add(&text, "\xEF\xBF\xBD");
        else
            text_add_n(&text, string, bytes);
    return text_string(&text);
}
