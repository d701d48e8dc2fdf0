--- What sessions cost, asked for as long as somebody looks at it and not a moment longer.
local label = require("covey.ui.label")

local M = {}

local CPU, MEMORY = 4, 5 -- cells
local TICK = 2000 -- ms between two questions
local UNKNOWN = "…" -- stands where a figure is on its way
local KIB, MIB, GIB = 1024, 1024 ^ 2, 1024 ^ 3

local AWAITED = label.right(UNKNOWN, CPU) .. " " .. label.right(UNKNOWN, MEMORY)

---@class covey.Costs
---@field clock uv.uv_timer_t
---@field seen table<string, { cpu: number, at: integer, text: string }>? by session; nil before the first answer
---@field changed fun()
local Costs = {}
Costs.__index = Costs

--- Bytes in at most four cells: `812K`, `140M`, `1.2G`.
local function memory(bytes)
  if bytes >= GIB then
    return ("%.1fG"):format(bytes / GIB)
  end
  return bytes >= MIB and ("%dM"):format(bytes / MIB) or ("%dK"):format(bytes / KIB)
end

--- Percent of one core between two looks; at the first it is not known yet.
local function percent(now, before, at)
  local passed = before and (at - before.at) / 1e9 or 0
  return passed > 0 and ("%d%%"):format(math.max(0, (now.cpu - before.cpu) / passed * 100 + 0.5)) or UNKNOWN
end

function Costs:_take(stats)
  local at, seen = vim.uv.hrtime(), {}
  for id, each in pairs(stats) do
    local cpu = label.right(percent(each, (self.seen or {})[id], at), CPU)
    local text = cpu .. " " .. label.right(memory(each.rss), MEMORY)
    seen[id] = { cpu = each.cpu, at = at, text = text }
  end
  self.seen = seen
  self.changed()
end

function Costs:_ask()
  require("covey.rpc").call("stats", {}, function(err, stats)
    if not err and not self.clock:is_closing() then
      self:_take(stats or {})
    end
  end)
end

--- What a session costs: percent of a core, and memory; empty where nothing runs.
---@param session covey.Session
---@return string
function Costs:of(session)
  if not self.seen then
    return session.state ~= "exited" and session.state ~= "lost" and AWAITED or ""
  end
  return self.seen[session.id] and self.seen[session.id].text or ""
end

function Costs:stop()
  if not self.clock:is_closing() then
    self.clock:close()
  end
end

--- Begin to look. `changed` is called after each answer.
---@param changed fun()
---@return covey.Costs
function M.start(changed)
  local self = setmetatable({ changed = changed, clock = assert(vim.uv.new_timer()) }, Costs)
  self.clock:start(
    0,
    TICK,
    vim.schedule_wrap(function()
      if not self.clock:is_closing() then
        self:_ask()
      end
    end)
  )
  return self
end

return M
