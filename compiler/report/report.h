/* The report finds a kernel's cost by going through its IR after all passes: the host's steps in order,
   and for each launch what is stored where, loads and stores, barriers and operations. Amounts are
   numbers where the sizes are given, and else say how they depend on these.

   note [what is counted]
   The walk goes through the program as it would run. A value that is known (a constant, a size that was
   given, what is computed of these) is computed; branches and loops on known values go one way. A value that depends on
   sizes that were not given has a name. Where data decide a branch, the report counts the dearer side and marks the
   amount `at most`; but the branches that the compiler makes for whole chunks and for what is left count as whole
   chunks. A loop whose number of turns data decide has a name for that number. Above ambient thread all threads of the
   unit do the same, so that each is counted. An operation is one of the IR: the C compiler behind it may need more, or
   fewer. */
#ifndef FCL_REPORT_REPORT_H
#define FCL_REPORT_REPORT_H

#include "map/target.h"
#include "report/amount.h"
#include "report/device.h"
#include "support/json.h"

enum report_use { REPORT_LOAD, REPORT_STORE, REPORT_ATOMIC };

/* How the places of threads next to each other lie. */
enum report_pattern {
    REPORT_COALESCED, /* next to each other */
    REPORT_SAME,      /* one place for all */
    REPORT_STRIDED,   /* `stride` elements apart */
    REPORT_PIECES,    /* in some other way, which is known */
    REPORT_SCATTERED, /* data say where */
    REPORT_UNKNOWN,   /* arithmetic that was not taken apart says where */
    REPORT_OWN,       /* in a thread's own memory */
};
extern const char *const report_pattern_names[];

enum report_place {
    REPORT_GLOBAL,
    REPORT_TABLE, /* constants in the program */
    REPORT_SHARED,
    REPORT_SHARED_WARP, /* shared memory that each warp has its own of */
    REPORT_REGISTERS,
    REPORT_THREAD, /* a thread's own memory: local, which is global memory by way of caches */
};
extern const char *const report_place_names[];
extern const char *const report_use_names[];

struct report_array {
    const char *name;
    enum report_place place;
    enum base element;
    struct amount elements; /* of one owner: grid, block, warp or thread */
    const struct ir_buffer *buffer;
};

enum { REPORT_LANES = 32 }; /* of a warp, whose accesses are made together */

struct report_access {
    const struct report_array *array;
    enum report_use use;
    enum report_pattern pattern;
    int64_t stride;
    unsigned bytes;      /* of one element */
    struct amount count; /* elements, of all threads together */
    struct amount sure;  /* of which so many are not `at most` */
    /* Sectors of 32 bytes of global memory or turns at the banks of shared memory, of all
       warps: note [lanes together]. */
    struct amount units;
    /* The lanes of a warp that make the first such access, a bit for each, and their places, beside what all have in
       common; 0: not known. */
    uint32_t lanes;
    int64_t at[REPORT_LANES];
    bool is_again; /* other iterations of the launch touch the same places */
    unsigned line; /* of the program, the first; 0: not known */
};

enum report_count {
    COUNT_BLOCK_BARRIERS, /* each block for itself: of all blocks together */
    COUNT_WARP_BARRIERS,
    COUNT_EXCHANGES, /* values that a lane gets from another */
    COUNT_INTEGER,   /* operations, of all threads together */
    COUNT_FLOATING,
    COUNT_LONG,     /* divisions, roots, exp and the like, of either */
    COUNT_PRODUCTS, /* of matrices, by units for them: each of a warp */
    COUNT_KINDS
};
extern const char *const report_count_names[COUNT_KINDS];

struct report_launch {
    const char *name;
    struct amount iterations;
    enum level_value unit;      /* that does an iteration */
    unsigned threads;           /* of a block */
    unsigned turns;             /* iterations that a thread may do next to each other, where there are many */
    struct amount blocks;       /* where each does no iteration more than it must: fewer on a small device */
    struct amount shared_bytes; /* of a block */
    int64_t private_bytes;      /* arrays of a thread */
    bool reports;               /* checks, whose outcome the host reads */
    VEC(struct report_array *) arrays;
    VEC(struct report_access) accesses;
    struct amount counts[COUNT_KINDS];
    unsigned line;
};

enum report_step_kind { STEP_ALLOCATE, STEP_LAUNCH, STEP_READ, STEP_SWAP, STEP_LOOP, STEP_BRANCH };
struct report_step;
typedef VEC(struct report_step *) report_steps;
struct report_step {
    enum report_step_kind kind;
    const char *text;    /* the array, or a branch's condition */
    const char *other;   /* SWAP */
    struct amount bytes; /* ALLOCATE, READ */
    struct amount turns; /* LOOP */
    bool is_unrolled;    /* LOOP: `steps` are those of all turns, one after the other */
    struct report_launch *launch;
    report_steps steps, otherwise;
    unsigned line;
};

struct report_name { /* of a number that an amount depends on */
    const char *name, *meaning;
};

enum report_total_kind {
    TOTAL_LAUNCHES,
    TOTAL_WAITS,
    TOTAL_READ_BYTES, /* of global memory */
    TOTAL_WRITTEN_BYTES,
    TOTAL_SECTORS, /* of global memory */
    TOTAL_TURNS,   /* at the banks of shared memory */
    TOTAL_ATOMICS,
    TOTAL_COUNTS, /* from here on: enum report_count */
    TOTAL_KINDS = TOTAL_COUNTS + COUNT_KINDS
};
struct report_total {
    struct amount of[TOTAL_KINDS];
};

struct report_result { /* a part of the result; a number has no extents */
    enum base base;
    size_t rank;
    struct amount extents[TYPE_MOST_DIMENSIONS];
};

struct report {
    const struct ir_kernel *kernel;
    const char *type; /* of the kernel, as FCL writes it */
    report_steps steps;
    VEC(struct report_result) results;
    VEC(struct report_name) names; /* those that appear in the amounts */
    struct report_total total;
    bool is_large; /* a result has more elements than an int counts, and the kernel is not made for that: amounts are
                      wrong */
};

/* A size that is given: of a parameter, by its name; `extents` of an array, or the one of a scalar. */
struct report_size {
    const char *name;
    double extents[TYPE_MOST_DIMENSIONS];
    size_t count;
    bool is_used, misfits; /* of some kernel's parameter; one of that name is no such thing */
};

struct report_request {
    struct arena *arena;
    const struct sources *sources;
    const struct target_program *program;
    struct report_size *sizes;
    size_t size_count;
};

struct report *report_of(const struct report_request *request);
/* The most shared memory that a block of any of the launches has, in bytes. */
struct amount report_most_shared(struct arena *arena, const report_steps *steps);

/* An update that the program writes, by its number in kernel->updated. */
struct report_update {
    bool is_in_place;
    unsigned line;
    unsigned use_line; /* of the use that is to blame; 0: none, or not known */
    const char *text;  /* `in place`, or why it copies, as warning W003 has it */
};
struct report_update report_update_of(const struct ir_kernel *kernel, size_t index, const struct sources *sources);

/* ---- as text, data and a page ---- */

struct report_heading {
    const char *file, *target, *version;
    const struct report_device *device; /* to estimate for; or NULL */
    const struct report_size *sizes;
    size_t size_count;
    const struct sources *sources;
};
/* `coalesced`, `8 elements apart` and the like. */
const char *report_pattern_text(struct arena *arena, const struct report_access *access);
void report_print(struct text *out, const struct report *report, const struct report_heading *heading);
const char *report_json(struct arena *arena, struct report *const *reports, size_t count,
                        const struct report_heading *heading);
const char *report_page(struct arena *arena, struct report *const *reports, size_t count,
                        const struct report_heading *heading);

/* ---- beside a report of before ---- */

enum report_change { REPORT_EQUAL, REPORT_SHRANK, REPORT_GREW, REPORT_NEW };
struct report_difference {
    const char *kernel, *total; /* total: NULL of REPORT_NEW, a kernel that was not there */
    const char *then, *now;     /* the amounts */
    enum report_change change;
};
typedef VEC(struct report_difference) report_differences;

/* Compares the totals of two reports, as report_json writes them. NULL, or why they cannot be compared. Amounts that
   depend on sizes are compared at some. */
const char *report_compare(struct arena *arena, yyjson_val *then, yyjson_val *now, report_differences *all);

#endif
