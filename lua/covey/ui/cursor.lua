--- Where the cursor belongs on a board whose rows come, go and change places. Pure.
local groups = require("covey.ui.groups")
local roster = require("covey.ui.roster")

local M = {}

---@class covey.Cursor
---@field chosen covey.Entry? where the person put it, or used a key: it goes back there as soon as that is shown again
---@field at covey.Entry? where it stands
---@field held string? id of the session there, if it was not looked at before: that alone is not to move its row
local Cursor = {}
Cursor.__index = Cursor

local function same(a, b)
  return a and b and a.project == b.project and (a.session or {}).id == (b.session or {}).id
end

local function line_of(wanted, shown)
  for line, entry in ipairs(shown) do
    if same(entry, wanted) then
      return line
    end
  end
end

--- The line of the first session.
local function first(shown)
  for line, entry in ipairs(shown) do
    if entry.session then
      return line
    end
  end
end

local function project_of(entry)
  return entry and (entry.project or groups.project(entry.session.cwd))
end

--- The project of the row that it stands on.
---@return string?
function Cursor:project()
  return project_of(self.at)
end

--- The line to put it on: the first one until the person chose, then of what was chosen, else of the row that stands
--- for that; nil where there is neither.
---@param shown covey.Entry[]
---@return integer?
function Cursor:line(shown)
  if not self.chosen then
    return first(shown)
  end
  return line_of(self.chosen, shown) or line_of(self.at, shown) or line_of({ project = project_of(self.chosen) }, shown)
end

--- It was put on a row.
---@param entry covey.Entry?
function Cursor:put(entry)
  if not same(entry, self.at) then
    local session = (entry or {}).session
    self.held = session and roster.unseen(session) and session.id or nil
  end
  self.at = entry
end

--- The person means the row that it stands on, by a key that does something with it.
function Cursor:choose()
  self.chosen = self.chosen or self.at
end

--- It moved to a row: by the person, unless it was put there.
---@param entry covey.Entry?
---@return boolean by_person
function Cursor:moved(entry)
  if same(entry, self.at) then
    return false
  end
  self:put(entry)
  self.chosen = entry
  return true
end

---@return covey.Cursor
function M.new()
  return setmetatable({}, Cursor)
end

return M
