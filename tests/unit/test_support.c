/* Unit tests of compiler/support: arenas, symbols, places, texts, maps, edit distance, diagnostics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/diag.h"
#include "support/edit.h"
#include "support/map.h"
#include "support/symbol.h"
#include "support/text.h"
#include "support/utf8.h"

static void test_arena(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    for (size_t bytes = 0; bytes < 100000; bytes = bytes * 2 + 1) {
        unsigned char *block = arena_alloc(arena, bytes);
        assert_int_equal((uintptr_t)block % 16, 0);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(block[i], 0);
        memset(block, 0xFF, bytes);
    }
    assert_string_equal(arena_printf(arena, "%d-%s", 3, "x"), "3-x");
    arena_free(arena);
}

static void test_symbols(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    struct symbols *symbols = symbols_new(arena);
    symbol first = symbol_of(symbols, "name7");
    for (int i = 0; i < 5000; i++)
        symbol_of(symbols, arena_printf(arena, "name%d", i));
    assert_ptr_equal(first, symbol_intern(symbols, "name77", 5));
    assert_ptr_not_equal(first, symbol_of(symbols, "name8"));
    assert_string_equal(first->text, "name7");
    arena_free(arena);
}

static void test_text(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    struct text text;
    text_init(&text, arena);
    assert_string_equal(text_string(&text), "");
    for (int i = 0; i < 100; i++)
        text_printf(&text, "%02d", i);
    text_add_n(&text, "abc", 2);
    assert_int_equal(text.length, 202);
    assert_string_equal(text_string(&text) + 196, "9899ab");
    text_init(&text, arena);
    text_printf(&text, "%s", "");
    assert_string_equal(text_string(&text), "");
    text_printf(&text, "%s%s-%%%s|%3d|%s.%.*s%c", "a", "bc", "d%s", 7, "e", 2, "fgh", 'i');
    assert_string_equal(text_string(&text), "abc-%d%s|  7|e.fgi");
    arena_free(arena);
}

static void test_map(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    struct map *map = map_new(arena);
    assert_null(map_get(map, map));
    for (uintptr_t i = 0; i < 1000; i++)
        map_set(map, (const void *)(i * 8), (void *)(i + 1));
    map_set(map, (const void *)(uintptr_t)16, (void *)(uintptr_t)7);
    assert_int_equal(map_count(map), 1000);
    assert_int_equal((uintptr_t)map_get(map, (const void *)(uintptr_t)16), 7);
    assert_int_equal((uintptr_t)map_get(map, NULL), 1);
    assert_int_equal((uintptr_t)map_entry(map, 999).key, 999 * 8);
    assert_false(map_has(map, (const void *)(uintptr_t)3));
    arena_free(arena);
}

static void test_edit_distance(void **state) {
    (void)state;
    assert_int_equal(edit_distance("reverse", "revers", 3), 1);
    assert_int_equal(edit_distance("lenght", "length", 3), 1);
    assert_int_equal(edit_distance("", "abc", 3), 3);
    assert_int_equal(edit_distance("abcdef", "uvwxyz", 2), 3);
    struct suggestion suggestion = suggestion_for("revers");
    suggestion_offer(&suggestion, "transpose");
    suggestion_offer(&suggestion, "reserve");
    suggestion_offer(&suggestion, "reverse");
    assert_string_equal(suggestion.best, "reverse");
    suggestion = suggestion_for("x");
    suggestion_offer(&suggestion, "y");
    assert_null(suggestion.best);
}

static void test_utf8(void **state) {
    (void)state;
    size_t length;
    assert_int_equal(utf8_decode((const unsigned char *)"\xCE\xBB", 2, &length), 0x3BB);
    assert_int_equal(length, 2);
    assert_int_equal(utf8_decode((const unsigned char *)"\xC0\x80", 2, &length), UTF8_INVALID);
    assert_int_equal(utf8_decode((const unsigned char *)"\xED\xA0\x80", 3, &length), UTF8_INVALID);
    assert_int_equal(utf8_decode((const unsigned char *)"\xF0\x9F\x98", 3, &length), UTF8_INVALID);
    assert_int_equal(length, 1);
    assert_int_equal(utf8_width(0x4E2D), 2);
    assert_int_equal(utf8_width(0x301), 0);
}

static void test_places(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    struct sources *sources = sources_new(arena);
    const struct source *a = source_add(sources, "a.fcl", "one\n\xCE\xBB two\n", 11);
    const struct source *b = source_add(sources, "b.fcl", "", 0);
    struct place place;
    assert_true(place_of(sources, a->base + 7, &place));
    assert_int_equal(place.line, 2);
    assert_int_equal(place.column, 3);
    assert_int_equal(place.line_length, 6);
    assert_true(place_of(sources, b->base, &place));
    assert_ptr_equal(place.source, b);
    assert_int_equal(place.column, 1);
    assert_false(place_of(sources, 0, &place));
    assert_false(place_of(sources, b->base + 1, &place));
    assert_ptr_equal(source_at(sources, (struct span){a->base, a->base + 1}), a);
    assert_int_equal(span_join((struct span){3, 5}, (struct span){1, 2}).begin, 1);
    assert_int_equal(span_join((struct span){0, 0}, (struct span){4, 6}).begin, 4);
    arena_free(arena);
}

/* The text that `print` writes, in the arena. */
static const char *printed(struct arena *arena, const struct diagnostics *d, bool json, size_t limit) {
    FILE *file = tmpfile();
    assert_non_null(file);
    bool is_begun = false;
    if (json) {
        diag_print_json(d, file, &is_begun);
        diag_end_json(file, is_begun);
    } else
        diag_print_text(d, file, false, limit);
    char *result = arena_alloc(arena, 65536);
    rewind(file);
    size_t length = fread(result, 1, 65535, file);
    result[length] = '\0';
    fclose(file);
    return result;
}

static void test_diagnostics(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    struct sources *sources = sources_new(arena);
    const char *text = "fun f xs =\n\tmap (\xE4\xB8\xAD revers\n  xs)\n";
    const struct source *source = source_add(sources, "t.fcl", text, strlen(text));
    struct diagnostics *d = diagnostics_new(arena, sources);
    diag_warning(d, DIAG_SYNTAX, (struct span){0, 0}, "no place");
    for (int i = 0; i < 2; i++) {
        struct diagnostic *error = diag_error(d, DIAG_SYNTAX, (struct span){source->base + 21, source->base + 32},
                                              "unbound name `%s`", "revers");
        diag_note(d, error, (struct span){source->base + 4, source->base + 5}, "in `f`");
        diag_hint(d, error, "did you mean `reverse`?");
    }
    diag_error(d, DIAG_SYNTAX, (struct span){source->base, source->base + 3}, "first \"quoted\"");
    assert_int_equal(diag_error_count(d), 3);
    assert_string_equal(printed(arena, d, false, 0), "warning[E0110]: no place\n"
                                                     "t.fcl:1:1: error[E0110]: first \"quoted\"\n"
                                                     "  1 | fun f xs =\n"
                                                     "    | ^^^\n"
                                                     "t.fcl:2:9: error[E0110]: unbound name `revers`\n"
                                                     "  2 |     map (\xE4\xB8\xAD revers\n"
                                                     "    |             ^^^^^^\n"
                                                     "t.fcl:1:5: note: in `f`\n"
                                                     "  1 | fun f xs =\n"
                                                     "    |     ^\n"
                                                     "  hint: did you mean `reverse`?\n");
    assert_non_null(strstr(printed(arena, d, false, 1), "1 more error not shown"));
    const char *json = printed(arena, d, true, 0);
    assert_non_null(strstr(json, "first \\\"quoted\\\""));
    assert_non_null(strstr(json, "\"line\":2,\"column\":9,\"end_line\":3"));
    arena_free(arena);
}

static void test_long_lines_are_cut(void **state) {
    (void)state;
    struct arena *arena = arena_new();
    struct sources *sources = sources_new(arena);
    char *line = arena_alloc(arena, 5001);
    memset(line, 'x', 5000);
    line[3000] = 'Y';
    const struct source *source = source_add(sources, "t.fcl", line, 5000);
    struct diagnostics *d = diagnostics_new(arena, sources);
    diag_error(d, DIAG_SYNTAX, (struct span){source->base + 3000, source->base + 3001}, "here");
    const char *text = printed(arena, d, false, 0);
    assert_true(strlen(text) < 300);
    const char *caret = strchr(text, '^'), *shown = strchr(text, 'Y');
    assert_non_null(caret);
    assert_non_null(shown);
    const char *second = strchr(shown, '\n') + 1, *first = strchr(text, '\n') + 1;
    assert_int_equal(shown - first, caret - second);
    arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arena),  cmocka_unit_test(test_symbols),       cmocka_unit_test(test_text),
        cmocka_unit_test(test_map),    cmocka_unit_test(test_edit_distance), cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_places), cmocka_unit_test(test_diagnostics),   cmocka_unit_test(test_long_lines_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
