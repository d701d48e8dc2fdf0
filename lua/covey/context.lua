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

--- The current file as a reference that agents understand, seen from `cwd` where it lies below it: `@lua/x.lua`, with
--- lines `@lua/x.lua#L3-L9`. nil for a buffer that is no file.
---@param cwd string
---@param first? integer
---@param last? integer
---@return string?
function M.reference(cwd, first, last)
  local name = vim.api.nvim_buf_get_name(0)
  if name == "" or vim.bo.buftype ~= "" then
    return nil
  end
  local below = vim.fs.normalize(cwd):gsub("/$", "") .. "/"
  local path = vim.startswith(name, below) and name:sub(#below + 1) or name
  local lines = first and (first == last and ("#L%d"):format(first) or ("#L%d-L%d"):format(first, last)) or ""
  return "@" .. path .. lines
end

return M
