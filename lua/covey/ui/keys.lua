--- The keys of covey's own windows: what they do here, which they are in `config.keys`.
local M = {}

---@class covey.Key
---@field name string what it is called in `config.keys.SECTION`
---@field lhs string? the key where the config has no name for it
---@field run fun()|string a function, or keys in place of these
---@field desc string
---@field mode (string|string[])? default `n`

--- The keys a person chose for a window; one switched off with `false` is left out.
---@param section string
---@param keys covey.Key[]
---@return covey.Key[]
function M.chosen(section, keys)
  local choice = require("covey.config").get().keys[section] or {}
  local result = {}
  for _, key in ipairs(keys) do
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
  return vim.tbl_map(function(key)
    return (" %-7s %s "):format(key.lhs, key.desc)
  end, keys)
end

--- Show what the keys of a window do; `q`, `<Esc>` or `g?` closes it.
---@param title string
---@param keys covey.Key[]
function M.help(title, keys)
  local lines = M.lines(keys)
  local width = math.max(unpack(vim.tbl_map(vim.api.nvim_strwidth, lines)))
  local help
  local function close()
    help:close()
  end
  help = require("covey.ui.float").open({
    place = function()
      return { width = width + 2, height = #lines + 2, border = require("covey.config").get().float.border }
    end,
    focus = true,
    title = " " .. title .. " ",
    filetype = "covey-help",
    zindex = 60,
    keys = vim.tbl_map(function(lhs)
      return { name = "close", lhs = lhs, run = close, desc = "close" }
    end, { "q", "<Esc>", "g?" }),
  })
  if help then
    vim.api.nvim_buf_set_lines(help.buf, 0, -1, false, lines)
    vim.bo[help.buf].modifiable = false
  end
end

return M
