/* `-- test forall`: a kernel on a hundred random arguments; those of a failure are made small. */
#ifndef FCL_TOOLS_PROPERTY_H
#define FCL_TOOLS_PROPERTY_H

#include "tools/trial.h"

/* A checked program that has the conditions of these tests as kernels; NULL: none of them has one. Errors in a
   condition are reported, and its test goes from `tests` to `wrong`. */
struct compilation *property_conditions(struct compilation *c, directives *tests, directives *wrong);

bool property_has_conditions(const directives *tests);
/* Conditions where they stand in the program that is made of them: one for each test, empty where it has none. */
struct property_places {
    const struct source *source;
    struct span *at;
};
/* Makes the program of all conditions, and checks it. `names`, if it is not NULL, gets the places of names in that
   program, `places` those of the conditions. */
struct compilation *property_check(struct compilation *c, const directives *tests, name_places *names,
                                   struct property_places *places, enum exit_status *status);

/* The kernel that the right side calls; NULL: it is no call. */
const char *property_other(const struct compilation *c, const struct directive *directive);

struct property_tell {
    void (*of)(void *context, const char *words); /* a call that is about to run */
    void *context;
};
/* NULL: it holds for the arguments that the seed gives. Else why not, with a directive for the smallest found. */
const char *property_run(struct test_trial *t, struct compilation *conditions, uint64_t seed,
                         const struct property_tell *tell);

#endif
