/* Types, levels and schemes. Levels and ambients are terms of one sort with a finite domain. */
#ifndef FCL_TYPES_TYPE_H
#define FCL_TYPES_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/arena.h"
#include "support/source.h"
#include "support/symbol.h"
#include "support/text.h"
#include "support/vec.h"
#include "types/base.h"

/* ---- levels ---- */

/* PURE is an ambient only (LANGUAGE §5); a proper level is THREAD … GRID. */
enum level_value { LEVEL_PURE, LEVEL_THREAD, LEVEL_WARP, LEVEL_BLOCK, LEVEL_GRID, LEVEL_VALUE_COUNT };
extern const char *const level_names[LEVEL_VALUE_COUNT];

/* A level variable: ranges over the values of `domain` (bit v set: value v possible). */
struct level_variable {
    uint32_t id;
    uint8_t domain;
    bool rigid;         /* from a binder <l> or a sig: may be constrained, never bound */
    uint32_t depth;     /* let depth, for generalisation */
    symbol name;        /* as the user wrote it, or NULL */
    struct span span;   /* where it was born, for messages */
    struct level *link; /* bound to, or NULL */
    /* The checker's own: */
    const struct level_constraint *cause;   /* what bound it or last narrowed its domain; NULL: unification */
    struct level *stand_in;                 /* during instantiation */
    struct watcher *watched, *watched_last; /* during propagation: who mentions it */
    uint8_t mark;                           /* during generalisation */
};
/* The depth of a variable that a scheme quantifies. */
#define DEPTH_QUANTIFIED UINT32_MAX

/* value, or variable + offset (offset successors) when variable is not NULL. */
struct level {
    struct level_variable *variable;
    int offset;
    enum level_value value;
};
struct level *level_resolve(struct level *level); /* follows links: a constant, or an unbound variable + offset */

struct callee; /* in checker.h */

enum level_constraint_kind {
    LEVEL_BELOW, /* a < b, both proper levels */
    LEVEL_FITS,  /* ambient a fits b: a is pure, or a == b */
};
struct level_constraint {
    enum level_constraint_kind kind;
    struct level *a, *b;
    struct span span;            /* the expression that asks for it */
    const struct callee *reason; /* for the message: what at `span` needs it; NULL: it has no name */
};
typedef VEC(struct level_constraint) level_constraints;

/* ---- types ---- */

/* Each contains the next: SCALAR ⊂ BT ⊂ GT ⊂ TYP. SCALAR, the base types, is not in the paper: BT has tuples, too. */
enum kind { KIND_TYP, KIND_GT, KIND_BT, KIND_SCALAR };

/* Refinements of BT, as a set of bits; each has its members in type.c. CLASS_EQ and ORD: every base type and tuples
   of them; NUM: integers and floating; INTEGRAL; FLOATING. */
enum { CLASS_EQ = 1, CLASS_ORD = 2, CLASS_NUM = 4, CLASS_INTEGRAL = 8, CLASS_FLOATING = 16 };

struct type_variable {
    uint32_t id;
    enum kind kind;
    unsigned classes; /* CLASS_ bits */
    bool rigid;       /* from a sig, or quantified in a scheme */
    uint32_t depth;
    symbol name;           /* from the user's sig, or NULL */
    struct span span;      /* where it was born; of a number's, the literal or operation that made it one */
    struct type *link;     /* bound to, or NULL */
    struct span decided;   /* the expression that bound it */
    struct type *stand_in; /* the checker's own, during instantiation */
};

/* note [records]
   A record is the tuple of its fields, in their order, with a name: two of such types are one only where `record` is
   the same. So inference, the core and all that comes after it have tuples, and who prints or names what is in them
   looks at `record`. A record of arrays that is to be stored has push arrays in their place, as tuples have. */
/* note [alternatives]
   A value of alternatives is a tuple with a name, too: the tag, a `u8` that says which constructor made it, and slots
   for what constructors are applied to. Each scalar of that has a slot, those of one type in different constructors
   the same one; slots rise with the order of a constructor's scalars. The slots that a constructor does not use are
   zero, so that equal values are equal tuples. */
struct constructor {
    symbol name;
    struct span span;
    struct type *of; /* as declared, with the record's parameters; NULL: it stands alone */
    size_t *slots;   /* of its scalars, and values of parameters, in their order: components of the tuple */
    size_t slot_count;
};
struct record {
    symbol name;
    struct span span;
    size_t count;
    const symbol *fields;
    const struct span *field_spans;
    struct type *declared; /* with variables for its parameters: */
    struct type **parameters;
    size_t parameter_count;
    const struct synonym *synonym;          /* the checker's own */
    const struct constructor *constructors; /* of alternatives, which have no fields */
    size_t constructor_count;
};
enum type_kind {
    TYPE_VARIABLE,    /* variable */
    TYPE_BASE,        /* base */
    TYPE_TUPLE,       /* items; record: what it is called and its fields are, or NULL, and then two items or more */
    TYPE_ARROW,       /* from, to; ambient: what calling it needs */
    TYPE_LEVEL_ARROW, /* level, to: takes an explicit level argument, which is `level` itself */
    TYPE_PULL,        /* element; ambient: what computing an element needs */
    TYPE_PUSH,        /* element, level */
    TYPE_STORED,      /* of, level: what is stored at that level as `of`; see note [stored types] */
    TYPE_ERROR,       /* unifies with anything, silently */
};
/* A graph: what stands for a variable is shared by all its places, so a type of n nodes may be one of 2^n written out.
   Whoever goes through one looks at each node once. */
struct type {
    enum type_kind kind;
    bool is_settled;   /* the checker's own: no bound variable is left in it */
    uint32_t seen[2];  /* the checker's own: the last walks that came here; checker.h, note [walks] */
    struct type *copy; /* the checker's own: what that walk made of it */
    union {
        struct type_variable *variable;
        enum base base;
        struct {
            struct type **items;
            size_t count;
            const struct record *record;
        } tuple;
        struct {
            struct type *from, *to;
            struct level *ambient;
        } arrow;
        struct {
            struct level *level;
            struct type *to;
        } level_arrow;
        struct {
            struct type *element;
            struct level *level; /* PULL: the ambient of its elements; PUSH: its level */
        } array;
        struct {
            struct type *of;
            struct level *level; /* pure where no array is in it */
            struct type *is;     /* what it is, once `of` is known */
            struct arena *arena;
        } stored;
    };
};
/* note [stored types]
   `force`, `while` and `power` store a push array, a scalar, or a tuple of these, and give the same
   with pull arrays: one says the other. So the first is a function of the
   second: TYPE_STORED of `[t]` at level l is `[t]<l>`, of a scalar the scalar, of a tuple a tuple
   of such. `type_resolve` replaces it as soon as so much is known, so that it stands only before a
   variable. In a type that is shown, `a` stored as `b` are two variables and a constraint. */
struct type *type_stored(struct arena *arena, struct type *of, struct level *level);
struct type *type_resolve(struct type *type); /* follows links at the root, and says what is stored there */
/* The places of the types that it is made of, one after another, and of the level or ambient beside
   them; NULL: there is none, or no more. */
/* The name of scalar (or array of scalars) number `component` in a value called `name`: the name, the fields of the
   records on the way, and behind it the index unless that is 0. The second function names the array that begins
   there. */
const char *type_component_name(struct arena *arena, struct type *type, const char *name, size_t component);
const char *type_array_name(struct arena *arena, struct type *type, const char *name, size_t component);
/* `name_mass`, or `name_1` where the tuple has no names. */
const char *type_item_name(struct arena *arena, const struct type *tuple, const char *name, size_t i);
/* The type that stands for a record's parameter of that index; NULL: no field has it. */
struct type *type_record_argument(struct type *type, size_t parameter);
struct type **type_part(struct type *type, size_t i);
struct level **type_level(struct type *type);
bool type_is_of_scalars(struct type *type); /* one, or a tuple of such */
size_t type_leaf_count(struct type *type);  /* what it consists of that is no tuple */
/* The most scalars that an element, a loop's state, a parameter or a result may have: each is a buffer, a value or an
   argument of its own, and CUDA's kernels take 4 KiB of these, or 32. */
enum { TYPE_MOST_SCALARS = 4096 };
enum { TYPE_MOST_DIMENSIONS = 8 }; /* of what a kernel takes and gives */
/* The t of `<l> -> t`, which has its levels: the core has no node for them, so `fun f <l> = 3` is
   a literal of such a type. */
struct type *type_without_levels(struct type *type);

/* forall type_variables level_variables. constraints => type. Quantified variables are rigid;
   instantiation replaces them. Ambients are quantified among the level variables, after the `levels` that
   matter at run time. */
struct scheme {
    struct type_variable **type_variables;
    size_t type_count;
    struct level_variable **level_variables;
    size_t level_count;
    size_t proper_count; /* of the level variables, those that matter at run time; they come first */
    level_constraints constraints;
    struct type *type;
};

/* Prints as `fclc types` does: type variables a, b, … and level variables l, m, … in order of appearance (or the
   user's names when use_names), `num a, ord b => ` before, `  where l < m` after; ambients never. */
void scheme_print(struct text *out, const struct scheme *scheme, bool use_names);
const char *scheme_spelling(struct arena *arena, const struct scheme *scheme); /* the same, without names */
void type_print(struct text *out,
                struct type *type); /* with unresolved variables as _, numbers among them as `int` or `double` */
const char *type_spelling(struct arena *arena, struct type *type); /* the same */
void type_print_shape(struct text *out, struct type *type);        /* the same with these as _, too */
void level_print(struct text *out, struct level *level);

/* ---- ground types at run time ----
   The evaluators (interpreter, elaborator) meet types with quantified variables and carry what these stand for. */
struct instance {
    const struct scheme *scheme;
    struct type **types;            /* for scheme->type_variables; ground */
    const enum level_value *levels; /* for scheme->level_variables */
    const struct instance *parent;
};
/* Substitutes; shares what has no variables. */
struct type *type_instantiate(struct arena *arena, const struct instance *instance, struct type *type);
enum level_value level_instantiate(const struct instance *instance, struct level *level);

#endif
