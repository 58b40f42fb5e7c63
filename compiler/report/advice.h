/* Which lines of a program cost the most memory traffic, and what would make it less. */
#ifndef FCL_REPORT_ADVICE_H
#define FCL_REPORT_ADVICE_H

#include "report/report.h"

enum { ADVICE_LINES = 3 };

struct report_advice {
    unsigned line; /* of the program; 0: not known */
    const struct report_launch *launch;
    const struct report_access *access; /* the dearest of the line */
    struct amount units;                /* of the line's accesses to this memory: sectors, or turns at banks */
    double share;                       /* of what all lines take, 0 to 1; names count as many elements */
    double of_least;                    /* the access's units over the fewest that so many elements need */
    const char *change;                 /* what to do about it; NULL: they are as few as can be */
};

/* The dearest lines, from the dearest on; how many these are. For a device whose memory and multiprocessors say what a
   sector and a turn take; NULL: as an H100. */
size_t report_advise(struct arena *arena, const struct report *report, const struct report_device *device,
                     struct report_advice advice[ADVICE_LINES]);
/* Sectors or turns that so many elements need at least. */
double report_least_units(const struct report_access *access, double elements);
/* A number for an amount, by which amounts with names are compared: each name is a million. */
double report_weight(struct amount amount);

#endif
