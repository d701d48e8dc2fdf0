--- Keys of an attached window: what they do, how they are told at its edge, and which of them stay the editor's.
local M = {}

local function all(view)
  return {
    { name = "leave", mode = "t", desc = "leave terminal mode", run = "<C-\\><C-n>" },
    {
      name = "respawn",
      desc = "start an agent that has ended again",
      run = function()
        require("covey.recipe").act("respawn", { name = view.session.id })
        vim.cmd.startinsert()
      end,
    },
    {
      name = "close",
      desc = "detach and close",
      run = function()
        vim.api.nvim_buf_delete(view.buf, { force = true })
      end,
    },
  }
end

--- One line: the key to leave terminal mode, and what then gets one out of here; before that, what has an agent back
--- that has ended. As the person has set the keys, and as many as fit.
---@param session covey.Session
---@param room number cells
---@return string
function M.hint(session, room)
  local key = require("covey.config").get().keys.attach
  local parts = {}
  if session.state == "exited" then
    table.insert(parts, key.respawn and key.respawn .. " respawns" or nil)
  end
  table.insert(parts, key.close and key.close .. " detaches" or nil)
  table.insert(parts, key.help and key.help .. " keys" or nil)
  return require("covey.ui.edge").hint(key.leave and key.leave .. " " or "", parts, room)
end

--- Who is still here types on. (Scheduled, for Neovim looks at 'startinsert' before it waits, not while it does.)
local function resume(view)
  view.passing = false
  vim.schedule(function()
    if vim.api.nvim_get_current_buf() == view.buf then
      vim.cmd.startinsert()
    end
  end)
end

--- Type a key as in normal mode, whatever the person mapped it to there; with the keys after it, where it waits for
--- some.
local function pass(view, lhs)
  view.passing = true
  vim.api.nvim_feedkeys(vim.keycode("<C-\\><C-n>"), "n", false)
  vim.api.nvim_feedkeys(vim.keycode(lhs), "m", false)
  vim.api.nvim_create_autocmd("SafeState", {
    once = true,
    callback = function()
      resume(view)
    end,
  })
end

--- Map all keys of a view.
---@param view covey.Attached
function M.set(view)
  local keys = require("covey.ui.keys")
  keys.set(view.buf, keys.chosen("attach", all(view)))
  for _, lhs in ipairs(require("covey.config").get().attach.editor_keys) do
    vim.keymap.set("t", lhs, function()
      pass(view, lhs)
    end, { buffer = view.buf, nowait = true, desc = "covey: as in normal mode" })
  end
end

return M
