/* The kinds of machines that kernels are made for. */
#include "map/map.h"

/* Bytes. A GPU sets a thread's stack aside for as many threads as it can hold; OpenCL on a processor has those of all threads of a
   block on the one of a thread of its own, of 8 MiB with PoCL. */
enum { THREAD_STACK = 8 * 1024, BLOCK_STACK = 2 * 1024 * 1024 };

/* What a core has close by: half of a common second-level cache. */
enum { CPU_SHARED = 512 * 1024 };

/* Since compute capability 9.0; less on most: the launch says so. */
enum { GPU_SHARED_MOST = 227 * 1024 };

const struct machine machine_cuda = {.device = "cuda",
                                     .shared_most = GPU_SHARED_MOST,
                                     .has_shuffles = true,
                                     .pauses = true,
                                     .map = {.mapping = TARGET_SIMT,
                                             .has_warps = true,
                                             .has_exact_blocks = true,
                                             .threads_together = 1024,
                                             .threads_together_large = 512,
                                             .registers = 65536,
                                             .static_shared_limit = 48 * 1024,
                                             .loads_ahead = true,
                                             .stack_limit = THREAD_STACK}};

/* GPUs of AMD since GCN: 64 KiB of shared memory. Nothing here was measured. */
const struct machine machine_hip = {.device = "hip",
                                    .has_shuffles = true,
                                    .pauses = true,
                                    .shared_most = 64 * 1024,
                                    .map = {.mapping = TARGET_SIMT,
                                            .has_warps = true,
                                            .has_exact_blocks = true,
                                            .static_shared_limit = 64 * 1024,
                                            .loads_ahead = true,
                                            .stack_limit = THREAD_STACK}};

const struct machine machine_opencl_gpu = {.device = "opencl-gpu",
                                           .polls_by_atomics = true,
                                           .shared_most = GPU_SHARED_MOST,
                                           .table_bytes = 48 * 1024,
                                           .map = {.mapping = TARGET_SIMT,
                                                   .has_exact_blocks = true,
                                                   .is_for_cpus = true,
                                                   .dynamic_as_parameters = true,
                                                   .stack_limit = THREAD_STACK,
                                                   .block_stack_limit = BLOCK_STACK}};

/* The same, whose warps are sub-groups of 32. */
const struct machine machine_opencl_sub_groups = {.device = "opencl-gpu",
                                                  .has_shuffles = true,
                                                  .polls_by_atomics = true,
                                                  .shared_most = GPU_SHARED_MOST,
                                                  .table_bytes = 48 * 1024,
                                                  .map = {.mapping = TARGET_SIMT,
                                                          .has_warps = true,
                                                          .has_exact_blocks = true,
                                                          .is_for_cpus = true,
                                                          .dynamic_as_parameters = true,
                                                          .stack_limit = THREAD_STACK,
                                                          .block_stack_limit = BLOCK_STACK}};

const struct machine machine_opencl_cpu = {
    .device = "opencl-cpu",
    .shared_bytes = CPU_SHARED,
    .map = {.mapping = TARGET_LOOP, .dynamic_as_parameters = true, .has_vectors = true, .is_for_cpus = true}};

const struct machine machine_c = {.device = "c",
                                  .shared_bytes = CPU_SHARED,
                                  .map = {.mapping = TARGET_LOOP, .may_have_vectors = true, .is_for_cpus = true}};
