/* The mapping's entry: finds the parallel loops at grid level and makes each a device kernel. */
#include "map/map.h"

#include "ir/machine.h"
#include "map/lower.h"

enum { REGISTER_BYTES = 4 };

/* How many threads a multiprocessor is to hold, so that their arrays fit into its registers. */
static int64_t threads_together(const struct map_options *options, const struct target_kernel *kernel) {
    int64_t wanted = CUDA_OTHER_REGISTERS + kernel->register_bytes / REGISTER_BYTES;
    int64_t threads = wanted ? options->registers / wanted : 0;
    bool are_few = kernel->largest_bytes > CUDA_FEW_BYTES && kernel->largest_bytes <= GPU_OWN_BYTES;
    int least = are_few ? options->threads_together_few : options->threads_together_large;
    if (threads < least)
        threads = least;
    return threads < options->threads_together ? threads : options->threads_together;
}

typedef VEC(const struct ir_instruction *) foralls;

static void find_foralls(struct arena *arena, const struct ir_region *region, foralls *found) {
    for (struct ir_walk walk = ir_walk(region); walk.at; ir_next(&walk)) {
        walk.goes_around = walk.at->kind == IR_FORALL;
        if (walk.goes_around)
            vec_push(arena, found, walk.at);
    }
}

static bool has_level(const struct ir_instruction *instruction, enum level_value level) {
    for (struct ir_walk walk = ir_walk_of(instruction); walk.at; ir_next(&walk))
        if (walk.at->kind == IR_FORALL && (walk.at->outer == level || walk.at->inner == level))
            return true;
    return false;
}

/* Both are indexed by value id. Between two device kernels all is zero: each clears what it has set. */
struct value_tables {
    struct target_expr **values;
    struct value_use *uses;
};

static struct target_kernel *map_forall(struct arena *arena, const struct ir_kernel *kernel,
                                        const struct ir_instruction *forall, const char *name,
                                        const struct map_options *options, const struct value_tables *tables) {
    struct target_kernel *target = ARENA_NEW(arena, struct target_kernel);
    target->name = name;
    target->forall = forall;
    target->mapping = options->mapping;
    target->count = forall->operands[0];
    target->unit = forall->inner;
    target->warp_threads = kernel->warp_size;
    target->approximates = kernel->approximates;
    target->block_threads = options->mapping == TARGET_SIMT ? ir_block_threads(kernel, forall->regions[0]) : 1;
    target->is_exact = options->has_exact_blocks && target->unit == LEVEL_BLOCK;
    target->needs_warps = options->mapping == TARGET_SIMT && options->has_warps && has_level(forall, LEVEL_WARP);
    if (target->needs_warps)
        target->block_threads =
            (target->block_threads + target->warp_threads - 1) / target->warp_threads * target->warp_threads;
    /* No more warps than have something to do: shared memory is for each of a block. */
    if (target->needs_warps && target->unit == LEVEL_WARP && target->count->is_constant) {
        int64_t warps = target->count->constant.integer < 1 ? 1 : target->count->constant.integer;
        if (warps < target->block_threads / target->warp_threads)
            target->block_threads = (int)warps * target->warp_threads;
    }
    struct lowering l = {.arena = arena,
                         .kernel = kernel,
                         .options = options,
                         .forall = forall,
                         .target = target,
                         .block = &target->body,
                         .values = tables->values,
                         .uses = tables->uses,
                         .arrays = map_new(arena),
                         .extents = extents_of(arena, forall->regions[0]),
                         .names = names_new(arena)};
    uses_count(l.uses, kernel, forall);
    if (options->mapping == TARGET_SIMT)
        simt_plan(&l);
    else if (lower_has_quirk(&l, QUIRK_PLACES_BY_TRUTH) && lower_loads_by_truth(forall->regions[0]))
        target->quirks |= quirk_bit(QUIRK_PLACES_BY_TRUTH);
    target->count_text = expr_describe(&l, target->count, 4);
    parameters_make(&l);
    lower_begin_notes(&l);
    if (options->mapping == TARGET_SIMT)
        simt_begin(&l);
    else
        loop_begin(&l);
    lower_end_notes(&l);
    lower_keep_loads_apart(&l);
    uses_clear(l.uses, forall->regions[0]);
    for (size_t i = 0; i < l.bound.count; i++)
        l.values[l.bound.at[i]] = NULL;
    target->blocks_together = (int)(threads_together(options, target) / target->block_threads);
    return target;
}

int64_t map_shared_bytes(struct arena *arena, const struct ir_kernel *kernel) {
    int64_t most = 0;
    struct pass_run passes = {.wanted = {[PASS_OVERLAP] = true, [PASS_LAY_OVER] = true}};
    foralls found = {0};
    find_foralls(arena, kernel->body, &found);
    for (size_t i = 0; i < found.count; i++) {
        const struct extents *extents = extents_of(arena, found.at[i]->regions[0]);
        int warps = (ir_block_threads(kernel, found.at[i]->regions[0]) + kernel->warp_size - 1) / kernel->warp_size;
        const struct shared_plan *plan = shared_allocate(arena, extents, warps, 0, false, &passes);
        most = plan->pool_bytes > most ? plan->pool_bytes : most;
    }
    return most;
}

/* Is it the copy with checks that pass ask-before makes behind the launch before it? */
static bool is_checked_copy(const foralls *found, size_t at) {
    const struct ir_region *region = at > 0 ? found->at[at]->region : NULL;
    while (region && region->owner && !(region->owner->kind == IR_IF && IR_PART(region->owner, branch).is_asked))
        region = region->owner->region;
    return region && region->owner && region == region->owner->regions[1] &&
           ir_region_inside(found->at[at - 1]->region, region->owner->regions[0]);
}

struct target_program *map_kernel(struct arena *arena, const struct ir_kernel *kernel,
                                  const struct map_options *options) {
    struct target_program *program = ARENA_NEW(arena, struct target_program);
    program->kernel = kernel;
    const struct value_tables tables = {ARENA_ARRAY(arena, struct target_expr *, kernel->value_count + 1),
                                        ARENA_ARRAY(arena, struct value_use, kernel->value_count + 1)};
    foralls found = {0};
    find_foralls(arena, kernel->body, &found);
    /* Launches have numbers where they are several. Copies with checks are told by their names, so that all others have
       the names that they have without checks. */
    size_t launches = 0, number = 0;
    for (size_t i = 0; i < found.count; i++)
        launches += !is_checked_copy(&found, i);
    int digits = launches > 100 ? 3 : launches > 10 ? 2 : 1; /* so that they are in order by name, too */
    for (size_t i = 0; i < found.count; i++) {
        bool is_copy = is_checked_copy(&found, i);
        number += i > 0 && !is_copy;
        const char *name =
            launches == 1 ? kernel->name->text : arena_printf(arena, "%s_%0*zu", kernel->name->text, digits, number);
        name = is_copy ? arena_printf(arena, "%s_checked", name) : name;
        vec_push(arena, &program->kernels,
                 map_forall(arena, kernel, found.at[i], names_of_kernel(arena, name), options, &tables));
        program->kernels.at[i]->is_part = launches > 1 || is_copy;
    }
    program->slots = map_new(arena);
    for (size_t i = 0; i < kernel->buffers.count; i++)
        if (ir_is_slot(kernel, kernel->buffers.at[i]))
            map_set(program->slots, kernel->buffers.at[i], program);
    return program;
}

unsigned machine_passes(const struct machine *machine) {
    const struct map_options *map = &machine->map;
    unsigned has = map->has_vectors || map->may_have_vectors ? FOR_VECTORS : 0;
    if (map->mapping == TARGET_LOOP)
        return has | FOR_LOOPS;
    has |= map->has_exact_blocks ? FOR_EXACT : 0;
    has |= machine->polls_by_atomics ? 0 : FOR_FENCES;
    has |= map->loads_ahead ? FOR_ORDERED : 0;
    has |= map->copies_by_pieces ? FOR_PIECES : 0;
    has |= map->counts_places ? FOR_COUNTED : 0;
    return has | FOR_THREADS;
}

bool machine_has_warps_of(const struct machine *machine, int64_t lanes) {
    return !machine->warp_sizes || (machine->warp_sizes & lanes) == lanes;
}
