/* From IR to target IR: every parallel loop at grid level becomes a device kernel. */
#ifndef FCL_MAP_MAP_H
#define FCL_MAP_MAP_H

#include "ir/passes/passes.h"
#include "map/target.h"

struct map_options {
    enum target_mapping mapping; /* GPUs: TARGET_SIMT; CPUs: TARGET_LOOP */
    bool has_warps;              /* SIMT: threads of a warp can synchronise. Otherwise a warp is one thread */
    bool has_exact_blocks; /* SIMT: blocks have as many threads as the kernel says, so that loops in them have constant
                              strides, or are none */
    int threads_together;  /* SIMT: that a multiprocessor is to hold at least; 0: does not matter */
    int threads_together_few; /* the same where an array of each takes half of a thread's registers, so that few fit */
    int threads_together_large;  /* the same where threads have arrays so large that more do not fit
                                   into its registers */
    int registers;               /* SIMT: of a multiprocessor, of 4 bytes */
    bool dynamic_as_parameters;  /* SIMT: dynamic shared arrays are parameters (OpenCL), not one pool (CUDA) */
    int64_t static_shared_limit; /* SIMT: more than that is asked for at launch; 0: no limit */
    int64_t shared_limit;        /* SIMT: bytes of shared memory that a block can have; 0: no limit. Arrays beyond it
                                    lie in global memory */
    bool launch_sized_outside;   /* SIMT: so do the shared arrays that only the launch knows the length of */
    bool has_vectors;            /* LOOP: the language has them, note [registers] */
    bool may_have_vectors; /* LOOP: the text says how long they are, note [width]; loops by vectors, note [calls], call
                              no functions */
    bool has_wide_vectors; /* LOOP: these are longer than CPU_VECTOR bytes, as in AVX-512, note [registers] */
    unsigned where;        /* enum quirk_where: whose quirks it meets */
    bool loads_ahead;      /* SIMT: its compilers keep the order of loads and stores that may meet, note [ahead] */
    bool copies_by_pieces; /* SIMT: note [copies by 16 bytes] */
    bool counts_places;    /* SIMT: its compilers do not see that a place grows by the same in each turn: note [counted
                           places] */
    bool computes_halves;  /* SIMT: sums and products of floats of 16 bits are instructions, note [halves] */
    int64_t stack_limit;   /* bytes: more memory of a block (LOOP; 0: 256 KiB) or a thread (SIMT) goes to scratch */
    int64_t block_stack_limit; /* SIMT: the same of all threads of a block; 0: each has a stack of its own */
    struct pass_run *passes;   /* which steps are wanted; counts what they do. A machine has none: whoever asks for the
                                  mapping gives them */
};

/* A machine that runs kernels, and its wishes to the elaborator (as elaborate_options has them) and to the mapping. */
struct machine {
    const char *device; /* the kind, as the runtime calls it: values are tuned for each */
    bool has_shuffles, has_mma, polls_by_atomics, pauses, copies_ahead;
    int bucket_threads;  /* of some blocks, as elaborate_options has it; 0: as many as #BlockSize says */
    int warp_threads;    /* likewise */
    int warp_sizes;      /* that it has, 32 and 64, together; 0: any, as a warp is a thread or a loop */
    int shared_bytes;    /* 0: the default */
    int64_t shared_most; /* bytes of shared memory that a block can have at most, on any; simt */
    size_t table_bytes;  /* 0: as many as it likes */
    struct map_options map;
};

/* The machine's abilities that passes need: bits of enum pass_needs. */
unsigned machine_passes(const struct machine *machine);

/* Can its warps have so many lanes? */
bool machine_has_warps_of(const struct machine *machine, int64_t lanes);

/* Outlines all grid-level FORALLs of the kernel's host regions, nested ones (in host loops and branches) included.
   The kernel without one gives a program without kernels. The IR is not changed. */
struct target_program *map_kernel(struct arena *arena, const struct ir_kernel *kernel,
                                  const struct map_options *options);

/* Bytes of shared memory that a block of one of the kernel's launches needs at most, but for arrays of
   which only the launch knows the length, and as far as it is known before passes. */
int64_t map_shared_bytes(struct arena *arena, const struct ir_kernel *kernel);

/* An identifier made of `text`. The first is one that no target reserves: enough for parameters, and for
   functions whose names have a prefix. The second is not in a library that kernels are linked with either. */
const char *names_identifier(struct arena *arena, const char *text);
const char *names_of_kernel(struct arena *arena, const char *text);

#endif
