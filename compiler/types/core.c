/* What literals of the core stand for; see core.h. */
#include "types/core.h"

double core_floating(const struct core *literal, enum base base) {
    if (literal->literal.is_floating)
        return base == BASE_F32 ? literal->literal.floating.as_float : literal->literal.floating.as_double;
    return base == BASE_F32 ? (float)literal->literal.magnitude : (double)literal->literal.magnitude;
}
