/* mma: the product of two small matrices, added to a third.

   Where the target has an instruction for it, and elements are of 16 bits, each lane brings its
   fragments of the three as note [fragments] of ir.h has them, whatever the arrays are: an index
   function is asked for each element that the lane has. Lane l gets elements 2 l and 2 l + 1 and those
   64 behind, so that own_places can keep the sums in registers from one product to the
   next. Elsewhere whoever gets an element computes it. */
#include "elaborate/evaluate.h"
#include "elaborate/primitive.h"
#include "elaborate/push.h"
#include "ir/places.h"

static struct ir_value *float_at(struct elaborator *e, struct pull *pull, struct ir_value *index) {
    return ir_convert(e->builder, elab_as_scalar(e, elab_index(e, pull, index)), BASE_F32);
}

/* Each element by whoever gets it. */
static void run_by_elements(struct elaborator *e, struct push *push, const struct writer *writer) {
    struct ir_builder *b = e->builder;
    struct ir_value *inner = ir_int(b, MMA_INNER), *columns = ir_int(b, MMA_COLUMNS);
    struct ir_value *i = elab_begin_threads(e, LEVEL_WARP, push->total);
    struct ir_value *sum = elab_as_scalar(e, elab_index(e, push->mma.sums, i));
    struct ir_value *row = ir_binary(b, OP_DIV, i, columns), *column = ir_binary(b, OP_REM, i, columns);
    struct ir_value *k = ir_begin_for(b, inner, &sum, 1, "k");
    struct ir_value *x = float_at(e, push->array, ir_binary(b, OP_ADD, ir_binary(b, OP_MUL, row, inner), k));
    struct ir_value *y = float_at(e, push->mma.second, ir_binary(b, OP_ADD, ir_binary(b, OP_MUL, k, columns), column));
    struct ir_value *next = ir_ternary(b, OP_FMA, x, y, sum);
    ir_end_for(b, &next, &sum);
    writer->write(e, writer, i, elab_scalar(e, sum));
    elab_end_threads(e, LEVEL_WARP, i);
}

/* An element of an operand of the instruction: its place in rows of `columns`. */
static struct ir_value *fragment(struct elaborator *e, struct pull *pull, struct ir_value *row, int64_t below,
                                 struct ir_value *column, int64_t right, int64_t columns) {
    struct ir_builder *b = e->builder;
    struct ir_value *first = ir_binary(b, OP_ADD, ir_binary(b, OP_MUL, row, ir_int(b, columns)), column);
    struct ir_value *place = ir_binary(b, OP_ADD, first, ir_int(b, below * columns + right));
    return elab_as_scalar(e, elab_index(e, pull, place));
}

/* Where in a buffer with stages the eight elements next to each other begin that are a row, or half of one; NULL: they
   are not so. See note [rows of matrices] in ir.h. */
static struct ir_value *row_place(struct elaborator *e, struct pull *pull, struct ir_value *row,
                                  struct ir_value *column, int64_t columns) {
    const struct ir_instruction *first = NULL;
    for (int i = 0; i < MMA_ROW; i++) {
        const struct ir_instruction *load = fragment(e, pull, row, 0, column, i, columns)->definition;
        int64_t distance;
        if (!load || load->kind != IR_LOAD || !load->buffer->stages || (first && load->buffer != first->buffer) ||
            (first && (!linear_distance(first->operands[0], load->operands[0], &distance) || distance != i)))
            return NULL;
        first = first ? first : load;
    }
    return ir_is_multiple(first->operands[0], MMA_ROW) ? first->operands[0] : NULL;
}

static void run_by_lanes(struct elaborator *e, struct push *push, const struct writer *writer) {
    struct ir_builder *b = e->builder;
    struct ir_value *operands[MMA_OPERANDS], *sums[MMA_SUMS], *four = ir_int(b, 4), *two = ir_int(b, 2);
    struct ir_value *lane = elab_begin_threads(e, LEVEL_WARP, ir_int(b, e->options->warp_size));
    struct ir_value *group = ir_binary(b, OP_DIV, lane, four);
    struct ir_value *pair = ir_binary(b, OP_MUL, ir_binary(b, OP_REM, lane, four), two);
    struct ir_value *place = ir_binary(b, OP_MUL, lane, two); /* of the first sum */
    size_t count = 0;
    for (int i = 0; i < MMA_FIRST; i++)
        operands[count++] = fragment(e, push->array, group, i / 2 % 2 * 8, pair, i / 4 * 8 + i % 2, MMA_INNER);
    for (int i = 0; i < MMA_SECOND; i++)
        operands[count++] = fragment(e, push->mma.second, pair, i / 2 * 8 + i % 2, group, 0, MMA_COLUMNS);
    for (int i = 0; i < MMA_SUMS; i++) {
        struct ir_value *at = ir_binary(b, OP_ADD, place, ir_int(b, i / 2 * 8 * MMA_COLUMNS + i % 2));
        operands[count++] = elab_as_scalar(e, elab_index(e, push->mma.sums, at));
    }
    struct ir_value *row = ir_binary(b, OP_REM, lane, ir_int(b, MMA_ROWS)), *places[MMA_PLACES] = {NULL};
    struct ir_value *half = ir_binary(b, OP_MUL, ir_binary(b, OP_DIV, lane, ir_int(b, MMA_ROWS)), ir_int(b, MMA_ROW));
    places[0] = row_place(e, push->array, row, half, MMA_INNER);
    places[1] = places[0] ? row_place(e, push->mma.second, row, ir_int(b, 0), MMA_COLUMNS) : NULL;
    ir_mma(b, operands, places[1] ? places : NULL, sums);
    for (int i = 0; i < MMA_SUMS; i++) {
        struct ir_value *at = ir_binary(b, OP_ADD, place, ir_int(b, i / 2 * 8 * MMA_COLUMNS + i % 2));
        writer->write(e, writer, at, elab_scalar(e, sums[i]));
    }
    elab_end_threads(e, LEVEL_WARP, lane);
}

void elab_run_mma(struct elaborator *e, struct push *push, const struct writer *writer) {
    enum base base = push->mma.base;
    if (e->options->has_mma && e->options->warp_size == 32 && (base == BASE_F16 || base == BASE_BF16))
        run_by_lanes(e, push, writer);
    else
        run_by_elements(e, push, writer);
}

static struct pull *as_tile(struct elaborator *e, struct elab_value *value, const char *which, int rows, int columns) {
    struct pull *tile = elab_as_pull(e, value);
    struct ir_value *length = tile->length ? ir_resolve(e->builder, tile->length) : NULL;
    bool is_known = length && length->is_constant;
    if (!is_known && !e->shape)
        elab_fail(e, DIAG_TILE_LENGTH, e->span,
                  "how many elements the %s matrix of `mma` has must be known at compile time: make it by a `generate` "
                  "of %d elements",
                  which, rows * columns);
    if (is_known && length->constant.integer != rows * columns)
        elab_fail(e, DIAG_TILE_LENGTH, e->span, MMA_TILE_MESSAGE, which, rows, columns, rows * columns,
                  (long long)length->constant.integer);
    return tile;
}

PRIMITIVE(MMA) {
    struct push product = {.kind = PUSH_MMA, .level = LEVEL_WARP, .total = ir_int(e->builder, MMA_ROWS * MMA_COLUMNS)};
    product.array = as_tile(e, arguments[0], "first", MMA_ROWS, MMA_INNER);
    product.mma.second = as_tile(e, arguments[1], "second", MMA_INNER, MMA_COLUMNS);
    product.mma.sums = as_tile(e, arguments[2], "third", MMA_ROWS, MMA_COLUMNS);
    product.mma.base = type_resolve(elab_type(e, instance, 0))->base;
    return elab_of_push(e, elab_push_new(e, product));
}
