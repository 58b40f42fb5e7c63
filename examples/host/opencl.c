/* A host program that runs an FCL kernel on an OpenCL device.

     build/fclc examples/reduce/reduce.fcl -o sums.cl --map=loop    # for a CPU; without --map for a GPU
     cc -I. -Iruntime examples/host/opencl.c build/libfcl.a -ldl -lm -lpthread -o opencl && ./opencl */
#include <stdio.h>
#include <stdlib.h>

#define SUMS_IMPLEMENTATION
#include "sums.h"

int main(void) {
    enum { COUNT = 1000000 };
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    options.kind = FCL_DEVICE_OPENCL;
    struct fcl_context *context;
    char why[1024];
    if (fcl_open(&context, &options, why, sizeof why) != FCL_OK) {
        fprintf(stderr, "no OpenCL device: %s\n", why);
        return 77;
    }
    int32_t *numbers = malloc(COUNT * sizeof *numbers), *sums = NULL, count = 0;
    for (int32_t i = 0; i < COUNT; i++)
        numbers[i] = i % 100;
    if (sums_sumBlocks(context, COUNT, numbers, &count, &sums) != FCL_OK) {
        fprintf(stderr, "%s\n", fcl_error(context));
        return 1;
    }
    int64_t total = 0;
    for (int32_t i = 0; i < count; i++)
        total += sums[i];
    printf("%d numbers, %d sums, %lld in all\n", COUNT, count, (long long)total);
    free(sums);
    free(numbers);
    fcl_close(context);
    return total == 49500000 ? 0 : 1;
}
