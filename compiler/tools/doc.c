/* fclc doc: the pages of a library, made of what its files say: a page for each file and an index; or with --json
   what they say, for other programs. A comment directly above a definition, or above its sig, describes it.
   Lines `> e ==> v` in it are examples, which `fclc doc --check` runs; a line `also: …` stands in the index alone.
   A definition whose comment says `Internal:` is left out. The heading `-- ---- words ----` begins a section; the first
   comment below it that is not a definition's describes the section. `-- primitive NAME` below a comment stands for
   the definition of a primitive. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "driver/commands.h"
#include "driver/compilation.h"
#include "driver/complaint.h"
#include "driver/output.h"
#include "tools/test.h"
#include "support/json.h"
#include "support/map.h"
#include "syntax/syntax.h"

struct example {
    const char *line;               /* without its dashes: `> expression ==> value` */
    const char *expression, *value; /* the parts of it */
    unsigned row, column;           /* where the expression begins, from 1 */
};

struct item {                /* a definition */
    const char *name, *word; /* fun, val, kernel, param, type, data, primitive */
    const char *head;        /* its type, or how it is declared */
    const char *anchor;      /* a type may have the name of a function */
    const char *section;     /* the last heading before it; or NULL */
    unsigned row;            /* where it begins, with its sig */
    bool has_sig;
    VEC(const char *) said; /* lines without their dashes */
    const char *also;       /* what others call it; or NULL */
    VEC(struct example) examples;
};

struct section {
    const char *name;
    VEC(const char *) said; /* lines */
};

struct page {
    const char *path, *name, *title;
    const char *identity;    /* its real path */
    const char *html;        /* the name of its page, which no other has */
    bool is_prelude;         /* needs no import */
    VEC(const char *) intro; /* lines */
    VEC(struct section) sections;
    VEC(struct item) items;
};
typedef VEC(struct page *) pages;

struct library_doc {
    struct arena *arena;
    struct options *options;
    pages pages;
    struct map *homes; /* name → file and anchor; of names that several files define, the first */
    struct symbols *symbols;
};

/* ---- reading ---- */

static const char heading[] = "-- ---- "; /* words ---- */

static const char *name_of_path(struct arena *arena, const char *path) {
    const char *base = text_file_name(path);
    return text_ends_with(base, ".fcl") ? arena_strndup(arena, base, strlen(base) - strlen(".fcl")) : base;
}

/* The next line of a comment without its dashes and the blank behind them; false: there is none. */
static bool next_line(struct arena *arena, const char **at, const char *end, const char **line) {
    if (*at >= end)
        return false;
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    const char *stop = newline ? newline : end, *begin = *at;
    while (begin < stop && *begin == '-')
        begin++;
    if (begin < stop && *begin == ' ')
        begin++;
    *line = arena_strndup(arena, begin, (size_t)(stop - begin) - (stop > begin && stop[-1] == '\r'));
    *at = newline ? newline + 1 : end;
    return true;
}

static void read_comment(const struct compilation *c, struct arena *arena, struct item *item, struct span span) {
    const struct source *source = c->file->source;
    const char *text = (const char *)source->text, *line;
    const char *at = text + (span.begin - source->base), *end = text + (span.end - source->base);
    for (const char *begin = at; next_line(arena, &at, end, &line); begin = at) {
        const char *arrow = strncmp(line, "> ", 2) == 0 ? strstr(line, " ==> ") : NULL;
        if (arrow) {
            struct place place;
            (void)place_of(c->sources, source->base + (uint32_t)(strstr(begin, "> ") + 2 - text), &place);
            struct example one = {line, arena_strndup(arena, line + 2, (size_t)(arrow - line) - 2),
                                  arrow + strlen(" ==> "), place.line, place.column};
            vec_push(arena, &item->examples, one);
        } else if (strncmp(line, SYNTAX_ALSO, strlen(SYNTAX_ALSO)) == 0) {
            item->also = item->also ? arena_printf(arena, "%s, %s", item->also, line + strlen(SYNTAX_ALSO)) : line;
        } else {
            vec_push(arena, &item->said, line);
        }
    }
}

/* The comment at the file's beginning, up to an empty line or a heading: its title ends at the first full stop
   or colon. One that is right above a definition describes that. Gives where it ends. */
static uint32_t read_head(struct arena *arena, struct page *page, const struct ast_file *file) {
    const struct source *source = file->source;
    const char *text = (const char *)source->text, *end = text, *line;
    const char *limit = text + source->length;
    while (end < limit && strncmp(end, "--", 2) == 0 && strncmp(end, heading, strlen(heading)) != 0) {
        const char *newline = memchr(end, '\n', (size_t)(limit - end));
        end = newline ? newline + 1 : limit;
    }
    page->title = page->name;
    const struct ast_decl *first = file->decls.count ? file->decls.at[0] : NULL;
    if (first && first->kind != DECL_IMPORT && syntax_doc(source, first).begin == source->base)
        return source->base;
    while (next_line(arena, &text, end, &line))
        vec_push(arena, &page->intro, line);
    if (page->intro.count) {
        size_t length = strcspn(page->intro.at[0], ".:");
        page->title = arena_strndup(arena, page->intro.at[0], length);
    }
    return source->base + (uint32_t)(end - (const char *)source->text);
}

/* The source of a span on one line, a blank for each run of them. */
static const char *source_line(struct arena *arena, const struct source *source, struct span span) {
    struct text text;
    text_init(&text, arena);
    bool was_blank = false;
    for (uint32_t at = span.begin; at < span.end; at++) {
        char byte = (char)source->text[at - source->base];
        bool is_blank = strchr(" \t\r\n", byte) != NULL;
        if (!is_blank)
            text_add_n(&text, &byte, 1);
        else if (!was_blank)
            text_add(&text, " ");
        was_blank = is_blank;
    }
    return text_string(&text);
}

static const char *section_name(const struct page *page) {
    return page->sections.count ? page->sections.at[page->sections.count - 1].name : NULL;
}

static unsigned row_of(const struct compilation *c, uint32_t offset) {
    struct place place;
    return place_of(c->sources, offset, &place) ? place.line : 0;
}

/* A primitive, with the comment above its line. */
static void read_primitive(const struct compilation *c, struct arena *arena, struct page *page, const char *name,
                           struct span comment) {
    struct item item = {.name = name,
                        .anchor = name,
                        .word = "primitive",
                        .head = name,
                        .section = section_name(page),
                        .row = row_of(c, comment.end)};
    for (int i = 0; i < PRIM_COUNT; i++)
        if (!primitive_is_internal((enum primitive)i) && strcmp(primitive_info[i].name, name) == 0)
            item.head = arena_printf(
                arena, "%s : %s", name,
                scheme_spelling(arena, types_of_primitive(arena, c->symbols, c->diagnostics, (enum primitive)i)));
    read_comment(c, arena, &item, comment);
    vec_push(arena, &page->items, item);
}

/* A comment that no definition is below describes the section, if it is the first there. */
static void read_said(const struct compilation *c, struct arena *arena, struct page *page, struct span comment) {
    struct section *section = page->sections.count ? &page->sections.at[page->sections.count - 1] : NULL;
    const char *text = (const char *)c->file->source->text - c->file->source->base, *line;
    bool is_begun = page->items.count && page->items.at[page->items.count - 1].section == section_name(page);
    if (!section || section->said.count || is_begun)
        return;
    for (const char *at = text + comment.begin; next_line(arena, &at, text + comment.end, &line);)
        vec_push(arena, &section->said, line);
}

/* Reads the comments between two definitions. */
static void read_between(const struct compilation *c, struct arena *arena, struct page *page, struct span between) {
    static const char primitive[] = "-- primitive ";
    const char *text = (const char *)c->file->source->text - c->file->source->base;
    struct span comment = {between.begin, between.begin}; /* that is read */
    while (comment.end < between.end) {
        const char *line = text + comment.end, *newline = strchr(line, '\n');
        uint32_t next = newline ? (uint32_t)(newline + 1 - text) : between.end;
        const char *close =
            strncmp(line, heading, strlen(heading)) == 0 ? strstr(line + strlen(heading), " ----") : NULL;
        bool is_heading = close && close < text + next;
        if (is_heading) {
            line += strlen(heading);
            struct section section = {.name = arena_strndup(arena, line, (size_t)(close - line))};
            vec_push(arena, &page->sections, section);
        } else if (strncmp(line, primitive, strlen(primitive)) == 0) {
            line += strlen(primitive);
            read_primitive(c, arena, page, arena_strndup(arena, line, strcspn(line, " \r\n")), comment);
        } else if (strncmp(line, "--", 2) == 0) {
            comment.end = next;
            continue;
        } else if (comment.end > comment.begin) {
            read_said(c, arena, page, comment);
        }
        comment = (struct span){next, next};
    }
    if (comment.end > comment.begin)
        read_said(c, arena, page, comment);
}

static const struct core_global *global_of(const struct compilation *c, const struct ast_decl *decl) {
    for (size_t i = 0; i < c->program->globals.count; i++)
        if (c->program->globals.at[i]->span.begin == decl->name_span.begin)
            return c->program->globals.at[i];
    return NULL;
}

static bool is_of_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '\''; }

/* Does a type that a sig writes name a `type` of the file? An inferred type shows what that stands for. */
static bool speaks_of_synonym(const struct ast_file *file, const char *type) {
    for (size_t i = 0; i < file->decls.count; i++) {
        const struct ast_decl *decl = file->decls.at[i];
        bool is_type = decl->kind == DECL_TYPE || decl->kind == DECL_DATA;
        for (const char *at = type; is_type && (at = strstr(at, decl->name->text)); at++)
            if (!is_of_name(at[decl->name->length]) && !is_of_name(at[-1])) /* " : " is before the type */
                return true;
    }
    return false;
}

static const char *head_of(struct arena *arena, const struct compilation *c, const struct ast_decl *decl,
                           const struct ast_decl *sig) {
    const struct source *source = c->file->source;
    if (decl->kind == DECL_TYPE || decl->kind == DECL_DATA || decl->kind == DECL_PARAM)
        return source_line(arena, source, decl->span);
    if (sig) {
        const char *written = source_line(arena, source, sig->span) + strlen("sig ");
        const char *type = strstr(written, " : ");
        if (type && speaks_of_synonym(c->file, type + strlen(" : ")))
            return written;
    }
    const struct core_global *global = global_of(c, decl);
    return arena_printf(arena, "%s : %s", decl->name->text, global ? scheme_spelling(arena, global->scheme) : "");
}

static bool is_page(const struct library_doc *doc, const char *html) {
    bool is_taken = strcmp(html, "index") == 0;
    for (size_t i = 0; i < doc->pages.count; i++)
        is_taken |= strcmp(doc->pages.at[i]->html, html) == 0;
    return is_taken;
}

/* A page is called like its file; where there is one of that name, like the path, with a number
   where there is that, too. */
static void name_page(struct library_doc *doc, struct page *page) {
    struct arena *arena = doc->arena;
    page->html = page->name = name_of_path(arena, page->path);
    if (!is_page(doc, page->html))
        return;
    const char *path = page->path + strspn(page->path, "./");
    size_t length = strlen(path) - strlen(text_file_name(path));
    char *html = arena_printf(arena, "%.*s%s", (int)length, path, page->name);
    page->name = arena_strndup(arena, html, strlen(html));
    for (char *at = html; *at; at++)
        *at = *at == '/' ? '-' : *at;
    page->html = html;
    for (int number = 2; is_page(doc, page->html); number++)
        page->html = arena_printf(arena, "%s-%d", html, number);
}

static void read_page(struct library_doc *doc, const struct compilation *c, const char *path, const char *identity) {
    static const char *const words[] = {[DECL_FUN] = "fun",   [DECL_VAL] = "val",   [DECL_KERNEL] = "kernel",
                                        [DECL_TYPE] = "type", [DECL_DATA] = "data", [DECL_PARAM] = "param"};
    struct arena *arena = doc->arena;
    struct page *page = ARENA_NEW(arena, struct page);
    const struct ast_file *file = c->file;
    page->path = path;
    page->identity = identity;
    name_page(doc, page);
    for (size_t i = 0; i < c->modules.count; i++)
        page->is_prelude |= c->modules.at[i]->file == file && c->modules.at[i]->is_prelude;
    uint32_t behind = read_head(arena, page, file);
    for (size_t i = 0; i < file->decls.count; i++) {
        const struct ast_decl *decl = file->decls.at[i], *sig = NULL, *first = decl;
        if (decl->kind == DECL_IMPORT)
            continue;
        if (decl->kind == DECL_SIG && i + 1 < file->decls.count) {
            sig = decl;
            decl = file->decls.at[++i];
        }
        struct span said = syntax_doc(file->source, first);
        read_between(c, arena, page, (struct span){behind, said.begin});
        behind = decl->span.end;
        if (syntax_is_internal(file->source, first) || decl->kind == DECL_SIG)
            continue;
        bool is_type = decl->kind == DECL_TYPE || decl->kind == DECL_DATA;
        struct item item = {.name = arena_strndup(arena, decl->name->text, decl->name->length),
                            .anchor = arena_printf(arena, is_type ? "type-%s" : "%s", decl->name->text),
                            .word = words[decl->kind],
                            .head = head_of(arena, c, decl, sig),
                            .section = section_name(page),
                            .row = row_of(c, first->span.begin),
                            .has_sig = sig != NULL};
        read_comment(c, arena, &item, said);
        vec_push(arena, &page->items, item);
    }
    read_between(c, arena, page, (struct span){behind, file->source->base + (uint32_t)file->source->length});
    for (size_t i = 0; i < page->items.count; i++) {
        symbol name = symbol_of(doc->symbols, page->items.at[i].name);
        if (!map_has(doc->homes, name))
            map_set(doc->homes, name, (void *)arena_printf(arena, "%s.html#%s", page->html, page->items.at[i].anchor));
    }
    vec_push(arena, &doc->pages, page);
}

/* ---- writing ---- */

static const char style[] =
#include "compiler/tools/doc.css.inc"
    ;

static void add_string(struct text *out, const char *text) { text_add_escaped(out, text, strlen(text)); }

static const char *home_of(const struct library_doc *doc, const char *name, size_t length) {
    return map_get(doc->homes, symbol_intern(doc->symbols, name, length));
}

/* Words between backquotes are code, and lead to what they name. */
static void add_words(const struct library_doc *doc, struct text *out, const char *line) {
    for (const char *at = line, *end; *at; at = end) {
        const char *close = *at == '`' ? strchr(at + 1, '`') : NULL;
        if (!close) {
            end = at + (*at == '`') + strcspn(at + (*at == '`'), "`");
            text_add_escaped(out, at, (size_t)(end - at));
            continue;
        }
        size_t length = (size_t)(close - at) - 1;
        const char *home = home_of(doc, at + 1, length);
        if (home)
            text_printf(out, "<a href=\"%s\">", home);
        text_add(out, "<code>");
        text_add_escaped(out, at + 1, length);
        text_add(out, home ? "</code></a>" : "</code>");
        end = close + 1;
    }
}

static void add_paragraph(const struct library_doc *doc, struct text *out, const char *const *lines, size_t count) {
    if (count == 0)
        return;
    text_add(out, "<p>");
    for (size_t i = 0; i < count; i++) {
        add_words(doc, out, lines[i]);
        text_add(out, "\n");
    }
    text_add(out, "</p>\n");
}

static void begin_html(struct text *out, const char *title) {
    text_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    add_string(out, title);
    text_printf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>", style);
    add_string(out, title);
    text_add(out, "</h1>\n");
}

static void end_html(struct text *out) {
    text_printf(out, "<hr>\n<p><small>By <code>fclc doc</code>, version %s.</small></p>\n</body>\n</html>\n",
                FCLC_VERSION);
}

static void add_item(const struct library_doc *doc, struct text *out, const struct item *item) {
    text_add(out, "<h3 id=\"");
    add_string(out, item->anchor);
    text_printf(out, "\"><span class=\"word\">%s</span> <code>", item->word);
    add_string(out, item->name);
    text_add(out, "</code></h3>\n<pre><code>");
    add_string(out, item->head);
    text_add(out, "</code></pre>\n");
    add_paragraph(doc, out, item->said.at, item->said.count);
    if (!item->examples.count)
        return;
    text_add(out, "<pre class=\"examples\"><code>");
    for (size_t i = 0; i < item->examples.count; i++) {
        add_string(out, item->examples.at[i].expression);
        text_add(out, "  ==&gt;  ");
        add_string(out, item->examples.at[i].value);
        text_add(out, "\n");
    }
    text_add(out, "</code></pre>\n");
}

static const char *page_html(const struct library_doc *doc, const struct page *page) {
    struct text out;
    text_init(&out, doc->arena);
    begin_html(&out, page->title);
    text_add(&out, "<p><a href=\"index.html\">Index</a></p>\n");
    if (!page->is_prelude) {
        text_add(&out, "<pre><code>import &quot;");
        add_string(&out, page->name);
        text_add(&out, "&quot;</code></pre>\n");
    }
    add_paragraph(doc, &out, page->intro.at, page->intro.count);
    size_t next = 0; /* section */
    for (size_t i = 0; i < page->items.count; i++) {
        const struct item *item = &page->items.at[i];
        for (; item->section && (next == 0 || page->sections.at[next - 1].name != item->section); next++) {
            const struct section *section = &page->sections.at[next];
            if (section->name != item->section)
                continue; /* it has nothing in it */
            text_add(&out, "<h2>");
            add_string(&out, section->name);
            text_add(&out, "</h2>\n");
            add_paragraph(doc, &out, section->said.at, section->said.count);
        }
        add_item(doc, &out, item);
    }
    end_html(&out);
    return text_string(&out);
}

struct indexed {
    const struct page *page;
    const struct item *item;
};

static int by_item_name(const void *a, const void *b) {
    const struct indexed *x = a, *y = b;
    int order = strcmp(x->item->name, y->item->name);
    return order ? order : strcmp(x->page->name, y->page->name);
}

static const char *index_html(const struct library_doc *doc) {
    struct text out;
    text_init(&out, doc->arena);
    begin_html(&out, "Index");
    text_add(&out, "<h2>Files</h2>\n<dl>\n");
    VEC(struct indexed) all = {0};
    for (size_t i = 0; i < doc->pages.count; i++) {
        const struct page *page = doc->pages.at[i];
        text_printf(&out, "<dt><a href=\"%s.html\">%s</a></dt><dd>", page->html, page->name);
        add_words(doc, &out, page->title);
        text_add(&out, "</dd>\n");
        for (size_t k = 0; k < page->items.count; k++)
            vec_push(doc->arena, &all, (struct indexed){page, &page->items.at[k]});
    }
    text_add(&out, "</dl>\n<h2>Names</h2>\n<dl>\n");
    if (all.count)
        qsort(all.at, all.count, sizeof *all.at, by_item_name);
    for (size_t i = 0; i < all.count; i++) {
        text_printf(&out, "<dt><a href=\"%s.html#", all.at[i].page->html);
        add_string(&out, all.at[i].item->anchor);
        text_add(&out, "\"><code>");
        add_string(&out, all.at[i].item->name);
        text_printf(&out, "</code></a> <small>%s</small></dt><dd><code>", all.at[i].page->name);
        add_string(&out, all.at[i].item->head);
        text_add(&out, "</code>");
        if (all.at[i].item->also) {
            text_add(&out, " <small>");
            add_string(&out, all.at[i].item->also);
            text_add(&out, "</small>");
        }
        text_add(&out, "</dd>\n");
    }
    text_add(&out, "</dl>\n");
    end_html(&out);
    return text_string(&out);
}

static struct output_file written_page(struct library_doc *doc, const char *name, const char *html) {
    const char *file = arena_printf(doc->arena, "%s.html", name);
    return (struct output_file){path_join(doc->arena, doc->options->output, file), html, strlen(html)};
}

static enum exit_status write_pages(struct library_doc *doc) {
    const char *folder = doc->options->output;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return driver_complain(doc->options, EXIT_USAGE, "-o %s: %s", folder, strerror(errno));
    struct output_file *files = ARENA_ARRAY(doc->arena, struct output_file, doc->pages.count + 1);
    for (size_t i = 0; i < doc->pages.count; i++)
        files[i] = written_page(doc, doc->pages.at[i]->html, page_html(doc, doc->pages.at[i]));
    files[doc->pages.count] = written_page(doc, "index", index_html(doc));
    const char *why;
    if (output_write_all(doc->arena, files, doc->pages.count + 1, &why))
        return EXIT_GOOD;
    return driver_complain(doc->options, EXIT_USAGE, "%s", why);
}

/* ---- as JSON ---- */

static void add_lines(yyjson_mut_doc *json, struct arena *arena, yyjson_mut_val *object, const char *const *lines,
                      size_t count) {
    yyjson_mut_val *array = json_add_array(json, object, "text");
    for (size_t i = 0; i < count; i++)
        yyjson_mut_arr_append(array, json_text(json, arena, lines[i]));
}

static void add_json_item(yyjson_mut_doc *json, struct arena *arena, yyjson_mut_val *items, const struct item *item) {
    yyjson_mut_val *object = yyjson_mut_arr_add_obj(json, items);
    json_add_text(json, arena, object, "name", item->name);
    yyjson_mut_obj_add_str(json, object, "word", item->word);
    json_add_text(json, arena, object, "head", item->head);
    json_add_text(json, arena, object, "section", item->section ? item->section : "");
    yyjson_mut_obj_add_uint(json, object, "line", item->row);
    yyjson_mut_obj_add_bool(json, object, "sig", item->has_sig);
    add_lines(json, arena, object, item->said.at, item->said.count);
    json_add_text(json, arena, object, "also", item->also ? item->also + strlen(SYNTAX_ALSO) : "");
    yyjson_mut_val *examples = json_add_array(json, object, "examples");
    for (size_t i = 0; i < item->examples.count; i++) {
        yyjson_mut_val *example = yyjson_mut_arr_add_obj(json, examples);
        json_add_text(json, arena, example, "expression", item->examples.at[i].expression);
        json_add_text(json, arena, example, "value", item->examples.at[i].value);
        yyjson_mut_obj_add_uint(json, example, "line", item->examples.at[i].row);
    }
}

static void print_json(const struct library_doc *doc) {
    struct arena *arena = doc->arena;
    yyjson_mut_doc *json = json_new(arena);
    yyjson_mut_val *files = yyjson_mut_arr(json);
    for (size_t i = 0; i < doc->pages.count; i++) {
        const struct page *page = doc->pages.at[i];
        yyjson_mut_val *file = yyjson_mut_arr_add_obj(json, files);
        json_add_text(json, arena, file, "path", page->path);
        add_lines(json, arena, file, page->intro.at, page->intro.count);
        yyjson_mut_val *sections = json_add_array(json, file, "sections"), *items = json_add_array(json, file, "items");
        for (size_t k = 0; k < page->sections.count; k++) {
            const struct section *section = &page->sections.at[k];
            yyjson_mut_val *object = yyjson_mut_arr_add_obj(json, sections);
            json_add_text(json, arena, object, "name", section->name);
            add_lines(json, arena, object, section->said.at, section->said.count);
        }
        for (size_t k = 0; k < page->items.count; k++)
            add_json_item(json, arena, items, &page->items.at[k]);
    }
    fputs(json_write_pretty(arena, files), stdout);
}

/* ---- examples ---- */

/* The rows of `[[…], […]]`; none: it is no array of arrays. */
static size_t rows_of(struct arena *arena, const char *value, const char ***rows) {
    VEC(const char *) found = {0};
    int depth = 0;
    const char *begin = NULL;
    for (const char *at = value; strncmp(value, "[[", 2) == 0 && *at; at++) {
        if (*at == '[' && ++depth == 2)
            begin = at;
        if (*at == ']' && depth-- == 2)
            vec_push(arena, &found, arena_strndup(arena, begin, (size_t)(at - begin) + 1));
    }
    *rows = found.at;
    return found.count;
}

/* Examples as a program: a kernel for each, or for each row of its value, and a test of it. */
struct example_program {
    struct library_doc *doc;
    struct text text;
    unsigned row; /* that the text has come to */
    directives tests;
    size_t kernels;
};

/* A kernel in the line that the text has come to, and the rest of the test. */
static void add_test(struct example_program *p, const struct example *example, const char *name, const char *wanted,
                     const char *which) {
    struct arena *arena = p->doc->arena;
    struct directive test = {.line = example->row,
                             .text = arena_printf(arena, "-- %s%s", example->line, which),
                             .kernel = name,
                             .expectation = EXPECT_CLOSE,
                             .wanted = wanted};
    vec_push(arena, &p->tests, test);
}

static const char *new_name(struct example_program *p, const struct item *item) {
    return arena_printf(p->doc->arena, "example%zu_%s", p->kernels++, item->name);
}

/* The first kernel of an example, whose expression stands where it stands in the page's file: so
   errors have that place. How many rows there are. */
static size_t add_first(struct example_program *p, const struct item *item, const struct example *example,
                        const char ***rows) {
    const char *name = new_name(p, item);
    size_t count = rows_of(p->doc->arena, example->value, rows);
    text_printf(&p->text, " kernel %s = (", name);
    if (p->row < example->row) {
        for (; p->row < example->row; p->row++)
            text_add(&p->text, "\n");
        text_printf(&p->text, "%*s", (int)example->column - 1, "");
    }
    text_printf(&p->text, count ? "%s) ! 0" : "%s)", example->expression);
    add_test(p, example, name, count ? (*rows)[0] : example->value, count ? "  (row 0)" : "");
    return count;
}

static void add_example(struct example_program *p, const struct item *item, const struct example *example) {
    const char **rows, *name;
    struct arena *arena = p->doc->arena;
    size_t count = add_first(p, item, example, &rows);
    for (size_t i = 1; i < count; i++) {
        text_printf(&p->text, " kernel %s = (%s) ! %zu", name = new_name(p, item), example->expression, i);
        add_test(p, example, name, rows[i], arena_printf(arena, "  (row %zu)", i));
    }
    if (!count)
        return;
    text_printf(&p->text, " kernel %s = length (%s)", name = new_name(p, item), example->expression);
    add_test(p, example, name, arena_printf(arena, "%zu", count), "  (rows)");
}

/* Begins a program, which imports the page's file. */
static struct example_program examples_of(struct library_doc *doc, const struct page *page) {
    struct example_program p = {.doc = doc, .row = 1};
    text_init(&p.text, doc->arena);
    /* The program has the page's path, so that errors name it: the page's file is imported by another name. */
    text_printf(&p.text, "import \"%s%s\"", strcmp(page->identity, page->path) == 0 ? "/." : "", page->identity);
    return p;
}

/* A checked program, which has the path of the page's file. */
static struct compilation *check_examples(struct example_program *p, const struct page *page,
                                          enum exit_status *status) {
    struct arena *arena = p->doc->arena;
    struct options *options = ARENA_NEW(arena, struct options);
    const char **operands = ARENA_NEW(arena, const char *);
    *operands = page->path;
    *options = *p->doc->options;
    options->command = COMMAND_TEST;
    options->operands = operands;
    options->operand_count = 1;
    options->check = DEGREE_ALL;
    options->tuning = "none";
    options->target = options->target ? options->target : "interp";
    text_add(&p->text, "\n");
    struct compilation *c = compilation_new(options);
    vec_push(c->arena, &c->texts, (struct unsaved){page->path, text_string(&p->text), p->text.length});
    *status = compilation_check(c, page->path);
    return c;
}

/* True if the example compiles. It reports the example's errors. */
static bool check_example(struct library_doc *doc, const struct page *page, const struct item *item,
                          const struct example *example, directives *wrong) {
    struct example_program p = examples_of(doc, page);
    const char **rows;
    (void)add_first(&p, item, example, &rows); /* of one kernel, so that nothing comes twice */
    enum exit_status status;
    struct compilation *c = check_examples(&p, page, &status);
    bool is_good = status == EXIT_GOOD && compilation_is_good(c);
    if (!is_good) {
        p.tests.at[0].wrong = "this example cannot be compiled";
        vec_push(doc->arena, wrong, p.tests.at[0]);
        compilation_finish(c, status);
    }
    compilation_free(c);
    return is_good;
}

/* `wrong`: those that cannot be compiled are left out, and go there. NULL: all are taken. */
static struct example_program program_of_examples(struct library_doc *doc, const struct page *page, directives *wrong) {
    struct example_program p = examples_of(doc, page);
    for (size_t i = 0; i < page->items.count; i++)
        for (size_t k = 0; k < page->items.at[i].examples.count; k++) {
            const struct item *item = &page->items.at[i];
            if (!wrong || check_example(doc, page, item, &item->examples.at[k], wrong))
                add_example(&p, item, &item->examples.at[k]);
        }
    return p;
}

static enum exit_status check_page(struct library_doc *doc, const struct page *page) {
    struct given_tests given = {.path = page->path};
    enum exit_status status;
    struct example_program p = program_of_examples(doc, page, NULL);
    given.c = check_examples(&p, page, &status);
    if (status == EXIT_GOOD && !compilation_is_good(given.c)) {
        compilation_free(given.c);
        p = program_of_examples(doc, page, &given.wrong);
        given.c = check_examples(&p, page, &status);
    }
    given.tests = p.tests;
    status = compilation_finish(given.c, status);
    if (status == EXIT_GOOD)
        status = test_given(given.c->options, &given);
    compilation_free(given.c);
    return status;
}

static enum exit_status read_file(struct library_doc *doc, const char *path) {
    char *real = realpath(path, NULL);
    const char *identity = arena_printf(doc->arena, "%s", real ? real : path);
    free(real);
    for (size_t i = 0; i < doc->pages.count; i++)
        if (strcmp(doc->pages.at[i]->identity, identity) == 0)
            return EXIT_GOOD; /* it has its page */
    struct compilation *c = compilation_new(doc->options);
    enum exit_status status = compilation_check(c, path);
    if (status == EXIT_GOOD && compilation_is_good(c))
        read_page(doc, c, path, identity);
    if (!compilation_is_good(c))
        status = compilation_finish(c, status);
    compilation_free(c);
    return status;
}

enum exit_status command_doc(struct options *options) {
    if (!options->output && !options->check && !options->json)
        return driver_complain(options, EXIT_USAGE, "where do the pages go? usage is `fclc %s`",
                               command_info[COMMAND_DOC].synopsis);
    struct arena *arena = arena_new();
    struct library_doc doc = {
        .arena = arena, .options = options, .homes = map_new(arena), .symbols = symbols_new(arena)};
    enum exit_status status = EXIT_GOOD;
    for (size_t i = 0; i < options->operand_count; i++)
        status = exit_worse(status, read_file(&doc, options->operands[i]));
    if (status == EXIT_GOOD && options->output)
        status = write_pages(&doc);
    if (status == EXIT_GOOD && options->json)
        print_json(&doc);
    for (size_t i = 0; i < doc.pages.count && options->check && status != EXIT_USAGE; i++)
        status = exit_worse(status, check_page(&doc, doc.pages.at[i]));
    arena_free(arena);
    return status;
}
