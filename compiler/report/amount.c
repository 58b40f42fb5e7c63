/* Sums of products of names; see amount.h. */
#include "report/amount.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct amount amount_number(double number) {
    return (struct amount){.constant = number};
}

struct amount amount_name(struct arena *arena, symbol name) {
    struct amount result = {.terms = ARENA_NEW(arena, struct amount_term), .count = 1};
    result.terms[0] = (struct amount_term){.factor = 1, .names = {name}, .count = 1};
    return result;
}

bool amount_is_number(struct amount x) { return x.count == 0; }

bool amount_is_zero(struct amount x) { return x.count == 0 && x.constant == 0; }

static bool same_names(const struct amount_term *a, const struct amount_term *b) {
    return a->count == b->count && memcmp(a->names, b->names, a->count * sizeof *a->names) == 0;
}

bool amount_is_equal(struct amount x, struct amount y) {
    if (x.constant != y.constant || x.count != y.count)
        return false;
    for (size_t i = 0; i < x.count; i++) {
        size_t k = 0;
        while (k < y.count && !same_names(&x.terms[i], &y.terms[k]))
            k++;
        if (k == y.count || x.terms[i].factor != y.terms[k].factor)
            return false;
    }
    return true;
}

static void add_term(struct amount *to, struct amount_term term) {
    for (size_t i = 0; i < to->count; i++)
        if (same_names(&to->terms[i], &term)) {
            to->terms[i].factor += term.factor;
            if (to->terms[i].factor == 0)
                to->terms[i] = to->terms[--to->count];
            return;
        }
    if (term.factor != 0)
        to->terms[to->count++] = term;
}

static void take_marks(struct amount *to, struct amount x, struct amount y) {
    to->is_most = x.is_most || y.is_most;
    to->is_about = x.is_about || y.is_about;
}

struct amount amount_sum(struct arena *arena, struct amount x, struct amount y) {
    struct amount result = {.constant = x.constant + y.constant};
    take_marks(&result, x, y);
    if (x.count + y.count == 0)
        return result;
    result.terms = ARENA_ARRAY(arena, struct amount_term, x.count + y.count);
    for (size_t i = 0; i < x.count; i++)
        add_term(&result, x.terms[i]);
    for (size_t i = 0; i < y.count; i++)
        add_term(&result, y.terms[i]);
    return result;
}

/* Where there are too many names, the last ones become one. */
static void multiply_term(struct symbols *names, struct amount_term *to, symbol name) {
    if (to->count == AMOUNT_FACTORS) {
        char both[256];
        snprintf(both, sizeof both, "%s*%s", to->names[AMOUNT_FACTORS - 1]->text, name->text);
        to->count--;
        name = symbol_of(names, both);
    }
    unsigned at = to->count++;
    for (; at > 0 && strcmp(to->names[at - 1]->text, name->text) > 0; at--)
        to->names[at] = to->names[at - 1];
    to->names[at] = name;
}

struct amount amount_product(struct arena *arena, struct symbols *names, struct amount x, struct amount y) {
    struct amount result = {.constant = x.constant * y.constant};
    size_t most = x.count * y.count + x.count + y.count;
    take_marks(&result, x, y);
    if (most == 0)
        return result;
    result.terms = ARENA_ARRAY(arena, struct amount_term, most);
    for (size_t i = 0; i <= x.count; i++)
        for (size_t k = 0; k <= y.count; k++) {
            struct amount_term term = i < x.count ? x.terms[i] : (struct amount_term){.factor = x.constant};
            if (i == x.count && k == y.count)
                continue;
            term.factor *= k < y.count ? y.terms[k].factor : y.constant;
            for (unsigned n = 0; k < y.count && n < y.terms[k].count; n++)
                multiply_term(names, &term, y.terms[k].names[n]);
            add_term(&result, term);
        }
    return result;
}

struct amount amount_ceiling(struct arena *arena, struct symbols *names, struct amount x, double by) {
    if (amount_is_number(x)) {
        x.constant = ceil(x.constant / by);
        return x;
    }
    bool is_whole = fmod(x.constant, by) == 0;
    for (size_t i = 0; i < x.count; i++)
        is_whole = is_whole && fmod(x.terms[i].factor, by) == 0;
    if (is_whole)
        return amount_product(arena, names, x, amount_number(1 / by));
    struct amount plain = x;
    plain.is_most = plain.is_about = false;
    const char *of = amount_closed(arena, amount_text(arena, plain), " ");
    struct amount named = amount_name(arena, symbol_of(names, arena_printf(arena, "ceil(%s / %.0f)", of, by)));
    take_marks(&named, x, x);
    return named;
}

struct amount amount_larger(struct arena *arena, struct amount x, struct amount y) {
    if (amount_is_equal(x, y) || amount_is_zero(y)) {
        struct amount result = x;
        take_marks(&result, x, y);
        result.is_most |= !amount_is_equal(x, y);
        return result;
    }
    struct amount result = amount_is_zero(x)                            ? y
                           : amount_is_number(x) && amount_is_number(y) ? (x.constant > y.constant ? x : y)
                                                                        : amount_sum(arena, x, y);
    take_marks(&result, x, y);
    result.is_most = true;
    return result;
}

static void print_number(struct text *out, double number) {
    if (number == floor(number) && fabs(number) < 1e18)
        text_printf(out, "%.0f", number);
    else
        text_printf(out, "%.4g", number);
}

static void print_amount(struct text *out, struct amount x) {
    text_add(out, x.is_most ? "at most " : "");
    text_add(out, x.is_about ? "about " : "");
    for (size_t i = 0; i < x.count; i++) {
        const struct amount_term *term = &x.terms[i];
        double factor = fabs(term->factor);
        text_add(out, i ? (term->factor < 0 ? " - " : " + ") : (term->factor < 0 ? "-" : ""));
        if (factor != 1) {
            print_number(out, factor);
            text_add(out, "*");
        }
        for (unsigned n = 0; n < term->count; n++)
            text_printf(out, "%s%s", n ? "*" : "", term->names[n]->text);
    }
    if (x.count == 0) {
        print_number(out, x.constant);
    } else if (x.constant != 0) {
        text_add(out, x.constant < 0 ? " - " : " + ");
        print_number(out, fabs(x.constant));
    }
}

const char *amount_text(struct arena *arena, struct amount x) {
    struct text text;
    text_init(&text, arena);
    print_amount(&text, x);
    return text_string(&text);
}

const char *amount_closed(struct arena *arena, const char *text, const char *signs) {
    int depth = 0;
    for (const char *at = text; *at; at++) {
        depth += (*at == '(') - (*at == ')');
        if (depth == 0 && strchr(signs, *at))
            return arena_printf(arena, "(%s)", text);
    }
    return text;
}
