/* fclc FILE -o OUT: kernels and their host functions to files; and the dumps of the stages behind the checker. */
#include <string.h>
#include <sys/stat.h>

#include "driver/commands.h"
#include "driver/compilation.h"
#include "driver/complaint.h"
#include "driver/generate.h"
#include "driver/later_stages.h"
#include "driver/output.h"
#include "driver/python.h"
#include "fcl.h"
#include "host/emit.h"

static const struct target_name {
    const char *name, *extension;
    enum backend_language language;
} target_names[] = {
    {"cuda", ".cu", BACKEND_CUDA},
    {"opencl", ".cl", BACKEND_OPENCL},
    {"c", ".c", BACKEND_C},
};
enum { TARGETS = sizeof target_names / sizeof target_names[0] };

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), n = strlen(end);
    return length > n && strcmp(text + length - n, end) == 0;
}

/* --target, or else what the output's extension says; NULL when neither tells. */
static const struct target_name *chosen_target(const struct options *options) {
    for (size_t i = 0; i < TARGETS; i++)
        if (options->target ? strcmp(options->target, target_names[i].name) == 0
                            : options->output && ends_with(options->output, target_names[i].extension))
            return &target_names[i];
    return NULL;
}

static struct generate_request request_of(struct compilation *c, const struct target_name *target) {
    bool loop = target->language == BACKEND_C || c->options->mapping == MAPPING_LOOP;
    enum fcl_device_kind kind = target->language == BACKEND_CUDA ? FCL_DEVICE_CUDA
                                : target->language == BACKEND_C  ? FCL_DEVICE_C
                                : loop                           ? FCL_DEVICE_OPENCL_CPU
                                                                 : FCL_DEVICE_OPENCL_GPU;
    return (struct generate_request){.arena = c->arena,
                                     .options = c->options,
                                     .program = c->program,
                                     .source = c->file->source,
                                     .language = target->language,
                                     .tuning = &c->tuning,
                                     .kind = fcl_device_kind_name(kind),
                                     .shared_bytes = (uint64_t)c->options->shared_bytes,
                                     .loop = loop,
                                     .diagnostics = c->diagnostics};
}

static const char *without_extension(struct arena *arena, const char *path) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    return dot && (!slash || dot > slash) && dot != path ? arena_strndup(arena, path, (size_t)(dot - path)) : path;
}

/* A file's name as make reads it. */
static void add_name(struct text *text, const char *path) {
    for (const char *p = path; *p; p++)
        text_printf(text, *p == ' ' || *p == '#' ? "\\%c" : *p == '$' ? "$%c" : "%c", *p);
}

/* OUT and its header, where it has one: FILE, all that it imports, and the tuned values; and a rule for each, so that one may go away. */
static const char *dependencies(struct compilation *c, const char *output, const char *header) {
    struct text needs, rules;
    text_init(&needs, c->arena);
    text_init(&rules, c->arena);
    for (size_t i = 0; i <= c->files.count; i++) {
        const char *path = i < c->files.count ? c->files.at[i]->path : c->tuning.lines.count ? c->tuning.path : "-";
        if (strcmp(path, "-") == 0)
            continue; /* standard input is no file */
        text_add(&needs, " ");
        add_name(&needs, path);
        add_name(&rules, path);
        text_add(&rules, ":\n");
    }
    struct text text;
    text_init(&text, c->arena);
    add_name(&text, output);
    text_printf(&text, ":%s\n", text_string(&needs));
    if (header) {
        add_name(&text, header);
        text_printf(&text, ":%s\n", text_string(&needs));
    }
    text_add(&text, text_string(&rules));
    return text_string(&text);
}

static enum exit_status write_text(struct compilation *c, const char *path, const char *text) {
    const char *why;
    if (output_write(c->arena, path, text, strlen(text), &why))
        return EXIT_GOOD;
    return driver_complain(c->options, EXIT_USAGE, "%s", why);
}

static bool is_same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Of two outputs that differ in the extension alone, the second takes away the first one's header. */
static void warn_of_other_target(struct compilation *c, const char *path, const char *heading,
                                 enum backend_language language) {
    const char *before = host_header_language(heading), *now = host_language_name(language);
    if (before && strcmp(before, now) != 0)
        driver_complain(c->options, EXIT_GOOD,
                        "%s was for %s and is now for %s: give the output of each target a name of its own", path,
                        before, now);
}

/* The header is written where nobody names it: only over one of ours. */
static bool overwrites_header(struct compilation *c, const char *path, enum backend_language language) {
    static const char beginning[] = "/* Generated by fclc ";
    enum { HEADING_LONGEST = 4096 }; /* the name of the source is in it */
    char found[HEADING_LONGEST + 1] = "";
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    size_t length = fread(found, 1, HEADING_LONGEST, file);
    fclose(file);
    if (length == 0 || strncmp(found, beginning, strlen(beginning)) == 0) {
        warn_of_other_target(c, path, found, language);
        return false;
    }
    driver_complain(c->options, EXIT_USAGE,
                    "-o %s writes %s, too, and a file of that name is there that fclc has not made", c->options->output,
                    path);
    return true;
}

/* A header of the runtime's name would include itself, and its functions have the runtime's names. */
static bool is_runtimes(struct compilation *c, const char *path) {
    const char *slash = strrchr(path, '/');
    if (strcmp(slash ? slash + 1 : path, "fcl.h") != 0)
        return false;
    driver_complain(c->options, EXIT_USAGE, "-o %s writes %s, too, and fcl.h is the runtime's header",
                    c->options->output, path);
    return true;
}

/* Would a file that is read be written over? */
static bool overwrites_source(struct compilation *c, const char *path) {
    for (size_t i = 0; i < c->files.count; i++)
        if (is_same_file(path, c->files.at[i]->path)) {
            driver_complain(c->options, EXIT_USAGE, "-o %s would write over the source", path);
            return true;
        }
    return false;
}

static enum exit_status compile(struct compilation *c, const struct target_name *target) {
    enum exit_status status = compilation_check(c, c->options->operands[0]);
    if (status != EXIT_GOOD || !compilation_is_good(c))
        return status;
    const char *header = arena_printf(c->arena, "%s.h", without_extension(c->arena, c->options->output));
    if (strcmp(c->options->output, "-") != 0 &&
        (is_runtimes(c, header) || overwrites_source(c, c->options->output) || overwrites_source(c, header) ||
         overwrites_header(c, header, target->language)))
        return EXIT_USAGE;
    struct generate_request request = request_of(c, target);
    struct generated generated = {0};
    if (!generate(&request, &generated))
        return EXIT_PROGRAM_WRONG;
    if (!generated.targets.count)
        driver_explain(c->options, EXIT_GOOD,
                       arena_printf(c->arena, "%s has no kernels, so there is nothing to run in %s",
                                    c->options->operands[0], c->options->output),
                       "what the host calls is declared by `kernel name parameters = …`");
    const char *output = c->options->output, *base = without_extension(c->arena, output);
    const char *kernels = generate_text(&request, &generated, c->options->operands[0]);
    struct host_emit_request host = {.language = target->language,
                                     .programs = generated.targets.at,
                                     .count = generated.targets.count,
                                     .kernel_source = kernels,
                                     .is_linked = c->options->ahead,
                                     .base_name = base,
                                     .source_name = c->options->operands[0],
                                     .version = FCLC_VERSION,
                                     .sources = c->sources};
    struct host_emitted emitted = host_emit(c->arena, &host);
    status = write_text(c, output, emitted.file ? emitted.file : kernels);
    if (status == EXIT_GOOD && strcmp(output, "-") != 0)
        status = write_text(c, header, emitted.header);
    if (status == EXIT_GOOD && c->options->make_dependencies && strcmp(output, "-") != 0)
        status = write_text(c, arena_printf(c->arena, "%s.d", base), dependencies(c, output, header));
    return status;
}

static enum exit_status write_python(struct compilation *c) {
    const char *output = c->options->output;
    enum exit_status status = compilation_check(c, c->options->operands[0]);
    if (status != EXIT_GOOD || !compilation_is_good(c))
        return status;
    check_later_stages(c);
    if (overwrites_source(c, output) || !compilation_is_good(c))
        return compilation_is_good(c) ? EXIT_USAGE : EXIT_PROGRAM_WRONG;
    status = write_text(c, output, python_module(c));
    if (status == EXIT_GOOD && c->options->make_dependencies)
        status = write_text(c, arena_printf(c->arena, "%s.d", without_extension(c->arena, output)),
                            dependencies(c, output, NULL));
    return status;
}

static enum exit_status finish(struct compilation *c, enum exit_status status) {
    enum exit_status found = compilation_finish(c);
    compilation_free(c);
    return status > found ? status : found;
}

enum exit_status command_compile(struct options *options) {
    if (!options->output)
        return driver_complain(options, EXIT_USAGE, "where does the output go? usage is `fclc %s`",
                               command_info[COMMAND_COMPILE].synopsis);
    if (ends_with(options->output, ".py")) {
        if (options->ahead)
            return driver_complain(options, EXIT_USAGE, "--ahead is for C and CUDA, and -o %s is a Python module",
                                   options->output);
        struct compilation *module = compilation_new(options);
        return finish(module, write_python(module));
    }
    const struct target_name *target = chosen_target(options);
    if (!target && options->target)
        return driver_complain(options, EXIT_USAGE,
                               "--target=%s runs programs, and compiles to no file; there are cuda, opencl and c",
                               options->target);
    if (!target)
        return driver_complain(
            options, EXIT_USAGE,
            "-o %s: the name must end in .cu, .cl, .c or .py, or --target=cuda|opencl|c must be given",
            options->output);
    if (options->ahead && target->language == BACKEND_OPENCL)
        return driver_complain(options, EXIT_USAGE,
                               "--ahead is for C and CUDA: OpenCL kernels are in the header as text, and the driver "
                               "compiles them");
    if (!options_mapping_fits(options, target->name)) {
        return driver_complain(options, EXIT_USAGE, "--map=%s is not for %s", options_mapping_name(options->mapping),
                               target->name);
    }
    struct compilation *c = compilation_new(options);
    return finish(c, compile(c, target));
}

/* ---- without output ---- */

/* Without --target for CUDA and for C: a GPU and a CPU, on which the prelude's functions go different
   ways. What is made for OpenCL goes one or the other. */
void check_later_stages(struct compilation *c) {
    const struct options *o = c->options;
    struct generate_request requests[TARGETS];
    size_t count = 0;
    for (size_t i = 0; i < TARGETS; i++) {
        const struct target_name *target = &target_names[i];
        bool is_wanted = o->target ? strcmp(o->target, target->name) == 0 : target->language != BACKEND_OPENCL;
        if (is_wanted && options_mapping_fits(o, target->name))
            requests[count++] = request_of(c, target);
    }
    if (count)
        (void)generate_check(requests, count); /* its answer is among the diagnostics */
}

const char *text_for_target(struct compilation *c, struct arena *arena, const char *target,
                            const struct core_global *only, struct diagnostics *diagnostics) {
    const struct target_name *found = NULL;
    for (size_t i = 0; i < TARGETS; i++)
        if (strcmp(target, target_names[i].name) == 0 && options_mapping_fits(c->options, target))
            found = &target_names[i];
    if (!found)
        return NULL;
    struct generate_request request = request_of(c, found);
    struct generated generated = {0};
    request.arena = arena;
    request.diagnostics = diagnostics;
    request.only = only ? &only : NULL;
    request.only_count = only != NULL;
    return generate(&request, &generated) ? generate_text(&request, &generated, c->file->source->path) : NULL;
}

/* ---- dumps ---- */

enum exit_status dump_later_stage(struct compilation *c, struct text *out) {
    const struct target_name *target = chosen_target(c->options);
    struct generate_request request = request_of(c, target ? target : &target_names[0]);
    request.before_passes = strcmp(c->options->dump, "ir") == 0;
    struct generated generated = {0};
    if (!generate(&request, &generated))
        return EXIT_PROGRAM_WRONG;
    bool is_target = strcmp(c->options->dump, "target") == 0;
    for (size_t i = 0; i < generated.kernels.count; i++) {
        if (is_target)
            backend_dump(out, generated.targets.at[i]);
        else
            ir_print(out, generated.kernels.at[i]);
    }
    return EXIT_GOOD;
}
