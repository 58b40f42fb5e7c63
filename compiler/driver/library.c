/* The compiler as a library: what fclc.h declares. */
#define _GNU_SOURCE /* dladdr */
#include "driver/fclc.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "driver/arguments.h"
#include "driver/compilation.h"
#include "driver/complaint.h"
#include "driver/describe.h"
#include "driver/device.h"
#include "driver/executor.h"
#include "driver/later_stages.h"
#include "driver/reporting.h"
#include "driver/stack.h"
#include "host/execute.h"
#include "interp/interp.h"
#include "support/fatal.h"

_Static_assert((int)FCLC_BOOL == (int)BASE_BOOL && (int)FCLC_BF16 == (int)BASE_BF16 && FCLC_BF16 + 1 == BASE_COUNT &&
                   (int)FCLC_MAX_RANK == (int)VALUE_MAX_RANK && FCLC_MAX_ELEMENTS == VALUE_MAX_ELEMENTS,
               "fclc.h has the base types in the order of types/base.h, and the bounds of values/value.h");
_Static_assert((int)FCLC_USAGE == (int)EXIT_USAGE && (int)FCLC_INTERNAL == (int)EXIT_INTERNAL,
               "fclc.h has the exit statuses");

struct fclc_program {
    struct arena *arena;
    struct options options;
    struct compilation *c;
    struct kernel_list kernels;
};

struct fclc_kernel {
    struct fclc_program *program;
    const struct core_global *global;
    const struct fclc_kernel_info *info;
    struct arena *arena;
    struct fcl_context *context;    /* NULL: the interpreter */
    struct device_session session;  /* of a context */
    bool launch_sized_outside;      /* as in execution */
    bool is_large;                  /* likewise */
    struct device_part **parts;     /* of each argument, */
    struct device_part *flat_parts; /* one after another, */
    const struct fclc_type **types; /* and of what types they are: SCALAR, or ARRAY */
    size_t part_count, result_count;
    const struct fclc_type **result_types;
    struct fcl_buffer **given;          /* of each argument; and of each result, where it has a place: */
    struct fcl_buffer **places, **made; /* that, and what the run made; */
    uint64_t *made_bytes;               /* and how much of it there is */
    size_t misfit;                      /* the result that its place has no room for, */
    bool is_misfit;                     /* if there is one */
    struct arena *results;              /* of the interpreter's last run */
};

static union scalar scalar_from(enum base base, const struct fclc_value *value) {
    union scalar scalar;
    memcpy(&scalar, &value->scalar, sizeof scalar);
    return base_wrap(base, scalar);
}

/* ---- calls ----
   What a call prints is kept, and what would end the process ends the call. Whatever locale and rounding the caller
   has, the work is done with the usual ones: on the thread that does it, which begins with the process's locale. */

#define ENTER struct fcl_entry entry __attribute__((cleanup(fcl_leave), unused)) = fcl_enter()

struct call {
    enum exit_status (*work)(void *context);
    void *context;
    struct options *options;
    jmp_buf end;
    enum exit_status status;
};

static void end_call(void *context, const char *message) {
    struct call *call = context;
    fprintf(driver_messages(call->options), "fclc: %s\n", message);
    longjmp(call->end, 1);
}

static void begin_call(void *context, size_t stack_bytes) {
    ENTER;
    struct call *call = context;
    call->options->stack_bytes = stack_bytes;
    fatal_set_handler(end_call, call);
    call->status = EXIT_INTERNAL;
    if (setjmp(call->end) == 0)
        call->status = call->work(call->context);
    fatal_set_handler(NULL, NULL);
}

static enum fclc_status make_call(struct options *options, char **message, bool is_deep,
                                  enum exit_status (*work)(void *context), void *context) {
    struct call call = {.work = work, .context = context, .options = options, .status = EXIT_INTERNAL};
    char *text = NULL;
    size_t length = 0;
    FILE *messages = open_memstream(&text, &length);
    if (message)
        *message = NULL;
    if (!messages)
        return FCLC_INTERNAL;
    options->messages = messages;
    if (is_deep)
        stack_run(begin_call, &call);
    else
        begin_call(&call, 0);
    driver_end_complaints(options);
    options->json_is_begun = false;
    options->messages = NULL;
    fclose(messages);
    if (message && length)
        *message = text;
    else
        free(text);
    return (enum fclc_status)call.status;
}

/* Refuses a call in which the caller has left out a pointer that the function needs. */
static enum fclc_status refuse(char **message, const char *function, const char *what) {
    char text[200];
    snprintf(text, sizeof text, "%s: no %s\n", function, what);
    if (message)
        *message = strdup(text);
    return FCLC_USAGE;
}

const char *fclc_version(void) { return FCLC_VERSION; }

void fclc_free(char *text) { free(text); }

size_t fclc_base_bytes(enum fclc_base base) { return (unsigned)base < BASE_COUNT ? base_size((enum base)base) : 0; }

const struct fclc_kernel_info *fclc_kernels(const struct fclc_program *program, size_t *count) {
    if (count)
        *count = program ? program->kernels.count : 0;
    return program ? program->kernels.infos : NULL;
}

/* ---- programs ---- */

struct load_job {
    struct fclc_program *program;
    const struct fclc_file *files;
    size_t file_count;
    const char *const *options;
    size_t option_count;
};

/* The path of the file that this code is in, wherever it was put. */
static const char *own_path(struct arena *arena) {
    Dl_info info;
    enum fclc_status (*here)(struct fclc_program **, const struct fclc_file *, size_t, const char *const *, size_t,
                             char **) = fclc_load;
    void *address;
    memcpy(&address, &here, sizeof address);
    char *real = dladdr(address, &info) && info.dli_fname ? realpath(info.dli_fname, NULL) : NULL;
    const char *path = real ? arena_strndup(arena, real, strlen(real)) : search_executable(arena);
    free(real);
    return path;
}

/* How many words of the options, from this one on, are about warnings: 0, 1 or 2. -W is an option of `fclc check`. */
static size_t words_of_warnings(const char *word) {
    return strcmp(word, "-W") == 0 || strcmp(word, "--warn") == 0            ? 2
           : strncmp(word, "-W", 2) == 0 || strncmp(word, "--warn=", 7) == 0 ? 1
                                                                             : 0;
}

/* Reads options as the command of that name does: of the words those about warnings, or the others. */
static bool parse_words(const struct load_job *job, const char *command, bool of_warnings, struct options *options,
                        const char **why) {
    struct arena *arena = job->program->arena;
    char **words = ARENA_ARRAY(arena, char *, job->option_count + 4);
    size_t count = 0, left = 0; /* of warnings */
    words[count++] = arena_printf(arena, "fclc");
    words[count++] = arena_printf(arena, "%s", command);
    for (size_t i = 0; i < job->option_count; i++) {
        left = left ? left : words_of_warnings(job->options[i]);
        if ((left > 0) == of_warnings)
            words[count++] = arena_printf(arena, "%s", job->options[i]);
        left -= left > 0;
    }
    words[count++] = arena_printf(arena, "--");
    words[count++] = arena_printf(arena, "%s", job->files[0].path);
    return options_parse(arena, (int)count, words, options, why);
}

static bool is_of_ir(const struct load_job *job) { return text_ends_with(job->files[0].path, ".fclir"); }

static enum exit_status parse_options(const struct load_job *job) {
    struct fclc_program *p = job->program;
    FILE *messages = p->options.messages;
    size_t stack_bytes = p->options.stack_bytes;
    const char *why = NULL;
    struct options warnings = {0};
    bool good = parse_words(job, "run", false, &p->options, &why) && parse_words(job, "check", true, &warnings, &why);
    p->options.silenced.at = warnings.silenced.at;
    p->options.silenced.count = warnings.silenced.count;
    p->options.warnings_are_errors = warnings.warnings_are_errors;
    p->options.messages = messages;
    if (!p->options.check_given)
        p->options.check = is_of_ir(job) ? DEGREE_NONE : DEGREE_MEMORY;
    p->options.stack_bytes = stack_bytes;
    p->options.root = search_root(p->arena, own_path(p->arena));
    return good ? EXIT_GOOD : driver_complain(&p->options, EXIT_USAGE, "%s", why);
}

static enum exit_status load(void *context) {
    const struct load_job *job = context;
    struct fclc_program *p = job->program;
    enum exit_status status = parse_options(job);
    if (status != EXIT_GOOD)
        return status;
    p->c = compilation_new(&p->options);
    diag_show_flagged(p->c->diagnostics);
    for (size_t i = 0; i < job->file_count; i++) {
        const struct fclc_file *file = &job->files[i];
        if (file->text) {
            struct unsaved text = {arena_printf(p->c->arena, "%s", file->path),
                                   arena_strndup(p->c->arena, file->text, file->length), file->length};
            vec_push(p->c->arena, &p->c->texts, text);
        }
    }
    status = compilation_check(p->c, p->options.operands[0]);
    if (status == EXIT_GOOD && compilation_is_good(p->c))
        p->kernels = describe_kernels(p->arena, p->c);
    return compilation_finish(p->c, status);
}

enum fclc_status fclc_load(struct fclc_program **program, const struct fclc_file *files, size_t file_count,
                           const char *const *options, size_t option_count, char **message) {
    if (program)
        *program = NULL;
    if (message)
        *message = NULL;
    if (!program || !files || !file_count || (!options && option_count))
        return refuse(message, "fclc_load",
                      !program                   ? "place for the program"
                      : !options && option_count ? "options"
                                                 : "files");
    for (size_t i = 0; i < file_count; i++)
        if (!files[i].path)
            return refuse(message, "fclc_load", "path of a file");
    for (size_t i = 0; i < option_count; i++)
        if (!options[i])
            return refuse(message, "fclc_load", "option where one is counted");
    struct fclc_program *p = calloc(1, sizeof *p);
    if (!p)
        return FCLC_INTERNAL;
    p->arena = arena_new();
    struct load_job job = {p, files, file_count, options, option_count};
    enum fclc_status status = make_call(&p->options, message, true, load, &job);
    if (status == FCLC_GOOD)
        *program = p;
    else
        fclc_unload(p);
    return status;
}

void fclc_unload(struct fclc_program *program) {
    if (!program)
        return;
    if (program->c)
        compilation_free(program->c);
    arena_free(program->arena);
    free(program);
}

enum fcl_device_kind fclc_device_kind(const struct fclc_program *program, bool *runs) {
    const char *target = program ? program->options.target : NULL;
    enum fcl_device_kind kind = FCL_DEVICE_ANY;
    bool is_device = program && (!target || strcmp(target, "interp") != 0);
    if (runs)
        *runs = is_device;
    if (target && is_device)
        (void)fcl_parse_device(target, &kind, NULL); /* the options' names are among the devices' */
    return kind;
}

static const struct core_global *kernel_named(const struct fclc_program *program, const char *name, size_t *which) {
    for (*which = 0; *which < program->kernels.count; ++*which)
        if (strcmp(program->kernels.infos[*which].name, name) == 0)
            return program->kernels.globals[*which];
    return NULL;
}

struct text_job {
    struct fclc_program *program;
    const struct core_global *kernel;
    const char *target;
    char **text;
};

static enum exit_status make_text(void *context) {
    const struct text_job *job = context;
    struct compilation *c = job->program->c;
    struct arena *arena = arena_new();
    struct diagnostics *diagnostics = compilation_diagnostics(c, arena, true);
    const char *text = text_for_target(c, arena, job->target, job->kernel, diagnostics);
    enum exit_status status = text && diag_are_good(diagnostics) ? EXIT_GOOD : EXIT_PROGRAM_WRONG;
    if (!text && diag_are_good(diagnostics))
        status = driver_complain(&job->program->options, EXIT_USAGE,
                                 "kernels become text for cuda, opencl, c or hip, by a mapping that fits, not for %s",
                                 job->target);
    compilation_print_diagnostics(c, diagnostics);
    if (status == EXIT_GOOD && !(*job->text = strdup(text)))
        status = EXIT_INTERNAL;
    arena_free(arena);
    return status;
}

enum fclc_status fclc_text(struct fclc_program *program, const char *kernel, const char *target, char **text,
                           char **message) {
    size_t which;
    struct text_job job = {.program = program, .target = target, .text = text};
    if (text)
        *text = NULL;
    if (message)
        *message = NULL;
    if (!program || !target || !text)
        return refuse(message, "fclc_text", !program ? "program" : text ? "target" : "place for the text");
    if (kernel && !(job.kernel = kernel_named(program, kernel, &which)))
        return FCLC_USAGE;
    return make_call(&program->options, message, true, make_text, &job);
}

struct report_job {
    struct fclc_program *program;
    struct report_wish wish;
    char **text;
};

static enum exit_status make_report(void *context) {
    const struct report_job *job = context;
    struct compilation *c = job->program->c;
    struct arena *arena = arena_new();
    struct diagnostics *diagnostics = diagnostics_new(arena, c->sources);
    const char *why, *text = report_text(c, arena, &job->wish, diagnostics, &why);
    enum exit_status status = text  ? EXIT_GOOD
                              : why ? driver_complain(&job->program->options, EXIT_USAGE, "%s", why)
                                    : EXIT_PROGRAM_WRONG;
    compilation_print_diagnostics(c, diagnostics);
    if (text && !(*job->text = strdup(text)))
        status = EXIT_INTERNAL;
    arena_free(arena);
    return status;
}

enum fclc_status fclc_report(struct fclc_program *program, const char *kernel, const char *target, const char *sizes,
                             const char *device, enum fclc_report_form form, char **text, char **message) {
    size_t which;
    struct report_job job = {
        program, {.target = target, .sizes = sizes, .device = device, .form = (enum report_form)form}, text};
    if (text)
        *text = NULL;
    if (message)
        *message = NULL;
    if (!program || !text)
        return refuse(message, "fclc_report", program ? "place for the text" : "program");
    if (kernel && !(job.wish.only = kernel_named(program, kernel, &which)))
        return FCLC_USAGE;
    return make_call(&program->options, message, true, make_report, &job);
}

/* ---- kernels ---- */

static void add_parts(const struct fclc_type *type, const struct fclc_type **parts, size_t *count) {
    if (type->kind != FCLC_TUPLE) {
        if (parts)
            parts[*count] = type;
        ++*count;
    }
    for (size_t i = 0; i < type->count; i++)
        add_parts(&type->items[i], parts, count);
}

static void find_parts(struct fclc_kernel *k) {
    const struct fclc_kernel_info *info = k->info;
    size_t count = 0, next = 0;
    for (size_t i = 0; i < info->parameter_count; i++)
        add_parts(&info->parameters[i].type, NULL, &k->part_count);
    k->types = ARENA_ARRAY(k->arena, const struct fclc_type *, k->part_count);
    k->flat_parts = ARENA_ARRAY(k->arena, struct device_part, k->part_count);
    k->parts = ARENA_ARRAY(k->arena, struct device_part *, info->parameter_count);
    for (size_t i = 0; i < info->parameter_count; i++) {
        k->parts[i] = k->flat_parts + next;
        add_parts(&info->parameters[i].type, k->types, &next);
    }
    add_parts(&info->result.type, NULL, &count);
    k->result_types = ARENA_ARRAY(k->arena, const struct fclc_type *, count);
    add_parts(&info->result.type, k->result_types, &k->result_count);
    k->given = ARENA_ARRAY(k->arena, struct fcl_buffer *, k->part_count);
    k->places = ARENA_ARRAY(k->arena, struct fcl_buffer *, count);
    k->made = ARENA_ARRAY(k->arena, struct fcl_buffer *, count);
    k->made_bytes = ARENA_ARRAY(k->arena, uint64_t, count);
}

void fclc_counts(const struct fclc_kernel *kernel, size_t *arguments, size_t *results) {
    if (arguments)
        *arguments = kernel ? kernel->part_count : 0;
    if (results)
        *results = kernel ? kernel->result_count : 0;
}

static enum exit_status say(const struct fclc_kernel *k, struct diagnostics *diagnostics, enum exit_status status) {
    compilation_print_diagnostics(k->program->c, diagnostics);
    return !diag_are_good(diagnostics) && status == EXIT_GOOD ? EXIT_PROGRAM_WRONG : status;
}

/* Compiles and builds; what was built before is replaced if that goes well. */
static enum exit_status build_kernel(void *context) {
    struct fclc_kernel *k = context;
    struct compilation *c = k->program->c;
    struct device_session session = {0};
    struct diagnostics *diagnostics = compilation_diagnostics(c, k->arena, true);
    struct execution request = execution_of(c);
    request.arena = k->arena;
    request.kernel = k->global;
    request.context = k->context;
    request.is_kept = true;
    request.launch_sized_outside = k->launch_sized_outside;
    request.is_large = k->is_large;
    request.diagnostics = diagnostics;
    bool is_built = device_open(&request, &session) && device_build(&request, &session);
    struct device_session *old = is_built ? &k->session : &session;
    enum exit_status status = is_built ? EXIT_GOOD : session.status;
    if (session.why && status == EXIT_USAGE)
        status = driver_complain(&k->program->options, EXIT_USAGE, "%s", session.why);
    else if (session.why && !is_built)
        diag_error(diagnostics, DIAG_DEVICE, k->global->span, "%s", session.why);
    status = say(k, diagnostics, status);
    device_run_free(old->run);
    if (is_built)
        k->session = session;
    return status;
}

static enum exit_status open_kernel(void *context) {
    struct fclc_kernel *k = context;
    find_parts(k);
    return k->context ? build_kernel(k) : EXIT_GOOD;
}

enum fclc_status fclc_open(struct fclc_kernel **kernel, struct fclc_program *program, const char *name,
                           struct fcl_context *context, char **message) {
    if (kernel)
        *kernel = NULL;
    if (message)
        *message = NULL;
    if (!kernel || !program || !name)
        return refuse(message, "fclc_open", !program ? "program" : name ? "place for the kernel" : "name");
    size_t which;
    const struct core_global *global = kernel_named(program, name, &which);
    struct fclc_kernel *k = global ? calloc(1, sizeof *k) : NULL;
    if (!k)
        return global ? FCLC_INTERNAL : FCLC_USAGE;
    k->program = program;
    k->global = global;
    k->info = &program->kernels.infos[which];
    k->arena = arena_new();
    k->context = context;
    enum fclc_status status = make_call(&program->options, message, true, open_kernel, k);
    if (status == FCLC_GOOD)
        *kernel = k;
    else
        fclc_close(k);
    return status;
}

void fclc_close(struct fclc_kernel *kernel) {
    if (!kernel)
        return;
    device_run_free(kernel->session.run);
    arena_free(kernel->results);
    arena_free(kernel->arena);
    free(kernel);
}

/* ---- running on a device ---- */

static uint64_t element_count(const struct fclc_type *type, const int64_t *shape) {
    uint64_t count = 1;
    for (size_t i = 0; i < type->rank; i++)
        count *= (uint64_t)shape[i];
    return count;
}

static uint64_t bytes_of(const struct fclc_type *type, const int64_t *shape) {
    return element_count(type, shape) * base_size((enum base)type->base);
}

static bool lacks_elements(const struct fclc_kernel *k, size_t part, const struct fclc_value *value) {
    const struct fclc_type *type = k->types[part];
    bool has = value->data || (k->context && value->buffer);
    return type->kind == FCLC_ARRAY && !has && element_count(type, value->shape) > 0;
}

/* An array of the caller's as a buffer, which is `ours` to free unless the caller gave it. */
static bool pass_array(struct fclc_kernel *k, const struct fclc_value *value, struct device_part *part, size_t bytes) {
    static const uint64_t nothing;
    part->buffer = value->buffer;
    if (part->buffer)
        return true;
    if (fcl_device(k->context)->backend == FCL_BACKEND_C)
        return fcl_buffer_wrap(k->context, (uintptr_t)(value->data ? value->data : &nothing), bytes, &part->buffer) ==
               FCL_OK;
    return fcl_buffer_new(k->context, bytes, &part->buffer) == FCL_OK &&
           fcl_write(part->buffer, 0, value->data, bytes) == FCL_OK;
}

static bool pass(struct fclc_kernel *k, const struct fclc_value *arguments) {
    for (size_t i = 0; i < k->part_count; i++) {
        const struct fclc_type *type = k->types[i];
        struct device_part *part = &k->flat_parts[i];
        *part = (struct device_part){.shape = arguments[i].shape};
        if (type->kind == FCLC_ARRAY) {
            part->elements = element_count(type, arguments[i].shape);
            if (!pass_array(k, &arguments[i], part, bytes_of(type, arguments[i].shape)))
                return false;
        } else {
            part->scalar = scalar_from((enum base)type->base, &arguments[i]);
        }
    }
    return true;
}

static void forget_arguments(struct fclc_kernel *k, const struct fclc_value *arguments) {
    device_run_drop(k->session.run);
    for (size_t i = 0; i < k->part_count; i++) {
        if (k->types[i]->kind == FCLC_ARRAY && !arguments[i].buffer)
            fcl_buffer_free(k->flat_parts[i].buffer);
        k->flat_parts[i].buffer = NULL;
    }
}

/* A call of a kernel. */
struct run_job {
    struct fclc_kernel *kernel;
    const struct fclc_value *arguments, *into; /* the caller's places for the results; or NULL: there are none */
    struct fclc_value *results;
};

static bool has_place(const struct run_job *job, size_t result) {
    return job->into && job->kernel->result_types[result]->kind == FCLC_ARRAY &&
           (job->into[result].data || job->into[result].buffer);
}

/* Is each as long as its place, or shorter in the first dimension? Else it is the kernel's `misfit`. */
static bool results_fit(const struct run_job *job) {
    struct fclc_kernel *k = job->kernel;
    for (size_t i = 0; i < k->result_count; i++) {
        const int64_t *shape = job->results[i].shape;
        size_t rank = k->result_types[i]->rank, same = 1;
        while (has_place(job, i) && same < rank && shape[same] == job->into[i].shape[same])
            same++;
        if (has_place(job, i) && (same < rank || shape[0] > job->into[i].shape[0])) {
            k->misfit = i;
            k->is_misfit = true;
            return false;
        }
    }
    return true;
}

/* Kernels in C store in the host's memory, others in the device's; what is in neither is read at the end. */
static bool begin_into(const struct run_job *job) {
    struct fclc_kernel *k = job->kernel;
    bool is_host = fcl_device(k->context)->backend == FCL_BACKEND_C;
    for (size_t i = 0; i < k->part_count; i++)
        k->given[i] = k->flat_parts[i].buffer;
    memset(k->places, 0, k->result_count * sizeof(struct fcl_buffer *));
    for (size_t i = 0; i < k->result_count; i++) {
        const struct fclc_value *place = &job->into[i];
        k->places[i] = has_place(job, i) ? place->buffer : NULL;
        if (has_place(job, i) && !place->buffer && is_host &&
            fcl_buffer_wrap(k->context, (uintptr_t)place->data, bytes_of(k->result_types[i], place->shape),
                            &k->places[i]) != FCL_OK)
            return false;
    }
    return fcl_into_begin(k->context, k->places, k->result_count, k->given, k->part_count) == FCL_OK;
}

static bool end_into(const struct run_job *job, bool is_good) {
    struct fclc_kernel *k = job->kernel;
    struct fclc_value *results = job->results;
    for (size_t i = 0; i < k->result_count; i++) {
        k->made_bytes[i] = k->places[i] ? bytes_of(k->result_types[i], results[i].shape) : 0;
        k->made[i] = k->places[i] ? results[i].buffer : NULL;
        if (k->places[i])
            results[i].buffer = NULL;
    }
    is_good = fcl_into_end(k->context, is_good ? FCL_OK : FCL_INVALID, k->made, k->made_bytes) == FCL_OK && is_good;
    for (size_t i = 0; i < k->result_count; i++) {
        if (k->places[i] && k->places[i] != job->into[i].buffer)
            fcl_buffer_free(k->places[i]);
        if (k->places[i] || !has_place(job, i))
            continue;
        if (is_good)
            is_good = fcl_read(results[i].buffer, 0, (void *)job->into[i].data,
                               bytes_of(k->result_types[i], results[i].shape)) == FCL_OK;
        fcl_buffer_free(results[i].buffer);
        results[i].buffer = NULL;
    }
    return is_good;
}

static bool take_results(const struct run_job *job) {
    struct fclc_kernel *k = job->kernel;
    struct device_run *run = k->session.run;
    bool is_good = true;
    for (size_t i = 0; is_good && i < k->result_count; i++) {
        if (k->result_types[i]->kind == FCLC_ARRAY) {
            device_run_shape(run, i, job->results[i].shape);
            job->results[i].buffer = device_run_take(run, i, &k->session.why);
            is_good = job->results[i].buffer != NULL;
        } else {
            union scalar scalar = device_run_scalar(run, i);
            memcpy(&job->results[i].scalar, &scalar, sizeof scalar);
        }
    }
    return is_good;
}

static bool run_on_device(const struct run_job *job) {
    struct fclc_kernel *k = job->kernel;
    struct device_run *run = k->session.run;
    k->session.why = NULL;
    k->is_misfit = false;
    memset(job->results, 0, k->result_count * sizeof *job->results);
    bool is_passed = pass(k, job->arguments), is_good = is_passed && (!job->into || begin_into(job));
    is_good = is_good && device_run_pass(run, k->parts, &k->session.why) && device_run_once(run, &k->session.why) &&
              take_results(job) && results_fit(job);
    if (is_good && fcl_device(k->context)->backend == FCL_BACKEND_C) /* it is done, and nothing else waits for it */
        is_good = fcl_finish(k->context) == FCL_OK;
    if (is_passed && job->into)
        is_good = end_into(job, is_good);
    for (size_t i = 0; !is_good && i < k->result_count; i++) {
        fcl_buffer_free(job->results[i].buffer);
        job->results[i].buffer = NULL;
    }
    if (!is_good && !k->session.why)
        k->session.why = fcl_error(k->context);
    forget_arguments(k, job->arguments);
    return is_good;
}

static const char *shape_text(struct arena *arena, size_t rank, const int64_t *shape) {
    const char *text = "";
    for (size_t i = 0; i < rank; i++)
        text = arena_printf(arena, "%s%s%lld", text, i ? " x " : "", (long long)shape[i]);
    return text;
}

static enum exit_status explain_misfit(void *context) {
    const struct run_job *job = context;
    const struct fclc_kernel *k = job->kernel;
    size_t rank = k->result_types[k->misfit]->rank;
    struct arena *arena = arena_new();
    enum exit_status status = driver_complain(
        &k->program->options, EXIT_USAGE, "%s: result %zu has %s elements, and there is room for %s%s", k->info->name,
        k->misfit + 1, shape_text(arena, rank, job->results[k->misfit].shape),
        shape_text(arena, rank, job->into[k->misfit].shape), rank > 1 ? "; only the first number may be lower" : "");
    arena_free(arena);
    return status;
}

/* Why it failed, among the places of the source. */
static enum exit_status explain_failure(void *context) {
    struct fclc_kernel *k = context;
    struct arena *arena = arena_new();
    struct execution execution = {.options = &k->program->options,
                                  .kernel = k->global,
                                  .diagnostics = diagnostics_new(arena, k->program->c->sources)};
    enum exit_status status = EXIT_DEVICE;
    if (device_run_failed_check(k->session.run))
        status = device_report_check(&k->session, execution.diagnostics);
    else
        device_report(&execution, k->session.why, fcl_error_status(k->context) == FCL_DEVICE_FAULT);
    status = say(k, execution.diagnostics, status);
    arena_free(arena);
    return status;
}

/* The launch knows how long the arrays in shared memory are, and found no room for them: again with them elsewhere. Or
   a result is large. */
static bool may_run_otherwise(struct fclc_kernel *k) {
    bool lacks_shared = !k->launch_sized_outside && device_run_lacks_shared(k->session.run);
    bool is_large = !k->is_large && device_run_is_large(k->session.run);
    k->launch_sized_outside |= lacks_shared;
    k->is_large |= is_large;
    if (!lacks_shared && !is_large)
        return false;
    return make_call(&k->program->options, NULL, true, build_kernel, k) == FCLC_GOOD;
}

/* ---- and in the interpreter ---- */

/* Takes the parts of a value of that type from, or to, the values at *at and on. */
static struct host_value *value_from(struct arena *arena, const struct fclc_type *type, struct type *own,
                                     const struct fclc_value **at) {
    own = type_resolve(own);
    if (type->kind == FCLC_TUPLE && type->rank == 0) {
        struct host_value **items = ARENA_ARRAY(arena, struct host_value *, type->count);
        for (size_t i = 0; i < type->count; i++)
            items[i] = value_from(arena, &type->items[i], own->tuple.items[i], at);
        return value_tuple(arena, own, items);
    }
    if (type->kind == FCLC_SCALAR) {
        return value_scalar(arena, (enum base)type->base, scalar_from((enum base)type->base, (*at)++));
    }
    struct type *element;
    size_t rank = value_type_rank(own, &element), count = type_leaf_count(element);
    struct host_value *array = value_array(arena, element, rank, (*at)->shape);
    struct host_value **leaves = ARENA_ARRAY(arena, struct host_value *, count);
    value_leaves(array, leaves);
    for (size_t i = 0; i < count; i++, ++*at) {
        size_t bytes = (size_t)value_element_count(leaves[i]) * base_size(leaves[i]->array.base);
        if (bytes)
            memcpy(leaves[i]->array.data, (*at)->data, bytes);
    }
    return array;
}

static void value_to(const struct host_value *value, struct fclc_value **at) {
    switch (value->kind) {
    case VALUE_SCALAR:
        memcpy(&(*at)->scalar, &value->scalar.value, sizeof(*at)->scalar);
        ++*at;
        break;
    case VALUE_ARRAY:
        memcpy((*at)->shape, value->array.shape, value->array.rank * sizeof *value->array.shape);
        (*at)++->data = value->array.data;
        break;
    case VALUE_ZIPPED:
    case VALUE_TUPLE:
        for (size_t i = 0; i < value->tuple.count; i++)
            value_to(value->tuple.items[i], at);
        break;
    }
}

/* To the caller's places. */
static bool copy_results(const struct run_job *job) {
    if (!results_fit(job))
        return false;
    for (size_t i = 0; i < job->kernel->result_count; i++) {
        if (!has_place(job, i))
            continue;
        uint64_t bytes = bytes_of(job->kernel->result_types[i], job->results[i].shape);
        if (bytes)
            memcpy((void *)job->into[i].data, job->results[i].data, bytes);
        job->results[i].data = NULL;
    }
    return true;
}

static enum exit_status interpret(void *context) {
    const struct run_job *job = context;
    struct fclc_kernel *k = job->kernel;
    struct compilation *c = k->program->c;
    arena_free(k->results);
    k->results = NULL;
    struct arena *arena = k->results = arena_new();
    struct kernel_interface interface = kernel_interface(arena, k->global);
    struct host_value **arguments = ARENA_ARRAY(arena, struct host_value *, interface.count);
    const struct fclc_value *from = job->arguments;
    for (size_t i = 0; i < interface.count; i++)
        arguments[i] = value_from(arena, &k->info->parameters[i].type, interface.parameters[i], &from);
    struct execution execution = execution_of(c);
    execution.arena = arena;
    execution.kernel = k->global;
    execution.arguments = arguments;
    execution.argument_count = interface.count;
    execution.diagnostics = diagnostics_new(arena, c->sources);
    struct host_value *result = NULL;
    enum exit_status status = executor_named("interp")->run(&execution, &result);
    if (status == EXIT_GOOD) {
        struct fclc_value *to = job->results;
        memset(to, 0, k->result_count * sizeof *to);
        value_to(result, &to);
        if (job->into && !copy_results(job))
            status = explain_misfit(context);
    }
    return say(k, execution.diagnostics, status);
}

enum fclc_status fclc_run_into(struct fclc_kernel *kernel, const struct fclc_value *arguments,
                               const struct fclc_value *into, struct fclc_value *results, char **message) {
    ENTER;
    if (message)
        *message = NULL;
    if (!kernel || (!arguments && kernel->part_count) || (!results && kernel->result_count))
        return refuse(message, "fclc_run", !kernel ? "kernel" : results ? "arguments" : "place for the results");
    for (size_t i = 0; i < kernel->part_count; i++)
        if (lacks_elements(kernel, i, &arguments[i]))
            return refuse(message, "fclc_run", "elements of an array that has some");
    struct options *options = &kernel->program->options;
    struct run_job job = {kernel, arguments, into, results};
    if (!kernel->context)
        return make_call(options, message, true, interpret, &job);
    if (run_on_device(&job) || (may_run_otherwise(kernel) && run_on_device(&job)))
        return FCLC_GOOD;
    if (kernel->is_misfit)
        return make_call(options, message, false, explain_misfit, &job);
    return make_call(options, message, false, explain_failure, kernel);
}

enum fclc_status fclc_run(struct fclc_kernel *kernel, const struct fclc_value *arguments, struct fclc_value *results,
                          char **message) {
    return fclc_run_into(kernel, arguments, NULL, results, message);
}
