/* The grammar (LANGUAGE: declarations, expressions, types). Actions build nodes and nothing else. Errors are
   worded in report.c; recovery is at the start of the next declaration only, because anything nearer swallows
   later errors. */
%define api.pure full
%define api.token.prefix {TOKEN_}
%define api.location.type {struct span}
%define parse.error custom
%define parse.lac full
%locations
%expect 0
%param {struct parser *p}

%code requires {
#include "syntax/ast_build.h"
}

%code {
#include "syntax/wording/report.h"

/* Stacks grow on the heap; see `note [parser depth]` in report.c. */
#define YYMAXDEPTH 400000

#define YYLLOC_DEFAULT(current, rhs, n)                                                                           \
    do {                                                                                                          \
        (current).begin = (n) ? YYRHSLOC(rhs, 1).begin : YYRHSLOC(rhs, 0).end;                                    \
        (current).end = (n) ? YYRHSLOC(rhs, n).end : YYRHSLOC(rhs, 0).end;                                        \
    } while (0)

static int yylex(YYSTYPE *value, YYLTYPE *location, struct parser *p) {
    const struct token *token = &p->tokens.at[p->next];
    if (token->kind != 0)
        p->next++;
    value->token = token;
    *location = token->span;
    return token->kind;
}

/* Only for an exhausted stack: syntax errors go to yyreport_syntax_error. */
static void yyerror(const YYLTYPE *location, struct parser *p, const char *message) {
    (void)message;
    report_stack_exhausted(p, *location);
}
}

%union {
    const struct token *token;
    const char *operator;
    struct ast_expr *expr;
    struct ast_type *type;
    struct ast_level *level;
    struct ast_pattern *pattern;
    struct ast_decl *decl;
    struct ast_signature_type *signature;
    struct decl_list *decls;
    struct expr_list *exprs;
    struct type_list *types;
    struct pattern_list *patterns;
    struct level_list *levels;
    struct symbol_list *symbols;
    struct binder_list *binders;
    struct constructor_list *constructors;
    struct ast_constructor constructor;
    struct field_types *field_types;
    struct field_patterns *field_patterns;
    struct field_values *field_values;
    struct binding_list *bindings;
    struct ast_binding binding;
    struct constraint_list *constraints;
    struct ast_constraint constraint;
}

%token SIG FUN VAL KERNEL PARAM TYPE DATA IMPORT MATCH LET IN FN IF THEN ELSE
%token FORALL WHERE WITH BINDING FIELD_POINT LEVEL_OPEN LEVEL_CLOSE ARROW DOUBLE_ARROW
%token <token> NAME TYPE_VARIABLE LEAVE CONFIG INTEGER FLOATING TRUE FALSE STRING BAD_LITERAL

/* Loosest first. BLOCK makes `fn`, `let` and `if` extend as far to the right as they can. */
%precedence BLOCK
%precedence BAR
%left PIPE
%left OR
%left AND
%nonassoc EQUAL NOT_EQUAL '<' LESS_EQUAL '>' GREATER_EQUAL
%left '|'
%left '^'
%left '&'
%left SHIFT_LEFT SHIFT_RIGHT
%left '+' '-'
%left '*' '/' '%' DIV MOD
%precedence UNARY NOT '~'
%right '.'
%left '!'

%type <token> name fun_name val_name kernel_name param_name
%type <decl> declaration setting
%type <decls> launch settings
%type <signature> signature
%type <symbols> quantifier quantified type_parameters
%type <constraints> where constraints
%type <constraint> constraint
%type <type> type type_operand type_applied type_atom
%type <types> types
%type <level> level
%type <levels> levels
%type <binders> level_binders level_groups level_names
%type <pattern> pattern full_pattern applied_pattern literal_pattern arm_pattern
%type <constructors> constructors
%type <constructor> constructor
%type <bindings> arms
%type <binding> arm
%type <patterns> parameters some_parameters patterns
%type <expr> expr block applied atom
%type <exprs> exprs choices
%type <field_types> field_types
%type <field_patterns> field_patterns
%type <field_values> field_values
%type <bindings> bindings
%type <binding> binding
%type <operator> section_operator

%%

file: declarations;

declarations:
    %empty
  | declarations declaration { vec_push(p->arena, &p->file->decls, $2); p->nesting_reported = false; }
  | declarations error
  ;

/* A definition whose rest could not be read still defines its name, so that uses of it are no errors. Errors
   are reported again from the first name of a declaration on. */
declaration:
    sig_word name ':' signature { $$ = build_decl(p, DECL_SIG, @$, $2); $$->signature = $4; }
  | fun_name level_binders parameters '=' expr { $$ = build_function(p, DECL_FUN, @$, $1, $2, $3, $5); }
  | fun_name error { $$ = build_broken(p, @1, $1); }
  | kernel_name level_binders parameters launch '=' expr {
        $$ = build_function(p, DECL_KERNEL, @$, $1, $2, $3, $6);
        if ($4)
            SHARE_VEC(&$$->launch, &$4->all);
    }
  | kernel_name error { $$ = build_broken(p, @1, $1); }
  | val_name '=' expr { $$ = build_function(p, DECL_VAL, @$, $1, NULL, NULL, $3); }
  | val_name error { $$ = build_broken(p, @1, $1); }
  | type_word name type_parameters '=' type {
        $$ = build_decl(p, DECL_TYPE, @$, $2);
        $$->type = $5;
        if ($3)
            SHARE_VEC(&$$->type_parameters, &$3->all);
    }
  | type_word name type_parameters '=' '{' field_types '}' {
        $$ = build_decl(p, DECL_TYPE, @$, $2);
        $$->type = build_type_record(p, span_join(@5, @7), $6);
        if ($3)
            SHARE_VEC(&$$->type_parameters, &$3->all);
    }
  | data_word name type_parameters '=' constructors { $$ = build_data(p, @$, $2, $3, $5); }
  | data_word name error { $$ = build_broken_type(p, @1, $2); }
  | type_word name error { $$ = build_broken_type(p, @1, $2); }
  | param_name ':' type '=' expr choices {
        $$ = build_param(p, @$, $1, $5, $6);
        $$->type = $3;
    }
  | param_name error { $$ = build_broken(p, @1, $1); }
  | import_word STRING { $$ = build_decl(p, DECL_IMPORT, @$, $2); $$->path = $2->name ? $2->name->text : NULL; }
  ;

sig_word: SIG { yyerrok; };
type_word: TYPE { yyerrok; };
data_word: DATA { yyerrok; };
import_word: IMPORT { yyerrok; };
fun_word: FUN { yyerrok; };
val_word: VAL { yyerrok; };
kernel_word: KERNEL { yyerrok; };
param_word: PARAM { yyerrok; };
fun_name: fun_word name { $$ = $2; };
val_name: val_word name { $$ = $2; };
kernel_name: kernel_word name { $$ = $2; };
param_name: param_word name { $$ = $2; };
name: NAME;

launch: %empty { $$ = NULL; } | WITH settings { $$ = $2; };

settings:
    setting { $$ = ARENA_NEW(p->arena, struct decl_list); vec_push(p->arena, &$$->all, $1); }
  | settings ',' setting { $$ = $1; vec_push(p->arena, &$$->all, $3); }
  ;

setting:
    CONFIG '=' expr choices { $$ = build_param(p, @$, $1, $3, $4); }
  | LEAVE { $$ = build_decl(p, DECL_PARAM, @$, $1); }
  ;

choices:
    %empty { $$ = NULL; }
  | IN '{' exprs '}' { $$ = $3; }
  ;

/* ---- signatures, types, levels ---- */

signature:
    quantifier type where { $$ = build_signature(p, @$, $1, NULL, $2, $3); }
  | quantifier types DOUBLE_ARROW type where { $$ = build_signature(p, @$, $1, $2, $4, $5); }
  ;

quantifier:
    %empty { $$ = NULL; }
  | FORALL quantified '.' { $$ = $2; }
  ;

quantified:
    %empty { $$ = ARENA_NEW(p->arena, struct symbol_list); }
  | quantified '.' FORALL { $$ = $1; }
  | quantified NAME { $$ = $1; vec_push(p->arena, &$$->all, $2->name); }
  | quantified TYPE_VARIABLE { $$ = $1; vec_push(p->arena, &$$->all, $2->name); }
  | quantified LEVEL_OPEN level_names LEVEL_CLOSE {
        $$ = $1;
        for (size_t i = 0; i < $3->all.count; i++)
            vec_push(p->arena, &$$->all, $3->all.at[i].name);
    }
  ;

where:
    %empty { $$ = NULL; }
  | WHERE constraints { $$ = $2; }
  ;

constraints:
    constraint {
        $$ = ARENA_NEW(p->arena, struct constraint_list);
        vec_push(p->arena, &$$->all, $1);
    }
  | constraints ',' constraint { $$ = $1; vec_push(p->arena, &$$->all, $3); }
  ;

constraint:
    level '<' level { $$ = (struct ast_constraint){.span = @$, .below = $1, .above = $3}; }
  | NAME NAME NAME NAME { $$ = build_stored(p, @$, $1, $2, $3, $4); }
  ;

types:
    type { $$ = ARENA_NEW(p->arena, struct type_list); vec_push(p->arena, &$$->all, $1); }
  | types ',' type { $$ = $1; vec_push(p->arena, &$$->all, $3); }
  ;

type:
    type_operand
  | type_operand ARROW type { $$ = build_type_arrow(p, @$, $1, $3); }
  | LEVEL_OPEN level_names LEVEL_CLOSE ARROW type { $$ = build_type_level_arrow(p, @$, $2, $5); }
  ;

type_operand: type_atom | type_applied;

type_applied:
    NAME type_atom { $$ = build_type_argument(p, @$, build_type_name(p, $1), $2); }
  | type_applied type_atom { $$ = build_type_argument(p, @$, $1, $2); }
  ;

type_atom:
    NAME { $$ = build_type_name(p, $1); }
  | TYPE_VARIABLE { $$ = build_type_variable(p, $1); }
  | '[' type ']' { $$ = build_type_array(p, @$, $2, NULL); }
  | '[' type ']' LEVEL_OPEN level LEVEL_CLOSE { $$ = build_type_array(p, @$, $2, $5); }
  | '(' type ')' { $$ = $2; }
  | '(' types ',' type ')' { vec_push(p->arena, &$2->all, $4); $$ = build_type_tuple(p, @$, $2); }
  | '(' ')' { report_unit(p, @$); $$ = build_type_error(p, @$); }
  ;

constructors:
    constructor { $$ = ARENA_NEW(p->arena, struct constructor_list); vec_push(p->arena, &$$->all, $1); }
  | constructors '|' constructor { $$ = $1; vec_push(p->arena, &$$->all, $3); }
  ;

constructor:
    NAME { $$ = (struct ast_constructor){$1->name, @1, NULL}; }
  | NAME type_atom { $$ = (struct ast_constructor){$1->name, @1, $2}; }
  ;

field_types:
    NAME ':' type { $$ = ARENA_NEW(p->arena, struct field_types); ADD_FIELD(p, $$, $1, $3); }
  | field_types ',' NAME ':' type { $$ = $1; ADD_FIELD(p, $$, $3, $5); }
  ;

type_parameters:
    %empty { $$ = NULL; }
  | type_parameters NAME {
        $$ = $1 ? $1 : ARENA_NEW(p->arena, struct symbol_list);
        vec_push(p->arena, &$$->all, $2->name);
    }
  | type_parameters TYPE_VARIABLE {
        $$ = $1 ? $1 : ARENA_NEW(p->arena, struct symbol_list);
        vec_push(p->arena, &$$->all, $2->name);
    }
  ;

level:
    NAME { $$ = build_level_name(p, $1); }
  | INTEGER '+' level { $$ = build_level_successor(p, @$, $1, $3); }
  | '(' level ')' { $$ = $2; }
  ;

levels:
    level { $$ = ARENA_NEW(p->arena, struct level_list); vec_push(p->arena, &$$->all, $1); }
  | levels ',' level { $$ = $1; vec_push(p->arena, &$$->all, $3); }
  ;

level_binders: %empty { $$ = NULL; } | level_groups;

/* `<l> <m>` binds what `<l, m>` does. */
level_groups:
    LEVEL_OPEN level_names LEVEL_CLOSE { $$ = $2; }
  | level_groups LEVEL_OPEN level_names LEVEL_CLOSE {
        $$ = $1;
        for (size_t i = 0; i < $3->all.count; i++)
            vec_push(p->arena, &$$->all, $3->all.at[i]);
    }
  ;

level_names:
    NAME {
        $$ = ARENA_NEW(p->arena, struct binder_list);
        vec_push(p->arena, &$$->all, (struct ast_level_binder){.name = $1->name, .span = @1});
    }
  | level_names ',' NAME {
        $$ = $1;
        vec_push(p->arena, &$$->all, (struct ast_level_binder){.name = $3->name, .span = @3});
    }
  ;

/* ---- patterns ---- */

parameters: %empty { $$ = NULL; } | some_parameters;

some_parameters:
    pattern { $$ = ARENA_NEW(p->arena, struct pattern_list); vec_push(p->arena, &$$->all, $1); }
  | some_parameters pattern { $$ = $1; vec_push(p->arena, &$$->all, $2); }
  ;

pattern:
    NAME { $$ = build_pattern_name(p, $1); }
  | '_' { $$ = build_wildcard(p, @$); }
  | '(' full_pattern ')' { $$ = $2; }
  | '(' patterns ',' full_pattern ')' { vec_push(p->arena, &$2->all, $4); $$ = build_pattern_tuple(p, @$, $2); }
  | '(' full_pattern ':' type ')' { $$ = build_pattern_typed(p, @$, $2, $4); }
  | '(' ')' { report_unit(p, @$); $$ = build_pattern_error(p, @$); }
  | '{' field_patterns '}' { $$ = build_pattern_record(p, @$, $2); }
  ;

/* `{ mass }` is `{ mass = mass }`. */
field_patterns:
    NAME { $$ = ARENA_NEW(p->arena, struct field_patterns); ADD_FIELD(p, $$, $1, build_pattern_name(p, $1)); }
  | NAME '=' full_pattern { $$ = ARENA_NEW(p->arena, struct field_patterns); ADD_FIELD(p, $$, $1, $3); }
  | field_patterns ',' NAME { $$ = $1; ADD_FIELD(p, $$, $3, build_pattern_name(p, $3)); }
  | field_patterns ',' NAME '=' full_pattern { $$ = $1; ADD_FIELD(p, $$, $3, $5); }
  ;

patterns:
    full_pattern { $$ = ARENA_NEW(p->arena, struct pattern_list); vec_push(p->arena, &$$->all, $1); }
  | patterns ',' full_pattern { $$ = $1; vec_push(p->arena, &$$->all, $3); }
  ;

/* In brackets, and in the arms of a `match`, which a mark divides. */
full_pattern:
    applied_pattern
  | full_pattern '|' applied_pattern { $$ = build_pattern_or(p, @$, $1, $3); }
  ;

applied_pattern:
    pattern
  | literal_pattern
  | NAME pattern { $$ = build_pattern_constructor(p, @$, $1, $2); }
  | NAME literal_pattern { $$ = build_pattern_constructor(p, @$, $1, $2); }
  ;

literal_pattern:
    INTEGER { $$ = build_pattern_literal(p, @$, build_literal(p, $1)); }
  | FLOATING { $$ = build_pattern_literal(p, @$, build_literal(p, $1)); }
  | TRUE { $$ = build_pattern_literal(p, @$, build_literal(p, $1)); }
  | FALSE { $$ = build_pattern_literal(p, @$, build_literal(p, $1)); }
  | '-' INTEGER { $$ = build_pattern_literal(p, @$, build_negation(p, @$, @1, build_literal(p, $2))); }
  | '-' FLOATING { $$ = build_pattern_literal(p, @$, build_negation(p, @$, @1, build_literal(p, $2))); }
  ;

arm_pattern:
    applied_pattern
  | arm_pattern BAR applied_pattern { $$ = build_pattern_or(p, @$, $1, $3); }
  ;

arms:
    arm { $$ = ARENA_NEW(p->arena, struct binding_list); vec_push(p->arena, &$$->all, $1); }
  | BAR arm { $$ = ARENA_NEW(p->arena, struct binding_list); vec_push(p->arena, &$$->all, $2); }
  | arms BAR arm { $$ = $1; vec_push(p->arena, &$$->all, $3); }
  ;

arm: arm_pattern DOUBLE_ARROW expr %prec BLOCK { $$ = (struct ast_binding){.pattern = $1, .value = $3}; };

/* ---- expressions ---- */

expr:
    applied
  | block
  | applied block { $$ = build_apply(p, @$, $1, $2); }
  | '-' expr %prec UNARY { $$ = build_negation(p, @$, @1, $2); }
  | NOT expr { $$ = build_prefix(p, @$, @1, "not", $2); }
  | '~' expr { $$ = build_prefix(p, @$, @1, "~", $2); }
  | expr '!' expr { $$ = build_infix(p, @$, $1, @2, "!", $3); }
  | expr '.' expr { $$ = build_infix(p, @$, $1, @2, ".", $3); }
  | expr '*' expr { $$ = build_infix(p, @$, $1, @2, "*", $3); }
  | expr '/' expr { $$ = build_infix(p, @$, $1, @2, "/", $3); }
  | expr '%' expr { $$ = build_infix(p, @$, $1, @2, "%", $3); }
  | expr DIV expr { $$ = build_infix(p, @$, $1, @2, "div", $3); }
  | expr MOD expr { $$ = build_infix(p, @$, $1, @2, "mod", $3); }
  | expr '+' expr { $$ = build_infix(p, @$, $1, @2, "+", $3); }
  | expr '-' expr { $$ = build_infix(p, @$, $1, @2, "-", $3); }
  | expr SHIFT_LEFT expr { $$ = build_infix(p, @$, $1, @2, "<<", $3); }
  | expr SHIFT_RIGHT expr { $$ = build_infix(p, @$, $1, @2, ">>", $3); }
  | expr '&' expr { $$ = build_infix(p, @$, $1, @2, "&", $3); }
  | expr '^' expr { $$ = build_infix(p, @$, $1, @2, "^", $3); }
  | expr '|' expr { $$ = build_infix(p, @$, $1, @2, "|", $3); }
  | expr EQUAL expr { $$ = build_infix(p, @$, $1, @2, "==", $3); }
  | expr NOT_EQUAL expr { $$ = build_infix(p, @$, $1, @2, "!=", $3); }
  | expr '<' expr { $$ = build_infix(p, @$, $1, @2, "<", $3); }
  | expr LESS_EQUAL expr { $$ = build_infix(p, @$, $1, @2, "<=", $3); }
  | expr '>' expr { $$ = build_infix(p, @$, $1, @2, ">", $3); }
  | expr GREATER_EQUAL expr { $$ = build_infix(p, @$, $1, @2, ">=", $3); }
  | expr AND expr { $$ = build_logical(p, @$, "&&", $1, $3); }
  | expr OR expr { $$ = build_logical(p, @$, "||", $1, $3); }
  | expr PIPE expr { $$ = build_infix(p, @$, $1, @2, "|>", $3); }
  ;

block:
    FN some_parameters DOUBLE_ARROW expr %prec BLOCK { $$ = build_lambda(p, @$, NULL, $2, $4); }
  | FN level_groups parameters DOUBLE_ARROW expr %prec BLOCK { $$ = build_lambda(p, @$, $2, $3, $5); }
  | LET bindings IN expr %prec BLOCK { $$ = build_let(p, @$, $2, $4); }
  | MATCH expr WITH arms %prec BLOCK { $$ = build_match(p, @$, $2, $4); }
  | IF expr THEN expr ELSE expr %prec BLOCK { $$ = build_if(p, @$, $2, $4, $6); }
  ;

bindings:
    binding { $$ = ARENA_NEW(p->arena, struct binding_list); vec_push(p->arena, &$$->all, $1); }
  | bindings BINDING binding { $$ = $1; vec_push(p->arena, &$$->all, $3); }
  ;

binding:
    pattern '=' expr { $$ = (struct ast_binding){.pattern = $1, .value = $3}; }
  | NAME some_parameters '=' expr {
        $$ = (struct ast_binding){build_pattern_name(p, $1), build_lambda(p, @$, NULL, $2, $4)};
    }
  | NAME level_groups parameters '=' expr {
        $$ = (struct ast_binding){build_pattern_name(p, $1), build_lambda(p, @$, $2, $3, $5)};
    }
  ;

applied:
    atom
  | applied atom { $$ = build_apply(p, @$, $1, $2); }
  | applied NOT { $$ = build_apply(p, @$, $1, build_section(p, @2, "not")); }
  | applied LEVEL_OPEN levels LEVEL_CLOSE { $$ = build_level_apply(p, @$, $1, $3); }
  ;

atom:
    NAME { $$ = build_name(p, $1); }
  | CONFIG { $$ = build_literal(p, $1); }
  | INTEGER { $$ = build_literal(p, $1); }
  | FLOATING { $$ = build_literal(p, $1); }
  | TRUE { $$ = build_literal(p, $1); }
  | FALSE { $$ = build_literal(p, $1); }
  | BAD_LITERAL { $$ = build_literal(p, $1); }
  | STRING { $$ = build_text(p, $1); }
  | atom FIELD_POINT NAME { $$ = build_field(p, @$, $1, $3); }
  | '{' field_values '}' { $$ = build_record(p, @$, NULL, $2); }
  | '{' expr WITH field_values '}' { $$ = build_record(p, @$, $2, $4); }
  | '(' expr ')' { $$ = $2; }
  | '(' exprs ',' expr ')' { vec_push(p->arena, &$2->all, $4); $$ = build_sequence(p, @$, EXPR_TUPLE, $2); }
  | '(' expr ':' type ')' { $$ = build_typed(p, @$, $2, $4); }
  | '(' ')' { report_unit(p, @$); $$ = build_error(p, @$); }
  | '(' section_operator ')' { $$ = build_section(p, @2, $2); }
  | '(' section_operator expr ')' { $$ = build_applied_section(p, @$, @2, $2, $3); }
  | '(' '-' ')' { $$ = build_section(p, @2, "-"); }
  | '(' NOT ')' { $$ = build_section(p, @2, "not"); }
  | '(' '~' ')' { $$ = build_section(p, @2, "~"); }
  | '[' ']' { $$ = build_sequence(p, @$, EXPR_LIST, ARENA_NEW(p->arena, struct expr_list)); }
  | '[' exprs ']' { $$ = build_sequence(p, @$, EXPR_LIST, $2); }
  ;

field_values:
    NAME '=' expr { $$ = ARENA_NEW(p->arena, struct field_values); ADD_FIELD(p, $$, $1, $3); }
  | field_values ',' NAME '=' expr { $$ = $1; ADD_FIELD(p, $$, $3, $5); }
  ;

exprs:
    expr { $$ = ARENA_NEW(p->arena, struct expr_list); vec_push(p->arena, &$$->all, $1); }
  | exprs ',' expr { $$ = $1; vec_push(p->arena, &$$->all, $3); }
  ;

/* Not `-`, which is the unary one there. */
section_operator:
    '!' { $$ = "!"; }
  | '.' { $$ = "."; }
  | '*' { $$ = "*"; }
  | '/' { $$ = "/"; }
  | '%' { $$ = "%"; }
  | DIV { $$ = "div"; }
  | MOD { $$ = "mod"; }
  | '+' { $$ = "+"; }
  | SHIFT_LEFT { $$ = "<<"; }
  | SHIFT_RIGHT { $$ = ">>"; }
  | '&' { $$ = "&"; }
  | '^' { $$ = "^"; }
  | '|' { $$ = "|"; }
  | EQUAL { $$ = "=="; }
  | NOT_EQUAL { $$ = "!="; }
  | '<' { $$ = "<"; }
  | LESS_EQUAL { $$ = "<="; }
  | '>' { $$ = ">"; }
  | GREATER_EQUAL { $$ = ">="; }
  | AND { $$ = "&&"; }
  | OR { $$ = "||"; }
  | PIPE { $$ = "|>"; }
  ;

%%

static int yyreport_syntax_error(const yypcontext_t *context, struct parser *p) {
    enum { MOST_EXPECTED = YYNTOKENS };
    yysymbol_kind_t kinds[MOST_EXPECTED];
    int count = yypcontext_expected_tokens(context, kinds, MOST_EXPECTED);
    if (count < 0)
        return count;
    struct expected expected = {.names = false};
    for (int i = 0; i < count; i++) {
        expected.in |= kinds[i] == YYSYMBOL_IN;
        expected.then |= kinds[i] == YYSYMBOL_THEN;
        expected.or_else |= kinds[i] == YYSYMBOL_ELSE;
        expected.parenthesis |= kinds[i] == YYTRANSLATE(')');
        expected.bracket |= kinds[i] == YYTRANSLATE(']');
        expected.brace |= kinds[i] == YYTRANSLATE('}');
        expected.names |= kinds[i] == YYSYMBOL_NAME;
        expected.operands |= kinds[i] == YYSYMBOL_INTEGER;
        expected.operators |= kinds[i] == YYTRANSLATE('+');
        expected.types |= kinds[i] == YYSYMBOL_TYPE_VARIABLE;
        expected.patterns |= kinds[i] == YYTRANSLATE('_');
        expected.declarations |= kinds[i] == YYSYMBOL_FUN;
        expected.equals |= kinds[i] == YYTRANSLATE('=');
        expected.colon |= kinds[i] == YYTRANSLATE(':');
        expected.comma |= kinds[i] == YYTRANSLATE(',');
        expected.less |= kinds[i] == YYTRANSLATE('<');
        expected.arrow |= kinds[i] == YYSYMBOL_ARROW;
        expected.double_arrow |= kinds[i] == YYSYMBOL_DOUBLE_ARROW;
        expected.string |= kinds[i] == YYSYMBOL_STRING;
        expected.level_close |= kinds[i] == YYSYMBOL_LEVEL_CLOSE;
    }
    /* The lookahead is the token read last, or the end token, which is read again and again. */
    size_t index = p->next;
    if (yypcontext_token(context) != YYSYMBOL_YYEOF && index > 0)
        index--;
    report_syntax_error(p, index, &expected);
    return 0;
}
