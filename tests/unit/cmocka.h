// The part of cmocka's interface that the unit tests use, so that they need no package. A test that fails goes back to
// the loop below; the last line counts, as that of `fclc test` does.
#ifndef UNIT_CMOCKA_H
#define UNIT_CMOCKA_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*test)(void **);
    int (*set_up)(void **), (*tear_down)(void **);
    void *state; // what the test begins with
};

enum { UNIT_FAILED = 1, UNIT_SKIPPED = 2 };

static jmp_buf unit_back;

_Noreturn static inline void unit_fail(const char *file, int line) {
    printf("\n%s:%d: that failed\n", file, line);
    longjmp(unit_back, UNIT_FAILED);
}

static inline void unit_true(int holds, const char *what, const char *file, int line) {
    if (!holds) {
        printf("not true: %s", what);
        unit_fail(file, line);
    }
}

static inline void unit_integers(intmax_t a, intmax_t b, int equal, const char *file, int line) {
    if ((a == b) != equal) {
        printf("%" PRIdMAX " (0x%" PRIxMAX ") %s %" PRIdMAX " (0x%" PRIxMAX ")", a, (uintmax_t)a,
               equal ? "is not" : "is", b, (uintmax_t)b);
        unit_fail(file, line);
    }
}

static inline void unit_strings(const char *a, const char *b, int equal, const char *file, int line) {
    if ((a == b || (a && b && !strcmp(a, b))) != equal) {
        printf("\"%s\"\n%s\n\"%s\"", a ? a : "(null)", equal ? "is not" : "is", b ? b : "(null)");
        unit_fail(file, line);
    }
}

static inline void unit_bytes(const void *a, const void *b, size_t n, const char *file, int line) {
    for (size_t i = 0; i < n; i++)
        if (((const unsigned char *)a)[i] != ((const unsigned char *)b)[i]) {
            printf("byte %zu: 0x%02x is not 0x%02x", i, ((const unsigned char *)a)[i], ((const unsigned char *)b)[i]);
            unit_fail(file, line);
        }
}

#define assert_true(a) unit_true(!!(a), #a, __FILE__, __LINE__)
#define assert_false(a) unit_true(!(a), "!(" #a ")", __FILE__, __LINE__)
#define assert_non_null(a) unit_true((a) != NULL, #a " != NULL", __FILE__, __LINE__)
#define assert_null(a) unit_true((a) == NULL, #a " == NULL", __FILE__, __LINE__)
#define assert_ptr_equal(a, b) unit_true((const void *)(a) == (const void *)(b), #a " == " #b, __FILE__, __LINE__)
#define assert_ptr_not_equal(a, b) unit_true((const void *)(a) != (const void *)(b), #a " != " #b, __FILE__, __LINE__)
#define assert_int_equal(a, b) unit_integers((intmax_t)(a), (intmax_t)(b), 1, __FILE__, __LINE__)
#define assert_int_not_equal(a, b) unit_integers((intmax_t)(a), (intmax_t)(b), 0, __FILE__, __LINE__)
#define assert_in_range(a, low, high)                                                                                  \
    unit_true((uintmax_t)(a) - (uintmax_t)(low) <= (uintmax_t)(high) - (uintmax_t)(low), #a " in its range", __FILE__, \
              __LINE__)
#define assert_string_equal(a, b) unit_strings(a, b, 1, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) unit_strings(a, b, 0, __FILE__, __LINE__)
#define assert_memory_equal(a, b, n) unit_bytes(a, b, n, __FILE__, __LINE__)
#define print_message(...) printf(__VA_ARGS__)
#define fail_msg(...) (printf(__VA_ARGS__), unit_fail(__FILE__, __LINE__))
#define skip() longjmp(unit_back, UNIT_SKIPPED)

#define cmocka_unit_test(f)                                                                                            \
    { #f, f, NULL, NULL, NULL }
#define cmocka_unit_test_setup_teardown(f, up, down)                                                                   \
    { #f, f, up, down, NULL }

static inline int unit_run(const struct CMUnitTest *tests, size_t n, int (*set_up)(void **),
                           int (*tear_down)(void **)) {
    static int counts[3]; // passed, failed, skipped; these and the state outlive a jump
    static void *state, *group;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (set_up && set_up(&group)) {
        printf("what comes before the tests failed\n");
        return EXIT_FAILURE;
    }
    for (volatile size_t i = 0; i < n; i++) {
        const struct CMUnitTest *one = &tests[i];
        printf("%s\n", one->name);
        state = one->state ? one->state : group;
        int became = setjmp(unit_back);
        if (!became) {
            if (one->set_up && one->set_up(&state))
                unit_fail(one->name, 0);
            one->test(&state);
        }
        counts[became]++;
        if (one->tear_down)
            one->tear_down(&state);
    }
    if (tear_down)
        tear_down(&group);
    printf("%d passed, %d failed, %d skipped\n", counts[0], counts[UNIT_FAILED], counts[UNIT_SKIPPED]);
    return counts[UNIT_FAILED] ? EXIT_FAILURE : EXIT_SUCCESS;
}

#define cmocka_run_group_tests(tests, up, down) unit_run(tests, sizeof(tests) / sizeof(tests)[0], up, down)
#define cmocka_run_group_tests_name(name, tests, up, down) cmocka_run_group_tests(tests, up, down)

#endif
