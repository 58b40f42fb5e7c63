/* The targets, a row each. */
#include <string.h>

#include "backend/print.h"
#include "map/map.h"

static const struct target cuda = {.name = "cuda",
                                   .extension = ".cu",
                                   .language = "CUDA",
                                   .runtime = "FCL_BACKEND_CUDA",
                                   .dialect = &dialect_cuda,
                                   .simt = &machine_cuda,
                                   .linked = LINK_IMAGE,
                                   .has_graphs = true};
static const struct target opencl = {.name = "opencl",
                                     .extension = ".cl",
                                     .language = "OpenCL",
                                     .runtime = "FCL_BACKEND_OPENCL",
                                     .dialect = &dialect_opencl,
                                     .simt = &machine_opencl_gpu,
                                     .loop = &machine_opencl_cpu,
                                     .sub_groups = &machine_opencl_sub_groups,
                                     .linked = LINK_NEVER};
static const struct target c = {.name = "c",
                                .extension = ".c",
                                .language = "C",
                                .runtime = "FCL_BACKEND_C",
                                .dialect = &dialect_c,
                                .loop = &machine_c,
                                .linked = LINK_FUNCTIONS};
static const struct target hip = {.name = "hip",
                                  .extension = ".hip",
                                  .language = "HIP",
                                  .runtime = "FCL_BACKEND_HIP",
                                  .dialect = &dialect_hip,
                                  .simt = &machine_hip,
                                  .linked = LINK_NEVER};

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
