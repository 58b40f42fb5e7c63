/* The builder's loops and branches. All that is under construction hangs off the frames, so that ir_unwind can leave
   any of it at any time (also after a longjmp). */
#include "ir/machine.h"
#include "ir/build/builder.h"

#include "support/fatal.h"

/* ---- frames ---- */

struct ir_region *builder_region(struct ir_builder *b, enum level_value ambient, struct ir_instruction *owner) {
    struct ir_region *region = ir_new_region(b->arena, b->kernel, ambient, owner, ir_current(b));
    while (b->regions.count <= region->id)
        vec_push(b->scratch, &b->regions, (struct region_info){0, false});
    return region;
}

void builder_open(struct ir_builder *b, enum frame_kind kind, struct ir_instruction *instruction,
                  struct ir_region *region) {
    b->regions.at[region->id] = (struct region_info){(uint32_t)b->frames.count, true};
    vec_push(b->scratch, &b->frames,
             (struct frame){.kind = kind,
                            .instruction = instruction,
                            .region = region,
                            .undo_mark = b->undo.count,
                            .order_mark = b->orders.count,
                            .learnt_mark = b->orders.count,
                            .told_mark = b->told.count,
                            .buffer_mark = b->kernel->buffers.count});
}

/* Closes the innermost frame; true when something in it has effects. The facts that hold in it go. */
bool builder_close(struct ir_builder *b) {
    struct frame *frame = builder_top(b);
    bool effects = frame->effects;
    facts_undo(b, frame);
    b->regions.at[frame->region->id].open = false;
    bool stores = frame->stores;
    b->frames.count--;
    builder_top(b)->stores |= stores;
    return effects;
}

static struct ir_instruction *top_of_kind(struct ir_builder *b, enum frame_kind kind) {
    if (builder_top(b)->kind != kind)
        fatal_internal("ir", "begin and end of loops and branches do not nest");
    return builder_top(b)->instruction;
}

/* All but tables, which may have been found for what is not left behind, too. */
static void forget_buffers(struct ir_builder *b, size_t mark) {
    size_t kept = mark;
    for (size_t i = mark; i < b->kernel->buffers.count; i++)
        if (b->kernel->buffers.at[i]->memory == MEMORY_TABLE)
            b->kernel->buffers.at[kept++] = b->kernel->buffers.at[i];
    b->kernel->buffers.count = kept;
}

void ir_unwind(struct ir_builder *b, struct ir_region *region) {
    while (builder_top(b)->region != region && b->frames.count > 1) {
        forget_buffers(b, builder_top(b)->buffer_mark);
        builder_top(b)->stores = false; /* they are left behind */
        builder_close(b);
    }
    b->rebuilding = b->outside = 0;
    b->known++;
}

/* The frames above that one stay where they are, and are only out of sight. */
struct ir_region *ir_enter(struct ir_builder *b, const struct ir_region *region) {
    struct ir_region *back = builder_top(b)->region;
    b->outside++;
    b->known++;
    b->frames.count = b->regions.at[region->id].depth + 1;
    return back;
}

void ir_leave(struct ir_builder *b, struct ir_region *back) {
    b->outside--;
    b->known++;
    b->frames.count = b->regions.at[back->id].depth + 1;
}

static void yield_values(struct ir_builder *b, struct ir_region *region, struct ir_value **values, size_t n) {
    for (size_t i = 0; i < n; i++)
        vec_push(b->arena, &region->yields, builder_operand(b, values[i]));
}

static void set_range(struct ir_value *value, struct range range) {
    value->low = range.low;
    value->high = range.high;
}

static struct ir_value *index_value(struct ir_builder *b, struct ir_region *body, const struct ir_value *count,
                                    const char *name) {
    struct ir_value *index = builder_value(b, count->base, body, name);
    int64_t high = b->optimise ? facts_range(b, count).high : count->high;
    set_range(index, (struct range){0, high > 1 ? high - (high != INT64_MAX) : 0});
    return index;
}

static bool is_constant_zero(const struct ir_value *value) {
    return value->is_constant && value->constant.integer == 0;
}

static bool runs_never(const struct ir_value *count) { return count->is_constant && count->high <= 0; }

/* ---- parallel loops ---- */

struct ir_value *ir_begin_forall(struct ir_builder *b, enum level_value outer, enum level_value inner,
                                 struct ir_value *count, const char *name) {
    enum { LAUNCH = 100 }; /* instructions that a device kernel of its own and its launch make */
    struct ir_instruction *loop = builder_instruction(b, IR_FORALL, 1, 0, 1);
    b->instruction_count += outer == LEVEL_GRID ? LAUNCH : 0;
    loop->outer = outer;
    loop->inner = inner;
    loop->operands[0] = builder_operand(b, count);
    loop->region = ir_current(b);
    loop->regions[0] = builder_region(b, inner, loop);
    loop->parameters[0] = index_value(b, loop->regions[0], loop->operands[0], name);
    builder_open(b, FRAME_FORALL, loop, loop->regions[0]);
    facts_runs(b, loop->operands[0], loop->parameters[0]);
    return loop->parameters[0];
}

void ir_end_forall(struct ir_builder *b) {
    struct ir_instruction *loop = top_of_kind(b, FRAME_FORALL);
    bool effects = builder_close(b);
    if (!effects || runs_never(loop->operands[0]))
        return;
    builder_append(b, b->frames.count - 1, loop);
    builder_top(b)->effects = true;
}

/* ---- sequential loops ---- */

static void carry(struct ir_builder *b, struct ir_instruction *loop, size_t at, struct ir_value **carried, size_t n) {
    for (size_t i = 0; i < n; i++) {
        loop->operands[at + i] = builder_operand(b, carried[i]);
        loop->parameters[at + i] = builder_value(b, loop->operands[at + i]->base, loop->regions[0], NULL);
    }
}

struct ir_value *ir_begin_for(struct ir_builder *b, struct ir_value *count, struct ir_value **carried, size_t n,
                              const char *name) {
    struct ir_instruction *loop = builder_instruction(b, IR_FOR, n + 1, n, n + 1);
    loop->operands[0] = builder_operand(b, count);
    loop->region = ir_current(b);
    loop->regions[0] = builder_region(b, ir_ambient(b), loop);
    loop->parameters[0] = index_value(b, loop->regions[0], loop->operands[0], name);
    carry(b, loop, 1, carried, n);
    builder_open(b, FRAME_FOR, loop, loop->regions[0]);
    facts_runs(b, loop->operands[0], loop->parameters[0]);
    for (size_t i = 0; i < n; i++)
        carried[i] = loop->parameters[1 + i];
    return loop->parameters[0];
}

/* Appends a finished loop, unless it does nothing. `next` are the values carried to the next round. */
static void end_loop(struct ir_builder *b, struct ir_instruction *loop, size_t at, const struct ir_region *body,
                     bool effects, bool never, struct ir_value **results) {
    size_t n = loop->result_count;
    bool unchanged = true;
    for (size_t i = 0; i < n; i++) {
        const struct ir_value *next = body->yields.at[i];
        bool same = next == loop->parameters[at + i] || next == loop->operands[at + i];
        unchanged = unchanged && same;
        loop->results[i] = builder_value(b, loop->parameters[at + i]->base, NULL, NULL);
        struct range initial = {loop->operands[at + i]->low, loop->operands[at + i]->high};
        set_range(loop->results[i], range_union(initial, (struct range){next->low, next->high}));
        results[i] = same || never ? loop->operands[at + i] : loop->results[i];
    }
    if (never || (unchanged && !effects))
        return;
    builder_append(b, b->frames.count - 1, loop);
    builder_top(b)->effects |= effects;
}

void ir_end_for(struct ir_builder *b, struct ir_value **next, struct ir_value **results) {
    struct ir_instruction *loop = top_of_kind(b, FRAME_FOR);
    yield_values(b, loop->regions[0], next, loop->result_count);
    bool effects = builder_close(b);
    end_loop(b, loop, 1, loop->regions[0], effects, runs_never(loop->operands[0]), results);
}

void ir_begin_while(struct ir_builder *b, struct ir_value **carried, size_t n, const int64_t *lows,
                    const int64_t *highs) {
    struct ir_instruction *loop = builder_instruction(b, IR_WHILE, n, n, n);
    loop->region = ir_current(b);
    loop->regions[0] = builder_region(b, ir_ambient(b), loop);
    loop->regions[1] = builder_region(b, ir_ambient(b), loop);
    carry(b, loop, 0, carried, n);
    builder_open(b, FRAME_WHILE_CONDITION, loop, loop->regions[0]);
    /* Current values are in scope in both regions; those are at one depth, which is all the builder asks for. */
    b->regions.at[loop->regions[1]->id].depth = (uint32_t)b->frames.count - 1;
    for (size_t i = 0; i < n; i++) {
        carried[i] = loop->parameters[i];
        struct range given, range = {carried[i]->low, carried[i]->high};
        if (lows && highs && !base_info[carried[i]->base].is_floating &&
            range_intersect((struct range){lows[i], highs[i]}, range, &given))
            set_range(carried[i], given);
    }
}

void ir_while_body(struct ir_builder *b, struct ir_value *condition) {
    struct ir_instruction *loop = top_of_kind(b, FRAME_WHILE_CONDITION);
    yield_values(b, loop->regions[0], &condition, 1);
    size_t buffer_mark = builder_top(b)->buffer_mark;
    bool effects = builder_close(b);
    builder_open(b, FRAME_WHILE_BODY, loop, loop->regions[1]);
    builder_top(b)->buffer_mark = buffer_mark;
    builder_top(b)->effects = effects;
    facts_assume(b, loop->regions[0]->yields.at[0], true, (uint32_t)b->frames.count - 1);
}

void ir_end_while(struct ir_builder *b, struct ir_value **next, struct ir_value **results) {
    struct ir_instruction *loop = top_of_kind(b, FRAME_WHILE_BODY);
    yield_values(b, loop->regions[1], next, loop->result_count);
    bool effects = builder_close(b);
    end_loop(b, loop, 0, loop->regions[1], effects, is_constant_zero(loop->regions[0]->yields.at[0]), results);
    for (size_t i = 0; i < loop->result_count; i++) /* it may be a current value with a range that was promised */
        if (results[i] == loop->results[i])
            set_range(results[i], range_union((struct range){results[i]->low, results[i]->high},
                                              (struct range){loop->parameters[i]->low, loop->parameters[i]->high}));
}

/* ---- branches ---- */

void ir_begin_if(struct ir_builder *b, struct ir_value *condition) {
    struct ir_instruction *branch = builder_instruction(b, IR_IF, 1, 0, 0);
    b->instruction_count += 2; /* with its regions it takes the memory of three */
    branch->operands[0] = builder_operand(b, condition);
    branch->region = ir_current(b);
    for (int i = 0; i < 2; i++)
        branch->regions[i] = builder_region(b, ir_ambient(b), branch);
    builder_open(b, FRAME_THEN, branch, branch->regions[0]);
    facts_branch(b, branch->operands[0], true);
}

void ir_else(struct ir_builder *b, struct ir_value **yields, size_t n) {
    struct ir_instruction *branch = top_of_kind(b, FRAME_THEN);
    yield_values(b, branch->regions[0], yields, n);
    size_t buffer_mark = builder_top(b)->buffer_mark;
    bool effects = builder_close(b);
    builder_open(b, FRAME_ELSE, branch, branch->regions[1]);
    builder_top(b)->buffer_mark = buffer_mark;
    builder_top(b)->effects = effects;
    facts_branch(b, branch->operands[0], false);
}

/* The value that a branch yields, if it also exists outside of the branch; else NULL. */
static struct ir_value *outside(const struct ir_builder *b, struct ir_value *value) {
    return !value->region || b->regions.at[value->region->id].open ? value : NULL;
}

/* A result that needs no branch: both sides give the same, or what a selection of theirs comes to,
   as the condition itself. */
static struct ir_value *plain_result(struct ir_builder *b, const struct ir_instruction *branch, size_t i) {
    struct ir_value *x = outside(b, branch->regions[0]->yields.at[i]);
    struct ir_value *y = outside(b, branch->regions[1]->yields.at[i]);
    if (!x || !y || b->optimise == 0)
        return NULL;
    if (x == y)
        return x;
    if (branch->regions[0]->instructions.count + branch->regions[1]->instructions.count == 0)
        return ir_ternary(b, OP_SELECT, branch->operands[0], x, y);
    return builder_selected(b, branch->operands[0], x, y);
}

/* note [values that leave a branch] */
static void export_values(struct ir_builder *b, struct ir_instruction *branch) {
    for (int side = 0; side < 2; side++) {
        struct ir_region *region = branch->regions[side], *other = branch->regions[!side];
        for (size_t i = 0; i < region->instructions.count; i++)
            for (size_t r = 0; r < region->instructions.at[i]->result_count; r++) {
                struct ir_value *inner = region->instructions.at[i]->results[r];
                vec_push(b->arena, &region->yields, inner);
                vec_push(b->arena, &other->yields, builder_integer(b, inner->base, 0));
            }
    }
}

static void make_results(struct ir_builder *b, struct ir_instruction *branch, size_t n, struct ir_value **results) {
    branch->result_count = branch->regions[0]->yields.count;
    branch->results = ARENA_ARRAY(b->arena, struct ir_value *, branch->result_count + 1);
    for (size_t i = 0; i < branch->result_count; i++) {
        struct ir_value *x = branch->regions[0]->yields.at[i], *y = branch->regions[1]->yields.at[i];
        struct ir_value *result = builder_value(b, x->base, NULL, NULL);
        set_range(result, range_union((struct range){x->low, x->high}, (struct range){y->low, y->high}));
        branch->results[i] = result;
        if (i < n) {
            results[i] = plain_result(b, branch, i);
            if (!results[i])
                results[i] = result;
            continue;
        }
        struct ir_value *inner = x->definition && x->region == branch->regions[0] ? x : y;
        result->name = inner->name;
        facts_of(b, inner)->resolved = result;
    }
}

/* ---- branches that are && or || ---- */

struct ir_value *builder_again(struct ir_builder *b, const struct ir_instruction *operation, struct ir_value **x) {
    if (operation->operand_count == 1)
        return ir_unary_to(b, operation->op, x[0], operation->results[0]->base);
    return operation->operand_count == 2 ? ir_binary(b, operation->op, x[0], x[1])
                                         : ir_ternary(b, operation->op, x[0], x[1], x[2]);
}

/* c ? x : false and c ? true : x, where x is cheap, as an operation instead of a branch: so the
   branches that depend on it know what c and x say, and where the same is asked again it is found.
   NULL where it must stay a branch. */
static struct ir_value *as_logical(struct ir_builder *b, const struct ir_instruction *branch) {
    for (int side = 0; side < 2; side++) {
        const struct ir_region *region = branch->regions[side], *other = branch->regions[!side];
        const struct ir_value *short_cut = other->yields.at[0];
        if (short_cut->base != BASE_BOOL || !short_cut->is_constant || short_cut->constant.integer != side ||
            other->instructions.count > 0 || region->instructions.count > ANY_LOGICAL)
            continue;
        bool cheap = true;
        for (size_t i = 0; i < region->instructions.count; i++)
            cheap = cheap && ir_is_cheap(region->instructions.at[i]);
        if (!cheap)
            continue;
        /* Outside of the branch its condition tells nothing about them. */
        for (size_t i = 0; i < region->instructions.count; i++) {
            const struct ir_instruction *operation = region->instructions.at[i];
            struct ir_value *value = builder_again(b, operation, operation->operands);
            facts_of(b, operation->results[0])->resolved = value;
        }
        return ir_binary(b, side == 0 ? OP_AND : OP_OR, branch->operands[0], region->yields.at[0]);
    }
    return NULL;
}

void ir_end_if(struct ir_builder *b, struct ir_value **yields, struct ir_value **results, size_t n, bool export_all) {
    struct ir_instruction *branch = top_of_kind(b, FRAME_ELSE);
    yield_values(b, branch->regions[1], yields, n);
    bool effects = builder_close(b);
    if (n == 1 && !effects && !export_all && b->optimise > 0) {
        struct ir_value *logical = as_logical(b, branch);
        if (logical) {
            results[0] = logical;
            return;
        }
    }
    if (export_all)
        export_values(b, branch);
    make_results(b, branch, n, results);
    bool needed = effects || branch->result_count > n;
    for (size_t i = 0; i < n; i++)
        needed = needed || results[i] == branch->results[i];
    if (!needed)
        return;
    builder_append(b, b->frames.count - 1, branch);
    builder_top(b)->effects |= effects;
}

void ir_end_only(struct ir_builder *b) {
    ir_else(b, NULL, 0);
    ir_end_if(b, NULL, NULL, 0, false);
}

/* ---- branches that may be none ---- */

enum ir_truth ir_begin_choice(struct ir_builder *b, struct ir_value *condition) {
    enum ir_truth truth = ir_known(b, condition);
    if (truth == IR_UNKNOWN)
        ir_begin_if(b, condition);
    return truth;
}

void ir_other_choice(struct ir_builder *b, enum ir_truth truth) {
    if (truth == IR_UNKNOWN)
        ir_else(b, NULL, 0);
}

void ir_end_choice(struct ir_builder *b, enum ir_truth truth) {
    if (truth == IR_UNKNOWN)
        ir_end_if(b, NULL, NULL, 0, false);
}

void ir_end_only_choice(struct ir_builder *b, enum ir_truth truth) {
    ir_other_choice(b, truth);
    ir_end_choice(b, truth);
}

/* ---- what would hold ---- */

bool ir_implies(struct ir_builder *b, struct ir_value *condition, struct ir_value *conclusion) {
    if (b->optimise == 0 || ir_known(b, condition) != IR_UNKNOWN)
        return ir_known(b, condition) == IR_FALSE || ir_prove(b, conclusion);
    struct ir_region *here = ir_current(b);
    ir_begin_if(b, condition);
    bool is_proved = ir_prove(b, conclusion);
    ir_unwind(b, here);
    return is_proved;
}
