/* The walk through a launch: every instruction is counted as often as it is done; see note [what is
   counted] in report.h. Amounts are found from the inside out: a tally is what one turn of the region
   does, and a loop adds it to the one around as often as it turns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/walk.h"
#include "report/walker.h"

const char *const report_count_names[COUNT_KINDS] = {
    [COUNT_BLOCK_BARRIERS] = "block_barriers", [COUNT_WARP_BARRIERS] = "warp_barriers",
    [COUNT_EXCHANGES] = "exchanges",           [COUNT_INTEGER] = "integer_operations",
    [COUNT_FLOATING] = "floating_operations",  [COUNT_LONG] = "long_operations",
    [COUNT_PRODUCTS] = "matrix_products",
};

enum {
    MOST_TURNS = 4096,                /* of a parallel loop that are looked at one by one; of more, so many of them */
    FEW_TURNS = 64,                   /* of such a loop, for what differs in units alone */
    MOST_WORK = 4 * 1000 * 1000,      /* instructions of a launch; then none of its loops goes turn by turn any more */
    MOST_WORK_OF_ALL = 4 * MOST_WORK, /* of a kernel's launches together */
    MOST_WORK_FOR_UNITS = MOST_WORK / 2,
    MOST_TERMS = 8,       /* of an amount, by looking at turns one by one: else each has a name of its own */
    MOST_STEPS = 1 << 20, /* of a sequential loop whose state is known */
};

/* ---- tallies ---- */

static struct tally *tally_new(const struct walker *w) {
    struct tally *tally = calloc(1, sizeof *tally + 2 * w->instructions.count * sizeof(struct amount));
    tally->accesses = (struct amount *)(tally + 1);
    tally->units = tally->accesses + w->instructions.count;
    return tally;
}

static void add(struct walker *w, struct amount *to, struct amount what) {
    if (amount_is_zero(what))
        return;
    *to = amount_sum(w->arena, *to, what);
}

/* `units`: how often those of the lanes together. */
static void tally_add_apart(struct walker *w, struct tally *to, const struct tally *what, struct amount times,
                            struct amount units) {
    for (int i = 0; i < COUNT_KINDS; i++)
        if (!amount_is_zero(what->counts[i]))
            add(w, &to->counts[i], amount_product(w->arena, w->symbols, what->counts[i], times));
    for (size_t i = 0; i < w->instructions.count; i++)
        if (!amount_is_zero(what->accesses[i]))
            add(w, &to->accesses[i], amount_product(w->arena, w->symbols, what->accesses[i], times));
    for (size_t i = 0; i < w->instructions.count; i++)
        if (!amount_is_zero(what->units[i]))
            add(w, &to->units[i], amount_product(w->arena, w->symbols, what->units[i], units));
}

static void tally_add(struct walker *w, struct tally *to, const struct tally *what, struct amount times) {
    tally_add_apart(w, to, what, times, times);
}

static void tally_add_larger(struct walker *w, struct tally *to, const struct tally *a, const struct tally *b) {
    for (int i = 0; i < COUNT_KINDS; i++)
        add(w, &to->counts[i], amount_larger(w->arena, a->counts[i], b->counts[i]));
    for (size_t i = 0; i < w->instructions.count; i++)
        add(w, &to->accesses[i], amount_larger(w->arena, a->accesses[i], b->accesses[i]));
    for (size_t i = 0; i < w->instructions.count; i++)
        add(w, &to->units[i], amount_larger(w->arena, a->units[i], b->units[i]));
}

/* The amount of most turns; `about` if others do something else. */
static struct amount most_of(struct amount most, struct amount other) {
    most.is_about |= !amount_is_equal(most, other);
    return most;
}

static void tally_add_most(struct walker *w, struct tally *to, const struct tally *most, const struct tally *others) {
    for (int i = 0; i < COUNT_KINDS; i++)
        add(w, &to->counts[i], most_of(most->counts[i], others->counts[i]));
    for (size_t i = 0; i < w->instructions.count; i++) {
        add(w, &to->accesses[i], most_of(most->accesses[i], others->accesses[i]));
        add(w, &to->units[i], most_of(most->units[i], others->units[i]));
    }
}

static void count(struct walker *w, enum report_count what, double times) {
    add(w, &w->tally->counts[what], amount_number(times));
}

/* ---- instructions ---- */

static void walk_region(struct walker *w, const struct ir_region *region);

/* The threads that do what stands in the region, of one unit of its level. */
static double width(const struct walker *w, const struct ir_region *region) {
    if (w->target->mapping == TARGET_LOOP || region->ambient == LEVEL_THREAD)
        return 1;
    if (region->ambient == LEVEL_WARP)
        return w->kernel->has_warps ? w->kernel->warp_size : 1;
    return w->target->block_threads;
}

static void count_barrier(struct walker *w, enum target_meeting meeting) {
    if (meeting != TARGET_MEETING_NONE)
        count(w, meeting == TARGET_MEETING_BLOCK ? COUNT_BLOCK_BARRIERS : COUNT_WARP_BARRIERS, 1);
}

static void count_operation(struct walker *w, const struct ir_instruction *operation) {
    const struct ir_op_info *info = &ir_op_info[operation->op];
    enum base base = operation->operands[operation->operand_count - 1]->base;
    bool is_floating = base_info[base].is_floating;
    bool is_long = info->cost == COST_LONG &&
                   !((operation->op == OP_DIV || operation->op == OP_REM) && operation->operands[1]->is_constant);
    count(w, is_long ? COUNT_LONG : is_floating ? COUNT_FLOATING : COUNT_INTEGER, width(w, operation->region));
}

/* Counts an access where it is done. */
static void do_access(struct walker *w, const struct ir_instruction *access) {
    size_t number = (size_t)(uintptr_t)map_get(w->numbers, access) - 1;
    struct amount times = amount_number(width(w, access->region));
    add(w, &w->tally->accesses[number], times);
    add(w, &w->tally->units[number], lanes_units(w, access, number, width(w, access->region)));
}

static void access_memory(struct walker *w, const struct ir_instruction *access) {
    if (access_region(w, access) == access->region)
        do_access(w, access);
    for (size_t i = 0; i < access->result_count; i++)
        value_set_state(w, access->results[i], KNOWN_BY_DATA);
    const struct ir_buffer *buffer = access->buffer;
    if (buffer->memory != MEMORY_TABLE || value_state(w, access->operands[0]) != KNOWN)
        return;
    int64_t at = value_known(w, access->operands[0]);
    if (at >= 0 && at < buffer->capacity->constant.integer)
        value_set_known(w, access->results[0], buffer->constants[at]);
}

static void set_states(struct walker *w, struct ir_value *const *values, size_t n, enum known state) {
    for (size_t i = 0; i < n; i++)
        value_set_state(w, values[i], state);
}

/* Does the region once, and gives what that took. The caller frees it. */
static struct tally *once(struct walker *w, const struct ir_region *region) {
    struct tally *around = w->tally, *own = w->tally = tally_new(w);
    walk_region(w, region);
    w->tally = around;
    return own;
}

static void walk_if(struct walker *w, const struct ir_instruction *branch) {
    const struct ir_region *taken = value_taken(w, branch);
    if (taken) {
        walk_region(w, taken);
        value_hand_on(w, branch->results, taken->yields.at, branch->result_count);
        return;
    }
    if (IR_PART(branch, branch).is_asked) { /* the other one is of a run that fails */
        walk_region(w, branch->regions[0]);
        value_hand_on(w, branch->results, branch->regions[0]->yields.at, branch->result_count);
        return;
    }
    enum known state = value_state(w, branch->operands[0]);
    w->by_index |= state == KNOWN_BY_INDEX ? BY_INDEX_COUNTS : 0;
    struct tally *yes = once(w, branch->regions[0]), *no = once(w, branch->regions[1]);
    if (IR_PART(branch, branch).is_last) {
        free(w->of_last);
        w->of_last = yes;
    } else if (IR_PART(branch, branch).is_split && state != KNOWN_BY_DATA) {
        tally_add_most(w, w->tally, yes, no);
        free(yes);
    } else {
        tally_add_larger(w, w->tally, yes, no);
        free(yes);
    }
    free(no);
    value_join(w, branch);
}

/* ---- parallel loops ---- */

/* note [tickets] in ir.h: what the mapping adds to each iteration. One thread draws, and tells the others by
   shared memory; before the next one all must have read it. */
static void add_tickets(struct walker *w, const struct ir_instruction *forall) {
    bool is_single = forall->operands[0]->is_constant && forall->operands[0]->constant.integer == 1;
    if (!forall->buffer || is_single || w->target->mapping == TARGET_LOOP)
        return;
    struct amount draws = w->launch->iterations;
    bool has_barrier = target_barrier_at_end(w->target, forall->regions[0]) == TARGET_MEETING_BLOCK;
    struct amount barriers = amount_product(w->arena, w->symbols, draws, amount_number(has_barrier ? 1 : 2));
    add(w, &w->launch->counts[COUNT_BLOCK_BARRIERS], barriers);
    accesses_add_ticket(w, forall->buffer, draws);
}

/* A loop of the threads also within others whose index is not known: often only the thread decides. */
static bool may_go_turn_by_turn(const struct walker *w, bool is_of_threads) {
    bool is_known = w->unknown_indices == 0 || (is_of_threads && w->by_index & BY_INDEX_COUNTS);
    uint64_t left = w->work < w->work_end ? w->work_end - w->work : 0;
    return w->by_index && is_known && left > (w->by_index & BY_INDEX_COUNTS ? 0 : MOST_WORK - MOST_WORK_FOR_UNITS);
}

static bool is_short(const struct walker *w, const struct tally *tally) {
    for (int i = 0; i < COUNT_KINDS; i++)
        if (tally->counts[i].count > MOST_TERMS)
            return false;
    for (size_t i = 0; i < w->instructions.count; i++)
        if (tally->accesses[i].count > MOST_TERMS || tally->units[i].count > MOST_TERMS)
            return false;
    return true;
}

static void tally_add_units(struct walker *w, struct tally *to, const struct tally *what) {
    for (size_t i = 0; i < w->instructions.count; i++)
        add(w, &to->units[i], what->units[i]);
}

/* The work that there is room for in one loop. */
static uint64_t room_for_loop(const struct walker *w) {
    return w->work < w->work_end ? (w->work_end - w->work) / 2 : 0;
}

/* How many turns there is room for, each of so many instructions, where there is none for all. */
static int64_t turns_to_look_at(const struct walker *w, int64_t turns, uint64_t each, bool is_for_units) {
    uint64_t room = room_for_loop(w) / (each + 1), most = is_for_units ? FEW_TURNS : MOST_TURNS;
    int64_t some = (int64_t)(room < FEW_TURNS ? FEW_TURNS : room > most ? most : room);
    return some < turns ? some : turns;
}

/* The amount of some of so many turns, which stand for the others. `one` is that of a turn whose index is not known,
   and that of each if it is exact, and has no name, which may stand for the index. */
static struct amount of_all_turns(struct walker *w, struct amount some, struct amount one, double turns) {
    if (amount_is_number(one) && !one.is_most && !one.is_about)
        return amount_product(w->arena, w->symbols, one, amount_number(turns));
    some.constant = round(some.constant);
    return some;
}

static void add_turns(struct walker *w, const struct tally *some, const struct tally *one, double turns) {
    for (int i = 0; i < COUNT_KINDS; i++)
        add(w, &w->tally->counts[i], of_all_turns(w, some->counts[i], one->counts[i], turns));
    for (size_t i = 0; i < w->instructions.count; i++)
        add(w, &w->tally->accesses[i], of_all_turns(w, some->accesses[i], one->accesses[i], turns));
    for (size_t i = 0; i < w->instructions.count; i++) {
        struct amount units = some->units[i];
        units.constant = round(units.constant);
        add(w, &w->tally->units[i], units);
    }
}

/* Adds up the turns that are looked at: all, or the first, the last and some between, which stand for the others.
   False: that says too much, or the turns of a loop around decide, too. Where `each` is there and not all fit the room,
   it becomes the work of the first, and the others are left out. */
static bool look_at_turns(struct walker *w, const struct ir_instruction *forall, int64_t turns, int64_t looked_at,
                          struct tally *all, uint64_t *each) {
    bool is_part = looked_at != turns, good = true, is_of_threads = forall->inner == LEVEL_THREAD;
    uint64_t begin = w->work, room = room_for_loop(w), first = 0;
    for (int64_t i = 0; i < looked_at && good; i++) {
        bool is_end = i == looked_at - 1;
        uint64_t before = w->work;
        int64_t turn = !is_part || i == 0 ? i
                       : is_end           ? turns - 1
                                : 1 + (int64_t)((double)(i - 1) * (double)(turns - 2) / (double)(looked_at - 2));
        value_set_known(w, forall->parameters[0], (union scalar){.integer = turn});
        w->warp += i == 0 || turn % REPORT_LANES == 0 || is_part;
        struct tally *this = once(w, forall->regions[0]);
        struct amount times =
            amount_number(!is_part || i == 0 || is_end ? 1 : (double)(turns - 2) / (double)(looked_at - 2));
        times.is_about = is_part;
        tally_add(w, all, this, times);
        good = is_short(w, all) && !(w->unknown_indices && w->by_index & BY_INDEX_COUNTS);
        free(this);
        uint64_t done = w->work - begin, last = w->work - before;
        first = i == 0 ? done : first;
        /* The first of a thread tells how long all take. The second of a block may be short by note [loops again], and
           those after it long. */
        bool is_long = is_of_threads ? i == 0 && done * (uint64_t)turns > room
                                     : done > room || (i == 1 && last * (uint64_t)turns > room);
        if (each && !is_end && is_long) {
            *each = first;
            break;
        }
    }
    return good;
}

/* Each turn by itself, or some of very many. `one`: a turn whose index is not known, or NULL; `is_for_units`: it
   differs from the others in its units alone. False as look_at_turns says. */
static bool go_turn_by_turn(struct walker *w, const struct ir_instruction *forall, int64_t turns,
                            const struct tally *one, bool is_for_units) {
    int64_t looked_at = turns;
    struct tally *all = tally_new(w);
    bool was_sampled = w->is_sampled;
    uint64_t each = 0;
    w->by_index = 0;
    bool good = look_at_turns(w, forall, turns, turns, all, &each);
    if (good && each) {
        looked_at = turns_to_look_at(w, turns, each, is_for_units);
        free(all);
        all = tally_new(w);
        w->is_sampled |= looked_at != turns;
        good = look_at_turns(w, forall, turns, looked_at, all, NULL);
    }
    if (good && is_for_units) {
        tally_add_apart(w, w->tally, one, amount_number((double)turns), amount_number(0));
        tally_add_units(w, w->tally, all);
    } else if (good && one && looked_at != turns) {
        add_turns(w, all, one, (double)turns);
    } else if (good) {
        tally_add(w, w->tally, all, amount_number(1));
    }
    w->is_sampled = was_sampled;
    free(all);
    return good;
}

/* The branch between two ranges of a launch's blocks, note [ranges of blocks] in ir/passes/join_launches.c; or NULL. */
static const struct ir_instruction *ranges_in(const struct ir_region *region) {
    size_t count = region->instructions.count;
    const struct ir_instruction *branch = count ? region->instructions.at[count - 1] : NULL;
    return branch && branch->kind == IR_IF && IR_PART(branch, branch).is_ranges ? branch : NULL;
}

/* So many turns of the region, whose ranges have a tally each, and whose tiles have one of all of them. */
static void walk_ranges(struct walker *w, const struct ir_region *region, struct amount turns) {
    const struct ir_instruction *branch = ranges_in(region);
    if (!branch) {
        struct tally *before = w->of_tiles, *tiles = w->of_tiles = tally_new(w), *one = once(w, region);
        w->of_tiles = before;
        tally_add(w, w->tally, one, turns);
        tally_add(w, w->tally, tiles, amount_number(1));
        free(one);
        free(tiles);
        return;
    }
    struct amount first = value_count(w, branch->operands[0]->definition->operands[1]);
    struct amount later = amount_sum(w->arena, turns, amount_product(w->arena, w->symbols, first, amount_number(-1)));
    struct amount tests = amount_product(w->arena, w->symbols, turns, amount_number(width(w, region)));
    add(w, &w->tally->counts[COUNT_INTEGER], tests);
    walk_ranges(w, branch->regions[0], first);
    const struct ir_region *rest = branch->regions[1]; /* begins with the shift to the second range's first */
    for (size_t i = 0; i < rest->instructions.count && ranges_in(rest); i++)
        for (size_t k = 0; k < rest->instructions.at[i]->result_count; k++)
            value_set_state(w, rest->instructions.at[i]->results[k], KNOWN_BY_INDEX);
    walk_ranges(w, branch->regions[1], later);
}

static void go_through(struct walker *w, const struct ir_instruction *forall) {
    const struct ir_value *limit = forall->operands[0];
    unsigned was_by_index = w->by_index;
    if (w->of_tiles && IR_PART(forall, loop).all) {
        value_set_state(w, forall->parameters[0], KNOWN_BY_INDEX);
        struct tally *of_all = w->of_tiles;
        bool has_lanes = forall->inner == LEVEL_THREAD;
        struct amount all = value_count(w, IR_PART(forall, loop).all);
        if (has_lanes) {
            w->threads = forall;
            w->lanes = all;
        }
        struct tally *one = once(w, forall->regions[0]);
        tally_add_apart(w, of_all, one, all, has_lanes ? amount_number(1) : all);
        if (has_lanes)
            w->threads = NULL;
        free(one);
        return;
    }
    w->by_index |= value_state(w, limit) == KNOWN_BY_INDEX ? BY_INDEX_COUNTS : 0;
    unsigned around = w->by_index;
    struct amount turns = value_count(w, limit);
    if (amount_is_zero(turns))
        return;
    if (ranges_in(forall->regions[0])) {
        w->by_index = 0;
        value_set_state(w, forall->parameters[0], KNOWN_BY_INDEX);
        w->unknown_indices++;
        struct tally *around = w->tally, *all = w->tally = tally_new(w);
        walk_ranges(w, forall->regions[0], turns);
        w->tally = around;
        w->unknown_indices--;
        if (amount_is_number(turns) && may_go_turn_by_turn(w, false) &&
            go_turn_by_turn(w, forall, (int64_t)turns.constant, NULL, false))
            w->by_index = was_by_index;
        else
            tally_add(w, w->tally, all, amount_number(1));
        free(all);
        return;
    }
    bool is_of_threads = forall->inner == LEVEL_THREAD;
    if (is_of_threads) {
        w->threads = forall;
        w->lanes = turns;
    }
    w->by_index = 0;
    value_set_state(w, forall->parameters[0], KNOWN_BY_INDEX);
    w->unknown_indices += !is_of_threads;
    struct tally *one = once(w, forall->regions[0]);
    w->unknown_indices -= !is_of_threads;
    unsigned of_one = w->by_index;
    bool has_counts = of_one & BY_INDEX_COUNTS;
    bool is_known = amount_is_number(turns) && value_state(w, limit) == KNOWN;
    bool goes = is_known && may_go_turn_by_turn(w, is_of_threads) && (has_counts || !is_of_threads);
    w->is_by_lane = goes && is_of_threads;
    if (goes && go_turn_by_turn(w, forall, (int64_t)turns.constant, one, !has_counts)) {
        w->by_index = around | (w->unknown_indices ? w->by_index : 0);
    } else {
        tally_add_apart(w, w->tally, one, turns, is_of_threads ? amount_number(1) : turns);
        w->by_index = of_one | around;
    }
    w->is_by_lane = false;
    if (is_of_threads)
        w->threads = NULL;
    free(one);
}

static void walk_forall(struct walker *w, const struct ir_instruction *forall) {
    struct kept_loop *kept = forall == w->forall || w->of_tiles ? NULL : again_loop(w, forall);
    if (!kept) {
        go_through(w, forall);
        return;
    }
    if (again_add(w, kept))
        return;
    struct tally *around = w->tally, *own = w->tally = tally_new(w);
    unsigned was_by_index = w->by_index;
    w->by_index = 0;
    go_through(w, forall);
    w->tally = around;
    tally_add(w, w->tally, own, amount_number(1));
    if (!w->by_index)
        again_keep(w, kept, own);
    w->by_index |= was_by_index;
    free(own);
}

/* ---- sequential loops ---- */

static bool all_known(const struct walker *w, struct ir_value *const *values, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (value_state(w, values[i]) != KNOWN)
            return false;
    return true;
}

/* Is what it carries only data? */
static bool carries_numbers(const struct ir_instruction *loop) {
    for (size_t i = 0; i < loop->result_count; i++)
        if (!base_info[loop->results[i]->base].is_floating)
            return true;
    return false;
}

/* A number for where the walk is: of that turn of a loop, which it comes to by `path`. */
static uint64_t path_of_turn(uint64_t path, const struct ir_instruction *loop, int64_t turn) {
    uint32_t id = loop->parameter_count ? loop->parameters[0]->id : 0;
    return (path ^ (uint64_t)turn ^ (uint64_t)id << 32) * UINT64_C(0x9e3779b97f4a7c15);
}

static void walk_for(struct walker *w, const struct ir_instruction *loop) {
    size_t carried = loop->result_count;
    bool is_known = value_state(w, loop->operands[0]) == KNOWN;
    int64_t limit = is_known ? value_known(w, loop->operands[0]) : 0;
    w->by_index |= value_state(w, loop->operands[0]) == KNOWN_BY_INDEX ? BY_INDEX_COUNTS : 0;
    if (is_known && limit <= 0) {
        value_hand_on(w, loop->results, loop->operands + 1, carried);
        return;
    }
    unsigned was_by_index = w->by_index;
    bool is_state_known = all_known(w, loop->operands + 1, carried);
    bool is_small = is_known && limit <= MOST_TURNS && is_state_known && carries_numbers(loop);
    struct tally *one = NULL;
    if (!is_small) {
        value_set_state(w, loop->parameters[0], KNOWN_BY_INDEX);
        set_states(w, loop->parameters + 1, carried, is_state_known ? KNOWN_BY_INDEX : KNOWN_BY_DATA);
        w->by_index = 0;
        w->unknown_indices++;
        one = once(w, loop->regions[0]);
        w->unknown_indices--;
    }
    bool goes = is_small || (is_known && limit <= MOST_STEPS && may_go_turn_by_turn(w, false));
    if (goes) {
        w->by_index = was_by_index;
        value_hand_on(w, loop->parameters + 1, loop->operands + 1, carried);
        uint64_t path = w->path;
        for (int64_t i = 0; i < limit; i++) {
            bool is_last = w->work >= w->work_end; /* it stands for those that would follow */
            struct amount times = amount_number(is_last ? (double)(limit - i) : 1);
            times.is_about = is_last && limit - i > 1;
            value_set_known(w, loop->parameters[0], (union scalar){.integer = i});
            w->path = path_of_turn(path, loop, i);
            struct tally *turn = once(w, loop->regions[0]);
            tally_add(w, w->tally, turn, times);
            free(turn);
            value_hand_on(w, loop->parameters + 1, loop->regions[0]->yields.at, carried);
            if (is_last)
                break;
        }
        w->path = path;
        value_hand_on(w, loop->results, loop->parameters + 1, carried);
    } else {
        tally_add(w, w->tally, one, value_count(w, loop->operands[0]));
        w->by_index |= was_by_index;
        set_states(w, loop->results, carried, KNOWN_BY_DATA);
    }
    free(one);
}

/* Walks turn by turn while the condition is known; the rest counts as a number of turns with a name. */
static void walk_while(struct walker *w, const struct ir_instruction *loop) {
    size_t carried = loop->result_count;
    const struct ir_region *test = loop->regions[0], *body = loop->regions[1];
    uint64_t path = w->path;
    value_hand_on(w, loop->parameters, loop->operands, carried);
    for (int64_t i = 0; i < MOST_STEPS && w->work < w->work_end; i++) {
        w->path = path_of_turn(path, loop, i);
        struct tally *own = once(w, test);
        enum known state = value_state(w, test->yields.at[0]);
        if (state == KNOWN)
            tally_add(w, w->tally, own, amount_number(1));
        free(own);
        if (state != KNOWN) {
            w->by_index |= state == KNOWN_BY_INDEX ? BY_INDEX_COUNTS : 0;
            break;
        }
        if (!value_known(w, test->yields.at[0])) {
            w->path = path;
            value_hand_on(w, loop->results, loop->parameters, carried);
            return;
        }
        walk_region(w, body);
        value_hand_on(w, loop->parameters, body->yields.at, carried);
    }
    w->path = path;
    set_states(w, loop->parameters, carried, KNOWN_BY_DATA);
    w->unknown_indices++;
    struct tally *tests = once(w, test), *turn = once(w, body);
    w->unknown_indices--;
    unsigned line = line_of(w, loop->span);
    const char *meaning = line ? arena_printf(w->arena, "turns of a loop in line %u, for each that does it (value %u)",
                                              line, loop->parameter_count ? loop->parameters[0]->id : 0)
                               : arena_printf(w->arena, "turns of a loop, for each that does it (value %u)",
                                              loop->parameter_count ? loop->parameters[0]->id : 0);
    struct amount turns = amount_name(w->arena, value_name(w, "turns", meaning));
    tally_add(w, w->tally, tests, amount_sum(w->arena, turns, amount_number(1)));
    tally_add(w, w->tally, turn, turns);
    free(tests);
    free(turn);
    set_states(w, loop->results, carried, KNOWN_BY_DATA);
}

static void walk_region(struct walker *w, const struct ir_region *region) {
    const late_loads *late = map_get(w->late, region);
    for (size_t i = 0; late && i < late->count; i++)
        do_access(w, late->at[i]);
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *instruction = region->instructions.at[i];
        w->work++;
        count_barrier(w, target_barrier_before(w->target, instruction));
        switch (instruction->kind) {
        case IR_OPERATION:
            value_operation(w, instruction);
            count_operation(w, instruction);
            break;
        case IR_LOAD:
        case IR_STORE:
        case IR_ATOMIC: access_memory(w, instruction); break;
        case IR_FENCE:
            if (instruction->outer == LEVEL_WARP)
                count(w, COUNT_WARP_BARRIERS, 1.0 / w->kernel->warp_size); /* executed by each lane */
            break;
        case IR_SHUFFLE:
        case IR_MATCH:
        case IR_BALLOT:
            count(w, COUNT_EXCHANGES, width(w, region));
            set_states(w, instruction->results, instruction->result_count, KNOWN_BY_DATA);
            break;
        case IR_MMA:
            count(w, COUNT_PRODUCTS, 1.0 / w->kernel->warp_size); /* executed by each lane */
            set_states(w, instruction->results, instruction->result_count, KNOWN_BY_DATA);
            break;
        case IR_CHECK:
        case IR_ALLOCATE:
        case IR_SWAP: break;
        case IR_FORALL: walk_forall(w, instruction); break;
        case IR_FOR: walk_for(w, instruction); break;
        case IR_WHILE: walk_while(w, instruction); break;
        case IR_IF: walk_if(w, instruction); break;
        }
    }
    count_barrier(w, target_barrier_at_end(w->target, region));
}

/* ---- a launch ---- */

static struct amount shared_bytes(struct walker *w, const struct target_kernel *target) {
    struct amount bytes = amount_number((double)(target->static_shared_bytes + target->dynamic_fixed_bytes));
    for (size_t i = 0; i < target->dynamic.count; i++) {
        const struct target_dynamic *part = &target->dynamic.at[i];
        struct amount size = amount_product(w->arena, w->symbols, value_count(w, part->capacity),
                                            amount_number((double)(part->element_bytes * part->copies)));
        if (amount_is_number(size))
            size.constant = (double)(((int64_t)size.constant + 15) / 16 * 16);
        bytes = amount_sum(w->arena, bytes, size);
    }
    for (size_t i = 0; i < target->parameters.count; i++) {
        const struct target_parameter *part = &target->parameters.at[i];
        if (part->kind == TARGET_PARAMETER_LOCAL)
            bytes = amount_sum(w->arena, bytes,
                               amount_product(w->arena, w->symbols, value_count(w, part->capacity),
                                              amount_number((double)target_element_bytes(part->base))));
    }
    return bytes;
}

void walk_launch(struct walker *w, const struct ir_instruction *forall, struct report_launch *launch) {
    const struct target_kernel *target = target_kernel_of(w->request->program, forall);
    w->target = target;
    w->launch = launch;
    w->forall = forall;
    w->by_index = 0;
    w->unknown_indices = 0;
    w->kept = map_new(w->arena);
    w->work_end = w->work + MOST_WORK < MOST_WORK_OF_ALL ? w->work + MOST_WORK : MOST_WORK_OF_ALL;
    accesses_begin(w, forall->regions[0]);
    lanes_begin(w, forall);
    struct tally *tally = w->tally = tally_new(w);
    launch->name = target->name;
    launch->iterations = value_count(w, forall->operands[0]);
    launch->unit = target->unit;
    launch->threads = (unsigned)target->block_threads;
    launch->turns = (unsigned)(target->turns > 1 ? target->turns : 1);
    launch->shared_bytes = shared_bytes(w, target);
    launch->private_bytes = target->private_bytes;
    launch->reports = target_reports(target);
    launch->line = line_of(w, forall->span);
    double per_block = 1;
    if (target->mapping == TARGET_SIMT && target->unit == LEVEL_THREAD)
        per_block = target->block_threads;
    else if (target->mapping == TARGET_SIMT && target->unit == LEVEL_WARP)
        per_block = target_units(target, w->kernel->has_warps ? LEVEL_WARP : LEVEL_THREAD);
    launch->blocks = value_ceiling(w, launch->iterations, per_block);
    walk_forall(w, forall);
    if (w->of_last)
        tally_add(w, tally, w->of_last, amount_number(1));
    accesses_finish(w, tally);
    for (int i = 0; i < COUNT_KINDS; i++)
        launch->counts[i] = tally->counts[i];
    add_tickets(w, forall);
    w->tally = NULL;
    free(tally);
    free(w->of_last);
    w->of_last = NULL;
}
