/* The IR as text that can be read back, docs/ir.md: all that a kernel has after elaboration, so
   that passes and mappings make the same of it. (`--dump=ir` is for people, and leaves out what
   they can do without.) */
#ifndef FCL_IR_TEXT_TEXT_H
#define FCL_IR_TEXT_TEXT_H

#include "ir/ir.h"

enum { IR_TEXT_VERSION = 1 };

/* Writes the beginning of a file: the version; the target that the kernels were elaborated for, or NULL: any; the name
   of the program that they are from. */
void ir_write_head(struct text *out, const char *target, const char *from);
void ir_write_text(struct text *out, const struct ir_kernel *kernel, const struct sources *sources);

struct ir_file {
    const char *target; /* NULL: any */
    const char *from;   /* NULL: it is not said */
    VEC(struct ir_kernel *) kernels;
};
/* Reads a file whole; NULL with an error among the diagnostics, at its place. The file's kernels have been verified. */
struct ir_file *ir_read(struct arena *arena, struct symbols *symbols, struct sources *sources,
                        const struct source *source, struct diagnostics *diagnostics);

/* Does the kernel go by what only the target has that it was elaborated for: lanes that exchange values, or blocks that
   wait for others? */
bool ir_is_bound(const struct ir_kernel *kernel);
/* Do its blocks wait for others? Note [tickets] of ir.h. */
bool ir_waits(const struct ir_kernel *kernel);

/* Adds the checks of --check to a kernel that was read. */
void ir_add_checks(struct arena *arena, struct ir_kernel *kernel);

#endif
