/* What the commands do; each gets the parsed options and answers with the exit status. */
#ifndef FCL_DRIVER_COMMANDS_H
#define FCL_DRIVER_COMMANDS_H

#include "driver/options.h"

enum exit_status command_run_any(struct options *options); /* the one that was asked for */

enum exit_status command_check(struct options *options);   /* inspect.c */
enum exit_status command_explain(struct options *options); /* explain.c */
enum exit_status command_types(struct options *options);   /* inspect.c */
enum exit_status command_dump(struct options *options);    /* inspect.c; later stages in later_stages.c */
enum exit_status command_run(struct options *options);     /* run.c */
enum exit_status command_test(struct options *options);    /* test.c */
enum exit_status command_compile(struct options *options); /* compile.c */
enum exit_status command_bench(struct options *options);   /* bench.c */
enum exit_status command_tune(struct options *options);    /* tune.c */
enum exit_status command_report(struct options *options);  /* reporting.c */
enum exit_status command_new(struct options *options);     /* new.c */
enum exit_status command_devices(struct options *options); /* devices.c */
enum exit_status command_fmt(struct options *options);     /* fmt.c */
enum exit_status command_lsp(struct options *options);     /* lsp.c */
enum exit_status command_repl(struct options *options);    /* repl.c */
enum exit_status command_doc(struct options *options);     /* doc.c */

#endif
