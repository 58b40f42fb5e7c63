/* Functions for passes that move instructions: they replace values and put regions together.

   note [by hand]
   Copies by the builder (ir/build/rebuild.h) keep ranges, fold, and share what is equal. Passes that use this file want
   none of that: tidy takes operations out of a branch whose condition their ranges need, zeros makes a comparison that
   nothing shares, steady an order of sums, contract changes floats, the others mostly move whole instructions. */
#ifndef FCL_IR_PASSES_REWRITE_H
#define FCL_IR_PASSES_REWRITE_H

#include "ir/ir.h"
#include "ir/build/linear.h"

struct replacements {
    struct ir_value **by_id; /* what stands for a value; NULL: itself */
    uint32_t count;          /* values made later stand for themselves */
};
struct replacements rewrite_begin(struct arena *arena, const struct ir_kernel *kernel);
void rewrite_set(struct replacements *replacements, const struct ir_value *value, struct ir_value *by);
/* In all operands and yields of the region; in those of one instruction, or of a region, without what is within. */
void rewrite_replace(struct ir_region *region, const struct replacements *replacements);
void rewrite_operands(struct ir_instruction *instruction, const struct replacements *replacements);
void rewrite_yields(struct ir_region *region, const struct replacements *replacements);
/* The instructions and yields of `from` go to the end of `to`. */
void rewrite_move(struct arena *arena, struct ir_region *from, struct ir_region *to);

/* The number of the first instruction, from that number on, that cannot move above a launch before it: host's
   operations, and arrays that begin to be there, can. */
size_t rewrite_behind_host(const struct ir_region *region, size_t from);

/* Puts a region together anew: `put` gets each instruction, when all that is within it has been
   done, and puts what becomes of it at the end of `to`. */
typedef void rewrite_put(void *context, struct ir_region *to, struct ir_instruction *instruction);
void rewrite_each(struct ir_region *region, rewrite_put *put, void *context);
/* Leaves out those of which it is false, with what is within them. */
typedef bool rewrite_stays(void *context, struct ir_instruction *instruction);
void rewrite_keep(struct ir_region *region, rewrite_stays *stays, void *context);
void rewrite_close_gaps(struct ir_region *region); /* instructions that are NULL are none */

/* Instructions put in by hand: at the end of `region` (which may be a list of instructions only),
   in the place of `user`. Their ranges are worked out from their operands'. */
struct rewriter {
    struct arena *arena;
    struct ir_kernel *kernel;
    struct ir_region *region;
    const struct ir_instruction *user;
};
struct ir_value *rewrite_constant(const struct rewriter *rewriter, enum base base, int64_t integer);
/* Known in that region; NULL: nobody has said where yet. */
struct ir_value *rewrite_value(const struct rewriter *rewriter, enum base base, struct ir_region *region, int64_t low,
                               int64_t high);
/* Operands and results are the caller's to set, and the index that a FORALL or FOR has. */
struct ir_instruction *rewrite_instruction(const struct rewriter *rewriter, enum ir_kind kind, size_t operands,
                                           size_t results);
/* With nothing in it. */
struct ir_instruction *rewrite_branch(const struct rewriter *rewriter, struct ir_value *condition);
struct ir_instruction *rewrite_forall(const struct rewriter *rewriter, enum level_value outer, enum level_value inner,
                                      struct ir_value *count);
/* A buffer of the kernel like that, with a number of its own. */
struct ir_buffer *rewrite_buffer(const struct rewriter *rewriter, struct ir_buffer like);
/* The kernel has that buffer no more. */
void rewrite_forget(struct ir_kernel *kernel, const struct ir_buffer *buffer);
struct ir_value *rewrite_operation(const struct rewriter *rewriter, enum ir_op op, struct ir_value *x,
                                   struct ir_value *y);
/* An operation that is there goes here: what it gives is known by its operands alone. */
void rewrite_again(const struct rewriter *rewriter, struct ir_instruction *operation);
/* A select that gives what another instruction gave; its range stays. A select of bools may become `and` or `or`. */
void rewrite_select(const struct rewriter *rewriter, struct ir_value *result, struct ir_value *condition,
                    struct ir_value *a, struct ir_value *b);
/* Builds the sum's value. */
struct ir_value *rewrite_sum(const struct rewriter *rewriter, const struct linear *sum);
/* -x, where x is a float. */
struct ir_value *rewrite_negated(const struct rewriter *rewriter, struct ir_value *x);
struct ir_value *rewrite_convert(const struct rewriter *rewriter, struct ir_value *x, enum base to);

#endif
