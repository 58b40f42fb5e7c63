/* Replaces values, moves instructions. */
#include "ir/passes/rewrite.h"

#include <string.h>

#include "ir/build/fold.h"
#include "ir/build/range.h"
#include "ir/walk.h"

struct replacements rewrite_begin(struct arena *arena, const struct ir_kernel *kernel) {
    return (struct replacements){ARENA_ARRAY(arena, struct ir_value *, kernel->value_count + 1), kernel->value_count};
}

void rewrite_set(struct replacements *replacements, const struct ir_value *value, struct ir_value *by) {
    if (value->id < replacements->count)
        replacements->by_id[value->id] = by;
}

/* A value's replacement may itself have been replaced. */
static struct ir_value *replacement(const struct replacements *replacements, struct ir_value *value) {
    while (value->id < replacements->count && replacements->by_id[value->id])
        value = replacements->by_id[value->id];
    return value;
}

void rewrite_operands(struct ir_instruction *instruction, const struct replacements *replacements) {
    for (size_t j = 0; j < instruction->operand_count; j++)
        instruction->operands[j] = replacement(replacements, instruction->operands[j]);
}

void rewrite_yields(struct ir_region *region, const struct replacements *replacements) {
    for (size_t i = 0; i < region->yields.count; i++)
        region->yields.at[i] = replacement(replacements, region->yields.at[i]);
}

void rewrite_replace(struct ir_region *region, const struct replacements *replacements) {
    rewrite_yields(region, replacements);
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        for (size_t i = 0; ir_taken(walk.at, i); i++)
            *ir_taken(walk.at, i) = replacement(replacements, *ir_taken(walk.at, i));
}

void rewrite_move(struct arena *arena, struct ir_region *from, struct ir_region *to) {
    for (size_t i = 0; i < from->instructions.count; i++) {
        struct ir_instruction *instruction = from->instructions.at[i];
        instruction->region = to;
        for (size_t j = 0; j < instruction->result_count; j++)
            instruction->results[j]->region = to;
        for (int r = 0; r < 2; r++)
            if (instruction->regions[r])
                instruction->regions[r]->parent = to;
        vec_push(arena, &to->instructions, instruction);
    }
    for (size_t i = 0; i < from->yields.count; i++)
        vec_push(arena, &to->yields, from->yields.at[i]);
}

size_t rewrite_behind_host(const struct ir_region *region, size_t from) {
    size_t at = from;
    while (at < region->instructions.count &&
           (region->instructions.at[at]->kind == IR_OPERATION || region->instructions.at[at]->kind == IR_ALLOCATE))
        at++;
    return at;
}

void rewrite_each(struct ir_region *region, rewrite_put *put, void *context) {
    struct ir_region before = *region;
    memset(&region->instructions, 0, sizeof region->instructions);
    for (size_t i = 0; i < before.instructions.count; i++) {
        struct ir_instruction *instruction = before.instructions.at[i];
        for (int r = 0; r < 2 && instruction->regions[r]; r++)
            rewrite_each(instruction->regions[r], put, context);
        put(context, region, instruction);
    }
}

void rewrite_keep(struct ir_region *region, rewrite_stays *stays, void *context) {
    size_t kept = 0;
    for (size_t i = 0; i < region->instructions.count; i++) {
        struct ir_instruction *instruction = region->instructions.at[i];
        if (!stays(context, instruction))
            continue;
        region->instructions.at[kept++] = instruction;
        for (int r = 0; r < 2 && instruction->regions[r]; r++)
            rewrite_keep(instruction->regions[r], stays, context);
    }
    region->instructions.count = kept;
}

void rewrite_close_gaps(struct ir_region *region) {
    size_t kept = 0;
    for (size_t i = 0; i < region->instructions.count; i++)
        if (region->instructions.at[i])
            region->instructions.at[kept++] = region->instructions.at[i];
    region->instructions.count = kept;
}

struct ir_value *rewrite_value(const struct rewriter *r, enum base base, struct ir_region *region, int64_t low,
                               int64_t high) {
    return ir_new_value(r->arena, r->kernel, base, region, low, high);
}

struct ir_value *rewrite_constant(const struct rewriter *r, enum base base, int64_t integer) {
    struct ir_value *value = rewrite_value(r, base, NULL, integer, integer);
    value->is_constant = true;
    value->constant.integer = integer;
    return value;
}

struct ir_instruction *rewrite_instruction(const struct rewriter *r, enum ir_kind kind, size_t operands,
                                           size_t results) {
    struct ir_instruction *instruction =
        ir_new_instruction(r->arena, kind, operands, results, kind == IR_FORALL || kind == IR_FOR);
    instruction->span = r->user->span;
    instruction->users = r->user->users;
    instruction->region = r->user->region;
    vec_push(r->arena, &r->region->instructions, instruction);
    return instruction;
}

/* Its only result. */
static struct ir_value *give(struct ir_instruction *instruction, struct ir_value *value) {
    instruction->results[0] = value;
    value->definition = instruction;
    value->region = instruction->region;
    return value;
}

struct ir_instruction *rewrite_branch(const struct rewriter *r, struct ir_value *condition) {
    struct ir_instruction *branch = rewrite_instruction(r, IR_IF, 1, 0);
    branch->operands[0] = condition;
    for (int side = 0; side < 2; side++)
        branch->regions[side] = ir_new_region(r->arena, r->kernel, branch->region->ambient, branch, branch->region);
    return branch;
}

struct ir_instruction *rewrite_forall(const struct rewriter *r, enum level_value outer, enum level_value inner,
                                      struct ir_value *count) {
    struct ir_instruction *forall = rewrite_instruction(r, IR_FORALL, 1, 0);
    forall->outer = outer;
    forall->inner = inner;
    forall->operands[0] = count;
    forall->regions[0] = ir_new_region(r->arena, r->kernel, inner, forall, forall->region);
    forall->parameters[0] = rewrite_value(r, count->base, forall->regions[0], 0, count->high - 1);
    return forall;
}

struct ir_buffer *rewrite_buffer(const struct rewriter *r, struct ir_buffer like) {
    struct ir_buffer *buffer = ARENA_NEW(r->arena, struct ir_buffer);
    *buffer = like;
    buffer->id = 0;
    for (size_t i = 0; i < r->kernel->buffers.count; i++)
        if (r->kernel->buffers.at[i]->id >= buffer->id)
            buffer->id = r->kernel->buffers.at[i]->id + 1;
    vec_push(r->arena, &r->kernel->buffers, buffer);
    return buffer;
}

static struct range range_of(const struct ir_instruction *operation, enum base base) {
    struct range ranges[3];
    for (size_t i = 0; i < operation->operand_count; i++)
        ranges[i] = (struct range){operation->operands[i]->low, operation->operands[i]->high};
    return range_operation(operation->op, base, operation->operands[operation->operand_count - 1]->base, ranges);
}

static struct ir_value *operation(const struct rewriter *r, enum ir_op op, enum base base, struct ir_value *const *x,
                                  size_t count) {
    struct ir_instruction *instruction = rewrite_instruction(r, IR_OPERATION, count, 1);
    instruction->op = op;
    memcpy(instruction->operands, x, count * sizeof *x);
    struct range range = range_of(instruction, base);
    return give(instruction, rewrite_value(r, base, NULL, range.low, range.high));
}

void rewrite_again(const struct rewriter *r, struct ir_instruction *operation) {
    struct ir_value *result = operation->results[0];
    struct range range = range_of(operation, result->base);
    result->low = range.low;
    result->high = range.high;
    operation->no_wrap = false;
    operation->region = r->user->region;
    give(operation, result);
    vec_push(r->arena, &r->region->instructions, operation);
}

void rewrite_forget(struct ir_kernel *kernel, const struct ir_buffer *buffer) {
    size_t kept = 0;
    for (size_t i = 0; i < kernel->buffers.count; i++)
        if (kernel->buffers.at[i] != buffer)
            kernel->buffers.at[kept++] = kernel->buffers.at[i];
    kernel->buffers.count = kept;
}

struct ir_value *rewrite_operation(const struct rewriter *r, enum ir_op op, struct ir_value *x, struct ir_value *y) {
    return operation(r, op, fold_result_base(op, y->base), (struct ir_value *[]){x, y}, 2);
}

void rewrite_select(const struct rewriter *r, struct ir_value *result, struct ir_value *condition, struct ir_value *a,
                    struct ir_value *b) {
    bool is_and = result->base == BASE_BOOL && b->is_constant && !b->constant.integer;
    bool is_or = !is_and && result->base == BASE_BOOL && a->is_constant && a->constant.integer;
    struct ir_instruction *select = rewrite_instruction(r, IR_OPERATION, is_and || is_or ? 2 : 3, 1);
    select->op = is_and ? OP_AND : is_or ? OP_OR : OP_SELECT;
    select->operands[0] = condition;
    select->operands[1] = is_or ? b : a;
    if (select->op == OP_SELECT)
        select->operands[2] = b;
    give(select, result);
}

struct ir_value *rewrite_negated(const struct rewriter *r, struct ir_value *x) {
    if (!x->is_constant)
        return operation(r, OP_NEG, x->base, &x, 1);
    struct ir_value *value = rewrite_value(r, x->base, NULL, x->low, x->high);
    value->is_constant = true;
    value->constant.floating = -x->constant.floating;
    return value;
}

struct ir_value *rewrite_convert(const struct rewriter *r, struct ir_value *x, enum base to) {
    return operation(r, OP_CONVERT, to, &x, 1);
}

struct ir_value *rewrite_sum(const struct rewriter *r, const struct linear *sum) {
    struct ir_value *total = NULL;
    for (int negative = 0; negative < 2; negative++)
        for (size_t i = 0; i < sum->count; i++) {
            int64_t factor = sum->term[i].coefficient;
            if ((factor < 0) != negative)
                continue;
            struct ir_value *term = sum->term[i].value;
            if (factor != 1 && factor != -1)
                term = rewrite_operation(r, OP_MUL, term, rewrite_constant(r, sum->base, negative ? -factor : factor));
            if (negative && !total)
                total = rewrite_constant(r, sum->base, 0);
            total = total ? rewrite_operation(r, negative ? OP_SUB : OP_ADD, total, term) : term;
        }
    if (!total)
        return rewrite_constant(r, sum->base, sum->constant);
    if (sum->constant == 0)
        return total;
    return rewrite_operation(r, sum->constant < 0 ? OP_SUB : OP_ADD, total,
                             rewrite_constant(r, sum->base, sum->constant < 0 ? -sum->constant : sum->constant));
}
