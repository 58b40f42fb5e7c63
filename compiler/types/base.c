/* The table of base types and the names they are known by. */
#include "types/base.h"

#include <stddef.h>
#include <string.h>

const struct base_info base_info[BASE_COUNT] = {
#define BASE(id, name, bits, is_integer, is_signed, is_floating)                                                       \
    [BASE_##id] = {name, bits, is_integer, is_signed, is_floating},
    BASE_TYPES(BASE)
#undef BASE
};

static const struct {
    const char *name;
    enum base base;
} other_names[] = {{"i32", BASE_I32}, {"u32", BASE_U32}, {"f32", BASE_F32}, {"f64", BASE_F64}};

bool base_of_name(const char *name, enum base *base) {
    for (int i = 0; i < BASE_COUNT; i++)
        if (strcmp(base_info[i].name, name) == 0) {
            *base = (enum base)i;
            return true;
        }
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (strcmp(other_names[i].name, name) == 0) {
            *base = other_names[i].base;
            return true;
        }
    return false;
}
