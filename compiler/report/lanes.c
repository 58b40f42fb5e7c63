/* The places that the lanes of a warp touch together, and their cost in sectors and bank turns.

   note [lanes together]
   A value is looked at in all lanes of a warp at once: it is a number that they have in common, of which no more than a
   factor may be known, and what each lane has beside that. So the place i / 32 * pitch + i % 32, of a thread i, lies
   next to that of the lane before it, whatever the pitch is. The common number of the index of a thread is a multiple
   of 32. Where a division needs more, the common number is taken as 0, and the outcome is `about`. A value is not known
   if data decide it, or if no operation on integers gives it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/build/fold.h"
#include "ir/walk.h"
#include "report/walker.h"

enum {
    SECTOR = 32,          /* bytes of global memory that move together */
    BANKS = 32,           /* of shared memory, each of */
    WORD = 4,             /* bytes */
    MOST_LOOKS = 1 << 22, /* values in a warp; then what was seen last stands for the rest */
    WARP_LOOKS = 1 << 12, /* that are kept */
    MOST_APART = 2048     /* warps of a loop that are looked at each for itself; of more, so many of them */
};

/* A value in a warp. */
enum lane_state {
    LANE_KNOWN,   /* in each lane the common number, a multiple of `factor` (0: it is 0), and at[lane] */
    LANE_UNKNOWN, /* it was not taken apart */
    LANE_DATA     /* data decide */
};
struct lane_value {
    uint32_t look; /* that it is of */
    enum lane_state state;
    int64_t factor;
    int64_t at[REPORT_LANES];
};

/* ---- which values differ between lanes ---- */

static bool mark(struct walker *w, const struct ir_value *value, bool differs) {
    if (!differs || w->differs[value->id])
        return false;
    return w->differs[value->id] = true;
}

static bool differs(const struct walker *w, const struct ir_value *value) {
    return !value->is_constant && w->differs[value->id];
}

static bool any_differs(const struct walker *w, struct ir_value *const *values, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (differs(w, values[i]))
            return true;
    return false;
}

/* Marks the results that differ because an operand is marked; true if it marked any. */
static bool mark_results(struct walker *w, const struct ir_instruction *at) {
    bool more = false, is_alike = false;
    switch (at->kind) {
    case IR_FORALL: return at->inner == LEVEL_THREAD && mark(w, at->parameters[0], true);
    case IR_FOR:
        for (size_t i = 0; i < at->result_count; i++) {
            bool carried = differs(w, at->operands[i + 1]) || differs(w, at->regions[0]->yields.at[i]);
            more |= mark(w, at->parameters[i + 1], carried);
            more |= mark(w, at->results[i], carried || differs(w, at->operands[0]));
        }
        return more;
    case IR_WHILE:
        for (size_t i = 0; i < at->result_count; i++) {
            bool carried = differs(w, at->operands[i]) || differs(w, at->regions[1]->yields.at[i]);
            more |= mark(w, at->parameters[i], carried);
            more |= mark(w, at->results[i], carried || differs(w, at->regions[0]->yields.at[0]));
        }
        return more;
    case IR_IF:
        for (size_t i = 0; i < at->result_count; i++)
            more |= mark(w, at->results[i],
                         differs(w, at->operands[0]) || differs(w, at->regions[0]->yields.at[i]) ||
                             differs(w, at->regions[1]->yields.at[i]));
        return more;
    case IR_OPERATION: is_alike = !any_differs(w, at->operands, at->operand_count); break;
    case IR_LOAD: is_alike = at->buffer->memory != MEMORY_PRIVATE && !differs(w, at->operands[0]); break;
    default: break;
    }
    for (size_t i = 0; i < at->result_count; i++)
        more |= mark(w, at->results[i], !is_alike);
    return more;
}

/* A look of some lane's, which is that of the others of its warp, too: they come to the access by the same turns. */
struct warp_look {
    uint32_t warp; /* 0: none */
    size_t number;
    uint64_t path;
    struct lane_look look;
};

void lanes_begin(struct walker *w, const struct ir_instruction *forall) {
    size_t count = w->kernel->value_count + 1;
    if (!w->differs) {
        w->differs = ARENA_ARRAY(w->arena, bool, count);
        w->lane_values = ARENA_ARRAY(w->arena, struct lane_value *, count);
        w->warp_looks = ARENA_ARRAY(w->arena, struct warp_look, WARP_LOOKS);
    }
    memset(w->differs, 0, count * sizeof *w->differs);
    w->seen = ARENA_ARRAY(w->arena, struct lane_look, w->instructions.count + 1);
    w->launched = forall->regions[0];
    w->look_work = 0;
    w->warp++;
    for (bool more = true; more;) {
        more = mark_results(w, forall);
        for (struct ir_walk walk = ir_walk(forall->regions[0]); walk.at; ir_next(&walk))
            more |= mark_results(w, walk.at);
    }
}

/* ---- a value in a warp ---- */

static int64_t common_divisor(int64_t a, int64_t b) {
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void set_alike(struct lane_value *to, int64_t factor, int64_t at) {
    to->factor = factor;
    for (int i = 0; i < REPORT_LANES; i++)
        to->at[i] = at;
}

static bool is_alike(const struct lane_value *value) {
    for (int i = 1; i < REPORT_LANES; i++)
        if (value->at[i] != value->at[0])
            return false;
    return true;
}

static bool is_number(const struct lane_value *value) { return value->factor == 0 && is_alike(value); }

/* The largest number known to divide a value that is the same in all lanes. */
static int64_t factor_of(const struct lane_value *value) { return common_divisor(value->factor, value->at[0]); }

static const struct lane_value *look_at(struct walker *w, const struct ir_value *value);

static void multiply(struct lane_value *to, const struct lane_value *x, const struct lane_value *y) {
    if (is_number(x) && !is_number(y)) {
        multiply(to, y, x);
        return;
    }
    if (is_number(y)) {
        to->factor = x->factor * y->at[0];
        for (int i = 0; i < REPORT_LANES; i++)
            to->at[i] = x->at[i] * y->at[0];
    } else if (is_alike(x) && is_alike(y)) {
        int64_t a = factor_of(x), b = factor_of(y);
        set_alike(to, a < INT32_MAX && b < INT32_MAX ? a * b : 1, 0);
    } else {
        to->state = LANE_UNKNOWN; /* as far apart as an unknown number says */
    }
}

static int64_t floor_of(int64_t x, int64_t by) { return x / by - (x % by < 0); }

/* x / by or x % by of what is not negative. */
static void divide(struct walker *w, struct lane_value *to, const struct lane_value *x, int64_t by, bool is_rest) {
    int64_t part = common_divisor(x->factor, by), first = floor_of(x->at[0], part ? part : 1) * part;
    bool is_whole = x->factor % by == 0, is_within = part > 0;
    for (int i = 0; i < REPORT_LANES && is_within; i++)
        is_within = x->at[i] >= first && x->at[i] < first + part;
    if (!is_whole && is_within) { /* all lanes lie between two multiples of a part of it */
        set_alike(to, is_rest ? part : 1, 0);
        for (int i = 0; i < REPORT_LANES && is_rest; i++)
            to->at[i] = x->at[i] - first;
        return;
    }
    w->is_about |= !is_whole;
    to->factor = is_rest ? 0 : is_whole ? x->factor / by : 1;
    for (int i = 0; i < REPORT_LANES; i++) {
        int64_t quotient = floor_of(x->at[i], by);
        to->at[i] = is_rest ? x->at[i] - quotient * by : quotient;
    }
}

/* Bits of numbers below the common one's. */
static bool combine_bits(struct lane_value *to, enum ir_op op, const struct lane_value *x, const struct lane_value *y) {
    const struct lane_value *common = x->factor ? x : y;
    int64_t end = common->factor & -common->factor;
    if (x->factor && y->factor)
        return false;
    for (int i = 0; i < REPORT_LANES; i++) {
        if (x->at[i] < 0 || x->at[i] >= end || y->at[i] < 0 || y->at[i] >= end)
            return false;
        to->at[i] = op == OP_AND ? x->at[i] & y->at[i] : op == OP_OR ? x->at[i] | y->at[i] : x->at[i] ^ y->at[i];
    }
    to->factor = op == OP_AND ? 0 : common->factor;
    return true;
}

static bool fold_lanes(struct lane_value *to, const struct ir_instruction *made, const struct lane_value *const *x) {
    union scalar operands[3];
    for (size_t k = 0; k < made->operand_count; k++)
        if (x[k]->factor || base_info[made->operands[k]->base].is_floating)
            return false;
    to->factor = 0;
    for (int i = 0; i < REPORT_LANES; i++) {
        for (size_t k = 0; k < made->operand_count; k++)
            operands[k].integer = x[k]->at[i];
        to->at[i] =
            fold_operation(made->op, made->results[0]->base, made->operands[made->operand_count - 1]->base, operands)
                .integer;
    }
    return true;
}

/* The one whose condition is not known: the other one is taken for what happens at a border. */
static void choose(struct walker *w, struct lane_value *to, const struct lane_value *x, const struct lane_value *y) {
    const struct lane_value *chosen = is_alike(x) && !is_alike(y) ? y : x;
    w->is_about = true;
    to->factor = chosen->factor;
    memcpy(to->at, chosen->at, sizeof to->at);
}

/* So that what two of them come to fits 64 bits. */
static bool is_narrow(const struct lane_value *value) {
    const int64_t most = INT64_C(1) << 31;
    bool result = value->factor <= most;
    for (int i = 0; i < REPORT_LANES && result; i++)
        result = value->at[i] >= -most && value->at[i] <= most;
    return result;
}

static bool combine_lanes(struct walker *w, struct lane_value *to, const struct ir_instruction *made,
                          const struct lane_value *const *x) {
    switch (made->op) {
    case OP_ADD:
    case OP_SUB:
        to->factor = common_divisor(x[0]->factor, x[1]->factor);
        for (int i = 0; i < REPORT_LANES; i++)
            to->at[i] = made->op == OP_ADD ? x[0]->at[i] + x[1]->at[i] : x[0]->at[i] - x[1]->at[i];
        return true;
    case OP_NEG:
        to->factor = x[0]->factor;
        for (int i = 0; i < REPORT_LANES; i++)
            to->at[i] = -x[0]->at[i];
        return true;
    case OP_CONVERT: *to = *x[0]; return true;
    case OP_MUL: multiply(to, x[0], x[1]); return true;
    case OP_SHL:
        if (is_number(x[1]) && x[1]->at[0] >= 0 && x[1]->at[0] < 31) {
            struct lane_value power = *x[1];
            set_alike(&power, 0, INT64_C(1) << x[1]->at[0]);
            multiply(to, x[0], &power);
            return true;
        }
        return false;
    case OP_DIV:
    case OP_REM:
        if (is_number(x[1]) && x[1]->at[0] > 0) {
            divide(w, to, x[0], x[1]->at[0], made->op == OP_REM);
            return true;
        }
        return false;
    case OP_SHR:
        if (is_number(x[1]) && x[1]->at[0] >= 0 && x[1]->at[0] < 62) {
            divide(w, to, x[0], INT64_C(1) << x[1]->at[0], false);
            return true;
        }
        return false;
    case OP_AND:
    case OP_OR:
    case OP_XOR:
        if (made->op == OP_AND && is_number(x[1]) && x[1]->at[0] >= 0 && ((x[1]->at[0] + 1) & x[1]->at[0]) == 0) {
            divide(w, to, x[0], x[1]->at[0] + 1, true);
            return true;
        }
        return combine_bits(to, made->op, x[0], x[1]);
    case OP_MIN:
    case OP_MAX: choose(w, to, x[0], x[1]); return true;
    case OP_SELECT:
        if (is_number(x[0]))
            *to = *x[x[0]->at[0] ? 1 : 2];
        else
            choose(w, to, x[1], x[2]);
        return true;
    default: return false;
    }
}

static void look_at_operation(struct walker *w, const struct ir_instruction *made, struct lane_value *to) {
    const struct lane_value *x[3] = {NULL, NULL, NULL};
    enum lane_state worst = LANE_KNOWN;
    for (size_t k = 0; k < made->operand_count; k++) {
        x[k] = look_at(w, made->operands[k]);
        worst = x[k]->state > worst ? x[k]->state : worst;
    }
    bool chooses = made->op == OP_SELECT && x[1]->state == LANE_KNOWN && x[2]->state == LANE_KNOWN;
    if (chooses && x[0]->state == LANE_UNKNOWN) {
        choose(w, to, x[1], x[2]);
        return;
    }
    to->state = worst;
    if (worst != LANE_KNOWN || base_info[made->results[0]->base].is_floating || fold_lanes(to, made, x))
        return;
    bool are_narrow = true, are_alike = true;
    for (size_t k = 0; k < made->operand_count; k++) {
        are_narrow = are_narrow && is_narrow(x[k]);
        are_alike = are_alike && is_alike(x[k]);
    }
    if (are_narrow && combine_lanes(w, to, made, x))
        return;
    if (are_alike)
        set_alike(to, 1, 0);
    else
        to->state = LANE_UNKNOWN;
}

/* Carried by a loop that adds the same in all lanes. */
static void look_at_carried(struct walker *w, const struct ir_value *value, struct lane_value *to) {
    const struct ir_instruction *loop = value->region->owner;
    bool is_for = loop->kind == IR_FOR;
    size_t which = 0;
    while (loop->parameters[which] != value)
        which++;
    const struct ir_value *next = loop->regions[!is_for]->yields.at[which - is_for];
    const struct ir_instruction *sum = next->definition;
    to->state = LANE_UNKNOWN;
    if (!sum || sum->kind != IR_OPERATION || sum->op != OP_ADD)
        return;
    for (int i = 0; i < 2; i++) {
        if (sum->operands[i] != value || differs(w, sum->operands[1 - i]))
            continue;
        const struct lane_value *start = look_at(w, loop->operands[which]), *step = look_at(w, sum->operands[1 - i]);
        if (start->state != LANE_KNOWN || step->state != LANE_KNOWN)
            continue;
        *to = *start;
        to->factor = common_divisor(start->factor, factor_of(step));
        return;
    }
}

/* A result of a branch: that of the side that the lanes take. */
static void look_at_branch(struct walker *w, const struct ir_value *value, struct lane_value *to) {
    const struct ir_instruction *branch = value->definition;
    size_t which = 0;
    while (branch->results[which] != value)
        which++;
    const struct lane_value *x[] = {look_at(w, branch->operands[0]), look_at(w, branch->regions[0]->yields.at[which]),
                                    look_at(w, branch->regions[1]->yields.at[which])};
    if (x[0]->state == LANE_KNOWN && is_number(x[0]))
        *to = *x[x[0]->at[0] ? 1 : 2];
    else if (x[1]->state == LANE_KNOWN && x[2]->state == LANE_KNOWN && x[0]->state != LANE_DATA)
        choose(w, to, x[1], x[2]);
    else
        to->state =
            x[0]->state == LANE_DATA || x[1]->state == LANE_DATA || x[2]->state == LANE_DATA ? LANE_DATA : LANE_UNKNOWN;
}

static bool is_of_host(const struct walker *w, const struct ir_value *value) {
    return !value->region || !ir_region_inside(value->region, w->launched);
}

static void look_at_new(struct walker *w, const struct ir_value *value, struct lane_value *to) {
    const struct ir_instruction *made = value->definition;
    bool is_index = w->threads && value == w->threads->parameters[0];
    to->state = LANE_KNOWN;
    if (is_index) {
        to->factor = w->is_base_known ? 0 : REPORT_LANES;
        for (int i = 0; i < REPORT_LANES; i++)
            to->at[i] = w->base + i;
    } else if (base_info[value->base].is_floating) {
        to->state = differs(w, value) ? LANE_DATA : LANE_KNOWN;
        set_alike(to, 1, 0);
    } else if (value->is_constant) {
        set_alike(to, 0, value->constant.integer);
    } else if (is_of_host(w, value)) {
        bool is_known = value_state(w, value) == KNOWN;
        set_alike(to, is_known ? 0 : 1, is_known ? value_known(w, value) : 0);
    } else if (made && made->kind == IR_OPERATION) {
        look_at_operation(w, made, to);
    } else if (!differs(w, value)) {
        bool is_known = !w->is_lasting && value_state(w, value) == KNOWN;
        set_alike(to, is_known ? 0 : 1, is_known ? value_known(w, value) : 0);
    } else if (made && made->kind == IR_IF) {
        look_at_branch(w, value, to);
    } else if (!made && value->region->owner->kind != IR_FORALL) {
        look_at_carried(w, value, to);
    } else {
        to->state = LANE_DATA;
    }
}

static const struct lane_value *look_at(struct walker *w, const struct ir_value *value) {
    struct lane_value **found = &w->lane_values[value->id];
    if (!*found)
        *found = ARENA_NEW(w->arena, struct lane_value);
    if ((*found)->look != w->look) {
        (*found)->look = w->look;
        (*found)->state = LANE_UNKNOWN; /* while it is looked at */
        w->look_work++;
        look_at_new(w, value, *found);
    }
    return *found;
}

/* ---- what an access costs a warp ---- */

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static unsigned sectors_of(const int64_t *at, unsigned count, int64_t bytes) {
    int64_t sectors[REPORT_LANES];
    for (unsigned i = 0; i < count; i++)
        sectors[i] = floor_of(at[i] * bytes, SECTOR);
    qsort(sectors, count, sizeof *sectors, by_number);
    unsigned different = 0;
    for (unsigned i = 0; i < count; i++)
        different += i == 0 || sectors[i] != sectors[i - 1];
    return different;
}

/* The most different words of a bank, by which the lanes take turns; those with wide elements go by parts of a warp. */
static unsigned turns_of(const int64_t *at, const uint8_t *lanes, unsigned count, int64_t bytes) {
    unsigned turns = 0, group = bytes > 8 ? REPORT_LANES / 4 : bytes > 4 ? REPORT_LANES / 2 : REPORT_LANES;
    for (unsigned first = 0; first < REPORT_LANES; first += group) {
        int64_t words[REPORT_LANES * 2];
        unsigned counts[BANKS] = {0}, most = 0, different = 0, found = 0;
        for (unsigned i = 0; i < count; i++)
            for (int64_t b = 0; lanes[i] >= first && lanes[i] < first + group && b < bytes; b += WORD)
                words[found++] = floor_of(at[i] * bytes + b, WORD);
        qsort(words, found, sizeof *words, by_number);
        for (unsigned i = 0; i < found; i++) {
            if (i > 0 && words[i] == words[i - 1])
                continue;
            different = ++counts[((words[i] % BANKS) + BANKS) % BANKS];
            most = different > most ? different : most;
        }
        turns += most;
    }
    return turns;
}

/* How they lie, by the places that differ. */
static void find_pattern(struct lane_look *look, const int64_t *at, unsigned count) {
    int64_t sorted[REPORT_LANES];
    unsigned different = 0;
    memcpy(sorted, at, count * sizeof *at);
    qsort(sorted, count, sizeof *sorted, by_number);
    for (unsigned i = 0; i < count; i++)
        if (i == 0 || sorted[i] != sorted[different - 1])
            sorted[different++] = sorted[i];
    bool is_even = true;
    for (unsigned i = 2; i < different; i++)
        is_even = is_even && sorted[i] - sorted[i - 1] == sorted[1] - sorted[0];
    look->stride = 0;
    if (different < 2) {
        look->pattern = REPORT_SAME;
    } else if (!is_even) {
        look->pattern = REPORT_PIECES;
    } else {
        look->stride = sorted[1] - sorted[0];
        look->pattern = look->stride == 1 ? REPORT_COALESCED : REPORT_STRIDED;
        look->stride = look->stride == 1 ? 1 : look->stride;
    }
}

/* The lanes that the branches and loops around a region let through; what is not known lets all through. */
static uint32_t active_lanes(struct walker *w, const struct ir_region *region, int64_t end) {
    uint32_t active = end < REPORT_LANES ? (UINT32_C(1) << end) - 1 : UINT32_MAX;
    for (; region->owner && region->owner != w->threads; region = region->parent) {
        const struct ir_instruction *owner = region->owner;
        bool is_for = owner->kind == IR_FOR;
        w->leaves |= owner->kind == IR_WHILE && differs(w, owner->regions[0]->yields.at[0]);
        if ((!is_for && owner->kind != IR_IF) || !differs(w, owner->operands[0]))
            continue;
        const struct lane_value *decides = look_at(w, owner->operands[0]);
        bool is_turn_known = !w->is_lasting && is_for && value_state(w, owner->parameters[0]) == KNOWN;
        if (decides->state != LANE_KNOWN || decides->factor || (is_for && !is_turn_known)) {
            w->is_about = true;
            continue;
        }
        for (int i = 0; i < REPORT_LANES; i++) {
            bool is_there = is_for ? value_known(w, owner->parameters[0]) < decides->at[i]
                                   : !decides->at[i] == (region == owner->regions[1]);
            active &= ~((uint32_t)!is_there << i);
        }
    }
    return active;
}

/* Looks at the lanes below `end`. */
static struct lane_look look_at_access(struct walker *w, const struct ir_instruction *access, int64_t end) {
    const struct ir_buffer *buffer = access->buffer;
    bool is_shared = buffer->memory == MEMORY_SHARED;
    int64_t bytes = (int64_t)target_element_bytes(buffer->element), at[REPORT_LANES];
    uint8_t lanes[REPORT_LANES];
    struct lane_look look = {.is_seen = true};
    w->look++;
    w->is_about = w->leaves = false;
    uint32_t active = active_lanes(w, access_region(w, access), end);
    const struct lane_value *place = look_at(w, access->operands[0]);
    for (int i = 0; i < REPORT_LANES; i++)
        if (active >> i & 1) {
            at[look.active] = place->at[i];
            lanes[look.active++] = (uint8_t)i;
        }
    look.first = look.active ? lanes[0] : 0;
    look.leaves = w->leaves;
    if (place->state != LANE_KNOWN) {
        look.pattern = place->state == LANE_DATA ? REPORT_SCATTERED : REPORT_UNKNOWN;
        look.units = look.active;
        look.is_most = true;
        return look;
    }
    look.lanes = active;
    memcpy(look.at, place->at, sizeof look.at);
    find_pattern(&look, at, look.active);
    look.units = is_shared ? turns_of(at, lanes, look.active, bytes) : sectors_of(at, look.active, bytes);
    bool is_aligned = place->factor * bytes % (is_shared ? WORD : SECTOR) == 0 || look.pattern == REPORT_SAME;
    look.is_about = w->is_about || w->leaves || !is_aligned;
    return look;
}

static struct lane_look look_from(struct walker *w, const struct ir_instruction *access, bool is_known, int64_t base,
                                  int64_t end) {
    w->is_base_known = is_known;
    w->base = base;
    return look_at_access(w, access, end);
}

static struct lane_look look_of_warp(struct walker *w, const struct ir_instruction *access, size_t number, int64_t base,
                                     int64_t end) {
    struct warp_look *kept = &w->warp_looks[(number * 31 + (w->path >> 32)) % WARP_LOOKS];
    bool is_new = kept->warp != w->warp || kept->number != number || kept->path != w->path;
    if (is_new)
        *kept = (struct warp_look){w->warp, number, w->path, look_from(w, access, true, base, end)};
    struct lane_look look = kept->look;
    look.is_new = is_new;
    return look;
}

/* Units of all warps of a block: full ones, and a last one that is not full. */
static struct amount units_of_warps(struct walker *w, const struct ir_instruction *access, const struct lane_look *full,
                                    int64_t threads) {
    int64_t rest = threads % REPORT_LANES;
    struct amount units = amount_number((double)(threads / REPORT_LANES) * full->units);
    if (rest)
        units.constant += look_from(w, access, false, 0, rest).units;
    units.is_about = full->is_about;
    units.is_most = full->is_most;
    return units;
}

/* Likewise, where each warp may have others; of very many some stand for the rest. */
static struct amount units_of_each_warp(struct walker *w, const struct ir_instruction *access, int64_t threads) {
    int64_t warps = (threads + REPORT_LANES - 1) / REPORT_LANES, looked_at = warps < MOST_APART ? warps : MOST_APART;
    struct amount units = amount_number(0);
    for (int64_t i = 0; i < looked_at; i++) {
        int64_t base = (looked_at == warps ? i : i * (warps - 1) / (looked_at - 1)) * REPORT_LANES;
        struct lane_look look = look_from(w, access, true, base, threads - base);
        units.constant += look.units;
        units.is_about |= look.is_about || looked_at < warps;
        units.is_most |= look.is_most;
    }
    units.constant *= (double)warps / (double)looked_at;
    return units;
}

/* Units of all warps, each by itself: once for all, if no loop around them matters. */
static struct amount units_of_all(struct walker *w, const struct ir_instruction *access, int64_t threads,
                                  struct lane_look *seen) {
    bool was_tried = seen->is_tried;
    w->is_lasting = !was_tried;
    struct amount units = was_tried ? amount_number(0) : units_of_each_warp(w, access, threads);
    w->is_lasting = false;
    seen->is_tried = true;
    if (was_tried || units.is_about || units.is_most)
        return units_of_each_warp(w, access, threads);
    seen->all_threads = threads;
    seen->all_units = units.constant;
    return units;
}

/* For some of the warp's lanes it has more than one place, or the same one as before. */
static void remember(struct lane_look *seen, const struct lane_look *look) {
    bool is_worse = look->pattern == REPORT_SCATTERED || look->pattern == REPORT_UNKNOWN;
    if (!seen->is_seen) {
        seen->pattern = look->pattern;
        seen->stride = look->stride;
        seen->units = look->units;
        seen->active = look->active;
        seen->lanes = look->lanes;
        memcpy(seen->at, look->at, sizeof seen->at);
        seen->is_about = look->is_about;
        seen->is_most = look->is_most;
    } else if (seen->pattern != look->pattern || seen->stride != look->stride) {
        seen->pattern = is_worse ? look->pattern : REPORT_PIECES;
        seen->stride = 0;
    }
    seen->is_seen = true;
}

/* A lane's part of its warp's units. The first has all, if all lanes are gone through, and each goes where it was
   seen to go; or, in a loop that lanes leave one by one, if it is the first that comes to that turn. */
static struct amount share(const struct walker *w, const struct lane_look *look, int64_t lane) {
    bool is_exact = !w->is_sampled && !look->is_about;
    double part = look->leaves && !w->is_sampled ? look->is_new
                  : is_exact                     ? lane == look->first
                  : look->active                 ? 1.0 / look->active
                                                 : 0;
    struct amount units = amount_number(part * look->units);
    units.is_about = look->is_about;
    units.is_most = look->is_most;
    return units;
}

struct amount lanes_units(struct walker *w, const struct ir_instruction *access, size_t number, double threads) {
    struct lane_look *seen = &w->seen[number];
    enum ir_memory memory = access->buffer->memory;
    bool is_counted = w->target->mapping == TARGET_SIMT &&
                      (memory == MEMORY_SHARED || memory == MEMORY_INPUT || memory == MEMORY_OUTPUT);
    if (memory == MEMORY_PRIVATE || !w->threads || access->region->ambient != LEVEL_THREAD) {
        *seen = (struct lane_look){.is_seen = true,
                                   .pattern = memory == MEMORY_PRIVATE ? REPORT_OWN : REPORT_SAME,
                                   .units = 1,
                                   .active = REPORT_LANES};
        return amount_number(is_counted ? ceil(threads / REPORT_LANES) : 0);
    }
    if (!seen->is_lasting && !seen->is_changing && w->look_work < MOST_LOOKS) {
        w->is_lasting = true;
        struct lane_look look = look_from(w, access, false, 0, REPORT_LANES);
        w->is_lasting = false;
        if (!look.is_about && !look.is_most) {
            look.is_lasting = true;
            *seen = look;
        } else if (!look.is_about && look.pattern == REPORT_SCATTERED) {
            look.is_lasting = true;
            *seen = look;
        } else {
            seen->is_changing = true;
        }
    }
    struct lane_look look = *seen;
    bool may_look = w->look_work < MOST_LOOKS || !seen->is_seen, is_fresh = !seen->is_lasting && may_look;
    if (w->is_by_lane) {
        int64_t lane = value_known(w, w->threads->parameters[0]), base = lane - lane % REPORT_LANES;
        if (is_fresh || look.leaves ||
            (amount_is_number(w->lanes) && w->lanes.constant < (double)(base + REPORT_LANES)))
            look = look_of_warp(w, access, number, base,
                                amount_is_number(w->lanes) ? (int64_t)w->lanes.constant - base : REPORT_LANES);
        bool is_unsure = look.is_about || look.pattern == REPORT_UNKNOWN;
        w->by_index |= w->unknown_indices && is_unsure ? BY_INDEX_UNITS : 0;
        remember(seen, &look);
        return is_counted ? share(w, &look, lane - base) : amount_number(0);
    }
    int64_t count = amount_is_number(w->lanes) ? (int64_t)w->lanes.constant : 0;
    if (count > 0 && count == seen->all_threads)
        return amount_number(is_counted ? seen->all_units : 0);
    if (is_fresh)
        look = look_from(w, access, false, 0, REPORT_LANES);
    bool is_unsure = look.is_about || look.pattern == REPORT_UNKNOWN;
    look.is_about |= !is_fresh && !seen->is_lasting;
    remember(seen, &look);
    struct amount all = count <= 0              ? amount_number(0)
                        : is_unsure && is_fresh ? units_of_all(w, access, count, seen)
                                                : units_of_warps(w, access, &look, count);
    if (w->unknown_indices && is_unsure && count != seen->all_threads)
        w->by_index |= BY_INDEX_UNITS;
    if (!is_counted)
        return amount_number(0);
    if (amount_is_number(w->lanes))
        return all;
    int64_t part = common_divisor(look.units, REPORT_LANES);
    if (look.units == 0)
        return amount_number(0);
    struct amount units =
        amount_product(w->arena, w->symbols, value_ceiling(w, w->lanes, (double)(REPORT_LANES / part)),
                       amount_number((double)(look.units / part)));
    units.is_about |= look.is_about;
    units.is_most |= look.is_most;
    return units;
}
