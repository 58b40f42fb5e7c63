/* The passes that change a program after its IR is built: the list of passes.def, and the options that choose from
   it. */
#ifndef FCL_IR_PASSES_PASSES_H
#define FCL_IR_PASSES_PASSES_H

#include "ir/ir.h"

/* Abilities of machines: a row of passes.def says which the pass needs, a machine says which it has. */
enum pass_needs {
    FOR_ANY = 0,
    FOR_LOOPS = 1,     /* a block is one loop nest */
    FOR_THREADS = 2,   /* a block's threads are threads, and shared memory is theirs */
    FOR_EXACT = 4,     /* and a block has as many of them as the kernel says */
    FOR_FENCES = 8,    /* and other blocks see what one has stored before a fence */
    FOR_ORDERED = 16,  /* its compilers keep the order of loads and stores that may meet */
    FOR_PIECES = 32,   /* threads can copy 16 bytes at a time */
    FOR_COUNTED = 64,  /* its compilers do not see that a place grows by the same in each turn */
    FOR_VECTORS = 128, /* kernels can be written with vectors */
    NO_DEAD = 256,     /* no machine's: it takes what nothing uses for code like other code */
};

enum pass {
#define PASS(id, ...) PASS_##id,
#define STEP(id, ...) PASS_##id,
#include "ir/passes/passes.def"
#undef PASS
#undef STEP
    PASS_COUNT
};

struct pass_info {
    const char *name;
    int level;
    unsigned needs; /* enum pass_needs */
    const char *what;
    void (*run)(struct arena *arena, struct ir_kernel *kernel); /* NULL: a step of the mapping */
};
extern const struct pass_info pass_info[PASS_COUNT];

struct pass_options {
    int level;
    unsigned has;               /* enum pass_needs */
    const char *until;          /* the name of the last one, "": none at all; NULL: all */
    const char *const *skipped; /* names */
    size_t skipped_count;
};

/* The passes that a compilation runs, and how many changes each has made. */
struct pass_run {
    bool wanted[PASS_COUNT];
    uint64_t changes[PASS_COUNT];
};
struct pass_run passes_wanted(const struct pass_options *options);

static inline bool pass_wanted(const struct pass_run *run, enum pass pass) { return run->wanted[pass]; }
static inline void pass_changed(struct pass_run *run, enum pass pass) { run->changes[pass]++; }

/* Runs those over the IR that are wanted, in order; an internal error's text, or NULL. The IR is verified
   at the end; in the tree under sanitisers after each. */
const char *ir_optimise(struct arena *arena, struct ir_kernel *kernel, struct pass_run *run);

#endif
