/* heat ROWS COLUMNS STEPS FILE: so many steps on a plate with ROWS rows a rank, and one more at
   either end that stays; all of it goes to the file. */
#include <stdlib.h>

#include "cluster.h"
#define HEAT_KERNELS_IMPLEMENTATION
#include <heat_kernels.h>

enum { UP, DOWN };

/* This rank's first rows go up and its last ones down: `at` says which row it is, and `to` which
   one of the neighbour's comes. */
static void exchange(const struct cluster *cluster, struct fcl_buffer *plate, int32_t rows, uint64_t row, int way) {
    int before = cluster->rank > 0 ? cluster->rank - 1 : MPI_PROC_NULL;
    int behind = cluster->rank + 1 < cluster->size ? cluster->rank + 1 : MPI_PROC_NULL;
    int to = way == UP ? before : behind, from = way == UP ? behind : before;
    uint64_t own = way == UP ? 1 : (uint64_t)rows, halo = way == UP ? (uint64_t)rows + 1 : 0;
    struct window out = window_to_send(cluster, plate, own * row, row);
    struct window in = window_to_receive(cluster, plate, halo * row, row);
    MPI_Sendrecv(out.memory, (int)row, MPI_BYTE, to, way, in.memory, (int)row, MPI_BYTE, from, way, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    window_sent(&out);
    if (from == MPI_PROC_NULL)
        window_sent(&in); /* nothing has come: the plate's border stays */
    else
        window_received(cluster, &in);
}

int main(int argc, char **argv) {
    struct cluster cluster = cluster_start(&argc, &argv);
    if (argc != 5)
        cluster_fail(&cluster, "usage: heat ROWS COLUMNS STEPS FILE");
    int32_t rows = atoi(argv[1]), columns = atoi(argv[2]), steps = atoi(argv[3]), high = rows + 2, wide = columns;
    if (rows < 1 || columns < 1)
        cluster_fail(&cluster, "a rank has at least one row, of at least one cell");
    uint64_t row = (uint64_t)columns * sizeof(float);
    uint32_t first = (uint32_t)cluster.rank * (uint32_t)rows * (uint32_t)columns;
    struct fcl_buffer *plate, *next;
    cluster_check(&cluster, heat_kernels_plate_device(cluster.context, first, high, wide, &high, &wide, &plate));
    double began = 0;
    for (int32_t step = 0; step < steps; step++) {
        if (step == 1) /* the first one builds kernels, and gets memory */
            began = cluster_seconds(0);
        exchange(&cluster, plate, rows, row, UP);
        exchange(&cluster, plate, rows, row, DOWN);
        cluster_check(&cluster, heat_kernels_step_device(cluster.context, high, wide, plate, &high, &wide, &next));
        fcl_buffer_free(plate);
        plate = next;
    }
    cluster_check(&cluster, fcl_finish(cluster.context));
    double seconds = cluster_seconds(began);
    /* The first rank writes the border before it, too, and the last one that behind it. */
    uint64_t begin = cluster.rank == 0 ? 0 : 1, end = cluster.rank + 1 == cluster.size ? 1 : 0;
    uint64_t bytes = ((uint64_t)high - begin - (1 - end)) * row;
    struct window all = window_to_send(&cluster, plate, begin * row, bytes);
    cluster_write(&cluster, argv[4], all.memory, bytes);
    window_sent(&all);
    cluster_tell(&cluster, rows * columns, steps > 1 ? seconds / (steps - 1) : 0);
    fcl_buffer_free(plate);
    cluster_end(&cluster);
    return 0;
}
