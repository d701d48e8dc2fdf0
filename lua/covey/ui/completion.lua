--- Completion of placeholders where prompts are written: |i_CTRL-X_CTRL-O|, and by itself after a `{`.
local placeholder = require("covey.ui.placeholder")

local M = {}

local sources = {} ---@type table<integer, fun(): covey.Source> by buffer

local function typed()
  local column = vim.api.nvim_win_get_cursor(0)[2]
  local line = vim.api.nvim_get_current_line()
  return line:sub(1, column), line:sub(column + 1)
end

--- What stands for `{base…`, each with its value here.
local function items(base, source, after)
  local close = vim.startswith(after, "}") and "" or "}"
  local found = {}
  for _, name in ipairs(placeholder.names()) do
    if vim.startswith("{" .. name, base) then
      table.insert(found, {
        word = "{" .. name .. close,
        abbr = "{" .. name .. "}",
        menu = (placeholder.describe(name, source)),
      })
    end
  end
  return found
end

--- As |complete-functions|.
---@param findstart integer
---@param base string
---@return integer|table[]
function M.complete(findstart, base)
  local before, after = typed()
  if findstart == 1 then
    return (before:find("{%l*$") or -2) - 1
  end
  local source = sources[vim.api.nvim_get_current_buf()]
  return source and items(base, source(), after) or {}
end

--- Offer completion by itself, where it can be offered without inserting anything.
local function offer(buf)
  vim.api.nvim_create_autocmd("TextChangedI", {
    buffer = buf,
    callback = function()
      if vim.fn.pumvisible() == 0 and typed():find("{$") then
        vim.api.nvim_feedkeys(vim.keycode("<C-x><C-o>"), "n", false)
      end
    end,
  })
end

--- Complete placeholders in a buffer.
---@param buf integer
---@param source fun(): covey.Source
function M.attach(buf, source)
  sources[buf] = source
  vim.bo[buf].omnifunc = "v:lua.require'covey.ui.completion'.complete"
  vim.bo[buf].completefunc = vim.bo[buf].omnifunc
  -- 'completeopt' has been one of a buffer's own options since 0.11 only
  if pcall(vim.api.nvim_set_option_value, "completeopt", "menuone,noselect,noinsert", { buf = buf }) then
    offer(buf)
  end
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = buf,
    callback = function()
      sources[buf] = nil
    end,
  })
end

return M
