/* Costs: see cost.h. The report's amounts without sizes are compared with the formula term by term: that is a proof.
   Where the report says less, both are computed at some sizes. */
#include "tools/cost.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "driver/later_stages.h"
#include "driver/reporting.h"
#include "report/report.h"
#include "support/edit.h"

/* ---- what can be said ---- */

enum { COST_SHARED = TOTAL_KINDS };
static const struct {
    const char *name;
    int total; /* enum report_total_kind, or COST_SHARED */
} items[] = {
    {"launches", TOTAL_LAUNCHES},
    {"waits", TOTAL_WAITS},
    {"read", TOTAL_READ_BYTES},
    {"written", TOTAL_WRITTEN_BYTES},
    {"sectors", TOTAL_SECTORS},
    {"turns", TOTAL_TURNS},
    {"barriers", TOTAL_COUNTS + COUNT_BLOCK_BARRIERS},
    {"shared", COST_SHARED},
    {"atomics", TOTAL_ATOMICS},
    {"floats", TOTAL_COUNTS + COUNT_FLOATING},
    {"ints", TOTAL_COUNTS + COUNT_INTEGER},
};
enum { ITEMS = sizeof items / sizeof *items };

static struct amount cost_of(struct arena *arena, const struct report *report, int total) {
    return total == COST_SHARED ? report_most_shared(arena, &report->steps) : report->total.of[total];
}

/* ---- formulas ---- */

struct formula {
    struct arena *arena;
    struct symbols *symbols;
    const struct ir_kernel *kernel;
    const struct report_size *sizes; /* what names stand for; NULL: for themselves */
    size_t size_count;
    const char *at;
    const char *why;
    bool has_every; /* `n`, the length of every array */
};

static struct amount read_sum(struct formula *f);

static void skip_blanks(struct formula *f) {
    while (isspace((unsigned char)*f->at))
        f->at++;
}

static bool takes(struct formula *f, char sign) {
    skip_blanks(f);
    bool is_there = *f->at == sign;
    f->at += is_there;
    return is_there;
}

/* The parameter by which the compiler knows the size of that name: a scalar, an extent, or an array's only one. NULL:
   there is none. */
static const char *parameter_named(const struct ir_kernel *kernel, const char *name) {
    const char *of_array = NULL;
    for (size_t i = 0; i < kernel->parameters.count; i++) {
        const struct ir_parameter *one = &kernel->parameters.at[i];
        if (strcmp(one->name, name) != 0)
            continue;
        if (one->kind != IR_PARAMETER_BUFFER)
            return one->name;
        size_t lengths = 0;
        for (size_t k = 0; k < kernel->parameters.count; k++)
            if (kernel->parameters.at[k].kind == IR_PARAMETER_LENGTH &&
                kernel->parameters.at[k].argument == one->argument) {
                of_array = kernel->parameters.at[k].name;
                lengths++;
            }
        of_array = lengths == 1 ? of_array : NULL;
    }
    return of_array;
}

static const char *only_length(const struct ir_kernel *kernel) {
    const char *only = NULL;
    for (size_t i = 0; i < kernel->parameters.count; i++)
        if (kernel->parameters.at[i].kind == IR_PARAMETER_LENGTH) {
            if (only)
                return NULL;
            only = kernel->parameters.at[i].name;
        }
    return only;
}

static struct amount read_name(struct formula *f) {
    const char *begin = f->at;
    while (isalnum((unsigned char)*f->at) || *f->at == '_' || *f->at == '\'')
        f->at++;
    const char *name = arena_strndup(f->arena, begin, (size_t)(f->at - begin));
    const char *parameter = parameter_named(f->kernel, name);
    if (!parameter && strcmp(name, "n") == 0) {
        const char *only = only_length(f->kernel);
        f->has_every = true;
        parameter = only ? only : name;
    }
    if (!parameter) {
        struct text names;
        struct suggestion suggestion = suggestion_for(name);
        text_init(&names, f->arena);
        for (size_t i = 0; i < f->kernel->parameters.count; i++) {
            const char *one = f->kernel->parameters.at[i].name;
            suggestion_offer(&suggestion, one);
            text_printf(&names, "%s%s", i ? ", " : "", one);
        }
        f->why = suggestion.best ? arena_printf(f->arena, "`%s` has no size `%s`; did you mean `%s`?",
                                                f->kernel->name->text, name, suggestion.best)
                                 : arena_printf(f->arena, "`%s` has no size `%s` (%s; or n, the length of every array)",
                                                f->kernel->name->text, name, text_string(&names));
        return amount_number(0);
    }
    for (size_t i = 0; i < f->size_count; i++)
        if (strcmp(f->sizes[i].name, parameter) == 0)
            return amount_number(f->sizes[i].extents[0]);
    return amount_name(f->arena, symbol_of(f->symbols, parameter));
}

/* ceil(a / b), behind its bracket; named as the report names it. */
static struct amount read_ceiling(struct formula *f) {
    struct amount a = read_sum(f), b = amount_number(1);
    if (!f->why && !takes(f, '/'))
        f->why = "`ceil` is of a quotient, as in `ceil(n / 256)`";
    if (!f->why)
        b = read_sum(f);
    if (!f->why && !takes(f, ')'))
        f->why = "a bracket of `ceil` is not closed";
    if (f->why)
        return amount_number(0);
    if (amount_is_number(b) && b.constant <= 0) {
        f->why = "`ceil` divides by what is not above 0";
        return amount_number(0);
    }
    if (amount_is_number(b))
        return amount_ceiling(f->arena, f->symbols, a, b.constant);
    const char *of = amount_closed(f->arena, amount_text(f->arena, a), " "),
               *by = amount_closed(f->arena, amount_text(f->arena, b), " *");
    return amount_name(f->arena, symbol_of(f->symbols, arena_printf(f->arena, "ceil(%s / %s)", of, by)));
}

static struct amount read_factor(struct formula *f) {
    skip_blanks(f);
    if (strncmp(f->at, "ceil(", 5) == 0) {
        f->at += 5;
        return read_ceiling(f);
    }
    if (isdigit((unsigned char)*f->at)) {
        double number = 0;
        while (isdigit((unsigned char)*f->at))
            number = 10 * number + (*f->at++ - '0');
        return amount_number(number);
    }
    if (isalpha((unsigned char)*f->at))
        return read_name(f);
    if (takes(f, '(')) {
        struct amount inner = read_sum(f);
        if (!f->why && !takes(f, ')'))
            f->why = "a bracket is not closed";
        return inner;
    }
    f->why = arena_printf(f->arena, "a number, a name or a bracket is wanted, not `%.16s`", f->at);
    return amount_number(0);
}

static struct amount read_product(struct formula *f) {
    struct amount product = read_factor(f);
    while (!f->why && takes(f, '*'))
        product = amount_product(f->arena, f->symbols, product, read_factor(f));
    return product;
}

static struct amount read_sum(struct formula *f) {
    struct amount sum = read_product(f);
    while (!f->why) {
        double sign = takes(f, '+') ? 1 : takes(f, '-') ? -1 : 0;
        if (sign == 0)
            break;
        struct amount next = read_product(f);
        sum = amount_sum(f->arena, sum, amount_product(f->arena, f->symbols, next, amount_number(sign)));
    }
    return sum;
}

static struct amount formula_of(struct formula *f, const char *text) {
    f->at = text;
    struct amount amount = read_sum(f);
    skip_blanks(f);
    if (!f->why && *f->at)
        f->why = arena_printf(f->arena, "`%.16s` follows a formula; its signs are + - * and ceil(a / b)", f->at);
    return amount;
}

/* ---- an item ---- */

struct item {
    const char *name, *formula;
    int total;
    bool is_most; /* `<=` */
};
typedef VEC(struct item) item_list;

static const char *read_item(struct arena *arena, const char *text, struct item *item) {
    const char *sign = strstr(text, "=="), *most = strstr(text, "<=");
    item->is_most = !sign;
    sign = sign ? sign : most;
    if (!sign)
        return arena_printf(arena, "`%s` is neither NAME == FORMULA nor NAME <= FORMULA", text);
    const char *at = text;
    item->name = directive_next_word(arena, &at);
    item->formula = sign + 2;
    struct suggestion suggestion = suggestion_for(item->name);
    for (int i = 0; i < ITEMS; i++) {
        if (strcmp(item->name, items[i].name) == 0) {
            item->total = items[i].total;
            return NULL;
        }
        suggestion_offer(&suggestion, items[i].name);
    }
    struct text names;
    text_init(&names, arena);
    for (int i = 0; i < ITEMS; i++)
        text_printf(&names, "%s%s", i ? ", " : "", items[i].name);
    return suggestion.best
               ? arena_printf(arena, "no cost is called `%s`; did you mean `%s`?", item->name, suggestion.best)
               : arena_printf(arena, "no cost is called `%s`; they are %s", item->name, text_string(&names));
}

/* Those between commas outside of brackets. */
static const char *read_items(struct arena *arena, const char *text, item_list *all) {
    for (const char *at = text; *at;) {
        const char *end = at;
        for (int depth = 0; *end && (depth > 0 || *end != ','); end++)
            depth += (*end == '(') - (*end == ')');
        struct item item = {0};
        while (isspace((unsigned char)*at))
            at++;
        const char *wrong = read_item(arena, arena_strndup(arena, at, (size_t)(end - at)), &item);
        if (wrong)
            return wrong;
        vec_push(arena, all, item);
        at = end + (*end == ',');
    }
    return all->count ? NULL : "no cost is said";
}

/* The amount with the names of these symbols. */
static struct amount renamed(struct arena *arena, struct symbols *symbols, struct amount amount) {
    struct amount result = amount;
    result.terms = ARENA_ARRAY(arena, struct amount_term, amount.count + 1);
    for (size_t i = 0; i < amount.count; i++) {
        result.terms[i] = amount.terms[i];
        for (unsigned k = 0; k < amount.terms[i].count; k++)
            result.terms[i].names[k] = symbol_of(symbols, amount.terms[i].names[k]->text);
    }
    return result;
}

/* True if the item holds for all sizes: no name is negative. Never so of sectors and turns that there are: the
   report counts the last warp of an array, which may be incomplete, as a share of a full one. */
static bool is_proved(struct formula *f, const struct item *item, struct amount cost, struct amount said) {
    struct amount over = amount_sum(
        f->arena, said, amount_product(f->arena, f->symbols, renamed(f->arena, f->symbols, cost), amount_number(-1)));
    bool is_by_warps = (item->total == TOTAL_SECTORS || item->total == TOTAL_TURNS) && !amount_is_zero(cost);
    if (cost.is_about || is_by_warps || (cost.is_most && !item->is_most))
        return false;
    bool is_never_less = over.constant >= 0;
    for (size_t i = 0; i < over.count; i++)
        is_never_less = is_never_less && over.terms[i].factor >= 0;
    return item->is_most ? is_never_less : over.count == 0 && over.constant == 0;
}

/* ---- sizes ---- */

static const double tried_sizes[] = {0, 1, 2, 31, 32, 33, 255, 256, 257, 1000, 1024, 4097, 65536, 1000003};
enum { SIZES = sizeof tried_sizes / sizeof *tried_sizes, ROUNDS = 2 * SIZES };

/* All of the same size, or, in the second half of the rounds, of others. */
static struct report_size *sizes_of_round(struct arena *arena, const struct ir_kernel *kernel, size_t round,
                                          size_t *count) {
    struct report_size *sizes = ARENA_ARRAY(arena, struct report_size, kernel->parameters.count + 1);
    double elements = 1;
    *count = 0;
    for (size_t i = 0; i < kernel->parameters.count; i++) {
        const struct ir_parameter *parameter = &kernel->parameters.at[i];
        if (parameter->kind == IR_PARAMETER_BUFFER)
            continue;
        size_t which = (round + (round >= SIZES ? 5 * i : 0)) % SIZES;
        double size = tried_sizes[which];
        if (parameter->kind == IR_PARAMETER_SCALAR) {
            const struct base_info *info = &base_info[parameter->value->base];
            size = info->is_floating ? 1 : fmin(size, info->bits < 16 ? 1 : 4097);
        }
        elements = parameter->kind == IR_PARAMETER_LENGTH && parameter->dimension > 0 ? elements * size : size;
        if (elements > INT32_MAX)
            size = 33;
        sizes[(*count)++] = (struct report_size){.name = parameter->name, .extents = {size}, .count = 1};
    }
    return sizes;
}

static const char *sizes_text(struct arena *arena, const struct report_size *sizes, size_t count) {
    struct text text;
    text_init(&text, arena);
    for (size_t i = 0; i < count; i++)
        text_printf(&text, "%s%s = %.0f", i ? ", " : "", sizes[i].name, sizes[i].extents[0]);
    return text_string(&text);
}

struct costing {
    struct compilation *c;
    struct arena *arena;
    const struct target_program *program;
};

static struct report *report_at(const struct costing *k, struct report_size *sizes, size_t count) {
    struct report_request request = {k->arena, k->c->sources, k->program, sizes, count};
    return report_of(&request);
}

/* True of items that hold where something is launched: nothing is, for arrays without elements. */
static bool is_of_launches(const struct item *item) {
    return item->total == TOTAL_LAUNCHES || item->total == TOTAL_WAITS || item->total == COST_SHARED;
}

/* Compares at some sizes; NULL: it holds there. */
static const char *try_sizes(const struct costing *k, const struct item *item, bool has_every, size_t *tried) {
    for (size_t round = 0; round < (has_every ? SIZES : ROUNDS); round++) {
        size_t count;
        struct report_size *sizes = sizes_of_round(k->arena, k->program->kernel, round, &count);
        struct report *report = report_at(k, sizes, count);
        if (report->is_large || (is_of_launches(item) && amount_is_zero(report->total.of[TOTAL_LAUNCHES])))
            continue;
        struct report_size every = {.name = "n", .extents = {tried_sizes[round % SIZES]}, .count = 1};
        sizes[count] = every;
        struct formula f = {.arena = k->arena,
                            .symbols = symbols_new(k->arena),
                            .kernel = k->program->kernel,
                            .sizes = sizes,
                            .size_count = count + has_every};
        struct amount said = formula_of(&f, item->formula), cost = cost_of(k->arena, report, item->total);
        bool is_known = amount_is_number(cost) && (item->is_most || (!cost.is_most && !cost.is_about));
        bool holds = item->is_most ? cost.constant <= said.constant : cost.constant == said.constant;
        ++*tried;
        if (is_known && holds)
            continue;
        return arena_printf(k->arena, "%s is %s, %sand%s is %s, for %s", item->name, amount_text(k->arena, cost),
                            is_known ? "" : "which is not known better, ", item->formula, amount_text(k->arena, said),
                            sizes_text(k->arena, sizes, count));
    }
    return NULL;
}

static const char *check_item(const struct costing *k, const struct report *report, const struct item *item,
                              size_t *tried) {
    struct formula f = {
        .arena = k->arena, .symbols = symbols_new(k->arena), .kernel = k->program->kernel, .size_count = 0};
    struct amount said = formula_of(&f, item->formula), cost = cost_of(k->arena, report, item->total);
    if (f.why)
        return f.why;
    return is_proved(&f, item, cost, said) ? NULL : try_sizes(k, item, f.has_every, tried);
}

const char *cost_check(struct compilation *c, struct arena *arena, const struct directive *directive, size_t *tried) {
    item_list all = {0};
    struct suggestion suggestion = suggestion_for(directive->kernel);
    const struct core_global *kernel = kernel_of_file(c, directive->kernel, &suggestion);
    const char *wrong = kernel ? read_items(arena, directive->wanted, &all) : NULL;
    *tried = 0;
    if (!kernel)
        return no_kernel_of_file(arena, directive->kernel, &suggestion);
    if (wrong)
        return wrong;
    struct diagnostics *diagnostics = diagnostics_new(arena, c->sources);
    struct costing k = {c, arena, report_program(c, arena, kernel, diagnostics)};
    if (!k.program)
        return arena_printf(arena, "it cannot be compiled: %s", diag_first_error(diagnostics));
    const struct report *report = report_at(&k, NULL, 0);
    for (size_t i = 0; i < all.count; i++) {
        size_t more = 0;
        const char *why = check_item(&k, report, &all.at[i], &more);
        *tried = more > *tried ? more : *tried;
        if (why)
            return why;
    }
    return NULL;
}
