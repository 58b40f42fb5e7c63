" FCL: comments, indentation by two, and `gq` by fclc.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal comments=s1:(*,mb:*,ex:*),:-- commentstring=--\ %s
setlocal expandtab shiftwidth=2 softtabstop=2
setlocal suffixesadd=.fcl
if executable('fclc')
  setlocal makeprg=fclc\ check\ %:S errorformat=%f:%l:%c:\ %trror[E%n]:\ %m,%f:%l:%c:\ %tarning[%*[EW]%n]:\ %m,%-G%.%#
endif

let b:undo_ftplugin = 'setlocal comments< commentstring< expandtab< shiftwidth< softtabstop< suffixesadd< makeprg< errorformat<'

" Neovim has a client for `fclc lsp`.
if has('nvim-0.8') && executable('fclc')
  lua vim.lsp.start({ name = 'fclc', cmd = { 'fclc', 'lsp' } })
endif
