/* An OpenCL whose devices say what the environment wants, and are else those that are there: built as a shared library
   that is linked with the loader, which gives all functions but these. SAYS_EXTENSIONS: names, each with a blank
   between; SAYS_SIZES: sizes of sub-groups, likewise; SAYS_VENDOR: a name, and they are GPUs; SAYS_NO_BINARIES: what is
   built has none.
   SAYS_BUILDS: a file to which a build of a program writes ( when it begins and ) when it ends, a second later
   or more. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

enum { SIZES_INTEL = 0x4108 };

static cl_int give(const void *value, size_t bytes, size_t room, void *to, size_t *size) {
    if (to && room < bytes)
        return CL_INVALID_VALUE;
    if (to)
        memcpy(to, value, bytes);
    if (size)
        *size = bytes;
    return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *to, size_t *size) {
    const char *extensions = getenv("SAYS_EXTENSIONS"), *listed = getenv("SAYS_SIZES");
    if (what == CL_DEVICE_EXTENSIONS && extensions)
        return give(extensions, strlen(extensions) + 1, room, to, size);
    const char *vendor = getenv("SAYS_VENDOR");
    if (what == CL_DEVICE_VENDOR && vendor)
        return give(vendor, strlen(vendor) + 1, room, to, size);
    const cl_device_type gpu = CL_DEVICE_TYPE_GPU;
    if (what == CL_DEVICE_TYPE && vendor)
        return give(&gpu, sizeof gpu, room, to, size);
    if (what == SIZES_INTEL && listed) {
        size_t sizes[8], count = 0;
        for (char *end; count < 8 && (sizes[count] = strtoul(listed, &end, 10)) > 0; listed = end)
            count++;
        return give(sizes, count * sizeof *sizes, room, to, size);
    }
    cl_int (*next)(cl_device_id, cl_device_info, size_t, void *, size_t *);
    *(void **)&next = dlsym(RTLD_NEXT, "clGetDeviceInfo");
    return next(device, what, room, to, size);
}

cl_int clGetProgramInfo(cl_program program, cl_program_info what, size_t room, void *to, size_t *size) {
    size_t none = 0;
    bool is_asked = what == CL_PROGRAM_BINARY_SIZES || what == CL_PROGRAM_BINARIES;
    if (is_asked && getenv("SAYS_NO_BINARIES"))
        return what == CL_PROGRAM_BINARIES ? CL_SUCCESS : give(&none, sizeof none, room, to, size);
    cl_int (*next)(cl_program, cl_program_info, size_t, void *, size_t *);
    *(void **)&next = dlsym(RTLD_NEXT, "clGetProgramInfo");
    return next(program, what, room, to, size);
}

static void note_build(char what) {
    FILE *file = getenv("SAYS_BUILDS") ? fopen(getenv("SAYS_BUILDS"), "a") : NULL;
    if (!file)
        return;
    fputc(what, file);
    fclose(file);
    if (what == '(')
        sleep(1);
}

typedef void CL_CALLBACK told(cl_program, void *);

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices, const char *options, told *tell,
                      void *data) {
    cl_int (*next)(cl_program, cl_uint, const cl_device_id *, const char *, told *, void *);
    *(void **)&next = dlsym(RTLD_NEXT, "clBuildProgram");
    note_build('(');
    cl_int error = next(program, count, devices, options, tell, data);
    note_build(')');
    return error;
}
