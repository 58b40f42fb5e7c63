/* A guest in another program: its allocator, and a queue for each call. The device is the one that DEVICE names, C or
   CUDA, whose driver is linked; SUMS is built from examples/host/sums.fcl. */
#define SUMS_IMPLEMENTATION
#include "sums.h"

#include "host.h"

enum { COUNT = 100000, MOST = 64 };

#ifdef CUDA
int cuMemAlloc_v2(unsigned long long *, size_t), cuMemFree_v2(unsigned long long), cuStreamCreate(void **, unsigned),
    cuStreamDestroy_v2(void *);
#endif

/* A pool that knows what it gave. */
static struct {
    uintptr_t at[MOST];
    uint64_t bytes[MOST];
    int given, refused, wrong;
    bool is_empty;
    const void *queue; /* that is to be used */
} pool;

static uintptr_t allocate(void *data, uint64_t bytes, void *queue) {
    int i = 0;
    while (i < MOST && pool.at[i])
        i++;
    pool.wrong += i == MOST || !bytes || bytes % 4 || data != &pool || queue != pool.queue;
    pool.refused += pool.is_empty;
    if (pool.is_empty || i == MOST)
        return 0;
#ifdef CUDA
    unsigned long long memory = 0;
    if (cuMemAlloc_v2(&memory, (size_t)bytes) != 0)
        return 0;
#else
    void *memory = aligned_alloc(256, (size_t)(bytes + 255) / 256 * 256);
#endif
    pool.bytes[i] = bytes;
    pool.given++;
    return pool.at[i] = (uintptr_t)memory;
}

static void release(void *data, uintptr_t memory, uint64_t bytes, void *queue) {
    int i = 0;
    while (i < MOST && pool.at[i] != memory)
        i++;
    pool.wrong += i == MOST || data != &pool || queue != pool.queue;
    if (i == MOST)
        return;
    pool.wrong += pool.bytes[i] != bytes;
    pool.at[i] = 0;
#ifdef CUDA
    pool.wrong += cuMemFree_v2(memory) != 0;
#else
    free((void *)memory);
#endif
}

static int held(void) {
    int count = 0;
    for (int i = 0; i < MOST; i++)
        count += pool.at[i] != 0;
    return count;
}

static int32_t numbers[COUNT];

static void sums(struct fcl_context *context) {
    int32_t length = 0, total = 0, *running = NULL;
    CHECK(sums_running(context, COUNT, numbers, &length, &running) == FCL_OK && length == COUNT);
    CHECK(sums_total(context, COUNT, numbers, &total) == FCL_OK && total == 3 * COUNT);
    CHECK(running && running[0] == 3 && running[COUNT - 1] == total);
    free(running);
}

static void with_allocator(struct fcl_context *context) {
    const struct fcl_allocator own = {allocate, release, &pool}, half = {allocate, NULL, NULL};
    struct fcl_buffer *buffer = NULL;
    CHECK(fcl_set_allocator(NULL, &own) == FCL_INVALID && fcl_set_allocator(context, &half) == FCL_INVALID);
    CHECK(fcl_buffer_zeros(context, 10, 4, &buffer) == FCL_OK);
    CHECK(fcl_set_allocator(context, &own) == FCL_INVALID && strstr(fcl_error(context), "a buffer of 40 bytes"));
    fcl_buffer_free(buffer);
    sums(context); /* what waits in the pool goes first */
    CHECK(fcl_set_allocator(context, &own) == FCL_OK && !held());
    sums(context);
    CHECK(pool.given > 3 && !held());
    CHECK(fcl_buffer_zeros(context, 0, 4, &buffer) == FCL_OK && held() == 1);
    CHECK(fcl_set_allocator(context, NULL) == FCL_INVALID);
    fcl_buffer_free(buffer);
    pool.is_empty = true;
    CHECK(fcl_buffer_new(context, 1000, &buffer) == FCL_NO_DEVICE_MEMORY && !buffer);
    CHECK(strstr(fcl_error(context), "the caller's allocator has no memory for a buffer of 1000 bytes"));
    pool.is_empty = false;
    CHECK(pool.refused > 0 && !pool.wrong);
}

int main(void) {
    struct fcl_context *context = open_device();
    for (int32_t i = 0; i < COUNT; i++)
        numbers[i] = 3;
    with_allocator(context);
    CHECK(fcl_use_queue(NULL, NULL) == FCL_INVALID && fcl_use_queue(context, NULL) == FCL_OK);
#ifdef CUDA
    void *streams[2];
    for (int i = 0; i < 2; i++)
        CHECK(cuStreamCreate(&streams[i], 1) == 0);
    for (int i = 0; i < 4; i++) {
        pool.queue = i == 3 ? NULL : streams[i % 2];
        CHECK(fcl_use_queue(context, (void *)pool.queue) == FCL_OK);
        sums(context);
    }
    struct fcl_graph *graph = NULL;
    CHECK(fcl_graph_begin(context) == FCL_OK && fcl_use_queue(context, streams[0]) == FCL_INVALID);
    CHECK(fcl_graph_end(context, FCL_OK, &graph) == FCL_OK);
    fcl_graph_free(graph);
#else
    CHECK(fcl_use_queue(context, &pool) == FCL_INVALID && strstr(fcl_error(context), "C has no queues"));
    sums(context);
#endif
    CHECK(fcl_set_allocator(context, NULL) == FCL_OK);
    int given = pool.given;
    sums(context);
    CHECK(pool.given == given && !held() && !pool.wrong);
    /* what is left when the context is closed goes back */
    struct fcl_allocator own = {allocate, release, &pool};
    struct fcl_buffer *left = NULL;
    CHECK(fcl_set_allocator(context, &own) == FCL_OK && fcl_buffer_new(context, 10, &left) == FCL_OK && held() == 1);
    fcl_close(context);
    context = NULL;
    CHECK(!held() && !pool.wrong);
#ifdef CUDA
    for (int i = 0; i < 2; i++)
        CHECK(cuStreamDestroy_v2(streams[i]) == 0);
#endif
    return failures != 0;
}
