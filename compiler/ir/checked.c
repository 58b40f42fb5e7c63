/* --check adds this to IR that was read, as the elaborator adds it to programs (elaborate/check.c): each index is
   compared with what its buffer has room for, results with their memory, and bounds and `nowrap` that the text
   promises are not believed. On the host they are checked, as lengths of memory may go by them; on the device they
   are worked out anew.

   note [marks]
   Beside an output that is not `rewritten` there are marks, one for each element, which a store sets and a load and
   the caller want set. So each element is written once, and before it is read. Outputs that are swapped have none, nor
   has what is not global: the interpreter (evaluate.c) looks at all memory.

   note [after a failure] of elaborate/check.c holds here, too: what was found wrong is left out. */
#include "ir/places.h"
#include "ir/build/range.h"
#include "ir/passes/rewrite.h"
#include "ir/text/text.h"

typedef VEC(struct ir_buffer *) buffer_list;

struct checking {
    struct arena *arena;
    struct ir_kernel *kernel;
    struct rewriter r;                /* where what is added goes */
    struct ir_instruction place;      /* its user, where there is none */
    struct replacements replacements; /* promised bounds: by what certainly lies between them */
    struct map *rooms;                /* buffer → how many elements it has; of memory that is not there 0 */
    struct map *in_branch;            /* outputs that may not be there */
    struct map *swapped;              /* outputs that have no marks: note [marks] */
    struct map *marks;                /* output → the buffer of its marks */
    buffer_list made;                 /* outputs, in order */
};

/* Instructions that are added from now on stand at the end of that region. */
static void stand_at(struct checking *c, struct ir_region *region, struct span span) {
    c->place = (struct ir_instruction){.region = region, .span = span};
    c->r = (struct rewriter){c->arena, c->kernel, region, &c->place};
}

static struct ir_value *now(const struct checking *c, struct ir_value *value) {
    struct ir_instruction user = {.operands = &value, .operand_count = 1};
    rewrite_operands(&user, &c->replacements);
    return value;
}

static struct range range_of(const struct ir_value *value) { return (struct range){value->low, value->high}; }

static struct ir_value *as(const struct checking *c, struct ir_value *value, enum base base) {
    if (value->base == base)
        return value;
    if (value->is_constant &&
        (base == BASE_I64 || (base == BASE_I32 && value->low >= INT32_MIN && value->high <= INT32_MAX)))
        return rewrite_constant(&c->r, base, value->constant.integer);
    return rewrite_convert(&c->r, value, base);
}

static void add_check(struct checking *c, enum ir_check check, struct ir_value *condition, struct ir_value *x,
                      struct ir_value *y) {
    struct ir_check_site site = {.check = check, .span = c->r.user->span};
    vec_push(c->arena, &c->kernel->checks, site);
    struct ir_value *numbers[2] = {as(c, x, BASE_I32), as(c, y, BASE_I32)};
    struct ir_instruction *added = rewrite_instruction(&c->r, IR_CHECK, 3, 0);
    added->site = (uint32_t)c->kernel->checks.count - 1;
    added->operands[0] = condition;
    added->operands[1] = numbers[0];
    added->operands[2] = numbers[1];
}

static struct ir_value *both(const struct checking *c, struct ir_value *x, struct ir_value *y) {
    return rewrite_operation(&c->r, OP_AND, x, y);
}

/* ---- bounds ---- */

/* Wherever it is used from now on, it lies between the bounds that were promised. */
static void check_promise(struct checking *c, struct ir_value *value, struct range promised) {
    struct range honest = range_of(value);
    struct ir_value *low = rewrite_constant(&c->r, value->base, promised.low);
    struct ir_value *high = rewrite_constant(&c->r, value->base, promised.high);
    struct ir_value *is_above = rewrite_operation(&c->r, OP_LE, low, value);
    struct ir_value *is_below = rewrite_operation(&c->r, OP_LE, value, high);
    add_check(c, CHECK_PROMISE, is_above, value, low);
    add_check(c, CHECK_PROMISE, is_below, value, high);
    struct ir_value *kept = rewrite_operation(&c->r, OP_MIN, rewrite_operation(&c->r, OP_MAX, value, low), high);
    (void)range_intersect(honest, promised, &promised);
    kept->low = promised.low;
    kept->high = promised.high;
    kept->name = value->name;
    rewrite_set(&c->replacements, value, kept);
}

/* Gives the value the bounds that it certainly has, in place of those in the text. */
static void bound(struct checking *c, struct ir_value *value, struct range honest) {
    struct range promised = range_of(value);
    bool is_promise = !range_within(honest, promised) && base_info[value->base].is_integer;
    value->low = honest.low;
    value->high = honest.high;
    struct range common;
    if (is_promise && c->r.user->region->ambient == LEVEL_GRID && range_intersect(honest, promised, &common))
        check_promise(c, value, promised);
}

static struct range range_of_result(const struct ir_instruction *at, size_t which) {
    const struct ir_value *result = at->results[which];
    if (at->kind == IR_OPERATION) {
        struct range ranges[3];
        for (size_t i = 0; i < at->operand_count; i++)
            ranges[i] = range_of(at->operands[i]);
        return range_operation(at->op, result->base, at->operands[at->operand_count - 1]->base, ranges);
    }
    if (at->kind == IR_IF)
        return range_union(range_of(at->regions[0]->yields.at[which]), range_of(at->regions[1]->yields.at[which]));
    return range_of_base(result->base);
}

static struct range range_of_index(const struct ir_instruction *loop) {
    int64_t high = loop->operands[0]->high;
    return (struct range){0, high > 0 ? high - 1 : 0};
}

/* The host computes it in 64 bits, too, which hold what 32 make. */
static void check_no_wrap(struct checking *c, const struct ir_instruction *at) {
    enum base base = at->results[0]->base;
    struct ir_value *x = as(c, at->operands[0], BASE_I64), *low = rewrite_constant(&c->r, BASE_I64, base_low(base));
    struct ir_value *high = rewrite_constant(&c->r, BASE_I64, base_high(base));
    struct ir_value *exact = at->op == OP_NEG ? rewrite_negated(&c->r, x)
                                              : rewrite_operation(&c->r, at->op, x, as(c, at->operands[1], BASE_I64));
    struct ir_value *fits =
        both(c, rewrite_operation(&c->r, OP_LE, low, exact), rewrite_operation(&c->r, OP_LE, exact, high));
    add_check(c, CHECK_WRAPS, fits, at->operands[0], at->operands[at->operand_count - 1]);
}

static void forget_wraps(struct checking *c, struct ir_instruction *at) {
    struct range ranges[3];
    if (!at->no_wrap)
        return;
    for (size_t i = 0; i < at->operand_count; i++)
        ranges[i] = range_of(at->operands[i]);
    at->no_wrap = range_never_wraps(at->op, at->results[0]->base, ranges);
    if (!at->no_wrap && at->region->ambient == LEVEL_GRID && base_info[at->results[0]->base].bits <= 32)
        check_no_wrap(c, at);
}

/* ---- accesses ---- */

static bool is_inside_for_certain(const struct ir_value *index, const struct ir_value *room) {
    const struct ir_instruction *owner = index->region ? index->region->owner : NULL;
    bool is_index = !index->definition && owner && (owner->kind == IR_FOR || owner->kind == IR_FORALL) &&
                    owner->parameters[0] == index;
    return (index->low >= 0 && index->high < room->low) || (is_index && ir_is_same(owner->operands[0], room));
}

static struct ir_value *is_inside(const struct checking *c, struct ir_value *index, struct ir_value *room) {
    if (index->base == BASE_U64)
        return rewrite_operation(&c->r, OP_LT, index, as(c, room, BASE_U64));
    enum base base = index->base == BASE_I32 && room->base == BASE_I32 ? BASE_I32 : BASE_I64;
    index = as(c, index, base);
    room = as(c, room, base);
    return both(c, rewrite_operation(&c->r, OP_LE, rewrite_constant(&c->r, base, 0), index),
                rewrite_operation(&c->r, OP_LT, index, room));
}

static void put(struct checking *c, struct ir_region *region, struct ir_instruction *at) {
    at->region = region;
    vec_push(c->arena, &region->instructions, at);
}

static struct ir_value *load_mark(struct checking *c, struct ir_buffer *marks, struct ir_value *index, uint32_t site) {
    struct range all = range_of_base(BASE_U32);
    struct ir_instruction *load = rewrite_instruction(&c->r, IR_LOAD, 1, 1);
    struct ir_value *mark = rewrite_value(&c->r, BASE_U32, load->region, all.low, all.high);
    load->buffer = marks;
    load->operands[0] = index;
    load->again = true;
    load->site = site;
    load->results[0] = mark;
    mark->definition = load;
    return rewrite_operation(&c->r, OP_NE, mark, rewrite_constant(&c->r, BASE_U32, 0));
}

/* The mark as it was: none. */
static struct ir_value *set_mark(struct checking *c, struct ir_buffer *marks, struct ir_value *index) {
    struct range all = range_of_base(BASE_U32);
    struct ir_instruction *set = rewrite_instruction(&c->r, IR_ATOMIC, 2, 1);
    struct ir_value *before = rewrite_value(&c->r, BASE_U32, set->region, all.low, all.high);
    IR_PART(set, store).atomic = ATOMIC_EXCHANGE;
    set->buffer = marks;
    set->operands[0] = index;
    set->operands[1] = rewrite_constant(&c->r, BASE_U32, 1);
    set->results[0] = before;
    before->definition = set;
    return rewrite_operation(&c->r, OP_EQ, before, rewrite_constant(&c->r, BASE_U32, 0));
}

/* A thread may store an element again in a loop of its own, as one does that stores the next element over one that it
   does not keep. */
static bool is_in_own_loop(const struct ir_instruction *at) {
    const struct ir_instruction *owner = at->region->owner;
    while (owner && owner->kind == IR_IF)
        owner = owner->region->owner;
    return owner && (owner->kind == IR_FOR || owner->kind == IR_WHILE);
}

static void put_marked(struct checking *c, struct ir_region *region, struct ir_instruction *at) {
    struct ir_buffer *marks = map_get(c->marks, at->buffer);
    struct ir_value *index = at->operands[0];
    stand_at(c, region, at->span);
    if (marks && at->kind == IR_LOAD && !at->buffer->is_zeroed) {
        struct ir_value *is_set = load_mark(c, marks, index, at->site);
        add_check(c, CHECK_UNWRITTEN, is_set, index, index);
    } else if (marks && at->kind == IR_STORE) {
        struct ir_value *is_first = set_mark(c, marks, index);
        if (!at->again && !at->is_volatile && !IR_PART(at, store).may_meet && !is_in_own_loop(at))
            add_check(c, CHECK_TWICE, is_first, index, index);
    }
    put(c, region, at);
}

/* It is done where that holds; else it gives 0. */
static void put_in_branch(struct checking *c, struct ir_instruction *at, struct ir_value *condition) {
    struct ir_instruction *branch = rewrite_branch(&c->r, condition);
    put_marked(c, branch->regions[0], at);
    stand_at(c, branch->region, at->span);
    if (!at->result_count)
        return;
    struct ir_value *whole = at->results[0];
    struct range all = range_of_base(whole->base);
    struct ir_value *own = rewrite_value(&c->r, whole->base, branch->regions[0], all.low, all.high);
    own->definition = at;
    at->results = ARENA_ARRAY(c->arena, struct ir_value *, 1);
    at->results[0] = own;
    branch->results = ARENA_ARRAY(c->arena, struct ir_value *, 1);
    branch->result_count = 1;
    branch->results[0] = whole;
    whole->definition = branch;
    vec_push(c->arena, &branch->regions[0]->yields, own);
    vec_push(c->arena, &branch->regions[1]->yields, rewrite_constant(&c->r, whole->base, 0));
}

static void put_access(struct checking *c, struct ir_instruction *at) {
    struct ir_region *region = c->r.region;
    struct ir_value *room = now(c, map_get(c->rooms, at->buffer)), *index = at->operands[0];
    bool may_lack = map_has(c->in_branch, at->buffer);
    bool hosts = region->ambient == LEVEL_GRID; /* a load: it is always checked */
    if ((hosts && !may_lack) || (is_inside_for_certain(index, room) && !may_lack)) {
        put_marked(c, region, at);
        return;
    }
    struct ir_value *inside = is_inside(c, index, room);
    add_check(c, at->kind == IR_LOAD ? CHECK_INDEX : CHECK_EACH, inside, index, room);
    if (at->kind == IR_LOAD && !may_lack) {
        struct ir_value *zero = rewrite_constant(&c->r, index->base, 0);
        struct ir_value *place = rewrite_value(&c->r, index->base, region, 0, index->high > 0 ? index->high : 0);
        rewrite_select(&c->r, place, inside, index, zero);
        at->operands[0] = place;
        put_marked(c, region, at);
    } else {
        put_in_branch(c, at, inside);
    }
}

/* ---- memory ---- */

static void check_length(struct checking *c, struct ir_value *length) {
    if (length->low >= 0)
        return;
    struct ir_value *zero = rewrite_constant(&c->r, length->base, 0);
    add_check(c, CHECK_LENGTH, rewrite_operation(&c->r, OP_LE, zero, length), length, length);
}

/* Checks the lengths of shared memory that a launch wants: the host knows them. */
static void check_lengths_within(struct checking *c, const struct ir_region *region) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *at = region->instructions.at[i];
        if (at->kind == IR_ALLOCATE)
            check_length(c, now(c, at->buffer->capacity));
        for (int k = 0; k < 2; k++)
            if (at->regions[k])
                check_lengths_within(c, at->regions[k]);
    }
}

static void allocate(struct checking *c, struct ir_buffer *buffer) {
    buffer->capacity = now(c, buffer->capacity);
    map_set(c->rooms, buffer, buffer->capacity);
    if (buffer->memory != MEMORY_OUTPUT)
        return;
    check_length(c, buffer->capacity);
    map_set(c->rooms, buffer, as(c, buffer->capacity, BASE_I64));
    vec_push(c->arena, &c->made, buffer);
    if (buffer->rewritten || buffer->is_said || map_has(c->swapped, buffer))
        return;
    struct ir_buffer *marks = rewrite_buffer(&c->r, (struct ir_buffer){.memory = MEMORY_OUTPUT,
                                                                       .owner = LEVEL_GRID,
                                                                       .element = BASE_U32,
                                                                       .capacity = buffer->capacity,
                                                                       .rewritten = true,
                                                                       .is_zeroed = true,
                                                                       .span = buffer->span});
    rewrite_instruction(&c->r, IR_ALLOCATE, 0, 0)->buffer = marks;
    map_set(c->marks, buffer, marks);
}

static void swap(struct checking *c, struct ir_buffer *x, struct ir_buffer *y) {
    void *room = map_get(c->rooms, x);
    map_set(c->rooms, x, map_get(c->rooms, y));
    map_set(c->rooms, y, room);
}

/* The outputs that the host's loop or branch swaps, and which are there before it. */
static buffer_list swapped_within(const struct checking *c, const struct ir_instruction *at) {
    buffer_list found = {0};
    for (size_t i = 0; i < c->made.count; i++)
        for (struct ir_walk walk = ir_walk_of(at); walk.at; ir_next(&walk))
            if (walk.at->kind == IR_SWAP &&
                (walk.at->buffer == c->made.at[i] || IR_PART(walk.at, swap).other == c->made.at[i])) {
                vec_push(c->arena, &found, c->made.at[i]);
                break;
            }
    return found;
}

static struct ir_value **with(const struct checking *c, struct ir_value **list, size_t *count, struct ir_value *more) {
    struct ir_value **longer = ARENA_ARRAY(c->arena, struct ir_value *, *count + 1);
    for (size_t i = 0; i < *count; i++)
        longer[i] = list[i];
    longer[(*count)++] = more;
    return longer;
}

static struct ir_value *new_room(const struct checking *c, struct ir_region *region,
                                 struct ir_instruction *definition) {
    struct ir_value *room = rewrite_value(&c->r, BASE_I64, region, 0, INT64_MAX);
    room->definition = definition;
    return room;
}

/* A loop carries how much room there is; so does a branch, whose other side has none where the output is its own. */
static void carry_rooms(struct checking *c, struct ir_instruction *loop, const buffer_list *moved) {
    for (size_t i = 0; i < moved->count; i++) {
        struct ir_value *room = new_room(c, loop->regions[0], NULL);
        loop->operands = with(c, loop->operands, &loop->operand_count, now(c, map_get(c->rooms, moved->at[i])));
        loop->parameters = with(c, loop->parameters, &loop->parameter_count, room);
        map_set(c->rooms, moved->at[i], room);
    }
}

static void give_room(struct checking *c, struct ir_instruction *at, struct ir_buffer *buffer) {
    struct ir_value *room = new_room(c, at->region, at);
    at->results = with(c, at->results, &at->result_count, room);
    map_set(c->rooms, buffer, room);
}

static void yield_room(struct checking *c, struct ir_region *region, struct ir_value *room) {
    vec_push(c->arena, &region->yields, now(c, room));
}

static void check_region(struct checking *c, struct ir_region *region);

static void check_hosts_loop(struct checking *c, struct ir_instruction *loop) {
    buffer_list moved = swapped_within(c, loop);
    carry_rooms(c, loop, &moved);
    size_t made = c->made.count;
    for (int k = 0; k < 2 && loop->regions[k]; k++)
        check_region(c, loop->regions[k]);
    c->made.count = made; /* what it allocates is used in it */
    stand_at(c, loop->region, loop->span);
    for (size_t i = 0; i < moved.count; i++) {
        yield_room(c, loop->regions[loop->kind == IR_WHILE], map_get(c->rooms, moved.at[i]));
        give_room(c, loop, moved.at[i]);
    }
}

static void check_hosts_branch(struct checking *c, struct ir_instruction *branch) {
    buffer_list moved = swapped_within(c, branch);
    size_t ends[3] = {c->made.count};
    void **before = ARENA_ARRAY(c->arena, void *, moved.count);
    for (size_t i = 0; i < moved.count; i++)
        before[i] = map_get(c->rooms, moved.at[i]);
    for (int k = 0; k < 2; k++) {
        check_region(c, branch->regions[k]);
        for (size_t i = 0; i < moved.count; i++) {
            yield_room(c, branch->regions[k], map_get(c->rooms, moved.at[i]));
            map_set(c->rooms, moved.at[i], before[i]);
        }
        ends[k + 1] = c->made.count;
    }
    stand_at(c, branch->region, branch->span);
    for (size_t i = 0; i < moved.count; i++)
        give_room(c, branch, moved.at[i]);
    for (size_t i = ends[0]; i < ends[2]; i++) {
        struct ir_buffer *made = c->made.at[i];
        int side = i >= ends[1];
        yield_room(c, branch->regions[side], map_get(c->rooms, made));
        yield_room(c, branch->regions[!side], rewrite_constant(&c->r, BASE_I64, 0));
        give_room(c, branch, made);
        map_set(c->in_branch, made, made);
    }
}

/* ---- all instructions ---- */

static struct ir_region take_instructions(struct ir_region *region) {
    struct ir_region before = *region;
    region->instructions.at = NULL;
    region->instructions.count = region->instructions.capacity = 0;
    return before;
}

static void check_instruction(struct checking *c, struct ir_instruction *at) {
    struct ir_region *region = at->region;
    stand_at(c, region, at->span);
    rewrite_operands(at, &c->replacements);
    if (at->kind == IR_OPERATION)
        forget_wraps(c, at);
    if (at->kind == IR_ALLOCATE)
        allocate(c, at->buffer);
    if (at->kind == IR_SWAP)
        swap(c, at->buffer, IR_PART(at, swap).other);
    if (at->kind == IR_FORALL && region->ambient == LEVEL_GRID)
        check_lengths_within(c, at->regions[0]);
    for (size_t i = 0; i < at->parameter_count; i++) {
        bool is_index = i == 0 && at->kind != IR_WHILE;
        struct range honest = is_index ? range_of_index(at) : range_of_base(at->parameters[i]->base);
        at->parameters[i]->low = honest.low;
        at->parameters[i]->high = honest.high;
    }
    size_t results = at->result_count;
    bool is_hosts = region->ambient == LEVEL_GRID;
    if (is_hosts && at->kind == IR_IF)
        check_hosts_branch(c, at);
    else if (is_hosts && (at->kind == IR_FOR || at->kind == IR_WHILE))
        check_hosts_loop(c, at);
    else
        for (int k = 0; k < 2 && at->regions[k]; k++)
            check_region(c, at->regions[k]);
    stand_at(c, region, at->span);
    bool is_access = ir_touches_element(at);
    struct ir_value *const *given = at->results;
    if (is_access)
        put_access(c, at);
    else
        put(c, region, at);
    for (size_t i = 0; i < results; i++)
        bound(c, given[i], is_access ? range_of_base(given[i]->base) : range_of_result(at, i));
}

static void check_region(struct checking *c, struct ir_region *region) {
    struct ir_region before = take_instructions(region);
    for (size_t i = 0; i < before.instructions.count; i++)
        check_instruction(c, before.instructions.at[i]);
    rewrite_yields(region, &c->replacements);
}

/* ---- the kernel ---- */

/* An input's room is the product of its extents, which stand before it. */
static void find_rooms_of_inputs(struct checking *c) {
    struct ir_value *room = NULL;
    for (size_t i = 0; i < c->kernel->parameters.count; i++) {
        struct ir_parameter *p = &c->kernel->parameters.at[i];
        if (p->kind == IR_PARAMETER_BUFFER) {
            map_set(c->rooms, p->buffer, room);
            continue;
        }
        bool is_extent = p->kind == IR_PARAMETER_LENGTH;
        bound(c, p->value, is_extent ? (struct range){0, INT32_MAX} : range_of_base(p->value->base));
        struct ir_value *value = now(c, p->value);
        if (!is_extent || p->dimension == 0)
            room = value;
        else
            room = rewrite_operation(&c->r, OP_MUL, as(c, room, BASE_I64), as(c, value, BASE_I64));
    }
    for (size_t i = 0; i < c->kernel->buffers.count; i++)
        if (c->kernel->buffers.at[i]->memory == MEMORY_TABLE)
            map_set(c->rooms, c->kernel->buffers.at[i], c->kernel->buffers.at[i]->capacity);
}

static void check_result(struct checking *c, struct ir_result *result) {
    result->value = now(c, result->value);
    if (!result->is_array)
        return;
    struct ir_value *elements = NULL, *room = now(c, map_get(c->rooms, result->buffer));
    for (size_t i = 0; i < result->rank; i++) {
        result->extents[i] = now(c, result->extents[i]);
        check_length(c, result->extents[i]);
        struct ir_value *extent = as(c, result->extents[i], BASE_I64);
        elements = elements ? rewrite_operation(&c->r, OP_MUL, elements, extent) : extent;
    }
    if (result->rank > 1)
        add_check(c, CHECK_ROOM, rewrite_operation(&c->r, OP_EQ, elements, as(c, result->value, BASE_I64)), elements,
                  result->value);
    if (!ir_is_same(result->value, room) && result->value->high > room->low) {
        struct ir_value *fits = rewrite_operation(&c->r, OP_LE, as(c, result->value, BASE_I64), as(c, room, BASE_I64));
        add_check(c, CHECK_ROOM, fits, result->value, room);
    }
}

/* All elements of a result have been written. */
static void check_marks(struct checking *c, const struct ir_result *result) {
    struct ir_buffer *marks = result->is_array ? map_get(c->marks, result->buffer) : NULL;
    bool is_empty = result->value->is_constant && result->value->constant.integer == 0;
    if (!marks || result->buffer->is_zeroed || is_empty)
        return;
    struct ir_instruction *forall = rewrite_forall(&c->r, LEVEL_GRID, LEVEL_THREAD, result->value);
    stand_at(c, forall->regions[0], forall->span);
    struct ir_value *is_set = load_mark(c, marks, forall->parameters[0], 0);
    add_check(c, CHECK_MISSING, is_set, forall->parameters[0], result->value);
    stand_at(c, c->kernel->body, c->kernel->span);
}

static void find_swapped(struct checking *c) {
    for (struct ir_walk walk = ir_walk(c->kernel->body); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_SWAP) {
            map_set(c->swapped, walk.at->buffer, walk.at);
            map_set(c->swapped, IR_PART(walk.at, swap).other, walk.at);
        }
}

void ir_add_checks(struct arena *arena, struct ir_kernel *kernel) {
    struct checking *c = ARENA_NEW(arena, struct checking);
    c->arena = arena;
    c->kernel = kernel;
    c->replacements = rewrite_begin(arena, kernel);
    c->rooms = map_new(arena);
    c->in_branch = map_new(arena);
    c->swapped = map_new(arena);
    c->marks = map_new(arena);
    find_swapped(c);
    struct ir_region before = take_instructions(kernel->body);
    stand_at(c, kernel->body, kernel->span);
    find_rooms_of_inputs(c);
    for (size_t i = 0; i < before.instructions.count; i++)
        check_instruction(c, before.instructions.at[i]);
    stand_at(c, kernel->body, kernel->span);
    for (size_t i = 0; i < kernel->results.count; i++)
        check_result(c, &kernel->results.at[i]);
    for (size_t i = 0; i < kernel->results.count; i++)
        check_marks(c, &kernel->results.at[i]);
}
