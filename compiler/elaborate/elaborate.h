/* Elaboration: the typed core of one kernel, partially evaluated to IR. Closures, tuples, pull and
   push arrays exist here as compile-time values and are gone afterwards; what was not forced is
   fused. */
#ifndef FCL_ELABORATE_ELABORATE_H
#define FCL_ELABORATE_ELABORATE_H

#include "ir/ir.h"
#include "support/diag.h"
#include "support/map.h"
#include "types/core.h"

/* A value for a param in place of its own. */
struct param_value {
    const struct core_global *param;
    const struct core *value; /* a literal, as the param's body is */
};

struct elaborate_options {
    const struct program *program;        /* with the prelude, of which the elaborator calls functions */
    int block_size, warp_size, grid_size; /* what #BlockSize … are */
    int bucket_threads;                   /* of blocks with buckets of their own, note [threads of buckets] in reduce.c;
                                             0: block_size */
    int warp_threads;                     /* of blocks whose warps work alone, note [blocks of warps] in chunks.c;
                                             0: block_size */
    bool has_shuffles;                    /* lanes of a warp exchange values without memory */
    bool has_mma;                         /* a warp multiplies matrices by an instruction, */
    bool approximates;                    /* which may round floats before: note [fragments] in ir/ir.h */
    bool polls_by_atomics;                /* blocks see what others write in time by atomics only */
    bool copies_ahead;                    /* a block's copies to shared memory need not be waited for */
    bool no_block_waits;                  /* for another one: each lookback is a launch of its own */
    bool pauses;                          /* who waits for another block looks again after a moment */
    int shared_bytes;                     /* that a block may use without being told how many */
    int shared_most;                      /* that it may ask for; 0: no more than those */
    size_t table_bytes;                   /* of constants that a kernel may have in its text; 0: as many as it likes */
    bool is_cpu;                          /* few threads run at a time, each with a cache of its own */
    int vector_bytes;                     /* of a vector register, #VectorBytes, where is_cpu */
    int unroll;                           /* most steps that a static while, power or loop is unrolled to */
    enum check_degree check;              /* what is checked at run time of what is not proved */
    int64_t large;                        /* elements that a launch stores of a large result, note [large results] in
                                             matrix.c; 0: no result has more than an int counts */
    int optimise;                         /* as ir_builder_new takes it */
    bool are_users_lines;                 /* instructions know where the user's file comes to them */
    const struct param_value *params;     /* param_count of them */
    size_t param_count;
    size_t stack_bytes; /* of the calling thread that may be used; 0: 4 MiB */
    struct map *asked;  /* gets the params that the kernel asked for, as keys; NULL: nobody wants to know */
};
extern const struct elaborate_options elaborate_defaults;
enum { LARGE_PART = 1 << 30 }; /* `large`, where nothing else is asked for */

/* NULL when the kernel's static evaluation fails (a diagnostic says why). */
struct ir_kernel *elaborate_kernel(struct arena *arena, const struct core_global *kernel,
                                   const struct elaborate_options *options, struct diagnostics *diagnostics);

#endif
