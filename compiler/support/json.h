/* JSON, read and written by yyjson (third_party/yyjson), whose documents here live in arenas:
   nothing of them is freed by itself. Values are made by yyjson's own yyjson_mut_… functions; strings
   of programs and files, which may hold any bytes, go through json_text. */
#ifndef FCL_SUPPORT_JSON_H
#define FCL_SUPPORT_JSON_H

#include <stdio.h>

#include "support/arena.h"
#include "yyjson.h"

/* An empty document to make values in; json_write and json_print need its root set. */
yyjson_mut_doc *json_new(struct arena *arena);
/* The string as JSON can have it: a byte that is no part of UTF-8 text becomes U+FFFD. */
yyjson_mut_val *json_text(yyjson_mut_doc *doc, struct arena *arena, const char *text);
/* The same as a member of an object; `key` must be a literal. */
void json_add_text(yyjson_mut_doc *doc, struct arena *arena, yyjson_mut_val *object, const char *key, const char *text);
/* A new object, or array, as a member of an object. */
yyjson_mut_val *json_add_object(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key);
yyjson_mut_val *json_add_array(yyjson_mut_doc *doc, yyjson_mut_val *object, const char *key);

/* On one line, without a newline. Numbers have the fewest digits that read back the same. */
const char *json_write(struct arena *arena, const yyjson_mut_val *value);
/* Over several lines, for people too, and a newline at the end. */
const char *json_write_pretty(struct arena *arena, const yyjson_mut_val *value);

/* The value of a whole text, or NULL with *why: what is wrong, and on which line. */
yyjson_val *json_read(struct arena *arena, const char *text, size_t length, const char **why);

#endif
