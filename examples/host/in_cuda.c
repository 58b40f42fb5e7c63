/* A program on CUDA's driver API that has had its context, stream and memory all along, and now
   has FCL kernels, too: they run on its stream, in order with its own copies, and on its memory.
   (stream.cu does the same with the runtime API.)

     build/fclc examples/host/sums.fcl -o sums.cu
     cc -I. -Iruntime -I/usr/local/cuda/include examples/host/in_cuda.c build/libfcl.a \
        -lcuda -ldl -lm -lpthread -o in_cuda
     ./in_cuda */
#include <stdio.h>

#ifdef __has_include
#if __has_include(<cuda.h>)
#include <cuda.h>
#define HAS_CUDA_H
#endif
#endif
#ifndef HAS_CUDA_H /* no toolkit: what is used of it */
typedef int CUdevice, CUresult;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef unsigned long long CUdeviceptr;
enum { CUDA_SUCCESS };
#define cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2
#define cuMemAlloc cuMemAlloc_v2
#define cuMemFree cuMemFree_v2
#define cuMemcpyHtoDAsync cuMemcpyHtoDAsync_v2
#define cuMemcpyDtoHAsync cuMemcpyDtoHAsync_v2
#define cuStreamDestroy cuStreamDestroy_v2
CUresult cuInit(unsigned), cuDeviceGet(CUdevice *, int), cuDevicePrimaryCtxRetain(CUcontext *, CUdevice),
    cuDevicePrimaryCtxRelease(CUdevice), cuCtxSetCurrent(CUcontext), cuMemAlloc(CUdeviceptr *, size_t),
    cuMemFree(CUdeviceptr), cuStreamCreate(CUstream *, unsigned), cuStreamSynchronize(CUstream),
    cuStreamDestroy(CUstream), cuMemcpyHtoDAsync(CUdeviceptr, const void *, size_t, CUstream),
    cuMemcpyDtoHAsync(void *, CUdeviceptr, size_t, CUstream);
#endif

#define SUMS_IMPLEMENTATION
#include "sums.h"

enum { COUNT = 1000 };

/* This is new: sums of the program's numbers, by kernels in FCL. */
static int add_up(CUstream stream, CUdeviceptr memory) {
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    options.kind = FCL_DEVICE_CUDA;
    options.queue = stream; /* what follows is in order with what was asked of it */
    struct fcl_context *context;
    char why[1024];
    if (fcl_open(&context, &options, why, sizeof why) != FCL_OK) {
        fprintf(stderr, "%s\n", why);
        return 77;
    }
    struct fcl_buffer *in = NULL, *out = NULL;
    int32_t total = 0, count = 0, last = 0;
    /* The memory stays the program's: fcl_buffer_free forgets it only. */
    if (fcl_buffer_wrap(context, (uintptr_t)memory, COUNT * sizeof(int32_t), &in) != FCL_OK ||
        sums_total_device(context, COUNT, in, &total) != FCL_OK ||
        sums_running_device(context, COUNT, in, &count, &out) != FCL_OK) {
        fprintf(stderr, "%s\n", fcl_error(context));
        fcl_close(context);
        return 1;
    }
    /* A result is CUDA's memory, too. */
    cuMemcpyDtoHAsync(&last, (CUdeviceptr)fcl_buffer_native(out) + (COUNT - 1) * sizeof last, sizeof last, stream);
    cuStreamSynchronize(stream);
    printf("%d numbers, %d in all; the last of %d running sums is %d\n", COUNT, total, count, last);
    fcl_buffer_free(out);
    fcl_buffer_free(in);
    fcl_close(context);
    return total == 4500 && last == total ? 0 : 1;
}

int main(void) {
    CUdevice device;
    CUcontext own;
    CUstream stream;
    CUdeviceptr memory;
    if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
        cuDevicePrimaryCtxRetain(&own, device) != CUDA_SUCCESS || cuCtxSetCurrent(own) != CUDA_SUCCESS) {
        fprintf(stderr, "no CUDA device\n");
        return 77;
    }
    int32_t numbers[COUNT];
    for (int32_t i = 0; i < COUNT; i++)
        numbers[i] = i % 10;
    if (cuStreamCreate(&stream, 0) != CUDA_SUCCESS || cuMemAlloc(&memory, sizeof numbers) != CUDA_SUCCESS ||
        cuMemcpyHtoDAsync(memory, numbers, sizeof numbers, stream) != CUDA_SUCCESS)
        return 1;
    int status = add_up(stream, memory);
    cuMemFree(memory);
    cuStreamDestroy(stream);
    cuDevicePrimaryCtxRelease(device);
    return status;
}
