--- A terminal buffer on which whole screens are painted. It runs nothing and answers nothing.
---
--- Neovim gives a terminal the size of the largest window that shows it. A pane may be larger than the float it is
--- shown in, so a second, hidden window of the pane's size shows the buffer too; Neovim clips both to the editor.
local M = {}

-- Home first, then erase, then paint: erasing after a full last line would take its last character, and erasing
-- with a background colour set would paint it to the edge. Autowrap off (?7l): where Neovim thinks a character
-- wider than tmux does, the row loses its end instead of pushing all rows below down. `ESC ) 0`: line drawing
-- arrives as shift-out.
local BEGIN = "\27[0m\27)0\15\27[?7l\27[H\27[J"

---@class covey.Screen
---@field ansi string rows joined by LF, with SGR sequences
---@field cols integer
---@field rows integer
---@field cursor { x: integer, y: integer, visible: boolean }?

---@class covey.Canvas
---@field buf integer
---@field asked { cols: integer, rows: integer }
---@field cols integer what it has of these: from 0.12 on Neovim keeps floats off the rows of 'cmdheight'
---@field rows integer
local Canvas = {}
Canvas.__index = Canvas

--- The terminal size a screen needs in a window: its own, as far as the editor is that large.
---@param screen covey.Screen
---@param win integer
---@return integer cols
---@return integer rows
function M.size(screen, win)
  local width, height = vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win)
  return math.max(width, math.min(screen.cols, vim.o.columns)), math.max(height, math.min(screen.rows, vim.o.lines))
end

--- Without what could act on the person's editor: only colours and characters are left. (tmux writes nothing else
--- but hyperlinks; this holds whatever it is that sends.)
---@param ansi string
---@return string
function M.inert(ansi)
  if ansi:find("\27[%]PX^_]") then
    ansi = ansi:gsub("\27[%]PX^_][^\7\27]*\7?", ""):gsub("\27\\", "")
  end
  return ansi
end

--- How many rows of a screen are in use: up to its last text or its cursor. What is below is blank.
---@param screen covey.Screen
---@return integer
function M.used(screen)
  local lines = vim.split(screen.ansi, "\n", { plain = true })
  local least = screen.cursor and screen.cursor.y + 1 or 1
  for row = math.min(#lines, screen.rows), least + 1, -1 do
    if lines[row]:gsub("\27%[[%d;:]*m", ""):find("[^%s\14\15]") then
      return row
    end
  end
  return math.min(least, screen.rows)
end

--- The first row to show, from 0, where there is room for `height`: the end of what is in use, or higher up where a
--- visible cursor would be out of sight.
---@param screen covey.Screen
---@param height integer
---@return integer
function M.first(screen, height)
  local bottom = math.max(0, M.used(screen) - height)
  local cursor = screen.cursor
  return cursor and cursor.visible ~= false and math.min(bottom, cursor.y) or bottom
end

--- The bytes that paint rows `first`… of a screen on a terminal of `height` rows. Colours may reach over the end of
--- a line (tmux up to 3.3a), so the rows above are kept as their colours alone.
---@param screen covey.Screen
---@param first integer
---@param height integer
---@return string
function M.bytes(screen, first, height)
  local out = { BEGIN }
  for index, line in ipairs(vim.split(M.inert(screen.ansi), "\n", { plain = true })) do
    local row = index - first
    if row < 1 then
      for colour in line:gmatch("[\14\15]") do
        table.insert(out, colour)
      end
      for colour in line:gmatch("\27%[[%d;:]*m") do
        table.insert(out, colour)
      end
    elseif row <= height then
      table.insert(out, ("\27[%d;1H%s"):format(row, (line:gsub("\r", ""))))
    end
  end
  return table.concat(out)
end

local function hidden(buf, cols, rows)
  return vim.api.nvim_open_win(buf, false, {
    relative = "editor",
    row = 0,
    col = 0,
    width = cols,
    height = rows,
    style = "minimal",
    focusable = false,
    hide = true,
    noautocmd = true,
  })
end

--- Run without TermOpen: a person's `autocmd TermOpen * startinsert` is meant for terminals to type into.
local function quietly(act)
  local before = vim.o.eventignore
  vim.opt.eventignore:append("TermOpen")
  local ok, result = pcall(act)
  vim.o.eventignore = before
  return ok and result or error(result)
end

--- Turn the buffer that a window shows into a canvas.
---@param win integer
---@param cols integer
---@param rows integer
---@param scrollback integer? lines kept above the screen (default: as few as there can be)
---@return covey.Canvas
function M.new(win, cols, rows, scrollback)
  local width, height = vim.api.nvim_win_get_width(win), vim.api.nvim_win_get_height(win)
  local self = setmetatable({ buf = vim.api.nvim_win_get_buf(win), asked = { cols = cols, rows = rows } }, Canvas)
  if cols > width or rows > height then
    self.hidden = hidden(self.buf, cols, rows)
    width = math.max(width, vim.api.nvim_win_get_width(self.hidden))
    height = math.max(height, vim.api.nvim_win_get_height(self.hidden))
  end
  self.cols, self.rows = width, height
  vim.bo[self.buf].scrollback = scrollback or 1
  self.channel = quietly(function()
    return vim.api.nvim_open_term(self.buf, {})
  end)
  return self
end

--- Whether the canvas can be painted on and still has this size.
---@param cols integer
---@param rows integer
---@return boolean
function Canvas:fits(cols, rows)
  local held = not self.hidden or vim.api.nvim_win_is_valid(self.hidden)
  return vim.api.nvim_buf_is_valid(self.buf) and held and self.asked.cols == cols and self.asked.rows == rows
end

--- Paint a screen. Its text is in the buffer a moment later (Neovim redraws terminals by a timer of its own).
---@param screen covey.Screen
function Canvas:paint(screen)
  self.top = M.first(screen, self.rows)
  self:write(M.bytes(screen, self.top, self.rows))
end

--- Write bytes as they are.
---@param bytes string
function Canvas:write(bytes)
  vim.api.nvim_chan_send(self.channel, bytes)
end

--- Give back the hidden window; the buffer belongs to the window that shows it.
function Canvas:close()
  if self.hidden and vim.api.nvim_win_is_valid(self.hidden) then
    pcall(vim.api.nvim_win_close, self.hidden, true)
  end
end

return M
