/* A Python module of a program's kernels; see python.h. */
#include "driver/python.h"

#include <string.h>

#include "driver/describe.h"
#include "types/base.h"

/* NumPy's type of an element. It knows only the bits of some types, but a scalar of these is a number, too. */
static const char *numpy_name(enum fclc_base base, bool is_scalar) {
    return base == FCLC_BOOL ? "bool_" : is_scalar && base == FCLC_BF16 ? "float32" : base_info[base].numpy_name;
}

/* ---- strings ---- */

static void add_escaped(struct text *out, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            text_printf(out, "\\%c", c);
        else if (c < ' ' || c == 0x7F)
            text_printf(out, "\\x%02x", c);
        else
            text_add_n(out, text + i, 1);
    }
}

static void add_string(struct text *out, const char *text) {
    text_add(out, "\"");
    add_escaped(out, text, strlen(text));
    text_add(out, "\"");
}

/* A literal for each line. */
static void add_lines(struct text *out, const char *text, size_t length, const char *indent) {
    const char *end = text + length;
    if (text == end)
        text_printf(out, "%s\"\"", indent);
    for (const char *line = text; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line)), *stop = newline ? newline : end;
        text_printf(out, "%s%s\"", line == text ? "" : "\n", indent);
        add_escaped(out, line, (size_t)(stop - line));
        text_add(out, newline ? "\\n\"" : "\"");
        line = newline ? newline + 1 : end;
    }
}

/* ---- names ---- */

/* FCL's names may have primes, and may be words of Python's or names that the module uses itself. */
static const char *python_name(struct arena *arena, const char *name) {
    static const char *const words[] = {
        "False", "None",     "True",    "and",    "as",      "assert", "async",  "await",    "break",
        "class", "continue", "def",     "del",    "elif",    "else",   "except", "finally",  "for",
        "from",  "global",   "if",      "import", "in",      "is",     "lambda", "nonlocal", "not",
        "or",    "pass",     "raise",   "return", "try",     "while",  "with",   "yield",    "fcl",
        "np",    "npt",      "program", "Any",    "options", "tuple",  "bool",   "float",    "int",
    };
    char *result = arena_strndup(arena, name, strlen(name));
    for (char *p = result; *p; p++)
        if (*p == '\'')
            *p = '_';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(result, words[i]) == 0)
            return arena_printf(arena, "%s_", result);
    return result;
}

/* One that none of the first has. */
static const char *name_apart(struct arena *arena, const char *name, const char *const *taken, size_t count) {
    const char *result = python_name(arena, *name ? name : "argument");
    for (size_t i = 0; i < count; i++)
        if (strcmp(taken[i], result) == 0)
            return name_apart(arena, arena_printf(arena, "%s_", result), taken, count);
    return result;
}

/* ---- types ---- */

static void add_type(struct text *out, const struct fclc_type *type, bool is_result) {
    switch (type->kind) {
    case FCLC_SCALAR:
        if (is_result)
            text_printf(out, "np.%s", numpy_name(type->base, true));
        else
            text_add(out, type->base == FCLC_BOOL ? "bool" : type->base >= FCLC_F32 ? "float" : "int");
        break;
    case FCLC_ARRAY: text_printf(out, "npt.NDArray[np.%s]", numpy_name(type->base, false)); break;
    case FCLC_TUPLE:
        if (type->fields) {
            text_add(out, is_result ? "dict[str, Any]" : "Any");
            break;
        }
        text_add(out, "tuple[");
        for (size_t i = 0; i < type->count; i++) {
            text_add(out, i ? ", " : "");
            add_type(out, &type->items[i], is_result);
        }
        text_add(out, type->count ? "]" : "()]");
        break;
    }
}

/* ---- the module ---- */

static void add_options(struct text *out, const struct options *o) {
    if (o->target)
        text_printf(out, ",\n    target=\"%s\"", o->target);
    if (o->mapping != MAPPING_DEFAULT)
        text_printf(out, ",\n    map=\"%s\"", options_mapping_name(o->mapping));
    if (o->check_given)
        text_printf(out, ",\n    check=\"%s\"", options_degree_name(o->check));
    if (o->block_size_given)
        text_printf(out, ",\n    block_size=%lld", (long long)o->block_size);
    if (o->warp_size_given)
        text_printf(out, ",\n    warp_size=%lld", (long long)o->warp_size);
    if (o->grid_size_given)
        text_printf(out, ",\n    grid_size=%lld", (long long)o->grid_size);
    for (size_t i = 0; i < o->settings.count; i++) {
        text_add(out, i ? ", " : ",\n    params={");
        add_string(out, o->settings.at[i].name);
        text_add(out, ": ");
        add_string(out, o->settings.at[i].value);
        text_add(out, i + 1 == o->settings.count ? "}" : "");
    }
}

static void add_program(struct text *out, const struct compilation *c) {
    const struct source *own = c->file->source;
    text_add(out, "program = fcl.source(\n");
    add_lines(out, (const char *)own->text, own->length, "    ");
    text_add(out, ",\n    name=");
    add_string(out, own->path);
    size_t count = 0;
    for (size_t i = 0; i < c->files.count; i++) {
        const struct loaded *file = c->files.at[i];
        const struct source *source = file->module->file ? file->module->file->source : NULL;
        if (!source || source == own || source->is_ours)
            continue;
        text_add(out, count++ ? ",\n        " : ",\n    files={\n        ");
        add_string(out, source->path);
        text_add(out, ":\n");
        add_lines(out, (const char *)source->text, source->length, "            ");
    }
    text_add(out, count ? "}" : "");
    add_options(out, c->options);
    text_add(out, ")\n");
}

static const char *add_kernel(struct text *out, struct arena *arena, const struct fclc_kernel_info *k,
                              const char *const *taken, size_t taken_count) {
    const char *name = name_apart(arena, k->name, taken, taken_count);
    const char **names = ARENA_ARRAY(arena, const char *, k->parameter_count + 1);
    text_printf(out, "\n\ndef %s(", name);
    for (size_t i = 0; i < k->parameter_count; i++) {
        names[i] = name_apart(arena, k->parameters[i].name, names, i);
        text_printf(out, "%s: ", names[i]);
        add_type(out, &k->parameters[i].type, false);
        text_add(out, ", ");
    }
    text_add(out, "**options: Any) -> ");
    add_type(out, &k->result.type, true);
    text_add(out, ":\n    \"\"\"");
    add_escaped(out, k->name, strlen(k->name));
    text_printf(out, " : %s", k->text);
    for (const char *line = k->comment; *line;) {
        size_t length = strcspn(line, "\n");
        text_add(out, line == k->comment ? "\n\n    " : length ? "\n    " : "\n");
        add_escaped(out, line, length);
        line += length + (line[length] == '\n');
    }
    text_printf(out, "%s\"\"\"\n    result: ", *k->comment ? "\n    " : "");
    add_type(out, &k->result.type, true);
    text_add(out, " = program[");
    add_string(out, k->name);
    text_add(out, "](");
    for (size_t i = 0; i < k->parameter_count; i++)
        text_printf(out, "%s, ", names[i]);
    text_add(out, "**options)\n    return result\n");
    return name;
}

const char *python_module(struct compilation *c) {
    struct kernel_list kernels = describe_kernels(c->arena, c);
    const char **names = ARENA_ARRAY(c->arena, const char *, kernels.count + 1);
    struct text out;
    text_init(&out, c->arena);
    text_add(&out, "\"\"\"The kernels of ");
    add_escaped(&out, c->file->source->path, strlen(c->file->source->path));
    text_printf(&out,
                ", by fclc %s. Each takes the keywords of fcl.Kernel, too: target, check, keep, params …\"\"\"\n\n"
                "from typing import Any\n\nimport fcl\nimport numpy as np\nimport numpy.typing as npt\n\n",
                FCLC_VERSION);
    add_program(&out, c);
    for (size_t i = 0; i < kernels.count; i++)
        names[i] = add_kernel(&out, c->arena, &kernels.infos[i], names, i);
    return text_string(&out);
}
