/* The executors that run on devices: CUDA, OpenCL, C and HIP, all through the runtime. */
#include "driver/device.h"

#include "driver/compilation.h"
#include "driver/generate.h"
#include "host/execute.h"

/* The machine that --map, --sub-groups and --warp-size ask for, or what is best for the device; NULL:
   the device has no such mapping, or warps. */
static const struct machine *choose_machine(const struct options *options, const struct fcl_device_info *device) {
    const char *name = fcl_device_kind_name(device->kind);
    const struct target *target = target_of_device(name);
    const struct machine *machine = options->mapping == MAPPING_SIMT   ? target->simt
                                    : options->mapping == MAPPING_LOOP ? target->loop
                                                                       : target_machine(target, name);
    bool wants_sub_groups =
        options->sub_groups == SUB_GROUPS_DEFAULT ? device->has_sub_groups : options->sub_groups == SUB_GROUPS_YES;
    if (machine && machine == target->simt && target->sub_groups && wants_sub_groups &&
        machine_has_warps_of(target->sub_groups, options->warp_size))
        machine = target->sub_groups;
    /* Those that are asked for sub-groups tell no width, or that of a CPU. */
    bool is_too_narrow = machine && machine->warp_sizes && !device->has_sub_groups && device->warp_width &&
                         device->warp_width < (uint64_t)options->warp_size;
    return !machine || is_too_narrow || !machine_has_warps_of(machine, options->warp_size) ? NULL : machine;
}

/* Is that how kernels are mapped for such a device when nothing is asked for? */
static bool is_usual(const struct machine *machine, const char *kind) {
    return machine->map.mapping == target_machine(target_of_device(kind), kind)->map.mapping;
}

/* The message that says why --map or --warp-size is not for this kind of device. */
static const char *not_for(const struct options *options, struct arena *arena, const char *kind) {
    const struct target *target = target_of_device(kind);
    if (options->mapping == MAPPING_DEFAULT || (options->mapping == MAPPING_SIMT ? target->simt : target->loop))
        return arena_printf(arena, "this %s device has no warps of %d lanes", kind, (int)options->warp_size);
    return arena_printf(arena, "--map=%s is not for %s devices", options_mapping_name(options->mapping), kind);
}

static uint64_t shared_bytes(const struct options *options, const struct fcl_device_info *device) {
    return options->shared_bytes ? (uint64_t)options->shared_bytes : device->shared_bytes;
}

/* Opens the device, and says what is to be generated for it: the request's kernel. */
static bool open_device(const struct execution *request, struct device_session *session,
                        struct generate_request *generation) {
    const struct options *options = request->options;
    struct fcl_options open = FCL_OPTIONS_DEFAULT;
    open.kind = request->kind;
    open.profile = request->profile;
    char error[2048];
    session->context = request->context;
    session->is_callers = request->context != NULL;
    if (!session->context && fcl_open(&session->context, &open, error, sizeof error) != FCL_OK) {
        session->why = arena_printf(request->arena, "%s", error);
        session->status = EXIT_DEVICE;
        return false;
    }
    const struct fcl_device_info *device = fcl_device(session->context);
    const char *kind = fcl_device_kind_name(device->kind);
    const struct machine *machine = choose_machine(options, device);
    if (!machine) {
        session->why = not_for(options, request->arena, kind);
        session->status = EXIT_USAGE;
        return false;
    }
    *generation = (struct generate_request){
        .arena = request->arena,
        .options = options,
        .program = request->program,
        .only = &request->kernel,
        .only_count = 1,
        .target = target_of_device(kind),
        .machine = machine,
        .tuning = request->tuning,
        .kind = is_usual(machine, kind) ? kind : NULL,
        .device = device->name,
        .trial = request->trial,
        .asked = request->asked,
        .vector_bytes = device->vector_bytes,
        .shared_bytes = shared_bytes(options, device),
        .most_threads = device->max_threads,
        .no_block_waits = !device->has_waiting_blocks,
        .launch_sized_outside = request->launch_sized_outside,
        .is_large = request->is_large,
        .diagnostics = request->diagnostics,
    };
    session->generated = ARENA_NEW(request->arena, struct generated);
    return true;
}

bool device_open(const struct execution *request, struct device_session *session) {
    struct generate_request generation;
    if (!open_device(request, session, &generation))
        return false;
    session->status = EXIT_PROGRAM_WRONG;
    if (!generate(&generation, session->generated))
        return false;
    session->text = generate_text(&generation, session->generated, request->kernel->source->path);
    session->tuned = session->generated->tuned.count ? session->generated->tuned.at[0] : NULL;
    session->status = EXIT_GOOD;
    return true;
}

/* For runs with checks, which are to begin soon: C compilers take three times as long for -O3, and
   more for many branches. A megabyte, which `append a a` nested 14 times is, takes GCC half a minute with -O1. */
enum { LONG_TEXT = 500000 };

static const char *build_options(const struct execution *request, const struct device_session *session) {
    bool is_c = fcl_device(session->context)->backend == FCL_BACKEND_C;
    if (!is_c || request->options->check != DEGREE_ALL || request->profile || request->is_kept)
        return NULL;
    return arena_printf(request->arena, "%s %s", fcl_build_options(session->context),
                        strlen(session->text) > LONG_TEXT ? "-O0" : "-O1");
}

/* The message of each of the kernel's checks, with its place in the source, as in emitted host functions. */
static const char *const *messages_of(const struct execution *request, const struct ir_kernel *kernel) {
    const char **messages = ARENA_ARRAY(request->arena, const char *, kernel->checks.count + 1);
    for (size_t i = 0; i < kernel->checks.count; i++) {
        const struct ir_check_site *site = &kernel->checks.at[i];
        struct place place;
        messages[i] = ir_check_text(site);
        if (diag_place(request->diagnostics, site->span, &place))
            messages[i] =
                arena_printf(request->arena, "%s:%u:%u: %s", place.source->path, place.line, place.column, messages[i]);
    }
    return messages;
}

/* Makes one of the session's kernels ready to run. */
static bool begin(const struct execution *request, struct device_session *session, size_t index) {
    session->status = EXIT_DEVICE;
    struct execute_job job = {.kernel = session->generated->kernels.at[index],
                              .target = session->generated->targets.at[index],
                              .program = session->built,
                              .context = session->context,
                              .messages = messages_of(request, session->generated->kernels.at[index]),
                              .shared_bytes = shared_bytes(request->options, fcl_device(session->context))};
    session->run = device_run_new(request->arena, &job, &session->why);
    if (session->run)
        session->status = EXIT_GOOD;
    return session->run != NULL;
}

bool device_build(const struct execution *request, struct device_session *session) {
    session->status = EXIT_DEVICE;
    enum fcl_status status =
        fcl_build(session->context, session->text, build_options(request, session), &session->built);
    const char *problem = fcl_cache_problem(session->context);
    if (*problem)
        diag_warning(request->diagnostics, DIAG_DEVICE, (struct span){0}, "%s", problem);
    if (status != FCL_OK) {
        session->why = fcl_error(session->context);
        return false;
    }
    return begin(request, session, 0);
}

bool device_pass(const struct execution *request, struct device_session *session) {
    session->status = EXIT_DEVICE;
    if (!device_run_pass_values(session->run, request->arguments, request->argument_count, &session->why))
        return false;
    session->status = EXIT_GOOD;
    return true;
}

bool device_prepare(const struct execution *request, struct device_session *session) {
    return device_open(request, session) && device_build(request, session) && device_pass(request, session);
}

void device_finish(struct device_session *session) {
    device_run_free(session->run);
    if (!session->is_callers)
        fcl_close(session->context);
}

enum exit_status device_report_check(const struct device_session *session, struct diagnostics *diagnostics) {
    const struct ir_check_site *check = device_run_failed_check(session->run);
    struct diagnostic *d = diag_error(diagnostics, ir_check_info[check->check].code, check->span, "%s", session->why);
    if (check->found.end)
        diag_note(diagnostics, d, check->found, "it is found here");
    return EXIT_PROGRAM_WRONG;
}

bool device_lacks_shared(const struct device_session *session, struct execution *request) {
    if (request->launch_sized_outside || !device_run_lacks_shared(session->run))
        return false;
    request->launch_sized_outside = true;
    diag_warning(request->diagnostics, DIAG_SHARED_MEMORY, request->kernel->span,
                 "%s: arrays of which only the launch knows the length lie in global memory", session->why);
    return true;
}

bool device_is_large(const struct device_session *session, struct execution *request) {
    if (request->is_large || !device_run_is_large(session->run))
        return false;
    return request->is_large = true;
}

/* ---- batches ---- */

struct batch_part {
    VEC(const struct core_global *) kernels;
    struct arena *arena; /* of the session; NULL: none was opened yet */
    struct device_session session;
    bool is_built, has_failed;
};

struct device_batch {
    struct arena *arena;
    struct diagnostics *unread;
    struct batch_part parts[DEGREE_COUNT];
};

struct device_batch *device_batch_new(struct diagnostics *unread) {
    struct arena *arena = arena_new();
    struct device_batch *batch = ARENA_NEW(arena, struct device_batch);
    batch->arena = arena;
    batch->unread = unread;
    return batch;
}

void device_batch_add(struct device_batch *batch, const struct core_global *kernel, enum check_degree check) {
    struct batch_part *part = &batch->parts[check];
    for (size_t i = 0; i < part->kernels.count; i++)
        if (part->kernels.at[i] == kernel)
            return;
    vec_push(batch->arena, &part->kernels, kernel);
}

static void close_part(struct batch_part *part) {
    if (!part->arena)
        return;
    device_finish(&part->session);
    arena_free(part->arena);
    part->arena = NULL;
    part->session = (struct device_session){0};
    part->is_built = false;
}

void device_batch_free(struct device_batch *batch) {
    for (size_t i = 0; i < DEGREE_COUNT; i++)
        close_part(&batch->parts[i]);
    arena_free(batch->arena);
}

/* Builds the kernels of a part, each like `one`. Where that fails, part->is_built stays false. */
static void build_part(struct device_batch *batch, struct batch_part *part, const struct execution *one) {
    struct execution request = *one;
    struct device_session *session = &part->session;
    struct generate_request generation;
    request.arena = part->arena = arena_new();
    request.kernel = part->kernels.at[0];
    request.diagnostics = batch->unread;
    if (!open_device(&request, session, &generation))
        return;
    generation.only = part->kernels.at;
    generation.only_count = part->kernels.count;
    (void)generate(&generation, session->generated);
    session->text = generate_text(&generation, session->generated, request.kernel->source->path);
    part->is_built =
        session->generated->kernels.count > 0 &&
        fcl_build(session->context, session->text, build_options(&request, session), &session->built) == FCL_OK;
}

/* The part that the kernel is in, built; NULL where it must be made alone. */
static struct batch_part *part_with(const struct execution *alone, size_t *index) {
    struct batch_part *part = alone->batch ? &alone->batch->parts[alone->options->check] : NULL;
    if (!part || part->has_failed || !part->kernels.count)
        return NULL;
    if (!part->arena)
        build_part(alone->batch, part, alone);
    const struct device_session *session = &part->session;
    size_t count = part->is_built ? session->generated->globals.count : 0;
    for (*index = 0; *index < count; ++*index)
        if (session->generated->globals.at[*index] == alone->kernel)
            return part;
    return NULL;
}

const char *device_mapping_note(const struct options *options, struct arena *arena, const char *target) {
    struct fcl_options open = FCL_OPTIONS_DEFAULT;
    struct fcl_context *context;
    char error[2048];
    bool is_device = !target || fcl_parse_device(target, &open.kind, &(int){0}) == FCL_OK;
    if (options->mapping != MAPPING_SIMT || !is_device || fcl_open(&context, &open, error, sizeof error) != FCL_OK)
        return NULL; /* the caller reports what is not there */
    const struct fcl_device_info *device = fcl_device(context);
    const char *note = NULL;
    const char *kind = fcl_device_kind_name(device->kind);
    const struct target *of = target_of_device(kind);
    if (target_machine(of, kind) == of->loop)
        note = arena_printf(arena,
                            "--map=simt is for GPUs, and slow on a CPU such as %s: take --map=loop, "
                            "or leave --map out",
                            device->name);
    fcl_close(context);
    return note;
}

/* ---- the executors ---- */

static enum exit_status run_once(struct device_session *session, const struct execution *execution,
                                 struct host_value **result) {
    if (!device_run_once(session->run, &session->why))
        return EXIT_DEVICE;
    *result = device_run_result(session->run, execution->arena, &session->why);
    return *result ? EXIT_GOOD : EXIT_DEVICE;
}

static void build_on(const struct execution *execution, enum fcl_device_kind kind) {
    struct options options = *execution->options;
    struct execution request = *execution;
    request.kind = kind;
    request.options = &options;
    for (enum check_degree check = DEGREE_NONE; check < DEGREE_COUNT; check++) {
        struct batch_part *part = &execution->batch->parts[check];
        options.check = check;
        if (part->kernels.count)
            build_part(execution->batch, part, &request);
    }
}

void device_report(const struct execution *execution, const char *why, bool has_stopped) {
    struct diagnostic *d = diag_error(execution->diagnostics, DIAG_DEVICE, execution->kernel->span, "%s", why);
    if (has_stopped && execution->options->check != DEGREE_ALL)
        diag_hint(execution->diagnostics, d, "with `--check` the kernel itself says where it leaves its arrays");
}

static enum exit_status run_as(struct execution *execution, struct host_value **result) {
    size_t index = 0;
    struct batch_part *part = part_with(execution, &index);
    struct device_session alone = {0}, *session = part ? &part->session : &alone;
    bool is_ready =
        part ? begin(execution, session, index) && device_pass(execution, session) : device_prepare(execution, session);
    enum exit_status status = is_ready ? run_once(session, execution, result) : session->status;
    bool has_stopped = status == EXIT_DEVICE && fcl_error_status(session->context) == FCL_DEVICE_FAULT;
    bool is_large = status == EXIT_DEVICE && device_is_large(session, execution);
    bool is_again = is_large || (status == EXIT_DEVICE && device_lacks_shared(session, execution));
    if (part && status == EXIT_DEVICE && !has_stopped && !is_again && !device_run_failed_check(session->run)) {
        close_part(part);
        part->has_failed = true;
        execution->batch = NULL;
        return run_as(execution, result);
    }
    if (device_run_failed_check(session->run) && !is_large)
        status = device_report_check(session, execution->diagnostics);
    else if (status != EXIT_GOOD && session->why && !is_again)
        device_report(execution, session->why, has_stopped);
    if (part) {
        device_run_free(session->run);
        session->run = NULL;
        session->why = NULL;
    } else {
        device_finish(&alone);
    }
    execution->batch = NULL;
    return is_again ? run_as(execution, result) : status;
}

static enum exit_status run_on(const struct execution *execution, enum fcl_device_kind kind,
                               struct host_value **result) {
    struct execution request = *execution;
    request.kind = kind;
    return run_as(&request, result);
}

static bool available(enum fcl_device_kind kind, const struct options *options, struct arena *arena,
                      const char **said) {
    struct fcl_options open = FCL_OPTIONS_DEFAULT;
    open.kind = kind;
    struct fcl_context *context;
    char error[2048];
    if (fcl_open(&context, &open, error, sizeof error) != FCL_OK) {
        *said = arena_printf(arena, "%s", error);
        return false;
    }
    const struct fcl_device_info *device = fcl_device(context);
    const char *name = fcl_device_kind_name(device->kind);
    bool good = choose_machine(options, device) != NULL;
    *said = good ? arena_printf(arena, "%s (%s)", name, device->name) : not_for(options, arena, name);
    fcl_close(context);
    return good;
}

#define EXECUTOR(id, text, kind)                                                                                       \
    static bool id##_available(const struct options *options, struct arena *arena, const char **said) {                \
        return available(kind, options, arena, said);                                                                  \
    }                                                                                                                  \
    static void id##_build(const struct execution *execution) { build_on(execution, kind); }                           \
    static enum exit_status id##_run(const struct execution *execution, struct host_value **result) {                  \
        return run_on(execution, kind, result);                                                                        \
    }                                                                                                                  \
    const struct executor executor_##id = {text, id##_available, id##_build, id##_run, (kind) == FCL_DEVICE_HIP};

EXECUTOR(cuda, "cuda", FCL_DEVICE_CUDA)
EXECUTOR(opencl, "opencl", FCL_DEVICE_OPENCL)
EXECUTOR(c, "c", FCL_DEVICE_C)
EXECUTOR(hip, "hip", FCL_DEVICE_HIP)
