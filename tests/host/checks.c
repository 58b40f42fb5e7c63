/* Host functions of code compiled with --check: errors say where and what. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECKS_IMPLEMENTATION
#include "checks.h"

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, fcl_error(context));                    \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

int main(void) {
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    options.kind = DEVICE;
    struct fcl_context *context;
    char why[1024];
    if (fcl_open(&context, &options, why, sizeof why) != FCL_OK) {
        fprintf(stderr, "%s\n", why);
        return 77;
    }
    int32_t numbers[] = {5, 6, 7}, good[] = {2, 0}, bad[] = {2, 3}, length = -1, *result = NULL;
    EXPECT(checks_gathered(context, 3, numbers, 2, good, &length, &result) == FCL_OK);
    EXPECT(length == 2 && result[0] == 7 && result[1] == 5);
    free(result);
    EXPECT(checks_gathered(context, 3, numbers, 2, bad, &length, &result) == FCL_CHECK_FAILED);
    EXPECT(length == 0 && !result);
    EXPECT(strstr(fcl_error(context), "checks.fcl:10:"));
    EXPECT(strstr(fcl_error(context), "index 3 is out of range: the array has 3 elements"));
    int32_t element = -1;
    EXPECT(checks_element(context, 3, numbers, 1, &element) == FCL_OK && element == 6);
    EXPECT(checks_element(context, 3, numbers, -1, &element) == FCL_CHECK_FAILED);
    EXPECT(checks_gathered(context, 3, numbers, 2, good, &length, &result) == FCL_OK && length == 2);
    free(result);
    fcl_close(context);
    return 0;
}
