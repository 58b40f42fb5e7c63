/* Amounts that may depend on sizes: sums of products of names. Where all sizes are given, plain
   numbers. */
#ifndef FCL_REPORT_AMOUNT_H
#define FCL_REPORT_AMOUNT_H

#include <stdbool.h>

#include "support/symbol.h"
#include "support/text.h"

enum { AMOUNT_FACTORS = 6 };

struct amount_term {
    double factor;
    symbol names[AMOUNT_FACTORS]; /* in alphabetical order; a square has its name twice */
    unsigned count;
};
/* The zeroed one is 0. */
struct amount {
    double constant;
    struct amount_term *terms; /* no two of the same names */
    size_t count;
    bool is_most;  /* it may be less: what data decide was taken as the dearest it can be */
    bool is_about; /* some of many turns were looked at, and stand for the others */
};

struct amount amount_number(double number);
struct amount amount_name(struct arena *arena, symbol name);
struct amount amount_sum(struct arena *arena, struct amount x, struct amount y);
struct amount amount_product(struct arena *arena, struct symbols *names, struct amount x, struct amount y);
/* x / by, rounded up. */
struct amount amount_ceiling(struct arena *arena, struct symbols *names, struct amount x, double by);
/* The larger; of those that cannot be compared the sum, which is_most. */
struct amount amount_larger(struct arena *arena, struct amount x, struct amount y);
bool amount_is_number(struct amount x);
bool amount_is_zero(struct amount x);
bool amount_is_equal(struct amount x, struct amount y);
/* `256*n + 8`, with `at most` or `about` before it. */
const char *amount_text(struct arena *arena, struct amount x);
/* The text, in brackets where one of the signs is in it outside of brackets. */
const char *amount_closed(struct arena *arena, const char *text, const char *signs);

#endif
