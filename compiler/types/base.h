/* The base types, one row each: everything else about them is read from this table. */
#ifndef FCL_TYPES_BASE_H
#define FCL_TYPES_BASE_H

#include <stdbool.h>
#include <stdint.h>

/* BASE(id, name in FCL, bits in memory, is_integer, is_signed, is_floating). A bool is a byte in memory. */
#define BASE_TYPES(BASE)                                                                                               \
    BASE(BOOL, "bool", 8, false, false, false)                                                                         \
    BASE(I8, "i8", 8, true, true, false)                                                                               \
    BASE(I16, "i16", 16, true, true, false)                                                                            \
    BASE(I32, "int", 32, true, true, false)                                                                            \
    BASE(I64, "i64", 64, true, true, false)                                                                            \
    BASE(U8, "u8", 8, true, false, false)                                                                              \
    BASE(U16, "u16", 16, true, false, false)                                                                           \
    BASE(U32, "uint", 32, true, false, false)                                                                          \
    BASE(U64, "u64", 64, true, false, false)                                                                           \
    BASE(F32, "float", 32, false, true, true)                                                                          \
    BASE(F64, "double", 64, false, true, true)

enum base {
#define BASE(id, name, bits, is_integer, is_signed, is_floating) BASE_##id,
    BASE_TYPES(BASE)
#undef BASE
        BASE_COUNT
};

struct base_info {
    const char *name; /* canonical: int, not i32 */
    int bits;
    bool is_integer, is_signed, is_floating;
};
extern const struct base_info base_info[BASE_COUNT]; /* types/base.c */

/* The base type of that name; i32, u32, f32 and f64 are accepted too. False: no such type. */
bool base_of_name(const char *name, enum base *base);

/* Whether an operation on two scalars gives the same when they change places. */
enum commutes { ORDERED, COMMUTES, INTEGERS_COMMUTE };

/* A scalar constant. Integers and bools are kept sign- or zero-extended to 64 bits in `integer`;
   floats are kept as the double of the same value. */
union scalar {
    int64_t integer;
    uint64_t natural;
    double floating;
};

#endif
