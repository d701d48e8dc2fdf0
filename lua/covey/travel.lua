--- Ways to another session: by choice, by need, by order, and back.
local verb = require("covey.verb")

local M = {}

local function attach(session, cb)
  if not session then
    return verb.fail(cb, "not_found", "there is no session to go to", "open one with :Covey open")
  end
  require("covey").attach(session.id, cb)
end

function M.pick(_, cb)
  require("covey").list({}, function(err, sessions)
    if err then
      return (cb or require("covey.rpc").tell)(err)
    end
    verb.choose(sessions, cb, function(session)
      attach(session, cb)
    end)
  end)
end

--- Where nobody waits that is said, and the answer is no session.
function M.attention(opts, cb)
  local session = require("covey.attention").next(opts.count or 1, require("covey.fleet").current())
  if not session then
    require("covey.notify").say("covey: nobody waits for you")
    return cb and cb(nil, nil)
  end
  local show = opts.preview and require("covey").preview or require("covey").attach
  show({ name = session.id, focus = true }, cb)
end

function M.next(opts, cb)
  attach(require("covey.fleet").beside(opts.count or 1), cb)
end

function M.prev(opts, cb)
  attach(require("covey.fleet").beside(-(opts.count or 1)), cb)
end

function M.last(_, cb)
  attach(require("covey.fleet").last(), cb)
end

return M
