/* Optimal string alignment distance with a bound; see edit.h. */
#include "support/edit.h"

#include <string.h>

enum { LONGEST = 63 };

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

size_t edit_distance(const char *a, const char *b, size_t bound) {
    size_t rows = strlen(a), columns = strlen(b);
    size_t gap = rows > columns ? rows - columns : columns - rows;
    if (rows > LONGEST || columns > LONGEST || gap > bound)
        return bound + 1;
    size_t table[3][LONGEST + 1]; /* this row of the table, the one before, the one before that */
    size_t *row = table[0], *above = table[1], *above_that = table[2];
    for (size_t j = 0; j <= columns; j++)
        row[j] = j;
    for (size_t i = 1; i <= rows; i++) {
        size_t *recycled = above_that;
        above_that = above;
        above = row;
        row = recycled;
        row[0] = i;
        size_t best = i;
        for (size_t j = 1; j <= columns; j++) {
            size_t cost = smaller(smaller(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                cost = smaller(cost, above_that[j - 2] + 1);
            row[j] = cost;
            best = smaller(best, cost);
        }
        if (best > bound)
            return bound + 1;
    }
    return row[columns] > bound ? bound + 1 : row[columns];
}

/* A third of the letters may be wrong, one of two, but one letter alone suggests nothing. */
struct suggestion suggestion_for(const char *wanted) {
    size_t length = strlen(wanted);
    size_t bound = length < 2 ? 0 : length < 6 ? 1 : length / 3;
    return (struct suggestion){.wanted = wanted, .best = NULL, .distance = bound + 1};
}

void suggestion_offer(struct suggestion *suggestion, const char *candidate) {
    if (suggestion->distance == 0)
        return;
    size_t distance = edit_distance(suggestion->wanted, candidate, suggestion->distance - 1);
    if (distance < suggestion->distance && distance < strlen(candidate)) {
        suggestion->best = candidate;
        suggestion->distance = distance;
    }
}
