/* A report as data; docs/report.md has the members. */
#include "report/report.h"

struct json_writer {
    struct arena *arena;
    yyjson_mut_doc *doc;
    const struct report_heading *heading;
};

/* {"text": …, "number": … or null, "exact": …} */
static yyjson_mut_val *amount(struct json_writer *w, struct amount amount) {
    yyjson_mut_val *object = yyjson_mut_obj(w->doc);
    json_add_text(w->doc, w->arena, object, "text", amount_text(w->arena, amount));
    if (amount_is_number(amount))
        yyjson_mut_obj_add_real(w->doc, object, "number", amount.constant);
    else
        yyjson_mut_obj_add_null(w->doc, object, "number");
    yyjson_mut_obj_add_bool(w->doc, object, "exact", !amount.is_most && !amount.is_about);
    return object;
}

static void add_amount(struct json_writer *w, yyjson_mut_val *to, const char *key, struct amount value) {
    yyjson_mut_obj_add_val(w->doc, to, key, amount(w, value));
}

static void add_line(struct json_writer *w, yyjson_mut_val *to, const char *key, unsigned line) {
    if (line)
        yyjson_mut_obj_add_uint(w->doc, to, key, line);
    else
        yyjson_mut_obj_add_null(w->doc, to, key);
}

static void add_counts(struct json_writer *w, yyjson_mut_val *to, const struct amount *counts) {
    for (int i = 0; i < COUNT_KINDS; i++)
        add_amount(w, to, report_count_names[i], counts[i]);
}

static void add_estimate(struct json_writer *w, yyjson_mut_val *to, const struct report_launch *launch) {
    struct report_estimate e;
    if (!w->heading->device || !report_estimate(launch, w->heading->device, &e)) {
        yyjson_mut_obj_add_null(w->doc, to, "estimate");
        return;
    }
    yyjson_mut_val *object = json_add_object(w->doc, to, "estimate");
    yyjson_mut_obj_add_real(w->doc, object, "microseconds", e.microseconds);
    json_add_text(w->doc, w->arena, object, "bound", e.bound);
    yyjson_mut_obj_add_real(w->doc, object, "memory_us", e.memory_us);
    yyjson_mut_obj_add_real(w->doc, object, "operations_us", e.operations_us);
    yyjson_mut_obj_add_real(w->doc, object, "shared_us", e.shared_us);
    yyjson_mut_obj_add_real(w->doc, object, "launch_us", e.launch_us);
    yyjson_mut_obj_add_real(w->doc, object, "moved_bytes", e.moved_bytes);
    yyjson_mut_obj_add_real(w->doc, object, "blocks_together", e.blocks_together);
    yyjson_mut_obj_add_real(w->doc, object, "occupancy", e.occupancy);
    json_add_text(w->doc, w->arena, object, "held_by", e.held_by);
}

static void add_launch(struct json_writer *w, yyjson_mut_val *to, const struct report_launch *launch) {
    json_add_text(w->doc, w->arena, to, "name", launch->name);
    json_add_text(w->doc, w->arena, to, "unit", level_names[launch->unit]);
    add_amount(w, to, "iterations", launch->iterations);
    add_amount(w, to, "blocks", launch->blocks);
    yyjson_mut_obj_add_uint(w->doc, to, "threads", launch->threads);
    yyjson_mut_obj_add_uint(w->doc, to, "turns", launch->turns);
    add_amount(w, to, "shared_bytes", launch->shared_bytes);
    yyjson_mut_obj_add_sint(w->doc, to, "private_bytes", launch->private_bytes);
    yyjson_mut_obj_add_bool(w->doc, to, "reports", launch->reports);
    yyjson_mut_val *arrays = json_add_array(w->doc, to, "arrays");
    for (size_t i = 0; i < launch->arrays.count; i++) {
        const struct report_array *array = launch->arrays.at[i];
        yyjson_mut_val *object = yyjson_mut_arr_add_obj(w->doc, arrays);
        json_add_text(w->doc, w->arena, object, "name", array->name);
        json_add_text(w->doc, w->arena, object, "memory", report_place_names[array->place]);
        json_add_text(w->doc, w->arena, object, "type", base_info[array->element].name);
        add_amount(w, object, "elements", array->elements);
    }
    yyjson_mut_val *accesses = json_add_array(w->doc, to, "accesses");
    for (size_t i = 0; i < launch->accesses.count; i++) {
        const struct report_access *access = &launch->accesses.at[i];
        yyjson_mut_val *object = yyjson_mut_arr_add_obj(w->doc, accesses);
        json_add_text(w->doc, w->arena, object, "array", access->array->name);
        json_add_text(w->doc, w->arena, object, "memory", report_place_names[access->array->place]);
        json_add_text(w->doc, w->arena, object, "use", report_use_names[access->use]);
        yyjson_mut_obj_add_uint(w->doc, object, "bytes", access->bytes);
        add_amount(w, object, "count", access->count);
        add_amount(w, object, "units", access->units);
        json_add_text(w->doc, w->arena, object, "pattern", report_pattern_names[access->pattern]);
        yyjson_mut_obj_add_sint(w->doc, object, "stride", access->stride);
        add_line(w, object, "line", access->line);
    }
    add_counts(w, json_add_object(w->doc, to, "counts"), launch->counts);
    add_estimate(w, to, launch);
}

static void add_steps(struct json_writer *w, yyjson_mut_val *to, const char *key, const report_steps *steps) {
    static const char *const kinds[] = {"allocate", "launch", "read", "swap", "loop", "branch"};
    yyjson_mut_val *array = json_add_array(w->doc, to, key);
    for (size_t i = 0; i < steps->count; i++) {
        const struct report_step *step = steps->at[i];
        yyjson_mut_val *object = yyjson_mut_arr_add_obj(w->doc, array);
        json_add_text(w->doc, w->arena, object, "kind", kinds[step->kind]);
        add_line(w, object, "line", step->line);
        switch (step->kind) {
        case STEP_ALLOCATE:
        case STEP_READ:
            json_add_text(w->doc, w->arena, object, "array", step->text);
            add_amount(w, object, "bytes", step->bytes);
            break;
        case STEP_SWAP:
            json_add_text(w->doc, w->arena, object, "array", step->text);
            json_add_text(w->doc, w->arena, object, "other", step->other);
            break;
        case STEP_LAUNCH: add_launch(w, object, step->launch); break;
        case STEP_LOOP:
            add_amount(w, object, "turns", step->turns);
            yyjson_mut_obj_add_bool(w->doc, object, "unrolled", step->is_unrolled);
            add_steps(w, object, "steps", &step->steps);
            break;
        case STEP_BRANCH:
            json_add_text(w->doc, w->arena, object, "condition", step->text);
            add_steps(w, object, "then", &step->steps);
            add_steps(w, object, "else", &step->otherwise);
            break;
        }
    }
}

/* Adds the parameters whose sizes can be given. */
static void add_sizes_wanted(struct json_writer *w, yyjson_mut_val *to, const struct ir_kernel *kernel) {
    yyjson_mut_val *all = json_add_array(w->doc, to, "parameters");
    for (size_t i = 0; i < kernel->parameters.count; i++) {
        const struct ir_parameter *parameter = &kernel->parameters.at[i];
        if (parameter->kind == IR_PARAMETER_BUFFER)
            continue;
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(w->doc, all);
        json_add_text(w->doc, w->arena, one, "name", parameter->name);
        yyjson_mut_obj_add_uint(w->doc, one, "argument", parameter->argument);
        if (parameter->kind == IR_PARAMETER_LENGTH)
            yyjson_mut_obj_add_int(w->doc, one, "dimension", parameter->dimension);
        else
            yyjson_mut_obj_add_null(w->doc, one, "dimension");
        json_add_text(w->doc, w->arena, one, "type", base_info[parameter->value->base].name);
    }
}

static void add_results(struct json_writer *w, yyjson_mut_val *to, const struct report *report) {
    yyjson_mut_val *all = json_add_array(w->doc, to, "results");
    for (size_t i = 0; i < report->results.count; i++) {
        const struct report_result *result = &report->results.at[i];
        yyjson_mut_val *one = yyjson_mut_arr_add_obj(w->doc, all);
        json_add_text(w->doc, w->arena, one, "type", base_info[result->base].name);
        yyjson_mut_val *extents = json_add_array(w->doc, one, "extents");
        for (size_t k = 0; k < result->rank; k++)
            yyjson_mut_arr_append(extents, amount(w, result->extents[k]));
    }
}

static void add_kernel(struct json_writer *w, yyjson_mut_val *to, const struct report *report) {
    const struct ir_kernel *kernel = report->kernel;
    json_add_text(w->doc, w->arena, to, "name", kernel->name->text);
    json_add_text(w->doc, w->arena, to, "type", report->type);
    yyjson_mut_obj_add_sint(w->doc, to, "block_size", kernel->block_size);
    yyjson_mut_obj_add_sint(w->doc, to, "warp_size", kernel->warp_size);
    add_sizes_wanted(w, to, kernel);
    add_results(w, to, report);
    yyjson_mut_val *updates = json_add_array(w->doc, to, "updates");
    for (size_t i = 0; i < kernel->updated.count; i++) {
        struct report_update update = report_update_of(kernel, i, w->heading->sources);
        yyjson_mut_val *object = yyjson_mut_arr_add_obj(w->doc, updates);
        yyjson_mut_obj_add_bool(w->doc, object, "in_place", update.is_in_place);
        add_line(w, object, "line", update.line);
        add_line(w, object, "use_line", update.use_line);
        json_add_text(w->doc, w->arena, object, "text", update.text);
    }
    add_steps(w, to, "steps", &report->steps);
    yyjson_mut_val *total = json_add_object(w->doc, to, "total");
    add_amount(w, total, "launches", report->total.of[TOTAL_LAUNCHES]);
    add_amount(w, total, "waits", report->total.of[TOTAL_WAITS]);
    add_amount(w, total, "read_bytes", report->total.of[TOTAL_READ_BYTES]);
    add_amount(w, total, "written_bytes", report->total.of[TOTAL_WRITTEN_BYTES]);
    add_amount(w, total, "sectors", report->total.of[TOTAL_SECTORS]);
    add_amount(w, total, "turns", report->total.of[TOTAL_TURNS]);
    add_amount(w, total, "atomics", report->total.of[TOTAL_ATOMICS]);
    add_amount(w, total, "shared_bytes", report_most_shared(w->arena, &report->steps));
    add_counts(w, total, report->total.of + TOTAL_COUNTS);
    yyjson_mut_val *names = json_add_array(w->doc, to, "names");
    for (size_t i = 0; i < report->names.count; i++) {
        yyjson_mut_val *object = yyjson_mut_arr_add_obj(w->doc, names);
        json_add_text(w->doc, w->arena, object, "name", report->names.at[i].name);
        json_add_text(w->doc, w->arena, object, "meaning", report->names.at[i].meaning);
    }
}

const char *report_json(struct arena *arena, struct report *const *reports, size_t count,
                        const struct report_heading *heading) {
    struct json_writer w = {arena, json_new(arena), heading};
    yyjson_mut_val *root = yyjson_mut_obj(w.doc);
    yyjson_mut_doc_set_root(w.doc, root);
    json_add_text(w.doc, arena, root, "format", "fclc report");
    yyjson_mut_obj_add_uint(w.doc, root, "version", 1);
    json_add_text(w.doc, arena, root, "compiler", heading->version);
    json_add_text(w.doc, arena, root, "file", heading->file);
    json_add_text(w.doc, arena, root, "target", heading->target);
    yyjson_mut_val *sizes = json_add_object(w.doc, root, "sizes");
    for (size_t i = 0; i < heading->size_count; i++) {
        const struct report_size *size = &heading->sizes[i];
        yyjson_mut_val *extents = yyjson_mut_arr(w.doc);
        for (size_t k = 0; k < size->count; k++)
            yyjson_mut_arr_add_real(w.doc, extents, size->extents[k]);
        yyjson_mut_obj_add(sizes, json_text(w.doc, arena, size->name), extents);
    }
    if (heading->device)
        json_add_text(w.doc, arena, root, "device", heading->device->name);
    else
        yyjson_mut_obj_add_null(w.doc, root, "device");
    yyjson_mut_val *kernels = json_add_array(w.doc, root, "kernels");
    for (size_t i = 0; i < count; i++)
        add_kernel(&w, yyjson_mut_arr_add_obj(w.doc, kernels), reports[i]);
    return json_write_pretty(arena, root);
}
