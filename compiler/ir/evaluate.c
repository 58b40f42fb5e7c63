/* Runs a kernel's IR as it stands, for IR that was read: FCL's own interpreter runs programs.

   note [lanes]
   The iterations of a parallel loop whose body is a thread's are done side by side, up to 64 at a time: each
   instruction for all lanes that come to it, before the next one. So lanes of a warp exchange values, and a lock that
   one of them has is free again when the others come for it. Everything else is done in order.

   note [who stores what]
   Each element has the last store and load of it: in which iteration of which run of a parallel loop. Two accesses by
   different iterations of one run of a loop are of different threads with no barrier between, and so one of them must
   not be a store (atomics and what is volatile aside). A run of a loop belongs to an iteration of the one around it,
   up to the host. A load must not read an element without a store, and a buffer that is not `rewritten` is stored to
   once. */
#include "ir/evaluate.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "ir/build/fold.h"
#include "ir/build/range.h"
#include "ir/walk.h"

enum { LANES = 64 };
static const uint64_t MOST_ELEMENTS = UINT64_C(1) << 28; /* of all memory together: there are 24 bytes for each */

typedef uint64_t lanes; /* a set of them: note [lanes] */

/* A run of a parallel loop, and the iteration that it belongs to. */
struct loop_run {
    uint32_t around, iteration;
    int depth;
};
enum { NOBODY, ZEROS };                    /* as runs: no access, and what came with the memory */
enum { SOFT = 1u << 31, MANY = SOFT - 1 }; /* with iterations: one that may meet others; different ones */
struct mark {
    uint32_t run, iteration;
};

struct memory {
    uint64_t room;
    union scalar *elements; /* NULL: it is not there */
    struct mark *stored, *loaded;
};

struct evaluation {
    struct arena *arena;
    const struct ir_kernel *kernel;
    jmp_buf failure;
    struct ir_outcome *outcome;
    uint32_t *slots;         /* by value id: where it is; of a thread's there are LANES of it, side by side */
    union scalar *values;    /* by slot */
    struct memory *memories; /* by buffer number, LANES for each thread's own */
    uint32_t *memory_of;     /* by buffer id */
    size_t memory_count;
    uint64_t elements; /* that there are, of all memories */
    VEC(struct loop_run) runs;
    uint32_t run, iteration; /* that is being done; with lanes, of the first one */
    const struct ir_instruction *at;
};

/* ---- failures ---- */

static _Noreturn void fail_at(struct evaluation *x, enum diag_code code, struct span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static _Noreturn void fail_at(struct evaluation *x, enum diag_code code, struct span span, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    struct text text;
    text_init(&text, x->arena);
    text_vprintf(&text, format, arguments);
    va_end(arguments);
    x->outcome->wrong = text_string(&text);
    x->outcome->code = code;
    x->outcome->span = span;
    longjmp(x->failure, 1);
}
#define fail(x, code, ...) fail_at(x, code, (x)->at->span, __VA_ARGS__)

static const char *name_of(const struct evaluation *x, const struct ir_buffer *buffer) {
    return buffer->name ? arena_printf(x->arena, "@%u (%s)", (unsigned)buffer->id, buffer->name)
                        : arena_printf(x->arena, "@%u", (unsigned)buffer->id);
}

static _Noreturn void fail_check(struct evaluation *x, uint32_t number, int64_t a, int64_t b) {
    const struct ir_check_site *site = &x->kernel->checks.at[number];
    const struct ir_check_info *info = &ir_check_info[site->check];
    struct text text;
    text_init(&text, x->arena);
    text_printf(&text, info->message, (long long)a, (long long)b);
    x->outcome->found = site->found;
    fail_at(x, info->code, site->span.end ? site->span : x->at->span, "%s", text_string(&text));
}

/* ---- values ---- */

static bool is_of_lanes(const struct ir_value *value) {
    return value->region && value->region->ambient == LEVEL_THREAD;
}

static union scalar get(const struct evaluation *x, const struct ir_value *value, unsigned lane) {
    if (value->is_constant)
        return value->constant;
    return x->values[x->slots[value->id] + (is_of_lanes(value) ? lane : 0)];
}

static void set(struct evaluation *x, const struct ir_value *value, unsigned lane, union scalar scalar) {
    if (base_info[value->base].is_integer || value->base == BASE_BOOL) {
        bool is_large = value->base == BASE_U64 && scalar.natural > INT64_MAX;
        int64_t number = is_large ? INT64_MAX : scalar.integer;
        if (number < value->low || number > value->high)
            fail(x, DIAG_INDEX_OUT_OF_RANGE, "this is %lld, and the text promises that it lies in %lld..%lld",
                 (long long)number, (long long)value->low, (long long)value->high);
    }
    x->values[x->slots[value->id] + (is_of_lanes(value) ? lane : 0)] = scalar;
}

static bool is_true(const struct evaluation *x, const struct ir_value *value, unsigned lane) {
    return get(x, value, lane).integer != 0;
}

#define FOR_LANES(lane, mask)                                                                                          \
    for (unsigned lane = 0; lane < LANES; lane++)                                                                      \
        if ((mask) >> lane & 1)

/* ---- who accesses what: note [who stores what] ---- */

static uint32_t begin_run(struct evaluation *x) {
    struct loop_run run = {x->run, x->iteration, x->runs.at[x->run].depth + 1};
    vec_push(x->arena, &x->runs, run);
    return (uint32_t)x->runs.count - 1;
}

/* Are they of threads that nothing orders? */
static bool may_meet(const struct evaluation *x, struct mark a, struct mark b) {
    const struct loop_run *runs = x->runs.at;
    if (a.run <= ZEROS || (a.iteration & SOFT) || (b.iteration & SOFT))
        return false;
    while (a.run != b.run) {
        bool up_a = runs[a.run].depth >= runs[b.run].depth, up_b = runs[b.run].depth >= runs[a.run].depth;
        if (up_a)
            a = (struct mark){runs[a.run].around, runs[a.run].iteration};
        if (up_b)
            b = (struct mark){runs[b.run].around, runs[b.run].iteration};
    }
    return a.iteration != b.iteration && a.run > ZEROS;
}

static struct mark mark_of(const struct evaluation *x, unsigned lane, bool is_soft) {
    uint32_t iteration = (x->iteration + lane) & (SOFT - 1);
    return (struct mark){x->run, iteration | (is_soft ? SOFT : 0)};
}

static struct memory *memory_at(const struct evaluation *x, const struct ir_buffer *buffer, unsigned lane) {
    return &x->memories[x->memory_of[buffer->id] + (buffer->memory == MEMORY_PRIVATE ? lane : 0)];
}

static uint64_t place_of_access(struct evaluation *x, const struct memory *memory, unsigned lane) {
    const struct ir_value *index = x->at->operands[0];
    union scalar place = get(x, index, lane);
    bool is_inside =
        memory->elements && (index->base == BASE_U64 || place.integer >= 0) && place.natural < memory->room;
    if (!memory->elements)
        fail(x, DIAG_INDEX_OUT_OF_RANGE, "%s has not been allocated here", name_of(x, x->at->buffer));
    if (!is_inside)
        fail(x, x->at->kind == IR_LOAD ? DIAG_INDEX_OUT_OF_RANGE : DIAG_WRITE_OUT_OF_RANGE,
             "index %lld is out of range: %s has %llu elements", (long long)place.integer, name_of(x, x->at->buffer),
             (unsigned long long)memory->room);
    return place.natural;
}

static void note_load(struct evaluation *x, struct memory *memory, uint64_t place, struct mark mark) {
    if (!memory->stored)
        return;
    struct mark stored = memory->stored[place], loaded = memory->loaded[place];
    if (stored.run == NOBODY)
        fail(x, DIAG_NEVER_WRITTEN, "element %llu of %s is loaded, and nothing has been stored there",
             (unsigned long long)place, name_of(x, x->at->buffer));
    if (may_meet(x, stored, mark))
        fail(x, DIAG_WRITTEN_TWICE, "a race: element %llu of %s is loaded while another thread may store there",
             (unsigned long long)place, name_of(x, x->at->buffer));
    if (mark.iteration & SOFT)
        return;
    bool are_many = loaded.run == mark.run && loaded.iteration != mark.iteration;
    memory->loaded[place] = are_many ? (struct mark){mark.run, MANY} : mark;
}

static void note_store(struct evaluation *x, struct memory *memory, uint64_t place, struct mark mark) {
    struct mark stored = memory->stored[place];
    bool is_once = x->at->kind == IR_STORE && !x->at->buffer->rewritten && !x->at->again && !(mark.iteration & SOFT);
    bool is_same_thread = stored.run == mark.run && stored.iteration == mark.iteration;
    if (is_once && stored.run > ZEROS && !is_same_thread)
        fail(x, DIAG_WRITTEN_TWICE, "element %llu of %s is stored twice, and the buffer is not `rewritten`",
             (unsigned long long)place, name_of(x, x->at->buffer));
    if (may_meet(x, stored, mark) || may_meet(x, memory->loaded[place], mark))
        fail(x, DIAG_WRITTEN_TWICE, "a race: element %llu of %s is stored while another thread may %s there",
             (unsigned long long)place, name_of(x, x->at->buffer), may_meet(x, stored, mark) ? "store" : "load");
    memory->stored[place] = mark;
}

/* ---- memory ---- */

static void free_memory(struct evaluation *x, struct memory *memory) {
    if (memory->stored)
        x->elements -= memory->room;
    if (memory->stored)
        free(memory->elements);
    free(memory->stored);
    free(memory->loaded);
    *memory = (struct memory){0};
}

static void make_memory(struct evaluation *x, struct memory *memory, uint64_t room, bool is_zeroed) {
    if (memory->elements && memory->room != room)
        free_memory(x, memory);
    if (!memory->elements) {
        if (room > MOST_ELEMENTS - x->elements)
            fail(x, DIAG_ARRAY_TOO_LARGE, "%s has %llu elements: the interpreter holds at most %llu together",
                 name_of(x, x->at->buffer), (unsigned long long)room, (unsigned long long)MOST_ELEMENTS);
        x->elements += room;
        *memory = (struct memory){room, calloc(room + 1, sizeof *memory->elements),
                                  calloc(room + 1, sizeof *memory->stored), calloc(room + 1, sizeof *memory->loaded)};
        if (!memory->elements || !memory->stored || !memory->loaded)
            fatal_out_of_memory(room * sizeof *memory->elements);
    } else {
        memset(memory->elements, 0, room * sizeof *memory->elements);
        memset(memory->stored, 0, room * sizeof *memory->stored);
        memset(memory->loaded, 0, room * sizeof *memory->loaded);
    }
    for (uint64_t i = 0; is_zeroed && i < room; i++)
        memory->stored[i].run = ZEROS;
}

static void allocate(struct evaluation *x, lanes mask) {
    const struct ir_buffer *buffer = x->at->buffer;
    FOR_LANES(lane, mask) {
        int64_t room = get(x, buffer->capacity, lane).integer;
        if (room < 0)
            fail(x, DIAG_NEGATIVE_LENGTH, "the length of %s is negative: %lld", name_of(x, buffer), (long long)room);
        make_memory(x, memory_at(x, buffer, lane), (uint64_t)room, buffer->is_zeroed);
    }
}

static union scalar as_atomic(enum ir_atomic atomic, enum base base, union scalar old, union scalar with) {
    static const enum ir_op ops[] = {[ATOMIC_ADD] = OP_ADD, [ATOMIC_MIN] = OP_MIN, [ATOMIC_MAX] = OP_MAX,
                                     [ATOMIC_AND] = OP_AND, [ATOMIC_OR] = OP_OR,   [ATOMIC_XOR] = OP_XOR};
    if (atomic == ATOMIC_EXCHANGE)
        return with;
    return fold_operation(ops[atomic], base, base, (union scalar[]){old, with, {0}});
}

static bool are_same_bits(enum base base, union scalar a, union scalar b) {
    if (!base_info[base].is_floating)
        return a.natural == b.natural;
    enum base bits = base_of_bits(base);
    return fold_operation(OP_BITS, bits, base, (union scalar[]){a, {0}, {0}}).natural ==
           fold_operation(OP_BITS, bits, base, (union scalar[]){b, {0}, {0}}).natural;
}

static void access(struct evaluation *x, lanes mask) {
    const struct ir_instruction *at = x->at;
    const struct ir_buffer *buffer = at->buffer;
    FOR_LANES(lane, mask) {
        struct memory *memory = memory_at(x, buffer, lane);
        uint64_t place = place_of_access(x, memory, lane);
        union scalar *element = &memory->elements[place], before = *element;
        bool is_soft =
            at->kind == IR_ATOMIC || at->is_volatile || (at->kind == IR_STORE && IR_PART(at, store).may_meet);
        struct mark mark = mark_of(x, lane, is_soft);
        if (at->kind != IR_STORE)
            note_load(x, memory, place, mark);
        if (at->kind != IR_LOAD)
            note_store(x, memory, place, mark);
        if (at->kind == IR_STORE) {
            *element = get(x, at->operands[1], lane);
        } else if (at->kind == IR_ATOMIC && IR_PART(at, store).atomic == ATOMIC_COMPARE_EXCHANGE) {
            if (are_same_bits(buffer->element, before, get(x, at->operands[1], lane)))
                *element = get(x, at->operands[2], lane);
        } else if (at->kind == IR_ATOMIC) {
            *element = as_atomic(IR_PART(at, store).atomic, buffer->element, before, get(x, at->operands[1], lane));
        }
        if (at->kind != IR_STORE)
            set(x, at->results[0], lane, before);
    }
}

/* ---- lanes that exchange values ---- */

static void exchange(struct evaluation *x, lanes mask) {
    const struct ir_instruction *at = x->at;
    union scalar given[LANES] = {0};
    FOR_LANES(lane, mask) {
        if (at->kind == IR_SHUFFLE) {
            int64_t from = get(x, at->operands[1], lane).integer;
            if (from < 0 || from >= LANES || !(mask >> from & 1))
                fail(x, DIAG_INDEX_OUT_OF_RANGE, "a value of lane %lld is taken, and there are %d lanes",
                     (long long)from, x->kernel->warp_size);
            given[lane] = get(x, at->operands[0], (unsigned)from);
            continue;
        }
        FOR_LANES(other, mask) {
            uint64_t own = get(x, at->operands[0], lane).natural, its = get(x, at->operands[0], other).natural;
            uint64_t bits = at->kind == IR_MATCH ? get(x, at->operands[1], lane).natural : 0;
            bool is_set = at->kind == IR_MATCH ? !(own & bits) == !(its & bits) : its != 0;
            given[lane].natural |= (uint64_t)is_set << other;
        }
    }
    FOR_LANES(lane, mask)
    set(x, at->results[0], lane, given[lane]);
}

/* note [fragments] of ir.h, the other way round: where element (row, column) of a matrix is. */
static union scalar element_of(const struct evaluation *x, const struct mma_form *form, bool is_first, unsigned row,
                               unsigned column) {
    unsigned across = is_first ? column : row, down = is_first ? row : column; /* t goes across, g goes down */
    unsigned half = across / (4 * form->pack), lane = down % 8 * 4 + across / form->pack % 4;
    unsigned word = is_first ? down / 8 + 2 * half : half, begin = is_first ? 0 : form->first;
    return get(x, x->at->operands[begin + word * form->pack + across % form->pack], lane);
}

static void multiply(struct evaluation *x, lanes mask) {
    const struct mma_form form = mma_form(x->at->operands[0]->base);
    FOR_LANES(lane, mask)
    for (unsigned i = 0; i < MMA_SUMS; i++) {
        unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
        union scalar sum = get(x, x->at->operands[form.first + form.second + i], lane);
        for (unsigned k = 0; k < (unsigned)form.inner; k++) {
            union scalar a = element_of(x, &form, true, row, k), b = element_of(x, &form, false, k, column);
            if (form.sum == BASE_F32)
                sum.floating += a.floating * b.floating;
            else
                sum.integer += a.integer * b.integer;
        }
        set(x, x->at->results[i], lane, base_wrap(form.sum, sum));
    }
}

/* ---- control ---- */

static void run_region(struct evaluation *x, const struct ir_region *region, lanes mask);

/* A number of u64 that no i64 is has no exact range: nothing is asked of it. */
static void check_no_wrap(struct evaluation *x, enum base base, const union scalar *operands) {
    struct range exact[3];
    for (size_t k = 0; k < x->at->operand_count; k++) {
        if (base == BASE_U64 && operands[k].natural > INT64_MAX)
            return;
        exact[k] = range_of_constant(base, operands[k]);
    }
    if (!range_never_wraps(x->at->op, base, exact))
        fail(x, DIAG_INDEX_OUT_OF_RANGE, "this wraps, and the text promises `nowrap`");
}

static void operate(struct evaluation *x, lanes mask) {
    const struct ir_instruction *at = x->at;
    enum base base = at->operands[at->operand_count - 1]->base, result = at->results[0]->base;
    FOR_LANES(lane, mask) {
        union scalar operands[3] = {0};
        for (size_t k = 0; k < at->operand_count; k++)
            operands[k] = get(x, at->operands[k], lane);
        if (at->no_wrap)
            check_no_wrap(x, base, operands);
        set(x, at->results[0], lane, fold_operation(at->op, result, base, operands));
    }
}

/* Sets all at once, as a value that is given may be one that is set. */
static void assign(struct evaluation *x, struct ir_value *const *to, struct ir_value *const *from, size_t count,
                   lanes mask) {
    union scalar *taken = malloc((count + 1) * sizeof *taken);
    if (!taken)
        fatal_out_of_memory(count * sizeof *taken);
    FOR_LANES(lane, mask) {
        for (size_t i = 0; i < count; i++)
            taken[i] = get(x, from[i], lane);
        for (size_t i = 0; i < count; i++)
            x->values[x->slots[to[i]->id] + (is_of_lanes(to[i]) ? lane : 0)] = taken[i];
    }
    free(taken);
    FOR_LANES(lane, mask)
    for (size_t i = 0; i < count; i++)
        set(x, to[i], lane, get(x, to[i], lane));
}

static lanes those(const struct evaluation *x, const struct ir_value *condition, lanes mask) {
    lanes found = 0;
    FOR_LANES(lane, mask)
    if (is_true(x, condition, lane))
        found |= (lanes)1 << lane;
    return found;
}

static void run_branch(struct evaluation *x, const struct ir_instruction *branch, lanes mask) {
    lanes yes = those(x, branch->operands[0], mask);
    for (int side = 0; side < 2; side++) {
        lanes taken = side ? mask & ~yes : yes;
        if (!taken)
            continue;
        run_region(x, branch->regions[side], taken);
        x->at = branch;
        assign(x, branch->results, branch->regions[side]->yields.at, branch->result_count, taken);
    }
}

static void run_for(struct evaluation *x, const struct ir_instruction *loop, lanes mask) {
    const struct ir_region *body = loop->regions[0];
    assign(x, loop->parameters + 1, loop->operands + 1, loop->result_count, mask);
    for (int64_t k = 0; mask; k++) {
        lanes more = 0;
        FOR_LANES(lane, mask)
        if (k < get(x, loop->operands[0], lane).integer)
            more |= (lanes)1 << lane;
        FOR_LANES(lane, mask & ~more)
        for (size_t i = 0; i < loop->result_count; i++)
            set(x, loop->results[i], lane, get(x, loop->parameters[i + 1], lane));
        mask = more;
        FOR_LANES(lane, mask)
        set(x, loop->parameters[0], lane, (union scalar){.integer = k});
        if (mask)
            run_region(x, body, mask);
        x->at = loop;
        assign(x, loop->parameters + 1, body->yields.at, loop->result_count, mask);
    }
}

static void run_while(struct evaluation *x, const struct ir_instruction *loop, lanes mask) {
    assign(x, loop->parameters, loop->operands, loop->result_count, mask);
    while (mask) {
        run_region(x, loop->regions[0], mask);
        x->at = loop;
        lanes more = those(x, loop->regions[0]->yields.at[0], mask);
        assign(x, loop->results, loop->parameters, loop->result_count, mask & ~more);
        mask = more;
        if (!mask)
            return;
        run_region(x, loop->regions[1], mask);
        x->at = loop;
        assign(x, loop->parameters, loop->regions[1]->yields.at, loop->result_count, mask);
    }
}

static void run_forall(struct evaluation *x, const struct ir_instruction *loop) {
    int64_t count = get(x, loop->operands[0], 0).integer;
    uint32_t around = x->run, iteration = x->iteration, run = begin_run(x);
    bool is_threads = loop->inner == LEVEL_THREAD;
    for (int64_t i = 0; i < count; i += is_threads ? LANES : 1) {
        int64_t left = is_threads ? count - i : 1;
        lanes mask = left >= LANES ? ~(lanes)0 : ((lanes)1 << left) - 1;
        x->run = run;
        x->iteration = (uint32_t)i;
        x->at = loop;
        FOR_LANES(lane, mask)
        set(x, loop->parameters[0], lane, (union scalar){.integer = i + lane});
        run_region(x, loop->regions[0], mask);
    }
    x->run = around;
    x->iteration = iteration;
}

static void swap(struct evaluation *x) {
    struct memory *a = memory_at(x, x->at->buffer, 0), *b = memory_at(x, IR_PART(x->at, swap).other, 0), kept = *a;
    *a = *b;
    *b = kept;
}

static void run_instruction(struct evaluation *x, lanes mask) {
    const struct ir_instruction *at = x->at;
    switch (at->kind) {
    case IR_OPERATION: operate(x, mask); break;
    case IR_LOAD:
    case IR_STORE:
    case IR_ATOMIC: access(x, mask); break;
    case IR_FENCE: break;
    case IR_SHUFFLE:
    case IR_BALLOT:
    case IR_MATCH: exchange(x, mask); break;
    case IR_MMA: multiply(x, mask); break;
    case IR_CHECK:
        FOR_LANES(lane, mask)
        if (!is_true(x, at->operands[0], lane))
            fail_check(x, at->site, get(x, at->operands[1], lane).integer, get(x, at->operands[2], lane).integer);
        break;
    case IR_ALLOCATE: allocate(x, mask); break;
    case IR_SWAP: swap(x); break;
    case IR_FORALL: run_forall(x, at); break;
    case IR_FOR: run_for(x, at, mask); break;
    case IR_WHILE: run_while(x, at, mask); break;
    case IR_IF: run_branch(x, at, mask); break;
    }
}

static void run_region(struct evaluation *x, const struct ir_region *region, lanes mask) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        x->at = region->instructions.at[i];
        run_instruction(x, mask);
    }
}

/* ---- a kernel ---- */

static void place_value(struct evaluation *x, const struct ir_value *value, uint32_t *next) {
    x->slots[value->id] = *next;
    *next += is_of_lanes(value) ? LANES : 1;
}

static void place_all(struct evaluation *x) {
    const struct ir_kernel *kernel = x->kernel;
    uint32_t next = 0;
    x->slots = ARENA_ARRAY(x->arena, uint32_t, kernel->value_count + 1);
    next++; /* of what nothing makes */
    for (size_t i = 0; i < kernel->parameters.count; i++)
        if (kernel->parameters.at[i].value)
            place_value(x, kernel->parameters.at[i].value, &next);
    for (struct ir_walk walk = ir_walk(kernel->body); walk.at; ir_next(&walk)) {
        for (size_t i = 0; i < walk.at->result_count; i++)
            place_value(x, walk.at->results[i], &next);
        for (size_t i = 0; i < walk.at->parameter_count; i++)
            place_value(x, walk.at->parameters[i], &next);
    }
    x->values = ARENA_ARRAY(x->arena, union scalar, next + LANES);
    uint32_t ids = 0;
    for (size_t i = 0; i < kernel->buffers.count; i++)
        ids = kernel->buffers.at[i]->id >= ids ? kernel->buffers.at[i]->id + 1 : ids;
    x->memory_of = ARENA_ARRAY(x->arena, uint32_t, ids + 1);
    for (size_t i = 0; i < kernel->buffers.count; i++) {
        x->memory_of[kernel->buffers.at[i]->id] = (uint32_t)x->memory_count;
        x->memory_count += kernel->buffers.at[i]->memory == MEMORY_PRIVATE ? LANES : 1;
    }
    x->memories = ARENA_ARRAY(x->arena, struct memory, x->memory_count + 1);
}

static void pass(struct evaluation *x, const struct ir_part *const *arguments) {
    for (size_t i = 0; i < x->kernel->parameters.count; i++) {
        const struct ir_parameter *p = &x->kernel->parameters.at[i];
        const struct ir_part *part = &arguments[p->argument][p->component];
        if (p->kind == IR_PARAMETER_SCALAR)
            set(x, p->value, 0, part->scalar);
        else if (p->kind == IR_PARAMETER_LENGTH)
            set(x, p->value, 0, (union scalar){.integer = part->shape[p->dimension]});
        else
            *memory_at(x, p->buffer, 0) = (struct memory){part->count, (union scalar *)part->elements, NULL, NULL};
    }
    for (size_t i = 0; i < x->kernel->buffers.count; i++) {
        const struct ir_buffer *table = x->kernel->buffers.at[i];
        if (table->memory == MEMORY_TABLE)
            *memory_at(x, table, 0) = (struct memory){(uint64_t)table->capacity->constant.integer,
                                                      (union scalar *)table->constants, NULL, NULL};
    }
}

static void give(struct evaluation *x, const struct ir_result *result, struct ir_given *given) {
    given->scalar = get(x, result->value, 0);
    if (!result->is_array)
        return;
    const struct memory *memory = memory_at(x, result->buffer, 0);
    int64_t count = given->scalar.integer, product = 1;
    given->shape = ARENA_ARRAY(x->arena, int64_t, result->rank);
    for (size_t i = 0; i < result->rank; i++) {
        given->shape[i] = get(x, result->extents[i], 0).integer;
        if (given->shape[i] < 0 || __builtin_mul_overflow(product, given->shape[i], &product))
            fail(x, DIAG_NEGATIVE_LENGTH, "a result's extent is %lld", (long long)given->shape[i]);
    }
    if (count < 0 || product != count || (count && !memory->elements) || (uint64_t)count > memory->room)
        fail(x, DIAG_WRITE_OUT_OF_RANGE, "a result has %lld elements, its extents say %lld, and %s has %llu",
             (long long)count, (long long)product, name_of(x, result->buffer), (unsigned long long)memory->room);
    for (int64_t i = 0; memory->stored && i < count; i++)
        if (memory->stored[i].run == NOBODY)
            fail(x, DIAG_NEVER_WRITTEN, "element %lld of the result %s is never stored", (long long)i,
                 name_of(x, result->buffer));
    given->count = (uint64_t)count;
    given->elements = ARENA_ARRAY(x->arena, union scalar, given->count + 1);
    if (count)
        memcpy(given->elements, memory->elements, given->count * sizeof *given->elements);
}

/* Also of a run that has failed. */
static void keep_traces(struct evaluation *x) {
    const struct memory *memory = x->kernel->trace ? memory_at(x, x->kernel->trace, 0) : NULL;
    if (!memory || !memory->elements)
        return;
    x->outcome->traced_count = memory->room;
    x->outcome->traced = ARENA_ARRAY(x->arena, uint32_t, memory->room + 1);
    for (uint64_t i = 0; i < memory->room; i++)
        x->outcome->traced[i] = (uint32_t)memory->elements[i].natural;
}

struct ir_outcome ir_evaluate(struct arena *arena, const struct ir_kernel *kernel,
                              const struct ir_part *const *arguments) {
    struct ir_outcome *outcome = ARENA_NEW(arena, struct ir_outcome);
    struct evaluation *x = ARENA_NEW(arena, struct evaluation);
    static const struct ir_instruction nothing;
    struct ir_instruction *whole = ARENA_NEW(arena, struct ir_instruction);
    *whole = nothing;
    whole->span = kernel->span;
    x->arena = arena;
    x->kernel = kernel;
    x->outcome = outcome;
    x->at = whole;
    place_all(x);
    for (int i = 0; i <= ZEROS; i++) /* the host stands for the latter */
        vec_push(arena, &x->runs, (struct loop_run){0});
    x->run = ZEROS;
    outcome->given = ARENA_ARRAY(arena, struct ir_given, kernel->results.count + 1);
    if (setjmp(x->failure) == 0) {
        pass(x, arguments);
        run_region(x, kernel->body, 1);
        x->at = whole;
        for (size_t i = 0; i < kernel->results.count; i++)
            give(x, &kernel->results.at[i], &outcome->given[i]);
    }
    keep_traces(x);
    for (size_t i = 0; i < x->memory_count; i++)
        free_memory(x, &x->memories[i]);
    return *outcome;
}
