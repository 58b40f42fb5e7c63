/* An OpenCL program that has had its context, queue and memory all along, and now has FCL kernels,
   too: they run on its queue, in order with its own kernel, and on its memory.

     build/fclc examples/host/sums.fcl -o sums.cl --map=loop    # for a CPU; without --map for a GPU
     cc -I. -Iruntime examples/host/in_opencl.c build/libfcl.a -lOpenCL -ldl -lm -lpthread -o in_opencl &&
   ./in_opencl */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>

#define SUMS_IMPLEMENTATION
#include "sums.h"

enum { COUNT = 1000 };

static const char own_source[] =
    "kernel void numbers(global int *to) { to[get_global_id(0)] = get_global_id(0) % 10; }";

/* The program did this before: its kernel fills the memory. */
static cl_mem filled(cl_context own, cl_device_id device, cl_command_queue queue) {
    const char *text = own_source;
    const size_t count = COUNT;
    cl_int error;
    cl_program program = clCreateProgramWithSource(own, 1, &text, NULL, &error);
    clBuildProgram(program, 1, &device, "", NULL, NULL);
    cl_kernel kernel = clCreateKernel(program, "numbers", &error);
    cl_mem memory = clCreateBuffer(own, CL_MEM_READ_WRITE, COUNT * sizeof(cl_int), NULL, &error);
    clSetKernelArg(kernel, 0, sizeof memory, &memory);
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    return memory;
}

/* And what it does now: sums of its numbers, by kernels in FCL. */
static int add_up(cl_command_queue queue, cl_mem memory) {
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    options.kind = FCL_DEVICE_OPENCL;
    options.queue = queue; /* what follows is in order with what was asked of it */
    struct fcl_context *context;
    char why[1024];
    if (fcl_open(&context, &options, why, sizeof why) != FCL_OK) {
        fprintf(stderr, "%s\n", why);
        return 77;
    }
    struct fcl_buffer *in = NULL, *out = NULL;
    int32_t total = 0, count = 0, last = 0;
    /* The memory stays the program's: fcl_buffer_free forgets it only. */
    if (fcl_buffer_wrap(context, (uintptr_t)memory, COUNT * sizeof(cl_int), &in) != FCL_OK ||
        sums_total_device(context, COUNT, in, &total) != FCL_OK ||
        sums_running_device(context, COUNT, in, &count, &out) != FCL_OK) {
        fprintf(stderr, "%s\n", fcl_error(context));
        fcl_close(context);
        return 1;
    }
    /* A result is OpenCL's memory, too. */
    clEnqueueReadBuffer(queue, (cl_mem)fcl_buffer_native(out), CL_TRUE, (COUNT - 1) * sizeof last, sizeof last, &last,
                        0, NULL, NULL);
    printf("%d numbers, %d in all; the last of %d running sums is %d\n", COUNT, total, count, last);
    fcl_buffer_free(out);
    fcl_buffer_free(in);
    fcl_close(context);
    return total == 4500 && last == total ? 0 : 1;
}

int main(void) {
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
        fprintf(stderr, "no OpenCL device\n");
        return 77;
    }
    cl_context own = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    cl_command_queue queue = clCreateCommandQueue(own, device, 0, &error);
    cl_mem memory = filled(own, device, queue);
    int status = add_up(queue, memory);
    clReleaseMemObject(memory);
    clReleaseCommandQueue(queue);
    clReleaseContext(own);
    return status;
}
