/* Reading the IR from text: buffers and instructions. */
#include "ir/text/reader.h"

/* ---- buffers ---- */

struct ir_buffer *reader_buffer_use(struct reader *r) {
    reader_take(r, TOKEN_BUFFER, "a buffer, as in `@3`,");
    struct ir_buffer *buffer = map_get(r->buffers, symbol_of(r->symbols, r->before.text));
    if (!buffer)
        reader_fail(r, r->before.span, "there is no buffer @%s", r->before.text);
    return buffer;
}

static void read_constants(struct reader *r, struct ir_buffer *buffer) {
    int64_t count = buffer->capacity->constant.integer;
    union scalar *constants = ARENA_ARRAY(r->arena, union scalar, count + 1);
    reader_expect(r, "=");
    for (int64_t i = 0; i < count; i++) {
        if (i)
            reader_expect(r, ",");
        const struct ir_value *value = reader_read_constant(r);
        if (value->base != buffer->element)
            reader_fail(r, r->before.span, "a table of %s has no %s in it", base_info[buffer->element].name,
                        base_info[value->base].name);
        constants[i] = value->constant;
    }
    buffer->constants = constants;
}

static void read_capacity(struct reader *r, struct ir_buffer *buffer) {
    reader_expect(r, "[");
    if (r->token.kind == TOKEN_VALUE) { /* it may be defined later */
        vec_push(r->arena, &r->capacities.of, buffer);
        vec_push(r->arena, &r->capacities.is, r->token);
        reader_next(r);
    } else {
        buffer->capacity = reader_read_constant(r);
        bool is_length = base_info[buffer->capacity->base].is_integer && buffer->capacity->constant.integer >= 0;
        bool is_small = buffer->memory == MEMORY_OUTPUT || buffer->capacity->constant.integer <= MOST_ELEMENTS;
        if (!is_length || !is_small)
            reader_fail(r, r->before.span, "this is no length of a buffer");
    }
    reader_expect(r, "]");
}

static enum ir_memory read_memory(struct reader *r) {
    for (int i = 0; i <= MEMORY_PRIVATE; i++)
        if (reader_accept(r, ir_memory_names[i]))
            return (enum ir_memory)i;
    reader_expected(r, "input, table, output, shared or private");
}

/* buffer @3 "name" MEMORY TYPE[CAPACITY] … */
void reader_buffer(struct reader *r) {
    struct ir_buffer *buffer = ARENA_NEW(r->arena, struct ir_buffer);
    reader_take(r, TOKEN_BUFFER, "a buffer, as in `@3`,");
    struct ir_token token = r->before;
    symbol name = symbol_of(r->symbols, token.text);
    if (map_has(r->buffers, name))
        reader_fail(r, token.span, "there are two buffers @%s", token.text);
    map_set(r->buffers, name, buffer);
    vec_push(r->arena, &r->kernel->buffers, buffer);
    buffer->span = token.span;
    if (reader_number_of(r, &token, &buffer->id)) {
        r->next_buffer = buffer->id >= r->next_buffer ? buffer->id + 1 : r->next_buffer;
    } else {
        buffer->id = UINT32_MAX; /* numbered when all are there */
        buffer->name = token.text;
    }
    if (r->token.kind == TOKEN_STRING) {
        buffer->name = r->token.text;
        reader_next(r);
    }
    buffer->memory = read_memory(r);
    bool is_warps = reader_accept(r, "warp");
    buffer->owner = buffer->memory == MEMORY_SHARED    ? (is_warps ? LEVEL_WARP : LEVEL_BLOCK)
                    : buffer->memory == MEMORY_PRIVATE ? LEVEL_THREAD
                                                       : LEVEL_GRID;
    if (is_warps && buffer->memory != MEMORY_SHARED)
        reader_fail(r, r->before.span, "only shared memory is of a warp");
    buffer->element = reader_base(r);
    if (buffer->memory != MEMORY_INPUT)
        read_capacity(r, buffer);
    buffer->rewritten = reader_accept(r, "rewritten");
    buffer->is_zeroed = reader_accept(r, "zeroed");
    buffer->is_said = reader_accept(r, "said");
    buffer->is_swapped = reader_accept(r, "swapped");
    if (reader_accept(r, "stages"))
        buffer->stages = (int)reader_integer(r, 1, MOST_STAGES);
    buffer->is_plain = reader_accept(r, "plain");
    buffer->of_host = reader_accept(r, "host");
    if (buffer->memory == MEMORY_TABLE && !buffer->capacity)
        reader_fail(r, token.span, "the length of a table is a constant");
    if (buffer->memory == MEMORY_TABLE)
        read_constants(r, buffer);
    reader_end_line(r);
}

/* ---- instructions ---- */

struct ir_region *reader_new_region(struct reader *r, struct ir_instruction *owner, enum level_value ambient) {
    struct ir_region *region = ARENA_NEW(r->arena, struct ir_region);
    region->id = r->kernel->region_count++;
    region->ambient = ambient;
    region->owner = owner;
    region->parent = owner ? owner->region : NULL;
    return region;
}

enum level_value reader_level(struct reader *r) {
    for (int level = LEVEL_THREAD; level <= LEVEL_GRID; level++)
        if (reader_accept(r, level_names[level]))
            return (enum level_value)level;
    reader_expected(r, "thread, warp, block or grid");
}

static void set_operands(struct ir_instruction *i, const value_list *list) {
    i->operands = list->at;
    i->operand_count = list->count;
}

void reader_open(struct reader *r) {
    reader_expect(r, "{");
    if (++r->depth > DEEPEST_REGION)
        reader_fail(r, r->before.span, "regions are nested too deeply: more than %d", DEEPEST_REGION);
    reader_end_line(r);
}

void reader_close(struct reader *r) {
    reader_expect(r, "}");
    r->depth--;
}

static void read_yields(struct reader *r, const char *word, struct ir_region *region) {
    if (!reader_accept(r, word))
        return;
    value_list list = {0};
    reader_values(r, &list);
    for (size_t i = 0; i < list.count; i++)
        vec_push(r->arena, &region->yields, list.at[i]);
    reader_end_line(r);
}

/* with TYPE %1 = INITIAL, … */
static void read_carried(struct reader *r, struct ir_instruction *loop, value_list *operands, value_list *parameters) {
    if (!reader_accept(r, "with"))
        return;
    do {
        struct ir_value *parameter = reader_definition(r, loop->regions[0]);
        vec_push(r->arena, parameters, parameter);
        reader_expect(r, "=");
        struct ir_value *initial = reader_value(r);
        if (initial == parameter)
            reader_fail(r, r->before.span, "what a loop begins with comes from before it");
        vec_push(r->arena, operands, initial);
    } while (reader_accept(r, ","));
}

static void read_loop(struct reader *r, struct ir_instruction *i) {
    value_list operands = {0}, parameters = {0};
    i->regions[0] = reader_new_region(r, i, i->region->ambient);
    if (i->kind != IR_WHILE) {
        vec_push(r->arena, &parameters, reader_definition(r, i->regions[0]));
        reader_expect(r, "<");
        vec_push(r->arena, &operands, reader_value(r));
    }
    if (i->kind == IR_FORALL) {
        reader_expect(r, "at");
        i->outer = reader_level(r);
        reader_expect(r, "/");
        i->inner = reader_level(r);
        i->regions[0]->ambient = i->inner;
        if (reader_accept(r, "threads"))
            IR_PART(i, loop).threads = (int)reader_integer(r, 1, 1024);
        if (reader_accept(r, "tickets"))
            i->buffer = reader_buffer_use(r);
    }
    IR_PART(i, loop).unroll = reader_accept(r, "unrolled");
    IR_PART(i, loop).is_lock = i->kind == IR_WHILE && reader_accept(r, "lock");
    read_carried(r, i, &operands, &parameters);
    set_operands(i, &operands);
    i->parameters = parameters.at;
    i->parameter_count = parameters.count;
    reader_open(r);
    reader_region(r, i->regions[0]);
    if (i->kind == IR_WHILE) {
        reader_expect(r, "do");
        read_yields(r, "if", i->regions[0]);
        i->regions[1] = reader_new_region(r, i, i->region->ambient);
        reader_region(r, i->regions[1]);
    }
    read_yields(r, "next", i->regions[i->kind == IR_WHILE]);
    reader_close(r);
}

static void read_branch(struct reader *r, struct ir_instruction *i) {
    value_list condition = {0};
    vec_push(r->arena, &condition, reader_value(r));
    set_operands(i, &condition);
    IR_PART(i, branch).is_split = reader_accept(r, "split");
    IR_PART(i, branch).takes_both = reader_accept(r, "both");
    for (int k = 0; k < 2; k++) {
        i->regions[k] = reader_new_region(r, i, i->region->ambient);
        if (k == 1 && !reader_accept(r, "else"))
            return;
        reader_open(r);
        reader_region(r, i->regions[k]);
        read_yields(r, "yield", i->regions[k]);
        reader_close(r);
    }
}

/* @3[INDEX] */
static void read_place(struct reader *r, struct ir_instruction *i, value_list *operands) {
    i->buffer = reader_buffer_use(r);
    reader_expect(r, "[");
    vec_push(r->arena, operands, reader_value(r));
    reader_expect(r, "]");
}

static void read_access(struct reader *r, struct ir_instruction *i) {
    value_list operands = {0};
    read_place(r, i, &operands);
    if (i->kind != IR_LOAD) {
        reader_expect(r, ",");
        reader_values(r, &operands);
    }
    set_operands(i, &operands);
    i->is_volatile = i->kind != IR_ATOMIC && reader_accept(r, "volatile");
    i->again = reader_accept(r, "again");
    if (i->kind == IR_STORE) {
        IR_PART(i, store).is_start = reader_accept(r, "start");
        IR_PART(i, store).may_meet = reader_accept(r, "meeting");
    }
    if (i->kind == IR_LOAD && reader_accept(r, "site"))
        i->site = (uint32_t)reader_integer(r, 0, MOST_NUMBERS);
}

static enum ir_atomic read_atomic(struct reader *r) {
    for (int i = 0; i < ATOMIC_COUNT; i++)
        if (reader_accept(r, ir_atomic_names[i]))
            return (enum ir_atomic)i;
    reader_expected(r, "what the atomic does, as in `add`,");
}

static void read_operation(struct reader *r, struct ir_instruction *i) {
    value_list operands = {0};
    for (int op = 0; op < OP_COUNT; op++)
        if (reader_accept(r, ir_op_info[op].name)) {
            i->op = (enum ir_op)op;
            reader_values(r, &operands);
            set_operands(i, &operands);
            i->no_wrap = reader_accept(r, "nowrap");
            return;
        }
    reader_expected(r, "an instruction");
}

/* Reads an instruction behind its results. */
static void read_right(struct reader *r, struct ir_instruction *i) {
    value_list operands = {0};
    int kind = IR_OPERATION + 1;
    while (kind <= IR_IF && !reader_accept(r, ir_kind_names[kind]))
        kind++;
    i->kind = kind <= IR_IF ? (enum ir_kind)kind : IR_OPERATION;
    switch (i->kind) {
    case IR_OPERATION: read_operation(r, i); break;
    case IR_ATOMIC:
        IR_PART(i, store).atomic = read_atomic(r);
        read_access(r, i);
        break;
    case IR_LOAD:
    case IR_STORE: read_access(r, i); break;
    case IR_FENCE:
        i->outer = reader_level(r);
        i->buffer = reader_accept(r, "copies") ? reader_buffer_use(r) : NULL;
        break;
    case IR_CHECK: i->site = (uint32_t)reader_integer(r, 0, MOST_NUMBERS); /* fall through */
    case IR_SHUFFLE:
    case IR_MATCH:
    case IR_MMA:
    case IR_BALLOT:
        reader_values(r, &operands);
        set_operands(i, &operands);
        if (i->kind == IR_MMA)
            IR_PART(i, mma).by_columns = reader_accept(r, "columns");
        break;
    case IR_ALLOCATE: i->buffer = reader_buffer_use(r); break;
    case IR_SWAP:
        i->buffer = reader_buffer_use(r);
        reader_expect(r, ",");
        IR_PART(i, swap).other = reader_buffer_use(r);
        break;
    case IR_FORALL:
    case IR_FOR:
    case IR_WHILE: read_loop(r, i); break;
    case IR_IF: read_branch(r, i); break;
    }
}

static void read_instruction(struct reader *r, struct ir_region *region) {
    struct ir_instruction *i = ARENA_NEW(r->arena, struct ir_instruction);
    i->region = region;
    struct span begin = r->token.span;
    value_list results = {0};
    if (reader_is_base(r)) {
        do
            vec_push(r->arena, &results, reader_definition(r, region));
        while (reader_accept(r, ","));
        reader_expect(r, "=");
    }
    /* Not yet defined where the instruction has regions: what these use is looked up while they are read. */
    i->results = results.at;
    i->result_count = results.count;
    read_right(r, i);
    i->span = span_join(begin, begin);
    for (size_t k = 0; k < results.count; k++)
        results.at[k]->definition = i;
    bool has_result = i->kind == IR_OPERATION || i->kind == IR_LOAD || i->kind == IR_ATOMIC || i->kind == IR_SHUFFLE ||
                      i->kind == IR_BALLOT || i->kind == IR_MATCH;
    bool may_have = i->kind == IR_FOR || i->kind == IR_WHILE || i->kind == IR_IF || i->kind == IR_MMA;
    if (i->kind == IR_MMA && results.count != MMA_SUMS)
        reader_fail(r, begin, "this instruction has four results");
    if (has_result ? results.count != 1 : results.count != 0 && !may_have)
        reader_fail(r, begin, has_result ? "this instruction has one result" : "this instruction has no result");
    vec_push(r->arena, &region->instructions, i);
    reader_end_line(r);
}

/* Up to what ends it: `}`, or what it yields. */
void reader_region(struct reader *r, struct ir_region *region) {
    while (!reader_is(r, "}") && !reader_is(r, "next") && !reader_is(r, "do") && !reader_is(r, "yield") &&
           !reader_is(r, "return")) {
        if (r->token.kind == TOKEN_END)
            reader_expected(r, "`}`");
        read_instruction(r, region);
    }
}
