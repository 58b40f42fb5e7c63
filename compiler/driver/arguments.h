/* A kernel's arguments from text. */
#ifndef FCL_DRIVER_ARGUMENTS_H
#define FCL_DRIVER_ARGUMENTS_H

#include "types/core.h"
#include "values/value.h"

struct kernel_interface {
    struct type **parameters;
    const char **names;
    size_t count;
    struct type *result;
};
struct kernel_interface kernel_interface(struct arena *arena, const struct core_global *kernel);

/* Reads the arguments as the kernel's parameters want them. NULL, with the whole message in *why, if one
   is wrong. The path of an @file is relative to `directory`. */
struct host_value **parse_arguments(struct arena *arena, const struct core_global *kernel, const char *const *texts,
                                    size_t count, const char *directory, const char **why);

#endif
