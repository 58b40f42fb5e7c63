/* Hints: what was probably meant by an expression whose type does not fit, in the user's own words where these are
   short enough to be repeated. */
#include <ctype.h>
#include <string.h>

#include "types/checker.h"

enum { QUOTED_LONGEST = 30 };

/* ---- the user's words ---- */

static bool is_atom(const char *text) {
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && *text != '_' && *text != '\'' && *text != '#' && *text != '.')
            return false;
    return true;
}

/* The program's text there; NULL when it is too long to repeat. */
static const char *written(struct checker *c, struct span span) {
    const struct source *source = c->scope->file->source;
    if (span.begin < source->base || span.end > source->base + source->length || span.end <= span.begin ||
        span.end - span.begin > QUOTED_LONGEST)
        return NULL;
    const char *text =
        arena_strndup(c->arena, (const char *)source->text + (span.begin - source->base), span.end - span.begin);
    return strpbrk(text, "\n`") || strstr(text, "--") ? NULL : text;
}

/* The expression as an argument, in parentheses where it needs them; NULL when it is too long to repeat. */
static const char *short_operand(struct checker *c, const struct core *core) {
    const char *text = core ? written(c, core->span) : NULL;
    if (!text)
        return NULL;
    bool is_closed = is_atom(text) || core->kind == CORE_TUPLE || core->kind == CORE_LIST;
    return is_closed ? text : arena_printf(c->arena, "(%s)", text);
}

/* The same, in any case something that an argument can be put in the place of: a name could be one of the program's. */
static const char *operand_text(struct checker *c, const struct core *core) {
    const char *text = short_operand(c, core);
    return text ? text : "(…)";
}

/* The same without parentheses around it. The place of an application may end before the `)` of its last argument. */
static const char *bare_text(struct checker *c, const struct core *core, const char *otherwise) {
    const char *text = short_operand(c, core);
    if (!text || *text != '(' || core->kind == CORE_TUPLE)
        return text ? text : otherwise;
    int depth = 0;
    for (const char *at = text; *at; at++)
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    return depth == 0 ? arena_strndup(c->arena, text + 1, strlen(text) - 2) : otherwise;
}

/* Is it written with a minus sign? */
static bool is_negative(struct checker *c, const struct core *core) {
    const char *what = operand_text(c, core);
    return what[0] == '-' || (what[0] == '(' && what[1] == '-');
}

static bool is_of(const struct application *use, enum primitive primitive) {
    return use && use->callee.primitive == primitive;
}

/* ---- kinds of types ---- */

static bool is_function(const struct type *type) { return type->kind == TYPE_ARROW || type->kind == TYPE_LEVEL_ARROW; }

/* Is it a number? Then its base type, or what a number of which no more is known would be. */
static bool number_base(struct type *type, enum base *base) {
    type = type_resolve(type);
    if (type->kind == TYPE_VARIABLE && !type->variable->rigid &&
        (type->variable->classes & (CLASS_NUM | CLASS_FLOATING))) {
        *base = type->variable->classes & CLASS_FLOATING ? BASE_F64 : BASE_I32;
        return true;
    }
    if (type->kind != TYPE_BASE || !(base_info[type->base].is_integer || base_info[type->base].is_floating))
        return false;
    *base = type->base;
    return true;
}

static bool is_bool(const struct checker *c, struct type *type) {
    return type_resolve(type) == c->base_types[BASE_BOOL];
}

/* The type to convert to: a floating literal may become a `float`, too, which is what a kernel mostly has. */
static const char *target_name(struct type *type, enum base base) {
    bool is_open = type_resolve(type)->kind == TYPE_VARIABLE;
    return base_info[is_open && base == BASE_F64 ? BASE_F32 : base].name;
}

/* ---- arguments ---- */

static size_t count_arrows(struct type *type) {
    size_t count = 0;
    for (type = type_resolve(type); type->kind == TYPE_ARROW; type = type_resolve(type->arrow.to))
        count++;
    return count;
}

/* "a, b, c"; of many only the first. */
static const char *tuple_letters(struct checker *c, size_t count) {
    struct text text;
    text_init(&text, c->arena);
    for (size_t i = 0; i < count && i < 26; i++)
        text_printf(&text, "%s%c", i ? ", " : "", (char)('a' + (char)i));
    text_printf(&text, "%s", count > 26 ? ", …" : "");
    return text_string(&text);
}

/* `f (x, y)` for `f x y`. */
static bool hint_tuple_call(struct checker *c, struct diagnostic *d, const struct type *found,
                            const struct type *expected, const struct application *use) {
    if (!use || !use->function || !use->rest || found->kind != TYPE_TUPLE || expected->kind == TYPE_TUPLE ||
        count_arrows(use->rest) < found->tuple.count + (use->count > use->place ? use->count - use->place - 1 : 0))
        return false;
    if (!isalpha((unsigned char)*use->function))
        return false; /* an operand that is a pair */
    const struct type *rest = type_resolve(use->rest);
    for (size_t i = 1; i < found->tuple.count; i++) {
        rest = type_resolve(rest->arrow.to);
        const struct type *item = type_resolve(found->tuple.items[i]), *from = type_resolve(rest->arrow.from);
        bool is_scalar = item->kind == TYPE_VARIABLE && item->variable->classes;
        if (from->kind != TYPE_VARIABLE &&
            (is_scalar ? from->kind != TYPE_BASE : item->kind != TYPE_VARIABLE && from->kind != item->kind))
            return false; /* no argument for its place */
    }
    bool is_written = use->argument->kind == CORE_TUPLE;
    struct text text;
    text_init(&text, c->arena);
    for (size_t i = 0; i < found->tuple.count && (is_written || i < 26); i++)
        if (is_written)
            text_printf(&text, " %s", operand_text(c, use->argument->sequence.items[i]));
        else
            text_printf(&text, " %c", (char)('a' + (char)i));
    if (is_written)
        diag_hint(c->diagnostics, d, "arguments follow one another, without a tuple: `%s%s`", use->function,
                  text_string(&text));
    else
        diag_hint(c->diagnostics, d, "arguments follow one another, without a tuple: `let (%s) = %s in %s%s`",
                  tuple_letters(c, found->tuple.count), operand_text(c, use->argument), use->function,
                  text_string(&text));
    return true;
}

static bool takes_function(struct type *type) {
    type = type ? type_resolve(type) : NULL;
    while (type && type->kind == TYPE_LEVEL_ARROW)
        type = type_resolve(type->level_arrow.to);
    for (; type && type->kind == TYPE_ARROW; type = type_resolve(type->arrow.to))
        if (type_resolve(type->arrow.from)->kind == TYPE_ARROW)
            return true;
    return false;
}

/* A record or alternatives where a number is wanted, or two of them by an operator. */
static bool hint_words(struct checker *c, struct diagnostic *d, const struct type *type, bool are_two) {
    const struct record *record = type->kind == TYPE_TUPLE ? type->tuple.record : NULL;
    if (!record)
        return false;
    const char *field = record->constructor_count ? "" : record->fields[0]->text;
    if (record->constructor_count)
        diag_hint(c->diagnostics, d, "what is in alternatives is taken out by `match … with … => …`");
    else if (are_two)
        diag_hint(c->diagnostics, d,
                  "operators are of numbers; of two records it is a function: `fn a b => { %s = a.%s + b.%s%s }`",
                  field, field, field, record->count > 1 ? ", …" : "");
    else
        diag_hint(c->diagnostics, d, "operators are of numbers, such as its field `.%s`", field);
    return true;
}

/* `f (a, b)` where a record is wanted, and the other way round; and a number where alternatives are. */
static bool hint_words_wanted(struct checker *c, struct diagnostic *d, const struct type *found,
                              const struct type *expected) {
    while ((found->kind == TYPE_PULL || found->kind == TYPE_PUSH) && expected->kind == found->kind) {
        found = type_resolve(found->array.element);
        expected = type_resolve(expected->array.element);
    }
    const struct record *record = expected->kind == TYPE_TUPLE ? expected->tuple.record : NULL;
    const struct record *given = found->kind == TYPE_TUPLE ? found->tuple.record : NULL;
    if (given && !given->constructor_count && expected->kind == TYPE_TUPLE && !record) {
        diag_hint(c->diagnostics, d, "`%s` is a record and no tuple: a field is `r.%s`", given->name->text,
                  given->fields[0]->text);
        return true;
    }
    if (!record || given || is_function(found))
        return false;
    if (record->constructor_count)
        diag_hint(c->diagnostics, d, "a value of `%s` is made by a constructor, such as `%s`", record->name->text,
                  record->constructors[0].name->text);
    else
        diag_hint(c->diagnostics, d, "`%s` is a record, and a value of it `%s`", record->name->text,
                  record_shape(c, record));
    return true;
}

/* `reduce (+) (0, 0) pairs`: an operator of numbers for tuples. */
static bool hint_operator(struct checker *c, struct diagnostic *d, const struct type *tuple, unsigned classes,
                          const struct application *use) {
    if (!use || !use->function || !isalpha((unsigned char)*use->function) || tuple->kind != TYPE_TUPLE ||
        !(classes & (CLASS_NUM | CLASS_ORD)))
        return false;
    if (tuple->tuple.record)
        return hint_words(c, d, tuple, true);
    if (tuple->tuple.count > 4)
        return false;
    if (callee_is(&use->callee, (struct known)KNOWN_PRELUDE("sort"))) {
        diag_hint(
            c->diagnostics, d,
            "`sortByKey` sorts pairs of a key and a value; `sortBy (<)` goes by the first component that differs");
        return true;
    }
    bool is_operator = use->callee.primitive != PRIM_COUNT && primitive_info[use->callee.primitive].is_scalar;
    if (!is_operator && !takes_function(use->whole))
        return false;
    const char *letters = tuple_letters(c, 2 * tuple->tuple.count);
    size_t half = 3 * tuple->tuple.count - 2; /* "a, b" */
    diag_hint(c->diagnostics, d,
              "operators are of numbers; a function of two tuples takes them apart: `fn (%.*s) (%s) => …`", (int)half,
              letters, letters + half + 2);
    return true;
}

/* The same of the elements of an array. */
static bool hint_operator_of(struct checker *c, struct diagnostic *d, const struct type *found,
                             const struct type *expected, const struct application *use) {
    while ((found->kind == TYPE_PULL || found->kind == TYPE_PUSH) && expected->kind == found->kind) {
        found = type_resolve(found->array.element);
        expected = type_resolve(expected->array.element);
    }
    return expected->kind == TYPE_VARIABLE && hint_operator(c, d, found, expected->variable->classes, use);
}

static bool hint_tuple_wanted(struct checker *c, struct diagnostic *d, const struct type *found,
                              const struct type *expected, const struct application *use) {
    if (!use || !use->function || expected->kind != TYPE_TUPLE || found->kind == TYPE_TUPLE ||
        (found->kind == TYPE_VARIABLE && !found->variable->classes))
        return false;
    diag_hint(c->diagnostics, d, "`%s` takes a tuple here: `%s (%s)`", use->function, use->function,
              tuple_letters(c, expected->tuple.count));
    return true;
}

/* Are there as many arguments, this one and those after it, as the function still takes? */
static bool are_all_given(const struct application *use) { return use->count - use->place >= count_arrows(use->rest); }

/* `red <block> (+) 0 xs` for `red <block> (+) xs`; `sqrt abs x` for `sqrt (abs x)`. */
static bool hint_superfluous(struct checker *c, struct diagnostic *d, const struct type *found,
                             const struct application *use) {
    if (!use || !use->function || !use->rest || use->place == SIZE_MAX || !isalpha((unsigned char)*use->function))
        return false;
    struct type *expected = type_resolve(use->rest->arrow.from), *result = type_resolve(use->rest);
    while (result->kind == TYPE_ARROW)
        result = type_resolve(result->arrow.to);
    size_t taken = use->place + count_arrows(use->rest);
    if (use->count <= taken)
        return false;
    if (expected->kind == TYPE_TUPLE && !expected->tuple.record && taken == 1 && use->place == 0 &&
        use->count == expected->tuple.count) {
        diag_hint(c->diagnostics, d, "its argument is a tuple: `%s (%s)`", use->function, tuple_letters(c, use->count));
        return true;
    }
    const char *what = short_operand(c, use->argument);
    const char *plural = taken == 1 ? "" : "s";
    if (is_function(found) && found->kind != expected->kind && use->place + 1 < use->count && what &&
        isalpha((unsigned char)*what))
        diag_hint(c->diagnostics, d,
                  "`%s` takes %zu argument%s, and %zu are given; where `%s …` is an application, it is in parentheses: "
                  "`(%s …)`",
                  use->function, taken, plural, use->count, what, what);
    else if (found->kind != expected->kind && expected->kind != TYPE_VARIABLE && result->kind != TYPE_VARIABLE)
        diag_hint(c->diagnostics, d, "`%s` takes %zu argument%s, and %zu are given: is this one too much?",
                  use->function, taken, plural, use->count);
    else
        return false;
    return true;
}

/* `reduce (+) xs` for `reduce (+) 0 xs`; `histogram xs 3` for `histogram 3 xs`. */
static bool hint_missing(struct checker *c, struct diagnostic *d, struct type *found, const struct application *use) {
    if (!use || !use->function || !use->rest || use->place == SIZE_MAX)
        return false;
    struct type *expected = type_resolve(use->rest->arrow.from), *after = type_resolve(use->rest->arrow.to);
    enum base base;
    bool is_first = use->place == 0 && after->kind == TYPE_ARROW;
    if (expected->kind == TYPE_ARROW && number_base(found, &base) && !is_negative(c, use->argument) &&
        are_all_given(use) && use->count > 1 && isalpha((unsigned char)*use->function) &&
        (is_first || after->kind != TYPE_ARROW)) {
        diag_hint(c->diagnostics, d, "`%s` takes its function %s: are its arguments the other way round?",
                  use->function, is_first ? "first" : "last");
        return true;
    }
    if (after->kind != TYPE_ARROW || found->kind == TYPE_VARIABLE || found->kind == TYPE_BASE ||
        found->kind == expected->kind || found->kind != type_resolve(after->arrow.from)->kind)
        return false;
    diag_hint(c->diagnostics, d,
              are_all_given(use) ? "this would fit one place further on: are the arguments of `%s` the other way round?"
                                 : "this would fit one place further on: does `%s` lack an argument before it?",
              use->function);
    return true;
}

static const char *const places[] = {"first", "second", "third", "fourth", "fifth", "sixth"};

/* `map xs (fn x => …)` where nothing is known of xs; `foldl xs 0 (+)`. */
static bool hint_exchanged(struct checker *c, struct diagnostic *d, const struct type *found,
                           const struct type *expected, const struct application *use) {
    if (!use || !use->function || !use->whole || use->place == SIZE_MAX || !isalpha((unsigned char)*use->function) ||
        !are_all_given(use) || found->kind == expected->kind || expected->kind == TYPE_VARIABLE)
        return false;
    bool is_plain = use->argument->kind == CORE_LAMBDA || use->argument->kind == CORE_PRIMITIVE;
    if (is_function(found) ? !is_plain : found->kind != TYPE_PULL || expected->kind != TYPE_ARROW)
        return false; /* of an application, an argument may be missing */
    struct type *at = type_resolve(use->whole);
    while (at->kind == TYPE_LEVEL_ARROW)
        at = type_resolve(at->level_arrow.to);
    size_t place = 0;
    while (at->kind == TYPE_ARROW && place < 6 && type_resolve(at->arrow.from)->kind != found->kind) {
        at = type_resolve(at->arrow.to);
        place++;
    }
    if (at->kind != TYPE_ARROW || place >= 6)
        return false;
    diag_hint(c->diagnostics, d, "`%s` takes its %s as the %s argument: are its arguments the other way round?",
              use->function, is_function(found) ? "function" : "array", places[place]);
    return true;
}

/* `iota xs`, `matMul a b c` of matrices. */
static bool hint_number_of(struct checker *c, struct diagnostic *d, const struct type *found, struct type *expected,
                           const struct application *use) {
    enum base base;
    if (!use || !use->function || !use->rest || use->place == SIZE_MAX || found->kind != TYPE_PULL ||
        !number_base(expected, &base) || !base_info[base].is_integer || !isalpha((unsigned char)*use->function))
        return false;
    const char *what = operand_text(c, use->argument);
    if (type_resolve(found->array.element)->kind == TYPE_PULL)
        diag_hint(c->diagnostics, d,
                  "`%s` takes lengths, and the elements of a matrix, row by row, as one array, `flatten %s`; a row "
                  "of it has `columns %s`",
                  use->function, what, what);
    else
        diag_hint(c->diagnostics, d, "the number of its elements is `length %s`", what);
    return true;
}

/* `length ker!0` is `(length ker) ! 0`. */
static bool hint_binding(struct checker *c, struct diagnostic *d, const struct type *found,
                         const struct application *use) {
    const struct core *left = use ? use->argument : NULL;
    if (!is_of(use, PRIM_INDEX_OPERATOR) || use->place != 0 || found->kind == TYPE_PUSH || left->kind != CORE_APPLY)
        return false;
    const struct core *last = left->apply.argument;
    const struct type *array = type_resolve(last->type);
    const char *before = written(c, (struct span){left->span.begin, last->span.begin});
    if (last->span.end != left->span.end || array->kind != TYPE_PULL || !head_name(left))
        return false;
    enum type_kind element = type_resolve(array->array.element)->kind;
    if (element != TYPE_PULL && element != TYPE_VARIABLE)
        return false; /* which is no argument for what takes an array */
    diag_hint(c->diagnostics, d, "a function takes its argument before `!` does: `%s(%s ! …)`", before ? before : "… ",
              operand_text(c, last));
    return true;
}

/* `max xs ! 0`, which is `(max xs) ! 0`: behind the argument stands the `!`. */
static bool hint_indexed(struct checker *c, struct diagnostic *d, const struct type *found,
                         const struct application *use) {
    const struct source *source = c->scope->file->source;
    if (!use || !use->function || use->place == SIZE_MAX || found->kind != TYPE_PULL ||
        !isalpha((unsigned char)*use->function) || use->argument->span.begin < source->base ||
        use->argument->span.end > source->base + source->length)
        return false;
    size_t at = use->argument->span.end - source->base;
    while (at < source->length && source->text[at] == ' ')
        at++;
    bool is_index = at + 1 < source->length && source->text[at] == '!' && source->text[at + 1] != '=';
    if (!is_index)
        return false;
    diag_hint(c->diagnostics, d, "a function takes its argument before `!` does: `(%s ! …)`",
              operand_text(c, use->argument));
    return true;
}

/* `concat rows` */
static bool hint_flatten(struct checker *c, struct diagnostic *d, const struct type *found,
                         const struct application *use) {
    if (!is_of(use, PRIM_CONCAT) || use->place != 0 || use->count != 1 || found->kind != TYPE_PULL ||
        type_resolve(found->array.element)->kind != TYPE_PULL)
        return false;
    diag_hint(
        c->diagnostics, d,
        "`flatten %s` puts the rows of a pull array one after another; `concat n` puts push arrays together, of at "
        "most n elements each",
        operand_text(c, use->argument));
    return true;
}

static void find_cut(void *context, const struct core *name) {
    struct callee callee = callee_of(name);
    if (callee_is(&callee, (struct known)KNOWN_PRELUDE("splitUp")))
        *(bool *)context = true;
}

/* Is it made of what `splitUp` gives? */
static bool is_cut(const struct core *core) {
    bool found = false;
    core_visit_names(core, find_cut, &found);
    return found;
}

/* Pairs as another update takes them: an array of them, an array of arrays, an array of a thread's push arrays. */
static bool hint_pairs(struct checker *c, struct diagnostic *d, const struct type *found, const struct type *expected,
                       const struct application *use) {
    static const char *const names[][3] = {{"scatter", "scatterEach", "scatterEachPush"},
                                           {"reduceByIndex", "reduceByIndexEach", "reduceByIndexEachPush"}};
    static const char *const what[] = {"an array of pairs", "an array of arrays of pairs",
                                       "an array of a thread's push arrays of pairs"};
    if (!use || !use->function || found->kind != TYPE_PULL || expected->kind != TYPE_PULL)
        return false;
    enum type_kind kind = type_resolve(found->array.element)->kind;
    size_t form = kind == TYPE_TUPLE ? 0 : kind == TYPE_PULL ? 1 : 2;
    for (size_t i = 0; i < sizeof names / sizeof *names && (form < 2 || kind == TYPE_PUSH); i++)
        for (size_t k = 0; k < 3; k++)
            if (k != form && strcmp(use->function, names[i][k]) == 0) {
                diag_hint(c->diagnostics, d, "%s is for `%s`; `%s` takes %s", what[form], names[i][form], names[i][k],
                          what[k]);
                return true;
            }
    return false;
}

/* `scatter xs is vs`, `scatter xs (0, 5)`: where an array of pairs is wanted. */
static bool hint_zip(struct checker *c, struct diagnostic *d, const struct type *found, const struct type *expected,
                     const struct application *use) {
    const struct type *pair = expected->kind == TYPE_PULL ? type_resolve(expected->array.element) : expected;
    if (!use || !use->argument || use->place == SIZE_MAX || pair->kind != TYPE_TUPLE || pair == expected)
        return false;
    const char *what = bare_text(c, use->argument, "…");
    bool is_pair = found->kind == TYPE_TUPLE && found->tuple.count == pair->tuple.count;
    bool is_one = use->rest && use->count - use->place > count_arrows(use->rest) && pair->tuple.count == 2 &&
                  found->kind == TYPE_PULL && type_resolve(found->array.element)->kind != TYPE_TUPLE;
    if (is_pair)
        diag_hint(c->diagnostics, d, "an array of tuples is wanted; a list of one is `[%s]`", what);
    else if (is_one)
        diag_hint(c->diagnostics, d, "`zip` makes an array of pairs of two arrays: `(zip %s …)`",
                  operand_text(c, use->argument));
    return is_pair || is_one;
}

/* Where chunks at a level are wanted. */
static bool hint_chunks(struct checker *c, struct diagnostic *d, struct type *found, struct type *expected,
                        const struct application *use) {
    if (expected->kind != TYPE_PULL || type_resolve(expected->array.element)->kind != TYPE_PUSH)
        return false;
    const char *what = operand_text(c, use ? use->argument : NULL);
    if (found->kind == TYPE_PULL && use && use->argument && is_cut(use->argument))
        diag_hint(
            c->diagnostics, d,
            type_resolve(found->array.element)->kind == TYPE_PULL
                ? "each chunk is made a push array, by `push <block>` for example"
                : "each chunk gives a push array: a block has `red <block>`, `reduceBlock`, `scanBlock`, "
                  "`mergeSort <block>` and `compact <block>` for what `reduce`, `scan`, `sort` and `filter` do to "
                  "a whole array");
    else if (found->kind == TYPE_PULL && type_resolve(found->array.element)->kind == TYPE_PULL)
        diag_hint(c->diagnostics, d, "each chunk is made a push array first: `map (push <block>) %s`", what);
    else if (found->kind == TYPE_PULL)
        diag_hint(c->diagnostics, d,
                  "an array is cut first, and each chunk made a push array: "
                  "`splitUp n %s |> map (push <block>)`",
                  what);
    else
        return false;
    return true;
}

/* Arrays of numbers that could be converted. */
static bool hint_elements(struct checker *c, struct diagnostic *d, const struct type *found,
                          const struct type *expected, const struct application *use) {
    enum base from, to;
    if (found->kind != expected->kind || (found->kind != TYPE_PULL && found->kind != TYPE_PUSH) ||
        !number_base(found->array.element, &from) || !number_base(expected->array.element, &to))
        return false;
    diag_hint(c->diagnostics, d, "numbers are converted by the name of the type: `%s %s %s`",
              found->kind == TYPE_PULL ? "map" : "mapPush", target_name(expected->array.element, to),
              operand_text(c, use ? use->argument : NULL));
    return true;
}

/* `sig f : [a] -> a` of a function that adds. */
static bool hint_promise(struct checker *c, struct diagnostic *d, struct type *found, struct type *expected) {
    while (found->kind == expected->kind && (found->kind == TYPE_PULL || found->kind == TYPE_PUSH)) {
        found = type_resolve(found->array.element);
        expected = type_resolve(expected->array.element);
    }
    enum base base;
    if (found->kind != TYPE_VARIABLE || !found->variable->rigid || expected->kind != TYPE_VARIABLE ||
        !number_base(expected, &base))
        return false;
    diag_hint(c->diagnostics, d, "the sig promises that `%s` can be any type; `%s %s => …` says that it is of numbers",
              type_text(c, found), class_names(c, expected->variable->classes), type_text(c, found));
    return true;
}

/* How a pull array becomes a push array of that type, whose level may be open. */
static const char *by_push(struct checker *c, const struct type *push) {
    struct level level = level_view(push->array.level);
    if (level.variable && !level.variable->name)
        return "by `push <grid>`, in a chunk by `push <block>`";
    return arena_printf(c->arena, "by `push <%s>`", level_text(c, level));
}

/* Functions that agree in all but that one gives a pull array and the other a push array. */
static bool hint_result(struct checker *c, struct diagnostic *d, struct type *found, struct type *expected) {
    if (found->kind != TYPE_ARROW || expected->kind != TYPE_ARROW || count_arrows(found) != count_arrows(expected))
        return false;
    while (found->kind == TYPE_ARROW) {
        found = type_resolve(found->arrow.to);
        expected = type_resolve(expected->arrow.to);
    }
    for (size_t i = 0; found->kind == TYPE_TUPLE && expected->kind == TYPE_TUPLE && found->tuple.record &&
                       found->tuple.record == expected->tuple.record && i < found->tuple.count;
         i++)
        if (type_resolve(found->tuple.items[i])->kind == TYPE_PULL &&
            type_resolve(expected->tuple.items[i])->kind == TYPE_PUSH) {
            diag_hint(c->diagnostics, d, "its field `%s` has to be a push array, which a pull array becomes %s",
                      found->tuple.record->fields[i]->text, by_push(c, type_resolve(expected->tuple.items[i])));
            return true;
        }
    if (found->kind == TYPE_PULL && expected->kind == TYPE_PUSH) {
        diag_hint(c->diagnostics, d, "its result has to be a push array, which a pull array becomes %s",
                  by_push(c, expected));
        return true;
    }
    return false;
}

/* `power 3 (fn a => …)` for `power 3 (fn k a => …)`. */
static bool hint_few_parameters(struct checker *c, struct diagnostic *d, struct type *found, struct type *expected,
                                const struct application *use) {
    const struct core *lambda = use ? use->argument : NULL;
    if (!lambda || !use->function || found->kind != TYPE_ARROW || count_arrows(found) != 1 ||
        count_arrows(expected) != 2)
        return false;
    enum base base;
    bool counts = number_base(expected->arrow.from, &base); /* then it is the number that was forgotten */
    if (lambda->kind != CORE_LAMBDA && counts) {
        diag_hint(c->diagnostics, d, "`%s` gives its function two arguments, `%s` and `%s`: `fn _ a => %s a`",
                  use->function, type_text(c, expected->arrow.from),
                  type_text(c, type_resolve(expected->arrow.to)->arrow.from), bare_text(c, lambda, "(…)"));
        return true;
    }
    if (lambda->kind != CORE_LAMBDA || lambda->lambda.body->kind == CORE_LAMBDA)
        return false;
    const struct core_local *a = lambda->lambda.parameter;
    const char *name = a->name ? a->name->text : "a";
    diag_hint(c->diagnostics, d, "`%s` gives its function two arguments, `%s` and `%s`: `fn %s %s => …`", use->function,
              type_text(c, expected->arrow.from), type_text(c, type_resolve(expected->arrow.to)->arrow.from),
              counts ? "_" : name, counts ? name : "_");
    return true;
}

/* `push <grid> (scanl (+) 0 xs)`: a push array is not pushed once more, and not at another level. */
static void hint_pushed(struct checker *c, struct diagnostic *d, const struct type *found,
                        const struct application *use) {
    static const char *const at[LEVEL_VALUE_COUNT] = {
        [LEVEL_WARP] = "a warp has `scanWarp` and `red <warp>`",
        [LEVEL_BLOCK] = "a block has `scanBlock`, `reduceBlock`, `mergeSort <block>` and `compact <block>`",
        [LEVEL_GRID] = "the whole device has `scan`, `reduce`, `sort` and `filter`"};
    const struct type *result = use->rest ? type_resolve(type_resolve(use->rest)->arrow.to) : found;
    struct level from = level_view(found->array.level), to = level_view(result->array.level);
    if (from.variable || to.variable || from.value >= to.value || !at[to.value])
        diag_hint(c->diagnostics, d, "this is a push array already: leave `push` out");
    else
        diag_hint(c->diagnostics, d,
                  "this is a push array already, and without `push` one %s alone computes it; %s, for example",
                  level_names[from.value], at[to.value]);
}

/* `fun f xs = xs[0]` and `xs.length` make a function of `xs`, and only a use of `f` does not fit. */
static bool hint_brackets(struct checker *c, struct diagnostic *d, const struct type *found,
                          const struct type *expected, const struct application *use) {
    if (!use || !use->function || found->kind != TYPE_PULL || expected->kind != TYPE_ARROW)
        return false;
    if (!use->callee.global || use->callee.global->from_prelude)
        return false;
    diag_hint(
        c->diagnostics, d,
        "`%s` applies this argument; an element of an array is `xs ! i`, not `xs[i]`, and its length is `length xs`",
        use->function);
    return true;
}

/* The level list that stands behind it; NULL: none. */
static const char *levels_behind(struct checker *c, struct span span) {
    const struct source *source = c->scope->file->source;
    if (span.begin < source->base || span.end > source->base + source->length)
        return NULL;
    const char *begin = (const char *)source->text + (span.end - source->base);
    const char *end = (const char *)source->text + source->length;
    while (begin < end && *begin == ' ')
        begin++;
    if (begin == end || *begin != '<')
        return NULL;
    const char *at = begin + 1;
    while (at < end && (isalnum((unsigned char)*at) || *at == '_' || *at == '+' || *at == ',' || *at == ' '))
        at++;
    bool is_list = at < end && *at == '>' && at > begin + 1 && at - begin < QUOTED_LONGEST;
    return is_list ? arena_strndup(c->arena, begin, (size_t)(at + 1 - begin)) : NULL;
}

/* `force push xs`, `force push <block> xs` */
static void hint_level(struct checker *c, struct diagnostic *d, const struct application *use) {
    const char *what = operand_text(c, use ? use->argument : NULL);
    const char *levels = use && use->argument ? levels_behind(c, use->argument->span) : NULL;
    if (levels)
        diag_hint(c->diagnostics, d, "an application that is an argument stands in parentheses: `(%s %s …)`", what,
                  levels);
    else
        diag_hint(c->diagnostics, d, "a level is missing: write `%s <block>`, for example", what);
}

void hint_types(struct checker *c, struct diagnostic *d, struct type *found, struct type *expected,
                const struct application *use) {
    struct diagnostics *all = c->diagnostics;
    const char *what = operand_text(c, use ? use->argument : NULL);
    enum base from, to;
    found = type_resolve(found);
    expected = type_resolve(expected);
    if (use && use->function && expected->kind == TYPE_ARROW && found->kind == TYPE_ARROW &&
        count_arrows(expected) < count_arrows(found) && hint_many_parameters(c, d, use))
        return;
    if (is_of(use, PRIM_TRACE) && use->place == 0) {
        diag_hint(all, d, "the label is text in quotes: `trace \"x\" …`%s",
                  found->kind == TYPE_PULL   ? "; the elements of an array are traced by `map (trace \"x\") …`"
                  : found->kind == TYPE_PUSH ? "; the elements of a push array are traced by `mapPush (trace \"x\") …`"
                                             : "");
        return;
    }
    if (expected->kind != TYPE_PULL && hint_indexed(c, d, found, use))
        return;
    if (hint_guess(c, d, found, expected) || hint_words_wanted(c, d, found, expected))
        return;
    if (hint_flatten(c, d, found, use) || hint_missing(c, d, found, use) ||
        hint_tuple_call(c, d, found, expected, use) || hint_operator_of(c, d, found, expected, use) ||
        hint_superfluous(c, d, found, use) || hint_tuple_wanted(c, d, found, expected, use) ||
        hint_zip(c, d, found, expected, use) || hint_pairs(c, d, found, expected, use) ||
        hint_chunks(c, d, found, expected, use) || hint_elements(c, d, found, expected, use) ||
        hint_promise(c, d, found, expected) || hint_result(c, d, found, expected) ||
        hint_few_parameters(c, d, found, expected, use) || hint_brackets(c, d, found, expected, use) ||
        hint_exchanged(c, d, found, expected, use) || hint_number_of(c, d, found, expected, use) ||
        hint_binding(c, d, found, use))
        return;
    if (is_of(use, PRIM_COMPOSE) && found->kind == TYPE_TUPLE && found->tuple.record)
        diag_hint(all, d, "`f . g` is one function after another; a field has no blank before its point: `%s.name`",
                  what);
    else if (is_of(use, PRIM_COMPOSE) && found->kind == TYPE_TUPLE)
        diag_hint(all, d, "`f . g` is one function after another; a tuple is taken apart by `let (%s) = %s`",
                  tuple_letters(c, found->tuple.count), what);
    else if (is_of(use, PRIM_COMPOSE) && !is_function(found) && found->kind != TYPE_VARIABLE)
        diag_hint(all, d, "`f . g` is one function after another; there are no fields and no methods: `length xs`");
    else if (is_of(use, PRIM_INDEX_OPERATOR) && use->count == 1 && number_base(found, &from))
        diag_hint(all, d, "the operand of a section is the left one; an element of each array is `fn xs => xs ! %s`",
                  what);
    else if (found->kind == TYPE_LEVEL_ARROW && expected->kind != TYPE_LEVEL_ARROW)
        hint_level(c, d, use);
    else if (use && !use->function && use->argument->kind == CORE_LAMBDA && expected->kind != TYPE_ARROW)
        diag_hint(all, d, "this says the type of the whole function; that of its result is said by `fn … => (… : %s)`",
                  type_text(c, expected));
    else if (expected->kind == TYPE_ARROW && number_base(found, &from) && use && is_negative(c, use->argument))
        diag_hint(all, d, "this is a negative number; what takes something away is `fn x => x - 1`");
    else if (found->kind == TYPE_ARROW && expected->kind != TYPE_ARROW && expected->kind != TYPE_VARIABLE)
        diag_hint(all, d, "this is a function: did you forget an argument?");
    else if (found->kind == TYPE_PULL && expected->kind == TYPE_PUSH) {
        bool joins = is_of(use, PRIM_APPEND), stores = is_of(use, PRIM_FORCE);
        diag_hint(all, d, "%sa pull array becomes a push array %s",
                  joins    ? "pull arrays are joined by `appendPull`; "
                  : stores ? "a pull array can be read as it is, without `force`; if it is to be stored, "
                           : "",
                  by_push(c, expected));
    } else if (found->kind == TYPE_PUSH && expected->kind == TYPE_PULL && is_of(use, PRIM_LENGTH))
        diag_hint(all, d, "the length of a push array is `lengthPush %s`, which computes none of its elements%s", what,
                  use->argument->kind == CORE_LOCAL
                      ? arena_printf(c->arena, "; to read these, too, bind `%s` to `force (…)`", what)
                      : "");
    else if (found->kind == TYPE_PUSH && expected->kind == TYPE_PULL && is_of(use, PRIM_PUSH))
        hint_pushed(c, d, found, use);
    else if (found->kind == TYPE_TUPLE && found->tuple.count != 2 && (is_of(use, PRIM_FST) || is_of(use, PRIM_SND)))
        diag_hint(all, d, "`%s` is for pairs; others are taken apart by `let (%s) = …`", use->function,
                  tuple_letters(c, found->tuple.count));
    else if (found->kind == TYPE_TUPLE && expected->kind == TYPE_PULL && is_of(use, PRIM_INDEX_OPERATOR))
        diag_hint(all, d, "`fst`, `snd` or `let (a, b) = …` take a tuple apart");
    else if (found->kind == TYPE_PUSH && expected->kind == TYPE_PULL && !(use && use->function))
        diag_hint(
            all, d,
            "where the result is to be a push array its type is `%s`; a pull array is made of it by `force`, which "
            "computes and stores it",
            type_text(c, found));
    else if (found->kind == TYPE_PUSH && expected->kind == TYPE_PULL)
        diag_hint(all, d, "a push array becomes a pull array by `force`, which computes and stores it%s",
                  is_of(use, PRIM_MAP)              ? "; `mapPush` maps a push array as it is"
                  : is_of(use, PRIM_INDEX_OPERATOR) ? arena_printf(c->arena, ": `force %s ! …`", what)
                                                    : "");
    else if (is_bool(c, expected) && number_base(found, &from))
        diag_hint(all, d, "a number is not true or false by itself: compare it, as in `%s != 0`", what);
    else if (number_base(found, &from) && number_base(expected, &to)) {
        if (use && use->argument && use->argument->kind == CORE_LITERAL && base_info[to].is_integer)
            diag_hint(all, d,
                      base_info[from].is_integer ? "an `%s` is written without a suffix"
                                                 : "an `%s` is written without a point and without an exponent",
                      base_info[to].name);
        else
            diag_hint(all, d, "numbers are converted by the name of the type: `%s %s`", target_name(expected, to),
                      what);
    }
}

/* ---- operands ---- */

static bool is_for_integers(struct checker *c, const char *operator) {
    size_t primitive = (size_t)(uintptr_t)map_get(c->primitives, symbol_of(c->symbols, operator));
    const struct scheme *scheme = primitive ? primitive_scheme(c, (enum primitive)(primitive - 1)) : NULL;
    return scheme && scheme->type_count && scheme->type_variables[0]->classes & CLASS_INTEGRAL;
}

/* A `val` of the program's that became a `double`, as nothing said otherwise. */
static const char *double_val(const struct core *operand, enum base base) {
    if (!operand || operand->kind != CORE_GLOBAL || base != BASE_F64)
        return NULL;
    const struct core_global *global = operand->global.global;
    return global->kind == GLOBAL_VAL && !global->from_prelude ? global->name->text : NULL;
}

static void hint_numbers(struct checker *c, struct diagnostic *d, const struct application *use, struct type *found,
                         struct type *expected, enum base right, enum base left) {
    const struct base_info *of_left = &base_info[left], *of_right = &base_info[right];
    const char *left_text = operand_text(c, use->left), *right_text = operand_text(c, use->argument);
    const struct base_info *other = of_left->is_floating && left != BASE_F64 ? of_left : of_right;
    const char *wide = NULL;
    if (other->is_floating && other != &base_info[BASE_F64])
        wide = other == of_left ? double_val(use->argument, right) : double_val(use->left, left);
    if (wide)
        diag_hint(c->diagnostics, d, "`%s` is a `double`, as nothing says otherwise: `val %s = (… : %s)`", wide, wide,
                  other->name);
    else if (of_left->is_floating != of_right->is_floating && is_for_integers(c, use->function))
        diag_hint(c->diagnostics, d, "`%s` is for integers only: `%s %s` converts", use->function,
                  of_left->is_floating ? of_right->name : of_left->name, of_left->is_floating ? left_text : right_text);
    else if (of_left->is_floating != of_right->is_floating)
        diag_hint(c->diagnostics, d, "convert the integer: `%s %s`",
                  of_left->is_floating ? target_name(expected, left) : target_name(found, right),
                  of_left->is_floating ? right_text : left_text);
    else if (of_left->bits < of_right->bits)
        diag_hint(c->diagnostics, d, "convert the smaller one: `%s %s`", of_right->name, left_text);
    else
        diag_hint(c->diagnostics, d, "convert %s: `%s %s`",
                  of_left->bits > of_right->bits ? "the smaller one" : "one of them", of_left->name, right_text);
}

/* `map f . map g xs`, `p.0`: a function and what is none. */
static void hint_compose(struct checker *c, struct diagnostic *d, const struct application *use) {
    const struct core *right = use->argument;
    const char *left = bare_text(c, use->left, "f");
    if (right->kind == CORE_LITERAL && use->left->kind != CORE_APPLY)
        diag_hint(c->diagnostics, d,
                  "`f . g` is one function after another; `fst`, `snd` or `let (a, b) = %s` take a tuple apart, and an "
                  "element of an array is `%s ! i`",
                  left, left);
    else if (right->kind == CORE_APPLY && head_name(right) && isalpha((unsigned char)*head_name(right)))
        diag_hint(c->diagnostics, d,
                  "a function takes its argument before `.` does; what is made of functions is applied in parentheses: "
                  "`(… . %s) %s`",
                  bare_text(c, right->apply.function, arena_printf(c->arena, "%s …", head_name(right))),
                  operand_text(c, right->apply.argument));
    else
        diag_hint(c->diagnostics, d,
                  "`f . g` is one function after another; a function is applied without the point: "
                  "`%s %s`",
                  left, operand_text(c, right));
}

void hint_operands(struct checker *c, struct diagnostic *d, const struct application *use, struct type *found,
                   struct type *expected) {
    enum base left, right;
    bool is_bitwise = is_of(use, PRIM_BIT_AND) || is_of(use, PRIM_BIT_OR);
    found = type_resolve(found);
    expected = type_resolve(expected);
    if (number_base(found, &right) && number_base(expected, &left))
        hint_numbers(c, d, use, found, expected, right, left);
    else if (is_bitwise && (is_bool(c, found) || is_bool(c, expected)))
        diag_hint(c->diagnostics, d, "`%s` is for the bits of integers; on `bool` it is `%s%s`", use->function,
                  use->function, use->function);
    else if (is_of(use, PRIM_COMPOSE) && is_function(expected) && !is_function(found))
        hint_compose(c, d, use);
    else if (is_function(found) || is_function(expected))
        diag_hint(c->diagnostics, d, "one of them is a function: did you forget an argument?");
    else if (is_of(use, PRIM_INDEX_OPERATOR) && found->kind == TYPE_TUPLE)
        diag_hint(c->diagnostics, d, "an element of an array of rows is `m ! i ! j`");
    else if (is_of(use, PRIM_INDEX_OPERATOR))
        diag_hint(c->diagnostics, d,
                  "an array is indexed by an `int`, from 0: `xs ! i`; other numbers become one by `int x`");
    else if (found->kind == TYPE_PUSH || expected->kind == TYPE_PUSH)
        diag_hint(c->diagnostics, d,
                  "an element of a push array is `force e ! 0`, as of `red`, which gives one; `mapPush` applies an "
                  "operator to all");
    else if (found->kind == TYPE_PULL || expected->kind == TYPE_PULL)
        diag_hint(c->diagnostics, d, "an operator works on numbers: `map` and `zipWith` apply it to arrays");
}

/* ---- classes ---- */

static bool is_array_of(struct type *type, struct type *element) {
    type = type_resolve(type);
    return type->kind == TYPE_PULL && type_resolve(type->array.element) == type_resolve(element);
}

static bool has_rows(struct type *type) {
    type = type_resolve(type);
    return type->kind == TYPE_PULL && type_resolve(type->array.element)->kind == TYPE_PULL;
}

/* `g -1`, which is a difference. */
static bool hint_negative_argument(struct checker *c, struct diagnostic *d, const struct type *left,
                                   const struct application *use) {
    const struct source *source = c->scope->file->source;
    if (!is_of(use, PRIM_SUB) || !is_function(left) || use->place != 0 || use->head.begin <= source->base ||
        use->head.end >= source->base + source->length)
        return false;
    const char *at = (const char *)source->text + (use->head.end - source->base);
    if (isspace((unsigned char)at[0]) || !isspace((unsigned char)at[-2]))
        return false;
    size_t length = 0;
    while (use->head.end + length < source->base + source->length && length < QUOTED_LONGEST &&
           (isalnum((unsigned char)at[length]) || at[length] == '.'))
        length++;
    const char *what = operand_text(c, use->argument);
    if (what[0] == '(' && use->argument->kind == CORE_APPLY) /* which goes on with this argument */
        what = arena_strndup(c->arena, what + 1, strlen(what) - 2);
    diag_hint(c->diagnostics, d, "a negative argument needs parentheses: `%s (-%.*s)`", what, (int)length,
              length ? at : "");
    return true;
}

void hint_class(struct checker *c, struct diagnostic *d, const struct application *use) {
    const struct failure *f = &c->failure;
    const char *what = operand_text(c, use ? use->argument : NULL);
    const char *function = use && use->function ? use->function : "";
    const char *apply = use && is_array_of(use->argument->type, f->a) ? "map " : "";
    enum base base;
    bool is_number = number_base(f->a, &base);
    unsigned none = CLASS_INTEGRAL | CLASS_FLOATING; /* both: no type is of them */
    if (hint_indexed(c, d, f->a, use))
        return;
    if ((is_of(use, PRIM_EQ) || is_of(use, PRIM_NE)) && f->a->kind == TYPE_PULL) {
        diag_hint(c->diagnostics, d,
                  "arrays are not compared as a whole: `length %s %s 0` asks whether one %s, and `zipWith (%s)` "
                  "compares the elements of two",
                  what, function, is_of(use, PRIM_EQ) ? "is empty" : "has elements", function);
        return;
    }
    if (hint_missing(c, d, f->a, use) || hint_tuple_call(c, d, f->a, c->base_types[BASE_I32], use))
        return;
    if (hint_superfluous(c, d, f->a, use) || hint_negative_argument(c, d, f->a, use) ||
        hint_operator(c, d, f->a, f->classes, use) || hint_words(c, d, f->a, false))
        return;
    if (is_of(use, PRIM_BIT_XOR) && (f->classes & CLASS_FLOATING || (is_number && base_info[base].is_floating)))
        diag_hint(c->diagnostics, d, "`^` is the exclusive or of bits; the power of floating numbers is `pow x y`");
    else if (f->a->kind == TYPE_VARIABLE && f->a->variable->rigid)
        diag_hint(c->diagnostics, d, "say so in the sig: `%s %s => …`", class_names(c, f->classes), type_text(c, f->a));
    else if ((is_of(use, PRIM_BIT_AND) || is_of(use, PRIM_BIT_OR)) && is_bool(c, f->a))
        diag_hint(c->diagnostics, d, "`%s` is for the bits of integers; on `bool` it is `%s%s`", function, function,
                  function);
    else if ((f->classes & none) == none)
        diag_hint(c->diagnostics, d, "no type is both: `integral` or `floating` is too much in the sig");
    else if (is_of(use, PRIM_REM) && is_number)
        diag_hint(c->diagnostics, d,
                  "`%%` is for integers only; of floating numbers the remainder is `x - y * trunc (x / y)`");
    else if ((f->classes & CLASS_INTEGRAL) && is_number)
        diag_hint(c->diagnostics, d, "this operation is for integers only; `%sint %s` converts", apply, what);
    else if ((f->classes & CLASS_FLOATING) && is_number)
        diag_hint(c->diagnostics, d, "this operation is for `float` and `double` only; `%sfloat %s` converts", apply,
                  what);
    else if ((f->classes & CLASS_NUM) && is_bool(c, f->a))
        diag_hint(c->diagnostics, d, "a `bool` counts as 0 or 1 after `%sint %s`", apply, what);
    else if (f->a->kind == TYPE_PUSH)
        diag_hint(c->diagnostics, d,
                  "`mapPush` applies it to the elements of a push array; `force` makes it a pull array");
    else if (f->a->kind == TYPE_PULL && use && use->argument && has_rows(use->argument->type))
        diag_hint(c->diagnostics, d, "this is an array of rows; its elements, row by row, are `flatten %s`", what);
    else if (f->a->kind == TYPE_PULL)
        diag_hint(c->diagnostics, d, "on arrays it is applied by `map` or `zipWith`");
    else if (f->a->kind == TYPE_ARROW && is_function(type_resolve(f->a->arrow.from)) && *function &&
             !isalpha((unsigned char)*function))
        diag_hint(c->diagnostics, d,
                  "this is a function: did you forget an argument? As an argument itself the operator is `(%s)`",
                  function);
    else if (f->a->kind == TYPE_LEVEL_ARROW)
        hint_level(c, d, use);
    else if (is_function(f->a) && (is_of(use, PRIM_SHR) || is_of(use, PRIM_SHL)))
        diag_hint(c->diagnostics, d, "`%s` shifts bits; `g . f` is the function that applies `f` and then `g`",
                  function);
    else if (is_function(f->a))
        diag_hint(c->diagnostics, d, "this is a function: did you forget an argument?");
}

/* ---- functions in place ---- */

/* `foldl (fn (s, x) => …)` for `foldl (fn s x => …)`. */
void hint_tuple_parameter(struct checker *c, struct diagnostic *d, const struct ast_pattern *pattern,
                          struct type *rest) {
    if (!rest || count_arrows(rest) + 1 < pattern->items.count)
        return;
    struct text text;
    text_init(&text, c->arena);
    for (size_t i = 0; i < pattern->items.count; i++) {
        const struct ast_pattern *item = pattern->items.at[i];
        text_printf(&text, " %s", item->kind == AST_PATTERN_NAME ? item->name->text : "_");
    }
    diag_hint(c->diagnostics, d, "this function gets its arguments one after another: `fn%s => …`", text_string(&text));
}

/* Functions that give their function the index, too. */
static const struct {
    struct known function;
    const char *name;
} with_index[] = {{KNOWN_PRIMITIVE(MAP), "mapIx"}, {KNOWN_PRIMITIVE(MAP_PUSH), "mapPushIx"}};

/* `map (fn a b => …)` for `map (fn (a, b) => …)`, or for `mapIx (fn a b => …)`. */
bool hint_many_parameters(struct checker *c, struct diagnostic *d, const struct application *use) {
    const struct core *lambda = use ? use->argument : NULL;
    if (!lambda || lambda->kind != CORE_LAMBDA || lambda->lambda.body->kind != CORE_LAMBDA || !use->rest ||
        count_arrows(use->rest->arrow.from) != 1)
        return false;
    const struct core_local *first = lambda->lambda.parameter, *second = lambda->lambda.body->lambda.parameter;
    const char *a = first->name ? first->name->text : "_", *b = second->name ? second->name->text : "_";
    struct type *given = type_resolve(type_resolve(use->rest->arrow.from)->arrow.from);
    bool can_be_pair = given->kind == TYPE_TUPLE || (given->kind == TYPE_VARIABLE && !given->variable->classes);
    const char *index = NULL;
    for (size_t i = 0; i < sizeof with_index / sizeof *with_index && given->kind != TYPE_TUPLE; i++)
        if (callee_is(&use->callee, with_index[i].function))
            index = arena_printf(c->arena, "with the index it is `%s (fn %s %s => …)`", with_index[i].name, a, b);
    if (can_be_pair)
        diag_hint(c->diagnostics, d, "`%s` gives its function one argument: pairs come apart in `fn (%s, %s) => …`%s%s",
                  use->function, a, b, index ? "; " : "", index ? index : "");
    else
        diag_hint(c->diagnostics, d, "`%s` gives its function one argument, `%s`: %s", use->function,
                  type_text(c, given), index ? index : arena_printf(c->arena, "`fn %s => …`", a));
    return true;
}

/* ---- what is applied ---- */

void hint_too_many(struct checker *c, struct diagnostic *d, const struct core *head) {
    struct type *type = type_resolve(head->type);
    struct type *from = type->kind == TYPE_ARROW ? type_resolve(type->arrow.from) : type;
    if (from->kind == TYPE_TUPLE && head_name(head))
        diag_hint(c->diagnostics, d, "its argument is a tuple: `%s (%s)`", head_name(head),
                  tuple_letters(c, from->tuple.count));
    struct callee callee = callee_of(head);
    if (callee_is(&callee, (struct known)KNOWN_PRIMITIVE(MAP)))
        diag_hint(c->diagnostics, d,
                  "several arrays are gone through together by `zipWith f xs ys` and `zipWith3 f xs ys zs`");
}

/* Functions without a level that are given one; the words take that level. */
static const struct {
    struct known function;
    const char *hint;
} without_level[] = {
    {KNOWN_PRELUDE("reduce"), "`reduce` is for the whole grid; at a level it is `red <%s> (+) xs`, a push array"},
    {KNOWN_PRELUDE("scan"),
     "`scan` is for the whole grid; below it there are `scanThread`, `scanWarp` and `scanBlock`"},
    {KNOWN_PRIMITIVE(FORCE), "`force` has its level from the push array: `force (push <%s> xs)`"},
    {KNOWN_PRIMITIVE(MAP), "pull arrays have no level; `push <%s>` gives them one"},
    {KNOWN_PRIMITIVE(GENERATE), "pull arrays have no level; `push <%s>` gives them one"},
};

void hint_no_level(struct checker *c, struct diagnostic *d, const struct core *head, struct level *level) {
    const char *at = level_text(c, level_view(level));
    struct callee callee = callee_of(head);
    for (size_t i = 0; i < sizeof without_level / sizeof *without_level; i++)
        if (callee_is(&callee, without_level[i].function))
            diag_hint(c->diagnostics, d, without_level[i].hint, at);
}

/* Does `!` stand before it? */
static bool is_behind_index(const struct checker *c, const struct core *core) {
    const struct source *source = c->scope->file->source;
    if (core->span.begin <= source->base || core->span.begin > source->base + source->length)
        return false;
    size_t at = core->span.begin - source->base;
    while (at > 0 && source->text[at - 1] == ' ')
        at--;
    return at > 0 && source->text[at - 1] == '!';
}

void hint_not_a_function(struct checker *c, struct diagnostic *d, struct type *type, const struct core *head,
                         const struct ast_expr *argument) {
    type = type_resolve(type);
    if (type->kind == TYPE_TUPLE && type->tuple.record && argument->kind == EXPR_RECORD && !argument->record.of)
        diag_hint(c->diagnostics, d, "a record with other values in some fields is `{ %s with … }`",
                  bare_text(c, head, "r"));
    else if (type->kind == TYPE_PULL && argument->kind == EXPR_LIST)
        diag_hint(c->diagnostics, d, "an element of an array is `xs ! i`; brackets make lists");
    else if (type->kind == TYPE_PULL)
        diag_hint(c->diagnostics, d, "an element of an array is `xs ! i`");
    else if (head->kind == CORE_LITERAL && is_behind_index(c, head))
        diag_hint(c->diagnostics, d, "an element is an argument in parentheses: `(xs ! %s)`", operand_text(c, head));
    else if (argument->kind == EXPR_INTEGER || argument->kind == EXPR_FLOATING)
        diag_hint(c->diagnostics, d, "the elements of a list are separated by `,`; between numbers stands an operator");
    else if (head->kind == CORE_LITERAL)
        diag_hint(c->diagnostics, d,
                  "between a number and what follows stands an operator, as in `2 * x`; a `fn` goes as far as it can: "
                  "`(fn x => …)` ends before");
}

/* ---- where types come from ---- */

const struct type_variable *class_asker(struct type *type) {
    type = type_resolve(type);
    while (type->kind == TYPE_PULL)
        type = type_resolve(type->array.element);
    return type->kind == TYPE_VARIABLE && !type->variable->rigid && type->variable->span.end ? type->variable : NULL;
}

void note_class(struct checker *c, struct diagnostic *d, struct type *type) {
    const struct type_variable *variable = class_asker(type);
    if (variable)
        diag_note(c->diagnostics, d, variable->span, "because of this it has to be %s",
                  variable->classes & CLASS_FLOATING   ? "a floating number"
                  : variable->classes & CLASS_INTEGRAL ? "an integer"
                                                       : "a number");
}

/* A local without a type of its own got it from its first use. */
void note_local(struct checker *c, struct diagnostic *d, const struct core *core) {
    if (core->kind != CORE_LOCAL || !core->local.local->name)
        return;
    struct binding *binding = map_get(c->locals, core->local.local->name);
    if (!binding || binding->local != core->local.local || binding->scheme->type->kind != TYPE_VARIABLE)
        return;
    const struct type_variable *variable = binding->scheme->type->variable;
    struct type *type = type_resolve(binding->scheme->type);
    if (!variable->link || type->kind == TYPE_VARIABLE || !variable->decided.end ||
        (variable->decided.begin >= core->span.begin && variable->decided.end <= core->span.end))
        return;
    diag_note(c->diagnostics, d, variable->decided, "`%s` is `%s` because of this", core->local.local->name->text,
              type_text(c, type));
}
