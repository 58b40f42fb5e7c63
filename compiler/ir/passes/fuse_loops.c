/* Joins parallel loops of a block or a warp where the second reads, of what the first has stored,
   only what its own thread has: element i in iteration i. So what was stored need not go through
   memory: the value is used as it is, and a buffer that is not read any more goes with its stores
   (pass_dce). Shuffles are such neighbours, and forces of what is then mapped.

   note [own elements]
   Iteration i of both loops is done by the same thread, so its accesses to element i stay in order
   when the loops are joined. All accesses to a buffer that one of the loops writes and the other
   touches must be of that kind. */
#include "ir/passes/pass_list.h"
#include "ir/places.h"
#include "ir/passes/rewrite.h"

typedef VEC(const struct ir_instruction *) accesses;

struct fuser {
    struct arena *arena;
    struct ir_kernel *kernel;
    struct replacements replaced;
};

/* False: there is something in it that must not move against other loops. */
static bool collect(struct fuser *f, const struct ir_instruction *loop, accesses *all, bool *exchanges) {
    for (struct ir_walk walk = ir_walk(loop->regions[0]); walk.at; ir_next(&walk)) {
        const struct ir_instruction *instruction = walk.at;
        switch (instruction->kind) {
        case IR_LOAD:
        case IR_STORE:
            if (instruction->is_volatile || instruction->again)
                return false;
            vec_push(f->arena, all, instruction);
            break;
        case IR_ATOMIC:
        case IR_SWAP:
        case IR_FENCE:
        case IR_FORALL: return false;
        case IR_SHUFFLE:
        case IR_MATCH:
        case IR_MMA:
        case IR_BALLOT: *exchanges = true; break;
        case IR_OPERATION:
        case IR_CHECK:
        case IR_ALLOCATE:
        case IR_FOR:
        case IR_WHILE:
        case IR_IF: break;
        }
    }
    return true;
}

/* Same, or the second has fewer iterations: 1 or 2, or 0 where they cannot be joined. */
static int compare_counts(const struct ir_value *first, const struct ir_value *second) {
    if (first == second)
        return 1;
    if (!first->is_constant || !second->is_constant || second->constant.integer > first->constant.integer)
        return 0;
    return first->constant.integer == second->constant.integer ? 1 : 2;
}

static bool may_join(struct fuser *f, const struct ir_instruction *first, const struct ir_instruction *second) {
    enum { LARGEST_BODY = 2000 }; /* joining goes over all of it again */
    int counts = compare_counts(first->operands[0], second->operands[0]);
    if (!counts || first->regions[0]->instructions.count > LARGEST_BODY || first->outer != second->outer ||
        first->inner != second->inner || second->buffer)
        return false;
    accesses before = {0}, after = {0};
    bool exchanges = false, later_exchanges = false;
    if (!collect(f, first, &before, &exchanges) || !collect(f, second, &after, &later_exchanges))
        return false;
    if (counts == 2 && later_exchanges) /* all lanes must come to it */
        return false;
    bool passes_on = false;
    for (size_t i = 0; i < before.count; i++) /* note [own elements] */
        for (size_t k = 0; k < after.count; k++) {
            const struct ir_instruction *x = before.at[i], *y = after.at[k];
            if (x->buffer != y->buffer || (x->kind == IR_LOAD && y->kind == IR_LOAD))
                continue;
            if (!ir_is_own(first, x->operands[0]) || !ir_is_own(second, y->operands[0]))
                return false;
            passes_on |= x->kind == IR_STORE && y->kind == IR_LOAD && x->buffer->memory != MEMORY_OUTPUT;
        }
    return passes_on;
}

/* ---- joining ---- */

/* `if index < count` at the end of `region`: gives its branch. */
static struct ir_region *add_guard(struct fuser *f, struct ir_region *region, struct ir_value *index,
                                   struct ir_value *count, struct span span) {
    struct ir_instruction user = {.span = span, .region = region};
    struct rewriter rewriter = {f->arena, f->kernel, region, &user};
    struct ir_value *condition = rewrite_operation(&rewriter, OP_LT, index, count);
    return rewrite_branch(&rewriter, condition)->regions[0];
}

/* Loads of the loop's own element after a store to it that is not inside a branch or a loop. */
static void pass_on(struct fuser *f, struct ir_region *region, const struct ir_buffer *buffer, struct ir_value *value,
                    size_t from) {
    size_t kept = from;
    for (size_t i = from; i < region->instructions.count; i++) {
        struct ir_instruction *instruction = region->instructions.at[i];
        if (instruction->kind == IR_LOAD && instruction->buffer == buffer) {
            rewrite_set(&f->replaced, instruction->results[0], value);
            continue;
        }
        for (int r = 0; r < 2; r++)
            if (instruction->regions[r])
                pass_on(f, instruction->regions[r], buffer, value, 0);
        region->instructions.at[kept++] = instruction;
    }
    region->instructions.count = kept;
}

/* Replaces an iteration's later loads by the value that it has stored, in buffers where it touches its own element
   only. */
static void pass_on_all(struct fuser *f, struct ir_instruction *loop) {
    struct ir_region *body = loop->regions[0];
    struct map *others = map_new(f->arena);
    for (struct ir_walk walk = ir_walk(body); walk.at; ir_next(&walk))
        if (ir_is_access(walk.at) && !ir_is_own(loop, walk.at->operands[0]))
            map_set(others, walk.at->buffer, walk.at->buffer);
    for (size_t i = 0; i < body->instructions.count; i++) {
        const struct ir_instruction *store = body->instructions.at[i];
        if (store->kind == IR_STORE && !store->buffer->rewritten && !map_has(others, store->buffer))
            pass_on(f, body, store->buffer, store->operands[1], i + 1);
    }
}

/* The body of the second loop goes to the end of the first's. */
static void join(struct fuser *f, struct ir_instruction *first, struct ir_instruction *second) {
    struct ir_value *index = first->parameters[0];
    struct ir_region *to = first->regions[0];
    if (compare_counts(first->operands[0], second->operands[0]) == 2)
        to = add_guard(f, to, index, second->operands[0], second->span);
    rewrite_set(&f->replaced, second->parameters[0], index);
    for (size_t i = 0; i < second->regions[0]->instructions.count; i++) {
        struct ir_instruction *at = second->regions[0]->instructions.at[i];
        if (ir_is_access(at) && at->buffer->memory != MEMORY_OUTPUT && ir_is_own(second, at->operands[0]))
            at->operands[0] = index; /* of a single element, too */
    }
    rewrite_replace(second->regions[0], &f->replaced);
    rewrite_move(f->arena, second->regions[0], to);
    pass_on_all(f, first);
}

static void fuse_region(struct fuser *f, struct ir_region *region) {
    struct ir_instruction *pending = NULL;
    size_t pending_at = 0;
    for (size_t i = 0; i < region->instructions.count; i++) {
        struct ir_instruction *instruction = region->instructions.at[i];
        bool is_loop =
            instruction->kind == IR_FORALL && instruction->inner == LEVEL_THREAD && instruction->outer < LEVEL_GRID;
        if (is_loop && pending && may_join(f, pending, instruction)) {
            join(f, pending, instruction);
            f->kernel->changes++;
            region->instructions.at[pending_at] = NULL;
            region->instructions.at[i] = pending;
            pending_at = i;
        } else if (is_loop) {
            pending = instruction;
            pending_at = i;
        } else if (pending && instruction->kind != IR_OPERATION && instruction->kind != IR_ALLOCATE &&
                   (instruction->kind != IR_LOAD || ir_touch_in(pending, instruction->buffer))) {
            pending = NULL;
        }
    }
    rewrite_close_gaps(region);
    for (size_t i = 0; i < region->instructions.count; i++)
        for (int r = 0; r < 2; r++)
            if (region->instructions.at[i]->regions[r])
                fuse_region(f, region->instructions.at[i]->regions[r]);
}

void pass_fuse_loops(struct arena *arena, struct ir_kernel *kernel) {
    struct fuser f = {arena, kernel, rewrite_begin(arena, kernel)};
    fuse_region(&f, kernel->body);
    rewrite_replace(kernel->body, &f.replaced);
}
