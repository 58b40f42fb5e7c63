// The part of the OpenCL 1.2 API that the runtime uses, declared here so that building it needs no OpenCL headers.
//
// The functions and constants are lists that opencl.c turns into a table and an enum, and the unit test
// test_runtime_abi.c into assertions against the real headers where those are installed.
#ifndef FCL_OPENCL_API_H
#define FCL_OPENCL_API_H

#include <stddef.h>
#include <stdint.h>

#ifndef FCL_API_TYPES_KNOWN
typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef cl_uint cl_bool;
typedef cl_ulong cl_bitfield;
typedef cl_bitfield cl_device_type;
typedef cl_bitfield cl_device_fp_config;
typedef cl_bitfield cl_command_queue_properties;
typedef cl_bitfield cl_mem_flags;
typedef cl_uint cl_platform_info;
typedef cl_uint cl_device_info;
typedef cl_uint cl_program_info;
typedef cl_uint cl_program_build_info;
typedef cl_uint cl_kernel_work_group_info;
typedef cl_uint cl_kernel_info;
typedef cl_uint cl_profiling_info;
typedef intptr_t cl_context_properties;
typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;
#endif

#define OPENCL_CONSTANTS(X)                                                                                            \
    X(CL_DEVICE_NOT_FOUND, -1)                                                                                         \
    X(CL_MEM_OBJECT_ALLOCATION_FAILURE, -4)                                                                            \
    X(CL_OUT_OF_RESOURCES, -5)                                                                                         \
    X(CL_OUT_OF_HOST_MEMORY, -6)                                                                                       \
    X(CL_BUILD_PROGRAM_FAILURE, -11)                                                                                   \
    X(CL_INVALID_VALUE, -30)                                                                                           \
    X(CL_INVALID_BUILD_OPTIONS, -43)                                                                                   \
    X(CL_INVALID_KERNEL_NAME, -46)                                                                                     \
    X(CL_INVALID_ARG_INDEX, -49)                                                                                       \
    X(CL_INVALID_ARG_SIZE, -51)                                                                                        \
    X(CL_INVALID_KERNEL_ARGS, -52)                                                                                     \
    X(CL_INVALID_WORK_GROUP_SIZE, -54)                                                                                 \
    X(CL_INVALID_BUFFER_SIZE, -61)                                                                                     \
    X(CL_PLATFORM_NOT_FOUND_KHR, -1001)                                                                                \
    X(CL_TRUE, 1)                                                                                                      \
    X(CL_PLATFORM_NAME, 0x0902)                                                                                        \
    X(CL_DEVICE_TYPE_CPU, 2)                                                                                           \
    X(CL_DEVICE_TYPE_GPU, 4)                                                                                           \
    X(CL_DEVICE_TYPE_ALL, 0xFFFFFFFF)                                                                                  \
    X(CL_DEVICE_TYPE, 0x1000)                                                                                          \
    X(CL_DEVICE_MAX_COMPUTE_UNITS, 0x1002)                                                                             \
    X(CL_DEVICE_MAX_WORK_GROUP_SIZE, 0x1004)                                                                           \
    X(CL_DEVICE_ADDRESS_BITS, 0x100D)                                                                                  \
    X(CL_DEVICE_MAX_MEM_ALLOC_SIZE, 0x1010)                                                                            \
    X(CL_DEVICE_SINGLE_FP_CONFIG, 0x101B)                                                                              \
    X(CL_DEVICE_GLOBAL_MEM_SIZE, 0x101F)                                                                               \
    X(CL_DEVICE_LOCAL_MEM_SIZE, 0x1023)                                                                                \
    X(CL_DEVICE_AVAILABLE, 0x1027)                                                                                     \
    X(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 0x103A)                                                                     \
    X(CL_DEVICE_COMPILER_AVAILABLE, 0x1028)                                                                            \
    X(CL_DEVICE_NAME, 0x102B)                                                                                          \
    X(CL_DEVICE_VENDOR, 0x102C)                                                                                        \
    X(CL_DRIVER_VERSION, 0x102D)                                                                                       \
    X(CL_DEVICE_VERSION, 0x102F)                                                                                       \
    X(CL_DEVICE_DOUBLE_FP_CONFIG, 0x1032)                                                                              \
    X(CL_DEVICE_WARP_SIZE_NV, 0x4003)                                                                                  \
    X(CL_DEVICE_EXTENSIONS, 0x1030)                                                                                    \
    X(CL_DEVICE_SUB_GROUP_SIZES_INTEL, 0x4108)                                                                         \
    X(CL_DEVICE_WAVEFRONT_WIDTH_AMD, 0x4043)                                                                           \
    X(CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT, 128)                                                                        \
    X(CL_QUEUE_PROFILING_ENABLE, 2)                                                                                    \
    X(CL_CONTEXT_PLATFORM, 0x1084)                                                                                     \
    X(CL_MEM_READ_WRITE, 1)                                                                                            \
    X(CL_MEM_USE_HOST_PTR, 8)                                                                                          \
    X(CL_PROGRAM_BINARY_SIZES, 0x1165)                                                                                 \
    X(CL_PROGRAM_BINARIES, 0x1166)                                                                                     \
    X(CL_PROGRAM_BUILD_LOG, 0x1183)                                                                                    \
    X(CL_KERNEL_NUM_ARGS, 0x1191)                                                                                      \
    X(CL_KERNEL_WORK_GROUP_SIZE, 0x11B0)                                                                               \
    X(CL_KERNEL_LOCAL_MEM_SIZE, 0x11B2)                                                                                \
    X(CL_QUEUE_CONTEXT, 0x1090)                                                                                        \
    X(CL_QUEUE_DEVICE, 0x1091)                                                                                         \
    X(CL_PROFILING_COMMAND_START, 0x1282)                                                                              \
    X(CL_PROFILING_COMMAND_END, 0x1283)

// X(result, name, parameters)
#define OPENCL_FUNCTIONS(X)                                                                                            \
    X(cl_int, clGetPlatformIDs, (cl_uint, cl_platform_id *, cl_uint *))                                                \
    X(cl_int, clGetPlatformInfo, (cl_platform_id, cl_platform_info, size_t, void *, size_t *))                         \
    X(cl_int, clGetDeviceIDs, (cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *))                    \
    X(cl_int, clGetDeviceInfo, (cl_device_id, cl_device_info, size_t, void *, size_t *))                               \
    X(cl_context, clCreateContext,                                                                                     \
      (const cl_context_properties *, cl_uint, const cl_device_id *,                                                   \
       void (*)(const char *, const void *, size_t, void *), void *, cl_int *))                                        \
    X(cl_int, clReleaseContext, (cl_context))                                                                          \
    X(cl_command_queue, clCreateCommandQueue, (cl_context, cl_device_id, cl_command_queue_properties, cl_int *))       \
    X(cl_int, clReleaseCommandQueue, (cl_command_queue))                                                               \
    X(cl_int, clRetainCommandQueue, (cl_command_queue))                                                                \
    X(cl_int, clRetainContext, (cl_context))                                                                           \
    X(cl_int, clGetCommandQueueInfo, (cl_command_queue, cl_uint, size_t, void *, size_t *))                            \
    X(cl_mem, clCreateBuffer, (cl_context, cl_mem_flags, size_t, void *, cl_int *))                                    \
    X(cl_int, clReleaseMemObject, (cl_mem))                                                                            \
    X(cl_int, clSetMemObjectDestructorCallback, (cl_mem, void (*)(cl_mem, void *), void *))                            \
    X(cl_int, clEnqueueReadBuffer,                                                                                     \
      (cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *, cl_event *))              \
    X(cl_int, clEnqueueWriteBuffer,                                                                                    \
      (cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint, const cl_event *, cl_event *))        \
    X(cl_int, clEnqueueCopyBuffer,                                                                                     \
      (cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint, const cl_event *, cl_event *))               \
    X(cl_int, clEnqueueFillBuffer,                                                                                     \
      (cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, cl_uint, const cl_event *, cl_event *))         \
    X(cl_program, clCreateProgramWithSource, (cl_context, cl_uint, const char **, const size_t *, cl_int *))           \
    X(cl_program, clCreateProgramWithBinary,                                                                           \
      (cl_context, cl_uint, const cl_device_id *, const size_t *, const unsigned char **, cl_int *, cl_int *))         \
    X(cl_int, clBuildProgram,                                                                                          \
      (cl_program, cl_uint, const cl_device_id *, const char *, void (*)(cl_program, void *), void *))                 \
    X(cl_int, clGetProgramInfo, (cl_program, cl_program_info, size_t, void *, size_t *))                               \
    X(cl_int, clGetProgramBuildInfo, (cl_program, cl_device_id, cl_program_build_info, size_t, void *, size_t *))      \
    X(cl_int, clReleaseProgram, (cl_program))                                                                          \
    X(cl_kernel, clCreateKernel, (cl_program, const char *, cl_int *))                                                 \
    X(cl_int, clReleaseKernel, (cl_kernel))                                                                            \
    X(cl_int, clSetKernelArg, (cl_kernel, cl_uint, size_t, const void *))                                              \
    X(cl_int, clGetKernelInfo, (cl_kernel, cl_kernel_info, size_t, void *, size_t *))                                  \
    X(cl_int, clGetKernelWorkGroupInfo,                                                                                \
      (cl_kernel, cl_device_id, cl_kernel_work_group_info, size_t, void *, size_t *))                                  \
    X(cl_int, clEnqueueNDRangeKernel,                                                                                  \
      (cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint,                  \
       const cl_event *, cl_event *))                                                                                  \
    X(cl_int, clEnqueueMarkerWithWaitList, (cl_command_queue, cl_uint, const cl_event *, cl_event *))                  \
    X(cl_int, clEnqueueBarrierWithWaitList, (cl_command_queue, cl_uint, const cl_event *, cl_event *))                 \
    X(cl_int, clFlush, (cl_command_queue))                                                                             \
    X(cl_int, clFinish, (cl_command_queue))                                                                            \
    X(cl_int, clGetEventProfilingInfo, (cl_event, cl_profiling_info, size_t, void *, size_t *))                        \
    X(cl_int, clReleaseEvent, (cl_event))

#endif
