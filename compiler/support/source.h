/* Source files and places in them. A span is two offsets into one address range that all the files of a
   compilation share; line and column are computed only when something is printed. */
#ifndef FCL_SUPPORT_SOURCE_H
#define FCL_SUPPORT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/arena.h"
#include "support/vec.h"

struct span {
    uint32_t begin, end; /* half open; {0,0} is "no place" */
};
typedef VEC(struct span) spans;

struct source {
    const char *path;          /* as printed */
    const unsigned char *text; /* `length` bytes, then a NUL */
    size_t length;
    uint32_t base;   /* offset of text[0] in the shared range; the first file starts at 1 */
    bool is_ours;    /* of the prelude or the library: errors are shown where the user's file comes to it */
    bool is_trusted; /* that, or a file of the library that is named itself: it may use what is not for programs */
    bool is_shown;   /* what its kernels give is printed, and nobody else gets it: it may be alternatives */
};

struct sources;
struct sources *sources_new(struct arena *arena);
/* Reads a file whole; NULL with *why set when it cannot be read or is larger than 1 GiB. */
const struct source *source_load(struct sources *sources, const char *path, const char **why);
const struct source *source_add(struct sources *sources, const char *path, const char *text, size_t length);
void source_set_trusted(struct sources *sources, const struct source *source, bool is_ours);
void source_set_shown(struct sources *sources, const struct source *source);
/* Lines of `source` behind the first `before` are shown as those of `shown`, the file that it was made from: what
   stands in both has the same column in both. */
void source_show_as(struct sources *sources, const struct source *source, const struct source *shown, size_t before);
/* True unless the text there was made, and is not in the file that is shown. */
bool source_is_written(const struct sources *sources, struct span span);
const struct source *source_at(const struct sources *sources, struct span span); /* NULL: no place */

struct place {
    const struct source *source;
    unsigned line, column;          /* 1-based; column counts code points */
    uint32_t line_begin;            /* its offset in the shared range */
    const unsigned char *line_text; /* as it is shown */
    size_t line_length;
};
bool place_of(const struct sources *sources, uint32_t offset, struct place *place);
struct span span_join(struct span a, struct span b); /* covers both; an empty one is ignored */

#endif
