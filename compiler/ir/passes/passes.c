/* The list of passes, and the loop that runs those over the IR. */
#include "ir/passes/passes.h"

#include <string.h>

#include "ir/passes/pass_list.h"

const struct pass_info pass_info[PASS_COUNT] = {
#define PASS(id, ...) [PASS_##id] = {__VA_ARGS__},
#define STEP(id, ...) [PASS_##id] = {__VA_ARGS__, NULL},
#include "ir/passes/passes.def"
#undef PASS
#undef STEP
};

#ifdef FCL_VERIFY_EACH_PASS /* it takes a seventh of the time */
enum { VERIFIES_EACH_PASS = true };
#else
enum { VERIFIES_EACH_PASS = false };
#endif

static bool is_wanted(const struct pass_info *pass, const struct pass_options *options) {
    for (size_t i = 0; i < options->skipped_count; i++)
        if (strcmp(options->skipped[i], pass->name) == 0)
            return false;
    return pass->level <= options->level && !(pass->needs & ~options->has & ~(unsigned)NO_DEAD);
}

struct pass_run passes_wanted(const struct pass_options *options) {
    struct pass_run run = {0};
    bool is_over = options->until && !*options->until;
    for (size_t i = 0; i < PASS_COUNT && !is_over; i++) {
        run.wanted[i] = is_wanted(&pass_info[i], options);
        is_over = options->until && strcmp(options->until, pass_info[i].name) == 0;
    }
    return run;
}

static void run_pass(struct arena *arena, struct ir_kernel *kernel, struct pass_run *run, size_t pass) {
    kernel->changes = 0;
    pass_info[pass].run(arena, kernel);
    run->changes[pass] += kernel->changes;
}

const char *ir_optimise(struct arena *arena, struct ir_kernel *kernel, struct pass_run *run) {
    const char *wrong = NULL, *last = "no pass";
    for (size_t i = 0; i < PASS_COUNT && !wrong; i++) {
        if (!run->wanted[i] || !pass_info[i].run)
            continue;
        last = pass_info[i].name;
        if (pass_info[i].needs & NO_DEAD && run->wanted[PASS_DCE])
            run_pass(arena, kernel, run, PASS_DCE);
        run_pass(arena, kernel, run, i);
        wrong = VERIFIES_EACH_PASS ? ir_verify(arena, kernel) : NULL;
    }
    if (!wrong)
        wrong = ir_verify(arena, kernel);
    return wrong ? arena_printf(arena, "after %s: %s", last, wrong) : NULL;
}
