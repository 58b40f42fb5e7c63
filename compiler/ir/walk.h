/* A cursor over a region and all within: each instruction before what is inside of it, in order.

     for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
         … walk.at, in walk.region …

   The instructions themselves may be changed on the way, but not which there are. */
#ifndef FCL_IR_WALK_H
#define FCL_IR_WALK_H

#include "ir/ir.h"

enum { IR_WALK_KEPT = 16 }; /* regions around it whose places it keeps; those of others are looked for */

struct ir_walk {
    struct ir_instruction *at;      /* NULL: it has come to the end */
    const struct ir_region *region; /* that it is in */
    bool goes_around;               /* set on the way: what is inside of `at` is left out */
    size_t next;                    /* in `region` */
    size_t depth;                   /* regions around it, as far as the walk goes */
    struct {
        const struct ir_region *region;
        size_t next;
    } around[IR_WALK_KEPT];
};

struct ir_walk ir_walk(const struct ir_region *region);
struct ir_walk ir_walk_of(const struct ir_instruction *instruction); /* and all within */
void ir_next(struct ir_walk *walk);

/* The place of the i-th value that it takes: its operands, then what its regions yield; NULL: there
   are no more. */
struct ir_value **ir_taken(const struct ir_instruction *instruction, size_t i);

#endif
