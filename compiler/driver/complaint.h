/* Errors and warnings about the command line, about a file that it names, or about a device. They go to stderr in the
   driver's form. With --diagnostics=json each is an element of the one array there, as errors of the program are. */
#ifndef FCL_DRIVER_COMPLAINT_H
#define FCL_DRIVER_COMPLAINT_H

#include "driver/options.h"

/* Gives `status`, which says what it is about; EXIT_GOOD: a warning. */
enum exit_status driver_complain(struct options *options, enum exit_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, with a line that helps. */
enum exit_status driver_explain(struct options *options, enum exit_status status, const char *message,
                                const char *hint);
/* Where they and the diagnostics are printed. */
FILE *driver_messages(const struct options *options);
/* After the last one: closes the array. */
void driver_end_complaints(const struct options *options);

#endif
