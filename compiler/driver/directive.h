/* Test directives: `-- test KERNEL ARGS == RESULT`, `~= RESULT`, `~=1e-3 RESULT`, `error "text"`, a line each. */
#ifndef FCL_DRIVER_DIRECTIVE_H
#define FCL_DRIVER_DIRECTIVE_H

#include "support/diag.h"
#include "support/vec.h"
#include "syntax/ast.h"

enum expectation { EXPECT_EQUAL, EXPECT_CLOSE, EXPECT_ERROR };

struct directive {
    struct span span; /* the line's text */
    unsigned line;    /* from 1 */
    const char *text; /* the same, for messages */
    const char *kernel;
    VEC(const char *) arguments;
    enum expectation expectation;
    double tolerance;   /* CLOSE: 0 when none was given */
    const char *wanted; /* the result, or what the message contains */
    const char *wrong;  /* why it cannot be read, and little is known; NULL: it can */
};
typedef VEC(struct directive) directives;

/* All of a file, in order. Malformed ones are reported, and go to `unread`; of comments that look
   like one there is a warning. */
directives directives_find(struct arena *arena, const struct ast_file *file, directives *unread,
                           struct diagnostics *diagnostics);
/* The words that name kernels: in `-- test KERNEL …` and `-- cost KERNEL: …`. */
spans directives_kernels(struct arena *arena, const struct ast_file *file);

#endif
