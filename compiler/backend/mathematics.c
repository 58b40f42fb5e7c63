/* Which functions of C's mathematics are those of parts/mathematics.h: note [mathematics]. */
#include "backend/print.h"

static const char functions[] =
#include "compiler/backend/parts/mathematics.h.inc"
    ;

struct function {
    enum part one, by_lanes;
};

#define BY_LANES(id) [OP_##id] = {PART_##id, PART_##id##_BY_LANES}
static const struct function rows[OP_COUNT] = {BY_LANES(EXP),  BY_LANES(EXP2),  BY_LANES(LOG),
                                               BY_LANES(LOG2), BY_LANES(LOG10), BY_LANES(SINH),
                                               BY_LANES(COSH), BY_LANES(TANH),  [OP_POW] = {PART_POW, PART_POW}};

bool mathematics_has(enum ir_op op, enum base base) { return base == BASE_F32 && rows[op].one; }

void use_mathematics(struct printer *p, enum ir_op op, bool is_by_vectors) {
    use_part(p, true, is_by_vectors ? rows[op].by_lanes : rows[op].one);
}

void print_mathematics(struct printer *p) {
    parts_print(p->out, functions, p->parts, (const struct text_word[]){{0}}, "\n");
}
