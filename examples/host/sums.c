/* Sums by kernels in C, for the build files beside it (make, cmake, meson). */
#include <stdio.h>
#include <stdlib.h>

#include "sums.h"

int main(void) {
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    options.kind = FCL_DEVICE_C;
    struct fcl_context *context;
    char why[1024];
    if (fcl_open(&context, &options, why, sizeof why) != FCL_OK) {
        fprintf(stderr, "%s\n", why);
        return 77;
    }
    const int32_t numbers[] = {1, 2, 3, 4};
    int32_t total, count, *running;
    if (sums_total(context, 4, numbers, &total) != FCL_OK ||
        sums_running(context, 4, numbers, &count, &running) != FCL_OK) {
        fprintf(stderr, "%s\n", fcl_error(context));
        fcl_close(context);
        return 1;
    }
    printf("%d:", total);
    for (int32_t i = 0; i < count; i++)
        printf(" %d", running[i]);
    printf("\n");
    free(running);
    fcl_close(context);
    return 0;
}
