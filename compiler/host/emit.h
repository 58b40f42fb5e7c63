/* The header that goes with emitted kernels: for each, a host function in C on host arrays and one on device buffers. It has
   the kernels as text and the functions; or only declares these, and they are in one file with the kernels, in C. */
#ifndef FCL_HOST_EMIT_H
#define FCL_HOST_EMIT_H

#include "backend/backend.h"

struct host_emit_request {
    enum backend_language language;
    const struct target_program *const *programs; /* as printed into kernel_source */
    size_t count;
    const char *kernel_source;         /* embedded in the header, or in the file */
    bool is_linked;                    /* a file of both is wanted */
    const char *base_name;             /* of the output, without extension; folders are dropped: prefix of all names */
    const char *source_name, *version; /* for the heading */
    const struct sources *sources;     /* for the places of checks */
};

struct host_emitted {
    const char *header; /* C11 and C++ */
    const char *file;   /* NULL: none is wanted */
};
struct host_emitted host_emit(struct arena *arena, const struct host_emit_request *request);

/* "CUDA", "OpenCL" or "C", as a header says it; and which of them a header that begins so is for, NULL if none. */
const char *host_language_name(enum backend_language language);
const char *host_header_language(const char *beginning);

#endif
