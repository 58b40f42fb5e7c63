// The OpenCL backend: drivers behind the ICD loader, one in-order queue per context.
#include "internal.h"
#include "opencl_api.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CONSTANT(name, value) name = (value),
enum { OPENCL_CONSTANTS(CONSTANT) };

#define MEMBER(result, name, parameters) result(*name) parameters;
struct opencl {
    OPENCL_FUNCTIONS(MEMBER)
};

#define SYMBOL(result, name, parameters) {#name, offsetof(struct opencl, name), false},
static const struct fclrt_symbol symbols[] = {OPENCL_FUNCTIONS(SYMBOL)};

enum { PLATFORMS = 32, DEVICES = 64 };

struct state {
    struct opencl cl;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue, first_queue; // the one in use, and the one that it began with
    bool keeps_its_own;                  // it has its own cache of programs
};

// The variable that says which processors Intel's driver makes code for; it reads that when it is loaded.
static const char architecture[] = "CL_CONFIG_CPU_TARGET_ARCH";

// QUIRK_ONES of compiler/map/quirks. A variable that the user has set is left alone.
static void avoid_wrong_ones(void) {
#if defined __x86_64__
    if (__builtin_cpu_supports("avx512vl"))
        setenv(architecture, "core-avx2", 0);
#endif
}

static bool load_opencl(struct opencl *cl, struct fclrt_note why) {
    avoid_wrong_ones();
    static const char *const names[] = {"libOpenCL.so.1", "libOpenCL.so", NULL};
    return fclrt_load("FCL_LIBOPENCL", names,
                      "the OpenCL loader is not installed (Debian, Ubuntu: package ocl-icd-libopencl1)", symbols,
                      sizeof symbols / sizeof *symbols, cl, why);
}

static const char *error_name(cl_int error) {
#define NAME(name, value) {#name, value},
    static const struct {
        const char *name;
        int64_t value;
    } names[] = {OPENCL_CONSTANTS(NAME)};
    for (size_t i = 0; error < 0 && i < sizeof names / sizeof *names; i++)
        if (names[i].value == error)
            return names[i].name;
    return "OpenCL error";
}

static enum fcl_status fail(struct fcl_context *context, const char *doing, cl_int error) {
    enum fcl_status status = FCL_DRIVER_FAILED;
    if (error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES)
        status = FCL_NO_DEVICE_MEMORY;
    if (error == CL_OUT_OF_HOST_MEMORY)
        status = FCL_NO_MEMORY;
    return fclrt_fail(context, status, "%s: %s (%d)", doing, error_name(error), (int)error);
}

// ---------------------------------------------------------------- devices

static void device_string(const struct opencl *cl, cl_device_id device, cl_device_info what, char *to, size_t bytes) {
    char text[1024] = "";
    if (cl->clGetDeviceInfo(device, what, sizeof text - 1, text, NULL) == 0)
        fclrt_copy_name(to, bytes, text);
}

// A number of 4 or 8 bytes; 0 where the driver does not know it.
static uint64_t device_number(const struct opencl *cl, cl_device_id device, cl_device_info what) {
    union {
        uint32_t small;
        uint64_t large;
    } value = {.large = 0};
    size_t bytes = 0;
    if (cl->clGetDeviceInfo(device, what, sizeof value, &value, &bytes) != 0)
        return 0;
    return bytes == 4 ? value.small : bytes == 8 ? value.large : 0;
}

// From the device's list; it allocates, and takes no memory for no.
static bool has_extension(const struct opencl *cl, cl_device_id device, const char *name) {
    size_t bytes = 0, length = strlen(name);
    if (cl->clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, NULL, &bytes) != 0)
        return false;
    char *list = calloc(1, bytes + 1);
    bool found = false;
    if (list && cl->clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, bytes, list, NULL) == 0)
        for (const char *at = list; !found && (at = strstr(at, name)) != NULL; at += length)
            found = (at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0');
    free(list);
    return found;
}

// Can a kernel ask for sub-groups of 32, and do these have what it exchanges values by? (AMD's have
// widths of their own, and functions of their own: `fclc --sub-groups=yes` asks for them.)
static bool has_sub_groups(const struct opencl *cl, cl_device_id device) {
    size_t sizes[32], bytes = 0;
    if (!has_extension(cl, device, "cl_intel_required_subgroup_size") ||
        cl->clGetDeviceInfo(device, CL_DEVICE_SUB_GROUP_SIZES_INTEL, sizeof sizes, sizes, &bytes) != 0)
        return false;
    bool has_size = false;
    for (size_t i = 0; i < bytes / sizeof *sizes; i++)
        has_size |= sizes[i] == 32;
    return has_size &&
           (has_extension(cl, device, "cl_intel_subgroups") || (has_extension(cl, device, "cl_khr_subgroup_shuffle") &&
                                                                has_extension(cl, device, "cl_khr_subgroup_ballot")));
}

// Can blocks of a GPU wait for those before them? The GPUs of these vendors run the blocks of a launch in any order,
// and do not promise that one which has begun goes on while another one waits.
static bool has_waiting_blocks(const struct opencl *cl, cl_device_id device, bool is_gpu) {
    static const char *const others[] = {"ARM", "QUALCOMM", "Qualcomm", "Apple"};
    char vendor[256] = "";
    device_string(cl, device, CL_DEVICE_VENDOR, vendor, sizeof vendor);
    for (size_t i = 0; is_gpu && i < sizeof others / sizeof *others; i++)
        if (strncmp(vendor, others[i], strlen(others[i])) == 0)
            return false;
    return has_extension(cl, device, "cl_khr_int64_base_atomics");
}

static void describe(const struct opencl *cl, cl_platform_id platform, cl_device_id device,
                     struct fcl_device_info *info) {
    *info = (struct fcl_device_info){.backend = FCL_BACKEND_OPENCL, .kind = FCL_DEVICE_OPENCL_OTHER};
    uint64_t type = device_number(cl, device, CL_DEVICE_TYPE);
    if (type & CL_DEVICE_TYPE_CPU)
        info->kind = FCL_DEVICE_OPENCL_CPU;
    if (type & CL_DEVICE_TYPE_GPU)
        info->kind = FCL_DEVICE_OPENCL_GPU;
    char text[1024] = "";
    if (cl->clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof text - 1, text, NULL) == 0)
        fclrt_copy_name(info->platform, sizeof info->platform, text);
    device_string(cl, device, CL_DEVICE_NAME, info->name, sizeof info->name);
    device_string(cl, device, CL_DRIVER_VERSION, info->driver, sizeof info->driver);
    info->memory_bytes = device_number(cl, device, CL_DEVICE_GLOBAL_MEM_SIZE);
    info->max_buffer_bytes = device_number(cl, device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    info->shared_bytes = device_number(cl, device, CL_DEVICE_LOCAL_MEM_SIZE);
    uint64_t threads = device_number(cl, device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    info->max_threads = threads > UINT32_MAX ? UINT32_MAX : (uint32_t)threads;
    // The global size, blocks × threads, must fit the device's addresses, and AMD's queues, which have 32 bits for it.
    info->max_blocks = UINT32_MAX / (threads ? threads : 1);
    info->compute_units = (uint32_t)device_number(cl, device, CL_DEVICE_MAX_COMPUTE_UNITS);
    info->warp_width = (uint32_t)device_number(cl, device, CL_DEVICE_WARP_SIZE_NV);
    if (!info->warp_width)
        info->warp_width = (uint32_t)device_number(cl, device, CL_DEVICE_WAVEFRONT_WIDTH_AMD);
    if (!info->warp_width && info->kind == FCL_DEVICE_OPENCL_CPU)
        info->warp_width = 1;
    if (info->kind == FCL_DEVICE_OPENCL_CPU)
        info->vector_bytes = (uint32_t)(sizeof(float) * device_number(cl, device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT));
    info->has_double = device_number(cl, device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    info->exact_division =
        (device_number(cl, device, CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    info->has_sub_groups = has_sub_groups(cl, device);
    info->has_waiting_blocks = has_waiting_blocks(cl, device, info->kind == FCL_DEVICE_OPENCL_GPU);
    if (!device_number(cl, device, CL_DEVICE_AVAILABLE))
        snprintf(info->problem, sizeof info->problem, "the device is not available");
    else if (!device_number(cl, device, CL_DEVICE_COMPILER_AVAILABLE))
        snprintf(info->problem, sizeof info->problem, "the driver has no compiler for OpenCL C");
}

// Calls `visit` for each device until it returns false.
typedef bool visitor(void *to, const struct opencl *cl, cl_platform_id platform, cl_device_id device);

static void each_device(const struct opencl *cl, visitor *visit, void *to, struct fclrt_note why) {
    cl_platform_id platforms[PLATFORMS];
    cl_uint platform_count = 0;
    cl_int error = cl->clGetPlatformIDs(PLATFORMS, platforms, &platform_count);
    if (error != 0 || !platform_count) {
        if (error != 0 && error != CL_PLATFORM_NOT_FOUND_KHR)
            fclrt_note(why, "clGetPlatformIDs: %s (%d)", error_name(error), (int)error);
        else
            fclrt_note(why, "the OpenCL loader found no driver; one for processors is PoCL (Debian, Ubuntu: package "
                            "pocl-opencl-icd)");
        return;
    }
    fclrt_note(why, "the OpenCL drivers found no device");
    for (cl_uint p = 0; p < platform_count && p < PLATFORMS; p++) {
        cl_device_id devices[DEVICES];
        cl_uint device_count = 0;
        if (cl->clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, DEVICES, devices, &device_count) != 0)
            continue;
        for (cl_uint d = 0; d < device_count && d < DEVICES; d++)
            if (!visit(to, cl, platforms[p], devices[d]))
                return;
    }
}

struct listing {
    fclrt_receiver *receive;
    void *to;
    bool no_memory;
};

static bool list_one(void *to, const struct opencl *cl, cl_platform_id platform, cl_device_id device) {
    struct listing *listing = to;
    struct fcl_device_info info;
    describe(cl, platform, device, &info);
    listing->no_memory = !listing->receive(listing->to, &info);
    return !listing->no_memory;
}

static enum fcl_status list_opencl(fclrt_receiver *receive, void *to, struct fclrt_note why) {
    struct opencl cl;
    if (!load_opencl(&cl, why))
        return FCL_NO_BACKEND;
    struct listing listing = {receive, to, false};
    each_device(&cl, list_one, &listing, why);
    return listing.no_memory ? FCL_NO_MEMORY : FCL_OK;
}

// ---------------------------------------------------------------- contexts

struct choice {
    size_t left;
    cl_platform_id platform;
    cl_device_id device;
};

static bool choose(void *to, const struct opencl *cl, cl_platform_id platform, cl_device_id device) {
    (void)cl;
    struct choice *choice = to;
    if (choice->left--)
        return true;
    choice->platform = platform;
    choice->device = device;
    return false;
}

// The context of the caller's queue, if that is this device's.
static enum fcl_status context_of_queue(struct fcl_context *context, cl_command_queue queue, cl_context *own) {
    const struct state *state = context->state;
    cl_device_id device = NULL;
    cl_int error = state->cl.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(cl_device_id), (void *)&device, NULL);
    if (error == 0)
        error = state->cl.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context), (void *)own, NULL);
    if (error != 0)
        return fail(context, "clGetCommandQueueInfo", error);
    return device == state->device ? FCL_OK : fclrt_fail(context, FCL_NO_DEVICE, "the queue is another device's");
}

static enum fcl_status open_on_queue(struct fcl_context *context, struct state *state) {
    cl_context own = NULL;
    enum fcl_status status = context_of_queue(context, context->queue, &own);
    if (status != FCL_OK)
        return status;
    cl_int error = state->cl.clRetainContext(own);
    if (error != 0)
        return fail(context, "clRetainContext", error);
    state->context = own;
    if ((error = state->cl.clRetainCommandQueue(context->queue)) != 0)
        return fail(context, "clRetainCommandQueue", error);
    state->first_queue = state->queue = context->queue;
    return FCL_OK;
}

static cl_int follow(const struct state *state, cl_command_queue queue) {
    cl_event done = NULL;
    cl_int error = state->cl.clEnqueueMarkerWithWaitList(state->queue, 0, NULL, &done);
    if (error != 0)
        return error;
    error = state->cl.clFlush(state->queue); // nobody else might begin with it
    if (error == 0)
        error = state->cl.clEnqueueBarrierWithWaitList(queue, 1, &done, NULL);
    state->cl.clReleaseEvent(done);
    return error;
}

static enum fcl_status use_queue_opencl(struct fcl_context *context, void *wanted) {
    struct state *state = context->state;
    cl_command_queue queue = wanted ? wanted : state->first_queue;
    cl_context own = NULL;
    if (queue == state->queue)
        return FCL_OK;
    enum fcl_status status = context_of_queue(context, queue, &own);
    if (status != FCL_OK)
        return status;
    if (own != state->context)
        return fclrt_fail(context, FCL_INVALID, "fcl_use_queue: the queue is of another context of OpenCL");
    cl_int error = follow(state, queue);
    if (error != 0)
        return fail(context, "clEnqueueBarrierWithWaitList", error);
    state->queue = queue;
    return FCL_OK;
}

// PoCL has a cache of its own, and compiles every kernel once more for whoever asks for a program's binary. No two
// processes have it build the same program at a time (QUIRK_HALF_FILES of compiler/map/quirks).
static bool keeps_its_own(const struct fcl_device_info *device) {
    const char *always = getenv("FCL_CACHE");
    return strcmp(device->platform, "Portable Computing Language") == 0 && !(always && strcmp(always, "1") == 0);
}

static enum fcl_status open_opencl(struct fcl_context *context, size_t ordinal) {
    enum fcl_status status = FCL_OK;
    struct state *state = calloc(1, sizeof *state);
    if (!state)
        return fclrt_no_memory(context);
    context->state = state;
    struct opencl *cl = &state->cl;
    char why[256] = "";
    struct fclrt_note note = {why, sizeof why};
    if (!load_opencl(cl, note))
        return fclrt_fail(context, FCL_NO_BACKEND, "%s", why);
    struct choice choice = {.left = ordinal};
    each_device(cl, choose, &choice, note);
    if (!choice.device)
        return fclrt_fail(context, FCL_NO_DEVICE, "%s", why);
    state->device = choice.device;

    cl_int error = 0;
    if (context->queue) {
        status = open_on_queue(context, state);
        if (status != FCL_OK)
            return status;
    }
    cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)choice.platform, 0};
    if (!state->context)
        state->context = cl->clCreateContext(properties, 1, &state->device, NULL, NULL, &error);
    if (!state->context)
        return fail(context, "clCreateContext", error);
    if (!state->first_queue)
        state->first_queue = state->queue = cl->clCreateCommandQueue(
            state->context, state->device, context->profile ? CL_QUEUE_PROFILING_ENABLE : 0, &error);
    if (!state->queue)
        return fail(context, "clCreateCommandQueue", error);

    const struct fcl_device_info *info = &context->device;
    context->build_options =
        fclrt_format("-cl-std=CL1.2 -w%s", info->exact_division ? " -cl-fp32-correctly-rounded-divide-sqrt" : "");
    char version[256] = "";
    device_string(cl, state->device, CL_DEVICE_VERSION, version, sizeof version);
    char *stamp = fclrt_library_stamp("FCL_LIBOPENCL");
    const char *made_for = getenv(architecture);
    if (stamp)
        context->identity = fclrt_format("opencl\n%s\n%s\n%s\n%s\n%s\n%s", info->platform, info->name, info->driver,
                                         version, made_for ? made_for : "", stamp);
    free(stamp);
    state->keeps_its_own = keeps_its_own(info);
    return context->build_options && context->identity ? FCL_OK : fclrt_no_memory(context);
}

static void close_opencl(struct fcl_context *context) {
    struct state *state = context->state;
    if (state->first_queue)
        state->cl.clReleaseCommandQueue(state->first_queue);
    if (state->context)
        state->cl.clReleaseContext(state->context);
    free(state);
    context->state = NULL;
}

static enum fcl_status finish_queue_opencl(struct fcl_context *context, void *queue) {
    struct state *state = context->state;
    cl_int error = state->cl.clFinish(queue);
    return error == 0 ? FCL_OK : fail(context, "clFinish", error);
}

static enum fcl_status finish_opencl(struct fcl_context *context) {
    struct state *state = context->state;
    cl_int error = state->queue ? state->cl.clFinish(state->queue) : 0;
    return error == 0 ? FCL_OK : fail(context, "clFinish", error);
}

// ---------------------------------------------------------------- buffers

static void free_array(cl_mem memory, void *array) {
    (void)memory;
    free(array);
}

static enum fcl_status alloc_opencl(struct fcl_context *context, uint64_t bytes, union fclrt_memory *memory) {
    struct state *state = context->state;
    cl_int error = 0;
    // A CPU works in the host's memory, and its driver need not choose the pages.
    void *array = context->device.kind == FCL_DEVICE_OPENCL_CPU ? fclrt_array(bytes) : NULL;
    cl_mem_flags flags = array ? CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR : CL_MEM_READ_WRITE;
    memory->pointer = state->cl.clCreateBuffer(state->context, flags, (size_t)bytes, array, &error);
    if (memory->pointer && array)
        error = state->cl.clSetMemObjectDestructorCallback(memory->pointer, free_array, array);
    if (memory->pointer && error == 0)
        return FCL_OK;
    if (memory->pointer)
        state->cl.clReleaseMemObject(memory->pointer);
    free(array);
    return fclrt_fail(context, error == CL_OUT_OF_HOST_MEMORY ? FCL_NO_MEMORY : FCL_NO_DEVICE_MEMORY,
                      "no memory for a buffer of %" PRIu64 " bytes on %s: %s (%d)", bytes, context->device.name,
                      error_name(error), (int)error);
}

static void free_opencl(struct fcl_context *context, union fclrt_memory memory) {
    struct state *state = context->state;
    state->cl.clReleaseMemObject(memory.pointer);
}

static enum fcl_status write_opencl(struct fcl_buffer *buffer, uint64_t offset, const void *data, uint64_t bytes) {
    struct state *state = buffer->context->state;
    cl_int error = state->cl.clEnqueueWriteBuffer(state->queue, buffer->memory.pointer, CL_TRUE, (size_t)offset,
                                                  (size_t)bytes, data, 0, NULL, NULL);
    return error == 0 ? FCL_OK : fail(buffer->context, "clEnqueueWriteBuffer", error);
}

static enum fcl_status read_opencl(struct fcl_buffer *buffer, uint64_t offset, void *data, uint64_t bytes) {
    struct state *state = buffer->context->state;
    cl_int error = state->cl.clEnqueueReadBuffer(state->queue, buffer->memory.pointer, CL_TRUE, (size_t)offset,
                                                 (size_t)bytes, data, 0, NULL, NULL);
    return error == 0 ? FCL_OK : fail(buffer->context, "clEnqueueReadBuffer", error);
}

static enum fcl_status copy_opencl(struct fcl_buffer *to, uint64_t to_offset, struct fcl_buffer *from,
                                   uint64_t from_offset, uint64_t bytes) {
    struct state *state = to->context->state;
    cl_int error = state->cl.clEnqueueCopyBuffer(state->queue, from->memory.pointer, to->memory.pointer,
                                                 (size_t)from_offset, (size_t)to_offset, (size_t)bytes, 0, NULL, NULL);
    return error == 0 ? FCL_OK : fail(to->context, "clEnqueueCopyBuffer", error);
}

static enum fcl_status fill_opencl(struct fcl_buffer *buffer, uint64_t offset, uint64_t bytes, uint8_t value) {
    struct state *state = buffer->context->state;
    cl_int error = state->cl.clEnqueueFillBuffer(state->queue, buffer->memory.pointer, &value, 1, (size_t)offset,
                                                 (size_t)bytes, 0, NULL, NULL);
    return error == 0 ? FCL_OK : fail(buffer->context, "clEnqueueFillBuffer", error);
}

// ---------------------------------------------------------------- programs

static void store_binary(const struct fcl_program *program) {
    struct state *state = program->context->state;
    if (!program->context->cache_directory || state->keeps_its_own)
        return;
    size_t bytes = 0;
    if (state->cl.clGetProgramInfo(program->handle, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) != 0)
        return;
    unsigned char *binary = malloc(bytes);
    if (binary && state->cl.clGetProgramInfo(program->handle, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == 0)
        fclrt_cache_store(program, binary, bytes);
    free(binary);
}

static bool load_binary(struct fcl_program *program) {
    struct state *state = program->context->state;
    size_t bytes = 0;
    void *data = state->keeps_its_own ? NULL : fclrt_cache_load(program, &bytes);
    if (!data)
        return false;
    const unsigned char *binary = data;
    cl_int status = 0, error = 0;
    cl_program handle =
        state->cl.clCreateProgramWithBinary(state->context, 1, &state->device, &bytes, &binary, &status, &error);
    bool good =
        handle && status == 0 && state->cl.clBuildProgram(handle, 1, &state->device, program->options, NULL, NULL) == 0;
    if (good)
        program->handle = handle;
    else if (handle)
        state->cl.clReleaseProgram(handle);
    if (!good)
        fclrt_cache_drop(program);
    free(data);
    return good;
}

static enum fcl_status build_opencl(struct fcl_program *program) {
    struct fcl_context *context = program->context;
    struct state *state = context->state;
    struct opencl *cl = &state->cl;
    if (load_binary(program)) {
        context->build_origin = "disk";
        return FCL_OK;
    }
    cl_int error = 0;
    const char *source = program->source;
    program->handle = cl->clCreateProgramWithSource(state->context, 1, &source, NULL, &error);
    if (!program->handle)
        return fail(context, "clCreateProgramWithSource", error);
    int lock = -1;
    char *apart = NULL; // options by which the driver's cache has no file that another process may be at
    if (state->keeps_its_own && !fclrt_cache_lock(program, &lock))
        apart = fclrt_format("%s -DFCL_APART_%ld", program->options, (long)getpid());
    error = cl->clBuildProgram(program->handle, 1, &state->device, apart ? apart : program->options, NULL, NULL);
    free(apart);
    if (lock >= 0)
        close(lock);
    if (error != 0) {
        size_t bytes = 0;
        char *log = NULL;
        if (cl->clGetProgramBuildInfo(program->handle, state->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) == 0)
            log = calloc(1, bytes + 1);
        if (log)
            cl->clGetProgramBuildInfo(program->handle, state->device, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
        fclrt_fail(context, FCL_BUILD_FAILED, "%s does not compile the kernels: %s (%d)\n%s", context->device.name,
                   error_name(error), (int)error, log && *log ? log : "(no log)");
        free(log);
        return FCL_BUILD_FAILED;
    }
    store_binary(program);
    return FCL_OK;
}

static void unload_opencl(struct fcl_program *program) {
    struct state *state = program->context->state;
    state->cl.clReleaseProgram(program->handle);
}

static enum fcl_status find_opencl(struct fcl_kernel *kernel) {
    struct fcl_context *context = kernel->program->context;
    struct state *state = context->state;
    cl_int error = 0;
    kernel->handle = state->cl.clCreateKernel(kernel->program->handle, kernel->name, &error);
    if (!kernel->handle) {
        if (error != CL_INVALID_KERNEL_NAME)
            return fail(context, "clCreateKernel", error);
        return fclrt_fail(context, FCL_NO_KERNEL, "the program has no kernel named %s", kernel->name);
    }
    size_t threads = 0;
    cl_ulong own = 0;
    cl_uint arguments = 0;
    if (state->cl.clGetKernelWorkGroupInfo(kernel->handle, state->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof threads,
                                           &threads, NULL) == 0)
        kernel->max_threads = threads > UINT32_MAX ? UINT32_MAX : (uint32_t)threads;
    // Asked before any local argument is set, so it is what the kernel declares.
    if (state->cl.clGetKernelWorkGroupInfo(kernel->handle, state->device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof own, &own,
                                           NULL) == 0)
        kernel->own_shared = own;
    if (state->cl.clGetKernelInfo(kernel->handle, CL_KERNEL_NUM_ARGS, sizeof arguments, &arguments, NULL) == 0)
        kernel->arguments = arguments;
    return FCL_OK;
}

static void forget_opencl(struct fcl_kernel *kernel) {
    struct state *state = kernel->program->context->state;
    state->cl.clReleaseKernel(kernel->handle);
}

// ---------------------------------------------------------------- launches

static enum fcl_status launch_opencl(struct fcl_kernel *kernel, uint64_t blocks, uint32_t threads,
                                     uint64_t shared_bytes, const struct fcl_arg *args, size_t count,
                                     struct fclrt_event *event, double *seconds) {
    (void)shared_bytes, (void)seconds;
    struct fcl_context *context = kernel->program->context;
    struct state *state = context->state;
    for (size_t i = 0; i < count; i++) {
        size_t bytes = args[i].bytes;
        const void *value = args[i].as.scalar;
        cl_mem memory;
        switch (args[i].kind) {
        case FCL_ARG_BUFFER:
            memory = fclrt_memory_of(&args[i])->pointer;
            value = &memory;
            bytes = sizeof memory;
            break;
        case FCL_ARG_LOCAL:
            value = NULL;
            if (!bytes)
                bytes = 1; // drivers refuse local arrays of nothing
            break;
        case FCL_ARG_SCALAR: break;
        }
        cl_int error = state->cl.clSetKernelArg(kernel->handle, (cl_uint)i, bytes, value);
        if (error != 0)
            return fclrt_fail(context, FCL_INVALID, "kernel %s, argument %zu of %zu bytes: %s (%d)", kernel->name, i,
                              bytes, error_name(error), (int)error);
    }
    // The local size is always given: left to itself, a driver may choose one group for everything.
    size_t local = threads, global = (size_t)blocks * local;
    cl_event done = NULL;
    cl_int error = state->cl.clEnqueueNDRangeKernel(state->queue, kernel->handle, 1, NULL, &global, &local, 0, NULL,
                                                    event ? &done : NULL);
    if (error != 0) {
        char *doing =
            fclrt_format("kernel %s, %" PRIu64 " blocks of %" PRIu32 " threads", kernel->name, blocks, threads);
        enum fcl_status status = fail(context, doing ? doing : kernel->name, error);
        free(doing);
        return status;
    }
    if (event) {
        event->end = done;
        event->pending = true;
    }
    return FCL_OK;
}

static enum fcl_status resolve_opencl(struct fcl_context *context, struct fclrt_event *event, double *seconds) {
    struct state *state = context->state;
    cl_ulong start = 0, end = 0;
    // The queue is in order, so this waits for no more than it must the first time and for nothing afterwards.
    cl_int error = state->cl.clFinish(state->queue);
    if (error == 0)
        error = state->cl.clGetEventProfilingInfo(event->end, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    if (error == 0)
        error = state->cl.clGetEventProfilingInfo(event->end, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    state->cl.clReleaseEvent(event->end);
    event->pending = false;
    if (error != 0)
        return fail(context, "measuring a launch", error);
    *seconds = end > start ? 1e-9 * (double)(end - start) : 0;
    return FCL_OK;
}

const struct fclrt_backend fclrt_opencl = {
    .list = list_opencl,
    .open = open_opencl,
    .close = close_opencl,
    .finish = finish_opencl,
    .finish_queue = finish_queue_opencl,
    .use_queue = use_queue_opencl,
    .alloc = alloc_opencl,
    .free = free_opencl,
    .write = write_opencl,
    .read = read_opencl,
    .copy = copy_opencl,
    .fill = fill_opencl,
    .build = build_opencl,
    .unload = unload_opencl,
    .find = find_opencl,
    .forget = forget_opencl,
    .launch = launch_opencl,
    .resolve = resolve_opencl,
};
