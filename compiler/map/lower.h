/* Declarations that the files of map/ share while they make one device kernel of one FORALL. Private to map/. */
#ifndef FCL_MAP_LOWER_H
#define FCL_MAP_LOWER_H

#include "ir/walk.h"
#include "map/extents.h"
#include "map/map.h"
#include "support/map.h"

/* ---- names.c ---- */

struct names;
struct names *names_new(struct arena *arena);
/* `hint` (or `fallback` when it is NULL) as an identifier that is not reserved and not in use. */
const char *names_fresh(struct names *names, const char *hint, const char *fallback);
void names_take(struct names *names, const char *text); /* one that was made and released is in use again */
size_t names_mark(const struct names *names);
void names_release(struct names *names, size_t mark); /* those made since may be used again */

/* ---- uses.c ---- */

struct lowering;
struct value_use {
    uint32_t count;
    uint32_t subscripts;               /* of these, subscripts of loads and stores, or such but for a constant */
    const struct ir_instruction *user; /* the last one found; NULL: a region's yield */
    const struct ir_region *region;    /* where that use is */
    /* For what operations and loads give: the first instruction after it in its region that is neither; or NULL. */
    const struct ir_instruction *next_other;
};
/* How often values are used in the body of `forall`, dead operations aside; indexed by value id, all zeros before. */
void uses_count(struct value_use *uses, const struct ir_kernel *kernel, const struct ir_instruction *forall);
/* Counts uses in the loop's body once more, when some values are bound: what only these take is not used. */
void uses_count_unbound(struct lowering *l, const struct ir_instruction *loop);
/* Where values are bound: is it known to be a truth? The operand that the operation is then the same as, or NULL. */
bool uses_know(struct target_expr *const *values, const struct ir_value *value, bool *truth);
const struct ir_value *uses_same_as(struct target_expr *const *values, const struct ir_instruction *operation);
void uses_clear(struct value_use *uses, const struct ir_region *region); /* zeros again */
/* Is it used, and only so? */
bool uses_as_subscript(const struct value_use *uses, const struct ir_value *value);
/* May this operation or load be printed inside its only user, or its users? */
bool uses_inline(const struct value_use *uses, const struct ir_instruction *instruction);

/* ---- exchange.c ---- */

/* How a SHUFFLE says from which lane: `lane + d` where that is below the width of the warp,
   `lane - d` where it is not negative, and else `lane`; or `lane ^ d`. There its operand for the
   lane is not needed, only the distance d. */
enum target_exchange exchange_of(const struct ir_kernel *kernel, const struct ir_instruction *shuffle,
                                 int64_t *distance);

/* ---- shared.c ---- */

/* note [the first warp] in barrier.c */
enum touch { TOUCH_BLOCK, TOUCH_WARP, TOUCH_WARP_ORDERED };

/* Bytes [low, high) of a space that different buffers may share. */
struct stretch {
    int space; /* 0: the block's pool; else one warp frame, or one dynamic buffer */
    int64_t low, high;
    int frame; /* seen by the block: a warp touches only its own part of it; 0: anyone may touch anything */
    /* barrier.c: touched only as its buffer, by the iterations that have the index of what they touch; or NULL */
    const struct ir_buffer *own;
    bool is_outside;     /* in global memory */
    enum touch touch_by; /* barrier.c: who touches it */
};
struct shared_buffer {
    struct extent *extent;
    bool is_dynamic;
    bool is_outside;      /* in global memory: note [too much] */
    size_t shares;        /* the buffer of the plan whose place it takes: itself, or of the same length and type */
    struct stretch place; /* seen by its owner */
    struct stretch block_place; /* seen by the block: of a warp's buffer the frames of all warps */
    int64_t frame_bytes;        /* of a warp's buffer: one warp's frame */
};
struct shared_plan {
    VEC(struct shared_buffer) buffers;
    int64_t pool_bytes;
    int64_t wanted_bytes;            /* what that would be if nothing were outside */
    const struct ir_buffer *outside; /* the largest that is; or NULL */
    bool is_pooled;                  /* some buffers share a place */
    uint32_t laid_over;              /* note [laid over] in shared.c */
    struct map *by_buffer;
};
/* `limit`: bytes; 0: none. */
struct shared_plan *shared_allocate(struct arena *arena, const struct extents *extents, int warps_per_block,
                                    int64_t limit, bool launch_sized_outside, struct pass_run *passes);

/* ---- barrier.c ---- */

enum barrier {
    BARRIER_NONE,
    BARRIER_WARP /* for the lanes of each warp */,
    BARRIER_SHARED,
    BARRIER_GLOBAL /* orders global memory as well */
};
struct barrier_plan {
    struct map *before; /* instructions with a barrier before them */
    struct map *at_end; /* regions (loop bodies) with one at their end */
};
enum barrier barrier_of(const struct map *places, const void *place);
/* Is the loop, at ambient block, only for the lanes of the block's first warp? 0: blocks have no warps. */
bool barriers_in_first_warp(const struct ir_instruction *forall, int warp_size);

struct lowering {
    struct arena *arena;
    const struct ir_kernel *kernel;
    const struct map_options *options;
    const struct ir_instruction *forall;
    struct target_kernel *target;
    struct span span;            /* of the instruction that is lowered, in the user's file; or none */
    struct target_block *block;  /* statements go to its end */
    struct target_expr **values; /* by value id */
    VEC(uint32_t) bound;         /* those in it that are set */
    struct value_use *uses;
    struct map *arrays; /* ir_buffer → target_array */
    struct extents *extents;
    struct shared_plan *shared;    /* SIMT */
    struct barrier_plan *barriers; /* SIMT */
    struct target_statement *now;  /* SIMT: behind a fence of copies: TARGET_NOW; or NULL */
    int piece;                     /* SIMT: elements that a store of note [pieces ahead] copies; 0: there is none */
    enum target_piece piece_by;    /* SIMT: how */
    struct map *aligned_loops;     /* SIMT: those of note [pieces ahead] for which `are_aligned` answers */
    struct target_expr *are_aligned;
    struct map *held;               /* SIMT: loads and stores of note [narrow elements] → the array in registers, */
    struct target_expr *held_at;    /* and the element there */
    bool in_first_warp;             /* SIMT: under the branch of simt_first_warp */
    struct target_array *stop_flag; /* SIMT: what a block's first thread tells the others, or NULL: simt_agree */
    struct names *names;
    struct target_array *report;   /* where checks are reported; NULL: the kernel has none */
    struct target_variable *noted; /* note [noted checks] in lower.c; NULL: there are none */
    int64_t stack_bytes;           /* LOOP: of the block's arrays so far; SIMT: of a thread's */
};

/* For blocks of so many warps; `warp_size`: of whole ones, else 0. */
struct barrier_plan *barriers_place(struct lowering *l, int warps, int warp_size);

/* ---- statements.c: what does not depend on the mapping ---- */

void lower_forget(struct lowering *l, const struct ir_region *region); /* so that it may be lowered again */
struct target_expr *lower_value(struct lowering *l, const struct ir_value *value);
/* The same, named first when it is more than an operation on names: for what is evaluated again and again. */
struct target_expr *lower_simple(struct lowering *l, const struct ir_value *value, const char *name);
struct target_array *lower_array(struct lowering *l, const struct ir_buffer *buffer);
/* Statements go to `body` (and names made in it are free again afterwards) until lower_leave. */
struct lower_scope {
    struct target_block *block;
    size_t names;
};
struct lower_scope lower_enter(struct lowering *l, struct target_block *body);
void lower_leave(struct lowering *l, struct lower_scope scope);
struct target_statement *lower_emit(struct lowering *l, enum target_statement_kind kind);
struct target_variable *lower_variable(struct lowering *l, enum base base, const char *name, const char *fallback);
/* `const base name = value;`, and the variable as an expression. */
struct target_expr *lower_named(struct lowering *l, struct target_expr *value, const char *name, const char *fallback);
/* Do the compilers of what is made do that? */
/* Does the operation make a float of one of 16 bits, which stays that: note [halves] in statements.c? */
bool lower_widens_half(const struct lowering *l, const struct ir_instruction *operation);
bool lower_has_quirk(const struct lowering *l, enum quirk quirk);
/* No vectors are to be made of it. */
void lower_scalar(struct lowering *l, struct target_statement *loop);
/* Draws a number from the counter of a FORALL: note [tickets] in ir.h. */
struct target_expr *lower_ticket(struct lowering *l, const struct ir_instruction *forall);
void lower_bind(struct lowering *l, const struct ir_value *value, struct target_expr *expr);
/* Is it made in the loop, so that it may be another one in each iteration? */
bool lower_varies(const struct ir_instruction *loop, const struct ir_value *value);
/* `*name` of a constant-capacity private array in the current scope. */
void lower_private_array(struct lowering *l, const struct ir_buffer *buffer, int alignment);
/* The buffer becomes a slice, for each `unit`, of a scratch parameter; of a block's or a warp's all threads have it. */
void lower_scratch(struct lowering *l, struct ir_buffer *buffer, enum level_value unit, struct target_expr *unit_id);

/* ---- lower.c: instructions ---- */

void lower_region(struct lowering *l, const struct ir_region *region); /* without its yields */
/* Around the kernel's body: note [noted checks]. Are there any? */
bool lower_notes(const struct lowering *l);
void lower_begin_notes(struct lowering *l);
void lower_end_notes(struct lowering *l);
/* Where Intel's OpenCL might change the order of a loop's rounds, marks the loop, so that it makes
   no vectors of it: QUIRK_ORDERED_LOOPS. */
void lower_keep_order(struct lowering *l, struct target_statement *loop, bool is_ordered);
void lower_instruction(struct lowering *l, const struct ir_instruction *instruction);
/* Does a check in it, when it fails, leave something that the kernel reads? Then loops are left,
   which might not end. */
bool lower_leaves_loops(const struct lowering *l, const struct ir_instruction *instruction);

/* ---- quirks/vectorisers.c: its notes say what these are for ---- */

bool lower_steps_wrap(const struct ir_region *region);
bool lower_vectors_lose_stores(const struct ir_instruction *loop);
bool lower_loads_by_truth(const struct ir_region *region);
bool lower_sums_floats(struct arena *arena, const struct ir_instruction *loop);
bool lower_hands_on(const struct ir_instruction *loop); /* an old value, to another of its variables or elements */
bool lower_is_guarded(const struct lowering *l, const struct ir_instruction *load);
bool lower_restarts_index(struct arena *arena, const struct ir_instruction *loop);
bool lower_updates(const struct ir_instruction *loop); /* elements, at places that are not counted */
bool lower_updates_in_turn(const struct ir_instruction *loop);
bool lower_has_narrow(const struct ir_region *region);      /* loads or stores of less than 32 bits */
bool lower_computes_narrow(const struct ir_region *region); /* floats of less than 32 bits */

/* ---- quirks/chosen.c ---- */

/* Marks loads that are not to be one with others: note [chosen loads]. When the kernel's body is whole. */
void lower_keep_loads_apart(struct lowering *l);

/* ---- quirks/clamps.c ---- */

/* Is it an equality of a number that may be clamped? See note [clamped equalities]. */
bool lower_compares_clamped(const struct ir_instruction *comparison);

/* ---- expr.c ---- */

/* Expressions, folded where an operand is a constant that does nothing. */
struct target_expr *expr_new(struct lowering *l, enum target_expr_kind kind, enum base base);
struct target_expr *expr_integer(struct lowering *l, enum base base, int64_t value);
struct target_expr *expr_variable(struct lowering *l, struct target_variable *variable, int64_t low, int64_t high);
/* May be a load, at every use: lower_named gives it a place in the order of things. */
struct target_expr *expr_element(struct lowering *l, enum base base, struct target_array *array,
                                 struct target_expr *index);
bool expr_is_integer(const struct target_expr *expr, int64_t value);
bool expr_reads(const struct target_expr *expr, bool vectors_only); /* an element of an array, or of one of vectors */
bool expr_mentions(const struct target_expr *expr, const struct target_variable *variable);
struct target_expr *expr_hardware(struct lowering *l, enum target_hardware hardware);
struct target_expr *expr_operation(struct lowering *l, enum ir_op op, enum base base, struct target_expr *x,
                                   struct target_expr *y);
struct target_expr *expr_choice(struct lowering *l, struct target_expr *condition, struct target_expr *x,
                                struct target_expr *y);
struct target_expr *expr_convert(struct lowering *l, struct target_expr *x, enum base to);
/* A host value in terms of the FCL kernel's parameters; for comments. */
struct target_expr *expr_describe(struct lowering *l, const struct ir_value *value, int depth);

/* ---- subscripts.c ---- */

/* The number of an element: of what is computed here it may be known, or must not be taken for
   granted, that it has not wrapped. */
struct target_expr *lower_subscript(struct lowering *l, const struct ir_value *value);

/* ---- places.c: note [counted places] ---- */

enum { COUNTED_PLACES = 8 };
struct counted_place {
    struct target_variable *variable;
    int64_t step;
};
/* Before the loop, and at the end of its body. Gives how many there are, COUNTED_PLACES at most. */
size_t places_begin(struct lowering *l, const struct ir_instruction *loop, struct counted_place *places);
void places_count_up(struct lowering *l, const struct counted_place *places, size_t count);

/* ---- ahead.c ---- */

/* Names for the arrays that hold what such a loop loads, by base, which are not used in it. */
const char *const *ahead_names(struct lowering *l, const struct ir_region *body);
/* Loads of a loop that was just lowered, at the end of the current block, go before it if they
   may: note [ahead]. Iterations of a parallel loop do not read what others write. */
void ahead_load(struct lowering *l, const char *const *names, bool is_parallel);
/* The same of a loop whose body is behind a guard: note [filling]. `room`: how many iterations there
   would be without. */
void ahead_fill(struct lowering *l, const char *const *names, int64_t room);
/* Drops the declarations that nothing in the body needs. */
void ahead_drop_unused(struct target_block *body);

/* ---- kept.c: note [kept places] ---- */

/* Looks at the last statement of the current block, a loop of steps that was just lowered. */
void kept_emit(struct lowering *l);
/* Leaves declarations out whose variables nothing mentions. */
void kept_drop_unused(struct lowering *l, struct target_block *block);

/* ---- parameters.c ---- */

void parameters_make(struct lowering *l);

/* ---- simt.c, loop.c ---- */

void simt_plan(struct lowering *l); /* where shared buffers lie: before simt_begin and parameters_make */
void simt_begin(struct lowering *l);
void simt_forall(struct lowering *l, const struct ir_instruction *forall);

/* copies.c: is that loop, of so many threads, one of note [copies by 16 bytes]? `first`: a thread's number. */
bool copies_by_pieces(const struct map_options *options, int threads, const struct ir_instruction *forall);
/* How many elements a piece of that loop has, as note [pieces ahead] has it; 0: it is none. */
int pieces_of(struct lowering *l, const struct ir_instruction *forall);
/* Elements that a thread of the loop has next to each other: note [narrow elements]; 0: they are not. */
int neighbours_of(struct lowering *l, const struct ir_instruction *forall);
/* Has memory the elements of this access next to each other for neighbours? Else it is the same for all of them. */
bool neighbours_follow(const struct ir_instruction *access, const struct ir_instruction *forall, int size);
/* Before the kernel's statements: asks whether pieces begin at multiples of 16 bytes. */
void pieces_begin(struct lowering *l);
void copies_lower(struct lowering *l, const struct ir_instruction *forall, int threads, enum target_hardware first);

void simt_declare(struct lowering *l, struct extent *extent);
/* Loops of the first warp that follow one another from `first` on, without a barrier of the block among them, under one
   branch: the other warps are through at once. Gives the place behind them, or `first`: there are no such loops. */
size_t simt_first_warp(struct lowering *l, const struct ir_region *region, size_t first);
void simt_barrier(struct lowering *l, enum level_value ambient, enum barrier barrier);
/* An int as the first thread of the block, or of the warp, has it. */
struct target_expr *simt_agree(struct lowering *l, struct target_expr *x, enum level_value ambient);
void loop_begin(struct lowering *l);
void loop_forall(struct lowering *l, const struct ir_instruction *forall);
void loop_declare(struct lowering *l, struct extent *extent);

/* ---- rows.c: note [rows], for the loop mapping ---- */

struct kept_value {
    const struct ir_value *value;
    struct target_expr *expr;
};
struct rows {
    const struct ir_instruction *loop;
    struct rows *outer; /* rows of these rows, or NULL */
    const struct division *division;
    uint32_t operations;            /* that divide */
    bool has_quotients;             /* some of them want the quotient */
    bool are_whole;                 /* all of one constant length, from index 0 */
    bool are_single;                /* of one element each: not two loops */
    struct target_expr *by, *begin; /* the divisor; what comes before the index in the dividend */
    struct target_expr *width;      /* elements of a row */
    struct target_expr *is_none;    /* all is one row; NULL: that cannot be */
    struct target_expr *is_single;  /* a row has one element; NULL likewise */
    struct target_expr *start;      /* the index with which a row begins */
    struct target_expr *quotient;
    VEC(struct kept_value) kept; /* what is the same in a row, computed before its loop */
};
/* NULL: the loop, one over threads, stays one loop. */
struct rows *rows_find(struct lowering *l, const struct ir_instruction *loop);
/* Computes the numbers that both rows_enter and rows_enter_whole need. */
void rows_begin(struct lowering *l, struct rows *rows);
/* The loops over rows, of the iterations *first to *limit, which become those of a row. */
struct lower_scope rows_enter(struct lowering *l, struct rows *rows, struct target_expr **first,
                              struct target_expr **limit);
/* The same of whole rows, of that width. */
struct lower_scope rows_enter_whole(struct lowering *l, struct rows *rows, struct target_expr **width);
/* The quotients alone, before what is the same in a row is lowered. */
void rows_bind_quotients(struct lowering *l, const struct rows *rows);
/* Is it what is left of the index in its row? */
bool rows_gives_rest(const struct rows *rows, const struct ir_instruction *at);
/* Before the loop's body is lowered. `rest`: NULL where it is to be computed from the index. */
void rows_bind(struct lowering *l, const struct rows *rows, struct target_expr *index, struct target_expr *rest);

/* ---- borders.c: note [borders] in ir/passes/split.c, for the loop mapping ---- */

/* The branch that is the loop's body, or NULL: the loop stays one. */
const struct ir_instruction *borders_of(const struct ir_instruction *loop);
/* The iterations *first to *limit become those inside; false: nobody knows here which these are. `rows`: of which the
   loop is one, or NULL. */
bool borders_enter(struct lowering *l, const struct ir_instruction *loop, const struct rows *rows,
                   struct target_expr **first, struct target_expr **limit);
/* The iterations *first to *limit become those outside of `inside` and `outside`: before the one, behind the other, or
   both in turn, in a loop of two rounds. */
struct lower_scope borders_enter_others(struct lowering *l, struct target_expr *inside, struct target_expr *outside,
                                        struct target_expr **first, struct target_expr **limit);

/* ---- conditions.c ---- */

/* Marks the loops of a kernel, when it is complete. */
void conditions_mark(struct lowering *l, const struct target_block *block);

/* ---- selections.c ---- */

/* The same for those that keep some of a chunk's elements: note [selections]. */
void selections_mark(struct lowering *l, const struct target_block *block);

/* ---- vectors.c ---- */

/* Note [registers]: for the loop mapping, when the kernel is complete. */
void vectors_make(struct lowering *l);
/* How many iterations of a loop so many vectors are: note [width]. */
struct target_expr *vectors_iterations(struct lowering *l, enum base base, int vectors);
/* Makes the loop one of whole vectors, or says no and leaves it. Its limit must be a whole number
   of these after its begin. */
bool vectors_of_calls(struct lowering *l, struct target_statement *loop, int count);

#endif
