/* The dearest lines of a program; see advice.h. */
#include "report/advice.h"

#include <math.h>
#include <stdlib.h>

enum { SECTOR = 32 /* bytes */, WARP = 32, WORD = 4 /* bytes */ };
#define A_NAME 0x1p20 /* what a name counts as, where sizes were not given */
#define MUCH 1.25     /* so much more than the least is worth a word */

double report_weight(struct amount amount) {
    double weight = amount.constant;
    for (size_t i = 0; i < amount.count; i++) {
        double term = amount.terms[i].factor;
        for (unsigned k = 0; k < amount.terms[i].count; k++)
            term *= A_NAME;
        weight += term;
    }
    return fmax(weight, 0);
}

double report_least_units(const struct report_access *access, double elements) {
    if (access->array->place == REPORT_GLOBAL)
        return elements * access->bytes / SECTOR;
    return elements / WARP * (access->bytes > 2 * WORD ? 4 : access->bytes > WORD ? 2 : 1);
}

static const char *change_for(struct arena *arena, const struct report_access *access) {
    bool is_global = access->array->place == REPORT_GLOBAL;
    switch (access->pattern) {
    case REPORT_STRIDED:
        return is_global
                   ? arena_printf(arena,
                                  "neighbouring threads are %lld elements apart: let them have elements next to each "
                                  "other, by the other order of two maps, or by a tile in shared memory",
                                  (long long)access->stride)
                   : arena_printf(arena,
                                  "neighbouring threads are %lld elements apart, and meet at banks: rows of one "
                                  "element more part them",
                                  (long long)access->stride);
    case REPORT_SCATTERED:
        return is_global ? "data say where: sort what says so, or gather from a tile in shared memory"
                         : "data say where: copies for each warp, or sorted data, part them";
    case REPORT_UNKNOWN:
        return "where threads go was not taken apart: an index of sums and products of constants would show it";
    case REPORT_PIECES:
        return is_global ? "threads go by pieces: let a warp have elements next to each other, from a whole sector on"
                         : "threads go by pieces, which meet at banks: rows of one element more part them";
    default:
        return is_global
                   ? "warps have few elements next to each other, or begin amid a sector: let tiles be whole sectors"
                   : NULL;
    }
}

static int by_share(const void *a, const void *b) {
    const struct report_advice *x = a, *y = b;
    return (x->share < y->share) - (x->share > y->share);
}

typedef VEC(struct report_advice) all_lines;

struct adviser {
    struct arena *arena;
    double sector_us, turn_us;
    all_lines lines;
    double total;
};

static void add_access(struct adviser *a, const struct report_launch *launch, const struct report_access *access,
                       unsigned line) {
    enum report_place place = access->array->place;
    bool is_global = place == REPORT_GLOBAL;
    if (!is_global && place != REPORT_SHARED && place != REPORT_SHARED_WARP)
        return;
    double cost = report_weight(access->units) * (is_global ? a->sector_us : a->turn_us);
    line = access->line ? access->line : line;
    a->total += cost;
    size_t i = 0;
    while (i < a->lines.count && (a->lines.at[i].line != line || a->lines.at[i].launch != launch ||
                                  (a->lines.at[i].access->array->place == REPORT_GLOBAL) != is_global))
        i++;
    if (i == a->lines.count)
        vec_push(a->arena, &a->lines, (struct report_advice){.line = line, .launch = launch});
    struct report_advice *one = &a->lines.at[i];
    bool is_dearer = !one->access || report_weight(access->units) > report_weight(one->access->units);
    one->access = is_dearer ? access : one->access;
    one->units = amount_sum(a->arena, one->units, access->units);
    one->share += cost;
}

static void add_steps(struct adviser *a, const report_steps *steps) {
    for (size_t i = 0; i < steps->count; i++) {
        const struct report_step *step = steps->at[i];
        for (size_t k = 0; step->launch && k < step->launch->accesses.count; k++)
            add_access(a, step->launch, &step->launch->accesses.at[k], step->line);
        add_steps(a, &step->steps);
        add_steps(a, &step->otherwise);
    }
}

size_t report_advise(struct arena *arena, const struct report *report, const struct report_device *device,
                     struct report_advice advice[ADVICE_LINES]) {
    device = device ? device : report_device_named("h100");
    struct adviser a = {.arena = arena,
                        .sector_us = SECTOR / (device->gigabytes * 1e3),
                        .turn_us = 1 / (device->multiprocessors * device->gigahertz * 1e3)};
    add_steps(&a, &report->steps);
    if (a.lines.count == 0)
        return 0;
    qsort(a.lines.at, a.lines.count, sizeof *a.lines.at, by_share);
    size_t count = a.lines.count < ADVICE_LINES ? a.lines.count : ADVICE_LINES;
    for (size_t i = 0; i < count; i++) {
        struct report_advice *one = &a.lines.at[i];
        one->share = a.total > 0 ? one->share / a.total : 0;
        double units = report_weight(one->access->units);
        bool is_compared = one->access->pattern != REPORT_SAME && units > WARP &&
                           one->access->units.count <= one->access->count.count; /* else turns of loops are in one */
        double least = is_compared ? report_least_units(one->access, report_weight(one->access->count)) : 0;
        one->of_least = least > 0 ? fmax(1, units / least) : 1;
        one->change = one->of_least > MUCH ? change_for(arena, one->access) : NULL;
        advice[i] = *one;
    }
    return count;
}
