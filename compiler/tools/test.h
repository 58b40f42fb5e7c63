/* Tests that stand in no file, run as `fclc test` runs the others. */
#ifndef FCL_TOOLS_TEST_H
#define FCL_TOOLS_TEST_H

#include "driver/compilation.h"
#include "tools/directive.h"

struct given_tests {
    const char *path;      /* the file that they are of */
    struct compilation *c; /* a checked program, and good; NULL: there are no tests */
    directives tests;
    directives wrong; /* those that cannot be run: each fails, and diagnostics have told why */
};

/* Runs them, and prints a line for each that fails and one with the path and their numbers. */
enum exit_status test_given(struct options *options, const struct given_tests *given);

#endif
