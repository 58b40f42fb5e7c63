/* mma: the product of two matrices, added to a third.

   Where the target has an instruction for elements of that type, the warps share out the result, and go through 32
   bytes of columns of the first matrix, and as many rows of the second, at a time. Each lane brings its fragments of
   the three as note [fragments] of ir.h has them, whatever the arrays are: an index function is asked for each element
   that the lane has. Lane l gets elements 2 l and 2 l + 1 of a product, row by row, and those 64 behind, and the
   result's order (note [orders] in order.c) lets own_places keep the sums in registers from one product to the next.
   Elsewhere whoever gets an element computes it. */
#include "elaborate/evaluate.h"
#include "elaborate/primitive.h"
#include "elaborate/push.h"
#include "ir/places.h"

/* An element as one of those that are added. */
static struct ir_value *wide_at(struct elaborator *e, struct pull *pull, struct ir_value *index, enum base sum) {
    return ir_convert(e->builder, elab_as_scalar(e, elab_index(e, pull, index)), sum);
}

/* Each element by whoever gets it. */
static void run_by_elements(struct elaborator *e, struct push *push, const struct writer *writer) {
    struct ir_builder *b = e->builder;
    struct ir_value *inner = ir_int(b, push->mma.size.inner), *columns = ir_int(b, push->mma.size.columns);
    struct ir_value *i = elab_begin_threads(e, push->level, push->total);
    struct ir_value *sum = elab_as_scalar(e, elab_index(e, push->mma.sums, i));
    struct ir_value *row = ir_binary(b, OP_DIV, i, columns), *column = ir_binary(b, OP_REM, i, columns);
    struct ir_value *k = ir_begin_for(b, inner, &sum, 1, "k");
    struct ir_value *left = ir_binary(b, OP_ADD, ir_binary(b, OP_MUL, row, inner), k);
    struct ir_value *above = ir_binary(b, OP_ADD, ir_binary(b, OP_MUL, k, columns), column);
    struct ir_value *x = wide_at(e, push->array, left, sum->base), *y = wide_at(e, push->mma.second, above, sum->base);
    struct ir_value *next = ir_ternary(b, OP_FMA, x, y, sum);
    ir_end_for(b, &next, &sum);
    writer->write(e, writer, i, elab_scalar(e, sum));
    elab_end_threads(e, push->level, i);
}

/* An array of rows of `columns`, of which elements are asked for by row and column, from a corner on. */
struct matrix {
    struct pull *pull;
    const struct element_order *order;
    int64_t columns;
    struct ir_value *row, *column;
};

static struct ir_value *at_in(struct elaborator *e, const struct matrix *m, struct ir_value *row, int64_t below,
                              struct ir_value *column, int64_t right) {
    struct ir_builder *b = e->builder;
    row = ir_binary(b, OP_ADD, ir_binary(b, OP_ADD, m->row, row), ir_int(b, below));
    column = ir_binary(b, OP_ADD, ir_binary(b, OP_ADD, m->column, column), ir_int(b, right));
    if (m->order)
        return order_element(e, m->order, row, column);
    return ir_binary(b, OP_ADD, ir_binary(b, OP_MUL, row, ir_int(b, m->columns)), column);
}

static struct ir_value *fragment(struct elaborator *e, const struct matrix *m, struct ir_value *row, int64_t below,
                                 struct ir_value *column, int64_t right) {
    return elab_as_scalar(e, elab_index(e, m->pull, at_in(e, m, row, below, column, right)));
}

/* Where in a buffer with stages the elements next to each other begin, `count` of them, that are a row, or half of one,
   or half of a column; NULL: they are not so. See note [rows of matrices] in ir.h. */
static struct ir_value *row_place(struct elaborator *e, const struct matrix *m, struct ir_value *row,
                                  struct ir_value *column, int count, bool by_columns) {
    const struct ir_instruction *first = NULL;
    for (int i = 0; i < count; i++) {
        const struct ir_value *element = fragment(e, m, row, by_columns ? i : 0, column, by_columns ? 0 : i);
        const struct ir_instruction *load = element->definition;
        int64_t distance;
        if (!load || load->kind != IR_LOAD || !load->buffer->stages || (first && load->buffer != first->buffer) ||
            (first && (!linear_distance(first->operands[0], load->operands[0], &distance) || distance != i)))
            return NULL;
        first = first ? first : load;
    }
    return ir_is_multiple(first->operands[0], count) ? first->operands[0] : NULL;
}

/* The places of note [rows of matrices]. Are those of the second matrix places in columns? */
static bool find_places(struct elaborator *e, const struct matrix *x, const struct matrix *y, struct ir_value *lane,
                        const struct mma_form *form, struct ir_value *places[MMA_PLACES]) {
    struct ir_builder *b = e->builder;
    int count = (int)form->row;
    struct ir_value *zero = ir_int(b, 0), *eight = ir_int(b, 8), *many = ir_int(b, count);
    struct ir_value *row = ir_binary(b, OP_REM, lane, ir_int(b, MMA_ROWS));
    struct ir_value *half = ir_binary(b, OP_MUL, ir_binary(b, OP_DIV, lane, ir_int(b, MMA_ROWS)), many);
    struct ir_value *below = ir_binary(b, OP_REM, ir_binary(b, OP_DIV, lane, eight), ir_int(b, 2));
    places[1] = count == 8 ? row_place(e, y, row, zero, count, false) : NULL;
    bool by_columns = !places[1];
    if (by_columns)
        places[1] = row_place(e, y, ir_binary(b, OP_MUL, below, many), ir_binary(b, OP_REM, lane, eight), count, true);
    places[0] = places[1] ? row_place(e, x, row, half, count, false) : NULL;
    return by_columns && places[1];
}

/* A lane's part of one product: 16 rows of `x`, 8 columns of `y`. */
static void run_product(struct elaborator *e, const struct matrix *x, const struct matrix *y, const struct matrix *sum,
                        struct ir_value *lane, const struct mma_form *form, const struct writer *writer) {
    struct ir_builder *b = e->builder;
    struct ir_value *operands[MMA_MOST_OPERANDS], *sums[MMA_SUMS], *places[MMA_SUMS], *four = ir_int(b, 4);
    struct ir_value *group = ir_binary(b, OP_DIV, lane, four), *of_four = ir_binary(b, OP_REM, lane, four);
    struct ir_value *part = ir_binary(b, OP_MUL, of_four, ir_int(b, form->pack));
    struct ir_value *pair = ir_binary(b, OP_MUL, of_four, ir_int(b, 2));
    int pack = (int)form->pack;
    size_t count = 0;
    for (int i = 0; i < (int)form->first; i++)
        operands[count++] = fragment(e, x, group, i / pack % 2 * 8, part, i / (2 * pack) * 4 * pack + i % pack);
    for (int i = 0; i < (int)form->second; i++)
        operands[count++] = fragment(e, y, part, i / pack * 4 * pack + i % pack, group, 0);
    for (int i = 0; i < MMA_SUMS; i++) {
        places[i] = at_in(e, sum, group, i / 2 * 8, pair, i % 2);
        operands[count++] = elab_as_scalar(e, elab_index(e, sum->pull, places[i]));
    }
    struct ir_value *rows[MMA_PLACES];
    bool by_columns = find_places(e, x, y, lane, form, rows);
    ir_mma(b, operands, rows, by_columns, sums);
    for (int i = 0; i < MMA_SUMS; i++)
        writer->write(e, writer, places[i], elab_scalar(e, sums[i]));
}

/* All products of the warps, of an instruction's columns of the first matrix and rows of the second, from `k` on. */
static void run_part(struct elaborator *e, const struct push *push, int64_t k, struct pull *sums,
                     const struct mma_form *form, const struct writer *writer) {
    struct ir_builder *b = e->builder;
    const struct element_order *order = push->mma.order;
    int products = order_products(order);
    bool is_shared_out = push->level == LEVEL_BLOCK;
    struct ir_value *warp = ir_int(b, 0), *product = ir_int(b, 0), *row, *column, *from = ir_int(b, k);
    if (is_shared_out)
        warp = ir_begin_forall(b, LEVEL_BLOCK, LEVEL_WARP, ir_int(b, order_warps(order)), "warp");
    if (products > 1)
        product = ir_begin_for(b, ir_int(b, products), NULL, 0, "product");
    struct ir_value *lane = elab_begin_threads(e, LEVEL_WARP, ir_int(b, e->options->warp_size));
    order_corner(e, order, warp, product, &row, &column);
    const struct mma_size *size = &push->mma.size;
    struct matrix x = {push->array, order_of_pull(push->array), size->inner, row, from};
    struct matrix y = {push->mma.second, order_of_pull(push->mma.second), size->columns, from, column};
    struct matrix sum = {sums, order, size->columns, row, column};
    run_product(e, &x, &y, &sum, lane, form, writer);
    elab_end_threads(e, LEVEL_WARP, lane);
    if (products > 1)
        ir_end_for(b, NULL, NULL);
    if (is_shared_out)
        ir_end_forall(b);
}

static void run_by_lanes(struct elaborator *e, const struct push *push, const struct writer *writer) {
    const struct mma_form form = mma_form(push->mma.base);
    struct type *type = form.sum == BASE_F32 ? &elab_float_type : &elab_int_type;
    struct pull *sums = push->mma.sums;
    int64_t k = 0;
    for (; k + form.inner < push->mma.size.inner; k += form.inner) {
        size_t count;
        struct ir_buffer **buffers = elab_buffers(e, type, push->level, push->total, NULL, &count);
        elab_allocate(e, buffers, count);
        struct writer between = elab_store_writer(buffers, count, NULL);
        between.order = push->mma.order;
        run_part(e, push, k, sums, &form, &between);
        sums = elab_stored(e, type, buffers, NULL, push->total);
        sums->order = push->mma.order;
    }
    run_part(e, push, k, sums, &form, writer);
}

void elab_run_mma(struct elaborator *e, struct push *push, const struct writer *writer) {
    if (push->mma.order)
        run_by_lanes(e, push, writer);
    else
        run_by_elements(e, push, writer);
}

/* How many elements it has; -1: only a shape is wanted, and it is not known. */
static int64_t length_of(struct elaborator *e, struct pull *matrix, const char *which, const char *name) {
    struct ir_value *length = matrix->length ? ir_resolve(e->builder, matrix->length) : NULL;
    if (length && length->is_constant)
        return length->constant.integer;
    if (!e->shape)
        elab_fail(
            e, DIAG_TILE_LENGTH, e->span,
            "how many elements the %s matrix of `%s` has must be known at compile time: make it by a `generate` of "
            "a constant number",
            which, name);
    return -1;
}

static const struct element_order *order_for(struct elaborator *e, const struct push *push) {
    enum base base = push->mma.base;
    int warps = push->level == LEVEL_WARP ? 1 : elab_block_threads(e) / 32;
    if (!e->options->has_mma || e->options->warp_size != 32 || !mma_has_form(base) || warps < 1)
        return NULL;
    if ((base == BASE_F32 && !e->options->approximates) || push->mma.size.inner % mma_form(base).inner)
        return NULL;
    return order_by_lanes(e, push->mma.size, warps);
}

static void ask_columns(struct pull *pull, int64_t columns) {
    while (pull->kind == PULL_MAP)
        pull = pull->of;
    if (pull->asked_columns)
        *pull->asked_columns = columns;
}

static struct elab_value *product_of(struct elaborator *e, const struct instance *instance,
                                     struct elab_value **arguments, const char *name) {
    struct pull *first = elab_as_pull(e, arguments[0]), *second = elab_as_pull(e, arguments[1]);
    struct pull *sums = elab_as_pull(e, arguments[2]);
    int64_t a = length_of(e, first, "first", name), b = length_of(e, second, "second", name);
    int64_t c = length_of(e, sums, "third", name);
    struct push product = {
        .kind = PUSH_MMA, .level = elab_level(e, instance, 0), .total = sums->length, .array = first};
    product.mma.second = second;
    product.mma.sums = sums;
    product.mma.base = type_resolve(elab_type(e, instance, 0))->base;
    if (a >= 0 && b >= 0 && c >= 0) {
        if (!core_mma_size(a, b, c, &product.mma.size))
            elab_fail(e, DIAG_TILE_LENGTH, e->span, MMA_SIZE_MESSAGE, name, (long long)a, (long long)b, (long long)c);
        product.mma.order = order_for(e, &product);
        if (product.mma.order) {
            ask_columns(first, product.mma.size.inner);
            ask_columns(second, product.mma.size.columns);
        }
    }
    return elab_of_push(e, elab_push_new(e, product));
}

PRIMITIVE(MMA) { return product_of(e, instance, arguments, "mma"); }
PRIMITIVE(MMA_INT) { return product_of(e, instance, arguments, "mmaInt"); }
