/* Ends the process when nothing sensible can follow; see fatal.h. The handler is the one piece of
   mutable global state of the compiler: an allocation deep inside a pass has no other way to reach
   the driver. Each thread has its own. */
#include "support/fatal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local fatal_handler *current_handler;
static _Thread_local void *current_context;

void fatal_set_handler(fatal_handler *handler, void *context) {
    current_handler = handler;
    current_context = context;
}

static _Noreturn void fatal_end(const char *message) {
    if (current_handler)
        current_handler(current_context, message);
    fprintf(stderr, "fclc: %s\n", message);
    exit(FATAL_EXIT_STATUS);
}

void fatal_out_of_memory(size_t bytes) {
    char message[128];
    snprintf(message, sizeof message, "out of memory (%zu more bytes were wanted)", bytes);
    fatal_end(message);
}

void fatal_internal(const char *stage, const char *format, ...) {
    char detail[768], message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    snprintf(message, sizeof message,
             "internal error in %s: %s\n"
             "fclc: this is a bug in the compiler; please report it with the program that caused it",
             stage, detail);
    fatal_end(message);
}
