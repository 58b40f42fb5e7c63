/* The targets, a row each. */
#include <string.h>

#include "backend/print.h"
#include "map/map.h"

static const struct target cuda = {"cuda",        ".cu",         "CUDA", "FCL_BACKEND_CUDA",
                                   &dialect_cuda, &machine_cuda, NULL,   LINK_IMAGE};
static const struct target opencl = {
    "opencl",  ".cl", "OpenCL", "FCL_BACKEND_OPENCL", &dialect_opencl, &machine_opencl_gpu, &machine_opencl_cpu,
    LINK_NEVER};
static const struct target c = {"c", ".c", "C", "FCL_BACKEND_C", &dialect_c, NULL, &machine_c, LINK_FUNCTIONS};
/* Compiled only: the runtime has nothing that runs it. */
static const struct target hip = {"hip", ".hip", "HIP", NULL, &dialect_hip, &machine_hip, NULL, LINK_NEVER};

const struct target *const targets[] = {&cuda, &opencl, &c, &hip, NULL};

const struct target *target_named(const char *name) {
    for (size_t i = 0; targets[i]; i++)
        if (strcmp(targets[i]->name, name) == 0)
            return targets[i];
    return NULL;
}

/* A kind of device is called as its target, or `opencl-cpu`. */
const struct target *target_of_device(const char *kind) {
    for (size_t i = 0; targets[i]; i++) {
        size_t length = strlen(targets[i]->name);
        if (strncmp(targets[i]->name, kind, length) == 0 && (!kind[length] || kind[length] == '-'))
            return targets[i];
    }
    return NULL;
}

const struct machine *target_machine(const struct target *target, const char *kind) {
    if (!target->simt || (kind && target->loop && strcmp(kind, target->loop->device) == 0))
        return target->loop;
    return target->simt;
}
