/* A host program that needs no device: the kernels are C, compiled by the system's compiler when
   first used. The array stays in device memory between two kernels.

     build/fclc examples/reverse/reverse.fcl -o turn.c
     cc -I. -Iruntime examples/host/plain.c build/libfcl.a -ldl -lm -lpthread -o plain && ./plain */
#include <stdio.h>

#define TURN_IMPLEMENTATION
#include "turn.h"

static int fail(struct fcl_context *context) {
    fprintf(stderr, "%s\n", fcl_error(context));
    fcl_close(context);
    return 1;
}

int main(void) {
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    options.kind = FCL_DEVICE_C;
    struct fcl_context *context;
    char why[1024];
    if (fcl_open(&context, &options, why, sizeof why) != FCL_OK) {
        fprintf(stderr, "%s\n", why);
        return 77;
    }
    int32_t numbers[] = {1, 2, 3, 4, 5}, once = 0, twice = 0;
    struct fcl_buffer *in = NULL, *turned = NULL, *back = NULL;
    if (fcl_buffer_new(context, sizeof numbers, &in) != FCL_OK || fcl_write(in, 0, numbers, sizeof numbers) != FCL_OK ||
        turn_reverseGrid_device(context, 5, in, &once, &turned) != FCL_OK ||
        turn_reverseChunks_device(context, once, turned, &twice, &back) != FCL_OK ||
        fcl_read(turned, 0, numbers, sizeof numbers) != FCL_OK)
        return fail(context);
    printf("%d %d %d %d %d\n", numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]);
    int wrong = numbers[0] != 5 || numbers[4] != 1;
    if (fcl_read(back, 0, numbers, sizeof numbers) != FCL_OK)
        return fail(context);
    wrong |= numbers[0] != 1 || numbers[4] != 5 || twice != 5;
    fcl_buffer_free(in);
    fcl_buffer_free(turned);
    fcl_buffer_free(back);
    fcl_close(context);
    return wrong;
}
