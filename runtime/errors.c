// The messages of errors.
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>

const char *fcl_status_text(enum fcl_status status) {
    switch (status) {
    case FCL_OK: return "success";
    case FCL_INVALID: return "invalid argument";
    case FCL_NO_BACKEND: return "backend not available";
    case FCL_NO_DEVICE: return "no such device";
    case FCL_NO_MEMORY: return "out of memory on the host";
    case FCL_NO_DEVICE_MEMORY: return "out of memory on the device";
    case FCL_TOO_LARGE: return "more than the device's limit";
    case FCL_BUILD_FAILED: return "the kernel source does not compile";
    case FCL_NO_KERNEL: return "no such kernel";
    case FCL_DRIVER_FAILED: return "the driver failed";
    case FCL_CHECK_FAILED: return "a check failed";
    case FCL_NO_ROOM: return "no room for a result";
    case FCL_DEVICE_FAULT: return "the device gives nothing else to this process";
    }
    return "unknown status";
}

enum fcl_status fclrt_fail(struct fcl_context *context, enum fcl_status status, const char *format, ...) {
    if (!context)
        return status;
    va_list args;
    va_start(args, format);
    char *message = fclrt_format_list(format, args);
    va_end(args);
    // Only now: the arguments may be part of the old message.
    free(context->message);
    context->message = message;
    context->status = status;
    return status;
}

enum fcl_status fclrt_no_memory(struct fcl_context *context) {
    return fclrt_fail(context, FCL_NO_MEMORY, "out of memory on the host");
}

const char *fcl_error(const struct fcl_context *context) {
    if (!context || context->status == FCL_OK)
        return "";
    return context->message ? context->message : fcl_status_text(context->status);
}

enum fcl_status fcl_error_status(const struct fcl_context *context) { return context ? context->status : FCL_INVALID; }

// ---------------------------------------------------------------- checks

// `message` with the numbers in place of its first and second %lld; "1 elements" loses its s, and
// what ends in "0 elements" is empty.
static void fill_message(char *to, size_t bytes, const char *message, int64_t a, int64_t b) {
    const int64_t numbers[2] = {a, b};
    size_t used = 0, next = 0;
    while (*message && used + 1 < bytes) {
        if (strncmp(message, "%lld", 4) == 0 && next < 2) {
            static const char one[] = " element";
            message += 4;
            bool is_counted = strncmp(message, one, strlen(one)) == 0 && message[strlen(one)] == 's';
            bool is_one = is_counted && numbers[next] == 1;
            bool is_empty = is_counted && numbers[next] == 0 && !message[strlen(one) + 1];
            int wrote = snprintf(to + used, bytes - used, "%lld%s", (long long)numbers[next++],
                                 is_one     ? one
                                 : is_empty ? " elements (it is empty)"
                                            : "");
            used += wrote > 0 ? (size_t)wrote : 0;
            message += is_one || is_empty ? strlen(one) + 1 : 0;
        } else {
            to[used++] = *message++;
        }
    }
    to[used < bytes ? used : bytes - 1] = 0;
}

enum fcl_status fcl_require(struct fcl_context *context, bool condition, enum fcl_status status, const char *message,
                            int64_t a, int64_t b) {
    char text[512];
    if (condition)
        return FCL_OK;
    fill_message(text, sizeof text, message ? message : fcl_status_text(status), a, b);
    return fclrt_fail(context, status, "%s", text);
}

enum fcl_status fcl_check(struct fcl_context *context, bool condition, const char *message, int64_t a, int64_t b) {
    return fcl_require(context, condition, FCL_CHECK_FAILED, message, a, b);
}

enum fcl_status fcl_expect(struct fcl_context *context, enum fcl_backend backend) {
    if (!context)
        return FCL_INVALID;
    if (context->device.backend == backend)
        return FCL_OK;
    return fclrt_fail(context, FCL_INVALID,
                      "these kernels are for %s, and the context is one of %s: fcl_open takes the kind of device",
                      fcl_backend_name(backend), fcl_backend_name(context->device.backend));
}

const char *fcl_backend_name(enum fcl_backend backend) {
    static const char *const names[FCL_BACKENDS] = {"cuda", "opencl", "c", "hip"};
    return (unsigned)backend < FCL_BACKENDS ? names[backend] : "unknown";
}

enum fcl_status fclrt_expect_no_recording(struct fcl_context *context, const char *function) {
    if (!context->recorded)
        return FCL_OK;
    return fclrt_fail(context, FCL_INVALID, "%s: not while a graph is recorded", function);
}
