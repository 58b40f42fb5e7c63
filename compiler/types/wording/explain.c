/* Type errors in words: what was expected and found in the user's names, and for levels both places that clash. The
   hints are in hints.c. */
#include <ctype.h>

#include "types/checker.h"

/* The type that is wanted where another shape is found: which number it would be by default is not the point. */
static const char *shape_text(struct checker *c, struct type *wanted, struct type *found) {
    wanted = type_resolve(wanted);
    if (wanted->kind == TYPE_VARIABLE || type_resolve(found)->kind == wanted->kind)
        return type_text(c, wanted);
    struct text text;
    text_init(&text, c->arena);
    type_print_shape(&text, wanted);
    return text_string(&text);
}

/* "`grid`", or "a level below `grid`" for a variable that has no name. */
static const char *level_phrase(struct checker *c, struct level level) {
    if (!level.variable || level.variable->name || level.variable->rigid)
        return arena_printf(c->arena, "`%s`", level_text(c, level));
    const uint8_t thread = 1u << LEVEL_THREAD, warp = 1u << LEVEL_WARP, block = 1u << LEVEL_BLOCK,
                  grid = 1u << LEVEL_GRID;
    uint8_t domain = level_domain(level) & DOMAIN_PROPER;
    if (domain == (thread | warp | block))
        return "a level below `grid`";
    if (domain == (warp | block | grid))
        return "a level above `thread`";
    if (domain == (thread | warp))
        return "`thread` or `warp`";
    if (domain == (warp | block))
        return "`warp` or `block`";
    if (domain == (block | grid))
        return "`block` or `grid`";
    return "another level";
}

/* "`block` is not `warp`", the one that is known first. */
static const char whole_device[] = "what takes the whole device cannot be done to a chunk: a block has `reduceBlock`, "
                                   "`scanBlock`, `mergeSort <block>` and `compact <block>`";

static bool is_whole_device(const struct failure *f) {
    bool is_grid_a = !f->level_a.variable && f->level_a.value == LEVEL_GRID;
    return is_grid_a || (!f->level_b.variable && f->level_b.value == LEVEL_GRID);
}

static const char *level_clash(struct checker *c, const struct failure *f) {
    bool is_swapped = f->level_a.variable && !f->level_b.variable;
    return arena_printf(c->arena, "%s is not %s", level_phrase(c, is_swapped ? f->level_b : f->level_a),
                        level_phrase(c, is_swapped ? f->level_a : f->level_b));
}

void note_definition(struct checker *c, struct diagnostic *d, const struct core *head) {
    while (head->kind == CORE_APPLY)
        head = head->apply.function;
    struct text text;
    text_init(&text, c->arena);
    if (head->kind == CORE_GLOBAL && type_resolve(head->global.global->scheme->type)->kind != TYPE_ERROR) {
        const struct core_global *global = head->global.global;
        const struct global_entry *entry = find_global(c->scope, global->name);
        scheme_print(&text, global->scheme, true);
        bool has_sig = entry && entry->global == global && entry->sig_span.end;
        diag_note(c->diagnostics, d,
                  global->from_prelude ? (struct span){0, 0}
                  : has_sig            ? entry->sig_span
                                       : global->span,
                  "%s : %s", global->name->text, text_string(&text));
    } else if (head->kind == CORE_PRIMITIVE) {
        scheme_print(&text, primitive_scheme(c, head->primitive.primitive), true);
        diag_note(c->diagnostics, d, (struct span){0, 0}, "%s : %s", primitive_info[head->primitive.primitive].name,
                  text_string(&text));
    }
}

/* ---- types ---- */

static const char *ordinal(struct checker *c, const char *function, size_t place, size_t count) {
    bool is_operator = !isalpha((unsigned char)function[0]);
    if (is_operator && count == 2)
        return place == 0 ? "left operand" : "right operand";
    static const char *const words[] = {"first", "second", "third", "fourth", "fifth", "sixth"};
    if (count == 1 && place == 0)
        return "argument";
    return place < 6 ? arena_printf(c->arena, "%s argument", words[place])
                     : arena_printf(c->arena, "argument number %zu", place + 1);
}

static bool is_function(struct type *type) {
    type = type_resolve(type);
    return type->kind == TYPE_ARROW || type->kind == TYPE_LEVEL_ARROW;
}

static const char *kind_words(struct type *type, enum kind kind) {
    type = type_resolve(type);
    if (type->kind == TYPE_ARROW || type->kind == TYPE_LEVEL_ARROW)
        return kind == KIND_GT ? "functions cannot be stored in arrays"
                               : "only scalars and tuples of scalars can be here, not functions";
    return "only scalars and tuples of scalars can be here, not arrays";
}

/* "a type of integers", for what a class wants. */
static const char *class_words(const struct failure *f) {
    unsigned classes = f->classes;
    if (classes & CLASS_FLOATING)
        return classes & CLASS_INTEGRAL ? "both an integer and a floating type" : "`float` or `double`";
    if (classes & CLASS_INTEGRAL)
        return "an integer type";
    if (classes & CLASS_NUM)
        return "a number";
    return classes & CLASS_ORD && f->kind == KIND_SCALAR ? "a scalar, which can be ordered"
                                                         : "a scalar or a tuple of scalars";
}

/* A literal or arithmetic where something else is wanted, or an array of it, is a mismatch like any other: the class is
   not the point. */
static enum unify_failure reason_of(const struct failure *f, struct type *found, struct type *expected) {
    if (f->why != FAILED_CLASS || !found || !expected)
        return f->why;
    found = type_resolve(found);
    expected = type_resolve(expected);
    bool is_array = found->kind == TYPE_PULL && expected->kind == TYPE_PULL;
    while (found->kind == TYPE_PULL && expected->kind == TYPE_PULL) {
        found = type_resolve(found->array.element);
        expected = type_resolve(expected->array.element);
    }
    bool is_open = found->kind == TYPE_VARIABLE && !found->variable->rigid;
    return is_open && (is_array || expected->kind != TYPE_VARIABLE) ? FAILED_SHAPE : f->why;
}

static struct diagnostic *report(struct checker *c, const struct application *use, struct span span, struct type *found,
                                 struct type *expected) {
    struct failure f = c->failure;
    f.why = reason_of(&f, found, expected);
    if (f.why == FAILED_CLASS && expected && type_resolve(expected)->kind == TYPE_VARIABLE &&
        type_resolve(expected)->variable->classes && type_resolve(found)->kind != TYPE_VARIABLE)
        f.why = FAILED_SHAPE;
    struct diagnostics *all = c->diagnostics;
    struct diagnostic *d = NULL;
    switch (f.why) {
    case FAILED_NOT:
    case FAILED_SHAPE:
        d = diag_error(all, DIAG_TYPE_MISMATCH, span, "expected `%s`, but this is `%s`", type_text(c, expected),
                       type_text(c, found));
        hint_types(c, d, found, expected, use);
        break;
    case FAILED_RIGID: {
        d = diag_error(all, DIAG_TYPE_MISMATCH, span, "expected `%s`, but this is `%s`", type_text(c, expected),
                       type_text(c, found));
        struct type *rigid = f.a->kind == TYPE_VARIABLE && f.a->variable->rigid ? f.a : f.b;
        if (rigid->kind == TYPE_VARIABLE && rigid->variable->name)
            diag_note(all, d, rigid->variable->span, "the sig promises that `%s` can be any type", type_text(c, rigid));
        break;
    }
    case FAILED_OCCURS:
        d = diag_error(all, DIAG_INFINITE_TYPE, span, "this would need a type that contains itself: `_` = `%s`",
                       type_text(c, f.b));
        diag_hint(
            all, d,
            type_resolve(f.b)->kind == TYPE_PULL || type_resolve(f.b)->kind == TYPE_PUSH
                ? "does an array stand where its element should? That is `xs ! i`, and of a push array `force xs ! i`"
                : "is a function applied to itself, or an array put into itself?");
        break;
    case FAILED_KIND: {
        struct type *resolved = expected ? type_resolve(expected) : NULL;
        if (resolved && resolved->kind == TYPE_PUSH)
            d = diag_error(all, DIAG_KIND, span, "a push array cannot hold `%s`", type_text(c, f.a));
        else
            d = diag_error(all, DIAG_KIND, span, "`%s` cannot be here: %s", type_text(c, f.a), kind_words(f.a, f.kind));
        break;
    }
    case FAILED_CLASS:
        d = diag_error(all, DIAG_CLASS, span, "`%s` is not %s", type_text(c, f.a), class_words(&f));
        hint_class(c, d, NULL);
        break;
    case FAILED_LEVEL:
        if (expected && found)
            d = diag_error(all, DIAG_LEVEL_MISMATCH, span, "expected `%s`, but this is `%s`: %s",
                           type_text(c, expected), type_text(c, found), level_clash(c, &f));
        else
            d = diag_error(all, DIAG_LEVEL_MISMATCH, span, "%s", level_clash(c, &f));
        break;
    case FAILED_PROMISE: {
        struct level rigid = f.level_a.variable && f.level_a.variable->rigid ? f.level_a : f.level_b;
        struct level other = rigid.variable == f.level_a.variable ? f.level_b : f.level_a;
        rigid.offset = 0;
        d = diag_error(all, DIAG_LEVEL_PROMISE, span,
                       "`%s` would have to be `%s` here, but its binder promises any level", level_text(c, rigid),
                       level_text(c, other));
        diag_note(all, d, rigid.variable->span, "`%s` is bound here", level_text(c, rigid));
        break;
    }
    case FAILED_SIZE: d = diag_error(all, DIAG_TYPE_SIZE, span, "the type of this expression is too large"); break;
    }
    return d;
}

struct diagnostic *report_failure(struct checker *c, struct span span, struct type *found, struct type *expected) {
    return report(c, NULL, span, found, expected);
}

/* Reports the value of a `let`: the expression behind its `in`. */
struct diagnostic *report_value(struct checker *c, const struct core *core, struct type *expected) {
    while (core->kind == CORE_LET && core->let.body->span.end)
        core = core->let.body;
    return report(c, &(struct application){.argument = core}, core->span, core->type, expected);
}

/* The left operand is a number of which more is not known, the right one something else altogether. */
static bool class_is_of_left(struct type *found, struct type *expected) {
    found = type_resolve(found);
    expected = type_resolve(expected);
    return expected->kind == TYPE_VARIABLE && !expected->variable->rigid && expected->variable->classes &&
           (found->kind == TYPE_BASE || found->kind == TYPE_ARROW);
}

/* Both operands are numbers of which more is not known than that one is an integer and the other is not. */
static struct diagnostic *report_two_classes(struct checker *c, const struct application *use, struct type *found,
                                             struct type *expected) {
    found = type_resolve(found);
    expected = type_resolve(expected);
    if (found->kind != TYPE_VARIABLE || expected->kind != TYPE_VARIABLE || found->variable->rigid ||
        expected->variable->rigid)
        return NULL;
    bool is_floating = found->variable->classes & CLASS_FLOATING;
    unsigned other = is_floating ? CLASS_INTEGRAL : CLASS_FLOATING;
    if (!(expected->variable->classes & other))
        return NULL;
    c->failure.a = found; /* which of the two was found not to be of the other's class is chance */
    c->failure.classes = other;
    struct diagnostic *d =
        diag_error(c->diagnostics, DIAG_CLASS, use->argument->span, "`%s` needs %s, but this is %s", use->function,
                   class_words(&c->failure), is_floating ? "a floating number" : "an integer");
    hint_class(c, d, use);
    return d;
}

static bool is_within(struct type *part, struct type *whole) {
    whole = type_resolve(whole);
    return whole->kind == TYPE_PULL &&
           (type_resolve(whole->array.element) == part || is_within(part, whole->array.element));
}

/* A pull array where something is stored was hardly meant to be anything else than a push array. */
static struct type *wanted_of(struct checker *c, struct type *found, struct type *expected) {
    bool is_array = type_resolve(expected)->kind == TYPE_STORED && type_resolve(found)->kind == TYPE_PULL;
    return is_array ? type_push(c, type_fresh(c, KIND_BT, 0, c->at), level_fresh(c, DOMAIN_PROPER)) : expected;
}

/* Hints at the part of a tuple that cannot be stored. */
static void hint_stored(struct checker *c, struct diagnostic *d, const struct failure *f) {
    struct type *a = f->a ? type_resolve(f->a) : NULL, *b = f->b ? type_resolve(f->b) : NULL;
    if (!a || !b || (a->kind != TYPE_STORED && b->kind != TYPE_STORED))
        return;
    struct type *other = a->kind == TYPE_STORED ? b : a;
    if (other->kind == TYPE_PULL && type_resolve(other->array.element)->kind == TYPE_PULL)
        diag_hint(c->diagnostics, d,
                  "push arrays, scalars and tuples of these are stored; `flatten` makes one array of `%s`, and `push "
                  "<grid>` a push array of that",
                  type_text(c, other));
    else if (other->kind == TYPE_PULL)
        diag_hint(c->diagnostics, d,
                  "push arrays, scalars and tuples of these are stored; `%s` becomes one by `push <grid>`, in a chunk "
                  "by `push <block>`",
                  type_text(c, other));
    else if (other->kind == TYPE_ARROW || other->kind == TYPE_LEVEL_ARROW)
        diag_hint(c->diagnostics, d, "push arrays, scalars and tuples of these are stored; `%s` is a function",
                  type_text(c, other));
}

/* Functions that are not for arrays, and what to do with an array. */
static const struct {
    struct known by;
    const char *hint;
} of_arrays[] = {
    {KNOWN_PRIMITIVE(LOOP),
     "an array is stepped by `while going step start` as long as `going` says, and by `power n step start`; a flag or "
     "a count goes with its elements: `while (any snd) …` on pairs"},
    {KNOWN_PRIMITIVE(TRACE),
     "the elements of an array are traced by `map (trace \"x\") xs`, of a push array by `mapPush`"},
};

static void find_push_to_grid(void *context, const struct core *name) {
    const struct type *type = type_resolve(name->type);
    if (name->kind != CORE_PRIMITIVE || name->primitive.primitive != PRIM_PUSH || type->kind != TYPE_ARROW)
        return;
    struct level level = level_view(type_resolve(type->arrow.to)->array.level);
    *(bool *)context |= !level.variable && level.value == LEVEL_GRID;
}

static bool pushes_to_grid(const struct core *core) {
    bool found = false;
    core_visit_names(core, find_push_to_grid, &found);
    return found;
}

struct diagnostic *report_argument(struct checker *c, const struct application *use, struct type *found,
                                   struct type *expected) {
    expected = wanted_of(c, found, expected);
    struct failure f = c->failure;
    bool is_operands = use->place == SIZE_MAX;
    struct span span = use->span;
    const char *function = use->function;
    f.why = reason_of(&f, found, expected);
    if (f.why == FAILED_CLASS && is_operands && type_resolve(found)->kind != TYPE_VARIABLE &&
        class_is_of_left(found, expected))
        f.why = FAILED_SHAPE;
    bool is_within_array = f.why == FAILED_CLASS && is_within(f.a, found);
    const struct type_variable *asker = f.why == FAILED_CLASS && !is_operands ? class_asker(expected) : NULL;
    bool is_others = asker && (asker->span.begin != use->head.begin || asker->span.end != use->head.end);
    /* The class was asked for by another argument: this one has another type, no more. */
    bool is_other_class = is_within_array && (!asker || is_others);
    /* The value that is no number, say, is one that a function takes or gives, not the function. */
    bool is_inside = f.why == FAILED_CLASS && f.a->kind == TYPE_BASE && type_resolve(found)->kind == TYPE_ARROW;
    if (is_other_class || is_inside)
        f.why = FAILED_SHAPE;
    struct diagnostics *all = c->diagnostics;
    if (function && is_operands && (f.why == FAILED_SHAPE || f.why == FAILED_RIGID)) {
        struct diagnostic *d =
            diag_error(all, DIAG_ARGUMENT_TYPE, span, "the operands of `%s` do not go together: `%s` and `%s`",
                       function, type_text(c, expected), type_text(c, found));
        hint_operands(c, d, use, found, expected);
        return d;
    }
    if (function && !is_operands && (f.why == FAILED_SHAPE || f.why == FAILED_RIGID)) {
        struct diagnostic *d =
            diag_error(all, DIAG_ARGUMENT_TYPE, span, "the %s of `%s` should be `%s`, but this is `%s`",
                       ordinal(c, function, use->place, use->count), function, shape_text(c, expected, found),
                       type_text(c, found));
        if (type_resolve(found)->kind != TYPE_PULL)
            hint_stored(c, d, &f);
        if (is_other_class)
            note_class(c, d, expected);
        hint_types(c, d, found, expected, use);
        return d;
    }
    if (function && !is_operands && f.why == FAILED_LEVEL) {
        struct diagnostic *d =
            diag_error(all, DIAG_LEVEL_MISMATCH, span, "the %s of `%s` should be `%s`, but this is `%s`: %s",
                       ordinal(c, function, use->place, use->count), function, type_text(c, expected),
                       type_text(c, found), level_clash(c, &f));
        if (f.level_a.variable || f.level_b.variable)
            diag_hint(all, d, "%s",
                      !is_whole_device(&f)            ? "the levels are thread < warp < block < grid"
                      : pushes_to_grid(use->argument) ? "a chunk is pushed at a level below: `push <block>`"
                                                      : whole_device);
        return d;
    }
    if (function && !is_operands && use->count > 1 && f.why == FAILED_CLASS && f.a->kind == type_resolve(found)->kind &&
        f.a->kind != TYPE_BASE && f.a->kind != TYPE_VARIABLE) {
        struct diagnostic *d =
            diag_error(all, DIAG_CLASS, span, "the %s of `%s` should be %s, but this is `%s`",
                       ordinal(c, function, use->place, use->count), function, class_words(&f), type_text(c, f.a));
        hint_class(c, d, use);
        return d;
    }
    if (function && f.why == FAILED_CLASS) {
        struct diagnostic *d = report_two_classes(c, use, found, expected);
        if (d)
            return d;
        if (is_others) {
            d = diag_error(all, DIAG_CLASS, span, "the %s of `%s` should be %s, but this is `%s`",
                           ordinal(c, function, use->place, use->count), function, class_words(&f), type_text(c, f.a));
            note_class(c, d, expected);
        } else {
            d = diag_error(all, DIAG_CLASS, span, "`%s` needs %s, but %s `%s`", function, class_words(&f),
                           is_within_array ? "an element of this is" : "this is", type_text(c, f.a));
        }
        hint_class(c, d, use);
        return d;
    }
    if (function && f.why == FAILED_KIND) {
        bool is_push = use->callee.primitive == PRIM_PUSH;
        struct diagnostic *d;
        if (is_push)
            d = diag_error(
                all, DIAG_KIND, span,
                "`push` cannot write elements of type `%s`: a push array holds scalars and tuples of scalars, "
                "never %s",
                type_text(c, f.a), is_function(f.a) ? "functions" : "arrays");
        else
            d = diag_error(all, DIAG_KIND, span, "`%s` cannot be used on `%s`: %s", function, type_text(c, f.a),
                           kind_words(f.a, f.kind));
        if (is_function(f.a))
            hint_many_parameters(c, d, use);
        for (size_t i = 0; !is_function(f.a) && i < sizeof of_arrays / sizeof *of_arrays; i++)
            if (callee_is(&use->callee, of_arrays[i].by))
                diag_hint(all, d, "%s", of_arrays[i].hint);
        if (is_push && !is_function(f.a))
            diag_hint(all, d, "arrays in an array are written by `map (push <block>)` and put together by `concat`");
        return d;
    }
    return report_failure(c, span, found, expected);
}

/* ---- levels ---- */

static const char *const once_per[LEVEL_VALUE_COUNT] = {"before anything runs on the device", "once per thread",
                                                        "once per warp", "once per block", "once for the whole grid"};

static const char *const needs[LEVEL_VALUE_COUNT] = {"needs nothing", "runs once per thread", "needs the whole warp",
                                                     "needs the whole block", "needs the whole grid"};

/* The constraint at the end of the chain of causes that leads from `level`. */
static const struct level_constraint *origin(const struct level *level, const struct level_constraint *from) {
    for (int steps = 0; steps < 200 && level->variable; steps++) {
        const struct level_variable *variable = level->variable;
        const struct level_constraint *cause = variable->cause;
        if (!cause) {
            if (!variable->link)
                break;
            level = variable->link;
            continue;
        }
        if (cause->kind != LEVEL_FITS)
            return cause;
        from = cause;
        level = cause->a->variable == variable ? cause->b : cause->a;
    }
    return from;
}

/* The words for a primitive's constraint on the code that it is given. */
static const struct {
    struct known of;
    const char *words;
} places[] = {
    {KNOWN_PRIMITIVE(PUSH), "the elements of the array that `push` writes are computed once per thread"},
    {KNOWN_PRIMITIVE(MAP_PUSH), "the function of `mapPush` runs once per thread"},
    {KNOWN_PRIMITIVE(MAP_PUSH_IX), "the function of `mapPushIx` runs once per thread"},
    {KNOWN_PRIMITIVE(PERMUTE), "the index function of `permute` runs once per thread"},
    {KNOWN_PRIMITIVE(CONCAT), "each chunk that `concat` takes is computed at the level of the chunks"},
    {KNOWN_PRIMITIVE(CONCAT_SEQ), "each chunk that `concatSeq` takes is computed at the level of the chunks"},
    {KNOWN_PRIMITIVE(INTERLEAVE), "each chunk that `interleave` takes is computed at the level of the chunks"},
    {KNOWN_PRIMITIVE(INTERLEAVE_SEQ), "each chunk that `interleaveSeq` takes is computed at the level of the chunks"},
};

static const char *place_words(struct checker *c, const struct callee *reason) {
    if (!reason)
        return "the other level comes from here";
    if (reason == &callee_kernel)
        return "this level is that of the kernel's result";
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (callee_is(reason, places[i].of))
            return places[i].words;
    return arena_printf(c->arena, "this is what `%s` asks for", reason->name);
}

/* The function for each row of a matrix, in place of one of the whole device that gives one value; NULL: not known. */
static const char *of_rows(const struct callee *callee) {
    static const struct {
        struct known of;
        const char *rows;
    } known[] = {{KNOWN_PRELUDE("reduce"), "reduceRows f neutral m"},
                 {KNOWN_PRELUDE("reduceComm"), "reduceRows f neutral m"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (callee_is(callee, known[i].of))
            return known[i].rows;
    return NULL;
}

/* Where what runs at that level could be instead. */
static void hint_place(struct checker *c, struct diagnostic *d, const struct callee *callee, enum level_value level,
                       uint8_t domain) {
    const char *rows = of_rows(callee);
    if (level == LEVEL_GRID && rows)
        diag_hint(c->diagnostics, d, "of each row of a matrix it is `%s`, which takes the whole device", rows);
    static const char chunks[] = "`splitUp n xs |> map (fn c => …) |> concat n`";
    if (level == LEVEL_GRID && domain & (1u << LEVEL_THREAD))
        diag_hint(
            c->diagnostics, d,
            "of an array that is the same for all, bind its result outside with `let`, where the code still runs "
            "%s; of each element's own, one thread has `foldl`, and a block `red <block>`, `scanBlock`, `mergeSort "
            "<block>` and `compact <block>`, in `map (fn x => …) |> concat n`",
            once_per[level]);
    else if (level > LEVEL_THREAD && domain & (1u << LEVEL_THREAD))
        diag_hint(
            c->diagnostics, d,
            "bind its result outside with `let`, where the code still runs %s: a %s does what is done to a chunk in %s",
            once_per[level], level_names[level], chunks);
    else if (level == LEVEL_GRID && domain == 1u << LEVEL_BLOCK)
        diag_hint(c->diagnostics, d,
                  "in a block only the block can store: `force (push <block> …)`; or let the result be at `grid`, too");
    else if (level > LEVEL_THREAD && domain == 1u << LEVEL_GRID)
        diag_hint(c->diagnostics, d,
                  "the grid stores by `force (push <grid> …)`; a %s does what is done to a chunk in %s",
                  level_names[level], chunks);
}

static void report_fits(struct checker *c, const struct level_constraint *k) {
    struct level a = level_view(k->a), b = level_view(k->b);
    const struct level_constraint *demand = origin(k->a, k), *place = origin(k->b, k);
    const char *name = demand->reason ? demand->reason->name : NULL;
    struct diagnostic *d;
    if (c->failure.why == FAILED_PROMISE && ((a.variable && a.variable->rigid) || (b.variable && b.variable->rigid))) {
        bool of_a = a.variable && a.variable->rigid;
        struct level rigid = of_a ? a : b, other = of_a ? b : a;
        d = diag_error(c->diagnostics, DIAG_LEVEL_PROMISE, demand->span,
                       "`%s` would have to be `%s` here, but its binder promises any level", level_text(c, rigid),
                       level_text(c, other));
        diag_note(c->diagnostics, d, rigid.variable->span, "`%s` is bound here", level_text(c, rigid));
    } else {
        uint8_t domain = level_domain(b) & DOMAIN_PROPER;
        int level = LEVEL_PURE;
        for (int value = LEVEL_THREAD; value < LEVEL_VALUE_COUNT; value++)
            if (domain & (1u << value))
                level = value;
        const char *place_word = level == LEVEL_PURE ? "is computed" : "runs";
        const char *where = b.variable && (domain & (domain - 1)) ? arena_printf(c->arena, "at %s", level_phrase(c, b))
                                                                  : once_per[level];
        const char *what = a.variable ? arena_printf(c->arena, "runs at `%s`", level_text(c, a)) : needs[a.value];
        d = diag_error(c->diagnostics, DIAG_AMBIENT, demand->span, "%s%s%s %s, but this place %s %s", name ? "`" : "",
                       name ? name : "this", name ? "`" : "", what, place_word, where);
        if (level == LEVEL_PURE)
            diag_hint(c->diagnostics, d, "what runs on the device is a `fun`, used by a `kernel`");
    }
    if (place->span.begin != demand->span.begin || place->span.end != demand->span.end)
        diag_note(c->diagnostics, d, place->span, "%s", place_words(c, place->reason));
    if (!a.variable)
        hint_place(c, d, demand->reason, a.value, level_domain(b) & DOMAIN_PROPER);
}

static bool joins_chunks(const struct callee *callee) {
    return callee && (callee->primitive == PRIM_CONCAT || callee->primitive == PRIM_INTERLEAVE);
}

void report_constraint(struct checker *c, const struct level_constraint *k) {
    switch (k->kind) {
    case LEVEL_FITS: report_fits(c, k); break;
    case LEVEL_BELOW: {
        const char *a = level_text(c, level_view(k->a)), *b = level_text(c, level_view(k->b));
        struct diagnostic *d;
        if (k->reason)
            d = diag_error(c->diagnostics, DIAG_LEVEL_ORDER, k->span,
                           "`%s` goes from a level to a higher one, but `%s` is not below `%s`", k->reason->name, a, b);
        else
            d = diag_error(c->diagnostics, DIAG_LEVEL_ORDER, k->span, "`%s` is not below `%s`", a, b);
        struct level below = level_view(k->a), above = level_view(k->b);
        bool is_same = !below.variable && !above.variable && below.value == above.value;
        if (is_same && below.value == LEVEL_GRID)
            diag_hint(c->diagnostics, d, "%s", whole_device);
        else if (is_same && joins_chunks(k->reason))
            diag_hint(c->diagnostics, d, "`%sSeq` puts chunks together at their own level, one after another",
                      k->reason->name);
        else
            diag_hint(c->diagnostics, d, "the levels are thread < warp < block < grid");
        break;
    }
    }
    c->failure.why = FAILED_NOT;
}
