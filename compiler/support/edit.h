/* Edit distance, for "did you mean". */
#ifndef FCL_SUPPORT_EDIT_H
#define FCL_SUPPORT_EDIT_H

#include <stddef.h>

/* Insertions, deletions, replacements and swaps of neighbours that turn one string into the other;
   `bound` + 1 when there are more than `bound` of them or a string is longer than 63 bytes. */
size_t edit_distance(const char *a, const char *b, size_t bound);

/* The best of several candidates. Ties go to the one offered first. */
struct suggestion {
    const char *wanted;
    const char *best; /* NULL: nothing is close enough */
    size_t distance;
};

struct suggestion suggestion_for(const char *wanted);
void suggestion_offer(struct suggestion *suggestion, const char *candidate);

#endif
