--- A session to type into: a real terminal on `tmux attach`, in a float, a split or a tab page, or in the person's own
--- tmux. Every key but those of `config.keys.attach` reaches the agent. Closing the window only detaches.
local M = {}

---@class covey.AttachOpts
---@field style ("float"|"split"|"vsplit"|"tab"|"popup"|"tmux")?

---@class covey.Attached
---@field session covey.Session
---@field style string
---@field buf integer
---@field job integer?
---@field typing boolean whether the person was in terminal mode when they left the window
---@field passing boolean? whether a key is on its way to the editor; the person types on after it
---@field float covey.Float?

local shown = {} ---@type table<string, covey.Attached>
local asked = {} ---@type table<string, boolean> sessions whose command is on its way

local function leaving()
  return vim.v.exiting ~= vim.NIL
end

local function window_of(view)
  return view and vim.api.nvim_buf_is_valid(view.buf) and vim.fn.win_findbuf(view.buf)[1] or nil
end

local function forget(view)
  if shown[view.session.id] == view then
    shown[view.session.id] = nil
  end
end

--- What is attached in that style on this tab page, and its window: one is enough, the next session is shown in it.
---@return covey.Attached?
---@return integer?
local function view_here(style)
  for _, view in pairs(shown) do
    local win = view.style == style and window_of(view)
    if win and vim.api.nvim_win_get_tabpage(win) == vim.api.nvim_get_current_tabpage() then
      return view, win
    end
  end
end

local function new_float()
  local size = require("covey.config").get().float
  return require("covey.ui.float").open({
    focus = true,
    title = "",
    footer = "",
    place = function()
      return { width = size.width, height = size.height, border = size.border }
    end,
  })
end

local function in_float(view)
  view.float = (view_here("float") or {}).float
  if view.float then
    view.float:focus()
    view.float:show(vim.api.nvim_create_buf(false, true))
  else
    view.float = new_float()
  end
  view.buf = view.float and view.float.buf
end

local COMMANDS = { split = "new", vsplit = "vnew", tab = "tabnew" }

--- Make the view's window, or take the one of its style that is here, and move into it; false where there is no room
--- for a float.
---@param another boolean make a window in any case
local function open_window(view, style, another)
  if style == "float" then
    in_float(view)
    return view.buf ~= nil
  end
  local _, win = view_here(style)
  if win and not another then
    vim.api.nvim_set_current_win(win)
    vim.api.nvim_win_set_buf(win, vim.api.nvim_create_buf(true, false))
  else
    vim.cmd[COMMANDS[style]]()
  end
  view.buf = vim.api.nvim_get_current_buf()
  return true
end

local function last_words(buf)
  local lines = vim.api.nvim_buf_is_valid(buf) and vim.api.nvim_buf_get_lines(buf, 0, -1, false) or {}
  for index = #lines, 1, -1 do
    if lines[index]:find("%S") and not lines[index]:find("^%[Process exited") then
      return vim.trim(lines[index])
    end
  end
  return "no reason given"
end

--- The client ended: because the person detached, or because the session or its server went.
local function ended(view, code)
  if leaving() or view.stopped then
    return
  end
  forget(view)
  if not vim.api.nvim_buf_is_valid(view.buf) then
    return
  elseif code == 0 then
    require("covey.ui.farewell").closed(view.session)
  else
    require("covey.notify").warn(("covey: %s: %s"):format(view.session.name, last_words(view.buf)))
  end
  local types = vim.api.nvim_get_mode().mode == "t" and vim.api.nvim_get_current_buf() == view.buf
  if types and not last_words(view.buf):find("^%[detached") then
    require("covey.ui.remains").leave(view)
  else
    vim.api.nvim_buf_delete(view.buf, { force = true })
  end
end

local function start_job(view, plan)
  local options = {
    env = next(plan.env or {}) and plan.env or nil,
    on_exit = function(_, code)
      ended(view, code)
    end,
  }
  if vim.fn.has("nvim-0.11") == 1 then
    return vim.fn.jobstart(plan.argv, vim.tbl_extend("force", options, { term = true }))
  end
  return vim.fn.termopen(plan.argv, options)
end

--- `bufhidden` alone leaves the buffer of a tab page's last window behind.
local function delete_unseen(buf)
  if vim.api.nvim_buf_is_valid(buf) and #vim.fn.win_findbuf(buf) == 0 then
    vim.api.nvim_buf_delete(buf, { force = true })
  end
end

--- Name and state of the session at the window's edge, and of the buffer: as they are by now.
local function caption(view)
  local function hint(room)
    return require("covey.ui.attach_keys").hint(view.session, room)
  end
  require("covey.ui.restore").name(view.buf, "attach", view.session)
  if view.float then
    return view.float:caption(require("covey.ui.label").title(view.session), { { hint(math.huge), "CoveyDim" } })
  end
  for _, win in ipairs(vim.fn.win_findbuf(view.buf)) do
    local width = vim.api.nvim_win_get_width(win)
    vim.wo[win][0].winbar = require("covey.ui.edge").bar(view.session, width, {}, hint)
  end
end

local function follow_state(view)
  return require("covey.fleet").subscribe(function(event)
    local session = require("covey.fleet").get(view.session.id)
    if session and (event.data.id == session.id or event.event == "Fleet") then
      view.session = session
      caption(view)
    end
  end)
end

--- Come back as one left: typing, or reading where one was.
local function remember_mode(view)
  local group = vim.api.nvim_create_augroup("covey.attach." .. view.buf, { clear = true })
  local function on(event, act)
    vim.api.nvim_create_autocmd(event, { group = group, buffer = view.buf, callback = act })
  end
  on("WinLeave", function()
    view.typing = view.passing or vim.fn.mode() == "t"
  end)
  on("WinEnter", function()
    if view.typing then
      vim.cmd.startinsert()
    end
  end)
  on("WinClosed", function()
    vim.schedule(function()
      delete_unseen(view.buf)
    end)
  end)
  vim.api.nvim_create_autocmd("WinResized", {
    group = group,
    callback = function()
      caption(view)
    end,
  })
  local unsubscribe = follow_state(view)
  on("BufWipeout", function()
    unsubscribe()
    forget(view)
    vim.api.nvim_del_augroup_by_id(group)
  end)
end

local function dress(view)
  local buf = view.buf
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].modified = false
  vim.bo[buf].filetype = "covey-attach"
  vim.b[buf].covey_session = view.session.id
  require("covey.ui.attach_keys").set(view)
  caption(view)
end

--- A running job stops `:wqa` (E948), so clients are told to go before Neovim looks. Where it then stays after all,
--- because some file was not saved, they come back.
local function watch_exit()
  local group = vim.api.nvim_create_augroup("covey.attach", { clear = true })
  vim.api.nvim_create_autocmd("ExitPre", {
    group = group,
    callback = function()
      for _, view in pairs(shown) do
        M._pause(view)
      end
    end,
  })
end

function M._pause(view)
  view.stopped = true
  vim.fn.jobstop(view.job)
  vim.schedule(function()
    if leaving() then
      return
    end
    forget(view)
    if vim.api.nvim_buf_is_valid(view.buf) then
      vim.api.nvim_buf_delete(view.buf, { force = true })
    end
    M.open(view.session, { style = view.style })
  end)
end

local function start(session, plan, style, another)
  if require("covey.ui.own_tmux").has(style) then
    return require("covey.ui.own_tmux").open(session, plan, style)
  end
  local view = { session = session, style = style, typing = true }
  if not open_window(view, style, another) then
    return
  end
  watch_exit()
  view.job = start_job(view, plan)
  shown[session.id] = view
  dress(view)
  remember_mode(view)
  vim.cmd.startinsert()
end

--- Move to where a session is attached already; false where it is not.
local function go_to(id)
  local win = window_of(shown[id])
  if win then
    vim.api.nvim_set_current_win(win)
  end
  return win ~= nil
end

--- The style that is wished, or what is wrong with it.
---@return string? style
---@return string? problem
local function style_of(opts)
  local style = opts and opts.style or require("covey.config").get().attach.style
  local styles = require("covey.config").STYLES
  if vim.tbl_contains(styles, style) then
    return style
  end
  return nil, ("covey: style is one of %s, not %s"):format(table.concat(styles, ", "), tostring(style))
end

--- Attach to a session, or go to the window where it is attached already. A split that is here is used again, but where
--- the caller asks for the style.
---@param session covey.Session
---@param opts covey.AttachOpts?
function M.open(session, opts)
  local style, problem = style_of(opts)
  if not style then
    return require("covey.notify").warn(problem)
  end
  local ours = not require("covey.ui.own_tmux").has(style)
  if asked[session.id] or (ours and go_to(session.id)) then
    return
  end
  asked[session.id] = true
  require("covey.ui.farewell").watch()
  require("covey.rpc").call("attach", { name = session.id }, function(err, plan)
    asked[session.id] = nil
    if err then
      return require("covey.notify").error(err)
    end
    start(session, plan, style, opts ~= nil and opts.style ~= nil)
  end)
end

return M
