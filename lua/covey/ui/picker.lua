--- Choose a session through `vim.ui.select`, so that whatever a person uses for that is what they see.
local label = require("covey.ui.label")

local M = {}

local NAME_WIDTH, AGENT_WIDTH = 32, 12 -- cells at most

---@class covey.PickOpts
---@field prompt string?
---@field filter (fun(session: covey.Session): boolean)?

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
    local state = label.state(session) .. " " .. label.age(session.since)
    return ("%s  %s  %s"):format(label.fit(session.name, name), label.fit(session.agent, agent), state)
  end
end

local function choose(sessions, opts, cb)
  local shown = vim.tbl_filter(opts.filter or function()
    return true
  end, sessions)
  if #shown == 0 then
    require("covey.notify").say("covey: there is no session")
    return cb(nil)
  end
  local prompt = opts.prompt or "Session"
  vim.ui.select(shown, { prompt = prompt, kind = "covey", format_item = M.format(shown) }, function(session)
    cb(session)
  end)
end

--- Let the person choose a session. `cb(nil)`: they chose none, or there is none.
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
