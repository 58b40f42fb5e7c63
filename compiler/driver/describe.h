/* Describes what the kernels of a program take and give, in the types of fclc.h. */
#ifndef FCL_DRIVER_DESCRIBE_H
#define FCL_DRIVER_DESCRIBE_H

#include "driver/compilation.h"
#include "driver/fclc.h"

struct kernel_list {
    const struct fclc_kernel_info *infos;
    const struct core_global *const *globals; /* in the same order */
    size_t count;
};
/* The kernels of the user's file, in source order; where a name is defined again, the last. */
struct kernel_list describe_kernels(struct arena *arena, const struct compilation *c);

#endif
