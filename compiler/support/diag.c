/* Collecting diagnostics and printing them as text or JSON; the forms are in diag.h. */
#include "support/diag.h"

#include <stdlib.h>
#include <string.h>

#include "support/json.h"
#include "support/text.h"
#include "support/utf8.h"
#include "support/vec.h"

enum {
    WINDOW_WIDTH = 100, /* columns of source shown; longer lines are cut around the span */
    WINDOW_BEFORE = 40, /* of these before the span, when the line is cut */
    TAB_WIDTH = 4,
    GUTTER_LEAST = 3,
    MESSAGE_LONGEST = 4000 /* bytes; a name or a type of the user may be any length */
};

enum severity { SEVERITY_ERROR, SEVERITY_WARNING };

struct diagnostic {
    enum severity severity;
    enum diag_code code;
    struct span span;
    const char *message;
    size_t order; /* of creation; the tie-breaker when sorting */
    VEC(struct diag_remark) notes;
    VEC(const char *) hints;
};

struct diagnostics {
    struct arena *arena;
    const struct sources *sources;
    VEC(struct diagnostic *) all;
    size_t error_count, warning_count;
    bool shows_flagged, are_warnings_errors;
    bool is_silent[DIAG_CODE_COUNT];
};

static const struct {
    const char *number, *flag, *title; /* flag: of warnings that have one */
    bool is_shown;                     /* by every command */
} codes[] = {
#define DIAG(name, number, title) {number, NULL, title, true},
#define WARNING(name, number, flag, title) {number, flag, title, false},
#define ALWAYS(name, number, flag, title) {number, flag, title, true},
#include "support/diag.def"
#undef DIAG
};

bool diag_place(const struct diagnostics *diagnostics, struct span span, struct place *place) {
    return span.end && place_of(diagnostics->sources, span.begin, place);
}

const struct sources *diagnostics_sources(const struct diagnostics *diagnostics) { return diagnostics->sources; }

struct diagnostics *diagnostics_new(struct arena *arena, const struct sources *sources) {
    struct diagnostics *d = ARENA_NEW(arena, struct diagnostics);
    d->arena = arena;
    d->sources = sources;
    return d;
}

/* ---- collecting ---- */

__attribute__((format(printf, 2, 0))) static const char *format_message(struct arena *arena, const char *format,
                                                                        va_list arguments) {
    struct text text;
    text_init(&text, arena);
    text_vprintf(&text, format, arguments);
    if (text.length <= MESSAGE_LONGEST)
        return text_string(&text);
    const char *whole = text_string(&text);
    size_t cut = MESSAGE_LONGEST;
    while (cut > 0 && ((unsigned char)whole[cut] & 0xC0) == 0x80) /* not within a character */
        cut--;
    return arena_printf(arena, "%.*s…", (int)cut, whole);
}

__attribute__((format(printf, 5, 0))) static struct diagnostic *diag_add(struct diagnostics *d, enum severity severity,
                                                                         enum diag_code code, struct span span,
                                                                         const char *format, va_list arguments) {
    struct diagnostic *one = ARENA_NEW(d->arena, struct diagnostic);
    one->severity = severity;
    one->code = code;
    one->span = span;
    one->message = format_message(d->arena, format, arguments);
    one->order = d->all.count;
    bool is_wanted = codes[code].is_shown || (d->shows_flagged && !diag_is_ours(d, span));
    if (!is_wanted || d->is_silent[code])
        return one; /* for the caller's notes; nobody sees it */
    vec_push(d->arena, &d->all, one);
    d->error_count += severity == SEVERITY_ERROR;
    d->warning_count += severity == SEVERITY_WARNING;
    return one;
}

struct diagnostic *diag_error(struct diagnostics *d, enum diag_code code, struct span span, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    struct diagnostic *one = diag_add(d, SEVERITY_ERROR, code, span, format, arguments);
    va_end(arguments);
    return one;
}

struct diagnostic *diag_warning(struct diagnostics *d, enum diag_code code, struct span span, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    struct diagnostic *one = diag_add(d, SEVERITY_WARNING, code, span, format, arguments);
    va_end(arguments);
    return one;
}

void diag_show_flagged(struct diagnostics *d) { d->shows_flagged = true; }

void diag_make_warnings_errors(struct diagnostics *d) { d->are_warnings_errors = true; }

bool diag_silence(struct diagnostics *d, const char *flag) {
    bool is_known = false;
    for (size_t code = 0; code < DIAG_CODE_COUNT; code++)
        if (codes[code].flag && strcmp(codes[code].flag, flag) == 0)
            is_known = d->is_silent[code] = true;
    return is_known;
}

const char *diag_flag(size_t index) {
    for (size_t code = 0; code < DIAG_CODE_COUNT; code++)
        if (codes[code].flag && index-- == 0)
            return codes[code].flag;
    return NULL;
}

void diag_note(struct diagnostics *d, struct diagnostic *to, struct span span, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    struct diag_remark note = {span, format_message(d->arena, format, arguments)};
    va_end(arguments);
    for (size_t i = 0; i < to->notes.count; i++) { /* both operands may have their types from the same place */
        const struct diag_remark *other = &to->notes.at[i];
        if (other->span.begin == span.begin && other->span.end == span.end && strcmp(other->message, note.message) == 0)
            return;
    }
    vec_push(d->arena, &to->notes, note);
}

void diag_hint(struct diagnostics *d, struct diagnostic *to, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const char *hint = format_message(d->arena, format, arguments);
    va_end(arguments);
    vec_push(d->arena, &to->hints, hint);
}

size_t diag_mark(const struct diagnostics *d) { return d->all.count; }

void diag_forget(struct diagnostics *d, size_t mark) {
    while (d->all.count > mark) {
        const struct diagnostic *one = d->all.at[--d->all.count];
        d->error_count -= one->severity == SEVERITY_ERROR;
        d->warning_count -= one->severity == SEVERITY_WARNING;
    }
}

bool diag_is_ours(const struct diagnostics *d, struct span span) {
    const struct source *source = source_at(d->sources, span);
    return source && source->is_ours;
}

bool diag_has(const struct diagnostics *d, enum diag_code code) {
    for (size_t i = 0; i < d->all.count; i++)
        if (d->all.at[i]->code == code)
            return true;
    return false;
}

bool diag_has_error_in(const struct diagnostics *d, struct span span) {
    for (size_t i = 0; i < d->all.count; i++)
        if (d->all.at[i]->severity == SEVERITY_ERROR && d->all.at[i]->span.begin >= span.begin &&
            d->all.at[i]->span.begin < span.end)
            return true;
    return false;
}

size_t diag_error_count(const struct diagnostics *d) { return d->error_count; }

bool diag_are_good(const struct diagnostics *d) {
    return d->error_count == 0 && !(d->are_warnings_errors && d->warning_count > 0);
}

const char *diag_first_error(const struct diagnostics *d) {
    for (size_t i = 0; i < d->all.count; i++)
        if (d->all.at[i]->severity == SEVERITY_ERROR)
            return d->all.at[i]->message;
    return NULL;
}

/* ---- order ---- */

static int compare_diagnostics(const void *left, const void *right) {
    const struct diagnostic *a = *(const struct diagnostic *const *)left;
    const struct diagnostic *b = *(const struct diagnostic *const *)right;
    if (a->span.begin != b->span.begin)
        return a->span.begin < b->span.begin ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static bool same_notes(const struct diagnostic *a, const struct diagnostic *b) {
    if (a->notes.count != b->notes.count)
        return false;
    for (size_t i = 0; i < a->notes.count; i++)
        if (strcmp(a->notes.at[i].message, b->notes.at[i].message) != 0)
            return false;
    return true;
}

/* A diagnostic whose code is not `is_shown` waits until the errors are mended, because they may be its cause. */
static bool is_told(const struct diagnostics *d, const struct diagnostic *one) {
    return codes[one->code].is_shown || d->error_count == 0;
}

/* A note that points at text that nobody wrote says nothing. */
static void leave_out_notes(const struct diagnostics *d, struct diagnostic *one) {
    size_t kept = 0;
    for (size_t i = 0; i < one->notes.count; i++)
        if (source_is_written(d->sources, one->notes.at[i].span))
            one->notes.at[kept++] = one->notes.at[i];
    one->notes.count = kept;
}

/* Sorted and without duplicates. Those of one place are neighbours, so each is compared with the run of
   its place only. */
static size_t sort_diagnostics(const struct diagnostics *d, struct diagnostic ***result) {
    struct diagnostic **sorted = ARENA_ARRAY(d->arena, struct diagnostic *, d->all.count + 1);
    if (d->all.count)
        memcpy(sorted, d->all.at, d->all.count * sizeof *sorted);
    qsort(sorted, d->all.count, sizeof *sorted, compare_diagnostics);
    size_t kept = 0, run = 0;
    for (size_t i = 0; i < d->all.count; i++) {
        struct diagnostic *one = sorted[i];
        leave_out_notes(d, one);
        if (kept > run && sorted[run]->span.begin != one->span.begin)
            run = kept;
        bool duplicate = !is_told(d, one);
        for (size_t j = run; j < kept && !duplicate; j++)
            duplicate = sorted[j]->span.end == one->span.end && sorted[j]->severity == one->severity &&
                        strcmp(sorted[j]->message, one->message) == 0 && same_notes(sorted[j], one);
        if (!duplicate)
            sorted[kept++] = one;
    }
    *result = sorted;
    return kept;
}

/* ---- text ---- */

enum colour { COLOUR_NONE, COLOUR_BOLD, COLOUR_ERROR, COLOUR_WARNING, COLOUR_NOTE, COLOUR_HINT };

static const char *const colour_codes[] = {"\033[0m",    "\033[1m",    "\033[1;31m",
                                           "\033[1;35m", "\033[1;36m", "\033[1;32m"};

static void set_colour(FILE *out, bool colour, enum colour which) {
    if (colour)
        fputs(colour_codes[which], out);
}

/* A character of a source line as it is shown. */
struct glyph {
    char shown[8];
    size_t bytes; /* in the source */
    unsigned width;
};

static struct glyph glyph_at(const unsigned char *text, size_t available) {
    struct glyph glyph = {.width = 1};
    uint32_t point = utf8_decode(text, available, &glyph.bytes);
    if (point == '\t') {
        memset(glyph.shown, ' ', TAB_WIDTH);
        glyph.width = TAB_WIDTH;
    } else if (point == UTF8_INVALID || point < 0x20 || (point >= 0x7F && point < 0xA0)) {
        memcpy(glyph.shown, "\xEF\xBF\xBD", 3); /* control characters must not reach the terminal */
    } else {
        memcpy(glyph.shown, text, glyph.bytes);
        glyph.width = utf8_width(point);
    }
    return glyph;
}

static size_t previous_glyph(const unsigned char *text, size_t at) {
    size_t back = at - 1;
    while (back > 0 && at - back < 4 && (text[back] & 0xC0) == 0x80)
        back--;
    size_t bytes;
    utf8_decode(text + back, at - back, &bytes);
    return back + bytes == at ? back : at - 1;
}

/* Columns of text[from, to), or some number above `limit`. */
static unsigned measure(const unsigned char *text, size_t from, size_t to, unsigned limit) {
    unsigned width = 0;
    for (size_t at = from; at < to && width <= limit;) {
        struct glyph glyph = glyph_at(text + at, to - at);
        width += glyph.width;
        at += glyph.bytes;
    }
    return width;
}

static void pad(FILE *out, unsigned count, char with) {
    for (unsigned i = 0; i < count; i++)
        fputc(with, out);
}

static unsigned digits_of(unsigned number) {
    unsigned digits = 1;
    for (; number >= 10; number /= 10)
        digits++;
    return digits;
}

/* The line of `place` and, under it, carets below the part of [begin, end) that lies on it. */
static void print_line(FILE *out, bool colour, enum colour caret_colour, const struct place *place, struct span span) {
    const unsigned char *line = place->line_text;
    size_t length = place->line_length;
    size_t begin = span.begin - place->line_begin, end = span.end - place->line_begin;
    if (begin > length)
        begin = length; /* the newline itself */
    if (end > length)
        end = length;
    size_t from = 0;
    bool cut = measure(line, 0, length, WINDOW_WIDTH) > WINDOW_WIDTH;
    if (cut && measure(line, 0, begin, WINDOW_BEFORE) > WINDOW_BEFORE) {
        unsigned width = 0;
        for (from = begin; from > 0 && width < WINDOW_BEFORE; from = previous_glyph(line, from))
            width += glyph_at(line + previous_glyph(line, from), from).width;
    }
    unsigned gutter = digits_of(place->line);
    if (gutter < GUTTER_LEAST)
        gutter = GUTTER_LEAST;
    fprintf(out, "%*u | ", (int)gutter, place->line);
    if (from > 0)
        fputs("...", out);
    unsigned column = 0, caret_from = 0, caret_to = 0;
    size_t at = from;
    while (at < length && column < WINDOW_WIDTH) {
        struct glyph glyph = glyph_at(line + at, length - at);
        fputs(glyph.shown, out);
        if (at < begin)
            caret_from = column + glyph.width;
        column += glyph.width;
        if (at < end)
            caret_to = column;
        at += glyph.bytes;
    }
    fprintf(out, "%s\n", at < length ? "..." : "");
    pad(out, gutter, ' ');
    fputs(" | ", out);
    pad(out, caret_from + (from > 0 ? 3 : 0), ' ');
    set_colour(out, colour, caret_colour);
    pad(out, caret_to > caret_from ? caret_to - caret_from : 1, '^');
    set_colour(out, colour, COLOUR_NONE);
    fputc('\n', out);
}

static void print_message(const struct diagnostics *d, FILE *out, bool colour, enum colour of, struct span span,
                          const char *label, const char *number, const char *message) {
    struct place place;
    bool placed = place_of(d->sources, span.begin, &place);
    if (placed) {
        set_colour(out, colour, COLOUR_BOLD);
        fprintf(out, "%s:%u:%u: ", place.source->path, place.line, place.column);
    }
    set_colour(out, colour, of);
    fputs(label, out);
    if (number)
        fprintf(out, "[%s]", number);
    fputs(": ", out);
    set_colour(out, colour, COLOUR_NONE);
    fprintf(out, "%s\n", message);
    if (placed)
        print_line(out, colour, of, &place, span);
}

static void print_hint(FILE *out, bool colour, const char *hint) {
    fputs("  ", out);
    set_colour(out, colour, COLOUR_HINT);
    fputs("hint:", out);
    set_colour(out, colour, COLOUR_NONE);
    fprintf(out, " %s\n", hint);
}

static bool is_error(const struct diagnostics *d, const struct diagnostic *one) {
    return one->severity == SEVERITY_ERROR || d->are_warnings_errors;
}

size_t diag_view_all(const struct diagnostics *d, const struct diag_view **views) {
    struct diagnostic **sorted;
    size_t count = sort_diagnostics(d, &sorted);
    struct diag_view *all = ARENA_ARRAY(d->arena, struct diag_view, count + 1);
    for (size_t i = 0; i < count; i++) {
        const struct diagnostic *one = sorted[i];
        all[i] = (struct diag_view){.is_error = is_error(d, one),
                                    .number = codes[one->code].number,
                                    .title = codes[one->code].title,
                                    .span = one->span,
                                    .message = one->message,
                                    .notes = one->notes.at,
                                    .note_count = one->notes.count,
                                    .hints = one->hints.at,
                                    .hint_count = one->hints.count};
    }
    *views = all;
    return count;
}

static void print_diagnostic(const struct diagnostics *d, FILE *out, bool colour, const struct diagnostic *one) {
    bool error = is_error(d, one);
    print_message(d, out, colour, error ? COLOUR_ERROR : COLOUR_WARNING, one->span, error ? "error" : "warning",
                  codes[one->code].number, one->message);
    for (size_t i = 0; i < one->notes.count; i++)
        print_message(d, out, colour, COLOUR_NOTE, one->notes.at[i].span, "note", NULL, one->notes.at[i].message);
    for (size_t i = 0; i < one->hints.count; i++)
        print_hint(out, colour, one->hints.at[i]);
}

static void print_rest(FILE *out, size_t count, size_t limit, const char *what) {
    if (limit != 0 && count > limit)
        fprintf(out, "%zu more %s%s not shown\n", count - limit, what, count - limit == 1 ? "" : "s");
}

void diag_print_text(const struct diagnostics *d, FILE *out, bool colour, size_t limit) {
    struct diagnostic **sorted;
    size_t count = sort_diagnostics(d, &sorted);
    size_t seen[2] = {0}; /* by severity */
    bool is_explained[DIAG_CODE_COUNT] = {false};
    for (size_t i = 0; i < count; i++) {
        if (++seen[is_error(d, sorted[i]) ? SEVERITY_ERROR : SEVERITY_WARNING] > limit && limit != 0)
            continue;
        print_diagnostic(d, out, colour, sorted[i]);
        const char *flag = codes[sorted[i]->code].flag;
        if (flag && d->shows_flagged && !is_explained[sorted[i]->code])
            print_hint(out, colour, arena_printf(d->arena, "`-W no-%s` silences warnings of this kind", flag));
        is_explained[sorted[i]->code] = true;
    }
    print_rest(out, seen[SEVERITY_ERROR], limit, "error");
    print_rest(out, seen[SEVERITY_WARNING], limit, "warning");
}

/* ---- JSON ---- */

/* `message` and where it is: half-open, as line and column of both ends. */
static void json_message(const struct diagnostics *d, yyjson_mut_doc *doc, yyjson_mut_val *to, struct span span,
                         const char *message) {
    struct place begin, end;
    json_add_text(doc, d->arena, to, "message", message);
    if (!place_of(d->sources, span.begin, &begin))
        return;
    if (span.end < span.begin || !place_of(d->sources, span.end, &end))
        end = begin;
    json_add_text(doc, d->arena, to, "file", begin.source->path);
    yyjson_mut_obj_add_uint(doc, to, "line", begin.line);
    yyjson_mut_obj_add_uint(doc, to, "column", begin.column);
    yyjson_mut_obj_add_uint(doc, to, "end_line", end.line);
    yyjson_mut_obj_add_uint(doc, to, "end_column", end.column);
}

static yyjson_mut_val *json_diagnostic(const struct diagnostics *d, yyjson_mut_doc *doc, const struct diagnostic *one) {
    yyjson_mut_val *object = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, object, "severity", is_error(d, one) ? "error" : "warning");
    yyjson_mut_obj_add_str(doc, object, "code", codes[one->code].number);
    yyjson_mut_obj_add_str(doc, object, "title", codes[one->code].title);
    json_message(d, doc, object, one->span, one->message);
    yyjson_mut_val *notes = json_add_array(doc, object, "notes");
    for (size_t i = 0; i < one->notes.count; i++)
        json_message(d, doc, yyjson_mut_arr_add_obj(doc, notes), one->notes.at[i].span, one->notes.at[i].message);
    yyjson_mut_val *hints = json_add_array(doc, object, "hints");
    for (size_t i = 0; i < one->hints.count; i++)
        yyjson_mut_arr_append(hints, json_text(doc, d->arena, one->hints.at[i]));
    return object;
}

void diag_print_json(const struct diagnostics *d, FILE *out, bool *is_begun) {
    struct diagnostic **sorted;
    size_t count = sort_diagnostics(d, &sorted);
    yyjson_mut_doc *doc = json_new(d->arena);
    for (size_t i = 0; i < count; i++) {
        const char *text = json_write(d->arena, json_diagnostic(d, doc, sorted[i]));
        fprintf(out, "%s\n  %s", *is_begun ? "," : "[", text);
        *is_begun = true;
    }
}

void diag_end_json(FILE *out, bool is_begun) { fputs(is_begun ? "\n]\n" : "[]\n", out); }
