// The C backend: kernels are C functions that a C compiler turns into a shared object; memory is the host's.
//
// Everything is done when the call returns. A kernel's blocks are shared out among the threads of threads.c.
#include "internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

typedef void c_kernel(void *const *args, int64_t blocks);

struct state {
    struct fclrt_words compiler; // FCL_CC's words
    struct fclrt_team *team;
};

// ---------------------------------------------------------------- the compiler

static const char *compiler_command(void) {
    const char *command = getenv("FCL_CC");
    return command && *command ? command : "cc";
}

// Where the program lies that running `name` would start; "" if there is none.
static void find_program(const char *name, char *path, size_t bytes) {
    path[0] = 0;
    if (strchr(name, '/')) {
        if (access(name, X_OK) == 0)
            snprintf(path, bytes, "%s", name);
        return;
    }
    const char *from = getenv("PATH");
    if (!from)
        from = "/usr/local/bin:/usr/bin:/bin";
    for (;;) {
        size_t length = strcspn(from, ":");
        int written = snprintf(path, bytes, "%.*s%s%s", (int)length, from, length ? "/" : "", name);
        struct stat status;
        if (written > 0 && (size_t)written < bytes && stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
            access(path, X_OK) == 0)
            return;
        if (!from[length])
            break;
        from += length + 1;
    }
    path[0] = 0;
}

static void say_no_compiler(struct fclrt_note why, const char *compiler) {
    fclrt_note(
        why,
        "no C compiler: `%s` was not found; install gcc (Debian, Ubuntu: package gcc and libc6-dev; Fedora: gcc) or "
        "name another one in FCL_CC",
        compiler);
}

// Runs a program without a shell, its output going to the file `log`. False if it cannot be run or fails.
static bool run_program(char **words, const char *log, int *ended_by) {
    posix_spawn_file_actions_t actions;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return false;
    pid_t child = 0;
    bool started = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) == 0 &&
                   posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600) == 0 &&
                   posix_spawn_file_actions_adddup2(&actions, 1, 2) == 0 &&
                   posix_spawnp(&child, words[0], &actions, NULL, words, environ) == 0;
    posix_spawn_file_actions_destroy(&actions);
    if (!started)
        return false;
    int status = 0;
    pid_t waited;
    while ((waited = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
    }
    // A program that ignores SIGCHLD has no status to wait for: the object file's presence must do.
    if (waited < 0)
        return errno == ECHILD;
    if (WIFSIGNALED(status))
        *ended_by = WTERMSIG(status);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// ---------------------------------------------------------------- devices

// The value of the first line `field : value` in /proc/cpuinfo.
static void read_processor(const char *text, const char *field, char *value, size_t bytes) {
    value[0] = 0;
    const char *line = text ? strstr(text, field) : NULL;
    const char *colon = line ? strchr(line, ':') : NULL;
    if (!colon)
        return;
    size_t length = strcspn(colon + 1, "\n");
    char *copy = fclrt_format("%.*s", (int)length, colon + 1);
    if (copy)
        fclrt_copy_name(value, bytes, copy);
    free(copy);
}

// The machine's memory, or what the control group this process lives in leaves of it.
static uint64_t memory_bytes(void) {
    static const char *const limits[] = {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : SIZE_MAX / 2;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        char *text = fclrt_read_file(limits[i], NULL, NULL);
        uint64_t limit = text ? strtoull(text, NULL, 10) : 0; // "max" is 0: no limit
        if (limit && limit < bytes)
            bytes = limit;
        free(text);
    }
    return bytes;
}

static enum fcl_status list_c(fclrt_receiver *receive, void *to, struct fclrt_note why) {
    (void)why;
    struct fcl_device_info info = {.backend = FCL_BACKEND_C,
                                   .kind = FCL_DEVICE_C,
                                   .max_blocks = INT64_MAX,
                                   .warp_width = 1,
                                   .has_double = true,
                                   .has_waiting_blocks = true,
                                   .exact_division = true};
    char *processor = fclrt_read_file("/proc/cpuinfo", NULL, NULL);
    read_processor(processor, "model name", info.name, sizeof info.name);
    char features[4096];
    read_processor(processor, "flags", features, sizeof features);
    free(processor);
    info.vector_bytes = strstr(features, " avx512f") ? 64 : strstr(features, " avx") ? 32 : 16;
    if (!info.name[0])
        snprintf(info.name, sizeof info.name, "host processor");

    const char *command = compiler_command(), *strings[] = {command};
    struct fclrt_words words;
    char path[1024];
    if (!fclrt_split(&words, 0, strings, 1))
        return FCL_NO_MEMORY;
    fclrt_copy_name(info.platform, sizeof info.platform, command);
    const char *compiler = words.count ? words.list[0] : "";
    find_program(compiler, path, sizeof path);
    char *real = path[0] ? realpath(path, NULL) : NULL;
    if (real)
        fclrt_copy_name(info.driver, sizeof info.driver, real);
    else
        say_no_compiler((struct fclrt_note){info.problem, sizeof info.problem}, compiler);
    free(real);
    fclrt_free_words(&words);

    info.memory_bytes = memory_bytes();
    info.max_buffer_bytes = info.memory_bytes;
    info.compute_units = fclrt_thread_count();
    return receive(to, &info) ? FCL_OK : FCL_NO_MEMORY;
}

// ---------------------------------------------------------------- contexts

static void close_c(struct fcl_context *context) {
    struct state *state = context->state;
    fclrt_team_free(state->team);
    fclrt_free_words(&state->compiler);
    free(state);
    context->state = NULL;
}

static enum fcl_status open_c(struct fcl_context *context, size_t ordinal) {
    if (context->queue)
        return fclrt_fail(context, FCL_INVALID, "C has no queues");
    (void)ordinal;
    const char *threads = getenv("FCL_THREADS");
    char *end = NULL;
    if (threads && *threads && (strtol(threads, &end, 10) < 0 || *end))
        return fclrt_fail(context, FCL_INVALID, "FCL_THREADS is a number of threads, and not `%s`", threads);
    const char *command = compiler_command();
    struct state *state = context->state = calloc(1, sizeof *state);
    if (!state || !fclrt_split(&state->compiler, 0, &command, 1) ||
        !(state->team = fclrt_team_new(context->device.compute_units)))
        return fclrt_no_memory(context);
    // Without the straight-line vectoriser, and what goes by pointers that are NULL: QUIRK_STRAIGHT_VECTORS and
    // QUIRK_NULL_PLACES of the compiler's map/quirks.
    const char *more = getenv("FCL_CC_OPTIONS");
    context->build_options = fclrt_format(FCL_C_OPTIONS "%s%s", more ? " " : "", more ? more : "");

    // A built program depends on the compiler's file, and on the processor that -march=native means.
    char path[1024], name[256], features[4096];
    char *processor = fclrt_read_file("/proc/cpuinfo", NULL, NULL);
    read_processor(processor, "model name", name, sizeof name);
    read_processor(processor, "flags", features, sizeof features);
    free(processor);
    struct stat status = {0};
    find_program(state->compiler.list[0], path, sizeof path);
    if (!path[0] || stat(path, &status) != 0)
        status = (struct stat){0};
    context->identity =
        fclrt_format("c\n%s\n%s %lld %lld.%09ld\n%s %016" PRIx64, command, context->device.driver,
                     (long long)status.st_size, (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec, name,
                     fclrt_hash(FCLRT_HASH_SEED, features, strlen(features)));
    return context->build_options && context->identity ? FCL_OK : fclrt_no_memory(context);
}

static enum fcl_status use_queue_c(struct fcl_context *context, void *queue) {
    return queue ? fclrt_fail(context, FCL_INVALID, "C has no queues") : FCL_OK;
}

static enum fcl_status finish_queue_c(struct fcl_context *context, void *queue) {
    (void)context;
    (void)queue;
    return FCL_OK;
}

static enum fcl_status finish_c(struct fcl_context *context) {
    (void)context;
    return FCL_OK;
}

// ---------------------------------------------------------------- buffers

static enum fcl_status alloc_c(struct fcl_context *context, uint64_t bytes, union fclrt_memory *memory) {
    memory->pointer = fclrt_array(bytes);
    if (memory->pointer)
        return FCL_OK;
    return fclrt_fail(context, FCL_NO_DEVICE_MEMORY, "no memory for a buffer of %" PRIu64 " bytes", bytes);
}

static void free_c(struct fcl_context *context, union fclrt_memory memory) {
    (void)context;
    free(memory.pointer);
}

static char *at(struct fcl_buffer *buffer, uint64_t offset) { return (char *)buffer->memory.pointer + offset; }

static enum fcl_status write_c(struct fcl_buffer *buffer, uint64_t offset, const void *data, uint64_t bytes) {
    memcpy(at(buffer, offset), data, (size_t)bytes);
    return FCL_OK;
}

static enum fcl_status read_c(struct fcl_buffer *buffer, uint64_t offset, void *data, uint64_t bytes) {
    memcpy(data, at(buffer, offset), (size_t)bytes);
    return FCL_OK;
}

static enum fcl_status copy_c(struct fcl_buffer *to, uint64_t to_offset, struct fcl_buffer *from, uint64_t from_offset,
                              uint64_t bytes) {
    memcpy(at(to, to_offset), at(from, from_offset), (size_t)bytes);
    return FCL_OK;
}

static enum fcl_status fill_c(struct fcl_buffer *buffer, uint64_t offset, uint64_t bytes, uint8_t value) {
    memset(at(buffer, offset), value, (size_t)bytes);
    return FCL_OK;
}

// ---------------------------------------------------------------- programs

// The files of one build, in a directory of its own.
struct workplace {
    char *directory, *source, *object, *log;
    int ended_by; // the signal that ended the compiler; 0: none
};

// Those that are in use. Where there are more at a time, the rest are not removed when a signal ends the process.
enum { WORKPLACES = 16 };
static _Atomic(const struct workplace *) workplaces[WORKPLACES];

// `from` is in the list where `to` is to be.
static void exchange_workplace(const struct workplace *from, const struct workplace *to) {
    for (size_t i = 0; i < WORKPLACES; i++) {
        const struct workplace *found = from;
        if (atomic_compare_exchange_strong(&workplaces[i], &found, to))
            return;
    }
}

// A compiler that still runs may write a file between the removal of all and that of the directory: then again.
static void remove_files(const struct workplace *place) {
    char *const files[] = {place->source, place->object, place->log};
    for (int tries = 0; tries < 9; tries++) {
        for (size_t i = 0; i < sizeof files / sizeof *files; i++)
            if (files[i])
                unlink(files[i]);
        if (!place->directory || rmdir(place->directory) == 0 || (errno != ENOTEMPTY && errno != EEXIST))
            return;
    }
}

void fcl_remove_temporaries(void) {
    for (size_t i = 0; i < WORKPLACES; i++) {
        const struct workplace *place = atomic_load(&workplaces[i]);
        if (place)
            remove_files(place);
    }
}

static bool make_workplace(struct workplace *place) {
    const char *parent = getenv("TMPDIR");
    *place = (struct workplace){0};
    char *directory = place->directory = fclrt_format("%s/fcl-XXXXXX", parent && *parent ? parent : "/tmp");
    exchange_workplace(NULL, place); // before it is made, so that no signal comes between
    if (!directory || !mkdtemp(directory)) {
        exchange_workplace(place, NULL);
        free(directory);
        return false;
    }
    place->source = fclrt_format("%s/kernels.c", directory);
    place->object = fclrt_format("%s/kernels.so", directory);
    place->log = fclrt_format("%s/log", directory);
    return true;
}

static void remove_workplace(struct workplace *place) {
    remove_files(place);
    exchange_workplace(place, NULL);
    free(place->source);
    free(place->object);
    free(place->log);
    free(place->directory);
}

// Keeps the object where it is. One that has lines of the program is where profilers look for them, after the process,
// too.
static void keep_object(struct workplace *place) {
    char *object = place->object, *directory = place->directory;
    place->object = place->directory = NULL;
    free(object);
    free(directory);
}

// Compiles place->source to place->object, leaving out the options that start with one of `without`.
static bool compile(const struct fcl_program *program, struct workplace *place, const char *without_a,
                    const char *without_b) {
    const struct state *state = program->context->state;
    static const char before[] = "-std=gnu11", after[] = "-shared -fPIC -o";
    const char *strings[] = {before, program->options, after};
    struct fclrt_words words;
    if (!fclrt_split(&words, state->compiler.count + 3, strings, 3))
        return false;
    char **list = calloc(state->compiler.count + words.count + 4, sizeof *list);
    size_t count = 0;
    if (list) {
        for (size_t i = 0; i < state->compiler.count; i++)
            list[count++] = state->compiler.list[i];
        for (size_t i = 0; i < words.count; i++) {
            const char *word = words.list[i];
            if (without_a && strncmp(word, without_a, strlen(without_a)) == 0)
                continue;
            if (without_b && strncmp(word, without_b, strlen(without_b)) == 0)
                continue;
            list[count++] = words.list[i];
        }
        char math[] = "-lm";
        list[count++] = place->object;
        list[count++] = place->source;
        list[count++] = math;
        unlink(place->object);
        bool good = run_program(list, place->log, &place->ended_by) && access(place->object, R_OK) == 0;
        free(list);
        fclrt_free_words(&words);
        return good;
    }
    fclrt_free_words(&words);
    return false;
}

static enum fcl_status load(struct fcl_program *program, const char *path) {
    program->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!program->handle) {
        const char *reason = dlerror();
        return fclrt_fail(program->context, FCL_DRIVER_FAILED, "the compiled kernels cannot be loaded: %s",
                          reason ? reason : path);
    }
    // A program of the caller's may use OpenMP, whose threads outlive it: so its library must, too.
    static const char *const openmp[] = {"libgomp.so.1", "libomp.so.5", "libomp.so", "libiomp5.so"};
    for (size_t i = 0; i < sizeof openmp / sizeof *openmp; i++) {
        void *library = dlopen(openmp[i], RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
        if (library)
            dlclose(library);
    }
    return FCL_OK;
}

static enum fcl_status build_c(struct fcl_program *program) {
    struct fcl_context *context = program->context;
    struct workplace place;
    if (!make_workplace(&place))
        return fclrt_fail(context, FCL_DRIVER_FAILED, "no temporary directory could be made in %s: %s",
                          getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", strerror(errno));
    enum fcl_status status = FCL_OK;
    size_t bytes = 0;
    if (!place.source || !place.object || !place.log) {
        remove_workplace(&place);
        return fclrt_no_memory(context);
    }

    void *kept = fclrt_cache_load(program, &bytes);
    if (kept && fclrt_write_file(place.object, kept, bytes) && load(program, place.object) == FCL_OK) {
        context->build_origin = "disk";
        free(kept);
        if (fclrt_has_lines(program->source))
            keep_object(&place);
        remove_workplace(&place);
        return FCL_OK;
    }
    if (kept)
        fclrt_cache_drop(program);
    free(kept);

    if (!fclrt_write_file(place.source, program->source, strlen(program->source))) {
        status = fclrt_fail(context, FCL_DRIVER_FAILED, "%s: %s", place.source, strerror(errno));
    } else if (!compile(program, &place, NULL, NULL)) {
        // The first log is the one that matters if the source is to blame; if an option is, it works without.
        char *log = fclrt_read_file(place.log, NULL, NULL);
        const struct state *state = context->state;
        char path[1024];
        find_program(state->compiler.list[0], path, sizeof path);
        if (!path[0]) {
            char text[256];
            say_no_compiler((struct fclrt_note){text, sizeof text}, state->compiler.list[0]);
            status = fclrt_fail(context, FCL_NO_BACKEND, "%s", text);
        } else if (place.ended_by) { // which no option is to blame for, and which may be on its way to this process
            status = fclrt_fail(context, FCL_BUILD_FAILED, "%s was ended by signal %d", state->compiler.list[0],
                                place.ended_by);
        } else if (!compile(program, &place, "-fopenmp", NULL) && !compile(program, &place, "-march=", NULL) &&
                   !compile(program, &place, "-fopenmp", "-march=")) {
            status = fclrt_fail(context, FCL_BUILD_FAILED, "%s does not compile the kernels:\n%s",
                                state->compiler.list[0], log ? log : "(no log)");
        }
        free(log);
    }
    if (status == FCL_OK) {
        char *object = fclrt_read_file(place.object, &bytes, NULL);
        status = load(program, place.object);
        if (object && status == FCL_OK)
            fclrt_cache_store(program, object, bytes);
        free(object);
    }
    if (status == FCL_OK && fclrt_has_lines(program->source))
        keep_object(&place);
    remove_workplace(&place);
    return status;
}

static void unload_c(struct fcl_program *program) { dlclose(program->handle); }

static enum fcl_status find_linked(struct fcl_kernel *kernel) {
    for (const struct fcl_linked_kernel *linked = kernel->program->linked; linked->name; linked++)
        if (strcmp(linked->name, kernel->name) == 0) {
            memcpy(&kernel->handle, &linked->run, sizeof kernel->handle);
            memcpy(&kernel->part, &linked->part, sizeof kernel->part);
            return FCL_OK;
        }
    return fclrt_fail(kernel->program->context, FCL_NO_KERNEL, "the program has no kernel named %s", kernel->name);
}

static enum fcl_status find_c(struct fcl_kernel *kernel) {
    if (kernel->program->linked)
        return find_linked(kernel);
    char *part = fclrt_format("fcl_part_%s", kernel->name);
    if (!part)
        return fclrt_no_memory(kernel->program->context);
    kernel->handle = dlsym(kernel->program->handle, kernel->name);
    kernel->part = dlsym(kernel->program->handle, part);
    free(part);
    if (kernel->handle)
        return FCL_OK;
    return fclrt_fail(kernel->program->context, FCL_NO_KERNEL, "the program has no kernel named %s", kernel->name);
}

static void forget_c(struct fcl_kernel *kernel) { (void)kernel; }

// ---------------------------------------------------------------- launches

// Which of the kernel's launches before was about as large: the same number of blocks, and each
// scalar of as many digits.
static int64_t *work_of(struct fcl_kernel *kernel, const struct fcl_arg *args, size_t count, uint64_t blocks) {
    uint64_t size = blocks;
    for (size_t i = 0; i < count; i++) {
        uint64_t scalar = 0;
        if (args[i].kind == FCL_ARG_SCALAR)
            memcpy(&scalar, args[i].as.scalar, args[i].bytes);
        size = size * 67 + (scalar ? 64 - (uint64_t)__builtin_clzll(scalar) : 0);
    }
    return &kernel->work[size % FCLRT_WORKS];
}

// How long it took, in seconds.
static double run_kernel(struct fcl_kernel *kernel, void *const *values, const struct fcl_arg *args, size_t count,
                         int64_t blocks) {
    const struct state *state = kernel->program->context->state;
    if (kernel->part) {
        fclrt_part *part;
        memcpy(&part, &kernel->part, sizeof part);
        return fclrt_team_run(state->team, part, values, blocks, work_of(kernel, args, count, (uint64_t)blocks));
    }
    c_kernel *function;
    memcpy(&function, &kernel->handle, sizeof function);
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    function(values, blocks);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}

static enum fcl_status launch_c(struct fcl_kernel *kernel, uint64_t blocks, uint32_t threads, uint64_t shared_bytes,
                                const struct fcl_arg *args, size_t count, struct fclrt_event *event, double *seconds) {
    (void)threads, (void)shared_bytes, (void)event;
    struct fcl_context *context = kernel->program->context;
    const void *few[FCLRT_FEW_ARGUMENTS], **values = fclrt_values_of(args, count, few);
    if (!values)
        return fclrt_no_memory(context);
    // Kernels take their arguments as `void *const *` and do not write through them.
    double taken = run_kernel(kernel, (void *const *)(const void *)values, args, count, (int64_t)blocks);
    if (seconds)
        *seconds = taken;
    if (values != few)
        free(values);
    return FCL_OK;
}

static enum fcl_status resolve_c(struct fcl_context *context, struct fclrt_event *event, double *seconds) {
    (void)context, (void)event, (void)seconds;
    return FCL_OK;
}

const struct fclrt_backend fclrt_c = {
    .line_options = "-gdwarf-4", // by version 5 addr2line of binutils 2.40, and so perf, takes one file for another
    .list = list_c,
    .open = open_c,
    .close = close_c,
    .finish = finish_c,
    .finish_queue = finish_queue_c,
    .use_queue = use_queue_c,
    .alloc = alloc_c,
    .free = free_c,
    .write = write_c,
    .read = read_c,
    .copy = copy_c,
    .fill = fill_c,
    .build = build_c,
    .unload = unload_c,
    .find = find_c,
    .forget = forget_c,
    .launch = launch_c,
    .resolve = resolve_c,
};
