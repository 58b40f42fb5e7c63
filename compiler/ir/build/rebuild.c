/* A walk that keeps what is there opens the frames of its regions, so that the builder knows at each place what holds,
   what is in scope and where loops begin; only what a pass copies is built. */
#include "ir/build/rebuild.h"

#include "ir/build/builder.h"
#include "ir/walk.h"
#include "support/map.h"

struct rebuild {
    struct ir_builder *b;
    rebuild_put *put;
    void *context;
    struct map *values;           /* what stands for results of instructions that have been copied */
    struct map *known, *fitting;  /* for the next copy: what a pass says that a value is, and what does not wrap */
    struct map *others;           /* likewise: another operation in place of one */
    struct map *within, *buffers; /* in a copy: what stands for what is made in it */
    struct map *before;           /* instructions of a body that were copied before the branch it becomes */
};

struct ir_builder *rebuild_builder(const struct rebuild *r) {
    return r->b;
}

void rebuild_is(struct rebuild *r, const struct ir_value *value, struct ir_value *by) { map_set(r->known, value, by); }

void rebuild_as(struct rebuild *r, const struct ir_instruction *operation, enum ir_op op) {
    struct ir_instruction *other = ARENA_NEW(r->b->scratch, struct ir_instruction);
    *other = *operation;
    other->op = op;
    other->no_wrap = true;
    map_set(r->others, operation, other);
}

void rebuild_fits(struct rebuild *r, const struct ir_instruction *operation) { map_set(r->fitting, operation, NULL); }

/* Constants are one where they are equal, so that what is computed of them is. */
struct ir_value *rebuilt(const struct rebuild *r, struct ir_value *value) {
    for (struct ir_value *by; (by = map_get(r->known, value));)
        value = by;
    struct ir_value *copy = map_get(r->within, value);
    copy = copy ? copy : map_get(r->values, value);
    value = ir_resolve(r->b, copy ? copy : value);
    return value->is_constant ? ir_constant(r->b, value->base, value->constant) : value;
}

static struct ir_buffer *rebuilt_buffer(const struct rebuild *r, struct ir_buffer *buffer) {
    struct ir_buffer *copy = buffer ? map_get(r->buffers, buffer) : NULL;
    return copy ? copy : buffer;
}

static struct ir_value **all_rebuilt(const struct rebuild *r, struct ir_value *const *values, size_t count) {
    struct ir_value **copies = ARENA_ARRAY(r->b->scratch, struct ir_value *, count + 1);
    for (size_t i = 0; i < count; i++)
        copies[i] = rebuilt(r, values[i]);
    return copies;
}

static void set_all(struct rebuild *r, struct ir_value *const *values, struct ir_value *const *copies, size_t count) {
    for (size_t i = 0; i < count; i++)
        map_set(r->within, values[i], copies[i]);
}

/* ---- copies ---- */

static void copy(struct rebuild *r, const struct ir_instruction *at);

static void copy_body(struct rebuild *r, const struct ir_region *region) {
    for (size_t i = 0; i < region->instructions.count; i++)
        if (!map_has(r->before, region->instructions.at[i]))
            copy(r, region->instructions.at[i]);
}

static struct ir_value **copied_yields(struct rebuild *r, const struct ir_region *region) {
    copy_body(r, region);
    return all_rebuilt(r, region->yields.at, region->yields.count);
}

/* Where a value lies holds of its copy here: wherever that is used, if it was made here after `since` values. */
static void take_range(const struct rebuild *r, const struct ir_value *from, struct ir_value *copy, uint32_t since) {
    if (copy->is_constant || base_info[copy->base].is_floating)
        return;
    if (copy->id >= since && copy->region == ir_current(r->b))
        ir_bound(copy, from->low, from->high);
    else
        ir_assume_range(r->b, copy, from->low, from->high);
}

static bool has_operands(const struct ir_instruction *at, enum ir_op op, struct ir_value *const *operands) {
    bool is_same = at && at->kind == IR_OPERATION && at->op == op;
    for (size_t i = 0; is_same && i < at->operand_count; i++)
        is_same = ir_is_same(at->operands[i], operands[i]);
    return is_same;
}

static void copy_operation(struct rebuild *r, const struct ir_instruction *at) {
    const struct ir_instruction *other = map_get(r->others, at);
    struct ir_value *from = at->results[0], *x[3];
    at = other ? other : at;
    for (size_t i = 0; i < at->operand_count; i++)
        x[i] = rebuilt(r, at->operands[i]);
    uint32_t since = r->b->kernel->value_count;
    struct ir_value *copy = builder_again(r->b, at, x);
    map_set(r->within, from, copy);
    bool fits = at->no_wrap || map_has(r->fitting, at);
    if (fits && copy->region == ir_current(r->b) && has_operands(copy->definition, at->op, x))
        copy->definition->no_wrap = true;
    take_range(r, from, copy, since);
    ir_name(copy, from->name);
}

/* All that is neither computed, nor a loop or a branch: as it is, of other operands. */
static void copy_as_it_is(struct rebuild *r, const struct ir_instruction *at) {
    struct ir_builder *b = r->b;
    struct ir_instruction *copy = builder_instruction(b, at->kind, at->operand_count, at->result_count, 0),
                          made = *copy;
    *copy = *at;
    copy->operands = made.operands;
    copy->results = made.results;
    copy->parameters = made.parameters;
    copy->buffer = rebuilt_buffer(r, at->buffer);
    if (at->kind == IR_SWAP)
        IR_PART(copy, swap).other = rebuilt_buffer(r, IR_PART(at, swap).other);
    for (size_t i = 0; i < at->operand_count; i++)
        copy->operands[i] = builder_operand(b, rebuilt(r, at->operands[i]));
    for (size_t i = 0; i < at->result_count; i++) {
        copy->results[i] = builder_value(b, at->results[i]->base, NULL, at->results[i]->name);
        copy->results[i]->low = at->results[i]->low;
        copy->results[i]->high = at->results[i]->high;
    }
    set_all(r, at->results, copy->results, at->result_count);
    builder_keep(b, copy);
}

static void copy_load(struct rebuild *r, const struct ir_instruction *at) {
    if (!builder_is_shared(at)) {
        copy_as_it_is(r, at);
        return;
    }
    uint32_t since = r->b->kernel->value_count;
    struct ir_value *from = at->results[0];
    struct ir_value *copy = ir_load(r->b, rebuilt_buffer(r, at->buffer), rebuilt(r, at->operands[0]));
    map_set(r->within, from, copy);
    if (copy->id >= since && copy->definition)
        copy->definition->site = at->site;
    take_range(r, from, copy, since);
    ir_name(copy, from->name);
}

static void copy_allocation(struct rebuild *r, const struct ir_instruction *at) {
    const struct ir_buffer *from = at->buffer;
    struct ir_value *capacity = from->capacity ? rebuilt(r, from->capacity) : NULL;
    struct ir_buffer *copy = ir_buffer_new(r->b, from->memory, from->owner, from->element, capacity, from->name),
                     made = *copy;
    *copy = *from;
    copy->id = made.id;
    copy->capacity = made.capacity;
    map_set(r->buffers, from, copy);
    ir_allocate(r->b, copy);
}

/* Gives the open loop the attributes of the loop that it copies, and its parameters their ranges and names. */
static struct ir_instruction *enter_copy(struct rebuild *r, const struct ir_instruction *at) {
    struct ir_instruction *loop = ir_current(r->b)->owner;
    loop->as = at->as;
    if (IR_PART(at, loop).all)
        IR_PART(loop, loop).all = rebuilt(r, IR_PART(at, loop).all);
    for (size_t i = 0; i < at->parameter_count; i++) {
        ir_bound(loop->parameters[i], at->parameters[i]->low, at->parameters[i]->high);
        ir_name(loop->parameters[i], at->parameters[i]->name);
    }
    set_all(r, at->parameters, loop->parameters, at->parameter_count);
    return loop;
}

static void leave_copy(struct rebuild *r, const struct ir_instruction *at, struct ir_value *const *results,
                       uint32_t since) {
    set_all(r, at->results, results, at->result_count);
    for (size_t i = 0; i < at->result_count; i++) {
        take_range(r, at->results[i], results[i], since);
        ir_name(results[i], at->results[i]->name);
    }
}

/* A load in a loop may come after what a turn before has stored: it is none of those before the loop. */
static void renew_stored(struct ir_builder *b, const struct ir_instruction *loop) {
    for (struct ir_walk walk = ir_walk_of(loop); walk.at; ir_next(&walk)) {
        if (walk.at->kind == IR_STORE || walk.at->kind == IR_ATOMIC || walk.at->kind == IR_SWAP)
            ir_renew(b, walk.at->buffer);
        if (walk.at->kind == IR_SWAP)
            ir_renew(b, IR_PART(walk.at, swap).other);
    }
}

static void copy_loop(struct rebuild *r, const struct ir_instruction *at) {
    struct ir_builder *b = r->b;
    uint32_t since = b->kernel->value_count;
    struct ir_value **operands = all_rebuilt(r, at->operands, at->operand_count);
    if (at->kind == IR_FORALL) {
        ir_begin_forall(b, at->outer, at->inner, operands[0], at->parameters[0]->name);
        enter_copy(r, at)->buffer = rebuilt_buffer(r, at->buffer);
        copy_body(r, at->regions[0]);
        ir_end_forall(b);
        return;
    }
    renew_stored(b, at);
    struct ir_value **results = ARENA_ARRAY(b->scratch, struct ir_value *, at->result_count + 1);
    if (at->kind == IR_FOR) {
        ir_begin_for(b, operands[0], operands + 1, at->result_count, at->parameters[0]->name);
        enter_copy(r, at);
        ir_end_for(b, copied_yields(r, at->regions[0]), results);
    } else {
        ir_begin_while(b, operands, at->result_count, NULL, NULL);
        enter_copy(r, at);
        ir_while_body(b, copied_yields(r, at->regions[0])[0]);
        ir_end_while(b, copied_yields(r, at->regions[1]), results);
    }
    leave_copy(r, at, results, since);
}

static void copy_branch(struct rebuild *r, const struct ir_instruction *at) {
    struct ir_builder *b = r->b;
    uint32_t since = b->kernel->value_count;
    struct ir_value *condition = rebuilt(r, at->operands[0]);
    enum ir_truth truth = ir_known(b, condition);
    if (truth != IR_UNKNOWN) {
        const struct ir_region *taken = at->regions[truth == IR_TRUE ? 0 : 1];
        set_all(r, at->results, copied_yields(r, taken), at->result_count);
        return;
    }
    struct ir_value **results = ARENA_ARRAY(b->scratch, struct ir_value *, at->result_count + 1);
    ir_begin_if(b, condition);
    ir_current(b)->owner->as = at->as;
    ir_else(b, copied_yields(r, at->regions[0]), at->result_count);
    ir_end_if(b, copied_yields(r, at->regions[1]), results, at->result_count, false);
    leave_copy(r, at, results, since);
}

static void copy(struct rebuild *r, const struct ir_instruction *at) {
    ir_set_span(r->b, at->span, at->users);
    switch (at->kind) {
    case IR_OPERATION:
        if (!map_has(r->known, at->results[0]))
            copy_operation(r, at);
        break;
    case IR_LOAD: copy_load(r, at); break;
    case IR_ALLOCATE: copy_allocation(r, at); break;
    case IR_FORALL:
    case IR_FOR:
    case IR_WHILE: copy_loop(r, at); break;
    case IR_IF: copy_branch(r, at); break;
    case IR_CHECK:
        if (ir_known(r->b, rebuilt(r, at->operands[0])) != IR_TRUE)
            copy_as_it_is(r, at);
        break;
    default: copy_as_it_is(r, at);
    }
}

static void begin_copies(struct rebuild *r) {
    struct map **maps[] = {&r->known, &r->fitting, &r->others, &r->within, &r->buffers, &r->before};
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++)
        *maps[i] = map_new(r->b->scratch);
}

void rebuild_copy(struct rebuild *r, const struct ir_instruction *at) {
    copy(r, at);
    for (size_t i = 0; i < at->result_count; i++)
        map_set(r->values, at->results[i], rebuilt(r, at->results[i]));
    begin_copies(r);
}

void rebuild_branched(struct rebuild *r, const struct ir_instruction *loop, rebuild_condition *condition,
                      rebuild_before *is_before, void *context) {
    struct ir_builder *b = r->b;
    const struct ir_region *body = loop->regions[0];
    b->rebuilding++; /* sums stay as they are, of which it may be known that they do not wrap */
    ir_begin_forall(b, loop->outer, loop->inner, rebuilt(r, loop->operands[0]), loop->parameters[0]->name);
    enter_copy(r, loop)->buffer = rebuilt_buffer(r, loop->buffer);
    for (size_t i = 0; i < body->instructions.count; i++)
        if (is_before(context, body->instructions.at[i])) {
            copy(r, body->instructions.at[i]);
            map_set(r->before, body->instructions.at[i], NULL);
        }
    enum ir_truth truth = ir_begin_choice(b, condition(context));
    if (truth == IR_UNKNOWN)
        IR_PART(ir_current(b)->owner, branch).is_inside = true;
    if (truth != IR_FALSE)
        copy_body(r, body);
    ir_other_choice(b, truth);
    if (truth == IR_UNKNOWN)
        facts_undo(b, builder_top(b)); /* it is right everywhere */
    r->known = map_new(b->scratch);
    r->fitting = map_new(b->scratch);
    r->others = map_new(b->scratch);
    if (truth != IR_TRUE)
        copy_body(r, body);
    ir_end_choice(b, truth);
    ir_end_forall(b);
    b->rebuilding--;
    begin_copies(r);
}

struct ir_value *rebuild_early(struct rebuild *r, struct ir_value *value) {
    const struct ir_instruction *at = value->definition;
    struct ir_value *here = rebuilt(r, value), *x[3];
    if (here != value || !at || at->kind != IR_OPERATION || !value->region || r->b->regions.at[value->region->id].open)
        return here;
    for (size_t i = 0; i < at->operand_count; i++)
        x[i] = rebuild_early(r, at->operands[i]);
    return builder_again(r->b, at, x);
}

/* ---- what stays ---- */

static void put(struct rebuild *r, struct ir_instruction *at) {
    if (!r->put(r->context, r, at))
        rebuild_keep(r, at);
}

static void keep_region(struct rebuild *r, enum frame_kind kind, struct ir_instruction *owner) {
    struct ir_region *region = owner->regions[kind == FRAME_ELSE || kind == FRAME_WHILE_BODY], before = *region;
    memset(&region->instructions, 0, sizeof region->instructions);
    region->parent = ir_current(r->b);
    builder_open(r->b, kind, owner, region);
    if (kind == FRAME_THEN || kind == FRAME_ELSE)
        facts_branch(r->b, owner->operands[0], kind == FRAME_THEN);
    else if (kind == FRAME_WHILE_BODY)
        facts_assume(r->b, owner->regions[0]->yields.at[0], true, (uint32_t)r->b->frames.count - 1);
    for (size_t i = 0; i < before.instructions.count; i++)
        put(r, before.instructions.at[i]);
    for (size_t i = 0; i < region->yields.count; i++)
        region->yields.at[i] = rebuilt(r, region->yields.at[i]);
    builder_close(r->b);
}

void rebuild_keep(struct rebuild *r, struct ir_instruction *at) {
    struct ir_builder *b = r->b;
    for (size_t i = 0; i < at->operand_count; i++)
        at->operands[i] = rebuilt(r, at->operands[i]);
    if (at->kind == IR_FOR || at->kind == IR_WHILE)
        renew_stored(b, at);
    switch (at->kind) {
    case IR_FORALL: keep_region(r, FRAME_FORALL, at); break;
    case IR_FOR: keep_region(r, FRAME_FOR, at); break;
    case IR_WHILE: /* what it carries is in scope in both regions */
        b->regions.at[at->regions[1]->id].depth = (uint32_t)b->frames.count;
        keep_region(r, FRAME_WHILE_CONDITION, at);
        keep_region(r, FRAME_WHILE_BODY, at);
        break;
    case IR_IF:
        keep_region(r, FRAME_THEN, at);
        keep_region(r, FRAME_ELSE, at);
        break;
    default: break;
    }
    builder_keep(b, at);
}

struct ir_instruction *rebuild_versions(struct rebuild *r, struct ir_instruction *loop, struct ir_value *condition) {
    struct ir_builder *b = r->b;
    size_t count = loop->result_count;
    enum ir_truth truth = ir_begin_choice(b, condition);
    struct ir_value **results = ARENA_ARRAY(b->scratch, struct ir_value *, count + 1);
    struct ir_instruction *branch = truth == IR_UNKNOWN ? ir_current(b)->owner : NULL;
    if (truth != IR_FALSE)
        rebuild_copy(r, loop);
    if (branch)
        ir_else(b, all_rebuilt(r, loop->results, count), count);
    begin_copies(r);
    if (truth != IR_TRUE)
        rebuild_keep(r, loop);
    if (!branch)
        return NULL;
    ir_end_if(b, loop->results, results, count, false);
    for (size_t i = 0; i < count; i++)
        map_set(r->values, loop->results[i], results[i]);
    return branch;
}

void rebuild_kernel(struct arena *arena, struct ir_kernel *kernel, rebuild_put *put_one, void *context) {
    struct arena *scratch = arena_new();
    struct ir_region before = *kernel->body;
    memset(&kernel->body->instructions, 0, sizeof before.instructions);
    struct rebuild r = {.b = ir_builder_new(arena, scratch, kernel, 1), .put = put_one, .context = context};
    r.values = map_new(scratch);
    begin_copies(&r);
    for (size_t i = 0; i < before.instructions.count; i++)
        put(&r, before.instructions.at[i]);
    for (size_t i = 0; i < kernel->results.count; i++) {
        struct ir_result *result = &kernel->results.at[i];
        if (result->value)
            result->value = rebuilt(&r, result->value);
        for (size_t k = 0; k < result->rank; k++)
            result->extents[k] = rebuilt(&r, result->extents[k]);
    }
    for (size_t i = 0; i < kernel->buffers.count; i++)
        if (kernel->buffers.at[i]->capacity)
            kernel->buffers.at[i]->capacity = rebuilt(&r, kernel->buffers.at[i]->capacity);
    arena_free(scratch);
}
