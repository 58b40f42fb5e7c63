// The public functions: they check arguments, keep errors, own the objects and leave the rest to the context's backend.
#include "internal.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct fclrt_backend *const backends[FCL_BACKENDS] = {
    [FCL_BACKEND_CUDA] = &fclrt_cuda,
    [FCL_BACKEND_OPENCL] = &fclrt_opencl,
    [FCL_BACKEND_C] = &fclrt_c,
    [FCL_BACKEND_HIP] = &fclrt_hip,
};

// ---------------------------------------------------------------- devices

static const char *const kind_names[] = {
    [FCL_DEVICE_CUDA] = "cuda",
    [FCL_DEVICE_OPENCL_GPU] = "opencl-gpu",
    [FCL_DEVICE_OPENCL_CPU] = "opencl-cpu",
    [FCL_DEVICE_OPENCL_OTHER] = "opencl-other",
    [FCL_DEVICE_C] = "c",
    [FCL_DEVICE_ANY] = "any",
    [FCL_DEVICE_OPENCL] = "opencl",
    [FCL_DEVICE_HIP] = "hip",
};
enum { KINDS = sizeof kind_names / sizeof *kind_names };

const char *fcl_device_kind_name(enum fcl_device_kind kind) {
    return (unsigned)kind < KINDS ? kind_names[kind] : "unknown";
}

enum fcl_status fcl_parse_device(const char *text, enum fcl_device_kind *kind, int *index) {
    if (kind)
        *kind = FCL_DEVICE_ANY;
    if (index)
        *index = 0;
    if (!text)
        return FCL_INVALID;
    size_t length = strcspn(text, ":");
    for (int k = 0; k < KINDS; k++) {
        if (strlen(kind_names[k]) != length || strncmp(text, kind_names[k], length) != 0)
            continue;
        int number = 0;
        if (text[length]) {
            const char *digit = text + length + 1;
            if (!*digit || strlen(digit) > 4)
                return FCL_INVALID;
            for (; *digit; digit++) {
                if (*digit < '0' || *digit > '9')
                    return FCL_INVALID;
                number = number * 10 + (*digit - '0');
            }
        }
        if (kind)
            *kind = (enum fcl_device_kind)k;
        if (index)
            *index = number;
        return FCL_OK;
    }
    return FCL_INVALID;
}

// A device and its place in its driver's own order.
struct found {
    struct fcl_device_info info;
    size_t ordinal;
};

struct search {
    struct found *found;
    size_t count, capacity;
    size_t ordinal;        // of the next device of the backend being asked
    int next_index[KINDS]; // of each kind
};

static bool receive_device(void *to, const struct fcl_device_info *info) {
    struct search *search = to;
    struct found *more = fclrt_grown(search->found, search->count, &search->capacity, sizeof *more);
    if (!more)
        return false;
    search->found = more;
    struct found *found = &search->found[search->count++];
    *found = (struct found){*info, search->ordinal++};
    found->info.index = search->next_index[info->kind]++;
    return true;
}

// A driver that has found devices has threads and connections, which a fork's child has not: asked again there, PoCL
// waits for ever, and CUDA fails.
static bool is_lost_by_fork(enum fcl_backend backend, bool has_devices) {
    static _Atomic pid_t users[FCL_BACKENDS];
    pid_t none = 0, process = getpid();
    if (backend == FCL_BACKEND_C)
        return false;
    if (has_devices)
        atomic_compare_exchange_strong(&users[backend], &none, process);
    pid_t user = atomic_load(&users[backend]);
    return user && user != process;
}

static enum fcl_status list_backend(struct search *search, enum fcl_backend backend, struct fclrt_note why) {
    search->ordinal = 0;
    if (is_lost_by_fork(backend, false)) {
        fclrt_note(why,
                   "this process was forked from one that had used %s, whose driver does not work in a fork: use "
                   "it only after the fork, or let the child execute a program anew",
                   fcl_backend_name(backend));
        return FCL_DEVICE_FAULT;
    }
    size_t before = search->count;
    enum fcl_status status = backends[backend]->list(receive_device, search, why);
    is_lost_by_fork(backend, search->count > before);
    if (status == FCL_NO_MEMORY)
        fclrt_note(why, "%s", fcl_status_text(status));
    return status;
}

static int compare_found(const void *a, const void *b) {
    const struct found *x = a, *y = b;
    if (x->info.kind != y->info.kind)
        return x->info.kind < y->info.kind ? -1 : 1;
    return x->info.index - y->info.index;
}

enum fcl_status fcl_devices(struct fcl_device_list *list) {
    FCLRT_ENTER;
    if (!list)
        return FCL_INVALID;
    *list = (struct fcl_device_list){0};
    struct search search = {0};
    for (int b = 0; b < FCL_BACKENDS; b++) {
        struct fclrt_note why = {list->absent[b], sizeof list->absent[b]};
        size_t before = search.count;
        if (list_backend(&search, (enum fcl_backend)b, why) == FCL_NO_MEMORY) {
            free(search.found);
            *list = (struct fcl_device_list){0};
            return FCL_NO_MEMORY;
        }
        if (search.count > before)
            list->absent[b][0] = 0;
    }
    if (search.count) {
        qsort(search.found, search.count, sizeof *search.found, compare_found);
        list->devices = malloc(search.count * sizeof *list->devices);
        if (!list->devices) {
            free(search.found);
            *list = (struct fcl_device_list){0};
            return FCL_NO_MEMORY;
        }
        for (size_t i = 0; i < search.count; i++)
            list->devices[i] = search.found[i].info;
        list->count = search.count;
    }
    free(search.found);
    return FCL_OK;
}

void fcl_device_list_free(struct fcl_device_list *list) {
    if (!list)
        return;
    free(list->devices);
    *list = (struct fcl_device_list){0};
}

// ---------------------------------------------------------------- contexts

static bool kind_matches(enum fcl_device_kind wanted, enum fcl_device_kind kind) {
    switch (wanted) {
    case FCL_DEVICE_ANY: return kind != FCL_DEVICE_HIP;
    case FCL_DEVICE_OPENCL:
        return kind == FCL_DEVICE_OPENCL_GPU || kind == FCL_DEVICE_OPENCL_CPU || kind == FCL_DEVICE_OPENCL_OTHER;
    case FCL_DEVICE_CUDA:
    case FCL_DEVICE_HIP:
    case FCL_DEVICE_OPENCL_GPU:
    case FCL_DEVICE_OPENCL_CPU:
    case FCL_DEVICE_OPENCL_OTHER:
    case FCL_DEVICE_C: return wanted == kind;
    }
    return false;
}

static bool backend_matches(enum fcl_device_kind wanted, enum fcl_backend backend) {
    switch (backend) {
    case FCL_BACKEND_CUDA: return kind_matches(wanted, FCL_DEVICE_CUDA);
    case FCL_BACKEND_OPENCL:
        return kind_matches(wanted, FCL_DEVICE_OPENCL_GPU) || kind_matches(wanted, FCL_DEVICE_OPENCL_CPU) ||
               kind_matches(wanted, FCL_DEVICE_OPENCL_OTHER);
    case FCL_BACKEND_C: return kind_matches(wanted, FCL_DEVICE_C);
    case FCL_BACKEND_HIP: return kind_matches(wanted, FCL_DEVICE_HIP);
    case FCL_BACKENDS: break;
    }
    return false;
}

static enum fcl_status open_device(struct fcl_context **out, const struct fcl_options *options,
                                   const struct found *found, struct fclrt_note error) {
    struct fcl_context *context = calloc(1, sizeof *context);
    if (!context) {
        fclrt_note(error, "out of memory on the host");
        return FCL_NO_MEMORY;
    }
    const char *pool = getenv("FCL_POOL"), *fill = getenv("FCL_FILL");
    context->backend = backends[found->info.backend];
    context->device = found->info;
    context->profile = options->profile;
    context->only_linked = options->only_linked;
    context->queue = context->used_queue = options->queue;
    context->use_pool = !options->no_pool && !(pool && strcmp(pool, "0") == 0);
    context->use_classes = context->use_pool && !(pool && strcmp(pool, "exact") == 0);
    context->fill = fill ? (uint8_t)strtol(fill, NULL, 10) : 0;
    context->build_origin = "source";
    if (!options->no_disk_cache)
        context->cache_directory = fclrt_cache_directory(options->cache_directory, &context->cache_problem);
    bool is_good = !found->info.problem[0] || (options->only_linked && found->info.backend != FCL_BACKEND_OPENCL);
    enum fcl_status status = !is_good ? fclrt_fail(context, FCL_NO_BACKEND, "%s", found->info.problem)
                                      : context->backend->open(context, found->ordinal);
    if (status != FCL_OK) {
        fclrt_note(error, "%s", fcl_error(context));
        fcl_close(context);
        return status;
    }
    *out = context;
    return FCL_OK;
}

// Adds `name: reason` to a list of reasons in `error`.
static void add_reason(struct fclrt_note error, const char *name, const char *reason) {
    if (!error.text || !error.bytes)
        return;
    size_t at = strlen(error.text);
    fclrt_note((struct fclrt_note){error.text + at, error.bytes - at}, "%s%s: %s", at ? "\n" : "", name, reason);
}

enum fcl_status fcl_open(struct fcl_context **out, const struct fcl_options *options, char *error, size_t error_bytes) {
    FCLRT_ENTER;
    static const struct fcl_options defaults = FCL_OPTIONS_DEFAULT;
    struct fclrt_note note = {error, error_bytes};
    fclrt_note(note, "%s", "");
    if (out)
        *out = NULL;
    if (!options)
        options = &defaults;
    if (!out || (unsigned)options->kind >= KINDS || options->index < 0) {
        fclrt_note(note, "fcl_open: %s", !out ? "no place for the context" : "no such kind of device");
        return FCL_INVALID;
    }
    if (options->queue && options->kind == FCL_DEVICE_ANY) {
        fclrt_note(note, "fcl_open: a queue is one of OpenCL or of CUDA: the kind of device must say which");
        return FCL_INVALID;
    }
    enum fcl_status result = FCL_NO_DEVICE;
    int skip = options->index;
    size_t seen = 0;
    for (int b = 0; b < FCL_BACKENDS; b++) {
        if (!backend_matches(options->kind, (enum fcl_backend)b))
            continue;
        char reason[512] = "";
        struct search search = {0};
        enum fcl_status status = list_backend(&search, (enum fcl_backend)b, (struct fclrt_note){reason, sizeof reason});
        if (search.count)
            qsort(search.found, search.count, sizeof *search.found, compare_found);
        else
            add_reason(note, fcl_backend_name((enum fcl_backend)b), reason);
        if (status != FCL_OK && result == FCL_NO_DEVICE)
            result = status;
        if (status == FCL_DEVICE_FAULT) // whoever asks for any device wants that one, and not in its place a slower one
            return status;
        for (size_t i = 0; i < search.count; i++) {
            const struct found *found = &search.found[i];
            if (!kind_matches(options->kind, found->info.kind))
                continue;
            seen++;
            if (skip-- > 0)
                continue;
            status = open_device(out, options, found, (struct fclrt_note){reason, sizeof reason});
            if (status == FCL_OK) {
                free(search.found);
                fclrt_note(note, "%s", "");
                return FCL_OK;
            }
            add_reason(note, found->info.name, reason);
            if (result == FCL_NO_DEVICE)
                result = status;
            // A device asked for by number is that one or none.
            if (options->index > 0)
                break;
        }
        free(search.found);
        if (options->index > 0 && skip < 0)
            return result;
    }
    // All that was tried was fine, but it was not what was asked for.
    if (error && error_bytes && (!*error || (seen && skip >= 0)))
        fclrt_note(note, "no device %s:%d: there %s %zu", kind_names[options->kind], options->index,
                   seen == 1 ? "is" : "are", seen);
    return result;
}

static void free_program(struct fcl_program *program) {
    const struct fclrt_backend *backend = program->context->backend;
    for (struct fcl_kernel *kernel = program->kernels, *next; kernel; kernel = next) {
        next = kernel->next;
        backend->forget(kernel);
        free(kernel->name);
        free(kernel);
    }
    if (program->handle)
        backend->unload(program);
    free(program->source);
    free(program->options);
    free(program);
}

void fcl_close(struct fcl_context *context) {
    FCLRT_ENTER;
    if (!context)
        return;
    if (context->state) {
        fclrt_free_graphs(context);
        context->backend->finish(context);
        fcl_clear_timings(context);
        for (struct fcl_program *program = context->programs, *next; program; program = next) {
            next = program->next;
            free_program(program);
        }
        fclrt_free_buffers(context);
        context->backend->close(context);
    }
    free(context->timings);
    free(context->events);
    free(context->build_options);
    free(context->identity);
    free(context->cache_directory);
    free(context->cache_problem);
    free(context->message);
    free(context);
}

const struct fcl_device_info *fcl_device(const struct fcl_context *context) {
    return context ? &context->device : NULL;
}

enum fcl_status fcl_finish(struct fcl_context *context) {
    FCLRT_ENTER;
    if (!context)
        return FCL_INVALID;
    enum fcl_status status = fclrt_expect_no_recording(context, "fcl_finish");
    if (status == FCL_OK)
        status = context->backend->finish(context);
    return status == FCL_OK ? fclrt_look(context) : status;
}

enum fcl_status fcl_finish_queue(struct fcl_context *context, void *queue) {
    FCLRT_ENTER;
    return context ? context->backend->finish_queue(context, queue) : FCL_INVALID;
}

enum fcl_status fcl_use_queue(struct fcl_context *context, void *queue) {
    FCLRT_ENTER;
    if (!context)
        return FCL_INVALID;
    enum fcl_status status = fclrt_expect_no_recording(context, "fcl_use_queue");
    if (status == FCL_OK)
        status = context->backend->use_queue(context, queue ? queue : context->queue);
    if (status == FCL_OK)
        context->used_queue = queue ? queue : context->queue;
    return status;
}

// ---------------------------------------------------------------- programs and kernels

const char *fcl_build_options(const struct fcl_context *context) {
    return context && context->build_options ? context->build_options : "";
}

const char *fcl_build_origin(const struct fcl_context *context) { return context ? context->build_origin : ""; }

const char *fcl_cache_problem(const struct fcl_context *context) {
    return context && context->cache_problem ? context->cache_problem : "";
}

// A program of these parts, from its source, its image or what is linked.
static enum fcl_status make_program(struct fcl_context *context, const struct fcl_program *parts,
                                    struct fcl_program **out) {
    struct fcl_program *program = malloc(sizeof *program);
    if (!program) {
        free(parts->source);
        free(parts->options);
        return fclrt_no_memory(context);
    }
    *program = *parts;
    program->context = context;
    enum fcl_status status = FCL_OK;
    if (program->image)
        status = context->backend->load(program);
    else if (!program->linked)
        status = program->source && program->options ? context->backend->build(program) : fclrt_no_memory(context);
    if (status != FCL_OK) {
        free_program(program);
        return status;
    }
    program->next = context->programs;
    context->programs = program;
    *out = program;
    return FCL_OK;
}

enum fcl_status fcl_build(struct fcl_context *context, const char *source, const char *options,
                          struct fcl_program **out) {
    FCLRT_ENTER;
    if (out)
        *out = NULL;
    if (!context)
        return FCL_INVALID;
    if (!source || !out)
        return fclrt_fail(context, FCL_INVALID, "fcl_build: no %s", source ? "place for the program" : "source");
    if (context->only_linked)
        return fclrt_fail(context, FCL_NO_BACKEND, "fcl_build: the context was opened for linked kernels only");
    if (!options)
        options = fcl_build_options(context);
    char *with_lines = NULL;
    if (context->backend->line_options && fclrt_has_lines(source)) {
        options = with_lines = fclrt_format("%s %s", options, context->backend->line_options);
        if (!options)
            return fclrt_no_memory(context);
    }
    uint64_t hash = fclrt_hash(FCLRT_HASH_SEED, source, strlen(source));
    hash = fclrt_hash(hash, options, strlen(options));
    for (struct fcl_program *program = context->programs; program; program = program->next) {
        if (!program->source || program->hash != hash || strcmp(program->source, source) != 0 ||
            strcmp(program->options, options) != 0)
            continue;
        context->build_origin = "context";
        *out = program;
        free(with_lines);
        return FCL_OK;
    }
    struct fcl_program parts = {
        .hash = hash, .source = fclrt_copy_string(source), .options = fclrt_copy_string(options)};
    free(with_lines);
    context->build_origin = "source";
    return make_program(context, &parts, out);
}

// Links kernels or an image, one of both; what is linked already is found again.
static enum fcl_status link_program(struct fcl_context *context, const struct fcl_linked_kernel *kernels,
                                    const void *image, struct fcl_program **out) {
    for (struct fcl_program *program = context->programs; program; program = program->next)
        if (!program->source && program->linked == kernels && program->image == image) {
            *out = program;
            return FCL_OK;
        }
    return make_program(context, &(struct fcl_program){.linked = kernels, .image = image}, out);
}

// Checks the arguments that both functions have; `what` names the argument that is missing where `given` is NULL.
static enum fcl_status expect_linked(struct fcl_context *context, const char *function, const char *what,
                                     const void *given, struct fcl_program **out, enum fcl_backend backend) {
    if (out)
        *out = NULL;
    if (!context)
        return FCL_INVALID;
    if (!given || !out)
        return fclrt_fail(context, FCL_INVALID, "%s: no %s", function, given ? "place for the program" : what);
    return fcl_expect(context, backend);
}

enum fcl_status fcl_link(struct fcl_context *context, const struct fcl_linked_kernel *kernels,
                         struct fcl_program **out) {
    FCLRT_ENTER;
    enum fcl_status status = expect_linked(context, "fcl_link", "kernels", kernels, out, FCL_BACKEND_C);
    return status == FCL_OK ? link_program(context, kernels, NULL, out) : status;
}

enum fcl_status fcl_link_image(struct fcl_context *context, const void *image, struct fcl_program **out) {
    FCLRT_ENTER;
    enum fcl_status status = expect_linked(context, "fcl_link_image", "image", image, out, FCL_BACKEND_CUDA);
    return status == FCL_OK ? link_program(context, NULL, image, out) : status;
}

enum fcl_status fcl_get_kernel(struct fcl_program *program, const char *name, struct fcl_kernel **out) {
    FCLRT_ENTER;
    if (out)
        *out = NULL;
    if (!program)
        return FCL_INVALID;
    struct fcl_context *context = program->context;
    if (!name || !*name || !out)
        return fclrt_fail(context, FCL_INVALID, "fcl_get_kernel: no %s", out ? "name" : "place for the kernel");
    for (struct fcl_kernel *kernel = program->kernels; kernel; kernel = kernel->next) {
        if (strcmp(kernel->name, name) != 0)
            continue;
        *out = kernel;
        return FCL_OK;
    }
    struct fcl_kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel)
        return fclrt_no_memory(context);
    kernel->program = program;
    kernel->arguments = -1;
    kernel->name = fclrt_copy_string(name);
    enum fcl_status status = kernel->name ? context->backend->find(kernel) : fclrt_no_memory(context);
    if (status != FCL_OK) {
        free(kernel->name);
        free(kernel);
        return status;
    }
    kernel->next = program->kernels;
    program->kernels = kernel;
    *out = kernel;
    return FCL_OK;
}

const char *fcl_kernel_name(const struct fcl_kernel *kernel) { return kernel ? kernel->name : ""; }

uint64_t fcl_kernel_thread_bytes(const struct fcl_kernel *kernel) { return kernel ? kernel->thread_bytes : 0; }

// ---------------------------------------------------------------- launches

static enum fcl_status check_args(const struct fcl_kernel *kernel, const struct fcl_arg *args, size_t count,
                                  uint64_t *local_bytes) {
    struct fcl_context *context = kernel->program->context;
    bool opencl = context->device.backend == FCL_BACKEND_OPENCL;
    if (count && !args)
        return fclrt_fail(context, FCL_INVALID, "kernel %s: no arguments, but a count of %zu", kernel->name, count);
    if (kernel->arguments >= 0 && (uint64_t)kernel->arguments != count)
        return fclrt_fail(context, FCL_INVALID, "kernel %s takes %" PRId64 " arguments, not %zu", kernel->name,
                          kernel->arguments, count);
    for (size_t i = 0; i < count; i++) {
        const struct fcl_arg *arg = &args[i];
        switch (arg->kind) {
        case FCL_ARG_BUFFER:
            if (arg->as.buffer ? arg->as.buffer->context != context : !arg->may_be_absent)
                return fclrt_fail(context, FCL_INVALID, "kernel %s, argument %zu: %s", kernel->name, i,
                                  arg->as.buffer ? "the buffer belongs to another context" : "no buffer");
            break;
        case FCL_ARG_SCALAR:
            if (arg->bytes != 1 && arg->bytes != 2 && arg->bytes != 4 && arg->bytes != 8)
                return fclrt_fail(context, FCL_INVALID,
                                  "kernel %s, argument %zu: a scalar has 1, 2, 4 or 8 bytes, not %zu", kernel->name, i,
                                  arg->bytes);
            break;
        case FCL_ARG_LOCAL:
            if (!opencl)
                return fclrt_fail(context, FCL_INVALID,
                                  "kernel %s, argument %zu: only OpenCL has local memory as an argument", kernel->name,
                                  i);
            *local_bytes = arg->bytes > UINT64_MAX - *local_bytes ? UINT64_MAX : *local_bytes + arg->bytes;
            break;
        default: return fclrt_fail(context, FCL_INVALID, "kernel %s, argument %zu: no such kind", kernel->name, i);
        }
    }
    return FCL_OK;
}

static enum fcl_status check_limits(const struct fcl_kernel *kernel, uint32_t threads, uint64_t shared_bytes) {
    struct fcl_context *context = kernel->program->context;
    const struct fcl_device_info *device = &context->device;
    if (device->backend == FCL_BACKEND_C)
        return FCL_OK;
    if (!threads)
        return fclrt_fail(context, FCL_INVALID, "kernel %s: blocks of no threads", kernel->name);
    bool of_device = device->max_threads && threads > device->max_threads;
    if (of_device || (kernel->max_threads && threads > kernel->max_threads))
        return fclrt_fail(context, FCL_TOO_LARGE,
                          "kernel %s: a block of %" PRIu32 " threads, but %s allows at most %" PRIu32 "%s",
                          kernel->name, threads, device->name, of_device ? device->max_threads : kernel->max_threads,
                          of_device ? "" : " for this kernel");
    if (device->shared_bytes &&
        (kernel->own_shared > device->shared_bytes || shared_bytes > device->shared_bytes - kernel->own_shared))
        return fclrt_fail(context, FCL_TOO_LARGE,
                          "kernel %s: %" PRIu64 " bytes of shared memory and %" PRIu64
                          " of its own, but %s has at most %" PRIu64 " bytes for a block",
                          kernel->name, shared_bytes, kernel->own_shared, device->name, device->shared_bytes);
    return FCL_OK;
}

static enum fcl_status resolve_events(struct fcl_context *context) {
    enum fcl_status status = FCL_OK;
    for (size_t i = 0; i < context->event_count; i++) {
        double *seconds = &context->timings[context->events[i].timing].seconds;
        enum fcl_status one = context->backend->resolve(context, &context->events[i], seconds);
        if (status == FCL_OK)
            status = one;
    }
    context->event_count = 0;
    return status;
}

// Room for one more timing and its event; drivers have only so many events, so they are read now and then.
static enum fcl_status reserve_timing(struct fcl_context *context) {
    if (context->event_count >= 256) {
        enum fcl_status status = resolve_events(context);
        if (status != FCL_OK)
            return status;
    }
    struct fcl_timing *timings =
        fclrt_grown(context->timings, context->timing_count, &context->timing_capacity, sizeof *timings);
    context->timings = timings ? timings : context->timings;
    struct fclrt_event *events =
        fclrt_grown(context->events, context->event_count, &context->event_capacity, sizeof *events);
    context->events = events ? events : context->events;
    return timings && events ? FCL_OK : fclrt_no_memory(context);
}

enum fcl_status fcl_launch(struct fcl_kernel *kernel, uint64_t blocks, uint32_t threads, uint64_t shared_bytes,
                           const struct fcl_arg *args, size_t count) {
    FCLRT_ENTER;
    if (!kernel)
        return FCL_INVALID;
    struct fcl_context *context = kernel->program->context;
    uint64_t local_bytes = 0;
    enum fcl_status status = check_args(kernel, args, count, &local_bytes);
    if (status != FCL_OK)
        return status;
    if (context->device.backend == FCL_BACKEND_OPENCL)
        shared_bytes = local_bytes;
    if (!blocks)
        return FCL_OK;
    status = check_limits(kernel, threads, shared_bytes);
    if (status != FCL_OK)
        return status;
    if (blocks > context->device.max_blocks)
        blocks = context->device.max_blocks;
    if (context->recorded) {
        context->recorded->launches++;
        context->recorded->last_launched = kernel->name;
    } else {
        context->launches++;
        context->last_launched = kernel->name;
    }
    if (!context->profile || context->recorded)
        return context->backend->launch(kernel, blocks, threads, shared_bytes, args, count, NULL, NULL);

    status = reserve_timing(context);
    if (status != FCL_OK)
        return status;
    struct fclrt_event event = {.timing = context->timing_count};
    double seconds = 0;
    status = context->backend->launch(kernel, blocks, threads, shared_bytes, args, count, &event, &seconds);
    if (status != FCL_OK)
        return status;
    context->timings[context->timing_count++] = (struct fcl_timing){kernel->name, seconds};
    if (event.pending)
        context->events[context->event_count++] = event;
    return FCL_OK;
}

enum fcl_status fcl_timings(struct fcl_context *context, const struct fcl_timing **timings, size_t *count) {
    FCLRT_ENTER;
    if (timings)
        *timings = NULL;
    if (count)
        *count = 0;
    if (!context)
        return FCL_INVALID;
    enum fcl_status status = resolve_events(context);
    if (status != FCL_OK)
        return status;
    if (timings)
        *timings = context->timings;
    if (count)
        *count = context->timing_count;
    return FCL_OK;
}

void fcl_clear_timings(struct fcl_context *context) {
    FCLRT_ENTER;
    if (!context)
        return;
    resolve_events(context);
    context->timing_count = 0;
}

int64_t fcl_room(int64_t elements, int32_t times) {
    if (elements <= 0 || times <= 0)
        return 0;
    return elements > INT64_MAX / times ? INT64_MAX : elements * times;
}
