/* The passes themselves, one file each; passes.def says when they run. */
#ifndef FCL_IR_PASSES_PASS_LIST_H
#define FCL_IR_PASSES_PASS_LIST_H

#include "ir/ir.h"

void pass_dce(struct arena *arena, struct ir_kernel *kernel);
/* Only where the kernel contracts. */
void pass_contract(struct arena *arena, struct ir_kernel *kernel);
/* Changes nothing: it finds arrays for a message to the programmer. */
void pass_rereads(struct arena *arena, struct ir_kernel *kernel);
void pass_reuse(struct arena *arena, struct ir_kernel *kernel);
void pass_in_place(struct arena *arena, struct ir_kernel *kernel);
void pass_merge_stages(struct arena *arena, struct ir_kernel *kernel);
void pass_ask_before(struct arena *arena, struct ir_kernel *kernel);
void pass_merge_checks(struct arena *arena, struct ir_kernel *kernel);
void pass_merge_ifs(struct arena *arena, struct ir_kernel *kernel);
void pass_fuse_loops(struct arena *arena, struct ir_kernel *kernel);
void pass_tidy(struct arena *arena, struct ir_kernel *kernel);
void pass_whole_tiles(struct arena *arena, struct ir_kernel *kernel);
/* Blocks must have exactly as many threads as the kernel says. */
void pass_own_places(struct arena *arena, struct ir_kernel *kernel);
void pass_banks(struct arena *arena, struct ir_kernel *kernel);
void pass_store_pairs(struct arena *arena, struct ir_kernel *kernel);
void pass_outline(struct arena *arena, struct ir_kernel *kernel);
void pass_clear(struct arena *arena, struct ir_kernel *kernel);
/* Other blocks must see what a block has stored before a fence. */
void pass_last_block(struct arena *arena, struct ir_kernel *kernel);
void pass_join_launches(struct arena *arena, struct ir_kernel *kernel);
void pass_on_device(struct arena *arena, struct ir_kernel *kernel);
void pass_zeros(struct arena *arena, struct ir_kernel *kernel);
void pass_sink(struct arena *arena, struct ir_kernel *kernel);
/* Where steps copy ahead. */
void pass_steady(struct arena *arena, struct ir_kernel *kernel);
void pass_unroll(struct arena *arena, struct ir_kernel *kernel);
void pass_no_wrap(struct arena *arena, struct ir_kernel *kernel);
void pass_borders(struct arena *arena, struct ir_kernel *kernel);

#endif
