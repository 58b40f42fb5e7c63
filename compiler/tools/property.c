/* Properties: see property.h. An argument is drawn after the other (values/draw.c) until a hundred are as the
   condition wants them. The condition is an expression of the language: it is a kernel of a program of its own,
   which imports the tested one, and the interpreter runs it. A kernel that fails for arguments that the condition
   lets through fails the test: where lengths must agree, the condition says so. Where the interpreter takes too
   many steps, the try says nothing. */
#include "tools/property.h"

#include <ctype.h>
#include <string.h>

#include "driver/arguments.h"
#include "tools/timing.h"

enum {
    TRIES = 100,
    FEWEST = 20,        /* that say something */
    MOST_DRAWN = 4000,  /* to find them */
    MOST_SHRUNK = 1000, /* arguments that are looked at while they are made smaller, */
    MOST_SECONDS = 5,   /* in so much time */
    MOST_TOLD = 1000,   /* elements of an array in the report of a try */
};

struct variable {
    const char *name;
    struct type *type; /* NULL: not known yet */
};
typedef VEC(struct variable) variables;

/* An argument is one of the variables, or a literal. */
struct side {
    const struct core_global *kernel;
    size_t count;
    int *variables; /* -1: the literal */
    struct host_value **literals;
};

struct property {
    struct test_trial *t;
    const struct property_tell *tell;
    variables variables;
    struct side left, right;         /* `right` without a kernel: */
    int wanted_variable;             /* this one is wanted; -1: */
    const struct host_value *wanted; /* this value, or NULL: an error */
    struct test_trial conditions;    /* with a kernel: */
    const struct core_global *condition;
    struct host_value **values; /* that are tried */
    size_t looked_at;
    double began;    /* to make them smaller */
    bool gave_up;    /* at the last try */
    const char *why; /* of the last failure, in the arena of the test */
};

/* ---- what stands in the directive ---- */

static int variable_named(const variables *all, const char *name) {
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->at[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* True if the types differ at most in the levels of arrays, so that they have the same values. */
static bool is_same_form(struct type *a, struct type *b) {
    struct type *x, *y;
    if (value_type_rank(a, &x) != value_type_rank(b, &y) || x->kind != y->kind)
        return false;
    if (x->kind != TYPE_TUPLE)
        return x->kind != TYPE_BASE || x->base == y->base;
    bool is_same = x->tuple.count == y->tuple.count;
    for (size_t i = 0; is_same && i < x->tuple.count; i++)
        is_same = is_same_form(x->tuple.items[i], y->tuple.items[i]);
    return is_same;
}

/* Gives the variable this type; false: it has another. */
static bool use_variable(struct arena *arena, struct variable *variable, struct type *type, const char **why) {
    if (!variable->type)
        variable->type = type;
    if (is_same_form(variable->type, type))
        return true;
    *why = arena_printf(arena, "`%s` is of type %s and of type %s", variable->name,
                        type_spelling(arena, variable->type), type_spelling(arena, type));
    return false;
}

static bool read_side(struct arena *arena, const char *directory, const struct core_global *kernel,
                      const char *const *words, size_t count, variables *all, struct side *side, const char **why) {
    struct kernel_interface wanted = kernel_interface(arena, kernel);
    *side = (struct side){kernel, count, ARENA_ARRAY(arena, int, count + 1),
                          ARENA_ARRAY(arena, struct host_value *, count + 1)};
    if (count != wanted.count) {
        (void)parse_arguments(arena, kernel, words, count, directory, why);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        struct value_argument argument = {.number = i + 1, .name = wanted.names[i], .directory = directory};
        side->variables[i] = variable_named(all, words[i]);
        bool is_good =
            side->variables[i] >= 0
                ? use_variable(arena, &all->at[side->variables[i]], wanted.parameters[i], why)
                : (side->literals[i] = value_parse(arena, wanted.parameters[i], &argument, words[i], why)) != NULL;
        if (!is_good)
            return false;
    }
    return true;
}

typedef VEC(const char *) words;

static words words_of(struct arena *arena, const char *text) {
    words all = {0};
    for (const char *word; (word = directive_next_word(arena, &text));)
        vec_push(arena, &all, word);
    return all;
}

const char *property_other(const struct compilation *c, const struct directive *directive) {
    const char *at = directive->wanted;
    if (!directive->forall || directive->expectation == EXPECT_ERROR)
        return NULL;
    const char *first = directive_next_word(c->arena, &at);
    struct suggestion unused = suggestion_for(first);
    for (size_t i = 0; i < directive->forall->names.count; i++)
        if (strcmp(first, directive->forall->names.at[i]) == 0)
            return NULL;
    return kernel_of_file(c, first, &unused) ? first : NULL;
}

/* Finds kernels and the types of names. */
static bool read_property(struct arena *arena, const struct compilation *c, const char *directory,
                          const struct directive *directive, struct property *p, const char **why) {
    struct suggestion suggestion = suggestion_for(directive->kernel);
    const struct core_global *kernel = kernel_of_file(c, directive->kernel, &suggestion);
    if (!kernel) {
        *why = no_kernel_of_file(arena, directive->kernel, &suggestion);
        return false;
    }
    for (size_t i = 0; i < directive->forall->names.count; i++)
        vec_push(arena, &p->variables, (struct variable){directive->forall->names.at[i], NULL});
    if (!read_side(arena, directory, kernel, directive->arguments.at, directive->arguments.count, &p->variables,
                   &p->left, why))
        return false;
    struct type *result = kernel_interface(arena, kernel).result;
    const char *other = property_other(c, directive);
    words wanted = words_of(arena, directive->wanted);
    p->wanted_variable = wanted.count == 1 ? variable_named(&p->variables, wanted.at[0]) : -1;
    if (directive->expectation == EXPECT_ERROR) {
        p->wanted_variable = -1;
    } else if (other) {
        struct suggestion unused = suggestion_for(other);
        const struct core_global *right = kernel_of_file(c, other, &unused);
        if (!read_side(arena, directory, right, wanted.at + 1, wanted.count - 1, &p->variables, &p->right, why))
            return false;
        struct type *theirs = kernel_interface(arena, right).result;
        if (!is_same_form(result, theirs)) {
            *why = arena_printf(arena, "`%s` gives %s, and `%s` %s", directive->kernel, type_spelling(arena, result),
                                other, type_spelling(arena, theirs));
            return false;
        }
    } else if (p->wanted_variable >= 0) {
        if (!use_variable(arena, &p->variables.at[p->wanted_variable], result, why))
            return false;
    } else {
        struct value_argument wanted_is = {.name = "the wanted result", .directory = directory};
        if (!(p->wanted = value_parse(arena, result, &wanted_is, directive->wanted, why)))
            return false;
    }
    for (size_t i = 0; i < p->variables.count; i++)
        if (!p->variables.at[i].type) {
            *why = arena_printf(arena, "no kernel is given `%s`, so that it has no type", p->variables.at[i].name);
            return false;
        }
    return true;
}

/* ---- conditions ---- */

static const char *condition_name(struct arena *arena, const struct directive *directive) {
    return arena_printf(arena, "conditionOfLine%u", directive->line);
}

static unsigned indentation_of(const struct source *source, struct span span) {
    unsigned before = 0;
    for (size_t at = span.begin - source->base; at > 0 && source->text[at - 1] != '\n'; at--)
        before++;
    return before;
}

/* The program's text with a kernel for each condition, which stands where it stands in the file. `places`: of these in
   the text, as many as there are tests. */
static const char *conditions_text(const struct compilation *c, const char *imported, const directives *tests,
                                   struct span *places, size_t *length) {
    struct text text;
    text_init(&text, c->arena);
    for (size_t i = 0; i < c->file->decls.count; i++)
        if (c->file->decls.at[i]->kind == DECL_IMPORT)
            text_printf(&text, "import \"%s\" ", c->file->decls.at[i]->path);
    text_printf(&text, "import \"%s\"", imported);
    const char *end = "";
    unsigned line = 0; /* the first is before all of the file's */
    for (size_t i = 0; i < tests->count; i++) {
        const struct directive *one = &tests->at[i];
        struct property p = {0};
        const char *why;
        places[i] = (struct span){0};
        if (!one->forall || !one->forall->condition || !read_property(c->arena, c, NULL, one, &p, &why))
            continue;
        text_printf(&text, "%s kernel %s", end, condition_name(c->arena, one));
        for (size_t k = 0; k < p.variables.count; k++)
            text_printf(&text, " (%s : %s)", p.variables.at[k].name, type_spelling(c->arena, p.variables.at[k].type));
        text_add(&text, " = if (");
        for (; line < one->line; line++)
            text_add(&text, "\n");
        text_printf(&text, "%*s", (int)(indentation_of(c->file->source, one->span) + one->forall->column) - 1, "");
        places[i].begin = (uint32_t)text.length;
        text_add(&text, one->forall->condition);
        places[i].end = (uint32_t)text.length;
        end = ") then true else false";
    }
    text_printf(&text, "%s\n", end);
    *length = text.length;
    return text_string(&text);
}

struct compilation *property_check(struct compilation *c, const directives *tests, name_places *names,
                                   struct property_places *places, enum exit_status *status) {
    struct options *options = ARENA_NEW(c->arena, struct options);
    const char *path = c->file->source->path, **operand = ARENA_NEW(c->arena, const char *);
    const char *imported = arena_printf(c->arena, "%s.tested", text_file_name(path));
    size_t length;
    places->at = ARENA_ARRAY(c->arena, struct span, tests->count + 1);
    const char *text = conditions_text(c, imported, tests, places->at, &length);
    *operand = path;
    *options = *c->options;
    options->operands = operand;
    options->operand_count = 1;
    struct compilation *made = compilation_new(options);
    const struct source *tested = c->file->source;
    const char *beside = path_join(made->arena, path_directory(made->arena, path), imported);
    vec_push(made->arena, &made->texts, (struct unsaved){path, text, length});
    vec_push(made->arena, &made->texts, (struct unsaved){beside, (const char *)tested->text, tested->length});
    made->names = names;
    *status = compilation_check(made, path);
    places->source = made->file ? made->file->source : NULL;
    for (size_t i = 0; i < made->files.count && places->source; i++)
        if (strcmp(made->files.at[i]->path, beside) == 0)
            source_show_as(made->sources, places->source, made->files.at[i]->module->file->source, 1);
    for (size_t i = 0; i < tests->count && places->source; i++)
        if (places->at[i].end) {
            places->at[i].begin += places->source->base;
            places->at[i].end += places->source->base;
        }
    return made;
}

static struct compilation *compile_conditions(struct compilation *c, directives *tests, directives *wrong) {
    struct property_places places;
    enum exit_status status;
    struct compilation *made = property_check(c, tests, NULL, &places, &status);
    if (status == EXIT_GOOD && compilation_is_good(made))
        return made;
    size_t kept = 0;
    for (size_t i = 0; i < tests->count; i++) {
        struct span place = {places.at[i].begin, places.at[i].end + 1}; /* with the bracket behind it */
        if (places.at[i].end && (!places.source || diag_has_error_in(made->diagnostics, place))) {
            tests->at[i].wrong = "its condition cannot be compiled";
            vec_push(c->arena, wrong, tests->at[i]);
        } else {
            tests->at[kept++] = tests->at[i];
        }
    }
    bool has_found = kept < tests->count;
    tests->count = kept;
    if (!has_found) /* what is wrong stands elsewhere */
        for (size_t i = tests->count; i-- > 0;)
            if (tests->at[i].forall && tests->at[i].forall->condition) {
                tests->at[i].wrong = "its condition cannot be compiled";
                vec_push(c->arena, wrong, tests->at[i]);
                memmove(&tests->at[i], &tests->at[i + 1], (--tests->count - i) * sizeof *tests->at);
            }
    compilation_finish(made, status);
    compilation_free(made);
    return NULL;
}

bool property_has_conditions(const directives *tests) {
    for (size_t i = 0; i < tests->count; i++)
        if (tests->at[i].forall && tests->at[i].forall->condition)
            return true;
    return false;
}

struct compilation *property_conditions(struct compilation *c, directives *tests, directives *wrong) {
    struct compilation *made = NULL;
    while (!made && property_has_conditions(tests))
        made = compile_conditions(c, tests, wrong);
    return made;
}

/* ---- trying ---- */

static struct host_value **arguments_of(const struct property *p, struct arena *arena, const struct side *side) {
    struct host_value **arguments = ARENA_ARRAY(arena, struct host_value *, side->count + 1);
    for (size_t i = 0; i < side->count; i++)
        arguments[i] = side->variables[i] < 0 ? side->literals[i] : p->values[side->variables[i]];
    return arguments;
}

static const char *call_text(const struct property *p, struct arena *arena, const struct side *side, int64_t limit) {
    struct host_value **arguments = arguments_of(p, arena, side);
    struct text text;
    text_init(&text, arena);
    text_add(&text, side->kernel->name->text);
    for (size_t i = 0; i < side->count; i++) {
        text_add(&text, " ");
        value_print(&text, arguments[i], limit);
    }
    return text_string(&text);
}

static struct trial_run run_side(struct property *p, struct arena *arena, const struct side *side) {
    p->tell->of(p->tell->context, call_text(p, arena, side, MOST_TOLD));
    return trial_run(p->t, arena, side->kernel, arguments_of(p, arena, side), side->count);
}

/* Does the condition hold for the values? It may fail itself, which *why then says. */
static bool is_chosen(struct property *p, struct arena *arena, const char **why) {
    if (!p->condition)
        return true;
    struct trial_run run = trial_run(&p->conditions, arena, p->condition, p->values, p->variables.count);
    if (run.status != EXIT_GOOD) {
        struct text text;
        text_init(&text, p->t->arena);
        for (size_t i = 0; i < p->variables.count; i++) {
            text_printf(&text, "%s%s = ", i ? ", " : "", p->variables.at[i].name);
            value_print(&text, p->values[i], 0);
        }
        *why = arena_printf(p->t->arena, "its condition does not run for %s:\n%s", text_string(&text), run.messages);
    }
    return run.status == EXIT_GOOD && run.result->scalar.value.natural;
}

/* Why the test fails for the values, in `arena`; NULL: it does not. *wanted: what is wanted of the left side; NULL: an
   error. */
static const char *failure_of(struct property *p, struct arena *arena, const struct host_value **wanted) {
    *wanted = p->wanted_variable >= 0 ? p->values[p->wanted_variable] : p->wanted;
    if (p->right.kernel) {
        struct trial_run right = run_side(p, arena, &p->right);
        if ((p->gave_up = right.gave_up))
            return NULL;
        if (right.status != EXIT_GOOD)
            return arena_printf(arena, "`%s` does not run:\n%s", p->right.kernel->name->text, right.messages);
        *wanted = right.result;
    }
    struct trial_run left = run_side(p, arena, &p->left);
    p->gave_up = left.gave_up;
    return left.gave_up ? NULL : trial_judge(p->t, arena, &left, *wanted);
}

/* For value_shrink. */
static bool still_fails(void *context) {
    struct property *p = context;
    const struct host_value *wanted;
    const char *unused = NULL;
    if (p->t->device_failed || p->looked_at++ >= MOST_SHRUNK || timing_now() - p->began > MOST_SECONDS)
        return false;
    struct arena *arena = arena_new();
    bool fails = is_chosen(p, arena, &unused) && failure_of(p, arena, &wanted);
    arena_free(arena);
    return fails && !p->t->device_failed;
}

/* The directive of the values alone. */
static const char *directive_text(const struct property *p, const struct host_value *wanted) {
    struct arena *arena = p->t->arena;
    const struct directive *directive = p->t->directive;
    struct text text;
    text_init(&text, arena);
    text_printf(&text, "-- test %s ", call_text(p, arena, &p->left, 0));
    if (directive->expectation == EXPECT_ERROR) {
        text_printf(&text, "error \"%s\"", directive->wanted);
        return text_string(&text);
    }
    text_add(&text, directive->expectation == EXPECT_CLOSE ? "~=" : "==");
    if (directive->expectation == EXPECT_CLOSE && directive->tolerance > 0)
        text_printf(&text, "%g", directive->tolerance);
    text_add(&text, " ");
    if (wanted)
        value_print(&text, wanted, 0);
    else /* the other kernel fails */
        text_add(&text, call_text(p, arena, &p->right, 0));
    return text_string(&text);
}

static const char *explain(struct property *p, size_t tries) {
    struct arena *arena = p->t->arena;
    const struct host_value *wanted = NULL;
    if (!p->t->device_failed) {
        p->began = timing_now();
        value_shrink(arena, p->values, p->variables.count, still_fails, p);
        const char *why = failure_of(p, arena, &wanted);
        p->why = why ? why : p->why;
    }
    return arena_printf(arena, "%s\n    for the arguments of try %zu of %d, made small:\n    %s", p->why, tries, TRIES,
                        directive_text(p, wanted));
}

const char *property_run(struct test_trial *t, struct compilation *conditions, uint64_t seed,
                         const struct property_tell *tell) {
    struct property p = {.t = t, .tell = tell};
    const char *why = NULL;
    if (!read_property(t->arena, t->c, t->directory, t->directive, &p, &why))
        return why;
    p.values = ARENA_ARRAY(t->arena, struct host_value *, p.variables.count);
    struct suggestion unused = suggestion_for("");
    p.conditions = *t;
    p.conditions.c = conditions;
    p.conditions.executor = executor_named("interp");
    p.conditions.batch = NULL;
    if (t->directive->forall->condition &&
        !(p.condition = kernel_of_file(conditions, condition_name(t->arena, t->directive), &unused)))
        return "its condition cannot be compiled";
    struct value_draw draw = {.state = seed};
    size_t good = 0;
    for (size_t drawn = 0; good < TRIES && drawn < MOST_DRAWN; drawn++) {
        struct arena *arena = arena_new();
        const struct host_value *wanted;
        value_draw_begin(&draw, drawn);
        for (size_t i = 0; i < p.variables.count; i++)
            p.values[i] = value_draw(arena, &draw, p.variables.at[i].type);
        bool is_good = is_chosen(&p, arena, &why);
        p.gave_up = false;
        p.why = is_good ? failure_of(&p, arena, &wanted) : NULL;
        good += is_good && !p.gave_up;
        if (p.why)
            why = explain(&p, good);
        arena_free(arena);
        if (why)
            return why;
    }
    if (good < FEWEST)
        return arena_printf(t->arena,
                            "of %d random arguments %zu are as its condition says and can be tried: too few to say "
                            "something",
                            MOST_DRAWN, good);
    return NULL;
}
