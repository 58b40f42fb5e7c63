-- Prints Vim's syntax group at each place: $PLACES has lines `file<TAB>line<TAB>byte`, both from 1.
local out = assert(io.open(vim.env.OUT, "w"))
vim.opt.runtimepath:prepend(vim.env.EDITOR_FILES)
vim.opt.modeline = false
vim.opt.synmaxcol = 0
vim.cmd("filetype plugin on | syntax on")
local current
for line in io.lines(vim.env.PLACES) do
  local file, number, byte = line:match("^(.-)\t(%d+)\t(%d+)$")
  if file ~= current then
    vim.cmd("silent edit! " .. vim.fn.fnameescape(file))
    vim.cmd("syntax sync fromstart")
    current = file
  end
  out:write(vim.fn.synIDattr(vim.fn.synID(tonumber(number), tonumber(byte), 1), "name") .. "\n")
end
out:write(vim.bo.filetype .. " " .. vim.bo.commentstring .. "\n")
out:close()
vim.cmd("qall!")
