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
#include "ir/passes.h"
#include "ir/text.h"

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), n = strlen(end);
    return length > n && strcmp(text + length - n, end) == 0;
}

/* --target, or else what the output's extension says; NULL when neither tells. */
static const struct target *chosen_target(const struct options *options) {
    for (size_t i = 0; targets[i]; i++)
        if (options->target ? strcmp(options->target, targets[i]->name) == 0
                            : options->output && ends_with(options->output, targets[i]->extension))
            return targets[i];
    return NULL;
}

static struct generate_request ir_request_for(struct compilation *c, const struct target *target) {
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

static const char *without_extension(struct arena *arena, const char *path) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    return dot && (!slash || dot > slash) && dot != path ? arena_strndup(arena, path, (size_t)(dot - path)) : path;
}

/* A file's name as make reads it. */
static void add_name(struct text *text, const char *path) {
    for (const char *p = path; *p; p++)
        text_printf(text, *p == ' ' || *p == '#' ? "\\%c" : *p == '$' ? "$%c" : "%c", *p);
}

/* OUT and its header, where it has one: FILE, all that it imports, and the tuned values; and a
   rule for each, so that one may go away. */
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

/* Two outputs that differ in the extension alone have one header, which the second takes away. */
static void warn_of_other_target(struct compilation *c, const char *path, const char *heading,
                                 const struct target *target) {
    const struct target *before = host_header_target(heading);
    if (before && before != target)
        driver_complain(c->options, EXIT_GOOD,
                        "%s was for %s and is now for %s: give the output of each target a name of its own", path,
                        before->language, target->language);
}

/* The header is written where nobody names it: only over one of ours. */
static bool overwrites_header(struct compilation *c, const char *path, const struct target *target) {
    static const char beginning[] = "/* Generated by fclc ";
    enum { HEADING_LONGEST = 4096 }; /* the name of the source is in it */
    char found[HEADING_LONGEST + 1] = "";
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    size_t length = fread(found, 1, HEADING_LONGEST, file);
    fclose(file);
    if (length == 0 || strncmp(found, beginning, strlen(beginning)) == 0) {
        warn_of_other_target(c, path, found, target);
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

/* What is to be written is no file of somebody else's. `has_header`: one is written, too. */
static bool may_write(struct compilation *c, const struct target *target, const char *header, bool has_header) {
    bool is_file = strcmp(c->options->output, "-") != 0;
    if (has_header && is_runtimes(c, header))
        return false;
    if (is_file && overwrites_source(c, c->options->output))
        return false;
    return !has_header || (!overwrites_source(c, header) && !overwrites_header(c, header, target));
}

/* The code of what was generated, and its header; `from`: the program's name. */
static enum exit_status write_code(struct compilation *c, const struct generate_request *request,
                                   const struct generated *generated, const char *from) {
    const struct target *target = request->target;
    const char *output = c->options->output, *base = without_extension(c->arena, output);
    const char *header = arena_printf(c->arena, "%s.h", base);
    bool is_file = strcmp(output, "-") != 0, has_header = is_file && target->runtime;
    const char *kernels = generate_text(request, generated, from);
    struct host_emit_request host = {.target = target,
                                     .programs = generated->targets.at,
                                     .count = generated->targets.count,
                                     .kernel_source = kernels,
                                     .is_linked = c->options->ahead,
                                     .base_name = base,
                                     .source_name = from,
                                     .version = FCLC_VERSION,
                                     .sources = c->sources};
    struct host_emitted emitted = {0};
    if (target->runtime)
        emitted = host_emit(c->arena, &host);
    enum exit_status status = write_text(c, output, emitted.file ? emitted.file : kernels);
    if (status == EXIT_GOOD && has_header)
        status = write_text(c, header, emitted.header);
    if (status == EXIT_GOOD && c->options->make_dependencies && is_file)
        status =
            write_text(c, arena_printf(c->arena, "%s.d", base), dependencies(c, output, has_header ? header : NULL));
    return status;
}

static bool has_header(const struct compilation *c, const struct target *target) {
    return strcmp(c->options->output, "-") != 0 && target->runtime;
}

static enum exit_status compile(struct compilation *c, const struct target *target) {
    enum exit_status status = compilation_check(c, c->options->operands[0]);
    if (status != EXIT_GOOD || !compilation_is_good(c))
        return status;
    const char *header = arena_printf(c->arena, "%s.h", without_extension(c->arena, c->options->output));
    if (!may_write(c, target, header, has_header(c, target)))
        return EXIT_USAGE;
    struct generate_request request = request_for(c, target);
    struct generated generated = {0};
    if (!generate(&request, &generated))
        return EXIT_PROGRAM_WRONG;
    if (!generated.targets.count)
        driver_explain(c->options, EXIT_GOOD,
                       arena_printf(c->arena, "%s has no kernels, so there is nothing to run in %s",
                                    c->options->operands[0], c->options->output),
                       "what the host calls is declared by `kernel name parameters = …`");
    return write_code(c, &request, &generated, c->options->operands[0]);
}

/* ---- the IR as text ---- */

static enum exit_status write_ir(struct compilation *c, const struct target *target) {
    enum exit_status status = compilation_check(c, c->options->operands[0]);
    if (status != EXIT_GOOD || !compilation_is_good(c))
        return status;
    if (overwrites_source(c, c->options->output))
        return EXIT_USAGE;
    struct generate_request request = request_for(c, target);
    struct generated generated = {0};
    request.until = ""; /* before all passes */
    if (!generate(&request, &generated))
        return EXIT_PROGRAM_WRONG;
    struct text text;
    text_init(&text, c->arena);
    ir_write_head(&text, target->name, c->options->operands[0]);
    for (size_t i = 0; i < generated.kernels.count; i++)
        ir_write(&text, generated.kernels.at[i], c->sources);
    status = write_text(c, c->options->output, text_string(&text));
    if (status == EXIT_GOOD && c->options->make_dependencies)
        status = write_text(c, arena_printf(c->arena, "%s.d", without_extension(c->arena, c->options->output)),
                            dependencies(c, c->options->output, NULL));
    return status;
}

static enum exit_status compile_ir(struct compilation *c, const struct target *target) {
    const char *path = c->options->operands[0], *why;
    const struct source *source = source_load(c->sources, path, &why);
    if (!source)
        return driver_complain(c->options, EXIT_USAGE, "%s: %s", path, why);
    struct loaded *loaded = ARENA_NEW(c->arena, struct loaded);
    *loaded = (struct loaded){.path = path, .identity = path};
    vec_push(c->arena, &c->files, loaded);
    struct ir_file *file = ir_read(c->arena, c->symbols, c->sources, source, c->diagnostics);
    if (!file)
        return EXIT_PROGRAM_WRONG;
    const char *header = arena_printf(c->arena, "%s.h", without_extension(c->arena, c->options->output));
    if (ends_with(c->options->output, ".fclir")) {
        if (overwrites_source(c, c->options->output))
            return EXIT_USAGE;
        struct text text;
        text_init(&text, c->arena);
        ir_write_head(&text, file->target, file->from);
        for (size_t i = 0; i < file->kernels.count; i++)
            ir_write(&text, file->kernels.at[i], c->sources);
        return write_text(c, c->options->output, text_string(&text));
    }
    if (!may_write(c, target, header, has_header(c, target)))
        return EXIT_USAGE;
    struct generate_request request = ir_request_for(c, target);
    struct generated generated = {0};
    if (!generate_fits_machine(&request, file) ||
        !generate_from_ir(&request, file->kernels.at, file->kernels.count, &generated))
        return EXIT_PROGRAM_WRONG;
    return write_code(c, &request, &generated, file->from ? file->from : path);
}

/* "a, b, c", of all targets. */
static const char *listed(struct arena *arena, bool extensions) {
    struct text text;
    text_init(&text, arena);
    for (size_t i = 0; targets[i]; i++)
        text_printf(&text, "%s%s", i ? ", " : "", extensions ? targets[i]->extension : targets[i]->name);
    return text_string(&text);
}

static enum exit_status complain_of_target(struct options *options) {
    struct arena *arena = arena_new();
    enum exit_status status =
        options->target
            ? driver_complain(options, EXIT_USAGE, "--target=%s runs programs, and compiles to no file; there are %s",
                              options->target, listed(arena, false))
            : driver_complain(
                  options, EXIT_USAGE,
                  "-o %s: the name must end in one of %s, .py, .html, .fclir, or --target be given: one of %s",
                  options->output, listed(arena, true), listed(arena, false));
    arena_free(arena);
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
    if (ends_with(options->output, ".py") && ends_with(options->operands[0], ".fclir"))
        return driver_complain(options, EXIT_USAGE, "-o %s is made of a program in FCL, and %s is the IR of one",
                               options->output, options->operands[0]);
    if (ends_with(options->output, ".html"))
        return command_report(options);
    if (ends_with(options->output, ".py")) {
        if (options->ahead)
            return driver_complain(options, EXIT_USAGE, "--ahead is for C and CUDA, and -o %s is a Python module",
                                   options->output);
        struct compilation *module = compilation_new(options);
        return finish(module, write_python(module));
    }
    const struct target *target = chosen_target(options);
    bool from_ir = ends_with(options->operands[0], ".fclir"), to_ir = ends_with(options->output, ".fclir");
    if (!target && to_ir && !options->target)
        target = targets[0];
    if (!target)
        return complain_of_target(options);
    if (options->ahead && target->linked == LINK_NEVER)
        return driver_complain(
            options, EXIT_USAGE,
            !target->runtime ? "--ahead is for C and CUDA: this target has no host functions"
                             : "--ahead is for C and CUDA: OpenCL kernels are in the header as text, and the driver "
                               "compiles them");
    const char *misfit = options_misfit(options, target->name);
    if (misfit)
        return driver_complain(options, EXIT_USAGE, "%s is not for %s", misfit, target->name);
    struct compilation *c = compilation_new(options);
    return finish(c, from_ir ? compile_ir(c, target) : to_ir ? write_ir(c, target) : compile(c, target));
}

/* ---- without output ---- */

/* Without --target for CUDA and for C: a GPU and a CPU, on which the prelude's functions go different
   ways. What is made for OpenCL goes one or the other. */
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

enum exit_status dump_later_stage(struct compilation *c, struct text *out) {
    const struct target *target = chosen_target(c->options);
    struct generate_request request = request_for(c, target ? target : targets[0]);
    const char *stage = c->options->dump;
    bool is_target = strcmp(stage, "target") == 0;
    if (!is_target)
        request.until = strcmp(stage, "ir") == 0       ? ""
                        : strcmp(stage, "ir-opt") == 0 ? ir_passes[ir_pass_count - 1].name
                                                       : stage;
    struct generated generated = {0};
    if (!generate(&request, &generated))
        return EXIT_PROGRAM_WRONG;
    for (size_t i = 0; i < generated.kernels.count; i++) {
        if (is_target)
            backend_dump(out, generated.targets.at[i]);
        else
            ir_print(out, generated.kernels.at[i]);
    }
    return EXIT_GOOD;
}
