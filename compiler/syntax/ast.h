/* The syntax tree: what the programmer wrote, with a span on every node, and nothing about types. */
#ifndef FCL_SYNTAX_AST_H
#define FCL_SYNTAX_AST_H

#include <stdbool.h>
#include <stdint.h>

#include "support/floating.h"
#include "support/source.h"
#include "support/symbol.h"
#include "support/vec.h"

/* Deeper nesting is diagnosed by the parser, so that every later recursion is safe. */
enum { AST_MAX_DEPTH = 10000 };

/* ---- levels and types as written ---- */

enum ast_level_kind {
    AST_LEVEL_NAME,      /* name; thread warp block grid and Z are names too */
    AST_LEVEL_SUCCESSOR, /* 1 + of */
};
struct ast_level {
    enum ast_level_kind kind;
    uint32_t depth; /* 1 + deepest child */
    struct span span;
    symbol name;
    struct ast_level *of;
};
typedef VEC(struct ast_level *) ast_levels;

struct ast_name {
    symbol name;
    struct span span;
};

enum ast_type_kind {
    AST_TYPE_VARIABLE,    /* name without the quote: written 'a (a bare `a` is an AST_TYPE_NAME to the parser) */
    AST_TYPE_NAME,        /* name, arguments: a base type, a synonym applied, or else, without arguments, a
                             variable (resolved by the checker) */
    AST_TYPE_TUPLE,       /* items, two or more */
    AST_TYPE_ARROW,       /* from, to */
    AST_TYPE_LEVEL_ARROW, /* level (a name), to:  <l> -> t */
    AST_TYPE_PULL,        /* element */
    AST_TYPE_PUSH,        /* element, level */
    AST_TYPE_RECORD,      /* fields, and items: their types; only of a whole `type` */
    AST_TYPE_ERROR,       /* where an error was reported: stands for any type */
};
struct ast_type {
    enum ast_type_kind kind;
    uint32_t depth; /* 1 + deepest child */
    struct span span;
    symbol name;
    struct ast_type *from, *to, *element;
    struct ast_level *level;
    VEC(struct ast_type *) items; /* tuple components, types of fields, or arguments of a synonym */
    VEC(struct ast_name) fields;
};

/* `num a, ord b =>` before a type, and `where l < m` after it. */
struct ast_class_constraint {
    struct span span;
    symbol class_name, variable;
};
struct ast_constraint { /* of levels, or of what is stored */
    struct span span;
    struct ast_level *below, *above; /* below < above */
    symbol pushed, stored;           /* `p stored as s`; else NULL */
};
struct ast_signature_type {
    struct span span;
    VEC(symbol) binders; /* forall <l> a b.  (levels and types alike; may be empty) */
    VEC(struct ast_class_constraint) classes;
    struct ast_type *type;
    VEC(struct ast_constraint) constraints;
};

/* ---- patterns ---- */

enum ast_pattern_kind {
    AST_PATTERN_NAME,        /* name */
    AST_PATTERN_WILDCARD,    /* _ */
    AST_PATTERN_TUPLE,       /* items */
    AST_PATTERN_RECORD,      /* fields, and items: their patterns */
    AST_PATTERN_TYPED,       /* of, type */
    AST_PATTERN_LITERAL,     /* literal */
    AST_PATTERN_CONSTRUCTOR, /* name, of: what it is applied to; without that it is an AST_PATTERN_NAME */
    AST_PATTERN_OR,          /* items */
    AST_PATTERN_ERROR,       /* where an error was reported: binds nothing, takes anything */
};
struct ast_pattern {
    enum ast_pattern_kind kind;
    uint32_t depth; /* 1 + deepest child */
    struct span span;
    symbol name;
    VEC(struct ast_pattern *) items;
    VEC(struct ast_name) fields;
    struct ast_pattern *of;
    struct ast_type *type;
    struct ast_expr *literal; /* a number, with its minus, or a bool */
};

/* ---- expressions ---- */

/* A literal's suffix: 0 none, else the base type's name as in `i8 … u64 f32 f64`. */
enum ast_expr_kind {
    EXPR_NAME,        /* name; operators are names too: + == ! . |> and the unary ones neg ~ not */
    EXPR_INTEGER,     /* integer (magnitude), too_large, is_negated, suffix */
    EXPR_FLOATING,    /* floating, suffix */
    EXPR_BOOL,        /* boolean */
    EXPR_CONFIG,      /* name: #BlockSize … */
    EXPR_APPLY,       /* function, argument; infix use: is_operator set, span covers the whole */
    EXPR_LEVEL_APPLY, /* function, levels: e <l, m> */
    EXPR_LAMBDA,      /* level_binders, then patterns; body.   One of the two lists is not empty */
    EXPR_LET,         /* bindings (one or more), body */
    EXPR_IF,          /* condition, then_branch, else_branch; && and || are this too (see logical) */
    EXPR_TUPLE,       /* items, two or more; () is a syntax error with a hint */
    EXPR_LIST,        /* items */
    EXPR_RECORD,      /* { fields = items }, or with `of`: { of with fields = items } */
    EXPR_FIELD,       /* of.name */
    EXPR_MATCH,       /* of, arms */
    EXPR_TYPED,       /* (body : type) */
    EXPR_ERROR,       /* where the parser recovered: checks as anything, silently */
};

struct ast_level_binder {
    symbol name;
    struct span span;
};

struct ast_binding {
    struct ast_pattern *pattern;
    struct ast_expr *value;
};

struct ast_expr {
    enum ast_expr_kind kind;
    uint32_t depth; /* 1 + deepest child */
    struct span span;
    union {
        struct {
            symbol name;
        } name; /* EXPR_NAME, EXPR_CONFIG */
        struct {
            uint64_t value;
            bool too_large;  /* does not fit 64 bits: the checker says so */
            bool is_negated; /* a minus stands before it, as in `-1` but not in `-(1)`: it is the argument of that */
            symbol suffix;   /* NULL: none */
        } integer;
        struct {
            struct floating value;
            symbol suffix;
        } floating;
        bool boolean;
        struct {
            struct ast_expr *function, *argument;
            bool is_operator; /* written infix or prefix with an operator */
        } apply;
        struct {
            struct ast_expr *function;
            ast_levels levels;
        } level_apply;
        struct {
            VEC(struct ast_level_binder) levels;
            VEC(struct ast_pattern *) parameters;
            struct ast_expr *body;
        } lambda;
        struct {
            VEC(struct ast_binding) bindings; /* each sees those before it */
            struct ast_expr *body;
        } let;
        struct {
            struct ast_expr *condition, *then_branch, *else_branch;
            symbol logical; /* "&&" or "||" when written so: a && b is `if a then b else false` */
        } conditional;
        struct {
            VEC(struct ast_expr *) items;
        } sequence; /* EXPR_TUPLE, EXPR_LIST */
        struct {
            struct ast_expr *of; /* NULL: a new one */
            VEC(struct ast_name) fields;
            VEC(struct ast_expr *) items;
        } record;
        struct {
            struct ast_expr *of;
            struct ast_name name;
        } field;
        struct {
            struct ast_expr *of;
            VEC(struct ast_binding) arms; /* a pattern, and what is taken where it is the first that matches */
        } match;
        struct {
            struct ast_expr *body;
            struct ast_type *type;
        } typed;
    };
};

/* ---- declarations ---- */

enum ast_decl_kind {
    DECL_SIG,    /* name, signature */
    DECL_FUN,    /* name, levels, parameters, body: `fun f <l> p = e` */
    DECL_VAL,    /* name, body */
    DECL_KERNEL, /* name, levels (an error in the checker when not empty), parameters, launch,
                    body */
    DECL_DATA,   /* name, type_parameters, constructors */
    DECL_TYPE,   /* name, type_parameters, type */
    DECL_PARAM,  /* name, type, body (default), choices */
    DECL_IMPORT, /* path */
};
struct ast_constructor {
    symbol name;
    struct span span;
    struct ast_type *of; /* NULL: it stands alone */
};
struct ast_decl {
    enum ast_decl_kind kind;
    struct span span;      /* the whole declaration */
    struct span name_span; /* the name (or the path of an import) */
    symbol name;
    struct ast_signature_type *signature;
    VEC(struct ast_level_binder) levels;
    VEC(struct ast_pattern *) parameters;
    struct ast_expr *body;
    VEC(symbol) type_parameters;
    VEC(struct ast_constructor) constructors;
    struct ast_type *type;
    VEC(struct ast_expr *) choices; /* `in {…}` of a param */
    /* KERNEL: `with #BlockSize = …`, each as a PARAM of that name without a type; a word of leaves.def has no body */
    VEC(struct ast_decl *) launch;
    const char *path; /* DECL_IMPORT */
};

struct ast_file {
    const struct source *source;
    VEC(struct ast_decl *) decls; /* in source order */
    spans comments;               /* block comments, in source order */
};

#endif
