/* Host values: parsing arguments, generators, .npy files and tables, printing, comparing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "values/value.h"

static int set_up(void **state) {
    *state = arena_new();
    return 0;
}

static int tear_down(void **state) {
    arena_free(*state);
    return 0;
}

/* ---- types by hand ---- */

static struct type *base(struct arena *arena, enum base base) {
    struct type *type = ARENA_NEW(arena, struct type);
    type->kind = TYPE_BASE;
    type->base = base;
    return type;
}

static struct type *array(struct arena *arena, struct type *element) {
    struct type *type = ARENA_NEW(arena, struct type);
    type->kind = TYPE_PULL;
    type->array.element = element;
    type->array.level = ARENA_NEW(arena, struct level);
    return type;
}

static struct type *pair(struct arena *arena, struct type *a, struct type *b) {
    struct type *type = ARENA_NEW(arena, struct type);
    type->kind = TYPE_TUPLE;
    type->tuple.count = 2;
    type->tuple.items = ARENA_ARRAY(arena, struct type *, 2);
    type->tuple.items[0] = a;
    type->tuple.items[1] = b;
    return type;
}

static const struct value_argument SECOND = {.number = 2, .name = "xs"};

static const char *shown(struct arena *arena, const struct host_value *value, int64_t limit) {
    struct text text;
    text_init(&text, arena);
    value_print(&text, value, limit);
    return text_string(&text);
}

/* Parses and prints; or the message. */
static const char *through(struct arena *arena, struct type *type, const char *text) {
    const char *why = NULL;
    struct host_value *value = value_parse(arena, type, &SECOND, text, &why);
    return value ? shown(arena, value, 0) : why;
}

/* ---- literals ---- */

static void test_scalars(void **state) {
    struct arena *a = *state;
    assert_string_equal(through(a, base(a, BASE_I32), "3"), "3");
    assert_string_equal(through(a, base(a, BASE_I32), "-2147483648"), "-2147483648");
    assert_string_equal(through(a, base(a, BASE_I8), "0x7f"), "127");
    assert_string_equal(through(a, base(a, BASE_U64), "18446744073709551615"), "18446744073709551615");
    assert_string_equal(through(a, base(a, BASE_I64), "-1_000"), "-1000");
    assert_string_equal(through(a, base(a, BASE_U16), "0b101u16"), "5");
    assert_string_equal(through(a, base(a, BASE_F32), "-2.5"), "-2.5");
    assert_string_equal(through(a, base(a, BASE_F64), "3"), "3.0");
    assert_string_equal(through(a, base(a, BASE_F64), "1e-3"), "0.001");
    assert_string_equal(through(a, base(a, BASE_F64), "-inf"), "-inf");
    assert_string_equal(through(a, base(a, BASE_BOOL), "true"), "true");
}

static void test_arrays_and_tuples(void **state) {
    struct arena *a = *state;
    struct type *ints = array(a, base(a, BASE_I32)), *matrix = array(a, ints);
    struct type *pairs = array(a, pair(a, base(a, BASE_I32), base(a, BASE_F64)));
    assert_string_equal(through(a, ints, " [1, 2,3] "), "[1,2,3]");
    assert_string_equal(through(a, ints, "[]"), "[]");
    assert_string_equal(through(a, matrix, "[[1,2],[3,4]]"), "[[1,2],[3,4]]");
    assert_string_equal(through(a, matrix, "[]"), "[]");
    assert_string_equal(through(a, matrix, "[[],[]]"), "[[],[]]");
    assert_string_equal(through(a, pairs, "[(1,2.5),(2,3.5)]"), "[(1,2.5),(2,3.5)]");
    assert_string_equal(through(a, pair(a, base(a, BASE_I32), ints), "(1,[2,3])"), "(1,[2,3])");
    assert_string_equal(through(a, pair(a, ints, ints), "(iota:3,[2])"), "([0,1,2],[2])");
}

static void test_texts(void **state) {
    struct arena *a = *state;
    struct type *bytes = array(a, base(a, BASE_U8));
    assert_string_equal(through(a, bytes, "\"\""), "[]");
    assert_string_equal(through(a, bytes, " \"aB \\n\\t\\r\\0\\\\\\\"\\x7f\\xFF\" "),
                        "[97,66,32,10,9,13,0,92,34,127,255]");
    assert_string_equal(through(a, bytes, "\"\xc3\xa9]\""), "[195,169,93]");
    assert_string_equal(through(a, pair(a, bytes, bytes), "(\"a,b)\",\"\")"), "([97,44,98,41],[])");
    assert_non_null(strstr(through(a, bytes, "\"ab"), "the text ends where `\"` is wanted"));
    assert_non_null(strstr(through(a, bytes, "\"ab\\"), "`\\` means nothing in a text"));
    assert_non_null(strstr(through(a, bytes, "\"\\q\""), "`\\q` means nothing in a text"));
    assert_non_null(strstr(through(a, bytes, "\"\\x4\""), "`\\x` means nothing in a text"));
    assert_non_null(strstr(through(a, bytes, "\"a\"b"), "follows a complete value"));
    assert_non_null(
        strstr(through(a, array(a, base(a, BASE_I8)), "\"a\""), "a text is of type [u8], and [i8] is wanted"));
    assert_non_null(strstr(through(a, array(a, bytes), "\"a\""), "a text is of type [u8], and [[u8]] is wanted"));
}

static void test_errors_say_where(void **state) {
    struct arena *a = *state;
    struct type *bytes = array(a, base(a, BASE_I8)), *ints = array(a, base(a, BASE_I32));
    assert_string_equal(through(a, bytes, "[1,2,3,300]"), "argument 2 (`xs`), element 3: 300 does not fit i8");
    assert_string_equal(through(a, array(a, bytes), "[[1],[300]]"),
                        "argument 2 (`xs`), element [1][0]: 300 does not fit i8");
    assert_string_equal(through(a, pair(a, ints, bytes), "([1],[1,x])"),
                        "argument 2 (`xs`), component 2, element 1: `x` is no number, and i8 is wanted");
    assert_string_equal(through(a, base(a, BASE_I32), "2.5"),
                        "argument 2 (`xs`): 2.5 is not an integer, and int is wanted");
    assert_string_equal(through(a, base(a, BASE_I32), "true"),
                        "argument 2 (`xs`): true is of type bool, and int is wanted");
    assert_string_equal(through(a, base(a, BASE_U8), "-1"), "argument 2 (`xs`): -1 does not fit u8");
    assert_string_equal(through(a, base(a, BASE_F32), "1e39"), "argument 2 (`xs`): 1e39 does not fit float");
    assert_non_null(strstr(through(a, array(a, ints), "[[1,2],[3]]"), "all rows must be equally long"));
    assert_non_null(strstr(through(a, ints, "[1,2"), "the text ends where `]` is wanted"));
    assert_non_null(strstr(through(a, ints, "[1] 2"), "follows a complete value"));
    assert_non_null(strstr(through(a, ints, "3"), "`[` is wanted"));
    assert_non_null(strstr(through(a, ints, "[[1]]"), "a list where a value of type int is wanted"));
    assert_non_null(strstr(through(a, ints, "iota:99999999999999"), "too many"));
    assert_non_null(strstr(through(a, ints, "iota:99999999999999999999999999"), "too many"));
    assert_non_null(strstr(through(a, array(a, ints), "iota:2000000000x2000000000"), "too many"));
    assert_non_null(strstr(through(a, ints, "iota:-1"), "is no size"));
    assert_non_null(strstr(through(a, ints, "iota:2x3"), "2 dimensions"));
    assert_non_null(strstr(through(a, ints, "@/nonexistent.npy"), "No such file"));
    assert_non_null(strstr(through(a, ints, "random:3"), "a seed"));
    assert_non_null(strstr(through(a, ints, "random:3:1:5:4"), "is empty"));
    assert_non_null(strstr(through(a, ints, ""), "the text ends"));
}

static void test_generators(void **state) {
    struct arena *a = *state;
    struct type *ints = array(a, base(a, BASE_I32)), *bytes = array(a, base(a, BASE_U8));
    assert_string_equal(through(a, ints, "iota:4"), "[0,1,2,3]");
    assert_string_equal(through(a, array(a, ints), "iota:2x3"), "[[0,1,2],[3,4,5]]");
    assert_non_null(strstr(through(a, bytes, "iota:258"), ",254,255,0,1]"));
    assert_string_equal(through(a, array(a, base(a, BASE_F32)), "fill:2:1.5"), "[1.5,1.5]");
    assert_string_equal(through(a, array(a, pair(a, base(a, BASE_I32), base(a, BASE_BOOL))), "fill:2:(7,true)"),
                        "[(7,true),(7,true)]");
    assert_string_equal(through(a, ints, "random:5:1"), through(a, ints, "random:5:1"));
    assert_string_not_equal(through(a, ints, "random:5:1"), through(a, ints, "random:5:2"));
    assert_string_equal(through(a, ints, "random:3:9:-4:-4"), "[-4,-4,-4]");
    const char *why;
    struct host_value *value = value_parse(a, array(a, base(a, BASE_F32)), &SECOND, "random:1000:7", &why);
    assert_non_null(value);
    for (size_t i = 0; i < 1000; i++) {
        float x = ((const float *)value->array.data)[i];
        assert_true(x >= 0 && x < 1);
    }
    uint64_t seed = 0;
    assert_true(value_random_next(&seed) == UINT64_C(0xE220A8397B1DCDAF)); /* the generator's published first value */
}

/* ---- printing ---- */

static const char *printed(struct arena *arena, enum base base, double number) {
    struct text text;
    text_init(&text, arena);
    value_print_scalar(&text, base, (union scalar){.floating = number});
    return text_string(&text);
}

static void test_floats_are_shortest(void **state) {
    struct arena *a = *state;
    assert_string_equal(printed(a, BASE_F64, 0.1), "0.1");
    assert_string_equal(printed(a, BASE_F32, 0.1f), "0.1");
    assert_string_equal(printed(a, BASE_F64, 0.1f), "0.10000000149011612");
    assert_string_equal(printed(a, BASE_F64, 100), "100.0");
    assert_string_equal(printed(a, BASE_F32, 16777216), "16777216.0");
    assert_string_equal(printed(a, BASE_F64, -0.0), "-0.0");
    assert_string_equal(printed(a, BASE_F64, 1e300), "1e300");
    assert_string_equal(printed(a, BASE_F64, 1.5e-7), "1.5e-7");
    assert_string_equal(printed(a, BASE_F64, 0.00025), "0.00025");
    assert_string_equal(printed(a, BASE_F64, 123456.789), "123456.789");
    assert_string_equal(printed(a, BASE_F64, 5e-324), "5e-324");
    assert_string_equal(printed(a, BASE_F64, NAN), "nan");
    uint64_t seed = 42;
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = value_random_next(&seed);
        double number;
        memcpy(&number, &bits, sizeof number);
        if (isnan(number) || isinf(number))
            continue;
        const char *text = printed(a, BASE_F64, number), *why;
        union scalar back;
        assert_true(value_parse_scalar(a, BASE_F64, &text, &back, &why));
        assert_true(back.floating == number);
    }
}

static void test_long_arrays_are_cut(void **state) {
    struct arena *a = *state;
    const char *why;
    struct type *ints = array(a, base(a, BASE_I32));
    struct host_value *value = value_parse(a, ints, &SECOND, "iota:1000", &why);
    assert_string_equal(shown(a, value, 2), "[0,1 … 1000 elements]");
    value = value_parse(a, array(a, ints), &SECOND, "iota:4x2", &why);
    assert_string_equal(shown(a, value, 3), "[[0,1],[2 … 4x2 elements]]");
    value = value_parse(a, array(a, ints), &SECOND, "iota:1000000x0", &why);
    assert_string_equal(shown(a, value, 3), "[[],[],[] … 1000000x0 elements]");
    value = value_parse(a, array(a, ints), &SECOND, "iota:3x0", &why);
    assert_string_equal(shown(a, value, 3), "[[],[],[]]");
    value = value_parse(a, pair(a, ints, ints), &SECOND, "([1],[2,3])", &why);
    struct text text;
    text_init(&text, a);
    value_print_lines(&text, value, 64);
    assert_string_equal(text_string(&text), "[1]\n[2,3]\n");
}

/* ---- files ---- */

static void test_npy_round_trip(void **state) {
    struct arena *a = *state;
    for (int b = 0; b < BASE_COUNT; b++) {
        const char *why = NULL;
        struct type *type = array(a, array(a, base(a, (enum base)b)));
        struct host_value *value =
            value_parse(a, type, &SECOND, b == BASE_BOOL ? "[[true,false]]" : "[[1,2],[3,100]]", &why);
        assert_non_null(value);
        struct value_bytes bytes = value_to_npy(a, value);
        assert_int_equal(bytes.length % 64 == 0 || bytes.length > 64, 1);
        struct host_value *back = value_from_npy(a, type, bytes, &why);
        assert_non_null(back);
        assert_true(value_same(a, back, value, (struct value_comparison){0}, &why));
        for (size_t cut = 0; cut < bytes.length; cut++) /* no prefix crashes, none is accepted */
            assert_null(value_from_npy(a, type, (struct value_bytes){bytes.at, cut}, &why));
    }
}

static struct value_bytes npy(struct arena *arena, unsigned version, const char *header, const void *data,
                              size_t length) {
    size_t header_length = strlen(header), start = version == 1 ? 10 : 12;
    struct value_bytes bytes = {arena_alloc(arena, start + header_length + length), start + header_length + length};
    memcpy(bytes.at, "\x93NUMPY", 6);
    bytes.at[6] = (unsigned char)version;
    bytes.at[8] = (unsigned char)header_length;
    memcpy(bytes.at + start, header, header_length);
    if (length)
        memcpy(bytes.at + start + header_length, data, length);
    return bytes;
}

static const char *from_npy(struct arena *arena, struct type *type, struct value_bytes bytes) {
    const char *why = NULL;
    struct host_value *value = value_from_npy(arena, type, bytes, &why);
    return value ? shown(arena, value, 0) : why;
}

static void test_npy_forms(void **state) {
    struct arena *a = *state;
    struct type *ints = array(a, base(a, BASE_I32)), *bytes = array(a, base(a, BASE_I8));
    int32_t numbers[] = {1, 2, 3, 4, 5, 300};
    const char *fortran = "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }\n";
    assert_string_equal(from_npy(a, array(a, ints), npy(a, 1, fortran, numbers, 24)), "[[1,3,5],[2,4,300]]");
    const char *list = "{\"shape\": (6,), \"fortran_order\": False, \"descr\": \"<i4\"}";
    assert_string_equal(from_npy(a, ints, npy(a, 2, list, numbers, 24)), "[1,2,3,4,5,300]");
    assert_string_equal(from_npy(a, ints, npy(a, 3, list, numbers, 24)), "[1,2,3,4,5,300]");
    assert_string_equal(from_npy(a, array(a, base(a, BASE_F32)), npy(a, 1, list, numbers, 24)),
                        "[1.0,2.0,3.0,4.0,5.0,300.0]");
    assert_string_equal(from_npy(a, bytes, npy(a, 1, list, numbers, 24)), "element 5: 300 does not fit i8");
    double doubles[] = {1e300, INFINITY, 0.1, 0};
    const char *f8 = "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}";
    struct type *floats = array(a, base(a, BASE_F32));
    assert_string_equal(from_npy(a, floats, npy(a, 1, f8, doubles, 24)), "element 0: 1e300 does not fit float");
    doubles[0] = -3.4e38;
    assert_string_equal(from_npy(a, floats, npy(a, 1, f8, doubles, 24)), "[-3.4e38,inf,0.1]");
    assert_non_null(strstr(from_npy(a, ints, npy(a, 9, list, numbers, 24)), "version 9"));
    assert_non_null(strstr(from_npy(a, ints, npy(a, 1, list, numbers, 23)), "cut short"));
    assert_non_null(strstr(from_npy(a, array(a, ints), npy(a, 1, list, numbers, 24)), "dimension"));
    assert_non_null(
        strstr(from_npy(a, ints, npy(a, 1, "{'descr': '>i4', 'fortran_order': False, 'shape': (6,)}", numbers, 24)),
               "big-endian"));
    assert_non_null(
        strstr(from_npy(a, ints, npy(a, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)}", numbers, 24)),
               "of type double"));
    assert_non_null(strstr(
        from_npy(a, ints,
                 npy(a, 1, "{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999999999999,)}", numbers, 24)),
        "99999999999999999999 elements are too many"));
    assert_non_null(strstr(from_npy(a, ints, npy(a, 1, "{'shape': (", numbers, 24)), "malformed"));
    assert_string_equal(from_npy(a, floats, npy(a, 1, f8, doubles, 26)), "2 bytes follow the array");
}

static void test_npy_of_tuples(void **state) {
    struct arena *a = *state;
    struct type *int_float = pair(a, base(a, BASE_I32), base(a, BASE_F32)), *tuples = array(a, int_float);
    struct type *nested = array(a, pair(a, base(a, BASE_BOOL), int_float));
    unsigned char data[] = {1, 2, 0, 0, 0, 0, 0, 0xC0, 0x3F, 0, 3, 0, 0, 0, 0, 0, 0x20, 0x40};
#define SHAPE ", 'fortran_order': False, 'shape': (2,)}"
    const char *flat = "{'descr': [('k', '|b1'), ('x', '<i4'), ('y', '<f4')]" SHAPE;
    const char *deep = "{'descr': [('k', '|b1'), ('p', [('x', '<i4'), ('y', '<f4')])]" SHAPE;
    const char *padded = "{'descr': [('', '|V1'), ('x', '<i4'), ('y', '<f4')]" SHAPE;
    assert_string_equal(from_npy(a, nested, npy(a, 1, flat, data, 18)), "[(true,(2,1.5)),(false,(3,2.5))]");
    assert_string_equal(from_npy(a, nested, npy(a, 1, deep, data, 18)), "[(true,(2,1.5)),(false,(3,2.5))]");
    assert_string_equal(from_npy(a, tuples, npy(a, 1, padded, data, 18)), "[(2,1.5),(3,2.5)]");
    assert_string_equal(from_npy(a, tuples, npy(a, 1, flat, data, 18)),
                        "the array has 3 fields (`k`, `x`, `y`), and (int, float) has 2");
    assert_non_null(strstr(from_npy(a, nested, npy(a, 1, flat, data, 17)), "cut short"));
    assert_non_null(strstr(from_npy(a, tuples, npy(a, 1, "{'descr': [('x', '<i4'), ('y', '|S4')]" SHAPE, data, 16)),
                           "field `y`: elements of NumPy's type `|S4`"));
    assert_non_null(
        strstr(from_npy(a, tuples, npy(a, 1, "{'descr': [('x', '<i4'), ('y', '<f4', (2,))]" SHAPE, data, 18)),
               "field `y` is an array"));
    assert_non_null(strstr(from_npy(a, tuples, npy(a, 1, "{'descr': [('x', '<f4'), ('y', '<f4')]" SHAPE, data, 16)),
                           "field `x`: the elements are of type float"));
    assert_non_null(
        strstr(from_npy(a, tuples, npy(a, 1, "{'descr': '<i4'" SHAPE, data, 8)), "fields of a structured array"));
    assert_string_equal(from_npy(a, int_float,
                                 npy(a, 1,
                                     "{'descr': [('x', '<i4'), ('y', '<f4')], 'fortran_order': False, "
                                     "'shape': ()}",
                                     data + 1, 8)),
                        "(2,1.5)");
    const char *why;
    struct host_value *value = value_parse(a, nested, &SECOND, "[(true,(2,1.5)),(false,(3,2.5))]", &why);
    struct value_bytes file = value_to_npy(a, value);
    const char *descr = "{'descr': [('f0', '|b1'), ('f1', [('f0', '<i4'), ('f1', '<f4')])], ";
    assert_memory_equal(file.at + 10, descr, strlen(descr));
    assert_memory_equal(file.at + file.length - 18, data, 18);
    assert_string_equal(from_npy(a, nested, file), "[(true,(2,1.5)),(false,(3,2.5))]");
}

static void test_npy_of_narrow_floats(void **state) {
    struct arena *a = *state;
    struct type *halves = array(a, base(a, BASE_F16)), *brains = array(a, base(a, BASE_BF16));
    uint16_t bits[] = {0x3c00, 0xfbff, 1, 0x8000};
    const char *f2 = "{'descr': '<f2', 'fortran_order': False, 'shape': (4,), }\n";
    const char *u2 = "{'descr': '<u2', 'fortran_order': False, 'shape': (4,), }\n";
    assert_string_equal(from_npy(a, halves, npy(a, 1, f2, bits, 8)), "[1.0,-65500.0,6e-8,-0.0]");
    assert_string_equal(from_npy(a, array(a, base(a, BASE_F32)), npy(a, 1, f2, bits, 8)),
                        "[1.0,-65504.0,5.9604645e-8,-0.0]");
    assert_string_equal(from_npy(a, brains, npy(a, 1, f2, bits, 8)), "[1.0,-65500.0,5.96e-8,-0.0]");
    assert_string_equal(from_npy(a, brains, npy(a, 1, u2, bits, 8)), "[0.0078,-2.65e36,9e-41,-0.0]");
    assert_string_equal(from_npy(a, halves, npy(a, 1, u2, bits, 8)), "[15360.0,64500.0,1.0,32770.0]");
    const char *why;
    for (int i = 0; i < 2; i++) {
        struct host_value *value = value_parse(a, i ? brains : halves, &SECOND, "[1,-2,0.5]", &why);
        struct value_bytes file = value_to_npy(a, value);
        assert_memory_equal(file.at + 10, i ? "{'descr': '<u2'" : "{'descr': '<f2'", 15);
        uint16_t stored[2][3] = {{0x3c00, 0xc000, 0x3800}, {0x3f80, 0xc000, 0x3f00}};
        assert_memory_equal(file.at + file.length - 6, stored[i], 6);
        assert_string_equal(from_npy(a, i ? brains : halves, file), "[1.0,-2.0,0.5]");
    }
}

/* All of them are printed so that they are read back, and none is another's. */
static void test_narrow_floats(void **state) {
    struct arena *a = *state;
    static const enum base bases[] = {BASE_F16, BASE_BF16};
    for (int b = 0; b < 2; b++) {
        struct floating_format format = base_info[bases[b]].format;
        for (uint64_t bits = 0; bits < 65536; bits++) {
            double number = floating_of_bits(format, bits);
            assert_int_equal(floating_bits(format, number), bits);
            if (isnan(number))
                continue;
            const char *text = printed(a, bases[b], number), *why;
            union scalar back;
            assert_true(value_parse_scalar(a, bases[b], &text, &back, &why));
            assert_int_equal(floating_bits(format, back.floating), bits);
        }
    }
    assert_string_equal(printed(a, BASE_F16, 65504), "65500.0");
    assert_string_equal(through(a, base(a, BASE_F16), "65519.9999999999999999999"), "65500.0");
    assert_string_equal(through(a, base(a, BASE_F16), "-65520"), "argument 2 (`xs`): -65520 does not fit f16");
    assert_string_equal(through(a, base(a, BASE_F16), "1.00048828125"), "1.0");
    assert_string_equal(through(a, base(a, BASE_F16), "1.00048828125000000000000001"), "1.001");
    assert_string_equal(through(a, base(a, BASE_BF16), "0b100000001"), "256.0");
    assert_string_equal(through(a, base(a, BASE_BF16), "1.5bf16"), "1.5");
    assert_non_null(strstr(through(a, base(a, BASE_BF16), "1.5f16"), "is of another type than bf16"));
    assert_string_equal(through(a, base(a, BASE_BF16), "inf"), "inf");
}

static const char *from_text(struct arena *arena, struct type *type, const char *text, bool is_tsv,
                             const char *column) {
    const char *why = NULL;
    struct value_bytes bytes = {(unsigned char *)arena_strndup(arena, text, strlen(text)), strlen(text)};
    struct host_value *value = value_from_table(arena, type, bytes, is_tsv, column, &why);
    return value ? shown(arena, value, 0) : why;
}

static const char *from_csv(struct arena *arena, struct type *type, const char *text) {
    return from_text(arena, type, text, false, NULL);
}

static void test_tables(void **state) {
    struct arena *a = *state;
    struct type *ints = array(a, base(a, BASE_I32)), *floats = array(a, base(a, BASE_F32)), *rows = array(a, floats);
    struct type *tuples = array(a, pair(a, base(a, BASE_I32), base(a, BASE_F32)));
    const struct {
        struct type *type;
        const char *text, *wanted;
    } cases[] = {
        {ints, "1,2\n3,4\n\n# no\n5 ,\t6\r\n", "[1,2,3,4,5,6]"},
        {array(a, ints), "1,2\n3,4\n", "[[1,2],[3,4]]"},
        {tuples, "1,2.5\n3,4", "[(1,2.5),(3,4.0)]"},
        {ints, "", "[]"},
        {rows, "# nothing\n\n", "[]"},
        /* lists that go on in other lines */
        {ints, "1 2 3\n 4\n", "[1,2,3,4]"},
        {ints, "1,2,\n3,\n4,5", "[1,2,3,4,5]"},
        {ints, "1\r2\r\n3\n", "[1,2,3]"},
        /* names */
        {rows, "a,b c\n1,2\n", "[[1.0,2.0]]"},
        {rows, "\"year\",\"2019\"\n\"1\",2\n", "[[1.0,2.0]]"},
        {rows, ";b\n1;2\n", "[[1.0,2.0]]"},
        {tuples, "a,b\n", "[]"},
        {floats, "mean width\n1\n2\n", "[1.0,2.0]"},
        {floats, "\"1\"\n\"2\"\n", "[1.0,2.0]"},
        /* as other programs write them */
        {floats, "NaN\n-Infinity\nINF\n1E+2\n+3\n", "[nan,-inf,inf,100.0,3.0]"},
        {array(a, base(a, BASE_BOOL)), "TRUE\nFalse\n", "[true,false]"},
        {ints,
         "\xEF\xBB\xBF"
         "1\n2",
         "[1,2]"},
        {ints, "\xEF\xBB\xBF# no\n3", "[3]"},
        {ints, "\xEF\xBB\xBF", "[]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(from_csv(a, cases[i].type, cases[i].text), cases[i].wanted);
    assert_string_equal(from_text(a, rows, "1\t2\t\n3\t4\t\n", true, NULL), "[[1.0,2.0],[3.0,4.0]]");
    assert_string_equal(from_text(a, floats, "name,\"a \"\"b\"\"\",c\nBob,1,2\n\"Eve, I\",3,4\n", false, "a \"b\""),
                        "[1.0,3.0]");
}

/* Nothing is guessed: what may mean two things is an error, which says where. */
static void test_tables_that_are_wrong(void **state) {
    struct arena *a = *state;
    struct type *ints = array(a, base(a, BASE_I32)), *floats = array(a, base(a, BASE_F32)), *rows = array(a, floats);
    struct type *tuples = array(a, pair(a, base(a, BASE_I32), base(a, BASE_F32)));
    const struct {
        struct type *type;
        const char *text, *wanted;
    } cases[] = {
        {floats, "1,5;2,5\n",
         "line 1, column 1: `1,5` is no number, and float is wanted: fractions have a point (1.5) "
         "and no decimal comma, thousands nothing between them, and `;` separates values, as in "
         "line 1"},
        {floats, "1;2\n3;4,5\n", "line 2, column 2: `4,5` is no number"},
        {floats, "1\n2\n3,5\n",
         "line 3, column 1: `3,5` is no number, and float is wanted: fractions have a point (1.5) "
         "and no decimal comma, thousands nothing between them, and a line has one value"},
        {floats, "1,5\t2,5\n", "line 1, column 2: `5\t2` is no number"},
        {floats, "\"1,5\"\n", "line 1, column 1: `1,5` is no number"},
        {floats, "1 000;2\n", "line 1, column 1: `1 000` is no number"},
        {floats, "1'000\n", "`1'000` is no number"},
        {floats, "1 2\n3\t4\n", "`3\t4` is no number, and float is wanted"},
        {ints, "1,2\n3;4\n", "line 2 has 1 column, and line 1 has 2: `;` separates here, and `,` in line 1"},
        {ints, "1,2\n3\n", "line 2 has 1 column, and line 1 has 2: where a list goes on"},
        {rows, "1,2\n3\n", "line 2 has 1 column, and line 1 has 2: is a value missing?"},
        {rows, "1;2\n3\n", "line 2 has 1 column, and line 1 has 2: is a value missing?"},
        {rows, "1,2\n3,4,5\n", "line 2 has 3 columns, and line 1 has 2: fractions have a point, and no decimal comma"},
        {rows, "1,2\n3,\n", "line 2 has 1 column, and line 1 has 2: a value is missing at its end"},
        {rows, "1,2\n3,4,\n", "line 2 ends with `,`, and line 1 does not"},
        {ints, "1,2,\n3,4\n5,6\n", "line 2 does not end with `,`, and line 1 does"},
        {tuples, "1,2,3\n", "the rows have 3 columns, and 2 are wanted"},
        {tuples, "a,b\n1\n", "line 2 has 1 column, and line 1 has 2 names: is a value missing?"},
        {rows, "1,,2\n", "line 1, column 2: a value is missing"},
        {rows, "\t1\t2\n3\t4\t5\n", "line 1, column 1: a value is missing"},
        {rows, "1,NA\n", "line 1, column 2: `NA` stands for a missing value: write nan"},
        {ints, "1\nnan\n", "line 2, column 1: `nan` stands for a missing value: write a number"},
        {rows, "1,2\nx,3\n", "line 2, column 1: `x` is no number, and float is wanted"},
        {ints, "1,2\n3,x\n", "line 2, column 2: `x` is no number, and int is wanted"},
        {ints, "1 ! 2", "line 1, column 2: `!` is no number"},
        {ints, "12O\n3\n", "line 1, column 1: `12O` is no number"},
        {rows, "year,2019\n1,2\n", "(a line of names has no number that is not in quotes)"},
        {rows, "$5\n$6\n", "line 1, column 1: `$5` is no number"},
        {floats, "1%\n", "`1%` is no number"},
        {floats, "a,b\n1,2\n", "the table has 2 columns, and [float] is one of them: write @FILE:NAME"},
        {rows, "\"1\n2\"\n", "line 1, column 1: the line ends where `\"` is wanted"},
        {rows, "\"1\"2\n", "line 1, column 1: what is quoted ends before its column does"},
        {ints, "1.0\n", "1.0 is not an integer"},
        {ints, "3000000000\n", "line 1, column 1: 3000000000 does not fit int"},
        {ints,
         "1,2\n\xEF\xBB\xBF"
         "3,4\n",
         "line 2, column 1"},
        {ints,
         "\xFF\xFE"
         "1",
         "the text is UTF-16"},
        {base(a, BASE_I32), "1", "a table is a list, a matrix or a list of tuples"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *said = from_csv(a, cases[i].type, cases[i].text);
        if (!strstr(said, cases[i].wanted))
            fail_msg("%s: %s instead of %s", cases[i].text, said, cases[i].wanted);
    }
    assert_non_null(strstr(from_text(a, rows, "1 2\n", true, NULL), "`1 2` is no number"));
    assert_string_equal(from_text(a, floats, "a,b\n1,2\n", false, "c"),
                        "no column has the name `c`; there is `a`, `b`");
    assert_string_equal(from_text(a, floats, "a,a\n1,2\n", false, "a"), "2 columns have the name `a`");
    assert_string_equal(from_text(a, floats, "1,2\n", false, "a"), "the first line is not of names");
    assert_non_null(strstr(from_text(a, rows, "a,b\n1,2\n", false, "a"), "a column is a list"));
}

/* Numbers that are read in a short way are read as in the long way. */
static void test_short_numbers(void **state) {
    struct arena *a = *state;
    uint64_t seed = 7;
    for (int i = 0; i < 20000; i++) {
        uint64_t digits = value_random_next(&seed) >> (11 + value_random_next(&seed) % 50);
        int exponent = (int)(value_random_next(&seed) % 45) - 22;
        const char *zeros = "0000000000000000000000000000000000000000";
        const char *short_one = arena_printf(a, "-%llue%d", (unsigned long long)digits, exponent);
        const char *long_one = arena_printf(a, "-%llu.%se%d", (unsigned long long)digits, zeros, exponent);
        char *end;
        struct floating x = floating_read(short_one, &end), y = floating_read(long_one, NULL);
        assert_true(*end == '\0' && x.as_double == y.as_double && x.as_odd == y.as_odd);
        short_one = arena_printf(a, "%llu.%03u", (unsigned long long)(digits >> 12), (unsigned)(digits % 1000));
        long_one = arena_printf(a, "%s%s", short_one, zeros);
        x = floating_read(short_one, &end), y = floating_read(long_one, NULL);
        assert_true(*end == '\0' && x.as_double == y.as_double && x.as_odd == y.as_odd);
    }
}

/* ---- comparing ---- */

static void test_comparing(void **state) {
    struct arena *a = *state;
    const char *why = NULL;
    struct type *floats = array(a, base(a, BASE_F32));
    struct host_value *x = value_parse(a, floats, &SECOND, "[1,nan,0,1000]", &why);
    struct host_value *y = value_parse(a, floats, &SECOND, "[1,nan,-0.0,1000.001]", &why);
    struct host_value *z = value_parse(a, floats, &SECOND, "[1]", &why);
    assert_false(value_same(a, x, y, (struct value_comparison){0}, &why));
    assert_string_equal(why, "element 3: 1000.0 instead of 1000.001");
    assert_true(value_same(a, x, y, (struct value_comparison){true, 0}, &why));
    assert_false(value_same(a, x, y, (struct value_comparison){true, 1e-9}, &why));
    assert_false(value_same(a, x, z, (struct value_comparison){0}, &why));
    assert_string_equal(why, "4 elements instead of 1");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_scalars),
        TEST(test_arrays_and_tuples),
        TEST(test_texts),
        TEST(test_errors_say_where),
        TEST(test_generators),
        TEST(test_floats_are_shortest),
        TEST(test_long_arrays_are_cut),
        TEST(test_npy_round_trip),
        TEST(test_npy_forms),
        TEST(test_npy_of_tuples),
        TEST(test_tables),
        TEST(test_tables_that_are_wrong),
        TEST(test_short_numbers),
        TEST(test_comparing),
        TEST(test_npy_of_narrow_floats),
        TEST(test_narrow_floats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
