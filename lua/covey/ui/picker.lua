--- Choose a session: in a picker that can show its screen beside it, where the person has one loaded, else through
--- `vim.ui.select`, so that whatever they use for that is what they see.
local label = require("covey.ui.label")

local M = {}

local NAME_WIDTH, AGENT_WIDTH = 32, 12 -- cells at most

---@class covey.PickOpts
---@field prompt string?
---@field fits (fun(session: covey.Session): boolean)? Which are to choose from.

local function widest(sessions, field, limit)
  local width = 0
  for _, session in ipairs(sessions) do
    width = math.max(width, vim.api.nvim_strwidth(label.line(session[field])))
  end
  return math.min(width, limit)
end

--- A function that writes one of these sessions as a line: name, agent, state, age, in columns.
---@param sessions covey.Session[]
---@return fun(session: covey.Session): string
function M.format(sessions)
  local name, agent = widest(sessions, "name", NAME_WIDTH), widest(sessions, "agent", AGENT_WIDTH)
  return function(session)
    local state = require("covey.states").of(session) .. " " .. label.age(session.since)
    return ("%s  %s  %s"):format(label.fit(session.name, name), label.fit(session.agent, agent), state)
  end
end

--- What a session shows now, without blank lines at its end.
local function screen(session, show)
  require("covey.rpc").call("capture", { name = session.id }, function(err, shot)
    local lines = err and { err.message } or vim.tbl_map(label.line, shot.lines)
    while lines[#lines] and not lines[#lines]:find("%S") do
      table.remove(lines)
    end
    show(lines)
  end)
end

--- The picker to use: the one that is asked for, or one that is loaded already.
---@return string? name
local function chosen()
  local wanted = require("covey.config").get().picker
  if wanted ~= "auto" then
    return wanted ~= "select" and wanted or nil
  end
  for _, name in ipairs({ "snacks", "telescope", "fzf-lua" }) do
    local loaded = package.loaded[name]
    if loaded and (name ~= "snacks" or vim.tbl_get(loaded, "config", "picker", "enabled")) then
      return name
    end
  end
end

--- Show one of the pickers with previews; false where there is none, or it is not what it was.
local function with_preview(sessions, prompt, cb)
  local name = chosen()
  if not name then
    return false
  end
  local format = M.format(sessions)
  local entries = vim.tbl_map(function(session)
    return { session = session, text = format(session) }
  end, sessions)
  local ok, err = pcall(require("covey.ui.pickers." .. name), entries, { prompt = prompt, screen = screen }, cb)
  if not ok then
    require("covey.notify").warn(("covey: the picker %s does not work: %s"):format(name, err))
  end
  return ok
end

local function choose(sessions, opts, cb)
  local shown = require("covey.ui.roster").sorted(opts.fits and vim.tbl_filter(opts.fits, sessions) or sessions)
  if #shown == 0 then
    require("covey.notify").say("covey: there is no session")
    return cb(nil)
  end
  local prompt = opts.prompt or "Session"
  if not with_preview(shown, prompt, cb) then
    vim.ui.select(shown, { prompt = prompt, kind = "covey", format_item = M.format(shown) }, function(session)
      cb(session)
    end)
  end
end

--- Let the person choose a session: those that need them first. `cb(nil)`, or no call at all: they chose none, or
--- there is none.
---@param opts covey.PickOpts?
---@param cb fun(session: covey.Session?)
function M.session(opts, cb)
  local sessions = require("covey.fleet").list()
  if sessions then
    return choose(sessions, opts or {}, cb)
  end
  require("covey.rpc").call("list", {}, function(err, result)
    if err then
      require("covey.notify").error(err)
      return cb(nil)
    end
    choose(result, opts or {}, cb)
  end)
end

return M
