/* How long the rows of an array of arrays are, and push arrays that are measured.

   note [what is measured]
   A row that has no elements, or is not there, and a push array that nothing runs, are asked for their length
   alone. The interpreter then computes only the values of which the length is made. An error in any other value is
   not reported, as compiled code never computes that value. So no element in memory has a value (V_UNKNOWN), nor has
   a result that is made of one; a computation that needs such a value is given up. A negative length counts as 0 and
   then as 1: a result that is the same for both does not depend on it. A length that was given up, that depends on a
   negative one, or that is made of rows which are not equally long, is computed in full if the row is there, and then
   all errors count. A length that is too large is an error at once.

   note [rows that are not there]
   An array of no rows has columns all the same: as many as its first row would have, by what makes it, as a matrix of
   0 x 5 has 5. So the first row is measured; where its length hangs on elements, there are no columns. */
#include <string.h>

#include "interp/machine.h"

enum { DIFFERENT = -1 }; /* the length of rows that are not equally long */

bool interp_are_same(const int64_t *lengths, const int64_t *others, size_t rank) {
    for (size_t i = 0; i < rank && lengths[i] == others[i]; i++)
        if (i + 1 == rank || lengths[i] == 0)
            return true;
    return false;
}

/* In the first row of each dimension; `of_all`: in all, from the second dimension on. */
static void find(struct interp *in, const struct interp_pull *rows, int64_t i, size_t rank, int64_t *lengths,
                 bool of_all, struct span span) {
    if (!rank)
        return;
    const struct interp_pull *row = pull_element(in, rows, i, span).pull;
    lengths[0] = pull_length(in, row);
    if (!in->is_absent && row->length == 0) {
        interp_columns(in, row, rank - 1, lengths + 1, span);
        return;
    }
    find(in, row, 0, rank - 1, lengths + 1, of_all, span);
    for (int64_t k = 1; of_all && rank > 1 && k < row->length; k++) {
        int64_t others[VALUE_MAX_RANK];
        struct region_mark mark = region_here(in->region);
        find(in, row, k, rank - 1, others, of_all, span);
        region_release(in->region, mark);
        if (!interp_are_same(lengths + 1, others, rank - 1))
            lengths[1] = DIFFERENT;
    }
}

/* The array whose length is measured: rows, from `row` on, or a push array. */
struct measured {
    const struct interp_pull *rows;
    int64_t row;
    size_t rank;
    bool of_all;
    struct interp_push *push;
    struct span span;
};

static void find_all(struct interp *in, const struct measured *m, int64_t *lengths) {
    if (m->push) {
        m->push->length = -1; /* another attempt may have kept another one */
        *lengths = push_length(in, m->push);
    } else
        find(in, m->rows, m->row, m->rank, lengths, m->of_all, m->span);
}

static bool try_to_find(struct interp *in, const struct measured *m, int64_t *lengths) {
    if (setjmp(in->gave_up))
        return false;
    find_all(in, m, lengths);
    return true;
}

/* The attempt leaves the interpreter as it was, whether it failed or not. */
static bool attempt(struct interp *in, const struct measured *m, int64_t *lengths, int64_t for_negative) {
    struct region_mark mark = region_here(in->region);
    struct interp before = *in;
    in->is_absent = true;
    in->chunks = NULL;
    in->for_negative = for_negative;
    bool is_known = try_to_find(in, m, lengths);
    in->is_absent = false;
    in->for_negative = before.for_negative;
    in->region = before.region;
    in->global_depth = before.global_depth;
    in->call = before.call;
    in->made_at = before.made_at;
    in->loc = before.loc;
    in->chunks = before.chunks;
    in->place = before.place;
    store_drop_since(in, before.stores);
    region_release(in->region, mark);
    return is_known;
}

static bool measure(struct interp *in, const struct measured *m, int64_t *lengths) {
    int64_t others[VALUE_MAX_RANK];
    in->is_below_zero = in->is_unequal = false;
    bool is_known = attempt(in, m, lengths, 0);
    if (is_known && in->is_below_zero)
        in->is_below_zero = !attempt(in, m, others, 1) || memcmp(lengths, others, m->rank * sizeof *lengths) != 0;
    return is_known;
}

static void find_with(struct interp *in, const struct measured *m, int64_t *lengths, int64_t for_negative) {
    struct region_mark mark = region_here(in->region);
    in->for_negative = for_negative;
    find_all(in, m, lengths);
    region_release(in->region, mark);
}

/* Measures rows that exist: their elements have values, and an error in one is reported. */
static void find_there(struct interp *in, const struct measured *m, int64_t *lengths) {
    int64_t others[VALUE_MAX_RANK];
    in->is_lenient = true;
    in->is_below_zero = false;
    find_with(in, m, lengths, 0);
    bool hangs = in->is_below_zero;
    if (hangs) {
        find_with(in, m, others, 1);
        hangs = memcmp(lengths, others, m->rank * sizeof *lengths) != 0;
    }
    in->is_lenient = false;
    if (hangs)
        find_with(in, m, lengths, 0); /* which says what is negative */
}

static void find_lengths(struct interp *in, const struct measured *m, int64_t *lengths) {
    if (in->is_absent || in->is_lenient)
        find_with(in, m, lengths, in->for_negative);
    else if (!measure(in, m, lengths) || in->is_below_zero || in->is_unequal)
        find_there(in, m, lengths);
}

void interp_lengths(struct interp *in, const struct interp_pull *rows, int64_t row, size_t rank, int64_t *lengths,
                    struct span span) {
    struct measured m = {.rows = rows, .row = row, .rank = rank, .of_all = true, .span = span};
    find_lengths(in, &m, lengths);
}

int64_t interp_row_length(struct interp *in, const struct interp_pull *rows, int64_t row, struct span span) {
    struct measured m = {.rows = rows, .row = row, .rank = 1, .span = span};
    int64_t length;
    find_lengths(in, &m, &length);
    return length;
}

int64_t interp_measured_length(struct interp *in, struct interp_push *push) {
    struct measured m = {.push = push, .rank = 1};
    int64_t length = push->length;
    if (length < 0)
        find_lengths(in, &m, &length);
    return length;
}

void interp_columns(struct interp *in, const struct interp_pull *rows, size_t rank, int64_t *columns,
                    struct span span) {
    struct measured m = {.rows = rows, .rank = rank, .span = span};
    bool is_below_zero = in->is_below_zero, is_there = pull_length(in, rows) > 0;
    if (is_there || in->is_absent) {
        find_lengths(in, &m, columns);
        return;
    }
    if (rank && !attempt(in, &m, columns, 0))
        memset(columns, 0, rank * sizeof *columns);
    in->is_below_zero = is_below_zero;
}
