--- The keys of covey's own windows: what they do here, which they are in `config.keys`.
local M = {}

---@class covey.Key
---@field name string what it is called in `config.keys.SECTION`
---@field lhs string? the key where the config has no name for it
---@field run fun()|string a function, or keys in place of these
---@field desc string
---@field mode (string|string[])? default `n`

local function help_for(section, keys, notes)
  return {
    name = "help",
    desc = "this help",
    run = function()
      M.help(section, keys, notes)
    end,
  }
end

--- The keys a person chose for a window, and the one that shows them; one switched off with `false` is left out.
---@param section string
---@param keys covey.Key[]
---@param notes string[]? what is said above the keys
---@return covey.Key[]
function M.chosen(section, keys, notes)
  local choice = require("covey.config").get().keys[section] or {}
  local result = {}
  for _, key in ipairs(vim.list_extend(vim.list_slice(keys), { help_for(section, result, notes) })) do
    local lhs = choice[key.name]
    if lhs == nil then
      lhs = key.lhs
    end
    if lhs then
      table.insert(result, vim.tbl_extend("force", key, { lhs = lhs }))
    end
  end
  return result
end

--- Map keys in one buffer.
---@param buf integer
---@param keys covey.Key[]
function M.set(buf, keys)
  for _, key in ipairs(keys) do
    vim.keymap.set(key.mode or "n", key.lhs, key.run, { buffer = buf, desc = key.desc, nowait = true, silent = true })
  end
end

--- One line a key, for a help window: what to press, and what it does.
---@param keys covey.Key[]
---@return string[]
function M.lines(keys)
  local width = 0
  for _, key in ipairs(keys) do
    width = math.max(width, vim.api.nvim_strwidth(key.lhs))
  end
  local label = require("covey.ui.label")
  return vim.tbl_map(function(key)
    return (" %s  %s "):format(label.fit(key.lhs, width), key.desc)
  end, keys)
end

--- Show what the keys of a window do; `q`, `<Esc>` or `g?` closes it.
---@param title string
---@param keys covey.Key[]
---@param notes string[]? what is said above them
function M.help(title, keys, notes)
  require("covey.ui.sheet").open(title, vim.list_extend(vim.list_slice(notes or {}), M.lines(keys)))
end

return M
