/* Comma-separated numbers: a matrix has a row a line, a list of numbers all of them in order, an array of tuples a
   tuple a line. Blank lines and lines that begin with # are skipped; separators are commas, semicolons, tabs or
   spaces. */
#include "values/value.h"

#include <string.h>

struct table {
    struct arena *arena;
    VEC(union scalar) cells;
    size_t rows, columns; /* columns: of the first row */
};

static bool is_separator(char c) { return c == ',' || c == ';' || c == '\t'; }

static const char *skip_blanks(const char *at) {
    while (*at == ' ' || *at == '\r' || (*at == '\t'))
        at++;
    return at;
}

/* Reads one line up to its newline. The column decides the base type where there are several. */
static bool read_row(struct table *table, const char **at, size_t line, const enum base *bases, size_t base_count,
                     bool same_width, const char **why) {
    size_t columns = 0;
    const char *next = skip_blanks(*at);
    while (*next && *next != '\n') {
        union scalar value;
        const char *problem;
        enum base base = bases[columns % base_count];
        if (!value_parse_scalar(table->arena, base, &next, &value, &problem)) {
            *why = arena_printf(table->arena, "line %zu, column %zu: %s", line, columns + 1, problem);
            return false;
        }
        vec_push(table->arena, &table->cells, value);
        columns++;
        const char *after = next;
        next = skip_blanks(next);
        if (is_separator(*next))
            next = skip_blanks(next + 1);
        else if (next == after && *next && *next != '\n') {
            *why =
                arena_printf(table->arena, "line %zu, column %zu: `%c` cannot follow a number", line, columns, *next);
            return false;
        }
    }
    *at = next;
    if (table->rows == 0)
        table->columns = columns;
    table->rows++;
    if (same_width && columns != table->columns) {
        *why = arena_printf(table->arena, "line %zu has %zu column%s, and those before it have %zu", line, columns,
                            columns == 1 ? "" : "s", table->columns);
        return false;
    }
    return true;
}

struct host_value *value_from_csv(struct arena *arena, struct type *type, struct value_bytes bytes, const char **why) {
    struct type *element;
    size_t rank = value_type_rank(type, &element), leaves = value_leaf_count(element);
    if (rank == 0 || rank > 2 || (rank == 2 && leaves > 1)) {
        *why = "a .csv file holds a list, a matrix or a list of tuples";
        return NULL;
    }
    if (memchr(bytes.at, '\0', bytes.length)) {
        *why = "the file holds a NUL byte";
        return NULL;
    }
    enum base *bases = ARENA_ARRAY(arena, enum base, leaves);
    value_leaf_bases(element, bases);
    struct table table = {.arena = arena};
    static const char mark[] = "\xEF\xBB\xBF"; /* of UTF-8, which spreadsheets write */
    const char *at = (const char *)bytes.at;
    if (strncmp(at, mark, strlen(mark)) == 0)
        at += strlen(mark);
    for (size_t line = 1; *at; line++) {
        const char *first = skip_blanks(at);
        if (*first == '#')
            at = first + strcspn(first, "\n");
        else if (*first == '\n' || *first == '\0')
            at = first;
        else if (!read_row(&table, &at, line, bases, leaves, rank == 2 || leaves > 1, why))
            return NULL;
        if (*at == '\n')
            at++;
    }
    if (leaves > 1 && table.rows > 0 && table.columns != leaves) {
        *why = arena_printf(arena, "the rows have %zu column%s, and %zu are wanted", table.columns,
                            table.columns == 1 ? "" : "s", leaves);
        return NULL;
    }
    int64_t count, shape[2] = {(int64_t)(rank == 2 ? table.rows : table.cells.count / leaves), (int64_t)table.columns};
    if (!value_check_shape(arena, element, rank, shape, &count, why))
        return NULL;
    struct host_value *result = value_array(arena, element, rank, shape);
    struct host_value **columns = ARENA_ARRAY(arena, struct host_value *, leaves);
    value_leaves(result, columns);
    for (size_t i = 0; i < table.cells.count; i++)
        value_set(columns[i % leaves]->array.base, columns[i % leaves]->array.data, i / leaves, table.cells.at[i]);
    return result;
}
