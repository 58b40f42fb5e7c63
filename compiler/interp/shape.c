/* How long the rows of an array of arrays are.

   note [rows that are not there]
   An array of no rows has columns all the same: as many as its first row would have, by what makes
   it, as a matrix of 0 x 5 has 5. So the first row is asked for its length before it is known to be there.
   No element in memory has a value then; what cannot do without one is given up, and asked again
   where there is a row, and else there are no columns. But a length that is too large is an error, and one that is
   negative where there is a row. */
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
    lengths[0] = row->length;
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

static bool try_to_find(struct interp *in, const struct interp_pull *rows, int64_t i, size_t rank, int64_t *lengths,
                        bool of_all, struct span span) {
    if (setjmp(in->gave_up))
        return false;
    find(in, rows, i, rank, lengths, of_all, span);
    return true;
}

/* What the attempt has changed is as it was before, whether it failed or not. */
static bool attempt(struct interp *in, const struct interp_pull *rows, int64_t row, size_t rank, int64_t *lengths,
                    bool of_all, struct span span, int64_t for_negative) {
    struct region_mark mark = region_here(in->region);
    struct interp before = *in;
    in->is_absent = true;
    in->for_negative = for_negative;
    bool is_known = try_to_find(in, rows, row, rank, lengths, of_all, span);
    in->is_absent = false;
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

/* The lengths hang on a negative one where they are others when it counts as something else. */
bool interp_lengths(struct interp *in, const struct interp_pull *rows, int64_t row, size_t rank, int64_t *lengths,
                    bool of_all, struct span span) {
    int64_t others[VALUE_MAX_RANK];
    in->is_below_zero = in->is_unequal = false;
    bool is_known = attempt(in, rows, row, rank, lengths, of_all, span, 0);
    if (is_known && in->is_below_zero)
        in->is_below_zero = !attempt(in, rows, row, rank, others, of_all, span, 1) ||
                            memcmp(lengths, others, rank * sizeof *lengths) != 0;
    return is_known;
}

void interp_columns(struct interp *in, const struct interp_pull *rows, size_t rank, int64_t *columns,
                    struct span span) {
    struct region_mark mark = region_here(in->region);
    if (in->is_absent) {
        find(in, rows, 0, rank, columns, false, span);
    } else if (rank &&
               (!interp_lengths(in, rows, 0, rank, columns, false, span) || (in->is_below_zero && rows->length > 0))) {
        memset(columns, 0, rank * sizeof *columns);
        if (rows->length > 0) {
            const struct interp_pull *row = pull_element(in, rows, 0, span).pull;
            columns[0] = row->length;
            interp_columns(in, row, rank - 1, columns + 1, span);
        }
    }
    region_release(in->region, mark);
}
