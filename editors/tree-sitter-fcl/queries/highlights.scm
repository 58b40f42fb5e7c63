["sig" "fun" "val" "kernel" "param" "type" "data" "import" "let" "in" "fn" "match" "forall" "where" "with" "stored"
 "as"] @keyword
["if" "then" "else"] @conditional
["div" "mod" "not"] @keyword.operator
(boolean) @boolean
(integer) @number
(float) @float
(string) @string
(constant) @constant.builtin
(type_variable) @type
[(line_comment) (block_comment)] @comment

(function name: (identifier) @function)
(function_binding name: (identifier) @function)
(kernel name: (identifier) @function)
(signature name: (identifier) @function)
(type_declaration name: (identifier) @type)
(data_declaration name: (identifier) @type)
(constructor name: (identifier) @constructor)
(constructor_pattern constructor: (identifier) @constructor)
(field name: (identifier) @property)
(field_value name: (identifier) @property)
(field_pattern name: (identifier) @property)
(field_type name: (identifier) @property)
(parameter name: (identifier) @constant)
(level_parameters (identifier) @parameter)
(level_arguments (identifier) @constant)
(application function: (identifier) @function.call)

["=" "->" "=>" ":" "." "|>" "||" "&&" "==" "!=" "<" "<=" ">" ">=" "|" "^" "&" "<<" ">>"
 "+" "-" "*" "/" "%" "!" "~"] @operator
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
"," @punctuation.delimiter
