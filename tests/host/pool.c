/* Shows what the pool asks of the driver: the CUDA simulator notes it in the file of CUDASIM_CALLS, and
   between the parts a line is added here. The suite `host` looks at it. SUMS is built from
   examples/host/sums.fcl. */
#define SUMS_IMPLEMENTATION
#include "sums.h"

#define DEVICE FCL_DEVICE_CUDA
#include "host.h"

enum { COUNT = 100000, MANY = 200 };

static void begin(const char *part) {
    const char *path = getenv("CUDASIM_CALLS");
    FILE *calls = path ? fopen(path, "a") : NULL;
    if (!path) /* a GPU's driver notes nothing */
        return;
    if (!calls)
        exit(1);
    fprintf(calls, "part %s\n", part);
    fclose(calls);
}

static void sums(struct fcl_context *context, const int32_t *numbers, int32_t count) {
    int32_t length, total, *running;
    CHECK(sums_running(context, count, numbers, &length, &running) == FCL_OK && length == count);
    CHECK(sums_total(context, count, numbers, &total) == FCL_OK && total == 3 * count);
    CHECK(running[0] == 3 && running[count - 1] == total);
    free(running);
}

/* The same sums on the device, in a buffer of the kernel's and in the caller's. */
static void sums_in_buffers(struct fcl_context *context, int32_t *numbers) {
    struct fcl_buffer *xs = NULL, *made = NULL, *given = NULL;
    int32_t length = 0, last = 0;
    CHECK(fcl_buffer_new(context, COUNT * sizeof *numbers, &xs) == FCL_OK);
    CHECK(fcl_buffer_new(context, COUNT * sizeof *numbers, &given) == FCL_OK);
    CHECK(fcl_write(xs, 0, numbers, COUNT * sizeof *numbers) == FCL_OK);
    begin("made");
    CHECK(sums_running_device(context, COUNT, xs, &length, &made) == FCL_OK && length == COUNT);
    begin("given");
    CHECK(sums_running_device_into(context, COUNT, xs, &length, given) == FCL_OK && length == COUNT);
    CHECK(fcl_read(given, (COUNT - 1) * sizeof last, &last, sizeof last) == FCL_OK && last == 3 * COUNT);
    begin("left");
    fcl_buffer_free(xs);
    fcl_buffer_free(made);
    fcl_buffer_free(given);
}

int main(void) {
    struct fcl_context *context = open_device();
    struct fcl_buffer *many[MANY] = {NULL};
    static int32_t numbers[COUNT];
    for (int32_t i = 0; i < COUNT; i++)
        numbers[i] = 3;
    begin("first");
    sums(context, numbers, COUNT);
    begin("again");
    sums(context, numbers, COUNT);
    begin("shorter");
    sums(context, numbers, COUNT - 700);
    sums_in_buffers(context, numbers);
    begin("many");
    for (uint64_t i = 0; i < MANY; i++)
        CHECK(fcl_buffer_new(context, 100, &many[i]) == FCL_OK && fcl_buffer_bytes(many[i]) == 100);
    begin("freed");
    for (uint64_t i = 0; i < MANY; i++)
        fcl_buffer_free(many[i]);
    begin("one");
    for (uint64_t i = 0; i < 500; i++) { /* of any size: no more than a quarter too much, or little */
        uint64_t bytes = i * i * 27;
        CHECK(fcl_buffer_new(context, bytes, &many[0]) == FCL_OK && fcl_buffer_bytes(many[0]) == bytes);
        CHECK(fcl_fill(many[0], 0, bytes, 1) == FCL_OK);
        CHECK(bytes == 0 || fcl_fill(many[0], bytes, 1, 1) == FCL_INVALID);
        fcl_buffer_free(many[0]);
    }
    begin("trimmed");
    fcl_trim(context);
    begin("end");
    fcl_close(context);
    return failures != 0;
}
