/* The builder's data: values, its knowledge of them at the current place, and the table of expressions. */
#include "ir/build/builder.h"

struct frame *builder_top(struct ir_builder *b) {
    return &b->frames.at[b->frames.count - 1];
}

uint32_t builder_depth(const struct ir_builder *b, const struct ir_value *value) {
    return value->region ? b->regions.at[value->region->id].depth : 0;
}

struct ir_value *builder_value(struct ir_builder *b, enum base base, struct ir_region *region, const char *name) {
    struct range range = range_of_base(base);
    struct ir_value *value = ir_new_value(b->arena, b->kernel, base, region, range.low, range.high);
    value->name = name;
    return value;
}

/* ---- what is known ---- */

void builder_make_room(struct ir_builder *b, uint32_t id) {
    while (b->values.count <= id)
        vec_push(b->scratch, &b->values, (struct value_info){.truth = IR_UNKNOWN});
}

/* ---- the table of expressions ---- */

uint64_t builder_mix(uint64_t hash, uint64_t x) {
    hash = (hash ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* A closed region never opens again, so what is in it is not found any more. */
static bool is_closed(const struct ir_builder *b, const struct shared *node) {
    const struct ir_region *region = node->value->region;
    return region && !b->regions.at[region->id].open;
}

static void widen_table(struct ir_builder *b) {
    size_t size = b->table_size * 4;
    struct shared **table = ARENA_ARRAY(b->scratch, struct shared *, size);
    b->table_count = 0;
    for (size_t i = 0; i < b->table_size; i++)
        for (struct shared *node = b->table[i], *next; node; node = next) {
            next = node->next;
            if (is_closed(b, node))
                continue;
            node->next = table[node->hash % size];
            table[node->hash % size] = node;
            b->table_count++;
        }
    b->table = table;
    b->table_size = size;
}

void builder_share(struct ir_builder *b, uint64_t hash, struct ir_value *value, uint32_t stores) {
    if (b->table_count > b->table_size)
        widen_table(b);
    struct shared *node = ARENA_NEW(b->scratch, struct shared);
    *node = (struct shared){hash, value, stores, b->table[hash % b->table_size]};
    b->table[hash % b->table_size] = node;
    b->table_count++;
}

/* The next node with that hash from *link on. All open regions enclose the current place, but those that
   ir_enter hides; what is in a closed one is dropped from the table when met. */
struct shared *builder_shared(struct ir_builder *b, struct shared ***link, uint64_t hash) {
    while (**link) {
        struct shared *node = **link;
        if (node->hash == hash && is_closed(b, node)) {
            **link = node->next;
            b->table_count--;
            continue;
        }
        *link = &node->next;
        if (node->hash == hash && builder_depth(b, node->value) < b->frames.count)
            return node;
    }
    return NULL;
}

/* ---- constants ---- */

struct ir_value *ir_constant(struct ir_builder *b, enum base base, union scalar scalar) {
    scalar = base_wrap(base, scalar);
    uint64_t hash = builder_mix(builder_mix(0, base), scalar.natural);
    struct shared **link = &b->table[hash % b->table_size];
    for (struct shared *node; (node = builder_shared(b, &link, hash));) {
        struct ir_value *value = node->value;
        if (value->is_constant && value->base == base && value->constant.natural == scalar.natural)
            return value;
    }
    struct ir_value *value = builder_value(b, base, NULL, NULL);
    struct range range = range_of_constant(base, scalar);
    value->is_constant = true;
    value->constant = scalar;
    value->low = range.low;
    value->high = range.high;
    builder_share(b, hash, value, 0);
    return value;
}

struct ir_value *builder_integer(struct ir_builder *b, enum base base, int64_t value) {
    return ir_constant(b, base, (union scalar){.integer = value});
}

struct ir_value *ir_int(struct ir_builder *b, int64_t value) {
    return builder_integer(b, BASE_I32, value);
}

struct ir_value *ir_bool(struct ir_builder *b, bool value) {
    return builder_integer(b, BASE_BOOL, value);
}

/* ---- operands ---- */

struct ir_value *ir_resolve(struct ir_builder *b, struct ir_value *x) {
    struct ir_value *root = x;
    while (facts_of(b, root)->resolved)
        root = facts_of(b, root)->resolved;
    while (x != root) {
        struct ir_value *next = facts_of(b, x)->resolved;
        facts_of(b, x)->resolved = root;
        x = next;
    }
    return root;
}

struct ir_value *builder_operand(struct ir_builder *b, struct ir_value *value) {
    value = ir_resolve(b, value);
    if (value->is_constant)
        return value;
    enum ir_truth truth = b->outside ? IR_UNKNOWN : facts_of(b, value)->truth;
    if (truth != IR_UNKNOWN)
        return ir_bool(b, truth == IR_TRUE);
    struct range range = facts_range(b, value);
    if (b->optimise > 0 && range_is_point(value->base, range))
        return builder_integer(b, value->base, range.low);
    return value;
}
