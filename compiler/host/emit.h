/* The header that goes with emitted kernels: for each, a host function in C on host arrays and one on device buffers. */
#ifndef FCL_HOST_EMIT_H
#define FCL_HOST_EMIT_H

#include "backend/backend.h"

struct host_emit_request {
    enum backend_language language;
    const struct target_program *const *programs; /* as printed into kernel_source */
    size_t count;
    const char *kernel_source;         /* embedded in the header */
    const char *base_name;             /* of the output, without extension; folders are dropped: prefix of all names */
    const char *source_name, *version; /* for the heading */
    const struct sources *sources;     /* for the places of checks */
};

/* The text of the header. C11 and C++. */
const char *host_emit_header(struct arena *arena, const struct host_emit_request *request);

/* "CUDA", "OpenCL" or "C", as a header says it; and which of them a header that begins so is for, NULL if none. */
const char *host_language_name(enum backend_language language);
const char *host_header_language(const char *beginning);

#endif
