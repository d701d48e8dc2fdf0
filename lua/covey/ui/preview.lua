--- Live, read-only windows on sessions. A preview never types, never resizes the pane, never takes the focus unasked.
local canvas = require("covey.ui.canvas")
local dock = require("covey.ui.dock")
local label = require("covey.ui.label")
local viewport = require("covey.ui.viewport")

local M = {}

---@class covey.PreviewOpts
---@field focus boolean? move the cursor into the window (default false)
---@field place (fun(area: covey.Area): covey.Placement)? where it lies (default: stacked at the right edge)
---@field on_close fun()?

---@class covey.View
---@field id string what the helper calls it
---@field session covey.Session
---@field float covey.Float
---@field canvas covey.Canvas?
---@field screen table? the last frame
---@field painted string? what is on the canvas
---@field placed { topline: integer, lnum: integer }? where we put the window's view
---@field history covey.History?
---@field note string? why the screen stands still
---@field adrift boolean? whether the helper that sent its frames is gone

local GONE = "gone" -- the state of a session that is no more

local views = {} ---@type table<string, covey.View>
local minted = 0
local unsubscribe = nil ---@type fun()?

local function ignore() end

local function leaving()
  return vim.v.exiting ~= vim.NIL
end

local function caption(view)
  view.float:caption(label.title(view.session), viewport.footer(view))
end

local function place(view)
  if view.float:valid() and view.screen and not view.history and viewport.place(view) then
    caption(view)
  end
end

local function dress(view)
  vim.b[view.float.buf].covey_session = view.session.id
  viewport.read_only(view.float)
end

--- Show a new buffer in the view's window; what was there goes.
---@param view covey.View
local function clear(view)
  if view.canvas then
    view.canvas:close()
  end
  view.canvas, view.painted, view.placed, view.reading = nil, nil, nil, false
  view.float:show(vim.api.nvim_create_buf(false, true))
  dress(view)
end

--- Make a canvas of this size: in the buffer that is there if nothing was painted into it, for to give a buffer its
--- filetype takes Neovim longer than all the rest.
local function renew(view, cols, rows)
  if view.canvas then
    clear(view)
  end
  view.canvas = canvas.new(view.float.win, cols, rows)
  require("covey.ui.follow").changes(view.canvas.buf, function() -- Neovim puts painted text into it a moment later
    place(view)
  end)
end

local function seen(view)
  return view.float:tab() == vim.api.nvim_get_current_tabpage()
end

local function paint(view)
  view.pending = false
  if leaving() or view.history or not view.screen or not seen(view) then
    return
  end
  local cols, rows = canvas.size(view.screen, view.float.win)
  if not (view.canvas and view.canvas:fits(cols, rows)) then
    renew(view, cols, rows)
  end
  if view.painted == view.screen.ansi then
    place(view)
  else
    view.painted = view.screen.ansi
    view.canvas:paint(view.screen)
  end
  caption(view)
end

--- A frame from the helper. Several that come before Neovim is ready to paint are one. A frame without a screen only
--- says why the screen stands still.
---@param event covey.Event
function M.frame(event)
  local view = views[event.data.view]
  if not view then
    return
  end
  if view.session.state ~= GONE then -- of one that is gone nothing better is known than why
    view.note = event.data.note
  end
  if not event.data.ansi then
    return caption(view)
  end
  view.screen = event.data
  if not view.pending then
    view.pending = true
    vim.schedule(function()
      paint(view)
    end)
  end
end

--- Have frames sent. Asked again under the same name, the helper begins anew.
local function ask(view)
  local id = view.id
  require("covey.rpc").call("preview", { name = view.session.id, view = id }, function(err)
    if err and views[id] then
      view.note = err.message
      caption(view)
    end
  end)
end

local function begin(view)
  minted = minted + 1
  view.id = ("%d-%d"):format(vim.fn.getpid(), minted)
  views[view.id] = view
  ask(view)
end

local function unask(view)
  views[view.id] = nil
  if not leaving() then
    require("covey.rpc").call("unpreview", { view = view.id }, ignore)
  end
end

--- Take in what became of a view's session. Frames end with the tmux server: where there is a new one, they are asked
--- for again.
local function update(view, event)
  local now = require("covey.fleet").get(view.session.id)
  if not now then
    view.note = event.data.reason or view.note or "this session is gone"
    now = vim.tbl_extend("force", view.session, { state = GONE })
  elseif view.session.state == "lost" and now.state ~= "lost" then
    ask(view)
  end
  view.session = now
  caption(view)
end

--- Frames end with the helper, too: the first word of a new one is when to ask it.
local function reconnect(view, event)
  if event.event == "Disconnected" then
    view.adrift, view.note = true, "not connected: " .. event.data.reason
    caption(view)
  elseif view.adrift then
    view.adrift = false
    ask(view)
  end
end

local function heard(event)
  for _, view in pairs(vim.tbl_extend("force", {}, views)) do
    reconnect(view, event)
    if event.event == "Fleet" or event.data.id == view.session.id then
      update(view, event)
    end
  end
end

local function listen()
  if next(views) and not unsubscribe then
    unsubscribe = require("covey.fleet").subscribe(heard)
  elseif not next(views) and unsubscribe then
    unsubscribe()
    unsubscribe = nil
  end
end

local function ended(view, on_close)
  unask(view)
  dock.leave(view)
  listen()
  if on_close then
    on_close()
  end
  vim.schedule(function()
    if view.canvas then
      view.canvas:close()
    end
    dock.layout()
  end)
end

local function spec(view, opts)
  return {
    focus = opts.focus,
    place = opts.place or function()
      return dock.place(view)
    end,
    title = label.title(view.session),
    footer = "",
    filetype = "covey-preview",
    keys = require("covey.ui.keys").chosen("preview", require("covey.ui.preview_keys").all(M, view)),
    on_close = function()
      ended(view, opts.on_close)
    end,
    on_layout = function()
      paint(view)
    end,
  }
end

local function show(view, opts)
  if not opts.place then
    dock.join(view)
  end
  local done, float = pcall(require("covey.ui.float").open, spec(view, opts))
  if not done or not float then
    dock.leave(view)
    return not done and error(float, 0) or nil -- no window may be opened just now (|textlock|)
  end
  view.float = float
  dress(view)
  vim.api.nvim_create_autocmd("TabEnter", {
    group = float.group,
    callback = function()
      paint(view)
    end,
  })
  begin(view)
  listen()
  dock.layout()
  return view
end

--- Watch a session. One that is watched already is shown (and focused, if asked), not opened twice.
---@param session covey.Session
---@param opts covey.PreviewOpts?
---@return covey.View? view nil where the editor has no room for a window
function M.open(session, opts)
  opts = opts or {}
  local there = not opts.place and dock.of(session.id)
  if not there then
    return show({ session = session }, opts)
  end
  if opts.focus then
    there.float:focus()
  end
  return there
end

--- Watch another session in the same window.
---@param view covey.View
---@param session covey.Session
function M.retarget(view, session)
  unask(view)
  view.session, view.screen, view.history, view.note = session, nil, nil, nil
  clear(view)
  begin(view)
  caption(view)
end

--- Leave the history, back to the live screen.
---@param view covey.View
function M.live(view)
  view.history = nil
  clear(view)
  paint(view)
  caption(view)
end

--- Show another canvas in place of the live screen; `M.live` brings that back.
---@param view covey.View
---@param history covey.History
---@param make fun(win: integer): covey.Canvas
function M.replace(view, history, make)
  view.history = history
  clear(view)
  view.canvas = make(view.float.win)
  caption(view)
end

--- Stop watching. Whatever else closes the window does the same.
---@param view covey.View
function M.close(view)
  view.float:close()
end

return M
