// FCL for tree-sitter: `tree-sitter generate` makes src/grammar.json and src/parser.c of it.
//
// Five things are for src/scanner.c, as fclc decides them by what follows: comments that nest,
// whether a `<` opens a list of levels, where the next binding of a `let` begins, whether a `.`
// takes a field, and whether a `|` stands between the arms of a `match`. There `match` is a keyword.

const PREC = {
  block: 0,
  bar: 0.5,
  pipe: 1,
  or: 2,
  and: 3,
  compare: 4,
  bitor: 5,
  bitxor: 6,
  bitand: 7,
  shift: 8,
  add: 9,
  multiply: 10,
  unary: 11,
  compose: 12,
  index: 13,
};

const OPERATORS = [
  [PREC.pipe, ['|>']],
  [PREC.or, ['||']],
  [PREC.and, ['&&']],
  [PREC.compare, ['==', '!=', '<', '<=', '>', '>=']],
  [PREC.bitor, ['|']],
  [PREC.bitxor, ['^']],
  [PREC.bitand, ['&']],
  [PREC.shift, ['<<', '>>']],
  [PREC.add, ['+', '-']],
  [PREC.multiply, ['*', '/', '%', 'div', 'mod']],
  [PREC.index, ['!']],
];

const list = (rule) => seq(rule, repeat(seq(',', rule)));

module.exports = grammar({
  name: 'fcl',

  word: ($) => $.identifier,
  extras: ($) => [/\s/, $.line_comment, $.block_comment],
  externals: ($) => [$._binding_start, $._level_open, $.block_comment, $._field_point, $._bar],

  rules: {
    source_file: ($) => repeat($._declaration),

    _declaration: ($) =>
      choice($.signature, $.function, $.kernel, $.value, $.type_declaration, $.data_declaration,
             $.parameter, $.import),

    signature: ($) =>
      seq('sig', field('name', $.identifier), ':', optional($.quantifier), $._qualified_type),
    function: ($) =>
      seq('fun', field('name', $.identifier), repeat($.level_parameters),
          repeat($._pattern), '=', field('body', $._expression)),
    kernel: ($) =>
      seq('kernel', field('name', $.identifier), repeat($.level_parameters),
          repeat($._pattern), optional($.launch), '=', field('body', $._expression)),
    launch: ($) => seq('with', list($.setting)),
    setting: ($) =>
      choice(seq(field('name', $.constant), '=', field('default', $._expression), optional($.choices)), 'contract',
             'approximate', 'anyOrder'),
    value: ($) => seq('val', field('name', $.identifier), '=', field('body', $._expression)),
    type_declaration: ($) =>
      seq('type', field('name', $.identifier), repeat(choice($.identifier, $.type_variable)), '=',
          field('type', choice($._type, $.record_type))),
    record_type: ($) => seq('{', list($.field_type), '}'),
    field_type: ($) => seq(field('name', $.identifier), ':', field('type', $._type)),
    data_declaration: ($) =>
      seq('data', field('name', $.identifier), repeat(choice($.identifier, $.type_variable)), '=',
          $.constructor, repeat(seq('|', $.constructor))),
    constructor: ($) => seq(field('name', $.identifier), optional($._type_atom)),
    parameter: ($) =>
      seq('param', field('name', $.identifier), ':', field('type', $._type), '=',
          field('default', $._expression), optional($.choices)),
    choices: ($) => seq('in', '{', list($._expression), '}'),
    import: ($) => seq('import', field('path', $.string)),

    // ---- types ----

    quantifier: ($) => seq('forall', repeat(choice($._quantified, seq('.', 'forall'))), '.'),
    _quantified: ($) => choice($.identifier, $.type_variable, $.level_parameters),
    _qualified_type: ($) =>
      choice(seq($._type, optional($.where)),
             seq(alias($._classes, $.classes), '=>', $._type, optional($.where))),
    _classes: ($) => list($._type),
    where: ($) => seq('where', list(choice($.level_order, $.stored))),
    stored: ($) => seq($.identifier, 'stored', 'as', $.identifier),
    level_order: ($) => seq($._level, '<', $._level),

    _type: ($) => choice($._type_operand, $.function_type, $.level_function_type),
    function_type: ($) => seq($._type_operand, '->', $._type),
    level_function_type: ($) => seq($.level_parameters, '->', $._type),
    _type_operand: ($) => choice($._type_atom, $.type_application),
    type_application: ($) => seq($.identifier, repeat1($._type_atom)),
    _type_atom: ($) =>
      choice($.identifier, $.type_variable, $.array_type, $.tuple_type, seq('(', $._type, ')')),
    array_type: ($) =>
      seq('[', field('element', $._type), ']', optional(seq($._level_open, $._level, '>'))),
    tuple_type: ($) => seq('(', $._type, repeat1(seq(',', $._type)), ')'),

    // ---- levels ----

    _level: ($) => choice($.identifier, $.level_successor, seq('(', $._level, ')')),
    level_successor: ($) => seq($.integer, '+', $._level),
    level_parameters: ($) => seq($._level_open, list($.identifier), '>'),
    level_arguments: ($) => seq($._level_open, list($._level), '>'),

    // ---- patterns ----

    _pattern: ($) =>
      choice($.identifier, $.wildcard, $.tuple_pattern, $.typed_pattern, $.record_pattern,
             seq('(', $._full_pattern, ')')),
    wildcard: ($) => '_',
    tuple_pattern: ($) => seq('(', $._full_pattern, repeat1(seq(',', $._full_pattern)), ')'),
    typed_pattern: ($) => seq('(', $._full_pattern, ':', $._type, ')'),
    record_pattern: ($) => seq('{', list($.field_pattern), '}'),
    field_pattern: ($) =>
      seq(field('name', $.identifier), optional(seq('=', field('pattern', $._full_pattern)))),
    _full_pattern: ($) => choice($._applied_pattern, $.or_pattern),
    or_pattern: ($) => seq($._full_pattern, '|', $._applied_pattern),
    _applied_pattern: ($) => choice($._pattern, $._literal_pattern, $.constructor_pattern),
    constructor_pattern: ($) =>
      seq(field('constructor', $.identifier), choice($._pattern, $._literal_pattern)),
    _literal_pattern: ($) => choice($.integer, $.float, $.boolean, $.negative),
    negative: ($) => seq('-', choice($.integer, $.float)),

    // ---- expressions ----

    _expression: ($) =>
      choice($._applied, $._block, alias($.block_application, $.application), $.unary, $.binary,
             $.composition),

    unary: ($) => prec(PREC.unary, seq(choice('-', 'not', '~'), $._expression)),
    binary: ($) =>
      choice(...OPERATORS.map(([precedence, operators]) =>
        prec.left(precedence,
                  seq(field('left', $._expression), field('operator', choice(...operators)),
                      field('right', $._expression))))),
    composition: ($) => prec.right(PREC.compose, seq($._expression, '.', $._expression)),

    _block: ($) => choice($.lambda, $.let, $.conditional, $.match),
    match: ($) =>
      prec(PREC.block, seq('match', field('of', $._expression), 'with', optional($._bar), $._arms)),
    _arms: ($) => choice($.arm, prec.right(PREC.bar, seq($._arms, $._bar, $._arms))),
    arm: ($) => prec(PREC.block, seq($._arm_pattern, '=>', field('body', $._expression))),
    _arm_pattern: ($) => choice($._applied_pattern, seq($._arm_pattern, $._bar, $._applied_pattern)),
    lambda: ($) =>
      prec(PREC.block, seq('fn', choice(repeat1($._pattern),
                                        seq(repeat1($.level_parameters), repeat($._pattern))),
                           '=>', field('body', $._expression))),
    let: ($) =>
      prec(PREC.block, seq('let', $._binding, repeat(seq($._binding_start, $._binding)), 'in',
                           field('body', $._expression))),
    _binding: ($) => choice($.binding, $.function_binding),
    binding: ($) => seq(field('pattern', $._pattern), '=', field('value', $._expression)),
    function_binding: ($) =>
      seq(field('name', $.identifier),
          choice(repeat1($._pattern), seq(repeat1($.level_parameters), repeat($._pattern))), '=',
          field('value', $._expression)),
    conditional: ($) =>
      prec(PREC.block, seq('if', field('condition', $._expression), 'then',
                           field('then', $._expression), 'else', field('else', $._expression))),

    _applied: ($) => choice($._atom, $.application, $.level_application),
    application: ($) =>
      seq(field('function', $._applied), field('argument', choice($._atom, 'not'))),
    level_application: ($) => seq(field('function', $._applied), $.level_arguments),
    block_application: ($) => seq(field('function', $._applied), field('argument', $._block)),

    _atom: ($) =>
      choice($.identifier, $.constant, $.integer, $.float, $.boolean, $.string, $.section, $.tuple,
             $.list, $.typed, $.record, $.record_update, $.field, seq('(', $._expression, ')')),
    record: ($) => seq('{', list($.field_value), '}'),
    record_update: ($) => seq('{', $._expression, 'with', list($.field_value), '}'),
    field_value: ($) => seq(field('name', $.identifier), '=', field('value', $._expression)),
    field: ($) => seq(field('of', $._atom), $._field_point, field('name', $.identifier)),
    boolean: ($) => choice('true', 'false'),
    tuple: ($) => seq('(', $._expression, repeat1(seq(',', $._expression)), ')'),
    list: ($) => seq('[', optional(list($._expression)), ']'),
    typed: ($) => seq('(', $._expression, ':', $._type, ')'),
    section: ($) =>
      seq('(',
          choice($._section_operator, seq($._section_operator, $._expression), '-', 'not', '~'),
          ')'),
    _section_operator: ($) =>
      choice('!', '.', '*', '/', '%', 'div', 'mod', '+', '<<', '>>', '&', '^', '|', '==', '!=', '<',
             '<=', '>', '>=', '&&', '||', '|>'),

    // ---- words ----

    identifier: ($) => /_*[A-Za-z][A-Za-z0-9_']*/,
    integer: ($) => // before type variables: 'a' is a character
      /'([^'\\\n]|\\[^\n]|\\x[0-9a-fA-F][0-9a-fA-F])'|(0x[0-9a-fA-F](_?[0-9a-fA-F])*|0b[01](_?[01])*|[0-9](_?[0-9])*)([iu](8|16|32|64))?/,
    type_variable: ($) => /'_*[A-Za-z][A-Za-z0-9_']*/,
    constant: ($) => /#_*[A-Za-z][A-Za-z0-9_']*/,
    float: ($) =>
      /0x[0-9a-fA-F](_?[0-9a-fA-F])*(\.[0-9a-fA-F](_?[0-9a-fA-F])*)?[pP][+-]?[0-9](_?[0-9])*(f16|bf16|f32|f64)?|[0-9](_?[0-9])*((\.[0-9](_?[0-9])*([eE][+-]?[0-9](_?[0-9])*)?|[eE][+-]?[0-9](_?[0-9])*)(f16|bf16|f32|f64)?|f16|bf16|f32|f64)/,
    string: ($) => /"([^"\\\n]|\\[^\n])*"/,
    line_comment: ($) => /--[^\n]*/,
  },
});
