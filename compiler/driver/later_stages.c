/* Runs the stages behind the checker as the options ask: requests, checks, dumps and texts. */
#include "driver/later_stages.h"

#include <string.h>

#include "ir/passes/passes.h"

const struct target *chosen_target(const struct options *options) {
    for (size_t i = 0; targets[i]; i++)
        if (options->target ? strcmp(options->target, targets[i]->name) == 0
                            : options->output && text_ends_with(options->output, targets[i]->extension))
            return targets[i];
    return NULL;
}

struct generate_request ir_request_for(struct compilation *c, const struct target *target) {
    const struct machine *machine = c->options->mapping == MAPPING_LOOP && target->loop ? target->loop
                                    : c->options->sub_groups == SUB_GROUPS_YES && target->sub_groups
                                        ? target->sub_groups
                                        : target_machine(target, NULL);
    return (struct generate_request){.arena = c->arena,
                                     .options = c->options,
                                     .target = target,
                                     .machine = machine,
                                     .kind = machine->device,
                                     .shared_bytes = (uint64_t)c->options->shared_bytes,
                                     .diagnostics = c->diagnostics};
}

struct generate_request request_for(struct compilation *c, const struct target *target) {
    struct generate_request request = ir_request_for(c, target);
    request.program = c->program;
    request.source = c->file->source;
    request.tuning = &c->tuning;
    return request;
}

/* Without --target it checks for CUDA and for C: the prelude's functions take one way on a GPU and another on a CPU.
   OpenCL takes one of these two ways. */
void check_later_stages(struct compilation *c) {
    const struct options *o = c->options;
    struct generate_request requests[2];
    size_t count = 0;
    for (size_t i = 0; targets[i] && count < 2; i++) {
        const struct target *target = targets[i];
        const char *asked = o->target || !c->program->ir ? o->target : c->program->ir->target;
        bool is_wanted = asked ? strcmp(asked, target->name) == 0 : !target->simt || !target->loop;
        if (is_wanted && !options_misfit(o, target->name))
            requests[count++] = request_for(c, target);
    }
    if (count)
        (void)generate_check(requests, count); /* its answer is among the diagnostics */
}

const char *text_for_target(struct compilation *c, struct arena *arena, const char *target,
                            const struct core_global *only, struct diagnostics *diagnostics) {
    const struct target *found = target_named(target);
    if (!found || options_misfit(c->options, target))
        return NULL;
    struct generate_request request = request_for(c, found);
    struct generated generated = {0};
    request.arena = arena;
    request.diagnostics = diagnostics;
    request.only = only ? &only : NULL;
    request.only_count = only != NULL;
    return generate(&request, &generated) ? generate_text(&request, &generated, c->file->source->path) : NULL;
}

/* ---- dumps ---- */

static const struct pass_info *pass_named(const char *name) {
    for (size_t i = 0; i < PASS_COUNT; i++)
        if (strcmp(pass_info[i].name, name) == 0)
            return &pass_info[i];
    return NULL;
}

/* A line for each pass: how many changes it has made, or that it was not run. */
static void print_statistics(struct text *out, const struct pass_run *passes) {
    text_printf(out, "%7s  %-13s  %s\n", "changes", "pass", "what it does");
    for (size_t i = 0; i < PASS_COUNT; i++) {
        if (passes->wanted[i])
            text_printf(out, "%7llu", (unsigned long long)passes->changes[i]);
        else
            text_printf(out, "%7s", "-");
        text_printf(out, "  %-13s  %s\n", pass_info[i].name, pass_info[i].what);
    }
}

enum exit_status dump_later_stage(struct compilation *c, struct text *out) {
    const struct target *target = chosen_target(c->options);
    struct generate_request request = request_for(c, target ? target : targets[0]);
    const char *stage = c->options->dump;
    const struct pass_info *pass = pass_named(stage);
    bool is_statistics = strcmp(stage, "stats") == 0, is_first = strcmp(stage, "ir") == 0;
    request.until = pass ? stage : is_first ? "" : NULL;
    request.is_ir = pass ? pass->run != NULL : is_first || strcmp(stage, "ir-opt") == 0;
    struct generated generated = {0};
    if (!generate(&request, &generated))
        return EXIT_PROGRAM_WRONG;
    if (is_statistics) {
        print_statistics(out, &generated.passes);
        return EXIT_GOOD;
    }
    for (size_t i = 0; i < generated.kernels.count; i++) {
        if (request.is_ir)
            ir_print(out, generated.kernels.at[i]);
        else
            backend_dump(out, generated.targets.at[i]);
    }
    return EXIT_GOOD;
}
