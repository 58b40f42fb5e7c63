/* The arrays of a loop of `while` or `power` have two halves: a step reads one and writes the
   other, and the places change with each step. Where each thread reads no element after it has
   been written in the same step, one half will do: the places are then the same in all steps,
   which costs no arithmetic, and the C compiler can keep the elements in registers.

   note [in place]
   A loop carries the place p of the half that is read. It reads at p + f and writes at c - p + g, it carries c - p on,
   and it uses p for nothing else; arrays of a step's own may lie at p, too, which it then writes (note [old halves] in
   ir/passes/old_half.c). With p0, the first place, for p and c - p alike, all uses of a place of the old half must come
   before writes to it in the new one: those of another parallel loop, before it; those of the same parallel loop, of
   elements of its own iteration, earlier in it. Which element an access touches its place f or g says: note [elements
   of iterations] in ir/places.c. Accesses by different parallel loops in a loop, or by warps, have no order. */
#include "ir/passes/pass_list.h"

#include "ir/passes/old_half.h"
#include "ir/places.h"
#include "ir/passes/rewrite.h"

enum { MOST_ACCESSES = 1024 };

struct access {
    struct ir_touch touch; /* its place is without that of the half */
    bool is_new;           /* it stores to the half that the next step reads */
    struct linear new_at;  /* its place with that of the first half */
};

struct placing {
    struct arena *arena;
    struct ir_kernel *kernel;
    struct replacements replaced;
    /* the loop that is looked at */
    struct ir_instruction *loop;
    struct ir_value *place, *first, *next; /* p, p0, and c - p */
    bool *moves;                           /* by value: computed from p */
    size_t move_count;                     /* values that it has room for */
    VEC(uint32_t) moving;                  /* those of which it says so */
    VEC(struct access) accesses;
    VEC(struct ir_buffer *) buffers;
};

/* ---- what the loop does with p ---- */

static bool is_known(struct placing *p, const struct ir_buffer *buffer) {
    for (size_t i = 0; i < p->buffers.count; i++)
        if (p->buffers.at[i] == buffer)
            return true;
    return false;
}

static void set_moves(struct placing *p, const struct ir_value *value) {
    p->moves[value->id] = true;
    vec_push(p->arena, &p->moving, value->id);
}

static void forget_moves(struct placing *p) {
    for (size_t i = 0; i < p->moving.count; i++)
        p->moves[p->moving.at[i]] = false;
    p->moving.count = 0;
    if (p->kernel->value_count < p->move_count)
        return;
    p->move_count = 2 * (size_t)p->kernel->value_count + 1; /* loops in place have made more of them */
    p->moves = ARENA_ARRAY(p->arena, bool, p->move_count);
}

static bool uses_place(const struct placing *p, const struct ir_instruction *instruction) {
    for (size_t i = 0; i < instruction->operand_count; i++)
        if (p->moves[instruction->operands[i]->id])
            return true;
    return false;
}

/* The place of an access without that of its half, which it must have. */
static bool take_access(struct placing *p, struct ir_instruction *instruction, const struct ir_instruction *loop,
                        bool repeats) {
    struct access access = {.touch = {.at = instruction, .loop = loop}};
    struct linear *at = &access.touch.place;
    bool is_store = instruction->kind != IR_LOAD;
    struct ir_buffer *buffer = instruction->buffer;
    struct linear other;
    bool moves_value = false; /* that is stored */
    for (size_t i = 1; i < instruction->operand_count; i++)
        moves_value |= p->moves[instruction->operands[i]->id];
    if (repeats || moves_value || instruction->is_volatile || !buffer->rewritten ||
        (buffer->memory != MEMORY_SHARED && buffer->memory != MEMORY_PRIVATE) || p->accesses.count == MOST_ACCESSES ||
        !linear_expand(instruction->operands[0], at))
        return false;
    access.is_new = is_store && linear_coefficient(at, p->place) == -1;
    if (access.is_new && (!linear_expand(p->next, &other) || !linear_add(at, &other, -1)))
        return false;
    if (linear_take(at, p->place) != !access.is_new)
        return false;
    access.new_at = *at;
    if (!linear_expand(p->first, &other) || !linear_add(&access.new_at, &other, 1))
        return false;
    if (!is_known(p, buffer))
        vec_push(p->arena, &p->buffers, buffer);
    vec_push(p->arena, &p->accesses, access);
    return true;
}

/* `repeats`: in a loop in the loop, but for what a parallel loop does by itself. */
static bool collect(struct placing *p, const struct ir_region *region, const struct ir_instruction *loop,
                    bool repeats) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        struct ir_instruction *instruction = region->instructions.at[i];
        bool moves = uses_place(p, instruction);
        switch (instruction->kind) {
        case IR_OPERATION:
            if (moves && instruction->op != OP_ADD && instruction->op != OP_SUB && instruction->op != OP_MUL &&
                instruction->op != OP_SHL && instruction->op != OP_NEG)
                return false;
            if (moves)
                set_moves(p, instruction->results[0]);
            break;
        case IR_LOAD:
        case IR_STORE:
        case IR_ATOMIC:
            if (moves && !take_access(p, instruction, loop, repeats))
                return false;
            break;
        default:
            if (moves)
                return false;
        }
        bool is_parallel = instruction->kind == IR_FORALL;
        bool is_while = instruction->kind == IR_WHILE && !loop && p->loop->region->ambient != LEVEL_THREAD;
        for (int r = 0; r < 2; r++)
            if (instruction->regions[r]) {
                if (!collect(p, instruction->regions[r], is_parallel ? instruction : loop, repeats || is_while))
                    return false;
                for (size_t k = 0; k < instruction->regions[r]->yields.count; k++)
                    if (p->moves[instruction->regions[r]->yields.at[k]->id])
                        return false;
            }
    }
    return true;
}

/* All accesses to the buffers in the loop are those that were found. */
static bool are_all(const struct placing *p, const struct ir_instruction *loop) {
    for (struct ir_walk walk = ir_walk_of(loop); walk.at; ir_next(&walk))
        for (size_t k = 0; walk.at->buffer && k < p->buffers.count; k++)
            if (p->buffers.at[k] == walk.at->buffer && !p->moves[walk.at->operands[0]->id])
                return false;
    return true;
}

static bool may_be_in_place(const struct placing *p) {
    for (size_t i = 0; i < p->accesses.count; i++)
        for (size_t k = 0; k < p->accesses.count; k++) {
            const struct access *write = &p->accesses.at[i], *read = &p->accesses.at[k];
            if (write->is_new && !read->is_new && write->touch.at->buffer == read->touch.at->buffer &&
                ir_may_follow(p->loop, &write->touch, &read->touch))
                return false;
        }
    return true;
}

/* ---- rewriting ---- */

static const struct access *access_of(const struct placing *p, const struct ir_instruction *instruction) {
    for (size_t i = 0; i < p->accesses.count; i++)
        if (p->accesses.at[i].touch.at == instruction)
            return &p->accesses.at[i];
    return NULL;
}

static void put_in_place(void *context, struct ir_region *to, struct ir_instruction *instruction) {
    const struct placing *p = context;
    const struct access *access = access_of(p, instruction);
    if (access)
        instruction->operands[0] =
            rewrite_sum(&(struct rewriter){p->arena, p->kernel, to, instruction}, &access->new_at);
    vec_push(p->arena, &to->instructions, instruction);
}

static bool is_zero(const struct ir_value *value) {
    return value->is_constant && base_info[value->base].is_integer && value->constant.integer == 0;
}

/* x + 0 and x - 0, which the first place mostly leaves behind. */
static void drop_zeros(struct placing *p, const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk)) {
        const struct ir_instruction *at = walk.at;
        bool is_sum = at->kind == IR_OPERATION && (at->op == OP_ADD || at->op == OP_SUB);
        if (is_sum && is_zero(at->operands[1]))
            rewrite_set(&p->replaced, at->results[0], at->operands[0]);
        else if (is_sum && at->op == OP_ADD && is_zero(at->operands[0]))
            rewrite_set(&p->replaced, at->results[0], at->operands[1]);
    }
}

static void note_updates(const struct placing *p, const struct ir_instruction *loop, enum ir_update_kind kind) {
    for (struct ir_walk walk = ir_walk_of(loop); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_STORE && IR_PART(walk.at, store).is_start)
            ir_note_update(p->arena, p->kernel, (struct ir_update){.kind = kind, .update = walk.at->span});
}

/* Not loops that store each element where it is, as the copy does that an update begins with. */
static bool does_something(void *context, struct ir_instruction *loop) {
    bool is_loop = loop->kind == IR_FORALL || (loop->kind == IR_FOR && loop->result_count == 0);
    for (size_t i = 0; is_loop && i < loop->regions[0]->instructions.count; i++) {
        const struct ir_instruction *instruction = loop->regions[0]->instructions.at[i];
        if (instruction->kind == IR_OPERATION || (instruction->kind == IR_LOAD && !instruction->is_volatile))
            continue;
        const struct ir_instruction *load = ir_copied(instruction);
        int64_t distance;
        if (!load || load->buffer != instruction->buffer || load->region != instruction->region ||
            instruction->is_volatile || !linear_distance(load->operands[0], instruction->operands[0], &distance) ||
            distance != 0)
            return true;
    }
    if (is_loop)
        note_updates(context, loop, UPDATE_IN_PLACE);
    return !is_loop;
}

/* A buffer of two halves, c apart, loses the second, which is no longer used: what was outside the
   loop is at the first place. */
static void halve(const struct placing *p, struct ir_buffer *buffer) {
    const struct ir_value *capacity = buffer->capacity;
    const struct ir_instruction *product = capacity->definition;
    struct linear half;
    if (!linear_expand(p->next, &half) || linear_take(&half, p->place) != -1 || !p->first->is_constant ||
        p->first->constant.integer != 0)
        return;
    struct rewriter rewriter = {.arena = p->arena, .kernel = p->kernel};
    if (capacity->is_constant && half.count == 0 && capacity->constant.integer == 2 * half.constant)
        buffer->capacity = rewrite_constant(&rewriter, capacity->base, half.constant);
    else if (product && product->kind == IR_OPERATION && product->op == OP_MUL && half.count == 1 &&
             half.constant == 0 && half.term[0].value == product->operands[0] && half.term[0].coefficient == 1 &&
             product->operands[1]->is_constant && product->operands[1]->constant.integer == 2)
        buffer->capacity = half.term[0].value;
}

/* The i-th carried value, when it is the place of a half. */
static void try_place(struct placing *p, struct ir_instruction *loop, size_t i) {
    size_t fixed = loop->kind == IR_FOR;
    struct ir_region *body = loop->regions[loop->kind == IR_WHILE];
    struct linear other;
    p->loop = loop;
    p->place = loop->parameters[fixed + i];
    p->first = loop->operands[fixed + i];
    p->next = body->yields.at[i];
    p->accesses.count = p->buffers.count = 0;
    if (p->next == p->place || !base_info[p->place->base].is_integer || !linear_expand(p->next, &other) ||
        linear_take(&other, p->place) != -1)
        return;
    ir_lend_halves(p->arena, p->kernel, loop, p->place, p->next);
    forget_moves(p);
    set_moves(p, p->place);
    for (int r = 0; r < 2; r++)
        if (loop->regions[r] && !collect(p, loop->regions[r], NULL, false))
            return;
    for (size_t k = 0; k < body->yields.count; k++)
        if (k != i && p->moves[body->yields.at[k]->id])
            return;
    if (p->accesses.count == 0 || !are_all(p, loop) || !may_be_in_place(p))
        return;
    for (int r = 0; r < 2; r++)
        if (loop->regions[r])
            rewrite_each(loop->regions[r], put_in_place, p);
    rewrite_keep(body, does_something, p);
    body->yields.at[i] = p->place;
    p->kernel->changes++;
    rewrite_set(&p->replaced, loop->results[i], p->first); /* what follows finds the elements there, too */
    for (size_t k = 0; k < p->buffers.count; k++)
        halve(p, p->buffers.at[k]);
}

/* Stops carrying a value that the loop never changes. */
static void drop_constant(struct placing *p, struct ir_instruction *loop, size_t i) {
    size_t fixed = loop->kind == IR_FOR;
    const struct ir_region *body = loop->regions[loop->kind == IR_WHILE];
    if (body->yields.at[i] != loop->parameters[fixed + i])
        return;
    rewrite_set(&p->replaced, loop->parameters[fixed + i], loop->operands[fixed + i]);
    rewrite_set(&p->replaced, loop->results[i], loop->operands[fixed + i]);
    body->yields.at[i] = loop->operands[fixed + i];
    p->kernel->changes++;
    for (int r = 0; r < 2; r++)
        if (loop->regions[r])
            rewrite_replace(loop->regions[r], &p->replaced);
}

static void place_region(struct placing *p, struct ir_region *region) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        struct ir_instruction *instruction = region->instructions.at[i];
        rewrite_operands(instruction, &p->replaced); /* of what came before: an instruction at a time */
        for (int r = 0; r < 2; r++)
            if (instruction->regions[r])
                place_region(p, instruction->regions[r]);
        bool is_loop = instruction->kind == IR_FOR || instruction->kind == IR_WHILE;
        for (size_t k = 0; is_loop && k < instruction->result_count; k++) {
            if (region->ambient < LEVEL_GRID)
                try_place(p, instruction, k);
            drop_constant(p, instruction, k);
        }
    }
    rewrite_yields(region, &p->replaced);
}

static bool is_carried(const struct ir_value *value) {
    const struct ir_instruction *loop = value->definition || !value->region ? NULL : value->region->owner;
    return loop && (loop->kind == IR_WHILE || (loop->kind == IR_FOR && value != loop->parameters[0]));
}

static bool is_below_grid(const struct ir_buffer *buffer) {
    return buffer->memory == MEMORY_SHARED || buffer->memory == MEMORY_PRIVATE;
}

/* Does it go through an array of a state, from its place on? */
static bool is_of_state(const struct ir_instruction *access) {
    const struct ir_instruction *loop = access->region->owner;
    struct linear sum;
    if (!access->buffer->rewritten || !loop || (loop->kind != IR_FORALL && loop->kind != IR_FOR) ||
        !linear_expand(access->operands[0], &sum) || linear_take(&sum, loop->parameters[0]) != 1)
        return false;
    return sum.count == 0 || (sum.count == 1 && is_carried(sum.term[0].value) &&
                              (sum.term[0].coefficient == 1 || sum.term[0].coefficient == -1));
}

static bool is_in_branch(const struct ir_instruction *instruction) {
    for (; instruction && instruction->kind != IR_WHILE; instruction = instruction->region->owner)
        if (instruction->kind == IR_IF)
            return true;
    return false;
}

/* The updates that copy an array of a state, from one of its places to another or elsewhere. */
static void note_copies(const struct placing *p) {
    for (struct ir_walk walk = ir_walk(p->kernel->body); walk.at; ir_next(&walk)) {
        const struct ir_instruction *load = ir_copied(walk.at);
        if (!load || !is_below_grid(load->buffer) || !is_below_grid(walk.at->buffer) ||
            (!is_of_state(load) && !is_of_state(walk.at)))
            continue;
        bool are_both = is_of_state(load) && is_of_state(walk.at);
        note_updates(p, walk.at,
                     is_in_branch(walk.at) ? UPDATE_COPIES_BRANCH
                     : are_both            ? UPDATE_COPIES_USED
                                           : UPDATE_COPIES_APART);
    }
}

void pass_in_place(struct arena *arena, struct ir_kernel *kernel) {
    struct placing p = {.arena = arena, .kernel = kernel, .replaced = rewrite_begin(arena, kernel)};
    place_region(&p, kernel->body);
    rewrite_keep(kernel->body, does_something, &p); /* an array that takes another's place is updated where it is */
    note_copies(&p);
    drop_zeros(&p, kernel->body);
    rewrite_replace(kernel->body, &p.replaced);
}
