--- The only Lua that knows Python: starts the host at the first real request, calls it, hears from it, and lets it go.
---
--- Everything is a notification. A call is answered by `resolve`, an event comes by `emit`; nothing here ever waits
--- for Python but `bye`, for at most 1.5 s, while the editor leaves.
local backoff = require("covey.backoff")
local calls = require("covey.calls")
local process = require("covey.host")

local M = {}

---@class covey.Error A failure as a value.
---@field code string Stable; see |covey-errors|.
---@field message string One sentence.
---@field hint? string The way out, where there is one.
---@field once? string Errors with the same key are one event, and told once.

---@alias covey.Callback fun(err?: covey.Error, result?: any)

local BYE_WAIT = 1500 -- ms that the editor waits for "accepted"
local BYE_LOOK = 5 -- ms between two looks while nothing happens
local SWEEP = 10000 -- ms that the host may take after the editor has gone

local host = nil ---@type covey.Host?
local waiting = {} ---@type { [1]: integer, [2]: string, [3]: table }[] calls until the host may start again
local last_words = nil ---@type covey.Error? of the host that died last
local due = false -- a restart is timed
local resyncing = false
local accepted = false
local leaving = false

---@return integer ms
local function now()
  return math.floor(vim.uv.hrtime() / 1e6)
end

---@return boolean
local function is_leaving()
  return leaving or vim.v.exiting ~= vim.NIL
end

--- JSON's null is nil on this side, at every depth.
local function plain(value)
  if value == vim.NIL then
    return nil
  elseif type(value) == "table" then
    for key, item in pairs(value) do
      value[key] = plain(item)
    end
  end
  return value
end

--- The host is gone: one notice, and an answer to every call in flight.
---@param dead covey.Host
---@param err covey.Error
local function bury(dead, err)
  host = nil
  backoff.died(now())
  err.once = "host-" .. dead.chan
  last_words = err
  require("covey.fleet").disconnect(err.message)
  local answers, gravest = calls.orphans(err, dead.ready)
  require("covey.notify").error(gravest)
  for id, answer in pairs(answers) do
    calls.finish(id, answer)
  end
end

local function send(name, ...)
  return host and pcall(vim.rpcnotify, host.chan, name, ...)
end

--- Made before the first host is: whatever starts, there is somebody to let it go.
local function watch_exit()
  vim.api.nvim_create_autocmd("VimLeavePre", {
    group = vim.api.nvim_create_augroup("CoveyRpc", { clear = true }),
    desc = "tell the covey helper that this editor leaves",
    callback = M.bye,
  })
end

---@return covey.Error?
local function launch()
  local python, err = require("covey.install").python()
  if python then
    watch_exit()
    host, err = process.start(python, function(own, code)
      if not is_leaving() then
        bury(own, process.cause(own, code))
      end
    end)
  end
  if not host then
    return err
  end
  local config = require("covey.config").for_helper()
  send("covey.hello", { pid = vim.fn.getpid(), cwd = vim.fn.getcwd(), config = config })
end

--- Start what waits, or tell it why not.
local function release()
  due = false
  if is_leaving() then
    return
  end
  local err = not host and launch() or nil
  local held = waiting
  waiting = {}
  for _, call in ipairs(held) do
    if err then
      calls.finish(call[1], err)
    else
      send("covey.call", unpack(call))
    end
  end
end

--- Have a host, or have one soon.
---@return covey.Error?
local function connect()
  if host or due then
    return nil
  end
  local delay = backoff.delay(now())
  if not delay then
    local message = ("the covey helper failed %d times within a minute: %s"):format(backoff.GIVE_UP, last_words.message)
    return { code = "unavailable", message = message, hint = last_words.hint }
  elseif delay == 0 then
    return launch()
  end
  due = true
  vim.defer_fn(release, delay)
end

--- Call a method of the helper, from anywhere. The callback comes later, on the main loop, exactly once; not at all if
--- the editor leaves first. Without one, an error is told and a result is not.
---@param method string
---@param params? table
---@param cb? covey.Callback
function M.call(method, params, cb)
  if vim.in_fast_event() then
    return vim.schedule(function()
      M.call(method, params, cb)
    end)
  elseif is_leaving() then
    return
  end
  local id = calls.mint(method, params and params.name, cb or M.tell)
  params = (params == nil or next(params) == nil) and vim.empty_dict() or params
  local err = connect()
  if err then
    vim.schedule(function()
      calls.finish(id, err)
    end)
  elseif due then
    table.insert(waiting, { id, method, params })
  else
    send("covey.call", id, method, params)
  end
end

--- The callback of who has none.
---@param err? covey.Error
function M.tell(err)
  if err then
    require("covey.notify").error(err)
  end
end

--- Start the host if it does not run, before anything is asked of it.
function M.warm()
  if not vim.in_fast_event() and not is_leaving() and backoff.delay(now()) then
    local err = connect()
    if err then
      require("covey.notify").error(vim.tbl_extend("keep", err, { once = err.message }))
    end
  end
end

--- A bug left its traceback on the host's stderr.
---@param err? covey.Error
---@return covey.Error?
local function with_log(err)
  if err and err.code == "bug" and (err.hint or "") == "" then
    err.hint = "log: " .. process.log_path()
  end
  return err
end

--- The answer to hello: from now on the helper speaks, or it is let go.
local function greeted(err, info)
  if not host then
    return
  end
  if err then
    process.stop(host)
    bury(host, err)
  else
    host.ready, host.info = true, info
  end
end

--- Python's way back: the answer to the call `id`; 0 is hello's, -1 says that bye was heard.
---@param id integer
---@param err? covey.Error
---@param result? any
function M.resolve(id, err, result)
  if id == -1 then
    accepted = true
  elseif is_leaving() then
    return
  elseif id == 0 then
    greeted(with_log(plain(err)), plain(result))
  else
    calls.finish(id, with_log(plain(err)), plain(result))
  end
end

--- Something was missed: ask for everything, once.
local function resync()
  if resyncing then
    return
  end
  resyncing = true
  M.call("snapshot", {}, function(err, result)
    resyncing = false
    if not err then
      require("covey.fleet").snapshot(result)
    end
  end)
end

--- Python's way back: one event (|covey-events|).
---@param event covey.Event
function M.emit(event)
  if is_leaving() or not host then
    return
  end
  local missed = event.seq ~= host.seq + 1
  host.seq = event.seq
  event = plain(event)
  if event.event == "Frame" then
    require("covey.ui.preview").frame(event)
  elseif event.event == "Notice" then
    require("covey.notify").notice(event.data)
  else
    require("covey.fleet").apply(event)
  end
  if missed then
    resync()
  end
end

--- The editor leaves: tell the host, and go as soon as it has heard. From here on nothing calls back.
function M.bye()
  leaving = true
  if host and not host.gone and send("covey.bye", { deadline_ms = SWEEP }) then
    vim.wait(BYE_WAIT, function()
      return accepted or host.gone
    end, BYE_LOOK)
  end
end

--- Forget earlier deaths: something was repaired, and the next call may start the host at once.
function M.reset()
  backoff.reset()
end

--- For health: what runs, and what the last one said.
---@return { running: boolean, ready: boolean, python?: string, info?: table, failure?: covey.Error }
function M.status()
  local own = host or { ready = false }
  return {
    running = host ~= nil,
    ready = own.ready,
    python = own.python,
    info = own.info,
    failure = not host and last_words or nil,
  }
end

return M
