/* Pictures of Netpbm: PGM (P2 in text, P5 in bytes) and PPM (P3, P6). A sample stays the number that it is in the file:
   of 8 bits, or of 16 where the greatest is above 255. */
#include "values/value.h"

#include <string.h>

enum { BYTE = 256, MOST_SAMPLE = 65535 };

struct picture {
    struct arena *arena;
    const unsigned char *at, *end, *start;
    uint64_t width, height, most; /* the greatest sample */
    size_t channels, sample_bytes;
    bool is_text;
    const char *why;
};

static bool fail(struct picture *p, const char *problem) {
    p->why = arena_printf(p->arena, "byte %zu: %s", (size_t)(p->at - p->start), problem);
    return false;
}

static bool is_space(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }

/* A comment goes from # to the line's end. */
static void skip_space(struct picture *p) {
    for (; p->at < p->end && (is_space(*p->at) || *p->at == '#'); p->at++)
        if (*p->at == '#')
            while (p->at < p->end && *p->at != '\n')
                p->at++;
    if (p->at > p->end)
        p->at = p->end;
}

static bool read_number(struct picture *p, uint64_t least, uint64_t most, const char *what, uint64_t *number) {
    skip_space(p);
    const unsigned char *digits = p->at;
    for (*number = 0; p->at < p->end && is_digit(*p->at) && *number <= most; p->at++)
        *number = *number * 10 + (uint64_t)(*p->at - '0');
    bool ends = p->at == p->end || is_space(*p->at) || *p->at == '#';
    if (p->at > digits && ends && *number >= least && *number <= most)
        return true;
    p->at = digits;
    return fail(p, digits == p->end ? arena_printf(p->arena, "the file ends where %s is wanted", what)
                                    : arena_printf(p->arena, "%s from %llu to %llu is wanted", what,
                                                   (unsigned long long)least, (unsigned long long)most));
}

static bool read_header(struct picture *p) {
    char kind = p->end - p->at >= 2 && p->at[0] == 'P' ? (char)p->at[1] : '\0';
    if (kind == '1' || kind == '4' || kind == '7')
        return fail(p, arena_printf(p->arena, "P%c, which cannot be read: convert it to P5, PGM, or to P6, PPM", kind));
    if (kind != '2' && kind != '3' && kind != '5' && kind != '6')
        return fail(p, "P2, P3, P5 or P6 is wanted: this is no PGM or PPM file");
    p->channels = kind == '3' || kind == '6' ? 3 : 1;
    p->is_text = kind <= '3';
    p->at += 2;
    if (!read_number(p, 0, VALUE_MAX_LENGTH, "a width", &p->width) ||
        !read_number(p, 0, VALUE_MAX_LENGTH, "a height", &p->height) ||
        !read_number(p, 1, MOST_SAMPLE, "a greatest sample", &p->most))
        return false;
    p->sample_bytes = p->most < BYTE ? 1 : 2;
    if (!p->is_text && (p->at == p->end || !is_space(*p->at)))
        return fail(p, "a blank is wanted before the samples");
    p->at += !p->is_text;
    /* Before memory is asked for. A sample in text is a digit and a blank, but for the last. */
    uint64_t pixels = p->width * p->height, left = (uint64_t)(p->end - p->at);
    uint64_t have = p->is_text ? (left + 1) / 2 / p->channels : left / p->channels / p->sample_bytes;
    if (pixels > have)
        return fail(p, arena_printf(p->arena, "the file is cut short: %llu × %llu pixels are wanted, and there %s %llu",
                                    (unsigned long long)p->width, (unsigned long long)p->height,
                                    have == 1    ? "is"
                                    : p->is_text ? "are at most"
                                                 : "are",
                                    (unsigned long long)have));
    return true;
}

static bool read_sample(struct picture *p, uint64_t *sample) {
    if (p->is_text)
        return read_number(p, 0, p->most, "a sample", sample);
    *sample = p->at[0];
    if (p->sample_bytes == 2)
        *sample = *sample * BYTE + p->at[1];
    if (*sample > p->most)
        return fail(p, arena_printf(p->arena, "a sample of %llu, and the greatest is %llu", (unsigned long long)*sample,
                                    (unsigned long long)p->most));
    p->at += p->sample_bytes;
    return true;
}

static bool read_samples(struct picture *p, struct host_value **leaves) {
    size_t count = (size_t)(p->width * p->height);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < p->channels; j++) {
            uint64_t sample;
            if (!read_sample(p, &sample))
                return false;
            enum base base = leaves[j]->array.base;
            value_set(base, leaves[j]->array.data, i,
                      base_info[base].is_floating ? (union scalar){.floating = (double)sample}
                                                  : (union scalar){.natural = sample});
        }
    while (p->at < p->end && is_space(*p->at))
        p->at++;
    return p->at == p->end || fail(p, "more follows the picture: only one can be read");
}

/* Integers and floating-point numbers that all samples fit. */
static bool holds_samples(const struct picture *p, enum base base) {
    const struct base_info *info = &base_info[base];
    return info->is_floating
               ? base_of_natural(base, p->most) == (double)p->most && info->format.significand > 8
               : info->is_integer && base_wrap(base, (union scalar){.natural = p->most}).natural == p->most;
}

static struct host_value *read_picture(struct picture *p, struct type *type) {
    struct type *element;
    size_t rank = value_type_rank(type, &element), width = type_leaf_count(element);
    enum base bases[3];
    if (!read_header(p))
        return NULL;
    bool fits = rank == 2 && width == p->channels;
    if (fits)
        value_leaf_bases(element, bases);
    for (size_t i = 0; fits && i < width; i++)
        fits = holds_samples(p, bases[i]);
    if (!fits) {
        const char *sample = p->sample_bytes == 1 ? "u8" : "u16";
        const char *wanted = p->channels == 1 ? arena_printf(p->arena, "[[%s]]", sample)
                                              : arena_printf(p->arena, "[[(%s, %s, %s)]]", sample, sample, sample);
        p->why = arena_printf(p->arena, "the picture has %s samples of up to %llu, as %s holds them, not %s",
                              p->channels == 1 ? "grey" : "red, green and blue", (unsigned long long)p->most, wanted,
                              type_spelling(p->arena, type));
        return NULL;
    }
    int64_t count, shape[] = {(int64_t)p->height, (int64_t)p->width};
    if (!value_check_shape(p->arena, element, 2, shape, &count, &p->why))
        return NULL;
    struct host_value *result = value_array(p->arena, element, 2, shape), *leaves[3];
    value_leaves(result, leaves);
    return read_samples(p, leaves) ? result : NULL;
}

struct host_value *value_from_image(struct arena *arena, struct type *type, struct value_bytes bytes,
                                    const char **why) {
    struct picture picture = {.arena = arena, .at = bytes.at, .start = bytes.at, .end = bytes.at + bytes.length};
    struct host_value *result = read_picture(&picture, type);
    *why = picture.why;
    return result;
}
