/* The layer between yyjson and the compiler: memory from arenas, and strings of any bytes. */
#include "support/json.h"

#include <string.h>

#include "support/fatal.h"
#include "support/text.h"

/* ---- memory ---- */

static void *allocate(void *arena, size_t bytes) { return arena_alloc(arena, bytes); }

static void *reallocate(void *arena, void *old, size_t old_bytes, size_t bytes) {
    void *fresh = arena_alloc(arena, bytes);
    return memcpy(fresh, old, old_bytes < bytes ? old_bytes : bytes);
}

static void leave(void *arena, void *memory) { (void)arena, (void)memory; }

static yyjson_alc memory_of(struct arena *arena) {
    return (yyjson_alc){.malloc = allocate, .realloc = reallocate, .free = leave, .ctx = arena};
}

/* ---- writing ---- */

yyjson_mut_doc *json_new(struct arena *arena) {
    yyjson_alc memory = memory_of(arena);
    return yyjson_mut_doc_new(&memory);
}

yyjson_mut_val *json_text(yyjson_mut_doc *doc, struct arena *arena, const char *text) {
    return yyjson_mut_str(doc, text_as_utf8(arena, text));
}

void json_add_text(yyjson_mut_doc *doc, struct arena *arena, yyjson_mut_val *object, const char *key,
                   const char *text) {
    yyjson_mut_obj_add_val(doc, object, key, json_text(doc, arena, text));
}

yyjson_mut_val *json_add_object(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key) {
    yyjson_mut_val *value = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_val(doc, object, key, value);
    return value;
}

yyjson_mut_val *json_add_array(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key) {
    yyjson_mut_val *value = yyjson_mut_arr(doc);
    yyjson_mut_obj_add_val(doc, object, key, value);
    return value;
}

static const char *write_value(struct arena *arena, const yyjson_mut_val *value, yyjson_write_flag flags) {
    yyjson_alc memory = memory_of(arena);
    yyjson_write_err error = {0};
    const char *text = yyjson_mut_val_write_opts(value, flags, &memory, NULL, &error);
    if (!text)
        fatal_internal("json_write", "%s", error.msg);
    return text;
}

const char *json_write(struct arena *arena, const yyjson_mut_val *value) {
    return write_value(arena, value, YYJSON_WRITE_NOFLAG);
}

const char *json_write_pretty(struct arena *arena, const yyjson_mut_val *value) {
    return arena_printf(arena, "%s\n", write_value(arena, value, YYJSON_WRITE_PRETTY_TWO_SPACES));
}

/* ---- reading ---- */

static unsigned line_at(const char *text, size_t position) {
    unsigned line = 1;
    for (size_t i = 0; i < position; i++)
        line += text[i] == '\n';
    return line;
}

yyjson_val *json_read(struct arena *arena, const char *text, size_t length, const char **why) {
    yyjson_alc memory = memory_of(arena);
    yyjson_read_err error = {0};
    /* Without YYJSON_READ_INSITU the text is only read; the parameter is no const for its sake. */
    yyjson_doc *doc = yyjson_read_opts((char *)text, length, YYJSON_READ_NOFLAG, &memory, &error);
    if (!doc)
        *why = arena_printf(arena, "line %u is no JSON: %s", line_at(text, error.pos), error.msg);
    return yyjson_doc_get_root(doc);
}
