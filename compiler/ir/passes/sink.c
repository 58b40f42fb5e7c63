/* Computes what one branch alone needs in that branch: a value is bound where the program binds
   it, above the branches, and all threads of a block that come by would compute it.

   note [into loops]
   Into the loop of a block's threads goes what each thread then computes once at most; and where
   there are more turns than threads, loads that are more than a thread's turns, as of the many
   branches of a tree of decisions. On GPUs only: a CPU has its vector loops made by compilers,
   which move no load out of a branch. */
#include "ir/passes/pass_list.h"
#include "ir/passes/rewrite.h"

#include "support/map.h"

struct sinking {
    struct arena *arena;
    struct ir_kernel *kernel;
    struct ir_region *
        *homes;        /* by a value's id: the innermost region that all its uses seen so far are in; NULL: none */
    bool moves;        /* else loads are counted */
    struct map *loads; /* loop → how many loads from outside of it only its branches use */
};

static struct ir_region *common(struct ir_region *a, struct ir_region *b) {
    struct ir_region *region = a;
    while (!ir_region_inside(b, region))
        region = region->parent;
    return region;
}

static void use(struct sinking *s, const struct ir_value *value, struct ir_region *region) {
    if (!value || value->is_constant || !value->definition)
        return;
    struct ir_region **home = &s->homes[value->id];
    *home = *home ? common(*home, region) : region;
}

/* An access to what a block shares follows a barrier, and barriers in branches are dear. */
static bool is_shared(const struct ir_instruction *instruction) {
    return instruction->kind == IR_LOAD && instruction->buffer->memory == MEMORY_SHARED;
}

static bool may_move(const struct ir_instruction *instruction) {
    if (instruction->kind == IR_OPERATION)
        return true;
    bool is_hosts = instruction->region && instruction->region->ambient == LEVEL_GRID;
    return instruction->kind == IR_LOAD && !instruction->buffer->rewritten && !instruction->is_volatile &&
           !instruction->again && !(is_hosts && instruction->buffer->is_swapped);
}

/* See note [into loops]. */
static bool enters_loop(const struct sinking *s, const struct ir_instruction *loop) {
    if (loop->kind != IR_FORALL || loop->inner != LEVEL_THREAD || loop->outer == LEVEL_GRID || s->kernel->is_cpu)
        return false;
    int threads = loop->outer == LEVEL_BLOCK ? ir_block_threads(s->kernel, loop->region) : s->kernel->warp_size;
    int64_t turns = (loop->operands[0]->high - 1) / threads + 1; /* of a thread, at most; below 2 where it never runs */
    return !s->moves || turns <= 1 || (int64_t)(uintptr_t)map_get(s->loads, loop) > turns;
}

static void count_load(struct sinking *s, const struct ir_instruction *load, const struct ir_region *target) {
    for (const struct ir_region *at = target; at != load->region; at = at->parent)
        if (at->owner->kind == IR_FORALL) {
            uintptr_t count = (uintptr_t)map_get(s->loads, at->owner);
            map_set(s->loads, at->owner, (void *)(count + 1));
        }
}

/* The innermost branch on the way to where it is used that it may go to; NULL: it stays. */
static struct ir_region *target_of(const struct sinking *s, const struct ir_instruction *instruction) {
    struct ir_region *home = instruction->results[0] ? s->homes[instruction->results[0]->id] : NULL, *target = NULL;
    if (!home || !may_move(instruction) || instruction->region->ambient == LEVEL_THREAD)
        return NULL; /* a thread's own code is the C compiler's to order */
    for (struct ir_region *at = home; at != instruction->region; at = at->parent) {
        bool is_branch = at->owner->kind == IR_IF && !(is_shared(instruction) && at->ambient != LEVEL_THREAD);
        if (is_branch && !target)
            target = at;
        if (!is_branch && !enters_loop(s, at->owner))
            target = NULL; /* nothing goes into it */
    }
    return target;
}

static void move(struct sinking *s, struct ir_instruction *instruction, struct ir_region *target) {
    vec_push(s->arena, &target->instructions, NULL);
    struct ir_instruction **at = target->instructions.at;
    memmove(at + 1, at, (target->instructions.count - 1) * sizeof *at);
    at[0] = instruction;
    instruction->region = instruction->results[0]->region = target;
}

/* From the end, so that all that uses a value is where it stays when the value's turn comes. */
static void sink_region(struct sinking *s, struct ir_region *region) {
    for (size_t i = 0; i < region->yields.count; i++)
        use(s, region->yields.at[i], region);
    for (size_t i = region->instructions.count; i-- > 0;) {
        struct ir_instruction *instruction = region->instructions.at[i];
        for (int r = 1; r >= 0; r--)
            if (instruction->regions[r])
                sink_region(s, instruction->regions[r]);
        struct ir_region *target = instruction->result_count == 1 ? target_of(s, instruction) : NULL;
        if (target && !s->moves && instruction->kind == IR_LOAD)
            count_load(s, instruction, target);
        target = s->moves ? target : NULL;
        for (size_t k = 0; k < instruction->operand_count; k++)
            use(s, instruction->operands[k], target ? target : region);
        if (!target)
            continue;
        move(s, instruction, target);
        s->kernel->changes++;
        region->instructions.at[i] = NULL;
    }
    rewrite_close_gaps(region);
}

static void sink(struct sinking *s, bool moves) {
    const struct ir_kernel *kernel = s->kernel;
    s->moves = moves;
    memset(s->homes, 0, kernel->value_count * sizeof *s->homes);
    for (size_t i = 0; i < kernel->results.count; i++) {
        use(s, kernel->results.at[i].value, kernel->body);
        for (size_t k = 0; k < kernel->results.at[i].rank; k++)
            use(s, kernel->results.at[i].extents[k], kernel->body);
    }
    for (size_t i = 0; i < kernel->buffers.count; i++)
        if (kernel->buffers.at[i]->capacity) /* the host asks for it where it is */
            use(s, kernel->buffers.at[i]->capacity, kernel->buffers.at[i]->capacity->region);
    sink_region(s, kernel->body);
}

void pass_sink(struct arena *arena, struct ir_kernel *kernel) {
    struct sinking s = {.arena = arena, .kernel = kernel, .loads = map_new(arena)};
    s.homes = ARENA_ARRAY(arena, struct ir_region *, kernel->value_count + 1);
    sink(&s, false);
    sink(&s, true);
}
