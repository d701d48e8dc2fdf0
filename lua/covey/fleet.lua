--- The editor's own picture of the fleet, fed by events. Completion, statusline, pickers and the board read it and
--- nothing else: no call in here waits for anything.
local M = {}

---@class covey.Session As `covey list --json` prints it.
---@field id string
---@field name string
---@field agent string
---@field state "starting"|"working"|"blocked"|"idle"|"exited"|"lost"|"unknown"
---@field since string
---@field evidence table
---@field exit? { code?: integer, signal?: integer }
---@field pid? integer
---@field pane? string
---@field cwd string
---@field epoch integer
---@field created string
---@field owner? { pid: integer, start: integer, host: string }
---@field on_exit "keep"|"reap"|"settled"
---@field keep boolean
---@field settled boolean
---@field queued integer
---@field guessed boolean
---@field attached integer
---@field flags string[]
---@field title string
---@field last_line string
---@field argv string[]
---@field conversation string

---@class covey.Receipt
---@field id string
---@field session string
---@field name? string
---@field epoch integer
---@field outcome string
---@field reason string
---@field bytes integer
---@field stripped integer
---@field number? integer A short word for its id.
---@field asks? boolean It is held for its sender to say when it goes (|covey-when|).

---@class covey.Event
---@field event string
---@field session? string
---@field data table
---@field seq integer

local GONE = { Reaped = true, Gone = true }
local SILENT = { Changed = true, Disconnected = true, Frame = true, Notice = true }

local by_id = {} ---@type table<string, covey.Session>
local sorted = {} ---@type covey.Session[]
local names = {} ---@type string[]
local counted = { total = 0, queued = 0, unseen = 0, ended = 0 } ---@type table<string, integer>
local connected = false
local shown = {} ---@type string[] ids as a person looked at them, newest first
local listeners = {} ---@type table<integer, fun(event: covey.Event)>
local next_listener = 0

local function count()
  counted = { total = #sorted, queued = 0, unseen = 0, ended = 0 }
  for _, session in ipairs(sorted) do
    counted[session.state] = (counted[session.state] or 0) + 1
    counted.queued = counted.queued + (session.queued or 0)
    local unseen = vim.tbl_contains(session.flags or {}, "unseen") and 1 or 0
    counted.unseen = counted.unseen + unseen
    counted.ended = counted.ended + (session.state == "exited" and unseen or 0)
  end
end

--- The names in their order: the very table of the time before, where none is new, gone or changed.
local function name_all()
  local fresh = vim.tbl_map(function(session)
    return session.name
  end, sorted)
  return vim.deep_equal(fresh, names) and names or fresh
end

--- Order and count again. Readers keep the tables they were given: a change makes new ones.
local function arrange()
  sorted = vim.tbl_values(by_id)
  table.sort(sorted, function(a, b)
    return a.name == b.name and a.id < b.id or a.name < b.name
  end)
  names = name_all()
  count()
  require("covey.statusline").refresh()
end

--- All sessions by name, at once. Before the helper is up: nil, "not connected", and the helper is warmed.
---@return covey.Session[]? sessions not to be changed
---@return string? reason
function M.list()
  if connected then
    return sorted
  end
  require("covey.rpc").warm()
  return nil, "not connected"
end

--- One session by its name, else by its id.
---@param name_or_id string
---@return covey.Session?
function M.get(name_or_id)
  for _, session in ipairs(sorted) do
    if session.name == name_or_id then
      return session
    end
  end
  return by_id[name_or_id]
end

---@return string[]
function M.names()
  return names
end

--- How many sessions there are in each state, and `total`, `queued`, `unseen`, and `ended`: unseen that have exited. A
--- state without sessions is absent.
---@return table<string, integer>
function M.counts()
  return counted
end

---@return boolean
function M.connected()
  return connected
end

--- Call `listener` after each event but Frame; `Fleet` is a new picture of everything.
---@param listener fun(event: covey.Event)
---@return fun() unsubscribe
function M.subscribe(listener)
  next_listener = next_listener + 1
  local key = next_listener
  listeners[key] = listener
  return function()
    listeners[key] = nil
  end
end

local function guarded(what, fn, ...)
  local ok, err = xpcall(fn, debug.traceback, ...)
  if not ok then
    require("covey.notify").warn(("covey: error in %s: %s"):format(what, err))
  end
end

--- `User Covey<Event>` with `data`, and every subscriber.
---@param event covey.Event
function M.tell(event)
  if not SILENT[event.event] then
    guarded("a User autocommand", vim.api.nvim_exec_autocmds, "User", {
      pattern = "Covey" .. event.event,
      modeline = false,
      data = event.data,
    })
  end
  for _, listener in ipairs(vim.tbl_values(listeners)) do
    guarded("a listener", listener, event)
  end
end

--- Put one session in, with what this editor knows of it.
local function put(session)
  local attention = require("covey.attention")
  attention.note(by_id[session.id], session)
  session.flags = attention.flags(session)
  by_id[session.id] = session
end

local function replace(sessions)
  local before = by_id
  by_id = {}
  for _, session in ipairs(sessions) do
    by_id[session.id] = before[session.id]
    put(session)
  end
  connected = true
  arrange()
end

--- Take in anew what this editor knows of a session.
---@param id string
function M.touch(id)
  local session = by_id[id]
  if session then
    session = vim.tbl_extend("force", session, {})
    session.flags = vim.tbl_filter(function(flag)
      return flag ~= "unseen" and flag ~= "muted"
    end, session.flags or {})
    session.flags = require("covey.attention").flags(session)
    by_id[id] = session
    arrange()
    M.tell({ event = "Changed", data = session, seq = 0 })
  end
end

--- Take in one event (|covey-events|): the cache first, then who listens.
---@param event covey.Event
function M.apply(event)
  if event.event == "Fleet" then
    replace(event.data.sessions or {})
    require("covey.receipts").replace(event.data.receipts or {})
  elseif GONE[event.event] then
    by_id[event.data.id] = nil
    require("covey.attention").forget(event.data.id)
    require("covey.changes").forget(event.data.id)
    arrange()
  elseif event.event == "Receipt" then
    require("covey.receipts").heard(event.data)
    require("covey.changes").heard(event.data)
  else
    local before = by_id[event.data.id]
    put(event.data)
    arrange()
    require("covey.news").heard(event.event, event.data, before)
    require("covey.reload").heard(event.data, before)
  end
  M.tell(event)
end

--- A snapshot that was asked for: as the event `Fleet`.
---@param data { sessions: covey.Session[], receipts: covey.Receipt[] }
function M.snapshot(data)
  M.apply({ event = "Fleet", data = data, seq = 0 })
end

--- The helper is gone. The last picture stays for completion; list() says that it is none of now.
---@param reason? string
function M.disconnect(reason)
  connected = false
  M.tell({ event = "Disconnected", data = { reason = reason or "not connected" }, seq = 0 })
end

--- All sessions by name as they were last known, connected or not. Starts nothing.
---@return covey.Session[] sessions not to be changed
function M.all()
  return sorted
end

--- The id of the session a person looked at last.
---@return string?
function M.current()
  return shown[1]
end

--- Remember that a person looked at this session.
---@param name_or_id string
function M.visit(name_or_id)
  local session = M.get(name_or_id)
  if session then
    shown = vim.tbl_filter(function(id)
      return id ~= session.id
    end, shown)
    table.insert(shown, 1, session.id)
  end
end

--- The session looked at before the current one.
---@return covey.Session?
function M.last()
  local living = vim.tbl_filter(function(id)
    return by_id[id] ~= nil
  end, shown)
  return by_id[living[2] or living[1]]
end

--- The session `step` places after the one looked at last, round and round.
---@param step integer
---@return covey.Session?
function M.beside(step)
  if #sorted == 0 then
    return nil
  end
  local from = step > 0 and 0 or 1
  for index, session in ipairs(sorted) do
    from = session.id == shown[1] and index or from
  end
  return sorted[(from + step - 1) % #sorted + 1]
end

return M
