/* Calls the kernel that saxpy.py has written and fclc has compiled. */
#include <stdio.h>
#include <stdlib.h>

#define SAXPY_IMPLEMENTATION
#include "saxpy.h"

int main(void) {
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    options.kind = FCL_DEVICE_C;
    struct fcl_context *context;
    char why[1024];
    if (fcl_open(&context, &options, why, sizeof why) != FCL_OK) {
        fprintf(stderr, "%s\n", why);
        return 77;
    }
    const float x[] = {1, 2, 3}, y[] = {10, 20, 30};
    int32_t count;
    float *result;
    if (saxpy_saxpy(context, 2, 3, x, 3, y, &count, &result) != FCL_OK) {
        fprintf(stderr, "%s\n", fcl_error(context));
        fcl_close(context);
        return 1;
    }
    for (int32_t i = 0; i < count; i++)
        printf("%g%s", result[i], i + 1 < count ? " " : "\n");
    free(result);
    fcl_close(context);
    return 0;
}
