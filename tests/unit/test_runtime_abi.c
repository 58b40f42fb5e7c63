// Compares the runtime's own declarations of OpenCL, CUDA, NVRTC and HIP with the real headers, as far
// as those are installed: a wrong constant would only show on a device. The assertions are made
// when this file is compiled.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#if defined __has_include
#if __has_include(<CL/cl.h>) && __has_include(<CL/cl_ext.h>)
#define HAVE_OPENCL 1
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_ext.h>
#endif
#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>)
#define HAVE_CUDA 1
#include <cuda.h>
#include <nvrtc.h>
#elif __has_include("/usr/local/cuda/include/cuda.h") && __has_include("/usr/local/cuda/include/nvrtc.h")
#define HAVE_CUDA 1
#include "/usr/local/cuda/include/cuda.h"
#include "/usr/local/cuda/include/nvrtc.h"
#endif
#if __has_include(<hip/hip_runtime_api.h>) && __has_include(<hip/hiprtc.h>)
#define HAVE_HIP 1
#define __HIP_PLATFORM_AMD__ 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#pragma GCC diagnostic pop
#endif
#endif

#define FCL_API_TYPES_KNOWN
#define CHECK_CONSTANT(name, value) _Static_assert((name) == (value), #name);
// The names go through one more expansion because cuda.h renames some of its functions by macros.
#define CHECK_FUNCTION(result, name, parameters)                                                                       \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), result parameters), #name);

#if defined HAVE_OPENCL
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include "opencl_api.h"
OPENCL_CONSTANTS(CHECK_CONSTANT)
OPENCL_FUNCTIONS(CHECK_FUNCTION)
#endif

#include "cuda_api.h"
#if defined HAVE_CUDA
#define CHECK_CUDA(result, name, hip, parameters) CHECK_FUNCTION(result, name, parameters)
CUDA_CONSTANTS(CHECK_CONSTANT)
CUDA_FUNCTIONS(CHECK_CUDA)
CUDA_OPTIONAL_FUNCTIONS(CHECK_CUDA)
NVRTC_FUNCTIONS(CHECK_CUDA)
NVRTC_OPTIONAL_FUNCTIONS(CHECK_CUDA)
#endif

// Its errors, flags and attributes of functions have CUDA's numbers.
#if defined HAVE_HIP
#define CHECK_ATTRIBUTE(cuda, hip, value) CHECK_CONSTANT(hip, value)
HIP_ATTRIBUTES(CHECK_ATTRIBUTE)
CHECK_CONSTANT(hipErrorOutOfMemory, 2)
CHECK_CONSTANT(hipErrorNoDevice, 100)
CHECK_CONSTANT(hipErrorNotFound, 500)
CHECK_CONSTANT(hipErrorIllegalAddress, 700)
CHECK_CONSTANT(hipErrorLaunchFailure, 719)
CHECK_CONSTANT(HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)
CHECK_CONSTANT(HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)
CHECK_CONSTANT(HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)
CHECK_CONSTANT(hipStreamNonBlocking, 1)
CHECK_CONSTANT(hipStreamCaptureModeRelaxed, 2)
CHECK_CONSTANT(HIPRTC_SUCCESS, 0)
#endif

static void opencl_declarations_agree(void **state) {
    (void)state;
#if !defined HAVE_OPENCL
    print_message("skipped: no OpenCL headers (package opencl-headers)\n");
    skip();
#endif
}

static void cuda_declarations_agree(void **state) {
    (void)state;
#if !defined HAVE_CUDA
    print_message("skipped: no CUDA headers\n");
    skip();
#endif
}

static void hip_declarations_agree(void **state) {
    (void)state;
#if !defined HAVE_HIP
    print_message("skipped: no HIP headers (package libamdhip64-dev)\n");
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opencl_declarations_agree),
        cmocka_unit_test(cuda_declarations_agree),
        cmocka_unit_test(hip_declarations_agree),
    };
    return cmocka_run_group_tests_name("runtime_abi", tests, NULL, NULL);
}
