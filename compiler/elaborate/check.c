/* The checks by which generated code finds the errors that the interpreter finds in a run: checks of lengths always,
   the others with --check. A check that ranges prove is not emitted.

   note [degrees]
   --check=memory wants two things: no access outside of an array, and no element that nothing has
   written. So indices and places are made right, as after a failure, and what is not sure to be
   written whole is cleared first (marking.c). That a place is written twice is nobody's business
   then. The check of an index or a place is noted: the kernel and the host go on, and the failure
   is found when the host next waits (map/lower.c, note [noted checks]).

   note [after a failure]
   A kernel goes on when a check has failed: only the first failure is reported, and what is
   computed afterwards means nothing. It must touch no memory that is not its own, though: an index
   that was found wrong is replaced by 0 (memory is never empty), and a write to a wrong place is
   left out. Loops stop, as what they wait for may never come (map/lower.c).

   note [unfinished lengths]
   So what a loop carries may be unfinished once a check has failed in any block, and what was read
   may be anything. A length made of these may differ from the one for which there is memory: it is
   compared once more before an array is written, and that of a chunk of a chunk with the length of
   what it is a part of, as each was computed by code of its own. Without --check, too, where a
   length can fail below grid (may_leave_loops); then indices and places are made right as well, and
   not reported. */
#include "elaborate/check.h"

static struct ir_check_site site_of(const struct elaborator *e, enum ir_check check, struct span span,
                                    bool is_contained) {
    struct span users = elab_users_span(e, span);
    return (struct ir_check_site){.check = check,
                                  .span = users.end ? users : span,
                                  .found = users.end ? span : (struct span){0, 0},
                                  .is_contained = is_contained};
}

void elab_check(struct elaborator *e, enum ir_check check, struct ir_value *condition, struct ir_value *a,
                struct ir_value *b, struct span span) {
    bool is_noted = e->options->check == DEGREE_MEMORY && ir_check_info[check].brief && !e->tries;
    if ((!elab_checks_all(e) && !is_noted) || e->shape || ir_prove_told(e->builder, condition))
        return;
    struct ir_check_site site = site_of(e, check, span, is_noted);
    site.is_noted = is_noted;
    ir_check(e->builder, site, condition, a, b);
    ir_tell(e->builder, condition);
}

void elab_check_length(struct elaborator *e, enum ir_check check, struct ir_value *condition, struct ir_value *a,
                       struct ir_value *b, struct span span, bool is_contained) {
    if (e->shape || ir_prove(e->builder, condition))
        return;
    ir_check(e->builder, site_of(e, check, span, is_contained), condition, a, b);
}

bool elab_is_measured(const struct elaborator *e) { return e->row_is_there && e->shape == e->row_shape; }

struct ir_value *elab_where_there(struct elaborator *e, struct ir_value *condition) {
    struct ir_value *is_not_there = ir_binary(e->builder, OP_EQ, e->row_is_there, ir_bool(e->builder, false));
    return ir_binary(e->builder, OP_OR, condition, is_not_there);
}

void elab_check_measured(struct elaborator *e, struct ir_value *condition, struct ir_value *n,
                         const struct ir_value *length) {
    condition = elab_where_there(e, condition);
    if (ir_prove(e->builder, condition))
        return;
    struct ir_check_site site = site_of(e, CHECK_LENGTH, e->span, ir_ambient(e->builder) == LEVEL_GRID);
    struct row_check check = {ir_check(e->builder, site, condition, n, n), length};
    vec_push(e->arena, &e->row_checks, check);
}

static bool is_made_of(struct map *seen, const struct ir_value *value, const struct ir_value *part) {
    if (value == part)
        return true;
    if (value->is_constant || map_has(seen, value))
        return false;
    map_set(seen, value, (void *)value);
    const struct ir_instruction *made_by = value->definition ? value->definition
                                           : value->region   ? value->region->owner
                                                             : NULL;
    if (!made_by)
        return false;
    if (made_by->kind == IR_LOAD && !ir_is_constant_memory(made_by->buffer)) /* of what is made on the way */
        return true;
    for (size_t i = 0; i < made_by->operand_count; i++)
        if (is_made_of(seen, made_by->operands[i], part))
            return true;
    for (int r = 0; r < 2 && made_by->regions[r]; r++)
        for (size_t i = 0; i < made_by->regions[r]->yields.count; i++)
            if (is_made_of(seen, made_by->regions[r]->yields.at[i], part))
                return true;
    return false;
}

static bool is_one_made_of(struct elaborator *e, struct ir_value *const *lengths, size_t count,
                           const struct ir_value *part) {
    for (size_t i = 0; i < count; i++)
        if (lengths[i] &&
            (part->is_constant ? elab_is_none(e, lengths[i]) : is_made_of(map_new(e->arena), lengths[i], part)))
            return true;
    return false;
}

static void settle(struct elaborator *e, size_t first, struct ir_value *const *lengths, size_t count) {
    for (size_t i = first; i < e->row_checks.count; i++) {
        struct row_check *at = &e->row_checks.at[i];
        if (!is_one_made_of(e, lengths, count, at->length))
            ir_take_back(at->check);
        else if (at->check->region == ir_current(e->builder) && ir_ambient(e->builder) == LEVEL_GRID)
            ir_assume(e->builder, at->check->operands[0]);
    }
    e->row_checks.count = first;
}

struct measuring_before elab_begin_measured(struct elaborator *e, struct ir_value *is_there) {
    struct measuring_before before = {e->row_is_there, e->row_shape, e->row_checks.count};
    e->row_is_there = is_there;
    e->row_shape = e->shape;
    return before;
}

void elab_end_measured(struct elaborator *e, struct measuring_before before, struct ir_value *const *lengths,
                       size_t count) {
    e->row_is_there = before.row_is_there;
    e->row_shape = before.row_shape;
    if (!elab_is_measured(e)) /* else what it is within says which checks stay */
        settle(e, before.check_count, lengths, count);
}

static bool is_unfinished(struct map *seen, const struct ir_value *value) {
    const struct ir_instruction *definition = value->definition;
    if (!definition) { /* a constant, a parameter, an index; or carried by a loop */
        const struct ir_instruction *owner = value->region ? value->region->owner : NULL;
        return owner && (owner->kind == IR_WHILE || owner->parameters[0] != value);
    }
    if (definition->kind != IR_OPERATION && definition->kind != IR_IF)
        return true;
    if (map_has(seen, value))
        return false;
    map_set(seen, value, (void *)definition);
    for (size_t i = 0; i < definition->operand_count; i++)
        if (is_unfinished(seen, definition->operands[i]))
            return true;
    for (int r = 0; r < 2 && definition->kind == IR_IF; r++)
        for (size_t i = 0; i < definition->result_count; i++)
            if (definition->results[i] == value && is_unfinished(seen, definition->regions[r]->yields.at[i]))
                return true;
    return false;
}

bool elab_may_be_unfinished(struct elaborator *e, const struct ir_value *length) {
    return e->may_leave_loops && is_unfinished(map_new(e->arena), length);
}

void elab_require(struct elaborator *e, enum ir_check check, struct ir_value *condition, struct ir_value *a,
                  struct ir_value *b, struct span span) {
    if (ir_known(e->builder, condition) == IR_TRUE)
        return;
    ir_check(e->builder, site_of(e, check, span, true), condition, a, b);
    ir_assume(e->builder, condition);
}

bool elab_runs_for_certain(struct elaborator *e) { return elab_runs_for_certain_in(ir_current(e->builder)); }

bool elab_runs_for_certain_in(const struct ir_region *region) {
    for (; region->owner; region = region->parent) {
        const struct ir_instruction *owner = region->owner;
        bool counts = owner->kind == IR_FORALL || owner->kind == IR_FOR;
        if (!counts || owner->operands[0]->low < 1)
            return false;
    }
    return true;
}

struct ir_value *elab_load(struct elaborator *e, struct ir_buffer *buffer, struct ir_value *index) {
    struct ir_value *value = ir_load(e->builder, buffer, index);
    struct ir_instruction *definition = value->definition;
    if (definition && definition->kind == IR_LOAD && ir_current(e->builder)->ambient == LEVEL_GRID)
        definition->site = ir_site(e->builder, site_of(e, CHECK_INDEX, e->span, true));
    return value;
}

static struct span swap_made_at(struct elaborator *e, struct span made_at) {
    struct span before = e->made_at;
    e->made_at = made_at;
    return before;
}

void elab_check_push(struct elaborator *e, const struct push *push, enum ir_check check, struct ir_value *condition,
                     struct ir_value *a, struct ir_value *b) {
    struct span made_at = swap_made_at(e, push->made_at);
    elab_check(e, check, condition, a, b, push->span);
    swap_made_at(e, made_at);
}

void elab_check_chunk(struct elaborator *e, const struct push *push, struct ir_value *condition,
                      struct ir_value *length, struct ir_value *size) {
    struct span made_at = swap_made_at(e, push->made_at);
    elab_check_length(e, CHECK_CHUNK, condition, length, size, push->span, push->level == LEVEL_GRID);
    swap_made_at(e, made_at);
}

void elab_require_push(struct elaborator *e, const struct push *push, enum ir_check check, struct ir_value *condition,
                       struct ir_value *a, struct ir_value *b) {
    struct span made_at = swap_made_at(e, push->made_at);
    elab_require(e, check, condition, a, b, push->span);
    swap_made_at(e, made_at);
}

struct ir_value *elab_is_inside(struct elaborator *e, struct ir_value *index, struct ir_value *length) {
    struct ir_builder *b = e->builder;
    return ir_binary(b, OP_AND, ir_binary(b, OP_LE, ir_int(b, 0), index), ir_binary(b, OP_LT, index, length));
}

bool elab_is_none(struct elaborator *e, struct ir_value *count) {
    const struct ir_value *known = ir_resolve(e->builder, count);
    return known->is_constant && known->constant.integer == 0;
}

/* The index of which it was checked that an array has it, with what was asked; else NULL. */
static struct ir_value *asked_before(const struct ir_value *index, struct ir_value **condition) {
    const struct ir_instruction *made = index->definition;
    bool is_asked = made && made->kind == IR_OPERATION && made->op == OP_SELECT && made->operands[2]->is_constant &&
                    made->operands[2]->constant.integer == 0;
    *condition = is_asked ? made->operands[0] : NULL;
    return is_asked ? made->operands[1] : NULL;
}

/* Where an index was wrong, that was told, and 0 stands for it: a second array, whose elements the first one has, asks
   nothing then. */
static bool is_covered(struct elaborator *e, const struct ir_value *index, struct ir_value *length) {
    struct ir_value *condition, *asked = asked_before(index, &condition);
    return asked && ir_implies(e->builder, condition, elab_is_inside(e, asked, length));
}

struct ir_value *elab_checked_index(struct elaborator *e, struct ir_value *index, struct ir_value *length) {
    bool is_looked_at = e->tries && !e->may_leave_loops; /* nothing of it is run */
    if (!e->guards || is_looked_at || e->shape || !index || !length)
        return index;
    struct ir_value *inside = elab_is_inside(e, index, length);
    if (ir_prove(e->builder, inside) || is_covered(e, index, length))
        return index;
    elab_check(e, CHECK_INDEX, inside, index, length, e->span);
    if (elab_is_none(e, length)) /* what a known 0 leads to might be rejected, though no element is ever asked for */
        return index;
    return ir_ternary(e->builder, OP_SELECT, inside, index, ir_int(e->builder, 0));
}

/* The second element that says it finds what the first one has left. */
void elab_check_said(struct elaborator *e, const struct push *push, struct ir_value *length) {
    struct ir_builder *b = e->builder;
    struct ir_value *zero = ir_int(b, 0), *said = ir_unary(b, OP_BIT_NOT, length), *before;
    if (push->into.said->memory == MEMORY_PRIVATE) {
        before = ir_load(b, push->into.said, zero);
        ir_store(b, push->into.said, zero, said);
    } else {
        before = ir_atomic(b, ATOMIC_EXCHANGE, push->into.said, zero, said);
    }
    struct ir_value *is_first = ir_binary(b, OP_EQ, before, zero);
    elab_check_push(e, push, CHECK_SAID_TWICE, is_first, ir_unary(b, OP_BIT_NOT, before), length);
}
