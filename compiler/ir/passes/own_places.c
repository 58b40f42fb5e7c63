/* The arrays of a block or a warp of which each thread touches only places of its own go from
   shared memory into its registers, and no barrier is due to them any more: those of `while` and
   `power`, such as the sums of a product of matrices between its panels; and those that are forced
   once, such as what each thread gives to a scan by warps, or the elements that it ranks.

   note [own places]
   A block of B threads does iteration i of its loops by thread i mod B. So where all accesses to
   an array are, in iteration i of such loops, to places i + B q, each is its thread's: place p is
   slot p / B of thread p mod B. q must be a sum of constants and indices of counted loops, so that
   the slots are known when these are unrolled: registers cannot be indexed at run time. A loop of r
   B iterations becomes one of B, with r rounds inside. Lane i of warp w is thread 32 w + i, where
   there is an iteration for every one. For a warp's array, the same with the lanes of the warp for
   the threads.

   note [several places]
   A thread may have w neighbours instead, as products of matrices have their sums: where iteration
   i accesses places w i + j + w B q, with j from 0 to w - 1, place p is of thread (p / w) mod B, and
   slot j + w q. A loop over all places, such as the one that begins the sums with zeros, is shared
   out likewise then: thread t does iterations w t + j + w B q; and so are the other arrays of such
   a loop, which may copy one into the other. Where two arrays want one loop shared out differently,
   the first array decides. Only for products: other arrays are mostly made of elements of global
   memory, which are loaded best by threads side by side.

   note [early loads]
   A thread uses the elements that it loads into such an array behind barriers, and all these loads
   are to be under way together. But NVIDIA's assembler moves a load that nothing can change behind
   a barrier, to where its value is used, and the thread waits for each in turn. So these loads are
   marked: QUIRK_LATE_LOADS of map/quirks.

   note [loads by vectors]
   Those of these loads that together make 16 bytes next to each other, and go to registers next to
   each other, become one load where they begin at a multiple of 16. Elements of 16 bits also go by
   8 bytes, and by 4: they then lie in registers two by two, in the order in which the load brings
   them. The kernel tests the multiple at run time, because it depends on the host's pointers and on
   how long rows are. The pass does this only for memory that the host gives, which no store
   changes: compilers do not see that this load reads memory. */
#include "ir/machine.h"
#include "ir/passes/pass_list.h"
#include "ir/places.h"
#include "ir/passes/rewrite.h"

struct access {
    struct ir_instruction *instruction, *loop;
    struct ir_instruction *warps; /* the loop over warps around it, or NULL */
    struct linear place;
    int64_t step;       /* of the place, from one iteration to the next */
    struct linear slot; /* without the rounds */
};

/* The loops inside of a loop that was split: of each the index, and what it adds to the loop's index and,
   where that is the place, to the slot. */
enum { MOST_ROUNDS = 2 };
struct rounds {
    size_t count;
    struct ir_value *index[MOST_ROUNDS];
    int64_t turns[MOST_ROUNDS], step[MOST_ROUNDS], slots[MOST_ROUNDS];
};

enum { MOST_NEIGHBOURS = 4 };

struct candidate {
    bool is_out;   /* something is against it */
    int64_t width; /* neighbours that a thread has */
    VEC(struct access) accesses;
};

struct keeper {
    struct arena *arena;
    struct ir_kernel *kernel;
    struct map *candidates; /* ir_buffer → candidate */
    struct map *sums;       /* loads of what products of matrices are added to */
    struct map *widths;     /* loops of several rounds → a candidate that shares them out by its width */
    struct map *rounds;     /* the loops that are split → struct rounds */
};

/* The threads that the array belongs to which the instruction touches. */
static int64_t threads_of(const struct keeper *k, const struct ir_instruction *instruction) {
    return instruction->buffer->owner == LEVEL_WARP ? k->kernel->warp_size
                                                    : ir_block_threads(k->kernel, instruction->region);
}

static bool is_eligible(const struct keeper *k, const struct ir_instruction *instruction) {
    const struct ir_buffer *buffer = instruction->buffer;
    if (buffer->memory != MEMORY_SHARED || !buffer->capacity->is_constant ||
        (buffer->owner == LEVEL_WARP && !k->kernel->has_warps))
        return false;
    int64_t capacity = buffer->capacity->constant.integer, threads = threads_of(k, instruction);
    return capacity > 0 && capacity % threads == 0 &&
           capacity / threads * base_info[buffer->element].bits / 8 <= GPU_OWN_BYTES;
}

static bool has_count(const struct ir_instruction *loop, int64_t count) {
    return loop->operands[0]->is_constant && loop->operands[0]->constant.integer == count;
}

/* The loop that has it, over the threads of the block or the lanes of the warp whose array it is,
   or over the lanes of every warp of the block; `loop` NULL: none. */
static void find_loop(const struct keeper *k, struct access *access) {
    int64_t threads = ir_block_threads(k->kernel, access->instruction->region);
    struct ir_instruction *loop = ir_thread_loop(access->instruction->region);
    struct ir_instruction *warps = loop ? ir_parallel_loop(loop->region) : NULL;
    int lanes = k->kernel->warp_size;
    if (!loop)
        return;
    if (loop->outer == access->instruction->buffer->owner) {
        access->loop = loop;
    } else if (k->kernel->has_warps && loop->outer == LEVEL_WARP && has_count(loop, lanes) && warps &&
               warps->outer == LEVEL_BLOCK && threads % lanes == 0 && has_count(warps, threads / lanes)) {
        access->loop = loop;
        access->warps = warps;
    }
}

/* How many rounds of that many threads a loop takes; 0: not known, or the last is not whole. */
static int64_t rounds_of(const struct ir_instruction *loop, int64_t threads) {
    const struct ir_value *count = loop->operands[0];
    if (!count->is_constant || count->constant.integer < 2)
        return 0;
    if (count->constant.integer <= threads)
        return 1;
    return count->constant.integer % threads == 0 ? count->constant.integer / threads : 0;
}

/* The index of a counted loop with a constant number of rounds, in the kernel. */
static bool is_counted(const struct ir_value *index) {
    const struct ir_instruction *loop = index->region ? index->region->owner : NULL;
    return loop && loop->kind == IR_FOR && loop->parameters[0] == index && loop->operands[0]->is_constant &&
           loop->region->ambient < LEVEL_GRID;
}

/* note [own places], note [several places] */
static bool find_slot(const struct keeper *k, struct access *access, int64_t width) {
    const struct ir_buffer *buffer = access->instruction->buffer;
    const struct linear *place = &access->place;
    struct linear *slot = &access->slot;
    int64_t threads = threads_of(k, access->instruction), slots = buffer->capacity->constant.integer / threads;
    int64_t all = threads * width, rounds = rounds_of(access->loop, threads);
    /* The first and the last neighbour, counted from 0. The rest of the constant, and other coefficients, are multiples
       of `all`. */
    int64_t first = ((place->constant % all) + all) % all, last = first;
    if (rounds == 0 || (access->step != width && (access->step != 1 || rounds % width != 0)))
        return false;
    *slot = (struct linear){.base = place->base, .constant = (place->constant - first) / threads + first};
    int64_t low = slot->constant - first, high = low;
    bool has_warp = !access->warps;
    for (size_t i = 0; i < place->count; i++) {
        struct ir_value *value = place->term[i].value;
        int64_t coefficient = place->term[i].coefficient;
        if (value == access->loop->parameters[0])
            continue;
        if (access->warps && value == access->warps->parameters[0] &&
            coefficient == k->kernel->warp_size * access->step) {
            has_warp = true;
            continue;
        }
        if (!is_counted(value) || slot->count + MOST_ROUNDS == LINEAR_MAX_TERMS)
            return false;
        int64_t turns = value->region->owner->operands[0]->constant.integer, step = coefficient / threads;
        if (coefficient > 0 && coefficient < width && turns <= width) {
            last += coefficient * (turns - 1);
            step = coefficient;
        } else {
            if (coefficient % all != 0 || step > slots || step < -slots)
                return false;
            int64_t reach = step * (turns - 1);
            low += reach < 0 ? reach : 0;
            high += reach > 0 ? reach : 0;
        }
        slot->term[slot->count].value = value;
        slot->term[slot->count++].coefficient = step;
    }
    return has_warp && last < width && (access->step == width || last == 0) && low >= 0 &&
           high + access->step * rounds <= slots;
}

/* Does a product of matrices take it as a sum, or give it? */
static bool is_of_product(const struct keeper *k, const struct ir_instruction *access) {
    const struct ir_instruction *stored = access->kind == IR_STORE ? access->operands[1]->definition : NULL;
    return (stored && stored->kind == IR_MMA) || map_has(k->sums, access);
}

static struct candidate *candidate_of(struct keeper *k, const struct ir_touched *touched) {
    struct candidate *candidate = ARENA_NEW(k->arena, struct candidate);
    candidate->width = 1;
    candidate->is_out = !touched->all.count || !is_eligible(k, touched->all.at[0]);
    for (size_t i = 0; i < touched->all.count && !candidate->is_out; i++) {
        struct ir_instruction *at = touched->all.at[i];
        struct access access = {.instruction = at};
        if (ir_is_access(at) && !at->is_volatile)
            find_loop(k, &access);
        if (access.loop && linear_expand(at->operands[0], &access.place))
            access.step = linear_coefficient(&access.place, access.loop->parameters[0]);
        candidate->is_out = access.step < 1 || access.step > MOST_NEIGHBOURS;
        if (is_of_product(k, at))
            candidate->width = access.step;
        vec_push(k->arena, &candidate->accesses, access);
    }
    return candidate;
}

/* How its loop of several rounds must be shared out for an access. */
static int64_t width_of(const struct candidate *candidate, const struct access *access) {
    return access->step == candidate->width ? 1 : candidate->width;
}

/* A loop over all places is shared out in one way for all its arrays: where one of them gives a thread neighbours, the
   others do, too. */
static void spread_widths(struct keeper *k) {
    struct map *wide = map_new(k->arena); /* loops → a candidate that has neighbours */
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (size_t i = 0; i < map_count(k->candidates); i++) {
            struct map_entry entry = map_entry(k->candidates, i);
            struct candidate *candidate = entry.value;
            for (size_t n = 0; !candidate->is_out && n < candidate->accesses.count; n++) {
                const struct access *access = &candidate->accesses.at[n];
                const struct candidate *other = map_get(wide, access->loop);
                if (access->step != 1 || rounds_of(access->loop, threads_of(k, access->instruction)) < 2)
                    continue;
                if (candidate->width > 1 && !other) {
                    map_set(wide, access->loop, candidate);
                    goes_on = true;
                } else if (candidate->width == 1 && other) {
                    candidate->width = other->width;
                    goes_on = true;
                }
            }
        }
    }
}

/* All its accesses have slots, and their loops are free to be shared out for it. */
static bool may_keep(struct keeper *k, const struct ir_buffer *buffer, struct candidate *candidate) {
    if (candidate->is_out || !candidate->accesses.count)
        return false;
    int64_t threads = threads_of(k, candidate->accesses.at[0].instruction);
    if (buffer->capacity->constant.integer % (threads * candidate->width) != 0)
        return false;
    for (size_t i = 0; i < candidate->accesses.count; i++) {
        struct access *access = &candidate->accesses.at[i];
        const int64_t *width = map_get(k->widths, access->loop);
        bool is_free = !width || *width == width_of(candidate, access);
        if (!find_slot(k, access, candidate->width) || !is_free)
            return false;
    }
    for (size_t i = 0; i < candidate->accesses.count; i++) {
        struct access *access = &candidate->accesses.at[i];
        int64_t *width = ARENA_NEW(k->arena, int64_t);
        *width = width_of(candidate, access);
        if (rounds_of(access->loop, threads) > 1)
            map_set(k->widths, access->loop, width);
    }
    return true;
}

static void collect(struct keeper *k, const struct ir_region *region) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_MMA) {
            const struct mma_form form = mma_form(walk.at->operands[0]->base);
            for (size_t i = form.first + form.second; i < form.operands; i++)
                if (walk.at->operands[i]->definition)
                    map_set(k->sums, walk.at->operands[i]->definition, walk.at);
        }
    const struct ir_places places = ir_places(k->arena, region);
    for (size_t i = 0; i < places.all.count; i++)
        map_set(k->candidates, places.all.at[i]->buffer, candidate_of(k, places.all.at[i]));
}

/* ---- rewriting ---- */

/* The loop's index becomes round * threads + thread, or with neighbours (round * threads + thread) * width +
   neighbour. */
static void split(struct keeper *k, struct ir_instruction *loop, int64_t threads, int64_t width) {
    int64_t count = rounds_of(loop, threads);
    if (count == 1 || map_has(k->rounds, loop))
        return;
    struct ir_value *index = loop->parameters[0];
    struct ir_region *body = loop->regions[0];
    struct ir_region *of_thread = ir_new_region(k->arena, k->kernel, LEVEL_THREAD, loop, loop->region);
    struct ir_region *inner = of_thread;
    struct ir_instruction user = {.span = loop->span, .users = loop->users, .region = of_thread}, *last = loop;
    struct rewriter outside = {k->arena, k->kernel, of_thread, &user};
    struct rounds *rounds = ARENA_NEW(k->arena, struct rounds);
    *rounds = (struct rounds){.turns = {count / width, width}, .step = {threads * width, 1}, .slots = {width, 1}};
    rounds->count = width > 1 ? 2 : 1;
    struct ir_value *thread = rewrite_value(&outside, index->base, of_thread, 0, threads - 1);
    thread->name = "thread";
    loop->operands[0] = rewrite_constant(&outside, index->base, threads);
    loop->parameters[0] = thread;
    loop->regions[0] = of_thread;
    for (size_t i = 0; i < rounds->count; i++) {
        struct ir_region *next =
            i + 1 < rounds->count ? ir_new_region(k->arena, k->kernel, LEVEL_THREAD, NULL, inner) : body;
        user.region = outside.region = inner;
        last = rewrite_instruction(&outside, IR_FOR, 1, 0);
        IR_PART(last, loop).unroll = true;
        last->operands[0] = rewrite_constant(&outside, index->base, rounds->turns[i]);
        last->regions[0] = next;
        last->parameters[0] = rounds->index[i] = rewrite_value(&outside, index->base, next, 0, rounds->turns[i] - 1);
        next->owner = last;
        next->parent = inner;
        inner = next;
    }

    struct ir_region fresh = {0};
    struct rewriter inside = {k->arena, k->kernel, &fresh, body->instructions.at[0]};
    struct ir_value *sum = thread;
    if (width > 1) {
        sum = rewrite_operation(&inside, OP_MUL, thread, rewrite_constant(&inside, index->base, width));
        sum->definition->no_wrap = true;
    }
    for (size_t i = 0; i < rounds->count; i++) {
        struct ir_value *before = rounds->index[i];
        if (rounds->step[i] > 1) {
            before =
                rewrite_operation(&inside, OP_MUL, before, rewrite_constant(&inside, index->base, rounds->step[i]));
            before->definition->no_wrap = true;
        }
        sum = rewrite_operation(&inside, OP_ADD, before, sum);
        sum->definition->no_wrap = true;
    }
    sum->definition->results[0] = index;
    index->definition = sum->definition;
    for (size_t i = 0; i < body->instructions.count; i++)
        vec_push(k->arena, &fresh.instructions, body->instructions.at[i]);
    body->instructions = fresh.instructions;
    map_set(k->rounds, loop, rounds);
}

/* Where the access stood, with its slot in the place of its place. */
static void put_slot(struct keeper *k, const struct access *access) {
    struct ir_region *region = access->instruction->region;
    struct linear slot = access->slot;
    const struct rounds *rounds = map_get(k->rounds, access->loop);
    for (size_t i = 0; rounds && i < rounds->count; i++) {
        slot.term[slot.count].value = rounds->index[i];
        slot.term[slot.count++].coefficient = rounds->slots[i] * access->step;
    }
    struct ir_region fresh = {0};
    for (size_t i = 0; i < region->instructions.count; i++) {
        struct ir_instruction *instruction = region->instructions.at[i];
        if (instruction == access->instruction)
            instruction->operands[0] = rewrite_sum(&(struct rewriter){k->arena, k->kernel, &fresh, instruction}, &slot);
        vec_push(k->arena, &fresh.instructions, instruction);
    }
    region->instructions = fresh.instructions;
}

/* See note [loads by vectors]. */
static bool follows(const struct ir_instruction *first, const struct ir_instruction *load, int distance) {
    int64_t apart;
    return IR_PART(load, load).is_early && load->buffer == first->buffer && load->region == first->region &&
           linear_distance(first->operands[0], load->operands[0], &apart) && apart == distance;
}

/* Loads from that many places behind another's place. */
static void load_behind(struct keeper *k, struct ir_instruction *load, struct ir_value *place, size_t distance) {
    struct ir_region *region = load->region;
    struct ir_region fresh = {0};
    struct rewriter rewriter = {k->arena, k->kernel, &fresh, load};
    for (size_t i = 0; i < region->instructions.count; i++) {
        if (region->instructions.at[i] == load)
            load->operands[0] = rewrite_operation(&rewriter, OP_ADD, place,
                                                  rewrite_constant(&rewriter, place->base, (int64_t)distance));
        vec_push(k->arena, &fresh.instructions, region->instructions.at[i]);
    }
    region->instructions = fresh.instructions;
}

/* Loads that are next to each other become wide ones. */
static void widen(struct keeper *k, struct ir_instruction *const *loads, size_t count) {
    int bits = count ? base_info[loads[0]->buffer->element].bits : 0;
    size_t least = bits == 16 ? 2 : 4, of = bits == 16 ? 8 : 4;
    for (size_t i = 0; i < count && of >= least;)
        if (count - i < of) {
            of /= 2;
        } else {
            for (size_t n = 0; n < of; n++) {
                IR_PART(loads[i + n], load).nth = (int)n + 1;
                IR_PART(loads[i + n], load).of = (int)of;
                if (n > 0) /* so that no other sums stand between them */
                    load_behind(k, loads[i + n], loads[i]->operands[0], n);
            }
            i += of;
        }
}

static void find_wide_loads(struct keeper *k, struct ir_buffer *buffer, const struct candidate *candidate) {
    VEC(struct ir_instruction *) found = {0};
    for (size_t i = 0; i < candidate->accesses.count; i++) {
        struct ir_instruction *load = ir_copied(candidate->accesses.at[i].instruction);
        bool is_constant = load && IR_PART(load, load).is_early && load->buffer->memory == MEMORY_INPUT;
        int bits = is_constant ? base_info[load->buffer->element].bits : 0;
        if (found.count && !(is_constant && follows(found.at[0], load, (int)found.count))) {
            widen(k, found.at, found.count);
            found.count = 0;
        }
        if (bits == 16 || bits == 32)
            vec_push(k->arena, &found, load);
        buffer->is_packed |= found.count > 1 && bits == 16;
    }
    widen(k, found.at, found.count);
}

static void keep(struct keeper *k, struct ir_buffer *buffer, const struct candidate *candidate) {
    int64_t threads = threads_of(k, candidate->accesses.at[0].instruction);
    int64_t slots = buffer->capacity->constant.integer / threads;
    for (size_t i = 0; i < candidate->accesses.count; i++) {
        const struct ir_instruction *store = candidate->accesses.at[i].instruction;
        struct ir_instruction *load = ir_copied(store);
        if (slots > 1 && load && !load->is_volatile && !buffer->rewritten)
            IR_PART(load, load).is_early = load->buffer->memory <= MEMORY_OUTPUT; /* note [early loads] */
    }
    find_wide_loads(k, buffer, candidate);
    for (size_t i = 0; i < candidate->accesses.count; i++)
        split(k, candidate->accesses.at[i].loop, threads, width_of(candidate, &candidate->accesses.at[i]));
    for (size_t i = 0; i < candidate->accesses.count; i++) {
        const struct access *access = &candidate->accesses.at[i];
        put_slot(k, access);
        for (size_t t = 0; t < access->slot.count; t++)
            IR_PART(access->slot.term[t].value->region->owner, loop).unroll = true;
    }
    struct rewriter rewriter = {.arena = k->arena, .kernel = k->kernel};
    buffer->capacity = rewrite_constant(&rewriter, buffer->capacity->base, slots);
    buffer->memory = MEMORY_PRIVATE;
    buffer->owner = LEVEL_THREAD;
}

void pass_own_places(struct arena *arena, struct ir_kernel *kernel) {
    struct keeper k = {.arena = arena, .kernel = kernel};
    uint32_t kept = 0;
    k.candidates = map_new(arena);
    k.sums = map_new(arena);
    k.widths = map_new(arena);
    k.rounds = map_new(arena);
    collect(&k, kernel->body);
    spread_widths(&k);
    for (size_t i = 0; i < map_count(k.candidates); i++) {
        struct map_entry entry = map_entry(k.candidates, i);
        struct candidate *candidate = entry.value;
        candidate->is_out = !may_keep(&k, entry.key, candidate);
    }
    for (size_t i = 0; i < map_count(k.candidates); i++) {
        struct map_entry entry = map_entry(k.candidates, i);
        const struct candidate *candidate = entry.value;
        if (candidate->is_out)
            continue;
        keep(&k, (struct ir_buffer *)entry.key, candidate);
        kept++;
    }
    if (map_count(k.candidates))
        pass_dce(arena, kernel);
    kernel->changes = kept; /* what is dead then is not counted */
}
