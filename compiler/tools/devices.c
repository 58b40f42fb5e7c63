/* fclc devices: what there is to run on. */
#include <string.h>

#include "driver/commands.h"
#include "driver/complaint.h"
#include "fcl.h"
#include "support/json.h"

static bool is_wanted(const struct options *options, const char *target) {
    return !options->target || strcmp(options->target, target) == 0;
}

/* ---- lines ---- */

static void print_device(const struct fcl_device_info *d) {
    printf("%s:%d  %s\n", fcl_device_kind_name(d->kind), d->index, d->name);
    printf("    %s, driver %s\n", d->platform, d->driver);
    if (d->memory_bytes)
        printf("    %.1f GiB memory, %u units", (double)d->memory_bytes / (1 << 30), d->compute_units);
    if (d->max_threads)
        printf(", %llu KiB shared memory per block, up to %u threads per block",
               (unsigned long long)(d->shared_bytes / 1024), d->max_threads);
    if (d->has_sub_groups)
        printf(", sub-groups of 32");
    if (!d->has_waiting_blocks)
        printf(", no block waits for another");
    if (d->memory_bytes)
        printf("\n");
    if (d->problem[0])
        printf("    unusable: %s\n", d->problem);
}

static void print_lines(const struct options *options, const struct fcl_device_list *list) {
    for (size_t i = 0; i < list->count; i++)
        if (is_wanted(options, fcl_backend_name(list->devices[i].backend)))
            print_device(&list->devices[i]);
    for (int b = 0; b < FCL_BACKENDS; b++)
        if (list->absent[b][0] && is_wanted(options, fcl_backend_name((enum fcl_backend)b)))
            printf("%s: none (%s)\n", fcl_backend_name((enum fcl_backend)b), list->absent[b]);
    if (is_wanted(options, "interp"))
        printf("interp:  the reference interpreter\n");
}

/* ---- JSON ---- */

static void add_device(yyjson_mut_doc *doc, struct arena *arena, yyjson_mut_val *devices,
                       const struct fcl_device_info *d) {
    yyjson_mut_val *object = yyjson_mut_arr_add_obj(doc, devices);
    yyjson_mut_obj_add_str(doc, object, "target", fcl_backend_name(d->backend));
    yyjson_mut_obj_add_str(doc, object, "kind", fcl_device_kind_name(d->kind));
    yyjson_mut_obj_add_int(doc, object, "index", d->index);
    json_add_text(doc, arena, object, "name", d->name);
    json_add_text(doc, arena, object, "platform", d->platform);
    json_add_text(doc, arena, object, "driver", d->driver);
    yyjson_mut_obj_add_uint(doc, object, "memory_bytes", d->memory_bytes);
    yyjson_mut_obj_add_uint(doc, object, "shared_bytes", d->shared_bytes);
    yyjson_mut_obj_add_uint(doc, object, "compute_units", d->compute_units);
    yyjson_mut_obj_add_uint(doc, object, "max_threads", d->max_threads);
    yyjson_mut_obj_add_bool(doc, object, "sub_groups", d->has_sub_groups);
    yyjson_mut_obj_add_bool(doc, object, "waiting_blocks", d->has_waiting_blocks);
    if (d->problem[0])
        json_add_text(doc, arena, object, "problem", d->problem);
}

static void print_json(const struct options *options, const struct fcl_device_list *list) {
    struct arena *arena = arena_new();
    yyjson_mut_doc *doc = json_new(arena);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_val *devices = json_add_array(doc, root, "devices"), *absent = json_add_object(doc, root, "absent");
    for (size_t i = 0; i < list->count; i++)
        if (is_wanted(options, fcl_backend_name(list->devices[i].backend)))
            add_device(doc, arena, devices, &list->devices[i]);
    for (int b = 0; b < FCL_BACKENDS; b++) {
        const char *name = fcl_backend_name((enum fcl_backend)b);
        if (list->absent[b][0] && is_wanted(options, name))
            json_add_text(doc, arena, absent, name, list->absent[b]);
    }
    fputs(json_write_pretty(arena, root), stdout);
    arena_free(arena);
}

enum exit_status command_devices(struct options *options) {
    struct fcl_device_list list;
    enum fcl_status status = fcl_devices(&list);
    if (status != FCL_OK)
        return driver_complain(options, EXIT_DEVICE, "the devices cannot be listed: %s", fcl_status_text(status));
    (options->json ? print_json : print_lines)(options, &list);
    fcl_device_list_free(&list);
    return EXIT_GOOD;
}
