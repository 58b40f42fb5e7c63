/* Tables in text: a matrix has a row a line, an array of tuples a tuple a line, a list all the numbers in order, or
   those of the column that is named. Commas, semicolons, tabs or blanks separate the values, the same ones in all of a
   file; the first line may be of names. Blank lines and lines that begin with # are skipped. Nothing is guessed: what
   may mean two things is an error. The text is gone through twice, to count and to read. */
#include "values/value.h"

#include <string.h>

#include "support/vec.h"

enum { SHOWN_LONGEST = 24, LOWERED_LONGEST = 16, NONE = '\n' }; /* NONE separates: a value is alone in its line */

struct cell {
    const char *at, *end;
    size_t number; /* in its line, from 1 */
    bool is_quoted;
};

struct table_reader {
    struct arena *arena;
    const char *text, *at;
    size_t line, cell; /* where `at` is; the cells before it in its line */
    bool is_tsv;
    char separator;      /* 0: no line of values was met yet; NONE */
    size_t separated_at; /* the line that showed it */
    bool is_open;        /* the line ended with a separator */
    const char *why;
};

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static bool ends_line(char c) { return c == '\n' || c == '\r' || c == '\0'; }

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* ---- lines ---- */

static void go_to_start(struct table_reader *r) {
    static const char mark[] = "\xEF\xBB\xBF"; /* of UTF-8, which spreadsheets write */
    r->at = r->text + (strncmp(r->text, mark, strlen(mark)) == 0 ? strlen(mark) : 0);
    r->line = 1;
    r->separator = r->is_tsv ? '\t' : 0;
}

static void skip_line(struct table_reader *r) {
    r->at += strcspn(r->at, "\r\n");
    if (*r->at == '\0')
        return;
    r->at += r->at[0] == '\r' && r->at[1] == '\n' ? 2 : 1;
    r->line++;
}

/* To the next line that has something in it. Tabs that separate are something. */
static bool find_line(struct table_reader *r) {
    for (;; skip_line(r)) {
        const char *first = r->at;
        while (*first == ' ' || (*first == '\t' && r->separator != '\t'))
            first++;
        if (*first != '#' && !ends_line(*first))
            break;
        if (*first == '\0')
            return false;
    }
    r->cell = 0;
    return true;
}

/* ---- separators ---- */

/* Blanks beside another separator mean nothing; a comma beside semicolons is part of a value, which no number has. */
static char separator_of(const char *at) {
    bool has_comma = false, has_tab = false, has_blank = false, is_quoted = false;
    while (is_blank(*at))
        has_tab |= *at++ == '\t';
    for (; !ends_line(*at); at++) {
        is_quoted ^= *at == '"';
        if (is_quoted)
            continue;
        if (*at == ';')
            return ';';
        has_comma |= *at == ',';
        has_tab |= *at == '\t';
        has_blank |= *at == ' ' && !ends_line(at[1 + strspn(at + 1, " \t")]);
    }
    return has_comma ? ',' : has_tab ? '\t' : has_blank ? ' ' : NONE;
}

static const char *separator_name(char separator) {
    return separator == ','    ? "`,`"
           : separator == ';'  ? "`;`"
           : separator == '\t' ? "a tab"
           : separator == ' '  ? "a blank"
                               : "nothing";
}

static const char *separator_said(struct table_reader *r) {
    return r->separator == NONE ? "a line has one value"
                                : arena_printf(r->arena, "%s separates values", separator_name(r->separator));
}

static void settle_separator(struct table_reader *r) {
    if (r->separator)
        return;
    r->separator = separator_of(r->at);
    r->separated_at = r->line;
}

/* ---- cells ---- */

static bool fail(struct table_reader *r, size_t cell, const char *problem) {
    r->why = arena_printf(r->arena, "line %zu, column %zu: %s", r->line, cell, problem);
    return false;
}

static void skip_blanks(struct table_reader *r) {
    while (*r->at == ' ' || (*r->at == '\t' && r->separator != '\t'))
        r->at++;
}

/* False at the end of the line, or with what is wrong in `why`. */
static bool next_cell(struct table_reader *r, struct cell *cell) {
    skip_blanks(r);
    if (ends_line(*r->at))
        return false;
    const char *at = r->at;
    char separator = r->separator;
    *cell = (struct cell){.at = at, .number = ++r->cell, .is_quoted = *at == '"'};
    if (cell->is_quoted) {
        for (cell->at = ++at; *at != '"' || at[1] == '"'; at += *at == '"' ? 2 : 1)
            if (ends_line(*at))
                return fail(r, cell->number, "the line ends where `\"` is wanted");
        cell->end = at++;
    } else {
        while (*at != separator && !ends_line(*at))
            at++;
        for (cell->end = at; cell->end > cell->at && is_blank(cell->end[-1]);)
            cell->end--;
    }
    r->at = at;
    skip_blanks(r);
    r->is_open = *r->at == separator && separator != ' ' && separator != NONE;
    if (r->is_open) {
        r->at++;
        skip_blanks(r);
    } else if (!ends_line(*r->at) && (separator != ' ' || r->at == at)) {
        return fail(r, cell->number, "what is quoted ends before its column does");
    }
    return true;
}

static const char *shown(struct table_reader *r, const struct cell *cell) {
    size_t length = (size_t)(cell->end - cell->at);
    return arena_printf(r->arena, "`%.*s%s`", (int)(length > SHOWN_LONGEST ? SHOWN_LONGEST : length), cell->at,
                        length > SHOWN_LONGEST ? "…" : "");
}

/* ---- values ---- */

/* In small letters, without the sign; "" where it is too long to be one of the words below. */
static const char *lowered(const struct cell *cell, char *word) {
    size_t length = 0;
    for (const char *at = cell->at; at < cell->end && length < LOWERED_LONGEST; at++)
        word[length++] = lower(*at);
    word[length == LOWERED_LONGEST ? 0 : length] = '\0';
    return word;
}

static bool is_among(const char *word, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

static bool stands_for_nothing(const struct cell *cell) {
    static const char *const words[] = {"na", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "--", "?", "."};
    char word[LOWERED_LONGEST + 1];
    return is_among(lowered(cell, word), words, sizeof words / sizeof *words);
}

/* Reads the words by which other programs write what FCL calls nan, inf, true and false. */
static bool read_word(struct table_reader *r, const struct cell *cell, enum base base, union scalar *value) {
    static const char *const floats[] = {"nan", "inf", "infinity"}, *const bools[] = {"true", "false"};
    char word[LOWERED_LONGEST + 1];
    const char *whole = lowered(cell, word), *why, *name = whole + (*whole == '-' || *whole == '+');
    bool is_float = base_info[base].is_floating && is_among(name, floats, 3);
    if (!is_float && !(base == BASE_BOOL && is_among(whole, bools, 2)))
        return false;
    if (is_float)
        word[name - whole + 3] = '\0';
    return value_parse_scalar(r->arena, base, &whole, value, &why);
}

/* True for a text that looks like a number of another country, or like several. */
static bool has_other_marks(const struct cell *cell) {
    bool has_digit = false, has_mark = false;
    for (const char *at = cell->at; at < cell->end; at++) {
        has_digit |= is_digit(*at);
        has_mark |= strchr(",;'\t ", *at) != NULL;
    }
    return has_digit && has_mark;
}

static bool is_name(const struct cell *cell);

static bool read_value(struct table_reader *r, const struct cell *cell, enum base base, bool is_first_row,
                       union scalar *value) {
    const char *next = cell->at, *problem = NULL;
    if (next < cell->end && value_parse_scalar(r->arena, base, &next, value, &problem) && next == cell->end)
        return true;
    if (read_word(r, cell, base, value))
        return true;
    const char *type = base_info[base].name;
    if (cell->at == cell->end)
        problem = "a value is missing: fill it in, or leave its row out";
    else if (stands_for_nothing(cell))
        problem = arena_printf(r->arena, "%s stands for a missing value: write %sor leave its row out", shown(r, cell),
                               base_info[base].is_floating ? "nan, " : "a number, ");
    else if (has_other_marks(cell))
        problem = arena_printf(r->arena,
                               "%s is no number, and %s is wanted: fractions have a point (1.5) and no decimal comma, "
                               "thousands nothing between them, and %s%s",
                               shown(r, cell), type, separator_said(r),
                               r->is_tsv ? "" : arena_printf(r->arena, ", as in line %zu", r->separated_at));
    else if (!problem || next != cell->end)
        problem = arena_printf(r->arena, "%s is no number, and %s is wanted", shown(r, cell), type);
    if (is_first_row && is_name(cell))
        problem = arena_printf(r->arena, "%s (a line of names has no number that is not in quotes)", problem);
    return fail(r, cell->number, problem);
}

/* ---- names ---- */

static bool is_name(const struct cell *cell) {
    char first = cell->at < cell->end ? *cell->at : '0', word[LOWERED_LONGEST + 1];
    static const char *const values[] = {"true", "false", "inf", "infinity"};
    bool is_word = (lower(first) >= 'a' && lower(first) <= 'z') || first == '_' || (unsigned char)first >= 0x80;
    return (is_word || (cell->is_quoted && !is_digit(first) && !strchr("+-.", first))) && !stands_for_nothing(cell) &&
           !is_among(lowered(cell, word), values, 4);
}

static const char *spelled(struct arena *arena, const struct cell *cell) {
    char *name = arena_strndup(arena, cell->at, (size_t)(cell->end - cell->at)), *to = name;
    for (const char *from = name; *from; from++) {
        *to++ = *from;
        from += cell->is_quoted && from[0] == '"' && from[1] == '"';
    }
    *to = '\0';
    return name;
}

typedef VEC(const char *) names;

/* Reads the line at hand where it is of names: one at least, and nothing that may be a number. The line behind it says
   what separates. */
static bool take_names(struct table_reader *r, names *found) {
    struct table_reader ahead = *r;
    skip_line(&ahead);
    bool has_row = find_line(&ahead);
    if (has_row)
        settle_separator(&ahead);
    if (!ahead.separator || ahead.separator == NONE) {
        ahead.separator = separator_of(r->at);
        ahead.separated_at = r->line;
        if (has_row && ahead.separator == ' ')
            ahead.separator = NONE; /* a name of several words, above a column */
    }
    struct table_reader line = *r;
    line.separator = ahead.separator;
    struct cell cell;
    bool any = false;
    while (next_cell(&line, &cell)) {
        if (!is_name(&cell) && !cell.is_quoted && cell.at < cell.end)
            return false;
        any |= is_name(&cell);
        vec_push(r->arena, found, spelled(r->arena, &cell));
    }
    if (!any || line.why)
        return false;
    r->separator = line.separator;
    r->separated_at = ahead.separated_at;
    r->at = line.at;
    skip_line(r);
    return true;
}

/* ---- the whole ---- */

struct table {
    size_t names_at; /* the line; 0: there is none */
    names names;
    size_t rows, cells;
    size_t columns, first_line; /* of the first row, and where that is */
    bool is_open;               /* as the first row is */
};

static const char *plural(size_t count) { return count == 1 ? "" : "s"; }

static bool has_same_width(struct table_reader *r, const struct table *t, bool is_list, const char *start,
                           size_t columns) {
    char separator = separator_of(start);
    size_t wanted = t->names_at ? t->names.count : t->columns;
    const char *hint = separator != r->separator && separator != NONE
                           ? arena_printf(r->arena, ": %s separates here, and %s in line %zu",
                                          separator_name(separator), separator_name(r->separator), r->separated_at)
                       : r->is_open && !t->is_open ? ": a value is missing at its end"
                       : is_list                   ? ": where a list goes on, lines end with what separates"
                       : columns < wanted          ? ": is a value missing?"
                       : r->separator == ','       ? ": fractions have a point, and no decimal comma"
                                                   : "";
    if (t->names_at && columns != t->names.count)
        r->why = arena_printf(r->arena, "line %zu has %zu column%s, and line %zu has %zu name%s%s", r->line, columns,
                              plural(columns), t->names_at, t->names.count, plural(t->names.count), hint);
    else if (columns != t->columns)
        r->why = arena_printf(r->arena, "line %zu has %zu column%s, and line %zu has %zu%s", r->line, columns,
                              plural(columns), t->first_line, t->columns, hint);
    else
        return true;
    return false;
}

static bool is_open_as_first(struct table_reader *r, const struct table *t, bool is_open, size_t line) {
    if (is_open != t->is_open)
        r->why = arena_printf(r->arena, "line %zu %s with %s, and line %zu %s: is a value missing?", line,
                              is_open ? "ends" : "does not end", separator_name(r->separator), t->first_line,
                              is_open ? "does not" : "does");
    return is_open == t->is_open;
}

/* Counts rows and cells. Rows are equally long, and all lines end with a separator or none does. Only a list of numbers
   between blanks, or one whose lines end with separators, goes on in lines of any length, and its last line may end
   without. */
static bool measure(struct table_reader *r, struct table *t, bool is_list) {
    bool was_open = false;
    size_t last_line = 0;
    for (; find_line(r); skip_line(r), t->rows++) {
        settle_separator(r);
        struct cell cell;
        size_t before = t->cells;
        const char *start = r->at;
        r->is_open = false;
        while (next_cell(r, &cell))
            t->cells++;
        if (r->why)
            return false;
        size_t columns = t->cells - before;
        if (t->rows == 0) {
            t->columns = columns;
            t->first_line = r->line;
            t->is_open = r->is_open;
        }
        bool goes_on = is_list && (r->separator == ' ' || t->is_open);
        if (!goes_on && !has_same_width(r, t, is_list, start, columns))
            return false;
        if (t->rows > 0 && !is_open_as_first(r, t, goes_on ? was_open : r->is_open, goes_on ? last_line : r->line))
            return false;
        was_open = r->is_open;
        last_line = r->line;
    }
    return true;
}

static bool find_column(struct table_reader *r, const struct table *t, const char *name, size_t *column) {
    struct text known;
    text_init(&known, r->arena);
    size_t found = 0;
    for (size_t i = 0; i < t->names.count; i++) {
        text_printf(&known, "%s`%s`", i ? ", " : "", t->names.at[i]);
        if (strcmp(t->names.at[i], name) == 0 && found++ == 0)
            *column = i + 1;
    }
    if (found == 1)
        return true;
    r->why = !t->names_at ? "the first line is not of names"
             : found      ? arena_printf(r->arena, "%zu columns have the name `%s`", found, name)
                     : arena_printf(r->arena, "no column has the name `%s`; there is %s", name, text_string(&known));
    return false;
}

/* The fields of a record are the columns of their names, as they are in a structured .npy file. */
static bool is_read_by_names(const struct table *t, struct type *type) {
    struct type *element = NULL;
    value_type_rank(type, &element);
    return t->names_at && element->kind == TYPE_TUPLE && element->tuple.record;
}

/* Which column is what is read: the number of its leaf, from 1, or 0. A field of a field has the name that it has in C.
   NULL where the columns are all read, in their order, or where one is not found. */
static const size_t *named_columns(struct table_reader *r, const struct table *t, struct type *type,
                                   const char *column) {
    if (!column && !is_read_by_names(t, type))
        return NULL;
    struct type *element;
    value_type_rank(type, &element);
    size_t *leaf_of = ARENA_ARRAY(r->arena, size_t, t->names.count + 1);
    memset(leaf_of, 0, (t->names.count + 1) * sizeof *leaf_of);
    for (size_t leaf = 0; leaf < type_leaf_count(element); leaf++) {
        const char *name = column ? column : type_component_name(r->arena, element, "", leaf) + 1; /* behind its `_` */
        size_t at;
        if (!find_column(r, t, name, &at))
            return NULL;
        leaf_of[at - 1] = leaf + 1;
    }
    return leaf_of;
}

static bool fits_type(struct table_reader *r, const struct table *t, struct type *type, size_t rank, size_t leaves) {
    size_t columns = t->names_at ? t->names.count : t->columns;
    if (is_read_by_names(t, type))
        return true;
    if (leaves > 1 && (t->rows || t->names_at) && columns != leaves)
        r->why =
            arena_printf(r->arena, "the rows have %zu column%s, and %zu are wanted", columns, plural(columns), leaves);
    else if (leaves == 1 && rank == 1 && t->names_at && columns > 1)
        r->why =
            arena_printf(r->arena,
                         "the table has %zu columns, and %s is one of them: write @FILE:NAME with one of the names "
                         "of line %zu, such as %s",
                         columns, type_spelling(r->arena, type), t->names_at, t->names.at[columns - 1]);
    else
        return true;
    return false;
}

static bool read_rows(struct table_reader *r, const struct table *t, const size_t *leaf_of, struct host_value **leaves,
                      size_t width) {
    size_t done = 0;
    for (size_t row = 0; find_line(r); skip_line(r), row++) {
        settle_separator(r);
        struct cell cell;
        while (next_cell(r, &cell)) {
            if (leaf_of && !leaf_of[cell.number - 1])
                continue;
            struct host_value *leaf = leaves[leaf_of ? leaf_of[cell.number - 1] - 1 : done % width];
            union scalar value;
            if (!read_value(r, &cell, leaf->array.base, r->line == t->first_line && !t->names_at, &value))
                return false;
            value_set(leaf->array.base, leaf->array.data, leaf_of ? row : done / width, value);
            done++;
        }
    }
    return true;
}

static struct host_value *read_table(struct table_reader *r, struct type *type, const char *column) {
    struct type *element;
    size_t rank = value_type_rank(type, &element), width = type_leaf_count(element);
    if (rank == 0 || rank > 2 || (rank == 2 && width > 1) || (column && width > 1) || (column && rank > 1)) {
        r->why = column ? arena_printf(r->arena, "a column is a list of numbers, not a value of type %s",
                                       type_spelling(r->arena, type))
                        : "a table is a list, a matrix or a list of tuples";
        return NULL;
    }
    struct table table = {0};
    go_to_start(r);
    if (find_line(r)) {
        size_t line = r->line;
        table.names_at = take_names(r, &table.names) ? line : 0;
    }
    struct table_reader rows = *r;
    if (!measure(r, &table, rank == 1 && width == 1 && !table.names_at) ||
        (!column && !fits_type(r, &table, type, rank, width)))
        return NULL;
    const size_t *leaf_of = named_columns(r, &table, type, column);
    if (r->why)
        return NULL;
    int64_t count, shape[2] = {(int64_t)(rank == 2 || leaf_of ? table.rows : table.cells / width),
                               (int64_t)(table.names_at ? table.names.count : table.columns)};
    if (!value_check_shape(r->arena, element, rank, shape, &count, &r->why))
        return NULL;
    struct host_value *result = value_array(r->arena, element, rank, shape);
    struct host_value **leaves = ARENA_ARRAY(r->arena, struct host_value *, width);
    value_leaves(result, leaves);
    *r = rows;
    return read_rows(r, &table, leaf_of, leaves, width) ? result : NULL;
}

const char *value_why_no_text(struct arena *arena, struct value_bytes bytes) {
    const unsigned char *at = bytes.at;
    if (bytes.length > 1 && ((at[0] == 0xFF && at[1] == 0xFE) || (at[0] == 0xFE && at[1] == 0xFF)))
        return "the text is UTF-16: save it as UTF-8";
    const unsigned char *nul = bytes.length ? memchr(at, '\0', bytes.length) : NULL;
    return nul ? arena_printf(arena, "byte %zu is 0, which no text has", (size_t)(nul - at)) : NULL;
}

struct host_value *value_from_table(struct arena *arena, struct type *type, struct value_bytes bytes, bool is_tsv,
                                    const char *column, const char **why) {
    struct table_reader reader = {.arena = arena, .text = (const char *)bytes.at, .is_tsv = is_tsv};
    reader.why = value_why_no_text(arena, bytes);
    struct host_value *result = reader.why ? NULL : read_table(&reader, type, column);
    *why = reader.why;
    return result;
}
