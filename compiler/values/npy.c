/* NumPy's .npy format: reading versions 1 to 3, writing version 1. A file is a magic number, a version, a header that
   is a Python dictionary in text ({'descr': '<i4', 'fortran_order': False, 'shape': (3, 4), }), and the data. Tuples
   are a structured array, whose descr lists the fields: [('f0', '<i4'), ('f1', '<f8')]. */
#include "values/value.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "support/vec.h"

static const char MAGIC[] = "\x93NUMPY";
enum { MAGIC_LENGTH = 6, HEADER_ALIGNMENT = 64, MOST_NESTED = 32 };

struct field {
    enum base base;
    size_t offset; /* in an element */
    const char *name;
};

typedef VEC(struct field) fields;

struct header {
    fields fields;
    bool is_structured;
    size_t element_bytes;
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

/* A quoted string, with escapes as they are. */
static bool take_string(struct arena *arena, struct cursor *c, const char **string) {
    skip_space(c);
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return false;
    char quote = *c->at++;
    const char *start = c->at;
    while (c->at < c->end && *c->at != quote)
        c->at += *c->at == '\\' && c->at + 1 < c->end ? 2 : 1;
    *string = arena_strndup(arena, start, (size_t)(c->at - start));
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

static bool read_base(struct arena *arena, const char *descr, enum base *base, const char **why) {
    if (base_of_descr(descr, base))
        return true;
    *why = arena_printf(
        arena, "elements of NumPy's type `%s` cannot be read%s", descr,
        descr[0] == '>' ? arena_printf(arena, ": they are big-endian, save them by .astype('<%s')", descr + 1) : "");
    return false;
}

/* The bytes of padding, which NumPy writes as a field without a name: ('', '|V3'). */
static bool is_padding(const char *name, const char *descr, size_t *bytes) {
    if (*name || strncmp(descr, "|V", 2) != 0)
        return false;
    *bytes = 0;
    for (descr += 2; isdigit((unsigned char)*descr) && *bytes < INT32_MAX; descr++)
        *bytes = *bytes * 10 + (size_t)(*descr - '0');
    return true;
}

/* The list of fields, with those of nested structures in their places. */
static bool read_fields(struct arena *arena, struct cursor *c, struct header *header, int depth, const char **why) {
    if (depth == MOST_NESTED)
        return false;
    while (!take(c, ']')) {
        const char *name, *descr;
        if (!take(c, '(') || !take_string(arena, c, &name) || !take(c, ','))
            return false;
        if (take(c, '[')) {
            if (!read_fields(arena, c, header, depth + 1, why))
                return false;
        } else {
            size_t bytes;
            enum base base;
            if (!take_string(arena, c, &descr))
                return false;
            if (!is_padding(name, descr, &bytes)) {
                if (!read_base(arena, descr, &base, why)) {
                    *why = arena_printf(arena, "field `%s`: %s", name, *why);
                    return false;
                }
                vec_push(arena, &header->fields, (struct field){base, header->element_bytes, name});
                bytes = base_size(base);
            }
            header->element_bytes += bytes;
        }
        bool has_comma = take(c, ',');
        if (!take(c, ')')) {
            if (has_comma)
                *why = arena_printf(arena, "field `%s` is an array, which no tuple has", name);
            return false;
        }
        take(c, ',');
    }
    return true;
}

static bool read_descr(struct arena *arena, struct cursor *c, struct header *header, const char **why) {
    header->fields.count = header->element_bytes = 0;
    header->is_structured = take(c, '[');
    if (header->is_structured)
        return read_fields(arena, c, header, 0, why);
    const char *descr;
    enum base base;
    if (!take_string(arena, c, &descr) || !read_base(arena, descr, &base, why))
        return false;
    vec_push(arena, &header->fields, (struct field){base, 0, ""});
    header->element_bytes = base_size(base);
    return true;
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
    const char *key;
    if (!take(c, '{'))
        return false;
    while (!take(c, '}')) {
        if (!take_string(arena, c, &key) || !take(c, ':'))
            return false;
        if (strcmp(key, "descr") == 0) {
            if (!read_descr(arena, c, header, why))
                return false;
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

/* Can elements become the wanted type at all? Integers where they fit, anything but bool to floating. */
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

/* One field of all elements. Each is copied to aligned memory first where they are converted one by one. */
static bool read_field(struct arena *arena, const struct header *header, const struct field *field, const void *bytes,
                       enum base to, void *data, size_t count, const char **why) {
    enum base from = field->base;
    if (from == to && !header->is_structured && !header->fortran_order && to != BASE_BOOL) {
        if (count)
            memcpy(data, bytes, count * base_size(to));
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t aligned = 0;
        union scalar value, result;
        const unsigned char *element = (const unsigned char *)bytes + file_index(header, i) * header->element_bytes;
        memcpy(&aligned, element + field->offset, base_size(from));
        value = value_get(from, &aligned, 0);
        if (from == BASE_BOOL)
            value.natural = value.natural != 0;
        if (!convert(from, to, value, &result)) {
            *why = arena_printf(arena, "element %zu: %s does not fit %s", i, printed(arena, from, value), name_of(to));
            return false;
        }
        value_set(to, data, i, result);
    }
    return true;
}

/* The beginning of a complaint about one field of several. */
static const char *of_field(struct arena *arena, const struct header *header, const struct field *field) {
    return header->is_structured ? arena_printf(arena, "field `%s`: ", field->name) : "";
}

/* The fields of a record by their names, in whichever order the array has them. */
static bool order_fields(struct arena *arena, struct header *header, const struct record *record, const char **why) {
    for (size_t i = 0; i < record->count; i++) {
        size_t at = i;
        while (at < header->fields.count && strcmp(header->fields.at[at].name, record->fields[i]->text) != 0)
            at++;
        if (at == header->fields.count) {
            *why = arena_printf(arena, "the array has no field `%s`", record->fields[i]->text);
            return false;
        }
        struct field field = header->fields.at[at];
        header->fields.at[at] = header->fields.at[i];
        header->fields.at[i] = field;
    }
    return true;
}

static bool is_flat(struct type *element) {
    bool flat = element->kind == TYPE_TUPLE && element->tuple.record;
    for (size_t i = 0; flat && i < element->tuple.count; i++)
        flat = type_resolve(element->tuple.items[i])->kind == TYPE_BASE;
    return flat;
}

static bool fits_fields(struct arena *arena, struct header *header, struct type *element, const enum base *bases,
                        const char **why) {
    size_t wanted = type_leaf_count(element), count = header->fields.count;
    if (count != wanted) {
        struct text names;
        text_init(&names, arena);
        for (size_t i = 0; i < count && i < MOST_NESTED; i++)
            text_printf(&names, "%s`%s`", i ? ", " : "", header->fields.at[i].name);
        *why = header->is_structured
                   ? arena_printf(arena, "the array has %zu field%s (%s), and %s has %zu", count, count == 1 ? "" : "s",
                                  text_string(&names), type_spelling(arena, element), wanted)
                   : arena_printf(arena,
                                  "the elements are of type %s, and tuples %s are wanted: the fields of a "
                                  "structured array",
                                  name_of(header->fields.at[0].base), type_spelling(arena, element));
        return false;
    }
    if (header->is_structured && is_flat(element) && !order_fields(arena, header, element->tuple.record, why))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct field *field = &header->fields.at[i];
        if (strcmp(base_info[field->base].numpy_name, base_info[bases[i]].numpy_name) == 0)
            field->base = bases[i]; /* the bits of a bf16 are uint16 there */
        if (!convertible(field->base, bases[i])) {
            *why = arena_printf(arena, "%sthe elements are of type %s, and %s is wanted",
                                of_field(arena, header, field), name_of(field->base), name_of(bases[i]));
            return false;
        }
    }
    return true;
}

/* The tuple, or the scalar, whose components are the only elements of those arrays. */
static struct host_value *only_element(struct arena *arena, struct type *type, struct host_value *value) {
    if (value->kind == VALUE_ARRAY)
        return value_scalar(arena, value->array.base, value_get(value->array.base, value->array.data, 0));
    type = type_resolve(type);
    for (size_t i = 0; i < type->tuple.count; i++)
        value->tuple.items[i] = only_element(arena, type->tuple.items[i], value->tuple.items[i]);
    return value_tuple(arena, type, value->tuple.items);
}

struct host_value *value_from_npy(struct arena *arena, struct type *type, struct value_bytes bytes, const char **why) {
    struct type *element;
    struct header header;
    size_t rank = value_type_rank(type, &element), leaves = type_leaf_count(element);
    enum base *bases = ARENA_ARRAY(arena, enum base, leaves);
    value_leaf_bases(element, bases);
    if (!type_is_of_scalars(element)) {
        *why = arena_printf(arena, "one array holds no value of type %s; each component has a file",
                            type_spelling(arena, type));
        return NULL;
    }
    if (!read_header(arena, &bytes, &header, why))
        return NULL;
    if (header.rank != rank) {
        *why = arena_printf(arena, "the array has %zu dimension%s, and %zu %s wanted", header.rank,
                            header.rank == 1 ? "" : "s", rank, rank == 1 ? "is" : "are");
        return NULL;
    }
    int64_t count;
    if (!fits_fields(arena, &header, element, bases, why) ||
        !value_check_shape(arena, element, rank, header.shape, &count, why))
        return NULL;
    size_t wanted = (size_t)count * header.element_bytes;
    if (header.element_bytes && (size_t)count > SIZE_MAX / header.element_bytes)
        wanted = SIZE_MAX;
    if (bytes.length != wanted) {
        *why = bytes.length < wanted
                   ? arena_printf(arena, "the .npy file is cut short: %zu bytes of %zu", bytes.length, wanted)
                   : arena_printf(arena, "%zu byte%s the array", bytes.length - wanted,
                                  bytes.length - wanted == 1 ? " follows" : "s follow");
        return NULL;
    }
    int64_t one[] = {1};
    struct host_value *result = value_array(arena, element, rank ? rank : 1, rank ? header.shape : one);
    struct host_value **columns = ARENA_ARRAY(arena, struct host_value *, leaves);
    value_leaves(result, columns);
    for (size_t i = 0; i < leaves; i++)
        if (!read_field(arena, &header, &header.fields.at[i], bytes.at, bases[i], columns[i]->array.data, (size_t)count,
                        why)) {
            *why = arena_printf(arena, "%s%s", of_field(arena, &header, &header.fields.at[i]), *why);
            return NULL;
        }
    return rank ? result : only_element(arena, element, result);
}

/* ---- writing ---- */

/* A field's name in quotes of Python's. */
static const char *npy_name(struct arena *arena, const char *name) {
    struct text text;
    text_init(&text, arena);
    for (; *name; name++)
        text_printf(&text, *name == '\'' ? "\\%c" : "%c", *name);
    return text_string(&text);
}

static void write_descr(struct text *out, const struct host_value *value) {
    if (value->kind != VALUE_ZIPPED) {
        enum base base = value->kind == VALUE_SCALAR ? value->scalar.base : value->array.base;
        text_printf(out, "'%s'", descr_of(base).text);
        return;
    }
    for (size_t i = 0; i < value->tuple.count; i++) {
        if (value->tuple.record)
            text_printf(out, "%s('%s', ", i ? ", " : "[", npy_name(out->arena, value->tuple.record->fields[i]->text));
        else
            text_printf(out, "%s('f%zu', ", i ? ", " : "[", i);
        write_descr(out, value->tuple.items[i]);
        text_add(out, ")");
    }
    text_add(out, "]");
}

static size_t leaf_count(const struct host_value *value) {
    size_t count = value->kind != VALUE_ZIPPED;
    for (size_t i = 0; value->kind == VALUE_ZIPPED && i < value->tuple.count; i++)
        count += leaf_count(value->tuple.items[i]);
    return count;
}

/* The fields of an element side by side. */
static void write_elements(struct host_value *const *columns, size_t width, size_t count, unsigned char *to) {
    if (width == 1 && count) {
        memcpy(to, columns[0]->array.data, count * base_size(columns[0]->array.base));
        return;
    }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < width; j++) {
            size_t bytes = base_size(columns[j]->array.base);
            memcpy(to, (const unsigned char *)columns[j]->array.data + i * bytes, bytes);
            to += bytes;
        }
}

struct value_bytes value_to_npy(struct arena *arena, struct host_value *value) {
    bool is_scalar = value->kind == VALUE_SCALAR;
    size_t rank = is_scalar ? 0 : value_rank(value), count = is_scalar ? 1 : (size_t)value_element_count(value);
    size_t width = leaf_count(value), element_bytes = 0;
    struct host_value **columns = ARENA_ARRAY(arena, struct host_value *, width);
    value_leaves(value, columns);
    for (size_t i = 0; i < width; i++)
        element_bytes += base_size(is_scalar ? value->scalar.base : columns[i]->array.base);
    struct text header;
    text_init(&header, arena);
    text_add(&header, "{'descr': ");
    write_descr(&header, value);
    text_add(&header, ", 'fortran_order': False, 'shape': (");
    for (size_t i = 0; i < rank; i++)
        text_printf(&header, "%s%lld%s", i ? " " : "", (long long)value_shape(value)[i],
                    rank == 1 || i + 1 < rank ? "," : "");
    text_add(&header, "), }");
    size_t start = MAGIC_LENGTH + 4;
    while ((start + header.length + 1) % HEADER_ALIGNMENT != 0)
        text_add(&header, " ");
    text_add(&header, "\n");

    struct value_bytes result = {.length = start + header.length + count * element_bytes};
    result.at = arena_alloc(arena, result.length);
    memcpy(result.at, MAGIC, MAGIC_LENGTH);
    result.at[MAGIC_LENGTH] = 1;
    result.at[MAGIC_LENGTH + 2] = (unsigned char)(header.length & 0xFF);
    result.at[MAGIC_LENGTH + 3] = (unsigned char)(header.length >> 8);
    memcpy(result.at + start, header.at, header.length);
    if (is_scalar) {
        uint64_t aligned = 0;
        value_set(value->scalar.base, &aligned, 0, value->scalar.value);
        memcpy(result.at + start + header.length, &aligned, element_bytes);
    } else {
        write_elements(columns, width, count, result.at + start + header.length);
    }
    return result;
}

const char *value_npy_path(struct arena *arena, const char *path, size_t count, size_t index) {
    if (count == 1)
        return path;
    size_t stem = strlen(path) - strlen(".npy");
    return arena_printf(arena, "%.*s.%zu.npy", (int)stem, path, index);
}
