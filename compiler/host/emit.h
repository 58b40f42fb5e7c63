/* The header that goes with emitted kernels: for each, a host function in C on host arrays and one
   on device buffers. It has the kernels as text and the functions. Where kernels are compiled
   ahead of time it only declares these in C, and they are in one file with the kernels; for CUDA
   the kernels are in a file that it includes. */
#ifndef FCL_HOST_EMIT_H
#define FCL_HOST_EMIT_H

#include "backend/backend.h"

struct host_emit_request {
    const struct target *target;
    const struct target_program *const *programs; /* as printed into kernel_source */
    size_t count;
    const char *kernel_source;         /* embedded in the header, or in the file */
    bool is_linked;                    /* the kernels are compiled ahead of time */
    const char *base_name;             /* of the output, without extension; folders are dropped: prefix of all names */
    const char *source_name, *version; /* for the heading */
    const struct sources *sources;     /* for the places of checks */
};

struct host_emitted {
    const char *header; /* C11 and C++ */
    const char *file;   /* kernels and functions, for C; or NULL */
};
struct host_emitted host_emit(struct arena *arena, const struct host_emit_request *request);

/* The target of a header that begins so; NULL: it is no header of ours. */
const struct target *host_header_target(const char *beginning);

#endif
