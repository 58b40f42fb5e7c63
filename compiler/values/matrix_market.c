/* Matrix Market's format: a line that says what the file holds, comments (%), sizes, entries. A sparse matrix
   (`coordinate`) has tuples of row, column and value, which count from 0 here and from 1 there; a dense one (`array`)
   has its columns one after the other. Where only one half of a matrix is in the file, the other is added: a sparse
   entry's twin comes right behind it. */
#include "values/value.h"

#include <string.h>

enum { WORD_LONGEST = 32, WORDS = 5, SHOWN_LONGEST = 24 };

enum symmetry { GENERAL, SYMMETRIC, SKEW };

struct market {
    struct arena *arena;
    const char *at;
    size_t line;
    bool is_coordinate, is_pattern;
    enum symmetry symmetry;
    uint64_t rows, columns, entries;
    const char *why;
};

static bool fail(struct market *m, const char *problem) {
    m->why = arena_printf(m->arena, "line %zu: %s", m->line, problem);
    return false;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static void skip_blanks(struct market *m) {
    while (is_blank(*m->at))
        m->at++;
}

static size_t word_length(const char *at) { return strcspn(at, " \t\r\n"); }

static const char *shown(struct market *m) {
    size_t length = word_length(m->at);
    return length ? arena_printf(m->arena, "`%.*s`", (int)(length < SHOWN_LONGEST ? length : SHOWN_LONGEST), m->at)
                  : "the end of the line";
}

/* To the next line that is neither empty nor a comment. */
static bool next_line(struct market *m) {
    do {
        m->at += strcspn(m->at, "\n");
        if (*m->at == '\0')
            return false;
        m->at++;
        m->line++;
        skip_blanks(m);
    } while (*m->at == '%' || *m->at == '\n' || *m->at == '\0');
    return true;
}

/* ---- what the file holds ---- */

static void read_word(struct market *m, char *word) {
    skip_blanks(m);
    size_t length = word_length(m->at);
    for (size_t i = 0; i < length && i < WORD_LONGEST - 1; i++)
        word[i] = m->at[i] >= 'A' && m->at[i] <= 'Z' ? (char)(m->at[i] - 'A' + 'a') : m->at[i];
    word[length < WORD_LONGEST ? length : WORD_LONGEST - 1] = '\0';
    m->at += length;
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c) {
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

static bool read_banner(struct market *m) {
    char words[WORDS][WORD_LONGEST] = {{0}};
    for (int i = 0; i < WORDS; i++)
        read_word(m, words[i]);
    const char *layout = words[2], *field = words[3], *symmetry = words[4];
    if (strcmp(words[0], "%%matrixmarket") != 0 || strcmp(words[1], "matrix") != 0)
        return fail(m, "`%%MatrixMarket matrix` is wanted: this is no Matrix Market file");
    m->is_coordinate = strcmp(layout, "coordinate") == 0;
    if (!m->is_coordinate && strcmp(layout, "array") != 0)
        return fail(m, arena_printf(m->arena, "`coordinate` or `array` is wanted, not `%s`", layout));
    m->is_pattern = strcmp(field, "pattern") == 0;
    if (strcmp(field, "complex") == 0 || strcmp(symmetry, "hermitian") == 0)
        return fail(m, "complex numbers cannot be read");
    if (!(m->is_pattern && m->is_coordinate) && !is_one_of(field, "real", "double", "integer"))
        return fail(m, arena_printf(m->arena, "`real`, `integer` or `pattern` is wanted, not `%s`", field));
    m->symmetry = strcmp(symmetry, "symmetric") == 0        ? SYMMETRIC
                  : strcmp(symmetry, "skew-symmetric") == 0 ? SKEW
                                                            : GENERAL;
    if (m->symmetry == GENERAL && strcmp(symmetry, "general") != 0)
        return fail(m,
                    arena_printf(m->arena, "`general`, `symmetric` or `skew-symmetric` is wanted, not `%s`", symmetry));
    if (m->symmetry == SKEW && m->is_pattern)
        return fail(m, "a pattern has no signs: it cannot be skew-symmetric");
    return true;
}

static bool read_natural(struct market *m, uint64_t least, uint64_t most, const char *what, uint64_t *number) {
    skip_blanks(m);
    size_t length = word_length(m->at);
    *number = 0;
    bool is_good = length > 0;
    for (size_t i = 0; i < length && is_good; i++) {
        is_good = m->at[i] >= '0' && m->at[i] <= '9' && *number <= most;
        *number = *number * 10 + (uint64_t)(m->at[i] - '0');
    }
    if (!is_good || *number < least || *number > most)
        return fail(m, arena_printf(m->arena, "%s from %llu to %llu is wanted, not %s", what, (unsigned long long)least,
                                    (unsigned long long)most, shown(m)));
    m->at += length;
    return true;
}

static bool end_line(struct market *m) {
    skip_blanks(m);
    return *m->at == '\n' || *m->at == '\0' || fail(m, arena_printf(m->arena, "%s is too much in this line", shown(m)));
}

static bool read_sizes(struct market *m) {
    if (!next_line(m))
        return fail(m, "the file ends where the sizes are wanted");
    if (!read_natural(m, 0, VALUE_MAX_LENGTH, "a number of rows", &m->rows) ||
        !read_natural(m, 0, VALUE_MAX_LENGTH, "a number of columns", &m->columns) ||
        (m->is_coordinate && !read_natural(m, 0, VALUE_MAX_LENGTH, "a number of entries", &m->entries)) || !end_line(m))
        return false;
    if (m->symmetry != GENERAL && m->rows != m->columns)
        return fail(m, "a symmetric matrix has as many columns as rows");
    /* Before memory is asked for: the shortest entry is `1 1`, the shortest element a digit, each with a line's end. */
    size_t left = strlen(m->at);
    if (m->is_coordinate ? m->entries > left / 4 + 1 : m->rows * m->columns / 2 > left)
        return fail(m, "the file is too short for what these sizes say");
    return true;
}

/* ---- values ---- */

static bool read_value(struct market *m, enum base base, union scalar *value) {
    const char *problem;
    skip_blanks(m);
    const char *next = m->at;
    if (word_length(m->at) == 0)
        return fail(m, "a value is missing");
    if (!value_parse_scalar(m->arena, base, &next, value, &problem))
        return fail(m, problem);
    if (next != m->at + word_length(m->at))
        return fail(m, arena_printf(m->arena, "%s is no number, and %s is wanted", shown(m), base_info[base].name));
    m->at = next;
    return true;
}

static bool negate(struct market *m, enum base base, union scalar *value) {
    if (base_info[base].is_floating) {
        value->floating = -value->floating;
        return true;
    }
    union scalar negated = base_wrap(base, (union scalar){.natural = 0 - value->natural});
    if ((!base_info[base].is_signed && value->natural) || (value->natural && negated.natural == value->natural))
        return fail(
            m, arena_printf(m->arena, "the skew-symmetric twin of the entry does not fit %s", base_info[base].name));
    *value = negated;
    return true;
}

static union scalar one_of(enum base base) {
    return base_info[base].is_floating ? (union scalar){.floating = 1} : (union scalar){.natural = 1};
}

/* An entry of a sparse matrix, in the cells of its tuple. */
static bool read_entry(struct market *m, const enum base *bases, size_t width, union scalar *cells) {
    uint64_t row, column;
    if (!read_natural(m, 1, m->rows, "a row", &row) || !read_natural(m, 1, m->columns, "a column", &column))
        return false;
    if (m->symmetry != GENERAL && (column > row || (m->symmetry == SKEW && column == row)))
        return fail(m, m->symmetry == SKEW ? "a skew-symmetric matrix is given below the diagonal"
                                           : "a symmetric matrix is given on the diagonal and below");
    cells[0].natural = row - 1;
    cells[1].natural = column - 1;
    for (size_t i = 0; i < 2; i++) {
        uint64_t most = m->symmetry == GENERAL ? cells[i].natural : row - 1; /* its twin's, too */
        if (base_wrap(bases[i], (union scalar){.natural = most}).natural != most)
            return fail(
                m, arena_printf(m->arena, "%llu does not fit %s", (unsigned long long)most, base_info[bases[i]].name));
    }
    if (m->is_pattern && width == 3)
        cells[2] = one_of(bases[2]);
    return (m->is_pattern || read_value(m, bases[2], &cells[2])) && end_line(m);
}

static bool is_index(enum base base) { return base_info[base].is_integer; }

static struct host_value *read_coordinates(struct market *m, struct type *type, struct type *element, size_t rank) {
    enum base bases[3];
    size_t width = type_leaf_count(element);
    bool fits = rank == 1 && (width == 3 || (width == 2 && m->is_pattern));
    if (fits)
        value_leaf_bases(element, bases);
    if (!fits || !is_index(bases[0]) || !is_index(bases[1])) {
        m->why = arena_printf(m->arena, "the file holds rows, columns%s of a sparse matrix, as %s has them, not %s",
                              m->is_pattern ? "" : " and values",
                              m->is_pattern ? "[(int, int)] or [(int, int, float)]" : "[(int, int, float)]",
                              type_spelling(m->arena, type));
        return NULL;
    }
    int64_t count, shape[] = {(int64_t)(m->symmetry == GENERAL ? m->entries : 2 * m->entries)};
    if (shape[0] > VALUE_MAX_LENGTH)
        shape[0] = VALUE_MAX_LENGTH; /* the diagonal counts once */
    if (!value_check_shape(m->arena, element, 1, shape, &count, &m->why))
        return NULL;
    struct host_value *result = value_array(m->arena, element, 1, shape), *leaves[3];
    value_leaves(result, leaves);
    size_t done = 0;
    for (uint64_t i = 0; i < m->entries; i++) {
        union scalar cells[3];
        if (!next_line(m)) {
            fail(m, arena_printf(m->arena, "the file ends after %llu of %llu entries", (unsigned long long)i,
                                 (unsigned long long)m->entries));
            return NULL;
        }
        if (!read_entry(m, bases, width, cells))
            return NULL;
        bool has_twin = m->symmetry != GENERAL && cells[0].natural != cells[1].natural;
        for (int twin = 0; twin <= has_twin; twin++, done++) {
            if (done == (size_t)shape[0]) {
                m->why = value_why_too_many(m->arena, "2147483648", 10);
                return NULL;
            }
            for (size_t j = 0; j < width; j++)
                value_set(bases[j], leaves[j]->array.data, done, cells[j < 2 && twin ? 1 - j : j]);
            if (m->symmetry == SKEW && !negate(m, bases[2], &cells[2]))
                return NULL;
        }
    }
    for (size_t j = 0; j < width; j++)
        leaves[j]->array.shape[0] = (int64_t)done;
    return result;
}

/* ---- dense matrices ---- */

static bool read_dense(struct market *m, struct host_value *matrix, enum base base) {
    for (uint64_t column = 0; column < m->columns; column++)
        for (uint64_t row = m->symmetry == GENERAL ? 0 : column + (m->symmetry == SKEW); row < m->rows; row++) {
            union scalar value;
            if (!next_line(m))
                return fail(m, arena_printf(m->arena, "the file ends where row %llu of column %llu is wanted",
                                            (unsigned long long)row + 1, (unsigned long long)column + 1));
            if (!read_value(m, base, &value) || !end_line(m))
                return false;
            value_set(base, matrix->array.data, row * m->columns + column, value);
            if (m->symmetry == GENERAL || row == column)
                continue;
            if (m->symmetry == SKEW && !negate(m, base, &value))
                return false;
            value_set(base, matrix->array.data, column * m->columns + row, value);
        }
    return true;
}

static struct host_value *read_array(struct market *m, struct type *type, struct type *element, size_t rank) {
    bool is_vector = rank == 1 && m->columns == 1;
    if (element->kind != TYPE_BASE || (rank != 2 && !is_vector)) {
        m->why =
            arena_printf(m->arena, "the file holds a dense matrix of %llu × %llu, and %s is wanted",
                         (unsigned long long)m->rows, (unsigned long long)m->columns, type_spelling(m->arena, type));
        return NULL;
    }
    int64_t count, shape[] = {(int64_t)m->rows, (int64_t)m->columns};
    if (!value_check_shape(m->arena, element, rank, shape, &count, &m->why))
        return NULL;
    struct host_value *result = value_array(m->arena, element, rank, shape);
    return read_dense(m, result, element->base) ? result : NULL;
}

struct host_value *value_from_matrix_market(struct arena *arena, struct type *type, struct value_bytes bytes,
                                            const char **why) {
    struct market m = {.arena = arena, .at = (const char *)bytes.at, .line = 1};
    struct type *element;
    size_t rank = value_type_rank(type, &element);
    struct host_value *result = NULL;
    m.why = value_why_no_text(arena, bytes);
    if (!m.why && read_banner(&m) && end_line(&m) && read_sizes(&m)) {
        result = m.is_coordinate ? read_coordinates(&m, type, element, rank) : read_array(&m, type, element, rank);
        if (result && next_line(&m)) {
            fail(&m, "more follows than the sizes say");
            result = NULL;
        }
    }
    *why = m.why;
    return result;
}
