/* The kinds of machines that kernels are made for. */
#include "ir/machine.h"
#include "map/map.h"

const struct machine machine_cuda = {.device = "cuda",
                                     .shared_most = GPU_SHARED_MOST,
                                     .has_shuffles = true,
                                     .has_mma = true,
                                     .pauses = true,
                                     .map = {.mapping = TARGET_SIMT,
                                             .where = ON_CUDA,
                                             .has_warps = true,
                                             .has_exact_blocks = true,
                                             .threads_together = CUDA_THREADS_TOGETHER,
                                             .threads_together_large = CUDA_THREADS_TOGETHER_LARGE,
                                             .registers = CUDA_REGISTERS,
                                             .static_shared_limit = CUDA_STATIC_SHARED,
                                             .loads_ahead = true,
                                             .stack_limit = GPU_THREAD_STACK}};

const struct machine machine_hip = {.device = "hip",
                                    .has_shuffles = true,
                                    .pauses = true,
                                    .shared_most = HIP_SHARED,
                                    .map = {.mapping = TARGET_SIMT,
                                            .where = ON_HIP,
                                            .has_warps = true,
                                            .has_exact_blocks = true,
                                            .static_shared_limit = HIP_SHARED,
                                            .loads_ahead = true,
                                            .stack_limit = GPU_THREAD_STACK}};

const struct machine machine_opencl_gpu = {.device = "opencl-gpu",
                                           .polls_by_atomics = true,
                                           .shared_most = GPU_SHARED_MOST,
                                           .table_bytes = OPENCL_TABLE,
                                           .map = {.mapping = TARGET_SIMT,
                                                   .has_exact_blocks = true,
                                                   .where = ON_OPENCL_THREADS,
                                                   .dynamic_as_parameters = true,
                                                   .stack_limit = GPU_THREAD_STACK,
                                                   .block_stack_limit = OPENCL_BLOCK_STACK}};

/* The same, whose warps are sub-groups of 32. */
const struct machine machine_opencl_sub_groups = {.device = "opencl-gpu",
                                                  .has_shuffles = true,
                                                  .polls_by_atomics = true,
                                                  .shared_most = GPU_SHARED_MOST,
                                                  .table_bytes = OPENCL_TABLE,
                                                  .map = {.mapping = TARGET_SIMT,
                                                          .has_warps = true,
                                                          .has_exact_blocks = true,
                                                          .where = ON_OPENCL_THREADS,
                                                          .dynamic_as_parameters = true,
                                                          .stack_limit = GPU_THREAD_STACK,
                                                          .block_stack_limit = OPENCL_BLOCK_STACK}};

const struct machine machine_opencl_cpu = {
    .device = "opencl-cpu",
    .shared_bytes = CPU_SHARED,
    .map = {.mapping = TARGET_LOOP, .dynamic_as_parameters = true, .has_vectors = true, .where = ON_OPENCL_LOOPS}};

const struct machine machine_c = {.device = "c",
                                  .shared_bytes = CPU_SHARED,
                                  .map = {.mapping = TARGET_LOOP, .may_have_vectors = true, .where = ON_C}};
