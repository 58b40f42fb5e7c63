/* join-launches: the parts of one array, as those of an `append` at grid, are stored by one launch.

   note [ranges of blocks]
   The launch has a range of blocks for each part: the code of the parts stays apart, all threads of a block go one way,
   and neither part waits for the other. A loop over chunks goes by these. A loop over elements goes by tiles, each of
   as many elements as the threads of a block take in some turns (note [turns] in map/simt.c).
   Only parts of one array are joined. A kernel has the registers and the shared memory that the larger of its parts
   wants. That is worth a launch where one thing is made, and may not be where two things follow each other. */
#include "ir/passes/pass_list.h"

#include "ir/machine.h"
#include "ir/passes/rewrite.h"
#include "ir/walk.h"

struct joining {
    struct arena *arena;
    struct ir_kernel *kernel;
    struct replacements replacements; /* of the launches' indices, by those of the joined ones */
};

/* ---- which ---- */

static bool is_launch(const struct ir_instruction *at) {
    return at->kind == IR_FORALL && at->outer == LEVEL_GRID && !at->buffer && at->operands[0]->base == BASE_I32 &&
           at->operands[0]->high >= 1;
}

/* How one launch uses a buffer. */
struct use {
    bool reads, stores, does_more;
};

static struct use use_of(const struct ir_instruction *launch, const struct ir_buffer *buffer) {
    struct use use = {false, false, false};
    for (struct ir_walk walk = ir_walk_of(launch); walk.at; ir_next(&walk)) {
        if (walk.at->buffer != buffer)
            continue;
        use.reads |= walk.at->kind == IR_LOAD;
        use.stores |= walk.at->kind == IR_STORE;
        use.does_more |= walk.at->is_volatile || walk.at->again || !ir_is_access(walk.at) ||
                         (walk.at->kind == IR_STORE && IR_PART(walk.at, store).may_meet);
    }
    return use;
}

/* Do both store parts of one array, and does neither touch what the other one stores? */
static bool are_parts(const struct ir_instruction *first, const struct ir_instruction *second) {
    bool have_one = false;
    for (struct ir_walk walk = ir_walk(first->regions[0]); walk.at; ir_next(&walk)) {
        const struct ir_buffer *buffer = walk.at->buffer;
        if (walk.at->kind == IR_FENCE)
            return false;
        if (!buffer || buffer->memory != MEMORY_OUTPUT)
            continue;
        struct use x = use_of(first, buffer), y = use_of(second, buffer);
        bool is_shared = y.reads || y.stores || y.does_more;
        bool is_part = x.stores && y.stores && !x.reads && !y.reads && !buffer->rewritten;
        if (is_shared && (x.does_more || y.does_more || !((x.reads && !x.stores && !y.stores) || is_part)))
            return false;
        have_one |= is_part;
    }
    return have_one && !ir_has(second, IR_FENCE);
}

static bool goes_by_tiles(const struct ir_instruction *launch) { return launch->inner == LEVEL_THREAD; }

static int threads_of(const struct ir_instruction *launch) { return IR_PART(launch, loop).threads; }

/* Threads of a block of both: those of the launch that goes by chunks, if one does. */
static int threads_of_both(const struct ir_instruction *first, const struct ir_instruction *second) {
    return threads_of(goes_by_tiles(first) ? second : first);
}

static int block_threads(const struct joining *j, const struct ir_instruction *first,
                         const struct ir_instruction *second) {
    int threads = threads_of_both(first, second);
    return threads ? threads : j->kernel->block_size;
}

static int64_t size_of(const struct ir_instruction *launch) {
    int64_t size = 0;
    for (struct ir_walk walk = ir_walk_of(launch); walk.at; ir_next(&walk))
        size++;
    return size;
}

/* Elements of a tile of a launch whose blocks have so many threads; 1: it goes by chunks. */
static int tile_of(const struct ir_instruction *launch, int threads) {
    return goes_by_tiles(launch) ? ir_turns(launch) * threads : 1;
}

static bool may_join(const struct joining *j, const struct ir_instruction *first, const struct ir_instruction *second) {
    if (!is_launch(second))
        return false;
    bool are_alike = first->inner == second->inner && threads_of(first) == threads_of(second);
    bool have_blocks =
        first->inner != LEVEL_WARP && second->inner != LEVEL_WARP && (goes_by_tiles(first) || goes_by_tiles(second));
    int threads = block_threads(j, first, second);
    int64_t most =
        first->operands[0]->high / tile_of(first, threads) + second->operands[0]->high / tile_of(second, threads);
    return (are_alike || have_blocks) && most < INT32_MAX - 1 && size_of(first) + size_of(second) <= GPU_JOINED &&
           are_parts(first, second);
}

/* ---- joining ---- */

struct joined {
    struct ir_instruction *launch;
    struct ir_value *elements; /* or chunks */
    int tile;                  /* elements of one; 1: they are chunks */
    struct ir_value *count;    /* of tiles or chunks */
};

static struct ir_value *constant(const struct rewriter *r, int64_t integer) {
    return rewrite_constant(r, BASE_I32, integer);
}

static struct ir_value *bounded(struct ir_value *value, int64_t low, int64_t high) {
    value->low = low;
    value->high = high > low ? high : low;
    value->definition->no_wrap = true;
    return value;
}

/* ceil(n / tile), where n is not negative. */
static struct ir_value *tiles(const struct rewriter *r, struct ir_value *n, int tile) {
    int64_t most = n->high < 1 ? 0 : (n->high - 1) / tile + 1;
    if (n->is_constant)
        return constant(r, most);
    struct ir_value *last = bounded(rewrite_operation(r, OP_SUB, n, constant(r, 1)), n->low - 1, n->high - 1);
    struct ir_value *before = rewrite_operation(r, OP_DIV, last, constant(r, tile));
    struct ir_value *count = bounded(rewrite_operation(r, OP_ADD, before, constant(r, 1)), n->low >= 1, most);
    if (n->low >= 1)
        return count;
    struct ir_value *some = rewrite_operation(r, OP_LT, constant(r, 0), n);
    struct ir_value *result = rewrite_value(r, BASE_I32, NULL, 0, most);
    rewrite_select(r, result, some, count, constant(r, 0));
    return result;
}

static struct ir_value *sum(const struct rewriter *r, struct ir_value *x, struct ir_value *y) {
    int64_t low = x->low + y->low, high = x->high + y->high;
    return low == high ? constant(r, low) : bounded(rewrite_operation(r, OP_ADD, x, y), low, high);
}

static struct joined part_of(const struct rewriter *r, struct ir_instruction *launch, int threads) {
    struct joined part = {.launch = launch, .elements = launch->operands[0], .tile = tile_of(launch, threads)};
    if (part.elements->low < 0)
        part.elements = rewrite_operation(r, OP_MAX, part.elements, constant(r, 0));
    part.count = goes_by_tiles(launch) ? tiles(r, part.elements, part.tile) : part.elements;
    return part;
}

/* Iteration `index` of the part, in that region. */
static void put_iteration(struct joining *j, struct ir_region *region, const struct joined *part,
                          struct ir_value *index) {
    struct ir_instruction *launch = part->launch;
    struct ir_value *own = launch->parameters[0], *n = part->elements;
    struct ir_instruction user = {.span = launch->span, .users = launch->users, .region = region};
    struct rewriter r = {j->arena, j->kernel, region, &user};
    if (own->id >= j->replacements.count) { /* room for those that joining makes */
        uint32_t count = 2 * j->kernel->value_count + 1;
        j->replacements = (struct replacements){ARENA_ARRAY(j->arena, struct ir_value *, count), count};
    }
    if (goes_by_tiles(launch) && n->is_constant && n->high <= part->tile) {
        struct ir_instruction *tile = rewrite_forall(&r, LEVEL_BLOCK, LEVEL_THREAD, n);
        region = tile->regions[0];
        index = tile->parameters[0];
    } else if (goes_by_tiles(launch)) {
        struct ir_value *before = rewrite_operation(&r, OP_MUL, index, constant(&r, part->tile));
        bounded(before, 0, n->high - 1);
        struct ir_value *rest = bounded(rewrite_operation(&r, OP_SUB, n, before), 1, n->high);
        struct ir_value *count = rewrite_operation(&r, OP_MIN, rest, constant(&r, part->tile));
        struct ir_instruction *tile = rewrite_forall(&r, LEVEL_BLOCK, LEVEL_THREAD, count);
        IR_PART(tile, loop).all = n;
        user.region = region = r.region = tile->regions[0];
        index = bounded(rewrite_operation(&r, OP_ADD, before, tile->parameters[0]), 0, n->high - 1);
    }
    index->name = index->name ? index->name : own->name;
    rewrite_set(&j->replacements, own, index);
    rewrite_replace(launch->regions[0], &j->replacements);
    rewrite_move(j->arena, launch->regions[0], region);
}

/* One launch for both, behind what it needs of the host. */
static struct ir_instruction *join(struct joining *j, struct ir_region *host, struct ir_instruction *first,
                                   struct ir_instruction *second) {
    struct ir_instruction user = {.span = first->span, .users = first->users, .region = second->region};
    struct rewriter outside = {j->arena, j->kernel, host, &user};
    int threads = block_threads(j, first, second);
    struct joined parts[2] = {part_of(&outside, first, threads), part_of(&outside, second, threads)};
    struct ir_value *count = sum(&outside, parts[0].count, parts[1].count);
    enum level_value inner = first->inner == LEVEL_WARP ? LEVEL_WARP : LEVEL_BLOCK;
    struct ir_instruction *launch = rewrite_forall(&outside, LEVEL_GRID, inner, count);
    IR_PART(launch, loop).threads = threads_of_both(first, second);
    user.region = launch->regions[0];
    struct rewriter inside = {j->arena, j->kernel, launch->regions[0], &user};
    struct ir_value *index = launch->parameters[0];
    index->name = "range";
    struct ir_instruction *branch = rewrite_branch(&inside, rewrite_operation(&inside, OP_LT, index, parts[0].count));
    IR_PART(branch, branch).is_ranges = true;
    put_iteration(j, branch->regions[0], &parts[0], index);
    user.region = inside.region = branch->regions[1];
    struct ir_value *later = rewrite_operation(&inside, OP_SUB, index, parts[0].count);
    put_iteration(j, branch->regions[1], &parts[1], bounded(later, 0, parts[1].count->high - 1));
    host->instructions.count--; /* the caller puts it */
    return launch;
}

static void join_region(struct joining *j, struct ir_region *region) {
    struct ir_region fresh = {.ambient = region->ambient};
    for (size_t i = 0; i < region->instructions.count; i++) {
        struct ir_instruction *first = region->instructions.at[i];
        if (!is_launch(first)) {
            for (int r = 0; r < 2; r++)
                if (first->regions[r] && first->kind != IR_FORALL)
                    join_region(j, first->regions[r]);
            vec_push(j->arena, &fresh.instructions, first);
            continue;
        }
        size_t end = rewrite_behind_host(region, i + 1);
        if (end == region->instructions.count || !may_join(j, first, region->instructions.at[end])) {
            vec_push(j->arena, &fresh.instructions, first);
            continue;
        }
        for (size_t k = i + 1; k < end; k++)
            vec_push(j->arena, &fresh.instructions, region->instructions.at[k]);
        j->kernel->changes++;
        region->instructions.at[end] = join(j, &fresh, first, region->instructions.at[end]);
        i = end - 1; /* which may be joined with what follows */
    }
    region->instructions = fresh.instructions;
}

void pass_join_launches(struct arena *arena, struct ir_kernel *kernel) {
    join_region(&(struct joining){.arena = arena, .kernel = kernel}, kernel->body);
}
