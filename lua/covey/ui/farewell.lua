--- Why the window of a session closed by itself: told where the session is no more, and it was not this editor that
--- ended it.
local M = {}

local LATE = 3000 -- ms that this may be known later than the window is closed

local why = {} ---@type table<string, string> of sessions that are no more, by id
local closed = {} ---@type table<string, covey.Session> their windows, until it is known why
local watching = nil ---@type fun()?

local function tell(session)
  closed[session.id] = nil
  require("covey.notify").warn(("covey: %s is gone: %s"):format(session.name, why[session.id]))
end

local function heard(event)
  if event.event ~= "Gone" then
    return
  end
  local gone = event.data
  if require("covey.calls").ending(gone) then
    closed[gone.id] = nil
    return
  end
  why[gone.id] = gone.reason
  if closed[gone.id] then
    tell(closed[gone.id])
  end
end

--- From now on notice what becomes of sessions; asked again it is the same.
function M.watch()
  watching = watching or require("covey.fleet").subscribe(heard)
end

--- A window closed although the person did not close it.
---@param session covey.Session
function M.closed(session)
  closed[session.id] = session
  if why[session.id] then
    return tell(session)
  end
  vim.defer_fn(function()
    closed[session.id] = nil
  end, LATE)
end

return M
