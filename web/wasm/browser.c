/* The compiler has this in a browser in place of a machine: the commands that need none, one
   stack, files without links that can only be read, and no device. */
#include "browser.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver/commands.h"
#include "tools/completion.h"
#include "driver/complaint.h"
#include "driver/device.h"
#include "driver/evaluate.h"
#include "driver/stack.h"
#include "values/value.h"

/* ---- commands ---- */

enum exit_status command_run_any(struct options *options) {
    switch (options->command) {
    case COMMAND_COMPILE: return command_compile(options);
    case COMMAND_CHECK: return command_check(options);
    case COMMAND_EXPLAIN: return command_explain(options);
    case COMMAND_TYPES: return command_types(options);
    case COMMAND_RUN: return command_run(options);
    case COMMAND_REPORT: return command_report(options);
    case COMMAND_DUMP: return command_dump(options);
    default: break;
    }
    return driver_complain(options, EXIT_USAGE, "`fclc %s` needs more of a machine than a browser has",
                           command_info[options->command].name);
}

void completion_print(FILE *out, const char *shell) { (void)out, (void)shell; }

/* ---- one stack ---- */

void stack_run(void (*function)(void *context, size_t bytes), void *context) { function(context, FCL_STACK_BYTES); }

void interrupt_cleans_up(void) {}

/* ---- files ---- */

char *realpath(const char *path, char *resolved) { return resolved ? strcpy(resolved, path) : strdup(path); }

int mkstemp(char *path) {
    (void)path;
    errno = EROFS;
    return -1;
}

mode_t umask(mode_t mask) { return mask; }

int fchmod(int file, mode_t mode) {
    (void)file, (void)mode;
    errno = EROFS;
    return -1;
}

bool value_inflate(struct value_bytes packed, struct value_bytes bytes, const char **why) {
    (void)packed, (void)bytes;
    *why = "it is compressed, which a page cannot read: save it with numpy.savez";
    return false;
}

/* ---- devices ---- */

static bool absent(const struct options *options, struct arena *arena, const char **said) {
    (void)options, (void)arena;
    *said = "a page has no such device";
    return false;
}

static enum exit_status run(const struct execution *execution, struct host_value **result) {
    (void)execution, (void)result;
    return EXIT_DEVICE;
}

const struct executor executor_cuda = {"cuda", absent, NULL, run, false};
const struct executor executor_opencl = {"opencl", absent, NULL, run, false};
const struct executor executor_c = {"c", absent, NULL, run, false};
const struct executor executor_hip = {"hip", absent, NULL, run, true};

/* A page has programs in FCL only. */
enum exit_status evaluate_ir(const struct execution *execution, struct host_value **result) {
    return run(execution, result);
}

const char *device_mapping_note(const struct options *options, struct arena *arena, const char *target) {
    (void)options, (void)arena, (void)target;
    return NULL;
}

const char *fcl_device_kind_name(enum fcl_device_kind kind) {
    (void)kind;
    return "none";
}

enum fcl_status fcl_parse_device(const char *text, enum fcl_device_kind *kind, int *index) {
    (void)text, (void)kind, (void)index;
    return FCL_INVALID;
}
