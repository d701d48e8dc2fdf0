--- The kinds of verbs that `require("covey")` is made of: which session is meant, and what goes with the call. What
--- they get has come through the door (`door.lua`): it is a table of their own.
local M = {}

local function call(method, params, cb)
  require("covey.rpc").call(method, params, cb)
end

--- Answer with an error.
---@param cb? covey.Callback
function M.fail(cb, code, message, hint)
  (cb or require("covey.rpc").tell)({ code = code, message = message, hint = hint or "" })
end

---@class covey.Wanted Which sessions a verb may mean.
---@field fits fun(session: covey.Session): boolean
---@field none string what is said where none does

---@type covey.Wanted
M.WAITING = {
  fits = function(session)
    return (session.queued or 0) > 0
  end,
  none = "no prompt waits",
}

--- Ask for one of several sessions; giving up on it is no error, and nothing happens.
---@param sessions covey.Session[]
---@param cb? covey.Callback
---@param act fun(session: covey.Session)
---@param wanted? covey.Wanted
function M.choose(sessions, cb, act, wanted)
  local left = wanted and vim.tbl_filter(wanted.fits, sessions) or sessions
  if #sessions == 0 then
    M.fail(cb, "not_found", "there is no session yet", "open one with :Covey open")
  elseif #left == 0 then
    M.fail(cb, "not_found", wanted.none)
  elseif #left == 1 then
    act(left[1])
  else
    require("covey.ui.picker").session({ fits = wanted and wanted.fits }, function(session)
      if session then
        act(session)
      end
    end)
  end
end

--- Call `act` with the session that `opts` means.
---@param opts covey.Named
---@param cb? covey.Callback
---@param act fun(session: covey.Session)
---@param wanted? covey.Wanted of whom it is where none is named
function M.with_session(opts, cb, act, wanted)
  local fleet = require("covey.fleet")
  local cached = opts.name and fleet.get(opts.name)
  if cached then
    return act(cached)
  end
  local sessions = fleet.list()
  if not opts.name and sessions then
    return M.choose(sessions, cb, act, wanted)
  end
  call(opts.name and "get" or "list", opts.name and { name = opts.name }, function(err, result)
    if err then
      (cb or require("covey.rpc").tell)(err)
    elseif opts.name then
      act(result)
    else
      M.choose(result, cb, act, wanted)
    end
  end)
end

--- A verb that hands its options on. A name goes as it was given: the helper knows what it means by now.
---@param wanted? covey.Wanted
---@return covey.Verb
function M.on_session(method, wanted)
  return function(opts, cb)
    if opts.name then
      return call(method, opts, cb)
    end
    M.with_session(opts, cb, function(session)
      call(method, vim.tbl_extend("force", opts, { name = session.id }), cb)
    end, wanted)
  end
end

--- A verb that shows a session in a window of ours.
---@param show fun(session: covey.Session, opts: table)
---@return covey.Verb
function M.in_window(show)
  return function(opts, cb)
    M.with_session(opts, cb, function(session)
      require("covey.fleet").visit(session.id)
      require("covey.bridge").claim(session.id)
      show(session, opts)
      if cb then
        cb(nil, session)
      end
    end)
  end
end

--- Where a session starts, by the option `cwd`.
local function directory()
  local where = require("covey.config").get().cwd
  if vim.is_callable(where) then
    return where()
  end
  return where == "root" and vim.fs.root(0, { ".git", ".hg", ".jj" }) or vim.fn.getcwd()
end

--- The id of an act, never used before.
---@return string a random UUID
function M.new_act()
  local bytes = vim.uv.random(16)
  local hex = bytes:gsub(".", function(byte)
    return ("%02x"):format(byte:byte())
  end)
  return ("%s-%s-4%s-8%s-%s"):format(hex:sub(1, 8), hex:sub(9, 12), hex:sub(14, 16), hex:sub(18, 20), hex:sub(21))
end

--- What an agent may inherit from this editor; where that is wished, also an `EDITOR` that leads back to it.
---@return table<string, string>
function M.environ()
  local environ = vim.fn.environ()
  if require("covey.config").get().editor_bridge then
    environ.EDITOR = require("covey.bridge").program()
    environ.VISUAL = environ.EDITOR
  end
  return environ
end

--- A verb that starts the agent of a session again, with this editor's environment.
---@return covey.Verb
function M.reviving(method)
  local revive = M.on_session(method)
  return function(opts, cb)
    opts.environ = M.environ()
    revive(opts, cb)
  end
end

--- A verb that starts a session, with this editor's environment for the agent.
---@return covey.Verb
function M.starting(method)
  local function start(opts, cb)
    if vim.in_fast_event() then
      return vim.schedule(function()
        start(opts, cb)
      end)
    end
    require("covey.config").enter()
    local config = require("covey.config").get()
    opts.cwd = vim.fs.normalize(vim.fn.fnamemodify(vim.fs.normalize(opts.cwd or directory()), ":p"))
    opts.environ = M.environ()
    opts.env = opts.env and next(opts.env) and opts.env or nil
    opts.on_exit = opts.on_exit or config.on_exit
    opts.agent = opts.agent or (not opts.cmd and config.default_agent or nil)
    if opts.prompt then
      opts.act = opts.act or M.new_act()
      require("covey.receipts").expect(opts.act, cb ~= nil)
    end
    call(method, opts, function(err, session)
      if session then
        require("covey.bridge").claim(session.id)
      end
      (cb or require("covey.rpc").tell)(err, session)
    end)
  end
  return start
end

return M
