--- What a person points at: a range, a selection, a file.
local M = {}

--- Text between two marks, by the mode it was selected in; lines are joined with LF, nothing is added.
---@param from string As |getpos()| takes it.
---@param to string
---@param mode string "v", "V" or CTRL-V
---@return string
function M.between(from, to, mode)
  local lines = vim.fn.getregion(vim.fn.getpos(from), vim.fn.getpos(to), { type = mode })
  return table.concat(lines, "\n")
end

--- The text of a command's range: where it is the last visual selection, exactly what was selected, else whole lines.
---@param given { range: integer, line1: integer, line2: integer }
---@return string
function M.range(given)
  local from, to, mode = vim.fn.line("'<"), vim.fn.line("'>"), vim.fn.visualmode()
  if given.range == 2 and mode ~= "" and from == given.line1 and to == given.line2 then
    return M.between("'<", "'>", mode)
  end
  return table.concat(vim.api.nvim_buf_get_lines(0, given.line1 - 1, given.line2, false), "\n")
end

--- The selection of visual mode, while it is shown.
---@return string
function M.selection()
  return M.between("v", ".", vim.fn.mode())
end

--- The text that an operator was given (|:map-operator|).
---@param kind "line"|"char"|"block"
---@return string
function M.motion(kind)
  return M.between("'[", "']", ({ line = "V", char = "v", block = "\22" })[kind])
end

--- How a file, and lines of it, are written for an agent: `@lua/x.lua#L3-L9`; `lua/x.lua:3-9` where its form is a bare
--- path. Seen from `cwd` where the file lies below it.
---@param name string the file's whole path
---@param cwd string
---@param form? string as |covey-agents| has `reference` (default "@{path}")
---@param first? integer
---@param last? integer
---@return string
function M.written(name, cwd, form, first, last)
  form = form or "@{path}"
  local below = vim.fs.normalize(cwd):gsub("/$", "") .. "/"
  local path = vim.startswith(name, below) and name:sub(#below + 1) or name
  local marked = form:find("@", 1, true)
  local one, several = marked and "#L%d" or ":%d", marked and "#L%d-L%d" or ":%d-%d"
  local lines = first and (first == last and one:format(first) or several:format(first, last)) or ""
  return (form:gsub("{path}", function()
    return path .. lines
  end))
end

--- The current file as a reference, as `written` has it; nil for a buffer that is no file.
---@param cwd string
---@param form? string
---@param first? integer
---@param last? integer
---@return string?
function M.reference(cwd, form, first, last)
  local name = vim.api.nvim_buf_get_name(0)
  if name == "" or vim.bo.buftype ~= "" then
    return nil
  end
  return M.written(name, cwd, form, first, last)
end

return M
