// The part of the CUDA driver API and of NVRTC that the runtime uses, declared here so that
// building it needs no toolkit; and what HIP, AMD's, calls the same. Its functions take and give
// what CUDA's do: its errors and flags have the same numbers, its attributes of devices others.
//
// The lists are used like those of opencl_api.h. Only entry points that have kept their meaning
// since CUDA 9 are required; the optional ones give better messages or help where the toolkit and
// the driver are of different ages.
#ifndef FCL_CUDA_API_H
#define FCL_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

#ifndef FCL_API_TYPES_KNOWN
typedef int CUresult;
typedef int CUdevice;
typedef int CUdevice_attribute;
typedef int CUfunction_attribute;
typedef int CUjit_option;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUevent_st *CUevent;
typedef struct CUstream_st *CUstream;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;
typedef int CUstreamCaptureMode;
typedef int nvrtcResult;
typedef struct _nvrtcProgram *nvrtcProgram;
#endif

#define CUDA_CONSTANTS(X)                                                                                              \
    X(CUDA_SUCCESS, 0)                                                                                                 \
    X(CUDA_ERROR_OUT_OF_MEMORY, 2)                                                                                     \
    X(CUDA_ERROR_STUB_LIBRARY, 34)                                                                                     \
    X(CUDA_ERROR_NO_DEVICE, 100)                                                                                       \
    X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                                                                               \
    X(CUDA_ERROR_INVALID_PTX, 218)                                                                                     \
    X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)                                                                         \
    X(CUDA_ERROR_NOT_FOUND, 500)                                                                                       \
    X(CUDA_ERROR_ILLEGAL_ADDRESS, 700)                                                                                 \
    X(CUDA_ERROR_LAUNCH_TIMEOUT, 702)                                                                                  \
    X(CUDA_ERROR_ASSERT, 710)                                                                                          \
    X(CUDA_ERROR_HARDWARE_STACK_ERROR, 714)                                                                            \
    X(CUDA_ERROR_ILLEGAL_INSTRUCTION, 715)                                                                             \
    X(CUDA_ERROR_MISALIGNED_ADDRESS, 716)                                                                              \
    X(CUDA_ERROR_INVALID_ADDRESS_SPACE, 717)                                                                           \
    X(CUDA_ERROR_INVALID_PC, 718)                                                                                      \
    X(CUDA_ERROR_LAUNCH_FAILED, 719)                                                                                   \
    X(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)                                                                    \
    X(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 5)                                                                           \
    X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 8)                                                              \
    X(CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10)                                                                               \
    X(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                                                                    \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                                                                \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                                                                \
    X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)                                                       \
    X(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 115)                                                                 \
    X(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)                                                                      \
    X(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                                                                          \
    X(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)                                                                           \
    X(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)                                                              \
    X(CU_JIT_ERROR_LOG_BUFFER, 5)                                                                                      \
    X(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)                                                                           \
    X(CU_MEMHOSTALLOC_DEVICEMAP, 2)                                                                                    \
    X(CU_EVENT_DEFAULT, 0)                                                                                             \
    X(CU_EVENT_DISABLE_TIMING, 2)                                                                                      \
    X(CU_STREAM_NON_BLOCKING, 1)                                                                                       \
    X(CU_STREAM_CAPTURE_MODE_RELAXED, 2)                                                                               \
    X(NVRTC_SUCCESS, 0)                                                                                                \
    X(NVRTC_ERROR_INVALID_OPTION, 5)                                                                                   \
    X(NVRTC_ERROR_COMPILATION, 6)

// X(result, name, name of HIP's or "" where it has none like it, parameters)
#define CUDA_FUNCTIONS(X)                                                                                              \
    X(CUresult, cuInit, "hipInit", (unsigned int))                                                                     \
    X(CUresult, cuGetErrorString, "", (CUresult, const char **))                                                       \
    X(CUresult, cuDeviceGetCount, "hipGetDeviceCount", (int *))                                                        \
    X(CUresult, cuDeviceGet, "hipDeviceGet", (CUdevice *, int))                                                        \
    X(CUresult, cuDeviceGetName, "hipDeviceGetName", (char *, int, CUdevice))                                          \
    X(CUresult, cuDeviceGetAttribute, "hipDeviceGetAttribute", (int *, CUdevice_attribute, CUdevice))                  \
    X(CUresult, cuDeviceTotalMem_v2, "hipDeviceTotalMem", (size_t *, CUdevice))                                        \
    X(CUresult, cuDevicePrimaryCtxRetain, "hipDevicePrimaryCtxRetain", (CUcontext *, CUdevice))                        \
    X(CUresult, cuDevicePrimaryCtxRelease, "hipDevicePrimaryCtxRelease", (CUdevice))                                   \
    X(CUresult, cuCtxPushCurrent_v2, "hipCtxPushCurrent", (CUcontext))                                                 \
    X(CUresult, cuCtxPopCurrent_v2, "hipCtxPopCurrent", (CUcontext *))                                                 \
    X(CUresult, cuCtxGetCurrent, "hipCtxGetCurrent", (CUcontext *))                                                    \
    X(CUresult, cuCtxGetDevice, "hipCtxGetDevice", (CUdevice *))                                                       \
    X(CUresult, cuStreamSynchronize, "hipStreamSynchronize", (CUstream))                                               \
    X(CUresult, cuModuleLoadData, "hipModuleLoadData", (CUmodule *, const void *))                                     \
    X(CUresult, cuModuleUnload, "hipModuleUnload", (CUmodule))                                                         \
    X(CUresult, cuModuleGetFunction, "hipModuleGetFunction", (CUfunction *, CUmodule, const char *))                   \
    X(CUresult, cuFuncGetAttribute, "hipFuncGetAttribute", (int *, CUfunction_attribute, CUfunction))                  \
    X(CUresult, cuFuncSetAttribute, "", (CUfunction, CUfunction_attribute, int))                                       \
    X(CUresult, cuMemAlloc_v2, "hipMalloc", (CUdeviceptr *, size_t))                                                   \
    X(CUresult, cuMemFree_v2, "hipFree", (CUdeviceptr))                                                                \
    X(CUresult, cuMemcpyHtoDAsync_v2, "hipMemcpyHtoDAsync", (CUdeviceptr, const void *, size_t, CUstream))             \
    X(CUresult, cuMemcpyDtoHAsync_v2, "hipMemcpyDtoHAsync", (void *, CUdeviceptr, size_t, CUstream))                   \
    X(CUresult, cuMemcpyDtoDAsync_v2, "hipMemcpyDtoDAsync", (CUdeviceptr, CUdeviceptr, size_t, CUstream))              \
    X(CUresult, cuMemsetD8Async, "hipMemsetD8Async", (CUdeviceptr, unsigned char, size_t, CUstream))                   \
    X(CUresult, cuLaunchKernel, "hipModuleLaunchKernel",                                                               \
      (CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,   \
       CUstream, void **, void **))                                                                                    \
    X(CUresult, cuEventCreate, "hipEventCreateWithFlags", (CUevent *, unsigned int))                                   \
    X(CUresult, cuEventRecord, "hipEventRecord", (CUevent, CUstream))                                                  \
    X(CUresult, cuEventSynchronize, "hipEventSynchronize", (CUevent))                                                  \
    X(CUresult, cuEventElapsedTime, "hipEventElapsedTime", (float *, CUevent, CUevent))                                \
    X(CUresult, cuEventDestroy_v2, "hipEventDestroy", (CUevent))

#define CUDA_OPTIONAL_FUNCTIONS(X)                                                                                     \
    X(CUresult, cuDriverGetVersion, "hipDriverGetVersion", (int *))                                                    \
    X(CUresult, cuDeviceCanAccessPeer, "", (int *, CUdevice, CUdevice))                                                \
    X(CUresult, cuCtxEnablePeerAccess, "", (CUcontext, unsigned int))                                                  \
    X(CUresult, cuMemcpyPeerAsync, "", (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream))             \
    X(CUresult, cuMemHostAlloc, "hipHostMalloc", (void **, size_t, unsigned int))                                      \
    X(CUresult, cuMemFreeHost, "hipHostFree", (void *))                                                                \
    X(CUresult, cuMemHostGetDevicePointer_v2, "hipHostGetDevicePointer", (CUdeviceptr *, void *, unsigned int))        \
    X(CUresult, cuMemAllocAsync, "hipMallocAsync", (CUdeviceptr *, size_t, CUstream))                                  \
    X(CUresult, cuMemFreeAsync, "hipFreeAsync", (CUdeviceptr, CUstream))                                               \
    X(CUresult, cuModuleLoadDataEx, "", (CUmodule *, const void *, unsigned int, CUjit_option *, void **))             \
    X(CUresult, cuStreamCreate, "hipStreamCreateWithFlags", (CUstream *, unsigned int))                                \
    X(CUresult, cuStreamWaitEvent, "hipStreamWaitEvent", (CUstream, CUevent, unsigned int))                            \
    X(CUresult, cuStreamDestroy_v2, "hipStreamDestroy", (CUstream))                                                    \
    X(CUresult, cuStreamBeginCapture_v2, "hipStreamBeginCapture", (CUstream, CUstreamCaptureMode))                     \
    X(CUresult, cuStreamEndCapture, "hipStreamEndCapture", (CUstream, CUgraph *))                                      \
    X(CUresult, cuGraphInstantiateWithFlags, "hipGraphInstantiateWithFlags",                                           \
      (CUgraphExec *, CUgraph, unsigned long long))                                                                    \
    X(CUresult, cuGraphLaunch, "hipGraphLaunch", (CUgraphExec, CUstream))                                              \
    X(CUresult, cuGraphExecDestroy, "hipGraphExecDestroy", (CUgraphExec))                                              \
    X(CUresult, cuGraphDestroy, "hipGraphDestroy", (CUgraph))

#define NVRTC_FUNCTIONS(X)                                                                                             \
    X(const char *, nvrtcGetErrorString, "hiprtcGetErrorString", (nvrtcResult))                                        \
    X(nvrtcResult, nvrtcCreateProgram, "hiprtcCreateProgram",                                                          \
      (nvrtcProgram *, const char *, const char *, int, const char *const *, const char *const *))                     \
    X(nvrtcResult, nvrtcCompileProgram, "hiprtcCompileProgram", (nvrtcProgram, int, const char *const *))              \
    X(nvrtcResult, nvrtcGetPTXSize, "hiprtcGetCodeSize", (nvrtcProgram, size_t *))                                     \
    X(nvrtcResult, nvrtcGetPTX, "hiprtcGetCode", (nvrtcProgram, char *))                                               \
    X(nvrtcResult, nvrtcGetProgramLogSize, "hiprtcGetProgramLogSize", (nvrtcProgram, size_t *))                        \
    X(nvrtcResult, nvrtcGetProgramLog, "hiprtcGetProgramLog", (nvrtcProgram, char *))                                  \
    X(nvrtcResult, nvrtcDestroyProgram, "hiprtcDestroyProgram", (nvrtcProgram *))

#define NVRTC_OPTIONAL_FUNCTIONS(X)                                                                                    \
    X(nvrtcResult, nvrtcVersion, "hiprtcVersion", (int *, int *))                                                      \
    X(nvrtcResult, nvrtcGetNumSupportedArchs, "", (int *))                                                             \
    X(nvrtcResult, nvrtcGetSupportedArchs, "", (int *))                                                                \
    X(nvrtcResult, nvrtcGetCUBINSize, "", (nvrtcProgram, size_t *))                                                    \
    X(nvrtcResult, nvrtcGetCUBIN, "", (nvrtcProgram, char *))

// Functions that HIP alone has. X(result, name, parameters)
#define HIP_FUNCTIONS(X) X(const char *, hipGetErrorString, (CUresult))

// X(attribute of CUDA, attribute of HIP, value)
#define HIP_ATTRIBUTES(X)                                                                                              \
    X(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, hipDeviceAttributeMaxThreadsPerBlock, 56)                             \
    X(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, hipDeviceAttributeMaxGridDimX, 29)                                           \
    X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, hipDeviceAttributeMaxSharedMemoryPerBlock, 74)                  \
    X(CU_DEVICE_ATTRIBUTE_WARP_SIZE, hipDeviceAttributeWarpSize, 87)                                                   \
    X(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, hipDeviceAttributeMultiprocessorCount, 63)                             \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, hipDeviceAttributeComputeCapabilityMajor, 23)                      \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, hipDeviceAttributeComputeCapabilityMinor, 61)                      \
    X(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, hipDeviceAttributeMemoryPoolsSupported, 88)

#endif
