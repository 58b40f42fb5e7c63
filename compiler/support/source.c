/* Source files in one address range, and the way from an offset back to file, line and column. */
#include "support/source.h"

#include <stdlib.h>
#include <string.h>

#include "support/file.h"
#include "support/utf8.h"
#include "support/vec.h"

enum { SOURCE_LARGEST = 1 << 30, COUNT_STEP = 1024 };

/* A source with its tables. Both exist so that a place is found in a bounded number of steps, however
   long the file or the line is. */
struct entry {
    struct source source; /* first: a `const struct source *` given out is also an entry */
    VEC(uint32_t) line_starts;
    uint32_t *code_points_before; /* at every multiple of COUNT_STEP bytes */
    const struct entry *shown;    /* the file whose lines are shown behind so many of this one's; NULL: this one */
    size_t before_shown;
};

struct sources {
    struct arena *arena;
    VEC(struct entry *) entries; /* by ascending base */
    uint32_t next_base;
};

struct sources *sources_new(struct arena *arena) {
    struct sources *sources = ARENA_NEW(arena, struct sources);
    sources->arena = arena;
    sources->next_base = 1;
    return sources;
}

/* Every byte that does not continue a character counts, so that malformed text has columns too. */
static uint32_t count_code_points(const unsigned char *text, size_t from, size_t to) {
    uint32_t count = 0;
    for (; to - from >= 8; from += 8) { /* eight at a time: it is done for all of each file */
        uint64_t bytes;
        memcpy(&bytes, text + from, sizeof bytes);
        uint64_t go_on = bytes >> 7 & ~bytes >> 6 & UINT64_C(0x0101010101010101);
        count += 8 - (uint32_t)(go_on * UINT64_C(0x0101010101010101) >> 56);
    }
    for (size_t i = from; i < to; i++)
        count += (text[i] & 0xC0) != 0x80;
    return count;
}

const struct source *source_add(struct sources *sources, const char *path, const char *text, size_t length) {
    if (length > SOURCE_LARGEST || length >= UINT32_MAX - sources->next_base)
        return NULL;
    struct arena *arena = sources->arena;
    struct entry *entry = ARENA_NEW(arena, struct entry);
    const unsigned char *copy = (const unsigned char *)arena_strndup(arena, text, length);
    entry->source = (struct source){
        .path = arena_strndup(arena, path, strlen(path)), .text = copy, .length = length, .base = sources->next_base};
    vec_push(arena, &entry->line_starts, 0);
    for (const unsigned char *at = copy; (at = memchr(at, '\n', (size_t)(copy + length - at))); at++)
        vec_push(arena, &entry->line_starts, (uint32_t)(at + 1 - copy));
    entry->code_points_before = ARENA_ARRAY(arena, uint32_t, length / COUNT_STEP + 1);
    for (size_t i = 1; i <= length / COUNT_STEP; i++)
        entry->code_points_before[i] =
            entry->code_points_before[i - 1] + count_code_points(copy, (i - 1) * COUNT_STEP, i * COUNT_STEP);
    vec_push(arena, &sources->entries, entry);
    sources->next_base += (uint32_t)length + 1; /* the end of a file is a place of its own */
    return &entry->source;
}

void source_set_trusted(struct sources *sources, const struct source *source, bool is_ours) {
    for (size_t i = 0; i < sources->entries.count; i++) {
        struct source *at = &sources->entries.at[i]->source;
        at->is_trusted |= at == source;
        at->is_ours |= at == source && is_ours;
    }
}

void source_set_shown(struct sources *sources, const struct source *source) {
    for (size_t i = 0; i < sources->entries.count; i++)
        sources->entries.at[i]->source.is_shown |= &sources->entries.at[i]->source == source;
}

const struct source *source_load(struct sources *sources, const char *path, const char **why) {
    size_t length;
    char *text = file_read(path, SOURCE_LARGEST, &length, why);
    if (!text)
        return NULL;
    const struct source *source = NULL;
    if (length > SOURCE_LARGEST)
        *why = "larger than 1 GiB";
    else if (!(source = source_add(sources, strcmp(path, "-") == 0 ? "<stdin>" : path, text, length)))
        *why = "the program's files together are larger than 4 GiB";
    free(text);
    return source;
}

static const struct entry *entry_at(const struct sources *sources, uint32_t offset) {
    if (offset == 0)
        return NULL;
    size_t low = 0, high = sources->entries.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sources->entries.at[middle]->source.base <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    const struct entry *entry = sources->entries.at[low - 1];
    return offset - entry->source.base <= entry->source.length ? entry : NULL;
}

const struct source *source_at(const struct sources *sources, struct span span) {
    const struct entry *entry = entry_at(sources, span.begin);
    return entry ? &entry->source : NULL;
}

static uint32_t code_points_up_to(const struct entry *entry, size_t offset) {
    size_t step = offset / COUNT_STEP;
    return entry->code_points_before[step] + count_code_points(entry->source.text, step * COUNT_STEP, offset);
}

void source_show_as(struct sources *sources, const struct source *source, const struct source *shown, size_t before) {
    for (size_t i = 0; i < sources->entries.count; i++)
        if (&sources->entries.at[i]->source == source) {
            sources->entries.at[i]->shown = (const struct entry *)shown;
            sources->entries.at[i]->before_shown = before;
        }
}

/* The bytes of a line, from 0 on, without what ends it; none where there is no such line. */
static void line_of(const struct entry *entry, size_t line, size_t *start, size_t *end) {
    *start = *end = entry->source.length;
    if (line >= entry->line_starts.count)
        return;
    *start = entry->line_starts.at[line];
    if (line + 1 < entry->line_starts.count)
        *end = entry->line_starts.at[line + 1] - 1u;
    if (*end > *start && entry->source.text[*end - 1] == '\r')
        (*end)--;
}

bool source_is_written(const struct sources *sources, struct span span) {
    struct place place;
    const struct entry *entry = entry_at(sources, span.begin);
    if (!entry || !entry->shown || !place_of(sources, span.begin, &place))
        return true;
    size_t at = span.begin - place.line_begin, length = span.end - span.begin;
    const unsigned char *text = entry->source.text + (span.begin - entry->source.base);
    return at + length <= place.line_length && memcmp(place.line_text + at, text, length) == 0;
}

bool place_of(const struct sources *sources, uint32_t offset, struct place *place) {
    const struct entry *entry = entry_at(sources, offset);
    if (!entry)
        return false;
    size_t at = offset - entry->source.base;
    size_t low = 0, high = entry->line_starts.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (entry->line_starts.at[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    size_t start = entry->line_starts.at[low], shown_start, shown_end;
    const struct entry *shown = entry->shown ? entry->shown : entry;
    low -= low < entry->before_shown ? low : entry->before_shown;
    line_of(shown, low, &shown_start, &shown_end);
    place->source = &entry->source;
    place->line = (unsigned)low + 1;
    place->column = code_points_up_to(entry, at) - code_points_up_to(entry, start) + 1;
    place->line_begin = entry->source.base + (uint32_t)start;
    place->line_text = shown->source.text + shown_start;
    place->line_length = shown_end - shown_start;
    return true;
}

struct span span_join(struct span a, struct span b) {
    if (a.begin == a.end)
        return b;
    if (b.begin == b.end)
        return a;
    return (struct span){a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}
