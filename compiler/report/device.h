/* Classes of devices, and how long a launch takes on one at least: an estimate, by what rules it. */
#ifndef FCL_REPORT_DEVICE_H
#define FCL_REPORT_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/arena.h"

struct report_device {
    const char *name, *title;
    double multiprocessors, gigahertz; /* the clock under load */
    double gigabytes;                  /* of global memory in a second */
    double lanes;                      /* operations of 32 bits that a multiprocessor begins in a clock */
    double shared_bytes;               /* of shared memory that a multiprocessor has */
    double block_bytes;                /* and that one block may have */
    double threads;                    /* that a multiprocessor holds at most */
    double blocks;                     /* and blocks */
    double registers;                  /* and registers of 32 bits */
    double launch_microseconds;        /* from one launch to the next, at least */
};
/* The table; its end has no name. */
extern const struct report_device report_devices[];
/* The device with this name in the table, or NULL. */
const struct report_device *report_device_named(const char *name);
/* Reads a device from a JSON file: an object with the members of the table. NULL, with *why, if it
   can't be read. */
const struct report_device *report_device_read(struct arena *arena, const char *path, const char **why);

struct report_launch;
struct report_estimate {
    double blocks_together; /* on a multiprocessor */
    double occupancy;       /* of its threads, 0 to 1 */
    const char *held_by;    /* what keeps it from more: threads, blocks, shared memory, registers */
    double memory_us, operations_us, shared_us, launch_us;
    double moved_bytes;  /* what the memory of the device moves at least */
    double microseconds; /* the longest of these */
    const char *bound;   /* which that is */
};
/* No launch is faster: an amount that is `at most`, or that has a name, counts as nothing. Only of launches
   whose iterations and shared memory are numbers: else false. */
bool report_estimate(const struct report_launch *launch, const struct report_device *device,
                     struct report_estimate *estimate);

#endif
