/* A report beside one that `--json` wrote before: which totals grew. Amounts that depend on sizes are compared at some
   sizes, each of which stands for the names in them. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "support/hash.h"

/* ---- amounts as text ---- */

enum { ROUNDS = 16 };

struct amount_reader {
    const char *at;
    size_t round;
    bool is_wrong;
};

/* In the first half of the rounds all names are one size; later each is another. */
static double size_of_name(const struct amount_reader *r, const char *name, size_t length) {
    static const double sizes[] = {1, 32, 33, 256, 1000, 4097, 65536, 1000003};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    return sizes[(r->round + (r->round < SIZES ? 0 : hash_bytes(HASH_SEED, name, length) % SIZES)) % SIZES];
}

static double read_sum(struct amount_reader *r);

static bool takes(struct amount_reader *r, const char *token) {
    while (*r->at == ' ')
        r->at++;
    size_t length = strlen(token);
    bool is_there = strncmp(r->at, token, length) == 0;
    r->at += is_there ? length : 0;
    return is_there;
}

static double read_bracket(struct amount_reader *r) {
    double inner = read_sum(r);
    r->is_wrong |= !takes(r, ")");
    return inner;
}

static double read_factor(struct amount_reader *r) {
    if (takes(r, "ceil("))
        return ceil(read_bracket(r));
    if (takes(r, "floor("))
        return floor(read_bracket(r));
    if (takes(r, "("))
        return read_bracket(r);
    if (takes(r, "-"))
        return -read_factor(r);
    if (isdigit((unsigned char)*r->at)) {
        char *end;
        double number = strtod(r->at, &end);
        r->at = end;
        return number;
    }
    const char *name = r->at;
    while (isalnum((unsigned char)*r->at) || (*r->at && strchr("_'.!", *r->at)))
        r->at++;
    r->is_wrong |= r->at == name;
    return size_of_name(r, name, (size_t)(r->at - name));
}

static double read_product(struct amount_reader *r) {
    double product = read_factor(r);
    while (!r->is_wrong)
        if (takes(r, "*"))
            product *= read_factor(r);
        else if (takes(r, "/"))
            product /= fmax(read_factor(r), 1);
        else
            break;
    return product;
}

static double read_sum(struct amount_reader *r) {
    double sum = read_product(r);
    while (!r->is_wrong)
        if (takes(r, "+"))
            sum += read_product(r);
        else if (takes(r, "-"))
            sum -= read_product(r);
        else
            break;
    return sum;
}

/* At the sizes of a round; false: it is written in another way than amounts are. */
static bool value_of(const char *text, size_t round, double *value) {
    struct amount_reader r = {.at = text, .round = round};
    takes(&r, "at most ");
    takes(&r, "about ");
    *value = read_sum(&r);
    return !r.is_wrong && *r.at == '\0';
}

static enum report_change change_of(const char *then, const char *now) {
    bool is_less = false;
    if (strcmp(then, now) == 0)
        return REPORT_EQUAL;
    for (size_t round = 0; round < ROUNDS; round++) {
        double before, after;
        if (!value_of(then, round, &before) || !value_of(now, round, &after))
            return REPORT_GREW;
        double noise = 1e-9 * fmax(fabs(before), fabs(after));
        if (after > before + noise)
            return REPORT_GREW;
        is_less |= after < before - noise;
    }
    return is_less ? REPORT_SHRANK : REPORT_EQUAL;
}

/* ---- reports ---- */

static yyjson_val *kernel_named(yyjson_val *report, const char *name) {
    yyjson_val *kernel;
    size_t i, count;
    yyjson_arr_foreach(yyjson_obj_get(report, "kernels"), i, count, kernel) {
        const char *other = yyjson_get_str(yyjson_obj_get(kernel, "name"));
        if (other && strcmp(other, name) == 0)
            return kernel;
    }
    return NULL;
}

static const char *text_of(yyjson_val *amount) {
    const char *text = yyjson_get_str(yyjson_obj_get(amount, "text"));
    return text ? text : "0";
}

static void compare_totals(struct arena *arena, const char *kernel, yyjson_val *then, yyjson_val *now,
                           report_differences *all) {
    yyjson_val *name, *amount;
    size_t i, count;
    yyjson_obj_foreach(yyjson_obj_get(now, "total"), i, count, name, amount) {
        yyjson_val *before = yyjson_obj_get(yyjson_obj_get(then, "total"), yyjson_get_str(name));
        struct report_difference one = {kernel, yyjson_get_str(name), text_of(before), text_of(amount), REPORT_EQUAL};
        one.change = before ? change_of(one.then, one.now) : REPORT_EQUAL;
        if (one.change != REPORT_EQUAL)
            vec_push(arena, all, one);
    }
}

const char *report_compare(struct arena *arena, yyjson_val *then, yyjson_val *now, report_differences *all) {
    const char *format = yyjson_get_str(yyjson_obj_get(then, "format"));
    if (!format || strcmp(format, "fclc report") != 0)
        return "this is not what `fclc report --json` writes";
    if (!yyjson_equals(yyjson_obj_get(then, "target"), yyjson_obj_get(now, "target")))
        return "it is a report for another --target";
    if (!yyjson_equals(yyjson_obj_get(then, "sizes"), yyjson_obj_get(now, "sizes")))
        return "it is a report with other --sizes";
    yyjson_val *kernel;
    size_t i, count;
    yyjson_arr_foreach(yyjson_obj_get(now, "kernels"), i, count, kernel) {
        const char *name = yyjson_get_str(yyjson_obj_get(kernel, "name"));
        yyjson_val *before = kernel_named(then, name);
        if (before)
            compare_totals(arena, name, before, kernel, all);
        else
            vec_push(arena, all, ((struct report_difference){.kernel = name, .change = REPORT_NEW}));
    }
    return NULL;
}
