/* Constructors of the tree, called from the grammar's actions, and the state of one parse. Constructors keep
   `depth`, and replace what nests deeper than AST_MAX_DEPTH by an error node. */
#ifndef FCL_SYNTAX_AST_BUILD_H
#define FCL_SYNTAX_AST_BUILD_H

#include "support/diag.h"
#include "syntax/ast.h"
#include "syntax/lexer.h"

struct parser {
    struct arena *arena;
    struct symbols *symbols;
    const struct source *source;
    struct diagnostics *diagnostics;
    struct tokens tokens;
    size_t next;           /* the token that the parser reads next */
    bool nesting_reported; /* in this declaration */
    struct ast_file *file;
};

/* Two vectors of the same element type in different structs have different C types; this shares the storage. */
#define SHARE_VEC(to, from)                                                                                            \
    do {                                                                                                               \
        (to)->at = (from)->at;                                                                                         \
        (to)->count = (from)->count;                                                                                   \
        (to)->capacity = (from)->capacity;                                                                             \
    } while (0)

struct decl_list {
    VEC(struct ast_decl *) all;
};
struct expr_list {
    VEC(struct ast_expr *) all;
};
struct type_list {
    VEC(struct ast_type *) all;
};
struct pattern_list {
    VEC(struct ast_pattern *) all;
};
struct level_list {
    ast_levels all;
};
struct symbol_list {
    VEC(symbol) all;
};
struct binder_list {
    VEC(struct ast_level_binder) all;
};
struct binding_list {
    VEC(struct ast_binding) all;
};
struct constructor_list {
    VEC(struct ast_constructor) all;
};
struct field_types { /* `pos : t, mass : float`, and the same of patterns and values */
    VEC(struct ast_name) names;
    VEC(struct ast_type *) items;
};
struct field_patterns {
    VEC(struct ast_name) names;
    VEC(struct ast_pattern *) items;
};
struct field_values {
    VEC(struct ast_name) names;
    VEC(struct ast_expr *) items;
};
/* One more, the list itself NULL for the first. */
#define ADD_FIELD(p, list, token, item)                                                                                \
    do {                                                                                                               \
        vec_push((p)->arena, &(list)->names, ((struct ast_name){(token)->name, (token)->span}));                       \
        vec_push((p)->arena, &(list)->items, item);                                                                    \
    } while (0)
struct constraint_list {
    VEC(struct ast_constraint) all;
};

struct ast_expr *build_name(struct parser *p, const struct token *token);
struct ast_expr *build_literal(struct parser *p, const struct token *token); /* numbers, booleans, configuration */
struct ast_expr *build_text(struct parser *p, const struct token *token);    /* a list of its bytes */
struct ast_expr *build_error(struct parser *p, struct span span);
struct ast_expr *build_apply(struct parser *p, struct span span, struct ast_expr *function, struct ast_expr *argument);
struct ast_expr *build_level_apply(struct parser *p, struct span span, struct ast_expr *function,
                                   struct level_list *levels);
/* Operators other than && and ||; `left` begins where `span` does. */
struct ast_expr *build_infix(struct parser *p, struct span span, struct ast_expr *left, struct span operator_span,
                             const char *name, struct ast_expr *right);
struct ast_expr *build_prefix(struct parser *p, struct span span, struct span operator_span, const char *name,
                              struct ast_expr *operand);
struct ast_expr *build_negation(struct parser *p, struct span span, struct span operator_span,
                                struct ast_expr *operand);
struct ast_expr *build_logical(struct parser *p, struct span span, const char *name, struct ast_expr *left,
                               struct ast_expr *right);
/* `(op)`: the operator as a function; && and || become lambdas. */
struct ast_expr *build_section(struct parser *p, struct span span, const char *name);
struct ast_expr *build_applied_section(struct parser *p, struct span span, struct span operator_span, const char *name,
                                       struct ast_expr *operand);
struct ast_expr *build_lambda(struct parser *p, struct span span, struct binder_list *levels,
                              struct pattern_list *parameters, struct ast_expr *body);
struct ast_expr *build_let(struct parser *p, struct span span, struct binding_list *bindings, struct ast_expr *body);
struct ast_expr *build_if(struct parser *p, struct span span, struct ast_expr *condition, struct ast_expr *then_branch,
                          struct ast_expr *else_branch);
struct ast_expr *build_sequence(struct parser *p, struct span span, enum ast_expr_kind kind, struct expr_list *items);
/* `of`: what it is made from by `with`, or NULL. */
struct ast_expr *build_record(struct parser *p, struct span span, struct ast_expr *of, struct field_values *fields);
struct ast_expr *build_field(struct parser *p, struct span span, struct ast_expr *of, const struct token *name);
struct ast_expr *build_match(struct parser *p, struct span span, struct ast_expr *of, struct binding_list *arms);
struct ast_expr *build_typed(struct parser *p, struct span span, struct ast_expr *body, struct ast_type *type);

struct ast_pattern *build_pattern_name(struct parser *p, const struct token *token);
struct ast_pattern *build_wildcard(struct parser *p, struct span span);
struct ast_pattern *build_pattern_error(struct parser *p, struct span span);
struct ast_pattern *build_pattern_tuple(struct parser *p, struct span span, struct pattern_list *items);
struct ast_pattern *build_pattern_record(struct parser *p, struct span span, struct field_patterns *fields);
struct ast_pattern *build_pattern_literal(struct parser *p, struct span span, struct ast_expr *literal);
struct ast_pattern *build_pattern_constructor(struct parser *p, struct span span, const struct token *name,
                                              struct ast_pattern *of);
struct ast_pattern *build_pattern_or(struct parser *p, struct span span, struct ast_pattern *left,
                                     struct ast_pattern *right);
struct ast_pattern *build_pattern_typed(struct parser *p, struct span span, struct ast_pattern *of,
                                        struct ast_type *type);

struct ast_level *build_level_name(struct parser *p, const struct token *token);
struct ast_level *build_level_successor(struct parser *p, struct span span, const struct token *count,
                                        struct ast_level *of);

struct ast_type *build_type_variable(struct parser *p, const struct token *token);
struct ast_type *build_type_name(struct parser *p, const struct token *token);
struct ast_type *build_type_error(struct parser *p, struct span span); /* reported already: takes anything */
struct ast_type *build_type_argument(struct parser *p, struct span span, struct ast_type *applied,
                                     struct ast_type *argument);
struct ast_type *build_type_tuple(struct parser *p, struct span span, struct type_list *items);
struct ast_type *build_type_record(struct parser *p, struct span span, struct field_types *fields);
struct ast_type *build_type_arrow(struct parser *p, struct span span, struct ast_type *from, struct ast_type *to);
struct ast_type *build_type_level_arrow(struct parser *p, struct span span, struct binder_list *levels,
                                        struct ast_type *to);
struct ast_type *build_type_array(struct parser *p, struct span span, struct ast_type *element,
                                  struct ast_level *level); /* NULL: a pull array */
/* A constraint of a sig: two names with `stored` and `as` between them. */
struct ast_constraint build_stored(struct parser *p, struct span span, const struct token *pushed,
                                   const struct token *first, const struct token *second, const struct token *stored);
/* `before` are the types in front of `=>`, which must be class constraints; NULL when there is no `=>`. */
struct ast_signature_type *build_signature(struct parser *p, struct span span, struct symbol_list *binders,
                                           struct type_list *before, struct ast_type *type,
                                           struct constraint_list *where);

struct ast_decl *build_decl(struct parser *p, enum ast_decl_kind kind, struct span span, const struct token *name);
struct ast_decl *build_data(struct parser *p, struct span span, const struct token *name,
                            struct symbol_list *parameters, struct constructor_list *constructors);
struct ast_decl *build_function(struct parser *p, enum ast_decl_kind kind, struct span span, const struct token *name,
                                struct binder_list *levels, struct pattern_list *parameters, struct ast_expr *body);
/* A `param`, or what a kernel's `with` says of its launches. `choices`: NULL where there are none. */
struct ast_decl *build_param(struct parser *p, struct span span, const struct token *name, struct ast_expr *value,
                             struct expr_list *choices);
struct ast_decl *build_broken(struct parser *p, struct span span, const struct token *name);
struct ast_decl *build_broken_type(struct parser *p, struct span span, const struct token *name);

/* Reports that `()` stands where a value should. */
void report_unit(struct parser *p, struct span span);

#endif
