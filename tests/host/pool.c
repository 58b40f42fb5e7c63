/* What the pool asks of the driver: the CUDA simulator notes it in the file of CUDASIM_CALLS, and
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
