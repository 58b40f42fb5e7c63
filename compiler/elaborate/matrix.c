/* Arrays of arrays as results: how long their rows are, whether all are as long, and their elements.

   A result has shape where its rows are equally long. Its elements are stored one row after another,
   by one launch, and the host hands out the extents. Where rows are not known to be equally long, a
   launch before that compares them: nothing of a result without shape is stored.

   `flatten` wants the same of its rows, but of the last one, which may be shorter.

   note [measured]
   If a row has no elements, or is not there, only its length is wanted. Such a row is elaborated as a shape, where
   nothing is loaded, and an error elsewhere in it is not reported (docs/semantics.md). The lengths on the way may be
   negative. A check of such a length stays only if the row's own length is made of it, and it counts only if the row
   is there; every other check is taken back. A length that depends on elements, or on rows
   that must be compared first, is found by making the row: then indices are checked, too.

   note [large results]
   Each extent is an int, and the elements of a result may be more than an int counts. One launch cannot number them. So
   a large result is stored in parts of whole rows, `large` elements each or one row, by as many turns of a loop: of the
   host, or of the unit that stores a result below grid. Within a part, places are ints. A part begins at a place of 64
   bits, which the host computes. The number of rows of more than two dimensions, and the elements of all parts
   together, are of 64 bits, too: the arrays that `elab_joined` makes have a length of 64 bits, and these alone.

   A result is large by option, or where the extents are known, and ask for it. Else the host checks that the elements
   are as many as an int counts at most (CHECK_RESULT): where the compiler is at hand, the kernel is compiled again, as
   one with large results, and begins anew. */
#include "elaborate/check.h"
#include "elaborate/evaluate.h"
#include "elaborate/primitive.h"
#include "elaborate/push.h"

struct measuring {
    struct pull *rows;
    size_t count;
    struct ir_value **columns;
    bool is_known;
};

static bool find(struct elaborator *e, struct pull *rows, size_t count, struct ir_value **columns);

/* From here on, measured rows are there only if `condition` holds, too. */
static void enter(struct elaborator *e, struct ir_value *condition) {
    if (e->row_is_there && condition)
        e->row_is_there = ir_binary(e->builder, OP_AND, e->row_is_there, condition);
}

static bool find_where(struct elaborator *e, struct ir_value *condition, bool holds, struct pull *rows, size_t count,
                       struct ir_value **columns) {
    struct ir_value *before = e->row_is_there;
    enter(e, ir_binary(e->builder, OP_EQ, condition, ir_bool(e->builder, holds)));
    bool is_found = find(e, rows, count, columns);
    e->row_is_there = before;
    return is_found;
}

static bool find_in_both(struct elaborator *e, struct pull *choice, size_t count, struct ir_value **columns) {
    struct ir_builder *b = e->builder;
    struct ir_value **others = ARENA_ARRAY(e->arena, struct ir_value *, count);
    struct ir_value *condition = ir_resolve(b, choice->condition);
    if (!find_where(e, condition, true, choice->then_array, count, columns) ||
        !find_where(e, condition, false, choice->else_array, count, others))
        return false;
    for (size_t i = 0; i < count; i++)
        columns[i] = elab_choose_length(e, condition, columns[i], others[i]);
    return true;
}

static bool find(struct elaborator *e, struct pull *rows, size_t count, struct ir_value **columns) {
    if (!count)
        return true;
    if (rows->kind == PULL_CHOICE && rows->condition)
        return find_in_both(e, rows, count, columns);
    if (rows->kind == PULL_LIST && elab_is_none(e, rows->length)) {
        for (size_t i = 0; i < count; i++)
            columns[i] = ir_int(e->builder, 0);
        return true;
    }
    struct ir_value *before = e->row_is_there, *zero = ir_int(e->builder, 0);
    if (rows->length)
        enter(e, ir_binary(e->builder, OP_LT, zero, rows->length));
    struct pull *row = elab_as_pull(e, elab_index(e, rows, zero));
    columns[0] = row->length ? ir_resolve(e->builder, row->length) : NULL;
    bool is_found = columns[0] && find(e, row, count - 1, columns + 1);
    e->row_is_there = before;
    return is_found;
}

/* Finds the lengths in the first row. There may be no row, so only lengths are looked at, no element. */
static void measure(struct elaborator *e, void *context) {
    struct measuring *m = context;
    bool is_checked = elab_is_measured(e) || !e->shape;
    struct ir_value *is_there = elab_is_measured(e) ? e->row_is_there : ir_bool(e->builder, true);
    e->shape++;
    struct measuring_before before = elab_begin_measured(e, is_checked ? is_there : NULL);
    m->is_known = find(e, m->rows, m->count, m->columns);
    e->shape--;
    elab_end_measured(e, before, m->columns, m->is_known ? m->count : 0);
}

/* See note [rows that are not there] in interp/shape.c: the first row is elaborated as a shape, where
   nothing is loaded; what fails on the way, as an element of an empty list, is not known. */
bool elab_columns(struct elaborator *e, struct pull *rows, size_t rank, struct ir_value **columns) {
    struct measuring m = {rows, rank - 1, columns, false};
    bool is_known = elab_try(e, measure, &m) && m.is_known;
    for (size_t i = 0; i < rank - 1; i++)
        columns[i] = NULL;
    if (is_known)
        measure(e, &m);
    return is_known;
}

static struct ir_value *row_length(struct elaborator *e, struct pull *rows, struct ir_value *index) {
    struct ir_value *length = elab_length(e, elab_index(e, rows, index));
    return length ? ir_resolve(e->builder, length) : NULL;
}

struct ir_value *elab_made_length(struct elaborator *e, struct pull *rows, struct ir_value *index) {
    if (e->shape || !elab_checks_all(e))
        return row_length(e, rows, index);
    struct measuring_before before = elab_begin_measured(e, ir_bool(e->builder, true));
    struct ir_value *length = row_length(e, rows, index);
    elab_end_measured(e, before, &length, 1);
    return length;
}

void elab_store_columns(struct elaborator *e, enum level_value level, struct pull *rows, size_t rank,
                        struct ir_buffer *buffer) {
    struct ir_builder *b = e->builder;
    struct split_frame *split = e->split;
    e->split = NULL;
    struct ir_value *zero = ir_int(b, 0), *one = ir_int(b, 1),
                    **lengths = ARENA_ARRAY(e->arena, struct ir_value *, rank);
    struct ir_value *first = elab_begin_threads(e, level, ir_binary(b, OP_MIN, rows->length, one));
    struct measuring_before before = elab_begin_measured(e, ir_bool(b, true));
    for (size_t i = 1; i < rank; i++) {
        rows = elab_as_pull(e, elab_index(e, rows, zero));
        lengths[i - 1] = rows->length;
        ir_store(b, buffer, ir_int(b, (int64_t)i), rows->length);
        ir_begin_if(b, ir_binary(b, OP_LT, zero, rows->length));
    }
    elab_end_measured(e, before, lengths, rank - 1);
    for (size_t i = 1; i < rank; i++) {
        ir_end_only(b);
    }
    elab_end_threads(e, level, first);
    e->split = split;
}

/* ---- large results ---- */

static int64_t many_times(int64_t x, int64_t y) { return x <= 0 || y <= 0 ? 0 : x > INT64_MAX / y ? INT64_MAX : x * y; }

bool elab_is_large(struct elaborator *e, size_t rank, struct ir_value *const *extents) {
    int64_t least = 1, most = 1;
    for (size_t i = 0; i < rank; i++) {
        if (!extents[i])
            return false;
        const struct ir_value *extent = ir_resolve(e->builder, extents[i]);
        least = many_times(least, extent->low);
        most = many_times(most, extent->high);
    }
    return rank > 1 && (e->options->large ? most > e->options->large : least > INT32_MAX);
}

static struct ir_value *wide(struct elaborator *e, int64_t value) {
    return ir_constant(e->builder, BASE_I64, (union scalar){.integer = value});
}

static struct ir_value *times(struct elaborator *e, struct ir_value *count, struct ir_value *extent) {
    return ir_binary(e->builder, OP_MUL, count, ir_convert(e->builder, ir_resolve(e->builder, extent), BASE_I64));
}

struct ir_value *elab_many_elements(struct elaborator *e, size_t rank, struct ir_value *const *extents) {
    struct ir_value *count = wide(e, 1);
    for (size_t i = 0; i < rank; i++) {
        if (i > 1) /* the product of two fits */
            elab_require(e, CHECK_BEYOND, ir_binary(e->builder, OP_LE, count, wide(e, UINT32_MAX)),
                         ir_resolve(e->builder, extents[i - 1]), ir_resolve(e->builder, extents[i]), e->span);
        count = times(e, count, extents[i]);
    }
    return count;
}

static int part_elements(const struct elaborator *e) { return e->options->large ? (int)e->options->large : LARGE_PART; }

struct part_of_rows {
    struct ir_value *first; /* of 64 bits */
    struct ir_value *rows;
};

/* Begins a loop over the parts of `rows` rows, a number of 64 bits; a part has `of_each` rows, the last one what is
   left. */
static struct part_of_rows begin_parts(struct elaborator *e, struct ir_value *rows, struct ir_value *of_each) {
    struct ir_builder *b = e->builder;
    struct ir_value *each = ir_convert(b, of_each, BASE_I64), *one = wide(e, 1);
    struct ir_value *filled = ir_binary(b, OP_ADD, rows, ir_binary(b, OP_SUB, each, one));
    struct ir_value *count = ir_convert(b, ir_binary(b, OP_DIV, filled, each), BASE_I32);
    struct ir_value *part = ir_begin_for(b, count, NULL, 0, "part");
    struct ir_value *first = ir_binary(b, OP_MUL, ir_convert(b, part, BASE_I64), each);
    struct ir_value *left = ir_binary(b, OP_MIN, ir_binary(b, OP_SUB, rows, first), each);
    return (struct part_of_rows){first, ir_convert(b, left, BASE_I32)};
}

static void end_parts(struct elaborator *e) { ir_end_for(e->builder, NULL, NULL); }

void elab_store_large(struct elaborator *e, enum level_value level, struct pull *elements, size_t rank,
                      struct ir_value *const *extents, struct ir_buffer **buffers, size_t count) {
    struct ir_builder *b = e->builder;
    struct ir_value *width = ir_resolve(b, extents[rank - 1]), *one = ir_int(b, 1);
    struct ir_value *each = ir_binary(b, OP_DIV, ir_int(b, part_elements(e)), ir_binary(b, OP_MAX, width, one));
    struct ir_value *rows = wide(e, 1);
    for (size_t i = 0; i + 1 < rank; i++)
        rows = times(e, rows, extents[i]);
    struct part_of_rows part = begin_parts(e, rows, ir_binary(b, OP_MAX, each, one));
    struct ir_value *length = ir_binary(b, OP_MUL, part.rows, width);
    ir_bound(length, 0, INT32_MAX);
    struct ir_value *place = ir_binary(b, OP_MUL, part.first, ir_convert(b, width, BASE_I64));
    struct pull *some = elab_rows_from(e, elements, part.first, width, length);
    struct writer writer = elab_store_writer(buffers, count, place);
    elab_run(e, elab_push_of_pull(e, level, some), &writer);
    end_parts(e);
}

/* ---- rows of one length ---- */

struct comparing {
    struct pull *rows;
    struct ir_value *width, *count;
    int64_t other; /* a row's length, that is known to be another one; or -1 */
    bool is_same;
    enum ir_check check;
    struct span span;
};

struct measured_row {
    struct pull *rows;
    struct ir_value *index, *is_there, *length;
};

static void measure_row(struct elaborator *e, void *context) {
    struct measured_row *m = context;
    e->shape++;
    struct measuring_before before = elab_begin_measured(e, m->is_there);
    m->length = row_length(e, m->rows, m->index);
    e->shape--;
    elab_end_measured(e, before, &m->length, 1);
}

/* See note [measured]; without checks there is none to take back. */
static struct ir_value *measured_length(struct elaborator *e, struct pull *rows, struct ir_value *index,
                                        struct ir_value *is_there) {
    struct measured_row m = {rows, index, is_there, NULL};
    if (e->shape || !elab_checks_all(e))
        return row_length(e, rows, index);
    e->row_is_compared = false;
    if (elab_try(e, measure_row, &m) && m.length && !e->row_is_compared) {
        measure_row(e, &m);
        return m.length;
    }
    return elab_made_length(e, rows, index);
}

/* Compares the width with the length of a row of which only the index is left open. It is run by
   a try, which takes back what it adds to `shape`. */
static void compare_some(struct elaborator *e, void *context) {
    struct comparing *c = context;
    e->shape++;
    struct ir_value *some = ir_parameter_value(e->builder, BASE_I32, 0, INT32_MAX, NULL);
    struct pull *row = elab_as_pull(e, elab_index(e, c->rows, some));
    c->is_same = row->length && elab_is_same_in_branches(e, row->length, c->width);
}

/* Compares the width with the length of each row, where there are few and their number is known. */
static void compare_each(struct elaborator *e, void *context) {
    struct comparing *c = context;
    e->shape++;
    bool is_same = true;
    for (int64_t i = 0; i < c->count->constant.integer; i++) {
        struct pull *row = elab_as_pull(e, elab_index(e, c->rows, ir_int(e->builder, i)));
        const struct ir_value *length = row->length ? ir_resolve(e->builder, row->length) : NULL;
        bool is_known = length && length->is_constant && c->width->is_constant;
        if (is_known && length->constant.integer != c->width->constant.integer && c->other < 0)
            c->other = length->constant.integer;
        is_same &= length && elab_is_same_length(e, row->length, c->width);
    }
    c->is_same = is_same;
}

/* Are the rows, but for the last one, made by maps of whole parts of an array? Each of them, as the first one, is as
   long as any. */
static void compare_mapped(struct elaborator *e, void *context) {
    struct comparing *c = context;
    struct ir_value *one = elab_mapped_length(e, c->rows), *other = elab_mapped_length(e, c->rows);
    c->is_same = one && other && elab_is_same_in_branches(e, one, other);
}

static bool try_to(struct elaborator *e, void (*compare)(struct elaborator *, void *), struct comparing *c) {
    c->is_same = false;
    return elab_try(e, compare, c) && c->is_same;
}

static bool are_few_and_same(struct elaborator *e, struct comparing *c) {
    return c->count->is_constant && c->count->constant.integer <= e->options->unroll && try_to(e, compare_each, c);
}

static void compare(struct elaborator *e, enum level_value level, const struct comparing *c) {
    struct ir_builder *b = e->builder;
    struct split_frame *split = e->split;
    e->split = NULL;
    bool is_wide = c->count->base == BASE_I64;
    struct part_of_rows part = {NULL, c->count};
    if (is_wide)
        part = begin_parts(e, c->count, ir_int(b, part_elements(e)));
    struct ir_value *i = elab_begin_threads(e, level, part.rows);
    struct ir_value *row = is_wide ? ir_binary(b, OP_ADD, part.first, ir_convert(b, i, BASE_I64)) : i;
    struct ir_value *length = measured_length(e, c->rows, row, ir_bool(b, true));
    elab_check_length(e, c->check, ir_binary(b, OP_EQ, length, c->width), length, c->width, c->span, false);
    elab_end_threads(e, level, i);
    if (is_wide)
        end_parts(e);
    /* A thread that reads beyond the short row of another would report its index first. */
    if (elab_checks_all(e) && (level == LEVEL_WARP || level == LEVEL_BLOCK))
        ir_fence(b, level);
    e->split = split;
}

/* Is a row made by flattening rows that may not be equally long? Code that stores its elements compares them. */
static bool flattens_unknown_rows(struct elaborator *e, const struct comparing *c) {
    struct ir_value *some = ir_parameter_value(e->builder, BASE_I32, 0, INT32_MAX, NULL);
    struct measured_row m = {c->rows, some, ir_bool(e->builder, true), NULL};
    e->row_is_compared = false;
    return elab_try(e, measure_row, &m) && e->row_is_compared;
}

/* Rows that are as long as the width, whatever they hold: where that is nothing, nobody else makes them. */
static void compare_empty(struct elaborator *e, enum level_value level, const struct comparing *c) {
    struct ir_value *is_empty = ir_binary(e->builder, OP_EQ, c->width, ir_int(e->builder, 0));
    if (!elab_checks_all(e) || ir_known(e->builder, is_empty) == IR_FALSE || !flattens_unknown_rows(e, c))
        return;
    ir_begin_if(e->builder, is_empty);
    compare(e, level, c);
    ir_end_only(e->builder);
}

void elab_check_rows(struct elaborator *e, enum level_value level, struct pull *rows, size_t rank,
                     struct ir_value *const *extents) {
    struct span span = core_result_span(e->global);
    bool is_large = elab_is_large(e, rank, extents);
    for (size_t i = 1; i < rank; i++) {
        struct comparing c = {rows, extents[i], ir_resolve(e->builder, rows->length), -1, false, CHECK_ROWS, span};
        bool is_same = try_to(e, compare_some, &c) || are_few_and_same(e, &c);
        if (c.other >= 0)
            elab_fail(e, DIAG_UNEQUAL_ROWS, span,
                      "a row of the result has %lld %s, and the first %lld: rows must be equally long",
                      (long long)c.other, text_elements(c.other), (long long)c.width->constant.integer);
        if (is_same)
            compare_empty(e, level, &c);
        else
            compare(e, level, &c);
        if (i + 1 < rank)
            rows = elab_joined(e, rows, extents[i], is_large);
    }
}

struct pull *elab_elements(struct elaborator *e, struct pull *rows, size_t rank, struct ir_value *const *extents) {
    bool is_large = elab_is_large(e, rank, extents);
    for (size_t i = 1; i < rank; i++)
        rows = elab_joined(e, rows, extents[i], is_large);
    return rows;
}

/* ---- rows of one length, of which the last may be shorter ---- */

/* All but the last, as far as is seen without comparing. */
static bool are_known_to_be_same(struct elaborator *e, struct comparing *c) {
    if (c->rows->kind != PULL_CHOICE || !c->rows->condition)
        return try_to(e, compare_mapped, c) || are_few_and_same(e, c);
    struct comparing a = *c, b = *c;
    a.rows = c->rows->then_array;
    b.rows = c->rows->else_array;
    return are_known_to_be_same(e, &a) && are_known_to_be_same(e, &b);
}

static void reject_row(struct elaborator *e, const struct comparing *c, int64_t length, int64_t width) {
    elab_reject(e, DIAG_UNEQUAL_ROWS, c->span,
                "a row has %lld %s, and the first %lld: `flatten` wants rows equally long, but for a shorter last one; "
                "`flattenRagged` takes any",
                (long long)length, text_elements(length), (long long)width);
}

/* Does the host launch something to find how long a row is? No thread can. */
static void see_launches(struct elaborator *e, void *context) {
    struct comparing *c = context;
    row_length(e, c->rows, ir_parameter_value(e->builder, BASE_I32, 0, INT32_MAX, NULL));
    c->is_same = ir_region_has_effects(e->builder);
}

/* At grid a launch compares them, or the host in turn, and below it who wants them, with --check. Without it, what is
   read of them is made right, as after a failure (check.c). */
static void compare_all_but_last(struct elaborator *e, struct comparing *c) {
    if (are_known_to_be_same(e, c))
        return;
    if (c->other >= 0 && elab_runs_for_certain(e))
        reject_row(e, c, c->other, c->width->constant.integer);
    else if (ir_ambient(e->builder) == LEVEL_GRID)
        compare(e, try_to(e, see_launches, c) ? LEVEL_THREAD : LEVEL_GRID, c);
    else if (elab_checks_all(e))
        compare(e, ir_ambient(e->builder), c);
    else if (!e->tries && !e->guards)
        e->leaves_loops = true;
}

static struct ir_value *last_within(struct elaborator *e, const struct comparing *c, struct ir_value *last) {
    struct ir_value *fits = ir_binary(e->builder, OP_LE, last, c->width);
    if (ir_prove(e->builder, fits))
        return last;
    if (!e->shape && last->low > c->width->high && elab_runs_for_certain(e))
        reject_row(e, c, last->low, c->width->high);
    else if (!e->shape)
        elab_hold(e, c->check, fits, last, c->width, c->span);
    return ir_binary(e->builder, OP_MIN, last, c->width);
}

PRIMITIVE(LAST_LENGTH) {
    struct ir_builder *b = e->builder;
    struct pull *rows = elab_as_pull(e, arguments[1]);
    struct ir_value *width = elab_as_scalar(e, arguments[0]);
    struct span span = e->span;
    struct ir_value *end = rows->length ? ir_binary(b, OP_SUB, ir_resolve(b, rows->length), ir_int(b, 1)) : NULL;
    struct ir_value *place = elab_place(e, rows, end);
    struct ir_value *is_there = end ? ir_binary(b, OP_LE, ir_int(b, 0), end) : NULL;
    struct ir_value *last = measured_length(e, rows, place, is_there);
    if (!width || !last || !end)
        return elab_unknown(e);
    struct comparing c = {rows, ir_resolve(b, width), end, -1, false, CHECK_FLAT, span};
    last = ir_resolve(b, last);
    if (elab_is_measured(e))
        e->row_is_compared |= !try_to(e, compare_some, &c) && !are_known_to_be_same(e, &c);
    if (e->shape ? elab_is_same_length(e, last, c.width) : try_to(e, compare_some, &c))
        return elab_scalar(e, last);
    if (!e->shape)
        compare_all_but_last(e, &c);
    return elab_scalar(e, last_within(e, &c, last));
}
