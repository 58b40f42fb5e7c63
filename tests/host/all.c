/* The emitted host functions: every kind of parameter and result, empty arrays, host loops, and what a failure leaves. The
   device is the one that DEVICE names; KERNELS is built from tests/host/all.fcl. */
#define KERNELS_IMPLEMENTATION
#include "kernels.h"

#include "host.h"

int main(void) {
    struct fcl_context *context = open_device();
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
