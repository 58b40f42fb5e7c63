/* Evaluation of the typed core: calls, elements of pull arrays, branches. These three call each other. */
#ifndef FCL_ELABORATE_EVALUATE_H
#define FCL_ELABORATE_EVALUATE_H

#include "elaborate/elaborator.h"

/* ---- evaluate.c ---- */
/* More steps than these, or instructions of a kernel before any of them is left out, are taken for a recursion that
   does not end. The largest kernels of the prelude's own take a tenth of either; a second goes as far as this. */
enum { ELAB_MOST_STEPS = 2 * 1000 * 1000, ELAB_MOST_INSTRUCTIONS = 150 * 1000 };
void elab_run_out(struct elaborator *e, struct span span) __attribute__((noreturn));

static inline void elab_count_step(struct elaborator *e, struct span span) {
    if (++e->steps > ELAB_MOST_STEPS || ir_instructions(e->builder) > ELAB_MOST_INSTRUCTIONS)
        elab_run_out(e, span);
}

struct elab_value *elab_evaluate(struct elaborator *e, const struct core *core, const struct environment *environment,
                                 const struct instance *instance);
struct elab_value *elab_list_item(struct elaborator *e, struct pull *list, size_t index);
const struct environment *elab_bind(struct elaborator *e, const struct environment *environment,
                                    const struct core_local *local, struct elab_value *value);
struct elab_value *elab_apply(struct elaborator *e, struct elab_value *function, struct elab_value *argument);
struct elab_value *elab_apply2(struct elaborator *e, struct elab_value *function, struct elab_value *a,
                               struct elab_value *b);
/* An internal function of the prelude; where it is polymorphic, its one type variable is that type. */
enum elab_plan {
#define PLAN(id, name, use) ELAB_PLAN_##id,
#include "elaborate/plans.def"
};
struct elab_value *elab_of_prelude(struct elaborator *e, enum elab_plan plan, struct type *type);
struct elab_value *elab_apply_all(struct elaborator *e, struct elab_value *function,
                                  struct elab_value *const *arguments, size_t count);
#define ELAB_APPLY(e, function, ...)                                                                                   \
    elab_apply_all(e, function, (struct elab_value *[]){__VA_ARGS__},                                                  \
                   sizeof(struct elab_value *[]){__VA_ARGS__} / sizeof(struct elab_value *))
/* The same, applied to scalars: the scalars of its result. Names in it are left out of the code, as they say nothing
   about the program. */
struct ir_value **elab_prelude(struct elaborator *e, enum elab_plan plan, struct ir_value *const *arguments,
                               size_t count);
#define ELAB_PRELUDE(e, plan, ...)                                                                                     \
    elab_prelude(e, ELAB_PLAN_##plan, (struct ir_value *[]){__VA_ARGS__},                                              \
                 sizeof(struct ir_value *[]){__VA_ARGS__} / sizeof(struct ir_value *))
/* The function's result goes to the sink, from within each branch when the function ends in an
   `if`: where a result such as -1 stands for "nowhere", the branch that gives it comes to nothing.
   At ambient thread. */
typedef void elab_sink(struct elaborator *e, void *context, struct elab_value *result);
void elab_apply_into(struct elaborator *e, struct elab_value *function, struct elab_value *argument, elab_sink *sink,
                     void *context);
/* One of two values by a condition; each thunk runs in its branch. */
typedef struct elab_value *elab_thunk(struct elaborator *e, void *context);
struct elab_value *elab_choose(struct elaborator *e, struct ir_value *condition, elab_thunk *then_thunk,
                               void *then_context, elab_thunk *else_thunk, void *else_context);
/* NULL where it is not known: of what is not, and, without a condition, of lengths that differ. */
struct ir_value *elab_choose_length(struct elaborator *e, struct ir_value *condition, struct ir_value *a,
                                    struct ir_value *b);
bool elab_is_same_length(struct elaborator *e, struct ir_value *a, struct ir_value *b);
/* Results of branches, too, that are computed alike on the same condition. */
bool elab_is_same_in_branches(struct elaborator *e, struct ir_value *a, struct ir_value *b);
/* Goes back to begin the chunk anew under each branch of an IF on that condition, where that can be: note [splits]. */
void elab_split_on(struct elaborator *e, struct ir_value *condition, struct span span);
/* Runs a body for what it finds out, and leaves what it builds behind; false where it failed,
   without a message. */
bool elab_try(struct elaborator *e, void (*body)(struct elaborator *, void *), void *context);
/* Runs a body with a frame for splits: body emits, and gives nothing back. */
void elab_with_split(struct elaborator *e, void (*body)(struct elaborator *, void *), void *context);

/* ---- operators.c ---- */
/* Is `f x y` known to be `same`, to the bit? */
bool elab_gives(struct elaborator *e, struct elab_value *f, struct elab_value *x, struct elab_value *y,
                struct elab_value *same);
/* Is the start value seen to do no more when the operator combines it again, so that copies may begin with it?
   It is neutral, or the operator commutes and it is what it gives with itself, as 0.0 of (+). */
bool elab_may_repeat(struct elaborator *e, struct elab_value *function, struct elab_value *start);
/* May any tree combine elements of this type by the operator? It rounds nothing, or the kernel says so. */
bool elab_may_reorder(struct elaborator *e, struct elab_value *function, struct type *element);

/* ---- scalars.c ---- */
/* `a` where the condition holds, else `b`: scalars, component by component, without a branch. */
struct elab_value *elab_select(struct elaborator *e, struct ir_value *condition, struct elab_value *a,
                               struct elab_value *b);

/* ---- index.c ---- */
/* No branch decides about the current place: what goes wrong here goes wrong whenever there is anything to do at all,
   or a whole chunk of it. */
bool elab_runs_if_reached(struct elaborator *e);
struct elab_value *elab_index(struct elaborator *e, struct pull *pull, struct ir_value *index);
/* How many elements of memory, a number of 64 bits, one row of a nested array takes. */
struct ir_value *elab_stride(struct elaborator *e, const struct pull *pull);
/* The index as it is used there. A wrong one is an error, now or when the program runs. */
struct ir_value *elab_place(struct elaborator *e, const struct pull *pull, struct ir_value *index);

/* ---- parts.c ---- */
/* The length of what maps made of some whole part of an array; NULL: unknown. A try finds it, and takes back what it
   adds to `shape`. */
struct ir_value *elab_mapped_length(struct elaborator *e, struct pull *chunks);
/* The rows of a result one after another, each as long as `width`. The length of a large one may be of 64 bits. */
struct pull *elab_joined(struct elaborator *e, struct pull *rows, struct ir_value *width, bool is_large);
/* The rows from `first` on, a number of 64 bits: `length` elements. */
struct pull *elab_rows_from(struct elaborator *e, struct pull *joined, struct ir_value *first, struct ir_value *width,
                            struct ir_value *length);
/* The length of chunks together, where they are `size` long and known to make an array's; else NULL. */
struct ir_value *elab_parts_length(struct elaborator *e, struct pull *chunks, struct ir_value *size);

/* ---- views.c ---- */
/* The array whose beginning that is, as long as it; NULL: it is none, or has elements of its own. */
struct pull *elab_behind(struct elaborator *e, struct pull *view);
/* An `if` between elements of two arrays; NULL where they have no array in common. */
struct elab_value *elab_choose_element(struct elaborator *e, struct ir_value *condition, const struct core *core,
                                       const struct environment *environment, const struct instance *instance);
/* An element of PULL_CHOICE; NULL likewise. */
struct elab_value *elab_choose_array(struct elaborator *e, const struct pull *choice, struct ir_value *index);

/* ---- matrix.c ---- */
/* How long the rows of an array are, and their rows, `rank` - 1 numbers; false, and NULL: that depends on data. */
bool elab_columns(struct elaborator *e, struct pull *rows, size_t rank, struct ir_value **columns);
/* Stores them, from place 1 on; there is memory for zeros, which stay where there are no rows. */
void elab_store_columns(struct elaborator *e, enum level_value level, struct pull *rows, size_t rank,
                        struct ir_buffer *buffer);
/* How long a row that is there is, by making it. */
struct ir_value *elab_made_length(struct elaborator *e, struct pull *rows, struct ir_value *index);
/* Rows that are not as long as that are an error. */
void elab_check_rows(struct elaborator *e, enum level_value level, struct pull *rows, size_t rank,
                     struct ir_value *const *extents);
/* All elements, row by row. A large result may have so many that their number takes 64 bits. */
struct pull *elab_elements(struct elaborator *e, struct pull *rows, size_t rank, struct ir_value *const *extents);

/* note [large results] */
bool elab_is_large(struct elaborator *e, size_t rank, struct ir_value *const *extents);
/* How many elements the first `rank` dimensions have, a number of 64 bits. */
struct ir_value *elab_many_elements(struct elaborator *e, size_t rank, struct ir_value *const *extents);
/* Stores them, part by part. */
void elab_store_large(struct elaborator *e, enum level_value level, struct pull *elements, size_t rank,
                      struct ir_value *const *extents, struct ir_buffer **buffers, size_t count);

#endif
