/* Shared memory has 32 banks of 4-byte words, and a warp's accesses to different words of one bank
   take turns. Buffers whose accesses would collide, such as a tile that is read by columns, are
   padded: a word, or an element where that is larger, after every 32 elements, or 16, 64 or 128
   where that is better; or four words, see below. Only for targets where shared memory is shared
   memory: generate.c asks for it.

   note [wide loads]
   Four words that a thread reads or writes one after another, at a multiple of four, are one load or
   store of 16 bytes to the device's compiler, and a warp has these in four turns, of a quarter of it
   each. A padding of a word in between would make them four loads again, so that there it has four
   words. Without a padding they have no conflicts where a thread's words are an odd number of fours.
   The steps of `while` and `power` are padded only then: others go by elements next to each other. */
#include "ir/build/fold.h"
#include "ir/machine.h"
#include "ir/passes/pass_list.h"
#include "ir/places.h"
#include "ir/passes/rewrite.h"

enum { MOST_VISITS = 16384 };

struct access {
    struct ir_instruction *instruction;
    const struct ir_value *lane;        /* index of the innermost loop over threads; NULL: all threads alike */
    const struct ir_instruction *steps; /* the innermost loop of the thread, if it is unrolled; or NULL */
};

/* After every 2^shift elements so many; none: no padding. */
struct padding {
    int shift, elements;
    bool keeps_wide; /* loads wide */
};

struct candidate {
    struct ir_buffer *buffer;
    VEC(struct access) accesses;
    bool is_out; /* something else than loads and stores is done to it */
    struct padding padding;
};

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
    return buffer->memory == MEMORY_SHARED && buffer->capacity && buffer->capacity->is_constant &&
           buffer->capacity->constant.integer >= GPU_PADDED;
}

static bool is_unrolled(const struct ir_instruction *loop) {
    return loop->kind == IR_FOR && IR_PART(loop, loop).unroll && loop->operands[0]->is_constant &&
           loop->operands[0]->constant.integer >= GPU_WIDE;
}

static struct candidate *candidate_of(struct banks *b, const struct ir_touched *touched) {
    struct candidate *candidate = ARENA_NEW(b->arena, struct candidate);
    candidate->buffer = touched->buffer;
    for (size_t i = 0; i < touched->all.count; i++) {
        struct ir_instruction *at = touched->all.at[i];
        const struct ir_instruction *loop = ir_thread_loop(at->region), *owner = at->region->owner;
        candidate->is_out |= !ir_is_access(at);
        vec_push(b->arena, &candidate->accesses,
                 (struct access){at, loop ? loop->parameters[0] : NULL, owner && is_unrolled(owner) ? owner : NULL});
    }
    return candidate;
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

/* Indices are natural; of one in a branch that is not taken it may be anything: only the cost depends on it. */
static int64_t padded(int64_t index, struct padding padding) {
    return index + (index >> padding.shift) * padding.elements;
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

/* The index of each lane of a warp, at some steps. */
struct indices {
    int64_t at[GPU_LANES][GPU_WIDE];
    bool is_wide; /* they follow one another from step to step, from a multiple of GPU_WIDE on */
};

/* How often a thread does it, one after another. */
static int64_t rounds_of(const struct access *access) {
    return access->steps ? access->steps->operands[0]->constant.integer : 1;
}

static int64_t index_at(struct banks *b, const struct access *access, int lane, int64_t step) {
    struct point point = {access, lane, step};
    return access->lane ? value_at(b, access->instruction->operands[0], &point) : 0;
}

static struct indices indices_of(struct banks *b, const struct access *access) {
    struct indices found = {.is_wide = access->steps && access->lane && bits_of(access->instruction->buffer) == 32};
    int first = 0; /* of the steps, the first at a multiple */
    while (found.is_wide && first < GPU_WIDE && index_at(b, access, 0, first) % GPU_WIDE != 0)
        first++;
    found.is_wide = found.is_wide && first + GPU_WIDE <= rounds_of(access);
    int steps = found.is_wide ? GPU_WIDE : 1;
    for (int lane = 0; lane < GPU_LANES; lane++)
        for (int step = 0; step < steps; step++) {
            found.at[lane][step] = index_at(b, access, lane, found.is_wide ? first + step : 0);
            found.is_wide =
                found.is_wide && found.at[lane][0] % GPU_WIDE == 0 && found.at[lane][step] == found.at[lane][0] + step;
        }
    return found;
}

/* Do four stores from the i-th on, or four loads of 16 bits, follow one another, as a wide one does? */
static bool find_wide(struct banks *b, const struct candidate *candidate, size_t i, struct indices *found) {
    const struct access *first = &candidate->accesses.at[i];
    int bits = bits_of(candidate->buffer);
    bool may_be = bits == 16 || (bits == 32 && first->instruction->kind == IR_STORE);
    if (!may_be || !first->lane || i + GPU_WIDE > candidate->accesses.count)
        return false;
    for (int step = 1; step < GPU_WIDE; step++) {
        const struct access *access = &candidate->accesses.at[i + (size_t)step];
        if (access->instruction->kind != first->instruction->kind ||
            access->instruction->region != first->instruction->region)
            return false;
        struct indices next = indices_of(b, access);
        for (int lane = 0; lane < GPU_LANES; lane++) {
            found->at[lane][step] = next.at[lane][0];
            if (found->at[lane][0] % GPU_WIDE != 0 || next.at[lane][0] != found->at[lane][0] + step)
                return false;
        }
    }
    found->is_wide = true;
    return true;
}

/* How many turns a warp's access takes. See note [wide loads]. */
static int turns(const struct ir_buffer *buffer, const struct indices *indices, struct padding padding) {
    int64_t words[GPU_LANES];
    if (indices->is_wide && (padding.keeps_wide || padding.elements == 0)) {
        int sum = 0;
        for (int lane = 0; lane < GPU_LANES; lane += GPU_LANES / GPU_WIDE) {
            for (int i = 0; i < GPU_LANES; i++)
                words[i] = padded(indices->at[lane + i / GPU_WIDE][i % GPU_WIDE], padding);
            sum += most_in_a_bank(words, GPU_LANES);
        }
        return (sum + GPU_WIDE - 1) / GPU_WIDE; /* for one of the words */
    }
    int width = bits_of(buffer) / 32,
        lanes = width > 1 ? GPU_LANES / width : GPU_LANES; /* wide elements go by half warps */
    for (int i = 0; i < lanes; i++)
        words[i] = padded(indices->at[i][0], padding) * bits_of(buffer) / 32;
    return most_in_a_bank(words, lanes);
}

/* In quarters: an instruction, and its turns, which take as long; for one of the words. */
static int64_t cost(const struct ir_buffer *buffer, const struct indices *indices, struct padding padding) {
    bool is_wide = indices->is_wide && (padding.keeps_wide || padding.elements == 0);
    return GPU_WIDE * turns(buffer, indices, padding) + (is_wide ? 1 : GPU_WIDE);
}

/* The padding that costs the least, if less than without. */
static struct padding choose_padding(struct banks *b, const struct candidate *candidate) {
    static const int shifts[] = {5, 4, 6, 7};
    enum { SHIFTS = sizeof shifts / sizeof *shifts, CHOICES = 1 + 2 * SHIFTS };
    struct padding choices[CHOICES] = {{0}};
    for (int k = 0; k < SHIFTS; k++) {
        choices[1 + k] = (struct padding){shifts[k], GPU_WIDE, .keeps_wide = true};
        choices[1 + SHIFTS + k] = (struct padding){shifts[k], pad_of(candidate->buffer), .keeps_wide = false};
    }
    int64_t needed[CHOICES] = {0};
    int best = 0;
    bool has_wide = false;
    for (size_t i = 0, together; i < candidate->accesses.count; i += together) {
        const struct access *access = &candidate->accesses.at[i];
        b->visits = 0;
        struct indices indices = indices_of(b, access);
        if (b->visits > MOST_VISITS)
            return choices[0];
        has_wide |= indices.is_wide;
        together = find_wide(b, candidate, i, &indices) ? GPU_WIDE : 1;
        if (together > 1 && bits_of(candidate->buffer) == 16)
            return choices[0];
        for (int k = 0; k < CHOICES; k++)
            needed[k] += rounds_of(access) * (int64_t)together * cost(candidate->buffer, &indices, choices[k]);
    }
    for (int k = has_wide ? 1 : 1 + SHIFTS; k < CHOICES; k++)
        if (needed[k] < needed[best])
            best = k;
    return candidate->buffer->rewritten && !has_wide ? choices[0] : choices[best];
}

/* ---- rewriting ---- */

/* An index is within its buffer, whatever its own range says: so it is shifted as it is divided. */
static void in_bounds(struct ir_value *value, int64_t high) {
    value->low = 0;
    value->high = high;
    value->definition->no_wrap = true;
}

/* The terms of a sum that lie below 2^shift have no paddings before them: these make the factors
   of the others larger, and the device's compiler sees that four words are still at a multiple of
   four. NULL: it is not known to lie there, or terms are not known to be natural and small. */
static struct ir_value *padded_sum(const struct rewriter *r, struct ir_value *index, struct padding padding) {
    struct linear sum, whole = {.base = index->base};
    int64_t size = INT64_C(1) << padding.shift;
    if (!linear_expand(index, &sum) || sum.constant < 0)
        return NULL;
    int64_t below = sum.constant & (size - 1), rest = 0;
    whole.constant = (sum.constant >> padding.shift) * padding.elements;
    for (size_t i = 0; i < sum.count; i++) {
        int64_t coefficient = sum.term[i].coefficient, high = sum.term[i].value->high;
        if (coefficient <= 0 || coefficient > INT16_MAX || sum.term[i].value->low < 0 || high > INT16_MAX)
            return NULL;
        *(coefficient % size == 0 ? &rest : &below) += coefficient * high;
        if (coefficient % size != 0)
            continue;
        whole.term[whole.count] = sum.term[i];
        whole.term[whole.count++].coefficient = coefficient / size * padding.elements;
    }
    if (below >= size || rest > INT32_MAX / 2 || !linear_add(&sum, &whole, 1))
        return NULL;
    size_t before = r->region->instructions.count;
    struct ir_value *result = rewrite_sum(r, &sum);
    for (size_t i = before; i < r->region->instructions.count; i++)
        r->region->instructions.at[i]->no_wrap = true;
    return result;
}

static struct ir_value *padded_index(const struct rewriter *r, struct ir_value *index, int64_t last,
                                     struct padding padding) {
    struct ir_value *of_sum = padding.keeps_wide ? padded_sum(r, index, padding) : NULL;
    if (of_sum)
        return of_sum;
    struct ir_value *pads = rewrite_operation(r, OP_SHR, index, rewrite_constant(r, index->base, padding.shift));
    in_bounds(pads, last >> padding.shift);
    if (padding.elements > 1)
        pads = rewrite_operation(r, OP_MUL, pads, rewrite_constant(r, index->base, padding.elements));
    struct ir_value *sum = rewrite_operation(r, OP_ADD, index, pads);
    in_bounds(pads, (last >> padding.shift) * padding.elements);
    in_bounds(sum, last);
    return sum;
}

static void put(void *context, struct ir_region *to, struct ir_instruction *instruction) {
    struct banks *b = context;
    const struct candidate *candidate = ir_is_access(instruction) ? map_get(b->candidates, instruction->buffer) : NULL;
    if (candidate) {
        int64_t last = candidate->buffer->capacity->constant.integer - 1; /* padded already */
        struct rewriter r = {b->arena, b->kernel, to, instruction};
        instruction->operands[0] = padded_index(&r, instruction->operands[0], last, candidate->padding);
    }
    vec_push(b->arena, &to->instructions, instruction);
}

void pass_banks(struct arena *arena, struct ir_kernel *kernel) {
    struct banks b = {.arena = arena, .kernel = kernel, .candidates = map_new(arena)};
    const struct ir_places places = ir_places(arena, kernel->body);
    for (size_t i = 0; i < places.all.count; i++) {
        struct ir_buffer *buffer = places.all.at[i]->buffer;
        if (!is_eligible(buffer))
            continue;
        struct candidate *candidate = candidate_of(&b, places.all.at[i]);
        candidate->padding = choose_padding(&b, candidate);
        if (candidate->is_out || candidate->padding.elements == 0)
            continue;
        int64_t length = buffer->capacity->constant.integer;
        struct rewriter r = {.arena = arena, .kernel = kernel};
        buffer->capacity = rewrite_constant(&r, buffer->capacity->base, padded(length - 1, candidate->padding) + 1);
        map_set(b.candidates, buffer, candidate);
        kernel->changes++;
    }
    if (map_count(b.candidates))
        rewrite_each(kernel->body, put, &b);
}
