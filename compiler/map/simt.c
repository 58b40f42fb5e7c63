/* The SIMT mapping, for GPUs: an iteration belongs to a block, warp or thread of the hardware, and whoever is through
   with one takes the next at the stride of all there are, so that any launch size is right.

   note [counters]
   A count may be as large as INT_MAX; adding the stride to an int index could then overflow. Loops whose count is not
   known to be smaller run over a uint, which has room for one more stride, and the body gets the index as an int. */
#include <limits.h>

#include "ir/machine.h"
#include "map/lower.h"

enum { LARGEST_BLOCK_STRIDE = 1 << 16 };

struct share {
    bool is_sequential; /* one unit does all iterations */
    enum target_hardware first, stride;
    int constant_stride; /* 0: `stride` */
    bool is_in_block;
};

/* Says which unit does which iterations. Without warps (OpenCL 1.2 has no sub-groups) every thread is a warp of its
   own. */
static struct share share_of(const struct lowering *l, const struct ir_instruction *forall) {
    bool has_warps = l->options->has_warps;
    if (forall->outer == LEVEL_GRID) {
        if (forall->inner == LEVEL_BLOCK)
            return (struct share){.first = TARGET_BLOCK_ID, .stride = TARGET_BLOCK_COUNT};
        if (forall->inner == LEVEL_WARP && has_warps)
            return (struct share){.first = TARGET_GLOBAL_WARP_ID, .stride = TARGET_GLOBAL_WARP_COUNT};
        return (struct share){.first = TARGET_GLOBAL_THREAD_ID, .stride = TARGET_GLOBAL_THREAD_COUNT};
    }
    if (forall->outer == LEVEL_BLOCK) {
        int threads = l->target->block_threads;
        bool is_warps = forall->inner == LEVEL_WARP && has_warps;
        if (!l->options->has_exact_blocks)
            return (struct share){.first = TARGET_THREAD_ID, .stride = TARGET_THREAD_COUNT, .is_in_block = true};
        return (struct share){.first = is_warps ? TARGET_WARP_ID : TARGET_THREAD_ID,
                              .constant_stride = is_warps ? threads / l->kernel->warp_size : threads,
                              .is_in_block = true};
    }
    return (struct share){.is_sequential = !has_warps,
                          .first = TARGET_LANE_ID,
                          .constant_stride = l->kernel->warp_size,
                          .is_in_block = true};
}

/* ---- barriers ---- */

static int warps_of_block(const struct lowering *l) {
    return l->options->has_warps ? (l->target->block_threads + l->kernel->warp_size - 1) / l->kernel->warp_size : 0;
}

/* The lanes of a warp, where the first one is to be told from others; see note [the first warp]. */
static int whole_warp(const struct lowering *l) {
    int lanes = l->kernel->warp_size;
    return pass_wanted(l->options->passes, PASS_FIRST_WARP) && l->options->has_warps && l->target->is_exact &&
                   l->target->block_threads % lanes == 0
               ? lanes
               : 0;
}

static enum target_meeting meeting_of(enum level_value ambient, enum barrier barrier) {
    return barrier == BARRIER_NONE                            ? TARGET_MEETING_NONE
           : ambient == LEVEL_WARP || barrier == BARRIER_WARP ? TARGET_MEETING_WARP
                                                              : TARGET_MEETING_BLOCK;
}

enum target_meeting target_barrier_before(const struct target_kernel *kernel,
                                          const struct ir_instruction *instruction) {
    enum barrier barrier = kernel->barriers ? barrier_of(kernel->barriers->before, instruction) : BARRIER_NONE;
    return meeting_of(instruction->region->ambient, barrier);
}

enum target_meeting target_barrier_at_end(const struct target_kernel *kernel, const struct ir_region *region) {
    return meeting_of(region->ambient, kernel->barriers ? barrier_of(kernel->barriers->at_end, region) : BARRIER_NONE);
}

void simt_barrier(struct lowering *l, enum level_value ambient, enum barrier barrier) {
    if (barrier == BARRIER_NONE)
        return;
    bool is_warps = meeting_of(ambient, barrier) == TARGET_MEETING_WARP;
    l->target->needs_warps |= is_warps;
    struct target_statement *statement = lower_emit(l, is_warps ? TARGET_WARP_BARRIER : TARGET_BLOCK_BARRIER);
    statement->is_global = barrier == BARRIER_GLOBAL;
}

/* ---- parallel loops ---- */

/* One iteration: only the first unit does it. */
static void lower_single(struct lowering *l, const struct ir_instruction *forall, const struct share *share) {
    const struct ir_value *index = forall->parameters[0];
    lower_bind(l, index, expr_integer(l, index->base, 0));
    bool is_only_warp = l->in_first_warp && share->first == TARGET_WARP_ID;
    if (share->is_sequential || is_only_warp) {
        lower_region(l, forall->regions[0]);
        return;
    }
    struct target_statement *only = lower_emit(l, TARGET_IF);
    only->value = expr_operation(l, OP_EQ, BASE_BOOL, expr_hardware(l, share->first), expr_integer(l, BASE_I32, 0));
    struct lower_scope scope = lower_enter(l, &only->body);
    lower_region(l, forall->regions[0]);
    lower_leave(l, scope);
}

/* At most one iteration for each unit: no loop, and no branch where every unit has one. */
static void lower_one_each(struct lowering *l, const struct ir_instruction *forall, const struct share *share) {
    const struct ir_value *index = forall->parameters[0], *count = forall->operands[0];
    int64_t units = l->in_first_warp && forall->outer == LEVEL_BLOCK ? l->kernel->warp_size : share->constant_stride;
    bool is_for_all = count->is_constant && count->constant.integer == units;
    if (is_for_all && l->uses[index->id].count == 0) {
        lower_region(l, forall->regions[0]);
        return;
    }
    struct target_variable *variable = lower_variable(l, index->base, index->name, "i");
    struct target_statement *declare = lower_emit(l, TARGET_DECLARE);
    declare->variable = variable;
    declare->value = index->base == BASE_I32 ? expr_hardware(l, share->first)
                                             : expr_convert(l, expr_hardware(l, share->first), index->base);
    lower_bind(l, index, expr_variable(l, variable, index->low, index->high));
    if (is_for_all) {
        lower_region(l, forall->regions[0]);
        return;
    }
    struct target_statement *guard = lower_emit(l, TARGET_IF);
    guard->value =
        expr_operation(l, OP_LT, BASE_BOOL, expr_variable(l, variable, index->low, index->high), lower_value(l, count));
    struct lower_scope scope = lower_enter(l, &guard->body);
    lower_region(l, forall->regions[0]);
    lower_leave(l, scope);
}

static struct target_array *declare_shared(struct lowering *l, const char *name, enum base element, int64_t capacity,
                                           int alignment);

/* note [tickets] in ir.h: the first thread draws the number of the block's next iteration and
   tells the others. All blocks together draw as many as there are, each as many as it would do
   were they shared out: where there is a block for each, all of them are needed, and none comes to
   draw when nothing is left. */
static void lower_tickets(struct lowering *l, const struct ir_instruction *forall) {
    const struct ir_value *index = forall->parameters[0];
    struct target_expr *limit = expr_convert(l, lower_simple(l, forall->operands[0], "count"), BASE_U32);
    struct target_array *shared_ticket =
        declare_shared(l, names_fresh(l->names, "ticket_of_block", ""), BASE_U32, 1, 0);
    l->target->static_shared_bytes += (int64_t)target_element_bytes(BASE_U32);
    struct target_expr *zero = expr_integer(l, BASE_I32, 0);
    struct target_statement *loop = lower_emit(l, TARGET_FOR);
    loop->variable = lower_variable(l, BASE_U32, "turn", "turn");
    loop->value = expr_hardware(l, TARGET_BLOCK_ID);
    loop->step = expr_hardware(l, TARGET_BLOCK_COUNT);
    loop->limit = limit;
    struct lower_scope scope = lower_enter(l, &loop->body);
    struct target_statement *only = lower_emit(l, TARGET_IF);
    only->value = expr_operation(l, OP_EQ, BASE_BOOL, expr_hardware(l, TARGET_THREAD_ID), zero);
    struct lower_scope inner = lower_enter(l, &only->body);
    struct target_expr *drawn = lower_ticket(l, forall);
    struct target_statement *tell = lower_emit(l, TARGET_STORE);
    tell->array = shared_ticket;
    tell->index = zero;
    tell->value = drawn;
    lower_leave(l, inner);
    lower_emit(l, TARGET_BLOCK_BARRIER);
    struct target_expr *ticket = lower_named(l, expr_element(l, BASE_U32, shared_ticket, zero), "ticket", NULL);
    lower_bind(l, index, lower_named(l, expr_convert(l, ticket, index->base), index->name, "i"));
    lower_region(l, forall->regions[0]);
    if (barrier_of(l->barriers->at_end, forall->regions[0]) < BARRIER_SHARED)
        lower_emit(l, TARGET_BLOCK_BARRIER); /* all have read the ticket */
    lower_leave(l, scope);
}

/* Does a block of threads agree on leaving a loop, when a check has failed? */
static bool has_block_loops(const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_WHILE && walk.region->ambient == LEVEL_BLOCK)
            return true;
    return false;
}

struct target_expr *simt_agree(struct lowering *l, struct target_expr *x, enum level_value ambient) {
    struct target_expr *zero = expr_integer(l, BASE_I32, 0);
    if (ambient == LEVEL_WARP && l->options->has_warps) {
        struct target_statement *shuffle = lower_emit(l, TARGET_SHUFFLE);
        shuffle->variable = lower_variable(l, BASE_I32, "stop", "stop");
        shuffle->value = x;
        shuffle->index = zero;
        return expr_variable(l, shuffle->variable, INT32_MIN, INT32_MAX);
    }
    if (ambient != LEVEL_BLOCK)
        return x;
    struct target_statement *only = lower_emit(l, TARGET_IF);
    only->value = expr_operation(l, OP_EQ, BASE_BOOL, expr_hardware(l, TARGET_THREAD_ID), zero);
    struct lower_scope scope = lower_enter(l, &only->body);
    struct target_statement *tell = lower_emit(l, TARGET_STORE);
    tell->array = l->stop_flag;
    tell->index = zero;
    tell->value = x;
    lower_leave(l, scope);
    lower_emit(l, TARGET_BLOCK_BARRIER);
    struct target_expr *agreed = lower_named(l, expr_element(l, BASE_I32, l->stop_flag, zero), "stop", "stop");
    lower_emit(l, TARGET_BLOCK_BARRIER); /* all have read it */
    return agreed;
}

/* `const base name = value;` is the index of a loop that counts otherwise. See note [counters]. */
static void bind_index(struct lowering *l, const struct ir_value *index, const char *name, struct target_expr *value) {
    if (!l->uses[index->id].count) { /* all elements are one, or at one place */
        lower_bind(l, index, expr_convert(l, value, index->base));
        return;
    }
    struct target_variable *variable = ARENA_NEW(l->arena, struct target_variable);
    variable->name = name;
    variable->base = index->base;
    struct target_statement *declare = lower_emit(l, TARGET_DECLARE);
    declare->variable = variable;
    declare->value = expr_convert(l, value, index->base);
    lower_bind(l, index, expr_variable(l, variable, index->low, index->high));
}

static bool is_small(const struct ir_instruction *forall, int64_t rounds) {
    int size = ir_body_size(forall->regions[0]);
    return rounds <= GPU_UNROLLED && size <= GPU_UNROLLED && rounds * size <= GPU_UNROLLED;
}

/* How many rounds with guards are unrolled together: each has a predicate, of which there are
   seven, and what they load takes registers from the whole of the kernel, though what is left of
   an array is but the last tile. 0: all of them. (Where a shared array is filled, all may go
   together: note [filling].) */
static int guarded_together(int64_t rounds) {
    int64_t batches = (rounds + GPU_GUARDED_TOGETHER - 1) / GPU_GUARDED_TOGETHER;
    return batches > 1 ? (int)((rounds + batches - 1) / batches) : 0;
}

/* Do the arrays that the loop stores to begin with it? Then nothing is behind the end of what it stores yet. */
static bool begins_arrays(const struct lowering *l, const struct ir_instruction *forall) {
    for (struct ir_walk walk = ir_walk(forall->regions[0]); walk.at; ir_next(&walk)) {
        bool is_shared = walk.at->kind == IR_STORE && walk.at->buffer->memory == MEMORY_SHARED;
        if (is_shared && ((const struct extent *)map_get(l->extents->by_buffer, walk.at->buffer))->first != forall)
            return false;
    }
    return true;
}

/* The same number of iterations for each unit, or as many but the last ones, which are then
   guarded: counted from 0, so that the C compiler knows how many. Unrolled, the loads of a small
   body are on their way at the same time. */
static void lower_rounds(struct lowering *l, const struct ir_instruction *forall, const struct share *share,
                         int64_t rounds, struct target_expr *limit) {
    const struct ir_value *index = forall->parameters[0];
    const char *const *held = ahead_names(l, forall->regions[0]);
    struct target_statement *loop = lower_emit(l, TARGET_FOR);
    loop->value = expr_integer(l, BASE_I32, 0);
    loop->limit = expr_integer(l, BASE_I32, rounds);
    loop->step = expr_integer(l, BASE_I32, 1);
    loop->unroll_by = limit ? guarded_together(rounds) : 0;
    loop->unroll = is_small(forall, loop->unroll_by ? loop->unroll_by : rounds);
    struct lower_scope scope = lower_enter(l, &loop->body);
    const char *name = names_fresh(l->names, index->name, "i"); /* the better name is for the body's */
    loop->variable = lower_variable(l, BASE_I32, "turn", "turn");
    struct target_expr *round = expr_variable(l, loop->variable, 0, rounds - 1);
    struct target_expr *first =
        expr_operation(l, OP_MUL, BASE_I32, round, expr_integer(l, BASE_I32, share->constant_stride));
    bind_index(l, index, name,
               expr_operation(l, OP_ADD, BASE_I32, first, expr_convert(l, expr_hardware(l, share->first), BASE_I32)));
    struct lower_scope guarded;
    if (limit) {
        struct target_statement *guard = lower_emit(l, TARGET_IF);
        guard->value = expr_operation(l, OP_LT, BASE_BOOL, lower_value(l, index), limit);
        guarded = lower_enter(l, &guard->body);
    }
    lower_region(l, forall->regions[0]);
    if (limit)
        lower_leave(l, guarded);
    lower_leave(l, scope);
    if (!limit)
        ahead_load(l, held, true);
    else if (is_small(forall, rounds) && begins_arrays(l, forall))
        ahead_fill(l, held, rounds * share->constant_stride);
}

/* A tile of so many rounds, which only at the end of its array is not whole. */
static void lower_tile(struct lowering *l, const struct ir_instruction *forall, const struct share *share,
                       int64_t rounds, struct target_expr *limit) {
    struct target_statement *is_whole = lower_emit(l, TARGET_IF);
    is_whole->value = expr_operation(l, OP_EQ, BASE_BOOL, limit,
                                     expr_integer(l, forall->operands[0]->base, rounds * share->constant_stride));
    struct lower_scope scope = lower_enter(l, &is_whole->body);
    lower_rounds(l, forall, share, rounds, NULL);
    lower_leave(l, scope);
    lower_forget(l, forall->regions[0]);
    scope = lower_enter(l, &is_whole->other);
    lower_rounds(l, forall, share, rounds, limit);
    lower_leave(l, scope);
}

static bool loads_globally(const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_LOAD && walk.at->buffer->memory <= MEMORY_OUTPUT)
            return true;
    return false;
}

/* How many rounds a loop takes at most that is to be unrolled although its last rounds may not be
   whole, so that what it loads from global memory is on its way at the same time; 0: it is not. */
static int64_t guarded_rounds(const struct ir_instruction *forall, const struct share *share) {
    int64_t high = forall->operands[0]->high, stride = share->constant_stride;
    if (!stride || share->is_sequential || high > GPU_GUARDED_ROUNDS * stride)
        return 0;
    int64_t rounds = (high + stride - 1) / stride; /* at most 0 where no iteration runs: the loop does none */
    int together = guarded_together(rounds);
    return is_small(forall, together ? together : rounds) && loads_globally(forall->regions[0]) ? rounds : 0;
}

/* note [turns]
   A loop over a grid's threads that loads little has one load in flight for each thread, too few
   to fill a large GPU's memory. So a block takes several times as many iterations as it has
   threads, next to each other: where they are all there, a thread's loads are on their way at the
   same time, from places at constant distances; else it asks before each. Four turns, as of an int
   each; or more, where a turn loads less than an int. */

static bool has_turns(const struct lowering *l, const struct ir_instruction *forall) {
    return pass_wanted(l->options->passes, PASS_TURNS) && forall->outer == LEVEL_GRID &&
           forall->inner == LEVEL_THREAD && ir_turns(forall) > 1;
}

/* An unrolled loop of so many rounds: what is lowered until the scope is left is its body. `name` is its variable's. */
static struct target_statement *begin_rounds(struct lowering *l, int count, const char *name,
                                             struct lower_scope *scope) {
    struct target_statement *rounds = lower_emit(l, TARGET_FOR);
    rounds->value = expr_integer(l, BASE_I32, 0);
    rounds->limit = expr_integer(l, BASE_I32, count);
    rounds->step = expr_integer(l, BASE_I32, 1);
    rounds->unroll = true;
    *scope = lower_enter(l, &rounds->body);
    rounds->variable = lower_variable(l, BASE_I32, name, name);
    return rounds;
}

/* `count` turns of a block's threads, the first of them at `own`. Without an end all are run, in ints,
   which do not wrap. With one, those before it are run: the end may be so near to the largest int that
   the index of a turn behind it does not fit. */
static void lower_some_turns(struct lowering *l, const struct ir_instruction *forall, int count,
                             struct target_expr *own, struct target_expr *end) {
    struct lower_scope scope, inner;
    const char *name = names_fresh(l->names, forall->parameters[0]->name, "i"); /* the better name is for the body's */
    struct target_statement *turns = begin_rounds(l, count, "turn", &scope);
    turns->unroll_by = end ? guarded_together(count) : 0;
    struct target_expr *turn = expr_variable(l, turns->variable, 0, INT32_MAX);
    struct target_expr *threads = expr_integer(l, BASE_I32, l->target->block_threads);
    enum base base = end ? BASE_U32 : BASE_I32;
    struct target_expr *at = expr_operation(l, OP_ADD, base, expr_convert(l, own, base),
                                            expr_convert(l, expr_operation(l, OP_MUL, BASE_I32, turn, threads), base));
    if (end) {
        at = lower_named(l, at, NULL, "at");
        struct target_statement *guard = lower_emit(l, TARGET_IF);
        guard->value = expr_operation(l, OP_LT, BASE_BOOL, at, end);
        inner = lower_enter(l, &guard->body);
    }
    bind_index(l, forall->parameters[0], name, at);
    lower_region(l, forall->regions[0]);
    if (end)
        lower_leave(l, inner);
    lower_leave(l, scope);
    lower_forget(l, forall->regions[0]);
}

static void lower_with_operands(struct lowering *l, const struct ir_region *body, const struct ir_value *value) {
    const struct ir_instruction *operation = value->definition;
    if (l->values[value->id] || !operation || operation->region != body)
        return;
    for (size_t k = 0; k < operation->operand_count; k++)
        lower_with_operands(l, body, operation->operands[k]);
    lower_instruction(l, operation);
}

static void declare_held(struct lowering *l, const struct ir_instruction *access, int size) {
    struct target_array *held = ARENA_NEW(l->arena, struct target_array);
    *held = (struct target_array){.name = names_fresh(l->names, access->kind == IR_LOAD ? "held" : "made", NULL),
                                  .element = access->buffer->element,
                                  .space = TARGET_SPACE_PRIVATE,
                                  .is_brief = true,
                                  .capacity = size,
                                  .alignment = size * (int)target_element_bytes(access->buffer->element)};
    lower_emit(l, TARGET_DECLARE_ARRAY)->array = held;
    map_set(l->held, access, held);
}

/* Between memory and registers, of all elements that the thread has next to each other, from `first` on. */
static void lower_held(struct lowering *l, const struct ir_instruction *forall, int size, enum ir_kind kind,
                       struct target_expr *first) {
    const struct ir_region *body = forall->regions[0];
    lower_bind(l, forall->parameters[0], first);
    for (size_t k = 0; k < body->instructions.count; k++) {
        const struct ir_instruction *access = body->instructions.at[k];
        struct target_array *held = map_get(l->held, access);
        if (access->kind != kind || !held)
            continue;
        lower_with_operands(l, body, access->operands[0]);
        struct target_array *array = lower_array(l, access->buffer);
        struct target_expr *place = lower_subscript(l, access->operands[0]), *begin = expr_integer(l, BASE_I32, 0);
        struct target_statement *copy = lower_emit(l, TARGET_COPY);
        copy->array = kind == IR_LOAD ? held : array;
        copy->index = kind == IR_LOAD ? begin : place;
        copy->value = kind == IR_LOAD ? expr_element(l, array->element, array, place)
                                      : expr_element(l, held->element, held, begin);
        copy->copied = size;
        copy->piece = TARGET_PIECE_OWN;
    }
    lower_forget(l, body);
}

/* `size` elements of each thread of a block, the first of the block's at `begin`: note [narrow elements]. */
static void lower_neighbours(struct lowering *l, const struct ir_instruction *forall, int size,
                             struct target_expr *begin) {
    const struct ir_region *body = forall->regions[0];
    struct target_expr *thread = expr_convert(l, expr_hardware(l, TARGET_THREAD_ID), BASE_I32);
    struct target_expr *own = expr_operation(l, OP_MUL, BASE_I32, thread, expr_integer(l, BASE_I32, size));
    struct target_expr *first =
        lower_named(l, expr_operation(l, OP_ADD, BASE_I32, expr_convert(l, begin, BASE_I32), own), "first", NULL);
    l->held = map_new(l->arena);
    for (size_t k = 0; k < body->instructions.count; k++)
        if (neighbours_follow(body->instructions.at[k], forall, size))
            declare_held(l, body->instructions.at[k], size);
    lower_held(l, forall, size, IR_LOAD, first);
    struct lower_scope scope;
    struct target_statement *each = begin_rounds(l, size, "k", &scope);
    l->held_at = expr_variable(l, each->variable, 0, size - 1);
    lower_bind(l, forall->parameters[0], expr_operation(l, OP_ADD, BASE_I32, first, l->held_at));
    lower_region(l, body);
    lower_leave(l, scope);
    ahead_drop_unused(&each->body);
    lower_forget(l, body);
    lower_held(l, forall, size, IR_STORE, first);
    l->held = NULL;
}

static void lower_rounds_of_neighbours(struct lowering *l, const struct ir_instruction *forall, int size, int rounds,
                                       struct target_expr *begin) {
    if (rounds == 1) {
        lower_neighbours(l, forall, size, begin);
        return;
    }
    struct lower_scope scope;
    struct target_statement *loop = begin_rounds(l, rounds, "turn", &scope);
    struct target_expr *turn = expr_variable(l, loop->variable, 0, rounds - 1);
    struct target_expr *elements = expr_integer(l, BASE_I32, (int64_t)size * l->target->block_threads);
    begin = expr_operation(l, OP_ADD, BASE_I32, expr_convert(l, begin, BASE_I32),
                           expr_operation(l, OP_MUL, BASE_I32, turn, elements));
    lower_neighbours(l, forall, size, begin);
    lower_leave(l, scope);
}

static void lower_turns(struct lowering *l, const struct ir_instruction *forall, struct target_expr *limit) {
    int threads = l->target->block_threads, together = ir_turns(forall);
    int size = map_has(l->aligned_loops, forall) ? neighbours_of(l, forall) : 0;
    l->target->turns = together;
    pass_changed(l->options->passes, PASS_TURNS);
    l->target->is_exact = true;
    struct target_expr *end = lower_named(l, expr_convert(l, limit, BASE_U32), NULL, "end");
    struct target_expr *all = expr_integer(l, BASE_U32, (int64_t)together * threads);
    struct target_statement *blocks = lower_emit(l, TARGET_FOR);
    blocks->value = expr_operation(l, OP_MUL, BASE_U32, expr_hardware(l, TARGET_BLOCK_ID), all);
    blocks->step = expr_operation(l, OP_MUL, BASE_U32, expr_hardware(l, TARGET_BLOCK_COUNT), all);
    blocks->limit = end;
    struct target_expr *thread = expr_hardware(l, TARGET_THREAD_ID);
    if (!size)
        blocks->value = expr_operation(l, OP_ADD, BASE_U32, blocks->value, thread);
    struct lower_scope scope = lower_enter(l, &blocks->body);
    blocks->variable = lower_variable(l, BASE_U32, size ? "begin" : "own", NULL);
    struct target_expr *own = expr_variable(l, blocks->variable, 0, INT32_MAX);
    /* The last place that is asked for is the thread's own, or with neighbours the block's, whose threads then all take
       the same branch. */
    int last = (size ? together : together - 1) * threads - (size ? 1 : 0);
    struct target_expr *are_all = expr_operation(
        l, OP_LT, BASE_BOOL, expr_operation(l, OP_ADD, BASE_U32, own, expr_integer(l, BASE_U32, last)), end);
    struct target_statement *are_all_there = lower_emit(l, TARGET_IF);
    are_all_there->value = size ? expr_operation(l, OP_AND, BASE_BOOL, l->are_aligned, are_all) : are_all;
    struct lower_scope all_scope = lower_enter(l, &are_all_there->body);
    if (size) {
        pass_changed(l->options->passes, PASS_NEIGHBOURS);
        lower_rounds_of_neighbours(l, forall, size, together / size, own);
    } else {
        const char *const *held = ahead_names(l, forall->regions[0]);
        lower_some_turns(l, forall, together, own, NULL);
        ahead_load(l, held, true);
    }
    lower_leave(l, all_scope);
    struct lower_scope some_scope = lower_enter(l, &are_all_there->other);
    if (size)
        own = lower_named(l, expr_operation(l, OP_ADD, BASE_U32, own, thread), "own", NULL);
    lower_some_turns(l, forall, together, own, end);
    lower_leave(l, some_scope);
    lower_leave(l, scope);
}

static void lower_pieces_by(struct lowering *l, const struct ir_instruction *forall, int threads,
                            enum target_hardware first, int64_t size, enum target_piece by) {
    const struct ir_value *index = forall->parameters[0];
    int64_t pieces = forall->operands[0]->constant.integer / size;
    struct target_statement *loop = lower_emit(l, TARGET_FOR);
    loop->value = expr_hardware(l, first);
    loop->limit = expr_integer(l, BASE_I32, pieces);
    loop->step = expr_integer(l, BASE_I32, threads);
    loop->unroll = by != TARGET_PIECE_APART && pieces <= (int64_t)GPU_UNROLLED * threads;
    loop->is_short = by == TARGET_PIECE_APART;
    if (pieces % threads == 0) {
        loop->value = expr_integer(l, BASE_I32, 0);
        loop->limit = expr_integer(l, BASE_I32, pieces / threads);
        loop->step = expr_integer(l, BASE_I32, 1);
    }
    struct lower_scope scope = lower_enter(l, &loop->body);
    loop->variable = lower_variable(l, BASE_I32, "piece", "piece");
    struct target_expr *at = expr_variable(l, loop->variable, 0, pieces), *all = at;
    if (pieces % threads == 0)
        at = expr_convert(l, expr_hardware(l, first), BASE_I32);
    at = expr_operation(l, OP_MUL, BASE_I32, at, expr_integer(l, BASE_I32, size));
    if (pieces % threads == 0) /* what is each thread's, and what is known in the unrolled loop */
        at = expr_operation(l, OP_ADD, BASE_I32, at,
                            expr_operation(l, OP_MUL, BASE_I32, all, expr_integer(l, BASE_I32, size * threads)));
    lower_bind(l, index, lower_named(l, at, index->name, "i"));
    l->piece = (int)size;
    l->piece_by = by;
    lower_region(l, forall->regions[0]);
    l->piece = 0;
    lower_leave(l, scope);
}

/* The branch for the pieces of another array, if only what is declared is behind it: that goes before it then. */
static struct target_statement *last_aligned(struct lowering *l) {
    size_t count = l->block->statements.count, at = count;
    while (at > 0 && l->block->statements.at[at - 1]->kind == TARGET_DECLARE)
        at--;
    struct target_statement *last = at ? l->block->statements.at[at - 1] : NULL;
    if (!last || last->kind != TARGET_IF || last->value != l->are_aligned)
        return NULL;
    for (size_t i = at; i < count; i++)
        l->block->statements.at[i - 1] = l->block->statements.at[i];
    return l->block->statements.at[count - 1] = last;
}

/* See note [pieces ahead] in copies.c. */
static void lower_pieces(struct lowering *l, const struct ir_instruction *forall, int threads,
                         enum target_hardware first) {
    int64_t size = pieces_of(l, forall);
    if (!map_has(l->aligned_loops, forall)) {
        lower_pieces_by(l, forall, threads, first, size, TARGET_PIECE_ASKS);
        return;
    }
    struct target_statement *are_aligned = last_aligned(l);
    are_aligned = are_aligned ? are_aligned : lower_emit(l, TARGET_IF);
    are_aligned->value = l->are_aligned;
    struct lower_scope scope = lower_enter(l, &are_aligned->body);
    lower_pieces_by(l, forall, threads, first, size, TARGET_PIECE_ALIGNED);
    lower_leave(l, scope);
    lower_forget(l, forall->regions[0]);
    scope = lower_enter(l, &are_aligned->other);
    lower_pieces_by(l, forall, threads, first, size, TARGET_PIECE_APART);
    lower_leave(l, scope);
}

void simt_forall(struct lowering *l, const struct ir_instruction *forall) {
    struct share share = share_of(l, forall);
    const struct ir_value *index = forall->parameters[0], *count = forall->operands[0];
    if (count->is_constant && count->constant.integer == 1) {
        lower_single(l, forall, &share);
        return;
    }
    if (forall->buffer) {
        lower_tickets(l, forall);
        return;
    }
    if (share.constant_stride && !share.is_sequential && pieces_of(l, forall)) {
        lower_pieces(l, forall, share.constant_stride, share.first);
        return;
    }
    if (share.constant_stride && !share.is_sequential && count->high <= share.constant_stride) {
        lower_one_each(l, forall, &share);
        return;
    }
    if (share.constant_stride && !share.is_sequential && count->is_constant &&
        count->constant.integer % share.constant_stride == 0) {
        if (copies_by_pieces(l->options, share.constant_stride, forall))
            copies_lower(l, forall, share.constant_stride, share.first);
        else
            lower_rounds(l, forall, &share, count->constant.integer / share.constant_stride, NULL);
        return;
    }
    struct target_expr *limit = lower_simple(l, count, "count");
    int64_t guarded = guarded_rounds(forall, &share);
    if (guarded && IR_PART(forall, loop).all && count->high == guarded * share.constant_stride) {
        lower_tile(l, forall, &share, guarded, limit);
        return;
    }
    if (guarded) {
        lower_rounds(l, forall, &share, guarded, limit);
        return;
    }
    int64_t room = share.is_sequential ? 0 : LARGEST_BLOCK_STRIDE;
    bool is_plain =
        index->base != BASE_I32 || (share.is_sequential || (share.is_in_block && count->high <= INT32_MAX - room));
    if (!is_plain && count->low < 0)
        limit = lower_named(l, expr_operation(l, OP_MAX, count->base, limit, expr_integer(l, count->base, 0)), NULL,
                            "count");
    if (!is_plain && count->high > 1 && has_turns(l, forall)) {
        lower_turns(l, forall, limit);
        return;
    }
    enum base base = is_plain ? index->base : BASE_U32;
    struct target_statement *loop = lower_emit(l, TARGET_FOR);
    loop->value = share.is_sequential ? expr_integer(l, base, 0) : expr_hardware(l, share.first);
    loop->step = share.is_sequential     ? expr_integer(l, base, 1)
                 : share.constant_stride ? expr_integer(l, base, share.constant_stride)
                                         : expr_hardware(l, share.stride);
    loop->limit = is_plain ? limit : expr_convert(l, limit, BASE_U32);
    loop->is_short = share.constant_stride && !share.is_sequential && !count->is_constant &&
                     count->high <= (int64_t)GPU_FEW_ROUNDS * share.constant_stride;
    if (share.is_sequential && lower_has_quirk(l, QUIRK_THREADS_BY_VECTORS))
        lower_scalar(l, loop);
    struct lower_scope scope = lower_enter(l, &loop->body);
    const char *name = is_plain ? index->name : names_fresh(l->names, index->name, "i"); /* the better is the body's */
    if (is_plain) {
        loop->variable = lower_variable(l, base, name, "i");
        lower_bind(l, index, expr_variable(l, loop->variable, index->low, index->high));
    } else {
        loop->variable = lower_variable(l, base, arena_printf(l->arena, "%s_at", name), "at");
    }
    if (!is_plain && l->uses[index->id].count > 0)
        bind_index(l, index, name, expr_variable(l, loop->variable, 0, UINT32_MAX));
    lower_region(l, forall->regions[0]);
    lower_leave(l, scope);
}

/* May it come under the branch, as one of the loops or between them? */
static bool fits_first_warp(const struct lowering *l, const struct ir_instruction *instruction, bool is_first) {
    for (struct extent *extent = map_get(l->extents->by_first, instruction); extent; extent = extent->next_here)
        if (extent->buffer->memory == MEMORY_PRIVATE)
            return false; /* declared here, and perhaps used behind it */
    if (!is_first && barrier_of(l->barriers->before, instruction) > BARRIER_WARP)
        return false;
    return instruction->kind == IR_OPERATION || instruction->kind == IR_ALLOCATE ||
           barriers_in_first_warp(instruction, whole_warp(l));
}

size_t simt_first_warp(struct lowering *l, const struct ir_region *region, size_t first) {
    const struct ir_instruction *const *all = (const struct ir_instruction *const *)region->instructions.at;
    if (region->ambient != LEVEL_BLOCK || l->in_first_warp || warps_of_block(l) < 2 || all[first]->kind != IR_FORALL)
        return first;
    size_t end = first, loops = 0;
    for (size_t i = first; i < region->instructions.count && fits_first_warp(l, all[i], i == first); i++)
        if (all[i]->kind == IR_FORALL) {
            loops++;
            end = i + 1;
        }
    if (loops < 2)
        return first;
    pass_changed(l->options->passes, PASS_FIRST_WARP);
    for (size_t i = first; i < end; i++) /* used behind the branch, too */
        if (all[i]->kind == IR_OPERATION)
            lower_instruction(l, all[i]);
    simt_barrier(l, LEVEL_BLOCK, barrier_of(l->barriers->before, all[first]));
    struct target_statement *only = lower_emit(l, TARGET_IF);
    struct target_expr *lanes = expr_integer(l, BASE_I32, l->kernel->warp_size);
    only->value = expr_operation(l, OP_LT, BASE_BOOL, expr_hardware(l, TARGET_THREAD_ID), lanes);
    struct lower_scope scope = lower_enter(l, &only->body);
    l->in_first_warp = true;
    for (size_t i = first; i < end; i++)
        if (all[i]->kind != IR_OPERATION) {
            if (i > first)
                simt_barrier(l, LEVEL_BLOCK, barrier_of(l->barriers->before, all[i]));
            lower_instruction(l, all[i]);
        }
    l->in_first_warp = false;
    lower_leave(l, scope);
    return end;
}

/* ---- memory ---- */

static bool fits_stack(struct lowering *l, const struct ir_buffer *buffer) {
    if (!buffer->capacity->is_constant)
        return false;
    int64_t limit = l->options->stack_limit, share = l->options->block_stack_limit / l->target->block_threads;
    if (share && share < limit)
        limit = share;
    int64_t bytes = buffer->capacity->constant.integer * (int64_t)target_element_bytes(buffer->element);
    if (l->stack_bytes + bytes > limit)
        return false;
    l->stack_bytes += bytes;
    return true;
}

/* Buffers of threads, and of warps that are threads. Those that are too large for the stack are in global memory. */
void simt_declare(struct lowering *l, struct extent *extent) {
    struct ir_buffer *buffer = extent->buffer;
    bool is_private = buffer->memory == MEMORY_PRIVATE ||
                      (buffer->memory == MEMORY_SHARED && buffer->owner == LEVEL_WARP && !l->options->has_warps);
    if (!is_private)
        return;
    if (fits_stack(l, buffer))
        lower_private_array(l, buffer, 0);
    else
        lower_scratch(l, buffer, LEVEL_THREAD, expr_hardware(l, TARGET_GLOBAL_THREAD_ID));
}

static struct target_array *declare_shared(struct lowering *l, const char *name, enum base element, int64_t capacity,
                                           int alignment) {
    struct target_array *array = ARENA_NEW(l->arena, struct target_array);
    *array = (struct target_array){
        .name = name, .element = element, .space = TARGET_SPACE_SHARED, .capacity = capacity, .alignment = alignment};
    lower_emit(l, TARGET_DECLARE_ARRAY)->array = array;
    return array;
}

static void declare_pointer(struct lowering *l, const struct ir_buffer *buffer, struct target_array *from,
                            struct target_expr *index) {
    struct target_array *array = ARENA_NEW(l->arena, struct target_array);
    *array = (struct target_array){.name = names_fresh(l->names, buffer->name, "tile"),
                                   .element = buffer->element,
                                   .space = TARGET_SPACE_SHARED,
                                   .capacity = buffer->capacity->is_constant ? buffer->capacity->constant.integer : 0};
    struct target_statement *pointer = lower_emit(l, TARGET_DECLARE_POINTER);
    pointer->array = array;
    pointer->from = from;
    pointer->index = index;
    map_set(l->arrays, buffer, array);
}

/* The own array of a buffer that shares its place with no other. */
static void declare_own(struct lowering *l, struct shared_buffer *shared, int warps) {
    const struct ir_buffer *buffer = shared->extent->buffer;
    int64_t capacity = buffer->capacity->constant.integer > 0 ? buffer->capacity->constant.integer : 1;
    int64_t bytes = capacity * (int64_t)target_element_bytes(buffer->element);
    if (buffer->owner == LEVEL_WARP) {
        const char *name = arena_printf(l->arena, "%s_of_warps", buffer->name ? buffer->name : "tile");
        struct target_array *all =
            declare_shared(l, names_fresh(l->names, name, "tiles"), buffer->element, capacity * warps, 0);
        declare_pointer(
            l, buffer, all,
            expr_operation(l, OP_MUL, BASE_U32, expr_hardware(l, TARGET_WARP_ID), expr_integer(l, BASE_I32, capacity)));
        bytes *= warps;
    } else {
        struct target_array *array = declare_shared(l, names_fresh(l->names, buffer->name, "tile"), buffer->element,
                                                    capacity, buffer->has_pairs || buffer->stages ? 16 : 0);
        map_set(l->arrays, buffer, array);
    }
    l->target->static_shared_bytes += bytes;
}

static void declare_in_pool(struct lowering *l, struct shared_buffer *shared, struct target_array *pool) {
    const struct ir_buffer *buffer = shared->extent->buffer;
    struct target_expr *at = expr_integer(l, BASE_I32, shared->place.low);
    if (buffer->owner == LEVEL_WARP)
        at = expr_operation(l, OP_ADD, BASE_U32,
                            expr_operation(l, OP_MUL, BASE_U32, expr_hardware(l, TARGET_WARP_ID),
                                           expr_integer(l, BASE_I32, shared->frame_bytes)),
                            expr_integer(l, BASE_I32, shared->block_place.low + shared->place.low));
    declare_pointer(l, buffer, pool, at);
}

/* Dynamic buffers follow one another; `at` is where the next begins. */
static void declare_dynamic(struct lowering *l, struct shared_buffer *shared, int warps, struct target_array *pool,
                            bool is_last, struct target_expr **at) {
    const struct ir_buffer *buffer = shared->extent->buffer;
    size_t element_bytes = target_element_bytes(buffer->element);
    size_t copies = buffer->owner == LEVEL_WARP ? (size_t)warps : 1;
    struct target_expr *length = expr_describe(l, buffer->capacity, 4);
    if (l->options->dynamic_as_parameters) {
        struct target_array *array = ARENA_NEW(l->arena, struct target_array);
        *array = (struct target_array){.name = names_fresh(l->names, buffer->name, "tile"),
                                       .element = buffer->element,
                                       .space = TARGET_SPACE_SHARED};
        vec_push(l->arena, &l->target->parameters,
                 (struct target_parameter){.kind = TARGET_PARAMETER_LOCAL,
                                           .name = array->name,
                                           .base = buffer->element,
                                           .capacity = buffer->capacity,
                                           .array = array,
                                           .length = length});
        map_set(l->arrays, buffer, array);
        return;
    }
    /* How long it is matters only to what comes after it. */
    struct target_expr *begin = *at, *bytes = NULL;
    if (!is_last || buffer->owner == LEVEL_WARP) {
        struct target_expr *capacity = expr_convert(l, lower_value(l, buffer->capacity), BASE_U32);
        bytes = expr_operation(l, OP_MUL, BASE_U32, capacity, expr_integer(l, BASE_U32, (int64_t)element_bytes));
    }
    if (buffer->owner == LEVEL_WARP)
        begin = expr_operation(l, OP_ADD, BASE_U32, begin,
                               expr_operation(l, OP_MUL, BASE_U32, expr_hardware(l, TARGET_WARP_ID), bytes));
    declare_pointer(l, buffer, pool, begin);
    vec_push(l->arena, &l->target->dynamic,
             (struct target_dynamic){
                 .capacity = buffer->capacity, .element_bytes = element_bytes, .copies = copies, .length = length});
    if (is_last)
        return;
    struct target_expr *all = expr_operation(l, OP_MUL, BASE_U32, bytes, expr_integer(l, BASE_U32, (int64_t)copies));
    struct target_expr *rounded =
        expr_operation(l, OP_AND, BASE_U32, expr_operation(l, OP_ADD, BASE_U32, all, expr_integer(l, BASE_U32, 15)),
                       expr_operation(l, OP_BIT_NOT, BASE_U32, expr_integer(l, BASE_U32, 15), NULL));
    *at = expr_operation(l, OP_ADD, BASE_U32, *at, rounded);
}

/* Is there a barrier of all threads of a block in a branch, or in three loops, as PoCL has them wrong? `is_branch`,
   `loops`: what the block of statements is in. */
static bool has_barrier_within(const struct target_block *block, bool is_branch, int loops) {
    for (size_t i = 0; i < block->statements.count; i++) {
        const struct target_statement *statement = block->statements.at[i];
        if (statement->kind == TARGET_BLOCK_BARRIER && (is_branch || loops >= 3))
            return true;
        /* Statements behind this one count as in a branch, too: a thread may have left the loop. */
        is_branch |= statement->kind == TARGET_LEAVE_UNLESS;
        bool within = is_branch || statement->kind == TARGET_IF;
        int around = loops + (statement->kind == TARGET_FOR || statement->kind == TARGET_WHILE);
        if (has_barrier_within(&statement->body, within, around) ||
            has_barrier_within(&statement->other, within, loops))
            return true;
    }
    return false;
}

static int64_t array_bytes(const struct target_block *block, bool at_a_time) {
    int64_t bytes = 0;
    for (size_t i = 0; i < block->statements.count; i++) {
        const struct target_statement *statement = block->statements.at[i];
        const struct target_array *array = statement->array;
        if (statement->kind == TARGET_DECLARE_ARRAY && array->space == TARGET_SPACE_PRIVATE && !array->is_brief)
            bytes += array->capacity * (int64_t)target_element_bytes(array->element);
        int64_t body = array_bytes(&statement->body, at_a_time), other = array_bytes(&statement->other, at_a_time);
        bytes += !at_a_time ? body + other : body > other ? body : other;
    }
    return bytes;
}

static int64_t largest_bytes(const struct target_block *block) {
    int64_t most = 0;
    for (size_t i = 0; i < block->statements.count; i++) {
        const struct target_statement *statement = block->statements.at[i];
        const struct target_array *array = statement->array;
        if (statement->kind == TARGET_DECLARE_ARRAY && array->space == TARGET_SPACE_PRIVATE && !array->is_brief &&
            array->capacity * (int64_t)target_element_bytes(array->element) > most)
            most = array->capacity * (int64_t)target_element_bytes(array->element);
        int64_t body = largest_bytes(&statement->body), other = largest_bytes(&statement->other);
        most = body > most ? body : most;
        most = other > most ? other : most;
    }
    return most;
}

/* Bytes that are declared besides the arrays: what checks and tickets need, see simt_begin, and target_spare_bytes. */
enum { OTHER_SHARED_BYTES = 32 };

void simt_plan(struct lowering *l) {
    int64_t limit = l->options->shared_limit > OTHER_SHARED_BYTES ? l->options->shared_limit - OTHER_SHARED_BYTES : 0;
    l->shared = shared_allocate(l->arena, l->extents, warps_of_block(l), limit, l->options->launch_sized_outside,
                                l->options->passes);
    l->target->outside = l->shared->outside;
    l->target->wanted_shared_bytes = l->shared->outside ? l->shared->wanted_bytes + OTHER_SHARED_BYTES : 0;
}

/* See note [too much] in shared.c. */
static void declare_outside(struct lowering *l, struct ir_buffer *buffer) {
    bool is_warps = buffer->owner == LEVEL_WARP;
    lower_scratch(l, buffer, is_warps ? LEVEL_WARP : LEVEL_BLOCK,
                  expr_hardware(l, is_warps ? TARGET_GLOBAL_WARP_ID : TARGET_BLOCK_ID));
}

void simt_begin(struct lowering *l) {
    int warps = warps_of_block(l);
    l->barriers = barriers_place(l, warps, whole_warp(l));
    l->target->barriers = l->barriers;
    struct shared_plan *plan = l->shared;
    size_t dynamic = 0, declared = 0;
    for (size_t i = 0; i < plan->buffers.count; i++)
        dynamic += plan->buffers.at[i].is_dynamic && !plan->buffers.at[i].is_outside && plan->buffers.at[i].shares == i;
    int64_t limit = l->options->static_shared_limit;
    bool has_checks = lower_leaves_loops(l, l->forall) && has_block_loops(l->forall->regions[0]);
    int64_t words =
        (has_checks ? 4 : 0) + (l->forall->buffer ? 4 : 0); /* what is declared besides: see below, and tickets */
    bool is_too_large = limit && plan->pool_bytes > limit - words;
    struct target_array *launch_pool = NULL;
    if (is_too_large || (dynamic && !l->options->dynamic_as_parameters))
        launch_pool = declare_shared(l, "fcl_shared", BASE_U8, TARGET_CAPACITY_DYNAMIC, 16);
    struct target_array *pool = NULL;
    if (is_too_large) {
        pool = launch_pool;
        l->target->dynamic_fixed_bytes = plan->pool_bytes;
    } else if (plan->is_pooled) {
        pool = declare_shared(l, names_fresh(l->names, "shared_pool", ""), BASE_U8, plan->pool_bytes, 16);
        l->target->static_shared_bytes = plan->pool_bytes;
    }
    struct target_expr *at = expr_integer(l, BASE_U32, l->target->dynamic_fixed_bytes);
    for (size_t i = 0; i < plan->buffers.count; i++) {
        struct shared_buffer *shared = &plan->buffers.at[i];
        l->target->uses_double |= shared->extent->buffer->element == BASE_F64;
        if (shared->shares != i) {
            map_set(l->arrays, shared->extent->buffer,
                    map_get(l->arrays, plan->buffers.at[shared->shares].extent->buffer));
        } else if (shared->is_outside) {
            declare_outside(l, shared->extent->buffer);
        } else if (shared->is_dynamic) {
            bool is_last = ++declared == dynamic;
            declare_dynamic(l, shared, warps, launch_pool, is_last, &at);
            if (!l->options->dynamic_as_parameters && !is_last && at->size > 1)
                at = lower_named(l, at, NULL, "offset");
        } else if (pool) {
            declare_in_pool(l, shared, pool);
        } else {
            declare_own(l, shared, warps);
        }
    }
    if (has_checks) {
        l->stop_flag = declare_shared(l, names_fresh(l->names, "stop_of_block", ""), BASE_I32, 1, 0);
        l->target->static_shared_bytes += (int64_t)target_element_bytes(BASE_I32);
    }
    pieces_begin(l);
    simt_forall(l, l->forall);
    l->target->private_bytes = array_bytes(&l->target->body, false);
    l->target->register_bytes = array_bytes(&l->target->body, true);
    l->target->largest_bytes = largest_bytes(&l->target->body);
    if (lower_has_quirk(l, QUIRK_AS_WRITTEN) &&
        (has_barrier_within(&l->target->body, false, 0) || lower_steps_wrap(l->forall->regions[0])))
        l->target->quirks |= quirk_bit(QUIRK_AS_WRITTEN) | quirk_bit(QUIRK_SHARED_ADDRESSES);
}
