autocmd BufRead,BufNewFile *.fcl setfiletype fcl
