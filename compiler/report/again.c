/* Parallel loops that the walk comes to again.

   note [loops again]
   A loop stands in others, and most turns of these find it as a turn before did. The walk keeps its tallies, each with
   the values from outside that it depends on, and adds one again where they are the same. A value that decides a branch
   or a number of turns must be the same. Values that only say where all lanes of a warp go, by sums and products, need
   to be the same but for a multiple of 128: then they meet the same sectors and banks. Values that do neither are not
   asked. A value that only the index of a loop around decides may be any, if it decided nothing. */
#include <string.h>

#include "ir/walk.h"
#include "report/walker.h"

enum { ALIKE = 128 /* elements of a byte that are whole sectors, and a word of each bank */, MOST_KEPT = 64 };

enum need { NEED_NONE, NEED_PLACE, NEED_VALUE };

struct asked {
    const struct ir_value *value; /* from outside */
    enum need need;
};
struct kept_access {
    size_t number;
    struct amount count, units;
};
struct kept_turn {
    int64_t *values; /* in the order of the loop's `asked` */
    enum known *states;
    struct amount counts[COUNT_KINDS];
    struct kept_access *accesses;
    size_t access_count;
};
struct kept_loop {
    VEC(struct asked) asked;
    struct kept_turn turns[MOST_KEPT];
    size_t filled, next; /* `next`: behind the last one that was found, or kept */
};

/* ---- how values are needed ---- */

struct needs {
    const struct walker *w;
    uint8_t *of; /* enum need, by value id */
    bool more;
};

static void want(struct needs *n, const struct ir_value *value, enum need need) {
    if (value->is_constant || n->of[value->id] >= need)
        return;
    n->of[value->id] = (uint8_t)need;
    n->more = true;
}

static enum need need_of(const struct needs *n, const struct ir_value *value) {
    return value->is_constant ? NEED_NONE : (enum need)n->of[value->id];
}

static bool differs(const struct needs *n, const struct ir_value *value) {
    return !value->is_constant && n->w->differs[value->id];
}

static void want_operation(struct needs *n, const struct ir_instruction *at) {
    enum need need = need_of(n, at->results[0]);
    struct ir_value *const *x = at->operands;
    bool is_sum = at->op == OP_ADD || at->op == OP_SUB || at->op == OP_NEG || at->op == OP_CONVERT;
    for (size_t i = 0; need && i < at->operand_count; i++) {
        bool is_factor =
            (at->op == OP_MUL && !differs(n, x[1 - i])) || (at->op == OP_SHL && i == 0 && !differs(n, x[1]));
        bool may_differ = (is_sum || is_factor) && !base_info[x[i]->base].is_floating;
        want(n, x[i], may_differ ? need : NEED_VALUE);
    }
}

/* A state that a loop carries, or a branch's result: what all `to` need, `from` needs. Lanes that may differ in
   whether they take it need its value. */
static void want_handed(struct needs *n, const struct ir_value *to, const struct ir_value *from, bool apart) {
    enum need need = need_of(n, to);
    want(n, from, need && apart ? NEED_VALUE : need);
}

static void want_taken(struct needs *n, const struct ir_instruction *at) {
    size_t results = at->result_count;
    bool apart;
    switch (at->kind) {
    case IR_OPERATION: want_operation(n, at); break;
    case IR_LOAD:
    case IR_STORE:
    case IR_ATOMIC: want(n, at->operands[0], at->buffer->memory == MEMORY_TABLE ? NEED_VALUE : NEED_PLACE); break;
    case IR_IF:
        want(n, at->operands[0], NEED_VALUE);
        apart = differs(n, at->operands[0]);
        for (size_t i = 0; i < results; i++)
            for (int r = 0; r < 2; r++)
                want_handed(n, at->results[i], at->regions[r]->yields.at[i], apart);
        break;
    case IR_FOR:
        want(n, at->operands[0], NEED_VALUE);
        apart = differs(n, at->operands[0]);
        for (size_t i = 0; i < results; i++) {
            want_handed(n, at->results[i], at->parameters[i + 1], apart);
            want_handed(n, at->parameters[i + 1], at->operands[i + 1], false);
            want_handed(n, at->parameters[i + 1], at->regions[0]->yields.at[i], false);
        }
        break;
    case IR_WHILE:
        want(n, at->regions[0]->yields.at[0], NEED_VALUE);
        for (size_t i = 0; i < results; i++) {
            want_handed(n, at->results[i], at->parameters[i], true);
            want_handed(n, at->parameters[i], at->operands[i], true);
            want_handed(n, at->parameters[i], at->regions[1]->yields.at[i], true);
        }
        break;
    case IR_SHUFFLE:
    case IR_MATCH:
    case IR_BALLOT:
    case IR_FENCE:
    case IR_CHECK:
    case IR_ALLOCATE: break; /* nothing that is counted */
    case IR_FORALL:
    case IR_MMA:
    case IR_SWAP:
        for (size_t i = 0; i < at->operand_count; i++)
            want(n, at->operands[i], NEED_VALUE);
    }
}

static struct needs needs_of(struct walker *w, const struct ir_instruction *forall) {
    struct needs n = {w, ARENA_ARRAY(w->arena, uint8_t, w->kernel->value_count + 1), true};
    while (n.more) {
        n.more = false;
        for (struct ir_walk walk = ir_walk_of(forall); walk.at; ir_next(&walk))
            want_taken(&n, walk.at);
    }
    return n;
}

/* ---- what is kept ---- */

struct kept_loop *again_loop(struct walker *w, const struct ir_instruction *forall) {
    struct kept_loop *kept = map_get(w->kept, forall);
    if (kept)
        return kept;
    kept = ARENA_NEW(w->arena, struct kept_loop);
    map_set(w->kept, forall, kept);
    struct needs needs = needs_of(w, forall);
    for (struct ir_walk walk = ir_walk_of(forall); walk.at; ir_next(&walk))
        for (size_t i = 0; ir_taken(walk.at, i); i++) {
            const struct ir_value *value = *ir_taken(walk.at, i);
            enum need need = need_of(&needs, value);
            if (!need || (value->region && ir_region_inside(value->region, forall->regions[0])))
                continue;
            vec_push(w->arena, &kept->asked, ((struct asked){value, need}));
            needs.of[value->id] = NEED_NONE; /* once is enough */
        }
    return kept;
}

/* A value of the launch that depends on sizes has no number by which turns could be told apart. */
static bool is_told(const struct walker *w, const struct ir_value *value) {
    bool is_within = value->region && ir_region_inside(value->region, w->forall->regions[0]);
    return value_state(w, value) != KNOWN_BY_SIZE || !is_within;
}

static bool is_as_before(const struct walker *w, const struct kept_loop *kept, const struct kept_turn *turn) {
    for (size_t i = 0; i < kept->asked.count; i++) {
        const struct asked *asked = &kept->asked.at[i];
        enum known state = value_state(w, asked->value);
        if (turn->states[i] == KNOWN_BY_INDEX)
            continue;
        if (state != turn->states[i] || !is_told(w, asked->value))
            return false;
        uint64_t apart = state == KNOWN ? (uint64_t)value_known(w, asked->value) - (uint64_t)turn->values[i] : 0;
        if (asked->need == NEED_PLACE ? apart % ALIKE : apart)
            return false;
    }
    return true;
}

static void add(struct walker *w, struct amount *to, struct amount what) {
    if (!amount_is_zero(what))
        *to = amount_sum(w->arena, *to, what);
}

bool again_add(struct walker *w, struct kept_loop *kept) {
    for (size_t i = 0; i < kept->filled; i++) {
        size_t which = (kept->next + i) % kept->filled;
        const struct kept_turn *turn = &kept->turns[which];
        if (!is_as_before(w, kept, turn))
            continue;
        for (int k = 0; k < COUNT_KINDS; k++)
            add(w, &w->tally->counts[k], turn->counts[k]);
        for (size_t k = 0; k < turn->access_count; k++) {
            const struct kept_access *access = &turn->accesses[k];
            add(w, &w->tally->accesses[access->number], access->count);
            add(w, &w->tally->units[access->number], access->units);
        }
        kept->next = which + 1;
        w->work += kept->asked.count + turn->access_count;
        return true;
    }
    return false;
}

void again_keep(struct walker *w, struct kept_loop *kept, const struct tally *tally) {
    size_t which = kept->filled < MOST_KEPT ? kept->filled++ : kept->next % MOST_KEPT, touched = 0, most = 0;
    struct kept_turn *turn = &kept->turns[which];
    kept->next = which + 1;
    if (!turn->values) {
        turn->values = ARENA_ARRAY(w->arena, int64_t, kept->asked.count + 1);
        turn->states = ARENA_ARRAY(w->arena, enum known, kept->asked.count + 1);
    }
    for (size_t i = 0; i < kept->asked.count; i++) {
        const struct ir_value *value = kept->asked.at[i].value;
        turn->states[i] = value_state(w, value);
        turn->values[i] = turn->states[i] == KNOWN ? value_known(w, value) : 0;
    }
    memcpy(turn->counts, tally->counts, sizeof turn->counts);
    for (size_t i = 0; i < w->instructions.count; i++)
        most += !amount_is_zero(tally->accesses[i]) || !amount_is_zero(tally->units[i]);
    if (turn->access_count < most)
        turn->accesses = ARENA_ARRAY(w->arena, struct kept_access, most);
    for (size_t i = 0; i < w->instructions.count; i++)
        if (!amount_is_zero(tally->accesses[i]) || !amount_is_zero(tally->units[i]))
            turn->accesses[touched++] = (struct kept_access){i, tally->accesses[i], tally->units[i]};
    turn->access_count = touched;
}
