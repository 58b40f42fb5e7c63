/* The state that the files of report/ share while they go through a kernel. Private to report/. */
#ifndef FCL_REPORT_WALKER_H
#define FCL_REPORT_WALKER_H

#include "report/report.h"
#include "support/map.h"

/* How well the walk knows a value where it is, from the best on. */
enum known {
    KNOWN,          /* its value */
    KNOWN_BY_SIZE,  /* it depends on sizes that were not given */
    KNOWN_BY_INDEX, /* on which turn of a loop it is */
    KNOWN_BY_DATA,  /* on elements of arrays */
};

/* A launch's work as far as the walk has come: counted once for each run of the region it is in. */
struct tally {
    struct amount counts[COUNT_KINDS];
    struct amount *accesses; /* by their number, see `numbers` */
    struct amount *units;    /* likewise: of the lanes of the loop over threads that it is in together */
};

/* How the lanes of a warp make an access. */
struct lane_look {
    bool is_seen, is_lasting, is_changing, is_tried; /* it is, or may not be, the same whenever the walk comes there */
    enum report_pattern pattern;
    int64_t stride;
    unsigned units, active; /* of so many lanes */
    unsigned first;         /* of these */
    uint32_t lanes;         /* which these are, a bit for each; and where they go, beside what all have in common */
    int64_t at[REPORT_LANES];
    bool is_about, is_most;
    bool leaves; /* it is in a loop that lanes leave one by one, so that not all may be there */
    bool is_new; /* no lane of the warp has come to that turn before */
    /* Units of all warps of so many threads, if they are the same whenever the walk comes there; 0: not known. */
    int64_t all_threads;
    double all_units;
};

/* Things that differ from turn to turn of a loop: then the walk goes turn by turn. */
enum by_index {
    BY_INDEX_COUNTS = 1, /* a branch, or a number of turns */
    BY_INDEX_UNITS = 2,  /* how an access lies */
};

typedef VEC(const struct ir_instruction *) late_loads;

struct walker {
    struct arena *arena;
    const struct report_request *request;
    const struct ir_kernel *kernel;
    struct report *report;
    struct symbols *symbols;
    union scalar *values; /* by id */
    uint8_t *states;      /* enum known, by id */
    struct map *buffer_names;
    struct map *used_names; /* text → how often */
    report_steps *steps;    /* of the host, where the walk is */
    struct map *rests;      /* value → its name, where a text would get too long */
    unsigned room;          /* for values in the text that is being made */

    /* In a launch: */
    const struct target_kernel *target;
    const struct ir_instruction *forall;
    struct report_launch *launch;
    struct tally *tally;
    struct tally *of_tiles; /* gets what all tiles of a range of blocks do together; or NULL: a tile is one turn */
    struct tally *of_last;  /* what the last block does besides, note [the last block]; or NULL */
    const struct ir_region **homes; /* by value id, of operations and loads: note [late loads]; NULL: no use */
    struct map *late;               /* region → the loads that are done when it begins (struct late_loads) */
    struct map *numbers;            /* load, store or atomic → its number + 1 */
    VEC(const struct ir_instruction *) instructions; /* by number */
    unsigned unknown_indices; /* of the loops around, but that over threads, whose index is not known */
    unsigned by_index;        /* enum by_index: what depends on one of these, or on the loop's own */
    uint64_t work, work_end;  /* instructions gone through, and as many as may be in the launch */
    struct map *kept;         /* parallel loop → what it did, note [loops again] (struct kept_loop) */

    /* In a loop over threads: */
    const struct ir_instruction *threads; /* the loop; or NULL */
    struct amount lanes;                  /* its turns */
    bool is_by_lane;                      /* it is gone through turn by turn */
    bool is_sampled;                      /* not by all lanes */

    /* State of lanes.c: */
    const struct ir_region *launched;
    bool *differs;                   /* by value id: between the lanes of a warp */
    struct lane_look *seen;          /* by number */
    struct lane_value **lane_values; /* by value id */
    uint32_t look;                   /* the one at hand */
    struct warp_look *warp_looks;    /* of the warp whose lanes the walk goes through, by access and path */
    uint32_t warp;                   /* its number among all that it has gone through */
    uint64_t path;                   /* says which turn it is of the loops within the lane, if these are known */
    uint64_t look_work;
    bool is_lasting;    /* what holds for any turn of the loops around it is wanted */
    bool is_about;      /* the look is */
    bool leaves;        /* it is in such a loop */
    bool is_base_known; /* the index of the first lane is `base`, else a multiple of a warp */
    int64_t base;
};

/* ---- values.c ---- */

enum known value_state(const struct walker *w, const struct ir_value *value);
int64_t value_known(const struct walker *w, const struct ir_value *value);
void value_set_known(struct walker *w, const struct ir_value *value, union scalar scalar);
void value_set_state(struct walker *w, const struct ir_value *value, enum known state);
/* Gives what a loop, or a branch, yields to those who take it. All at once: one may be another's. */
void value_hand_on(struct walker *w, struct ir_value *const *to, struct ir_value *const *from, size_t n);
/* The side that a branch takes, or NULL: it is not known. Then its results are joined: they are known
   as little as what decides about them. */
const struct ir_region *value_taken(const struct walker *w, const struct ir_instruction *branch);
void value_join(struct walker *w, const struct ir_instruction *branch);
void value_operation(struct walker *w, const struct ir_instruction *operation);
/* How many turns or elements that is, in names where it is not known; -1 and the like are 0. */
struct amount value_count(struct walker *w, const struct ir_value *value);
/* A new name, like the hint, with what it means. */
symbol value_name(struct walker *w, const char *hint, const char *meaning);
const char *value_text(struct walker *w, const struct ir_value *value);
unsigned line_of(const struct walker *w, struct span span);
/* x / by, rounded up. */
struct amount value_ceiling(struct walker *w, struct amount x, double by);

/* ---- lanes.c ---- */

/* Begins a launch; its accesses must have numbers. */
void lanes_begin(struct walker *w, const struct ir_instruction *forall);
/* The units of an access where the walk is: of all lanes together, or, where the walk goes by lanes, the share of one.
   `threads`: that do it, where it stands in no loop over threads. */
struct amount lanes_units(struct walker *w, const struct ir_instruction *access, size_t number, double threads);

/* ---- access.c ---- */

/* Numbers the launch's loads, stores and atomics, and finds where loads are done. */
void accesses_begin(struct walker *w, const struct ir_region *region);
/* The region that does the access: its own, or a branch within. */
static inline const struct ir_region *access_region(const struct walker *w, const struct ir_instruction *access) {
    return access->kind == IR_LOAD ? w->homes[access->results[0]->id] : access->region;
}
void accesses_finish(struct walker *w, const struct tally *tally);
/* Adds the cost of drawing tickets, `draws` times: an atomic, and a word that the block shares. */
void accesses_add_ticket(struct walker *w, const struct ir_buffer *tickets, struct amount draws);
const char *buffer_name(struct walker *w, const struct ir_buffer *buffer);

/* ---- again.c ---- */

struct kept_loop;
/* Finds or makes the place for what a parallel loop within the launch's did. */
struct kept_loop *again_loop(struct walker *w, const struct ir_instruction *forall);
/* Adds to the tally what the loop does where the walk is, if it is kept. */
bool again_add(struct walker *w, struct kept_loop *kept);
/* Keeps what it did where the walk is. */
void again_keep(struct walker *w, struct kept_loop *kept, const struct tally *tally);

/* ---- walk.c ---- */

void walk_launch(struct walker *w, const struct ir_instruction *forall, struct report_launch *launch);

#endif
