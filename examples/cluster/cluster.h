/* The programs here share this: the device of a rank, MPI on its buffers, and files that are there
   whole or not at all. */
#ifndef CLUSTER_H
#define CLUSTER_H

#include <fcl.h>
#include <mpi.h>

struct cluster {
    struct fcl_context *context; /* on this rank's device: one of its machine's, in turn */
    int rank, size;
    bool takes_device_memory; /* MPI does, of this device */
};

/* Starts MPI and opens the device. DEVICE, as the makefile gives it, is the kind that the kernels were compiled for. */
struct cluster cluster_start(int *argc, char ***argv);
void cluster_end(struct cluster *cluster);

/* Ends the whole job where something failed on this rank. */
void cluster_check(const struct cluster *cluster, enum fcl_status status);
/* The same, and says what. */
_Noreturn void cluster_fail(const struct cluster *cluster, const char *what);

/* A part of a buffer where MPI can use it: the device's memory itself, or a copy of it on the host. */
struct window {
    void *memory;
    struct fcl_buffer *buffer;
    uint64_t offset, bytes;
    bool is_copy;
};
struct window window_to_send(const struct cluster *cluster, struct fcl_buffer *buffer, uint64_t offset, uint64_t bytes);
struct window window_to_receive(const struct cluster *cluster, struct fcl_buffer *buffer, uint64_t offset,
                                uint64_t bytes);
void window_sent(struct window *window);
/* The elements are in the buffer then. */
void window_received(const struct cluster *cluster, struct window *window);

/* Each rank's bytes, one after the other, to a file. It has its name only when all of it is written. */
void cluster_write(const struct cluster *cluster, const char *path, const void *data, uint64_t bytes);

/* Seconds since `began` until the slowest rank is there; begin with that of 0. */
double cluster_seconds(double began);
/* Prints on rank 0 how many elements each rank had, and the seconds of a round. */
void cluster_tell(const struct cluster *cluster, int32_t elements, double seconds);

#endif
