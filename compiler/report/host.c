/* The walk through the host's part of a kernel: what it allocates, launches, waits for and reads. */
#include <math.h>
#include <string.h>

#include "report/walker.h"

enum { MOST_UNROLLED = 64 }; /* turns of a loop of the host that are shown one by one */

static void walk_host(struct walker *w, const struct ir_region *region);

static struct report_step *add_step(struct walker *w, enum report_step_kind kind, struct span span) {
    struct report_step *step = ARENA_NEW(w->arena, struct report_step);
    step->kind = kind;
    step->line = line_of(w, span);
    vec_push(w->arena, w->steps, step);
    return step;
}

/* Goes through a region, whose steps go to `steps`. */
static void walk_into(struct walker *w, report_steps *steps, const struct ir_region *region) {
    report_steps *around = w->steps;
    w->steps = steps;
    walk_host(w, region);
    w->steps = around;
}

static void lose(struct walker *w, struct ir_value *const *values, size_t n) {
    for (size_t i = 0; i < n; i++)
        value_set_state(w, values[i], KNOWN_BY_DATA);
}

static void walk_branch(struct walker *w, const struct ir_instruction *branch) {
    const struct ir_region *taken = value_taken(w, branch);
    if (taken) {
        walk_host(w, taken);
        value_hand_on(w, branch->results, taken->yields.at, branch->result_count);
        return;
    }
    struct report_step step = {.kind = STEP_BRANCH, .line = line_of(w, branch->span)};
    step.text =
        value_state(w, branch->operands[0]) == KNOWN_BY_DATA ? "data say so" : value_text(w, branch->operands[0]);
    walk_into(w, &step.steps, branch->regions[0]);
    walk_into(w, &step.otherwise, branch->regions[1]);
    value_join(w, branch);
    if (step.steps.count + step.otherwise.count)
        *add_step(w, STEP_BRANCH, branch->span) = step;
}

/* A loop of the host, turn by turn as long as it is known whether there is another. */
static void walk_loop(struct walker *w, const struct ir_instruction *loop) {
    bool is_for = loop->kind == IR_FOR;
    size_t skip = is_for ? 1 : 0, carried = loop->result_count;
    const struct ir_region *body = loop->regions[is_for ? 0 : 1];
    struct report_step step = {.kind = STEP_LOOP, .is_unrolled = true};
    int64_t limit = !is_for                                      ? MOST_UNROLLED
                    : value_state(w, loop->operands[0]) == KNOWN ? value_known(w, loop->operands[0])
                                                                 : INT64_MAX;
    value_hand_on(w, loop->parameters + skip, loop->operands + skip, carried);
    bool has_ended = false;
    int64_t turn = 0;
    for (; turn <= MOST_UNROLLED && limit <= MOST_UNROLLED && !has_ended; turn++) {
        if (is_for && turn >= limit) {
            has_ended = true;
            break;
        }
        if (is_for) {
            value_set_known(w, loop->parameters[0], (union scalar){.integer = turn});
        } else {
            report_steps before = step.steps;
            walk_into(w, &step.steps, loop->regions[0]);
            const struct ir_value *more = loop->regions[0]->yields.at[0];
            if (value_state(w, more) != KNOWN) {
                step.steps = before;
                break;
            }
            if (!value_known(w, more)) {
                has_ended = true;
                break;
            }
        }
        walk_into(w, &step.steps, body);
        value_hand_on(w, loop->parameters + skip, body->yields.at, carried);
    }
    step.turns = amount_number((double)turn);
    if (has_ended) {
        value_hand_on(w, loop->results, loop->parameters + skip, carried);
    } else {
        step.is_unrolled = false;
        step.steps = (report_steps){0};
        if (is_for)
            value_set_state(w, loop->parameters[0], KNOWN_BY_INDEX);
        lose(w, loop->parameters + skip, carried);
        unsigned line = line_of(w, loop->span);
        const char *where = line ? arena_printf(w->arena, " in line %u", line) : "";
        uint32_t id = loop->parameter_count ? loop->parameters[0]->id : 0;
        step.turns =
            is_for
                ? value_count(w, loop->operands[0])
                : amount_name(w->arena,
                              value_name(w, "turns",
                                         arena_printf(w->arena, "turns of the host's loop%s (value %u)", where, id)));
        if (!is_for)
            walk_into(w, &step.steps, loop->regions[0]);
        walk_into(w, &step.steps, body);
        lose(w, loop->results, carried);
    }
    if (step.steps.count) {
        step.line = line_of(w, loop->span);
        *add_step(w, STEP_LOOP, loop->span) = step;
    }
}

static struct amount bytes_of(struct walker *w, const struct ir_buffer *buffer, const struct ir_value *count) {
    return amount_product(w->arena, w->symbols, value_count(w, count),
                          amount_number((double)target_element_bytes(buffer->element)));
}

static void walk_host(struct walker *w, const struct ir_region *region) {
    for (size_t i = 0; i < region->instructions.count; i++) {
        const struct ir_instruction *instruction = region->instructions.at[i];
        const struct ir_buffer *buffer = instruction->buffer;
        switch (instruction->kind) {
        case IR_OPERATION: value_operation(w, instruction); break;
        case IR_LOAD:
            value_set_state(w, instruction->results[0], KNOWN_BY_DATA);
            if (buffer->memory == MEMORY_TABLE)
                break;
            struct report_step *read = add_step(w, STEP_READ, instruction->span);
            read->text = buffer_name(w, buffer);
            read->bytes = amount_number((double)target_element_bytes(buffer->element));
            break;
        case IR_ALLOCATE:
            if (buffer->memory != MEMORY_OUTPUT)
                break;
            struct report_step *made = add_step(w, STEP_ALLOCATE, buffer->span);
            made->text = buffer_name(w, buffer);
            made->bytes = bytes_of(w, buffer, buffer->capacity);
            break;
        case IR_SWAP: {
            struct report_step *swap = add_step(w, STEP_SWAP, instruction->span);
            swap->text = buffer_name(w, buffer);
            swap->other = buffer_name(w, IR_PART(instruction, swap).other);
            break;
        }
        case IR_FORALL: {
            struct report_launch *launch = ARENA_NEW(w->arena, struct report_launch);
            walk_launch(w, instruction, launch);
            if (!amount_is_zero(launch->iterations))
                add_step(w, STEP_LAUNCH, instruction->span)->launch = launch;
            break;
        }
        case IR_FOR:
        case IR_WHILE: walk_loop(w, instruction); break;
        case IR_IF: walk_branch(w, instruction); break;
        case IR_CHECK:
        case IR_STORE:
        case IR_ATOMIC:
        case IR_SHUFFLE:
        case IR_MATCH:
        case IR_MMA:
        case IR_BALLOT:
        case IR_FENCE: break;
        }
    }
}

/* ---- totals ---- */

static void add_times(struct walker *w, struct amount *to, struct amount what, struct amount times) {
    *to = amount_sum(w->arena, *to, amount_product(w->arena, w->symbols, what, times));
}

static void add_launch(struct walker *w, struct report_total *total, const struct report_launch *launch,
                       struct amount times) {
    add_times(w, &total->of[TOTAL_LAUNCHES], amount_number(1), times);
    if (launch->reports)
        add_times(w, &total->of[TOTAL_WAITS], amount_number(1), times);
    for (int i = 0; i < COUNT_KINDS; i++)
        add_times(w, &total->of[TOTAL_COUNTS + i], launch->counts[i], times);
    for (size_t i = 0; i < launch->accesses.count; i++) {
        const struct report_access *access = &launch->accesses.at[i];
        enum report_place place = access->array->place;
        if (access->use == REPORT_ATOMIC)
            add_times(w, &total->of[TOTAL_ATOMICS], access->count, times);
        if (place == REPORT_SHARED || place == REPORT_SHARED_WARP)
            add_times(w, &total->of[TOTAL_TURNS], access->units, times);
        if (place != REPORT_GLOBAL)
            continue;
        add_times(w, &total->of[TOTAL_SECTORS], access->units, times);
        struct amount bytes = amount_product(w->arena, w->symbols, access->count, amount_number(access->bytes));
        if (access->use != REPORT_STORE)
            add_times(w, &total->of[TOTAL_READ_BYTES], bytes, times);
        if (access->use != REPORT_LOAD)
            add_times(w, &total->of[TOTAL_WRITTEN_BYTES], bytes, times);
    }
}

static struct report_total total_of(struct walker *w, const report_steps *steps, struct amount times) {
    struct report_total total = {0};
    for (size_t i = 0; i < steps->count; i++) {
        const struct report_step *step = steps->at[i];
        struct report_total one = {0};
        switch (step->kind) {
        case STEP_ALLOCATE:
        case STEP_SWAP: break;
        case STEP_READ: one.of[TOTAL_WAITS] = times; break;
        case STEP_LAUNCH: add_launch(w, &one, step->launch, times); break;
        case STEP_LOOP:
            one = total_of(w, &step->steps,
                           step->is_unrolled ? times : amount_product(w->arena, w->symbols, times, step->turns));
            break;
        case STEP_BRANCH: {
            one = total_of(w, &step->steps, times);
            struct report_total other = total_of(w, &step->otherwise, times);
            for (int k = 0; k < TOTAL_KINDS; k++)
                one.of[k] = amount_larger(w->arena, one.of[k], other.of[k]);
            break;
        }
        }
        for (int k = 0; k < TOTAL_KINDS; k++)
            total.of[k] = amount_sum(w->arena, total.of[k], one.of[k]);
    }
    return total;
}

/* ---- names ---- */

static bool mentions(const char *text, const char *name) {
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.'";
    size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at += length)
        if ((at == text || !strchr(word, at[-1])) && (!at[length] || !strchr(word, at[length])))
            return true;
    return false;
}

static void keep_names_in(struct walker *w, bool *kept, const char *text) {
    for (size_t i = 0; i < w->report->names.count; i++)
        if (!kept[i] && mentions(text, w->report->names.at[i].name)) {
            kept[i] = true;
            keep_names_in(w, kept, w->report->names.at[i].meaning);
        }
}

static void keep_names_of(struct walker *w, bool *kept, const report_steps *steps) {
    for (size_t i = 0; i < steps->count; i++) {
        const struct report_step *step = steps->at[i];
        const struct report_launch *launch = step->launch;
        keep_names_in(w, kept, amount_text(w->arena, step->bytes));
        keep_names_in(w, kept, amount_text(w->arena, step->turns));
        keep_names_in(w, kept, step->text ? step->text : "");
        keep_names_of(w, kept, &step->steps);
        keep_names_of(w, kept, &step->otherwise);
        if (!launch)
            continue;
        keep_names_in(w, kept, amount_text(w->arena, launch->iterations));
        keep_names_in(w, kept, amount_text(w->arena, launch->blocks));
        keep_names_in(w, kept, amount_text(w->arena, launch->shared_bytes));
        for (int k = 0; k < COUNT_KINDS; k++)
            keep_names_in(w, kept, amount_text(w->arena, launch->counts[k]));
        for (size_t k = 0; k < launch->accesses.count; k++)
            keep_names_in(w, kept, amount_text(w->arena, launch->accesses.at[k].count));
        for (size_t k = 0; k < launch->arrays.count; k++)
            keep_names_in(w, kept, amount_text(w->arena, launch->arrays.at[k]->elements));
    }
}

/* Names that no amount has in it are left out. */
static void keep_names(struct walker *w) {
    struct report *report = w->report;
    bool *kept = ARENA_ARRAY(w->arena, bool, report->names.count + 1);
    keep_names_of(w, kept, &report->steps);
    for (size_t i = 0; i < report->results.count; i++)
        for (size_t k = 0; k < report->results.at[i].rank; k++)
            keep_names_in(w, kept, amount_text(w->arena, report->results.at[i].extents[k]));
    size_t count = 0;
    for (size_t i = 0; i < report->names.count; i++)
        if (kept[i])
            report->names.at[count++] = report->names.at[i];
    report->names.count = count;
}

/* ---- sizes ---- */

static struct report_size *size_named(const struct report_request *request, const char *name) {
    for (size_t i = 0; i < request->size_count; i++)
        if (strcmp(request->sizes[i].name, name) == 0)
            return &request->sizes[i];
    return NULL;
}

static bool has_parameter(const struct ir_kernel *kernel, const char *name) {
    for (size_t i = 0; i < kernel->parameters.count; i++)
        if (strcmp(kernel->parameters.at[i].name, name) == 0)
            return true;
    return false;
}

/* How many dimensions the arrays of an argument have. */
static size_t rank_of(const struct ir_kernel *kernel, size_t argument) {
    size_t rank = 0;
    for (size_t i = 0; i < kernel->parameters.count; i++)
        rank += kernel->parameters.at[i].kind == IR_PARAMETER_LENGTH && kernel->parameters.at[i].argument == argument;
    return rank;
}

/* A length is an int from 0, another parameter what its type holds. */
static bool fits(double given, bool is_length, enum base base) {
    const struct base_info *info = &base_info[base];
    double end = is_length ? 0x1p31 : info->is_integer ? ldexp(1, info->is_signed ? info->bits - 1 : info->bits) : 2;
    double least = !is_length && info->is_integer && info->is_signed ? -end : 0;
    return info->is_floating || (given == floor(given) && least <= given && given < fmin(end, 0x1p63));
}

/* A length by its own name, or its array's, or as `n`, which every length is that has no other size, unless a parameter
   is called so. */
static void set_sizes(struct walker *w) {
    const struct ir_kernel *kernel = w->kernel;
    for (size_t i = 0; i < kernel->parameters.count; i++) {
        const struct ir_parameter *parameter = &kernel->parameters.at[i];
        if (parameter->kind == IR_PARAMETER_BUFFER)
            continue;
        bool is_length = parameter->kind == IR_PARAMETER_LENGTH;
        size_t which = 0, rank = 1;
        struct report_size *size = size_named(w->request, parameter->name);
        for (size_t k = i; is_length && !size && k < kernel->parameters.count; k++)
            if (kernel->parameters.at[k].buffer && kernel->parameters.at[k].argument == parameter->argument) {
                size = size_named(w->request, kernel->parameters.at[k].name);
                which = (size_t)parameter->dimension;
                rank = rank_of(kernel, parameter->argument);
                break;
            }
        if (is_length && !size && !has_parameter(kernel, "n")) {
            size = size_named(w->request, "n");
            which = 0;
            rank = 1;
        }
        value_set_state(w, parameter->value, KNOWN_BY_SIZE);
        if (!size)
            continue;
        double given = size->extents[which];
        if (size->count != rank || !fits(given, is_length, parameter->value->base)) {
            size->misfits = true;
            continue;
        }
        size->is_used = true;
        union scalar scalar = {.integer = (int64_t)given};
        if (base_info[parameter->value->base].is_floating)
            scalar.floating = given;
        value_set_known(w, parameter->value, scalar);
    }
}

/* Has a result that an int counts more elements, by the extents that are known? */
static bool is_large(const struct walker *w, const struct ir_result *result) {
    double elements = 1;
    for (size_t i = 0; result->is_array && i < result->rank; i++)
        if (value_state(w, result->extents[i]) == KNOWN)
            elements *= (double)value_known(w, result->extents[i]);
    return elements > INT32_MAX && result->value->base == BASE_I32;
}

static struct report_result result_of(struct walker *w, const struct ir_result *from) {
    struct report_result result = {.base = from->is_array ? from->buffer->element : from->value->base,
                                   .rank = from->is_array ? from->rank : 0};
    for (size_t i = 0; i < result.rank; i++)
        result.extents[i] = value_count(w, from->extents[i]);
    return result;
}

struct report *report_of(const struct report_request *request) {
    const struct ir_kernel *kernel = request->program->kernel;
    struct report *report = ARENA_NEW(request->arena, struct report);
    struct walker w = {.arena = request->arena,
                       .request = request,
                       .kernel = kernel,
                       .report = report,
                       .symbols = symbols_new(request->arena),
                       .values = ARENA_ARRAY(request->arena, union scalar, kernel->value_count + 1),
                       .states = ARENA_ARRAY(request->arena, uint8_t, kernel->value_count + 1),
                       .buffer_names = map_new(request->arena),
                       .used_names = map_new(request->arena),
                       .rests = map_new(request->arena),
                       .homes = ARENA_ARRAY(request->arena, const struct ir_region *, kernel->value_count + 1),
                       .steps = &report->steps};
    report->kernel = kernel;
    for (size_t i = 0; i < kernel->parameters.count; i++) { /* these keep their names */
        if (kernel->parameters.at[i].value && kernel->parameters.at[i].value->name)
            map_set(w.used_names, symbol_of(w.symbols, kernel->parameters.at[i].value->name), (void *)(uintptr_t)1);
        if (kernel->parameters.at[i].buffer)
            (void)buffer_name(&w, kernel->parameters.at[i].buffer);
    }
    set_sizes(&w);
    walk_host(&w, kernel->body);
    for (size_t i = 0; i < kernel->results.count; i++) {
        report->is_large |= is_large(&w, &kernel->results.at[i]);
        vec_push(w.arena, &report->results, result_of(&w, &kernel->results.at[i]));
    }
    report->total = total_of(&w, &report->steps, amount_number(1));
    keep_names(&w);
    return report;
}

/* ---- updates ---- */

/* Where the program uses what the prelude or the library reads. */
static unsigned line_of_use(const struct sources *sources, const struct ir_instruction *use) {
    struct place place;
    for (; use; use = use->region->owner)
        if (use->span.end && place_of(sources, use->span.begin, &place) && !place.source->is_ours)
            return place.line;
    return 0;
}

struct report_update report_update_of(const struct ir_kernel *kernel, size_t index, const struct sources *sources) {
    static const char *const texts[] = {
        [UPDATE_IN_PLACE] = "in place: it costs its pairs",
        [UPDATE_COPIES_USED] = "copies its array, as what the array was before is used afterwards",
        [UPDATE_COPIES_RESULT] = "copies its array, as what the array was before is a result, too",
        [UPDATE_COPIES_APART] = "copies its array, as it is made within a step, apart from what the loop carries",
        [UPDATE_COPIES_WORDS] = "copies its array, as the components of an element change together, packed into words",
        [UPDATE_COPIES_NARROW] = "copies its array, as its elements have less than 32 bits, and are words meanwhile",
        [UPDATE_COPIES_MANY] = "copies its array, as its pairs read it, and nothing bounds their number",
        [UPDATE_COPIES_FEW] = "copies its array, of fewer places than there are pairs, several times over",
        [UPDATE_COPIES_BRANCH] = "copies its array, as it is done in one branch only",
        [UPDATE_COPIES_INPUT] = "copies its array, which is a parameter of the kernel: those are never written",
        [UPDATE_COPIES_ROOM] = "copies its array, which has another size than the new one",
    };
    const struct ir_update *update = &kernel->updated.at[index];
    struct place place;
    bool is_known = update->update.end && place_of(sources, update->update.begin, &place) && !place.source->is_ours;
    return (struct report_update){.is_in_place = update->kind == UPDATE_IN_PLACE,
                                  .line = is_known ? place.line : 0,
                                  .use_line = line_of_use(sources, update->use),
                                  .text = texts[update->kind]};
}

struct amount report_most_shared(struct arena *arena, const report_steps *steps) {
    struct amount most = {0};
    for (size_t i = 0; i < steps->count; i++) {
        const struct report_step *step = steps->at[i];
        struct amount within[] = {step->launch ? step->launch->shared_bytes : amount_number(0),
                                  report_most_shared(arena, &step->steps), report_most_shared(arena, &step->otherwise)};
        for (size_t k = 0; k < sizeof within / sizeof *within; k++) {
            bool are_numbers = amount_is_number(most) && amount_is_number(within[k]);
            if (are_numbers && within[k].constant > most.constant)
                most = within[k];
            else if (!are_numbers)
                most = amount_larger(arena, most, within[k]);
        }
    }
    return most;
}
