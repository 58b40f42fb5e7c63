/* Arrays of chunks that are known to be parts of an array, and putting them together again.

   note [parts]
   `splitUp`, `rows` and a matrix in memory say of which array their chunks are the parts, and how
   long these are. So `flatten` gives that array back, without a division, and where a function on
   chunks keeps their lengths, what they make together is as long as what was split. Computed from
   the chunks, as their number times the length of the first and so on, it would have a bound that
   grows with each step by a factor, and memory is set aside by bounds.

   note [promises about parts]
   That chunks are these parts, that the two ways to join them give the same, and that what is left of a full chunk is a
   full chunk is believed of the prelude and the library alone. A program's word proves nothing, so that its chunks are
   taken as they are. */
#include "elaborate/check.h"
#include "elaborate/evaluate.h"
#include "elaborate/primitive.h"
#include "elaborate/push.h"

/* ---- what the chunks are parts of ---- */

/* The use that is made of the array that rows or chunks are parts of. */
enum whole {
    WHOLE_ARRAY,     /* an array of the program: an int counts its elements */
    WHOLE_RESULT,    /* a result, which may turn out to be large: note [large results] in matrix.c */
    WHOLE_LARGE,     /* a large result: 64 bits count its elements */
    WHOLE_UNMEASURED /* its length is not asked for, as it might be too large */
};

static struct ir_value *whole_length(struct elaborator *e, enum whole as, struct ir_value *count,
                                     struct ir_value *width) {
    struct ir_builder *b = e->builder;
    if (as == WHOLE_UNMEASURED)
        return NULL;
    count = ir_resolve(b, count);
    width = ir_resolve(b, width);
    if (as != WHOLE_LARGE)
        return elab_combined_length(e, OP_MUL, as == WHOLE_ARRAY ? CHECK_MANY_TIMES : CHECK_RESULT, count, width);
    return ir_binary(b, OP_MUL, ir_convert(b, count, BASE_I64), ir_convert(b, width, BASE_I64));
}

/* A matrix in memory as the array of its elements. */
static struct pull *flat_memory(struct elaborator *e, struct pull *matrix, enum whole as) {
    struct pull *flat = ARENA_NEW(e->arena, struct pull);
    *flat = *matrix;
    flat->memory.extents++;
    flat->memory.extent_count--;
    flat->length = whole_length(e, as, matrix->length, matrix->memory.extents[0]);
    return flat;
}

/* `map f`: what it makes of an array has as many elements, each of one of the array's. */
static bool maps_elements(const struct elab_value *function) {
    return function->kind == ELAB_PRIMITIVE && function->primitive.count == 1 &&
           (function->primitive.primitive == PRIM_MAP || function->primitive.primitive == PRIM_MAP_PULL);
}

static const struct parts *parts_of(struct elaborator *e, struct pull *pull, enum whole as) {
    if (!pull->parts && pull->kind == PULL_MAP && maps_elements(pull->function)) {
        const struct parts *of = parts_of(e, pull->of, as);
        if (!of)
            return NULL;
        struct parts *parts = ARENA_NEW(e->arena, struct parts);
        parts->width = of->width;
        parts->whole = elab_pull_new(e, PULL_MAP, of->whole->length);
        parts->whole->function = pull->function->primitive.arguments[0];
        parts->whole->of = of->whole;
        return parts;
    }
    if (pull->parts || pull->kind != PULL_MEMORY || !pull->memory.extent_count || !pull->length)
        return pull->parts;
    struct parts *parts = ARENA_NEW(e->arena, struct parts);
    parts->whole = flat_memory(e, pull, as);
    parts->width = pull->memory.extents[0];
    return parts;
}

/* Where one is an int, so is the least. */
static struct ir_value *least(struct elaborator *e, struct ir_value *x, struct ir_value *y) {
    struct ir_builder *b = e->builder;
    if (x->base == y->base)
        return ir_binary(b, OP_MIN, x, y);
    return ir_convert(b, ir_binary(b, OP_MIN, ir_convert(b, x, BASE_I64), ir_convert(b, y, BASE_I64)), BASE_I32);
}

struct pull *elab_joined(struct elaborator *e, struct pull *rows, struct ir_value *width, bool is_large) {
    enum whole as = is_large ? WHOLE_LARGE : WHOLE_RESULT;
    const struct parts *parts = parts_of(e, rows, as);
    struct ir_value *length = whole_length(e, as, rows->length, width);
    struct pull *joined = ARENA_NEW(e->arena, struct pull);
    if (parts && parts->whole->length) {
        *joined = *parts->whole;
        if (joined->kind == PULL_LIST)
            return joined;
        if (!elab_is_same_length(e, joined->length, length)) /* the last row may be shorter, which is an error */
            length = least(e, joined->length, length);
    } else {
        joined->kind = PULL_JOINED;
        joined->of = rows;
        joined->width = width;
    }
    joined->length = length;
    return joined;
}

struct pull *elab_rows_from(struct elaborator *e, struct pull *joined, struct ir_value *first, struct ir_value *width,
                            struct ir_value *length) {
    struct ir_builder *b = e->builder;
    struct pull *from = ARENA_NEW(e->arena, struct pull);
    *from = *joined;
    from->length = length;
    if (joined->kind == PULL_JOINED) {
        from->first = first;
    } else if (joined->kind == PULL_MAP) {
        from->of = elab_rows_from(e, joined->of, first, width, length);
    } else {
        struct ir_value *offset = ir_binary(b, OP_MUL, first, ir_convert(b, width, BASE_I64));
        if (joined->memory.extent_count)
            offset = ir_binary(b, OP_MUL, offset, elab_stride(e, joined));
        from->memory.offset = joined->memory.offset ? ir_binary(b, OP_ADD, joined->memory.offset, offset) : offset;
    }
    return from;
}

/* ---- functions that keep the lengths of chunks ---- */

struct mapped {
    struct pull *chunks, *base;
    bool keeps; /* the length of each chunk */
};

/* Applies the maps to a chunk of the array that they begin with. */
static struct elab_value *map_chunk(struct elaborator *e, struct pull *chunks, struct elab_value *chunk) {
    if (chunks->kind != PULL_MAP || chunks->parts)
        return chunk;
    return elab_apply(e, chunks->function, map_chunk(e, chunks->of, chunk));
}

/* How long the maps make a chunk of which no more is known than its length; NULL: that depends on its place or its
   elements. It is run by a try, which takes back what it adds to `shape`. */
static struct ir_value *mapped_length(struct elaborator *e, struct pull *chunks, struct pull *base,
                                      struct ir_value *length) {
    e->shape++;
    struct ir_value *some = ir_parameter_value(e->builder, BASE_I32, 0, INT32_MAX, NULL);
    struct pull *chunk = ARENA_NEW(e->arena, struct pull);
    *chunk = *elab_as_pull(e, elab_index(e, base, some));
    chunk->length = length;
    chunk->parts = NULL;
    return elab_length(e, map_chunk(e, chunks, elab_of_pull(e, chunk)));
}

static void compare_lengths(struct elaborator *e, void *context) {
    struct mapped *mapped = context;
    struct ir_value *length = ir_parameter_value(e->builder, BASE_I32, 0, INT32_MAX, NULL);
    struct ir_value *after = mapped_length(e, mapped->chunks, mapped->base, length);
    mapped->keeps = after && elab_is_same_length(e, after, length);
}

/* The chunks before the maps. */
static struct pull *before_maps(struct pull *chunks) {
    while (chunks->kind == PULL_MAP && !chunks->parts)
        chunks = chunks->of;
    return chunks;
}

/* The array whose parts were mapped, by functions that keep their lengths; else NULL. */
static const struct parts *mapped_parts(struct elaborator *e, struct pull *chunks, enum whole as) {
    struct pull *base = before_maps(chunks);
    const struct parts *parts = parts_of(e, base, as);
    if (!parts || base == chunks)
        return parts;
    if (!chunks->keeps_in || !ir_region_inside(ir_current(e->builder), chunks->keeps_in)) {
        struct mapped mapped = {.chunks = chunks, .base = base};
        chunks->keeps = elab_try(e, compare_lengths, &mapped) && mapped.keeps;
        chunks->keeps_in = ir_current(e->builder);
    }
    return chunks->keeps ? parts : NULL;
}

struct ir_value *elab_mapped_length(struct elaborator *e, struct pull *chunks) {
    struct pull *base = before_maps(chunks);
    const struct parts *parts = parts_of(e, base, WHOLE_UNMEASURED);
    return parts ? mapped_length(e, chunks, base, parts->width) : NULL;
}

struct ir_value *elab_parts_length(struct elaborator *e, struct pull *chunks, struct ir_value *size) {
    const struct parts *parts = mapped_parts(e, chunks, WHOLE_UNMEASURED);
    if (!parts || !elab_is_same_length(e, parts->width, size))
        return NULL;
    parts = parts_of(e, before_maps(chunks), WHOLE_ARRAY);
    return parts->whole->length ? ir_resolve(e->builder, parts->whole->length) : NULL;
}

/* ---- primitives ---- */

/* See note [promises about parts]. */
static bool is_believed(const struct elaborator *e) { return diag_is_ours(e->diagnostics, e->span); }

PRIMITIVE(PARTS_OF) {
    struct ir_value *width = elab_as_scalar(e, arguments[0]);
    if (!width || !is_believed(e))
        return arguments[2];
    struct parts *parts = ARENA_NEW(e->arena, struct parts);
    parts->width = width;
    parts->whole = elab_as_pull(e, arguments[1]);
    struct pull *behind = elab_users_span(e, e->span).end ? elab_behind(e, parts->whole) : NULL; /* of our own `rows` */
    if (behind)
        parts->whole = behind;
    struct pull *pull = ARENA_NEW(e->arena, struct pull);
    *pull = *elab_as_pull(e, arguments[2]);
    pull->parts = parts;
    return elab_of_pull(e, pull);
}

PRIMITIVE(JOIN_PARTS) {
    struct pull *chunks = elab_as_pull(e, arguments[0]);
    if (!is_believed(e))
        return elab_apply(e, arguments[2], arguments[0]);
    const struct parts *parts = parts_of(e, chunks, WHOLE_ARRAY);
    if (parts)
        return elab_of_pull(e, parts->whole);
    parts = mapped_parts(e, chunks, WHOLE_ARRAY);
    bool is_none = chunks->length && elab_is_none(e, chunks->length); /* also where there should be: a width of 0 */
    if (!parts || !parts->whole->length || is_none)
        return elab_apply(e, arguments[2], arguments[0]);
    return elab_apply2(e, arguments[1], elab_scalar(e, parts->width), elab_scalar(e, parts->whole->length));
}

PRIMITIVE(WHOLE_ROWS) {
    struct ir_builder *b = e->builder;
    struct ir_value *width = elab_as_scalar(e, arguments[0]), *length = elab_as_scalar(e, arguments[1]);
    if (!width || !length)
        return elab_scalar(e, NULL);
    width = ir_binary(b, OP_MAX, ir_int(b, 1), width);
    struct ir_value *left = ir_binary(b, OP_REM, length, width);
    elab_check(e, CHECK_WHOLE_ROWS, ir_binary(b, OP_EQ, left, ir_int(b, 0)), width, length, e->span);
    return elab_scalar(e, ir_binary(b, OP_DIV, length, width));
}

static struct elab_value *whole_size(struct elaborator *e, void *arguments) {
    (void)e;
    return ((struct elab_value **)arguments)[1];
}

static struct elab_value *size_of_rest(struct elaborator *e, void *arguments) {
    struct elab_value **given = arguments;
    return elab_apply(e, given[2], given[1]);
}

PRIMITIVE(FULL_OR) {
    struct ir_value *is_full = elab_as_scalar(e, arguments[0]);
    enum ir_truth known = is_full ? ir_known(e->builder, is_full) : IR_UNKNOWN;
    if (known == IR_TRUE)
        return arguments[1];
    bool believed = is_believed(e);
    if (is_full && known == IR_UNKNOWN)
        elab_split_on(e, is_full, e->span);
    if (!believed && is_full && known == IR_UNKNOWN)
        return elab_choose(e, is_full, whole_size, arguments, size_of_rest, arguments);
    return size_of_rest(e, arguments);
}
