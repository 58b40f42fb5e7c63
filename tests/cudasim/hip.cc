// HIP's driver API, as far as the runtime uses it: CUDA's functions by other names, over the same machine. Only its
// waves have 64 lanes, or 32 with CUDASIM_WAVE=32.
#include "machine.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

unsigned cudasim::wave_size() {
    const char *given = getenv("CUDASIM_WAVE");
    return given && strcmp(given, "32") == 0 ? 32 : 64;
}

extern "C" {

#define SAME(hip, cuda, parameters, arguments)                                                                         \
    int cuda parameters;                                                                                               \
    int hip parameters { return cuda arguments; }

SAME(hipInit, cuInit, (unsigned flags), (flags))
SAME(hipGetDeviceCount, cuDeviceGetCount, (int *count), (count))
SAME(hipDeviceGet, cuDeviceGet, (int *device, int ordinal), (device, ordinal))
SAME(hipDeviceTotalMem, cuDeviceTotalMem_v2, (size_t * bytes, int device), (bytes, device))
SAME(hipDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, (void **context, int device), (context, device))
SAME(hipDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease, (int device), (device))
SAME(hipCtxPushCurrent, cuCtxPushCurrent_v2, (void *context), (context))
SAME(hipCtxPopCurrent, cuCtxPopCurrent_v2, (void **context), (context))
SAME(hipCtxGetCurrent, cuCtxGetCurrent, (void **context), (context))
SAME(hipCtxGetDevice, cuCtxGetDevice, (int *device), (device))
SAME(hipStreamSynchronize, cuStreamSynchronize, (void *stream), (stream))
SAME(hipModuleLoadData, cuModuleLoadData, (void **module, const void *image), (module, image))
SAME(hipModuleUnload, cuModuleUnload, (void *module), (module))
SAME(hipModuleGetFunction, cuModuleGetFunction, (void **function, void *module, const char *name),
     (function, module, name))
SAME(hipFuncGetAttribute, cuFuncGetAttribute, (int *value, int what, void *function), (value, what, function))
SAME(hipMalloc, cuMemAlloc_v2, (uintptr_t * address, size_t bytes), (address, bytes))
SAME(hipFree, cuMemFree_v2, (uintptr_t address), (address))
SAME(hipMallocAsync, cuMemAllocAsync, (uintptr_t * address, size_t bytes, void *stream), (address, bytes, stream))
SAME(hipFreeAsync, cuMemFreeAsync, (uintptr_t address, void *stream), (address, stream))
SAME(hipHostMalloc, cuMemHostAlloc, (void **memory, size_t bytes, unsigned flags), (memory, bytes, flags))
SAME(hipHostGetDevicePointer, cuMemHostGetDevicePointer_v2, (uintptr_t * address, void *memory, unsigned flags),
     (address, memory, flags))
SAME(hipHostFree, cuMemFreeHost, (void *memory), (memory))
SAME(hipMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2, (uintptr_t to, const void *from, size_t bytes, void *stream),
     (to, from, bytes, stream))
SAME(hipMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2, (void *to, uintptr_t from, size_t bytes, void *stream),
     (to, from, bytes, stream))
SAME(hipMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2, (uintptr_t to, uintptr_t from, size_t bytes, void *stream),
     (to, from, bytes, stream))
SAME(hipMemsetD8Async, cuMemsetD8Async, (uintptr_t to, unsigned char value, size_t bytes, void *stream),
     (to, value, bytes, stream))
SAME(hipModuleLaunchKernel, cuLaunchKernel,
     (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
      unsigned block_z, unsigned shared, void *stream, void **arguments, void **extra),
     (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, arguments, extra))
SAME(hipStreamCreateWithFlags, cuStreamCreate, (void **stream, unsigned flags), (stream, flags))
SAME(hipStreamWaitEvent, cuStreamWaitEvent, (void *stream, void *event, unsigned flags), (stream, event, flags))
SAME(hipStreamDestroy, cuStreamDestroy_v2, (void *stream), (stream))
SAME(hipStreamBeginCapture, cuStreamBeginCapture_v2, (void *stream, int mode), (stream, mode))
SAME(hipStreamEndCapture, cuStreamEndCapture, (void *stream, void **graph), (stream, graph))
SAME(hipGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, (void **made, void *graph, unsigned long long flags),
     (made, graph, flags))
SAME(hipGraphLaunch, cuGraphLaunch, (void *graph, void *stream), (graph, stream))
SAME(hipGraphDestroy, cuGraphDestroy, (void *graph), (graph))
SAME(hipGraphExecDestroy, cuGraphExecDestroy, (void *graph), (graph))
SAME(hipEventCreateWithFlags, cuEventCreate, (void **event, unsigned flags), (event, flags))
SAME(hipEventRecord, cuEventRecord, (void *event, void *stream), (event, stream))
SAME(hipEventSynchronize, cuEventSynchronize, (void *event), (event))
SAME(hipEventElapsedTime, cuEventElapsedTime, (float *milliseconds, void *from, void *to), (milliseconds, from, to))
SAME(hipEventDestroy, cuEventDestroy_v2, (void *event), (event))

int cuDeviceGetAttribute(int *value, int what, int device);
int cuGetErrorString(int status, const char **text);

int hipDriverGetVersion(int *version) {
    *version = 50200000;
    return 0;
}

int hipDeviceGetName(char *name, int length, int) {
    snprintf(name, static_cast<size_t>(length), "fcl HIP simulator");
    return 0;
}

const char *hipGetErrorString(int status) {
    const char *text = nullptr;
    cuGetErrorString(status, &text);
    return text ? text : "unknown error";
}

// The numbers of HIP's attributes, and CUDA's of the same meaning.
int hipDeviceGetAttribute(int *value, int what, int device) {
    static const struct { int hip, cuda; } same[] = {{56, 1}, {29, 5}, {63, 16}, {88, 115}};
    for (const auto &one : same)
        if (one.hip == what)
            return cuDeviceGetAttribute(value, one.cuda, device);
    switch (what) {
    case 23: *value = 9; break; // gfx90a
    case 61: *value = 0; break;
    case 74: *value = static_cast<int>(cudasim::most_shared); break; // shared memory per block
    case 87: *value = static_cast<int>(cudasim::wave_size()); break;
    default: return 1;
    }
    return 0;
}
}
