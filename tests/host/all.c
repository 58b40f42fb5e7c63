/* The emitted host functions: every kind of parameter and result, empty arrays, host loops, and what a failure leaves. The
   device is the one that DEVICE names; KERNELS is built from tests/host/all.fcl. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNELS_IMPLEMENTATION
#include "kernels.h"

static int failures;
#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            fprintf(stderr, "line %d: %s\n", __LINE__, #what);                                                         \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

int main(void) {
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    options.kind = DEVICE;
    struct fcl_context *context;
    char why[1024];
    if (fcl_open(&context, &options, why, sizeof why) != FCL_OK) {
        fprintf(stderr, "%s\n", why);
        return 77;
    }
    int32_t xs[] = {1, 2, 3, 4, 5}, length, total;
    int32_t *ys;
    CHECK(kernels_reversed(context, 5, xs, &length, &ys) == FCL_OK && length == 5 && ys[0] == 5 && ys[4] == 1);
    free(ys);
    CHECK(kernels_reversed(context, 0, xs, &length, &ys) == FCL_OK && length == 0 && ys);
    free(ys);
    CHECK(kernels_total(context, 5, xs, &total) == FCL_OK && total == 15);
    float weights[] = {0.5f, 1.5f};
    uint8_t *big;
    float *scaled;
    int32_t first, second;
    CHECK(kernels_both(context, 2, xs, weights, 3, &first, &second, &scaled, &big) == FCL_OK);
    CHECK(first == 2 && second == 2 && scaled[1] == 4.5f && big[0] == 0 && big[1] == 1);
    free(scaled);
    free(big);
    int32_t rows[] = {1, 2, 3, 4, 5, 6};
    CHECK(kernels_rows(context, 2, 3, rows, &length, &ys) == FCL_OK && length == 2 && ys[0] == 6 && ys[1] == 15);
    free(ys);
    CHECK(kernels_steps(context, 3, 3, xs, &length, &ys) == FCL_OK && length == 3 && ys[0] == 3 && ys[2] == 1);
    free(ys);
    struct fcl_buffer *out = (struct fcl_buffer *)&total;
    CHECK(kernels_reversed_device(context, 5, NULL, &length, &out) != FCL_OK && !out && length == 0);
    CHECK(strlen(fcl_error(context)) > 0);
    fcl_close(context);
    return failures != 0;
}
