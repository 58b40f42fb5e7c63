" FCL, a functional language for GPU kernels.
if exists('b:current_syntax')
  finish
endif

syntax iskeyword @,48-57,_,'

syntax match fclName "\<_*\a[[:alnum:]_']*\>" contains=NONE
syntax keyword fclDeclaration sig fun val kernel param type import
syntax keyword fclKeyword let in fn if then else div mod not match
syntax match fclDeclaration "^\s*\zsdata\>\ze\s\+[[:alnum:]_' ]*=\_s*\u"
syntax match fclKeyword "\<with\>\ze\_s\+\(|\|\({[^}]*}\|[^={]\)*=>\|_*\a[[:alnum:]_']*\s*=[^=>]\)"
syntax match fclKeyword "\<with\>\ze\_s\+\(#\|\(contract\|approximate\|anyOrder\)\>\)"
syntax match fclKeyword "\(\<with\_s\+\)\@<=\(contract\|approximate\|anyOrder\)\>"
syntax match fclKeyword "\(,\_s*\)\@<=\(contract\|approximate\|anyOrder\)\>\ze\_s*\(=\([^=]\|$\)\|,\_s*\(#\|\(contract\|approximate\|anyOrder\)\>\)\)"
syntax keyword fclBoolean true false
syntax match fclConstant "#\a[[:alnum:]_']*"
syntax match fclTypeVariable "'\a[[:alnum:]_']*"
syntax match fclNumber "\<\d\(_\?\d\)*\([iu]\(8\|16\|32\|64\)\)\?\>"
syntax match fclNumber "\<0x\x\(_\?\x\)*\([iu]\(8\|16\|32\|64\)\)\?\>"
syntax match fclNumber "\<0b[01]\(_\?[01]\)*\([iu]\(8\|16\|32\|64\)\)\?\>"
syntax match fclNumber "'\(\\x\x\x\|\\.\|[^'\\]\)'"
syntax match fclFloat "\<0x\x\(_\?\x\)*\(\.\x\(_\?\x\)*\)\?[pP][-+]\?\d\(_\?\d\)*\(f16\|bf16\|f32\|f64\)\?\>"
syntax match fclFloat "\<\d\(_\?\d\)*\.\d\(_\?\d\)*\([eE][-+]\?\d\(_\?\d\)*\)\?\(f16\|bf16\|f32\|f64\)\?\>"
syntax match fclFloat "\<\d\(_\?\d\)*[eE][-+]\?\d\(_\?\d\)*\(f16\|bf16\|f32\|f64\)\?\>"
syntax match fclFloat "\<\d\(_\?\d\)*\(f16\|bf16\|f32\|f64\)\>"
syntax match fclOperator "[-+*/%!~&|^<=>.:]\+"
syntax match fclBracket "[][(){},]"
syntax match fclBracket "\<_\>"
syntax region fclString start=+"+ skip=+\\.+ end=+"+ oneline

" A comment begins with `--` in the middle of other signs, too; `(*)` is the product.
syntax match fclComment "--.*$" contains=fclTodo,fclTest
syntax match fclTest "^\s*-- test .*$" contained
syntax match fclBracket "(\*)"
syntax region fclBlockComment start="(\*)\@!" end="\*)" contains=fclBlockComment,fclProduct,fclTodo
syntax match fclProduct "(\*)" contained
syntax keyword fclTodo TODO FIXME contained
syntax sync minlines=200

highlight default link fclDeclaration Keyword
highlight default link fclKeyword Keyword
highlight default link fclBoolean Boolean
highlight default link fclConstant Constant
highlight default link fclTypeVariable Type
highlight default link fclNumber Number
highlight default link fclFloat Float
highlight default link fclOperator Operator
highlight default link fclString String
highlight default link fclComment Comment
highlight default link fclBlockComment Comment
highlight default link fclProduct Comment
highlight default link fclTest SpecialComment
highlight default link fclTodo Todo

let b:current_syntax = 'fcl'
