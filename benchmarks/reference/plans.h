// A plan says what is launched for a task; this is what it is made of. One plan is for CPUs and for OpenCL's devices,
// one for CUDA's.
#ifndef FCL_BENCHMARKS_PLANS_H
#define FCL_BENCHMARKS_PLANS_H

#include "../harness/bench.h"
#include "../harness/definitions.h"

#include "fcl.h"

enum { CPU_GROUP = 1024, GPU_BLOCK = 256 };

// The task, what the command line asks for, and the arrays on the device.
struct task_side {
    const struct problem *problem;
    const struct options *options;
    struct fcl_buffer *in[MOST_INPUTS], *out[MOST_RESULTS];
};

struct step;

// Adds the launches of the task to the steps that side_run takes.
void plan_for_cpus(const struct task_side *task, bool is_opencl);
void plan_for_cuda(const struct task_side *task);

uint64_t divide_up(uint64_t a, uint64_t b);
// A few groups for each core or multiprocessor.
uint64_t per_unit(uint64_t groups);
struct fcl_buffer *new_ints(uint64_t count);
// An array is set to zeros.
void add_zeros(struct fcl_buffer *buffer);
// A launch; the first of a task may be told by options to be another kernel or of another size.
struct step *add_launch(const char *kernel, uint64_t blocks, uint32_t threads);
// A launch that options do not change.
struct step *add_step_of(const char *kernel, uint64_t blocks, uint32_t threads);
// Arguments: b a buffer, i an int, f a float (as a double).
struct step *with(struct step *step, const char *kinds, ...);
// The host reads this after the last launch, and adds it up: a sum's parts, or numbers of results.
void read_after(struct fcl_buffer *buffer, size_t count);
// How many blocks it is launched with.
uint64_t step_blocks(const struct step *step);
// Multiply-adds, as the ceiling of what computes: `each` for a thread and turn.
void plan_fma(uint64_t multiply_adds, uint64_t threads, uint64_t each);

#endif
