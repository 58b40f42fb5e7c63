/* The promises of a kernel that was read. The elaborator keeps them, and ir_verify takes them for granted: parameters
   and results are what `takes` and `gives` say, buffers live where they are used, somebody stores what is loaded, and
   one iteration stores an element. --check (checked.c) and the interpreter (evaluate.c) find the mistakes that only a
   run can show. */
#include <string.h>

#include "ir/build/fold.h"
#include "ir/places.h"
#include "ir/text/reader.h"

static const char *type_text(const struct reader *r, struct type *type) {
    struct text text;
    text_init(&text, r->arena);
    type_print(&text, type);
    return text_string(&text);
}

static const char *name_of(const struct reader *r, const struct ir_buffer *buffer) {
    return buffer->name ? arena_printf(r->arena, "@%u (%s)", (unsigned)buffer->id, buffer->name)
                        : arena_printf(r->arena, "@%u", (unsigned)buffer->id);
}

/* ---- types that the host has values of ---- */

static bool is_array(const struct type *type) { return type->kind == TYPE_PULL || type->kind == TYPE_PUSH; }

/* [[t]] is t, in two dimensions. */
static const struct type *element_of(const struct type *type, size_t *rank) {
    for (*rank = 0; is_array(type); ++*rank)
        type = type->array.element;
    return type;
}

/* Scalars in it; *has_array: arrays, too. */
static size_t count_leaves(const struct type *type, bool *has_array) {
    size_t count = 0, rank;
    if (is_array(type)) {
        *has_array = true;
        return count_leaves(element_of(type, &rank), has_array);
    }
    if (type->kind == TYPE_BASE)
        return 1;
    for (size_t i = 0; i < type->tuple.count; i++)
        count += count_leaves(type->tuple.items[i], has_array);
    return count;
}

static void check_type(struct reader *r, const struct type *type, bool is_taken, struct span span) {
    size_t rank;
    const struct type *element = element_of(type, &rank);
    bool has_array = false;
    if (rank > TYPE_MOST_DIMENSIONS)
        reader_fail(r, span, "an array of the host's has at most %d dimensions", TYPE_MOST_DIMENSIONS);
    if (is_taken && type->kind == TYPE_PUSH)
        reader_fail(r, span, "an array that is taken has no level: the host hands it over");
    if (count_leaves(element, &has_array) > TYPE_MOST_SCALARS)
        reader_fail(r, span, "this is of more than %d scalars", TYPE_MOST_SCALARS);
    if (rank && has_array)
        reader_fail(r, span, "the elements of an array are scalars, or tuples of these");
    for (size_t i = 0; !rank && element->kind == TYPE_TUPLE && i < element->tuple.count; i++)
        check_type(r, element->tuple.items[i], is_taken, span);
}

/* ---- parameters: a scalar is one; an array is its extents, and a buffer for each scalar of its elements ---- */

struct taking {
    struct reader *r;
    size_t argument, component, next;
};

static const struct ir_parameter *take(struct taking *t, enum ir_parameter_kind kind, int dimension) {
    static const char *const kinds[] = {
        [IR_PARAMETER_SCALAR] = "scalar", [IR_PARAMETER_LENGTH] = "extent", [IR_PARAMETER_BUFFER] = "array"};
    const struct ir_kernel *kernel = t->r->kernel;
    const struct ir_parameter *p = t->next < kernel->parameters.count ? &kernel->parameters.at[t->next] : NULL;
    bool is_due = p && p->kind == kind && p->argument == t->argument && p->component == t->component &&
                  (kind != IR_PARAMETER_LENGTH || p->dimension == dimension);
    if (!is_due) {
        const char *which = kind == IR_PARAMETER_LENGTH ? arena_printf(t->r->arena, " of dimension %d", dimension) : "";
        reader_fail(t->r, p ? t->r->parameter_spans.at[t->next] : t->r->takes_spans.at[t->argument],
                    "`%s %zu.%zu`%s is due %s, as argument %zu is %s", kinds[kind], t->argument, t->component, which,
                    p ? "here" : "behind these", t->argument, type_text(t->r, kernel->parameter_types[t->argument]));
    }
    t->next++;
    return p;
}

static void check_base(struct taking *t, enum base is, enum base due) {
    if (is != due)
        reader_fail(t->r, t->r->parameter_spans.at[t->next - 1],
                    "part %zu of argument %zu is %s here, and `takes` says %s", t->component, t->argument,
                    base_info[is].name, base_info[due].name);
}

static void take_arrays(struct taking *t, const struct type *element) {
    if (element->kind == TYPE_TUPLE) {
        for (size_t i = 0; i < element->tuple.count; i++)
            take_arrays(t, element->tuple.items[i]);
        return;
    }
    check_base(t, take(t, IR_PARAMETER_BUFFER, 0)->buffer->element, element->base);
    t->component++;
}

static void take_type(struct taking *t, const struct type *type) {
    size_t rank;
    const struct type *element = element_of(type, &rank);
    for (size_t i = 0; i < rank; i++)
        (void)take(t, IR_PARAMETER_LENGTH, (int)i);
    if (rank) {
        take_arrays(t, element);
    } else if (type->kind == TYPE_TUPLE) {
        for (size_t i = 0; i < type->tuple.count; i++)
            take_type(t, type->tuple.items[i]);
    } else {
        check_base(t, take(t, IR_PARAMETER_SCALAR, 0)->value->base, type->base);
        t->component++;
    }
}

static void check_parameters(struct reader *r) {
    struct ir_kernel *kernel = r->kernel;
    struct taking t = {.r = r};
    for (t.argument = 0; t.argument < kernel->parameter_type_count; t.argument++) {
        t.component = 0;
        check_type(r, kernel->parameter_types[t.argument], true, r->takes_spans.at[t.argument]);
        take_type(&t, kernel->parameter_types[t.argument]);
    }
    if (t.next < kernel->parameters.count)
        reader_fail(r, r->parameter_spans.at[t.next], "no `takes` says what this is of: there %s %zu",
                    t.argument == 1 ? "is" : "are", t.argument);
}

/* ---- buffers live where they are allocated, and are used there, and once ---- */

struct lives {
    struct reader *r;
    struct map *region; /* buffer → where it lives */
    struct map *stored; /* buffer → one of its stores */
};

static bool is_parameter(const struct ir_kernel *kernel, const struct ir_buffer *buffer) {
    for (size_t i = 0; i < kernel->parameters.count; i++)
        if (kernel->parameters.at[i].buffer == buffer)
            return true;
    return false;
}

static void check_alive(struct lives *l, const struct ir_instruction *at, const struct ir_buffer *buffer) {
    if (buffer && buffer->memory == MEMORY_INPUT && !is_parameter(l->r->kernel, buffer))
        reader_fail(l->r, at->span, "this input is no parameter's");
    if (!buffer || ir_is_constant_memory(buffer))
        return;
    const struct ir_region *region = map_get(l->region, buffer);
    if (!region || !ir_region_inside(at->region, region))
        reader_fail(l->r, at->span, "this buffer is not allocated here");
}

/* Only operations that nothing uses may use them. */
static void check_known(struct lives *l, const struct ir_instruction *at) {
    for (size_t i = 0; i < at->operand_count; i++) {
        if (!map_has(l->r->unknown, at->operands[i]))
            continue;
        if (at->kind != IR_OPERATION)
            reader_fail(l->r, at->span, "this goes by a value that is unknown");
        map_set(l->r->unknown, at->results[0], at->results[0]);
    }
}

static void check_yields_known(struct lives *l, const struct ir_region *region) {
    for (size_t i = 0; i < region->yields.count; i++)
        if (map_has(l->r->unknown, region->yields.at[i]))
            reader_fail(l->r, region->owner->span, "what a region of this yields is unknown");
}

/* The host's index is a constant within a buffer of that length, or it says what to report. */
static void check_hosts_load(struct lives *l, const struct ir_instruction *at) {
    const struct ir_value *index = at->operands[0], *capacity = at->buffer->capacity;
    bool is_within = index->is_constant && capacity && capacity->is_constant && index->constant.integer >= 0 &&
                     index->constant.integer < capacity->constant.integer;
    if (!is_within && at->site >= l->r->kernel->checks.count)
        reader_fail(l->r, at->span,
                    "a load by the host wants a site, of the kernel's, for an index that is out of range");
}

static void check_tickets(struct lives *l, const struct ir_instruction *at) {
    const struct ir_buffer *counter = at->buffer;
    if (!base_info[counter->element].is_integer || base_info[counter->element].bits != 32 ||
        counter->memory != MEMORY_OUTPUT || !counter->rewritten || !counter->is_zeroed || counter->capacity->low < 1)
        reader_fail(l->r, at->span, "tickets are drawn from an output of int or uint that is rewritten and zeroed");
}

static void allocate(struct lives *l, struct ir_instruction *at) {
    if (at->buffer->memory == MEMORY_PRIVATE && at->region->ambient != LEVEL_THREAD) /* passes alone do so */
        reader_fail(l->r, at->span, "private memory is allocated by threads");
    if (map_has(l->region, at->buffer))
        reader_fail(l->r, at->span, "this buffer is allocated twice");
    /* Made in a branch, it may be used in a later one on the same condition. */
    const struct ir_region *there = at->region;
    while (there->owner && there->owner->kind == IR_IF)
        there = there->parent;
    map_set(l->region, at->buffer, (void *)(uintptr_t)there);
}

static void check_lives(struct lives *l, const struct ir_region *region) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        struct ir_instruction *at = region->instructions.at[i];
        if (at->kind == IR_ALLOCATE) {
            allocate(l, at);
        } else {
            check_alive(l, at, at->buffer);
            if (at->kind == IR_SWAP)
                check_alive(l, at, IR_PART(at, swap).other);
        }
        if (at->kind == IR_FORALL && at->buffer)
            check_tickets(l, at);
        check_known(l, at);
        if (at->kind == IR_LOAD && region->ambient == LEVEL_GRID)
            check_hosts_load(l, at);
        if (at->kind == IR_LOAD && at->buffer->of_host && region->ambient != LEVEL_GRID)
            reader_fail(l->r, at->span, "only the host has this table");
        if (ir_changes_element(at))
            map_set(l->stored, at->buffer, at);
        if (at->kind == IR_SWAP) { /* either may have what the other had */
            map_set(l->stored, at->buffer, at);
            map_set(l->stored, IR_PART(at, swap).other, at);
        }
        for (int k = 0; k < 2; k++)
            if (at->regions[k])
                check_lives(l, at->regions[k]);
    }
    check_yields_known(l, region);
}

/* ---- who stores what ---- */

/* Is `inside` gone through in each iteration of the loop, or with NULL in each run of the kernel that launches
   anything? */
static bool always_runs(const struct ir_region *inside, const struct ir_instruction *loop) {
    for (; inside->owner != loop; inside = inside->parent) {
        const struct ir_instruction *owner = inside->owner;
        bool is_launch = owner && owner->kind == IR_FORALL && owner->outer == LEVEL_GRID && !loop;
        if (!is_launch && ((owner->kind != IR_FOR && owner->kind != IR_FORALL) || owner->operands[0]->low < 1))
            return false;
    }
    return true;
}

static bool is_index(const struct ir_value *value) {
    const struct ir_instruction *owner = value->region ? value->region->owner : NULL;
    return !value->definition && owner && (owner->kind == IR_FOR || owner->kind == IR_FORALL) &&
           owner->parameters[0] == value;
}

/* Is it the same in all iterations of the loop, for certain? The index of a loop within is so, as a whole. */
static bool is_same_in_all(const struct ir_value *value, const struct ir_instruction *loop, struct map *seen) {
    if (value->is_constant || !value->region || !ir_region_inside(value->region, loop->regions[0]) ||
        map_has(seen, value))
        return true;
    const struct ir_instruction *i = value->definition ? value->definition : value->region->owner;
    bool is_inner = is_index(value) && i != loop;
    if (!is_inner && (!value->definition || i->kind != IR_OPERATION))
        return false;
    for (size_t k = 0; k < (is_inner ? 1 : i->operand_count); k++)
        if (!is_same_in_all(i->operands[k], loop, seen))
            return false;
    map_set(seen, value, (void *)(uintptr_t)value);
    return true;
}

static void check_store_alone(struct lives *l, const struct ir_instruction *store) {
    const struct ir_region *home = map_get(l->region, store->buffer);
    if (store->buffer->memory == MEMORY_PRIVATE || store->is_volatile || IR_PART(store, store).may_meet)
        return;
    for (const struct ir_region *region = store->region; region != home; region = region->parent) {
        const struct ir_instruction *loop = region->owner;
        if (loop->kind == IR_FORALL && loop->operands[0]->low >= 2 && always_runs(store->region, loop) &&
            is_same_in_all(store->operands[0], loop, map_new(l->r->arena)))
            reader_fail(l->r, store->span,
                        "all iterations of a parallel loop around this store the same elements of %s: its index does "
                        "not go by the loop's",
                        name_of(l->r, store->buffer));
    }
}

/* An index that is outside whenever the kernel runs. */
static void check_index(struct lives *l, const struct ir_instruction *at) {
    const struct ir_value *index = at->operands[0], *capacity = at->buffer->capacity;
    if (!capacity || !capacity->is_constant || !always_runs(at->region, NULL))
        return;
    bool is_last = is_index(index) && index->region->owner->operands[0]->low > 0;
    int64_t last = is_last ? index->region->owner->operands[0]->low - 1 : index->low;
    if ((is_last || index->is_constant) && base_info[index->base].is_integer &&
        (last < 0 || last >= capacity->constant.integer))
        reader_fail(l->r, at->span, "the index comes to %lld, and %s has %lld elements", (long long)last,
                    name_of(l->r, at->buffer), (long long)capacity->constant.integer);
}

/* A load that does not say `again` is of what earlier loops have stored: see note [single assignment of buffers]. */
static void check_load_after(struct lives *l, const struct ir_instruction *load) {
    const struct ir_buffer *buffer = load->buffer;
    const struct ir_instruction *loop = ir_thread_loop(load->region);
    if (ir_is_constant_memory(buffer))
        return;
    bool is_empty = buffer->capacity->is_constant && buffer->capacity->constant.integer == 0;
    if (!map_has(l->stored, buffer) && !buffer->is_zeroed && !is_empty)
        reader_fail(l->r, load->span, "nothing stores what this loads of %s", name_of(l->r, buffer));
    if (buffer->rewritten || buffer->memory == MEMORY_PRIVATE || load->again || !loop)
        return;
    for (struct ir_walk walk = ir_walk(loop->regions[0]); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_STORE && walk.at->buffer == buffer)
            reader_fail(l->r, load->span,
                        "the parallel loop around this stores to %s, too: it is not `rewritten`, so that a later "
                        "loop loads what this one stores",
                        name_of(l->r, buffer));
}

static void check_accesses(struct lives *l) {
    for (struct ir_walk walk = ir_walk(l->r->kernel->body); walk.at; ir_next(&walk)) {
        if (walk.at->kind == IR_STORE)
            check_store_alone(l, walk.at);
        if (walk.at->kind == IR_LOAD)
            check_load_after(l, walk.at);
        if (ir_touches_element(walk.at))
            check_index(l, walk.at);
    }
}

/* ---- operations ---- */

enum operand_kinds { ON_BOOLS = 1, ON_INTEGERS = 2, ON_FLOATS = 4, ON_ALL = 7 };

/* The columns of ops.def say of what an operation is nothing of its own: `a`. */
static unsigned operands_of(enum ir_op op) {
    static const struct {
        const char *integer, *floating;
    } columns[OP_COUNT] = {
#define OP(id, name, arity, commutes, wraps, result, cost, lanes, integer, floating, ...)                              \
    [OP_##id] = {#integer, #floating},
#include "ir/ops.def"
#undef OP
    };
    switch (op) {
    case OP_NOT: return ON_BOOLS;
    case OP_SELECT:
    case OP_CONVERT:
    case OP_BITS:
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE: return ON_ALL;
    case OP_AND:
    case OP_OR:
    case OP_XOR:
    case OP_BIT_NOT: return ON_BOOLS | ON_INTEGERS;
    default:
        return (strcmp(columns[op].integer, "a") != 0 ? ON_INTEGERS : 0) |
               (strcmp(columns[op].floating, "a") != 0 ? ON_FLOATS : 0);
    }
}

static void check_operations(struct reader *r) {
    for (struct ir_walk walk = ir_walk(r->kernel->body); walk.at; ir_next(&walk)) {
        const struct ir_instruction *at = walk.at;
        if (at->kind != IR_OPERATION)
            continue;
        enum base base = at->operands[at->operand_count - 1]->base, result = at->results[0]->base;
        unsigned is = base == BASE_BOOL ? ON_BOOLS : base_info[base].is_integer ? ON_INTEGERS : ON_FLOATS;
        if (!(operands_of(at->op) & is))
            reader_fail(r, at->span, "there is no `%s` of type %s", ir_op_info[at->op].name, base_info[base].name);
        if (at->op == OP_BITS && base_info[base].bits != base_info[result].bits)
            reader_fail(r, at->span, "`bits` gives a number of as many bits: %s and %s differ", base_info[base].name,
                        base_info[result].name);
    }
}

/* ---- results ---- */

struct giving {
    struct lives *l;
    size_t next;
};

static void fail_result(struct giving *g, const char *is) {
    struct reader *r = g->l->r;
    bool is_there = g->next < r->kernel->results.count;
    reader_fail(r, is_there ? r->result_spans.at[g->next] : r->kernel->span,
                "result %zu of `%s` is %s, and `gives` says %s", g->next + 1, r->kernel->name->text, is,
                type_text(r, r->kernel->result_type));
}

static bool are_alike(const struct ir_result *a, const struct ir_result *b) {
    bool is_good = a->rank == b->rank && ir_is_same(a->value, b->value);
    for (size_t i = 0; is_good && i < a->rank; i++)
        is_good = ir_is_same(a->extents[i], b->extents[i]);
    return is_good;
}

static void check_array(struct giving *g, const struct ir_result *result, enum base base, size_t rank) {
    struct reader *r = g->l->r;
    struct span span = r->result_spans.at[g->next];
    const struct ir_buffer *buffer = result->buffer;
    if (result->rank != rank)
        fail_result(g,
                    arena_printf(r->arena, "an array of %zu dimension%s", result->rank, result->rank == 1 ? "" : "s"));
    if (buffer->element != base)
        fail_result(g, arena_printf(r->arena, "an array of %s", base_info[buffer->element].name));
    for (size_t k = 0; k < rank; k++)
        if (result->extents[k]->base != BASE_I32 || map_has(r->unknown, result->extents[k]))
            reader_fail(r, span, "an extent of a result is no int, or unknown");
    bool is_there = is_parameter(r->kernel, buffer) ||
                    (buffer->memory == MEMORY_OUTPUT && map_get(g->l->region, buffer) == r->kernel->body);
    bool is_number = result->value->base == BASE_I32 || (rank > 1 && result->value->base == BASE_I64);
    if (!is_there || !is_number)
        reader_fail(r, span,
                    "result %zu of `%s` must be an input or an output that is there at the end, and its length an %s",
                    g->next + 1, r->kernel->name->text, rank > 1 ? "int or i64" : "int");
    bool is_empty = result->value->is_constant && result->value->constant.integer == 0;
    if (buffer->memory == MEMORY_OUTPUT && !buffer->is_zeroed && !is_empty && !map_has(g->l->stored, buffer))
        reader_fail(r, span, "nothing stores the elements of %s, which is a result", name_of(r, buffer));
    if (buffer->memory == MEMORY_OUTPUT && buffer->capacity && result->value->low > buffer->capacity->high)
        reader_fail(r, span, "the result has %lld elements or more, and %s at most %lld", (long long)result->value->low,
                    name_of(r, buffer), (long long)buffer->capacity->high);
    if (rank == 1 && !ir_is_same(result->extents[0], result->value))
        reader_fail(r, span, "an array of one dimension has as many elements as its extent says");
}

static void give(struct giving *g, const struct type *type, size_t rank, size_t *first) {
    struct reader *r = g->l->r;
    if (type->kind == TYPE_TUPLE) {
        for (size_t i = 0; i < type->tuple.count; i++)
            give(g, type->tuple.items[i], rank, first);
    } else if (is_array(type)) {
        size_t begin = g->next;
        type = element_of(type, &rank);
        give(g, type, rank, &begin);
    } else {
        struct ir_result *result = g->next < r->kernel->results.count ? &r->kernel->results.at[g->next] : NULL;
        if (!result)
            fail_result(g, "missing");
        if (result->is_array != (rank > 0))
            fail_result(g, result->is_array ? "an array" : "a scalar");
        if (map_has(r->unknown, result->value))
            reader_fail(r, r->result_spans.at[g->next], "a result of `%s` is unknown", r->kernel->name->text);
        if (rank)
            check_array(g, result, type->base, rank);
        else if (result->value->base != type->base)
            fail_result(g, base_info[result->value->base].name);
        if (first && !are_alike(result, &r->kernel->results.at[*first]))
            fail_result(g, "of another length than the arrays beside it");
        if (rank)
            result->buffer->is_result = true;
        g->next++;
    }
}

static void check_results(struct lives *l) {
    struct reader *r = l->r;
    struct giving g = {l, 0};
    check_type(r, r->kernel->result_type, false, r->gives_span);
    give(&g, r->kernel->result_type, 0, NULL);
    if (g.next != r->kernel->results.count)
        reader_fail(r, r->result_spans.at[g.next], "`%s` has more results than `gives` says", r->kernel->name->text);
}

/* The memory that it leaves records in is there at the end, like a result. */
static void check_trace(struct lives *l) {
    struct reader *r = l->r;
    struct ir_buffer *trace = r->kernel->trace;
    if (!trace)
        return;
    if (trace->memory != MEMORY_OUTPUT || trace->element != BASE_U32 || !trace->is_zeroed ||
        map_get(l->region, trace) != r->kernel->body || !trace->capacity || trace->capacity->low < 1)
        reader_fail(r, trace->span,
                    "records of traces lie in an output of type uint that is zeroed and there at the end");
    trace->is_result = true;
}

void reader_check_kernel(struct reader *r) {
    struct lives lives = {r, map_new(r->arena), map_new(r->arena)};
    check_parameters(r);
    check_lives(&lives, r->kernel->body);
    struct span where = {0, 0};
    const char *wrong = ir_verify_at(r->arena, r->kernel, &where);
    if (wrong)
        reader_fail(r, where.end ? where : r->kernel->span, "%s", wrong);
    check_operations(r);
    check_accesses(&lives);
    check_results(&lives);
    check_trace(&lives);
}
