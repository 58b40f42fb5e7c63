// The CUDA backend: the driver API for everything on the device, NVRTC for turning CUDA C++ into PTX. And the HIP
// backend, for AMD's GPUs: the same by other names, which `struct vendor` has. Names here are CUDA's.
//
// It uses the device's primary context, so that memory is shared with whatever else in the process uses CUDA, and makes
// it current only for the time of a call.
#include "internal.h"
#include "cuda_api.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CONSTANT(name, value) name = (value),
enum { CUDA_CONSTANTS(CONSTANT) };

#define MEMBER(result, name, hip, parameters) result(*name) parameters;
#define HIP_MEMBER(result, name, parameters) result(*name) parameters;
struct cuda {
    CUDA_FUNCTIONS(MEMBER)
    CUDA_OPTIONAL_FUNCTIONS(MEMBER)
    HIP_FUNCTIONS(HIP_MEMBER)
};
struct nvrtc {
    NVRTC_FUNCTIONS(MEMBER)
    NVRTC_OPTIONAL_FUNCTIONS(MEMBER)
};

#define CUDA_SYMBOL(result, name, hip, parameters) {#name, offsetof(struct cuda, name), false},
#define CUDA_OPTIONAL(result, name, hip, parameters) {#name, offsetof(struct cuda, name), true},
#define NVRTC_SYMBOL(result, name, hip, parameters) {#name, offsetof(struct nvrtc, name), false},
#define NVRTC_OPTIONAL(result, name, hip, parameters) {#name, offsetof(struct nvrtc, name), true},
static const struct fclrt_symbol cuda_symbols[] = {CUDA_FUNCTIONS(CUDA_SYMBOL) CUDA_OPTIONAL_FUNCTIONS(CUDA_OPTIONAL)};
static const struct fclrt_symbol nvrtc_symbols[] = {NVRTC_FUNCTIONS(NVRTC_SYMBOL)
                                                        NVRTC_OPTIONAL_FUNCTIONS(NVRTC_OPTIONAL)};

// In the same order. A function without a name does not exist in HIP.
#define HIP_SYMBOL(result, name, hip, parameters) {hip, offsetof(struct cuda, name), sizeof hip == 1},
#define HIP_OPTIONAL(result, name, hip, parameters) {hip, offsetof(struct cuda, name), true},
#define HIP_OWN(result, name, parameters) {#name, offsetof(struct cuda, name), false},
#define HIPRTC_SYMBOL(result, name, hip, parameters) {hip, offsetof(struct nvrtc, name), sizeof hip == 1},
#define HIPRTC_OPTIONAL(result, name, hip, parameters) {hip, offsetof(struct nvrtc, name), true},
static const struct fclrt_symbol hip_symbols[] = {CUDA_FUNCTIONS(HIP_SYMBOL) CUDA_OPTIONAL_FUNCTIONS(HIP_OPTIONAL)
                                                      HIP_FUNCTIONS(HIP_OWN)};
static const struct fclrt_symbol hiprtc_symbols[] = {NVRTC_FUNCTIONS(HIPRTC_SYMBOL)
                                                         NVRTC_OPTIONAL_FUNCTIONS(HIPRTC_OPTIONAL)};

// A library that is loaded when a context is opened.
struct library {
    const char *variable; // of the environment, that names it
    const char *absent;   // what is missing without it
    const char *const *names;
    const struct fclrt_symbol *symbols;
    size_t symbol_count;
};

// The differences between CUDA and HIP, but for the language of kernels.
struct vendor {
    enum fcl_backend backend;
    enum fcl_device_kind kind;
    const char *name, *company, *compiler_name;
    struct library driver, compiler;
    int major, minor;                          // what the numbers of a version are multiplied by
    const char *source_name;                   // as the compiler's messages have it
    const char *options, *options_variable;    // always, and from the environment
    bool names_architectures;                  // the compiler wants one named; else it takes the current device's
    int (*attribute)(CUdevice_attribute what); // NULL: as CUDA's; gives -1 where there is none
};

#define LIBRARY_SYMBOLS(table) .symbols = (table), .symbol_count = sizeof(table) / sizeof *(table)
static const struct vendor nvidia = {
    .backend = FCL_BACKEND_CUDA,
    .kind = FCL_DEVICE_CUDA,
    .name = "CUDA",
    .company = "NVIDIA",
    .compiler_name = "NVRTC",
    .driver = {.variable = "FCL_LIBCUDA",
               .absent = "no NVIDIA driver on this machine",
               .names = (const char *const[]){"libcuda.so.1", "libcuda.so", NULL},
               LIBRARY_SYMBOLS(cuda_symbols)},
    // The toolkit's own directory comes last: a search path that was set up means something.
    .compiler = {.variable = "FCL_LIBNVRTC",
                 .absent =
                     "CUDA's run-time compiler is not installed (part of the CUDA toolkit; Debian: package libnvrtc*)",
                 .names =
                     (const char *const[]){
                         "libnvrtc.so",
                         "libnvrtc.so.13",
                         "libnvrtc.so.12",
                         "libnvrtc.so.11.2",
                         "libnvrtc.so.11.1",
                         "libnvrtc.so.11.0",
                         "libnvrtc.so.10.2",
                         "/usr/local/cuda/lib64/libnvrtc.so",
                         "/usr/local/cuda/lib/libnvrtc.so",
                         "/usr/local/cuda/targets/x86_64-linux/lib/libnvrtc.so",
                         "/usr/local/cuda/targets/sbsa-linux/lib/libnvrtc.so",
                         "/usr/lib/cuda/lib64/libnvrtc.so",
                         NULL,
                     },
                 LIBRARY_SYMBOLS(nvrtc_symbols)},
    .major = 1000,
    .minor = 10,
    .source_name = "kernels.cu",
    .options = "--fmad=false",
    .options_variable = "FCL_NVRTC_OPTIONS",
    .names_architectures = true,
};

static int hip_attribute(CUdevice_attribute what) {
    switch (what) {
#define HIP_ATTRIBUTE(cuda, hip, value)                                                                                \
    case cuda: return value;
        HIP_ATTRIBUTES(HIP_ATTRIBUTE)
    default: return -1;
    }
}

static const struct vendor amd = {
    .backend = FCL_BACKEND_HIP,
    .kind = FCL_DEVICE_HIP,
    .name = "HIP",
    .company = "AMD",
    .compiler_name = "hiprtc",
    .driver = {.variable = "FCL_LIBHIP",
               .absent = "HIP is not installed on this machine (part of ROCm; Debian: package libamdhip64-5)",
               .names = (const char *const[]){"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6",
                                              "libamdhip64.so.5", "/opt/rocm/lib/libamdhip64.so", NULL},
               LIBRARY_SYMBOLS(hip_symbols)},
    // Before ROCm 5.3 the compiler is in the other library.
    .compiler = {.variable = "FCL_LIBHIPRTC",
                 .absent = "HIP's run-time compiler is not installed (part of ROCm)",
                 .names =
                     (const char *const[]){"libhiprtc.so", "libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5",
                                           "/opt/rocm/lib/libhiprtc.so", "libamdhip64.so", "libamdhip64.so.5", NULL},
                 LIBRARY_SYMBOLS(hiprtc_symbols)},
    .major = 10000000,
    .minor = 100000,
    .source_name = "kernels.hip",
    .options = "-ffp-contract=off",
    .options_variable = "FCL_HIPRTC_OPTIONS",
    .attribute = hip_attribute,
};

enum { READ_BYTES = 256 };

struct state {
    const struct vendor *vendor;
    struct cuda cu;
    struct nvrtc rtc;
    CUdevice device;
    CUcontext context;
    CUstream stream;  // NULL: the default one
    CUstream record;  // while a graph is recorded, the stream that stands for the other one; or NULL
    bool is_callers;  // context and stream
    int architecture; // that NVRTC compiles for: 10 × major + minor, at most the device's
    void *locked;     // page-locked memory of the host, through which a few bytes are read; behind it slots; or NULL
    bool is_ordered;  // memory is allocated and freed in the stream's order; else freeing waits for the whole device
};

static bool load(const struct library *library, void *table, struct fclrt_note why) {
    return fclrt_load(library->variable, library->names, library->absent, library->symbols, library->symbol_count,
                      table, why);
}

static const char *error_text(const struct cuda *cu, CUresult error) {
    const char *text = NULL;
    if (cu->hipGetErrorString)
        text = cu->hipGetErrorString(error);
    else if (cu->cuGetErrorString(error, &text) != CUDA_SUCCESS || !text)
        text = NULL;
    return text ? text : "unknown error";
}

// The vendor's name of the function: `cuMemAlloc`, without the number of a version, or that of HIP.
static const char *call_name(const struct vendor *vendor, const char *call) {
    size_t length = strlen(call);
    for (size_t i = 0; vendor == &amd && i < sizeof cuda_symbols / sizeof *cuda_symbols; i++) {
        const char *rest = cuda_symbols[i].name + length;
        if (strncmp(cuda_symbols[i].name, call, length) == 0 && (!*rest || strncmp(rest, "_v", 2) == 0))
            return hip_symbols[i].name;
    }
    return call;
}

// After these, which a kernel has caused, every call of the process that concerns the device gives
// the same error again.
static bool is_fault(CUresult error) {
    return error == CUDA_ERROR_ILLEGAL_ADDRESS || error == CUDA_ERROR_LAUNCH_TIMEOUT || error == CUDA_ERROR_ASSERT ||
           error == CUDA_ERROR_HARDWARE_STACK_ERROR || error == CUDA_ERROR_ILLEGAL_INSTRUCTION ||
           error == CUDA_ERROR_MISALIGNED_ADDRESS || error == CUDA_ERROR_INVALID_ADDRESS_SPACE ||
           error == CUDA_ERROR_INVALID_PC || error == CUDA_ERROR_LAUNCH_FAILED;
}

// `doing` is the call that reports it; a fault is that of a launch before.
static enum fcl_status fail(struct fcl_context *context, const char *doing, CUresult error) {
    struct state *state = context->state;
    const char *text = error_text(&state->cu, error);
    if (is_fault(error) && context->last_launched)
        return fclrt_fail(context, FCL_DEVICE_FAULT,
                          "kernel %s%s: %s (%s error %d); with that, %s has stopped for this process",
                          context->last_launched, context->launches > 1 ? ", or one launched before it" : "", text,
                          state->vendor->name, error, context->device.name);
    return fclrt_fail(context,
                      is_fault(error)                     ? FCL_DEVICE_FAULT
                      : error == CUDA_ERROR_OUT_OF_MEMORY ? FCL_NO_DEVICE_MEMORY
                                                          : FCL_DRIVER_FAILED,
                      "%s: %s (%s error %d)", call_name(state->vendor, doing), text, state->vendor->name, error);
}

// ---------------------------------------------------------------- devices

// Starts the driver and counts its devices.
static int count_devices(const struct vendor *vendor, const struct cuda *cu, struct fclrt_note why) {
    int count = 0;
    CUresult error = cu->cuInit(0);
    if (error == CUDA_SUCCESS)
        error = cu->cuDeviceGetCount(&count);
    if (error == CUDA_SUCCESS && count > 0)
        return count;
    if (error == CUDA_SUCCESS || error == CUDA_ERROR_NO_DEVICE)
        fclrt_note(why, "the %s driver found no device", vendor->company);
    else if (error == CUDA_ERROR_STUB_LIBRARY)
        fclrt_note(why, "libcuda is the CUDA toolkit's stub, not the driver's: no NVIDIA driver on this machine");
    else
        fclrt_note(why, "the %s driver does not start: %s (%s error %d)", vendor->company, error_text(cu, error),
                   vendor->name, error);
    return 0;
}

static uint32_t attribute(const struct vendor *vendor, const struct cuda *cu, CUdevice device,
                          CUdevice_attribute what) {
    int value = 0;
    if (vendor->attribute)
        what = vendor->attribute(what);
    return what >= 0 && cu->cuDeviceGetAttribute(&value, what, device) == CUDA_SUCCESS && value > 0 ? (uint32_t)value
                                                                                                    : 0;
}

static void describe(const struct vendor *vendor, const struct cuda *cu, CUdevice device,
                     struct fcl_device_info *info) {
    *info = (struct fcl_device_info){.backend = vendor->backend,
                                     .kind = vendor->kind,
                                     .has_double = true,
                                     .exact_division = true,
                                     .has_waiting_blocks = true};
    fclrt_copy_name(info->platform, sizeof info->platform, vendor->name);
    char name[256] = "";
    int version = 0;
    size_t memory = 0;
    if (cu->cuDeviceGetName(name, sizeof name - 1, device) == CUDA_SUCCESS)
        fclrt_copy_name(info->name, sizeof info->name, name);
    if (!info->name[0])
        snprintf(info->name, sizeof info->name, "%s device", vendor->name);
    if (cu->cuDriverGetVersion && cu->cuDriverGetVersion(&version) == CUDA_SUCCESS)
        snprintf(info->driver, sizeof info->driver, "%d.%d", version / vendor->major,
                 version % vendor->major / vendor->minor);
    if (cu->cuDeviceTotalMem_v2(&memory, device) == CUDA_SUCCESS)
        info->memory_bytes = memory;
    info->max_buffer_bytes = info->memory_bytes;
    info->shared_bytes = attribute(vendor, cu, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    if (!info->shared_bytes)
        info->shared_bytes = attribute(vendor, cu, device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    info->max_threads = attribute(vendor, cu, device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    info->max_blocks = attribute(vendor, cu, device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
    if (!info->max_blocks)
        info->max_blocks = 65535;
    info->compute_units = attribute(vendor, cu, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    info->warp_width = attribute(vendor, cu, device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    info->capability = 10 * attribute(vendor, cu, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                       attribute(vendor, cu, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
}

static enum fcl_status list_devices(const struct vendor *vendor, fclrt_receiver *receive, void *to,
                                    struct fclrt_note why) {
    struct cuda cu = {0};
    struct nvrtc rtc = {0};
    if (!load(&vendor->driver, &cu, why))
        return FCL_NO_BACKEND;
    int count = count_devices(vendor, &cu, why);
    for (int i = 0; i < count; i++) {
        struct fcl_device_info info;
        CUdevice device = 0;
        if (cu.cuDeviceGet(&device, i) != CUDA_SUCCESS)
            continue;
        describe(vendor, &cu, device, &info);
        load(&vendor->compiler, &rtc, (struct fclrt_note){info.problem, sizeof info.problem});
        if (!receive(to, &info))
            return FCL_NO_MEMORY;
    }
    return FCL_OK;
}

static enum fcl_status list_cuda(fclrt_receiver *receive, void *to, struct fclrt_note why) {
    return list_devices(&nvidia, receive, to, why);
}

static enum fcl_status list_hip(fclrt_receiver *receive, void *to, struct fclrt_note why) {
    return list_devices(&amd, receive, to, why);
}

// ---------------------------------------------------------------- contexts

// The newest architecture that both the device and NVRTC know; the device's own where NVRTC does
// not tell; 0 if there is none.
static int choose_architecture(const struct nvrtc *rtc, int device) {
    int count = 0, best = 0;
    if (!rtc->nvrtcGetNumSupportedArchs || !rtc->nvrtcGetSupportedArchs ||
        rtc->nvrtcGetNumSupportedArchs(&count) != NVRTC_SUCCESS || count <= 0)
        return device;
    int *known = calloc((size_t)count, sizeof *known);
    if (!known || rtc->nvrtcGetSupportedArchs(known) != NVRTC_SUCCESS) {
        free(known);
        return device;
    }
    for (int i = 0; i < count; i++)
        if (known[i] <= device && known[i] > best)
            best = known[i];
    free(known);
    return best;
}

static CUresult enter(const struct state *state) { return state->cu.cuCtxPushCurrent_v2(state->context); }

// Where work goes.
static CUstream work_stream(const struct state *state) { return state->record ? state->record : state->stream; }

static void leave(const struct state *state) {
    CUcontext ours;
    state->cu.cuCtxPopCurrent_v2(&ours);
}

// Page-locked memory, and where the device finds it.
static void find_slots(struct fcl_context *context, struct state *state) {
    const size_t bytes = READ_BYTES + (size_t)FCLRT_SLOTS * FCLRT_SLOT_BYTES;
    if (state->cu.cuMemHostAlloc(&state->locked, bytes, CU_MEMHOSTALLOC_DEVICEMAP) != CUDA_SUCCESS) {
        state->locked = NULL;
        return;
    }
    CUdeviceptr address = 0;
    if (state->cu.cuMemHostGetDevicePointer_v2 &&
        state->cu.cuMemHostGetDevicePointer_v2(&address, state->locked, 0) == CUDA_SUCCESS) {
        context->slots.host = (char *)state->locked + READ_BYTES;
        context->slots.memory.address = address + READ_BYTES;
    }
}

static enum fcl_status open_device(const struct vendor *vendor, struct fcl_context *context, size_t ordinal) {
    struct state *state = calloc(1, sizeof *state);
    if (!state)
        return fclrt_no_memory(context);
    context->state = state;
    state->vendor = vendor;
    const struct fcl_device_info *info = &context->device;
    char why[256] = "";
    struct fclrt_note note = {why, sizeof why};
    if (!load(&vendor->driver, &state->cu, note) ||
        (!context->only_linked && !load(&vendor->compiler, &state->rtc, note)))
        return fclrt_fail(context, FCL_NO_BACKEND, "%s", why);
    if (!count_devices(vendor, &state->cu, note))
        return fclrt_fail(context, FCL_NO_DEVICE, "%s", why);
    CUresult error = state->cu.cuDeviceGet(&state->device, (int)ordinal);
    if (error != CUDA_SUCCESS)
        return fail(context, "cuDeviceGet", error);
    bool wants_architecture = !context->only_linked && vendor->names_architectures;
    if (wants_architecture)
        state->architecture = choose_architecture(&state->rtc, (int)info->capability);
    if (wants_architecture && !state->architecture)
        return fclrt_fail(context, FCL_NO_BACKEND,
                          "%s has compute capability %" PRIu32 ".%" PRIu32
                          ", which this version of NVRTC no longer supports: install an older CUDA toolkit",
                          info->name, info->capability / 10, info->capability % 10);
    if (context->queue) {
        CUdevice current = -1;
        state->is_callers = true;
        state->stream = context->queue;
        error = state->cu.cuCtxGetCurrent(&state->context);
        if (error != CUDA_SUCCESS || !state->context)
            return fclrt_fail(context, FCL_INVALID, "the calling thread has no current %s context", vendor->name);
        error = state->cu.cuCtxGetDevice(&current);
        if (error != CUDA_SUCCESS)
            return fail(context, "cuCtxGetDevice", error);
        if (current != state->device)
            return fclrt_fail(context, FCL_NO_DEVICE, "the current %s context is another device's", vendor->name);
    } else {
        error = state->cu.cuDevicePrimaryCtxRetain(&state->context, state->device);
        if (error != CUDA_SUCCESS) {
            state->context = NULL;
            return fail(context, "cuDevicePrimaryCtxRetain", error);
        }
    }
    state->is_ordered = state->cu.cuMemAllocAsync && state->cu.cuMemFreeAsync &&
                        attribute(vendor, &state->cu, state->device, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
    if (state->cu.cuMemHostAlloc && state->cu.cuMemFreeHost && enter(state) == CUDA_SUCCESS) {
        find_slots(context, state);
        leave(state);
    }
    int major = 0, minor = 0;
    if (state->rtc.nvrtcVersion)
        state->rtc.nvrtcVersion(&major, &minor);
    const char *more = getenv(vendor->options_variable);
    context->build_options = fclrt_format("%s%s%s", vendor->options, more && *more ? " " : "", more ? more : "");
    char *stamp = fclrt_library_stamp(vendor->compiler.variable);
    if (stamp)
        context->identity =
            fclrt_format("%s\n%s %" PRIu32 " %d\ndriver %s, %s %d.%d\n%s", vendor->name, info->name, info->capability,
                         state->architecture, info->driver, vendor->compiler_name, major, minor, stamp);
    free(stamp);
    return context->build_options && context->identity ? FCL_OK : fclrt_no_memory(context);
}

static enum fcl_status open_cuda(struct fcl_context *context, size_t ordinal) {
    return open_device(&nvidia, context, ordinal);
}

static enum fcl_status open_hip(struct fcl_context *context, size_t ordinal) {
    return open_device(&amd, context, ordinal);
}

static void close_cuda(struct fcl_context *context) {
    struct state *state = context->state;
    if (state->locked && enter(state) == CUDA_SUCCESS) {
        state->cu.cuMemFreeHost(state->locked);
        leave(state);
    }
    if (state->context && !state->is_callers)
        state->cu.cuDevicePrimaryCtxRelease(state->device);
    free(state);
    context->state = NULL;
}

// Runs `call` with the context current; `doing` names it in the message.
#define WITH_CONTEXT(context, doing, call)                                                                             \
    do {                                                                                                               \
        struct state *state = (context)->state;                                                                        \
        CUresult error = enter(state);                                                                                 \
        if (error == CUDA_SUCCESS) {                                                                                   \
            error = state->cu.call;                                                                                    \
            leave(state);                                                                                              \
        }                                                                                                              \
        return error == CUDA_SUCCESS ? FCL_OK : fail((context), (doing), error);                                       \
    } while (0)

static enum fcl_status synchronize(struct fcl_context *context) {
    WITH_CONTEXT(context, "cuStreamSynchronize", cuStreamSynchronize(state->stream));
}

static enum fcl_status finish_queue_cuda(struct fcl_context *context, void *queue) {
    WITH_CONTEXT(context, "cuStreamSynchronize", cuStreamSynchronize(queue));
}

// Where the driver knows no such thing, the host waits.
static CUresult follow(const struct state *state, CUstream stream) {
    if (!state->cu.cuStreamWaitEvent)
        return state->cu.cuStreamSynchronize(state->stream);
    CUevent done = NULL;
    CUresult error = state->cu.cuEventCreate(&done, CU_EVENT_DISABLE_TIMING);
    if (error != CUDA_SUCCESS)
        return error;
    error = state->cu.cuEventRecord(done, state->stream);
    if (error == CUDA_SUCCESS)
        error = state->cu.cuStreamWaitEvent(stream, done, 0);
    state->cu.cuEventDestroy_v2(done); // the driver keeps it until it has come
    return error;
}

static enum fcl_status use_queue_cuda(struct fcl_context *context, void *queue) {
    struct state *state = context->state;
    if (queue == state->stream)
        return FCL_OK;
    CUresult error = enter(state);
    if (error == CUDA_SUCCESS) {
        error = follow(state, queue);
        leave(state);
    }
    if (error != CUDA_SUCCESS)
        return fail(context, "cuStreamWaitEvent", error);
    state->stream = queue;
    return FCL_OK;
}

static enum fcl_status finish_cuda(struct fcl_context *context) {
    if (!((struct state *)context->state)->context)
        return FCL_OK;
    enum fcl_status status = synchronize(context);
    if (status == FCL_OK) {
        context->launches = 0;
        context->finishes++;
    }
    return status;
}

// ---------------------------------------------------------------- buffers

static enum fcl_status alloc_cuda(struct fcl_context *context, uint64_t bytes, union fclrt_memory *memory) {
    struct state *state = context->state;
    CUdeviceptr address = 0;
    CUresult error = enter(state);
    if (error == CUDA_SUCCESS) {
        error = state->is_ordered ? state->cu.cuMemAllocAsync(&address, (size_t)bytes, state->stream)
                                  : state->cu.cuMemAlloc_v2(&address, (size_t)bytes);
        leave(state);
    }
    memory->address = address;
    if (error == CUDA_SUCCESS)
        return FCL_OK;
    if (error != CUDA_ERROR_OUT_OF_MEMORY)
        return fail(context, state->is_ordered ? "cuMemAllocAsync" : "cuMemAlloc", error);
    return fclrt_fail(
        context, FCL_NO_DEVICE_MEMORY,
        "no memory for a buffer of %" PRIu64 " bytes on %s, which has %" PRIu64 " in all: %s (%s error %d)", bytes,
        context->device.name, context->device.memory_bytes, error_text(&state->cu, error), state->vendor->name, error);
}

static void free_cuda(struct fcl_context *context, union fclrt_memory memory) {
    struct state *state = context->state;
    if (enter(state) != CUDA_SUCCESS)
        return;
    if (state->is_ordered)
        state->cu.cuMemFreeAsync(memory.address, state->stream);
    else
        state->cu.cuMemFree_v2(memory.address);
    leave(state);
}

static enum fcl_status start_write(struct fcl_buffer *buffer, uint64_t offset, const void *data, uint64_t bytes) {
    WITH_CONTEXT(buffer->context, "cuMemcpyHtoDAsync",
                 cuMemcpyHtoDAsync_v2(buffer->memory.address + offset, data, (size_t)bytes, state->stream));
}

static enum fcl_status start_read(struct fcl_buffer *buffer, uint64_t offset, void *data, uint64_t bytes) {
    WITH_CONTEXT(buffer->context, "cuMemcpyDtoHAsync",
                 cuMemcpyDtoHAsync_v2(data, buffer->memory.address + offset, (size_t)bytes, state->stream));
}

static enum fcl_status write_cuda(struct fcl_buffer *buffer, uint64_t offset, const void *data, uint64_t bytes) {
    enum fcl_status status = start_write(buffer, offset, data, bytes);
    return status == FCL_OK ? finish_cuda(buffer->context) : status;
}

// The driver copies what goes to pageable memory twice and waits for each part: a length or a
// number, for which the host waits before it can go on, comes through memory that the device writes
// itself.
static enum fcl_status read_cuda(struct fcl_buffer *buffer, uint64_t offset, void *data, uint64_t bytes) {
    const struct state *state = buffer->context->state;
    bool is_little = state->locked && bytes <= READ_BYTES;
    enum fcl_status status = start_read(buffer, offset, is_little ? state->locked : data, bytes);
    if (status == FCL_OK)
        status = finish_cuda(buffer->context);
    if (status == FCL_OK && is_little)
        memcpy(data, state->locked, (size_t)bytes);
    return status;
}

static enum fcl_status copy_cuda(struct fcl_buffer *to, uint64_t to_offset, struct fcl_buffer *from,
                                 uint64_t from_offset, uint64_t bytes) {
    WITH_CONTEXT(to->context, "cuMemcpyDtoDAsync",
                 cuMemcpyDtoDAsync_v2(to->memory.address + to_offset, from->memory.address + from_offset, (size_t)bytes,
                                      work_stream(state)));
}

// The driver goes by the shortest way that there is: between devices that reach each other's memory
// by themselves, once that is allowed.
static enum fcl_status copy_peer_cuda(struct fcl_buffer *to, uint64_t to_offset, struct fcl_buffer *from,
                                      uint64_t from_offset, uint64_t bytes) {
    struct state *state = to->context->state;
    const struct state *other = from->context->state;
    int can = 0;
    if (!state->cu.cuMemcpyPeerAsync)
        return fclrt_copy_by_host(to, to_offset, from, from_offset, bytes);
    CUresult error = enter(state);
    if (error == CUDA_SUCCESS) {
        if (state->context != other->context && state->cu.cuDeviceCanAccessPeer && state->cu.cuCtxEnablePeerAccess &&
            state->cu.cuDeviceCanAccessPeer(&can, state->device, other->device) == CUDA_SUCCESS && can)
            (void)state->cu.cuCtxEnablePeerAccess(other->context, 0); // without it the copy is only slower
        error = state->cu.cuMemcpyPeerAsync(to->memory.address + to_offset, state->context,
                                            from->memory.address + from_offset, other->context, (size_t)bytes,
                                            state->stream);
        leave(state);
    }
    return error == CUDA_SUCCESS ? finish_cuda(to->context) : fail(to->context, "cuMemcpyPeerAsync", error);
}

static enum fcl_status fill_cuda(struct fcl_buffer *buffer, uint64_t offset, uint64_t bytes, uint8_t value) {
    WITH_CONTEXT(buffer->context, "cuMemsetD8Async",
                 cuMemsetD8Async(buffer->memory.address + offset, value, (size_t)bytes, work_stream(state)));
}

// ---------------------------------------------------------------- programs

// The result of NVRTC for a source: PTX for `compute_NN`, or machine code for `sm_NN`.
struct compilation {
    nvrtcResult result;
    char *log;  // may be NULL
    char *code; // NULL unless result is NVRTC_SUCCESS
    size_t bytes;
};

static void free_compilation(struct compilation *made) {
    free(made->log);
    free(made->code);
    *made = (struct compilation){0};
}

static char *read_log(const struct nvrtc *rtc, nvrtcProgram handle) {
    size_t bytes = 0;
    if (rtc->nvrtcGetProgramLogSize(handle, &bytes) != NVRTC_SUCCESS || bytes <= 1)
        return NULL;
    char *log = calloc(1, bytes + 1);
    if (log && rtc->nvrtcGetProgramLog(handle, log) == NVRTC_SUCCESS)
        return log;
    free(log);
    return NULL;
}

// False when the host has no memory left. A kind of code that this NVRTC does not make is an error like any other.
static bool compile(const struct fcl_program *program, int architecture, bool machine_code, struct compilation *made) {
    const struct state *state = program->context->state;
    const struct nvrtc *rtc = &state->rtc;
    char target[64];
    const struct vendor *vendor = state->vendor;
    snprintf(target, sizeof target, "--gpu-architecture=%s_%d", machine_code ? "sm" : "compute", architecture);
    const char *strings[] = {program->options, target};
    // An architecture among the caller's options wins.
    bool given = !vendor->names_architectures || strstr(program->options, "-arch") ||
                 strstr(program->options, "--gpu-architecture");
    struct fclrt_words words;
    *made = (struct compilation){.result = NVRTC_ERROR_COMPILATION};
    if (!fclrt_split(&words, 0, strings, given ? 1 : 2))
        return false;

    nvrtcProgram handle = NULL;
    bool memory = true;
    nvrtcResult result = rtc->nvrtcCreateProgram(&handle, program->source, vendor->source_name, 0, NULL, NULL);
    if (result == NVRTC_SUCCESS) {
        bool is_entered = enter(state) == CUDA_SUCCESS; // hiprtc compiles for the current device
        result = rtc->nvrtcCompileProgram(handle, (int)words.count, (const char *const *)words.list);
        if (is_entered)
            leave(state);
        made->log = read_log(rtc, handle);
        size_t bytes = 0;
        if (result == NVRTC_SUCCESS)
            result = machine_code ? rtc->nvrtcGetCUBINSize(handle, &bytes) : rtc->nvrtcGetPTXSize(handle, &bytes);
        if (result == NVRTC_SUCCESS) {
            made->code = calloc(1, bytes + 1);
            made->bytes = bytes;
            memory = made->code != NULL;
            if (memory)
                result = machine_code ? rtc->nvrtcGetCUBIN(handle, made->code) : rtc->nvrtcGetPTX(handle, made->code);
        }
        rtc->nvrtcDestroyProgram(&handle);
    }
    made->result = result;
    fclrt_free_words(&words);
    return memory;
}

enum { LOG_BYTES = 8192 };

// The message of the driver's assembler (ptxas) about code that it refuses goes to `log`, "" if there is none.
static CUresult load_module(struct fcl_program *program, const void *code, char log[LOG_BYTES]) {
    struct state *state = program->context->state;
    CUmodule module = NULL;
    log[0] = 0;
    CUresult error = enter(state);
    if (error != CUDA_SUCCESS)
        return error;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)(LOG_BYTES - 1)};
    if (state->cu.cuModuleLoadDataEx)
        error = state->cu.cuModuleLoadDataEx(&module, code, 2, options, values);
    else
        error = state->cu.cuModuleLoadData(&module, code);
    leave(state);
    log[LOG_BYTES - 1] = 0;
    if (error == CUDA_SUCCESS)
        program->handle = module;
    return error;
}

static enum fcl_status load_cuda_image(struct fcl_program *program) {
    char log[LOG_BYTES];
    CUresult error = load_module(program, program->image, log);
    if (error == CUDA_SUCCESS)
        return FCL_OK;
    return fclrt_fail(program->context, FCL_BUILD_FAILED, "the driver does not take the image of the kernels: %s\n%s",
                      error_text(&((struct state *)program->context->state)->cu, error), log);
}

static enum fcl_status build_failed(const struct fcl_program *program, const struct compilation *made) {
    const struct state *state = program->context->state;
    return fclrt_fail(program->context, FCL_BUILD_FAILED, "%s does not compile the kernels: %s\n%s",
                      state->vendor->compiler_name, state->rtc.nvrtcGetErrorString(made->result),
                      made->log ? made->log : "(no log)");
}

static enum fcl_status build_cuda(struct fcl_program *program) {
    struct fcl_context *context = program->context;
    struct state *state = context->state;
    size_t bytes = 0;
    char log[LOG_BYTES], unread[LOG_BYTES];
    void *kept = fclrt_cache_load(program, &bytes);
    if (kept) {
        CUresult error = load_module(program, kept, unread);
        free(kept);
        if (error == CUDA_SUCCESS) {
            context->build_origin = "disk";
            return FCL_OK;
        }
        fclrt_cache_drop(program);
    }

    struct compilation made;
    if (!compile(program, state->architecture, false, &made)) {
        free_compilation(&made);
        return fclrt_no_memory(context);
    }
    // An NVRTC that does not tell what it knows: newer devices also run older code.
    static const int older[] = {90, 89, 86, 80, 75, 70, 61, 60, 52, 50};
    for (size_t i = 0; made.result == NVRTC_ERROR_INVALID_OPTION && state->vendor->names_architectures &&
                       !state->rtc.nvrtcGetSupportedArchs && i < sizeof older / sizeof *older;
         i++) {
        if (older[i] >= state->architecture)
            continue;
        struct compilation again;
        if (!compile(program, older[i], false, &again))
            again.result = NVRTC_ERROR_INVALID_OPTION;
        if (again.result == NVRTC_ERROR_INVALID_OPTION) {
            free_compilation(&again);
            continue;
        }
        // If another option is the bad one, no architecture helps and the first message stays.
        free_compilation(&made);
        made = again;
    }
    if (made.result != NVRTC_SUCCESS) {
        enum fcl_status status = build_failed(program, &made);
        free_compilation(&made);
        return status;
    }
    CUresult error = load_module(program, made.code, log);
    if ((error == CUDA_ERROR_UNSUPPORTED_PTX_VERSION || error == CUDA_ERROR_INVALID_PTX) && state->rtc.nvrtcGetCUBIN &&
        state->rtc.nvrtcGetCUBINSize) {
        // The toolkit is newer than the driver: the driver cannot read its PTX, but may run its machine code.
        struct compilation machine;
        if (compile(program, state->architecture, true, &machine) && machine.result == NVRTC_SUCCESS && machine.bytes &&
            load_module(program, machine.code, unread) == CUDA_SUCCESS) {
            free_compilation(&made);
            made = machine;
            error = CUDA_SUCCESS;
        } else
            free_compilation(&machine);
    }
    enum fcl_status status = FCL_OK;
    if (error == CUDA_SUCCESS)
        fclrt_cache_store(program, made.code, made.bytes);
    else if (error == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
        status =
            fclrt_fail(context, FCL_DRIVER_FAILED,
                       "the NVIDIA driver (CUDA %s) is older than NVRTC and cannot load its code: update the driver or "
                       "install an older CUDA toolkit",
                       context->device.driver);
    else if (log[0])
        status = fclrt_fail(context, FCL_BUILD_FAILED, "the %s driver does not load the kernels: %s (%s error %d)\n%s",
                            state->vendor->company, error_text(&state->cu, error), state->vendor->name, error, log);
    else
        status = fail(context, "the driver does not load the kernels", error);
    free_compilation(&made);
    return status;
}

static void unload_cuda(struct fcl_program *program) {
    struct state *state = program->context->state;
    if (enter(state) != CUDA_SUCCESS)
        return;
    state->cu.cuModuleUnload(program->handle);
    leave(state);
}

static enum fcl_status find_cuda(struct fcl_kernel *kernel) {
    struct fcl_context *context = kernel->program->context;
    struct state *state = context->state;
    CUfunction function = NULL;
    int threads = 0, own = 0, local = 0;
    CUresult error = enter(state);
    if (error != CUDA_SUCCESS)
        return fail(context, "cuCtxPushCurrent", error);
    error = state->cu.cuModuleGetFunction(&function, kernel->program->handle, kernel->name);
    if (error == CUDA_SUCCESS) {
        if (state->cu.cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function) == CUDA_SUCCESS &&
            threads > 0)
            kernel->max_threads = (uint32_t)threads;
        if (state->cu.cuFuncGetAttribute(&own, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function) == CUDA_SUCCESS &&
            own > 0)
            kernel->own_shared = (uint64_t)own;
        if (state->cu.cuFuncGetAttribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function) == CUDA_SUCCESS &&
            local > 0)
            kernel->thread_bytes = (uint64_t)local;
    }
    leave(state);
    kernel->handle = function;
    if (error == CUDA_ERROR_NOT_FOUND)
        return fclrt_fail(context, FCL_NO_KERNEL, "the program has no kernel named %s", kernel->name);
    return error == CUDA_SUCCESS ? FCL_OK : fail(context, "cuModuleGetFunction", error);
}

static void forget_cuda(struct fcl_kernel *kernel) { (void)kernel; } // lives in its module

// ---------------------------------------------------------------- launches

static CUresult record(struct state *state, void **event) {
    CUevent made = NULL;
    CUresult error = state->cu.cuEventCreate(&made, CU_EVENT_DEFAULT);
    if (error != CUDA_SUCCESS)
        return error;
    *event = made;
    return state->cu.cuEventRecord(made, state->stream);
}

static void drop_events(struct state *state, struct fclrt_event *event) {
    if (event->start)
        state->cu.cuEventDestroy_v2(event->start);
    if (event->end)
        state->cu.cuEventDestroy_v2(event->end);
    event->start = event->end = NULL;
    event->pending = false;
}

static enum fcl_status launch_cuda(struct fcl_kernel *kernel, uint64_t blocks, uint32_t threads, uint64_t shared_bytes,
                                   const struct fcl_arg *args, size_t count, struct fclrt_event *event,
                                   double *seconds) {
    (void)seconds;
    struct fcl_context *context = kernel->program->context;
    struct state *state = context->state;
    const void *few[FCLRT_FEW_ARGUMENTS], **values = fclrt_values_of(args, count, few);
    if (!values)
        return fclrt_no_memory(context);
    CUresult error = enter(state);
    if (error == CUDA_SUCCESS) {
        // Without this a block gets no more than 48 KiB.
        if (state->cu.cuFuncSetAttribute && shared_bytes > kernel->asked_shared &&
            shared_bytes + kernel->own_shared > (48u << 10)) {
            error = state->cu.cuFuncSetAttribute(kernel->handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                 (int)shared_bytes);
            if (error == CUDA_SUCCESS)
                kernel->asked_shared = shared_bytes;
        }
        if (error == CUDA_SUCCESS && event)
            error = record(state, &event->start);
        if (error == CUDA_SUCCESS)
            error = state->cu.cuLaunchKernel(kernel->handle, (unsigned)blocks, 1, 1, threads, 1, 1,
                                             (unsigned)shared_bytes, work_stream(state), (void **)values, NULL);
        if (error == CUDA_SUCCESS && event)
            error = record(state, &event->end);
        if (event) {
            event->pending = error == CUDA_SUCCESS;
            if (!event->pending)
                drop_events(state, event);
        }
        leave(state);
    }
    if (values != few)
        free(values);
    if (error == CUDA_SUCCESS)
        return FCL_OK;
    char *doing = fclrt_format("kernel %s, %" PRIu64 " blocks of %" PRIu32 " threads, %" PRIu64 " bytes shared",
                               kernel->name, blocks, threads, shared_bytes);
    enum fcl_status status = fail(context, doing ? doing : kernel->name, error);
    free(doing);
    return status;
}

static enum fcl_status resolve_cuda(struct fcl_context *context, struct fclrt_event *event, double *seconds) {
    struct state *state = context->state;
    float milliseconds = 0;
    CUresult error = enter(state);
    if (error == CUDA_SUCCESS) {
        error = state->cu.cuEventSynchronize(event->end);
        if (error == CUDA_SUCCESS)
            error = state->cu.cuEventElapsedTime(&milliseconds, event->start, event->end);
        drop_events(state, event);
        leave(state);
    }
    event->pending = false;
    if (error != CUDA_SUCCESS)
        return fail(context, "measuring a launch", error);
    *seconds = 1e-3 * (double)milliseconds;
    return FCL_OK;
}

// ---------------------------------------------------------------- graphs

// The default stream cannot be recorded, and a caller's may have work of its own: so a stream is
// made for it, which nothing else goes to. Relaxed, as memory may be allocated meanwhile.
static enum fcl_status begin_graph_cuda(struct fcl_context *context) {
    struct state *state = context->state;
    const struct cuda *cu = &state->cu;
    if (!cu->cuStreamCreate || !cu->cuStreamDestroy_v2 || !cu->cuStreamBeginCapture_v2 || !cu->cuStreamEndCapture ||
        !cu->cuGraphInstantiateWithFlags || !cu->cuGraphLaunch || !cu->cuGraphExecDestroy || !cu->cuGraphDestroy)
        return fclrt_fail(context, FCL_NO_BACKEND,
                          "this driver has no graphs: CUDA has them since 11.4, HIP since ROCm 5.1");
    CUstream stream = NULL;
    CUresult error = enter(state);
    if (error == CUDA_SUCCESS) {
        error = cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
        if (error == CUDA_SUCCESS && (error = cu->cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED)))
            cu->cuStreamDestroy_v2(stream);
        leave(state);
    }
    if (error != CUDA_SUCCESS)
        return fail(context, "cuStreamBeginCapture", error);
    state->record = stream;
    return FCL_OK;
}

static enum fcl_status end_graph_cuda(struct fcl_context *context, void **handle) {
    struct state *state = context->state;
    const struct cuda *cu = &state->cu;
    CUgraph graph = NULL;
    CUgraphExec made = NULL;
    CUresult error = enter(state);
    if (error == CUDA_SUCCESS) {
        error = cu->cuStreamEndCapture(state->record, &graph);
        if (error == CUDA_SUCCESS && handle)
            error = cu->cuGraphInstantiateWithFlags(&made, graph, 0);
        if (graph)
            cu->cuGraphDestroy(graph);
        cu->cuStreamDestroy_v2(state->record);
        leave(state);
    }
    state->record = NULL;
    if (error != CUDA_SUCCESS)
        return fail(context, "recording a graph", error);
    if (handle)
        *handle = made;
    return FCL_OK;
}

static enum fcl_status launch_graph_cuda(struct fcl_context *context, void *handle) {
    WITH_CONTEXT(context, "cuGraphLaunch", cuGraphLaunch(handle, state->stream));
}

static void free_graph_cuda(struct fcl_context *context, void *handle) {
    struct state *state = context->state;
    if (enter(state) != CUDA_SUCCESS)
        return;
    state->cu.cuGraphExecDestroy(handle);
    leave(state);
}

#define COMMON                                                                                                         \
    .close = close_cuda, .finish = finish_cuda, .finish_queue = finish_queue_cuda, .use_queue = use_queue_cuda,        \
    .alloc = alloc_cuda, .free = free_cuda, .write = write_cuda, .read = read_cuda, .copy = copy_cuda,                 \
    .copy_peer = copy_peer_cuda, .fill = fill_cuda, .build = build_cuda, .load = load_cuda_image,                      \
    .unload = unload_cuda, .find = find_cuda, .forget = forget_cuda, .launch = launch_cuda, .resolve = resolve_cuda,   \
    .begin_graph = begin_graph_cuda, .end_graph = end_graph_cuda, .launch_graph = launch_graph_cuda,                   \
    .free_graph = free_graph_cuda

const struct fclrt_backend fclrt_cuda = {.line_options = "-lineinfo", .list = list_cuda, .open = open_cuda, COMMON};
const struct fclrt_backend fclrt_hip = {
    .line_options = "-gline-tables-only", .list = list_hip, .open = open_hip, COMMON};
