/* Names and their meaning: locals in a map whose entries remember what they hide, globals in a map a module,
   and the words for names that stand for nothing. */
#include <ctype.h>
#include <string.h>

#include "support/edit.h"
#include "types/checker.h"

void note_place(struct checker *c, struct name_place place) {
    if (c->places && place.span.end > place.span.begin)
        vec_push(c->arena, c->places, place);
}

struct binding *bind_local(struct checker *c, symbol name, struct span span, struct scheme *scheme) {
    struct binding *binding = ARENA_NEW(c->arena, struct binding);
    binding->name = name;
    binding->span = span;
    binding->local = fresh_local(c, name);
    binding->scheme = scheme;
    binding->hidden = map_get(c->locals, name);
    map_set(c->locals, name, binding);
    vec_push(c->arena, &c->bound, binding);
    note_place(c, (struct name_place){
                      .name = name, .span = span, .definition = span, .primitive = PRIM_COUNT, .scheme = scheme});
    return binding;
}

/* A name that begins with `_` says that nothing is to use it. */
static void warn_unused(struct checker *c, symbol name, struct span span, const char *kind, const char *hint) {
    if (name->text[0] == '_' || span.end == 0)
        return;
    struct diagnostic *d = diag_warning(c->diagnostics, DIAG_UNUSED, span, "%s`%s` is not used", kind, name->text);
    diag_hint(c->diagnostics, d, hint, name->text);
}

/* Without variables, and of a size that a message can show. */
static bool is_known(struct type *type, int *nodes) {
    type = type_resolve(type);
    if (--*nodes < 0 || type->kind == TYPE_VARIABLE || type->kind == TYPE_STORED || type->kind == TYPE_ERROR)
        return false;
    for (size_t i = 0; type_part(type, i); i++)
        if (!is_known(*type_part(type, i), nodes))
            return false;
    return true;
}

static bool has_known_type(const struct binding *binding) {
    int nodes = 50;
    return is_known(binding->scheme->type, &nodes);
}

/* Types that are not found yet are not compared. */
static void warn_shadowing(struct checker *c, const struct binding *binding) {
    const struct binding *hidden = binding->hidden;
    if (!hidden || binding->name->text[0] == '_' || !has_known_type(binding) || !has_known_type(hidden))
        return;
    const char *here = type_text(c, binding->scheme->type), *there = type_text(c, hidden->scheme->type);
    if (strcmp(here, there) == 0)
        return;
    struct diagnostic *d =
        diag_warning(c->diagnostics, DIAG_SHADOWING, binding->span,
                     "`%s` has type `%s` here, and hides one of type `%s`", binding->name->text, here, there);
    diag_note(c->diagnostics, d, hidden->span, "it hides this one");
}

void unbind_locals(struct checker *c, size_t mark) {
    while (c->bound.count > mark) {
        struct binding *binding = c->bound.at[--c->bound.count];
        map_set(c->locals, binding->name, binding->hidden);
        if (!binding->is_used)
            warn_unused(c, binding->name, binding->span, "", "`_%s`, or `_`, says that this is meant");
        warn_shadowing(c, binding);
    }
}

struct level_binding *bind_level(struct checker *c, const struct ast_level_binder *binder, struct level *level) {
    struct level_binding *binding = ARENA_NEW(c->arena, struct level_binding);
    *binding = (struct level_binding){
        .name = binder->name, .span = binder->span, .level = level, .hidden = map_get(c->levels, binder->name)};
    map_set(c->levels, binder->name, binding);
    return binding;
}

void unbind_level(struct checker *c, struct level_binding *binding) {
    map_set(c->levels, binding->name, binding->hidden);
    if (!binding->is_used)
        warn_unused(c, binding->name, binding->span, "the level ", "`<_%s>` says that this is meant");
}

/* A later definition hides an earlier one, and so does a later import. */
struct global_entry *find_global(const struct scope *scope, symbol name) {
    struct global_entry *entry = map_get(scope->globals, name);
    for (size_t i = scope->import_count; !entry && i-- > 0;)
        entry = map_get(scope->imports[i]->globals, name);
    return entry || !scope->prelude ? entry : map_get(scope->prelude->globals, name);
}

struct synonym *find_synonym(const struct scope *scope, symbol name) {
    struct synonym *entry = map_get(scope->synonyms, name);
    for (size_t i = scope->import_count; !entry && i-- > 0;)
        entry = map_get(scope->imports[i]->synonyms, name);
    return entry || !scope->prelude ? entry : map_get(scope->prelude->synonyms, name);
}

/* ---- names that stand for nothing ---- */

/* A file with 100,000 definitions needs this many comparisons for its first hundred unknown names, and
   no more than a hundred are shown. */
enum { OFFERS_MOST = 10000000 };

static void offer_globals(struct checker *c, struct suggestion *suggestion, const struct scope *scope) {
    for (size_t i = 0; i < map_count(scope->globals) && c->offers < OFFERS_MOST; i++, c->offers++) {
        struct global_entry *entry = map_entry(scope->globals, i).value;
        if (!entry->global->is_internal)
            suggestion_offer(suggestion, entry->global->name->text);
    }
}

/* Names that people write who come from other languages. */
static const struct {
    const char *foreign, *here;
} foreign_names[] = {
    {"True", "it is written `true`"},
    {"False", "it is written `false`"},
    {"lambda", "an anonymous function is written `fn x => …`"},
    {"fun", "an anonymous function is written `fn x => …`"},
    {"case", "cases are `match e with p => e1 | q => e2`, or `if … then … else …`"},
    {"match", "a `match` is written `match e with p => e1 | q => e2`"},
    {"switch", "cases are `match e with p => e1 | q => e2`, or `if … then … else …`"},
    {"for", "there are no statements: `generate`, `map` and `foldl` go through arrays, `loop` repeats a step"},
    {"do", "there are no statements: `generate`, `map` and `foldl` go through arrays, `loop` repeats a step"},
    {"where", "local names are bound before they are used: `let y = … in …`"},
    {"zip_with", "the name here is `zipWith`"},
    {"fold", "a sequential fold is `foldl`; a parallel one is `reduce`, or `red <block>` in a block"},
    {"sum", "a sum is `reduce (+) 0 xs`; in a block `red <block> (+) xs`, in one thread `foldl (+) 0 xs`"},
    {"size", "the length of an array is `length xs`"},
    {"len", "the length of an array is `length xs`"},
    {"upto", "0, 1, … n-1 is `iota n`; other ranges are `range`"},
    {"null", "an array is empty when `length xs == 0`"},
    {"cons", "an array gets elements in front by `appendPull`"},
    {"rev", "the name here is `reverse`"},
    {"rem", "the remainder is `x % y` or `x mod y`"},
    {"quot", "the quotient is `x / y` or `x div y`"},
    {"xor", "bitwise exclusive or is `^`, on `bool` it is `!=`"},
    {"printf", "FCL is pure and prints nothing: what a kernel gives is printed by `fclc run`"},
    {"print", "FCL is pure and prints nothing: what a kernel gives is printed by `fclc run`"},
    {"fromIntegral", "a number is converted by the name of the type: `float n`"},
    {"toFloat", "a number is converted by the name of the type: `float n`"},
    {"toInt", "a number is converted by the name of the type: `int x`"},
    {"threadIdx", "element functions get their index: `generate n (fn i => …)`"},
    {"blockIdx", "the chunks of an array get their index: `mapIx (fn i chunk => …)`"},
    {"blockDim", "the number of threads in a block is `#BlockSize`"},
    {"BlockSize", "configuration constants start with `#`: `#BlockSize`"},
    {"WarpSize", "configuration constants start with `#`: `#WarpSize`"},
    {"GridSize", "configuration constants start with `#`: `#GridSize`"},
    {"syncthreads", "`force` stores and synchronises"},
    {"__syncthreads", "`force` stores and synchronises"},
    {"thread", "a level stands in angle brackets behind a function: `push <thread>`"},
    {"warp", "a level stands in angle brackets behind a function: `push <warp>`"},
    {"block", "a level stands in angle brackets behind a function: `push <block>`"},
    {"grid", "a level stands in angle brackets behind a function: `push <grid>`"},
    {"return", "a function's body is its result: nothing is written before it"},
    {"rec", "a `fun` may call itself without a keyword"},
    {"negate", "the negative is `-x`, as a function `neg`"},
    {"atomicAdd", "what is added up at places that data says is `reduceByIndex (+)`, or `histogram`"},
    {"inf", "infinity is `1.0 / 0.0`"},
    {"infinity", "infinity is `1.0 / 0.0`"},
    {"INFINITY", "infinity is `1.0 / 0.0`"},
    {"nan", "not a number is `0.0 / 0.0`; `isnan` asks for it"},
    {"pi", "pi is `acos (-1.0)`; as a `float`, `acos (-1.0f32)`"},
    {"INT_MAX", "the greatest `int` is 2147483647, the least -2147483648"},
    {"INT_MIN", "the least `int` is -2147483648, the greatest 2147483647"},
    {"map2", "the name here is `zipWith`"},
    {"map3", "the name here is `zipWith3`"},
    {"exclusiveScan", "the name here is `scanExclusive`"},
    {"exclusive_scan", "the name here is `scanExclusive`"},
    {"inclusive_scan", "the name here is `scan`"},
    {"cumsum", "sums up to each place are `scan (+) 0 xs`"},
    {"prefixSum", "sums up to each place are `scan (+) 0 xs`; those before it, `scanExclusive (+) 0 xs`"},
    {"product", "a product is `reduce (*) 1 xs`"},
    {"enumerate", "elements with their index are `mapIx (fn i x => (i, x)) xs`"},
    {"unflatten", "chunks of n elements are `splitUp n xs`"},
    {"reshape", "chunks of n elements are `splitUp n xs`, and `flatten` puts them together"},
    {"iterate", "steps of an array are `power n step start`, those of one value `loop`"},
    {"even", "a number is even where `x % 2 == 0`"},
    {"odd", "a number is odd where `x % 2 != 0`"},
    {"shiftL", "a shift to the left is `x << n`"},
    {"shiftR", "a shift to the right is `x >> n`"},
    {"warpSize", "the number of lanes of a warp is `#WarpSize`"},
    {"and", "logical and is `&&`"},
    {"or", "logical or is `||`"},
    {"end", "nothing ends a `let` or an `if` but what follows them: leave `end` out"},
    {"begin", "parentheses group, and local names are bound by `let … in …`"},
    {"as", "a number is converted by the name of the type: `int x`"},
};

/* Words of other languages between `let` and a name: a function of it is what they define here. */
static const struct {
    const char *word, *hint;
} let_words[] = {
    {"rec", "`rec` is no keyword, and what a `let` defines does not call itself: define `fun %s` at the top, or repeat "
            "with `loop`, `foldl` or `power`"},
    {"mut", "`mut` is no keyword: `let %s = …` binds a name once, and nothing changes it; `loop` and `foldl` repeat a "
            "step"},
    {"var", "`var` is no keyword: `let %s = …` binds a name once, and nothing changes it; `loop` and `foldl` repeat a "
            "step"},
    {"const", "`const` is no keyword: `let %s = …` binds a name once, and nothing changes it"},
    {"auto", "`auto` is no keyword: it is `let %s = …`"},
};

static bool defines(const struct ast_decl *decl) { return decl->kind != DECL_SIG && decl->kind != DECL_IMPORT; }

const struct ast_decl *defined_later(struct checker *c, symbol name, struct span span) {
    const struct ast_file *file = c->scope->file;
    if (c->definitions_of != file) {
        c->definitions_of = file;
        c->definitions = map_new(c->arena);
        for (size_t i = 0; i < file->decls.count; i++)
            if (defines(file->decls.at[i]))
                map_set(c->definitions, file->decls.at[i]->name, file->decls.at[i]);
    }
    const struct ast_decl *last = map_get(c->definitions, name);
    return last && last->span.begin > span.begin ? last : NULL;
}

/* Does the definition use the name, by way of others that follow the place, too? Its words are compared. */
static bool leads_to(struct checker *c, const struct ast_decl *from, symbol name, struct span place) {
    const struct source *source = c->scope->file->source;
    if (c->offers >= OFFERS_MOST)
        return false;
    struct map *seen = map_new(c->arena);
    VEC(const struct ast_decl *) left = {.at = NULL};
    vec_push(c->arena, &left, from);
    while (left.count > 0) {
        const struct ast_decl *decl = left.at[--left.count];
        const char *at = (const char *)source->text + (decl->name_span.end - source->base);
        const char *end = (const char *)source->text + (decl->span.end - source->base);
        for (; at < end && c->offers < OFFERS_MOST; c->offers++) {
            if (end - at > 1 && at[0] == '-' && at[1] == '-') /* a comment */
                while (at < end && *at != '\n')
                    at++;
            const char *begin = at;
            while (at < end && (isalnum((unsigned char)*at) || *at == '_' || *at == '\''))
                at++;
            symbol word = at > begin ? symbol_intern(c->symbols, begin, (size_t)(at - begin)) : NULL;
            at += at == begin;
            if (word == name)
                return true;
            const struct ast_decl *next = word && !map_has(seen, word) ? defined_later(c, word, place) : NULL;
            if (next) {
                map_set(seen, word, (void *)next);
                vec_push(c->arena, &left, next);
            }
        }
    }
    return false;
}

bool is_bound_name(const struct checker *c, symbol name) {
    return map_get(c->locals, name) || find_global(c->scope, name) || map_get(c->primitives, name);
}

/* Does the name stand right behind the place? */
static bool is_followed_by(const struct checker *c, struct span span, symbol name) {
    const struct source *source = c->scope->file->source;
    if (span.begin < source->base || span.end > source->base + source->length)
        return false;
    size_t at = span.end - source->base;
    while (at < source->length && source->text[at] == ' ')
        at++;
    if (source->length - at < name->length || memcmp(source->text + at, name->text, name->length) != 0)
        return false;
    at += name->length;
    return at == source->length || !(isalnum(source->text[at]) || source->text[at] == '_' || source->text[at] == '\'');
}

/* `let rec f x = …` has defined a function `rec` of f and x, `let float y = …` a function `float`. */
static bool hint_let_word(struct checker *c, struct diagnostic *d, symbol name) {
    enum base base;
    for (size_t i = 0; i < c->bound.count; i++) {
        const struct binding *binding = c->bound.at[i];
        if (type_resolve(binding->scheme->type)->kind != TYPE_ARROW || !is_followed_by(c, binding->span, name))
            continue;
        for (size_t k = 0; k < sizeof let_words / sizeof *let_words; k++)
            if (strcmp(let_words[k].word, binding->name->text) == 0) {
                diag_hint(c->diagnostics, d, let_words[k].hint, name->text);
                return true;
            }
        if (base_of_name(binding->name->text, &base)) {
            diag_hint(c->diagnostics, d, "no type stands before a name: `let %s = …`, or `let %s = (… : %s)`",
                      name->text, name->text, binding->name->text);
            return true;
        }
    }
    return false;
}

/* A name as the lexer wants it; of others it has complained. */
static bool is_good_name(const char *name) {
    if (*name == '_')
        return false;
    while (*name && (unsigned char)*name < 0x80)
        name++;
    return !*name;
}

void report_kernel_called(struct checker *c, symbol name, struct span kernel, struct span span) {
    struct diagnostic *d = diag_error(c->diagnostics, DIAG_KERNEL_CALLED, span,
                                      "the kernel `%s` cannot be used as a function", name->text);
    diag_note(c->diagnostics, d, kernel, "`%s` is an entry point, called from the host", name->text);
    diag_hint(c->diagnostics, d, "make it a `fun`, and let the kernel be `kernel … = %s …`", name->text);
}

/* `[x * 2 | x <- xs]`: behind the name, on its line, stands `| x <-`. */
static bool is_of_comprehension(struct checker *c, symbol name, struct span span) {
    const struct source *source = c->scope->file->source;
    if (span.begin < source->base || span.end > source->base + source->length)
        return false;
    size_t at = span.begin - source->base;
    while (at > 0 && source->text[at - 1] == ' ')
        at--;
    bool is_generator = at > 0 && source->text[at - 1] == '|';
    const char *rest = (const char *)source->text + (span.begin - source->base);
    size_t left = source->length - (span.begin - source->base);
    const char *line = arena_strndup(c->arena, rest, left < 200 ? left : 200);
    const char *bar = is_generator ? line : strpbrk(line, "|\n");
    if (!bar || *bar == '\n')
        return false;
    bar += strspn(bar, "| ");
    if (strncmp(bar, name->text, name->length) != 0)
        return false;
    bar += name->length;
    return strncmp(bar + strspn(bar, " "), "<-", 2) == 0;
}

/* `let a = 1 f x = …` on one line: only `x = …` is taken for a binding. */
static bool begins_binding(struct checker *c, struct span span) {
    const struct source *source = c->scope->file->source;
    if (span.begin < source->base || span.end >= source->base + source->length)
        return false;
    const char *at = (const char *)source->text + (span.end - source->base);
    const char *end = (const char *)source->text + source->length;
    size_t names = 0;
    while (at < end && *at == ' ') {
        while (at < end && *at == ' ')
            at++;
        const char *begin = at;
        while (at < end && (isalnum((unsigned char)*at) || *at == '_' || *at == '\''))
            at++;
        if (at == begin)
            break;
        names++;
    }
    return names > 0 && at + 1 < end && at[0] == '=' && at[1] != '=' && at[1] != '>';
}

static void note_later(struct checker *c, struct diagnostic *d, const struct ast_decl *later, symbol name,
                       struct span span) {
    diag_note(c->diagnostics, d, later->name_span, "`%s` is defined here, after its use", name->text);
    const struct ast_decl *here = c->definition;
    bool is_circle = here && leads_to(c, later, here->name, span);
    if (is_circle && here->kind == DECL_FUN && later->kind == DECL_FUN)
        diag_hint(c->diagnostics, d,
                  "functions cannot call each other: make one of `%s` and `%s`, with a parameter that says which is "
                  "meant",
                  here->name->text, name->text);
    else if (is_circle)
        diag_hint(c->diagnostics, d, "definitions cannot use each other");
    else
        diag_hint(c->diagnostics, d, "names are defined before they are used: move the definition up");
}

/* The name of a type that the definition has where one looks for a value. */
static bool hint_type_name(struct checker *c, struct diagnostic *d, symbol name) {
    const struct ast_type *type = map_get(c->type_names, name);
    const struct ast_decl *here = c->definition;
    if (!type || !here || type->span.begin < here->span.begin || type->span.end > here->span.end)
        return false;
    const struct source *source = c->scope->file->source;
    bool is_of_elements = type->span.begin > source->base && source->text[type->span.begin - source->base - 1] == '[';
    diag_note(c->diagnostics, d, type->span, "`%s` is a type here", name->text);
    diag_hint(c->diagnostics, d,
              is_of_elements ? "`[a]` is the type of arrays of `a`; the length of an array is `length xs`"
                             : "what stands behind `:` is a type, as in `(x : int)`; the first element of an array "
                               "is `head xs`, the others are `drop 1 xs`");
    return true;
}

/* The names in scope that are nearest to it. */
static void suggest_name(struct checker *c, struct diagnostic *d, symbol name) {
    struct suggestion suggestion = suggestion_for(name->text);
    for (size_t i = c->bound.count; i-- > 0 && c->offers < OFFERS_MOST; c->offers++)
        suggestion_offer(&suggestion, c->bound.at[i]->name->text);
    offer_globals(c, &suggestion, c->scope);
    for (size_t i = 0; i < c->scope->import_count; i++)
        offer_globals(c, &suggestion, c->scope->imports[i]);
    if (c->scope->prelude)
        offer_globals(c, &suggestion, c->scope->prelude);
    for (int i = 0; i < PRIM_COUNT; i++)
        if (!primitive_is_internal((enum primitive)i))
            suggestion_offer(&suggestion, primitive_info[i].name);
    if (suggestion.best)
        diag_hint(c->diagnostics, d, "did you mean `%s`?", suggestion.best);
}

void report_unbound_name(struct checker *c, symbol name, struct span span) {
    if (!is_good_name(name->text))
        return;
    if (c->definition && c->definition->kind == DECL_KERNEL && c->definition->name == name) {
        report_kernel_called(c, name, c->definition->name_span, span);
        return;
    }
    bool is_of_brackets = is_of_comprehension(c, name, span);
    if (is_of_brackets && c->definition && diag_has_error_in(c->diagnostics, c->definition->span))
        return; /* already reported at its first use */
    struct diagnostic *d =
        diag_error(c->diagnostics, DIAG_UNBOUND_NAME, span, "nothing is called `%s` here", name->text);
    const struct ast_decl *later = defined_later(c, name, span);
    if (later) {
        note_later(c, d, later, name, span);
        return;
    }
    if (hint_let_word(c, d, name))
        return;
    if (begins_binding(c, span)) {
        diag_hint(c->diagnostics, d, "where a `let` goes on with a function, that begins a line: `%s … = …`",
                  name->text);
        return;
    }
    if (is_of_brackets) {
        diag_hint(c->diagnostics, d,
                  "there are no comprehensions: `map (fn %s => …) xs`, with `filter` for a condition", name->text);
        return;
    }
    const struct open_binding *open = c->open_bindings;
    while (open && open->name != name)
        open = open->outer;
    if (open) {
        diag_hint(c->diagnostics, d,
                  open->is_function
                      ? "what a `let` defines does not call itself: define `fun %s` at the top, or repeat with "
                        "`loop`, `foldl` or `power`"
                      : "what a `let` binds is not visible in its own value, only after it: `%s` is not "
                        "changed, but bound once",
                  name->text);
        return;
    }
    if (hint_record_name(c, d, name))
        return;
    for (size_t i = 0; i < sizeof foreign_names / sizeof *foreign_names; i++)
        if (strcmp(foreign_names[i].foreign, name->text) == 0) {
            diag_hint(c->diagnostics, d, "%s", foreign_names[i].here);
            return;
        }
    if (strncmp(name->text, "make_", 5) == 0 && strchr("234", name->text[name->length - 1])) {
        diag_hint(c->diagnostics, d, "there are no vectors of a few numbers: a tuple is written `(x, y)`");
        return;
    }
    if (hint_type_name(c, d, name))
        return;
    const char *file = c->library ? c->library->file_of(c->library->context, name) : NULL;
    if (file) {
        diag_hint(c->diagnostics, d, "`%s` is in the library: `import \"%s\"`", name->text, file);
        return;
    }
    suggest_name(c, d, name);
}

/* ---- names that are not for programs ---- */

struct search {
    struct map *parts; /* what is looked for, a global or the row of a primitive, and internal globals that use it */
    bool is_used;
};

static void look_for_parts(void *context, const struct core *name) {
    struct search *search = context;
    search->is_used |=
        (name->kind == CORE_GLOBAL && map_has(search->parts, name->global.global)) ||
        (name->kind == CORE_PRIMITIVE && map_has(search->parts, &primitive_info[name->primitive.primitive]));
}

/* "`splitUp`, `everyNth` or others": what is made of it by globals from `first` on. */
static const char *made_of(struct checker *c, const void *part, size_t first) {
    enum { MOST = 3 };
    size_t count = 0;
    const char *names[MOST + 1];
    struct search search = {.parts = map_new(c->arena)};
    map_set(search.parts, part, (void *)part);
    for (size_t i = first; i < c->program->globals.count && count <= MOST; i++) {
        const struct core_global *global = c->program->globals.at[i];
        search.is_used = false;
        if (global->source->is_ours && global->body)
            core_visit_names(global->body, look_for_parts, &search);
        if (search.is_used && global->is_internal)
            map_set(search.parts, global, (void *)global);
        else if (search.is_used)
            names[count++] = arena_printf(c->arena, "`%s`", global->name->text);
    }
    if (count > MOST)
        names[MOST] = "others";
    struct text text;
    text_init(&text, c->arena);
    for (size_t i = 0; i < count; i++)
        text_printf(&text, "%s%s", i == 0 ? "" : i + 1 == count ? " or " : ", ", names[i]);
    return text_string(&text);
}

static void report_part(struct checker *c, const char *name, const char *of, const char *others, struct span span) {
    struct diagnostic *d =
        diag_error(c->diagnostics, DIAG_INTERNAL_NAME, span, "`%s` is a part of %s that is not for programs", name, of);
    if (*others)
        diag_hint(c->diagnostics, d, "what is made of it can be used: %s", others);
}

/* Definitions come before their uses. */
void report_internal_name(struct checker *c, const struct core_global *global, struct span span) {
    report_part(c, global->name->text, global->from_prelude ? "the prelude" : "the library",
                made_of(c, global, global->index + 1), span);
}

void report_internal_primitive(struct checker *c, enum primitive primitive, struct span span) {
    report_part(c, primitive_info[primitive].name, "the prelude", made_of(c, &primitive_info[primitive], 0), span);
}

/* A parameter as it is written, the type left to the reader. */
static const char *parameter_text(struct checker *c, const struct ast_pattern *pattern) {
    bool is_typed = pattern->kind == AST_PATTERN_TYPED;
    const struct ast_pattern *of = is_typed ? pattern->of : pattern;
    const char *name = of->kind == AST_PATTERN_NAME ? of->name->text : of->kind == AST_PATTERN_TUPLE ? "(…)" : "_";
    return is_typed ? arena_printf(c->arena, "(%s : …)", name) : name;
}

static bool is_parameter(const struct ast_decl *definition, symbol name) {
    for (size_t i = 0; i < definition->parameters.count; i++)
        if (definition->parameters.at[i]->kind == AST_PATTERN_NAME && definition->parameters.at[i]->name == name)
            return true;
    return false;
}

/* Where the level variable could be bound; a parameter of that name was meant for it. */
void hint_bind_level(struct checker *c, struct diagnostic *d, symbol name) {
    const struct ast_decl *definition = c->definition;
    bool is_inside = !definition || (map_get(c->locals, name) && !is_parameter(definition, name));
    if (!is_inside && definition->kind == DECL_KERNEL) {
        diag_hint(c->diagnostics, d,
                  "a kernel runs at one level, which is written: `<grid>` or `<block>`, say; a `fun` may leave it "
                  "open: `fun f <%s> x = …`",
                  name->text);
        return;
    }
    if (is_inside || definition->kind != DECL_FUN) {
        diag_hint(c->diagnostics, d, "a level variable is bound by the function that uses it: `fn <%s> => …`",
                  name->text);
        return;
    }
    struct text text;
    text_init(&text, c->arena);
    text_printf(&text, "fun %s <", definition->name->text);
    for (size_t i = 0; i < definition->levels.count; i++)
        text_printf(&text, "%s, ", definition->levels.at[i].name->text);
    text_printf(&text, "%s>", name->text);
    for (size_t i = 0; i < definition->parameters.count; i++) {
        const struct ast_pattern *parameter = definition->parameters.at[i];
        if (parameter->kind != AST_PATTERN_NAME || parameter->name != name)
            text_printf(&text, " %s", parameter_text(c, parameter));
    }
    diag_hint(c->diagnostics, d, "bind it where the function starts: `%s = …`", text_string(&text));
}

void report_unbound_level(struct checker *c, symbol name, struct span span) {
    struct diagnostic *d =
        diag_error(c->diagnostics, DIAG_UNBOUND_LEVEL, span, "no level is called `%s` here", name->text);
    struct suggestion suggestion = suggestion_for(name->text);
    for (int value = LEVEL_THREAD; value < LEVEL_VALUE_COUNT; value++)
        suggestion_offer(&suggestion, level_names[value]);
    if (suggestion.best) {
        diag_hint(c->diagnostics, d, "did you mean `%s`?", suggestion.best);
        return;
    }
    hint_bind_level(c, d, name);
}
