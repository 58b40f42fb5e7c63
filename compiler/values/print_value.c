/* Printing values as FCL literals. A float is printed with the fewest digits that read back as the same float. */
#include "values/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LONGEST_PLAIN_EXPONENT = 16, SMALLEST_PLAIN_EXPONENT = -4, MAX_DIGITS = 17 };

static bool reads_back(enum base base, const char *text, double value) {
    return floating_in(base_info[base].format, floating_read(text, NULL)) == value;
}

/* Takes the digits and the exponent of the shortest %e form, and writes them plainly where that is readable. */
static void print_floating(struct text *out, enum base base, double value) {
    if (isnan(value) || isinf(value)) {
        text_add(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    char buffer[64], digits[32];
    for (int precision = 0; precision < MAX_DIGITS; precision++) {
        snprintf(buffer, sizeof buffer, "%.*e", precision, value);
        if (reads_back(base, buffer, value))
            break;
    }
    const char *at = buffer;
    if (*at == '-') {
        text_add(out, "-");
        at++;
    }
    int count = 0;
    for (; *at && *at != 'e'; at++)
        if (*at != '.')
            digits[count++] = *at;
    int exponent = *at ? atoi(at + 1) : 0; /* of the first digit */
    while (count > 1 && digits[count - 1] == '0')
        count--;
    digits[count] = '\0';
    if (exponent < SMALLEST_PLAIN_EXPONENT || exponent >= LONGEST_PLAIN_EXPONENT) {
        text_printf(out, "%c%s%se%d", digits[0], count > 1 ? "." : "", digits + 1, exponent);
    } else if (exponent < 0) {
        text_printf(out, "0.%.*s%s", -exponent - 1, "0000", digits);
    } else if (count <= exponent + 1) {
        text_printf(out, "%s%.*s.0", digits, exponent + 1 - count, "0000000000000000");
    } else {
        text_printf(out, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
    }
}

void value_print_scalar(struct text *out, enum base base, union scalar value) {
    const struct base_info *info = &base_info[base];
    if (base == BASE_BOOL)
        text_add(out, value.natural ? "true" : "false");
    else if (info->is_floating)
        print_floating(out, base, value.floating);
    else if (info->is_signed)
        text_printf(out, "%" PRId64, value.integer);
    else
        text_printf(out, "%" PRIu64, value.natural);
}

/* ---- arrays ---- */

/* Prints what comes before component i: a bracket or a comma, and in a record the field's name. */
static void print_before(struct text *out, const struct host_value *tuple, size_t i) {
    const struct record *record = tuple->tuple.record;
    text_add(out, i ? "," : record ? "{" : "(");
    if (record)
        text_printf(out, "%s=", record->fields[i]->text);
}

static void print_end(struct text *out, const struct host_value *tuple) {
    text_add(out, tuple->tuple.record ? "}" : ")");
}

/* A value, or an array, of the type, of the slots that follow one another (note [alternatives] in type.h): that is what
   the constructor was applied to. */
static struct host_value *applied_to(struct arena *arena, struct type *type, const struct host_value *value,
                                     const size_t **slot) {
    type = type_resolve(type);
    if (type->kind != TYPE_TUPLE)
        return value->tuple.items[*(*slot)++];
    struct host_value *tuple = ARENA_NEW(arena, struct host_value);
    tuple->kind = value->kind;
    tuple->tuple.count = type->tuple.count;
    tuple->tuple.record = type->tuple.record;
    tuple->tuple.items = ARENA_ARRAY(arena, struct host_value *, type->tuple.count);
    for (size_t i = 0; i < type->tuple.count; i++)
        tuple->tuple.items[i] = applied_to(arena, type->tuple.items[i], value, slot);
    return tuple;
}

static bool is_alternative(const struct host_value *value) {
    return value->tuple.record && value->tuple.record->constructor_count;
}

static union scalar single(const struct host_value *value, size_t index) {
    return value->kind == VALUE_SCALAR ? value->scalar.value : value_get(value->array.base, value->array.data, index);
}

static void print_alternative(struct text *out, const struct host_value *value, size_t index);

/* A value without arrays, or an array's element of that index. */
static void print_single(struct text *out, const struct host_value *value, size_t index) {
    if (value->kind == VALUE_SCALAR || value->kind == VALUE_ARRAY) {
        value_print_scalar(out, value->kind == VALUE_SCALAR ? value->scalar.base : value->array.base,
                           single(value, index));
        return;
    }
    if (is_alternative(value)) {
        print_alternative(out, value, index);
        return;
    }
    for (size_t i = 0; i < value->tuple.count; i++) {
        print_before(out, value, i);
        print_single(out, value->tuple.items[i], index);
    }
    print_end(out, value);
}

/* `Circle 1.5`, `Some (Some 1)`, `Some (-1)`. */
static void print_alternative(struct text *out, const struct host_value *value, size_t index) {
    union scalar tag = single(value->tuple.items[0], index);
    const struct constructor *made = &value->tuple.record->constructors[tag.natural];
    const size_t *slot = made->slots;
    struct text of;
    text_init(&of, out->arena);
    text_add(out, made->name->text);
    if (!made->of)
        return;
    print_single(&of, applied_to(out->arena, made->of, value, &slot), index);
    const char *text = text_string(&of);
    bool needs_brackets = *text == '-' || (strchr(text, ' ') && *text != '(' && *text != '{');
    text_printf(out, needs_brackets ? " (%s)" : " %s", text);
}

struct printing {
    struct text *out;
    const struct host_value *array;
    int64_t left; /* elements and empty rows that may still be printed; negative: no limit */
    bool cut;
};

/* Elements, or where there are none the rows that are empty. */
static int64_t printed_count(const struct host_value *array) {
    const int64_t *shape = value_shape(array);
    int64_t count = shape[0];
    for (size_t i = 1; i < value_rank(array) && shape[i] > 0 && count <= INT32_MAX; i++)
        count *= shape[i];
    return count;
}

/* The part of the array from element `first` on, in the dimensions from `depth` on. */
static void print_rows(struct printing *p, size_t depth, size_t first) {
    const int64_t *shape = value_shape(p->array);
    size_t rank = value_rank(p->array), stride = 1;
    for (size_t i = depth + 1; i < rank; i++)
        stride *= (size_t)shape[i];
    text_add(p->out, "[");
    for (int64_t i = 0; i < shape[depth] && !p->cut; i++) {
        if (p->left == 0) {
            p->cut = true;
            text_add(p->out, " … ");
            for (size_t d = 0; d < rank; d++)
                text_printf(p->out, "%s%lld", d ? "x" : "", (long long)shape[d]);
            text_add(p->out, " elements");
            break;
        }
        if (i)
            text_add(p->out, ",");
        if (depth + 1 < rank)
            print_rows(p, depth + 1, first + (size_t)i * stride);
        else
            print_single(p->out, p->array, first + (size_t)i);
        if (p->left > 0 && (depth + 1 == rank || shape[depth + 1] == 0))
            p->left--;
    }
    text_add(p->out, "]");
}

void value_print(struct text *out, const struct host_value *value, int64_t limit) {
    switch (value->kind) {
    case VALUE_SCALAR: value_print_scalar(out, value->scalar.base, value->scalar.value); return;
    case VALUE_ARRAY:
    case VALUE_ZIPPED: {
        struct printing printing = {out, value, limit > 0 && printed_count(value) > limit ? limit : -1, false};
        print_rows(&printing, 0, 0);
        return;
    }
    case VALUE_TUPLE:
        if (is_alternative(value)) {
            print_alternative(out, value, 0);
            return;
        }
        for (size_t i = 0; i < value->tuple.count; i++) {
            print_before(out, value, i);
            value_print(out, value->tuple.items[i], limit);
        }
        print_end(out, value);
        return;
    }
}

static bool holds_array(const struct host_value *value) {
    if (value->kind != VALUE_TUPLE)
        return value->kind != VALUE_SCALAR;
    for (size_t i = 0; i < value->tuple.count; i++)
        if (holds_array(value->tuple.items[i]))
            return true;
    return false;
}

void value_print_lines(struct text *out, const struct host_value *value, int64_t limit) {
    if (value->kind == VALUE_TUPLE && !value->tuple.record && holds_array(value)) {
        for (size_t i = 0; i < value->tuple.count; i++) {
            value_print(out, value->tuple.items[i], limit);
            text_add(out, "\n");
        }
        return;
    }
    value_print(out, value, limit);
    text_add(out, "\n");
}
