/* Which functions of C's mathematics are those of parts/mathematics.h: note [mathematics]. */
#include "backend/print.h"

static const char functions[] =
#include "compiler/backend/parts/mathematics.h.inc"
    ;

/* Functions of a float, of vectors of these, and of a double: parts, 0 where it has none. */
struct function {
    enum part one, by_lanes, of_double;
};

#define BY_LANES(id) .one = PART_##id, .by_lanes = PART_##id##_BY_LANES
static const struct function rows[OP_COUNT] = {
    [OP_EXP] = {BY_LANES(EXP), .of_double = PART_EXP_DOUBLE},
    [OP_LOG] = {BY_LANES(LOG), .of_double = PART_LOG_DOUBLE},
    [OP_EXP2] = {BY_LANES(EXP2)},
    [OP_LOG2] = {BY_LANES(LOG2)},
    [OP_LOG10] = {BY_LANES(LOG10)},
    [OP_SINH] = {BY_LANES(SINH)},
    [OP_COSH] = {BY_LANES(COSH)},
    [OP_TANH] = {BY_LANES(TANH)},
    [OP_POW] = {.one = PART_POW},
};

bool mathematics_has(enum ir_op op, enum base base, bool is_by_vectors) {
    return is_by_vectors ? base == BASE_F32 && rows[op].by_lanes
                         : (base == BASE_F32 && rows[op].one) || (base == BASE_F64 && rows[op].of_double);
}

void use_mathematics(struct printer *p, enum ir_op op, enum base base, bool is_by_vectors) {
    const struct function *row = &rows[op];
    use_part(p, true, is_by_vectors ? row->by_lanes : base == BASE_F32 ? row->one : row->of_double);
}

void print_mathematics(struct printer *p) {
    parts_print(p->out, functions, p->parts, (const struct text_word[]){{0}}, "\n");
}
