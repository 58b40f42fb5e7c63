/* Checks the invariants of the IR: scopes, base types, levels, uniformity. A violation is a mistake of the compiler. */
#include "ir/build/fold.h"
#include "ir/places.h"

struct verifier {
    struct arena *arena;
    const struct ir_kernel *kernel;
    bool *defined;     /* by value id: met before the current place */
    const char *wrong; /* the first mistake */
    struct span where;
};

static void __attribute__((format(printf, 3, 4)))
complain(struct verifier *v, const struct ir_instruction *at, const char *format, ...) {
    if (v->wrong)
        return;
    va_list arguments;
    va_start(arguments, format);
    struct text text;
    text_init(&text, v->arena);
    text_printf(&text, "kernel %s: ", v->kernel->name ? v->kernel->name->text : "?");
    text_vprintf(&text, format, arguments);
    va_end(arguments);
    if (at)
        v->where = at->span;
    v->wrong = text_string(&text);
}

/* ---- scopes ---- */

static void check_use(struct verifier *v, const struct ir_instruction *at, const struct ir_value *value,
                      const struct ir_region *region) {
    if (!value)
        complain(v, at, "an operand is missing");
    else if (value->id >= v->kernel->value_count)
        complain(v, at, "value %%%u is not of this kernel", (unsigned)value->id);
    else if (!ir_in_scope(value, region))
        complain(v, at, "%%%u is used outside its scope", (unsigned)value->id);
    else if (value->region && !v->defined[value->id])
        complain(v, at, "%%%u is used before its definition", (unsigned)value->id);
}

static void define(struct verifier *v, const struct ir_instruction *at, struct ir_value *const *values, size_t count,
                   const struct ir_region *region, const struct ir_instruction *definition) {
    for (size_t i = 0; i < count && !v->wrong; i++) {
        if (!values[i] || values[i]->id >= v->kernel->value_count)
            complain(v, at, "a result or parameter is missing");
        else if (v->defined[values[i]->id])
            complain(v, at, "%%%u is defined twice", (unsigned)values[i]->id);
        else if (values[i]->region != region || values[i]->definition != definition)
            complain(v, at, "%%%u does not know its definition", (unsigned)values[i]->id);
        else
            v->defined[values[i]->id] = true;
    }
}

static void expect_base(struct verifier *v, const struct ir_instruction *at, const struct ir_value *value,
                        enum base base, const char *what) {
    if (value && value->base != base)
        complain(v, at, "%s is %s instead of %s", what, base_info[value->base].name, base_info[base].name);
}

/* ---- instructions ---- */

static void check_region(struct verifier *v, const struct ir_region *region, const struct ir_instruction *owner,
                         const struct ir_region *parent, enum level_value ambient);

static void check_operation(struct verifier *v, const struct ir_instruction *at) {
    struct ir_value **x = at->operands;
    if (at->op >= OP_COUNT || at->operand_count != (size_t)ir_op_info[at->op].arity || at->result_count != 1) {
        complain(v, at, "an operation has the wrong number of operands");
        return;
    }
    enum base base = x[at->operand_count - 1]->base;
    size_t first = at->op == OP_SELECT;
    if (first)
        expect_base(v, at, x[0], BASE_BOOL, "the condition of a select");
    for (size_t i = first; i < at->operand_count; i++)
        expect_base(v, at, x[i], base, "an operand");
    if (at->op == OP_NOT)
        expect_base(v, at, x[0], BASE_BOOL, "the operand of not");
    if (ir_op_info[at->op].result != RESULT_GIVEN)
        expect_base(v, at, at->results[0], fold_result_base(at->op, base), "the result of an operation");
    if (base_info[base].is_narrow && ir_op_info[at->op].result != RESULT_GIVEN && at->op != OP_SELECT)
        complain(v, at, "arithmetic on a %s, which is only converted", base_info[base].name);
}

/* Where a buffer may come to life: note [regions and ambients]. */
static void check_allocate(struct verifier *v, const struct ir_instruction *at, const struct ir_region *region) {
    const struct ir_buffer *buffer = at->buffer;
    enum level_value wanted = LEVEL_GRID;
    switch (buffer->memory) {
    case MEMORY_INPUT:
    case MEMORY_TABLE: complain(v, at, "an input or a table is allocated"); return;
    case MEMORY_OUTPUT: break;
    case MEMORY_SHARED:
        if (buffer->owner != LEVEL_WARP && buffer->owner != LEVEL_BLOCK)
            complain(v, at, "a shared buffer belongs to neither a warp nor a block");
        wanted = buffer->owner;
        break;
    case MEMORY_PRIVATE: /* or at block or warp, for the threads of all its loops: own_places.c */
        wanted = region->ambient < LEVEL_GRID ? region->ambient : LEVEL_THREAD;
        break;
    }
    if (region->ambient != wanted)
        complain(v, at, "a buffer of level %s is allocated at ambient %s", level_names[wanted],
                 level_names[region->ambient]);
    if (!buffer->capacity)
        complain(v, at, "a buffer without a capacity");
    else if (buffer->memory != MEMORY_OUTPUT && buffer->capacity->region &&
             buffer->capacity->region->ambient != LEVEL_GRID)
        complain(v, at, "a capacity that the host does not know");
    else
        check_use(v, at, buffer->capacity, region);
}

static void check_access(struct verifier *v, const struct ir_instruction *at, const struct ir_region *region) {
    bool is_store = at->kind == IR_STORE;
    if (!at->buffer || at->operand_count != (is_store ? 2u : 1u)) {
        complain(v, at, "a load or store without a buffer or an operand");
        return;
    }
    if (!base_info[at->operands[0]->base].is_integer)
        complain(v, at, "an index is no integer");
    expect_base(v, at, is_store ? at->operands[1] : at->results[0], at->buffer->element, "an element");
    if (is_store && region->ambient != LEVEL_THREAD)
        complain(v, at, "a store at ambient %s", level_names[region->ambient]);
    if (is_store && ir_is_constant_memory(at->buffer))
        complain(v, at, "a store to an input or a table");
}

static void check_atomic(struct verifier *v, const struct ir_instruction *at, const struct ir_region *region) {
    size_t operands = IR_PART(at, store).atomic == ATOMIC_COMPARE_EXCHANGE ? 3 : 2;
    if (!at->buffer || at->operand_count != operands || at->result_count != 1) {
        complain(v, at, "an atomic without a buffer or an operand");
        return;
    }
    if (!base_info[at->operands[0]->base].is_integer)
        complain(v, at, "an index is no integer");
    for (size_t i = 1; i < operands; i++)
        expect_base(v, at, at->operands[i], at->buffer->element, "an element");
    expect_base(v, at, at->results[0], at->buffer->element, "an element");
    if (region->ambient != LEVEL_THREAD)
        complain(v, at, "an atomic at ambient %s", level_names[region->ambient]);
    const struct base_info *info = &base_info[at->buffer->element];
    if (info->bits < 32 && IR_PART(at, store).atomic != ATOMIC_COMPARE_EXCHANGE)
        complain(v, at, "an atomic on a %s", info->name);
    bool is_exchange =
        IR_PART(at, store).atomic == ATOMIC_EXCHANGE || IR_PART(at, store).atomic == ATOMIC_COMPARE_EXCHANGE;
    if (!is_exchange && info->is_floating && IR_PART(at, store).atomic != ATOMIC_ADD)
        complain(v, at, "an atomic %s of %s", ir_atomic_names[IR_PART(at, store).atomic], info->name);
    if (!at->buffer->rewritten || (at->buffer->memory != MEMORY_OUTPUT && at->buffer->memory != MEMORY_SHARED))
        complain(v, at, "an atomic on a buffer that is not shared and rewritten");
}

/* ---- exchanges of lanes ---- */

/* True if all lanes of the loop have the same value. A loop carries the same value in all lanes if its first value is
   the same, and if the next value is the same when the one before it is. */
static bool is_uniform(const struct ir_value *value, const struct ir_instruction *lanes, struct map *granted) {
    if (value->is_constant || !value->region || !ir_region_inside(value->region, lanes->regions[0]) ||
        map_has(granted, value))
        return true;
    const struct ir_instruction *i = value->definition ? value->definition : value->region->owner;
    if (i == lanes)
        return false; /* the lane */
    if (i->kind == IR_BALLOT || (i->kind == IR_SHUFFLE && i->operands[1]->is_constant))
        return true;
    bool is_loop = i->kind == IR_FOR || i->kind == IR_WHILE;
    if (i->kind != IR_OPERATION && i->kind != IR_IF && !is_loop)
        return false;
    map_set(granted, value, (void *)value);
    if (!is_loop) {
        for (size_t k = 0; k < i->operand_count; k++)
            if (!is_uniform(i->operands[k], lanes, granted))
                return false;
        for (size_t k = 0; i->kind == IR_IF && k < i->result_count; k++)
            if (i->results[k] == value && !(is_uniform(i->regions[0]->yields.at[k], lanes, granted) &&
                                            is_uniform(i->regions[1]->yields.at[k], lanes, granted)))
                return false;
        return true;
    }
    size_t fixed = i->kind == IR_FOR;
    const struct ir_value *goes_on = fixed ? i->operands[0] : i->regions[0]->yields.at[0];
    if (!is_uniform(goes_on, lanes, granted))
        return false;
    for (size_t k = 0; k < i->result_count; k++) /* a result, or what is carried to it */
        if (i->results[k] == value || i->parameters[fixed + k] == value)
            return is_uniform(i->operands[fixed + k], lanes, granted) &&
                   is_uniform(i->regions[i->kind == IR_WHILE]->yields.at[k], lanes, granted);
    return true; /* the index of a FOR */
}

/* All lanes must come to it together: what it is in depends on nothing that lanes have different values of. */
static void check_exchange(struct verifier *v, const struct ir_instruction *at, const struct ir_region *region) {
    const struct ir_instruction *lanes = ir_parallel_loop(region);
    if (!lanes || lanes->outer != LEVEL_WARP) {
        complain(v, at, "an exchange of lanes that is not in a loop over the lanes of a warp");
        return;
    }
    if (!lanes->operands[0]->is_constant || lanes->operands[0]->constant.integer != v->kernel->warp_size)
        complain(v, at, "an exchange of lanes in a loop that is not over all lanes");
    if ((at->kind == IR_BALLOT || at->kind == IR_MATCH) && at->results[0]->base != ir_lanes_base(v->kernel))
        complain(v, at, "bits of lanes that are not of the type for as many");
    for (const struct ir_instruction *owner = region->owner; owner != lanes; owner = owner->region->owner) {
        const struct ir_value *decides = owner->kind == IR_WHILE ? owner->regions[0]->yields.at[0] : owner->operands[0];
        if (!is_uniform(decides, lanes, map_new(v->arena)))
            complain(v, at, "an exchange of lanes where not all of them may come to");
    }
}

static void check_mma(struct verifier *v, const struct ir_instruction *at, const struct ir_region *region) {
    check_exchange(v, at, region);
    enum base base = at->operand_count ? at->operands[0]->base : BASE_F16;
    if (!mma_has_form(base)) {
        complain(v, at, "a product of matrices of %s", base_info[base].name);
        return;
    }
    const struct mma_form form = mma_form(base);
    size_t places = at->operand_count - form.operands;
    bool by_columns = IR_PART(at, mma).by_columns;
    if (at->operand_count < form.operands || places > MMA_PLACES || at->result_count != MMA_SUMS ||
        (by_columns && !places)) {
        complain(v, at, "a product of matrices with %zu operands", at->operand_count);
        return;
    }
    if (places && !by_columns && base_info[base].bits != 16)
        complain(v, at, "rows of the second matrix, of %s", base_info[base].name);
    for (size_t i = 0; i < form.operands && !v->wrong; i++)
        expect_base(v, at, at->operands[i], i < form.first + form.second ? base : form.sum, "an element of a matrix");
    for (size_t i = form.operands; i < at->operand_count && !v->wrong; i++)
        expect_base(v, at, at->operands[i], BASE_I32, "the place of a row");
    for (size_t i = 0; i < MMA_SUMS && !v->wrong; i++)
        expect_base(v, at, at->results[i], form.sum, "an element of a product");
}

static void check_yields(struct verifier *v, const struct ir_instruction *at, const struct ir_region *region,
                         struct ir_value *const *like, size_t count) {
    if (region->yields.count != count)
        complain(v, at, "a region yields %zu values instead of %zu", region->yields.count, count);
    for (size_t i = 0; i < count && !v->wrong; i++)
        expect_base(v, at, region->yields.at[i], like[i]->base, "what a region yields");
}

/* Loops: `fixed` operands and parameters (the count and the index) before what is carried. */
static void check_carried(struct verifier *v, const struct ir_instruction *at, size_t fixed) {
    if (at->operand_count != at->result_count + fixed || at->parameter_count != at->operand_count) {
        complain(v, at, "a loop carries different numbers of values");
        return;
    }
    for (size_t i = 0; i < at->result_count; i++) {
        expect_base(v, at, at->operands[fixed + i], at->results[i]->base, "an initial value");
        expect_base(v, at, at->parameters[fixed + i], at->results[i]->base, "a carried value");
    }
}

static void check_count(struct verifier *v, const struct ir_instruction *at) {
    if (at->operand_count < 1 || at->parameter_count < 1 || !base_info[at->operands[0]->base].is_integer)
        complain(v, at, "a loop without an integer count");
    else
        expect_base(v, at, at->parameters[0], at->operands[0]->base, "an index");
}

static void check_instruction(struct verifier *v, const struct ir_instruction *at, const struct ir_region *region) {
    enum level_value ambient = region->ambient;
    if (at->region != region)
        complain(v, at, "an instruction does not know its region");
    for (size_t i = 0; i < at->operand_count; i++)
        check_use(v, at, at->operands[i], region);
    if (v->wrong)
        return;
    struct ir_region *const *regions = at->regions;
    switch (at->kind) {
    case IR_OPERATION: check_operation(v, at); break;
    case IR_LOAD:
    case IR_STORE: check_access(v, at, region); break;
    case IR_ATOMIC: check_atomic(v, at, region); break;
    case IR_SHUFFLE:
    case IR_MATCH:
    case IR_BALLOT: check_exchange(v, at, region); break;
    case IR_MMA: check_mma(v, at, region); break;
    case IR_CHECK:
        if (at->operand_count != 3 || at->site >= v->kernel->checks.count)
            complain(v, at, "a check without its numbers");
        else
            expect_base(v, at, at->operands[0], BASE_BOOL, "the condition of a check");
        for (size_t i = 1; i < 3 && !v->wrong; i++)
            expect_base(v, at, at->operands[i], BASE_I32, "a number of a check");
        break;
    case IR_FENCE:
        if (ambient == LEVEL_GRID)
            complain(v, at, "a fence at ambient %s", level_names[ambient]);
        if (at->buffer && (ambient != LEVEL_BLOCK || !at->buffer->stages || at->buffer->memory != MEMORY_SHARED))
            complain(v, at, "a fence of copies to what has no stages");
        break;
    case IR_ALLOCATE: check_allocate(v, at, region); break;
    case IR_SWAP:
        if (ambient != LEVEL_GRID || at->buffer->memory != MEMORY_OUTPUT ||
            IR_PART(at, swap).other->memory != MEMORY_OUTPUT || at->buffer->element != IR_PART(at, swap).other->element)
            complain(v, at, "a swap of what is not alike, or not the host's");
        break;
    case IR_FORALL:
        check_count(v, at);
        if (at->inner >= at->outer || at->inner < LEVEL_THREAD || at->outer != ambient)
            complain(v, at, "a parallel loop from %s to %s at ambient %s", level_names[at->outer],
                     level_names[at->inner], level_names[ambient]);
        if (at->buffer && (at->outer != LEVEL_GRID || at->inner != LEVEL_BLOCK))
            complain(v, at, "tickets for a loop that is not from grid to block");
        if (IR_PART(at, loop).threads && (at->outer != LEVEL_GRID || at->inner < LEVEL_WARP))
            complain(v, at, "threads of a loop that is not from grid to block or warp");
        if (v->wrong)
            return;
        define(v, at, at->parameters, at->parameter_count, regions[0], NULL);
        check_region(v, regions[0], at, region, at->inner);
        break;
    case IR_FOR:
        check_count(v, at);
        check_carried(v, at, 1);
        if (v->wrong)
            return;
        define(v, at, at->parameters, at->parameter_count, regions[0], NULL);
        check_region(v, regions[0], at, region, ambient);
        check_yields(v, at, regions[0], at->results, at->result_count);
        break;
    case IR_WHILE:
        check_carried(v, at, 0);
        if (v->wrong)
            return;
        define(v, at, at->parameters, at->parameter_count, regions[0], NULL);
        check_region(v, regions[0], at, region, ambient);
        if (regions[0]->yields.count != 1)
            complain(v, at, "a while without a condition");
        else
            expect_base(v, at, regions[0]->yields.at[0], BASE_BOOL, "a condition");
        check_region(v, regions[1], at, region, ambient);
        check_yields(v, at, regions[1], at->results, at->result_count);
        break;
    case IR_IF:
        if (at->operand_count != 1)
            complain(v, at, "an if without a condition");
        else
            expect_base(v, at, at->operands[0], BASE_BOOL, "a condition");
        for (int i = 0; i < 2 && !v->wrong; i++) {
            check_region(v, regions[i], at, region, ambient);
            check_yields(v, at, regions[i], at->results, at->result_count);
        }
        break;
    }
    define(v, at, at->results, at->result_count, region, at);
}

static void check_region(struct verifier *v, const struct ir_region *region, const struct ir_instruction *owner,
                         const struct ir_region *parent, enum level_value ambient) {
    if (!region || region->owner != owner || region->parent != parent || region->ambient != ambient) {
        complain(v, owner, "a region is missing, does not know its place or has the wrong ambient");
        return;
    }
    for (size_t i = 0; i < region->instructions.count && !v->wrong; i++)
        check_instruction(v, region->instructions.at[i], region);
    for (size_t i = 0; i < region->yields.count && !v->wrong; i++)
        check_use(v, owner, region->yields.at[i], region);
}

const char *ir_verify(struct arena *arena, const struct ir_kernel *kernel) {
    struct span where = {0, 0};
    const char *wrong = ir_verify_at(arena, kernel, &where);
    return wrong && where.end ? arena_printf(arena, "%s (source offset %u)", wrong, (unsigned)where.begin) : wrong;
}

const char *ir_verify_at(struct arena *arena, const struct ir_kernel *kernel, struct span *where) {
    struct verifier v = {arena, kernel, ARENA_ARRAY(arena, bool, kernel->value_count + 1), NULL, {0, 0}};
    check_region(&v, kernel->body, NULL, NULL, LEVEL_GRID);
    for (size_t i = 0; i < kernel->results.count && !v.wrong; i++) {
        const struct ir_result *result = &kernel->results.at[i];
        check_use(&v, NULL, result->value, kernel->body);
        for (size_t k = 0; k < result->rank; k++)
            check_use(&v, NULL, result->extents[k], kernel->body);
        if (result->is_array && !result->buffer)
            complain(&v, NULL, "an array result without a buffer");
    }
    *where = v.where;
    return v.wrong;
}
