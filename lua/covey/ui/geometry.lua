--- Where a float lies, from the editor's size and what is wished. Pure, but for `editor()`, which reads the size.
local M = {}

local MIN_WIDTH, MIN_HEIGHT = 8, 1 -- cells inside the border; below that a float says so and closes
local BORDER = 2 -- cells a border takes of a width or a height

---@class covey.Area
---@field row integer first usable row of the editor, from 0
---@field col integer
---@field width integer
---@field height integer

---@class covey.Placement
---@field width number? cells with the border, or a fraction up to 1 (default 1)
---@field height number?
---@field border (string|string[])?
---@field align "center"|"right"|"left"|nil
---@field area covey.Area? a part of the editor (default: all of it)
---@field slot { index: integer, count: integer }? share the area with others, one above the other

---@class covey.Editor
---@field columns integer
---@field lines integer
---@field cmdheight integer
---@field status boolean whether the last window's status line takes a row
---@field tabs boolean whether the tab line is shown

--- What the geometry depends on, read from the running editor.
---@return covey.Editor
function M.editor()
  local bar, tabs = vim.o.laststatus, vim.o.showtabline
  return {
    columns = vim.o.columns,
    lines = vim.o.lines,
    cmdheight = vim.o.cmdheight,
    status = bar >= 2 or (bar == 1 and vim.fn.winnr("$") > 1),
    tabs = tabs == 2 or (tabs == 1 and #vim.api.nvim_list_tabpages() > 1),
  }
end

--- The cells a float may cover: everything but the tab line, the last status line and the command line.
---@param editor covey.Editor
---@return covey.Area
function M.area(editor)
  local top = editor.tabs and 1 or 0
  local bottom = editor.cmdheight + (editor.status and 1 or 0)
  return { row = top, col = 0, width = editor.columns, height = editor.lines - top - bottom }
end

--- The area of the running editor.
---@return covey.Area
function M.now()
  return M.area(M.editor())
end

local function cells(wanted, room)
  local size = wanted or 1
  return math.max(1, math.min(room, math.floor(size <= 1 and room * size or size)))
end

local function share(area, slot)
  if not slot then
    return area
  end
  local height = math.floor(area.height / slot.count)
  return { row = area.row + height * (slot.index - 1), col = area.col, width = area.width, height = height }
end

local function has_border(border)
  return border ~= nil and border ~= "none" and border ~= ""
end

local COLUMN = {
  left = function()
    return 0
  end,
  right = function(free)
    return free
  end,
  center = function(free)
    return math.floor(free / 2)
  end,
}

--- Where a float lies, as a part of `nvim_open_win`'s config; nil where there is no room for one.
--- A border is given up before the content is.
---@param area covey.Area
---@param placement covey.Placement
---@return { row: integer, col: integer, width: integer, height: integer, border: string|string[] }?
function M.fit(area, placement)
  local room = share(placement.area or area, placement.slot)
  local outer = { width = cells(placement.width, room.width), height = cells(placement.height, room.height) }
  local edge = has_border(placement.border) and BORDER or 0
  if outer.width - edge < MIN_WIDTH or outer.height - edge < MIN_HEIGHT then
    edge = 0
  end
  if room.height < MIN_HEIGHT or outer.width < MIN_WIDTH then
    return nil
  end
  local align = placement.align or "center"
  return {
    row = room.row + (align == "center" and COLUMN.center(room.height - outer.height) or 0),
    col = room.col + COLUMN[align](room.width - outer.width),
    width = outer.width - edge,
    height = outer.height - edge,
    border = edge > 0 and placement.border or "none",
  }
end

return M
