/* Lines and characters as editors count them, and the names of files. */
#include <stdlib.h>
#include <string.h>

#include "tools/lsp.h"
#include "support/utf8.h"

struct lsp_lines {
    const struct source *source;
    VEC(size_t) starts; /* of each line, as offsets in the text */
};

static const struct lsp_lines *lines_of(struct lsp_view *view, const struct source *source) {
    struct lsp_lines *lines = map_get(view->lines, source);
    if (lines)
        return lines;
    lines = ARENA_NEW(view->arena, struct lsp_lines);
    lines->source = source;
    vec_push(view->arena, &lines->starts, 0);
    for (size_t i = 0; i < source->length; i++)
        if (source->text[i] == '\n')
            vec_push(view->arena, &lines->starts, i + 1);
    map_set(view->lines, source, lines);
    return lines;
}

/* A character behind the Basic Multilingual Plane takes two units of UTF-16. */
static size_t units_of(uint32_t point) { return point > 0xFFFF && point != UTF8_INVALID ? 2 : 1; }

yyjson_mut_val *lsp_position(struct lsp_view *view, yyjson_mut_doc *json, uint32_t offset) {
    const struct source *source = source_at(view->c->sources, (struct span){offset, offset});
    yyjson_mut_val *position = yyjson_mut_obj(json);
    size_t line = 0, units = 0;
    if (source) {
        const struct lsp_lines *lines = lines_of(view, source);
        size_t at = offset - source->base, high = lines->starts.count;
        while (high - line > 1) {
            size_t middle = line + (high - line) / 2;
            if (lines->starts.at[middle] <= at)
                line = middle;
            else
                high = middle;
        }
        for (size_t i = lines->starts.at[line], bytes; i < at && i < source->length; i += bytes)
            units += units_of(utf8_decode(source->text + i, source->length - i, &bytes));
    }
    yyjson_mut_obj_add_uint(json, position, "line", line);
    yyjson_mut_obj_add_uint(json, position, "character", units);
    return position;
}

yyjson_mut_val *lsp_range(struct lsp_view *view, yyjson_mut_doc *json, struct span span) {
    yyjson_mut_val *range = yyjson_mut_obj(json);
    yyjson_mut_obj_add_val(json, range, "start", lsp_position(view, json, span.begin));
    yyjson_mut_obj_add_val(json, range, "end", lsp_position(view, json, span.end));
    return range;
}

yyjson_mut_val *lsp_location(struct lsp_view *view, yyjson_mut_doc *json, struct span span) {
    const struct source *source = source_at(view->c->sources, span);
    if (!source)
        return yyjson_mut_null(json);
    yyjson_mut_val *location = yyjson_mut_obj(json);
    json_add_text(json, view->arena, location, "uri", lsp_uri_of_source(view, source));
    yyjson_mut_obj_add_val(json, location, "range", lsp_range(view, json, span));
    return location;
}

uint32_t lsp_offset(struct lsp_view *view, yyjson_val *position) {
    const struct source *source = view->source;
    const struct lsp_lines *lines = lines_of(view, source);
    uint64_t line = yyjson_get_uint(yyjson_obj_get(position, "line"));
    uint64_t units = yyjson_get_uint(yyjson_obj_get(position, "character"));
    if (line >= lines->starts.count)
        return source->base + (uint32_t)source->length;
    size_t at = lines->starts.at[line];
    for (size_t bytes; units > 0 && at < source->length && source->text[at] != '\n'; at += bytes) {
        size_t taken = units_of(utf8_decode(source->text + at, source->length - at, &bytes));
        units -= taken < units ? taken : units;
    }
    return source->base + (uint32_t)at;
}

/* ---- names of files ---- */

static int hexadecimal(char digit) {
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if ((digit | 0x20) >= 'a' && (digit | 0x20) <= 'f')
        return (digit | 0x20) - 'a' + 10;
    return -1;
}

/* The path of a URI; one that is no file: URI names something that has not been saved, and gets a path that no file
   has. */
const char *lsp_path_of_uri(struct arena *arena, const char *uri) {
    static const char scheme[] = "file://";
    if (strncmp(uri, scheme, strlen(scheme)) != 0)
        return arena_strndup(arena, uri, strlen(uri));
    const char *at = uri + strlen(scheme);
    char *path = arena_alloc(arena, strlen(at) + 1), *end = path;
    while (*at) {
        int high = *at == '%' ? hexadecimal(at[1]) : -1;
        int low = high >= 0 ? hexadecimal(at[2]) : -1;
        *end++ = low >= 0 ? (char)(high * 16 + low) : *at;
        at += low >= 0 ? 3 : 1;
    }
    *end = '\0';
    return path;
}

const char *lsp_uri_of_path(struct arena *arena, const char *path) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    char *resolved = realpath(path, NULL);
    struct text uri;
    text_init(&uri, arena);
    text_add(&uri, "file://");
    for (const char *at = resolved ? resolved : path; *at; at++) {
        if (strchr(plain, *at))
            text_add_n(&uri, at, 1);
        else
            text_printf(&uri, "%%%02X", (unsigned char)*at);
    }
    free(resolved);
    return text_string(&uri);
}

const char *lsp_path_of_source(const struct lsp_view *view, const struct source *source) {
    for (size_t i = 0; i < view->c->files.count; i++)
        if (view->c->files.at[i]->module->file->source == source)
            return view->c->files.at[i]->path;
    return source->path;
}

static const char *uri_of_source(const struct lsp_view *view, const struct source *source) {
    if (source == view->source)
        return view->document->uri;
    const char *uri = lsp_uri_of_path(view->arena, lsp_path_of_source(view, source));
    for (size_t i = 0; i < view->documents->count; i++) {
        const struct lsp_document *open = view->documents->at[i];
        if (strcmp(lsp_uri_of_path(view->arena, open->path), uri) == 0)
            return open->uri; /* as the editor spells it */
    }
    return uri;
}

const char *lsp_uri_of_source(const struct lsp_view *view, const struct source *source) {
    if (!map_has(view->uris, source))
        map_set(view->uris, source, (void *)uri_of_source(view, source));
    return map_get(view->uris, source);
}
