/* Host functions of code compiled with --check: errors say where and what. */
#define CHECKS_IMPLEMENTATION
#include "checks.h"

#include "host.h"

int main(void) {
    struct fcl_context *context = open_device();
    int32_t numbers[] = {5, 6, 7}, good[] = {2, 0}, bad[] = {2, 3}, length = -1, *result = NULL;
    CHECK(checks_gathered(context, 3, numbers, 2, good, &length, &result) == FCL_OK);
    CHECK(length == 2 && result[0] == 7 && result[1] == 5);
    free(result);
    CHECK(checks_gathered(context, 3, numbers, 2, bad, &length, &result) == FCL_CHECK_FAILED);
    CHECK(length == 0 && !result);
    CHECK(strstr(fcl_error(context), "checks.fcl:11:"));
    CHECK(strstr(fcl_error(context), "index 3 is out of range: the array has 3 elements"));
    int32_t element = -1;
    CHECK(checks_element(context, 3, numbers, 1, &element) == FCL_OK && element == 6);
    CHECK(checks_element(context, 3, numbers, -1, &element) == FCL_CHECK_FAILED);
    CHECK(checks_gathered(context, 3, numbers, 2, good, &length, &result) == FCL_OK && length == 2);
    free(result);
    fcl_close(context);
    return failures != 0;
}
