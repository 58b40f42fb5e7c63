/* Choosing the command. */
#include "driver/commands.h"

enum exit_status command_run_any(struct options *options) {
    switch (options->command) {
    case COMMAND_COMPILE: return command_compile(options);
    case COMMAND_CHECK: return command_check(options);
    case COMMAND_EXPLAIN: return command_explain(options);
    case COMMAND_TYPES: return command_types(options);
    case COMMAND_RUN: return command_run(options);
    case COMMAND_TEST: return command_test(options);
    case COMMAND_BENCH: return command_bench(options);
    case COMMAND_TUNE: return command_tune(options);
    case COMMAND_REPORT: return command_report(options);
    case COMMAND_NEW: return command_new(options);
    case COMMAND_DEVICES: return command_devices(options);
    case COMMAND_FMT: return command_fmt(options);
    case COMMAND_LSP: return command_lsp(options);
    case COMMAND_REPL: return command_repl(options);
    case COMMAND_DOC: return command_doc(options);
    case COMMAND_DUMP: return command_dump(options);
    case COMMAND_COUNT: break;
    }
    return EXIT_INTERNAL;
}
