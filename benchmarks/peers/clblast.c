// The side of CLBlast: the BLAS library for OpenCL devices.
#define CL_TARGET_OPENCL_VERSION 120
#include "bench.h"

#include <CL/cl.h>
#include <clblast_c.h>
#include <stdlib.h>
#include <string.h>

const char *const side_name = "clblast";

static struct {
    const struct problem *p;
    cl_device_id device;
    cl_command_queue queue;
    cl_mem in[2], out;
    char name[256], driver[256];
} side;

static void must(int error, const char *what) {
    if (error != 0)
        die(STATUS_DEVICE, "%s: error %d", what, error);
}

// The kind that the runtime of FCL calls opencl-gpu, or a CPU.
static cl_device_id find_device(const char *wanted) {
    enum { PLATFORMS = 16 };
    bool is_gpu = wanted && strncmp(wanted, "opencl-gpu", 10) == 0;
    cl_platform_id platforms[PLATFORMS];
    cl_uint count = 0;
    must(clGetPlatformIDs(PLATFORMS, platforms, &count), "clGetPlatformIDs");
    for (cl_uint i = 0; i < count && i < PLATFORMS; i++) {
        cl_device_id device;
        if (clGetDeviceIDs(platforms[i], is_gpu ? CL_DEVICE_TYPE_GPU : CL_DEVICE_TYPE_CPU, 1, &device, NULL) == 0)
            return device;
    }
    die(STATUS_DEVICE, "no such OpenCL device");
    return NULL;
}

int side_begin(struct problem *p, const struct options *o) {
    side.p = p;
    if (p->task->id != TASK_SGEMM && p->task->id != TASK_MATVEC)
        return STATUS_NO_TASK;
    side.device = find_device(o->device);
    cl_int error;
    cl_context context = clCreateContext(NULL, 1, &side.device, NULL, NULL, &error);
    must(error, "clCreateContext");
    side.queue = clCreateCommandQueue(context, side.device, 0, &error);
    must(error, "clCreateCommandQueue");
    for (int i = 0; i < 2; i++) {
        side.in[i] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, array_bytes(&p->in[i]),
                                    p->in[i].at, &error);
        must(error, "clCreateBuffer");
    }
    // Its results are β times what is there, too, and β is 0: but 0 times what is no number is none.
    void *zeros = calloc(1, array_bytes(&p->out[0]));
    side.out =
        clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, array_bytes(&p->out[0]), zeros, &error);
    must(error, "clCreateBuffer");
    free(zeros);
    clGetDeviceInfo(side.device, CL_DEVICE_NAME, sizeof side.name - 1, side.name, NULL);
    clGetDeviceInfo(side.device, CL_DRIVER_VERSION, sizeof side.driver - 1, side.driver, NULL);
    return 0;
}

void side_run(void) {
    size_t rows = (size_t)side.p->rows, columns = (size_t)side.p->columns;
    if (side.p->task->id == TASK_MATVEC)
        must(CLBlastSgemv(CLBlastLayoutRowMajor, CLBlastTransposeNo, rows, columns, 1, side.in[0], 0, columns,
                          side.in[1], 0, 1, 0, side.out, 0, 1, &side.queue, NULL),
             "CLBlastSgemv");
    else
        must(CLBlastSgemm(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, rows, rows, rows, 1,
                          side.in[0], 0, rows, side.in[1], 0, rows, 0, side.out, 0, rows, &side.queue, NULL),
             "CLBlastSgemm");
    must(clFinish(side.queue), "clFinish");
}

size_t side_launches(double seconds[MOST_LAUNCHES], const char *names[MOST_LAUNCHES]) {
    (void)seconds;
    (void)names;
    return 0;
}

void side_results(struct array *results) {
    must(clEnqueueReadBuffer(side.queue, side.out, CL_TRUE, 0, array_bytes(&results[0]), results[0].at, 0, NULL, NULL),
         "clEnqueueReadBuffer");
}

const char *side_device(void) { return side.name; }
const char *side_driver(void) { return side.driver; }
const char *side_target(void) { return "opencl"; }
void side_end(void) {}
