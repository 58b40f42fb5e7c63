#include "cluster.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#if defined OPEN_MPI && OPEN_MPI
#include <mpi-ext.h>
#endif

#ifndef DEVICE
#define DEVICE FCL_DEVICE_C
#endif

/* ---- start and end ---- */

_Noreturn void cluster_fail(const struct cluster *cluster, const char *what) {
    fprintf(stderr, "rank %d: %s\n", cluster->rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

void cluster_check(const struct cluster *cluster, enum fcl_status status) {
    if (status != FCL_OK)
        cluster_fail(cluster, fcl_error(cluster->context));
}

/* The number of this rank among those on the same machine, so that each takes a device of its own
   where there are enough. */
static int rank_on_machine(void) {
    MPI_Comm machine;
    int rank;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &rank);
    MPI_Comm_free(&machine);
    return rank;
}

static int count_devices(void) {
    struct fcl_device_list list;
    int count = 0;
    if (fcl_devices(&list) != FCL_OK)
        return 0;
    for (size_t i = 0; i < list.count; i++)
        count += list.devices[i].kind == DEVICE;
    fcl_device_list_free(&list);
    return count;
}

/* The memory of a CPU it always takes, a GPU's where it was built so. */
static bool mpi_takes_memory_of(const struct fcl_device_info *device) {
#if defined MPIX_CUDA_AWARE_SUPPORT && MPIX_CUDA_AWARE_SUPPORT
    if (device->backend == FCL_BACKEND_CUDA)
        return MPIX_Query_cuda_support();
#endif
    return device->backend == FCL_BACKEND_C;
}

struct cluster cluster_start(int *argc, char ***argv) {
    struct cluster cluster = {0};
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &cluster.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &cluster.size);
    struct fcl_options options = FCL_OPTIONS_DEFAULT;
    options.kind = DEVICE;
    int devices = count_devices();
    options.index = rank_on_machine() % (devices ? devices : 1);
    char why[1024];
    if (fcl_open(&cluster.context, &options, why, sizeof why) != FCL_OK)
        cluster_fail(&cluster, why);
    cluster.takes_device_memory = mpi_takes_memory_of(fcl_device(cluster.context));
    return cluster;
}

void cluster_end(struct cluster *cluster) {
    fcl_close(cluster->context);
    MPI_Finalize();
}

/* ---- buffers ---- */

static struct window window_of(const struct cluster *cluster, struct fcl_buffer *buffer, uint64_t offset,
                               uint64_t bytes) {
    struct window window = {NULL, buffer, offset, bytes, !cluster->takes_device_memory};
    if (window.is_copy) {
        window.memory = malloc(bytes ? bytes : 1);
        if (!window.memory)
            cluster_fail(cluster, "no memory");
    } else {
        window.memory = (char *)fcl_buffer_native(buffer) + offset;
    }
    return window;
}

struct window window_to_send(const struct cluster *cluster, struct fcl_buffer *buffer, uint64_t offset,
                             uint64_t bytes) {
    struct window window = window_of(cluster, buffer, offset, bytes);
    /* MPI knows nothing of the work that the buffer's contents are still waiting for. */
    cluster_check(cluster,
                  window.is_copy ? fcl_read(buffer, offset, window.memory, bytes) : fcl_finish(cluster->context));
    return window;
}

struct window window_to_receive(const struct cluster *cluster, struct fcl_buffer *buffer, uint64_t offset,
                                uint64_t bytes) {
    if (cluster->takes_device_memory)
        cluster_check(cluster, fcl_finish(cluster->context));
    return window_of(cluster, buffer, offset, bytes);
}

void window_sent(struct window *window) {
    if (window->is_copy)
        free(window->memory);
}

void window_received(const struct cluster *cluster, struct window *window) {
    if (window->is_copy)
        cluster_check(cluster, fcl_write(window->buffer, window->offset, window->memory, window->bytes));
    window_sent(window);
}

/* ---- results ---- */

static void check_file(const struct cluster *cluster, int status) {
    if (status == MPI_SUCCESS)
        return;
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(status, text, &length);
    cluster_fail(cluster, text);
}

void cluster_write(const struct cluster *cluster, const char *path, const void *data, uint64_t bytes) {
    char part[PATH_MAX];
    if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part || bytes > INT_MAX)
        cluster_fail(cluster, "a name too long, or too much for one call of MPI");
    uint64_t before = 0;
    MPI_Exscan(&bytes, &before, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (cluster->rank == 0)
        before = 0; /* which MPI leaves open */
    MPI_File file;
    check_file(cluster, MPI_File_open(MPI_COMM_WORLD, part, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    check_file(cluster, MPI_File_set_size(file, 0));
    check_file(cluster, MPI_File_write_at_all(file, (MPI_Offset)before, data, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    check_file(cluster, MPI_File_sync(file));
    check_file(cluster, MPI_File_close(&file));
    if (cluster->rank == 0 && rename(part, path) != 0)
        cluster_fail(cluster, "the file cannot be given its name");
    MPI_Barrier(MPI_COMM_WORLD);
}

double cluster_seconds(double began) {
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - began;
}

void cluster_tell(const struct cluster *cluster, int32_t elements, double seconds) {
    if (cluster->rank == 0)
        printf("%d ranks, %d elements each: %.6f s a round\n", cluster->size, elements, seconds);
}
