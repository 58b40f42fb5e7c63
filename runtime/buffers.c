// Device memory: buffers, the pool that freed ones wait in, memory that begins as zeros, and transfers.
#include "internal.h"

#include <inttypes.h>
#include <stdlib.h>

// Freed buffers are kept for the next of about their size: at most so many, and this fraction of the device's memory.
enum { POOL_COUNT = 64, POOL_SHARE = 8 };

// The runtime allocates the next quarter of a power of two, so that lengths that change a little find freed memory. It
// adds no more than the last of these.
enum { CLASS_PARTS = 4, LEAST_CLASS = 256, MOST_ADDED = 64 << 20 };

// FCL_FILL fills so many bytes of a buffer: systems have less memory than they promise until it is used.
enum { MOST_FILLED = 64 << 20 };

// A launch may want a few small buffers that begin as zeros, and on a GPU clearing each would take
// as long as another launch. So there they are cut from a slab that is cleared as a whole: when it
// is used up, and nobody has a part of it any more, it is cleared again. Work is done in order, so
// who had a part before is done with it by then.
enum { SLAB_BYTES = 4 << 20, SLAB_SHARE = 4, SLAB_ALIGNMENT = 256 };

struct fclrt_slab {
    struct fcl_buffer *memory;
    uint64_t used;
    size_t users; // buffers in it
};

// True if a native buffer is an address, a number, so that other buffers can be offsets from it.
static bool has_addresses(const struct fcl_context *context) {
    return context->device.backend == FCL_BACKEND_CUDA || context->device.backend == FCL_BACKEND_HIP;
}

static union fclrt_memory memory_from(const struct fcl_context *context, uintptr_t native) {
    union fclrt_memory memory = {NULL};
    if (has_addresses(context))
        memory.address = native;
    else
        memory.pointer = (void *)native;
    return memory;
}

static void unlink_buffer(struct fcl_buffer **list, struct fcl_buffer *buffer) {
    if (buffer->previous)
        buffer->previous->next = buffer->next;
    else
        *list = buffer->next;
    if (buffer->next)
        buffer->next->previous = buffer->previous;
}

static void link_buffer(struct fcl_buffer **list, struct fcl_buffer *buffer) {
    buffer->previous = NULL;
    buffer->next = *list;
    if (*list)
        (*list)->previous = buffer;
    *list = buffer;
}

// Memory of so many bytes, from the driver or from whom the caller has named.
static enum fcl_status allocate_bytes(struct fcl_context *context, struct fcl_buffer *buffer, uint64_t bytes) {
    const struct fcl_allocator *own = &context->allocator;
    if (!own->allocate)
        return context->backend->alloc(context, bytes, &buffer->memory);
    buffer->memory = memory_from(context, own->allocate(own->data, bytes, context->used_queue));
    return fcl_buffer_native(buffer)
               ? FCL_OK
               : fclrt_fail(context, FCL_NO_DEVICE_MEMORY,
                            "the caller's allocator has no memory for a buffer of %" PRIu64 " bytes", buffer->bytes);
}

static uint64_t whole_words(uint64_t capacity) { return capacity ? (capacity + 3) / 4 * 4 : 8; }

static void free_memory(struct fcl_context *context, struct fcl_buffer *buffer) {
    const struct fcl_allocator *own = &context->allocator;
    if (own->release)
        own->release(own->data, fcl_buffer_native(buffer), whole_words(buffer->capacity), context->used_queue);
    else
        context->backend->free(context, buffer->memory);
    context->held_bytes -= buffer->capacity;
}

static uint64_t class_of(const struct fcl_context *context, uint64_t bytes) {
    if (!context->use_classes || context->allocator.allocate)
        return bytes;
    uint64_t step = LEAST_CLASS;
    while (step < MOST_ADDED && step * 2 * CLASS_PARTS <= bytes)
        step *= 2;
    uint64_t rounded = bytes ? (bytes - 1) / step * step + step : step;
    return rounded <= context->device.max_buffer_bytes ? rounded : bytes;
}

// Memory of so many bytes, at least as many as are asked. Systems promise more than there is, and
// end the process that uses it: a device's is counted here.
static enum fcl_status allocate(struct fcl_context *context, struct fcl_buffer *buffer, uint64_t capacity) {
    const struct fcl_device_info *device = &context->device;
    if (capacity > device->memory_bytes || context->held_bytes > device->memory_bytes - capacity)
        return fclrt_fail(context, FCL_NO_DEVICE_MEMORY,
                          "no memory for a buffer of %" PRIu64 " bytes on %s, which has %" PRIu64
                          " in all: other buffers take %" PRIu64,
                          buffer->bytes, device->name, device->memory_bytes, context->held_bytes);
    // No driver gives buffers of nothing, but kernels may be given one; and with checks they read
    // element 0 in place of a wrong one. Whole words: kernels change the bytes of an array by words
    // of 4, with what lies beside them (backend/atomics.c).
    enum fcl_status status = allocate_bytes(context, buffer, whole_words(capacity));
    if (status == FCL_OK) {
        buffer->capacity = capacity;
        context->held_bytes += capacity;
    }
    return status;
}

static void free_list(struct fcl_context *context, struct fcl_buffer **list) {
    for (struct fcl_buffer *buffer = *list, *next; buffer; buffer = next) {
        next = buffer->next;
        if (buffer->slab && !--buffer->slab->users && buffer->slab != context->slab)
            free(buffer->slab); // its memory is in the list, too
        if (!buffer->slab && !buffer->is_callers && !buffer->host)
            free_memory(context, buffer);
        free(buffer);
    }
    *list = NULL;
}

void fcl_trim(struct fcl_context *context) {
    FCLRT_ENTER;
    if (!context || !context->pool)
        return;
    context->backend->finish(context);
    free_list(context, &context->pool);
    context->backend->finish(context); // a driver that frees in the order of the queue gives the memory back then
    context->pool_bytes = 0;
    context->pool_count = 0;
}

// One that waits and has that many bytes, and few more; or NULL.
static struct fcl_buffer *take(struct fcl_buffer **list, uint64_t bytes, uint64_t class) {
    for (struct fcl_buffer *buffer = *list; buffer; buffer = buffer->next)
        if (buffer->capacity >= bytes && buffer->capacity <= class) {
            unlink_buffer(list, buffer);
            return buffer;
        }
    return NULL;
}

// Memory of that many bytes, in which anything may be.
static enum fcl_status find_memory(struct fcl_context *context, uint64_t bytes, struct fcl_buffer **out) {
    // Work is done in order, so memory freed before is free for what is asked now.
    uint64_t class = class_of(context, bytes);
    struct fcl_buffer *buffer = context->recorded ? take(&context->recorded->buffers, bytes, class) : NULL;
    if (!buffer && (buffer = take(&context->pool, bytes, class)) != NULL) {
        context->pool_bytes -= buffer->capacity;
        context->pool_count--;
    }
    if (buffer) {
        link_buffer(&context->buffers, buffer);
        buffer->bytes = bytes;
        *out = buffer;
        return FCL_OK;
    }
    const struct fcl_device_info *device = &context->device;
    if (bytes > device->max_buffer_bytes || bytes > SIZE_MAX / 2)
        return fclrt_fail(context, FCL_TOO_LARGE,
                          "a buffer of %" PRIu64 " bytes: %s allows at most %" PRIu64
                          " bytes in one buffer and has %" PRIu64 " in all",
                          bytes, device->name, device->max_buffer_bytes, device->memory_bytes);
    buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return fclrt_no_memory(context);
    buffer->context = context;
    buffer->bytes = bytes;
    enum fcl_status status = allocate(context, buffer, class);
    if (status != FCL_OK && class > bytes)
        status = allocate(context, buffer, bytes);
    if (status != FCL_OK && context->pool) {
        fcl_trim(context);
        status = allocate(context, buffer, bytes);
    }
    if (status != FCL_OK) {
        free(buffer);
        return status;
    }
    link_buffer(&context->buffers, buffer);
    *out = buffer;
    return FCL_OK;
}

enum fcl_status fcl_buffer_new(struct fcl_context *context, uint64_t bytes, struct fcl_buffer **out) {
    FCLRT_ENTER;
    if (out)
        *out = NULL;
    if (!context)
        return FCL_INVALID;
    if (!out)
        return fclrt_fail(context, FCL_INVALID, "fcl_buffer_new: no place for the buffer");
    enum fcl_status status = find_memory(context, bytes, out);
    if (status != FCL_OK || !context->fill || !bytes)
        return status;
    uint64_t filled = (*out)->capacity < MOST_FILLED ? (*out)->capacity : MOST_FILLED;
    status = context->backend->fill(*out, 0, filled, (uint8_t)context->fill);
    if (status != FCL_OK) {
        fcl_buffer_free(*out);
        *out = NULL;
    }
    return status;
}

enum fcl_status fcl_buffer_array(struct fcl_context *context, uint64_t count, uint64_t element_bytes,
                                 struct fcl_buffer **out) {
    FCLRT_ENTER;
    if (out)
        *out = NULL;
    if (!context)
        return FCL_INVALID;
    if (element_bytes && count > UINT64_MAX / element_bytes)
        return fclrt_fail(context, FCL_TOO_LARGE,
                          "an array of %" PRIu64 " elements of %" PRIu64
                          " bytes each is larger than any memory; %s has %" PRIu64 " bytes",
                          count, element_bytes, context->device.name, context->device.memory_bytes);
    return fcl_buffer_new(context, count * element_bytes, out);
}

static void leave_slab(const struct fcl_context *context, struct fclrt_slab *slab) {
    if (--slab->users || slab == context->slab)
        return;
    fcl_buffer_free(slab->memory);
    free(slab);
}

// A slot is for others once what may still write it is done: launches that were asked for before.
static void leave_slot(struct fcl_context *context, const struct fcl_buffer *buffer) {
    struct fclrt_slots *slots = &context->slots;
    ptrdiff_t i = (buffer->host - slots->host) / FCLRT_SLOT_BYTES;
    slots->is_used[i] = false;
    slots->free_at[i] = context->finishes + 1;
}

// Memory of its own that nobody uses any more.
static void keep(struct fcl_context *context, struct fcl_buffer *buffer) {
    if (!context->use_pool || context->allocator.release) {
        free_memory(context, buffer);
        free(buffer);
        return;
    }
    link_buffer(&context->pool, buffer);
    context->pool_bytes += buffer->capacity;
    context->pool_count++;
    // Those freed longest ago go first.
    while (context->pool_count > POOL_COUNT || context->pool_bytes > context->device.memory_bytes / POOL_SHARE) {
        struct fcl_buffer *last = context->pool;
        while (last->next)
            last = last->next;
        unlink_buffer(&context->pool, last);
        context->pool_bytes -= last->capacity;
        context->pool_count--;
        free_memory(context, last);
        free(last);
    }
}

void fclrt_recycle_buffers(struct fcl_context *context, struct fcl_buffer **list) {
    for (struct fcl_buffer *buffer; (buffer = *list) != NULL;) {
        unlink_buffer(list, buffer);
        keep(context, buffer);
    }
}

void fcl_buffer_free(struct fcl_buffer *buffer) {
    FCLRT_ENTER;
    if (!buffer)
        return;
    struct fcl_context *context = buffer->context;
    unlink_buffer(&context->buffers, buffer);
    if (buffer->slab)
        leave_slab(context, buffer->slab);
    if (buffer->host)
        leave_slot(context, buffer);
    if (buffer->slab || buffer->is_callers || buffer->host)
        free(buffer);
    else if (context->recorded)
        link_buffer(&context->recorded->buffers, buffer);
    else
        keep(context, buffer);
}

enum fcl_status fcl_buffer_wrap(struct fcl_context *context, uintptr_t native, uint64_t bytes,
                                struct fcl_buffer **out) {
    FCLRT_ENTER;
    if (out)
        *out = NULL;
    if (!context)
        return FCL_INVALID;
    if (!out || (!native && bytes))
        return fclrt_fail(context, FCL_INVALID, "fcl_buffer_wrap: no %s", out ? "memory" : "place for the buffer");
    if (!bytes) // a kernel may read one element in place of one that there is not
        return find_memory(context, 0, out);
    struct fcl_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return fclrt_no_memory(context);
    buffer->context = context;
    buffer->bytes = bytes;
    buffer->is_callers = true;
    buffer->memory = memory_from(context, native);
    link_buffer(&context->buffers, buffer);
    *out = buffer;
    return FCL_OK;
}

uintptr_t fcl_buffer_native(const struct fcl_buffer *buffer) {
    if (!buffer)
        return 0;
    return has_addresses(buffer->context) ? (uintptr_t)buffer->memory.address : (uintptr_t)buffer->memory.pointer;
}

const union fclrt_memory *fclrt_memory_of(const struct fcl_arg *arg) {
    static const union fclrt_memory nothing = {NULL};
    return arg->as.buffer ? &arg->as.buffer->memory : &nothing;
}

const void **fclrt_values_of(const struct fcl_arg *args, size_t count, const void **few) {
    const void **values = count <= FCLRT_FEW_ARGUMENTS ? few : calloc(count, sizeof *values);
    for (size_t i = 0; values && i < count; i++)
        values[i] = args[i].kind == FCL_ARG_BUFFER ? (const void *)fclrt_memory_of(&args[i]) : args[i].as.scalar;
    return values;
}

uint64_t fcl_buffer_bytes(const struct fcl_buffer *buffer) { return buffer ? buffer->bytes : 0; }

enum fcl_status fcl_set_allocator(struct fcl_context *context, const struct fcl_allocator *allocator) {
    FCLRT_ENTER;
    static const struct fcl_allocator none;
    if (!context)
        return FCL_INVALID;
    if (allocator && (!allocator->allocate || !allocator->release))
        return fclrt_fail(context, FCL_INVALID, "fcl_set_allocator: a function is missing");
    if (context->slab && !context->slab->users) {
        fcl_buffer_free(context->slab->memory);
        free(context->slab);
        context->slab = NULL;
    }
    fcl_trim(context);
    for (const struct fcl_buffer *buffer = context->buffers; buffer; buffer = buffer->next)
        if (!buffer->is_callers && !buffer->host)
            return fclrt_fail(context, FCL_INVALID,
                              "fcl_set_allocator: a buffer of %" PRIu64 " bytes has memory that another one gave",
                              buffer->bytes);
    context->allocator = allocator ? *allocator : none;
    return FCL_OK;
}

// ---------------------------------------------------------------- results in buffers of the caller's

// Do they share memory? OpenCL's has no address: a cl_mem is one memory.
static bool share(const struct fcl_buffer *a, const struct fcl_buffer *b) {
    uint64_t x = fcl_buffer_native(a), y = fcl_buffer_native(b);
    if (a->context->device.backend == FCL_BACKEND_OPENCL)
        return x && x == y;
    return a->bytes && b->bytes && (x < y ? y - x < a->bytes : x - y < b->bytes);
}

enum fcl_status fcl_into_begin(struct fcl_context *context, struct fcl_buffer *const *results, size_t result_count,
                               struct fcl_buffer *const *arguments, size_t argument_count) {
    FCLRT_ENTER;
    if (!context)
        return FCL_INVALID;
    if ((!results && result_count) || (!arguments && argument_count))
        return fclrt_fail(context, FCL_INVALID, "fcl_into_begin: a list is NULL");
    if (context->into.results)
        return fclrt_fail(context, FCL_INVALID, "fcl_into_begin: results already go to other buffers");
    for (size_t i = 0; i < result_count; i++) {
        if (results[i] && results[i]->context != context)
            return fclrt_fail(context, FCL_INVALID, "the buffer for result %zu is of another context", i);
        for (size_t k = 0; results[i] && k < i; k++)
            if (results[k] && share(results[i], results[k]))
                return fclrt_fail(context, FCL_INVALID, "the buffers for results %zu and %zu share memory", k, i);
    }
    context->into = (struct fclrt_into){results, arguments, result_count, argument_count};
    return FCL_OK;
}

// May launches store so many bytes right there? Backends change the bytes of an array by words of 4 (`allocate`), and
// store by 16 bytes where memory of ours begins so.
static bool may_hold(const struct fclrt_into *into, const struct fcl_buffer *buffer, uint64_t bytes) {
    enum { WORD = 4, PIECE = 16 };
    if (buffer->bytes < bytes)
        return false;
    bool is_address = buffer->context->device.backend != FCL_BACKEND_OPENCL;
    if (buffer->is_callers && (bytes % WORD || (is_address && fcl_buffer_native(buffer) % PIECE)))
        return false;
    for (size_t i = 0; i < into->argument_count; i++)
        if (into->arguments[i] && share(buffer, into->arguments[i]))
            return false;
    return true;
}

enum fcl_status fcl_buffer_result(struct fcl_context *context, size_t which, uint64_t count, uint64_t element_bytes,
                                  struct fcl_buffer **out) {
    FCLRT_ENTER;
    const struct fclrt_into *into = context ? &context->into : NULL;
    struct fcl_buffer *to = into && which < into->result_count ? into->results[which] : NULL;
    bool overflows = element_bytes && count > UINT64_MAX / element_bytes;
    if (!to || !out || overflows || !may_hold(into, to, count * element_bytes))
        return fcl_buffer_array(context, count, element_bytes, out);
    enum fcl_status status = fcl_buffer_wrap(context, fcl_buffer_native(to), count * element_bytes, out);
    return status != FCL_OK || !context->fill || !count
               ? status
               : context->backend->fill(*out, 0, count * element_bytes, (uint8_t)context->fill);
}

static enum fcl_status give(struct fcl_context *context, size_t which, struct fcl_buffer *made, uint64_t bytes) {
    struct fcl_buffer *to = context->into.results[which];
    if (!to || !made || fcl_buffer_native(to) == fcl_buffer_native(made))
        return FCL_OK;
    if (to->bytes < bytes)
        return fclrt_fail(context, FCL_NO_ROOM,
                          "result %zu has %" PRIu64 " bytes, and its buffer has room for %" PRIu64, which, bytes,
                          to->bytes);
    return fcl_copy(to, 0, made, 0, bytes);
}

enum fcl_status fcl_into_end(struct fcl_context *context, enum fcl_status status, struct fcl_buffer **made,
                             const uint64_t *bytes) {
    FCLRT_ENTER;
    if (!context)
        return FCL_INVALID;
    size_t count = made && bytes ? context->into.result_count : 0;
    if (!count && context->into.result_count && status == FCL_OK)
        status = fclrt_fail(context, FCL_INVALID, "fcl_into_end: a list is NULL");
    for (size_t i = 0; i < count; i++) {
        if (status == FCL_OK)
            status = give(context, i, made[i], bytes[i]);
        fcl_buffer_free(made[i]);
        made[i] = NULL;
    }
    context->into = (struct fclrt_into){.results = NULL};
    return status;
}

// ---------------------------------------------------------------- zeros

// One that has that much room left.
static enum fcl_status find_slab(struct fcl_context *context, uint64_t needed) {
    struct fclrt_slab *slab = context->slab;
    if (slab && slab->used + needed <= SLAB_BYTES)
        return FCL_OK;
    if (slab && slab->users) // the last who leaves frees it
        context->slab = slab = NULL;
    if (!slab) {
        slab = calloc(1, sizeof *slab);
        if (!slab)
            return fclrt_no_memory(context);
        enum fcl_status status = fcl_buffer_new(context, SLAB_BYTES, &slab->memory);
        if (status != FCL_OK) {
            free(slab);
            return status;
        }
        context->slab = slab;
    }
    slab->used = SLAB_BYTES; // until it is cleared
    enum fcl_status status = fcl_fill(slab->memory, 0, SLAB_BYTES, 0);
    if (status == FCL_OK)
        slab->used = 0;
    return status;
}

static enum fcl_status part_of_slab(struct fcl_context *context, uint64_t bytes, struct fcl_buffer **out) {
    uint64_t needed = (bytes ? bytes + SLAB_ALIGNMENT - 1 : 1) / SLAB_ALIGNMENT * SLAB_ALIGNMENT;
    enum fcl_status status = find_slab(context, needed);
    if (status != FCL_OK)
        return status;
    struct fcl_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return fclrt_no_memory(context);
    struct fclrt_slab *slab = context->slab;
    buffer->context = context;
    buffer->bytes = bytes;
    buffer->slab = slab;
    buffer->memory.address = slab->memory->memory.address + slab->used;
    slab->used += needed;
    slab->users++;
    link_buffer(&context->buffers, buffer);
    *out = buffer;
    return FCL_OK;
}

enum fcl_status fcl_buffer_zeros(struct fcl_context *context, uint64_t count, uint64_t element_bytes,
                                 struct fcl_buffer **out) {
    FCLRT_ENTER;
    // A graph clears its own each time that it is launched.
    if (context && out && has_addresses(context) && context->use_pool && !context->allocator.allocate &&
        !context->recorded && count <= SLAB_BYTES / SLAB_SHARE / (element_bytes ? element_bytes : 1)) {
        *out = NULL;
        return part_of_slab(context, count * element_bytes, out);
    }
    enum fcl_status status = fcl_buffer_array(context, count, element_bytes, out);
    if (status == FCL_OK && (status = fcl_fill(*out, 0, (*out)->bytes, 0)) != FCL_OK) {
        fcl_buffer_free(*out);
        *out = NULL;
    }
    return status;
}

// ---------------------------------------------------------------- slots

static int free_slot(const struct fcl_context *context) {
    const struct fclrt_slots *slots = &context->slots;
    for (int i = 0; i < FCLRT_SLOTS; i++)
        if (!slots->is_used[i] && slots->free_at[i] <= context->finishes)
            return i;
    return -1;
}

// Slot i, which is free.
static enum fcl_status take_slot(struct fcl_context *context, int i, uint64_t element_bytes, bool zeros,
                                 struct fcl_buffer **out) {
    *out = NULL;
    struct fcl_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return fclrt_no_memory(context);
    struct fclrt_slots *slots = &context->slots;
    slots->is_used[i] = true;
    buffer->context = context;
    buffer->bytes = element_bytes;
    buffer->host = slots->host + (size_t)i * FCLRT_SLOT_BYTES;
    buffer->memory.address = slots->memory.address + (uint64_t)i * FCLRT_SLOT_BYTES;
    memset(buffer->host, zeros ? 0 : context->fill, FCLRT_SLOT_BYTES);
    link_buffer(&context->buffers, buffer);
    *out = buffer;
    return FCL_OK;
}

enum fcl_status fcl_buffer_slot(struct fcl_context *context, uint64_t element_bytes, bool zeros,
                                struct fcl_buffer **out) {
    FCLRT_ENTER;
    bool may = context && out && context->slots.host && context->use_pool && !context->recorded;
    int i = may && element_bytes <= FCLRT_SLOT_BYTES ? free_slot(context) : -1;
    if (i >= 0)
        return take_slot(context, i, element_bytes, zeros, out);
    return zeros ? fcl_buffer_zeros(context, 1, element_bytes, out) : fcl_buffer_array(context, 1, element_bytes, out);
}

static enum fcl_status read_slot(const struct fcl_buffer *buffer, uint64_t offset, void *data, uint64_t bytes) {
    enum fcl_status status = buffer->context->backend->finish(buffer->context);
    if (status == FCL_OK)
        memcpy(data, buffer->host + offset, (size_t)bytes);
    return status;
}

// ---------------------------------------------------------------- reports that are looked at while the host waits

struct fclrt_watch {
    struct fclrt_watch *next;
    const char *const *messages;
    struct fcl_buffer *report;
    bool is_open; // launches may have left something since it was looked at
};

static struct fclrt_watch **watch_of(struct fcl_context *context, const char *const *messages) {
    struct fclrt_watch **at = &context->watches;
    while (*at && (*at)->messages != messages)
        at = &(*at)->next;
    return at;
}

// A slot also while a graph is recorded: what is in it is the host's, and nothing of it is recorded.
static enum fcl_status new_report(struct fcl_context *context, struct fcl_buffer **report) {
    int i = context->slots.host ? free_slot(context) : -1;
    if (i >= 0)
        return take_slot(context, i, sizeof(int32_t), true, report);
    enum fcl_status status = fclrt_expect_no_recording(context, "fcl_watch");
    return status == FCL_OK ? fcl_buffer_zeros(context, 1, sizeof(int32_t), report) : status;
}

enum fcl_status fcl_watch(struct fcl_context *context, const char *const *messages, struct fcl_buffer **report) {
    FCLRT_ENTER;
    if (!context || !messages || !report)
        return FCL_INVALID;
    struct fclrt_watch *watch = *watch_of(context, messages);
    if (!watch) {
        enum fcl_status status = new_report(context, report);
        if (status != FCL_OK)
            return status;
        if (!(watch = malloc(sizeof *watch))) {
            fcl_buffer_free(*report);
            return fclrt_no_memory(context);
        }
        *watch = (struct fclrt_watch){context->watches, messages, *report, false};
        context->watches = watch;
    }
    watch->is_open = true;
    *report = watch->report;
    return FCL_OK;
}

static void free_watch(struct fclrt_watch **at) {
    struct fclrt_watch *watch = *at;
    *at = watch->next;
    fcl_buffer_free(watch->report);
    free(watch);
}

void fcl_unwatch(struct fcl_context *context, const char *const *messages) {
    FCLRT_ENTER;
    struct fclrt_watch **at = context ? watch_of(context, messages) : NULL;
    if (at && *at)
        free_watch(at);
}

void fclrt_watch_all(struct fcl_context *context) {
    for (struct fclrt_watch *watch = context->watches; watch; watch = watch->next)
        watch->is_open = true;
}

enum fcl_status fclrt_look(struct fcl_context *context) {
    for (struct fclrt_watch *watch = context->watches; watch; watch = watch->next) {
        struct fcl_buffer *report = watch->report;
        int32_t found = 0;
        if (!watch->is_open)
            continue;
        enum fcl_status status = FCL_OK;
        if (report->host)
            memcpy(&found, report->host, sizeof found);
        else
            status = context->backend->read(report, 0, &found, sizeof found);
        if (status != FCL_OK)
            return status;
        watch->is_open = false;
        if (!found)
            continue;
        if (report->host)
            memset(report->host, 0, sizeof found);
        else if ((status = context->backend->fill(report, 0, sizeof found, 0)) != FCL_OK)
            return status;
        return fclrt_fail(context, FCL_CHECK_FAILED, "%s", watch->messages[found - 1]);
    }
    return FCL_OK;
}

void fclrt_free_buffers(struct fcl_context *context) {
    while (context->watches)
        free_watch(&context->watches);
    free_list(context, &context->buffers);
    free_list(context, &context->pool);
    free(context->slab);
}

// ---------------------------------------------------------------- transfers

// `asking` gets the message.
static enum fcl_status check_range(struct fcl_context *asking, const char *function, const struct fcl_buffer *buffer,
                                   uint64_t offset, uint64_t bytes) {
    if (offset <= buffer->bytes && bytes <= buffer->bytes - offset)
        return FCL_OK;
    return fclrt_fail(asking, FCL_INVALID,
                      "%s: %" PRIu64 " bytes from offset %" PRIu64 " do not lie in a buffer of %" PRIu64 " bytes",
                      function, bytes, offset, buffer->bytes);
}

enum fcl_status fcl_write(struct fcl_buffer *buffer, uint64_t offset, const void *data, uint64_t bytes) {
    FCLRT_ENTER;
    if (!buffer)
        return FCL_INVALID;
    enum fcl_status status = check_range(buffer->context, "fcl_write", buffer, offset, bytes);
    if (status != FCL_OK || !bytes)
        return status;
    if (!data)
        return fclrt_fail(buffer->context, FCL_INVALID, "fcl_write: no data");
    if ((status = fclrt_expect_no_recording(buffer->context, "fcl_write")) != FCL_OK)
        return status;
    return buffer->context->backend->write(buffer, offset, data, bytes);
}

enum fcl_status fcl_read(struct fcl_buffer *buffer, uint64_t offset, void *data, uint64_t bytes) {
    FCLRT_ENTER;
    if (!buffer)
        return FCL_INVALID;
    enum fcl_status status = check_range(buffer->context, "fcl_read", buffer, offset, bytes);
    if (status != FCL_OK || !bytes)
        return status;
    if (!data)
        return fclrt_fail(buffer->context, FCL_INVALID, "fcl_read: no place for the data");
    if ((status = fclrt_expect_no_recording(buffer->context, "fcl_read")) != FCL_OK)
        return status;
    status = buffer->host ? read_slot(buffer, offset, data, bytes)
                          : buffer->context->backend->read(buffer, offset, data, bytes);
    return status == FCL_OK ? fclrt_look(buffer->context) : status;
}

enum fcl_status fclrt_copy_by_host(struct fcl_buffer *to, uint64_t to_offset, struct fcl_buffer *from,
                                   uint64_t from_offset, uint64_t bytes) {
    const struct fclrt_backend *giver = from->context->backend, *taker = to->context->backend;
    if (from->context->device.backend == FCL_BACKEND_C)
        return taker->write(to, to_offset, (char *)from->memory.pointer + from_offset, bytes);
    enum { PIECE = 1 << 24 };
    uint64_t most = bytes < PIECE ? bytes : PIECE;
    char *piece = malloc((size_t)most);
    if (!piece)
        return fclrt_no_memory(to->context);
    enum fcl_status status = FCL_OK;
    for (uint64_t done = 0; done < bytes && status == FCL_OK; done += most) {
        uint64_t now = bytes - done < most ? bytes - done : most;
        if ((status = giver->read(from, from_offset + done, piece, now)) != FCL_OK)
            status = fclrt_fail(to->context, status, "fcl_copy: %s", fcl_error(from->context));
        else
            status = taker->write(to, to_offset + done, piece, now);
    }
    free(piece);
    return status;
}

// Failures leave their message in the context of `to`, where the caller looks for it.
static enum fcl_status copy_between(struct fcl_buffer *to, uint64_t to_offset, struct fcl_buffer *from,
                                    uint64_t from_offset, uint64_t bytes) {
    struct fcl_context *giver = from->context, *taker = to->context;
    enum fcl_status status = fclrt_expect_no_recording(giver, "fcl_finish");
    if (status == FCL_OK)
        status = giver->backend->finish(giver);
    if (status != FCL_OK)
        return fclrt_fail(taker, status, "fcl_copy: %s", fcl_error(giver));
    return giver->backend == taker->backend && taker->backend->copy_peer
               ? taker->backend->copy_peer(to, to_offset, from, from_offset, bytes)
               : fclrt_copy_by_host(to, to_offset, from, from_offset, bytes);
}

enum fcl_status fcl_copy(struct fcl_buffer *to, uint64_t to_offset, struct fcl_buffer *from, uint64_t from_offset,
                         uint64_t bytes) {
    FCLRT_ENTER;
    if (!to || !from)
        return FCL_INVALID;
    enum fcl_status status = check_range(to->context, "fcl_copy", to, to_offset, bytes);
    if (status == FCL_OK)
        status = check_range(to->context, "fcl_copy", from, from_offset, bytes);
    if (status != FCL_OK || !bytes)
        return status;
    if (to == from && to_offset < from_offset + bytes && from_offset < to_offset + bytes)
        return fclrt_fail(to->context, FCL_INVALID, "fcl_copy: the ranges overlap");
    if (to->context != from->context)
        return copy_between(to, to_offset, from, from_offset, bytes);
    return to->context->backend->copy(to, to_offset, from, from_offset, bytes);
}

enum fcl_status fcl_fill(struct fcl_buffer *buffer, uint64_t offset, uint64_t bytes, uint8_t value) {
    FCLRT_ENTER;
    if (!buffer)
        return FCL_INVALID;
    enum fcl_status status = check_range(buffer->context, "fcl_fill", buffer, offset, bytes);
    if (status != FCL_OK || !bytes)
        return status;
    return buffer->context->backend->fill(buffer, offset, bytes, value);
}

enum fcl_status fcl_check_report(struct fcl_buffer *report, const char *const *messages) {
    FCLRT_ENTER;
    int32_t found[3] = {0, 0, 0};
    enum fcl_status status = fcl_read(report, 0, found, sizeof found);
    if (status != FCL_OK || found[0] == 0)
        return status;
    return fcl_check(report->context, false, messages ? messages[found[0] - 1] : NULL, found[1], found[2]);
}
