--- The fleet at a glance: one row a session, those that need the person first, and a live preview beside it.
local caption = require("covey.ui.caption")
local groups = require("covey.ui.groups")
local roster = require("covey.ui.roster")

local M = {}

local NAMESPACE = vim.api.nvim_create_namespace("covey.board")
local AGE_TICK = 5000 -- ms between two looks at the clock, while the board is open
local SETTLE = 60 -- ms the cursor rests on a row before its preview is asked for
local BESIDE = 110 -- columns from which there is room for a preview beside the board
local LEAST = 60 -- columns of the board where a preview is beside it

---@class covey.BoardOpts
---@field filter string?

---@class covey.Board
---@field float covey.Float
---@field filter string "" shows all
---@field grouped boolean whether sessions stand under their projects
---@field folded table<string, boolean> projects of which only the head is shown
---@field costs covey.Costs? where there is a column for what sessions cost
---@field shown covey.Entry[] in the order of the rows
---@field rows covey.Row[] what is written
---@field heading string
---@field cursor covey.Cursor
---@field costs covey.Costs? where there is a column for what sessions cost
---@field shown covey.Entry[] in the order of the rows
---@field rows covey.Row[] what is written
---@field heading string
---@field chosen covey.Entry? where the person put the cursor: it goes back there as soon as that is shown again
---@field at covey.Entry? where it stands
---@field held string? id of the session there, if it was not looked at before: that alone does not move it
---@field view covey.View? the preview beside it

local board = nil ---@type covey.Board?

---@return covey.Entry?
local function entry()
  if board and board.float:valid() then
    return board.shown[vim.api.nvim_win_get_cursor(board.float.win)[1]]
  end
end

---@return covey.Session?
local function current()
  return (entry() or {}).session
end

--- The area of the board, or of the preview to its right.
local function part(area, beside)
  if area.width < BESIDE then
    return not beside and area or nil
  end
  local width = math.max(LEAST, math.floor(area.width / 2))
  local left, share = beside and width or 0, beside and area.width - width or width
  return { row = area.row, col = area.col + left, width = share, height = area.height }
end

local function has_room()
  return part(require("covey.ui.geometry").now(), true) ~= nil
end

local function placement(beside)
  return function(area)
    local border = require("covey.config").get().float.border
    return { area = part(area, beside), width = 1, height = 1, border = border, align = "left" }
  end
end

local function write_row(buf, line, row)
  vim.api.nvim_buf_clear_namespace(buf, NAMESPACE, line - 1, line)
  vim.api.nvim_buf_set_lines(buf, line - 1, line, false, { row.text })
  for _, mark in ipairs(row.marks) do
    vim.api.nvim_buf_set_extmark(buf, NAMESPACE, line - 1, mark[1], { end_col = mark[2], hl_group = mark[3] })
  end
end

--- Write the rows that are not there already.
local function write(rows)
  local buf = board.float.buf
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, #rows, -1, false, {})
  for line, row in ipairs(rows) do
    if board.rows[line] ~= row then
      write_row(buf, line, row)
    end
  end
  vim.bo[buf].modifiable = false
  board.rows = rows
end

--- After rows have moved: the cursor goes where it belongs.
local function put_cursor()
  local line = board.cursor:line(board.shown)
  if line then
    local column = vim.api.nvim_win_get_cursor(board.float.win)[2]
    vim.api.nvim_win_set_cursor(board.float.win, { line, column })
  end
  board.cursor:put(entry())
end

local function describe()
  local title = caption.title(require("covey.fleet").counts(), vim.api.nvim_win_get_width(board.float.win))
  board.float:caption(title, caption.footer(current(), board.heading, board.filter))
end

--- The preview beside the board shows the session under the cursor.
local function watch_current()
  local session = current()
  if not session or not has_room() then
    return
  end
  local own, preview = board, require("covey.ui.preview")
  if not own.view then
    local view = preview.open(session, {
      place = placement(true),
      on_close = function()
        own.view = nil
      end,
    })
    own.view = view
  elseif own.view.session.id ~= session.id then
    preview.retarget(own.view, session)
  end
end

--- Draw all rows again; the cursor stays on its session.
local function draw()
  if not board or not board.float:valid() then
    return
  end
  board.cursor:moved(entry()) -- the event may be still to come
  local sessions = require("covey.fleet").list() or require("covey.fleet").all()
  sessions = roster.sorted(roster.matching(sessions, board.filter), board.cursor.held)
  board.shown = board.grouped and groups.arrange(sessions, board.folded) or groups.flat(sessions)
  local win = board.float.win
  local rows, heading = groups.rows(board.shown, vim.api.nvim_win_get_width(win), board.costs)
  board.heading = #rows > 0 and heading or ""
  write(#rows > 0 and rows or { { text = caption.nothing(), marks = {} } })
  caption.head(win, board.heading)
  put_cursor()
  describe()
end

--- Draw, and have the preview follow.
local function show()
  draw()
  watch_current()
end

local function later(act, wait)
  local due = false
  return function()
    if not due then
      due = true
      vim.defer_fn(function()
        due = false
        act()
      end, wait)
    end
  end
end

local redraw = later(show, 0)
local rest = later(watch_current, SETTLE)

local function moved()
  if board and board.cursor:moved(entry()) then
    describe()
    rest()
  end
end

--- The editor has another size: the preview goes where there is no room for it any more.
local function resized()
  if board and board.view and not has_room() then
    require("covey.ui.preview").close(board.view)
  end
  redraw()
end

local function closed()
  local gone = board
  board = nil
  gone.forget()
  gone.clock:stop()
  gone.clock:close()
  if gone.costs then
    gone.costs:stop()
  end
  vim.schedule(function()
    if gone.view then
      require("covey.ui.preview").close(gone.view)
    end
  end)
end

--- The session that a key is for; from then on the cursor stays on it.
---@return covey.Session?
local function meant()
  board.cursor:choose()
  return current()
end

--- What the board's keys need of it.
---@class covey.BoardHands
local hands = {
  current = meant,
  close = function()
    board.float:close()
  end,
  look = function()
    if board.view then
      return board.view.float:focus()
    end
    local session = meant()
    if session then
      require("covey.ui.preview").open(session, { focus = true, place = placement(false) })
    end
  end,
  filter = function(text)
    if board then
      board.filter = vim.trim(text)
      show()
    end
  end,
  filtered = function()
    return board.filter
  end,
  group = function()
    board.cursor:choose()
    board.grouped = not board.grouped
    show()
  end,
  fold = function()
    board.cursor:moved(entry())
    board.cursor:choose()
    local project = board.cursor:project()
    if board.grouped and project then
      board.folded[project] = not board.folded[project] or nil
      show()
    end
  end,
  costs = function()
    if board.costs then
      board.costs:stop()
      board.costs = nil
    else
      board.costs = require("covey.ui.costs").start(draw)
    end
    draw()
  end,
}

local function open_float()
  return require("covey.ui.float").open({
    place = placement(false),
    focus = true,
    title = { { " covey ", "CoveyTitle" } },
    footer = "",
    filetype = "covey-board",
    wo = { cursorline = true },
    keys = require("covey.ui.board_keys").all(hands),
    on_close = closed,
    on_layout = resized,
  })
end

local function start(float)
  board = { float = float, filter = "", grouped = false, folded = {}, shown = {}, rows = {}, heading = "" }
  board.cursor = require("covey.ui.cursor").new()
  board.forget = require("covey.fleet").subscribe(redraw)
  board.clock = assert(vim.uv.new_timer())
  board.clock:start(AGE_TICK, AGE_TICK, vim.schedule_wrap(draw))
  vim.api.nvim_create_autocmd("CursorMoved", { group = float.group, buffer = float.buf, callback = moved })
end

--- Open the board, or go to it.
---@param opts covey.BoardOpts?
function M.open(opts)
  if board and board.float:valid() then
    board.float:focus()
  else
    local float = open_float()
    if not float then
      return
    end
    start(float)
  end
  board.filter = opts and opts.filter or board.filter
  show()
end

return M
