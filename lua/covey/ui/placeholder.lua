--- `{file}` and the like in a prompt buffer: what they stand for is taken from the window the person came from. Any
--- other word in braces is text like all text, and one without a value stays as it stands.
local M = {}

---@class covey.Source
---@field win integer the window the person came from
---@field cwd string where the agent works; references are seen from there
---@field selection string?

local SEVERITY = { "error", "warning", "info", "hint" }

local function in_source(source, act)
  if vim.api.nvim_win_is_valid(source.win) then
    return vim.api.nvim_win_call(source.win, act)
  end
end

local function reference(source, line)
  return in_source(source, function()
    local at = line and vim.fn.line(".") or nil
    return require("covey.context").reference(source.cwd, at, at)
  end)
end

local function diagnostics(source)
  return in_source(source, function()
    local file = require("covey.context").reference(source.cwd) or "@"
    local lines = vim.tbl_map(function(found)
      local message = found.message:gsub("%s*\n%s*", " ")
      return ("%s:%d:%d: %s: %s"):format(file:sub(2), found.lnum + 1, found.col + 1, SEVERITY[found.severity], message)
    end, vim.diagnostic.get(0))
    return #lines > 0 and table.concat(lines, "\n") or nil
  end)
end

local function buffers(source)
  local found = {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.bo[buf].buflisted
      and vim.api.nvim_buf_call(buf, function()
        return require("covey.context").reference(source.cwd)
      end)
    table.insert(found, name or nil)
  end
  return #found > 0 and table.concat(found, " ") or nil
end

---@type table<string, fun(source: covey.Source): string?>
local VALUES = {
  file = function(source)
    return reference(source, false)
  end,
  line = function(source)
    return reference(source, true)
  end,
  selection = function(source)
    return source.selection
  end,
  diagnostics = diagnostics,
  buffers = buffers,
  cwd = function(source)
    return in_source(source, vim.fn.getcwd)
  end,
}

--- A text with its placeholders filled in. What has no value stays.
---@param text string
---@param source covey.Source
---@return string
function M.render(text, source)
  return (text:gsub("{(%l+)}", function(name)
    return VALUES[name] and VALUES[name](source) or nil
  end))
end

---@class covey.PlaceholderMark
---@field row integer from 0
---@field col integer bytes, from 0
---@field end_col integer
---@field value string? nil: it has none

--- Where the placeholders of some lines stand.
---@param lines string[]
---@param source covey.Source
---@return covey.PlaceholderMark[]
function M.marks(lines, source)
  local marks = {}
  for row, line in ipairs(lines) do
    for col, name, past in line:gmatch("(){(%l+)}()") do
      if VALUES[name] then
        table.insert(marks, { row = row - 1, col = col - 1, end_col = past - 1, value = VALUES[name](source) })
      end
    end
  end
  return marks
end

return M
