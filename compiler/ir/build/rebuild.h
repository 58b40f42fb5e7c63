/* Puts IR that is there through the builder again: what more is known by now folds, shares and narrows what it did not
   when the IR was made. A pass walks through a kernel by rebuild_kernel, and says what becomes of an instruction. */
#ifndef FCL_IR_BUILD_REBUILD_H
#define FCL_IR_BUILD_REBUILD_H

#include "ir/build/build.h"

struct rebuild;

/* Gets each instruction, when what is before it has its place. True: it has built what becomes of the instruction;
   false: the instruction stays, and what is within it comes next. */
typedef bool rebuild_put(void *context, struct rebuild *r, struct ir_instruction *instruction);
void rebuild_kernel(struct arena *arena, struct ir_kernel *kernel, rebuild_put *put, void *context);

/* The builder, at the place where the next instruction goes. */
struct ir_builder *rebuild_builder(const struct rebuild *r);
/* In the next copy an operation's result is `by`, a constant or what is known before it, and is not computed. */
void rebuild_is(struct rebuild *r, const struct ir_value *result, struct ir_value *by);
/* In the next copy the operation is that one, of the same operands, and does not wrap. */
void rebuild_as(struct rebuild *r, const struct ir_instruction *operation, enum ir_op op);
/* In the next copy it does not wrap. */
void rebuild_fits(struct rebuild *r, const struct ir_instruction *operation);
/* The value that stands for `value` in the copy. */
struct ir_value *rebuilt(const struct rebuild *r, struct ir_value *value);
/* A copy of the instruction, and of all within, as the builder makes it here; it gives what the instruction gave. */
void rebuild_copy(struct rebuild *r, const struct ir_instruction *instruction);
/* A copy of a FORALL whose body is a branch, on a condition that is built in the loop: the then-branch is the body with
   what was said for the next copy, the other one without, and right whatever the condition is. Instructions of the body
   that `is_before` are asked for in their order, and go before the branch. */
typedef struct ir_value *rebuild_condition(void *context);
typedef bool rebuild_before(void *context, const struct ir_instruction *instruction);
void rebuild_branched(struct rebuild *r, const struct ir_instruction *loop, rebuild_condition *condition,
                      rebuild_before *is_before, void *context);
/* A copy of a value whose instruction has not been copied yet: its operations, and theirs, are made here already. */
struct ir_value *rebuild_early(struct rebuild *r, struct ir_value *value);
/* A branch on the condition: a copy of the loop with what was said for the next copy, and else the loop itself. NULL:
   the condition is known, and one of them is all there is. */
struct ir_instruction *rebuild_versions(struct rebuild *r, struct ir_instruction *loop, struct ir_value *condition);
/* The instruction itself goes here, with all that is within. */
void rebuild_keep(struct rebuild *r, struct ir_instruction *instruction);

#endif
