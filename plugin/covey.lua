-- All that covey does when Neovim starts: a command and maps to press. Everything else is loaded when one is used.
if vim.g.loaded_covey then
  return
end
vim.g.loaded_covey = 1

vim.api.nvim_create_user_command("Covey", function(given)
  require("covey.dispatch").run(given)
end, {
  desc = "Keep coding agents in tmux",
  nargs = "*",
  bang = true,
  range = true,
  complete = function(...)
    return require("covey.complete").complete(...)
  end,
})

local NORMAL =
  "Adopt Attach Board Interrupt Keep Kill Last Next Open Pick Prev Preview Prompt Reap Rename Respawn SendFile Settle"

for name in NORMAL:gmatch("%a+") do
  vim.keymap.set("n", ("<Plug>(Covey%s)"):format(name), function()
    require("covey.keymap").run(name)
  end)
end

vim.keymap.set("n", "<Plug>(CoveySend)", function()
  return require("covey.keymap").run("Send")
end, { expr = true })
vim.keymap.set("x", "<Plug>(CoveySend)", function()
  require("covey.keymap").run("SendSelection")
end)
vim.keymap.set("x", "<Plug>(CoveySendFile)", function()
  require("covey.keymap").run("SendLines")
end)
