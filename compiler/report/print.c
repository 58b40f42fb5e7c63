/* A report for the terminal. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "report/advice.h"
#include "report/report.h"

const char *report_pattern_text(struct arena *arena, const struct report_access *access) {
    switch (access->pattern) {
    case REPORT_COALESCED: return access->array->place == REPORT_GLOBAL ? "coalesced" : "next to each other";
    case REPORT_SAME: return "one place for all";
    case REPORT_STRIDED: return arena_printf(arena, "%lld elements apart", (long long)access->stride);
    case REPORT_PIECES: return "in pieces";
    case REPORT_SCATTERED: return "scattered";
    case REPORT_UNKNOWN: return "not known how";
    case REPORT_OWN: return "its own";
    }
    return "";
}

struct report_printer {
    struct text *out;
    struct arena *arena;
    const struct report *report;
    const struct report_heading *heading;
    unsigned number; /* of steps, from 1 */
    int indent;      /* of the lines below a launch */
};

static void start(struct report_printer *p, int indent) { text_printf(p->out, "%*s", indent * 2, ""); }

/* A line about a launch. */
__attribute__((format(printf, 2, 3))) static void below(struct report_printer *p, const char *format, ...) {
    va_list values;
    va_start(values, format);
    start(p, p->indent);
    text_vprintf(p->out, format, values);
    va_end(values);
}

static const char *line_text(struct report_printer *p, unsigned line) {
    return line ? arena_printf(p->arena, "  (line %u)", line) : "";
}

static const char *plural(const char *number, const char *one, const char *more) {
    return strcmp(number, "1") == 0 ? one : more;
}

/* How often each element is, where that is a number. */
static const char *per_element(struct report_printer *p, const struct report_access *access) {
    struct amount elements = access->array->elements, count = access->count;
    bool is_each = access->array->place == REPORT_GLOBAL || access->array->place == REPORT_TABLE;
    if (!is_each || !amount_is_number(elements) || !amount_is_number(count) || elements.constant <= 0)
        return "";
    return arena_printf(p->arena, ", %.3g per element", count.constant / elements.constant);
}

static void print_stored(struct report_printer *p, const struct report_launch *launch) {
    for (size_t i = 0; i < launch->arrays.count; i++) {
        const struct report_array *array = launch->arrays.at[i];
        if (array->place == REPORT_GLOBAL)
            continue;
        int stages = array->buffer ? array->buffer->stages : 0;
        below(p, "%s: %s, %s elements of %s%s\n", array->name, report_place_names[array->place],
              amount_text(p->arena, array->elements), base_info[array->element].name,
              stages ? arena_printf(p->arena, ", %d stages, copied ahead", stages) : "");
    }
    if (!amount_is_zero(launch->shared_bytes))
        below(p, "shared memory of a block: %s bytes\n", amount_text(p->arena, launch->shared_bytes));
    if (launch->private_bytes)
        below(p, "arrays of a thread: %lld bytes\n", (long long)launch->private_bytes);
}

static void print_accesses(struct report_printer *p, const struct report_launch *launch) {
    for (size_t i = 0; i < launch->accesses.count; i++) {
        const struct report_access *access = &launch->accesses.at[i];
        below(p, "%s %s %s: %s of %u bytes, %s%s%s\n", report_place_names[access->array->place],
              report_use_names[access->use], access->array->name, amount_text(p->arena, access->count), access->bytes,
              report_pattern_text(p->arena, access), per_element(p, access), line_text(p, access->line));
    }
}

static void print_counts(struct report_printer *p, const struct amount *counts, int indent) {
    static const char *const words[COUNT_KINDS] = {
        [COUNT_BLOCK_BARRIERS] = "barriers of a block", [COUNT_WARP_BARRIERS] = "barriers of a warp",
        [COUNT_EXCHANGES] = "values from other lanes",  [COUNT_INTEGER] = "operations on integers",
        [COUNT_FLOATING] = "operations on floats",      [COUNT_LONG] = "long operations (divisions, roots, exp …)",
        [COUNT_PRODUCTS] = "products of matrices",
    };
    for (int i = 0; i < COUNT_KINDS; i++)
        if (!amount_is_zero(counts[i])) {
            start(p, indent);
            text_printf(p->out, "%s: %s\n", words[i], amount_text(p->arena, counts[i]));
        }
}

static void print_estimate(struct report_printer *p, const struct report_launch *launch) {
    struct report_estimate e;
    if (!p->heading->device || !report_estimate(launch, p->heading->device, &e))
        return;
    below(p,
          "estimate: %.3g us, %s; memory %.3g us (%.0f bytes), operations %.3g us, "
          "shared memory %.3g us\n",
          e.microseconds, e.bound, e.memory_us, e.moved_bytes, e.operations_us, e.shared_us);
    below(p, "occupancy: %.0f%%, %.0f %s to a multiprocessor, held by %s\n", e.occupancy * 100, e.blocks_together,
          e.blocks_together == 1 ? "block" : "blocks", e.held_by);
}

static void print_launch(struct report_printer *p, const struct report_launch *launch, unsigned line) {
    const char *iterations = amount_text(p->arena, launch->iterations);
    text_printf(p->out, "launch %s: %s %s, each by a %s%s\n", launch->name, iterations,
                plural(iterations, "iteration", "iterations"), level_names[launch->unit], line_text(p, line));
    const char *blocks = amount_text(p->arena, launch->blocks);
    below(p, "%s %s of %u %s%s\n", blocks, plural(blocks, "block", "blocks"), launch->threads,
          launch->threads == 1 ? "thread" : "threads",
          launch->turns > 1
              ? arena_printf(p->arena, ", or fewer, whose threads do %u iterations at a time", launch->turns)
              : "");
    print_stored(p, launch);
    print_accesses(p, launch);
    print_counts(p, launch->counts, p->indent);
    if (launch->reports)
        below(p, "the host waits, and reads whether a check failed\n");
    print_estimate(p, launch);
}

static void print_steps(struct report_printer *p, const report_steps *steps, int indent) {
    for (size_t i = 0; i < steps->count; i++) {
        const struct report_step *step = steps->at[i];
        start(p, indent);
        text_printf(p->out, "%u. ", ++p->number);
        switch (step->kind) {
        case STEP_ALLOCATE:
            text_printf(p->out, "allocate %s: %s bytes%s\n", step->text, amount_text(p->arena, step->bytes),
                        line_text(p, step->line));
            break;
        case STEP_READ:
            text_printf(p->out, "the host waits, and reads %s bytes of %s%s\n", amount_text(p->arena, step->bytes),
                        step->text, line_text(p, step->line));
            break;
        case STEP_SWAP: text_printf(p->out, "%s and %s exchange their memory\n", step->text, step->other); break;
        case STEP_LAUNCH:
            p->indent = indent + 2;
            print_launch(p, step->launch, step->line);
            break;
        case STEP_LOOP:
            text_printf(p->out, "loop of the host, %s turns%s%s\n", amount_text(p->arena, step->turns),
                        step->is_unrolled ? ", one after the other" : ", each", line_text(p, step->line));
            print_steps(p, &step->steps, indent + 1);
            break;
        case STEP_BRANCH:
            text_printf(p->out, "if %s%s\n", step->text, line_text(p, step->line));
            print_steps(p, &step->steps, indent + 1);
            if (step->otherwise.count) {
                start(p, indent);
                text_add(p->out, "else\n");
                print_steps(p, &step->otherwise, indent + 1);
            }
            break;
        }
    }
}

static void print_updates(struct report_printer *p) {
    const struct ir_kernel *kernel = p->report->kernel;
    for (size_t i = 0; i < kernel->updated.count; i++) {
        const struct report_update update = report_update_of(kernel, i, p->heading->sources);
        text_printf(p->out, "  update%s: %s", line_text(p, update.line), update.text);
        text_printf(p->out, update.use_line ? " in line %u\n" : "\n", update.use_line);
    }
}

/* The lines of the program that take most of the memories' time. */
static void print_advice(struct report_printer *p) {
    struct report_advice advice[ADVICE_LINES];
    size_t count = report_advise(p->arena, p->report, p->heading->device, advice);
    for (size_t i = 0; i < count; i++) {
        const struct report_advice *one = &advice[i];
        const struct report_access *access = one->access;
        bool is_global = access->array->place == REPORT_GLOBAL;
        text_printf(p->out, "%s%s, %.0f%%: %s of %s, %s %s", i ? "           " : "  dearest: ",
                    one->line ? arena_printf(p->arena, "line %u", one->line) : one->launch->name, one->share * 100,
                    report_use_names[access->use], access->array->name, amount_text(p->arena, one->units),
                    is_global ? "sectors" : "turns at banks");
        if (one->change)
            text_printf(p->out, ", %.3g times the least: %s", one->of_least, one->change);
        text_add(p->out, "\n");
    }
}

void report_print(struct text *out, const struct report *report, const struct report_heading *heading) {
    struct report_printer p = {.out = out, .arena = out->arena, .report = report, .heading = heading};
    const struct ir_kernel *kernel = report->kernel;
    text_printf(out, "%s : %s\n", kernel->name->text, report->type);
    text_printf(out, "  for %s; blocks of %d threads", heading->target, kernel->block_size);
    for (size_t i = 0; i < heading->size_count; i++) {
        const struct report_size *size = &heading->sizes[i];
        text_printf(out, "%s %s = ", i ? "," : ";", size->name);
        for (size_t k = 0; k < size->count; k++) {
            double extent = size->extents[k];
            bool is_whole = extent == floor(extent) && fabs(extent) < 1e15;
            text_printf(out, is_whole ? "%s%.0f" : "%s%.9g", k ? "x" : "", extent);
        }
    }
    text_printf(out, "%s%s\n", heading->device ? "; estimated for " : "",
                heading->device ? heading->device->title : "");
    print_updates(&p);
    print_steps(&p, &report->steps, 1);
    const struct report_total *total = &report->total;
    text_printf(out, "  in all: launches %s, waits of the host %s\n",
                amount_text(out->arena, total->of[TOTAL_LAUNCHES]), amount_text(out->arena, total->of[TOTAL_WAITS]));
    text_printf(out, "    bytes of global memory: read %s, written %s\n",
                amount_text(out->arena, total->of[TOTAL_READ_BYTES]),
                amount_text(out->arena, total->of[TOTAL_WRITTEN_BYTES]));
    if (!amount_is_zero(total->of[TOTAL_SECTORS]))
        text_printf(out, "    sectors of global memory: %s\n", amount_text(out->arena, total->of[TOTAL_SECTORS]));
    if (!amount_is_zero(total->of[TOTAL_TURNS]))
        text_printf(out, "    turns at banks of shared memory: %s\n", amount_text(out->arena, total->of[TOTAL_TURNS]));
    print_counts(&p, total->of + TOTAL_COUNTS, 2);
    print_advice(&p);
    for (size_t i = 0; i < report->names.count; i++)
        text_printf(out, "  %s%s: %s\n", i ? "       " : "where  ", report->names.at[i].name,
                    report->names.at[i].meaning);
}
