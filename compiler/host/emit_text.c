/* Texts as C string literals, and the messages of checks. */
#include "host/emit_function.h"

/* One literal; `??` is broken up, which would begin a trigraph. */
static void emit_quoted(struct text *out, const char *text, size_t length) {
    text_add(out, "\"");
    for (const char *c = text; c < text + length; c++) {
        if (*c == '\n') {
            text_add(out, "\\n");
        } else if (c[0] == '?' && c[1] == '?') {
            text_add(out, "?\" \"");
        } else {
            text_add(out, *c == '"' || *c == '\\' ? "\\" : "");
            text_add_n(out, c, 1);
        }
    }
    text_add(out, "\"");
}

void emit_embed(struct text *out, const char *source) {
    for (const char *line = source; *line;) {
        size_t length = strcspn(line, "\n");
        bool ends = line[length] == '\n';
        text_add(out, "    ");
        emit_quoted(out, line, length + ends);
        text_add(out, ends ? "\n" : "");
        line += length + ends;
    }
}

const char *emit_literal(struct arena *arena, const char *source) {
    struct text out;
    text_init(&out, arena);
    emit_quoted(&out, source, strlen(source));
    return text_string(&out);
}

const char *emit_message(const struct emit_unit *unit, const struct ir_check_site *site, const char *message) {
    struct place place;
    if (place_of(unit->sources, site->span.begin, &place))
        message = arena_printf(unit->arena, "%s:%u:%u: %s", place.source->path, place.line, place.column, message);
    return emit_literal(unit->arena, message);
}
