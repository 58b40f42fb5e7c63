// Prints what kernels have traced: fcl.h says what their records look like.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

// Prints a number as FCL writes it: with a point, and no more digits than give the number back.
static void print_floating(FILE *to, double number, bool is_double) {
    char text[40];
    int most = is_double ? 17 : 9;
    for (int digits = 1; digits <= most; digits++) {
        snprintf(text, sizeof text, isnan(number) ? "nan" : "%.*g", digits, number);
        if (is_double ? strtod(text, NULL) == number : strtof(text, NULL) == (float)number)
            break;
    }
    char *exponent = strchr(text, 'e'); // `e+30` is `e30`, and `e-07` is `e-7`
    if (exponent) {
        char *digits = exponent + 2;
        while (*digits == '0')
            digits++;
        char *to_here = exponent + (exponent[1] == '-' ? 2 : 1);
        memmove(to_here, digits, strlen(digits) + 1);
    }
    bool is_plain = isfinite(number) && !strpbrk(text, ".e");
    fprintf(to, "%s%s", text, is_plain ? ".0" : "");
}

static void print_word(FILE *to, char directive, uint32_t word) {
    float number;
    memcpy(&number, &word, sizeof number);
    switch (directive) {
    case 'i': fprintf(to, "%d", (int)word); break;
    case 'u': fprintf(to, "%u", (unsigned)word); break;
    case 'b': fputs(word ? "true" : "false", to); break;
    default: print_floating(to, number, false);
    }
}

static void print_words(FILE *to, char directive, uint64_t words) {
    double number;
    memcpy(&number, &words, sizeof number);
    switch (directive) {
    case 'l': fprintf(to, "%lld", (long long)words); break;
    case 'n': fprintf(to, "%llu", (unsigned long long)words); break;
    default: print_floating(to, number, true);
    }
}

static size_t words_of(char directive) { return directive == '%' ? 0 : strchr("lnd", directive) ? 2 : 1; }

// How many words a record has behind the number of its format.
static size_t record_words(const char *format) {
    size_t count = 0;
    for (const char *c = format; *c; c++)
        if (*c == '%')
            count += words_of(*++c);
    return count;
}

// On a line of its own.
static void print_record(FILE *to, const char *format, const uint32_t *words) {
    for (const char *c = format; *c; c++) {
        if (*c != '%' || *++c == '%') {
            fputc(*c, to);
        } else if (words_of(*c) == 2) {
            print_words(to, *c, words[0] | (uint64_t)words[1] << 32);
            words += 2;
        } else {
            print_word(to, *c, *words++);
        }
    }
    fputc('\n', to);
}

enum fcl_status fcl_trace(struct fcl_buffer *buffer, const char *const *formats, size_t count) {
    FCLRT_ENTER;
    if (!buffer || (!formats && count))
        return FCL_INVALID;
    uint32_t wanted = 0;
    enum fcl_status status = fcl_read(buffer, 0, &wanted, sizeof wanted);
    size_t room = fcl_buffer_bytes(buffer) / sizeof(uint32_t) - 1, used = wanted < room ? wanted : room;
    if (status != FCL_OK || !wanted)
        return status;
    uint32_t *words = malloc(used * sizeof *words);
    if (!words)
        return fclrt_fail(buffer->context, FCL_NO_MEMORY, "no memory for what was traced");
    status = fcl_read(buffer, sizeof(uint32_t), words, used * sizeof *words);
    size_t at = 0;
    while (status == FCL_OK && at < used && words[at] < count) {
        size_t size = 1 + record_words(formats[words[at]]);
        if (at + size > used)
            break;
        print_record(stderr, formats[words[at]], &words[at + 1]);
        at += size;
    }
    if (status == FCL_OK && wanted > at)
        fputs("trace: and more, which there was no room for\n", stderr);
    free(words);
    return status;
}
