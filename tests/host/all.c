/* The emitted host functions: every kind of parameter and result, empty arrays, host loops, and
   what a failure leaves. The device is the one that DEVICE names; KERNELS is built from
   tests/host/all.fcl. */
#include <stdbool.h>
#include <stdlib.h>

/* The functions in the header take their memory from here; those that are compiled apart do not. */
static bool has_no_memory;
static int refused;
void *memory(size_t bytes);
void *memory(size_t bytes) {
    refused += has_no_memory;
    return has_no_memory ? NULL : malloc(bytes);
}
#define malloc memory
#define KERNELS_IMPLEMENTATION
#include "kernels.h"
#undef malloc

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
    int32_t height, width, depth;
    CHECK(kernels_turned(context, 2, 3, rows, &height, &width, &ys) == FCL_OK && height == 3 && width == 2);
    CHECK(ys[0] == 1 && ys[1] == 4 && ys[4] == 3 && ys[5] == 6);
    free(ys);
    CHECK(kernels_turned(context, 0, 3, rows, &height, &width, &ys) == FCL_OK && height == 3 && width == 0 && ys);
    free(ys);
    CHECK(kernels_turned(context, 3, 0, rows, &height, &width, &ys) == FCL_OK && height == 0 && width == 3 && ys);
    free(ys);
    CHECK(kernels_cubes(context, 1, 2, 3, rows, 10, &first, &second, &depth, &ys, &big, &length) == FCL_OK);
    CHECK(first == 1 && second == 2 && depth == 3 && length == 2 && ys[5] == 60 && !big[1] && big[2]);
    free(ys);
    free(big);
    CHECK(kernels_inRows(context, 2, 5, xs, &height, &width, &ys) == FCL_OK && height == 2 && width == 2 && ys[3] == 5);
    free(ys);
    int32_t place[6] = {0};
    height = 1, width = 5; /* room for five in all */
    CHECK(kernels_turned_into(context, 2, 3, rows, &height, &width, place) == FCL_NO_ROOM && height == 3 && width == 2);
    CHECK(strstr(fcl_error(context), "a result of 6 elements, and there is room for 5") != NULL);
    height = 6, width = 1;
    CHECK(kernels_turned_into(context, 2, 3, rows, &height, &width, place) == FCL_OK && height == 3 && place[4] == 3);
    height = -6, width = -1;
    CHECK(kernels_turned_into(context, 2, 3, rows, &height, &width, place) == FCL_NO_ROOM);
    height = width = depth = INT32_MAX, length = 0;
    uint8_t flags[6];
    CHECK(kernels_cubes_into(context, 2, 1, 3, rows, 2, &height, &width, &depth, place, flags, &length) == FCL_OK);
    CHECK(height == 2 && width == 1 && depth == 3 && length == 1 && place[5] == 12 && flags[5]);
    /* a failure leaves zeros, and says what it is */
    length = 5, total = 7, height = 3, width = 2;
    CHECK(kernels_turned_into(context, -1, 3, rows, &height, &width, place) == FCL_INVALID && !height && !width);
    height = 3, width = 2;
    CHECK(kernels_turned_into(context, 2, 3, NULL, &height, &width, place) == FCL_INVALID && !height && !width);
    CHECK(kernels_turned_into(context, 2, 3, rows, NULL, &width, place) == FCL_INVALID);
    CHECK(strstr(fcl_error(context), "kernels_turned: a pointer to a result is NULL"));
    CHECK(kernels_reversed(context, 5, xs, &length, NULL) == FCL_INVALID);
    CHECK(kernels_total(context, 5, xs, NULL) == FCL_INVALID);
    CHECK(kernels_reversed_device(context, 0, NULL, NULL, NULL) == FCL_INVALID);
    CHECK(kernels_total(NULL, 5, xs, &total) == FCL_INVALID && !total);
    has_no_memory = true;
    enum fcl_status status = kernels_reversed(context, 5, xs, &length, &ys);
    has_no_memory = false;
    CHECK(refused ? status == FCL_NO_MEMORY && !ys && !length : status == FCL_OK);
    CHECK(!refused || strstr(fcl_error(context), "no memory on the host for a result of 5 elements"));
    free(ys);
    struct fcl_buffer *out = (struct fcl_buffer *)&total;
    CHECK(kernels_reversed_device(context, 5, NULL, &length, &out) != FCL_OK && !out && length == 0);
    CHECK(strlen(fcl_error(context)) > 0);
    fcl_close(context);
    return failures != 0;
}
