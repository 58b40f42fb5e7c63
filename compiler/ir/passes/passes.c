/* The list of passes and the loop that runs it. */
#include "ir/passes/passes.h"

#include <string.h>

#include "ir/passes/pass_list.h"

/* Dead code goes first, so that exported values nobody uses do not keep branches from merging, and again
   after what leaves more of it. Merging comes before tidying: selects hide that two branches have one condition. */
const struct ir_pass ir_passes[] = {
    {"dce", "removes what no result depends on", pass_dce, 1, PASS_ANY},
    {"contract", "makes products and sums of floats one operation, where the program lets it", pass_contract, 0,
     PASS_ANY},
    {"rereads", "finds arrays that are stored for nothing", pass_rereads, 0, PASS_ANY},
    {"reuse", "lets updates write into the array that they start from", pass_reuse, 0, PASS_ANY},
    {"fuse-loops", "joins parallel loops that pass values on within a thread", pass_fuse_loops, 1, PASS_ANY},
    {"in-place", "lets loops over arrays do with one half where elements stay in their thread", pass_in_place, 1,
     PASS_ANY},
    {"merge-ifs", "joins neighbouring branches on one condition", pass_merge_ifs, 1, PASS_ANY},
    {"tidy", "turns small pure branches into selects", pass_tidy, 1, PASS_ANY},
    {"merge-stages", "takes two stages of a tree at a time", pass_merge_stages, 1, PASS_THREADS},
    {"dce-tidied", "removes what the passes before left unused", pass_dce, 1, PASS_ANY},
    {"whole-tiles", "gives tiles without an end in them loops without guards", pass_whole_tiles, 1, PASS_CPU},
    {"zeros", "compares with the zero that is chosen", pass_zeros, 0, PASS_ANY},
    {"dce-guards", "removes the guards, and comparisons with other zeros", pass_dce, 1, PASS_ANY},
    {"sink", "computes in a branch what that branch alone needs", pass_sink, 1, PASS_ANY},
    {"outline", "gives sequential reads at grid to a device thread", pass_outline, 0, PASS_ANY},
    {"clear", "lets an array begin as zeros that a launch would fill with them", pass_clear, 1, PASS_THREADS},
    {"last-block", "lets a launch's last block do what one block does next", pass_last_block, 1,
     PASS_THREADS | PASS_FENCES},
    {"on-device", "loads in launches what they alone want of earlier ones", pass_on_device, 1, PASS_THREADS},
    {"unroll", "unrolls loops that keep private arrays out of registers", pass_unroll, 1, PASS_ANY},
    {"no-wrap", "marks arithmetic that cannot overflow", pass_no_wrap, 1, PASS_ANY},
    {"join-launches", "stores the parts of an array by one launch", pass_join_launches, 1, PASS_THREADS | PASS_EXACT},
    {"own-places", "keeps in registers what a thread alone touches", pass_own_places, 1, PASS_THREADS | PASS_EXACT},
    {"banks", "pads shared arrays, so that threads use different banks", pass_banks, 1, PASS_THREADS},
    {"store-pairs", "stores two elements of 16 bits at a time", pass_store_pairs, 1, PASS_THREADS},
};
const size_t ir_pass_count = sizeof ir_passes / sizeof ir_passes[0];

#ifdef FCL_VERIFY_EACH_PASS /* it takes a seventh of the time */
enum { VERIFIES_EACH_PASS = true };
#else
enum { VERIFIES_EACH_PASS = false };
#endif

static bool is_wanted(const struct ir_pass *pass, const struct ir_pass_options *options) {
    for (size_t i = 0; i < options->skipped_count; i++)
        if (strcmp(options->skipped[i], pass->name) == 0)
            return false;
    return pass->level <= options->level && !(pass->target & ~options->target);
}

const char *ir_optimise(struct arena *arena, struct ir_kernel *kernel, const struct ir_pass_options *options) {
    bool is_last = false;
    for (size_t i = 0; i < ir_pass_count && !is_last; i++) {
        const struct ir_pass *pass = &ir_passes[i];
        is_last = i + 1 == ir_pass_count || (options->until && strcmp(options->until, pass->name) == 0);
        bool runs = is_wanted(pass, options);
        if (runs)
            pass->run(arena, kernel);
        const char *wrong = (runs && VERIFIES_EACH_PASS) || is_last ? ir_verify(arena, kernel) : NULL;
        if (wrong)
            return arena_printf(arena, "after %s: %s", pass->name, wrong);
    }
    return NULL;
}
