/* The pipeline behind checking, as a list of calls in order. */
#include "driver/generate.h"

#include <string.h>

#include "driver/unproved.h"
#include "elaborate/elaborate.h"
#include "ir/passes/passes.h"
#include "ir/text/text.h"

/* -O, --unroll, --block-size … as the elaborator takes them. */
static struct elaborate_options elaborate_options_of(const struct options *options) {
    struct elaborate_options result = elaborate_defaults;
    if (options->block_size_given)
        result.block_size = (int)options->block_size;
    result.warp_size = (int)options->warp_size;
    if (options->grid_size_given)
        result.grid_size = (int)options->grid_size;
    if (options->unroll >= 0)
        result.unroll = (int)options->unroll;
    result.optimise = (int)options->optimise;
    result.large = options->large;
    result.check = options->unproved ? DEGREE_ALL : options->check;
    result.stack_bytes = options->stack_bytes;
    result.are_users_lines = options->lines;
    return result;
}

/* The size of a vector register: what the user asks for, or else the device's. */
static int vector_bytes_of(const struct generate_request *request) {
    if (request->options->vector_bytes_given)
        return (int)request->options->vector_bytes;
    return request->vector_bytes ? (int)request->vector_bytes : elaborate_defaults.vector_bytes;
}

static bool internal_error(const struct generate_request *request, const struct ir_kernel *kernel, const char *what) {
    diag_error(request->diagnostics, DIAG_INTERNAL, kernel->span, "internal error in the IR of `%s`: %s",
               kernel->name->text, what);
    return false;
}

/* Shared memory that a block has on the device that is asked for; or may have, where none is. */
static int64_t shared_limit(const struct generate_request *request) {
    return request->shared_bytes ? (int64_t)request->shared_bytes : request->machine->shared_most;
}

/* Says which array lies in global memory for want of shared memory: the first launch's that has one. */
static void warn_of_outside(const struct generate_request *request, const struct ir_kernel *kernel,
                            const struct target_program *target) {
    const struct target_kernel *one = target_outside(target);
    if (!one)
        return;
    const struct ir_buffer *buffer = one->outside;
    struct diagnostic *warning = diag_warning(
        request->diagnostics, DIAG_SHARED_MEMORY, kernel->span,
        "a block of `%s` would take %lld bytes of shared memory, and can have %lld: arrays of it lie in global memory",
        kernel->name->text, (long long)one->wanted_shared_bytes, (long long)shared_limit(request));
    diag_note(request->diagnostics, warning, buffer->span, "%lld elements of type `%s` are stored here",
              (long long)buffer->capacity->constant.integer, base_info[buffer->element].name);
    diag_hint(request->diagnostics, warning, "with smaller chunks a block is faster");
}

/* Where the program uses what the prelude or the library reads. */
static struct span users_place(const struct diagnostics *diagnostics, const struct ir_instruction *instruction) {
    while (instruction && diag_is_ours(diagnostics, instruction->span))
        instruction = instruction->region->owner;
    return instruction ? instruction->span : (struct span){0, 0};
}

struct copy_reason {
    const char *why, *hint;
};

/* {NULL, NULL}: it does not copy, or as the language has it. */
static struct copy_reason why_copied(enum ir_update_kind kind) {
    static const char *const used_no_more =
        "where the old array is used no more, an update costs only its pairs: use it "
        "before, or use the new one";
    switch (kind) {
    case UPDATE_COPIES_USED: return (struct copy_reason){"what the array was before is used afterwards", used_no_more};
    case UPDATE_COPIES_RESULT: return (struct copy_reason){"what the array was before is a result, too", used_no_more};
    case UPDATE_COPIES_BRANCH:
        return (struct copy_reason){"it is done in one branch only",
                                    "let the condition choose the pairs: one whose index is -1 changes nothing"};
    case UPDATE_COPIES_APART:
        return (struct copy_reason){
            "it is made within a step that uses the old array afterwards, or lets arrays change places",
            "use the old array before, or update it once, by the pairs of both updates"};
    case UPDATE_COPIES_WORDS:
        return (struct copy_reason){
            "the components of an element change together, which no device can do in several arrays: they are packed "
            "into words meanwhile",
            "an operator that makes each component of that component alone, as `(a + c, max b d)` of `(a, b)` and "
            "`(c, d)`, updates in place; of the least with its place, the packed numbers may be the array: one `i64`, "
            "`key << 32 | place`, and `min`"};
    case UPDATE_COPIES_NARROW:
        return (struct copy_reason){
            "its elements have less than 32 bits, which a block or warp keeps as words meanwhile",
            "an array of `int` is updated in place"};
    case UPDATE_COPIES_MANY:
        return (struct copy_reason){
            "its pairs read it, and nothing bounds their number: there is no room to store them before",
            "a bound makes room: `generate (min n 8) …`, or `take 8 …`; `scatterEach` and `reduceByIndexEach` need "
            "as many pairs of every element"};
    case UPDATE_IN_PLACE:
    case UPDATE_COPIES_FEW:
    case UPDATE_COPIES_INPUT:
    case UPDATE_COPIES_ROOM: break;
    }
    return (struct copy_reason){NULL, NULL};
}

static void warn_of_copies(const struct generate_request *request, const struct ir_kernel *kernel) {
    for (size_t i = 0; i < kernel->updated.count; i++) {
        const struct ir_update *one = &kernel->updated.at[i];
        struct copy_reason reason = why_copied(one->kind);
        if (!reason.why)
            continue;
        struct diagnostic *warning = diag_warning(request->diagnostics, DIAG_COPIES, one->update,
                                                  "this update copies its array, as %s", reason.why);
        struct span use = users_place(request->diagnostics, one->use);
        if (use.end)
            diag_note(request->diagnostics, warning, use, "here");
        diag_hint(request->diagnostics, warning, "%s", reason.hint);
    }
}

/* A tuple of arrays has several buffers, and the force of one function may be in several kernels'
   code: a message names each once. */
static void warn_of_rereads(const struct generate_request *request, const struct ir_kernel *kernel) {
    for (size_t i = 0; i < kernel->rereads.count; i++) {
        struct span span = kernel->rereads.at[i];
        bool is_told = diag_is_ours(request->diagnostics, span);
        for (size_t k = 0; k < i; k++)
            is_told |= kernel->rereads.at[k].begin == span.begin && kernel->rereads.at[k].end == span.end;
        if (is_told)
            continue;
        struct diagnostic *warning =
            diag_warning(request->diagnostics, DIAG_REREADS, span,
                         "this array is stored for nothing: each element is read once, by the thread that wrote it");
        diag_hint(request->diagnostics, warning, "without `force` the two loops are one");
    }
}

/* ---- kernels that are read ---- */

static bool are_alike(const struct machine *a, const struct machine *b) {
    return a->has_shuffles == b->has_shuffles && a->polls_by_atomics == b->polls_by_atomics && a->pauses == b->pauses &&
           a->map.mapping == b->map.mapping;
}

static bool fits_machine(const struct generate_request *request, struct ir_kernel *kernel, const char *made_for) {
    if (request->no_block_waits && ir_waits(kernel)) {
        struct diagnostic *error =
            diag_error(request->diagnostics, DIAG_IR_TEXT, kernel->span,
                       "blocks of `%s` wait for others, and on this device none waits", kernel->name->text);
        diag_hint(request->diagnostics, error, "`-D onePass=false` where it is written makes them launches");
        return false;
    }
    const struct target *target = made_for ? target_named(made_for) : NULL;
    bool has_warps = machine_has_warps_of(request->machine, kernel->warp_size);
    bool has_products = ir_uses(kernel, IR_MMA) && !request->machine->has_mma;
    if (target && has_warps && !has_products && are_alike(target_machine(target, NULL), request->machine))
        return true;
    kernel->has_warps = request->machine->has_shuffles;
    kernel->is_cpu = request->machine->map.mapping == TARGET_LOOP;
    if (!ir_is_bound(kernel))
        return true;
    static const char *const what = "lanes that exchange values or multiply matrices, or blocks that wait for others";
    if (target == request->target) {
        struct diagnostic *error = diag_error(request->diagnostics, DIAG_IR_TEXT, kernel->span,
                                              "`%s` was made for threads: it goes by %s, and here levels become loops",
                                              kernel->name->text, what);
        diag_hint(request->diagnostics, error, "`--map=simt` makes them threads");
        return false;
    }
    struct diagnostic *error =
        diag_error(request->diagnostics, DIAG_IR_TEXT, kernel->span, "`%s` goes by what %s has and %s has not: %s",
                   kernel->name->text, made_for ? made_for : "some target", request->target->name, what);
    diag_hint(request->diagnostics, error, "`fclc FILE.fcl --target=%s -o OUT.fclir` writes it for that target",
              request->target->name);
    return false;
}

bool generate_fits_machine(const struct generate_request *request, const struct ir_file *file) {
    bool good = true;
    for (size_t i = 0; i < file->kernels.count; i++)
        good = fits_machine(request, file->kernels.at[i], file->target) && good;
    return good;
}

/* With the checks that were asked for; NULL: verification failed. */
static struct ir_kernel *checked(const struct generate_request *request, struct ir_kernel *kernel) {
    if (request->options->check == DEGREE_NONE)
        return kernel;
    ir_add_checks(request->arena, kernel);
    const char *wrong = ir_verify(request->arena, kernel);
    if (wrong)
        internal_error(request, kernel, arena_printf(request->arena, "with checks: %s", wrong));
    return wrong ? NULL : kernel;
}

/* NULL: it does not fit. That it can be read is known. */
static struct ir_kernel *read_again(const struct generate_request *request, const struct core_global *global) {
    const struct program_ir *ir = request->program->ir;
    struct ir_file *file = ir_read(request->arena, ir->symbols, ir->sources, ir->source, request->diagnostics);
    for (size_t i = file ? file->kernels.count : 0; i-- > 0;) {
        struct ir_kernel *kernel = file->kernels.at[i];
        if (kernel->name == global->name)
            return fits_machine(request, kernel, file->target) ? checked(request, kernel) : NULL;
    }
    return NULL;
}

/* ---- kernels that are elaborated ---- */

/* The block size of the command line, else of the tuner, else of the kernel, else the default, where the device has so
   many threads for a block. */
static int block_size_of(const struct generate_request *request, const struct core_global *global,
                         const struct elaborate_options *options) {
    const struct core_global *own = global->block_size;
    if (request->options->block_size_given)
        return options->block_size;
    if (!own) {
        bool has_threads = request->most_threads && request->machine->map.mapping == TARGET_SIMT;
        int size = options->block_size;
        while (has_threads && (uint32_t)size > request->most_threads)
            size /= 2;
        return size;
    }
    if (options->asked)
        map_set(options->asked, own, options->asked);
    for (size_t i = 0; i < options->param_count; i++)
        if (options->params[i].param == own)
            return (int)options->params[i].value->literal.magnitude;
    return (int)core_block_size(global, options->block_size);
}

/* The kernel after elaboration; NULL when diagnostics were given. */
static struct ir_kernel *elaborated(const struct generate_request *request, const struct core_global *global,
                                    struct generated *result) {
    if (request->program->ir)
        return read_again(request, global);
    struct arena *arena = request->arena;
    struct elaborate_options elaborate = elaborate_options_of(request->options);
    const struct machine *machine = request->machine;
    elaborate.has_shuffles = machine->has_shuffles;
    elaborate.has_mma = machine->has_mma;
    elaborate.polls_by_atomics = machine->polls_by_atomics;
    elaborate.pauses = machine->pauses;
    elaborate.no_block_waits = request->no_block_waits;
    elaborate.copies_ahead = machine->copies_ahead;
    elaborate.is_cpu = machine->map.mapping == TARGET_LOOP;
    elaborate.table_bytes = machine->table_bytes;
    if (machine->shared_bytes)
        elaborate.shared_bytes = machine->shared_bytes;
    else if (request->shared_bytes)
        elaborate.shared_most = (int)shared_limit(request);
    elaborate.vector_bytes = vector_bytes_of(request);
    elaborate.program = request->program;
    if (request->is_large && !elaborate.large)
        elaborate.large = LARGE_PART;
    elaborate.asked = request->asked;
    const struct tuned *tuned = request->trial;
    if (!tuned && request->tuning && request->kind)
        tuned = tuning_find(request->tuning, request->kind, request->device, global->name->text);
    if (tuned) {
        if (!request->trial && tuned->value_count)
            vec_push(arena, &result->tuned, tuned);
        elaborate.params = tuned->values;
        elaborate.param_count = tuned->value_count;
    }
    elaborate.approximates = global->approximates || request->options->approximate;
    elaborate.block_size = block_size_of(request, global, &elaborate);
    if (!request->options->block_size_given && !global->block_size) {
        elaborate.bucket_threads = machine->bucket_threads;
        elaborate.warp_threads = machine->warp_threads;
    }
    struct ir_kernel *kernel = elaborate_kernel(arena, global, &elaborate, request->diagnostics);
    if (kernel) {
        kernel->contracts = global->contracts;
        kernel->approximates = global->approximates;
    }
    const char *wrong = kernel ? ir_verify(arena, kernel) : NULL;
    if (wrong)
        internal_error(request, kernel, arena_printf(request->arena, "after elaboration: %s", wrong));
    return wrong ? NULL : kernel;
}

static struct pass_run wanted_passes(const struct generate_request *request, const char *until) {
    const struct options *options = request->options;
    return passes_wanted(&(struct pass_options){.level = (int)options->optimise,
                                                .has = machine_passes(request->machine),
                                                .until = until,
                                                .skipped = options->skipped.at,
                                                .skipped_count = options->skipped.count});
}

static bool optimised(const struct generate_request *request, struct ir_kernel *kernel, struct pass_run *passes) {
    kernel->contracts |= request->options->contract;
    kernel->approximates |= request->options->approximate;
    const char *wrong = ir_optimise(request->arena, kernel, passes);
    return wrong ? internal_error(request, kernel, wrong) : true;
}

/* And what passes and mapping make of it. */
static const struct target_program *lowered(const struct generate_request *request, struct ir_kernel *kernel,
                                            struct pass_run *passes) {
    struct arena *arena = request->arena;
    if (!optimised(request, kernel, passes))
        return NULL;
    struct map_options map = request->machine->map;
    map.passes = passes;
    map.shared_limit = map.mapping == TARGET_SIMT ? shared_limit(request) : 0;
    map.launch_sized_outside = request->launch_sized_outside;
    map.has_wide_vectors = map.may_have_vectors && vector_bytes_of(request) > CPU_VECTOR;
    const struct target_program *target = map_kernel(arena, kernel, &map);
    warn_of_outside(request, kernel, target);
    warn_of_copies(request, kernel);
    warn_of_rereads(request, kernel);
    return target;
}

static bool generate_kernel(const struct generate_request *request, const struct core_global *global,
                            struct generated *result) {
    struct ir_kernel *kernel = elaborated(request, global, result);
    if (!kernel)
        return false;
    if (request->is_ir) {
        bool has_passes = !request->until || *request->until;
        if (has_passes && !optimised(request, kernel, &result->passes))
            return false;
    } else {
        const struct target_program *target = lowered(request, kernel, &result->passes);
        if (!target)
            return false;
        vec_push(request->arena, &result->targets, target);
    }
    vec_push(request->arena, &result->globals, global);
    vec_push(request->arena, &result->kernels, kernel);
    return true;
}

static bool is_taken(const struct generated *generated, const struct target_kernel *asking, const char *name) {
    for (size_t i = 0; i < generated->targets.count; i++)
        for (size_t k = 0; k < generated->targets.at[i]->kernels.count; k++) {
            const struct target_kernel *kernel = generated->targets.at[i]->kernels.at[k];
            if (kernel != asking && strcmp(kernel->name, name) == 0)
                return true;
        }
    return false;
}

static void make_unique(struct arena *arena, struct generated *generated, bool of_parts) {
    for (size_t i = 0; i < generated->targets.count; i++) {
        const struct target_program *program = generated->targets.at[i];
        for (size_t k = 0; k < program->kernels.count; k++) {
            struct target_kernel *kernel = program->kernels.at[k];
            while (kernel->is_part == of_parts && is_taken(generated, kernel, kernel->name))
                kernel->name = arena_printf(arena, "%s_", kernel->name);
        }
    }
}

/* The launches of a kernel `f` are called f_0, f_1, …, and f_checked, as another kernel may be called too: that
   one keeps its name. Then those whose names became the same when they were made identifiers, as
   of `k'` and `k_`. */
static void make_names_unique(struct arena *arena, struct generated *generated) {
    make_unique(arena, generated, true);
    make_unique(arena, generated, false);
}

/* Lets launches whose kernels have the same text share the first one's. A kernel's only launch keeps
   its own, as it has that kernel's name, under which a program of the user's may launch it. */
static void share_kernels(const struct generate_request *request, struct generated *generated) {
    if (!pass_wanted(&generated->passes, PASS_SHARE))
        return;
    struct symbols *symbols = symbols_new(request->arena);
    struct map *by_text = map_new(request->arena);
    for (int of_parts = 0; of_parts < 2; of_parts++)
        for (size_t i = 0; i < generated->targets.count; i++) {
            const struct target_program *program = generated->targets.at[i];
            for (size_t k = 0; k < program->kernels.count; k++) {
                struct target_kernel *kernel = program->kernels.at[k];
                if (kernel->is_part != of_parts)
                    continue;
                symbol text = symbol_of(symbols, backend_kernel(request->arena, request->target, kernel));
                const struct target_kernel *other = of_parts ? map_get(by_text, text) : NULL;
                if (other) {
                    pass_changed(&generated->passes, PASS_SHARE);
                    kernel->same = other;
                    kernel->name = other->name;
                } else {
                    map_set(by_text, text, kernel);
                }
            }
        }
}

/* True if the request is for this kernel. If several kernels have one name, only the last counts, as in `fclc run`. */
static bool is_wanted(const struct generate_request *request, size_t index) {
    const struct core_global *global = request->program->globals.at[index];
    if (global->kind != GLOBAL_KERNEL)
        return false;
    for (size_t i = 0; i < request->only_count; i++)
        if (request->only[i] == global)
            return true;
    if (request->only)
        return false;
    for (size_t i = index + 1; i < request->program->globals.count; i++) {
        const struct core_global *later = request->program->globals.at[i];
        if (later->kind == GLOBAL_KERNEL && later->source == global->source && later->name == global->name)
            return false;
    }
    return global->source == request->source;
}

bool generate(const struct generate_request *request, struct generated *result) {
    bool good = true;
    result->passes = wanted_passes(request, request->until);
    for (size_t i = 0; i < request->program->globals.count; i++) {
        if (is_wanted(request, i))
            good = generate_kernel(request, request->program->globals.at[i], result) && good;
    }
    make_names_unique(request->arena, result);
    share_kernels(request, result);
    return good;
}

bool generate_from_ir(const struct generate_request *request, struct ir_kernel *const *kernels, size_t count,
                      struct generated *result) {
    result->passes = wanted_passes(request, request->until);
    for (size_t i = 0; i < count; i++) {
        struct ir_kernel *kernel = checked(request, kernels[i]);
        const struct target_program *target = kernel ? lowered(request, kernel, &result->passes) : NULL;
        if (!target)
            return false;
        vec_push(request->arena, &result->kernels, kernel);
        vec_push(request->arena, &result->targets, target);
    }
    make_names_unique(request->arena, result);
    share_kernels(request, result);
    return true;
}

static bool is_right(const struct generate_request *request, const struct core_global *global) {
    struct generate_request alone = *request;
    struct generated forgotten = {0};
    alone.arena = arena_new();
    struct ir_kernel *kernel = elaborated(&alone, global, &forgotten);
    bool good = kernel != NULL;
    /* `in-place` finds the updates that copy. */
    struct pass_run first = wanted_passes(&alone, request->options->unproved ? NULL : "in-place");
    if (good && optimised(&alone, kernel, &first)) {
        warn_of_copies(&alone, kernel);
        warn_of_rereads(&alone, kernel);
        if (request->options->unproved)
            unproved_tell(alone.arena, kernel, request->diagnostics);
    }
    /* Half of what there is: passes add paddings, and may copy loops with the arrays in them. */
    bool is_simt = request->machine->map.mapping == TARGET_SIMT;
    struct pass_run all = wanted_passes(&alone, NULL);
    if (good && is_simt && map_shared_bytes(alone.arena, kernel) > request->machine->shared_most / 2)
        good = lowered(&alone, kernel, &all) != NULL;
    arena_free(alone.arena);
    return good;
}

bool generate_check(const struct generate_request *requests, size_t count) {
    bool good = true;
    for (size_t i = 0; i < requests->program->globals.count; i++) {
        bool is_good = is_wanted(requests, i);
        for (size_t k = 0; k < count && is_good; k++)
            good &= is_good = is_right(&requests[k], requests->program->globals.at[i]);
    }
    return good;
}

const char *generate_text(const struct generate_request *request, const struct generated *generated, const char *path) {
    struct text text;
    text_init(&text, request->arena);
    struct text tuned;
    text_init(&tuned, request->arena);
    for (size_t i = 0; i < generated->tuned.count; i++) {
        const struct tuned *line = generated->tuned.at[i];
        text_printf(&tuned, "/* Tuned for %s: %s with %s. */\n", line->device, line->kernel, line->params);
    }
    const char *version = FCLC_VERSION;
    if (request->options->check != DEGREE_NONE)
        version = arena_printf(request->arena, "%s --check=%s", version, options_degree_name(request->options->check));
    struct backend_options options = {.source = path,
                                      .version = version,
                                      .notes = text_string(&tuned),
                                      .is_linked = request->options->ahead,
                                      .is_unoptimised = request->options->optimise == 0,
                                      .lines =
                                          request->options->lines ? diagnostics_sources(request->diagnostics) : NULL};
    backend_print(&text, request->target, generated->targets.at, generated->targets.count, &options);
    return text_string(&text);
}
