/* Shared memory has 32 banks of 4-byte words, and a warp's accesses to different words of one bank take turns. Buffers whose
   accesses would collide, such as a tile that is read by columns, are padded: a word, or an element where that is larger, after every
   32 elements, or 16, 64 or 128 where that is better. Only for targets where shared memory is shared memory: generate.c asks for it.

   note [wide loads]
   Four words that a thread reads one after another, at a multiple of four, are one load of 16 bytes to the device's compiler, and a
   warp has these in four turns, of a quarter of it each. A padding in between would make them four loads again. */
#include "ir/machine.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/pass_list.h"
#include "ir/walk.h"
#include "support/map.h"

enum { MOST_VISITS = 16384 };

struct access {
    struct ir_instruction *instruction;
    const struct ir_value *lane;        /* index of the innermost loop over threads; NULL: all threads alike */
    const struct ir_instruction *steps; /* the innermost loop of the thread, if it is unrolled; or NULL */
};

struct candidate {
    struct ir_buffer *buffer;
    VEC(struct access) accesses;
    int shift; /* of the padding: after every 2^shift elements; NO_PADDING */
};
enum { NO_PADDING = 0 };

struct banks {
    struct arena *arena;
    struct ir_kernel *kernel;
    struct map *candidates; /* ir_buffer → candidate */
    int visits;
};

static int bits_of(const struct ir_buffer *buffer) { return base_info[buffer->element].bits; }

/* The elements of a padding. */
static int pad_of(const struct ir_buffer *buffer) { return bits_of(buffer) < 32 ? 32 / bits_of(buffer) : 1; }

static bool is_eligible(const struct ir_buffer *buffer) {
    return buffer->memory == MEMORY_SHARED && !buffer->rewritten && buffer->capacity && buffer->capacity->is_constant &&
           buffer->capacity->constant.integer >= GPU_PADDED;
}

static bool is_unrolled(const struct ir_instruction *loop) {
    return loop->kind == IR_FOR && loop->unroll && loop->operands[0]->is_constant &&
           loop->operands[0]->constant.integer % GPU_WIDE == 0;
}

/* The index of the innermost loop over threads around the region. */
static const struct ir_value *lane_of(const struct ir_region *region) {
    for (; region->owner; region = region->parent)
        if (region->owner->kind == IR_FORALL && region->owner->inner == LEVEL_THREAD)
            return region->owner->parameters[0];
    return NULL;
}

static void collect(struct banks *b, const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk)) {
        if (!ir_is_access(walk.at) || !is_eligible(walk.at->buffer))
            continue;
        struct candidate *candidate = map_get(b->candidates, walk.at->buffer);
        if (!candidate) {
            candidate = ARENA_NEW(b->arena, struct candidate);
            candidate->buffer = walk.at->buffer;
            map_set(b->candidates, walk.at->buffer, candidate);
        }
        const struct ir_instruction *owner = walk.region->owner;
        vec_push(b->arena, &candidate->accesses,
                 (struct access){walk.at, lane_of(walk.region), owner && is_unrolled(owner) ? owner : NULL});
    }
}

/* Where an access is looked at. */
struct point {
    const struct access *access;
    int64_t lane, step;
};

/* The value there, with everything that comes neither from the lane nor from the step taken as 0. */
static int64_t value_at(struct banks *b, const struct ir_value *value, const struct point *at) {
    if (value == at->access->lane)
        return at->lane;
    if (at->access->steps && value == at->access->steps->parameters[0])
        return at->step;
    if (value->is_constant)
        return value->constant.integer;
    const struct ir_instruction *definition = value->definition;
    if (!definition || definition->kind != IR_OPERATION || base_info[value->base].is_floating ||
        ++b->visits > MOST_VISITS)
        return 0;
    union scalar operands[3] = {{0}};
    for (size_t i = 0; i < definition->operand_count; i++) {
        if (base_info[definition->operands[i]->base].is_floating)
            return 0;
        operands[i].integer = value_at(b, definition->operands[i], at);
    }
    return fold_operation(definition->op, value->base, definition->operands[definition->operand_count - 1]->base,
                          operands)
        .integer;
}

static int64_t padded(const struct ir_buffer *buffer, int64_t index, int shift) {
    return shift == NO_PADDING ? index : index + (index >> shift) * pad_of(buffer);
}

/* The most different words that fall into one bank. */
static int most_in_a_bank(const int64_t *words, int count) {
    int64_t seen[GPU_BANKS][GPU_LANES];
    int counts[GPU_BANKS] = {0}, most = 0;
    for (int i = 0; i < count; i++) {
        int64_t bank = (words[i] % GPU_BANKS + GPU_BANKS) % GPU_BANKS;
        bool is_known = false;
        for (int k = 0; k < counts[bank] && !is_known; k++)
            is_known = seen[bank][k] == words[i];
        if (!is_known)
            seen[bank][counts[bank]++] = words[i];
        most = counts[bank] > most ? counts[bank] : most;
    }
    return most;
}

/* What a warp's lanes have at some steps. */
struct indices {
    int64_t at[GPU_LANES][GPU_WIDE];
    bool is_wide; /* they follow one another from step to step, from a multiple of GPU_WIDE on */
};

static struct indices indices_of(struct banks *b, const struct access *access) {
    struct indices found = {.is_wide = access->steps && access->lane && access->instruction->kind == IR_LOAD &&
                                       bits_of(access->instruction->buffer) == 32};
    int steps = found.is_wide ? GPU_WIDE : 1;
    for (int lane = 0; lane < GPU_LANES; lane++)
        for (int step = 0; step < steps; step++) {
            struct point point = {access, lane, step};
            found.at[lane][step] = access->lane ? value_at(b, access->instruction->operands[0], &point) : 0;
            found.is_wide =
                found.is_wide && found.at[lane][0] % GPU_WIDE == 0 && found.at[lane][step] == found.at[lane][0] + step;
        }
    return found;
}

/* How many turns a warp's access takes. See note [wide loads]. */
static int turns(const struct ir_buffer *buffer, const struct indices *indices, int shift) {
    int64_t words[GPU_LANES];
    if (indices->is_wide && shift == NO_PADDING) {
        int sum = 0;
        for (int lane = 0; lane < GPU_LANES; lane += GPU_LANES / GPU_WIDE) {
            for (int i = 0; i < GPU_LANES; i++)
                words[i] = indices->at[lane + i / GPU_WIDE][i % GPU_WIDE];
            sum += most_in_a_bank(words, GPU_LANES);
        }
        return (sum + GPU_WIDE - 1) / GPU_WIDE; /* for one of the words */
    }
    int width = bits_of(buffer) / 32,
        lanes = width > 1 ? GPU_LANES / width : GPU_LANES; /* wide elements go by half warps */
    for (int i = 0; i < lanes; i++)
        words[i] = padded(buffer, indices->at[i][0], shift) * bits_of(buffer) / 32;
    return most_in_a_bank(words, lanes);
}

/* The padding with the fewest turns, if fewer than without. */
static int choose_padding(struct banks *b, const struct candidate *candidate) {
    static const int shifts[] = {NO_PADDING, 5, 4, 6, 7};
    enum { SHIFTS = sizeof shifts / sizeof *shifts };
    int needed[SHIFTS] = {0}, best = 0;
    for (size_t i = 0; i < candidate->accesses.count; i++) {
        const struct access *access = &candidate->accesses.at[i];
        b->visits = 0;
        struct indices indices = indices_of(b, access);
        if (b->visits > MOST_VISITS)
            return NO_PADDING;
        for (int k = 0; k < SHIFTS; k++)
            needed[k] += turns(candidate->buffer, &indices, shifts[k]);
    }
    for (int k = 1; k < SHIFTS; k++)
        if (needed[k] < needed[best])
            best = k;
    return shifts[best];
}

/* ---- rewriting ---- */

/* An index is within its buffer, whatever its own range says. */
static void in_bounds(struct ir_value *value, int64_t high) {
    value->low = 0;
    value->high = high;
    value->definition->no_wrap = true;
}

static void put(void *context, struct ir_region *to, struct ir_instruction *instruction) {
    struct banks *b = context;
    const struct candidate *candidate = ir_is_access(instruction) ? map_get(b->candidates, instruction->buffer) : NULL;
    if (candidate) {
        int64_t last = candidate->buffer->capacity->constant.integer - 1; /* padded already */
        struct ir_value *index = instruction->operands[0];
        int shift = candidate->shift, pad = pad_of(candidate->buffer);
        struct rewriter r = {b->arena, b->kernel, to, instruction};
        struct ir_value *pads = rewrite_operation(&r, OP_SHR, index, rewrite_constant(&r, index->base, shift));
        if (pad > 1) {
            in_bounds(pads, last >> shift);
            pads = rewrite_operation(&r, OP_MUL, pads, rewrite_constant(&r, index->base, pad));
        }
        struct ir_value *sum = rewrite_operation(&r, OP_ADD, index, pads);
        in_bounds(pads, (last >> shift) * pad);
        in_bounds(sum, last);
        instruction->operands[0] = sum;
    }
    vec_push(b->arena, &to->instructions, instruction);
}

void pass_banks(struct arena *arena, struct ir_kernel *kernel) {
    struct banks b = {.arena = arena, .kernel = kernel, .candidates = map_new(arena)};
    collect(&b, kernel->body);
    struct map *chosen = map_new(arena);
    for (size_t i = 0; i < map_count(b.candidates); i++) {
        struct candidate *candidate = map_entry(b.candidates, i).value;
        candidate->shift = choose_padding(&b, candidate);
        if (candidate->shift == NO_PADDING)
            continue;
        struct ir_buffer *buffer = candidate->buffer;
        int64_t length = buffer->capacity->constant.integer;
        struct rewriter r = {.arena = arena, .kernel = kernel};
        buffer->capacity =
            rewrite_constant(&r, buffer->capacity->base, padded(buffer, length - 1, candidate->shift) + 1);
        map_set(chosen, buffer, candidate);
    }
    b.candidates = chosen;
    if (map_count(chosen))
        rewrite_each(kernel->body, put, &b);
}
