/* Directives, a line each: what a kernel gives for some arguments or for any, and what it costs.
     -- test KERNEL ARGUMENT… == RESULT              or ~= RESULT, ~=1e-3 RESULT, error "text"
     -- test forall NAME… [when CONDITION]. KERNEL ARGUMENT… == RESULT
     -- cost KERNEL: NAME == FORMULA, NAME <= FORMULA, … */
#ifndef FCL_TOOLS_DIRECTIVE_H
#define FCL_TOOLS_DIRECTIVE_H

#include "support/diag.h"
#include "support/vec.h"
#include "syntax/ast.h"

enum expectation { EXPECT_EQUAL, EXPECT_CLOSE, EXPECT_ERROR, EXPECT_COST };

/* `forall`: the arguments and the result may be these names, and the result another kernel's call. */
struct directive_forall {
    VEC(const char *) names;
    const char *condition; /* an expression in FCL; NULL: there is none */
    unsigned column;       /* of the condition, from 1 */
};

struct directive {
    struct span span; /* the line's text */
    unsigned line;    /* from 1 */
    const char *text; /* the same, for messages */
    const char *kernel;
    VEC(const char *) arguments;
    const struct directive_forall *forall; /* NULL: a test of these arguments alone */
    enum expectation expectation;
    double tolerance;   /* CLOSE: 0 when none was given */
    const char *wanted; /* the result, what the message contains, or what it costs */
    const char *wrong;  /* why it cannot be read, and little is known; NULL: it can */
};
typedef VEC(struct directive) directives;

/* All of a file, in order. Malformed ones are reported, and go to `unread`; of comments that look
   like one there is a warning. */
directives directives_find(struct arena *arena, const struct ast_file *file, directives *unread,
                           struct diagnostics *diagnostics);

/* Where a directive names a kernel, on the right, too, with what values. */
struct directive_call {
    struct span kernel;
    spans arguments;
    struct span wanted; /* the result; empty: none is said */
    struct span costs;  /* what a line `-- cost` says; empty: another line */
};
typedef VEC(struct directive_call) directive_calls;
directive_calls directives_calls(struct arena *arena, const struct ast_file *file);

/* The next word: up to a blank outside of brackets and quotes. NULL at the end. */
const char *directive_next_word(struct arena *arena, const char **at);

#endif
