/* The table of device classes, files of others, and the estimate; see device.h.

   Figures are the makers': NVIDIA's white papers of Volta, Turing, Ampere, Ada and Hopper, and the tables of compute
   capabilities in its CUDA C++ Programming Guide. The time from one launch to the next is a guess of what drivers
   take, the same for all. */
#include "report/device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "support/file.h"
#include "support/json.h"

enum { KIB = 1024, REGISTERS = 64 * KIB };

const struct report_device report_devices[] = {
    {"v100", "NVIDIA V100 SXM2", 80, 1.53, 900, 64, 96 * KIB, 96 * KIB, 2048, 32, REGISTERS, 2.5},
    {"t4", "NVIDIA T4", 40, 1.59, 320, 64, 64 * KIB, 64 * KIB, 1024, 16, REGISTERS, 2.5},
    {"a100", "NVIDIA A100 SXM 80 GB", 108, 1.41, 2039, 64, 164 * KIB, 163 * KIB, 2048, 32, REGISTERS, 2.5},
    {"rtx3060", "NVIDIA GeForce RTX 3060", 28, 1.78, 360, 128, 100 * KIB, 99 * KIB, 1536, 16, REGISTERS, 2.5},
    {"rtx4090", "NVIDIA GeForce RTX 4090", 128, 2.52, 1008, 128, 100 * KIB, 99 * KIB, 1536, 24, REGISTERS, 2.5},
    {"h100", "NVIDIA H100 SXM", 132, 1.98, 3350, 128, 228 * KIB, 227 * KIB, 2048, 32, REGISTERS, 2.5},
    {0},
};

const struct report_device *report_device_named(const char *name) {
    for (const struct report_device *device = report_devices; device->name; device++)
        if (strcmp(device->name, name) == 0)
            return device;
    return NULL;
}

enum { LONGEST = 1 << 16 };

const struct report_device *report_device_read(struct arena *arena, const char *path, const char **why) {
    size_t length;
    const char *reason;
    char *text = file_read(path, LONGEST, &length, &reason);
    if (!text) {
        *why = arena_printf(arena, "it is no device of the table, and no file that can be read: %s", reason);
        return NULL;
    }
    yyjson_val *root = json_read(arena, text, length, why);
    free(text);
    if (!root)
        return NULL;
    struct report_device *device = ARENA_NEW(arena, struct report_device);
    const struct {
        const char *name;
        double *to;
    } members[] = {
        {"multiprocessors", &device->multiprocessors},
        {"gigahertz", &device->gigahertz},
        {"gigabytes_per_second", &device->gigabytes},
        {"lanes", &device->lanes},
        {"shared_bytes", &device->shared_bytes},
        {"block_shared_bytes", &device->block_bytes},
        {"threads", &device->threads},
        {"blocks", &device->blocks},
        {"registers", &device->registers},
        {"launch_microseconds", &device->launch_microseconds},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        yyjson_val *value = yyjson_obj_get(root, members[i].name);
        *members[i].to = yyjson_get_num(value);
        if (!yyjson_is_num(value) || !(*members[i].to > 0)) {
            *why = arena_printf(arena, "its member `%s` must be a number greater than 0", members[i].name);
            return NULL;
        }
    }
    const char *name = yyjson_get_str(yyjson_obj_get(root, "name"));
    device->name = device->title = name ? arena_printf(arena, "%s", name) : path;
    return device;
}

/* ---- the estimate ---- */

enum {
    SECTOR = 32, /* bytes that global memory moves at least */
    WARP = 32,
    MOST_REGISTERS = 64, /* that a thread has at most where its launch asks for 1024 threads together */
};

/* Bytes that move for an element: neighbours that share a sector share its cost. */
static double moved(const struct report_access *access) {
    double bytes = access->bytes;
    switch (access->pattern) {
    case REPORT_COALESCED: return bytes;
    case REPORT_SAME: return (double)SECTOR / WARP;
    case REPORT_STRIDED: return fmin(SECTOR, bytes * (double)access->stride);
    case REPORT_SCATTERED:
    case REPORT_OWN: break;
    }
    return SECTOR;
}

static bool has_numbers(const struct report_launch *launch) {
    bool good = amount_is_number(launch->shared_bytes) && amount_is_number(launch->iterations);
    for (int i = 0; i < COUNT_KINDS; i++)
        good = good && amount_is_number(launch->counts[i]);
    for (size_t i = 0; i < launch->accesses.count; i++)
        good = good && amount_is_number(launch->accesses.at[i].count);
    return good;
}

static void hold(struct report_estimate *e, double most, const char *why) {
    if (most < e->blocks_together) {
        e->blocks_together = most;
        e->held_by = why;
    }
}

static void bound(struct report_estimate *e, double microseconds, const char *what) {
    if (!e->bound || microseconds > e->microseconds) {
        e->microseconds = microseconds;
        e->bound = what;
    }
}

bool report_estimate(const struct report_launch *launch, const struct report_device *device,
                     struct report_estimate *e) {
    *e = (struct report_estimate){.blocks_together = device->blocks, .held_by = "blocks"};
    if (!has_numbers(launch))
        return false;
    double shared = launch->shared_bytes.constant;
    hold(e, floor(device->threads / launch->threads), "threads");
    if (shared > 0)
        hold(e, shared > device->block_bytes ? 0 : floor(device->shared_bytes / (shared + KIB)), "shared memory");
    hold(e, floor(device->registers / (MOST_REGISTERS * launch->threads)), "registers");
    e->occupancy = e->blocks_together * launch->threads / device->threads;
    double words = 0, operations = 0;
    for (size_t i = 0; i < launch->accesses.count; i++) {
        const struct report_access *access = &launch->accesses.at[i];
        enum report_place place = access->array->place;
        double count = access->count.constant;
        if (place == REPORT_GLOBAL || place == REPORT_THREAD)
            e->moved_bytes += count * (place == REPORT_GLOBAL ? moved(access) : access->bytes);
        else if (place == REPORT_SHARED || place == REPORT_SHARED_WARP)
            words += count * (access->bytes > 4 ? 2 : 1);
        operations += count; /* each is an instruction, too */
    }
    operations += launch->counts[COUNT_INTEGER].constant + launch->counts[COUNT_FLOATING].constant +
                  launch->counts[COUNT_EXCHANGES].constant + 16 * launch->counts[COUNT_LONG].constant +
                  256 * launch->counts[COUNT_PRODUCTS].constant;
    /* Blocks that are fewer than the multiprocessors leave some of these idle. */
    double busy = fmin(device->multiprocessors, fmax(1, launch->blocks.constant));
    double clocks = busy * device->gigahertz * 1e3;
    e->memory_us = e->moved_bytes / (device->gigabytes * 1e3);
    e->operations_us = operations / (clocks * device->lanes);
    e->shared_us = words / (clocks * WARP);
    e->launch_us = device->launch_microseconds;
    bound(e, e->memory_us, "memory");
    bound(e, e->operations_us, "operations");
    bound(e, e->shared_us, "shared memory");
    bound(e, e->launch_us, "launch");
    return true;
}
