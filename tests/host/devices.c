/* Two devices in one process, a context each: a kernel's result goes on to the other one, and back
   by way of a third context, which is for kernels in C. KIND is the kind of the two, of which
   there are DEVICES. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNIT_IMPLEMENTATION
#include "unit.h"

#define NEED(what)                                                                                                     \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what);                                                 \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

enum { COUNT = 100003, OFFSET = 3 };

/* A buffer of `to` with what `from` has from element OFFSET on. */
static struct fcl_buffer *moved(struct fcl_context *to, struct fcl_buffer *from, int32_t count) {
    struct fcl_buffer *result;
    uint64_t bytes = (uint64_t)(count - OFFSET) * sizeof(int32_t);
    NEED(fcl_buffer_new(to, bytes, &result) == FCL_OK);
    NEED(fcl_copy(result, 0, from, OFFSET * sizeof(int32_t), bytes) == FCL_OK);
    return result;
}

int main(void) {
    struct fcl_context *contexts[3];
    for (int i = 0; i < 3; i++) {
        struct fcl_options options = FCL_OPTIONS_DEFAULT;
        options.kind = i < 2 ? KIND : FCL_DEVICE_C;
        options.index = i < 2 ? i % DEVICES : 0;
        char why[1024];
        if (fcl_open(&contexts[i], &options, why, sizeof why) != FCL_OK) {
            fprintf(stderr, "%s\n", why);
            return 77;
        }
    }
    int32_t numbers[COUNT], length = 0;
    for (int32_t i = 0; i < COUNT; i++)
        numbers[i] = i;
    struct fcl_buffer *given, *first, *there, *second, *aside, *back;
    NEED(fcl_buffer_new(contexts[0], sizeof numbers, &given) == FCL_OK);
    NEED(fcl_write(given, 0, numbers, sizeof numbers) == FCL_OK);
    NEED(unit_doubled_device(contexts[0], COUNT, given, &length, &first) == FCL_OK && length == COUNT);
    there = moved(contexts[1], first, COUNT);
    NEED(unit_doubled_device(contexts[1], COUNT - OFFSET, there, &length, &second) == FCL_OK);
    aside = moved(contexts[2], second, length);
    back = moved(contexts[0], aside, length - OFFSET);
    NEED(fcl_read(back, 0, numbers, fcl_buffer_bytes(back)) == FCL_OK);
    for (int32_t i = 0; i < COUNT - 3 * OFFSET; i++)
        NEED(numbers[i] == 4 * (i + 3 * OFFSET));
    /* An error is told to who asked: the context that the copy goes to. */
    NEED(fcl_copy(there, 0, back, 4, fcl_buffer_bytes(back)) == FCL_INVALID);
    NEED(strstr(fcl_error(contexts[1]), "do not lie in a buffer") && !*fcl_error(contexts[0]));
    NEED(fcl_copy(there, 0, back, 0, 0) == FCL_OK);
    struct fcl_buffer *const all[] = {given, first, there, second, aside, back};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        fcl_buffer_free(all[i]);
    for (int i = 0; i < 3; i++)
        fcl_close(contexts[i]);
    return 0;
}
