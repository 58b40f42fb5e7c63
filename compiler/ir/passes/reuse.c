/* An update writes into the array that it starts from, where nothing reads that afterwards.

   note [updates]
   The elaborator writes `scatter start pairs` as a loop that copies `start` into memory of the
   result, and loops that store the pairs over it; a reduceByIndex likewise. Here the copy goes
   where it can: the result then is the array that it was copied from. The elements of that array that the pairs read
   have been stored before, or lie nowhere that another pair writes (elaborate/updates.c, and ir_reads_old here), so
   behind the copy its old elements are read by nobody, unless the program reads them. The pass sees whether the program
   does from the IR, which has no functions and tuples any more:
   1. The array is made where the copy is, or outside of branches around it: nothing behind the copy touches it.
   2. At grid it is a part of a loop's state: at the end of the step SWAPs give the parts their
      memory, and the old elements must end up in a buffer that is made in each step anew. The SWAPs
      are then made again, without the copy's.
   3. In registers a step's array is copied back over the state's: that undoes the copy.
   Where the arrays of a state change places in one piece of memory, the pass in-place does without the copy.
   Branches that all begin with a copy of one array, as where one updates it and the other leaves
   it alone, begin after it. A copy that no update starts with, as a loop's state does, goes by the
   same rules, also where one loop copies an array and makes others of its length.
   kernel->updated says of each update whether it copies, and for which use: the programmer is told. */
#include "ir/passes/pass_list.h"

#include "ir/places.h"
#include "ir/build/bits.h"
#include "ir/passes/rewrite.h"

enum { MOST_LEAVES = 16, MOST_SWAPPED = 64 };

struct reuse {
    struct arena *arena;
    struct ir_kernel *kernel;
    struct ir_places places;
};

/* A loop that stores element i of each `from` as element i of its `to`, and does nothing else. */
struct copying {
    struct ir_instruction *loop;
    size_t at; /* in its region */
    struct ir_buffer *from[MOST_LEAVES], *to[MOST_LEAVES];
    size_t count;
    bool is_start; /* of an update: */
    struct span start;
    struct ir_instruction *store; /* of a loop that does more, the only store that is a copy; or NULL */
};

static bool may_copy(const struct ir_instruction *loop) {
    return (loop->kind == IR_FORALL && loop->inner == LEVEL_THREAD && !loop->buffer) ||
           (loop->kind == IR_FOR && loop->result_count == 0);
}

/* Does it store what its loop loads there, element by element? */
static bool is_copied(const struct ir_instruction *loop, const struct ir_instruction *store) {
    const struct ir_instruction *load = ir_copied(store);
    return load && load->region == store->region && !load->is_volatile && !store->again && !store->is_volatile &&
           store->operands[0] == loop->parameters[0] && load->operands[0] == loop->parameters[0];
}

static bool is_copying(struct ir_instruction *loop, size_t at, struct copying *c) {
    if (!may_copy(loop))
        return false;
    *c = (struct copying){.loop = loop, .at = at};
    const struct ir_region *body = loop->regions[0];
    for (size_t i = 0; i < body->instructions.count; i++) {
        const struct ir_instruction *instruction = body->instructions.at[i];
        if (instruction->kind == IR_LOAD && !instruction->is_volatile)
            continue;
        if (!is_copied(loop, instruction) || c->count == MOST_LEAVES)
            return false;
        c->from[c->count] = instruction->operands[1]->definition->buffer;
        c->to[c->count++] = instruction->buffer;
        if (IR_PART(instruction, store).is_start)
            c->start = instruction->span;
        c->is_start |= IR_PART(instruction, store).is_start;
    }
    for (size_t k = 0; k < c->count; k++)
        for (size_t j = 0; j < c->count; j++)
            if (c->from[k] == c->to[j] || (j != k && (c->from[j] == c->from[k] || c->to[j] == c->to[k])))
                return false;
    return c->count > 0;
}

/* ---- who touches what ---- */

/* The first instruction from there on that touches the buffer; or NULL. */
static const struct ir_instruction *next_use(const struct ir_region *region, size_t from,
                                             const struct ir_buffer *buffer) {
    for (size_t i = from; i < region->instructions.count; i++) {
        const struct ir_instruction *use = ir_touch_in(region->instructions.at[i], buffer);
        if (use)
            return use;
    }
    return NULL;
}

/* The first instruction from there on that touches `from`, but for loads that come before anything touches `to`, or
   that read what the first loop to touch it leaves alone: old elements are still there where the two are one. */
static const struct ir_instruction *next_old_use(const struct ir_region *region, size_t start,
                                                 const struct ir_buffer *from, const struct ir_buffer *to) {
    for (size_t i = start; i < region->instructions.count; i++) {
        const struct ir_instruction *instruction = region->instructions.at[i], *use = NULL;
        bool is_branch = instruction->kind == IR_IF;
        if (ir_touch_in(instruction, to)) {
            for (int r = 0; r < 2 && is_branch && !use; r++)
                use = next_old_use(instruction->regions[r], 0, from, to);
            if (!is_branch && !ir_reads_old(instruction, from, to))
                use = ir_touch_in(instruction, from);
            return use ? use : next_use(region, i + 1, from);
        }
        if (ir_change_in(instruction, from))
            return ir_touch_in(instruction, from);
    }
    return NULL;
}

static void remove_at(struct ir_region *region, size_t at) {
    for (size_t i = at + 1; i < region->instructions.count; i++)
        region->instructions.at[i - 1] = region->instructions.at[i];
    region->instructions.count--;
}

static void rename_in(struct ir_instruction *instruction, const struct ir_buffer *from, struct ir_buffer *to) {
    if (instruction->buffer == from)
        instruction->buffer = to;
    if (instruction->kind == IR_SWAP && IR_PART(instruction, swap).other == from)
        IR_PART(instruction, swap).other = to;
}

/* `to` is `from` from now on, also in a later branch on the same condition. */
static void merge(struct reuse *u, struct ir_region *region, struct ir_buffer *from, struct ir_buffer *to,
                  bool is_updated) {
    const struct ir_instruction *made = ir_made_in(region, to);
    if (made)
        remove_at(region, ir_position(region, made));
    struct ir_touched *of_from = ir_touched(u->arena, &u->places, from);
    struct ir_touched *of_to = ir_touched(u->arena, &u->places, to);
    for (size_t i = 0; i < of_to->made.count; i++) {
        rename_in(of_to->made.at[i], to, from);
        vec_push(u->arena, &of_from->made, of_to->made.at[i]);
    }
    for (size_t i = 0; i < of_to->all.count; i++) {
        rename_in(of_to->all.at[i], to, from);
        vec_push(u->arena, &of_from->all, of_to->all.at[i]);
    }
    from->rewritten |= to->rewritten || is_updated;
    from->is_swapped |= to->is_swapped;
    from->is_result |= to->is_result;
    if (to->is_result)
        from->name = to->name;
    for (size_t i = 0; i < u->kernel->results.count; i++)
        if (u->kernel->results.at[i].buffer == to)
            u->kernel->results.at[i].buffer = from;
    rewrite_forget(u->kernel, to);
}

static bool is_as_long(const struct ir_value *wants, const struct ir_value *length) {
    return wants && ir_is_same(wants, length);
}

/* Can the one be where the other is? */
static bool has_room(const struct ir_buffer *from, const struct ir_buffer *to, const struct ir_value *length) {
    if (from->memory != to->memory || from->owner != to->owner || from->element != to->element ||
        ir_is_constant_memory(from) || (to->is_result && from->is_result) || to->is_zeroed || !to->capacity ||
        !from->capacity)
        return false;
    const struct ir_value *has = from->capacity, *wants = to->capacity;
    if (from->is_swapped &&
        !is_as_long(wants, length)) /* it has what it was exchanged for: as much as is copied, for certain */
        return false;
    if (has == wants || (wants == length && !to->is_result))
        return true;
    return has->is_constant && wants->is_constant && wants->constant.integer <= has->constant.integer &&
           (!to->is_result || wants->constant.integer == has->constant.integer);
}

/* ---- where the old elements go ---- */

struct verdict {
    bool is_free;
    const struct ir_instruction *use; /* that is in the way; or NULL */
};

static struct verdict no(const struct ir_instruction *use) { return (struct verdict){false, use}; }

/* 1. */
static struct verdict is_done_with(const struct copying *c, const struct ir_buffer *from, const struct ir_buffer *to) {
    const struct ir_region *region = c->loop->region;
    size_t next = c->at + 1;
    bool is_made = false;
    if (from->is_result)
        return no(NULL);
    for (;;) {
        const struct ir_instruction *use = next == c->at + 1 && region == c->loop->region
                                               ? next_old_use(region, next, from, to)
                                               : next_use(region, next, from);
        if (use)
            return no(use);
        is_made = is_made || ir_made_in(region, from);
        const struct ir_instruction *owner = region->owner;
        if (!owner || owner->kind != IR_IF)
            return (struct verdict){.is_free = is_made};
        region = owner->region; /* of two branches on one condition, the second uses what the first has made */
        next = ir_position(region, owner) + 1;
    }
}

/* The SWAPs that end the step; false where something comes between or after them that touches memory. */
static bool find_swaps(const struct ir_region *region, size_t from, size_t *first) {
    *first = region->instructions.count;
    for (size_t i = from; i < region->instructions.count; i++) {
        const struct ir_instruction *instruction = region->instructions.at[i];
        if (instruction->kind == IR_SWAP)
            *first = *first < i ? *first : i;
        else if (*first < i && (ir_touches_memory(instruction) || instruction->kind == IR_ALLOCATE))
            return false;
    }
    return *first < region->instructions.count;
}

/* For each buffer, the buffer that held its present contents when the SWAPs began. */
struct holdings {
    struct ir_buffer *name[MOST_SWAPPED];
    const struct ir_buffer *holds[MOST_SWAPPED];
    size_t count;
};

static size_t holding(struct holdings *h, struct ir_buffer *buffer) {
    size_t i = 0;
    while (i < h->count && h->name[i] != buffer)
        i++;
    if (i == h->count && i < MOST_SWAPPED) {
        h->name[i] = buffer;
        h->holds[i] = buffer;
        h->count++;
    }
    return i;
}

static void exchange(struct holdings *h, size_t x, size_t y) {
    const struct ir_buffer *held = h->holds[x];
    h->holds[x] = h->holds[y];
    h->holds[y] = held;
}

static bool do_swaps(const struct ir_region *region, size_t first, struct holdings *h) {
    for (size_t i = first; i < region->instructions.count; i++) {
        const struct ir_instruction *swap = region->instructions.at[i];
        if (swap->kind != IR_SWAP)
            continue;
        size_t x = holding(h, swap->buffer), y = holding(h, IR_PART(swap, swap).other);
        if (x == MOST_SWAPPED || y == MOST_SWAPPED)
            return false;
        exchange(h, x, y);
    }
    return true;
}

static const struct ir_buffer *where_is(const struct holdings *h, const struct ir_buffer *content) {
    for (size_t i = 0; i < h->count; i++)
        if (h->holds[i] == content)
            return h->name[i];
    return content;
}

/* 2. */
static struct verdict is_swapped_away(const struct copying *c, struct ir_buffer *from, struct ir_buffer *to) {
    const struct ir_region *region = c->loop->region;
    size_t first;
    if (region->ambient != LEVEL_GRID || !find_swaps(region, c->at + 1, &first))
        return no(next_use(region, c->at + 1, from));
    const struct ir_instruction *use = next_old_use(region, c->at + 1, from, to);
    if (use && (use->region != region || use->kind != IR_SWAP))
        return no(use);
    struct holdings h = {.count = 0};
    holding(&h, from);
    holding(&h, to);
    if (!do_swaps(region, first, &h))
        return no(NULL);
    bool is_gone = ir_made_in(region, where_is(&h, from));
    return (struct verdict){is_gone, is_gone ? NULL : region->instructions.at[first]};
}

static void remake_swaps(struct reuse *u, const struct copying *c, struct ir_buffer *from, struct ir_buffer *to) {
    struct ir_region *region = c->loop->region;
    size_t first;
    find_swaps(region, c->at + 1, &first);
    struct holdings wanted = {.count = 0}, has = {.count = 0};
    holding(&wanted, from);
    holding(&wanted, to);
    do_swaps(region, first, &wanted);
    struct ir_instruction *like = region->instructions.at[first];
    for (size_t i = region->instructions.count; i-- > first;)
        if (region->instructions.at[i]->kind == IR_SWAP)
            remove_at(region, i);
    for (size_t i = 0; i < wanted.count; i++)
        holding(&has, wanted.name[i]);
    exchange(&has, holding(&has, from), holding(&has, to)); /* the new elements are where the old ones were */
    VEC(struct ir_instruction *) rest = {0};
    for (size_t i = first; i < region->instructions.count; i++)
        vec_push(u->arena, &rest, region->instructions.at[i]);
    region->instructions.count = first;
    for (size_t i = 0; i < wanted.count; i++) {
        if (ir_made_in(region, wanted.name[i]) || has.holds[i] == wanted.holds[i])
            continue;
        size_t there = 0;
        while (has.holds[there] != wanted.holds[i])
            there++;
        struct ir_instruction *swap = ARENA_NEW(u->arena, struct ir_instruction);
        *swap = *like;
        swap->buffer = has.name[i];
        IR_PART(swap, swap).other = has.name[there];
        vec_push(u->arena, &ir_touched(u->arena, &u->places, swap->buffer)->all, swap);
        vec_push(u->arena, &ir_touched(u->arena, &u->places, IR_PART(swap, swap).other)->all, swap);
        vec_push(u->arena, &region->instructions, swap);
        exchange(&has, i, there);
    }
    for (size_t i = 0; i < rest.count; i++)
        vec_push(u->arena, &region->instructions, rest.at[i]);
}

/* 3. The loop behind it that copies the arrays back, and is all that touches them. */
static struct ir_instruction *copied_back(const struct copying *c) {
    struct ir_region *region = c->loop->region;
    struct copying back;
    for (size_t i = c->at + 1; i < region->instructions.count; i++) {
        struct ir_instruction *instruction = region->instructions.at[i];
        bool is_back = is_copying(instruction, i, &back) && back.count == c->count &&
                       back.loop->operands[0] == c->loop->operands[0];
        for (size_t k = 0; is_back && k < c->count; k++)
            is_back = back.from[k] == c->to[k] && back.to[k] == c->from[k];
        if (is_back)
            return instruction;
        for (size_t k = 0; k < c->count; k++)
            if (ir_touch_in(instruction, c->from[k]))
                return NULL;
    }
    return NULL;
}

/* ---- loops that copy ---- */

static void drop(struct ir_instruction *instruction) {
    remove_at(instruction->region, ir_position(instruction->region, instruction));
}

static bool copies_back(struct reuse *u, struct copying *c) {
    struct ir_instruction *back = copied_back(c);
    if (!back)
        return false;
    drop(back);
    drop(c->loop);
    for (size_t k = 0; k < c->count; k++)
        merge(u, c->loop->region, c->from[k], c->to[k], true);
    return true;
}

/* Nothing was stored there before, as other parts of an append are, which may be made of the old elements. */
static bool is_first_in(const struct copying *c, const struct ir_buffer *to) {
    return next_use(c->loop->region, 0, to)->region == c->loop->regions[0];
}

static void note_update(struct reuse *u, const struct copying *c, enum ir_update_kind kind,
                        const struct ir_instruction *use) {
    ir_note_update(u->arena, u->kernel, (struct ir_update){kind, c->start, use});
}

/* One branch updates the array, and the other makes the result in its own way. */
static bool is_in_branch(const struct copying *c) {
    const struct ir_region *region = c->loop->region;
    return region->owner && region->owner->kind == IR_IF && !ir_made_in(region, c->to[0]) &&
           c->from[0]->memory == c->to[0]->memory && c->from[0]->owner == c->to[0]->owner;
}

static enum ir_update_kind why_copies(const struct copying *c, bool has_rooms, const struct ir_instruction *use) {
    if (ir_is_constant_memory(c->from[0]))
        return UPDATE_COPIES_INPUT;
    if (!has_rooms && is_in_branch(c))
        return UPDATE_COPIES_BRANCH;
    if (has_rooms && use)
        return UPDATE_COPIES_USED;
    bool is_whole = is_as_long(c->to[0]->capacity, c->loop->operands[0]);
    return c->from[0]->is_result && is_whole ? UPDATE_COPIES_RESULT : UPDATE_COPIES_ROOM;
}

static bool reuses(struct reuse *u, struct copying *c) {
    struct ir_region *region = c->loop->region;
    const struct ir_instruction *use = NULL;
    bool is_free = true, is_swapped[MOST_LEAVES], has_rooms = true;
    for (size_t k = 0; k < c->count; k++)
        has_rooms = has_rooms && ir_made_in(region, c->to[k]) && is_first_in(c, c->to[k]) &&
                    has_room(c->from[k], c->to[k], c->loop->operands[0]);
    if (has_rooms && c->is_start && copies_back(u, c)) {
        note_update(u, c, UPDATE_IN_PLACE, NULL);
        return true;
    }
    for (size_t k = 0; k < c->count && is_free; k++) {
        struct verdict verdict = is_done_with(c, c->from[k], c->to[k]);
        is_swapped[k] = !verdict.is_free && c->is_start;
        if (is_swapped[k])
            verdict = is_swapped_away(c, c->from[k], c->to[k]);
        is_free = verdict.is_free;
        use = verdict.use;
    }
    if (is_free && has_rooms) {
        for (size_t k = 0; k < c->count; k++)
            if (is_swapped[k])
                remake_swaps(u, c, c->from[k], c->to[k]);
        drop(c->store ? c->store : c->loop);
        for (size_t k = 0; k < c->count; k++)
            merge(u, region, c->from[k], c->to[k], c->is_start);
        if (c->is_start)
            note_update(u, c, UPDATE_IN_PLACE, NULL);
        return true;
    }
    if (c->is_start)
        note_update(u, c, why_copies(c, has_rooms, use), has_rooms ? use : NULL);
    return false;
}

static size_t count_uses(const struct ir_instruction *loop, const struct ir_buffer *buffer) {
    size_t count = 0;
    for (struct ir_walk walk = ir_walk_of(loop); walk.at; ir_next(&walk))
        count += ir_touches(walk.at, buffer);
    return count;
}

/* Reuses an array that a loop copies while it makes others: a `while` begins so, with arrays of one length. */
static bool reuses_part(struct reuse *u, struct ir_instruction *loop, size_t at) {
    if (!may_copy(loop))
        return false;
    for (size_t i = 0; i < loop->regions[0]->instructions.count; i++) {
        struct ir_instruction *store = loop->regions[0]->instructions.at[i];
        if (!is_copied(loop, store) || IR_PART(store, store).is_start)
            continue;
        struct copying c = {.loop = loop, .at = at, .count = 1, .store = store};
        c.from[0] = store->operands[1]->definition->buffer;
        c.to[0] = store->buffer;
        if (count_uses(loop, c.to[0]) == 1 && !ir_change_in(loop, c.from[0]) && reuses(u, &c))
            return true;
    }
    return false;
}

/* ---- copies in branches ---- */

/* The loop of that branch which copies, as it would be in front of the branches. */
static bool find_copy(const struct ir_region *branch, struct copying *c) {
    for (size_t i = 0; i < branch->instructions.count; i++) {
        if (!is_copying(branch->instructions.at[i], i, c))
            continue;
        bool is_movable = true;
        for (size_t k = 0; k < c->count && is_movable; k++) {
            is_movable = !ir_made_in(branch, c->from[k]) && !ir_made_in(branch, c->to[k]) && is_first_in(c, c->to[k]);
            for (size_t j = 0; j < i && is_movable; j++)
                is_movable = !ir_change_in(branch->instructions.at[j], c->from[k]);
        }
        const struct ir_value *count = c->loop->operands[0];
        if (is_movable && (count->is_constant || !ir_region_inside(count->region, branch)))
            return true;
    }
    return false;
}

static bool copy_the_same(const struct copying *a, const struct copying *b) {
    bool is_same = a->count == b->count && a->loop->kind == b->loop->kind && a->loop->inner == b->loop->inner &&
                   a->loop->operands[0] == b->loop->operands[0];
    for (size_t k = 0; k < a->count && is_same; k++)
        is_same = a->from[k] == b->from[k] && a->to[k] == b->to[k];
    return is_same;
}

/* Where both branches begin their result as a copy of one array, as
   `if c then scatter xs … else push xs` does, the copy comes before the branches, where it may be
   done without. */
static bool moves_copy(struct reuse *u, struct ir_region *region, size_t at) {
    struct ir_instruction *branches = region->instructions.at[at];
    struct copying copies[2];
    for (int r = 0; r < 2; r++)
        if (!find_copy(branches->regions[r], &copies[r]))
            return false;
    if (!copy_the_same(&copies[0], &copies[1]) || !(copies[0].is_start || copies[1].is_start))
        return false;
    struct ir_instruction *loop = copies[copies[0].is_start ? 0 : 1].loop;
    for (int r = 0; r < 2; r++)
        drop(copies[r].loop);
    loop->region = region;
    loop->regions[0]->parent = region;
    vec_push(u->arena, &region->instructions, loop);
    for (size_t i = region->instructions.count - 1; i > at; i--)
        region->instructions.at[i] = region->instructions.at[i - 1];
    region->instructions.at[at] = loop;
    return true;
}

/* With `starts`, copies that updates start from, too. */
static void visit(struct reuse *u, struct ir_region *region, bool starts) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        struct ir_instruction *instruction = region->instructions.at[i];
        struct copying c;
        if (starts && instruction->kind == IR_IF && moves_copy(u, region, i))
            instruction = region->instructions.at[i];
        if (is_copying(instruction, i, &c) && (starts || !c.is_start) && reuses(u, &c)) {
            u->kernel->changes++;
            i = (size_t)-1; /* instructions have gone: the rest is looked at anew */
            continue;
        }
        if (!starts && reuses_part(u, instruction, i)) {
            u->kernel->changes++;
            i = (size_t)-1;
            continue;
        }
        for (int r = 0; r < 2; r++)
            if (instruction->regions[r])
                visit(u, instruction->regions[r], starts);
    }
}

void pass_reuse(struct arena *arena, struct ir_kernel *kernel) {
    struct reuse u = {.arena = arena, .kernel = kernel, .places = ir_places(arena, kernel->body)};
    visit(&u, kernel->body, false); /* a step's array may be handed on before it is known to be the state's */
    visit(&u, kernel->body, true);
}
