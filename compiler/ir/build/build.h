/* Building IR. The constructors are smart: what they are given is folded, simplified with value ranges, shared with an
   equal expression already in scope, and put outside the loops that it does not depend on; so the elaborator, which
   decides static questions by asking whether a value is constant, always sees the simplest form.

   note [what moves out of loops]
   A pure operation goes to the outermost region that all its operands are known in, but never out of an IF's branch
   (nothing is computed that the program does not ask for), and never from the device to the host unless it
   cannot fail: operations are total (ops.def), so all may. Loads do not move. */
#ifndef FCL_IR_BUILD_BUILD_H
#define FCL_IR_BUILD_BUILD_H

#include "ir/ir.h"

struct ir_builder;
struct map;

/* `scratch` is for what the builder knows, and need not live as long as the kernel. optimise 0:
   only constants are folded (static evaluation needs it); 1 and 2: all of the above. */
struct ir_builder *ir_builder_new(struct arena *arena, struct arena *scratch, struct ir_kernel *kernel, int optimise);
struct ir_region *ir_current(const struct ir_builder *b);
enum level_value ir_ambient(const struct ir_builder *b);
/* For what is built from now on; `users` as of an instruction. */
void ir_set_span(struct ir_builder *b, struct span span, struct span users);

/* ---- values ---- */
struct ir_value *ir_int(struct ir_builder *b, int64_t value); /* an int (BASE_I32) */
struct ir_value *ir_bool(struct ir_builder *b, bool value);
struct ir_value *ir_constant(struct ir_builder *b, enum base base, union scalar value); /* wraps to the base */
struct ir_value *ir_parameter_value(struct ir_builder *b, enum base base, int64_t low, int64_t high, const char *name);
struct ir_value *ir_unary(struct ir_builder *b, enum ir_op op, struct ir_value *x);
struct ir_value *ir_binary(struct ir_builder *b, enum ir_op op, struct ir_value *x, struct ir_value *y);
struct ir_value *ir_ternary(struct ir_builder *b, enum ir_op op, struct ir_value *x, struct ir_value *y,
                            struct ir_value *z);
struct ir_value *ir_convert(struct ir_builder *b, struct ir_value *x, enum base to);
/* Any operation on x; `to` is the base of its result where that does not follow from x's. */
struct ir_value *ir_unary_to(struct ir_builder *b, enum ir_op op, struct ir_value *x, enum base to);
/* `to` has as many bits as x; ir_bits: the naturals do, and what is no float stays as it is. */
struct ir_value *ir_same_bits(struct ir_builder *b, struct ir_value *x, enum base to);
struct ir_value *ir_bits(struct ir_builder *b, struct ir_value *x);
struct ir_value *ir_resolve(struct ir_builder *b,
                            struct ir_value *x); /* see ir_end_if; operands are resolved by themselves */
/* true, false or unknown: also what the branches around the current place tell about it. */
enum ir_truth { IR_UNKNOWN, IR_TRUE, IR_FALSE };
enum ir_truth ir_known(struct ir_builder *b, struct ir_value *condition);
/* True if the condition is proved to hold here. ir_prove searches longer than ir_known, which runs
   for every comparison. The condition is a comparison of integers, or made of such by `and` and
   `or`. */
bool ir_prove(struct ir_builder *b, struct ir_value *condition);
/* Until the innermost region ends: where the condition does not hold a failure was told. So it is no fact, but what
   follows from it need not be told again: ir_prove_told also goes by what was told. */
void ir_tell(struct ir_builder *b, struct ir_value *condition);
bool ir_prove_told(struct ir_builder *b, struct ir_value *condition);
/* ir_never_wraps: true if a sum of ints, or a product with a constant, is proved not to wrap. ir_implies: true if
   `conclusion` is proved to hold where `condition` holds. */
bool ir_never_wraps(struct ir_builder *b, struct ir_value *value);
bool ir_implies(struct ir_builder *b, struct ir_value *condition, struct ir_value *conclusion);
void ir_name(struct ir_value *value, const char *name);           /* hint; keeps the first */
void ir_assume(struct ir_builder *b, struct ir_value *condition); /* until the innermost region ends */
void ir_assume_range(struct ir_builder *b, struct ir_value *value, int64_t low, int64_t high); /* likewise */
/* Nothing made of the value moves out of the loop that is open, or there is none. */
bool ir_stays(const struct ir_builder *b, const struct ir_value *value);
void ir_bound(struct ir_value *value, int64_t low, int64_t high); /* wherever it is used, by how it came about */

/* ---- memory ---- */
/* The table of these constants, as many as `count`, at least one; finite if they are floats. NULL:
   the device would have more than `most_bytes` of them (0: no limit). */
struct ir_buffer *ir_table(struct ir_builder *b, enum base element, const union scalar *constants, size_t count,
                           size_t most_bytes);
struct ir_buffer *ir_buffer_new(struct ir_builder *b, enum ir_memory memory, enum level_value owner, enum base element,
                                struct ir_value *capacity, const char *name); /* not yet allocated */
void ir_allocate(struct ir_builder *b, struct ir_buffer *buffer);
/* The same before everything else in the kernel, whose elaboration ends here. */
void ir_allocate_first(struct ir_builder *b, struct ir_buffer *buffer);
/* At grid: the two exchange their memory. Both have `is_swapped` since they were made. */
void ir_swap(struct ir_builder *b, struct ir_buffer *x, struct ir_buffer *y);
/* Says that the buffer's elements may have changed since earlier loads, for example at the start of a loop that swaps
   it. */
void ir_renew(struct ir_builder *b, struct ir_buffer *buffer);
struct ir_value *ir_load(struct ir_builder *b, struct ir_buffer *buffer, struct ir_value *index);
/* Loads what any thread has stored in a loop before, in this kernel; the buffer must be `rewritten`. */
struct ir_value *ir_load_stored(struct ir_builder *b, struct ir_buffer *buffer, struct ir_value *index);
void ir_store(struct ir_builder *b, struct ir_buffer *buffer, struct ir_value *index, struct ir_value *value);
/* Atomics give the old value; the buffer must be `rewritten`. At ambient thread. */
struct ir_value *ir_atomic(struct ir_builder *b, enum ir_atomic atomic, struct ir_buffer *buffer,
                           struct ir_value *index, struct ir_value *value);
struct ir_value *ir_compare_exchange(struct ir_builder *b, struct ir_buffer *buffer, struct ir_value *index,
                                     struct ir_value *expected, struct ir_value *desired);
/* Among the threads of a block, or of the grid. */
void ir_fence(struct ir_builder *b, enum level_value among);
void ir_fence_copies(struct ir_builder *b, enum level_value among, struct ir_buffer *buffer); /* note [copies ahead] */
/* Between the lanes of a warp, in a loop over all of them: integers of 32 and 64 bits and floats;
   a ballot of bools is an ir_lanes_base. */
struct ir_value *ir_shuffle(struct ir_builder *b, struct ir_value *value, struct ir_value *lane);
struct ir_value *ir_ballot(struct ir_builder *b, struct ir_value *vote);
/* The lanes in which all of these bits are 0, or not all, as here. `bits` is the same in all lanes. */
struct ir_value *ir_match(struct ir_builder *b, struct ir_value *value, struct ir_value *bits);
/* Operands and results as note [fragments] has them. */
/* `places`: MMA_PLACES, those that there are not are NULL. */
void ir_mma(struct ir_builder *b, struct ir_value *const operands[MMA_MOST_OPERANDS],
            struct ir_value *const places[MMA_PLACES], bool by_columns, struct ir_value *results[MMA_SUMS]);
/* The index of such a place among the kernel's. */
uint32_t ir_site(struct ir_builder *b, struct ir_check_site site);
/* `a` and `limit` are ints. */
struct ir_instruction *ir_check(struct ir_builder *b, struct ir_check_site site, struct ir_value *condition,
                                struct ir_value *a, struct ir_value *limit);
void ir_take_back(struct ir_instruction *check); /* as if it had not been built */
/* Takes back a set of buffers, and of instructions within the open region. A taken IF leaves its then-branch in its
   place. */
void ir_take_all_back(struct ir_builder *b, struct map *taken);
/* Makes the loads and stores built from now on volatile, or not; returns the setting before. */
bool ir_set_volatile(struct ir_builder *b, bool is_volatile);
/* True: the stores built from now on overwrite elements that earlier loops have stored. Returns the setting before. */
bool ir_set_overwrites(struct ir_builder *b, bool overwrites);
/* The stores built from now on belong to the array that the update at `start` starts from; end 0: to none. */
void ir_set_start(struct ir_builder *b, struct span start);
/* True: the stores built from now on may meet, note [meeting stores]. Returns the setting before. */
bool ir_set_may_meet(struct ir_builder *b, bool may_meet);

/* ---- control: begin … end nest properly; the instruction goes into its region when it ends ---- */
struct ir_value *ir_begin_forall(struct ir_builder *b, enum level_value outer, enum level_value inner,
                                 struct ir_value *count, const char *name); /* the index, in [0, count) */
void ir_end_forall(struct ir_builder *b); /* an empty body, or a count of 0, leaves nothing */

/* carried: initial values in, current ones out. */
struct ir_value *ir_begin_for(struct ir_builder *b, struct ir_value *count, struct ir_value **carried, size_t n,
                              const char *name);
void ir_end_for(struct ir_builder *b, struct ir_value **next, struct ir_value **results);

/* After begin: the condition's region, then ir_while_body: the body's. carried: in initial, out
   current. Ranges of carried integers may be given (lows, highs; NULL: the base's whole range). */
void ir_begin_while(struct ir_builder *b, struct ir_value **carried, size_t n, const int64_t *lows,
                    const int64_t *highs);
void ir_while_body(struct ir_builder *b, struct ir_value *condition);
void ir_end_while(struct ir_builder *b, struct ir_value **next, struct ir_value **results);

/* The condition must not be constant or known. Results: n values, chosen by the branch.

   note [values that leave a branch]
   An array or a closure made in a branch captures values. Later code that the same condition guards
   may use these values. So ir_end_if turns the values defined in the branches themselves into
   results of the IF when `export_all` is set (undefined on the other side: the zero of the base),
   and ir_resolve maps the inner value to that result from then on. The results that nothing uses
   afterwards go with dead code. */
void ir_begin_if(struct ir_builder *b, struct ir_value *condition);
void ir_else(struct ir_builder *b, struct ir_value **yields, size_t n); /* of the then-branch */
void ir_end_if(struct ir_builder *b, struct ir_value **yields, struct ir_value **results, size_t n, bool export_all);
/* After the then-branch: nothing is yielded, and the other does nothing. */
void ir_end_only(struct ir_builder *b);
/* A branch on a condition that may be known, and is none then: the then-branch is to be built where
   that is not IR_FALSE, the other where it is not IR_TRUE. */
enum ir_truth ir_begin_choice(struct ir_builder *b, struct ir_value *condition);
void ir_other_choice(struct ir_builder *b, enum ir_truth truth);
void ir_end_choice(struct ir_builder *b, enum ir_truth truth);
void ir_end_only_choice(struct ir_builder *b, enum ir_truth truth); /* as ir_end_only */

/* How many stores, atomics and allocations there were so far, whatever became of them. */
size_t ir_stores(const struct ir_builder *b);
size_t ir_instructions(const struct ir_builder *b); /* likewise, of all */
bool ir_is_volatile(const struct ir_builder *b);
/* Anything emitted into the current region since it began that is not a pure operation, a load or a check? */
bool ir_region_has_effects(const struct ir_builder *b);

/* Between ir_enter and ir_leave the builder appends to the present end of an enclosing region. */
struct ir_region *ir_enter(struct ir_builder *b, const struct ir_region *region);
void ir_leave(struct ir_builder *b, struct ir_region *back);

/* Leaves all that is under construction inside `region` and continues at its end: for note [splits] in
   elaborate/elaborator.h. */
void ir_unwind(struct ir_builder *b, struct ir_region *region);

#endif
