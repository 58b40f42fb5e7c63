/* The executors that run on devices: CUDA, OpenCL and C, all through the runtime. */
#include "driver/device.h"

#include "driver/compilation.h"
#include "driver/generate.h"
#include "host/execute.h"

static bool is_loop_device(enum fcl_device_kind kind) { return kind == FCL_DEVICE_C || kind == FCL_DEVICE_OPENCL_CPU; }

static bool choose_mapping(const struct options *options, enum fcl_device_kind kind, bool *loop) {
    *loop = is_loop_device(kind);
    if (options->mapping == MAPPING_SIMT)
        *loop = false;
    else if (options->mapping == MAPPING_LOOP)
        *loop = true;
    return options_mapping_fits(options, fcl_device_kind_name(kind));
}

bool device_open(const struct device_request *request, struct device_session *session) {
    const struct options *options = request->options;
    struct fcl_options open = FCL_OPTIONS_DEFAULT;
    open.kind = request->kind;
    open.profile = request->profile;
    char error[2048];
    if (fcl_open(&session->context, &open, error, sizeof error) != FCL_OK) {
        session->why = arena_printf(request->arena, "%s", error);
        session->status = EXIT_DEVICE;
        return false;
    }
    const struct fcl_device_info *device = fcl_device(session->context);
    bool loop;
    if (!choose_mapping(options, device->kind, &loop)) {
        session->why = arena_printf(request->arena, "--map=%s is not for %s devices", loop ? "loop" : "simt",
                                    fcl_device_kind_name(device->kind));
        session->status = EXIT_USAGE;
        return false;
    }
    struct generate_request generation = {
        .arena = request->arena,
        .options = options,
        .program = request->program,
        .only = request->kernel,
        .language = device->backend == FCL_BACKEND_CUDA     ? BACKEND_CUDA
                    : device->backend == FCL_BACKEND_OPENCL ? BACKEND_OPENCL
                                                            : BACKEND_C,
        .tuning = request->tuning,
        .kind = loop == is_loop_device(device->kind) ? fcl_device_kind_name(device->kind) : NULL,
        .device = device->name,
        .trial = request->trial,
        .asked = request->asked,
        .loop = loop,
        .diagnostics = request->diagnostics,
    };
    session->generated = ARENA_NEW(request->arena, struct generated);
    session->status = EXIT_PROGRAM_WRONG;
    if (!generate(&generation, session->generated))
        return false;
    session->text = generate_text(&generation, session->generated, request->kernel->source->path);
    session->tuned = session->generated->tuned.count ? session->generated->tuned.at[0] : NULL;
    session->status = EXIT_GOOD;
    return true;
}

bool device_build(const struct device_request *request, struct device_session *session) {
    struct fcl_program *program;
    session->status = EXIT_DEVICE;
    if (fcl_build(session->context, session->text, NULL, &program) != FCL_OK) {
        session->why = fcl_error(session->context);
        return false;
    }
    struct execute_job job = {.kernel = session->generated->kernels.at[0],
                              .target = session->generated->targets.at[0],
                              .program = program,
                              .context = session->context,
                              .arguments = request->arguments,
                              .argument_count = request->argument_count};
    session->run = device_run_new(request->arena, &job, &session->why);
    if (session->run)
        session->status = EXIT_GOOD;
    return session->run != NULL;
}

bool device_prepare(const struct device_request *request, struct device_session *session) {
    return device_open(request, session) && device_build(request, session);
}

void device_finish(struct device_session *session) {
    device_run_free(session->run);
    fcl_close(session->context);
}

static enum exit_status run_on(const struct execution *execution, enum fcl_device_kind kind,
                               struct host_value **result) {
    struct device_request request = {.arena = execution->arena,
                                     .options = execution->options,
                                     .program = execution->program,
                                     .kernel = execution->kernel,
                                     .arguments = execution->arguments,
                                     .argument_count = execution->argument_count,
                                     .kind = kind,
                                     .tuning = execution->tuning,
                                     .diagnostics = execution->diagnostics};
    struct device_session session = {0};
    enum exit_status status = EXIT_GOOD;
    if (!device_prepare(&request, &session))
        status = session.status;
    else if (!device_run_once(session.run, &session.why) ||
             !(*result = device_run_result(session.run, execution->arena, &session.why)))
        status = EXIT_DEVICE;
    const struct ir_check_site *check = device_run_failed_check(session.run);
    if (check) {
        status = EXIT_PROGRAM_WRONG;
        struct diagnostic *d =
            diag_error(execution->diagnostics, ir_check_info[check->check].code, check->span, "%s", session.why);
        if (check->found.end)
            diag_note(execution->diagnostics, d, check->found, "it is found here");
    } else if (status != EXIT_GOOD && session.why)
        diag_error(execution->diagnostics, DIAG_DEVICE, execution->kernel->span, "%s", session.why);
    device_finish(&session);
    return status;
}

static bool available(enum fcl_device_kind kind, const struct options *options, struct arena *arena, const char **why) {
    struct fcl_options open = FCL_OPTIONS_DEFAULT;
    open.kind = kind;
    struct fcl_context *context;
    char error[2048];
    if (fcl_open(&context, &open, error, sizeof error) != FCL_OK) {
        *why = arena_printf(arena, "%s", error);
        return false;
    }
    bool loop;
    bool good = choose_mapping(options, fcl_device(context)->kind, &loop);
    if (!good)
        *why = arena_printf(arena, "--map=%s is not for %s devices", loop ? "loop" : "simt",
                            fcl_device_kind_name(fcl_device(context)->kind));
    fcl_close(context);
    return good;
}

#define EXECUTOR(id, text, kind)                                                                                       \
    static bool id##_available(const struct options *options, struct arena *arena, const char **why) {                 \
        return available(kind, options, arena, why);                                                                   \
    }                                                                                                                  \
    static enum exit_status id##_run(const struct execution *execution, struct host_value **result) {                  \
        return run_on(execution, kind, result);                                                                        \
    }                                                                                                                  \
    const struct executor executor_##id = {text, id##_available, id##_run};

EXECUTOR(cuda, "cuda", FCL_DEVICE_CUDA)
EXECUTOR(opencl, "opencl", FCL_DEVICE_OPENCL)
EXECUTOR(c, "c", FCL_DEVICE_C)
