/* Values from files. The ending of its name says what a file is, and on standard input its first bytes; `bytes:@FILE`
   are the bytes of any. The contents of a file must be of the kind that the name says. */
#include "values/value.h"

#include <string.h>

enum file_kind { KIND_NPY, KIND_NPZ, KIND_TABLE, KIND_MARKET, KIND_IMAGE, KIND_GZIP, KIND_OTHER };

static const char *const kind_names[] = {"a .npy file",          "a .npz file (or another zip archive)",
                                         "a table of numbers",   "a .mtx file",
                                         "a PGM or PPM picture", "a file that gzip compressed"};

struct file {
    struct arena *arena;
    const char *directory, *given; /* where relative paths are; the path as it was given */
    const char *path, *member;     /* without what is named in it, and that; NULL: nothing is */
    enum file_kind kind;
    const char *why;
};

static bool is_standard_input(const char *path) { return strcmp(path, "-") == 0; }

/* Letters of both sizes are the same. */
static bool ends_with(const char *path, size_t length, const char *ending) {
    size_t n = strlen(ending);
    if (length <= n)
        return false;
    for (size_t i = 0; i < n; i++) {
        char c = path[length - n + i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != ending[i])
            return false;
    }
    return true;
}

static enum file_kind kind_of_name(const char *path, size_t length) {
    static const struct {
        const char *ending;
        enum file_kind kind;
    } endings[] = {{".npy", KIND_NPY},   {".npz", KIND_NPZ},   {".csv", KIND_TABLE},  {".tsv", KIND_TABLE},
                   {".txt", KIND_TABLE}, {".dat", KIND_TABLE}, {".mtx", KIND_MARKET}, {".pgm", KIND_IMAGE},
                   {".ppm", KIND_IMAGE}, {".pnm", KIND_IMAGE}, {".gz", KIND_GZIP}};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (ends_with(path, length, endings[i].ending))
            return endings[i].kind;
    return KIND_OTHER;
}

static enum file_kind kind_of_bytes(struct value_bytes bytes) {
    static const struct {
        const char *magic;
        enum file_kind kind;
    } magics[] = {
        {"\x93NUMPY", KIND_NPY}, {"PK\3\4", KIND_NPZ}, {"%%MatrixMarket", KIND_MARKET}, {"\x1f\x8b", KIND_GZIP}};
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (bytes.length >= strlen(magics[i].magic) && memcmp(bytes.at, magics[i].magic, strlen(magics[i].magic)) == 0)
            return magics[i].kind;
    bool is_image = bytes.length > 2 && bytes.at[0] == 'P' && bytes.at[1] >= '1' && bytes.at[1] <= '6' &&
                    memchr("\n\r\t #", bytes.at[2], 5);
    return is_image ? KIND_IMAGE : KIND_TABLE;
}

bool value_names_file(const char *text) { return kind_of_name(text, strlen(text)) != KIND_OTHER; }

/* ---- reading ---- */

static struct host_value *refuse(struct file *f, const char *path, const char *why) {
    f->why = arena_printf(f->arena, "%s: %s", is_standard_input(path) ? "standard input" : path, why);
    return NULL;
}

static const char *placed(const struct file *f, const char *path) {
    bool is_relative = !is_standard_input(path) && path[0] != '/' && f->directory;
    return is_relative ? arena_printf(f->arena, "%s/%s", f->directory, path) : path;
}

static bool read_bytes(struct file *f, const char *path, struct value_bytes *bytes) {
    return value_read_file(f->arena, placed(f, path), bytes, &f->why);
}

static struct host_value *all_bytes(struct file *f, struct type *type, const char *path) {
    struct type *element;
    struct value_bytes bytes;
    size_t rank = value_type_rank(type, &element);
    if (!value_is_bytes(type))
        return refuse(f, path,
                      arena_printf(f->arena, "the bytes of a file are of type [u8], and %s is wanted",
                                   type_spelling(f->arena, type)));
    if (!read_bytes(f, path, &bytes))
        return NULL;
    int64_t shape[1] = {(int64_t)bytes.length}, count;
    if (!value_check_shape(f->arena, element, rank, shape, &count, &f->why))
        return refuse(f, path, f->why);
    struct host_value *result = value_array(f->arena, element, rank, shape);
    if (bytes.length)
        memcpy(result->array.data, bytes.at, bytes.length);
    return result;
}

static struct host_value *from_bytes(struct file *f, struct type *type, const char *path, struct value_bytes bytes) {
    enum file_kind found = kind_of_bytes(bytes);
    if (is_standard_input(f->path)) {
        f->kind = found;
        if (bytes.length == 0)
            return refuse(f, path, "it is empty");
    }
    bool is_gzip = found == KIND_GZIP || f->kind == KIND_GZIP;
    if (is_gzip)
        return refuse(f, path, "it is compressed: uncompress it (gunzip), or read it as `zcat FILE | fclc … @-`");
    if (found != f->kind && found != KIND_TABLE)
        return refuse(
            f, path, arena_printf(f->arena, "its bytes are those of %s: give its name that ending", kind_names[found]));
    struct host_value *result = NULL;
    switch (f->kind) {
    case KIND_NPY: result = value_from_npy(f->arena, type, bytes, &f->why); break;
    case KIND_NPZ: result = value_from_npz(f->arena, type, bytes, f->member, &f->why); break;
    case KIND_MARKET: result = value_from_matrix_market(f->arena, type, bytes, &f->why); break;
    case KIND_IMAGE: result = value_from_image(f->arena, type, bytes, &f->why); break;
    default:
        result =
            value_from_table(f->arena, type, bytes, ends_with(f->path, strlen(f->path), ".tsv"), f->member, &f->why);
    }
    return result ? result : refuse(f, path, f->why);
}

static struct host_value *whole_file(struct file *f, struct type *type, const char *path) {
    struct value_bytes bytes;
    return read_bytes(f, path, &bytes) ? from_bytes(f, type, path, bytes) : NULL;
}

/* ---- tuples ---- */

/* Reads a tuple as `fclc run -o` writes it: each component has a file. */
static struct host_value *read_components(struct file *f, struct type *type, size_t count, size_t *next) {
    type = type_resolve(type);
    if (type->kind != TYPE_TUPLE) {
        struct host_value *component = whole_file(f, type, value_npy_path(f->arena, f->path, count, (*next)++));
        if (!component)
            f->why = arena_printf(f->arena, "%s (each component of a tuple has a file, as `-o %s` writes them)", f->why,
                                  f->path);
        return component;
    }
    struct host_value **items = ARENA_ARRAY(f->arena, struct host_value *, type->tuple.count);
    for (size_t i = 0; i < type->tuple.count; i++) {
        items[i] = read_components(f, type->tuple.items[i], count, next);
        if (!items[i])
            return NULL;
    }
    return value_tuple(f->arena, type, items);
}

static struct host_value *read_npy(struct file *f, struct type *type) {
    size_t count = type_leaf_count(type), next = 0;
    bool has_components = count > 1 && !is_standard_input(f->path) && !value_has_file(placed(f, f->path));
    return has_components ? read_components(f, type, count, &next) : whole_file(f, type, f->path);
}

/* ---- the name ---- */

/* Behind the last colon may be the name of an array or a column. */
static bool split_name(struct file *f) {
    const char *colon = strrchr(f->given, ':');
    size_t length = colon ? (size_t)(colon - f->given) : 0;
    enum file_kind kind = length == 1 && f->given[0] == '-' ? KIND_TABLE : kind_of_name(f->given, length);
    if (colon && (kind == KIND_NPZ || kind == KIND_TABLE)) {
        f->path = arena_strndup(f->arena, f->given, length);
        f->member = colon + 1;
        f->kind = kind;
        if (*f->member == '\0')
            refuse(f, f->path,
                   kind == KIND_NPZ ? "behind `:` the name of an array is wanted, @FILE.npz:NAME"
                                    : "behind `:` the name of a column is wanted, @FILE.csv:NAME");
        return *f->member != '\0';
    }
    f->path = f->given;
    f->kind = is_standard_input(f->path) ? KIND_NPY : kind_of_name(f->path, strlen(f->path));
    return true;
}

static struct host_value *read_file(struct file *f, struct type *type) {
    if (!split_name(f))
        return NULL;
    /* These endings, unlike .csv and .tsv, are of texts, too. */
    bool is_text = ends_with(f->path, strlen(f->path), ".txt") || ends_with(f->path, strlen(f->path), ".dat");
    if (value_is_bytes(type) && is_text && !f->member)
        return refuse(f, f->path,
                      arena_printf(f->arena,
                                   "the bytes of the file, or the numbers in it? Its bytes are bytes:@%s; "
                                   "numbers are read for [u8] from a .csv or .tsv file",
                                   f->path));
    if (f->kind == KIND_OTHER || (f->kind == KIND_GZIP && value_is_bytes(type))) {
        if (value_is_bytes(type))
            return all_bytes(f, type, f->path);
        f->why = arena_printf(f->arena,
                              "%s is neither a .npy, .npz, .csv, .tsv, .txt, .dat, .mtx, .pgm nor .ppm file; the bytes "
                              "of others are of type [u8]",
                              f->path);
        return NULL;
    }
    return f->kind == KIND_NPY ? read_npy(f, type) : whole_file(f, type, f->path);
}

struct host_value *value_from_file(struct arena *arena, struct type *type, const char *directory, const char *path,
                                   bool as_bytes, const char **why) {
    struct file file = {.arena = arena, .directory = directory, .given = path};
    struct host_value *result = as_bytes ? all_bytes(&file, type, path) : read_file(&file, type);
    *why = file.why;
    return result;
}
