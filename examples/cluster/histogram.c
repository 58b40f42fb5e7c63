/* histogram N ROUNDS FILE: counts N numbers a rank, ROUNDS times, and writes the counts of all, 256 int64. */
#include <stdlib.h>

#include "cluster.h"
#define HISTOGRAM_KERNELS_IMPLEMENTATION
#include <histogram_kernels.h>

enum { BINS = 256 };

int main(int argc, char **argv) {
    struct cluster cluster = cluster_start(&argc, &argv);
    if (argc != 4)
        cluster_fail(&cluster, "usage: histogram N ROUNDS FILE");
    int32_t n = atoi(argv[1]), rounds = atoi(argv[2]), length;
    struct fcl_buffer *numbers;
    uint32_t first = (uint32_t)cluster.rank * (uint32_t)n;
    cluster_check(&cluster, histogram_kernels_numbers_device(cluster.context, first, n, &length, &numbers));
    int64_t total[BINS];
    double began = 0;
    for (int32_t round = 0; round <= rounds; round++) {
        if (round == 1) /* the first one builds kernels, and gets memory */
            began = cluster_seconds(0);
        struct fcl_buffer *counts;
        cluster_check(&cluster, histogram_kernels_counts_device(cluster.context, BINS, n, numbers, &length, &counts));
        struct window mine = window_to_send(&cluster, counts, 0, sizeof total);
        MPI_Reduce(mine.memory, total, BINS, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
        window_sent(&mine);
        fcl_buffer_free(counts);
    }
    double seconds = cluster_seconds(began);
    cluster_write(&cluster, argv[3], total, cluster.rank == 0 ? sizeof total : 0);
    cluster_tell(&cluster, n, rounds > 0 ? seconds / rounds : 0);
    fcl_buffer_free(numbers);
    cluster_end(&cluster);
    return 0;
}
