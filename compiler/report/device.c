/* The table of device classes, files of others, and the estimate; see device.h. */
#include "report/device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "support/file.h"
#include "support/json.h"

enum { KIB = 1024, REGISTERS = 64 * KIB };
#define LAUNCH 2.5 /* a guess of what drivers take, the same for all */

/* note [sources of devices]
   Each device has its multiprocessors, clock and bandwidth from its maker's paper, which is named. The tables of the
   CUDA C++ Programming Guide have by compute capability what a multiprocessor of NVIDIA holds, and its lanes.
   MI300X: AMD's data sheet has 304 compute units, 2.1 GHz, 5.3 TB/s, and 163.4 teraflops of floats in vectors, which
   are 128 lanes (a product and a sum each). ROCm's table "AMD GPU specifications" has 64 KiB of LDS and 512 KiB of
   vector registers a unit. A unit holds 4 * 8 wavefronts of 64, and 16 blocks of more than one wavefront, as LLVM
   computes it (getMaxWavesPerEU, getMaxWorkGroupsPerCU in AMDGPUBaseInfo.cpp).
   B200: the data sheet of HGX B200 has 8 TB/s and 75 teraflops of floats a GPU, which is the clock of 1.98 GHz at 148
   multiprocessors. */
const struct report_device report_devices[] = {
    /* capability 7.0; white paper "NVIDIA Tesla V100" */
    {"v100", "NVIDIA V100 SXM2", 80, 1.53, 900, 64, 96 * KIB, 96 * KIB, 2048, 32, REGISTERS, LAUNCH},
    /* 7.5; white paper "NVIDIA Turing" */
    {"t4", "NVIDIA T4", 40, 1.59, 320, 64, 64 * KIB, 64 * KIB, 1024, 16, REGISTERS, LAUNCH},
    /* 8.0; white paper "NVIDIA A100"; the bandwidth: data sheet of the one of 80 GB */
    {"a100", "NVIDIA A100 SXM 80 GB", 108, 1.41, 2039, 64, 164 * KIB, 163 * KIB, 2048, 32, REGISTERS, LAUNCH},
    /* 8.6; white paper "NVIDIA Ampere GA102" */
    {"rtx3060", "NVIDIA GeForce RTX 3060", 28, 1.78, 360, 128, 100 * KIB, 99 * KIB, 1536, 16, REGISTERS, LAUNCH},
    /* 8.9; white paper "NVIDIA Ada" */
    {"rtx4090", "NVIDIA GeForce RTX 4090", 128, 2.52, 1008, 128, 100 * KIB, 99 * KIB, 1536, 24, REGISTERS, LAUNCH},
    /* 9.0; white paper "NVIDIA H100"; H200: the same chip, the bandwidth is the data sheet's */
    {"h100", "NVIDIA H100 SXM", 132, 1.98, 3350, 128, 228 * KIB, 227 * KIB, 2048, 32, REGISTERS, LAUNCH},
    {"h200", "NVIDIA H200 SXM", 132, 1.98, 4800, 128, 228 * KIB, 227 * KIB, 2048, 32, REGISTERS, LAUNCH},
    /* 10.0; note [sources of devices] */
    {"b200", "NVIDIA B200 SXM", 148, 1.98, 8000, 128, 228 * KIB, 227 * KIB, 2048, 32, REGISTERS, LAUNCH},
    {"mi300x", "AMD Instinct MI300X", 304, 2.1, 5300, 128, 64 * KIB, 64 * KIB, 2048, 16, 2 * REGISTERS, LAUNCH},
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
    WARP = 32,
    WORD = 4,            /* bytes of shared memory that a lane has in a clock */
    LONG_OPERATION = 8,  /* lanes by clocks: those that do roots and the like are fewer, by so much */
    PRODUCT = 128,       /* of matrices, likewise */
    MOST_REGISTERS = 64, /* that a thread has at most where its launch asks for 1024 threads together */
};

/* So many at least: names are of numbers that data decide, or of sizes that were not given, and may be 0. */
static double surely(struct amount amount) {
    bool is_sure = !amount.is_most;
    for (size_t i = 0; i < amount.count; i++)
        is_sure = is_sure && amount.terms[i].factor >= 0;
    return is_sure ? fmax(amount.constant, 0) : 0;
}

/* Elements that it touches at least, each counted once: those of one iteration, where all iterations have the same;
   none where it is not known where, or whether. */
static double touched(const struct report_launch *launch, const struct report_access *access) {
    double count = surely(access->sure);
    if (access->pattern == REPORT_SCATTERED || access->pattern == REPORT_UNKNOWN)
        return 0;
    if (access->pattern == REPORT_SAME && amount_is_number(access->units))
        count = surely(access->units);
    return access->is_again ? count / fmax(1, launch->iterations.constant) : count;
}

/* Bytes of an array that the device's memory has to move: what is read and written is so once, if caches have the
   rest. */
static double moved(const struct report_launch *launch, const struct report_array *array) {
    double elements[] = {[REPORT_LOAD] = 0, [REPORT_STORE] = 0, [REPORT_ATOMIC] = 0};
    double most = amount_is_number(array->elements) ? array->elements.constant : INFINITY, bytes = 0;
    for (size_t i = 0; i < launch->accesses.count; i++)
        if (launch->accesses.at[i].array == array) {
            elements[launch->accesses.at[i].use] += touched(launch, &launch->accesses.at[i]);
            bytes = launch->accesses.at[i].bytes;
        }
    return bytes * fmin(most, fmax(elements[REPORT_LOAD], fmax(elements[REPORT_STORE], elements[REPORT_ATOMIC])));
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
    if (!amount_is_number(launch->shared_bytes) || !amount_is_number(launch->iterations))
        return false;
    /* Bytes that the system keeps for each block, where no block may have all. */
    double shared = launch->shared_bytes.constant, kept = fmin(KIB, device->shared_bytes - device->block_bytes);
    hold(e, floor(device->threads / launch->threads), "threads");
    if (shared > 0)
        hold(e, shared > device->block_bytes ? 0 : floor(device->shared_bytes / (shared + kept)), "shared memory");
    hold(e, floor(device->registers / (MOST_REGISTERS * launch->threads)), "registers");
    e->occupancy = e->blocks_together * launch->threads / device->threads;
    double words = 0, operations = 0;
    for (size_t i = 0; i < launch->accesses.count; i++) {
        const struct report_access *access = &launch->accesses.at[i];
        enum report_place place = access->array->place;
        double count = surely(access->sure);
        if (place == REPORT_SHARED || place == REPORT_SHARED_WARP)
            words += count * access->bytes / WORD; /* narrow ones may share a word */
    }
    for (size_t i = 0; i < launch->arrays.count; i++)
        if (launch->arrays.at[i]->place == REPORT_GLOBAL)
            e->moved_bytes += moved(launch, launch->arrays.at[i]);
    /* Compilers leave out many operations on integers. */
    operations += surely(launch->counts[COUNT_FLOATING]) + surely(launch->counts[COUNT_EXCHANGES]) +
                  LONG_OPERATION * surely(launch->counts[COUNT_LONG]) +
                  PRODUCT * surely(launch->counts[COUNT_PRODUCTS]);
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
