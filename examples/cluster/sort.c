/* sort N ROUNDS FILE: sorts N keys a rank, ROUNDS times, and writes all of them. */
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#define SORT_KERNELS_IMPLEMENTATION
#include <sort_kernels.h>

static void *memory(const struct cluster *cluster, size_t count, size_t bytes) {
    void *got = calloc(count ? count : 1, bytes);
    if (!got)
        cluster_fail(cluster, "no memory");
    return got;
}

static int compare(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Samples of each rank: with so many no rank gets much more than its share. */
enum { SAMPLES = 64 };

/* One number less than there are ranks, alike on all of them: what lies between two is for one rank. */
static struct fcl_buffer *choose_splitters(const struct cluster *cluster, int32_t n, struct fcl_buffer *keys) {
    size_t count = (size_t)cluster->size * SAMPLES;
    int32_t *all = memory(cluster, count, sizeof *all);
    struct fcl_buffer *samples, *splitters;
    int32_t length;
    cluster_check(cluster, sort_kernels_samples_device(cluster->context, SAMPLES, n, keys, &length, &samples));
    struct window mine = window_to_send(cluster, samples, 0, SAMPLES * sizeof *all);
    MPI_Allgather(mine.memory, SAMPLES, MPI_INT32_T, all, SAMPLES, MPI_INT32_T, MPI_COMM_WORLD);
    window_sent(&mine);
    fcl_buffer_free(samples);
    qsort(all, count, sizeof *all, compare);
    for (int i = 1; i < cluster->size; i++)
        all[i - 1] = all[i * SAMPLES];
    uint64_t bytes = (uint64_t)(cluster->size - 1) * sizeof *all;
    cluster_check(cluster, fcl_buffer_new(cluster->context, bytes, &splitters));
    cluster_check(cluster, fcl_write(splitters, 0, all, bytes));
    free(all);
    return splitters;
}

/* Where each rank's keys begin among those of this one, and how many there are. */
static void share_out(const struct cluster *cluster, int32_t n, struct fcl_buffer *keys, int32_t *begins,
                      int32_t *counts) {
    struct fcl_buffer *splitters = choose_splitters(cluster, n, keys), *bounds;
    int32_t length;
    cluster_check(
        cluster, sort_kernels_bounds_device(cluster->context, cluster->size - 1, splitters, n, keys, &length, &bounds));
    begins[0] = 0;
    cluster_check(cluster, fcl_read(bounds, 0, begins + 1, (uint64_t)length * sizeof *begins));
    for (int i = 0; i < cluster->size; i++)
        counts[i] = (i + 1 < cluster->size ? begins[i + 1] : n) - begins[i];
    fcl_buffer_free(splitters);
    fcl_buffer_free(bounds);
}

/* Gives the keys to the ranks that they are for, and returns this one's, in no order. */
static struct fcl_buffer *exchange(const struct cluster *cluster, int32_t n, struct fcl_buffer *keys, int32_t *length) {
    size_t size = (size_t)cluster->size;
    int32_t *table = memory(cluster, 4 * size, sizeof *table);
    int32_t *begins = table, *counts = table + size, *places = table + 2 * size, *coming = table + 3 * size;
    share_out(cluster, n, keys, begins, counts);
    MPI_Alltoall(counts, 1, MPI_INT32_T, coming, 1, MPI_INT32_T, MPI_COMM_WORLD);
    int64_t total = 0;
    for (size_t i = 0; i < size; i++) {
        places[i] = (int32_t)total;
        total += coming[i];
        if (total > INT32_MAX)
            cluster_fail(cluster, "too many keys for one rank");
    }
    struct fcl_buffer *mine;
    cluster_check(cluster, fcl_buffer_array(cluster->context, (uint64_t)total, sizeof(int32_t), &mine));
    struct window out = window_to_send(cluster, keys, 0, (uint64_t)n * sizeof(int32_t));
    struct window in = window_to_receive(cluster, mine, 0, (uint64_t)total * sizeof(int32_t));
    MPI_Alltoallv(out.memory, counts, begins, MPI_INT32_T, in.memory, coming, places, MPI_INT32_T, MPI_COMM_WORLD);
    window_received(cluster, &in);
    window_sent(&out);
    free(table);
    *length = (int32_t)total;
    return mine;
}

static struct fcl_buffer *sorted(const struct cluster *cluster, int32_t n, struct fcl_buffer *keys) {
    struct fcl_buffer *result;
    cluster_check(cluster, sort_kernels_sorted_device(cluster->context, n, keys, &n, &result));
    return result;
}

/* This rank's part of all keys in order. */
static struct fcl_buffer *sorted_by_all(const struct cluster *cluster, int32_t n, struct fcl_buffer *keys,
                                        int32_t *length) {
    struct fcl_buffer *own = sorted(cluster, n, keys);
    struct fcl_buffer *got = exchange(cluster, n, own, length);
    struct fcl_buffer *result = sorted(cluster, *length, got);
    cluster_check(cluster, fcl_finish(cluster->context));
    fcl_buffer_free(own);
    fcl_buffer_free(got);
    return result;
}

int main(int argc, char **argv) {
    struct cluster cluster = cluster_start(&argc, &argv);
    if (argc != 4)
        cluster_fail(&cluster, "usage: sort N ROUNDS FILE");
    int32_t n = atoi(argv[1]), rounds = atoi(argv[2]), length;
    struct fcl_buffer *keys, *result = NULL;
    uint32_t first = (uint32_t)cluster.rank * (uint32_t)n;
    cluster_check(&cluster, sort_kernels_keys_device(cluster.context, first, n, &length, &keys));
    double began = 0;
    for (int32_t round = 0; round <= rounds; round++) {
        if (round == 1) /* the first one builds kernels, and gets memory */
            began = cluster_seconds(0);
        fcl_buffer_free(result);
        result = sorted_by_all(&cluster, n, keys, &length);
    }
    double seconds = cluster_seconds(began);
    int32_t *data = memory(&cluster, (size_t)length, sizeof *data);
    cluster_check(&cluster, fcl_read(result, 0, data, (uint64_t)length * sizeof *data));
    cluster_write(&cluster, argv[3], data, (uint64_t)length * sizeof *data);
    cluster_tell(&cluster, n, rounds > 0 ? seconds / rounds : 0);
    free(data);
    fcl_buffer_free(keys);
    fcl_buffer_free(result);
    cluster_end(&cluster);
    return 0;
}
