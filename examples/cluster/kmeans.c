/* kmeans N ROUNDS FILE: eight centres of N points a rank after ROUNDS rounds: their places x, then y, 16 floats. */
#include <stdlib.h>

#include "cluster.h"
#define KMEANS_KERNELS_IMPLEMENTATION
#include <kmeans_kernels.h>

enum { CENTRES = 8 };

/* The sums of all ranks in place of this one's. */
static void add_up(const struct cluster *cluster, struct fcl_buffer *buffer, MPI_Datatype type, void *total) {
    struct window mine = window_to_send(cluster, buffer, 0, CENTRES * sizeof(double));
    MPI_Allreduce(mine.memory, total, CENTRES, type, MPI_SUM, MPI_COMM_WORLD);
    window_sent(&mine);
    fcl_buffer_free(buffer);
}

int main(int argc, char **argv) {
    struct cluster cluster = cluster_start(&argc, &argv);
    struct fcl_context *context = cluster.context;
    if (argc != 4)
        cluster_fail(&cluster, "usage: kmeans N ROUNDS FILE");
    int32_t n = atoi(argv[1]), rounds = atoi(argv[2]), length;
    struct fcl_buffer *x, *y, *on_device[2], *sums[3];
    uint32_t first = (uint32_t)cluster.rank * (uint32_t)n;
    cluster_check(&cluster, kmeans_kernels_points_device(context, first, n, &length, &x, &y));
    float centres[2][CENTRES];
    for (int c = 0; c < CENTRES; c++) {
        centres[0][c] = (float)(c % 4) / 4;
        centres[1][c] = (float)(c / 4) / 2;
    }
    for (int i = 0; i < 2; i++)
        cluster_check(&cluster, fcl_buffer_new(context, sizeof centres[i], &on_device[i]));
    double began = 0;
    for (int32_t round = 0; round < rounds; round++) {
        if (round == 1) /* the first one builds kernels, and gets memory */
            began = cluster_seconds(0);
        for (int i = 0; i < 2; i++)
            cluster_check(&cluster, fcl_write(on_device[i], 0, centres[i], sizeof centres[i]));
        cluster_check(&cluster, kmeans_kernels_sums_device(context, CENTRES, on_device[0], on_device[1], n, x, y,
                                                           &length, &sums[0], &sums[1], &sums[2]));
        double places[2][CENTRES];
        int64_t counts[CENTRES];
        add_up(&cluster, sums[0], MPI_DOUBLE, places[0]);
        add_up(&cluster, sums[1], MPI_DOUBLE, places[1]);
        add_up(&cluster, sums[2], MPI_INT64_T, counts);
        length = CENTRES;
        cluster_check(&cluster, kmeans_kernels_moved_into(context, CENTRES, centres[0], centres[1], CENTRES, places[0],
                                                          places[1], counts, &length, centres[0], centres[1]));
    }
    double seconds = cluster_seconds(began);
    cluster_write(&cluster, argv[3], centres, cluster.rank == 0 ? sizeof centres : 0);
    cluster_tell(&cluster, n, rounds > 1 ? seconds / (rounds - 1) : 0);
    for (int i = 0; i < 2; i++)
        fcl_buffer_free(on_device[i]);
    fcl_buffer_free(x);
    fcl_buffer_free(y);
    cluster_end(&cluster);
    return 0;
}
