/* Host values: what goes into a kernel and what comes out of it. Shared by the argument parser, the printer, the
   interpreter and the device executors. Arrays are dense, row-major and in C's layout, so that their data can be
   handed to a device as they are; an array of tuples is one array per component. */
#ifndef FCL_VALUES_VALUE_H
#define FCL_VALUES_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/arena.h"
#include "support/text.h"
#include "types/type.h"

enum value_kind {
    VALUE_SCALAR, /* scalar */
    VALUE_ARRAY,  /* array: elements of a base type */
    VALUE_ZIPPED, /* tuple: an array of tuples; the items are ARRAY or ZIPPED, all of the same shape */
    VALUE_TUPLE,  /* tuple: the items are anything */
};

enum {
    VALUE_MAX_RANK = TYPE_MOST_DIMENSIONS,
    VALUE_MAX_LENGTH = INT32_MAX, /* of a dimension: lengths are FCL's int */
};

#define VALUE_MAX_ELEMENTS (INT64_C(1) << 48) /* of all dimensions together */

struct host_value {
    enum value_kind kind;
    union {
        struct {
            enum base base;
            union scalar value;
        } scalar;
        struct {
            enum base base;
            size_t rank; /* 1 for [a], 2 for [[a]], … */
            int64_t *shape;
            void *data;
        } array;
        struct {
            struct host_value **items;
            size_t count;
            const struct record *record; /* NULL: it has no names */
        } tuple;
    };
};

/* ---- elements ---- */

size_t base_size(enum base base); /* bytes in memory */
union scalar value_get(enum base base, const void *data, size_t index);
void value_set(enum base base, void *data, size_t index, union scalar value);

/* ---- making and taking apart ---- */

struct host_value *value_scalar(struct arena *arena, enum base base, union scalar value);
struct host_value *value_tuple(struct arena *arena, struct type *type, struct host_value **items);
/* A zeroed array; `element` is a base type or a tuple of them (of tuples …), which gives a ZIPPED value. */
struct host_value *value_array(struct arena *arena, struct type *element, size_t rank, const int64_t *shape);
/* Says what is wrong with a length of that many digits. */
const char *value_why_too_many(struct arena *arena, const char *digits, size_t count);
/* The number of elements of such a shape. False, with *why, when it exceeds what a length or this machine can hold. */
bool value_check_shape(struct arena *arena, struct type *element, size_t rank, const int64_t *shape, int64_t *count,
                       const char **why);

/* The base types that a BT type consists of, from left to right: type_leaf_count of them. */
void value_leaf_bases(struct type *element, enum base *bases);
/* The arrays that an ARRAY or ZIPPED value consists of, in the same order. */
void value_leaves(struct host_value *value, struct host_value **leaves);

size_t value_rank(const struct host_value *value);           /* ARRAY, ZIPPED */
const int64_t *value_shape(const struct host_value *value);  /* ARRAY, ZIPPED */
int64_t value_element_count(const struct host_value *value); /* ARRAY, ZIPPED: the product of the shape */

/* [[…[element]…]], pull or push at every depth: the number of dimensions, 0 when `type` is no array. */
size_t value_type_rank(struct type *type, struct type **element);
/* True if values of that (ground) type can be written down at all: scalars, dense arrays, tuples of these. */
bool value_type_is_host(struct type *type);
bool value_is_bytes(struct type *type); /* [u8] */

/* ---- arguments (parse_argument.c; the forms are in CLI.md) ---- */

struct value_argument {
    size_t number;         /* from 1; 0: the text is no argument (an expected result), `name` says what it is */
    const char *name;      /* of the parameter */
    const char *directory; /* where relative @files are; NULL: the current directory */
    /* Is told each name of a field, which begins there in the text; then made-up arrays have no elements. NULL: nobody
       asks. */
    void (*on_field)(void *context, const struct record *record, size_t field, const char *at);
    void *context;
};
/* How many more brackets are open behind the character than before it. */
int value_bracket(char c);
/* NULL, with the whole message in *why, when the text does not fit the type. */
struct host_value *value_parse(struct arena *arena, struct type *type, const struct value_argument *argument,
                               const char *text, const char **why);
/* A scalar of that base type at *text, which is moved behind it. */
bool value_parse_scalar(struct arena *arena, enum base base, const char **text, union scalar *value, const char **why);

/* ---- generators (generate.c) ---- */

/* splitmix64: the state is the seed; a draw adds the golden ratio and mixes. */
uint64_t value_random_next(uint64_t *state);
void value_fill_iota(struct host_value *array);
void value_fill_random(struct host_value *array, uint64_t seed, bool has_range, const union scalar *low,
                       const union scalar *high); /* the range: a pair per leaf */
void value_fill_scalars(struct host_value *array, const union scalar *leaves);

/* ---- random arguments, for properties (draw.c, shrink.c) ---- */

enum value_manner { VALUE_SMALL, VALUE_SORTED, VALUE_INDICES, VALUE_FINITE, VALUE_ANY };
struct value_draw {
    uint64_t state; /* at first the seed */
    enum value_manner manner;
    int64_t length, other; /* of most arrays, and of some */
};
/* Before the values of the number-th draw, from 0. */
void value_draw_begin(struct value_draw *d, size_t number);
struct host_value *value_draw(struct arena *arena, struct value_draw *d, struct type *type);

enum { VALUE_MOST_SHRUNK = 64 };
/* Makes `values` smaller while `still` says, of what stands there, that it shows the same; it says no when that is to
   end. */
void value_shrink(struct arena *arena, struct host_value **values, size_t count, bool (*still)(void *context),
                  void *context);

/* ---- files ---- */

struct value_bytes {
    unsigned char *at;
    size_t length;
};
/* A whole file; `-` is standard input. */
bool value_read_file(struct arena *arena, const char *path, struct value_bytes *bytes, const char **why);

bool value_has_file(const char *path);

/* Each gives NULL, with what is wrong in *why, where the bytes hold no value of that type. The forms are in fclc(1). */
struct host_value *value_from_npy(struct arena *arena, struct type *type, struct value_bytes bytes, const char **why);
struct host_value *value_from_npz(struct arena *arena, struct type *type, struct value_bytes bytes, const char *name,
                                  const char **why); /* a name of NULL: the only array */
struct host_value *value_from_table(struct arena *arena, struct type *type, struct value_bytes bytes, bool is_tsv,
                                    const char *column, const char **why); /* a column of NULL: all of them */
struct host_value *value_from_matrix_market(struct arena *arena, struct type *type, struct value_bytes bytes,
                                            const char **why);
struct host_value *value_from_image(struct arena *arena, struct type *type, struct value_bytes bytes, const char **why);
const char *value_why_no_text(struct arena *arena, struct value_bytes bytes); /* NULL: it is text */
/* Fills `bytes`, whose length is that of what was deflated. */
bool value_inflate(struct value_bytes packed, struct value_bytes bytes, const char **why);

/* The value in the file of that path, which is relative to `directory`; `as_bytes`: its bytes. */
struct host_value *value_from_file(struct arena *arena, struct type *type, const char *directory, const char *path,
                                   bool as_bytes, const char **why);
/* True if the text ends as the name of a file that can be read. */
bool value_names_file(const char *text);

/* SCALAR, ARRAY or ZIPPED, which becomes a structured array. */
struct value_bytes value_to_npy(struct arena *arena, struct host_value *value);
/* Where a value of `count` components keeps the one of that index: x.npy, or x.0.npy, x.1.npy … */
const char *value_npy_path(struct arena *arena, const char *path, size_t count, size_t index);

/* ---- results (print_value.c) ---- */

/* A scalar as an FCL literal; floats in the shortest form that reads back the same. */
void value_print_scalar(struct text *out, enum base base, union scalar value);
/* On one line; arrays of more than `limit` elements, or rows without any (0: no limit), print so many and then their
   size. */
void value_print(struct text *out, const struct host_value *value, int64_t limit);
/* Prints as `fclc run` does: a line per component, scalars and tuples of scalars on one; ends with a newline. */
void value_print_lines(struct text *out, const struct host_value *value, int64_t limit);

/* ---- comparing (compare.c) ---- */

/* Equality, or with `close` |got - wanted| <= tolerance + tolerance * |wanted| on floats, where a tolerance of 0
   stands for 1e-5 on float and 1e-9 on double. NaN equals NaN. False, with what differs in *why. */
struct value_comparison {
    bool close;
    double tolerance;
};
bool value_same(struct arena *arena, const struct host_value *got, const struct host_value *wanted,
                struct value_comparison comparison, const char **why);

#endif
