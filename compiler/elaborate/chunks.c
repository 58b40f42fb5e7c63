/* Arrays of chunks: concat, interleave and interleaveInto.

   note [blocks of warps]
   Where each warp of a launch has a chunk of its own, its block stays until the last of them is
   done, and none takes its place. So such blocks are small, unless #BlockSize is given: a product
   with a sparse matrix took 0.187 ms on an H200 by 256 threads, and 0.156 by 128. */
#include "elaborate/check.h"
#include "elaborate/evaluate.h"
#include "elaborate/primitive.h"
#include "elaborate/push.h"

/* ---- lengths ---- */

struct last_chunk {
    struct push *push;
    struct ir_value *count;
    struct ir_buffer *measured; /* where its length is, which depends on data; or NULL */
};

static struct ir_value *length_of_last(struct elaborator *e, const struct last_chunk *last) {
    struct ir_value *index = ir_binary(e->builder, OP_SUB, last->count, ir_int(e->builder, 1));
    return elab_push_length(e, elab_as_push(e, elab_index(e, last->push->array, index)));
}

static struct elab_value *some_chunks(struct elaborator *e, void *context) {
    const struct last_chunk *last = context;
    struct ir_builder *b = e->builder;
    struct ir_value *size = last->push->chunks.size, *length = NULL;
    if (last->measured)
        length = elab_not_negative(e, ir_load(b, last->measured, ir_int(b, 0)));
    else
        length = length_of_last(e, last);
    if (last->measured && last->push->chunks.is_capped)
        length = ir_binary(b, OP_MIN, length, size);
    if (!length || !size)
        return elab_unknown(e);
    struct ir_value *before = ir_binary(b, OP_SUB, last->count, ir_int(b, 1));
    struct ir_value *zero = ir_int(b, 0), *most = ir_int(b, INT32_MAX);
    bool is_hosts = ir_ambient(b) == LEVEL_GRID && e->shape == 1;
    if (is_hosts) {
        struct ir_value *fit = ir_binary(b, OP_DIV, most, ir_binary(b, OP_MAX, size, ir_int(b, 1)));
        elab_require_push(e, last->push, CHECK_MANY_CHUNKS, ir_binary(b, OP_LE, before, fit), last->count, size);
    }
    before = ir_binary(b, OP_MUL, before, size);
    struct ir_value *whole = ir_binary(b, OP_ADD, before, length);
    if (is_hosts)
        elab_require_push(e, last->push, CHECK_LONG, ir_binary(b, OP_LE, zero, whole), before, length);
    return elab_scalar(e, whole);
}

static struct elab_value *no_chunks(struct elaborator *e, void *context) {
    (void)context;
    return elab_scalar(e, ir_int(e->builder, 0));
}

static void measure_chunk(struct elaborator *e, void *context) {
    const struct last_chunk *last = context;
    enum level_value level = last->push->chunks.level;
    struct ir_value *length = length_of_last(e, last);
    if (!length)
        elab_fail(e, DIAG_UNKNOWN_LENGTH, e->span, "the length of what is put together here depends on data");
    struct ir_value *one = elab_begin_threads(e, level, ir_int(e->builder, 1));
    ir_store(e->builder, last->measured, ir_int(e->builder, 0), length);
    elab_end_threads(e, level, one);
}

/* Computes the last chunk, if there is one, up to where its length is known. */
static void measure_last(struct elaborator *e, struct last_chunk *last) {
    struct ir_builder *b = e->builder;
    struct push *push = last->push;
    push->chunks.is_capped = push->level != LEVEL_GRID; /* where memory wants a bound */
    last->measured = elab_one_int(e, push->level, "measured_length");
    struct ir_value *at_most_one = ir_binary(b, OP_MIN, last->count, ir_int(b, 1));
    struct blocks_run nothing_before = {.is_measured = true}, *blocks = e->blocks;
    e->blocks = &nothing_before;
    if (push->chunks.level == push->level)
        ir_begin_for(b, at_most_one, NULL, 0, "chunk");
    else
        ir_begin_forall(b, push->level, push->chunks.level, at_most_one, "chunk");
    elab_with_split(e, measure_chunk, last);
    if (push->chunks.level == push->level)
        ir_end_for(b, NULL, NULL);
    else
        ir_end_forall(b);
    e->blocks = blocks;
}

struct ir_value *elab_length_of_chunks(struct elaborator *e, struct push *push) {
    struct ir_builder *b = e->builder;
    struct ir_value *count = push->array->length;
    if (!count)
        return NULL;
    struct ir_value *whole = push->chunks.size ? elab_parts_length(e, push->array, push->chunks.size) : NULL;
    if (whole)
        return whole;
    struct last_chunk last = {.push = push, .count = ir_resolve(b, count)};
    struct ir_value *some = ir_binary(b, OP_LT, ir_int(b, 0), last.count);
    for (;;) {
        e->shape++;
        struct ir_value *length = elab_as_scalar(e, elab_choose(e, some, some_chunks, &last, no_chunks, NULL));
        e->shape--;
        if (length || e->shape || !push->chunks.size || last.measured || ir_ambient(b) != push->level) {
            struct span span = e->span;
            e->span = push->span; /* its whole, and no chunk */
            length = elab_not_negative(e, length);
            e->span = span;
            return length;
        }
        measure_last(e, &last);
    }
}

/* ---- running ---- */

/* Into the chunk's part of the whole. */
struct placing {
    const struct writer *writer;
    struct elab_value *element;
};

static void write_at(struct elaborator *e, void *context, struct elab_value *where) {
    const struct placing *placing = context;
    const struct writer *self = placing->writer;
    struct ir_value *place = elab_as_scalar(e, where);
    if (self->push->total)
        elab_write_within(e, self->next, place, placing->element, self->push->total);
    else
        self->next->write(e, self->next, place, placing->element);
}

static void write_chunk(struct elaborator *e, const struct writer *self, struct ir_value *index,
                        struct elab_value *element) {
    struct placing placing = {self, element};
    if (self->push->function) {
        struct elab_value *where = elab_pair(e, elab_scalar(e, self->chunk), elab_scalar(e, index));
        elab_apply_into(e, self->push->function, where, write_at, &placing);
    } else {
        struct ir_value *start = ir_binary(e->builder, OP_MUL, self->chunk, self->push->chunks.size);
        write_at(e, &placing, elab_scalar(e, ir_binary(e->builder, OP_ADD, start, index)));
    }
}

struct chunk_body {
    const struct running *all;
    size_t count;
    struct ir_value *chunk;
    struct blocks_run *blocks; /* or NULL */
};

/* Does the first chunk come here? A whole one does, where some are whole: see note [splits]. */
static bool runs_for_first(struct elaborator *e, const struct ir_value *chunk) {
    const struct ir_region *region = ir_current(e->builder);
    const struct ir_instruction *owner = region->owner;
    if (owner && owner->kind == IR_IF && IR_PART(owner, branch).is_split && region == owner->regions[0]) {
        const struct ir_value *is_whole = ir_resolve(e->builder, owner->operands[0]);
        const struct ir_instruction *compares = is_whole->definition;
        if (!compares || compares->kind != IR_OPERATION || compares->op != OP_LT || compares->operands[0] != chunk ||
            compares->operands[1]->low < 1)
            return false;
        return elab_runs_for_certain_in(region->parent);
    }
    return elab_runs_for_certain(e);
}

/* A chunk that runs for certain and has another size, known by ranges, is an error at once. The last of a concat may;
   where there are two chunks or more, the first is not the last. */
static void refute_chunk(struct elaborator *e, const struct push *whole, const struct ir_value *chunk,
                         const struct ir_value *length, const struct ir_value *size) {
    const struct ir_value *count = whole->array->length ? ir_resolve(e->builder, whole->array->length) : NULL;
    bool is_other = length->high < size->low || length->low > size->high;
    if (!is_other || !count || count->low < (whole->function ? 1 : 2) || !runs_for_first(e, chunk))
        return;
    int64_t wanted = length->high < size->low ? size->low : size->high,
            found = length->high < size->low ? length->high : length->low;
    elab_reject(e, DIAG_CHUNK_SIZE, whole->span, "a chunk has %s%lld %s, and %s%lld %s wanted",
                length->is_constant ? ""
                : found < wanted    ? "at most "
                                    : "at least ",
                (long long)found, text_elements(found),
                size->is_constant ? ""
                : found < wanted  ? "at least "
                                  : "at most ",
                (long long)wanted, wanted == 1 ? "is" : "are");
}

/* True if the chunk may be written; if not, the code reports it. Every chunk must have the size that
   was said. Only the last chunk of a concat may be smaller: there is memory for as many elements as
   it has. A negative size is an error of its own: chunks are empty then. */
static struct ir_value *chunk_fits(struct elaborator *e, const struct chunk_body *body, struct push *whole,
                                   struct push *chunk) {
    struct ir_builder *b = e->builder;
    struct ir_value *length = elab_push_length(e, chunk), *size = whole->chunks.size;
    struct ir_value *wanted = size->low < 0 ? ir_binary(b, OP_MAX, size, ir_int(b, 0)) : size;
    struct ir_value *fits = ir_binary(b, OP_EQ, length, wanted);
    refute_chunk(e, whole, body->chunk, length, wanted);
    if (whole->function || ir_known(b, fits) == IR_TRUE) {
        elab_check_chunk(e, whole, fits, length, size);
        return fits;
    }
    struct ir_value *next = ir_binary(b, OP_ADD, body->chunk, ir_int(b, 1)),
                    *count = ir_resolve(b, whole->array->length);
    struct ir_value *least = whole->chunks.is_capped ? length : ir_int(b, 0);
    struct ir_value *may_be_last = ir_binary(b, OP_LE, least, size);
    struct ir_value *is_last = ir_binary(b, OP_AND, ir_binary(b, OP_LE, count, next), may_be_last);
    bool is_kept =
        ir_prove(b, is_last) || (ir_prove(b, may_be_last) && ir_implies(b, ir_binary(b, OP_LT, next, count), fits));
    fits = is_kept ? ir_bool(b, true) : ir_binary(b, OP_OR, fits, is_last);
    elab_check_chunk(e, whole, fits, length, size);
    struct ir_value *total = elab_may_be_unfinished(e, length) ? elab_push_length(e, whole) : NULL;
    if (total) {
        struct ir_value *start = ir_binary(b, OP_MUL, body->chunk, size);
        fits = ir_binary(b, OP_AND, fits, ir_binary(b, OP_LE, length, ir_binary(b, OP_SUB, total, start)));
    }
    return fits;
}

/* Chunks that are run together are all made before the first is stored: what they share is
   computed once, and stored once. */
static void run_chunk(struct elaborator *e, void *context) {
    const struct chunk_body *body = context;
    int shape = e->shape;
    if (body->blocks)
        body->blocks->next = body->blocks->next_pass = 0;
    struct ir_builder *b = e->builder;
    const struct ir_region *together = e->together;
    e->together = body->count > 1 ? ir_current(b) : NULL;
    struct push **chunks = ARENA_ARRAY(e->arena, struct push *, body->count);
    for (size_t k = 0; k < body->count; k++) {
        const struct push *push = body->all[k].push;
        const struct ir_value *size = push->chunks.size;
        if (!push->function && size && size->is_constant && size->low > 0) /* as many as an array's elements allow */
            ir_assume_range(b, body->chunk, 0, INT32_MAX / size->low);
        chunks[k] = elab_as_push(e, elab_index(e, push->array, body->chunk));
    }
    e->together = together;
    for (size_t k = 0; k < body->count; k++) {
        const struct running *one = &body->all[k];
        struct writer writer = {.write = write_chunk, .push = one->push, .chunk = body->chunk, .next = one->writer};
        if (one->push->chunks.size && !e->shape)
            elab_run_if(e, chunk_fits(e, body, one->push, chunks[k]), chunks[k], &writer);
        else
            elab_run(e, chunks[k], &writer);
    }
    e->shape = shape; /* raised where a pass ends at a lookback */
    if (body->blocks)
        elab_end_lookbacks(e, body->blocks);
}

/* Over blocks of the grid: once, unless a lookback wants launches of its own. */
static void run_blocks(struct elaborator *e, struct chunk_body *body, struct ir_value *count) {
    struct ir_builder *b = e->builder;
    struct blocks_run *outer = e->blocks;
    struct blocks_run *blocks = e->blocks = body->blocks = ARENA_NEW(e->arena, struct blocks_run);
    blocks->parent = ir_current(b);
    blocks->count = count;
    for (;; blocks->pass++) {
        blocks->collected = NULL;
        blocks->has_ended = false;
        blocks->index = body->chunk = ir_begin_forall(b, LEVEL_GRID, LEVEL_BLOCK, count, "chunk");
        blocks->region = ir_current(b);
        elab_with_split(e, run_chunk, body);
        ir_end_forall(b);
        if (!blocks->collected)
            break;
        elab_scan_collected(e, blocks);
    }
    elab_end_blocks(e, blocks);
    e->blocks = outer;
}

void elab_run_all_chunks(struct elaborator *e, const struct running *all, size_t all_count) {
    const struct push *push = all[0].push;
    if (elab_is_none(e, push->array->length))
        return;
    struct ir_builder *b = e->builder;
    struct ir_value *count = ir_resolve(b, push->array->length);
    bool sequential = push->chunks.level == push->level;
    struct chunk_body *body = ARENA_NEW(e->arena, struct chunk_body);
    body->all = all;
    body->count = all_count;
    if (push->level == LEVEL_GRID && push->chunks.level == LEVEL_BLOCK) {
        run_blocks(e, body, count);
        return;
    }
    body->chunk = sequential ? ir_begin_for(b, count, NULL, 0, "chunk")
                             : ir_begin_forall(b, push->level, push->chunks.level, count, "chunk");
    if (push->level == LEVEL_GRID && push->chunks.level == LEVEL_WARP)
        IR_PART(ir_current(b)->owner, loop).threads = e->options->warp_threads;
    elab_with_split(e, run_chunk, body);
    if (sequential)
        ir_end_for(b, NULL, NULL);
    else
        ir_end_forall(b);
}

void elab_run_chunks(struct elaborator *e, struct push *push, const struct writer *writer) {
    struct running *one = ARENA_NEW(e->arena, struct running);
    *one = (struct running){push, writer};
    elab_run_all_chunks(e, one, 1);
}

/* ---- primitives ---- */

static struct elab_value *chunks(struct elaborator *e, enum push_kind kind, const struct instance *instance,
                                 bool sequential, struct elab_value **arguments) {
    enum level_value inner = elab_level(e, instance, 0);
    bool has_places = kind != PUSH_CONCAT;
    struct push push = {.kind = kind,
                        .level = sequential ? inner : elab_level(e, instance, 1),
                        .function = has_places ? arguments[1] : NULL,
                        .array = elab_as_pull(e, arguments[has_places ? 2 : 1]),
                        .chunks.level = inner};
    if (kind == PUSH_INTERLEAVE_INTO)
        push.total = elab_given_length(e, arguments[0]);
    else
        push.chunks.size = elab_chunk_size(e, arguments[0]);
    return elab_of_push(e, elab_push_new(e, push));
}

PRIMITIVE(CONCAT) { return chunks(e, PUSH_CONCAT, instance, false, arguments); }
PRIMITIVE(CONCAT_SEQ) { return chunks(e, PUSH_CONCAT, instance, true, arguments); }
PRIMITIVE(INTERLEAVE) { return chunks(e, PUSH_INTERLEAVE, instance, false, arguments); }
PRIMITIVE(INTERLEAVE_SEQ) { return chunks(e, PUSH_INTERLEAVE, instance, true, arguments); }
PRIMITIVE(INTERLEAVE_INTO) { return chunks(e, PUSH_INTERLEAVE_INTO, instance, false, arguments); }
