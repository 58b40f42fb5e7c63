/* Threads with large stacks; see stack.h. */
#include "driver/stack.h"

#include <pthread.h>
#include <stdbool.h>

enum {
    STACK_LARGE = 512 * 1024 * 1024,
    STACK_SMALL = 64 * 1024 * 1024,
    STACK_KEPT_BACK = 4 * 1024 * 1024, /* for what lies below and above an evaluation */
    STACK_ENOUGH =
        60 * 1024 * 1024, /* tens of thousands of calls; AddressSanitizer follows no longjmp over more than 64 MiB */
};

struct call {
    void (*function)(void *context, size_t bytes);
    void *context;
    size_t bytes;
};

static size_t bytes_for_evaluation(size_t stack_bytes) {
    size_t bytes = stack_bytes - STACK_KEPT_BACK;
    return bytes < STACK_ENOUGH ? bytes : STACK_ENOUGH;
}

static void *start(void *context) {
    const struct call *call = context;
    call->function(call->context, call->bytes);
    return NULL;
}

static bool run_on(struct call *call, size_t bytes) {
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    call->bytes = bytes_for_evaluation(bytes);
    bool started =
        pthread_attr_setstacksize(&attributes, bytes) == 0 && pthread_create(&thread, &attributes, start, call) == 0;
    pthread_attr_destroy(&attributes);
    return started && pthread_join(thread, NULL) == 0;
}

void stack_run(void (*function)(void *context, size_t bytes), void *context) {
    struct call call = {function, context, 0};
    if (!run_on(&call, STACK_LARGE) && !run_on(&call, STACK_SMALL))
        function(context, 0);
}
