/* The loop mapping, for CPUs: one work-item does a contiguous range of the grid's iterations,
   everything inside is plain nested loops, and the threads of a block are the innermost one, at
   unit stride, for the device's compiler to vectorise. A barrier is just the end of a loop. */
#include <inttypes.h>

#include "ir/build/linear.h"
#include "ir/machine.h"
#include "map/lower.h"

/* Nothing in the loop that could keep it from being one vector loop, or that its iterations share. */
static bool is_simple(const struct target_block *body) {
    for (size_t i = 0; i < body->statements.count; i++) {
        const struct target_statement *statement = body->statements.at[i];
        switch (statement->kind) {
        case TARGET_DECLARE:
        case TARGET_ASSIGN:
        case TARGET_STORE: break;
        case TARGET_ATOMIC:
        case TARGET_FENCE:
        case TARGET_SHUFFLE:
        case TARGET_COPY:
        case TARGET_END_COPIES:
        case TARGET_NOW:
        case TARGET_MMA:
        case TARGET_HOLD_ROWS:
        case TARGET_CHECK: return false;
        case TARGET_IF:
            if (!is_simple(&statement->body) || !is_simple(&statement->other))
                return false;
            break;
        case TARGET_DECLARE_ARRAY:
        case TARGET_DECLARE_POINTER:
        case TARGET_FOR:
        case TARGET_WHILE:
        case TARGET_LEAVE_UNLESS:
        case TARGET_BLOCK_BARRIER:
        case TARGET_WARP_BARRIER: return false;
        }
    }
    return true;
}

/* One iteration: of the grid, the first work-item does it. */
static void lower_single(struct lowering *l, const struct ir_instruction *forall) {
    const struct ir_value *index = forall->parameters[0];
    lower_bind(l, index, expr_integer(l, index->base, 0));
    if (forall->outer != LEVEL_GRID) {
        lower_region(l, forall->regions[0]);
        return;
    }
    struct target_statement *only = lower_emit(l, TARGET_IF);
    only->value = expr_operation(l, OP_EQ, BASE_BOOL, expr_hardware(l, TARGET_BLOCK_ID), expr_integer(l, BASE_I32, 0));
    struct lower_scope scope = lower_enter(l, &only->body);
    lower_region(l, forall->regions[0]);
    lower_leave(l, scope);
}

/* Is there, in a loop inside of the region's, an access that is steps of more than one element
   apart from iteration to iteration? */
static bool has_strides(const struct ir_region *region, const struct ir_value *index) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk)) {
        walk.goes_around = walk.at->kind == IR_FOR;
        for (struct ir_walk inner = ir_walk_of(walk.at); walk.goes_around && inner.at; ir_next(&inner)) {
            struct linear place;
            if (ir_is_access(inner.at) && linear_expand(inner.at->operands[0], &place) &&
                imaxabs(linear_coefficient(&place, index)) > 1)
                return true;
        }
    }
    return false;
}

/* So much for each float that vectors are worth it, though their elements are gathered: a division,
   or the greater of two, which is several comparisons. Measured: a running sum is faster without. */
static bool has_long_floats(const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk)) {
        const struct ir_instruction *at = walk.at;
        if (at->kind == IR_OPERATION && base_info[at->results[0]->base].is_floating &&
            (at->op == OP_MIN || at->op == OP_MAX || !ir_is_cheap(at)))
            return true;
    }
    return false;
}

/* Are there so few iterations that C's compiler makes each by itself, which then knows the places in
   a block's arrays that vectors would gather from? Measured: networks that sort 16 elements take a
   seventh of the time so; of 32 there is no difference. */
static bool is_better_unrolled(const struct lowering *l, const struct ir_instruction *forall) {
    if (!pass_wanted(l->options->passes, PASS_FEW_ROUNDS) || !forall->operands[0]->is_constant ||
        forall->operands[0]->high > CPU_PEELED)
        return false;
    struct linear place;
    for (struct ir_walk walk = ir_walk_of(forall); walk.at; ir_next(&walk)) {
        if (!ir_is_access(walk.at) || walk.at->buffer->memory < MEMORY_SHARED)
            continue;
        if (!linear_expand(walk.at->operands[0], &place))
            return true;
        for (size_t k = 0; k < place.count; k++)
            if (place.term[k].value != forall->parameters[0] && lower_varies(forall, place.term[k].value))
                return true;
    }
    return false;
}

/* `restarts`: LLVM 15 might use its index again, note [restarted indices]. */
static enum target_vectors vectors_of(const struct lowering *l, const struct ir_instruction *forall,
                                      const struct target_block *body, bool restarts) {
    struct pass_run *passes = l->options->passes;
    if (lower_vectors_lose_stores(forall) || lower_steps_wrap(forall->regions[0]))
        return TARGET_VECTORS_NONE;
    /* Iterations that change one place must not run together, even where a block is one thread and
       needs no atomics for it. */
    bool may_be = is_simple(body) && !ir_has(forall, IR_ATOMIC), is_short = may_be && is_better_unrolled(l, forall);
    if (is_short)
        pass_changed(passes, PASS_FEW_ROUNDS);
    if (may_be && !is_short && pass_wanted(passes, PASS_SIMD)) {
        pass_changed(passes, PASS_SIMD);
        return restarts ? TARGET_VECTORS_WANTED_EIGHT : TARGET_VECTORS_WANTED;
    }
    if (has_strides(forall->regions[0], forall->parameters[0]))
        return TARGET_VECTORS_WITHIN;
    return restarts && lower_has_narrow(forall->regions[0]) ? TARGET_VECTORS_EIGHT : TARGET_VECTORS_ANY;
}

/* Does it change elements of a block's array, for which a block of one thread needs no atomics? */
static bool updates_within_block(const struct ir_instruction *forall) {
    for (struct ir_walk walk = ir_walk_of(forall); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_ATOMIC && walk.at->buffer->memory == MEMORY_SHARED)
            return true;
    return false;
}

static void set_vectors(struct lowering *l, struct target_statement *loop, const struct ir_instruction *forall,
                        bool restarts) {
    loop->vectors = vectors_of(l, forall, &loop->body, restarts);
    bool is_strided = loop->vectors == TARGET_VECTORS_WITHIN && !has_long_floats(forall->regions[0]);
    if (is_strided && lower_has_quirk(l, QUIRK_STRIDED_VECTORS)) {
        loop->is_strided = true;
        l->target->quirks |= quirk_bit(QUIRK_STRIDED_VECTORS);
    }
    lower_keep_order(l, loop, updates_within_block(forall));
}

/* The body, of which one side of a branch at borders. */
static void lower_body(struct lowering *l, const struct ir_instruction *forall, bool is_inside) {
    const struct ir_instruction *branch = borders_of(forall);
    if (branch) {
        lower_bind(l, branch->operands[0], expr_integer(l, BASE_BOOL, is_inside));
        uses_count_unbound(l, forall);
    }
    lower_region(l, forall->regions[0]);
    if (branch) {
        uses_clear(l->uses, forall->regions[0]);
        uses_count(l->uses, l->kernel, forall);
    }
}

/* note [rows] in rows.c: whole rows of a length that is known. */
static void lower_whole_rows(struct lowering *l, struct rows *rows) {
    const struct ir_instruction *forall = rows->loop;
    const struct ir_value *index = forall->parameters[0];
    struct target_expr *width;
    struct lower_scope outer = rows_enter_whole(l, rows, &width);
    struct target_statement *loop = lower_emit(l, TARGET_FOR);
    loop->value = expr_integer(l, index->base, 0);
    loop->limit = width;
    loop->step = expr_integer(l, index->base, 1);
    struct lower_scope inner = lower_enter(l, &loop->body);
    loop->variable = lower_variable(l, index->base, "column", "column");
    struct target_expr *column = expr_variable(l, loop->variable, 0, width->constant.integer - 1);
    struct target_expr *whole = expr_operation(l, OP_ADD, index->base, rows->start, column);
    if (l->uses[index->id].count > rows->operations)
        whole = lower_named(l, whole, index->name, "i");
    lower_bind(l, index, whole);
    rows_bind(l, rows, whole, column);
    lower_body(l, forall, false);
    /* A row is a power of two long: it leaves nothing to shorter vectors, or longer ones do not
       come to run. */
    set_vectors(l, loop, forall, false);
    lower_leave(l, inner);
    lower_leave(l, outer);
}

/* note [tickets] in ir.h: ranges fixed beforehand would let the second work-item wait for all that
   the first one does. */
static void lower_tickets(struct lowering *l, const struct ir_instruction *forall) {
    const struct ir_value *index = forall->parameters[0];
    struct target_expr *limit = expr_convert(l, lower_simple(l, forall->operands[0], "count"), BASE_U32);
    struct target_statement *loop = lower_emit(l, TARGET_WHILE);
    struct lower_scope scope = lower_enter(l, &loop->body);
    struct target_expr *ticket = lower_ticket(l, forall);
    lower_emit(l, TARGET_LEAVE_UNLESS)->value = expr_operation(l, OP_LT, BASE_BOOL, ticket, limit);
    lower_bind(l, index, lower_named(l, expr_convert(l, ticket, index->base), index->name, "i"));
    lower_region(l, forall->regions[0]);
    lower_leave(l, scope);
}

/* The part of a parallel loop that one loop does: a row of `rows`, and of that row the iterations inside of borders. */
struct loop_part {
    const struct ir_instruction *forall;
    const struct rows *rows; /* or NULL */
    bool is_inside;
};

/* The body of the loop, or the side of its branch on borders that this part does. */
static const struct ir_region *body_of(const struct loop_part *part) {
    const struct ir_instruction *branch = borders_of(part->forall);
    return branch ? branch->regions[part->is_inside ? 0 : 1] : part->forall->regions[0];
}

/* False: it is to go by so many vectors at a time (0: by elements), and cannot. */
static bool lower_loop(struct lowering *l, const struct loop_part *part, struct target_expr *first,
                       struct target_expr *limit, int vectors) {
    const struct ir_instruction *forall = part->forall;
    const struct ir_value *index = forall->parameters[0];
    struct target_statement *loop = lower_emit(l, TARGET_FOR);
    loop->value = first;
    loop->limit = limit;
    loop->step = expr_integer(l, index->base, 1);
    struct lower_scope scope = lower_enter(l, &loop->body);
    loop->variable = lower_variable(l, index->base, index->name, "i");
    lower_bind(l, index, expr_variable(l, loop->variable, index->low, index->high));
    if (part->rows)
        rows_bind(l, part->rows, lower_value(l, index), NULL);
    lower_body(l, forall, part->is_inside);
    if (forall->inner == LEVEL_THREAD)
        set_vectors(l, loop, forall, lower_restarts_index(l->arena, forall));
    bool is_good = !vectors || vectors_of_calls(l, loop, vectors);
    lower_leave(l, scope);
    return is_good;
}

static bool has_calls(const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_OPERATION && ir_op_is_call(walk.at->op))
            return true;
    return false;
}

/* True if the region has a loop that will not be unrolled. Compilers see through unrolled loops. */
static bool has_rounds(const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_WHILE || (walk.at->kind == IR_FOR && !IR_PART(walk.at, loop).unroll))
            return true;
    return false;
}

/* Nothing but computing, loads and stores, and branches and loops of these. */
static bool is_plain(const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk)) {
        const struct ir_instruction *at = walk.at;
        if (at->kind != IR_OPERATION && !ir_is_access(at) && at->kind != IR_IF && at->kind != IR_WHILE &&
            at->kind != IR_FOR)
            return false;
    }
    return true;
}

static bool has_loops(const struct ir_region *region) {
    for (size_t i = 0; i < region->instructions.count; i++)
        if (((const struct ir_instruction *)region->instructions.at[i])->regions[0])
            return true;
    return false;
}

/* The one loop of a region in which nothing else has regions, or NULL. */
static const struct ir_instruction *only_loop(const struct ir_region *region) {
    const struct ir_instruction *rounds = NULL;
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *instruction = region->instructions.at[i];
        bool is_loop =
            instruction->kind == IR_WHILE || (instruction->kind == IR_FOR && !IR_PART(instruction, loop).unroll);
        if (is_loop && !rounds)
            rounds = instruction;
        else if (instruction->regions[0])
            return NULL;
    }
    return rounds;
}

/* How many numbers a loop of loops adds to in each of its few instructions; 0: it is another. */
static size_t count_sums(const struct ir_instruction *rounds) {
    const struct ir_region *round = rounds->regions[0];
    if (rounds->kind != IR_FOR)
        return 0;
    for (size_t i = 0; i < rounds->result_count; i++)
        if (rounds->results[i]->base != BASE_F32)
            return 0;
    if (!has_loops(round))
        return round->instructions.count <= CPU_ABREAST_ROUND * rounds->result_count ? rounds->result_count : 0;
    const struct ir_instruction *inner = only_loop(round);
    return inner && inner->result_count == rounds->result_count ? count_sums(inner) : 0;
}

/* Note [abreast] in vectors.c: the vectors that go at once, at most, through a loop whose rounds wait for
   each other, where an iteration does little else; 0: that is not so. */
static int count_abreast(const struct lowering *l, const struct ir_region *region) {
    const struct ir_instruction *rounds = only_loop(region);
    if (!rounds || has_calls(region))
        return 0;
    if (rounds->kind == IR_WHILE)
        return has_loops(rounds->regions[0]) || has_loops(rounds->regions[1]) ? 0 : CPU_ABREAST_MASKED;
    size_t sums = rounds->operands[0]->region == region ? 0 : count_sums(rounds);
    return sums ? (l->options->has_vectors ? CPU_ABREAST : CPU_ABREAST_REGISTERS) / (int)sums : 0;
}

/* Note [calls] in vectors.c: as many iterations as go by vectors, so many of these at a time, or
   none. Gives where that ends. */
static struct target_expr *lower_vectors(struct lowering *l, const struct loop_part *part, struct target_expr *first,
                                         struct target_expr *limit, int vectors) {
    const struct ir_instruction *forall = part->forall;
    enum base base = forall->parameters[0]->base;
    bool is_wanted = has_rounds(forall->regions[0]) || (l->options->has_vectors && has_calls(forall->regions[0]));
    struct pass_run *passes = l->options->passes, before_it = *passes;
    if (!pass_wanted(passes, PASS_VECTOR_LOOPS) || !is_wanted || forall->inner != LEVEL_THREAD ||
        !is_plain(forall->regions[0]))
        return first;
    size_t before = l->block->statements.count;
    bool is_constant = first->kind == TARGET_EXPR_CONSTANT && limit->kind == TARGET_EXPR_CONSTANT;
    int64_t count = is_constant ? limit->constant.integer - first->constant.integer : INT64_MAX;
    int64_t lanes = (int64_t)vectors * (l->options->has_vectors ? TARGET_LANES : CPU_FEW_LANES);
    if (count < lanes)
        return first;
    struct target_expr *end;
    if (is_constant && count % ((int64_t)vectors * TARGET_LANES) == 0) {
        end = limit;
    } else if (is_constant && l->options->has_vectors) {
        end = expr_integer(l, base, limit->constant.integer - count % lanes);
    } else {
        /* A limit before `first` leaves no iterations to either loop: rounded to 0, `whole` is no less than it. */
        struct target_expr *at_once = vectors_iterations(l, base, vectors);
        struct target_expr *left = expr_operation(l, OP_SUB, base, limit, first);
        struct target_expr *whole =
            expr_operation(l, OP_MUL, base, expr_operation(l, OP_DIV, base, left, at_once), at_once);
        end = lower_named(l, expr_operation(l, OP_ADD, base, first, whole), NULL, "whole");
    }
    bool is_good = lower_loop(l, part, first, end, vectors);
    lower_forget(l, forall->regions[0]);
    if (!is_good) {
        l->block->statements.count = before;
        *passes = before_it;
    } else {
        pass_changed(passes, vectors > 1 ? PASS_ABREAST : PASS_VECTOR_LOOPS);
    }
    return is_good ? end : first;
}

static void lower_part(struct lowering *l, const struct loop_part *part, struct target_expr *first,
                       struct target_expr *limit) {
    bool is_wanted = pass_wanted(l->options->passes, PASS_ABREAST);
    int abreast = is_wanted ? count_abreast(l, body_of(part)) : 0;
    if (abreast > CPU_ABREAST)
        first = lower_vectors(l, part, first, limit, abreast);
    if (abreast > 1)
        first = lower_vectors(l, part, first, limit, abreast < CPU_ABREAST ? abreast : CPU_ABREAST);
    if (first != limit)
        first = lower_vectors(l, part, first, limit, 1);
    if (first != limit)
        lower_loop(l, part, first, limit, 0);
}

/* ---- what is the same in a row ---- */

static bool is_within(const struct ir_instruction *around, const struct ir_value *value) {
    for (size_t r = 0; r < 2; r++)
        if (around->regions[r] && ir_region_inside(value->region, around->regions[r]))
            return true;
    return false;
}

/* Only operations, on what is the same in the row. */
static bool is_of_row(const struct lowering *l, const struct rows *rows, const struct ir_instruction *around) {
    for (struct ir_walk walk = ir_walk_of(around); walk.at; ir_next(&walk)) {
        if ((walk.at->kind != IR_OPERATION && walk.at->kind != IR_IF) || !walk.at->result_count)
            return false;
        if (l->values[walk.at->results[0]->id])
            continue;
        for (size_t i = 0; ir_taken(walk.at, i); i++) {
            const struct ir_value *taken = *ir_taken(walk.at, i);
            if (lower_varies(rows->loop, taken) && !l->values[taken->id] && !is_within(around, taken))
                return false;
        }
    }
    return true;
}

static bool is_long(const struct ir_instruction *at) {
    return at->kind == IR_OPERATION && (at->op == OP_DIV || at->op == OP_REM);
}

/* C compilers move neither branches out of a loop nor divisions, which are branches. */
static void keep_of_row(struct lowering *l, struct rows *rows) {
    const struct ir_region *region = rows->loop->regions[0];
    rows_bind_quotients(l, rows);
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *at = region->instructions.at[i];
        bool is_known = !at->result_count || l->values[at->results[0]->id];
        if (is_known || !is_of_row(l, rows, at))
            continue;
        lower_instruction(l, at);
        for (size_t k = 0; k < at->result_count; k++) {
            struct kept_value kept = {at->results[k], l->values[at->results[k]->id]};
            if (kept.expr && kept.expr->size && is_long(at)) {
                kept.expr = lower_named(l, kept.expr, at->results[k]->name, "of_row");
                lower_bind(l, kept.value, kept.expr);
            }
            if (kept.expr)
                vec_push(l->arena, &rows->kept, kept);
        }
    }
    lower_forget(l, region);
}

static struct kept_value *find_kept(struct rows *rows, const struct ir_value *value) {
    for (size_t i = 0; i < rows->kept.count; i++)
        if (rows->kept.at[i].value == value)
            return &rows->kept.at[i];
    return NULL;
}

/* A condition of branches in the body that is the same in a row, or NULL. */
static struct kept_value *find_condition(struct rows *rows, const struct ir_region *body) {
    for (struct ir_walk walk = ir_walk(body); walk.at; ir_next(&walk)) {
        if (walk.at->kind != IR_IF)
            continue;
        walk.goes_around = walk.at->result_count && find_kept(rows, walk.at->results[0]);
        struct kept_value *condition = walk.goes_around ? NULL : find_kept(rows, walk.at->operands[0]);
        if (condition)
            return condition;
    }
    return NULL;
}

/* ---- ranges ---- */

static void lower_inside(struct lowering *l, const struct loop_part *part, struct rows *rows, struct target_expr *first,
                         struct target_expr *limit) {
    struct kept_value *condition = rows && !rows->are_single ? find_condition(rows, body_of(part)) : NULL;
    if (!condition) {
        lower_part(l, part, first, limit);
        return;
    }
    struct target_expr *expr = condition->expr;
    struct target_statement *branch = lower_emit(l, TARGET_IF);
    branch->value = expr;
    for (int truth = 1; truth >= 0; truth--) {
        condition->expr = expr_integer(l, BASE_BOOL, truth);
        struct lower_scope scope = lower_enter(l, truth ? &branch->body : &branch->other);
        lower_part(l, part, first, limit);
        lower_leave(l, scope);
        lower_forget(l, part->forall->regions[0]);
    }
    condition->expr = expr;
}

static void lower_range(struct lowering *l, const struct ir_instruction *forall, struct rows *rows,
                        struct target_expr *first, struct target_expr *limit) {
    struct loop_part part = {forall, rows, false};
    struct target_expr *inside = first, *outside = limit;
    if (!borders_enter(l, forall, rows, &inside, &outside)) {
        lower_part(l, &part, first, limit);
        return;
    }
    struct lower_scope scope = borders_enter_others(l, inside, outside, &first, &limit);
    lower_loop(l, &part, first, limit, 0);
    lower_leave(l, scope);
    lower_forget(l, forall->regions[0]);
    part.is_inside = true;
    lower_inside(l, &part, rows, inside, outside);
}

/* Rows of one element are a loop without divisions, rather than loops of one iteration each. */
static void lower_rows(struct lowering *l, struct rows *rows, struct target_expr *first, struct target_expr *limit) {
    struct lower_scope here = {l->block, 0};
    if (rows->is_single) {
        struct target_statement *branch = lower_emit(l, TARGET_IF);
        branch->value = rows->is_single;
        here = lower_enter(l, &branch->body);
        rows->are_single = true;
        lower_range(l, rows->loop, rows, first, limit);
        lower_forget(l, rows->loop->regions[0]);
        rows->are_single = false;
        lower_leave(l, here);
        here = lower_enter(l, &branch->other);
    }
    struct lower_scope scope = rows_enter(l, rows, &first, &limit);
    keep_of_row(l, rows);
    lower_range(l, rows->loop, rows, first, limit);
    lower_leave(l, scope);
    if (rows->is_single)
        lower_leave(l, here);
}

/* note [ranges]
   Each group does a range of the iterations. Where the iterations are threads that only compute, a
   range is of whole vectors: the rest of a range goes element by element, and where each has a loop
   of its own, 15 such elements take longer than 15 vectors. Likewise whole rows, note [rows], where
   a range has room for one. But iterations that do so much that a range has less than a vector are
   shared out one by one. The counts that are divided here are natural: loop_forall makes a count
   below 0 one of 0. */

static struct target_expr *group_count(struct lowering *l) {
    struct target_expr *groups = expr_hardware(l, TARGET_BLOCK_COUNT);
    groups->low = 1;
    return groups;
}

/* The iterations that stay together: note [ranges]. */
static struct target_expr *unit_of(struct lowering *l, const struct rows *rows, struct target_expr *count) {
    struct target_expr *lanes = expr_integer(l, BASE_I32, TARGET_LANES), *unit = lanes;
    bool is_by_rows = rows && expr_is_integer(rows->begin, 0), has_vectors = l->target->worth >= 2 * TARGET_LANES;
    if (!is_by_rows && has_vectors)
        return unit;
    struct target_expr *range = expr_operation(l, OP_DIV, BASE_I64, count, group_count(l));
    if (is_by_rows)
        range = lower_named(l, range, NULL, "range");
    if (!has_vectors)
        unit = expr_choice(l, expr_operation(l, OP_LT, BASE_BOOL, range, lanes), expr_integer(l, BASE_I32, 1), lanes);
    if (is_by_rows) {
        struct target_expr *is_short = expr_operation(l, OP_LT, BASE_BOOL, rows->width, lanes);
        struct target_expr *is_long = expr_operation(l, OP_LT, BASE_BOOL, range, rows->width);
        unit = expr_choice(l, expr_operation(l, OP_OR, BASE_BOOL, is_short, is_long), unit, rows->width);
    }
    unit = lower_named(l, unit, NULL, "unit");
    unit->low = 1;
    return unit;
}

/* Where the range of a group begins: units * group / groups * unit, in 64 bits. */
static struct target_expr *range_begin(struct lowering *l, struct target_expr *units, struct target_expr *unit,
                                       struct target_expr *group, enum base base) {
    struct target_expr *begin = expr_operation(l, OP_MUL, BASE_I64, units, group);
    begin = expr_operation(l, OP_DIV, BASE_I64, begin, group_count(l));
    return expr_convert(l, unit ? expr_operation(l, OP_MUL, BASE_I64, begin, unit) : begin, base);
}

static void lower_ranges(struct lowering *l, const struct ir_instruction *forall, const struct rows *rows,
                         struct target_expr **first, struct target_expr **limit) {
    enum base base = forall->parameters[0]->base;
    struct target_expr *count = *limit, *units = expr_convert(l, count, BASE_I64), *unit = NULL;
    bool is_wanted = pass_wanted(l->options->passes, PASS_RANGES);
    if (is_wanted && forall->inner == LEVEL_THREAD && is_plain(forall->regions[0])) {
        pass_changed(l->options->passes, PASS_RANGES);
        unit = unit_of(l, rows, units);
        struct target_expr *most = expr_operation(l, OP_SUB, BASE_I32, unit, expr_integer(l, BASE_I32, 1));
        units = expr_operation(l, OP_ADD, BASE_I64, units, most);
        units = lower_named(l, expr_operation(l, OP_DIV, BASE_I64, units, unit), NULL, "units");
    }
    struct target_expr *group = expr_hardware(l, TARGET_BLOCK_ID);
    struct target_expr *next = expr_operation(l, OP_ADD, BASE_I64, group, expr_integer(l, BASE_I32, 1));
    struct target_expr *end = range_begin(l, units, unit, next, base);
    /* The last unit is not whole. */
    if (unit)
        end = expr_choice(l, expr_operation(l, OP_LT, BASE_BOOL, next, group_count(l)), end, count);
    *first = lower_named(l, range_begin(l, units, unit, group, base), NULL, "first");
    *limit = lower_named(l, end, NULL, "end");
}

void loop_forall(struct lowering *l, const struct ir_instruction *forall) {
    const struct ir_value *index = forall->parameters[0], *count = forall->operands[0];
    if (count->is_constant && count->constant.integer == 1) {
        lower_single(l, forall);
        return;
    }
    bool may_be_rows = forall->inner == LEVEL_THREAD && pass_wanted(l->options->passes, PASS_ROWS);
    struct rows *rows = may_be_rows ? rows_find(l, forall) : NULL;
    if (rows)
        pass_changed(l->options->passes, PASS_ROWS);
    if (rows && rows->are_whole) {
        lower_whole_rows(l, rows);
        return;
    }
    if (forall->buffer) {
        lower_tickets(l, forall);
        return;
    }
    struct target_expr *first = expr_integer(l, index->base, 0), *limit = lower_simple(l, count, "count");
    if (rows)
        rows_begin(l, rows);
    if (forall->outer == LEVEL_GRID) {
        if (count->low < 0)
            limit = lower_named(l, expr_operation(l, OP_MAX, count->base, limit, expr_integer(l, count->base, 0)), NULL,
                                "count");
        lower_ranges(l, forall, rows, &first, &limit);
    }
    rows ? lower_rows(l, rows, first, limit) : lower_range(l, forall, NULL, first, limit);
}

/* Large arrays of a block would overflow the stack of a worker thread. */
void loop_declare(struct lowering *l, struct extent *extent) {
    struct ir_buffer *buffer = extent->buffer;
    if (buffer->memory != MEMORY_SHARED && buffer->memory != MEMORY_PRIVATE)
        return;
    int64_t limit = l->options->stack_limit ? l->options->stack_limit : CPU_BLOCK_STACK;
    if (buffer->capacity->is_constant) {
        int64_t bytes = buffer->capacity->constant.integer * (int64_t)target_element_bytes(buffer->element);
        if (l->stack_bytes + bytes <= limit) {
            l->stack_bytes += bytes;
            lower_private_array(l, buffer, buffer->memory == MEMORY_SHARED ? CPU_ALIGNMENT : 0);
            return;
        }
    }
    lower_scratch(l, buffer, LEVEL_BLOCK, expr_hardware(l, TARGET_BLOCK_ID));
}

/* note [worth]
   A block of few iterations costs more than it gains: it begins anew with vectors, and has to be
   taken by a thread. So a block has thousands of those that do little. But where each does much, as
   a loop of its own, already a few hundred of them take long, and are to be shared out among all
   cores. So what an iteration does is estimated, by what is known when the kernel is compiled. */

static int64_t work_of(const struct ir_region *region) {
    int64_t work = 0;
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *instruction = region->instructions.at[i];
        int64_t own = 1, rounds = 1, inside = 0;
        if (instruction->kind == IR_OPERATION && !ir_is_cheap(instruction))
            own = CPU_LONG_WORK;
        int sides = instruction->kind == IR_IF && IR_PART(instruction, branch).is_inside ? 1 : 2;
        for (int k = 0; k < sides && instruction->regions[k]; k++)
            inside += work_of(instruction->regions[k]);
        if (ir_is_loop(instruction)) {
            const struct ir_value *count = instruction->kind == IR_WHILE ? NULL : instruction->operands[0];
            rounds = !count || !count->is_constant ? CPU_ROUNDS : count->constant.integer;
        }
        if (rounds > 0)
            work += own + (rounds < CPU_BLOCK_WORK ? rounds : CPU_BLOCK_WORK) * inside;
        if (work >= CPU_BLOCK_WORK)
            return CPU_BLOCK_WORK;
    }
    return work;
}

static int worth_of(const struct ir_region *body) {
    int64_t work = work_of(body);
    return (int)(CPU_BLOCK_WORK / (work < CPU_LEAST_WORK ? CPU_LEAST_WORK : work));
}

void loop_begin(struct lowering *l) {
    l->target->worth = worth_of(l->forall->regions[0]);
    loop_forall(l, l->forall);
    if (lower_has_quirk(l, QUIRK_HALF_VECTORS))
        l->target->quirks |= quirk_bit(QUIRK_HALF_VECTORS);
    if (pass_wanted(l->options->passes, PASS_VECTOR_ARRAYS))
        vectors_make(l);
    if (pass_wanted(l->options->passes, PASS_CONDITIONS))
        conditions_mark(l, &l->target->body);
    if (l->options->where == ON_C && pass_wanted(l->options->passes, PASS_SELECTIONS))
        selections_mark(l, &l->target->body);
}
