/* The list of passes and the loop that runs it. */
#include "ir/passes.h"

#include "ir/outline.h"
#include "ir/pass_list.h"

/* Dead code goes first, so that exported values nobody uses do not keep branches from merging, and again after what
   leaves more of it. Merging comes before tidying: selects hide that two branches have one condition. */
const struct ir_pass ir_passes[] = {
    {"dce", "removes what no result depends on", pass_dce, 1},
    {"fuse-loops", "joins parallel loops that pass values on within a thread", pass_fuse_loops, 1},
    {"in-place", "lets loops over arrays do with one half where elements stay in their thread", pass_in_place, 1},
    {"merge-ifs", "joins neighbouring branches on one condition", pass_merge_ifs, 1},
    {"tidy", "turns small pure branches into selects", pass_tidy, 1},
    {"dce", "removes what the passes before left unused", pass_dce, 1},
    {"whole-tiles", "gives tiles without an end in them loops without guards, on CPUs", pass_whole_tiles, 1},
    {"zeros", "compares with the zero that is chosen", pass_zeros, 0},
    {"dce", "removes the guards, and comparisons with other zeros", pass_dce, 1},
    {"sink", "computes in a branch what that branch alone needs", pass_sink, 1},
    {"outline", "gives sequential reads at grid to a device thread", outline_run, 0},
    {"unroll", "unrolls loops that keep private arrays out of registers", pass_unroll, 1},
    {"no-wrap", "marks arithmetic that cannot overflow", pass_no_wrap, 1},
};
const size_t ir_pass_count = sizeof ir_passes / sizeof ir_passes[0];

#ifdef FCL_VERIFY_EACH_PASS /* in the tree under sanitisers: it takes a seventh of the time */
enum { VERIFIES_EACH_PASS = true };
#else
enum { VERIFIES_EACH_PASS = false };
#endif

const char *ir_optimise(struct arena *arena, struct ir_kernel *kernel, int level) {
    for (size_t i = 0; i < ir_pass_count; i++) {
        if (ir_passes[i].level > level)
            continue;
        ir_passes[i].run(arena, kernel);
        const char *wrong = VERIFIES_EACH_PASS ? ir_verify(arena, kernel) : NULL;
        if (wrong)
            return arena_printf(arena, "after %s: %s", ir_passes[i].name, wrong);
    }
    return ir_verify(arena, kernel);
}
