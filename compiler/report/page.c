/* A report as a page: one file of HTML. For each kernel it has the dearest lines, a table of its launches, a drawing of
   the launches one below the other and the arrays in global memory that each reads and writes, and each access beside
   its line of the program, with the places of a warp's lanes. page.js lets sizes be chosen. */
#include "report/report.h"

#include <math.h>
#include <string.h>

#include "report/advice.h"

struct page {
    struct text *out;
    struct arena *arena;
    const struct report_heading *heading;
};

static void add_string(struct text *out, const char *text) {
    text = text_as_utf8(out->arena, text);
    text_add_escaped(out, text, strlen(text));
}

/* ---- the drawing ---- */

enum {
    LEFT = 10,
    BOX_WIDTH = 330,
    ARRAY_LEFT = 470,
    ARRAY_WIDTH = 170,
    ARRAY_HEIGHT = 24,
    LINE = 16, /* of text */
    GAP = 22,
    INSET = 8,
};

static void add_label(struct page *p, int x, int y, const char *class, const char *text) {
    text_printf(p->out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, y);
    add_string(p->out, text);
    text_add(p->out, "</text>\n");
}

/* All accesses of a launch to an array of global memory, together. */
struct flow {
    const struct report_array *array;
    bool is_read, is_written, is_coalesced;
};

static size_t flows_of(const struct report_launch *launch, struct flow *flows) {
    size_t count = 0;
    for (size_t i = 0; i < launch->accesses.count; i++) {
        const struct report_access *access = &launch->accesses.at[i];
        if (access->array->place != REPORT_GLOBAL)
            continue;
        size_t k = 0;
        while (k < count && flows[k].array != access->array)
            k++;
        if (k == count)
            flows[count++] = (struct flow){.array = access->array, .is_coalesced = true};
        flows[k].is_read |= access->use != REPORT_STORE;
        flows[k].is_written |= access->use != REPORT_LOAD;
        flows[k].is_coalesced &= access->pattern <= REPORT_SAME;
    }
    return count;
}

static void add_arrow(struct page *p, int from_x, int from_y, int to_x, int to_y, bool is_coalesced) {
    text_printf(p->out, "<line class=\"%s\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" marker-end=\"url(#head)\"/>\n",
                is_coalesced ? "flow" : "flow apart", from_x, from_y, to_x, to_y);
}

static int draw_launch(struct page *p, const struct report_launch *launch, int y) {
    const char *lines[8];
    size_t count = 0;
    lines[count++] = launch->name;
    lines[count++] =
        arena_printf(p->arena, "%s blocks of %u threads", amount_text(p->arena, launch->blocks), launch->threads);
    if (!amount_is_zero(launch->shared_bytes))
        lines[count++] =
            arena_printf(p->arena, "shared: %s bytes a block", amount_text(p->arena, launch->shared_bytes));
    if (launch->private_bytes)
        lines[count++] = arena_printf(p->arena, "arrays of a thread: %lld bytes", (long long)launch->private_bytes);
    if (!amount_is_zero(launch->counts[COUNT_BLOCK_BARRIERS]))
        lines[count++] =
            arena_printf(p->arena, "barriers: %s", amount_text(p->arena, launch->counts[COUNT_BLOCK_BARRIERS]));
    struct report_estimate e;
    if (p->heading->device && report_estimate(launch, p->heading->device, &e))
        lines[count++] = arena_printf(p->arena, "estimate: %.3g us (%s), occupancy %.0f%%", e.microseconds, e.bound,
                                      e.occupancy * 100);
    struct flow *flows = ARENA_ARRAY(p->arena, struct flow, launch->accesses.count + 1);
    size_t arrays = flows_of(launch, flows);
    int own = (int)count * LINE + 2 * INSET, others = (int)arrays * (ARRAY_HEIGHT + INSET);
    int height = own > others ? own : others;
    text_printf(p->out, "<rect class=\"launch\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\"/>\n", LEFT, y,
                BOX_WIDTH, height);
    for (size_t i = 0; i < count; i++)
        add_label(p, LEFT + INSET, y + INSET + (int)(i + 1) * LINE - 4, i ? "small" : "name", lines[i]);
    for (size_t i = 0; i < arrays; i++) {
        int top = y + (int)i * (ARRAY_HEIGHT + INSET), middle = top + ARRAY_HEIGHT / 2, edge = LEFT + BOX_WIDTH;
        text_printf(p->out, "<rect class=\"array\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"12\"/>\n",
                    ARRAY_LEFT, top, ARRAY_WIDTH, ARRAY_HEIGHT);
        add_label(p, ARRAY_LEFT + INSET, middle + 4, "small", flows[i].array->name);
        if (flows[i].is_read)
            add_arrow(p, ARRAY_LEFT, middle - 3, edge + 6, middle - 3, flows[i].is_coalesced);
        if (flows[i].is_written)
            add_arrow(p, edge, middle + 4, ARRAY_LEFT - 6, middle + 4, flows[i].is_coalesced);
    }
    return y + height + GAP;
}

static int draw_steps(struct page *p, const report_steps *steps, int y) {
    for (size_t i = 0; i < steps->count; i++) {
        const struct report_step *step = steps->at[i];
        const char *text = NULL;
        switch (step->kind) {
        case STEP_ALLOCATE:
        case STEP_SWAP: continue; /* the text below has them */
        case STEP_LAUNCH: y = draw_launch(p, step->launch, y); continue;
        case STEP_READ: text = arena_printf(p->arena, "the host waits, and reads %s", step->text); break;
        case STEP_LOOP: text = arena_printf(p->arena, "loop, %s turns:", amount_text(p->arena, step->turns)); break;
        case STEP_BRANCH: text = arena_printf(p->arena, "if %s:", step->text); break;
        }
        add_label(p, LEFT, y + LINE - 6, step->kind == STEP_READ ? "wait" : "small", text);
        y = draw_steps(p, &step->steps, y + LINE + INSET);
        if (step->otherwise.count) {
            add_label(p, LEFT, y + LINE - 6, "small", "else:");
            y = draw_steps(p, &step->otherwise, y + LINE + INSET);
        }
        if (step->kind != STEP_READ) {
            add_label(p, LEFT, y + LINE - 6, "small",
                      step->kind == STEP_LOOP ? "end of the loop" : "end of the branch");
            y += LINE + INSET;
        }
    }
    return y;
}

static void draw(struct page *p, const struct report *report) {
    struct text drawing, *out = p->out;
    text_init(&drawing, p->arena);
    p->out = &drawing;
    int height = draw_steps(p, &report->steps, LEFT);
    p->out = out;
    text_printf(out,
                "<svg role=\"img\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
                "xmlns=\"http://www.w3.org/2000/svg\">\n<title>",
                ARRAY_LEFT + ARRAY_WIDTH + LEFT, height, ARRAY_LEFT + ARRAY_WIDTH + LEFT, height);
    add_string(out, arena_printf(p->arena, "The launches of %s, and the arrays that they read and write",
                                 report->kernel->name->text));
    text_add(out, "</title>\n");
    text_add(out, text_string(&drawing));
    text_add(out, "</svg>\n");
}

/* ---- the lanes of a warp ---- */

enum { CELL = 17, CELL_HEIGHT = 18, COLOURS = 8, SECTOR = 32, WORD = 4, BANKS = 32 };

static int64_t floor_of(int64_t x, int64_t by) { return x / by - (x % by < 0); }

static int64_t least_place(const struct report_access *access) {
    int64_t least = INT64_MAX;
    for (int i = 0; i < REPORT_LANES; i++)
        if (access->lanes >> i & 1 && access->at[i] < least)
            least = access->at[i];
    return least;
}

/* Which turn at its bank the lane's first word has: how many other words of that bank lanes before it have. */
static int turn_of(const struct report_access *access, int lane) {
    int64_t words[REPORT_LANES], own = floor_of(access->at[lane] * access->bytes, WORD);
    int turns = 0;
    for (int i = 0; i < lane; i++) {
        int64_t word = floor_of(access->at[i] * access->bytes, WORD);
        bool is_other = access->lanes >> i & 1 && word != own && (word - own) % BANKS == 0;
        for (int k = 0; k < turns && is_other; k++)
            is_other = words[k] != word;
        if (is_other)
            words[turns++] = word;
    }
    return turns;
}

/* A cell for each lane of a warp: in global memory coloured by sector, in shared memory by turn at its bank. */
static void draw_lanes(struct page *p, const struct report_access *access) {
    bool is_global = access->array->place == REPORT_GLOBAL;
    int64_t least = least_place(access);
    text_printf(p->out, "<svg class=\"lanes\" role=\"img\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n<title>",
                REPORT_LANES * CELL, CELL_HEIGHT, REPORT_LANES * CELL, CELL_HEIGHT);
    add_string(p->out, arena_printf(p->arena, "Where the lanes of a warp %s %s", report_use_names[access->use],
                                    access->array->name));
    text_add(p->out, "</title>\n");
    for (int i = 0; i < REPORT_LANES; i++) {
        bool is_there = access->lanes >> i & 1;
        int64_t place = access->at[i] - least, byte = place * (int64_t)access->bytes;
        int colour = is_global ? (int)(byte / SECTOR % COLOURS) : turn_of(access, i) % COLOURS;
        text_printf(p->out, "<g><title>lane %d: ", i);
        if (!is_there)
            text_add(p->out, "nothing");
        else if (is_global)
            text_printf(p->out, "element + %lld, sector + %lld", (long long)place, (long long)(byte / SECTOR));
        else
            text_printf(p->out, "element + %lld, bank + %lld, turn %d", (long long)place,
                        (long long)(byte / WORD % BANKS), turn_of(access, i) + 1);
        text_printf(p->out, "</title><rect class=\"%s\" x=\"%d\" y=\"1\" width=\"%d\" height=\"%d\"/>",
                    is_there ? arena_printf(p->arena, "c%d", colour) : "idle", i * CELL, CELL - 1, CELL_HEIGHT - 2);
        if (is_there && place < 1000)
            text_printf(p->out, "<text x=\"%d\" y=\"13\">%lld</text>", i * CELL + CELL / 2, (long long)place);
        text_add(p->out, "</g>\n");
    }
    text_add(p->out, "</svg>\n");
}

/* ---- tables ---- */

/* An amount that page.js computes for the sizes that are chosen. */
static void add_amount(struct page *p, struct amount amount) {
    text_add(p->out, "<output>");
    add_string(p->out, amount_text(p->arena, amount));
    text_add(p->out, "</output>");
}

static void add_source_line(struct page *p, const struct source *source, unsigned line) {
    const char *at = (const char *)source->text, *end = at + source->length;
    for (unsigned i = 1; i < line && at < end; i++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : end;
    }
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    text_printf(p->out, "<code><b>%u</b> ", line);
    add_string(p->out, arena_strndup(p->arena, at, (size_t)((stop ? stop : end) - at)));
    text_add(p->out, "</code>");
}

/* `shown`: the line of the program that stands there already. */
static void add_access(struct page *p, const struct report_access *access, const struct source *source, unsigned line,
                       unsigned *shown) {
    bool is_global = access->array->place == REPORT_GLOBAL;
    if (access->array->place == REPORT_REGISTERS || access->array->place == REPORT_TABLE)
        return;
    line = access->line ? access->line : line;
    text_add(p->out, "<li>");
    if (line && line != *shown && source)
        add_source_line(p, source, line);
    *shown = line;
    text_printf(p->out, "<p>%s %s <b>", report_place_names[access->array->place], report_use_names[access->use]);
    add_string(p->out, access->array->name);
    text_add(p->out, "</b>, ");
    add_string(p->out, report_pattern_text(p->arena, access));
    text_add(p->out, ": ");
    add_amount(p, access->count);
    text_printf(p->out, " of %u bytes", access->bytes);
    if (access->array->place != REPORT_THREAD) {
        text_add(p->out, ", ");
        add_amount(p, access->units);
        text_add(p->out, is_global ? " sectors" : " turns at banks");
    }
    text_add(p->out, "</p>\n");
    if (access->lanes && access->array->place != REPORT_THREAD)
        draw_lanes(p, access);
    text_add(p->out, "</li>\n");
}

static void add_phases(struct page *p, const report_steps *steps, const struct source *source) {
    for (size_t i = 0; i < steps->count; i++) {
        const struct report_step *step = steps->at[i];
        if (step->launch) {
            text_add(p->out, "<h3>");
            add_string(p->out, step->launch->name);
            text_add(p->out, "</h3>\n<ol class=\"accesses\">\n");
            unsigned shown = 0;
            for (size_t k = 0; k < step->launch->accesses.count; k++)
                add_access(p, &step->launch->accesses.at[k], source, step->line, &shown);
            text_add(p->out, "</ol>\n");
        }
        add_phases(p, &step->steps, source);
        add_phases(p, &step->otherwise, source);
    }
}

static void add_totals(struct page *p, const struct report *report) {
    static const struct {
        const char *name;
        int total;
    } rows[] = {
        {"launches", TOTAL_LAUNCHES},
        {"waits of the host", TOTAL_WAITS},
        {"bytes read of global memory", TOTAL_READ_BYTES},
        {"bytes written", TOTAL_WRITTEN_BYTES},
        {"sectors of global memory", TOTAL_SECTORS},
        {"turns at banks of shared memory", TOTAL_TURNS},
        {"barriers of a block", TOTAL_COUNTS + COUNT_BLOCK_BARRIERS},
        {"operations on integers", TOTAL_COUNTS + COUNT_INTEGER},
        {"operations on floats", TOTAL_COUNTS + COUNT_FLOATING},
        {"long operations", TOTAL_COUNTS + COUNT_LONG},
    };
    text_add(p->out, "<table>\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (amount_is_zero(report->total.of[rows[i].total]))
            continue;
        text_printf(p->out, "<tr><th>%s</th><td>", rows[i].name);
        add_amount(p, report->total.of[rows[i].total]);
        text_add(p->out, "</td></tr>\n");
    }
    text_add(p->out, "</table>\n");
}

static void add_advice(struct page *p, const struct report *report, const struct source *source) {
    struct report_advice advice[ADVICE_LINES];
    size_t count = report_advise(p->arena, report, p->heading->device, advice);
    text_add(p->out, "<ol class=\"dearest\">\n");
    for (size_t i = 0; i < count; i++) {
        const struct report_advice *one = &advice[i];
        text_add(p->out, "<li>");
        if (one->line && source)
            add_source_line(p, source, one->line);
        text_printf(p->out, "<p><b>%.0f%%</b> of the time of memories: %s of <b>", one->share * 100,
                    report_use_names[one->access->use]);
        add_string(p->out, one->access->array->name);
        text_add(p->out, "</b>, ");
        add_amount(p, one->units);
        text_add(p->out, one->access->array->place == REPORT_GLOBAL ? " sectors" : " turns at banks");
        if (one->change) {
            text_printf(p->out, ", %.3g times the least. To change: ", one->of_least);
            add_string(p->out, one->change);
        } else {
            text_add(p->out, ", about as few as can be");
        }
        text_add(p->out, ".</p></li>\n");
    }
    text_add(p->out, "</ol>\n");
}

/* For page.js: what the names in amounts mean. */
static void add_names(struct page *p, const struct report *report) {
    text_add(p->out, "<dl hidden>\n");
    for (size_t i = 0; i < report->names.count; i++) {
        text_add(p->out, "<dt>");
        add_string(p->out, report->names.at[i].name);
        text_add(p->out, "</dt><dd>");
        add_string(p->out, report->names.at[i].meaning);
        text_add(p->out, "</dd>\n");
    }
    text_add(p->out, "</dl>\n");
}

static void add_kernel(struct page *p, const struct report *report) {
    struct place place;
    const struct ir_kernel *kernel = report->kernel;
    bool has_place = kernel->span.end && place_of(p->heading->sources, kernel->span.begin, &place);
    const struct source *source = has_place && !place.source->is_ours ? place.source : NULL;
    text_add(p->out, "<section>\n<h2>");
    add_string(p->out, kernel->name->text);
    text_add(p->out, "</h2>\n<div class=\"sizes\"></div>\n");
    add_totals(p, report);
    add_advice(p, report, source);
    draw(p, report);
    add_phases(p, &report->steps, source);
    add_names(p, report);
    text_add(p->out, "<details><summary>The report</summary>\n<pre>");
    struct text text;
    text_init(&text, p->arena);
    report_print(&text, report, p->heading);
    add_string(p->out, text_string(&text));
    text_add(p->out, "</pre></details>\n</section>\n");
}

/* ---- the page ---- */

static const char style[] =
#include "compiler/report/page.css.inc"
    ;
static const char script[] =
#include "compiler/report/page.js.inc"
    ;

const char *report_page(struct arena *arena, struct report *const *reports, size_t count,
                        const struct report_heading *heading) {
    struct text text;
    text_init(&text, arena);
    struct page p = {&text, arena, heading};
    text_add(&text, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    add_string(&text, arena_printf(arena, "What %s costs", heading->file));
    text_printf(&text, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", style);
    text_add(&text, "<svg width=\"0\" height=\"0\" style=\"position:absolute\"><defs><marker id=\"head\" "
                    "viewBox=\"0 0 8 8\" refX=\"6\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">"
                    "<path d=\"M0 0L8 4L0 8z\"/></marker></defs></svg>\n<h1>");
    add_string(&text, arena_printf(arena, "What %s costs", heading->file));
    text_add(&text,
             "</h1>\n<p>Boxes are launches, in the order in which the host makes them; beside each are the arrays in "
             "global memory that it reads and writes. A dashed line: neighbouring threads go to places that are "
             "not next to each other. A row of cells is a warp: each lane's place beside the least, coloured in global "
             "memory by sector, in shared memory by turn at its bank.</p>\n");
    for (size_t i = 0; i < count; i++)
        add_kernel(&p, reports[i]);
    text_printf(&text, "<p><small>Made by fclc %s.", heading->version);
    if (heading->device)
        text_add(&text, " Times are estimates, of what no launch can do better than; nothing was run.");
    text_printf(&text, "</small></p>\n<script>\n%s</script>\n</body>\n</html>\n", script);
    return text_string(&text);
}
