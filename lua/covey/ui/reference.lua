--- `file:line` as agents print it: found under the cursor, opened in a window of the person's.
local M = {}

local PATH = "[%w%._/~+@-]+"

---@class covey.Reference
---@field path string
---@field line integer?
---@field column integer?

--- The reference at a byte column (from 0) of a line; nil where there is none.
---@param text string
---@param column integer
---@return covey.Reference?
function M.at(text, column)
  local from = 1
  while true do
    local first, last = text:find(PATH, from)
    if not first then
      return nil
    end
    local line, col = text:match("^:(%d+):?(%d*)", last + 1)
    line, col = line or text:match("^#L(%d+)", last + 1), col
    local stop = last + (line and #line + 2 or 0) + #(col or "")
    if column + 1 >= first and column + 1 <= stop then
      local path = text:sub(first, last):gsub("^@", ""):gsub("%.$", "")
      return { path = path, line = tonumber(line), column = tonumber(col) }
    end
    from = last + 1
  end
end

--- The file a reference means, seen from a session's directory; nil where no such file can be read.
---@param reference covey.Reference
---@param cwd string
---@return string?
function M.resolve(reference, cwd)
  local path = vim.fs.normalize(reference.path)
  path = path:sub(1, 1) == "/" and path or vim.fs.joinpath(cwd, path)
  return vim.fn.filereadable(path) == 1 and path or nil
end

--- A window that holds a person's text: the one before, else the first that is not a float.
local function plain_window()
  local candidates = { vim.fn.win_getid(vim.fn.winnr("#")), unpack(vim.api.nvim_tabpage_list_wins(0)) }
  for _, win in ipairs(candidates) do
    if win ~= 0 and vim.api.nvim_win_get_config(win).relative == "" then
      return win
    end
  end
end

--- The line under the cursor as it was printed, where a screen of this width broke it into rows.
---@param width integer? cells
---@return string text
---@return integer column of the cursor in it, bytes from 0
local function unbroken(width)
  local row, column = unpack(vim.api.nvim_win_get_cursor(0))
  local function full(number)
    return vim.api.nvim_strwidth(vim.fn.getline(number)) == width
  end
  local first, last = row, row
  while first > 1 and full(first - 1) do
    first = first - 1
    column = column + #vim.fn.getline(first)
  end
  while full(last) and last < vim.fn.line("$") do
    last = last + 1
  end
  return table.concat(vim.api.nvim_buf_get_lines(0, first - 1, last, false)), column
end

--- The reference under the cursor that means a file: of the line as it was printed, else of the row alone.
local function found(cwd, width)
  local row = { vim.api.nvim_get_current_line(), vim.api.nvim_win_get_cursor(0)[2] }
  for _, place in ipairs({ { unbroken(width) }, row }) do
    local reference = M.at(place[1], place[2])
    local path = reference and M.resolve(reference, cwd)
    if path then
      return reference, path
    end
  end
end

--- Go to the file under the cursor; a sentence where there is none.
---@param cwd string
---@param width integer? of the screen that is shown, in cells
function M.jump(cwd, width)
  local reference, path = found(cwd, width)
  if not path then
    return require("covey.notify").warn("covey: no file under the cursor")
  end
  vim.api.nvim_set_current_win(plain_window())
  vim.cmd.edit(vim.fn.fnameescape(path))
  if reference.line then
    local last = vim.api.nvim_buf_line_count(0)
    vim.api.nvim_win_set_cursor(0, { math.min(reference.line, last), math.max(0, (reference.column or 1) - 1) })
  end
end

return M
