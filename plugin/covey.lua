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

local NORMAL = "Adopt Agents Answer Attach Attention Board Broadcast Cancel Changed Delete Edit Ensure Explain Health "
  .. "Install Interrupt Keep Kill Last List Log Mute Next Open Pick Prev Preview Prompt Queue Reap Rename Reset "
  .. "Respawn Restore Run SendFile Settle Stats Worktree"

local function map(mode, name, action, expr)
  local run = ("require'covey.keymap'.run('%s')"):format(action)
  local keys = expr and "v:lua." .. run or ("<Cmd>lua %s<CR>"):format(run)
  vim.api.nvim_set_keymap(
    mode,
    ("<Plug>(Covey%s)"):format(name),
    keys,
    { noremap = true, expr = expr, desc = "covey: " .. name }
  )
end

for name in NORMAL:gmatch("%a+") do
  map("n", name, name)
end
map("n", "Send", "Send", true)
map("x", "Send", "SendSelection")
map("n", "Paste", "Paste", true)
map("x", "Paste", "PasteSelection")
map("x", "Broadcast", "BroadcastSelection")
map("x", "Prompt", "Prompt")
map("x", "SendFile", "SendLines")

-- A session file (|:mksession|) opens covey's buffers by their names, or makes empty ones and gives them names.
vim.api.nvim_create_autocmd({ "BufReadCmd", "SessionLoadPost" }, {
  group = vim.api.nvim_create_augroup("covey", { clear = true }),
  pattern = "covey://*",
  callback = function(event)
    require("covey.ui.restore").read(event.buf, event.match)
  end,
})
