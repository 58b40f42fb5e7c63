/* note [whole lines]
   A pass of a radix sort puts each element where the counter of its digit says. So it stores to 256
   places in turn, and each time the processor reads a line of 64 bytes from memory, to change a few
   of them; it is often written back before the next element comes to it. So such a loop keeps a line
   for each counter, and writes what is full past the caches, which need not read it first:

       for (i…) { place = counters[d]; counters[d] = place + 1; result[place] = x; }

   becomes, by functions that backend/c.c prints,

       begin(lines, result, counters);   for (i…) { … put(lines, d, place, x); }   end(lines, counters);

   Sorting 2^24 keys takes 146 ms in place of 261 (benchmarks/README.md). The counters only count up, so
   each line is one counter's from its first place on. What `result` has behind `limit`, and before 0, is
   not written, as the loop's own condition says. Lines that are begun or ended by half go by elements,
   so fewer than 128 rounds for a counter do without: with 64 a sort of 2^20 keys took 1.2 times as long. */
#include "map/lower.h"

enum { MOST_COUNTERS = 256 }; /* as many lines, 16 KB of a cache of 32. As backend/c.c has them */

struct putting {
    const struct ir_instruction *loop;
    const struct ir_instruction *count;                /* the load of a counter */
    const struct ir_instruction *stores[TARGET_LINES]; /* of what goes to its place */
    size_t store_count, counted;
    const struct ir_value *limit; /* of places; NULL: none of them is too large */
};

static bool is_place(const struct putting *p, const struct ir_value *value) {
    return p->count && value == p->count->results[0];
}

/* Is it what says that a place is in the array: 0 <= place, place < limit, or both? */
static bool is_range(struct putting *p, const struct ir_value *condition) {
    const struct ir_instruction *definition = condition->definition;
    if (condition->is_constant || !definition || definition->kind != IR_OPERATION)
        return false;
    const struct ir_value *x = definition->operands[0],
                          *y = definition->operand_count > 1 ? definition->operands[1] : NULL;
    if (definition->op == OP_AND)
        return is_range(p, x) && is_range(p, y);
    if (definition->op == OP_LE)
        return x->is_constant && x->constant.integer == 0 && is_place(p, y);
    if (definition->op != OP_LT || !is_place(p, x) || lower_varies(p->loop, y) || (p->limit && p->limit != y))
        return false;
    p->limit = y;
    return true;
}

static bool is_in_range(struct putting *p, const struct ir_region *region) {
    const struct ir_instruction *owner = region->owner;
    return region == p->loop->regions[0] || (owner->kind == IR_IF && region == owner->regions[0] &&
                                             owner->region == p->loop->regions[0] && is_range(p, owner->operands[0]));
}

/* A store to the counters, or of what goes to a place that one gives. */
static bool add_store(struct putting *p, const struct ir_instruction *store) {
    const struct ir_value *place = store->operands[0], *value = store->operands[1];
    if (!p->count || store->is_volatile)
        return false;
    if (store->buffer == p->count->buffer) {
        const struct ir_instruction *sum = value->definition;
        p->counted++;
        return place == p->count->operands[0] && store->region == p->loop->regions[0] && sum && !value->is_constant &&
               sum->kind == IR_OPERATION && sum->op == OP_ADD && is_place(p, sum->operands[0]) &&
               sum->operands[1]->is_constant && sum->operands[1]->constant.integer == 1;
    }
    int bits = base_info[store->buffer->element].bits;
    if (store->buffer->memory != MEMORY_OUTPUT || !is_place(p, place) || (bits != 32 && bits != 64) ||
        p->store_count == TARGET_LINES || !is_in_range(p, store->region))
        return false;
    p->stores[p->store_count++] = store;
    return true;
}

static bool is_counter(const struct putting *p, const struct ir_instruction *load) {
    const struct ir_buffer *buffer = load->buffer;
    return buffer->memory >= MEMORY_SHARED && buffer->element == BASE_I32 && buffer->capacity->is_constant &&
           buffer->capacity->low > 0 && buffer->capacity->high <= MOST_COUNTERS &&
           load->region == p->loop->regions[0] && lower_varies(p->loop, load->operands[0]);
}

static bool find(struct putting *p) {
    for (struct ir_walk walk = ir_walk(p->loop->regions[0]); walk.at; ir_next(&walk)) {
        const struct ir_instruction *at = walk.at;
        bool is_good = at->kind == IR_OPERATION || at->kind == IR_IF || at->kind == IR_LOAD;
        if (at->kind == IR_LOAD && is_counter(p, at)) {
            is_good = !p->count;
            p->count = at;
        } else if (at->kind == IR_STORE) {
            is_good = add_store(p, at);
        }
        if (!is_good)
            return false;
    }
    for (size_t i = 0; i < p->store_count; i++) /* nor is anything read of what is put */
        for (struct ir_walk walk = ir_walk(p->loop->regions[0]); walk.at; ir_next(&walk))
            if (ir_is_access(walk.at) && walk.at->buffer == p->stores[i]->buffer && walk.at != p->stores[i])
                return false;
    return p->store_count && p->counted == 1;
}

void lines_begin(struct lowering *l, const struct ir_instruction *loop, struct target_lines **all) {
    struct putting p = {.loop = loop};
    if (!l->options->puts_lines || !find(&p) || lower_array(l, p.count->buffer)->space != TARGET_SPACE_PRIVATE)
        return;
    for (size_t i = 0; i < p.store_count; i++) {
        struct target_lines *lines = ARENA_NEW(l->arena, struct target_lines);
        lines->name = names_fresh(l->names, NULL, "lines");
        lines->array = lower_array(l, p.stores[i]->buffer);
        lines->counters = lower_array(l, p.count->buffer);
        lines->count = p.count->buffer->capacity->constant.integer;
        lines->limit = p.limit ? lower_simple(l, p.limit, "limit") : expr_integer(l, BASE_I32, INT32_MAX);
        lines->counter = p.count->operands[0];
        all[i] = lines;
        map_set(l->lines, p.stores[i], lines);
    }
}
