/* The emitted host functions of tests/host/names.fcl, twice in one file under different names. */
#define NAMES_IMPLEMENTATION
#define AGAIN_IMPLEMENTATION
#include "again.h"
#include "names.h"

#include "host.h"

int main(void) {
    struct fcl_context *context = open_device();
    int32_t xs[] = {1, 2, 3}, length, *ys, a, b, c;
    CHECK(names_dot(context, 10, 3, xs, &length, &ys) == FCL_OK && length == 3 && ys[0] == 10 && ys[2] == 30);
    free(ys);
    CHECK(again_dot(context, 5, 3, xs, &length, &ys) == FCL_OK && length == 3 && ys[0] == 5 && ys[2] == 15);
    free(ys);
    CHECK(names_step(context, 3, 100, &a, &b, &c) == FCL_OK && a == 3 && b == 102 && c == 203);
    CHECK(names_element(context, 2, 3, xs, &a) == FCL_OK && a == 3);
    CHECK(names_element(context, 3, 3, xs, &a) ==
          FCL_CHECK_FAILED); /* without --check, too: the host must not read it */
    CHECK(strstr(fcl_error(context), "index 3 is out of range: the array has 3 elements"));
    CHECK(names_element(context, -1, 3, xs, &a) == FCL_CHECK_FAILED);
    CHECK(names_element(context, 0, 0, NULL, &a) == FCL_CHECK_FAILED);
    float bias[] = {1, 2}, weights[] = {1, 2, 3, 4, 5, 6}, of[] = {1, 0, 1}, *sums;
    CHECK(names_layer(context, 2, bias, 2, 3, weights, 3, of, &length, &sums) == FCL_OK && length == 2);
    CHECK(sums && sums[0] == 5 && sums[1] == 12);
    free(sums);
    CHECK(names_both(context, 41, 3, xs, &length, &ys, &a) == FCL_OK && length == 3 && ys[1] == 2 && a == 42);
    free(ys);
    CHECK(names_all(context, 3, xs, 3, xs, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, &length, &ys) == FCL_OK && ys[2] == 18);
    free(ys);

    /* Lengths that cannot be. */
    CHECK(names_dot(context, 10, -1, xs, &length, &ys) == FCL_INVALID &&
          strstr(fcl_error(context), "xs_length is negative: -1"));
    CHECK(names_dot(context, 10, 3, NULL, &length, &ys) == FCL_INVALID && !ys &&
          strstr(fcl_error(context), "xs is NULL, and is to have 3 elements"));
    CHECK(names_layer(context, 2, NULL, 2, 3, weights, 3, of, &length, &sums) == FCL_INVALID);
    CHECK(strstr(fcl_error(context), " is NULL, and is to have 2 elements"));
    CHECK(names_layer(context, 2, bias, -1, -3, weights, 3, of, &length, &sums) != FCL_OK);
    CHECK(strstr(fcl_error(context), "w1_rows is negative: -1") != NULL);
    struct fcl_buffer *small, *out;
    CHECK(fcl_buffer_new(context, 8, &small) == FCL_OK);
    CHECK(names_dot_device(context, 10, 3, small, &length, &out) != FCL_OK && !out && !length);
    CHECK(strstr(fcl_error(context), "xs has 8 bytes, and 12 are wanted") != NULL);
    CHECK(names_dot_device(context, 10, 2, small, &length, &out) == FCL_OK && length == 2);
    fcl_buffer_free(out);
    fcl_buffer_free(small);

    /* A context for kernels in another language. */
    enum fcl_backend other = fcl_device(context)->backend == FCL_BACKEND_C ? FCL_BACKEND_OPENCL : FCL_BACKEND_C;
    CHECK(fcl_expect(context, other) == FCL_INVALID && strstr(fcl_error(context), "these kernels are for"));
    CHECK(fcl_expect(context, fcl_device(context)->backend) == FCL_OK);
    length = 2;
    CHECK(names_dot_into(context, 2, 3, xs, &length, xs) == FCL_NO_ROOM && length == 3);
    fcl_close(context);
    return failures != 0;
}
