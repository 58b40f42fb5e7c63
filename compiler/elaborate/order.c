/* Orders in which elements of matrices lie in memory.

   note [orders]
   A matrix is row by row to the program. Where matrix units work on it, it lies in memory otherwise:

   - the results of a product by lanes, pairs of neighbours of a row. A block's warps share out the matrix, and each
     has its part by products of 16 × 8 elements. A lane has a pair in the upper half of these, and one in the lower.
     Halves of a product come one after the other, and those of all warps stand side by side:
         place = (2 t + half) * 64 warps + 64 warp + 2 lane + which of the pair,
     so that a thread's sums are at places of its own (note [several places] of ir/passes/own_places.c), and what a
     loop carries of them is in registers;
   - the rows of operands by pieces of 16 bytes, which change places from row to row, so that lanes which load pieces of
     one column do not meet at a bank.

   Such an array is written and read by its elements' indices, as every other; only the memory's place is another. A
   loop over all its elements goes by places, so that threads side by side touch places side by side, and asks which
   element that is. An index that is found so keeps its place, which is not computed back. */
#include "elaborate/elaborator.h"

enum order_kind { ORDER_BY_LANES, ORDER_BY_PIECES };

struct element_order {
    enum order_kind kind;
    int64_t rows, columns;
    int64_t piece;      /* BY_PIECES: so many elements */
    int down, across;   /* BY_LANES: warps below and beside each other, */
    int64_t high, wide; /* and the products of each */
    struct map *places; /* of elements whose places are known: index → value */
};

static struct element_order *new_order(struct elaborator *e, struct element_order wanted) {
    for (size_t i = 0; i < e->orders.count; i++) {
        struct element_order *order = e->orders.at[i];
        if (order->kind == wanted.kind && order->rows == wanted.rows && order->columns == wanted.columns &&
            order->down == wanted.down && order->across == wanted.across && order->piece == wanted.piece)
            return order;
    }
    struct element_order *order = ARENA_NEW(e->arena, struct element_order);
    *order = wanted;
    order->places = map_new(e->arena);
    vec_push(e->arena, &e->orders, order);
    return order;
}

/* The most warps that can share it out evenly take part, in rectangles for which least is loaded. */
const struct element_order *order_by_lanes(struct elaborator *e, struct mma_size size, int warps) {
    struct element_order best = {.kind = ORDER_BY_LANES, .rows = size.rows, .columns = size.columns};
    int64_t high = size.rows / MMA_ROWS, wide = size.columns / MMA_COLUMNS;
    for (int down = 1; down <= warps; down++)
        for (int across = 1; down * across <= warps; across++) {
            if (high % down || wide % across)
                continue;
            int64_t loaded = high / down * MMA_ROWS + wide / across * MMA_COLUMNS;
            int64_t before = best.high * MMA_ROWS + best.wide * MMA_COLUMNS;
            if (down * across < best.down * best.across ||
                (down * across == best.down * best.across && loaded >= before))
                continue;
            best.down = down, best.across = across;
            best.high = high / down, best.wide = wide / across;
        }
    return new_order(e, best);
}

const struct element_order *order_by_pieces(struct elaborator *e, int64_t rows, int64_t columns, int64_t piece) {
    int64_t pieces = columns / piece;
    bool is_whole = columns % piece == 0 && pieces > 1 && (pieces % 8 == 0 || 8 % pieces == 0);
    if (!is_whole)
        return NULL;
    return new_order(e,
                     (struct element_order){.kind = ORDER_BY_PIECES, .rows = rows, .columns = columns, .piece = piece});
}

int order_warps(const struct element_order *order) { return order->down * order->across; }

int order_products(const struct element_order *order) { return (int)(order->high * order->wide); }

/* ---- sums ---- */

static struct ir_value *times(struct elaborator *e, struct ir_value *x, int64_t n) {
    return ir_binary(e->builder, OP_MUL, x, ir_int(e->builder, n));
}
static struct ir_value *plus(struct elaborator *e, struct ir_value *x, struct ir_value *y) {
    return ir_binary(e->builder, OP_ADD, x, y);
}
static struct ir_value *by(struct elaborator *e, struct ir_value *x, int64_t n) {
    return ir_binary(e->builder, OP_DIV, x, ir_int(e->builder, n));
}
static struct ir_value *rest(struct elaborator *e, struct ir_value *x, int64_t n) {
    return ir_binary(e->builder, OP_REM, x, ir_int(e->builder, n));
}

/* ---- elements and places ---- */

enum { PAIRS = 2 * 32 }; /* elements of a warp next to each other: half of a product */

void order_corner(struct elaborator *e, const struct element_order *order, struct ir_value *warp,
                  struct ir_value *product, struct ir_value **row, struct ir_value **column) {
    *row = times(e, plus(e, times(e, by(e, warp, order->across), order->high), by(e, product, order->wide)), MMA_ROWS);
    *column = times(e, plus(e, times(e, rest(e, warp, order->across), order->wide), rest(e, product, order->wide)),
                    MMA_COLUMNS);
}

/* The other piece of a row, in row `row`, for that one; it is its own inverse. */
static struct ir_value *piece(struct elaborator *e, const struct element_order *order, struct ir_value *row,
                              struct ir_value *which) {
    int64_t pieces = order->columns / order->piece, turns = pieces < 8 ? pieces : 8;
    struct ir_value *turn = rest(e, by(e, row, pieces < 8 ? 8 / pieces : 1), turns);
    return ir_binary(e->builder, OP_XOR, which, turn);
}

static struct ir_value *place_at(struct elaborator *e, const struct element_order *order, struct ir_value *row,
                                 struct ir_value *column) {
    if (order->kind == ORDER_BY_PIECES) {
        struct ir_value *which = piece(e, order, row, by(e, column, order->piece));
        struct ir_value *first = plus(e, times(e, row, order->columns / order->piece), which);
        return plus(e, times(e, first, order->piece), rest(e, column, order->piece));
    }
    int64_t warps = order_warps(order);
    struct ir_value *y = by(e, row, MMA_ROWS), *x = by(e, column, MMA_COLUMNS);
    struct ir_value *warp = plus(e, times(e, by(e, y, order->high), order->across), by(e, x, order->wide));
    struct ir_value *product = plus(e, times(e, rest(e, y, order->high), order->wide), rest(e, x, order->wide));
    struct ir_value *half = plus(e, times(e, product, 2), by(e, rest(e, row, MMA_ROWS), MMA_ROWS / 2));
    struct ir_value *pair = plus(e, times(e, rest(e, row, MMA_ROWS / 2), MMA_COLUMNS), rest(e, column, MMA_COLUMNS));
    return plus(e, plus(e, times(e, half, PAIRS * warps), times(e, warp, PAIRS)), pair);
}

static struct ir_value *element_of(struct elaborator *e, const struct element_order *order, struct ir_value *row,
                                   struct ir_value *column, struct ir_value *place) {
    struct ir_value *index = plus(e, times(e, row, order->columns), column);
    ir_bound(index, 0, order->rows * order->columns - 1);
    if (!index->is_constant)
        map_set(order->places, index, place);
    return index;
}

struct ir_value *order_index(struct elaborator *e, const struct element_order *order, struct ir_value *place) {
    struct ir_value *row, *column;
    if (order->kind == ORDER_BY_PIECES) {
        row = by(e, place, order->columns);
        column = piece(e, order, row, rest(e, by(e, place, order->piece), order->columns / order->piece));
        column = plus(e, times(e, column, order->piece), rest(e, place, order->piece));
    } else {
        int64_t warps = order_warps(order);
        struct ir_value *half = by(e, place, PAIRS * warps), *pair = rest(e, place, PAIRS);
        order_corner(e, order, rest(e, by(e, place, PAIRS), warps), by(e, half, 2), &row, &column);
        row = plus(e, row, plus(e, times(e, rest(e, half, 2), MMA_ROWS / 2), by(e, pair, MMA_COLUMNS)));
        column = plus(e, column, rest(e, pair, MMA_COLUMNS));
    }
    return element_of(e, order, row, column, place);
}

/* Do elements lie one after another? Those of a warp that has products below each other do. */
static bool is_by_rows(const struct element_order *order) {
    return order->kind == ORDER_BY_LANES && order_warps(order) == 1 && order->wide == 1;
}

struct ir_value *order_place(struct elaborator *e, const struct element_order *order, struct ir_value *index) {
    if (is_by_rows(order))
        return index;
    index = ir_resolve(e->builder, index);
    struct ir_value *known = map_get(order->places, index);
    if (known && (!known->region || ir_region_inside(ir_current(e->builder), known->region)))
        return known;
    return place_at(e, order, by(e, index, order->columns), rest(e, index, order->columns));
}

struct ir_value *order_element(struct elaborator *e, const struct element_order *order, struct ir_value *row,
                               struct ir_value *column) {
    return element_of(e, order, row, column, place_at(e, order, row, column));
}

const struct element_order *order_of_pull(const struct pull *pull) {
    while (pull->kind == PULL_MAP)
        pull = pull->of;
    return pull->order;
}

const struct element_order *order_of_push(const struct push *push) {
    while (push->kind == PUSH_MAP)
        push = push->of;
    if (push->kind == PUSH_MMA)
        return push->mma.order && is_by_rows(push->mma.order) ? NULL : push->mma.order;
    return push->kind == PUSH_PULL ? order_of_pull(push->array) : NULL;
}
