-- A session of Neovim with `fclc lsp`, started as its users do; what the client shows goes to $OUT.
local out = assert(io.open(vim.env.OUT, "w"))

local function wait_for(what, condition)
  assert(vim.wait(20000, condition, 20), "waited in vain for " .. what)
end

local function session()
  local buffer = vim.api.nvim_get_current_buf()
  local id = vim.lsp.start_client({
    name = "fclc", cmd = { vim.env.FCLC, "lsp" }, root_dir = vim.fn.getcwd(),
  })
  vim.lsp.buf_attach_client(buffer, id)
  wait_for("diagnostics", function() return #vim.diagnostic.get(buffer) == 1 end)
  local one = vim.diagnostic.get(buffer)[1]
  out:write(("%s %d %d\n"):format(one.code, one.lnum, one.col))

  local function ask(method, line, character, more)
    local params = vim.tbl_extend("force", {
      textDocument = vim.lsp.util.make_text_document_params(buffer),
      position = { line = line, character = character },
    }, more or {})
    local answers =
      assert(vim.lsp.buf_request_sync(buffer, "textDocument/" .. method, params, 20000))
    assert(answers[id] and not answers[id].err, vim.inspect(answers))
    return answers[id].result
  end
  out:write("hover " .. ask("hover", 2, 5).contents.value:match("\n([^\n]*)") .. "\n")
  -- By the client's own command, which moves the cursor.
  vim.api.nvim_win_set_cursor(0, { 6, 13 })
  vim.lsp.buf.definition()
  wait_for("the definition", function() return vim.api.nvim_win_get_cursor(0)[1] == 5 end)
  out:write(("definition %d\n"):format(vim.api.nvim_win_get_cursor(0)[1]))

  local range = { start = { line = 5, character = 51 }, ["end"] = { line = 5, character = 54 } }
  local actions = ask("codeAction", 5, 51, { range = range, context = { diagnostics = {} } })
  vim.lsp.util.apply_workspace_edit(actions[1].edit, "utf-16")
  wait_for("no diagnostics", function() return #vim.diagnostic.get(buffer) == 0 end)
  out:write("action mended\n")
  local edits = ask("formatting", 0, 0, { options = { tabSize = 2, insertSpaces = true } })
  out:write(#edits == 0 and "format clean\n" or "format changed\n")
  local renamed = ask("rename", 4, 7, { newName = "side" })
  local count = 0
  for _, changes in pairs(renamed.changes) do count = count + #changes end
  out:write(("rename %d\n"):format(count))
end

vim.api.nvim_create_autocmd("VimEnter", {
  callback = function()
    local good, why = pcall(session)
    if not good then out:write("failed: " .. tostring(why) .. "\n") end
    out:close()
    vim.cmd("qall!")
  end,
})
