/* The programs here share this: what must hold, and a context of the kind of device that DEVICE names. */
#include <fcl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
#define CHECK(what)                                                                                                    \
    do {                                                                                                               \
        if (!(what)) {                                                                                                 \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #what, fcl_error(context));                         \
            failures++;                                                                                                \
        }                                                                                                              \
    } while (0)

/* Ends the program where there is none: the test is skipped. */
static struct fcl_context *open_device(void) {
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    struct fcl_context *context;
    char why[1024];
    options.kind = DEVICE;
    if (fcl_open(&context, &options, why, sizeof why) == FCL_OK)
        return context;
    fprintf(stderr, "%s\n", why);
    exit(77);
}
