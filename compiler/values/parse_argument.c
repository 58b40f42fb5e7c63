/* Arguments from text: literals, texts, files and generators. The parameter's type leads; an error says which argument,
   where in it (elements count from 0 as in FCL, components of tuples from 1) and which type is wanted. */
#include "values/value.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_LONGEST = 64 };

struct step {
    bool is_component;
    size_t number;
};

struct argument_reader {
    struct arena *arena;
    const struct value_argument *argument;
    const char *at;
    struct step path[PATH_LONGEST]; /* from the whole argument to what is being read */
    size_t depth;
    const char *why;
};

static void enter(struct argument_reader *r, bool is_component, size_t number) {
    if (r->depth < PATH_LONGEST)
        r->path[r->depth] = (struct step){is_component, number};
    r->depth++;
}

/* `argument 2 (`xs`), element 3: ` before what is wrong. */
static const char *locate(const struct argument_reader *r) {
    struct text text;
    text_init(&text, r->arena);
    const struct value_argument *argument = r->argument;
    if (argument->number)
        text_printf(&text, "argument %zu (`%s`)", argument->number, argument->name);
    else
        text_add(&text, argument->name);
    size_t depth = r->depth < PATH_LONGEST ? r->depth : PATH_LONGEST;
    for (size_t i = 0; i < depth;) {
        if (r->path[i].is_component) {
            text_printf(&text, ", component %zu", r->path[i++].number);
            continue;
        }
        bool is_single = i + 1 == depth || r->path[i + 1].is_component;
        if (is_single)
            text_printf(&text, ", element %zu", r->path[i++].number);
        else
            for (text_add(&text, ", element "); i < depth && !r->path[i].is_component; i++)
                text_printf(&text, "[%zu]", r->path[i].number);
    }
    text_printf(&text, ": %s", r->why);
    return text_string(&text);
}

int value_bracket(char c) { return (c == '[' || c == '(' || c == '{') - (c == ']' || c == ')' || c == '}'); }

static void skip_space(struct argument_reader *r) {
    while (isspace((unsigned char)*r->at))
        r->at++;
}

static bool expect(struct argument_reader *r, char wanted, struct type *type) {
    skip_space(r);
    if (*r->at == wanted) {
        r->at++;
        return true;
    }
    if (*r->at == '\0')
        r->why = arena_printf(r->arena, "the text ends where `%c` is wanted, in a value of type %s", wanted,
                              type_spelling(r->arena, type));
    else
        r->why = arena_printf(r->arena, "`%c` is wanted, not `%.16s`, for a value of type %s", wanted, r->at,
                              type_spelling(r->arena, type));
    return false;
}

/* ---- literals ---- */

typedef VEC(union scalar) scalars;

/* Brackets around it, as around a negative number of a program, mean nothing. */
static bool read_scalar(struct argument_reader *r, struct type *type, union scalar *value) {
    skip_space(r);
    bool is_list = *r->at == '[', has_bracket = *r->at == '(';
    if (has_bracket) {
        r->at++;
        if (!read_scalar(r, type, value))
            return false;
        skip_space(r);
    }
    if (is_list || (has_bracket && *r->at == ',')) {
        r->why = arena_printf(r->arena, "%s where a value of type %s is wanted", is_list ? "a list" : "a tuple",
                              type_spelling(r->arena, type));
        return false;
    }
    return has_bracket ? expect(r, ')', type) : value_parse_scalar(r->arena, type->base, &r->at, value, &r->why);
}

/* Reads a tuple's opening bracket or the comma between components, and in a record the next field's name. */
static bool expect_component(struct argument_reader *r, struct type *type, size_t i) {
    const struct record *record = type->tuple.record;
    skip_space(r);
    if (record && i && *r->at == '}') {
        r->why = arena_printf(r->arena, "the field `%s` is missing, in a value of type %s", record->fields[i]->text,
                              type_spelling(r->arena, type));
        return false;
    }
    if (!expect(r, i ? ',' : record ? '{' : '(', type))
        return false;
    if (!record)
        return true;
    skip_space(r);
    size_t length = 0;
    while (isalnum((unsigned char)r->at[length]) || r->at[length] == '_' || r->at[length] == '\'')
        length++;
    symbol wanted = record->fields[i];
    if (length != wanted->length || strncmp(r->at, wanted->text, length) != 0) {
        r->why = arena_printf(r->arena, "the field `%s` is wanted here, not `%.*s`, in a value of type %s",
                              wanted->text, length ? (int)length : 16, r->at, type_spelling(r->arena, type));
        return false;
    }
    if (r->argument->on_field)
        r->argument->on_field(r->argument->context, record, i, r->at);
    r->at += length;
    return expect(r, '=', type);
}

static bool expect_end(struct argument_reader *r, struct type *type) {
    return expect(r, type->tuple.record ? '}' : ')', type);
}

/* One element of an array: a scalar, or a tuple written out. */
static bool read_element(struct argument_reader *r, struct type *type, scalars *leaves) {
    type = type_resolve(type);
    skip_space(r);
    if (type->kind == TYPE_TUPLE) {
        for (size_t i = 0; i < type->tuple.count; i++) {
            if (!expect_component(r, type, i))
                return false;
            enter(r, true, i + 1);
            if (!read_element(r, type->tuple.items[i], leaves))
                return false;
            r->depth--;
        }
        return expect_end(r, type);
    }
    union scalar value;
    if (!read_scalar(r, type, &value))
        return false;
    vec_push(r->arena, leaves, value);
    return true;
}

/* shape[d] is -1 until the first list at depth d is complete. */
static bool read_list(struct argument_reader *r, struct type *type, size_t rank, int64_t *shape, scalars *leaves) {
    if (!expect(r, '[', type))
        return false;
    struct type *inner = type_resolve(type)->array.element;
    int64_t length = 0;
    skip_space(r);
    if (*r->at == ']') {
        r->at++;
    } else {
        for (bool more = true; more; length++) {
            enter(r, false, (size_t)length);
            if (rank > 1 ? !read_list(r, inner, rank - 1, shape + 1, leaves) : !read_element(r, inner, leaves))
                return false;
            r->depth--;
            skip_space(r);
            more = *r->at == ',';
            if (!more && !expect(r, ']', type))
                return false;
            r->at += more;
        }
    }
    if (shape[0] < 0)
        shape[0] = length;
    if (shape[0] != length) {
        r->why = arena_printf(r->arena, "a row of %lld element%s after rows of %lld; all rows must be equally long",
                              (long long)length, length == 1 ? "" : "s", (long long)shape[0]);
        return false;
    }
    return true;
}

static struct host_value *read_array_literal(struct argument_reader *r, struct type *type, struct type *element,
                                             size_t rank) {
    int64_t shape[VALUE_MAX_RANK], count;
    scalars leaves = {0};
    for (size_t i = 0; i < VALUE_MAX_RANK; i++)
        shape[i] = -1;
    if (!read_list(r, type, rank, shape, &leaves))
        return NULL;
    for (size_t i = 0; i < rank; i++)
        if (shape[i] < 0)
            shape[i] = 0;
    if (!value_check_shape(r->arena, element, rank, shape, &count, &r->why))
        return NULL;
    struct host_value *result = value_array(r->arena, element, rank, shape);
    size_t width = type_leaf_count(element);
    struct host_value **columns = ARENA_ARRAY(r->arena, struct host_value *, width);
    value_leaves(result, columns);
    for (size_t i = 0; i < leaves.count; i++)
        value_set(columns[i % width]->array.base, columns[i % width]->array.data, i / width, leaves.at[i]);
    return result;
}

/* ---- bytes ---- */

static struct host_value *array_of_bytes(struct argument_reader *r, struct type *element, const void *bytes,
                                         size_t length) {
    int64_t shape[1] = {(int64_t)length}, count;
    if (!value_check_shape(r->arena, element, 1, shape, &count, &r->why))
        return NULL;
    struct host_value *result = value_array(r->arena, element, 1, shape);
    if (length)
        memcpy(result->array.data, bytes, length);
    return result;
}

/* The byte behind a backslash; false: there is no such escape. */
static bool read_escape(struct argument_reader *r, unsigned char *byte) {
    static const char names[] = "ntr0\\\"", values[] = "\n\t\r\0\\\"";
    const char *name = *r->at ? strchr(names, *r->at) : NULL;
    if (name) {
        *byte = (unsigned char)values[name - names];
        r->at++;
        return true;
    }
    if (*r->at == 'x' && isxdigit((unsigned char)r->at[1]) && isxdigit((unsigned char)r->at[2])) {
        const char digits[] = {r->at[1], r->at[2], '\0'};
        *byte = (unsigned char)strtoul(digits, NULL, 16);
        r->at += 3;
        return true;
    }
    r->why =
        arena_printf(r->arena, "`\\%.1s` means nothing in a text; \\n, \\t, \\r, \\0, \\\\, \\\" and \\xHH do", r->at);
    return false;
}

/* "text": its bytes, in UTF-8. */
static struct host_value *read_text(struct argument_reader *r, struct type *element) {
    unsigned char *bytes = arena_alloc(r->arena, strlen(r->at));
    size_t length = 0;
    for (r->at++; *r->at != '"'; length++) {
        if (*r->at == '\0') {
            r->why = "the text ends where `\"` is wanted";
            return NULL;
        }
        if (*r->at != '\\')
            bytes[length] = (unsigned char)*r->at++;
        else if (r->at++, !read_escape(r, &bytes[length]))
            return NULL;
    }
    r->at++;
    return array_of_bytes(r, element, bytes, length);
}

/* ---- generators ---- */

static const char *size_form(size_t rank) {
    return rank == 1   ? "a whole number, as in iota:1000"
           : rank == 2 ? "ROWSxCOLUMNS, as in iota:2x3"
                       : "as in iota:2x3x4";
}

static bool ends_size(char c) {
    return !c || c == ':' || c == ',' || c == ')' || c == '}' || isspace((unsigned char)c);
}

static bool no_size(struct argument_reader *r, const char *form, size_t rank) {
    r->why = arena_printf(r->arena, "`%.24s` is no size; one is %s", form, size_form(rank));
    return false;
}

/* `1000` or `RxC`, followed by `:` or the end. */
static bool read_dimensions(struct argument_reader *r, struct type *type, size_t rank, int64_t *shape) {
    const char *form = r->at;
    size_t count = 0;
    for (;;) {
        if (!isdigit((unsigned char)*r->at))
            return no_size(r, form, rank);
        int64_t length = 0;
        const char *digits = r->at;
        for (; isdigit((unsigned char)*r->at); r->at++)
            if (length <= VALUE_MAX_LENGTH)
                length = length * 10 + (*r->at - '0');
        if (length > VALUE_MAX_LENGTH) {
            r->why = value_why_too_many(r->arena, digits, (size_t)(r->at - digits));
            return false;
        }
        if (count < VALUE_MAX_RANK)
            shape[count] = length;
        count++;
        if (*r->at != 'x')
            break;
        r->at++;
    }
    if (!ends_size(*r->at))
        return no_size(r, form, rank);
    if (count == rank)
        return true;
    r->why = arena_printf(r->arena, "a size of %zu dimension%s, and %s has %zu: it is %s", count, count == 1 ? "" : "s",
                          type_spelling(r->arena, type), rank, size_form(rank));
    return false;
}

static bool take_colon(struct argument_reader *r, const char *what) {
    if (*r->at == ':') {
        r->at++;
        return true;
    }
    r->why = arena_printf(r->arena, "`:` and %s are wanted%s%.16s", what, *r->at ? ", not " : "", r->at);
    return false;
}

static bool read_range(struct argument_reader *r, struct type *element, union scalar *low, union scalar *high) {
    size_t count = type_leaf_count(element);
    enum base *bases = ARENA_ARRAY(r->arena, enum base, count);
    value_leaf_bases(element, bases);
    const char *from = r->at, *between = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *at = from;
        if (!value_parse_scalar(r->arena, bases[i], &at, &low[i], &r->why))
            return false;
        if (*at != ':') {
            r->why = "a random range has two ends, LO:HI";
            return false;
        }
        between = ++at;
        if (!value_parse_scalar(r->arena, bases[i], &at, &high[i], &r->why))
            return false;
        r->at = at;
        const struct base_info *info = &base_info[bases[i]];
        bool is_empty = info->is_floating ? !(low[i].floating < high[i].floating)
                        : info->is_signed ? low[i].integer > high[i].integer
                                          : low[i].natural > high[i].natural;
        bool is_endless = info->is_floating && (isinf(low[i].floating) || isinf(high[i].floating));
        if (is_empty || is_endless) {
            r->why = arena_printf(r->arena, "the range %.*s:%.*s %s", (int)(between - 1 - from), from,
                                  (int)(at - between), between, is_empty ? "is empty" : "has no end");
            return false;
        }
    }
    return true;
}

static bool starts_with(struct argument_reader *r, const char *word) {
    size_t length = strlen(word);
    if (strncmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

enum generator { GENERATOR_IOTA, GENERATOR_FILL, GENERATOR_RANDOM };

static struct host_value *read_generator(struct argument_reader *r, struct type *type, struct type *element,
                                         size_t rank, enum generator generator) {
    int64_t shape[VALUE_MAX_RANK] = {0}, count;
    size_t width = type_leaf_count(element);
    if (!read_dimensions(r, type, rank, shape))
        return NULL;
    if (!value_check_shape(r->arena, element, rank, shape, &count, &r->why))
        return NULL;
    scalars leaves = {0};
    union scalar seed = {0}, *low = ARENA_ARRAY(r->arena, union scalar, width),
                 *high = ARENA_ARRAY(r->arena, union scalar, width);
    bool has_range = false;
    switch (generator) {
    case GENERATOR_IOTA: break;
    case GENERATOR_FILL:
        if (!take_colon(r, "the value") || !read_element(r, element, &leaves))
            return NULL;
        break;
    case GENERATOR_RANDOM:
        if (!take_colon(r, "a seed") || !value_parse_scalar(r->arena, BASE_U64, &r->at, &seed, &r->why))
            return NULL;
        has_range = *r->at == ':';
        r->at += has_range;
        if (has_range && !read_range(r, element, low, high))
            return NULL;
        break;
    }
    if (r->argument->on_field)
        memset(shape, 0, sizeof shape);
    struct host_value *result = value_array(r->arena, element, rank, shape);
    switch (generator) {
    case GENERATOR_IOTA: value_fill_iota(result); break;
    case GENERATOR_FILL: value_fill_scalars(result, leaves.at); break;
    case GENERATOR_RANDOM: value_fill_random(result, seed.natural, has_range, low, high); break;
    }
    return result;
}

/* ---- files ---- */

/* Up to the end; inside a tuple up to its comma or parenthesis. */
static struct host_value *read_file(struct argument_reader *r, struct type *type, bool in_tuple, bool as_bytes) {
    size_t length = in_tuple ? strcspn(r->at, ",)}") : strlen(r->at);
    const char *path = arena_strndup(r->arena, r->at, length);
    r->at += length;
    if (!*path) {
        r->why = "`@` needs a file name behind it";
        return NULL;
    }
    return value_from_file(r->arena, type, r->argument->directory, path, as_bytes, &r->why);
}

/* ---- what is no array, or no scalar ---- */

static bool is_word(const char *text, const char *const *words, size_t count) {
    size_t length = strcspn(text, ":( ");
    for (size_t i = 0; i < count; i++)
        if (strlen(words[i]) == length && strncmp(text, words[i], length) == 0)
            return true;
    return false;
}

static bool names_generator(const char *text) {
    static const char *const words[] = {"iota",  "fill",   "random", "range", "arange",   "rand",
                                        "zeros", "zeroes", "ones",   "seq",   "linspace", "randint"};
    return is_word(text, words, sizeof words / sizeof *words);
}

static bool names_file(struct argument_reader *r) {
    const char *directory = r->argument->directory;
    return value_names_file(r->at) ||
           value_has_file(directory ? arena_printf(r->arena, "%s/%s", directory, r->at) : r->at);
}

/* Says what was meant where an array does not begin; false: something else. */
static bool is_meant_otherwise(struct argument_reader *r, struct type *type, bool are_text) {
    if (names_generator(r->at))
        r->why = arena_printf(r->arena, "`%.24s` is no array; made-up ones are iota:N, fill:N:VALUE and random:N:SEED",
                              r->at);
    else if (*r->at == '"')
        r->why = arena_printf(r->arena, "a text is of type [u8], and %s is wanted", type_spelling(r->arena, type));
    else if (*r->at && *r->at != '[' && names_file(r))
        r->why = arena_printf(r->arena, "a file is given as @%s", r->at);
    else if (are_text && *r->at && *r->at != '[')
        r->why = arena_printf(r->arena, "a text is in quotes, which for the shell are quoted: '\"%.24s\"'", r->at);
    else
        return false;
    return true;
}

/* ---- any value ---- */

static struct host_value *read_value(struct argument_reader *r, struct type *type, bool in_tuple);

static struct host_value *read_tuple(struct argument_reader *r, struct type *type) {
    struct host_value **items = ARENA_ARRAY(r->arena, struct host_value *, type->tuple.count);
    for (size_t i = 0; i < type->tuple.count; i++) {
        if (!expect_component(r, type, i))
            return NULL;
        enter(r, true, i + 1);
        items[i] = read_value(r, type->tuple.items[i], true);
        if (!items[i])
            return NULL;
        r->depth--;
    }
    if (!expect_end(r, type))
        return NULL;
    return value_tuple(r->arena, type, items);
}

static struct host_value *read_value(struct argument_reader *r, struct type *type, bool in_tuple) {
    struct type *element;
    size_t rank = value_type_rank(type, &element);
    skip_space(r);
    bool as_bytes = starts_with(r, "bytes:@");
    if (as_bytes || starts_with(r, "@"))
        return read_file(r, type, in_tuple, as_bytes);
    if (rank > 0) {
        if (starts_with(r, "iota:"))
            return read_generator(r, type, element, rank, GENERATOR_IOTA);
        if (starts_with(r, "fill:"))
            return read_generator(r, type, element, rank, GENERATOR_FILL);
        if (starts_with(r, "random:"))
            return read_generator(r, type, element, rank, GENERATOR_RANDOM);
        if (*r->at == '"' && value_is_bytes(type))
            return read_text(r, element);
        return is_meant_otherwise(r, type, value_is_bytes(type)) ? NULL : read_array_literal(r, type, element, rank);
    }
    if (element->kind == TYPE_TUPLE)
        return read_tuple(r, element);
    if (names_generator(r->at)) {
        r->why = arena_printf(r->arena, "`%.24s` makes an array, and a value of type %s is wanted", r->at,
                              type_spelling(r->arena, type));
        return NULL;
    }
    scalars leaves = {0};
    return read_element(r, element, &leaves) ? value_scalar(r->arena, element->base, leaves.at[0]) : NULL;
}

struct host_value *value_parse(struct arena *arena, struct type *type, const struct value_argument *argument,
                               const char *text, const char **why) {
    struct argument_reader reader = {.arena = arena, .argument = argument, .at = text};
    struct host_value *result = NULL;
    if (!value_type_is_host(type)) {
        reader.why = arena_printf(arena, "a value of type %s cannot be given here", type_spelling(arena, type));
    } else {
        result = read_value(&reader, type, false);
        skip_space(&reader);
        if (result && *reader.at) {
            reader.why = arena_printf(arena, "`%.24s` follows a complete value of type %s", reader.at,
                                      type_spelling(arena, type));
            result = NULL;
        }
    }
    *why = result ? NULL : locate(&reader);
    return result;
}
