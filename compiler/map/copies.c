/* note [copies by 16 bytes]
   A block that fills a shared array from global memory, or writes one back, is asked for elements one
   by one: of 4 bytes, four times the loads and stores that there need be. Where all elements of a
   loop are copied, and their places are next to each other on both sides, its threads copy 16 bytes
   each at a time, if all have as many such pieces. The kernel tests at run time whether the global memory begins at a
   multiple of 16: one that does not, as a part of a larger array, is copied element by element as before. Pieces
   go around paddings of whole pieces (note [wide loads]).

   Another thread copies element i then than the one that does iteration i of other loops: barriers are
   placed for that (barrier.c). */
#include "ir/machine.h"
#include "map/lower.h"

enum { PIECE_BYTES = 16, MOST_COPIES = 4 };

/* Takes the place apart into the index and *added, which is NULL if the place is the index. False: the place is not
   such a sum. */
static bool take_index(const struct ir_region *body, struct ir_value *place, const struct ir_value *index,
                       struct ir_value **added) {
    const struct ir_instruction *sum = place->definition;
    *added = NULL;
    if (place == index)
        return true;
    if (!sum || sum->kind != IR_OPERATION || sum->op != OP_ADD || sum->region != body)
        return false;
    for (int k = 0; k < 2; k++) {
        *added = sum->operands[!k];
        bool is_outside = (*added)->is_constant || !(*added)->region || !ir_region_inside((*added)->region, body);
        if (sum->operands[k] == index && is_outside)
            return true;
    }
    return false;
}

/* Is the place the index and a padding, index + (index >> 5) * 4 or the like, so that pieces of such elements stay
   whole? */
static bool take_padding(const struct ir_value *place, const struct ir_value *index, size_t element_bytes,
                         struct target_padding *padding) {
    const struct ir_instruction *sum = place->definition;
    if (!sum || sum->kind != IR_OPERATION || sum->op != OP_ADD)
        return false;
    const struct ir_value *other = sum->operands[sum->operands[0] == index];
    const struct ir_instruction *product = other->definition;
    if ((sum->operands[0] != index && sum->operands[1] != index) || !product || product->kind != IR_OPERATION ||
        product->op != OP_MUL || !product->operands[1]->is_constant)
        return false;
    const struct ir_instruction *row = product->operands[0]->definition;
    if (!row || row->kind != IR_OPERATION || row->op != OP_SHR || row->operands[0] != index ||
        !row->operands[1]->is_constant)
        return false;
    padding->row = INT64_C(1) << row->operands[1]->constant.integer;
    padding->elements = product->operands[1]->constant.integer;
    return padding->row * (int64_t)element_bytes % PIECE_BYTES == 0 &&
           padding->elements * (int64_t)element_bytes % PIECE_BYTES == 0;
}

static bool take_shared(const struct ir_instruction *access, const struct ir_value *index) {
    struct ir_value *added;
    struct target_padding padding;
    return take_index(access->region, access->operands[0], index, &added) ||
           take_padding(access->operands[0], index, target_element_bytes(access->buffer->element), &padding);
}

static bool is_copied(const struct ir_instruction *store, const struct ir_value *index) {
    const struct ir_instruction *load = ir_copied(store);
    struct ir_value *added;
    if (!load || load->region != store->region || !ir_is_plain(load) || !ir_is_plain(store) ||
        load->buffer->element != store->buffer->element)
        return false;
    enum ir_memory from = load->buffer->memory, to = store->buffer->memory;
    bool fills = (from == MEMORY_INPUT || from == MEMORY_OUTPUT) && to == MEMORY_SHARED;
    bool empties = from == MEMORY_SHARED && to == MEMORY_OUTPUT;
    const struct ir_instruction *global = fills ? load : store, *shared = fills ? store : load;
    return (fills || empties) && take_index(store->region, global->operands[0], index, &added) &&
           take_shared(shared, index);
}

bool copies_by_pieces(const struct map_options *options, int threads, const struct ir_instruction *forall) {
    if (!pass_wanted(options->passes, PASS_COPIES) || forall->kind != IR_FORALL || forall->inner != LEVEL_THREAD ||
        forall->outer == LEVEL_GRID || forall->buffer || !forall->operands[0]->is_constant)
        return false;
    int64_t count = forall->operands[0]->constant.integer;
    const struct ir_region *body = forall->regions[0];
    int copies = 0, loads = 0;
    for (size_t i = 0; i < body->instructions.count; i++) {
        const struct ir_instruction *instruction = body->instructions.at[i];
        if (instruction->kind == IR_LOAD) {
            loads++;
        } else if (instruction->kind == IR_STORE) {
            int64_t bytes = count * (int64_t)target_element_bytes(instruction->buffer->element);
            if (bytes % ((int64_t)PIECE_BYTES * threads) != 0 || bytes > (int64_t)GPU_COPIED * threads ||
                !is_copied(instruction, forall->parameters[0]))
                return false;
            copies++;
        } else if (instruction->kind != IR_OPERATION) {
            return false;
        }
    }
    return copies > 0 && copies == loads && copies <= MOST_COPIES && count % threads == 0;
}

/* note [pieces ahead]
   Copies ahead go by 16 bytes, too, where the places of the elements of such a piece follow one another on both sides:
   those of a tile whose rows are as long as pieces, or longer. A kernel asks once in a
   launch whether they begin at multiples of 16 bytes, where that depends on the arrays and on numbers of the host's
   alone, such as the length of rows: all pieces are copied at once then, or all by elements. Elsewhere it asks for each
   piece. */
enum in_piece {
    PIECE_OTHERWISE,
    PIECE_SAME,    /* for all elements of a piece */
    PIECE_FOLLOWS, /* each is one more than the one before, */
    PIECE_ALIGNED, /* and the first is a multiple of their number */
};

/* `size`: a power of two. */
static enum in_piece in_piece(const struct ir_region *body, const struct ir_value *value, const struct ir_value *index,
                              int64_t size) {
    const struct ir_instruction *i = value->definition;
    if (value == index)
        return PIECE_ALIGNED;
    if (value->is_constant || !value->region || !ir_region_inside(value->region, body))
        return PIECE_SAME;
    if (!i || i->kind != IR_OPERATION || i->region != body || !base_info[value->base].is_integer)
        return PIECE_OTHERWISE;
    enum in_piece parts[3] = {PIECE_SAME, PIECE_SAME, PIECE_SAME};
    bool are_same = true;
    for (size_t k = 0; k < i->operand_count && k < 3; k++) {
        parts[k] = in_piece(body, i->operands[k], index, size);
        are_same &= parts[k] == PIECE_SAME;
    }
    if (are_same)
        return PIECE_SAME;
    const struct ir_value *x = i->operands[0], *y = i->operand_count > 1 ? i->operands[1] : NULL;
    int64_t constant = y && y->is_constant ? y->constant.integer : -1;
    bool is_aligned = parts[0] == PIECE_ALIGNED && x->low >= 0;
    switch (i->op) {
    case OP_ADD:
        for (int k = 0; k < 2; k++)
            if (parts[k] >= PIECE_FOLLOWS && parts[!k] == PIECE_SAME)
                return parts[k] == PIECE_ALIGNED && ir_is_multiple(i->operands[!k], size) ? PIECE_ALIGNED
                                                                                          : PIECE_FOLLOWS;
        return PIECE_OTHERWISE;
    case OP_SUB: return parts[0] >= PIECE_FOLLOWS && parts[1] == PIECE_SAME ? PIECE_FOLLOWS : PIECE_OTHERWISE;
    case OP_SHR:
        return is_aligned && constant >= 0 && constant < 31 && INT64_C(1) << constant >= size ? PIECE_SAME
                                                                                              : PIECE_OTHERWISE;
    case OP_DIV: return is_aligned && constant > 0 && constant % size == 0 ? PIECE_SAME : PIECE_OTHERWISE;
    case OP_REM: return is_aligned && constant > 0 && constant % size == 0 ? PIECE_ALIGNED : PIECE_OTHERWISE;
    case OP_AND:
        return is_aligned && constant > 0 && (constant & (size - 1)) == size - 1 ? PIECE_ALIGNED : PIECE_OTHERWISE;
    case OP_XOR: return is_aligned && ir_is_multiple(y, size) ? PIECE_ALIGNED : PIECE_OTHERWISE;
    default: return PIECE_OTHERWISE;
    }
}

int pieces_of(struct lowering *l, const struct ir_instruction *forall) {
    if (forall->inner != LEVEL_THREAD || forall->outer != LEVEL_BLOCK || forall->buffer ||
        !forall->operands[0]->is_constant)
        return 0;
    const struct ir_region *body = forall->regions[0];
    int size = 0, copies = 0, loads = 0;
    for (size_t k = 0; k < body->instructions.count; k++) {
        const struct ir_instruction *i = body->instructions.at[k], *load = ir_copied(i);
        loads += i->kind == IR_LOAD;
        if (i->kind != IR_STORE && i->kind != IR_LOAD && i->kind != IR_OPERATION)
            return 0;
        if (i->kind != IR_STORE)
            continue;
        int64_t own = PIECE_BYTES / (int64_t)target_element_bytes(i->buffer->element);
        if (!i->buffer->stages || lower_array(l, i->buffer)->space != TARGET_SPACE_SHARED || !load ||
            load->region != body || !ir_is_plain(load) || load->buffer->element != i->buffer->element ||
            load->buffer->memory > MEMORY_OUTPUT || load->buffer->memory == MEMORY_TABLE || (size && size != own) ||
            own < 2 || in_piece(body, i->operands[0], forall->parameters[0], own) < PIECE_FOLLOWS ||
            in_piece(body, load->operands[0], forall->parameters[0], own) < PIECE_FOLLOWS)
            return 0;
        size = (int)own;
        copies++;
    }
    return copies == loads && size && forall->operands[0]->constant.integer % size == 0 ? size : 0;
}

/* note [narrow elements]
   A loop over a grid's threads that goes through elements of 1 and 2 bytes one by one issues a load, a store and what
   is around them for each, and then it is instructions that it waits for and not memory. So a thread takes elements
   next to each other: as many as the widest has in 16 bytes. They are loaded into registers at once, computed one after
   the other, and stored at once. A kernel asks once in a launch whether arrays begin at multiples of 16 bytes. If
   they do not, and at the end of an array, elements go one by one, as in note [turns].

   No iteration reads what another writes, so that all loads may go before all stores. A loop of wider elements gains
   nothing by it (note [turns]).

   The gain, in machine code for sm_90 by NVRTC 13.0 (`zipWith (fn x y => k * x + y)` of f16, with the step and with
   --skip=neighbours, 2026-11-29): for eight elements 46 instructions for 61, 2 loads for 16, a store for 8. For sixteen
   bytes, `x * 3 + 1`: 51 instructions for 56, a load for 16, a store for 16. */
static bool is_global(const struct ir_instruction *access) {
    return access->buffer->memory <= MEMORY_OUTPUT && access->buffer->memory != MEMORY_TABLE;
}

bool neighbours_follow(const struct ir_instruction *access, const struct ir_instruction *forall, int size) {
    return ir_is_access(access) && is_global(access) &&
           in_piece(forall->regions[0], access->operands[0], forall->parameters[0], size) >= PIECE_FOLLOWS;
}

/* Is the access made by each iteration? A load must not get what the same iteration has stored. */
static bool suits_neighbours(const struct lowering *l, const struct ir_instruction *access,
                             const struct ir_instruction *forall, int size) {
    const struct ir_region *body = forall->regions[0];
    const struct target_array *array = map_get(l->arrays, access->buffer);
    if (access->region != body || !ir_is_plain(access) || !is_global(access) || !array || array->stride)
        return false;
    enum in_piece piece = in_piece(body, access->operands[0], forall->parameters[0], size);
    if (access->kind == IR_STORE)
        return piece >= PIECE_FOLLOWS;
    for (size_t k = 0; body->instructions.at[k] != access; k++)
        if (body->instructions.at[k]->kind == IR_STORE && body->instructions.at[k]->buffer == access->buffer)
            return false;
    return piece >= PIECE_FOLLOWS || piece == PIECE_SAME;
}

int neighbours_of(struct lowering *l, const struct ir_instruction *forall) {
    int widest = 0, least = PIECE_BYTES, turns = ir_turns(forall);
    if (!pass_wanted(l->options->passes, PASS_NEIGHBOURS) || forall->outer != LEVEL_GRID ||
        forall->inner != LEVEL_THREAD || forall->buffer || forall->parameters[0]->base != BASE_I32)
        return 0;
    for (struct ir_walk walk = ir_walk(forall->regions[0]); walk.at; ir_next(&walk)) {
        int bytes = ir_is_access(walk.at) ? (int)target_element_bytes(walk.at->buffer->element) : 0;
        widest = bytes > widest ? bytes : widest;
        least = bytes && bytes < least ? bytes : least;
    }
    int size = widest && PIECE_BYTES / widest < turns ? PIECE_BYTES / widest : turns;
    if (size < 2 || least >= (int)target_element_bytes(BASE_I32))
        return 0;
    for (struct ir_walk walk = ir_walk(forall->regions[0]); walk.at; ir_next(&walk)) {
        bool is_other = walk.at->kind != IR_OPERATION && walk.at->kind != IR_IF && walk.at->kind != IR_CHECK;
        if (is_other && !(ir_is_access(walk.at) && suits_neighbours(l, walk.at, forall, size)))
            return 0;
    }
    return size;
}

/* The conditions under which all pieces begin at multiples of 16 bytes: each of these arrays begins at one, and each of
   these numbers, which the host knows, is a multiple of so many elements. */
struct multiple {
    const struct ir_value *value;
    int64_t size;
};
struct alignment {
    struct lowering *l;
    const struct ir_value *index; /* of the first element of a piece */
    int64_t size;                 /* its elements */
    VEC(const struct target_array *) arrays;
    VEC(struct multiple) multiples;
};

static void add_multiple(struct alignment *a, const struct ir_value *value) {
    for (size_t k = 0; k < a->multiples.count; k++)
        if (a->multiples.at[k].value == value && a->multiples.at[k].size >= a->size)
            return;
    vec_push(a->l->arena, &a->multiples, (struct multiple){value, a->size});
}

/* Is the value a multiple of `size`, if what is added to the alignment is so? */
static bool align(struct alignment *a, const struct ir_value *value) {
    const struct ir_instruction *i = value->definition;
    if (value == a->index || ir_is_multiple(value, a->size))
        return true;
    if (value->is_constant || value->base != BASE_I32)
        return false;
    size_t before = a->multiples.count;
    bool is_host_value = !value->region || !ir_region_inside(value->region, a->l->forall->regions[0]);
    bool is_one_of =
        i && (i->op == OP_MIN || i->op == OP_MAX || i->op == OP_SELECT); /* the others may be no multiples */
    if (i && i->kind == IR_OPERATION && !(is_one_of && is_host_value && a->l->values[value->id])) {
        size_t first = i->op == OP_SELECT;
        switch (i->op) {
        case OP_MUL:
        case OP_AND:
            if (align(a, i->operands[0]))
                return true;
            a->multiples.count = before;
            if (align(a, i->operands[1]))
                return true;
            break;
        case OP_ADD:
        case OP_SUB:
        case OP_XOR:
        case OP_MIN:
        case OP_MAX:
        case OP_SELECT:
            if (align(a, i->operands[first]) && align(a, i->operands[first + 1]))
                return true;
            break;
        default: break;
        }
        a->multiples.count = before;
    }
    bool may_be_one = value->low <= -a->size || value->high >= a->size; /* other than 0 */
    if (!is_host_value || !a->l->values[value->id] || !may_be_one)
        return false;
    add_multiple(a, value);
    return true;
}

/* The same access by all elements of a piece is none. */
static bool is_by_pieces(const struct alignment *a, const struct ir_instruction *access) {
    return ir_is_access(access) && in_piece(access->region, access->operands[0], a->index, a->size) >= PIECE_FOLLOWS;
}

static void align_pieces(struct alignment *a, const struct ir_instruction *forall, int size) {
    const struct ir_region *body = forall->regions[0];
    size_t before = a->multiples.count;
    a->index = forall->parameters[0];
    a->size = size;
    for (size_t k = 0; k < body->instructions.count; k++) {
        const struct ir_instruction *access = body->instructions.at[k];
        if (is_by_pieces(a, access) && !align(a, access->operands[0])) {
            a->multiples.count = before;
            return;
        }
    }
    map_set(a->l->aligned_loops, forall, a);
    for (size_t k = 0; k < body->instructions.count; k++) {
        const struct ir_instruction *access = body->instructions.at[k];
        const struct target_array *array = is_by_pieces(a, access) ? lower_array(a->l, access->buffer) : NULL;
        bool is_known = !array || array->space != TARGET_SPACE_GLOBAL; /* a block's are aligned */
        for (size_t i = 0; i < a->arrays.count; i++)
            is_known |= a->arrays.at[i] == array;
        if (!is_known)
            vec_push(a->l->arena, &a->arrays, array);
    }
}

void pieces_begin(struct lowering *l) {
    struct alignment a = {.l = l};
    l->aligned_loops = map_new(l->arena);
    for (struct ir_walk walk = ir_walk_of(l->forall); walk.at; ir_next(&walk)) {
        int size = walk.at->kind != IR_FORALL     ? 0
                   : walk.at->outer == LEVEL_GRID ? neighbours_of(l, walk.at)
                                                  : pieces_of(l, walk.at);
        if (size)
            align_pieces(&a, walk.at, size);
    }
    struct target_expr *all = NULL;
    for (size_t k = 0; k < a.arrays.count + a.multiples.count; k++) {
        struct target_expr *one = expr_new(l, TARGET_EXPR_ALIGNED, BASE_BOOL);
        if (k < a.arrays.count) {
            one->array = (struct target_array *)a.arrays.at[k];
        } else {
            struct multiple multiple = a.multiples.at[k - a.arrays.count];
            struct target_expr *rest = expr_operation(l, OP_AND, BASE_I32, lower_value(l, multiple.value),
                                                      expr_integer(l, BASE_I32, multiple.size - 1));
            one = expr_operation(l, OP_EQ, BASE_BOOL, rest, expr_integer(l, BASE_I32, 0));
        }
        all = all ? expr_operation(l, OP_AND, BASE_BOOL, all, one) : one;
    }
    l->are_aligned = all ? lower_named(l, all, "are_aligned", NULL) : NULL;
}

static struct target_expr *begin_of(struct lowering *l, const struct ir_instruction *access,
                                    const struct ir_value *index, struct target_padding *padding) {
    struct ir_value *added;
    if (!take_index(access->region, access->operands[0], index, &added)) {
        take_padding(access->operands[0], index, target_element_bytes(access->buffer->element), padding);
        added = NULL;
    }
    return added ? lower_value(l, added) : expr_integer(l, BASE_I32, 0);
}

void copies_lower(struct lowering *l, const struct ir_instruction *forall, int threads, enum target_hardware first) {
    pass_changed(l->options->passes, PASS_COPIES);
    const struct ir_region *body = forall->regions[0];
    for (size_t i = 0; i < body->instructions.count; i++) {
        const struct ir_instruction *store = body->instructions.at[i], *load = ir_copied(store);
        if (!load)
            continue;
        struct target_statement *copy = lower_emit(l, TARGET_COPY);
        copy->array = lower_array(l, store->buffer);
        copy->index = begin_of(l, store, forall->parameters[0], &copy->paddings[0]);
        struct target_array *from = lower_array(l, load->buffer);
        copy->value =
            expr_element(l, from->element, from, begin_of(l, load, forall->parameters[0], &copy->paddings[1]));
        copy->limit = expr_hardware(l, first);
        copy->copied = forall->operands[0]->constant.integer;
        copy->threads = threads;
    }
}
