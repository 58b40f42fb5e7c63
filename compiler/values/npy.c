/* NumPy's .npy format: reading versions 1 to 3, writing version 1. A file is a magic number, a version, a header that
   is a Python dictionary in text ({'descr': '<i4', 'fortran_order': False, 'shape': (3, 4), }), and the data. */
#include "values/value.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static const char MAGIC[] = "\x93NUMPY";
enum { MAGIC_LENGTH = 6, HEADER_ALIGNMENT = 64 };

struct header {
    enum base base;
    bool fortran_order;
    size_t rank;
    int64_t shape[VALUE_MAX_RANK];
};

/* ---- the header ---- */

struct cursor {
    const char *at, *end;
};

static void skip_space(struct cursor *c) {
    while (c->at < c->end && isspace((unsigned char)*c->at))
        c->at++;
}

static bool take(struct cursor *c, char wanted) {
    skip_space(c);
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

static bool take_word(struct cursor *c, const char *word) {
    skip_space(c);
    size_t length = strlen(word);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0)
        return false;
    c->at += length;
    return true;
}

/* A quoted string without escapes; longer ones than the buffer fail. */
static bool take_string(struct cursor *c, char *buffer, size_t capacity) {
    skip_space(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    char quote = *c->at++;
    size_t length = 0;
    while (c->at < c->end && *c->at != quote) {
        if (length + 1 == capacity)
            return false;
        buffer[length++] = *c->at++;
    }
    buffer[length] = '\0';
    return take(c, quote);
}

/* NumPy's letter of the type, and its bytes: `<i4` is int32. */
struct descr {
    char text[4];
};

static struct descr descr_of(enum base base) {
    size_t bytes = base_size(base);
    return (struct descr){{bytes == 1 ? '|' : '<', base_info[base].numpy_name[0], (char)('0' + bytes), 0}};
}

static bool base_of_descr(const char *descr, enum base *base) {
    char order = descr[0];
    if (order != '<' && order != '|' && order != '=')
        return false;
    for (int i = 0; i < BASE_COUNT; i++)
        if (strcmp(descr_of((enum base)i).text + 1, descr + 1) == 0) {
            *base = (enum base)i;
            return true;
        }
    return false;
}

static bool read_shape(struct arena *arena, struct cursor *c, struct header *header, const char **why) {
    if (!take(c, '('))
        return false;
    while (!take(c, ')')) {
        skip_space(c);
        if (c->at == c->end || !isdigit((unsigned char)*c->at))
            return false;
        const char *digits = c->at;
        int64_t length = 0;
        for (; c->at < c->end && isdigit((unsigned char)*c->at); c->at++)
            if (length <= VALUE_MAX_LENGTH)
                length = length * 10 + (*c->at - '0');
        if (length > VALUE_MAX_LENGTH) {
            *why = value_why_too_many(arena, digits, (size_t)(c->at - digits));
            return false;
        }
        if (header->rank == VALUE_MAX_RANK) {
            *why = arena_printf(arena, "more than %d dimensions", (int)VALUE_MAX_RANK);
            return false;
        }
        header->shape[header->rank++] = length;
        if (!take(c, ',') && !(c->at < c->end && *c->at == ')'))
            return false;
    }
    return true;
}

static bool read_dictionary(struct arena *arena, struct cursor *c, struct header *header, const char **why) {
    bool has_descr = false, has_order = false, has_shape = false;
    char key[32], descr[32];
    if (!take(c, '{'))
        return false;
    while (!take(c, '}')) {
        if (!take_string(c, key, sizeof key) || !take(c, ':'))
            return false;
        if (strcmp(key, "descr") == 0) {
            if (!take_string(c, descr, sizeof descr)) {
                *why = "records (structured types) cannot be read";
                return false;
            }
            if (!base_of_descr(descr, &header->base)) {
                *why = arena_printf(arena, "elements of NumPy's type `%s` cannot be read%s", descr,
                                    descr[0] == '>' ? " (big-endian)" : "");
                return false;
            }
            has_descr = true;
        } else if (strcmp(key, "fortran_order") == 0) {
            header->fortran_order = take_word(c, "True");
            if (!header->fortran_order && !take_word(c, "False"))
                return false;
            has_order = true;
        } else if (strcmp(key, "shape") == 0) {
            header->rank = 0;
            if (!read_shape(arena, c, header, why))
                return false;
            has_shape = true;
        } else {
            return false;
        }
        take(c, ',');
    }
    return has_descr && has_order && has_shape;
}

/* On success `bytes` is moved to the data. */
static bool read_header(struct arena *arena, struct value_bytes *bytes, struct header *header, const char **why) {
    memset(header, 0, sizeof *header);
    if (bytes->length < MAGIC_LENGTH + 4 || memcmp(bytes->at, MAGIC, MAGIC_LENGTH) != 0) {
        *why = "not a .npy file";
        return false;
    }
    const unsigned char *at = bytes->at;
    unsigned version = at[MAGIC_LENGTH];
    size_t length_bytes = version == 1 ? 2 : 4, start = MAGIC_LENGTH + 2 + length_bytes, length = 0;
    if (version < 1 || version > 3) {
        *why = arena_printf(arena, "version %u of the .npy format is not known", version);
        return false;
    }
    if (bytes->length < start) {
        *why = "the .npy file ends within its header";
        return false;
    }
    for (size_t i = 0; i < length_bytes; i++)
        length |= (size_t)at[MAGIC_LENGTH + 2 + i] << (8 * i);
    if (length > bytes->length - start) {
        *why = "the .npy file ends within its header";
        return false;
    }
    struct cursor cursor = {(const char *)at + start, (const char *)at + start + length};
    *why = NULL;
    if (!read_dictionary(arena, &cursor, header, why)) {
        if (!*why)
            *why = "the header of the .npy file is malformed";
        return false;
    }
    bytes->at += start + length;
    bytes->length -= start + length;
    return true;
}

/* ---- the elements ---- */

static const char *name_of(enum base base) { return base_info[base].name; }

/* Whether elements can become the wanted type at all: integers where they fit, anything but bool to floating. */
static bool convertible(enum base from, enum base to) {
    if (from == to)
        return true;
    if (from == BASE_BOOL || to == BASE_BOOL)
        return false;
    return base_info[to].is_floating || base_info[from].is_integer;
}

static bool convert(enum base from, enum base to, union scalar value, union scalar *result) {
    const struct base_info *source = &base_info[from], *target = &base_info[to];
    if (target->is_floating) {
        result->floating = source->is_floating ? base_of_floating(to, value.floating)
                           : source->is_signed ? base_of_signed(to, value.integer)
                                               : base_of_natural(to, value.natural);
        return !isinf(result->floating) || (source->is_floating && isinf(value.floating));
    }
    *result = base_wrap(to, value);
    bool was_negative = source->is_signed && value.integer < 0, is_negative = target->is_signed && result->integer < 0;
    return result->natural == value.natural && was_negative == is_negative;
}

/* Where the element at a row-major index lies in the file. */
static size_t file_index(const struct header *header, size_t index) {
    if (!header->fortran_order)
        return index;
    size_t coordinates[VALUE_MAX_RANK], result = 0;
    for (size_t i = header->rank; i-- > 0;) {
        size_t length = (size_t)header->shape[i];
        coordinates[i] = index % length;
        index /= length;
    }
    for (size_t i = header->rank; i-- > 0;)
        result = result * (size_t)header->shape[i] + coordinates[i];
    return result;
}

static const char *printed(struct arena *arena, enum base base, union scalar value) {
    struct text text;
    text_init(&text, arena);
    value_print_scalar(&text, base, value);
    return text_string(&text);
}

/* The data are copied to aligned memory first where they are converted one by one. */
static bool read_elements(struct arena *arena, const struct header *header, struct value_bytes bytes, enum base to,
                          void *data, size_t count, const char **why) {
    if (header->base == to && !header->fortran_order && to != BASE_BOOL) {
        memcpy(data, bytes.at, count * base_size(to));
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t aligned = 0;
        union scalar value, result;
        memcpy(&aligned, bytes.at + file_index(header, i) * base_size(header->base), base_size(header->base));
        value = value_get(header->base, &aligned, 0);
        if (header->base == BASE_BOOL)
            value.natural = value.natural != 0;
        if (!convert(header->base, to, value, &result)) {
            *why = arena_printf(arena, "element %zu: %s does not fit %s", i, printed(arena, header->base, value),
                                name_of(to));
            return false;
        }
        value_set(to, data, i, result);
    }
    return true;
}

static struct type *base_type_of(struct arena *arena, enum base base) {
    struct type *type = ARENA_NEW(arena, struct type);
    type->kind = TYPE_BASE;
    type->base = base;
    return type;
}

struct host_value *value_from_npy(struct arena *arena, enum base base, size_t rank, struct value_bytes bytes,
                                  const char **why) {
    struct header header;
    if (!read_header(arena, &bytes, &header, why))
        return NULL;
    if (strcmp(base_info[header.base].numpy_name, base_info[base].numpy_name) == 0)
        header.base = base; /* the bits of a bf16 are uint16 there */
    if (header.rank != rank) {
        *why = arena_printf(arena, "the array has %zu dimension%s, and %zu %s wanted", header.rank,
                            header.rank == 1 ? "" : "s", rank, rank == 1 ? "is" : "are");
        return NULL;
    }
    if (!convertible(header.base, base)) {
        *why =
            arena_printf(arena, "the elements are of type %s, and %s is wanted", name_of(header.base), name_of(base));
        return NULL;
    }
    int64_t count;
    if (!value_check_shape(arena, base_type_of(arena, header.base), rank, header.shape, &count, why))
        return NULL;
    if (bytes.length < (size_t)count * base_size(header.base)) {
        *why = arena_printf(arena, "the .npy file is cut short: %zu bytes of %zu", bytes.length,
                            (size_t)count * base_size(header.base));
        return NULL;
    }
    if (rank == 0) {
        union scalar value = {0};
        uint64_t room = 0;
        if (!read_elements(arena, &header, bytes, base, &room, 1, why))
            return NULL;
        value = value_get(base, &room, 0);
        return value_scalar(arena, base, value);
    }
    if (!value_check_shape(arena, base_type_of(arena, base), rank, header.shape, &count, why))
        return NULL;
    struct host_value *result = value_array(arena, base_type_of(arena, base), rank, header.shape);
    return read_elements(arena, &header, bytes, base, result->array.data, (size_t)count, why) ? result : NULL;
}

/* ---- writing ---- */

struct value_bytes value_to_npy(struct arena *arena, const struct host_value *value) {
    bool is_scalar = value->kind == VALUE_SCALAR;
    enum base base = is_scalar ? value->scalar.base : value->array.base;
    size_t rank = is_scalar ? 0 : value->array.rank;
    size_t data_length = base_size(base) * (is_scalar ? 1 : (size_t)value_element_count(value));
    struct text header;
    text_init(&header, arena);
    text_printf(&header, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr_of(base).text);
    for (size_t i = 0; i < rank; i++)
        text_printf(&header, "%s%lld%s", i ? " " : "", (long long)value->array.shape[i],
                    rank == 1 || i + 1 < rank ? "," : "");
    text_add(&header, "), }");
    size_t start = MAGIC_LENGTH + 4;
    while ((start + header.length + 1) % HEADER_ALIGNMENT != 0)
        text_add(&header, " ");
    text_add(&header, "\n");

    struct value_bytes result = {.length = start + header.length + data_length};
    result.at = arena_alloc(arena, result.length);
    memcpy(result.at, MAGIC, MAGIC_LENGTH);
    result.at[MAGIC_LENGTH] = 1;
    result.at[MAGIC_LENGTH + 2] = (unsigned char)(header.length & 0xFF);
    result.at[MAGIC_LENGTH + 3] = (unsigned char)(header.length >> 8);
    memcpy(result.at + start, header.at, header.length);
    if (is_scalar) {
        uint64_t aligned = 0;
        value_set(base, &aligned, 0, value->scalar.value);
        memcpy(result.at + start + header.length, &aligned, data_length);
    } else if (data_length) {
        memcpy(result.at + start + header.length, value->array.data, data_length);
    }
    return result;
}

const char *value_npy_path(struct arena *arena, const char *path, size_t count, size_t index) {
    if (count == 1)
        return path;
    size_t stem = strlen(path) - strlen(".npy");
    return arena_printf(arena, "%.*s.%zu.npy", (int)stem, path, index);
}
