/* Diagnostics are data: collected while a pass goes on, sorted by place and printed at the end of the run,
   as text (line, caret, notes, hints) or as JSON. */
#ifndef FCL_SUPPORT_DIAG_H
#define FCL_SUPPORT_DIAG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "support/source.h"

/* One row each in diag.def: DIAG(code, "E0101", "title"). The code is what docs/errors.md is indexed by. */
enum diag_code {
#define DIAG(name, number, title) DIAG_##name,
#include "support/diag.def"
#undef DIAG
    DIAG_CODE_COUNT
};

struct diagnostics;
struct diagnostic; /* handle, for attaching notes and hints */

struct diagnostics *diagnostics_new(struct arena *arena, const struct sources *sources);
const struct sources *diagnostics_sources(const struct diagnostics *diagnostics);
/* Where it begins; false: in no source. */
bool diag_place(const struct diagnostics *diagnostics, struct span span, struct place *place);
struct diagnostic *diag_error(struct diagnostics *d, enum diag_code code, struct span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
struct diagnostic *diag_warning(struct diagnostics *d, enum diag_code code, struct span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A secondary place with its own line and caret; an empty span gives a plain "note: …" line. */
/* A WARNING of diag.def is reported where warnings are asked for, and in the user's files alone. */
void diag_show_flagged(struct diagnostics *d);
bool diag_silence(struct diagnostics *d, const char *flag); /* false: there is no such flag */
const char *diag_flag(size_t index);                        /* of the index-th that has one; NULL: there are no more */
void diag_make_warnings_errors(struct diagnostics *d);      /* they count as errors */
void diag_note(struct diagnostics *d, struct diagnostic *to, struct span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void diag_hint(struct diagnostics *d, struct diagnostic *to, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* diag_forget drops the diagnostics since the mark: the caller does something again. */
size_t diag_mark(const struct diagnostics *d);
void diag_forget(struct diagnostics *d, size_t mark);
size_t diag_error_count(const struct diagnostics *d);      /* without warnings, whatever -W says */
bool diag_are_good(const struct diagnostics *d);           /* no errors, nor warnings that -W makes errors */
const char *diag_first_error(const struct diagnostics *d); /* the message of the first that was found; NULL: none */
bool diag_is_ours(const struct diagnostics *d, struct span span); /* as source.is_ours */
bool diag_has(const struct diagnostics *d, enum diag_code code);
bool diag_has_error_in(const struct diagnostics *d, struct span span);
/* All as data, in the order in which they are printed, for those who show them in another way. */
struct diag_remark {
    struct span span; /* empty: of no place */
    const char *message;
};
struct diag_view {
    bool is_error;
    const char *number, *title;
    struct span span;
    const char *message;
    const struct diag_remark *notes;
    size_t note_count;
    const char *const *hints;
    size_t hint_count;
};
size_t diag_view_all(const struct diagnostics *d, const struct diag_view **views);
/* Prints all in source order, duplicates (same place and text) dropped, at most `limit` errors and
   as many warnings (0: all). */
void diag_print_text(const struct diagnostics *d, FILE *out, bool colour, size_t limit);
/* A JSON array, of which `is_begun` says whether elements were printed before; diag_end_json closes it. */
void diag_print_json(const struct diagnostics *d, FILE *out, bool *is_begun);
void diag_end_json(FILE *out, bool is_begun);

#endif
