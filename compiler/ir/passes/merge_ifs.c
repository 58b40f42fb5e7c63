/* Joins two branches of one region on the same condition: the earlier one moves down to the later one, when nothing in
   between uses its results or could notice the delay. */
#include "ir/passes/pass_list.h"
#include "ir/passes/rewrite.h"
#include "ir/walk.h"

struct merger {
    struct arena *arena;
    struct ir_kernel *kernel;
    struct replacements replaced; /* inside the branch at hand */
    bool *own;                    /* by value id: a result of the pending branch */
};

/* Does it allocate as many elements as a result of the pending branch says? */
static bool sizes_by(const struct merger *m, const struct ir_instruction *instruction) {
    const struct ir_value *capacity = instruction->kind == IR_ALLOCATE ? instruction->buffer->capacity : NULL;
    return capacity && m->own[capacity->id];
}

static bool any_sizes_by(const struct merger *m, const struct ir_instruction *instruction) {
    for (struct ir_walk walk = ir_walk_of(instruction); walk.at; ir_next(&walk))
        if (sizes_by(m, walk.at))
            return true;
    return false;
}

/* Does it use a result of the pending branch? */
static bool uses(const struct merger *m, const struct ir_instruction *instruction) {
    for (struct ir_walk walk = ir_walk_of(instruction); walk.at; ir_next(&walk)) {
        if (sizes_by(m, walk.at))
            return true;
        for (size_t i = 0; ir_taken(walk.at, i); i++)
            if (m->own[(*ir_taken(walk.at, i))->id])
                return true;
    }
    return false;
}

/* In a branch the results of the first are what its branch of that side yields. */
static void merge(struct merger *m, struct ir_instruction *first, struct ir_instruction *second) {
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < first->result_count; i++)
            rewrite_set(&m->replaced, first->results[i], first->regions[side]->yields.at[i]);
        rewrite_replace(second->regions[side], &m->replaced);
        for (size_t i = 0; i < first->result_count; i++)
            rewrite_set(&m->replaced, first->results[i], NULL);
        rewrite_move(m->arena, second->regions[side], first->regions[side]);
    }
    size_t count = first->result_count + second->result_count;
    struct ir_value **results = ARENA_ARRAY(m->arena, struct ir_value *, count + 1);
    for (size_t i = 0; i < count; i++) {
        results[i] = i < first->result_count ? first->results[i] : second->results[i - first->result_count];
        results[i]->definition = first;
    }
    first->results = results;
    first->result_count = count;
}

static void set_own(const struct merger *m, const struct ir_instruction *branch, bool own) {
    for (size_t i = 0; branch && i < branch->result_count; i++)
        m->own[branch->results[i]->id] = own;
}

static void merge_region(struct merger *m, struct ir_region *region) {
    struct ir_instruction *pending = NULL; /* at pending_at, among those kept */
    size_t kept = 0, pending_at = 0;
    enum { NOT_ASKED, NO, YES } pending_touches = NOT_ASKED; /* memory; asking goes through all regions in it */
    for (size_t i = 0; i < region->instructions.count; i++) {
        struct ir_instruction *instruction = region->instructions.at[i];
        /* The size of a buffer is a value of the outermost region: no branch may come to define it. */
        bool joins = pending && instruction->kind == IR_IF && instruction->operands[0] == pending->operands[0] &&
                     !any_sizes_by(m, instruction);
        if (joins) {
            merge(m, pending, instruction);
            m->kernel->changes++;
            region->instructions.at[pending_at] = NULL;
            instruction = pending;
            set_own(m, pending, true);
            pending_touches = NOT_ASKED;
        } else if (pending) {
            bool clashes = uses(m, instruction);
            if (!clashes && ir_touches_memory(instruction)) {
                if (pending_touches == NOT_ASKED)
                    pending_touches = ir_touches_memory(pending) ? YES : NO;
                clashes = pending_touches == YES;
            }
            if (clashes) {
                set_own(m, pending, false);
                pending = NULL;
            }
        }
        if (!joins && instruction->kind == IR_IF) {
            set_own(m, pending, false);
            pending = instruction;
            set_own(m, pending, true);
            pending_touches = NOT_ASKED;
        }
        if (instruction == pending)
            pending_at = kept;
        region->instructions.at[kept++] = instruction;
    }
    set_own(m, pending, false);
    region->instructions.count = kept;
    rewrite_close_gaps(region);
    for (size_t i = 0; i < region->instructions.count; i++)
        for (int r = 0; r < 2; r++)
            if (region->instructions.at[i]->regions[r])
                merge_region(m, region->instructions.at[i]->regions[r]);
}

void pass_merge_ifs(struct arena *arena, struct ir_kernel *kernel) {
    struct merger m = {arena, kernel, rewrite_begin(arena, kernel), ARENA_ARRAY(arena, bool, kernel->value_count + 1)};
    merge_region(&m, kernel->body);
}
