/* Ints that wrapped, and lengths, which do not (LANGUAGE §11): where a length is computed by sums
   and products of ints, more elements than an int counts are an error. So an int that arithmetic
   has wrapped refers to a record of what it is exactly. Few are ever asked for, so the latest are
   kept only; what comes out of branches, loops and arrays is an int like any other. */
#include "interp/machine.h"

enum { RECORDS = 4096 };

struct exact_int {
    int32_t number; /* of the record: an older one has made room */
    int64_t value;  /* INT64_MAX: a factor of it was too large already */
    bool is_product;
    int64_t a, b; /* the operands of the sum or product to blame */
};

static const struct exact_int *record_of(const struct interp *in, struct value value) {
    if (!value.wrapped || !in->exact)
        return NULL;
    const struct exact_int *record = &in->exact[value.wrapped % RECORDS];
    return record->number == value.wrapped ? record : NULL;
}

static int64_t exactly(const struct interp *in, struct value value) {
    const struct exact_int *record = record_of(in, value);
    return record ? record->value : value.scalar.integer;
}

static bool has_wrapped(struct value value) {
    if (value.kind == V_SCALAR)
        return value.wrapped != 0;
    for (size_t i = 0; value.kind == V_TUPLE && i < value.tuple->count; i++)
        if (has_wrapped(value.tuple->items[i]))
            return true;
    return false;
}

struct value interp_plain(struct interp *in, struct value value) {
    if (value.kind == V_SCALAR)
        value.wrapped = 0;
    if (value.kind != V_TUPLE || !has_wrapped(value))
        return value;
    struct tuple *tuple = interp_alloc(in, sizeof *tuple + value.tuple->count * sizeof(struct value));
    tuple->count = value.tuple->count;
    for (size_t i = 0; i < tuple->count; i++)
        tuple->items[i] = interp_plain(in, value.tuple->items[i]);
    value.tuple = tuple;
    return value;
}

/* Sums and products, exact; what leaves 64 bits is INT64_MAX. */
static int64_t plus(int64_t a, int64_t b) {
    int64_t result;
    return __builtin_add_overflow(a, b, &result) ? INT64_MAX : result;
}

static int64_t minus(int64_t a, int64_t b) {
    int64_t result;
    return __builtin_sub_overflow(a, b, &result) ? INT64_MAX : result;
}

static int64_t times(int64_t a, int64_t b) {
    int64_t result;
    return __builtin_mul_overflow(a, b, &result) ? INT64_MAX : result;
}

static int64_t divided(int64_t a, int64_t b) { return b == 0 ? 0 : a / b; }
static int64_t remainder_of(int64_t a, int64_t b) { return b == 0 ? a : a - divided(a, b) * b; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t greatest(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t negated(int64_t a, int64_t b) { return (void)b, -a; }

/* The operations on ints that are followed, without wrapping. */
typedef int64_t exact_operation(int64_t a, int64_t b);
static exact_operation *const exact_operations[PRIM_COUNT] = {
    [PRIM_ADD] = plus,         [PRIM_SUB] = minus,
    [PRIM_MUL] = times,        [PRIM_NEG] = negated,
    [PRIM_MIN] = least,        [PRIM_MAX] = greatest,
    [PRIM_DIV] = divided,      [PRIM_DIV_WORD] = divided,
    [PRIM_REM] = remainder_of, [PRIM_MOD_WORD] = remainder_of,
};

static int64_t combined(enum primitive primitive, int64_t a, int64_t b) {
    return a == INT64_MAX || b == INT64_MAX ? INT64_MAX : exact_operations[primitive](a, b);
}

struct value interp_remember(struct interp *in, enum primitive primitive, const struct value *arguments,
                             struct value result) {
    if (!exact_operations[primitive] || result.base != BASE_I32)
        return result;
    bool is_unary = primitive == PRIM_NEG, is_product = primitive == PRIM_MUL;
    bool is_plain = !arguments[0].wrapped && (is_unary || !arguments[1].wrapped); /* nearly all are */
    if (is_plain && exact_operations[primitive](arguments[0].scalar.integer,
                                                is_unary ? 0 : arguments[1].scalar.integer) == result.scalar.integer)
        return result;
    const struct exact_int *of[2] = {record_of(in, arguments[0]), is_unary ? NULL : record_of(in, arguments[1])};
    struct exact_int record = {
        .is_product = is_product, .a = arguments[0].scalar.integer, .b = is_unary ? 0 : arguments[1].scalar.integer};
    if (primitive == PRIM_SUB)
        record.b = -record.b;
    record.value = combined(primitive, exactly(in, arguments[0]), is_unary ? 0 : exactly(in, arguments[1]));
    for (int i = 1; i >= 0; i--) {
        bool is_sum = primitive == PRIM_ADD || primitive == PRIM_SUB;
        bool is_too_large = is_product && of[i] && of[i]->value > INT32_MAX;
        bool has_factors = is_sum && of[i] && of[i]->is_product && of[i]->value > INT32_MAX;
        if (is_too_large || has_factors || (of[i] && !is_sum && !is_product)) {
            record.is_product = of[i]->is_product;
            record.a = of[i]->a;
            record.b = of[i]->b;
        }
        if (is_too_large)
            record.value = INT64_MAX;
    }
    if (record.value == result.scalar.integer)
        return result;
    if (!in->exact)
        in->exact = ARENA_ARRAY(in->arena, struct exact_int, RECORDS);
    in->exact_count = in->exact_count == INT32_MAX ? 1 : in->exact_count + 1;
    record.number = in->exact_count;
    in->exact[record.number % RECORDS] = record;
    result.wrapped = record.number;
    return result;
}

int64_t interp_length(struct interp *in, struct value length, const char *what, struct span span) {
    length = interp_known(in, length, span);
    const struct exact_int *record = record_of(in, length);
    int64_t exact = exactly(in, length);
    if (record && exact > INT32_MAX)
        interp_fail(in, DIAG_ARRAY_TOO_LARGE, span, "an array of %lld %s %lld %s: the most is 2147483647",
                    (long long)record->a, record->is_product ? "times" : "and", (long long)record->b,
                    text_elements(record->b));
    if (exact < 0 && (in->is_absent || in->is_lenient)) {
        in->is_below_zero = true;
        return in->for_negative;
    }
    if (exact < 0)
        interp_fail(in, DIAG_NEGATIVE_LENGTH, span, "%s is negative: %lld", what, (long long)exact);
    return exact;
}
