/* The table of what other compilers get wrong, and the macros that mend it. */
#include "map/quirks/quirks.h"

#define IS_POCL "defined POCL_DEVICE_ADDRESS_BITS"
#define IS_NVIDIA "defined __NV_CL_C_VERSION"
#define IS_INTEL "defined __INTEL_LLVM_COMPILER"
#define IS_GCC "defined __GNUC__ && !defined __clang__"
#define IS_GCC_BEFORE_AVX512 IS_GCC " && !defined __AVX512F__"

const struct quirk_row quirks[QUIRK_COUNT] = {
#define QUIRK(id, where, compiler, guard, macro, there, elsewhere, what, tests, until)                                 \
    [QUIRK_##id] = {where, compiler, guard, macro, there, elsewhere, what, tests, until},
#include "map/quirks/quirks.def"
#undef QUIRK
};

void quirks_print(struct text *out, quirk_set set, unsigned where) {
    for (enum quirk i = 0; i < QUIRK_COUNT; i++) {
        const struct quirk_row *row = &quirks[i];
        if (!(set & quirk_bit(i)) || !(row->where & where) || !row->there)
            continue;
        text_printf(out, "#if %s /* %s */\n", row->guard, row->what);
        if (row->macro)
            text_printf(out, "#define %s ", row->macro);
        text_printf(out, "%s\n", row->there);
        if (row->elsewhere)
            text_printf(out, "#else\n#define %s%s%s\n", row->macro, *row->elsewhere ? " " : "", row->elsewhere);
        text_add(out, "#endif\n");
    }
}
