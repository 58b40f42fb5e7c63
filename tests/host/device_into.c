/* Results in buffers of the caller's: straight there, or copied where that cannot be. The device is the one that DEVICE
   names; KERNELS is built from tests/host/all.fcl. */
#define KERNELS_IMPLEMENTATION
#include "kernels.h"

#include "host.h"

enum { COUNT = 1000 };

static struct fcl_context *context;

/* A buffer of so many numbers, from `first` on. */
static struct fcl_buffer *numbers(int32_t first, size_t count) {
    struct fcl_buffer *buffer = NULL;
    int32_t *values = (int32_t *)malloc((count + 1) * sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = first + (int32_t)i;
    CHECK(fcl_buffer_array(context, count, sizeof *values, &buffer) == FCL_OK);
    CHECK(fcl_write(buffer, 0, values, count * sizeof *values) == FCL_OK);
    free(values);
    return buffer;
}

static int32_t at(struct fcl_buffer *buffer, size_t i) {
    int32_t value = -1;
    CHECK(fcl_read(buffer, i * sizeof value, &value, sizeof value) == FCL_OK);
    return value;
}

/* Room for as many, for more, for fewer, and for none. */
static void of_each_size(void) {
    struct fcl_buffer *xs = numbers(0, COUNT), *same = numbers(7, COUNT), *more = numbers(7, COUNT + 2);
    struct fcl_buffer *fewer = numbers(7, COUNT - 1), *none = numbers(0, 0);
    int32_t length = -1;
    CHECK(kernels_reversed_device_into(context, COUNT, xs, &length, same) == FCL_OK && length == COUNT);
    CHECK(at(same, 0) == COUNT - 1 && at(same, COUNT - 1) == 0);
    CHECK(kernels_reversed_device_into(context, COUNT, xs, &length, more) == FCL_OK && length == COUNT);
    CHECK(at(more, 0) == COUNT - 1 && at(more, COUNT) == 7 + COUNT && at(more, COUNT + 1) == 8 + COUNT);
    CHECK(kernels_reversed_device_into(context, COUNT, xs, &length, fewer) == FCL_NO_ROOM && length == COUNT);
    CHECK(strstr(fcl_error(context), "result 0 has 4000 bytes, and its buffer has room for 3996"));
    CHECK(at(fewer, 0) == 7 && at(fewer, COUNT - 2) == 7 + COUNT - 2);
    CHECK(kernels_reversed_device_into(context, 0, xs, &length, none) == FCL_OK && length == 0);
    CHECK(kernels_reversed_device_into(context, 0, xs, &length, same) == FCL_OK && length == 0);
    /* a part of an argument's room: what the kernel stores has less */
    CHECK(kernels_steps_device_into(context, 3, COUNT, xs, &length, more) == FCL_OK && at(more, 0) == COUNT - 1);
    CHECK(kernels_steps_device_into(context, 4, COUNT, xs, &length, more) == FCL_OK && at(more, 0) == 0);
    CHECK(at(more, COUNT) == 7 + COUNT);
    fcl_buffer_free(xs);
    fcl_buffer_free(same);
    fcl_buffer_free(more);
    fcl_buffer_free(fewer);
    fcl_buffer_free(none);
}

/* A result may take an argument's place, but not another result's. */
static void of_arguments(void) {
    struct fcl_buffer *xs = numbers(0, COUNT), *weights = numbers(0, 2), *three = numbers(3, 3);
    int32_t length = -1, first = -1, second = -1;
    CHECK(kernels_reversed_device_into(context, COUNT, xs, &length, xs) == FCL_OK && length == COUNT);
    CHECK(at(xs, 0) == COUNT - 1 && at(xs, COUNT / 2) == COUNT / 2 - 1 && at(xs, COUNT - 1) == 0);
    CHECK(kernels_both_device_into(context, 2, weights, weights, 3, &first, &second, xs, three) == FCL_OK);
    CHECK(first == 2 && second == 2 && fcl_buffer_bytes(three) == 12);
    CHECK(kernels_both_device_into(context, 2, weights, weights, 3, &first, &second, xs, xs) == FCL_INVALID);
    CHECK(strstr(fcl_error(context), "the buffers for results 1 and 2 share memory") && !first && !second);
    CHECK(kernels_reversed_device_into(context, COUNT, xs, &length, NULL) == FCL_INVALID);
    CHECK(strstr(fcl_error(context), "a pointer to a result is NULL"));
    CHECK(kernels_reversed_device_into(context, COUNT, NULL, &length, xs) == FCL_INVALID && !length);
    CHECK(kernels_reversed_device_into(context, COUNT, xs, &length, xs) == FCL_OK); /* nothing is left of a failure */
    fcl_buffer_free(xs);
    fcl_buffer_free(weights);
    fcl_buffer_free(three);
}

/* Memory of others may begin at any byte, and the byte behind it is theirs. */
static void of_others(void) {
    if (fcl_device(context)->backend != FCL_BACKEND_C)
        return;
    struct fcl_buffer *xs = numbers(0, 6), *odd = NULL, *flags = NULL, *other = NULL;
    int32_t place[32] = {0}, first, second, third, number, length;
    uint8_t bytes[8];
    memset(bytes, 9, sizeof bytes);
    CHECK(fcl_buffer_wrap(context, (uintptr_t)(place + 1), 6 * sizeof *place, &odd) == FCL_OK);
    CHECK(fcl_buffer_wrap(context, (uintptr_t)(bytes + 1), 6, &flags) == FCL_OK);
    CHECK(kernels_cubes_device_into(context, 1, 2, 3, xs, 10, &first, &second, &third, odd, flags, &number) == FCL_OK);
    CHECK(fcl_finish(context) == FCL_OK && first == 1 && second == 2 && third == 3 && number == 2);
    CHECK(!place[0] && place[1] == 0 && place[6] == 50 && !place[7]);
    CHECK(bytes[0] == 9 && bytes[1] == 0 && bytes[6] == 1 && bytes[7] == 9);
    /* parts of one memory meet */
    CHECK(fcl_buffer_wrap(context, (uintptr_t)(place + 6), 6 * sizeof *place, &other) == FCL_OK);
    CHECK(kernels_cubes_device_into(context, 1, 2, 3, xs, 10, &first, &second, &third, odd, other, &number) ==
          FCL_INVALID);
    struct fcl_context *more = open_device();
    struct fcl_buffer *foreign = NULL;
    CHECK(fcl_buffer_new(more, 100, &foreign) == FCL_OK);
    CHECK(kernels_reversed_device_into(context, 6, xs, &length, foreign) == FCL_INVALID);
    CHECK(strstr(fcl_error(context), "the buffer for result 0 is of another context"));
    fcl_close(more);
    fcl_buffer_free(xs);
    fcl_buffer_free(odd);
    fcl_buffer_free(flags);
    fcl_buffer_free(other);
}

/* An array without elements may come without memory. A check tells of an index into it, and nothing is read there. */
static void of_nothing(void) {
    struct fcl_buffer *none = NULL, *indices = numbers(0, 3), *place = numbers(7, 3);
    int32_t length = -1;
    CHECK(fcl_buffer_wrap(context, 0, 0, &none) == FCL_OK);
    CHECK(kernels_picked_device_into(context, 0, none, 3, indices, &length, place) == FCL_OK && length == 3);
    CHECK(fcl_finish(context) == FCL_CHECK_FAILED && strstr(fcl_error(context), "an index is out of range"));
    fcl_buffer_free(none);
    fcl_buffer_free(indices);
    fcl_buffer_free(place);
}

int main(void) {
    context = open_device();
    of_each_size();
    of_arguments();
    of_nothing();
    of_others();
    fcl_close(context);
    return failures != 0;
}
