/* Complaints of the driver, as lines of text or as JSON; see complaint.h. */
#include "driver/complaint.h"

#include <stdarg.h>

#include "support/diag.h"
#include "support/text.h"

FILE *driver_messages(const struct options *options) { return options->messages ? options->messages : stderr; }

static void print_json(struct options *options, enum exit_status status, const char *message, const char *hint) {
    static const enum diag_code codes[] = {[EXIT_GOOD] = DIAG_USAGE,
                                           [EXIT_PROGRAM_WRONG] = DIAG_USAGE,
                                           [EXIT_USAGE] = DIAG_USAGE,
                                           [EXIT_DEVICE] = DIAG_DEVICE,
                                           [EXIT_INTERNAL] = DIAG_INTERNAL};
    const struct span nowhere = {0, 0};
    struct arena *arena = arena_new();
    struct diagnostics *all = diagnostics_new(arena, sources_new(arena));
    struct diagnostic *one = status == EXIT_GOOD ? diag_warning(all, codes[status], nowhere, "%s", message)
                                                 : diag_error(all, codes[status], nowhere, "%s", message);
    if (hint)
        diag_hint(all, one, "%s", hint);
    diag_print_json(all, driver_messages(options), &options->json_is_begun);
    arena_free(arena);
}

enum exit_status driver_explain(struct options *options, enum exit_status status, const char *message,
                                const char *hint) {
    if (options->json_diagnostics)
        print_json(options, status, message, hint);
    else
        fprintf(driver_messages(options), hint ? "fclc: %s\nfclc: %s\n" : "fclc: %s\n", message, hint);
    return status;
}

enum exit_status driver_complain(struct options *options, enum exit_status status, const char *format, ...) {
    struct arena *arena = arena_new();
    struct text text;
    va_list arguments;
    va_start(arguments, format);
    text_init(&text, arena);
    text_vprintf(&text, format, arguments);
    va_end(arguments);
    driver_explain(options, status, text_string(&text), NULL);
    arena_free(arena);
    return status;
}

void driver_end_complaints(const struct options *options) {
    if (options->json_diagnostics)
        diag_end_json(driver_messages(options), options->json_is_begun);
}
