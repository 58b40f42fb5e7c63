/* Declarations that the files of the checker share; no other stage includes it. */
#ifndef FCL_TYPES_CHECKER_H
#define FCL_TYPES_CHECKER_H

#include "support/map.h"
#include "types/check.h"

enum { DOMAIN_PROPER = 0x1E, DOMAIN_AMBIENT = 0x1F, DOMAIN_PURE = 0x01 };
enum { TYPE_SIZE_LIMIT = 200000 }; /* nodes, each counted once; of a written type: with all synonyms written out */
enum { SYNONYM_DEPTH_LIMIT = 1000 };

/* ---- environment ---- */

struct binding { /* of a local name */
    symbol name;
    struct core_local *local;
    struct scheme *scheme; /* monomorphic: quantifies nothing */
    struct binding *hidden;
    struct span span; /* of the name; empty: made by the compiler */
    bool is_used;
};
struct level_binding {
    symbol name;
    struct span span;
    struct level *level;
    bool is_used;
    struct level_binding *hidden;
};
struct synonym {
    symbol name;
    struct span span;
    const struct ast_decl *decl;
    const struct scope *scope; /* where its right-hand side is looked up */
    bool is_open;              /* being expanded: to find recursion */
    bool is_broken;            /* already reported */
    struct record *record;     /* that it declares, or NULL */
    struct type *declared;     /* its type, for other declarations only (its ambients are shared); NULL: parameters */
    size_t nodes;              /* of it, with all synonyms written out */
    unsigned height;           /* names of types that lead to one another in it */
};
/* The definitions of a module's top level, or of the whole prelude. */
struct scope {
    struct map *globals;  /* symbol → struct global_entry * */
    struct map *synonyms; /* symbol → struct synonym * */
    const struct scope **imports;
    size_t import_count;
    const struct scope *prelude; /* NULL for the prelude itself */
    const struct ast_file *file;
    bool is_prelude;
};
struct global_entry {
    struct core_global *global;
    struct span sig_span;     /* empty: no sig */
    bool is_open;             /* its own definition is being checked */
    struct type **self_types; /* with a sig, while open: the rigid variables are instantiated at each use */
};

/* ---- what names are bound to ---- */

/* A function as messages speak of it. They know the primitives and the prelude's functions by what a
   name is bound to, not by its letters: of a program's own `sort` they say nothing of sorting. */
struct callee {
    const char *name;                 /* NULL: it has none */
    enum primitive primitive;         /* PRIM_COUNT: none */
    const struct core_global *global; /* NULL: none */
};
/* A function that messages know: a primitive, or with PRIM_COUNT the prelude's function of that name. */
struct known {
    enum primitive primitive;
    const char *of_prelude;
};
#define KNOWN_PRIMITIVE(id)                                                                                            \
    { PRIM_##id, NULL }
#define KNOWN_PRELUDE(name)                                                                                            \
    { PRIM_COUNT, name }
struct callee callee_of(const struct core *head);
bool callee_is(const struct callee *callee, struct known known);
/* For a level constraint: NULL where the head has no name. */
struct checker;
const struct callee *callee_keep(struct checker *c, const struct core *head);
extern const struct callee callee_kernel, callee_where; /* reasons that are no functions */

/* ---- state ---- */

enum unify_failure {
    FAILED_NOT,
    FAILED_SHAPE,   /* a and b differ at the root */
    FAILED_RIGID,   /* a sig's variable would have to be something else */
    FAILED_OCCURS,  /* a variable within its own type */
    FAILED_KIND,    /* a is not of kind */
    FAILED_CLASS,   /* a is not of classes */
    FAILED_LEVEL,   /* levels of push arrays or level arguments */
    FAILED_PROMISE, /* a rigid level variable would have to be something else */
    FAILED_SIZE,
};
struct failure {
    enum unify_failure why;
    struct type *a, *b;
    enum kind kind;
    unsigned classes;
    struct level level_a, level_b;
};

struct literal_check {
    struct core *core;
    bool is_negated, too_large;
};
struct stored_check { /* what `reason` stores at `span` can be stored */
    struct type *type;
    struct span span;
    const struct callee *reason; /* or NULL */
};
struct self_use { /* of a definition within itself: its instance is known when the definition is */
    struct core *core;
    struct type **types; /* NULL: the variables themselves */
};
struct signature_variable {
    symbol name;
    struct type *type; /* one of the two */
    struct level *level;
};
typedef VEC(struct signature_variable) signature_variables;

/* A binding of a `let` whose value is being inferred: its name is not bound there. */
struct open_binding {
    symbol name;
    bool is_function;
    const struct open_binding *outer;
};

/* A record that a field alone has decided, though others have such a field. */
struct guess {
    const struct record *record;
    struct span span; /* of the value */
    symbol field;
};

struct checker {
    const struct open_binding *open_bindings; /* the innermost one, or NULL */
    struct type *parameter_rest; /* while a parameter is bound: what the function is to take after it, or NULL */
    struct arena *arena;
    struct symbols *symbols;
    struct diagnostics *diagnostics;
    struct program *program;
    struct param_setting *settings;
    size_t setting_count;
    const struct library *library;
    name_places *places; /* or NULL */

    struct type *base_types[BASE_COUNT], *error_type;
    struct level *constants[LEVEL_VALUE_COUNT];
    struct map *primitives; /* symbol → 1 + enum primitive */
    struct scheme *primitive_schemes[PRIM_COUNT];

    const struct scope *scope;
    const struct ast_decl *definition; /* being checked */
    unsigned matches;                  /* around this place */
    VEC(struct guess) guesses;         /* for messages: records that were taken for want of a type */
    struct map *locals;                /* symbol → struct binding * */
    struct map *levels;                /* symbol → struct level_binding * */
    VEC(struct binding *) bound;
    signature_variables *signature_scope; /* type variables of the enclosing sig, or NULL */

    struct type *wanted; /* of the next expression, which may be a record with several types; or NULL */
    uint32_t depth, next_type, next_level, next_local, walks;
    struct level *ambient;
    VEC(struct level_constraint *) pending; /* level constraints not yet settled */
    bool propagates;                        /* level_propagate is at work, and `touched` collects */
    VEC(struct level_variable *) touched;
    VEC(struct level_variable *) watched; /* those with a list, to be cleared */
    struct failure failure;
    struct span at; /* what constraints made by unification point to */
    const struct callee *reason;
    VEC(struct literal_check) literals;
    VEC(struct self_use) self_uses;
    VEC(struct stored_check) stored; /* not yet known */
    symbol name_pipe, name_neg;

    struct map *type_names;                /* for messages: symbol → the last const struct ast_type * that it is */
    const struct ast_file *definitions_of; /* for messages: the file whose definitions are in `definitions` */
    struct map *definitions;               /* symbol → the last const struct ast_decl * */
    size_t offers;                         /* names that were compared with unknown ones */
    size_t type_nodes;                     /* of the type that is being read, with its synonyms written out */
    bool has_too_large;                    /* E0219 has been said of the use of a large scheme */
    unsigned synonym_depth, synonym_height;
    bool declares, reads_broken; /* a `type` declaration; a synonym that was reported is in it */
};

/* ---- level.c ---- */
struct level level_view(const struct level *level); /* follows links */
uint8_t level_domain(struct level view);            /* values a resolved term may have */
struct level *level_constant(struct checker *c, enum level_value value);
struct level *level_fresh(struct checker *c, uint8_t domain);
struct level *level_rigid(struct checker *c, symbol name, struct span span);
struct level *level_shifted(struct checker *c, struct level level, int by);
/* Equality. On failure c->failure says why. `cause` may be NULL. */
bool level_unify(struct checker *c, struct level *a, struct level *b, const struct level_constraint *cause);
enum level_verdict { VERDICT_WAITS, VERDICT_HOLDS, VERDICT_FAILS };
enum level_verdict level_solve(struct checker *c, const struct level_constraint *k);

/* ---- constraints.c ---- */
/* Solves what can be solved now, keeps the rest pending, reports what cannot hold. */
void level_require(struct checker *c, enum level_constraint_kind kind, struct level *a, struct level *b,
                   struct span span, const struct callee *reason);
void level_propagate(struct checker *c, size_t mark); /* to a fixed point over pending[mark…] */

/* The same in steps: between begin and end the caller may bind level variables, `run` goes on to the next fixed point,
   and each unbound variable has the list of what waits for it. Constraints must not be added meanwhile. */
struct watcher {
    struct waiting *who;
    struct watcher *next;
    bool is_above; /* the variable is in b */
};
struct waiting {
    struct level_constraint *constraint;
    struct watcher sides[2];
    bool is_queued, is_settled;
};
struct propagation {
    struct arena *own; /* for many constraints: what waits is forgotten at the end; or NULL */
    size_t mark, count;
    struct waiting *all;
    struct waiting **queue; /* a ring: each constraint is in it once at most */
    size_t first, queued;
};
void propagation_begin(struct checker *c, struct propagation *p, size_t mark);
void propagation_run(struct checker *c, struct propagation *p);
void propagation_end(struct checker *c, struct propagation *p);

/* ---- type.c ---- */
struct type *type_fresh(struct checker *c, enum kind kind, unsigned classes, struct span span);
struct type *type_arrow(struct checker *c, struct type *from, struct type *to, struct level *ambient);
struct type *type_level_arrow(struct checker *c, struct level *level, struct type *to);
struct type *type_pull(struct checker *c, struct type *element, struct level *ambient);
struct type *type_push(struct checker *c, struct type *element, struct level *level);
struct type *type_tuple(struct checker *c, struct type **items, size_t count);
struct type *type_tuple_like(struct checker *c, const struct type *like, struct type **items); /* the same record */
unsigned class_of_name(const char *name);                                                      /* 0: unknown */
const char *class_names(struct checker *c, unsigned classes); /* "num", "ord, eq": without implied ones */
bool type_require(struct checker *c, struct type *type, enum kind kind, unsigned classes);
bool type_is_small(struct checker *c, struct type *type);

/* note [walks]
   Types are graphs, so each walk through one has a number of its own and leaves it at the nodes
   that it has seen. A walk to which it matters whether a node is given or taken (on the left of an
   arrow) looks at it once for each: `side` 0 or 1. */
uint32_t type_walk_begin(struct checker *c);
static inline bool type_walk_comes(uint32_t walk, struct type *type, int side) { /* for the first time? */
    bool is_first = type->seen[side] != walk;
    type->seen[side] = walk;
    return is_first;
}

/* ---- unify.c ---- */
bool unify(struct checker *c, struct type *a, struct type *b);
/* `found` may stand where `expected` is wanted: equal but for ambients, where those of `found` fit. */
bool subsume(struct checker *c, struct type *found, struct type *expected);

/* ---- stored.c ---- */
struct type *type_store(struct checker *c, struct type *of, struct level *level);
/* Reports what cannot be stored among what has become known. */
void check_stored(struct checker *c);
/* Relates a TYPE_STORED and what is no variable; `found` and `expected` are these two. May leave
   `other` to be related again, to what `stored` is then. */
bool unify_stored(struct checker *c, struct type *stored, struct type *other, struct type *found,
                  struct type *expected);

/* ---- signature.c ---- */
/* USE: of a level, which must be bound. */
enum signature_mode { SIGNATURE_RIGID, SIGNATURE_ANNOTATION, SIGNATURE_USE };
struct type *type_of_ast(struct checker *c, const struct ast_type *ast, enum signature_mode mode,
                         signature_variables *variables);
struct level *level_of_ast(struct checker *c, const struct ast_level *ast, enum signature_mode mode,
                           signature_variables *variables);
/* Puts the declared name of a type into the scope; NULL after an error: it is a base type's. */
struct synonym *declare_type_name(struct checker *c, const struct ast_decl *decl);
/* The type that a record or synonym stands for, given types for its parameters. */
struct type *type_of_synonym(struct checker *c, struct synonym *synonym, signature_variables *parameters);
/* The same of alternatives; what their constructors are applied to goes to `payloads`. */
struct type *type_of_data(struct checker *c, struct synonym *synonym, signature_variables *parameters,
                          struct type **payloads);
/* The parts of `type` at the places where `declared` has a scalar or a variable, in order. */
typedef VEC(struct type *) type_leaves;
void type_collect_leaves(struct checker *c, struct type *declared, struct type *type, type_leaves *leaves);
struct type *type_of_signature(struct checker *c, const struct ast_signature_type *ast, signature_variables *variables);

/* ---- primitive_type.c ---- */
struct scheme *primitive_scheme(struct checker *c, enum primitive primitive);

/* ---- generalise.c ---- */
struct scheme *scheme_of_type(struct checker *c, struct type *type); /* quantifies nothing */
struct scheme *generalise(struct checker *c, struct type *type, size_t mark, bool with_classes);
void lower_depth(struct checker *c, struct type *type); /* to c->depth: what is not generalised */
struct type *instantiate(struct checker *c, const struct scheme *scheme, struct span span, const struct callee *reason,
                         struct core_instance *instance);
struct type *instantiate_types(struct checker *c, struct type *type, struct type *const *variables, size_t count,
                               struct type **stand_ins);

/* ---- settle.c: links out of types and core; what nothing decided gets its default ---- */
void settle_scheme(struct checker *c, struct scheme *scheme);
void settle_core(struct checker *c, struct core *core);
void check_literals(struct checker *c);

/* ---- environment.c ---- */
void note_place(struct checker *c, struct name_place place); /* where places are asked for */
struct binding *bind_local(struct checker *c, symbol name, struct span span, struct scheme *scheme);
void unbind_locals(struct checker *c, size_t mark);
struct level_binding *bind_level(struct checker *c, const struct ast_level_binder *binder, struct level *level);
void unbind_level(struct checker *c, struct level_binding *binding);
struct global_entry *find_global(const struct scope *scope, symbol name);
struct synonym *find_synonym(const struct scope *scope, symbol name);
bool is_bound_name(const struct checker *c, symbol name);
void report_unbound_name(struct checker *c, symbol name, struct span span);
void report_kernel_called(struct checker *c, symbol name, struct span kernel, struct span span);
void report_internal_name(struct checker *c, const struct core_global *global, struct span span);
void report_internal_primitive(struct checker *c, enum primitive primitive, struct span span);
void report_unbound_level(struct checker *c, symbol name, struct span span);
void hint_bind_level(struct checker *c, struct diagnostic *d, symbol name);
/* The last definition of the name in this file, when that comes after the place. */
const struct ast_decl *defined_later(struct checker *c, symbol name, struct span span);
void report_unbound_type(struct checker *c, symbol name, struct span span);
bool is_meant_as_variable(symbol name); /* of a name in a type that stands for nothing */

/* ---- node.c, and callees above ---- */
struct core *core_new(struct checker *c, enum core_kind kind, struct span span, struct type *type);
struct core *error_core(struct checker *c, struct span span);
struct core_local *fresh_local(struct checker *c, symbol name);
const char *head_name(const struct core *head); /* NULL: no name */

/* ---- infer.c, pattern.c, apply.c ---- */
struct core *infer_expr(struct checker *c, const struct ast_expr *expr);
struct core *infer_apply(struct checker *c, const struct ast_expr *expr);
struct core *infer_lambda(struct checker *c, const struct ast_expr *expr, struct type *expected); /* NULL: anything */
struct core *infer_level_apply(struct checker *c, const struct ast_expr *expr);
struct core *infer_literal(struct checker *c, const struct ast_expr *expr, bool is_negated);

/* The same where the type is known that it is to have, or NULL. */
struct core *infer_wanted(struct checker *c, const struct ast_expr *expr, struct type *wanted);
bool is_unknown(struct type *type); /* a variable that anything can be */

/* ---- record_names.c ---- */
struct wanted_fields {
    const struct ast_name *names;
    size_t count;
    bool are_all; /* the record has no others */
};
/* The last record that has these fields, and where `are_all` no others if there is one; or else the last that has one
   of them, so that the message is of the others; NULL: nothing has any. */
const struct record *record_find(const struct scope *scope, struct wanted_fields wanted);
size_t record_place(const struct record *record, symbol field); /* the count of its fields: it has none such */
const char *record_shape(struct checker *c, const struct record *record); /* `{ x = …, y = … }` */
/* Hints at what a name without a definition is in records; false: nothing. */
bool hint_record_name(struct checker *c, struct diagnostic *d, symbol name);
/* A field alone has decided: remembered if others have such a field, too. */
void record_guessed(struct checker *c, const struct record *record, struct span span, symbol field);
/* Where two records do not fit, of which one was guessed. */
bool hint_guess(struct checker *c, struct diagnostic *d, struct type *found, struct type *expected);

/* ---- record.c ---- */
void declare_record(struct checker *c, struct synonym *synonym);
/* A type of the record, of whose parameters nothing is known. */
struct type *record_fresh(struct checker *c, const struct record *record, struct span span);
/* The record type of a value that has these fields; NULL: it is none, or nothing says which. */
struct type *record_of_value(struct checker *c, struct type *of, const struct ast_name *names, size_t count,
                             struct span span);
/* Where each field that is named stands; false: something is wrong with them, and was said. */
bool record_places(struct checker *c, const struct record *record, const struct ast_name *names, size_t count,
                   size_t *places);
void record_note(struct checker *c, const struct record *record, size_t place, struct span span, struct type *type);
void record_report_unknown(struct checker *c, const struct record *record, const struct ast_name *name);
void record_report_none(struct checker *c, const struct ast_name *name); /* no record in sight has such a field */
/* The record of a pattern for a value of that type, and which of its fields each of the pattern's is; NULL after an
   error. */
struct type *record_of_pattern(struct checker *c, const struct ast_pattern *pattern, struct type *type, size_t *places);

/* ---- alternatives.c ---- */
void declare_data(struct checker *c, const struct ast_decl *decl);
/* A type of the alternatives, of whose parameters nothing is known; `payloads`: what each constructor is applied to, or
   NULL. */
struct type *data_fresh(struct checker *c, const struct record *record, struct span span, struct type **payloads);
/* The argument, of type `payload`, of the constructor that made `value`. */
struct core *data_payload(struct checker *c, const struct constructor *constructor, struct type *payload,
                          struct core *value);
/* The constructor that a pattern for a value of that type names; NULL: there is none of that name. */
const struct record *data_find(struct checker *c, symbol name, struct type *type, size_t *index);
/* For editors: the name of a constructor at the beginning of a pattern. */
void data_note(struct checker *c, const struct constructor *constructor, struct span pattern, struct type *type);
void data_report_unknown(struct checker *c, symbol name, struct span span, struct type *type);
bool type_has_alternatives(struct type *type);

/* ---- cases.c: which values patterns take ---- */
struct case_pattern {
    enum { CASE_ANY, CASE_OF, CASE_EITHER } kind;
    /* OF, with `parts`: */
    enum { CASE_CONSTRUCTOR, CASE_BOOL, CASE_TUPLE, CASE_INTEGER, CASE_FLOATING } head;
    const struct record *record; /* of CONSTRUCTOR, and of TUPLE unless NULL */
    size_t index;                /* of CONSTRUCTOR, BOOL */
    bool is_negative;            /* of numbers */
    uint64_t magnitude;
    double floating;
    size_t count;
    struct case_pattern **parts; /* or EITHER: one of these */
};
/* A value that none of the patterns takes, as text; NULL: there is none. `is_too_large`: that was not found out. */
const char *cases_missing(struct checker *c, struct case_pattern *const *rows, size_t count, bool *is_too_large);
/* Does the pattern take a value that none of the others does? */
bool cases_is_useful(struct checker *c, struct case_pattern *const *rows, size_t count, struct case_pattern *pattern);

/* ---- match.c ---- */
struct core *infer_match(struct checker *c, const struct ast_expr *expr, struct type *wanted);

/* ---- fields.c ---- */
struct core *infer_record(struct checker *c, const struct ast_expr *expr, struct type *wanted);
struct core *infer_field(struct checker *c, const struct ast_expr *expr);

struct unpacking { /* of a tuple pattern: lets to put around the body */
    const struct core_local *local;
    struct core *value;
    struct span span;
};
typedef VEC(struct unpacking) unpackings;
typedef struct map *pattern_names; /* symbol → const struct ast_pattern *; NULL: none yet */
/* Binds the names of a pattern; a tuple goes to a fresh local, and its components to `parts`. */
const struct core_local *bind_pattern(struct checker *c, const struct ast_pattern *pattern, struct type *type,
                                      unpackings *parts, pattern_names *seen);
struct core_local *bind_name(struct checker *c, const struct ast_pattern *pattern, struct scheme *scheme,
                             pattern_names *seen);
struct core *wrap_unpackings(struct checker *c, const unpackings *parts, struct core *body);
struct function_parts {
    const struct ast_level_binder *levels;
    size_t level_count;
    bool has_levels_of_sig;
    struct ast_pattern *const *parameters;
    size_t parameter_count;
    const struct ast_expr *body;
    struct span span, sig_span;
};
/* `fn <levels> parameters => body`, of the expected type when that is not NULL. The ambient that the innermost body
   runs at goes to *inner, unless that is NULL. */
struct core *infer_function(struct checker *c, const struct function_parts *f, struct type *expected,
                            struct level **inner);

/* ---- print.c: for messages ---- */
const char *type_text(struct checker *c, struct type *type);
const char *level_text(struct checker *c, struct level level);

/* ---- explain.c: the words ---- */
void report_constraint(struct checker *c, const struct level_constraint *constraint);
/* Reports c->failure for `found` where `expected` is wanted; gives the diagnostic, for more notes. */
struct diagnostic *report_failure(struct checker *c, struct span span, struct type *found, struct type *expected);
struct diagnostic *report_value(struct checker *c, const struct core *core, struct type *expected);
/* A function and the argument that does not fit. `place` SIZE_MAX: the two operands of an operator, of which `left` is
   the other one. */
struct application {
    const char *function; /* NULL: it has no name */
    struct callee callee; /* the same, by what it is bound to */
    struct span span;     /* what the message points to */
    struct span head;     /* of the function */
    size_t place, count;  /* of the arguments */
    const struct core *left, *argument;
    struct type *rest;  /* what is still to be applied: the argument is its first */
    struct type *whole; /* the function's type */
};
struct diagnostic *report_argument(struct checker *c, const struct application *use, struct type *found,
                                   struct type *expected);
void note_definition(struct checker *c, struct diagnostic *d, const struct core *head);

/* ---- hints.c: what was probably meant ---- */
/* A parameter is a tuple and should not be. `rest`: what the function is to take after it, or NULL. */
void hint_tuple_parameter(struct checker *c, struct diagnostic *d, const struct ast_pattern *pattern,
                          struct type *rest);
bool hint_many_parameters(struct checker *c, struct diagnostic *d, const struct application *use);
/* `use` NULL: no application. */
void hint_types(struct checker *c, struct diagnostic *d, struct type *found, struct type *expected,
                const struct application *use);
void hint_operands(struct checker *c, struct diagnostic *d, const struct application *use, struct type *found,
                   struct type *expected);
void hint_class(struct checker *c, struct diagnostic *d, const struct application *use);
void hint_not_a_function(struct checker *c, struct diagnostic *d, struct type *type, const struct core *head,
                         const struct ast_expr *argument);
/* A level was given to what takes none. */
void hint_no_level(struct checker *c, struct diagnostic *d, const struct core *head, struct level *level);
void hint_too_many(struct checker *c, struct diagnostic *d, const struct core *head);
/* The number of which more is not known, in arrays too, that asked for a class; NULL: nothing here did. */
const struct type_variable *class_asker(struct type *type);
void note_class(struct checker *c, struct diagnostic *d, struct type *type);       /* what asked for its class */
void note_local(struct checker *c, struct diagnostic *d, const struct core *core); /* what gave a local its type */

/* ---- kernel.c, param.c ---- */
/* `ambient`: what the kernel's body runs at. */
void check_kernel(struct checker *c, struct core_global *global, const struct ast_decl *decl, struct level *ambient);
void check_param(struct checker *c, struct core_global *global, const struct ast_decl *decl);
void check_launch(struct checker *c, struct core_global *kernel, const struct ast_decl *decl); /* its `with` */

#endif
