/* The caller's own OpenCL queue and memory, and results in the caller's memory. */
#include <CL/cl.h>
#include <stdio.h>

#define TURN_IMPLEMENTATION
#include "turn.h"

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, context ? fcl_error(context) : "");     \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

int main(void) {
    enum { COUNT = 1000 };
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        return 77;
    cl_context own = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    cl_command_queue queue = clCreateCommandQueue(own, device, 0, &error);
    cl_mem memory = clCreateBuffer(own, CL_MEM_READ_WRITE, COUNT * sizeof(int32_t), NULL, &error);
    int32_t numbers[COUNT], turned[COUNT], length = COUNT;
    for (int32_t i = 0; i < COUNT; i++)
        numbers[i] = i;
    clEnqueueWriteBuffer(queue, memory, CL_FALSE, 0, sizeof numbers, numbers, 0, NULL, NULL);

    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    options.kind = FCL_DEVICE_OPENCL;
    options.queue = queue;
    struct fcl_context *context = NULL;
    char why[1024];
    if (fcl_open(&context, &options, why, sizeof why) != FCL_OK) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    struct fcl_buffer *in = NULL, *out = NULL;
    CHECK(fcl_buffer_wrap(context, (uintptr_t)memory, sizeof numbers, &in) == FCL_OK);
    CHECK(turn_reverseGrid_device(context, COUNT, in, &length, &out) == FCL_OK);
    CHECK(length == COUNT);
    clEnqueueReadBuffer(queue, (cl_mem)fcl_buffer_native(out), CL_TRUE, 0, sizeof turned, turned, 0, NULL, NULL);
    CHECK(turned[0] == COUNT - 1 && turned[COUNT - 1] == 0);
    fcl_buffer_free(out);
    fcl_buffer_free(in); /* forgets it only */

    for (int32_t i = 0; i < COUNT; i++)
        turned[i] = -1;
    length = COUNT;
    CHECK(turn_reverseGrid_into(context, COUNT, numbers, &length, turned) == FCL_OK);
    CHECK(length == COUNT && turned[0] == COUNT - 1 && turned[COUNT - 1] == 0);
    length = COUNT - 1;
    turned[0] = -1;
    CHECK(turn_reverseGrid_into(context, COUNT, numbers, &length, turned) != FCL_OK);
    CHECK(length == COUNT && turned[0] == -1);
    /* Another queue for a call, and then the first one. */
    cl_command_queue other = clCreateCommandQueue(own, device, 0, &error);
    CHECK(fcl_use_queue(context, other) == FCL_OK);
    struct fcl_buffer *given = NULL, *again = NULL;
    CHECK(fcl_buffer_new(context, sizeof numbers, &given) == FCL_OK);
    CHECK(fcl_buffer_new(context, sizeof numbers, &again) == FCL_OK);
    CHECK(fcl_write(given, 0, numbers, sizeof numbers) == FCL_OK);
    CHECK(turn_reverseGrid_device_into(context, COUNT, given, &length, again) == FCL_OK && length == COUNT);
    CHECK(fcl_use_queue(context, NULL) == FCL_OK);
    CHECK(turn_reverseGrid_device_into(context, COUNT, again, &length, given) == FCL_OK);
    clEnqueueReadBuffer(queue, (cl_mem)fcl_buffer_native(again), CL_TRUE, 0, sizeof turned, turned, 0, NULL, NULL);
    CHECK(turned[0] == COUNT - 1 && turned[COUNT - 1] == 0);
    CHECK(fcl_read(given, 0, turned, sizeof turned) == FCL_OK && turned[0] == 0 && turned[COUNT - 1] == COUNT - 1);
    turned[0] = -1;
    fcl_buffer_free(given);
    fcl_buffer_free(again);
    CHECK(clReleaseCommandQueue(other) == CL_SUCCESS);
    cl_context apart = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    other = clCreateCommandQueue(apart, device, 0, &error);
    CHECK(fcl_use_queue(context, other) == FCL_INVALID && strstr(fcl_error(context), "of another context of OpenCL"));
    clReleaseCommandQueue(other);
    clReleaseContext(apart);
    fcl_close(context);
    /* All of it is still the caller's. */
    context = NULL;
    CHECK(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof turned, turned, 0, NULL, NULL) == CL_SUCCESS);
    CHECK(turned[1] == 1);
    clReleaseMemObject(memory);
    CHECK(clReleaseCommandQueue(queue) == CL_SUCCESS && clReleaseContext(own) == CL_SUCCESS);
    return 0;
}
