/* fclc report: what kernels cost. */
#include "driver/reporting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "driver/commands.h"
#include "driver/complaint.h"
#include "driver/generate.h"
#include "driver/later_stages.h"
#include "driver/output.h"
#include "report/report.h"
#include "support/edit.h"
#include "values/value.h"

/* ---- sizes: NAME=N,NAME=RxC ---- */

typedef VEC(struct report_size) sizes;

/* One of them, up to a comma; false: it is none. */
static bool read_size(struct arena *arena, const char **at, struct report_size *size) {
    size_t length = strcspn(*at, "=,");
    if (length == 0 || (*at)[length] != '=')
        return false;
    *size = (struct report_size){.name = arena_strndup(arena, *at, length)};
    const char *number = *at + length + 1;
    for (;;) {
        char *end;
        /* No other notation: the x of 0x5 is that of extents. */
        const char *digits = arena_strndup(arena, number, strspn(number, "+-.0123456789eE"));
        double value = strtod(digits, &end);
        if (end == digits || *end || !isfinite(value) || size->count == sizeof size->extents / sizeof *size->extents)
            return false;
        size->extents[size->count++] = value;
        number += end - digits;
        if (*number != 'x')
            break;
        number++;
    }
    *at = number + (*number == ',');
    return *number == '\0' || *number == ',';
}

static bool read_sizes(struct arena *arena, const char *text, sizes *all, const char **why) {
    for (const char *at = text; at && *at;) {
        struct report_size size;
        if (!read_size(arena, &at, &size)) {
            *why = arena_printf(arena, "--sizes wants NAME=N,… (of a matrix NAME=RxC), not `%s`", text);
            return false;
        }
        for (size_t i = 0; i < all->count; i++)
            if (strcmp(all->at[i].name, size.name) == 0) {
                *why = arena_printf(arena, "--sizes gives `%s` twice", size.name);
                return false;
            }
        vec_push(arena, all, size);
    }
    return true;
}

/* A name or a size that fits no parameter of any kernel, and which there are; or one that no array
   can have. Or NULL. */
static const char *wrong_size(struct arena *arena, const sizes *all, const struct generated *generated) {
    for (size_t i = 0; i < all->count; i++) {
        bool is_any = strcmp(all->at[i].name, "n") == 0; /* there may be no array */
        if (all->at[i].is_used || (is_any && !all->at[i].misfits) || generated->kernels.count == 0)
            continue;
        if (all->at[i].misfits)
            return arena_printf(
                arena,
                "--sizes: that is no size of `%s`: an array has a whole number from 0 to 2147483647 for "
                "each dimension, as in NAME=RxC, and a scalar what its type holds",
                all->at[i].name);
        struct suggestion suggestion = suggestion_for(all->at[i].name);
        struct text names;
        text_init(&names, arena);
        const struct ir_kernel *kernel = generated->kernels.at[0];
        for (size_t k = 0; k < kernel->parameters.count; k++) {
            text_printf(&names, "%s%s", k ? ", " : "", kernel->parameters.at[k].name);
            suggestion_offer(&suggestion, kernel->parameters.at[k].name);
        }
        const char *meant = suggestion.best ? arena_printf(arena, "; did you mean `%s`?", suggestion.best) : "";
        return arena_printf(arena, "--sizes: nothing of `%s` is called `%s`%s (%s; or n, the length of every array)",
                            kernel->name->text, all->at[i].name, meant, text_string(&names));
    }
    return NULL;
}

/* ---- devices ---- */

static const struct report_device *find_device(struct arena *arena, const char *name, const char **why) {
    const struct report_device *device = report_device_named(name);
    const char *reason = NULL;
    if (!device)
        device = report_device_read(arena, name, &reason);
    if (device)
        return device;
    struct text known;
    text_init(&known, arena);
    for (const struct report_device *one = report_devices; one->name; one++)
        text_printf(&known, "%s%s", one == report_devices ? "" : ", ", one->name);
    *why = arena_printf(arena, "--device=%s: %s; the table has %s", name, reason, text_string(&known));
    return NULL;
}

/* ---- reports ---- */

const char *report_text(struct compilation *c, struct arena *arena, const struct report_wish *wish,
                        struct diagnostics *diagnostics, const char **why) {
    const struct target *target = target_named(wish->target ? wish->target : "cuda");
    sizes all = {0};
    struct report_heading heading = {.file = c->file->source->path, .version = FCLC_VERSION, .sources = c->sources};
    *why = NULL;
    if (!target || options_misfit(c->options, target->name))
        *why = target ? arena_printf(arena, "%s is not for --target=%s", options_misfit(c->options, target->name),
                                     target->name)
                      : "a report is for cuda, opencl, c or hip";
    else if (wish->device && !(heading.device = find_device(arena, wish->device, why)))
        return NULL;
    if (*why || !read_sizes(arena, wish->sizes, &all, why))
        return NULL;
    heading.target = target->name;
    struct generate_request request = request_for(c, target);
    struct generated generated = {0};
    request.arena = arena;
    request.diagnostics = diagnostics;
    request.only = wish->only ? &wish->only : NULL;
    request.only_count = wish->only != NULL;
    struct report **reports = NULL;
    for (bool is_again = true; is_again;) {
        generated = (struct generated){0};
        if (!generate(&request, &generated))
            return NULL;
        reports = ARENA_ARRAY(arena, struct report *, generated.kernels.count + 1);
        is_again = false;
        for (size_t i = 0; i < generated.kernels.count; i++) {
            struct report_request one = {arena, c->sources, generated.targets.at[i], all.at, all.count};
            reports[i] = report_of(&one);
            reports[i]->type = scheme_spelling(arena, generated.globals.at[i]->scheme);
            is_again |= reports[i]->is_large && !request.is_large;
        }
        request.is_large = is_again;
    }
    if ((*why = wrong_size(arena, &all, &generated)))
        return NULL;
    heading.sizes = all.at;
    heading.size_count = all.count;
    if (wish->form == REPORT_AS_JSON)
        return report_json(arena, reports, generated.kernels.count, &heading);
    if (wish->form == REPORT_AS_PAGE)
        return report_page(arena, reports, generated.kernels.count, &heading);
    struct text text;
    text_init(&text, arena);
    for (size_t i = 0; i < generated.kernels.count; i++) {
        text_add(&text, i ? "\n" : "");
        report_print(&text, reports[i], &heading);
    }
    return text_string(&text);
}

const struct target_program *report_program(struct compilation *c, struct arena *arena,
                                            const struct core_global *kernel, struct diagnostics *diagnostics) {
    struct options *unchecked = ARENA_NEW(arena, struct options);
    struct generate_request request = request_for(c, target_named("cuda"));
    struct generated generated = {0};
    *unchecked = *c->options;
    unchecked->check = DEGREE_NONE;
    request.options = unchecked;
    request.arena = arena;
    request.diagnostics = diagnostics;
    request.only = &kernel;
    request.only_count = 1;
    return generate(&request, &generated) ? generated.targets.at[0] : NULL;
}

/* A report that was written before; NULL, with a message printed: it cannot be read. */
static yyjson_val *read_baseline(struct compilation *c) {
    const char *path = c->options->baseline, *why;
    struct value_bytes bytes;
    yyjson_val *then = NULL;
    if (value_read_file(c->arena, path, &bytes, &why))
        then = json_read(c->arena, (const char *)bytes.at, bytes.length, &why);
    if (!then)
        driver_complain(c->options, EXIT_USAGE, "%s: %s", path, why);
    return then;
}

/* Prints what differs from the baseline: in place of the report, or, where that is JSON, on stderr. */
static enum exit_status compare(struct compilation *c, const char *json) {
    report_differences all = {0};
    const char *why;
    yyjson_val *then = read_baseline(c), *now = json_read(c->arena, json, strlen(json), &why);
    if (!then)
        return EXIT_USAGE;
    if ((why = report_compare(c->arena, then, now, &all)))
        return driver_complain(c->options, EXIT_USAGE, "%s: %s", c->options->baseline, why);
    FILE *out = c->options->json && !c->options->output ? stderr : stdout;
    size_t grew = 0;
    for (size_t i = 0; i < all.count; i++) {
        const struct report_difference *one = &all.at[i];
        grew += one->change == REPORT_GREW;
        if (one->change == REPORT_NEW)
            fprintf(out, "%s: is new\n", one->kernel);
        else
            fprintf(out, "%s: %s: %s, and %s before: %s\n", one->kernel, one->total, one->now, one->then,
                    one->change == REPORT_GREW ? "more" : "less");
    }
    if (grew == 0)
        fprintf(out, "no amount grew\n");
    return grew ? EXIT_PROGRAM_WRONG : EXIT_GOOD;
}

static enum exit_status report(struct compilation *c, struct options *options) {
    enum exit_status status = compilation_check(c, options->operands[0]);
    if (status != EXIT_GOOD || !compilation_is_good(c))
        return status;
    if (options->output && compilation_overwrites(c, "-o", options->output))
        return EXIT_USAGE;
    const struct program_ir *ir = c->program->ir;
    struct report_wish wish = {.target = options->target || !ir ? options->target : ir->target,
                               .sizes = options->sizes,
                               .device = options->device,
                               .form = options->json     ? REPORT_AS_JSON
                                       : options->output ? REPORT_AS_PAGE
                                                         : REPORT_AS_TEXT};
    if (options->operand_count > 1 && !(wish.only = compilation_kernel(c)))
        return EXIT_USAGE;
    bool is_shown = !options->baseline || wish.form != REPORT_AS_TEXT;
    if (!is_shown)
        wish.form = REPORT_AS_JSON;
    const char *why, *text = report_text(c, c->arena, &wish, c->diagnostics, &why), *json = text;
    if (text && options->baseline && wish.form == REPORT_AS_PAGE) {
        wish.form = REPORT_AS_JSON;
        json = report_text(c, c->arena, &wish, c->diagnostics, &why);
    }
    if (!json)
        return why ? driver_complain(options, EXIT_USAGE, "%s", why) : EXIT_PROGRAM_WRONG;
    if (is_shown && !output_write(c->arena, options->output ? options->output : "-", text, strlen(text), &why))
        return driver_complain(options, EXIT_USAGE, "%s", why);
    return options->baseline ? compare(c, json) : EXIT_GOOD;
}

enum exit_status command_report(struct options *options) {
    struct compilation *c = compilation_new(options);
    return compilation_end(c, report(c, options));
}
