/* A report as a page: one file of HTML with a drawing for each kernel, of its launches one below the other and
   the arrays in global memory that each reads and writes. */
#include "report/report.h"

#include <string.h>

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

/* ---- the page ---- */

static const char style[] =
#include "compiler/report/page.css.inc"
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
             "not next to each other.</p>\n");
    for (size_t i = 0; i < count; i++) {
        text_add(&text, "<h2>");
        add_string(&text, reports[i]->kernel->name->text);
        text_add(&text, "</h2>\n");
        draw(&p, reports[i]);
        struct text report;
        text_init(&report, arena);
        report_print(&report, reports[i], heading);
        text_add(&text, "<pre>");
        add_string(&text, text_string(&report));
        text_add(&text, "</pre>\n");
    }
    text_printf(&text, "<p><small>Made by fclc %s.", heading->version);
    if (heading->device)
        text_add(&text, " Times are estimates, of what no launch can do better than; nothing was run.");
    text_add(&text, "</small></p>\n</body>\n</html>\n");
    return text_string(&text);
}
