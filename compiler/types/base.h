/* The base types, one row each: everything else about them is read from this table. */
#ifndef FCL_TYPES_BASE_H
#define FCL_TYPES_BASE_H

#include <stdbool.h>
#include <stdint.h>

#include "support/floating.h"

/* BASE(id, name in FCL, suffix of its literals, bits in memory, is_integer, is_signed, significand,
        C's type, NumPy's name)
   A bool is a byte in memory. `significand`: its bits, with the one that is not stored, where the
   numbers are floating; else 0. C's type is that of the host and of memory, NumPy's that of .npy and
   Python; of `f16` and `bf16` C gets the bits, and so does NumPy of `bf16`, which it does not know. */
#define BASE_TYPES(BASE)                                                                                               \
    BASE(BOOL, "bool", "", 8, false, false, 0, "uint8_t", "bool")                                                      \
    BASE(I8, "i8", "i8", 8, true, true, 0, "int8_t", "int8")                                                           \
    BASE(I16, "i16", "i16", 16, true, true, 0, "int16_t", "int16")                                                     \
    BASE(I32, "int", "i32", 32, true, true, 0, "int32_t", "int32")                                                     \
    BASE(I64, "i64", "i64", 64, true, true, 0, "int64_t", "int64")                                                     \
    BASE(U8, "u8", "u8", 8, true, false, 0, "uint8_t", "uint8")                                                        \
    BASE(U16, "u16", "u16", 16, true, false, 0, "uint16_t", "uint16")                                                  \
    BASE(U32, "uint", "u32", 32, true, false, 0, "uint32_t", "uint32")                                                 \
    BASE(U64, "u64", "u64", 64, true, false, 0, "uint64_t", "uint64")                                                  \
    BASE(F32, "float", "f32", 32, false, true, 24, "float", "float32")                                                 \
    BASE(F64, "double", "f64", 64, false, true, 53, "double", "float64")                                               \
    BASE(F16, "f16", "f16", 16, false, true, 11, "uint16_t", "float16")                                                \
    BASE(BF16, "bf16", "bf16", 16, false, true, 8, "uint16_t", "uint16")

enum base {
#define BASE(id, ...) BASE_##id,
    BASE_TYPES(BASE)
#undef BASE
        BASE_COUNT
};

struct base_info {
    const char *name;   /* canonical: int, not i32 */
    const char *suffix; /* of literals; also a name of the type */
    int bits;
    bool is_integer, is_signed, is_floating;
    struct floating_format format; /* where it is floating */
    bool is_narrow;                /* floating, and narrower than a `float`: computed in that */
    const char *c_type, *numpy_name;
};
extern const struct base_info base_info[BASE_COUNT]; /* types/base.c */

/* The base type of that name; its suffix, and `half`, are accepted too. False: no such type. */
bool base_of_name(const char *name, enum base *base);
/* The natural numbers of as many bits as the base has: 8, 16, 32 or 64. */
enum base base_of_bits(enum base base);

/* The nearest number of the base: of integers of C only, so that it is rounded once. */
double base_of_signed(enum base base, int64_t number);
double base_of_natural(enum base base, uint64_t number);
/* To the base, from any other: where that is narrow, a NaN is the one NaN that conversions give. */
double base_of_floating(enum base base, double number);

/* Does an operation on two scalars give the same when they change places? */
enum commutes { ORDERED, COMMUTES, INTEGERS_COMMUTE };

/* A scalar constant. Integers and bools are kept sign- or zero-extended to 64 bits in `integer`;
   floats are kept as the double of the same value. */
union scalar {
    int64_t integer;
    uint64_t natural;
    double floating;
};

/* Integers modulo the width, a bool of what is not 0, floats rounded. */
union scalar base_wrap(enum base base, union scalar value);

#endif
